//! Runs a scene file with fixed steps and writes the page that replays it:
//! `cargo run --release -p stiction-view --example record -- scene.toml run.html`

use stiction::{Simulation, StepReport};
use stiction_scene::{BuiltScene, Scene};
use stiction_view::Tape;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scene, out] = arguments.as_slice() else { return Err("usage: record SCENE.toml PAGE.html".into()) };
    let file = Scene::from_toml(&std::fs::read_to_string(scene)?, scene)?;
    let BuiltScene { model, state, scheme, h, duration, .. } = file.build()?;
    let until = state.t + duration;
    let mut tape = Tape::new(&model, file.title().unwrap_or(scene), &state)?;
    let mut simulation = Simulation::from_state(model, state).with_scheme(scheme);
    let mut report = StepReport::default();
    while simulation.state().t < until - 0.5 * h {
        simulation.step_into(h, &mut report)?;
        tape.add(simulation.system(), simulation.state(), &report)?;
    }
    std::fs::write(out, tape.page()?)?;
    println!("{out}: {} frames", tape.frames());
    Ok(())
}
