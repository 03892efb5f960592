//! Kinds of spatial joints, and their frames from points and axes in the world.

use super::{Joint, Spatial, World};
use crate::id::BodyId;
use crate::world::{self, KindOfJoint, upright};
use nalgebra::{Isometry3, Point3, Rotation3, UnitQuaternion, Vector3};

/// Motions that a spatial joint leaves free, and its coordinates. Angles count turns where that matters: see
/// [`ModelIn::joint_coordinate`](crate::ModelIn::joint_coordinate).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JointKind {
    /// All turning, as a ball in a socket. Coordinates: the bend, which is the angle between the z axes from 0 to π and whose
    /// upper limit is a cone, and the twist about z.
    Spherical,
    /// Turning about z of the frames. Coordinate: the angle of frame b against frame a.
    Revolute,
    /// Sliding along z of the frames. Coordinate: the travel of frame b along z of frame a.
    Prismatic,
    /// Sliding along and turning about z of the frames. Coordinates: the travel and the angle.
    Cylindrical,
    /// Turning about z of the frames with an advance along it of this pitch per turn [m], which may be negative.
    /// Coordinates: the angle and the travel.
    Screw(f64),
    /// Turning about z of frame a and about x of frame b, which stay perpendicular: the axes of its cross. Coordinates: the
    /// angles about them.
    Universal,
    /// Sliding in the xy plane of frame a and turning about its z. Coordinates: the travel along x and y of frame a, and the
    /// angle.
    Planar,
    /// None. No coordinate.
    Fixed,
    /// Everything except the distance of the two origins [m], > 0. Coordinate: that distance. It is free between the limits if
    /// there are any (a rope has the limits 0 and its length) and held otherwise.
    Distance(f64),
}

impl KindOfJoint for JointKind {
    const FIXED: Self = Self::Fixed;

    fn with_length(length: f64) -> Self {
        Self::Distance(length)
    }

    fn length(&self) -> Option<f64> {
        if let Self::Distance(length) = self { Some(*length) } else { None }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Spherical => "spherical",
            Self::Revolute => "revolute",
            Self::Prismatic => "prismatic",
            Self::Cylindrical => "cylindrical",
            Self::Screw(_) => "screw",
            Self::Universal => "universal",
            Self::Planar => "planar",
            Self::Fixed => "fixed",
            Self::Distance(_) => "distance",
        }
    }

    fn coordinates(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute | Self::Prismatic | Self::Distance(_) => 1,
            Self::Spherical | Self::Cylindrical | Self::Screw(_) | Self::Universal => 2,
            Self::Planar => 3,
        }
    }

    fn is_angular(&self, axis: usize) -> bool {
        match self {
            Self::Revolute | Self::Spherical | Self::Universal => true,
            Self::Screw(_) => axis == 0,
            Self::Cylindrical => axis == 1,
            Self::Planar => axis == 2,
            Self::Prismatic | Self::Fixed | Self::Distance(_) => false,
        }
    }

    fn counts_turns(&self, axis: usize) -> bool {
        self.is_angular(axis) && !(matches!(self, Self::Spherical) && axis == 0)
    }

    fn pitch(&self) -> Option<f64> {
        if let Self::Screw(pitch) = self { Some(*pitch) } else { None }
    }
}

impl world::Joint<Spatial> {
    /// Ball joint at a world point.
    pub fn spherical(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point3<f64>,
    ) -> Joint {
        Self::between(name, JointKind::Spherical, world, a, b, upright::<Spatial>(point))
    }

    /// Hinge about a world axis through a world point.
    pub fn revolute(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point3<f64>,
        axis: Vector3<f64>,
    ) -> Joint {
        Self::between(name, JointKind::Revolute, world, a, b, frame(point, axis))
    }

    /// Slide along a world axis.
    pub fn prismatic(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point3<f64>,
        axis: Vector3<f64>,
    ) -> Joint {
        Self::between(name, JointKind::Prismatic, world, a, b, frame(point, axis))
    }

    /// Slide along and hinge about a world axis.
    pub fn cylindrical(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point3<f64>,
        axis: Vector3<f64>,
    ) -> Joint {
        Self::between(name, JointKind::Cylindrical, world, a, b, frame(point, axis))
    }

    /// Screw about a world axis, which advances along it by this pitch per turn [m].
    pub fn screw(
        name: impl Into<String>,
        world: &World,
        [a, b]: [BodyId; 2],
        point: Point3<f64>,
        axis: Vector3<f64>,
        pitch: f64,
    ) -> Joint {
        Self::between(name, JointKind::Screw(pitch), world, a, b, frame(point, axis))
    }

    /// Cross at a world point with one axis in a and one in b. Only the part of the second across the first counts.
    pub fn universal(
        name: impl Into<String>,
        world: &World,
        (a, axis_a): (BodyId, Vector3<f64>),
        (b, axis_b): (BodyId, Vector3<f64>),
        point: Point3<f64>,
    ) -> Joint {
        // z along the axis of a, and x along that of b
        let z = axis_a.normalize();
        let x = (axis_b - z * z.dot(&axis_b)).normalize();
        let rotation =
            Rotation3::from_matrix_unchecked(nalgebra::Matrix3::from_columns(&[x, z.cross(&x), z]));
        let frame = Isometry3::from_parts(point.into(), UnitQuaternion::from_rotation_matrix(&rotation));
        Self::between(name, JointKind::Universal, world, a, b, frame)
    }

    /// Motion in the plane through a world point with this normal.
    pub fn planar(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point3<f64>,
        normal: Vector3<f64>,
    ) -> Joint {
        Self::between(name, JointKind::Planar, world, a, b, frame(point, normal))
    }
}

/// Frame at a point with its z along an axis. An axis without direction gives NaN, which the check reports.
fn frame(point: Point3<f64>, axis: Vector3<f64>) -> Isometry3<f64> {
    let z = axis.normalize();
    // any direction across: the least aligned axis of the world
    let aside = if z.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
    let x = (aside - z * z.dot(&aside)).normalize();
    let columns = nalgebra::Matrix3::from_columns(&[x, z.cross(&x), z]);
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(columns));
    Isometry3::from_parts(point.into(), rotation)
}
