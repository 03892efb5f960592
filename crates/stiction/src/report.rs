//! Report of a step: impulses and modes of contacts, joint reactions, residuals, energies, events and work counters.
//! Filled by the schemes, for users, journals and viewers.

mod evidence;
mod intervals;
mod partial_steps;

pub use evidence::{
    Evidence, FirstOrderSolve, IntegrationMethod, IslandRecord, StabilizationPass, SubstepRecord,
    deserialize_nested,
};
pub use intervals::ContactInterval;
pub use stiction_lcp::Mode;

use crate::id::{BodyId, JointId};
use crate::reduce::Dropped;
use crate::system::{ConstraintId, ContactId};
use serde::{Deserialize, Serialize};
use stiction_lcp::{Certificate, Fallback, Farkas, Work};

/// Report of a step.
///
/// Serializes to JSON and to binary formats such as postcard, and back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Time at the end of the step [s].
    pub t: f64,
    /// Step size [s].
    pub h: f64,
    /// Contacts with their impulses: of least norm among all impulses that cause the same motion. Contacts that were
    /// redundant with a proof are among them, contacts beyond a limit are not. In a run to an accuracy, the
    /// active contacts at the end.
    pub contacts: Vec<ContactReport>,
    /// Contacts without rows in the problem that was solved: redundant with a proof, or beyond a limit.
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
    /// Work counters.
    pub work: StepWork,
    /// Post-stabilization, if it ran.
    pub stabilization: Option<StabilizationReport>,
    /// Events located within the step, in the order of time.
    pub events: Vec<Event>,
    /// Energy balances of the impacts among them.
    pub impacts: Vec<ImpactReport>,
    /// Second-order part of the report, for schemes of second order.
    pub second_order: Option<SecondOrderReport>,
    /// Energy ledger, for schemes with one step problem per step.
    #[serde(default)]
    pub ledger: Option<EnergyLedger>,
    /// Evidence for [`verify`](crate::verify()); filled where the report that is passed in has one.
    #[serde(default)]
    pub evidence: Option<Evidence>,
    /// Least and greatest impulses of contacts among all that cause the same motion; filled where the report that is
    /// passed in has a list ([`StepReport::with_intervals`]). In schemes of second order of the forces at the end, times
    /// the duration. Contacts are not listed whose programs are too large or not solved. Journals have it beside the report.
    #[serde(skip)]
    pub intervals: Option<Vec<ContactInterval>>,
}

impl StepReport {
    /// Contact with this id.
    pub fn contact(&self, id: ContactId) -> Option<&ContactReport> {
        self.contacts.iter().find(|contact| contact.id == id)
    }

    /// Contacts of a body.
    pub fn contacts_of(&self, body: BodyId) -> impl Iterator<Item = &ContactReport> {
        self.contacts.iter().filter(move |contact| contact.bodies.contains(&body))
    }

    /// Contacts between two bodies, in either order.
    pub fn contacts_between(&self, a: BodyId, b: BodyId) -> impl Iterator<Item = &ContactReport> {
        self.contacts_of(a).filter(move |contact| contact.bodies == [a, b] || contact.bodies == [b, a])
    }
}

/// Second-order part of a report.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SecondOrderReport {
    /// Number of solves: substeps in given modes, complementarity problems and acceleration problems.
    pub solves: usize,
    /// Smallest event function at the end of the step, relative to its scale. The modes are right while it is not
    /// negative beyond round-off. Infinite without event functions; null in JSON.
    #[serde(deserialize_with = "stiction_lcp::number_or_infinity")]
    pub slack: f64,
    /// `true` where the exact Jacobian of the forces left M̃ indefinite and was replaced by its definite part.
    pub definite: bool,
    /// `true` where a substep after an impact among very stiff forces was made as two Euler steps.
    pub damped: bool,
    /// Number of mode changes that were forced because no consistent modes were found.
    pub forced: usize,
    /// `true` where the rest of the step was made without locating events: the event limit was reached, no modes were
    /// found, or the equations of a substep did not hold.
    pub cut: bool,
    /// Size of the last part of the step that was made by the stabilized Euler scheme with post-stabilization, without
    /// restitution where necessary [s]: the event limit was reached, or a contact closed without a located event.
    pub coarse: f64,
    /// Largest residual of a substep that was refused because it was above the tolerance; 0 where none was.
    pub refused: f64,
    /// Energy that projections onto joints and contacts added, at events and at the end of the step [J].
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

/// Report of a run to an accuracy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AccuracyReport {
    /// Requested accuracy.
    pub requested: f64,
    /// Sum of the error estimates of all steps, before the gain of extrapolation. It exceeds the error at the end
    /// unless neighbouring motions diverge.
    pub error: f64,
    /// Observed order of the error of a step: the median over steps that were halved. `None` where errors are round-off.
    pub order: Option<f64>,
    /// Located events, in the order of time.
    pub events: Vec<Event>,
    /// Energy balances of the impacts among them.
    pub impacts: Vec<ImpactReport>,
    /// Number of accepted steps.
    pub steps: usize,
    /// Number of rejected steps.
    pub rejections: usize,
    /// Number of solves: sets of equations and complementarity problems.
    pub solves: usize,
    /// Number of mode changes that were forced because no consistent modes were found.
    pub forced: usize,
    /// Largest penetration at the end of a step [m].
    pub penetration: f64,
    /// Largest residual of momentum and rows.
    pub certificate: f64,
    /// Error estimate of the last step.
    pub(crate) last_error: f64,
}

/// Event: a change of mode, located within a step. Contacts that change together share a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Time [s].
    pub t: f64,
    /// Kind.
    pub kind: EventKind,
    /// Constraint whose mode changes.
    pub constraint: ConstraintId,
}

/// Kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// Gap closes.
    Impact,
    /// Contact opens.
    TakeOff,
    /// Stick becomes slip.
    Slip,
    /// Slip becomes stick.
    Stick,
    /// Slip changes its direction.
    Reversal,
    /// Events could not be located: a step of first order begins, named by the first active constraint.
    FirstOrder,
}

/// Energy balance of an impact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImpactReport {
    /// Time [s].
    pub t: f64,
    /// Contacts and limits that took part, with their approach speeds [m/s].
    pub approaches: Vec<(ConstraintId, f64)>,
    /// Kinetic energy before the impact [J].
    pub before: f64,
    /// Kinetic energy after the compression [J].
    pub compressed: f64,
    /// Kinetic energy after the impact [J].
    pub after: f64,
    /// Factor on restitution that keeps the impact from adding energy; 1 unless requested and needed. 0 where the bounce
    /// would be shorter than time resolves, so that ever shorter bounces end.
    pub factor: f64,
}

/// Work counters of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepWork {
    /// Complementarity problems solved, post-stabilization included.
    pub problems: usize,
    /// Pivots in them.
    pub pivots: usize,
    /// Factorizations of the structured methods in them.
    pub factorizations: usize,
    /// Problems solved only to the loosest tolerance of the scheme's solver.
    pub loose: usize,
    /// Unknowns of the largest dense problem.
    pub size: usize,
    /// Number of halvings: a step of n + 1 partial steps has n of them. Journals have it from the evidence.
    #[serde(skip)]
    pub halvings: usize,
    /// Number of times the step was solved again with contacts that had been missed.
    pub additions: usize,
    /// Iterations of the position-level scheme.
    pub rounds: usize,
    /// `false` when these ended at the iteration limit.
    pub converged: bool,
    /// Redundant joint rows.
    pub redundant_joints: Vec<usize>,
    /// Number of contacts left out with a proof that they are redundant.
    pub proven: usize,
    /// Number of contacts left out for the limit of [`Reduction::Limit`](crate::Reduction::Limit).
    pub limited: usize,
}

impl StepWork {
    /// Adds the counters of a solve.
    pub(crate) fn add(&mut self, work: &Work) {
        self.problems += 1;
        self.pivots += work.pivots;
        self.factorizations += work.factorizations;
        self.loose += usize::from(work.fallbacks.contains(&Fallback::Loose));
        self.size = self.size.max(work.dense_size);
        self.redundant_joints.clone_from(&work.redundant_joints);
    }
}

/// Energy ledger of a step or a run: which work changed the sum of kinetic and potential energy [J].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyLedger {
    /// Work of gravity and springs: what the potential energy lost before post-stabilization. It changes no sum.
    pub gravity: f64,
    /// Work of loads, laws and dampers, and of joints that yield.
    pub forces: f64,
    /// Work of motors, moving surfaces and prescribed motions.
    pub motors: f64,
    /// Work of friction at contacts and in joints.
    pub friction: f64,
    /// Work of normal impulses at contacts and limits: what impacts take.
    pub impacts: f64,
    /// Potential energy that post-stabilization added.
    pub projection: f64,
    /// Error of the scheme: the rest of the change.
    pub scheme: f64,
    /// Change of kinetic and potential energy: the sum of all but `gravity`.
    pub change: f64,
}

impl EnergyLedger {
    /// Names and values of the entries.
    pub fn entries(&self) -> [(&'static str, f64); 8] {
        let Self { gravity, forces, motors, friction, impacts, projection, scheme, change } = *self;
        [
            ("gravity", gravity),
            ("forces", forces),
            ("motors", motors),
            ("friction", friction),
            ("impacts", impacts),
            ("projection", projection),
            ("scheme", scheme),
            ("change", change),
        ]
    }
}

impl std::ops::AddAssign for EnergyLedger {
    fn add_assign(&mut self, other: Self) {
        self.gravity += other.gravity;
        self.forces += other.forces;
        self.motors += other.motors;
        self.friction += other.friction;
        self.impacts += other.impacts;
        self.projection += other.projection;
        self.scheme += other.scheme;
        self.change += other.change;
    }
}

/// Report of post-stabilization.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StabilizationReport {
    /// Number of passes.
    pub passes: usize,
    /// I(q) before [m].
    pub before: f64,
    /// I(q) after [m].
    pub after: f64,
    /// Proof that the constraints contradict each other, where they do; then the displacement is the least-squares one.
    pub infeasible: Option<Farkas>,
}

/// Report of a contact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContactReport {
    /// Contact.
    pub id: ContactId,
    /// Bodies, by their numbers in the world.
    pub bodies: [BodyId; 2],
    /// Contact point where its rows were taken [m].
    pub point: [f64; 3],
    /// Unit normal, from the first body to the second.
    pub normal: [f64; 3],
    /// Gap where its rows were taken [m].
    pub gap: f64,
    /// Coulomb coefficient μ.
    pub mu: f64,
    /// Normal impulse on the second body over the step [N s]. In a run to an accuracy, the normal force at the end times
    /// the duration, so that [`ContactReport::force`] is that force; impulses of located impacts are not part of it.
    pub normal_impulse: f64,
    /// Friction impulse on the second body [N s], as the normal impulse.
    pub friction_impulse: [f64; 3],
    /// Slip velocity of the second body relative to the first at the end of the step [m/s].
    pub slip: [f64; 3],
    /// Friction mode; a contact that spins about its normal against friction slips.
    pub mode: Mode,
    /// Torsional and rolling friction; `None` without either.
    pub moment: Option<MomentReport>,
    /// Whether all impulses that cause the same motion have the same impulse at this contact; `false` where that is not
    /// proven, `None` where the scheme does not examine it.
    #[serde(default)]
    pub determined: Option<bool>,
}

/// Forces of a contact on its second body: averaged over a step, or in a run to an accuracy those at the end of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ContactForce {
    /// Normal force [N].
    pub normal: [f64; 3],
    /// Friction force [N].
    pub friction: [f64; 3],
}

impl ContactForce {
    /// Sum of normal and friction force [N].
    pub fn total(&self) -> [f64; 3] {
        std::array::from_fn(|c| self.normal[c] + self.friction[c])
    }
}

impl ContactReport {
    /// Normal force over a step of size `h` [N]: impulse / h.
    pub fn normal_force(&self, h: f64) -> f64 {
        self.normal_impulse / h
    }

    /// Forces on the second body over a step of size `h`: impulses / h.
    pub fn force(&self, h: f64) -> ContactForce {
        ContactForce {
            normal: self.normal.map(|n| self.normal_force(h) * n),
            friction: self.friction_impulse.map(|p| p / h),
        }
    }
}

/// Torsional and rolling friction of a contact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MomentReport {
    /// Moment impulse on the second body [N m s]: torsional friction along the normal, rolling friction across it; in the
    /// plane along z.
    pub impulse: [f64; 3],
    /// Angular velocity of the second body relative to the first about the axes with friction, at the end of the step
    /// [rad/s].
    pub turn: [f64; 3],
    /// Mode of rolling friction: open, stick (it does not roll) or slip (it rolls); `None` without rolling friction.
    pub rolling: Option<Mode>,
}

/// Impulse of a joint row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JointReport {
    /// Joint, by its number in the world.
    pub joint: JointId,
    /// Impulse over the step [N s]. In a run to an accuracy, the force at the end times the duration.
    pub impulse: f64,
    /// Whether all impulses that cause the same motion have the same one in this row, as in a contact.
    #[serde(default)]
    pub determined: Option<bool>,
}

impl JointReport {
    /// Force along the row over a step of size `h` [N]: impulse / h.
    pub fn force(&self, h: f64) -> f64 {
        self.impulse / h
    }
}
