//! The rest of a step in which too much happens: first order, but nothing ends inside anything else.

use super::judge::worse;
use super::{Run, Workspace};
use crate::error::StepError;
use crate::report::{Evidence, Part, StepReport};
use crate::scheme::{Level, Scheme, euler};
use crate::system::System;

/// How the rest of a step of this scheme is made; `soft` without restitution.
pub(super) fn scheme(scheme: &Scheme, soft: bool) -> Scheme {
    let level = Level::Stabilized { gamma: 1.0, everywhere: false };
    let passes = Scheme::default().passes;
    let restitution_speed = if soft { Some(f64::INFINITY) } else { scheme.restitution_speed };
    Scheme { level, passes, restitution_speed, ..*scheme }
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Makes the rest of the step by AH04 with post-stabilization; where that has no solution, without restitution: no
    /// velocity returns from both walls that a body bounces between. Its joints hold at the rows of its start, which
    /// rows at the mean velocity would let ring, so the state is projected onto them.
    pub(super) fn make_coarsely(&mut self, left: f64) -> Result<(), StepError> {
        (self.told.cut, self.told.coarse) = (true, left);
        let system = self.stage.system;
        let scheme = scheme(self.stage.scheme, false);
        let soft = self::scheme(self.stage.scheme, true);
        let Workspace { flow, projector, euler, .. } = &mut *self.workspace;
        if let Some(last) = self.last.take() {
            flow.lcp.recycle_candidate(last);
        }
        self.now.memory.cache.clone_from(&flow.cache);
        let evidence = self.evidence.as_ref().map(|_| Evidence::default());
        let mut report = StepReport { evidence, ..StepReport::default() };
        let first = euler::step(system, &scheme, &mut self.now, left, euler, &mut report);
        let is_soft = first.is_err();
        if is_soft {
            euler::step(system, &soft, &mut self.now, left, euler, &mut report)?;
        }
        if let (Some(evidence), Some(made)) = (&mut self.evidence, report.evidence.take()) {
            evidence.passes = made.passes;
            let (q, v) = (self.now.q.clone(), self.now.v.clone());
            evidence.parts.push(Part::Coarse { size: left, soft: is_soft, q, v });
        }
        flow.cache.clone_from(&self.now.memory.cache);
        projector.project(system, &mut self.now, &[], flow)?;
        self.keep_projection(&[]);
        let so_far = std::mem::take(&mut self.certificate);
        self.certificate = worse(so_far, std::mem::take(&mut report.certificate));
        self.active.clear();
        self.coarse = Some(report);
        Ok(())
    }
}
