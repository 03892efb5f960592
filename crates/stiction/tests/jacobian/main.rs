//! Force Jacobians: formulas against central differences, and properties that must hold.

mod common;
mod laws;
mod planes;
#[path = "../common/mod.rs"]
mod shared;
mod spaces;
