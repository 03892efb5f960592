//! Joints eliminated stably, redundant rows found on the way.

use crate::problem::{Layout, MassFactor, StepProblem};
use nalgebra::{DMatrix, DVector, Dyn, LU};

/// Joint rows shorter than this after the others are taken out of them are redundant (unit rows, weighted by
/// the mass matrix). Round-off leaves 1e-15 of a duplicate; a mechanism this near to a singular position has
/// joint impulses 1e10 times their usual size, which no certificate would pass.
const REDUNDANT: f64 = 1e-10;

/// The joint rows of a step problem, factored.
///
/// With the symmetric part of M̃ as L Lᵀ, the scaled columns [L⁻¹ν; √C] are orthogonalized with pivoting:
/// A P = Q R. Working with R and not with RᵀR keeps the digits that a Schur complement squares away.
#[derive(Debug, Clone)]
pub(super) struct Joints {
    /// Number of velocities.
    velocities: usize,
    /// Scale that makes each column a unit vector.
    scale: Vec<f64>,
    /// Independent rows in the order of their pivots.
    independent: Vec<usize>,
    redundant: Vec<usize>,
    /// Orthonormal columns, one per independent row.
    q: Vec<Vec<f64>>,
    /// Coefficients of every column in `q`: `r[joint][k]`.
    r: Vec<Vec<f64>>,
    unsymmetric: Option<Schur>,
}

/// νᵀ M̃⁻¹ ν + C over the independent rows, for M̃ that is not symmetric.
#[derive(Debug, Clone)]
struct Schur {
    /// Scaled independent rows ν.
    rows: Vec<Vec<f64>>,
    /// M̃⁻¹ ν of the same.
    responses: Vec<Vec<f64>>,
    lu: LU<f64, Dyn, Dyn>,
}

impl Joints {
    pub(super) fn new(problem: &StepProblem, layout: &Layout, mass: &MassFactor) -> Self {
        let (n, m) = (layout.velocities(), problem.joints.len());
        let mut rest = Vec::with_capacity(m);
        let mut scale = Vec::with_capacity(m);
        for (k, joint) in problem.joints.iter().enumerate() {
            let mut column = vec![0.0; n + m];
            joint.row.row.add_transposed(&layout.velocity, 1.0, &mut column);
            mass.half_solve(&mut column[..n]);
            column[n + k] = joint.compliance.sqrt();
            let length = norm(&column);
            let s = if length > 0.0 { 1.0 / length } else { 0.0 };
            column.iter_mut().for_each(|x| *x *= s);
            scale.push(s);
            rest.push(column);
        }
        let mut joints = Self {
            velocities: n,
            scale,
            independent: Vec::new(),
            redundant: Vec::new(),
            q: Vec::new(),
            r: vec![Vec::new(); m],
            unsymmetric: None,
        };
        joints.orthogonalize(rest);
        if !mass.is_symmetric() && m > 0 {
            joints.unsymmetric = Some(joints.schur(problem, layout, mass));
        }
        joints
    }

    /// Gram–Schmidt with pivoting; each pivot column is orthogonalized twice, which is enough.
    fn orthogonalize(&mut self, mut rest: Vec<Vec<f64>>) {
        let mut left: Vec<usize> = (0..rest.len()).collect();
        while !left.is_empty() {
            let longest = |best: usize, at: usize| {
                // the first of equals, so that the answer does not hang on round-off
                if norm(&rest[left[at]]) > norm(&rest[left[best]]) * (1.0 + 1e-9) { at } else { best }
            };
            let joint = left.remove((1..left.len()).fold(0, longest));
            let mut pivot = std::mem::take(&mut rest[joint]);
            for (k, q) in self.q.iter().enumerate() {
                let again = dot(q, &pivot);
                subtract(&mut pivot, again, q);
                self.r[joint][k] += again;
            }
            let length = norm(&pivot);
            if length <= REDUNDANT {
                self.redundant.push(joint);
                self.redundant.extend(left);
                self.redundant.sort_unstable();
                return;
            }
            pivot.iter_mut().for_each(|x| *x /= length);
            self.r[joint].push(length);
            self.independent.push(joint);
            for &other in &left {
                let along = dot(&pivot, &rest[other]);
                subtract(&mut rest[other], along, &pivot);
                self.r[other].push(along);
            }
            self.q.push(pivot);
        }
    }

    fn schur(&self, problem: &StepProblem, layout: &Layout, mass: &MassFactor) -> Schur {
        let row = |&k: &usize| {
            let mut row = vec![0.0; self.velocities];
            problem.joints[k].row.row.add_transposed(&layout.velocity, self.scale[k], &mut row);
            row
        };
        let rows: Vec<Vec<f64>> = self.independent.iter().map(row).collect();
        let mut responses = rows.clone();
        responses.iter_mut().for_each(|x| mass.solve(x));
        let n = rows.len();
        let g = DMatrix::from_fn(n, n, |i, j| {
            let k = self.independent[i];
            let compliance = if i == j { problem.joints[k].compliance * self.scale[k].powi(2) } else { 0.0 };
            dot(&rows[i], &responses[j]) + compliance
        });
        Schur { rows, responses, lu: g.lu() }
    }

    pub(super) fn redundant(&self) -> &[usize] {
        &self.redundant
    }

    /// For each redundant row, y with ν y = 0 and y = 1 at that row (up to scale).
    pub(super) fn dependencies(&self) -> impl Iterator<Item = Vec<f64>> {
        self.redundant.iter().map(|&joint| {
            let mut x = self.r[joint].clone();
            self.solve_r(&mut x);
            let mut y = vec![0.0; self.r.len()];
            y[joint] = self.scale[joint].max(f64::MIN_POSITIVE);
            for (&k, x) in self.independent.iter().zip(&x) {
                y[k] = -x * self.scale[k];
            }
            y
        })
    }

    /// Velocities and joint impulses with M̃ v = momentum + ν c and νᵀ v + C c + offset = 0.
    pub(super) fn respond(
        &self,
        mass: &MassFactor,
        momentum: &[f64],
        offset: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let offset = self.independent.iter().map(|&k| offset[k] * self.scale[k]);
        let (v, scaled) = match &self.unsymmetric {
            Some(schur) => schur.respond(mass, momentum, offset),
            None => self.respond_symmetric(mass, momentum, offset.collect()),
        };
        let mut c = vec![0.0; self.r.len()];
        self.independent.iter().zip(&scaled).for_each(|(&k, x)| c[k] = x * self.scale[k]);
        (v, c)
    }

    /// With u = Lᵀv stacked on √C c: Q ᵀu = −R⁻ᵀ offset, the rest of u is that of the momentum.
    fn respond_symmetric(
        &self,
        mass: &MassFactor,
        momentum: &[f64],
        offset: Vec<f64>,
    ) -> (Vec<f64>, Vec<f64>) {
        let mut u = momentum.to_vec();
        mass.half_solve(&mut u);
        let mut s = offset;
        self.solve_r_transposed(&mut s);
        let mut c: Vec<f64> = vec![0.0; s.len()];
        // twice, so that what is left is orthogonal to Q to the last digit
        let mut below = vec![0.0; self.r.len()];
        for _ in 0..2 {
            for (k, q) in self.q.iter().enumerate() {
                let along = dot(&q[..self.velocities], &u) + dot(&q[self.velocities..], &below);
                subtract(&mut u, along, &q[..self.velocities]);
                subtract(&mut below, along, &q[self.velocities..]);
                c[k] -= along;
            }
        }
        for (k, q) in self.q.iter().enumerate() {
            subtract(&mut u, s[k], &q[..self.velocities]);
            c[k] -= s[k];
        }
        self.solve_r(&mut c);
        mass.half_solve_transposed(&mut u);
        (u, c)
    }

    /// `x ← R⁻¹ x` over the independent rows.
    fn solve_r(&self, x: &mut [f64]) {
        for i in (0..self.independent.len()).rev() {
            for j in i + 1..self.independent.len() {
                x[i] -= self.r[self.independent[j]][i] * x[j];
            }
            x[i] /= self.r[self.independent[i]][i];
        }
    }

    /// `x ← R⁻ᵀ x` over the independent rows.
    fn solve_r_transposed(&self, x: &mut [f64]) {
        for (i, &joint) in self.independent.iter().enumerate() {
            for j in 0..i {
                x[i] -= self.r[joint][j] * x[j];
            }
            x[i] /= self.r[joint][i];
        }
    }
}

impl Schur {
    fn respond(
        &self,
        mass: &MassFactor,
        momentum: &[f64],
        offset: impl Iterator<Item = f64>,
    ) -> (Vec<f64>, Vec<f64>) {
        let mut v = momentum.to_vec();
        mass.solve(&mut v);
        let mut c = DVector::from_iterator(
            self.rows.len(),
            self.rows.iter().zip(offset).map(|(row, offset)| -dot(row, &v) - offset),
        );
        self.lu.solve_mut(&mut c);
        self.responses.iter().zip(c.iter()).for_each(|(x, &c)| subtract(&mut v, -c, x));
        (v, c.as_slice().to_vec())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// `a ← a − c b`.
fn subtract(a: &mut [f64], c: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a -= c * b);
}
