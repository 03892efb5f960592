//! Contact search: broad phase over bounding boxes, then the gaps of each pair, on several threads.
//!
//! A step ends where the next one begins, and a stabilization pass begins where its need was measured. So the gaps
//! of a pair are kept and reused when the same question is asked again ([`Formulas::REUSES_GAPS`]).

use super::body_layout::BodyLayout;
use super::formulas::Formulas;
use super::layout::{Layout, PlacedPair, ShapePair};
use super::placement::Placement;
use crate::system::{ContactId, ContactQuery, ContactRow, SearchCache};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};
use stiction_geometry::broad::{BroadPhase, Extent};
use stiction_lcp::threads;

/// Pairs that a thread takes at a time, about 50 µs of work. Range 4 to 64: fewer cost more in scheduling, more
/// leave threads idle at the end.
const PAIRS_PER_CHUNK: usize = 16;

/// Pairs up to which one thread is faster: four chunks. Results do not depend on it.
const MAX_SERIAL_PAIRS: usize = 4 * PAIRS_PER_CHUNK;

/// Gap within which boxes count as touching when overlaps are sought, relative to the smallest body: boxes of
/// shapes that touch may be apart by round-off. Range 1e-14 to 1e-9: below it touching sensors are missed, above
/// it more pairs are looked at in vain.
const TOUCHING_BOXES: f64 = 1e-12;

/// Box of a shape that is not sound: it overlaps nothing.
const NOWHERE: Extent = Extent { min: [f64::NAN; 3], max: [f64::NAN; 3] };

/// Storage of searches, kept from call to call.
#[derive(Debug)]
pub(crate) struct SearchWorkspace<D: Formulas> {
    placements: Vec<Placement<D>>,
    poses: Vec<D::Isometry>,
    /// Largest distance that a point of each body moves [m].
    travels: Vec<f64>,
    boxes: Vec<Extent>,
    broad: BroadPhase,
    pairs: Vec<[usize; 2]>,
    /// Rows that the threads make, each in its own chunk.
    rows: Vec<Chunk<D, ContactRow>>,
    /// Gaps without rows.
    bare: Vec<Chunk<D, (ContactId, f64)>>,
    /// Gaps of the last search.
    last: PairGaps<D>,
    now: PairGaps<D>,
}

impl<D: Formulas> Default for SearchWorkspace<D> {
    fn default() -> Self {
        Self {
            placements: Vec::new(),
            poses: Vec::new(),
            travels: Vec::new(),
            boxes: Vec::new(),
            broad: BroadPhase::default(),
            pairs: Vec::new(),
            rows: Vec::new(),
            bare: Vec::new(),
            last: PairGaps::default(),
            now: PairGaps::default(),
        }
    }
}

/// Gaps that searches found, in the order of the pairs.
#[derive(Debug)]
struct PairGaps<D: Formulas> {
    searches: Vec<PairSearch<D>>,
    gaps: Vec<D::Gap>,
}

impl<D: Formulas> Default for PairGaps<D> {
    fn default() -> Self {
        Self { searches: Vec::new(), gaps: Vec::new() }
    }
}

/// Search of a pair: its gaps are a function of everything that stands here.
#[derive(Debug, Clone, Copy)]
struct PairSearch<D: Formulas> {
    pair: [usize; 2],
    poses: [D::Isometry; 2],
    max_gap: f64,
    /// Facets at which it started, and at which it ended.
    facets: [Option<[u32; 4]>; 2],
    /// The pair has a gap function.
    has_gap: bool,
    /// End of its gaps, which begin where those of the pair before end.
    end: usize,
}

/// Part of the pairs that one thread works on.
#[derive(Debug)]
struct Chunk<D: Formulas, R> {
    gaps: PairGaps<D>,
    rows: Vec<R>,
}

impl<D: Formulas, R> Default for Chunk<D, R> {
    fn default() -> Self {
        Self { gaps: PairGaps::default(), rows: Vec::new() }
    }
}

/// Data that the searches of all pairs of a call share.
struct SharedQuery<'a, D: Formulas> {
    layout: &'a Layout<D>,
    query: &'a ContactQuery<'a>,
    poses: &'a [D::Isometry],
    travels: &'a [f64],
    cache: &'a SearchCache,
    last: &'a PairGaps<D>,
}

/// Instant of a search: time [s] and coordinates.
pub(crate) type Instant<'a> = (f64, &'a [f64]);

impl<D: Formulas> SearchWorkspace<D> {
    /// Places the shapes, and finds the pairs of this kind whose boxes overlap.
    fn broad_phase(
        &mut self,
        layout: &Layout<D>,
        (t, q): Instant,
        query: &ContactQuery,
        is_wanted: impl Fn(usize, usize) -> bool,
    ) {
        let Self { placements, poses, travels, boxes, broad, pairs, .. } = self;
        placements.clear();
        placements.extend(layout.bodies.iter().map(|body| body.place(t, q)));
        poses.clear();
        poses.extend(layout.shapes.iter().map(|s| D::shape_pose(s, &placements[s.body])));
        travels.clear();
        let travel = |body: &BodyLayout<D>| query.motion.map_or(0.0, |motion| body.travel(q, motion));
        travels.extend(layout.bodies.iter().map(travel));
        for (&body, &travel) in layout.moving.iter().zip(query.travels) {
            travels[body] = travel;
        }

        // boxes grown by the travel and half the gap overlap whenever the shapes are within the gap
        pairs.clear();
        let may_meet = |a: usize, b: usize| is_wanted(a, b) && layout.may_meet(a, b);
        if query.max_gap > f64::NEG_INFINITY {
            boxes.clear();
            threads::extend(boxes, &layout.shapes, |i, s| {
                let margin = travels[s.body] + 0.5 * query.max_gap.max(0.0);
                if layout.is_sound(i) { D::bounds(&s.shape, &poses[i], margin) } else { NOWHERE }
            });
            broad.overlaps(boxes, may_meet, pairs);
        }
        let wanted = query.wanted.iter().filter_map(|w| Some([layout.shape(w.a)?, layout.shape(w.b)?]));
        let listed = pairs.len();
        pairs.extend(wanted.filter(|&[a, b]| a < b && may_meet(a, b)));
        if pairs.len() > listed {
            pairs.sort_unstable();
            pairs.dedup();
        }
    }

    /// Contact rows of all gaps that are asked for.
    pub(crate) fn rows(
        &mut self,
        layout: &Layout<D>,
        at: Instant,
        query: &ContactQuery,
        cache: &mut SearchCache,
        out: &mut Vec<ContactRow>,
    ) {
        let mut chunks = std::mem::take(&mut self.rows);
        let row = |placements: &[Placement<D>], pair: &ShapePair, gap: &D::Gap| {
            D::contact_row(&PlacedPair::new(layout, placements, pair, gap))
        };
        self.narrow_phase(layout, at, query, cache, row, (&mut chunks, out));
        self.rows = chunks;
    }

    /// Gaps that are asked for and that a moving body can open or close.
    pub(crate) fn gaps(
        &mut self,
        layout: &Layout<D>,
        at: Instant,
        query: &ContactQuery,
        cache: &mut SearchCache,
        out: &mut Vec<(ContactId, f64)>,
    ) {
        let mut chunks = std::mem::take(&mut self.bare);
        let bare = |placements: &[Placement<D>], pair: &ShapePair, gap: &D::Gap| {
            let [a, b] = [pair.a, pair.b].map(|s| &placements[layout.shapes[s].body]);
            let (value, feature) = D::gap(gap);
            D::is_movable(a, b, gap).then_some((ContactId { pair: pair.id, feature }, value))
        };
        self.narrow_phase(layout, at, query, cache, bare, (&mut chunks, out));
        self.bare = chunks;
    }

    /// Results of `make` for all gaps that are asked for, in the order of the pairs.
    fn narrow_phase<R: Send>(
        &mut self,
        layout: &Layout<D>,
        at: Instant,
        query: &ContactQuery,
        cache: &mut SearchCache,
        make: impl Fn(&[Placement<D>], &ShapePair, &D::Gap) -> Option<R> + Sync,
        (chunks, out): (&mut Vec<Chunk<D, R>>, &mut Vec<R>),
    ) {
        out.clear();
        let query = &if D::REUSES_GAPS { *query } else { query.at_once() };
        self.broad_phase(layout, at, query, |a, b| !layout.senses(a, b));
        let Self { placements, poses, travels, pairs, last, now, .. } = self;
        let shared = SharedQuery { layout, query, poses, travels, cache, last };
        let search = |pairs: &[[usize; 2]], gaps: &mut PairGaps<D>, rows: &mut Vec<R>| {
            for &[a, b] in pairs {
                let pair = layout.pair(a, b);
                let max_gap = shared.max_gap(&pair).min(query.open);
                shared.search(&pair, gaps);
                let near = gaps.newest().iter().filter(|gap| D::gap(gap).0 <= max_gap);
                rows.extend(near.filter_map(|gap| make(placements, &pair, gap)));
            }
        };
        now.clear();
        if pairs.len() <= MAX_SERIAL_PAIRS || rayon::current_num_threads() == 1 {
            search(pairs, now, out);
        } else {
            let count = pairs.len().div_ceil(PAIRS_PER_CHUNK);
            if chunks.len() < count {
                chunks.resize_with(count, Chunk::default);
            }
            let chunks = &mut chunks[..count];
            let work = chunks.par_iter_mut().zip(pairs.par_chunks(PAIRS_PER_CHUNK));
            work.for_each(|(Chunk { gaps, rows }, pairs)| search(pairs, gaps, rows));
            for Chunk { gaps, rows } in chunks {
                out.append(rows);
                now.append(gaps);
            }
        }
        for PairSearch { pair: [a, b], facets, .. } in &now.searches {
            if let Some(facets) = facets[1] {
                cache.keep(layout.pair(*a, *b).id, facets);
            }
        }
        // a search of some pairs alone is asked between two searches of all: those are the ones to reuse
        if D::REUSES_GAPS && query.max_gap > f64::NEG_INFINITY {
            std::mem::swap(last, now);
        }
    }

    /// Visits every pair of the wanted kind that touches or overlaps, with its least gap. A pair without a gap
    /// function counts as touching when its boxes do.
    pub(crate) fn overlaps(
        &mut self,
        layout: &Layout<D>,
        at: Instant,
        is_wanted: impl Fn(usize, usize) -> bool,
        mut visit: impl FnMut(&ShapePair, f64),
    ) {
        let query = &ContactQuery::within(TOUCHING_BOXES * layout.size);
        self.broad_phase(layout, at, query, is_wanted);
        let Self { poses, travels, pairs, last, now, .. } = self;
        let shared = SharedQuery { layout, query, poses, travels, cache: &SearchCache::default(), last };
        now.clear();
        for &[a, b] in &*pairs {
            let pair = layout.pair(a, b);
            if !shared.search(&pair, now) {
                visit(&pair, 0.0);
                continue;
            }
            let gaps = now.newest().iter().map(|gap| D::gap(gap).0).filter(|gap| *gap <= 0.0);
            if let Some(gap) = gaps.reduce(f64::min) {
                visit(&pair, gap);
            }
        }
    }
}

impl<D: Formulas> SharedQuery<'_, D> {
    /// Largest gap of a pair that is asked for [m].
    fn max_gap(&self, pair: &ShapePair) -> f64 {
        if self.query.wanted.contains(&pair.id) {
            return f64::INFINITY;
        }
        let [a, b] = [pair.a, pair.b].map(|s| self.travels[self.layout.shapes[s].body]);
        self.query.max_gap + (a + b)
    }

    /// Appends the gaps of a pair: all that are asked for, and maybe more. `false` if it has no gap function.
    fn search(&self, pair: &ShapePair, out: &mut PairGaps<D>) -> bool {
        let poses = [self.poses[pair.a], self.poses[pair.b]];
        let max_gap = self.max_gap(pair);
        let max_gap = if D::REUSES_GAPS { rounded_up(max_gap) } else { max_gap };
        let before = self.cache.facets(pair.id);
        if let Some(known) = self.last.of([pair.a, pair.b])
            && let (search, gaps) = known
            && search.max_gap.to_bits() == max_gap.to_bits()
            && search.facets == [before; 2]
            && (0..2).all(|k| D::same_bits(&search.poses[k], &poses[k]))
        {
            out.gaps.extend_from_slice(gaps);
            out.searches.push(PairSearch { end: out.gaps.len(), ..*search });
            return search.has_gap;
        }
        let (a, b) = (&self.layout.shapes[pair.a].shape, &self.layout.shapes[pair.b].shape);
        let depth = self.layout.depth;
        let found = D::gaps(depth, (a, &poses[0]), (b, &poses[1]), max_gap, before, &mut out.gaps);
        let (after, has_gap) = found.map_or((None, false), |facets| (facets, true));
        let (pair, end) = ([pair.a, pair.b], out.gaps.len());
        out.searches.push(PairSearch { pair, poses, max_gap, facets: [before, after], has_gap, end });
        has_gap
    }
}

impl<D: Formulas> PairGaps<D> {
    fn clear(&mut self) {
        self.searches.clear();
        self.gaps.clear();
    }

    /// Search of a pair and its gaps.
    fn of(&self, pair: [usize; 2]) -> Option<(&PairSearch<D>, &[D::Gap])> {
        let i = self.searches.binary_search_by_key(&pair, |search| search.pair).ok()?;
        Some((&self.searches[i], &self.gaps[self.begin(i)..self.searches[i].end]))
    }

    /// Gaps of the last pair.
    fn newest(&self) -> &[D::Gap] {
        let begin = self.searches.len().checked_sub(1).map_or(0, |last| self.begin(last));
        &self.gaps[begin..]
    }

    fn begin(&self, i: usize) -> usize {
        if i == 0 { 0 } else { self.searches[i - 1].end }
    }

    /// Takes the gaps of later pairs.
    fn append(&mut self, later: &mut Self) {
        let before = self.gaps.len();
        self.gaps.append(&mut later.gaps);
        let moved = |search: PairSearch<D>| PairSearch { end: before + search.end, ..search };
        self.searches.extend(later.searches.drain(..).map(moved));
    }
}

/// Workspace that is taken while it is in use and put back after: a prescribed motion that asks the model for
/// contacts finds an empty one instead of a deadlock.
#[derive(Debug)]
pub(crate) struct SharedWorkspace<D: Formulas>(Mutex<SearchWorkspace<D>>);

impl<D: Formulas> Default for SharedWorkspace<D> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<D: Formulas> SharedWorkspace<D> {
    /// Runs a search in the workspace.
    pub(crate) fn with(&self, search: impl FnOnce(&mut SearchWorkspace<D>)) {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut workspace = std::mem::take(&mut *lock());
        search(&mut workspace);
        *lock() = workspace;
    }
}

/// Next power of two, so that bodies which move a little farther ask the same question.
fn rounded_up(max_gap: f64) -> f64 {
    const FRACTION_BITS: u64 = (1 << 52) - 1;
    if max_gap.is_normal() && max_gap > 0.0 {
        f64::from_bits((max_gap.to_bits() + FRACTION_BITS) & !FRACTION_BITS)
    } else {
        max_gap
    }
}
