//! Shapes and gaps against finite differences, closed forms, brute force and each other.

mod brute_force;
mod degenerate;
mod events;
mod growth;
mod mass;
mod minkowski;
mod parity;
mod planar_gaps;
mod planar_ratio;
mod polyhedra;
mod ratio;
mod ratio_oracle;
mod rounded;
mod scenes;
mod shapes;
mod spatial_gaps;
