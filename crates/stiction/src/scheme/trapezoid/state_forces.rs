//! Forces at a state of a run to an accuracy: contacts with their modes, and joint rows, as reports list them.
//!
//! They solve the acceleration problem in the modes that the state remembers. Redundant contacts share their load by
//! least norm. For the report at the end of an interval, and for `verify`.

use super::acceleration::AccelerationProblem;
use super::constants::MIN_SLIP_SPEED;
use super::context::dot;
use super::first_order::first_order_scheme;
use super::nearby::rests_on_moments;
use super::workspace::SecondOrderWorkspace;
use crate::assemble::{AssembledProblem, RowSolution};
use crate::error::StepError;
use crate::report::{ContactInterval, ContactReport, JointReport, Mode, StepReport};
use crate::scheme::{Scheme, euler};
use crate::state::{ActiveConstraint, Memory, State};
use crate::system::{JointRow, System};
use stiction_lcp::Certificate;
use stiction_lcp::impulse_set::held_in_modes;

/// Forces at a state. Impulses in the reports are forces times a duration.
#[derive(Debug)]
pub(crate) struct StateForces {
    /// Active contacts.
    pub(crate) contacts: Vec<ContactReport>,
    /// All joint rows; inactive limits have no force.
    pub(crate) joints: Vec<JointReport>,
    /// Certificate of the acceleration problem.
    pub(crate) certificate: Certificate,
}

/// Forces at a state in the modes that it remembers, times a duration [s]. Where a contact with torsional or rolling
/// friction rests, they are means over a step of first order of that duration.
pub(crate) fn state_forces<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    duration: f64,
    workspace: &mut SecondOrderWorkspace,
) -> Result<StateForces, StepError> {
    if rests_on_moments(system, state, 0.0) {
        return forces_of_step(system, scheme, state, duration, workspace);
    }
    let active = state.memory.active.as_deref().unwrap_or_default();
    let SecondOrderWorkspace { solve, acceleration, .. } = workspace;
    solve.cache.clone_from(&state.memory.cache);
    acceleration.assemble_in_modes(system, state, active, &mut solve.cache)?;
    let candidate = solve.unique_in_modes(state.t, &acceleration.problem, &acceleration.modes)?;
    let (contacts, joints) = acceleration.force_reports(system, state, active, &candidate.z, duration);
    let certificate = acceleration.certificate(&candidate);
    solve.lcp.recycle_candidate(candidate);
    Ok(StateForces { contacts, joints, certificate })
}

/// Intervals of the forces of [`state_forces`], times a duration [s].
pub(crate) fn state_intervals<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    duration: f64,
    workspace: &mut SecondOrderWorkspace,
) -> Result<Vec<ContactInterval>, StepError> {
    let active = state.memory.active.as_deref().filter(|_| !rests_on_moments(system, state, 0.0));
    let Some(active) = active else {
        let report =
            first_order_step(system, scheme, state, duration, workspace, StepReport::with_intervals())?;
        return Ok(report.intervals.unwrap_or_default());
    };
    let SecondOrderWorkspace { solve, acceleration, .. } = workspace;
    solve.cache.clone_from(&state.memory.cache);
    acceleration.assemble_in_modes(system, state, active, &mut solve.cache)?;
    let candidate = solve.unique_in_modes(state.t, &acceleration.problem, &acceleration.modes)?;
    let modes = held_in_modes(&acceleration.problem, &candidate.z, &acceleration.modes);
    let assembled = acceleration.assembled();
    let forces = assembled.contact_intervals(&acceleration.rows.contacts, &candidate.z, &modes);
    solve.lcp.recycle_candidate(candidate);
    Ok(forces.iter().map(|force| force.scaled(duration)).collect())
}

/// Mean forces of a step of first order from a state, times its duration [s].
fn forces_of_step<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    duration: f64,
    workspace: &mut SecondOrderWorkspace,
) -> Result<StateForces, StepError> {
    let report = first_order_step(system, scheme, state, duration, workspace, StepReport::default())?;
    let StepReport { contacts, joints, certificate, .. } = report;
    Ok(StateForces { contacts, joints, certificate })
}

/// Report of a step of first order from a state, of which the state is not changed.
fn first_order_step<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    duration: f64,
    workspace: &mut SecondOrderWorkspace,
    mut report: StepReport,
) -> Result<StepReport, StepError> {
    let mut start = State { memory: Memory::default(), ..state.clone() };
    let scheme = first_order_scheme(scheme, true);
    euler::step(system, &scheme, &mut start, duration, &mut workspace.euler, &mut report)?;
    Ok(report)
}

impl AccelerationProblem {
    /// Reports of the forces `z` at a state for which the problem was assembled last, times a duration [s].
    pub(super) fn force_reports<S: System + ?Sized>(
        &self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        z: &[f64],
        duration: f64,
    ) -> (Vec<ContactReport>, Vec<JointReport>) {
        let contacts = active.iter().filter(|c| c.is_contact()).enumerate();
        let contacts = contacts.map(|(k, c)| self.contact_force(k, c, state, z, duration)).collect();
        let mut all: Vec<JointRow> = Vec::new();
        system.joints(state.t, &state.q, &mut all);
        let mut joints: Vec<JointReport> =
            all.iter().map(|row| JointReport { joint: row.joint, impulse: 0.0, determined: None }).collect();
        let mut active_rows = Vec::new();
        let solution = RowSolution { z, v: &state.v, stick_speed: 0.0, determined: None };
        self.assembled().joint_reports(&self.rows.joints, &solution, &mut active_rows);
        for (own, &row) in active_rows.iter().zip(&self.rows.joint_indices) {
            joints[row].impulse = duration * own.impulse;
        }
        (contacts, joints)
    }

    /// Problem with its layout and the map to its rows.
    pub(super) fn assembled(&self) -> AssembledProblem<'_> {
        AssembledProblem { problem: &self.problem, layout: &self.layout, rows: &self.places }
    }

    /// Report of an active contact, by its index among the rows.
    fn contact_force(
        &self,
        k: usize,
        active: &ActiveConstraint,
        state: &State,
        z: &[f64],
        duration: f64,
    ) -> ContactReport {
        let (row, load) = (&self.rows.contacts[k], self.contact_load(k, &state.v, z));
        // contacts without friction have no mode of their own: they slip where they move
        let moves = row.mu <= 0.0 && dot(load.slip, load.slip).sqrt() > MIN_SLIP_SPEED;
        ContactReport {
            id: row.id,
            bodies: row.bodies,
            point: row.point,
            normal: row.direction,
            gap: row.gap,
            mu: row.mu,
            normal_impulse: duration * load.normal,
            friction_impulse: load.friction.map(|f| duration * f),
            slip: load.slip,
            mode: if moves { Mode::Slip } else { active.mode },
            moment: None,
            determined: None,
        }
    }
}
