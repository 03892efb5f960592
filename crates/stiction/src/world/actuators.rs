//! Motors and springs of joint coordinates as applied forces, and the inputs that command motors.
//!
//! Inputs are data: their values follow the positions in q, so that they are recorded, verified, restored and copied with
//! the state. No motion changes them; [`Simulation::set`] does.

use super::World;
use super::coupling::CouplingLayout;
use super::dimension::Dimension;
use super::force::Force;
use super::formulas::Formulas;
use super::joint::{Command, Joint, JointSpring, Motor};
use super::joint_rows::{JointCoordinate, JointMemory};
use super::layout::JointLayout;
use super::model::ModelIn;
use crate::error::InputError;
use crate::id::{CoordinateId, ForceId, InputId};
use crate::jacobian::ForceJacobian;
use crate::simulate::Simulation;
use crate::state::State;
use crate::system::{Actuator, ActuatorTarget, Forces, System, add_actuators, differences};

/// Part of a world that an input commands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum InputOwner {
    Joint(CoordinateId),
    Force(ForceId),
}

/// Input of a motor or force.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ModelInput {
    pub(super) owner: InputOwner,
    pub(super) name: String,
    /// Value at the start.
    pub(super) value: f64,
}

/// Inputs of a world: in the order of its joints, then of its forces. A servo has three: its target, the speed of the target,
/// and its torque.
pub(super) fn inputs<D: Dimension>(world: &World<D>) -> impl Iterator<Item = ModelInput> + '_ {
    let axes =
        world.joints().flat_map(|(id, joint)| (0..=joint.further.len()).map(move |k| (id.axis(k), joint)));
    let of_forces = world.forces().filter_map(|(id, force)| match force {
        Force::Commanded { input, value, .. } => {
            Some(ModelInput { owner: InputOwner::Force(id), name: input.clone(), value: *value })
        }
        _ => None,
    });
    let of_joints = axes.flat_map(|(id, joint)| {
        let own = joint.seen_from(id.axis);
        let name = own.input.clone().unwrap_or_else(|| own.name.clone());
        let parts = input_values(&own).into_iter().zip(["", ".speed", ".torque"]);
        let owner = InputOwner::Joint(id);
        parts.map(move |(value, part)| ModelInput { owner, name: format!("{name}{part}"), value })
    });
    of_joints.chain(of_forces)
}

/// Values of the inputs of a joint at the start.
fn input_values<D: Dimension>(joint: &Joint<D>) -> Vec<f64> {
    match joint.motor {
        _ if joint.command.is_some() => Vec::new(),
        Some(Motor::Velocity { speed, .. }) if joint.input.is_some() => vec![speed],
        Some(Motor::Position { target, .. }) if joint.input.is_some() => vec![target],
        Some(Motor::Torque { torque, .. }) => vec![torque],
        Some(Motor::Servo { target, speed, torque, .. }) => vec![target, speed, torque],
        _ => Vec::new(),
    }
}

impl<D: Formulas> JointLayout<D> {
    /// Motor with its command at an instant.
    pub(super) fn motor_at(&self, t: f64, q: &[f64]) -> Option<Motor> {
        let mut motor = self.joint.motor?;
        let prescribed = |Command(path): &Command| {
            let [value, rate] = path(t);
            [Some(value), Some(rate), None]
        };
        let input = |k: usize| self.first_input.and_then(|first| q.get(first + k).copied());
        let [value, rate, force] =
            self.joint.command.as_ref().map_or_else(|| [input(0), input(1), input(2)], prescribed);
        let set = |target: &mut f64, value: Option<f64>| *target = value.unwrap_or(*target);
        match &mut motor {
            Motor::Velocity { speed, .. } => set(speed, value),
            Motor::Position { target, .. } => set(target, value),
            Motor::Torque { torque, .. } => set(torque, value),
            Motor::Servo { target, speed, torque, .. } => {
                set(target, value);
                set(speed, rate);
                set(torque, force);
            }
        }
        Some(motor)
    }

    /// Values that a state holds for the joint.
    pub(super) fn memory(&self, t: f64, q: &[f64]) -> JointMemory {
        let turn = self.turn.and_then(|at| q.get(at).copied());
        JointMemory { motor: self.motor_at(t, q), turn }
    }

    /// Actuators of the coordinate: the motor if it is one, and the spring. `c` is the coordinate with its row.
    fn actuators(&self, motor: Option<Motor>, c: &JointCoordinate) -> [Option<Actuator>; 2] {
        let held = |speed: f64| match self.joint.command {
            Some(_) => ActuatorTarget::Path,
            None => ActuatorTarget::Held(c.scale * speed),
        };
        let servo =
            |[target, speed, torque]: [f64; 3], [stiffness, damping]: [f64; 2], limit: f64| Actuator {
                target: held(speed),
                joint: self.id,
                row: c.row.clone().into_row(),
                error: c.scale * (target - c.value),
                speed: c.scale * speed - c.row.drift,
                stiffness: stiffness / (c.scale * c.scale),
                damping: damping / (c.scale * c.scale),
                feedforward: torque / c.scale,
                limit: limit / c.scale,
            };
        let motor = motor.and_then(|motor| match motor {
            Motor::Torque { torque, force } => Some(servo([c.value, 0.0, torque], [0.0; 2], force)),
            Motor::Servo { target, speed, torque, stiffness, damping, force } => {
                Some(servo([target, speed, torque], [stiffness, damping], force))
            }
            Motor::Velocity { .. } | Motor::Position { .. } => None,
        });
        let spring = self.joint.spring.map(|JointSpring { stiffness, damping, rest }| {
            let spring = servo([rest, 0.0, 0.0], [stiffness, damping], f64::INFINITY);
            Actuator { target: ActuatorTarget::Rest, ..spring }
        });
        [motor, spring]
    }

    /// `true` where forces act along the coordinate.
    pub(super) fn has_actuator(&self) -> bool {
        self.joint.spring.is_some() || self.joint.motor.is_some_and(|motor| motor.is_actuator())
    }

    /// Torque or force of the motor and of the spring along the coordinate at a speed of its row [N m; N].
    pub(super) fn actuator_forces(&self, at: (f64, &[f64]), c: &JointCoordinate, speed: f64) -> [f64; 2] {
        let force = |a: Option<Actuator>| a.map_or(0.0, |a| c.scale * a.force(speed - c.row.drift));
        self.actuators(self.motor_at(at.0, at.1), c).map(force)
    }
}

/// Adds the actuators at an instant.
pub(super) fn add_all<D: Formulas>(model: &ModelIn<D>, t: f64, q: &[f64], out: &mut Forces) {
    out.actuators.clear();
    for layout in model.layout.joints.iter().filter(|layout| layout.has_actuator()) {
        if let Some(coordinate) = model.layout.coordinate(layout, (t, q)).filter(|c| !c.row.is_empty()) {
            let own = layout.actuators(layout.motor_at(t, q), &coordinate);
            out.actuators.extend(own.into_iter().flatten());
        }
    }
    let couplings = model.layout.couplings.iter();
    out.actuators.extend(couplings.filter_map(|coupling| coupling.spring(&model.layout, (t, q))));
}

/// `true` where the Jacobian of the actuators is taken by differences: rows that turn with the bodies.
pub(super) fn needs_differences<D: Formulas>(model: &ModelIn<D>) -> bool {
    let turns = |layout: &JointLayout<D>| {
        !(D::COUNT == 2 && super::KindOfJoint::is_angular(&layout.joint.kind, layout.axis))
    };
    let bends =
        |coupling: &CouplingLayout| coupling.is_elastic() && !coupling.has_constant_row(&model.layout);
    model.layout.joints.iter().any(|layout| layout.has_actuator() && turns(layout))
        || model.layout.couplings.iter().any(bends)
}

/// Adds the Jacobian of the actuators at (t, q, v).
pub(super) fn add_jacobian<D: Formulas>(
    model: &ModelIn<D>,
    (t, q, v): (f64, &[f64], &[f64]),
    out: &mut ForceJacobian,
) {
    let mut forces = Forces::default();
    if !needs_differences(model) {
        add_all(model, t, q, &mut forces);
        return add_actuators(model, &forces.actuators, v, out);
    }
    let starts = differences::starts(model);
    let total = |q: &[f64], v: &[f64], k: &mut Vec<f64>| {
        k.clear();
        k.resize(v.len(), 0.0);
        add_all(model, t, q, &mut forces);
        forces
            .actuators
            .iter()
            .for_each(|a| a.row.add_transposed(&starts, a.force(a.row.dot(&starts, v)), k));
    };
    differences::add(model, t, q, v, total, out);
}

/// Potential energy of the springs of joints [J].
pub(super) fn potential<D: Formulas>(model: &ModelIn<D>, t: f64, q: &[f64]) -> f64 {
    let energy = |layout: &JointLayout<D>| {
        let JointSpring { stiffness, rest, .. } = layout.joint.spring?;
        let apart = model.layout.coordinate(layout, (t, q))?.value - rest;
        Some(0.5 * stiffness * apart * apart)
    };
    let elastic = model.layout.couplings.iter().map(|coupling| coupling.energy(&model.layout, (t, q)));
    model.layout.joints.iter().filter_map(energy).chain(elastic).sum()
}

impl<D: Formulas> ModelIn<D> {
    /// Value of the input of a force.
    pub(super) fn commanded(&self, id: ForceId, q: &[f64]) -> f64 {
        let place = self.layout.commanded.iter().find(|own| own.0 == id);
        place.and_then(|own| q.get(own.1).copied()).unwrap_or(0.0)
    }

    /// Names of the inputs, in the order of their numbers.
    pub fn input_names(&self) -> Vec<String> {
        inputs(&self.world).map(|input| input.name).collect()
    }

    /// Input of this name. A name that no input has is an error that suggests the nearest.
    pub fn find_input(&self, name: &str) -> Result<InputId, InputError> {
        let names = self.input_names();
        if let Some(number) = (0..).zip(&names).find(|(_, own)| *own == name).map(|(number, _)| number) {
            return Ok(InputId(number));
        }
        let nearest = names.into_iter().min_by_key(|own| strsim::damerau_levenshtein(own, name));
        Err(InputError::Unknown { name: name.to_string(), nearest })
    }

    /// Value of an input in a state; `None` for a state or an input of another model.
    pub fn input(&self, state: &State, input: InputId) -> Option<f64> {
        let first = self.position_count();
        state.q.get(first + input.0 as usize).copied().filter(|_| self.fits(state))
    }

    /// Sets an input of a state. A value that is not finite is refused.
    pub fn set_input(&self, state: &mut State, input: InputId, value: f64) -> Result<(), InputError> {
        let named = self.input_names().get(input.0 as usize).cloned();
        let unknown = || InputError::Unknown { name: format!("input {}", input.0), nearest: None };
        let name = named.filter(|_| self.fits(state)).ok_or_else(unknown)?;
        if !value.is_finite() {
            return Err(InputError::NotFinite { name, value });
        }
        state.q[self.position_count() + input.0 as usize] = value;
        Ok(())
    }

    /// State with the values that inputs of the same name have in a state of another model.
    pub(super) fn take_inputs(&self, next: &mut State, before: &Self, state: &State) {
        for (k, name) in self.input_names().iter().enumerate() {
            if let Some(value) = before.find_input(name).ok().and_then(|input| before.input(state, input)) {
                next.q[self.position_count() + k] = value;
            }
        }
    }
}

impl<D: Formulas> Simulation<ModelIn<D>> {
    /// Sets an input by its name. Steps from here on use the value until it is set again. On an error nothing is changed.
    ///
    /// ```
    /// # use nalgebra::{Point2, Vector2};
    /// # use stiction::planar::{Body, Joint, Mass, Motor, World};
    /// # use stiction::Simulation;
    /// let mut world = World::new(Vector2::zeros());
    /// let frame = world.add_body(Body::fixed("frame"));
    /// let arm = world.add_body(Body::rigid("arm", Mass::given(1.0, 0.5)));
    /// let hinge = Joint::revolute("elbow", &world, frame, arm, Point2::origin());
    /// world.add_joint(hinge.motor(Motor::Torque { torque: 0.0, force: 10.0 }));
    /// let mut simulation = Simulation::new(world.build()?);
    /// simulation.set("elbow", 3.0)?;
    /// simulation.step(0.1)?;
    /// assert!((simulation.state().v[2] - 0.6).abs() < 1e-12);
    /// assert_eq!(
    ///     simulation.set("elbwo", 3.0).unwrap_err().to_string(),
    ///     "there is no input `elbwo`; did you mean `elbow`?"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), InputError> {
        let input = self.system().find_input(name)?;
        self.set_input(input, value)
    }

    /// Sets an input by its number: [`Simulation::set`].
    pub fn set_input(&mut self, input: InputId, value: f64) -> Result<(), InputError> {
        let mut next = self.state().clone();
        self.system().set_input(&mut next, input, value)?;
        self.restore(next);
        Ok(())
    }
}
