//! Scenes that runs to an accuracy once got wrong, refused or never ended, each against an independent number or converged
//! steps.

mod cases;
mod guides;

use stiction::{Model, Scheme, Simulation};
use stiction_scene::Scene;

/// Simulation of a scene file, with the settings that the command takes for runs to an accuracy.
fn simulation(text: &str) -> Simulation<Model> {
    let scene = Scene::from_toml(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    let built = scene.build().unwrap_or_else(|e| panic!("{e}"));
    Simulation::from_state(built.model, built.state).with_scheme(Scheme::accurate())
}

/// Largest difference of a coordinate.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
}
