//! Rows of planar contacts: one normal, one tangent, and rolling.

use super::Planar;
use super::placement::{relative_speed, relative_turn};
use crate::material::Material;
use crate::system::{ContactRow, Moments};
use crate::world::{PlacedPair, Placement, SpeedRow};
use nalgebra::Vector2;
use stiction_geometry::planar::Gap;
use stiction_lcp::OffsetRow;

/// Coefficient below which a row of unit direction vanishes: a slider pushed across its axis. Range 1e-15 to 1e-9:
/// below it round-off counts as a row, above it sliders at a slant lose contacts.
const VANISHING_COEFFICIENT: f64 = 1e-12;

/// Near point as rows; `None` when no moving body can open or close it.
pub(super) fn row(near: &PlacedPair<Planar>) -> Option<ContactRow> {
    let PlacedPair { layout, gap, shapes: [shape_a, shape_b], bodies: [a, b], .. } = *near;
    let n = gap.normal;
    let normal = normal(a, b, gap)?;
    let (middle, at_a, at_b) = layout.friction_point.points(gap);
    let t = Vector2::new(n.y, -n.x);
    let tangent = relative_speed((a, &at_a), (b, &at_b), &t);
    // the outward normal of b is −n, so both surfaces run against the slip of b
    let offset = tangent.drift - shape_a.surface_velocity - shape_b.surface_velocity;
    Some(ContactRow {
        tangents: [OffsetRow { row: tangent.into_row(), offset }].into_iter().collect(),
        point: [middle.x, middle.y, 0.0],
        direction: [n.x, n.y, 0.0],
        tangent_directions: [[t.x, t.y, 0.0], [0.0; 3]],
        moments: moments(near),
        ..near.row(normal, layout.friction.clone())
    })
}

/// Normal row; `None` when no moving body enters it.
pub(super) fn normal(a: &Placement<Planar>, b: &Placement<Planar>, gap: &Gap) -> Option<SpeedRow> {
    let row = relative_speed((a, &gap.on_a), (b, &gap.on_b), &gap.normal);
    (!(row.largest() < VANISHING_COEFFICIENT)).then_some(row)
}

/// Rows that resist rolling.
fn moments(PlacedPair { layout, pair, bodies: [a, b], .. }: &PlacedPair<Planar>) -> Moments {
    let Material { torsion, rolling, .. } = pair.material;
    let mut moments = Moments { torsion, rolling, ..Moments::none() };
    if rolling > 0.0 {
        let turning = relative_turn(a, b, rolling);
        let offset = turning.drift;
        // points and sliders do not roll
        let rolls = (!turning.is_empty()).then(|| OffsetRow { row: turning.into_row(), offset });
        moments.rolls.extend(rolls);
        moments.set = layout.friction.clone();
    }
    moments
}
