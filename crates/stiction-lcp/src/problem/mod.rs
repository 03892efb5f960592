//! Problem types: dense complementarity problems, contacts in local form, and the structured problem of a time step.

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
pub use local::{LocalProblem, LocalRepair, MAX_FACETS, MAX_LOCAL_ROWS};
pub(crate) use row::are_independent;
pub use row::{OffsetRow, Row, Term};
pub(crate) use step::Prepared;
pub use step::{Body, BodyPair, Contact, Joint, Layout, StepProblem};

/// Error of malformed input: the entry at fault and the rule it breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Malformed {
    /// Entry at fault, such as `contacts[3].mu`.
    pub place: String,
    /// Defect of the entry.
    pub what: String,
}

impl Malformed {
    pub(crate) fn at(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

/// Checks that `x` is finite; the error names `place`.
pub(crate) fn finite(x: f64, place: impl FnOnce() -> String) -> Result<(), Malformed> {
    if x.is_finite() { Ok(()) } else { Err(Malformed::at(place(), format!("{x} is not a finite number"))) }
}

/// Checks that `x` is finite and not negative; the error names `place`.
pub(crate) fn not_negative(x: f64, place: impl Fn() -> String) -> Result<(), Malformed> {
    finite(x, &place)?;
    if x >= 0.0 { Ok(()) } else { Err(Malformed::at(place(), format!("{x} must not be negative"))) }
}

/// Problem of any type that this crate solves, by reference.
#[derive(Debug, Clone, Copy)]
pub enum Problem<'a> {
    /// Linear complementarity problem `w = M z + q`, `0 ≤ z ⊥ w ≥ 0`.
    Lcp(&'a Lcp),
    /// Mixed problem, with free rows where `w = 0` and `z` has any sign.
    Mlcp(&'a Mlcp),
    /// Step problem: one time step of rigid bodies.
    Step(&'a StepProblem),
    /// Local form: contacts in their own coordinates, u = W r + q.
    Local(&'a LocalProblem),
}

macro_rules! from_reference {
    ($($variant:ident($problem:ty)),*) => {$(
        impl<'a> From<&'a $problem> for Problem<'a> {
            fn from(problem: &'a $problem) -> Self {
                Self::$variant(problem)
            }
        }
    )*};
}

from_reference!(Lcp(Lcp), Mlcp(Mlcp), Step(StepProblem), Local(LocalProblem));

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
