//! Rigid joints alone, directly: S = N M⁻¹ Nᵀ by Cholesky's method. What bears, gives way or is redundant takes the
//! general way.

use crate::system::{JointRow, RowKind, System};
use arrayvec::ArrayVec;
use nalgebra::{Matrix6, Vector6};
use stiction_lcp::{Row, Term};

/// A pivot below this part of its diagonal is none: the rows are redundant.
const SINGULAR: f64 = 1e-10;

/// The factored equations of rigid joints.
#[derive(Debug, Clone, Default)]
pub(super) struct Schur {
    /// Masses and their inverses.
    bodies: Vec<(Matrix6<f64>, Matrix6<f64>)>,
    starts: Vec<usize>,
    /// M⁻¹ Nᵀ of each row.
    responses: Vec<ArrayVec<Term, 2>>,
    /// The factor of S, row by row.
    factor: Vec<f64>,
    impulses: Vec<f64>,
    /// What the last correction acted with: v changed by M⁻¹Nᵀ times this.
    pub(super) acted: Vec<f64>,
}

impl Schur {
    /// Factors the equations at (t, q); `false` if they are not of this kind or redundant.
    pub(super) fn factor<S: System + ?Sized>(
        &mut self,
        system: &S,
        t: f64,
        q: &[f64],
        joints: &[JointRow],
    ) -> bool {
        self.weigh(system, t, q);
        self.responses.clear();
        for joint in joints {
            let (RowKind::Rigid(compliance), Row::Bodies(terms)) = (joint.kind, &joint.row) else {
                return false;
            };
            if compliance > 0.0 {
                return false;
            }
            let respond = |term: &Term| {
                let y = self.bodies[term.body].1 * Vector6::from(term.j);
                Term { body: term.body, j: y.into() }
            };
            self.responses.push(terms.iter().map(respond).collect());
        }
        let n = joints.len();
        self.factor.clear();
        self.factor.resize(n * n, 0.0);
        for (i, joint) in joints.iter().enumerate() {
            let Row::Bodies(row) = &joint.row else { return false };
            for k in 0..=i {
                self.factor[i * n + k] = product(row, &self.responses[k]);
            }
        }
        (0..n).all(|k| self.eliminate(k, n))
    }

    fn weigh<S: System + ?Sized>(&mut self, system: &S, t: f64, q: &[f64]) {
        let bodies = system.bodies();
        if self.starts.len() != bodies.len() + 1 {
            self.bodies.clear();
            self.starts.clear();
            self.starts.push(0);
            for n in bodies {
                self.starts.push(self.starts[self.starts.len() - 1] + n);
            }
        }
        for (i, &n) in bodies.iter().enumerate() {
            let mass = system.mass_at(i, t, q);
            if self.bodies.get(i).is_some_and(|b| b.0 == mass) {
                continue;
            }
            // velocities the body does not have take no part
            let filled =
                Matrix6::from_fn(
                    |r, c| if r < n && c < n { mass[(r, c)] } else { f64::from(u8::from(r == c)) },
                );
            let mut inverse = filled.try_inverse().unwrap_or_else(Matrix6::zeros);
            (n..6).for_each(|k| inverse[(k, k)] = 0.0);
            if i < self.bodies.len() {
                self.bodies[i] = (mass, inverse);
            } else {
                self.bodies.push((mass, inverse));
            }
        }
    }

    /// One column of Cholesky's method.
    fn eliminate(&mut self, k: usize, n: usize) -> bool {
        let s = &mut self.factor;
        let diagonal = s[k * n + k];
        let known: f64 = (0..k).map(|j| s[k * n + j] * s[k * n + j]).sum();
        // written so that a NaN is refused as well
        if !(diagonal - known > SINGULAR * diagonal) {
            return false;
        }
        let pivot = (diagonal - known).sqrt();
        s[k * n + k] = pivot;
        for i in k + 1..n {
            let known: f64 = (0..k).map(|j| s[i * n + j] * s[k * n + j]).sum();
            s[i * n + k] = (s[i * n + k] - known) / pivot;
        }
        true
    }

    /// v ← v − M⁻¹Nᵀ S⁻¹ (N v + rest), once more for what round-off leaves.
    pub(super) fn correct(&mut self, joints: &[JointRow], rest: impl Fn(usize) -> f64, v: &mut [f64]) {
        self.acted.clear();
        self.acted.resize(joints.len(), 0.0);
        for _ in 0..2 {
            self.impulses.clear();
            let residual = |(k, joint): (usize, &JointRow)| joint.row.dot(&self.starts, v) + rest(k);
            self.impulses.extend(joints.iter().enumerate().map(residual));
            self.solve();
            self.acted.iter_mut().zip(&self.impulses).for_each(|(acted, c)| *acted -= c);
            for (response, &c) in self.responses.iter().zip(&self.impulses) {
                for term in response {
                    let s = self.starts[term.body];
                    (s..self.starts[term.body + 1]).for_each(|i| v[i] -= c * term.j[i - s]);
                }
            }
        }
    }

    fn solve(&mut self) {
        let (s, x) = (&self.factor, &mut self.impulses);
        let n = x.len();
        for i in 0..n {
            let known: f64 = (0..i).map(|j| s[i * n + j] * x[j]).sum();
            x[i] = (x[i] - known) / s[i * n + i];
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| s[j * n + i] * x[j]).sum();
            x[i] = (x[i] - known) / s[i * n + i];
        }
    }

    /// M⁻¹ k.
    pub(super) fn respond(&self, k: &[f64], out: &mut Vec<f64>) {
        out.clear();
        for (i, (_, inverse)) in self.bodies.iter().enumerate() {
            let (s, e) = (self.starts[i], self.starts[i + 1]);
            out.extend((0..e - s).map(|r| (0..e - s).map(|c| inverse[(r, c)] * k[s + c]).sum::<f64>()));
        }
    }
}

fn product(a: &[Term], b: &[Term]) -> f64 {
    let mut sum = 0.0;
    for a in a {
        for b in b.iter().filter(|b| b.body == a.body) {
            sum += (0..6).map(|i| a.j[i] * b.j[i]).sum::<f64>();
        }
    }
    sum
}
