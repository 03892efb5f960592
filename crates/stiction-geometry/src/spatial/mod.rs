//! Shapes in space. A pose is an `Isometry3`: the body's local frame in the world.

mod bounds;
mod capsule;
mod gap;
mod mass;
mod shape;

pub use bounds::{Aabb, bounds, size, support};
pub use gap::{Gap, gaps, has_gap};
pub use mass::{MassProperties, mass};
pub use shape::Shape;
