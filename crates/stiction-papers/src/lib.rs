//! Experiments of the papers behind Stiction: their scenes, the runs, and each published number beside the computed one.
//!
//! One module per paper, named by its key. Each offers `reproduce`, which returns a [`Reproduction`]: measured values
//! and figures as data. Nothing here draws or prints.

pub mod ah04;
pub mod cp03;
mod figure;
pub mod ha10;
mod measurement;
pub mod pagt06;
mod random;
pub mod st00;

pub use figure::{Axis, Curve, Figure, FigureContent, Outline, Snapshot};
pub use measurement::{Agreement, Measurement, PublishedSense};

use stiction::{Mistake, Mistakes, StepError};

/// Acceleration of gravity where a paper prints 9.81 or no value [m/s²].
pub const GRAVITY: f64 = 9.81;

/// Points (x, y) of a measured curve.
pub type Series = Vec<[f64; 2]>;

/// Results of a paper: measurements and figures.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reproduction {
    /// Measured values, in the order of the experiments.
    pub lines: Vec<Measurement>,
    /// Figures.
    pub figures: Vec<Figure>,
}

impl Reproduction {
    /// Adds a measurement and returns it, so that its sense and remark can be set.
    pub(crate) fn add(&mut self, line: Measurement) -> &mut Measurement {
        let at = self.lines.len();
        self.lines.push(line);
        &mut self.lines[at]
    }
}

/// Error of an experiment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExperimentError {
    /// Invalid scene.
    #[error(transparent)]
    Scene(#[from] Mistakes),
    /// Failed step.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Slope of log y against log x by least squares: the exponent of a power law.
pub fn slope(points: &[[f64; 2]]) -> f64 {
    let logs: Vec<[f64; 2]> = points.iter().map(|p| [p[0].ln(), p[1].ln()]).collect();
    let n = logs.len() as f64;
    let mean = |k: usize| logs.iter().map(|p| p[k]).sum::<f64>() / n;
    let (x, y) = (mean(0), mean(1));
    let covariance: f64 = logs.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    covariance / logs.iter().map(|p| (p[0] - x).powi(2)).sum::<f64>()
}

/// Number of steps of size `h` [s] in `time` [s].
fn step_count(time: f64, h: f64) -> usize {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of steps")]
    let steps = (time / h).round() as usize;
    steps
}

/// Error of a scene whose shape is invalid, under the name of its body.
fn invalid_shape(name: &str, error: &impl ToString) -> Mistakes {
    Mistakes(vec![Mistake { place: name.to_string(), what: error.to_string() }])
}
