//! The ratio metric of two polyhedra, its gradients and its proof. HA10.

use nalgebra::{Isometry3, Point3, Rotation3, Vector3};

use super::Polyhedron;
use super::solid::Solid;
use crate::ratio::{self, Multiplier, Optimum, Pair, Work, seidel, simplex};

/// Facets that hold at the solution of a pair, to start its next query from.
pub type Basis = ratio::Basis<4>;

/// The least factor r by which two polyhedra must be scaled about their centroids to share a point: below 1
/// they overlap, at 1 they touch, above 1 they are apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The factor [1].
    pub r: f64,
    /// The point that the scaled polyhedra share, in the world [m].
    pub point: Point3<f64>,
    /// Gradient g of r with respect to the place of b [1/m]; −g belongs to a. Where the centroids coincide r has
    /// no gradient, and this is the limit as b moves out through the nearest facet of a.
    pub gradient: Vector3<f64>,
    /// Centroids of a and b, in the world [m].
    pub centres: [Point3<f64>; 2],
    /// Points of a and of b, apart by `gap()` along the normal, where the gap has its exact row [m]: a vertex and
    /// its foot on a plane, or the nearest points of two lines.
    pub near: [Point3<f64>; 2],
    /// The four facets that hold, and their multipliers: y >= 0, Σ y = 1, Σ y a = 0.
    pub multipliers: [Multiplier; 4],
    /// What it took.
    pub work: Work,
    /// Displacement of b to where the two just touch [m].
    shift: Vector3<f64>,
    /// The point where they then touch [m].
    touching: Point3<f64>,
}

/// Gradient of a function of two poses, as it enters its rate: Σ linear · v + angular · ω, with v the velocity
/// of the centroid and ω the angular velocity, both in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradient {
    /// With respect to the places of a and b.
    pub linear: [Vector3<f64>; 2],
    /// With respect to the turns of a and b.
    pub angular: [Vector3<f64>; 2],
}

/// What the multipliers and the point of a [`Ratio`] prove, recomputed from the polyhedra.
///
/// With `least >= 0`, `sum = 1` and `balance = 0`, r cannot be below `bound`: if that exceeds 1 the polyhedra
/// are apart. With `violation <= 0`, r cannot exceed the value given: if that is below 1 they overlap, as the
/// point lies in both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioCertificate {
    /// The least multiplier [1].
    pub least: f64,
    /// Σ y [1].
    pub sum: f64,
    /// |Σ y a| over Σ y |a| [1].
    pub balance: f64,
    /// −Σ y c, the bound on r from below [1].
    pub bound: f64,
    /// Greatest a · (point − centre) − r over all facets of both [1].
    pub violation: f64,
}

impl Ratio {
    /// The metric ρ = (r − 1) / r: negative when overlapping [1]. −∞ where centroids coincide. HA10 (3.5)
    pub fn rho(&self) -> f64 {
        (self.r - 1.0) / self.r
    }

    /// Unit normal from a to b [1].
    pub fn normal(&self) -> Vector3<f64> {
        self.gradient.try_normalize(0.0).unwrap_or(Vector3::z())
    }

    /// Extent L = 1 / |g| of both along the normal [m].
    pub fn length(&self) -> f64 {
        1.0 / self.gradient.norm()
    }

    /// The gap δ = L (r − 1) along the normal [m]: of a vertex and a facet, or of two edges.
    pub fn gap(&self) -> f64 {
        self.length() * (self.r - 1.0)
    }

    /// Gradient of r [1/m, 1].
    pub fn r_gradient(&self) -> Gradient {
        let g = self.gradient;
        let lever = |k: usize| (self.point - self.centres[k]).cross(&g);
        Gradient { linear: [-g, g], angular: [-lever(0), lever(1)] }
    }

    /// Gradient of ρ [1/m, 1]: that of r over r². HA10 (4.5)
    pub fn rho_gradient(&self) -> Gradient {
        let r = self.r_gradient();
        let scaled = |v: Vector3<f64>| v / (self.r * self.r);
        Gradient { linear: r.linear.map(scaled), angular: r.angular.map(scaled) }
    }

    /// Gradient of the gap δ [1, m]. It is not L times that of r, because L changes as the bodies turn.
    pub fn gap_gradient(&self) -> Gradient {
        let n = self.normal();
        let lever = |k: usize| (self.near[k] - self.centres[k]).cross(&n);
        Gradient { linear: [-n, n], angular: [-lever(0), lever(1)] }
    }

    /// Displacement of b along the line of the centroids to where the two just touch [m].
    pub fn shift(&self) -> Vector3<f64> {
        self.shift
    }

    /// The point where the two touch when b is displaced by `shift()` [m].
    pub fn touching_point(&self) -> Point3<f64> {
        self.touching
    }

    /// The proof, recomputed over all facets.
    pub fn certificate(
        &self,
        (a, pose_a): (&Polyhedron, &Isometry3<f64>),
        (b, pose_b): (&Polyhedron, &Isometry3<f64>),
    ) -> RatioCertificate {
        let bodies = [(a, pose_a), (b, pose_b)];
        let origin = pose_a * a.centre();
        let (mut least, mut sum, mut bound, mut size) = (f64::INFINITY, 0.0, 0.0, 0.0);
        let mut balance = Vector3::zeros();
        for m in &self.multipliers {
            let (body, pose) = bodies[m.body];
            let facet = pose.rotation * body.facets()[m.facet];
            least = least.min(m.y);
            sum += m.y;
            balance += m.y * facet;
            size += m.y.abs() * facet.norm();
            bound -= m.y * facet.dot(&(pose * body.centre() - origin));
        }
        let mut violation = f64::NEG_INFINITY;
        for (body, pose) in bodies {
            let local = pose.inverse_transform_point(&self.point) - body.centre();
            violation = body.facets().iter().map(|a| a.dot(&local) - self.r).fold(violation, f64::max);
        }
        RatioCertificate { least, sum, balance: balance.norm() / size, bound, violation }
    }
}

/// The ratio metric, from the last basis of the pair, which is replaced; `None` when a pose is not finite.
pub fn ratio(
    (a, pose_a): (&Polyhedron, &Isometry3<f64>),
    (b, pose_b): (&Polyhedron, &Isometry3<f64>),
    basis: &mut Basis,
) -> Option<Ratio> {
    solid_ratio((&a.into(), pose_a), (&b.into(), pose_b), basis)
}

/// The ratio metric by Seidel's randomized method, expected linear in the number of facets: the reference. The
/// order is shuffled by a fixed seed.
pub fn ratio_by_seidel(
    (a, pose_a): (&Polyhedron, &Isometry3<f64>),
    (b, pose_b): (&Polyhedron, &Isometry3<f64>),
) -> Option<Ratio> {
    let (a, b) = (Solid::from(a), Solid::from(b));
    in_world((&a, pose_a), (&b, pose_b), seidel::solve)
}

pub(super) fn solid_ratio(
    a: (&Solid<'_>, &Isometry3<f64>),
    b: (&Solid<'_>, &Isometry3<f64>),
    basis: &mut Basis,
) -> Option<Ratio> {
    in_world(a, b, |pair| simplex::solve(pair, basis))
}

/// Distance of the centroids relative to that of the nearest facet below which they coincide: r has no
/// gradient there, and above it the gradient is good to 1e-16 / 1e-9.
const COINCIDENT: f64 = 1e-9;

fn in_world(
    (a, pose_a): (&Solid<'_>, &Isometry3<f64>),
    (b, pose_b): (&Solid<'_>, &Isometry3<f64>),
    solve: impl FnOnce(&Pair<'_, 3>) -> Option<Optimum<3, 4>>,
) -> Option<Ratio> {
    let mut pair = Solid::pair(a, pose_a, b, pose_b);
    let distance = pair.offset.norm_squared();
    if !(distance.is_finite() && pair.rotation.sum().is_finite()) {
        return None;
    }
    let nearest =
        || a.facets.iter().copied().reduce(|m, f| if f.norm_squared() > m.norm_squared() { f } else { m });
    let mut coincident = false;
    // no facet is nearer than the nearest one: look for it only when the first one is far enough
    if distance * a.facets[0].norm_squared() < 1e-6 {
        let out = nearest()?;
        coincident = distance * out.norm_squared() < COINCIDENT * COINCIDENT;
        if coincident {
            pair.offset = 1e-3 * out / out.norm_squared();
        }
    }
    let found = solve(&pair)?;

    // as a matrix, for it turns many vectors
    let turn = pose_a.rotation.to_rotation_matrix();
    let centres = [pose_a * a.centre, pose_b * b.centre];
    let gradient = turn * found.gradient;
    let r = if coincident { 0.0 } else { found.r };
    let point = if coincident { centres[0] } else { centres[0] + turn * found.point };
    let mut ratio = Ratio {
        r,
        point,
        gradient,
        centres,
        near: centres,
        multipliers: found.multipliers,
        work: found.work,
        shift: turn * (pair.offset * (1.0 / found.r)) - (centres[1] - centres[0]),
        touching: centres[0] + turn * found.point * (1.0 / found.r),
    };
    ratio.near = near(&ratio, &pair, &turn, &found);
    ratio.r.is_finite().then_some(ratio)
}

/// Where the gap has its exact row.
fn near(ratio: &Ratio, pair: &Pair<'_, 3>, turn: &Rotation3<f64>, found: &Optimum<3, 4>) -> [Point3<f64>; 2] {
    let (n, gap) = (ratio.normal(), ratio.gap());
    // the shared point, scaled back on each body
    let on = |k: usize| {
        let from = if k == 0 { found.point } else { found.point - pair.offset };
        ratio.centres[k] + turn * from * (1.0 / found.r)
    };
    let facets = |body: usize| {
        ratio.multipliers.iter().filter(move |m| m.body == body).map(move |m| {
            let a = pair.bodies[body].a[m.facet];
            if body == 0 { a } else { pair.rotation * a }
        })
    };
    match facets(0).count() {
        // a vertex of b on a facet of a
        0 | 1 => [on(1) - gap * n, on(1)],
        // two edges
        2 => {
            let along = |body: usize| {
                let mut both = facets(body);
                let (first, second) = (both.next().unwrap_or_default(), both.next().unwrap_or_default());
                first.cross(&second).try_normalize(0.0).unwrap_or_default()
            };
            let (p, w) = (on(0), on(1) - on(0));
            let (u, v) = (turn * along(0), turn * along(1));
            let sine2 = u.cross(&v).norm_squared();
            // parallel lines are near everywhere
            let s = if sine2 > 1e-20 { (w.dot(&u) - u.dot(&v) * w.dot(&v)) / sine2 } else { 0.0 };
            [p + s * u, p + s * u + gap * n]
        }
        _ => [on(0), on(0) + gap * n],
    }
}
