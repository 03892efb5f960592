//! State of a run: time, configuration, velocity, and the memory of the schemes. It is all that a restart needs.

use crate::system::{ConstraintId, ContactId, SearchCache};
use serde::{Deserialize, Serialize};
use stiction_lcp::Mode;

/// State of a run. Restoring one continues it bit by bit.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Time [s].
    pub t: f64,
    /// Configuration, body after body.
    pub q: Vec<f64>,
    /// Velocity, body after body.
    pub v: Vec<f64>,
    /// Memory of the schemes.
    pub memory: Memory,
}

/// Memory of the schemes from step to step.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Correction time of position errors [s]: the size of the last step, or the rest of a larger one before it while
    /// steps shrink; 0 before the first step. After a run to an accuracy, the next step size.
    pub h: f64,
    /// Facets at which contact searches start.
    #[serde(default)]
    pub cache: SearchCache,
    /// Impulses of the contacts of the last step: the warm start. A body at rest needs the same ones again, so they are
    /// tried before a solve.
    pub contacts: Vec<ContactMemory>,
    /// Impulses of the joint rows of the last step [N s].
    pub joints: Vec<f64>,
    /// Active set of second-order schemes, sorted by constraint; `None` if the next step must find it.
    pub active: Option<Vec<ActiveConstraint>>,
    /// An impact occurred in the last second-order step: the next one is damped where forces are stiff.
    pub after_impact: bool,
}

impl Clone for State {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Copies into the existing storage.
    fn clone_from(&mut self, source: &Self) {
        let Self { t, q, v, memory } = source;
        self.t = *t;
        self.q.clone_from(q);
        self.v.clone_from(v);
        self.memory.clone_from(memory);
    }
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Copies into the existing storage.
    fn clone_from(&mut self, source: &Self) {
        let Self { h, cache, contacts, joints, active, after_impact } = source;
        (self.h, self.after_impact) = (*h, *after_impact);
        self.cache.clone_from(cache);
        self.contacts.clone_from(contacts);
        self.joints.clone_from(joints);
        self.active.clone_from(active);
    }
}

/// Active constraint with its friction mode: a contact, limit or drive that may exert a force.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ActiveConstraint {
    /// The constraint.
    pub constraint: ConstraintId,
    /// Friction mode: stick or slip. Limits and contacts without friction stick.
    pub mode: Mode,
    /// Unit vector of the friction on the second body while it slips; of a drive, its sign along the row. Zero
    /// otherwise.
    pub direction: [f64; 3],
}

impl ActiveConstraint {
    /// Constraint without slip.
    pub(crate) fn sticking(constraint: ConstraintId) -> Self {
        Self { constraint, mode: Mode::Stick, direction: [0.0; 3] }
    }

    /// Constraint that slips, with friction along `direction`.
    pub(crate) fn slipping(constraint: ConstraintId, direction: [f64; 3]) -> Self {
        Self { constraint, mode: Mode::Slip, direction }
    }

    /// Contact, if the constraint is one.
    pub(crate) fn contact(&self) -> Option<ContactId> {
        match self.constraint {
            ConstraintId::Contact(id) => Some(id),
            ConstraintId::Joint(_) => None,
        }
    }

    /// Whether it is a contact.
    pub(crate) fn is_contact(&self) -> bool {
        self.contact().is_some()
    }

    /// Whether it sticks.
    pub(crate) fn sticks(&self) -> bool {
        self.mode == Mode::Stick
    }

    /// Direction of its friction, if it slips.
    pub(crate) fn slip_direction(&self) -> Option<[f64; 3]> {
        (self.mode == Mode::Slip).then_some(self.direction)
    }
}

/// Impulse of a contact in the last step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ContactMemory {
    /// The contact.
    pub id: ContactId,
    /// Contact point [m].
    #[serde(default)]
    pub point: [f64; 3],
    /// Normal impulse on the second body [N s].
    pub normal: f64,
    /// Friction impulse on the second body [N s].
    pub friction: [f64; 3],
    /// Moment impulse on the second body: spin about the normal, rolling across it [N m s].
    #[serde(default)]
    pub moment: [f64; 3],
}
