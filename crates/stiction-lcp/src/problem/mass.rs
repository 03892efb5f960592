//! M̃ factored block by block: a body alone, or bodies that pairs couple.

use super::{Layout, Malformed, Row, StepProblem, Term};

/// M̃ in factored form: the Cholesky factor of its symmetric part, and an LU factor where it is not symmetric.
///
/// No pivoting: with a positive definite symmetric part every leading block is regular.
#[derive(Debug, Clone, Default)]
pub struct MassFactor {
    blocks: Vec<Block>,
    /// Velocity indices of the blocks, one after the other.
    members: Vec<usize>,
    /// The block of each velocity.
    block: Vec<usize>,
    /// The row of each velocity in its block.
    row: Vec<usize>,
    /// Union-find over the bodies.
    parent: Vec<usize>,
    /// Factors of the blocks by rows, one after the other.
    cholesky: Vec<f64>,
    /// LU factors, likewise; empty when M̃ is symmetric.
    lu: Vec<f64>,
    /// Inverses of blocks of at most six velocities, likewise: many rows ask for one body's response.
    inverse: Vec<f64>,
}

/// Velocities of a body at most.
const SMALL: usize = 6;

#[derive(Debug, Clone, Copy)]
struct Block {
    /// First of the block's entries in `members`.
    member: usize,
    /// First of the block's entries in `cholesky` and `lu`.
    entry: usize,
    /// Number of velocities.
    n: usize,
    /// Whether nothing is beside the diagonal, as for most bodies.
    is_diagonal: bool,
}

impl MassFactor {
    /// Factors M̃; the error names the body whose symmetric part is not positive definite.
    pub fn new(problem: &StepProblem) -> Result<Self, Malformed> {
        let mut factor = Self::default();
        factor.factor(problem, &problem.layout())?;
        Ok(factor)
    }

    /// [`MassFactor::new`] for a problem laid out like this, in the storage of the last one.
    pub fn factor(&mut self, problem: &StepProblem, layout: &Layout) -> Result<(), Malformed> {
        let entries = self.lay_out(problem, layout);
        self.lu.clear();
        self.lu.resize(entries, 0.0);
        if problem.pairs.is_empty() {
            for (block, body) in self.blocks.iter().zip(&problem.bodies) {
                let rows = self.lu[block.entry..][..block.n * block.n].chunks_exact_mut(block.n);
                rows.enumerate().for_each(|(i, row)| (0..block.n).for_each(|j| row[j] = body.mass[(i, j)]));
            }
        } else {
            for_each_entry(problem, &layout.velocity, |i, j, x| {
                let Block { entry, n, .. } = self.blocks[self.block[i]];
                self.lu[entry + self.row[i] * n + self.row[j]] += x;
            });
        }
        self.cholesky.clone_from(&self.lu);
        for block in &self.blocks {
            let a = &mut self.cholesky[block.entry..][..block.n * block.n];
            symmetrize(a, block.n);
            if !cholesky(a, block.n) {
                let place = self.name(block, layout);
                return Err(Malformed::at(place, "its symmetric part is not positive definite"));
            }
        }
        if problem.is_symmetric() {
            self.lu.clear();
        } else {
            for block in &self.blocks {
                lu(&mut self.lu[block.entry..][..block.n * block.n], block.n);
            }
        }
        self.invert(entries);
        Ok(())
    }

    /// The inverses of the small blocks, column by column.
    fn invert(&mut self, entries: usize) {
        let mut inverse = std::mem::take(&mut self.inverse);
        inverse.clear();
        inverse.resize(entries, 0.0);
        for k in 0..self.blocks.len() {
            let block = self.blocks[k];
            if block.n > SMALL {
                continue;
            }
            let l = &self.cholesky[block.entry..][..block.n * block.n];
            let below = |i: usize| l[i * block.n..][..i].iter().all(|x| *x == 0.0);
            if self.is_symmetric() && (0..block.n).all(below) {
                self.blocks[k].is_diagonal = true;
                (0..block.n).for_each(|i| {
                    let i = i * (block.n + 1);
                    inverse[block.entry + i] = 1.0 / (l[i] * l[i]);
                });
                continue;
            }
            for j in 0..block.n {
                let mut column = [0.0; SMALL];
                column[j] = 1.0;
                self.solve_part(&block, &mut column[..block.n]);
                (0..block.n).for_each(|i| inverse[block.entry + i * block.n + j] = column[i]);
            }
        }
        self.inverse = inverse;
    }

    /// Bodies that pairs connect share a block, in order of their first body; returns the number of entries.
    fn lay_out(&mut self, problem: &StepProblem, layout: &Layout) -> usize {
        let start = &layout.velocity;
        self.parent.clear();
        self.parent.extend(0..problem.bodies.len());
        for pair in &problem.pairs {
            let (a, b) = (root(&mut self.parent, pair.a), root(&mut self.parent, pair.b));
            self.parent[a.max(b)] = a.min(b);
        }
        self.blocks.clear();
        self.members.clear();
        self.block.clear();
        self.block.resize(layout.velocities(), 0);
        self.row.clone_from(&self.block);
        let mut entry = 0;
        for first in 0..problem.bodies.len() {
            if self.parent[first] != first {
                continue;
            }
            let member = self.members.len();
            let last = if problem.pairs.is_empty() { first + 1 } else { problem.bodies.len() };
            for body in first..last {
                if root(&mut self.parent, body) == first {
                    for i in start[body]..start[body + 1] {
                        self.block[i] = self.blocks.len();
                        self.row[i] = self.members.len() - member;
                        self.members.push(i);
                    }
                }
            }
            let n = self.members.len() - member;
            self.blocks.push(Block { member, entry, n, is_diagonal: false });
            entry += n * n;
        }
        entry
    }

    /// The bodies of a block, for messages.
    fn name(&self, block: &Block, layout: &Layout) -> String {
        let start = &layout.velocity;
        let members = self.members(block);
        let bodies: Vec<usize> = (0..start.len() - 1).filter(|&b| members.contains(&start[b])).collect();
        match bodies.as_slice() {
            [body] => format!("bodies[{body}].mass"),
            many => format!("bodies {many:?} coupled by pairs"),
        }
    }

    /// `true` when M̃ is symmetric.
    pub fn is_symmetric(&self) -> bool {
        self.lu.is_empty()
    }

    /// `x ← M̃⁻¹ x`.
    pub fn solve(&self, x: &mut [f64]) {
        self.blocks.iter().for_each(|block| self.solve_block(block, x));
    }

    /// `out ← M̃⁻¹ Jᵀ` for an `out` that is zero where the row reaches.
    pub(crate) fn respond(&self, row: &Row, start: &[usize], out: &mut [f64]) {
        row.add_transposed(start, 1.0, out);
        self.for_each_block(row, start, |block| self.solve_block(block, out));
    }

    /// Makes `out` zero again after [`MassFactor::respond`].
    pub(crate) fn clear(&self, row: &Row, start: &[usize], out: &mut [f64]) {
        self.for_each_block(row, start, |block| self.members(block).iter().for_each(|&i| out[i] = 0.0));
    }

    /// Visits each block the row reaches once.
    fn for_each_block(&self, row: &Row, start: &[usize], mut visit: impl FnMut(&Block)) {
        match row {
            Row::Bodies(terms) => {
                let first = self.block[start[terms[0].body]];
                visit(&self.blocks[first]);
                let second = terms.get(1).map(|t| self.block[start[t.body]]);
                if let Some(second) = second.filter(|&second| second != first) {
                    visit(&self.blocks[second]);
                }
            }
            Row::Sparse(entries) => {
                let mut blocks: Vec<usize> = entries.iter().map(|&(i, _)| self.block[i]).collect();
                blocks.sort_unstable();
                blocks.dedup();
                blocks.into_iter().for_each(|block| visit(&self.blocks[block]));
            }
        }
    }

    /// `out ← L⁻¹ Jᵀ` for an `out` that is zero where the row reaches.
    pub(crate) fn half_respond(&self, row: &Row, start: &[usize], out: &mut [f64]) {
        row.add_transposed(start, 1.0, out);
        self.for_each_block(row, start, |block| {
            self.in_block(block, &self.cholesky, out, |l, n, x| forward(l, n, x, false));
        });
    }

    /// `x ← L⁻¹ x` with L Lᵀ the symmetric part of M̃.
    pub fn half_solve(&self, x: &mut [f64]) {
        for block in &self.blocks {
            self.in_block(block, &self.cholesky, x, |l, n, x| forward(l, n, x, false));
        }
    }

    /// `x ← L⁻ᵀ x` with L Lᵀ the symmetric part of M̃.
    pub fn half_solve_transposed(&self, x: &mut [f64]) {
        for block in &self.blocks {
            self.in_block(block, &self.cholesky, x, |l, n, x| backward(x, n, |i, j| l[j * n + i]));
        }
    }

    fn solve_block(&self, block: &Block, x: &mut [f64]) {
        if block.n > SMALL {
            return self.in_block(block, &self.cholesky, x, |_, _, x| self.solve_part(block, x));
        }
        let members = self.members(block);
        let mut part = [0.0; SMALL];
        part.iter_mut().zip(members).for_each(|(part, &i)| *part = x[i]);
        let y = self.respond_part(block, &part);
        members.iter().zip(y).for_each(|(&i, y)| x[i] = y);
    }

    /// `M̃⁻¹ x` for the velocities of a small block.
    #[inline]
    fn respond_part(&self, block: &Block, x: &[f64; SMALL]) -> [f64; SMALL] {
        let inverse = &self.inverse[block.entry..][..block.n * block.n];
        if let Ok(inverse) = <&[f64; SMALL * SMALL]>::try_from(inverse) {
            if block.is_diagonal {
                return std::array::from_fn(|i| inverse[(SMALL + 1) * i] * x[i]);
            }
            return std::array::from_fn(|i| {
                let [a, b, c, d, e, f] = std::array::from_fn(|j| inverse[SMALL * i + j] * x[j]);
                // in pairs, so that one sum need not wait for the next
                (a + b) + (c + d) + (e + f)
            });
        }
        let mut y = [0.0; SMALL];
        for (y, row) in y.iter_mut().zip(inverse.chunks_exact(block.n)) {
            *y = row.iter().zip(x).map(|(a, x)| a * x).sum();
        }
        y
    }

    /// The block of a body, if that is small and the body alone is in it.
    #[inline]
    fn own_block(&self, body: usize, start: &[usize]) -> Option<&Block> {
        let block = &self.blocks[self.block[start[body]]];
        (block.n == start[body + 1] - start[body] && block.n <= SMALL).then_some(block)
    }

    /// `J M̃⁻¹ Jᵀ` of some rows, as a matrix of at most three; `room` is zero before and after.
    pub(crate) fn mobility<'r>(
        &self,
        rows: &(impl Iterator<Item = &'r Row> + Clone),
        start: &[usize],
        room: &mut [f64],
    ) -> [[f64; 3]; 3] {
        let mut w = [[0.0; 3]; 3];
        for (k, row) in rows.clone().enumerate() {
            let alone = |term: &Term| self.own_block(term.body, start).is_some();
            if let Row::Bodies(terms) = row
                && terms.iter().all(alone)
            {
                // half of a symmetric one is the other half
                let first = if self.is_symmetric() { k } else { 0 };
                for term in terms {
                    let Some(block) = self.own_block(term.body, start) else { continue };
                    let y = Term { body: term.body, j: self.respond_part(block, &term.j) };
                    for (i, other) in rows.clone().enumerate().skip(first) {
                        w[i][k] += other.along(&y);
                    }
                }
                (0..first).for_each(|i| w[i][k] = w[k][i]);
                continue;
            }
            self.respond(row, start, room);
            rows.clone().enumerate().for_each(|(i, other)| w[i][k] = other.dot(start, room));
            self.clear(row, start, room);
        }
        w
    }

    /// `x ← M̃⁻¹ x` for the velocities of one block.
    fn solve_part(&self, block: &Block, x: &mut [f64]) {
        let (entry, n) = (block.entry, block.n);
        if self.is_symmetric() {
            let l = &self.cholesky[entry..][..n * n];
            forward(l, n, x, false);
            backward(x, n, |i, j| l[j * n + i]);
        } else {
            let lu = &self.lu[entry..][..n * n];
            forward(lu, n, x, true);
            backward(x, n, |i, j| lu[i * n + j]);
        }
    }

    fn members(&self, block: &Block) -> &[usize] {
        &self.members[block.member..][..block.n]
    }

    fn in_block(
        &self,
        block: &Block,
        factors: &[f64],
        x: &mut [f64],
        solve: impl Fn(&[f64], usize, &mut [f64]),
    ) {
        let members = self.members(block);
        // bodies alone and small groups stay on the stack
        let (mut small, mut large) = ([0.0; 48], Vec::new());
        let part = if block.n <= small.len() {
            &mut small[..block.n]
        } else {
            large.resize(block.n, 0.0);
            &mut large[..]
        };
        part.iter_mut().zip(members).for_each(|(p, &i)| *p = x[i]);
        solve(&factors[block.entry..][..block.n * block.n], block.n, part);
        part.iter().zip(members).for_each(|(p, &i)| x[i] = *p);
    }
}

impl StepProblem {
    /// `out = M̃ v`.
    pub fn multiply_mass(&self, start: &[usize], v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for_each_entry(self, start, |i, j, x| out[i] += x * v[j]);
    }

    /// `out = M̃ v`, and `size += |M̃| |v|`, which its round-off is measured by.
    pub(crate) fn multiply_mass_with_sizes(
        &self,
        start: &[usize],
        v: &[f64],
        out: &mut [f64],
        size: &mut [f64],
    ) {
        out.fill(0.0);
        for_each_entry(self, start, |i, j, x| {
            let term = x * v[j];
            out[i] += term;
            size[i] += term.abs();
        });
    }
}

#[inline(always)]
fn for_each_entry(problem: &StepProblem, start: &[usize], mut entry: impl FnMut(usize, usize, f64)) {
    for (body, &s) in problem.bodies.iter().zip(start) {
        // down the columns, as they are stored
        for j in 0..body.velocities {
            for i in 0..body.velocities {
                entry(s + i, s + j, body.mass[(i, j)]);
            }
        }
    }
    for pair in &problem.pairs {
        let (a, b) = (start[pair.a], start[pair.b]);
        for i in 0..start[pair.a + 1] - a {
            for j in 0..start[pair.b + 1] - b {
                entry(a + i, b + j, pair.ab[(i, j)]);
                entry(b + j, a + i, pair.ba[(j, i)]);
            }
        }
    }
}

/// The representative of `i`, with the paths to it halved.
fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

fn symmetrize(a: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            let mean = 0.5 * (a[i * n + j] + a[j * n + i]);
            a[i * n + j] = mean;
            a[j * n + i] = mean;
        }
    }
}

/// L in the lower triangle; `false` when a pivot is not above round-off of its diagonal entry.
fn cholesky(a: &mut [f64], n: usize) -> bool {
    for j in 0..n {
        let diagonal = a[j * n + j];
        let pivot = diagonal - (0..j).map(|k| a[j * n + k].powi(2)).sum::<f64>();
        // relative to the entry, so that units do not matter; 1e-14 is some 50 round-offs
        if !(diagonal > 0.0 && pivot > 1e-14 * diagonal) {
            return false;
        }
        a[j * n + j] = pivot.sqrt();
        for i in j + 1..n {
            let dot: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            a[i * n + j] = (a[i * n + j] - dot) / a[j * n + j];
        }
    }
    true
}

/// Unit lower and upper factors in place, without pivoting.
fn lu(a: &mut [f64], n: usize) {
    for k in 0..n {
        for i in k + 1..n {
            a[i * n + k] /= a[k * n + k];
            for j in k + 1..n {
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
            }
        }
    }
}

/// Forward substitution with the lower triangle of `a`, its diagonal taken as one if `unit`.
fn forward(a: &[f64], n: usize, x: &mut [f64], unit: bool) {
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| a[i * n + k] * x[k]).sum();
        x[i] = if unit { x[i] - dot } else { (x[i] - dot) / a[i * n + i] };
    }
}

/// Backward substitution with the upper triangular matrix `u(i, j)`.
fn backward(x: &mut [f64], n: usize, u: impl Fn(usize, usize) -> f64) {
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| u(i, k) * x[k]).sum();
        x[i] = (x[i] - dot) / u(i, i);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Body, BodyPair};
    use super::*;
    use nalgebra::Matrix6;

    #[test]
    fn solve_undoes_multiply_with_pairs_and_gyroscopic_blocks() {
        let mut problem = StepProblem::default();
        problem.bodies.push(Body::new(3, &[2.0, 0.1, 0.3, -0.1, 3.0, 0.0, -0.3, 0.0, 1e-3], &[0.0; 3]));
        problem.bodies.push(Body::new(1, &[5.0], &[0.0]));
        problem.bodies.push(Body::new(2, &[1.0, 0.2, 0.2, 1e4], &[0.0; 2]));
        let mut ab = Matrix6::zeros();
        ab[(0, 1)] = -0.7;
        problem.pairs.push(BodyPair { a: 0, b: 2, ab, ba: ab.transpose() });
        for symmetric in [false, true] {
            if symmetric {
                problem.bodies[0] =
                    Body::new(3, &[2.0, 0.1, 0.01, 0.1, 3.0, 0.0, 0.01, 0.0, 1e-3], &[0.0; 3]);
            }
            assert_eq!(problem.is_symmetric(), symmetric);
            let start = problem.layout().velocity;
            let factor = MassFactor::new(&problem).unwrap();
            let v: Vec<f64> = (0..6).map(|i| f64::from(i) - 2.5).collect();
            let mut x = vec![0.0; 6];
            problem.multiply_mass(&start, &v, &mut x);
            factor.solve(&mut x);
            for (x, v) in x.iter().zip(&v) {
                assert!((x - v).abs() < 1e-13 * 2.5, "{x} instead of {v}");
            }
        }
    }

    #[test]
    fn an_indefinite_block_is_named() {
        let mut problem = StepProblem::default();
        problem.bodies.push(Body::new(1, &[1.0], &[0.0]));
        problem.bodies.push(Body::new(2, &[1.0, 2.0, 2.0, 1.0], &[0.0; 2]));
        assert_eq!(MassFactor::new(&problem).unwrap_err().place, "bodies[1].mass");
        problem.bodies[1] = Body::new(1, &[1.0], &[0.0]);
        let mut ab = Matrix6::zeros();
        ab[(0, 0)] = 2.0;
        problem.pairs.push(BodyPair { a: 0, b: 1, ab, ba: ab });
        assert!(MassFactor::new(&problem).unwrap_err().place.contains("[0, 1]"));
    }
}
