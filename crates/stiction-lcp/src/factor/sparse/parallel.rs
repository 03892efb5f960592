//! Large panels factored in parallel, with the same bits as on one thread.
//!
//! Each block is computed by one task, which subtracts from it in the same order whatever the number of threads is.
//! Minimum degree puts most of the work into few panels at the end. These are split by rows: one task updates and factors
//! the square while others update rows below it; then all rows are divided by the square.

use super::kernels::{Block, Pivots};
use super::numeric::{LowerUpper, Numeric, SimdTask, dispatch, divide, eliminate, update};
use super::symbolic::{Panel, Symbolic};
use pulp::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// Number of multiplications in a panel from which on it is factored in parallel. Sensible range 2e5 to 2e7: lower pays
/// more for waking threads than it saves, higher leaves threads idle.
const PARALLEL_PANEL_FLOPS: usize = 2_000_000;

/// Tasks per thread: several, so that threads that finish early take over rows from the one that factors the square.
const TASKS_PER_THREAD: usize = 4;

/// `true` if a panel with blocks of C rows and columns is worth factoring in parallel.
pub(super) fn is_parallel<const C: usize>(panel: &Panel) -> bool {
    panel.products * C * C * C >= PARALLEL_PANEL_FLOPS
}

impl<const C: usize, const P: usize> Numeric<C, P> {
    /// Factors all panels, large ones on the threads of the current rayon pool.
    pub(super) fn factor(&mut self, symbolic: &Symbolic) -> bool {
        let threads = rayon::current_num_threads();
        let mut begin = 0;
        for (k, panel) in symbolic.panels.iter().enumerate() {
            if threads > 1 && is_parallel::<C>(panel) {
                if !self.factor_panels(symbolic, begin..k)
                    || !self.factor_in_parallel(symbolic, panel, threads)
                {
                    return false;
                }
                begin = k + 1;
            }
        }
        self.factor_panels(symbolic, begin..symbolic.panels.len())
    }

    fn factor_in_parallel(&mut self, symbolic: &Symbolic, panel: &Panel, threads: usize) -> bool {
        let (width, height) = (panel.width, panel.height);
        let (done_lower, lower) = self.lower.split_at_mut(panel.base);
        let (done_upper, upper) = self.upper.split_at_mut(panel.base);
        let done = LowerUpper { lower: &*done_lower, upper: &*done_upper };
        let (square_lower, below_lower) = lower[..panel.blocks()].split_at_mut(width * width);
        let (square_upper, below_upper) = upper[..panel.blocks()].split_at_mut(width * width);
        let nodes = panel.first..panel.first + width;
        let (pivots, sizes) = (&mut self.pivots[nodes.clone()], &symbolic.sizes[nodes]);
        let rows_per_task = height.div_ceil(TASKS_PER_THREAD * threads).max(1);
        let task = rows_per_task * width;
        let (regular, ()) = rayon::join(
            || {
                let mut own = LowerUpper { lower: &mut *square_lower, upper: &mut *square_upper };
                dispatch(UpdateRows { symbolic, panel, done, rows: 0..width, own: &mut own });
                dispatch(EliminateSquare { square: &mut own, pivots: &mut *pivots, sizes })
            },
            || {
                let rows = below_lower.par_chunks_mut(task).zip(below_upper.par_chunks_mut(task));
                rows.enumerate().for_each(|(k, (lower, upper))| {
                    let first = width + k * rows_per_task;
                    let rows = first..first + lower.len() / width;
                    dispatch(UpdateRows {
                        symbolic,
                        panel,
                        done,
                        rows,
                        own: &mut LowerUpper { lower, upper },
                    });
                });
            },
        );
        if !regular {
            return false;
        }
        let square = LowerUpper::<&[_]> { lower: square_lower, upper: square_upper };
        let pivots: &[_] = pivots;
        let rows = below_lower.par_chunks_mut(task).zip(below_upper.par_chunks_mut(task));
        rows.for_each(|(lower, upper)| {
            dispatch(DivideRows { square, pivots, below: &mut LowerUpper { lower, upper } });
        });
        true
    }
}

struct UpdateRows<'a, 'b, const C: usize, const P: usize> {
    symbolic: &'a Symbolic,
    panel: &'a Panel,
    done: LowerUpper<&'a [Block<C, P>]>,
    rows: Range<usize>,
    own: &'a mut LowerUpper<&'b mut [Block<C, P>]>,
}

impl<const C: usize, const P: usize> SimdTask<P> for UpdateRows<'_, '_, C, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        update::<S, R, C, P>(simd, self.symbolic, self.panel, self.done, Some(&self.rows), self.own);
    }
}

struct EliminateSquare<'a, 'b, const C: usize, const P: usize> {
    square: &'a mut LowerUpper<&'b mut [Block<C, P>]>,
    pivots: &'a mut [Pivots<C>],
    sizes: &'a [usize],
}

impl<const C: usize, const P: usize> SimdTask<P> for EliminateSquare<'_, '_, C, P> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) -> bool {
        eliminate::<S, R, C, P>(simd, self.square, self.pivots, self.sizes)
    }
}

struct DivideRows<'a, 'b, const C: usize, const P: usize> {
    square: LowerUpper<&'a [Block<C, P>]>,
    pivots: &'a [Pivots<C>],
    below: &'a mut LowerUpper<&'b mut [Block<C, P>]>,
}

impl<const C: usize, const P: usize> SimdTask<P> for DivideRows<'_, '_, C, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        divide::<S, R, C, P>(simd, self.square, self.pivots, self.below);
    }
}
