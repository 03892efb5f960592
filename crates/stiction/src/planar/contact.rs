//! The rows of contacts: which shapes may meet, which are near, and what their near points ask for.

use super::lane::Lane;
use super::model::Model;
use super::part::Place;
use super::world::{BodyId, ShapeId, World};
use super::{Attached, Body};
use crate::material::{FrictionPoint, Material};
use crate::system::{Bases, ContactId, ContactRow, Near, PairId};
use nalgebra::{Isometry2, Vector2};
use std::collections::BTreeSet;
use stiction_geometry::planar::{Aabb, Gap, Shape, bounds, gaps_from};
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
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    pub(super) places: Vec<Place>,
    poses: Vec<Isometry2<f64>>,
    boxes: Vec<Aabb>,
    gaps: Vec<Gap>,
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

/// Pairs of indices of shapes that may touch, in the order of their numbers; or those of which one is a sensor.
pub(super) fn pairs(world: &World, shapes: &[Owned], sensors: bool) -> Vec<[usize; 2]> {
    let ordered = |a: BodyId, b: BodyId| (a.min(b), a.max(b));
    let joined: BTreeSet<_> =
        world.joints.values().filter(|j| !j.collide).map(|j| ordered(j.a, j.b)).collect();
    let mut pairs = Vec::new();
    for (i, &(_, body_a, a, on_a)) in shapes.iter().enumerate() {
        for (j, &(_, body_b, b, on_b)) in shapes.iter().enumerate().skip(i + 1) {
            let apart = ordered(body_a, body_b);
            let kept = body_a != body_b
                && (a.moves() || b.moves())
                && (on_a.sensor || on_b.sensor) == sensors
                && on_a.groups.meet(on_b.groups)
                && !world.excluded.contains(&apart)
                && !joined.contains(&apart);
            if kept {
                pairs.push([i, j]);
            }
        }
    }
    pairs
}

impl Model {
    /// All contacts with a gap of at most `reach`, and all of the wanted pairs.
    pub(super) fn near(&self, t: f64, q: &[f64], near: &Near, bases: &mut Bases, out: &mut Vec<ContactRow>) {
        out.clear();
        let &Near { reach, wanted } = near;
        let mut scratch = self.scratch();
        let Scratch { places, poses, boxes, gaps: found } = &mut *scratch;
        self.places(t, q, places);
        poses.clear();
        poses.extend(self.surfaces.iter().map(|s| places[s.part].pose(&s.pose)));
        boxes.clear();
        // two boxes grown by half the reach overlap whenever the shapes are within reach
        let grown = |(s, pose): (&Surface, &Isometry2<f64>)| bounds(&s.shape, pose).grown(0.5 * reach);
        boxes.extend(self.surfaces.iter().zip(poses.iter()).map(grown));
        for pair in &self.pairs {
            let [a, b] = pair.surfaces;
            let reach = if wanted.contains(&pair.id) { f64::INFINITY } else { reach };
            if reach.is_finite() && !boxes[a].overlaps(&boxes[b]) {
                continue;
            }
            found.clear();
            let (shape_a, shape_b) = (&self.surfaces[a].shape, &self.surfaces[b].shape);
            let mut basis = bases.facets(pair.id).map(|[f, g, h, _]| [f, g, h].into()).unwrap_or_default();
            // pairs without a gap function do not get past the check
            if gaps_from(shape_a, &poses[a], shape_b, &poses[b], reach, &mut basis, found).is_ok() {
                if let Some([f, g, h]) = basis.names() {
                    bases.keep(pair.id, [f, g, h, 0]);
                }
                out.extend(found.iter().filter_map(|gap| self.contact_row(pair, places, gap)));
            }
        }
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
        })
    }
}
