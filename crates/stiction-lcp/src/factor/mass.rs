//! Mass matrix M̃ in factored form, block by block: one block per body, or per group of bodies that pairs couple.
//!
//! Callers lay out the blocks, assemble the entries and factor. Rows of a step problem reach it through
//! `crate::problem`.

use super::triangular::{backward, backward_transposed, find_root, forward};

/// M̃ in factored form: the Cholesky factor L of its symmetric part, and an LU factor if M̃ is not symmetric.
///
/// There is no pivoting: with a positive definite symmetric part every leading block is regular.
#[derive(Debug, Clone, Default)]
pub struct MassFactor {
    blocks: Vec<MassBlock>,
    /// Velocity indices of the blocks, one block after the other.
    members: Vec<usize>,
    /// Block of each velocity.
    block: Vec<usize>,
    /// Row of each velocity in its block.
    row: Vec<usize>,
    /// Union-find forest over the bodies.
    parent: Vec<usize>,
    /// Cholesky factors of the blocks, row-major, one after the other.
    cholesky: Vec<f64>,
    /// LU factors, likewise; empty if M̃ is symmetric.
    lu: Vec<f64>,
    /// Inverses of blocks of at most six velocities, likewise: many rows ask for one body's response.
    inverse: Vec<f64>,
}

/// Size up to which a block is inverted: the six velocities of a body.
const SMALL_BLOCK: usize = 6;

/// Relative size of a Cholesky pivot that counts as zero: `pivot ≤ INDEFINITE_PIVOT · diagonal entry` [-]. Sensible
/// range 1e-15 to 1e-12: about 50 rounding errors. Smaller values accept a singular mass matrix, larger values refuse
/// slender bodies. Relative to the entry, so that units do not matter.
const INDEFINITE_PIVOT: f64 = 1e-14;

#[derive(Debug, Clone, Copy)]
struct MassBlock {
    /// First entry of the block in `members`.
    member: usize,
    /// First entry of the block in `cholesky`, `lu` and `inverse`.
    entry: usize,
    /// Number of velocities.
    n: usize,
    /// `true` if only the diagonal is not zero, as for most bodies.
    is_diagonal: bool,
}

impl MassFactor {
    /// Lays out the blocks and sets all entries to zero. Velocities of body `i` are `start[i]..start[i + 1]`. Bodies
    /// that `pairs` connect share a block, in the order of their first body.
    pub(crate) fn lay_out(&mut self, start: &[usize], pairs: impl ExactSizeIterator<Item = (usize, usize)>) {
        let bodies = start.len() - 1;
        let velocities = start[bodies];
        let coupled = pairs.len() > 0;
        self.parent.clear();
        self.parent.extend(0..bodies);
        for (a, b) in pairs {
            let (a, b) = (find_root(&mut self.parent, a), find_root(&mut self.parent, b));
            self.parent[a.max(b)] = a.min(b);
        }
        self.blocks.clear();
        self.members.clear();
        self.block.clear();
        self.block.resize(velocities, 0);
        self.row.clone_from(&self.block);
        let mut entry = 0;
        for first in 0..bodies {
            if self.parent[first] != first {
                continue;
            }
            let member = self.members.len();
            let last = if coupled { bodies } else { first + 1 };
            for body in first..last {
                if find_root(&mut self.parent, body) == first {
                    for i in start[body]..start[body + 1] {
                        self.block[i] = self.blocks.len();
                        self.row[i] = self.members.len() - member;
                        self.members.push(i);
                    }
                }
            }
            let n = self.members.len() - member;
            self.blocks.push(MassBlock { member, entry, n, is_diagonal: false });
            entry += n * n;
        }
        self.lu.clear();
        self.lu.resize(entry, 0.0);
    }

    /// Sets the entries of block `k`.
    pub(crate) fn set_block(&mut self, k: usize, entry: impl Fn(usize, usize) -> f64) {
        let MassBlock { entry: at, n, .. } = self.blocks[k];
        let rows = self.lu[at..][..n * n].chunks_exact_mut(n);
        rows.enumerate().for_each(|(i, row)| (0..n).for_each(|j| row[j] = entry(i, j)));
    }

    /// Adds `x` to the entry of the velocities `i` and `j`, which must be in the same block.
    #[inline]
    pub(crate) fn add_entry(&mut self, i: usize, j: usize, x: f64) {
        let MassBlock { entry, n, .. } = self.blocks[self.block[i]];
        self.lu[entry + self.row[i] * n + self.row[j]] += x;
    }

    /// Factors the assembled blocks. The error is the first block whose symmetric part is not positive definite.
    pub(crate) fn factor_blocks(&mut self, symmetric: bool) -> Result<(), usize> {
        let entries = self.lu.len();
        self.cholesky.clone_from(&self.lu);
        for (k, block) in self.blocks.iter().enumerate() {
            let a = &mut self.cholesky[block.entry..][..block.n * block.n];
            symmetrize(a, block.n);
            if !cholesky(a, block.n) {
                return Err(k);
            }
        }
        if symmetric {
            self.lu.clear();
        } else {
            for block in &self.blocks {
                lu(&mut self.lu[block.entry..][..block.n * block.n], block.n);
            }
        }
        self.invert(entries);
        Ok(())
    }

    /// Inverts the small blocks, column by column.
    fn invert(&mut self, entries: usize) {
        let mut inverse = std::mem::take(&mut self.inverse);
        inverse.clear();
        inverse.resize(entries, 0.0);
        for k in 0..self.blocks.len() {
            let block = self.blocks[k];
            if block.n > SMALL_BLOCK {
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
                let mut column = [0.0; SMALL_BLOCK];
                column[j] = 1.0;
                self.solve_gathered(&block, &mut column[..block.n]);
                (0..block.n).for_each(|i| inverse[block.entry + i * block.n + j] = column[i]);
            }
        }
        self.inverse = inverse;
    }

    /// `true` if M̃ is symmetric.
    pub fn is_symmetric(&self) -> bool {
        self.lu.is_empty()
    }

    /// `x ← M̃⁻¹ x`.
    pub fn solve(&self, x: &mut [f64]) {
        (0..self.blocks.len()).for_each(|k| self.solve_block(k, x));
    }

    /// `x ← L⁻¹ x` with L Lᵀ the symmetric part of M̃.
    pub fn half_solve(&self, x: &mut [f64]) {
        (0..self.blocks.len()).for_each(|k| self.half_solve_block(k, x));
    }

    /// `x ← L⁻ᵀ x` with L Lᵀ the symmetric part of M̃.
    pub fn half_solve_transposed(&self, x: &mut [f64]) {
        for block in &self.blocks {
            self.in_block(block, x, backward_transposed);
        }
    }

    /// Block of a velocity.
    #[inline]
    pub(crate) fn block_of(&self, velocity: usize) -> usize {
        self.block[velocity]
    }

    /// Velocity indices of block `k`.
    pub(crate) fn members(&self, k: usize) -> &[usize] {
        let block = &self.blocks[k];
        &self.members[block.member..][..block.n]
    }

    /// Block of the velocities `first..end`, if it is small and holds no others.
    #[inline]
    pub(crate) fn own_block(&self, first: usize, end: usize) -> Option<usize> {
        let k = self.block[first];
        let n = self.blocks[k].n;
        (n == end - first && n <= SMALL_BLOCK).then_some(k)
    }

    /// `x ← M̃⁻¹ x` for the velocities of block `k`.
    pub(crate) fn solve_block(&self, k: usize, x: &mut [f64]) {
        let block = &self.blocks[k];
        if block.n > SMALL_BLOCK {
            return self.in_block(block, x, |_, _, x| self.solve_gathered(block, x));
        }
        let members = self.members(k);
        let mut part = [0.0; SMALL_BLOCK];
        part.iter_mut().zip(members).for_each(|(part, &i)| *part = x[i]);
        let y = self.respond_small(k, &part);
        members.iter().zip(y).for_each(|(&i, y)| x[i] = y);
    }

    /// `x ← L⁻¹ x` for the velocities of block `k`.
    pub(crate) fn half_solve_block(&self, k: usize, x: &mut [f64]) {
        self.in_block(&self.blocks[k], x, |l, n, x| forward(l, n, x, false));
    }

    /// `M̃⁻¹ x` for the velocities of a small block.
    #[inline]
    pub(crate) fn respond_small(&self, k: usize, x: &[f64; SMALL_BLOCK]) -> [f64; SMALL_BLOCK] {
        let block = &self.blocks[k];
        let inverse = &self.inverse[block.entry..][..block.n * block.n];
        if let Ok(inverse) = <&[f64; SMALL_BLOCK * SMALL_BLOCK]>::try_from(inverse) {
            if block.is_diagonal {
                return std::array::from_fn(|i| inverse[(SMALL_BLOCK + 1) * i] * x[i]);
            }
            return std::array::from_fn(|i| {
                let [a, b, c, d, e, f] = std::array::from_fn(|j| inverse[SMALL_BLOCK * i + j] * x[j]);
                // summed in pairs, which do not wait for each other
                (a + b) + (c + d) + (e + f)
            });
        }
        let mut y = [0.0; SMALL_BLOCK];
        for (y, row) in y.iter_mut().zip(inverse.chunks_exact(block.n)) {
            *y = row.iter().zip(x).map(|(a, x)| a * x).sum();
        }
        y
    }

    /// `x ← M̃⁻¹ x` for the gathered velocities of one block.
    fn solve_gathered(&self, block: &MassBlock, x: &mut [f64]) {
        let (entry, n) = (block.entry, block.n);
        if self.is_symmetric() {
            let l = &self.cholesky[entry..][..n * n];
            forward(l, n, x, false);
            backward_transposed(l, n, x);
        } else {
            let lu = &self.lu[entry..][..n * n];
            forward(lu, n, x, true);
            backward(lu, n, x);
        }
    }

    /// Gathers the velocities of a block, applies `solve` with its Cholesky factor, and scatters them.
    fn in_block(&self, block: &MassBlock, x: &mut [f64], solve: impl Fn(&[f64], usize, &mut [f64])) {
        let members = &self.members[block.member..][..block.n];
        // single bodies and small groups stay on the stack
        let (mut small, mut large) = ([0.0; 48], Vec::new());
        let part = if block.n <= small.len() {
            &mut small[..block.n]
        } else {
            large.resize(block.n, 0.0);
            &mut large[..]
        };
        part.iter_mut().zip(members).for_each(|(p, &i)| *p = x[i]);
        solve(&self.cholesky[block.entry..][..block.n * block.n], block.n, part);
        part.iter().zip(members).for_each(|(p, &i)| x[i] = *p);
    }
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

/// Cholesky factor in the lower triangle; `false` if a pivot is at most [`INDEFINITE_PIVOT`] times its diagonal entry.
fn cholesky(a: &mut [f64], n: usize) -> bool {
    for j in 0..n {
        let diagonal = a[j * n + j];
        let pivot = diagonal - (0..j).map(|k| a[j * n + k].powi(2)).sum::<f64>();
        if !(diagonal > 0.0 && pivot > INDEFINITE_PIVOT * diagonal) {
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
