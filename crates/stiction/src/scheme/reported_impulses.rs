//! Impulses that an Euler step reports: of least norm among all that cause its motion, over all contacts found, those
//! included that reduction left out. The motion itself is that of the solver's impulses, which the memory keeps beside.

use super::euler::EulerWorkspace;
use super::step_problem::{StepInput, StepProblemBuilder};
use crate::state::{Memory, SolverMemory};
use crate::system::System;
use stiction_lcp::{Certificate, Phase, Solution, Unique};

/// Impulses of a step as they are reported, with their certificate.
#[derive(Debug, Clone, Default)]
pub(super) struct ReportedImpulses {
    /// Unknowns of the assembled problem [N s].
    pub(super) z: Vec<f64>,
    /// Residuals.
    pub(super) certificate: Certificate,
    /// Impulses of the solver, where they differ.
    pub(super) solver: SolverMemory,
    /// Reported impulses of the last step as unknowns of this one.
    last: Vec<f64>,
    /// Whether these are the unique impulses of a step that holds the solver's impulses of the last one.
    is_known: bool,
}

impl ReportedImpulses {
    /// Request for the unique impulses of the assembled problem; `start` is its warm start.
    pub(super) fn request<'a>(
        &'a mut self,
        builder: &'a StepProblemBuilder,
        memory: &Memory,
        start: &'a [f64],
    ) -> Unique<'a> {
        self.is_known = remembers(builder, memory);
        if memory.solver.is_empty() {
            self.last.clear();
            self.last.extend_from_slice(start);
        } else {
            builder.assembled().warm_start(&builder.contacts, memory, &mut self.last);
        }
        Unique { weights: &builder.weights, guess: &self.last, is_known: self.is_known }
    }
}

/// Whether the memory has the reported impulses of exactly the assembled contacts and joint rows.
fn remembers(builder: &StepProblemBuilder, memory: &Memory) -> bool {
    let listed = |id| memory.contacts.binary_search_by_key(&id, |c| c.id).is_ok();
    memory.contacts.len() == builder.contacts.len()
        && memory.joints.len() == builder.joints.len()
        && builder.contacts.iter().all(|c| listed(c.id))
}

impl EulerWorkspace {
    /// Chooses the impulses to report of a solved step, and assembles the contacts again that reduction left out.
    pub(super) fn choose_impulses<S: System + ?Sized>(&mut self, input: &StepInput<S>, solution: &Solution) {
        self.lcp.profile().hold(Phase::UniqueForces);
        if self.builder.reducer.implied.is_empty() || !self.spread(input, solution) {
            self.take_impulses(solution, false);
        }
        self.lcp.profile().release();
    }

    /// Unique impulses over all contacts. `false` where the certificate refuses them: then the problem is the reduced one
    /// again, with the solver's impulses.
    fn spread<S: System + ?Sized>(&mut self, input: &StepInput<S>, solution: &Solution) -> bool {
        self.lcp.profile().enter(Phase::Assembly);
        let Self { builder, lcp, reported, warm_start, .. } = self;
        builder.assembled().remember_solver(&builder.contacts, solution.z(), &mut reported.solver);
        let z = &mut warm_start.z;
        z.clear();
        z.extend_from_slice(solution.z());
        builder.restore_implied(input, z);
        let mut unique = reported.request(builder, &input.state.memory, &[]);
        unique.is_known &= solution.work().held;
        if unique.guess.is_empty() {
            unique.guess = z;
        }
        if let Ok(whole) = lcp.unique_from(&builder.problem, solution.tolerance(), z, &unique) {
            reported.is_known &= solution.work().held;
            self.take_impulses(&whole, true);
            self.lcp.recycle(whole);
            return true;
        }
        builder.read_rows(input, lcp.profile());
        builder.assemble(input, input.scheme.reduction, lcp.profile());
        false
    }

    /// Takes the unique impulses of a solution; `spread` where its contacts are more than the solver had.
    fn take_impulses(&mut self, solution: &Solution, spread: bool) {
        let Self { builder, lcp, reported, .. } = self;
        let ReportedImpulses { z, certificate, solver, last, is_known } = reported;
        z.clear();
        certificate.copy_from(solution.certificate());
        let mut differs = true;
        if let Some(unique) = lcp.unique() {
            z.extend_from_slice(&unique.z);
            certificate.copy_from(&unique.certificate);
        } else if solution.work().held && *is_known && last.len() == solution.z().len() {
            z.extend_from_slice(last);
        } else {
            z.extend_from_slice(solution.z());
            differs = false;
        }
        if !spread {
            solver.clear(builder.contacts.len(), builder.joints.len());
            if differs && *z != solution.z() {
                builder.assembled().remember_solver(&builder.contacts, solution.z(), solver);
            }
        }
    }
}
