//! Short versions of the measurements that judge themselves: long runs, jacks, chains, circular friction.

use serde_json::Value;
use std::process::{Command, Output};

fn stiction(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stiction")).args(arguments).output().unwrap()
}

/// What a measurement that went well wrote as JSON.
fn measured(name: &str, arguments: &[&str]) -> Vec<Value> {
    let path = std::env::temp_dir().join(format!("stiction-heaps-{}-{name}.json", std::process::id()));
    let output = stiction(&[arguments, &["--json", path.to_str().unwrap()]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let rows = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    rows
}

#[test]
fn a_wall_and_a_drum_are_what_they_were_after_many_steps() {
    let rows = measured("long", &["bench", "long", "--steps", "500"]);
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|r| r["verdict"] == "holds" && r["steps"] == 500), "{rows:?}");
    let drift = rows[0]["drift"].as_f64().unwrap();
    assert!(drift < 1e-9, "{drift} m");
    assert_eq!(rows[0]["loose"], 0);
}

#[test]
fn jacks_fall_without_gaining_energy() {
    let rows = measured("jacks", &["bench", "jacks", "--count", "12", "--seeds", "2", "--time", "1"]);
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(row["verdict"], "holds");
        // they met: three boxes each, so contacts are of compound bodies
        assert!(row["contacts_max"].as_u64().unwrap() > 30, "{row}");
    }
}

#[test]
fn chains_are_linear_problems() {
    let rows = measured("chains", &["bench", "chains", "--links", "100", "--steps", "3"]);
    for row in &rows {
        assert!(row["certificate"].as_f64().unwrap() < 1e-10, "{row}");
        // shorter ones may be eliminated densely, which counts none
        let [problems, factorizations] = ["problems", "factorizations"].map(|key| row[key].as_f64().unwrap());
        assert!(factorizations <= problems, "{row}");
    }
    assert!(rows.iter().any(|r| r["factorizations"].as_f64().unwrap() >= 1.0));
}

#[test]
fn circular_friction_has_a_second_opinion_too() {
    let output = stiction(&["soak", "--circles", "--count", "400", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{found}");
    assert_eq!(found["total"]["false_solved"], 0);
    assert!(found["total"]["compared"].as_u64().unwrap() > 0);
    assert_eq!(found["total"]["agreed"], found["total"]["compared"]);
}

#[test]
fn a_profile_accounts_for_all_of_a_step() {
    let picture = std::env::temp_dir().join(format!("stiction-heaps-{}.svg", std::process::id()));
    let path = picture.to_str().unwrap();
    let rows = measured("profile", &["bench", "profile", "--steps", "2", "--svg", path]);
    let scenes: std::collections::BTreeSet<_> = rows.iter().map(|r| r["scene"].as_str().unwrap()).collect();
    assert_eq!(scenes.len(), 6);
    for scene in scenes {
        let of = |phase: &str| {
            let found = rows.iter().find(|r| r["scene"] == scene && r["phase"] == phase);
            found.unwrap()["share"].as_f64().unwrap()
        };
        let all: f64 =
            rows.iter().filter(|r| r["scene"] == scene).map(|r| r["share"].as_f64().unwrap()).sum();
        assert!((all - 1.0).abs() < 1e-9, "{scene}: {all}");
        // time that was measured twice would leave less than nothing somewhere
        assert!(rows.iter().all(|r| r["share"].as_f64().unwrap() >= 0.0));
        assert!(of("certificate") > 0.0 && of("preparation") > 0.0);
        let joined = |s: &str| rows.iter().find(|r| r["scene"] == s && r["phase"] == "joints").unwrap();
        let chain = joined("chain of 100")["share"].as_f64().unwrap();
        assert!(scene == "chain of 100" || of("joints") < chain, "{scene}: {}", of("joints"));
    }
    let drawn = std::fs::read_to_string(&picture).unwrap();
    std::fs::remove_file(&picture).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("post-stabilization"));
}
