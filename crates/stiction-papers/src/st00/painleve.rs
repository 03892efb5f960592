//! ST00 §4.1: acceleration problems without solution when the rod hits the table.
//!
//! After the impact, friction on a tip that slides right presses it into the table: the acceleration problem of this slip
//! has no solution. The impact leaves the tip sticking, and with stick allowed the problem has a solution. A step with
//! impulses has one in both cases.

use super::rod::{HEIGHT, INERTIA, LENGTH, Lever, ROD_FRICTION, ROD_RADIUS, SPIN, model};
use crate::ExperimentError;
use std::f64::consts::FRAC_PI_6;
use stiction::{ContactQuery, Memory, Scheme, SearchCache, Simulation, State, StepError, StepReport, System};
use stiction_lcp::{Body, Contact, FrictionSet, Lcp, OffsetRow, Row, Solver, StepProblem, solve};

/// Rod at the impact with the table.
#[derive(Debug, Clone)]
pub struct Impact {
    /// Time [s].
    pub t: f64,
    /// x, y and θ [m; rad].
    pub position: [f64; 3],
    /// Velocity after the plastic impact [m/s; rad/s].
    pub velocity: [f64; 3],
    /// Normal impulse [N s].
    pub normal_impulse: f64,
    /// Friction impulse towards +x [N s].
    pub friction_impulse: f64,
    /// Coefficient A of the acceleration problem w = A c + b of a tip that slides right, n·M⁻¹(n − μ d) [1/kg].
    pub gain: f64,
    /// Coefficient b of this problem: normal acceleration of the tip without contact [m/s²].
    pub offset: f64,
    /// Status of this problem: `solved`, or the status of the error.
    pub sliding: &'static str,
    /// Normal force of the acceleration problem of a tip that may stick [N].
    pub sticking_force: f64,
}

/// Time at which the lower end touches, from the exact free fall [s].
fn touch(gravity: f64) -> f64 {
    let gap =
        |t: f64| HEIGHT - 0.5 * gravity * t * t - 0.5 * LENGTH * (FRAC_PI_6 + SPIN * t).sin() - ROD_RADIUS;
    // the centre itself would touch at the end of this bracket
    let (mut above, mut below) = (0.0, (2.0 * HEIGHT / gravity).sqrt());
    for _ in 0..60 {
        let t = 0.5 * (above + below);
        if gap(t) > 0.0 { above = t } else { below = t }
    }
    above
}

/// Impact with this gravity, and the acceleration problems right after it.
pub fn impact(gravity: f64, lever: Lever) -> Result<Impact, ExperimentError> {
    // a step without gravity at the time of contact is the plastic impact
    let t = touch(gravity);
    let position = [0.0, HEIGHT - 0.5 * gravity * t * t, FRAC_PI_6 + SPIN * t];
    let before = state(position, [0.0, -gravity * t, SPIN]);
    let mut simulation = Simulation::from_state(model(0.0, lever)?, before).with_scheme(Scheme::ap97());
    let report = simulation.step(1e-3)?;
    let v = &simulation.state().v;
    let velocity = [v[0], v[1], v[2]];
    let normal_impulse = report.contacts.iter().map(|c| c.normal_impulse).sum();
    let friction_impulse = report.contacts.iter().map(|c| c.friction_impulse[0]).sum();

    // rows of the tip, and their centripetal accelerations
    let mut rows = Vec::new();
    simulation.system().contacts(
        t,
        &position,
        &ContactQuery::within(1e-9),
        &mut SearchCache::default(),
        &mut rows,
    );
    let (normal, tangent) =
        (entries(rows.first().map(|r| &r.normal)), entries(rows.first().map(|r| &r.tangents[0].row)));
    let (sin, cos) = position[2].sin_cos();
    let spin = velocity[2];
    let curving = [0.5 * LENGTH * sin * spin * spin, 0.5 * LENGTH * cos * spin * spin];
    let masses = [1.0, 1.0, INERTIA];
    let gain = (0..3).map(|i| normal[i] * (normal[i] - ROD_FRICTION * tangent[i]) / masses[i]).sum();
    let offset = -gravity * normal[1] + curving[0];
    let sliding = match solve(&Lcp::from_rows(&[&[gain]], &[offset]), &Solver::default(), None) {
        Ok(_) => "solved",
        Err(error) => error.status(),
    };
    let sticking_force = sticking(gravity, normal, tangent, curving, t)?;
    Ok(Impact {
        t,
        position,
        velocity,
        normal_impulse,
        friction_impulse,
        gain,
        offset,
        sliding,
        sticking_force,
    })
}

/// Step right after the impact, with the tip set to slide right at this speed [m/s].
pub fn step_sliding(gravity: f64, impact: &Impact, slip: f64, h: f64) -> Result<StepReport, ExperimentError> {
    let [x, y, spin] = impact.velocity;
    let state = state(impact.position, [x + slip, y, spin]);
    Ok(Simulation::from_state(model(gravity, Lever::Surface)?, state).with_scheme(Scheme::st00()).step(h)?)
}

fn state(q: [f64; 3], v: [f64; 3]) -> State {
    State { t: 0.0, q: q.to_vec(), v: v.to_vec(), memory: Memory::default() }
}

/// Coefficients of a row of the rod.
fn entries(row: Option<&Row>) -> [f64; 3] {
    let unit = |i: usize| std::array::from_fn::<f64, 3, _>(|j| f64::from(u8::from(i == j)));
    std::array::from_fn(|i| row.map_or(0.0, |row| row.dot(&[0, 3], &unit(i))))
}

/// Normal force on the tip at rest: a step problem with accelerations in place of velocities.
fn sticking(
    gravity: f64,
    normal: [f64; 3],
    tangent: [f64; 3],
    curving: [f64; 2],
    t: f64,
) -> Result<f64, ExperimentError> {
    let mass = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, INERTIA];
    let row = |j: [f64; 3], offset: f64| OffsetRow { row: Row::one(0, &j), offset };
    let problem = StepProblem {
        bodies: vec![Body::new(3, &mass, &[0.0, -gravity, 0.0])],
        contacts: vec![Contact {
            normal: Some(row(normal, curving[0])),
            tangents: [row(tangent, curving[1])].into_iter().collect(),
            set: FrictionSet::line(),
            mu: ROD_FRICTION,
            kappa: 0.0,
            bound_by: None,
        }],
        speed_scale: gravity,
        ..StepProblem::default()
    };
    match solve(&problem, &Solver::default(), None) {
        Ok(solution) => Ok(solution.z()[0]),
        Err(error) => Err(StepError::unsolved(t, error, &problem).into()),
    }
}
