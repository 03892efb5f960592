//! What a step did: nothing printed, nothing hidden.

mod evidence;

pub use evidence::{Combination, Evidence, Part, StabilizationPass};

use crate::id::{BodyId, JointId};
use crate::reduce::Dropped;
use crate::system::{ConstraintId, ContactId};
use serde::{Deserialize, Serialize};
use stiction_lcp::{Certificate, Farkas};

/// What a step did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StepReport {
    /// Time at the end of the step [s].
    pub t: f64,
    /// Size of the step [s].
    pub h: f64,
    /// The contacts that were rows of the step problem.
    pub contacts: Vec<ContactReport>,
    /// The contacts that were not, because they follow from those that were or for a limit.
    pub dropped: Vec<Dropped>,
    /// Impulse of every joint row.
    pub joints: Vec<JointReport>,
    /// Residuals of the step problem, recomputed from its data.
    pub certificate: Certificate,
    /// Kinetic energy at the end [J].
    pub kinetic: f64,
    /// Potential energy at the end [J].
    pub potential: f64,
    /// Linear momentum at the end [N s].
    pub linear_momentum: [f64; 3],
    /// Angular momentum about the origin at the end [N m s].
    pub angular_momentum: [f64; 3],
    /// Largest penetration or joint error at the end of the step, I(q) [m]. AH04 (4.45)
    pub infeasibility: f64,
    /// What was solved.
    pub work: StepWork,
    /// What post-stabilization did, if it ran.
    pub stabilization: Option<StabilizationReport>,
    /// What was located within the step, in the order of time.
    pub events: Vec<Event>,
    /// The impacts among them.
    pub impacts: Vec<ImpactReport>,
    /// How a step of second order was made.
    pub second_order: Option<SecondOrderReport>,
    /// What it takes beyond this to check the step without solving anything; filled where the report comes with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

/// How a step of second order was made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SecondOrderReport {
    /// Steps in given modes, complementarity problems and acceleration problems that were solved.
    pub solves: usize,
    /// The least of the event functions at the end of the step, relative to their scales: modes are right while it
    /// is not negative but for round-off. Infinite where nothing is watched.
    pub slack: f64,
    /// The exact Jacobian of the forces left M̃ indefinite, and its definite part took its place.
    pub definite: bool,
    /// Part of the step was made as two Euler steps, after an impact among very stiff forces.
    pub damped: bool,
    /// Modes that were changed by force, where nothing else would go on.
    pub forced: usize,
    /// The limit on events was reached, no modes were found, or the equations of a part did not hold: the rest of
    /// the step was made without locating any.
    pub cut: bool,
    /// How much of the step, at its end, was made by the stabilized Euler scheme with post-stabilization, where it has
    /// to be without restitution [s]: there were more events than the limit, or a contact closed where none was
    /// located.
    pub coarse: f64,
    /// The worst residual of a part that was refused because it was above the tolerance; 0 where none was.
    pub refused: f64,
    /// Energy that projections onto joints and contacts at events added or took [J].
    pub projected: f64,
}

impl Default for SecondOrderReport {
    fn default() -> Self {
        Self {
            solves: 0,
            slack: f64::INFINITY,
            definite: false,
            damped: false,
            forced: 0,
            cut: false,
            coarse: 0.0,
            refused: 0.0,
            projected: 0.0,
        }
    }
}

/// What a run to an accuracy did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AccuracyReport {
    /// The accuracy asked for.
    pub requested: f64,
    /// The sum of the estimates of the errors of all steps, before what extrapolation gains: more than the error at
    /// the end unless the motion itself pulls neighbours apart.
    pub error: f64,
    /// The order of the error of a step, as observed by halving some: the median. None where errors are round-off.
    pub order: Option<f64>,
    /// What was located, in the order of time.
    pub events: Vec<Event>,
    /// The impacts among them.
    pub impacts: Vec<ImpactReport>,
    /// Steps made.
    pub steps: usize,
    /// Steps that were too large and made again.
    pub rejections: usize,
    /// Sets of equations and complementarity problems solved.
    pub solves: usize,
    /// Modes that were changed by force, where nothing else would go on.
    pub forced: usize,
    /// The deepest penetration at the end of a step [m].
    pub penetration: f64,
    /// The largest residual of momentum and rows.
    pub certificate: f64,
    /// The estimate of the error of the last step.
    pub(crate) last_error: f64,
}

/// Something that was located within a step. Contacts that change together share a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When [s].
    pub t: f64,
    /// What happened.
    pub kind: EventKind,
    /// Where.
    pub constraint: ConstraintId,
}

/// What happened at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A gap closed.
    Impact,
    /// A contact let go.
    TakeOff,
    /// Sticking ended.
    Slip,
    /// Slipping ended.
    Stick,
    /// Slipping went on the other way.
    Reversal,
}

/// The energy balance of an impact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImpactReport {
    /// When [s].
    pub t: f64,
    /// The contacts and limits that took part, with their approach speeds before it [m/s].
    pub approaches: Vec<(ConstraintId, f64)>,
    /// Kinetic energy before it [J].
    pub before: f64,
    /// Kinetic energy after the compression [J].
    pub compressed: f64,
    /// Kinetic energy after it [J].
    pub after: f64,
    /// The factor on restitution that kept it from adding energy, 1 unless asked for and needed; 0 where the bounce
    /// would be over before it can be told from none, so that ever shorter bounces end.
    pub factor: f64,
}

/// What a step took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepWork {
    /// Complementarity problems solved, post-stabilization included.
    pub problems: usize,
    /// Pivots in them.
    pub pivots: usize,
    /// Factorizations of the structured methods in them.
    pub factorizations: usize,
    /// Problems whose answer does not hold to the tolerance, but to the loosest one of the scheme's solver.
    pub loose: usize,
    /// Unknowns of the largest dense problem.
    pub size: usize,
    /// Times contacts that had been missed were added and the step solved again.
    pub additions: usize,
    /// Rounds of the position-level iteration.
    pub rounds: usize,
    /// `false` when that iteration stopped at its limit.
    pub converged: bool,
    /// Joint rows that follow from the others.
    pub redundant_joints: Vec<usize>,
    /// Contacts that the step problem was solved without, with a proof that they follow from the others.
    pub proven: usize,
    /// Contacts that it was solved without for the limit of [`Reduction::Limit`](crate::Reduction::Limit).
    pub limited: usize,
}

/// What post-stabilization did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StabilizationReport {
    /// Passes made.
    pub passes: usize,
    /// I(q) before [m].
    pub before: f64,
    /// I(q) after [m].
    pub after: f64,
    /// Why the constraints cannot all be met, if they cannot: then the displacement was the least-squares one.
    pub infeasible: Option<Farkas>,
}

/// What a contact did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContactReport {
    /// Which contact.
    pub id: ContactId,
    /// The bodies, by their numbers in the world.
    pub bodies: [BodyId; 2],
    /// Where it was when its rows were taken [m].
    pub point: [f64; 3],
    /// Unit normal, from the first body to the second.
    pub normal: [f64; 3],
    /// Gap when its rows were taken [m].
    pub gap: f64,
    /// Coulomb coefficient μ.
    pub mu: f64,
    /// Normal impulse on the second body [N s].
    pub normal_impulse: f64,
    /// Friction impulse on the second body [N s].
    pub friction_impulse: [f64; 3],
    /// Slip velocity of the second body against the first at the end of the step [m/s].
    pub slip: [f64; 3],
    /// Open, stick or slip; what spins against friction about the normal slips.
    pub mode: Mode,
    /// What resists spin and rolling did; `None` where nothing does.
    pub moment: Option<MomentReport>,
}

/// What resists the turning of a contact did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MomentReport {
    /// Moment impulse on the second body [N m s]: along the normal what resists spin, across it what resists rolling;
    /// in the plane along z.
    pub impulse: [f64; 3],
    /// Angular velocity of the second body against the first about the same axes, where they have rows, at the end of
    /// the step [rad/s].
    pub turn: [f64; 3],
    /// Open, stick (it does not roll) or slip (it rolls); `None` where nothing resists rolling.
    pub rolling: Option<Mode>,
}

/// What a contact does in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// No normal impulse.
    Open,
    /// A normal impulse and no slip.
    Stick,
    /// A normal impulse and slip.
    Slip,
}

/// The impulse of a joint row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JointReport {
    /// Which joint.
    pub joint: JointId,
    /// Its impulse [N s].
    pub impulse: f64,
}
