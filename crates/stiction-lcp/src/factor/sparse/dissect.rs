//! Nested dissection: a layer of bodies that separates a pile in two is eliminated after both halves.
//!
//! Layers are the levels of a breadth-first search from a body at an end of the pile. With minimum degree between
//! the layers, a factorization of 10 × 10 × 10 boxes takes a fifth to a third less work than with minimum degree
//! alone; a wall takes the same.

/// Index of no node.
const NONE: usize = usize::MAX;

/// Number of nodes up to which a part is not divided: minimum degree orders it as well. From 100 to 300 the work on piles
/// of 1,000 bodies differs by 5 %.
const MIN_DISSECTED_NODES: usize = 200;

/// Number of breadth-first searches of each part, from different ends.
const END_SEARCHES: usize = 7;

/// Lists of a dissection. Storage is reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Dissection {
    /// The nodes of the layers, those of inner layers first.
    pub(super) last: Vec<usize>,
    /// Nodes part by part, the part each belongs to, and its level in the search.
    nodes: Vec<usize>,
    part: Vec<usize>,
    level: Vec<usize>,
    /// Steps to the nearest node that a search has begun at.
    near: Vec<usize>,
    /// Nodes in the order of the search, and where each level begins.
    queue: Vec<usize>,
    begins: Vec<usize>,
    /// Ranges of the nodes that are to be parted.
    open: Vec<(usize, usize)>,
    parts: usize,
}

impl Dissection {
    /// Finds the layers of a graph.
    pub(super) fn find(&mut self, starts: &[usize], neighbours: &[usize]) {
        let n = starts.len() - 1;
        let around = |i: usize| &neighbours[starts[i]..starts[i + 1]];
        self.nodes.clear();
        self.nodes.extend(0..n);
        self.part.clear();
        self.part.resize(n, 0);
        self.level.clear();
        self.level.resize(n, NONE);
        self.near.clear();
        self.near.resize(n, NONE);
        self.last.clear();
        self.open.clear();
        self.open.push((0, n));
        self.parts = 0;
        while let Some((begin, end)) = self.open.pop() {
            if end - begin > MIN_DISSECTED_NODES {
                self.divide(begin, end, &around);
            }
        }
        self.last.reverse();
    }

    /// Divides a part by a layer, or splits a connected component off it.
    fn divide<'a>(&mut self, begin: usize, end: usize, around: &impl Fn(usize) -> &'a [usize]) {
        self.parts += 1;
        let own = self.parts;
        for &i in &self.nodes[begin..end] {
            (self.part[i], self.level[i]) = (own, NONE);
        }
        self.queue.clear();
        for &i in &self.nodes[begin..end] {
            self.near[i] = NONE;
        }
        // from any node to a farthest one: an end of the pile; then to ends that are far from all before
        let (mut root, mut best) = (self.nodes[begin], None);
        for sweep in 0..END_SEARCHES {
            self.search(root, own, around);
            if self.queue.len() < end - begin {
                break;
            }
            if sweep > 0 {
                let found = self.choose(own, around).map(|(size, layer)| (size, layer, root));
                best = best.into_iter().chain(found).min_by_key(|&(size, ..)| size);
                for &i in &self.queue {
                    self.near[i] = self.near[i].min(self.level[i]);
                }
            }
            let far = |&i: &usize| (if sweep > 0 { self.near[i] } else { self.level[i] }, i);
            root = self.queue.iter().copied().max_by_key(far).unwrap_or(root);
        }
        let layer = best.map(|(_, layer, root)| {
            self.search(root, own, around);
            layer
        });
        let (level, part) = (&self.level, &self.part);
        let behind = |i: usize, l| around(i).iter().any(|&j| part[j] == own && level[j] == l + 1);
        let side = |&i: &usize| match layer {
            // nodes that were not reached are another pile
            None => (usize::from(level[i] == NONE), i),
            // nodes of the layer that touch nothing behind it stay before it
            Some(l) if level[i] == l => (if behind(i, l) { 2 } else { 0 }, i),
            Some(l) => (usize::from(level[i] > l), i),
        };
        let nodes = &mut self.nodes[begin..end];
        nodes.sort_unstable_by_key(side);
        let first = begin + nodes.partition_point(|i| side(i).0 == 0);
        let second = begin + nodes.partition_point(|i| side(i).0 <= 1);
        self.last.extend(self.nodes[second..end].iter().rev());
        if first < end {
            self.open.push((begin, first));
            self.open.push((first, second));
        }
    }

    /// Breadth-first search within a part.
    fn search<'a>(&mut self, root: usize, own: usize, around: &impl Fn(usize) -> &'a [usize]) {
        for &i in &self.queue {
            self.level[i] = NONE;
        }
        self.queue.clear();
        self.queue.push(root);
        self.level[root] = 0;
        self.begins.clear();
        self.begins.push(0);
        let mut at = 0;
        while at < self.queue.len() {
            let end = self.queue.len();
            while at < end {
                let i = self.queue[at];
                at += 1;
                for &j in around(i) {
                    if self.part[j] == own && self.level[j] == NONE {
                        self.level[j] = self.level[i] + 1;
                        self.queue.push(j);
                    }
                }
            }
            self.begins.push(end);
        }
    }

    /// The smallest layer with at least a third of the nodes on either side, by its nodes that touch the next.
    fn choose<'a>(&self, own: usize, around: &impl Fn(usize) -> &'a [usize]) -> Option<(usize, usize)> {
        let n = self.queue.len();
        let behind = |&&i: &&usize| {
            let (level, part) = (&self.level, &self.part);
            around(i).iter().any(|&j| part[j] == own && level[j] == level[i] + 1)
        };
        let layers = 1..self.begins.len().saturating_sub(2);
        let fits = |&l: &usize| 3 * self.begins[l] >= n && 3 * (n - self.begins[l + 1]) >= n;
        let size = |l: usize| self.queue[self.begins[l]..self.begins[l + 1]].iter().filter(behind).count();
        layers.filter(fits).map(|l| (size(l), l)).min()
    }
}
