//! Complementarity problems of rigid bodies with contact and friction, solved and certified.
//!
//! # The problem
//!
//! One time step of rigid bodies is to find velocities v and impulses such that
//!
//! ```text
//! M̃ v = b + Jᵀ r + νᵀ c                      momentum balance
//! ν v + C c + Υ = 0                          joints
//! 0 ≤ c_n  ⊥  n·v + Δ ≥ 0                    contacts push, or open
//! p_t in the friction set (μ c_n + κ) F,     friction opposes slip:
//! p_t · u_t = −(μ c_n + κ) λ                 maximum dissipation
//! ```
//!
//! for each contact with impulse r = (c_n, p_t): a mixed complementarity problem, not convex for μ > 0. AH04 (2.10)
//!
//! # The ideas
//!
//! ```text
//!   problem ──────────► solver ──────────► candidate ──────────► certificate ────► solution
//!   Lcp                 Method::Chain      any vector z,         residuals         z that passed,
//!   Mlcp                Method::Lemke      from any source       recomputed from   with Work and
//!   StepProblem         Method::Enumerate                        the problem and   Certificate
//!   LocalProblem        …                                        z alone
//!        │                                                           │
//!        │ Malformed: the entry at fault                             │ LcpError: the best candidate,
//!        ▼                                                           ▼ or a Farkas proof of infeasibility
//! ```
//!
//! - [`Problem`]: a dense [`Lcp`] `w = M z + q`, a dense [`Mlcp`] with free rows, the structured [`StepProblem`] of a time
//!   step, or contacts in local form, [`LocalProblem`]. Files are read by [`problem::ProblemFile`].
//! - [`Solver`]: a [`Method`] and a tolerance. The default [`Chain`] solves each island by interior point, semismooth
//!   Newton, central path and Gauss–Seidel methods; [`Lemke`] pivots; [`Enumerate`] is the oracle for small problems.
//! - [`Certificate`]: dimensionless residuals of a [`Candidate`]. [`certify`] computes them for any vector; no solver is
//!   asked.
//! - [`Solution`]: a candidate that passed. Only [`solve()`] makes one. Its [`Work`] tells which method found it.
//! - [`LcpError`]: the reason why there is none, with the best candidate or a [`Farkas`] vector that proves infeasibility.
//! - [`Workspace`]: storage that is reused, so that a simulation solves its steps without allocation.
//!
//! # Example
//!
//! A box of 2 kg falls onto the floor at 3 m/s: the contact impulse of 6 N s stops it.
//!
//! ```
//! use stiction_lcp::{Body, Contact, Row, Solver, StepProblem, certify, solve};
//!
//! let mut step = StepProblem::default();
//! step.bodies.push(Body::new(1, &[2.0], &[-6.0]));
//! step.contacts.push(Contact::frictionless(Row::one(0, &[1.0]), 0.0));
//! let solution = solve(&step, &Solver::default(), None)?;
//! assert!((solution.z()[0] - 6.0).abs() < 1e-12);
//! assert!(solution.velocity()[0].abs() < 1e-12);
//! // anyone can check it, without a solver
//! assert!(certify(&step, solution.z())?.certificate.passes(1e-12));
//! # Ok::<(), stiction_lcp::LcpError>(())
//! ```
//!
//! A dense problem by itself:
//!
//! ```
//! use stiction_lcp::{Lcp, Solver, solve};
//!
//! let lcp = Lcp::from_rows(&[&[2.0, 1.0], &[1.0, 2.0]], &[-5.0, -6.0]);
//! let solution = solve(&lcp, &Solver::default(), None)?;
//! assert!((solution.z()[0] - 4.0 / 3.0).abs() < 1e-12);
//! # Ok::<(), stiction_lcp::LcpError>(())
//! ```
//!
//! This crate knows no bodies in motion, no time and no shapes: crates that build on it do.

pub mod certificate;
pub mod chain;
pub mod condense;
mod cone_cuts;
mod convex;
pub mod enumerate;
pub mod factor;
pub mod impulse_set;
pub mod least_norm;
pub mod lemke;
pub mod linear_program;
mod local;
pub mod mode;
pub mod motions;
mod newton;
pub mod pointed;
pub mod problem;
pub mod profile;
pub mod proof;
pub mod solution;
pub mod solve;
mod structured;
mod task;
#[cfg(test)]
mod testing;
pub mod threads;

pub use certificate::{Candidate, Certificate, ContactResidual, certify, certify_motion};
pub use chain::{Chain, Trial};
pub use condense::Condensed;
pub use enumerate::{Enumerate, EnumerateError, Solutions};
pub use lemke::{Basis, Lemke};
pub use mode::{ContactMode, Mode};
pub use pointed::Pointed;
pub use problem::{
    Body, BodyPair, Contact, FrictionLaw, FrictionSet, Joint, Lcp, LocalProblem, Malformed, Mlcp, OffsetRow,
    Problem, Row, StepProblem, Term,
};
pub use profile::{Phase, Profile};
pub use proof::{Farkas, number_or_infinity};
pub use solution::{Fallback, LcpError, Solution, Stage, WarmStart, Work};
pub use solve::{Method, Solver, Unique, Workspace, solve};
