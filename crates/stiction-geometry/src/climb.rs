//! The farthest of the corners of a convex body along a direction, by climbing from neighbour to neighbour: on a
//! convex body there is one summit only. The facets of a body are the corners of its polar body.

use nalgebra::SVector;

/// Corners at or below which all are looked at: faster than following neighbours.
pub(crate) const FEW: usize = 16;

/// Which corners share an edge.
#[derive(Clone, Copy)]
pub(crate) struct Graph<'a> {
    /// Where the neighbours of each corner begin; one more than there are corners.
    pub(crate) starts: &'a [u32],
    pub(crate) neighbours: &'a [u32],
}

impl<'a> Graph<'a> {
    /// The neighbours of a corner.
    pub(crate) fn around(&self, corner: usize) -> &'a [u32] {
        &self.neighbours[self.starts[corner] as usize..self.starts[corner + 1] as usize]
    }

    /// The corner with the greatest value, from this one on, and that value.
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

    /// The best of a corner and its neighbours.
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
}

/// Where a search for the farthest corner along a direction begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compass<const D: usize> {
    /// Cells along one axis of a side of the cube of directions; none for few corners.
    cells: usize,
    /// The farthest corner along the middle of each cell.
    starts: Vec<u32>,
}

impl<const D: usize> Compass<D> {
    /// For corners with this value along a direction.
    pub(crate) fn new(graph: &Graph<'_>, value: impl Fn(usize, &SVector<f64, D>) -> f64) -> Self {
        let count = graph.starts.len() - 1;
        if count <= FEW {
            return Self { cells: 0, starts: Vec::new() };
        }
        // about four corners per cell
        #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "a small positive number")]
        let cells = (count as f64 / (8 * D) as f64).powf(1.0 / (D as f64 - 1.0)).ceil() as usize;
        let per_side = cells.pow(u32::try_from(D - 1).unwrap_or(0));
        let mut starts = Vec::with_capacity(2 * D * per_side);
        let mut near = 0;
        for side in 0..2 * D {
            for cell in 0..per_side {
                let mut direction = SVector::<f64, D>::zeros();
                direction[side / 2] = if side % 2 == 0 { -1.0 } else { 1.0 };
                let mut rest = cell;
                for j in 1..D {
                    let place = (rest % cells) as f64 + 0.5;
                    direction[(side / 2 + j) % D] = 2.0 * place / cells as f64 - 1.0;
                    rest /= cells;
                }
                (near, _) = graph.climb(near, |i| value(i, &direction), &mut 0);
                starts.push(u32::try_from(near).unwrap_or(0));
            }
        }
        Self { cells, starts }
    }

    /// A corner near the farthest one along a direction; none is known for few corners.
    pub(crate) fn start(&self, q: &SVector<f64, D>) -> Option<usize> {
        if self.cells == 0 {
            return None;
        }
        let axis = q.iamax();
        let length = q[axis].abs();
        let mut cell = 0;
        for j in (1..D).rev() {
            let place = (q[(axis + j) % D] / length + 1.0) * 0.5 * self.cells as f64;
            #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "a cast saturates")]
            let place = (place as usize).min(self.cells - 1);
            cell = cell * self.cells + place;
        }
        let side = 2 * axis + usize::from(q[axis] > 0.0);
        self.starts.get(side * self.cells.pow(u32::try_from(D - 1).unwrap_or(0)) + cell).map(|&i| i as usize)
    }
}
