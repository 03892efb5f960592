//! Tests of scene files: values, errors, warnings, the schema and the scenes that come with the program.

mod examples;
mod limits;
mod lint;
mod machines;
mod schema;
mod validate;
mod values;

use std::path::PathBuf;
use stiction_scene::{BuiltScene, Diagnostics, Scene};

/// Head of a planar scene of one second.
const PLANE: &str = "format = 1\ndimension = 2\nrun = { duration = 1.0 }\n";

/// Head of a spatial scene of one second.
const SPACE: &str = "format = 1\ndimension = 3\nrun = { duration = 1.0 }\n";

/// Builds a scene without errors.
fn built(text: &str) -> BuiltScene {
    let scene = Scene::from_toml(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    scene.build().unwrap_or_else(|e| panic!("{e}"))
}

/// Errors of a scene.
fn errors(text: &str) -> Diagnostics {
    match Scene::from_toml(text, "test.toml").and_then(|scene| scene.build().map(|_| ())) {
        Ok(()) => Diagnostics::default(),
        Err(found) => found,
    }
}

/// Paths and texts of the scenes in a folder of the repository.
fn scenes(folder: &str) -> Vec<(PathBuf, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}
