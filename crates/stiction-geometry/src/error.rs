//! Errors of shapes, pairs and mass properties. Each names the field, the value found and the rule.

use thiserror::Error;

/// Error of a shape that cannot exist.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ShapeError {
    /// Size that is not a number, infinite, or of the wrong sign.
    #[error("{shape}: {field} = {value}, but it must be finite and {rule}")]
    Size {
        /// Kind of the shape, as in a scene file.
        shape: &'static str,
        /// Name of the field.
        field: &'static str,
        /// Value found [m].
        value: f64,
        /// Rule for the value, besides being finite.
        rule: &'static str,
    },
    /// Rounded shape with a core that cannot be rounded.
    #[error("rounded: the core is a {core}, but it must be {rule}")]
    Core {
        /// Kind of the core found.
        core: &'static str,
        /// Kinds allowed.
        rule: &'static str,
    },
    /// Vertex that is not finite.
    #[error("polygon: vertices[{index}] = [{}, {}], but it must be finite", vertex[0], vertex[1])]
    VertexNotFinite {
        /// Index in the list given.
        index: usize,
        /// Vertex [m].
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
        /// Greatest number allowed.
        most: usize,
    },
    /// Outline that turns right throughout.
    #[error("polygon: vertices run clockwise (area = {area} m²), but they must run counter-clockwise")]
    Clockwise {
        /// Signed area [m²].
        area: f64,
    },
    /// Outline that turns right at a corner, folds back on itself, or winds more than once.
    #[error("polygon: not convex at [{}, {}]", vertex[0], vertex[1])]
    NotConvex {
        /// Corner [m].
        vertex: [f64; 2],
    },
    /// Point of a polyhedron that is not finite.
    #[error("polyhedron: vertices[{index}] = {vertex:?}, but it must be finite")]
    PointNotFinite {
        /// Index in the list given.
        index: usize,
        /// Point [m].
        vertex: [f64; 3],
    },
    /// Facet of a polyhedron without a direction, or with a number that is not finite.
    #[error(
        "polyhedron: facets[{index}] = {normal:?} · x <= {offset}, but it must be finite and its normal not zero"
    )]
    Facet {
        /// Index in the list given.
        index: usize,
        /// Normal [1].
        normal: [f64; 3],
        /// Offset [m].
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
    /// Hull that does not close: its facets do not meet along edges as those of a polyhedron do.
    #[error("polyhedron: no closed convex surface through {given} vertices ({reason})")]
    Hull {
        /// Points given.
        given: usize,
        /// Defect found.
        reason: &'static str,
    },
    /// More vertices, edges and facets than a feature identifier can name.
    #[error("polyhedron: {features} vertices, edges and facets, but contact names at most {most}")]
    TooManyFeatures {
        /// Vertices, edges and facets together.
        features: usize,
        /// Greatest number allowed.
        most: usize,
    },
}

/// Checks one size; the error names the field and the value.
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

/// Pair of shapes without a gap function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no gap function for the pair {a} and {b}")]
pub struct NoGap {
    /// Kind of the first shape, as in a scene file.
    pub a: &'static str,
    /// Kind of the second shape, as in a scene file.
    pub b: &'static str,
}

/// Error of mass properties that do not exist.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MassError {
    /// Shape that cannot exist.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Density that is not positive and finite.
    #[error("density = {density}, but it must be finite and > 0")]
    Density {
        /// Density found [kg/m²] in the plane, [kg/m³] in space.
        density: f64,
    },
    /// Half-plane or half-space.
    #[error("a {shape} has no finite mass")]
    Unbounded {
        /// Kind of the shape, as in a scene file.
        shape: &'static str,
    },
    /// Point or segment.
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
