//! `convert`: arrays and tables, read back independently.

use crate::common::{Folder, boxes, code, printed, records, stiction};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Decodes a NumPy array by its specification: magic, version, length of the header, the header as a Python literal.
fn array(bytes: &[u8]) -> (Vec<usize>, Vec<f64>) {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((10 + length) % 64, 0, "aligned");
    let head = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    assert!(head.starts_with("{'descr': '<f8', 'fortran_order': False, 'shape': (") && head.ends_with('\n'));
    let shape = head.split('(').nth(1).unwrap().split(')').next().unwrap();
    let shape: Vec<usize> = shape.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let (chunks, []) = bytes[10 + length..].as_chunks::<8>() else { panic!("no float64") };
    let data: Vec<f64> = chunks.iter().map(|b| f64::from_le_bytes(*b)).collect();
    assert_eq!(data.len(), shape.iter().product::<usize>());
    (shape, data)
}

/// Arrays by name: shape and numbers.
pub(crate) type Arrays = BTreeMap<String, (Vec<usize>, Vec<f64>)>;

pub(crate) fn npz(path: &Path) -> (Arrays, Value) {
    let mut zip = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let mut arrays = BTreeMap::new();
    let mut metadata = Value::Null;
    for i in 0..zip.len() {
        let mut file = zip.by_index(i).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        match file.name().unwrap().strip_suffix(".npy") {
            Some(name) => drop(arrays.insert(name.to_string(), array(&bytes))),
            None => metadata = serde_json::from_slice(&bytes).unwrap(),
        }
    }
    (arrays, metadata)
}

#[test]
fn arrays_equal_the_journal() {
    let folder = Folder::new("npz");
    let scene = folder.file("boxes.toml", &boxes(0.4, 0.4));
    let out = folder.path("run.npz");
    let output = stiction(&[&"run", &scene, &"--out", &out]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let (arrays, metadata) = npz(&out);
    let made = records(&folder.path("run.journal"));
    let samples = made.len() + 1;
    let (shape, time) = &arrays["time"];
    assert_eq!(shape, &[samples]);
    assert_eq!(time[1..], made.iter().map(|s| s.state.t).collect::<Vec<_>>());
    assert_eq!(time[0], 0.0);
    let bodies = metadata["bodies"].as_array().unwrap().len();
    assert_eq!(bodies, 7);
    assert_eq!(arrays["body_position"].0, [samples, bodies, 3]);
    assert_eq!(arrays["body_quat_wxyz"].0, [samples, bodies, 4]);
    let (shape, q) = &arrays["coordinates"];
    let n = made[0].state.q.len();
    assert_eq!(shape, &[samples, n]);
    for (k, step) in made.iter().enumerate() {
        assert_eq!(q[(k + 1) * n..(k + 2) * n], step.state.q);
    }
    // coordinates of the last body; the floor has none
    let angle = &arrays["body_angle"].1;
    assert_eq!(angle[samples * bodies - 2], q[samples * n - 4]);
    let contacts: usize = made.iter().map(|s| s.report.contacts.len()).sum();
    assert_eq!(arrays["contact_normal_impulse"].0, [contacts]);
    let impulses: Vec<f64> = made.iter().flat_map(|s| &s.report.contacts).map(|c| c.normal_impulse).collect();
    assert_eq!(arrays["contact_normal_impulse"].1, impulses);
    let (_, sample) = &arrays["contact_sample"];
    assert_eq!(sample.last(), Some(&((samples - 1) as f64)));
    assert!(arrays["certificate_natural_map"].1[0].is_nan());
    assert_eq!(metadata["quantities"]["time"]["unit"], "s");
    assert_eq!(metadata["scene_text"].as_str().unwrap(), boxes(0.4, 0.4));
}

/// A run to an accuracy has forces at its samples: the floor carries the first box before the second falls on it.
#[test]
fn a_run_to_an_accuracy_converts_to_forces() {
    let folder = Folder::new("forces");
    let scene = folder.file("boxes.toml", &boxes(0.12, 0.4));
    let out = folder.path("run.npz");
    let output = stiction(&[&"run", &scene, &"--out", &out, &"--accuracy", &"1e-6"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let (arrays, metadata) = npz(&out);
    assert_eq!(
        metadata["quantities"]["contact_normal_force"]["unit"],
        "N, on the second body, at the sample"
    );
    assert!(!arrays.contains_key("contact_normal_impulse"));
    let (contacts, samples) = (&arrays["contact_sample"].1, arrays["time"].0[0]);
    let [force, friction] = ["contact_normal_force", "contact_friction_force"].map(|name| &arrays[name].1);
    let (bodies, mode) = (&arrays["contact_bodies"].1, &arrays["contact_mode"].1);
    // boxes of 40 kg; nothing is solved at the start
    let first = (0..contacts.len()).filter(|&k| contacts[k] == 1.0 && bodies[2 * k] == 0.0);
    let carried: f64 = first.map(|k| force[k]).sum();
    assert!((carried - 40.0 * 9.81).abs() < 1e-9, "{carried} N");
    let slipping: Vec<usize> = (0..contacts.len()).filter(|&k| mode[k] == 2.0).collect();
    assert!(!slipping.is_empty(), "the top box slides when it has landed");
    for k in slipping {
        let size = friction[3 * k].hypot(friction[3 * k + 1]);
        assert!((size - 0.4 * force[k]).abs() < 1e-9 * force[k].max(1.0), "{size} N of {} N", force[k]);
    }
    assert_eq!(arrays["joint_row_force"].0, [2 * (samples - 1)]);
    // the bob starts at rest beside its hinge: the hinge carries a share of its weight
    let first = arrays["joint_row_force"].1[..2].iter().map(|f| f * f).sum::<f64>().sqrt();
    assert!((first - 9.81 / 11.0).abs() < 0.02, "{first} N");
}

/// The hinge of a pendulum carries the weight and the centripetal force of its bob, and reads its angle and speed.
#[test]
fn joints_are_read_in_newtons_by_name() {
    let folder = Folder::new("joint-loads");
    let scene = folder.file("boxes.toml", &boxes(0.4, 0.4));
    let out = folder.path("run.npz");
    let output = stiction(&[&"run", &scene, &"--out", &out, &"--accuracy", &"1e-8"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let (arrays, metadata) = npz(&out);
    let joints = metadata["joints"].as_array().unwrap().len();
    let samples = arrays["time"].0[0];
    assert_eq!(arrays["joint_force"].0, [samples, joints, 3]);
    assert_eq!(metadata["quantities"]["contact_mode"]["words"], serde_json::json!(["open", "stick", "slip"]));
    assert!(arrays["joint_force"].1[0].is_nan(), "nothing is solved at the start");
    let [coordinate, speed] = ["joint_coordinate", "joint_speed"].map(|name| arrays[name].1[samples - 1]);
    let [x, y] = [0, 1].map(|c| arrays["joint_force"].1[(samples - 1) * 3 + c]);
    let rows = &arrays["joint_row_force"].1;
    assert!((x - rows[rows.len() - 2]).abs() < 1e-12 && (y - rows[rows.len() - 1]).abs() < 1e-12);
    assert!(x.hypot(y) > 5.0 && coordinate.abs() > 0.1 && speed.abs() > 0.1, "{x} {y} {coordinate} {speed}");
}

#[test]
fn the_formats_agree() {
    let folder = Folder::new("formats");
    let text = boxes(0.4, 0.4) + "\n[record]\nevery = 0.02\nbodies = [\"box 0\", \"bob\"]\n";
    let scene = folder.file("boxes.toml", &text);
    let journal = folder.path("run.journal");
    let output = stiction(&[&"run", &scene, &"--out", &journal]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    for format in ["npz", "csv", "json"] {
        let output = stiction(&[&"convert", &journal, &"--to", &format]);
        assert_eq!(code(&output), 0, "{}", printed(&output));
        assert!(printed(&output).contains(&format!("run.{format}")));
    }
    let (arrays, _) = npz(&folder.path("run.npz"));
    // 20 samples and the start
    assert_eq!(arrays["body_position"].0, [21, 2, 3]);
    let json: Value = serde_json::from_str(&fs::read_to_string(folder.path("run.json")).unwrap()).unwrap();
    let csv = fs::read_to_string(folder.path("run.csv")).unwrap();
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 21);
    let column = names.iter().position(|n| *n == "body_position.bob.y").unwrap();
    for (k, row) in rows.iter().enumerate() {
        assert_eq!(row.len(), names.len());
        let expected = arrays["body_position"].1[k * 6 + 4];
        assert_eq!(row[column].parse::<f64>().unwrap(), expected);
        assert_eq!(json["body_position"][k][1][1].as_f64().unwrap(), expected);
    }
    let contacts = fs::read_to_string(folder.path("run.contacts.csv")).unwrap();
    // bodies and modes in words
    let first = contacts.lines().nth(1).unwrap();
    assert!(first.contains(",floor,box 0,") && first.contains(",stick,"), "{first}");
    assert_eq!(contacts.lines().count(), 1 + arrays["contact_gap"].0[0]);
    let joints = fs::read_to_string(folder.path("run.joints.csv")).unwrap();
    assert_eq!(joints.lines().count(), 1 + arrays["joint_row_impulse"].0[0]);
}

#[test]
fn a_run_lists_every_file_it_writes() {
    let folder = Folder::new("listed");
    let scene = folder.file("boxes.toml", &boxes(0.1, 0.4));
    let output = stiction(&[&"run", &scene, &"--out", &folder.path("run.csv")]);
    for file in ["run.csv", "run.contacts.csv", "run.joints.csv"] {
        assert!(printed(&output).contains(file), "{}", printed(&output));
        assert!(folder.path(file).exists(), "{file}");
    }
    // the contacts of an earlier run are overwritten
    let scene = folder.file("boxes.toml", &(boxes(0.1, 0.4) + "\n[record]\ncontacts = false\n"));
    let output = stiction(&[&"run", &scene, &"--out", &folder.path("run.csv"), &"--overwrite"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert_eq!(fs::read_to_string(folder.path("run.contacts.csv")).unwrap().lines().count(), 1);
    let output = stiction(&[&"run", &scene, &"--out", &folder.path("other.csv")]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert!(!folder.path("other.contacts.csv").exists());
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_program_without_parquet_says_how_to_build_it() {
    let folder = Folder::new("without");
    // a run of days must be refused before its first step
    let scene = folder.file("boxes.toml", &boxes(1e6, 0.4));
    let commands: [&[&dyn AsRef<std::ffi::OsStr>]; 2] = [
        &[&"run", &scene, &"--out", &folder.path("run.parquet")],
        &[&"convert", &folder.path("run.journal"), &"--to", &"parquet"],
    ];
    for command in commands {
        let output = stiction(command);
        assert_eq!(code(&output), 2, "{}", printed(&output));
        let how = "built without Parquet; build it with: cargo install --path crates/stiction-cli --locked --features parquet";
        assert!(printed(&output).contains(how), "{}", printed(&output));
    }
    assert_eq!(fs::read_dir(folder.path(".")).unwrap().count(), 1, "only the scene is left");
}

#[test]
fn steps_before_a_damaged_record_are_converted() {
    let folder = Folder::new("damaged");
    let scene = folder.file("boxes.toml", &boxes(0.2, 0.4));
    let journal = folder.path("run.journal");
    assert_eq!(code(&stiction(&[&"run", &scene, &"--out", &journal])), 0);
    let mut bytes = fs::read(&journal).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    fs::write(&journal, &bytes).unwrap();
    let output = stiction(&[&"convert", &journal, &"--to", &"npz"]);
    assert_eq!(code(&output), 1);
    assert!(printed(&output).contains("checksum"), "{}", printed(&output));
    let (arrays, _) = npz(&folder.path("run.npz"));
    assert!((20..100).contains(&arrays["time"].0[0]));
}
