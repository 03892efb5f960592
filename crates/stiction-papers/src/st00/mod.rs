//! ST00: falling rod, acceleration problem at its impact, and four balls.

pub mod balls;
pub mod painleve;
mod pictures;
pub mod rod;

use super::{ExperimentError, PublishedSense, Reproduction, slope};
use crate::measurement::CaseLines;
use balls::Components;
use rod::Lever;
use stiction::Scheme;

/// Key of the paper.
const PAPER: &str = "ST00";

/// Acceleration of gravity [m/s²]. The paper does not give it; this value reproduces Table 1, 9.8 and 9.81 do not.
pub const ST00_GRAVITY: f64 = 9.82;

/// Table 1: velocity error, position error and velocity variation for each of [`balls::BALLS_STEP_COUNTS`].
pub const TABLE: [[Option<f64>; 3]; 5] = [
    [Some(0.5050), Some(0.2505), Some(19.4046)],
    [Some(0.3523), Some(0.2015), Some(19.1728)],
    [Some(0.1657), Some(0.0838), Some(19.1702)],
    [Some(0.0700), Some(0.0298), Some(19.0862)],
    [None, None, Some(19.0690)],
];

/// Final positions of the balls.
const PLACES: [[&str; 2]; 4] = [
    ["x of the thrown ball at the end [m]", "y of the thrown ball at the end [m]"],
    ["x of the first ball at the end [m]", "y of the first ball at the end [m]"],
    ["x of the second ball at the end [m]", "y of the second ball at the end [m]"],
    ["x of the third ball at the end [m]", "y of the third ball at the end [m]"],
];

/// Measurements and figures of the paper.
pub fn reproduce() -> Result<Reproduction, ExperimentError> {
    let mut out = Reproduction::default();
    falling_rod(&mut out)?;
    rod_at_impact(&mut out)?;
    four_balls(&mut out)?;
    Ok(out)
}

fn falling_rod(out: &mut Reproduction) -> Result<(), ExperimentError> {
    let experiment = "falling rod";
    let run = |steps| rod::run(ST00_GRAVITY, Lever::Surface, Scheme::st00(), steps);
    let mut runs = rod::ROD_STEP_COUNTS.map(run).into_iter().collect::<Result<Vec<_>, _>>()?;
    // close to the limit h → 0
    runs.push(run(4000)?);
    for run in &runs {
        // the times of the paper are those of its Figure 2
        let printed = |value: f64| (run.h == 0.0025).then_some(value);
        let mut lines = CaseLines { out, paper: PAPER, experiment, case: format!("h = {}", run.h) };
        let start = |end: Option<f64>| end.map(|t| t - run.h);
        lines
            .time("start of the step of first contact [s]", start(run.contact), printed(0.383))
            .meant(PublishedSense::About);
        lines
            .time("start of the step of slap-down [s]", start(run.slap), printed(0.548))
            .meant(PublishedSense::About);
        let slide = run.slap.zip(run.rest).map(|(a, b)| b - a);
        lines.time("slide after slap-down [s]", slide, printed(0.02)).meant(PublishedSense::About);
        lines.time("time of rest [s]", run.rest, None);
        lines.add("x at rest [m]", run.last()[0], None);
        lines.time("angular velocity after the second step of contact [rad/s]", run.second_spin(), None);
        lines.add("deepest penetration [m]", run.penetration, None);
        lines.add("largest residual", run.residual, None);
    }

    let printed = rod::run(ST00_GRAVITY, Lever::Centre, Scheme::st00(), 320)?;
    let mut lines =
        CaseLines { out, paper: PAPER, experiment, case: format!("h = {}, lever without r", printed.h) };
    lines.time("start of the step of slap-down [s]", printed.slap.map(|t| t - printed.h), None);
    let coarse = rod::run(ST00_GRAVITY, Lever::Surface, Scheme::st00_nonlinear(), 20)?;
    let mut lines = CaseLines { out, paper: PAPER, experiment, case: format!("h = {}, nonlinear", coarse.h) };
    lines.add("x at rest [m]", coarse.last()[0], None);
    out.figures.extend(pictures::rod(&runs[..rod::ROD_STEP_COUNTS.len()]));
    Ok(())
}

fn rod_at_impact(out: &mut Reproduction) -> Result<(), ExperimentError> {
    for (lever, case) in [(Lever::Surface, "lever with r"), (Lever::Centre, "lever without r")] {
        let impact = painleve::impact(ST00_GRAVITY, lever)?;
        let mut lines = CaseLines { out, paper: PAPER, experiment: "rod at impact", case: case.into() };
        lines.add("time [s]", impact.t, None);
        lines.add("A of a tip that slides right [1/kg]", impact.gain, None);
        lines.add("b of a tip that slides right [m/s²]", impact.offset, None);
        let solvable = if impact.sliding == "solved" { 1.0 } else { 0.0 };
        lines.add("solutions for a tip that slides right", solvable, None);
        lines.add("force on a tip that may stick [N]", impact.sticking_force, None);
    }
    Ok(())
}

fn four_balls(out: &mut Reproduction) -> Result<(), ExperimentError> {
    let experiment = "four balls";
    let run = |steps| balls::run(ST00_GRAVITY, Scheme::st00(), steps);
    let runs = balls::BALLS_STEP_COUNTS.map(run).into_iter().collect::<Result<Vec<_>, _>>()?;
    let Some((exact, coarser)) = runs.split_last() else { return Ok(()) };
    for (run, published) in runs.iter().zip(TABLE) {
        let mut lines = CaseLines { out, paper: PAPER, experiment, case: format!("h = {}", run.h) };
        if run.h > exact.h {
            let [all, linear, angular] = [Components::All, Components::Linear, Components::Angular]
                .map(|over| run.velocity_error(exact, over));
            lines.add("velocity error [m, rad]", all, published[0]);
            lines.add("position error [m, rad]", run.position_error(exact, Components::All), published[1]);
            lines.add("angular over linear velocity error [rad/m]", angular / linear, None);
        }
        lines.add("velocity variation [m/s, rad/s]", run.variation(), published[2]);
        lines.time("end of the step of landing [s]", run.landing, Some(0.42)).meant(PublishedSense::About);
        let collision = run.collision.as_ref().map(|c| c.t);
        lines.time("end of the step of collision [s]", collision, Some(0.59)).meant(PublishedSense::About);
        lines.add("unknowns of the largest problem", run.size as f64, Some(70.0));
        lines.add("deepest penetration [m]", run.penetration, None);
        lines.add("largest residual", run.residual, None);
    }

    // the errors are roughly of order h
    let order = |error: &dyn Fn(&balls::BallsRun) -> f64| {
        slope(&coarser.iter().map(|run| [run.h, error(run)]).collect::<Vec<_>>())
    };
    let mut lines = CaseLines { out, paper: PAPER, experiment, case: "all h".into() };
    let of_velocity = order(&|run| run.velocity_error(exact, Components::All));
    lines.add("order of the velocity error", of_velocity, Some(1.0)).meant(PublishedSense::About);
    let of_position = order(&|run| run.position_error(exact, Components::All));
    lines.add("order of the position error", of_position, Some(1.0)).meant(PublishedSense::About);

    let mut lines = CaseLines { out, paper: PAPER, experiment, case: format!("h = {}", exact.h) };
    for (place, [x, y]) in exact.last().chunks_exact(6).zip(PLACES) {
        lines.add(x, place[0], None);
        lines.add(y, place[1], None);
    }

    // other readings of the paper, excluded by its table
    let lighter = balls::run(9.81, Scheme::st00(), 400)?;
    let mut lines = CaseLines { out, paper: PAPER, experiment, case: format!("h = {}, g = 9.81", lighter.h) };
    lines.add("velocity variation [m/s, rad/s]", lighter.variation(), None);
    let iterated = balls::run(ST00_GRAVITY, Scheme::st00_nonlinear(), 50)?;
    let mut lines =
        CaseLines { out, paper: PAPER, experiment, case: format!("h = {}, nonlinear", iterated.h) };
    lines.add("velocity variation [m/s, rad/s]", iterated.variation(), None);
    let mut lines =
        CaseLines { out, paper: PAPER, experiment, case: format!("h = {}, Σ‖Δv‖∞", runs[0].h) };
    lines.add("velocity variation [m/s, rad/s]", runs[0].variation_in_norm(), None);

    out.figures.extend(pictures::balls(&runs));
    Ok(())
}
