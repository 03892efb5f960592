//! Data that all solves of a step share: model and settings, solver storage, and where a substep starts.

use super::active_set::ActiveSet;
use super::constants::{MIN_BOUNCE_HEIGHT_RELATIVE, MIN_RESTITUTION_SPEED, SPEED_SCALE_RELATIVE};
use crate::error::StepError;
use crate::monitor::RunMonitor;
use crate::scheme::{Scheme, Trapezoidal};
use crate::state::State;
use crate::system::{SearchCache, System};
use nalgebra::Vector6;
use stiction_lcp::problem::Layout;
use stiction_lcp::{Body, Candidate, Certificate, ContactMode, LcpError, Row, StepProblem};

/// Model and settings, fixed while a step is made.
pub(super) struct StepContext<'a, S: System + ?Sized> {
    pub(super) system: &'a S,
    pub(super) scheme: &'a Scheme,
    pub(super) settings: &'a Trapezoidal,
    /// Step asked for [s]; substeps are at most this long.
    pub(super) step: f64,
    /// Trial steps keep records for a verifier.
    pub(super) recording: bool,
}

impl<S: System + ?Sized> StepContext<'_, S> {
    /// Least separation speed with restitution [m/s]. Bounces lower than gaps resolve are none.
    pub(super) fn restitution_speed(&self) -> f64 {
        let height = MIN_BOUNCE_HEIGHT_RELATIVE * self.system.size();
        let requested = self.scheme.restitution_speed.unwrap_or(MIN_RESTITUTION_SPEED);
        requested.max((2.0 * self.system.gravity() * height).sqrt())
    }
}

/// Time and configuration at which rows are taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Configuration<'a> {
    pub(super) t: f64,
    pub(super) q: &'a [f64],
}

impl<'a> Configuration<'a> {
    /// Configuration of a state.
    pub(super) fn of(state: &'a State) -> Self {
        Self { t: state.t, q: &state.q }
    }
}

/// Start of a trial step: the state and the active set there.
#[derive(Clone, Copy)]
pub(super) struct StepStart<'a> {
    pub(super) state: &'a State,
    pub(super) active: &'a ActiveSet,
}

/// Solver storage and counters, shared by all problems of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct SolveContext {
    pub(super) lcp: stiction_lcp::Workspace,
    pub(super) cache: SearchCache,
    /// Linear systems and complementarity problems solved since the start of the step.
    pub(super) solves: usize,
    /// Complementarity problems among the substeps.
    pub(super) problems: usize,
    /// Monitor of the run.
    pub(super) monitor: RunMonitor,
}

impl SolveContext {
    /// Resets the counters and takes the cache of the state a step starts from.
    pub(super) fn begin(&mut self, cache: &SearchCache) {
        self.cache.clone_from(cache);
        (self.solves, self.problems) = (0, 0);
    }

    /// Solves a step problem in given friction modes.
    pub(super) fn solve_in_modes(
        &mut self,
        t: f64,
        problem: &StepProblem,
        modes: &[ContactMode],
    ) -> Result<Candidate, StepError> {
        self.solves += 1;
        self.lcp.solve_in_modes(problem, modes).map_err(|error| unsolved(t, error, problem))
    }

    /// Solves a step problem in given friction modes. Redundant contacts that slip share their load by least norm.
    pub(super) fn least_norm_in_modes(
        &mut self,
        t: f64,
        problem: &StepProblem,
        modes: &[ContactMode],
    ) -> Result<Candidate, StepError> {
        self.solves += 1;
        self.lcp.least_norm_in_modes(problem, modes).map_err(|error| unsolved(t, error, problem))
    }

    /// Solves a step problem in given friction modes. All redundant contacts share their load by least norm.
    pub(super) fn unique_in_modes(
        &mut self,
        t: f64,
        problem: &StepProblem,
        modes: &[ContactMode],
    ) -> Result<Candidate, StepError> {
        self.solves += 1;
        self.lcp.unique_in_modes(problem, modes).map_err(|error| unsolved(t, error, problem))
    }
}

/// Scale of small speeds [m/s]: the speed gravity gives in a step, and round-off of the fastest surface.
pub(super) fn speed_scale<S: System + ?Sized>(system: &S, state: &State, h: f64) -> f64 {
    let fastest = system.surface_speed(state.t, &state.q, &state.v);
    (system.gravity() * h).max(SPEED_SCALE_RELATIVE * fastest).max(f64::MIN_POSITIVE)
}

/// Sets the bodies of a problem, with their masses at a configuration and no momentum.
pub(super) fn set_bodies<S: System + ?Sized>(system: &S, at: Configuration, problem: &mut StepProblem) {
    problem.bodies.clear();
    problem.pairs.clear();
    for (i, &velocities) in system.bodies().iter().enumerate() {
        let mass = system.mass_at(i, at.t, at.q);
        problem.bodies.push(Body { velocities, mass, momentum: Vector6::zeros() });
    }
}

/// Sets the momentum b = M v of the bodies of a problem.
pub(super) fn set_momentum(problem: &mut StepProblem, v: &[f64]) {
    let mut first = 0;
    for body in &mut problem.bodies {
        for i in 0..body.velocities {
            body.momentum[i] = (0..body.velocities).map(|j| body.mass[(i, j)] * v[first + j]).sum();
        }
        first += body.velocities;
    }
}

/// Mobility of a row: speed change per unit impulse along it, each body by itself [m/s per N s].
pub(super) fn mobility(problem: &StepProblem, layout: &Layout, row: &Row) -> f64 {
    let mut w = 0.0;
    row.for_each(&layout.velocity, |k, x| {
        let body = layout.velocity.partition_point(|&s| s <= k) - 1;
        let own = k - layout.velocity[body];
        w += x * x / problem.bodies[body].mass[(own, own)];
    });
    w
}

/// Error of a problem that was not solved at time `t`.
pub(super) fn unsolved(t: f64, error: LcpError, problem: &StepProblem) -> StepError {
    StepError::unsolved(t, error, problem)
}

/// Error of an answer in given modes whose certificate does not pass.
pub(super) fn uncertified(
    t: f64,
    tolerance: f64,
    candidate: Candidate,
    certificate: Certificate,
    problem: &StepProblem,
) -> StepError {
    let best = Box::new(Candidate { certificate, ..candidate });
    unsolved(t, LcpError::Uncertified { tolerance, best }, problem)
}

/// Index of each body's first velocity, and the number of velocities as one more entry.
pub(super) fn velocity_offsets<S: System + ?Sized>(system: &S) -> Vec<usize> {
    let mut offsets = Vec::new();
    set_velocity_offsets(system, &mut offsets);
    offsets
}

/// [`velocity_offsets`] into existing storage.
pub(super) fn set_velocity_offsets<S: System + ?Sized>(system: &S, offsets: &mut Vec<usize>) {
    offsets.clear();
    offsets.push(0);
    for n in system.bodies() {
        offsets.push(offsets[offsets.len() - 1] + n);
    }
}

/// Scalar product in space.
pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
