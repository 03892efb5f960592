//! What a search for contacts is asked, and what it remembers.

use super::PairId;
use crate::id::ShapeId;
use serde::{Deserialize, Serialize};

/// Which contacts are asked for.
#[derive(Debug, Clone, Copy)]
pub struct ContactQuery<'a> {
    /// Those with a gap of at most this [m],
    pub max_gap: f64,
    /// and as much more as the surfaces of both bodies go together.
    pub motion: Option<&'a MotionBound>,
    /// All contacts of these pairs, however far.
    pub wanted: &'a [PairId],
    /// Of all these, none that is open by more than this [m]. A system may look as far as it is asked to all the same,
    /// and remember what it saw for the next search from the same place.
    pub open: f64,
}

impl ContactQuery<'_> {
    /// Contacts with a gap of at most `reach` [m].
    pub fn within(max_gap: f64) -> Self {
        Self { max_gap, motion: None, wanted: &[], open: f64::INFINITY }
    }

    /// The same search for a system that remembers nothing: no farther than contacts may be open.
    pub(crate) fn at_once(&self) -> Self {
        if self.open <= self.max_gap {
            Self { wanted: self.wanted, ..Self::within(self.open) }
        } else {
            *self
        }
    }
}

/// How far bodies may go within a step: h times the largest speed of any point of their surfaces, at either of two
/// velocities; of prescribed motions, at the start of the step and at its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MotionBound {
    /// Start of the step [s].
    pub t: f64,
    /// Its size h [s].
    pub h: f64,
    /// The velocity before the step, and the one it would end with if nothing touched.
    pub v: [Vec<f64>; 2],
}

/// Facets at which the search of each near pair ended, for the next one to start from. Part of the state of a run,
/// as gaps depend on them in the last bit; systems without such pairs leave it alone.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<[u32; 6]>", into = "Vec<[u32; 6]>")]
pub struct SearchCache {
    /// In the order of the pairs.
    kept: Vec<Kept>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Kept {
    pair: PairId,
    facets: [u32; 4],
    /// Since stale ones were last forgotten.
    fresh: bool,
}

impl SearchCache {
    /// What was last kept of a pair.
    pub fn facets(&self, pair: PairId) -> Option<[u32; 4]> {
        self.place(pair).ok().map(|i| self.kept[i].facets)
    }

    /// Keeps the facets of a pair; the last is 0 in the plane, where three are enough.
    pub fn keep(&mut self, pair: PairId, facets: [u32; 4]) {
        let kept = Kept { pair, facets, fresh: true };
        match self.place(pair) {
            Ok(i) => self.kept[i] = kept,
            Err(i) => self.kept.insert(i, kept),
        }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// `true` when nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Forgets pairs that nothing was kept of since the last call: they are no longer near.
    pub(crate) fn forget_stale(&mut self) {
        self.kept.retain(|kept| kept.fresh);
        self.kept.iter_mut().for_each(|kept| kept.fresh = false);
    }

    fn place(&self, pair: PairId) -> Result<usize, usize> {
        self.kept.binary_search_by_key(&pair, |kept| kept.pair)
    }
}

impl Clone for SearchCache {
    fn clone(&self) -> Self {
        Self { kept: self.kept.clone() }
    }

    /// Into the storage that is there.
    fn clone_from(&mut self, source: &Self) {
        self.kept.clone_from(&source.kept);
    }
}

impl From<Vec<[u32; 6]>> for SearchCache {
    fn from(written: Vec<[u32; 6]>) -> Self {
        let read = |[a, b, f, g, h, i]: [u32; 6]| Kept {
            pair: PairId { a: ShapeId(a), b: ShapeId(b) },
            facets: [f, g, h, i],
            fresh: false,
        };
        let mut kept: Vec<Kept> = written.into_iter().map(read).collect();
        kept.sort_by_key(|kept| kept.pair);
        kept.dedup_by_key(|kept| kept.pair);
        Self { kept }
    }
}

impl From<SearchCache> for Vec<[u32; 6]> {
    fn from(cache: SearchCache) -> Self {
        let write = |Kept { pair: PairId { a, b }, facets: [f, g, h, i], .. }: Kept| [a.0, b.0, f, g, h, i];
        cache.kept.into_iter().map(write).collect()
    }
}
