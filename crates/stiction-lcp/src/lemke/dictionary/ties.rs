//! Tied rows of the ratio test, and the entries of T that break ties.

use super::Dictionary;
use crate::lemke::kernels::{combine, dot, padded, within};
use pulp::{Arch, Simd, WithSimd};

impl Dictionary {
    /// Positions that block the entering variable at no more than `cutoff`.
    pub(in crate::lemke) fn within(&self, cutoff: f64, positions: &mut Vec<usize>) {
        Arch::new().dispatch(Within { ratio: &self.ratio[..self.positions()], cutoff, positions });
    }

    /// Gathers the rows of A_S that [`Dictionary::entries`] needs at these positions.
    pub(in crate::lemke) fn gather(&mut self, positions: &[usize]) {
        let (wide, matrix): (usize, &[f64]) = (self.wide, &self.matrix);
        let size = padded(self.slots.len());
        self.gathered.clear();
        for &position in positions.iter().filter(|&&position| position < wide) {
            self.gathered.extend(self.slots.iter().map(|&column| matrix[column * wide + position]));
            self.gathered.resize(self.gathered.len().next_multiple_of(size), 0.0);
        }
    }

    /// Entries of a nonbasic variable's column at gathered positions.
    pub(in crate::lemke) fn entries(&mut self, variable: usize, positions: &[usize], out: &mut Vec<f64>) {
        Arch::new().dispatch(Entries { d: self, variable, positions, out });
    }

    /// Keeps some positions, with their gathered rows.
    pub(in crate::lemke) fn retain(
        &mut self,
        positions: &mut Vec<usize>,
        keep: impl Fn(usize, usize) -> bool,
    ) {
        let size = padded(self.slots.len());
        let (mut kept, mut from, mut to) = (0, 0, 0);
        for k in 0..positions.len() {
            let position = positions[k];
            let keeps = keep(k, position);
            if position < self.wide && !self.gathered.is_empty() {
                if keeps {
                    self.gathered.copy_within(from..from + size, to);
                    to += size;
                }
                from += size;
            }
            if keeps {
                positions[kept] = position;
                kept += 1;
            }
        }
        positions.truncate(kept);
    }
}

/// Dispatch of [`Dictionary::within`].
struct Within<'a> {
    ratio: &'a [f64],
    cutoff: f64,
    positions: &'a mut Vec<usize>,
}

impl WithSimd for Within<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        within(simd, self.ratio, self.cutoff, self.positions);
    }
}

/// Dispatch of [`Dictionary::entries`].
struct Entries<'a> {
    d: &'a mut Dictionary,
    variable: usize,
    positions: &'a [usize],
    out: &'a mut Vec<f64>,
}

impl WithSimd for Entries<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { d, variable, positions, out } = self;
        let (wide, stride, size) = (d.wide, d.stride, padded(d.slots.len()));
        let (matrix, inverse): (&[f64], &[f64]) = (&d.matrix, &d.inverse);
        let z = variable.checked_sub(d.n);
        let column = if let Some(z) = z {
            let column = &mut d.other[..size];
            let terms = d.rows.iter().map(|&row| -matrix[z * wide + row]).enumerate();
            combine(simd, inverse, stride, &terms, &[], column);
            &*column
        } else {
            let start = d.row_of[variable] * stride;
            &inverse[start..start + size]
        };
        out.clear();
        let mut gathered = d.gathered.chunks_exact(size.max(1));
        for &position in positions {
            let entry = if let Some(slot) = position.checked_sub(wide) {
                column[slot]
            } else {
                let own = z.map_or(0.0, |z| matrix[z * wide + position]);
                own + dot(simd, gathered.next().unwrap_or_default(), column)
            };
            out.push(entry);
        }
    }
}
