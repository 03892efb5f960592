//! Spatial shapes: bounds, gaps, ratio metric and mass properties. A pose is an `Isometry3`, the local frame of a
//! body in the world.

mod bounds;
mod cap;
mod capsule;
mod core;
mod curved;
mod events;
mod feature;
mod feature_pair;
mod gap;
mod growth;
mod half_space;
mod hull;
mod marks;
mod mass;
mod minkowski;
mod parry;
mod polyhedron;
mod ratio;
mod revolution;
mod rounded;
mod shape;
mod solid;
mod topology;

pub use bounds::{Aabb, bounds, size, support};
pub use gap::{Gap, gaps, gaps_from, has_gap};
pub use growth::{Growth, growth};
pub use mass::{MassProperties, mass};
pub use minkowski::minkowski_gap;
pub use polyhedron::Polyhedron;
pub use ratio::{Basis, Gradient, Ratio, RatioCertificate, ratio, ratio_by_seidel};
pub use shape::Shape;
