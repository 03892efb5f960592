//! Evidence of a step: the data beyond its report with which a verifier checks it without solving.

use super::StepReport;
use crate::state::{ActiveConstraint, SolverMemory, State};
use crate::system::{ConstraintId, ContactId};
use serde::{Deserialize, Deserializer, Serialize};
use std::cell::Cell;

/// Deepest records within records that are read. Islands hold steps, which hold substeps, which may be landings on another
/// one: five levels. Smaller: journals are refused. Larger, by thousands: a file made of levels overflows the stack.
const MAX_NESTING: usize = 16;

thread_local! {
    /// Records within which this thread reads a record.
    static NESTING: Cell<usize> = const { Cell::new(0) };
}

/// Level of records that is being read.
struct NestingLevel;

impl NestingLevel {
    /// Enters a level; `None` below the deepest one.
    fn enter() -> Option<Self> {
        let level = NESTING.get();
        (level < MAX_NESTING).then(|| NESTING.set(level + 1)).map(|()| Self)
    }
}

impl Drop for NestingLevel {
    fn drop(&mut self) {
        NESTING.set(NESTING.get() - 1);
    }
}

/// Deserialization of records within a record, of at most sixteen levels: every way into deeper records leads through
/// here, so that a file made of levels is an error and no overflow of the stack.
pub fn deserialize_nested<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let Some(_level) = NestingLevel::enter() else {
        let message = format!("records within records deeper than the limit of {MAX_NESTING}");
        return Err(serde::de::Error::custom(message));
    };
    T::deserialize(deserializer)
}

/// Evidence of a step: intermediate solutions, with which it can be checked without solving. A verifier trusts none of
/// it; see the module `verify`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Velocity v̂ about which the rows of an iterated step were expanded last; empty for all other schemes.
    pub about: Vec<f64>,
    /// Passes of post-stabilization.
    pub passes: Vec<StabilizationPass>,
    /// Solves of a second-order step, in the order of time.
    #[serde(deserialize_with = "deserialize_nested")]
    pub substeps: Vec<SubstepRecord>,
    /// Impulses that the solver found in a step of first order, where the reported ones differ; else empty.
    #[serde(default)]
    pub solver: SolverMemory,
}

/// Pass of post-stabilization.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StabilizationPass {
    /// Contacts that were held from both sides, whose rows follow those of the joints.
    #[serde(default)]
    pub held: Vec<ContactId>,
    /// Contacts that were unilateral rows, in their order.
    pub contacts: Vec<ContactId>,
    /// λ of every row, joints first: dp = M⁻¹Jᵀλ [kg m].
    pub impulses: Vec<f64>,
    /// Farkas vector of the rows, if they cannot all be met.
    pub infeasible: Option<Vec<f64>>,
}

/// Record of one solve of a second-order step: a substep, or an event between two of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubstepRecord {
    /// Substep between two events.
    Substep {
        /// Size [s].
        size: f64,
        /// Made by the linearly implicit Euler method, after an impact among stiff forces.
        implicit: bool,
        /// Solved in prescribed friction modes; otherwise as a complementarity problem.
        in_modes: bool,
        /// Made with the definite part of the force Jacobian.
        definite: bool,
        /// Active constraints with their friction modes.
        active: Vec<ActiveConstraint>,
        /// Contacts that became active without an impact, just before this substep.
        new_contacts: Vec<ActiveConstraint>,
        /// Midpoint velocity v̂, which leads to the configuration where rows are taken.
        midpoint_velocity: Vec<f64>,
        /// Start velocity w, as the rows see it.
        start_velocity: Vec<f64>,
        /// Friction of slipping contacts of the problem: index, and mean friction along both tangents over its bound.
        slips: Vec<(usize, [f64; 2])>,
        /// Impulses of all rows [N s].
        impulses: Vec<f64>,
        /// Velocity at the end.
        v: Vec<f64>,
    },
    /// Projection of the state onto joints and active constraints, at an event.
    Projection {
        /// Active constraints with their friction modes.
        active: Vec<ActiveConstraint>,
        /// Displacement of each Newton pass.
        displacements: Vec<Vec<f64>>,
        /// Velocity after it.
        v: Vec<f64>,
    },
    /// Impact.
    Impact {
        /// Constraints whose gaps closed.
        closed: Vec<ConstraintId>,
        /// Active constraints and those that closed: the rows of the impact besides neighbours.
        participants: Vec<ConstraintId>,
        /// Impulses of the compression [N s].
        compression: Vec<f64>,
        /// Velocity after the compression.
        compressed_velocity: Vec<f64>,
        /// Factor on restitution; 0 for a bounce too short to be resolved.
        restitution_factor: f64,
        /// Impulses of the decompression, beyond those that restitution returns [N s]; empty without one.
        decompression: Vec<f64>,
        /// Velocity after it.
        v: Vec<f64>,
    },
    /// Rest of a step by the stabilized Euler scheme, with the passes of the evidence; a projection follows.
    FirstOrder {
        /// Size [s].
        size: f64,
        /// Made without restitution.
        without_restitution: bool,
        /// Configuration after it.
        q: Vec<f64>,
        /// Velocity after it.
        v: Vec<f64>,
    },
    /// Landing on the interpolant of a substep.
    Interpolated {
        /// The substep, whole.
        #[serde(deserialize_with = "deserialize_nested")]
        whole: Box<SubstepRecord>,
        /// Time after its start [s].
        at: f64,
    },
    /// Short motion at constant velocity, past the instant at which a contact lost its feature pair.
    FeatureChange {
        /// Size [s].
        size: f64,
    },
    /// Step of a run to an accuracy: its end and error estimate are combined from these records.
    AccuracyStep {
        /// Size [s].
        size: f64,
        /// Method.
        method: IntegrationMethod,
        /// Active constraints with their friction modes.
        active: Vec<ActiveConstraint>,
        /// Solves in their order; the last is the projection of the end.
        #[serde(deserialize_with = "deserialize_nested")]
        records: Vec<SubstepRecord>,
        /// Error estimate [m, rad, m/s, rad/s].
        error: f64,
    },
    /// Accelerations at a stage of an explicit step.
    Accelerations {
        /// Forces of all rows [N].
        forces: Vec<f64>,
        /// Accelerations.
        a: Vec<f64>,
    },
    /// Step of first order of a run to an accuracy.
    FirstOrderStep {
        /// Size [s].
        size: f64,
        /// Error estimate: the last difference of the extrapolation, or the positions that an event within may change
        /// [m, rad, m/s, rad/s].
        error: f64,
        /// Substeps: one of the whole size, two of half of it, and so on.
        solves: Vec<FirstOrderSolve>,
    },
    /// Window of time in which islands move by themselves.
    Islands {
        /// Size [s].
        size: f64,
        /// Islands: each moving body is in one.
        islands: Vec<IslandRecord>,
    },
    /// Projection of the state onto joints and active constraints at the end of a step: of positions, and of velocities in
    /// part.
    StepEnd {
        /// Active constraints with their friction modes.
        active: Vec<ActiveConstraint>,
        /// Displacement of each Newton pass.
        displacements: Vec<Vec<f64>>,
        /// Velocity without speeds along the rows that hold.
        projected: Vec<f64>,
        /// Part of these speeds that is kept, from 0 to 1.
        kept: f64,
    },
    /// Partial step of a fixed step that was made as halves: such a step has no other records.
    PartialStep {
        /// Report, with its evidence.
        report: Box<StepReport>,
        /// State after it.
        state: Box<State>,
    },
}

/// Records of an island in a window of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IslandRecord {
    /// Moving bodies by their indices, in ascending order.
    pub bodies: Vec<usize>,
    /// Records; constraints on joints are numbered by the joint rows of the island.
    #[serde(deserialize_with = "deserialize_nested")]
    pub records: Vec<SubstepRecord>,
}

/// Step of the stabilized Euler scheme, with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstOrderSolve {
    /// Made without restitution.
    pub without_restitution: bool,
    /// Report.
    pub report: Box<StepReport>,
    /// Configuration after it.
    pub q: Vec<f64>,
    /// Velocity after it.
    pub v: Vec<f64>,
}

/// Method of a step of a run to an accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntegrationMethod {
    /// One trapezoidal step and two of half the size, each projected, extrapolated.
    Doubled,
    /// Implicit Euler steps of 1, 2, … substeps, extrapolated to the order of their number, where slip is slow: friction is
    /// against the slip at the end of each substep.
    ExtrapolatedEuler,
    /// Dormand and Prince of order five: seven stages.
    DormandPrince,
    /// Dormand and Prince of order eight: twelve stages.
    DormandPrinceEight,
}

impl SubstepRecord {
    /// Whole substep of a landing on its interpolant; otherwise the record itself.
    pub(crate) fn whole(&self) -> &Self {
        if let Self::Interpolated { whole, .. } = self { whole } else { self }
    }
}

impl Evidence {
    /// Partial steps of a step that was made as halves, with the states after them; empty for all others.
    pub fn partial_steps(&self) -> impl Iterator<Item = (&StepReport, &State)> {
        self.substeps.iter().filter_map(|record| match record {
            SubstepRecord::PartialStep { report, state } => Some((&**report, &**state)),
            _ => None,
        })
    }

    /// Number of halvings of the step.
    pub fn halvings(&self) -> usize {
        self.partial_steps().count().saturating_sub(1)
    }

    pub(crate) fn clear(&mut self) {
        self.about.clear();
        self.passes.clear();
        self.substeps.clear();
        self.solver.clear(0, 0);
    }

    /// Adds a pass to be filled in.
    pub(crate) fn add_pass(&mut self) -> &mut StabilizationPass {
        self.passes.push(StabilizationPass::default());
        let last = self.passes.len() - 1;
        &mut self.passes[last]
    }
}
