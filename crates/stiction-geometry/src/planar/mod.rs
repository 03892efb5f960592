//! Shapes in the plane. A pose is an `Isometry2`: the body's local frame in the world.

mod bounds;
mod gap;
mod mass;
mod outline;
mod polygon;
mod shape;

pub use bounds::{Aabb, bounds, size, support};
pub use gap::{Gap, gaps, has_gap};
pub use mass::{MassProperties, mass};
pub use polygon::Polygon;
pub use shape::Shape;
