//! Recorded runs: states, infeasibility and speed after each step, and the measurements and figures made from them.

use crate::{Axis, Curve, Figure, FigureContent, Measurement, Reproduction, step_count};
use stiction::{ContactQuery, ContactRow, Scheme, Simulation, State, StepError, StepReport, System};

/// Least value drawn on a logarithmic axis, in place of 0 [m].
const MIN_DRAWN: f64 = 1e-16;

/// Recorded run. Index l of each list is the state after l steps, index 0 the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Ah04Run {
    /// Step size [s].
    pub h: f64,
    /// States.
    pub states: Vec<State>,
    /// I(q) [m]. AH04 (4.45)
    pub infeasibility: Vec<f64>,
    /// I(q) before post-stabilization [m]; equal to `infeasibility` without it.
    pub before: Vec<f64>,
    /// Largest speed of the centre of mass of a body [m/s].
    pub speed: Vec<f64>,
    /// Largest residual of a certificate.
    pub residual: f64,
    /// Unknowns of the largest complementarity problem.
    pub size: usize,
    /// Largest number of complementarity problems in a step.
    pub problems: usize,
    /// Number of times that a missed contact was added.
    pub additions: usize,
}

impl Ah04Run {
    /// Runs with steps `h` for `time` [s]; `watch` is called after every step.
    pub(super) fn watched<S: System>(
        system: S,
        state: State,
        scheme: Scheme,
        h: f64,
        time: f64,
        mut watch: impl FnMut(&Simulation<S>, &StepReport),
    ) -> Result<Self, StepError> {
        let mut simulation = Simulation::from_state(system, state).with_scheme(scheme);
        let start = simulation.observe()?.infeasibility;
        let mut run = Self {
            h,
            states: vec![simulation.state().clone()],
            infeasibility: vec![start],
            before: vec![start],
            speed: vec![fastest(simulation.system(), &simulation.state().v)],
            residual: 0.0,
            size: 0,
            problems: 0,
            additions: 0,
        };
        for _ in 0..step_count(time, h) {
            let report = simulation.step(h)?;
            watch(&simulation, &report);
            run.states.push(simulation.state().clone());
            run.infeasibility.push(report.infeasibility);
            run.before.push(report.stabilization.as_ref().map_or(report.infeasibility, |p| p.before));
            run.speed.push(fastest(simulation.system(), &simulation.state().v));
            run.residual = run.residual.max(report.certificate.worst());
            run.size = run.size.max(report.work.size);
            run.problems = run.problems.max(report.work.problems);
            run.additions += report.work.additions;
        }
        Ok(run)
    }

    /// Part of a list after time `t` [s]; after 0 without the start.
    pub fn after<'a>(&self, values: &'a [f64], t: f64) -> &'a [f64] {
        // times are sums of steps: compare with half a step of tolerance
        let first = self.states.iter().take_while(|s| s.t < t + 0.5 * self.h).count();
        &values[first..]
    }

    /// Largest I(q) after this time [m].
    pub fn largest_after(&self, t: f64) -> f64 {
        largest(self.after(&self.infeasibility, t))
    }

    /// Mean I(q) after this time [m].
    pub fn mean_after(&self, t: f64) -> f64 {
        let values = self.after(&self.infeasibility, t);
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// I(q) at the end [m].
    pub fn last(&self) -> f64 {
        self.infeasibility.last().copied().unwrap_or(0.0)
    }

    /// I(q) over time without the start, where it is 0 in most runs.
    pub(super) fn infeasibility_curve(&self, label: impl Into<String>) -> Curve {
        let mut curve = self.curve(label, &self.infeasibility);
        curve.points.remove(0);
        curve
    }

    /// Speed over time.
    pub(super) fn speed_curve(&self, label: impl Into<String>) -> Curve {
        self.curve(label, &self.speed)
    }

    fn curve(&self, label: impl Into<String>, values: &[f64]) -> Curve {
        let points = self.states.iter().zip(values).map(|(state, &y)| [state.t, y]).collect();
        Curve { label: label.into(), points }
    }
}

/// Largest of some numbers that are not negative; 0 for none.
pub(super) fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Rows, at the end of a step, of the contacts that carried an impulse in it.
pub(super) fn carrying<S: System>(simulation: &Simulation<S>, report: &StepReport) -> Vec<ContactRow> {
    let state = simulation.state();
    let loaded = || report.contacts.iter().filter(|c| c.normal_impulse > 0.0);
    let pairs: Vec<_> = loaded().map(|c| c.id.pair).collect();
    let mut rows = Vec::new();
    let near = ContactQuery { wanted: &pairs, ..ContactQuery::within(f64::NEG_INFINITY) };
    let mut cache = state.memory.cache.clone();
    simulation.system().contacts(state.t, &state.q, &near, &mut cache, &mut rows);
    rows.retain(|row| loaded().any(|c| c.id == row.id));
    rows
}

/// Largest speed of the centre of mass of a planar body [m/s].
fn fastest<S: System>(system: &S, v: &[f64]) -> f64 {
    let mut start = 0;
    let mut fastest: f64 = 0.0;
    for &n in system.bodies() {
        fastest = fastest.max(v[start].hypot(v[start + 1]));
        start += n;
    }
    fastest
}

/// Adds values of one case that the paper does not give.
pub(super) fn measured(
    out: &mut Reproduction,
    experiment: &'static str,
    case: &str,
    values: impl IntoIterator<Item = (&'static str, f64)>,
) {
    for (quantity, value) in values {
        line(out, experiment, case, quantity, value, None);
    }
}

/// Adds a value beside the published one, if there is one.
pub(super) fn line<'a>(
    out: &'a mut Reproduction,
    experiment: &'static str,
    case: &str,
    quantity: &'static str,
    value: f64,
    published: Option<f64>,
) -> &'a mut Measurement {
    out.add(Measurement::new("AH04", experiment, case.to_string(), quantity, value, published))
}

/// Adds curves over common axes; on a logarithmic axis 0 is drawn as [`MIN_DRAWN`].
pub(super) fn curves(
    out: &mut Reproduction,
    name: &str,
    title: &str,
    axes: [Axis; 2],
    mut curves: Vec<Curve>,
) {
    if axes[1].logarithmic {
        curves.iter_mut().flat_map(|c| &mut c.points).for_each(|p| p[1] = p[1].max(MIN_DRAWN));
    }
    let content = FigureContent::Curves { axes, curves };
    out.figures.push(Figure { name: name.into(), title: title.into(), content });
}

/// Adds the infeasibility and the speed of runs over time, each run under its case; `name` begins the names of the files,
/// `titles` are those of the two figures.
pub(super) fn run_curves(out: &mut Reproduction, name: &str, titles: [&str; 2], runs: &[(&str, Ah04Run)]) {
    let all = runs.iter().map(|(case, run)| run.infeasibility_curve(*case)).collect();
    curves(out, &format!("{name}-infeasibility"), titles[0], infeasibility_axes(), all);
    let all = runs.iter().map(|(case, run)| run.speed_curve(*case)).collect();
    curves(out, &format!("{name}-speed"), titles[1], speed_axes(), all);
}

/// Axes of I(q) over time.
pub(super) fn infeasibility_axes() -> [Axis; 2] {
    [Axis::linear("t [s]"), Axis::logarithmic("I(q) [m]")]
}

/// Axes of speed over time.
pub(super) fn speed_axes() -> [Axis; 2] {
    [Axis::linear("t [s]"), Axis::linear("largest speed of a centre of mass [m/s]")]
}
