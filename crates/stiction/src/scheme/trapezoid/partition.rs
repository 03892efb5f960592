//! Partition of the moving bodies into islands that cannot meet within a window of time.

use super::constants::IMPACT_GAP_RELATIVE;
use crate::state::{ActiveConstraint, State};
use crate::system::{ContactQuery, ContactRow, PairId, SearchCache, System};
use std::collections::BTreeMap;
use stiction_lcp::Row;
use stiction_lcp::factor::find_root;

/// Partition of the moving bodies.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Partition {
    /// Least body of the island of each body.
    first: Vec<usize>,
}

/// Contacts that bodies may reach within a window of time.
#[derive(Debug, Default)]
pub(crate) struct ReachableContacts {
    /// Bodies of each contact, and whether it touches or is active now.
    contacts: Vec<(Vec<usize>, bool)>,
    /// A body of each pair of shapes.
    body_of: BTreeMap<PairId, usize>,
}

impl ReachableContacts {
    /// Contacts at a state that bodies may reach by moving at most these distances [m], and the active ones.
    pub(crate) fn find<S: System + ?Sized>(
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        travels: &[f64],
    ) -> Self {
        let mut wanted: Vec<PairId> = active.iter().filter_map(|c| Some(c.contact()?.pair)).collect();
        wanted.dedup();
        let touching = IMPACT_GAP_RELATIVE * system.size();
        let query = ContactQuery { travels, wanted: &wanted, ..ContactQuery::within(touching) };
        let (mut rows, mut found) = (Vec::new(), Self::default());
        system.contacts(state.t, &state.q, &query, &mut SearchCache::default(), &mut rows);
        let starts = velocity_starts(system);
        for row in &rows {
            let bodies = bodies_of(row, &starts);
            let Some(&body) = bodies.first() else { continue };
            found.body_of.insert(row.id.pair, body);
            let holds = row.gap <= touching || wanted.binary_search(&row.id.pair).is_ok();
            found.contacts.push((bodies, holds));
        }
        found
    }

    /// A body of an active contact.
    pub(crate) fn body_of(&self, contact: &ActiveConstraint) -> Option<usize> {
        self.body_of.get(&contact.contact()?.pair).copied()
    }
}

impl Partition {
    /// Partition of this many bodies, of which joints and forces connect some.
    pub(crate) fn new(bodies: usize, connections: &[[usize; 2]]) -> Self {
        let mut partition = Self { first: (0..bodies).collect() };
        connections.iter().for_each(|pair| partition.connect(pair));
        partition.flatten();
        partition
    }

    /// Partition in which bodies are in one island if contacts hold them together.
    pub(crate) fn with_touching(&self, found: &ReachableContacts) -> Self {
        self.with_contacts(found.contacts.iter().filter(|(_, holds)| *holds))
    }

    /// Partition in which bodies are in one island if they may meet.
    pub(crate) fn with_reachable(&self, found: &ReachableContacts) -> Self {
        self.with_contacts(found.contacts.iter())
    }

    fn with_contacts<'a>(&self, contacts: impl Iterator<Item = &'a (Vec<usize>, bool)>) -> Self {
        let mut partition = self.clone();
        contacts.for_each(|(bodies, _)| partition.connect(bodies));
        partition.flatten();
        partition
    }

    fn connect(&mut self, bodies: &[usize]) {
        for pair in bodies.windows(2) {
            let roots = [pair[0], pair[1]].map(|body| find_root(&mut self.first, body));
            let least = roots[0].min(roots[1]);
            roots.iter().for_each(|&root| self.first[root] = least);
        }
    }

    fn flatten(&mut self) {
        for body in 0..self.first.len() {
            self.first[body] = find_root(&mut self.first, body);
        }
    }

    /// Bodies of each island, in ascending order.
    pub(crate) fn islands(&self) -> Vec<Vec<usize>> {
        let mut islands: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (body, &first) in self.first.iter().enumerate() {
            islands.entry(first).or_default().push(body);
        }
        islands.into_values().collect()
    }

    /// Whether two bodies are in one island.
    pub(crate) fn joins(&self, a: usize, b: usize) -> bool {
        self.first[a] == self.first[b]
    }

    /// Whether an island of this partition is in several of another.
    pub(crate) fn splits(&self, other: &Self) -> bool {
        self.first.iter().enumerate().any(|(body, &first)| !other.joins(body, first))
    }

    /// Largest number of islands of a finer partition that an island of this one consists of.
    pub(crate) fn most_parts(&self, finer: &Self) -> usize {
        let mut parts = vec![0; self.first.len()];
        let firsts = finer.first.iter().enumerate().filter(|(body, first)| body == *first);
        firsts.for_each(|(body, _)| parts[self.first[body]] += 1);
        parts.into_iter().max().unwrap_or(0)
    }
}

/// Index of the first velocity of each moving body.
fn velocity_starts<S: System + ?Sized>(system: &S) -> Vec<usize> {
    let ends = system.bodies().iter().scan(0, |end, count| {
        let start = *end;
        *end += count;
        Some(start)
    });
    ends.collect()
}

/// Moving bodies of a contact.
fn bodies_of(contact: &ContactRow, starts: &[usize]) -> Vec<usize> {
    let mut bodies = Vec::new();
    let mut add = |row: &Row| match row {
        Row::Bodies(terms) => bodies.extend(terms.iter().map(|term| term.body)),
        Row::Sparse(entries) => {
            bodies.extend(entries.iter().map(|(k, _)| starts.partition_point(|s| s <= k) - 1));
        }
    };
    add(&contact.normal);
    contact.tangents.iter().for_each(|tangent| add(&tangent.row));
    bodies.sort_unstable();
    bodies.dedup();
    bodies
}
