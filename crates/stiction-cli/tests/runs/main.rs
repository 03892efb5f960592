//! Runs of the built command: killed, interrupted, refused, forged, converted.

mod common;
mod converted;
mod forged;
mod killed;
mod refused;
