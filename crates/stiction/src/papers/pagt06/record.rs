//! A run, step by step: what the tables and figures of the paper are made of.

use crate::error::StepError;
use crate::id::ShapeId;
use crate::papers::{Axis, Content, Curve, Figure, Line, Reproduction};
use crate::report::{Event, EventKind, StepReport};
use crate::scheme::Scheme;
use crate::simulate::Simulation;
use crate::state::{Memory, State};
use crate::system::{ConstraintId, System};
use nalgebra::Matrix6;

/// A run. Index l of each list is after l steps, index 0 the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Size of the steps [s].
    pub h: f64,
    /// Times [s].
    pub times: Vec<f64>,
    /// Positions.
    pub positions: Vec<Vec<f64>>,
    /// Velocities.
    pub velocities: Vec<Vec<f64>>,
    /// Kinetic and potential energy together [J].
    pub energies: Vec<f64>,
    /// All that was located, in the order of time.
    pub events: Vec<Event>,
    /// Largest residual of a certificate.
    pub residual: f64,
}

impl Run {
    /// Makes steps of this size for this time [s] and records them.
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
        let mut simulation = Simulation::new(system, state, scheme);
        let mut report = StepReport::default();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of steps")]
        let steps = (time / h).round() as usize;
        for _ in 0..steps {
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

    /// Positions at the end.
    pub fn last(&self) -> &[f64] {
        self.positions.last().map_or(&[], |q| q)
    }

    /// Velocities at the end.
    pub fn last_velocity(&self) -> &[f64] {
        self.velocities.last().map_or(&[], |v| v)
    }

    /// ‖q(T) − q*‖₂ [m].
    pub fn error(&self, exact: &[f64]) -> f64 {
        distance(self.last(), exact)
    }

    /// The largest gain of energy in a step [J]; negative when all steps lose some.
    pub fn largest_gain(&self) -> f64 {
        self.energies.windows(2).map(|e| e[1] - e[0]).fold(f64::NEG_INFINITY, f64::max)
    }

    /// When each impact was [s], and the number of the second shape of its contact.
    pub fn impacts(&self) -> Vec<(f64, ShapeId)> {
        let of = |event: &Event| match (event.kind, event.constraint) {
            (EventKind::Impact, ConstraintId::Contact(id)) => Some((event.t, id.pair.b)),
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }

    /// A number of each step over time; `pick` sees positions, velocities and energy.
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

/// The unit mass of so many velocities.
pub(super) fn unit_mass(n: usize) -> Matrix6<f64> {
    Matrix6::from_fn(|i, j| if i == j && i < n { 1.0 } else { 0.0 })
}

/// A start at t = 0.
pub(super) fn start(q: Vec<f64>, v: Vec<f64>) -> State {
    State { t: 0.0, q, v, memory: Memory::default() }
}

/// Each number over the next one: 4 where halving the steps of a method of second order halves them.
pub fn ratios(values: &[f64]) -> Vec<f64> {
    values.windows(2).map(|pair| pair[0] / pair[1]).collect()
}

/// The lines of one run.
pub(super) struct Lines<'a> {
    pub(super) out: &'a mut Reproduction,
    pub(super) experiment: &'static str,
    pub(super) case: String,
}

impl Lines<'_> {
    /// Adds a number, beside the paper's where there is one.
    pub(super) fn add(&mut self, quantity: &'static str, value: f64, published: Option<f64>) -> &mut Line {
        let case = self.case.clone();
        self.out.add(Line::new("PAGT06", self.experiment, case, quantity, value, published))
    }
}

/// What a case with steps of 2⁻ᵏ s is called.
pub(super) fn case(name: &str, k: i32) -> String {
    format!("{name}h = 2^-{k}")
}

/// Adds curves over time.
pub(super) fn curves(out: &mut Reproduction, name: &str, title: &str, label: &str, curves: Vec<Curve>) {
    let content = Content::Curves { axes: [Axis::linear("t [s]"), Axis::linear(label)], curves };
    out.figures.push(Figure { name: name.into(), title: title.into(), content });
}
