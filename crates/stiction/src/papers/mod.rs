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
    /// How the paper's number is meant.
    pub sense: Sense,
    /// Why this library's number is another one, where that is known.
    pub remark: &'static str,
}

/// How a published number is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sense {
    /// It was printed as a result.
    #[default]
    Exactly,
    /// It was read off a picture, rounded to a digit or two, or is the order of a fit.
    About,
    /// It is a bound from above, such as "never exceeding 3 mm".
    AtMost,
    /// It is a bound from below.
    AtLeast,
}

/// What a line says of the paper's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It comes out here, too.
    Reproduced,
    /// It comes out nearly.
    Close,
    /// Another number comes out here.
    Differs,
    /// There is none: the line is this library's alone.
    Unpublished,
}

/// The largest relative difference that counts as the same number: papers print three or four digits, and a printed
/// start or constant may be rounded as well.
const SAME: f64 = 5e-3;

/// The largest relative difference that counts as close, and as the same where the number is only about right.
const NEAR: f64 = 0.1;

impl Line {
    /// A number of an experiment, and the paper's, which is meant as it is printed.
    pub fn new(
        paper: &'static str,
        experiment: &'static str,
        case: String,
        quantity: &'static str,
        value: f64,
        published: Option<f64>,
    ) -> Self {
        Self { paper, experiment, case, quantity, value, published, sense: Sense::Exactly, remark: "" }
    }

    /// The paper's number is meant in this sense.
    pub(crate) fn meant(&mut self, sense: Sense) -> &mut Self {
        self.sense = sense;
        self
    }

    /// Why another number comes out here.
    pub(crate) fn because(&mut self, remark: &'static str) -> &mut Self {
        self.remark = remark;
        self
    }

    /// Whether the paper's number comes out here.
    pub fn verdict(&self) -> Verdict {
        let Some(published) = self.published else { return Verdict::Unpublished };
        let difference = (self.value - published).abs();
        let within = |part: f64| difference <= part * published.abs();
        let same = match self.sense {
            Sense::Exactly => within(SAME),
            Sense::About => within(NEAR),
            Sense::AtMost => self.value <= published,
            Sense::AtLeast => self.value >= published,
        };
        match same {
            true => Verdict::Reproduced,
            false if within(NEAR) => Verdict::Close,
            false => Verdict::Differs,
        }
    }
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

impl Reproduction {
    /// Adds a number, to be told more of.
    pub(crate) fn add(&mut self, line: Line) -> &mut Line {
        let at = self.lines.len();
        self.lines.push(line);
        &mut self.lines[at]
    }
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
