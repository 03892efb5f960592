//! Forgeries of whole journals: headers, times, ends, order, and what a record says besides its motion.

use crate::common::{Folder, bouncing, boxes, code, json, printed, records, stiction};
use std::fs;
use std::path::{Path, PathBuf};
use stiction::{
    Accuracy, Active, ContactMemory, ContactReport, EventKind, Evidence, IslandRecord, Mode, Reduction,
    Scheme, Simulation, StepReport, SubstepRecord,
};
use stiction_journal::{Journal, JournalHeader, JournalWriter, StepRecord};
use stiction_lcp::{FrictionLaw, Lemke, Method};
use stiction_scene::Scene;

/// Change of a record that a forger makes.
type RecordChange = fn(&mut StepRecord);

/// Change of a report that a forger makes.
type ReportChange = fn(&mut StepReport);

/// Run and a folder for forged copies of its journal.
struct Forger {
    folder: Folder,
    path: PathBuf,
}

impl Forger {
    fn new(name: &str, scene: &str, options: &[&str]) -> Self {
        let folder = Folder::new(name);
        let scene = folder.file("scene.toml", scene);
        let path = folder.path("run.journal");
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"run", &scene, &"--out", &path];
        arguments.extend(options.iter().map(|option| option as &dyn AsRef<std::ffi::OsStr>));
        let output = stiction(&arguments);
        assert_eq!(code(&output), 0, "{}", printed(&output));
        let forger = Self { folder, path };
        assert_eq!(forger.forge(|_, _| ()).0, 0, "the run itself");
        forger
    }

    /// Exit code and text for a copy with a change and valid checksums.
    fn forge(&self, change: impl FnOnce(&mut JournalHeader, &mut Vec<StepRecord>)) -> (i32, String) {
        let journal = Journal::open(&self.path).unwrap();
        let (mut header, start) = (journal.header().clone(), journal.start().clone());
        let mut records = records(&self.path);
        change(&mut header, &mut records);
        let forged = self.folder.path("forged.journal");
        let mut writer = JournalWriter::replace(&forged, &header, &start).unwrap();
        records.iter().for_each(|record| writer.append(record).unwrap());
        drop(writer);
        let output = stiction(&[&"verify", &forged]);
        (code(&output), printed(&output))
    }

    /// Asserts that each change of step `k` does not hold.
    fn assert_found(&self, k: usize, changes: &[(&str, RecordChange)]) {
        for (name, change) in changes {
            let (code, text) = self.forge(|_, records| change(&mut records[k]));
            assert_eq!(code, 1, "{name}: {text}");
            let number = format!(" {}, ", k + 1);
            assert!(text.lines().any(|line| line.contains(&number)), "{name}: {text}");
        }
    }
}

/// Header with a changed scheme.
fn with_scheme(header: &mut JournalHeader, change: impl FnOnce(&mut Scheme)) {
    let mut scheme: Scheme = serde_json::from_str(&header.scheme).unwrap();
    change(&mut scheme);
    header.scheme = serde_json::to_string(&scheme).unwrap();
}

#[test]
fn tolerances_of_a_header_do_not_excuse_its_steps() {
    let forger = Forger::new("header", &boxes(0.1, 0.4), &[]);
    for tolerance in [1e9, 1e-5, 1e-13, 0.0, -1.0] {
        let (code, text) =
            forger.forge(|header, _| with_scheme(header, |scheme| scheme.solver.tolerance = tolerance));
        assert_eq!(code, 2, "{tolerance}: {text}");
        assert!(text.contains("must be from 1e-12 to 1e-6"), "{text}");
    }
    let (code, text) = forger.forge(|header, _| with_scheme(header, |scheme| scheme.solver.loosest = 1.0));
    assert_eq!(code, 2, "{text}");
    // within the range, but what is judged by is no matter of the header
    let (code, text) = forger.forge(|header, records| {
        with_scheme(header, |scheme| (scheme.solver.tolerance, scheme.solver.loosest) = (1e-6, 1e-4));
        let record = &mut records[40];
        record.report.work.loose = 1;
        record.report.contacts[0].normal_impulse *= 1.0 + 1e-5;
    });
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("judged by the tolerance 1e-8 of this program"), "{text}");
    // schemes that leave contacts out are not those of the scene
    for change in [
        (|scheme| scheme.active = Active::Band(0.0)) as fn(&mut Scheme),
        |scheme| scheme.reduction = Reduction::Limit(0),
        |scheme| scheme.restitution_speed = Some(1e3),
    ] {
        let (code, text) = forger.forge(|header, _| with_scheme(header, change));
        assert!(code == 1 || code == 3, "{code}: {text}");
        assert!(text.contains("neither the scene's nor a named one"), "{text}");
    }
}

/// A header with a method that solves another law of friction: by that law a sliding box lifts off the floor.
#[test]
fn a_method_of_another_friction_law_is_told() {
    let convex = boxes(0.1, 0.4).replace(
        "step = 0.002 }",
        "step = 0.002, scheme = { name = \"first-order\", friction_law = \"convex\" } }",
    );
    let forger = Forger::new("convex", &convex, &[]);
    let (code, text) = forger.forge(|header, _| {
        header.scene = boxes(0.1, 0.4);
        with_scheme(header, |scheme| {
            scheme.friction = FrictionLaw::Coulomb;
            scheme.solver.method = Method::Convex(Lemke::default());
        });
    });
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("neither the scene's nor a named one"), "{text}");
}

#[test]
fn inputs_that_the_scene_does_not_give_are_told() {
    let motor = |speed: f64| {
        bouncing().replace(
            "at = [2.0, 4.0]",
            &format!("at = [2.0, 4.0]\nmotor = {{ kind = \"velocity\", speed = {speed:?}, force = 5.0, input = \"drive\" }}"),
        )
    };
    for options in [&[][..], &["--accuracy", "1e-6"], &["--scheme", "accurate"]] {
        let name = format!("inputs-{}", options.last().unwrap_or(&"default"));
        let forger = Forger::new(&name, &motor(2.0), &[options, &["--until", "0.1"]].concat());
        // a run with another command, under the scene and the start of the first
        let other =
            Forger::new(&format!("{name}-other"), &motor(2.5), &[options, &["--until", "0.1"]].concat());
        let (code, text) = forger.forge(|_, own| *own = records(&other.path));
        assert_eq!(code, 3, "{text}");
        assert!(text.contains("input `drive` is 2.5, the scene gives 2"), "{text}");
        // a value that no step used
        let (code, text) = forger.forge(|_, own| {
            let state = &mut own.last_mut().unwrap().state;
            *state.q.last_mut().unwrap() = 7.0;
        });
        assert!(code == 1 || code == 3, "{code}: {text}");
    }
}

/// Records within records, as deep as a file of a megabyte may have them: the stack must not overflow.
#[test]
fn records_within_records_have_a_limit() {
    let forger = Forger::new("nested", &bouncing(), &["--until", "0.05"]);
    let (path, folder) = (forger.path.clone(), forger.folder.path("nested.journal"));
    // to make and to drop such a record takes a large stack too
    let make = move || {
        let journal = Journal::open(&path).unwrap();
        let (header, start) = (journal.header().clone(), journal.start().clone());
        let read = records(&path);
        let landing = |whole| SubstepRecord::Interpolated { whole: Box::new(whole), at: 0.0 };
        let islands = |inner| {
            let island = IslandRecord { bodies: Vec::new(), records: vec![inner] };
            SubstepRecord::Islands { size: 0.0, islands: vec![island] }
        };
        let partial = |inner| {
            let evidence = Some(Evidence { substeps: vec![inner], ..Evidence::default() });
            let report = Box::new(StepReport { evidence, ..StepReport::default() });
            SubstepRecord::PartialStep { report, state: Box::default() }
        };
        for wrap in [&landing as &dyn Fn(SubstepRecord) -> SubstepRecord, &islands, &partial] {
            let mut record = read[2].clone();
            let deepest = SubstepRecord::FeatureChange { size: 0.0 };
            let nested = (0..20_000).fold(deepest, |inner, _| wrap(inner));
            record.report.evidence.as_mut().unwrap().substeps = vec![nested];
            let mut writer = JournalWriter::replace(&folder, &header, &start).unwrap();
            writer.append(&record).unwrap();
            drop(writer);
            let output = stiction(&[&"verify", &folder]);
            assert_eq!(code(&output), 1, "{}", printed(&output));
            assert!(printed(&output).contains("cannot be decoded"), "{}", printed(&output));
        }
    };
    std::thread::Builder::new().stack_size(1 << 30).spawn(make).unwrap().join().unwrap();
}

#[test]
fn a_journal_that_ends_early_is_unfinished() {
    for options in [&[][..], &["--accuracy", "1e-6"], &["--scheme", "accurate"]] {
        let name = format!("early-{}", options.last().unwrap_or(&"default"));
        let forger = Forger::new(&name, &bouncing(), &[options, &["--until", "0.3"]].concat());
        for left in [0, 1, 12] {
            let (code, text) = forger.forge(|_, records| records.truncate(left));
            assert_eq!(code, 5, "{left}: {text}");
            assert!(text.contains("unfinished: it ends at "), "{text}");
        }
        let (code, text) = forger.forge(|header, _| header.until = 0.4);
        assert_eq!(code, 5, "{text}");
        let (code, text) = forger.forge(|header, _| header.until = 0.2);
        assert_eq!(code, 1, "{text}");
        // a torn record ends a journal too
        let bytes = fs::read(&forger.path).unwrap();
        let torn = forger.folder.path("torn.journal");
        fs::write(&torn, &bytes[..bytes.len() - 3]).unwrap();
        assert_eq!(code_of(&torn), 5);
        // two journals one after the other are damage
        fs::write(&torn, [&bytes[..], &bytes[..]].concat()).unwrap();
        assert_eq!(code_of(&torn), 1);
    }
}

fn code_of(path: &Path) -> i32 {
    code(&stiction(&[&"verify", &path]))
}

#[test]
fn steps_of_another_size_or_order_are_found() {
    for options in [&[][..], &["--accuracy", "1e-6"], &["--scheme", "accurate"]] {
        let name = format!("clock-{}", options.last().unwrap_or(&"default"));
        let forger = Forger::new(&name, &bouncing(), &[options, &["--until", "0.2"]].concat());
        for h in [1e-6, 0.005, 0.02] {
            let (code, text) = forger.forge(|header, _| header.h = h);
            assert_eq!(code, 1, "{h}: {text}");
        }
        for h in [f64::NAN, -0.01, 0.0, f64::INFINITY] {
            assert_eq!(forger.forge(|header, _| header.h = h).0, 2, "{h}");
        }
        assert_eq!(forger.forge(|_, records| records.swap(3, 4)).0, 1);
        assert_eq!(forger.forge(|_, records| records.insert(5, records[5].clone())).0, 1);
        assert_eq!(forger.forge(|_, records| drop(records.remove(5))).0, 1);
        let swap = |records: &mut Vec<StepRecord>| {
            let other = records[7].report.evidence.take();
            records[7].report.evidence = records[8].report.evidence.take();
            records[8].report.evidence = other;
        };
        assert_eq!(forger.forge(|_, records| swap(records)).0, 1);
        for t in [f64::NAN, -1.0, 0.05 + 1e-9] {
            assert_eq!(forger.forge(|_, records| records[4].state.t = t).0, 1, "{t}");
        }
    }
}

#[test]
fn what_a_step_says_besides_its_motion_is_found() {
    let forger = Forger::new("besides", &boxes(0.3, 0.4), &["--scheme", "first-order"]);
    forger.assert_found(
        120,
        &[
            ("slip named stick", |s| {
                let slips = s.report.contacts.iter_mut().find(|c| c.mode == Mode::Slip);
                slips.expect("the top box slides").mode = Mode::Stick;
            }),
            ("stick named slip", |s| {
                let slip = |c: &ContactReport| c.slip.iter().map(|x| x.abs()).sum::<f64>();
                let sticks = s.report.contacts.iter_mut().filter(|c| c.mode == Mode::Stick);
                let slowest = sticks.min_by(|a, b| slip(a).total_cmp(&slip(b)));
                slowest.expect("the others rest").mode = Mode::Slip;
            }),
            ("an open contact", |s| s.report.contacts[0].mode = Mode::Open),
            ("remembered impulses", |s| {
                let scale = |c: &mut ContactMemory| c.normal *= 3.0;
                s.state.memory.contacts.iter_mut().for_each(scale);
            }),
            ("no remembered impulses", |s| s.state.memory.contacts.clear()),
            ("remembered joint impulses", |s| s.state.memory.joints[0] += 1.0),
            ("passes", |s| s.report.stabilization.as_mut().expect("it runs").passes += 1),
            ("error before the passes", |s| s.report.stabilization.as_mut().expect("it runs").before += 1e-6),
            ("contacts left out", |s| s.report.work.limited += 1),
            ("an iteration", |s| s.report.work.rounds = 7),
            ("scale of the certificate", |s| s.report.certificate.speed *= 30.0),
            ("residuals of a contact", |s| s.report.certificate.contacts[0].natural_map = 1e-3),
            ("infeasibility", |s| s.report.infeasibility += 1e-6),
            ("no energy ledger", |s| s.report.ledger = None),
        ],
    );
}

#[test]
fn what_a_step_of_second_order_says_besides_its_motion_is_found() {
    let memory: [(&str, RecordChange); 2] = [
        ("no active set", |s| s.state.memory.active = None),
        ("quiet impulses", |s| s.state.memory.quiet.h = 0.5),
    ];
    let counters: [(&str, RecordChange); 3] = [
        ("contacts left out", |s| s.report.work.limited += 1),
        ("an iteration", |s| s.report.work.rounds += 1),
        ("an iteration without an end", |s| s.report.work.converged = !s.report.work.converged),
    ];
    for options in [["--scheme", "accurate"], ["--accuracy", "1e-6"]] {
        let name = format!("second-{}", options[1]);
        let forger = Forger::new(&name, &bouncing(), &[&options[..], &["--until", "0.2"]].concat());
        forger.assert_found(5, &memory);
        forger.assert_found(5, &counters);
    }
}

#[test]
fn forged_events_and_impacts_are_found() {
    for options in [["--scheme", "accurate"], ["--accuracy", "1e-6"]] {
        let forger = Forger::new(
            &format!("events-{}", options[1]),
            &bouncing(),
            &[&options[..], &["--until", "0.5"]].concat(),
        );
        let original = records(&forger.path);
        let hit = original.iter().position(|s| !s.report.impacts.is_empty()).expect("an impact");
        let change = |s: &mut StepRecord, change: ReportChange| {
            change(&mut s.report);
            if let Some(accuracy) = &mut s.accuracy {
                (accuracy.events, accuracy.impacts) = (s.report.events.clone(), s.report.impacts.clone());
            }
        };
        let changes: [(&str, ReportChange); 9] = [
            ("energy before", |r| r.impacts[0].before *= 3.0),
            ("energy after", |r| r.impacts[0].after *= 1.0 + 1e-6),
            ("energy after the compression", |r| r.impacts[0].compressed += 1.0),
            ("approach speed", |r| r.impacts[0].approaches[0].1 *= 1.0 + 1e-6),
            ("factor", |r| r.impacts[0].factor = 0.5),
            ("no impact", |r| r.impacts.clear()),
            ("no event", |r| r.events.retain(|e| e.kind != EventKind::Impact)),
            ("another time", |r| r.events[0].t += 1e-6),
            ("another kind", |r| r.events[0].kind = EventKind::Stick),
        ];
        for (name, forged) in changes {
            let (code, text) = forger.forge(|_, records| change(&mut records[hit], forged));
            assert_eq!(code, 1, "{name}: {text}");
        }
        if options[0] == "--accuracy" {
            let (code, text) = forger.forge(|_, records| {
                records[hit].accuracy.as_mut().expect("an interval").impacts[0].after = 0.0;
            });
            assert_eq!(code, 1, "two lists: {text}");
            let (code, text) = forger.forge(|_, records| {
                records[3].report.contacts.clear();
                records[3].report.joints.clear();
            });
            assert_eq!(code, 3, "no forces: {text}");
        }
    }
}

/// A ball at rest whose last step lifts it by a millionth of its weight: only a loosened tolerance lets this pass.
#[test]
fn a_loosened_tolerance_has_an_exit_code_of_its_own() {
    let scene = bouncing().replace("velocity = [6.0, 0.0]", "velocity = [0.0, 0.0]");
    let scene =
        scene.replace("angular_velocity = 3.0", "angular_velocity = 0.0").replace("[0.0, 0.5]", "[0.0, 0.1]");
    let forger = Forger::new("loosened", &scene, &["--scheme", "first-order", "--until", "0.05"]);
    let model = Scene::from_toml(&scene, "ball").unwrap().build().unwrap().model;
    let mass = 500.0 * std::f64::consts::PI * 0.01;
    let (strict, text) = forger.forge(|_, records| {
        let record = records.last_mut().unwrap();
        let contact = &mut record.report.contacts[0];
        let more = 1e-6 * contact.normal_impulse;
        contact.normal_impulse += more;
        record.state.memory.contacts[0].normal += more;
        record.state.v[1] += more / mass;
        record.state.q[1] += record.report.h * more / mass;
        let simulation = Simulation::from_state(model, record.state.clone());
        let own = simulation.observe().unwrap();
        let report = &mut record.report;
        (report.kinetic, report.potential) = (own.kinetic, own.potential);
        (report.linear_momentum, report.angular_momentum) = (own.linear_momentum, own.angular_momentum);
        // the work of the impulse at the mean speed, and the lift
        let ledger = report.ledger.as_mut().expect("a step of first order");
        let (v, weight) = (more / mass, 9.81 * mass);
        let (lift, work) = (weight * report.h * v, 0.5 * report.contacts[0].normal_impulse * v);
        let gain = 0.5 * mass * v * v + lift;
        ledger.gravity -= lift;
        ledger.impacts += work;
        ledger.change += gain;
        ledger.scheme += gain - work;
    });
    assert_eq!(strict, 1, "{text}");
    let forged = forger.folder.path("forged.journal");
    for (tolerance, expected) in [("1e-8", 1), ("1e-7", 1), ("1e-4", 4)] {
        let output = stiction(&[&"verify", &forged, &"--tolerance", &tolerance]);
        assert_eq!(code(&output), expected, "{tolerance}: {}", printed(&output));
    }
    let output = stiction(&[&"verify", &forged, &"--tolerance", &"1e-4", &"--json"]);
    let report = json(&output);
    assert_eq!(
        (report["loosened"].as_u64(), report["tolerance"].as_f64()),
        (Some(1), Some(1e-8)),
        "{report}"
    );
    let output = stiction(&[&"verify", &forged, &"--tolerance", &"1e-4"]);
    assert!(
        printed(&output).contains("1 step holds only by the loosened tolerance 1e-4"),
        "{}",
        printed(&output)
    );
    // a true journal holds by the tolerance of the judge, whatever the flag says
    assert_eq!(code(&stiction(&[&"verify", &forger.path, &"--tolerance", &"1e-4"])), 0);
    assert_eq!(code(&stiction(&[&"verify", &forger.path, &"--tolerance", &"1"])), 2);
}

#[test]
fn forged_settings_of_an_accuracy_are_told() {
    let forger = Forger::new("accuracy", &bouncing(), &["--accuracy", "1e-6", "--until", "0.1"]);
    let change = |change: fn(&mut Accuracy)| {
        forger.forge(|header, _| change(header.accuracy.as_mut().expect("an accuracy")))
    };
    // it is the claim, and the records have that of the run
    let (code, text) = change(|a| a.tolerance = 1.0);
    assert_eq!(code, 1, "{text}");
    let (code, text) = change(|a| a.largest_step = 1e3);
    assert_eq!(code, 3, "{text}");
    assert_eq!(change(|a| a.tolerance = f64::NAN).0, 2);
    assert_eq!(change(|a| a.first_step = -1.0).0, 2);
}
