//! Hill climbing over the corners of a convex body: the farthest corner along a direction, from neighbour to
//! neighbour. A convex body has one summit. Facets are searched in the same way: they are the corners of the polar
//! body.

use nalgebra::SVector;

/// Number of corners up to which all are evaluated: faster than following neighbours.
/// Sensible range 8 to 32; it changes the time of a search and which of equally far corners it returns.
pub(crate) const MAX_EXHAUSTIVE: usize = 16;

/// Average number of corners per cell of a [`StartMap`] and side of the cube of directions.
/// Fewer corners take memory, more take longer climbs; sensible range 2 to 16.
const CORNERS_PER_CELL: usize = 4;

/// Adjacency of corners by shared edges.
#[derive(Clone, Copy)]
pub(crate) struct CornerGraph<'a> {
    /// Start of the neighbours of each corner; one more than there are corners.
    pub(crate) starts: &'a [u32],
    pub(crate) neighbours: &'a [u32],
}

impl<'a> CornerGraph<'a> {
    /// Neighbours of a corner.
    pub(crate) fn around(&self, corner: usize) -> &'a [u32] {
        &self.neighbours[self.starts[corner] as usize..self.starts[corner + 1] as usize]
    }

    /// Corner with the greatest value, climbing from `start`, and that value.
    pub(crate) fn climb(
        &self,
        start: usize,
        value: impl Fn(usize) -> f64,
        visited: &mut usize,
    ) -> (usize, f64) {
        let mut here = start;
        loop {
            let (next, height) = self.climb_once(here, &value, visited);
            if next == here {
                return (here, height);
            }
            here = next;
        }
    }

    /// Best of a corner and its neighbours.
    pub(crate) fn climb_once(
        &self,
        here: usize,
        value: impl Fn(usize) -> f64,
        visited: &mut usize,
    ) -> (usize, f64) {
        let mut best = (here, value(here));
        let around = self.around(here);
        *visited += 1 + around.len();
        for &i in around {
            let height = value(i as usize);
            if height > best.1 {
                best = (i as usize, height);
            }
        }
        best
    }

    /// Corner with the greatest value, climbing from the cell of the direction; all corners are evaluated where
    /// there are few.
    pub(crate) fn farthest<const D: usize>(
        &self,
        map: &StartMap<D>,
        direction: &SVector<f64, D>,
        value: impl Fn(usize) -> f64,
    ) -> usize {
        match map.start(direction) {
            Some(start) => self.climb(start, value, &mut 0).0,
            None => {
                (1..self.starts.len() - 1).fold(0, |best, i| if value(i) > value(best) { i } else { best })
            }
        }
    }
}

/// Start corners of a climb by direction: a cube map of directions with a nearby farthest corner per cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StartMap<const D: usize> {
    /// Cells along one axis of a side of the cube; zero for few corners.
    cells: usize,
    /// Farthest corner along the middle of each cell.
    corners: Vec<u32>,
}

impl<const D: usize> StartMap<D> {
    /// Map for corners with this value along a direction.
    pub(crate) fn new(graph: &CornerGraph<'_>, value: impl Fn(usize, &SVector<f64, D>) -> f64) -> Self {
        let count = graph.starts.len() - 1;
        if count <= MAX_EXHAUSTIVE {
            return Self { cells: 0, corners: Vec::new() };
        }
        let per_axis = count as f64 / (2 * CORNERS_PER_CELL * D) as f64;
        #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "a small positive number")]
        let cells = per_axis.powf(1.0 / (D as f64 - 1.0)).ceil() as usize;
        let per_side = cells.pow(u32::try_from(D - 1).unwrap_or(0));
        let mut corners = Vec::with_capacity(2 * D * per_side);
        let mut near = 0;
        for side in 0..2 * D {
            for cell in 0..per_side {
                let mut direction = SVector::<f64, D>::zeros();
                direction[side / 2] = if side % 2 == 0 { -1.0 } else { 1.0 };
                let mut rest = cell;
                for j in 1..D {
                    let middle = (rest % cells) as f64 + 0.5;
                    direction[(side / 2 + j) % D] = 2.0 * middle / cells as f64 - 1.0;
                    rest /= cells;
                }
                (near, _) = graph.climb(near, |i| value(i, &direction), &mut 0);
                corners.push(u32::try_from(near).unwrap_or(0));
            }
        }
        Self { cells, corners }
    }

    /// Corner near the farthest one along a direction; `None` for few corners.
    pub(crate) fn start(&self, q: &SVector<f64, D>) -> Option<usize> {
        if self.cells == 0 {
            return None;
        }
        let axis = q.iamax();
        let length = q[axis].abs();
        let mut cell = 0;
        for j in (1..D).rev() {
            let along = (q[(axis + j) % D] / length + 1.0) * 0.5 * self.cells as f64;
            #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "a cast saturates")]
            let along = (along as usize).min(self.cells - 1);
            cell = cell * self.cells + along;
        }
        let side = 2 * axis + usize::from(q[axis] > 0.0);
        let per_side = self.cells.pow(u32::try_from(D - 1).unwrap_or(0));
        self.corners.get(side * per_side + cell).map(|&i| i as usize)
    }
}
