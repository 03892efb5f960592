//! The experiments of the papers: what they published beside what this library gives.
//!
//! Each paper is a file that builds its scenes, runs them and measures; nothing here is drawn or printed.

pub mod ah04;
pub mod cp03;
pub mod ha10;
pub mod pagt06;
pub mod st00;

use crate::error::{Mistakes, StepError};
use serde::Serialize;

/// One number of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Key of the paper.
    pub paper: &'static str,
    /// Which of its experiments.
    pub experiment: &'static str,
    /// Which run of it, such as `h = 0.01`.
    pub case: String,
    /// What was measured, with its unit.
    pub quantity: &'static str,
    /// What this library gives.
    pub value: f64,
    /// What the paper gives, where it gives a number.
    pub published: Option<f64>,
}

/// A picture of an experiment, to be drawn by whoever can draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// A file name without its ending.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What is in it.
    pub content: Content,
}

/// What is in a figure.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Curves over common axes.
    Curves {
        /// The axes.
        axes: [Axis; 2],
        /// The curves.
        curves: Vec<Curve>,
    },
    /// Outlines of bodies at several times.
    Frames(Vec<Frame>),
}

/// An axis of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// What it measures, with its unit.
    pub label: String,
    /// Whether it is logarithmic.
    pub logarithmic: bool,
}

/// A curve of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What it is.
    pub label: String,
    /// Its points.
    pub points: Vec<[f64; 2]>,
}

/// Bodies at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Time [s].
    pub t: f64,
    /// Closed outlines, and open ones such as the ground [m].
    pub outlines: Vec<Outline>,
}

/// The outline of a body in a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// Whether the last point joins the first.
    pub closed: bool,
    /// Its points [m].
    pub points: Vec<[f64; 2]>,
}

/// All that was measured and drawn of a paper.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reproduction {
    /// The numbers.
    pub lines: Vec<Line>,
    /// The pictures.
    pub figures: Vec<Figure>,
}

/// Why an experiment did not run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExperimentError {
    /// Its scene is wrong.
    #[error(transparent)]
    Scene(#[from] Mistakes),
    /// A step was not made.
    #[error(transparent)]
    Step(#[from] StepError),
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), logarithmic: false }
    }

    /// A logarithmic axis.
    pub fn logarithmic(label: impl Into<String>) -> Self {
        Self { label: label.into(), logarithmic: true }
    }
}

/// The slope of log y against log x, by least squares.
pub fn slope(points: &[[f64; 2]]) -> f64 {
    let logs: Vec<[f64; 2]> = points.iter().map(|p| [p[0].ln(), p[1].ln()]).collect();
    let n = logs.len() as f64;
    let mean = |k: usize| logs.iter().map(|p| p[k]).sum::<f64>() / n;
    let (x, y) = (mean(0), mean(1));
    let covariance: f64 = logs.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    covariance / logs.iter().map(|p| (p[0] - x).powi(2)).sum::<f64>()
}
