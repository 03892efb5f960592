//! Contact limit: chooses a given number of the contacts of two bodies, the deepest first, then those that add most to
//! the area of the patch.

use super::tolerances::EQUAL_GAPS;
use crate::system::ContactRow;

/// Choice of contacts with a wide patch, with its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct WidestPatch {
    chosen: Vec<usize>,
    /// Convex hull of the chosen, counter-clockwise.
    hull: Vec<[f64; 2]>,
    next: Vec<[f64; 2]>,
}

impl WidestPatch {
    /// Chooses `most` contacts of a group that has more.
    pub(super) fn choose(&mut self, contacts: &[ContactRow], group: &[usize], most: usize) -> &[usize] {
        self.chosen.clear();
        self.hull.clear();
        let Some(&any) = group.first() else { return &self.chosen };
        let gap = |i: usize| contacts[i].gap;
        let extent = group.iter().map(|&i| distance(&contacts[i], &contacts[any])).fold(0.0, f64::max);
        let least = group.iter().map(|&i| gap(i)).fold(f64::INFINITY, f64::min);
        let deepest = group.iter().copied().find(|&i| gap(i) <= least + EQUAL_GAPS * extent).unwrap_or(any);
        // points in the tangent plane of the deepest
        let frame = contacts[deepest].tangent_directions;
        let point = |i: usize| frame.map(|axis| (0..3).map(|c| axis[c] * contacts[i].point[c]).sum::<f64>());
        let mut next = deepest;
        while self.chosen.len() < most {
            self.chosen.push(next);
            self.widen(point(next));
            let (mut best, mut score) = (None, (0.0, -1.0));
            for &i in group.iter().filter(|i| !self.chosen.contains(i)) {
                let area = self.gain(point(i));
                let apart = |&k: &usize| distance(&contacts[i], &contacts[k]);
                let apart = self.chosen.iter().map(apart).fold(f64::INFINITY, f64::min);
                // smaller areas are round-off of points on one line
                let own = (if area > EQUAL_GAPS * extent * extent { area } else { 0.0 }, apart);
                if own > score {
                    (best, score) = (Some(i), own);
                }
            }
            let Some(best) = best else { break };
            next = best;
        }
        &self.chosen
    }

    /// Twice the area that a point adds to the hull: the triangles over its visible edges.
    fn gain(&self, p: [f64; 2]) -> f64 {
        (0..self.hull.len()).map(|k| (-left(&self.hull, k, p)).max(0.0)).sum()
    }

    /// Adds a point to the hull in place of its visible edges.
    fn widen(&mut self, p: [f64; 2]) {
        if self.hull.len() < 2 {
            self.hull.push(p);
            return;
        }
        let Self { hull, next, .. } = self;
        next.clear();
        let visible = |k: usize| left(hull, k, p) < 0.0;
        for (k, &corner) in hull.iter().enumerate() {
            let before = visible((k + hull.len() - 1) % hull.len());
            if !(before && visible(k)) {
                next.push(corner);
            }
            if visible(k) && !before {
                next.push(p);
            }
        }
        std::mem::swap(hull, next);
    }
}

/// Twice the signed area of the triangle of an edge of the hull and a point.
fn left(hull: &[[f64; 2]], edge: usize, p: [f64; 2]) -> f64 {
    let (a, b) = (hull[edge], hull[(edge + 1) % hull.len()]);
    (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
}

fn distance(a: &ContactRow, b: &ContactRow) -> f64 {
    a.point.iter().zip(&b.point).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}
