//! Settings of a live session: step size, scheme and changed materials, and their status for the page.

use serde::Serialize;
use stiction::{Level, Scheme};
use stiction_scene::{scheme_named, scheme_names};

/// Step size, scheme and materials, as the page has set them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StepSettings {
    /// Step size [s].
    pub(super) h: f64,
    /// Name of the scheme.
    pub(super) name: String,
    /// Scheme with stabilization.
    pub(super) scheme: Scheme,
    /// `false` where the page has turned stabilization off.
    pub(super) stabilized: bool,
    /// μ of every surface, if changed.
    pub(super) friction: Option<f64>,
    /// e of every surface, if changed.
    pub(super) restitution: Option<f64>,
}

impl StepSettings {
    /// Settings of a scene.
    pub(super) fn new(h: f64, scheme: Scheme) -> Self {
        let name = scheme_names().find(|name| scheme_named(name).as_ref() == Some(&scheme));
        let name = name.unwrap_or("of the scene").to_string();
        Self { h, name, scheme, stabilized: true, friction: None, restitution: None }
    }

    /// Scheme that makes the steps. Without stabilization, constraints act on velocities only.
    pub(super) fn effective(&self) -> Scheme {
        if self.stabilized {
            self.scheme
        } else {
            Scheme { level: Level::Velocity, passes: 0, ..self.scheme }
        }
    }

    /// γ of the scheme, if it has one and is stabilized.
    pub(super) fn gamma(&self) -> Option<f64> {
        match self.scheme.level {
            Level::Stabilized { gamma, .. } if self.stabilized => Some(gamma),
            _ => None,
        }
    }
}

/// Settings and speed of a session, as the page shows them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionStatus {
    /// `true` while the simulation runs.
    pub playing: bool,
    /// Simulated seconds per second that are asked for.
    pub speed: f64,
    /// Simulated seconds per second that are reached.
    pub rate: f64,
    /// Step size [s].
    pub h: f64,
    /// Name of the scheme.
    pub scheme: String,
    /// Names of all schemes.
    pub schemes: Vec<String>,
    /// `true` where stabilization is on.
    pub stabilized: bool,
    /// γ, where the scheme has one.
    pub gamma: Option<f64>,
    /// μ, where all surfaces have the same.
    pub friction: Option<f64>,
    /// e, where all surfaces have the same.
    pub restitution: Option<f64>,
}
