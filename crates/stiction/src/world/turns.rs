//! Turns of joints in space. A quaternion does not tell how often a body has turned, so the state holds the angle at the
//! last step beside the poses, after the inputs, where turns matter: in couplings, screws, springs, servos and wide limits.

use super::World;
use super::body::Motion;
use super::dimension::{Dimension, KindOfJoint};
use super::formulas::Formulas;
use super::joint::{Joint, Motor};
use super::joint_rows::JointCoordinate;
use super::layout::{JointLayout, Layout};
use super::model::ModelIn;
use crate::id::{BodyId, CoordinateId};
use crate::state::State;
use std::f64::consts::PI;

/// Coordinates whose turns the state counts, in the order of their places in q.
pub(super) fn counted<D: Dimension>(world: &World<D>) -> impl Iterator<Item = CoordinateId> + '_ {
    let joints = world.joints().filter(|_| D::COUNT == 3);
    joints.flat_map(move |(id, joint)| {
        let axes = 0..joint.kind.coordinates();
        axes.map(move |axis| id.axis(axis)).filter(move |id| needs_turns(world, joint, *id))
    })
}

/// `true` where an angle of space must count turns.
fn needs_turns<D: Dimension>(world: &World<D>, joint: &Joint<D>, id: CoordinateId) -> bool {
    if !joint.kind.counts_turns(id.axis) || !may_count(world, joint) {
        return false;
    }
    let own = joint.seen_from(id.axis);
    let wide = |[lower, upper]: [f64; 2]| lower < -PI || upper > PI;
    let holds = |motor: Motor| matches!(motor, Motor::Servo { .. } | Motor::Position { .. });
    joint.kind.pitch().is_some()
        || own.spring.is_some()
        || own.limits.is_some_and(wide)
        || own.motor.is_some_and(holds)
        || world.couplings().any(|(_, coupling)| coupling.terms.iter().any(|term| term.0 == id))
}

/// `true` where turns can be counted: neither body is kinematic.
pub(super) fn may_count<D: Dimension>(world: &World<D>, joint: &Joint<D>) -> bool {
    let is_kinematic =
        |id: BodyId| world.body(id).is_some_and(|body| matches!(body.motion, Motion::Kinematic(_)));
    !is_kinematic(joint.a) && !is_kinematic(joint.b)
}

impl<D: Formulas> Layout<D> {
    /// Joint coordinate at (t, q).
    pub(super) fn coordinate(
        &self,
        joint: &JointLayout<D>,
        (t, q): (f64, &[f64]),
    ) -> Option<JointCoordinate> {
        let [a, b] = joint.bodies.map(|i| self.bodies[i].place(t, q));
        D::joint_coordinate(joint, [&a, &b], joint.memory(t, q))
    }

    /// Brings the angles of the last step up to date with the poses.
    pub(super) fn count_turns(&self, q: &mut [f64]) {
        for joint in &self.joints {
            // the time does not matter: no body is kinematic
            if let Some(at) = joint.turn.filter(|at| *at < q.len())
                && let Some(coordinate) = self.coordinate(joint, (0.0, q))
            {
                q[at] = coordinate.value;
            }
        }
    }

    /// Appends the angles at the start, between −π and π.
    pub(super) fn add_turns(&self, state: &mut State) {
        state.q.resize(self.coordinates, 0.0);
        self.count_turns(&mut state.q);
    }
}

impl<D: Formulas> ModelIn<D> {
    /// Takes the turns of joints from a state before an edit.
    pub(super) fn take_turns(&self, next: &mut State, before: &Self, state: &State) {
        for joint in &self.layout.joints {
            let same = |old: &&JointLayout<D>| (old.id, old.axis) == (joint.id, joint.axis);
            let old = before.layout.joints.iter().find(same).and_then(|old| old.turn);
            if let (Some(at), Some(old)) = (joint.turn, old) {
                next.q[at] = state.q[old];
            }
        }
        self.layout.count_turns(&mut next.q);
    }
}
