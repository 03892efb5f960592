//! Convex shapes and their gap functions: knows poses, not dynamics.
//!
//! [`planar`] and [`spatial`] live side by side with the same names in the same order, and never see each
//! other. Each has
//!
//! - [`planar::Shape`], a closed set of convex shapes, in the words of a scene file;
//! - [`planar::gaps`], every near point of two shapes within a reach;
//! - [`planar::ratio`], the ratio metric of polygons and polyhedra with its gradients and its proof;
//! - [`planar::minkowski_gap`], the signed Euclidean distance of the same, to compare with;
//! - [`planar::mass`], mass properties from a density;
//! - [`planar::bounds`], [`planar::size`] and [`planar::support`], what a broad phase asks.
//!
//! [`broad`] finds which of many bounds overlap.
//!
//! # The contract of a gap
//!
//! A [`planar::Gap`] is a differentiable function Φ of the two poses together with its exact row. With `n`
//! its normal from a to b, and `v_a`, `v_b` the velocities of the *material* points now at `on_a`, `on_b`,
//!
//! ```text
//! on_b − on_a = Φ n,        dΦ/dt = n · (v_b − v_a).
//! ```
//!
//! The second line is exact to first order for every event kind: a vertex against an edge takes the normal of
//! that edge, two vertices (or rounded cores) take the line that joins them, a smooth shape on a half-plane its
//! support point. Φ is negative when the shapes overlap; against half-planes and half-spaces it is exact at
//! any depth.
//!
//! Boxes, polyhedra and polygons meet each other by the ratio metric (HA10): the factor r by which both must be
//! scaled about their centroids to touch. It chooses the normal, and every vertex on a facet and every crossing
//! of edges near it has its own gap. When they are apart, such a gap may be less than their distance, never more
//! than the distance along its normal.
//!
//! ```
//! use nalgebra::Isometry2;
//! use stiction_geometry::planar::{Shape, gaps};
//!
//! let disk = Shape::Disk { radius: 0.5 };
//! let mut near = Vec::new();
//! gaps(&Shape::HalfPlane, &Isometry2::identity(), &disk, &Isometry2::translation(3.0, 0.75), 1.0, &mut near)?;
//! assert_eq!(near[0].gap, 0.25);
//! assert_eq!(near[0].normal.y, 1.0);
//! # Ok::<(), stiction_geometry::NoGap>(())
//! ```

#![allow(rustdoc::broken_intra_doc_links, reason = "[m] is a unit, not a link")]

mod aabb;
pub mod broad;
mod climb;
mod error;
mod events;
mod gap;
mod growth;
mod mass;
pub mod planar;
mod ratio;
pub mod spatial;
mod vertex_list;

pub use aabb::Aabb;
pub use error::{MassError, NoGap, ShapeError};
pub use gap::Gap;
pub use growth::Growth;
pub use ratio::{Basis, Gradient, Multiplier, Ratio, RatioCertificate, RatioCounters};
