//! Structured methods: each island of a step problem by itself, through a chain of interior point, semismooth Newton,
//! central path and Gauss–Seidel methods, all in the space of velocities. The matrix W = J M̃⁻¹ Jᵀ is never formed.

mod equations;
mod interior;
mod island;
mod iterate;
mod partition;
mod path;
mod semismooth;
mod sweep;
#[cfg(test)]
mod tests;
mod trials;
mod unique;

use crate::certificate::Candidate;
use crate::chain::{Chain, Trial};
use crate::mode::Mode;
use crate::problem::StepProblem;
use crate::profile::Phase;
use crate::solution::{LcpError, Solution, WarmStart, Work};
use crate::task::Task;
pub(crate) use island::unsupported_feature;
use partition::Partition;
use rayon::prelude::*;
use trials::{IslandOutcome, IslandSolver, IslandTolerance};
pub(crate) use unique::{Determined, SolvedStep};

/// Number of contacts and joint rows of all islands up to which they are solved on one thread: below, starting threads
/// costs more than it saves.
const MAX_SERIAL_ROWS: usize = 100;

/// Fractions of the tolerance that the islands are solved to, attempt by attempt [-]. Impulses lose a little when they
/// are moved into their cones; if the certificate then refuses them, the next attempt solves more accurately.
const TOLERANCE_FRACTIONS: [f64; 3] = [0.5, 0.05, 0.005];

/// Factorizations of Newton's method in the second and third attempt.
const RETRY_FACTORIZATIONS: u32 = 20;

/// Partition, island solvers and vectors of the structured methods. Storage is reused from problem to problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct StructuredWorkspace {
    partition: Partition,
    /// Island solvers for at most one, two and three tangent rows per contact.
    one_tangent: Vec<IslandSolver<1>>,
    two_tangents: Vec<IslandSolver<2>>,
    three_tangents: Vec<IslandSolver<3>>,
    /// Index of each body in its island.
    local: Vec<u32>,
    z: Vec<f64>,
    v: Vec<f64>,
    /// Time of factorizations, if it is measured [s].
    factoring: f64,
    /// Modes of the contacts of a solution, and what they determine.
    modes: Vec<Mode>,
    determined: Determined,
    /// Whether `determined` is that of the last step.
    known: bool,
}

/// One attempt at all islands.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    step: &'a StepProblem,
    chain: &'a Chain,
    warm_start: bool,
    to: IslandTolerance,
}

impl StructuredWorkspace {
    /// Solves the islands of `step` one by one, and certifies the whole.
    pub(crate) fn solve(
        &mut self,
        step: &StepProblem,
        task: &mut Task,
        chain: &Chain,
        warm_start: Option<&WarmStart>,
    ) -> Result<Solution, LcpError> {
        self.begin(step, task, warm_start);
        let retry = Chain::new(&[Trial::Warm(RETRY_FACTORIZATIONS)], chain.budget);
        let mut work = Work { islands: self.partition.len(), ..Work::default() };
        let mut best: Option<Candidate> = None;
        for (attempt, fraction) in TOLERANCE_FRACTIONS.into_iter().enumerate() {
            let attempt = Attempt {
                step,
                chain: if attempt > 0 { &retry } else { chain },
                warm_start: warm_start.is_some() || attempt > 0,
                to: IslandTolerance::new(task.speed(), fraction * task.tolerance(), step.speed_scale),
            };
            self.attempt(&attempt, task, &mut work);
            if let Some(worse) = best.take() {
                task.recycle(worse);
            }
            let found = best.insert(task.certify(&self.z));
            if found.certificate.passes(task.tolerance()) || work.factorizations >= chain.budget {
                break;
            }
            self.v.clone_from(&found.velocity);
        }
        task.profile().reassign(Phase::Factorization, self.factoring);
        accept(task, best.unwrap_or_default(), work)
    }

    /// Reads the warm start, and splits the problem into islands.
    fn begin(&mut self, step: &StepProblem, task: &mut Task, warm_start: Option<&WarmStart>) {
        self.factoring = 0.0;
        self.z.clear();
        match warm_start {
            Some(warm_start) => self.z.extend_from_slice(&warm_start.z),
            None => self.z.resize(task.prepared().layout.impulses, 0.0),
        }
        task.velocity(&self.z, &mut self.v);
        self.split(step);
    }

    /// Splits the problem into islands.
    fn split(&mut self, step: &StepProblem) {
        self.local.resize(step.bodies.len(), 0);
        self.partition.split(step);
        // each body is in one island
        for i in 0..self.partition.len() {
            let bodies = self.partition.island(i).bodies;
            (0..).zip(bodies).for_each(|(number, &body)| self.local[body] = number);
        }
    }

    /// Solves all islands with the number of tangent rows that they need.
    fn attempt(&mut self, attempt: &Attempt, task: &mut Task, work: &mut Work) {
        let tangents = attempt.step.contacts.iter().map(|c| c.tangents.len()).max().unwrap_or(0);
        match tangents {
            0 | 1 => self.solve_islands(|own| &mut own.one_tangent, attempt, task, work),
            2 => self.solve_islands(|own| &mut own.two_tangents, attempt, task, work),
            _ => self.solve_islands(|own| &mut own.three_tangents, attempt, task, work),
        }
    }

    fn solve_islands<const T: usize>(
        &mut self,
        solvers: impl Fn(&mut Self) -> &mut Vec<IslandSolver<T>>,
        &Attempt { step, chain, warm_start, to }: &Attempt,
        task: &mut Task,
        work: &mut Work,
    ) {
        let prepared = task.prepared();
        let layout = &prepared.layout;
        let count = self.partition.len();
        let timed = task.profile().is_running();
        let mut all = std::mem::take(solvers(self));
        if all.len() < count {
            all.resize_with(count, IslandSolver::default);
        }
        let Self { partition, local, z, v, .. } = &*self;
        let mobilities = task.mobilities();
        let solve = |(i, own): (usize, &mut IslandSolver<T>)| {
            own.island.read(step, &prepared, mobilities, partition.island(i), local);
            (own.equations.timed, own.equations.seconds) = (timed, 0.0);
            own.best.read(&own.island, step, layout, z);
            own.best.read_velocities(&own.island, layout, v);
            own.solve(chain, warm_start, to);
        };
        let size = step.contacts.len() + step.joints.len();
        if count > 1 && size > MAX_SERIAL_ROWS {
            all[..count].par_iter_mut().enumerate().for_each(solve);
        } else {
            all[..count].iter_mut().enumerate().for_each(solve);
        }
        for own in &all[..count] {
            own.best.write(&own.island, step, layout, &mut self.z);
            let IslandOutcome { stage, factorizations, iterations, sweeps, .. } = own.outcome;
            self.factoring += own.equations.seconds;
            work.stage = work.stage.max(stage);
            work.factorizations += factorizations;
            work.iterations += iterations;
            work.sweeps += sweeps;
        }
        *solvers(self) = all;
    }
}

/// Candidate as a solution within the tolerance or the loosest one, or as the best iterate of an error.
fn accept(task: &Task, candidate: Candidate, work: Work) -> Result<Solution, LcpError> {
    let spent = work.factorizations;
    let best = match task.accept(candidate, work.clone()) {
        Ok(solution) => return Ok(solution),
        Err(best) => best,
    };
    task.accept_loosely(best, work).map_err(|best| LcpError::Budget {
        spent,
        unit: "factorizations",
        best: Box::new(best),
    })
}
