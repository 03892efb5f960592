//! End of a timed step: q⁺ = q ⊕ [h v + M⁻¹ Σ (h − t_j) p_j] with the impulses p_j and their times t_j, and which rows hold
//! their position there.
//!
//! In a step with impacts the forces that hold bodies together grow for an instant. What joints and lasting contacts of an
//! island transfer beyond their impulses of the last step without impacts is given the mean time of its impacts.

use super::timed::RowTime;
use super::{StepInput, StepProblemBuilder};
use crate::assemble::RowLocation;
use crate::report::{ContactReport, Event, EventKind};
use crate::state::{Memory, QuietImpulses};
use crate::system::{ConstraintId, ContactId, System};
use nalgebra::Vector6;

/// Bodies that rows connect.
struct Islands {
    /// Body of each velocity.
    body: Vec<usize>,
    parent: Vec<usize>,
}

impl Islands {
    fn new(starts: &[usize]) -> Self {
        let bodies = starts.len() - 1;
        let body = (0..bodies).flat_map(|i| std::iter::repeat_n(i, starts[i + 1] - starts[i])).collect();
        Self { body, parent: (0..bodies).collect() }
    }

    fn root(&mut self, mut body: usize) -> usize {
        while self.parent[body] != body {
            self.parent[body] = self.parent[self.parent[body]];
            body = self.parent[body];
        }
        body
    }

    /// Connects the bodies of a row, and returns one of them.
    fn connect(&mut self, starts: &[usize], row: &stiction_lcp::Row) -> Option<usize> {
        let mut first = None;
        row.for_each(starts, |i, x| {
            if x != 0.0 {
                let own = self.root(self.body[i]);
                let other = *first.get_or_insert(own);
                self.parent[own] = other;
            }
        });
        first
    }
}

impl StepProblemBuilder {
    /// Moves `q` to the end of a timed step and turns the velocity `end` of the step problem into the axes there. `z` are
    /// the reported impulses of the assembled problem. Returns whether impulses acted at other times than h/2.
    pub(crate) fn end_timed_step<S: System + ?Sized>(
        &mut self,
        input: &StepInput<S>,
        z: &[f64],
        q: &mut [f64],
        end: &mut [f64],
    ) -> bool {
        let mut shift = std::mem::take(&mut self.timed.shift);
        let shifted = self.shift(input, z, &mut shift);
        input.system.end_step(q, &input.state.v, end, &shift, input.h);
        self.timed.shift = shift;
        shifted
    }

    /// Displacement over h beyond that of the mean velocity: M⁻¹ Σ (1/2 − t_j/h) p_j. Returns whether there is any.
    pub(crate) fn shift<S: System + ?Sized>(
        &self,
        input: &StepInput<S>,
        z: &[f64],
        shift: &mut Vec<f64>,
    ) -> bool {
        let h = input.h;
        shift.clear();
        shift.resize(input.state.v.len(), 0.0);
        let is_timed = |time: &RowTime| time.excess(h) != 0.0;
        let contacts = self.timed.times.iter().any(|(_, time)| is_timed(time));
        let joints = self.timed.joint_times.iter().any(is_timed);
        if !(contacts || joints) {
            return false;
        }
        let (starts, momentum) = (&self.layout.velocity, &self.timed.momentum);
        let assembled = self.assembled();
        assembled.for_each_impulse(z, |location, row, impulse| {
            let weight = self.row_time(location).excess(h);
            row.add_transposed(starts, weight * impulse, shift);
        });
        self.add_excess(input, z, shift);
        for (i, &n) in input.system.bodies().iter().enumerate() {
            let own = &mut shift[starts[i]..starts[i] + n];
            let p = Vector6::from_fn(|r, _| own.get(r).copied().unwrap_or(0.0));
            if p != Vector6::zeros() {
                let response = momentum.response(i, &p);
                own.iter_mut().enumerate().for_each(|(r, x)| *x = response[r]);
            }
        }
        true
    }

    /// Time of a row of the assembled problem.
    fn row_time(&self, location: RowLocation) -> RowTime {
        let model_contact = |i: usize| {
            let k = i.checked_sub(self.rows.first_contact)?;
            let block = |&&(_, block): &&(usize, usize)| block == i;
            let k = if k < self.contacts.len() { k } else { self.rows.rolling.iter().find(block)?.0 };
            self.timed.time(self.contacts[k].id)
        };
        let contact = match location {
            RowLocation::Contact(i) => model_contact(i),
            RowLocation::Joint(_) => None,
        };
        let joint = || {
            let row = self.rows.joints.iter().position(|other| *other == location)?;
            self.timed.joint_time(row)
        };
        contact.or_else(joint).unwrap_or(RowTime::Lasting)
    }

    /// Adds Σ (1/2 − t̄/h) (p_j − p̂_j) over the rows in the middle of islands with impacts, with the impulses p̂ of the
    /// last step without impacts and the mean time t̄ of the impacts of the island.
    fn add_excess<S: System + ?Sized>(&self, input: &StepInput<S>, z: &[f64], out: &mut [f64]) {
        if !self.timed.times.iter().any(|(_, time)| time.is_impact()) {
            return;
        }
        let starts = &self.layout.velocity;
        let assembled = self.assembled();
        // impulses without impacts
        let mut quiet = Vec::new();
        let Memory { h, contacts, joints, quiet: remembered, after_impact, .. } = &input.state.memory;
        let (last_h, contacts, joints) = match after_impact {
            true => (remembered.h, &remembered.contacts, &remembered.joints),
            false => (*h, contacts, joints),
        };
        assembled.impulses_of(&self.contacts, (contacts, joints), &mut quiet);
        let scale = if last_h > 0.0 { input.h / last_h } else { 0.0 };

        // mean time of the impacts of each island, weighted by normal impulses
        let mut islands = Islands::new(starts);
        assembled.for_each_impulse(z, |_, row, impulse| {
            if impulse != 0.0 {
                islands.connect(starts, row);
            }
        });
        let mut sums = vec![[0.0; 2]; islands.parent.len()];
        for (i, contact) in self.problem.contacts.iter().enumerate() {
            let (Some(normal), Some(unknown)) = (&contact.normal, assembled.unknowns(i).next()) else {
                continue;
            };
            if let RowTime::Impact { time, .. } = self.row_time(RowLocation::Contact(i))
                && z[unknown] > 0.0
                && let Some(body) = islands.connect(starts, &normal.row)
            {
                let root = islands.root(body);
                sums[root][0] += z[unknown];
                sums[root][1] += z[unknown] * time;
            }
        }
        let mut expected = Vec::new();
        assembled.for_each_impulse(&quiet, |_, _, impulse| expected.push(scale * impulse));
        let mut expected = expected.into_iter();
        assembled.for_each_impulse(z, |location, row, impulse| {
            let expected = expected.next().unwrap_or(0.0);
            if self.row_time(location).excess(input.h) != 0.0 {
                return;
            }
            let mut body = None;
            row.for_each(starts, |i, x| {
                if x != 0.0 {
                    body.get_or_insert(islands.body[i]);
                }
            });
            let Some(root) = body.map(|body| islands.root(body)) else { return };
            let [total, timed] = sums[root];
            if total > 0.0 {
                let weight = 0.5 - timed / (total * input.h);
                row.add_transposed(starts, weight * (impulse - expected), out);
            }
        });
    }

    /// Contacts that hold their position at the end of a timed step: they carried load to hold it.
    pub(crate) fn held_contacts(&self, contacts: &[ContactReport], out: &mut Vec<ContactId>) {
        let holds =
            |c: &&ContactReport| c.normal_impulse > 0.0 && self.timed.time(c.id).is_some_and(RowTime::holds);
        out.clear();
        out.extend(contacts.iter().filter(holds).map(|c| c.id));
    }

    /// Memory of impacts for the next timed step, and the impacts of this one as events.
    pub(crate) fn remember_impacts(
        &self,
        [t, h]: [f64; 2],
        z: &[f64],
        before: &Memory,
        (next, events): (&mut Memory, &mut Vec<Event>),
    ) {
        let assembled = self.assembled();
        let mut add = |constraint: ConstraintId, block: usize, time: Option<RowTime>| {
            let loaded = assembled.unknowns(block).next().is_some_and(|unknown| z[unknown] > 0.0);
            if let Some(RowTime::Impact { time, .. }) = time.filter(|_| loaded) {
                events.push(Event { t: t + time, kind: EventKind::Impact, constraint });
            }
        };
        for (row, location) in self.rows.joints.iter().enumerate() {
            if let RowLocation::Contact(block) = *location {
                add(ConstraintId::Joint(row), block, self.timed.joint_time(row));
            }
        }
        for (k, contact) in self.contacts.iter().enumerate() {
            let block = self.rows.first_contact + k;
            add(ConstraintId::Contact(contact.id), block, self.timed.time(contact.id));
        }
        events.sort_by(|a, b| a.t.total_cmp(&b.t));
        next.h = h;
        next.after_impact = !events.is_empty();
        next.quiet.clear();
        if next.after_impact {
            if before.after_impact {
                next.quiet.copy_from(&before.quiet);
            } else {
                let QuietImpulses { h, contacts, joints } = &mut next.quiet;
                *h = before.h;
                contacts.clone_from(&before.contacts);
                joints.clone_from(&before.joints);
            }
        }
    }
}
