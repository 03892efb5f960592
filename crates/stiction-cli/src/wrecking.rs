//! Second part of `stiction demo`: simulation of a wrecking ball that hits a tower.

use crate::residual;
use crate::{BadInput, plot, write_file};
use nalgebra::{Isometry2, Point2, Vector2};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use stiction::planar::{Attached, Body, BodyId, Joint, Mass, Model, Polygon, Shape, World};
use stiction::{Material, Mistakes, Mode, Simulation, State, StepReport};
use stiction_papers::{Figure, FigureContent, Outline, Snapshot};
use stiction_view::{Tape, has_page};

const TITLE: &str = "A wrecking ball hits a tower";
/// Step and end of the run [s].
const BALL_STEP: f64 = 0.005;
const END: f64 = 4.0;
/// Upper end of the rope [m].
const HOOK: [f64; 2] = [-0.8, 4.2];
/// Initial centre of the ball and its radius [m].
const BALL: [f64; 2] = [-4.2, 3.6];
const RADIUS: f64 = 0.35;
/// Half the width and height of the boxes of the tower, from below [m].
const BOXES: [[f64; 2]; 6] = [[0.5, 0.2], [0.4, 0.25], [0.35, 0.2], [0.4, 0.15], [0.3, 0.3], [0.2, 0.2]];
/// Times of the snapshots [s].
const SNAPSHOT_TIMES: [f64; 6] = [0.0, 0.8, 1.0, 1.3, 2.0, 4.0];

struct WreckingScene {
    simulation: Simulation<Model>,
    ball: BodyId,
    boxes: Vec<(BodyId, [f64; 2])>,
}

fn scene() -> Result<WreckingScene, Mistakes> {
    let material = Material { friction: 0.5, restitution: 0.0, ..Material::default() };
    let mut world = World::new(Vector2::new(0.0, -9.81));
    world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfPlane).material(material)));
    let crane = world.add_body(Body::fixed("crane"));
    let mut boxes = Vec::new();
    let mut top = 0.0;
    for (i, half) in BOXES.into_iter().enumerate() {
        // boxes of positive size
        let Ok(polygon) = Polygon::rectangle(half) else { continue };
        let body = Body::rigid(format!("box {i}"), Mass::Density(200.0))
            .at(Isometry2::translation(0.4, top + half[1]))
            .with(Attached::new(Shape::Polygon(polygon)).material(material));
        boxes.push((world.add_body(body), half));
        top += 2.0 * half[1];
    }
    let ball = Body::rigid("ball", Mass::Density(800.0))
        .at(Isometry2::translation(BALL[0], BALL[1]))
        .with(Attached::new(Shape::Disk { radius: RADIUS }).material(material));
    let ball = world.add_body(ball);
    let (hook, centre) = (Point2::from(HOOK), Point2::from(BALL));
    let length = (centre - hook).norm();
    // a rope can be slack
    let rope = Joint::distance("rope", &world, (crane, hook), (ball, centre)).limits(0.0, length);
    world.add_joint(rope);
    let model = world.build()?;
    Ok(WreckingScene { simulation: Simulation::new(model), ball, boxes })
}

/// Counters of the run.
#[derive(Default)]
struct WreckingSummary {
    steps: usize,
    problems: usize,
    worst: f64,
    penetration: f64,
    contacts: usize,
    /// Steps accepted above the tolerance.
    loose: usize,
}

/// Runs the scene and draws it into `folder`. Returns the report, and the files with a description of each.
pub(crate) fn run(folder: &Path) -> Result<(String, Vec<(PathBuf, String)>), BadInput> {
    let failed = |e: &dyn std::fmt::Display| BadInput(format!("the wrecking ball: {e}"));
    let mut scene = scene().map_err(|e| failed(&e))?;
    let mut text = format!(
        "A wrecking ball hits a tower: {} bodies, {END} s in steps of {BALL_STEP} s, friction 0.5\n\n\
         \x20     t [s]   kinetic [J]  potential [J]   stick  slip   certificate  penetration [m]\n",
        scene.boxes.len() + 1
    );
    let mut summary = WreckingSummary::default();
    let mut frames = vec![scene.frame()];
    let drawn = stiction::Model::Planar(scene.simulation.system().clone());
    let mut tape = Tape::new(&drawn, TITLE, scene.simulation.state()).map_err(|e| failed(&e))?;
    let mut report = StepReport::default();
    let mut lines = 0.5;
    let begun = Instant::now();
    while scene.simulation.state().t < END - 0.5 * BALL_STEP {
        scene.simulation.step_into(BALL_STEP, &mut report).map_err(|e| failed(&e))?;
        summary.add(&report);
        tape.add(&drawn, scene.simulation.state(), &report).map_err(|e| failed(&e))?;
        if report.t >= lines - 0.5 * BALL_STEP {
            lines += 0.5;
            let _ = writeln!(text, "{}", line(&report));
        }
        if SNAPSHOT_TIMES.get(frames.len()).is_some_and(|t| report.t >= t - 0.5 * BALL_STEP) {
            frames.push(scene.frame());
        }
    }
    let speed = END / begun.elapsed().as_secs_f64();
    let figure =
        Figure { name: "wrecking".into(), title: TITLE.into(), content: FigureContent::Snapshots(frames) };
    let path = folder.join("wrecking.svg");
    let svg = plot::draw(&figure).map_err(|e| BadInput::file(&path, &e))?;
    write_file(&path, &svg)?;
    let mut files = vec![(path, "six moments of the ball".to_string())];
    // a build without npm has no page
    if has_page() {
        let path = folder.join("wrecking.html");
        write_file(&path, &tape.page().map_err(|e| failed(&e))?)?;
        files.push((path, "the ball in motion, in any browser".to_string()));
    }
    let tolerance = match summary.loose {
        0 => "each within the tolerance".to_string(),
        n => format!("{} above the tolerance", crate::count(n, "step is", "steps are")),
    };
    let _ = writeln!(
        text,
        "\n{} steps, {} complementarity problems, up to {} contacts: all certified, {tolerance};\n\
         worst residual {}, deepest penetration {:.1e} m; {speed:.0} times as fast as real time",
        summary.steps,
        summary.problems,
        summary.contacts,
        residual(summary.worst),
        summary.penetration
    );
    Ok((text, files))
}

fn line(report: &StepReport) -> String {
    let count = |mode: Mode| report.contacts.iter().filter(|c| c.mode == mode).count();
    format!(
        "{:>11.1}{:>14.1}{:>15.1}{:>8}{:>6}{:>14}{:>17.1e}",
        report.t,
        report.kinetic,
        report.potential,
        count(Mode::Stick),
        count(Mode::Slip),
        residual(report.certificate.worst()),
        report.infeasibility
    )
}

impl WreckingSummary {
    fn add(&mut self, report: &StepReport) {
        self.steps += 1;
        self.problems += report.work.problems;
        self.worst = self.worst.max(report.certificate.worst());
        self.loose += usize::from(report.work.loose > 0);
        self.penetration = self.penetration.max(report.infeasibility);
        let touching = report.contacts.iter().filter(|c| c.mode != Mode::Open).count();
        self.contacts = self.contacts.max(touching);
    }
}

impl WreckingScene {
    fn frame(&self) -> Snapshot {
        let state = self.simulation.state();
        let mut outlines: Vec<Outline> =
            self.boxes.iter().map(|(id, half)| self.outline(state, *id, *half)).collect();
        let ball = self.pose(state, self.ball);
        let rim = |k: u8| {
            let angle = std::f64::consts::TAU * f64::from(k) / 48.0;
            point(&ball, [RADIUS * angle.cos(), RADIUS * angle.sin()])
        };
        outlines.push(Outline { closed: true, points: (0..48).map(rim).collect() });
        outlines.push(Outline { closed: false, points: vec![HOOK, point(&ball, [0.0, 0.0])] });
        outlines.push(Outline { closed: false, points: vec![[-4.8, 0.0], [6.5, 0.0]] });
        Snapshot { t: state.t, outlines, colours: Vec::new() }
    }

    fn pose(&self, state: &State, id: BodyId) -> Isometry2<f64> {
        self.simulation.system().pose(state, id).unwrap_or_else(Isometry2::identity)
    }

    fn outline(&self, state: &State, id: BodyId, [x, y]: [f64; 2]) -> Outline {
        let pose = self.pose(state, id);
        let points = [[-x, -y], [x, -y], [x, y], [-x, y]].map(|corner| point(&pose, corner));
        Outline { closed: true, points: points.to_vec() }
    }
}

fn point(pose: &Isometry2<f64>, [x, y]: [f64; 2]) -> [f64; 2] {
    let p = pose * Point2::new(x, y);
    [p.x, p.y]
}
