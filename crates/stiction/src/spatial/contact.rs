//! Near points of shapes, as contact rows.

use super::part::Part;
use super::placed::{Gradient, Placed, row};
use super::tables::{PairTable, Tables};
use crate::material::{Depth, FrictionPoint, Material};
use crate::system::{Bases, ContactId, ContactRow, Moments, Near};
use nalgebra::{Isometry3, Vector3};
use stiction_geometry::broad::{Broad, Extent};
use stiction_geometry::spatial::{Gap, bounds, gaps_from, minkowski_gap};
use stiction_lcp::{OffsetRow, Row};

/// Storage of searches, kept from call to call.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    placed: Vec<Placed>,
    poses: Vec<Isometry3<f64>>,
    /// How far each body goes [m].
    travels: Vec<f64>,
    boxes: Vec<Extent>,
    broad: Broad,
    pairs: Vec<[usize; 2]>,
    gaps: Vec<Gap>,
}

impl Scratch {
    /// Places the shapes, and finds the pairs of this kind that may be near.
    fn search(
        &mut self,
        tables: &Tables,
        (t, q): (f64, &[f64]),
        near: &Near,
        may_meet: impl Fn(usize, usize) -> bool,
    ) {
        let Self { placed, poses, travels, boxes, broad, pairs, .. } = self;
        placed.clear();
        placed.extend(tables.parts.iter().map(|part| part.placed(t, q)));
        poses.clear();
        poses.extend(tables.shapes.iter().map(|s| placed[s.body].pose * s.pose));
        travels.clear();
        let travel = |part: &Part| near.sweep.map_or(0.0, |sweep| part.travel(q, sweep));
        travels.extend(tables.parts.iter().map(travel));

        // boxes grown by what each body goes and half the reach overlap whenever the shapes are within reach
        pairs.clear();
        let may_meet = |a: usize, b: usize| tables.may_meet(a, b) && may_meet(a, b);
        if near.reach > f64::NEG_INFINITY {
            boxes.clear();
            boxes.extend(tables.shapes.iter().zip(&*poses).map(|(s, pose)| {
                let margin = travels[s.body] + 0.5 * near.reach.max(0.0);
                Extent::from(bounds(&s.shape, pose).grown(margin))
            }));
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

    /// The gaps of a pair within reach.
    fn near(&mut self, tables: &Tables, pair: &PairTable, near: &Near, bases: &mut Bases) {
        self.gaps.clear();
        let (a, b) = (&tables.shapes[pair.a], &tables.shapes[pair.b]);
        let reach = if near.wanted.contains(&pair.id) {
            f64::INFINITY
        } else {
            near.reach + (self.travels[a.body] + self.travels[b.body])
        };
        let (pose_a, pose_b) = (&self.poses[pair.a], &self.poses[pair.b]);
        if tables.depth == Depth::Minkowski
            && let Ok(Some(gap)) = minkowski_gap(&a.shape, pose_a, &b.shape, pose_b, None)
        {
            self.gaps.extend((gap.gap <= reach).then_some(gap));
            return;
        }
        let mut basis = bases.facets(pair.id).map(Into::into).unwrap_or_default();
        // a built model has pairs with gaps only
        let _ = gaps_from(&a.shape, pose_a, &b.shape, pose_b, reach, &mut basis, &mut self.gaps);
        if let Some(facets) = basis.names() {
            bases.keep(pair.id, facets);
        }
    }
}

/// Contacts at (t, q) that are near.
pub(super) fn contacts(
    tables: &Tables,
    scratch: &mut Scratch,
    friction_point: FrictionPoint,
    at: (f64, &[f64]),
    near: &Near,
    bases: &mut Bases,
    out: &mut Vec<ContactRow>,
) {
    out.clear();
    scratch.search(tables, at, near, |a, b| !tables.senses(a, b));
    for i in 0..scratch.pairs.len() {
        let [a, b] = scratch.pairs[i];
        let pair = tables.pair(a, b);
        scratch.near(tables, &pair, near, bases);
        let contacts =
            scratch.gaps.iter().map(|gap| contact(tables, friction_point, &scratch.placed, &pair, gap));
        out.extend(contacts.flatten());
    }
}

/// Pairs that touch or overlap at (t, q), with or without a sensor in them, and their least gap.
pub(super) fn overlaps(
    tables: &Tables,
    scratch: &mut Scratch,
    at: (f64, &[f64]),
    sensors: bool,
    mut visit: impl FnMut(&PairTable, f64),
) {
    let near = Near::within(0.0);
    scratch.search(tables, at, &near, |a, b| tables.senses(a, b) == sensors);
    for i in 0..scratch.pairs.len() {
        let [a, b] = scratch.pairs[i];
        let pair = tables.pair(a, b);
        scratch.near(tables, &pair, &near, &mut Bases::default());
        if let Some(gap) = scratch.gaps.iter().map(|gap| gap.gap).reduce(f64::min) {
            visit(&pair, gap);
        }
    }
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
    if vanishes(&normal, 1.0) {
        return None;
    }

    // where friction acts
    let middle = nalgebra::center(&gap.on_a, &gap.on_b);
    let (at_a, at_b) = match friction_point {
        FrictionPoint::Common => (middle, middle),
        FrictionPoint::Surface => (gap.on_a, gap.on_b),
    };
    let grain = pair.grain.and_then(|grain| {
        let direction = placed[grain.body].pose.rotation * grain.direction;
        Some((across(&direction, &n)?, [&grain.set, &grain.spin_set]))
    });
    let (first, [set, spin_set], aligned) = match grain {
        Some((along, sets)) => (along, sets, false),
        None => (tangent(&n), [&tables.set, &tables.spin_set], tables.aligned),
    };
    let tangents = [first, n.cross(&first)];
    let surface = b.pose.rotation * shape_b.surface_velocity - a.pose.rotation * shape_a.surface_velocity;
    let rows = tangents.iter().map(|axis| {
        let (of_a, of_b): (Gradient, Gradient) = (-a.along(axis, &at_a), b.along(axis, &at_b));
        let (row, drift) = row(a, &of_a, b, &of_b);
        OffsetRow { row, offset: drift + axis.dot(&surface) }
    });
    let moments = moments(tables, a, b, pair, &n, &tangents);
    Some(ContactRow {
        id: ContactId { pair: pair.id, feature: gap.feature },
        bodies: [tables.parts[shape_a.body].id.0, tables.parts[shape_b.body].id.0],
        gap: gap.gap,
        normal,
        drift,
        tangents: rows.collect(),
        aligned,
        set: if moments.spin.is_some() { spin_set } else { set }.clone(),
        mu: pair.material.friction,
        restitution: pair.material.restitution,
        point: middle.into(),
        direction: n.into(),
        tangent_directions: tangents.map(Into::into),
        moments,
    })
}

/// What resists spin about the normal and rolling about the tangents.
fn moments(
    tables: &Tables,
    a: &Placed,
    b: &Placed,
    pair: &PairTable,
    normal: &Vector3<f64>,
    tangents: &[Vector3<f64>; 2],
) -> Moments {
    let Material { friction, torsion, rolling, .. } = pair.material;
    let mut moments = Moments { torsion, rolling, ..Moments::none() };
    if torsion == 0.0 && rolling == 0.0 {
        return moments;
    }
    // rows about axes that nothing turns about resist nothing
    let turn = |axis: &Vector3<f64>, length: f64| {
        let gradient = length * Gradient::turning(*axis);
        let (row, offset) = row(a, &-gradient, b, &gradient);
        (length > 0.0 && !vanishes(&row, length)).then_some(OffsetRow { row, offset })
    };
    moments.spin = turn(normal, torsion).filter(|_| friction > 0.0);
    moments.rolls.extend(tangents.iter().filter_map(|axis| turn(axis, rolling)));
    moments.set = tables.set.clone();
    moments
}

/// `true` for a row without entries: a slider whose axis lies in the surface cannot be pushed off it. Entries
/// of this size are round-off of a unit normal times a length.
fn vanishes(row: &Row, length: f64) -> bool {
    match row {
        Row::Bodies(terms) => terms.iter().all(|t| t.j.iter().all(|x| x.abs() <= 1e-12 * length)),
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
