//! Contact reduction: a contact that follows from others needs no rows of its own. PAGT06 §10.4

mod hull;
mod limit;
mod proof;

use crate::id::BodyId;
use crate::system::{ContactId, ContactRow, is_among};
use arrayvec::ArrayVec;
use hull::{Combination, Patch};
use limit::Choice;
use proof::{Share, alike, defect};
use serde::{Deserialize, Serialize, Serializer};

/// Which contacts of two bodies are left out of the step problem.
///
/// Contact j follows from kept contacts i when there are α_i ≥ 0 with n_j = Σ α_i n_i and Δ_j ≥ Σ α_i Δ_i, for the Δ
/// of the scheme, and when its friction cone is in the sum of theirs: the same μ, T_j = Σ α_i T_i R_i with τ, and R_i
/// F_j ⊂ F_i, where R_i turns the tangents of one into those of the other. Then n_j v⁺ + Δ_j ≥ 0 follows from the kept
/// rows, and any impulse at j is one at the kept contacts. So an answer to the reduced problem, with no impulse at j,
/// answers the whole one. Rows must agree to 1e-10 of their entries, and gaps to 1e-12 of the size of the smallest
/// body: see [`Dropped::defect`]. Polygons that are turned along the slip are compared before they are turned.
///
/// Where the whole problem has more than one velocity the reduced one has fewer, and may take another than the method
/// would have. It matters where a patch spins: torsional friction depends on how the load is spread, which rigid bodies
/// leave open, and the reduced problem has the corners bear all of it. A slab of 1 m by 1 m, made of 5 × 5 cuboids,
/// that spins at 4 rad/s with μ = 0.3 stops
///
/// | load | after | within |
/// |---|---|---|
/// | at the corners: reduced | 0.32 s | 0.64 rad |
/// | spread evenly, exact | 0.59 s | 1.18 rad |
/// | at the tile in the middle: all 100 contacts, Lemke's method | 1.60 s | 3.20 rad |
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// None.
    Off,
    /// Those that follow from kept ones, each with its proof.
    #[default]
    Proven,
    /// The same, and then all but this many of every two bodies: the deepest and those that keep most of the area
    /// of the patch. What else is dropped has no proof and may be run into; 0 keeps none.
    Limit(usize),
}

/// A contact that was left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dropped {
    /// Which contact.
    pub contact: ContactId,
    /// The proof: kept contacts by their places among those of the step, each with its part α; empty for a contact
    /// dropped by the limit.
    #[serde(serialize_with = "as_list")]
    pub combination: ArrayVec<(usize, f64), 3>,
}

fn as_list<S: Serializer>(combination: &Combination, serializer: S) -> Result<S::Ok, S::Error> {
    combination.as_slice().serialize(serializer)
}

impl Dropped {
    /// The largest defect of a proof.
    pub const TOLERANCE: f64 = 1e-10;

    /// How far the proof is from holding: the largest of what the combination leaves of the rows, as a part of their
    /// entries, of the offsets Δ and τ, as a part of `speed` [m/s], and of what sticks out of a friction set, as a
    /// part of that. `contact` has its Δ in `offset`, `kept` are the contacts of the step with theirs. Infinite when
    /// the contacts cannot be compared or there is no proof; the schemes take a `speed` of 0.01 of the size of the
    /// smallest body over h.
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

/// What becomes of a contact.
#[derive(Debug, Clone, PartialEq)]
enum Fate {
    Kept,
    Proven(Combination),
    Limited,
}

/// Storage of a reduction, and what it dropped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reducer {
    /// Why each contact was dropped.
    pub(crate) dropped: Vec<Dropped>,
    kept: Vec<ContactRow>,
    fates: Vec<Fate>,
    /// Contacts by pairs of bodies.
    order: Vec<usize>,
    /// Those of two bodies that are still to be looked at, and those of one patch with their Δ.
    rest: Vec<usize>,
    members: Vec<(usize, f64)>,
    patch: Patch,
    choice: Choice,
    /// New places of the kept contacts.
    places: Vec<usize>,
}

fn pair(contact: &ContactRow) -> [BodyId; 2] {
    let [a, b] = contact.bodies;
    [a.min(b), a.max(b)]
}

impl Reducer {
    /// Leaves in `contacts` those that are kept, in their order. `offset` is the Δ of a contact in the problem
    /// that is to be solved, `speed` what offsets are measured by [m/s].
    pub(crate) fn reduce(
        &mut self,
        reduction: Reduction,
        contacts: &mut Vec<ContactRow>,
        speed: f64,
        offset: &dyn Fn(&ContactRow) -> f64,
    ) {
        self.dropped.clear();
        if reduction == Reduction::Off {
            return;
        }
        self.fates.clear();
        self.fates.resize(contacts.len(), Fate::Kept);
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
        if self.fates.iter().any(|fate| *fate != Fate::Kept) {
            self.split(contacts);
        }
    }

    /// How many contacts were dropped with proof, and how many by the limit.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let proven = self.dropped.iter().filter(|d| !d.combination.is_empty()).count();
        (proven, self.dropped.len() - proven)
    }

    /// `true` for a contact that was dropped.
    pub(crate) fn has(&self, id: ContactId) -> bool {
        is_among(id, &self.dropped, |d| d.contact)
    }

    /// Looks for proofs among the contacts of two bodies, patch by patch: contacts with one normal.
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
            // a line is held at two points, a plane at three
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

    /// Looks for proofs among `members`. Friction acts at the height of its contact, so with friction a contact
    /// follows from others in its own plane only: those that do not follow from the corners of all are tried
    /// among themselves, layer by layer.
    fn prove_patch(&mut self, contacts: &[ContactRow], speed: f64) {
        let Self { members, patch, fates, .. } = self;
        // from the lowest, so that whatever holds up others is kept before they are looked at
        members.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let first = &contacts[members[0].0];
        let (axes, layered) = (first.tangent_directions, first.mu > 0.0);
        while members.len() > first.tangents.len() + 1 {
            let along =
                |axis: [f64; 3], at: &[f64; 3]| (0..3).map(|c| axis[c] * (at[c] - first.point[c])).sum();
            let place = |i: usize| axes.map(|axis| along(axis, &contacts[i].point));
            patch.load(members.iter().map(|&(i, height)| (place(i), height)));
            let corners = patch.kept().len();
            for i in 0..members.len() {
                if patch.kept()[..corners].contains(&i) {
                    continue;
                }
                let found = patch.combination(i);
                let proof = found.filter(|found| follows(contacts, members, i, found, speed));
                if let Some(mut combination) = proof {
                    combination.iter_mut().for_each(|(k, _)| *k = members[*k].0);
                    fates[members[i].0] = Fate::Proven(combination);
                } else if !layered {
                    patch.keep(i);
                }
            }
            let mut i = 0;
            members.retain(|&(member, _)| {
                let corner = patch.kept()[..corners].contains(&i);
                i += 1;
                layered && !corner && fates[member] == Fate::Kept
            });
        }
    }

    fn limit(&mut self, contacts: &[ContactRow], group: &[usize], most: usize) {
        self.rest.clear();
        self.rest.extend(group.iter().filter(|&&i| self.fates[i] == Fate::Kept));
        if self.rest.len() <= most {
            return;
        }
        let chosen = self.choice.of(contacts, &self.rest, most);
        for &i in self.rest.iter().filter(|i| !chosen.contains(i)) {
            self.fates[i] = Fate::Limited;
        }
        // a proof by contacts that are gone is none
        for &i in group {
            if let Fate::Proven(combination) = &self.fates[i]
                && combination.iter().any(|&(k, _)| self.fates[k] != Fate::Kept)
            {
                self.fates[i] = Fate::Limited;
            }
        }
    }

    /// Takes the contacts that are not kept out of the list.
    fn split(&mut self, contacts: &mut Vec<ContactRow>) {
        let Self { dropped, kept, fates, places, .. } = self;
        kept.clear();
        places.clear();
        for (contact, fate) in contacts.drain(..).zip(fates.iter_mut()) {
            places.push(kept.len());
            match std::mem::replace(fate, Fate::Kept) {
                Fate::Kept => kept.push(contact),
                Fate::Proven(combination) => dropped.push(Dropped { contact: contact.id, combination }),
                Fate::Limited => {
                    dropped.push(Dropped { contact: contact.id, combination: ArrayVec::new() });
                }
            }
        }
        for (k, _) in dropped.iter_mut().flat_map(|d| &mut d.combination) {
            *k = places[*k];
        }
        std::mem::swap(contacts, kept);
    }
}

/// Whether a member follows from a combination of members.
fn follows(
    contacts: &[ContactRow],
    members: &[(usize, f64)],
    i: usize,
    combination: &Combination,
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

/// `true` for normals that are the same up to round-off; it decides only what is tried.
fn parallel(a: &ContactRow, b: &ContactRow) -> bool {
    let sign = if a.bodies == b.bodies { 1.0 } else { -1.0 };
    a.direction.iter().zip(&b.direction).all(|(a, b)| (a - sign * b).abs() <= 1e-9)
}
