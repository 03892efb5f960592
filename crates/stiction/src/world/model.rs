//! Checked world, laid out for stepping: the system that schemes step.

use super::actuators::InputOwner;
use super::body::Twist;
use super::body_layout::BodyLayout;
use super::dimension::{EuclideanPoint, EuclideanVector, KindOfJoint, MassProperties, RigidPose};
use super::formulas::Formulas;
use super::joint_rows::{JointCoordinate, JointRowWriter};
use super::layout::{JointLayout, Layout, ShapePair};
use super::search::SharedWorkspace;
use super::{World, actuators, forces};
use crate::error::Mistakes;
use crate::id::{BodyId, CoordinateId, JointId, ShapeId};
use crate::jacobian::{ForceJacobian, JacobianKind};
use crate::simulate::InitialState;
use crate::state::State;
use crate::system::{
    ContactId, ContactQuery, ContactRow, Forces, FreeTurn, Island, JointRow, PairId, SearchCache, System,
};
use nalgebra::{Matrix6, Vector3};
use std::ops::Range;
use stiction_lcp::Row;

/// Checked world of one dimension, laid out for stepping.
#[derive(Debug)]
pub struct ModelIn<D: Formulas> {
    pub(super) world: World<D>,
    pub(super) layout: Layout<D>,
    workspace: SharedWorkspace<D>,
}

impl<D: Formulas> Clone for ModelIn<D> {
    fn clone(&self) -> Self {
        let Self { world, layout, .. } = self;
        Self { world: world.clone(), layout: layout.clone(), workspace: SharedWorkspace::default() }
    }
}

impl<D: Formulas> World<D> {
    /// Checks the world and lays it out.
    pub fn build(self) -> Result<ModelIn<D>, Mistakes> {
        self.check()?;
        Ok(ModelIn::new(self))
    }
}

impl<D: Formulas> ModelIn<D> {
    /// Lays out a world that has been checked.
    pub(super) fn new(world: World<D>) -> Self {
        Self { layout: Layout::new(&world), world, workspace: SharedWorkspace::default() }
    }

    /// World as it was built, with the poses of the start.
    pub fn world(&self) -> &World<D> {
        &self.world
    }

    /// State of the start.
    pub fn state(&self) -> State {
        self.world.state()
    }

    /// Indices of a body's coordinates in q; empty for bodies that do not move by themselves. Of a rigid body they
    /// are x, y and the angle in the plane; x, y, z and the quaternion w, i, j, k in space. x, y, z are those of the
    /// centre of mass.
    pub fn coordinates(&self, id: BodyId) -> Option<Range<usize>> {
        Some(self.layout.bodies[self.layout.body(id)?].coordinates())
    }

    /// Indices of a body's velocities in v; empty for bodies that do not move by themselves. Of a rigid body they
    /// are those of the centre of mass in the world, then the angular ones, in space along the axes of the body.
    pub fn velocities(&self, id: BodyId) -> Option<Range<usize>> {
        Some(self.layout.bodies[self.layout.body(id)?].velocities())
    }

    /// Pose of a body's frame.
    pub fn pose(&self, state: &State, id: BodyId) -> Option<D::Isometry> {
        let body = self.body(state, id)?;
        Some(D::pose(body, &body.place(state.t, &state.q)))
    }

    /// Centre of mass of a body [m]; the origin of the frame of bodies that have none.
    pub fn centre(&self, state: &State, id: BodyId) -> Option<D::Point> {
        Some(self.body(state, id)?.place(state.t, &state.q).centre)
    }

    /// Velocity of a body's centre of mass, or of the origin of its frame if it has none.
    pub fn velocity(&self, state: &State, id: BodyId) -> Option<Twist<D>> {
        Some(self.body(state, id)?.twist(state.t, &state.q, &state.v))
    }

    /// Mass properties of a body in its frame; `None` for bodies that do not move by themselves.
    pub fn mass_properties(&self, id: BodyId) -> Option<MassProperties<D>> {
        let body = &self.layout.bodies[self.layout.body(id)?];
        let BodyLayout { mass, centre, inertia, .. } = *body;
        body.moves().then_some(MassProperties { mass, centre, inertia })
    }

    /// Joint coordinate [rad; m], by the number of its joint if it is the first; `None` where there is none. In the plane an
    /// angle counts turns from the start, where it is between −π and π. In space it does so where it is coupled, the angle
    /// of a screw, limited beyond ±π, or has a spring, a servo or a position motor. None does with a kinematic body.
    pub fn joint_coordinate(&self, state: &State, id: impl Into<CoordinateId>) -> Option<f64> {
        self.coordinate_row(state, id.into()).map(|coordinate| coordinate.value)
    }

    /// Speed of the joint coordinate [rad/s; m/s]; `None` for kinds that have none.
    pub fn joint_speed(&self, state: &State, id: impl Into<CoordinateId>) -> Option<f64> {
        let JointCoordinate { scale, row, .. } = self.coordinate_row(state, id.into())?;
        let drift = row.drift;
        Some((row.into_row().dot(&self.layout.starts, &state.v) + drift) / scale)
    }

    /// Joint coordinate with its row.
    pub(super) fn coordinate_row(&self, state: &State, id: CoordinateId) -> Option<JointCoordinate> {
        let of_joint = self.layout.joints.iter().filter(|joint| joint.id == id.joint);
        let joint = of_joint.clone().find(|joint| joint.axis == id.axis).or(of_joint.clone().next())?;
        if !self.fits(state) || id.axis >= joint.joint.kind.coordinates() {
            return None;
        }
        let at = (state.t, &state.q[..]);
        if joint.axis == id.axis {
            return self.layout.coordinate(joint, at);
        }
        // nothing acts on the coordinate
        let own = JointLayout { axis: id.axis, turn: None, ..joint.clone() };
        self.layout.coordinate(&own, at)
    }

    /// Factor of a joint's angular rows [m]: a torque impulse [N m s] is this times the impulse of the row [N s].
    pub fn joint_length(&self, id: JointId) -> Option<f64> {
        self.layout.joints.iter().find(|joint| joint.id == id).map(|joint| joint.length)
    }

    /// Pairs with a sensor that touch or overlap, in the order of their shapes. Pairs without a gap function count
    /// when their bounding boxes overlap.
    pub fn sensed(&self, state: &State) -> Vec<PairId> {
        let mut out = Vec::new();
        if self.fits(state) {
            self.overlaps(state, true, |pair, _| out.push(pair.id));
        }
        out
    }

    /// Pairs that touch or overlap, with or without a sensor in them, and their least gap [m].
    pub(super) fn overlaps(&self, state: &State, sensors: bool, visit: impl FnMut(&ShapePair, f64)) {
        let is_wanted = |a: usize, b: usize| self.layout.senses(a, b) == sensors;
        self.workspace.with(|w| w.overlaps(&self.layout, (state.t, &state.q), is_wanted, visit));
    }

    /// Bodies with velocities.
    pub(super) fn moving(&self) -> impl Iterator<Item = &BodyLayout<D>> {
        self.layout.moving.iter().map(|&i| &self.layout.bodies[i])
    }

    /// Body with this number among the moving ones.
    fn mover(&self, number: usize) -> &BodyLayout<D> {
        &self.layout.bodies[self.layout.moving[number]]
    }

    /// Layout of a body; `None` if it is not there or the state is of another model.
    fn body(&self, state: &State, id: BodyId) -> Option<&BodyLayout<D>> {
        self.layout.body(id).filter(|_| self.fits(state)).map(|i| &self.layout.bodies[i])
    }

    /// `true` when a state has as many coordinates and velocities as the model.
    pub(super) fn fits(&self, state: &State) -> bool {
        let velocities = self.layout.starts.last().copied().unwrap_or(0);
        (self.layout.coordinates, velocities) == (state.q.len(), state.v.len())
    }
}

impl<D: Formulas> InitialState for ModelIn<D> {
    fn initial_state(&self) -> State {
        self.state()
    }
}

impl<D: Formulas> System for ModelIn<D> {
    fn bodies(&self) -> &[usize] {
        &self.layout.velocities
    }

    fn body_name(&self, body: BodyId) -> Option<&str> {
        self.world.body(body).map(|body| body.name.as_str())
    }

    fn body_of(&self, shape: ShapeId) -> Option<BodyId> {
        self.world.body_of(shape)
    }

    fn joint_name(&self, joint: JointId) -> Option<&str> {
        let coupling = || self.world.couplings().find(|(id, _)| *id == joint).map(|(_, c)| c.name.as_str());
        self.world.joint(joint).map(|joint| joint.name.as_str()).or_else(coupling)
    }

    fn coordinate_count(&self) -> usize {
        self.layout.coordinates
    }

    fn position_count(&self) -> usize {
        self.layout.positions
    }

    fn input_count(&self) -> usize {
        self.layout.inputs
    }

    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        self.moving().for_each(|body| body.advance(q, v, h));
        self.layout.count_turns(q);
    }

    fn rates(&self, q: &[f64], v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        self.moving().for_each(|body| body.rates(q, v, out));
        // inputs stay as they are, and turns are counted when positions are set
        out.resize(self.layout.coordinates, 0.0);
    }

    fn normalize(&self, q: &mut [f64]) {
        self.moving().for_each(|body| body.normalize(q));
        self.layout.count_turns(q);
    }

    fn to_start_axes(&self, v: &[f64], h: f64, row: &mut Row) {
        let Row::Bodies(terms) = row else { return };
        for term in terms {
            let body = self.mover(term.body);
            if body.freedom.is_rigid() {
                D::to_start_axes(&v[body.velocities()][D::COUNT..], h, &mut term.j[D::COUNT..]);
            }
        }
    }

    fn end_step(&self, q: &mut [f64], v: &[f64], end: &mut [f64], shift: &[f64], h: f64) {
        self.moving().for_each(|body| body.end_step(q, v, end, shift, h));
        self.layout.count_turns(q);
    }

    fn to_middle_axes(&self, v: &[f64], end: &mut [f64], shift: &[f64], h: f64) {
        for body in self.moving().filter(|body| body.freedom.is_rigid()) {
            let own = body.velocities();
            let own = own.start + D::COUNT..own.end;
            D::in_middle_axes(&v[own.clone()], &mut end[own.clone()], &shift[own], h);
        }
    }

    fn free_turn(&self, body: usize, v: &[f64], h: f64) -> Option<FreeTurn> {
        D::free_turn(self.mover(body), v, h)
    }

    fn drift_bend(&self, body: BodyId, [t, h]: [f64; 2], point: [f64; 3], direction: [f64; 3]) -> f64 {
        let Some(body) = self.layout.body(body).map(|i| &self.layout.bodies[i]) else { return 0.0 };
        if !body.is_kinematic() {
            return 0.0;
        }
        let [start, middle, end] = [t, t + 0.5 * h, t + h].map(|t| body.place(t, &[]));
        let bend = |of: &dyn Fn(&Twist<D>) -> [f64; 3]| {
            let [a, b, c] = [&start, &middle, &end].map(|at| Vector3::from(of(&at.prescribed)));
            a + c - 2.0 * b
        };
        let lever = Vector3::from(point) - Vector3::from(D::xyz(&middle.centre.coordinates()));
        let direction = Vector3::from(direction);
        let turning = bend(&|twist| D::axial(&twist.angular));
        bend(&|twist| D::xyz(&twist.linear)).dot(&direction) + turning.dot(&lever.cross(&direction))
    }

    fn mass(&self, body: usize) -> Matrix6<f64> {
        self.mover(body).mass_block()
    }

    fn forces(&self, t: f64, q: &[f64], v: &[f64], out: &mut Forces) {
        forces::add_all(self, t, q, v, out);
    }

    fn gyroscopic(&self, body: usize, v: &[f64]) -> Option<Matrix6<f64>> {
        let momentum = D::gyroscopic_momentum(self.mover(body), v)?;
        let mut out = Matrix6::zeros();
        out.fixed_view_mut::<3, 3>(3, 3).copy_from(&momentum.cross_matrix());
        Some(out)
    }

    fn add_gyroscopic(&self, body: usize, v: &[f64], k: &mut [f64]) {
        if let Some(momentum) = D::gyroscopic_momentum(self.mover(body), v) {
            let force = momentum.cross(&Vector3::new(v[3], v[4], v[5]));
            k[3..].iter_mut().zip(&force).for_each(|(k, force)| *k += force);
        }
    }

    fn jacobian(&self, t: f64, q: &[f64], v: &[f64], out: &mut ForceJacobian) {
        forces::jacobian(self, t, q, v, out);
    }

    fn jacobian_kind(&self) -> JacobianKind {
        forces::jacobian_kind(self)
    }

    fn joints(&self, t: f64, q: &[f64], out: &mut Vec<JointRow>) {
        let mut out = JointRowWriter::replacing(out, None);
        for joint in &self.layout.joints {
            let [a, b] = joint.bodies.map(|i| self.layout.bodies[i].place(t, q));
            D::joint_rows(joint, [&a, &b], None, joint.memory(t, q), &mut out);
        }
        self.layout.couplings.iter().for_each(|coupling| coupling.rows(&self.layout, (t, q), &mut out));
    }

    fn joint_rates(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        out: &mut Vec<JointRow>,
        rates: &mut Vec<f64>,
    ) -> bool {
        let mut out = JointRowWriter::replacing(out, Some(rates));
        for joint in &self.layout.joints {
            let bodies = joint.bodies.map(|i| &self.layout.bodies[i]);
            if bodies.iter().any(|body| body.is_kinematic()) {
                return false;
            }
            let [a, b] = bodies.map(|body| body.place(t, q));
            let twists = bodies.map(|body| body.twist(t, q, v));
            D::joint_rows(joint, [&a, &b], Some(twists), joint.memory(t, q), &mut out);
        }
        self.layout.couplings.iter().for_each(|coupling| coupling.rows(&self.layout, (t, q), &mut out));
        true
    }

    fn contacts(
        &self,
        t: f64,
        q: &[f64],
        query: &ContactQuery,
        cache: &mut SearchCache,
        out: &mut Vec<ContactRow>,
    ) {
        self.workspace.with(|w| w.rows(&self.layout, (t, q), query, cache, out));
    }

    fn gaps(
        &self,
        t: f64,
        q: &[f64],
        query: &ContactQuery,
        cache: &mut SearchCache,
        _: &mut Vec<ContactRow>,
        out: &mut Vec<(ContactId, f64)>,
    ) {
        self.workspace.with(|w| w.gaps(&self.layout, (t, q), query, cache, out));
    }

    fn surface_speed(&self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        self.moving().map(|body| body.surface_speed(&body.twist(t, q, v))).fold(0.0, f64::max)
    }

    fn surface_speeds(&self, t: f64, q: &[f64], v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.moving().map(|body| body.surface_speed(&body.twist(t, q, v))));
    }

    fn connections(&self) -> Option<Vec<[usize; 2]>> {
        self.world.connections().map(|pairs| {
            let number = |id| self.layout.moving.binary_search(&self.layout.body(id)?).ok();
            pairs.filter_map(|[a, b]| Some([number(a)?, number(b)?])).collect()
        })
    }

    fn island(&self, bodies: &[usize]) -> Option<Island> {
        let own: Vec<&BodyLayout<D>> = bodies.iter().map(|&i| self.mover(i)).collect();
        let standing = self.layout.bodies.iter().filter(|body| !body.moves());
        let kept = own.iter().copied().chain(standing).map(|body| body.id).collect();
        let mut system = Self::new(self.world.part(&kept)?);
        let has = |id: JointId| system.layout.joints.iter().any(|joint| joint.id == id);
        let is_kept = |owner: InputOwner| match owner {
            InputOwner::Joint(id) => has(id.joint),
            InputOwner::Force(id) => system.world.force(id).is_some(),
        };
        let own_inputs = actuators::inputs(&self.world).enumerate().filter(|(_, input)| is_kept(input.owner));
        let inputs: Vec<usize> = own_inputs.map(|(k, _)| self.layout.positions + k).collect();
        let counted = self.layout.joints.iter().filter(|joint| has(joint.id));
        let turns: Vec<usize> = counted.filter_map(|joint| joint.turn).collect();
        system.layout.keep_turns(&self.layout);
        // tolerances on gaps are those of the whole
        system.layout.size = self.layout.size;
        Some(Island {
            system: Box::new(system),
            coordinates: own.iter().flat_map(|body| body.coordinates()).chain(inputs).chain(turns).collect(),
            velocities: own.iter().flat_map(|body| body.velocities()).collect(),
        })
    }

    fn prescribed_speed(&self, t: f64) -> f64 {
        let prescribed = self.layout.bodies.iter().filter(|body| !body.moves());
        let speed = |body: &BodyLayout<D>| {
            let placement = body.place(t, &[]);
            let pose = D::pose(body, &placement);
            let is_finite = pose.origin().all_finite() && D::is_finite_rotation(&pose.turn());
            if is_finite { body.surface_speed(&placement.prescribed) } else { f64::NAN }
        };
        // f64::max would pass over NaN
        prescribed.map(speed).fold(0.0, |most: f64, s| if s > most || s.is_nan() { s } else { most })
    }

    fn has_unilateral_constraints(&self) -> bool {
        self.layout.has_unilateral_constraints
    }

    fn has_moment_friction(&self) -> bool {
        D::has_moment_friction(&self.layout)
    }

    fn size(&self) -> f64 {
        self.layout.size
    }

    fn gravity(&self) -> f64 {
        self.world.gravity.norm()
    }

    fn potential(&self, t: f64, q: &[f64]) -> f64 {
        forces::potential(self, t, q)
    }

    fn momentum(&self, q: &[f64], v: &[f64]) -> ([f64; 3], [f64; 3]) {
        let (mut linear, mut angular) = (D::Vector::default(), D::Angular::default());
        for body in self.moving() {
            // moving bodies are where q has them at any time
            let (placement, twist) = (body.place(0.0, q), body.twist(0.0, q, v));
            let p = twist.linear * body.mass;
            linear += p;
            let spin = body.freedom.is_rigid().then(|| &v[body.velocities()][D::COUNT..]);
            for part in D::angular_momentum(body, &placement, &p, spin) {
                angular += part;
            }
        }
        (D::xyz(&linear), D::axial(&angular))
    }
}

impl<D: Formulas> ModelIn<D> {
    /// Points of a joint on its first and its second body [m].
    pub fn joint_points(&self, state: &State, id: JointId) -> Option<[D::Point; 2]> {
        let joint = self.world.joint(id)?;
        let on =
            |body, frame: &D::Isometry| Some(D::Point::from(self.pose(state, body)?.times(frame).origin()));
        Some([on(joint.a, &joint.frame_a)?, on(joint.b, &joint.frame_b)?])
    }
}
