//! Complementarity problems of rigid bodies with contact and friction, solved and certified.
//!
//! Four problems, one judge: a dense [`Lcp`] `w = M z + q`, a dense [`Mlcp`] with free rows, the structured
//! [`StepProblem`] that every time-stepping scheme poses, and contacts alone in local form, [`LocalProblem`]. [`solve()`] answers any of them with a
//! [`Solution`], which cannot exist without a [`Certificate`] recomputed from the original data.
//!
//! ```
//! use stiction_lcp::{Lcp, Solver, solve};
//!
//! let lcp = Lcp::from_rows(&[&[2.0, 1.0], &[1.0, 2.0]], &[-5.0, -6.0]);
//! let solution = solve(&lcp, &Solver::default(), None)?;
//! assert!((solution.z()[0] - 4.0 / 3.0).abs() < 1e-12);
//! assert!(solution.certificate().worst() < 1e-12);
//! # Ok::<(), stiction_lcp::LcpError>(())
//! ```
//!
//! No bodies, no time, no shapes here: those are the business of the crates that build on this one.

pub mod certificate;
pub mod chain;
pub mod collection;
pub mod condense;
mod convex;
pub mod ensemble;
pub mod enumerate;
pub mod least_norm;
pub mod lemke;
mod local;
mod lu;
mod newton;
pub mod pointed;
pub mod problem;
pub mod profile;
pub mod proof;
pub mod solution;
pub mod solve;
mod sparse;
mod structured;
pub mod threads;

pub use certificate::{Candidate, Certificate, ContactResidual, certify, certify_motion};
pub use chain::{Chain, Trial};
pub use condense::Condensed;
pub use enumerate::{Enumerate, EnumerateError, Solutions};
pub use lemke::{Basis, Lemke};
pub use newton::ContactMode;
pub use pointed::Pointed;
pub use problem::{
    Body, Contact, FrictionLaw, FrictionSet, Joint, Lcp, LocalProblem, Malformed, Mlcp, OffsetRow, Pair,
    Problem, Row, StepProblem, Term,
};
pub use profile::{Phase, Profile};
pub use proof::Farkas;
pub use solution::{Fallback, LcpError, Solution, Stage, WarmStart, Work};
pub use solve::{Method, Solver, Workspace, solve};
