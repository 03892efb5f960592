//! Primitives that several factorizations share: triangular solves, one elimination step, union-find.

/// Forward substitution `x ← L⁻¹ x` with the lower triangle of the row-major n × n matrix `a`. If `unit`, the
/// diagonal of L is one.
pub(super) fn forward(a: &[f64], n: usize, x: &mut [f64], unit: bool) {
    for i in 0..n {
        let known: f64 = a[i * n..i * n + i].iter().zip(&x[..i]).map(|(a, x)| a * x).sum();
        x[i] = if unit { x[i] - known } else { (x[i] - known) / a[i * n + i] };
    }
}

/// Backward substitution `x ← U⁻¹ x` with the leading upper triangle of a row-major matrix with rows of length
/// `stride`; the size of U is that of `x`.
pub(super) fn backward(a: &[f64], stride: usize, x: &mut [f64]) {
    for i in (0..x.len()).rev() {
        let row = &a[i * stride..][..x.len()];
        let known: f64 = row[i + 1..].iter().zip(&x[i + 1..]).map(|(a, x)| a * x).sum();
        x[i] = (x[i] - known) / row[i];
    }
}

/// Backward substitution `x ← L⁻ᵀ x` with the lower triangle of the row-major n × n matrix `l`.
pub(super) fn backward_transposed(l: &[f64], n: usize, x: &mut [f64]) {
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| l[k * n + i] * x[k]).sum();
        x[i] = (x[i] - known) / l[i * n + i];
    }
}

/// One elimination step of row-major Gauss elimination: subtracts multiples of the pivot row from the rows `below`,
/// right of column `k`, and stores the multipliers in column `k`.
pub(super) fn eliminate_column(pivot_row: &[f64], below: &mut [f64], k: usize) {
    for row in below.chunks_exact_mut(pivot_row.len()) {
        let factor = row[k] / pivot_row[k];
        row[k] = factor;
        if factor != 0.0 {
            for (x, y) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                *x -= factor * y;
            }
        }
    }
}

/// Representative of `i` in a union-find forest; halves the path to it.
pub fn find_root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}
