//! States and reports changed at random, as forged journals or calls of the library may have them: they give errors or
//! findings, never a panic.

use crate::common::{Folder, balls, bouncing, boxes, code, printed, stiction};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use stiction::{
    Accuracy, Evidence, Model, Scheme, Simulation, State, StepError, StepReport, verify, verify_accuracy_run,
};
use stiction_journal::{Journal, JournalWriter, StepRecord};
use stiction_scene::{BuiltScene, Scene};
use stiction_view::Tape;

/// Changed records of each scene and scheme.
const CHANGED_RECORDS: u64 = 60;

/// Accuracy that a run is recorded to.
const ACCURACY: f64 = 1e-4;

/// Changes one value of a tree: a number, a flag, or the length or order of a list.
fn mutate(value: &mut Value, rng: &mut ChaCha8Rng) {
    match value {
        Value::Array(list) if list.is_empty() || rng.random_bool(0.15) => {
            let entry = list.first().cloned().unwrap_or(json!(1.0));
            match rng.random_range(0..4) {
                0 => list.clear(),
                1 => drop(list.pop()),
                2 => list.push(entry),
                _ => list.reverse(),
            }
        }
        Value::Array(list) => {
            let i = rng.random_range(0..list.len());
            mutate(&mut list[i], rng);
        }
        Value::Object(map) => {
            let i = rng.random_range(0..map.len().max(1));
            map.values_mut().nth(i).into_iter().for_each(|entry| mutate(entry, rng));
        }
        Value::Number(number) if number.is_f64() => {
            let odd = [0.0, -1.0, 1e300, -1e300, 1e-300, 1e18, 3.0];
            *value = json!(odd[rng.random_range(0..odd.len())]);
        }
        Value::Number(_) => *value = json!([0, 1, 7, 1000, u32::MAX][rng.random_range(0..5)]),
        Value::Bool(flag) => *value = json!(!*flag),
        Value::Null => *value = [json!([]), json!([1.0]), json!(1.0)][rng.random_range(0..3)].clone(),
        Value::String(_) => {}
    }
}

/// Copy with up to three changes; `None` where it no longer has its type.
fn mutated<T: Serialize + DeserializeOwned>(value: &T, rng: &mut ChaCha8Rng) -> Option<T> {
    let mut tree = serde_json::to_value(value).ok()?;
    for _ in 0..rng.random_range(1..4) {
        mutate(&mut tree, rng);
    }
    serde_json::from_value(tree).ok()
}

/// Calls all that reads a record.
fn read(model: &Model, scheme: &Scheme, before: &State, record: &StepRecord) {
    let StepRecord { state, report, accuracy } = record;
    if let Some(recorded) = accuracy {
        let asked = Accuracy::of(ACCURACY);
        let _ = verify_accuracy_run(model, scheme, &asked, before, state, report, recorded);
    } else {
        let _ = verify(model, scheme, before, state, report);
    }
    for body in model.body_ids() {
        let _ = (model.pose(state, body), model.centre(state, body), model.velocity(state, body));
        let _ = model.angle(state, body);
    }
    for joint in model.joint_ids() {
        let _ = (model.joint_coordinate(state, joint), model.joint_points(state, joint));
    }
    let _ = model.sensed(state);
    let mut simulation = Simulation::from_state(model.clone(), state.clone()).with_scheme(*scheme);
    let _ = (simulation.observe(), simulation.step(0.01));
    if let Ok(mut tape) = Tape::new(model, "odd", before) {
        let _ = tape.add(model, state, report);
    }
}

/// State before the last of 20 steps, and its record; one interval of a run to an accuracy with `accuracy`.
fn recorded(built: &BuiltScene, scheme: Scheme, accuracy: bool) -> (State, StepRecord) {
    let BuiltScene { model, state, .. } = built;
    let mut simulation = Simulation::from_state(model.clone(), state.clone()).with_scheme(scheme);
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    let mut before = state.clone();
    for _ in 0..20 {
        before.clone_from(simulation.state());
        simulation.step_into(0.01, &mut report).unwrap();
    }
    let accuracy = accuracy.then(|| {
        simulation.restore(before.clone());
        simulation.run_to_accuracy_into(before.t + 0.01, &Accuracy::of(ACCURACY), &mut report).unwrap()
    });
    (before, StepRecord { state: simulation.state().clone(), report, accuracy })
}

#[test]
fn odd_records_cause_no_panic() {
    let schemes = [(Scheme::default(), false), (Scheme::accurate(), false), (Scheme::accurate(), true)];
    // rolling friction is of first order
    let scenes = [(boxes(1.0, 0.4), 3), (bouncing(), 3), (balls(1.0), 1)];
    for (text, schemes) in scenes.iter().map(|(text, n)| (text, &schemes[..*n])) {
        let built = Scene::from_toml(text, "odd").unwrap().build().unwrap();
        for (scheme, accuracy) in schemes {
            let (before, record) = recorded(&built, *scheme, *accuracy);
            for seed in 0..CHANGED_RECORDS {
                println!("{}, seed {seed}", built.model.body_names().len());
                let rng = &mut ChaCha8Rng::seed_from_u64(seed);
                let StepRecord { state, report, accuracy } = record.clone();
                match seed % 4 {
                    0 => mutated(&before, rng).iter().for_each(|b| read(&built.model, scheme, b, &record)),
                    1 => mutated(&state, rng).into_iter().for_each(|state| {
                        let (report, accuracy) = (report.clone(), accuracy.clone());
                        read(&built.model, scheme, &before, &StepRecord { state, report, accuracy });
                    }),
                    _ => mutated(&report, rng).into_iter().for_each(|report| {
                        let (state, accuracy) = (state.clone(), accuracy.clone());
                        read(&built.model, scheme, &before, &StepRecord { state, report, accuracy });
                    }),
                }
            }
        }
    }
}

#[test]
fn states_of_another_model_are_refused() {
    let built = |text: &str| Scene::from_toml(text, "scene").unwrap().build().unwrap();
    let (BuiltScene { model, .. }, BuiltScene { state, .. }) = (built(&bouncing()), built(&balls(1.0)));
    assert!(matches!(model.check_state(&state), Err(StepError::Size { .. })));
    assert!(matches!(Tape::new(&model, "odd", &state), Err(StepError::Size { .. })));
    let simulation = Simulation::from_state(model.clone(), state);
    assert!(matches!(simulation.observe(), Err(StepError::Size { .. })));
    let bob = model.find_body("bob").unwrap();
    assert_eq!(model.angle(&State::default(), bob), None);
}

#[test]
fn a_journal_with_states_of_another_scene_is_refused() {
    let folder = Folder::new("foreign");
    let scene = folder.file("bouncing.toml", &bouncing());
    let path = folder.path("run.journal");
    assert_eq!(code(&stiction(&[&"run", &scene, &"--out", &path, &"--until", &"0.05"])), 0);
    let mut journal = Journal::open(&path).unwrap();
    let (header, start) = (journal.header().clone(), journal.start().clone());
    let mut record = journal.next().unwrap().unwrap();
    record.state.q.pop();
    let forged = folder.path("forged.journal");
    let mut writer = JournalWriter::create(&forged, &header, &start).unwrap();
    writer.append(&record).unwrap();
    drop(writer);
    let output = stiction(&[&"convert", &forged, &"--to", &"csv"]);
    assert_eq!(code(&output), 2, "{}", printed(&output));
    assert!(printed(&output).contains("forged.journal: the state has 5 coordinates"), "{}", printed(&output));
    let output = stiction(&[&"verify", &forged]);
    assert_eq!(code(&output), 1, "{}", printed(&output));
}

#[test]
fn a_time_whose_round_off_is_above_the_step_is_refused() {
    let folder = Folder::new("clock");
    let state = "[state]\ntime = 1e18\ncoordinates = [0, 0.5, 0, 3, 4, 0]\nvelocities = [0, 0, 0, 0, 0, 0]\n";
    let scene = folder.file("late.toml", &format!("{}\n{state}", bouncing()));
    let output = stiction(&[&"run", &scene, &"--out", &folder.path("run.journal")]);
    assert_eq!(code(&output), 2, "{}", printed(&output));
    assert!(printed(&output).contains("round-off of the time"), "{}", printed(&output));

    let BuiltScene { model, state, .. } = Scene::from_toml(&bouncing(), "late").unwrap().build().unwrap();
    let late = State { t: 1e18, ..state };
    for scheme in [Scheme::default(), Scheme::accurate()] {
        let mut simulation = Simulation::from_state(model.clone(), late.clone()).with_scheme(scheme);
        assert!(matches!(simulation.step(0.01), Err(StepError::Clock { .. })));
        let stopped = simulation.record(2e18, 0.01, |_, _, _| ()).unwrap_err();
        assert!(matches!(*stopped.error, StepError::Clock { .. }));
        assert_eq!(*simulation.state(), late);
        for (until, h) in [(1.0, f64::NAN), (f64::NAN, 0.01), (f64::INFINITY, 0.01), (2e18, -1.0)] {
            assert!(simulation.record(until, h, |_, _, _| ()).is_err(), "{until} {h}");
        }
    }
}
