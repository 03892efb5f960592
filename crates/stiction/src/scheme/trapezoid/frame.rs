//! The rows of what bears, at an instant.

use crate::error::StepError;
use crate::state::{ActiveConstraint, Hold};
use crate::system::{
    ConstraintId, ContactId, ContactQuery, ContactRow, JointRow, PairId, RowKind, SearchCache, System,
};
use stiction_lcp::ContactMode;

/// Rows at an instant: joints, and the limits, drives and contacts that bear.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    pub(super) t: f64,
    pub(super) joints: Vec<JointRow>,
    /// The place of each of `joints` among all rows of the joints.
    pub(super) rows: Vec<usize>,
    /// In the order of what bears.
    pub(super) contacts: Vec<ContactRow>,
    pairs: Vec<PairId>,
    found: Vec<ContactRow>,
}

impl Frame {
    /// Reads the rows at (t, q). A contact whose features do not face each other here keeps the row of `other`; where
    /// there is none to keep it is lost.
    pub(super) fn read<S: System + ?Sized>(
        &mut self,
        system: &S,
        (t, q): (f64, &[f64]),
        active: &[ActiveConstraint],
        other: Option<&Frame>,
        cache: &mut SearchCache,
    ) -> Result<(), StepError> {
        self.t = t;
        system.joints(t, q, &mut self.joints);
        self.rows.clear();
        self.rows.extend(0..self.joints.len());
        let held = |row: usize| active.iter().any(|b| b.constraint == ConstraintId::Joint(row));
        let (joints, rows) = (&self.joints, &mut self.rows);
        rows.retain(|&row| joints[row].kind != RowKind::Limit || held(row));
        let mut row = 0;
        self.joints.retain(|joint| {
            row += 1;
            joint.kind != RowKind::Limit || held(row - 1)
        });

        self.contacts.clear();
        let ids = || active.iter().filter_map(contact);
        if ids().next().is_none() {
            return Ok(());
        }
        self.pairs.clear();
        self.pairs.extend(ids().map(|id| id.pair));
        self.pairs.dedup();
        let near = ContactQuery { wanted: &self.pairs, ..ContactQuery::within(f64::NEG_INFINITY) };
        system.contacts(t, q, &near, cache, &mut self.found);
        for (k, id) in ids().enumerate() {
            let here = self.found.iter().find(|c| c.id == id);
            let there = other.and_then(|other| other.contacts.get(k)).filter(|c| c.id == id);
            match here.or(there) {
                Some(contact) => self.contacts.push(contact.clone()),
                None => return Err(StepError::Lost { t, contact: id }),
            }
        }
        Ok(())
    }

    /// The rows of the joints as they have been read at `t` and nothing else: no limit and no contact bears, and the
    /// rates of limits go with them.
    pub(super) fn bear_nothing(&mut self, t: f64, rates: &mut Vec<f64>) {
        self.t = t;
        self.contacts.clear();
        self.rows.clear();
        let Self { joints, rows, .. } = self;
        let holds = |joint: &JointRow| joint.kind != RowKind::Limit;
        rows.extend((0..joints.len()).filter(|&row| holds(&joints[row])));
        let mut row = 0;
        rates.retain(|_| {
            row += 1;
            holds(&joints[row - 1])
        });
        joints.retain(holds);
    }

    /// Turns the tangents of contacts that ask for it along their friction.
    pub(super) fn align(
        &mut self,
        active: &[ActiveConstraint],
        friction: impl Fn(ContactId) -> Option<[f64; 3]>,
    ) {
        let holds = active.iter().filter_map(|b| contact(b).map(|id| (id, b.hold)));
        for (row, (id, hold)) in self.contacts.iter_mut().zip(holds) {
            if !(row.aligned && row.tangents.len() == 2) {
                continue;
            }
            let along = match hold {
                Hold::Slip(direction) => Some(direction),
                Hold::Stick => friction(id),
            };
            let Some(along) = along else { continue };
            let [x, y] = row.tangent_directions.map(|t| dot(t, along));
            let length = x.hypot(y);
            if length > 0.0 {
                row.turn(x / length, y / length);
            }
        }
    }

    /// The modes of the contacts of a step problem with these rows.
    pub(super) fn modes(&self, active: &[ActiveConstraint], modes: &mut Vec<ContactMode>) {
        modes.clear();
        for (joint, &row) in self.joints.iter().zip(&self.rows) {
            let hold = active.iter().find(|b| b.constraint == ConstraintId::Joint(row)).map(|b| b.hold);
            match (joint.kind, hold) {
                (RowKind::Rigid(_), _) => {}
                (RowKind::Drive { .. }, Some(Hold::Slip([sign, ..]))) => {
                    modes.push(ContactMode::slip([sign, 0.0]));
                }
                _ => modes.push(ContactMode::STICK),
            }
        }
        let holds = active.iter().filter_map(|b| contact(b).map(|_| b.hold));
        modes.extend(self.contacts.iter().zip(holds).map(|(row, hold)| match hold {
            Hold::Slip(direction) if row.mu > 0.0 => {
                let [x, y] = row.tangent_directions.map(|t| dot(t, direction));
                let length = if row.tangents.len() == 1 { x.abs() } else { x.hypot(y) };
                let y = if row.tangents.len() == 1 { 0.0 } else { y };
                ContactMode::slip([x / length, y / length])
            }
            _ => ContactMode::STICK,
        }));
    }
}

/// The contact that bears, if it is one.
pub(super) fn contact(active: &ActiveConstraint) -> Option<ContactId> {
    match active.constraint {
        ConstraintId::Contact(id) => Some(id),
        ConstraintId::Joint(_) => None,
    }
}

/// Index in v of each body's first velocity, and one more entry: the number of velocities.
pub(super) fn starts<S: System + ?Sized>(system: &S) -> Vec<usize> {
    let mut starts = Vec::new();
    find_starts(system, &mut starts);
    starts
}

/// The same into storage.
pub(super) fn find_starts<S: System + ?Sized>(system: &S, starts: &mut Vec<usize>) {
    starts.clear();
    starts.push(0);
    for n in system.bodies() {
        starts.push(starts[starts.len() - 1] + n);
    }
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
