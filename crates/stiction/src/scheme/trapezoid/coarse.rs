//! The rest of a step in which too much happens: first order, but nothing ends inside anything else.

use super::judge::worse;
use super::{Run, Workspace};
use crate::error::StepError;
use crate::report::StepReport;
use crate::scheme::{Level, Scheme, euler};
use crate::system::System;

impl<S: System + ?Sized> Run<'_, S> {
    /// Makes the rest of the step by AH04 with post-stabilization; where that has no solution, without restitution: no
    /// velocity returns from both walls that a body bounces between. Its joints hold at the rows of its start, which
    /// rows at the mean velocity would let ring, so the state is projected onto them.
    pub(super) fn make_coarsely(&mut self, left: f64) -> Result<(), StepError> {
        (self.told.cut, self.told.coarse) = (true, left);
        let system = self.stage.system;
        let level = Level::Stabilized { gamma: 1.0, everywhere: false };
        let passes = Scheme::default().passes;
        let scheme = Scheme { level, passes, ..*self.stage.scheme };
        let soft = Scheme { restitution_speed: Some(f64::INFINITY), ..scheme };
        let Workspace { flow, projector, euler, .. } = &mut *self.workspace;
        if let Some(last) = self.last.take() {
            flow.lcp.recycle_candidate(last);
        }
        self.now.memory.bases.clone_from(&flow.bases);
        let mut report = StepReport::default();
        if euler::step(system, &scheme, &mut self.now, left, euler, &mut report).is_err() {
            euler::step(system, &soft, &mut self.now, left, euler, &mut report)?;
        }
        flow.bases.clone_from(&self.now.memory.bases);
        projector.project(system, &mut self.now, &[], flow)?;
        let so_far = std::mem::take(&mut self.certificate);
        self.certificate = worse(so_far, std::mem::take(&mut report.certificate));
        self.bearing.clear();
        self.coarse = Some(report);
        Ok(())
    }
}
