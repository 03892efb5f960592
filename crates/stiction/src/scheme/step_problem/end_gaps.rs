//! Gaps at the end of a step: contacts that would pass the end of a face, contacts that were missed, and I(q).

use super::timed::TimedRows;
use super::{StepInput, StepProblemBuilder};
use crate::scheme::Level;
use crate::scheme::tolerances::PENETRATION_ROUND_OFF;
use crate::system::{ContactId, ContactQuery, ContactRow, JointRow, System, is_among};

impl StepProblemBuilder {
    /// Drops open contacts that would close only beyond the end of a face. A row knows the plane of its face and not
    /// where it ends, so a corner that slides off an edge would hit a floor that is not there. Such features no longer
    /// face each other where the bodies move to. A pair that penetrates all the same is wanted, and keeps its rows.
    pub(super) fn drop_passing<S: System + ?Sized>(&mut self, system: &S, (t, q): (f64, &[f64]), h: f64) {
        let Self { contacts, layout, free_velocity, max_gap, wanted, .. } = self;
        let Self { cache, end_gaps, gap_rows, end, passing, motion, .. } = self;
        let Some(motion) = motion else { return };
        let starts = &layout.velocity;
        let closes = |c: &ContactRow| {
            let closes = c.gap + h * (c.normal.dot(starts, free_velocity) + c.drift) <= 0.0;
            c.gap > *max_gap && closes && !wanted.contains(&c.id.pair)
        };
        passing.clear();
        passing.extend(contacts.iter().filter(|c| closes(c)).map(|c| c.id.pair));
        if passing.is_empty() {
            return;
        }
        passing.sort_unstable();
        passing.dedup();
        end.clear();
        end.extend_from_slice(q);
        system.advance(end, &motion.v[0], h);
        let query = ContactQuery { wanted: passing, ..ContactQuery::within(f64::NEG_INFINITY) };
        system.gaps(t + h, end, &query, cache, gap_rows, end_gaps);
        contacts.retain(|c| !closes(c) || is_among(c.id, end_gaps, |(id, _)| *id));
    }

    /// Adds the pairs of contacts that the velocity `v` closes and that are not among the rows; `true` if there are any.
    pub(crate) fn add_missed_pairs<S: System + ?Sized>(&mut self, input: &StepInput<S>, v: &[f64]) -> bool {
        let StepInput { system, scheme, state, h } = *input;
        let mut end = std::mem::take(&mut self.end);
        end.clone_from(&state.q);
        if scheme.level == Level::Timed {
            let TimedRows { end: velocity, shift, .. } = &mut self.timed;
            velocity.clear();
            velocity.extend_from_slice(v);
            shift.clear();
            shift.resize(v.len(), 0.0);
            system.end_step(&mut end, &state.v, velocity, shift, h);
        } else {
            system.advance(&mut end, v, h);
        }
        self.search_closed(system, state.t + h, &end);
        self.end = end;
        let known = self.wanted.len();
        let depth = PENETRATION_ROUND_OFF * system.size();
        for &(id, _) in self.end_gaps.iter().filter(|(_, gap)| *gap < -depth) {
            let listed =
                is_among(id, &self.contacts, |c| c.id) || self.reducer.has(id) || self.timed.is_skipped(id);
            if !listed && !self.wanted.contains(&id.pair) {
                self.wanted.push(id.pair);
            }
        }
        self.wanted.len() > known
    }

    /// I(q): the largest penetration or joint error [m]. AH04 (4.45)
    pub(crate) fn infeasibility<S: System + ?Sized>(&mut self, system: &S, t: f64, q: &[f64]) -> f64 {
        self.search_closed(system, t, q);
        self.violation(system, t, q)
    }

    /// Searches for closed contacts at (t, q), within the distance that the next step or pass will search.
    pub(crate) fn search_closed<S: System + ?Sized>(&mut self, system: &S, t: f64, q: &[f64]) {
        let open = if self.seeks_open { f64::INFINITY } else { 0.0 };
        let query = ContactQuery { motion: self.motion.as_ref(), open, ..ContactQuery::within(self.max_gap) };
        system.gaps(t, q, &query, &mut self.cache, &mut self.gap_rows, &mut self.end_gaps);
    }

    /// Largest distance of contacts that hold their position from touching [m], after the same search.
    pub(crate) fn hold_error(&self) -> f64 {
        let gap =
            |id: &ContactId| self.end_gaps.iter().find(|(other, _)| other == id).map(|(_, gap)| gap.abs());
        self.held.iter().filter_map(gap).fold(0.0, f64::max)
    }

    /// I(q) [m] after [`search_closed`](Self::search_closed) at the same (t, q).
    pub(crate) fn violation<S: System + ?Sized>(&mut self, system: &S, t: f64, q: &[f64]) -> f64 {
        system.joints(t, q, &mut self.joints);
        let contacts = self.end_gaps.iter().map(|(_, gap)| -gap);
        self.joints.iter().filter_map(JointRow::violation).chain(contacts).fold(0.0, f64::max)
    }
}
