//! `stiction check`: lists all errors and warnings of scene files.

use crate::{BadInput, Outcome, count, print};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use stiction_scene::{Diagnostics, MAX_FILE_BYTES, Scene, schema};

const EXIT_CODES: &str = "\
Exit codes:
  0  no errors; with --strict, no warnings either
  1  a scene has errors, or with --strict warnings
  2  a file cannot be read, or an argument is unknown

Examples:
  stiction check scenes/arch.toml
  stiction check scenes/*.toml --json
  stiction check --schema > scene.schema.json";

/// Check scene files: list all errors at once, with their lines, and warnings about likely mistakes.
///
/// Warnings are about overlap at the start, extreme mass ratios, redundant joints and joints that do not hold at the
/// start, friction cones that are not pointed, keys and materials without effect, and step sizes that are too large.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
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
        all.push(checked(&bytes, &path.display().to_string()));
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

fn checked(bytes: &[u8], file: &str) -> CheckedScene {
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
    CheckedScene {
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
    }
    text
}
