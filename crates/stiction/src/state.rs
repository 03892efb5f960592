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
    /// Impulses of the contacts of the last step, as reported. A body at rest needs the same ones again, so impulses of
    /// the last step are tried before a solve: those of `solver`, or these where there are none.
    pub contacts: Vec<ContactMemory>,
    /// Impulses of the joint rows of the last step [N s].
    pub joints: Vec<f64>,
    /// Active set of second-order schemes, sorted by constraint; `None` if the next step must find it.
    pub active: Option<Vec<ActiveConstraint>>,
    /// An impact occurred in the last step of a scheme that times impacts. The next trapezoidal step is damped where forces
    /// are stiff; in the next timed step joints forget their last impulses.
    pub after_impact: bool,
    /// Impulses that the solver found, where the reported ones differ; else empty. The motion is theirs, and the next
    /// solve starts from them: impulses of least norm lie on the boundary of many cones, from where Newton's method makes
    /// little progress.
    #[serde(default)]
    pub solver: SolverMemory,
    /// Impulses of the last timed step without impacts, where the last step had impacts; else empty.
    #[serde(default)]
    pub quiet: QuietImpulses,
}

/// Impulses of the last timed step without impacts. What exceeds them in a step with impacts acts at the impacts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct QuietImpulses {
    /// Size of that step [s].
    pub h: f64,
    /// Impulses of its contacts, sorted by contact.
    pub contacts: Vec<ContactMemory>,
    /// Impulses of its joint rows [N s].
    pub joints: Vec<f64>,
}

impl QuietImpulses {
    /// Forgets all impulses.
    pub(crate) fn clear(&mut self) {
        self.h = 0.0;
        self.contacts.clear();
        self.joints.clear();
    }

    /// Copies into the existing storage.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.h = other.h;
        self.contacts.clone_from(&other.contacts);
        self.joints.clone_from(&other.joints);
    }
}

/// Impulses that a solver found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SolverMemory {
    /// Impulses of contacts, sorted by contact.
    pub contacts: Vec<ContactMemory>,
    /// Impulses of joint rows [N s].
    pub joints: Vec<f64>,
}

impl SolverMemory {
    /// Forgets all impulses. Storage for this many contacts and joint rows is kept ready: a body at rest may need it only
    /// after thousands of steps.
    pub(crate) fn clear(&mut self, contacts: usize, joints: usize) {
        self.contacts.clear();
        self.contacts.reserve(contacts);
        self.joints.clear();
        self.joints.reserve(joints);
    }

    /// Copies into the existing storage.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.contacts.clone_from(&other.contacts);
        self.joints.clone_from(&other.joints);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty() && self.joints.is_empty()
    }
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
        let Self { h, cache, contacts, joints, active, after_impact, solver, quiet } = source;
        self.quiet.copy_from(quiet);
        self.solver.copy_from(solver);
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
