//! The questions: dense complementarity problems and the structured problem of a time step.

mod dense;
mod file;
mod friction;
mod local;
mod mass;
mod row;
mod step;

pub use crate::factor::MassFactor;
pub use dense::{Lcp, Mlcp};
pub use file::{AnyProblem, Expected, ProblemFile};
pub use friction::{FrictionLaw, FrictionSet};
pub use local::LocalProblem;
pub use row::{OffsetRow, Row, Term};
pub(crate) use step::Prepared;
pub use step::{Body, Contact, Joint, Layout, Pair, StepProblem};

/// Input that is not a problem: where it is wrong, and how.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Malformed {
    /// The entry at fault, such as `contacts[3].mu`.
    pub place: String,
    /// What is wrong with it.
    pub what: String,
}

impl Malformed {
    pub(crate) fn at(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

/// `Ok` when `x` is a finite number, else an error that names `place`.
pub(crate) fn finite(x: f64, place: impl FnOnce() -> String) -> Result<(), Malformed> {
    if x.is_finite() { Ok(()) } else { Err(Malformed::at(place(), format!("{x} is not a finite number"))) }
}

/// `Ok` when `x` is finite and not negative, else an error that names `place`.
pub(crate) fn not_negative(x: f64, place: impl Fn() -> String) -> Result<(), Malformed> {
    finite(x, &place)?;
    if x >= 0.0 { Ok(()) } else { Err(Malformed::at(place(), format!("{x} must not be negative"))) }
}

/// Any of the problems this crate solves, by reference.
#[derive(Debug, Clone, Copy)]
pub enum Problem<'a> {
    /// `w = M z + q`, `0 ≤ z ⊥ w ≥ 0`.
    Lcp(&'a Lcp),
    /// The same with free rows, where `w = 0` and `z` has any sign.
    Mlcp(&'a Mlcp),
    /// One time step of rigid bodies.
    Step(&'a StepProblem),
    /// Contacts in their own coordinates, u = W r + q.
    Local(&'a LocalProblem),
}

impl<'a> From<&'a Lcp> for Problem<'a> {
    fn from(lcp: &'a Lcp) -> Self {
        Self::Lcp(lcp)
    }
}

impl<'a> From<&'a Mlcp> for Problem<'a> {
    fn from(mlcp: &'a Mlcp) -> Self {
        Self::Mlcp(mlcp)
    }
}

impl<'a> From<&'a StepProblem> for Problem<'a> {
    fn from(step: &'a StepProblem) -> Self {
        Self::Step(step)
    }
}

impl<'a> From<&'a LocalProblem> for Problem<'a> {
    fn from(local: &'a LocalProblem) -> Self {
        Self::Local(local)
    }
}

impl Problem<'_> {
    /// Checks every entry; the error names the first one at fault.
    pub fn check(&self) -> Result<(), Malformed> {
        match self {
            Self::Lcp(lcp) => lcp.check(),
            Self::Mlcp(mlcp) => mlcp.check(),
            Self::Step(step) => step.check(),
            Self::Local(local) => local.check(),
        }
    }

    /// Number of unknowns in `z`: for a step problem the impulses, without the slip speeds λ.
    pub fn size(&self) -> usize {
        match self {
            Self::Lcp(lcp) => lcp.q.len(),
            Self::Mlcp(mlcp) => mlcp.q.len(),
            Self::Step(step) => step.layout().impulses,
            Self::Local(local) => local.size(),
        }
    }
}
