//! `run --resume`: killed and interrupted runs continue bit by bit.

use crate::common::{Folder, boxes, code, command, json, printed, records, stiction};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;
use stiction_journal::{Journal, JournalError};

/// Number of runs that are killed.
const KILLS: usize = 100;

/// Number of complete steps in a journal, which must be readable.
fn complete_steps(path: &Path) -> usize {
    match Journal::open(path) {
        Ok(mut journal) => {
            let steps = journal.by_ref().collect::<Result<Vec<_>, _>>().unwrap().len();
            assert!(journal.damage().is_none_or(|d| d.is_torn()), "{:?}", journal.damage());
            steps
        }
        // killed before the start state was written
        Err(JournalError::Empty(_)) => 0,
        Err(JournalError::File { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => 0,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn killed_runs_continue_bit_by_bit() {
    let seed = 7;
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let folder = Folder::new("killed");
    let scene = folder.file("boxes.toml", &boxes(4.0, 0.4));
    let whole = folder.path("whole.journal");
    let output = stiction(&[&"run", &scene, &"--out", &whole, &"--json"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert_eq!(json(&output)["steps"], 2000);
    let expected = fs::read(&whole).unwrap();

    let path = folder.path("killed.journal");
    let (mut kills, mut finished, mut torn, mut before) = (0, 0, 0, 0);
    while kills < KILLS {
        let mut run = command(&[&"run", &scene, &"--out", &path, &"--resume"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_micros(rng.random_range(500..60_000)));
        let ended = run.try_wait().unwrap();
        if let Some(status) = ended {
            assert_eq!(status.code(), Some(0));
            assert_eq!(fs::read(&path).unwrap(), expected, "run {finished}");
            fs::remove_file(&path).unwrap();
            (finished, before) = (finished + 1, 0);
            continue;
        }
        // SIGKILL
        run.kill().unwrap();
        run.wait().unwrap();
        kills += 1;
        let steps = complete_steps(&path);
        assert!(steps >= before, "{steps} steps after {before}");
        before = steps;
        let length = fs::metadata(&path).map_or(0, |m| m.len());
        torn += usize::from(length > 0 && !expected.starts_with(&fs::read(&path).unwrap()));
    }
    // the last killed run continues to the same end
    let output = stiction(&[&"run", &scene, &"--out", &path, &"--resume"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert_eq!(fs::read(&path).unwrap(), expected);
    println!("{kills} runs killed, {finished} finished in between");
    assert_eq!(torn, 0, "every journal is a prefix of the complete one");
    assert_eq!(records(&path).last().unwrap().state, records(&whole).last().unwrap().state);
}

#[test]
fn an_interrupted_run_reports_it_and_continues() {
    let folder = Folder::new("interrupted");
    // long enough that the signal comes before the end
    let scene = folder.file("boxes.toml", &boxes(20.0, 0.4));
    let whole = folder.path("whole.journal");
    assert_eq!(code(&stiction(&[&"run", &scene, &"--out", &whole])), 0);
    let path = folder.path("run.journal");
    let run = command(&[&"run", &scene, &"--out", &path, &"--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // wait for the first steps
    while complete_steps(&path) < 5 {
        sleep(Duration::from_millis(1));
    }
    let id = run.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(sent.success());
    let output = run.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", printed(&output));
    let summary = json(&output);
    assert_eq!(summary["status"], "interrupted");
    let made = records(&path).len();
    assert_eq!(summary["steps"], made);
    assert!(made < 10_000);
    let output = stiction(&[&"run", &scene, &"--out", &path, &"--resume", &"--json"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert_eq!(json(&output)["resumed"], made);
    assert_eq!(fs::read(&path).unwrap(), fs::read(&whole).unwrap());
    // continue beyond the first end time
    let output = stiction(&[&"run", &scene, &"--out", &path, &"--resume", &"--until", &"20.1", &"--json"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert_eq!(json(&output)["steps"], 10_050);
}

#[test]
fn runs_of_every_kind_continue_bit_by_bit() {
    let folder = Folder::new("kinds");
    let scene = folder.file("boxes.toml", &boxes(0.5, 0.4));
    for (name, arguments) in [
        ("ap97", ["--scheme", "ap97"]),
        ("cp03", ["--scheme", "cp03"]),
        ("st00", ["--scheme", "st00-nonlinear"]),
        ("accurate", ["--scheme", "accurate"]),
        ("accuracy", ["--accuracy", "1e-5"]),
    ] {
        let (whole, cut) =
            (folder.path(&format!("{name}.journal")), folder.path(&format!("{name}-cut.journal")));
        let run = |file: &Path, more: &[&str]| {
            let mut command = command(&[&"run", &scene, &"--out", &file]);
            let output = command.args(arguments).args(more).output().unwrap();
            assert_eq!(code(&output), 0, "{name}: {}", printed(&output));
        };
        run(&whole, &[]);
        let bytes = fs::read(&whole).unwrap();
        for part in [3, 5, 8] {
            fs::write(&cut, &bytes[..bytes.len() * part / 10]).unwrap();
            run(&cut, &["--resume"]);
            assert!(fs::read(&cut).unwrap() == bytes, "{name}");
        }
    }
}

/// Steps end at t₀ + k h. A shorter last step is made again, so that a run in two parts is the run in one.
#[test]
fn a_run_that_is_resumed_to_a_later_end_is_the_run_in_one() {
    let folder = Folder::new("later");
    let scene = folder.file("boxes.toml", &boxes(0.05, 0.4));
    for (name, arguments) in
        [("default", &[][..]), ("accurate", &["--scheme", "accurate"]), ("accuracy", &["--accuracy", "1e-5"])]
    {
        let (whole, parts) =
            (folder.path(&format!("{name}.journal")), folder.path(&format!("{name}-2.journal")));
        let run = |file: &Path, more: &[&str]| {
            let output =
                command(&[&"run", &scene, &"--out", &file]).args(arguments).args(more).output().unwrap();
            assert_eq!(code(&output), 0, "{name}: {}", printed(&output));
        };
        run(&whole, &["--until", "0.1"]);
        // not at a multiple of the step size, and not a time that is a sum of them
        for until in ["0.0313", "0.07"] {
            run(&parts, &["--until", until, "--resume"]);
            assert_eq!(code(&stiction(&[&"verify", &parts])), 0, "{name} {until}");
        }
        run(&parts, &["--until", "0.1", "--resume"]);
        assert!(fs::read(&parts).unwrap() == fs::read(&whole).unwrap(), "{name}");
        let made = records(&whole);
        assert_eq!(made.len(), 50);
        for (k, record) in made.iter().enumerate() {
            assert_eq!(record.state.t, (k + 1) as f64 * 0.002, "{name}");
        }
    }
}

#[test]
fn a_second_writer_is_kept_out() {
    let folder = Folder::new("second-writer");
    let scene = folder.file("boxes.toml", &boxes(60.0, 0.4));
    let path = folder.path("run.journal");
    let mut first = command(&[&"run", &scene, &"--out", &path])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while complete_steps(&path) < 5 {
        sleep(Duration::from_millis(1));
    }
    for how in ["--resume", "--overwrite"] {
        let output = stiction(&[&"run", &scene, &"--out", &path, &how]);
        assert_eq!(code(&output), 2, "{}", printed(&output));
        let text = printed(&output);
        assert!(text.contains(&format!("process {} on ", first.id())), "{text}");
        assert!(text.contains(" UTC"), "{text}");
    }
    // the lock of a program that was killed keeps nobody out
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(folder.path("run.journal.lock").exists());
    let until = (complete_steps(&path) as f64 * 0.002 + 0.01).to_string();
    let output = stiction(&[&"run", &scene, &"--out", &path, &"--resume", &"--until", &until]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert!(!folder.path("run.journal.lock").exists());
}
