//! What it takes beyond a report to check a step without solving anything.

use crate::state::ActiveConstraint;
use crate::system::{ConstraintId, ContactId};
use serde::{Deserialize, Serialize};

/// What it takes beyond the report of a step to check it without solving anything: what it was solved for on the way.
/// A verifier believes none of it; see the module `verify`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The velocity v̂ that the rows of an iterated step were expanded about last; empty for all other schemes.
    pub about: Vec<f64>,
    /// The passes of post-stabilization.
    pub passes: Vec<StabilizationPass>,
    /// What a step of second order is made of, in the order of time.
    pub parts: Vec<Part>,
}

/// A pass of post-stabilization.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StabilizationPass {
    /// The contacts that were rows, in their order.
    pub contacts: Vec<ContactId>,
    /// λ of every row, joints first: dp = M⁻¹Jᵀλ [kg m].
    pub impulses: Vec<f64>,
    /// Why the rows cannot all be met, if they cannot: the combination of them that proves it.
    pub infeasible: Option<Vec<f64>>,
}

/// A part of a step of second order, or what happened between two of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Between two events.
    Between {
        /// How long [s].
        size: f64,
        /// By the linearly implicit Euler method, after an impact among stiff forces.
        implicit: bool,
        /// In modes that do not change; otherwise as a complementarity problem.
        located: bool,
        /// With the definite part of the Jacobian of the forces.
        definite: bool,
        /// What bears, and how.
        active: Vec<ActiveConstraint>,
        /// What has just begun to.
        fresh: Vec<ActiveConstraint>,
        /// v̂, which leads to the middle.
        heading: Vec<f64>,
        /// w, which rows carry over from the start.
        carried: Vec<f64>,
        /// Friction of contacts of the problem that slip, along their tangents, as a part of its bound.
        slips: Vec<(usize, [f64; 2])>,
        /// Impulses of all rows [N s].
        impulses: Vec<f64>,
        /// Velocity at the end.
        v: Vec<f64>,
    },
    /// A projection onto what holds, at an event.
    Projection {
        /// What bears, and how.
        active: Vec<ActiveConstraint>,
        /// How positions were moved, pass by pass.
        displacements: Vec<Vec<f64>>,
        /// Velocity after it.
        v: Vec<f64>,
    },
    /// An impact.
    Impact {
        /// Where gaps closed.
        struck: Vec<ConstraintId>,
        /// Where else something bore.
        held: Vec<ConstraintId>,
        /// Impulses of the compression [N s].
        compression: Vec<f64>,
        /// Velocity after it.
        compressed: Vec<f64>,
        /// The factor on restitution; 0 where a bounce was over before it could be told from none.
        factor: f64,
        /// Impulses of the decompression, beyond those that restitution gives back; empty where there is none [N s].
        decompression: Vec<f64>,
        /// Velocity after it.
        v: Vec<f64>,
    },
    /// The rest of a step by the stabilized Euler scheme, with the passes of the evidence; a projection follows.
    Coarse {
        /// How long [s].
        size: f64,
        /// Without restitution.
        soft: bool,
        /// Configuration after it.
        q: Vec<f64>,
        /// Velocity after it.
        v: Vec<f64>,
    },
    /// A landing on the interpolant of a part.
    Interpolated {
        /// The part, whole.
        whole: Box<Part>,
        /// When after its start [s].
        at: f64,
    },
    /// Past the instant at which a contact was lost, with the velocity there.
    Past {
        /// How long [s].
        size: f64,
    },
    /// A step of a run to an accuracy: an end and an estimate of its error, combined from what was solved.
    Combined {
        /// How long [s].
        size: f64,
        /// How.
        by: Combination,
        /// What bears, and how.
        active: Vec<ActiveConstraint>,
        /// What was solved, in its order; at last the projection of the end.
        parts: Vec<Part>,
        /// The estimate of the error [m, rad, m/s, rad/s].
        error: f64,
    },
    /// Accelerations at an instant that a combination asks for.
    Instant {
        /// Forces of all rows [N].
        forces: Vec<f64>,
        /// Accelerations.
        a: Vec<f64>,
    },
}

/// How a step of a run to an accuracy is combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combination {
    /// One trapezoidal step and two of half the size, each projected, extrapolated.
    Doubled,
    /// Seven instants by the method of Dormand and Prince of order five.
    DormandPrince,
    /// Twelve instants by that of order eight.
    DormandPrinceEight,
}

impl Evidence {
    pub(crate) fn clear(&mut self) {
        self.about.clear();
        self.passes.clear();
        self.parts.clear();
    }

    /// A pass to be filled in.
    pub(crate) fn add_pass(&mut self) -> &mut StabilizationPass {
        self.passes.push(StabilizationPass::default());
        let last = self.passes.len() - 1;
        &mut self.passes[last]
    }
}
