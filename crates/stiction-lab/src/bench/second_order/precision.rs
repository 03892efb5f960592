//! Time to reach a given error, by schemes with fixed steps and by runs to an accuracy.

use super::scenes::bars;
use super::{TimedScheme, unlocated};
use nalgebra::{Isometry2, Point2, Vector2};
use serde::Serialize;
use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt::Write;
use std::time::Instant;
use stiction::planar::{Attached, Body, BodyId, Joint, Model, Shape, World};
use stiction::{Accuracy, AccurateMethod, Material, Scheme, Simulation, State, StepReport};
use stiction_papers::ExperimentError;

const WALL: &str = "double pendulum with a wall";
const FREE: &str = "free double pendulum";

/// Time and step of a scheme that reaches an error.
#[derive(Serialize)]
pub(super) struct Precision {
    problem: &'static str,
    scheme: &'static str,
    /// Target error [m].
    tolerance: f64,
    /// Step that reaches it [s].
    h: f64,
    /// Error with this step [m].
    error: f64,
    /// Time of the run per simulated second [s].
    seconds: f64,
    /// Time relative to the first scheme of the problem.
    ratio: f64,
    /// Smallest step that was tried and its error, if that exceeds the target: the result is then extrapolated by the
    /// order of the scheme.
    extrapolated: Option<[f64; 2]>,
}

/// Scheme, its order, and the first step to try [s].
struct Contender {
    scheme: TimedScheme,
    order: i32,
    h: f64,
}

/// Bobs of 1 kg on strings of 1 m, at 60° and 36°, that hit a wall with a restitution of 0.1. PAGT06 Table 10.1
pub(super) fn with_a_wall(patience: f64) -> Result<Vec<Precision>, ExperimentError> {
    const WALL_TIME: f64 = 2.5;
    // from the equations of the two angles with located impacts, by an eighth-order method at a tolerance of 1e-13
    const END: [[f64; 2]; 2] =
        [[0.021_962_117_695, -0.999_758_803_605], [0.023_769_486_774, -1.999_757_170_312]];
    let contenders = [
        Contender { scheme: ("PAGT06", Scheme::pagt06), order: 2, h: 2f64.powi(-5) },
        Contender { scheme: ("AH04", Scheme::ah04), order: 1, h: 2f64.powi(-10) },
    ];
    let (model, bobs) = wall_pendulum()?;
    let error = |state: &State| {
        let apart = |(bob, end): (&BodyId, [f64; 2])| {
            model.centre(state, *bob).map_or(f64::NAN, |c| (c - Point2::from(end)).norm_squared())
        };
        bobs.iter().zip(END).map(apart).sum::<f64>().sqrt()
    };
    let problem =
        PrecisionProblem { name: WALL, model: &model, time: WALL_TIME, tolerance: 1e-6, error: &error };
    let mut all = problem.compare(&contenders, patience)?;
    let first = all.first().map_or(f64::NAN, |first| first.seconds);
    let five = ("order five", AccurateMethod::DormandPrince);
    all.push(problem.run_to_accuracy(five, first)?);
    Ok(all)
}

/// Two bars of 0.5 m released from level: position of the second one after 1 s.
pub(super) fn free(patience: f64) -> Result<Vec<Precision>, ExperimentError> {
    const FREE_TIME: f64 = 1.0;
    let contenders = [Contender { scheme: ("PAGT06 unlocated", unlocated), order: 2, h: 2f64.powi(-10) }];
    let (model, last) = bars(2, 0.5)?;
    let end = bars_by_angles(FREE_TIME);
    let error = |state: &State| model.centre(state, last).map_or(f64::NAN, |c| (c - end).norm());
    let problem =
        PrecisionProblem { name: FREE, model: &model, time: FREE_TIME, tolerance: 1e-9, error: &error };
    let mut all = problem.compare(&contenders, patience)?;
    let first = all.first().map_or(f64::NAN, |first| first.seconds);
    let eight = ("order eight", AccurateMethod::DormandPrinceEight);
    for method in [("order five", AccurateMethod::DormandPrince), eight] {
        all.push(problem.run_to_accuracy(method, first)?);
    }
    Ok(all)
}

/// Motion whose exact end is known.
struct PrecisionProblem<'a> {
    name: &'static str,
    model: &'a Model,
    /// End of the motion [s].
    time: f64,
    /// Target error [m].
    tolerance: f64,
    /// Error of a state at the end [m].
    error: &'a dyn Fn(&State) -> f64,
}

impl PrecisionProblem<'_> {
    /// Halves the accuracy of a run until the error reaches the target. The step is the mean one; `first` is the time of
    /// the first scheme [s per s].
    fn run_to_accuracy(
        &self,
        (scheme, method): (&'static str, AccurateMethod),
        first: f64,
    ) -> Result<Precision, ExperimentError> {
        let Self { name: problem, model, time, tolerance, error } = *self;
        let run = |accuracy: f64| -> Result<(f64, f64, usize), ExperimentError> {
            let mut simulation = Simulation::new(model.clone()).with_scheme(Scheme::pagt06());
            let accuracy = Accuracy { method, ..Accuracy::of(accuracy) };
            let begun = Instant::now();
            let made = simulation.run_to_accuracy(time, &accuracy, &[], |_, _| ())?;
            Ok((error(simulation.state()), begun.elapsed().as_secs_f64(), made.report.steps))
        };
        let mut accuracy = 1e-4;
        while run(accuracy)?.0 > tolerance && accuracy > 1e-13 {
            accuracy *= 0.5;
        }
        let (error, mut seconds, steps) = run(accuracy)?;
        for _ in 0..9 {
            seconds = seconds.min(run(accuracy)?.1);
        }
        let (h, seconds) = (time / steps as f64, seconds / time);
        let ratio = seconds / first;
        Ok(Precision { problem, scheme, tolerance, h, error, seconds, ratio, extrapolated: None })
    }

    /// Halves the step of each contender until its error reaches the target or `patience` [s] is over.
    fn compare(&self, contenders: &[Contender], patience: f64) -> Result<Vec<Precision>, ExperimentError> {
        let mut all: Vec<Precision> = Vec::new();
        for contender in contenders {
            let mut found = self.precision(contender, patience)?;
            found.ratio = found.seconds / all.first().map_or(found.seconds, |first| first.seconds);
            all.push(found);
        }
        Ok(all)
    }

    /// Error and time [s] of a run with fixed steps.
    fn run_steps(&self, scheme: Scheme, h: f64) -> Result<(f64, f64), ExperimentError> {
        let mut simulation = Simulation::new(self.model.clone()).with_scheme(scheme);
        let mut report = StepReport::default();
        let steps = (self.time / h).round();
        let begun = Instant::now();
        let mut made = 0.0;
        while made < steps {
            simulation.step_into(h, &mut report)?;
            made += 1.0;
        }
        Ok(((self.error)(simulation.state()), begun.elapsed().as_secs_f64()))
    }

    /// Result of one contender; its ratio is not set.
    fn precision(&self, contender: &Contender, patience: f64) -> Result<Precision, ExperimentError> {
        let Self { name: problem, time, tolerance, .. } = *self;
        let Contender { scheme: (scheme, settings), order, h } = contender;
        let run = |h: f64| self.run_steps(settings(), h);
        let begun = Instant::now();
        let mut h = *h;
        // error over hᵖ of each run: the last few give the constant for the extrapolation
        let mut constants = Vec::new();
        let (error, seconds) = loop {
            let (error, seconds) = run(h)?;
            constants.push(error / h.powi(*order));
            if error <= tolerance || begun.elapsed().as_secs_f64() + 2.0 * seconds > patience {
                break (error, seconds);
            }
            h *= 0.5;
        };
        let per_second = seconds / time;
        let mut found = Precision {
            problem,
            scheme,
            tolerance,
            h,
            error,
            seconds: per_second,
            ratio: 1.0,
            extrapolated: None,
        };
        if error <= tolerance {
            found.seconds = run(h)?.1.min(run(h)?.1).min(seconds) / time;
        } else {
            let late = &constants[constants.len().saturating_sub(4)..];
            let constant = late.iter().map(|c| c.ln()).sum::<f64>() / late.len() as f64;
            found.extrapolated = Some([h, error]);
            found.h = (tolerance / constant.exp()).powf(1.0 / f64::from(*order));
            found.error = tolerance;
            found.seconds *= h / found.h;
        }
        Ok(found)
    }
}

fn wall_pendulum() -> Result<(Model, [BodyId; 2]), ExperimentError> {
    let material = Material { friction: 0.0, restitution: 0.1, ..Material::default() };
    let mut world = World::new(Vector2::new(0.0, -9.8));
    let wall = Attached::new(Shape::HalfPlane).material(material);
    let wall = world.add_body(Body::fixed("wall").at(Isometry2::rotation(-FRAC_PI_2)).with(wall));
    let bob = |world: &mut World, name: &str, at: Point2<f64>| {
        let shape = Attached::new(Shape::Disk { radius: 0.0 }).material(material);
        world.add_body(Body::point(name, 1.0).at(Isometry2::translation(at.x, at.y)).with(shape))
    };
    let down = |angle: f64| Vector2::new(angle.sin(), -angle.cos());
    let first = Point2::origin() + down(PI / 3.0);
    let second = first + down(PI / 5.0);
    let (a, b) = (bob(&mut world, "first", first), bob(&mut world, "second", second));
    let upper = Joint::distance("upper string", &world, (wall, Point2::origin()), (a, first));
    world.add_joint(upper.colliding());
    let lower = Joint::distance("lower string", &world, (a, first), (b, second));
    world.add_joint(lower);
    Ok((world.build()?, [a, b]))
}

/// Centre of the second bar of [`bars`] after a time [m]. From the equations of the two angles by the classical
/// fourth-order method with steps of 5e-5 s, where its error is round-off.
fn bars_by_angles(time: f64) -> Point2<f64> {
    const G: f64 = 9.81;
    const LENGTH: f64 = 0.5;
    let inertia = (LENGTH * LENGTH + 0.04 * 0.04) / 12.0;
    let square = LENGTH * LENGTH;
    let rate = |[a, b, u, w]: [f64; 4]| -> [f64; 4] {
        // ∑ m aₖᵀaₖ of the angles from below, with the coupling half a bar times a whole one
        let (sin, cos) = (a - b).sin_cos();
        let (m11, m12, m22) = (1.25 * square + inertia, 0.5 * square * cos, 0.25 * square + inertia);
        let r1 = -0.5 * square * sin * w * w - 1.5 * LENGTH * G * a.sin();
        let r2 = 0.5 * square * sin * u * u - 0.5 * LENGTH * G * b.sin();
        let determinant = m11 * m22 - m12 * m12;
        [u, w, (m22 * r1 - m12 * r2) / determinant, (m11 * r2 - m12 * r1) / determinant]
    };
    let steps = (time / 5e-5).round();
    let h = time / steps;
    let beyond = |y: [f64; 4], k: [f64; 4], h: f64| -> [f64; 4] { std::array::from_fn(|i| y[i] + h * k[i]) };
    let mut y = [FRAC_PI_2, FRAC_PI_2, 0.0, 0.0];
    let mut made = 0.0;
    while made < steps {
        let k1 = rate(y);
        let k2 = rate(beyond(y, k1, 0.5 * h));
        let k3 = rate(beyond(y, k2, 0.5 * h));
        let k4 = rate(beyond(y, k3, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        made += 1.0;
    }
    let [a, b, ..] = y;
    Point2::new(LENGTH * (a.sin() + 0.5 * b.sin()), -LENGTH * (a.cos() + 0.5 * b.cos()))
}

pub(super) fn table(all: &[Precision]) -> String {
    let mut text = String::new();
    if all.is_empty() {
        return text;
    }
    let _ = writeln!(text, "\nTime to an error of the position at the end\n");
    let _ = writeln!(
        text,
        "{:<28} {:<17} {:>10} {:>10} {:>10} {:>14} {:>9}",
        "problem", "scheme", "wanted [m]", "step [s]", "error [m]", "time [s per s]", "ratio"
    );
    for p in all {
        let _ = write!(
            text,
            "{:<28} {:<17} {:>10.0e} {:>10.2e} {:>10.2e} {:>14.3e} {:>9.3}",
            p.problem, p.scheme, p.tolerance, p.h, p.error, p.seconds, p.ratio
        );
        let _ = match p.extrapolated {
            Some([h, error]) => writeln!(text, "  extrapolated from {error:.1e} at h = {h:.1e}"),
            None => writeln!(text),
        };
    }
    text
}
