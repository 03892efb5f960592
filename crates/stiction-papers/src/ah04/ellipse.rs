//! Elliptic body that falls on a table: AH04 §6, Figures 3 and 4.

use super::banded;
use super::record::{Ah04Run, carrying, largest, line, measured, run_curves};
use crate::GRAVITY;
use crate::{ExperimentError, Figure, FigureContent, Outline, PublishedSense, Reproduction, Snapshot};
use nalgebra::{Isometry2, Point2, Vector2};
use std::f64::consts::TAU;
use stiction::planar::{Attached, Body, Mass, Model, Twist, World};
use stiction::{FrictionPoint, Material, Scheme, State};
use stiction_geometry::planar::Shape;
use stiction_lcp::FrictionLaw;

/// Semi-axes [m]. The axes of 8 and 4 in the paper are read as full lengths: then the body ends up rocking, as in the
/// paper. Read as semi-axes it keeps tumbling.
pub const SEMI_AXES: [f64; 2] = [4.0, 2.0];

/// Step of the paper [s].
pub const ELLIPSE_STEP: f64 = 0.05;

/// Duration of the paper [s].
pub const ELLIPSE_TIME: f64 = 20.0;

/// Band ε̂ of the paper [m].
pub const ELLIPSE_BAND: f64 = 0.3;

/// Initial values that the paper does not give. The ellipse starts 8 m above the table with a spin of 3 rad/s.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ellipse {
    /// Angle [rad].
    pub angle: f64,
    /// Horizontal speed [m/s].
    pub speed: f64,
}

impl Ellipse {
    /// Model of ellipse and table.
    pub fn model(self) -> Result<Model, ExperimentError> {
        let mut world = World::new(Vector2::new(0.0, -GRAVITY));
        // the lever of the paper is that of the surface of the body, however far the table is
        world.friction_point = FrictionPoint::Surface;
        let material = Material { friction: 0.3, restitution: 0.0, ..Material::default() };
        world.add_body(Body::fixed("table").with(Attached::new(Shape::HalfPlane).material(material)));
        let body = Body::rigid("ellipse", Mass::Density(10.0))
            .at(Isometry2::new(Vector2::new(0.0, 8.0), self.angle))
            .moving(Twist::new(Vector2::new(self.speed, 0.0), 3.0))
            .with(Attached::new(Shape::Ellipse { semi_axes: SEMI_AXES }).material(material));
        world.add_body(body);
        Ok(world.build()?)
    }

    /// Drops the ellipse and runs with steps `h` for `time` [s].
    pub fn run(self, scheme: Scheme, h: f64, time: f64) -> Result<Ah04Run, ExperimentError> {
        let model = self.model()?;
        let state = model.state();
        Ok(Ah04Run::watched(model, state, scheme, h, time, |_, _| ())?)
    }

    /// Largest gap at the end of a step in which the contact carried an impulse [m]: height at which the body hovers.
    pub fn float(self, scheme: Scheme, h: f64, time: f64) -> Result<f64, ExperimentError> {
        let model = self.model()?;
        let state = model.state();
        let mut float: f64 = 0.0;
        Ah04Run::watched(model, state, scheme, h, time, |simulation, report| {
            float = carrying(simulation, report).iter().map(|row| row.gap).fold(float, f64::max);
        })?;
        Ok(float)
    }
}

/// Largest I(q⁺)/(h ω⁺)² of a run [m]: the constant of AH04 Theorem 4.1, here at most half the largest |Φ''|, which
/// is (a² − b²)/2b.
pub fn constant(run: &Ah04Run) -> f64 {
    let ratio = |(state, &i): (&State, &f64)| {
        // below this I is round-off of positions
        if i > 1e-12 { i / (state.v[2] * run.h).powi(2) } else { 0.0 }
    };
    run.states.iter().zip(&run.infeasibility).map(ratio).fold(0.0, f64::max)
}

/// Largest and mean I(q) of the last 2 s of one run, relative to another.
pub fn ratios(run: &Ah04Run, other: &Ah04Run) -> [f64; 2] {
    let late = ELLIPSE_TIME - 2.0;
    [run.largest_after(late) / other.largest_after(late), run.mean_after(late) / other.mean_after(late)]
}

/// Figures 3 and 4, and the results of other active sets and stabilizations.
pub(super) fn reproduce(out: &mut Reproduction) -> Result<(), ExperimentError> {
    const NAME: &str = "Figs. 3–4, ellipse";
    let start = Ellipse::default();
    let convex = |scheme| Scheme { friction: FrictionLaw::Convex, ..scheme };
    let cases = [
        ("stabilized, ε̂ = 0.3", banded(ELLIPSE_BAND, Scheme::ah04())),
        ("unstabilized, ε̂ = 0.3", banded(ELLIPSE_BAND, Scheme::ap97())),
        ("stabilized, own active set", Scheme::ah04()),
        ("stabilized, ε̂ = 0.3, convex relaxation", convex(banded(ELLIPSE_BAND, Scheme::ah04()))),
        ("post-stabilized once, ε̂ = 0.3", banded(ELLIPSE_BAND, Scheme::ap97()).post_stabilized(1)),
        ("post-stabilized twice, ε̂ = 0.3", banded(ELLIPSE_BAND, Scheme::ap97()).post_stabilized(2)),
    ];
    let mut runs = Vec::new();
    for (case, scheme) in cases {
        let run = start.run(scheme, ELLIPSE_STEP, ELLIPSE_TIME)?;
        measured(out, NAME, case, quantities(&run));
        if scheme.passes > 0 {
            measured(out, NAME, case, before(&run));
        }
        runs.push((case, run));
    }
    let [(_, stabilized), (_, unstabilized), ..] = &runs[..] else { return Ok(()) };
    let case = "unstabilized over stabilized, ε̂ = 0.3";
    let [most, mean] = ratios(unstabilized, stabilized);
    line(out, NAME, case, "largest I of the last 2 s", most, Some(100.0)).meant(PublishedSense::AtLeast);
    line(out, NAME, case, "mean I of the last 2 s", mean, Some(100.0)).meant(PublishedSense::AtLeast);
    line(out, NAME, "stabilized, ε̂ = 0.3", "problems per step", stabilized.problems as f64, Some(1.0));

    // the ratio depends on the phase of the rocking
    for angle in [0.5, 1.0, 1.5, 2.0, 2.5, 3.0] {
        let start = Ellipse { angle, ..start };
        let [stabilized, unstabilized] = [Scheme::ah04(), Scheme::ap97()].map(|s| banded(ELLIPSE_BAND, s));
        let [most, mean] = ratios(
            &start.run(unstabilized, ELLIPSE_STEP, ELLIPSE_TIME)?,
            &start.run(stabilized, ELLIPSE_STEP, ELLIPSE_TIME)?,
        );
        let case = format!("unstabilized over stabilized, ε̂ = 0.3, from {angle} rad");
        let quantities = [("largest I of the last 2 s", most), ("mean I of the last 2 s", mean)];
        measured(out, NAME, &case, quantities);
    }

    // the error of the relaxation; a missed impact would hide it
    let sliding = Ellipse { speed: 10.0, ..start };
    for (case, scheme) in [("Coulomb's law", Scheme::ah04()), ("convex relaxation", convex(Scheme::ah04()))] {
        let case = format!("from 10 m/s, own active set, {case}");
        let float = sliding.float(scheme, ELLIPSE_STEP, ELLIPSE_TIME)?;
        measured(out, NAME, &case, [("largest gap of a contact that carries [m]", float)]);
    }

    // the fall, the impact, the hop and the rocking
    let times = [0, 8, 16, 22, 30, 46, 60, 74, 88, 400];
    let frames = times.iter().filter_map(|&l| stabilized.states.get(l)).map(frame).collect();
    out.figures.push(Figure {
        name: "ah04-ellipse-frames".into(),
        title: "AH04 Fig. 3: ellipse on a table, stabilized".into(),
        content: FigureContent::Snapshots(frames),
    });
    let titles = [
        "AH04 Fig. 4: infeasibility of an ellipse on a table, h = 0.05 s",
        "AH04: speed of an ellipse on a table, h = 0.05 s",
    ];
    run_curves(out, "ah04-ellipse", titles, &runs);
    Ok(())
}

fn quantities(run: &Ah04Run) -> impl IntoIterator<Item = (&'static str, f64)> {
    [
        ("I after 22 steps [m]", run.infeasibility[22]),
        ("largest I [m]", run.largest_after(0.0)),
        ("largest I after 3 s [m]", run.largest_after(3.0)),
        ("mean I after 3 s [m]", run.mean_after(3.0)),
        ("largest I of the last 2 s [m]", run.largest_after(ELLIPSE_TIME - 2.0)),
        ("I at the end [m]", run.last()),
    ]
}

fn before(run: &Ah04Run) -> impl IntoIterator<Item = (&'static str, f64)> {
    let late = run.after(&run.before, ELLIPSE_TIME - 2.0);
    [
        ("largest I before post-stabilization [m]", largest(run.after(&run.before, 0.0))),
        ("largest I before post-stabilization of the last 2 s [m]", largest(late)),
    ]
}

fn frame(state: &State) -> Snapshot {
    let pose = Isometry2::new(Vector2::new(state.q[0], state.q[1]), state.q[2]);
    let point = |k: i32| {
        let (sin, cos) = (TAU * f64::from(k) / 64.0).sin_cos();
        let p = pose * Point2::new(SEMI_AXES[0] * cos, SEMI_AXES[1] * sin);
        [p.x, p.y]
    };
    let table = Outline { closed: false, points: vec![[-8.0, 0.0], [8.0, 0.0]] };
    let ellipse = Outline { closed: true, points: (0..64).map(point).collect() };
    Snapshot { t: state.t, outlines: vec![table, ellipse], colours: Vec::new() }
}
