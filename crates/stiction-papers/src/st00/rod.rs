//! ST00 §4.1: spinning rod that falls onto a table.

use crate::ExperimentError;
use nalgebra::{Isometry2, Vector2};
use std::f64::consts::FRAC_PI_6;
use stiction::planar::{Attached, Body, Mass, Model, Twist, World};
use stiction::{FrictionPoint, Material, Scheme, Simulation};
use stiction_geometry::planar::Shape;

/// Length without the ends [m].
pub const LENGTH: f64 = 0.5;
/// Radius of the ends [m].
pub const ROD_RADIUS: f64 = 0.05;
/// Moment of inertia [kg m²].
pub const INERTIA: f64 = 0.002;
/// Coulomb coefficient.
pub const ROD_FRICTION: f64 = 0.6;
/// Initial height of the centre [m]. Not in the paper; this value gives the printed times.
pub const HEIGHT: f64 = 1.0;
/// Initial angular velocity [rad/s].
pub const SPIN: f64 = 4.0;
/// Duration [s].
pub const ROD_DURATION: f64 = 0.8;

/// Numbers of steps of the runs for the figures; the third is that of Figure 2 of the paper.
pub const ROD_STEP_COUNTS: [usize; 4] = [80, 160, 320, 640];

/// Point of an end at which friction acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lever {
    /// On its surface: d = ±[1, 0, r ∓ (l/2) sin θ] at the ± end.
    Surface,
    /// At its centre, as the paper prints it: d = ±[1, 0, ∓(l/2) sin θ].
    Centre,
}

/// Run of the falling rod; the first entries are the start.
#[derive(Debug, Clone)]
pub struct RodRun {
    /// Step size [s].
    pub h: f64,
    /// x, y and θ [m; rad].
    pub positions: Vec<[f64; 3]>,
    /// Derivatives of x, y and θ [m/s; rad/s].
    pub velocities: Vec<[f64; 3]>,
    /// End of the first step with an impulse [s].
    pub contact: Option<f64>,
    /// End of the first step with an impulse at both ends [s].
    pub slap: Option<f64>,
    /// End of the step after which the rod is at rest [s].
    pub rest: Option<f64>,
    /// Largest residual of a step problem.
    pub residual: f64,
    /// Deepest penetration [m].
    pub penetration: f64,
}

/// Model of the rod above its table.
pub(super) fn model(gravity: f64, lever: Lever) -> Result<Model, ExperimentError> {
    // a rod of zero radius above a table that is higher by the radius has the same gaps, with friction at the centres of
    // its ends
    let (radius, table) = match lever {
        Lever::Surface => (ROD_RADIUS, 0.0),
        Lever::Centre => (0.0, ROD_RADIUS),
    };
    let material = Material { friction: ROD_FRICTION, restitution: 0.0, ..Material::default() };
    let mut world = World::new(Vector2::new(0.0, -gravity));
    world.friction_point = FrictionPoint::Surface;
    let half_plane = Attached::new(Shape::HalfPlane).material(material);
    world.add_body(Body::fixed("table").at(Isometry2::translation(0.0, table)).with(half_plane));
    let rod = Body::rigid("rod", Mass::given(1.0, INERTIA))
        .at(Isometry2::new(Vector2::new(0.0, HEIGHT), FRAC_PI_6))
        .moving(Twist::new(Vector2::zeros(), SPIN))
        .with(Attached::new(Shape::Capsule { half_length: 0.5 * LENGTH, radius }).material(material));
    world.add_body(rod);
    Ok(world.build()?)
}

/// Runs the falling rod in this many steps.
pub fn run(gravity: f64, lever: Lever, scheme: Scheme, steps: usize) -> Result<RodRun, ExperimentError> {
    let model = model(gravity, lever)?;
    let mut simulation = Simulation::new(model).with_scheme(scheme);
    let h = ROD_DURATION / steps as f64;
    let three = |x: &[f64]| [x[0], x[1], x[2]];
    let mut run = RodRun {
        h,
        positions: vec![three(&simulation.state().q)],
        velocities: vec![three(&simulation.state().v)],
        contact: None,
        slap: None,
        rest: None,
        residual: 0.0,
        penetration: 0.0,
    };
    for step in 1..=steps {
        let report = simulation.step(h)?;
        let (t, state) = (step as f64 * h, simulation.state());
        run.positions.push(three(&state.q));
        run.velocities.push(three(&state.v));
        run.residual = run.residual.max(report.certificate.worst());
        run.penetration = run.penetration.max(report.infeasibility);
        let loaded = report.contacts.iter().filter(|c| c.normal_impulse > 0.0).count();
        if loaded > 0 {
            run.contact.get_or_insert(t);
        }
        if loaded > 1 {
            run.slap.get_or_insert(t);
        }
        // smaller velocities are round-off of the solve
        if state.v.iter().all(|v| v.abs() < 1e-9) {
            run.rest.get_or_insert(t);
        } else {
            run.rest = None;
        }
    }
    Ok(run)
}

impl RodRun {
    /// Final x, y and θ [m; rad].
    pub fn last(&self) -> [f64; 3] {
        self.positions.last().copied().unwrap_or_default()
    }

    /// Angular velocity after the second step of contact [rad/s]. The impact takes two steps: after the first the tip
    /// touches, after the second it moves along the table. After the first, the velocity depends on where in the step the
    /// impact was, for any h.
    pub fn second_spin(&self) -> Option<f64> {
        let times = (0..).map(|step| f64::from(step) * self.h);
        let mut later = times.zip(&self.velocities).skip_while(|(t, _)| Some(*t) < self.contact);
        self.contact.and_then(|_| later.nth(1)).map(|(_, v)| v[2])
    }

    /// Heights of the + and − ends above the table, and their velocities, after each step [m; m/s].
    pub fn ends(&self) -> impl Iterator<Item = [[f64; 2]; 2]> {
        self.positions.iter().zip(&self.velocities).map(|(q, v)| {
            let (sin, cos) = q[2].sin_cos();
            let end = |side: f64| {
                let arm = side * 0.5 * LENGTH;
                [q[1] + arm * sin - ROD_RADIUS, v[1] + arm * cos * v[2]]
            };
            [end(1.0), end(-1.0)]
        })
    }
}
