//! Textbook problems, random families and contact with friction.

mod contact;

use super::{Basis, Lemke, LemkeEnd, LemkeRun, LemkeWorkspace};
use crate::problem::Lcp;
use nalgebra::{DMatrix, DVector};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn lcp(m: DMatrix<f64>, q: DVector<f64>) -> Lcp {
    Lcp { m, q }
}

/// max|min(z, w)| after scaling by the diagonal (friction bounds against their neighbours), relative to q.
fn natural_residual(lcp: &Lcp, z: &[f64]) -> f64 {
    let mut scaled = super::ScaledLcp::default();
    scaled.prepare(lcp, true);
    let z: Vec<f64> = z.iter().zip(&scaled.column).map(|(z, c)| z / c / scaled.q_scale).collect();
    let mut w = Vec::new();
    scaled.w(lcp, &z, 0.0, &mut w);
    let size = z.iter().fold(1.0, |a: f64, &b| a.max(b));
    assert!(z.iter().all(|z| *z >= 0.0));
    z.iter().zip(&w).fold(0.0, |a: f64, (z, w)| a.max(z.min(*w).abs())) / size
}

fn assert_solved(lcp: &Lcp, run: &LemkeRun) {
    assert_eq!(run.end, LemkeEnd::Solved);
    let residual = natural_residual(lcp, &run.z);
    assert!(residual <= 1e-10, "natural residual {residual:e} after {} pivots", run.pivots);
    assert_signs(lcp, &run.z);
}

/// w ≥ 0 and z w = 0 in the original units, up to the rounding of each row's own terms.
fn assert_signs(lcp: &Lcp, z: &[f64]) {
    let (n, z) = (lcp.q.len(), DVector::from_column_slice(z));
    let w = &lcp.m * &z + &lcp.q;
    for i in 0..n {
        let terms = lcp.q.amax() + (0..n).map(|j| (lcp.m[(i, j)] * z[j]).abs()).sum::<f64>();
        assert!(w[i] >= -1e-9 * terms, "w[{i}] = {:e}", w[i]);
        assert!(w[i] <= 1e-9 * terms || z[i] <= 1e-9 * z.amax(), "w[{i}] = {:e}, z = {:e}", w[i], z[i]);
    }
}

fn murty(n: usize) -> Lcp {
    let m = DMatrix::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => 2.0,
    });
    // q_i = −(2ⁿ + 2ⁿ⁻¹ + … + 2ⁿ⁻ⁱ)
    let q = DVector::from_fn(n, |i, _| -(0..=i).map(|j| (1_u64 << (n - j)) as f64).sum::<f64>());
    lcp(m, q)
}

#[test]
fn one_unknown() {
    let run = |m: f64, q: f64| Lemke::default().run(&Lcp::from_rows(&[[m]], &[q]), None);
    assert_eq!(run(1.0, -1.0).z, [1.0]);
    assert_eq!(run(1.0, -1.0).end, LemkeEnd::Solved);
    assert_eq!(run(0.0, 0.0).end, LemkeEnd::Solved);
    assert_eq!(run(0.0, 0.0).z, [0.0]);
    assert_eq!(run(-1.0, -1.0).end, LemkeEnd::Ray(vec![1.0]));
    assert_eq!(run(0.0, -1.0).end, LemkeEnd::Ray(vec![1.0]));
    assert_eq!(run(-1.0, 1.0).end, LemkeEnd::Solved);
}

#[test]
fn murty_takes_two_to_the_n_pivots() {
    for n in 2..=8 {
        let problem = murty(n);
        let plain = Lemke { scaling: false, ..Lemke::default() }.run(&problem, None);
        assert_solved(&problem, &plain);
        assert_eq!(plain.pivots, 1 << n, "n = {n}");
        let scaled = Lemke::default().run(&problem, None);
        assert_solved(&problem, &scaled);
    }
}

#[test]
fn fathi_family() {
    for n in 1..=10 {
        let l = murty(n).m;
        let problem = lcp(&l * l.transpose(), DVector::from_element(n, -1.0));
        let run = Lemke::default().run(&problem, None);
        assert_solved(&problem, &run);
        assert!((run.z[0] - 1.0).abs() < 1e-12);
        assert!(run.z[1..].iter().all(|z| z.abs() < 1e-12));
    }
}

#[test]
fn kostrevas_cycling_example_is_solved() {
    // Kostreva's example, on which the method cycles when ties are broken by the index alone
    let m = [[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]];
    for q in [[-1.0, -1.0, -1.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]] {
        let problem = Lcp::from_rows(&m, &q);
        assert_solved(&problem, &Lemke::default().run(&problem, None));
    }
    let thirds = Lemke::default().run(&Lcp::from_rows(&m, &[-1.0; 3]), None);
    assert!(thirds.z.iter().all(|z| (z - 1.0 / 3.0).abs() < 1e-15));
}

#[test]
fn infeasible_problem_ends_in_a_ray() {
    let problem = Lcp::from_rows(&[[-1.0, 0.0], [0.0, 1.0]], &[-1.0, -2.0]);
    let run = Lemke::default().run(&problem, None);
    assert!(matches!(run.end, LemkeEnd::Ray(_)), "{run:?}");
    let contradiction = Lcp::from_rows(&[[1.0, -1.0], [-1.0, 1.0]], &[-2.0, 1.0]);
    let LemkeEnd::Ray(direction) = Lemke::default().run(&contradiction, None).end else {
        panic!("there is no solution");
    };
    assert_eq!(direction, [1.0, 1.0]);
}

#[test]
fn nonnegative_q_needs_no_pivot() {
    let problem = Lcp::from_rows(&[[-3.0, 1.0], [5.0, 0.0]], &[0.0, 2.0]);
    let run = Lemke::default().run(&problem, None);
    assert_eq!((run.end, run.z, run.pivots), (LemkeEnd::Solved, vec![0.0, 0.0], 0));
}

#[test]
fn pivot_limit_is_kept() {
    let run = Lemke { max_pivots: Some(10), scaling: false, ..Lemke::default() }.run(&murty(6), None);
    assert_eq!((run.end, run.pivots), (LemkeEnd::Budget, 10));
}

#[test]
fn random_definite_and_semidefinite() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut workspace = LemkeWorkspace::default();
    for case in 0..600 {
        let n = 1 + case % 40;
        let rank = if case % 2 == 0 { n } else { n / 2 + 1 };
        let a = DMatrix::from_fn(n, rank, |_, _| rng.random_range(-1.0..1.0));
        let s = DMatrix::from_fn(n, n, |_, _| rng.random_range(-1.0..1.0));
        // a skew part keeps definiteness: P-matrices that are not symmetric
        let skew = if case % 3 == 0 { &s - s.transpose() } else { DMatrix::zeros(n, n) };
        let m = &a * a.transpose() + skew;
        let x = DVector::from_fn(n, |_, _| rng.random_range(0.0_f64..1.0));
        let free = DVector::from_fn(n, |_, _| rng.random_range(-1.0..1.0));
        // a semidefinite problem is solvable when it is feasible
        let q = if case % 2 == 0 { free } else { free.map(f64::abs) - &m * x };
        let problem = lcp(m, q);
        assert_solved(&problem, &Lemke::default().run_in(&problem, None, &mut workspace));
    }
}

#[test]
fn no_false_solution_of_general_problems() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut workspace = LemkeWorkspace::default();
    let mut ends = [0; 4];
    for case in 0..10_000 {
        let n = 1 + case % 24;
        let spread = [0.0, 3.0, 8.0][case % 3];
        let mut entry =
            || rng.random_range(-1.0..1.0_f64) * 10.0_f64.powf(rng.random_range(-0.5..0.5) * spread);
        let mut m = DMatrix::from_fn(n, n, |_, _| entry());
        if case % 5 == 0 {
            m.apply(|x| *x = x.round());
        }
        let problem = lcp(m, DVector::from_fn(n, |_, _| entry()));
        let run = Lemke::default().run_in(&problem, None, &mut workspace);
        assert!(run.z.iter().all(|z| z.is_finite() && *z >= 0.0));
        match run.end {
            LemkeEnd::Solved => {
                ends[0] += 1;
                assert_solved(&problem, &run);
            }
            LemkeEnd::Ray(direction) => {
                ends[1] += 1;
                assert!(direction.iter().all(|x| (0.0..=1.0).contains(x)));
            }
            LemkeEnd::Budget => ends[2] += 1,
            LemkeEnd::Stalled => ends[3] += 1,
        }
    }
    assert!(ends[2] + ends[3] <= 5, "{ends:?}");
}

#[test]
fn rays_are_rays() {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let lemke = Lemke { scaling: false, ..Lemke::default() };
    let mut rays = 0;
    for case in 0..2000 {
        let n = 1 + case % 12;
        let m = DMatrix::from_fn(n, n, |_, _| rng.random_range(-1.0..1.0));
        let problem = lcp(m, DVector::from_fn(n, |_, _| rng.random_range(-1.0..1.0)));
        if let LemkeEnd::Ray(direction) = lemke.run(&problem, None).end {
            rays += 1;
            // w grows by M z + e z₀ ≥ 0, complementary to z
            let growth = &problem.m * DVector::from_column_slice(&direction);
            let z0 = growth.iter().fold(0.0, |a: f64, g| a.max(-g));
            for (z, g) in direction.iter().zip(&growth) {
                assert!(z * (g + z0) <= 1e-8, "{case}: {direction:?}, {growth}");
            }
        }
    }
    assert!(rays > 500);
}

#[test]
fn extreme_numbers_give_finite_results() {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let mut workspace = LemkeWorkspace::default();
    for case in 0..3000 {
        let n = 1 + case % 9;
        let mut entry = || {
            let exponent = [-320, -300, -160, -1, 0, 0, 1, 150, 300][rng.random_range(0..9)];
            let sign = [-1.0, 0.0, 1.0][rng.random_range(0..3)];
            sign * 10.0_f64.powi(exponent)
        };
        let problem = lcp(DMatrix::from_fn(n, n, |_, _| entry()), DVector::from_fn(n, |_, _| entry()));
        for scaling in [true, false] {
            let lemke = Lemke { scaling, ..Lemke::default() };
            let warm = Basis((0..n).map(|k| k % 2 == 0).collect());
            for start in [None, Some(&warm)] {
                let run = lemke.run_in(&problem, start, &mut workspace);
                assert_eq!((run.z.len(), run.basis.0.len()), (n, n));
                assert!(run.end != LemkeEnd::Solved || run.z.iter().all(|z| z.is_finite()));
            }
        }
    }
}
