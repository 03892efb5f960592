//! Rows of joints and active constraints at a configuration, for all problems of a step.

use super::active_set::contains;
use super::constants::MIN_SLIP_SPEED;
use super::context::{Configuration, dot};
use crate::error::StepError;
use crate::state::ActiveConstraint;
use crate::system::{
    ConstraintId, ContactId, ContactQuery, ContactRow, JointRow, PairId, RowKind, SearchCache, System,
};
use stiction_lcp::ContactMode;

/// Rows at a configuration: joints, and the active limits, drives and contacts.
#[derive(Debug, Clone, Default)]
pub(super) struct ConstraintRows {
    pub(super) t: f64,
    pub(super) joints: Vec<JointRow>,
    /// Index of each of `joints` among all joint rows of the model.
    pub(super) joint_indices: Vec<usize>,
    /// Active contacts, in the order of the active set.
    pub(super) contacts: Vec<ContactRow>,
    /// Indices of the contacts whose features do not face each other here: their rows are those of the fallback.
    pub(super) missing: Vec<usize>,
    pairs: Vec<PairId>,
    found: Vec<ContactRow>,
}

impl ConstraintRows {
    /// Reads the rows at a configuration. A contact whose features do not face each other there keeps the row of
    /// `fallback`. Without one it has lost its feature pair, which is an error.
    pub(super) fn read<S: System + ?Sized>(
        &mut self,
        system: &S,
        at: Configuration,
        active: &[ActiveConstraint],
        fallback: Option<&Self>,
        cache: &mut SearchCache,
    ) -> Result<(), StepError> {
        let Configuration { t, q } = at;
        self.t = t;
        system.joints(t, q, &mut self.joints);
        let is_active = |row: usize| contains(active, ConstraintId::Joint(row));
        self.retain_joints(|row, joint| joint.kind != RowKind::Limit || is_active(row));

        self.contacts.clear();
        self.missing.clear();
        let ids = || active.iter().filter_map(ActiveConstraint::contact);
        if ids().next().is_none() {
            return Ok(());
        }
        self.pairs.clear();
        self.pairs.extend(ids().map(|id| id.pair));
        self.pairs.dedup();
        let query = ContactQuery { wanted: &self.pairs, ..ContactQuery::within(f64::NEG_INFINITY) };
        system.contacts(t, q, &query, cache, &mut self.found);
        for (k, id) in ids().enumerate() {
            let found = self.found.iter().find(|c| c.id == id);
            let other = fallback.and_then(|rows| rows.contacts.get(k)).filter(|c| c.id == id);
            if found.is_none() {
                self.missing.push(k);
            }
            match found.or(other) {
                Some(contact) => self.contacts.push(contact.clone()),
                None => return Err(StepError::Lost { t, contact: id, name: id.name(system) }),
            }
        }
        Ok(())
    }

    /// Numbers the joint rows just read and keeps those that `keep` selects by index and row.
    fn retain_joints(&mut self, keep: impl Fn(usize, &JointRow) -> bool) {
        let Self { joints, joint_indices, .. } = self;
        joint_indices.clear();
        joint_indices.extend((0..joints.len()).filter(|&row| keep(row, &joints[row])));
        let mut row = 0;
        joints.retain(|joint| {
            row += 1;
            keep(row - 1, joint)
        });
    }

    /// Keeps the joint rows just read at `t`, and their `rates`, without limits and contacts: nothing is active.
    pub(super) fn keep_joints_only(&mut self, t: f64, rates: &mut Vec<f64>) {
        self.t = t;
        self.contacts.clear();
        self.missing.clear();
        let holds = |joint: &JointRow| joint.kind != RowKind::Limit;
        let mut row = 0;
        rates.retain(|_| {
            row += 1;
            holds(&self.joints[row - 1])
        });
        self.retain_joints(|_, joint| holds(joint));
    }

    /// Removes joint rows that `keep` does not select.
    pub(super) fn filter_joints(&mut self, keep: impl Fn(&JointRow) -> bool) {
        let Self { joints, joint_indices, .. } = self;
        let mut k = 0;
        joint_indices.retain(|_| {
            k += 1;
            keep(&joints[k - 1])
        });
        joints.retain(keep);
    }

    /// Turns the tangents of contacts with aligned friction sets along their friction.
    pub(super) fn align(
        &mut self,
        active: &[ActiveConstraint],
        friction: impl Fn(ContactId) -> Option<[f64; 3]>,
    ) {
        let active = active.iter().filter_map(|c| c.contact().map(|id| (id, c)));
        for (row, (id, active)) in self.contacts.iter_mut().zip(active) {
            if !(row.aligned && row.tangents.len() == 2) {
                continue;
            }
            let Some(along) = active.slip_direction().or_else(|| friction(id)) else { continue };
            let [x, y] = row.tangent_directions.map(|t| dot(t, along));
            let length = x.hypot(y);
            if length > 0.0 {
                row.turn(x / length, y / length);
            }
        }
    }

    /// Active constraints with friction against the slip at velocity `v`, into `turned`. Contacts with one tangent keep
    /// their direction, and so do slips too slow to have one. Past a stop friction stays on its side, so that a step
    /// which overshoots the stop is smooth and the event function has a root.
    pub(super) fn turn_directions(
        &self,
        offsets: &[usize],
        v: &[f64],
        active: &[ActiveConstraint],
        turned: &mut Vec<ActiveConstraint>,
    ) {
        turned.clear();
        turned.extend_from_slice(active);
        let contacts = turned.iter_mut().filter(|c| c.is_contact());
        for (active, row) in contacts.zip(&self.contacts) {
            let Some(before) = active.slip_direction().filter(|_| row.tangents.len() == 2) else { continue };
            let slip = slip_velocity(row, offsets, v);
            let speed = dot(slip, slip).sqrt();
            if speed > MIN_SLIP_SPEED {
                let along = if dot(slip, before) > 0.0 { 1.0 / speed } else { -1.0 / speed };
                *active = ActiveConstraint::slipping(active.constraint, slip.map(|u| along * u));
            }
        }
    }

    /// Friction modes of the contacts of a step problem with these rows.
    pub(super) fn modes(&self, active: &[ActiveConstraint], modes: &mut Vec<ContactMode>) {
        modes.clear();
        for (joint, &row) in self.joints.iter().zip(&self.joint_indices) {
            let own = active.iter().find(|c| c.constraint == ConstraintId::Joint(row));
            match (joint.kind, own.and_then(ActiveConstraint::slip_direction)) {
                (RowKind::Rigid(_), _) => {}
                (RowKind::Drive { .. }, Some([sign, ..])) => modes.push(ContactMode::slip([sign, 0.0])),
                _ => modes.push(ContactMode::STICK),
            }
        }
        let active = active.iter().filter(|c| c.is_contact());
        modes.extend(self.contacts.iter().zip(active).map(|(row, active)| match active.slip_direction() {
            Some(direction) if row.mu > 0.0 => {
                let [x, y] = row.tangent_directions.map(|t| dot(t, direction));
                let length = if row.tangents.len() == 1 { x.abs() } else { x.hypot(y) };
                let y = if row.tangents.len() == 1 { 0.0 } else { y };
                ContactMode::slip([x / length, y / length])
            }
            _ => ContactMode::STICK,
        }));
    }
}

/// Slip velocity of a contact at velocity `v` [m/s].
pub(super) fn slip_velocity(row: &ContactRow, offsets: &[usize], v: &[f64]) -> [f64; 3] {
    let mut slip = [0.0; 3];
    for (tangent, direction) in row.tangents.iter().zip(row.tangent_directions) {
        let u = tangent.row.dot(offsets, v) + tangent.offset;
        (0..3).for_each(|i| slip[i] += u * direction[i]);
    }
    slip
}
