//! Order of elimination: minimum degree on the quotient graph, with joints held back until their blocks are regular.
//!
//! Approximate minimum degree of Amestoy, Davis and Duff, weighted by the rows of the nodes. Eliminated nodes form
//! *elements*, whose members are the nodes they couple. Degrees are bounded by the weights of the elements a node belongs
//! to, so that no fill is stored.

use super::Node;
use crate::factor::find_root;

/// Index of no node and no place.
const NONE: usize = usize::MAX;

/// Remaining freedom of a group: eliminated bodies connected by eliminated joints.
///
/// The diagonal block of a joint, when it is eliminated, is the mobility of its rows on the bodies eliminated before it.
/// That is regular as long as its group can still move as one rigid body. A tree of joints leaves this freedom; each
/// further joint may remove it. Counting rows alone is not enough: five hinges have the five rows, but with parallel axes
/// not the rank.
#[derive(Debug, Clone, Copy, Default)]
struct GroupFreedom {
    /// Bodies less joints.
    bodies: isize,
    /// Rows of bodies less rows of joints.
    rows: isize,
    /// Bodies not yet eliminated at joints of the group: each adds freedom.
    open: isize,
}

impl GroupFreedom {
    fn add(&mut self, other: Self) {
        self.bodies += other.bodies;
        self.rows += other.rows;
        self.open += other.open;
    }

    /// `true` if a joint with this many rows has a regular block.
    fn has_room(self, rows: usize) -> bool {
        self.bodies > 0 && usize::try_from(self.rows).is_ok_and(|free| free >= rows)
    }
}

/// Lists of the quotient graph. Storage is reused.
#[derive(Debug, Clone, Default)]
pub(super) struct MinimumDegree {
    /// Nodes in the order of elimination.
    pub(super) sequence: Vec<usize>,
    /// Lists: elements and then neighbours of a node, or members of an element.
    list: Vec<usize>,
    /// First entry of the list of a node or element.
    start: Vec<usize>,
    /// Length of the list.
    length: Vec<usize>,
    /// Number of elements at the front of a node's list.
    elements: Vec<usize>,
    is_element: Vec<bool>,
    /// Rows of a node and of the nodes merged into it; 0 once it is eliminated or merged.
    weight: Vec<usize>,
    /// Whether a node is a member of the current element.
    member: Vec<bool>,
    degree: Vec<usize>,
    /// Rows of an element outside of the current one, plus a stamp; 0 once the element is absorbed.
    stamp: Vec<usize>,
    /// Nodes by degree: the first of each degree, and the ones before and after each.
    first: Vec<usize>,
    before: Vec<usize>,
    after: Vec<usize>,
    listed: Vec<bool>,
    /// Nodes of one hash, and the hash of each.
    bucket: Vec<usize>,
    hash: Vec<usize>,
    /// Indistinguishable nodes are merged: the next node of a merged set, and the last.
    same: Vec<usize>,
    last: Vec<usize>,
    saddle: Vec<bool>,
    held: Vec<bool>,
    /// Union-find forest of the groups, the remaining freedom of each, and the freedom that each node adds.
    group: Vec<usize>,
    rank: Vec<GroupFreedom>,
    own: Vec<GroupFreedom>,
    done: Vec<bool>,
    /// The least degree that may be listed, the next stamp, the largest element, rows eliminated and all rows.
    least: usize,
    mark: usize,
    largest: usize,
    eliminated: usize,
    total: usize,
    /// Joints below this have been forced or eliminated.
    forced: usize,
}

fn refill<T: Clone>(list: &mut Vec<T>, length: usize, value: T) {
    list.clear();
    list.resize(length, value);
}

impl MinimumDegree {
    /// Orders the nodes of a graph given by `neighbours[starts[i]..starts[i + 1]]`, without duplicates; those
    /// that come `last` are left to the end, in that order.
    pub(super) fn find(&mut self, nodes: &[Node], starts: &[usize], neighbours: &[usize], last: &[usize]) {
        refill(&mut self.held, nodes.len(), false);
        for &i in last {
            self.held[i] = true;
        }
        self.begin(nodes, starts, neighbours);
        while self.sequence.len() + last.len() < nodes.len() {
            let pivot = self.next();
            self.eliminate(pivot, &|i| &neighbours[starts[i]..starts[i + 1]]);
        }
        self.sequence.extend_from_slice(last);
    }

    fn begin(&mut self, nodes: &[Node], starts: &[usize], neighbours: &[usize]) {
        let n = nodes.len();
        self.total = nodes.iter().map(|node| node.size).sum();
        self.sequence.clear();
        self.list.clear();
        self.list.extend_from_slice(neighbours);
        self.start.clear();
        self.start.extend_from_slice(&starts[..n]);
        self.length.clear();
        self.length.extend(starts.windows(2).map(|w| w[1] - w[0]));
        self.weight.clear();
        self.weight.extend(nodes.iter().map(|node| node.size));
        self.saddle.clear();
        self.saddle.extend(nodes.iter().map(|node| node.saddle));
        for list in [&mut self.last, &mut self.group] {
            list.clear();
            list.extend(0..n);
        }
        for list in [&mut self.before, &mut self.after, &mut self.bucket, &mut self.same] {
            refill(list, n, NONE);
        }
        for list in [&mut self.elements, &mut self.degree, &mut self.hash] {
            refill(list, n, 0);
        }
        for list in [&mut self.is_element, &mut self.member, &mut self.listed, &mut self.done] {
            refill(list, n, false);
        }
        refill(&mut self.rank, n, GroupFreedom::default());
        self.own.clear();
        self.own.extend(nodes.iter().map(|node| {
            let rows = isize::try_from(node.size).unwrap_or(isize::MAX);
            let sign = if node.saddle { -1 } else { 1 };
            GroupFreedom { bodies: sign, rows: sign * rows, open: 0 }
        }));
        refill(&mut self.stamp, n, 1);
        refill(&mut self.first, self.total + 1, NONE);
        (self.least, self.mark, self.largest, self.eliminated, self.forced) = (0, 2, 0, 0, 0);
        // the last one listed is the first one found
        for i in (0..n).rev() {
            self.degree[i] = neighbours[starts[i]..starts[i + 1]].iter().map(|&j| nodes[j].size).sum();
            if !nodes[i].saddle && !self.held[i] {
                self.enlist(i);
            }
        }
    }

    fn enlist(&mut self, i: usize) {
        let d = self.degree[i];
        let head = self.first[d];
        if head != NONE {
            self.before[head] = i;
        }
        (self.before[i], self.after[i], self.listed[i]) = (NONE, head, true);
        self.first[d] = i;
        self.least = self.least.min(d);
    }

    fn unlist(&mut self, i: usize) {
        if !std::mem::replace(&mut self.listed[i], false) {
            return;
        }
        let (before, after) = (self.before[i], self.after[i]);
        if after != NONE {
            self.before[after] = before;
        }
        if before == NONE {
            self.first[self.degree[i]] = after;
        } else {
            self.after[before] = after;
        }
    }

    /// The listed node of least degree; if joints alone are left and none has room, the first of them.
    fn next(&mut self) -> usize {
        while self.least <= self.total {
            let i = self.first[self.least];
            if i != NONE {
                self.unlist(i);
                return i;
            }
            self.least += 1;
        }
        while self.weight[self.forced] == 0 || self.is_element[self.forced] || self.held[self.forced] {
            self.forced += 1;
        }
        self.forced
    }

    /// Representative of the group of a node.
    fn group(&mut self, i: usize) -> usize {
        find_root(&mut self.group, i)
    }

    /// Puts a node and those merged with it into the sequence, and each into the group that its joints make.
    fn finish<'a>(&mut self, i: usize, around: &impl Fn(usize) -> &'a [usize]) {
        self.eliminated += self.weight[i];
        let mut member = i;
        while member != NONE {
            self.sequence.push(member);
            self.done[member] = true;
            let own = self.group(member);
            let rank = self.own[member];
            self.rank[own].add(rank);
            for &other in around(member) {
                if self.saddle[other] == self.saddle[member] {
                    continue;
                }
                let own = self.group(member);
                if self.saddle[member] {
                    self.rank[own].open += isize::from(!self.done[other]);
                } else {
                    self.rank[own].open -= isize::from(self.done[other]);
                }
                if self.done[other] {
                    let (own, joined) = (self.group(member), self.group(other));
                    if own != joined {
                        self.group[joined] = own;
                        let rank = self.rank[joined];
                        self.rank[own].add(rank);
                    }
                }
            }
            member = self.same[member];
        }
    }

    /// `true` if a node may be eliminated now: a joint needs eliminated bodies with enough freedom.
    fn is_free(&mut self, i: usize, around: &[usize]) -> bool {
        if self.held[i] || !self.saddle[i] {
            return !self.held[i];
        }
        let (mut rank, mut open) = (GroupFreedom::default(), false);
        for (k, &body) in around.iter().enumerate() {
            open |= !self.done[body] && !self.saddle[body];
            if self.done[body] && !self.saddle[body] {
                let group = self.group(body);
                let known = around[..k].iter().any(|&other| self.done[other] && self.group(other) == group);
                if !known {
                    rank.add(self.rank[group]);
                }
            }
        }
        // if no body is left to wait for, waiting only adds fill: a redundant joint has no better time
        rank.has_room(self.weight[i]) || (!open && rank.open == 0)
    }

    /// Turns the pivot into an element, which takes in the elements it belonged to.
    fn eliminate<'a>(&mut self, pivot: usize, around: &impl Fn(usize) -> &'a [usize]) {
        self.finish(pivot, around);
        let range = self.gather(pivot);
        self.outside(range.clone());
        let mut weight = self.degree[pivot];
        for at in range.clone() {
            weight -= self.update(self.list[at], pivot, around);
        }
        self.degree[pivot] = weight;
        self.largest = self.largest.max(weight);
        self.mark += self.largest + 1;
        for at in range.clone() {
            self.merge(self.list[at]);
        }
        self.close(pivot, range, around);
    }

    /// Lists the members of the new element, at the end of the lists.
    fn gather(&mut self, pivot: usize) -> std::ops::Range<usize> {
        let begin = self.list.len();
        let (at, elements, length) = (self.start[pivot], self.elements[pivot], self.length[pivot]);
        self.member[pivot] = true;
        let mut weight = 0;
        for k in 0..=elements {
            let (from, count) = if k < elements {
                let e = self.list[at + k];
                self.stamp[e] = 0;
                (self.start[e], self.length[e])
            } else {
                (at + elements, length - elements)
            };
            for p in from..from + count {
                let i = self.list[p];
                if self.weight[i] > 0 && !self.is_element[i] && !self.member[i] {
                    self.member[i] = true;
                    weight += self.weight[i];
                    self.unlist(i);
                    self.list.push(i);
                }
            }
        }
        (self.is_element[pivot], self.member[pivot]) = (true, false);
        (self.start[pivot], self.length[pivot]) = (begin, self.list.len() - begin);
        self.degree[pivot] = weight;
        begin..self.list.len()
    }

    /// How much of each neighbouring element is outside of the new one.
    fn outside(&mut self, members: std::ops::Range<usize>) {
        for at in members {
            let i = self.list[at];
            for p in self.start[i]..self.start[i] + self.elements[i] {
                let e = self.list[p];
                if self.stamp[e] >= self.mark {
                    self.stamp[e] -= self.weight[i];
                } else if self.stamp[e] != 0 {
                    self.stamp[e] = self.degree[e] + self.mark - self.weight[i];
                }
            }
        }
    }

    /// Cleans the list of a member and bounds its degree without the new element. Rows of it that are
    /// eliminated with the pivot, because nothing but the element is left around it.
    fn update<'a>(&mut self, i: usize, pivot: usize, around: &impl Fn(usize) -> &'a [usize]) -> usize {
        let (begin, elements, length) = (self.start[i], self.elements[i], self.length[i]);
        let (mut to, mut degree, mut hash) = (begin, 0, 0_usize);
        for p in begin..begin + elements {
            let e = self.list[p];
            if self.stamp[e] > self.mark {
                degree += self.stamp[e] - self.mark;
                hash = hash.wrapping_add(e);
                self.list[to] = e;
                to += 1;
            } else if self.stamp[e] != 0 {
                // all of it is in the new one
                self.stamp[e] = 0;
            }
        }
        let kept = to - begin;
        for p in begin + elements..begin + length {
            let j = self.list[p];
            if self.weight[j] > 0 && !self.is_element[j] && !self.member[j] {
                degree += self.weight[j];
                hash = hash.wrapping_add(j);
                self.list[to] = j;
                to += 1;
            }
        }
        let weight = self.weight[i];
        if degree == 0 && self.is_free(i, around(i)) {
            self.finish(i, around);
            (self.weight[i], self.member[i]) = (0, false);
            return weight;
        }
        self.degree[i] = self.degree[i].min(degree);
        // the pivot or one of its elements was in this list, so there is room for the new element at its front
        self.list[to] = self.list[begin + kept];
        self.list[begin + kept] = self.list[begin];
        self.list[begin] = pivot;
        (self.elements[i], self.length[i]) = (kept + 1, to - begin + 1);
        let hash = hash % self.weight.len();
        (self.hash[i], self.after[i]) = (hash, self.bucket[hash]);
        self.bucket[hash] = i;
        0
    }

    /// Merges the members with the hash of this one that have its elements and neighbours.
    fn merge(&mut self, member: usize) {
        if self.weight[member] == 0 {
            return;
        }
        let mut i = std::mem::replace(&mut self.bucket[self.hash[member]], NONE);
        while i != NONE && self.after[i] != NONE {
            let (from, length, elements) = (self.start[i], self.length[i], self.elements[i]);
            for p in from + 1..from + length {
                self.stamp_node(p);
            }
            let (mut previous, mut j) = (i, self.after[i]);
            while j != NONE {
                let at = self.start[j];
                let equal = !self.saddle[i]
                    && !self.saddle[j]
                    && !self.held[i]
                    && !self.held[j]
                    && (self.length[j], self.elements[j]) == (length, elements)
                    && (at + 1..at + length).all(|p| self.stamp[self.list[p]] == self.mark);
                let following = self.after[j];
                if equal {
                    self.weight[i] += self.weight[j];
                    (self.weight[j], self.member[j]) = (0, false);
                    let last = self.last[i];
                    (self.same[last], self.last[i]) = (j, self.last[j]);
                    self.after[previous] = following;
                } else {
                    previous = j;
                }
                j = following;
            }
            i = self.after[i];
            self.mark += 1;
        }
    }

    fn stamp_node(&mut self, p: usize) {
        let other = self.list[p];
        self.stamp[other] = self.mark;
    }

    /// Lists the members by their degrees, joints only when they have room.
    fn close<'a>(
        &mut self,
        pivot: usize,
        members: std::ops::Range<usize>,
        around: &impl Fn(usize) -> &'a [usize],
    ) {
        let mut to = members.start;
        for at in members.clone() {
            let i = self.list[at];
            let weight = self.weight[i];
            if weight == 0 {
                continue;
            }
            self.member[i] = false;
            let others = self.degree[pivot] - weight;
            self.degree[i] = (self.degree[i] + others).min(self.total - self.eliminated - weight);
            if self.is_free(i, around(i)) {
                self.enlist(i);
            }
            self.list[to] = i;
            to += 1;
        }
        self.length[pivot] = to - members.start;
        self.list.truncate(to);
        if self.length[pivot] == 0 {
            self.stamp[pivot] = 0;
        }
    }
}
