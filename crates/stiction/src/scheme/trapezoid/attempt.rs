//! One part of a step: from where the step has come to, over a time, in the modes there are.

use super::Run;
use super::flow::{Flow, Origin, advance, unsolved};
use super::frame::{contact, dot};
use super::locate;
use crate::assemble;
use crate::error::StepError;
use crate::scheme::{Landing, Locate};
use crate::state::{Bearing, Hold, State};
use crate::system::{EventPlace, System};
use stiction_lcp::Candidate;

/// ‖M⁻¹M̃ − I‖ above which a step after an event is made as two Euler steps: the trapezoidal method does not damp what
/// is faster than the step, and it would ring.
const STIFF: f64 = 2.0;

/// What a part comes to.
pub(super) struct Attempt {
    pub(super) end: State,
    pub(super) candidate: Candidate,
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Makes a part of size `left`, or up to the first event within it.
    pub(super) fn part(&mut self, left: f64) -> Result<(), StepError> {
        self.start_part()?;
        let damped = self.is_stiff(left)?;
        let whole = self.attempt(left, damped)?;
        if self.stage.settings.locate == Locate::Nothing || self.told.cut {
            return self.accept(whole, damped);
        }
        let watched = if self.located() { self.watch(&whole.end)? } else { self.watch_gaps(&whole.end)? };
        let grazing = self.grazing(&whole.end, left);
        if watched.is_empty() && grazing.is_none() {
            return self.accept(whole, damped);
        }
        if self.events.len() >= self.stage.settings.event_limit {
            self.told.cut = true;
            return Ok(());
        }
        let (watched, until) = grazing.unwrap_or((watched, left));
        let at = self.root(&watched, until, damped)?;
        let landed = match self.stage.settings.landing {
            Landing::Step if at >= left => whole,
            Landing::Step => {
                self.recycle(whole.candidate);
                self.attempt(at, damped)?
            }
            Landing::Interpolant => {
                let end = locate::on_cubic(self.stage.system, &self.now, &whole.end, left, at);
                Attempt { end, ..whole }
            }
        };
        self.accept(landed, damped)?;
        self.happen(&watched)
    }

    pub(super) fn start_part(&mut self) -> Result<(), StepError> {
        let Self { stage, workspace, now, bearing, fresh, .. } = self;
        workspace.flow.begin(stage, &Origin { state: now, bearing, fresh })
    }

    /// The part over `x` from where the step has come to; [`Run::start_part`] must have been called.
    pub(super) fn attempt(&mut self, x: f64, damped: bool) -> Result<Attempt, StepError> {
        if !damped {
            return self.attempt_from(None, x, false);
        }
        let half = self.attempt_from(None, 0.5 * x, true)?;
        let Self { stage, workspace, bearing, fresh, .. } = self;
        workspace.flow.begin(stage, &Origin { state: &half.end, bearing, fresh })?;
        let whole = self.attempt_from(Some(&half.end), 0.5 * x, true)?;
        self.recycle(half.candidate);
        self.start_part()?;
        Ok(whole)
    }

    fn attempt_from(&mut self, from: Option<&State>, x: f64, implicit: bool) -> Result<Attempt, StepError> {
        let located = self.located();
        let Self { stage, workspace, now, bearing, fresh, problems, .. } = self;
        let state = from.unwrap_or(now);
        let flow = &mut workspace.flow;
        let origin = Origin { state, bearing, fresh };
        flow.assemble(stage, &origin, x, implicit)?;
        let mut candidate = if located {
            flow.in_modes(state.t, bearing)?
        } else {
            let Flow { problem, layout, places, middle, guess, .. } = flow;
            assemble::remembered(problem, layout, places, &middle.contacts, &state.memory, &mut guess.z);
            let solution = flow.lcp.solve(&flow.problem, &stage.scheme.solver, Some(&flow.guess));
            flow.solves += 1;
            *problems += 1;
            let solution = solution.map_err(|e| unsolved(state.t, e, &flow.problem))?;
            flow.lcp.candidate_of(solution)
        };
        if located && turning(flow, bearing) {
            // friction acts along the mean slip
            let turned = turned(flow, state, bearing, &candidate);
            let origin = Origin { state, bearing: &turned, fresh };
            flow.assemble(stage, &origin, x, implicit)?;
            let again = flow.in_modes(state.t, &turned)?;
            flow.lcp.recycle_candidate(std::mem::replace(&mut candidate, again));
        }
        let mut end = workspace.spare.states.pop().unwrap_or_default();
        end.clone_from(state);
        advance(stage.system, state, &candidate.velocity, x, implicit, &mut end);
        if end.q.iter().chain(&end.v).any(|x| !x.is_finite()) {
            return Err(StepError::NotFinite { t: state.t, what: "the end of the step".to_string() });
        }
        Ok(Attempt { end, candidate })
    }

    /// Takes a part as made.
    fn accept(&mut self, attempt: Attempt, damped: bool) -> Result<(), StepError> {
        let Attempt { end, candidate } = attempt;
        self.told.damped |= damped;
        let before = std::mem::replace(&mut self.now, end);
        self.workspace.spare.states.push(before);
        if self.located() {
            let certificate = self.in_modes_certificate(&candidate);
            if certificate.worst() >= self.certificate.worst() {
                self.certificate = certificate;
            }
        } else {
            if candidate.certificate.worst() >= self.certificate.worst() {
                self.certificate.copy_from(&candidate.certificate);
            }
            self.keep_bearing(&candidate);
        }
        self.fresh.clear();
        if let Some(old) = self.last.replace(candidate) {
            self.recycle(old);
        }
        if self.located() {
            self.turn_slips();
        }
        Ok(())
    }

    pub(super) fn recycle(&mut self, candidate: Candidate) {
        self.workspace.flow.lcp.recycle_candidate(candidate);
    }

    /// The certificate of an answer in given modes: its momentum, and the rows that hold in those modes.
    fn in_modes_certificate(&self, candidate: &Candidate) -> stiction_lcp::Certificate {
        let Flow { problem, layout, modes, .. } = &self.workspace.flow;
        let mut certificate = candidate.certificate.clone();
        let speed = |row: &stiction_lcp::OffsetRow| {
            (row.row.dot(&layout.velocity, &candidate.velocity) + row.offset).abs() / certificate.speed
        };
        let mut worst: f64 = 0.0;
        for (contact, mode) in problem.contacts.iter().zip(modes) {
            use stiction_lcp::ContactMode::{Open, Slip, Stick};
            let tangents = if *mode == Stick { &contact.tangents[..] } else { &[] };
            let normal = if matches!(mode, Stick | Slip(_)) { contact.normal.as_ref() } else { None };
            debug_assert!(*mode != Open);
            worst = normal.into_iter().chain(tangents).map(speed).fold(worst, f64::max);
        }
        certificate.natural_map = worst;
        (certificate.cone, certificate.complementarity, certificate.dissipation) = (0.0, 0.0, 0.0);
        certificate.contacts.clear();
        certificate
    }

    /// What bore in a part without location goes on bearing.
    fn keep_bearing(&mut self, candidate: &Candidate) {
        let Flow { problem, layout, places, middle, .. } = &self.workspace.flow;
        let mut next = std::mem::take(&mut self.fresh);
        next.clear();
        for (&row, place) in middle.rows.iter().zip(&places.joints) {
            let crate::assemble::Place::Contact(i) = *place else { continue };
            let drive = problem.contacts[i].normal.is_none();
            if drive || candidate.z[layout.contact[i]] > 0.0 {
                next.push(Bearing { place: EventPlace::Joint(row), hold: Hold::Stick });
            }
        }
        for (k, row) in middle.contacts.iter().enumerate() {
            let i = places.first_contact + k;
            if candidate.z[layout.contact[i]] > 0.0 {
                next.push(Bearing { place: EventPlace::Contact(row.id), hold: Hold::Stick });
            }
        }
        next.sort_unstable_by_key(|b| b.place);
        self.fresh = std::mem::replace(&mut self.bearing, next);
    }

    /// Whether the next part is to be damped.
    fn is_stiff(&mut self, left: f64) -> Result<bool, StepError> {
        if !(self.now.memory.after_event || !self.events.is_empty()) || self.told.damped {
            return Ok(false);
        }
        let Self { stage, workspace, now, bearing, fresh, .. } = self;
        let flow = &mut workspace.flow;
        let origin = Origin { state: now, bearing, fresh };
        flow.assemble(stage, &origin, stage.whole.max(left), false)?;
        let mut sum = 0.0;
        for (i, body) in flow.problem.bodies.iter().enumerate() {
            let mass = stage.system.mass_at(i, now.t, &now.q);
            let n = body.velocities;
            for r in 0..n {
                for c in 0..n {
                    sum +=
                        ((body.mass[(r, c)] - mass[(r, c)]) / (mass[(r, r)] * mass[(c, c)]).sqrt()).powi(2);
                }
            }
        }
        for pair in &flow.problem.pairs {
            let (a, b) =
                (stage.system.mass_at(pair.a, now.t, &now.q), stage.system.mass_at(pair.b, now.t, &now.q));
            for r in 0..flow.problem.bodies[pair.a].velocities {
                for c in 0..flow.problem.bodies[pair.b].velocities {
                    let scale = a[(r, r)] * b[(c, c)];
                    sum += (pair.ab[(r, c)].powi(2) + pair.ba[(c, r)].powi(2)) / scale;
                }
            }
        }
        Ok(sum.sqrt() > STIFF)
    }

    /// Friction of contacts that slip follows their slip.
    fn turn_slips(&mut self) {
        let flow = &self.workspace.flow;
        let v = &self.now.v;
        for (bearing, row) in
            self.bearing.iter_mut().filter(|b| contact(b).is_some()).zip(&flow.middle.contacts)
        {
            let (Hold::Slip(_), 2) = (bearing.hold, row.tangents.len()) else { continue };
            let slip = slip_of(row, &flow.layout.velocity, v);
            let size = dot(slip, slip).sqrt();
            if size > super::RESTITUTION_SPEED {
                bearing.hold = Hold::Slip(slip.map(|u| -u / size));
            }
        }
    }
}

/// Slip of a contact at a velocity, without the offsets of its rows.
fn slip_of(row: &crate::system::ContactRow, starts: &[usize], v: &[f64]) -> [f64; 3] {
    let mut slip = [0.0; 3];
    for (tangent, direction) in row.tangents.iter().zip(row.tangent_directions) {
        let u = tangent.row.dot(starts, v);
        (0..3).for_each(|i| slip[i] += u * direction[i]);
    }
    slip
}

/// Whether anything slips in space, where its direction may turn.
fn turning(flow: &Flow, bearing: &[Bearing]) -> bool {
    let holds = bearing.iter().filter(|b| contact(b).is_some());
    holds.zip(&flow.middle.contacts).any(|(b, row)| b.hold != Hold::Stick && row.tangents.len() == 2)
}

/// The same with friction along the mean of the slip at both ends.
fn turned(flow: &Flow, state: &State, bearing: &[Bearing], candidate: &Candidate) -> Vec<Bearing> {
    let starts = &flow.layout.velocity;
    let mut rows = flow.middle.contacts.iter();
    let turn = |b: &Bearing| {
        let row = contact(b).and_then(|_| rows.next());
        let (Hold::Slip(along), Some(row)) = (b.hold, row) else { return *b };
        let (before, after) = (slip_of(row, starts, &state.v), slip_of(row, starts, &candidate.velocity));
        let mut mean = [0.0; 3];
        for slip in [before, after] {
            let size = dot(slip, slip).sqrt();
            // a slip that has just begun, or comes to its end, has the direction of its friction
            let ahead = size > super::RESTITUTION_SPEED && dot(slip, along) < 0.0;
            (0..3).for_each(|i| mean[i] += if ahead { -slip[i] / size } else { along[i] });
        }
        let size = dot(mean, mean).sqrt();
        Bearing { hold: Hold::Slip(mean.map(|m| m / size)), ..*b }
    };
    bearing.iter().map(turn).collect()
}
