//! Single trials on planted problems: with redundant contacts, with several islands, and on any number of threads.

use super::island::Island;
use super::iterate::Iterate;
use super::partition::Partition;
use crate::WarmStart;
use crate::certificate::{Judge, JudgeBuffers};
use crate::chain::{Chain, Trial};
use crate::problem::{FrictionSet, Prepared, Problem};
use crate::solution::Stage;
use crate::solve::{Method, Solver, solve};
use crate::testing::{Plan, Planted, distance};
use proptest::prelude::*;
use std::sync::Arc;

/// Island of a connected problem, with its planted solution as an iterate.
pub(super) fn island_of(planted: &Planted) -> (Island<2>, Iterate<2>) {
    let problem = &planted.problem;
    let mut prepared = Prepared::default();
    prepared.prepare(problem).unwrap();
    let prepared = Arc::new(prepared);
    let judge = Judge::new(Problem::Step(problem), prepared.clone(), JudgeBuffers::default());
    let mut partition = Partition::default();
    partition.split(problem);
    assert_eq!(partition.len(), 1);
    let local: Vec<u32> = (0..).take(problem.bodies.len()).collect();
    let mut island = Island::default();
    island.read(problem, &prepared, judge.mobilities(), partition.island(0), &local);
    let mut solution = Iterate::default();
    solution.read(&island, problem, &prepared.layout, &planted.z);
    solution.read_velocities(&island, &prepared.layout, &planted.velocity);
    (island, solution)
}

fn only(trial: Trial) -> Solver {
    Method::Chain(Chain::new(&[trial], 1000).pivoting(0)).into()
}

/// Every cold-start method finds the planted velocity, which is unique at low friction.
#[test]
fn each_trial_finds_the_planted_velocity() {
    let trials = [
        (Trial::Interior(1e-6, 50), Stage::Interior),
        (Trial::Path(1.0, 200), Stage::Path),
        (Trial::Sweeps(300), Stage::Sweeps),
    ];
    for (trial, stage) in trials {
        for copies in 1..=2 {
            for seed in 0..10 {
                let circle = FrictionSet::circle();
                for plan in [Plan::chain(5, copies, circle.clone()), Plan::islands(4, copies, circle)] {
                    let planted = Plan { mu: 0.1, ..plan }.plant(seed);
                    let solution = solve(&planted.problem, &only(trial), None)
                        .unwrap_or_else(|e| panic!("{trial:?}, {copies} copies, seed {seed}: {e}"));
                    assert_eq!(solution.work().stage, stage);
                    let error = distance(solution.velocity(), &planted.velocity);
                    assert!(error < 1e-7, "{trial:?}, {copies} copies, seed {seed}: {error:e}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn newton_returns_to_the_planted_solution_from_nearby(
        seed in 0_u64..1000,
        copies in 1_usize..4,
        bodies in 1_usize..6,
        size in -6.0_f64..-3.0,
    ) {
        let planted = Plan::chain(bodies, copies, FrictionSet::circle()).plant(seed);
        let mut start = planted.z.clone();
        start.iter_mut().enumerate().for_each(|(i, z)| *z *= 1.0 + 10_f64.powf(size) * (i % 3) as f64);
        let start = WarmStart { z: start, basis: None };
        let solution = solve(&planted.problem, &only(Trial::Warm(40)), Some(&start)).unwrap();
        prop_assert!(distance(solution.velocity(), &planted.velocity) < 1e-7);
    }

    #[test]
    fn islands_do_not_depend_on_threads(seed in 0_u64..1000) {
        let planted = Plan::islands(40, 2, FrictionSet::circle()).plant(seed);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solve(&planted.problem, &Solver::default(), None).unwrap().z().to_vec())
        };
        prop_assert_eq!(on(1), on(3));
    }
}
