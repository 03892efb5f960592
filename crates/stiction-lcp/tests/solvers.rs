//! The problem collection, every solver against the others.

use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::{
    Condensed, Enumerate, Lcp, LcpError, Lemke, Method, Problem, Solver, Stage, WarmStart, solve,
};
use stiction_problems::collection;

fn dense(problem: &AnyProblem) -> Option<Lcp> {
    match problem {
        AnyProblem::Lcp(lcp) => Some(lcp.clone()),
        AnyProblem::Mlcp(_) | AnyProblem::Local(_) => None,
        AnyProblem::Step(step) => Condensed::new(step).ok().map(|c| c.lcp().clone()),
    }
}

/// Problems outside the classes for which Lemke's method is conclusive (not copositive, or a bimatrix game,
/// where the covering vector e leads straight to a ray): it must say so, and must not claim a proof.
const INCONCLUSIVE: [&str; 1] = ["feasible-unsolvable"];

#[test]
fn lemke_agrees_with_what_is_known_of_every_problem() {
    let (mut solved, mut refused, mut inconclusive) = (0, 0, Vec::new());
    for (name, file) in collection::all() {
        let expected = file.expected.clone().unwrap();
        match (solve(&file.problem, &Solver::default(), None), expected.solvable) {
            (Ok(solution), true) => {
                solved += 1;
                assert!(solution.certificate().passes(1e-10));
                let near = |known: &Vec<f64>| {
                    let size = known.iter().fold(1.0, |a: f64, x| a.max(x.abs()));
                    solution.z().iter().zip(known).all(|(a, b)| (a - b).abs() <= 1e-8 * size)
                };
                if expected.continuum != Some(true) && !expected.solutions.is_empty() {
                    assert!(expected.solutions.iter().any(near), "{name}: {:?}", solution.z());
                }
            }
            (Ok(_), false) => panic!("{name} has no solution, and was solved"),
            (Err(LcpError::Ray { proof: None, .. }), _) => inconclusive.push(name),
            (Err(LcpError::Ray { .. }), false) => refused += 1,
            (Err(LcpError::Unsupported { .. }), true)
                if name.contains("ellipse") || name.contains("circle") => {}
            (Err(error), _) => panic!("{name}: {error}"),
        }
    }
    assert!(solved >= 50 && refused >= 5, "{solved} solved, {refused} refused");
    assert_eq!(inconclusive, INCONCLUSIVE);
}

#[test]
fn small_problems_agree_with_all_complementary_bases() {
    let mut compared = 0;
    for (name, file) in collection::all() {
        let Some(lcp) =
            dense(&file.problem).filter(|l| (1..=Enumerate::MAX_COMPLEMENTARY).contains(&l.q.len()))
        else {
            continue;
        };
        let all = Enumerate::default().all(&lcp).unwrap();
        assert!(all.complete(), "{name}");
        compared += 1;
        match solve(&lcp, &Solver::default(), None) {
            Ok(solution) => {
                let near = |point: &Vec<f64>| {
                    let size = point.iter().fold(1.0, |a: f64, x| a.max(x.abs()));
                    solution.z().iter().zip(point).all(|(a, b)| (a - b).abs() <= 1e-8 * size)
                };
                assert!(all.continuum || all.isolated.iter().any(near), "{name}: {:?}", solution.z());
            }
            Err(LcpError::Ray { proof: Some(_), .. }) => assert!(!all.solvable(), "{name}"),
            Err(LcpError::Ray { proof: None, .. }) => {}
            Err(error) => panic!("{name}: {error}"),
        }
        let by_bases = solve(&file.problem, &Method::Enumerate(Enumerate::default()).into(), None);
        assert_eq!(by_bases.is_ok(), all.solvable(), "{name}: {by_bases:?}");
    }
    assert!(compared >= 40, "only {compared}");
}

#[test]
fn larger_problems_pass_with_a_second_solver() {
    let second: [Solver; 2] = [
        Method::Lemke(Lemke { scaling: false, max_pivots: Some(100_000), ..Lemke::default() }).into(),
        Method::FixedPoint(2_000).into(),
    ];
    let mut compared = 0;
    for (name, file) in collection::all() {
        let size = dense(&file.problem).map_or(0, |l| l.q.len());
        if size <= Enumerate::MAX_COMPLEMENTARY || !file.expected.clone().unwrap().solvable {
            continue;
        }
        compared += 1;
        let first = solve(&file.problem, &Solver::default(), None).unwrap();
        let other = second.iter().find_map(|s| solve(&file.problem, s, None).ok());
        let other = other.unwrap_or_else(|| panic!("{name}: no second solver"));
        assert!(first.certificate().passes(1e-10) && other.certificate().passes(1e-10), "{name}");
    }
    assert!(compared >= 5, "only {compared}");
}

/// Murty's family takes 2ⁿ pivots, and scaling does not make it wrong.
#[test]
fn murty_takes_two_to_the_n_pivots() {
    let m: Vec<Vec<f64>> = (0..6)
        .map(|i| (0..6).map(|j| if j < i { 2.0 } else { f64::from(u8::from(i == j)) }).collect())
        .collect();
    let lcp = Lcp::from_rows(&m, &[-64.0, -96.0, -112.0, -120.0, -124.0, -126.0]);
    let plain: Solver = Method::Lemke(Lemke { scaling: false, ..Lemke::default() }).into();
    let solution = solve(&lcp, &plain, None).unwrap();
    assert_eq!(solution.work().pivots, 64);
    let scaled = solve(&lcp, &Solver::default(), None).unwrap();
    for z in [solution.z(), scaled.z()] {
        assert!((z[0] - 64.0).abs() < 1e-9 && z[1..].iter().all(|z| z.abs() < 1e-9), "{z:?}");
    }
}

#[test]
fn a_solution_is_a_warm_start_and_so_is_its_basis() {
    for (name, file) in collection::all() {
        let Ok(solution) = solve(&file.problem, &Solver::default(), None) else { continue };
        if solution.work().stage == Stage::Zero {
            continue;
        }
        let again = solve(&file.problem, &Solver::default(), Some(&WarmStart::from(&solution))).unwrap();
        // above rounding Newton improves a step, which needs no pivots
        assert!(matches!(again.work().stage, Stage::WarmStart | Stage::Newton), "{name}");
        assert_eq!(again.work().pivots, 0, "{name}");
        assert!(again.certificate().worst() <= solution.certificate().worst(), "{name}");
        if solution.work().dense_size > 0 {
            let basis = WarmStart { z: Vec::new(), basis: solution.basis().cloned() };
            let warm = solve(&file.problem, &Solver::default(), Some(&basis)).unwrap();
            assert_eq!(warm.work().pivots, 0, "{name}");
        }
    }
}

#[test]
fn every_problem_survives_a_round_trip_through_its_file() {
    for (name, file) in collection::all() {
        let again = ProblemFile::from_json(&file.to_json()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(again, file, "{name}");
        assert!(Problem::from(&file.problem).size() > 0 || matches!(file.problem, AnyProblem::Step(_)));
    }
}
