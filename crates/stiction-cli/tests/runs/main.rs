//! Runs of the built command: killed, interrupted, refused, forged, converted, compared.

mod common;
mod compared;
mod converted;
mod forged;
mod killed;
#[cfg(feature = "parquet")]
mod parquet;
mod refused;
