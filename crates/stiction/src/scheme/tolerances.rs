//! Numeric constants of the Euler family: step problem, position-level iteration, post-stabilization and projection.

// | constant | formula it enters | relative to | default | sensible range |
// |---|---|---|---|---|
// | `SPEED_FLOOR` | V₀ ≥ this × largest surface speed | surface speed | 1e-3 | 1e-4 to 1e-2 |
// | `POSITION_ROUND_OFF` | V₀ ≥ this × max(‖q‖∞, size) / (h × tolerance) | positions | 1e-15 | 1e-16 to 1e-14 |
// | `TOUCHING_GAP` | contacts with Φ ≤ this × size are rows | size | 1e-9 | 1e-12 to 1e-7 |
// | `REDUCTION_LENGTH` | offsets of proofs are measured by this × size / h | size | 1e-2 | 1e-3 to 1e-1 |
// | `PENETRATION_ROUND_OFF` | a contact with Φ ≥ −this × size is not missed | size | 1e-12 | 1e-14 to 1e-9 |
// | `MAX_STEP_SHRINKAGE` | h_before > this × h spreads corrections over h_before | step size | 2 | 1.5 to 4 |
// | `DEFAULT_RESTITUTION_SPEED` | restitution acts above this × ‖g‖ h | speed of a fall for h | 2 | 1 to 10 |
// | `POSITION_ITERATION_LIMIT` | iterations v̂ ← v⁺ | count | 20 | 5 to 100 |
// | `POSITION_ITERATION_TOLERANCE` | ‖v⁺ − v̂‖∞ ≤ this × (1 m/s + ‖v⁺‖∞) | speeds | 1e-12 | 1e-13 to 1e-8 |
// | `STICK_SPEED` | slip below this × V₀ is reported as stick | V₀ | 1e-9 | the tolerance to 1e-6 |
// | `MAX_DISPLACEMENT` | a pass moves no surface by more than this × size | size | 0.2 | 0.05 to 0.5 |
// | `STABILIZATION_TOLERANCE` | passes end at I(q) ≤ this × size | size | 1e-12 | 1e-14 to 1e-8 |
// | `PROJECTION_PASS_LIMIT` | passes of a projection onto the joints | count | 50 | 10 to 200 |
// | `ACTUATOR_CHANGES_TOGETHER` | solves in which all actuators change sides at once | count | 10 | 4 to 50 |
// | `ACTUATOR_CHANGE_LIMIT` | solves for the sides of actuators | count | 200 | 50 to 1000 |
// | `SLACK_MASS` | mass of the slack body of an infeasible row | largest mass | 1e4 | 1e3 to 1e5 |
// | `STIFF_SPRING` | (h² k + h c)/m above this: implicit Euler at time 0 | 1 | 4 | 1 to 4 |
// | `JOINT_MEMORY` | J (v⁺ + v) − κ J v = 0 with κ = this | 1 | 0.2 | 0.1 to 0.5 |
// | `PERSISTENT_GAP` | slow contacts with Φ below this × v_min h last | v_min h | 0.25 | 0.1 to 1 |
// | `HOLD_COMPLIANCE` | compliance of held contacts in a displacement | mobility | 1e-8 | 1e-10 to 1e-6 |
// | `HOLD_PASS_LIMIT` | passes that hold contacts from both sides | count | 2 | 1 to 4 |
//
// "size" is `System::size`, the size of the smallest body [m]; V₀ is
// `Certificate::speed`. Each constant says what breaks on either side.

/// Lower bound on the speed scale V₀ of the certificate, relative to the largest surface speed. With a tolerance of
/// 1e-10 residuals then have to be below 1e-13 of that speed. Smaller: true solutions are refused at the round-off of
/// fast bodies. Larger: slow bodies creep beside fast ones.
pub(crate) const SPEED_FLOOR: f64 = 1e-3;

/// Round-off of positions, relative to the largest of them. Smaller: redundant joints are refused at small step
/// sizes, because their rows disagree by round-off over h. Larger: bodies may creep by this much in every step.
pub(crate) const POSITION_ROUND_OFF: f64 = 1e-15;

/// Largest gap of a touching contact, relative to the size. Smaller: contacts flicker by round-off of their gaps.
/// Larger: bodies hover at this height, because a velocity-level row stops them there.
pub(crate) const TOUCHING_GAP: f64 = 1e-9;

/// Length by which offsets of the proofs of contact reduction are measured, relative to the size. A proof holds to
/// 1e-10 of it ([`Dropped::TOLERANCE`](crate::Dropped::TOLERANCE)), so a dropped contact penetrates by at most 1e-12
/// of the size, where post-stabilization begins. Smaller: proofs are refused by the round-off of gaps. Larger:
/// post-stabilization corrects what is round-off to the proof.
pub(crate) const REDUCTION_LENGTH: f64 = 1e-2;

/// Penetration that counts as round-off of positions, relative to the size. Smaller: the step is solved again for
/// contacts that are closed by round-off. Larger: missed contacts penetrate by this much.
pub(crate) const PENETRATION_ROUND_OFF: f64 = 1e-12;

/// Ratio of the last correction time to the step size above which position errors are corrected over the former.
/// Smaller: corrections lag behind where the step size varies a little. Larger: Φ/h throws bodies apart by this factor.
pub(crate) const MAX_STEP_SHRINKAGE: f64 = 2.0;

/// Default speed above which restitution acts, relative to ‖g‖ h. Smaller: bodies at rest bounce by round-off of the
/// speed that gravity adds in one step. Larger: slow impacts lose their restitution.
pub(crate) const DEFAULT_RESTITUTION_SPEED: f64 = 2.0;

/// Iteration limit of the position-level scheme. Convergence is linear with a factor of order h. Smaller: steps end
/// unconverged ([`StepWork::converged`](crate::StepWork::converged)). Larger: a diverging step costs more before it ends.
pub(crate) const POSITION_ITERATION_LIMIT: usize = 20;

/// Change of velocity at which the position-level iteration has converged, relative to 1 m/s plus the largest speed.
/// Smaller: round-off of the solve keeps it from converging. Larger: Φ(q⁺) ⊥ c_n holds less accurately.
pub(crate) const POSITION_ITERATION_TOLERANCE: f64 = 1e-12;

/// Slip speed below which a closed contact is reported to stick, relative to V₀; the tolerance of the solve where that
/// is larger. Smaller: round-off of the solve is reported as slip. Larger: creep is reported as stick.
pub(crate) const STICK_SPEED: f64 = 1e-9;

/// Largest displacement of a surface in one pass, relative to the size: rows are linearized and only hold near where
/// they were taken. Smaller: large errors take many passes. Larger: bodies overshoot where gaps curve.
pub(crate) const MAX_DISPLACEMENT: f64 = 0.2;

/// Position error I(q) at which post-stabilization and projections end, relative to the size. Smaller: passes chase
/// round-off of positions. Larger: errors of this size remain.
pub(crate) const STABILIZATION_TOLERANCE: f64 = 1e-12;

/// Pass limit of a projection onto the joints. Newton's method takes a handful of passes from anywhere near. Smaller:
/// worlds with joints far apart are refused. Larger: joints that cannot close cost more before they are refused.
pub(crate) const PROJECTION_PASS_LIMIT: usize = 50;

/// Mass of the slack body of a row in an infeasible pass, relative to the largest mass of a body. Gaps are left open by
/// 1 over this of the displacement, and the next pass closes them. Smaller: rows that could hold are violated more.
/// Larger (above 1e5): large impulses of contradicting rows cancel to less than the certificate resolves.
pub(crate) const SLACK_MASS: f64 = 1e4;

/// Stiffness (h² k + h c)/m of a spring or damper above which a timed step takes it at q_m ⊕ h v⁺. Up to 4 the
/// trapezoidal rule follows the oscillation, h ω ≤ 2; above, it rings without decay. Smaller: second order is lost where
/// it is true. Larger: stiff springs ring.
pub(crate) const STIFF_SPRING: f64 = 4.0;

/// Part κ of the joint speeds at the start that timed rows of joints keep: J_m (v⁺ + v) − κ J v = 0. Speeds along joints
/// change their sign and shrink by 1 − κ in each step. Smaller (0.05): they are fed faster than they decay, in a chain that
/// whips or a crank. Larger: the joints lose energy; with 1 the scheme is of first order.
pub(crate) const JOINT_MEMORY: f64 = 0.2;

/// Gap below which a slow contact lasts, relative to v_min h. Smaller: contacts at rest that post-stabilization left open
/// are taken for new ones. Larger: bodies are held at a distance for a step.
pub(crate) const PERSISTENT_GAP: f64 = 0.25;

/// Compliance of contacts that a displacement holds from both sides, relative to their mobility: redundant ones need not
/// agree. A pass leaves this part of the correction. Smaller: contradicting contacts share huge impulses. Larger: a second
/// pass is needed.
pub(crate) const HOLD_COMPLIANCE: f64 = 1e-8;

/// Number of passes that hold contacts from both sides. Contacts that contradict each other stay open after them; the
/// passes that follow remove penetration alone. Smaller: curved contacts stay open by the curvature of their gaps.
/// Larger: contradicting contacts cost passes in vain.
pub(crate) const HOLD_PASS_LIMIT: usize = 2;

/// Number of solves of a step after which actuators change the side of their limits one by one, the first of them first:
/// rules that change all at once may go round. Range 4 to 50: smaller costs solves where many motors reach their limits
/// together, larger where they go round.
pub(crate) const ACTUATOR_CHANGES_TOGETHER: usize = 10;

/// Number of solves of a step for the sides of its actuators. Beyond it the step is an error. Range 50 to 1000: smaller
/// gives up where many motors change, larger costs time before the error.
pub(crate) const ACTUATOR_CHANGE_LIMIT: usize = 200;
