//! Growth of one event of two polygons or polyhedra: the factor at which its two features meet when both bodies
//! are scaled about their centroids. HA10 builds its gap functions from it.

use nalgebra::{Point, SVector};

use crate::gap::Gap;

/// Growth at which the two features of an event meet, whether or not the bodies touch elsewhere first: at least
/// the ratio r of the pair. HA10 section 4.2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth<const D: usize> {
    /// Factor at which the features meet [1].
    pub r: f64,
    /// Extent L of both bodies along the normal [m]; the gap of the event is L (r − 1).
    pub length: f64,
    /// Unit normal from a to b [1].
    pub normal: SVector<f64, D>,
    /// Meeting point, in the world [m].
    pub point: Point<f64, D>,
}

impl<const D: usize> Growth<D> {
    /// Growth of an event between bodies with these centroids, and the witness points of a and of b scaled by it.
    /// The meeting point is left at the witness point of a. `None` when the features never meet.
    pub(crate) fn of_event(
        centres: [Point<f64, D>; 2],
        event: &Gap<D>,
    ) -> Option<(Self, [Point<f64, D>; 2])> {
        let normal = event.normal;
        let along = normal.dot(&(centres[1] - centres[0]));
        // L = h_a(ν) + h_b(−ν) of the two features
        let length = along - event.gap;
        let r = along / length;
        if !(length > 0.0 && r > 0.0) {
            return None;
        }
        let on_a = centres[0] + (event.on_a - centres[0]) * r;
        let on_b = centres[1] + (event.on_b - centres[1]) * r;
        Some((Self { r, length, normal, point: on_a }, [on_a, on_b]))
    }
}
