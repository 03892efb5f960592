//! Rows of joints and of contacts and limits near zero gap, active or not: candidates for impacts and for the active
//! set.

use super::active_set::ActiveSet;
use super::constants::{MIN_SLIP_SPEED, RESTING_GAP_RELATIVE, TOUCHING_GAP_RELATIVE};
use super::context::{dot, set_velocity_offsets, velocity_offsets};
use super::rows::slip_velocity;
use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, ContactQuery, ContactRow, JointRow, RowKind, SearchCache, System};

/// Rows near zero gap at a state.
#[derive(Debug, Clone, Default)]
pub(super) struct NearbyRows {
    pub(super) joints: Vec<JointRow>,
    /// Index of each of `joints` among all joint rows of the model.
    pub(super) joint_indices: Vec<usize>,
    pub(super) contacts: Vec<ContactRow>,
    offsets: Vec<usize>,
    touching: Vec<(ConstraintId, f64)>,
}

impl NearbyRows {
    /// Reads the rows at a state: joints, and all contacts and limits with a gap of at most `max_gap` [m] or among
    /// `wanted`.
    pub(super) fn read<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        max_gap: f64,
        wanted: &[ConstraintId],
        cache: &mut SearchCache,
    ) {
        system.joints(state.t, &state.q, &mut self.joints);
        self.joint_indices.clear();
        let mut row = 0;
        let indices = &mut self.joint_indices;
        self.joints.retain(|j| {
            let id = ConstraintId::Joint(row);
            let near = j.kind != RowKind::Limit || j.error <= max_gap || wanted.contains(&id);
            if near {
                indices.push(row);
            }
            row += 1;
            near
        });
        let pairs: Vec<_> = wanted
            .iter()
            .filter_map(|id| match id {
                ConstraintId::Contact(id) => Some(id.pair),
                ConstraintId::Joint(_) => None,
            })
            .collect();
        let query = ContactQuery { wanted: &pairs, ..ContactQuery::within(max_gap) };
        system.contacts(state.t, &state.q, &query, cache, &mut self.contacts);
        self.contacts.retain(|c| c.gap <= max_gap || wanted.contains(&ConstraintId::Contact(c.id)));
    }

    /// Limits among the rows, with their constraints.
    fn limits(&self) -> impl Iterator<Item = (&JointRow, ConstraintId)> {
        let limits = self.joints.iter().zip(&self.joint_indices).filter(|(j, _)| j.kind == RowKind::Limit);
        limits.map(|(j, &row)| (j, ConstraintId::Joint(row)))
    }

    /// Inactive contacts and limits that touch at a state, with the speeds at which they open [m/s].
    pub(super) fn touching<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &ActiveSet,
        cache: &mut SearchCache,
    ) -> Vec<(ConstraintId, f64)> {
        self.read(system, state, TOUCHING_GAP_RELATIVE * system.size(), &[], cache);
        set_velocity_offsets(system, &mut self.offsets);
        let mut found = std::mem::take(&mut self.touching);
        found.clear();
        let (v, offsets) = (&state.v, &self.offsets);
        let limits = self.limits().map(|(j, id)| (id, j.row.dot(offsets, v) + j.drift));
        let contacts = self.contacts.iter();
        let contacts = contacts.map(|c| (ConstraintId::Contact(c.id), c.normal.dot(offsets, v) + c.drift));
        found.extend(limits.chain(contacts).filter(|(id, _)| !active.contains(*id)));
        found
    }

    /// Returns the storage of [`NearbyRows::touching`].
    pub(super) fn recycle(&mut self, touching: Vec<(ConstraintId, f64)>) {
        self.touching = touching;
    }

    /// Inactive contacts and limits deeper than `depth` [m] at a state.
    pub(super) fn deeper_than<S: System + ?Sized>(
        &mut self,
        depth: f64,
        system: &S,
        state: &State,
        active: &ActiveSet,
        cache: &mut SearchCache,
    ) -> Vec<ConstraintId> {
        self.read(system, state, 0.0, &[], cache);
        let limits = self.limits().filter(|(j, _)| j.error < -depth).map(|(_, id)| id);
        let contacts = self.contacts.iter().filter(|c| c.gap < -depth).map(|c| ConstraintId::Contact(c.id));
        limits.chain(contacts).filter(|id| !active.contains(*id)).collect()
    }

    /// Gaps of constraints at a state [m]; infinite where features do not face each other.
    pub(super) fn gaps<S: System + ?Sized>(
        &mut self,
        constraints: &[ConstraintId],
        system: &S,
        state: &State,
        cache: &mut SearchCache,
    ) -> Vec<f64> {
        let pair = |id: &ConstraintId| match id {
            ConstraintId::Contact(id) => Some(id.pair),
            ConstraintId::Joint(_) => None,
        };
        let pairs: Vec<_> = constraints.iter().filter_map(pair).collect();
        let query = ContactQuery { wanted: &pairs, ..ContactQuery::within(f64::NEG_INFINITY) };
        system.contacts(state.t, &state.q, &query, cache, &mut self.contacts);
        system.joints(state.t, &state.q, &mut self.joints);
        let gap = |id: &ConstraintId| match *id {
            ConstraintId::Joint(row) => self.joints.get(row).map_or(f64::INFINITY, |j| j.error),
            ConstraintId::Contact(id) => {
                let found = self.contacts.iter().find(|c| c.id == id);
                found.map_or(f64::INFINITY, |c| c.gap)
            }
        };
        constraints.iter().map(gap).collect()
    }

    /// Active constraints if all of `closed` become active, with modes from their slip at `v`. Drives are always
    /// active.
    pub(super) fn modes_from_slip<S: System + ?Sized>(
        &self,
        system: &S,
        v: &[f64],
        closed: &[ConstraintId],
    ) -> Vec<ActiveConstraint> {
        let offsets = velocity_offsets(system);
        let mut active = Vec::new();
        for (joint, &row) in self.joints.iter().zip(&self.joint_indices) {
            let id = ConstraintId::Joint(row);
            match joint.kind {
                RowKind::Drive { speed, .. } => {
                    let slip = joint.row.dot(&offsets, v) + joint.drift - speed;
                    let direction = [-slip.signum(), 0.0, 0.0];
                    active.push(constraint_of_slip(id, slip.abs() > MIN_SLIP_SPEED, direction));
                }
                RowKind::Limit if closed.contains(&id) => active.push(ActiveConstraint::sticking(id)),
                _ => {}
            }
        }
        for row in self.contacts.iter().filter(|c| closed.contains(&ConstraintId::Contact(c.id))) {
            let slip = slip_velocity(row, &offsets, v);
            let size = dot(slip, slip).sqrt();
            let slips = row.mu > 0.0 && size > MIN_SLIP_SPEED;
            let direction = slip.map(|u| -u / size);
            active.push(constraint_of_slip(ConstraintId::Contact(row.id), slips, direction));
        }
        active.sort_by_key(|c| c.constraint);
        active
    }
}

fn constraint_of_slip(id: ConstraintId, slips: bool, direction: [f64; 3]) -> ActiveConstraint {
    if slips { ActiveConstraint::slipping(id, direction) } else { ActiveConstraint::sticking(id) }
}

/// Whether a contact with torsional or rolling friction rests here, or is about to: modes of spin and rolling are not
/// tracked, so steps of first order are made while it does. A contact that strikes is located before.
pub(super) fn rests_on_moments<S: System + ?Sized>(system: &S, state: &State, least: f64) -> bool {
    if !system.has_moment_friction() {
        return false;
    }
    let [touching, near] = [TOUCHING_GAP_RELATIVE, RESTING_GAP_RELATIVE].map(|part| part * system.size());
    let mut contacts = Vec::new();
    let query = ContactQuery::within(near);
    system.contacts(state.t, &state.q, &query, &mut SearchCache::default(), &mut contacts);
    let offsets = velocity_offsets(system);
    let speed = |c: &ContactRow| c.normal.dot(&offsets, &state.v) + c.drift;
    let rests = |c: &ContactRow| !c.moments.is_none() && (c.gap <= touching || speed(c) >= -least);
    contacts.iter().any(|c| c.gap <= near && rests(c))
}
