//! Trapezoidal and linearly implicit Euler substeps. PAGT06 (3.5), (6.10)–(6.12)

use super::super::certificate::{self, worse};
use super::super::context::{SolveContext, StepStart, unsolved};
use super::super::end_slip::EndSlips;
use super::super::slip_path;
use super::super::substep::SubstepProblem;
use super::super::workspace::SecondOrderWorkspace;
use super::{Dynamics, TrialStep, check_finite_end};
use crate::assemble::AssembledProblem;
use crate::error::StepError;
use crate::scheme::RowForm;
use crate::state::ActiveConstraint;
use crate::system::System;
use stiction_lcp::{Candidate, Certificate, certify_motion};

impl<S: System + ?Sized> Dynamics<'_, S> {
    /// One substep: trapezoidal, or `implicit` Euler.
    pub(super) fn try_substep(
        &mut self,
        from: &StepStart,
        size: f64,
        implicit: bool,
    ) -> Result<TrialStep, StepError> {
        let modes_known = from.active.modes_known;
        let SecondOrderWorkspace { solve, substep, .. } = &mut *self.workspace;
        substep.assemble(&self.context, from, size, implicit, &mut solve.cache)?;
        let mut candidate = if modes_known {
            substep.middle.modes(&from.active.constraints, &mut substep.modes);
            solve.least_norm_in_modes(from.state.t, &substep.problem, &substep.modes)?
        } else {
            self.solve_complementarity(from)?
        };
        let SecondOrderWorkspace { solve, substep, .. } = &mut *self.workspace;
        let mut active = if modes_known { from.active.constraints.clone() } else { Vec::new() };
        if slip_path::has_turning_slip(substep, &active) && implicit {
            candidate = self.solve_with_end_slip(from, candidate, &mut active)?;
        } else if slip_path::has_turning_slip(substep, &active) {
            let mean = self.context.settings.rows.friction == RowForm::Mean && !implicit;
            (candidate, active) =
                slip_path::solve_with_turning_slip(substep, from.state, &active, mean, candidate, solve)?;
        }
        if modes_known {
            self.share_load_in_cones(from.state.t, &mut candidate)?;
        }
        let SecondOrderWorkspace { substep, spare_states, .. } = &mut *self.workspace;
        let certificate = if modes_known {
            certificate::in_modes(&substep.problem, &substep.layout, &substep.modes, &candidate)
        } else {
            Certificate::default()
        };
        let mut end = spare_states.pop().unwrap_or_default();
        end.clone_from(from.state);
        substep.advance(self.context.system, from.state, &candidate.velocity, size, implicit, &mut end);
        check_finite_end(from.state.t, &end)?;
        // an implicit substep is made in the modes that it ends with
        let made_in = if implicit && modes_known { &active } else { &from.active.constraints };
        let record =
            self.context.recording.then(|| substep.record(from, size, implicit, made_in, &candidate));
        let records = record.into_iter().collect();
        Ok(TrialStep { size, end, candidate, active, certificate, error: 0.0, records })
    }

    /// Replaces impulses of an answer in given modes that lie beyond their cones by those of least norm within, which cause
    /// the same motion. Where redundant contacts have none within, the event functions see it.
    fn share_load_in_cones(&mut self, t: f64, candidate: &mut Candidate) -> Result<(), StepError> {
        let SecondOrderWorkspace { solve, substep, .. } = &mut *self.workspace;
        let tolerance = self.context.scheme.solver.tolerance;
        let beyond = |c: &Candidate| c.certificate.contacts.iter().fold(0.0, |m: f64, own| m.max(own.cone));
        let before = beyond(candidate);
        if before <= tolerance {
            return Ok(());
        }
        let other = solve.unique_in_modes(t, &substep.problem, &substep.modes)?;
        if let Ok(shared) = certify_motion(&substep.problem, &other.z, &candidate.velocity)
            && beyond(&shared) < before
        {
            *candidate = shared;
        }
        solve.lcp.recycle_candidate(other);
        Ok(())
    }

    /// Solves the assembled implicit substep again, with friction against the slip at its end. `candidate` is its answer
    /// with friction as at the start; the friction of `active` is turned.
    fn solve_with_end_slip(
        &mut self,
        from: &StepStart,
        candidate: Candidate,
        active: &mut [ActiveConstraint],
    ) -> Result<Candidate, StepError> {
        let SecondOrderWorkspace { solve, substep, .. } = &mut *self.workspace;
        let mut slips = EndSlips::new(substep, from.state, &from.active.constraints, &candidate.z);
        solve.lcp.recycle_candidate(candidate);
        if slips.need_guess(substep)
            && let Ok(guess) = self.solve_complementarity(from)
        {
            slips.start_from(&self.workspace.substep, &guess.velocity);
            self.recycle(guess);
        }
        let SecondOrderWorkspace { solve, substep, .. } = &mut *self.workspace;
        let candidate = slips.solve(substep, from.state.t, solve)?;
        slips.turn(substep, active);
        Ok(candidate)
    }

    /// Solves the assembled substep as a complementarity problem, from the impulses of the last step.
    fn solve_complementarity(&mut self, from: &StepStart) -> Result<Candidate, StepError> {
        let SecondOrderWorkspace { solve, substep, .. } = &mut *self.workspace;
        let SubstepProblem { problem, layout, places, middle, warm_start, .. } = substep;
        let memory = &from.state.memory;
        let assembled = AssembledProblem { problem, layout, rows: places };
        assembled.warm_start(&middle.contacts, memory, &mut warm_start.z);
        let SolveContext { lcp, solves, problems, .. } = solve;
        let solution = lcp.solve(&*problem, &self.context.scheme.solver, Some(warm_start));
        *solves += 1;
        *problems += 1;
        let solution = solution.map_err(|e| unsolved(from.state.t, e, problem))?;
        Ok(lcp.candidate_of(solution))
    }

    /// Two linearly implicit Euler substeps of half the size.
    pub(super) fn try_implicit_euler(&mut self, from: &StepStart, size: f64) -> Result<TrialStep, StepError> {
        let half = self.try_substep(from, 0.5 * size, true)?;
        let middle = StepStart { state: &half.end, ..*from };
        self.begin_substep(&middle)?;
        let mut whole = self.try_substep(&middle, 0.5 * size, true)?;
        whole.size = size;
        whole.certificate = worse(half.certificate, whole.certificate);
        whole.records.splice(0..0, half.records);
        self.recycle(half.candidate);
        self.begin_substep(from)?;
        Ok(whole)
    }
}
