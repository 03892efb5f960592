//! Every example of the folder `examples` runs to its end; each asserts the figures that it prints.

use std::error::Error;

#[path = "../examples/accuracy.rs"]
mod accuracy;
#[path = "../examples/branching.rs"]
mod branching;
#[path = "../examples/complementarity.rs"]
mod complementarity;
#[path = "../examples/custom_force.rs"]
mod custom_force;
#[path = "../examples/friction_sweep.rs"]
mod friction_sweep;
#[path = "../examples/stack.rs"]
mod stack;

#[test]
fn a_stack_and_its_contact_forces() -> Result<(), Box<dyn Error>> {
    stack::main()
}

#[test]
fn a_friction_sweep_on_threads() -> Result<(), Box<dyn Error + Send + Sync>> {
    friction_sweep::main()
}

#[test]
fn snapshots_and_branching() -> Result<(), Box<dyn Error>> {
    branching::main()
}

#[test]
fn a_run_to_an_accuracy_with_its_events() -> Result<(), Box<dyn Error>> {
    accuracy::main()
}

#[test]
fn a_force_of_ones_own() -> Result<(), Box<dyn Error>> {
    custom_force::main()
}

#[test]
fn a_complementarity_problem_by_itself() -> Result<(), Box<dyn Error>> {
    complementarity::main()
}

#[test]
fn every_example_is_run_here() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    let expected = ["accuracy", "branching", "complementarity", "custom_force", "friction_sweep", "stack"];
    assert_eq!(names, expected.map(|name| format!("{name}.rs")));
}
