//! At most so many contacts of two bodies: the deepest, then those that widen the patch most.

use crate::system::ContactRow;

/// Gaps that differ by less than this part of the patch are equal, so that contacts at rest do not take turns.
const EQUAL: f64 = 1e-9;

/// Storage of a choice.
#[derive(Debug, Clone, Default)]
pub(super) struct Choice {
    chosen: Vec<usize>,
    /// The hull of the chosen, counter-clockwise.
    hull: Vec<[f64; 2]>,
    next: Vec<[f64; 2]>,
}

impl Choice {
    /// Chooses `most` of the contacts of a group, which are more.
    pub(super) fn of(&mut self, contacts: &[ContactRow], group: &[usize], most: usize) -> &[usize] {
        self.chosen.clear();
        self.hull.clear();
        let Some(&any) = group.first() else { return &self.chosen };
        let gap = |i: usize| contacts[i].gap;
        let extent = group.iter().map(|&i| distance(&contacts[i], &contacts[any])).fold(0.0, f64::max);
        let least = group.iter().map(|&i| gap(i)).fold(f64::INFINITY, f64::min);
        let deepest = group.iter().copied().find(|&i| gap(i) <= least + EQUAL * extent).unwrap_or(any);
        // in the plane of the deepest
        let frame = contacts[deepest].tangent_directions;
        let place = |i: usize| frame.map(|axis| (0..3).map(|c| axis[c] * contacts[i].point[c]).sum::<f64>());
        let mut next = deepest;
        while self.chosen.len() < most {
            self.chosen.push(next);
            self.widen(place(next));
            let (mut best, mut score) = (None, (0.0, -1.0));
            for &i in group.iter().filter(|i| !self.chosen.contains(i)) {
                let area = self.gain(place(i));
                let apart = |&k: &usize| distance(&contacts[i], &contacts[k]);
                let apart = self.chosen.iter().map(apart).fold(f64::INFINITY, f64::min);
                // areas of this size are round-off of points on one line
                let own = (if area > EQUAL * extent * extent { area } else { 0.0 }, apart);
                if own > score {
                    (best, score) = (Some(i), own);
                }
            }
            let Some(best) = best else { break };
            next = best;
        }
        &self.chosen
    }

    /// Twice the area that a point adds to the hull: the triangles over the edges that it sees.
    fn gain(&self, p: [f64; 2]) -> f64 {
        (0..self.hull.len()).map(|k| (-left(&self.hull, k, p)).max(0.0)).sum()
    }

    /// Adds a point to the hull, in place of the edges that it sees.
    fn widen(&mut self, p: [f64; 2]) {
        if self.hull.len() < 2 {
            self.hull.push(p);
            return;
        }
        let Self { hull, next, .. } = self;
        next.clear();
        let seen = |k: usize| left(hull, k, p) < 0.0;
        for (k, &corner) in hull.iter().enumerate() {
            let before = seen((k + hull.len() - 1) % hull.len());
            if !(before && seen(k)) {
                next.push(corner);
            }
            if seen(k) && !before {
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
