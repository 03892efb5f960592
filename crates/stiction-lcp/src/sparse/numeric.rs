//! Factors and solutions, panel by panel.

use super::kernels::{
    Block, Part, Pivots, backward, divide_lower, divide_upper, factor, forward, subtract, subtract_lower,
    subtract_upper,
};
use super::symbolic::{Panel, Symbolic};
use pulp::{Arch, Scalar, Simd, WithSimd};

/// The entries of a matrix, then its factors: blocks of up to C rows and columns, padded to P.
#[derive(Debug, Clone, Default)]
pub(super) struct Numeric<const C: usize, const P: usize> {
    /// L, and the diagonal with it.
    pub(super) lower: Vec<Block<C, P>>,
    /// Uᵀ at the places of L; nothing on the diagonal.
    pub(super) upper: Vec<Block<C, P>>,
    pivots: Vec<Pivots<C>>,
    x: Vec<Part<P>>,
}

impl<const C: usize, const P: usize> Numeric<C, P> {
    /// Makes room, all zero.
    pub(super) fn lay_out(&mut self, symbolic: &Symbolic) {
        self.lower.clear();
        self.lower.resize(symbolic.blocks, Block::ZERO);
        self.upper.clear();
        self.upper.resize(symbolic.blocks, Block::ZERO);
        self.pivots.resize(symbolic.node.len(), Pivots::NONE);
        self.x.clear();
        self.x.resize(symbolic.node.len(), Part::ZERO);
    }

    pub(super) fn clear(&mut self) {
        self.lower.fill(Block::ZERO);
        self.upper.fill(Block::ZERO);
    }

    pub(super) fn factor(&mut self, symbolic: &Symbolic) -> bool {
        Arch::new().dispatch(Factor { numeric: self, symbolic })
    }

    /// x ← A⁻¹ x; `starts` says where each node's part of x begins.
    pub(super) fn solve(&mut self, symbolic: &Symbolic, starts: &[usize], x: &mut [f64]) {
        for ((part, &i), &size) in self.x.iter_mut().zip(&symbolic.node).zip(&symbolic.sizes) {
            *part = Part::ZERO;
            part.0[..size].copy_from_slice(&x[starts[i]..starts[i] + size]);
        }
        Arch::new().dispatch(Solve { numeric: self, symbolic });
        for ((part, &i), &size) in self.x.iter().zip(&symbolic.node).zip(&symbolic.sizes) {
            x[starts[i]..starts[i] + size].copy_from_slice(&part.0[..size]);
        }
    }
}

/// [`Numeric::factor`] as one dispatch.
struct Factor<'a, const C: usize, const P: usize> {
    numeric: &'a mut Numeric<C, P>,
    symbolic: &'a Symbolic,
}

impl<const C: usize, const P: usize> WithSimd for Factor<'_, C, P> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        match P / S::F64_LANES {
            1 => self.run::<S, 1>(simd),
            2 => self.run::<S, 2>(simd),
            4 => self.run::<S, 4>(simd),
            // no vectors, or registers wider than a column
            _ => self.run::<Scalar, P>(Scalar::new()),
        }
    }
}

impl<const C: usize, const P: usize> Factor<'_, C, P> {
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) -> bool {
        let Self { numeric: Numeric { lower, upper, pivots, .. }, symbolic } = self;
        for panel in &symbolic.panels {
            let (done_lower, lower) = lower.split_at_mut(panel.base);
            let (done_upper, upper) = upper.split_at_mut(panel.base);
            let done = (&*done_lower, &*done_upper);
            let mut own = Sides { lower: &mut lower[..panel.blocks()], upper: &mut upper[..panel.blocks()] };
            update::<S, R, C, P>(simd, symbolic, panel, done, &mut own);
            let nodes = panel.first..panel.first + panel.width;
            let (pivots, sizes) = (&mut pivots[nodes.clone()], &symbolic.sizes[nodes]);
            if !eliminate::<S, R, C, P>(simd, &mut own, panel.width, pivots, sizes) {
                return false;
            }
        }
        true
    }
}

/// The blocks of a panel.
struct Sides<'a, const C: usize, const P: usize> {
    lower: &'a mut [Block<C, P>],
    upper: &'a mut [Block<C, P>],
}

/// Subtracts what earlier panels couple.
#[inline(always)]
fn update<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    symbolic: &Symbolic,
    panel: &Panel,
    done: (&[Block<C, P>], &[Block<C, P>]),
    own: &mut Sides<C, P>,
) {
    let width = panel.width;
    for update in &symbolic.updates[panel.updates..panel.updates + panel.update_count] {
        let source = &symbolic.panels[update.source];
        let count = source.height - update.from;
        let places = &symbolic.places[update.places..update.places + count];
        let begin = source.base + (source.width + update.from) * source.width;
        let blocks = begin..begin + count * source.width;
        let (l, u) = (&done.0[blocks.clone()], &done.1[blocks]);
        let row = |i: usize| i * source.width..(i + 1) * source.width;
        for j in 0..update.columns {
            let (l_j, u_j) = (&l[row(j)], &u[row(j)]);
            let column = places[j];
            subtract::<S, R, C, P>(simd, &mut own.lower[column * width + column], l_j, u_j);
            for i in j + 1..count {
                let at = places[i] * width + column;
                subtract::<S, R, C, P>(simd, &mut own.lower[at], &l[row(i)], u_j);
                subtract::<S, R, C, P>(simd, &mut own.upper[at], &u[row(i)], l_j);
            }
        }
    }
}

/// Factors a panel that has received all updates.
#[inline(always)]
fn eliminate<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    own: &mut Sides<C, P>,
    width: usize,
    pivots: &mut [Pivots<C>],
    sizes: &[usize],
) -> bool {
    for c in 0..width {
        let (upto_l, below_l) = own.lower.split_at_mut((c + 1) * width);
        let (upto_u, below_u) = own.upper.split_at_mut((c + 1) * width);
        let (l_c, diagonal) = upto_l[c * width..].split_at_mut(c);
        let (u_c, diagonal) = (&upto_u[c * width..c * width + c], &mut diagonal[0]);
        subtract::<S, R, C, P>(simd, diagonal, l_c, u_c);
        let Some(pivot) = factor::<S, R, C, P>(simd, diagonal, sizes[c]) else { return false };
        pivots[c] = pivot;
        for (l, u) in below_l.chunks_exact_mut(width).zip(below_u.chunks_exact_mut(width)) {
            let (left, block) = l.split_at_mut(c);
            subtract::<S, R, C, P>(simd, &mut block[0], left, u_c);
            divide_lower::<S, R, C, P>(simd, &mut block[0], diagonal, &pivot);
            let (left, block) = u.split_at_mut(c);
            subtract::<S, R, C, P>(simd, &mut block[0], left, l_c);
            divide_upper::<S, R, C, P>(simd, &mut block[0], diagonal, &pivot);
        }
    }
    true
}

/// [`Numeric::solve`] as one dispatch.
struct Solve<'a, const C: usize, const P: usize> {
    numeric: &'a mut Numeric<C, P>,
    symbolic: &'a Symbolic,
}

impl<const C: usize, const P: usize> WithSimd for Solve<'_, C, P> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match P / S::F64_LANES {
            1 => self.run::<S, 1>(simd),
            2 => self.run::<S, 2>(simd),
            4 => self.run::<S, 4>(simd),
            // no vectors, or registers wider than a column
            _ => self.run::<Scalar, P>(Scalar::new()),
        }
    }
}

impl<const C: usize, const P: usize> Solve<'_, C, P> {
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        let Self { numeric: Numeric { lower, upper, pivots, x }, symbolic } = self;
        for panel in &symbolic.panels {
            let (first, width) = (panel.first, panel.width);
            let own = &lower[panel.base..panel.base + panel.blocks()];
            let (upto, above) = x.split_at_mut(first + width);
            let square = &mut upto[first..];
            for c in 0..width {
                let (known, part) = square.split_at_mut(c);
                let row = &own[c * width..];
                subtract_lower::<S, R, C, P>(simd, &mut part[0], &row[..c], known);
                forward(&row[c], &pivots[first + c], &mut part[0]);
            }
            let rows = &symbolic.rows[panel.rows..panel.rows + panel.height];
            for (blocks, &p) in own[width * width..].chunks_exact(width).zip(rows) {
                subtract_lower::<S, R, C, P>(simd, &mut above[p - first - width], blocks, square);
            }
        }
        for panel in symbolic.panels.iter().rev() {
            let (first, width) = (panel.first, panel.width);
            let own = &upper[panel.base..panel.base + panel.blocks()];
            let rows = &symbolic.rows[panel.rows..panel.rows + panel.height];
            for c in (0..width).rev() {
                let (upto, known) = x.split_at_mut(first + c + 1);
                let known = &*known;
                let square = (c + 1..width).map(|r| (&own[r * width + c], &known[r - c - 1]));
                let below = own[width * width..].chunks_exact(width).zip(rows);
                let below = below.map(|(blocks, &p)| (&blocks[c], &known[p - first - c - 1]));
                subtract_upper::<S, R, C, P>(simd, &mut upto[first + c], square.chain(below));
                let diagonal = &lower[panel.base + c * width + c];
                backward(diagonal, &pivots[first + c], &mut upto[first + c]);
            }
        }
    }
}
