//! Runs, and what is asked of them.

use nalgebra::{DMatrix, DVector, Isometry2, Vector2};
use std::ops::RangeInclusive;
use stiction::planar::{Attached, Body, Model, Shape, World};

use stiction::{
    ConstraintId, ContactQuery, Event, EventKind, Level, Material, RowKind, Scheme, SearchCache, Simulation,
    State, System, Trapezoidal,
};

pub(crate) const G: f64 = 9.81;

/// How a run ended and what happened in it.
pub(crate) struct Made {
    /// Configuration at the end, on all joints and contacts that bear.
    pub q: Vec<f64>,
    pub events: Vec<Event>,
    /// Modes changed by force, and steps that were finished without location.
    pub forced: usize,
    pub cut: usize,
    pub damped: usize,
    /// Energy at the start and after each step [J], and whether something happened in the step.
    pub start: f64,
    pub energies: Vec<(f64, bool)>,
    pub states: Vec<State>,
}

impl Made {
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

    /// Times at which something happened, and what, such as `S1` for the contact of shape 1 that sticks.
    pub(crate) fn story(&self) -> Vec<(f64, String)> {
        let mut story: Vec<(f64, String)> = Vec::new();
        for event in &self.events {
            let letter = match event.kind {
                EventKind::Impact => 'I',
                EventKind::TakeOff => 'O',
                EventKind::Slip => 'L',
                EventKind::Stick => 'S',
                EventKind::Reversal => 'R',
            };
            let place = match event.constraint {
                ConstraintId::Contact(id) => id.pair.b.0 as usize,
                ConstraintId::Joint(row) => row,
            };
            let told = format!("{letter}{place}");
            match story.last_mut() {
                Some((t, both)) if *t == event.t => {
                    both.push(' ');
                    both.push_str(&told);
                }
                _ => story.push((event.t, told)),
            }
        }
        story
    }
}

pub(crate) fn run<S: System>(system: S, state: State, settings: Trapezoidal, h: f64, until: f64) -> Made {
    let scheme = Scheme { level: Level::Trapezoidal(settings), ..Scheme::pagt06() };
    let start = system.potential(state.t, &state.q) + kinetic(&system, &state);
    let mut simulation = Simulation::new(system, state, scheme);
    let mut made = Made {
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
        made.events.extend(report.events.iter().copied());
        let told = report.second_order.expect("a scheme of second order");
        made.forced += told.forced;
        made.cut += usize::from(told.cut);
        assert!(report.certificate.passes(1e-10), "{:?}", report.certificate);
        assert_eq!(told.refused, 0.0, "the equations of a part did not hold");
        made.damped += usize::from(told.damped);
        made.energies.push((report.kinetic + report.potential, !report.events.is_empty()));
        made.states.push(state.clone());
    });
    steps.unwrap_or_else(|e| panic!("{e} after {:?}", made.story()));
    made.q = projected(simulation.system(), simulation.state());
    made
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

/// The same run at h = 2⁻ᵏ for each k.
pub(crate) fn halved(
    model: impl Fn() -> Model,
    settings: Trapezoidal,
    ks: RangeInclusive<i32>,
    until: f64,
) -> Vec<(f64, Made)> {
    let one = |k: i32| {
        let h = 2f64.powi(-k);
        let model = model();
        let state = model.state();
        (h, run(model, state, settings, h, until))
    };
    ks.map(one).collect()
}

/// The configuration moved by as little as possible, measured by M, so that joints hold and contacts that bear touch.
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

/// What a family of runs must come to.
pub(crate) struct Expected<'a> {
    /// Places among the coordinates, and their exact values at the end.
    pub end: &'a [(usize, f64)],
    /// What happens, and when.
    pub story: &'a [(f64, &'a str)],
    /// Times are at most this far off, in units of h² [1/s].
    pub late: f64,
    /// Errors of the first runs where they are known, and how close they must be.
    pub errors: &'a [f64],
    pub within: f64,
    /// Where the ratios of the two last pairs of errors must be.
    pub ratios: RangeInclusive<f64>,
}

impl Expected<'_> {
    pub(crate) fn check(&self, name: &str, runs: &[(f64, Made)]) {
        let mut errors: Vec<f64> = Vec::new();
        for (h, made) in runs {
            let off = self.end.iter().map(|&(i, q)| (made.q[i] - q).powi(2)).sum::<f64>().sqrt();
            let story = made.story();
            let told: Vec<&str> = story.iter().map(|s| &s.1[..]).collect();
            let expected: Vec<&str> = self.story.iter().map(|s| s.1).collect();
            assert_eq!(told, expected, "{name} at {h}: {story:?}");
            assert_eq!((made.forced, made.cut), (0, 0), "{name} at {h}: forced and cut");
            let late = story.iter().zip(self.story).map(|(a, b)| (a.0 - b.0).abs()).fold(0.0, f64::max);
            let ratio = errors.last().map(|e| e / off);
            println!("{name} {h:.6} E {off:.3e} ratio {ratio:.3?} late {:.3} h²", late / (h * h));
            // the references are written down to 1e-9
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

/// The order that two errors show, the second at half the step.
pub(crate) fn order(errors: [f64; 2]) -> f64 {
    (errors[0] / errors[1]).log2()
}

/// The Euclidean distance of two vectors.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

pub(crate) fn floor(world: &mut World, material: Material) {
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane).material(material)));
}

pub(crate) fn rough(friction: f64) -> Material {
    Material { friction, restitution: 0.0, ..Material::default() }
}

/// A point of a body, at a place in its frame.
pub(crate) fn tip(x: f64, y: f64, material: Material) -> Attached {
    Attached::new(Shape::Disk { radius: 0.0 }).at(Isometry2::translation(x, y)).material(material)
}

pub(crate) fn down() -> Vector2<f64> {
    Vector2::new(0.0, -G)
}
