//! What the names of settings mean: the one place that says so.

use super::scene::PeerScene;
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
    /// Step sizes from the error of each step, at most 10⁴ h⁴, for bodies that do not meet each other
    #[serde(rename = "followed")]
    #[value(name = "followed")]
    ToAccuracy,
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
    pub(super) fn preset(self, scene: &PeerScene, h: f64) -> Result<Preset, &'static str> {
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
            Self::ToAccuracy if scene.crowded() => Err("n/a: not for bodies that meet each other"),
            // from what other engines reach at 0.01 to what rounding leaves
            Self::ToAccuracy => Ok(Preset {
                scheme: Scheme::accurate(),
                course: Course::Follow(Accuracy { first_step: h, ..Accuracy::of(1e4 * h.powi(4)) }),
                description: "Simulation::run_to_accuracy: h is no step, the error of each step is at most 10⁴ h⁴; events located",
            }),
        }
    }
}
