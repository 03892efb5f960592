//! Rows of spatial joints: each Θ an exact function of the configuration, each row its exact gradient.

use super::joint::JointKind;
use super::placement::{Gradient, add_terms, row};
use super::{Joint, Spatial, Twist};
use crate::system::RowKind;
use crate::world::{
    Freedom, JointCoordinate, JointLayout, JointMemory, JointRowWriter, KindOfJoint, Motor, Placement,
};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use std::f64::consts::TAU;

/// s² + c² of the angle about two z axes up to which they count as opposite [1]: there no angle exists. Range 1e-28 to
/// 1e-12: below it the gradient is round-off, above it hinges that are bent far apart lose their true gradient.
const OPPOSITE_AXES: f64 = 1e-20;

/// Frame of a joint in the world.
struct JointFrame {
    origin: Point3<f64>,
    x: Vector3<f64>,
    y: Vector3<f64>,
    z: Vector3<f64>,
}

impl JointFrame {
    fn new(body: &Placement<Spatial>, frame: &Isometry3<f64>, rotation: &Matrix3<f64>) -> Self {
        let origin = body.frame.pose.translation.vector + body.frame.rotation * frame.translation.vector;
        let axes = body.frame.rotation * rotation;
        let axis = |k: usize| axes.column(k).into_owned();
        Self { origin: origin.into(), x: axis(0), y: axis(1), z: axis(2) }
    }
}

/// Function of the configuration of two bodies and its gradients.
struct Measure {
    value: f64,
    of_a: Gradient,
    of_b: Gradient,
    /// Change of its speed at constant velocities [m/s²], where the velocities are given.
    rate: f64,
}

impl Measure {
    /// Multiplies by a length.
    fn scaled(&self, s: f64) -> Self {
        Self { value: s * self.value, of_a: s * self.of_a, of_b: s * self.of_b, rate: s * self.rate }
    }
}

/// Bodies of a joint at an instant.
struct Pair<'a> {
    a: &'a Placement<Spatial>,
    b: &'a Placement<Spatial>,
    frame_a: JointFrame,
    frame_b: JointFrame,
    /// Velocities of the bodies. They stay constant: linear ones of the centres, and angular ones in the world and in
    /// the body alike.
    twists: Option<[Twist; 2]>,
    /// Velocity and acceleration of the origin of b against that of a; zero where the velocities are not given.
    apart: [Vector3<f64>; 2],
}

/// Velocity and acceleration of the material point at `point`, at constant velocities of the body.
fn moving(body: &Placement<Spatial>, twist: &Twist, point: &Point3<f64>) -> [Vector3<f64>; 2] {
    let turning = twist.angular.cross(&(point - body.centre));
    [twist.linear + turning, twist.angular.cross(&turning)]
}

impl<'a> Pair<'a> {
    fn new(
        layout: &JointLayout<Spatial>,
        [a, b]: [&'a Placement<Spatial>; 2],
        twists: Option<[Twist; 2]>,
    ) -> Self {
        let JointLayout { joint, frames, .. } = layout;
        let frame_a = JointFrame::new(a, &joint.frame_a, &frames[0]);
        let frame_b = JointFrame::new(b, &joint.frame_b, &frames[1]);
        let apart = twists.as_ref().map_or_else(Default::default, |[of_a, of_b]| {
            let of_a = moving(a, of_a, &frame_a.origin);
            let of_b = moving(b, of_b, &frame_b.origin);
            [of_b[0] - of_a[0], of_b[1] - of_a[1]]
        });
        Self { a, b, frame_a, frame_b, twists, apart }
    }

    /// Distance of the origins along a world axis.
    #[inline]
    fn apart(&self, axis: &Vector3<f64>) -> Measure {
        Measure {
            value: axis.dot(&(self.frame_b.origin - self.frame_a.origin)),
            of_a: -self.a.along(axis, &self.frame_a.origin),
            of_b: self.b.along(axis, &self.frame_b.origin),
            rate: axis.dot(&self.apart[1]),
        }
    }

    /// Distance of the origins along an axis that turns with a: the point of a at b's origin moves with it.
    fn apart_in_a(&self, axis: &Vector3<f64>) -> Measure {
        // n·d has the second derivative n̈·d + 2 ṅ·ḋ + n·d̈
        let rate = |twists: &[Twist; 2]| {
            let (turn, apart) = (twists[0].angular, self.frame_b.origin - self.frame_a.origin);
            let [velocity, acceleration] = &self.apart;
            let turning = turn.cross(axis);
            turn.cross(&turning).dot(&apart) + 2.0 * turning.dot(velocity) + axis.dot(acceleration)
        };
        Measure {
            of_a: -self.a.along(axis, &self.frame_b.origin),
            rate: self.twists.as_ref().map_or(0.0, rate),
            ..self.apart(axis)
        }
    }

    /// Cosine a·b of an axis of each body: d/dt = (ω_b − ω_a) · (b × a).
    fn cosine(&self, of_a: &Vector3<f64>, of_b: &Vector3<f64>) -> Measure {
        let turn = Gradient::turning(of_b.cross(of_a));
        let rate = |[a, b]: &[Twist; 2]| {
            let (a, b) = (a.angular, b.angular);
            (b - a).dot(&(b.cross(of_b).cross(of_a) + of_b.cross(&a.cross(of_a))))
        };
        let rate = self.twists.as_ref().map_or(0.0, rate);
        Measure { value: of_a.dot(of_b), of_a: -turn, of_b: turn, rate }
    }

    /// Angle of frame b about z of frame a: atan2(s, c) with s = y_a·x_b − x_a·y_b, c = x_a·x_b + y_a·y_b,
    /// which is the exact angle when the z axes are one and smooth unless they are opposite.
    fn angle(&self) -> Measure {
        let (a, b) = (&self.frame_a, &self.frame_b);
        let (s, c) = (a.y.dot(&b.x) - a.x.dot(&b.y), a.x.dot(&b.x) + a.y.dot(&b.y));
        let of_s = b.x.cross(&a.y) - b.y.cross(&a.x);
        let of_c = b.x.cross(&a.x) + b.y.cross(&a.y);
        self.angle_of([s, c], [of_s, of_c])
    }

    /// Angle atan2(s, c) with these gradients by the angular velocity of b against a. Its rate is not known: differences of
    /// rows are taken where it is asked for.
    fn angle_of(&self, [s, c]: [f64; 2], [of_s, of_c]: [Vector3<f64>; 2]) -> Measure {
        let square = s * s + c * c;
        // with opposite z axes there is no angle: any axis will do
        let turn = if square > OPPOSITE_AXES { (c * of_s - s * of_c) / square } else { self.frame_a.z };
        let turn = Gradient::turning(turn);
        Measure { value: s.atan2(c), of_a: -turn, of_b: turn, rate: f64::NAN }
    }

    /// Angles of a cross: about z of frame a to x of frame b, and about that to z of frame b.
    fn cross_angle(&self, axis: usize) -> Measure {
        let (a, b) = (&self.frame_a, &self.frame_b);
        let [sine, cosine] = match axis {
            0 => [(&a.y, &b.x), (&a.x, &b.x)],
            _ => [(&a.z, &b.y), (&a.z, &b.z)],
        };
        let value = |(of_a, of_b): (&Vector3<f64>, &Vector3<f64>)| of_a.dot(of_b);
        let gradient = |(of_a, of_b): (&Vector3<f64>, &Vector3<f64>)| of_b.cross(of_a);
        self.angle_of([value(sine), value(cosine)], [gradient(sine), gradient(cosine)])
    }

    /// Angle between the z axes, from 0 to π. Where they are one, its gradient is along any axis across them.
    fn bend(&self) -> Measure {
        let (a, b) = (&self.frame_a.z, &self.frame_b.z);
        let normal = a.cross(b);
        let sine = normal.norm();
        let turn = if sine * sine > OPPOSITE_AXES { normal / sine } else { self.frame_a.x };
        let turn = Gradient::turning(turn);
        Measure { value: sine.atan2(a.dot(b)), of_a: -turn, of_b: turn, rate: f64::NAN }
    }

    /// Advance of a screw beyond that of its angle [m].
    fn advance(&self, pitch: f64, memory: &JointMemory) -> Measure {
        let (travel, angle) = (self.apart_in_a(&self.frame_a.z), self.angle());
        let lead = pitch / TAU;
        let (turn_a, turn_b) = (lead * angle.of_a, lead * angle.of_b);
        let less = |a: Gradient, b: Gradient| Gradient {
            linear: a.linear - b.linear,
            angular: a.angular - b.angular,
        };
        Measure {
            value: travel.value - lead * memory.counted(angle.value),
            of_a: less(travel.of_a, turn_a),
            of_b: less(travel.of_b, turn_b),
            rate: f64::NAN,
        }
    }

    /// Joint coordinate, and metres of its row per unit of it: `length` for an angle [m/rad], else 1.
    fn coordinate(&self, layout: &JointLayout<Spatial>, memory: &JointMemory) -> Option<(Measure, f64)> {
        let frame = &self.frame_a;
        let mut measure = match (layout.joint.kind, layout.axis) {
            (JointKind::Revolute | JointKind::Screw(_), 0)
            | (JointKind::Cylindrical | JointKind::Spherical, 1)
            | (JointKind::Planar, 2) => self.angle(),
            (JointKind::Spherical, 0) => self.bend(),
            (JointKind::Universal, axis) => self.cross_angle(axis),
            (JointKind::Prismatic | JointKind::Cylindrical, 0) | (JointKind::Screw(_), 1) => {
                self.apart_in_a(&frame.z)
            }
            (JointKind::Planar, axis) => self.apart_in_a(if axis == 0 { &frame.x } else { &frame.y }),
            (JointKind::Distance(_), _) => self.distance(),
            _ => return None,
        };
        let is_angular = layout.joint.kind.is_angular(layout.axis);
        measure.value = memory.counted(measure.value);
        Some((measure, if is_angular { layout.length } else { 1.0 }))
    }

    /// Distance of the origins; of coincident ones along z of frame a.
    fn distance(&self) -> Measure {
        let d = self.frame_b.origin - self.frame_a.origin;
        let length = d.norm();
        let axis = if length > 0.0 { d / length } else { self.frame_a.z };
        let rate = |_: &[Twist; 2]| {
            let [velocity, acceleration] = &self.apart;
            let across = velocity - axis * axis.dot(velocity);
            axis.dot(acceleration) + across.norm_squared() / length
        };
        Measure { value: length, rate: self.twists.as_ref().map_or(0.0, rate), ..self.apart(&axis) }
    }
}

/// Writes the rows of a joint: held motions, lower and upper limit, motor, dry friction. The rates of limits and
/// drives of an angle are NaN.
pub(super) fn rows(
    layout: &JointLayout<Spatial>,
    bodies: [&Placement<Spatial>; 2],
    twists: Option<[Twist; 2]>,
    memory: JointMemory,
    out: &mut JointRowWriter,
) {
    let ([a, b], JointLayout { id, joint, length, .. }) = (bodies, layout);
    // a joint between bodies without velocities has no rows
    if bodies.iter().all(|body| body.freedom == Freedom::None) {
        return;
    }
    let pair = Pair::new(layout, bodies, twists);
    let mut add = |measure: &Measure, target: f64, sign: f64, kind: RowKind| {
        let (of_a, of_b) = (sign * measure.of_a, sign * measure.of_b);
        let (error, drift) = (sign * (measure.value - target), a.drift(&of_a) + b.drift(&of_b));
        let rate = sign * measure.rate;
        out.add(*id, [error, drift], kind, rate, |terms| add_terms((a, &of_a), (b, &of_b), terms));
    };
    let rigid = RowKind::Rigid(joint.compliance);
    if layout.axis > 0 {
        return free_coordinate_rows(layout, &pair, &memory, &mut add);
    }
    let mut hold = |measure: Measure| add(&measure, 0.0, 1.0, rigid);
    let turn = |of_a: &Vector3<f64>, of_b: &Vector3<f64>| pair.cosine(of_a, of_b).scaled(*length);
    let (fa, fb) = (&pair.frame_a, &pair.frame_b);

    // origins
    match joint.kind {
        JointKind::Spherical | JointKind::Revolute | JointKind::Universal | JointKind::Fixed => {
            [Vector3::x(), Vector3::y(), Vector3::z()].iter().for_each(|axis| hold(pair.apart(axis)));
        }
        JointKind::Prismatic | JointKind::Cylindrical => {
            [fa.x, fa.y].iter().for_each(|axis| hold(pair.apart_in_a(axis)));
        }
        JointKind::Screw(pitch) => {
            [fa.x, fa.y].iter().for_each(|axis| hold(pair.apart_in_a(axis)));
            hold(pair.advance(pitch, &memory));
        }
        JointKind::Planar => hold(pair.apart_in_a(&fa.z)),
        JointKind::Distance(_) => {}
    }

    // axes
    match joint.kind {
        JointKind::Revolute | JointKind::Cylindrical | JointKind::Screw(_) | JointKind::Planar => {
            hold(turn(&fa.x, &fb.z));
            hold(turn(&fa.y, &fb.z));
        }
        JointKind::Prismatic | JointKind::Fixed => {
            hold(turn(&fa.x, &fb.y));
            hold(turn(&fa.y, &fb.z));
            hold(turn(&fa.z, &fb.x));
        }
        JointKind::Universal => hold(turn(&fa.z, &fb.x)),
        JointKind::Spherical | JointKind::Distance(_) => {}
    }

    // joint coordinate, where it is limited, driven or held; [rad] become [m] at the length of the joint
    if let (None, JointKind::Distance(distance)) = (joint.limits, joint.kind) {
        return add(&pair.distance(), distance, 1.0, rigid);
    }
    free_coordinate_rows(layout, &pair, &memory, &mut add);
}

/// Rows of a coordinate that is not held, where it is limited or driven.
fn free_coordinate_rows(
    layout: &JointLayout<Spatial>,
    pair: &Pair,
    memory: &JointMemory,
    add: &mut impl FnMut(&Measure, f64, f64, RowKind),
) {
    let (joint, motor) = (&layout.joint, memory.motor);
    let is_free =
        joint.limits.is_none() && motor.is_none_or(|motor| motor.is_actuator()) && !(joint.friction > 0.0);
    if is_free {
        return;
    }
    if let Some((coordinate, unit)) = pair.coordinate(layout, memory) {
        coordinate_rows((joint, motor), &coordinate.scaled(unit), unit, add);
    }
}

/// Rows of the joint coordinate: limits, motor, dry friction.
fn coordinate_rows(
    (joint, motor): (&Joint, Option<Motor>),
    coordinate: &Measure,
    unit: f64,
    add: &mut impl FnMut(&Measure, f64, f64, RowKind),
) {
    if let Some([lower, upper]) = joint.limits {
        if joint.has_lower_limit() {
            add(coordinate, unit * lower, 1.0, RowKind::Limit);
        }
        if upper.is_finite() {
            add(coordinate, unit * upper, -1.0, RowKind::Limit);
        }
    }
    let drive = |speed: f64, force: f64| RowKind::Drive { speed: unit * speed, force: force / unit };
    match motor {
        Some(Motor::Velocity { speed, force }) => add(coordinate, 0.0, 1.0, drive(speed, force)),
        Some(Motor::Position { target, gain, force }) => {
            let speed = gain * (target - coordinate.value / unit);
            add(coordinate, unit * target, 1.0, drive(speed, force));
        }
        // forces, not rows
        Some(Motor::Torque { .. } | Motor::Servo { .. }) | None => {}
    }
    if joint.friction > 0.0 {
        add(coordinate, 0.0, 1.0, drive(0.0, joint.friction));
    }
}

/// Joint coordinate with its row: see [`JointKind`].
pub(super) fn coordinate(
    layout: &JointLayout<Spatial>,
    [a, b]: [&Placement<Spatial>; 2],
    memory: JointMemory,
) -> Option<JointCoordinate> {
    let (measure, scale) = Pair::new(layout, [a, b], None).coordinate(layout, &memory)?;
    let Measure { of_a, of_b, .. } = measure.scaled(scale);
    let row = row((a, &of_a), (b, &of_b));
    Some(JointCoordinate { value: measure.value, scale, row, rate: f64::NAN })
}
