//! Joints eliminated stably, redundant rows found on the way.

use crate::lu::Lu;
use crate::problem::{Prepared, StepProblem};

/// Joint rows shorter than this after the others are taken out of them are redundant (unit rows, weighted by
/// the mass matrix). Round-off leaves 1e-15 of a duplicate; a mechanism this near to a singular position has
/// joint impulses 1e10 times their usual size, which no certificate would pass.
const REDUNDANT: f64 = 1e-10;

/// The joint rows of a step problem, factored, in storage that is kept.
///
/// With the symmetric part of M̃ as L Lᵀ, the scaled columns [L⁻¹ν; √C] are orthogonalized with pivoting:
/// A P = Q R. Working with R and not with RᵀR keeps the digits that a Schur complement squares away.
#[derive(Debug, Clone, Default)]
pub(super) struct Joints {
    /// Number of joint rows m.
    rows: usize,
    /// Number of velocities.
    velocities: usize,
    /// Of a column: without compliance its lower part is zero and left out.
    length: usize,
    /// Scale that makes each column a unit vector.
    scale: Vec<f64>,
    /// Independent rows in the order of their pivots.
    independent: Vec<usize>,
    redundant: Vec<usize>,
    /// Orthonormal columns, one per independent row, each `length` long.
    q: Vec<f64>,
    /// Coefficients of every column in `q`, m by m: `r[joint * m + k]`.
    r: Vec<f64>,
    /// What is left of the columns not yet taken.
    rest: Vec<f64>,
    schur: Schur,
}

/// νᵀ M̃⁻¹ ν + C over the independent rows, for M̃ that is not symmetric.
#[derive(Debug, Clone, Default)]
struct Schur {
    used: bool,
    /// Scaled independent rows ν, one after the other.
    rows: Vec<f64>,
    /// M̃⁻¹ ν of the same.
    responses: Vec<f64>,
    lu: Lu,
}

impl Joints {
    /// Factors the joint rows of `problem`.
    pub(super) fn factor(&mut self, problem: &StepProblem, prepared: &Prepared) {
        let Prepared { layout, mass } = prepared;
        let (n, m) = (layout.velocities(), problem.joints.len());
        let length = if problem.joints.iter().all(|j| j.compliance == 0.0) { n } else { n + m };
        (self.rows, self.velocities, self.length) = (m, n, length);
        self.scale.clear();
        self.independent.clear();
        self.redundant.clear();
        self.q.clear();
        self.r.clear();
        self.r.resize(m * m, 0.0);
        self.rest.clear();
        self.rest.resize(m * length, 0.0);
        for (k, joint) in problem.joints.iter().enumerate() {
            let column = &mut self.rest[k * length..][..length];
            mass.half_respond(&joint.row.row, &layout.velocity, &mut column[..n]);
            if let Some(below) = column.get_mut(n + k) {
                *below = joint.compliance.sqrt();
            }
            let length = norm(column);
            let s = if length > 0.0 { 1.0 / length } else { 0.0 };
            column.iter_mut().for_each(|x| *x *= s);
            self.scale.push(s);
        }
        self.orthogonalize();
        self.schur.used = !mass.is_symmetric() && m > 0;
        if self.schur.used {
            self.schur.factor(problem, prepared, &self.independent, &self.scale);
        }
    }

    /// Gram–Schmidt with pivoting; each pivot column is orthogonalized twice, which is enough.
    fn orthogonalize(&mut self) {
        let (m, length) = (self.rows, self.length);
        // rows not yet taken stand here until the end
        self.redundant.extend(0..m);
        while !self.redundant.is_empty() {
            let size = |joint: usize| norm(&self.rest[joint * length..][..length]);
            let left = &self.redundant;
            let (mut at, mut longest) = (0, size(left[0]));
            for (other, &joint) in left.iter().enumerate().skip(1) {
                let size = size(joint);
                // the first of equals, so that the answer does not hang on round-off
                if size > longest * (1.0 + 1e-9) {
                    (at, longest) = (other, size);
                }
            }
            let joint = left[at];
            let pivot = &mut self.rest[joint * length..][..length];
            for (k, q) in self.q.chunks_exact(length).enumerate() {
                let again = dot(q, pivot);
                subtract(pivot, again, q);
                self.r[joint * m + k] += again;
            }
            let size = norm(pivot);
            if size <= REDUNDANT {
                return;
            }
            let k = self.independent.len();
            self.r[joint * m + k] = size;
            self.q.extend(pivot.iter().map(|x| x / size));
            self.independent.push(joint);
            self.redundant.remove(at);
            let pivot = &self.q[k * length..];
            for &other in &self.redundant {
                let rest = &mut self.rest[other * length..][..length];
                let along = dot(pivot, rest);
                subtract(rest, along, pivot);
                self.r[other * m + k] = along;
            }
        }
    }

    /// Joint rows that follow from the others.
    pub(super) fn redundant(&self) -> &[usize] {
        &self.redundant
    }

    /// For each redundant row, y with ν y = 0 and y ≠ 0 at that row.
    pub(super) fn dependencies(&self) -> impl Iterator<Item = Vec<f64>> {
        self.redundant.iter().map(|&joint| {
            let mut x = self.r[joint * self.rows..][..self.independent.len()].to_vec();
            self.solve_r(&mut x);
            let mut y = vec![0.0; self.rows];
            // an empty row depends on nothing
            y[joint] = if self.scale[joint] > 0.0 { self.scale[joint] } else { 1.0 };
            for (&k, x) in self.independent.iter().zip(&x) {
                y[k] = -x * self.scale[k];
            }
            y
        })
    }

    /// Turns a momentum into the velocity with M̃ v = momentum + ν c and νᵀ v + C c + offset = 0, and fills in
    /// the joint impulses c.
    pub(super) fn respond(
        &self,
        prepared: &Prepared,
        momentum: &mut [f64],
        offset: impl Fn(usize) -> f64,
        impulses: &mut Impulses,
    ) {
        if self.rows == 0 {
            impulses.c.clear();
            prepared.mass.solve(momentum);
            return;
        }
        let scaled = &mut impulses.scaled;
        scaled.clear();
        scaled.extend(self.independent.iter().map(|&k| offset(k) * self.scale[k]));
        if self.schur.used {
            self.schur.respond(prepared, momentum, scaled);
        } else {
            self.respond_symmetric(prepared, momentum, impulses);
        }
        impulses.c.clear();
        impulses.c.resize(self.rows, 0.0);
        for (&k, x) in self.independent.iter().zip(&impulses.scaled) {
            impulses.c[k] = x * self.scale[k];
        }
    }

    /// With u = Lᵀv stacked on √C c: Qᵀu = −R⁻ᵀ offset, the rest of u is that of the momentum. The scaled
    /// impulses take the place of the offsets.
    fn respond_symmetric(&self, prepared: &Prepared, u: &mut [f64], impulses: &mut Impulses) {
        let Impulses { scaled, along, below, .. } = impulses;
        let n = self.velocities;
        prepared.mass.half_solve(u);
        along.clear();
        along.resize(scaled.len(), 0.0);
        below.clear();
        below.resize(self.length - n, 0.0);
        let columns = || self.q.chunks_exact(self.length).map(|q| q.split_at(n));
        // twice, so that what is left is orthogonal to Q to the last digit
        for _ in 0..2 {
            for (k, (top, bottom)) in columns().enumerate() {
                let part = dot(top, u) + dot(bottom, below);
                subtract(u, part, top);
                subtract(below, part, bottom);
                along[k] += part;
            }
        }
        self.solve_r_transposed(scaled);
        for (k, (top, _)) in columns().enumerate() {
            subtract(u, scaled[k], top);
            scaled[k] = -scaled[k] - along[k];
        }
        self.solve_r(scaled);
        prepared.mass.half_solve_transposed(u);
    }

    /// `x ← R⁻¹ x` over the independent rows.
    fn solve_r(&self, x: &mut [f64]) {
        let m = self.rows;
        for i in (0..x.len()).rev() {
            for j in i + 1..x.len() {
                x[i] -= self.r[self.independent[j] * m + i] * x[j];
            }
            x[i] /= self.r[self.independent[i] * m + i];
        }
    }

    /// `x ← R⁻ᵀ x` over the independent rows.
    fn solve_r_transposed(&self, x: &mut [f64]) {
        let m = self.rows;
        for i in 0..x.len() {
            let column = &self.r[self.independent[i] * m..];
            for j in 0..i {
                x[i] -= column[j] * x[j];
            }
            x[i] /= column[i];
        }
    }
}

/// Joint impulses, and what it takes to find them.
#[derive(Debug, Clone, Default)]
pub(super) struct Impulses {
    /// c_ν of every joint row [N s].
    pub(super) c: Vec<f64>,
    scaled: Vec<f64>,
    along: Vec<f64>,
    below: Vec<f64>,
}

impl Schur {
    fn factor(&mut self, problem: &StepProblem, prepared: &Prepared, independent: &[usize], scale: &[f64]) {
        let Prepared { layout, mass } = prepared;
        let n = layout.velocities();
        self.rows.clear();
        self.rows.resize(n * independent.len(), 0.0);
        for (row, &k) in self.rows.chunks_exact_mut(n).zip(independent) {
            problem.joints[k].row.row.add_transposed(&layout.velocity, scale[k], row);
        }
        self.responses.clone_from(&self.rows);
        self.responses.chunks_exact_mut(n).for_each(|x| mass.solve(x));
        let (rows, responses) = (&self.rows, &self.responses);
        // regular: the rows are independent and M̃ is definite
        self.lu.factorize(independent.len(), |i, j| {
            let k = independent[i];
            let compliance = if i == j { problem.joints[k].compliance * scale[k].powi(2) } else { 0.0 };
            dot(&rows[i * n..][..n], &responses[j * n..][..n]) + compliance
        });
    }

    /// The velocity takes the place of the momentum, the scaled impulses that of the offsets.
    fn respond(&self, prepared: &Prepared, momentum: &mut [f64], scaled: &mut [f64]) {
        let n = momentum.len();
        prepared.mass.solve(momentum);
        for (row, x) in self.rows.chunks_exact(n).zip(&mut *scaled) {
            *x = -dot(row, momentum) - *x;
        }
        self.lu.solve(scaled);
        for (response, &x) in self.responses.chunks_exact(n).zip(&*scaled) {
            subtract(momentum, -x, response);
        }
    }
}

/// In four sums, which do not wait for each other.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.0.iter().zip(b.0) {
        (0..4).for_each(|i| sums[i] += a[i] * b[i]);
    }
    let rest: f64 = a.1.iter().zip(b.1).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// `a ← a − c b`.
fn subtract(a: &mut [f64], c: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a -= c * b);
}
