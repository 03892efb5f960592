//! Verification of what a timed step has beside its step problem: displacements of impulses at their own times, events,
//! and the memory that the next step reads.

use super::euler::EulerCheck;
use super::rows::{RecordedImpulses, impulses, split, transferred};
use super::tolerances::{FIGURE_TOLERANCE, MOMENTUM_TOLERANCE};
use super::{Check, Verdict};
use crate::reduce::Reduction;
use crate::scheme::step_problem::largest;
use crate::scheme::tolerances::{ACTUATOR_CHANGE_LIMIT, ACTUATOR_CHANGES_TOGETHER};
use crate::state::{ContactMemory, Memory};
use crate::system::System;
use stiction_lcp::problem::Malformed;
use stiction_lcp::{Candidate, Profile, certify};

impl<S: System + ?Sized> EulerCheck<'_, S> {
    /// Finds the displacement of impulses at other times than h/2, from the reported impulses. Compares events and memory. Returns `false` where the record does not fit the model.
    pub(super) fn find_shift(
        &mut self,
        reported: &RecordedImpulses,
        joints: &[f64],
        verdict: &mut Verdict,
    ) -> bool {
        let input = self.input();
        let mut changes = 0;
        let z = loop {
            self.builder.assemble(&input, Reduction::Off, &mut Profile::default());
            split(&mut self.builder, |id| reported.contains_key(&id));
            let z = impulses(&self.builder, joints, reported);
            let own = match certify(&self.builder.problem, &z) {
                Ok(candidate) => candidate,
                Err(error) => {
                    verdict.fail(Check::Record, error.to_string());
                    return false;
                }
            };
            // sides of actuators that these impulses cause
            let one = changes >= ACTUATOR_CHANGES_TOGETHER;
            if !self.builder.set_actuator_sides(&input, &own.velocity, one) {
                break z;
            }
            changes += 1;
            if changes > ACTUATOR_CHANGE_LIMIT {
                verdict.fail(Check::Record, "motors whose forces do not follow from the recorded impulses");
                return false;
            }
            self.read_rows(&input);
        };
        let Self { builder, shift, .. } = self;
        builder.shift(&input, &z, shift);
        self.compare_memory(&z, verdict);
        self.builder.read_rows(&input, &mut Profile::default());
        true
    }

    /// Compares the events and the memory of impacts with those that follow from the impulses `z`.
    fn compare_memory(&self, z: &[f64], verdict: &mut Verdict) {
        let (before, after, report) = (self.record.before, self.record.after, self.record.report);
        let (mut memory, mut events) = (Memory::default(), Vec::new());
        let times = [before.t, report.h];
        self.builder.remember_impacts(times, z, &before.memory, (&mut memory, &mut events));
        let same = |own: &crate::Event, recorded: &crate::Event| {
            (own.kind, own.constraint) == (recorded.kind, recorded.constraint)
                && (own.t - recorded.t).abs() <= FIGURE_TOLERANCE * report.h.max(own.t.abs())
        };
        let pairs = events.iter().zip(&report.events);
        if events.len() != report.events.len() || !pairs.into_iter().all(|(a, b)| same(a, b)) {
            verdict.fail(Check::Record, "impacts that are not those of the step");
        }
        let Memory { h, after_impact, quiet, .. } = &after.memory;
        if (*h, *after_impact, quiet) != (memory.h, memory.after_impact, &memory.quiet) {
            verdict.fail(Check::Record, "a memory of impacts that is not that of the step");
        }
        let mut contacts: Vec<ContactMemory> = report.contacts.iter().map(ContactMemory::from).collect();
        contacts.sort_unstable_by_key(|c| c.id);
        let joints = report.joints.iter().map(|j| j.impulse);
        if contacts != after.memory.contacts || !joints.eq(after.memory.joints.iter().copied()) {
            verdict.fail(Check::Record, "remembered impulses that are not those of the step");
        }
    }

    /// Finds the velocity that the impulses `z` of the assembled problem cause, along the axes of its rows, and compares
    /// the recorded one with it: the momentum balance, relative to the largest term of a body, because its axes turn.
    pub(super) fn find_velocity(&mut self, z: &[f64], verdict: &mut Verdict) -> Result<Candidate, Malformed> {
        let candidate = certify(&self.builder.problem, z)?;
        let Self { record, builder, shift, velocity, system, .. } = self;
        let mut recorded = record.after.v.clone();
        system.to_middle_axes(&record.before.v, &mut recorded, shift, record.report.h);
        velocity.clone_from(&candidate.velocity);
        let difference: Vec<f64> = recorded.iter().zip(&*velocity).map(|(a, b)| a - b).collect();
        let starts = &builder.layout.velocity;
        let mut residual = vec![0.0; difference.len()];
        builder.problem.multiply_mass(starts, &difference, &mut residual);
        let terms = transferred(builder, z);
        for (i, body) in builder.problem.bodies.iter().enumerate() {
            let own = starts[i]..starts[i] + body.velocities;
            let sizes = terms[own.clone()].iter().zip(&body.momentum).map(|(term, b)| term[1] + b.abs());
            let limit = MOMENTUM_TOLERANCE * sizes.fold(0.0, f64::max);
            let place = || format!("v⁺ of body {i}");
            verdict.bound(Check::Momentum, largest(&residual[own]), limit, place);
        }
        Ok(candidate)
    }
}
