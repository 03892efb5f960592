//! Separating normals of two convex bodies from their support points, in either dimension.
//!
//! Distance of bodies that are apart: GJK. Bodies that touch or overlap are scaled about their centres until they just
//! touch, as in the ratio metric; the normal of that contact is taken. Gap functions start from these normals.
//! Smooth features then have their common normal by Newton's method.

use nalgebra::{Cholesky, SMatrix, SVector};

/// Distance [relative to the size] below which the normal of GJK loses digits, so that bodies are scaled. Sensible
/// range 1e-6 to 1e-2: a smaller value gives normals that are round-off, a larger one takes more time only.
const NEAR_RELATIVE: f64 = 1e-4;

/// Distance of scaled bodies, relative to the size, at which the scaling ends. Sensible range 1e-9 to 1e-5.
const SCALED_NEAR_RELATIVE: f64 = 1e-7;

/// Relative difference of the two bounds on a distance at which GJK ends. The normal is right to its square root.
/// Sensible range 1e-14 to 1e-8.
const GJK_TOLERANCE: f64 = 1e-12;

/// Iterations of GJK. Polyhedra take about 5, curved bodies 20; more are round-off.
const MAX_GJK_ITERATIONS: usize = 60;

/// Scalings until two bodies touch: the method of Newton on a convex function, in about 4.
const MAX_SCALINGS: usize = 30;

/// Newton steps to a common normal: about 4, up to 30 with eccentric ellipses far from the solution.
const MAX_NEWTON_STEPS: usize = 60;

/// Largest turn of a normal in one Newton step [1]. Any value between 0.2 and 1 works.
const MAX_TURN: f64 = 0.5;

/// Round-off of a separation, relative to the size of the bodies and their distance. Range 1e-15 to 1e-12: below it
/// Newton's method stalls before it has converged, above it may leave a maximum.
pub(crate) const SEPARATION_NOISE: f64 = 1e-14;

/// Turn of a normal at which Newton's method has converged [1]. Range ε to 1e-13.
const CONVERGED_TURN: f64 = 4.0 * f64::EPSILON;

/// Convex body by the farthest point along a direction.
pub(crate) trait Support<const D: usize> {
    /// Farthest point along a direction, which need not be a unit vector.
    fn farthest(&self, direction: &SVector<f64, D>) -> SVector<f64, D>;
    /// Point inside, or on a body without interior.
    fn centre(&self) -> SVector<f64, D>;
}

/// Unit normal from a to b at the nearest points of bodies that are apart; of bodies that touch or overlap, where they
/// first touch when both grow about their centres. `None` when a number is not finite.
pub(crate) fn separating_normal<const D: usize>(
    a: &impl Support<D>,
    b: &impl Support<D>,
    size: f64,
) -> Option<SVector<f64, D>> {
    let d = b.centre() - a.centre();
    let mut axis = SVector::<f64, D>::zeros();
    axis[D - 1] = 1.0;
    let start = d.try_normalize(f64::MIN_POSITIVE.sqrt()).unwrap_or(axis);
    let nearest = gjk(a, b, (1.0, SVector::zeros()), &start)?;
    if nearest.norm() > NEAR_RELATIVE * size {
        return Some(nearest.normalize());
    }
    // the least scale at which planes across the normal separate the bodies, at most the true one
    let scale = |n: &SVector<f64, D>| {
        let extent = n.dot(&(a.farthest(n) - a.centre())) + n.dot(&(b.centre() - b.farthest(&-n)));
        let along = n.dot(&d);
        if along < extent { along / extent } else { 1.0 }
    };
    let mut n = start;
    let mut s = scale(&n).max(0.0);
    for _ in 0..MAX_SCALINGS {
        let nearest = gjk(a, b, (s, d * (1.0 - s)), &n)?;
        let distance = nearest.norm();
        if distance <= SCALED_NEAR_RELATIVE * size {
            break;
        }
        // a normal that separates no more is round-off
        let next = nearest / distance;
        if scale(&next) <= s {
            break;
        }
        n = next;
        s = scale(&n);
    }
    Some(n)
}

/// Unit normal at which b leaves a when it moves along a unit vector; near that vector if the depth of the overlap is
/// least there. Of two bodies that overlap.
pub(crate) fn departing_normal<const D: usize>(
    a: &impl Support<D>,
    b: &impl Support<D>,
    size: f64,
    along: &SVector<f64, D>,
) -> Option<SVector<f64, D>> {
    // displacement after which planes across a normal separate the bodies
    let displacement = |n: &SVector<f64, D>| n.dot(&(a.farthest(n) - b.farthest(&-n))) / n.dot(along);
    let mut n = *along;
    let mut t = displacement(&n);
    for _ in 0..MAX_SCALINGS {
        let nearest = gjk(a, b, (1.0, along * t), &n)?;
        let distance = nearest.norm();
        if distance <= SCALED_NEAR_RELATIVE * size {
            break;
        }
        let next = nearest / distance;
        if !(displacement(&next) < t) {
            break;
        }
        n = next;
        t = displacement(&n);
    }
    Some(n)
}

/// Shortest vector from a to b, both scaled about their centres and b moved after that; about zero if they overlap.
fn gjk<const D: usize>(
    a: &impl Support<D>,
    b: &impl Support<D>,
    (scale, apart): (f64, SVector<f64, D>),
    start: &SVector<f64, D>,
) -> Option<SVector<f64, D>> {
    let lowest = |n: &SVector<f64, D>| apart + (b.farthest(&-n) - a.farthest(n)) * scale;
    let mut simplex = Simplex::<D> { points: [lowest(start); 4], count: 1 };
    let mut v = simplex.points[0];
    if !v.sum().is_finite() {
        return None;
    }
    for _ in 0..MAX_GJK_ITERATIONS {
        let squared = v.norm_squared();
        let w = lowest(&v);
        let seen = simplex.points[..simplex.count].contains(&w);
        if squared == 0.0 || seen || squared - v.dot(&w) <= GJK_TOLERANCE * squared {
            break;
        }
        let next = simplex.add(w);
        if next.norm_squared() >= squared {
            break;
        }
        v = next;
        if simplex.count == D + 1 {
            // the origin is inside
            return Some(SVector::zeros());
        }
    }
    Some(v)
}

/// Up to D + 1 points, the newest last.
struct Simplex<const D: usize> {
    points: [SVector<f64, D>; 4],
    count: usize,
}

impl<const D: usize> Simplex<D> {
    /// Adds a point, drops those that are not needed, and returns the point of the simplex nearest to the origin. It
    /// lies in a face with the new point, because that is nearer than all others along the last direction.
    fn add(&mut self, new: SVector<f64, D>) -> SVector<f64, D> {
        let old = self.count;
        let mut best = (f64::INFINITY, new, 0_usize);
        for subset in 0..1_usize << old {
            let size = subset.count_ones() as usize;
            if size > D {
                continue;
            }
            if let Some(v) = self.nearest_on_plane(subset, old, &new)
                && v.norm_squared() < best.0
            {
                best = (v.norm_squared(), v, subset);
            }
        }
        let kept = (0..old).filter(|i| best.2 >> i & 1 == 1);
        let mut points = self.points;
        let mut count = 0;
        for i in kept {
            points[count] = self.points[i];
            count += 1;
        }
        points[count] = new;
        *self = Self { points, count: count + 1 };
        best.1
    }

    /// Point nearest to the origin of the plane through the new point and a subset of the others, if it lies between
    /// them.
    fn nearest_on_plane(
        &self,
        subset: usize,
        count: usize,
        new: &SVector<f64, D>,
    ) -> Option<SVector<f64, D>> {
        let mut edges = [SVector::<f64, D>::zeros(); 3];
        let mut n = 0;
        for i in (0..count).filter(|i| subset >> i & 1 == 1) {
            edges[n] = self.points[i] - new;
            n += 1;
        }
        // Cholesky factors of the Gram matrix: edges made orthogonal to each other
        let mut orthogonal = edges;
        let mut along = [0.0; 3];
        let mut shear = [[0.0; 3]; 3];
        let mut v = *new;
        for k in 0..n {
            for j in 0..k {
                let over = orthogonal[j].norm_squared();
                shear[j][k] = orthogonal[j].dot(&edges[k]) / over;
                let part = orthogonal[j] * shear[j][k];
                orthogonal[k] -= part;
            }
            let squared = orthogonal[k].norm_squared();
            if !(squared > f64::EPSILON * f64::EPSILON * edges[k].norm_squared()) {
                return None;
            }
            along[k] = -orthogonal[k].dot(&v) / squared;
            v += orthogonal[k] * along[k];
        }
        let mut sum = 0.0;
        for k in (0..n).rev() {
            for j in k + 1..n {
                along[k] -= shear[k][j] * along[j];
            }
            if !(along[k] >= 0.0) {
                return None;
            }
            sum += along[k];
        }
        (sum <= 1.0).then_some(v)
    }
}

/// Separation of two features along a normal: a point of a farthest along n and one of b farthest along −n, and the
/// second derivatives of both support functions.
pub(crate) struct Separation<const D: usize> {
    /// From the point of a to the point of b.
    pub(crate) between: SVector<f64, D>,
    /// Curvature: the sum of the second derivatives.
    pub(crate) curvature: SMatrix<f64, D, D>,
}

/// Unit normal at which the separation of two smooth features is greatest, by Newton's method with a line search: the
/// common normal. Starts at `n`; `size` [m] is that of the bodies.
pub(crate) fn common_normal<const D: usize>(
    mut n: SVector<f64, D>,
    size: f64,
    separation: impl Fn(&SVector<f64, D>) -> Separation<D>,
) -> SVector<f64, D> {
    let mut here = separation(&n);
    let noise = SEPARATION_NOISE * (size + here.between.norm());
    for _ in 0..MAX_NEWTON_STEPS {
        let height = n.dot(&here.between);
        let across = here.between - n * height;
        let along = n * n.transpose();
        let identity = SMatrix::<f64, D, D>::identity();
        // −∇²F on the tangent plane is H + F, kept regular along n
        let regular = here.curvature.trace() + height.abs();
        let mut shift = 0.0;
        let turn = loop {
            let matrix = here.curvature + (identity - along) * (height + shift) + along * regular;
            match Cholesky::new(matrix) {
                Some(factor) => break factor.solve(&across),
                // not a maximum here: lean towards the gradient
                None if shift < f64::MAX / 8.0 => {
                    shift = (4.0 * shift).max(2.0 * height.abs()).max(f64::MIN_POSITIVE);
                }
                None => return n,
            }
        };
        let turn = turn - n * n.dot(&turn);
        let length = turn.norm();
        if !(length > CONVERGED_TURN) {
            break;
        }
        let mut part = (MAX_TURN / length).min(1.0);
        loop {
            let next = (n + turn * part).normalize();
            let there = separation(&next);
            let higher = next.dot(&there.between);
            // round-off of the separation decides nothing near the solution
            if higher >= height - noise || part * length < CONVERGED_TURN {
                (n, here) = (next, there);
                break;
            }
            part *= 0.5;
        }
    }
    n
}
