//! What can be wrong with a shape, a density or a pair.

use thiserror::Error;

/// A shape that cannot exist.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ShapeError {
    /// A size is not a number, infinite, or has the wrong sign.
    #[error("{shape}: {field} = {value}, but it must be finite and {rule}")]
    Size {
        /// Kind of the shape, as in a scene file.
        shape: &'static str,
        /// Name of the field.
        field: &'static str,
        /// The value found [m].
        value: f64,
        /// What it must be, besides finite.
        rule: &'static str,
    },
    /// A vertex is not a number or infinite.
    #[error("polygon: vertices[{index}] = [{}, {}], but it must be finite", vertex[0], vertex[1])]
    VertexNotFinite {
        /// Place in the list given.
        index: usize,
        /// The vertex [m].
        vertex: [f64; 2],
    },
    /// Fewer than three vertices, or fewer than three corners after merging.
    #[error(
        "polygon: {given} vertices have {corners} corners once duplicate and collinear ones are merged, but 3 are needed"
    )]
    TooFewCorners {
        /// Vertices given.
        given: usize,
        /// Corners left.
        corners: usize,
    },
    /// More vertices than a feature identifier can name.
    #[error("polygon: {given} vertices, but at most {most} are allowed")]
    TooManyVertices {
        /// Vertices given.
        given: usize,
        /// The most allowed.
        most: usize,
    },
    /// The outline turns right throughout.
    #[error("polygon: vertices run clockwise (area = {area} m²), but they must run counter-clockwise")]
    Clockwise {
        /// Signed area [m²].
        area: f64,
    },
    /// The outline turns right at a corner, folds back on itself, or winds more than once.
    #[error("polygon: not convex at [{}, {}]", vertex[0], vertex[1])]
    NotConvex {
        /// The corner [m].
        vertex: [f64; 2],
    },
    /// A point of a polyhedron is not a number or infinite.
    #[error("polyhedron: vertices[{index}] = {vertex:?}, but it must be finite")]
    PointNotFinite {
        /// Place in the list given.
        index: usize,
        /// The point [m].
        vertex: [f64; 3],
    },
    /// A facet of a polyhedron has no direction, or a number in it is not finite.
    #[error(
        "polyhedron: facets[{index}] = {normal:?} · x <= {offset}, but it must be finite and its normal not zero"
    )]
    Facet {
        /// Place in the list given.
        index: usize,
        /// Its normal [1].
        normal: [f64; 3],
        /// Its offset [m].
        offset: f64,
    },
    /// Facets whose half-spaces share no ball.
    #[error("polyhedron: {given} facets leave no interior (the largest ball inside has radius {radius} m)")]
    NoInterior {
        /// Facets given.
        given: usize,
        /// Radius of the largest ball, negative when there is none [m].
        radius: f64,
    },
    /// Facets that do not close the polyhedron on all sides.
    #[error("polyhedron: {given} facets leave it unbounded")]
    Open {
        /// Facets given.
        given: usize,
    },
    /// Points on a plane, a line or a point, up to round-off.
    #[error("polyhedron: {given} vertices are flat (thickness {thickness} m at an extent of {extent} m)")]
    Flat {
        /// Points given.
        given: usize,
        /// Greatest distance from the plane of three far points [m].
        thickness: f64,
        /// Greatest distance of two coordinates [m].
        extent: f64,
    },
    /// The hull found does not close: its facets do not meet along edges as those of a polyhedron do.
    #[error("polyhedron: no closed convex surface through {given} vertices ({reason})")]
    Hull {
        /// Points given.
        given: usize,
        /// What was found instead.
        reason: &'static str,
    },
    /// More vertices, edges and facets than a feature identifier can name.
    #[error("polyhedron: {features} vertices, edges and facets, but contact names at most {most}")]
    TooManyFeatures {
        /// Vertices, edges and facets together.
        features: usize,
        /// The most allowed.
        most: usize,
    },
}

/// Checks one size, so that the message names the field and the value.
pub(crate) fn size_rule(
    shape: &'static str,
    field: &'static str,
    value: f64,
    zero_allowed: bool,
) -> Result<(), ShapeError> {
    if value.is_finite() && (value > 0.0 || (zero_allowed && value == 0.0)) {
        return Ok(());
    }
    let rule = if zero_allowed { ">= 0" } else { "> 0" };
    Err(ShapeError::Size { shape, field, value, rule })
}

/// A pair of shapes that has no gap function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no gap function for the pair {a} and {b}")]
pub struct NoGap {
    /// Kind of the first shape, as in a scene file.
    pub a: &'static str,
    /// Kind of the second shape, as in a scene file.
    pub b: &'static str,
}

/// Mass properties that do not exist.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MassError {
    /// The shape is not a valid one.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The density is not positive and finite.
    #[error("density = {density}, but it must be finite and > 0")]
    Density {
        /// The density found [kg/m²] in the plane, [kg/m³] in space.
        density: f64,
    },
    /// A half-plane or half-space.
    #[error("a {shape} has no finite mass")]
    Unbounded {
        /// Kind of the shape, as in a scene file.
        shape: &'static str,
    },
    /// A point or a segment.
    #[error("a {shape} of radius 0 has no mass")]
    Massless {
        /// Kind of the shape, as in a scene file.
        shape: &'static str,
    },
    /// Parts that together have no positive mass.
    #[error("the parts have a total mass of {mass} kg, but it must be finite and > 0")]
    Total {
        /// Sum of the masses [kg].
        mass: f64,
    },
}
