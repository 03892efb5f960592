//! A checked world, laid out for stepping.

use super::body::Twist;
use super::contact;
use super::joint_rows;
use super::part::Part;
use super::placed::{Freedom, Placed};
use super::search::Scratch;
use super::tables::{PairTable, Tables};
use super::world::{BodyId, JointId, World};
use crate::error::Mistakes;
use crate::jacobian::{ForceJacobian, JacobianKind};
use crate::material::Material;
use crate::simulate::InitialState;
use crate::state::State;
use crate::system::{ContactId, ContactQuery, ContactRow, Forces, JointRow, PairId, SearchCache, System};
use nalgebra::{Isometry3, Matrix6, Point3, UnitQuaternion, Vector3};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use stiction_geometry::spatial::{Gap, MassProperties};
use stiction_lcp::Row;

/// A checked world, laid out for stepping.
#[derive(Debug)]
pub struct Model {
    pub(super) world: World,
    pub(super) tables: Tables,
    scratch: Mutex<Scratch>,
}

impl Clone for Model {
    fn clone(&self) -> Self {
        let Self { world, tables, .. } = self;
        Self { world: world.clone(), tables: tables.clone(), scratch: Mutex::default() }
    }
}

impl World {
    /// Checks the world and lays it out.
    pub fn build(self) -> Result<Model, Mistakes> {
        self.check()?;
        Ok(Model::new(self))
    }
}

impl Model {
    /// Lays out a world that has been checked.
    pub(super) fn new(world: World) -> Self {
        Self { tables: Tables::new(&world), world, scratch: Mutex::default() }
    }

    /// The world as it was built; its poses are those of the start.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The state of the start.
    pub fn state(&self) -> State {
        self.tables.state(&self.world)
    }

    /// Where a body's coordinates stand in q (x, y, z of the centre of mass and the quaternion w, i, j, k of a
    /// rigid body); empty for bodies that do not move by themselves.
    pub fn coordinates(&self, id: BodyId) -> Option<Range<usize>> {
        let part = &self.tables.parts[self.tables.place(id)?];
        Some(part.q..part.q + part.freedom.counts().0)
    }

    /// Where a body's velocities stand in v (those of the centre of mass in the world and the angular ones in the
    /// body frame of a rigid body); empty for bodies that do not move by themselves.
    pub fn velocities(&self, id: BodyId) -> Option<Range<usize>> {
        let part = &self.tables.parts[self.tables.place(id)?];
        Some(part.v..part.v + part.freedom.counts().1)
    }

    /// Pose of a body's frame.
    pub fn pose(&self, state: &State, id: BodyId) -> Option<Isometry3<f64>> {
        Some(self.part(state, id)?.placed(state.t, &state.q).pose)
    }

    /// Centre of mass of a body [m]; the origin of the frame of bodies that have none.
    pub fn centre(&self, state: &State, id: BodyId) -> Option<Point3<f64>> {
        Some(self.part(state, id)?.placed(state.t, &state.q).centre)
    }

    /// Velocity of a body at its centre of mass.
    pub fn velocity(&self, state: &State, id: BodyId) -> Option<Twist> {
        Some(self.part(state, id)?.twist(state.t, &state.q, &state.v))
    }

    /// Mass properties of a body in its frame; `None` for bodies that do not move by themselves.
    pub fn mass_properties(&self, id: BodyId) -> Option<MassProperties> {
        let part = &self.tables.parts[self.tables.place(id)?];
        let Part { mass, centre, inertia, .. } = *part;
        part.moves().then_some(MassProperties { mass, centre, inertia })
    }

    /// The joint coordinate [rad; m]: see [`JointKind`](super::JointKind).
    pub fn joint_coordinate(&self, state: &State, id: JointId) -> Option<f64> {
        let table = self.tables.joints.iter().find(|joint| joint.id == id)?;
        let (a, b) = (self.part(state, table.joint.a)?, self.part(state, table.joint.b)?);
        joint_rows::coordinate(table, &a.placed(state.t, &state.q), &b.placed(state.t, &state.q))
    }

    /// What the turning rows of a joint are multiplied by [m]: its impulse times this is an angular impulse.
    pub fn joint_length(&self, id: JointId) -> Option<f64> {
        self.tables.joints.iter().find(|joint| joint.id == id).map(|joint| joint.length)
    }

    /// Pairs with a sensor that touch or overlap, in the order of their shapes.
    pub fn sensed(&self, state: &State) -> Vec<PairId> {
        let mut out = Vec::new();
        if self.fits(state) {
            self.overlaps(state, true, |pair, _| out.push(pair.id));
        }
        out
    }

    /// Pairs that touch or overlap, with or without a sensor in them, and their least gap.
    pub(super) fn overlaps(&self, state: &State, sensors: bool, visit: impl FnMut(&PairTable, f64)) {
        self.with_scratch(|scratch| {
            let may_meet = |a: usize, b: usize| self.tables.senses(a, b) == sensors;
            scratch.overlaps(&self.tables, (state.t, &state.q), may_meet, visit);
        });
    }

    /// Hands out the storage of searches. It is taken while in use and put back after: a prescribed motion that
    /// asks for contacts finds an empty one.
    fn with_scratch(&self, search: impl FnOnce(&mut Scratch)) {
        let lock = || self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = std::mem::take(&mut *lock());
        search(&mut scratch);
        *lock() = scratch;
    }

    /// The bodies that move.
    pub(super) fn moving(&self) -> impl Iterator<Item = &Part> {
        self.tables.moving.iter().map(|&i| &self.tables.parts[i])
    }

    /// A body laid out; `None` if it is not there or the state is of another model.
    fn part(&self, state: &State, id: BodyId) -> Option<&Part> {
        self.tables.place(id).filter(|_| self.fits(state)).map(|i| &self.tables.parts[i])
    }

    /// `true` when a state has as many coordinates and velocities as the model.
    fn fits(&self, state: &State) -> bool {
        self.tables.sizes() == (state.q.len(), state.v.len())
    }
}

impl InitialState for Model {
    fn initial_state(&self) -> State {
        self.state()
    }
}

impl System for Model {
    fn body_name(&self, body: u32) -> Option<&str> {
        self.world.body(BodyId(body)).map(|body| body.name.as_str())
    }

    fn joint_name(&self, joint: u32) -> Option<&str> {
        self.world.joint(JointId(joint)).map(|joint| joint.name.as_str())
    }

    fn coordinate_count(&self) -> usize {
        self.tables.parts.iter().map(|part| part.freedom.counts().0).sum()
    }

    fn bodies(&self) -> &[usize] {
        &self.tables.velocities
    }

    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        self.tables.moving.iter().for_each(|&i| self.tables.parts[i].advance(q, v, h));
    }

    fn rates(&self, q: &[f64], v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        self.tables.moving.iter().for_each(|&i| self.tables.parts[i].rates(q, v, out));
    }

    fn normalize(&self, q: &mut [f64]) {
        self.moving().for_each(|part| part.normalize(q));
    }

    fn to_start_axes(&self, v: &[f64], h: f64, row: &mut Row) {
        let Row::Bodies(terms) = row else { return };
        for term in terms {
            let part = &self.tables.parts[self.tables.moving[term.body]];
            if let Freedom::Rigid(_) = part.freedom {
                let turn = UnitQuaternion::from_scaled_axis(
                    h * Vector3::from_column_slice(&v[part.v + 3..part.v + 6]),
                );
                let angular = turn * Vector3::from_column_slice(&term.j[3..]);
                term.j[3..].copy_from_slice(angular.as_slice());
            }
        }
    }

    fn mass(&self, body: usize) -> Matrix6<f64> {
        let part = &self.tables.parts[self.tables.moving[body]];
        let mut mass = Matrix6::zeros();
        let (_, velocities) = part.freedom.counts();
        (0..velocities.min(3)).for_each(|i| mass[(i, i)] = part.mass);
        if let Freedom::Rigid(_) = part.freedom {
            mass.fixed_view_mut::<3, 3>(3, 3).copy_from(&part.inertia);
        }
        mass
    }

    fn forces(&self, t: f64, q: &[f64], v: &[f64], out: &mut Forces) {
        out.k.clear();
        out.k.resize(v.len(), 0.0);
        out.springs.clear();
        for part in self.moving() {
            let weight = part.mass * self.world.gravity;
            match part.freedom {
                Freedom::Slider(_, axis) => out.k[part.v] = axis.dot(&weight),
                _ => out.k[part.v..part.v + 3].copy_from_slice(weight.as_slice()),
            }
        }
        let placed = |body| Some(self.tables.parts[self.tables.place(body)?].placed(t, q));
        for force in self.world.forces.values() {
            force.add(t, q, v, &self.tables.starts, placed, out);
        }
    }

    fn gyroscopic(&self, body: usize, v: &[f64]) -> Option<Matrix6<f64>> {
        let part = &self.tables.parts[self.tables.moving[body]];
        let spin = part.spin(v)?;
        let mut out = Matrix6::zeros();
        out.fixed_view_mut::<3, 3>(3, 3).copy_from(&spin.cross_matrix());
        Some(out)
    }

    fn add_gyroscopic(&self, body: usize, v: &[f64], k: &mut [f64]) {
        if let Some(spin) = self.tables.parts[self.tables.moving[body]].spin(v) {
            let force = spin.cross(&Vector3::new(v[3], v[4], v[5]));
            k[3..].iter_mut().zip(&force).for_each(|(k, force)| *k += force);
        }
    }

    fn jacobian(&self, t: f64, q: &[f64], v: &[f64], out: &mut ForceJacobian) {
        self.slopes(t, q, v, out);
    }

    fn jacobian_kind(&self) -> JacobianKind {
        self.slopes_kind()
    }

    fn joints(&self, t: f64, q: &[f64], out: &mut Vec<JointRow>) {
        let mut out = joint_rows::Rows::in_place_of(out);
        for table in &self.tables.joints {
            let placed = |part: usize| self.tables.parts[part].placed(t, q);
            joint_rows::rows(table, &placed(table.a), &placed(table.b), &mut out);
        }
    }

    fn joint_rates(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        out: &mut Vec<JointRow>,
        rates: &mut Vec<f64>,
    ) -> bool {
        let mut out = joint_rows::Rows::in_place_of(out);
        rates.clear();
        for table in &self.tables.joints {
            let [a, b] = [table.a, table.b].map(|part| &self.tables.parts[part]);
            if a.is_led() || b.is_led() {
                return false;
            }
            let motion = [a, b].map(|part| part.twist(t, q, v));
            let pair = (&a.placed(t, q), &b.placed(t, q), motion);
            joint_rows::rows_and_rates(table, pair, (&mut out, rates));
        }
        true
    }

    fn contacts(
        &self,
        t: f64,
        q: &[f64],
        near: &ContactQuery,
        cache: &mut SearchCache,
        out: &mut Vec<ContactRow>,
    ) {
        let row = |placed: &[Placed], pair: &PairTable, gap: &Gap| {
            contact::contact(&self.tables, self.world.friction_point, placed, pair, gap)
        };
        self.with_scratch(|scratch| scratch.rows(&self.tables, (t, q), near, cache, row, out));
    }

    fn gaps(
        &self,
        t: f64,
        q: &[f64],
        near: &ContactQuery,
        cache: &mut SearchCache,
        _: &mut Vec<ContactRow>,
        out: &mut Vec<(ContactId, f64)>,
    ) {
        let counts =
            |placed: &[Placed], pair: &PairTable, gap: &Gap| contact::counts(&self.tables, placed, pair, gap);
        self.with_scratch(|scratch| scratch.gaps(&self.tables, (t, q), near, cache, counts, out));
    }

    fn surface_speed(&self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        self.moving().map(|part| part.surface_speed(&part.twist(t, q, v))).fold(0.0, f64::max)
    }

    fn prescribed_speed(&self, t: f64) -> f64 {
        let prescribed = self.tables.parts.iter().filter(|part| !part.moves());
        let speed = |part: &Part| {
            let at = part.placed(t, &[]).centre;
            let speed = part.surface_speed(&part.twist(t, &[], &[]));
            if at.iter().all(|x| x.is_finite()) { speed } else { f64::NAN }
        };
        // f64::max would pass over what is not a number
        prescribed.map(speed).fold(0.0, |most: f64, s| if s > most || s.is_nan() { s } else { most })
    }

    fn has_unilateral_constraints(&self) -> bool {
        self.tables.has_unilateral_constraints
    }

    fn has_moment_friction(&self) -> bool {
        let rubs = |m: &Material| if m.friction > 0.0 { m.torsion } else { 0.0 };
        self.tables.any_pair(rubs) || self.tables.any_pair(|m| m.rolling)
    }

    fn size(&self) -> f64 {
        self.tables.size
    }

    fn gravity(&self) -> f64 {
        self.world.gravity.norm()
    }

    fn potential(&self, t: f64, q: &[f64]) -> f64 {
        let height = |part: &Part| self.world.gravity.dot(&part.placed(t, q).centre.coords);
        let energy: f64 = self.moving().map(|part| -part.mass * height(part)).sum();
        let placed = |body| Some(self.tables.parts[self.tables.place(body)?].placed(t, q));
        energy + self.world.forces.values().map(|force| force.potential(placed)).sum::<f64>()
    }

    fn momentum(&self, q: &[f64], v: &[f64]) -> ([f64; 3], [f64; 3]) {
        let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
        for part in self.moving() {
            // moving bodies are where q has them at any time
            let (placed, twist) = (part.placed(0.0, q), part.twist(0.0, q, v));
            let own = part.mass * twist.linear;
            linear += own;
            angular += placed.centre.coords.cross(&own);
            if let Freedom::Rigid(_) = part.freedom {
                let spin = Vector3::new(v[part.v + 3], v[part.v + 4], v[part.v + 5]);
                angular += placed.pose.rotation * (part.inertia * spin);
            }
        }
        (linear.into(), angular.into())
    }
}
