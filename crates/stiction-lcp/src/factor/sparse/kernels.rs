//! Arithmetic of blocks on vector registers.
//!
//! A block has C columns of P numbers each, P / R in a register. Above the diagonal blocks are stored transposed, so that
//! L and Uᵀ are treated alike.

use pulp::Simd;

/// Padded block, aligned to cache lines: loads across lines take twice as long.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Block<const C: usize, const P: usize>(pub(super) [[f64; P]; C]);

impl<const C: usize, const P: usize> Block<C, P> {
    pub(super) const ZERO: Self = Self([[0.0; P]; C]);
}

/// Entries of a vector that belong to a node, padded.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct NodeVector<const P: usize>(pub(super) [f64; P]);

impl<const P: usize> NodeVector<P> {
    pub(super) const ZERO: Self = Self([0.0; P]);
}

/// Pivots of a diagonal block: 1 / u_jj, and the row that became row j.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pivots<const C: usize> {
    pub(super) reciprocal: [f64; C],
    pub(super) row: [usize; C],
}

impl<const C: usize> Pivots<C> {
    pub(super) const NONE: Self = Self { reciprocal: [0.0; C], row: [0; C] };
}

/// Block in registers.
type Columns<S, const R: usize, const C: usize> = [[<S as Simd>::f64s; R]; C];

#[inline(always)]
fn load<S: Simd, const R: usize, const P: usize>(column: &[f64; P]) -> [S::f64s; R] {
    let (registers, _) = S::as_simd_f64s(column);
    let mut loaded = [registers[0]; R];
    loaded.copy_from_slice(&registers[..R]);
    loaded
}

#[inline(always)]
fn store<S: Simd, const R: usize, const P: usize>(registers: [S::f64s; R], column: &mut [f64; P]) {
    let (column, _) = S::as_mut_simd_f64s(column);
    column[..R].copy_from_slice(&registers);
}

#[inline(always)]
fn add_multiple<S: Simd, const R: usize>(simd: S, a: f64, x: [S::f64s; R], y: &mut [S::f64s; R]) {
    let a = simd.splat_f64s(a);
    for r in 0..R {
        y[r] = simd.mul_add_e_f64s(x[r], a, y[r]);
    }
}

#[inline(always)]
fn negated<S: Simd, const R: usize>(simd: S, mut x: [S::f64s; R]) -> [S::f64s; R] {
    for x in &mut x {
        *x = simd.neg_f64s(*x);
    }
    x
}

/// `target − Σ_k left_k right_kᵀ`, in registers: the sums stay there while the blocks pass.
#[inline(always)]
fn less_products<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    target: &Block<C, P>,
    left: &[Block<C, P>],
    right: &[Block<C, P>],
) -> Columns<S, R, C> {
    let mut sums = [[simd.splat_f64s(0.0); R]; C];
    for (left, right) in left.iter().zip(right) {
        for (x, factors) in left.0.iter().zip(&right.0) {
            let x = load::<S, R, P>(x);
            for n in 0..C {
                add_multiple(simd, factors[n], x, &mut sums[n]);
            }
        }
    }
    for (sum, start) in sums.iter_mut().zip(&target.0) {
        let start = load::<S, R, P>(start);
        for r in 0..R {
            sum[r] = simd.sub_f64s(start[r], sum[r]);
        }
    }
    sums
}

/// `target ← target − Σ_k left_k right_kᵀ`
#[inline(always)]
pub(super) fn subtract<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    target: &mut Block<C, P>,
    left: &[Block<C, P>],
    right: &[Block<C, P>],
) {
    let result = less_products::<S, R, C, P>(simd, target, left, right);
    for (result, column) in result.into_iter().zip(&mut target.0) {
        store::<S, R, P>(result, column);
    }
}

/// `target ← target + Σ_k x_k f_kᵀ`, the columns of `target` being along x.
#[inline(always)]
pub(super) fn add_products<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    target: &mut Block<C, P>,
    x: &[[f64; 8]],
    factors: &[[f64; 8]],
) {
    let mut sums = [[simd.splat_f64s(0.0); R]; C];
    for (sum, column) in sums.iter_mut().zip(&target.0) {
        *sum = load::<S, R, P>(column);
    }
    for (x, factors) in x.iter().zip(factors) {
        let Some(x) = x.first_chunk::<P>() else { continue };
        let x = load::<S, R, P>(x);
        for n in 0..C {
            add_multiple(simd, factors[n], x, &mut sums[n]);
        }
    }
    for (sum, column) in sums.into_iter().zip(&mut target.0) {
        store::<S, R, P>(sum, column);
    }
}

/// `A ← A U⁻¹` with the factor U of a diagonal block, for a block below it.
#[inline(always)]
pub(super) fn divide_lower<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    block: &mut Block<C, P>,
    diagonal: &Block<C, P>,
    pivots: &Pivots<C>,
) {
    let mut x = [[simd.splat_f64s(0.0); R]; C];
    for (x, column) in x.iter_mut().zip(&block.0) {
        *x = load::<S, R, P>(column);
    }
    for j in 0..C {
        let over = simd.splat_f64s(pivots.reciprocal[j]);
        for r in 0..R {
            x[j][r] = simd.mul_f64s(x[j][r], over);
        }
        store::<S, R, P>(x[j], &mut block.0[j]);
        let known = negated(simd, x[j]);
        for m in j + 1..C {
            add_multiple(simd, diagonal.0[m][j], known, &mut x[m]);
        }
    }
}

/// `A ← L⁻¹ P A` with the factor L of a diagonal block, for a block right of it, which is stored transposed.
#[inline(always)]
pub(super) fn divide_upper<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    block: &mut Block<C, P>,
    diagonal: &Block<C, P>,
    pivots: &Pivots<C>,
) {
    let mut x = [[simd.splat_f64s(0.0); R]; C];
    for (x, &row) in x.iter_mut().zip(&pivots.row) {
        *x = load::<S, R, P>(&block.0[row]);
    }
    for j in 0..C {
        store::<S, R, P>(x[j], &mut block.0[j]);
        let known = negated(simd, x[j]);
        for m in j + 1..C {
            add_multiple(simd, diagonal.0[j][m], known, &mut x[m]);
        }
    }
}

/// Ratio to the largest entry below it above which a diagonal entry is taken as pivot [-]: a search for larger pivots
/// takes as long as the rest of the factorization. Sensible range 0.01 to 1: lower loses digits, higher searches often.
const DIAGONAL_PIVOT_RATIO: f64 = 0.1;

/// `P A = L U` of a diagonal block with its first `size` rows and columns; `None` if it is singular.
#[inline(always)]
pub(super) fn factor<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    block: &mut Block<C, P>,
    size: usize,
) -> Option<Pivots<C>> {
    // the padding is a unit matrix
    for j in size..C {
        block.0[j][j] = 1.0;
    }
    let start = *block;
    if let Some(pivots) = factor_straight::<S, R, C, P>(simd, block) {
        return Some(pivots);
    }
    *block = start;
    factor_pivoting::<S, R, C, P>(simd, block)
}

/// Factorization with the pivots on the diagonal; `None` if one of them is small, and then the block is overwritten.
#[inline(always)]
fn factor_straight<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    block: &mut Block<C, P>,
) -> Option<Pivots<C>> {
    let a = &mut block.0;
    let mut pivots = Pivots::NONE;
    for j in 0..C {
        let (column, mask) = (load::<S, R, P>(&a[j]), load::<S, R, P>(&below::<C, P>()[j]));
        let mut under = column;
        let (mut all, mut greatest) = (simd.splat_f64s(0.0), simd.splat_f64s(0.0));
        for r in 0..R {
            under[r] = simd.mul_f64s(column[r], mask[r]);
            all = simd.max_f64s(all, simd.abs_f64s(column[r]));
            greatest = simd.max_f64s(greatest, simd.abs_f64s(under[r]));
        }
        let pivot = a[j][j];
        let least = (DIAGONAL_PIVOT_RATIO * simd.reduce_max_f64s(greatest))
            .max(f64::EPSILON * simd.reduce_max_f64s(all));
        // written so that NaN is refused
        if !(pivot.abs() > least && pivot.is_finite()) {
            return None;
        }
        let over = 1.0 / pivot;
        (pivots.row[j], pivots.reciprocal[j]) = (j, over);
        let over = simd.splat_f64s(over);
        let (mut factor, mut whole) = (under, column);
        for r in 0..R {
            factor[r] = simd.mul_f64s(under[r], over);
            // U and the pivot as they are, L below them
            whole[r] = simd.add_f64s(simd.sub_f64s(column[r], under[r]), factor[r]);
        }
        store::<S, R, P>(whole, &mut a[j]);
        let factor = negated(simd, factor);
        for m in j + 1..C {
            let mut other = load::<S, R, P>(&a[m]);
            add_multiple(simd, a[m][j], factor, &mut other);
            store::<S, R, P>(other, &mut a[m]);
        }
    }
    Some(pivots)
}

/// One below the diagonal, zero elsewhere, column by column.
#[inline(always)]
const fn below<const C: usize, const P: usize>() -> &'static [[f64; P]; C] {
    const {
        let mut mask = [[0.0; P]; C];
        let mut j = 0;
        while j < C {
            let mut i = j + 1;
            while i < C {
                mask[j][i] = 1.0;
                i += 1;
            }
            j += 1;
        }
        &{ mask }
    }
}

/// Factorization with the largest pivots. Rows are permuted only at the end; until then rows that were pivots are
/// skipped.
#[inline(always)]
fn factor_pivoting<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    block: &mut Block<C, P>,
) -> Option<Pivots<C>> {
    let mut a = block.0;
    let mut l = [[0.0; P]; C];
    let mut open = [1.0; P];
    let mut pivots = Pivots::NONE;
    for j in 0..C {
        let (mut row, mut greatest, mut all) = (0, 0.0, 0.0);
        for i in 0..C {
            let value = a[j][i].abs();
            let candidate = value * open[i];
            all = if value > all { value } else { all };
            (row, greatest) = if candidate > greatest { (i, candidate) } else { (row, greatest) };
        }
        // a pivot below the rounding error of its column counts as zero; written so that NaN is refused
        if !(greatest > f64::EPSILON * all && greatest.is_finite()) {
            return None;
        }
        open[row] = 0.0;
        let over = 1.0 / a[j][row];
        (pivots.row[j], pivots.reciprocal[j]) = (row, over);
        let (column, open) = (load::<S, R, P>(&a[j]), load::<S, R, P>(&open));
        let (over, mut factor) = (simd.splat_f64s(over), column);
        for r in 0..R {
            factor[r] = simd.mul_f64s(simd.mul_f64s(column[r], over), open[r]);
        }
        store::<S, R, P>(factor, &mut l[j]);
        for m in j + 1..C {
            let mut other = load::<S, R, P>(&a[m]);
            add_multiple(simd, -a[m][row], factor, &mut other);
            store::<S, R, P>(other, &mut a[m]);
        }
    }
    for m in 0..C {
        for j in 0..C {
            let row = pivots.row[j];
            block.0[m][j] = if j <= m { a[m][row] } else { l[m][row] };
        }
    }
    Some(pivots)
}

/// `x ← L⁻¹ P x`
#[inline(always)]
pub(super) fn forward<const C: usize, const P: usize>(
    diagonal: &Block<C, P>,
    pivots: &Pivots<C>,
    x: &mut NodeVector<P>,
) {
    let mut y = [0.0; C];
    for j in 0..C {
        y[j] = x.0[pivots.row[j]];
    }
    for j in 0..C {
        for m in j + 1..C {
            y[m] -= diagonal.0[j][m] * y[j];
        }
        x.0[j] = y[j];
    }
}

/// `x ← U⁻¹ x`
#[inline(always)]
pub(super) fn backward<const C: usize, const P: usize>(
    diagonal: &Block<C, P>,
    pivots: &Pivots<C>,
    x: &mut NodeVector<P>,
) {
    for j in (0..C).rev() {
        x.0[j] *= pivots.reciprocal[j];
        for m in 0..j {
            x.0[m] -= diagonal.0[j][m] * x.0[j];
        }
    }
}

/// `y ← y − Σ_k L_k x_k`
#[inline(always)]
pub(super) fn subtract_lower<S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    y: &mut NodeVector<P>,
    blocks: &[Block<C, P>],
    x: &[NodeVector<P>],
) {
    let zero = [simd.splat_f64s(0.0); R];
    // two sums: one would wait for itself
    let mut sums = [zero; 2];
    for (block, x) in blocks.iter().zip(x) {
        for m in 0..C {
            add_multiple(simd, x.0[m], load::<S, R, P>(&block.0[m]), &mut sums[m & 1]);
        }
    }
    let mut result = load::<S, R, P>(&y.0);
    for r in 0..R {
        result[r] = simd.sub_f64s(result[r], simd.add_f64s(sums[0][r], sums[1][r]));
    }
    store::<S, R, P>(result, &mut y.0);
}

/// `y ← y − Σ_k U_k x_k` over blocks and parts that are stored transposed.
#[inline(always)]
pub(super) fn subtract_upper<'a, S: Simd, const R: usize, const C: usize, const P: usize>(
    simd: S,
    y: &mut NodeVector<P>,
    terms: impl Iterator<Item = (&'a Block<C, P>, &'a NodeVector<P>)>,
) {
    let mut sums = [[simd.splat_f64s(0.0); R]; C];
    for (block, x) in terms {
        let x = load::<S, R, P>(&x.0);
        for m in 0..C {
            let column = load::<S, R, P>(&block.0[m]);
            for r in 0..R {
                sums[m][r] = simd.mul_add_e_f64s(column[r], x[r], sums[m][r]);
            }
        }
    }
    for m in 0..C {
        let mut sum = sums[m][0];
        for r in 1..R {
            sum = simd.add_f64s(sum, sums[m][r]);
        }
        y.0[m] -= simd.reduce_sum_f64s(sum);
    }
}
