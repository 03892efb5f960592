//! Shapes and gaps against finite differences, closed forms, brute force and each other.

mod broad;
mod brute_force;
mod climbing;
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
