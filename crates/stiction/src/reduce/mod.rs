//! Contact reduction: drops contacts whose constraint is implied by others, each with a proof that anyone can check.
//! From the contact rows and offsets of a step, for the step-problem builder. PAGT06 §10.4

mod hull;
mod limit;
mod proof;
mod tolerances;

use crate::id::BodyId;
use crate::system::{ContactId, ContactRow, is_among};
use arrayvec::ArrayVec;
use hull::{ConvexCombination, Patch};
use limit::WidestPatch;
use proof::{Share, alike, defect};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tolerances::PARALLEL_NORMALS;

/// Choice of the contacts of two bodies that are left out of the step problem.
///
/// Contact j is implied by kept contacts i if there are α_i ≥ 0 with
///
/// - n_j = Σ α_i n_i and Δ_j ≥ Σ α_i Δ_i, for the Δ of the scheme,
/// - a friction cone within the sum of theirs: the same μ, T_j = Σ α_i T_i R_i with τ, and R_i F_j ⊂ F_i, where R_i
///   rotates the tangents of j into those of i.
///
/// Then n_j v⁺ + Δ_j ≥ 0 follows from the kept rows, and any impulse at j is an impulse at the kept contacts. So a
/// solution of the reduced problem, with zero impulse at j, solves the full one. Rows must agree to 1e-10 of their
/// entries, and gaps to 1e-12 of the size of the smallest body: see [`Dropped::defect`]. Polygons that are aligned with
/// the slip are compared before they are aligned.
///
/// Where the full problem has several solutions the reduced problem has fewer, and its solution may differ from the one
/// that a method finds for the full problem. It matters where a patch spins: torsional friction depends on the
/// distribution of the load, which rigid bodies leave open, and the reduced problem puts all of it on the corners. A slab
/// of 1 m by 1 m, made of 5 × 5 cuboids, that spins at 4 rad/s with μ = 0.3 stops
///
/// | load | after | within |
/// |---|---|---|
/// | at the corners: reduced | 0.32 s | 0.64 rad |
/// | spread evenly, exact | 0.59 s | 1.18 rad |
/// | at the tile in the middle: all 100 contacts, Lemke's method | 1.60 s | 3.20 rad |
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// No reduction.
    Off,
    /// Drops implied contacts, each with its proof.
    #[default]
    Proven,
    /// Drops implied contacts, and keeps at most this many of the others of every two bodies: the deepest contact and
    /// those that span most of the area of the patch. The rest has no proof and may penetrate; 0 keeps none.
    Limit(usize),
}

/// Contact that was left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// Contact.
    pub contact: ContactId,
    /// Proof: kept contacts by their index in the report, each with its share α; empty for a contact dropped by the
    /// limit.
    #[serde(serialize_with = "serialize_list", deserialize_with = "deserialize_list")]
    pub combination: ArrayVec<(usize, f64), 3>,
}

fn serialize_list<S: Serializer>(list: &ConvexCombination, serializer: S) -> Result<S::Ok, S::Error> {
    list.as_slice().serialize(serializer)
}

fn deserialize_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ConvexCombination, D::Error> {
    let list = Vec::<(usize, f64)>::deserialize(deserializer)?;
    let length = list.len();
    let too_long = |_| serde::de::Error::custom(format!("a combination of {length} contacts; at most 3"));
    ConvexCombination::try_from(&list[..]).map_err(too_long)
}

impl Dropped {
    /// Largest defect of a proof, relative to the entries of the rows. Smaller: true proofs are refused at the round-off
    /// of rows. Larger: dropped contacts penetrate by more than post-stabilization ignores.
    pub const TOLERANCE: f64 = 1e-10;

    /// Defect of the proof, the largest of
    ///
    /// - the remainder of the rows after the combination, relative to their entries,
    /// - the remainder of the offsets Δ and τ, relative to `speed` [m/s],
    /// - the part of a friction set outside the other, relative to that.
    ///
    /// `contact` has its Δ in `offset`, `kept` are the contacts of the step with theirs. Infinite where contacts are not
    /// comparable or there is no proof. The schemes take a `speed` of 0.01 of the size of the smallest body over h.
    pub fn defect(&self, contact: &ContactRow, offset: f64, kept: &[(ContactRow, f64)], speed: f64) -> f64 {
        let share = |&(i, alpha): &(usize, f64)| {
            kept.get(i).map(|(contact, offset)| Share { alpha, contact, offset: *offset })
        };
        let shares: Option<ArrayVec<Share, 3>> = self.combination.iter().map(share).collect();
        match shares {
            Some(shares) if contact.id == self.contact => defect(contact, offset, &shares, speed),
            _ => f64::INFINITY,
        }
    }
}

/// Decision on a contact.
#[derive(Debug, Clone, PartialEq)]
enum Decision {
    Kept,
    Proven(ConvexCombination),
    Limited,
}

/// Contact reduction with its storage.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reducer {
    /// Dropped contacts with their proofs.
    pub(crate) dropped: Vec<Dropped>,
    /// Rows of the contacts that were dropped with a proof, in the order of `dropped`, with their places among all
    /// contacts.
    pub(crate) implied: Vec<(usize, ContactRow)>,
    /// Indices of `implied` in `dropped`.
    proofs: Vec<usize>,
    kept: Vec<ContactRow>,
    decisions: Vec<Decision>,
    /// Indices of the contacts, sorted by pair of bodies.
    order: Vec<usize>,
    /// Contacts of two bodies that belong to no patch yet.
    rest: Vec<usize>,
    /// Contacts of one patch with their Δ.
    members: Vec<(usize, f64)>,
    patch: Patch,
    widest: WidestPatch,
    /// Index of each contact among the kept ones.
    new_index: Vec<usize>,
}

/// Bodies of a contact, in ascending order.
fn pair(contact: &ContactRow) -> [BodyId; 2] {
    let [a, b] = contact.bodies;
    [a.min(b), a.max(b)]
}

impl Reducer {
    /// Removes the dropped contacts from `contacts`. `offset` is the Δ of a contact in the problem to be solved, and
    /// offsets are compared relative to `speed` [m/s].
    pub(crate) fn reduce(
        &mut self,
        reduction: Reduction,
        contacts: &mut Vec<ContactRow>,
        speed: f64,
        offset: &dyn Fn(&ContactRow) -> f64,
    ) {
        self.dropped.clear();
        self.implied.clear();
        self.proofs.clear();
        if reduction == Reduction::Off {
            return;
        }
        self.decisions.clear();
        self.decisions.resize(contacts.len(), Decision::Kept);
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..contacts.len());
        order.sort_unstable_by_key(|&i| (pair(&contacts[i]), i));
        for group in order.chunk_by(|&a, &b| pair(&contacts[a]) == pair(&contacts[b])) {
            self.prove(contacts, group, speed, offset);
            if let Reduction::Limit(most) = reduction {
                self.limit(contacts, group, most);
            }
        }
        self.order = order;
        if self.decisions.iter().any(|decision| *decision != Decision::Kept) {
            self.split(contacts);
        }
    }

    /// Numbers of contacts dropped with proof and by the limit.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let proven = self.dropped.iter().filter(|d| !d.combination.is_empty()).count();
        (proven, self.dropped.len() - proven)
    }

    /// `true` for a dropped contact.
    pub(crate) fn has(&self, id: ContactId) -> bool {
        is_among(id, &self.dropped, |d| d.contact)
    }

    /// Searches for proofs among the contacts of two bodies, patch by patch; a patch has one normal.
    fn prove(
        &mut self,
        contacts: &[ContactRow],
        group: &[usize],
        speed: f64,
        offset: &dyn Fn(&ContactRow) -> f64,
    ) {
        self.rest.clear();
        self.rest.extend_from_slice(group);
        while let Some(&first) = self.rest.first() {
            let first = &contacts[first];
            // two points support a line, three a plane
            let fewest = first.tangents.len() + 1;
            if self.rest.len() <= fewest {
                return;
            }
            self.members.clear();
            let (rest, members) = (&mut self.rest, &mut self.members);
            rest.retain(|&i| {
                let own = alike(first, &contacts[i]) && parallel(first, &contacts[i]);
                if own {
                    members.push((i, offset(&contacts[i])));
                }
                !own
            });
            if self.members.len() > fewest {
                self.prove_patch(contacts, speed);
            }
        }
    }

    /// Searches for proofs among `members`. Friction acts at the height of its contact, so with friction a contact is
    /// implied only by others in its own plane. Contacts that the corners of all do not imply are tried among
    /// themselves, layer by layer.
    fn prove_patch(&mut self, contacts: &[ContactRow], speed: f64) {
        let Self { members, patch, decisions, .. } = self;
        // from the lowest, so that supporting contacts are kept before the contacts they support are tried
        members.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let first = &contacts[members[0].0];
        let (axes, layered) = (first.tangent_directions, first.mu > 0.0);
        while members.len() > first.tangents.len() + 1 {
            let along =
                |axis: [f64; 3], at: &[f64; 3]| (0..3).map(|c| axis[c] * (at[c] - first.point[c])).sum();
            let point = |i: usize| axes.map(|axis| along(axis, &contacts[i].point));
            patch.load(members.iter().map(|&(i, height)| (point(i), height)));
            let corners = patch.kept().len();
            for i in 0..members.len() {
                if patch.kept()[..corners].contains(&i) {
                    continue;
                }
                let found = patch.combination(i);
                let proof = found.filter(|found| is_proof(contacts, members, i, found, speed));
                if let Some(mut combination) = proof {
                    combination.iter_mut().for_each(|(k, _)| *k = members[*k].0);
                    decisions[members[i].0] = Decision::Proven(combination);
                } else if !layered {
                    patch.keep(i);
                }
            }
            let mut i = 0;
            members.retain(|&(member, _)| {
                let corner = patch.kept()[..corners].contains(&i);
                i += 1;
                layered && !corner && decisions[member] == Decision::Kept
            });
        }
    }

    /// Keeps at most `most` contacts of a group.
    fn limit(&mut self, contacts: &[ContactRow], group: &[usize], most: usize) {
        self.rest.clear();
        self.rest.extend(group.iter().filter(|&&i| self.decisions[i] == Decision::Kept));
        if self.rest.len() <= most {
            return;
        }
        let chosen = self.widest.choose(contacts, &self.rest, most);
        for &i in self.rest.iter().filter(|i| !chosen.contains(i)) {
            self.decisions[i] = Decision::Limited;
        }
        // proofs by contacts that are now dropped are void
        for &i in group {
            if let Decision::Proven(combination) = &self.decisions[i]
                && combination.iter().any(|&(k, _)| self.decisions[k] != Decision::Kept)
            {
                self.decisions[i] = Decision::Limited;
            }
        }
    }

    /// Moves the dropped contacts out of `contacts`.
    fn split(&mut self, contacts: &mut Vec<ContactRow>) {
        let Self { dropped, implied, proofs, kept, decisions, new_index, .. } = self;
        kept.clear();
        new_index.clear();
        for (contact, decision) in contacts.drain(..).zip(decisions.iter_mut()) {
            new_index.push(kept.len());
            match std::mem::replace(decision, Decision::Kept) {
                Decision::Kept => kept.push(contact),
                Decision::Proven(combination) => {
                    proofs.push(dropped.len());
                    dropped.push(Dropped { contact: contact.id, combination });
                    // contacts beyond a limit have no place in the report
                    implied.push((kept.len() + implied.len(), contact));
                }
                Decision::Limited => {
                    dropped.push(Dropped { contact: contact.id, combination: ArrayVec::new() });
                }
            }
        }
        for (k, _) in dropped.iter_mut().flat_map(|d| &mut d.combination) {
            *k = new_index[*k];
        }
        std::mem::swap(contacts, kept);
    }

    /// Kept contacts that imply contact `i` of `implied`, with their shares.
    pub(crate) fn proof(&self, i: usize) -> &[(usize, f64)] {
        &self.dropped[self.proofs[i]].combination
    }

    /// Puts the contacts that were dropped with a proof back among the others, and lets proofs name contacts by their
    /// new indices. Returns the new index of each kept contact.
    pub(crate) fn restore(&mut self, contacts: &mut Vec<ContactRow>) -> &[usize] {
        let Self { dropped, implied, kept, new_index, .. } = self;
        kept.clear();
        new_index.clear();
        let mut implied = implied.drain(..).peekable();
        for contact in contacts.drain(..) {
            while let Some((_, row)) = implied.next_if(|(place, _)| *place == kept.len()) {
                kept.push(row);
            }
            new_index.push(kept.len());
            kept.push(contact);
        }
        kept.extend(implied.map(|(_, row)| row));
        for (k, _) in dropped.iter_mut().flat_map(|d| &mut d.combination) {
            *k = new_index[*k];
        }
        std::mem::swap(contacts, kept);
        new_index
    }
}

/// `true` where a combination of members proves that member `i` is implied.
fn is_proof(
    contacts: &[ContactRow],
    members: &[(usize, f64)],
    i: usize,
    combination: &ConvexCombination,
    speed: f64,
) -> bool {
    let share = |&(k, alpha): &(usize, f64)| {
        let (kept, offset) = members[k];
        Share { alpha, contact: &contacts[kept], offset }
    };
    let shares: ArrayVec<Share, 3> = combination.iter().map(share).collect();
    let (member, offset) = members[i];
    defect(&contacts[member], offset, &shares, speed) <= Dropped::TOLERANCE
}

/// `true` for equal normals.
fn parallel(a: &ContactRow, b: &ContactRow) -> bool {
    let sign = if a.bodies == b.bodies { 1.0 } else { -1.0 };
    a.direction.iter().zip(&b.direction).all(|(a, b)| (a - sign * b).abs() <= PARALLEL_NORMALS)
}
