//! Vocabulary that a dimension brings: vectors, poses, shapes and kinds of joints.
//!
//! [`World`](super::World) and everything in it is written once over [`Dimension`]. Its two implementors are
//! [`planar::Planar`](crate::planar::Planar) and [`spatial::Spatial`](crate::spatial::Spatial).

use nalgebra::{AbstractRotation, Isometry, Point, SVector};
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};
use stiction_geometry::{MassError, ShapeError};

/// Plane or space. Only [`Planar`](crate::planar::Planar) and [`Spatial`](crate::spatial::Spatial) have the formulas
/// that a model needs.
pub trait Dimension: Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// Number of coordinates of a point: 2 or 3.
    const COUNT: usize;

    /// Vector [m], [m/s] or [N].
    type Vector: EuclideanVector;
    /// Point [m].
    type Point: EuclideanPoint<Self::Vector>;
    /// Rotation of a frame.
    type Rotation: Copy + Debug + PartialEq + Send + Sync + 'static;
    /// Pose of a frame.
    type Isometry: RigidPose<Self::Vector, Self::Point, Self::Rotation>;
    /// Angular velocity [rad/s] or torque [N m]: a number in the plane, a vector in space.
    type Angular: EuclideanVector;
    /// Inertia about the centre of mass [kg m²]: a number in the plane, a tensor in space.
    type Inertia: Copy + Debug + Default + PartialEq + Send + Sync + 'static;
    /// Convex shape.
    type Shape: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// Velocity of a surface against its body [m/s]: along the one tangent in the plane, a vector in space.
    type SurfaceVelocity: EuclideanVector;
    /// Anisotropic friction of a surface; `()` in the plane, which has one tangent.
    type Grain: Copy + Debug + Default + PartialEq + Send + Sync + 'static;
    /// Polygon in place of the friction circle; `()` in the plane, which has one tangent.
    type Facets: Copy + Debug + Default + PartialEq + Send + Sync + 'static;
    /// Kind of a joint.
    type JointKind: KindOfJoint;

    /// Vector from coordinates in space; in the plane z is left out.
    fn vector(xyz: [f64; 3]) -> Self::Vector;

    /// Coordinates of a vector in space; in the plane z is 0.
    fn xyz(vector: &Self::Vector) -> [f64; 3];

    /// Angular velocity or torque as a vector in space; in the plane it is along z.
    fn axial(angular: &Self::Angular) -> [f64; 3];

    /// Coordinates and unit quaternion, w first, of a pose in space; in the plane z is 0 and the turn is about z.
    fn pose_in_space(pose: &Self::Isometry) -> ([f64; 3], [f64; 4]);

    /// Angle of a rotation of the plane [rad]; `None` in space.
    fn angle(rotation: &Self::Rotation) -> Option<f64>;

    /// `true` when all numbers of a rotation are finite.
    fn is_finite_rotation(rotation: &Self::Rotation) -> bool;

    /// Shape of either dimension.
    fn shape_ref(shape: &Self::Shape) -> ShapeRef<'_>;

    /// Name of the kind of a shape, as in a scene file.
    fn shape_kind(shape: &Self::Shape) -> &'static str;

    /// Error of a shape whose numbers describe none.
    fn check_shape(shape: &Self::Shape) -> Result<(), ShapeError>;

    /// Ball of this radius [m].
    fn ball(radius: f64) -> Self::Shape;

    /// Square or cube with edges of twice this length [m].
    fn cube(half_extent: f64) -> Result<Self::Shape, ShapeError>;

    /// Mass, centre of mass and inertia of shapes of one density [kg/m²; kg/m³], each at a pose.
    fn mass_of<'a>(
        shapes: impl Iterator<Item = (&'a Self::Shape, &'a Self::Isometry)>,
        density: f64,
    ) -> Result<MassProperties<Self>, MassError>;
}

/// Shape of either dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShapeRef<'a> {
    /// Shape of the plane.
    Planar(&'a stiction_geometry::planar::Shape),
    /// Shape of space.
    Spatial(&'a stiction_geometry::spatial::Shape),
}

/// Mass, centre of mass and inertia in the body frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties<D: Dimension> {
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass in the body frame [m].
    pub centre: D::Point,
    /// Inertia about the centre of mass, along the axes of the body frame [kg m²].
    pub inertia: D::Inertia,
}

/// Kind of a joint, as far as both dimensions have it.
pub trait KindOfJoint: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// Both frames together: no motion is free.
    const FIXED: Self;

    /// Origins this far apart [m].
    fn with_length(length: f64) -> Self;

    /// Length of a distance joint [m]; `None` for all other kinds.
    fn length(&self) -> Option<f64>;

    /// Advance of a screw per turn [m]; `None` for all other kinds.
    fn pitch(&self) -> Option<f64> {
        None
    }

    /// Name in a scene file.
    fn name(&self) -> &'static str;

    /// Number of its coordinates: limits, motors, springs and dry friction act on those.
    fn coordinates(&self) -> usize;

    /// `true` when it has a coordinate.
    fn has_coordinate(&self) -> bool {
        self.coordinates() > 0
    }

    /// `true` when a coordinate is an angle [rad].
    fn is_angular(&self, axis: usize) -> bool;

    /// `true` when a coordinate is an angle that counts turns; the angle between two axes does not.
    fn counts_turns(&self, axis: usize) -> bool {
        self.is_angular(axis)
    }
}

/// Vector of numbers, or a single number.
pub trait EuclideanVector:
    Copy
    + Debug
    + Default
    + PartialEq
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<f64, Output = Self>
    + Neg<Output = Self>
    + 'static
{
    /// Components.
    fn components(&self) -> &[f64];

    /// Scalar product.
    fn dot(&self, other: &Self) -> f64;

    /// Length.
    fn norm(&self) -> f64;

    /// Unit vector along it; `None` for 0 and for numbers that are not finite.
    fn direction(&self) -> Option<Self>;

    /// `true` when all components are finite.
    fn all_finite(&self) -> bool {
        self.components().iter().copied().all(f64::is_finite)
    }
}

impl EuclideanVector for f64 {
    fn components(&self) -> &[f64] {
        std::slice::from_ref(self)
    }

    fn dot(&self, other: &Self) -> f64 {
        self * other
    }

    fn norm(&self) -> f64 {
        self.abs()
    }

    fn direction(&self) -> Option<Self> {
        (self.is_normal() || self.is_subnormal()).then(|| self.signum())
    }
}

impl<const N: usize> EuclideanVector for SVector<f64, N>
where
    Self: Default,
{
    fn components(&self) -> &[f64] {
        self.as_slice()
    }

    fn dot(&self, other: &Self) -> f64 {
        self.dot(other)
    }

    fn norm(&self) -> f64 {
        self.norm()
    }

    fn direction(&self) -> Option<Self> {
        self.try_normalize(0.0).filter(|unit| unit.iter().copied().all(f64::is_finite))
    }
}

/// Point of the plane or of space.
pub trait EuclideanPoint<V>:
    Copy
    + Debug
    + Default
    + PartialEq
    + Send
    + Sync
    + From<V>
    + Add<V, Output = Self>
    + Sub<V, Output = Self>
    + Sub<Output = V>
    + 'static
{
    /// Vector from the origin to the point.
    fn coordinates(&self) -> V;
}

impl<const N: usize> EuclideanPoint<SVector<f64, N>> for Point<f64, N>
where
    Self: Default,
{
    fn coordinates(&self) -> SVector<f64, N> {
        self.coords
    }
}

/// Pose of a frame: a translation after a rotation.
pub trait RigidPose<V, P, R>: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// Frame of the world.
    fn identity() -> Self;

    /// Pose from the place of its origin and its rotation.
    fn new(origin: V, rotation: R) -> Self;

    /// Place of the origin.
    fn origin(&self) -> V;

    /// Rotation.
    fn turn(&self) -> R;

    /// Pose that is `other` in this frame.
    #[must_use]
    fn times(&self, other: &Self) -> Self;

    /// Pose of `other` seen from this frame.
    #[must_use]
    fn inverse_times(&self, other: &Self) -> Self;

    /// Place of a point that is given in this frame.
    fn point(&self, local: &P) -> P;

    /// Point of the world in this frame.
    fn local(&self, point: &P) -> P;

    /// Vector of this frame along the axes of the world.
    fn turned(&self, vector: &V) -> V;
}

impl<R, const N: usize> RigidPose<SVector<f64, N>, Point<f64, N>, R> for Isometry<f64, R, N>
where
    R: AbstractRotation<f64, N> + Copy + Debug + Send + Sync + 'static,
{
    fn identity() -> Self {
        Self::identity()
    }

    fn new(origin: SVector<f64, N>, rotation: R) -> Self {
        Self::from_parts(origin.into(), rotation)
    }

    fn origin(&self) -> SVector<f64, N> {
        self.translation.vector
    }

    fn turn(&self) -> R {
        self.rotation
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }

    fn inverse_times(&self, other: &Self) -> Self {
        self.inv_mul(other)
    }

    fn point(&self, local: &Point<f64, N>) -> Point<f64, N> {
        self.transform_point(local)
    }

    fn local(&self, point: &Point<f64, N>) -> Point<f64, N> {
        self.inverse_transform_point(point)
    }

    fn turned(&self, vector: &SVector<f64, N>) -> SVector<f64, N> {
        self.rotation.transform_vector(vector)
    }
}
