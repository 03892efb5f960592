//! Near points of shapes, as contact rows.

use super::placed::{Gradient, Placed, row};
use super::tables::{PairTable, Tables};
use crate::material::{FrictionPoint, Material};
use crate::system::{ContactId, ContactRow, Moments};
use nalgebra::Vector3;
use stiction_geometry::spatial::Gap;
use stiction_lcp::{OffsetRow, Row};

/// A near point as rows; `None` when nothing that may move can open or close it.
pub(super) fn contact(
    tables: &Tables,
    friction_point: FrictionPoint,
    placed: &[Placed],
    pair: &PairTable,
    gap: &Gap,
) -> Option<ContactRow> {
    let (shape_a, shape_b) = (&tables.shapes[pair.a], &tables.shapes[pair.b]);
    let (a, b) = (&placed[shape_a.body], &placed[shape_b.body]);
    let n = gap.normal;
    let (normal, drift) = normal(a, b, gap)?;

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

/// Whether something that may move can open or close a near point.
pub(super) fn counts(tables: &Tables, placed: &[Placed], pair: &PairTable, gap: &Gap) -> bool {
    let [a, b] = [pair.a, pair.b].map(|s| &placed[tables.shapes[s].body]);
    normal(a, b, gap).is_some()
}

/// The normal row and its drift; `None` when nothing that may move enters it.
fn normal(a: &Placed, b: &Placed, gap: &Gap) -> Option<(Row, f64)> {
    let n = &gap.normal;
    let (normal, drift) = row(a, &-a.along(n, &gap.on_a), b, &b.along(n, &gap.on_b));
    (!vanishes(&normal, 1.0)).then_some((normal, drift))
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
    moments.spin = turn(normal, torsion).filter(|_| friction > 0.0).map(Box::new);
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
