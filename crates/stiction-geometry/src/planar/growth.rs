//! An event of two polygons by itself: how far both must grow for its vertex to meet its edge. HA10 section 4.2.

use nalgebra::{Isometry2, Point2, Vector2};

use super::events::{Side, side};
use super::ratio::{Basis, ratio};
use super::{Gap, Polygon};

/// The growth at which the two features of an event meet, whether or not the polygons touch there first: at
/// least the ratio r of the pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The factor at which they meet [1].
    pub r: f64,
    /// Extent L of both along the normal [m]; the gap of the event is L (r − 1).
    pub length: f64,
    /// Unit normal from a to b [1].
    pub normal: Vector2<f64>,
    /// Where they meet, in the world [m].
    pub point: Point2<f64>,
}

/// The growth of an event that [`gaps`](super::gaps) found of these polygons in these poses; `None` when its
/// features do not meet however far both grow.
pub fn growth(
    (a, pose_a): (&Polygon, &Isometry2<f64>),
    (b, pose_b): (&Polygon, &Isometry2<f64>),
    event: &Gap,
) -> Option<Growth> {
    let centres = [pose_a * a.centre(), pose_b * b.centre()];
    let normal = event.normal;
    let along = normal.dot(&(centres[1] - centres[0]));
    // L = h_a(ν) + h_b(−ν) of the two features
    let length = along - event.gap;
    let r = along / length;
    if !(length > 0.0 && r > 0.0) {
        return None;
    }
    let point = match side(event.feature) {
        Side::OfA => centres[0] + r * (event.on_a - centres[0]),
        Side::OfB => centres[1] + r * (event.on_b - centres[1]),
        Side::Unnamed => ratio((a, pose_a), (b, pose_b), &mut Basis::default())?.point,
    };
    Some(Growth { r, length, normal, point })
}
