//! Runs of the scenes with a gap function and a scheme, and their infeasibility.

use super::event::GapForm;
use super::scenes::Ha10Scene;
use super::system::Polyhedra;
use crate::{ExperimentError, step_count};
use stiction::{Active, Level, Scheme, Simulation, State, StepReport, System};

/// Depth of the centre of the floor below its surface [m].
pub const DEPTH: f64 = 0.5;

/// Gap function and scheme of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ha10Method {
    /// Gap function of the rows.
    pub form: GapForm,
    /// Scheme of the steps.
    pub scheme: Scheme,
    /// Whether positions advance with v(l), as step 3 of HA10 Algorithm 9 is printed, instead of v(l+1).
    pub lagging: bool,
    /// Whether friction is bounded by the normal impulse; see [`Polyhedra::normalized`].
    pub normalized: bool,
    /// Depth of the centre of the floor below its surface [m].
    pub depth: f64,
}

impl Ha10Method {
    /// Scheme of the paper with γ, on all events as in HA10 (4.10) or only on those with Φ < 0.
    pub fn paper(form: GapForm, gamma: f64, everywhere: bool) -> Self {
        let scheme = Scheme::of(Level::Stabilized { gamma, everywhere });
        // the choice of near-active events needs no length
        let scheme = Scheme { active: Active::Band(f64::INFINITY), ..scheme };
        Self { form, scheme, lagging: false, normalized: true, depth: DEPTH }
    }

    /// Gaps of the simulator.
    pub fn own(scheme: Scheme) -> Self {
        Self { scheme, ..Self::paper(GapForm::Gap, 1.0, false) }
    }
}

/// Result of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ha10Run {
    /// Largest max(0, −ρ) at the end of a step [1].
    pub most: f64,
    /// max(0, −ρ) at the end [1].
    pub last: f64,
    /// Kinetic energy at the end [J].
    pub kinetic: f64,
    /// Largest residual of a certificate.
    pub residual: f64,
    /// Final state.
    pub end: State,
}

impl Ha10Run {
    /// Runs a scene for `time` [s].
    pub fn of(
        scene: Ha10Scene,
        start: u32,
        method: Ha10Method,
        h: f64,
        time: f64,
    ) -> Result<Self, ExperimentError> {
        Self::watched(scene, start, method, h, time, |_, _| ())
    }

    /// Runs a scene for `time` [s]; `watch` is called at the start and after every step.
    pub fn watched(
        scene: Ha10Scene,
        start: u32,
        method: Ha10Method,
        h: f64,
        time: f64,
        mut watch: impl FnMut(&Polyhedra, &State),
    ) -> Result<Self, ExperimentError> {
        let Ha10Method { form, scheme, lagging, normalized, depth } = method;
        let bodies = scene.bodies(start)?;
        let state = bodies.state();
        let system = Polyhedra { bodies, form, depth, normalized };
        watch(&system, &state);
        let mut simulation = Simulation::from_state(system, state).with_scheme(scheme);
        let mut run = Self::default();
        let mut report = StepReport::default();
        for _ in 0..step_count(time, h) {
            let before = lagging.then(|| simulation.state().clone());
            simulation.step_into(h, &mut report)?;
            if let Some(State { q, v, .. }) = before {
                let mut state = State { q, ..simulation.state().clone() };
                simulation.system().advance(&mut state.q, &v, h);
                simulation.restore(state);
            }
            run.last = (-simulation.system().least_rho(simulation.state())).max(0.0);
            run.most = run.most.max(run.last);
            run.residual = run.residual.max(report.certificate.worst());
            watch(simulation.system(), simulation.state());
        }
        run.kinetic = report.kinetic;
        run.end.clone_from(simulation.state());
        Ok(run)
    }
}
