//! Planar shapes: bounds, gaps, ratio metric and mass properties. A pose is an `Isometry2`, the local frame of a
//! body in the world.

mod bounds;
mod cap;
mod ellipse;
mod events;
mod gap;
mod growth;
mod half_plane;
mod mass;
mod minkowski;
mod outline;
mod polygon;
mod ratio;
mod shape;

pub use bounds::{Aabb, bounds, size, support};
pub use gap::{Gap, gaps, gaps_from, has_gap};
pub use growth::{Growth, growth};
pub use mass::{MassProperties, mass};
pub use minkowski::minkowski_gap;
pub use polygon::Polygon;
pub use ratio::{Basis, Gradient, Ratio, RatioCertificate, ratio, ratio_by_seidel};
pub use shape::Shape;
