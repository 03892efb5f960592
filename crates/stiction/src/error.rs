//! Errors: all mistakes at once, with names; failed steps with their problem.

use crate::id::JointId;
use crate::system::ContactId;
use stiction_lcp::{LcpError, StepProblem};

/// One mistake in a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Mistake {
    /// Where: the name of a body, joint or force and its field.
    pub place: String,
    /// What is wrong.
    pub what: String,
}

/// All mistakes of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl std::fmt::Display for Mistakes {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} mistake{}", self.0.len(), if self.0.len() == 1 { "" } else { "s" })?;
        self.0.iter().try_for_each(|m| write!(f, "\n  {m}"))
    }
}

impl std::error::Error for Mistakes {}

impl Mistakes {
    pub(crate) fn add(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.0.push(Mistake { place: place.into(), what: what.into() });
    }

    pub(crate) fn none() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn result(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

/// A step that was not made. The state is as it was before.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StepError {
    /// The step size is not a positive number.
    #[error("the step size {0} must be positive and finite")]
    StepSize(f64),
    /// The accuracy is not a positive number.
    #[error("the accuracy {0} must be positive and finite")]
    Accuracy(f64),
    /// Events follow each other without end.
    #[error("at t = {t} s: more than {limit} events")]
    Events {
        /// When [s].
        t: f64,
        /// The limit.
        limit: usize,
    },
    /// Steps do not come to the end.
    #[error("at t = {t} s: more than {limit} steps, the last of {size:.1e} s")]
    Steps {
        /// When [s].
        t: f64,
        /// The limit.
        limit: usize,
        /// Size of the last [s].
        size: f64,
    },
    /// The accuracy is finer than numbers of this size are.
    #[error(
        "at t = {t} s: the accuracy {tolerance:.1e} is out of reach, coordinates or velocities of {size:.1e} are \
         rounded by more"
    )]
    Rounding {
        /// When [s].
        t: f64,
        /// The accuracy that was asked for.
        tolerance: f64,
        /// The largest coordinate or velocity [m, rad, m/s, rad/s].
        size: f64,
    },
    /// The state is not one of this model.
    #[error("the state has {got:?} coordinates and velocities, the model {expected:?}")]
    Size {
        /// Coordinates and velocities of the state.
        got: [usize; 2],
        /// Coordinates and velocities of the model.
        expected: [usize; 2],
    },
    /// The step problem has no certified solution.
    #[error("the step at t = {t} s: {error}")]
    Unsolved {
        /// Time at the start of the step [s].
        t: f64,
        /// Why.
        error: Box<LcpError>,
        /// The problem, to be saved and solved again.
        problem: Box<StepProblem>,
    },
    /// A force or a pose is not a number.
    #[error("the step at t = {t} s: {what} is not finite")]
    NotFinite {
        /// Time at the start of the step [s].
        t: f64,
        /// What is not finite.
        what: String,
    },
    /// Two features that bear on each other no longer face each other, and nothing takes over.
    #[error("the step at t = {t} s: the features of contact {contact:?} no longer face each other")]
    Lost {
        /// Time of the state in which they do not [s].
        t: f64,
        /// Which contact.
        contact: ContactId,
    },
    /// The scheme does not know something of the model.
    #[error("the step at t = {t} s: the second-order schemes do not know {what}; the Euler schemes do")]
    Unsupported {
        /// Time at the start of the step [s].
        t: f64,
        /// What it does not know.
        what: &'static str,
    },
    /// A joint does not hold at the start of a run by a scheme that would keep its error.
    #[error(
        "joint {joint} is {error} m and {speed} m/s from holding at the start, t = {t} s: \
         project the world onto its joints first"
    )]
    Apart {
        /// Time at the start of the step [s].
        t: f64,
        /// The joint, by its number in the world.
        joint: JointId,
        /// How far one of its rows is from holding [m].
        error: f64,
        /// How fast it goes from there [m/s].
        speed: f64,
    },
}

/// Why a world could not be projected onto its joints.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProjectError {
    /// The world is not right.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
    /// A linearized projection has no certified solution.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The joints cannot all hold, or not near where the bodies are.
    #[error("the joints do not close: {0} m are left")]
    Apart(f64),
}
