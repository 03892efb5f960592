//! Closed set of spatial shapes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Polyhedron;
use crate::error::{ShapeError, size_rule};

/// Greatest number of vertices, edges and facets together: 16 bits of a feature identifier name one, and all ones
/// name none.
const MAX_FEATURES: usize = (1 << 16) - 1;

/// Convex shape in its local frame.
///
/// Serialized with its words: `{"sphere": {"radius": 0.1}}`, `"half_space"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// Ball about the origin; a point when the radius is zero.
    Sphere {
        /// Radius [m], >= 0.
        radius: f64,
    },
    /// Ellipsoid about the origin.
    Ellipsoid {
        /// Semi-axes along local x, y and z [m], > 0.
        semi_axes: [f64; 3],
    },
    /// Points within a radius of a segment along local z; a segment when the radius is zero.
    Capsule {
        /// Half the length of the segment, without the caps [m], > 0.
        half_length: f64,
        /// Radius of the caps [m], >= 0.
        radius: f64,
    },
    /// Rectangular box about the origin, `box` in a scene file.
    #[serde(rename = "box")]
    Cuboid {
        /// Half extents along local x, y and z [m], > 0.
        half_extents: [f64; 3],
    },
    /// Cylinder about local z, centred at the origin.
    Cylinder {
        /// Half the length along z [m], > 0; a core that is rounded may be a disc without length.
        half_length: f64,
        /// Radius [m], > 0.
        radius: f64,
    },
    /// Cone about local z: its base at z = −half_length, its apex at z = half_length.
    Cone {
        /// Half the height [m], > 0.
        half_length: f64,
        /// Radius of the base [m], > 0.
        radius: f64,
    },
    /// Convex polyhedron. Shared, because the hull of many points is large.
    Polyhedron(Arc<Polyhedron>),
    /// Points within a radius of a core.
    Rounded {
        /// Box, polyhedron, cylinder or cone; no other shape.
        core: Box<Shape>,
        /// Radius [m], > 0.
        radius: f64,
    },
    /// Points with local z <= 0: the outward normal is +z.
    HalfSpace,
}

impl Shape {
    /// Name of the kind, as in a scene file.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Sphere { .. } => "sphere",
            Self::Ellipsoid { .. } => "ellipsoid",
            Self::Capsule { .. } => "capsule",
            Self::Cuboid { .. } => "box",
            Self::Polyhedron(_) => "polyhedron",
            Self::Cylinder { .. } => "cylinder",
            Self::Cone { .. } => "cone",
            Self::Rounded { core, .. } => match **core {
                Self::Cuboid { .. } => "rounded box",
                Self::Polyhedron(_) => "rounded polyhedron",
                Self::Cylinder { .. } => "rounded cylinder",
                Self::Cone { .. } => "rounded cone",
                _ => "rounded",
            },
            Self::HalfSpace => "half_space",
        }
    }

    /// Checks every size; the error names the field and the value. All other functions of this module
    /// take a shape that passes.
    pub fn check(&self) -> Result<(), ShapeError> {
        match self {
            Self::Sphere { radius } => size_rule("sphere", "radius", *radius, true),
            Self::Ellipsoid { semi_axes: [a, b, c] } => {
                size_rule("ellipsoid", "semi_axes[0]", *a, false)?;
                size_rule("ellipsoid", "semi_axes[1]", *b, false)?;
                size_rule("ellipsoid", "semi_axes[2]", *c, false)
            }
            Self::Capsule { half_length, radius } => {
                size_rule("capsule", "half_length", *half_length, false)?;
                size_rule("capsule", "radius", *radius, true)
            }
            Self::Cuboid { half_extents: [x, y, z] } => {
                size_rule("box", "half_extents[0]", *x, false)?;
                size_rule("box", "half_extents[1]", *y, false)?;
                size_rule("box", "half_extents[2]", *z, false)
            }
            Self::Cylinder { half_length, radius } => {
                size_rule("cylinder", "half_length", *half_length, false)?;
                size_rule("cylinder", "radius", *radius, false)
            }
            Self::Cone { half_length, radius } => {
                size_rule("cone", "half_length", *half_length, false)?;
                size_rule("cone", "radius", *radius, false)
            }
            Self::Rounded { core, radius } => {
                size_rule(self.kind(), "radius", *radius, false)?;
                match &**core {
                    // a disc
                    Self::Cylinder { half_length, radius } => {
                        size_rule("cylinder", "half_length", *half_length, true)?;
                        size_rule("cylinder", "radius", *radius, false)
                    }
                    Self::Cuboid { .. } | Self::Polyhedron(_) | Self::Cone { .. } => core.check(),
                    other => {
                        let rule = "a box, polyhedron, cylinder or cone";
                        Err(ShapeError::Core { core: other.kind(), rule })
                    }
                }
            }
            Self::Polyhedron(polyhedron) => {
                let features =
                    polyhedron.vertices().len() + polyhedron.edges().len() + polyhedron.facets().len();
                if features > MAX_FEATURES {
                    return Err(ShapeError::TooManyFeatures { features, most: MAX_FEATURES });
                }
                Ok(())
            }
            Self::HalfSpace => Ok(()),
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
