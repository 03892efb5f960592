//! Gap functions of convex shapes, in the plane and in space: gaps, normals, witness points, bounds and mass
//! properties from shapes and poses. Knows no dynamics.
//!
//! ```text
//!  shape + pose ──► bounds ──► overlapping pairs ──► gap functions ──► Gap
//!                   Aabb       BroadPhase            by pair of kinds   Φ, n, on_a, on_b, feature
//!
//!     \     b     /           ratio metric of polygons and polyhedra:
//!      \_________● on_b       scale both by r about their centroids until they touch
//!          ▲ n   │ Φ
//!    ──────┴─────● on_a       r < 1 overlap,   r = 1 touch,   r > 1 apart
//!    ///////  a  ////////     gap Φ = L (r − 1),   L the extent of both along n
//! ```
//!
//! [`planar`] and [`spatial`] have the same names in the same order and never see each other. Types that are the same
//! in both are written once over the dimension: [`Aabb`], [`Gap`], [`Growth`], [`Ratio`], [`Gradient`] and [`Basis`];
//! `planar::Gap` is `Gap<2>`. Formulas stand side by side:
//!
//! - [`planar::Shape`]: closed set of convex shapes, in the words of a scene file;
//! - [`planar::gaps`]: every gap of two shapes within a reach;
//! - [`planar::ratio`]: ratio metric of polygons and polyhedra, with its gradients and its proof;
//! - [`planar::growth`]: the factor at which the features of one gap meet;
//! - [`planar::minkowski_gap`]: signed Euclidean distance of polygons and polyhedra;
//! - [`planar::mass`]: mass properties from a density;
//! - [`planar::bounds`], [`planar::size`] and [`planar::support`]: input of a broad phase.
//!
//! [`broad`] finds the overlapping pairs of many bounding boxes.
//!
//! # Contract of a gap
//!
//! A [`Gap`] is a differentiable function Φ of the two poses together with its exact row. Let n be its normal from a
//! to b, and v_a, v_b the velocities of the *material* points now at `on_a`, `on_b`. Then
//!
//! ```text
//! on_b − on_a = Φ n,        dΦ/dt = n · (v_b − v_a).
//! ```
//!
//! The second equation is exact to first order for every feature pair. A vertex on an edge or a facet takes the normal
//! of that edge or facet. Two vertices, or rounded cores, take the line that joins them. A smooth shape on a half-plane
//! takes its support point. Φ is negative when the shapes overlap; on half-planes and half-spaces it is exact at any
//! depth.
//!
//! Boxes, polyhedra and polygons meet each other by the ratio metric (HA10): the factor r by which both must be scaled
//! about their centroids to touch. It chooses the normal. Every vertex on a facet and every crossing of edges near it
//! has its own gap. If the bodies are apart, such a gap may be less than their distance, never more than the distance
//! along its normal.
//!
//! Ellipses, ellipsoids, cylinders, cones and rounded shapes meet each other and all others along common normals: one
//! for each pair of features that face each other. If the bodies are apart, the least gap is their distance.
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
//!
//! # Features
//!
//! The crate has no features. parry serves three purposes, two of them in the default path of a simulation: the tree
//! of [`broad`], the convex hull of [`spatial::Polyhedron::new`], and GJK with EPA in [`spatial::minkowski_gap`].

#![allow(rustdoc::broken_intra_doc_links, reason = "[m] is a unit, not a link")]

mod aabb;
pub mod broad;
mod climb;
mod convex;
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
