//! The active set: constraints that may exert forces, with friction modes that stay between two events.

use super::context::dot;
use super::substep::SubstepProblem;
use crate::assemble::RowLocation;
use crate::report::{Event, EventKind, Mode};
use crate::state::ActiveConstraint;
use crate::system::{ConstraintId, PairId};
use stiction_lcp::Candidate;

/// Active constraints of a substep.
#[derive(Debug, Clone, Default)]
pub(super) struct ActiveSet {
    /// Active constraints, sorted by constraint.
    pub(super) constraints: Vec<ActiveConstraint>,
    /// Contacts that became active without an impact since the last substep. Their normals have a form of their own.
    pub(super) new_contacts: Vec<ActiveConstraint>,
    /// Modes are known and every event is located. Otherwise a substep is a complementarity problem.
    pub(super) modes_known: bool,
}

impl ActiveSet {
    /// Whether a constraint is active.
    pub(super) fn contains(&self, constraint: ConstraintId) -> bool {
        contains(&self.constraints, constraint)
    }

    /// Whether a contact of a pair is active.
    pub(super) fn contains_pair(&self, pair: PairId) -> bool {
        self.constraints.iter().filter_map(ActiveConstraint::contact).any(|id| id.pair == pair)
    }

    /// Whether a contact slips.
    pub(super) fn has_slipping_contact(&self) -> bool {
        self.constraints.iter().any(|c| c.mode == Mode::Slip && c.is_contact())
    }

    /// Active constraints that stick, or that `or` selects.
    pub(super) fn sticking_or(&self, or: impl Fn(&ActiveConstraint) -> bool) -> Vec<ConstraintId> {
        self.constraints.iter().filter(|c| c.sticks() || or(c)).map(|c| c.constraint).collect()
    }

    /// Removes a constraint.
    pub(super) fn remove(&mut self, constraint: ConstraintId) {
        self.constraints.retain(|c| c.constraint != constraint);
    }

    /// Adds a contact or limit that touches, before a substep without modes.
    pub(super) fn add_new_contact(&mut self, constraint: ConstraintId) {
        let active = ActiveConstraint::sticking(constraint);
        self.constraints.push(active);
        self.new_contacts.push(active);
    }

    /// Sorts the constraints after additions.
    pub(super) fn sort(&mut self) {
        self.constraints.sort_unstable_by_key(|c| c.constraint);
    }

    /// Keeps the constraints with an impulse after a substep without modes, and all drives.
    pub(super) fn keep_loaded(&mut self, substep: &SubstepProblem, candidate: &Candidate) {
        let SubstepProblem { problem, layout, places, middle: rows, .. } = substep;
        let mut next = std::mem::take(&mut self.new_contacts);
        next.clear();
        for (&row, place) in rows.joint_indices.iter().zip(&places.joints) {
            let RowLocation::Contact(i) = *place else { continue };
            let drive = problem.contacts[i].normal.is_none();
            if drive || candidate.z[layout.contact[i]] > 0.0 {
                next.push(ActiveConstraint::sticking(ConstraintId::Joint(row)));
            }
        }
        for (k, row) in rows.contacts.iter().enumerate() {
            let i = places.first_contact + k;
            if candidate.z[layout.contact[i]] > 0.0 {
                next.push(ActiveConstraint::sticking(ConstraintId::Contact(row.id)));
            }
        }
        next.sort_unstable_by_key(|c| c.constraint);
        self.new_contacts = std::mem::replace(&mut self.constraints, next);
        self.new_contacts.clear();
    }

    /// Events of a change of modes to `next` at time `t`.
    pub(super) fn changes<'a>(
        &'a self,
        next: &'a [ActiveConstraint],
        t: f64,
    ) -> impl Iterator<Item = Event> + 'a {
        self.constraints.iter().filter_map(move |old| {
            let new = next.iter().find(|c| c.constraint == old.constraint);
            let kind = match (old.mode, new.map(|c| c.mode)) {
                (_, None) => EventKind::TakeOff,
                (Mode::Stick, Some(Mode::Slip)) => EventKind::Slip,
                (Mode::Slip, Some(Mode::Stick)) => EventKind::Stick,
                (Mode::Slip, Some(Mode::Slip))
                    if new.is_some_and(|c| dot(old.direction, c.direction) < 0.0) =>
                {
                    EventKind::Reversal
                }
                _ => return None,
            };
            Some(Event { t, kind, constraint: old.constraint })
        })
    }
}

/// Whether a constraint is among active ones, which are sorted.
pub(super) fn contains(active: &[ActiveConstraint], constraint: ConstraintId) -> bool {
    debug_assert!(active.is_sorted_by_key(|c| c.constraint), "active constraints are sorted");
    active.binary_search_by_key(&constraint, |c| c.constraint).is_ok()
}

/// Constraints of a list that stick.
pub(super) fn sticking(active: &[ActiveConstraint]) -> Vec<ConstraintId> {
    active.iter().filter(|c| c.sticks()).map(|c| c.constraint).collect()
}
