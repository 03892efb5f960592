//! `stiction-lab tosses`: recorded tosses of a cube against simulated ones.

use crate::{BadInput, Outcome, print};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use stiction::spatial::{Attached, Body, Mass, Model, Shape, Twist, World};
use stiction::{BodyId, Material, Simulation, StepReport};
use stiction_scene::scheme_named;

/// Columns of a file: time, place, orientation with w first, velocity, angular velocity along the axes of the body.
const COLUMNS: [&str; 14] = ["t", "x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"];

/// Simulate recorded tosses of a cube and print the mean errors of place and orientation.
///
/// Each file of the folder that ends in .csv is a toss, in SI units, with a line of column names: t, x, y, z, qw, qx, qy,
/// qz, vx, vy, vz, wx, wy, wz. The table is the plane z = 0. The first line is the state at the start. Errors are means
/// over a toss, then over the tosses: the distance of the centres relative to the width, and the angle between the
/// orientations.
#[derive(clap::Args)]
pub(crate) struct TossArguments {
    /// Folder of the tosses
    folder: PathBuf,
    /// Scheme, by name
    #[arg(long, default_value = "default")]
    scheme: String,
    /// Steps from one recorded state to the next
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    substeps: u32,
    /// Coefficient of friction
    #[arg(long, default_value_t = 0.18)]
    friction: f64,
    /// Coefficient of restitution
    #[arg(long, default_value_t = 0.125)]
    restitution: f64,
    /// Half the side of the cube [m]
    #[arg(long, default_value_t = 0.0524)]
    half: f64,
    /// Mass [kg]
    #[arg(long, default_value_t = 0.37)]
    mass: f64,
    /// Moment of inertia about each axis [kg m²]
    #[arg(long, default_value_t = 8.1e-4)]
    inertia: f64,
    /// Print the errors of each toss
    #[arg(long)]
    each: bool,
}

/// Errors of a toss.
#[derive(Debug, Clone, Copy, Default)]
struct TossErrors {
    /// Mean distance of the centres, relative to the width.
    place: f64,
    /// Mean angle [degrees].
    angle: f64,
    /// Deepest penetration at the end of a step, before and after post-stabilization [m].
    penetration: [f64; 2],
}

/// Recorded state of a toss.
struct TossState {
    t: f64,
    pose: Isometry3<f64>,
    velocity: Twist,
}

/// Runs the command.
pub(crate) fn run(arguments: &TossArguments) -> Result<Outcome, BadInput> {
    let TossArguments { folder, scheme, substeps, friction, restitution, each, .. } = arguments;
    let files = std::fs::read_dir(folder).map_err(|e| BadInput::file(folder, &e))?;
    let mut paths: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "csv"));
    paths.sort();
    if paths.is_empty() {
        return Err(BadInput(format!("{}: no files that end in .csv", folder.display())));
    }
    let mut text = format!(
        "{} tosses, scheme {scheme}, {substeps} steps per recorded state, friction {friction}, restitution {restitution}\n",
        paths.len()
    );
    let mut sum = TossErrors::default();
    for path in &paths {
        let own =
            errors(arguments, &read(path)?).map_err(|why| BadInput(format!("{}: {why}", path.display())))?;
        if *each {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let _ = writeln!(
                text,
                "{name}: place {:.2} % of the width, angle {:.2}°",
                100.0 * own.place,
                own.angle
            );
        }
        (sum.place, sum.angle) = (sum.place + own.place, sum.angle + own.angle);
        for (worst, own) in sum.penetration.iter_mut().zip(own.penetration) {
            *worst = worst.max(own);
        }
    }
    let count = paths.len() as f64;
    let (place, angle) = (100.0 * sum.place / count, sum.angle / count);
    let _ = writeln!(text, "mean error: place {place:.2} % of the width, angle {angle:.2}°");
    let [before, after] = sum.penetration;
    let _ = writeln!(
        text,
        "deepest penetration: {before:.1e} m before post-stabilization, {after:.1e} m after it"
    );
    print(&text)?;
    Ok(Outcome::Solved)
}

/// Reads the recorded states of a toss.
fn read(path: &Path) -> Result<Vec<TossState>, BadInput> {
    let text = std::fs::read_to_string(path).map_err(|e| BadInput::file(path, &e))?;
    let bad = |line: usize, what: &str| BadInput(format!("{}:{line}: {what}", path.display()));
    let mut lines = text.lines().enumerate();
    let head = lines.next().map(|(_, head)| head.split(',').map(str::trim).collect::<Vec<_>>());
    if head.as_deref() != Some(&COLUMNS[..]) {
        return Err(bad(1, &format!("the columns must be {}", COLUMNS.join(", "))));
    }
    let mut states = Vec::new();
    for (k, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let numbers: Result<Vec<f64>, _> = line.split(',').map(|x| x.trim().parse::<f64>()).collect();
        let numbers = numbers.map_err(|e| bad(k + 1, &e.to_string()))?;
        let [t, x, y, z, w, i, j, l, vx, vy, vz, wx, wy, wz] = numbers[..] else {
            return Err(bad(k + 1, &format!("{} numbers instead of {}", numbers.len(), COLUMNS.len())));
        };
        let turn = UnitQuaternion::try_new(Quaternion::new(w, i, j, l), 0.0);
        let turn = turn.filter(|_| numbers.iter().all(|x| x.is_finite()));
        let turn = turn.ok_or_else(|| bad(k + 1, "a number that is not finite, or no orientation"))?;
        let velocity = Twist::new(Vector3::new(vx, vy, vz), turn * Vector3::new(wx, wy, wz));
        states.push(TossState { t, pose: Isometry3::from_parts(Translation3::new(x, y, z), turn), velocity });
    }
    if states.len() < 2 {
        return Err(bad(states.len() + 1, "a toss needs two states"));
    }
    Ok(states)
}

/// Cube above the table, at the start of a toss.
fn cube(arguments: &TossArguments, start: &TossState) -> Result<(Model, BodyId), String> {
    let TossArguments { half, mass, inertia, friction, restitution, .. } = *arguments;
    let material = Material { friction, restitution, ..Material::default() };
    let mut world = World::new(Vector3::new(0.0, 0.0, -9.81));
    // at the start a tracked corner may be below the table
    world.allow_overlap = true;
    world.add_body(Body::fixed("table").with(Attached::new(Shape::HalfSpace).material(material)));
    let shape = Attached::new(Shape::Cuboid { half_extents: [half; 3] }).material(material);
    let cube = Body::rigid("cube", Mass::given(mass, [inertia; 3])).with(shape);
    let cube = world.add_body(cube.at(start.pose).moving(start.velocity));
    Ok((world.build().map_err(|mistakes| mistakes.to_string())?, cube))
}

/// Simulates a toss and compares it with its record.
fn errors(arguments: &TossArguments, states: &[TossState]) -> Result<TossErrors, String> {
    let scheme =
        scheme_named(&arguments.scheme).ok_or_else(|| format!("unknown scheme `{}`", arguments.scheme))?;
    let (model, cube) = cube(arguments, &states[0])?;
    let mut simulation = Simulation::new(model).with_scheme(scheme);
    let mut report = StepReport::default();
    let mut errors = TossErrors::default();
    for pair in states.windows(2) {
        let h = (pair[1].t - pair[0].t) / f64::from(arguments.substeps);
        for _ in 0..arguments.substeps {
            simulation.step_into(h, &mut report).map_err(|error| error.to_string())?;
            let before = report.stabilization.as_ref().map_or(report.infeasibility, |s| s.before);
            let [worst, last] = &mut errors.penetration;
            (*worst, *last) = (worst.max(before), last.max(report.infeasibility));
        }
        let pose = simulation.system().pose(simulation.state(), cube).ok_or("the cube has no pose")?;
        let apart = pose.translation.vector - pair[1].pose.translation.vector;
        errors.place += apart.norm() / (2.0 * arguments.half);
        errors.angle += pose.rotation.angle_to(&pair[1].pose.rotation).to_degrees();
    }
    // the first state has no error
    let count = states.len() as f64;
    Ok(TossErrors { place: errors.place / count, angle: errors.angle / count, ..errors })
}
