//! Ratio metric of two polygons in the world, and its gradients with respect to their poses. HA10.

use nalgebra::{Isometry2, Point2, UnitComplex};

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
        let g = self.gradient;
        let lever = |k: usize| (self.point - self.centres[k]).perp(&g);
        Gradient { linear: [-g, g], angular: [-lever(0), lever(1)] }
    }

    /// Gradient of ρ [1/m, 1]: the gradient of r over r². HA10 (4.5)
    pub fn rho_gradient(&self) -> Gradient {
        let r = self.r_gradient();
        let square = self.r * self.r;
        Gradient { linear: r.linear.map(|v| v / square), angular: r.angular.map(|v| v / square) }
    }

    /// Gradient of the gap δ [1, m]. It is not L times the gradient of r, because L changes as the bodies turn.
    pub fn gap_gradient(&self) -> Gradient {
        let n = self.normal();
        let lever = |k: usize| (self.near[k] - self.centres[k]).perp(&n);
        Gradient { linear: [-n, n], angular: [-lever(0), lever(1)] }
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

    let rotation = pose_a.rotation;
    let centres = [pose_a * a.centre(), pose_b * b.centre()];
    let mut ratio = Ratio {
        r: if coincident { 0.0 } else { found.r },
        point: if coincident { centres[0] } else { centres[0] + rotation * found.point },
        gradient: rotation * found.gradient,
        centres,
        near: centres,
        multipliers: found.multipliers,
        counters: found.counters,
        shift: rotation * (pair.offset / found.r) - (centres[1] - centres[0]),
        touching: centres[0] + rotation * found.point / found.r,
    };
    ratio.near = witness_points(&ratio, &pair, &rotation, &found);
    ratio.r.is_finite().then_some(ratio)
}

/// Witness points where the gap has its exact row.
fn witness_points(
    ratio: &Ratio,
    pair: &FacetPair<'_, 2>,
    rotation: &UnitComplex<f64>,
    found: &Optimum<2, 3>,
) -> [Point2<f64>; 2] {
    let (n, gap) = (ratio.normal(), ratio.gap());
    // the shared point, scaled back on each body
    let on = |k: usize| {
        let from = if k == 0 { found.point } else { found.point - pair.offset };
        ratio.centres[k] + rotation * from / found.r
    };
    match ratio.multipliers.iter().filter(|m| m.body == 0).count() {
        // a vertex of b on an edge of a
        0 | 1 => [on(1) - gap * n, on(1)],
        _ => [on(0), on(0) + gap * n],
    }
}
