//! `run --intervals` and `check --motions`: forces of statics and motions that rigid bodies leave open, in the summary,
//! the journal and the tables. The numbers come from an independent computation.

use crate::common::{Folder, code, json, printed, records, stiction};
use crate::convert::npz;
use serde_json::Value;

const ARCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/arch.toml");

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Normal forces with their bounds.
fn normals(summary: &Value) -> Vec<[f64; 3]> {
    let contacts = summary["intervals"].as_array().unwrap();
    let of = |c: &Value| {
        let bounds = &c["normal_interval"];
        [number(&c["normal"]), number(&bounds[0]), number(&bounds[1])]
    };
    contacts.iter().map(of).collect()
}

/// Springers and crown of the arch: inside and outside of a joint.
#[test]
fn an_arch_has_the_intervals_of_its_joints() {
    let folder = Folder::new("arch-intervals");
    let out = folder.path("arch.npz");
    let run = stiction(&[&"run", &ARCH, &"--intervals", &"--until", &"0.01", &"--out", &out, &"--json"]);
    assert_eq!(code(&run), 0, "{}", printed(&run));
    let found = normals(&json(&run));
    for expected in [
        [4_841.729, 0.0, 7_975.338],
        [5_437.476, 2_303.867, 10_279.205],
        [53.580, 0.0, 6_108.768],
        [3_540.515, 0.0, 4_699.052],
    ] {
        let near = |own: &[f64; 3]| own.iter().zip(expected).all(|(a, b)| (a - b).abs() < 5e-3);
        assert!(found.iter().any(near), "{expected:?} is not among {found:?}");
    }
    let journal = records(&folder.path("arch.journal"));
    assert!(journal.iter().all(|record| record.report.intervals.as_ref().is_some_and(|all| !all.is_empty())));
    let (arrays, _) = npz(&out);
    let (shape, bounds) = &arrays["contact_normal_interval"];
    assert_eq!(shape[..], [arrays["contact_sample"].0[0], 2]);
    let last = &bounds[bounds.len() - 2 * found.len()..];
    for (own, bounds) in found.iter().zip(last.chunks(2)) {
        assert!((own[1] - bounds[0]).abs() < 1e-9 && (own[2] - bounds[1]).abs() < 1e-9, "{own:?} {bounds:?}");
    }
    assert!(arrays["contact_locked"].1.iter().all(|locked| *locked == 0.0));
    let verified = stiction(&[&"verify", &folder.path("arch.journal")]);
    assert_eq!(code(&verified), 0, "{}", printed(&verified));
}

/// Table of 4 kg on four legs; in every scheme each carries anything from none to half of the weight.
#[test]
fn every_scheme_has_intervals() {
    let folder = Folder::new("table-intervals");
    let scene = "format = 1\ndimension = 3\nrun = { duration = 0.02, step = 0.01 }\n\
        bodies = [{ name = \"ground\", motion = \"fixed\", shapes = [{ kind = \"half_space\" }] },\n\
        { name = \"table\", mass = 4.0, position = [0.0, 0.0, 0.1],\n\
          shapes = [{ kind = \"box\", half_extents = [1.0, 1.0, 0.1] }] }]\n";
    let scene = folder.file("table.toml", scene);
    for how in [["--scheme", "ap97"], ["--scheme", "accurate"], ["--accuracy", "1e-6"], ["--scheme", "timed"]]
    {
        let out = folder.path("table.journal");
        let run = stiction(&[
            &"run",
            &scene,
            &"--intervals",
            &how[0],
            &how[1],
            &"--out",
            &out,
            &"--overwrite",
            &"--json",
        ]);
        assert_eq!(code(&run), 0, "{how:?}: {}", printed(&run));
        let found = normals(&json(&run));
        assert_eq!(found.len(), 4, "{how:?}");
        for own in found {
            let near = own.iter().zip([9.81, 0.0, 19.62]).all(|(a, b)| (a - b).abs() < 1e-5);
            assert!(near, "{how:?}: {own:?}");
        }
    }
}

/// Body between two plates that are held in place: it is locked, and may be held or fall.
#[test]
fn a_locked_grasp_is_named() {
    let folder = Folder::new("locked");
    let plate = |name: &str, x: f64| {
        format!(
            "{{ name = \"{name}\", motion = \"fixed\", position = [{x:?}, 0.0], material = \"rough\",\n\
             shapes = [{{ kind = \"rectangle\", half_extents = [0.05, 0.1] }}] }}"
        )
    };
    let scene = format!(
        "format = 1\ndimension = 2\nrun = {{ duration = 0.01, step = 0.01 }}\nmaterials.rough = {{ friction = 0.5 }}\n\
         bodies = [{}, {},\n\
         {{ name = \"held\", mass = 1.0, material = \"rough\", shapes = [{{ kind = \"disk\", radius = 0.05 }}] }}]\n",
        plate("left", -0.1),
        plate("right", 0.1)
    );
    let scene = folder.file("grasp.toml", &scene);
    let checked = stiction(&[&"check", &"--motions", &scene]);
    assert_eq!(code(&checked), 0, "{}", printed(&checked));
    let text = printed(&checked);
    assert!(text.contains("the motion is not unique: 2 follow from the start, and all between"), "{text}");
    let checked = json(&stiction(&[&"check", &"--motions", &"--json", &scene]));
    let motions = &checked[0]["motions"];
    assert_eq!(motions["unique"], false);
    let fall = |motion: &Value| number(&motion["accelerations"][0][1][1]);
    let mut falls: Vec<f64> = motions["motions"].as_array().unwrap().iter().map(fall).collect();
    falls.sort_by(f64::total_cmp);
    assert!((falls[0] + 9.81).abs() < 1e-6 && falls[1].abs() < 1e-6, "{falls:?}");
    // a ball on the ground has one
    let ball = "format = 1\ndimension = 2\nrun = { duration = 1.0 }\n\
        bodies = [{ name = \"ground\", motion = \"fixed\", shapes = [{ kind = \"half_plane\" }] },\n\
        { name = \"ball\", density = 1.0, position = [0.0, 0.1], shapes = [{ kind = \"disk\", radius = 0.1 }] }]\n";
    let text = printed(&stiction(&[&"check", &"--motions", &folder.file("ball.toml", ball)]));
    assert!(text.contains("one motion follows from the start"), "{text}");
}
