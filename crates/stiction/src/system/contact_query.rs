//! Contact query: which contacts a scheme asks a model for, and the cache from which a search starts.

use super::PairId;
use crate::id::ShapeId;
use serde::{Deserialize, Serialize};

/// Contacts that a search is asked for.
#[derive(Debug, Clone, Copy)]
pub struct ContactQuery<'a> {
    /// Maximum gap [m].
    pub max_gap: f64,
    /// Extra distance for bodies that move during the step.
    pub motion: Option<&'a MotionBound>,
    /// Extra distance for each moving body [m], in place of `motion`; empty for none.
    pub travels: &'a [f64],
    /// Pairs whose contacts are all wanted, at any gap.
    pub wanted: &'a [PairId],
    /// Maximum gap of the contacts that are returned [m]. A model may search farther, as the other fields say, and keep
    /// the result for the next search at the same place.
    pub open: f64,
}

impl ContactQuery<'_> {
    /// Contacts with a gap of at most `max_gap` [m].
    pub fn within(max_gap: f64) -> Self {
        Self { max_gap, motion: None, travels: &[], wanted: &[], open: f64::INFINITY }
    }

    /// Query for a model that keeps no results: no farther than `open`.
    pub(crate) fn at_once(&self) -> Self {
        if self.open <= self.max_gap {
            Self { wanted: self.wanted, ..Self::within(self.open) }
        } else {
            *self
        }
    }
}

/// Bound on the motion of bodies within a step: h times the largest surface speed at either of two velocities; for
/// prescribed motions, at the start and at the end of the step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MotionBound {
    /// Time at the start of the step [s].
    pub t: f64,
    /// Step size h [s].
    pub h: f64,
    /// Velocity before the step, and free velocity at its end.
    pub v: [Vec<f64>; 2],
}

/// Search cache: the facets at which the search of each near pair ended, from which the next search starts. Part of the
/// state of a run, because gaps depend on it in the last bit. Models without such pairs ignore it.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<[u32; 6]>", into = "Vec<[u32; 6]>")]
pub struct SearchCache {
    /// Entries, sorted by pair.
    entries: Vec<CachedFacets>,
}

/// Facets of one pair.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CachedFacets {
    pair: PairId,
    facets: [u32; 4],
    /// Updated since stale entries were last removed.
    fresh: bool,
}

impl SearchCache {
    /// Facets of a pair.
    pub fn facets(&self, pair: PairId) -> Option<[u32; 4]> {
        self.position(pair).ok().map(|i| self.entries[i].facets)
    }

    /// Stores the facets of a pair; the last is 0 in the plane, where three are enough.
    pub fn keep(&mut self, pair: PairId, facets: [u32; 4]) {
        let entry = CachedFacets { pair, facets, fresh: true };
        match self.position(pair) {
            Ok(i) => self.entries[i] = entry,
            Err(i) => self.entries.insert(i, entry),
        }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// `true` without entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes pairs that were not updated since the last call: they are no longer near.
    pub(crate) fn forget_stale(&mut self) {
        self.entries.retain(|entry| entry.fresh);
        self.entries.iter_mut().for_each(|entry| entry.fresh = false);
    }

    fn position(&self, pair: PairId) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&pair, |entry| entry.pair)
    }
}

impl Clone for SearchCache {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone() }
    }

    /// Reuses the storage.
    fn clone_from(&mut self, source: &Self) {
        self.entries.clone_from(&source.entries);
    }
}

impl From<Vec<[u32; 6]>> for SearchCache {
    fn from(written: Vec<[u32; 6]>) -> Self {
        let read = |[a, b, f, g, h, i]: [u32; 6]| CachedFacets {
            pair: PairId { a: ShapeId(a), b: ShapeId(b) },
            facets: [f, g, h, i],
            fresh: false,
        };
        let mut entries: Vec<CachedFacets> = written.into_iter().map(read).collect();
        entries.sort_by_key(|entry| entry.pair);
        entries.dedup_by_key(|entry| entry.pair);
        Self { entries }
    }
}

impl From<SearchCache> for Vec<[u32; 6]> {
    fn from(cache: SearchCache) -> Self {
        let write = |CachedFacets { pair: PairId { a, b }, facets: [f, g, h, i], .. }: CachedFacets| {
            [a.0, b.0, f, g, h, i]
        };
        cache.entries.into_iter().map(write).collect()
    }
}
