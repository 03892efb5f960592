//! Journals that were tampered with, checksums and all.

use crate::common::{BOUNCING, Folder, balls, boxes, code, json, steps, stiction, words};
use std::fs;
use std::path::{Path, PathBuf};
use stiction::{ContactReport, MomentReport, Part};
use stiction_journal::{Header, Journal, Step, Writer};

/// A run, and what a forger makes of it.
struct Forger {
    folder: Folder,
    path: PathBuf,
}

impl Forger {
    /// Boxes by a scheme.
    fn new(name: &str, scheme: &str) -> Self {
        Self::of(name, &boxes(0.6, 0.4), ["--scheme", scheme])
    }

    fn of(name: &str, scene: &str, how: [&str; 2]) -> Self {
        let folder = Folder::new(name);
        let scene = folder.scene("scene.toml", scene);
        let path = folder.path("run.journal");
        let output = stiction(&[&"run", &scene, &"--out", &path, &how[0], &how[1]]);
        assert_eq!(code(&output), 0, "{}", words(&output));
        Self { folder, path }
    }

    /// The same journal with right checksums and this change; what is found in it.
    fn forge(&self, change: impl FnOnce(&mut Header, &mut [Step])) -> Vec<(u64, String)> {
        let journal = Journal::open(&self.path).unwrap();
        let (mut header, start) = (journal.header().clone(), journal.start().clone());
        let mut steps = steps(&self.path);
        change(&mut header, &mut steps);
        let forged = self.folder.path("forged.journal");
        let mut writer = Writer::replace(&forged, &header, &start).unwrap();
        steps.iter().for_each(|step| writer.add(step).unwrap());
        drop(writer);
        findings(&forged)
    }

    /// Each of these changes to contact `i` of a step is found there.
    fn assert_found(&self, changes: &[(&str, &str, Change)], step: usize, i: usize) {
        let number = step as u64 + 1;
        for (name, check, change) in changes {
            let found = self.forge(|_, steps| change(&mut steps[step], i));
            assert!(found.contains(&(number, (*check).to_string())), "{name} in step {number}: {found:?}");
            // the next step starts from what was forged
            assert!(found.iter().all(|f| f.0 == number || f.0 == number + 1), "{name}: {found:?}");
        }
    }
}

/// Steps and checks that fail.
fn findings(path: &Path) -> Vec<(u64, String)> {
    let output = stiction(&[&"verify", &path, &"--json"]);
    let report = json(&output);
    let found: Vec<(u64, String)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["step"].as_u64().unwrap(), f["check"].as_str().unwrap().to_string()))
        .collect();
    assert_eq!(code(&output), i32::from(!found.is_empty()), "{}", words(&output));
    found
}

/// The step that is forged, and a contact of it that does this.
fn target(steps: &[Step], does: impl Fn(&ContactReport) -> bool + Copy) -> (usize, usize) {
    let found =
        steps.iter().enumerate().skip(100).find_map(|(k, s)| Some((k, s.contacts.iter().position(does)?)));
    found.expect("a contact that does")
}

fn slides(contact: &ContactReport) -> bool {
    contact.friction_impulse.iter().any(|p| p.abs() > 1e-3)
}

fn moment(step: &mut Step, contact: usize) -> &mut MomentReport {
    step.contacts[contact].moment.as_mut().expect("a moment")
}

#[test]
fn an_honest_journal_passes() {
    for scheme in ["default", "ap97", "cp03", "ah04", "st00", "st00-nonlinear", "baumgarte"] {
        let forger = Forger::new(&format!("honest-{scheme}"), scheme);
        assert_eq!(forger.forge(|_, _| ()), [], "{scheme}");
        let output = stiction(&[&"verify", &forger.path]);
        assert_eq!(code(&output), 0);
        assert!(words(&output).contains("300 steps verified without the solver"), "{}", words(&output));
    }
}

/// What is done to a contact of a step.
type Change = fn(&mut Step, usize);

#[test]
fn forged_numbers_are_found_with_their_step() {
    let forger = Forger::new("numbers", "default");
    let original = steps(&forger.path);
    let (k, i) = target(&original, slides);
    let changes: [(&str, &str, Change); 8] = [
        ("normal impulse", "momentum", |s, i| s.contacts[i].normal_impulse *= -1.0),
        ("a little normal impulse", "momentum", |s, i| s.contacts[i].normal_impulse += 1e-8),
        ("friction", "momentum", |s, i| s.contacts[i].friction_impulse[0] *= -1.0),
        ("position", "position", |s, _| s.q[1] += 1e-9),
        ("velocity", "momentum", |s, _| s.v[1] += 1e-8),
        ("μ", "contact", |s, i| s.contacts[i].mu = 0.41),
        ("joint impulse", "momentum", |s, _| s.joints[0].impulse += 1e-7),
        ("energy", "figure", |s, _| s.kinetic *= 1.001),
    ];
    forger.assert_found(&changes, k, i);
    // steps that are left out
    let found = forger.forge(|_, steps| steps[k] = steps[k + 1].clone());
    assert!(found.iter().any(|f| f.0 == k as u64 + 1), "{found:?}");
}

#[test]
fn another_coefficient_of_friction_in_the_scene_is_found() {
    let forger = Forger::new("scene", "default");
    let found =
        forger.forge(|header, _| header.scene = header.scene.replace("friction = 0.4", "friction = 0.45"));
    assert!(found.iter().any(|f| f.1 == "contact"), "{found:?}");
    assert!(found.iter().any(|f| f.1 == "complementarity"), "{found:?}");
    let found = forger.forge(|header, _| header.scene = header.scene.replace("mass = 1.0", "mass = 1.01"));
    assert!(found.iter().any(|f| f.1 == "momentum"), "{found:?}");
}

#[test]
fn contacts_that_resist_turning_are_verified_and_their_forgery_found() {
    let forger = Forger::of("turning", &balls(0.6), ["--scheme", "default"]);
    assert_eq!(forger.forge(|_, _| ()), []);
    let steps = steps(&forger.path);
    let turned = |c: &ContactReport| c.moment.is_some_and(|m| m.impulse[2].abs() > 1e-3);
    let (k, i) = target(&steps, turned);
    let changes: [(&str, &str, Change); 6] = [
        ("spin", "momentum", |s, i| moment(s, i).impulse[2] *= -1.0),
        ("a little spin", "momentum", |s, i| moment(s, i).impulse[2] *= 1.0 + 1e-9),
        ("a little rolling", "momentum", |s, i| moment(s, i).impulse[1] *= 1.0 + 1e-9),
        ("rolling", "momentum", |s, i| moment(s, i).impulse[1] *= -1.0),
        ("turning", "contact", |s, i| moment(s, i).turn[1] += 1e-7),
        ("no moment", "contact", |s, i| s.contacts[i].moment = None),
    ];
    forger.assert_found(&changes, k, i);
    for (from, to) in [("torsion = 0.03", "torsion = 0.0301"), ("rolling = 0.01", "rolling = 0.0101")] {
        let found = forger.forge(|header, _| header.scene = header.scene.replace(from, to));
        assert!(found.contains(&(1, "complementarity".to_string())), "{to}: {found:?}");
    }
    let found = forger.forge(|header, _| header.scene = header.scene.replace("torsion = 0.03\n", ""));
    assert!(found.contains(&(1, "contact".to_string())), "{found:?}");
}

#[test]
fn another_start_is_found() {
    let forger = Forger::new("start", "default");
    let found = forger.forge(|header, _| header.scene = header.scene.replace("[3.0, 4.0]", "[3.0, 4.01]"));
    assert!(found.iter().any(|f| f.0 == 0), "{found:?}");
}

#[test]
fn a_changed_byte_is_found_with_its_record() {
    let forger = Forger::new("byte", "default");
    let mut bytes = fs::read(&forger.path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&forger.path, &bytes).unwrap();
    let output = stiction(&[&"verify", &forger.path, &"--json"]);
    assert_eq!(code(&output), 1);
    let report = json(&output);
    let record = report["damage"]["record"].as_u64().unwrap();
    assert!((100..250).contains(&record), "{record}");
    assert_eq!(report["steps"].as_u64().unwrap(), record - 2);
    let output = stiction(&[&"verify", &forger.path]);
    assert!(words(&output).contains(&format!("record {record}")), "{}", words(&output));
    // and nothing goes on from there
    let scene = forger.folder.path("scene.toml");
    let output = stiction(&[&"run", &scene, &"--out", &forger.path, &"--resume"]);
    assert_eq!(code(&output), 2);
    assert!(words(&output).contains(&format!("record {record}")), "{}", words(&output));
    assert_eq!(fs::read(&forger.path).unwrap(), bytes);
}

#[test]
fn what_is_no_journal_is_told() {
    let folder = Folder::new("none");
    let path = folder.scene("run.journal", "no journal");
    for command in ["verify", "convert"] {
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&command, &path];
        if command == "convert" {
            arguments.extend([&"--to" as &dyn AsRef<std::ffi::OsStr>, &"npz"]);
        }
        let output = stiction(&arguments);
        assert_eq!(code(&output), 2);
        assert!(words(&output).contains("no journal of stiction"), "{}", words(&output));
    }
}

/// Two steps of half the size against one say nothing about how leaning cards share their load.
#[test]
fn what_cannot_be_verified_is_said_and_counted() {
    let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/card-house.toml");
    let scene = fs::read_to_string(scene).unwrap();
    let (from, to) = ("duration = ", "duration = 0.02 # ");
    assert!(scene.contains(from), "{scene}");
    let forger = Forger::of("shared", &scene.replacen(from, to, 1), ["--accuracy", "1e-3"]);
    let output = stiction(&[&"verify", &forger.path, &"--json"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let report = json(&output);
    assert_eq!(report["failed"], 0, "{report}");
    assert!(report["not_verifiable"].as_u64().unwrap() > 0, "{report}");
    let output = stiction(&[&"verify", &forger.path]);
    let said = "not verifiable: redundant active contacts may have had to open or slip";
    assert!(words(&output).contains(said), "{}", words(&output));
}

/// The steps of a stretch, to be changed.
fn parts(step: &mut Step) -> &mut Vec<Part> {
    &mut step.evidence.as_mut().expect("evidence").parts
}

#[test]
fn followed_runs_are_verified_and_their_forgery_found() {
    for accuracy in ["1e-3", "1e-5", "1e-8"] {
        let forger = Forger::of(&format!("followed-{accuracy}"), BOUNCING, ["--accuracy", accuracy]);
        assert_eq!(forger.forge(|_, _| ()), [], "{accuracy}");
        let output = stiction(&[&"verify", &forger.path]);
        assert!(words(&output).contains("100 stretches verified without the solver"), "{}", words(&output));
        assert!(words(&output).contains(&format!("is at most {accuracy}")), "{}", words(&output));
        let original = steps(&forger.path);
        let strikes = |p: &Part| matches!(p, Part::Impact { .. });
        let hit = original.iter().position(|s| s.evidence.as_ref().unwrap().parts.iter().any(strikes));
        let changes: [(&str, &str, Change); 7] = [
            ("impulse", "record", |s, _| {
                for part in parts(s) {
                    if let Part::Impact { compression, .. } = part {
                        compression.iter_mut().for_each(|p| *p = -*p);
                    }
                }
            }),
            ("a little impulse", "momentum", |s, _| {
                for part in parts(s) {
                    if let Part::Impact { compression, .. } = part {
                        compression.iter_mut().for_each(|p| *p *= 1.0 + 1e-9);
                    }
                }
            }),
            ("no impact", "momentum", |s, _| parts(s).retain(|p| !matches!(p, Part::Impact { .. }))),
            ("position", "position", |s, _| s.q[1] += 1e-9),
            ("velocity", "momentum", |s, _| s.v[1] += 1e-9),
            ("estimate", "estimate", |s, _| {
                for part in parts(s) {
                    if let Part::Combined { error, .. } = part {
                        *error += 1e-10;
                    }
                }
            }),
            ("sum of estimates", "estimate", |s, _| {
                s.followed.as_mut().expect("a stretch").error = f64::NAN;
            }),
        ];
        forger.assert_found(&changes, hit.expect("an impact"), 0);
        let found = forger.forge(|header, _| {
            header.scene = header.scene.replace("friction = 0.4", "friction = 0.41");
        });
        assert!(found.iter().any(|f| f.0 == hit.unwrap() as u64 + 1), "{accuracy}: {found:?}");
        // smaller than any estimate: round-off of numbers around one is in them
        let found = forger.forge(|header, _| {
            header.accuracy.iter_mut().for_each(|accuracy| accuracy.tolerance = 1e-20);
        });
        assert!(found.iter().any(|f| f.1 == "estimate"), "{accuracy}: {found:?}");
        let found = forger.forge(|header, _| header.accuracy = None);
        assert_eq!(found.len(), 100, "{found:?}");
    }
}

/// Where in a stretch something is found is said.
#[test]
fn what_is_found_in_a_stretch_comes_with_its_time() {
    let forger = Forger::of("when", BOUNCING, ["--accuracy", "1e-6"]);
    let change = |steps: &mut [Step]| match parts(&mut steps[4]).last_mut() {
        Some(Part::Combined { parts, .. }) => match &mut parts[0] {
            Part::Instant { a, .. } => a[1] += 1e-6,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let found = forger.forge(|_, steps| change(steps));
    assert!(found.contains(&(5, "momentum".to_string())), "{found:?}");
    let output = stiction(&[&"verify", &forger.folder.path("forged.journal")]);
    let said = words(&output);
    assert!(
        said.contains("stretch 5, 0.050000 s: momentum: substep") && said.contains("up to 0.05 s"),
        "{said}"
    );
}

#[test]
fn a_run_of_second_order_is_verified_and_its_forgery_found() {
    let folder = Folder::new("second-order");
    let text = boxes(0.6, 0.4);
    // the floor and the pendulum alone: nothing is redundant
    let first = text.find("[[bodies]]\nname = \"box 0\"").unwrap();
    let bob = text.find("[[bodies]]\nname = \"bob\"").unwrap();
    let scene = folder.scene("pendulum.toml", &(text[..first].to_string() + &text[bob..]));
    let path = folder.path("run.journal");
    let output = stiction(&[&"run", &scene, &"--out", &path, &"--scheme", &"accurate"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    let forger = Forger { folder, path };
    assert_eq!(forger.forge(|_, _| ()), []);
    let found = forger.forge(|_, steps| steps[41].q[0] += 1e-9);
    assert!(found.contains(&(42, "position".to_string())), "{found:?}");
    let found = forger.forge(|_, steps| steps[41].joints[0].impulse *= -1.0);
    assert!(found.contains(&(42, "joints".to_string())), "{found:?}");
}
