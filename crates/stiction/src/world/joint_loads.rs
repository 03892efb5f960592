//! Loads of joints in the units of engineers: force and moment at the joint frame, motor torque, coordinate and speed, from
//! the impulses of joint rows. For reports and exported tables.

use super::dimension::RigidPose;
use super::formulas::Formulas;
use super::joint_rows::{JointMemory, JointRowWriter};
use super::layout::JointLayout;
use super::model::ModelIn;
use super::placement::{Freedom, Placement};
use crate::id::{BodyId, JointId};
use crate::report::{JointReport, StepReport};
use crate::state::State;
use crate::system::{JointRow, RowKind};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use stiction_lcp::Row;

/// Load and motion of a joint: means over a step, or in a run to an accuracy the values at the end of it.
#[derive(Debug, Clone, PartialEq)]
pub struct JointLoad {
    /// Joint.
    pub joint: JointId,
    /// Name of the joint.
    pub name: String,
    /// First and second body.
    pub bodies: [BodyId; 2],
    /// Origin of the joint frame in the second body [m].
    pub point: [f64; 3],
    /// Orientation of the joint frame in the first body: unit quaternion, w first.
    pub frame: [f64; 4],
    /// Force of the first body on the second [N], along the axes of the world: of all rows of the joint together, held
    /// motions, limits, motor and dry friction.
    pub force: [f64; 3],
    /// Moment of the first body on the second about the point [N m], along the axes of the world.
    pub moment: [f64; 3],
    /// Torque or force of the motor along the coordinate [N m; N].
    pub motor: f64,
    /// Torque or force of the spring and damper along the coordinate [N m; N].
    pub spring: f64,
    /// Torque or force of dry friction along the coordinate [N m; N].
    pub friction: f64,
    /// Torque or force of the limits along the coordinate [N m; N].
    pub limit: f64,
    /// Joint coordinate [rad; m].
    pub coordinate: Option<f64>,
    /// Speed of the joint coordinate [rad/s; m/s].
    pub speed: Option<f64>,
    /// Loads along the further coordinates on which something acts, which are not in those above: the number of the
    /// coordinate, and motor, spring, friction and limit.
    pub further: Vec<(usize, [f64; 4])>,
}

impl JointLoad {
    /// Force of the first body on the second [N], along the axes of the joint frame in the first body.
    pub fn force_in_frame(&self) -> [f64; 3] {
        self.in_frame(self.force)
    }

    /// Moment of the first body on the second about the point [N m], along the axes of the joint frame in the first body.
    pub fn moment_in_frame(&self) -> [f64; 3] {
        self.in_frame(self.moment)
    }

    fn in_frame(&self, vector: [f64; 3]) -> [f64; 3] {
        let [w, i, j, k] = self.frame;
        let frame = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
        frame.inverse_transform_vector(&Vector3::from(vector)).into()
    }
}

/// Impulse of a joint: linear, and angular about the point of the joint.
#[derive(Debug, Default)]
struct JointImpulse {
    linear: Vector3<f64>,
    angular: Vector3<f64>,
}

impl JointImpulse {
    /// Adds `p` times the unit impulse along the term of the second body, which is at `lever` from its centre.
    fn add<D: Formulas>(&mut self, second: &Placement<D>, lever: &Vector3<f64>, row: &Row, p: f64) {
        let wrench = D::term_wrench(second, &second_term(row));
        let (force, torque) = (Vector3::from(D::xyz(&wrench.force)), D::axial(&wrench.torque));
        self.linear += p * force;
        self.angular += p * (Vector3::from(torque) - lever.cross(&force));
    }
}

impl<D: Formulas> ModelIn<D> {
    /// Loads of all joints in a step, in the order of their numbers: those of `report`, with directions at `state`, which
    /// is the state after the step. They are exact in a run to an accuracy. In a step of size h the directions are those at
    /// its end, while impulses act within it: a force that turns with a body is off by the angle of the turn, O(h). Torque
    /// motors, servos and springs are those at the end. Empty
    /// for a report of another model, or without joint rows.
    pub fn joint_loads(&self, state: &State, report: &StepReport) -> Vec<JointLoad> {
        if !self.fits(state) || !(report.h > 0.0) {
            return Vec::new();
        }
        let load = |first: &JointLayout<D>| {
            let own: Vec<&JointReport> = report.joints.iter().filter(|row| row.joint == first.id).collect();
            self.joint_load(first, state, &own, report.h)
        };
        self.layout.joints.iter().filter(|layout| layout.axis == 0).filter_map(load).collect()
    }

    /// Load of a joint from the impulses of its rows; `None` where these are not its rows.
    fn joint_load(
        &self,
        first: &JointLayout<D>,
        state: &State,
        reports: &[&JointReport],
        h: f64,
    ) -> Option<JointLoad> {
        let JointLayout { id, joint, bodies, .. } = first;
        let placements = bodies.map(|i| self.layout.bodies[i].place(state.t, &state.q));
        let axes: Vec<&JointLayout<D>> =
            self.layout.joints.iter().filter(|layout| layout.id == *id).collect();
        let rows = rigid_rows::<D>(&axes, &placements, reports.len());
        if rows.iter().map(Vec::len).sum::<usize>() != reports.len() {
            return None;
        }
        let point = D::pose(&self.layout.bodies[bodies[1]], &placements[1]).times(&joint.frame_b).origin();
        let frame_a = D::pose(&self.layout.bodies[bodies[0]], &placements[0]).times(&joint.frame_a);
        let lever = Vector3::from(D::xyz(&(D::Point::from(point) - placements[1].centre)));
        let mut sum = JointImpulse::default();
        let (mut along, mut reports) = (Vec::new(), reports.iter());
        for (layout, rows) in axes.iter().zip(&rows) {
            let coordinate = self.layout.coordinate(layout, (state.t, &state.q));
            let scale = coordinate.as_ref().map_or(1.0, |c| c.scale);
            let [mut motor, mut spring, mut friction, mut limit] = [0.0; 4];
            let (mut limits, mut drives) = (0, 0);
            let has_lower = layout.joint.has_lower_limit();
            for (row, report) in rows.iter().zip(&mut reports) {
                let p = report.impulse;
                sum.add::<D>(&placements[1], &lever, &row.row, p);
                match row.kind {
                    RowKind::Rigid(_) => {}
                    RowKind::Limit => {
                        limits += 1;
                        // the row of an upper limit is that of the coordinate reversed
                        limit += if limits == 1 && has_lower { scale * p } else { -scale * p };
                    }
                    RowKind::Drive { .. } => {
                        drives += 1;
                        let is_motor = drives == 1 && layout.joint.motor.is_some_and(|m| !m.is_actuator());
                        *(if is_motor { &mut motor } else { &mut friction }) += scale * p;
                    }
                }
            }
            if let Some(c) = coordinate.as_ref().filter(|_| layout.has_actuator()) {
                let [mut of_a, mut of_b] = placements;
                (of_a.freedom, of_b.freedom) = (Freedom::Rigid(0), Freedom::Rigid(1));
                let memory = layout.memory(state.t, &state.q);
                let unit = D::joint_coordinate(layout, [&of_a, &of_b], memory)?.row.into_row();
                let speed = scale * self.joint_speed(state, id.axis(layout.axis))?;
                let forces = layout.actuator_forces((state.t, &state.q), c, speed);
                sum.add::<D>(&placements[1], &lever, &unit, h * (forces[0] + forces[1]) / scale);
                motor += h * forces[0];
                spring = h * forces[1];
            }
            along.push((layout.axis, [motor, spring, friction, limit].map(|impulse| impulse / h)));
        }
        let per_second = |impulse: Vector3<f64>| (impulse / h).into();
        let (_, [motor, spring, friction, limit]) = along.remove(0);
        Some(JointLoad {
            joint: *id,
            name: joint.name.clone(),
            bodies: [joint.a, joint.b],
            point: D::xyz(&point),
            frame: D::pose_in_space(&frame_a).1,
            force: per_second(sum.linear),
            moment: per_second(sum.angular),
            motor,
            spring,
            friction,
            limit,
            coordinate: self.joint_coordinate(state, *id),
            speed: self.joint_speed(state, *id),
            further: along,
        })
    }
}

/// Rows of the coordinates of a joint as if both of its bodies were rigid, so that each term is a whole wrench. Of angular
/// rows that the model leaves out, because neither body turns, there are none: it has `count` rows.
fn rigid_rows<D: Formulas>(
    axes: &[&JointLayout<D>],
    placements: &[Placement<D>; 2],
    count: usize,
) -> Vec<Vec<JointRow>> {
    let [mut a, mut b] = *placements;
    (a.freedom, b.freedom) = (Freedom::Rigid(0), Freedom::Rigid(1));
    let of_axis = |layout: &&JointLayout<D>| {
        let mut rows = Vec::new();
        let memory = JointMemory { motor: layout.joint.motor, turn: None };
        D::joint_rows(layout, [&a, &b], None, memory, &mut JointRowWriter::replacing(&mut rows, None));
        rows
    };
    let mut rows: Vec<Vec<JointRow>> = axes.iter().map(of_axis).collect();
    if rows.iter().map(Vec::len).sum::<usize>() != count {
        let pulls = |row: &JointRow| second_term(&row.row)[..D::COUNT].iter().any(|x| *x != 0.0);
        rows.iter_mut().for_each(|rows| rows.retain(pulls));
    }
    rows
}

/// Coefficients of the second body in a row of [`rigid_rows`].
fn second_term(row: &Row) -> [f64; 6] {
    let Row::Bodies(terms) = row else { return [0.0; 6] };
    terms.iter().find(|term| term.body == 1).map_or([0.0; 6], |term| term.j)
}
