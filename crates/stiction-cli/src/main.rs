//! The `stiction` command.
fn main() {}
