//! The broad phase: which of many boxes overlap, by a tree of bounding volumes that follows them from call to
//! call. The one place that speaks the boxes of parry.
//!
//! What is found depends on the boxes alone, never on how the tree came about: every pair that the tree offers is
//! tested itself, and the answer is sorted.

use parry3d_f64::bounding_volume::Aabb as Theirs;
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

use crate::{planar, spatial};

/// Boxes up to which all pairs are tested: faster than a tree.
const FEW: usize = 12;

/// A box along the axes of the world [m]. Those of the plane are one thick, so that a tree can compare volumes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Least coordinates [m].
    pub min: [f64; 3],
    /// Greatest coordinates [m].
    pub max: [f64; 3],
}

impl Extent {
    /// Whether the boxes share a point; touching boxes do, and those that are not numbers do not.
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|i| self.min[i] <= other.max[i] && other.min[i] <= self.max[i])
    }

    /// Whether a tree can hold it: unbounded boxes and those that are not numbers would spoil all above them.
    fn is_bounded(&self) -> bool {
        self.min.iter().chain(&self.max).all(|x| x.is_finite())
    }

    fn theirs(&self) -> Theirs {
        let ([x, y, z], [u, v, w]) = (self.min, self.max);
        Theirs { mins: Vector::new(x, y, z), maxs: Vector::new(u, v, w) }
    }
}

impl From<planar::Aabb> for Extent {
    fn from(planar::Aabb { min, max }: planar::Aabb) -> Self {
        Self { min: [min.x, min.y, 0.0], max: [max.x, max.y, 1.0] }
    }
}

impl From<spatial::Aabb> for Extent {
    fn from(spatial::Aabb { min, max }: spatial::Aabb) -> Self {
        Self { min: min.coords.into(), max: max.coords.into() }
    }
}

/// Finds overlapping boxes, and keeps its tree from call to call.
#[derive(Clone, Default)]
pub struct Broad {
    tree: Bvh,
    workspace: BvhWorkspace,
    /// Boxes in the tree, by their places in the list given; the leaves are numbered by their places here.
    inside: Vec<usize>,
    /// All other boxes.
    beside: Vec<usize>,
    tests: usize,
}

impl std::fmt::Debug for Broad {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { inside, beside, tests, .. } = self;
        write!(f, "Broad {{ inside: {}, beside: {}, tests: {tests} }}", inside.len(), beside.len())
    }
}

impl Broad {
    /// All pairs of boxes that overlap and may meet, the smaller number first, in ascending order.
    ///
    /// Allocates nothing after the first calls while the boxes in the tree are the same.
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
        if boxes.len() <= FEW {
            (0..boxes.len()).for_each(|i| (i + 1..boxes.len()).for_each(|j| test(i, j)));
            return;
        }

        // the tree follows its boxes, or is built anew for others
        self.beside.clear();
        self.beside.extend((0..boxes.len()).filter(|&i| !boxes[i].is_bounded()));
        let bounded = || (0..boxes.len()).filter(|&i| boxes[i].is_bounded());
        if self.inside.iter().copied().eq(bounded()) {
            for (leaf, &i) in (0..).zip(&self.inside) {
                self.tree.insert_or_update_partially(boxes[i].theirs(), leaf, 0.0);
            }
            self.tree.refit(&mut self.workspace);
            self.tree.optimize_incremental(&mut self.workspace);
        } else {
            self.inside.clear();
            self.inside.extend(bounded());
            let leaves = self.inside.iter().map(|&i| boxes[i].theirs()).enumerate();
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

    /// How many pairs of boxes the last call tested one by one.
    pub fn tests(&self) -> usize {
        self.tests
    }
}
