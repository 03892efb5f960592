//! The built `stiction-lab`: reports, results as JSON and exit codes.

mod bench;
mod command;
mod common;
mod fuzz;
mod peer;
mod soak;
