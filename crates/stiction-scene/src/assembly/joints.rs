//! Joints of a scene file, with their limits and motors.

use super::{Assembly, JointAt, SceneDimension, copies, missing, point};
use crate::controls::ControlSpec;
use crate::copies::Copied;
use crate::read::Reader;
use crate::track;
use stiction::{
    BodyId, Command, EuclideanVector, Joint, JointAxis, JointSpring, KindOfJoint, Motor, RigidPose,
};

impl<D: SceneDimension> Assembly<'_, D> {
    pub(super) fn joints(&mut self) {
        for (k, reader) in self.root.tables("joints").enumerate() {
            let numbered = format!("j{k}");
            let base = reader.text("name").unwrap_or(&numbered);
            for copy in copies::<D>(&reader) {
                let name = copy.name(base);
                let [a, b] = self.two(&reader, &copy.index);
                // the keys are read even where a body is missing, so that none counts as unused
                let ends = [a.unwrap_or(BodyId(u32::MAX)), b.unwrap_or(BodyId(u32::MAX))];
                let joint = self.joint(&reader, name.clone(), ends, &copy);
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

    fn joint(
        &mut self,
        reader: &Reader,
        name: String,
        [a, b]: [BodyId; 2],
        copy: &Copied<D::Isometry>,
    ) -> Option<Joint<D>> {
        let moved = &copy.moved;
        let kind = reader.text("kind")?;
        let given = |key: &str| point::<D>(reader, key).map(|p| moved.point(&p));
        let frames = (reader.table("frame_a"), reader.table("frame_b"));
        let mut joint = if let (Some(frame_a), Some(frame_b)) = frames {
            let (frame_a, frame_b) = (D::read_pose(&frame_a), D::read_pose(&frame_b));
            let distance = || D::JointKind::with_length(self.length(reader, [(a, &frame_a), (b, &frame_b)]));
            let kind = D::joint_kind(kind, reader).unwrap_or_else(distance);
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
                    joint.kind = D::JointKind::with_length(length);
                }
                joint
            } else {
                let joint = JointAt { kind, name, bodies: [a, b], point: at };
                D::joint_at(&self.world, reader, joint, moved)?
            }
        };
        let axes: Vec<Reader> = reader.tables("coordinates").collect();
        if axes.is_empty() {
            let name = joint.name.clone();
            joint = joint.axis(0, self.coordinate(reader, &name, &copy.index));
        }
        if axes.len() > joint.kind.coordinates() {
            let count = joint.kind.coordinates();
            let message = format!("a {kind} joint has {count} coordinates, not {}", axes.len());
            reader.error(&reader.span("coordinates"), message);
            return None;
        }
        for (k, axis) in axes.iter().enumerate() {
            let name = if k == 0 { joint.name.clone() } else { format!("{}.{k}", joint.name) };
            joint = joint.axis(k, self.coordinate(axis, &name, &copy.index));
        }
        joint.compliance = reader.number("compliance").unwrap_or(0.0);
        joint.collide = reader.flag("collide").unwrap_or(false);
        Some(joint)
    }

    /// Limits, motor, spring and friction of a coordinate; `name` is that of the inputs of its motor by default.
    fn coordinate(&mut self, table: &Reader, name: &str, index: &[usize]) -> JointAxis {
        let motor_table = table.table("motor");
        let mut input = motor_table.and_then(|table| table.text("input").map(str::to_string));
        let mut controls = Vec::new();
        if let Some(table) = &motor_table {
            let mut control = |key: &str, part: &str| {
                let node = table.get(key);
                let made = node.and_then(|node| {
                    // the torque of a servo has an input of its own
                    if part.is_empty() {
                        ControlSpec::new(table, node, &self.signal_names, index)
                    } else {
                        ControlSpec::always(table, node, index)
                    }
                });
                controls.extend(made.map(|control| (control, part.to_string())));
            };
            match table.text("kind") {
                Some("velocity") => control("speed", ""),
                Some("torque") => control("torque", ""),
                Some("servo") => {
                    control("target", "");
                    control("torque", ".torque");
                }
                _ => control("target", ""),
            }
        }
        let (motor, command) = motor_table.as_ref().and_then(motor).unzip();
        if let Some(Motor::Velocity { .. } | Motor::Position { .. }) = motor.filter(|_| !controls.is_empty())
        {
            input.get_or_insert_with(|| name.to_string());
        }
        let of = input.as_deref().unwrap_or(name);
        self.controls.extend(controls.into_iter().map(|(control, part)| control.of(format!("{of}{part}"))));
        let spring = table.table("spring").map(|table| JointSpring {
            stiffness: table.number("stiffness").unwrap_or(0.0),
            damping: table.number("damping").unwrap_or(0.0),
            rest: table.angle("rest").unwrap_or(0.0),
        });
        JointAxis {
            limits: limits(table),
            motor,
            input,
            command: command.flatten(),
            spring,
            friction: table.number("friction").unwrap_or(0.0),
        }
    }

    /// Length that is given, or that the points have at the start.
    fn length(&self, reader: &Reader, ends: [(BodyId, &D::Isometry); 2]) -> f64 {
        let now = || {
            let [a, b] = ends.map(|(id, frame)| {
                let pose = self.world.body(id).map_or_else(D::Isometry::identity, |body| body.pose);
                pose.times(frame).point(&D::Point::default())
            });
            (b - a).norm()
        };
        reader.number("length").unwrap_or_else(now)
    }
}

/// Motor of a joint, with its command where that is an expression of time.
fn motor(table: &Reader) -> Option<(Motor, Option<Command>)> {
    let kind = table.text("kind")?;
    let key = match kind {
        "velocity" => "speed",
        "torque" => "torque",
        _ => "target",
    };
    let command = track::command(table, key);
    let command = command.map(|track| Command::new(move |t| [track.at(t), track.rate(t)]));
    // a formula of quantities of the run sets the input
    let is_formula = table.get(key).is_some_and(|node| node.number().is_none());
    let value = if is_formula { Some(0.0) } else { table.angle(key) };
    if value.is_none() && !table.has(key) && !table.has(&format!("{key}_deg")) {
        let message = format!("missing key `{key}` or `{key}_deg`: the target of the motor");
        table.error(&table.node.span, message);
    }
    let (value, force) = (value?, table.number("force"));
    let effort = force.unwrap_or(f64::INFINITY);
    let motor = match kind {
        "velocity" => Motor::Velocity { speed: value, force: force? },
        "position" => Motor::Position { target: value, gain: table.number("gain")?, force: force? },
        "torque" => Motor::Torque { torque: value, force: effort },
        "servo" => Motor::Servo {
            target: value,
            speed: 0.0,
            torque: table.number("torque").unwrap_or(0.0),
            stiffness: table.number("stiffness")?,
            damping: table.number("damping").unwrap_or(0.0),
            force: effort,
        },
        _ => return None,
    };
    Some((motor, command))
}

/// Limits of a joint coordinate [rad; m].
fn limits(joint: &Reader) -> Option<[f64; 2]> {
    let degrees = || joint.vector::<2>("limits_deg").map(|limits| limits.map(f64::to_radians));
    joint.vector::<2>("limits").or_else(degrees)
}
