//! Total mass and centre of mass of several parts, in either dimension.
//! Inertia is added by `planar` and `spatial`, whose formulas differ.

use nalgebra::{Point, SVector};

use crate::error::MassError;

/// Total mass [kg] and centre of mass [m] of parts, each given by its mass [kg] and its centre [m].
pub(crate) fn total<const D: usize>(
    parts: impl Iterator<Item = (f64, Point<f64, D>)>,
) -> Result<(f64, Point<f64, D>), MassError> {
    let mut mass = 0.0;
    let mut moment = SVector::zeros();
    for (part, centre) in parts {
        mass += part;
        moment += centre.coords * part;
    }
    if !(mass.is_finite() && mass > 0.0) {
        return Err(MassError::Total { mass });
    }
    Ok((mass, (moment / mass).into()))
}

/// Refuses a density that is not positive and finite.
pub(crate) fn check_density(density: f64) -> Result<(), MassError> {
    if density.is_finite() && density > 0.0 { Ok(()) } else { Err(MassError::Density { density }) }
}
