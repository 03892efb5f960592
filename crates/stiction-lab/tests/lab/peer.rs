//! `stiction-lab peer`: the fields that the comparison with other engines reads, and motions with closed forms.

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

const G: f64 = 9.81;

/// A scene of half a second with ten samples, without anything in it.
fn scene(name: &str) -> Value {
    json!({"name": name, "T": 0.5, "samples": 10, "gravity": [0.0, 0.0, -G], "mu": 0.3, "e": 0.0,
        "plane": true, "collide": true, "bodies": [], "joints": []})
}

fn body(shape: &Value, pos: [f64; 3], vel: [f64; 3]) -> Value {
    let mut body = json!({"mass": 1.0, "inertia": [0.004, 0.004, 0.004], "pos": pos, "quat": [1, 0, 0, 0],
        "vel": vel, "omega": [0, 0, 0], "force": [0, 0, 0]});
    for (key, value) in shape.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

fn sphere() -> Value {
    json!({"shape": "sphere", "r": 0.1})
}

/// Runs a scene from a file of its own.
fn run(scene: &Value, arguments: &[&str]) -> Output {
    let name = format!("stiction-peer-{}-{}.json", std::process::id(), scene["name"].as_str().unwrap());
    let path: PathBuf = std::env::temp_dir().join(name);
    fs::write(&path, scene.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stiction-lab"));
    let output = command.args(["peer", "--scene"]).arg(&path).args(arguments).output().unwrap();
    fs::remove_file(&path).unwrap();
    output
}

/// The line of a run that went well, after its fields are checked.
fn line(scene: &Value, settings: &str, h: f64) -> Value {
    let output = run(scene, &["--h", &h.to_string(), "--settings", settings, "--repeat", "2"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1);
    let line: Value = serde_json::from_str(&text).unwrap();
    for (field, value) in
        [("scene", scene["name"].clone()), ("engine", json!("stiction")), ("settings", json!(settings))]
    {
        assert_eq!(line[field], value, "{field}");
    }
    assert_eq!((line["h"].as_f64(), line["sim_s"].as_f64()), (Some(h), Some(0.5)));
    for field in ["wall_s", "cpu_s", "nsteps"] {
        assert!(line[field].as_f64().unwrap() > 0.0, "{field}");
    }
    for field in ["version", "settings_desc"] {
        assert!(!line[field].as_str().unwrap().is_empty(), "{field}");
    }
    assert!(line.get("fail").is_none() && line.get("timeout").is_none());
    let (t, x) = (line["t"].as_array().unwrap(), line["X"].as_array().unwrap());
    let bodies = scene["bodies"].as_array().unwrap().len();
    assert_eq!((t.len(), x.len()), (11, 11));
    assert!(x.iter().all(|x| x.as_array().unwrap().len() == bodies && x[0].as_array().unwrap().len() == 13));
    line
}

/// Coordinate `k` of a body at the end.
fn end(line: &Value, body: usize, k: usize) -> f64 {
    line["X"][10][body][k].as_f64().unwrap()
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not within {tolerance} of {b}");
}

#[test]
fn a_ball_slips_and_rolls() {
    let mut scene = scene("ball");
    scene["bodies"] = json!([body(&sphere(), [0.0, 0.0, 0.1], [1.0, 0.0, 0.0])]);
    // v falls by μg until ω r, which grows by 5/2 μg, has come up to it
    let slips = 2.0 / (7.0 * 0.3 * G);
    let exact = slips - 0.5 * 0.3 * G * slips * slips + 5.0 / 7.0 * (0.5 - slips);
    for (settings, tolerance) in [("default", 0.01), ("accurate", 1e-12), ("followed", 1e-12)] {
        let line = line(&scene, settings, 0.01);
        near(end(&line, 0, 0), exact, tolerance);
        // it rolls about +y
        near(end(&line, 0, 11), 5.0 / 7.0 / 0.1, 20.0 * tolerance);
    }
}

#[test]
fn a_box_slides_until_it_stops() {
    let mut scene = scene("box");
    let shape = json!({"shape": "box", "half": [0.2, 0.2, 0.1]});
    scene["bodies"] = json!([body(&shape, [0.0, 0.0, 0.1], [0.6, 0.8, 0.0])]);
    let exact = 1.0 / (2.0 * 0.3 * G);
    // a step too many at 0.01 s and 1 m/s, at most
    for (settings, tolerance) in [("default", 0.01), ("accurate", 1e-12)] {
        let line = line(&scene, settings, 0.01);
        near(end(&line, 0, 0), 0.6 * exact, tolerance);
        near(end(&line, 0, 1), 0.8 * exact, tolerance);
        assert!(line["infeasibility"].as_f64().unwrap() < 1e-9);
    }
}

#[test]
fn a_capsule_is_pushed_and_two_balls_stand() {
    let mut scene = scene("capsule");
    scene["mu"] = json!(0.0);
    // upright, and held up by nothing but the force
    let mut capsule = body(&json!({"shape": "capsule", "r": 0.05, "hl": 0.25}), [0.0; 3], [0.0; 3]);
    capsule["pos"] = json!([2.0, 0.0, 1.0]);
    capsule["force"] = json!([3.0, 0.0, G]);
    let balls = [0.1, 0.3].map(|z| body(&sphere(), [0.0, 0.0, z], [0.0; 3]));
    scene["bodies"] = json!([balls[0], balls[1], capsule]);
    for settings in ["default", "first-order", "accurate", "followed"] {
        let line = line(&scene, settings, 0.005);
        near(end(&line, 0, 2), 0.1, 1e-9);
        near(end(&line, 1, 2), 0.3, 1e-9);
        near(end(&line, 2, 7), 1.5, 1e-9);
        near(end(&line, 2, 2), 1.0, 1e-9);
    }
}

#[test]
fn bars_on_hinges_keep_their_energy_and_pass_through_the_plane() {
    let mut scene = scene("bars");
    (scene["plane"], scene["collide"]) = (json!(false), json!(false));
    let shape = json!({"shape": "box", "half": [0.25, 0.02, 0.02]});
    scene["bodies"] = json!([0.25, 0.75].map(|x| body(&shape, [x, 0.0, 0.0], [0.0; 3])));
    scene["joints"] = json!([
        {"type": "revolute", "a": -1, "b": 0, "anchor": [0.0, 0.0, 0.0], "axis": [0, 1, 0]},
        {"type": "revolute", "a": 0, "b": 1, "anchor": [0.5, 0.0, 0.0], "axis": [0, 1, 0]},
    ]);
    let line = line(&scene, "followed", 0.005);
    let energy: f64 = (0..2)
        .map(|i| {
            let square = |from: usize| (from..from + 3).map(|k| end(&line, i, k).powi(2)).sum::<f64>();
            0.5 * square(7) + 0.5 * 0.004 * square(10) + G * end(&line, i, 2)
        })
        .sum();
    near(energy, 0.0, 1e-6);
    // both hang below the hinge by then, and the first is still half a bar from it
    assert!(end(&line, 1, 2) < -0.1);
    near(end(&line, 0, 0).hypot(end(&line, 0, 2)), 0.25, 1e-9);
}

#[test]
fn a_run_that_takes_too_long_is_cut() {
    let mut scene = scene("cut");
    scene["bodies"] = json!([body(&sphere(), [0.0, 0.0, 1.0], [0.0; 3])]);
    let output = run(&scene, &["--h", "0.01", "--max-wall", "0"]);
    let line: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(line["timeout"], json!(true));
    assert!(line["sim_s"].as_f64().unwrap() < 0.5);
}

#[test]
fn bad_input_is_named() {
    let mut good = scene("bad");
    good["bodies"] = json!([body(&sphere(), [0.0, 0.0, 1.0], [0.0; 3])]);
    let complains = |change: &dyn Fn(&mut Value), arguments: &[&str], words: &str| {
        let mut scene = good.clone();
        change(&mut scene);
        let output = run(&scene, arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words}: {told}");
        assert!(told.contains(words) && output.stdout.is_empty(), "{words}: {told}");
    };
    let h = ["--h", "0.01"];
    complains(&|s| s["bodies"][0]["shape"] = json!("torus"), &h, "torus");
    complains(&|s| s["bodies"][0]["mass"] = json!(-1.0), &h, "body 0");
    complains(&|s| s["bodies"][0]["quat"] = json!([0, 0, 0, 0]), &h, "body 0: quat");
    complains(&|s| s["bodies"][0]["pos"] = json!([0, 0]), &h, "array of length 3");
    complains(&|s| s["mu"] = json!(-0.5), &h, "friction");
    complains(&|s| s["T"] = json!(0.0), &h, "T = 0");
    complains(&|s| s["samples"] = json!(0), &h, "samples");
    let hinge = json!([{"type": "revolute", "a": -1, "b": 7, "anchor": [0, 0, 0], "axis": [0, 1, 0]}]);
    complains(&|s| s["joints"] = hinge.clone(), &h, "joint 0: there is no body 7");
    complains(&|_| (), &["--h", "0.03"], "whole number");
    complains(&|_| (), &["--h=-0.01"], "positive");
    complains(&|_| (), &["--h", "0.01", "--repeat", "0"], "--repeat");
    complains(&|_| (), &["--h", "0.01", "--settings", "best"], "best");
    let missing = Command::new(env!("CARGO_BIN_EXE_stiction-lab"))
        .args(["peer", "--scene", "no-such-scene.json", "--h", "0.01"])
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no-such-scene.json"));
}
