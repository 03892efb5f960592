//! Force Jacobians in blocks of bodies and pairs of bodies, for linearly implicit schemes.

pub(crate) mod point_force;

use nalgebra::Matrix6;
use stiction_lcp::{BodyPair, Row, StepProblem, Term};

/// Derivatives of the forces k, gyroscopic ones included, at a state (t, q, v).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForceJacobian {
    /// Position derivative k_q: column e is the derivative of k(t, q ⊕ s e, v) by s at 0, so k_q w is the derivative along
    /// q ⊕ s w [N/m; N; N m].
    pub position: Blocks,
    /// Velocity derivative k_v [N s/m; N s; N m s].
    pub velocity: Blocks,
}

/// Origin of a Jacobian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JacobianKind {
    /// Formulas for every entry.
    Exact,
    /// Central differences for some or all entries.
    FiniteDifferences,
}

/// Matrix over velocities, in blocks of bodies and of coupled pairs of bodies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Blocks {
    /// Diagonal block of each body; rows and columns past its number of velocities are zero.
    pub bodies: Vec<Matrix6<f64>>,
    /// Off-diagonal blocks. Several pairs of the same two bodies add up, as in a step problem.
    pub pairs: Vec<BodyPair>,
}

impl ForceJacobian {
    /// Sets both parts to zero.
    pub fn clear(&mut self, bodies: usize) {
        self.position.clear(bodies);
        self.velocity.clear(bodies);
    }
}

impl Blocks {
    /// Sets the matrix to zero, with this number of bodies.
    pub fn clear(&mut self, bodies: usize) {
        self.bodies.clear();
        self.bodies.resize(bodies, Matrix6::zeros());
        self.pairs.clear();
    }

    /// Adds a block in the rows of one body and the columns of another or the same body.
    pub fn add(&mut self, row: usize, column: usize, block: &Matrix6<f64>) {
        if row == column {
            self.bodies[row] += block;
            return;
        }
        let (a, b) = (row.min(column), row.max(column));
        // blocks of one pair mostly arrive together
        if !matches!(self.pairs.last(), Some(last) if (last.a, last.b) == (a, b)) {
            self.pairs.push(BodyPair { a, b, ab: Matrix6::zeros(), ba: Matrix6::zeros() });
        }
        let last = self.pairs.len() - 1;
        let pair = &mut self.pairs[last];
        *(if row == a { &mut pair.ab } else { &mut pair.ba }) += block;
    }

    /// `K ← K + factor J₁ᵀJ₂` of two rows; `bodies` are the numbers of velocities of the bodies.
    pub fn add_outer(&mut self, bodies: &[usize], factor: f64, rows: [&Row; 2]) {
        if let [Row::Bodies(left), Row::Bodies(right)] = rows {
            for a in left {
                for b in right {
                    self.add(a.body, b.body, &Matrix6::from_fn(|i, j| factor * (a.j[i] * b.j[j])));
                }
            }
            return;
        }
        let entries = rows.map(|row| entries(row, bodies));
        for &(a, i, x) in &entries[0] {
            for &(b, j, y) in &entries[1] {
                let mut block = Matrix6::zeros();
                block[(i, j)] = factor * (x * y);
                self.add(a, b, &block);
            }
        }
    }

    /// `out ← out + factor K v`. `starts` is the index in v of each body's first velocity, and one more entry:
    /// the number of velocities.
    pub fn multiply_add(&self, starts: &[usize], factor: f64, v: &[f64], out: &mut [f64]) {
        let mut block = |row: usize, column: usize, block: &Matrix6<f64>| {
            let v = &v[starts[column]..starts[column + 1]];
            for (i, out) in out[starts[row]..starts[row + 1]].iter_mut().enumerate() {
                *out += factor * v.iter().enumerate().map(|(j, v)| block[(i, j)] * v).sum::<f64>();
            }
        };
        self.bodies.iter().enumerate().for_each(|(i, own)| block(i, i, own));
        for pair in &self.pairs {
            block(pair.a, pair.b, &pair.ab);
            block(pair.b, pair.a, &pair.ba);
        }
    }

    /// `M̃ ← M̃ + factor K` of a step problem with the same bodies.
    pub fn add_to(&self, factor: f64, problem: &mut StepProblem) {
        for (body, own) in problem.bodies.iter_mut().zip(&self.bodies) {
            body.mass += factor * own;
        }
        let scaled = |p: &BodyPair| BodyPair { a: p.a, b: p.b, ab: factor * p.ab, ba: factor * p.ba };
        problem.pairs.extend(self.pairs.iter().map(scaled));
    }
}

/// Entries of a row: body, index of its velocity, coefficient.
fn entries(row: &Row, bodies: &[usize]) -> Vec<(usize, usize, f64)> {
    let of_term = |t: &Term| (0..bodies[t.body]).map(|i| (t.body, i, t.j[i])).collect::<Vec<_>>();
    let located = |&(index, x): &(usize, f64)| {
        let (mut body, mut i) = (0, index);
        while i >= bodies[body] {
            i -= bodies[body];
            body += 1;
        }
        (body, i, x)
    };
    match row {
        Row::Bodies(terms) => terms.iter().flat_map(of_term).collect(),
        Row::Sparse(entries) => entries.iter().map(located).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_lcp::Body;

    /// Bodies of two, one and three velocities.
    const BODIES: [usize; 3] = [2, 1, 3];
    const STARTS: [usize; 4] = [0, 2, 3, 6];

    fn product(blocks: &Blocks, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; 6];
        blocks.multiply_add(&STARTS, 1.0, v, &mut out);
        out
    }

    #[test]
    fn outer_products_of_rows_of_either_form_are_the_same() {
        let left = Row::two(2, &[1.0, -2.0, 0.5], 0, &[3.0, 4.0]);
        let right = Row::two(1, &[5.0], 2, &[-1.0, 0.25, 2.0]);
        let sparse = |row: &Row| {
            let mut entries = Vec::new();
            row.for_each(&STARTS, |i, x| entries.push((i, x)));
            Row::Sparse(entries)
        };
        let v = [1.0, 2.0, -3.0, 0.5, 4.0, -1.0];
        for rows in [[&left, &right], [&sparse(&left), &right], [&sparse(&left), &sparse(&right)]] {
            let mut blocks = Blocks::default();
            blocks.clear(3);
            blocks.add_outer(&BODIES, 2.0, rows);
            // numbers with few digits: the sums are exact
            let mut expected = vec![0.0; 6];
            left.add_transposed(&STARTS, 2.0 * right.dot(&STARTS, &v), &mut expected);
            assert_eq!(product(&blocks, &v), expected);
        }
    }

    #[test]
    fn blocks_added_to_a_step_problem_multiply_as_before() {
        let mut blocks = Blocks::default();
        blocks.clear(3);
        for row in [Row::two(0, &[1.0, 2.0], 2, &[3.0, -1.0, 1.0]), Row::two(1, &[2.0], 0, &[1.0, 1.0])] {
            blocks.add_outer(&BODIES, -1.0, [&row, &row]);
        }
        assert_eq!(blocks.pairs.len(), 2);
        let mut problem = StepProblem::default();
        let unit = |n: usize| Matrix6::from_fn(|i, j| if i == j && i < n { 1.0 } else { 0.0 });
        problem.bodies.extend(BODIES.map(|n| Body { mass: unit(n), ..Body::new(n, &[], &[]) }));
        blocks.add_to(-0.5, &mut problem);
        let v = [1.0, 2.0, -3.0, 0.5, 4.0, -1.0];
        let mut expected = v;
        blocks.multiply_add(&STARTS, -0.5, &v, &mut expected);
        let mut mass =
            Blocks { bodies: problem.bodies.iter().map(|b| b.mass).collect(), pairs: problem.pairs };
        assert_eq!(product(&mass, &v), expected);
        mass.clear(3);
        assert_eq!(product(&mass, &v), [0.0; 6]);
    }
}
