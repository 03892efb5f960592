//! One island through the chain.

use super::equations::Equations;
use super::island::{Island, Lane};
use super::iterate::Iterate;
use super::semismooth::{Limits, Reached};
use super::{interior, path, semismooth, sweep};
use crate::chain::{Chain, Trial};
use crate::solution::Stage;
use crate::solve::IDLE;

/// Residual, in units of the speed scale, at which the interior methods hand over to Newton: going on makes the
/// impulses worse, and from farther away Newton loses its way in one case of three.
const HAND_OVER: f64 = 1e-6;

/// Contacts up to which, or at rest, Newton goes on to this part of the tolerance, which is round-off, for one more
/// factorization.
const SMALL: usize = 64;
const EXACT: f64 = 1e-6;

/// Sweeps before Newton where no two contacts are between the same bodies.
const FIRST_SWEEPS: usize = 30;

/// Factorizations of Newton after another method: where redundant contacts contradict each other a little, dozens of
/// them let go one after the other, and other ways lead to the same.
const POLISH: usize = 100;

/// An island and all that is kept for it.
#[derive(Debug, Clone, Default)]
pub(super) struct Space<const T: usize> {
    pub(super) island: Island<T>,
    pub(super) at: Iterate<T>,
    pub(super) best: Iterate<T>,
    pub(super) equations: Equations,
    spare: Iterate<T>,
    newton: semismooth::Storage<T>,
    interior: interior::Storage<T>,
    path: path::Storage<T>,
    sweep: sweep::Storage<T>,
    /// Velocities that Newton chooses its first modes by.
    modes: Vec<Lane>,
    /// Whether nothing but what the speed scale stands for moves: what creeps now creeps for ever.
    pub(super) at_rest: bool,
    pub(super) outcome: Outcome,
}

/// What an island took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    pub(super) stage: Stage,
    /// Residual in units of the speed scale.
    pub(super) residual: f64,
    pub(super) factorizations: usize,
    pub(super) iterations: usize,
    pub(super) sweeps: usize,
}

impl<const T: usize> Space<T> {
    /// Solves the island to `tolerance` in units of `speed`, from the impulses in `best` if they are a warm start, or zero.
    pub(super) fn solve(&mut self, chain: &Chain, warm_start: bool, speed: f64, tolerance: f64) {
        let stage = if warm_start { Stage::WarmStart } else { Stage::Zero };
        let residual = self.newton.residual(&self.island, &self.best) / speed;
        self.outcome = Outcome { stage, residual, ..Outcome::default() };
        let mut laid_out = false;
        if residual <= IDLE * tolerance {
            return;
        }
        for trial in chain.trials() {
            if (laid_out && self.outcome.residual <= tolerance) || self.outcome.factorizations >= chain.budget
            {
                break;
            }
            if !laid_out {
                self.equations.lay_out(&self.island);
                laid_out = true;
            }
            let stage = match trial {
                Trial::Warm(_) if !warm_start && !self.island.is_tame() => continue,
                Trial::Warm(factorizations) => {
                    self.at.copy_from(&self.best);
                    // what touches in one point each is soon sorted out by sweeps, redundant patches are not
                    let swept = self.island.is_simple
                        && sweep::run(&self.island, &mut self.sweep, &mut self.at, FIRST_SWEEPS);
                    self.outcome.sweeps += if swept { FIRST_SWEEPS } else { 0 };
                    let limits = self.limits(speed, tolerance);
                    let factorizations = factorizations as usize;
                    self.newton(None, Limits { factorizations, impatient: !swept, ..limits }, speed);
                    Stage::Newton
                }
                Trial::Interior(hand_over, iterations) => {
                    let Self { island, equations, interior, at, .. } = self;
                    let limits = (hand_over * speed, iterations as usize);
                    let spent = interior::run(island, equations, interior, at, (speed, 1.0), limits);
                    self.polish(spent, chain.budget, speed, tolerance);
                    Stage::Interior
                }
                Trial::Path(size, factorizations) => {
                    let Self { island, equations, interior, path, at, .. } = self;
                    let limits = (HAND_OVER * speed, factorizations as usize);
                    let spent = path::run(island, equations, interior, path, at, (speed, size), limits);
                    self.polish(spent, chain.budget, speed, tolerance);
                    Stage::Path
                }
                Trial::Sweeps(sweeps) => {
                    let sweeps = sweeps as usize;
                    self.at.copy_from(&self.best);
                    if !sweep::run(&self.island, &mut self.sweep, &mut self.at, sweeps) {
                        continue;
                    }
                    self.outcome.sweeps += sweeps;
                    self.newton(None, self.limits(speed, tolerance), speed);
                    Stage::Sweeps
                }
            };
            self.outcome.stage = stage;
        }
    }

    fn limits(&self, speed: f64, tolerance: f64) -> Limits {
        let aim = if self.at_rest || self.island.touches.len() <= SMALL { EXACT } else { IDLE };
        Limits {
            target: aim * tolerance * speed,
            good: tolerance * speed,
            factorizations: POLISH,
            impatient: false,
            exact: true,
        }
    }

    /// Newton after an interior method, whose velocities choose the first modes.
    fn polish(&mut self, spent: usize, budget: usize, speed: f64, tolerance: f64) {
        self.outcome.iterations += spent;
        self.outcome.factorizations += spent;
        let mut v = std::mem::take(&mut self.modes);
        v.clone_from(&self.at.v);
        let exact = self.sweep.velocities(&self.island, &mut self.at);
        let left = budget.saturating_sub(self.outcome.factorizations);
        let limits = self.limits(speed, tolerance);
        let factorizations = limits.factorizations.min(left);
        self.newton(Some(&v), Limits { factorizations, exact, ..limits }, speed);
        self.modes = v;
    }

    fn newton(&mut self, modes: Option<&[Lane]>, limits: Limits, speed: f64) {
        let Self { island, equations, newton, at, spare, sweep, .. } = self;
        let Reached { residual, factorizations } =
            semismooth::run(island, equations, newton, at, spare, sweep, modes, limits);
        self.outcome.factorizations += factorizations;
        if residual / speed < self.outcome.residual {
            self.outcome.residual = residual / speed;
            std::mem::swap(&mut self.best, &mut self.spare);
        }
    }
}
