//! A scene that has been run.

use std::path::Path;
use stiction::{Simulation, StepReport, System};
use stiction_scene::{Built, Model, Scene};

/// What a run came to.
pub struct Run {
    simulation: Simulation<Model>,
    /// Kinetic and potential energy at the end of each step [J].
    pub energies: Vec<[f64; 2]>,
    /// Deepest penetration or largest joint error at the end of a step [m].
    pub infeasibility: f64,
    /// Largest residual of a step.
    pub certificate: f64,
}

/// Runs a scene for its full duration; every step passes its certificate or is an error.
pub fn run(name: &str) -> Run {
    watch(name, |_, _| ())
}

/// The same, with a look at every step.
pub fn watch(name: &str, mut look: impl FnMut(&Simulation<Model>, &StepReport)) -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name).with_extension("toml");
    let text = std::fs::read_to_string(&path).expect("a scene");
    let scene = Scene::from_toml(&text, name).unwrap_or_else(|found| panic!("{found}"));
    let Built { model, state, scheme, h, duration, accuracy, .. } =
        scene.build().unwrap_or_else(|found| panic!("{found}"));
    let energy = |model: &Model, state: &stiction::State| model.potential(state.t, &state.q);
    let _ = energy;
    let end = state.t + duration;
    let mut run = Run {
        simulation: Simulation::new(model, state, scheme),
        energies: Vec::new(),
        infeasibility: 0.0,
        certificate: 0.0,
    };
    if let Some(accuracy) = accuracy {
        let times: Vec<f64> = (1..=1000).map(|k| duration * f64::from(k) / 1000.0).collect();
        let followed = run.simulation.follow(end, &accuracy, &times, |_, s| s.clone()).expect("a run");
        println!("{name}: {:?} steps", followed.report.steps);
        for state in &followed.trajectory.values {
            if (state.t * 1000.0 / duration).round() as i64 % 50 == 0 { println!("{:.3} v {:.4?}", state.t, &state.v); }
        }
        return run;
    }
    let begun = std::time::Instant::now();
    let mut report = StepReport::default();
    let mut contacts = 0;
    while end - run.simulation.state().t > 1e-9 * h {
        run.simulation.step_into(h, &mut report).expect("a step");
        assert!(report.certificate.worst() <= scheme.solver.tolerance.max(scheme.solver.loosest));
        run.certificate = run.certificate.max(report.certificate.worst());
        run.infeasibility = run.infeasibility.max(report.infeasibility);
        run.energies.push([report.kinetic, report.potential]);
        contacts = contacts.max(report.contacts.len());
        look(&run.simulation, &report);
    }
    println!("{name}: {:.2} s wall, certificate {:.1e}, infeasibility {:.1e}, contacts {contacts} ke {:?}", begun.elapsed().as_secs_f64(), run.certificate, run.infeasibility, run.energies.last());
    run
}

impl Run {
    /// No step adds more than this part of the greatest energy there was.
    pub fn loses_energy(&self, part: f64) -> &Self {
        let sums: Vec<f64> = self.energies.iter().map(|e| e[0] + e[1]).collect();
        let (low, high) = sums.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &e| (a.min(e), b.max(e)));
        let rise = sums.windows(2).map(|e| e[1] - e[0]).fold(f64::NEG_INFINITY, f64::max);
        println!("   rise {rise:.2e} of {:.2e}", high - low);
        assert!(rise <= part * (high - low).max(high.abs()), "a step adds {rise} J of {} J", high - low);
        self
    }

    pub fn penetrates_at_most(&self, depth: f64) -> &Self {
        let size = self.simulation.system().size();
        println!("   penetration {:.2e} of the size {size}", self.infeasibility / size);
        assert!(self.infeasibility <= depth * size, "{} m deep", self.infeasibility);
        self
    }

    /// Kinetic energy at the end [J].
    pub fn rests_below(&self, kinetic: f64) -> &Self {
        let last = self.energies.last().map_or(0.0, |e| e[0]);
        assert!(last <= kinetic, "{last} J are left");
        self
    }

    /// Centre of a body at the end [m].
    pub fn centre(&self, name: &str) -> [f64; 3] {
        let model = self.simulation.system();
        let body = model.body(name).unwrap_or_else(|| panic!("no body {name}"));
        model.centre(self.simulation.state(), body).expect("a centre")
    }

    /// Velocity at the end.
    pub fn velocity(&self, _name: &str) -> Vec<f64> {
        self.simulation.state().v.clone()
    }
}
