//! Mass matrix M̃ of a step problem: its entries, its factor, and the responses of rows. The factorization itself is
//! in `crate::factor`.

use super::{Layout, Malformed, Row, StepProblem, Term};
use crate::factor::MassFactor;

impl MassFactor {
    /// Factors M̃ of a problem. The error names the body whose symmetric part is not positive definite.
    pub fn new(problem: &StepProblem) -> Result<Self, Malformed> {
        let mut factor = Self::default();
        factor.factor(problem, &problem.layout())?;
        Ok(factor)
    }

    /// [`MassFactor::new`] for a problem with this layout, in the storage of the last factorization.
    pub fn factor(&mut self, problem: &StepProblem, layout: &Layout) -> Result<(), Malformed> {
        self.lay_out(&layout.velocity, problem.pairs.iter().map(|pair| (pair.a, pair.b)));
        if problem.pairs.is_empty() {
            for (k, body) in problem.bodies.iter().enumerate() {
                self.set_block(k, |i, j| body.mass[(i, j)]);
            }
        } else {
            for_each_entry(problem, &layout.velocity, |i, j, x| self.add_entry(i, j, x));
        }
        self.factor_blocks(problem.is_symmetric()).map_err(|block| {
            let place = block_name(self.members(block), layout);
            Malformed::at(place, "its symmetric part is not positive definite")
        })
    }

    /// `out ← M̃⁻¹ Jᵀ` of a row. Entries of `out` that the row reaches must be zero.
    pub(crate) fn respond(&self, row: &Row, start: &[usize], out: &mut [f64]) {
        row.add_transposed(start, 1.0, out);
        self.for_each_block(row, start, |block| self.solve_block(block, out));
    }

    /// `out ← L⁻¹ Jᵀ` of a row. Entries of `out` that the row reaches must be zero.
    pub(crate) fn half_respond(&self, row: &Row, start: &[usize], out: &mut [f64]) {
        row.add_transposed(start, 1.0, out);
        self.for_each_block(row, start, |block| self.half_solve_block(block, out));
    }

    /// Sets `out` to zero again after [`MassFactor::respond`].
    pub(crate) fn clear(&self, row: &Row, start: &[usize], out: &mut [f64]) {
        self.for_each_block(row, start, |block| self.members(block).iter().for_each(|&i| out[i] = 0.0));
    }

    /// Visits each block that the row reaches, once.
    fn for_each_block(&self, row: &Row, start: &[usize], mut visit: impl FnMut(usize)) {
        match row {
            Row::Bodies(terms) => {
                let first = self.block_of(start[terms[0].body]);
                visit(first);
                let second = terms.get(1).map(|t| self.block_of(start[t.body]));
                if let Some(second) = second.filter(|&second| second != first) {
                    visit(second);
                }
            }
            Row::Sparse(entries) => {
                let mut blocks: Vec<usize> = entries.iter().map(|&(i, _)| self.block_of(i)).collect();
                blocks.sort_unstable();
                blocks.dedup();
                blocks.into_iter().for_each(visit);
            }
        }
    }

    /// `J M̃⁻¹ Jᵀ` of at most three rows. `room` is zero before and after.
    pub(crate) fn mobility<'r>(
        &self,
        rows: &(impl Iterator<Item = &'r Row> + Clone),
        start: &[usize],
        room: &mut [f64],
    ) -> [[f64; 3]; 3] {
        let own_block = |term: &Term| self.own_block(start[term.body], start[term.body + 1]);
        let mut w = [[0.0; 3]; 3];
        for (k, row) in rows.clone().enumerate() {
            if let Row::Bodies(terms) = row
                && terms.iter().all(|term| own_block(term).is_some())
            {
                // a symmetric matrix is computed by halves
                let first = if self.is_symmetric() { k } else { 0 };
                for term in terms {
                    let Some(block) = own_block(term) else { continue };
                    let y = Term { body: term.body, j: self.respond_small(block, &term.j) };
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
}

impl StepProblem {
    /// `out = M̃ v`.
    pub fn multiply_mass(&self, start: &[usize], v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for_each_entry(self, start, |i, j, x| out[i] += x * v[j]);
    }

    /// `out = M̃ v`, and `size += |M̃| |v|`, the measure of its rounding error.
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

/// Name of the bodies of a block, for messages.
fn block_name(members: &[usize], layout: &Layout) -> String {
    let start = &layout.velocity;
    let bodies: Vec<usize> = (0..start.len() - 1).filter(|&b| members.contains(&start[b])).collect();
    match bodies.as_slice() {
        [body] => format!("bodies[{body}].mass"),
        many => format!("bodies {many:?} coupled by pairs"),
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
