//! Axis-aligned bounding boxes of either dimension, from the support points of a shape in its pose.
//! A broad phase compares them.

use nalgebra::{AbstractRotation, Isometry, Point, SVector};

/// Margin added to the box of a shape whose support points are found by hill climbing, relative to its size.
/// The climb stops up to 1e-10 of the size below the top: facets are flat, and corners turn, by that much only.
/// Sensible range 1e-10 to 1e-6; a smaller margin misses overlaps, a larger one adds pairs to test.
pub(crate) const CLIMBING_MARGIN_RELATIVE: f64 = 1e-9;

/// Axis-aligned bounding box in the world; infinite where a shape is unbounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb<const D: usize> {
    /// Least coordinates [m].
    pub min: Point<f64, D>,
    /// Greatest coordinates [m].
    pub max: Point<f64, D>,
}

impl<const D: usize> Aabb<D> {
    /// Box around a shape in a pose, from its support points in the local frame.
    /// A side without a support point is infinitely far.
    pub(crate) fn from_support<R: AbstractRotation<f64, D>>(
        pose: &Isometry<f64, R, D>,
        support: impl Fn(&SVector<f64, D>) -> Option<Point<f64, D>>,
    ) -> Self {
        let mut aabb = Self { min: [f64::NEG_INFINITY; D].into(), max: [f64::INFINITY; D].into() };
        for i in 0..D {
            let mut axis = SVector::zeros();
            axis[i] = 1.0;
            let local = pose.rotation.inverse_transform_vector(&axis);
            if let Some(p) = support(&local) {
                aabb.max[i] = (pose * p)[i];
            }
            if let Some(p) = support(&-local) {
                aabb.min[i] = (pose * p)[i];
            }
        }
        aabb
    }

    /// Whether the boxes share a point; touching boxes do, boxes with NaN do not.
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..D).all(|i| self.min[i] <= other.max[i] && other.min[i] <= self.max[i])
    }

    /// Box around this one and its copy after a finite displacement [m].
    #[must_use]
    pub fn swept(&self, displacement: &SVector<f64, D>) -> Self {
        self.union(&Self { min: self.min + displacement, max: self.max + displacement })
    }

    /// Box with a margin [m] on every side.
    #[must_use]
    pub fn grown(&self, margin: f64) -> Self {
        let m = SVector::repeat(margin);
        Self { min: self.min - m, max: self.max + m }
    }

    /// Box around both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.inf(&other.min), max: self.max.sup(&other.max) }
    }
}
