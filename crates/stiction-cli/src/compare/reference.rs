//! What errors are measured against.

use super::Sample;
use crate::run::plan::Plan;
use std::time::{Duration, Instant};
use stiction::{Accuracy, Scheme, Simulation, System};

/// The accuracy of the reference, and of the one that tells how good it is.
const TIGHT: [f64; 2] = [1e-10, 1e-8];

/// Events of the reference at most: where there are more, bodies are many or motions chaotic, and no scheme follows.
const EVENTS: usize = 2000;

/// How long the reference may take: people wait for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much smaller than the finest step those of the reference and of the one beside it are, where no accuracy can be
/// followed.
const FINER: [f64; 2] = [8.0, 4.0];

/// Where bodies should be.
pub(super) struct Reference {
    /// What it is.
    pub(super) name: String,
    pub(super) samples: Vec<Sample>,
    /// How far it is from one that is made less carefully [m].
    pub(super) error: f64,
}

impl Reference {
    /// By the accurate scheme at a tight tolerance if it follows the scene, else by the finest step; or why there is
    /// neither.
    pub(super) fn new(
        plan: &Plan,
        times: &[f64],
        finest: f64,
        schemes: &[(&String, Scheme)],
    ) -> Result<Self, String> {
        let [tight, loose] = TIGHT;
        let name = |beside: &str| format!("followed to an accuracy of {tight:e}{beside}");
        let why = match (followed(plan, times, tight), followed(plan, times, loose)) {
            (Ok(samples), Ok(others)) => return Ok(Self::beside(plan, name(""), samples, &others)),
            (Err(why), _) | (_, Err(why)) => why,
        };
        let [small, less] = FINER.map(|part| finest / part);
        for (scheme_name, scheme) in schemes {
            if let (Ok(samples), Ok(others)) =
                (stepped(plan, times, *scheme, small), stepped(plan, times, *scheme, less))
            {
                let name = format!(
                    "{scheme_name} at steps of {small} s, because no accuracy could be followed ({why})"
                );
                return Ok(Self::beside(plan, name, samples, &others));
            }
        }
        Err(why)
    }

    fn beside(plan: &Plan, name: String, samples: Vec<Sample>, others: &[Sample]) -> Self {
        let size = plan.model.size();
        let error = samples.iter().zip(others).map(|(a, b)| a.far(b, size)).fold(0.0, f64::max);
        Self { name, samples, error }
    }
}

/// The run to an accuracy.
fn followed(plan: &Plan, times: &[f64], tolerance: f64) -> Result<Vec<Sample>, String> {
    let accuracy = Accuracy { event_limit: EVENTS, ..Accuracy::of(tolerance) };
    let mut simulation =
        Simulation::from_state(plan.model.clone(), plan.start.clone()).with_scheme(Scheme::accurate());
    let began = Instant::now();
    let mut samples = Vec::new();
    let mut events = 0;
    for &t in times {
        let made =
            simulation.run_to_accuracy(t, &accuracy, &[], |_, _| ()).map_err(|error| error.to_string())?;
        events += made.report.events.len();
        if events > EVENTS {
            return Err(format!("more than {EVENTS} events until {t} s"));
        }
        if began.elapsed() > PATIENCE {
            return Err(format!("{} s were not enough", PATIENCE.as_secs()));
        }
        samples.push(Sample::new(simulation.system(), simulation.state()));
    }
    Ok(samples)
}

/// The run with steps of one size.
fn stepped(plan: &Plan, times: &[f64], scheme: Scheme, h: f64) -> Result<Vec<Sample>, String> {
    let mut simulation = Simulation::from_state(plan.model.clone(), plan.start.clone()).with_scheme(scheme);
    let mut samples = Vec::new();
    for &t in times {
        simulation.record(t, h, |_, _, _| ()).map_err(|stopped| stopped.error.to_string())?;
        samples.push(Sample::new(simulation.system(), simulation.state()));
    }
    Ok(samples)
}
