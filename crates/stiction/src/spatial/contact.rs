//! Rows of spatial contacts: one normal, two tangents, spin and rolling.

use super::placement::{relative_speed, relative_turn};
use super::{Attached, Spatial, World};
use crate::material::Material;
use crate::system::{ContactRow, Moments};
use crate::world::{PlacedPair, Placement, SpeedRow};
use nalgebra::Vector3;
use stiction_geometry::spatial::Gap;
use stiction_lcp::{FrictionSet, OffsetRow};

/// Coefficient up to which a row vanishes, relative to its length: a slider whose axis lies in the surface cannot be
/// pushed off it. Range 1e-15 to 1e-9: below it round-off counts as a row, above it sliders at a slant lose contacts.
const VANISHING_COEFFICIENT: f64 = 1e-12;

/// Length of the part of a grain along the surface below which it has no direction, relative to the grain. Range
/// 1e-12 to 1e-6: below it the direction is round-off, above it grains at a steep angle are ignored.
const MIN_TANGENT_RELATIVE: f64 = 1e-9;

/// |n_z| from which a surface counts as horizontal for the choice of its first tangent [1]. Any value between 0.1
/// and 0.99 gives a well-conditioned tangent.
const HORIZONTAL_NORMAL: f64 = 0.9;

/// Direction of a surface along which friction differs. ST00 §3
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// Direction in the body frame; its length does not matter.
    pub direction: Vector3<f64>,
    /// Friction along the grain as a multiple of that across it.
    pub ratio: f64,
}

impl Attached {
    /// Sets a grain: friction along `direction` is `ratio` times that across it.
    #[must_use]
    pub fn grain(self, direction: Vector3<f64>, ratio: f64) -> Self {
        Self { grain: Some(Grain { direction, ratio }), ..self }
    }
}

/// Polygon in place of the friction circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facets {
    /// Number of directions, even and at least 4. With n of them friction is too small by up to the factor
    /// cos(π/n) where the polygon is not aligned. Default 8.
    pub directions: usize,
    /// The first direction is along the slip of the free velocity, so that straight sliding meets the circle.
    /// Default `true`.
    pub aligned: bool,
}

impl Default for Facets {
    fn default() -> Self {
        Self { directions: 8, aligned: true }
    }
}

/// Friction sets of a world.
#[derive(Debug, Clone)]
pub struct FrictionSets {
    /// Set of surfaces without grain.
    sliding: FrictionSet,
    /// Set with a row for spin.
    spinning: FrictionSet,
    /// The set is turned along the slip.
    aligned: bool,
}

impl FrictionSets {
    /// Sets of a world: the circle, or its polygon.
    pub(super) fn new(world: &World) -> Self {
        let facets = world.facets.and_then(|f| FrictionSet::regular(f.directions));
        let sliding = facets.unwrap_or_else(FrictionSet::circle);
        Self { spinning: sliding.with_spin(), sliding, aligned: world.facets.is_some_and(|f| f.aligned) }
    }

    /// Sets of a surface, stretched along its grain.
    pub(super) fn along(&self, grain: &Grain) -> GrainSets {
        let Grain { direction, ratio } = *grain;
        GrainSets {
            direction,
            sliding: stretched(&self.sliding, ratio),
            spinning: stretched(&self.spinning, ratio),
        }
    }
}

/// Friction sets of a surface with a grain.
#[derive(Debug, Clone)]
pub struct GrainSets {
    /// Direction of the grain in the body frame.
    direction: Vector3<f64>,
    sliding: FrictionSet,
    spinning: FrictionSet,
}

/// Near point as rows; `None` when no moving body can open or close it.
pub(super) fn row(near: &PlacedPair<Spatial>) -> Option<ContactRow> {
    let PlacedPair { layout, gap, shapes: [shape_a, shape_b], bodies: [a, b], .. } = *near;
    let n = gap.normal;
    let normal = normal(a, b, gap)?;
    let (middle, at_a, at_b) = layout.friction_point.points(gap);
    let grains = [(a, &shape_a.grain), (b, &shape_b.grain)];
    let grain = grains.into_iter().find_map(|(body, grain)| Some((body, grain.as_ref()?)));
    let grain = grain.and_then(|(body, grain)| {
        let direction = body.frame.pose.rotation * grain.direction;
        Some((across(&direction, &n)?, [&grain.sliding, &grain.spinning]))
    });
    let (first, [sliding, spinning], aligned) = if let Some((along, sets)) = grain {
        (along, sets, false)
    } else {
        let FrictionSets { sliding, spinning, aligned } = &layout.friction;
        (tangent(&n), [sliding, spinning], *aligned)
    };
    let tangents = [first, n.cross(&first)];
    let surface =
        b.frame.pose.rotation * shape_b.surface_velocity - a.frame.pose.rotation * shape_a.surface_velocity;
    let rows = tangents.iter().map(|axis| {
        let row = relative_speed((a, &at_a), (b, &at_b), axis);
        OffsetRow { offset: row.drift + axis.dot(&surface), row: row.into_row() }
    });
    let moments = moments(near, &n, &tangents);
    let set = if moments.spin.is_some() { spinning } else { sliding }.clone();
    Some(ContactRow {
        tangents: rows.collect(),
        aligned,
        point: middle.into(),
        direction: n.into(),
        tangent_directions: tangents.map(Into::into),
        moments,
        ..near.row(normal, set)
    })
}

/// Normal row; `None` when no moving body enters it.
pub(super) fn normal(a: &Placement<Spatial>, b: &Placement<Spatial>, gap: &Gap) -> Option<SpeedRow> {
    let row = relative_speed((a, &gap.on_a), (b, &gap.on_b), &gap.normal);
    (!vanishes(&row, 1.0)).then_some(row)
}

/// Rows that resist spin about the normal and rolling about the tangents.
fn moments(near: &PlacedPair<Spatial>, normal: &Vector3<f64>, tangents: &[Vector3<f64>; 2]) -> Moments {
    let PlacedPair { layout, pair, bodies: [a, b], .. } = *near;
    let Material { friction, torsion, rolling, .. } = pair.material;
    let mut moments = Moments { torsion, rolling, ..Moments::none() };
    if torsion == 0.0 && rolling == 0.0 {
        return moments;
    }
    // rows about axes that no body turns about resist nothing
    let turn = |axis: &Vector3<f64>, length: f64| {
        let row = relative_turn(a, b, axis, length);
        let offset = row.drift;
        (length > 0.0 && !vanishes(&row, length)).then(|| OffsetRow { row: row.into_row(), offset })
    };
    moments.spin = turn(normal, torsion).filter(|_| friction > 0.0).map(Box::new);
    moments.rolls.extend(tangents.iter().filter_map(|axis| turn(axis, rolling)));
    moments.set = layout.friction.sliding.clone();
    moments
}

/// `true` for a row whose coefficients are round-off of a unit normal times a length [m].
fn vanishes(row: &SpeedRow, length: f64) -> bool {
    row.terms.iter().all(|t| t.j.iter().all(|x| x.abs() <= VANISHING_COEFFICIENT * length))
}

/// Part of a direction along a surface as a unit vector; `None` when it is round-off.
fn across(direction: &Vector3<f64>, normal: &Vector3<f64>) -> Option<Vector3<f64>> {
    let along = direction - normal * normal.dot(direction);
    along.try_normalize(MIN_TANGENT_RELATIVE * direction.norm())
}

/// First tangent: along x of the world on nearly horizontal surfaces, horizontal on all others.
fn tangent(n: &Vector3<f64>) -> Vector3<f64> {
    if n.z.abs() >= HORIZONTAL_NORMAL {
        (Vector3::x() - n * n.x).normalize()
    } else {
        Vector3::z().cross(n).normalize()
    }
}

/// Friction set with its first direction stretched.
fn stretched(set: &FrictionSet, ratio: f64) -> FrictionSet {
    match set {
        FrictionSet::Polygon(generators) => {
            FrictionSet::Polygon(generators.iter().map(|[x, y, z]| [ratio * x, *y, *z]).collect())
        }
        FrictionSet::Ellipse([x, y, z]) => FrictionSet::Ellipse([ratio * x, *y, *z]),
    }
}
