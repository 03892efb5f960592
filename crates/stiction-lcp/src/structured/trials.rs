//! Trials of one island: the methods of a chain, one after the other, until the residual is within tolerance.

use super::equations::Equations;
use super::interior::{InteriorPoint, InteriorWorkspace};
use super::island::{Island, Lane};
use super::iterate::Iterate;
use super::path::{CentralPath, PathStart, PathWorkspace};
use super::semismooth::{NewtonLimits, NewtonStep, SemismoothNewton};
use super::sweep::GaussSeidel;
use super::unique::UniqueIsland;
use crate::chain::{Chain, Trial};
use crate::solution::Stage;
use crate::task::AS_GIVEN_FRACTION;

/// Residual at which the central path hands over to Newton's method, relative to the speed scale [-]. Sensible range
/// 1e-8 to 1e-4. Lower: impulses of an interior method get worse again. Higher: Newton's method fails from farther away,
/// in one case of three at 1e-3.
const HAND_OVER: f64 = 1e-6;

/// Number of contacts up to which Newton's method continues to rounding ([`TO_ROUNDING`]), for one more factorization.
const SMALL_ISLAND: usize = 64;

/// Fraction of the tolerance that is rounding error [-]: target of Newton's method in small islands and at rest.
/// Sensible range 1e-8 to 1e-3: lower is never reached, higher lets resting bodies creep.
const TO_ROUNDING: f64 = 1e-6;

/// Gauss–Seidel sweeps before Newton's method if no two contacts are between the same bodies.
const FIRST_SWEEPS: usize = 30;

/// Maximum factorizations of Newton's method after another method. If redundant contacts contradict each other slightly,
/// dozens of them open one after the other; other methods lead to the same.
const POLISH_FACTORIZATIONS: usize = 100;

/// Factor of the problem's speed scale up to which an island counts as at rest [-]: all speeds are within g h, so residual
/// creep would accumulate from step to step.
const AT_REST: f64 = 2.0;

/// Accuracy that an island is solved to.
#[derive(Debug, Clone, Copy)]
pub(super) struct IslandTolerance {
    /// Speed scale V₀ of the certificate [m/s].
    pub(super) speed: f64,
    /// Residual relative to V₀.
    pub(super) tolerance: f64,
    /// Whether all speeds are within the problem's speed scale.
    at_rest: bool,
}

impl IslandTolerance {
    /// Tolerance relative to `speed`; `speed_scale` is that of the problem, g h.
    pub(super) fn new(speed: f64, tolerance: f64, speed_scale: f64) -> Self {
        Self { speed, tolerance, at_rest: speed <= AT_REST * speed_scale }
    }
}

/// Solver of one island: its data, iterates and the workspaces of all methods.
#[derive(Debug, Clone, Default)]
pub(super) struct IslandSolver<const T: usize> {
    pub(super) island: Island<T>,
    pub(super) at: Iterate<T>,
    pub(super) best: Iterate<T>,
    pub(super) equations: Equations,
    spare: Iterate<T>,
    newton: NewtonStep<T>,
    interior: InteriorWorkspace<T>,
    path: PathWorkspace<T>,
    sweeps: GaussSeidel<T>,
    /// Velocities by which Newton's method chooses its first modes.
    modes_from: Vec<Lane>,
    pub(super) outcome: IslandOutcome,
    pub(super) unique: UniqueIsland<T>,
}

/// Result of an island and the work it took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IslandOutcome {
    pub(super) stage: Stage,
    /// Residual relative to the speed scale.
    pub(super) residual: f64,
    pub(super) factorizations: usize,
    pub(super) iterations: usize,
    pub(super) sweeps: usize,
}

impl<const T: usize> IslandSolver<T> {
    /// Solves the island from the impulses in `best`, a warm start or zero.
    pub(super) fn solve(&mut self, chain: &Chain, warm_start: bool, to: IslandTolerance) {
        let stage = if warm_start { Stage::WarmStart } else { Stage::Zero };
        let residual = self.newton.residual(&self.island, &self.best) / to.speed;
        self.outcome = IslandOutcome { stage, residual, ..IslandOutcome::default() };
        if residual <= AS_GIVEN_FRACTION * to.tolerance {
            return;
        }
        for (k, trial) in chain.trials().enumerate() {
            if (k > 0 && self.outcome.residual <= to.tolerance) || self.outcome.factorizations >= chain.budget
            {
                break;
            }
            if k == 0 {
                self.equations.lay_out(&self.island);
            }
            let stage = match trial {
                Trial::Warm(factorizations) => self.warm(factorizations as usize, warm_start, to),
                Trial::Interior(hand_over, iterations) => {
                    Some(self.interior(hand_over, iterations as usize, chain.budget, to))
                }
                Trial::Path(size, factorizations) => {
                    Some(self.path(PathStart::Even(size), factorizations as usize, chain.budget, to))
                }
                Trial::Scattered(paths, factorizations) => {
                    (0..paths).for_each(|k| {
                        let open = self.outcome.residual > to.tolerance;
                        if open && self.outcome.factorizations < chain.budget {
                            self.path(PathStart::Scattered(k), factorizations as usize, chain.budget, to);
                        }
                    });
                    Some(Stage::Path)
                }
                Trial::Sweeps(sweeps) => self.sweeps(sweeps as usize, to),
            };
            self.outcome.stage = stage.unwrap_or(self.outcome.stage);
        }
    }

    /// Newton's method from the best iterate; without a warm start only if the island is easy.
    fn warm(&mut self, factorizations: usize, warm_start: bool, to: IslandTolerance) -> Option<Stage> {
        if !warm_start && !self.island.is_easy() {
            return None;
        }
        self.at.copy_from(&self.best);
        // sweeps settle single contact points, but not redundant contact patches
        let swept = self.island.is_simple && self.sweeps.run(&self.island, &mut self.at, FIRST_SWEEPS);
        self.outcome.sweeps += if swept { FIRST_SWEEPS } else { 0 };
        let limits = NewtonLimits { factorizations, impatient: !swept, ..self.limits(to) };
        self.newton(None, limits, to.speed);
        Some(Stage::Newton)
    }

    fn interior(&mut self, hand_over: f64, iterations: usize, budget: usize, to: IslandTolerance) -> Stage {
        let Self { island, equations, interior: workspace, at, .. } = self;
        let method = InteriorPoint { island, equations, workspace, at };
        let spent = method.run(to.speed, hand_over * to.speed, iterations);
        self.polish(spent, budget, to);
        Stage::Interior
    }

    fn path(&mut self, start: PathStart, factorizations: usize, budget: usize, to: IslandTolerance) -> Stage {
        let Self { island, equations, interior, path, at, .. } = self;
        let method = CentralPath::new(island, equations, interior, path, at, to.speed, start);
        let spent = method.run(HAND_OVER * to.speed, factorizations);
        self.polish(spent, budget, to);
        Stage::Path
    }

    fn sweeps(&mut self, sweeps: usize, to: IslandTolerance) -> Option<Stage> {
        self.at.copy_from(&self.best);
        if !self.sweeps.run(&self.island, &mut self.at, sweeps) {
            return None;
        }
        self.outcome.sweeps += sweeps;
        self.newton(None, self.limits(to), to.speed);
        Some(Stage::Sweeps)
    }

    fn limits(&self, to: IslandTolerance) -> NewtonLimits {
        let small = to.at_rest || self.island.contacts.len() <= SMALL_ISLAND;
        let fraction = if small { TO_ROUNDING } else { AS_GIVEN_FRACTION };
        NewtonLimits {
            target: fraction * to.tolerance * to.speed,
            good: to.tolerance * to.speed,
            factorizations: POLISH_FACTORIZATIONS,
            impatient: false,
            exact: true,
        }
    }

    /// Newton's method after an interior method, whose velocities choose the first modes.
    fn polish(&mut self, spent: usize, budget: usize, to: IslandTolerance) {
        self.outcome.iterations += spent;
        self.outcome.factorizations += spent;
        let mut v = std::mem::take(&mut self.modes_from);
        v.clone_from(&self.at.v);
        let exact = self.sweeps.velocities(&self.island, &mut self.at);
        let left = budget.saturating_sub(self.outcome.factorizations);
        let limits = self.limits(to);
        let factorizations = limits.factorizations.min(left);
        self.newton(Some(&v), NewtonLimits { factorizations, exact, ..limits }, to.speed);
        self.modes_from = v;
    }

    /// Newton's method from `at`; a better iterate becomes `best`.
    fn newton(&mut self, modes_from: Option<&[Lane]>, limits: NewtonLimits, speed: f64) {
        let Self { island, equations, newton, at, spare, sweeps, .. } = self;
        let result =
            SemismoothNewton::new(island, equations, newton, sweeps, at, spare, limits).run(modes_from);
        self.outcome.factorizations += result.factorizations;
        if result.residual / speed < self.outcome.residual {
            self.outcome.residual = result.residual / speed;
            std::mem::swap(&mut self.best, &mut self.spare);
        }
    }
}
