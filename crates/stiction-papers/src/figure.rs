//! Figures of the experiments as data: curves over common axes and outlines of bodies at several times.
//!
//! Nothing here draws; a caller turns a figure into a picture.

/// Figure of an experiment or of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// File name without extension.
    pub name: String,
    /// Title above the figure.
    pub title: String,
    /// Curves or snapshots.
    pub content: FigureContent,
}

/// Content of a figure.
#[derive(Debug, Clone, PartialEq)]
pub enum FigureContent {
    /// Curves over common axes.
    Curves {
        /// Axes x and y.
        axes: [Axis; 2],
        /// Curves, drawn in this order.
        curves: Vec<Curve>,
    },
    /// Outlines of bodies at several times.
    Snapshots(Vec<Snapshot>),
}

/// Axis of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Quantity and its unit.
    pub label: String,
    /// Whether the axis is logarithmic.
    pub logarithmic: bool,
}

/// Curve of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub label: String,
    /// Points (x, y).
    pub points: Vec<[f64; 2]>,
}

/// Outlines of bodies at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Time [s].
    pub t: f64,
    /// Closed outlines, and open ones such as the ground [m].
    pub outlines: Vec<Outline>,
    /// Numbers of the colours of the first outlines, so that all shapes of a body have one; further outlines have the
    /// colours of their places.
    pub colours: Vec<usize>,
}

/// Outline of a body in a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// Whether the last point joins the first.
    pub closed: bool,
    /// Points [m].
    pub points: Vec<[f64; 2]>,
}

impl Axis {
    /// Linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), logarithmic: false }
    }

    /// Logarithmic axis.
    pub fn logarithmic(label: impl Into<String>) -> Self {
        Self { label: label.into(), logarithmic: true }
    }
}
