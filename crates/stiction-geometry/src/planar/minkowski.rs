//! Signed Euclidean distance of two polygons, as an alternative to the ratio metric.

use nalgebra::{Isometry2, Point2, Vector2};

use super::{Gap, Polygon, Shape};
use crate::error::NoGap;

/// Gap, relative to the larger size, up to which the normal of an edge is taken even if two vertices are nearest:
/// the direction from one to the other would be round-off. Sensible range 1e-14 to 1e-9; larger values are an error
/// of the normal of separated corners.
const TOUCHING_RELATIVE: f64 = 1e-12;

/// Distance of two polygons [m], or minus the length of the shortest displacement that separates them: their
/// Minkowski depth. One gap per pair, with feature 0; `None` when a pose is not finite.
///
/// Exact, in time linear in the number of edges: the shortest way out is along the normal of an edge, and the
/// shortest distance is between an edge and the vertex that lies lowest above it, or a neighbour of that.
///
/// Unlike the gap of the ratio metric it depends on no centre, but its normal jumps where two ways out are
/// equally short.
///
/// ```
/// use nalgebra::Isometry2;
/// use stiction_geometry::planar::{Polygon, Shape, minkowski_gap};
///
/// let square = Shape::Polygon(Polygon::rectangle([0.5; 2])?);
/// let apart = Isometry2::translation(1.3, 1.4);
/// let found = minkowski_gap(&square, &Isometry2::identity(), &square, &apart)?.unwrap();
/// assert!((found.gap - 0.5).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn minkowski_gap(
    a: &Shape,
    pose_a: &Isometry2<f64>,
    b: &Shape,
    pose_b: &Isometry2<f64>,
) -> Result<Option<Gap>, NoGap> {
    let (Shape::Polygon(of_a), Shape::Polygon(of_b)) = (a, b) else {
        return Err(NoGap { a: a.kind(), b: b.kind() });
    };
    let relative = pose_a.inv_mul(pose_b);
    if !(relative.translation.vector.sum().is_finite() && relative.rotation.angle().is_finite()) {
        return Ok(None);
    }
    let size = of_a.size().max(of_b.size());
    let slack = TOUCHING_RELATIVE * size;
    let over_a = EdgeSearch::new(of_a, of_b, &relative, slack);
    let over_b = EdgeSearch::new(of_b, of_a, &relative.inverse(), slack);

    let separation = over_a.highest.height.max(over_b.highest.height);
    let apart = separation > slack;
    let (on_a_first, chosen) = if apart {
        let first = over_a.nearest.distance <= over_b.nearest.distance;
        (first, if first { over_a.nearest } else { over_b.nearest })
    } else {
        let first = !over_b.highest.is_better(&over_a.highest, slack);
        (first, if first { over_a.highest } else { over_b.highest })
    };

    // a vertex beyond the end of its edge is nearest to that end
    let d = chosen.vertex - chosen.foot;
    let (gap, normal) =
        if apart && chosen.beyond > 0.0 { (d.norm(), d.normalize()) } else { (chosen.height, chosen.normal) };
    let mut found = Gap { gap, normal, on_a: chosen.vertex - gap * normal, on_b: chosen.vertex, feature: 0 };
    if on_a_first {
        found.move_to_world(pose_a);
    } else {
        found.move_to_world(pose_b);
        found.swap();
    }
    Ok(found.gap.is_finite().then_some(found))
}

impl Gap {
    /// Moves the gap from the frame of a pose to the world.
    fn move_to_world(&mut self, pose: &Isometry2<f64>) {
        self.normal = pose.rotation * self.normal;
        self.on_a = pose * self.on_a;
        self.on_b = pose * self.on_b;
    }
}

/// Vertex of one polygon over an edge of the other, in the frame of the edge's polygon.
#[derive(Clone, Copy)]
struct VertexOverEdge {
    normal: Vector2<f64>,
    vertex: Point2<f64>,
    /// Nearest point of the edge.
    foot: Point2<f64>,
    /// Height of the vertex above the line of the edge [m].
    height: f64,
    /// Distance beyond the nearer end of the edge, along that line [m].
    beyond: f64,
    /// Distance of vertex and edge [m].
    distance: f64,
}

impl VertexOverEdge {
    /// Whether this edge separates more than the other; for equal separation, whether its vertex is more nearly on it.
    fn is_better(&self, other: &Self, slack: f64) -> bool {
        let more = self.height - other.height;
        more > slack || (more >= -slack && self.beyond < other.beyond)
    }
}

/// Search over the edges of one polygon for those that separate it from another.
struct EdgeSearch {
    /// Edge of greatest separation, with the lowest vertex over it.
    highest: VertexOverEdge,
    /// Nearest vertex and edge.
    nearest: VertexOverEdge,
}

impl EdgeSearch {
    fn new(polygon: &Polygon, other: &Polygon, relative: &Isometry2<f64>, slack: f64) -> Self {
        let (corners, count) = (polygon.vertices(), other.vertices().len());
        let vertex = |k: usize| relative * other.vertices()[k % count];
        let above = |i: usize, k: usize| {
            let (p, n, v) = (corners[i], polygon.normals()[i], vertex(k));
            let (along, length) = (Vector2::new(-n.y, n.x), (corners[(i + 1) % corners.len()] - p).norm());
            let t = along.dot(&(v - p));
            let foot = p + t.clamp(0.0, length) * along;
            let beyond = (t - length).max(-t).max(0.0);
            VertexOverEdge {
                normal: n,
                vertex: v,
                foot,
                height: n.dot(&(v - p)),
                beyond,
                distance: (v - foot).norm(),
            }
        };

        let height = |i: usize, k: usize| polygon.normals()[i].dot(&(vertex(k) - corners[i]));
        let mut lowest = (1..count).fold(0, |l, k| if height(0, k) < height(0, l) { k } else { l });
        let mut found = Self { highest: above(0, lowest), nearest: above(0, lowest) };
        for i in 0..corners.len() {
            // the lowest vertex moves on as the edge turns
            while height(i, lowest + 1) < height(i, lowest) {
                lowest = (lowest + 1) % count;
            }
            // an edge along this one has two lowest vertices
            let mut here = above(i, lowest);
            for k in [lowest + count - 1, lowest, lowest + 1] {
                let there = above(i, k);
                if there.height <= here.height + slack && there.beyond < here.beyond {
                    here = there;
                }
                if there.distance < found.nearest.distance {
                    found.nearest = there;
                }
            }
            if here.is_better(&found.highest, slack) {
                found.highest = here;
            }
        }
        found
    }
}
