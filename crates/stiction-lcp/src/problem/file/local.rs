//! JSON form of problems in local form.

use super::super::local::check_rows;
use super::super::{LocalProblem, Malformed};
use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

/// Matrix W by all of its rows, or by the entries that are not zero.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum MatrixRaw {
    Rows(Vec<Vec<f64>>),
    Triplets { triplets: Vec<(usize, usize, f64)> },
}

/// Problem from the keys of a file.
pub(super) fn read(
    dim: usize,
    w: &MatrixRaw,
    q: Vec<f64>,
    mu: Vec<f64>,
    facets: Option<usize>,
) -> Result<LocalProblem, Malformed> {
    let n = q.len();
    check_rows(n)?;
    let mut dense = DMatrix::zeros(n, n);
    match w {
        MatrixRaw::Rows(rows) => {
            if rows.len() != n {
                return Err(Malformed::at("w", format!("has {} rows, q has {n} entries", rows.len())));
            }
            for (i, row) in rows.iter().enumerate() {
                if row.len() != n {
                    let what = format!("has {} entries, q has {n}", row.len());
                    return Err(Malformed::at(format!("w[{i}]"), what));
                }
                row.iter().enumerate().for_each(|(j, x)| dense[(i, j)] = *x);
            }
        }
        MatrixRaw::Triplets { triplets } => {
            for (k, &(i, j, x)) in triplets.iter().enumerate() {
                if i >= n || j >= n {
                    let what = format!("row {i} and column {j} of a matrix of {n}");
                    return Err(Malformed::at(format!("w.triplets[{k}]"), what));
                }
                dense[(i, j)] += x;
            }
        }
    }
    Ok(LocalProblem { dim, w: dense, q: DVector::from_vec(q), mu, facets })
}
