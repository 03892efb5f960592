//! Rows of Jacobians: the dependence of one relative velocity on the velocities of the bodies.

use arrayvec::ArrayVec;

/// Part of a row that belongs to one body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// Index of the body.
    pub body: usize,
    /// Coefficients of the body's velocities; those past its number of velocities are zero.
    pub j: [f64; 6],
}

/// Jacobian row `J` with `J v` a speed [m/s]. Rows of rotations are multiplied by a length of the mechanism, so that
/// all rows of a problem have one unit and one scale.
#[derive(Debug, Clone, PartialEq)]
pub enum Row {
    /// Row of one or two bodies: every row of a mechanism.
    Bodies(ArrayVec<Term, 2>),
    /// Row of any velocities, as (index in v, coefficient): textbook systems.
    Sparse(Vec<(usize, f64)>),
}

impl Row {
    /// Row of one body against the world.
    pub fn one(body: usize, j: &[f64]) -> Self {
        Self::Bodies([Term::new(body, j)].into_iter().collect())
    }

    /// Row of two bodies.
    pub fn two(a: usize, ja: &[f64], b: usize, jb: &[f64]) -> Self {
        Self::Bodies([Term::new(a, ja), Term::new(b, jb)].into_iter().collect())
    }

    /// Visits every entry as (index in v, coefficient), with `start[body]` the index in `v` of the body's
    /// first velocity.
    #[inline]
    pub fn for_each(&self, start: &[usize], mut entry: impl FnMut(usize, f64)) {
        match self {
            Self::Bodies(terms) => {
                for t in terms {
                    let s = start[t.body];
                    let n = start[t.body + 1] - s;
                    t.j.iter().take(n).enumerate().for_each(|(i, &x)| entry(s + i, x));
                }
            }
            Self::Sparse(entries) => entries.iter().for_each(|&(i, x)| entry(i, x)),
        }
    }

    /// Speed `J v`.
    pub fn dot(&self, start: &[usize], v: &[f64]) -> f64 {
        match self {
            Self::Bodies(terms) => terms.iter().map(|t| t.dot(&v[start[t.body]..start[t.body + 1]])).sum(),
            Self::Sparse(entries) => entries.iter().map(|&(i, x)| x * v[i]).sum(),
        }
    }

    /// Adds `out += c Jᵀ`.
    pub fn add_transposed(&self, start: &[usize], c: f64, out: &mut [f64]) {
        self.for_each(start, |i, x| out[i] += c * x);
    }

    /// Adds `out += c Jᵀ` and `size += |c Jᵀ|`; round-off is relative to the latter.
    pub(crate) fn add_transposed_with_sizes(
        &self,
        start: &[usize],
        c: f64,
        out: &mut [f64],
        size: &mut [f64],
    ) {
        let Self::Bodies(terms) = self else {
            return self.for_each(start, |i, x| {
                out[i] += c * x;
                size[i] += (c * x).abs();
            });
        };
        for t in terms {
            let own = start[t.body]..start[t.body + 1];
            let (out, size) = (&mut out[own.clone()], &mut size[own]);
            for ((out, size), x) in out.iter_mut().zip(size).zip(&t.j) {
                *out += c * x;
                *size += (c * x).abs();
            }
        }
    }

    /// Speed of the row when one body has these velocities.
    pub(crate) fn along(&self, moved: &Term) -> f64 {
        let Self::Bodies(terms) = self else { return 0.0 };
        terms.iter().filter(|t| t.body == moved.body).map(|t| t.dot(&moved.j)).sum()
    }
}

/// Part of a row across the rows before it, relative to the row, up to which it depends on them [-]. Sensible range 1e-12
/// to 1e-7: smaller misses redundant rows by round-off, larger takes independent ones for redundant.
const DEPENDENT_ROW: f64 = 1e-9;

/// Whether rows of the same bodies are independent; `false` for rows of any velocities.
pub(crate) fn are_independent<'a>(rows: impl IntoIterator<Item = &'a Row>) -> bool {
    let mut basis: ArrayVec<[f64; 12], 12> = ArrayVec::new();
    for row in rows {
        let Row::Bodies(terms) = row else { return false };
        let mut own = [0.0; 12];
        for (k, term) in terms.iter().enumerate() {
            own[6 * k..6 * k + 6].copy_from_slice(&term.j);
        }
        let norm = |x: &[f64; 12]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let length = norm(&own);
        // twice, against round-off
        for other in basis.iter().chain(&basis) {
            let along: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
            own.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
        }
        let left = norm(&own);
        if left <= DEPENDENT_ROW * length || basis.try_push(own.map(|x| x / left)).is_err() {
            return false;
        }
    }
    true
}

impl Term {
    /// Term of `body`; at most six coefficients are kept.
    pub fn new(body: usize, j: &[f64]) -> Self {
        let mut padded = [0.0; 6];
        padded.iter_mut().zip(j).for_each(|(p, &x)| *p = x);
        Self { body, j: padded }
    }

    /// Dot product with the velocities of the body.
    fn dot(&self, v: &[f64]) -> f64 {
        if let Ok(v) = <&[f64; 6]>::try_from(v) {
            let [a, b, c, d, e, f] = std::array::from_fn(|i| v[i] * self.j[i]);
            // in pairs: independent sums run in parallel
            return (a + b) + (c + d) + (e + f);
        }
        v.iter().zip(&self.j).map(|(v, j)| v * j).sum()
    }
}

/// Row with its offset: `J v⁺ + offset` is the constrained speed [m/s].
#[derive(Debug, Clone, PartialEq)]
pub struct OffsetRow {
    /// Jacobian row.
    pub row: Row,
    /// Offset Υ, Δ or τ [m/s].
    pub offset: f64,
}
