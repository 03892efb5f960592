//! `verify`: honest journals pass, and every forged number is found, with valid checksums.

use crate::common::{Folder, balls, bouncing, boxes, code, json, printed, records, stiction};
use std::fs;
use std::path::{Path, PathBuf};
use stiction::{ContactReport, Mode, MomentReport, SubstepRecord};
use stiction_journal::{Journal, JournalHeader, JournalWriter, StepRecord};

/// Honest run, and the folder of forged copies of its journal.
struct Forger {
    folder: Folder,
    path: PathBuf,
}

impl Forger {
    /// Runs the boxes with a scheme.
    fn new(name: &str, scheme: &str) -> Self {
        Self::of(name, &boxes(0.6, 0.4), ["--scheme", scheme])
    }

    /// Runs a scene with two arguments.
    fn of(name: &str, scene: &str, options: [&str; 2]) -> Self {
        let folder = Folder::new(name);
        let scene = folder.file("scene.toml", scene);
        let path = folder.path("run.journal");
        let output = stiction(&[&"run", &scene, &"--out", &path, &options[0], &options[1]]);
        assert_eq!(code(&output), 0, "{}", printed(&output));
        Self { folder, path }
    }

    /// Copies the journal with a change and valid checksums, and returns the findings of `verify`.
    fn forge(&self, change: impl FnOnce(&mut JournalHeader, &mut [StepRecord])) -> Vec<(u64, String)> {
        let journal = Journal::open(&self.path).unwrap();
        let (mut header, start) = (journal.header().clone(), journal.start().clone());
        let mut records = records(&self.path);
        change(&mut header, &mut records);
        let forged = self.folder.path("forged.journal");
        let mut writer = JournalWriter::replace(&forged, &header, &start).unwrap();
        records.iter().for_each(|record| writer.append(record).unwrap());
        drop(writer);
        findings(&forged)
    }

    /// Asserts that each change to contact `i` of a step is found in that step.
    fn assert_found(&self, changes: &[(&str, &str, Change)], step: usize, i: usize) {
        let number = step as u64 + 1;
        for (name, check, change) in changes {
            let found = self.forge(|_, records| change(&mut records[step], i));
            assert!(found.contains(&(number, (*check).to_string())), "{name} in step {number}: {found:?}");
            // the next step starts from the forged state
            assert!(found.iter().all(|f| f.0 == number || f.0 == number + 1), "{name}: {found:?}");
        }
    }
}

/// Step and check of every finding.
fn findings(path: &Path) -> Vec<(u64, String)> {
    let output = stiction(&[&"verify", &path, &"--json"]);
    let report = json(&output);
    let found: Vec<(u64, String)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["step"].as_u64().unwrap(), f["check"].as_str().unwrap().to_string()))
        .collect();
    assert_eq!(code(&output), i32::from(!found.is_empty()), "{}", printed(&output));
    found
}

/// Step after the hundredth with a contact that fits, and that contact.
fn target(records: &[StepRecord], fits: impl Fn(&ContactReport) -> bool + Copy) -> (usize, usize) {
    let contact = |record: &StepRecord| record.report.contacts.iter().position(fits);
    let found = records.iter().enumerate().skip(100).find_map(|(k, record)| Some((k, contact(record)?)));
    found.expect("a contact that fits")
}

fn has_friction(contact: &ContactReport) -> bool {
    contact.friction_impulse.iter().any(|p| p.abs() > 1e-3)
}

fn moment(record: &mut StepRecord, contact: usize) -> &mut MomentReport {
    record.report.contacts[contact].moment.as_mut().expect("a moment")
}

#[test]
fn an_honest_journal_passes() {
    for scheme in ["default", "ap97", "cp03", "ah04", "st00", "st00-nonlinear", "baumgarte"] {
        let forger = Forger::new(&format!("honest-{scheme}"), scheme);
        assert_eq!(forger.forge(|_, _| ()), [], "{scheme}");
        let output = stiction(&[&"verify", &forger.path]);
        assert_eq!(code(&output), 0);
        assert!(printed(&output).contains("300 steps verified without the solver"), "{}", printed(&output));
    }
}

/// Change of a contact, by its index, or of its step.
type Change = fn(&mut StepRecord, usize);

#[test]
fn forged_numbers_are_found_with_their_step() {
    let forger = Forger::new("numbers", "default");
    let original = records(&forger.path);
    let (k, i) = target(&original, has_friction);
    let changes: [(&str, &str, Change); 8] = [
        ("normal impulse", "momentum", |s, i| s.report.contacts[i].normal_impulse *= -1.0),
        ("a little normal impulse", "momentum", |s, i| s.report.contacts[i].normal_impulse += 1e-8),
        ("friction", "momentum", |s, i| s.report.contacts[i].friction_impulse[0] *= -1.0),
        ("position", "position", |s, _| s.state.q[1] += 1e-9),
        ("velocity", "momentum", |s, _| s.state.v[1] += 1e-8),
        ("μ", "contact", |s, i| s.report.contacts[i].mu = 0.41),
        ("joint impulse", "momentum", |s, _| s.report.joints[0].impulse += 1e-7),
        ("energy", "figure", |s, _| s.report.kinetic *= 1.001),
    ];
    forger.assert_found(&changes, k, i);
    // a step that is left out
    let found = forger.forge(|_, records| records[k] = records[k + 1].clone());
    assert!(found.iter().any(|f| f.0 == k as u64 + 1), "{found:?}");
}

#[test]
fn a_forged_coefficient_of_friction_in_the_scene_is_found() {
    let forger = Forger::new("scene", "default");
    let found =
        forger.forge(|header, _| header.scene = header.scene.replace("friction = 0.4", "friction = 0.45"));
    assert!(found.iter().any(|f| f.1 == "contact"), "{found:?}");
    assert!(found.iter().any(|f| f.1 == "complementarity"), "{found:?}");
    let found = forger.forge(|header, _| header.scene = header.scene.replace("mass = 1.0", "mass = 1.01"));
    assert!(found.iter().any(|f| f.1 == "momentum"), "{found:?}");
}

#[test]
fn forged_rolling_and_torsional_friction_is_found() {
    forged_moments_are_found("first-order", "momentum");
}

#[test]
fn forged_rolling_and_torsional_friction_of_second_order_is_found() {
    forged_moments_are_found("default", "contact");
}

/// Asserts that forged moments of a run with a scheme are found, and changes in their last digits by check `little`.
fn forged_moments_are_found(scheme: &str, little: &str) {
    let forger = Forger::of(&format!("turning-{scheme}"), &balls(0.6), ["--scheme", scheme]);
    assert_eq!(forger.forge(|_, _| ()), []);
    let original = records(&forger.path);
    let spins = |c: &ContactReport| c.moment.is_some_and(|m| m.impulse[2].abs() > 1e-3);
    let (k, i) = target(&original, spins);
    let changes: [(&str, &str, Change); 6] = [
        ("spin", "momentum", |s, i| moment(s, i).impulse[2] *= -1.0),
        ("a little spin", little, |s, i| moment(s, i).impulse[2] *= 1.0 + 1e-9),
        ("a little rolling", little, |s, i| moment(s, i).impulse[1] *= 1.0 + 1e-9),
        ("rolling", "momentum", |s, i| moment(s, i).impulse[1] *= -1.0),
        ("turning", "contact", |s, i| moment(s, i).turn[1] += 1e-7),
        ("no moment", "contact", |s, i| s.report.contacts[i].moment = None),
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
fn a_forged_start_is_found() {
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
    assert!(printed(&output).contains(&format!("record {record}")), "{}", printed(&output));
    // a damaged journal is not resumed
    let scene = forger.folder.path("scene.toml");
    let output = stiction(&[&"run", &scene, &"--out", &forger.path, &"--resume"]);
    assert_eq!(code(&output), 2);
    assert!(printed(&output).contains(&format!("record {record}")), "{}", printed(&output));
    assert_eq!(fs::read(&forger.path).unwrap(), bytes);
}

#[test]
fn a_file_that_is_not_a_journal_is_refused() {
    let folder = Folder::new("none");
    let path = folder.file("run.journal", "no journal");
    for command in ["verify", "convert"] {
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&command, &path];
        if command == "convert" {
            arguments.extend([&"--to" as &dyn AsRef<std::ffi::OsStr>, &"npz"]);
        }
        let output = stiction(&arguments);
        assert_eq!(code(&output), 2);
        assert!(printed(&output).contains("not a journal"), "{}", printed(&output));
    }
}

/// Redundant contacts of leaning cards share their load within their cones, so doubled steps leave no question open.
#[test]
fn doubled_steps_of_leaning_cards_are_verified() {
    let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/card-house.toml");
    let scene = fs::read_to_string(scene).unwrap();
    let (from, to) =
        ("duration = ", "accuracy = { tolerance = 1e-3, method = \"trapezoidal\" }\nduration = 0.02 # ");
    assert!(scene.contains(from), "{scene}");
    let forger = Forger::of("shared", &scene.replacen(from, to, 1), ["--until", "0.02"]);
    let output = stiction(&[&"verify", &forger.path, &"--json"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let report = json(&output);
    assert_eq!((&report["failed"], &report["not_verifiable"]), (&0.into(), &0.into()), "{report}");
    assert!(report["verified"].as_u64().unwrap() > 0, "{report}");
}

/// Substeps of an interval, those of each island by themselves.
fn parts(record: &mut StepRecord) -> Vec<&mut Vec<SubstepRecord>> {
    let substeps = &mut record.report.evidence.as_mut().expect("evidence").substeps;
    if !substeps.iter().any(|p| matches!(p, SubstepRecord::Islands { .. })) {
        return vec![substeps];
    }
    let mut parts = Vec::new();
    for window in substeps {
        if let SubstepRecord::Islands { islands, .. } = window {
            parts.extend(islands.iter_mut().map(|island| &mut island.records));
        }
    }
    parts
}

#[test]
fn forged_runs_to_an_accuracy_are_found() {
    for accuracy in ["1e-3", "1e-5", "1e-8"] {
        let forger = Forger::of(&format!("accuracy-{accuracy}"), &bouncing(), ["--accuracy", accuracy]);
        assert_eq!(forger.forge(|_, _| ()), [], "{accuracy}");
        let output = stiction(&[&"verify", &forger.path]);
        assert!(
            printed(&output).contains("100 intervals verified without the solver"),
            "{}",
            printed(&output)
        );
        assert!(printed(&output).contains(&format!("is at most {accuracy}")), "{}", printed(&output));
        let original = records(&forger.path);
        let hit = original.iter().position(|s| {
            let mut copy = s.clone();
            parts(&mut copy).into_iter().flatten().any(|p| matches!(p, SubstepRecord::Impact { .. }))
        });
        let changes: [(&str, &str, Change); 7] = [
            ("impulse", "record", |s, _| {
                for part in parts(s).into_iter().flatten() {
                    if let SubstepRecord::Impact { compression, .. } = part {
                        compression.iter_mut().for_each(|p| *p = -*p);
                    }
                }
            }),
            ("a little impulse", "momentum", |s, _| {
                for part in parts(s).into_iter().flatten() {
                    if let SubstepRecord::Impact { compression, .. } = part {
                        compression.iter_mut().for_each(|p| *p *= 1.0 + 1e-9);
                    }
                }
            }),
            ("no impact", "momentum", |s, _| {
                for own in parts(s) {
                    own.retain(|p| !matches!(p, SubstepRecord::Impact { .. }));
                }
            }),
            ("position", "position", |s, _| s.state.q[1] += 1e-9),
            ("velocity", "momentum", |s, _| s.state.v[1] += 1e-9),
            ("estimate", "estimate", |s, _| {
                for part in parts(s).into_iter().flatten() {
                    if let SubstepRecord::AccuracyStep { error, .. } = part {
                        *error += 1e-10;
                    }
                }
            }),
            ("sum of estimates", "estimate", |s, _| {
                s.accuracy.as_mut().expect("an interval").error = f64::NAN;
            }),
        ];
        forger.assert_found(&changes, hit.expect("an impact"), 0);
        let found = forger.forge(|header, _| {
            header.scene = header.scene.replace("friction = 0.4", "friction = 0.41");
        });
        assert!(found.iter().any(|f| f.0 == hit.unwrap() as u64 + 1), "{accuracy}: {found:?}");
        // smaller than any estimate, which contains the round-off of numbers around one
        let found = forger.forge(|header, _| {
            header.accuracy.iter_mut().for_each(|accuracy| accuracy.tolerance = 1e-20);
        });
        assert!(found.iter().any(|f| f.1 == "estimate"), "{accuracy}: {found:?}");
        let found = forger.forge(|header, _| header.accuracy = None);
        assert_eq!(found.len(), 100, "{found:?}");
    }
}

/// Contact and joint forces of a run to an accuracy are judged, not only its motion.
#[test]
fn forged_forces_of_runs_to_an_accuracy_are_found() {
    let forger = Forger::of("forces", &boxes(0.22, 0.4), ["--accuracy", "1e-6"]);
    assert_eq!(forger.forge(|_, _| ()), []);
    let original = records(&forger.path);
    let (step, i) = target(&original, |c| c.mode == Mode::Slip && c.normal_impulse > 1e-3);
    assert_eq!(original[step].report.joints.len(), 2, "the hinge");
    let changes: [(&str, &str, Change); 6] = [
        ("three times all contact forces", "complementarity", |s, _| {
            for contact in &mut s.report.contacts {
                contact.normal_impulse *= 3.0;
                contact.friction_impulse = contact.friction_impulse.map(|p| 3.0 * p);
            }
        }),
        ("three times all joint forces", "joints", |s, _| {
            s.report.joints.iter_mut().for_each(|j| j.impulse *= 3.0);
        }),
        ("a little normal force", "complementarity", |s, i| {
            s.report.contacts[i].normal_impulse *= 1.0 + 1e-7;
        }),
        ("friction along the slip", "cone", |s, i| s.report.contacts[i].friction_impulse[0] *= -1.0),
        ("a contact that is said to stick", "contact", |s, i| s.report.contacts[i].mode = Mode::Stick),
        ("a slip", "contact", |s, i| s.report.contacts[i].slip[0] *= 1.0 + 1e-7),
    ];
    forger.assert_found(&changes, step, i);
}

#[test]
fn a_finding_within_an_interval_has_its_time() {
    let forger = Forger::of("when", &bouncing(), ["--accuracy", "1e-6"]);
    let change = |records: &mut [StepRecord]| match parts(&mut records[4]).into_iter().flatten().last() {
        Some(SubstepRecord::AccuracyStep { records: parts, .. }) => match &mut parts[0] {
            SubstepRecord::Accelerations { a, .. } => a[1] += 1e-6,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let found = forger.forge(|_, records| change(records));
    assert!(found.contains(&(5, "momentum".to_string())), "{found:?}");
    let output = stiction(&[&"verify", &forger.folder.path("forged.journal")]);
    let text = printed(&output);
    assert!(text.contains("interval 5, 0.050000 s: momentum: "), "{text}");
    assert!(text.contains("up to 0.05 s"), "{text}");
}

#[test]
fn forged_runs_of_second_order_are_found() {
    let folder = Folder::new("second-order");
    let text = boxes(0.6, 0.4);
    // only the floor and the pendulum: no redundant contacts
    let first = text.find("[[bodies]]\nname = \"box 0\"").unwrap();
    let bob = text.find("[[bodies]]\nname = \"bob\"").unwrap();
    let scene = folder.file("pendulum.toml", &(text[..first].to_string() + &text[bob..]));
    let path = folder.path("run.journal");
    let output = stiction(&[&"run", &scene, &"--out", &path, &"--scheme", &"accurate"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let forger = Forger { folder, path };
    assert_eq!(forger.forge(|_, _| ()), []);
    let found = forger.forge(|_, records| records[41].state.q[0] += 1e-9);
    assert!(found.contains(&(42, "position".to_string())), "{found:?}");
    let found = forger.forge(|_, records| records[41].report.joints[0].impulse *= -1.0);
    assert!(found.contains(&(42, "joints".to_string())), "{found:?}");
}
