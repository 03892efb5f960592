//! Runs of the planar tests, and the checks of their order and events.

use nalgebra::{DMatrix, DVector, Isometry2, Vector2};
use std::ops::RangeInclusive;
use stiction::planar::{Attached, Body, Model, Shape, World};

use stiction::{
    ConstraintId, ContactQuery, Event, EventKind, Level, Material, RowKind, Scheme, SearchCache, Simulation,
    State, System, Trapezoidal,
};

pub(crate) const G: f64 = 9.81;

/// Outcome of a run: its end, events and energy.
pub(crate) struct RunOutcome {
    /// Configuration at the end, projected onto joints and active contacts.
    pub q: Vec<f64>,
    pub events: Vec<Event>,
    /// Modes changed by force.
    pub forced: usize,
    /// Steps finished without location.
    pub cut: usize,
    pub damped: usize,
    /// Energy at the start [J].
    pub start: f64,
    /// Energy after each step [J], and whether the step has an event.
    pub energies: Vec<(f64, bool)>,
    pub states: Vec<State>,
}

impl RunOutcome {
    /// Largest gain of energy in a step without an event, and in one with some [J].
    pub(crate) fn gains(&self) -> [f64; 2] {
        let mut gains = [f64::NEG_INFINITY; 2];
        let mut before = self.start;
        for &(energy, event) in &self.energies {
            let gain = &mut gains[usize::from(event)];
            *gain = gain.max(energy - before);
            before = energy;
        }
        gains
    }

    /// Times of events with their names, such as `S1`: the contact of shape 1 sticks. Events at one time are joined.
    pub(crate) fn sequence(&self) -> Vec<(f64, String)> {
        let mut sequence: Vec<(f64, String)> = Vec::new();
        for event in &self.events {
            let letter = match event.kind {
                EventKind::Impact => 'I',
                EventKind::TakeOff => 'O',
                EventKind::Slip => 'L',
                EventKind::Stick => 'S',
                EventKind::Reversal => 'R',
                EventKind::FirstOrder => 'F',
            };
            let place = match event.constraint {
                ConstraintId::Contact(id) => id.pair.b.0 as usize,
                ConstraintId::Joint(row) => row,
            };
            let summary = format!("{letter}{place}");
            match sequence.last_mut() {
                Some((t, both)) if *t == event.t => {
                    both.push(' ');
                    both.push_str(&summary);
                }
                _ => sequence.push((event.t, summary)),
            }
        }
        sequence
    }
}

pub(crate) fn run<S: System>(
    system: S,
    state: State,
    settings: Trapezoidal,
    h: f64,
    until: f64,
) -> RunOutcome {
    let scheme = Scheme { level: Level::Trapezoidal(settings), ..Scheme::pagt06() };
    let start = system.potential(state.t, &state.q) + kinetic(&system, &state);
    let mut simulation = Simulation::from_state(system, state).with_scheme(scheme);
    let mut outcome = RunOutcome {
        q: Vec::new(),
        events: Vec::new(),
        forced: 0,
        cut: 0,
        damped: 0,
        start,
        energies: Vec::new(),
        states: Vec::new(),
    };
    let steps = simulation.record(until, h, |_, state, report| {
        outcome.events.extend(report.events.iter().copied());
        let summary = report.second_order.expect("a scheme of second order");
        outcome.forced += summary.forced;
        outcome.cut += usize::from(summary.cut);
        assert!(report.certificate.passes(1e-10), "{:?}", report.certificate);
        assert_eq!(summary.refused, 0.0, "the equations of a substep do not hold");
        outcome.damped += usize::from(summary.damped);
        outcome.energies.push((report.kinetic + report.potential, !report.events.is_empty()));
        outcome.states.push(state.clone());
    });
    steps.unwrap_or_else(|e| panic!("{e} after {:?}", outcome.sequence()));
    outcome.q = projected(simulation.system(), simulation.state());
    outcome
}

fn kinetic<S: System>(system: &S, state: &State) -> f64 {
    let mut at = 0;
    let mut sum = 0.0;
    for (body, &n) in system.bodies().iter().enumerate() {
        let mass = system.mass(body);
        for i in 0..n {
            sum += 0.5 * (0..n).map(|j| mass[(i, j)] * state.v[at + i] * state.v[at + j]).sum::<f64>();
        }
        at += n;
    }
    sum
}

/// Runs at h = 2⁻ᵏ for each k.
pub(crate) fn halved(
    model: impl Fn() -> Model,
    settings: Trapezoidal,
    ks: RangeInclusive<i32>,
    until: f64,
) -> Vec<(f64, RunOutcome)> {
    let one = |k: i32| {
        let h = 2f64.powi(-k);
        let model = model();
        let state = model.state();
        (h, run(model, state, settings, h, until))
    };
    ks.map(one).collect()
}

/// Configuration projected onto joints and active contacts by the least displacement, measured by M.
fn projected<S: System>(system: &S, state: &State) -> Vec<f64> {
    let mut q = state.q.clone();
    let mut starts = vec![0];
    for n in system.bodies() {
        starts.push(starts[starts.len() - 1] + n);
    }
    let n = starts[starts.len() - 1];
    let mut inverse = DMatrix::zeros(n, n);
    for (i, &velocities) in system.bodies().iter().enumerate() {
        for k in 0..velocities {
            // the bodies here have diagonal masses
            inverse[(starts[i] + k, starts[i] + k)] = 1.0 / system.mass(i)[(k, k)];
        }
    }
    let active = state.memory.active.clone().unwrap_or_default();
    for _ in 0..4 {
        let (mut joints, mut contacts) = (Vec::new(), Vec::new());
        system.joints(state.t, &q, &mut joints);
        let pairs: Vec<_> = active
            .iter()
            .filter_map(|b| if let ConstraintId::Contact(id) = b.constraint { Some(id.pair) } else { None })
            .collect();
        let near = ContactQuery { wanted: &pairs, ..ContactQuery::within(f64::NEG_INFINITY) };
        system.contacts(state.t, &q, &near, &mut SearchCache::default(), &mut contacts);
        let rigid = joints.iter().filter(|j| matches!(j.kind, RowKind::Rigid(_)));
        let rows = rigid.map(|j| (&j.row, j.error)).chain(contacts.iter().map(|c| (&c.normal, c.gap)));
        let rows: Vec<_> = rows.collect();
        if rows.is_empty() {
            break;
        }
        let mut matrix = DMatrix::zeros(rows.len(), n);
        for (i, (row, _)) in rows.iter().enumerate() {
            row.for_each(&starts, |k, x| matrix[(i, k)] += x);
        }
        let errors = DVector::from_iterator(rows.len(), rows.iter().map(|r| -r.1));
        let force = (&matrix * &inverse * matrix.transpose()).lu().solve(&errors).expect("independent rows");
        let moved = &inverse * matrix.transpose() * force;
        system.advance(&mut q, moved.as_slice(), 1.0);
    }
    q
}

/// Expected results of runs with halved steps.
pub(crate) struct Expected<'a> {
    /// Indices of coordinates, and their exact values at the end.
    pub end: &'a [(usize, f64)],
    /// Times and names of the events.
    pub sequence: &'a [(f64, &'a str)],
    /// Largest error of event times, in units of h² [1/s].
    pub late: f64,
    /// Errors of the first runs, where they are known.
    pub errors: &'a [f64],
    /// Relative tolerance of those.
    pub within: f64,
    /// Range of the ratios of the last two pairs of errors.
    pub ratios: RangeInclusive<f64>,
}

impl<'a> Expected<'a> {
    /// Results of second order, with event times to h² [1/s] and errors to 5 %.
    pub(crate) fn of(end: &'a [(usize, f64)], sequence: &'a [(f64, &'a str)], errors: &'a [f64]) -> Self {
        Self { end, sequence, late: 1.0, errors, within: 0.05, ratios: 3.8..=4.2 }
    }

    pub(crate) fn check(&self, name: &str, runs: &[(f64, RunOutcome)]) {
        let mut errors: Vec<f64> = Vec::new();
        for (h, outcome) in runs {
            let off = self.end.iter().map(|&(i, q)| (outcome.q[i] - q).powi(2)).sum::<f64>().sqrt();
            let sequence = outcome.sequence();
            let summary: Vec<&str> = sequence.iter().map(|s| &s.1[..]).collect();
            let expected: Vec<&str> = self.sequence.iter().map(|s| s.1).collect();
            assert_eq!(summary, expected, "{name} at {h}: {sequence:?}");
            assert_eq!((outcome.forced, outcome.cut), (0, 0), "{name} at {h}: forced and cut");
            let late = sequence.iter().zip(self.sequence).map(|(a, b)| (a.0 - b.0).abs()).fold(0.0, f64::max);
            let ratio = errors.last().map(|e| e / off);
            println!("{name} {h:.6} E {off:.3e} ratio {ratio:.3?} late {:.3} h²", late / (h * h));
            // the references have nine digits
            assert!(late <= self.late * h * h + 1e-9, "{name} at {h}: {late} s off");
            errors.push(off);
        }
        for (error, expected) in errors.iter().zip(self.errors) {
            assert!((error / expected - 1.0).abs() < self.within, "{name}: {error:e} not {expected:e}");
        }
        for pair in errors.windows(2).rev().take(2) {
            let ratio = pair[0] / pair[1];
            assert!(self.ratios.contains(&ratio), "{name}: ratio {ratio}");
        }
    }
}

/// Order shown by two errors, the second at half the step.
pub(crate) fn order(errors: [f64; 2]) -> f64 {
    (errors[0] / errors[1]).log2()
}

/// Euclidean distance of two vectors.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

pub(crate) fn floor(world: &mut World, material: Material) {
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane).material(material)));
}

pub(crate) fn rough(friction: f64) -> Material {
    Material { friction, restitution: 0.0, ..Material::default() }
}

/// Point shape of a body, at a place in its frame.
pub(crate) fn tip(x: f64, y: f64, material: Material) -> Attached {
    Attached::new(Shape::Disk { radius: 0.0 }).at(Isometry2::translation(x, y)).material(material)
}

pub(crate) fn down() -> Vector2<f64> {
    Vector2::new(0.0, -G)
}
