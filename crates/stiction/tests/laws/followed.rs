//! Stretches that were followed to an accuracy pass a check that solves nothing, and records that were tampered with do
//! not.

use crate::common::{in_plane, in_space, random};
use crate::planes::{self, Scene};
use crate::spaces;
use crate::verified::Step;
use nalgebra::{Isometry2, Vector2};
use stiction::{
    Accuracy, AccuracyReport, Check, Evidence, Scheme, Simulation, StepReport, SubstepRecord, System,
    Verdict, planar, verify_accuracy_run,
};

/// Tolerances that ask for each of the methods.
const TOLERANCES: [f64; 3] = [1e-3, 1e-5, 1e-9];

/// A recorded stretch.
#[derive(Clone)]
struct Stretch {
    step: Step,
    said: AccuracyReport,
    accuracy: Accuracy,
}

impl Stretch {
    fn verdict<S: System>(&self, system: &S, scheme: &Scheme) -> Verdict {
        let Step { before, after, report } = &self.step;
        verify_accuracy_run(system, scheme, &self.accuracy, before, after, report, &self.said)
    }

    fn parts(&self) -> &[SubstepRecord] {
        &self.step.report.evidence.as_ref().unwrap().substeps
    }
}

/// Follows an accuracy over some stretches of 0.02 s, as far as it can be followed.
fn recorded<S: System>(simulation: &mut Simulation<S>, stretches: usize, tolerance: f64) -> Vec<Stretch> {
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    let accuracy = Accuracy { event_limit: 200, ..Accuracy::of(tolerance) };
    let mut recorded = Vec::new();
    for _ in 0..stretches {
        let before = simulation.state().clone();
        let Ok(said) = simulation.run_to_accuracy_into(before.t + 0.02, &accuracy, &mut report) else {
            break;
        };
        let step = Step { before, after: simulation.state().clone(), report: report.clone() };
        recorded.push(Stretch { step, said, accuracy });
    }
    recorded
}

/// A scene in a random state, or as it starts where its joints would be off.
fn scattered(scene: &Scene, seed: u64) -> Simulation<planar::Model> {
    let mut simulation = in_plane(&scene.world, Scheme::pagt06());
    let start = simulation.state().clone();
    let mut state = start.clone();
    (scene.scatter)(&mut random(seed), simulation.system(), &mut state);
    simulation.restore(state);
    if simulation.step(1e-6).is_err() {
        simulation.restore(start);
    }
    simulation
}

/// How many stretches hold, and of how many something cannot be told; none may fail.
fn told<S: System>(simulation: &mut Simulation<S>, tolerance: f64, name: &str) -> [usize; 2] {
    let mut told = [0; 2];
    for (k, stretch) in recorded(simulation, 8, tolerance).iter().enumerate() {
        let verdict = stretch.verdict(simulation.system(), &simulation.scheme);
        assert!(verdict.findings.is_empty(), "{name}, {tolerance}, stretch {k}: {:#?}", verdict.findings);
        told[usize::from(!verdict.holds())] += 1;
    }
    told
}

#[test]
fn followed_stretches_hold() {
    for tolerance in TOLERANCES {
        let mut sum = [0; 2];
        let mut add = |own: [usize; 2]| sum = [sum[0] + own[0], sum[1] + own[1]];
        for name in ["rod", "ellipse", "box", "room", "pendulum", "driven chain", "conveyor"] {
            add(told(&mut scattered(&planes::named(name), 1), tolerance, name));
        }
        for (name, world) in spaces::all() {
            add(told(&mut in_space(&world, Scheme::default()), tolerance, name));
        }
        // drives among them, whose impulses are within their bounds
        assert!(sum[0] > 60 && sum[1] == 0, "{tolerance}: {sum:?}");
    }
}

/// What a forger may do to a part, or to what it is made of.
fn forged_parts(parts: &[SubstepRecord]) -> Vec<(String, Vec<SubstepRecord>)> {
    let mut forged = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        let mut add = |name: &str, change: &dyn Fn(&mut SubstepRecord)| {
            let mut copy = parts.to_vec();
            change(&mut copy[k]);
            if copy != parts {
                forged.push((format!("part {k}: {name}"), copy));
            }
        };
        add("velocity", &|part| match part {
            SubstepRecord::Substep { v, .. }
            | SubstepRecord::Projection { v, .. }
            | SubstepRecord::Impact { v, .. } => v[0] += 1e-7,
            SubstepRecord::Accelerations { a, .. } => a[0] += 1e-6,
            _ => {}
        });
        add("impulse", &|part| match part {
            SubstepRecord::Substep { impulses: x, .. }
            | SubstepRecord::Accelerations { forces: x, .. }
            | SubstepRecord::Impact { compression: x, .. } => x.iter_mut().take(1).for_each(|x| *x += 1e-5),
            _ => {}
        });
        add("displacement", &|part| {
            if let SubstepRecord::Projection { displacements, .. } = part {
                displacements.iter_mut().for_each(|d| d[0] += 1e-9);
            }
        });
        add("size", &|part| {
            if let SubstepRecord::AccuracyStep { size, .. } = part {
                *size *= 1.0 - 1e-6;
            }
        });
        add("estimate", &|part| match part {
            SubstepRecord::AccuracyStep { error, .. } if *error > 1e-11 => *error *= 0.9,
            SubstepRecord::AccuracyStep { error, .. } => *error = f64::NAN,
            _ => {}
        });
        if let SubstepRecord::AccuracyStep { records: inner, .. } = part {
            for (name, changed) in forged_parts(inner) {
                let mut copy = parts.to_vec();
                let SubstepRecord::AccuracyStep { records, .. } = &mut copy[k] else { continue };
                *records = changed;
                forged.push((format!("part {k}, {name}"), copy));
            }
        }
        // a projection of what needs none leaves no trace
        if !matches!(part, SubstepRecord::Projection { .. }) {
            let mut copy = parts.to_vec();
            copy.remove(k);
            forged.push((format!("part {k} gone"), copy));
        }
    }
    forged
}

/// What a forger may do to a stretch.
fn forgeries(stretch: &Stretch) -> Vec<(String, Stretch)> {
    let mut forged = Vec::new();
    let mut add = |name: &str, change: &dyn Fn(&mut Stretch)| {
        let mut copy = stretch.clone();
        change(&mut copy);
        forged.push((name.to_string(), copy));
    };
    for i in 0..stretch.step.after.q.len() {
        add(&format!("coordinate {i}"), &|s| s.step.after.q[i] += 1e-9);
    }
    for i in 0..stretch.step.after.v.len() {
        add(&format!("velocity {i}"), &|s| s.step.after.v[i] += 1e-9);
    }
    add("kinetic", &|s| s.step.report.kinetic += 1e-9 * (1.0 + s.step.report.kinetic));
    add("the sum of errors", &|s| s.said.error = 0.5 * s.said.error + 1e-12);
    add("fewer steps", &|s| s.said.steps -= 1);
    add("no number of them", &|s| s.said.error = f64::NAN);
    add("a tighter accuracy", &|s| s.accuracy.tolerance = 0.2 * s.said.error / s.said.steps as f64);
    for (name, parts) in forged_parts(stretch.parts()) {
        add(&name, &|s| s.step.report.evidence.as_mut().unwrap().substeps.clone_from(&parts));
    }
    forged
}

#[test]
fn tampered_records_of_stretches_do_not_hold() {
    let mut tried = 0;
    for tolerance in TOLERANCES {
        for scene in ["rod", "box", "room", "pendulum"].map(planes::named) {
            let mut simulation = scattered(&scene, 7);
            for stretch in recorded(&mut simulation, 12, tolerance).iter().step_by(4) {
                for (forgery, forged) in forgeries(stretch) {
                    let findings = forged.verdict(simulation.system(), &simulation.scheme).findings;
                    assert!(!findings.is_empty(), "{}, {tolerance}: {forgery} passes", scene.name);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 1000, "{tried} forgeries");
}

/// Nothing is seen through: a record in which an impact is left out goes on through the floor.
#[test]
fn what_falls_through_the_floor_is_found() {
    let world = |floor: f64| {
        let mut world = planes::earth();
        world.add_body(planes::wall("floor", 0.0, floor, 0.0, planes::rough(0.5)));
        let body = planar::Body::rigid("ball", planar::Mass::Density(500.0)).at(planes::at(0.0, 0.102));
        world.add_body(body.with(planes::disk(0.1).material(planes::rough(0.5))));
        world
    };
    for tolerance in TOLERANCES {
        let mut simulation = in_plane(&world(-1.0), Scheme::default());
        let stretches = recorded(&mut simulation, 3, tolerance);
        assert_eq!(stretches.len(), 3);
        let model = world(0.0).build().unwrap();
        let found: Vec<bool> = stretches
            .iter()
            .map(|s| {
                let findings = s.verdict(&model, &simulation.scheme).findings;
                findings.iter().any(|f| f.check == Check::Open)
            })
            .collect();
        // it falls 1.96 mm in the first 0.02 s, of the 2 mm that are free
        assert_eq!(found, [false, true, true]);
    }
}

/// A corner that slides over an edge hands over to it: bodies are carried past the instant, which is recorded.
#[test]
fn what_hands_over_at_an_edge_holds() {
    let material = planes::rough(0.2);
    let slope = -20_f64.to_radians();
    let mut world = planes::earth();
    world.add_body(planes::floor(material));
    let ramp = planar::Body::fixed("ramp").at(Isometry2::new(Vector2::new(-1.0, 1.0), slope));
    world.add_body(ramp.with(planes::rectangle(1.0, 0.05).material(material)));
    let place = Isometry2::new(Vector2::new(-0.3, 0.97), slope);
    let body = planar::Body::rigid("crate", planar::Mass::Density(300.0)).at(place);
    let sliding = planar::Twist::new(Vector2::new(slope.cos(), slope.sin()), 0.0);
    world.add_body(body.moving(sliding).with(planes::rectangle(0.15, 0.1).material(material)));
    let past = |parts: &[SubstepRecord]| {
        parts.iter().filter(|p| matches!(p, SubstepRecord::FeatureChange { .. })).count()
    };
    for tolerance in TOLERANCES {
        let mut simulation = in_plane(&world, Scheme::pagt06());
        let stretches = recorded(&mut simulation, 18, tolerance);
        let mut passed = 0;
        for (k, stretch) in stretches.iter().enumerate() {
            let verdict = stretch.verdict(simulation.system(), &simulation.scheme);
            assert!(verdict.findings.is_empty(), "{tolerance}, stretch {k}: {:#?}", verdict.findings);
            passed += past(stretch.parts());
        }
        assert!(stretches.len() == 18 && passed > 0, "{} stretches, {passed} hand-overs", stretches.len());
    }
    let mut simulation = in_plane(&world, Scheme::pagt06());
    let steps = crate::verified::recorded(&mut simulation, 0.01, 50);
    let mut passed = 0;
    for (k, step) in steps.iter().enumerate() {
        let findings = step.verdict(simulation.system(), &simulation.scheme).findings;
        assert!(findings.is_empty(), "step {k}: {findings:#?}");
        let parts = &step.report.evidence.as_ref().unwrap().substeps;
        passed += past(parts);
        for j in 0..parts.len() {
            let mut forged = step.clone();
            let parts = &mut forged.report.evidence.as_mut().unwrap().substeps;
            let SubstepRecord::FeatureChange { size } = &mut parts[j] else { continue };
            *size *= 1e3;
            assert!(!forged.verdict(simulation.system(), &simulation.scheme).findings.is_empty());
        }
    }
    assert!(steps.len() == 50 && passed > 0, "{} steps, {passed} hand-overs", steps.len());
}

#[test]
fn a_record_changes_no_bit_of_what_it_is_of() {
    for tolerance in TOLERANCES {
        let mut simulation = scattered(&planes::named("rod"), 3);
        let mut plain = simulation.clone();
        for stretch in recorded(&mut simulation, 6, tolerance) {
            let until = plain.state().t + 0.02;
            let said = plain.run_to_accuracy(until, &stretch.accuracy, &[], |_, _| ()).unwrap().report;
            assert_eq!((plain.state(), said), (&stretch.step.after, stretch.said));
        }
    }
}
