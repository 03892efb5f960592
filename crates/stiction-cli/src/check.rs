//! `stiction check`: what is wrong with scene files, and what may not be meant.

use crate::{BadInput, Outcome, count, print};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use stiction_scene::{Diagnostics, MOST_BYTES, Scene, schema};

const EXIT_CODES: &str = "\
Exit codes:
  0  no errors; with --strict, no warnings either
  1  a scene has errors, or with --strict warnings
  2  a file that cannot be read, or an unknown argument

Examples:
  stiction check scenes/arch.toml
  stiction check scenes/*.toml --json
  stiction check --schema > scene.schema.json";

/// Check scene files: all mistakes at once, with their lines, and warnings about what may not be meant.
///
/// Warnings are about overlap at the start, extreme ratios of masses, joints that follow from others or do not hold,
/// friction cones that are not pointed, keys and materials without effect, and steps that are too long.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// Scene files
    #[arg(required_unless_present = "schema")]
    files: Vec<PathBuf>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    /// Warnings count as errors
    #[arg(long)]
    strict: bool,
    /// Print the JSON Schema of scene files instead
    #[arg(long)]
    schema: bool,
}

/// What was found in a file, as `--json` prints it.
#[derive(Serialize)]
struct Checked {
    file: String,
    title: Option<String>,
    dimension: Option<usize>,
    bodies: Option<usize>,
    joints: Option<usize>,
    errors: usize,
    warnings: usize,
    findings: Diagnostics,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    if arguments.schema {
        print(&schema())?;
        return Ok(Outcome::Solved);
    }
    let mut all = Vec::new();
    for path in &arguments.files {
        let bytes = bytes(path).map_err(|error| BadInput::file(path, &error))?;
        all.push(checked(&bytes, &path.display().to_string()));
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&all).map_err(|error| BadInput(error.to_string()))?;
        print(&(text + "\n"))?;
    } else {
        print(&report(&all))?;
    }
    let clean = |one: &Checked| one.errors == 0 && !(arguments.strict && one.warnings > 0);
    Ok(if all.iter().all(clean) { Outcome::Solved } else { Outcome::NotSolved })
}

/// A file, and of one that is too large no more than what shows it.
pub(crate) fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn checked(bytes: &[u8], file: &str) -> Checked {
    let scene = Scene::from_bytes(bytes, file);
    let built = scene.as_ref().map_err(Clone::clone).and_then(Scene::build);
    let mut findings = Diagnostics(scene.as_ref().map_or_else(|_| Vec::new(), Scene::lint));
    let model = match built {
        Ok(built) => Some(built.model),
        Err(errors) => {
            findings.0.splice(0..0, errors.0);
            None
        }
    };
    Checked {
        file: file.to_string(),
        title: scene.ok().and_then(|scene| scene.title().map(str::to_string)),
        dimension: model.as_ref().map(stiction_scene::Model::dimension),
        bodies: model.as_ref().map(|model| model.body_names().len()),
        joints: model.as_ref().map(|model| model.joint_names().len()),
        errors: findings.errors(),
        warnings: findings.warnings(),
        findings,
    }
}

fn report(all: &[Checked]) -> String {
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
    }
    text
}
