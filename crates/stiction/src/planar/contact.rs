//! The rows of contacts: which shapes may meet, which are near, and what their near points ask for.

use super::lane::Lane;
use super::model::Model;
use super::part::{Part, Place};
use super::world::{BodyId, ShapeId, World};
use super::{Attached, Body};
use crate::material::{Depth, FrictionPoint, Groups, Material};
use crate::system::{ContactId, ContactQuery, ContactRow, Moments, PairId, SearchCache};
use nalgebra::{Isometry2, Vector2};
use std::collections::BTreeSet;
use stiction_geometry::broad::{BroadPhase, Extent};
use stiction_geometry::planar::{Gap, Shape, bounds, gaps_from, minkowski_gap};
use stiction_lcp::OffsetRow;

/// Coefficient below which a row of unit direction is none: a slider across its axis.
const NOTHING: f64 = 1e-12;

/// A shape as a model sees it.
#[derive(Debug, Clone)]
pub(super) struct Surface {
    pub(super) part: usize,
    pub(super) shape: Shape,
    /// Pose from the centre of mass, along the axes of the body frame.
    pub(super) pose: Isometry2<f64>,
    pub(super) velocity: f64,
    pub(super) material: Material,
    pub(super) membership: Membership,
}

/// What decides whether two shapes may meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Membership {
    body: BodyId,
    moves: bool,
    sensor: bool,
    groups: Groups,
}

/// Two shapes that may meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) id: PairId,
    /// Indices of the surfaces.
    pub(super) surfaces: [usize; 2],
    pub(super) material: Material,
}

/// Storage of a search, kept from call to call.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) places: Vec<Place>,
    pub(super) poses: Vec<Isometry2<f64>>,
    /// How far each body goes [m].
    travels: Vec<f64>,
    boxes: Vec<Extent>,
    broad: BroadPhase,
    pub(super) pairs: Vec<[usize; 2]>,
    pub(super) gaps: Vec<Gap>,
}

/// A shape with whose it is.
pub(super) type Owned<'a> = (ShapeId, BodyId, &'a Body, &'a Attached);

/// All shapes of a world, in the order of their numbers.
pub(super) fn shapes(world: &World) -> Vec<Owned<'_>> {
    let of_body = |(&id, slot)| -> Vec<Owned> {
        let slot: &super::world::Slot = slot;
        slot.shapes().map(|(shape, attached)| (shape, id, &slot.body, attached)).collect()
    };
    let mut all: Vec<Owned> = world.bodies.iter().flat_map(of_body).collect();
    all.sort_by_key(|s| s.0);
    all
}

/// Bodies that a joint keeps from meeting, and those excluded by hand.
pub(super) fn apart(world: &World) -> BTreeSet<(BodyId, BodyId)> {
    let joined = world.joints.values().filter(|j| !j.collide).map(|j| (j.a.min(j.b), j.a.max(j.b)));
    world.excluded.iter().copied().chain(joined).collect()
}

impl Membership {
    pub(super) fn of(&(_, body, owner, attached): &Owned) -> Self {
        Self { body, moves: owner.moves(), sensor: attached.sensor, groups: attached.groups }
    }

    /// Whether two shapes may meet, as surfaces or as a sensor and what it senses.
    pub(super) fn may_meet(&self, other: &Self, apart: &BTreeSet<(BodyId, BodyId)>) -> bool {
        self.body != other.body
            && (self.moves || other.moves)
            && self.groups.meet(other.groups)
            && !apart.contains(&(self.body.min(other.body), self.body.max(other.body)))
    }

    /// Whether one of two shapes is a sensor.
    pub(super) fn senses(&self, other: &Self) -> bool {
        self.sensor || other.sensor
    }
}

impl Model {
    /// All contacts that are near.
    pub(super) fn near(
        &self,
        t: f64,
        q: &[f64],
        near: &ContactQuery,
        cache: &mut SearchCache,
        out: &mut Vec<ContactRow>,
    ) {
        out.clear();
        let mut scratch = self.scratch();
        let near = &near.at_once();
        self.search(t, q, near, false, &mut scratch);
        let Scratch { places, poses, travels, pairs, gaps: found, .. } = &mut *scratch;
        for &[a, b] in &*pairs {
            let pair = self.candidate(a, b);
            let (on_a, on_b) = (&self.surfaces[a], &self.surfaces[b]);
            let reach = if near.wanted.contains(&pair.id) {
                f64::INFINITY
            } else {
                near.max_gap + (travels[on_a.part] + travels[on_b.part])
            };
            found.clear();
            if self.world.depth == Depth::Minkowski
                && let Ok(Some(gap)) = minkowski_gap(&on_a.shape, &poses[a], &on_b.shape, &poses[b])
            {
                let row = (gap.gap <= reach).then(|| self.contact_row(&pair, places, &gap));
                out.extend(row.flatten());
                continue;
            }
            let mut basis = cache.facets(pair.id).map(|[f, g, h, _]| [f, g, h].into()).unwrap_or_default();
            // pairs without a gap function do not get past the check
            if gaps_from(&on_a.shape, &poses[a], &on_b.shape, &poses[b], reach, &mut basis, found).is_ok() {
                if let Some([f, g, h]) = basis.names() {
                    cache.keep(pair.id, [f, g, h, 0]);
                }
                out.extend(found.iter().filter_map(|gap| self.contact_row(&pair, places, gap)));
            }
        }
    }

    /// Places the shapes, and finds the pairs that may be near, with or without a sensor in them.
    pub(super) fn search(
        &self,
        t: f64,
        q: &[f64],
        near: &ContactQuery,
        sensors: bool,
        scratch: &mut Scratch,
    ) {
        let Scratch { places, poses, travels, boxes, broad, pairs, .. } = scratch;
        self.places(t, q, places);
        poses.clear();
        poses.extend(self.surfaces.iter().map(|s| places[s.part].pose(&s.pose)));
        travels.clear();
        let travel =
            |(part, place): (&Part, &Place)| near.motion.map_or(0.0, |sweep| part.travel(place, sweep));
        travels.extend(self.parts.iter().zip(&*places).map(travel));

        // boxes grown by what each body goes and half the reach overlap whenever the shapes are within reach
        pairs.clear();
        let may_meet = |a: usize, b: usize| {
            let (a, b) = (&self.surfaces[a].membership, &self.surfaces[b].membership);
            a.senses(b) == sensors && a.may_meet(b, &self.apart)
        };
        if near.max_gap > f64::NEG_INFINITY {
            boxes.clear();
            boxes.extend(self.surfaces.iter().zip(&*poses).map(|(s, pose)| {
                let margin = travels[s.part] + 0.5 * near.max_gap.max(0.0);
                Extent::from(bounds(&s.shape, pose).grown(margin))
            }));
            broad.overlaps(boxes, may_meet, pairs);
        }
        let place = |id: u32| self.shapes.binary_search(&ShapeId(id)).ok();
        let wanted = near.wanted.iter().filter_map(|w| Some([place(w.a)?, place(w.b)?]));
        let listed = pairs.len();
        pairs.extend(wanted.filter(|&[a, b]| a < b && may_meet(a, b)));
        if pairs.len() > listed {
            pairs.sort_unstable();
            pairs.dedup();
        }
    }

    /// Two shapes that may meet, the one with the smaller number first.
    fn candidate(&self, a: usize, b: usize) -> Candidate {
        let id = PairId { a: self.shapes[a].0, b: self.shapes[b].0 };
        let material = self.world.materials.get(&id).copied();
        let combined = || self.surfaces[a].material.combined(&self.surfaces[b].material);
        Candidate { id, surfaces: [a, b], material: material.unwrap_or_else(combined) }
    }

    /// The rows of a near point; `None` where no velocity could open or close it.
    fn contact_row(&self, pair: &Candidate, places: &[Place], gap: &Gap) -> Option<ContactRow> {
        let [surface_a, surface_b] = pair.surfaces.map(|i| &self.surfaces[i]);
        let [a, b] = [surface_a, surface_b].map(|s| (&self.parts[s.part], &places[s.part]));
        let n = gap.normal;
        let normal = Lane::between((a.0, a.1, &gap.on_a), (b.0, b.1, &gap.on_b), &n);
        if normal.largest() < NOTHING {
            return None;
        }
        let t = Vector2::new(n.y, -n.x);
        let middle = nalgebra::center(&gap.on_a, &gap.on_b);
        let (at_a, at_b) = match self.world.friction_point {
            FrictionPoint::Common => (middle, middle),
            FrictionPoint::Surface => (gap.on_a, gap.on_b),
        };
        let tangent = Lane::between((a.0, a.1, &at_a), (b.0, b.1, &at_b), &t);
        // the outward normal of b is −n, so both surfaces run against the slip of b
        let offset = tangent.drift - surface_a.velocity - surface_b.velocity;
        let drift = normal.drift;
        let Material { torsion, rolling, .. } = pair.material;
        let mut moments = Moments { torsion, rolling, ..Moments::none() };
        if rolling > 0.0 {
            let turning = Lane::turning(a, b, rolling);
            let offset = turning.drift;
            // points and sliders do not roll
            let rolls = (!turning.is_empty()).then(|| OffsetRow { row: turning.into_row(), offset });
            moments.rolls.extend(rolls);
            moments.set = self.line.clone();
        }
        Some(ContactRow {
            id: ContactId { pair: pair.id, feature: gap.feature },
            bodies: [a.0.id.0, b.0.id.0],
            gap: gap.gap,
            normal: normal.into_row(),
            drift,
            tangents: [OffsetRow { row: tangent.into_row(), offset }].into_iter().collect(),
            aligned: false,
            set: self.line.clone(),
            mu: pair.material.friction,
            restitution: pair.material.restitution,
            point: [middle.x, middle.y, 0.0],
            direction: [n.x, n.y, 0.0],
            tangent_directions: [[t.x, t.y, 0.0], [0.0; 3]],
            moments,
        })
    }
}
