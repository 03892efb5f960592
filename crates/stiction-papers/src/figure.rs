//! Figures of the experiments as data: curves over common axes and outlines of bodies at several times.
//!
//! Nothing here draws; a caller turns a figure into a picture.

/// A picture of an experiment, to be drawn by whoever can draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// A file name without its ending.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What is in it.
    pub content: FigureContent,
}

/// What is in a figure.
#[derive(Debug, Clone, PartialEq)]
pub enum FigureContent {
    /// Curves over common axes.
    Curves {
        /// The axes.
        axes: [Axis; 2],
        /// The curves.
        curves: Vec<Curve>,
    },
    /// Outlines of bodies at several times.
    Snapshots(Vec<Snapshot>),
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
pub struct Snapshot {
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
