//! Errors of models and of steps: all mistakes of a model at once, and failed steps with the place and the problem.

use crate::id::JointId;
use crate::system::ContactId;
use std::fmt;
use stiction_lcp::{LcpError, StepProblem};

/// Mistake in a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Mistake {
    /// Place: the name of a body, joint or force and its field.
    pub place: String,
    /// Description of what is wrong there.
    pub what: String,
}

/// All mistakes of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
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

/// Failed step. The state is the one before the step.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StepError {
    /// Step size that is not positive and finite.
    #[error("step size {0} s: it must be positive and finite")]
    StepSize(f64),
    /// Motors that do not settle at a limit or within it.
    #[error(
        "step at t = {t} s: after {solves} solves the motors are still not all at their limits or within them"
    )]
    Actuators {
        /// Time at the start of the step [s].
        t: f64,
        /// Number of solves.
        solves: usize,
    },
    /// Step below the round-off of the time.
    #[error(
        "step at t = {t} s: a step of {h} s is below the round-off of the time; start at an earlier time or take \
         larger steps"
    )]
    Clock {
        /// Time at the start of the step [s].
        t: f64,
        /// Step size [s].
        h: f64,
    },
    /// Value of an input that is refused, as of a controller.
    #[error("step at t = {t} s: {error}")]
    Input {
        /// Time at the start of the step [s].
        t: f64,
        /// Why it is refused.
        error: InputError,
    },
    /// Run that its monitor asked to stop.
    #[error("stopped at t = {t} s, as its monitor asked")]
    Stopped {
        /// Time reached [s].
        t: f64,
    },
    /// Accuracy that is not positive and finite.
    #[error("accuracy {0}: it must be positive and finite")]
    Accuracy(f64),
    /// Scheme with settings that a run to an accuracy would ignore.
    #[error(
        "a run to an accuracy would ignore these settings of the scheme: {}; take Scheme::accurate(), of which it uses \
         solver and restitution_speed, or make steps of fixed size",
        settings.join(", ")
    )]
    IgnoredScheme {
        /// Names of the settings.
        settings: Vec<&'static str>,
    },
    /// Event limit reached: events accumulate.
    #[error(
        "step at t = {t} s: more than {limit} events; take smaller steps, more restitution or an Euler scheme"
    )]
    Events {
        /// Time of the last event [s].
        t: f64,
        /// Event limit.
        limit: usize,
    },
    /// Events that follow each other faster than time resolves, without a mode that lasts.
    #[error(
        "step at t = {t} s: events at {name} follow each other faster than the accuracy resolves, and no step of first \
         order passes them: its modes contradict each other, as those of jammed bodies do"
    )]
    Chatter {
        /// Time of the events [s].
        t: f64,
        /// Name of the constraint of the last one.
        name: String,
    },
    /// State in which no forces exist, so that no modes of the contacts go on (Painlevé's paradox).
    #[error(
        "step at t = {t} s: no forces of {name} and the contacts beside it let any of their modes go on, and no step of \
         first order passes this state; less friction there has forces"
    )]
    NoModes {
        /// Time of the state [s].
        t: f64,
        /// Name of the first active constraint.
        name: String,
    },
    /// Step limit reached before the end of a run to an accuracy.
    #[error("step at t = {t} s: more than {limit} steps, the last of {size:.1e} s; ask for less accuracy")]
    Steps {
        /// Time reached [s].
        t: f64,
        /// Step limit.
        limit: usize,
        /// Size of the last step [s].
        size: f64,
    },
    /// Accuracy below the round-off of the state.
    #[error(
        "step at t = {t} s: the accuracy {tolerance:.1e} is below the round-off of coordinates or velocities of \
         {size:.1e}; ask for less accuracy"
    )]
    Rounding {
        /// Time [s].
        t: f64,
        /// Accuracy asked for.
        tolerance: f64,
        /// Largest coordinate or velocity [m, rad, m/s, rad/s].
        size: f64,
    },
    /// State of another model.
    #[error(
        "the state has {} coordinates and {} velocities, but the model has {} and {}: take the state of the model",
        got[0], got[1], expected[0], expected[1]
    )]
    Size {
        /// Numbers of coordinates and velocities of the state.
        got: [usize; 2],
        /// Numbers of coordinates and velocities of the model.
        expected: [usize; 2],
    },
    /// Step problem without a certified solution.
    #[error("step at t = {t} s: {}{}", unsolved_message(error, place.as_deref()), halved_message(*smallest))]
    Unsolved {
        /// Time at the start of the step [s].
        t: f64,
        /// Error of the solver.
        error: Box<LcpError>,
        /// Row with the largest residual, with the names of its bodies where the model has names.
        place: Option<String>,
        /// Size of the smallest steps that it was tried as [s]; `None` where it was not halved.
        smallest: Option<f64>,
        /// Problem, to be saved and solved again.
        problem: Box<StepProblem>,
    },
    /// Force, coordinate, velocity or prescribed motion that is not finite.
    #[error("step at t = {t} s: {what} is not finite")]
    NotFinite {
        /// Time at the start of the step [s].
        t: f64,
        /// Quantity that is not finite.
        what: String,
    },
    /// Active contact whose features no longer face each other, without a successor.
    #[error("step at t = {t} s: the features of {name} no longer face each other, and no other features do")]
    Lost {
        /// Time of the state in which they do not [s].
        t: f64,
        /// Contact.
        contact: ContactId,
        /// Contact with the names of its bodies, where the model has names.
        name: String,
    },
    /// Feature of the model that the scheme does not support.
    #[error("step at t = {t} s: second-order schemes do not support {what}; use an Euler scheme")]
    Unsupported {
        /// Time at the start of the step [s].
        t: f64,
        /// Unsupported feature.
        what: &'static str,
    },
    /// Motions that are not sought.
    #[error("motions at t = {t} s: {reason}")]
    Motions {
        /// Time [s].
        t: f64,
        /// Reason.
        reason: String,
    },
    /// Joint that does not hold at the start of a run, with a scheme that would keep its error.
    #[error(
        "{name} is violated by {error:.3e} m and {speed:.3e} m/s at the start, t = {t} s: \
         project the world onto its joints first"
    )]
    Apart {
        /// Time at the start of the step [s].
        t: f64,
        /// Joint, by its number in the world.
        joint: JointId,
        /// Joint with its name, where the model has names.
        name: String,
        /// Position error of one of its rows [m].
        error: f64,
        /// Velocity error of that row [m/s].
        speed: f64,
    },
}

impl StepError {
    /// Error of a step problem that was not solved, without a place.
    pub fn unsolved(t: f64, error: LcpError, problem: &StepProblem) -> Self {
        Self::Unsolved {
            t,
            error: Box::new(error),
            place: None,
            smallest: None,
            problem: Box::new(problem.clone()),
        }
    }
}

/// Words on the halves that a step was tried as.
fn halved_message(smallest: Option<f64>) -> String {
    smallest.map_or_else(String::new, |size| format!("; nor as halves down to steps of {size:.1e} s"))
}

/// Message of the solver with the row of the largest residual.
fn unsolved_message(error: &LcpError, place: Option<&str>) -> String {
    match (error, place) {
        (LcpError::Uncertified { tolerance, best }, Some(place)) => format!(
            "no solution within tolerance: residual {:.1e} at {place}, tolerance {tolerance:.1e}",
            best.certificate.worst()
        ),
        (_, Some(place)) => format!("{error}; largest residual at {place}"),
        (_, None) => error.to_string(),
    }
}

/// Refused value of an input. Nothing is changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InputError {
    /// Name that no input has.
    #[error("there is no input `{name}`{}", did_you_mean(nearest.as_deref()))]
    Unknown {
        /// Name that was given.
        name: String,
        /// Name of an input that is most like it.
        nearest: Option<String>,
    },
    /// Value that is not finite.
    #[error("input `{name}` was set to {value}; it must be finite")]
    NotFinite {
        /// Name of the input.
        name: String,
        /// Value that was given.
        value: f64,
    },
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map_or_else(|| "; the model has none".to_string(), |name| format!("; did you mean `{name}`?"))
}

/// Failed projection of a world onto its joints.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProjectError {
    /// Mistakes in the world.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
    /// Linearized projection without a certified solution.
    #[error(transparent)]
    Step(#[from] StepError),
    /// Joints that cannot all hold, or not near the given poses.
    #[error(
        "the joints do not close: an error of {0:.3e} m remains; move the bodies closer to where the joints hold"
    )]
    Apart(f64),
}
