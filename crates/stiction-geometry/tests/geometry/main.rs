//! Shapes and gaps against finite differences, closed forms, brute force and each other.

mod broad;
mod climb;
mod curved;
mod degenerate;
mod dimension;
mod gap;
mod growth;
mod mass;
mod minkowski;
mod parity;
mod planar_gap;
mod planar_outline;
mod planar_ratio;
mod polyhedron;
mod scenes;
mod shapes;
mod spatial_events;
mod spatial_gap;
mod spatial_ratio;
mod spatial_ratio_oracle;
mod spatial_rounded;
