//! What cannot be run, read or written: a clear word at once, and nothing lost.

use crate::common::{Folder, boxes, code, command, json, steps, stiction, words};
use std::fs;
use std::path::Path;

#[test]
fn mistakes_in_a_scene_are_told_with_their_places() {
    let folder = Folder::new("mistakes");
    let scene = folder.scene("bad.toml", &boxes(1.0, 0.4).replace("density", "densty"));
    let output = stiction(&[&"run", &scene]);
    assert_eq!(code(&output), 2);
    let text = words(&output);
    assert!(text.contains("bad.toml:") && text.contains("densty"), "{text}");
    let output = stiction(&[&"run", &folder.path("none.toml")]);
    assert_eq!(code(&output), 2);
    assert!(words(&output).contains("none.toml"));
}

#[test]
fn wrong_arguments_are_told() {
    let folder = Folder::new("arguments");
    let scene = folder.scene("boxes.toml", &boxes(1.0, 0.4));
    for (arguments, word) in [
        (&["--scheme", "simplectic"][..], "there are default"),
        (&["--h", "0"], "--h"),
        (&["--accuracy=-1"], "--accuracy"),
        (&["--out", "run.txt"], ".npz"),
        (&["--h", "0.1", "--accuracy", "1e-3"], "cannot be used with"),
    ] {
        let output = command(&[&"run", &scene]).args(arguments).output().unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(words(&output).contains(word), "{arguments:?}: {}", words(&output));
    }
}

#[test]
fn a_journal_is_never_overwritten_unasked() {
    let folder = Folder::new("unasked");
    let scene = folder.scene("boxes.toml", &boxes(0.1, 0.4));
    let path = folder.path("run.journal");
    let run =
        |arguments: &[&str]| command(&[&"run", &scene, &"--out", &path]).args(arguments).output().unwrap();
    assert_eq!(code(&run(&[])), 0);
    let bytes = fs::read(&path).unwrap();
    let output = run(&[]);
    assert_eq!(code(&output), 2);
    assert!(words(&output).contains("--resume"), "{}", words(&output));
    for (arguments, word) in [
        (&["--resume", "--h", "0.001"][..], "step size"),
        (&["--resume", "--scheme", "ah04"], "scheme"),
        (&["--resume", "--accuracy", "1e-4"], "accuracy"),
    ] {
        let output = run(arguments);
        assert_eq!(code(&output), 2);
        assert!(words(&output).contains(word), "{}", words(&output));
    }
    fs::write(&scene, boxes(0.1, 0.5)).unwrap();
    let output = run(&["--resume"]);
    assert_eq!(code(&output), 2);
    assert!(words(&output).contains("the scene has changed"), "{}", words(&output));
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(code(&run(&["--overwrite"])), 0);
    assert_ne!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_path_that_cannot_be_written_is_told_before_the_first_step() {
    let folder = Folder::new("unwritable");
    let scene = folder.scene("boxes.toml", &boxes(1e6, 0.4));
    let file = folder.scene("file", "no folder");
    for out in ["run.journal", "run.npz"] {
        // a file is no folder, not even for root
        let output = stiction(&[&"run", &scene, &"--out", &file.join(out)]);
        assert_eq!(code(&output), 2, "{}", words(&output));
        assert!(words(&output).contains("file"), "{}", words(&output));
    }
    let output =
        stiction(&[&"run", &scene, &"--out", &folder.path("x.journal"), &"--plot", &file.join("x.svg")]);
    assert_eq!(code(&output), 2, "{}", words(&output));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_at_once_and_nothing_is_lost() {
    let folder = Folder::new("full");
    let scene = folder.scene("boxes.toml", &boxes(60.0, 0.4));
    // a device that is always full
    let full = folder.path("full.journal");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let output = stiction(&[&"run", &scene, &"--out", &full, &"--overwrite"]);
    assert_eq!(code(&output), 2);
    assert!(words(&output).contains("No space left"), "{}", words(&output));

    // files of at most 200 blocks of 512 bytes, which is as full as a disk gets without one
    let path = folder.path("run.journal");
    let line = r#"trap '' XFSZ; ulimit -f 200; exec "$0" run "$1" --out "$2" --json"#;
    let output = std::process::Command::new("sh")
        .args(["-c", line, env!("CARGO_BIN_EXE_stiction")])
        .args([&scene, &path])
        .output()
        .unwrap();
    assert_eq!(code(&output), 2, "{}", words(&output));
    let summary = json(&output);
    assert_eq!(summary["status"], "not written");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("too large") && text.contains("the run stopped at"), "{text}");
    let made = steps(&path);
    assert!(made.len() > 10, "{} steps", made.len());
    assert!(fs::metadata(&path).unwrap().len() <= 200 * 512);
    assert_eq!(summary["end"].as_f64().unwrap(), made.last().unwrap().t);
    // with more room it goes on
    let until = (made.last().unwrap().t + 0.1).to_string();
    let output = stiction(&[&"run", &scene, &"--out", &path, &"--resume", &"--until", &until]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    let whole = folder.path("whole.journal");
    let output = stiction(&[&"run", &scene, &"--out", &whole, &"--until", &until]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert!(steps(&path) == steps(&whole));
}

/// Two walls that close on a ball.
const CRUSHED: &str = r#"
format = 1
dimension = 2
run = { duration = 1.0, step = 0.01 }

[[bodies]]
name = "left"
motion = "fixed"
position = [0.0, 0.0]
angle_deg = -90.0
shapes = [{ kind = "half_plane" }]

[[bodies]]
name = "right"
motion = "kinematic"
position = [0.3, 0.0]
angle_deg = 90.0
path = { position = ["-t", "0"] }
shapes = [{ kind = "half_plane" }]

[[bodies]]
name = "ball"
density = 1000.0
position = [0.15, 0.0]
shapes = [{ kind = "disk", radius = 0.1 }]
"#;

#[test]
fn a_step_that_fails_leaves_its_problem_and_the_journal() {
    let folder = Folder::new("failed");
    let scene = folder.scene("crushed.toml", CRUSHED);
    let path = folder.path("run.journal");
    let output = stiction(&[&"run", &scene, &"--out", &path, &"--scheme", &"ah04", &"--json"]);
    assert_eq!(code(&output), 1, "{}", words(&output));
    let summary = json(&output);
    assert_eq!(summary["status"], "failed");
    assert!(!steps(&path).is_empty());
    let problem = folder.path("run.failed.json");
    assert!(problem.exists());
    let output = stiction(&[&"solve", &problem, &"--json"]);
    assert_eq!(code(&output), 1, "{}", words(&output));
    assert_ne!(json(&output)["status"], "solved");
}

#[test]
fn a_pipe_gets_a_summary_without_colour_and_nothing_else() {
    let folder = Folder::new("pipe");
    let scene = folder.scene("boxes.toml", &boxes(0.1, 0.4));
    let output =
        stiction(&[&"run", &scene, &"--out", &folder.path("run.csv"), &"--plot", &folder.path("run.svg")]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert!(output.stderr.is_empty(), "{}", words(&output));
    let text = words(&output);
    assert!(!text.contains('\x1b'), "{text}");
    for word in ["energy", "momentum", "penetration", "certificate", "solved", "took", "journal", "run.csv"] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
    let svg = fs::read_to_string(folder.path("run.svg")).unwrap();
    for word in ["Energy", "Motion", "certificate", "joint error"] {
        assert!(svg.contains(word), "no {word} in the picture");
    }
    assert!(Path::new(&folder.path("run.journal")).exists());
}

#[test]
fn help_has_examples_and_exit_codes() {
    for command in ["run", "verify", "convert", "compare"] {
        let output = stiction(&[&command, &"--help"]);
        assert_eq!(code(&output), 0);
        let text = words(&output);
        assert!(text.contains("Examples:") && text.contains("Exit codes:"), "{text}");
    }
}
