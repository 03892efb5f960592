//! Run of a scene, and assertions about it.

use std::path::Path;
use stiction::{Accuracy, Level, Scheme, Simulation, State, StepReport, System};
use stiction_scene::{BuiltScene, Model, Sample, Scene, Signal};

/// Number of samples of a run to an accuracy.
const SAMPLES: u32 = 1000;

/// States, energies and worst residuals of a run.
pub(crate) struct Run {
    pub(crate) simulation: Simulation<Model>,
    /// States at the start and at the end of each step.
    pub(crate) states: Vec<State>,
    /// Kinetic and potential energy of these [J].
    energies: Vec<f64>,
    /// Energy that post-stabilization added in each step, as the ledger shows it [J].
    projected: Vec<f64>,
    /// Deepest penetration or largest joint error at the end of a step [m].
    infeasibility: f64,
    /// Largest residual of a step.
    certificate: f64,
    tolerance: f64,
}

fn built(name: &str) -> BuiltScene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name).with_extension("toml");
    let text = std::fs::read_to_string(&path).expect("a scene");
    let scene = Scene::from_toml(&text, name).unwrap_or_else(|found| panic!("{found}"));
    assert!(scene.title().is_some() && scene.description().is_some(), "{name} says what it is");
    scene.build().unwrap_or_else(|found| panic!("{found}"))
}

/// Runs a scene for its full duration. A step that does not pass its certificate is an error.
pub(crate) fn run(name: &str) -> Run {
    let BuiltScene { model, state, scheme, h, duration, accuracy, controls, .. } = built(name);
    let tolerance = scheme.solver.tolerance;
    let end = state.t + duration;
    let start = state.clone();
    let mut run = Run {
        simulation: Simulation::from_state(model, state).with_scheme(scheme),
        states: vec![start],
        energies: Vec::new(),
        projected: Vec::new(),
        infeasibility: 0.0,
        certificate: 0.0,
        tolerance,
    };
    if let Some(accuracy) = accuracy {
        let times: Vec<f64> = (1..=SAMPLES).map(|k| duration * f64::from(k) / f64::from(SAMPLES)).collect();
        let followed = run.simulation.run_to_accuracy(end, &accuracy, &times, |_, state| state.clone());
        let followed = followed.unwrap_or_else(|error| panic!("{error}"));
        run.certificate = followed.report.certificate;
        run.infeasibility = followed.report.penetration;
        run.states.extend(followed.trajectory.values);
    } else {
        let mut report = StepReport::default();
        let mut before: Option<State> = None;
        while end - run.simulation.state().t > 1e-9 * h {
            let last = before.as_ref().map(|before| (before, &report));
            controls.apply(&mut run.simulation, last).unwrap_or_else(|error| panic!("{error}"));
            before = Some(run.simulation.state().clone());
            run.simulation.step_into(h, &mut report).unwrap_or_else(|error| panic!("{error}"));
            run.certificate = run.certificate.max(report.certificate.worst());
            run.infeasibility = run.infeasibility.max(report.infeasibility);
            run.projected.push(report.ledger.map_or(0.0, |ledger| ledger.projection.max(0.0)));
            run.states.push(run.simulation.state().clone());
        }
    }
    run.energies = run.states.iter().map(|state| run.energy(state)).collect();
    run
}

/// Final state of a scene, run to an accuracy.
pub(crate) fn run_to_accuracy(name: &str, tolerance: f64) -> State {
    let BuiltScene { model, state, duration, .. } = built(name);
    let end = state.t + duration;
    let mut simulation = Simulation::from_state(model, state).with_scheme(Scheme::accurate());
    simulation
        .run_to_accuracy(end, &Accuracy::of(tolerance), &[], |_, _| ())
        .unwrap_or_else(|error| panic!("{error}"));
    simulation.state().clone()
}

impl Run {
    fn energy(&self, state: &State) -> f64 {
        let model = self.simulation.system();
        let mut start = 0;
        let mut kinetic = 0.0;
        for (body, &count) in model.bodies().iter().enumerate() {
            let v = &state.v[start..start + count];
            let mass = model.mass_at(body, state.t, &state.q);
            kinetic += (0..count)
                .map(|i| (0..count).map(|j| 0.5 * v[i] * mass[(i, j)] * v[j]).sum::<f64>())
                .sum::<f64>();
            start += count;
        }
        kinetic + model.potential(state.t, &state.q)
    }

    /// Quantity of the run after one more step.
    pub(crate) fn reads(&self, text: &str) -> f64 {
        let mut next = self.simulation.clone();
        let report = next.step(1e-3).unwrap_or_else(|error| panic!("{error}"));
        let signal = Signal::parse(text, next.system(), &Vec::new()).unwrap_or_else(|what| panic!("{what}"));
        let before = Some(self.simulation.state());
        signal.at(&Sample { model: next.system(), before, state: next.state(), report: Some(&report) })
    }

    /// Asserts that every residual is at most the tolerance of the scheme, or `loose` where a scene needs it.
    pub(crate) fn certified(&self, loose: Option<f64>) -> &Self {
        let most = loose.unwrap_or(self.tolerance);
        assert!(self.certificate <= most, "residual {:e}", self.certificate);
        self
    }

    /// Asserts that no step adds energy beyond this power of its drives [W], what its ledger says that
    /// post-stabilization added, and round-off. Contacts of the default scheme act in the middle of the step, and their
    /// work there has an error of either sign: 1.1e-7 of the energy in the scenes, and a millionth is allowed.
    pub(crate) fn gains_at_most(&self, power: f64) -> &Self {
        let largest = self.energies.iter().fold(0.0_f64, |most, e| most.max(e.abs()));
        let error = if self.simulation.scheme.level == Level::Timed { 1e-6 } else { 1e-10 };
        let projected = self.projected.iter().copied().chain(std::iter::repeat(0.0));
        for ((pair, states), projected) in self.energies.windows(2).zip(self.states.windows(2)).zip(projected)
        {
            let most = power * (states[1].t - states[0].t) + projected + error * largest;
            let gain = pair[1] - pair[0];
            assert!(gain <= most, "{gain:e} J more at {} s, {most:e} at most", states[1].t);
        }
        self
    }

    /// Asserts that the energy is constant, relative to the largest.
    pub(crate) fn keeps_energy(&self, part: f64) -> &Self {
        let span = self.energies.iter().map(|e| (e - self.energies[0]).abs()).fold(0.0, f64::max);
        let largest = self.energies.iter().fold(0.0_f64, |most, e| most.max(e.abs()));
        assert!(span <= part * largest, "{span:e} of {largest:e} J");
        self
    }

    /// Asserts a bound on penetration and joint errors, relative to the smallest body.
    pub(crate) fn penetrates_at_most(&self, part: f64) -> &Self {
        let depth = self.infeasibility / self.simulation.system().size();
        assert!(depth <= part, "{depth:e} of the size deep");
        self
    }

    /// Asserts that from a time on no coordinate changes, relative to the smallest body.
    pub(crate) fn stays(&self, from: f64, part: f64) -> &Self {
        let size = self.simulation.system().size();
        let late: Vec<&State> = self.states.iter().filter(|s| s.t >= from - 1e-9).collect();
        for state in &late {
            let moved = state.q.iter().zip(&late[0].q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(moved <= part * size, "moved by {moved:e} m until {} s", state.t);
        }
        self
    }

    /// Final coordinates [m, rad].
    pub(crate) fn end(&self) -> &State {
        self.simulation.state()
    }

    /// Centre of a body in each state [m].
    pub(crate) fn path(&self, name: &str) -> Vec<[f64; 3]> {
        let model = self.simulation.system();
        let body = model.find_body(name).unwrap_or_else(|| panic!("no body {name}"));
        self.states.iter().map(|state| model.centre(state, body).expect("a centre")).collect()
    }

    /// Centre of a body at the end [m].
    pub(crate) fn centre(&self, name: &str) -> [f64; 3] {
        self.path(name)[self.states.len() - 1]
    }

    /// Velocity and angular velocity of a body at the end [m/s, rad/s].
    pub(crate) fn velocity(&self, name: &str) -> ([f64; 3], [f64; 3]) {
        let model = self.simulation.system();
        let body = model.find_body(name).unwrap_or_else(|| panic!("no body {name}"));
        model.velocity(self.end(), body).expect("a velocity")
    }

    /// Prints the measurements, for tests run by hand.
    pub(crate) fn told(&self) -> &Self {
        let size = self.simulation.system().size();
        let gain = self
            .energies
            .windows(2)
            .zip(self.states.windows(2))
            .map(|(e, s)| (e[1] - e[0]) / (s[1].t - s[0].t));
        println!(
            "certificate {:.1e}, depth {:.1e} of {size:.3} m, most power {:.2e} W, energy {:.6} to {:.6} J",
            self.certificate,
            self.infeasibility / size,
            gain.fold(f64::NEG_INFINITY, f64::max),
            self.energies[0],
            self.energies[self.energies.len() - 1],
        );
        self
    }
}
