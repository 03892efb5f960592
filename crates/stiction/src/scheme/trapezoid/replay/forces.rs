//! Replay of the forces that a report lists at the end of an interval: they are put into the acceleration problem again.

use super::super::constants::{SPEED_SCALE_RELATIVE, VERIFIED_STICK_SPEED};
use super::super::context::dot;
use super::super::nearby::rests_on_moments;
use super::super::state_forces::StateForces;
use super::StepReplay;
use crate::report::StepReport;
use crate::state::{ContactMemory, State};
use crate::system::System;
use stiction_lcp::certify;

/// Recorded forces at a state, put into their equations.
#[derive(Debug)]
pub(crate) struct ForceResidual {
    /// Reports of the recorded forces, with all else computed again, and the certificate of the forces.
    pub(crate) own: StateForces,
    /// Least normal force or distance of friction to its bound, relative to the scale of forces.
    pub(crate) slack: f64,
    /// Largest slip speed of a contact that is said to stick, over the largest that is allowed.
    pub(crate) sticking_slip: f64,
}

impl<S: System + ?Sized> StepReplay<'_, S> {
    /// Puts the forces of a report into the acceleration problem at the state after it. `None` if the report has no
    /// forces though the model has rows, as journals of earlier versions, or if they are those of a step of first order
    /// that is not recorded. The error says why they do not fit the model.
    pub(crate) fn forces(
        &mut self,
        after: &State,
        report: &StepReport,
    ) -> Result<Option<ForceResidual>, String> {
        let active = after.memory.active.as_deref().unwrap_or_default();
        let Self { context, cache, acceleration, .. } = self;
        let system = context.system;
        if rests_on_moments(system, after, 0.0) {
            return Ok(None);
        }
        acceleration.assemble_in_modes(system, after, active, cache).map_err(|e| e.to_string())?;
        let mut z = vec![0.0; acceleration.layout.impulses];
        let (contacts, joints) = acceleration.force_reports(system, after, active, &z, report.h);
        if report.contacts.is_empty() && report.joints.is_empty() && contacts.len() + joints.len() > 0 {
            return Ok(None);
        }
        let same_contacts = report.contacts.iter().map(|c| c.id).eq(contacts.iter().map(|c| c.id));
        if !same_contacts || !report.joints.iter().map(|j| j.joint).eq(joints.iter().map(|j| j.joint)) {
            return Err("contacts or joint rows that are not the active ones at the end".to_string());
        }
        let assembled = acceleration.assembled();
        let rows = &acceleration.rows;
        for (location, &row) in acceleration.places.joints.iter().zip(&rows.joint_indices) {
            assembled.set_joint_impulse(*location, report.joints[row].impulse / report.h, &mut z);
        }
        for (k, (row, recorded)) in rows.contacts.iter().zip(&report.contacts).enumerate() {
            let mut force = ContactMemory::from(recorded);
            force.normal /= report.h;
            force.friction = force.friction.map(|p| p / report.h);
            assembled.add_contact_impulse(k, row, &force, &mut z);
        }
        let candidate = certify(&acceleration.problem, &z).map_err(|e| e.to_string())?;
        let certificate = acceleration.certificate(&candidate);
        let (contacts, joints) = acceleration.force_reports(system, after, active, &z, report.h);
        let slowest = VERIFIED_STICK_SPEED.max(
            SPEED_SCALE_RELATIVE * VERIFIED_STICK_SPEED * system.surface_speed(after.t, &after.q, &after.v),
        );
        let (mut slack, mut sticking_slip) = (f64::INFINITY, 0.0_f64);
        let force = acceleration.force_scale();
        for (c, load) in active.iter().zip(acceleration.loads(active, &after.v, &z)) {
            let size = |x: [f64; 3]| dot(x, x).sqrt();
            slack = slack.min(load.normal / force);
            if c.sticks() && acceleration.has_friction(c.constraint) {
                slack = slack.min((load.bound - size(load.friction)) / force);
                sticking_slip = sticking_slip.max(size(load.slip) / slowest);
            }
        }
        Ok(Some(ForceResidual { own: StateForces { contacts, joints, certificate }, slack, sticking_slip }))
    }
}
