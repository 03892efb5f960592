//! Rigid joints alone, directly: S = N M⁻¹ Nᵀ by Cholesky's method. What bears, gives way or is redundant takes the
//! general way.

use crate::system::{JointRow, RowKind, System};
use arrayvec::ArrayVec;
use nalgebra::{Matrix6, Vector6};
use stiction_lcp::{Row, Term};

/// A pivot below this part of its diagonal is none: the rows are redundant.
const SINGULAR: f64 = 1e-10;

/// Part of a correction that may be left: round-off of its own.
const LEFT: f64 = 1e-14;

/// The factored equations of rigid joints.
#[derive(Debug, Clone, Default)]
pub(super) struct Schur {
    /// Masses and their inverses.
    bodies: Vec<(Matrix6<f64>, Matrix6<f64>)>,
    starts: Vec<usize>,
    /// M⁻¹ Nᵀ of each row.
    responses: Vec<ArrayVec<Term, 2>>,
    /// The factor of S and, above the diagonal, the same transposed: both sweeps of a solution go along rows. On the
    /// diagonal the reciprocals of the pivots.
    factor: Vec<f64>,
    diagonal: Vec<f64>,
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
            for k in i..n {
                self.factor[i * n + k] = product(row, &self.responses[k]);
            }
        }
        self.diagonal.clear();
        self.diagonal.extend((0..n).map(|k| self.factor[k * n + k]));
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

    /// One row of Cholesky's method, taken out of those below it.
    fn eliminate(&mut self, k: usize, n: usize) -> bool {
        let (upto, below) = self.factor.split_at_mut((k + 1) * n);
        let row = &mut upto[k * n..];
        // written so that a NaN is refused as well
        if !(row[k] > SINGULAR * self.diagonal[k]) {
            return false;
        }
        row[k] = 1.0 / row[k].sqrt();
        let over = row[k];
        row[k + 1..].iter_mut().for_each(|s| *s *= over);
        for (i, other) in (k + 1..n).zip(below.chunks_exact_mut(n)) {
            let factor = row[i];
            other[k] = factor;
            // joints far apart in a chain
            if factor != 0.0 {
                other[i..].iter_mut().zip(&row[i..]).for_each(|(other, s)| *other -= factor * s);
            }
        }
        true
    }

    /// v ← v − M⁻¹Nᵀ S⁻¹ (N v + rest), once more if round-off leaves something.
    pub(super) fn correct(&mut self, joints: &[JointRow], rest: impl Fn(usize) -> f64, v: &mut [f64]) {
        self.acted.clear();
        self.acted.resize(joints.len(), 0.0);
        let mut first = 0.0;
        for pass in 0..2 {
            self.impulses.clear();
            let residual = |(k, joint): (usize, &JointRow)| joint.row.dot(&self.starts, v) + rest(k);
            self.impulses.extend(joints.iter().enumerate().map(residual));
            let size = self.impulses.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            if pass == 0 {
                first = size;
            } else if size <= LEFT * first {
                break;
            }
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
        for (k, row) in s.chunks_exact(n.max(1)).enumerate() {
            let (upto, below) = x.split_at_mut(k + 1);
            upto[k] *= row[k];
            let known = upto[k];
            below.iter_mut().zip(&row[k + 1..]).for_each(|(x, s)| *x -= known * s);
        }
        for (k, row) in s.chunks_exact(n.max(1)).enumerate().rev() {
            let (above, from) = x.split_at_mut(k);
            from[0] *= row[k];
            let known = from[0];
            above.iter_mut().zip(row).for_each(|(x, s)| *x -= known * s);
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
    for Term { body, j: a } in a {
        for Term { j: b, .. } in b.iter().filter(|b| b.body == *body) {
            // in pairs: one sum would wait for itself
            sum += (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5]);
        }
    }
    sum
}
