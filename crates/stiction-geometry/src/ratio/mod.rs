//! Ratio metric of two convex bodies given by their facets: the least factor r by which both must be scaled about
//! their centres to share a point. HA10 (3.2); the growth distance of Ong and Gilbert (1996).
//!
//! A linear program in D + 1 variables, a point x and a factor t, in the frame of the first body, about its centre:
//!
//! ```text
//! min t   subject to   a · (x − centre) <= t   for every facet a of both bodies.
//! ```

mod metric;
pub(crate) mod seidel;
pub(crate) mod simplex;

use nalgebra::{SMatrix, SVector};

use crate::climb::{CornerGraph, MAX_EXHAUSTIVE, StartMap};

pub use metric::{Gradient, Ratio, RatioCertificate};

/// Distance of the centroids below which they coincide, relative to the distance of the nearest facet of the
/// first body: r has no gradient there. Sensible range 1e-12 to 1e-6. Above it the gradient is good to 1e-16
/// over this number; a larger value gives up true gradients.
const COINCIDENT_CENTRES_RELATIVE: f64 = 1e-9;

/// Squared distance of the centroids, relative to the squared distance of the first facet, below which the nearest
/// facet is searched at all: the search is linear in the facets, and no facet is more than 1e6 times nearer.
const COINCIDENCE_SEARCH_SQUARED: f64 = 1e-6;

/// Distance by which coincident centroids are moved apart, relative to the distance of the nearest facet: small
/// beside the body, large beside round-off. Sensible range 1e-6 to 1e-2.
const COINCIDENT_OFFSET_RELATIVE: f64 = 1e-3;

/// Bit that marks the facets of the second body in a basis.
const OF_B: u32 = 1 << 31;

/// Facets of one body as a · x <= 1 about its centre, and their adjacency.
#[derive(Clone, Copy)]
pub(crate) struct Facets<'a, const D: usize> {
    pub(crate) a: &'a [SVector<f64, D>],
    /// Start of the neighbours of each facet; one more than there are facets.
    pub(crate) starts: &'a [u32],
    pub(crate) neighbours: &'a [u32],
    /// Distance of the farthest vertex from the centre [m].
    pub(crate) size: f64,
    /// `None` for a box in its usual order: facets 2i and 2i + 1 on both sides of axis i.
    pub(crate) start: Option<&'a ColdStart<D>>,
}

/// Two bodies in the frame of the first, about its centre.
pub(crate) struct FacetPair<'a, const D: usize> {
    pub(crate) bodies: [Facets<'a, D>; 2],
    /// Axes of the second body.
    pub(crate) rotation: SMatrix<f64, D, D>,
    /// Centre of the second body [m].
    pub(crate) offset: SVector<f64, D>,
}

impl<const D: usize> FacetPair<'_, D> {
    /// Moves the second body off the first where the centres coincide, out through the nearest facet of the first;
    /// returns whether it did. `None` when the pose is not finite.
    pub(crate) fn separate_centres(&mut self) -> Option<bool> {
        let distance = self.offset.norm_squared();
        if !(distance.is_finite() && self.rotation.sum().is_finite()) {
            return None;
        }
        let facets = self.bodies[0].a;
        // no facet is nearer than the nearest one: search it only when the first one does not exclude coincidence
        if distance * facets[0].norm_squared() < COINCIDENCE_SEARCH_SQUARED {
            let nearer = |m: SVector<f64, D>, f: SVector<f64, D>| {
                if f.norm_squared() > m.norm_squared() { f } else { m }
            };
            let out = facets.iter().copied().reduce(nearer)?;
            let limit = COINCIDENT_CENTRES_RELATIVE * COINCIDENT_CENTRES_RELATIVE;
            if distance * out.norm_squared() < limit {
                self.offset = out * COINCIDENT_OFFSET_RELATIVE / out.norm_squared();
                return Some(true);
            }
        }
        Some(false)
    }

    /// Facet and its right-hand side: a · x − t <= c.
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

/// Active facets at the solution, to warm-start the next query of the pair.
///
/// Belongs to one ordered pair of bodies. Taken from other bodies it costs time, never correctness.
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
    /// Facet codes, to store them; `None` before the first query and after a fallback to Seidel's method.
    pub fn names(&self) -> Option<[u32; N]> {
        self.names
    }
}

impl<const N: usize> From<[u32; N]> for Basis<N> {
    /// Basis from stored facet codes; wrong codes cost time, never correctness.
    fn from(names: [u32; N]) -> Self {
        Self { names: Some(names) }
    }
}

/// Counters of one query of the ratio metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RatioCounters {
    /// Exchanges of a facet of the basis.
    pub pivots: usize,
    /// Facets evaluated.
    pub visited: usize,
    /// Whether the basis given was usable: `false` for a cold start.
    pub warm: bool,
    /// Inequalities projected by Seidel's method; its expected number is 9 per facet in the plane and 40 in
    /// space.
    pub projections: usize,
    /// Whether the simplex method failed (it cycled, or its basis was singular) and Seidel's method answered.
    pub fallback: bool,
}

/// Facet of the basis and its multiplier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multiplier {
    /// Body: 0 for a, 1 for b.
    pub body: usize,
    /// Facet of that body.
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
    pub(crate) counters: RatioCounters,
}

impl<const D: usize, const N: usize> Optimum<D, N> {
    /// Solution at a basis, from the data alone; `None` when the basis is singular.
    fn at(pair: &FacetPair<'_, D>, basis: &[u32; N], counters: RatioCounters) -> Option<Self> {
        let (columns, c) = pair.columns(basis);
        Some(Self::of(pair, basis, &inverse(&columns)?, &c, counters))
    }

    /// Solution at a basis, from its inverse and its right-hand sides.
    fn of(
        pair: &FacetPair<'_, D>,
        basis: &[u32; N],
        inverse: &[[f64; N]; N],
        c: &[f64; N],
        counters: RatioCounters,
    ) -> Self {
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
        Self { r: -z[D], point, gradient, multipliers, counters }
    }
}

/// Primal solution z with zᵀ B = cᵀ: the point, and minus the factor.
fn primal<const N: usize>(inverse: &[[f64; N]; N], c: &[f64; N]) -> [f64; N] {
    let mut z = [0.0; N];
    for i in 0..N {
        for j in 0..N {
            z[j] += c[i] * inverse[i][j];
        }
    }
    z
}

/// Inverse of the matrix with these columns, by elimination with partial pivoting; `None` when it is singular.
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

/// Dual feasible basis for a cold start: D + 1 facets around the origin, and its inverse row by row.
fn cold_basis<const D: usize, const N: usize>(
    a: &[SVector<f64, D>],
    size: f64,
) -> Option<(Vec<u32>, Vec<f64>)> {
    let names = seidel::facets_around_origin::<D, N>(a, size)?;
    let inverse = inverse(&columns(a, &names))?;
    Some((names.to_vec(), inverse.concat()))
}

/// Cold start of the simplex method: a basis that is always dual feasible, and a map of facets by direction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColdStart<const D: usize> {
    /// D + 1 facets around the origin.
    basis: Vec<u32>,
    /// Inverse of that basis, row by row.
    inverse: Vec<f64>,
    map: StartMap<D>,
}

impl<const D: usize> ColdStart<D> {
    /// `None` when the facets do not enclose the origin.
    pub(crate) fn new(a: &[SVector<f64, D>], starts: &[u32], neighbours: &[u32], size: f64) -> Option<Self> {
        let (basis, inverse) =
            if D == 2 { cold_basis::<D, 3>(a, size)? } else { cold_basis::<D, 4>(a, size)? };
        let map = StartMap::new(&CornerGraph { starts, neighbours }, |i, q| a[i].dot(q));
        Some(Self { basis, inverse, map })
    }
}

impl<const D: usize> Facets<'_, D> {
    /// Facet with the greatest a · q, and that value: the vectors a are the corners of the polar body.
    fn farthest(&self, start: usize, q: &SVector<f64, D>, visited: &mut usize) -> (usize, f64) {
        if self.a.len() <= MAX_EXHAUSTIVE {
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
        let graph = CornerGraph { starts: self.starts, neighbours: self.neighbours };
        let along = |i: usize| self.a[i].dot(q);
        let (here, value) = graph.climb_once(start, along, visited);
        if here == start {
            return (here, value);
        }
        // the last facet is no longer the farthest: the map may know a nearer one to climb from
        let near = self.start.and_then(|cold| cold.map.start(q));
        let start = near.filter(|&i| along(i) > value).unwrap_or(here);
        graph.climb(start, along, visited)
    }

    /// D + 1 facets around the origin, and the inverse of their basis.
    fn cold_basis<const N: usize>(&self) -> Option<([u32; N], [[f64; N]; N])> {
        if let Some(start) = self.start {
            let inverse = std::array::from_fn(|i| std::array::from_fn(|j| start.inverse[i * N + j]));
            return Some((std::array::from_fn(|i| start.basis[i]), inverse));
        }
        // of a box: one on either side of the first axis, one on each other
        let names: [u32; N] =
            std::array::from_fn(|i| u32::try_from(if i < 2 { i } else { 2 * i - 1 }).unwrap_or(0));
        let inverse = inverse(&columns(self.a, &names))?;
        Some((names, inverse))
    }
}
