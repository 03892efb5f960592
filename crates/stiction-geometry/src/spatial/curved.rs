//! Gaps of two bounded shapes of which at least one is curved or rounded: every near pair of features has its own.
//!
//! A normal near the common one comes from the cores as convex bodies. The features of both that face along it are
//! paired; each pair has its exact common normal. Bodies that lie along each other so have a gap at both ends of a line
//! and around a face. If they are apart, the least of them is their distance.

use std::cell::Cell;

use nalgebra::{Isometry3, Point3, Vector3};

use super::core::Core;
use super::feature::CoreFeature;
use super::feature_pair::{CoreEvent, FeaturePair, WAY_RANK};
use super::gap::Gap;
use super::solid::BoxFacets;
use super::{Shape, size};
use crate::convex::{Support, departing_normal, separating_normal};
use crate::events::MERGED_EVENTS_RELATIVE;
use crate::gap::push_within;

/// Least cosine of the angle between the normal of an event and the normal of the bodies: 26°. Sensible range 0.7 to
/// 0.99. Events with normals far off are about passing by, not about touching.
const MIN_EVENT_COSINE: f64 = 0.9;

/// Excess of the least gap over the separation along the normal, relative to the size, at which round-off has lost the
/// nearest features: the separation of the cores is then taken. Sensible range 1e-8 to 1e-4.
const LOST_RELATIVE: f64 = 1e-6;

/// Deficit of an event below the separation along the normal, relative to the size, that is round-off. Sensible range
/// 1e-12 to 1e-8.
const DEEPER_RELATIVE: f64 = 1e-9;

/// Difference of two normals that are the same but for round-off [1]. Range ε to 1e-12.
const SAME_NORMAL: f64 = 1e-14;

/// Normals tried for bodies that overlap, each the way out along the one before: more than 3 are rarely needed.
const MAX_WAYS_OUT: usize = 100;

/// CoreFeature code of a body whose features are lost.
const LOST: u32 = u16::MAX as u32;

/// Memory of a search, kept from call to call.
#[derive(Default)]
struct CurvedSearch {
    features: Vec<CoreFeature>,
    events: Vec<CoreEvent>,
}

thread_local! {
    static CURVED_SEARCH: Cell<CurvedSearch> = Cell::default();
}

/// Appends every gap <= `reach` [m] of two bounded shapes.
pub(super) fn curved_gaps(
    (a, pose_a): (&Shape, &Isometry3<f64>),
    (b, pose_b): (&Shape, &Isometry3<f64>),
    reach: f64,
    out: &mut Vec<Gap>,
) {
    let boxes = [BoxFacets::of(a.core().0), BoxFacets::of(b.core().0)];
    let cores = (Core::of(a, pose_a, boxes[0].as_ref()), Core::of(b, pose_b, boxes[1].as_ref()));
    let (Some(core_a), Some(core_b)) = cores else { return };
    let [size_a, size_b] = [size(a), size(b)];
    let size = if size_a.min(size_b) > 0.0 { size_a.min(size_b) } else { size_a.max(size_b) };
    let Some(mut n) = separating_normal(&core_a, &core_b, size) else { return };
    // no gap is less than the separation along a normal
    if separation(&core_a, &core_b, &n) - (core_a.radius + core_b.radius) > reach {
        return;
    }

    let mut search = CURVED_SEARCH.take();
    n = search.events_along([&core_a, &core_b], n, size);
    let events = &mut search.events;
    add_lost(&core_a, &core_b, &n, LOST_RELATIVE * size, events);
    let kept = merge(events, &n, MERGED_EVENTS_RELATIVE * size);
    for event in &events[..kept] {
        let CoreEvent { on_a, core, normal, codes, .. } = *event;
        let on_b = on_a + core * normal;
        let feature = codes[0] << 16 | codes[1];
        let gap = Gap::rounded((on_a, core_a.radius), (on_b, core_b.radius), core, normal, feature);
        push_within(gap, reach, out);
    }
    CURVED_SEARCH.set(search);
}

impl CurvedSearch {
    /// Finds the events of two cores about a normal near their common one; returns the normal that they are about.
    fn events_along(&mut self, cores: [&Core<'_>; 2], mut n: Vector3<f64>, size: f64) -> Vector3<f64> {
        let Self { features, events } = self;
        let [a, b] = cores;
        let mut exact = false;
        for _ in 0..MAX_WAYS_OUT {
            pair_features(cores, &n, size, features, events);
            let core = separation(a, b, &n);
            // the overlap may be less along a common normal farther away, or on the way out along this one
            let better = |event: &CoreEvent| {
                let other = separation(a, b, &event.normal);
                (other > core).then_some((other, event.normal))
            };
            let greatest = |v: (f64, Vector3<f64>), w: (f64, Vector3<f64>)| if w.0 > v.0 { w } else { v };
            let way = (core <= 0.0).then(|| events.iter().filter_map(better).reduce(greatest)).flatten();
            keep_facing(events, &n, core - (-core).max(0.0) - DEEPER_RELATIVE * size);
            // a common normal of the whole bodies: no point of either is beyond the planes across it
            let is_common =
                |event: &&CoreEvent| event.core <= separation(a, b, &event.normal) + DEEPER_RELATIVE * size;
            let closer = |m: Vector3<f64>, k: Vector3<f64>| if k.dot(&n) > m.dot(&n) { k } else { m };
            let nearest = events.iter().filter(is_common).map(|event| event.normal).reduce(closer);
            if nearest.is_none() {
                events.clear();
            }
            let is_same = nearest.is_some_and(|nearest| (nearest - n).norm() < SAME_NORMAL);
            if exact || is_same || (nearest.is_none() && core > 0.0) {
                break;
            }
            // once more from the common normal itself, so that round-off does not decide which features face each other
            exact = nearest.is_some();
            let next = nearest.or_else(|| way.map(|way| way.1));
            let Some(next) = next.or_else(|| departing_normal(a, b, size, &n)) else { break };
            n = next;
        }
        n
    }
}

/// Separation of the cores along a normal [m]: at most their distance.
fn separation(a: &Core<'_>, b: &Core<'_>, n: &Vector3<f64>) -> f64 {
    n.dot(&(b.farthest(&-n) - a.farthest(n)))
}

/// Collects the events of all pairs of features that face each other along a normal.
fn pair_features(
    cores: [&Core<'_>; 2],
    n: &Vector3<f64>,
    size: f64,
    features: &mut Vec<CoreFeature>,
    events: &mut Vec<CoreEvent>,
) {
    features.clear();
    events.clear();
    cores[0].facing(n, features);
    let count = features.len();
    cores[1].facing(&-n, features);
    for i in 0..count {
        for j in count..features.len() {
            let features = [&features[i], &features[j]];
            FeaturePair { cores, features, near: *n, size }.events(&mut |event| events.push(event));
        }
    }
}

/// Keeps the events about the normal that are not deeper than `least` [m]: those are behind a body. Bodies that overlap
/// deeply have common normals far from that at which they first touch: then those about the nearest one are kept.
fn keep_facing(events: &mut Vec<CoreEvent>, n: &Vector3<f64>, least: f64) {
    events.retain(|event| event.rank < WAY_RANK && event.core >= least && event.normal.dot(n) > 0.0);
    let normals = events.iter().map(|event| event.normal);
    let nearest = normals.reduce(|m, k| if k.dot(n) > m.dot(n) { k } else { m });
    let centre = nearest.filter(|m| m.dot(n) < MIN_EVENT_COSINE).unwrap_or(*n);
    events.retain(|event| event.normal.dot(&centre) >= MIN_EVENT_COSINE);
}

/// Adds an event if no pair of features is as near as the bodies are: at the face that separates most, or along the
/// normal itself.
fn add_lost(a: &Core<'_>, b: &Core<'_>, n: &Vector3<f64>, slack: f64, events: &mut Vec<CoreEvent>) {
    let core = separation(a, b, n);
    let least = events.iter().map(|event| event.core).fold(f64::INFINITY, f64::min);
    if !(events.is_empty() || (core > 0.0 && least > core + slack)) {
        return;
    }
    let codes = [LOST; 2];
    let along = CoreEvent { on_a: a.farthest(n).into(), core, normal: *n, codes, rank: u8::MAX };
    let greatest = |e: CoreEvent, f: CoreEvent| if f.core > e.core { f } else { e };
    let face_of_a = |(code, normal): (u32, Vector3<f64>)| {
        let (core, on_b) = (separation(a, b, &normal), b.farthest(&-normal));
        let on_a = Point3::from(on_b - normal * core);
        CoreEvent { on_a, core, normal, codes: [code, LOST], rank: u8::MAX }
    };
    let face_of_b = |(code, outward): (u32, Vector3<f64>)| {
        let normal = -outward;
        let (core, on_a) = (separation(a, b, &normal), a.farthest(&normal).into());
        CoreEvent { on_a, core, normal, codes: [LOST, code], rank: u8::MAX }
    };
    let faces = a.face_normals().map(face_of_a).chain(b.face_normals().map(face_of_b));
    let found = if core > 0.0 { None } else { faces.reduce(greatest) };
    events.push(found.unwrap_or(along));
}

/// Merges events within a distance [m] of each other along the plane across the normal, those of lower rank first, and
/// moves those kept to the front; returns their number.
fn merge(events: &mut [CoreEvent], n: &Vector3<f64>, distance: f64) -> usize {
    // feature codes are unique and break ties; a stable sort would allocate
    events.sort_unstable_by_key(|event| (event.rank, event.codes));
    let mut kept = 0;
    for i in 0..events.len() {
        let is_new = events[..kept].iter().all(|other| {
            let on_b = |event: &CoreEvent| event.on_a + event.normal * event.core;
            [events[i].on_a - other.on_a, on_b(&events[i]) - on_b(other)]
                .iter()
                .any(|d| (d - n * n.dot(d)).norm_squared() > distance * distance)
        });
        if is_new {
            events.swap(kept, i);
            kept += 1;
        }
    }
    kept
}
