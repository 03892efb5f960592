//! Body at an instant: centre of mass, frame, and how its velocities enter a row.

use super::body::Twist;
use super::dimension::Dimension;
use super::formulas::Formulas;

/// How the velocities of a body enter a row, with the number of the moving body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Freedom<D: Dimension> {
    /// No velocities: its prescribed velocity is a drift.
    None,
    /// Linear and angular velocities.
    Rigid(usize),
    /// Linear velocities.
    Point(usize),
    /// Velocity along this unit axis.
    Slider(usize, D::Vector),
}

impl<D: Formulas> Freedom<D> {
    /// Number of coordinates and of velocities.
    pub fn counts(self) -> (usize, usize) {
        match self {
            Self::None => (0, 0),
            Self::Rigid(_) => D::RIGID,
            Self::Point(_) => (D::COUNT, D::COUNT),
            Self::Slider(..) => (1, 1),
        }
    }

    /// `true` for a body with angular velocities.
    pub fn is_rigid(self) -> bool {
        matches!(self, Self::Rigid(_))
    }
}

/// Body at an instant.
#[derive(Debug, Clone, Copy)]
pub struct Placement<D: Formulas> {
    /// Centre of mass in the world [m]; of fixed and kinematic bodies the origin of their frame.
    pub centre: D::Point,
    /// Orientation, in the form that the rows of the dimension need.
    pub frame: D::Frame,
    /// How its velocities enter a row.
    pub freedom: Freedom<D>,
    /// Prescribed velocity of the centre.
    pub prescribed: Twist<D>,
}
