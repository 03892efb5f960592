//! Dense problems whose rows have scales of their own: each row is judged by its own terms, in any units; and methods
//! that follow where Lemke's method ends on a ray.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::{Lcp, LcpError, Mlcp, Solver, certify, solve};

fn answer(text: &str) -> Result<Vec<f64>, LcpError> {
    let file = ProblemFile::from_json(text).unwrap();
    solve(&file.problem, &Solver::default(), None).map(|solution| solution.z().to_vec())
}

#[test]
fn a_row_is_seen_beside_one_that_is_a_billion_times_larger() {
    // w₂ = −1 whatever z is
    for text in [
        r#"{"m": [[0, 0], [0, 0]], "q": [1e9, -1]}"#,
        r#"{"m": [[1, 0], [0, 0]], "q": [-1e9, -1]}"#,
        r#"{"m": [[1, 0], [0, -1]], "q": [-1e12, -1]}"#,
        r#"{"m": [[1, 0], [1, 0]], "q": [1e9, -1e-3], "free": [0]}"#,
    ] {
        let error = answer(text).expect_err(text);
        assert!(error.best().unwrap().certificate.worst() > 1e-3, "{text}: {error}");
    }
    let error = answer(r#"{"m": [[0, 0], [0, 0]], "q": [1e9, -1]}"#).unwrap_err();
    assert_eq!(error.status(), "infeasible");
    // and solved where it can be
    assert_eq!(answer(r#"{"m": [[1, 0], [0, 1]], "q": [-1e9, -1]}"#).unwrap(), [1e9, 1.0]);
    let z = answer(r#"{"m": [[1, 0], [1e-9, 1]], "q": [-1e9, -3]}"#).unwrap();
    assert!((z[1] - 2.0).abs() < 1e-9, "{z:?}");
}

#[test]
fn units_of_rows_and_columns_change_no_certificate() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for n in [2, 5, 9] {
        for _ in 0..50 {
            let mut number = || if rng.random_bool(0.3) { 0.0 } else { rng.random_range(-1.0..1.0) };
            let m: Vec<Vec<f64>> = (0..n).map(|_| (0..n).map(|_| number()).collect()).collect();
            let q: Vec<f64> = (0..n).map(|_| number()).collect();
            let z: Vec<f64> = (0..n).map(|_| number()).collect();
            // powers of two change no digit
            let mut unit = || 2.0_f64.powi(rng.random_range(-40..40));
            let (rows, columns): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (unit(), unit())).unzip();
            let scaled: Vec<Vec<f64>> =
                (0..n).map(|i| (0..n).map(|j| rows[i] * m[i][j] * columns[j]).collect()).collect();
            let scaled_q: Vec<f64> = q.iter().zip(&rows).map(|(q, d)| q * d).collect();
            let scaled_z: Vec<f64> = z.iter().zip(&columns).map(|(z, e)| z / e).collect();
            let free: Vec<bool> = (0..n).map(|i| i % 4 == 3).collect();
            let judged = |m: &[Vec<f64>], q: &[f64], z: &[f64]| {
                let Lcp { m, q } = Lcp::from_rows(m, q);
                let certificate = certify(&Mlcp { m, q, free: free.clone() }, z).unwrap().certificate;
                [certificate.joints, certificate.natural_map, certificate.cone, certificate.complementarity]
            };
            assert_eq!(judged(&m, &q, &z), judged(&scaled, &scaled_q, &scaled_z));
        }
    }
}

#[test]
fn round_off_in_a_row_without_q_is_none_of_its_terms() {
    // z₂ = 0 up to round-off: row 2 has no other term
    let lcp = Lcp::from_rows(&[[1.0, 1.0], [0.0, 1.0]], &[-1.0, 0.0]);
    assert!(certify(&lcp, &[1.0, -1e-17]).unwrap().certificate.passes(1e-15));
    assert!(!certify(&lcp, &[1.0, -1e-7]).unwrap().certificate.passes(1e-8));
    // a row with q is measured by that
    let lcp = Lcp::from_rows(&[[1.0, 1.0], [0.0, 1.0]], &[-1.0, 1e-17]);
    assert!(!certify(&lcp, &[1.0, -2e-17]).unwrap().certificate.passes(1e-8));
}

/// Control of an electric circuit whose free block is singular; D is the block of its diodes.
fn circuit(diodes: &str) -> String {
    format!(
        r#"{{"m": [[0, -0.001, 0.001, 0, 1, 0, 1], [0, 0.001, -0.001, -1, 0, -1, 0], [-1.0025, 0, 0, 0, 0, 10, -10],
                   {diodes}], "q": [0, 0, 0.9975, 0, 0, 0, 0], "free": [0, 1, 2]}}"#
    )
}

#[test]
fn mixed_problems_on_a_ray_are_solved_by_another_method() {
    let bridge =
        "[0, 0, -1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0], [1, 0, -1, 0, 0, 0, 0], [-1, 1, 0, 0, 0, 0, 0]";
    let definite = "[0, 0, -1, 10, 2, 1, 3], [0, 1, 0, 4, 12, 2, 1], [1, 0, -1, 2, 3, 11, 1], \
                    [-1, 1, 0, 0, 2, 1, 13]";
    for diodes in [bridge, definite] {
        let file = ProblemFile::from_json(&circuit(diodes)).unwrap();
        let solution = solve(&file.problem, &Solver::default(), None).unwrap();
        let z = solution.z();
        let AnyProblem::Mlcp(Mlcp { m, q, .. }) = &file.problem else { panic!("a mixed problem") };
        for i in 0..7 {
            let w = q[i] + (0..7).map(|j| m[(i, j)] * z[j]).sum::<f64>();
            if i < 3 {
                assert!(w.abs() < 1e-8, "row {i}: {w:e}");
            } else {
                assert!(w > -1e-8 && z[i] > -1e-8 && w.min(z[i]) < 1e-8, "row {i}: {w:e}, {:e}", z[i]);
            }
        }
    }
}

#[test]
fn limits_of_problem_files_have_messages() {
    let facets =
        r#"{"dim": 3, "facets": 1000000000000, "w": [[1,0,0],[0,1,0],[0,0,1]], "q": [-1,1,0], "mu": [0.5]}"#;
    let message = ProblemFile::from_json(facets).unwrap_err().to_string();
    assert_eq!(message, "facets: 1000000000000 directions exceed the limit of 64");
    let rows =
        format!(r#"{{"dim": 2, "w": {{"triplets": []}}, "q": [{}0], "mu": []}}"#, "0,".repeat(400_001));
    let message = ProblemFile::from_json(&rows).unwrap_err().to_string();
    assert_eq!(message, "q: has 400002 entries, more than the limit of 4000 rows");
    let column = r#"{"step": {"bodies": [{"mass": [[1]], "momentum": [0]}],
                     "joints": [{"row": {"sparse": [[1000000000000, 1]]}, "offset": 0}]}}"#;
    assert!(ProblemFile::from_json(column).is_err());
}

#[test]
fn a_matrix_of_eight_digits_is_repaired_on_request() {
    let text = |off: f64, last: f64| {
        format!(
            r#"{{"dim": 2, "w": [[1, 0, 0.5, 0], [0, 1, 0, 0.5], [{off}, 0, {last}, 0], [0, 0.5, 0, 1]],
                "q": [-1, 0.1, -1, 0.1], "mu": [0.5, 0.5]}}"#
        )
    };
    // W is singular where the last entry is 0.25, and indefinite below
    for (off, last, words) in [
        (0.5 + 4e-9, 1.0, "W was made symmetric: entries changed by at most 2.0e-9"),
        (0.5, 0.25 - 4e-9, "was added to its diagonal"),
        (0.5, 1.0, "W is unchanged"),
    ] {
        let text = text(off, last);
        assert_eq!(ProblemFile::from_json(&text).is_err(), words != "W is unchanged", "{words}");
        let (file, repair) = ProblemFile::from_json_repaired(&text).unwrap();
        assert!(repair.unwrap().to_string().contains(words), "{}", repair.unwrap());
        solve(&file.problem, &Solver::default(), None).unwrap();
    }
    assert!(ProblemFile::from_json_repaired(&text(0.5 + 1e-7, 1.0)).is_err());
    assert!(ProblemFile::from_json_repaired(&text(0.5, 0.25 - 1e-6)).is_err());
}
