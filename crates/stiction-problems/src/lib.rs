//! Complementarity problems to test and time solvers with.
//!
//! [`collection`] builds the files of the folder `problems/` from their formulas, with what is known of their answers.
//! [`ensemble`] draws random contact problems from a seed, the same on every machine.

pub mod collection;
pub mod ensemble;
