//! Partition of a step problem into islands: sets of bodies connected by joints, contacts and pairs. The world connects
//! nothing.

use super::island::{IslandMembers, bodies_of};
use crate::factor::find_root;
use crate::problem::{Row, StepProblem};

/// Bodies, joints, contacts and pairs of a problem, sorted by island.
#[derive(Debug, Clone, Default)]
pub(super) struct Partition {
    parent: Vec<usize>,
    /// Island of each body; `NO_ISLAND` if no joint or contact reaches it.
    island: Vec<usize>,
    count: usize,
    bodies: Groups,
    joints: Groups,
    contacts: Groups,
    pairs: Groups,
}

/// Indices sorted by their group.
#[derive(Debug, Clone, Default)]
struct Groups {
    start: Vec<usize>,
    members: Vec<usize>,
}

const NO_ISLAND: usize = usize::MAX;

impl Partition {
    /// Number of islands.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Members of an island, each list in ascending order.
    pub(super) fn island(&self, i: usize) -> IslandMembers<'_> {
        IslandMembers {
            bodies: self.bodies.of(i),
            joints: self.joints.of(i),
            contacts: self.contacts.of(i),
            pairs: self.pairs.of(i),
        }
    }

    /// Splits a problem; islands are in the order of their first bodies.
    pub(super) fn split(&mut self, problem: &StepProblem) {
        self.parent.clear();
        self.parent.extend(0..problem.bodies.len());
        self.island.clear();
        self.island.resize(problem.bodies.len(), NO_ISLAND);
        let joint = |j: usize| ends(&problem.joints[j].row.row);
        let contact = |c: usize| bodies_of(problem, &problem.contacts[c]);
        let pair = |p: usize| [Some(problem.pairs[p].a), Some(problem.pairs[p].b)];
        for (count, ends) in [
            (problem.joints.len(), &joint as &dyn Fn(usize) -> [Option<usize>; 2]),
            (problem.contacts.len(), &contact),
            (problem.pairs.len(), &pair),
        ] {
            for i in 0..count {
                if let [Some(a), Some(b)] = ends(i) {
                    let (a, b) = (find_root(&mut self.parent, a), find_root(&mut self.parent, b));
                    self.parent[a.max(b)] = a.min(b);
                }
            }
        }
        // bodies without joints and contacts belong to no island
        for ends in (0..problem.joints.len()).map(joint).chain((0..problem.contacts.len()).map(contact)) {
            for body in ends.into_iter().flatten() {
                let root = find_root(&mut self.parent, body);
                self.island[root] = 0;
            }
        }
        self.count = 0;
        for body in 0..problem.bodies.len() {
            let root = find_root(&mut self.parent, body);
            if root != body {
                self.island[body] = self.island[root];
            } else if self.island[body] == 0 {
                self.island[body] = self.count;
                self.count += 1;
            }
        }
        let island = |ends: [Option<usize>; 2]| ends[0].map_or(NO_ISLAND, |b| self.island[b]);
        self.bodies.sort(self.count, problem.bodies.len(), |b| self.island[b]);
        self.joints.sort(self.count, problem.joints.len(), |j| island(joint(j)));
        self.contacts.sort(self.count, problem.contacts.len(), |c| island(contact(c)));
        self.pairs.sort(self.count, problem.pairs.len(), |p| island(pair(p)));
    }
}

/// Bodies of a row.
pub(super) fn ends(row: &Row) -> [Option<usize>; 2] {
    match row {
        Row::Bodies(terms) => std::array::from_fn(|k| terms.get(k).map(|t| t.body)),
        Row::Sparse(_) => [None; 2],
    }
}

impl Groups {
    fn of(&self, group: usize) -> &[usize] {
        &self.members[self.start[group]..self.start[group + 1]]
    }

    /// Counting sort of `0..count` by `group`; members of no group are left out.
    fn sort(&mut self, groups: usize, count: usize, group: impl Fn(usize) -> usize) {
        self.start.clear();
        self.start.resize(groups + 1, 0);
        for i in (0..count).map(&group).filter(|&g| g != NO_ISLAND) {
            self.start[i + 1] += 1;
        }
        for g in 0..groups {
            self.start[g + 1] += self.start[g];
        }
        self.members.clear();
        self.members.resize(self.start[groups], 0);
        for i in 0..count {
            let g = group(i);
            if g != NO_ISLAND {
                self.members[self.start[g]] = i;
                self.start[g] += 1;
            }
        }
        for g in (1..=groups).rev() {
            self.start[g] = self.start[g - 1];
        }
        self.start[0] = 0;
    }
}
