//! Structured methods on heaps of any arrangement and friction: single trials, threads, and limits.

use stiction_lcp::{
    Chain, Contact, Fallback, FrictionSet, LcpError, Method, Solver, Stage, StepProblem, Trial, WarmStart,
    certify, solve,
};
use stiction_problems::ensemble::{Arrangement, Heap};

const ARRANGEMENTS: [Arrangement; 6] = [
    Arrangement::Tower(3),
    Arrangement::Tower(8),
    Arrangement::Wall(3, 3),
    Arrangement::Wall(5, 5),
    Arrangement::Pile(2),
    Arrangement::Jointed(8),
];

fn heap(arrangement: Arrangement, mu: f64, seed: u64) -> Heap {
    Heap { arrangement, mu, speed: 0.1, mass_ratio: 1.0, seed }
}

fn only(trials: &[Trial]) -> Solver {
    Method::Chain(Chain::new(trials, 1000)).into()
}

#[test]
fn heaps_are_solved_at_any_friction() {
    for arrangement in ARRANGEMENTS {
        for mu in [0.05, 0.3, 0.5, 0.8, 1.0, 2.0] {
            for seed in 0..4 {
                let problem = heap(arrangement, mu, seed).sample();
                let solution = solve(&problem, &Solver::default(), None)
                    .unwrap_or_else(|e| panic!("{arrangement:?}, mu {mu}, seed {seed}: {e}"));
                assert!(certify(&problem, solution.z()).unwrap().certificate.passes(1e-8));
                assert_eq!(solution.work().dense_size, 0, "the dense problem was formed");
                assert_eq!(solution.work().islands, 1);
            }
        }
    }
}

/// The central path turns back where the problem is not monotone: there the interior point method stalls.
#[test]
fn the_path_continues_where_the_interior_point_method_stalls() {
    let (mut ended, mut both) = (0, 0);
    for seed in 0..120 {
        let problem = heap(Arrangement::Wall(5, 5), 2.0, seed).sample();
        let interior = solve(&problem, &only(&[Trial::Interior(1e-6, 50)]), None);
        let path = solve(&problem, &only(&[Trial::Path(1.0, 200)]), None);
        if let Err(LcpError::Budget { best, .. }) = &interior {
            assert!(!best.certificate.passes(1e-8));
            ended += 1;
        }
        both += usize::from(interior.is_err() && path.is_err());
        if let Ok(solution) = path {
            assert_eq!(solution.work().stage, Stage::Path);
        }
    }
    assert!(ended >= 2, "{ended}");
    assert!(2 * both < ended, "{both} of {ended}");
}

#[test]
fn heavy_boxes_stand_on_light_ones() {
    for exponent in 0..=6 {
        let mass_ratio = 10f64.powi(exponent);
        let heap = Heap { mass_ratio, speed: 0.01, ..heap(Arrangement::Tower(10), 0.5, 1) };
        let solution = solve(&heap.sample(), &Solver::default(), None);
        assert!(solution.is_ok(), "1e{exponent}: {}", solution.unwrap_err());
    }
}

/// Two unconnected heaps.
fn two(a: &StepProblem, b: &StepProblem) -> StepProblem {
    let mut both = a.clone();
    let first = both.bodies.len();
    both.bodies.extend(b.bodies.iter().copied());
    for contact in &b.contacts {
        let mut contact: Contact = contact.clone();
        for row in contact.normal.iter_mut().chain(&mut contact.tangents) {
            if let stiction_lcp::Row::Bodies(terms) = &mut row.row {
                terms.iter_mut().for_each(|t| t.body += first);
            }
        }
        both.contacts.push(contact);
    }
    both
}

#[test]
fn islands_are_solved_alike_by_any_number_of_threads() {
    let a = heap(Arrangement::Wall(4, 4), 0.7, 1).sample();
    let b = heap(Arrangement::Tower(9), 0.7, 2).sample();
    let both = two(&a, &two(&b, &a));
    let answer = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solve(&both, &Solver::default(), None).unwrap())
    };
    let one = answer(1);
    assert_eq!(one.work().islands, 3);
    for threads in [2, 3, 8] {
        let many = answer(threads);
        assert_eq!(one.z(), many.z(), "{threads} threads");
        assert_eq!(one.velocity(), many.velocity());
    }
}

#[test]
fn a_heap_at_rest_is_held_by_the_impulses_it_has() {
    let rest = Heap { speed: 0.0, ..heap(Arrangement::Wall(4, 4), 0.5, 1) }.sample();
    let solution = solve(&rest, &Solver::default(), None).unwrap();
    let again = solve(&rest, &Solver::default(), Some(&WarmStart::from(&solution))).unwrap();
    assert_eq!((again.work().stage, again.work().factorizations), (Stage::WarmStart, 0));
    assert!(again.velocity().iter().all(|v| v.abs() < 1e-10));
    // a small change of the speeds needs few factorizations
    let next = Heap { speed: 1e-6, ..heap(Arrangement::Wall(4, 4), 0.5, 1) }.sample();
    let near = solve(&next, &Solver::default(), Some(&WarmStart::from(&solution))).unwrap();
    assert_eq!(near.work().stage, Stage::Newton);
    assert!(near.work().factorizations <= 8, "{}", near.work().factorizations);
}

#[test]
fn a_chain_that_exhausts_its_budget_is_an_error() {
    let problem = heap(Arrangement::Wall(5, 5), 1.0, 3).sample();
    // three iterations, and the rest of the budget for Newton
    let strict = Method::Chain(Chain::new(&[Trial::Interior(1e-1, 3)], 10)).into();
    let Err(error) = solve(&problem, &strict, None) else { panic!("ten factorizations are enough") };
    assert_eq!(error.status(), "budget");
    let residual = error.best().unwrap().certificate.worst();
    assert!(residual > 1e-8 && residual.is_finite());
    let loose = Solver { loosest: 2.0 * residual, ..strict };
    let solution = solve(&problem, &loose, None).unwrap();
    assert!(solution.work().fallbacks.contains(&Fallback::Loose));
    assert_eq!(solution.tolerance(), 2.0 * residual);
}

#[test]
fn unsupported_features_are_pivoted() {
    let mut problem = heap(Arrangement::Tower(2), 0.5, 1).sample();
    for contact in &mut problem.contacts {
        contact.set = FrictionSet::regular(8).unwrap();
    }
    let solution = solve(&problem, &Solver::default(), None).unwrap();
    assert_eq!(solution.work().stage, Stage::Lemke);
    assert!(solution.work().dense_size > 0);
}

#[test]
fn chains_are_written_as_lists() {
    let chain = Chain::new(&[Trial::Warm(3), Trial::Path(0.5, 70)], 99).pivoting(4);
    let text = serde_json::to_string(&chain).unwrap();
    assert_eq!(text, r#"{"trials":[{"warm":3},{"path":[0.5,70]}],"budget":99,"pivots_below":4}"#);
    assert_eq!(serde_json::from_str::<Chain>(&text).unwrap(), chain);
}
