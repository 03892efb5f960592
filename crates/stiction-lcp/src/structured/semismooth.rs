//! Semismooth Newton method on the projections of Alart and Curnier, in the space of velocities.
//!
//! Each contact is taken to be open, to stick or to slip by the sign and size of W r − u. The equations of those modes
//! are solved with a proximal term ε = W/κ, which makes them regular if contacts are redundant. The momentum balance is
//! linear and stays exact, so a line search costs evaluations of the natural map only.

mod step;
#[cfg(test)]
mod tests;

use super::equations::Equations;
use super::island::{Island, Lane};
use super::iterate::Iterate;
use super::sweep::GaussSeidel;
pub(super) use step::NewtonStep;

// Constants of the method. Stiffnesses are relative to the mobility W of a contact.

/// Initial proximal stiffness κ: contact impulses respond with κ/W to an error in speed [-]. Sensible range 1e3 to 1e5:
/// lower takes more steps, higher loses digits before the modes are right.
const INITIAL_STIFFNESS: f64 = 1e4;

/// Lower bound of κ [-]. Sensible range 1 to 1e2: below, heavy bodies on light ones converge slowly; above, a singular
/// matrix cannot be regularized.
const MIN_STIFFNESS: f64 = 1e1;

/// Upper bound of κ [-]. Sensible range 1e5 to 1e8: below, redundant contacts keep a visible proximal error; above,
/// impulses are dominated by rounding errors of the velocities.
const MAX_STIFFNESS: f64 = 1e6;

/// Factor by which κ rises after a full step without a change of modes and falls after a short step [-]. Sensible range
/// 3 to 100.
const STIFFNESS_FACTOR: f64 = 10.0;

/// Upper bound on the rotational stiffness of the friction direction when friction is turned along its circle [-].
/// Contacts that creep at 1e-8 of the speed scale with friction at its bound need this much: with less they do not turn;
/// with more the matrix is singular to rounding.
const TURN_STIFFNESS: f64 = 1e9;

/// Maximum rotation of a friction impulse in one turning step [rad]. Sensible range 0.1 to 1: from farther away Newton's
/// method does not return to the modes; less takes more steps.
const MAX_TURN: f64 = 0.3;

/// Ratio of residuals above which a step counts as slow [-]: after a slow step an iterate that is good enough is
/// accepted. Sensible range 0.1 to 0.9: lower stops with a larger residual, higher pays for a useless factorization.
const SLOW_RATIO: f64 = 0.3;

/// Ratio of residuals above which a step with unchanged modes counts as stuck [-]. Redundant contacts that contradict
/// each other slightly are stuck: load has to move from one to the others until it opens, whatever the natural map says.
/// Sensible range 0.5 to 0.95: lower leaves Newton's method too early, higher waits for several useless steps.
const STUCK_RATIO: f64 = 0.7;

/// Maximum multiple of the Newton direction by which load is transferred at once [-]: beyond, the direction is rounding
/// error.
const MAX_TRANSFER: f64 = 1e6;

/// Fraction of the residual that rounding may account for: κ ε max|v| ≤ NOISE_FRACTION · residual [-]. Sensible range
/// 1e-3 to 0.1: lower slows convergence near rounding, higher makes impulses noise.
const NOISE_FRACTION: f64 = 0.01;

/// Iterations of the nonmonotone line search whose merit is remembered.
const MERIT_WINDOW: usize = 3;

/// Step lengths that the line search tries: 1, 1/2, …, 1/32.
const LINE_SEARCH_TRIALS: usize = 6;

/// Sufficient decrease: merit < (1 − SUFFICIENT_DECREASE α) · largest merit of the window [-]. Armijo's constant; range
/// 1e-6 to 1e-2.
const SUFFICIENT_DECREASE: f64 = 1e-4;

/// Step length below which κ is lowered [-].
const SHORT_STEP: f64 = 0.2;

/// Early exits of a warm start: (iteration, fraction of the first residual that must be reached by then). Tighter
/// values give up warm starts that would converge; looser ones pay for hopeless ones.
const EARLY_EXITS: [(usize, f64); 2] = [(3, 0.3), (7, 0.01)];

/// Stopping rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewtonLimits {
    /// Residual to reach [m/s].
    pub(super) target: f64,
    /// Residual that is accepted after a slow step [m/s].
    pub(super) good: f64,
    /// Maximum number of factorizations.
    pub(super) factorizations: usize,
    /// Whether to stop early if progress is poor.
    pub(super) impatient: bool,
    /// Whether the velocities at the start satisfy the momentum balance with the impulses.
    pub(super) exact: bool,
}

/// Result of a run: smallest residual [m/s] and the number of factorizations.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewtonResult {
    pub(super) residual: f64,
    pub(super) factorizations: usize,
}

/// Progress of the last iteration.
#[derive(Debug, Clone, Copy, Default)]
struct NewtonProgress {
    /// Whether the last two iterations had the same modes.
    same_modes: bool,
    /// Whether the residual fell by less than [`SLOW_RATIO`].
    slow: bool,
    /// Whether the residual fell by less than [`STUCK_RATIO`] with unchanged modes.
    stuck: bool,
}

/// Run of the method from the iterate `at`; the best iterate is left in `best`.
pub(super) struct SemismoothNewton<'a, const T: usize> {
    island: &'a Island<T>,
    equations: &'a mut Equations,
    step: &'a mut NewtonStep<T>,
    masses: &'a mut GaussSeidel<T>,
    at: &'a mut Iterate<T>,
    best: &'a mut Iterate<T>,
    limits: NewtonLimits,
    result: NewtonResult,
    /// Residual [m/s] and sum of squares of the natural map at `at`.
    residual: f64,
    merit: f64,
    first_residual: f64,
    previous_residual: f64,
    /// Merits of the last iterations.
    window: [f64; MERIT_WINDOW],
    /// Proximal stiffness κ.
    stiffness: f64,
    progress: NewtonProgress,
    /// Whether friction may be turned along its circle in this iteration.
    turning: bool,
    /// Whether the momentum balance holds: a step reduces its error by its length, and only a full step removes it.
    exact: bool,
}

impl<'a, const T: usize> SemismoothNewton<'a, T> {
    /// Prepares a run from the impulses and velocities of `at`.
    pub(super) fn new(
        island: &'a Island<T>,
        equations: &'a mut Equations,
        step: &'a mut NewtonStep<T>,
        masses: &'a mut GaussSeidel<T>,
        at: &'a mut Iterate<T>,
        best: &'a mut Iterate<T>,
        limits: NewtonLimits,
    ) -> Self {
        let (residual, merit) = step.begin(island, at);
        best.copy_from(at);
        let exact = limits.exact;
        let reached = if exact { residual } else { f64::INFINITY };
        Self {
            island,
            equations,
            step,
            masses,
            at,
            best,
            limits,
            result: NewtonResult { residual: reached, factorizations: 0 },
            residual,
            merit,
            first_residual: residual,
            previous_residual: f64::INFINITY,
            window: [f64::INFINITY; MERIT_WINDOW],
            stiffness: INITIAL_STIFFNESS,
            progress: NewtonProgress::default(),
            turning: false,
            exact,
        }
    }

    /// Runs the method. `modes_from`: velocities that choose the first modes, if not those of the iterate.
    pub(super) fn run(mut self, modes_from: Option<&[Lane]>) -> NewtonResult {
        for round in 0..self.limits.factorizations {
            self.observe_progress();
            if self.is_done() || self.is_hopeless(round) {
                break;
            }
            self.choose_stiffness();
            self.choose_modes(modes_from.filter(|_| round == 0));
            if !self.factor(round) {
                self.soften();
                continue;
            }
            self.step.solve(self.island, self.equations, self.at);
            if self.turn_friction() || self.transfer_load() {
                continue;
            }
            let Some(alpha) = self.line_search(round) else { break };
            self.advance(alpha);
            self.adapt_stiffness(alpha);
        }
        self.result
    }

    fn observe_progress(&mut self) {
        self.progress.slow = self.residual > SLOW_RATIO * self.previous_residual;
        self.progress.stuck =
            self.progress.same_modes && self.residual > STUCK_RATIO * self.previous_residual;
        self.previous_residual = self.residual;
    }

    fn is_done(&self) -> bool {
        (self.exact && self.residual <= self.limits.target)
            || (self.result.residual <= self.limits.good && self.progress.slow)
    }

    fn is_hopeless(&self, round: usize) -> bool {
        let poor = |(at, fraction)| round == at && self.result.residual > fraction * self.first_residual;
        self.limits.impatient && EARLY_EXITS.into_iter().any(poor)
    }

    /// κ of this iteration: the largest when stuck, and never so large that rounding errors dominate the impulses.
    fn choose_stiffness(&mut self) {
        if self.progress.stuck {
            self.stiffness = MAX_STIFFNESS;
        }
        // every second stuck iteration: a turn along the circle breaks the linearity of the momentum in the step
        self.turning = self.progress.stuck && !self.turning;
        // impulses carry κ rounding errors of the velocities
        let noise = f64::EPSILON * self.at.v.iter().flatten().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
        self.stiffness = self.stiffness.min(NOISE_FRACTION * self.residual / noise).max(MIN_STIFFNESS);
    }

    fn choose_modes(&mut self, modes_from: Option<&[Lane]>) {
        let turn = if self.turning { TURN_STIFFNESS } else { self.stiffness };
        self.progress.same_modes =
            self.step.linearize(self.island, self.at, self.stiffness, turn, modes_from);
    }

    /// Factors the Newton matrix; `false` if it is singular. Without contacts the matrix does not change, and further
    /// steps only remove the proximal term.
    fn factor(&mut self, round: usize) -> bool {
        if self.island.contacts.is_empty() && round > 0 {
            return true;
        }
        self.result.factorizations += 1;
        self.equations.factor(self.island, &self.step.stiffness)
    }

    fn soften(&mut self) {
        self.stiffness = (self.stiffness / STIFFNESS_FACTOR).max(MIN_STIFFNESS);
    }

    /// Takes the step with slipping impulses turned along their circles, if it is time for that.
    fn turn_friction(&mut self) -> bool {
        if !self.turning {
            return false;
        }
        let Some(measured) = self.step.turn(self.island, self.at, self.masses) else { return false };
        (self.residual, self.merit) = measured;
        self.exact = true;
        self.record_best();
        true
    }

    /// Moves load between redundant contacts until the first of them opens or slips. Speeds do not change, so the
    /// natural map would allow only small steps.
    fn transfer_load(&mut self) -> bool {
        if !(self.progress.stuck && self.exact) {
            return false;
        }
        let Some(alpha) = self.step.first_mode_change(self.island, self.at) else { return false };
        self.step.advance(self.at, alpha);
        (self.residual, self.merit) = self.step.measure(self.island, self.at, 0.0);
        self.record_best();
        true
    }

    /// Nonmonotone backtracking on the sum of squares of the natural map; a stuck iteration takes the full step. Sets
    /// residual and merit, and returns the step length; `None` if no trial is finite.
    fn line_search(&mut self, round: usize) -> Option<f64> {
        self.window[round % MERIT_WINDOW] = self.merit;
        let reference = self.window.iter().copied().filter(|x| x.is_finite()).fold(0.0, f64::max);
        let mut alpha = 1.0;
        let (mut least, mut residual, mut chosen) = (f64::INFINITY, 0.0, 1.0);
        for _ in 0..LINE_SEARCH_TRIALS {
            let (r, merit) = self.step.measure(self.island, self.at, alpha);
            if merit < least {
                (least, residual, chosen) = (merit, r, alpha);
            }
            if self.progress.stuck || merit < (1.0 - SUFFICIENT_DECREASE * alpha) * reference {
                break;
            }
            alpha *= 0.5;
        }
        if !least.is_finite() {
            return None;
        }
        (self.merit, self.residual) = (least, residual);
        Some(chosen)
    }

    fn advance(&mut self, alpha: f64) {
        self.step.advance(self.at, alpha);
        self.exact |= alpha == 1.0;
        if self.exact {
            self.record_best();
        }
    }

    fn record_best(&mut self) {
        if self.residual < self.result.residual {
            self.result.residual = self.residual;
            self.best.copy_from(self.at);
        }
    }

    fn adapt_stiffness(&mut self, alpha: f64) {
        if alpha < SHORT_STEP {
            self.soften();
        } else if self.progress.same_modes && alpha == 1.0 {
            self.stiffness = (self.stiffness * STIFFNESS_FACTOR).min(MAX_STIFFNESS);
        }
    }
}
