//! Null space of a dense matrix, by QR with pivoting.

use nalgebra::DMatrix;

/// Orthonormal basis of the null space of a matrix, as columns; `None` if it is empty. Pivots of at most `tolerance` ×
/// the largest belong to dependent columns. With A P = Q [R₁ R₂], P (−R₁⁻¹R₂, I) spans it.
pub fn null_space(mut matrix: DMatrix<f64>, tolerance: f64) -> Option<DMatrix<f64>> {
    let n = matrix.ncols();
    if matrix.iter().any(|x| !x.is_finite()) {
        return None;
    }
    // a column of zeros is in the null space as it is
    let length = |norm: f64| if norm > 0.0 { norm } else { 1.0 };
    let norms: Vec<f64> = matrix.column_iter().map(|c| length(c.norm())).collect();
    for (mut column, norm) in matrix.column_iter_mut().zip(&norms) {
        column /= *norm;
    }
    let mut order = DMatrix::from_fn(1, n, |_, k| k);
    let qr = matrix.col_piv_qr();
    qr.p().permute_columns(&mut order);
    let r = qr.r();
    let largest = r.get((0, 0)).map_or(0.0, |x| x.abs());
    let pivots = (0..r.nrows()).take_while(|&i| r[(i, i)].abs() > tolerance * largest);
    let rank = pivots.count();
    if rank == n {
        return None;
    }
    let mut dependent = r.view((0, rank), (rank, n - rank)).into_owned();
    if !r.view((0, 0), (rank, rank)).solve_upper_triangular_mut(&mut dependent) {
        return None;
    }
    let mut free = DMatrix::zeros(n, n - rank);
    for k in 0..n - rank {
        for i in 0..rank {
            free[(order[i], k)] = -dependent[(i, k)] / norms[order[i]];
        }
        free[(order[rank + k], k)] = 1.0 / norms[order[rank + k]];
    }
    // scaled alike in all directions, as the simplex method needs
    Some(free.qr().q())
}
