//! Ratio metric of two polygons in the world, and its gradients with respect to their poses. HA10.

use nalgebra::{Isometry2, Point2, Vector2};

use super::Polygon;
use crate::ratio::{self, FacetPair, Optimum, seidel, simplex};

pub use crate::ratio::RatioCertificate;

/// Active edges at the solution of a pair, to warm-start its next query.
pub type Basis = ratio::Basis<3>;

/// Ratio metric of two polygons.
pub type Ratio = ratio::Ratio<2, 3>;

/// Gradient of a function of two poses in the plane.
pub type Gradient = ratio::Gradient<2, f64>;

impl Ratio {
    /// Gradient of r [1/m, 1].
    pub fn r_gradient(&self) -> Gradient {
        Gradient::of_points(self.gradient, [self.point; 2], &self.centres, Vector2::perp)
    }

    /// Gradient of ρ [1/m, 1]: the gradient of r over r². HA10 (4.5)
    pub fn rho_gradient(&self) -> Gradient {
        self.r_gradient().over(self.r * self.r)
    }

    /// Gradient of the gap δ [1, m]. It is not L times the gradient of r, because L changes as the bodies turn.
    pub fn gap_gradient(&self) -> Gradient {
        Gradient::of_points(self.normal(), self.near, &self.centres, Vector2::perp)
    }

    /// Proof of optimality, recomputed over all edges.
    pub fn certificate(
        &self,
        (a, pose_a): (&Polygon, &Isometry2<f64>),
        (b, pose_b): (&Polygon, &Isometry2<f64>),
    ) -> RatioCertificate {
        self.certify([(a.facets(), a.centre(), pose_a), (b.facets(), b.centre(), pose_b)])
    }
}

/// Ratio metric, warm-started from the last basis of the pair, which is replaced; `None` when a pose is not finite.
pub fn ratio(
    a: (&Polygon, &Isometry2<f64>),
    b: (&Polygon, &Isometry2<f64>),
    basis: &mut Basis,
) -> Option<Ratio> {
    in_world(a, b, |pair| simplex::solve(pair, basis))
}

/// Ratio metric by Seidel's randomized method, in expected time linear in the number of edges: the reference.
/// A fixed seed shuffles the order.
pub fn ratio_by_seidel(a: (&Polygon, &Isometry2<f64>), b: (&Polygon, &Isometry2<f64>)) -> Option<Ratio> {
    in_world(a, b, seidel::solve)
}

fn in_world(
    (a, pose_a): (&Polygon, &Isometry2<f64>),
    (b, pose_b): (&Polygon, &Isometry2<f64>),
    solve: impl FnOnce(&FacetPair<'_, 2>) -> Option<Optimum<2, 3>>,
) -> Option<Ratio> {
    let mut pair = Polygon::pair(a, pose_a, b, pose_b);
    let coincident = pair.separate_centres()?;
    let found = solve(&pair)?;

    let centres = [pose_a * a.centre(), pose_b * b.centre()];
    let to_world = |v| pose_a.rotation * v;
    let mut ratio = Ratio::of_optimum(&pair, &found, centres, coincident, to_world, |v| v / found.r);
    ratio.near = witness_points(&ratio);
    ratio.r.is_finite().then_some(ratio)
}

/// Witness points where the gap has its exact row, from the meeting point on each body.
fn witness_points(ratio: &Ratio) -> [Point2<f64>; 2] {
    let (n, gap) = (ratio.normal(), ratio.gap());
    let [on_a, on_b] = ratio.near;
    match ratio.multipliers.iter().filter(|m| m.body == 0).count() {
        // a vertex of b on an edge of a
        0 | 1 => [on_b - gap * n, on_b],
        _ => [on_a, on_a + gap * n],
    }
}
