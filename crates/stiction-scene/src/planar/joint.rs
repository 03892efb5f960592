//! Joints of a file in the plane.

use super::{Assembly, axis, copies, missing, point, pose};
use crate::read::Reader;
use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{BodyId, Joint, JointKind, Motor};

impl Assembly<'_> {
    pub(super) fn joints(&mut self) {
        for (k, reader) in self.root.tables("joints").enumerate() {
            let numbered = format!("j{k}");
            let base = reader.text("name").unwrap_or(&numbered);
            for copy in copies(&reader) {
                let name = copy.name(base);
                let [a, b] = self.two(&reader, &copy.index);
                // the keys are read even where a body is missing, so that none counts as having no effect
                let ends = [a.unwrap_or(BodyId(u32::MAX)), b.unwrap_or(BodyId(u32::MAX))];
                let joint = self.joint(&reader, name.clone(), ends, &copy.moved);
                let joint = joint.filter(|_| a.is_some() && b.is_some());
                if self.places.joint(name.clone(), k) && reader.has("name") {
                    reader.error(&reader.span("name"), format!("another joint is named `{name}`"));
                }
                if let Some(joint) = joint {
                    self.world.join(joint);
                }
            }
        }
    }

    fn joint(
        &self,
        reader: &Reader,
        name: String,
        [a, b]: [BodyId; 2],
        by: &Isometry2<f64>,
    ) -> Option<Joint> {
        let kind = reader.text("kind")?;
        let given = |key: &str| point(reader, key).map(|p| by * p);
        let frames = (reader.table("frame_a"), reader.table("frame_b"));
        let mut joint = if let (Some(frame_a), Some(frame_b)) = frames {
            let (frame_a, frame_b) = (pose(&frame_a), pose(&frame_b));
            let kind = match kind {
                "revolute" => JointKind::Revolute,
                "prismatic" => JointKind::Prismatic,
                "weld" => JointKind::Weld,
                _ => JointKind::Distance(self.length(reader, [(a, &frame_a), (b, &frame_b)])),
            };
            Joint::new(name, kind, (a, frame_a), (b, frame_b))
        } else if frames.0.is_some() || frames.1.is_some() {
            let other = if frames.0.is_some() { "frame_b" } else { "frame_a" };
            missing(reader, other, "a joint has a frame in each body");
            return None;
        } else {
            if !reader.has("at") {
                missing(reader, "at", "where the joint is, in the world");
                return None;
            }
            let at = given("at")?;
            match kind {
                "revolute" => Joint::revolute(name, &self.world, a, b, at),
                "prismatic" => {
                    if !reader.has("axis") {
                        missing(reader, "axis", "what the joint slides along");
                        return None;
                    }
                    let along: Vector2<f64> = by.rotation * axis(reader, "axis")?;
                    Joint::prismatic(name, &self.world, a, b, at, along)
                }
                "weld" => Joint::weld(name, &self.world, a, b, at),
                "distance" => {
                    if !reader.has("at_b") {
                        missing(reader, "at_b", "the point of the second body");
                        return None;
                    }
                    let mut joint = Joint::distance(name, &self.world, (a, at), (b, given("at_b")?));
                    if let Some(length) = reader.number("length") {
                        joint.kind = JointKind::Distance(length);
                    }
                    joint
                }
                _ => return None,
            }
        };
        joint.limits = crate::motor::limits(reader);
        joint.motor = motor(reader);
        joint.friction = reader.number("friction").unwrap_or(0.0);
        joint.compliance = reader.number("compliance").unwrap_or(0.0);
        joint.collide = reader.flag("collide").unwrap_or(false);
        Some(joint)
    }

    /// The length that is given, or that the points have at the start.
    fn length(&self, reader: &Reader, ends: [(BodyId, &Isometry2<f64>); 2]) -> f64 {
        let now = || {
            let [a, b] = ends.map(|(id, frame)| {
                let place = self.world.body(id).map_or_else(Isometry2::identity, |body| body.pose);
                place * frame * Point2::origin()
            });
            (b - a).norm()
        };
        reader.number("length").unwrap_or_else(now)
    }
}

fn motor(reader: &Reader) -> Option<Motor> {
    crate::motor::read(reader).map(|motor| match motor {
        crate::motor::Motor::Velocity { speed, force } => Motor::Velocity { speed, force },
        crate::motor::Motor::Position { target, gain, force } => Motor::Position { target, gain, force },
    })
}
