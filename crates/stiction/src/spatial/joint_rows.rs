//! The rows of a joint: each Θ an exact function of the configuration, each row its exact gradient.

use super::body::Twist;
use super::joint::{JointKind, Motor};
use super::placed::{Freedom, Gradient, Placed, Terms, add_terms};
use super::tables::JointTable;
use crate::system::{JointRow, RowKind};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use stiction_lcp::Row;

/// A joint's frame in the world.
struct Frame {
    origin: Point3<f64>,
    x: Vector3<f64>,
    y: Vector3<f64>,
    z: Vector3<f64>,
}

impl Frame {
    fn new(body: &Placed, frame: &Isometry3<f64>, turn: &Matrix3<f64>) -> Self {
        let origin = body.pose.translation.vector + body.turn * frame.translation.vector;
        let axes = body.turn * turn;
        let axis = |k: usize| axes.column(k).into_owned();
        Self { origin: origin.into(), x: axis(0), y: axis(1), z: axis(2) }
    }
}

/// A function of the configuration of two bodies and its gradients.
struct Measure {
    value: f64,
    of_a: Gradient,
    of_b: Gradient,
    /// How fast its speed changes at constant velocities, where the motion of the bodies is known.
    rate: f64,
}

impl Measure {
    /// The same multiplied by a length.
    fn scaled(&self, s: f64) -> Self {
        Self { value: s * self.value, of_a: s * self.of_a, of_b: s * self.of_b, rate: s * self.rate }
    }
}

/// The two bodies of a joint at an instant.
struct Pair<'a> {
    a: &'a Placed,
    b: &'a Placed,
    frame_a: Frame,
    frame_b: Frame,
    /// How the bodies move, at constant linear velocities of their centres and constant angular velocities, in the
    /// world and in the body alike.
    motion: Option<[Twist; 2]>,
    /// Velocity and acceleration of the origin of b against that of a; zero where the motion is not known.
    apart: [Vector3<f64>; 2],
}

/// Velocity and acceleration of the point of a body now at `point`, at constant velocities of the body.
fn moving(body: &Placed, twist: &Twist, point: &Point3<f64>) -> [Vector3<f64>; 2] {
    let turning = twist.angular.cross(&(point - body.centre));
    [twist.linear + turning, twist.angular.cross(&turning)]
}

impl<'a> Pair<'a> {
    fn new(table: &JointTable, a: &'a Placed, b: &'a Placed, motion: Option<[Twist; 2]>) -> Self {
        let JointTable { joint, turns, .. } = table;
        let frame_a = Frame::new(a, &joint.frame_a, &turns[0]);
        let frame_b = Frame::new(b, &joint.frame_b, &turns[1]);
        let apart = motion.as_ref().map_or_else(Default::default, |[of_a, of_b]| {
            let of_a = moving(a, of_a, &frame_a.origin);
            let of_b = moving(b, of_b, &frame_b.origin);
            [of_b[0] - of_a[0], of_b[1] - of_a[1]]
        });
        Self { a, b, frame_a, frame_b, motion, apart }
    }

    /// The distance of the origins along a world axis.
    #[inline]
    fn apart(&self, axis: &Vector3<f64>) -> Measure {
        Measure {
            value: axis.dot(&(self.frame_b.origin - self.frame_a.origin)),
            of_a: -self.a.along(axis, &self.frame_a.origin),
            of_b: self.b.along(axis, &self.frame_b.origin),
            rate: axis.dot(&self.apart[1]),
        }
    }

    /// The same along an axis that turns with a: the point of a that is where b's origin is moves with it.
    fn apart_in_a(&self, axis: &Vector3<f64>) -> Measure {
        // n·d has the second derivative n̈·d + 2 ṅ·ḋ + n·d̈
        let rate = |motion: &[Twist; 2]| {
            let (turn, apart) = (motion[0].angular, self.frame_b.origin - self.frame_a.origin);
            let [velocity, acceleration] = &self.apart;
            let turning = turn.cross(axis);
            turn.cross(&turning).dot(&apart) + 2.0 * turning.dot(velocity) + axis.dot(acceleration)
        };
        Measure {
            of_a: -self.a.along(axis, &self.frame_b.origin),
            rate: self.motion.as_ref().map_or(0.0, rate),
            ..self.apart(axis)
        }
    }

    /// a·b of an axis of each body: d/dt = (ω_b − ω_a) · (b × a).
    fn cosine(&self, of_a: &Vector3<f64>, of_b: &Vector3<f64>) -> Measure {
        let turn = Gradient::turning(of_b.cross(of_a));
        let rate = |[a, b]: &[Twist; 2]| {
            let (a, b) = (a.angular, b.angular);
            (b - a).dot(&(b.cross(of_b).cross(of_a) + of_b.cross(&a.cross(of_a))))
        };
        let rate = self.motion.as_ref().map_or(0.0, rate);
        Measure { value: of_a.dot(of_b), of_a: -turn, of_b: turn, rate }
    }

    /// The angle of frame b about z of frame a: atan2(s, c) with s = y_a·x_b − x_a·y_b, c = x_a·x_b + y_a·y_b,
    /// which is the exact angle when the z axes are one and smooth unless they are opposite.
    fn angle(&self) -> Measure {
        let (a, b) = (&self.frame_a, &self.frame_b);
        let (s, c) = (a.y.dot(&b.x) - a.x.dot(&b.y), a.x.dot(&b.x) + a.y.dot(&b.y));
        let of_s = b.x.cross(&a.y) - b.y.cross(&a.x);
        let of_c = b.x.cross(&a.x) + b.y.cross(&a.y);
        let square = s * s + c * c;
        // with opposite z axes there is no angle; z is as good as any
        let turn = if square > 1e-20 { (c * of_s - s * of_c) / square } else { a.z };
        let turn = Gradient::turning(turn);
        // limits and drives, which are not asked for it
        Measure { value: s.atan2(c), of_a: -turn, of_b: turn, rate: f64::NAN }
    }

    /// The distance of the origins; of coincident ones along z of frame a.
    fn distance(&self) -> Measure {
        let d = self.frame_b.origin - self.frame_a.origin;
        let length = d.norm();
        let axis = if length > 0.0 { d / length } else { self.frame_a.z };
        let rate = |_: &[Twist; 2]| {
            let [velocity, acceleration] = &self.apart;
            let across = velocity - axis * axis.dot(velocity);
            axis.dot(acceleration) + across.norm_squared() / length
        };
        Measure { value: length, rate: self.motion.as_ref().map_or(0.0, rate), ..self.apart(&axis) }
    }
}

/// Rows that are made where they stay, in place of earlier ones: they are large to be moved about.
pub(super) struct Rows<'a> {
    rows: &'a mut Vec<JointRow>,
    made: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn in_place_of(rows: &'a mut Vec<JointRow>) -> Self {
        Self { rows, made: 0 }
    }

    /// Makes the next row, whose terms `fill` adds.
    fn add(&mut self, joint: u32, [error, drift]: [f64; 2], kind: RowKind, fill: impl FnOnce(&mut Terms)) {
        if let Some(made) = self.rows.get_mut(self.made)
            && let Row::Bodies(terms) = &mut made.row
        {
            (made.joint, made.error, made.drift, made.kind) = (joint, error, drift, kind);
            terms.clear();
            fill(terms);
        } else {
            let mut terms = Terms::new();
            fill(&mut terms);
            self.rows.truncate(self.made);
            self.rows.push(JointRow { joint, row: Row::Bodies(terms), error, drift, kind });
        }
        self.made += 1;
    }
}

impl Drop for Rows<'_> {
    /// Those that were not replaced go.
    fn drop(&mut self) {
        self.rows.truncate(self.made);
    }
}

/// Appends the rows of a joint.
pub(super) fn rows(table: &JointTable, a: &Placed, b: &Placed, out: &mut Rows) {
    make(table, (a, b, None), out, |_| ());
}

/// The same, and how fast the speed of each row changes at constant velocities of the bodies, which move like this
/// [m/s²]; not a number for limits and drives of an angle.
pub(super) fn rows_and_rates(
    table: &JointTable,
    (a, b, motion): (&Placed, &Placed, [Twist; 2]),
    (out, rates): (&mut Rows, &mut Vec<f64>),
) {
    make(table, (a, b, Some(motion)), out, |rate| rates.push(rate));
}

fn make(
    table: &JointTable,
    (a, b, motion): (&Placed, &Placed, Option<[Twist; 2]>),
    out: &mut Rows,
    mut keep_rate: impl FnMut(f64),
) {
    let &JointTable { id, ref joint, length, .. } = table;
    // a joint between bodies without velocities has no rows
    if [a, b].iter().all(|body| body.freedom == Freedom::None) {
        return;
    }
    let pair = Pair::new(table, a, b, motion);
    let mut add = |measure: &Measure, target: f64, sign: f64, kind: RowKind| {
        let (of_a, of_b) = (sign * measure.of_a, sign * measure.of_b);
        let (error, drift) = (sign * (measure.value - target), a.drift(&of_a) + b.drift(&of_b));
        out.add(id.0, [error, drift], kind, |terms| add_terms(a, &of_a, b, &of_b, terms));
        keep_rate(sign * measure.rate);
    };
    let rigid = RowKind::Rigid(joint.compliance);
    let mut hold = |measure: Measure| add(&measure, 0.0, 1.0, rigid);
    let turn = |of_a: &Vector3<f64>, of_b: &Vector3<f64>| pair.cosine(of_a, of_b).scaled(length);
    let (fa, fb) = (&pair.frame_a, &pair.frame_b);

    // the origins
    match joint.kind {
        JointKind::Spherical | JointKind::Revolute | JointKind::Universal | JointKind::Fixed => {
            [Vector3::x(), Vector3::y(), Vector3::z()].iter().for_each(|axis| hold(pair.apart(axis)));
        }
        JointKind::Prismatic | JointKind::Cylindrical => {
            [fa.x, fa.y].iter().for_each(|axis| hold(pair.apart_in_a(axis)));
        }
        JointKind::Planar => hold(pair.apart_in_a(&fa.z)),
        JointKind::Distance(_) => {}
    }

    // the axes
    match joint.kind {
        JointKind::Revolute | JointKind::Cylindrical | JointKind::Planar => {
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

    // the coordinate, where something asks for it; [rad] become [m] at the joint's length
    let is_free = joint.limits.is_none() && joint.motor.is_none() && !(joint.friction > 0.0);
    if is_free && !matches!(joint.kind, JointKind::Distance(_)) {
        return;
    }
    let (coordinate, unit) = match joint.kind {
        JointKind::Revolute => (pair.angle().scaled(length), length),
        JointKind::Prismatic | JointKind::Cylindrical => (pair.apart_in_a(&fa.z), 1.0),
        JointKind::Distance(_) => (pair.distance(), 1.0),
        _ => return,
    };
    match (joint.limits, joint.kind) {
        (Some([least, greatest]), kind) => {
            // a length is never negative, and its row has no direction at 0
            let needless = matches!(kind, JointKind::Distance(_)) && least <= 0.0;
            if least.is_finite() && !needless {
                add(&coordinate, unit * least, 1.0, RowKind::Limit);
            }
            if greatest.is_finite() {
                add(&coordinate, unit * greatest, -1.0, RowKind::Limit);
            }
        }
        (None, JointKind::Distance(distance)) => return add(&coordinate, distance, 1.0, rigid),
        (None, _) => {}
    }
    let drive = |speed: f64, force: f64| RowKind::Drive { speed: unit * speed, force: force / unit };
    match joint.motor {
        Some(Motor::Velocity { speed, force }) => add(&coordinate, 0.0, 1.0, drive(speed, force)),
        Some(Motor::Position { target, gain, force }) => {
            let speed = gain * (target - coordinate.value / unit);
            add(&coordinate, unit * target, 1.0, drive(speed, force));
        }
        None => {}
    }
    if joint.friction > 0.0 {
        add(&coordinate, 0.0, 1.0, drive(0.0, joint.friction));
    }
}

/// The joint coordinate: angle [rad], travel or length [m].
pub(super) fn coordinate(table: &JointTable, a: &Placed, b: &Placed) -> Option<f64> {
    let pair = Pair::new(table, a, b, None);
    match table.joint.kind {
        JointKind::Revolute => Some(pair.angle().value),
        JointKind::Prismatic | JointKind::Cylindrical => Some(pair.apart_in_a(&pair.frame_a.z).value),
        JointKind::Distance(_) => Some(pair.distance().value),
        _ => None,
    }
}
