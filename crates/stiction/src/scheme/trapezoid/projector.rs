//! Projection onto joints and active contacts: positions by the least displacement, velocities along the forces.
//!
//! Between events states are not projected: rows at the mean velocity keep energy and let errors stay O(h²). Event
//! functions, error estimates and output use a projected copy.

use super::constants::{
    MAX_PROJECTION_PASSES, ONE_PASS_TRAVEL_RELATIVE, PROJECTED_ERROR_RELATIVE, PROJECTION_PROGRESS,
    RINGING_SPEED_RELATIVE,
};
use super::context::{
    Configuration, SolveContext, StepContext, StepStart, set_bodies, set_momentum, set_velocity_offsets,
    speed_scale,
};
use super::rows::ConstraintRows;
use super::schur::RigidJoints;
use super::substep::SubstepProblem;
use crate::assemble::{self, Offsets, RowMap};
use crate::error::StepError;
use crate::report::SubstepRecord;
use crate::scheme::{RowForm, RowForms};
use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, ContactRow, JointRow, RowKind, SearchCache, System};
use stiction_lcp::problem::Layout;
use stiction_lcp::{ContactMode, Row, StepProblem};

/// Projection problem and its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Projector {
    problem: StepProblem,
    layout: Layout,
    places: RowMap,
    rows: ConstraintRows,
    modes: Vec<ContactMode>,
    schur: RigidJoints,
    offsets: Vec<usize>,
    /// Displacement of each pass of the last projection, if a verifier is to see them.
    pub(super) displacements: Option<Vec<Vec<f64>>>,
}

/// Velocity that is projected at the start of a substep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProjectedVelocity {
    /// Midpoint velocity v̂.
    Midpoint,
    /// Start velocity w of the rows.
    Start,
}

/// Assembled projection problem with the modes of its contacts.
pub(super) struct AssembledProjection<'a> {
    pub(super) problem: &'a StepProblem,
    pub(super) layout: &'a Layout,
    pub(super) modes: &'a [ContactMode],
}

impl Projector {
    /// Projects a state: positions onto joints and closed gaps, then velocities onto the rows that hold in the modes,
    /// along the forces that hold them. Friction goes with the normals of slipping contacts, or the projection would be
    /// of first order.
    pub(super) fn project<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &mut State,
        active: &[ActiveConstraint],
        solve: &mut SolveContext,
    ) -> Result<(), StepError> {
        if let Some(displacements) = &mut self.displacements {
            displacements.clear();
        }
        if active.is_empty() && self.project_directly(system, state, solve) {
            return Ok(());
        }
        let mut least = f64::INFINITY;
        for pass in 0..=MAX_PROJECTION_PASSES {
            self.read(system, state, active, &mut solve.cache)?;
            if self.rows.joints.is_empty() && self.rows.contacts.is_empty() {
                return Ok(());
            }
            let error = self.position_error();
            if is_last_pass(system, pass, error, least) {
                break;
            }
            least = error;
            self.displace(system, state, solve)?;
        }
        let State { t, q, v, .. } = state;
        self.project_velocity(system, Configuration { t: *t, q }, v, active, solve)
    }

    /// Record of the last projection, to `end`.
    pub(super) fn record(&self, active: &[ActiveConstraint], end: &State) -> SubstepRecord {
        let displacements = self.displacements.clone().unwrap_or_default();
        SubstepRecord::Projection { active: active.to_vec(), displacements, v: end.v.clone() }
    }

    /// Computes the midpoint velocity v̂ of a substep, without its speeds along the rows that hold at the start. And the
    /// start velocity w of the rows: rows at the mean velocity keep their speeds, rows at the end lose them. Then all
    /// rows ask for N(q_m)(v⁺ + w) = 0, and redundant rows agree.
    ///
    /// Without known modes friction is left out, which does not ring, as are new contacts; rows keep v.
    pub(super) fn set_midpoint_velocity<S: System + ?Sized>(
        &mut self,
        context: &StepContext<S>,
        from: &StepStart,
        substep: &mut SubstepProblem,
        solve: &mut SolveContext,
    ) -> Result<(), StepError> {
        self.set_midpoint_velocity_by(context, from, substep, |projector, which, v| {
            let at = Configuration::of(from.state);
            let ConstraintRows { joints, contacts, .. } = &projector.rows;
            let direct = which == ProjectedVelocity::Midpoint && contacts.is_empty();
            if direct && projector.schur.factor(context.system, (at.t, at.q), joints) {
                projector.schur.correct(|k| joints[k].drift, v);
                solve.solves += 1;
                return Ok(());
            }
            projector.project_velocity(context.system, at, v, &from.active.constraints, solve)
        })
    }

    /// [`Projector::set_midpoint_velocity`] with another way to project a velocity onto the rows that were read.
    pub(super) fn set_midpoint_velocity_by<S: System + ?Sized>(
        &mut self,
        context: &StepContext<S>,
        from: &StepStart,
        substep: &mut SubstepProblem,
        mut project: impl FnMut(&mut Self, ProjectedVelocity, &mut [f64]) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let modes_known = from.active.modes_known;
        substep.consistent = modes_known;
        self.take_rows(&substep.start);
        if !modes_known {
            self.remove_friction(&from.active.new_contacts);
        }
        let State { v, .. } = from.state;
        set_velocity_offsets(context.system, &mut self.offsets);
        let least = RINGING_SPEED_RELATIVE * speed_scale(context.system, from.state, context.step);
        let [holding, sticking] =
            self.row_speeds(v, if modes_known { &from.active.constraints } else { &[] });
        if holding.max(sticking) <= least {
            return Ok(());
        }
        let projects_start = sticking > least && context.settings.rows.friction != RowForm::Mean;
        if projects_start && holding > least {
            self.keep_mean_speeds(context.settings.rows, v);
            project(self, ProjectedVelocity::Start, &mut substep.start_velocity)?;
            self.take_rows(&substep.start);
        }
        let done = project(self, ProjectedVelocity::Midpoint, &mut substep.midpoint_velocity);
        if projects_start && holding <= least {
            substep.start_velocity.clone_from(&substep.midpoint_velocity);
        }
        done
    }

    /// Sets the drifts of rows at the mean velocity so that they keep their speeds at `v`.
    fn keep_mean_speeds(&mut self, forms: RowForms, v: &[f64]) {
        let Self { rows, offsets, .. } = self;
        for joint in rows.joints.iter_mut().filter(|j| is_positional(j)) {
            let form = if joint.kind == RowKind::Limit { forms.persistent_contacts } else { forms.joints };
            if form == RowForm::Mean {
                joint.drift = -joint.row.dot(offsets, v);
            }
        }
        if forms.persistent_contacts == RowForm::Mean {
            rows.contacts.iter_mut().for_each(|c| c.drift = -c.normal.dot(offsets, v));
        }
    }

    fn take_rows(&mut self, start: &ConstraintRows) {
        let ConstraintRows { joints, joint_indices, contacts, .. } = &mut self.rows;
        joints.clone_from(&start.joints);
        joint_indices.clone_from(&start.joint_indices);
        contacts.clone_from(&start.contacts);
    }

    /// Removes drives, new contacts, and the friction of all others.
    fn remove_friction(&mut self, new_contacts: &[ActiveConstraint]) {
        self.rows.filter_joints(|j| !matches!(j.kind, RowKind::Drive { .. }));
        let contacts = &mut self.rows.contacts;
        contacts.retain(|c| new_contacts.iter().all(|n| n.contact() != Some(c.id)));
        contacts.iter_mut().for_each(|c| c.mu = 0.0);
    }

    /// Largest speed along the rows of joints, limits and normals, and along those of sticking constraints [m/s].
    fn row_speeds(&self, v: &[f64], active: &[ActiveConstraint]) -> [f64; 2] {
        let ConstraintRows { joints, joint_indices, contacts, .. } = &self.rows;
        let speed = |row: &Row, drift: f64| (row.dot(&self.offsets, v) + drift).abs();
        let holding = joints.iter().filter(|j| is_positional(j)).map(|j| speed(&j.row, j.drift));
        let holding = holding.chain(contacts.iter().map(|c| speed(&c.normal, c.drift)));
        let active_contacts = active.iter().filter(|c| c.is_contact()).zip(contacts);
        let sticking = active_contacts.filter(|(a, c)| a.sticks() && c.mu > 0.0);
        let sticking = sticking.flat_map(|(_, c)| &c.tangents).map(|t| speed(&t.row, t.offset));
        let drives = joints.iter().zip(joint_indices).filter_map(|(joint, &row)| {
            let RowKind::Drive { speed: sought, .. } = joint.kind else { return None };
            active.iter().find(|c| c.sticks() && c.constraint == ConstraintId::Joint(row))?;
            Some(speed(&joint.row, joint.drift - sought))
        });
        [holding.fold(0.0, f64::max), sticking.chain(drives).fold(0.0, f64::max)]
    }

    /// Projects a state by direct elimination. Returns `false` unless no constraint is active and joints are rigid and
    /// not redundant.
    fn project_directly<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &mut State,
        solve: &mut SolveContext,
    ) -> bool {
        let (mut least, mut near) = (f64::INFINITY, false);
        for pass in 0..=MAX_PROJECTION_PASSES {
            if self.read(system, state, &[], &mut solve.cache).is_err() {
                return false;
            }
            let (joints, at) = (&self.rows.joints, (state.t, &state.q[..]));
            let factored = if near {
                self.schur.update(system, at, joints)
            } else {
                self.schur.factor(system, at, joints)
            };
            if !factored {
                return false;
            }
            let error = self.position_error();
            if near || is_last_pass(system, pass, error, least) {
                break;
            }
            solve.solves += 1;
            least = error;
            let mut displacement = vec![0.0; state.v.len()];
            self.schur.correct(|k| joints[k].error, &mut displacement);
            let travel = system.surface_speed(state.t, &state.q, &displacement);
            near = travel <= ONE_PASS_TRAVEL_RELATIVE * system.size();
            system.advance(&mut state.q, &displacement, 1.0);
            if let Some(displacements) = &mut self.displacements {
                displacements.push(displacement);
            }
        }
        let joints = &self.rows.joints;
        self.schur.correct(|k| joints[k].drift, &mut state.v);
        solve.solves += 1;
        true
    }

    /// Reads the rows at a state.
    pub(super) fn read<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        cache: &mut SearchCache,
    ) -> Result<(), StepError> {
        self.rows.read(system, Configuration::of(state), active, None, cache)
    }

    /// Largest joint error or gap of the rows that were read [m].
    pub(super) fn position_error(&self) -> f64 {
        let joints = self.rows.joints.iter().filter(|j| is_positional(j)).map(|j| j.error.abs());
        joints.chain(self.rows.contacts.iter().map(|c| c.gap.abs())).fold(0.0, f64::max)
    }

    /// Newton pass: q ← q ⊕ dp with M dp = Nᵀλ, N dp = −g.
    fn displace<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &mut State,
        solve: &mut SolveContext,
    ) -> Result<(), StepError> {
        self.assemble_displacement(system, state);
        let candidate = solve.solve_in_modes(state.t, &self.problem, &self.modes)?;
        system.advance(&mut state.q, &candidate.velocity, 1.0);
        if let Some(displacements) = &mut self.displacements {
            displacements.push(candidate.velocity.clone());
        }
        solve.lcp.recycle_candidate(candidate);
        Ok(())
    }

    /// Assembles M dp = Nᵀλ, N dp = −g as a step problem, all of whose rows hold.
    pub(super) fn assemble_displacement<S: System + ?Sized>(&mut self, system: &S, state: &State) {
        let Self { problem, layout, places, rows, modes, .. } = self;
        set_bodies(system, Configuration::of(state), problem);
        let joints: Vec<JointRow> = rows.joints.iter().filter(|j| is_positional(j)).cloned().collect();
        let mut contacts = rows.contacts.clone();
        contacts.iter_mut().for_each(|c| c.mu = 0.0);
        let error = |j: &JointRow| j.error;
        let offsets = Offsets { joint: &error, contact: &|c: &ContactRow| c.gap, limit: &error };
        assemble::rows(problem, places, 1.0, &joints, &contacts, &offsets);
        problem.lay_out(layout);
        problem.speed_scale = system.size();
        modes.clear();
        modes.resize(problem.contacts.len(), ContactMode::STICK);
    }

    /// Projects a velocity: v ← v − M⁻¹G (R M⁻¹G)⁻¹ (R v + ∂/∂t), with G = n + μ f for slipping contacts.
    fn project_velocity<S: System + ?Sized>(
        &mut self,
        system: &S,
        at: Configuration,
        v: &mut [f64],
        active: &[ActiveConstraint],
        solve: &mut SolveContext,
    ) -> Result<(), StepError> {
        self.assemble_velocity(system, at, v, active);
        let candidate = solve.solve_in_modes(at.t, &self.problem, &self.modes)?;
        v.copy_from_slice(&candidate.velocity);
        solve.lcp.recycle_candidate(candidate);
        Ok(())
    }

    /// Problem that was assembled last.
    pub(super) fn assembled(&self) -> AssembledProjection<'_> {
        AssembledProjection { problem: &self.problem, layout: &self.layout, modes: &self.modes }
    }

    /// Assembles M v⁺ = M v + G c, R v⁺ + ∂/∂t = 0 as a step problem in given modes.
    pub(super) fn assemble_velocity<S: System + ?Sized>(
        &mut self,
        system: &S,
        at: Configuration,
        v: &[f64],
        active: &[ActiveConstraint],
    ) {
        let Self { problem, layout, places, rows, modes, .. } = self;
        set_bodies(system, at, problem);
        set_momentum(problem, v);
        // compliant joints give way
        rows.filter_joints(|j| !matches!(j.kind, RowKind::Rigid(c) if c > 0.0));
        let drift = |j: &JointRow| j.drift;
        let offsets = Offsets { joint: &drift, contact: &|c: &ContactRow| c.drift, limit: &drift };
        // with h = 0 drives have no bound, and hold only where they stick
        assemble::rows(problem, places, 0.0, &rows.joints, &rows.contacts, &offsets);
        problem.joints.iter_mut().for_each(|j| j.compliance = 0.0);
        problem.lay_out(layout);
        problem.speed_scale = system.surface_speed(at.t, at.q, v).max(f64::MIN_POSITIVE);
        rows.modes(active, modes);
    }
}

/// Whether a projection ends: the error is round-off, no longer falls, or the pass limit is reached.
fn is_last_pass<S: System + ?Sized>(system: &S, pass: usize, error: f64, least: f64) -> bool {
    error <= PROJECTED_ERROR_RELATIVE * system.size()
        || !(error < PROJECTION_PROGRESS * least)
        || pass == MAX_PROJECTION_PASSES
}

/// Whether a row constrains a position: drives and compliant joints do not.
fn is_positional(joint: &JointRow) -> bool {
    match joint.kind {
        RowKind::Rigid(compliance) => compliance <= 0.0,
        RowKind::Limit => true,
        RowKind::Drive { .. } => false,
    }
}
