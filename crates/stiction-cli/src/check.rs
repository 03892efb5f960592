//! `stiction check`: lists all errors and warnings of scene files.

use crate::{BadInput, Outcome, count, print};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use stiction::{Mode, Model, NextMotions, Simulation};
use stiction_scene::{Diagnostics, MAX_FILE_BYTES, Scene, schema};

const EXIT_CODES: &str = "\
Exit codes:
  0  no errors; with --strict, no warnings either
  1  a scene has errors, or with --strict warnings
  2  a file cannot be read, or an argument is unknown

Examples:
  stiction check scenes/arch.toml
  stiction check scenes/*.toml --json
  stiction check --motions scenes/two-carts.toml
  stiction check --schema > scene.schema.json";

/// Check scene files: list all errors at once, with their lines, and warnings about likely mistakes.
///
/// Warnings are about overlap at the start, extreme mass ratios, redundant joints and joints that do not hold at the
/// start, friction cones that are not pointed, keys and materials without effect, and step sizes that are too large.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
#[expect(clippy::struct_excessive_bools, reason = "options of the command line")]
pub(crate) struct CheckArguments {
    /// Scene files
    #[arg(required_unless_present = "schema")]
    files: Vec<PathBuf>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// Find all motions that may follow from the start, where at most six contacts touch: rigid bodies with friction may
    /// have several, or none
    #[arg(long)]
    motions: bool,
    /// Print the JSON Schema of scene files and check nothing
    #[arg(long)]
    schema: bool,
}

/// Errors and warnings of a file, as `--json` prints them.
#[derive(Serialize)]
struct CheckedScene {
    file: String,
    title: Option<String>,
    dimension: Option<usize>,
    bodies: Option<usize>,
    joints: Option<usize>,
    errors: usize,
    warnings: usize,
    findings: Diagnostics,
    /// Motions that may follow from the start, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    motions: Option<StartMotions>,
}

/// Motions that may follow from the start of a scene, as `--json` prints them.
#[derive(Serialize)]
struct StartMotions {
    /// Exactly one motion follows, as far as the search tells; `None` if there was none.
    unique: Option<bool>,
    /// Reason why there was no search.
    refused: Option<String>,
    /// Motions between some of those listed exist too.
    continuum: bool,
    /// All motions were found: no contact in space may begin to slip, in any direction.
    exhaustive: bool,
    /// Patterns of modes that were tried, and those that are not decided.
    patterns: [usize; 2],
    motions: Vec<StartMotion>,
}

/// Motion that may follow.
#[derive(Serialize)]
struct StartMotion {
    /// Contacts, limits and drives with their modes.
    modes: Vec<(String, Mode)>,
    /// Moving bodies with the accelerations of their velocities [m/s², rad/s²].
    accelerations: Vec<(String, Vec<f64>)>,
}

/// Runs the command.
pub(crate) fn run(arguments: &CheckArguments) -> Result<Outcome, BadInput> {
    if arguments.schema {
        print(&schema())?;
        return Ok(Outcome::Solved);
    }
    let mut all = Vec::new();
    for path in &arguments.files {
        let bytes = bytes(path).map_err(|error| BadInput::file(path, &error))?;
        all.push(checked(&bytes, &path.display().to_string(), arguments.motions));
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&all).map_err(|error| BadInput(error.to_string()))?;
        print(&(text + "\n"))?;
    } else {
        print(&report(&all))?;
    }
    let clean = |one: &CheckedScene| one.errors == 0 && !(arguments.strict && one.warnings > 0);
    Ok(if all.iter().all(clean) { Outcome::Solved } else { Outcome::NotSolved })
}

/// Reads a scene file. Of a file that is too large, reads one byte more than the limit.
pub(crate) fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn checked(bytes: &[u8], file: &str, motions: bool) -> CheckedScene {
    let scene = Scene::from_bytes(bytes, file);
    let built = scene.as_ref().map_err(Clone::clone).and_then(Scene::build);
    let mut findings = Diagnostics(scene.as_ref().map_or_else(|_| Vec::new(), Scene::lint));
    let mut found = None;
    let model = match built {
        Ok(built) => {
            if motions {
                let simulation = Simulation::from_state(built.model.clone(), built.state);
                found = Some(StartMotions::find(&simulation));
            }
            Some(built.model)
        }
        Err(errors) => {
            findings.0.splice(0..0, errors.0);
            None
        }
    };
    CheckedScene {
        file: file.to_string(),
        title: scene.ok().and_then(|scene| scene.title().map(str::to_string)),
        dimension: model.as_ref().map(stiction_scene::Model::dimension),
        bodies: model.as_ref().map(|model| model.body_names().len()),
        joints: model.as_ref().map(|model| model.joint_names().len()),
        errors: findings.errors(),
        warnings: findings.warnings(),
        findings,
        motions: found,
    }
}

impl StartMotions {
    fn find(simulation: &Simulation<Model>) -> Self {
        let mut all = Self {
            unique: None,
            refused: None,
            continuum: false,
            exhaustive: false,
            patterns: [0; 2],
            motions: Vec::new(),
        };
        let NextMotions { constraints, found } = match simulation.next_motions() {
            Ok(next) => next,
            Err(error) => {
                all.refused = Some(error.to_string());
                return all;
            }
        };
        let (model, state) = (simulation.system(), simulation.state());
        let names: Vec<String> =
            constraints.iter().map(|constraint| constraint.name(model, state.t, &state.q)).collect();
        all.unique = Some(found.is_unique());
        (all.continuum, all.exhaustive) = (found.continuum, found.exhaustive);
        all.patterns = [found.patterns, found.undecided];
        all.motions.extend(found.motions.iter().map(|motion| StartMotion {
            modes: names.iter().cloned().zip(motion.modes.iter().map(|mode| mode.mode)).collect(),
            accelerations: accelerations(model, &motion.v),
        }));
        all
    }

    /// Lines for the terminal.
    fn text(&self) -> String {
        if let Some(refused) = &self.refused {
            return format!("  motions were not sought: {refused}\n");
        }
        let mut text = match (self.motions.len(), self.continuum) {
            (0, _) => {
                "  no motion follows from the start: rigid bodies with this friction have none\n".to_string()
            }
            (1, false) if self.unique == Some(true) => "  one motion follows from the start\n".to_string(),
            (1, false) => "  one motion was found\n".to_string(),
            (n, false) => format!("  the motion is not unique: {n} follow from the start\n"),
            (n, true) => {
                format!(
                    "  the motion is not unique: {n} follow from the start, and all between some of them\n"
                )
            }
        };
        if self.patterns[1] > 0 {
            let _ = writeln!(
                text,
                "  {} of {} patterns of modes are not decided",
                self.patterns[1], self.patterns[0]
            );
        }
        for (k, motion) in self.motions.iter().enumerate() {
            let modes: Vec<String> =
                motion.modes.iter().map(|(name, mode)| format!("{name} {}", word(*mode))).collect();
            let modes = if modes.is_empty() { "no contact".to_string() } else { modes.join(", ") };
            let _ = writeln!(text, "  {}. {modes}", k + 1);
            for (body, a) in &motion.accelerations {
                let numbers: Vec<String> =
                    a.iter().map(|x| format!("{x:.5}").replace("-0.00000", "0.00000")).collect();
                let _ = writeln!(text, "     {body} accelerates by ({})", numbers.join(", "));
            }
        }
        text
    }
}

/// Accelerations of the moving bodies.
fn accelerations(model: &Model, a: &[f64]) -> Vec<(String, Vec<f64>)> {
    let own = |body| {
        let range = model.velocities(body).filter(|range| !range.is_empty())?;
        Some((model.body_name(body).unwrap_or_default().to_string(), a.get(range)?.to_vec()))
    };
    model.body_ids().into_iter().filter_map(own).collect()
}

fn word(mode: Mode) -> &'static str {
    match mode {
        Mode::Open => "opens",
        Mode::Stick => "sticks",
        Mode::Slip => "slips",
    }
}

fn report(all: &[CheckedScene]) -> String {
    let mut text = String::new();
    for one in all {
        one.findings.0.iter().for_each(|finding| {
            let _ = writeln!(text, "{finding}\n");
        });
        let _ = write!(text, "{}: ", one.file);
        if let (Some(bodies), Some(joints)) = (one.bodies, one.joints) {
            let (bodies, joints) = (count(bodies, "body", "bodies"), count(joints, "joint", "joints"));
            let _ = write!(text, "{bodies}, {joints}, ");
        }
        let (errors, warnings) =
            (count(one.errors, "error", "errors"), count(one.warnings, "warning", "warnings"));
        let _ = writeln!(text, "{errors}, {warnings}");
        text += &one.motions.as_ref().map_or_else(String::new, StartMotions::text);
    }
    text
}
