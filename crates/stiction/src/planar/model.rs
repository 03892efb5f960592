//! A world that has been checked and laid out: the system that schemes step.

use super::body::Twist;
use super::contact::{self, Membership, Scratch, Surface};
use super::joint_rows::Hinge;
use super::part::{self, Kind, Part, Place};
use super::world::{BodyId, JointId, ShapeId, World};
use crate::error::Mistakes;
use crate::jacobian::{ForceJacobian, JacobianKind};
use crate::material::Material;
use crate::simulate::InitialState;
use crate::state::State;
use crate::system::{ContactQuery, ContactRow, Forces, JointRow, PairId, SearchCache, System};
use nalgebra::{Isometry2, Matrix6, Point2, Vector2};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use stiction_geometry::planar::{gaps, size};
use stiction_lcp::FrictionSet;

/// A planar world ready to be stepped.
#[derive(Debug)]
pub struct Model {
    pub(super) world: World,
    pub(super) parts: Vec<Part>,
    /// Parts of the bodies that move.
    movers: Vec<usize>,
    /// Numbers of velocities of the bodies that move.
    bodies: Vec<usize>,
    /// Index in v of each moving body's first velocity, and one more entry: the number of velocities.
    pub(super) starts: Vec<usize>,
    pub(super) surfaces: Vec<Surface>,
    /// Numbers of the surfaces.
    pub(super) shapes: Vec<ShapeId>,
    /// Bodies that must not meet.
    pub(super) apart: BTreeSet<(BodyId, BodyId)>,
    hinges: Vec<Hinge>,
    pub(super) line: FrictionSet,
    size: f64,
    scratch: Mutex<Scratch>,
}

impl Clone for Model {
    fn clone(&self) -> Self {
        Self::new(self.world.clone())
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
        let parts = part::parts(&world);
        let index = |id: BodyId| parts.binary_search_by_key(&id, |p| p.id).ok();
        let movers: Vec<usize> = (0..parts.len()).filter(|&i| parts[i].moving.is_some()).collect();
        let bodies: Vec<usize> = movers.iter().map(|&i| parts[i].velocities()).collect();
        let mut starts = vec![0];
        starts.extend(bodies.iter().scan(0, |at, n| {
            *at += n;
            Some(*at)
        }));

        // shapes and who may meet whom
        let owned = contact::shapes(&world);
        let mut surfaces = Vec::new();
        let mut shapes = Vec::new();
        for shape in &owned {
            let &(id, body, _, attached) = shape;
            let Some(part) = index(body) else { continue };
            let mut pose = attached.pose;
            pose.translation.vector -= parts[part].centre.coords;
            surfaces.push(Surface {
                part,
                shape: attached.shape.clone(),
                pose,
                velocity: attached.surface_velocity,
                material: attached.material,
                membership: Membership::of(shape),
            });
            shapes.push(id);
        }
        let apart = contact::apart(&world);

        let hinge = |(&id, joint)| {
            let joint: &super::Joint = joint;
            Some(Hinge::new(id, joint, [index(joint.a)?, index(joint.b)?], &parts))
        };
        let hinges = world.joints.iter().filter_map(hinge).collect();
        let size = smallest(&parts, &surfaces);
        Self {
            world,
            parts,
            movers,
            bodies,
            starts,
            surfaces,
            shapes,
            apart,
            hinges,
            line: FrictionSet::line(),
            size,
            scratch: Mutex::default(),
        }
    }

    /// The world as it was built; its poses are those of the start.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The state of the start.
    pub fn state(&self) -> State {
        self.world.state()
    }

    /// Where a body's coordinates stand in q; empty for bodies that do not move by themselves.
    pub fn coordinates(&self, id: BodyId) -> Option<Range<usize>> {
        let part = &self.parts[self.index(id)?];
        Some(part.q..part.q + part.velocities())
    }

    /// Where a body's velocities stand in v; empty for bodies that do not move by themselves.
    pub fn velocities(&self, id: BodyId) -> Option<Range<usize>> {
        let part = &self.parts[self.index(id)?];
        Some(part.v..part.v + part.velocities())
    }

    /// Pose of a body's frame.
    pub fn pose(&self, state: &State, id: BodyId) -> Option<Isometry2<f64>> {
        let (part, place) = self.located(state, id)?;
        Some(part.frame(&place))
    }

    /// Centre of mass of a body [m]; the origin of the frame of bodies that have none.
    pub fn centre(&self, state: &State, id: BodyId) -> Option<Point2<f64>> {
        self.located(state, id).map(|(_, place)| place.centre)
    }

    /// Velocity of a body's centre of mass, or of the origin of its frame if it has none.
    pub fn velocity(&self, state: &State, id: BodyId) -> Option<Twist> {
        let (part, place) = self.located(state, id)?;
        Some(part.velocity(&place, &state.v))
    }

    /// The joint coordinate [rad; m]; `None` for welds.
    pub fn joint_coordinate(&self, state: &State, id: JointId) -> Option<f64> {
        let hinge = self.hinges.iter().find(|h| h.id == id)?;
        let place = |i: usize| self.parts[hinge.sides[i]].place(state.t, &state.q);
        self.fits(state).then(|| hinge.coordinate([&place(0), &place(1)])).flatten()
    }

    /// What turning rows of a joint are multiplied by [m]: a torque impulse [N m s] is this times the impulse
    /// of the row [N s]. The largest of the levers and the radii of gyration of the bodies that move.
    pub fn joint_length(&self, id: JointId) -> Option<f64> {
        self.hinges.iter().find(|h| h.id == id).map(|h| h.length)
    }

    /// Pairs of shapes of which one is a sensor and which touch or overlap, in the order of their numbers. Pairs
    /// without a gap function count as overlapping when their bounding boxes do.
    pub fn sensed(&self, state: &State) -> Vec<PairId> {
        if !self.fits(state) {
            return Vec::new();
        }
        let mut scratch = self.scratch();
        // boxes of shapes that touch may be apart by round-off
        let near = ContactQuery::within(1e-12 * self.size);
        self.search(state.t, &state.q, &near, true, &mut scratch);
        let Scratch { poses, pairs, gaps: near, .. } = &mut *scratch;
        let touches = |&&[i, j]: &&[usize; 2]| {
            let (a, b) = (&self.surfaces[i].shape, &self.surfaces[j].shape);
            near.clear();
            // the bounding boxes of those found overlap
            gaps(a, &poses[i], b, &poses[j], 0.0, near).is_err() || !near.is_empty()
        };
        let id = |&[i, j]: &[usize; 2]| PairId { a: self.shapes[i].0, b: self.shapes[j].0 };
        pairs.iter().filter(touches).map(id).collect()
    }

    pub(super) fn index(&self, id: BodyId) -> Option<usize> {
        self.parts.binary_search_by_key(&id, |p| p.id).ok()
    }

    fn located(&self, state: &State, id: BodyId) -> Option<(&Part, Place)> {
        let part = &self.parts[self.index(id)?];
        self.fits(state).then(|| (part, part.place(state.t, &state.q)))
    }

    /// `true` when a state has as many numbers as this model.
    fn fits(&self, state: &State) -> bool {
        (state.q.len(), state.v.len()) == part::sizes(&self.parts)
    }

    pub(super) fn places(&self, t: f64, q: &[f64], out: &mut Vec<Place>) {
        out.clear();
        out.extend(self.parts.iter().map(|part| part.place(t, q)));
    }

    /// Storage; what a panic of a user's function left in it is overwritten anyway.
    pub(super) fn scratch(&self) -> MutexGuard<'_, Scratch> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The size of the smallest bounded shape on a body that moves; a point counts as large as its body.
fn smallest(parts: &[Part], surfaces: &[Surface]) -> f64 {
    let moving = surfaces.iter().filter(|s| parts[s.part].moving.is_some());
    let sizes = moving.map(|s| {
        let own = size(&s.shape);
        if own > 0.0 { own } else { parts[s.part].radius }
    });
    let least = sizes.filter(|&s| s > 0.0).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 1.0 }
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

    fn bodies(&self) -> &[usize] {
        &self.bodies
    }

    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        q.iter_mut().zip(v).for_each(|(q, v)| *q += h * v);
    }

    fn mass(&self, body: usize) -> Matrix6<f64> {
        self.parts[self.movers[body]].block()
    }

    fn forces(&self, t: f64, q: &[f64], v: &[f64], out: &mut Forces) {
        self.load(t, q, v, out);
    }

    fn gyroscopic(&self, _: usize, _: &[f64]) -> Option<Matrix6<f64>> {
        None
    }

    fn jacobian(&self, t: f64, q: &[f64], v: &[f64], out: &mut ForceJacobian) {
        self.slopes(t, q, v, out);
    }

    fn jacobian_kind(&self) -> JacobianKind {
        self.slopes_kind()
    }

    fn joints(&self, t: f64, q: &[f64], out: &mut Vec<JointRow>) {
        out.clear();
        for hinge in &self.hinges {
            let [a, b] = hinge.sides.map(|i| self.parts[i].place(t, q));
            hinge.rows(&self.parts, [&a, &b], out);
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
        out.clear();
        rates.clear();
        for hinge in &self.hinges {
            let parts = hinge.sides.map(|i| &self.parts[i]);
            // nobody knows the accelerations of a body that is led
            if parts.iter().any(|part| matches!(part.kind, Kind::Kinematic(_))) {
                return false;
            }
            let [a, b] = parts.map(|part| part.place(t, q));
            let twists = [parts[0].velocity(&a, v), parts[1].velocity(&b, v)];
            hinge.rows_and_rates(&self.parts, [&a, &b], twists, (out, rates));
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
        self.near(t, q, near, cache, out);
    }

    fn surface_speed(&self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        let speed = |part: &Part| part.surface_speed(&part.velocity(&part.place(t, q), v));
        self.parts.iter().filter(|p| p.moving.is_some()).map(speed).fold(0.0, f64::max)
    }

    fn prescribed_speed(&self, t: f64) -> f64 {
        let prescribed = self.parts.iter().filter(|p| p.moving.is_none());
        let speed = |part: &Part| {
            let Place { centre, angle, drift, .. } = part.place(t, &[]);
            let numbers = [centre.x, centre.y, angle, drift.linear.x, drift.linear.y, drift.angular];
            let finite = numbers.iter().all(|x| x.is_finite());
            if finite { part.surface_speed(&drift) } else { f64::NAN }
        };
        // f64::max would pass over what is not a number
        prescribed.map(speed).fold(0.0, |most: f64, s| if s > most || s.is_nan() { s } else { most })
    }

    fn has_moment_friction(&self) -> bool {
        let surfaces = self.surfaces.iter().map(|s| &s.material);
        Material::any_pair(surfaces, self.world.materials.values(), |m| m.rolling)
    }

    fn size(&self) -> f64 {
        self.size
    }

    fn gravity(&self) -> f64 {
        self.world.gravity.norm()
    }

    fn potential(&self, t: f64, q: &[f64]) -> f64 {
        self.energy(t, q)
    }

    fn momentum(&self, q: &[f64], v: &[f64]) -> ([f64; 3], [f64; 3]) {
        let (mut linear, mut angular) = (Vector2::zeros(), 0.0);
        for part in self.parts.iter().filter(|p| p.moving.is_some()) {
            // bodies that move by themselves do not ask for the time
            let place = part.place(0.0, q);
            let twist = part.velocity(&place, v);
            let p = part.mass * twist.linear;
            linear += p;
            angular += place.centre.coords.perp(&p);
            if part.turns() {
                angular += part.inertia * twist.angular;
            }
        }
        ([linear.x, linear.y, 0.0], [0.0, 0.0, angular])
    }
}
