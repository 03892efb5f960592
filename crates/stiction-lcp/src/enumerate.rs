//! Enumeration of all complementary bases of a small problem: the oracle that solvers are compared with.
//!
//! A subset α of at most [`Enumerate::MAX_COMPLEMENTARY`] complementary rows fixes `w_α = 0` and `z = 0` elsewhere. If `M_αα` is
//! regular, that is one point. If it is singular, that is a polyhedron, whose vertices and rays are enumerated too, so
//! that a continuum of solutions is distinguished from isolated ones.

mod cone;

use crate::certificate::certify;
use crate::factor::RankRevealingLu;
use crate::problem::{Lcp, Malformed, Mlcp, Problem};
use cone::{BudgetExhausted, ConeGenerator, PolyhedralCone};
use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

/// Least distance of two distinct points, in units of [`Enumerate::tolerance`]. Sensible range 10 to 1e4: smaller lists
/// one point twice after round-off, larger merges distinct solutions.
const DISTINCT_TOLERANCES: f64 = 100.0;

/// Least diagonal entry that serves as the weight of an unknown, relative to the largest entry of its row and column.
/// Sensible range 1e-14 to 1e-10: below, round-off of cancellation would be a weight.
const DIAGONAL_RELATIVE: f64 = 1e-12;

/// Settings of the enumeration.
///
/// All comparisons are made in scaled units, as in the certificate: `z_j` times its weight `|M_jj|`, and w, divided
/// by the largest entry of q. Where `M_jj` is zero (up to 1e-12 of its row and column) the weight
/// is the largest entry of row and column j, and row j is measured by its own largest scaled entry.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Enumerate {
    /// Tolerance on signs [-]: a scaled number above −tolerance counts as not negative, within ±tolerance as zero;
    /// points nearer than 100 times this are one point. Default 1e-9, sensible 1e-12 to 1e-7: below, round-off hides degenerate
    /// solutions; above, near misses are listed, which [`Solutions::residual`] shows.
    pub tolerance: f64,
    /// Rank tolerance [-]: `M_αα` is singular if a pivot of full pivoting, with rows and columns scaled to one, is at
    /// most this.
    /// Default 1e-11, sensible 1e-13 to 1e-8: below, round-off passes for rank; above, ill-conditioned bases
    /// are treated as continua.
    pub rank_tolerance: f64,
    /// Limit on comparisons of rays while vertices are enumerated, over all bases. Default 10⁸, about a second.
    /// Bases that are undecided when it is reached are counted in [`Solutions::undecided`].
    pub budget: usize,
}

impl Default for Enumerate {
    fn default() -> Self {
        Self { tolerance: 1e-9, rank_tolerance: 1e-11, budget: 100_000_000 }
    }
}

/// All solutions of a problem.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Solutions {
    /// Solutions with no other solution near them.
    pub isolated: Vec<Vec<f64>>,
    /// `true` when there are infinitely many solutions.
    pub continuum: bool,
    /// Vertices of the polyhedra of infinitely many solutions. A polyhedron without a vertex, which needs
    /// free rows, is represented by one of its points.
    pub representatives: Vec<Vec<f64>>,
    /// Number of bases examined.
    pub bases: usize,
    /// Number of singular bases.
    pub singular: usize,
    /// Number of undecided bases, because the limit was reached or numbers overflowed. The list is complete only if
    /// this is zero.
    pub undecided: usize,
    /// Largest certificate residual of the points listed.
    pub residual: f64,
}

impl Solutions {
    /// `true` when a solution was found.
    pub fn solvable(&self) -> bool {
        !self.isolated.is_empty() || self.continuum
    }

    /// `true` when every basis was decided: no solution listed then means that there is none.
    pub fn complete(&self) -> bool {
        self.undecided == 0
    }

    /// Points listed: isolated solutions, then representatives.
    pub fn points(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.isolated.iter().chain(&self.representatives)
    }
}

/// Error of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnumerateError {
    /// Malformed problem.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Too many bases.
    #[error(
        "{complementary} complementary and {free} free rows: at most {} and {} can be enumerated",
        Enumerate::MAX_COMPLEMENTARY,
        Enumerate::MAX_FREE
    )]
    TooLarge {
        /// Number of complementary rows.
        complementary: usize,
        /// Number of free rows.
        free: usize,
    },
}

impl Enumerate {
    /// Greatest number of complementary rows: there are 2 to this power bases.
    pub const MAX_COMPLEMENTARY: usize = 14;
    /// Greatest number of free rows.
    pub const MAX_FREE: usize = 48;

    /// All solutions of an LCP.
    pub fn all(&self, lcp: &Lcp) -> Result<Solutions, EnumerateError> {
        lcp.check()?;
        self.run(lcp.into(), &lcp.m, &lcp.q, &vec![false; lcp.q.len()])
    }

    /// All solutions of a mixed LCP.
    pub fn mixed(&self, mlcp: &Mlcp) -> Result<Solutions, EnumerateError> {
        mlcp.check()?;
        self.run(mlcp.into(), &mlcp.m, &mlcp.q, &mlcp.free)
    }

    fn run(
        &self,
        problem: Problem,
        m: &DMatrix<f64>,
        q: &DVector<f64>,
        free: &[bool],
    ) -> Result<Solutions, EnumerateError> {
        let complementary: Vec<usize> = (0..q.len()).filter(|&i| !free[i]).collect();
        let (c, f) = (complementary.len(), q.len() - complementary.len());
        if c > Self::MAX_COMPLEMENTARY || f > Self::MAX_FREE {
            return Err(EnumerateError::TooLarge { complementary: c, free: f });
        }
        let scaled = ScaledMlcp::new(m, q, free);
        let mut search = BasisSearch {
            settings: self,
            scaled: &scaled,
            found: EnumerationRecord::default(),
            budget: self.budget,
        };
        for subset in 0..1_usize << c {
            let mut basic = free.to_vec();
            complementary.iter().enumerate().for_each(|(k, &i)| basic[i] = subset >> k & 1 == 1);
            search.examine(&basic);
        }
        Ok(search.finish(problem)?)
    }

    /// Least distance of two distinct scaled points.
    fn distinct(&self) -> f64 {
        DISTINCT_TOLERANCES * self.tolerance
    }
}

/// Problem in scaled units, by rows.
struct ScaledMlcp {
    n: usize,
    m: Vec<f64>,
    q: Vec<f64>,
    free: Vec<bool>,
    /// Scaled unit of each z.
    unit: Vec<f64>,
    /// Largest entry of each row, by which the factorization scales it.
    row: Vec<f64>,
    /// Whether scaling made an entry overflow or vanish.
    lossy: bool,
}

impl ScaledMlcp {
    fn new(m: &DMatrix<f64>, q: &DVector<f64>, free: &[bool]) -> Self {
        let n = q.len();
        let speed = if q.amax() > 0.0 { q.amax() } else { 1.0 };
        let or_one = |x: f64| if x > 0.0 { x } else { 1.0 };
        let around: Vec<f64> = (0..n).map(|j| or_one(m.row(j).amax().max(m.column(j).amax()))).collect();
        // a diagonal entry that is round-off of cancellation is not a weight
        let diagonal = |j: usize| m[(j, j)].abs() > DIAGONAL_RELATIVE * around[j];
        let weight: Vec<f64> =
            (0..n).map(|j| if diagonal(j) { m[(j, j)].abs() } else { around[j] }).collect();
        let mut scaled = Self {
            n,
            m: (0..n * n).map(|k| m[(k / n, k % n)] / weight[k % n]).collect(),
            q: q.iter().map(|q| q / speed).collect(),
            free: free.to_vec(),
            unit: weight.iter().map(|w| speed / w).collect(),
            row: vec![1.0; n],
            lossy: false,
        };
        for i in 0..n {
            let row = &mut scaled.m[i * n..(i + 1) * n];
            let largest = or_one(row.iter().fold(0.0, |a: f64, x| a.max(x.abs())));
            if diagonal(i) {
                scaled.row[i] = largest;
            } else {
                for x in row.iter_mut() {
                    *x /= largest;
                }
                scaled.q[i] /= largest;
            }
        }
        let lost = |before: f64, after: f64| !after.is_finite() || (before != 0.0 && after == 0.0);
        scaled.lossy = (0..n * n).any(|k| lost(m[(k / n, k % n)], scaled.m[k]))
            || (0..n).any(|i| lost(q[i], scaled.q[i]) || lost(1.0, scaled.unit[i]));
        scaled
    }

    /// Complement `s q + M z` over the basic columns.
    fn complement(&self, basis: &[usize], z: &[f64], s: f64) -> Vec<f64> {
        let dot = |row: &[f64]| basis.iter().map(|&j| row[j] * z[j]).sum::<f64>();
        (0..self.n).map(|i| s * self.q[i] + dot(&self.m[i * self.n..(i + 1) * self.n])).collect()
    }

    fn unscaled(&self, z: &[f64]) -> Vec<f64> {
        // values within the tolerance below zero are zero
        let sign = |z: f64, free: bool| if free { z } else { z.max(0.0) };
        (0..self.n).map(|j| sign(z[j], self.free[j]) * self.unit[j]).collect()
    }
}

/// Solutions found so far, in scaled units.
#[derive(Default)]
struct EnumerationRecord {
    points: Vec<Vec<f64>>,
    vertices: Vec<Vec<f64>>,
    /// Bases with infinitely many solutions.
    continua: Vec<Vec<bool>>,
    bases: usize,
    singular: usize,
    undecided: usize,
}

/// Enumeration in progress.
struct BasisSearch<'a> {
    settings: &'a Enumerate,
    scaled: &'a ScaledMlcp,
    found: EnumerationRecord,
    budget: usize,
}

impl BasisSearch<'_> {
    /// Finds the solutions of one basis.
    fn examine(&mut self, basic: &[bool]) {
        self.found.bases += 1;
        let n = self.scaled.n;
        let basis: Vec<usize> = (0..n).filter(|&i| basic[i]).collect();
        let entry = |i: usize, j: usize| self.scaled.m[basis[i] * n + basis[j]] / self.scaled.row[basis[i]];
        let factor = RankRevealingLu::new(basis.len(), entry, self.settings.rank_tolerance);
        let particular = self.particular(&basis, &factor);
        if factor.is_regular() {
            let Some((z, _)) = particular else { return self.found.undecided += 1 };
            self.keep_point(&basis, basic, z);
            return;
        }
        self.found.singular += 1;
        match particular {
            Some((z, inconsistency)) if inconsistency <= self.settings.tolerance => {
                self.keep_polyhedron(&basis, basic, &factor, &z);
            }
            Some(_) => {}
            None => self.found.undecided += 1,
        }
    }

    /// Solution of `M_αα z_α = −q_α`, refined once, and its inconsistency; `None` when it overflows.
    fn particular(&self, basis: &[usize], factor: &RankRevealingLu) -> Option<(Vec<f64>, f64)> {
        let mut z = vec![0.0; self.scaled.n];
        let mut inconsistency = 0.0;
        for _ in 0..2 {
            let w = self.scaled.complement(basis, &z, 1.0);
            let mut step: Vec<f64> = basis.iter().map(|&i| -w[i] / self.scaled.row[i]).collect();
            inconsistency = factor.solve(&mut step);
            basis.iter().zip(&step).for_each(|(&j, step)| z[j] += step);
        }
        (z.iter().all(|z| z.is_finite()) && inconsistency.is_finite()).then_some((z, inconsistency))
    }

    /// Keeps the point of a regular basis if it is feasible.
    fn keep_point(&mut self, basis: &[usize], basic: &[bool], z: Vec<f64>) {
        let w = self.scaled.complement(basis, &z, 1.0);
        let least =
            (0..z.len()).filter(|&i| !self.scaled.free[i]).map(|i| if basic[i] { z[i] } else { w[i] });
        let mut feasible = true;
        for x in least {
            if x.is_nan() {
                self.found.undecided += 1;
                return;
            }
            feasible &= x >= -self.settings.tolerance;
        }
        if feasible {
            add_distinct(&mut self.found.points, z, self.settings.distinct());
        }
    }

    /// Keeps the solutions of a singular basis: z = particular + null space, where `z_α` and the other w are not
    /// negative.
    fn keep_polyhedron(
        &mut self,
        basis: &[usize],
        basic: &[bool],
        factor: &RankRevealingLu,
        particular: &[f64],
    ) {
        let n = self.scaled.n;
        let lines: Vec<ConeGenerator> = (0..factor.nullity())
            .map(|k| {
                let mut z = vec![0.0; n];
                basis.iter().zip(factor.null_vector(k)).for_each(|(&j, x)| z[j] = x);
                self.generator(basis, basic, &z, 0.0)
            })
            .collect();
        let apex = self.generator(basis, basic, particular, 1.0);
        if !(lines.iter().all(ConeGenerator::is_finite) && apex.is_finite()) {
            self.found.undecided += 1;
            return;
        }
        let mut cone = PolyhedralCone::new(apex, lines, self.settings.tolerance);
        for i in (0..n).filter(|&i| !self.scaled.free[i]) {
            match cone.restrict(i, &mut self.budget) {
                Ok(()) if cone.is_empty() => return,
                Ok(()) => {}
                Err(BudgetExhausted) => {
                    self.found.undecided += 1;
                    return;
                }
            }
        }
        let (points, unbounded) = cone.points();
        let points: Vec<Vec<f64>> =
            points.into_iter().map(|x| (0..n).map(|i| if basic[i] { x[i] } else { 0.0 }).collect()).collect();
        let mut distinct = Vec::new();
        for p in points {
            add_distinct(&mut distinct, p, self.settings.distinct());
        }
        let single = distinct.len() == 1 && !unbounded;
        if !single && !distinct.is_empty() {
            self.found.continua.push(basic.to_vec());
        }
        let list = if single { &mut self.found.points } else { &mut self.found.vertices };
        for p in distinct {
            add_distinct(list, p, self.settings.distinct());
        }
    }

    /// Point (s = 1) or direction (s = 0) as a generator of the cone: z where basic, w elsewhere.
    fn generator(&self, basis: &[usize], basic: &[bool], z: &[f64], s: f64) -> ConeGenerator {
        let w = self.scaled.complement(basis, z, s);
        ConeGenerator::new((0..z.len()).map(|i| if basic[i] { z[i] } else { w[i] }), s)
    }

    /// Separates isolated points from continua, and certifies both.
    fn finish(self, problem: Problem) -> Result<Solutions, Malformed> {
        let EnumerationRecord { points, vertices, continua, bases, singular, undecided } = self.found;
        let (scaled, near) = (self.scaled, self.settings.distinct());
        let all: Vec<usize> = (0..scaled.n).collect();
        let on_continuum = |z: &Vec<f64>| {
            let w = scaled.complement(&all, z, 1.0);
            let zero = |basic: bool, i: usize| if basic { w[i].abs() <= near } else { z[i].abs() <= near };
            continua.iter().any(|basic| (0..scaled.n).all(|i| zero(basic[i], i)))
        };
        let isolated: Vec<_> =
            points.iter().filter(|z| !on_continuum(z)).map(|z| scaled.unscaled(z)).collect();
        let representatives: Vec<_> = vertices.iter().map(|z| scaled.unscaled(z)).collect();
        let mut residual = 0.0_f64;
        for z in isolated.iter().chain(&representatives) {
            residual = residual.max(certify(problem, z)?.certificate.worst());
        }
        let continuum = !continua.is_empty();
        // the scaled problem is then another one
        let undecided = if scaled.lossy { bases } else { undecided };
        Ok(Solutions { isolated, continuum, representatives, bases, singular, undecided, residual })
    }
}

/// Adds a point unless one within `near` of it is listed.
fn add_distinct(list: &mut Vec<Vec<f64>>, z: Vec<f64>, near: f64) {
    // far from zero round-off grows with the point
    let size = z.iter().fold(1.0, |a: f64, x| a.max(x.abs()));
    let same = |other: &Vec<f64>| other.iter().zip(&z).all(|(a, b)| (a - b).abs() <= near * size);
    if !list.iter().any(same) {
        list.push(z);
    }
}

#[cfg(test)]
mod tests;
