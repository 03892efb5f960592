//! A checked world, laid out for stepping.

use super::body::Twist;
use super::contact::{self, Sensed};
use super::joint_rows;
use super::placed::Freedom;
use super::tables::Tables;
use super::world::{BodyId, JointId, ShapeId, World};
use crate::error::Mistakes;
use crate::state::State;
use crate::system::{ContactRow, Forces, JointRow, PairId, System};
use nalgebra::{Isometry3, Matrix6, Point3, Vector3};
use std::collections::BTreeSet;
use std::ops::Range;

/// A checked world, laid out for stepping.
#[derive(Debug, Clone)]
pub struct Model {
    pub(super) world: World,
    pub(super) tables: Tables,
}

impl World {
    /// Checks the world and lays it out; all mistakes at once if there are any.
    pub fn build(self) -> Result<Model, Mistakes> {
        self.build_after(&BTreeSet::new())
    }

    /// The same where these pairs overlapped before.
    pub(super) fn build_after(self, overlapping: &BTreeSet<PairId>) -> Result<Model, Mistakes> {
        super::check::mistakes(&self, overlapping).result()?;
        Ok(Model { tables: Tables::new(&self), world: self })
    }

    /// The state the bodies are in.
    pub fn state(&self) -> State {
        Tables::new(self).state(self)
    }

    /// Writes a state into the bodies, so that [`World::state`] gives the same q and v again, bit by bit. A
    /// state of another world, with more or fewer coordinates, is refused with `false`.
    pub fn load(&mut self, state: &State) -> bool {
        let tables = Tables::new(self);
        let own = tables.state(self);
        let fits = (own.q.len(), own.v.len()) == (state.q.len(), state.v.len());
        if fits {
            tables.load(self, state);
        }
        fits
    }
}

impl Model {
    /// The world it was built from.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The state the bodies of the world are in.
    pub fn state(&self) -> State {
        self.tables.state(&self.world)
    }

    /// Pose of a body's frame; `None` for a body that is not there or a state that does not fit.
    pub fn pose(&self, state: &State, body: BodyId) -> Option<Isometry3<f64>> {
        let body = self.place(state, body)?;
        Some(self.tables.placed(body, state.t, &state.q).pose)
    }

    /// A body's centre of mass [m]; of a fixed or kinematic body the origin of its frame.
    pub fn centre(&self, state: &State, body: BodyId) -> Option<Point3<f64>> {
        let body = self.place(state, body)?;
        Some(self.tables.placed(body, state.t, &state.q).centre)
    }

    /// Velocity of a body's centre of mass; of a kinematic body that of its frame.
    pub fn velocity(&self, state: &State, body: BodyId) -> Option<Twist> {
        let body = self.place(state, body)?;
        Some(self.tables.twist(body, state.t, &state.q, &state.v))
    }

    /// Where a body's coordinates stand in q and its velocities in v; `None` for a body without.
    pub fn places(&self, body: BodyId) -> Option<(Range<usize>, Range<usize>)> {
        let table = &self.tables.bodies[self.tables.place(body)?];
        let (coordinates, velocities) = table.freedom.counts();
        (velocities > 0).then_some((table.q..table.q + coordinates, table.v..table.v + velocities))
    }

    /// Mass [kg], centre of mass in the body frame [m] and inertia about it [kg m²] of a moving body.
    pub fn mass_properties(&self, body: BodyId) -> Option<stiction_geometry::spatial::MassProperties> {
        let table = &self.tables.bodies[self.tables.place(body)?];
        let (mass, centre, inertia) = (table.mass, table.centre, table.inertia);
        (table.freedom != Freedom::None).then_some(stiction_geometry::spatial::MassProperties {
            mass,
            centre,
            inertia,
        })
    }

    /// The joint coordinate: angle [rad], travel or length [m]; `None` for a joint without one.
    pub fn coordinate(&self, state: &State, joint: JointId) -> Option<f64> {
        let value = self.world.joint(joint)?;
        let (a, b) = (self.place(state, value.a)?, self.place(state, value.b)?);
        let placed = |body| self.tables.placed(body, state.t, &state.q);
        joint_rows::coordinate(value, &placed(a), &placed(b))
    }

    /// What the sensors feel, in the order of the shapes.
    pub fn sensed(&self, state: &State) -> Vec<Sensed> {
        let mut out = Vec::new();
        if !self.fits(state) {
            return out;
        }
        let tables = &self.tables;
        contact::overlaps(tables, tables.sensors.iter(), state.t, &state.q, |pair, gap| {
            let bodies = [pair.a, pair.b].map(|shape| tables.bodies[tables.shapes[shape].body].id);
            out.push(Sensed { shapes: [ShapeId(pair.id.a), ShapeId(pair.id.b)], bodies, gap });
        });
        out
    }

    /// A body's place in the table, when the state fits.
    fn place(&self, state: &State, body: BodyId) -> Option<usize> {
        self.tables.place(body).filter(|_| self.fits(state))
    }

    /// `true` when a state has as many coordinates and velocities as the model.
    pub(super) fn fits(&self, state: &State) -> bool {
        let q: usize = self.tables.bodies.iter().map(|b| b.freedom.counts().0).sum();
        (q, self.tables.starts.last().copied().unwrap_or(0)) == (state.q.len(), state.v.len())
    }
}

impl System for Model {
    fn bodies(&self) -> &[usize] {
        &self.tables.velocities
    }

    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        self.tables.advance(q, v, h);
    }

    fn mass(&self, body: usize) -> Matrix6<f64> {
        let table = &self.tables.bodies[self.tables.moving[body]];
        let mut mass = Matrix6::zeros();
        let (_, velocities) = table.freedom.counts();
        (0..velocities.min(3)).for_each(|i| mass[(i, i)] = table.mass);
        if let Freedom::Rigid(_) = table.freedom {
            mass.fixed_view_mut::<3, 3>(3, 3).copy_from(&table.inertia);
        }
        mass
    }

    fn forces(&self, t: f64, q: &[f64], v: &[f64], out: &mut Forces) {
        out.k.clear();
        out.k.resize(v.len(), 0.0);
        out.springs.clear();
        for table in self.tables.moving.iter().map(|&i| &self.tables.bodies[i]) {
            let weight = table.mass * self.world.gravity;
            match table.freedom {
                Freedom::Slider(_, axis) => out.k[table.v] = axis.dot(&weight),
                _ => out.k[table.v..table.v + 3].copy_from_slice(weight.as_slice()),
            }
        }
        let placed = |body| Some(self.tables.placed(self.tables.place(body)?, t, q));
        for force in self.world.forces.values() {
            force.add(t, q, v, &self.tables.starts, placed, out);
        }
    }

    fn gyroscopic(&self, body: usize, v: &[f64]) -> Option<Matrix6<f64>> {
        let table = &self.tables.bodies[self.tables.moving[body]];
        let Freedom::Rigid(_) = table.freedom else { return None };
        let spin = table.inertia * Vector3::new(v[3], v[4], v[5]);
        let mut out = Matrix6::zeros();
        out.fixed_view_mut::<3, 3>(3, 3).copy_from(&spin.cross_matrix());
        Some(out)
    }

    fn joints(&self, t: f64, q: &[f64], out: &mut Vec<JointRow>) {
        out.clear();
        for table in &self.tables.joints {
            let Some(joint) = self.world.joints.get(&table.id) else { continue };
            let (a, b) = (self.tables.placed(table.a, t, q), self.tables.placed(table.b, t, q));
            joint_rows::rows(table.id.0, joint, table.length, &a, &b, out);
        }
    }

    fn contacts(&self, t: f64, q: &[f64], reach: f64, wanted: &[PairId], out: &mut Vec<ContactRow>) {
        contact::contacts(&self.tables, self.world.friction_point, (t, q), reach, wanted, out);
    }

    fn surface_speed(&self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        let speed = |(i, table): (usize, &super::tables::BodyTable)| {
            let twist = self.tables.twist(i, t, q, v);
            let turning = twist.angular.norm();
            // the radius of a half-space is infinite
            twist.linear.norm() + if turning > 0.0 { turning * table.radius } else { 0.0 }
        };
        self.tables.bodies.iter().enumerate().map(speed).fold(0.0, f64::max)
    }

    fn size(&self) -> f64 {
        self.tables.size
    }

    fn gravity(&self) -> f64 {
        self.world.gravity.norm()
    }

    fn potential(&self, t: f64, q: &[f64]) -> f64 {
        let mut energy = 0.0;
        for &i in &self.tables.moving {
            let centre = self.tables.placed(i, t, q).centre;
            energy -= self.tables.bodies[i].mass * self.world.gravity.dot(&centre.coords);
        }
        let placed = |body| Some(self.tables.placed(self.tables.place(body)?, t, q));
        energy + self.world.forces.values().map(|force| force.potential(placed)).sum::<f64>()
    }

    fn momentum(&self, q: &[f64], v: &[f64]) -> ([f64; 3], [f64; 3]) {
        let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
        for &i in &self.tables.moving {
            let table = &self.tables.bodies[i];
            // moving bodies are where q has them at any time
            let (placed, twist) = (self.tables.placed(i, 0.0, q), self.tables.twist(i, 0.0, q, v));
            let own = table.mass * twist.linear;
            linear += own;
            angular += placed.centre.coords.cross(&own);
            if let Freedom::Rigid(_) = table.freedom {
                let spin = Vector3::new(v[table.v + 3], v[table.v + 4], v[table.v + 5]);
                angular += placed.pose.rotation * (table.inertia * spin);
            }
        }
        (linear.into(), angular.into())
    }
}
