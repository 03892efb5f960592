//! All that a run needs to go on.

use crate::system::{ConstraintId, ContactId, SearchCache};
use serde::{Deserialize, Serialize};

/// The state of a run: restoring one continues it bit by bit.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Time [s].
    pub t: f64,
    /// Configuration, body after body.
    pub q: Vec<f64>,
    /// Velocity, body after body.
    pub v: Vec<f64>,
    /// What schemes remember from step to step.
    pub memory: Memory,
}

/// What schemes remember from step to step.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Size of the last step, or what is left of a larger one before it: the time over which errors of positions
    /// are corrected when steps shrink [s]; 0 before the first. After a run to an accuracy the size it would go on with.
    pub h: f64,
    /// Where searches for contacts start from.
    #[serde(default)]
    pub cache: SearchCache,
    /// Impulses of the contacts of the last step: a body at rest needs the same ones again, and they are tried
    /// before anything is solved.
    pub contacts: Vec<ContactMemory>,
    /// Impulses of the joint rows of the last step [N s].
    pub joints: Vec<f64>,
    /// What bears, in the order of the places, for schemes of second order; none when that is to be found out.
    pub active: Option<Vec<ActiveConstraint>>,
    /// A step of second order after an impact, to be damped where forces are very stiff.
    pub after_impact: bool,
}

impl Clone for State {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Into the storage that is there.
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

    /// Into the storage that is there.
    fn clone_from(&mut self, source: &Self) {
        let Self { h, cache, contacts, joints, active, after_impact } = source;
        (self.h, self.after_impact) = (*h, *after_impact);
        self.cache.clone_from(cache);
        self.contacts.clone_from(contacts);
        self.joints.clone_from(joints);
        self.active.clone_from(active);
    }
}

/// A contact, limit or drive that bears.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ActiveConstraint {
    /// Which.
    pub constraint: ConstraintId,
    /// How.
    pub hold: Hold,
}

/// How something bears.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    /// Without slip; a limit, or a contact without friction.
    Stick,
    /// With friction along this unit vector, on the second body; of a drive, along its row with this sign.
    Slip([f64; 3]),
}

/// The impulse of a contact in the last step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ContactMemory {
    /// Which contact.
    pub id: ContactId,
    /// Where it was [m].
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
