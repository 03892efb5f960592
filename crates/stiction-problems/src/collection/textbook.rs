//! Dense problems from textbooks: matrix classes and examples for pivoting methods.

use super::{NamedProblem, ProblemEntry, exactly, infinitely_many, none};
use nalgebra::{DMatrix, DVector};
use stiction_lcp::problem::{AnyProblem, Expected, Lcp, Mlcp};

const CPS: &str = "R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem, 1992";
const MURTY: &str = "K. G. Murty, Linear Complementarity, Linear and Nonlinear Programming, 1988";

pub(super) fn all() -> Vec<NamedProblem> {
    let mut files = vec![];
    files.extend(few_rows());
    files.extend(classes());
    files.extend(classes_with_several_solutions());
    files.extend(degenerate());
    files.extend(programs());
    files.extend([2, 3, 4, 5, 6, 10].map(murty));
    files.extend([2, 3, 4, 5, 6, 10].map(fathi));
    files.push(cycling());
    files
}

fn lcp(entry: ProblemEntry, m: &[&[f64]], q: &[f64], expected: Expected) -> NamedProblem {
    entry.holding(AnyProblem::Lcp(Lcp::from_rows(m, q)), expected)
}

/// Source of a matrix class; the numbers are chosen for this collection.
fn after(source: &str, chapter: &str) -> String {
    format!("{source}, {chapter}; numbers chosen here")
}

fn few_rows() -> Vec<NamedProblem> {
    vec![
        lcp(
            ProblemEntry::new(
                "unique",
                "Two rows, one solution",
                &format!("{MURTY}, section 1.1"),
                "Positive definite: one solution for every q, here with both z positive.",
            ),
            &[&[2.0, 1.0], &[1.0, 2.0]],
            &[-5.0, -6.0],
            exactly(&[&[4.0 / 3.0, 7.0 / 3.0]]),
        ),
        lcp(
            ProblemEntry::new(
                "two-solutions",
                "One row, two solutions",
                "elementary: w = 1 − z",
                "z = 0 and z = 1: the stationary points of the concave z − z²/2 over z ≥ 0.",
            ),
            &[&[-1.0]],
            &[1.0],
            exactly(&[&[0.0], &[1.0]]),
        ),
        lcp(
            ProblemEntry::new(
                "negative-row",
                "One row, no solution",
                "elementary: w = −1 − z",
                "Infeasible; y = 1 proves it. A solver that divides by a negative diagonal calls z = −1 solved.",
            ),
            &[&[-1.0]],
            &[-1.0],
            none(),
        ),
        lcp(
            ProblemEntry::new(
                "zero-row",
                "One row of zeros",
                "elementary: w = 0",
                "Every z ≥ 0 is a solution: a continuum without bound.",
            ),
            &[&[0.0]],
            &[0.0],
            infinitely_many(&[&[0.0], &[1.0]]),
        ),
        lcp(
            ProblemEntry::new(
                "feasible-unsolvable",
                "Feasible, but no solution",
                "elementary: w = (z₂ − 1, 1)",
                "z₂ ≥ 1 makes both w positive, but w₂ = 1 forbids z₂ > 0: feasibility is not enough where M is not monotone, and no Farkas vector exists.",
            ),
            &[&[0.0, 1.0], &[0.0, 0.0]],
            &[-1.0, 1.0],
            none(),
        ),
        lcp(
            ProblemEntry::new(
                "segment",
                "Two equal rows",
                "elementary: w₁ = w₂ = z₁ + z₂ − 1",
                "A segment of solutions, as two contacts at one point have: only the sum of their impulses is known.",
            ),
            &[&[1.0, 1.0], &[1.0, 1.0]],
            &[-1.0, -1.0],
            infinitely_many(&[&[1.0, 0.0], &[0.0, 1.0], &[0.5, 0.5]]),
        ),
        lcp(
            ProblemEntry::new(
                "triangle",
                "Three equal rows",
                "elementary: w = z₁ + z₂ + z₃ − 1 three times",
                "A continuum of two dimensions with three vertices.",
            ),
            &[&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0]],
            &[-1.0; 3],
            infinitely_many(&[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]]),
        ),
    ]
}

/// Problems of matrix classes with a known answer for every q.
fn classes() -> Vec<NamedProblem> {
    vec![
        lcp(
            ProblemEntry::new(
                "p-matrix",
                "A P-matrix that is not positive definite",
                &after(CPS, "section 3.3"),
                "Principal minors 1, 1 and 7 are positive, so there is one solution for every q; the symmetric part is indefinite.",
            ),
            &[&[1.0, -3.0], &[2.0, 1.0]],
            &[1.0, -4.0],
            // z₂ = 4 − 2 z₁ and z₁ = 3 z₂ − 1
            exactly(&[&[11.0 / 7.0, 6.0 / 7.0]]),
        ),
        lcp(
            ProblemEntry::new(
                "copositive-plus-infeasible",
                "Copositive-plus and infeasible",
                &after(CPS, "sections 3.8 and 4.4"),
                "Positive semidefinite; w₁ + w₂ = −2, so y = (1, 1) proves infeasibility and Lemke's method must end on a ray.",
            ),
            &[&[1.0, -1.0], &[-1.0, 1.0]],
            &[-1.0, -1.0],
            none(),
        ),
        lcp(
            ProblemEntry::new(
                "copositive-plus-feasible",
                "Copositive-plus and feasible",
                &after(CPS, "sections 3.8 and 4.4"),
                "The same matrix with w₁ + w₂ = 0: feasible, so solvable, along a ray.",
            ),
            &[&[1.0, -1.0], &[-1.0, 1.0]],
            &[-1.0, 1.0],
            infinitely_many(&[&[1.0, 0.0], &[3.0, 2.0]]),
        ),
    ]
}

/// Problems of matrix classes with several solutions or none.
fn classes_with_several_solutions() -> Vec<NamedProblem> {
    let third = 1.0 / 3.0;
    let corners: Vec<Vec<f64>> =
        (0..16_u32).map(|s| (0..4).map(|k| f64::from(s >> k & 1) / f64::from(k + 1)).collect()).collect();
    let corners: Vec<&[f64]> = corners.iter().map(Vec::as_slice).collect();
    vec![
        lcp(
            ProblemEntry::new(
                "n-matrix-three",
                "An N-matrix with a positive entry",
                &after("M. Kojima, R. Saigal, Mathematical Programming 17 (1979) 136", "N-matrices"),
                "All principal minors negative, some entry positive: three solutions for this q > 0.",
            ),
            &[&[-1.0, 2.0], &[2.0, -1.0]],
            &[1.0, 1.0],
            exactly(&[&[0.0, 0.0], &[1.0, 0.0], &[0.0, 1.0]]),
        ),
        lcp(
            ProblemEntry::new(
                "n-matrix-two",
                "A negative N-matrix, q > 0",
                &after("M. Kojima, R. Saigal, Mathematical Programming 17 (1979) 136", "N-matrices"),
                "All principal minors and all entries negative: two solutions, an even number.",
            ),
            &[&[-1.0, -2.0], &[-2.0, -1.0]],
            &[1.0, 1.0],
            exactly(&[&[0.0, 0.0], &[third, third]]),
        ),
        lcp(
            ProblemEntry::new(
                "n-matrix-none",
                "A negative N-matrix, q with a negative entry",
                "elementary: w₁ ≤ q₁ < 0",
                "All entries negative and q₁ < 0: infeasible.",
            ),
            &[&[-1.0, -2.0], &[-2.0, -1.0]],
            &[-1.0, 1.0],
            none(),
        ),
        lcp(
            ProblemEntry::new(
                "sixteen-solutions",
                "Every basis is a solution",
                "elementary: wᵢ = 1 − i zᵢ",
                "The negative of a diagonal P-matrix with q > 0: all 2⁴ bases.",
            ),
            &[&[-1.0, 0.0, 0.0, 0.0], &[0.0, -2.0, 0.0, 0.0], &[0.0, 0.0, -3.0, 0.0], &[0.0, 0.0, 0.0, -4.0]],
            &[1.0; 4],
            exactly(&corners),
        ),
        obstacle(),
        lcp(
            ProblemEntry::new(
                "r0",
                "An R₀-matrix at q = 0",
                &after(CPS, "section 3.9"),
                "Only z = 0: solution sets of every q are bounded.",
            ),
            &[&[1.0, -2.0], &[-2.0, 1.0]],
            &[0.0, 0.0],
            exactly(&[&[0.0, 0.0]]),
        ),
        lcp(
            ProblemEntry::new(
                "not-r0",
                "Not an R₀-matrix, at q = 0",
                &after(CPS, "section 3.9"),
                "Skew: every (0, z₂) solves the homogeneous problem, so solution sets can be unbounded.",
            ),
            &[&[0.0, 1.0], &[-1.0, 0.0]],
            &[0.0, 0.0],
            infinitely_many(&[&[0.0, 0.0], &[0.0, 1.0]]),
        ),
    ]
}

/// String over an obstacle: pressed down on its first half, lifted on its second.
fn obstacle() -> NamedProblem {
    let m = DMatrix::from_fn(6, 6, |i, j| match i.abs_diff(j) {
        0 => 2.0,
        1 => -1.0,
        _ => 0.0,
    });
    let q = DVector::from_column_slice(&[-1.0, -1.0, -1.0, 2.0, 2.0, 2.0]);
    let entry = ProblemEntry::new(
        "z-matrix",
        "A string over an obstacle",
        &after(CPS, "sections 3.11 and 4.7"),
        "A Z-matrix that is an M-matrix: the solution is the least feasible point. zᵢ = i (4 − i) / 2 for i < 4.",
    );
    entry.holding(AnyProblem::Lcp(Lcp { m, q }), exactly(&[&[1.5, 2.0, 1.5, 0.0, 0.0, 0.0]]))
}

fn degenerate() -> Vec<NamedProblem> {
    let ties = DMatrix::from_fn(5, 5, |i, j| if i == j { 2.0 } else { 1.0 });
    let hilbert = DMatrix::from_fn(5, 5, |i, j| 1.0 / (i + j + 1) as f64);
    let q = -(&hilbert * DVector::from_element(5, 1.0));
    vec![
        lcp(
            ProblemEntry::new("degenerate", "A solution with z and w zero in one row", "elementary", "z = (1, 0) with w = 0: two bases describe it."),
            &[&[2.0, 1.0], &[1.0, 2.0]],
            &[-2.0, -1.0],
            exactly(&[&[1.0, 0.0]]),
        ),
        lcp(
            ProblemEntry::new("homogeneous", "Positive definite with q = 0", "elementary", "Only z = 0, in all four bases; there is no scale in q to measure by."),
            &[&[2.0, 1.0], &[1.0, 2.0]],
            &[0.0, 0.0],
            exactly(&[&[0.0, 0.0]]),
        ),
        ProblemEntry::new("ties", "Every ratio ties", "elementary: (I + e eᵀ) z = e", "Symmetric in all five rows, so the first ratio test of Lemke's method is a tie of five; z = e / 6.")
            .holding(AnyProblem::Lcp(Lcp { m: ties, q: DVector::from_element(5, -1.0) }), exactly(&[&[1.0 / 6.0; 5]])),
        ProblemEntry::new("hilbert", "Hilbert's matrix", "elementary: q = −H e, so z = e", "Positive definite with condition 5e5: the answer is known, its digits are not all there.")
            .holding(AnyProblem::Lcp(Lcp { m: hilbert, q }), exactly(&[&[1.0; 5]])),
    ]
}

fn programs() -> Vec<NamedProblem> {
    let third = 1.0 / 3.0;
    let Lcp { m, q } =
        Lcp::from_rows(&[&[1.0, 0.0, -1.0], &[0.0, 1.0, -1.0], &[1.0, 1.0, 0.0]], &[-2.0, 0.0, -1.0]);
    let equality = AnyProblem::Mlcp(Mlcp { m, q, free: vec![false, false, true] });
    vec![
        lcp(
            ProblemEntry::new(
                "bimatrix-game",
                "A coordination game",
                &after(CPS, "section 1.2, the bimatrix game"),
                "Costs 1 when both choose alike, 2 otherwise: two pure equilibria and a mixed one, (x, y) scaled so that costs are 1.",
            ),
            &[&[0.0, 0.0, 1.0, 2.0], &[0.0, 0.0, 2.0, 1.0], &[1.0, 2.0, 0.0, 0.0], &[2.0, 1.0, 0.0, 0.0]],
            &[-1.0; 4],
            exactly(&[&[1.0, 0.0, 1.0, 0.0], &[0.0, 1.0, 0.0, 1.0], &[third; 4]]),
        ),
        lcp(
            ProblemEntry::new(
                "linear-program",
                "A linear program and its dual",
                &after(CPS, "section 1.2, linear programs"),
                "max 3x + 2y with x + y ≤ 4, x + 3y ≤ 6: x = 4, y = 0, prices 3 and 0. M is skew, so every diagonal entry is zero.",
            ),
            &[&[0.0, 0.0, 1.0, 1.0], &[0.0, 0.0, 1.0, 3.0], &[-1.0, -1.0, 0.0, 0.0], &[-1.0, -3.0, 0.0, 0.0]],
            &[-3.0, -2.0, 4.0, 6.0],
            exactly(&[&[4.0, 0.0, 3.0, 0.0]]),
        ),
        ProblemEntry::new(
            "equality",
            "A quadratic program with an equation",
            "elementary: min ½|x|² − 2 x₁ with x₁ + x₂ = 1, x ≥ 0",
            "One free row. x = (1, 0), and the multiplier −1 is negative.",
        )
        .holding(equality, exactly(&[&[1.0, 0.0, -1.0]])),
    ]
}

/// Unit lower triangular matrix with 2 below the diagonal.
fn murty_matrix(n: usize) -> DMatrix<f64> {
    DMatrix::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => 2.0,
    })
}

/// Vector qᵢ = −(2ⁿ + 2ⁿ⁻¹ + … + 2ⁿ⁺¹⁻ⁱ) = −(2ⁿ⁺¹ − 2ⁿ⁺¹⁻ⁱ), i = 1 … n.
fn murty_vector(n: usize) -> DVector<f64> {
    let two_to = |k: usize| (1_u32 << k).into();
    DVector::from_fn(n, |i, _| -> f64 {
        let (all, tail): (f64, f64) = (two_to(n + 1), two_to(n - i));
        tail - all
    })
}

/// First unit vector times `x`.
fn first(n: usize, x: f64) -> Vec<f64> {
    let mut z = vec![0.0; n];
    z[0] = x;
    z
}

fn murty(n: usize) -> NamedProblem {
    let entry = ProblemEntry::new(
        &format!("murty-{n}"),
        &format!("Murty's exponential problem, n = {n}"),
        &format!("{MURTY}, chapter 6; K. G. Murty, Mathematical Programming Study 7 (1978) 61"),
        "A triangular P-matrix with z = (2ⁿ, 0, …, 0). Lemke's method with the covering vector e takes 2ⁿ pivots, and single principal pivots in the last row at fault take 2ⁿ − 1.",
    );
    let solution = first(n, murty_vector(n)[0].abs());
    let problem = Lcp { m: murty_matrix(n), q: murty_vector(n) };
    entry.holding(AnyProblem::Lcp(problem), exactly(&[&solution]))
}

fn fathi(n: usize) -> NamedProblem {
    let entry = ProblemEntry::new(
        &format!("fathi-{n}"),
        &format!("Fathi's problem, n = {n}"),
        "Y. Fathi, Mathematical Programming 17 (1979) 335, with q = −e as in the later literature",
        "M = L Lᵀ with Murty's L: symmetric positive definite, increasingly ill-conditioned; z = (1, 0, …, 0). Single principal pivots in the last row at fault take 2ⁿ − 1; Lemke's method with the covering vector e takes two.",
    );
    let l = murty_matrix(n);
    let problem = Lcp { m: &l * l.transpose(), q: DVector::from_element(n, -1.0) };
    entry.holding(AnyProblem::Lcp(problem), exactly(&[&first(n, 1.0)]))
}

fn cycling() -> NamedProblem {
    lcp(
        ProblemEntry::new(
            "cycling",
            "A P-matrix on which block pivoting cycles",
            "circulant P-matrix of order 3, the kind I. Ben Gharbia and J. C. Gilbert, Mathematical Programming 134 (2012) 349, show Newton's method on min(z, w) to cycle on",
            "Exchanging every row at fault at once leads from the basis {1} through {1, 2}, {2, 3}, {3, 1} and back to {1, 2}, for ever; so do single exchanges that drop a negative z first. The solution is z = e / 3.",
        ),
        &[&[1.0, 2.0, 0.0], &[0.0, 1.0, 2.0], &[2.0, 0.0, 1.0]],
        &[-1.0; 3],
        exactly(&[&[1.0 / 3.0; 3]]),
    )
}
