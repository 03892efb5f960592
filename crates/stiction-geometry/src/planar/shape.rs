//! Closed set of planar shapes.

use serde::{Deserialize, Serialize};

use super::Polygon;
use crate::error::{ShapeError, size_rule};

/// Convex shape in its local frame.
///
/// Serialized with its words: `{"disk": {"radius": 0.1}}`, `"half_plane"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// Disk about the origin; a point when the radius is zero.
    Disk {
        /// Radius [m], >= 0.
        radius: f64,
    },
    /// Ellipse about the origin.
    Ellipse {
        /// Semi-axes along local x and y [m], > 0.
        semi_axes: [f64; 2],
    },
    /// Points within a radius of a segment along local x; a segment when the radius is zero.
    Capsule {
        /// Half the length of the segment, without the caps [m], > 0.
        half_length: f64,
        /// Radius of the caps [m], >= 0.
        radius: f64,
    },
    /// Convex polygon.
    Polygon(Polygon),
    /// Points within a radius of a polygon.
    Rounded {
        /// Polygon; no other shape.
        core: Box<Shape>,
        /// Radius [m], > 0.
        radius: f64,
    },
    /// Points with local y <= 0: the outward normal is +y.
    HalfPlane,
}

impl Shape {
    /// Name of the kind, as in a scene file.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Disk { .. } => "disk",
            Self::Ellipse { .. } => "ellipse",
            Self::Capsule { .. } => "capsule",
            Self::Polygon(_) => "polygon",
            Self::Rounded { .. } => "rounded polygon",
            Self::HalfPlane => "half_plane",
        }
    }

    /// Checks every size; the error names the field and the value. All other functions of this module
    /// take a shape that passes.
    pub fn check(&self) -> Result<(), ShapeError> {
        match self {
            Self::Disk { radius } => size_rule("disk", "radius", *radius, true),
            Self::Ellipse { semi_axes: [a, b] } => {
                size_rule("ellipse", "semi_axes[0]", *a, false)?;
                size_rule("ellipse", "semi_axes[1]", *b, false)
            }
            Self::Capsule { half_length, radius } => {
                size_rule("capsule", "half_length", *half_length, false)?;
                size_rule("capsule", "radius", *radius, true)
            }
            Self::Rounded { core, radius } => {
                if !matches!(**core, Self::Polygon(_)) {
                    return Err(ShapeError::Core { core: core.kind(), rule: "a polygon" });
                }
                size_rule("rounded polygon", "radius", *radius, false)
            }
            // checked when it was built
            Self::Polygon(_) | Self::HalfPlane => Ok(()),
        }
    }

    /// Shape that is wrapped in a radius, and the radius; the shape itself and 0 if it is not rounded.
    pub fn core(&self) -> (&Self, f64) {
        match self {
            Self::Rounded { core, radius } => (core, *radius),
            _ => (self, 0.0),
        }
    }
}
