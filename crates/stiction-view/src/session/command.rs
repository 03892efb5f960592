//! Commands of a page to a live session, as JSON messages.

use serde::Deserialize;

/// Command of a page to a live session. Vectors have as many numbers as the scene has dimensions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Run.
    Play {},
    /// Stop running.
    Pause {},
    /// Make one step.
    Step {},
    /// Return to the start and its settings.
    Reset {},
    /// Set the playback speed: simulated seconds per second.
    Speed {
        /// Above 0, at most 1000.
        value: f64,
    },
    /// Grab a body with the cursor.
    Grab {
        /// Index of the body in the description.
        body: usize,
        /// Grabbed point, in the world [m].
        point: Vec<f64>,
    },
    /// Move the cursor, which pulls the grabbed body.
    Move {
        /// Position of the cursor, in the world [m].
        target: Vec<f64>,
    },
    /// Release the grabbed body.
    Release {},
    /// Drop a new body with the median mass of the others.
    Drop {
        /// Shape.
        shape: DroppedShape,
        /// Position [m]; higher if it is occupied.
        at: Vec<f64>,
        /// Radius, or half the diagonal [m].
        size: f64,
    },
    /// Take back the last change: return to the state and the settings before it.
    TakeBack {},
    /// Return to the last recorded state that is not after a time.
    Undo {
        /// Time [s].
        time: f64,
    },
    /// Set μ of every surface; pairs with a material of their own keep it.
    Friction {
        /// μ ≥ 0.
        value: f64,
    },
    /// Set e of every surface; pairs with a material of their own keep it.
    Restitution {
        /// 0 to 1.
        value: f64,
    },
    /// Set γ of a stabilized scheme.
    Gamma {
        /// Above 0, at most 1.
        value: f64,
    },
    /// Set the step size.
    StepSize {
        /// h > 0 [s].
        value: f64,
    },
    /// Choose a scheme.
    Scheme {
        /// Name, as in a scene file.
        name: String,
    },
    /// Turn stabilization on or off. Without it, constraints act on velocities only.
    Stabilize {
        /// `true` for on.
        on: bool,
    },
    /// Save the current state as a scene file.
    Save {},
}

impl Command {
    /// `true` for a command that changes the simulation and can be taken back.
    pub(super) fn can_be_taken_back(&self) -> bool {
        matches!(
            self,
            Self::Grab { .. }
                | Self::Drop { .. }
                | Self::Friction { .. }
                | Self::Restitution { .. }
                | Self::Gamma { .. }
                | Self::StepSize { .. }
                | Self::Scheme { .. }
                | Self::Stabilize { .. }
        )
    }
}

/// Shape of a dropped body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DroppedShape {
    /// Box; a square in the plane.
    Box,
    /// Ball; a disk in the plane.
    Ball,
}

/// Reply to a command that was executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandReply {
    /// No data.
    Done,
    /// Text of a scene file.
    Scene(String),
}

/// Reason why a command was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CommandError(pub String);

impl CommandError {
    pub(crate) fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }
}

impl Command {
    /// Parses a message.
    pub fn read(text: &str) -> Result<Self, CommandError> {
        serde_json::from_str(text).map_err(|error| CommandError(format!("not a command: {error}")))
    }
}
