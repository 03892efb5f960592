//! `run`: bad input and failed writes are reported at once, and no step is lost.

use crate::common::{Folder, boxes, code, command, json, printed, records, stiction};
use std::fs;
use std::path::Path;
use stiction::{Accuracy, Scheme};
use stiction_journal::Journal;

#[test]
fn errors_in_a_scene_are_listed_with_their_lines() {
    let folder = Folder::new("mistakes");
    let scene = folder.file("bad.toml", &boxes(1.0, 0.4).replace("density", "densty"));
    let output = stiction(&[&"run", &scene]);
    assert_eq!(code(&output), 2);
    let text = printed(&output);
    assert!(text.contains("bad.toml:") && text.contains("densty"), "{text}");
    let output = stiction(&[&"run", &folder.path("none.toml")]);
    assert_eq!(code(&output), 2);
    assert!(printed(&output).contains("none.toml"));
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = Folder::new("arguments");
    let scene = folder.file("boxes.toml", &boxes(1.0, 0.4));
    for (arguments, word) in [
        (&["--scheme", "simplectic"][..], "write one of default"),
        (&["--h", "0"], "--h"),
        (&["--h", "-1"], "--h -1: must be positive"),
        (&["--accuracy", "-1"], "--accuracy -1: must be positive"),
        (&["--until", "nan"], "--until NaN"),
        (&["--until", "-1"], "--until -1: the scene starts at 0 s"),
        (&["--out", "run.txt"], ".npz"),
        (&["--h", "0.1", "--accuracy", "1e-3"], "cannot be used with"),
        (&["--scheme", "ah04", "--accuracy", "1e-3"], "does not use this scheme; leave out one of them"),
        (&["--scheme", "default", "--accuracy", "1e-3"], "does not use this scheme"),
    ] {
        let output = command(&[&"run", &scene]).args(arguments).output().unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(printed(&output).contains(word), "{arguments:?}: {}", printed(&output));
    }
}

/// `--accuracy` replaces the fixed steps of a scene; settings that such a run uses stay, and `--scheme` replaces it.
#[test]
fn an_accuracy_of_the_command_line_replaces_the_scheme_of_the_scene() {
    let folder = Folder::new("replaced");
    let scheme = |run: &str, arguments: &[&str]| {
        let text = boxes(0.01, 0.4).replace("step = 0.002 }", &format!("step = 0.002, {run} }}"));
        let scene = folder.file("boxes.toml", &text);
        let journal = folder.path("run.journal");
        let run = command(&[&"run", &scene, &"--overwrite", &"--out", &journal]).args(arguments).output();
        assert_eq!(code(run.as_ref().unwrap()), 0, "{}", printed(&run.unwrap()));
        let header = Journal::open(&journal).unwrap().header().clone();
        (serde_json::from_str::<Scheme>(&header.scheme).unwrap(), header.accuracy)
    };
    let (made, accuracy) =
        scheme(r#"scheme = { name = "ah04", restitution_speed = 0.3 }"#, &["--accuracy", "1e-4"]);
    assert_eq!(made, Scheme { restitution_speed: Some(0.3), ..Scheme::accurate() });
    assert_eq!(accuracy, Some(Accuracy::of(1e-4)));
    // other settings of an accuracy stay
    let table = "accuracy = { tolerance = 1e-3, largest_step = 0.01 }";
    let (_, accuracy) = scheme(table, &["--accuracy", "1e-5"]);
    assert_eq!(accuracy, Some(Accuracy { largest_step: 0.01, ..Accuracy::of(1e-5) }));
    let (made, accuracy) = scheme(table, &["--scheme", "st00"]);
    assert_eq!((made, accuracy), (Scheme::st00(), None));
    let (made, accuracy) = scheme(table, &["--scheme", "accurate", "--accuracy", "1e-4"]);
    assert_eq!((made, accuracy.map(|a| a.tolerance)), (Scheme::accurate(), Some(1e-4)));
}

/// Journals of earlier versions may hold a scene that names a scheme beside an accuracy: they can still be read.
#[test]
fn a_recorded_scene_with_an_ignored_scheme_is_read() {
    let folder = Folder::new("ignored");
    let text = boxes(0.01, 0.4);
    let scene = folder.file("boxes.toml", &text);
    let journal = folder.path("run.journal");
    let output = stiction(&[&"run", &scene, &"--out", &journal, &"--accuracy", &"1e-4"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let read = Journal::open(&journal).unwrap();
    let ignored = text.replace("step = 0.002 }", "step = 0.002, accuracy = 1e-4, scheme = \"ah04\" }");
    let header = stiction_journal::JournalHeader { scene: ignored.clone(), ..read.header().clone() };
    let old = folder.path("old.journal");
    let mut writer = stiction_journal::JournalWriter::create(&old, &header, read.start()).unwrap();
    records(&journal).iter().for_each(|record| writer.append(record).unwrap());
    drop(writer);
    for command in ["verify", "convert"] {
        let more: &[&str] = if command == "convert" { &["--to", "json"] } else { &[] };
        let output = crate::common::command(&[&command, &old]).args(more).output().unwrap();
        assert_eq!(code(&output), 0, "{command}: {}", printed(&output));
    }
    // but it is not run again
    let output = stiction(&[&"run", &folder.file("ignored.toml", &ignored)]);
    assert_eq!(code(&output), 2);
    assert!(printed(&output).contains("does not use the scheme `ah04`"), "{}", printed(&output));
}

#[test]
fn a_journal_is_overwritten_only_on_request() {
    let folder = Folder::new("overwrite");
    let scene = folder.file("boxes.toml", &boxes(0.1, 0.4));
    let path = folder.path("run.journal");
    let run =
        |arguments: &[&str]| command(&[&"run", &scene, &"--out", &path]).args(arguments).output().unwrap();
    assert_eq!(code(&run(&[])), 0);
    let bytes = fs::read(&path).unwrap();
    let output = run(&[]);
    assert_eq!(code(&output), 2);
    assert!(printed(&output).contains("--resume"), "{}", printed(&output));
    for (arguments, word) in [
        (&["--resume", "--h", "0.001"][..], "step size"),
        (&["--resume", "--scheme", "ah04"], "scheme"),
        (&["--resume", "--accuracy", "1e-4"], "accuracy"),
    ] {
        let output = run(arguments);
        assert_eq!(code(&output), 2);
        assert!(printed(&output).contains(word), "{}", printed(&output));
    }
    fs::write(&scene, boxes(0.1, 0.5)).unwrap();
    let output = run(&["--resume"]);
    assert_eq!(code(&output), 2);
    assert!(printed(&output).contains("the scene file differs"), "{}", printed(&output));
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(code(&run(&["--overwrite"])), 0);
    assert_ne!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn an_unwritable_path_is_refused_before_the_first_step() {
    let folder = Folder::new("unwritable");
    let scene = folder.file("boxes.toml", &boxes(1e6, 0.4));
    let file = folder.file("file", "a file, not a folder");
    for out in ["run.journal", "run.npz"] {
        // fails even for root, who may write everywhere
        let output = stiction(&[&"run", &scene, &"--out", &file.join(out)]);
        assert_eq!(code(&output), 2, "{}", printed(&output));
        assert!(printed(&output).contains("file"), "{}", printed(&output));
    }
    let output =
        stiction(&[&"run", &scene, &"--out", &folder.path("x.journal"), &"--plot", &file.join("x.svg")]);
    assert_eq!(code(&output), 2, "{}", printed(&output));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported_and_no_step_is_lost() {
    let folder = Folder::new("full");
    let scene = folder.file("boxes.toml", &boxes(60.0, 0.4));
    // a device that is always full
    let full = folder.path("full.journal");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let output = stiction(&[&"run", &scene, &"--out", &full, &"--overwrite"]);
    assert_eq!(code(&output), 2);
    assert!(printed(&output).contains("No space left"), "{}", printed(&output));

    // a limit of 200 blocks of 512 bytes per file stands in for a full disk
    let path = folder.path("run.journal");
    let line = r#"trap '' XFSZ; ulimit -f 200; exec "$0" run "$1" --out "$2" --json"#;
    let output = std::process::Command::new("sh")
        .args(["-c", line, env!("CARGO_BIN_EXE_stiction")])
        .args([&scene, &path])
        .output()
        .unwrap();
    assert_eq!(code(&output), 2, "{}", printed(&output));
    let summary = json(&output);
    assert_eq!(summary["status"], "not written");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("too large") && text.contains("the run stopped at"), "{text}");
    let made = records(&path);
    assert!(made.len() > 10, "{} steps", made.len());
    assert!(fs::metadata(&path).unwrap().len() <= 200 * 512);
    assert_eq!(summary["end"].as_f64().unwrap(), made.last().unwrap().state.t);
    // without the limit it continues
    let until = (made.last().unwrap().state.t + 0.1).to_string();
    let output = stiction(&[&"run", &scene, &"--out", &path, &"--resume", &"--until", &until]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let whole = folder.path("whole.journal");
    let output = stiction(&[&"run", &scene, &"--out", &whole, &"--until", &until]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert!(records(&path) == records(&whole));
}

/// Scene of two walls that close on a ball.
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
fn a_failed_step_leaves_its_problem_and_the_journal() {
    let folder = Folder::new("failed");
    let scene = folder.file("crushed.toml", CRUSHED);
    let path = folder.path("run.journal");
    let output = stiction(&[&"run", &scene, &"--out", &path, &"--scheme", &"ah04", &"--json"]);
    assert_eq!(code(&output), 1, "{}", printed(&output));
    let summary = json(&output);
    assert_eq!(summary["status"], "failed");
    assert!(!records(&path).is_empty());
    let problem = folder.path("run.failed.json");
    assert!(problem.exists());
    let output = stiction(&[&"solve", &problem, &"--json"]);
    assert_eq!(code(&output), 1, "{}", printed(&output));
    assert_ne!(json(&output)["status"], "solved");
}

#[test]
fn a_pipe_gets_the_summary_without_colour() {
    let folder = Folder::new("pipe");
    let scene = folder.file("boxes.toml", &boxes(0.1, 0.4));
    let output =
        stiction(&[&"run", &scene, &"--out", &folder.path("run.csv"), &"--plot", &folder.path("run.svg")]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert!(output.stderr.is_empty(), "{}", printed(&output));
    let text = printed(&output);
    assert!(!text.contains('\x1b'), "{text}");
    for word in ["energy", "momentum", "penetration", "certificate", "solved", "took", "journal", "run.csv"] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
    let svg = fs::read_to_string(folder.path("run.svg")).unwrap();
    for word in ["Motion", "Height", "Forces", "Energy"] {
        assert!(svg.contains(word), "no {word} in the picture");
    }
    let quality = ["certificate", "joint error"];
    assert!(quality.iter().all(|word| !svg.contains(word)), "the quality of steps is drawn on request");
    let with_quality = folder.path("quality.svg");
    let output = stiction(&[
        &"run",
        &scene,
        &"--out",
        &folder.path("quality.journal"),
        &"--plot",
        &with_quality,
        &"--quality",
    ]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let svg = fs::read_to_string(with_quality).unwrap();
    for word in ["Motion", "Energy"].into_iter().chain(quality) {
        assert!(svg.contains(word), "no {word} in the picture with the quality of steps");
    }
    assert!(Path::new(&folder.path("run.journal")).exists());
}

#[test]
fn help_has_examples_and_exit_codes() {
    for command in ["run", "verify", "convert", "compare"] {
        let output = stiction(&[&command, &"--help"]);
        assert_eq!(code(&output), 0);
        let text = printed(&output);
        assert!(text.contains("Examples:") && text.contains("Exit codes:"), "{text}");
    }
}
