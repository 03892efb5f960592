//! Near points of shapes, as contact rows.

use super::placed::{Gradient, Placed, row};
use super::tables::{PairTable, Tables};
use crate::material::FrictionPoint;
use crate::system::{Bases, ContactId, ContactRow, Near};
use nalgebra::{Isometry3, Vector3};
use std::cell::Cell;
use stiction_geometry::spatial::{Aabb, Gap, bounds, gaps_from};
use stiction_lcp::{OffsetRow, Row};

/// Storage kept from call to call.
#[derive(Default)]
struct Scratch {
    placed: Vec<Placed>,
    shapes: Vec<(Isometry3<f64>, Aabb)>,
    gaps: Vec<Gap>,
}

thread_local! {
    /// Taken while in use and put back after: a prescribed motion that asks for contacts finds an empty one.
    static SCRATCH: Cell<Scratch> = Cell::default();
}

impl Scratch {
    fn place(&mut self, tables: &Tables, t: f64, q: &[f64]) {
        self.placed.clear();
        self.placed.extend(tables.parts.iter().map(|part| part.placed(t, q)));
        self.shapes.clear();
        let placed = &self.placed;
        self.shapes.extend(tables.shapes.iter().map(|s| {
            let pose = placed[s.body].pose * s.pose;
            (pose, bounds(&s.shape, &pose))
        }));
    }

    /// The gaps of a pair within reach.
    fn near(&mut self, tables: &Tables, pair: &PairTable, reach: f64, bases: &mut Bases) {
        self.gaps.clear();
        let ((pose_a, box_a), (pose_b, box_b)) = (&self.shapes[pair.a], &self.shapes[pair.b]);
        if reach < f64::INFINITY && !box_a.grown(reach).overlaps(box_b) {
            return;
        }
        let (a, b) = (&tables.shapes[pair.a].shape, &tables.shapes[pair.b].shape);
        let mut basis = bases.facets(pair.id).map(Into::into).unwrap_or_default();
        // a built model has pairs with gaps only
        let _ = gaps_from(a, pose_a, b, pose_b, reach, &mut basis, &mut self.gaps);
        if let Some(facets) = basis.names() {
            bases.keep(pair.id, facets);
        }
    }
}

/// Contacts at (t, q) that are near.
pub(super) fn contacts(
    tables: &Tables,
    friction_point: FrictionPoint,
    (t, q): (f64, &[f64]),
    near: &Near,
    bases: &mut Bases,
    out: &mut Vec<ContactRow>,
) {
    out.clear();
    let mut scratch = SCRATCH.take();
    scratch.place(tables, t, q);
    for pair in &tables.pairs {
        let reach = if near.wanted.contains(&pair.id) { f64::INFINITY } else { near.reach };
        scratch.near(tables, pair, reach, bases);
        let contacts =
            scratch.gaps.iter().map(|gap| contact(tables, friction_point, &scratch.placed, pair, gap));
        out.extend(contacts.flatten());
    }
    SCRATCH.set(scratch);
}

/// Pairs of this list that touch or overlap at (t, q), with their least gap.
pub(super) fn overlaps<'a>(
    tables: &Tables,
    pairs: impl Iterator<Item = &'a PairTable>,
    t: f64,
    q: &[f64],
    mut visit: impl FnMut(&PairTable, f64),
) {
    let mut scratch = SCRATCH.take();
    scratch.place(tables, t, q);
    for pair in pairs {
        scratch.near(tables, pair, 0.0, &mut Bases::default());
        if let Some(gap) = scratch.gaps.iter().map(|gap| gap.gap).reduce(f64::min) {
            visit(pair, gap);
        }
    }
    SCRATCH.set(scratch);
}

/// A near point as rows; `None` when nothing that may move can open or close it.
fn contact(
    tables: &Tables,
    friction_point: FrictionPoint,
    placed: &[Placed],
    pair: &PairTable,
    gap: &Gap,
) -> Option<ContactRow> {
    let (shape_a, shape_b) = (&tables.shapes[pair.a], &tables.shapes[pair.b]);
    let (a, b) = (&placed[shape_a.body], &placed[shape_b.body]);
    let n = gap.normal;
    let (normal, drift) = row(a, &-a.along(&n, &gap.on_a), b, &b.along(&n, &gap.on_b));
    if vanishes(&normal) {
        return None;
    }

    // where friction acts
    let middle = nalgebra::center(&gap.on_a, &gap.on_b);
    let (at_a, at_b) = match friction_point {
        FrictionPoint::Common => (middle, middle),
        FrictionPoint::Surface => (gap.on_a, gap.on_b),
    };
    let grain = pair.grain.as_ref().and_then(|grain| {
        let direction = placed[grain.body].pose.rotation * grain.direction;
        Some((across(&direction, &n)?, &grain.set))
    });
    let (first, set, aligned) = match grain {
        Some((along, set)) => (along, set, false),
        None => (tangent(&n), &pair.set, pair.aligned),
    };
    let tangents = [first, n.cross(&first)];
    let surface = b.pose.rotation * shape_b.surface_velocity - a.pose.rotation * shape_a.surface_velocity;
    let rows = tangents.iter().map(|axis| {
        let (of_a, of_b): (Gradient, Gradient) = (-a.along(axis, &at_a), b.along(axis, &at_b));
        let (row, drift) = row(a, &of_a, b, &of_b);
        OffsetRow { row, offset: drift + axis.dot(&surface) }
    });
    Some(ContactRow {
        id: ContactId { pair: pair.id, feature: gap.feature },
        bodies: [tables.parts[shape_a.body].id.0, tables.parts[shape_b.body].id.0],
        gap: gap.gap,
        normal,
        drift,
        tangents: rows.collect(),
        aligned,
        set: set.clone(),
        mu: pair.material.friction,
        restitution: pair.material.restitution,
        point: middle.into(),
        direction: n.into(),
        tangent_directions: tangents.map(Into::into),
    })
}

/// `true` for a row without entries: a slider whose axis lies in the surface cannot be pushed off it. Entries
/// of this size are round-off of a unit normal.
fn vanishes(normal: &Row) -> bool {
    match normal {
        Row::Bodies(terms) => terms.iter().all(|t| t.j.iter().all(|x| x.abs() <= 1e-12)),
        Row::Sparse(_) => false,
    }
}

/// The part of a direction along a surface, as a unit vector; `None` when it has none to speak of.
fn across(direction: &Vector3<f64>, normal: &Vector3<f64>) -> Option<Vector3<f64>> {
    let along = direction - normal * normal.dot(direction);
    // below this the part along the surface is round-off of the direction
    along.try_normalize(1e-9 * direction.norm())
}

/// The first tangent: along x of the world on nearly horizontal surfaces, horizontal on all others.
pub(super) fn tangent(n: &Vector3<f64>) -> Vector3<f64> {
    if n.z.abs() >= 0.9 { (Vector3::x() - n * n.x).normalize() } else { Vector3::z().cross(n).normalize() }
}
