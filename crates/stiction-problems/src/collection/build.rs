//! Bodies, rows and contacts of the problems of the collection.

use stiction_lcp::problem::{Body, Contact, FrictionSet, OffsetRow, Row, StepProblem};

/// Gravity [m/s²], time step [s], and the speed one gives in the other [m/s].
const G: f64 = 9.81;
const H: f64 = 0.05;
pub(super) const FALL: f64 = G * H;

pub(super) const HAND: &str = "solved by hand";

/// Step problem of bodies with contacts under gravity.
pub(super) fn step(bodies: Vec<Body>, contacts: Vec<Contact>) -> StepProblem {
    StepProblem { bodies, contacts, speed_scale: FALL, ..StepProblem::default() }
}

/// Body of mass m that only translates in the plane, (x, y), with its velocity before the step.
pub(super) fn block(mass: f64, [x, y]: [f64; 2]) -> Body {
    Body::new(2, &[mass, 0.0, 0.0, mass], &[mass * x, mass * (y - FALL)])
}

/// Body in the plane, (x, y, θ).
pub(super) fn planar(mass: f64, inertia: f64, [x, y, turn]: [f64; 3]) -> Body {
    let m = [mass, 0.0, 0.0, 0.0, mass, 0.0, 0.0, 0.0, inertia];
    Body::new(3, &m, &[mass * x, mass * (y - FALL), inertia * turn])
}

/// Body in space, (x, y, z, rotation), with gravity along −z.
pub(super) fn spatial(mass: f64, inertia: [f64; 3], velocity: [f64; 6]) -> Body {
    let mut m = [0.0; 36];
    let mut momentum = [0.0; 6];
    for k in 0..6 {
        m[7 * k] = if k < 3 { mass } else { inertia[k - 3] };
        momentum[k] = m[7 * k] * velocity[k];
    }
    momentum[2] -= mass * FALL;
    Body::new(6, &m, &momentum)
}

/// Planar row of a direction d at the point r of a body.
pub(super) fn planar_row([dx, dy]: [f64; 2], [rx, ry]: [f64; 2]) -> [f64; 3] {
    [dx, dy, rx * dy - ry * dx]
}

/// Spatial row of a direction d at the point r of a body whose axes are those of the world.
pub(super) fn spatial_row(d: [f64; 3], r: [f64; 3]) -> [f64; 6] {
    let [a, b, c] = d;
    let [x, y, z] = r;
    [a, b, c, y * c - z * b, z * a - x * c, x * b - y * a]
}

pub(super) fn at_rest(row: Row) -> OffsetRow {
    OffsetRow { row, offset: 0.0 }
}

/// Contact from its rows, with Δ = 0 and τ = 0.
pub(super) fn touching(
    normal: Row,
    tangents: impl IntoIterator<Item = Row>,
    set: FrictionSet,
    mu: f64,
) -> Contact {
    let tangents = tangents.into_iter().map(at_rest).collect();
    Contact { normal: Some(at_rest(normal)), tangents, set, mu, kappa: 0.0, bound_by: None }
}

/// Friction polygon with four directions: +x, +y, −x, −y.
pub(super) fn square() -> FrictionSet {
    FrictionSet::polygon([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
}

/// Normal impulses of the rear and front corners of a box with n corners that slides without tipping.
pub(super) fn slide(mass: f64, mu: f64, height: f64, half: f64, corners: f64) -> [f64; 2] {
    [1.0 - mu * height / half, 1.0 + mu * height / half].map(|share| share * mass * FALL / corners)
}
