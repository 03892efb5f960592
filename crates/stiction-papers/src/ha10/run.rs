//! A scene run with one of the paper's forms, and what is measured of it.

use super::event::GapForm;
use super::scenes::Ha10Scene;
use super::system::Polyhedra;
use crate::ExperimentError;
use stiction::{Active, Level, Scheme, Simulation, State, StepReport, System};

/// How far below its surface the centre of the floor is [m].
pub const DEPTH: f64 = 0.5;

/// How a scene is stepped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ha10Method {
    /// Which gap function the rows are of.
    pub form: GapForm,
    /// How a step is made.
    pub scheme: Scheme,
    /// Positions go along with v(l), as step 3 of HA10 Algorithm 9 is printed, and not with v(l+1).
    pub lagging: bool,
    /// Whether friction is bounded by the normal impulse; see [`Polyhedra::normalized`].
    pub normalized: bool,
    /// How far below its surface the centre of the floor is [m].
    pub depth: f64,
}

impl Ha10Method {
    /// The paper's scheme with γ, on all events as HA10 (4.10) has it or on those with Φ < 0 only.
    pub fn paper(form: GapForm, gamma: f64, everywhere: bool) -> Self {
        let scheme = Scheme::of(Level::Stabilized { gamma, everywhere });
        // the near-active events are chosen without a length
        let scheme = Scheme { active: Active::Band(f64::INFINITY), ..scheme };
        Self { form, scheme, lagging: false, normalized: true, depth: DEPTH }
    }

    /// The simulator's own gaps.
    pub fn own(scheme: Scheme) -> Self {
        Self { scheme, ..Self::paper(GapForm::Gap, 1.0, false) }
    }
}

/// What a run left.
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
    /// The state at the end.
    pub end: State,
}

impl Ha10Run {
    /// Runs a scene for this time [s].
    pub fn of(
        scene: Ha10Scene,
        start: u32,
        method: Ha10Method,
        h: f64,
        time: f64,
    ) -> Result<Self, ExperimentError> {
        Self::watched(scene, start, method, h, time, |_, _| ())
    }

    /// Runs a scene for this time [s]; `watch` sees the start, and the end of every step.
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
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of steps")]
        let steps = (time / h).round() as usize;
        for _ in 0..steps {
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
