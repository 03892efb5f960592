//! Contact reduction: implied contacts are dropped, each with a proof, and no others.

mod common;
mod equal;
mod limit;
mod proofs;
#[path = "../common/mod.rs"]
mod shared;
mod spin;
