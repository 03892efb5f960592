//! Settings of the comparison with other engines: schemes and step control by name.

use super::scene::PeerScene;
use serde::Serialize;
use stiction::{Accuracy, Scheme};

/// Settings of a run.
#[derive(Clone, Copy, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum PeerSettings {
    /// Default scheme and fixed steps
    Default,
    /// First order: AH04 with post-stabilization
    #[serde(rename = "first-order")]
    FirstOrder,
    /// Second order with located events; the default scheme with more passes if bodies meet each other
    Accurate,
    /// Step sizes from the error of each step, at most 10⁴ h⁴
    #[serde(rename = "followed")]
    #[value(name = "followed")]
    ToAccuracy,
}

/// Scheme and step control of some settings.
pub(super) struct Preset {
    pub(super) scheme: Scheme,
    pub(super) control: StepControl,
    /// Description for readers of the results.
    pub(super) description: &'static str,
}

/// Step control.
pub(super) enum StepControl {
    /// Fixed steps.
    Fixed,
    /// Steps from an accuracy.
    Accuracy(Accuracy),
}

impl PeerSettings {
    /// Preset for a scene with step `h` [s].
    pub(super) fn preset(self, scene: &PeerScene, h: f64) -> Preset {
        let (scheme, control, description) = match self {
            Self::Default => (
                Scheme::default(),
                StepControl::Fixed,
                "Scheme::default: impulses at their own times, second order, at most 6 passes of post-stabilization",
            ),
            Self::FirstOrder => (
                Scheme::first_order(),
                StepControl::Fixed,
                "Scheme::first_order: AH04, at most 6 passes of post-stabilization",
            ),
            // the events of bodies that meet each other are too many to be located one by one in each step
            Self::Accurate if scene.crowded() => (
                Scheme::default().post_stabilized(50),
                StepControl::Fixed,
                "bodies meet each other: Scheme::default, at most 50 passes of post-stabilization",
            ),
            Self::Accurate => (
                Scheme::accurate(),
                StepControl::Fixed,
                "Scheme::accurate: PAGT06, second order, events located",
            ),
            // spans the errors from those of other engines at 0.01 s down to round-off
            Self::ToAccuracy => (
                Scheme::accurate(),
                StepControl::Accuracy(Accuracy { first_step: h, ..Accuracy::of(1e4 * h.powi(4)) }),
                "Simulation::run_to_accuracy: h is no step, the error of each step is at most 10⁴ h⁴; events located",
            ),
        };
        Preset { scheme, control, description }
    }
}
