//! Factorization of joint rows beside the mass matrix, which finds redundant rows: joints of a step problem are
//! eliminated by it before contacts are pivoted.

use super::dense::DenseLu;
use super::mass::MassFactor;

/// Length of an orthogonalized joint row that counts as redundant: `|rest| ≤ REDUNDANT_ROW` of a row of length one in
/// the metric of M̃⁻¹ [-]. Sensible range 1e-13 to 1e-8. Rounding leaves 1e-15 of a duplicate row: smaller values take
/// duplicates for independent rows. A mechanism this near to a singular position has joint impulses 1e10 times their
/// usual size, which no certificate would pass: larger values drop rows that matter.
const REDUNDANT_ROW: f64 = 1e-10;

/// Relative advantage in length with which a later row is preferred as the next pivot [-]. Equal rows keep their order
/// down to rounding errors, so that the choice does not depend on them. Sensible range 1e-12 to 1e-3.
const PIVOT_TIE: f64 = 1e-9;

/// Factored joint rows. Storage is reused between factorizations.
///
/// With L Lᵀ the symmetric part of M̃, the scaled columns [L⁻¹ν; √C] are orthogonalized with pivoting: A P = Q R.
/// Working with R instead of RᵀR keeps the digits that a Schur complement would square away.
#[derive(Debug, Clone, Default)]
pub(crate) struct JointFactor {
    /// Number of joint rows m.
    rows: usize,
    /// Number of velocities.
    velocities: usize,
    /// Length of a column. Without compliance its lower part is zero and left out.
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
    /// Remainders of the columns that are not yet pivots.
    rest: Vec<f64>,
    schur: DenseSchur,
}

/// νᵀ M̃⁻¹ ν + C over the independent rows, for M̃ that is not symmetric.
#[derive(Debug, Clone, Default)]
struct DenseSchur {
    used: bool,
    /// Scaled independent rows ν, one after the other.
    rows: Vec<f64>,
    /// M̃⁻¹ ν of these rows.
    responses: Vec<f64>,
    lu: DenseLu,
}

impl JointFactor {
    /// Factors `rows` joint rows over `velocities` velocities. `half_response` adds L⁻¹ν of a row to a column that is
    /// zero, `add_row` adds a multiple of ν itself.
    pub(crate) fn factor_rows(
        &mut self,
        rows: usize,
        velocities: usize,
        mass: &MassFactor,
        compliance: impl Fn(usize) -> f64,
        mut half_response: impl FnMut(usize, &mut [f64]),
        add_row: impl FnMut(usize, f64, &mut [f64]),
    ) {
        let (m, n) = (rows, velocities);
        let length = if (0..m).all(|k| compliance(k) == 0.0) { n } else { n + m };
        (self.rows, self.velocities, self.length) = (m, n, length);
        self.scale.clear();
        self.independent.clear();
        self.redundant.clear();
        self.q.clear();
        self.r.clear();
        self.r.resize(m * m, 0.0);
        self.rest.clear();
        self.rest.resize(m * length, 0.0);
        for k in 0..m {
            let column = &mut self.rest[k * length..][..length];
            half_response(k, &mut column[..n]);
            if let Some(below) = column.get_mut(n + k) {
                *below = compliance(k).sqrt();
            }
            let length = norm(column);
            let s = if length > 0.0 { 1.0 / length } else { 0.0 };
            column.iter_mut().for_each(|x| *x *= s);
            self.scale.push(s);
        }
        self.orthogonalize();
        self.schur.used = !mass.is_symmetric() && m > 0;
        if self.schur.used {
            self.schur.factor(n, mass, &self.independent, &self.scale, compliance, add_row);
        }
    }

    /// Gram–Schmidt orthogonalization with pivoting. Each pivot column is orthogonalized twice, which is enough.
    fn orthogonalize(&mut self) {
        let (m, length) = (self.rows, self.length);
        // rows that are not yet pivots; at the end the redundant ones remain
        self.redundant.extend(0..m);
        while !self.redundant.is_empty() {
            let size = |joint: usize| norm(&self.rest[joint * length..][..length]);
            let left = &self.redundant;
            let (mut at, mut longest) = (0, size(left[0]));
            for (other, &joint) in left.iter().enumerate().skip(1) {
                let size = size(joint);
                if size > longest * (1.0 + PIVOT_TIE) {
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
            if size <= REDUNDANT_ROW {
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

    /// Redundant joint rows: linear combinations of the others.
    pub(crate) fn redundant(&self) -> &[usize] {
        &self.redundant
    }

    /// Dependencies: for each redundant row a vector y with ν y = 0 and y ≠ 0 at that row.
    pub(crate) fn dependencies(&self) -> impl Iterator<Item = Vec<f64>> {
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

    /// Solves M̃ v = momentum + ν c, νᵀ v + C c + offset = 0. The velocity v replaces the momentum; `impulses` receives
    /// the joint impulses c.
    pub(crate) fn solve(
        &self,
        mass: &MassFactor,
        momentum: &mut [f64],
        offset: impl Fn(usize) -> f64,
        impulses: &mut JointImpulses,
    ) {
        if self.rows == 0 {
            impulses.c.clear();
            mass.solve(momentum);
            return;
        }
        let scaled = &mut impulses.scaled;
        scaled.clear();
        scaled.extend(self.independent.iter().map(|&k| offset(k) * self.scale[k]));
        if self.schur.used {
            self.schur.solve(mass, momentum, scaled);
        } else {
            self.solve_symmetric(mass, momentum, impulses);
        }
        impulses.c.clear();
        impulses.c.resize(self.rows, 0.0);
        for (&k, x) in self.independent.iter().zip(&impulses.scaled) {
            impulses.c[k] = x * self.scale[k];
        }
    }

    /// Solves for symmetric M̃. With u = Lᵀv stacked on √C c: Qᵀu = −R⁻ᵀ offset, the rest of u is that of the momentum.
    /// The scaled impulses replace the offsets.
    fn solve_symmetric(&self, mass: &MassFactor, u: &mut [f64], impulses: &mut JointImpulses) {
        let JointImpulses { scaled, along, below, .. } = impulses;
        let n = self.velocities;
        mass.half_solve(u);
        along.clear();
        along.resize(scaled.len(), 0.0);
        below.clear();
        below.resize(self.length - n, 0.0);
        let columns = || self.q.chunks_exact(self.length).map(|q| q.split_at(n));
        // twice, so that the remainder is orthogonal to Q to the last digit
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
        mass.half_solve_transposed(u);
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

/// Joint impulses and the vectors that are needed to find them.
#[derive(Debug, Clone, Default)]
pub(crate) struct JointImpulses {
    /// c_ν of every joint row [N s].
    pub(crate) c: Vec<f64>,
    scaled: Vec<f64>,
    along: Vec<f64>,
    below: Vec<f64>,
}

impl DenseSchur {
    fn factor(
        &mut self,
        n: usize,
        mass: &MassFactor,
        independent: &[usize],
        scale: &[f64],
        compliance: impl Fn(usize) -> f64,
        mut add_row: impl FnMut(usize, f64, &mut [f64]),
    ) {
        self.rows.clear();
        self.rows.resize(n * independent.len(), 0.0);
        for (row, &k) in self.rows.chunks_exact_mut(n).zip(independent) {
            add_row(k, scale[k], row);
        }
        self.responses.clone_from(&self.rows);
        self.responses.chunks_exact_mut(n).for_each(|x| mass.solve(x));
        let (rows, responses) = (&self.rows, &self.responses);
        // regular: the rows are independent and M̃ is definite
        self.lu.factorize(independent.len(), |i, j| {
            let k = independent[i];
            let compliance = if i == j { compliance(k) * scale[k].powi(2) } else { 0.0 };
            dot(&rows[i * n..][..n], &responses[j * n..][..n]) + compliance
        });
    }

    /// Solves with the Schur complement. The velocity replaces the momentum, the scaled impulses replace the offsets.
    fn solve(&self, mass: &MassFactor, momentum: &mut [f64], scaled: &mut [f64]) {
        let n = momentum.len();
        mass.solve(momentum);
        for (row, x) in self.rows.chunks_exact(n).zip(&mut *scaled) {
            *x = -dot(row, momentum) - *x;
        }
        self.lu.solve(scaled);
        for (response, &x) in self.responses.chunks_exact(n).zip(&*scaled) {
            subtract(momentum, -x, response);
        }
    }
}

/// Inner product in four sums, which do not wait for each other.
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
