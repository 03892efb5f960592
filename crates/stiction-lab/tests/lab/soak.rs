//! `stiction-lab soak`: nothing is wrong with a few hundred problems, on any number of threads.

use crate::common::{TestFolder, code, lab, stderr, stdout, text};
use serde_json::Value;

#[test]
fn a_soak_finds_nothing_wrong_on_any_number_of_threads() {
    let folder = TestFolder::new("soak");
    let run = |threads: &str| {
        let out = text(folder.path());
        let output = lab(&["soak", "--count", "300", "--json", "--threads", threads, "--out", out]);
        assert_eq!(code(&output), 0, "{}", stdout(&output));
        let mut answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["status"], "solved");
        assert_eq!(answer["total"]["false_solved"], 0);
        assert_eq!(answer["total"]["count"], 315);
        assert_eq!(answer["total"]["solved"], 300);
        assert_eq!(answer["total"]["proved"], 15);
        // everything but the clock is the same
        answer.as_object_mut().unwrap().remove("elapsed_seconds");
        answer["total"].as_object_mut().unwrap().remove("seconds");
        for kind in answer["kinds"].as_object_mut().unwrap().values_mut() {
            kind.as_object_mut().unwrap().remove("seconds");
        }
        answer
    };
    assert_eq!(run("1"), run("3"));
    let output = lab(&["soak", "--count", "60", "--seed", "7", "--out", text(folder.path())]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains("0 false solved") && stdout(&output).contains(" 0 failed"));
    assert_eq!(stderr(&output), "");
}

#[test]
fn circular_friction_has_a_second_opinion_too() {
    let output = lab(&["soak", "--circles", "--count", "400", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{found}");
    assert_eq!(found["total"]["false_solved"], 0);
    assert!(found["total"]["compared"].as_u64().unwrap() > 0);
    assert_eq!(found["total"]["agreed"], found["total"]["compared"]);
}
