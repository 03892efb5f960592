//! Convex combinations on a patch: from points with heights, its corners and the lowest combination of kept points at
//! any of its points.

use super::tolerances::{COINCIDENT_POINTS, HULL_EXCHANGE_LIMIT, MIN_SHARE};
use arrayvec::ArrayVec;

/// Points with their shares α.
pub(super) type ConvexCombination = ArrayVec<(usize, f64), 3>;

/// Points of a plane with heights, and the kept ones among them, corners first.
#[derive(Debug, Clone, Default)]
pub(super) struct Patch {
    points: Vec<[f64; 2]>,
    heights: Vec<f64>,
    kept: Vec<usize>,
    corners: usize,
    /// Distance below which points coincide [m].
    slack: f64,
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn length(a: [f64; 2]) -> f64 {
    dot(a, a).sqrt()
}

impl Patch {
    /// Replaces the points and keeps their corners, each the lowest of those that coincide with it.
    pub(super) fn load(&mut self, points: impl Iterator<Item = ([f64; 2], f64)>) {
        self.points.clear();
        self.heights.clear();
        self.kept.clear();
        for (point, height) in points {
            self.points.push(point);
            self.heights.push(height);
        }
        self.corners = 0;
        if self.points.is_empty() {
            return;
        }
        let n = self.points.len() as f64;
        let middle = self.points.iter().fold([0.0; 2], |m, p| [m[0] + p[0] / n, m[1] + p[1] / n]);
        // the farthest point from the mean is a corner
        let (mut start, mut extent) = (0, 0.0);
        for (i, p) in self.points.iter().enumerate() {
            let way = minus(*p, middle);
            if dot(way, way) > extent {
                (start, extent) = (i, dot(way, way));
            }
        }
        self.slack = COINCIDENT_POINTS * extent.sqrt();
        start = self.lowest_at(start);
        self.kept.push(start);
        let mut at = start;
        while let Some(next) = self.next_corner(at) {
            if self.apart(next, start) <= self.slack || self.kept.len() == self.points.len() {
                break;
            }
            self.kept.push(next);
            at = next;
        }
        self.corners = self.kept.len();
    }

    /// Kept points, corners first.
    pub(super) fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Keeps a point.
    pub(super) fn keep(&mut self, i: usize) {
        self.kept.push(i);
    }

    fn apart(&self, i: usize, j: usize) -> f64 {
        length(minus(self.points[i], self.points[j]))
    }

    fn lowest_at(&self, i: usize) -> usize {
        let here = (0..self.points.len()).filter(|&j| self.apart(i, j) <= self.slack);
        here.fold(i, |low, j| if self.heights[j] < self.heights[low] { j } else { low })
    }

    /// Next corner, counter-clockwise: all points are to the left of the edge.
    fn next_corner(&self, at: usize) -> Option<usize> {
        let from = self.points[at];
        // best corner so far, the edge and its length
        let mut found: Option<(usize, [f64; 2], f64)> = None;
        for (i, &point) in self.points.iter().enumerate() {
            let way = minus(point, from);
            if dot(way, way) <= self.slack * self.slack {
                continue;
            }
            let better = found.is_none_or(|(best, ahead, far)| {
                let left = cross(ahead, way);
                let farther = || dot(ahead, way) > 0.0 && length(way) > far + self.slack;
                let lower = || self.apart(i, best) <= self.slack && self.heights[i] < self.heights[best];
                left < -self.slack * far || (left <= self.slack * far && (farther() || lower()))
            });
            if better {
                found = Some((i, way, length(way)));
            }
        }
        found.map(|(i, ..)| i)
    }

    /// Combination of kept points at point `i` with the lowest height, or with a height of at most that of the point.
    /// Simplex method of min Σ α_i h_i, Σ α_i = 1, Σ α_i p_i = p, which exchanges along the lower hull.
    pub(super) fn combination(&self, i: usize) -> Option<ConvexCombination> {
        let mut basis = self.around(i)?;
        for _ in 0..HULL_EXCHANGE_LIMIT {
            let alpha = self.shares(&basis, self.points[i])?;
            let height: f64 = basis.iter().zip(&alpha).map(|(&b, a)| a * self.heights[b]).sum();
            if height <= self.heights[i] {
                break;
            }
            let Some(better) = self.exchanged(&basis, &alpha) else { break };
            basis = better;
        }
        let alpha = self.shares(&basis, self.points[i])?;
        let share = |(&b, &a): (&usize, &f64)| (a > MIN_SHARE).then_some((b, a));
        let mut combination: ConvexCombination = basis.iter().zip(&alpha).filter_map(share).collect();
        let sum: f64 = combination.iter().map(|(_, a)| a).sum();
        combination.iter_mut().for_each(|(_, a)| *a /= sum);
        Some(combination)
    }

    /// Corners around a point: a triangle, the ends of a line, or the only point.
    fn around(&self, i: usize) -> Option<ArrayVec<usize, 3>> {
        let corners = &self.kept[..self.corners];
        if corners.len() < 3 {
            return Some(corners.iter().copied().collect());
        }
        let triangles =
            (1..corners.len() - 1).map(|k| ArrayVec::from([corners[0], corners[k], corners[k + 1]]));
        let inside = |basis: &ArrayVec<usize, 3>| {
            let alpha = self.shares(basis, self.points[i])?;
            alpha.into_iter().reduce(f64::min)
        };
        let rated = triangles.filter_map(|t| inside(&t).map(|least| (t, least)));
        rated.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(triangle, _)| triangle)
    }

    /// Shares α of a basis, with sum 1, that combine to a point; `None` for a basis without extent.
    fn shares(&self, basis: &[usize], p: [f64; 2]) -> Option<ArrayVec<f64, 3>> {
        let at = |k: usize| self.points[basis[k]];
        let shares: ArrayVec<f64, 3> = match basis.len() {
            1 => [1.0].into_iter().collect(),
            2 => {
                let way = minus(at(1), at(0));
                let t = dot(minus(p, at(0)), way) / dot(way, way);
                [1.0 - t, t].into_iter().collect()
            }
            _ => {
                let (u, v, w) = (minus(at(1), at(0)), minus(at(2), at(0)), minus(p, at(0)));
                let area = cross(u, v);
                let (b, c) = (cross(w, v) / area, cross(u, w) / area);
                ArrayVec::from([1.0 - b - c, b, c])
            }
        };
        shares.iter().all(|a| a.is_finite()).then_some(shares)
    }

    /// Basis after one exchange: the kept point farthest below its plane enters, the point whose share reaches 0 first
    /// leaves.
    fn exchanged(&self, basis: &ArrayVec<usize, 3>, alpha: &[f64]) -> Option<ArrayVec<usize, 3>> {
        let (mut enter, mut deepest) = (None, 0.0);
        for &k in &self.kept {
            let gamma = self.shares(basis, self.points[k])?;
            let plane: f64 = basis.iter().zip(&gamma).map(|(&b, g)| g * self.heights[b]).sum();
            if !basis.contains(&k) && plane - self.heights[k] > deepest {
                deepest = plane - self.heights[k];
                enter = Some((k, gamma));
            }
        }
        let (enter, gamma) = enter?;
        let ratios = gamma.iter().zip(alpha).enumerate().filter(|(_, (g, _))| **g > 0.0);
        let leave = ratios.map(|(b, (g, a))| (b, a / g)).min_by(|a, b| a.1.total_cmp(&b.1))?.0;
        let mut better = basis.clone();
        better[leave] = enter;
        Some(better)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(points: &[([f64; 2], f64)]) -> Patch {
        let mut patch = Patch::default();
        patch.load(points.iter().copied());
        patch
    }

    #[test]
    fn a_grid_has_four_corners_and_combinations_of_them() {
        let grid: Vec<_> = (0..36).map(|i| ([f64::from(i % 6) - 2.5, 0.1 * f64::from(i / 6)], 0.0)).collect();
        let patch = patch(&grid);
        let mut corners = patch.kept().to_vec();
        corners.sort_unstable();
        assert_eq!(corners, [0, 5, 30, 35]);
        for (i, (p, _)) in grid.iter().enumerate() {
            let Some(combination) = patch.combination(i) else { panic!("point {i}") };
            for c in 0..2 {
                let sum: f64 = combination.iter().map(|&(k, a)| a * grid[k].0[c]).sum();
                assert!((sum - p[c]).abs() < 1e-14, "point {i}: {combination:?}");
            }
        }
    }

    #[test]
    fn lines_have_two_ends_and_one_place_one_point() {
        let line: Vec<_> = (0..7).map(|i| ([f64::from(i), 2.0 * f64::from(i)], 0.0)).collect();
        let mut ends = patch(&line).kept().to_vec();
        ends.sort_unstable();
        assert_eq!(ends, [0, 6]);
        // of those that coincide the lowest
        assert_eq!(patch(&[([1.0, 1.0], 0.3), ([1.0, 1.0], 0.1), ([1.0, 1.0], 0.2)]).kept(), [1]);
    }

    /// A square with two points inside: the lower one is kept, and holds up the higher one.
    #[test]
    fn the_lowest_combination_goes_along_the_lower_hull() {
        let mut points: Vec<_> =
            [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].into_iter().map(|p| (p, 1.0)).collect();
        points.extend([([0.0, 0.0], 0.0), ([0.5, 0.1], 0.55)]);
        let mut patch = patch(&points);
        assert_eq!(patch.kept().len(), 4);
        patch.keep(4);
        // over the triangle of the middle and the two corners at the right, at height 1/2
        let Some(combination) = patch.combination(5) else { panic!("inside") };
        let height: f64 = combination.iter().map(|&(k, a)| a * points[k].1).sum();
        assert!((height - 0.5).abs() < 1e-15, "{combination:?}");
    }
}
