//! Tolerances of contact reduction. Only [`Dropped::TOLERANCE`](crate::Dropped::TOLERANCE) and [`MIN_COMPONENT_SCALE`]
//! decide whether a contact is dropped; the others decide which combinations are tried.

// | constant | formula it enters | relative to | default | sensible range |
// |---|---|---|---|---|
// | `Dropped::TOLERANCE` | defect of a proof ≤ this | entries of the rows, `speed` | 1e-10 | 1e-13 to 1e-8 |
// | `MIN_COMPONENT_SCALE` | scale of a row component ≥ this × largest entry | largest entry | 1e-3 | 1e-6 to 1e-1 |
// | `SAME_FRAME` | ‖R − 1‖₁ ≤ this: frames are the same | 1 | 1e-14 | 1e-15 to 1e-12 |
// | `ALONG_GENERATOR` | p is along a generator a: ‖a × p‖ ≤ this × ‖a‖² | generator | 1e-14 | 1e-15 to 1e-12 |
// | `PARALLEL_NORMALS` | components of two normals differ by ≤ this | 1 | 1e-9 | 1e-12 to 1e-6 |
// | `COINCIDENT_POINTS` | points within this × extent coincide | extent of the patch | 1e-10 | 1e-13 to 1e-7 |
// | `MIN_SHARE` | shares α ≤ this are dropped | Σ α = 1 | 1e-13 | 1e-15 to 1e-11 |
// | `HULL_EXCHANGE_LIMIT` | exchanges of the simplex method | count | 50 | 10 to 500 |
// | `EQUAL_GAPS` | gaps within this × extent are equal | extent of the patch | 1e-9 | 1e-12 to 1e-6 |

/// Scale of a row component, relative to the largest entry of the row. A component whose entries are all smaller is
/// round-off and not a scale of its own. Smaller: true combinations are refused. Larger: short levers are compared
/// relative to long ones, and a proof says less of them.
pub(super) const MIN_COMPONENT_SCALE: f64 = 1e-3;

/// Sum of the differences of a frame change from the identity, up to which two tangent frames are the same, as those of
/// one plane are. Smaller: equal friction sets are compared by their geometry. Larger: rotated sets count as equal.
pub(super) const SAME_FRAME: f64 = 1e-14;

/// Distance of a point from a generator of a polygon, relative to the generator, up to which it lies on it. Smaller:
/// points on a generator are missed where no second generator spans them. Larger: the gauge is too small by this much.
pub(super) const ALONG_GENERATOR: f64 = 1e-14;

/// Difference of the components of two normals up to which contacts belong to one patch. Smaller: patches fall apart
/// by round-off. Larger: combinations are tried that cannot be proved.
pub(super) const PARALLEL_NORMALS: f64 = 1e-9;

/// Distance of points from each other or from a line, relative to the extent of the patch, below which they coincide.
/// Smaller: round-off makes corners of points on an edge. Larger: true corners are no corners, and fewer proofs are found.
pub(super) const COINCIDENT_POINTS: f64 = 1e-10;

/// Share of a combination that counts as round-off. Smaller: proofs list contacts that do not matter. Larger: the
/// remaining shares no longer combine to the point.
pub(super) const MIN_SHARE: f64 = 1e-13;

/// Exchange limit of the simplex method on the lower hull. Each exchange lowers the combination, and a few are enough
/// for patches of dozens of contacts. Smaller: proofs of large patches are missed. Larger: no effect but for cycling.
pub(super) const HULL_EXCHANGE_LIMIT: usize = 50;

/// Difference of gaps, relative to the extent of the patch, below which they are equal, so that contacts at rest are not
/// chosen in turn. Areas are compared relative to its square. Smaller: the choice flickers by round-off. Larger: deeper
/// contacts may be left out.
pub(super) const EQUAL_GAPS: f64 = 1e-9;
