//! Ctrl-C and SIGTERM end every command within a second, within a long step too, and leave a journal that resumes.

use crate::common::{Folder, boxes, code, command, head, printed, records, stiction};
use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest time from the signal to the end of the program: the second that it promises, and what a busy machine takes
/// to start and end a process.
const LONGEST_END: Duration = Duration::from_millis(1500);

/// Time for which a command runs before it is interrupted: longer than it takes to read its input.
const BEFORE_SIGNAL: Duration = Duration::from_millis(400);

fn start(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Child {
    command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Sends a signal to a command under way and waits for its end, which must come soon.
fn interrupt(mut child: Child, signal: &str) -> Output {
    sleep(BEFORE_SIGNAL);
    assert_eq!(child.try_wait().unwrap(), None, "the command ended before the signal");
    let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let since = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(since.elapsed() < LONGEST_END, "it ended {:?} after the signal", since.elapsed());
    output
}

/// Scene of a pendulum whose motion is recorded once in a million seconds: an interval of hours of computation.
fn long_interval() -> String {
    let bodies = r#"
[[bodies]]
name = "wall"
motion = "fixed"

[[bodies]]
name = "bob"
mass = 1.0
inertia = 0.1
position = [1.0, 0.0]

[[joints]]
name = "hinge"
kind = "revolute"
bodies = ["wall", "bob"]
at = [0.0, 0.0]
"#;
    head(2, "Pendulum in one interval", 1e7, 1e6) + bodies
}

/// Scene of a high stack with friction polygons: the first step is one dense problem that takes seconds.
fn long_solve() -> String {
    let mut scene = head(3, "Stack with friction polygons", 1.0, 0.01);
    scene += r#"
[world]
gravity = [0.0, 0.0, -9.81]
facets = { directions = 16, aligned = false }

[materials.default]
friction = 0.5

[[bodies]]
name = "floor"
motion = "fixed"
shapes = [{ kind = "half_space" }]
"#;
    for k in 0..80 {
        let (x, y, z) = (0.03 * f64::from(k % 3), 0.02 * f64::from(k % 2), 0.1 + 0.2 * f64::from(k));
        let _ = write!(
            scene,
            r#"
[[bodies]]
name = "box {k}"
density = 500.0
position = [{x}, {y}, {z}]
velocity = [{speed}, 0.0, 0.0]
shapes = [{{ kind = "box", half_extents = [0.2, 0.2, 0.1] }}]
"#,
            speed = 0.1 * f64::from(k % 5)
        );
    }
    scene
}

fn assert_interrupted(output: &Output, journal: &Path) {
    assert_eq!(code(output), 130, "{}", printed(output));
    let text = printed(output);
    assert!(text.contains("interrupted"), "{text}");
    assert!(text.contains("repeat the command with --resume to continue"), "{text}");
    assert!(records(journal).is_empty(), "no step ended");
}

#[test]
fn a_long_interval_of_a_run_to_an_accuracy_is_interrupted() {
    let folder = Folder::new("long-interval");
    let scene = folder.file("pendulum.toml", &long_interval());
    for (signal, file) in [("-TERM", "a.npz"), ("-INT", "a.csv")] {
        let out = folder.path(file);
        let journal = out.with_extension("journal");
        let run = start(&[&"run", &scene, &"--accuracy", &"1e-9", &"--out", &out, &"--overwrite"]);
        let output = interrupt(run, signal);
        assert_interrupted(&output, &journal);
        assert!(printed(&output).contains("interrupted at 0 s of 10000000 s"), "{}", printed(&output));
        assert!(!out.exists(), "nothing is converted");
    }
    // the journal continues, to an earlier end
    let out = folder.path("a.npz");
    let output =
        stiction(&[&"run", &scene, &"--accuracy", &"1e-9", &"--out", &out, &"--resume", &"--until", &"1.0"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert_eq!(records(&out.with_extension("journal")).len(), 1);
    assert!(out.exists());
}

#[test]
fn a_single_long_solve_is_interrupted() {
    let folder = Folder::new("long-solve");
    let scene = folder.file("stack.toml", &long_solve());
    let journal = folder.path("stack.journal");
    let run = start(&[&"run", &scene, &"--out", &journal]);
    let output = interrupt(run, "-TERM");
    assert_interrupted(&output, &journal);
    assert!(printed(&output).contains("is complete up to 0 s"), "{}", printed(&output));
}

#[test]
fn compare_and_verify_end_at_once() {
    let folder = Folder::new("interrupted-others");
    let scene = folder.file("pendulum.toml", &long_interval());
    let compare = || start(&[&"compare", &scene, &"--schemes", &"ah04", &"--h", &"0.001"]);
    for (signal, number) in [("-TERM", 15), ("-INT", 2)] {
        assert_eq!(interrupt(compare(), signal).status.signal(), Some(number));
    }
    let scene = folder.file("boxes.toml", &boxes(20.0, 0.4));
    let journal = folder.path("boxes.journal");
    let output = stiction(&[&"run", &scene, &"--out", &journal]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let output = interrupt(start(&[&"verify", &journal]), "-TERM");
    assert_eq!(output.status.signal(), Some(15));
}
