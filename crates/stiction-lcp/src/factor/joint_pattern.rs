//! JointPattern pattern of S = N M⁻¹ Nᵀ: the nonzero blocks, found from the bodies of the joint rows, and an order of
//! elimination with little fill, for the block factorization of `joint_schur`. Chains and trees have no fill.

use arrayvec::ArrayVec;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Largest number of rows in a group: those of a joint that leaves no freedom, as many as a body has velocities.
pub(super) const GROUP_ROWS: usize = 6;

/// Joint row over one or two bodies: each body with the six entries of the row for its velocities.
pub type JointTerms<'a> = ArrayVec<(usize, &'a [f64; 6]), 2>;

/// Consecutive rows on the same bodies: mostly those of one joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JointGroup {
    pub(super) first: usize,
    pub(super) rows: usize,
    /// Number of bodies, one or two.
    pub(super) sides: usize,
    /// Indices of the bodies; with one body the second index repeats the first.
    pub(super) bodies: [usize; 2],
}

impl JointGroup {
    fn bodies(&self) -> &[usize] {
        &self.bodies[..self.sides]
    }
}

/// Two groups that share a body, and the block of S they fill.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coupling {
    pub(super) block: usize,
    pub(super) groups: [usize; 2],
    /// Sides of the groups that the body is on.
    pub(super) sides: [usize; 2],
}

/// Nonzero blocks of S. An off-diagonal block belongs to the row of the group that is eliminated first.
#[derive(Debug, Clone, Default)]
pub(super) struct JointPattern {
    pub(super) groups: Vec<JointGroup>,
    /// The groups in the order of their elimination.
    pub(super) order: Vec<usize>,
    /// The blocks in the row of each group, in the order in which those they couple it with are eliminated.
    pub(super) beside: Vec<Range<usize>>,
    /// The group that each block couples another with.
    pub(super) with: Vec<usize>,
    pub(super) couplings: Vec<Coupling>,
    /// Blocks that elimination changes, in the order in which it does: for each group, the blocks between each two of
    /// the groups it is coupled with.
    pub(super) changed: Vec<usize>,
    read: Vec<JointGroup>,
}

impl JointPattern {
    /// Reads the grouping of `count` rows and returns whether it has changed; `None` if a row is none of one or two
    /// different bodies.
    pub(super) fn read<'a>(
        &mut self,
        count: usize,
        row: impl Fn(usize) -> Option<JointTerms<'a>>,
    ) -> Option<bool> {
        self.read.clear();
        for k in 0..count {
            let terms = row(k)?;
            let (sides, bodies) = match terms[..] {
                [(body, _)] => (1, [body; 2]),
                [(a, _), (b, _)] if a != b => (2, [a, b]),
                _ => return None,
            };
            match self.read.last_mut() {
                Some(group) if (group.sides, group.bodies) == (sides, bodies) && group.rows < GROUP_ROWS => {
                    group.rows += 1;
                }
                _ => self.read.push(JointGroup { first: k, rows: 1, sides, bodies }),
            }
        }
        if self.read == self.groups {
            return Some(false);
        }
        std::mem::swap(&mut self.read, &mut self.groups);
        self.lay_out();
        Some(true)
    }

    fn lay_out(&mut self) {
        let (order, later) = minimum_degree_order(&self.groups);
        self.beside.clear();
        self.beside.resize(self.groups.len(), 0..0);
        self.with.clear();
        let mut places = BTreeMap::new();
        for &k in &order {
            let first = self.with.len();
            self.with.extend(&later[k]);
            self.beside[k] = first..self.with.len();
            places.extend(self.beside[k].clone().map(|block| ((k, self.with[block]), block)));
        }
        self.changed.clear();
        for &k in &order {
            let others = &later[k];
            let pairs =
                others.iter().enumerate().flat_map(|(i, &a)| others[i + 1..].iter().map(move |&b| (a, b)));
            self.changed.extend(pairs.map(|pair| places[&pair]));
        }
        self.couplings.clear();
        for (&(a, b), &block) in &places {
            for (side_a, body) in self.groups[a].bodies().iter().enumerate() {
                let side_b = self.groups[b].bodies().iter().position(|other| other == body);
                let coupling = |side_b| Coupling { block, groups: [a, b], sides: [side_a, side_b] };
                self.couplings.extend(side_b.map(coupling));
            }
        }
        self.order = order;
    }
}

/// Minimum-degree order of the groups, and for each group the later ones that it is coupled with when eliminated.
fn minimum_degree_order(groups: &[JointGroup]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut on: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (k, group) in groups.iter().enumerate() {
        group.bodies().iter().for_each(|&body| on.entry(body).or_default().push(k));
    }
    let mut coupled = vec![BTreeSet::new(); groups.len()];
    let couple = |coupled: &mut [BTreeSet<usize>], all: &[usize]| {
        all.iter().for_each(|&k| coupled[k].extend(all.iter().filter(|&&other| other != k)));
    };
    on.values().for_each(|all| couple(&mut coupled, all));
    let mut left: BTreeSet<(usize, usize)> = coupled.iter().enumerate().map(|(k, c)| (c.len(), k)).collect();
    let mut order = Vec::with_capacity(groups.len());
    let mut later = vec![Vec::new(); groups.len()];
    while let Some((_, k)) = left.pop_first() {
        order.push(k);
        later[k] = coupled[k].iter().copied().collect();
        for &other in &later[k] {
            left.remove(&(coupled[other].len(), other));
            coupled[other].remove(&k);
        }
        couple(&mut coupled, &later[k]);
        left.extend(later[k].iter().map(|&other| (coupled[other].len(), other)));
    }
    let mut place = vec![0; groups.len()];
    order.iter().enumerate().for_each(|(i, &k)| place[k] = i);
    later.iter_mut().for_each(|others| others.sort_unstable_by_key(|&other| place[other]));
    (order, later)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(joined: &[[usize; 2]]) -> Vec<JointGroup> {
        let group = |(k, &bodies): (usize, &[usize; 2])| JointGroup { first: k, rows: 1, sides: 2, bodies };
        joined.iter().enumerate().map(group).collect()
    }

    /// A hub with arms of two joints each, numbered from the hub. In the order of their numbers, elimination would
    /// couple each end of an arm with all other arms.
    #[test]
    fn trees_have_no_fill() {
        let arms = 5;
        let inner = (1..=arms).map(|arm| [0, arm]);
        let outer = (1..=arms).map(|arm| [arm, arms + arm]);
        let mut pattern = JointPattern {
            groups: groups(&inner.chain(outer).collect::<Vec<_>>()),
            ..JointPattern::default()
        };
        pattern.lay_out();
        // each two of the inner joints share the hub, and each outer one shares a body with its inner one
        assert_eq!(pattern.with.len(), arms * (arms - 1) / 2 + arms);
        assert_eq!(pattern.couplings.len(), pattern.with.len());
    }

    #[test]
    fn loops_have_the_fill_they_need() {
        let around = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]];
        let mut pattern = JointPattern { groups: groups(&around), ..JointPattern::default() };
        pattern.lay_out();
        // five couplings, and one more whenever two neighbours of an eliminated joint are not yet coupled
        assert_eq!((pattern.couplings.len(), pattern.with.len()), (5, 7));
    }
}
