//! The structured methods: every island of a step problem by itself, through a chain of interior point, semismooth
//! Newton, the central path and Gauss–Seidel, all of them in the space of velocities. The matrix W = J M̃⁻¹ Jᵀ is
//! never formed.

mod equations;
mod interior;
mod island;
mod iterate;
mod partition;
mod path;
mod semismooth;
mod solve;
mod sweep;

use crate::certificate::Candidate;
use crate::chain::{Chain, Trial};
use crate::problem::StepProblem;
use crate::profile::Phase;
use crate::solution::{LcpError, Solution, WarmStart, Work};
use crate::solve::Task;
pub(crate) use island::unknown_feature;
use partition::Partition;
use rayon::prelude::*;
use solve::{Outcome, Space};

/// Contacts and joint rows of all islands below which threads cost more than they save.
const SERIAL: usize = 100;

/// Parts of the tolerance that the islands are solved to: impulses lose a little when they are moved into their cones,
/// and where that is too much the methods go on from there.
const SHARES: [f64; 3] = [0.5, 0.05, 0.005];

/// Factorizations of Newton where it goes on.
const AFTER: u32 = 20;

/// Storage of the structured methods, kept from problem to problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct Storage {
    partition: Partition,
    line: Vec<Space<1>>,
    plane: Vec<Space<2>>,
    spin: Vec<Space<3>>,
    /// The number of each body in its island.
    local: Vec<u32>,
    z: Vec<f64>,
    v: Vec<f64>,
    /// What factorizations took, where that is measured [s].
    factoring: f64,
}

/// Solves the islands of `step` one by one, and certifies the whole.
pub(crate) fn solve(
    step: &StepProblem,
    task: &mut Task,
    chain: &Chain,
    warm_start: Option<&WarmStart>,
) -> Result<Solution, LcpError> {
    let mut storage = std::mem::take(task.structured());
    let prepared = task.prepared();
    storage.factoring = 0.0;
    storage.z.clear();
    match warm_start {
        Some(warm_start) => storage.z.extend_from_slice(&warm_start.z),
        None => storage.z.resize(prepared.layout.impulses, 0.0),
    }
    task.velocity(&storage.z, &mut storage.v);
    storage.local.resize(step.bodies.len(), 0);
    storage.partition.split(step);
    let tangents = step.contacts.iter().map(|c| c.tangents.len()).max().unwrap_or(0);
    let mut work = Work { islands: storage.partition.len(), ..Work::default() };
    let mut best: Option<Candidate> = None;
    for (attempt, share) in SHARES.into_iter().enumerate() {
        let scale = (task.speed(), share * task.tolerance());
        let warm = warm_start.is_some() || attempt > 0;
        let chain = if attempt > 0 { &Chain::new(&[Trial::Warm(AFTER)], chain.budget) } else { chain };
        match tangents {
            0 | 1 => {
                let mut spaces = std::mem::take(&mut storage.line);
                storage.run(step, task, chain, warm, scale, &mut spaces, &mut work);
                storage.line = spaces;
            }
            2 => {
                let mut spaces = std::mem::take(&mut storage.plane);
                storage.run(step, task, chain, warm, scale, &mut spaces, &mut work);
                storage.plane = spaces;
            }
            _ => {
                let mut spaces = std::mem::take(&mut storage.spin);
                storage.run(step, task, chain, warm, scale, &mut spaces, &mut work);
                storage.spin = spaces;
            }
        }
        if let Some(worse) = best.take() {
            task.recycle(worse);
        }
        let found = best.insert(task.certify(&storage.z));
        if found.certificate.passes(task.tolerance()) || work.factorizations >= chain.budget {
            break;
        }
        storage.v.clone_from(&found.velocity);
    }
    task.profile().reassign(Phase::Factorization, storage.factoring);
    let best = best.unwrap_or_default();
    *task.structured() = storage;
    let spent = work.factorizations;
    let best = match task.accept(best, work.clone()) {
        Ok(solution) => return Ok(solution),
        Err(best) => best,
    };
    task.accept_loosely(best, work).map_err(|best| LcpError::Budget {
        spent,
        unit: "factorizations",
        best: Box::new(best),
    })
}

impl Storage {
    /// All islands, in spaces of their own.
    #[allow(clippy::too_many_arguments)]
    fn run<const T: usize>(
        &mut self,
        step: &StepProblem,
        task: &mut Task,
        chain: &Chain,
        warm_start: bool,
        (speed, tolerance): (f64, f64),
        spaces: &mut Vec<Space<T>>,
        work: &mut Work,
    ) {
        let prepared = task.prepared();
        let layout = &prepared.layout;
        let count = self.partition.len();
        let timed = task.profile().is_running();
        if spaces.len() < count {
            spaces.resize_with(count, Space::default);
        }
        let spaces = &mut spaces[..count];
        // each body is in one island
        for i in 0..count {
            let bodies = self.partition.island(i).0;
            (0..).zip(bodies).for_each(|(number, &body)| self.local[body] = number);
        }
        let Self { partition, local, z, v, .. } = &*self;
        let mobilities = task.mobilities();
        let solved = |(i, space): (usize, &mut Space<T>)| {
            space.island.take(step, &prepared, mobilities, partition.island(i), local);
            (space.equations.timed, space.equations.seconds) = (timed, 0.0);
            space.at_rest = speed <= 2.0 * step.speed_scale;
            space.best.read(&space.island, step, layout, z);
            space.best.take_velocities(&space.island, layout, v);
            space.solve(chain, warm_start, speed, tolerance);
        };
        let size = step.contacts.len() + step.joints.len();
        if count > 1 && size > SERIAL {
            spaces.par_iter_mut().enumerate().for_each(solved);
        } else {
            spaces.iter_mut().enumerate().for_each(solved);
        }
        for space in spaces {
            space.best.write(&space.island, step, layout, &mut self.z);
            let Outcome { stage, factorizations, iterations, sweeps, .. } = space.outcome;
            self.factoring += space.equations.seconds;
            work.stage = work.stage.max(stage);
            work.factorizations += factorizations;
            work.iterations += iterations;
            work.sweeps += sweeps;
        }
    }
}
