//! Exact Jacobians of forces against central differences, and what must hold of them.

mod common;
mod laws;
mod planes;
mod spaces;
