//! Tolerances and limits of the second-order scheme, in one table.
//!
//! "size" is [`System::size`](crate::System::size), "step" the step asked for, ε the machine epsilon. Each entry
//! gives formula, unit, value, sensible range, and what breaks below and above it.

// --- contact gaps and speeds ---

/// Least approach speed with restitution [m/s]. Default 1e-9, range 1e-12 to 1e-3. Independent of the step, so that
/// sequences of ever smaller bounces end. Below: bounces are lost in round-off. Above: real bounces are swallowed.
pub(super) const MIN_RESTITUTION_SPEED: f64 = 1e-9;

/// Slip speed above which a contact or drive has a slip direction [m/s]. Default 1e-9, range 1e-12 to 1e-6. Below:
/// the direction is round-off. Above: slow slip counts as stick.
pub(super) const MIN_SLIP_SPEED: f64 = MIN_RESTITUTION_SPEED;

/// Touching: gap ≤ this × size. PAGT06 (7.1). Default 1e-10, range 1e-12 to 1e-8. Below: contacts are lost to
/// round-off. Above: restitution is lost, because contacts become active before they strike.
pub(super) const TOUCHING_GAP_RELATIVE: f64 = 1e-10;

/// A contact with torsional or rolling friction rests while its gap is at most this × size, unless it strikes. Default
/// 1e-4, range 1e-6 to 1e-2. Below: contacts that hover after a step of first order are located again and again. Above:
/// free flight is made by steps of first order.
pub(super) const RESTING_GAP_RELATIVE: f64 = 1e-4;

/// Closed: gap < −this × size. Default 1e-12, range 1e-14 to 1e-10. Below: round-off of positions counts as a
/// closed gap. Above: impacts are located too deep.
pub(super) const CLOSED_GAP_RELATIVE: f64 = 1e-12;

/// Contacts with a gap of at most this × size take part in an impact. Default 1e-9, range 1e-11 to 1e-7. Below:
/// contacts that tie with the impact are left out. Above: contacts that are still apart are stopped.
pub(super) const IMPACT_GAP_RELATIVE: f64 = 1e-9;

/// Speeds are measured by max(g h, this × fastest surface). Default 1e-3, range 1e-6 to 1e-1. With a tolerance of
/// 1e-10 answers are asked for to 1e-13 of the fastest speed. Below: true answers are refused at the round-off of
/// fast bodies. Above: slow bodies creep beside fast ones.
pub(super) const SPEED_SCALE_RELATIVE: f64 = 1e-3;

/// Reported slip: slip speed > this × V₀ of the certificate. Default 1e-9, range 1e-12 to 1e-6. Below: round-off of
/// the solve is reported as slip. Above: slow slip is reported as stick.
pub(crate) const REPORTED_SLIP_RELATIVE: f64 = 1e-9;

/// Moments of inertia are equal when they differ by at most this × their mean. Default 1e-12, range 1e-14 to 1e-9.
/// Below: round-off of a turned inertia hides a symmetry, and fast spin costs accuracy. Above: the gyroscopic force of the
/// difference is lost.
pub(super) const INERTIA_SYMMETRY_RELATIVE: f64 = 1e-12;

// --- start and end of a step ---

/// Joint errors at the start of a run are at most this × size, joint speeds this × the fastest speed. Default 1e-6,
/// range 1e-10 to 1e-3. Rows at the mean velocity keep these errors. Below: rounded initial states are refused.
/// Above: joints that do not fit stay apart for the whole run.
pub(super) const START_ERROR_RELATIVE: f64 = 1e-6;

/// A step has ended when the time left is at most this × step. Default 1e-13, range 1e-15 to 1e-10. Below: substeps
/// of round-off size are made. Above: time is skipped.
pub(super) const REMAINING_TIME_RELATIVE: f64 = 1e-13;

/// Explicit steps are at most this over the stiffness ρ of slow slips. Default 3, range 1 to 3.3: the intervals of
/// stability on the real axis are 3.3 for order five and 5.9 for order eight. Below: more steps. Above: directions of
/// slow slips are round-off.
pub(super) const SLIP_STABILITY: f64 = 3.0;

/// Steps that slow slip would shorten by more than this factor are implicit. Default 10, range 1 to 30: a step of the
/// implicit method costs about as much as ten explicit ones. Below: implicit steps where explicit ones are cheaper.
/// Above: many explicit steps.
pub(super) const MAX_SLIP_SHORTENING: f64 = 10.0;

/// Columns of extrapolated implicit Euler steps at tolerances of at least the first number. More columns make longer
/// steps, each of more substeps.
pub(super) const EXTRAPOLATION_COLUMNS: [(f64, usize); 2] = [(1e-5, 3), (1e-7, 4)];
/// Columns at smaller tolerances. Default 5, range 4 to 6.
pub(super) const MAX_EXTRAPOLATION_COLUMNS: usize = 5;

/// Speed that friction changes in an implicit substep over the slip speed, above which the direction at the end is
/// guessed by a complementarity problem. Default 100, range 10 to 1e4. Below: problems that are not needed. Above:
/// Newton's method starts too far off.
pub(super) const MAX_UNGUESSED_STIFFNESS: f64 = 100.0;

/// A guessed slip of at most this × the speed scale has no direction. Default 1e-9, range 1e-10 to 1e-7: complementarity
/// problems are solved to 1e-10. Below: round-off counts as slip. Above: slips start from the directions of their modes.
pub(super) const GUESSED_STICK_RELATIVE: f64 = 1e-9;

/// Residuals of projections are relative to this × the size of the model, or × its speeds, at least. Default 1e-4, range
/// 1e-5 to 1e-3: with a tolerance of 1e-9 it admits the round-off of some hundred operations. Below: right projections of models
/// at rest are rejected. Above: wrong ones pass.
pub(super) const LEAST_RESIDUAL_SCALE: f64 = 1e-4;

/// Contacts that stick may be said to slip by at most this by a verifier [m/s], or by this × the scale of small speeds.
/// Default 1e-7, range 1e-9 to 1e-6. Below: projections leave more. Above: slow slips pass as stick.
pub(super) const VERIFIED_STICK_SPEED: f64 = 1e-7;

/// The slip at the end of an implicit substep is found when its direction turns by at most this in a pass [rad]. Default
/// 1e-6, range 1e-9 to 1e-5: convergence is quadratic, so that the last direction is exact to the square. Below: passes for round-off. Above: friction has a part across
/// the slip.
pub(super) const END_SLIP_TOLERANCE: f64 = 1e-6;

/// Passes to find the slip at the end of an implicit substep. Default 30, range 10 to 100: most take three to five.
pub(super) const MAX_END_SLIP_ITERATIONS: usize = 30;

/// A slip that came out negative has ended if there is at most this part of it across its direction. Default 0.01, range
/// 1e-4 to 0.1. Below: more passes to the end of a slip. Above: a slip that turns counts as ended.
pub(super) const END_SLIP_ACROSS: f64 = 0.01;

/// A slip whose pass went past zero is taken as this × as fast in the next one. Default 0.1, range 0.01 to 0.5.
pub(super) const OVERSHOT_SLIP_FACTOR: f64 = 0.1;

/// A slip ends within an implicit substep if it is slower than this × the speed scale. Default 1e-12, range 1e-15 to
/// 1e-9. Below: round-off. Above: slow slips count as ended.
pub(super) const MIN_END_SLIP_RELATIVE: f64 = 1e-12;

/// Events in sequence at nearly one instant that are a chatter. Default 15, range 10 to 1000: each contact of a small pile
/// may have a few. Below: simultaneous events are passed by steps of first order. Above: a chatter takes longer.
pub(super) const MAX_EVENTS_AT_ONCE: usize = 15;

/// Events are at nearly one instant if they are within this × the time of [`CHATTER_TIME_RELATIVE`] of each other in the
/// mean. Default 0.01, range 1e-4 to 0.1.
pub(super) const INSTANT_RELATIVE: f64 = 0.01;

/// Trial steps in sequence that are a chatter of step sizes, if they are shorter in the mean than
/// [`SHORT_STEP_RELATIVE`] × the time of [`CHATTER_TIME_RELATIVE`]. Default 25, range 20 to 1000. Below: steps that are
/// short after an event count. Above: a run takes longer where no step is accurate, as at slips that come and go.
pub(super) const MAX_SHORT_STEPS: usize = 25;

/// See [`MAX_SHORT_STEPS`]. Default 0.1, range 1e-3 to 1.
pub(super) const SHORT_STEP_RELATIVE: f64 = 0.1;

/// Events for each body, within [`CHATTER_TIME_RELATIVE`] of each other in the mean, that are a chatter. Default 5,
/// range 2 to 200. Below: bounces that fade are passed by steps of first order. Above: a chatter takes longer.
pub(super) const MAX_CHATTER_EVENTS: usize = 5;

/// Events are too close if a fall from rest between them is shorter than this × the accuracy. Default 1e-3, range 1e-5
/// to 1e-1. Below: a chatter takes longer. Above: events that matter are passed by steps of first order.
pub(super) const CHATTER_TIME_RELATIVE: f64 = 1e-3;

/// Least step of first order per accuracy [s]. Default 0.01, range 1e-3 to 1: a velocity changes by about ten times as
/// much in it. Below: steps of round-off size. Above: impacts are passed with errors above the accuracy.
pub(super) const LEAST_COARSE_STEP: f64 = 0.01;

/// Factors on a step of first order, and on its error, that is too large, and on one that is small. Defaults 0.25 and 2.
pub(super) const COARSE_STEP_SHRINKAGE: f64 = 0.25;
/// See [`COARSE_STEP_SHRINKAGE`].
pub(super) const COARSE_STEP_GROWTH: f64 = 2.0;

/// Columns of the extrapolation of steps of first order. Default 5, range 2 to 6. Below: smooth motion takes short steps.
/// Above: steps with an event within take many substeps before they are rejected.
pub(crate) const MAX_COARSE_COLUMNS: usize = 5;

/// A further column is tried if the last one made the error at least this much smaller. Default 0.5, range 0.2 to 0.9.
/// Below: smooth steps are rejected. Above: steps with an event within take many substeps.
pub(super) const COARSE_ERROR_DECREASE: f64 = 0.5;

/// Cost of a step of first order with its substeps, in problems in modes. Default 60, range 20 to 200: up to 15
/// complementarity problems. Below: steps of first order where events could be located in less time. Above: the reverse.
pub(super) const COARSE_STEP_COST: f64 = 60.0;

/// Size of a step of first order at an event [s], before one was made, relative to the accuracy. Default 0.3, range 0.1
/// to 1, as for [`COARSE_STEP_COST`]: accelerations of some m/s² and an error of an accuracy [m/s].
pub(super) const EXPECTED_COARSE_STEP: f64 = 0.3;

/// Events after which their cost is compared with that of steps of first order. Default 16, range 8 to 64. Below: a few
/// events in sequence are passed by steps of first order. Above: dense events take longer.
pub(super) const MAX_DEAR_EVENTS: usize = 16;

/// Problems that the last events take at least before steps of first order are made instead. Default 2000, range 500 to
/// 10⁴, as for [`MAX_DEAR_EVENTS`].
pub(super) const MIN_DEAR_SOLVES: usize = 2000;

/// Steps of first order in a row at most, before events are located again. Default 32, range 4 to 256. Below: modes are
/// sought more often where there are none. Above: less of the motion is of higher order.
pub(super) const MAX_COARSE_ROW: usize = 32;

/// A step that would end beyond the stop of a slip that turns is shortened to this part of the time to the stop.
/// Default 0.8, range 0.5 to 0.95. Below: more steps to the stop. Above: the direction near the stop is not resolved.
pub(super) const TURNING_STOP_PART: f64 = 0.8;

/// A slip in space of at most this × tolerance has stopped [m/s per tolerance]. Default 0.1, range 0.01 to 1. Below:
/// more steps to the stop. Above: the rest of the slip shows in the error.
pub(super) const STOPPED_SLIP_PER_TOLERANCE: f64 = 0.1;

/// Stiffness ‖M⁻¹M̃ − I‖ above which forces are stiff. Default 2, range 0.5 to 10. Below: accurate steps are damped,
/// or made by the slower implicit method. Above: the trapezoidal method rings after impacts, since it does not damp
/// motion faster than the step, and explicit steps shrink.
pub(super) const STIFFNESS_LIMIT: f64 = 2.0;

// --- step size of a run to an accuracy ---

/// Least and greatest ratio of two step sizes in sequence. Defaults 0.2 and 5, ranges 0.1 to 0.5 and 2 to 10. Nearer
/// to 1: many steps until the size fits. Farther: steps are rejected again and again.
pub(super) const MIN_STEP_FACTOR: f64 = 0.2;
/// See [`MIN_STEP_FACTOR`].
pub(super) const MAX_STEP_FACTOR: f64 = 5.0;

/// Errors are aimed at this × tolerance (to the power of the controller). Default 0.9, range 0.7 to 0.95. Below:
/// steps are smaller than needed. Above: many steps are rejected.
pub(super) const STEP_SAFETY: f64 = 0.9;

/// PI control: h ← h · safety · (tol/err)^(a/p) · (err₋/tol)^(b/p), with a = 0.7, b = 0.4 and p the order. Ranges 0.5
/// to 1 and 0 to 0.5. Below: slow adaption. Above: the size oscillates.
pub(super) const PI_PROPORTIONAL: f64 = 0.7;
/// See [`PI_PROPORTIONAL`].
pub(super) const PI_INTEGRAL: f64 = 0.4;

/// Floor of the error in the control: this × max(tolerance, ε). Default 1e-3 ε. Only guards the power of an error
/// of zero: any positive value far below ε will do.
pub(super) const ERROR_FLOOR_RELATIVE: f64 = 1e-3 * f64::EPSILON;

/// Steps in sequence that are halved because a contact lost its features within them. Default 40, range 20 to 60: the
/// size falls to round-off. Below: the run ends early. Above: tries that change nothing.
pub(super) const MAX_RETRIES: usize = 40;

/// Steps of at most this × max(1 s, end time) are accepted whatever their error. Default 1e-14, range 1e-15 to
/// 1e-12. Below: the time no longer changes. Above: errors pass unseen.
pub(super) const MIN_STEP_RELATIVE: f64 = 1e-14;

/// The order is observed once in this many steps. Default 16, range 4 to 100. Below: the runs cost up to half as
/// much again. Above: the median is of few values.
pub(super) const ORDER_SAMPLE_INTERVAL: usize = 16;

/// Errors of a step, and of half of it, above which their ratio shows the order [m, rad, m/s, rad/s]. Defaults
/// 1e3 ε and 1e2 ε. Below: round-off is taken for an order. Above: accurate runs report none.
pub(super) const MIN_OBSERVED_ERROR: f64 = 1e3 * f64::EPSILON;
/// See [`MIN_OBSERVED_ERROR`].
pub(super) const MIN_OBSERVED_HALF_ERROR: f64 = 1e2 * f64::EPSILON;

/// `Automatic` takes the explicit method at tolerances of at most this. Default 1e-2, range 1e-6 to 1e-1. Below: the
/// method of third order needs more steps than a tighter tolerance does. Above: explicit stages cost more than doubled
/// steps.
pub(super) const MAX_EXPLICIT_TOLERANCE: f64 = 1e-2;

/// Steps without an event that the error limits, after which `Automatic` takes the explicit method of order eight.
/// Default 3, range 2 to 20. Below: twelve stages where events follow each other. Above: many steps of order five where
/// the motion is smooth, and more of them than at a tighter tolerance.
pub(super) const SMOOTH_STEPS: usize = 3;

/// Implicit steps before an explicit one is tried where forces seem stiff. Default 50, range 10 to 1000: each try that
/// fails costs one step. Above: forces that only seem stiff, as those of a thin rod that turns, take many steps of third
/// order.
pub(super) const STIFF_STEPS: usize = 50;

/// `Automatic` takes the explicit method of order eight at tolerances of at most this, and that of order five above.
/// Default 1e-7, range 1e-9 to 1e-5. Below: more steps. Above: twelve stages where events and samples leave steps short.
pub(super) const MAX_ORDER_EIGHT_TOLERANCE: f64 = 1e-7;

/// Restitution of a run to an accuracy acts above max(this × tolerance, [`MIN_ACCURACY_RESTITUTION_SPEED`]) [m/s].
/// Default 0.01, range 1e-3 to 0.1. Below: bounces are located that do not matter. Above: they show in the error.
pub(super) const RESTITUTION_PER_TOLERANCE: f64 = 0.01;
/// Least restitution speed of a run to an accuracy [m/s]. Default 1e-12, range 1e-13 to 1e-10. Below: bounces are
/// round-off. Above: tight tolerances are not reached.
pub(super) const MIN_ACCURACY_RESTITUTION_SPEED: f64 = 1e-12;

/// Error of order eight: e₅ · e₅ / √(e₅² + (this · e₃)²). Hairer, Nørsett, Wanner, section II.10. Default 0.1, as in
/// DOP853.
pub(super) const THIRD_ORDER_WEIGHT: f64 = 0.1;

// --- accelerations ---

/// Rows are differentiated over points that surfaces travel this × size between. Default 1e-3, range 1e-4 to 1e-2.
/// The error is its fourth power over thirty, 3e-14. Below: round-off. Above: truncation error.
pub(super) const DIFFERENCE_STEP_RELATIVE: f64 = 1e-3;

/// Greatest time between those points [s], where only prescribed bodies move. Default 1e-3, range 1e-4 to 1e-2, with
/// the same trade.
pub(super) const MAX_DIFFERENCE_TIME: f64 = 1e-3;

/// Offsets of the tangent rows of slipping contacts, in units of the accelerations around, the first that keeps all
/// slips. They make friction act against the slip whatever the acceleration. Defaults 3 to 1e4. V₀ grows with them, and
/// residuals lose digits; without the last ones slip that is slowed by many contacts seems to turn.
pub(super) const SLIP_OFFSET_FACTORS: [f64; 4] = [3.0, 30.0, 1e3, 1e4];

/// Contacts that were given no force slip, or open, at accelerations of this × [`MIN_SLIP_ACCELERATION`]. Default 1e3,
/// range 1e2 to 1e5. Below: round-off; redundant contacts that stay closed are lost, and the others carry their load.
/// Above: slip is missed.
pub(super) const UNLOADED_FACTOR: f64 = 1e3;

/// Slip begins with an acceleration above this × the accelerations around. Default 1e-13, range 1e-14 to 1e-10. The
/// probe is just after the event, where slip has hardly begun. Below: round-off of the solve. Above: slip is missed.
pub(super) const MIN_SLIP_ACCELERATION: f64 = 1e-13;

/// Friction of at least (1 − this) × its bound is at the bound. Default 1e-9, range 1e-12 to 1e-6. Below: slipping
/// contacts seem to stick by round-off. Above: contacts near the bound seem to slip.
pub(super) const FRICTION_BOUND_RELATIVE: f64 = 1e-9;

// --- event functions and their roots ---

/// An event function is negative below −this; gaps are relative to the size, forces and speeds to their scales.
/// Default 1e-11, range 1e-13 to 1e-9. Below: round-off of forces and gaps makes events. Above: events come late.
pub(super) const EVENT_ROUND_OFF: f64 = 1e-11;

/// Event functions at most this at a located event have passed zero there, relative as above. Default 1e-8, range
/// 1e-10 to 1e-6. Below: simultaneous events are treated one by one. Above: later events are taken too early.
pub(super) const SIMULTANEOUS_EVENT_VALUE: f64 = 1e-8;

/// An event within this × step of another is at the same time. Default 1e-7, range 1e-10 to 1e-4. Below: the event
/// just handled is found again. Above: distinct events merge.
pub(super) const SIMULTANEOUS_TIME_RELATIVE: f64 = 1e-7;

/// First evaluation of a root search, as a fraction of its interval: just after the start. Default 1e-10.
pub(super) const ROOT_START_RELATIVE: f64 = SIMULTANEOUS_TIME_RELATIVE * 1e-3;

/// Tolerance of a root, relative to the end of its interval. Default 2 ε, the least that is safe for Brent's method.
/// Above: events are located late.
pub(super) const ROOT_TOLERANCE: f64 = 2.0 * f64::EPSILON;

/// Roots that differ by more than this, relative to their time, are different ones. Default 8 ε, range 4 ε to 1e-12. Below:
/// a gap that jumps is sought again and again. Above: gaps are left that deep.
pub(super) const DISTINCT_ROOTS_RELATIVE: f64 = 8.0 * f64::EPSILON;

/// Value of an event function that counts as a root, relative as above. Default 4e-16, range 1e-16 to 1e-12. Below:
/// steps for round-off. Above: gaps are left that much open or closed.
pub(super) const ROOT_VALUE: f64 = 4e-16;

/// First width of the bracket around a guessed root, relative to the end of its interval. Default 1e-6, range 1e-9 to
/// 1e-3. Below: more widenings. Above: more iterations inside.
pub(super) const BRACKET_RELATIVE: f64 = 1e-6;

/// Factor on the width of a bracket that contains no root yet. Default 32, range 4 to 1000.
pub(super) const BRACKET_GROWTH: f64 = 32.0;

/// Brackets wider than this, relative as above, are given up. Default 0.05, range 0.01 to 0.5.
pub(super) const LONGEST_BRACKET_RELATIVE: f64 = 0.05;

/// Iteration limit of a root search. Default 100, range 50 to 200. Brent's method converges long before.
pub(super) const MAX_ROOT_ITERATIONS: usize = 100;

/// A gap grazes where its cubic dips below −this × size. Default 1e-12, range 1e-14 to 1e-9. Below: round-off makes
/// trial steps. Above: short grazing impacts are missed.
pub(super) const GRAZING_DEPTH_RELATIVE: f64 = 1e-12;

/// Greatest depth of the swept surfaces of an inactive pair within a step, × size. Default 0.05, range 0.01 to 0.2.
/// Below: bodies that pass by cost steps. Above: the face met first may be behind at the end, and the impact is
/// missed.
pub(super) const TUNNELLING_DEPTH_RELATIVE: f64 = 0.05;

/// Least height of a bounce, × size: restitution acts above √(2 g · height). Equal to [`EVENT_ROUND_OFF`], because
/// gaps do not resolve lower bounces.
pub(super) const MIN_BOUNCE_HEIGHT_RELATIVE: f64 = EVENT_ROUND_OFF;

/// After an event the next modes are found this × step later, since the instant itself is a tie. Default 1e-6, range
/// 1e-9 to 1e-3. Below: still a tie to round-off. Above: the modes of a later instant.
pub(super) const FIRST_PROBE_RELATIVE: f64 = 1e-6;
/// While the probe is a tie, it moves later by [`PROBE_GROWTH`], up to this × step. Default 1e-2, range 1e-3 to 0.1.
/// Below: modes are changed by force. Above: as for [`FIRST_PROBE_RELATIVE`].
pub(super) const LAST_PROBE_RELATIVE: f64 = 1e-2;
/// Ratio of two probe times in sequence. Default 10, range 2 to 100: fewer or more acceleration problems.
pub(super) const PROBE_GROWTH: f64 = 10.0;

// --- lost feature pairs ---

/// Bisections until the time of a lost feature pair is known to round-off. Default 52, the bits of a number.
pub(super) const FEATURE_BISECTIONS: usize = 52;

/// Surfaces travel this × size past a lost feature pair. Default 1e-13, range 1e-15 to 1e-11. Below: round-off undoes
/// it. Above: the motion shows.
pub(super) const FEATURE_CHANGE_TRAVEL_RELATIVE: f64 = 1e-13;
/// Least and greatest time for that, × step. Defaults 1e-12 and 1e-4. The first is the resolution of the instant; the
/// second keeps slow bodies from moving on.
pub(super) const FEATURE_CHANGE_TIME_RELATIVE: [f64; 2] = [1e-12, 1e-4];

/// Surfaces travel this × size in a step after a lost feature pair, until the next features of the pair are sought. Default
/// 1e-8, range 1e-9 to 1e-6: corners that pass each other are one within 1e-10 × size, and may slide more slowly than the
/// bodies move. Below: the next contact is missed, and others carry its load. Above: they do so for longer.
pub(super) const NEXT_FEATURE_TRAVEL_RELATIVE: f64 = 1e-8;

// --- impacts ---

/// Bisections of the factor on restitution that keeps energy: 30 give it to 1e-9. Range 10 to 52.
pub(super) const RESTITUTION_BISECTIONS: usize = 30;

/// Relative energy gain of an impact that counts as round-off. Default 1e-14, range ε to 1e-12. Below: exact
/// reflections are reduced. Above: gains pass.
pub(super) const ENERGY_GAIN_RELATIVE: f64 = 1e-14;

// --- projection ---

/// Newton passes of a projection. Default 6, range 3 to 10. From O(h²) away two or three are enough.
pub(super) const MAX_PROJECTION_PASSES: usize = 6;

/// Position errors of at most this × size end a projection. Default 1e-15, range ε to 1e-12. Below: passes that change
/// nothing. Above: errors of that size stay.
pub(super) const PROJECTED_ERROR_RELATIVE: f64 = 1e-15;

/// A pass must bring the error below this × the last one. Default 0.5, range 0.1 to 0.9. Below: passes end before
/// round-off. Above: passes are wasted at round-off.
pub(super) const PROJECTION_PROGRESS: f64 = 0.5;

/// One Newton pass is enough if no point moves farther than this × size. Default 1e-8, range 1e-9 to 1e-7. It leaves
/// its square, which is round-off, and the equations at the start hold to the same fraction, which the correction of
/// velocities makes good. Below: more passes. Above: errors of its square.
pub(super) const ONE_PASS_TRAVEL_RELATIVE: f64 = 1e-8;

/// Constraint speeds of at most this × V₀ are ignored in the midpoint velocity. Default 1e-12, range 1e-15 to 1e-10.
/// Below: a linear solve for round-off in every substep. Above: rows ring with that speed.
pub(super) const RINGING_SPEED_RELATIVE: f64 = 1e-12;

// --- slip that turns within a substep ---

/// Least number of intervals a slip direction is integrated in. Default 16, range 8 to 64: error against time.
pub(super) const MIN_SLIP_INTERVALS: f64 = 16.0;

/// Slip changes by at most this × itself in an interval. Default 0.02, range 0.005 to 0.1. The error is its square
/// over ten, of a time within the step. Below: many intervals. Above: slip that ends has a wrong direction.
pub(super) const SLIP_CHANGE_RELATIVE: f64 = 0.02;

/// Slip has ended at this × the greatest it could reach. Default 1e-12, range 1e-14 to 1e-9. Below: round-off turns
/// it. Above: it ends early.
pub(super) const SLIP_END_RELATIVE: f64 = 1e-12;

/// Slip below this × the greatest it could reach is about to begin. Default 1e-9, range 1e-12 to 1e-6. Below: its
/// direction is round-off. Above: slow slip starts in a wrong direction.
pub(super) const SLIP_START_RELATIVE: f64 = 1e-9;

/// Interval limit. Default 4000: slip that ends takes ln(1/[`SLIP_END_RELATIVE`])/[`SLIP_CHANGE_RELATIVE`] ≈ 1400.
pub(super) const MAX_SLIP_INTERVALS: usize = 4000;

/// Iteration limit and relative tolerance of the direction of an implicit friction interval. Defaults 60 and 1e-15;
/// Newton's method takes about five, bisection up to 52.
pub(super) const MAX_DIRECTION_ITERATIONS: usize = 60;
/// See [`MAX_DIRECTION_ITERATIONS`].
pub(super) const DIRECTION_TOLERANCE: f64 = 1e-15;

// --- load sharing of redundant contacts ---

/// Pivots of at most this × the largest belong to forces that change no acceleration. Default 1e-9, range 1e-12
/// to 1e-7. Below: redundant contacts are missed by round-off. Above: nearly redundant ones count as redundant.
pub(super) const NULL_SPACE_RELATIVE: f64 = 1e-9;

/// Tangent cuts added to a round friction cone. Default 20, range 5 to 50: each squares the error.
pub(super) const MAX_CONE_CUTS: usize = 20;

/// A cut is needed where friction exceeds its bound by this × itself. Default 1e-12, range 1e-14 to 1e-9. Below: cuts
/// for round-off. Above: the slack is too large by that.
pub(super) const CONE_CUT_RELATIVE: f64 = 1e-12;

/// Iteration limit and tolerance of a singular value decomposition. Defaults 10,000 and 5 ε: it takes a few
/// iterations per column, and ends with an error instead of a hang.
pub(super) const MAX_SVD_ITERATIONS: usize = 10_000;
/// See [`MAX_SVD_ITERATIONS`].
pub(super) const SVD_TOLERANCE: f64 = 5.0 * f64::EPSILON;

/// Cost of an artificial column, in units of the largest cost. Default 1e6, range 1e3 to 1e9. Below: artificial columns
/// stay in the basis. Above: prices lose digits.
pub(super) const ARTIFICIAL_COST: f64 = 1e6;

/// Artificial columns below this value count as zero. Default 1e-9, range 1e-12 to 1e-6. Below: bounded programs seem
/// unbounded. Above: the reverse.
pub(super) const ARTIFICIAL_ZERO: f64 = 1e-9;

/// Pivot limit of the simplex method, and pivots after which the least index enters (Bland's rule, which cannot
/// cycle). Defaults 400 and 60; until then the greatest gain enters, which takes a third as many pivots.
pub(super) const MAX_SIMPLEX_PIVOTS: usize = 400;
/// See [`MAX_SIMPLEX_PIVOTS`].
pub(super) const BLAND_AFTER: usize = 60;

/// Pivots after which the inverse of the basis is computed again. Default 20, range 5 to 100: time against round-off.
pub(super) const INVERSE_MAX_AGE: usize = 20;

/// A column enters if its gain exceeds this × the size of the terms. Default 1e-14, range ε to 1e-12. Below: round-off
/// pivots. Above: the optimum is missed by that.
pub(super) const REDUCED_COST_RELATIVE: f64 = 1e-14;

/// Entries of at most this × the largest of a column are no pivots. Default 1e-12, range 1e-14 to 1e-9. Below: a
/// singular basis. Above: the wrong column leaves.
pub(super) const PIVOT_RELATIVE: f64 = 1e-12;

// --- verification of recorded steps ---

/// Changes of momentum are measured by |Δ| + this × momentum. Default 1e-4, range 1e-6 to 1e-2. Below: round-off of
/// the momentum is an error. Above: wrong changes pass.
pub(super) const MOMENTUM_ROUND_OFF_RELATIVE: f64 = 1e-4;

/// Round-off of the speed of a row, relative to the terms of its sum. Default 64 ε, range 8 ε to 1e-12. Below: round-off
/// is an error where the scale of speeds is small. Above: wrong speeds pass.
pub(super) const ROW_ROUND_OFF: f64 = 64.0 * f64::EPSILON;

/// Singular values of at most this × the largest belong to redundant rows. Default 1e-11, range 1e-13 to 1e-9. Below:
/// redundant rows explain round-off. Above: independent rows are dropped.
pub(super) const REDUNDANT_ROW_RELATIVE: f64 = 1e-11;

/// Slip of at most this × V₀ of the certificate has no direction. Default 1e-6, range 1e-9 to 1e-4. Below: round-off
/// along the friction is an error. Above: friction along a slip passes.
pub(super) const VERIFIED_SLIP_RELATIVE: f64 = 1e-6;

/// Impulses are determined if at most this part of a unit of them, squared, changes no motion. Default 1e-9, range 1e-12 to
/// 1e-6. Below: round-off of the decomposition hides determined impulses. Above: redundant ones count as determined.
pub(super) const MAX_UNDETERMINED_PART: f64 = 1e-9;

/// Determined impulses may lie outside their cones, and slip may go along friction, by this × V₀ of the certificate.
/// Default 0.05, range 0.01 to 0.3: impulses are means over a substep, and modes are right where it ends. Below: short
/// substeps before an event are refused. Above: wrong modes pass as not verifiable.
pub(crate) const MAX_CONE_ERROR: f64 = 0.05;

/// Relative energy gain of a verified impact. Default 1e-12, range 1e-14 to 1e-9. Below: round-off of the recorded
/// velocities. Above: gains pass.
pub(super) const VERIFIED_ENERGY_GAIN_RELATIVE: f64 = 1e-12;

/// Recorded mean friction may exceed its bound by this, relative. Default 1e-12, range ε to 1e-9.
pub(super) const VERIFIED_FRICTION_RELATIVE: f64 = 1e-12;

/// Sums of the sizes of substeps may differ from a time by this, relative to that time. Default 1e-13, range 1e-14 to
/// 1e-12: round-offs of some hundred sums. Below: long runs with short steps are refused. Above: substeps may be missing.
pub(super) const VERIFIED_CLOCK_RELATIVE: f64 = 1e-13;

/// Projected velocities are relative to this × the speed scale of a step at least. Default 0.1, range 0.01 to 1: with a
/// tolerance of 1e-9 it admits what projections are solved to, 1e-10 of that scale. Below: right projections of models
/// near rest are refused. Above: wrong ones pass.
pub(super) const VERIFIED_PROJECTION_RELATIVE: f64 = 0.1;

/// Recorded times past a lost feature pair may exceed the computed one by this, relative. Default 1e-9, range ε to
/// 1e-6: the surface speed is computed from rounded states.
pub(super) const VERIFIED_TIME_RELATIVE: f64 = 1e-9;

/// Factor on the distance that a body travels at the speeds of the ends of steps. Default 1.25, range 1.1 to 2. Below: a
/// body that is faster within a step than at its ends may pass unseen. Above: bodies that cannot meet are joined.
pub(super) const TRAVEL_SAFETY: f64 = 1.25;

/// Islands that may meet in a window before it is shortened. Default 3, range 2 to 10. Below: many short windows. Above:
/// events of some bodies restart many others.
pub(super) const MAX_JOINED_ISLANDS: usize = 3;

/// Shortest window: the time in which the fastest body travels this × size. Default 0.05, range 0.01 to 0.5. Below:
/// crowded bodies have windows shorter than their steps. Above: crowded bodies are joined.
pub(super) const SHORTEST_WINDOW_TRAVEL: f64 = 0.05;

/// Longest window: the time in which the fastest body, also one that falls from rest, travels this × size. Default 4,
/// range 1 to 100. Below: steps are cut. Above: the search for bodies that may meet is slow.
pub(super) const LONGEST_WINDOW_TRAVEL: f64 = 4.0;
