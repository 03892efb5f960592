//! Joints of a file in the plane, by their kinds.

use super::world::Assembly;
use super::{BodyId, Isometry, Joint, JointKind, Point, axis, missing};
use crate::read::Reader;

/// A joint between two frames; none of these is a distance.
pub(super) fn kind(name: &str) -> Option<JointKind> {
    Some(match name {
        "revolute" => JointKind::Revolute,
        "prismatic" => JointKind::Prismatic,
        "weld" => JointKind::Weld,
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
        Some(match kind {
            "revolute" => Joint::revolute(name, &self.world, a, b, at),
            "prismatic" => {
                if !reader.has("axis") {
                    missing(reader, "axis", "what the joint slides along");
                    return None;
                }
                let along = by.rotation * axis(reader, "axis")?;
                Joint::prismatic(name, &self.world, a, b, at, along)
            }
            "weld" => Joint::weld(name, &self.world, a, b, at),
            _ => return None,
        })
    }
}
