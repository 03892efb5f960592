//! First-order rest of a step with too many events: by the stabilized Euler scheme, so that no body ends inside another.

use super::fixed_step::FixedStep;
use super::motion::TrackedMotion;
use super::workspace::SecondOrderWorkspace;
use crate::error::StepError;
use crate::report::{Evidence, StepReport, SubstepRecord};
use crate::scheme::{Level, Scheme, euler};
use crate::system::System;

/// First-order scheme of the rest of a step; optionally without restitution.
pub(super) fn first_order_scheme(scheme: &Scheme, without_restitution: bool) -> Scheme {
    let level = Level::Stabilized { gamma: 1.0, everywhere: false };
    let passes = Scheme::first_order().passes;
    let restitution_speed = if without_restitution { Some(f64::INFINITY) } else { scheme.restitution_speed };
    Scheme { level, passes, restitution_speed, ..*scheme }
}

impl<S: System + ?Sized> FixedStep<'_, S> {
    /// Makes the rest of the step by AH04 with post-stabilization. If that has no solution, restitution is left out: no
    /// velocity returns from both walls that a body bounces between. Joints then hold at the rows of the start, which
    /// rows at the mean velocity would let ring, so the state is projected onto them.
    pub(super) fn first_order_rest(&mut self, left: f64) -> Result<(), StepError> {
        self.motion.stop_location();
        let TrackedMotion { dynamics, state, active, recorder } = &mut self.motion;
        recorder.statistics.coarse = left;
        let context = &dynamics.context;
        let [scheme, soft] = [false, true].map(|without| first_order_scheme(context.scheme, without));
        let SecondOrderWorkspace { solve, euler, .. } = &mut *dynamics.workspace;
        if let Some(last) = self.last.take() {
            solve.lcp.recycle_candidate(last);
        }
        state.memory.cache.clone_from(&solve.cache);
        let evidence = recorder.evidence.as_ref().map(|_| Evidence::default());
        let mut report = StepReport { evidence, ..StepReport::default() };
        let first = euler::step(context.system, &scheme, state, left, euler, &mut report);
        let without_restitution = first.is_err();
        if without_restitution {
            euler::step(context.system, &soft, state, left, euler, &mut report)?;
        }
        solve.cache.clone_from(&state.memory.cache);
        if let (Some(evidence), Some(made)) = (&mut recorder.evidence, report.evidence.take()) {
            (evidence.passes, evidence.solver) = (made.passes, made.solver);
            let (q, v) = (state.q.clone(), state.v.clone());
            evidence.substeps.push(SubstepRecord::FirstOrder { size: left, without_restitution, q, v });
        }
        active.constraints.clear();
        self.motion.project_state()?;
        self.motion.recorder.certify(std::mem::take(&mut report.certificate));
        self.first_order = Some(report);
        Ok(())
    }
}
