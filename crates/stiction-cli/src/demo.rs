//! `stiction demo`: one time step of a pushed tower of boxes and a sliding crate, then a run of a wrecking ball.

use crate::draw;
use crate::mode::{ContactState, contact_states};
use crate::report::{CertificateKind, certificate_lines, found_by};
use crate::{BadInput, Outcome, print, residual, wrecking, write_file};
use std::fmt::Write;
use std::path::PathBuf;
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::{Body, Contact, FrictionSet, Mode, OffsetRow, Row, Solution, Solver, StepProblem, solve};

/// Step [s].
const DEMO_STEP: f64 = 0.01;
/// Gravity [m/s²].
const G: f64 = 9.81;
/// Coulomb coefficient of every contact.
pub(crate) const MU: f64 = 0.5;
/// Maximum gap of a contact [m].
const MAX_GAP: f64 = 0.1;

/// Solve one step of a stack of boxes and simulate a wrecking ball: certificates, reports, pictures.
#[derive(clap::Args)]
pub(crate) struct DemoArguments {
    /// Folder for the pictures and the problem
    #[arg(long, default_value = "out/demo")]
    out: PathBuf,
}

/// Planar box.
#[derive(Debug, Clone)]
pub(crate) struct Crate {
    /// Name in reports.
    pub(crate) name: &'static str,
    /// Width and height [m].
    pub(crate) size: [f64; 2],
    /// Position of the centre [m].
    pub(crate) at: [f64; 2],
    /// Angle [rad].
    pub(crate) angle: f64,
    /// Mass [kg].
    pub(crate) mass: f64,
    /// Velocity before the step [m/s, m/s, rad/s].
    pub(crate) velocity: [f64; 3],
    /// Constant horizontal force at the centre [N].
    pub(crate) push: f64,
}

impl Crate {
    /// Corners, counter-clockwise from the lower left [m].
    pub(crate) fn corners(&self) -> [[f64; 2]; 4] {
        let (sin, cos) = self.angle.sin_cos();
        [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(|[x, y]| {
            let (x, y) = (x * self.size[0], y * self.size[1]);
            [self.at[0] + cos * x - sin * y, self.at[1] + sin * x + cos * y]
        })
    }

    /// Heights of the lowest and highest corner [m].
    fn heights(&self) -> (f64, f64) {
        let ys = self.corners().map(|c| c[1]);
        (ys.into_iter().fold(f64::INFINITY, f64::min), ys.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }

    fn body(&self) -> Body {
        let [w, h] = self.size;
        let inertia = self.mass * (w * w + h * h) / 12.0;
        let [vx, vy, omega] = self.velocity;
        let mass = [self.mass, 0.0, 0.0, 0.0, self.mass, 0.0, 0.0, 0.0, inertia];
        let b = [self.mass * vx + DEMO_STEP * self.push, self.mass * (vy - G * DEMO_STEP), inertia * omega];
        Body::new(3, &mass, &b)
    }
}

/// Contact of a corner with the ground or with the level top of a box.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CornerContact {
    /// Index of the upper box.
    pub(crate) above: usize,
    /// Index of the lower box; `None` for the ground.
    pub(crate) below: Option<usize>,
    /// Point of the impulse [m].
    pub(crate) at: [f64; 2],
    /// Gap [m].
    pub(crate) gap: f64,
}

/// Boxes, contacts and their step problem.
pub(crate) struct DemoScene {
    /// Boxes.
    pub(crate) crates: Vec<Crate>,
    /// Contacts.
    pub(crate) touches: Vec<CornerContact>,
    /// One step of implicit Euler.
    problem: StepProblem,
}

/// Texts of the picture.
pub(crate) struct Caption {
    /// Title.
    pub(crate) title: String,
    /// Explanation.
    pub(crate) subtitle: String,
    /// Certificate in two lines.
    pub(crate) certificate: [String; 2],
}

impl DemoScene {
    /// Five boxes in a leaning tower, one of them pushed; a crate that slides; a small one that falls.
    fn tower() -> Self {
        let still = |name, size: [f64; 2], x: f64, mass, push| Crate {
            name,
            size,
            at: [x, 0.0],
            angle: 0.0,
            mass,
            velocity: [0.0; 3],
            push,
        };
        let mut crates = vec![
            still("base", [1.30, 0.60], 0.00, 16.0, 0.0),
            still("plinth", [1.00, 0.45], 0.10, 9.0, 0.0),
            still("trunk", [0.72, 0.75], 0.16, 10.0, 36.0),
            still("shelf", [1.10, 0.32], 0.26, 7.0, 0.0),
            still("top", [0.56, 0.50], 0.40, 8.0, 0.0),
        ];
        let mut y = 0.0;
        for c in &mut crates {
            c.at[1] = y + 0.5 * c.size[1];
            y += c.size[1];
        }
        crates.push(Crate {
            name: "slider",
            size: [0.95, 0.62],
            at: [2.16, 0.31],
            angle: 0.0,
            mass: 14.0,
            velocity: [1.2, 0.0, 0.0],
            push: 30.0,
        });
        let mut falling = Crate {
            name: "parcel",
            size: [0.46, 0.34],
            at: [2.28, 0.0],
            angle: 0.42,
            mass: 2.0,
            velocity: [0.4, -0.8, -0.6],
            push: 0.0,
        };
        falling.at[1] = 0.62 + 0.06 - falling.heights().0;
        crates.push(falling);
        Self::new(crates)
    }

    fn new(crates: Vec<Crate>) -> Self {
        let touches = touches(&crates);
        let mut problem = StepProblem { speed_scale: G * DEMO_STEP, ..StepProblem::default() };
        problem.bodies = crates.iter().map(Crate::body).collect();
        for touch in &touches {
            let row = |direction: [f64; 2]| {
                let part = |body: usize, sign: f64| {
                    let lever = [touch.at[0] - crates[body].at[0], touch.at[1] - crates[body].at[1]];
                    let turn = lever[0] * direction[1] - lever[1] * direction[0];
                    [sign * direction[0], sign * direction[1], sign * turn]
                };
                let above = part(touch.above, 1.0);
                match touch.below {
                    Some(below) => Row::two(below, &part(below, -1.0), touch.above, &above),
                    None => Row::one(touch.above, &above),
                }
            };
            problem.contacts.push(Contact {
                normal: Some(OffsetRow { row: row([0.0, 1.0]), offset: touch.gap / DEMO_STEP }),
                tangents: [OffsetRow { row: row([1.0, 0.0]), offset: 0.0 }].into_iter().collect(),
                set: FrictionSet::line(),
                mu: MU,
                kappa: 0.0,
                bound_by: None,
            });
        }
        Self { crates, touches, problem }
    }
}

/// Lower corners of each box above the one below, and upper corners of level boxes below another.
fn touches(crates: &[Crate]) -> Vec<CornerContact> {
    let mut touches = Vec::new();
    for (above, upper) in crates.iter().enumerate() {
        let bottom = upper.heights().0;
        let lower_corners = || upper.corners().into_iter().filter(move |c| c[1] - bottom <= MAX_GAP);
        for corner in lower_corners().filter(|c| c[1] <= MAX_GAP) {
            touches.push(CornerContact { above, below: None, at: [corner[0], 0.0], gap: corner[1] });
        }
        for (below, lower) in crates.iter().enumerate().filter(|(i, l)| *i != above && l.angle == 0.0) {
            let top = lower.heights().1;
            let edge = [lower.at[0] - 0.5 * lower.size[0], lower.at[0] + 0.5 * lower.size[0]];
            if !(-1e-9..=MAX_GAP).contains(&(bottom - top)) {
                continue;
            }
            let mut own: Vec<CornerContact> = lower_corners()
                .filter(|c| edge[0] <= c[0] && c[0] <= edge[1])
                .map(|c| CornerContact { above, below: Some(below), at: [c[0], top], gap: c[1] - top })
                .collect();
            if upper.angle == 0.0 {
                // if the lower box is narrower, its corner is the contact
                let half = 0.5 * upper.size[0];
                let under = |x: &f64| upper.at[0] - half < *x && *x < upper.at[0] + half;
                own.extend(edge.into_iter().filter(under).map(|x| CornerContact {
                    above,
                    below: Some(below),
                    at: [x, top],
                    gap: bottom - top,
                }));
            }
            own.sort_by(|a, b| a.at[0].total_cmp(&b.at[0]));
            touches.extend(own);
        }
    }
    // the round-off of stacked heights is not a gap
    touches.iter_mut().filter(|t| t.gap.abs() < 1e-12).for_each(|t| t.gap = 0.0);
    touches
}

/// Runs the command.
pub(crate) fn run(arguments: &DemoArguments) -> Result<Outcome, BadInput> {
    let scene = DemoScene::tower();
    let solver = Solver::default();
    let problem_path = arguments.out.join("stack.json");
    let file = ProblemFile {
        name: Some("a tower under a push, a sliding crate and a falling parcel".into()),
        ..AnyProblem::Step(scene.problem.clone()).into()
    };
    write_file(&problem_path, &(file.to_json() + "\n"))?;
    let solution = match solve(&scene.problem, &solver, None) {
        Ok(solution) => solution,
        Err(error) => {
            print(&format!("{}: {error}\nthe problem is in {}\n", error.status(), problem_path.display()))?;
            return Ok(Outcome::NotSolved);
        }
    };
    let states = contact_states(&scene.problem, &solution);
    let caption = caption(&scene, &solution);
    let picture = draw::scene(&scene, &states, &caption).map_err(BadInput)?;
    let picture_path = arguments.out.join("stack.svg");
    write_file(&picture_path, &picture)?;
    let (run_report, shown) = wrecking::run(&arguments.out)?;
    let mut text = format!("1. {}\n\n", caption.title);
    text += &report(&scene, &solution, &states);
    let _ = writeln!(text, "\n2. {run_report}\nwritten");
    let mut files = vec![
        (picture_path, "the step, with the impulse at every contact".to_string()),
        (problem_path.clone(), format!("its problem: stiction solve {}", problem_path.display())),
    ];
    files.extend(shown);
    let width = files.iter().map(|(path, _)| path.display().to_string().len()).max().unwrap_or(0);
    for (path, what) in &files {
        let _ = writeln!(text, "  {:<width$}  {what}", path.display().to_string());
    }
    print(&text)?;
    Ok(Outcome::Solved)
}

fn caption(scene: &DemoScene, solution: &Solution) -> Caption {
    let c = solution.certificate();
    Caption {
        title: "A tower under a push, a sliding crate, a falling parcel".into(),
        subtitle: format!(
            "One implicit Euler step of {DEMO_STEP} s under gravity: {} bodies, {} contacts, friction {MU}. \
             Arrows are the impulses on the body above.",
            scene.crates.len(),
            scene.touches.len()
        ),
        certificate: [
            format!(
                "Certified: largest residual {}, relative to a speed of {:.2} m/s",
                residual(c.worst()),
                c.speed
            ),
            format!(
                "momentum {} · natural map {} · cone {} · complementarity {} · maximum dissipation {}",
                residual(c.momentum),
                residual(c.natural_map),
                residual(c.cone),
                residual(c.complementarity),
                residual(c.dissipation)
            ),
        ],
    }
}

fn report(scene: &DemoScene, solution: &Solution, states: &[ContactState]) -> String {
    let mut text = String::new();
    let certificate = solution.certificate();
    let _ = writeln!(
        text,
        "One implicit Euler step of {DEMO_STEP} s: {} planar boxes, {} contacts, friction {MU}, gravity {G} m/s²",
        scene.crates.len(),
        scene.touches.len()
    );
    let _ = writeln!(text, "solved by {}\n", found_by(solution.work()));
    text += "certificate: every residual recomputed from the problem and the impulses alone\n";
    text += &certificate_lines(certificate, CertificateKind::Step);
    let _ = writeln!(
        text,
        "  {:<22}{:>9}  the largest of momentum, joints, natural map and cone; at most {:.0e} is solved\n",
        "worst",
        residual(certificate.worst()),
        solution.tolerance()
    );
    text += &contact_lines(scene, states);
    text += &momentum_lines(scene, solution, states);
    text
}

fn contact_lines(scene: &DemoScene, states: &[ContactState]) -> String {
    let mut text = String::from("contacts, from the box below to the box above\n");
    let _ = writeln!(
        text,
        "      {:<19}{:>9}{:>15}{:>17}{:>13}{:>12}  mode",
        "", "gap [mm]", "normal [N s]", "friction [N s]", "slip [m/s]", "of bound"
    );
    for (i, (touch, state)) in scene.touches.iter().zip(states).enumerate() {
        let below = touch.below.map_or("ground", |b| scene.crates[b].name);
        let normal = state.normal.unwrap_or(0.0);
        let share = if normal > 0.0 && state.mode != Mode::Open {
            format!("{:.0} %", 100.0 * state.friction[0].abs() / (MU * normal))
        } else {
            "none".into()
        };
        let _ = writeln!(
            text,
            "  {i:>2}  {:<19}{:>9.1}{:>15.6}{:>17.6}{:>13.6}{share:>12}  {}",
            format!("{below} → {}", scene.crates[touch.above].name),
            1e3 * touch.gap,
            normal,
            state.friction[0],
            state.slip,
            state.mode
        );
    }
    text +=
        "How two corners of one face share its friction is not determined by rigid bodies: this is one of\n";
    text += "the solutions, and a corner may stick at 100 % of its bound.\n";
    text
}

/// Balance of momentum, from the solution.
fn momentum_lines(scene: &DemoScene, solution: &Solution, states: &[ContactState]) -> String {
    let mut rows = [[0.0; 5]; 2];
    for (i, c) in scene.crates.iter().enumerate() {
        let v = &solution.velocity()[3 * i..];
        for axis in 0..2 {
            rows[axis][0] += c.mass * c.velocity[axis];
            rows[axis][4] += c.mass * v[axis];
        }
        rows[0][2] += DEMO_STEP * c.push;
        rows[1][1] -= DEMO_STEP * G * c.mass;
    }
    for (touch, state) in scene.touches.iter().zip(states) {
        if touch.below.is_none() {
            rows[0][3] += state.friction[0];
            rows[1][3] += state.normal.unwrap_or(0.0);
        }
    }
    let mut text = String::from("\nmomentum of all boxes [N s]\n");
    let _ = writeln!(
        text,
        "  {:<12}{:>11}{:>11}{:>11}{:>11}{:>11}{:>14}",
        "", "before", "gravity", "pushes", "ground", "after", "unaccounted"
    );
    for (name, [before, gravity, pushes, ground, after]) in ["horizontal", "vertical"].into_iter().zip(rows) {
        let lost = before + gravity + pushes + ground - after;
        let _ = writeln!(
            text,
            "  {name:<12}{before:>11.5}{gravity:>11.5}{pushes:>11.5}{ground:>11.5}{after:>11.5}{:>14}",
            residual(lost)
        );
    }
    text
}
