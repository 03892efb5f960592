//! Recorded runs: states, energy and events after each step, and the measurements and figures made from them.

use crate::{Axis, Curve, Figure, FigureContent, Reproduction, step_count};
use nalgebra::Matrix6;
use stiction::{
    ConstraintId, Event, EventKind, Memory, Scheme, Simulation, State, StepError, StepReport, System,
};

/// Recorded run. Index l of each list is the state after l steps, index 0 the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Pagt06Run {
    /// Step size [s].
    pub h: f64,
    /// Times [s].
    pub times: Vec<f64>,
    /// Positions.
    pub positions: Vec<Vec<f64>>,
    /// Velocities.
    pub velocities: Vec<Vec<f64>>,
    /// Kinetic plus potential energy [J].
    pub energies: Vec<f64>,
    /// Located events in the order of time.
    pub events: Vec<Event>,
    /// Largest residual of a certificate.
    pub residual: f64,
}

impl Pagt06Run {
    /// Runs with steps `h` for `time` [s].
    pub(super) fn new<S: System>(
        system: S,
        state: State,
        scheme: Scheme,
        h: f64,
        time: f64,
    ) -> Result<Self, StepError> {
        let mut run = Self {
            h,
            times: vec![state.t],
            positions: vec![state.q.clone()],
            velocities: vec![state.v.clone()],
            energies: vec![kinetic(&system, &state) + system.potential(state.t, &state.q)],
            events: Vec::new(),
            residual: 0.0,
        };
        let mut simulation = Simulation::from_state(system, state).with_scheme(scheme);
        let mut report = StepReport::default();
        for _ in 0..step_count(time, h) {
            simulation.step_into(h, &mut report)?;
            let state = simulation.state();
            run.times.push(state.t);
            run.positions.push(state.q.clone());
            run.velocities.push(state.v.clone());
            run.energies.push(report.kinetic + report.potential);
            run.events.extend(&report.events);
            run.residual = run.residual.max(report.certificate.worst());
        }
        Ok(run)
    }

    /// Final positions.
    pub fn last(&self) -> &[f64] {
        self.positions.last().map_or(&[], |q| q)
    }

    /// Final velocities.
    pub fn last_velocity(&self) -> &[f64] {
        self.velocities.last().map_or(&[], |v| v)
    }

    /// ‖q(T) − q*‖₂ [m].
    pub fn error(&self, exact: &[f64]) -> f64 {
        distance(self.last(), exact)
    }

    /// Largest gain of energy in a step [J]; negative if every step loses energy.
    pub fn largest_gain(&self) -> f64 {
        self.energies.windows(2).map(|e| e[1] - e[0]).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Times of the impacts [s], each with the index of the second shape of its contact.
    pub fn impacts(&self) -> Vec<(f64, stiction::ShapeId)> {
        let of = |event: &Event| match (event.kind, event.constraint) {
            (EventKind::Impact, ConstraintId::Contact(id)) => Some((event.t, id.pair.b)),
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }

    /// Curve over time of a number that `pick` computes from positions, velocities and energy.
    pub(super) fn curve(&self, label: impl Into<String>, pick: impl Fn(&[f64], &[f64], f64) -> f64) -> Curve {
        let steps = self.positions.iter().zip(&self.velocities).zip(&self.energies);
        let points = self.times.iter().zip(steps).map(|(&t, ((q, v), &e))| [t, pick(q, v, e)]).collect();
        Curve { label: label.into(), points }
    }
}

/// ½ vᵀM v [J].
fn kinetic<S: System>(system: &S, state: &State) -> f64 {
    let mut start = 0;
    let mut energy = 0.0;
    for (body, &n) in system.bodies().iter().enumerate() {
        let (mass, v) = (system.mass_at(body, state.t, &state.q), &state.v[start..start + n]);
        let entries = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        energy += 0.5 * entries.map(|(i, j)| mass[(i, j)] * v[i] * v[j]).sum::<f64>();
        start += n;
    }
    energy
}

/// ‖a − b‖₂.
pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Unit mass matrix of `n` velocities.
pub(super) fn unit_mass(n: usize) -> Matrix6<f64> {
    Matrix6::from_fn(|i, j| if i == j && i < n { 1.0 } else { 0.0 })
}

/// State at t = 0.
pub(super) fn start(q: Vec<f64>, v: Vec<f64>) -> State {
    State { t: 0.0, q, v, memory: Memory::default() }
}

/// Ratios of successive numbers: 4 for errors of a second-order method with halved steps.
pub fn ratios(values: &[f64]) -> Vec<f64> {
    values.windows(2).map(|pair| pair[0] / pair[1]).collect()
}

/// Name of a case with steps of 2⁻ᵏ s.
pub(super) fn case(name: &str, k: i32) -> String {
    format!("{name}h = 2^-{k}")
}

/// Adds curves over time.
pub(super) fn curves(out: &mut Reproduction, name: &str, title: &str, label: &str, curves: Vec<Curve>) {
    let content = FigureContent::Curves { axes: [Axis::linear("t [s]"), Axis::linear(label)], curves };
    out.figures.push(Figure { name: name.into(), title: title.into(), content });
}
