//! Tolerances of verification: how far a record may be from what is recomputed.

// | constant | check it enters | relative to | default | sensible range |
// |---|---|---|---|---|
// | `RESIDUAL_FACTOR` | residual ≤ this × tolerance of the solver | solver tolerance | 2 | 1.5 to 10 |
// | `MOMENTUM_TOLERANCE` | M̃ v⁺ − b − Jᵀp | its terms | 1e-12 | 1e-13 to 1e-10 |
// | `TRANSFER_TOLERANCE` | momentum of reported impulses − of the solver's | largest terms | 2e-13 | 1e-13 to 1e-12 |
// | `CONFIGURATION_TOLERANCE` | recorded q⁺ − recomputed q⁺ | largest coordinate, size | 1e-13 | 1e-15 to 1e-11 |
// | `FIGURE_TOLERANCE` | recorded energy, gap, … − recomputed one | its own scale | 1e-12 | 1e-14 to 1e-9 |
// | `FRICTION_COEFFICIENT_FLOOR` | recorded μ − μ of the model | max(μ, this) | 1e-3 | 1e-6 to 1e-1 |
// | `INFEASIBILITY_SEARCH_DISTANCE` | maximum gap of the search behind I(q) | size | 1e-9 | 1e-12 to 1e-6 |
// | `INTERMEDIATE_VELOCITY_TOLERANCE` | velocities within a substep | their own scale | 1e-9 | 1e-11 to 1e-7 |
// | `SLOW_SPEED_FACTOR` | slip speeds within this of the one that counts as slip | that speed | 10 | 2 to 100 |
// | `CLOCK_TOLERANCE` | recorded times − sums of times | largest time | 1e-15 | 5e-16 to 1e-13 |
// | `CERTIFICATE_SCALE_TOLERANCE` | recorded speed scale of a certificate − own | that scale | 1e-6 | 1e-9 to 1e-3 |
// | `FLOOR_FACTOR` | that scale is compared above this × its floor | the floor | 10 | 2 to 100 |
// | `MAX_MISSED_CLOSING` | depth by which an inactive contact closes in a substep | largest motion in the step | 0.1 | 1e-2 to 0.5 |
// | `EVENT_TIME_FACTOR` | times of events are round-off within this × `CLOCK_TOLERANCE` | count of sums | 100 | 10 to 1e4 |
// | `PROJECTED_POSITION_TOLERANCE` | position error after a projection | size, largest coordinate | 1e-11 | 1e-12 to 1e-9 |
//
// Smaller refuses true records at their round-off; larger lets a changed record pass by this much. Exceptions and
// reasons stand beside each constant.

/// Factor on the tolerance of the scheme for recomputed residuals. The surplus is round-off of positions, which set the
/// speed scale, and of impulses, which are recorded along the axes of the world.
pub(super) const RESIDUAL_FACTOR: f64 = 2.0;

/// Tolerance on the momentum balance, relative to its terms: a hundred times the round-off of sums of some twenty terms.
pub(super) const MOMENTUM_TOLERANCE: f64 = 1e-12;

/// Tolerance on the momentum that reported impulses transfer, relative to the largest terms of the problem: impulses of
/// least norm are solved for all bodies of an island together.
pub(super) const TRANSFER_TOLERANCE: f64 = 2e-13;

/// Tolerance on positions, relative to the largest coordinate or the size. Positions agree bit by bit on the machine of
/// the run, but sines of another machine differ in the last bit.
pub(super) const CONFIGURATION_TOLERANCE: f64 = 1e-13;

/// Tolerance on recorded quantities that enter no equation: energies, gaps, points, slip. They are sums of products
/// that are formed again.
pub(super) const FIGURE_TOLERANCE: f64 = 1e-12;

/// Friction coefficient below which differences of coefficients are absolute.
pub(super) const FRICTION_COEFFICIENT_FLOOR: f64 = 1e-3;

/// Search distance for closed contacts behind I(q), relative to the size. Whether a pair that is closed by less is found
/// depends on where its search starts, but the gaps of found pairs do not.
pub(super) const INFEASIBILITY_SEARCH_DISTANCE: f64 = 1e-9;

/// Relative tolerance on intermediate velocities of a substep, such as v̂.
pub(super) const INTERMEDIATE_VELOCITY_TOLERANCE: f64 = 1e-9;

/// Tolerance on position errors after a projection, relative to the size or the largest coordinate.
pub(super) const PROJECTED_POSITION_TOLERANCE: f64 = 1e-11;

/// Factor around the slip speed that divides stick from slip, within which a contact may be said to do either: the
/// speed scale of a reduced problem differs from that of the whole one, and the tolerance of a run from the judge's.
pub(super) const SLOW_SPEED_FACTOR: f64 = 10.0;

/// Tolerance on times, relative to the largest of them: some round-offs of a sum or a product.
pub(super) const CLOCK_TOLERANCE: f64 = 1e-15;

/// Depth by which an inactive contact may close in a substep of a fixed step, relative to the largest motion of a surface
/// in the step. Features of a pair change within a step, bodies that overlap at the start have no contact, and a gap is zero to
/// the order of the step only. A body that falls through another moves by the whole.
pub(super) const MAX_MISSED_CLOSING: f64 = 0.1;

/// Tolerance on the speed scale of a recorded certificate, relative to it: it is a speed before any impulse.
pub(super) const CERTIFICATE_SCALE_TOLERANCE: f64 = 1e-6;

/// Factor on the floor of the speed scale above which it is compared: the floor has the tolerance of the run in it, which
/// is not that of the judge.
pub(super) const FLOOR_FACTOR: f64 = 10.0;

/// Factor on the tolerance of times for events within an interval: the sum of as many steps.
pub(super) const EVENT_TIME_FACTOR: f64 = 100.0;
