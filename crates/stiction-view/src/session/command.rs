//! What a page may ask of a live simulation.

use serde::Deserialize;

/// What a page may ask of a live simulation. Vectors have as many numbers as the scene has dimensions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Run.
    Play {},
    /// Stop running.
    Pause {},
    /// One step.
    Step {},
    /// Back to the start, with the settings of the start.
    Reset {},
    /// Simulated seconds per second.
    Speed {
        /// Above 0, at most 1000.
        value: f64,
    },
    /// Take hold of a body.
    Grab {
        /// Its place in the description.
        body: usize,
        /// The point of it that is held, in the world [m].
        point: Vec<f64>,
    },
    /// Pull what is held.
    Move {
        /// Where to, in the world [m].
        target: Vec<f64>,
    },
    /// Let go.
    Release {},
    /// A new body, as heavy as the others.
    Drop {
        /// What it is.
        shape: Dropped,
        /// Where it should begin; higher if something is there [m].
        at: Vec<f64>,
        /// Radius, or half the diagonal [m].
        size: f64,
    },
    /// Back to the last moment that is not after this time.
    Undo {
        /// [s]
        time: f64,
    },
    /// μ of every surface; pairs that have a material of their own keep it.
    Friction {
        /// μ ≥ 0.
        value: f64,
    },
    /// e of every surface; pairs that have a material of their own keep it.
    Restitution {
        /// 0 to 1.
        value: f64,
    },
    /// γ of a stabilized scheme.
    Gamma {
        /// Above 0, at most 1.
        value: f64,
    },
    /// The size of steps.
    StepSize {
        /// h > 0 [s].
        value: f64,
    },
    /// Another scheme.
    Scheme {
        /// As in a scene file.
        name: String,
    },
    /// Stabilization on or off: without it steps look at velocities alone.
    Stabilize {
        /// On.
        on: bool,
    },
    /// The present moment as a scene file.
    Save {},
}

/// What may be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// A box; a square in the plane.
    Box,
    /// A ball; a disk in the plane.
    Ball,
}

/// A command that was not obeyed, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Complaint(pub String);

impl Complaint {
    pub(crate) fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }
}

impl Command {
    /// Reads a message.
    pub fn read(text: &str) -> Result<Self, Complaint> {
        serde_json::from_str(text).map_err(|error| Complaint(format!("the message is no command: {error}")))
    }
}
