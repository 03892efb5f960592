//! Broad phase: overlapping pairs of many bounding boxes, by parry's tree of bounding volumes, refitted from call to
//! call. The result depends on the boxes alone: every pair that the tree offers is tested, and the pairs are sorted.

use parry3d_f64::bounding_volume::Aabb as ParryAabb;
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

use crate::aabb::Aabb;

/// Number of boxes up to which all pairs are tested: faster than a tree. Sensible range 4 to 64; it changes the time
/// only.
const MAX_ALL_PAIRS: usize = 12;

/// Bounding box of either dimension in the world. Planar boxes are 1 m thick, so that the tree can compare volumes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Least coordinates [m].
    pub min: [f64; 3],
    /// Greatest coordinates [m].
    pub max: [f64; 3],
}

impl Extent {
    /// Whether the boxes share a point; touching boxes do, boxes with NaN do not.
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|i| self.min[i] <= other.max[i] && other.min[i] <= self.max[i])
    }

    /// Whether a tree can hold it: infinities and NaN would spread to all nodes above.
    fn is_bounded(&self) -> bool {
        self.min.iter().chain(&self.max).all(|x| x.is_finite())
    }

    fn to_parry(self) -> ParryAabb {
        let ([x, y, z], [u, v, w]) = (self.min, self.max);
        ParryAabb { mins: Vector::new(x, y, z), maxs: Vector::new(u, v, w) }
    }
}

impl From<Aabb<2>> for Extent {
    fn from(Aabb { min, max }: Aabb<2>) -> Self {
        Self { min: [min.x, min.y, 0.0], max: [max.x, max.y, 1.0] }
    }
}

impl From<Aabb<3>> for Extent {
    fn from(Aabb { min, max }: Aabb<3>) -> Self {
        Self { min: min.coords.into(), max: max.coords.into() }
    }
}

/// Search for overlapping boxes that keeps its tree from call to call.
#[derive(Clone, Default)]
pub struct BroadPhase {
    tree: Bvh,
    workspace: BvhWorkspace,
    /// Indices of the boxes in the tree; leaf k is box `inside[k]`.
    inside: Vec<usize>,
    /// Indices of all other boxes.
    beside: Vec<usize>,
    tests: usize,
}

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { inside, beside, tests, .. } = self;
        write!(f, "BroadPhase {{ inside: {}, beside: {}, tests: {tests} }}", inside.len(), beside.len())
    }
}

impl BroadPhase {
    /// Finds all pairs of boxes that overlap and may meet, the smaller index first, in ascending order.
    ///
    /// Allocates nothing after the first calls while the set of bounded boxes stays the same.
    pub fn overlaps(
        &mut self,
        boxes: &[Extent],
        mut may_meet: impl FnMut(usize, usize) -> bool,
        out: &mut Vec<[usize; 2]>,
    ) {
        out.clear();
        let tests = &mut self.tests;
        *tests = 0;
        let mut test = |i: usize, j: usize| {
            *tests += 1;
            let (i, j) = (i.min(j), i.max(j));
            if boxes[i].overlaps(&boxes[j]) && may_meet(i, j) {
                out.push([i, j]);
            }
        };
        if boxes.len() <= MAX_ALL_PAIRS {
            (0..boxes.len()).for_each(|i| (i + 1..boxes.len()).for_each(|j| test(i, j)));
            return;
        }

        // refit the tree to its boxes, or rebuild it for another set
        self.beside.clear();
        self.beside.extend((0..boxes.len()).filter(|&i| !boxes[i].is_bounded()));
        let bounded = || (0..boxes.len()).filter(|&i| boxes[i].is_bounded());
        if self.inside.iter().copied().eq(bounded()) {
            for (leaf, &i) in (0..).zip(&self.inside) {
                self.tree.insert_or_update_partially(boxes[i].to_parry(), leaf, 0.0);
            }
            self.tree.refit(&mut self.workspace);
            self.tree.optimize_incremental(&mut self.workspace);
        } else {
            self.inside.clear();
            self.inside.extend(bounded());
            let leaves = self.inside.iter().map(|&i| boxes[i].to_parry()).enumerate();
            self.tree = Bvh::from_iter(BvhBuildStrategy::Binned, leaves);
        }

        let inside = &self.inside;
        self.tree.traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut |a, b| {
            test(inside[a as usize], inside[b as usize]);
        });
        for (k, &i) in self.beside.iter().enumerate() {
            inside.iter().for_each(|&j| test(i, j));
            self.beside[k + 1..].iter().for_each(|&j| test(i, j));
        }
        out.sort_unstable();
    }

    /// Number of pairs of boxes that the last call tested one by one.
    pub fn tests(&self) -> usize {
        self.tests
    }
}
