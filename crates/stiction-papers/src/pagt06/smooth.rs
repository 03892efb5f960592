//! Problems without joints and contacts: order and stability of the formula alone. PAGT06 §2

use super::angles::field;
use super::extrapolation::integrate;
use super::record::{Pagt06Run, start, unit_mass};
use crate::ExperimentError;
use crate::GRAVITY;
use nalgebra::{Matrix2, Matrix6, Vector2};
use stiction::{
    ContactQuery, ContactRow, ForceJacobian, Forces, JacobianKind, JointRow, Scheme, SearchCache, Simulation,
    System,
};

/// Problem with a smooth solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Smooth {
    /// θ'' = −sin θ − θ'³/10 + cos(t)/5.
    Pendulum,
    /// Two rods in angles: the mass matrix depends on the configuration.
    DoublePendulum,
    /// q'' = −ω²(q − cos t) − 2ζω(q' + sin t) − cos t, which q = cos t solves at any stiffness.
    Prothero {
        /// ω [1/s].
        frequency: f64,
        /// ζ.
        damping: f64,
    },
    /// q'' = −ω²q − 2ζω q'.
    Oscillator {
        /// ω [1/s].
        frequency: f64,
        /// ζ.
        damping: f64,
    },
}

impl Smooth {
    /// Name in reports.
    pub fn name(self) -> String {
        match self {
            Self::Pendulum => "pendulum".into(),
            Self::DoublePendulum => "double pendulum in angles".into(),
            Self::Prothero { frequency, damping } => {
                format!("Prothero–Robinson, ω = {frequency:e}, ζ = {damping}")
            }
            Self::Oscillator { frequency, damping } => {
                format!("oscillator, ω = {frequency:e}, ζ = {damping}")
            }
        }
    }

    /// Duration [s].
    pub fn time(self) -> f64 {
        match self {
            Self::Pendulum => 4.0,
            Self::DoublePendulum => 1.0,
            Self::Prothero { .. } | Self::Oscillator { .. } => 2.0,
        }
    }

    /// Initial positions and velocities.
    pub fn start(self) -> [Vec<f64>; 2] {
        match self {
            Self::Pendulum => [vec![1.0], vec![0.5]],
            Self::DoublePendulum => [super::double_pendulum::ANGLES.to_vec(), vec![0.0, 0.0]],
            Self::Prothero { .. } | Self::Oscillator { .. } => [vec![1.0], vec![0.0]],
        }
    }

    /// Final positions and velocities, in closed form or by an independent method.
    pub fn exact(self) -> [Vec<f64>; 2] {
        let (time, step) = (self.time(), 1.0 / 64.0);
        let [q, v] = self.start();
        match self {
            Self::DoublePendulum => {
                let field = |_: f64, y: &[f64; 4]| field(GRAVITY, y);
                let y = integrate(&field, 0.0, [q[0], q[1], v[0], v[1]], time, step);
                [y[..2].to_vec(), y[2..].to_vec()]
            }
            Self::Prothero { .. } => [vec![time.cos()], vec![-time.sin()]],
            Self::Pendulum | Self::Oscillator { .. } => {
                let field = |t: f64, y: &[f64; 2]| [y[1], self.force(t, &y[..1], &y[1..])[0]];
                let y = integrate(&field, 0.0, [q[0], v[0]], time, step);
                [vec![y[0]], vec![y[1]]]
            }
        }
    }

    /// Runs with steps of this size [s].
    pub fn run(self, scheme: Scheme, h: f64) -> Result<Pagt06Run, ExperimentError> {
        let [q, v] = self.start();
        Ok(Pagt06Run::new(self, start(q, v), scheme, h, self.time())?)
    }

    /// Errors of positions and velocities at the end of a run.
    pub fn errors(self, run: &Pagt06Run) -> [f64; 2] {
        let [q, v] = self.exact();
        [run.error(&q), super::record::distance(run.last_velocity(), &v)]
    }

    /// Force k; the second entry is 0 for one coordinate.
    fn force(self, t: f64, q: &[f64], v: &[f64]) -> [f64; 2] {
        match self {
            Self::Pendulum => [-q[0].sin() - 0.1 * v[0].powi(3) + 0.2 * t.cos(), 0.0],
            Self::DoublePendulum => {
                let sin = (q[0] - q[1]).sin();
                let first = -sin * v[1] * v[1] - 2.0 * GRAVITY * q[0].sin();
                [first, sin * v[0] * v[0] - GRAVITY * q[1].sin()]
            }
            Self::Prothero { frequency, damping } => {
                let (sin, cos) = t.sin_cos();
                let pull = frequency * frequency * (q[0] - cos);
                [-pull - 2.0 * damping * frequency * (v[0] + sin) - cos, 0.0]
            }
            Self::Oscillator { frequency, damping } => {
                [-frequency * frequency * q[0] - 2.0 * damping * frequency * v[0], 0.0]
            }
        }
    }

    /// Derivatives k_q and k_v.
    fn derivatives(self, q: &[f64], v: &[f64]) -> [Matrix2<f64>; 2] {
        let single = |position: f64, velocity: f64| {
            [Matrix2::new(position, 0.0, 0.0, 0.0), Matrix2::new(velocity, 0.0, 0.0, 0.0)]
        };
        match self {
            Self::Pendulum => single(-q[0].cos(), -0.3 * v[0] * v[0]),
            Self::DoublePendulum => {
                let (sin, cos) = (q[0] - q[1]).sin_cos();
                let [first, second] = [cos * v[1] * v[1], cos * v[0] * v[0]];
                let weights = [2.0 * GRAVITY * q[0].cos(), GRAVITY * q[1].cos()];
                let position = Matrix2::new(-first - weights[0], first, second, -second - weights[1]);
                [position, Matrix2::new(0.0, -2.0 * sin * v[1], 2.0 * sin * v[0], 0.0)]
            }
            Self::Prothero { frequency, damping } | Self::Oscillator { frequency, damping } => {
                single(-frequency * frequency, -2.0 * damping * frequency)
            }
        }
    }
}

impl System for Smooth {
    fn bodies(&self) -> &[usize] {
        if *self == Self::DoublePendulum { &[2] } else { &[1] }
    }

    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        q.iter_mut().zip(v).for_each(|(q, v)| *q += h * v);
    }

    fn mass(&self, body: usize) -> Matrix6<f64> {
        unit_mass(self.bodies()[body])
    }

    fn mass_at(&self, body: usize, _: f64, q: &[f64]) -> Matrix6<f64> {
        let mut mass = self.mass(body);
        if *self == Self::DoublePendulum {
            let coupling = (q[0] - q[1]).cos();
            mass[(0, 0)] = 2.0;
            mass[(0, 1)] = coupling;
            mass[(1, 0)] = coupling;
        }
        mass
    }

    fn forces(&self, t: f64, q: &[f64], v: &[f64], out: &mut Forces) {
        out.springs.clear();
        out.k.clear();
        out.k.extend(&self.force(t, q, v)[..v.len()]);
    }

    fn gyroscopic(&self, _: usize, _: &[f64]) -> Option<Matrix6<f64>> {
        None
    }

    fn jacobian(&self, _: f64, q: &[f64], v: &[f64], out: &mut ForceJacobian) {
        out.clear(1);
        let [position, velocity] = self.derivatives(q, v);
        let block =
            |small: Matrix2<f64>| Matrix6::from_fn(|i, j| if i.max(j) < 2 { small[(i, j)] } else { 0.0 });
        out.position.add(0, 0, &block(position));
        out.velocity.add(0, 0, &block(velocity));
    }

    fn jacobian_kind(&self) -> JacobianKind {
        JacobianKind::Exact
    }

    fn joints(&self, _: f64, _: &[f64], out: &mut Vec<JointRow>) {
        out.clear();
    }

    fn contacts(&self, _: f64, _: &[f64], _: &ContactQuery, _: &mut SearchCache, out: &mut Vec<ContactRow>) {
        out.clear();
    }

    fn surface_speed(&self, _: f64, _: &[f64], v: &[f64]) -> f64 {
        v.iter().fold(0.0, |most: f64, v| most.max(v.abs()))
    }

    fn size(&self) -> f64 {
        1.0
    }

    fn gravity(&self) -> f64 {
        GRAVITY
    }

    fn potential(&self, _: f64, q: &[f64]) -> f64 {
        match self {
            Self::Pendulum => -q[0].cos(),
            Self::DoublePendulum => -GRAVITY * (2.0 * q[0].cos() + q[1].cos()),
            Self::Prothero { frequency, .. } | Self::Oscillator { frequency, .. } => {
                0.5 * (frequency * q[0]).powi(2)
            }
        }
    }

    fn momentum(&self, _: &[f64], _: &[f64]) -> ([f64; 3], [f64; 3]) {
        // there are no bodies in the plane
        ([0.0; 3], [0.0; 3])
    }
}

/// Spectral radius of a step of an oscillator as a map of (q, v/ω), for hω and ζ.
pub fn radius(scheme: Scheme, turn: f64, damping: f64) -> Result<f64, ExperimentError> {
    let system = Smooth::Oscillator { frequency: turn, damping };
    let mut columns = [Vector2::zeros(); 2];
    for (column, unit) in columns.iter_mut().zip([[1.0, 0.0], [0.0, turn]]) {
        let mut simulation =
            Simulation::from_state(system, start(vec![unit[0]], vec![unit[1]])).with_scheme(scheme);
        simulation.step(1.0)?;
        let state = simulation.state();
        *column = Vector2::new(state.q[0], state.v[0] / turn);
    }
    Ok(largest_eigenvalue(Matrix2::from_columns(&columns)))
}

/// Largest absolute value of an eigenvalue.
pub fn largest_eigenvalue(map: Matrix2<f64>) -> f64 {
    let (half, determinant) = (0.5 * map.trace(), map.determinant());
    let discriminant = half * half - determinant;
    // for a conjugate pair the determinant is the square of the absolute value
    if discriminant < 0.0 { determinant.sqrt() } else { half.abs() + discriminant.sqrt() }
}
