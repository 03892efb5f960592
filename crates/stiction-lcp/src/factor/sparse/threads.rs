//! Large panels factored by several threads, with the same answer bit by bit as by one.
//!
//! Each block is the business of one thread, which subtracts from it in the same order whatever the number of
//! threads is. Minimum degree puts most of the work into few panels at the end, so it is these that are shared,
//! by rows: the first thread factors the square and hands it to the others, which have updated theirs meanwhile.

use super::kernels::{Block, Pivots};
use super::numeric::{Numeric, Run, Sides, dispatch, divide, eliminate, update};
use super::symbolic::{Panel, Symbolic};
use pulp::Simd;
use std::ops::Range;
use std::sync::mpsc::channel;

/// Multiplications in a panel from which on it is shared: about five times what it takes to start a thread.
const SHARED: usize = 2_000_000;

/// Whether a panel is worth sharing, with blocks of C rows and columns.
pub(super) fn is_shared<const C: usize>(panel: &Panel) -> bool {
    panel.products * C * C * C >= SHARED
}

impl<const C: usize, const P: usize> Numeric<C, P> {
    /// Factors all panels, by so many threads where it is worth it.
    pub(super) fn factor_on(&mut self, symbolic: &Symbolic, threads: usize) -> bool {
        let mut begin = 0;
        for (k, panel) in symbolic.panels.iter().enumerate() {
            if threads > 1 && is_shared::<C>(panel) {
                if !self.factor_panels(symbolic, begin..k) || !self.share(symbolic, panel, threads) {
                    return false;
                }
                begin = k + 1;
            }
        }
        self.factor_panels(symbolic, begin..symbolic.panels.len())
    }

    fn share(&mut self, symbolic: &Symbolic, panel: &Panel, threads: usize) -> bool {
        let (width, height) = (panel.width, panel.height);
        let (done_lower, lower) = self.lower.split_at_mut(panel.base);
        let (done_upper, upper) = self.upper.split_at_mut(panel.base);
        let done = Sides { lower: &*done_lower, upper: &*done_upper };
        let (square_lower, below_lower) = lower[..panel.blocks()].split_at_mut(width * width);
        let (square_upper, below_upper) = upper[..panel.blocks()].split_at_mut(width * width);
        let nodes = panel.first..panel.first + width;
        let (pivots, sizes) = (&mut self.pivots[nodes.clone()], &symbolic.sizes[nodes]);
        // as many rows for each, the first has the square among them
        let rows = (width + height).div_ceil(threads);
        let first = rows.saturating_sub(width);
        let (first_lower, others_lower) = below_lower.split_at_mut(first * width);
        let (first_upper, others_upper) = below_upper.split_at_mut(first * width);
        std::thread::scope(|scope| {
            let mut waiting = Vec::with_capacity(threads);
            let others = others_lower.chunks_mut(rows * width).zip(others_upper.chunks_mut(rows * width));
            for (k, (lower, upper)) in others.enumerate() {
                let (sender, receiver) = channel();
                waiting.push(sender);
                let begin = width + first + k * rows;
                scope.spawn(move || {
                    let mut below = Sides { lower, upper };
                    let rows = begin..begin + below.lower.len() / width;
                    dispatch(Update { symbolic, panel, done, rows, own: &mut below });
                    // nothing comes if the square is singular
                    if let Ok((square, pivots)) = receiver.recv() {
                        dispatch(Divide { square, pivots, below: &mut below });
                    }
                });
            }
            let mut square = Sides { lower: &mut *square_lower, upper: &mut *square_upper };
            dispatch(Update { symbolic, panel, done, rows: 0..width, own: &mut square });
            if !dispatch(Eliminate { square: &mut square, pivots: &mut *pivots, sizes }) {
                return false;
            }
            let square = Sides::<&[_]> { lower: square_lower, upper: square_upper };
            let pivots: &[_] = pivots;
            for sender in waiting {
                // one that has ended is found by the scope
                let _ = sender.send((square, pivots));
            }
            let mut below = Sides { lower: first_lower, upper: first_upper };
            dispatch(Update { symbolic, panel, done, rows: width..width + first, own: &mut below });
            dispatch(Divide { square, pivots, below: &mut below });
            true
        })
    }
}

struct Update<'a, 'b, const C: usize, const P: usize> {
    symbolic: &'a Symbolic,
    panel: &'a Panel,
    done: Sides<&'a [Block<C, P>]>,
    rows: Range<usize>,
    own: &'a mut Sides<&'b mut [Block<C, P>]>,
}

impl<const C: usize, const P: usize> Run<P> for Update<'_, '_, C, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        update::<S, R, C, P>(simd, self.symbolic, self.panel, self.done, Some(&self.rows), self.own);
    }
}

struct Eliminate<'a, 'b, const C: usize, const P: usize> {
    square: &'a mut Sides<&'b mut [Block<C, P>]>,
    pivots: &'a mut [Pivots<C>],
    sizes: &'a [usize],
}

impl<const C: usize, const P: usize> Run<P> for Eliminate<'_, '_, C, P> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) -> bool {
        eliminate::<S, R, C, P>(simd, self.square, self.pivots, self.sizes)
    }
}

struct Divide<'a, 'b, const C: usize, const P: usize> {
    square: Sides<&'a [Block<C, P>]>,
    pivots: &'a [Pivots<C>],
    below: &'a mut Sides<&'b mut [Block<C, P>]>,
}

impl<const C: usize, const P: usize> Run<P> for Divide<'_, '_, C, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        divide::<S, R, C, P>(simd, self.square, self.pivots, self.below);
    }
}
