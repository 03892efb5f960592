//! Five bodies pushed into the corners of a room: penetration of many simultaneous contacts. CP03 §VI-B, Fig. 10
//!
//! The paper shows two pictures of such a scene and says that post-stabilization scales well to it. Here the push
//! is a table, so that every run is the same.

use super::{Cp03Run, banded, block, error_axis, errors_figure, frame, line, polygon, room, room_outline};
use crate::{ExperimentError, Figure, FigureContent, Reproduction};
use nalgebra::{Isometry2, Vector2};
use stiction::planar::{Attached, Body, BodyId, Force, Mass, Model, World, Wrench};
use stiction::{Material, Mistakes, Scheme};
use stiction_geometry::planar::Shape;

pub(super) const NAME: &str = "five bodies in a room";

/// Half the width and height of the room [m].
const ROOM: [f64; 2] = [0.3, 0.2];

/// Step size [s].
pub const H: f64 = 1e-3;

/// Number of steps in 10 s.
pub const FIVE_STEPS: usize = 10_000;

/// Contact tolerance of the paper, used as the band of the active set [m].
pub const BAND: f64 = 1e-3;

/// Maximum passes of post-stabilization.
pub const PASSES: usize = 6;

/// Time between two rows of the table [s].
const BEAT: f64 = 0.5;

/// Pushing forces along x and y on each of the five bodies [N], every half second, linear in between: into the right
/// lower corner, up and over to the left, into the left lower corner, and back.
const PUSH: [[[f64; 2]; 5]; 21] = [
    [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]],
    [[30.0, -5.0], [25.0, 0.0], [20.0, 5.0], [15.0, -10.0], [25.0, -5.0]],
    [[35.0, -10.0], [30.0, -5.0], [25.0, -15.0], [30.0, -20.0], [20.0, 0.0]],
    [[25.0, -20.0], [30.0, -20.0], [30.0, -10.0], [25.0, -15.0], [30.0, -25.0]],
    [[10.0, 25.0], [20.0, -10.0], [15.0, 20.0], [-10.0, 30.0], [5.0, 15.0]],
    [[-15.0, 35.0], [-10.0, 30.0], [-20.0, 30.0], [-25.0, 25.0], [-10.0, 35.0]],
    [[-35.0, 20.0], [-30.0, 25.0], [-30.0, 15.0], [-35.0, 10.0], [-25.0, 25.0]],
    [[-30.0, 5.0], [-35.0, 10.0], [-25.0, 0.0], [-20.0, -5.0], [-30.0, 10.0]],
    [[-25.0, -15.0], [-30.0, -10.0], [-30.0, -20.0], [-25.0, -10.0], [-35.0, -15.0]],
    [[-30.0, -25.0], [-25.0, -20.0], [-35.0, -15.0], [-30.0, -20.0], [-25.0, -25.0]],
    [[-20.0, -10.0], [-30.0, -15.0], [-25.0, -20.0], [-35.0, -5.0], [-30.0, -20.0]],
    [[15.0, 20.0], [-10.0, -10.0], [20.0, 15.0], [10.0, 25.0], [-5.0, 10.0]],
    [[30.0, 25.0], [20.0, 20.0], [35.0, 20.0], [25.0, 30.0], [15.0, 25.0]],
    [[35.0, 5.0], [30.0, 15.0], [30.0, 0.0], [35.0, 10.0], [30.0, 20.0]],
    [[25.0, -20.0], [35.0, -5.0], [20.0, -25.0], [30.0, -10.0], [35.0, 0.0]],
    [[30.0, -30.0], [25.0, -25.0], [30.0, -20.0], [35.0, -25.0], [25.0, -20.0]],
    [[-20.0, -10.0], [25.0, -30.0], [-15.0, 10.0], [30.0, -20.0], [-10.0, 20.0]],
    [[-35.0, 10.0], [-20.0, 20.0], [-30.0, 15.0], [-15.0, 30.0], [-25.0, 5.0]],
    [[20.0, -15.0], [-10.0, 10.0], [25.0, -20.0], [15.0, 0.0], [10.0, -25.0]],
    [[35.0, -25.0], [30.0, -20.0], [30.0, -25.0], [35.0, -15.0], [30.0, -20.0]],
    [[30.0, -20.0], [30.0, -20.0], [30.0, -20.0], [30.0, -20.0], [30.0, -20.0]],
];

/// Force of the table on a body at a time [N].
fn push(body: usize, t: f64) -> Vector2<f64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "t is from 0 to 10 s")]
    let row = ((t / BEAT) as usize).min(PUSH.len() - 2);
    let part = (t / BEAT - row as f64).min(1.0);
    let [from, to] = [PUSH[row][body], PUSH[row + 1][body]].map(Vector2::from);
    from.lerp(&to, part)
}

/// Two boxes, a triangle, a hexagon and a disk, about 1 kg each, above the floor of the room.
pub fn model() -> Result<(Model, Vec<BodyId>), Mistakes> {
    let material = Material { friction: 0.3, restitution: 0.0, ..Material::default() };
    let triangle = polygon("triangle", &[[-0.06, -0.035], [0.06, -0.035], [0.0, 0.07]])?;
    let hexagon = polygon(
        "hexagon",
        &[[0.05, 0.0], [0.025, 0.043], [-0.025, 0.043], [-0.05, 0.0], [-0.025, -0.043], [0.025, -0.043]],
    )?;
    let bodies = [
        ("long box", block("long box", [0.05, 0.03])?, [-0.2, -0.1], 0.1),
        ("square box", block("square box", [0.04, 0.04])?, [-0.08, 0.0], 0.6),
        ("triangle", triangle, [0.06, -0.1], -0.2),
        ("hexagon", hexagon, [0.2, -0.05], 0.3),
        ("disk", Shape::Disk { radius: 0.045 }, [0.0, 0.13], 0.0),
    ];
    let mut world = World::new(Vector2::new(0.0, -9.81));
    world.add_body(room(ROOM, material));
    let mut ids = Vec::new();
    for (i, (name, shape, [x, y], angle)) in bodies.into_iter().enumerate() {
        let body = Body::rigid(name, Mass::Density(160.0))
            .at(Isometry2::new(Vector2::new(x, y), angle))
            .with(Attached::new(shape).material(material));
        let id = world.add_body(body);
        world.add_force(Force::timed(id, move |t| Wrench { force: push(i, t), torque: 0.0 }));
        ids.push(id);
    }
    Ok((world.build()?, ids))
}

/// Runs the five bodies for a number of steps.
pub fn run(scheme: &Scheme, steps: usize) -> Result<Cp03Run, ExperimentError> {
    Cp03Run::of(model()?.0, scheme, H, steps, 500)
}

/// Cases: name and scheme.
pub fn cases() -> [(&'static str, Scheme); 5] {
    let post = |passes| Scheme::ap97().post_stabilized(passes);
    [
        ("none, 1 mm band", banded(Scheme::ap97(), BAND)),
        ("AH04, 1 mm band", banded(Scheme::ah04(), BAND)),
        ("one pass of post-stabilization, 1 mm band", banded(post(1), BAND)),
        ("six passes of post-stabilization, 1 mm band", banded(post(PASSES), BAND)),
        ("AH04 and six passes of post-stabilization, own active set", Scheme::first_order()),
    ]
}

/// Measurements and figures.
pub fn reproduce() -> Result<Reproduction, ExperimentError> {
    let mut all = Reproduction::default();
    let (model, ids) = model()?;
    let around = [room_outline(ROOM)];
    for (case, scheme) in cases() {
        let run = run(&scheme, FIVE_STEPS)?;
        let mut add = |quantity: &'static str, value: f64| {
            all.lines.push(line(NAME, case, quantity, value, None));
        };
        if scheme.passes > 0 {
            add("largest penetration before [mm]", run.most_before());
            add("largest penetration after [mm]", run.most_after());
            add("most passes in a step", run.most_passes() as f64);
            add("passes in all", run.passes.iter().sum::<usize>() as f64);
        } else {
            add("largest penetration [mm]", run.most_after());
        }
        all.lines.extend(run.cost_lines(NAME, case));
        if scheme == banded(Scheme::ap97().post_stabilized(PASSES), BAND) {
            let errors: [(&str, &[f64]); 2] = [("before", &run.before), ("after", &run.after)];
            let title = "Five bodies in a room: penetration with post-stabilization".into();
            all.figures.push(errors_figure("five-post".into(), title, H, error_axis(false), &errors));
            all.figures.push(Figure {
                name: "five-frames".into(),
                title: "Five bodies in a room: with post-stabilization".into(),
                content: FigureContent::Snapshots(
                    run.states.iter().map(|s| frame(&model, s, &ids, &around)).collect(),
                ),
            });
        }
    }
    Ok(all)
}
