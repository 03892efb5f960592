//! `--set`, `plot` and `sweep`, and runs with controllers: recorded, resumed and verified.

use crate::common::{Folder, code, printed, records, stiction};
use std::fs;

/// Crate on an incline of 20°, with a sensor and a controlled pusher that is off.
const INCLINE: &str = r#"
format = 1
dimension = 2
title = "Crate on an incline"
run = { duration = 0.4, step = 0.01 }

[materials.default]
friction = 0.5

[[bodies]]
name = "big ramp"
motion = "fixed"
angle_deg = 20.0
shapes = [{ kind = "half_plane" }]

[[bodies]]
name = "crate"
density = 100.0
position = [-0.03420201433256687, 0.09396926207859084]
angle_deg = 20.0
shapes = [{ kind = "rectangle", half_extents = [0.1, 0.1] }]

[[sensors]]
name = "load"
value = "normal('big ramp', crate)"

[[forces]]
name = "pusher"
body = "crate"
force = ["-0.5*vx(crate) + 0*load", 0.0]
every = 0.02
"#;

#[test]
fn values_are_set_and_recorded() {
    let folder = Folder::new("set");
    let (scene, out) = (folder.file("incline.toml", INCLINE), folder.path("a.journal"));
    let set = |values: &[&str]| {
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"run", &scene, &"--overwrite", &"--out", &out];
        for value in values {
            arguments.extend([&"--set" as &dyn AsRef<std::ffi::OsStr>, value]);
        }
        stiction(&arguments)
    };
    let output = set(&["materials.default.friction=0.3", "run.duration=0.2"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert_eq!(records(&out).len(), 20);
    // the journal holds the scene that was run, and is verified with it
    let output = stiction(&[&"verify", &out]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let output = set(&["material.default.friction=0.3"]);
    assert_eq!(code(&output), 2);
    assert!(printed(&output).contains("did you mean `materials`?"), "{}", printed(&output));
}

#[test]
fn a_run_with_controllers_is_resumed_bit_by_bit() {
    let folder = Folder::new("controllers");
    let slippery = INCLINE.replace("friction = 0.5", "friction = 0.1");
    let scene = folder.file("incline.toml", &slippery);
    let (whole, parts) = (folder.path("whole.journal"), folder.path("parts.journal"));
    let run = |out: &std::path::Path, more: &[&str]| {
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"run", &scene, &"--out", &out];
        arguments.extend(more.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        let output = stiction(&arguments);
        assert_eq!(code(&output), 0, "{}", printed(&output));
    };
    run(&whole, &[]);
    run(&parts, &["--until", "0.13"]);
    run(&parts, &["--resume"]);
    assert!(fs::read(&whole).unwrap() == fs::read(&parts).unwrap(), "the journals differ");
    // the controller acts: its input is not what it was at the start
    let last = records(&whole).pop().unwrap().state;
    assert!(last.q.last().is_some_and(|push| *push > 0.1), "{:?}", last.q);
    let output = stiction(&[&"verify", &whole]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    // sensors are columns
    let csv = folder.path("whole.csv");
    let output = stiction(&[&"convert", &whole, &"--to", &"csv", &"--out", &csv]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let table = fs::read_to_string(&csv).unwrap();
    let column = table.lines().next().unwrap().split(',').position(|name| name == "sensor.load").unwrap();
    let load: f64 = table.lines().last().unwrap().split(',').nth(column).unwrap().parse().unwrap();
    // 4 kg on 20°, and the pusher
    let (sin, cos) = 20_f64.to_radians().sin_cos();
    let push = last.q.last().copied().unwrap_or(0.0);
    assert!((load - 4.0 * 9.81 * cos - push * sin).abs() < 1e-9, "{load} N with {push} N");
}

#[test]
fn quantities_of_a_run_are_drawn() {
    let folder = Folder::new("plot");
    let (scene, out) = (folder.file("incline.toml", INCLINE), folder.path("a.journal"));
    assert_eq!(code(&stiction(&[&"run", &scene, &"--out", &out])), 0);
    let svg = folder.path("a.svg");
    let output = stiction(&[
        &"plot",
        &out,
        &"--y",
        &"normal('big ramp', crate)",
        &"--y",
        &"load",
        &"--y",
        &"1e3*x(crate)",
    ]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let text = fs::read_to_string(&svg).unwrap();
    assert!(text.contains("normal(") && text.contains("time [s]") && text.contains("Crate on an incline"));
    let output = stiction(&[&"plot", &out, &"--y", &"torque(hinge)"]);
    assert_eq!(code(&output), 2);
    assert!(printed(&output).contains("there is no joint `hinge`"), "{}", printed(&output));
}

/// A crate slips above tan θ: the threshold of friction is tan 20°.
#[test]
fn a_threshold_is_found_by_bisection() {
    let folder = Folder::new("bisect");
    let scene = folder.file("incline.toml", INCLINE);
    let output = stiction(&[
        &"sweep",
        &scene,
        &"--until",
        &"0.1",
        &"--set",
        &"materials.default.friction=0.1:0.8",
        &"--bisect",
        &"max(slip('big ramp', crate)) < 1e-6",
    ]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let text = printed(&output);
    let found = text.split("threshold").nth(1).unwrap().split_whitespace().next().unwrap();
    let found: f64 = found.parse().unwrap();
    assert!((found - 20_f64.to_radians().tan()).abs() < 5e-6, "{text}");
}

#[test]
fn a_sweep_is_a_table_and_a_figure() {
    let folder = Folder::new("sweep");
    let scene = folder.file("incline.toml", INCLINE);
    let (csv, svg) = (folder.path("t.csv"), folder.path("t.svg"));
    let arguments: [&dyn AsRef<std::ffi::OsStr>; 14] = [
        &"sweep",
        &scene,
        &"--set",
        &"materials.default.friction=0.1,0.2,0.5",
        &"--set",
        &"run.step=0.01:0.005:2",
        &"--measure",
        &"last(vx(crate))",
        &"--measure",
        &"max(t)",
        &"--out",
        &csv,
        &"--plot",
        &svg,
    ];
    let output = stiction(&arguments);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let table = fs::read_to_string(&csv).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["materials.default.friction", "run.step", "last(vx(crate))", "max(t)"]);
    assert_eq!(rows.len(), 7);
    for row in &rows[1..] {
        let value = |k: usize| row[k].parse::<f64>().unwrap();
        let angle = 20_f64.to_radians();
        // sliding down to the left, less a pusher of up to 0.3 N on 4 kg
        let exact = -0.4 * 9.81 * (angle.sin() - value(0) * angle.cos()).max(0.0) * angle.cos();
        assert!((value(2) - exact).abs() < 0.03, "{row:?}: {exact}");
        assert!((value(3) - 0.4).abs() < 1e-12);
    }
    assert!(fs::read_to_string(&svg).unwrap().contains("run.step = 0.005"));
}
