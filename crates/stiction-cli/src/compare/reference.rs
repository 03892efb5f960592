//! Reference motion for the errors of `compare`: a run to a tight accuracy, or else with the smallest step.

use super::MotionSample;
use crate::run::plan::RunPlan;
use std::time::{Duration, Instant};
use stiction::{Accuracy, Scheme, Simulation, System};

/// Error tolerances [m, rad, m/s, rad/s] of the reference and of the less accurate run that measures its error.
const REFERENCE_TOLERANCES: [f64; 2] = [1e-10, 1e-8];

/// Event limit of the reference. A scene with more events is large or chaotic, and no scheme converges on it.
const REFERENCE_EVENT_LIMIT: usize = 2000;

/// Time limit of the reference, because the user waits for it.
const REFERENCE_TIME_LIMIT: Duration = Duration::from_mins(1);

/// Divisors of the smallest step size for the reference and the less accurate run, where the run to an accuracy fails.
const STEP_DIVISORS: [f64; 2] = [8.0, 4.0];

/// Motion that errors are measured against.
pub(super) struct ReferenceMotion {
    /// Description for the user.
    pub(super) name: String,
    pub(super) samples: Vec<MotionSample>,
    /// Distance from a less accurate run [m].
    pub(super) error: f64,
}

impl ReferenceMotion {
    /// Runs the scene to a tight accuracy. Where that fails, runs the first scheme that succeeds with steps below the
    /// smallest. The error is the reason why the accuracy was not reached.
    pub(super) fn new(
        plan: &RunPlan,
        times: &[f64],
        finest: f64,
        schemes: &[(&String, Scheme)],
    ) -> Result<Self, String> {
        let [tight, loose] = REFERENCE_TOLERANCES;
        let name = format!("run to an accuracy of {tight:e}");
        let why = match (run_to_accuracy(plan, times, tight), run_to_accuracy(plan, times, loose)) {
            (Ok(samples), Ok(others)) => return Ok(Self::with_error(plan, name, samples, &others)),
            (Err(why), _) | (_, Err(why)) => why,
        };
        let [small, less] = STEP_DIVISORS.map(|divisor| finest / divisor);
        for (scheme_name, scheme) in schemes {
            if let (Ok(samples), Ok(others)) =
                (run_with_step(plan, times, *scheme, small), run_with_step(plan, times, *scheme, less))
            {
                let name = format!(
                    "{scheme_name} with steps of {small} s, because the run to an accuracy failed ({why})"
                );
                return Ok(Self::with_error(plan, name, samples, &others));
            }
        }
        Err(why)
    }

    /// Measures the error of `samples` by their distance from `others`.
    fn with_error(plan: &RunPlan, name: String, samples: Vec<MotionSample>, others: &[MotionSample]) -> Self {
        let size = plan.model.size();
        let error = samples.iter().zip(others).map(|(a, b)| a.distance(b, size)).fold(0.0, f64::max);
        Self { name, samples, error }
    }
}

/// Runs to an accuracy and samples the motion.
fn run_to_accuracy(plan: &RunPlan, times: &[f64], tolerance: f64) -> Result<Vec<MotionSample>, String> {
    let accuracy = Accuracy { event_limit: REFERENCE_EVENT_LIMIT, ..Accuracy::of(tolerance) };
    let mut simulation =
        Simulation::from_state(plan.model.clone(), plan.start.clone()).with_scheme(Scheme::accurate());
    let began = Instant::now();
    let mut samples = Vec::new();
    let mut events = 0;
    for &t in times {
        let made =
            simulation.run_to_accuracy(t, &accuracy, &[], |_, _| ()).map_err(|error| error.to_string())?;
        events += made.report.events.len();
        if events > REFERENCE_EVENT_LIMIT {
            return Err(format!("more than {REFERENCE_EVENT_LIMIT} events until {t} s"));
        }
        if began.elapsed() > REFERENCE_TIME_LIMIT {
            return Err(format!("time limit of {} s exceeded", REFERENCE_TIME_LIMIT.as_secs()));
        }
        samples.push(MotionSample::new(simulation.system(), simulation.state()));
    }
    Ok(samples)
}

/// Runs with a fixed step size and samples the motion.
fn run_with_step(plan: &RunPlan, times: &[f64], scheme: Scheme, h: f64) -> Result<Vec<MotionSample>, String> {
    let mut simulation = Simulation::from_state(plan.model.clone(), plan.start.clone()).with_scheme(scheme);
    let mut samples = Vec::new();
    for &t in times {
        simulation.record(t, h, |_, _, _| ()).map_err(|stopped| stopped.error.to_string())?;
        samples.push(MotionSample::new(simulation.system(), simulation.state()));
    }
    Ok(samples)
}
