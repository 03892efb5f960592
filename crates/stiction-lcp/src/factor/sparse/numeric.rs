//! Numeric factorization and solution, panel by panel.

use super::Product;
use super::kernels::{
    Block, NodeVector, Pivots, add_products, backward, divide_lower, divide_upper, factor, forward, subtract,
    subtract_lower, subtract_upper,
};
use super::symbolic::{Panel, Symbolic};
use pulp::{Arch, Scalar, Simd, WithSimd};

/// Entries of a matrix, then its factors: blocks of up to C rows and columns, padded to P.
#[derive(Debug, Clone, Default)]
pub(super) struct Numeric<const C: usize, const P: usize> {
    /// L with the diagonal blocks.
    pub(super) lower: Vec<Block<C, P>>,
    /// Uᵀ in the places of L; zero on the diagonal.
    pub(super) upper: Vec<Block<C, P>>,
    pub(super) pivots: Vec<Pivots<C>>,
    x: Vec<NodeVector<P>>,
}

impl<const C: usize, const P: usize> Numeric<C, P> {
    /// Allocates all blocks, zero.
    pub(super) fn lay_out(&mut self, symbolic: &Symbolic) {
        self.lower.clear();
        self.lower.resize(symbolic.blocks, Block::ZERO);
        self.upper.clear();
        self.upper.resize(symbolic.blocks, Block::ZERO);
        self.pivots.resize(symbolic.node.len(), Pivots::NONE);
        self.x.clear();
        self.x.resize(symbolic.node.len(), NodeVector::ZERO);
    }

    pub(super) fn clear(&mut self) {
        self.lower.fill(Block::ZERO);
        self.upper.fill(Block::ZERO);
    }

    /// [`super::BlockMatrix::add_products`].
    pub(super) fn add_products(&mut self, products: &[Product], rows: &[[f64; 8]], columns: &[[f64; 8]]) {
        dispatch::<P, _>(AddProducts { numeric: self, products, rows, columns });
    }

    /// Factors panels whose predecessors are factored.
    pub(super) fn factor_panels(&mut self, symbolic: &Symbolic, panels: std::ops::Range<usize>) -> bool {
        dispatch::<P, _>(FactorPanels { numeric: self, symbolic, panels })
    }

    /// x ← A⁻¹ x; `starts` is the first entry of each node in x.
    pub(super) fn solve(&mut self, symbolic: &Symbolic, starts: &[usize], x: &mut [f64]) {
        for ((part, &i), &size) in self.x.iter_mut().zip(&symbolic.node).zip(&symbolic.sizes) {
            *part = NodeVector::ZERO;
            part.0[..size].copy_from_slice(&x[starts[i]..starts[i] + size]);
        }
        dispatch::<P, _>(SolvePanels { numeric: self, symbolic });
        for ((part, &i), &size) in self.x.iter().zip(&symbolic.node).zip(&symbolic.sizes) {
            x[starts[i]..starts[i] + size].copy_from_slice(&part.0[..size]);
        }
    }
}

/// Task on vector registers, R of them for a padded column of P numbers.
pub(super) trait SimdTask<const P: usize> {
    type Output;

    fn run<S: Simd, const R: usize>(self, simd: S) -> Self::Output;
}

/// Runs a task with the widest registers of the processor, in one dispatch.
pub(super) fn dispatch<const P: usize, K: SimdTask<P>>(task: K) -> K::Output {
    Arch::new().dispatch(DispatchedTask::<K, P>(task))
}

struct DispatchedTask<K, const P: usize>(K);

impl<K: SimdTask<P>, const P: usize> WithSimd for DispatchedTask<K, P> {
    type Output = K::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> K::Output {
        match P / S::F64_LANES {
            1 => self.0.run::<S, 1>(simd),
            2 => self.0.run::<S, 2>(simd),
            4 => self.0.run::<S, 4>(simd),
            // no vectors, or registers wider than a column
            _ => self.0.run::<Scalar, P>(Scalar::new()),
        }
    }
}

/// [`Numeric::add_products`] in one dispatch.
struct AddProducts<'a, const C: usize, const P: usize> {
    numeric: &'a mut Numeric<C, P>,
    products: &'a [Product],
    rows: &'a [[f64; 8]],
    columns: &'a [[f64; 8]],
}

impl<const C: usize, const P: usize> SimdTask<P> for AddProducts<'_, C, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        let Numeric { lower, upper, .. } = self.numeric;
        for &Product { slot, rows, columns, count } in self.products {
            let (rows, columns) = (&self.rows[rows..rows + count], &self.columns[columns..columns + count]);
            let at = slot.at as usize;
            if slot.upper {
                add_products::<S, R, C, P>(simd, &mut upper[at], columns, rows);
            } else {
                add_products::<S, R, C, P>(simd, &mut lower[at], rows, columns);
            }
        }
    }
}

/// [`Numeric::factor_panels`] in one dispatch.
struct FactorPanels<'a, const C: usize, const P: usize> {
    numeric: &'a mut Numeric<C, P>,
    symbolic: &'a Symbolic,
    panels: std::ops::Range<usize>,
}

impl<const C: usize, const P: usize> SimdTask<P> for FactorPanels<'_, C, P> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) -> bool {
        let Self { numeric: Numeric { lower, upper, pivots, .. }, symbolic, panels } = self;
        for panel in &symbolic.panels[panels] {
            let (done_lower, lower) = lower.split_at_mut(panel.base);
            let (done_upper, upper) = upper.split_at_mut(panel.base);
            let done = LowerUpper { lower: &*done_lower, upper: &*done_upper };
            let (lower, upper) = (&mut lower[..panel.blocks()], &mut upper[..panel.blocks()]);
            let mut own = LowerUpper { lower: &mut *lower, upper: &mut *upper };
            update::<S, R, C, P>(simd, symbolic, panel, done, None, &mut own);
            let nodes = panel.first..panel.first + panel.width;
            let (pivots, sizes) = (&mut pivots[nodes.clone()], &symbolic.sizes[nodes]);
            let (square_lower, below_lower) = lower.split_at_mut(panel.width * panel.width);
            let (square_upper, below_upper) = upper.split_at_mut(panel.width * panel.width);
            let mut square = LowerUpper { lower: &mut *square_lower, upper: &mut *square_upper };
            if !eliminate::<S, R, C, P>(simd, &mut square, pivots, sizes) {
                return false;
            }
            let square = LowerUpper { lower: &*square_lower, upper: &*square_upper };
            let mut below = LowerUpper { lower: below_lower, upper: below_upper };
            divide::<S, R, C, P>(simd, square, pivots, &mut below);
        }
        true
    }
}

/// Blocks of L and Uᵀ, of a panel or of some of its rows.
#[derive(Clone, Copy)]
pub(super) struct LowerUpper<T> {
    pub(super) lower: T,
    pub(super) upper: T,
}

/// Subtracts the products of earlier panels from a panel, or from some of its rows.
#[inline(always)]
pub(super) fn update<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    symbolic: &Symbolic,
    panel: &Panel,
    done: LowerUpper<&[Block<C, P>]>,
    some: Option<&std::ops::Range<usize>>,
    own: &mut LowerUpper<&mut [Block<C, P>]>,
) {
    let width = panel.width;
    let skipped = some.map_or(0, |rows| rows.start);
    for update in &symbolic.updates[panel.updates..panel.updates + panel.update_count] {
        let source = &symbolic.panels[update.source];
        let count = source.height - update.from;
        let places = &symbolic.places[update.places..update.places + count];
        let begin = source.base + (source.width + update.from) * source.width;
        let blocks = begin..begin + count * source.width;
        let (l, u) = (&done.lower[blocks.clone()], &done.upper[blocks]);
        let row = |i: usize| i * source.width..(i + 1) * source.width;
        // row by row: one row of the source and its few columns here stay in the caches
        let rows = match some {
            None => 0..count,
            Some(rows) => {
                places.partition_point(|&p| p < rows.start)..places.partition_point(|&p| p < rows.end)
            }
        };
        for i in rows {
            let to = (places[i] - skipped) * width;
            let (l_i, u_i) = (&l[row(i)], &u[row(i)]);
            for j in 0..update.columns.min(i) {
                let at = to + places[j];
                subtract::<S, R, C, P>(simd, &mut own.lower[at], l_i, &u[row(j)]);
                subtract::<S, R, C, P>(simd, &mut own.upper[at], u_i, &l[row(j)]);
            }
            if i < update.columns {
                subtract::<S, R, C, P>(simd, &mut own.lower[to + places[i]], l_i, u_i);
            }
        }
    }
}

/// Factors the square of a panel after all updates.
#[inline(always)]
pub(super) fn eliminate<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    square: &mut LowerUpper<&mut [Block<C, P>]>,
    pivots: &mut [Pivots<C>],
    sizes: &[usize],
) -> bool {
    let width = sizes.len();
    for c in 0..width {
        let (upto, below_lower) = square.lower.split_at_mut((c + 1) * width);
        let (l_c, diagonal) = upto[c * width..].split_at_mut(c);
        let (upto, below_upper) = square.upper.split_at_mut((c + 1) * width);
        let (u_c, diagonal) = (&upto[c * width..c * width + c], &mut diagonal[0]);
        if c > 0 {
            subtract::<S, R, C, P>(simd, diagonal, l_c, u_c);
        }
        let Some(pivot) = factor::<S, R, C, P>(simd, diagonal, sizes[c]) else { return false };
        pivots[c] = pivot;
        if c + 1 == width {
            break;
        }
        let column = LowerUpper { lower: &*l_c, upper: u_c };
        for (l, u) in below_lower.chunks_exact_mut(width).zip(below_upper.chunks_exact_mut(width)) {
            divide_row::<S, R, C, P>(simd, column, diagonal, &pivot, &mut LowerUpper { lower: l, upper: u });
        }
    }
    true
}

/// Divides rows below the square by it, four at a time: they stay in the first cache and do not depend on each other.
#[inline(always)]
pub(super) fn divide<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    square: LowerUpper<&[Block<C, P>]>,
    pivots: &[Pivots<C>],
    below: &mut LowerUpper<&mut [Block<C, P>]>,
) {
    let width = pivots.len();
    if let ([diagonal], [pivots]) = (square.lower, pivots) {
        // chains have panels of one column: the general loop would double their time
        for (lower, upper) in below.lower.iter_mut().zip(&mut *below.upper) {
            divide_lower::<S, R, C, P>(simd, lower, diagonal, pivots);
            divide_upper::<S, R, C, P>(simd, upper, diagonal, pivots);
        }
        return;
    }
    let few = 4 * width;
    for (lower, upper) in below.lower.chunks_mut(few).zip(below.upper.chunks_mut(few)) {
        for c in 0..width {
            let upto = c * width..c * width + c;
            let column = LowerUpper { lower: &square.lower[upto.clone()], upper: &square.upper[upto] };
            let diagonal = &square.lower[c * width + c];
            for (l, u) in lower.chunks_exact_mut(width).zip(upper.chunks_exact_mut(width)) {
                divide_row::<S, R, C, P>(
                    simd,
                    column,
                    diagonal,
                    &pivots[c],
                    &mut LowerUpper { lower: l, upper: u },
                );
            }
        }
    }
}

/// Block of a row in one column of its panel; the blocks before that column are known.
#[inline(always)]
fn divide_row<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    column: LowerUpper<&[Block<C, P>]>,
    diagonal: &Block<C, P>,
    pivots: &Pivots<C>,
    row: &mut LowerUpper<&mut [Block<C, P>]>,
) {
    let c = column.lower.len();
    let (left, block) = row.lower.split_at_mut(c);
    if c > 0 {
        subtract::<S, R, C, P>(simd, &mut block[0], left, column.upper);
    }
    divide_lower::<S, R, C, P>(simd, &mut block[0], diagonal, pivots);
    let (left, block) = row.upper.split_at_mut(c);
    if c > 0 {
        subtract::<S, R, C, P>(simd, &mut block[0], left, column.lower);
    }
    divide_upper::<S, R, C, P>(simd, &mut block[0], diagonal, pivots);
}

/// [`Numeric::solve`] in one dispatch.
struct SolvePanels<'a, const C: usize, const P: usize> {
    numeric: &'a mut Numeric<C, P>,
    symbolic: &'a Symbolic,
}

impl<const C: usize, const P: usize> SimdTask<P> for SolvePanels<'_, C, P> {
    type Output = ();

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
