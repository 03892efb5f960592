//! Kinds of planar joints, and their frames from points and axes in the world.

use super::{Joint, Planar, World};
use crate::id::BodyId;
use crate::world::{self, KindOfJoint, upright};
use nalgebra::{Isometry2, Point2, Rotation2, UnitComplex, Vector2};

/// Motions that a planar joint leaves free, and which of them is the joint coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JointKind {
    /// Turning about the common origin of the frames. Coordinate: the angle from frame a to frame b, in (−π, π].
    Revolute,
    /// Sliding along x of frame a, with parallel frames. Coordinate: the travel of the origin of frame b along it.
    Prismatic,
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
            Self::Revolute => "revolute",
            Self::Prismatic => "prismatic",
            Self::Fixed => "fixed",
            Self::Distance(_) => "distance",
        }
    }

    fn coordinates(&self) -> usize {
        usize::from(!matches!(self, Self::Fixed))
    }

    fn is_angular(&self, _: usize) -> bool {
        matches!(self, Self::Revolute)
    }
}

impl world::Joint<Planar> {
    /// Joint that turns about a point of the world, at angle 0 now.
    pub fn revolute(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point2<f64>,
    ) -> Joint {
        Self::between(name, JointKind::Revolute, world, a, b, upright::<Planar>(point))
    }

    /// Joint that slides along an axis of the world through a point, at travel 0 now.
    pub fn prismatic(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point2<f64>,
        axis: Vector2<f64>,
    ) -> Joint {
        let turn = UnitComplex::from_rotation_matrix(&Rotation2::rotation_between(&Vector2::x(), &axis));
        let frame = Isometry2::from_parts(point.coords.into(), turn);
        Self::between(name, JointKind::Prismatic, world, a, b, frame)
    }
}
