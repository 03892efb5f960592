//! Acceleration problem at a state: M a = k + Rᵀλ, R a = −(dR/dt) v.
//!
//! Its forces decide whether modes are right. Impulses of a step cannot: they are means, half a step late.

use super::certificate;
use super::constants::{DIFFERENCE_STEP_RELATIVE, MAX_DIFFERENCE_TIME};
use super::context::{Configuration, SolveContext, dot, mobility, set_bodies, velocity_offsets};
use super::rows::{ConstraintRows, slip_velocity};
use super::schur::RigidJoints;
use crate::assemble::{self, Offsets, RowMap};
use crate::error::StepError;
use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, ContactRow, Forces, JointRow, RowKind, SearchCache, System};
use stiction_lcp::problem::Layout;
use stiction_lcp::{Candidate, Certificate, ContactMode, FrictionSet, Row, StepProblem};

/// Acceleration problem and its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct AccelerationProblem {
    pub(super) problem: StepProblem,
    pub(super) layout: Layout,
    pub(super) places: RowMap,
    pub(super) rows: ConstraintRows,
    /// Rows at the points of the differences.
    stencil: [ConstraintRows; 8],
    forces: Forces,
    pub(super) modes: Vec<ContactMode>,
    /// Prescribed part of the slip of each contact [m/s]; the offsets of its rows become rates.
    prescribed_slips: Vec<[f64; 3]>,
    /// Prescribed part of the slip of each joint row: its drift less the speed that a drive seeks [m/s].
    prescribed_speeds: Vec<f64>,
    /// Active constraints with friction against the slip at the state of the problem.
    turned: Vec<ActiveConstraint>,
    q: Vec<f64>,
    schur: RigidJoints,
    /// d/dt of the speeds of joint rows at constant v.
    joint_rates: Vec<f64>,
    /// d/dt of the speeds of contact rows at constant v: normal and tangents.
    pub(super) contact_rates: Vec<[f64; 3]>,
}

/// Points of the stencil, in steps from here: the nearest ones, and those farther on either side.
const STENCIL_POINTS: [f64; 8] = [-2.0, -1.0, 1.0, 2.0, -4.0, -3.0, 3.0, 4.0];

/// Difference of fourth order: f'(0) ≈ (here · f(0) + Σ weights · f(points · step)) / (12 step).
struct Difference {
    /// Indices of its points in the stencil.
    points: [usize; 4],
    weights: [f64; 4],
    here: f64,
}

/// Differences with points on both sides, before and after. The features of a contact may end here: rows of other
/// features have other speeds.
static DIFFERENCES: [Difference; 3] = [
    Difference { points: [0, 1, 2, 3], weights: [1.0, -8.0, 8.0, -1.0], here: 0.0 },
    Difference { points: [4, 5, 0, 1], weights: [3.0, -16.0, 36.0, -48.0], here: 25.0 },
    Difference { points: [2, 3, 6, 7], weights: [48.0, -36.0, 16.0, -3.0], here: -25.0 },
];

/// Force and slip of an active constraint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ConstraintLoad {
    /// Normal force; 0 of a drive [N].
    pub(super) normal: f64,
    /// Friction force on the second body [N]; of a drive, along its row.
    pub(super) friction: [f64; 3],
    /// Friction bound [N].
    pub(super) bound: f64,
    /// Slip velocity [m/s].
    pub(super) slip: [f64; 3],
}

impl AccelerationProblem {
    /// Joint forces and accelerations by direct elimination, where no constraint is active and joints are rigid and
    /// not redundant; `None` elsewhere.
    pub(super) fn eliminate_joints<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        cache: &mut SearchCache,
    ) -> Option<(&[f64], Vec<f64>)> {
        let State { t, q, v, .. } = state;
        self.read(system, state, &[], cache).ok()?;
        if !self.schur.factor(system, (*t, q), &self.rows.joints) {
            return None;
        }
        system.forces(*t, q, v, &mut self.forces);
        self.forces.complete(system, v);
        let mut a = Vec::with_capacity(v.len());
        self.schur.respond(&self.forces.k, &mut a);
        self.schur.correct(|k| self.joint_rates[k], &mut a);
        a.iter().all(|a| a.is_finite()).then_some((self.schur.impulses(), a))
    }

    /// Assembles bodies and applied forces at a state, and reads the rows.
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
        self.forces.complete(system, v);
        set_bodies(system, Configuration::of(state), &mut self.problem);
        let mut first = 0;
        for body in &mut self.problem.bodies {
            for i in 0..body.velocities {
                body.momentum[i] = self.forces.k[first + i];
            }
            first += body.velocities;
        }
        Ok(())
    }

    /// Reads rows at a state, and the rates of their speeds at constant v.
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
            && system.joint_rates(*t, q, v, &mut self.rows.joints, &mut self.joint_rates)
            && self.rows.joints.iter().zip(&self.joint_rates).all(known)
        {
            self.rows.keep_joints_only(*t, &mut self.joint_rates);
            self.contact_rates.clear();
            self.keep_prescribed();
            return Ok(());
        }
        let fastest = system.surface_speed(*t, q, v);
        let travel = DIFFERENCE_STEP_RELATIVE * system.size();
        let step = (travel / fastest.max(f64::MIN_POSITIVE)).min(MAX_DIFFERENCE_TIME);
        self.rows.read(system, Configuration::of(state), active, None, cache)?;
        self.keep_prescribed();
        self.read_stencil(system, state, active, step, cache)?;
        self.differentiate(system, v, step);
        Ok(())
    }

    /// Keeps the prescribed parts of slips, before the offsets of the rows become rates.
    fn keep_prescribed(&mut self) {
        let slip = |row: &ContactRow| -> [f64; 3] {
            let parts = || row.tangents.iter().zip(row.tangent_directions);
            std::array::from_fn(|c| parts().map(|(tangent, direction)| tangent.offset * direction[c]).sum())
        };
        self.prescribed_slips.clear();
        self.prescribed_slips.extend(self.rows.contacts.iter().map(slip));
        let speed = |joint: &JointRow| match joint.kind {
            RowKind::Drive { speed, .. } => joint.drift - speed,
            _ => joint.drift,
        };
        self.prescribed_speeds.clear();
        self.prescribed_speeds.extend(self.rows.joints.iter().map(speed));
    }

    /// Reads the rows at the points of the differences that are needed. Where a contact does not have its features at
    /// all points nearby, points farther on either side are read too.
    fn read_stencil<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        step: f64,
        cache: &mut SearchCache,
    ) -> Result<(), StepError> {
        let State { t, q, v, .. } = state;
        let Self { stencil, rows: here, q: beside, .. } = self;
        let (nearest, farther) = stencil.split_at_mut(4);
        let mut read = |rows: &mut [ConstraintRows], points: &[f64]| {
            for (rows, k) in rows.iter_mut().zip(points) {
                beside.clone_from(q);
                system.advance(beside, v, k * step);
                let at = Configuration { t: t + k * step, q: beside };
                rows.read(system, at, active, Some(&*here), cache)?;
            }
            Ok(())
        };
        read(nearest, &STENCIL_POINTS[..4])?;
        if nearest.iter().any(|rows| !rows.missing.is_empty()) {
            read(farther, &STENCIL_POINTS[4..])?;
        }
        Ok(())
    }

    /// Rates of row speeds at constant v, by differences over the points of the stencil.
    fn differentiate<S: System + ?Sized>(&mut self, system: &S, v: &[f64], step: f64) {
        let offsets = velocity_offsets(system);
        let speed = |row: &Row, drift: f64| row.dot(&offsets, v) + drift;
        let stencil = &self.stencil;
        let slope = |difference: &Difference, of: &dyn Fn(&ConstraintRows) -> f64| {
            let points = difference.points.iter().zip(difference.weights);
            let sum: f64 = points.map(|(&point, weight)| weight * of(&stencil[point])).sum();
            let here = if difference.here == 0.0 { 0.0 } else { difference.here * of(&self.rows) };
            (sum + here) / (12.0 * step)
        };
        self.joint_rates.clear();
        for k in 0..self.rows.joints.len() {
            let of = |rows: &ConstraintRows| speed(&rows.joints[k].row, rows.joints[k].drift);
            self.joint_rates.push(slope(&DIFFERENCES[0], &of));
        }
        self.contact_rates.clear();
        for (k, contact) in self.rows.contacts.iter().enumerate() {
            let has_features = |d: &&Difference| d.points.iter().all(|&p| !stencil[p].missing.contains(&k));
            // a contact that has its features for this instant alone is taken as it is here
            let difference = DIFFERENCES.iter().find(has_features).unwrap_or(&DIFFERENCES[0]);
            let of = |rows: &ConstraintRows| speed(&rows.contacts[k].normal, rows.contacts[k].drift);
            let mut rates = [slope(difference, &of), 0.0, 0.0];
            // tangents at other points may have other directions: the slip there is taken along those here
            for (j, direction) in contact.tangent_directions.iter().take(contact.tangents.len()).enumerate() {
                let of =
                    |rows: &ConstraintRows| dot(slip_velocity(&rows.contacts[k], &offsets, v), *direction);
                rates[1 + j] = slope(difference, &of);
            }
            self.contact_rates.push(rates);
        }
    }

    /// Solves for forces and accelerations in given modes.
    pub(super) fn solve_in_modes<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        solve: &mut SolveContext,
    ) -> Result<Candidate, StepError> {
        self.assemble_in_modes(system, state, active, &mut solve.cache)?;
        solve.least_norm_in_modes(state.t, &self.problem, &self.modes)
    }

    /// Assembles the problem of given modes at a state. Friction of a contact that slips is against its slip there.
    pub(super) fn assemble_in_modes<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        cache: &mut SearchCache,
    ) -> Result<(), StepError> {
        self.assemble(system, state, active, cache)?;
        let mut turned = std::mem::take(&mut self.turned);
        self.rows.turn_directions(&velocity_offsets(system), &state.v, active, &mut turned);
        self.assemble_rows(system, &turned, &[], 0.0);
        self.rows.modes(&turned, &mut self.modes);
        self.turned = turned;
        Ok(())
    }

    /// Certificate of an answer in the modes of the last solve.
    pub(super) fn certificate(&self, candidate: &Candidate) -> Certificate {
        certificate::in_modes(&self.problem, &self.layout, &self.modes, candidate)
    }

    /// Assembles the rows. Slipping constraints that are not `free` to change their mode have offsets of `slip_offset`
    /// times the accelerations around along their slip, so that a complementarity problem keeps it.
    pub(super) fn assemble_rows<S: System + ?Sized>(
        &mut self,
        system: &S,
        active: &[ActiveConstraint],
        free: &[ConstraintId],
        slip_offset: f64,
    ) {
        let scale = self.acceleration_scale(system);
        self.problem.speed_scale = scale.max(f64::MIN_POSITIVE);
        self.set_row_offsets(slip_offset * scale, active, free);
        let Self { problem, layout, places, rows, contact_rates, .. } = self;
        let normal = |row: &ContactRow| {
            let k = rows.contacts.iter().position(|c| c.id == row.id);
            k.map_or(0.0, |k| contact_rates[k][0])
        };
        let drift = |j: &JointRow| j.drift;
        let offsets = Offsets { joint: &drift, contact: &normal, limit: &drift };
        assemble::rows(problem, places, 1.0, &rows.joints, &rows.contacts, &offsets);
        problem.lay_out(layout);
    }

    /// Scale of the accelerations around: of gravity, applied forces and drives [m/s²].
    fn acceleration_scale<S: System + ?Sized>(&mut self, system: &S) -> f64 {
        let Self { problem, layout, rows, .. } = self;
        problem.lay_out(layout);
        let accelerations = problem
            .bodies
            .iter()
            .flat_map(|b| (0..b.velocities).map(move |i| b.momentum[i] / b.mass[(i, i)]));
        let scale = accelerations.fold(system.gravity(), |m: f64, a| m.max(a.abs()));
        // a motor may be the only cause of motion
        let drives = rows.joints.iter().filter_map(|j| match j.kind {
            RowKind::Drive { force, .. } => Some(force * mobility(problem, layout, &j.row)),
            _ => None,
        });
        drives.fold(scale, f64::max)
    }

    /// Sets the offsets of tangent and joint rows from their rates, and from the slip of constraints that keep their
    /// mode.
    fn set_row_offsets(&mut self, slip_offset: f64, active: &[ActiveConstraint], free: &[ConstraintId]) {
        let Self { rows, joint_rates, contact_rates, .. } = self;
        let slip = |c: &ActiveConstraint| c.slip_direction().filter(|_| !free.contains(&c.constraint));
        let contacts = active.iter().filter(|c| c.is_contact());
        let rows_and_rates = rows.contacts.iter_mut().zip(&mut *contact_rates);
        for ((row, rates), active) in rows_and_rates.zip(contacts) {
            let slip = slip(active);
            if let Some(direction) = slip
                && row.tangents.len() == 2
                && (row.aligned || slip_offset > 0.0)
            {
                turn_tangents(row, rates, row.tangent_directions.map(|t| dot(t, direction)));
                if slip_offset > 0.0 {
                    // friction is along the slip and nowhere else, whatever the acceleration across it
                    row.tangents.truncate(1);
                    row.set = FrictionSet::line();
                }
            }
            for (k, tangent) in row.tangents.iter_mut().enumerate() {
                tangent.offset = rates[1 + k];
                if let Some(direction) = slip {
                    // slip is against friction
                    tangent.offset -= slip_offset * dot(row.tangent_directions[k], direction);
                }
            }
        }
        let joints = rows.joints.iter_mut().zip(&*joint_rates).zip(&rows.joint_indices);
        for ((joint, rate), &row) in joints {
            joint.error = 0.0;
            joint.drift = *rate;
            if let RowKind::Drive { speed, .. } = &mut joint.kind {
                *speed = 0.0;
                let own = active.iter().find(|c| c.constraint == ConstraintId::Joint(row));
                if let Some([sign, ..]) = own.and_then(slip) {
                    joint.drift -= slip_offset * sign;
                }
            }
        }
    }

    /// Scale of forces [N].
    pub(super) fn force_scale(&self) -> f64 {
        let bodies = self.problem.bodies.iter();
        let weights = bodies.map(|b| b.mass[(0, 0)] * self.problem.speed_scale);
        weights.fold(f64::MIN_POSITIVE, f64::max)
    }

    /// Whether an active constraint is a drive.
    pub(super) fn is_drive(&self, constraint: ConstraintId) -> bool {
        let ConstraintId::Joint(row) = constraint else { return false };
        let k = self.rows.joint_indices.iter().position(|&r| r == row);
        k.is_some_and(|k| matches!(self.rows.joints[k].kind, RowKind::Drive { .. }))
    }

    /// Whether an active constraint has friction.
    pub(super) fn has_friction(&self, constraint: ConstraintId) -> bool {
        match constraint {
            ConstraintId::Contact(id) => self.rows.contacts.iter().any(|c| c.id == id && c.mu > 0.0),
            ConstraintId::Joint(_) => self.is_drive(constraint),
        }
    }

    /// Loads of the active constraints in a solution, in their order.
    pub(super) fn loads(&self, active: &[ActiveConstraint], v: &[f64], z: &[f64]) -> Vec<ConstraintLoad> {
        let mut contacts = 0;
        let load = |active: &ActiveConstraint| match active.constraint {
            ConstraintId::Contact(_) => {
                contacts += 1;
                self.contact_load(contacts - 1, v, z)
            }
            ConstraintId::Joint(row) => self.joint_load(row, v, z),
        };
        active.iter().map(load).collect()
    }

    /// Index of each active constraint in the problem; `None` for rows that are not there.
    pub(super) fn problem_indices(&self, active: &[ActiveConstraint]) -> Vec<Option<usize>> {
        let mut contacts = 0;
        let index = |active: &ActiveConstraint| match active.constraint {
            ConstraintId::Contact(_) => {
                contacts += 1;
                Some(self.places.first_contact + contacts - 1)
            }
            ConstraintId::Joint(row) => self.joint_index(row),
        };
        active.iter().map(index).collect()
    }

    /// Index in the problem of a joint row that is a limit or drive.
    fn joint_index(&self, row: usize) -> Option<usize> {
        let k = self.rows.joint_indices.iter().position(|&r| r == row)?;
        match self.places.joints[k] {
            assemble::RowLocation::Contact(i) => Some(i),
            assemble::RowLocation::Joint(_) => None,
        }
    }

    /// Force and slip of an active contact, by its index among the rows.
    pub(super) fn contact_load(&self, k: usize, v: &[f64], z: &[f64]) -> ConstraintLoad {
        let i = self.places.first_contact + k;
        let (row, contact) = (&self.rows.contacts[k], &self.problem.contacts[i]);
        let own = &z[self.layout.contact[i]..self.layout.contact[i + 1]];
        let [x, y, _] = contact.tangent_impulse(&own[1..]);
        let along = |x: [f64; 2]| -> [f64; 3] {
            std::array::from_fn(|c| x[0] * row.tangent_directions[0][c] + x[1] * row.tangent_directions[1][c])
        };
        let mut slip = [0.0; 2];
        for (u, tangent) in slip.iter_mut().zip(&row.tangents) {
            *u = tangent.row.dot(&self.layout.velocity, v);
        }
        let prescribed = row.tangent_directions.map(|t| dot(t, self.prescribed_slips[k]));
        let slip = [slip[0] + prescribed[0], slip[1] + prescribed[1]];
        ConstraintLoad { normal: own[0], friction: along([x, y]), bound: row.mu * own[0], slip: along(slip) }
    }

    fn joint_load(&self, row: usize, v: &[f64], z: &[f64]) -> ConstraintLoad {
        let none = ConstraintLoad { normal: 0.0, friction: [0.0; 3], bound: 0.0, slip: [0.0; 3] };
        let Some(k) = self.rows.joint_indices.iter().position(|&r| r == row) else { return none };
        let Some(i) = self.joint_index(row) else { return none };
        let own = &z[self.layout.contact[i]..self.layout.contact[i + 1]];
        let contact = &self.problem.contacts[i];
        if contact.normal.is_some() {
            return ConstraintLoad { normal: own[0], ..none };
        }
        let [x, ..] = contact.tangent_impulse(own);
        let slip = self.rows.joints[k].row.dot(&self.layout.velocity, v) + self.prescribed_speeds[k];
        ConstraintLoad { friction: [x, 0.0, 0.0], bound: contact.kappa, slip: [slip, 0.0, 0.0], ..none }
    }
}

/// Turns the tangents of a contact, and the rates of their speeds, so that the first is along (x, y).
pub(super) fn turn_tangents(row: &mut ContactRow, rates: &mut [f64; 3], [x, y]: [f64; 2]) {
    let length = x.hypot(y);
    if !(length > 0.0) {
        return;
    }
    let (cos, sin) = (x / length, y / length);
    row.turn(cos, sin);
    let [normal, first, second] = *rates;
    *rates = [normal, cos * first + sin * second, cos * second - sin * first];
}
