//! Accelerations and forces at an instant: M a = k + Rᵀλ, R a = −(dR/dt) v.
//!
//! Modes are right or wrong at instants, so what tells is the forces there, not the impulses of a step, which are
//! means and half a step late.

use super::flow::{Flow, bodies, mobility, unsolved};
use super::frame::{Frame, contact, dot, starts};
use super::judge;
use super::schur::RigidJoints;
use crate::assemble::{self, Offsets, Places};
use crate::error::StepError;
use crate::scheme::Scheme;
use crate::state::{ActiveConstraint, Hold, State};
use crate::system::{
    ConstraintId, ContactRow, Forces, JointRow, RowKind, SearchCache, System, add_gyroscopic,
};
use stiction_lcp::problem::Layout;
use stiction_lcp::{Candidate, Certificate, ContactMode, Row, StepProblem};

/// Surfaces go this part of the size between the points that derivatives of rows are taken from. The error is its
/// fourth power over thirty, 3e-14; smaller loses as much to round-off.
const STENCIL: f64 = 1e-3;

/// At most this much time between those points [s], where nothing moves but what is prescribed.
const INSTANT: f64 = 1e-3;

/// Offset of the tangent rows of a contact that slips, in units of the accelerations around: friction of a contact
/// that slips acts against its slip whatever the acceleration.
const SLIPPING: f64 = 1e3;

/// What begins to slip does so with more than this, in units of the accelerations around: where it is looked for, just
/// after an event, it has hardly begun, and less is round-off of the solve.
const SLIPS: f64 = 1e-13;

/// Friction within this part of its bound is at it.
const BOUND: f64 = 1e-9;

/// An acceleration problem and its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Instant {
    pub(super) problem: StepProblem,
    pub(super) layout: Layout,
    pub(super) places: Places,
    pub(super) frame: Frame,
    beside: [Frame; 4],
    forces: Forces,
    pub(super) modes: Vec<ContactMode>,
    q: Vec<f64>,
    schur: RigidJoints,
    /// d/dt of the speeds of the rows at constant v: joints, then contacts with normal and tangents.
    joints: Vec<f64>,
    contacts: Vec<[f64; 3]>,
}

/// What something that bears does at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Load {
    /// Normal force, or 0 of a drive [N].
    pub(super) normal: f64,
    /// Friction force on the second body [N]; of a drive, along its row.
    pub(super) friction: [f64; 3],
    /// Its bound [N].
    pub(super) bound: f64,
    /// Slip velocity [m/s].
    pub(super) slip: [f64; 3],
}

impl Instant {
    /// Forces of the joints and accelerations where nothing bears and joints are rigid and not redundant; `None`
    /// elsewhere.
    pub(super) fn directly<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        cache: &mut SearchCache,
    ) -> Option<(&[f64], Vec<f64>)> {
        let State { t, q, v, .. } = state;
        self.read(system, state, &[], cache).ok()?;
        if !self.schur.factor(system, (*t, q), &self.frame.joints) {
            return None;
        }
        system.forces(*t, q, v, &mut self.forces);
        add_gyroscopic(system, v, &mut self.forces.k);
        let mut a = Vec::with_capacity(v.len());
        self.schur.respond(&self.forces.k, &mut a);
        self.schur.correct(|k| self.joints[k], &mut a);
        a.iter().all(|a| a.is_finite()).then_some((self.schur.impulses(), a))
    }

    /// The acceleration problem at a state; tangents of slipping contacts are along their friction.
    pub(super) fn assemble<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        cache: &mut SearchCache,
    ) -> Result<(), StepError> {
        self.read(system, state, active, cache)?;
        let State { t, q, v, .. } = state;
        system.forces(*t, q, v, &mut self.forces);
        add_gyroscopic(system, v, &mut self.forces.k);
        bodies(system, *t, q, &mut self.problem);
        let mut at = 0;
        for body in &mut self.problem.bodies {
            for i in 0..body.velocities {
                body.momentum[i] = self.forces.k[at + i];
            }
            at += body.velocities;
        }
        Ok(())
    }

    /// Rows at a state, and how their speeds change at constant v.
    fn read<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        cache: &mut SearchCache,
    ) -> Result<(), StepError> {
        let State { t, q, v, .. } = state;
        let known = |(joint, rate): (&JointRow, &f64)| match joint.kind {
            RowKind::Rigid(_) => rate.is_finite(),
            RowKind::Limit => true,
            RowKind::Drive { .. } => false,
        };
        if active.is_empty()
            && system.joint_rates(*t, q, v, &mut self.frame.joints, &mut self.joints)
            && self.frame.joints.iter().zip(&self.joints).all(known)
        {
            self.frame.bear_nothing(*t, &mut self.joints);
            self.contacts.clear();
            return Ok(());
        }
        let fastest = system.surface_speed(*t, q, v);
        let step = (STENCIL * system.size() / fastest.max(f64::MIN_POSITIVE)).min(INSTANT);
        self.frame.read(system, (*t, q), active, None, cache)?;
        for (frame, k) in self.beside.iter_mut().zip([-2.0, -1.0, 1.0, 2.0]) {
            self.q.clone_from(q);
            system.advance(&mut self.q, v, k * step);
            frame.read(system, (t + k * step, &self.q), active, Some(&self.frame), cache)?;
        }
        self.differentiate(system, v, step);
        Ok(())
    }

    /// d/dt of the speeds of rows at constant v, by four points.
    fn differentiate<S: System + ?Sized>(&mut self, system: &S, v: &[f64], step: f64) {
        let starts = starts(system);
        let slope = |at: [f64; 4]| (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * step);
        let speed = |row: &Row, drift: f64| row.dot(&starts, v) + drift;
        self.joints.clear();
        for k in 0..self.frame.joints.len() {
            self.joints.push(slope(std::array::from_fn(|i| {
                let joint = &self.beside[i].joints[k];
                speed(&joint.row, joint.drift)
            })));
        }
        self.contacts.clear();
        for k in 0..self.frame.contacts.len() {
            let normal = slope(std::array::from_fn(|i| {
                let row = &self.beside[i].contacts[k];
                speed(&row.normal, row.drift)
            }));
            let mut rates = [normal, 0.0, 0.0];
            for j in 0..self.frame.contacts[k].tangents.len() {
                rates[1 + j] = slope(std::array::from_fn(|i| {
                    let row = &self.beside[i].contacts[k].tangents[j];
                    speed(&row.row, row.offset)
                }));
            }
            self.contacts.push(rates);
        }
    }

    /// Forces and accelerations in given modes.
    pub(super) fn solve_in_modes<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        flow: &mut Flow,
    ) -> Result<Candidate, StepError> {
        self.assemble(system, state, active, &mut flow.cache)?;
        self.rows(system, active, &[]);
        self.frame.modes(active, &mut self.modes);
        flow.solves += 1;
        flow.lcp.solve_in_modes(&self.problem, &self.modes).map_err(|e| unsolved(state.t, e, &self.problem))
    }

    /// How well an answer in the modes it was found in holds.
    pub(super) fn certificate(&self, candidate: &Candidate) -> Certificate {
        judge::given_modes(&self.problem, &self.layout, &self.modes, candidate)
    }

    /// The rows of the problem. Friction of contacts that are not in `free` acts as their slip says.
    pub(super) fn rows<S: System + ?Sized>(
        &mut self,
        system: &S,
        active: &[ActiveConstraint],
        free: &[ConstraintId],
    ) {
        let Self { problem, layout, places, frame, joints, contacts, .. } = self;
        problem.lay_out(layout);
        let accelerations = problem
            .bodies
            .iter()
            .flat_map(|b| (0..b.velocities).map(move |i| b.momentum[i] / b.mass[(i, i)]));
        let scale = accelerations.fold(system.gravity(), |m: f64, a| m.max(a.abs()));
        // a motor starts what nothing else moves
        let drives = frame.joints.iter().filter_map(|j| match j.kind {
            RowKind::Drive { force, .. } => Some(force * mobility(problem, layout, &j.row)),
            _ => None,
        });
        let scale = drives.fold(scale, f64::max);
        problem.speed_scale = scale.max(f64::MIN_POSITIVE);
        let holds = active.iter().filter_map(|b| contact(b).map(|_| b));
        for ((row, rates), active) in frame.contacts.iter_mut().zip(&mut *contacts).zip(holds) {
            if let Hold::Slip(direction) = active.hold
                && !free.contains(&active.constraint)
                && row.aligned
                && row.tangents.len() == 2
            {
                let [x, y] = row.tangent_directions.map(|t| dot(t, direction));
                turn(row, rates, [x, y]);
            }
            for (k, tangent) in row.tangents.iter_mut().enumerate() {
                tangent.offset = rates[1 + k];
                if let Hold::Slip(direction) = active.hold
                    && !free.contains(&active.constraint)
                {
                    // slip is against friction
                    tangent.offset -= SLIPPING * scale * dot(row.tangent_directions[k], direction);
                }
            }
        }
        for ((joint, rate), &place) in frame.joints.iter_mut().zip(&*joints).zip(&frame.rows) {
            joint.error = 0.0;
            joint.drift = *rate;
            if let RowKind::Drive { speed, .. } = &mut joint.kind {
                *speed = 0.0;
                let place = ConstraintId::Joint(place);
                let hold = active.iter().find(|b| b.constraint == place).map(|b| b.hold);
                if let Some(Hold::Slip([sign, ..])) = hold
                    && !free.contains(&place)
                {
                    joint.drift -= SLIPPING * scale * sign;
                }
            }
        }
        let normal = |row: &ContactRow| {
            let k = frame.contacts.iter().position(|c| c.id == row.id);
            k.map_or(0.0, |k| contacts[k][0])
        };
        let drift = |j: &JointRow| j.drift;
        let offsets = Offsets { joint: &drift, contact: &normal, limit: &drift };
        assemble::rows(problem, places, 1.0, &frame.joints, &frame.contacts, &offsets);
        problem.lay_out(layout);
    }

    /// What forces are measured by [N].
    pub(super) fn force_scale(&self) -> f64 {
        let bodies = self.problem.bodies.iter();
        let weights = bodies.map(|b| b.mass[(0, 0)] * self.problem.speed_scale);
        weights.fold(f64::MIN_POSITIVE, f64::max)
    }

    /// Whether something that bears is a drive.
    pub(super) fn is_drive(&self, place: ConstraintId) -> bool {
        let ConstraintId::Joint(row) = place else { return false };
        let k = self.frame.rows.iter().position(|&r| r == row);
        k.is_some_and(|k| matches!(self.frame.joints[k].kind, RowKind::Drive { .. }))
    }

    /// Whether something that bears has friction.
    pub(super) fn has_friction(&self, place: ConstraintId) -> bool {
        match place {
            ConstraintId::Contact(id) => self.frame.contacts.iter().any(|c| c.id == id && c.mu > 0.0),
            ConstraintId::Joint(_) => self.is_drive(place),
        }
    }

    /// What each thing that bears does in a solution, in the order of `bearing`.
    pub(super) fn loads(&self, active: &[ActiveConstraint], v: &[f64], z: &[f64], out: &mut Vec<Load>) {
        out.clear();
        let mut next = 0;
        for active in active {
            let load = match active.constraint {
                ConstraintId::Contact(_) => {
                    next += 1;
                    self.contact_load(next - 1, v, z)
                }
                ConstraintId::Joint(row) => self.joint_load(row, v, z),
            };
            out.push(load);
        }
    }

    fn contact_load(&self, k: usize, v: &[f64], z: &[f64]) -> Load {
        let i = self.places.first_contact + k;
        let (row, contact) = (&self.frame.contacts[k], &self.problem.contacts[i]);
        let own = &z[self.layout.contact[i]..self.layout.contact[i + 1]];
        let [x, y, _] = contact.tangent_impulse(&own[1..]);
        let along = |x: [f64; 2]| -> [f64; 3] {
            std::array::from_fn(|c| x[0] * row.tangent_directions[0][c] + x[1] * row.tangent_directions[1][c])
        };
        let mut slip = [0.0; 2];
        for (u, tangent) in slip.iter_mut().zip(&row.tangents) {
            *u = tangent.row.dot(&self.layout.velocity, v);
        }
        let prescribed = self.slip_drift(k);
        let slip = [slip[0] + prescribed[0], slip[1] + prescribed[1]];
        Load { normal: own[0], friction: along([x, y]), bound: row.mu * own[0], slip: along(slip) }
    }

    /// The prescribed part of the slip of a contact, which the offsets of the rows no longer hold.
    fn slip_drift(&self, k: usize) -> [f64; 2] {
        let mut drift = [0.0; 2];
        let row = &self.frame.contacts[k];
        for beside in [&self.beside[1], &self.beside[2]] {
            let other = &beside.contacts[k];
            for (j, tangent) in other.tangents.iter().enumerate() {
                let direction = other.tangent_directions[j];
                for (i, drift) in drift.iter_mut().enumerate().take(row.tangents.len()) {
                    *drift += 0.5 * tangent.offset * dot(direction, row.tangent_directions[i]);
                }
            }
        }
        drift
    }

    fn joint_load(&self, row: usize, v: &[f64], z: &[f64]) -> Load {
        let none = Load { normal: 0.0, friction: [0.0; 3], bound: 0.0, slip: [0.0; 3] };
        let Some(k) = self.frame.rows.iter().position(|&r| r == row) else { return none };
        let assemble::Place::Contact(i) = self.places.joints[k] else { return none };
        let own = &z[self.layout.contact[i]..self.layout.contact[i + 1]];
        let contact = &self.problem.contacts[i];
        if contact.normal.is_some() {
            return Load { normal: own[0], ..none };
        }
        let [x, ..] = contact.tangent_impulse(own);
        // the drift and the speed sought are those beside the instant
        let beside = &self.beside[1].joints[k];
        let sought = if let RowKind::Drive { speed, .. } = beside.kind { speed } else { 0.0 };
        let slip = beside.row.dot(&self.layout.velocity, v) + beside.drift - sought;
        Load { friction: [x, 0.0, 0.0], bound: contact.kappa, slip: [slip, 0.0, 0.0], ..none }
    }

    /// Turns the tangents of contacts that may stick or slip along the friction they would need to stick, where
    /// their polygon is the circle.
    fn face<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        free: &[ConstraintId],
        flow: &mut Flow,
    ) -> Result<(), StepError> {
        let stuck = |b: &ActiveConstraint| ActiveConstraint {
            hold: if free.contains(&b.constraint) { Hold::Stick } else { b.hold },
            ..*b
        };
        let stuck: Vec<ActiveConstraint> = active.iter().map(stuck).collect();
        let holds = stuck.iter().filter(|b| contact(b).is_some());
        let faces = |(b, row): (&ActiveConstraint, &ContactRow)| {
            b.hold == Hold::Stick && row.aligned && row.tangents.len() == 2 && row.mu > 0.0
        };
        if !holds.clone().zip(&self.frame.contacts).any(faces) {
            return Ok(());
        }
        let (frame, rates) = (self.frame.clone(), self.contacts.clone());
        self.rows(system, &stuck, &[]);
        self.frame.modes(&stuck, &mut self.modes);
        flow.solves += 1;
        let candidate = flow
            .lcp
            .solve_in_modes(&self.problem, &self.modes)
            .map_err(|e| unsolved(state.t, e, &self.problem))?;
        let mut loads = Vec::new();
        self.loads(&stuck, &state.v, &candidate.z, &mut loads);
        flow.lcp.recycle_candidate(candidate);
        (self.frame, self.contacts) = (frame, rates);
        let friction = stuck.iter().zip(&loads).filter(|(b, _)| contact(b).is_some());
        let rows = self.frame.contacts.iter_mut().zip(&mut self.contacts);
        for ((b, load), (row, rates)) in friction.zip(rows).filter(|((b, _), (row, _))| faces((b, row))) {
            let [x, y] = row.tangent_directions.map(|t| dot(t, load.friction));
            if b.hold == Hold::Stick && x.hypot(y) > 0.0 {
                turn(row, rates, [x, y]);
            }
        }
        Ok(())
    }

    /// The modes in which things go on from an instant, where those of `free` may stick or slip and may let go:
    /// from the acceleration problem with complementarity. `None` if it has no solution that was found.
    pub(super) fn next_modes<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        free: &[ConstraintId],
        flow: &mut Flow,
    ) -> Result<Option<Vec<ActiveConstraint>>, StepError> {
        self.assemble(system, state, active, &mut flow.cache)?;
        self.face(system, state, active, free, flow)?;
        self.rows(system, active, free);
        flow.solves += 1;
        let Ok(solution) = flow.lcp.solve(&self.problem, &Scheme::pagt06().solver, None) else {
            return Ok(None);
        };
        let mut loads = Vec::new();
        self.loads(active, &state.v, solution.z(), &mut loads);
        let slips = &solution.certificate().contacts;
        let threshold = SLIPS * self.problem.speed_scale;
        let mut next = Vec::new();
        let mut contacts = 0;
        for (active, load) in active.iter().zip(&loads) {
            let (i, drive) = match active.constraint {
                ConstraintId::Contact(_) => {
                    contacts += 1;
                    (self.places.first_contact + contacts - 1, false)
                }
                ConstraintId::Joint(row) => {
                    let k = self.frame.rows.iter().position(|&r| r == row);
                    let place = k.map(|k| self.places.joints[k]);
                    let Some(assemble::Place::Contact(i)) = place else { continue };
                    (i, self.problem.contacts[i].normal.is_none())
                }
            };
            // what has no force and does not part either shares forces with others
            if !drive && load.normal <= 0.0 && solution.w()[self.layout.contact[i]] > threshold {
                continue;
            }
            let size = dot(load.friction, load.friction).sqrt();
            let slips = slips[i].lambda > threshold && size > 0.0 && size >= (1.0 - BOUND) * load.bound;
            let hold = match active.hold {
                Hold::Slip(_) if !free.contains(&active.constraint) => active.hold,
                _ if slips => Hold::Slip(load.friction.map(|f| f / size)),
                _ => Hold::Stick,
            };
            next.push(ActiveConstraint { constraint: active.constraint, hold });
        }
        flow.lcp.recycle(solution);
        Ok(Some(next))
    }
}

/// Turns the tangents of a contact, and the rates of their speeds, so that the first is along (x, y).
fn turn(row: &mut ContactRow, rates: &mut [f64; 3], [x, y]: [f64; 2]) {
    let length = x.hypot(y);
    if !(length > 0.0) {
        return;
    }
    let (cos, sin) = (x / length, y / length);
    row.turn(cos, sin);
    let [normal, first, second] = *rates;
    *rates = [normal, cos * first + sin * second, cos * second - sin * first];
}
