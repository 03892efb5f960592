//! Which shapes are near each other, and where: the broad phase, then pair by pair, on as many threads as there are.
//!
//! A step ends where the next one begins, and a pass of post-stabilization begins where it was measured that one is
//! needed. So what was found of a pair is kept, and taken when the same is asked again.

use super::part::Part;
use super::placed::Placed;
use super::tables::{PairTable, Tables};
use crate::material::Depth;
use crate::system::{ContactId, ContactQuery, ContactRow, SearchCache};
use nalgebra::Isometry3;
use rayon::prelude::*;
use stiction_geometry::broad::{BroadPhase, Extent};
use stiction_geometry::spatial::{Gap, bounds, gaps_from, minkowski_gap};
use stiction_lcp::threads;

/// Pairs that a thread takes at a time: some 50 µs of work.
const CHUNK: usize = 16;

/// Pairs below which threads cost more than they save.
const SERIAL: usize = 4 * CHUNK;

/// Storage of searches, kept from call to call.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) placed: Vec<Placed>,
    poses: Vec<Isometry3<f64>>,
    /// How far each body goes [m].
    travels: Vec<f64>,
    boxes: Vec<Extent>,
    broad: BroadPhase,
    pairs: Vec<[usize; 2]>,
    /// What the threads find, each in its own: rows,
    rows: Vec<Chunk<ContactRow>>,
    /// and gaps alone.
    bare: Vec<Chunk<(ContactId, f64)>>,
    /// What the last search found.
    last: Finds,
    now: Finds,
}

/// What searches found, in the order of the pairs.
#[derive(Debug, Default)]
struct Finds {
    found: Vec<Found>,
    gaps: Vec<Gap>,
}

/// What the search of a pair was asked and found: a function of all that stands here.
#[derive(Debug, Clone, Copy)]
struct Found {
    pair: [usize; 2],
    poses: [Isometry3<f64>; 2],
    reach: f64,
    /// Facets at which it started, and at which it ended.
    facets: [Option<[u32; 4]>; 2],
    /// The end of its gaps, which begin where those of the pair before end.
    end: usize,
}

#[derive(Debug)]
struct Chunk<R> {
    finds: Finds,
    rows: Vec<R>,
}

impl<R> Default for Chunk<R> {
    fn default() -> Self {
        Self { finds: Finds::default(), rows: Vec::new() }
    }
}

/// All that the searches of a call share.
struct Question<'a> {
    tables: &'a Tables,
    near: &'a ContactQuery<'a>,
    poses: &'a [Isometry3<f64>],
    travels: &'a [f64],
    cache: &'a SearchCache,
    last: &'a Finds,
}

impl Scratch {
    /// Places the shapes, and finds the pairs of this kind that may be near.
    fn search(
        &mut self,
        tables: &Tables,
        (t, q): (f64, &[f64]),
        near: &ContactQuery,
        may_meet: impl Fn(usize, usize) -> bool,
    ) {
        let Self { placed, poses, travels, boxes, broad, pairs, .. } = self;
        placed.clear();
        placed.extend(tables.parts.iter().map(|part| part.placed(t, q)));
        poses.clear();
        poses.extend(tables.shapes.iter().map(|s| placed[s.body].pose * s.pose));
        travels.clear();
        let travel = |part: &Part| near.motion.map_or(0.0, |sweep| part.travel(q, sweep));
        travels.extend(tables.parts.iter().map(travel));

        // boxes grown by what each body goes and half the reach overlap whenever the shapes are within reach
        pairs.clear();
        let may_meet = |a: usize, b: usize| tables.may_meet(a, b) && may_meet(a, b);
        if near.max_gap > f64::NEG_INFINITY {
            boxes.clear();
            threads::extend(boxes, &tables.shapes, |i, s| {
                let margin = travels[s.body] + 0.5 * near.max_gap.max(0.0);
                Extent::from(bounds(&s.shape, &poses[i]).grown(margin))
            });
            broad.overlaps(boxes, may_meet, pairs);
        }
        let wanted = near.wanted.iter().filter_map(|w| Some([tables.shape(w.a)?, tables.shape(w.b)?]));
        let listed = pairs.len();
        pairs.extend(wanted.filter(|&[a, b]| a < b && may_meet(a, b)));
        if pairs.len() > listed {
            pairs.sort_unstable();
            pairs.dedup();
        }
    }

    /// The rows that `row` makes of the gaps within reach, of the pairs that may meet.
    pub(super) fn rows(
        &mut self,
        tables: &Tables,
        at: (f64, &[f64]),
        near: &ContactQuery,
        cache: &mut SearchCache,
        row: impl Fn(&[Placed], &PairTable, &Gap) -> Option<ContactRow> + Sync,
        out: &mut Vec<ContactRow>,
    ) {
        let mut chunks = std::mem::take(&mut self.rows);
        self.made(tables, at, near, cache, row, &mut chunks, out);
        self.rows = chunks;
    }

    /// The gaps within reach that `counts` says something could open or close.
    pub(super) fn gaps(
        &mut self,
        tables: &Tables,
        at: (f64, &[f64]),
        near: &ContactQuery,
        cache: &mut SearchCache,
        counts: impl Fn(&[Placed], &PairTable, &Gap) -> bool + Sync,
        out: &mut Vec<(ContactId, f64)>,
    ) {
        let mut chunks = std::mem::take(&mut self.bare);
        let bare = |placed: &[Placed], pair: &PairTable, gap: &Gap| {
            let id = ContactId { pair: pair.id, feature: gap.feature };
            counts(placed, pair, gap).then_some((id, gap.gap))
        };
        self.made(tables, at, near, cache, bare, &mut chunks, out);
        self.bare = chunks;
    }

    /// What `make` makes of the gaps within reach.
    #[allow(clippy::too_many_arguments)]
    fn made<R: Send>(
        &mut self,
        tables: &Tables,
        at: (f64, &[f64]),
        near: &ContactQuery,
        cache: &mut SearchCache,
        make: impl Fn(&[Placed], &PairTable, &Gap) -> Option<R> + Sync,
        chunks: &mut Vec<Chunk<R>>,
        out: &mut Vec<R>,
    ) {
        out.clear();
        self.search(tables, at, near, |a, b| !tables.senses(a, b));
        let Self { placed, poses, travels, pairs, last, now, .. } = self;
        let question = Question { tables, near, poses, travels, cache, last };
        let take = |pairs: &[[usize; 2]], finds: &mut Finds, rows: &mut Vec<R>| {
            for &[a, b] in pairs {
                let pair = tables.pair(a, b);
                let most = question.reach(&pair).min(near.open);
                question.find(&pair, finds);
                let gaps = finds.newest().iter().filter(|gap| gap.gap <= most);
                rows.extend(gaps.filter_map(|gap| make(placed, &pair, gap)));
            }
        };
        now.clear();
        if pairs.len() <= SERIAL || rayon::current_num_threads() == 1 {
            take(pairs, now, out);
        } else {
            let count = pairs.len().div_ceil(CHUNK);
            if chunks.len() < count {
                chunks.resize_with(count, Chunk::default);
            }
            let chunks = &mut chunks[..count];
            let work = chunks.par_iter_mut().zip(pairs.par_chunks(CHUNK));
            work.for_each(|(Chunk { finds, rows }, pairs)| take(pairs, finds, rows));
            for Chunk { finds, rows } in chunks {
                out.append(rows);
                now.append(finds);
            }
        }
        for Found { pair: [a, b], facets, .. } in &now.found {
            if let Some(facets) = facets[1] {
                cache.keep(tables.pair(*a, *b).id, facets);
            }
        }
        // a search of some pairs alone is a question between two others
        if near.max_gap > f64::NEG_INFINITY {
            std::mem::swap(last, now);
        }
    }

    /// The least gap of every pair that touches or overlaps, of those that may meet.
    pub(super) fn overlaps(
        &mut self,
        tables: &Tables,
        at: (f64, &[f64]),
        may_meet: impl Fn(usize, usize) -> bool,
        mut visit: impl FnMut(&PairTable, f64),
    ) {
        let near = &ContactQuery::within(0.0);
        self.search(tables, at, near, may_meet);
        let Self { poses, travels, pairs, last, now, .. } = self;
        let question = Question { tables, near, poses, travels, cache: &SearchCache::default(), last };
        now.clear();
        for &[a, b] in &*pairs {
            let pair = tables.pair(a, b);
            question.find(&pair, now);
            let gaps = now.newest().iter().map(|gap| gap.gap).filter(|gap| *gap <= 0.0);
            if let Some(gap) = gaps.reduce(f64::min) {
                visit(&pair, gap);
            }
        }
    }
}

impl Question<'_> {
    /// How far apart the shapes of a pair may be [m].
    fn reach(&self, pair: &PairTable) -> f64 {
        if self.near.wanted.contains(&pair.id) {
            return f64::INFINITY;
        }
        let [a, b] = [pair.a, pair.b].map(|s| self.travels[self.tables.shapes[s].body]);
        self.near.max_gap + (a + b)
    }

    /// Appends what is found of a pair: all gaps within reach, and maybe more.
    fn find(&self, pair: &PairTable, out: &mut Finds) {
        let poses = [self.poses[pair.a], self.poses[pair.b]];
        let reach = rounded_up(self.reach(pair));
        let before = self.cache.facets(pair.id);
        if let Some(known) = self.last.of([pair.a, pair.b])
            && let (found, gaps) = known
            && found.reach.to_bits() == reach.to_bits()
            && found.facets == [before; 2]
            && (0..2).all(|k| same(&found.poses[k], &poses[k]))
        {
            out.gaps.extend_from_slice(gaps);
            out.found.push(Found { end: out.gaps.len(), ..*found });
            return;
        }
        let (a, b) = (&self.tables.shapes[pair.a].shape, &self.tables.shapes[pair.b].shape);
        let mut after = None;
        let minkowski = (self.tables.depth == Depth::Minkowski)
            .then(|| minkowski_gap(a, &poses[0], b, &poses[1], None).ok().flatten());
        if let Some(gap) = minkowski.flatten() {
            out.gaps.extend((gap.gap <= reach).then_some(gap));
        } else {
            let mut basis = before.map(Into::into).unwrap_or_default();
            // a built model has pairs with gaps only
            let _ = gaps_from(a, &poses[0], b, &poses[1], reach, &mut basis, &mut out.gaps);
            after = basis.names();
        }
        let end = out.gaps.len();
        out.found.push(Found { pair: [pair.a, pair.b], poses, reach, facets: [before, after], end });
    }
}

impl Finds {
    fn clear(&mut self) {
        self.found.clear();
        self.gaps.clear();
    }

    /// What was found of a pair.
    fn of(&self, pair: [usize; 2]) -> Option<(&Found, &[Gap])> {
        let i = self.found.binary_search_by_key(&pair, |found| found.pair).ok()?;
        Some((&self.found[i], &self.gaps[self.begin(i)..self.found[i].end]))
    }

    /// The gaps of the last pair.
    fn newest(&self) -> &[Gap] {
        let begin = self.found.len().checked_sub(1).map_or(0, |last| self.begin(last));
        &self.gaps[begin..]
    }

    fn begin(&self, i: usize) -> usize {
        if i == 0 { 0 } else { self.found[i - 1].end }
    }

    /// Takes the finds of later pairs.
    fn append(&mut self, later: &mut Self) {
        let before = self.gaps.len();
        self.gaps.append(&mut later.gaps);
        self.found.extend(later.found.drain(..).map(|found| Found { end: before + found.end, ..found }));
    }
}

/// Bit by bit, so that what is found again is what would have been found.
fn same(a: &Isometry3<f64>, b: &Isometry3<f64>) -> bool {
    let bits = |x: &Isometry3<f64>| {
        let (p, q) = (x.translation.vector, x.rotation.coords);
        [p.x, p.y, p.z, q.x, q.y, q.z, q.w].map(f64::to_bits)
    };
    bits(a) == bits(b)
}

/// The next power of two, so that bodies which go a little farther ask the same.
fn rounded_up(reach: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    if reach.is_normal() && reach > 0.0 {
        f64::from_bits((reach.to_bits() + FRACTION) & !FRACTION)
    } else {
        reach
    }
}
