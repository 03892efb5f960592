//! The gallery: every file of scenes/ is run for its full duration. Of each step the certificate is judged, of each
//! run the balance of energy, the deepest penetration, and a number of its own.

mod run;

use run::{Run, run};
use std::collections::BTreeSet;
use std::path::Path;

/// The names of the scenes that have a test below.
const TESTED: &[&str] = &[
    "balance2",
    "card-house",
    "cart",
    "dice3",
    "drum",
    "gripper",
    "jacks",
    "pyramid1",
    "rattleback",
];

#[test]
fn every_scene_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let files = std::fs::read_dir(folder).expect("the folder of scenes");
    let names: BTreeSet<String> = files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_string()))
        .collect();
    assert_eq!(names, TESTED.iter().map(ToString::to_string).collect());
}

#[test]
fn balance2() {
    let run = run("balance2");
    run.loses_energy(1e-9).penetrates_at_most(1e-9).rests_below(1e-9);
    println!("{:?}", run.centre("plank"));
}

#[test]
fn pyramid1() {
    let run = run("pyramid1");
    run.loses_energy(1e-9).penetrates_at_most(1e-9).rests_below(1e-9);
    for k in 0..9 {
        println!("{:?}", run.centre(&format!("domino[{k}]")));
    }
}

#[test]
fn dice3() {
    let run = run("dice3");
    run.loses_energy(1e-9).penetrates_at_most(1e-9).rests_below(1e-9);
    println!("{:?} {:?}", run.centre("bottom"), run.centre("top"));
}

#[test]
fn card_house() {
    let run = run("card-house");
    run.loses_energy(1e-9).penetrates_at_most(1e-9).rests_below(1e-9);
    println!("{:?} {:?}", run.centre("across"), run.centre("upper left"));
}

#[test]
fn rattleback() {
    let run = run("rattleback");
    println!("{:?} {:?}", run.velocity("stone"), run.energies.last());
}

#[test]
fn gripper() {
    let run = run("gripper");
    run.penetrates_at_most(1e-9);
    println!("{:?}", run.centre("part"));
}

#[test]
fn jacks() {
    let run = run("jacks");
    run.loses_energy(1e-6).penetrates_at_most(1e-6);
}

#[test]
fn drum() {
    let run = run("drum");
    run.penetrates_at_most(1e-6);
}

#[test]
fn cart() {
    let run = run("cart");
    run.penetrates_at_most(1e-6);
    println!("{:?} {:?}", run.centre("chassis"), run.centre("crate"));
}
