//! Mutated problem files: reading and solving them gives a solution or an error, never a panic.

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::panic::catch_unwind;
use std::time::{Duration, Instant};
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::{Chain, Enumerate, LcpError, Lemke, Method, Solver, solve};
use stiction_problems::ensemble::mixture;

const SEEDS: [&str; 7] = [
    r#"{"dim": 2, "w": [[1, 0.3], [0.3, 2]], "q": [-1, 0.1], "mu": [0.5]}"#,
    r#"{"dim": 3, "w": {"triplets": [[0, 0, 0.5], [1, 1, 0.5], [2, 2, 0.5]]}, "q": [-0.5, 3, 4], "mu": [0.4],
        "facets": 6}"#,
    r#"{"step": {"bodies": [{"mass": [[2, 0, 0], [0, 2, 0], [0, 0, 0.3]], "momentum": [2, -0.2, -1]}], "contacts": [
        {"normal": {"row": [{"body": 0, "j": [0, 1, 0]}]}, "tangents": [{"row": [{"body": 0, "j": [1, 0, 0.5]}]}], "mu": 0.4},
        {"tangents": [{"row": [{"body": 0, "j": [0, 0, 0.02]}]}], "mu": 1, "bound_by": 0}]}}"#,
    r#"{"m": [[2, 1], [1, 2]], "q": [-5, -6]}"#,
    r#"{"name": "n", "m": [[0, 1, 0], [-1, 2, 1], [0, 0, 1]], "q": [1, -3, -0.5], "free": [0]}"#,
    r#"{"step": {"bodies": [{"mass": [[2, 0], [0, 2]], "momentum": [1.0, -0.2]}, {"mass": [[1]], "momentum": [0]}],
        "pairs": [{"a": 0, "b": 1, "ab": [[0.1], [0]], "ba": [[0.1, 0]]}],
        "joints": [{"row": {"sparse": [[0, 1.0], [2, -1.0]]}, "offset": 0.1, "compliance": 0.001}],
        "contacts": [{"normal": {"row": [{"body": 0, "j": [0, 1]}], "offset": 0.0},
                      "tangents": [{"row": [{"body": 0, "j": [1, 0]}, {"body": 1, "j": [-1]}]}], "mu": 0.5}],
        "law": "coulomb", "speed_scale": 0.0981}}"#,
    r#"{"step": {"bodies": [{"mass": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "momentum": [0.1, 0.2, -0.1]}],
        "contacts": [{"normal": {"row": [{"body": 0, "j": [0, 0, 1]}]}, "mu": 0.3, "kappa": 0.01,
                      "tangents": [{"row": [{"body": 0, "j": [1, 0, 0]}]}, {"row": [{"body": 0, "j": [0, 1, 0]}]}],
                      "set": {"polygon": [[1, 0], [0, 1], [-1, 0], [0, -1]]}},
                     {"tangents": [{"row": [{"body": 0, "j": [1, 0, 0]}]}, {"row": [{"body": 0, "j": [0, 1, 0]}]}],
                      "set": {"ellipse": [1, 2]}, "kappa": 0.5}]}}"#,
];

const NUMBERS: [&str; 18] = [
    "1000000000000",
    "200000",
    "0",
    "-0.0",
    "1",
    "-1",
    "2",
    "1e-300",
    "1e300",
    "-1e300",
    "1e-320",
    "1e999",
    "NaN",
    "null",
    "1e-9",
    "0.30000000000000004",
    "18446744073709551616",
    "\"1\"",
];

/// Changes a text once: a number replaced, a character inserted, a piece cut, doubled, moved or repeated.
fn mutate(text: &mut String, rng: &mut ChaCha8Rng) {
    let boundary = |text: &str, mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let place = |text: &str, rng: &mut ChaCha8Rng| boundary(text, rng.random_range(0..=text.len()));
    if rng.random_bool(0.75) {
        // a number, which keeps the file readable more often than not
        let starts: Vec<usize> = text
            .char_indices()
            .filter(|&(i, c)| {
                (c.is_ascii_digit() || c == '-')
                    && !text[..i].ends_with(|p: char| p.is_ascii_alphanumeric() || p == '.' || p == '-')
            })
            .map(|(i, _)| i)
            .collect();
        if let Some(&start) = starts.choose(rng) {
            let number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
            let end = text[start..].find(|c| !number(c)).map_or(text.len(), |n| start + n);
            let new = match rng.random_range(0..3) {
                0 => (*NUMBERS.choose(rng).unwrap()).to_string(),
                1 => format!("{}", rng.random_range(-4..5)),
                _ => format!("{:e}", rng.random_range(-1.0..1.0) * 10f64.powi(rng.random_range(-12..12))),
            };
            text.replace_range(start..end, &new);
        }
        return;
    }
    let (a, b) = (place(text, rng), place(text, rng));
    let (a, b) = (a.min(b), a.max(b).min(boundary(text, (a.min(b) + 40).min(text.len()))));
    match rng.random_range(0..5) {
        0 => text.replace_range(a..b.max(a), ""),
        4 => {
            // growth: rows, entries or brackets by the thousand
            let piece = text[a..b.max(a)].repeat(10_usize.pow(rng.random_range(1..4)));
            text.insert_str(a, &piece);
        }
        1 => {
            let piece = text[a..b.max(a)].to_string();
            text.insert_str(b.max(a), &piece);
        }
        2 => text.insert(a, *['[', ']', '{', '}', ',', ':', '"', '-', 'é', '\0'].choose(rng).unwrap()),
        _ => {
            let piece = text[a..b.max(a)].to_string();
            let to = place(text, rng);
            text.insert_str(to, &piece);
        }
    }
}

#[test]
fn mutated_problem_files_never_panic() {
    let begun = Instant::now();
    let mut rng = ChaCha8Rng::seed_from_u64(20);
    let mut seeds: Vec<String> = SEEDS.iter().map(ToString::to_string).collect();
    for seed in [0, 6, 9, 54] {
        seeds.push(ProblemFile::from(AnyProblem::Step(mixture(seed).1)).to_json());
    }
    for seed in &seeds {
        assert!(ProblemFile::from_json(seed).is_ok(), "{seed}: {:?}", ProblemFile::from_json(seed));
    }
    let methods = [
        Method::Lemke(Lemke::default()),
        Method::Lemke(Lemke { scaling: false, ..Lemke::default() }),
        Method::Enumerate(Enumerate { budget: 100_000, ..Enumerate::default() }),
        Method::Convex(Lemke::default()),
        Method::FixedPoint(5),
        Method::Chain(Chain::default()),
    ];
    let (mut refused, mut solved, mut unsolved) = (0, 0, 0);
    let mut panicked: Vec<String> = Vec::new();
    for round in 0..60_000 {
        let mut text = seeds[round % seeds.len()].clone();
        for _ in 0..rng.random_range(1..=4) {
            mutate(&mut text, &mut rng);
        }
        let solver = Solver::from(methods[round / seeds.len() % methods.len()]);
        match catch_unwind(|| outcome(&text, &solver)) {
            Ok(Outcome::Refused) => refused += 1,
            Ok(Outcome::Solved) => solved += 1,
            Ok(Outcome::Unsolved) => unsolved += 1,
            Err(_) => panicked.push(format!("{}: {text}", solver.method.name())),
        }
        if begun.elapsed() > Duration::from_secs(20) {
            eprintln!("stopped after {round} rounds");
            break;
        }
    }
    eprintln!("{solved} solved, {unsolved} not, {refused} refused in {:?}", begun.elapsed());
    panicked.sort_by_key(String::len);
    assert!(panicked.is_empty(), "{} panicked, the shortest: {}", panicked.len(), panicked[0]);
    // every outcome must occur
    assert!(solved > 200 && unsolved > 50 && refused > 500, "{solved} {unsolved} {refused}");
}

/// Outcome of a file.
enum Outcome {
    Refused,
    Solved,
    Unsolved,
}

fn outcome(text: &str, solver: &Solver) -> Outcome {
    let file = match ProblemFile::from_json(text) {
        Ok(file) => file,
        Err(malformed) => {
            assert!(!malformed.place.is_empty() && !malformed.what.is_empty());
            return Outcome::Refused;
        }
    };
    if let AnyProblem::Step(step) = &file.problem {
        let _ = step.pointed();
    }
    match solve(&file.problem, solver, None) {
        Ok(solution) => {
            assert!(solution.certificate().worst() <= solver.tolerance);
            assert!(solution.z().iter().all(|z| z.is_finite()));
            Outcome::Solved
        }
        Err(LcpError::Malformed(malformed)) => panic!("read as a problem, and then: {malformed}"),
        Err(_) => Outcome::Unsolved,
    }
}
