//! What the names of settings mean: the one place that says so.

use super::scene::Scene;
use serde::Serialize;
use stiction::{Accuracy, Scheme};

/// The settings that a run is asked for.
#[derive(Clone, Copy, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Settings {
    /// Nothing is chosen
    Default,
    /// Second order with located events; bodies that meet each other as by default, mended further
    Accurate,
    /// Steps as large as an error of h³ in each allows, for bodies that do not meet each other
    Followed,
}

/// Settings spelled out.
pub(super) struct Preset {
    pub(super) scheme: Scheme,
    pub(super) course: Course,
    /// What they are, for readers of results.
    pub(super) description: &'static str,
}

/// How time goes on.
pub(super) enum Course {
    /// By steps of the size asked for.
    Steps,
    /// By steps as large as an accuracy allows.
    Follow(Accuracy),
}

impl Settings {
    /// What they mean for a scene at a step of `h` [s], or why there is no such thing.
    pub(super) fn preset(self, scene: &Scene, h: f64) -> Result<Preset, &'static str> {
        match self {
            Self::Default => Ok(Preset {
                scheme: Scheme::default(),
                course: Course::Steps,
                description: "Scheme::default: AH04, at most 6 passes of post-stabilization",
            }),
            // the events of bodies that meet each other are too many to be located one by one
            Self::Accurate if scene.crowded() => Ok(Preset {
                scheme: Scheme::default().post_stabilized(50),
                course: Course::Steps,
                description: "bodies meet each other: AH04, at most 50 passes of post-stabilization",
            }),
            Self::Accurate => Ok(Preset {
                scheme: Scheme::accurate(),
                course: Course::Steps,
                description: "Scheme::accurate: PAGT06, second order, events located",
            }),
            Self::Followed if scene.crowded() => Err("n/a: not for bodies that meet each other"),
            // from what other engines reach at 0.01 to what rounding leaves
            Self::Followed => Ok(Preset {
                scheme: Scheme::accurate(),
                course: Course::Follow(Accuracy { first_step: h, ..Accuracy::of(1e4 * h.powi(4)) }),
                description: "Simulation::follow: h is no step, the error of each step is at most 10⁴ h⁴; events located",
            }),
        }
    }
}
