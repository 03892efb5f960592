//! Ratio metric of two polyhedra in the world, and its gradients with respect to their poses. HA10.

use nalgebra::{Isometry3, Point3, Rotation3, Vector3};

use super::Polyhedron;
use super::solid::Solid;
use crate::ratio::{self, FacetPair, Optimum, seidel, simplex};

pub use crate::ratio::RatioCertificate;

/// Active facets at the solution of a pair, to warm-start its next query.
pub type Basis = ratio::Basis<4>;

/// Ratio metric of two polyhedra.
pub type Ratio = ratio::Ratio<3, 4>;

/// Gradient of a function of two poses in space.
pub type Gradient = ratio::Gradient<3, Vector3<f64>>;

/// Squared sine of the angle between two active edges below which they count as parallel [1]: every point of one
/// is then nearest to the other, and the first witness point is kept. Sensible range 1e-24 to 1e-12; below, the
/// witness points are round-off, above, they are off the common perpendicular.
const PARALLEL_EDGES_SINE_SQUARED: f64 = 1e-20;

impl Ratio {
    /// Gradient of r [1/m, 1].
    pub fn r_gradient(&self) -> Gradient {
        Gradient::of_points(self.gradient, [self.point; 2], &self.centres, Vector3::cross)
    }

    /// Gradient of ρ [1/m, 1]: the gradient of r over r². HA10 (4.5)
    pub fn rho_gradient(&self) -> Gradient {
        self.r_gradient().over(self.r * self.r)
    }

    /// Gradient of the gap δ [1, m]. It is not L times the gradient of r, because L changes as the bodies turn.
    pub fn gap_gradient(&self) -> Gradient {
        Gradient::of_points(self.normal(), self.near, &self.centres, Vector3::cross)
    }

    /// Proof of optimality, recomputed over all facets.
    pub fn certificate(
        &self,
        (a, pose_a): (&Polyhedron, &Isometry3<f64>),
        (b, pose_b): (&Polyhedron, &Isometry3<f64>),
    ) -> RatioCertificate {
        self.certify([(a.facets(), a.centre(), pose_a), (b.facets(), b.centre(), pose_b)])
    }
}

/// Ratio metric, warm-started from the last basis of the pair, which is replaced; `None` when a pose is not finite.
pub fn ratio(
    (a, pose_a): (&Polyhedron, &Isometry3<f64>),
    (b, pose_b): (&Polyhedron, &Isometry3<f64>),
    basis: &mut Basis,
) -> Option<Ratio> {
    solid_ratio((&a.into(), pose_a), (&b.into(), pose_b), basis)
}

/// Ratio metric by Seidel's randomized method, in expected time linear in the number of facets: the reference.
/// A fixed seed shuffles the order.
pub fn ratio_by_seidel(
    (a, pose_a): (&Polyhedron, &Isometry3<f64>),
    (b, pose_b): (&Polyhedron, &Isometry3<f64>),
) -> Option<Ratio> {
    let (a, b) = (Solid::from(a), Solid::from(b));
    in_world((&a, pose_a), (&b, pose_b), seidel::solve)
}

/// Ratio metric of two boxes or polyhedra, as [`ratio`].
pub(super) fn solid_ratio(
    a: (&Solid<'_>, &Isometry3<f64>),
    b: (&Solid<'_>, &Isometry3<f64>),
    basis: &mut Basis,
) -> Option<Ratio> {
    in_world(a, b, |pair| simplex::solve(pair, basis))
}

fn in_world(
    (a, pose_a): (&Solid<'_>, &Isometry3<f64>),
    (b, pose_b): (&Solid<'_>, &Isometry3<f64>),
    solve: impl FnOnce(&FacetPair<'_, 3>) -> Option<Optimum<3, 4>>,
) -> Option<Ratio> {
    let mut pair = Solid::pair(a, pose_a, b, pose_b);
    let coincident = pair.separate_centres()?;
    let found = solve(&pair)?;

    // a matrix, because it rotates many vectors
    let rotation = pose_a.rotation.to_rotation_matrix();
    let centres = [pose_a * a.centre, pose_b * b.centre];
    let to_world = |v| rotation * v;
    let over_r = |v| v * (1.0 / found.r);
    let mut ratio = Ratio::of_optimum(&pair, &found, centres, coincident, to_world, over_r);
    ratio.near = witness_points(&ratio, &pair, &rotation);
    ratio.r.is_finite().then_some(ratio)
}

/// Witness points where the gap has its exact row, from the meeting point on each body.
fn witness_points(ratio: &Ratio, pair: &FacetPair<'_, 3>, rotation: &Rotation3<f64>) -> [Point3<f64>; 2] {
    let (n, gap) = (ratio.normal(), ratio.gap());
    let [on_a, on_b] = ratio.near;
    let facets = |body: usize| {
        ratio.multipliers.iter().filter(move |m| m.body == body).map(move |m| {
            let a = pair.bodies[body].a[m.facet];
            if body == 0 { a } else { pair.rotation * a }
        })
    };
    match facets(0).count() {
        // a vertex of b on a facet of a
        0 | 1 => [on_b - gap * n, on_b],
        // two edges
        2 => {
            let along = |body: usize| {
                let mut both = facets(body);
                let (first, second) = (both.next().unwrap_or_default(), both.next().unwrap_or_default());
                first.cross(&second).try_normalize(0.0).unwrap_or_default()
            };
            let (p, w) = (on_a, on_b - on_a);
            let (u, v) = (rotation * along(0), rotation * along(1));
            let sine2 = u.cross(&v).norm_squared();
            let s = if sine2 > PARALLEL_EDGES_SINE_SQUARED {
                (w.dot(&u) - u.dot(&v) * w.dot(&v)) / sine2
            } else {
                0.0
            };
            [p + s * u, p + s * u + gap * n]
        }
        _ => [on_a, on_a + gap * n],
    }
}
