//! Joints of a file in space, by their kinds.

use super::world::Assembly;
use super::{BodyId, Isometry, Joint, JointKind, Point, Vector, axis, missing};
use crate::read::Reader;

/// Sine of the angle below which two axes are parallel: a frame of them would be round-off.
const PARALLEL: f64 = 1e-6;

/// A joint between two frames; none of these is a distance.
pub(super) fn kind(name: &str) -> Option<JointKind> {
    Some(match name {
        "spherical" => JointKind::Spherical,
        "revolute" => JointKind::Revolute,
        "prismatic" => JointKind::Prismatic,
        "cylindrical" => JointKind::Cylindrical,
        "universal" => JointKind::Universal,
        "planar" => JointKind::Planar,
        "fixed" => JointKind::Fixed,
        _ => return None,
    })
}

impl Assembly<'_> {
    /// A joint at a point of the world.
    pub(super) fn placed(
        &self,
        reader: &Reader,
        kind: &str,
        name: String,
        [a, b]: [BodyId; 2],
        at: Point,
        by: &Isometry,
    ) -> Option<Joint> {
        let along = |key: &str| -> Option<Vector> {
            if !reader.has(key) {
                missing(reader, key, "what the joint turns about or slides along");
            }
            Some(by.rotation * axis(reader, key)?)
        };
        Some(match kind {
            "spherical" => Joint::spherical(name, &self.world, a, b, at),
            "fixed" => Joint::fixed(name, &self.world, a, b, at),
            "revolute" => Joint::revolute(name, &self.world, a, b, at, along("axis")?),
            "prismatic" => Joint::prismatic(name, &self.world, a, b, at, along("axis")?),
            "cylindrical" => Joint::cylindrical(name, &self.world, a, b, at, along("axis")?),
            "planar" => Joint::planar(name, &self.world, a, b, at, along("axis")?),
            "universal" => {
                let (axis_a, axis_b) = (along("axis")?, along("axis_b")?);
                if axis_a.cross(&axis_b).norm() < PARALLEL {
                    reader.error(&reader.span("axis_b"), "the two axes of a cross must not be parallel");
                    return None;
                }
                Joint::universal(name, &self.world, (a, axis_a), (b, axis_b), at)
            }
            _ => return None,
        })
    }
}
