//! Storage of second-order steps, kept from step to step.

use super::acceleration::AccelerationProblem;
use super::active_set::ActiveSet;
use super::context::SolveContext;
use super::impact::ImpactSolver;
use super::integrator::explicit::ExplicitStages;
use super::nearby::NearbyRows;
use super::projector::Projector;
use super::substep::SubstepProblem;
use crate::monitor::RunMonitor;
use crate::scheme::euler;
use crate::state::State;
use crate::system::SearchCache;
use stiction_lcp::Certificate;

/// Storage of second-order steps: one entry for each problem that is solved, and spare storage.
#[derive(Debug, Clone, Default)]
pub(crate) struct SecondOrderWorkspace {
    pub(super) solve: SolveContext,
    pub(super) substep: SubstepProblem,
    pub(super) acceleration: AccelerationProblem,
    pub(super) projector: Projector,
    pub(super) impact: ImpactSolver,
    pub(super) nearby: NearbyRows,
    pub(super) stages: ExplicitStages,
    pub(super) euler: euler::EulerWorkspace,
    /// States that are no longer needed.
    pub(super) spare_states: Vec<State>,
    /// Active set of the last step.
    pub(super) spare_active: ActiveSet,
    /// Certificate of the last step.
    pub(super) spare_certificate: Certificate,
}

impl SecondOrderWorkspace {
    /// Resets counters and takes the search cache of the state a step starts from. With `recording` projections keep
    /// their displacements.
    pub(super) fn begin(&mut self, cache: &SearchCache, recording: bool) {
        self.solve.begin(cache);
        self.substep.definite = false;
        self.stages.certificate = Certificate::default();
        self.projector.displacements = recording.then(Vec::new);
    }

    /// Sets the monitor of the run.
    pub(crate) fn set_monitor(&mut self, monitor: &RunMonitor) {
        self.solve.monitor = monitor.clone();
        self.euler.monitor = monitor.clone();
    }

    /// Ends a step: projections no longer keep displacements.
    pub(super) fn end(&mut self) {
        self.projector.displacements = None;
    }
}
