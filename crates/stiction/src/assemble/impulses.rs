//! Recorded impulses as unknowns of a step problem: the warm start of a step, and the record that `verify` checks.

use super::{AssembledProblem, ContactImpulse, RowLocation, dot, turning_axes};
use crate::report::{ContactReport, JointReport};
use crate::state::{ContactMemory, Memory, SolverMemory};
use crate::system::ContactRow;
use stiction_lcp::{Contact, Row};

impl From<&ContactReport> for ContactMemory {
    fn from(report: &ContactReport) -> Self {
        let ContactReport { id, point, normal_impulse, friction_impulse, moment, .. } = *report;
        let moment = moment.map_or([0.0; 3], |m| m.impulse);
        Self { id, point, normal: normal_impulse, friction: friction_impulse, moment }
    }
}

/// Stores the impulses of a step in the memory of the state.
pub(crate) fn remember(contacts: &[ContactReport], joints: &[JointReport], memory: &mut Memory) {
    memory.contacts.clear();
    memory.contacts.extend(contacts.iter().map(ContactMemory::from));
    memory.contacts.sort_unstable_by_key(|c| c.id);
    memory.joints.clear();
    memory.joints.extend(joints.iter().map(|j| j.impulse));
    memory.solver.clear(contacts.len(), joints.len());
}

/// Contacts without rows that kept contacts imply.
pub(crate) struct ImpliedContacts<'a> {
    /// Contacts with their places among all contacts, sorted by pair.
    pub(crate) rows: &'a [(usize, ContactRow)],
    /// Kept contacts that imply one of them, with their shares α.
    pub(crate) proof: &'a dyn Fn(usize) -> &'a [(usize, f64)],
}

impl ContactMemory {
    /// Part of the impulse: `normal` times the normal one, `friction` times friction and moment.
    fn share(&self, normal: f64, friction: f64) -> Self {
        Self {
            normal: normal * self.normal,
            friction: self.friction.map(|x| friction * x),
            moment: self.moment.map(|x| friction * x),
            ..*self
        }
    }
}

impl AssembledProblem<'_> {
    /// Warm start: impulses of the last step as unknowns of this one; zero for new rows.
    pub(crate) fn warm_start(&self, contacts: &[ContactRow], memory: &Memory, z: &mut Vec<f64>) {
        self.impulses_of(contacts, (&memory.contacts, &memory.joints), z);
    }

    /// Impulses of another step as unknowns of this problem; zero for new rows.
    pub(crate) fn impulses_of(
        &self,
        contacts: &[ContactRow],
        others: (&[ContactMemory], &[f64]),
        z: &mut Vec<f64>,
    ) {
        self.reduced_warm_start(contacts, &ImpliedContacts { rows: &[], proof: &|_| &[] }, others, z);
    }

    /// Calls `visit` with the place, the row and the impulse of every row.
    pub(crate) fn for_each_impulse(&self, z: &[f64], mut visit: impl FnMut(RowLocation, &Row, f64)) {
        for (i, (joint, &p)) in self.problem.joints.iter().zip(z).enumerate() {
            visit(RowLocation::Joint(i), &joint.row.row, p);
        }
        for (i, contact) in self.problem.contacts.iter().enumerate() {
            let own = &z[self.unknowns(i)];
            let (normal, friction) = own.split_at(usize::from(contact.normal.is_some()));
            let place = RowLocation::Contact(i);
            contact.normal.iter().zip(normal).for_each(|(row, &p)| visit(place, &row.row, p));
            let tangents = contact.tangents.iter().zip(contact.tangent_impulse(friction));
            tangents.for_each(|(row, p)| visit(place, &row.row, p));
        }
    }

    /// Warm start of a problem without its `implied` contacts: their impulses go to the contacts that imply them, and
    /// cause the same motion there.
    pub(crate) fn reduced_warm_start(
        &self,
        contacts: &[ContactRow],
        implied: &ImpliedContacts,
        (old_contacts, old_joints): (&[ContactMemory], &[f64]),
        z: &mut Vec<f64>,
    ) {
        z.clear();
        z.resize(self.layout.impulses, 0.0);
        if old_joints.len() == self.rows.joints.len() {
            for (location, &impulse) in self.rows.joints.iter().zip(old_joints) {
                self.set_joint_impulse(*location, impulse, z);
            }
        }
        // features of flat faces change from step to step, points do not: each remembered impulse is given to the
        // nearest contact of the same pair
        let mut from = 0;
        let mut next = 0;
        while from < contacts.len() {
            let pair = contacts[from].id.pair;
            let count = contacts[from..].iter().take_while(|r| r.id.pair == pair).count();
            let own = &contacts[from..from + count];
            let rows = implied.rows;
            next += rows[next..].partition_point(|(_, row)| row.id.pair < pair);
            let dropped = next..next + rows[next..].partition_point(|(_, row)| row.id.pair == pair);
            next = dropped.end;
            let first = old_contacts.partition_point(|c| c.id.pair < pair);
            for old in old_contacts[first..].iter().take_while(|c| c.id.pair == pair) {
                let distance =
                    |row: &ContactRow| (0..3).map(|c| (row.point[c] - old.point[c]).powi(2)).sum::<f64>();
                let nearest = (1..count)
                    .fold(0, |best, k| if distance(&own[k]) < distance(&own[best]) { k } else { best });
                let least = distance(&own[nearest]);
                let nearer = dropped.clone().filter(|&i| distance(&rows[i].1) < least);
                match nearer.min_by(|&a, &b| distance(&rows[a].1).total_cmp(&distance(&rows[b].1))) {
                    None => self.add_contact_impulse(from + nearest, &own[nearest], old, z),
                    Some(i) => {
                        for &(k, alpha) in (implied.proof)(i) {
                            let same = contacts[k].bodies == rows[i].1.bodies;
                            let share = old.share(alpha, if same { alpha } else { -alpha });
                            self.add_contact_impulse(k, &contacts[k], &share, z);
                        }
                    }
                }
            }
            from += count;
        }
    }

    /// Stores the impulses `z` that a solver found.
    pub(crate) fn remember_solver(&self, contacts: &[ContactRow], z: &[f64], memory: &mut SolverMemory) {
        memory.clear(contacts.len(), self.rows.joints.len());
        memory.contacts.extend(contacts.iter().enumerate().map(|(k, row)| {
            let ContactImpulse { normal, friction, spin, rolling } = self.contact_impulse(k, z);
            let friction = row.along_tangents(friction);
            let mut moment = [0.0; 3];
            let rows = row.moments.spin.iter().map(|_| spin).chain(rolling.into_iter().flatten());
            for (p, (axis, length)) in rows.zip(turning_axes(row)) {
                (0..3).for_each(|c| moment[c] += length * p * axis[c]);
            }
            ContactMemory { id: row.id, point: row.point, normal, friction, moment }
        }));
        memory.contacts.sort_unstable_by_key(|c| c.id);
        memory.joints.extend(self.rows.joints.iter().map(|location| self.joint_impulse(*location, z)));
    }

    /// Sets the unknowns of a joint row, which are zero before.
    pub(crate) fn set_joint_impulse(&self, location: RowLocation, impulse: f64, z: &mut [f64]) {
        match location {
            RowLocation::Joint(i) => z[i] = impulse,
            RowLocation::Contact(i) => {
                let own = &mut z[self.unknowns(i)];
                match self.problem.contacts[i].normal {
                    Some(_) => own[0] = impulse,
                    None => self.problem.contacts[i].friction_unknowns([impulse, 0.0, 0.0], own),
                }
            }
        }
    }

    /// Adds a remembered impulse, given along the axes of the world, to the unknowns of contact `k` of the model.
    pub(crate) fn add_contact_impulse(
        &self,
        k: usize,
        row: &ContactRow,
        impulse: &ContactMemory,
        z: &mut [f64],
    ) {
        let i = self.rows.first_contact + k;
        let own = &mut z[self.unknowns(i)];
        own[0] += impulse.normal;
        let mut turns =
            turning_axes(row).into_iter().map(|(axis, length)| dot(axis, impulse.moment) / length);
        let spin = row.moments.spin.as_ref().and_then(|_| turns.next()).unwrap_or(0.0);
        if own.len() > 1 {
            let [x, y] = row.tangent_directions.map(|t| dot(t, impulse.friction));
            add_friction(&self.problem.contacts[i], [x, y, spin], &mut own[1..]);
        }
        if let Some(block) = self.rows.rolling(k) {
            let mut rolls = [0.0; 3];
            rolls.iter_mut().zip(turns).for_each(|(p, turn)| *p = turn);
            add_friction(&self.problem.contacts[block], rolls, &mut z[self.unknowns(block)]);
        }
    }
}

/// Adds an impulse along the tangent rows to the friction unknowns of a contact.
fn add_friction(contact: &Contact, impulse: [f64; 3], own: &mut [f64]) {
    let before = contact.tangent_impulse(own);
    contact.friction_unknowns(std::array::from_fn(|k| before[k] + impulse[k]), own);
}
