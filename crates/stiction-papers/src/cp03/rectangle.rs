//! Rectangle pushed around in a room: penetration of its corners. CP03 §VI-B, Figs. 8–9
//!
//! In the paper a user pushed it with the mouse, without a record; here the force is a formula of time. The errors are
//! those of impacts from outside a band of 1 mm, v h − 1 mm: a corner on a flat wall cannot drift into it, since its gap
//! is convex along a step.

use super::{Cp03Run, banded, block, error_axis, errors_figure, frame, line, room, room_outline};
use crate::{ExperimentError, Figure, FigureContent, Reproduction};
use nalgebra::Vector2;
use stiction::planar::{Attached, Body, BodyId, Force, Mass, Model, World, Wrench};
use stiction::{FrictionPoint, Material, Mistakes, Scheme};

pub(super) const NAME: &str = "pushed rectangle";

/// Half the width and height of the room [m].
const ROOM: [f64; 2] = [0.3, 0.2];

/// Half the width and height of the rectangle [m].
const RECTANGLE_HALF_SIZES: [f64; 2] = [0.05, 0.03];

/// Contact tolerance of the paper, used as the band of the active set [m].
pub const BAND: f64 = 1e-3;

/// Step sizes [s], and the number of steps in 10 s.
pub const RECTANGLE_RUNS: [(f64, usize); 2] = [(1e-3, 10_000), (5e-3, 2_000)];

/// Model of the rectangle of 1 kg, at rest in the middle of the room, and of the force.
pub fn model() -> Result<(Model, BodyId), Mistakes> {
    let material = Material { friction: 0.3, restitution: 0.0, ..Material::default() };
    let mut world = World::new(Vector2::new(0.0, -9.81));
    // at the corners even inside the band, as the contact points of the paper
    world.friction_point = FrictionPoint::Surface;
    world.add_body(room(ROOM, material));
    let inertia = (RECTANGLE_HALF_SIZES[0].powi(2) + RECTANGLE_HALF_SIZES[1].powi(2)) / 3.0;
    let shape = Attached::new(block("rectangle", RECTANGLE_HALF_SIZES)?).material(material);
    let id = world.add_body(Body::rigid("rectangle", Mass::given(1.0, inertia)).with(shape));
    world.add_force(Force::timed(id, |t| Wrench {
        force: 25.0 * Vector2::new((1.3 * t).cos(), (2.1 * t).sin()),
        torque: 0.6 * (1.7 * t).sin(),
    }));
    Ok((world.build()?, id))
}

/// Runs the pushed rectangle for a number of steps.
pub fn run(scheme: &Scheme, h: f64, steps: usize) -> Result<Cp03Run, ExperimentError> {
    Cp03Run::of(model()?.0, scheme, h, steps, 250)
}

/// Cases: name and scheme.
pub fn cases(h: f64) -> Vec<(&'static str, Scheme)> {
    let band = |scheme| banded(scheme, BAND);
    let post = |passes| Scheme::ap97().post_stabilized(passes);
    vec![
        ("none, 1 mm band", band(Scheme::ap97())),
        ("Baumgarte, α = 50/s, 1 mm band", band(Scheme::baumgarte(50.0))),
        ("Baumgarte, α = 200/s, 1 mm band", band(Scheme::baumgarte(200.0))),
        ("AH04, 1 mm band", band(Scheme::ah04())),
        ("AH04, 10 h band", banded(Scheme::ah04(), 10.0 * h)),
        ("AH04, own active set", Scheme::ah04()),
        ("one pass of post-stabilization, 1 mm band", band(post(1))),
        ("two passes of post-stabilization, 1 mm band", band(post(2))),
        ("six passes of post-stabilization, 1 mm band", band(post(6))),
        ("six passes of post-stabilization, own active set", post(6)),
        ("AH04 and six passes of post-stabilization, own active set", Scheme::first_order()),
    ]
}

/// Measurements and figures for h = 0.001 s and 0.005 s.
pub fn reproduce() -> Result<Reproduction, ExperimentError> {
    let mut all = Reproduction::default();
    for (h, steps) in RECTANGLE_RUNS {
        let mut shown: Vec<(&str, Cp03Run)> = Vec::new();
        for (name, scheme) in cases(h) {
            let run = run(&scheme, h, steps)?;
            let case = format!("h = {h}, {name}");
            if scheme.passes > 0 {
                // "the constraint errors are eliminated completely"
                let none = (h == 1e-3 && scheme.passes == 1).then_some(0.0);
                let before = run.most_before();
                let after = run.most_after();
                all.lines.push(line(NAME, &case, "largest penetration before [mm]", before, None));
                all.lines.push(line(NAME, &case, "largest penetration after [mm]", after, none));
                all.lines.push(line(NAME, &case, "most passes in a step", run.most_passes() as f64, None));
            } else {
                all.lines.push(line(NAME, &case, "largest penetration [mm]", run.most_after(), None));
            }
            all.lines.extend(run.cost_lines(NAME, &case));
            shown.push((name, run));
        }
        all.figures.extend(figures(h, &shown)?);
    }
    Ok(all)
}

fn figures(h: f64, runs: &[(&str, Cp03Run)]) -> Result<Vec<Figure>, ExperimentError> {
    let find = |name: &str| runs.iter().find(|r| r.0.starts_with(name)).map(|r| &r.1);
    let (Some(none), Some(post)) = (find("none"), find("six passes of post-stabilization, 1 mm")) else {
        return Ok(Vec::new());
    };
    let (model, id) = model()?;
    let around = [room_outline(ROOM)];
    let frames = post.states.iter().map(|s| frame(&model, s, &[id], &around)).collect();
    let curves = |what: &str, words: &str, errors: &[(&str, &[f64])]| {
        let title = format!("Pushed rectangle, h = {h} s: {words}");
        errors_figure(format!("rectangle-{}ms-{what}", 1e3 * h), title, h, error_axis(false), errors)
    };
    Ok(vec![
        // Fig. 8
        curves("none", "penetration without stabilization", &[("none", &none.after)]),
        curves(
            "post",
            "penetration with post-stabilization",
            &[("before", &post.before), ("after", &post.after)],
        ),
        // Fig. 9
        Figure {
            name: format!("rectangle-{}ms-frames", 1e3 * h),
            title: format!("Pushed rectangle, h = {h} s: with post-stabilization"),
            content: FigureContent::Snapshots(frames),
        },
    ])
}
