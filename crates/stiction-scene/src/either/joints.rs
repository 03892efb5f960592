//! Joints of a file: the part that is the same in the plane and in space. See `either/world.rs`.

use super::world::{Assembly, copies};
use super::{BodyId, Isometry, Joint, JointKind, Motor, Point, joint, missing, point, pose};
use crate::read::Reader;

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
                    self.world.add_joint(joint);
                }
            }
        }
    }

    fn joint(&self, reader: &Reader, name: String, [a, b]: [BodyId; 2], by: &Isometry) -> Option<Joint> {
        let kind = reader.text("kind")?;
        let given = |key: &str| point(reader, key).map(|p| by * p);
        let frames = (reader.table("frame_a"), reader.table("frame_b"));
        let mut joint = if let (Some(frame_a), Some(frame_b)) = frames {
            let (frame_a, frame_b) = (pose(&frame_a), pose(&frame_b));
            let length = || JointKind::Distance(self.length(reader, [(a, &frame_a), (b, &frame_b)]));
            let kind = joint::kind(kind).unwrap_or_else(length);
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
            if kind == "distance" {
                if !reader.has("at_b") {
                    missing(reader, "at_b", "the point of the second body");
                    return None;
                }
                let mut joint = Joint::distance(name, &self.world, (a, at), (b, given("at_b")?));
                if let Some(length) = reader.number("length") {
                    joint.kind = JointKind::Distance(length);
                }
                joint
            } else {
                self.placed(reader, kind, name, [a, b], at, by)?
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
    fn length(&self, reader: &Reader, ends: [(BodyId, &Isometry); 2]) -> f64 {
        let now = || {
            let [a, b] = ends.map(|(id, frame)| {
                let place = self.world.body(id).map_or_else(Isometry::identity, |body| body.pose);
                place * frame * Point::origin()
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
