//! Tolerances and limits of Lemke's method, in units of the scaled problem: M' has entries up to about one, q' has a
//! most negative entry of −1. Settings that a user may change stand in [`Lemke`](super::Lemke).

/// Number of pivots between two comparisons of the dictionary with the original data. A comparison costs as much as a
/// pivot. Sensible range 16 to 256; rarer ones let drift decide ties.
pub(super) const DRIFT_CHECK_INTERVAL: usize = 64;

/// Drift above which the dictionary is rebuilt: error of a basic variable in `w = q' + M' z' + d z₀`, relative to
/// max(1, max z', the variable). Below 1e-13 rounding triggers a rebuild on every check. Above 1e-8 it no longer
/// precedes the ties (1e-9) that drift would decide.
pub(super) const DRIFT_RELATIVE: f64 = 1e-10;

/// Negative value of a basic variable in a rebuilt dictionary above which the path starts again from there [-].
/// Sensible range 1e-8 to 1e-5. Ties within 1e-9 leave infeasibilities of that size behind, which the end of the run
/// repairs; larger ones are the work of rounding and would persist.
pub(super) const INFEASIBLE_BASIC: f64 = 1e-7;

/// Least pivot when a dictionary is built at a given basis [-]. Sensible range 1e-14 to 1e-10: smaller pivots on
/// rounding, larger calls regular bases singular.
pub(super) const SINGULAR_PIVOT: f64 = 1e-12;

/// Least unit of the tie tolerance [-]: a path that starts at a most negative variable of −x compares ratios in units
/// of x, clamped to this and one, so that a path that starts close to feasibility does not end before it begins.
pub(super) const MIN_TIE_UNIT: f64 = 1e-5;

/// Residual max|min(z', w')| up to which a point is not refined [-], q' having a most negative entry of one.
/// Not relative to z': the certificate measures in units of q, and a body a thousand times heavier than its support
/// has z' of 1e3. Smaller values refine rounding; larger ones fail certificates at such mass ratios.
pub(super) const REFINE_ABOVE: f64 = 1e-13;

/// Residual max|min(z', w')| / max(1, max z') up to which a run ends as solved [-]. Sensible range 1e-13 to 1e-10.
/// Smaller values send well solved problems into repairs; larger ones leave errors to the certificate.
pub(super) const SOLVED_RESIDUAL: f64 = 1e-12;

/// Residual up to which a run still ends as solved when repairs do not improve it [-]; the certificate decides.
/// Sensible range [`SOLVED_RESIDUAL`] to 1e-8.
pub(super) const ACCEPTED_RESIDUAL: f64 = 1e-10;

/// Greatest row of M' relative to its diagonal before it is divided by its largest entry [-]. For positive
/// semidefinite M and for contact with friction, dividing by the diagonal leaves no entry above one, so the factor
/// absorbs rounding only. Matrices whose diagonal says nothing exceed it. Sensible range 2 to 100.
pub(super) const MAX_ROW_OVER_DIAGONAL: f64 = 4.0;

/// Factor of the covering vector d in rows that a variable without diagonal pushes up (the speeds of β, pushed by λ)
/// [-]. Friction is then slack until the normal impulses carry the bodies, and enters once: with 10, towers of 8 and
/// 16 boxes take 140 and 320 pivots instead of 230 and 530, the random mixture 17 instead of 20. From 4 to 20 the
/// counts differ by a tenth; from 100 on the rows that are covered less meet the tolerance on ties.
pub(super) const FRICTION_COVER: f64 = 10.0;

/// Greatest and least scale factor of a row or column: products of scales and entries beyond would overflow.
pub(super) const MAX_SCALE: f64 = 1e150;
/// See [`MAX_SCALE`].
pub(super) const MIN_SCALE: f64 = 1e-150;

/// Number of paths tried from one starting basis, the first included. Sensible range 2 to 20; more only prolong
/// hopeless runs.
pub(super) const MAX_PATHS: usize = 6;

/// Column length from which extents of nonzeros are used: in shorter columns finding them costs more than it saves.
/// Sensible range 64 to 512; it changes the order of sums.
pub(super) const MIN_SPARSE_COLUMN: usize = 128;
