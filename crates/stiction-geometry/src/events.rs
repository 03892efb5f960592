//! Constants of the event search of two polygons or polyhedra, shared by the plane and space.
//!
//! An event is a vertex of one body on a facet of the other, or a crossing of two edges, where the bodies face each
//! other. HA10 section 4.2.

/// Least cosine of the angle between the separating plane (line) and a facet (edge) of a cap: 18°.
/// Sensible range 0.8 to 0.999. Closer to 1 loses the far corners of a body that tips over until they are near;
/// smaller gives rounded bodies idle events.
pub(crate) const MIN_CAP_COSINE: f64 = 0.95;

/// Distance outside a facet (beyond an edge) at which a vertex still is on it, relative to the smaller size.
/// Sensible range 1e-12 to 1e-7. Zero would lose the corners of equal boxes on each other; more shows as events
/// beside the facet.
pub(crate) const ON_FACET_RELATIVE: f64 = 1e-9;

/// Distance along the separating plane (line) within which two events are one, relative to the smaller size. Corners
/// of equal boxes on each other are vertices on facets and crossings of edges at once. Sensible range 1e-8 to 1e-3:
/// smaller duplicates such events, larger merges true corners.
pub(crate) const MERGED_EVENTS_RELATIVE: f64 = 1e-6;
