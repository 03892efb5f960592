//! ST00 §4.2: ball thrown at three others in a line on a table.

use crate::ExperimentError;
use nalgebra::{Isometry3, Vector3};
use std::ops::Range;
use stiction::spatial::{Attached, Body, BodyId, Facets, Mass, Model, Shape, Twist, World};
use stiction::{ContactReport, FrictionPoint, Material, Scheme, Simulation, State};

/// Radius of the balls [m].
pub const BALL_RADIUS: f64 = 0.1;

/// Duration [s].
pub const BALLS_DURATION: f64 = 1.0;

/// Numbers of steps of the runs of Table 1; the last run serves as the exact motion.
pub const BALLS_STEP_COUNTS: [usize; 5] = [50, 100, 200, 400, 800];

/// Positions or velocities of all balls along the axes of the world: linear, then angular, ball after ball. The
/// angles are integrals of the angular velocity [m, rad; m/s, rad/s].
pub type Motion = [f64; 24];

/// Components of an error norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Components {
    /// All components, as in Table 1.
    All,
    /// Linear components.
    Linear,
    /// Angular components.
    Angular,
}

/// Run of one second; the first entries are the start.
#[derive(Debug, Clone)]
pub struct BallsRun {
    /// Step size [s].
    pub h: f64,
    /// Positions.
    pub positions: Vec<Motion>,
    /// Velocities of the step that ends at each time.
    pub velocities: Vec<Motion>,
    /// End of the first step in which the table pushes the thrown ball [s].
    pub landing: Option<f64>,
    /// First step in which the balls push each other.
    pub collision: Option<Collision>,
    /// Unknowns of the largest dense problem.
    pub size: usize,
    /// Largest residual of a step problem.
    pub residual: f64,
    /// Deepest penetration [m].
    pub penetration: f64,
}

/// Step in which the balls collide.
#[derive(Debug, Clone)]
pub struct Collision {
    /// End of the step [s].
    pub t: f64,
    /// Positions at the end of the step.
    pub positions: Motion,
    /// All contacts of the step.
    pub contacts: Vec<ContactReport>,
}

/// Model of the balls on their table, the thrown one first.
fn model(gravity: f64) -> Result<(Model, [BodyId; 4]), ExperimentError> {
    let material = Material { friction: 0.4, restitution: 0.0, ..Material::default() };
    let mut world = World::new(Vector3::new(0.0, 0.0, -gravity));
    world.facets = Some(Facets { directions: 8, aligned: false });
    world.friction_point = FrictionPoint::Surface;
    world.add_body(Body::fixed("table").with(Attached::new(Shape::HalfSpace).material(material)));
    // the gaps of 10 µm make all balls collide in one step
    let places = [[0.0, 1.0], [1.0, BALL_RADIUS], [1.2 + 1e-5, BALL_RADIUS], [1.4 + 2e-5, BALL_RADIUS]];
    let mut balls = [BodyId(0); 4];
    for (i, [x, z]) in places.into_iter().enumerate() {
        let velocity = if i == 0 { Vector3::new(1.5, 0.1, 0.0) } else { Vector3::zeros() };
        let shape = Attached::new(Shape::Sphere { radius: BALL_RADIUS }).material(material);
        let ball = Body::rigid(format!("ball {i}"), Mass::given(1.0, [4e-3; 3]))
            .at(Isometry3::translation(x, 0.0, z))
            .moving(Twist::new(velocity, Vector3::zeros()))
            .with(shape);
        balls[i] = world.add_body(ball);
    }
    Ok((world.build()?, balls))
}

/// Runs the balls in this many steps.
pub fn run(gravity: f64, scheme: Scheme, steps: usize) -> Result<BallsRun, ExperimentError> {
    let (model, balls) = model(gravity)?;
    let start = model.state();
    let mut simulation = Simulation::from_state(model, start).with_scheme(scheme);
    let h = BALLS_DURATION / steps as f64;
    let start = positions(simulation.system(), balls, simulation.state());
    let mut run = BallsRun {
        h,
        positions: vec![start],
        velocities: vec![velocities(simulation.system(), balls, simulation.state())],
        landing: None,
        collision: None,
        size: 0,
        residual: 0.0,
        penetration: 0.0,
    };
    let mut position = start;
    for step in 1..=steps {
        let report = simulation.step(h)?;
        let t = step as f64 * h;
        let velocity = velocities(simulation.system(), balls, simulation.state());
        position.iter_mut().zip(velocity).for_each(|(x, v)| *x += h * v);
        run.positions.push(position);
        run.velocities.push(velocity);
        run.size = run.size.max(report.work.size);
        run.residual = run.residual.max(report.certificate.worst());
        run.penetration = run.penetration.max(report.infeasibility);

        // events; a contact without the table is one of two balls
        let thrown = balls[0];
        let pushing = || report.contacts.iter().filter(|c| c.normal_impulse > 0.0);
        let on_table = |c: &ContactReport| c.bodies.iter().any(|&b| balls.iter().all(|ball| *ball != b));
        if pushing().any(|c| c.bodies.contains(&thrown) && on_table(c)) {
            run.landing.get_or_insert(t);
        }
        if pushing().any(|c| !on_table(c)) && run.collision.is_none() {
            run.collision = Some(Collision { t, positions: position, contacts: report.contacts });
        }
    }
    Ok(run)
}

/// Centres of the balls, and no angles yet.
fn positions(model: &Model, balls: [BodyId; 4], state: &State) -> Motion {
    let mut out = [0.0; 24];
    for (out, centre) in out.chunks_exact_mut(6).zip(balls.map(|b| model.centre(state, b))) {
        centre.into_iter().for_each(|c| out[..3].copy_from_slice(c.coords.as_slice()));
    }
    out
}

fn velocities(model: &Model, balls: [BodyId; 4], state: &State) -> Motion {
    let mut out = [0.0; 24];
    for (out, twist) in out.chunks_exact_mut(6).zip(balls.map(|b| model.velocity(state, b))) {
        if let Some(Twist { linear, angular }) = twist {
            out[..3].copy_from_slice(linear.as_slice());
            out[3..].copy_from_slice(angular.as_slice());
        }
    }
    out
}

impl Components {
    fn of_ball(self) -> Range<usize> {
        match self {
            Self::All => 0..6,
            Self::Linear => 0..3,
            Self::Angular => 3..6,
        }
    }

    /// ‖a − b‖∞ over these components.
    fn distance(self, a: &Motion, b: &Motion) -> f64 {
        let balls = a.chunks_exact(6).zip(b.chunks_exact(6));
        balls.flat_map(|(a, b)| self.of_ball().map(|i| (a[i] - b[i]).abs())).fold(0.0, f64::max)
    }
}

impl BallsRun {
    /// Positions at the end.
    pub fn last(&self) -> Motion {
        self.positions.last().copied().unwrap_or([0.0; 24])
    }

    /// Largest total variation of a component, max_i Σ|Δv_i|: the velocity variation of Table 1.
    pub fn variation(&self) -> f64 {
        let total = |i: usize| self.velocities.windows(2).map(|v| (v[1][i] - v[0][i]).abs()).sum::<f64>();
        (0..24).map(total).fold(0.0, f64::max)
    }

    /// Total variation in the norm of the errors, Σ‖Δv‖∞; Table 1 does not use it.
    pub fn variation_in_norm(&self) -> f64 {
        self.velocities.windows(2).map(|v| Components::All.distance(&v[1], &v[0])).sum()
    }

    /// ∫‖v_h − v‖∞ dt against a run whose steps divide this one's [m, rad], v_h being v^{l+1} on (t_l, t_{l+1}].
    pub fn velocity_error(&self, exact: &Self, over: Components) -> f64 {
        let ratio = self.ratio(exact);
        let distance = |k: usize| over.distance(&self.velocities[k.div_ceil(ratio)], &exact.velocities[k]);
        exact.h * (1..exact.velocities.len()).map(distance).sum::<f64>()
    }

    /// max‖q_h − q‖∞ against a run whose steps divide this one's [m, rad], at the ends of the longer steps.
    pub fn position_error(&self, exact: &Self, over: Components) -> f64 {
        let fine = exact.positions.iter().step_by(self.ratio(exact));
        self.positions.iter().zip(fine).map(|(a, b)| over.distance(a, b)).fold(0.0, f64::max)
    }

    /// Number of steps of the other run per step of this one.
    fn ratio(&self, exact: &Self) -> usize {
        (exact.velocities.len() - 1) / (self.velocities.len() - 1)
    }
}
