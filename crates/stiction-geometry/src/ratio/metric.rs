//! Ratio metric of a pair in the world: the factor r, its gap, and the proof that it is optimal.
//! Moments differ between plane and space: `planar` and `spatial` pass theirs to the gradients.

use std::ops::{Div, Neg};

use nalgebra::{AbstractRotation, Isometry, Point, SVector};

use super::{FacetPair, Multiplier, Optimum, RatioCounters};

/// Ratio metric of two polygons or polyhedra: the least factor r by which both must be scaled about their
/// centroids to share a point. Below 1 they overlap, at 1 they touch, above 1 they are apart. N = D + 1. HA10 (3.2)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio<const D: usize, const N: usize> {
    /// Factor [1].
    pub r: f64,
    /// Point that the scaled bodies share, in the world [m].
    pub point: Point<f64, D>,
    /// Gradient g of r with respect to the position of b [1/m]; −g belongs to a. Where the centroids coincide r
    /// has no gradient, and this is the limit as b moves out through the nearest facet of a.
    pub gradient: SVector<f64, D>,
    /// Centroids of a and b, in the world [m].
    pub centres: [Point<f64, D>; 2],
    /// Witness points of a and of b, apart by `gap()` along the normal, where the gap has its exact row [m]: a
    /// vertex and its foot on a facet, or the nearest points of two edges.
    pub near: [Point<f64, D>; 2],
    /// Active facets (edges in the plane) and their multipliers: y >= 0, Σ y = 1, Σ y a = 0.
    pub multipliers: [Multiplier; N],
    /// Counters of the query.
    pub counters: RatioCounters,
    /// Displacement of b to where the two just touch [m].
    pub(crate) shift: SVector<f64, D>,
    /// Point where they then touch [m].
    pub(crate) touching: Point<f64, D>,
}

/// Gradient of a function of two poses, as it enters its rate: Σ linear · v + angular · ω, with v the velocity
/// of the centroid and ω the angular velocity, both in the world. `A` is the type of an angular velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradient<const D: usize, A> {
    /// With respect to the positions of a and b.
    pub linear: [SVector<f64, D>; 2],
    /// With respect to the rotations of a and b.
    pub angular: [A; 2],
}

impl<const D: usize, A: Copy + Neg<Output = A> + Div<f64, Output = A>> Gradient<D, A> {
    /// Gradient of a function that grows with the displacement of the point of b along `row`, and of the point of a
    /// against it. `moment` is the moment of a force at a lever arm.
    pub(crate) fn of_points(
        row: SVector<f64, D>,
        points: [Point<f64, D>; 2],
        centres: &[Point<f64, D>; 2],
        moment: impl Fn(&SVector<f64, D>, &SVector<f64, D>) -> A,
    ) -> Self {
        let lever = |k: usize| moment(&(points[k] - centres[k]), &row);
        Self { linear: [-row, row], angular: [-lever(0), lever(1)] }
    }

    /// Gradient divided by a number.
    pub(crate) fn over(&self, divisor: f64) -> Self {
        Self { linear: self.linear.map(|v| v / divisor), angular: self.angular.map(|v| v / divisor) }
    }
}

/// Proof that the multipliers and the point of a [`Ratio`] give, recomputed from the bodies.
///
/// With `least >= 0`, `sum = 1` and `balance = 0`, r cannot be below `bound`: if that exceeds 1 the bodies are
/// apart. With `violation <= 0`, r cannot exceed the value given: if that is below 1 they overlap, as the point
/// lies in both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioCertificate {
    /// Least multiplier [1].
    pub least: f64,
    /// Σ y [1].
    pub sum: f64,
    /// |Σ y a| over Σ y |a| [1].
    pub balance: f64,
    /// Lower bound −Σ y c on r [1].
    pub bound: f64,
    /// Greatest a · (point − centre) − r over all facets of both [1].
    pub violation: f64,
}

/// Facets a · (x − centre) <= 1 of a body [1/m], its centroid [m], and its pose.
pub(crate) type PosedFacets<'a, R, const D: usize> =
    (&'a [SVector<f64, D>], Point<f64, D>, &'a Isometry<f64, R, D>);

impl<const D: usize, const N: usize> Ratio<D, N> {
    /// Metric of a solution in the frame of the first body. `to_world` rotates a vector of that frame into the world,
    /// `over_r` divides a vector by the factor found. The witness points are left where the scaled bodies meet, scaled
    /// back on each body.
    pub(crate) fn of_optimum(
        pair: &FacetPair<'_, D>,
        found: &Optimum<D, N>,
        centres: [Point<f64, D>; 2],
        coincident: bool,
        to_world: impl Fn(SVector<f64, D>) -> SVector<f64, D>,
        over_r: impl Fn(SVector<f64, D>) -> SVector<f64, D>,
    ) -> Self {
        let touching = centres[0] + over_r(to_world(found.point));
        Self {
            r: if coincident { 0.0 } else { found.r },
            point: if coincident { centres[0] } else { centres[0] + to_world(found.point) },
            gradient: to_world(found.gradient),
            centres,
            near: [touching, centres[1] + over_r(to_world(found.point - pair.offset))],
            multipliers: found.multipliers,
            counters: found.counters,
            shift: to_world(over_r(pair.offset)) - (centres[1] - centres[0]),
            touching,
        }
    }

    /// Metric ρ = (r − 1) / r: negative when overlapping [1], −∞ where centroids coincide. HA10 (3.5)
    pub fn rho(&self) -> f64 {
        (self.r - 1.0) / self.r
    }

    /// Unit normal from a to b [1]; along the last axis where the gradient is zero.
    pub fn normal(&self) -> SVector<f64, D> {
        let last = || SVector::from_fn(|i, _| if i + 1 == D { 1.0 } else { 0.0 });
        self.gradient.try_normalize(0.0).unwrap_or_else(last)
    }

    /// Extent L = 1 / |g| of both bodies along the normal [m].
    pub fn length(&self) -> f64 {
        1.0 / self.gradient.norm()
    }

    /// Gap δ = L (r − 1) along the normal [m]: of a vertex and a facet, or of two edges.
    pub fn gap(&self) -> f64 {
        self.length() * (self.r - 1.0)
    }

    /// Displacement of b along the line of the centroids to where the two just touch [m].
    pub fn shift(&self) -> SVector<f64, D> {
        self.shift
    }

    /// Point where the two touch when b is displaced by `shift()` [m].
    pub fn touching_point(&self) -> Point<f64, D> {
        self.touching
    }

    /// Proof of optimality, recomputed over all facets of both bodies.
    pub(crate) fn certify<R: AbstractRotation<f64, D>>(
        &self,
        bodies: [PosedFacets<'_, R, D>; 2],
    ) -> RatioCertificate {
        let origin = bodies[0].2 * bodies[0].1;
        let (mut least, mut sum, mut bound, mut size) = (f64::INFINITY, 0.0, 0.0, 0.0);
        let mut balance = SVector::<f64, D>::zeros();
        for m in &self.multipliers {
            let (facets, centre, pose) = bodies[m.body];
            let facet = pose.rotation.transform_vector(&facets[m.facet]);
            least = least.min(m.y);
            sum += m.y;
            balance += facet * m.y;
            size += m.y.abs() * facet.norm();
            bound -= m.y * facet.dot(&(pose * centre - origin));
        }
        let mut violation = f64::NEG_INFINITY;
        for (facets, centre, pose) in bodies {
            let local = pose.inverse_transform_point(&self.point) - centre;
            violation = facets.iter().map(|a| a.dot(&local) - self.r).fold(violation, f64::max);
        }
        RatioCertificate { least, sum, balance: balance.norm() / size, bound, violation }
    }
}
