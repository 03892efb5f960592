//! Tests of journals: one module for each of the crate.

mod common;
mod format2;
mod format3;
mod format4;
mod format5;
mod reader;
mod record;
mod writer;
