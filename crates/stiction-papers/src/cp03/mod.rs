//! CP03: post-stabilization beside Baumgarte's and AH04's stabilization. Lengths are in mm, as in the paper.
//!
//! The figures of the paper are images and its scenes are described by a few words, so only the numbers of its text count
//! as published. Several of them are bounds ("never exceeding 3 mm").

pub mod chain;
pub mod five;
pub mod plank;
pub mod rectangle;

use super::{
    Axis, Curve, ExperimentError, Figure, FigureContent, Measurement, Outline, Reproduction, Snapshot,
    invalid_shape,
};
use nalgebra::{Isometry2, Point2, UnitComplex, Vector2};
use std::f64::consts::TAU;
use std::time::Instant;
use stiction::planar::{Attached, Body, BodyId, Model};
use stiction::{Active, Material, Mistakes, Scheme, Simulation, State, StepReport};
use stiction_geometry::planar::{Polygon, Shape};

/// Millimetres in a metre.
const MM: f64 = 1e3;

/// Measurements and figures of the paper.
pub fn reproduce() -> Result<Reproduction, ExperimentError> {
    let mut all = Reproduction::default();
    for part in [chain::reproduce, rectangle::reproduce, plank::reproduce, five::reproduce] {
        let Reproduction { lines, figures } = part()?;
        all.lines.extend(lines);
        all.figures.extend(figures);
    }
    Ok(all)
}

/// Time of a step with each stabilization [µs], the mean over a number of steps. Differs between machines and runs, so it is not part of [`reproduce`].
pub fn cost(steps: usize) -> Result<Vec<Measurement>, ExperimentError> {
    let mut lines = Vec::new();
    let mut add =
        |experiment: &'static str, name: &str, run: &dyn Fn() -> Result<Cp03Run, ExperimentError>| {
            // the least of a few, since other processes only add to it
            let mut best = f64::INFINITY;
            for _ in 0..5 {
                let start = Instant::now();
                run()?;
                best = best.min(start.elapsed().as_secs_f64());
            }
            let value = 1e6 * best / steps as f64;
            lines.push(line(experiment, name, "time of a step [µs]", value, None));
            Ok::<(), ExperimentError>(())
        };
    for (name, scheme) in stabilizations() {
        add(chain::NAME, name, &|| chain::run(&chain::SI, &scheme, chain::H, steps))?;
    }
    for (name, scheme) in stabilizations() {
        add(rectangle::NAME, name, &|| rectangle::run(&banded(scheme, rectangle::BAND), 1e-3, steps))?;
    }
    for (name, scheme) in stabilizations() {
        add(plank::NAME, name, &|| plank::run(&scheme, 1e-3, steps))?;
    }
    for (name, scheme) in five::cases() {
        add(five::NAME, name, &|| five::run(&scheme, steps))?;
    }
    Ok(lines)
}

/// Stabilizations to compare: name and scheme.
pub fn stabilizations() -> [(&'static str, Scheme); 6] {
    [
        ("none", Scheme::ap97()),
        ("Baumgarte, α = 50/s", Scheme::baumgarte(50.0)),
        ("Baumgarte, α = 200/s", Scheme::baumgarte(200.0)),
        ("Baumgarte, α = 2000/s", Scheme::baumgarte(2000.0)),
        ("AH04", Scheme::ah04()),
        ("post-stabilization", Scheme::ap97().post_stabilized(1)),
    ]
}

/// Scheme with the active set of the papers: all contacts with a gap of at most `band` [m].
pub fn banded(scheme: Scheme, band: f64) -> Scheme {
    Scheme { active: Active::Band(band), ..scheme }
}

/// Errors of a run after each step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cp03Run {
    /// Step size [s].
    pub h: f64,
    /// I(q) at the end of each step [mm], before post-stabilization if there is any.
    pub before: Vec<f64>,
    /// I(q) at the end of each step [mm].
    pub after: Vec<f64>,
    /// States at the start and after every `keep` steps.
    pub states: Vec<State>,
    /// Passes of post-stabilization in each step.
    pub passes: Vec<usize>,
    /// Complementarity problems solved.
    pub problems: usize,
    /// Pivots of these problems.
    pub pivots: usize,
    /// Steps in which the linearized constraints of a pass could not all be met.
    pub infeasible: usize,
}

impl Cp03Run {
    /// Runs `model` for a number of steps and keeps the state every `keep` steps.
    pub fn of(
        model: Model,
        scheme: &Scheme,
        h: f64,
        steps: usize,
        keep: usize,
    ) -> Result<Self, ExperimentError> {
        let state = model.state();
        let mut run = Self { h, states: vec![state.clone()], ..Self::default() };
        let mut simulation = Simulation::from_state(model, state).with_scheme(*scheme);
        for step in 1..=steps {
            let report = simulation.step(h)?;
            run.note(&report);
            if step % keep == 0 {
                run.states.push(simulation.state().clone());
            }
        }
        Ok(run)
    }

    fn note(&mut self, report: &StepReport) {
        let post = report.stabilization.as_ref();
        self.before.push(MM * post.map_or(report.infeasibility, |p| p.before));
        self.after.push(MM * report.infeasibility);
        self.passes.push(post.map_or(0, |p| p.passes));
        self.problems += report.work.problems;
        self.pivots += report.work.pivots;
        self.infeasible += usize::from(post.is_some_and(|p| p.infeasible.is_some()));
    }

    /// Largest error before post-stabilization [mm].
    pub fn most_before(&self) -> f64 {
        most(&self.before)
    }

    /// Largest error at the end of a step [mm].
    pub fn most_after(&self) -> f64 {
        most(&self.after)
    }

    /// Error at the end [mm].
    pub fn last(&self) -> f64 {
        self.after.last().copied().unwrap_or(0.0)
    }

    /// Most passes of post-stabilization in a step.
    pub fn most_passes(&self) -> usize {
        self.passes.iter().copied().max().unwrap_or(0)
    }

    /// Counts per step, which do not depend on the machine. Joints alone take no pivots.
    fn cost_lines(&self, experiment: &'static str, case: &str) -> impl Iterator<Item = Measurement> {
        let per_step = |total: usize| total as f64 / self.after.len().max(1) as f64;
        let pivots = (self.pivots > 0).then(|| ("pivots per step", per_step(self.pivots)));
        let problems = ("complementarity problems per step", per_step(self.problems));
        let lines = [Some(problems), pivots].into_iter().flatten();
        lines.map(move |(quantity, value)| line(experiment, case, quantity, value, None))
    }
}

fn most(errors: &[f64]) -> f64 {
    // NaN must not count as a small error
    errors.iter().fold(0.0, |m, &e| if e.is_nan() { f64::INFINITY } else { e.max(m) })
}

fn line(
    experiment: &'static str,
    case: impl Into<String>,
    quantity: &'static str,
    value: f64,
    published: Option<f64>,
) -> Measurement {
    Measurement::new("CP03", experiment, case.into(), quantity, value, published)
}

/// Maximum number of points of a curve: more than a picture can show.
const POINTS: usize = 1000;

/// Errors over time, each point the largest of a few steps; without zeros on a logarithmic axis.
fn curve(label: &str, h: f64, errors: &[f64], axis: &Axis) -> Curve {
    let window = errors.len().div_ceil(POINTS).max(1);
    let point = |(i, chunk): (usize, &[f64])| [h * (i * window + chunk.len()) as f64, most(chunk)];
    let shown = |p: &[f64; 2]| !axis.logarithmic || p[1] > 0.0;
    Curve {
        label: label.into(),
        points: errors.chunks(window).enumerate().map(point).filter(shown).collect(),
    }
}

/// Figure of errors over time.
fn errors_figure(name: String, title: String, h: f64, axis: Axis, errors: &[(&str, &[f64])]) -> Figure {
    let curves = errors.iter().map(|(label, errors)| curve(label, h, errors, &axis)).collect();
    Figure { name, title, content: FigureContent::Curves { axes: [Axis::linear("time [s]"), axis], curves } }
}

/// Axis of errors [mm].
fn error_axis(logarithmic: bool) -> Axis {
    let label = "largest error [mm]";
    if logarithmic { Axis::logarithmic(label) } else { Axis::linear(label) }
}

/// Convex polygon with these vertices [m].
fn polygon(name: &str, vertices: &[[f64; 2]]) -> Result<Shape, Mistakes> {
    let vertices: Vec<Point2<f64>> = vertices.iter().map(|&v| Point2::from(v)).collect();
    Polygon::new(&vertices).map(Shape::Polygon).map_err(|error| invalid_shape(name, &error))
}

/// Rectangle with these half extents [m].
fn block(name: &str, half: [f64; 2]) -> Result<Shape, Mistakes> {
    Polygon::rectangle(half).map(Shape::Polygon).map_err(|error| invalid_shape(name, &error))
}

/// Four walls about the origin at these distances [m].
fn room([x, y]: [f64; 2], material: Material) -> Body {
    // floor, right, ceiling, left: a quarter turn each, with exact directions
    let walls = [(0.0, -y, [1.0, 0.0]), (x, 0.0, [0.0, 1.0]), (0.0, y, [-1.0, 0.0]), (-x, 0.0, [0.0, -1.0])];
    walls.into_iter().fold(Body::fixed("room"), |body, (x, y, [cos, sin])| {
        let turn = UnitComplex::from_cos_sin_unchecked(cos, sin);
        let pose = Isometry2::from_parts(Vector2::new(x, y).into(), turn);
        body.with(Attached::new(Shape::HalfPlane).at(pose).material(material))
    })
}

/// Outline of the walls of a room.
fn room_outline([x, y]: [f64; 2]) -> Outline {
    Outline { closed: true, points: vec![[-x, -y], [x, -y], [x, y], [-x, y]] }
}

/// Snapshot of the bodies in a state and of the fixed outlines around them.
fn frame(model: &Model, state: &State, bodies: &[BodyId], around: &[Outline]) -> Snapshot {
    let mut outlines = around.to_vec();
    for &id in bodies {
        let Some(pose) = model.pose(state, id) else { continue };
        for (_, attached) in model.world().shapes(id) {
            outlines.extend(outline(&(pose * attached.pose), &attached.shape));
        }
    }
    Snapshot { t: state.t, outlines, colours: Vec::new() }
}

/// Outline of a polygon or a disk; a spoke shows the rotation of a disk.
fn outline(pose: &Isometry2<f64>, shape: &Shape) -> Vec<Outline> {
    let placed = |x: f64, y: f64| -> [f64; 2] { (pose * Point2::new(x, y)).coords.into() };
    match shape {
        Shape::Polygon(polygon) => {
            let points = polygon.vertices().iter().map(|v| placed(v.x, v.y)).collect();
            vec![Outline { closed: true, points }]
        }
        Shape::Disk { radius } => {
            let rim = |i: u32| {
                let (sin, cos) = (TAU * f64::from(i) / 48.0).sin_cos();
                placed(radius * cos, radius * sin)
            };
            let spoke = Outline { closed: false, points: vec![placed(0.0, 0.0), placed(*radius, 0.0)] };
            vec![Outline { closed: true, points: (0..48).map(rim).collect() }, spoke]
        }
        Shape::Ellipse { .. } | Shape::Capsule { .. } | Shape::Rounded { .. } | Shape::HalfPlane => {
            Vec::new()
        }
    }
}
