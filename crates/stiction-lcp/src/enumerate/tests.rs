use super::*;

fn all(m: &[&[f64]], q: &[f64]) -> Solutions {
    let solutions = Enumerate::default().all(&Lcp::from_rows(m, q)).unwrap();
    assert_eq!(solutions.bases, 1 << q.len());
    assert!(solutions.complete());
    assert!(solutions.residual < 1e-12, "residual {}", solutions.residual);
    solutions
}

/// The points in any order, up to 1e-12.
fn assert_points(found: &[Vec<f64>], expected: &[&[f64]]) {
    assert_eq!(found.len(), expected.len(), "{found:?} instead of {expected:?}");
    for e in expected {
        let same = |f: &Vec<f64>| f.iter().zip(*e).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(found.iter().any(same), "{e:?} is not in {found:?}");
    }
}

/// Numbers in −1..1, the same in every run.
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

#[test]
fn positive_definite_has_one_solution() {
    let found = all(&[&[2.0, 1.0], &[1.0, 2.0]], &[-5.0, -6.0]);
    assert_points(&found.isolated, &[&[4.0 / 3.0, 7.0 / 3.0]]);
    assert!(!found.continuum && found.representatives.is_empty());
}

#[test]
fn minus_identity_has_two_to_the_n() {
    assert_points(&all(&[&[-1.0]], &[1.0]).isolated, &[&[0.0], &[1.0]]);
    let found = all(&[&[-1.0, 0.0], &[0.0, -2.0]], &[1.0, 1.0]);
    assert_points(&found.isolated, &[&[0.0, 0.0], &[1.0, 0.0], &[0.0, 0.5], &[1.0, 0.5]]);
}

#[test]
fn infeasible_and_feasible_without_solution_have_none() {
    assert!(!all(&[&[-1.0]], &[-1.0]).solvable());
    assert!(!all(&[&[1.0, -1.0], &[-1.0, 1.0]], &[-1.0, -1.0]).solvable());
    // z₂ ≥ 1 is feasible, but w₂ = 1 forbids it
    assert!(!all(&[&[0.0, 1.0], &[0.0, 0.0]], &[-1.0, 1.0]).solvable());
}

#[test]
fn zero_is_a_ray_of_solutions() {
    let found = all(&[&[0.0]], &[0.0]);
    assert!(found.continuum && found.isolated.is_empty());
    assert_points(&found.representatives, &[&[0.0]]);
}

#[test]
fn a_segment_and_its_ends() {
    let found = all(&[&[1.0, 1.0], &[1.0, 1.0]], &[-1.0, -1.0]);
    assert!(found.continuum && found.isolated.is_empty());
    assert_points(&found.representatives, &[&[1.0, 0.0], &[0.0, 1.0]]);
}

#[test]
fn a_triangle_and_its_corners() {
    let ones: &[f64] = &[1.0; 3];
    let found = all(&[ones; 3], &[-1.0; 3]);
    assert!(found.continuum && found.isolated.is_empty());
    assert_points(&found.representatives, &[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]]);
}

#[test]
fn a_quadrilateral_is_cut_by_the_other_rows() {
    // z₁ + z₂ + z₃ = 1 with 1/2 − z₁ ≥ 0 and no z₄: the triangle without the corner at z₁ = 1;
    // at z₁ = 1/2 there is also z₄ ≥ 0
    let ones: &[f64] = &[1.0, 1.0, 1.0, 0.0];
    let found = all(&[ones, ones, ones, &[-1.0, 0.0, 0.0, 0.0]], &[-1.0, -1.0, -1.0, 0.5]);
    assert!(found.continuum && found.isolated.is_empty());
    let expected: [&[f64]; 4] =
        [&[0.5, 0.5, 0.0, 0.0], &[0.5, 0.0, 0.5, 0.0], &[0.0, 1.0, 0.0, 0.0], &[0.0, 0.0, 1.0, 0.0]];
    assert_points(&found.representatives, &expected);
}

#[test]
fn isolated_beside_a_continuum() {
    // a segment in the first two unknowns, two isolated values of the third: two segments
    let found = all(&[&[1.0, 1.0, 0.0], &[1.0, 1.0, 0.0], &[0.0, 0.0, -1.0]], &[-1.0, -1.0, 1.0]);
    assert!(found.continuum && found.isolated.is_empty());
    assert_eq!(found.representatives.len(), 4);
    // w = (1 − z₁, z₁): z = 0 begins the ray (0, z₂) and is not isolated, z = (1, 0) is
    let found = all(&[&[-1.0, 0.0], &[1.0, 0.0]], &[1.0, 0.0]);
    assert!(found.continuum);
    assert_points(&found.isolated, &[&[1.0, 0.0]]);
    assert_points(&found.representatives, &[&[0.0, 0.0]]);
}

#[test]
fn a_singular_basis_with_one_point() {
    // the basis {1, 2} is singular and only z = (1, 0) of its line is feasible, where w₃ = −z₂;
    let found = all(&[&[1.0, 1.0, 0.0], &[1.0, 1.0, 0.0], &[0.0, -1.0, 1.0]], &[-1.0, -1.0, 0.0]);
    // where z₃ can follow z₂ there is a segment after all
    assert!(found.continuum);
    let found = all(&[&[1.0, 1.0, 0.0], &[1.0, 1.0, 0.0], &[0.0, -1.0, -1.0]], &[-1.0, -1.0, 0.0]);
    assert!(!found.continuum);
    assert_points(&found.isolated, &[&[1.0, 0.0, 0.0]]);
}

#[test]
fn a_degenerate_solution_is_listed_once() {
    assert_points(&all(&[&[2.0, 1.0], &[1.0, 2.0]], &[-2.0, -1.0]).isolated, &[&[1.0, 0.0]]);
    assert_points(&all(&[&[2.0, 1.0], &[1.0, 2.0]], &[0.0, 0.0]).isolated, &[&[0.0, 0.0]]);
}

#[test]
fn random_p_matrices_have_exactly_one_solution() {
    for seed in 1..=60 {
        let mut random = uniform(seed as u64);
        let n = (1..=8).nth(seed % 8).unwrap();
        // positive definite plus skew, so a P-matrix that is not symmetric
        let g = DMatrix::from_fn(n, n, |_, _| random());
        let s = DMatrix::from_fn(n, n, |_, _| random());
        let m = &g * g.transpose() + DMatrix::identity(n, n) * 0.1 + &s - s.transpose();
        let lcp = Lcp { m, q: DVector::from_fn(n, |_, _| random()) };
        let found = Enumerate::default().all(&lcp).unwrap();
        assert_eq!((found.isolated.len(), found.continuum, found.undecided), (1, false, 0), "seed {seed}");
        assert!(found.residual < 1e-12, "seed {seed}: {}", found.residual);
    }
}

/// Vertices of the solutions of one basis by brute force: any further rows made tight, if that leaves one point.
fn brute_vertices(lcp: &Lcp, basic: usize) -> Vec<Vec<f64>> {
    let n = lcp.q.len();
    let mut vertices = Vec::new();
    for tight in 0..1_usize << n {
        let is_basic = |i: usize| basic >> i & 1 == 1;
        // rows w = 0 and z = 0
        let w_rows = (0..n)
            .filter(|&i| is_basic(i) || tight >> i & 1 == 1)
            .map(|i| (lcp.m.row(i).into_owned(), -lcp.q[i]));
        let unit = |i: usize| nalgebra::RowDVector::from_fn(n, |_, j| f64::from(u8::from(i == j)));
        let z_rows = (0..n).filter(|&i| !is_basic(i) || tight >> i & 1 == 1).map(|i| (unit(i), 0.0));
        let (rows, right): (Vec<_>, Vec<_>) = w_rows.chain(z_rows).unzip();
        let a = DMatrix::from_rows(&rows);
        let b = DVector::from_vec(right);
        let svd = a.clone().svd(true, true);
        if svd.rank(1e-9) < n {
            continue;
        }
        let z = svd.solve(&b, 1e-9).unwrap();
        let w = &lcp.m * &z + &lcp.q;
        let solves = (&a * &z - &b).amax() < 1e-9 && z.min() > -1e-9 && w.min() > -1e-9;
        if solves {
            add_distinct(&mut vertices, z.as_slice().to_vec(), 1e-7);
        }
    }
    vertices
}

#[test]
fn small_integer_problems_agree_with_brute_force() {
    let (mut continua, mut unsolvable) = (0, 0);
    for seed in 1..=400 {
        let mut random = uniform(seed);
        let mut integer = || (1.5 * random()).round();
        let lcp =
            Lcp { m: DMatrix::from_fn(4, 4, |_, _| integer()), q: DVector::from_fn(4, |_, _| integer()) };
        let found = Enumerate::default().all(&lcp).unwrap();
        assert!(found.complete() && found.residual < 1e-12, "seed {seed}: {found:?}");
        let listed =
            |z: &Vec<f64>| found.points().any(|p| p.iter().zip(z).all(|(a, b)| (a - b).abs() < 1e-6));
        let pieces: Vec<_> = (0..16).map(|basic| brute_vertices(&lcp, basic)).collect();
        for piece in &pieces {
            // the vertex of a single point may lie inside a continuum of another basis
            let must = piece.len() > 1 || !found.continuum;
            assert!(!must || piece.iter().all(listed), "seed {seed}: {piece:?} not in {found:?}");
            assert!(piece.len() <= 1 || found.continuum, "seed {seed}");
        }
        for p in found.points() {
            let same = |z: &Vec<f64>| p.iter().zip(z).all(|(a, b)| (a - b).abs() < 1e-6);
            assert!(pieces.iter().flatten().any(same), "seed {seed}: {p:?} is no vertex");
        }
        continua += usize::from(found.continuum);
        unsolvable += usize::from(!found.solvable());
    }
    // the sample holds all kinds
    assert!(continua > 20 && unsolvable > 20 && continua + unsolvable < 380, "{continua} {unsolvable}");
}

#[test]
fn units_do_not_change_the_answer() {
    // a block sliding in the plane: normal, two directions, slip speed; masses from 1 mg to 1000 t
    for mass in [1e-6, 1.0, 1e6] {
        let (w, mu) = (1.0 / mass, 0.3);
        let m: [&[f64]; 4] =
            [&[w, 0.0, 0.0, 0.0], &[0.0, w, -w, 1.0], &[0.0, -w, w, 1.0], &[mu, -1.0, -1.0, 0.0]];
        let sliding = Enumerate::default().all(&Lcp::from_rows(&m, &[-0.5, 3.0, -3.0, 0.0])).unwrap();
        assert_eq!((sliding.isolated.len(), sliding.continuum), (1, false));
        let z: Vec<f64> = sliding.isolated[0].iter().zip([w, w, w, 1.0]).map(|(z, w)| z * w).collect();
        assert_points(&[z], &[&[0.5, 0.0, 0.15, 2.85]]);
        // sticking: opposite impulses can be added
        let sticking = Enumerate::default().all(&Lcp::from_rows(&m, &[-0.5, 0.1, -0.1, 0.0])).unwrap();
        assert!(sticking.continuum && sticking.isolated.is_empty());
        assert_eq!(sticking.representatives.len(), 2);
    }
}

#[test]
fn free_rows_may_have_any_sign() {
    // half |x|² − 2 x₁ with x₁ + x₂ = 1, x ≥ 0: x = (1, 0), multiplier −1
    let Lcp { m, q } =
        Lcp::from_rows(&[&[1.0, 0.0, -1.0], &[0.0, 1.0, -1.0], &[1.0, 1.0, 0.0]], &[-2.0, 0.0, -1.0]);
    let mlcp = Mlcp { m, q, free: vec![false, false, true] };
    let found = Enumerate::default().mixed(&mlcp).unwrap();
    assert_points(&found.isolated, &[&[1.0, 0.0, -1.0]]);
    assert_eq!(found.bases, 4);
    // the constraint twice: the multiplier can be split in any way
    let rows: [&[f64]; 4] =
        [&[1.0, 0.0, -1.0, -1.0], &[0.0, 1.0, -1.0, -1.0], &[1.0, 1.0, 0.0, 0.0], &[1.0, 1.0, 0.0, 0.0]];
    let Lcp { m, q } = Lcp::from_rows(&rows, &[-2.0, 0.0, -1.0, -1.0]);
    let found = Enumerate::default().mixed(&Mlcp { m, q, free: vec![false, false, true, true] }).unwrap();
    assert!(found.continuum && found.isolated.is_empty());
    assert!(!found.representatives.is_empty() && found.residual < 1e-12);
}

#[test]
fn too_large_is_refused_and_a_spent_budget_is_told() {
    let lcp = |n: usize| Lcp { m: DMatrix::zeros(n, n), q: DVector::zeros(n) };
    let error = Enumerate::default().all(&lcp(15)).unwrap_err();
    assert_eq!(error, EnumerateError::TooLarge { complementary: 15, free: 0 });
    let ones = Lcp { m: DMatrix::from_element(4, 4, 1.0), q: DVector::from_element(4, -1.0) };
    let poor = Enumerate { budget: 0, ..Enumerate::default() };
    let found = poor.all(&ones).unwrap();
    assert!(!found.complete());
    assert!(Enumerate::default().all(&ones).unwrap().complete());
    assert!(matches!(Enumerate::default().all(&lcp(0)), Err(EnumerateError::Malformed(_))));
}

#[test]
fn extreme_numbers_do_not_panic() {
    for (m, q) in
        [(1e300, -1e300), (1e-300, -1e300), (1e300, -1e-300), (f64::MIN_POSITIVE, -1.0), (5e-324, 1.0)]
    {
        for off in [0.0, 1e300, -1e300, 5e-324] {
            let lcp = Lcp::from_rows(&[[m, off], [off, m]], &[q, q]);
            let found = Enumerate::default().all(&lcp).unwrap();
            assert!(found.points().all(|z| z.len() == 2));
        }
    }
    // a problem whose scaled numbers overflow is not called unsolvable
    let lcp = Lcp::from_rows(&[[1e-300, 1e300], [0.0, 1e-300]], &[1e-300, -1e300]);
    let found = Enumerate::default().all(&lcp).unwrap();
    assert!(found.solvable() || !found.complete());
}

#[test]
fn fourteen_rows_are_quick() {
    let start = std::time::Instant::now();
    let mut random = uniform(7);
    let g = DMatrix::from_fn(14, 14, |_, _| random());
    let lcp = Lcp { m: &g * g.transpose(), q: DVector::from_fn(14, |_, _| random()) };
    assert_eq!(Enumerate::default().all(&lcp).unwrap().isolated.len(), 1);
    let regular = start.elapsed();
    // all solutions infinitely many: a point mass pressed by fourteen equal contacts
    let ones = Lcp { m: DMatrix::from_element(14, 14, 1.0), q: DVector::from_element(14, -1.0) };
    let found = Enumerate::default().all(&ones).unwrap();
    assert_eq!((found.representatives.len(), found.undecided), (14, 0));
    let total = start.elapsed();
    println!("regular {regular:?}, regular and continuum {total:?}");
    // far above what an optimized build takes, so that only a change of complexity fails
    assert!(cfg!(debug_assertions) || total.as_secs() < 5, "{total:?}");
}
