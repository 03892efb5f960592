//! Observed orders on smooth problems, and the spectral radius of a step. PAGT06 §2, §3 and §10.3

use super::PAPER;
use super::extrapolation::integrate;
use super::record::{Pagt06Run, case};
use super::scheme;
use super::smooth::{Smooth, radius};
use crate::measurement::CaseLines;
use crate::{ExperimentError, PublishedSense, Reproduction};
use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{Body, Force, Model, World};
use stiction::{Linearization, Scheme, Trapezoidal};

/// Parameters ω and ζ of the problem of Prothero and Robinson, from soft to very stiff.
pub const PROTHERO: [[f64; 2]; 4] = [[1.0, 0.1], [1e2, 0.5], [1e4, 0.5], [1e6, 1.0]];

/// Values of hω for the spectral radius.
pub const TURNS: [f64; 6] = [1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3];

/// Values of ζ for the spectral radius.
pub const SPRING_DAMPINGS: [f64; 5] = [0.0, 0.01, 0.5, 1.0, 10.0];

/// Stiffness of the elastic pendulum [N/m].
pub const STIFFNESS: f64 = 1e2;

/// Errors of positions and velocities with h = 2⁻ᵏ s.
pub fn errors(
    problem: Smooth,
    powers: impl IntoIterator<Item = i32>,
) -> Result<Vec<[f64; 2]>, ExperimentError> {
    let error = |k| Ok(problem.errors(&problem.run(Scheme::pagt06(), 0.5_f64.powi(k))?));
    powers.into_iter().map(error).collect()
}

/// Observed order from the last two errors, each with half the step of the previous one.
pub fn last_order(errors: &[f64]) -> f64 {
    match errors {
        [.., coarse, fine] => (coarse / fine).log2(),
        _ => f64::NAN,
    }
}

fn elastic_model() -> Result<Model, ExperimentError> {
    let mut world = World::new(Vector2::new(0.0, -ELASTIC_GRAVITY));
    let hook = world.add_body(Body::fixed("hook"));
    let bob = world.add_body(Body::point("bob", 1.0).at(Isometry2::translation(1.0, 0.0)));
    world.add_force(Force::Spring {
        a: hook,
        point_a: Point2::origin(),
        b: bob,
        point_b: Point2::origin(),
        stiffness: STIFFNESS,
        damping: 0.0,
        rest_length: 1.0,
    });
    Ok(world.build()?)
}

/// Gravity of the elastic pendulum [m/s²].
const ELASTIC_GRAVITY: f64 = 9.81;

/// Errors of the position of an elastic pendulum after 1 s with h = 2⁻ᵏ s, with this linearization [m].
pub fn elastic_errors(
    linearization: Linearization,
    powers: impl IntoIterator<Item = i32>,
) -> Result<Vec<f64>, ExperimentError> {
    let field = |_: f64, y: &[f64; 4]| {
        let length = y[0].hypot(y[1]);
        let pull = -STIFFNESS * (length - 1.0) / length;
        [y[2], y[3], pull * y[0], pull * y[1] - ELASTIC_GRAVITY]
    };
    let exact = integrate(&field, 0.0, [1.0, 0.0, 0.0, 0.0], 1.0, 1.0 / 128.0);
    let method = scheme(Trapezoidal { linearization, ..Trapezoidal::default() });
    let error = |k| {
        let model = elastic_model()?;
        let state = model.state();
        Ok(Pagt06Run::new(model, state, method, 0.5_f64.powi(k), 1.0)?.error(&exact[..2]))
    };
    powers.into_iter().map(error).collect()
}

/// Measurements of orders and spectral radii.
pub(super) fn reproduce(out: &mut Reproduction) -> Result<(), ExperimentError> {
    const NAME: &str = "order without contact";
    let prothero = PROTHERO.map(|[frequency, damping]| Smooth::Prothero { frequency, damping });
    for problem in [Smooth::Pendulum, Smooth::DoublePendulum].into_iter().chain(prothero) {
        let errors = errors(problem, 5..=8)?;
        for (k, [position, velocity]) in (5..).zip(&errors) {
            let mut lines = CaseLines {
                out,
                paper: PAPER,
                experiment: NAME,
                case: case(&format!("{}, ", problem.name()), k),
            };
            lines.add("error of positions at the end", *position, None);
            lines.add("error of velocities at the end", *velocity, None);
        }
        let mut lines = CaseLines { out, paper: PAPER, experiment: NAME, case: problem.name() };
        for (j, quantity) in ["order of positions", "order of velocities"].into_iter().enumerate() {
            let column: Vec<f64> = errors.iter().map(|e| e[j]).collect();
            lines.add(quantity, last_order(&column), Some(2.0)).meant(PublishedSense::About);
        }
    }
    for (name, linearization, order) in [
        ("elastic pendulum, exact Jacobian", Linearization::Exact, 2.0),
        ("elastic pendulum, Jacobian of (10.13)", Linearization::Definite, 1.0),
    ] {
        let errors = elastic_errors(linearization, 5..=9)?;
        let mut lines = CaseLines { out, paper: PAPER, experiment: NAME, case: name.into() };
        lines.add("order of positions", last_order(&errors), Some(order)).meant(PublishedSense::About);
    }
    for damping in SPRING_DAMPINGS {
        for turn in TURNS {
            let case = format!("hω = {turn}, ζ = {damping}");
            let mut lines = CaseLines { out, paper: PAPER, experiment: "spectral radius of a step", case };
            lines.add("spectral radius", radius(Scheme::pagt06(), turn, damping)?, None);
        }
    }
    Ok(())
}
