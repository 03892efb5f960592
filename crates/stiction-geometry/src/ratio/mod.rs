//! The ratio metric of two convex bodies given by their facets: the least factor r by which both must be scaled
//! about their centres to share a point. HA10 (3.2); it is the growth distance of Ong and Gilbert (1996).
//!
//! A linear program in D + 1 variables, a place x and a factor t:
//!
//! ```text
//! min t   subject to   a · (x − centre) <= t   for every facet a of both bodies.
//! ```
//!
//! The kernel is written once for both dimensions and works in the frame of the first body, about its centre.
//! [`simplex`] is the fast path, [`seidel`] the reference.

pub(crate) mod seidel;
pub(crate) mod simplex;

use nalgebra::{SMatrix, SVector};

use crate::climb::{Compass, FEW, Graph};

/// Marks the facets of the second body in a basis.
const OF_B: u32 = 1 << 31;

/// Facets of one body as a · x <= 1 about its centre, and which of them share an edge.
#[derive(Clone, Copy)]
pub(crate) struct Facets<'a, const D: usize> {
    pub(crate) a: &'a [SVector<f64, D>],
    /// Where the neighbours of each facet begin; one more than there are facets.
    pub(crate) starts: &'a [u32],
    pub(crate) neighbours: &'a [u32],
    /// Distance of the farthest vertex from the centre [m].
    pub(crate) size: f64,
    /// `None` for a box or rectangle in its usual order: facets 2i and 2i + 1 on both sides of axis i.
    pub(crate) chart: Option<&'a Chart<D>>,
}

/// Two bodies in the frame of the first, about its centre.
pub(crate) struct Pair<'a, const D: usize> {
    pub(crate) bodies: [Facets<'a, D>; 2],
    /// Axes of the second body.
    pub(crate) rotation: SMatrix<f64, D, D>,
    /// Centre of the second body [m].
    pub(crate) offset: SVector<f64, D>,
}

impl<const D: usize> Pair<'_, D> {
    /// A facet and its right-hand side: a · x − t <= c.
    fn row(&self, name: u32) -> (SVector<f64, D>, f64) {
        let i = (name & !OF_B) as usize;
        if name & OF_B == 0 {
            (self.bodies[0].a[i], 0.0)
        } else {
            let a = self.rotation * self.bodies[1].a[i];
            (a, a.dot(&self.offset))
        }
    }

    /// Columns (a; 1) of a basis, and its right-hand sides.
    fn columns<const N: usize>(&self, basis: &[u32; N]) -> ([[f64; N]; N], [f64; N]) {
        let (mut columns, mut c) = ([[1.0; N]; N], [0.0; N]);
        for i in 0..N {
            let (a, right) = self.row(basis[i]);
            columns[i][..D].copy_from_slice(a.as_slice());
            c[i] = right;
        }
        (columns, c)
    }
}

/// Facets whose inequalities hold with equality at the solution, to start the next query of the pair from.
///
/// Belongs to one ordered pair of bodies; kept from a query of other bodies it costs time, never correctness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Basis<const N: usize> {
    pub(crate) names: Option<[u32; N]>,
}

impl<const N: usize> Default for Basis<N> {
    fn default() -> Self {
        Self { names: None }
    }
}

impl<const N: usize> Basis<N> {
    /// The facets as numbers to be written down; none before the first query and after a detour.
    pub fn names(&self) -> Option<[u32; N]> {
        self.names
    }
}

impl<const N: usize> From<[u32; N]> for Basis<N> {
    /// From the numbers of another basis; others cost time, never correctness.
    fn from(names: [u32; N]) -> Self {
        Self { names: Some(names) }
    }
}

/// What a query took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Exchanges of a facet of the basis.
    pub pivots: usize,
    /// Facets looked at.
    pub visited: usize,
    /// Whether the basis given was of use: `false` for a cold start.
    pub warm: bool,
    /// Inequalities projected by Seidel's method; its expected number is 9 per facet in the plane and 40 in
    /// space.
    pub projections: usize,
    /// Whether the simplex method gave up (it circled, or its basis was singular) and Seidel's method answered.
    pub fallback: bool,
}

/// One facet of the basis and its multiplier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multiplier {
    /// The body: 0 for a, 1 for b.
    pub body: usize,
    /// The facet of that body.
    pub facet: usize,
    /// Multiplier y >= 0 [1].
    pub y: f64,
}

/// Solution of the linear program, in the frame of the first body.
pub(crate) struct Optimum<const D: usize, const N: usize> {
    pub(crate) r: f64,
    pub(crate) point: SVector<f64, D>,
    /// Σ y a over the facets of the first body [1/m].
    pub(crate) gradient: SVector<f64, D>,
    pub(crate) multipliers: [Multiplier; N],
    pub(crate) work: Work,
}

impl<const D: usize, const N: usize> Optimum<D, N> {
    /// The solution at a basis, from the data alone; `None` when the basis is singular.
    fn at(pair: &Pair<'_, D>, basis: &[u32; N], work: Work) -> Option<Self> {
        let (columns, c) = pair.columns(basis);
        Some(Self::of(pair, basis, &inverse(&columns)?, &c, work))
    }

    /// The solution at a basis, from its inverse and its right-hand sides.
    fn of(pair: &Pair<'_, D>, basis: &[u32; N], inverse: &[[f64; N]; N], c: &[f64; N], work: Work) -> Self {
        let z = primal(inverse, c);
        let mut gradient = SVector::zeros();
        let multipliers = std::array::from_fn(|i| {
            let (y, facet) = (inverse[i][D], (basis[i] & !OF_B) as usize);
            let body = usize::from(basis[i] & OF_B != 0);
            if body == 0 {
                gradient += y * pair.bodies[0].a[facet];
            }
            Multiplier { body, facet, y }
        });
        let point = SVector::from_column_slice(&z[..D]);
        Self { r: -z[D], point, gradient, multipliers, work }
    }
}

/// z with zᵀ B = cᵀ: the place, and minus the factor.
fn primal<const N: usize>(inverse: &[[f64; N]; N], c: &[f64; N]) -> [f64; N] {
    let mut z = [0.0; N];
    for i in 0..N {
        for j in 0..N {
            z[j] += c[i] * inverse[i][j];
        }
    }
    z
}

/// Inverse of the matrix with these columns, by elimination with row exchanges; `None` when it is singular.
pub(crate) fn inverse<const N: usize>(columns: &[[f64; N]; N]) -> Option<[[f64; N]; N]> {
    // rows of the transpose are the columns: invert that, and transpose back
    let mut m = *columns;
    let mut inverse = [[0.0; N]; N];
    for i in 0..N {
        inverse[i][i] = 1.0;
    }
    for k in 0..N {
        let mut pivot = k;
        for i in k + 1..N {
            if m[i][k].abs() > m[pivot][k].abs() {
                pivot = i;
            }
        }
        m.swap(k, pivot);
        inverse.swap(k, pivot);
        let scale = 1.0 / m[k][k];
        if !scale.is_finite() {
            return None;
        }
        for j in 0..N {
            m[k][j] *= scale;
            inverse[k][j] *= scale;
        }
        for i in 0..N {
            if i != k {
                let factor = m[i][k];
                for j in 0..N {
                    m[i][j] -= factor * m[k][j];
                    inverse[i][j] -= factor * inverse[k][j];
                }
            }
        }
    }
    let mut transposed = inverse;
    for i in 0..N {
        for j in 0..N {
            transposed[i][j] = inverse[j][i];
        }
    }
    Some(transposed)
}

/// Columns (a; 1) of facets of one body.
fn columns<const D: usize, const N: usize>(a: &[SVector<f64, D>], names: &[u32; N]) -> [[f64; N]; N] {
    names.map(|i| {
        let mut column = [1.0; N];
        column[..D].copy_from_slice(a[i as usize].as_slice());
        column
    })
}

/// D + 1 facets around the origin, and the inverse of their basis row by row.
fn home<const D: usize, const N: usize>(a: &[SVector<f64, D>], size: f64) -> Option<(Vec<u32>, Vec<f64>)> {
    let names = seidel::home::<D, N>(a, size)?;
    let inverse = inverse(&columns(a, &names))?;
    Some((names.to_vec(), inverse.concat()))
}

/// A basis that always is dual feasible, and where a search for the farthest facet begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart<const D: usize> {
    /// D + 1 facets around the origin.
    home: Vec<u32>,
    /// Inverse of the basis of those facets, row by row.
    home_inverse: Vec<f64>,
    compass: Compass<D>,
}

impl<const D: usize> Chart<D> {
    /// `None` when the facets do not enclose the origin.
    pub(crate) fn new(a: &[SVector<f64, D>], starts: &[u32], neighbours: &[u32], size: f64) -> Option<Self> {
        let (home, home_inverse) = if D == 2 { home::<D, 3>(a, size)? } else { home::<D, 4>(a, size)? };
        let compass = Compass::new(&Graph { starts, neighbours }, |i, q| a[i].dot(q));
        Some(Self { home, home_inverse, compass })
    }
}

impl<const D: usize> Facets<'_, D> {
    /// The facet with the greatest a · q, and that value: the vectors a are the corners of the polar body.
    fn farthest(&self, start: usize, q: &SVector<f64, D>, visited: &mut usize) -> (usize, f64) {
        if self.a.len() <= FEW {
            *visited += self.a.len();
            let mut best = (0, f64::NEG_INFINITY);
            for (i, a) in self.a.iter().enumerate() {
                let value = a.dot(q);
                if value > best.1 {
                    best = (i, value);
                }
            }
            return best;
        }
        let graph = Graph { starts: self.starts, neighbours: self.neighbours };
        let along = |i: usize| self.a[i].dot(q);
        let (here, value) = graph.climb_once(start, along, visited);
        if here == start {
            return (here, value);
        }
        // not at home: the compass may know a nearer place to start from
        let near = self.chart.and_then(|chart| chart.compass.start(q));
        let start = near.filter(|&i| along(i) > value).unwrap_or(here);
        graph.climb(start, along, visited)
    }

    /// D + 1 facets around the origin, and the inverse of their basis.
    fn home<const N: usize>(&self) -> Option<([u32; N], [[f64; N]; N])> {
        if let Some(chart) = self.chart {
            let inverse = std::array::from_fn(|i| std::array::from_fn(|j| chart.home_inverse[i * N + j]));
            return Some((std::array::from_fn(|i| chart.home[i]), inverse));
        }
        // of a box: one on either side of the first axis, one on each other
        let names: [u32; N] =
            std::array::from_fn(|i| u32::try_from(if i < 2 { i } else { 2 * i - 1 }).unwrap_or(0));
        let inverse = inverse(&columns(self.a, &names))?;
        Some((names, inverse))
    }
}

/// Centre [m] and radius [m] of the largest ball inside the half-spaces n · x <= b, n unit vectors, searched
/// within a large multiple of the extent of the offsets.
pub(crate) fn inside<const D: usize, const N: usize>(
    half_spaces: &[(SVector<f64, D>, f64)],
    extent: f64,
) -> (SVector<f64, D>, f64) {
    seidel::largest_ball::<D, N>(half_spaces, extent)
}
