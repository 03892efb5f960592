//! Parts that the commands `stiction` and `stiction-lab` share: outcomes with exit codes, output to the terminal and to
//! files, and plots.

pub mod plot;
pub mod terminal;
