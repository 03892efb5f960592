//! Newton's method from near a solution of a small step problem: each contact is open, sticks or slips as its impulse and
//! speed say, and the equations of these modes are solved by proximal steps.
//!
//! Redundant contacts have many solutions. The one found has, as far as the modes allow, the least impulses: the corners
//! of a box at rest all carry load, none is about to open, and the modes do not depend on the last bits. Redundant contacts
//! also make the equations singular, and rounded positions make them contradict each other slightly. Proximal steps are
//! regular; repeated, they remove the regularization wherever the equations agree.

mod equations;
mod polygon;
mod redundant;
#[cfg(test)]
mod tests;

use crate::certificate::Candidate;
use crate::mode::ContactMode;
use crate::problem::{Contact, FrictionLaw, FrictionSet, StepProblem};
use crate::solution::{Solution, Stage, Work};
use crate::task::Task;
use equations::ModeEquations;

// Constants of the method.

/// Maximum number of times the modes are chosen: near a solution they change once or twice.
const MODE_ROUNDS: usize = 8;

/// Maximum number of proximal steps per choice of modes. Each divides the residual by the smallest eigenvalue of W over
/// [`MODE_PROXIMAL`].
const PROXIMAL_STEPS: usize = 6;

/// Maximum number of proximal steps in prescribed modes: rounding is reached sooner.
const PRESCRIBED_MODE_STEPS: usize = 12;

/// Ratio of residuals above which a proximal step counts as stuck [-]. Sensible range 0.1 to 0.9.
const STUCK_STEP: f64 = 0.5;

/// Largest change of velocities, relative to the residual at the start [-], that counts as the same solution. Stacks and
/// mass ratios amplify errors: lower values refuse true corrections. Redundant contacts may open in many ways: higher
/// values accept another solution.
const SAME_SOLUTION: f64 = 1e3;

/// Residual that counts as rounding error, relative to the speed scale [-]. Sensible range 1e-15 to 1e-12: lower is never
/// reached, higher leaves digits unused.
pub(crate) const ROUNDING_RESIDUAL: f64 = 1e-14;

/// Proximal term ε relative to the diagonal of W [-]. Sensible range 1e-8 to 1e-4: larger takes more steps, smaller loses
/// digits, because the matrix has the condition number 1/ε.
const MODE_PROXIMAL: f64 = 1e-6;

/// Band of speeds around the residual, as its multiple [-], in which contacts count as active in a restart.
const RESTART_BAND: f64 = 2.0;

/// Largest number of velocities: the matrix is dense.
const MAX_VELOCITIES: usize = 600;

/// Choice among the impulses of redundant rows, all of which follow the modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadSharing {
    /// Impulses of least change.
    Nearest,
    /// Impulses of least norm in their cones, in groups of bodies where a contact slips: there the motion depends on them.
    UniqueInSlip,
    /// Impulses of least norm in their cones.
    Unique,
}

/// Newton's method with its storage, reused from problem to problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModeNewton {
    equations: ModeEquations,
    velocity: Vec<f64>,
}

impl ModeNewton {
    /// Impulses with which every contact follows its prescribed mode, and their certificate. `sharing` chooses those of
    /// redundant rows.
    pub(crate) fn solve_in_modes(
        &mut self,
        step: &StepProblem,
        task: &mut Task,
        modes: &[ContactMode],
        sharing: LoadSharing,
    ) -> Candidate {
        let Self { equations, velocity } = self;
        let prepared = task.prepared();
        equations.prescribe(step, &prepared, modes);
        let regular = equations.factor(step, &prepared);
        equations.write(step, &prepared, f64::NEG_INFINITY);
        if regular {
            equations.descend(step, task, velocity);
            let prepared = task.prepared();
            if equations.take_least_norm(step, &prepared, sharing) {
                equations.write(step, &prepared, f64::NEG_INFINITY);
                // what rounding left of the residual, by the least change; reported impulses stay in their cones
                if sharing != LoadSharing::Unique {
                    equations.descend(step, task, velocity);
                }
            }
        }
        task.certify(&equations.z)
    }

    /// Solution near `start`, if Newton's method finds one: from the impulses of its modes alone, then from its own.
    pub(crate) fn polish(
        &mut self,
        step: &StepProblem,
        task: &mut Task,
        start: &[f64],
        work: &Work,
    ) -> Option<Solution> {
        // polygons over at most two rows have the corners and edges this method knows; spinning and rolling friction is
        // left to other methods
        let polygons = |c: &Contact| {
            c.tangents.len() < 3
                && c.bound_by.is_none()
                && (c.tangents.is_empty() || matches!(c.set, FrictionSet::Polygon(_)))
        };
        let velocities = task.prepared().layout.velocities();
        if step.law != FrictionLaw::Coulomb
            || velocities > MAX_VELOCITIES
            || !step.contacts.iter().all(polygons)
        {
            return None;
        }
        [true, false].into_iter().find_map(|restart| self.run(step, task, start, restart, work))
    }

    /// Chooses modes and takes proximal steps, until the residual is rounding. With `restart` the impulses of active
    /// contacts are forgotten, so that they become the least that the modes need.
    fn run(
        &mut self,
        step: &StepProblem,
        task: &mut Task,
        start: &[f64],
        restart: bool,
        work: &Work,
    ) -> Option<Solution> {
        let prepared = task.prepared();
        self.equations.read(step, &prepared, start);
        let origin = task.certify(start);
        let mut search = PolishSearch { at: task.certify(start), best: task.certify(start) };
        let mut rounds = 0;
        for round in 1..=MODE_ROUNDS {
            rounds = round;
            let forget = restart && round == 1;
            let at = &search.at.certificate;
            let band = if forget { RESTART_BAND * at.worst() * at.speed } else { 0.0 };
            self.equations.choose_modes(step, &prepared, &search.at, band);
            if forget {
                self.equations.forget_impulses();
            }
            if !self.equations.factor(step, &prepared) || search.descend(&mut self.equations, step, task) {
                break;
            }
        }
        let best = search.finish(&origin, task)?;
        let work = Work { stage: Stage::Newton, rounds: work.rounds + rounds, ..work.clone() };
        task.accept(best, work).map_err(|best| task.recycle(best)).ok()
    }
}

impl ModeEquations {
    /// Proximal steps in prescribed modes, until the residual is rounding.
    fn descend(&mut self, step: &StepProblem, task: &mut Task, velocity: &mut Vec<f64>) {
        let mut before = f64::INFINITY;
        for _ in 0..PRESCRIBED_MODE_STEPS {
            task.velocity(&self.z, velocity);
            let prepared = task.prepared();
            // the first step removes almost all of the residual, the next ones its remainder
            let residual = self.advance(step, &prepared, velocity).filter(|r| *r < STUCK_STEP * before);
            let Some(residual) = residual else { break };
            before = residual;
            self.write(step, &prepared, f64::NEG_INFINITY);
            if residual == 0.0 {
                break;
            }
        }
    }
}

/// Current and best candidate of a search.
struct PolishSearch {
    at: Candidate,
    best: Candidate,
}

impl PolishSearch {
    /// Proximal steps in the chosen modes. Returns whether the search is over: the residual is rounding, or it is stuck
    /// with a best candidate that passes.
    fn descend(&mut self, equations: &mut ModeEquations, step: &StepProblem, task: &mut Task) -> bool {
        let prepared = task.prepared();
        let mut before = f64::INFINITY;
        for _ in 0..PROXIMAL_STEPS {
            equations.write(step, &prepared, 0.0);
            task.recycle(std::mem::take(&mut self.at));
            self.at = task.certify(&equations.z);
            let worst = self.at.certificate.worst();
            if worst < self.best.certificate.worst() {
                let better = task.certify(&equations.z);
                task.recycle(std::mem::replace(&mut self.best, better));
            }
            let stuck = !(worst < STUCK_STEP * before);
            before = worst;
            if worst <= ROUNDING_RESIDUAL || (stuck && self.best.certificate.passes(task.tolerance())) {
                return true;
            }
            if stuck || equations.advance(step, &prepared, &self.at.velocity).is_none() {
                return false;
            }
        }
        false
    }

    /// Best candidate, if it is the solution next to `origin` and not another one far away.
    fn finish(self, origin: &Candidate, task: &mut Task) -> Option<Candidate> {
        let Self { at, best } = self;
        task.recycle(at);
        let change = origin.velocity.iter().zip(&best.velocity);
        let moved = change.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        if moved <= SAME_SOLUTION * origin.certificate.worst() * origin.certificate.speed {
            return Some(best);
        }
        task.recycle(best);
        None
    }
}
