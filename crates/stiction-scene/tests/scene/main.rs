//! Scene files: what is read, what is refused, and where.

mod examples;
mod lints;
mod mistakes;
mod schema;
mod values;

use std::path::PathBuf;
use stiction_scene::{BuiltScene, Diagnostics, Scene};

/// A planar scene of a second, to be added to.
const PLANE: &str = "format = 1\ndimension = 2\nrun = { duration = 1.0 }\n";

/// A spatial one.
const SPACE: &str = "format = 1\ndimension = 3\nrun = { duration = 1.0 }\n";

/// Builds a scene that must be right.
fn built(text: &str) -> BuiltScene {
    let scene = Scene::from_toml(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    scene.build().unwrap_or_else(|e| panic!("{e}"))
}

/// What is wrong with a scene.
fn complaints(text: &str) -> Diagnostics {
    match Scene::from_toml(text, "test.toml").and_then(|scene| scene.build().map(|_| ())) {
        Ok(()) => Diagnostics::default(),
        Err(found) => found,
    }
}

/// The scenes of a folder of the repository, with their names.
fn scenes(folder: &str) -> Vec<(PathBuf, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}
