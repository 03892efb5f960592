//! Verification of runs to an accuracy: records pass, and forged records do not.

use crate::common::{in_plane, in_space};
use crate::verify::Step;
use crate::{planes, spaces};
use nalgebra::{Isometry2, Vector2};
use stiction::{
    Accuracy, AccuracyReport, AccurateMethod, Check, Evidence, Scheme, Simulation, StepReport, SubstepRecord,
    System, Verdict, planar, verify_accuracy_run,
};

/// Tolerances, one for each of the methods.
const TOLERANCES: [f64; 3] = [1e-3, 1e-5, 1e-9];

/// Accuracy of a tolerance; the first of them by trapezoidal steps.
fn accuracy_of(tolerance: f64) -> Accuracy {
    let trapezoidal = tolerance == TOLERANCES[0];
    let method = if trapezoidal { AccurateMethod::Trapezoidal } else { AccurateMethod::Automatic };
    Accuracy { event_limit: 200, method, ..Accuracy::of(tolerance) }
}

/// Recorded run to an accuracy.
#[derive(Clone)]
struct RecordedRun {
    step: Step,
    summary: AccuracyReport,
    accuracy: Accuracy,
}

impl RecordedRun {
    fn verdict<S: System>(&self, system: &S, scheme: &Scheme) -> Verdict {
        let Step { before, after, report } = &self.step;
        verify_accuracy_run(system, scheme, &self.accuracy, before, after, report, &self.summary)
    }

    fn parts(&self) -> &[SubstepRecord] {
        &self.step.report.evidence.as_ref().unwrap().substeps
    }
}

/// Records up to this many consecutive runs of 0.02 s, until one fails.
fn recorded<S: System>(simulation: &mut Simulation<S>, runs: usize, tolerance: f64) -> Vec<RecordedRun> {
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    let accuracy = accuracy_of(tolerance);
    let mut recorded = Vec::new();
    for _ in 0..runs {
        let before = simulation.state().clone();
        let Ok(summary) = simulation.run_to_accuracy_into(before.t + 0.02, &accuracy, &mut report) else {
            break;
        };
        let step = Step { before, after: simulation.state().clone(), report: report.clone() };
        recorded.push(RecordedRun { step, summary, accuracy });
    }
    recorded
}

/// Numbers of runs that hold and that cannot be checked entirely; none may fail.
fn counts<S: System>(simulation: &mut Simulation<S>, tolerance: f64, name: &str) -> [usize; 2] {
    let mut counts = [0; 2];
    for (k, run) in recorded(simulation, 8, tolerance).iter().enumerate() {
        let verdict = run.verdict(simulation.system(), &simulation.scheme);
        assert!(verdict.findings.is_empty(), "{name}, {tolerance}, run {k}: {:#?}", verdict.findings);
        counts[usize::from(!verdict.holds())] += 1;
    }
    counts
}

#[test]
fn runs_to_an_accuracy_hold() {
    for tolerance in TOLERANCES {
        let mut sum = [0; 2];
        let mut add = |own: [usize; 2]| sum = [sum[0] + own[0], sum[1] + own[1]];
        for name in ["rod", "ellipse", "box", "room", "pendulum", "driven chain", "conveyor"] {
            add(counts(&mut planes::named(name).scattered_with_joints(Scheme::pagt06(), 1), tolerance, name));
        }
        for (name, world) in spaces::all() {
            add(counts(&mut in_space(&world, Scheme::default()), tolerance, name));
        }
        // scenes with drives, whose impulses are within their bounds, are among them
        assert!(sum[0] > 60 && sum[1] == 0, "{tolerance}: {sum:?}");
    }
}

/// Copies of the evidence with one forged record, at any depth.
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
        // a projection of a state that needs none changes nothing
        if !matches!(part, SubstepRecord::Projection { .. }) {
            let mut copy = parts.to_vec();
            copy.remove(k);
            forged.push((format!("part {k} gone"), copy));
        }
    }
    forged
}

/// Forged copies of a run, by name.
fn forgeries(run: &RecordedRun) -> Vec<(String, RecordedRun)> {
    let mut forged = Vec::new();
    let mut add = |name: &str, change: &dyn Fn(&mut RecordedRun)| {
        let mut copy = run.clone();
        change(&mut copy);
        forged.push((name.to_string(), copy));
    };
    for i in 0..run.step.after.q.len() {
        add(&format!("coordinate {i}"), &|s| s.step.after.q[i] += 1e-9);
    }
    for i in 0..run.step.after.v.len() {
        add(&format!("velocity {i}"), &|s| s.step.after.v[i] += 1e-9);
    }
    add("kinetic", &|s| s.step.report.kinetic += 1e-9 * (1.0 + s.step.report.kinetic));
    add("the sum of errors", &|s| s.summary.error = 0.5 * s.summary.error + 1e-12);
    add("fewer steps", &|s| s.summary.steps -= 1);
    add("no number of them", &|s| s.summary.error = f64::NAN);
    add("a tighter accuracy", &|s| s.accuracy.tolerance = 0.2 * s.summary.error / s.summary.steps as f64);
    for (name, parts) in forged_parts(run.parts()) {
        add(&name, &|s| s.step.report.evidence.as_mut().unwrap().substeps.clone_from(&parts));
    }
    forged
}

#[test]
fn forged_records_of_runs_do_not_hold() {
    let mut tried = 0;
    for tolerance in TOLERANCES {
        for scene in ["rod", "box", "room", "pendulum"].map(planes::named) {
            let mut simulation = scene.scattered_with_joints(Scheme::pagt06(), 7);
            for run in recorded(&mut simulation, 12, tolerance).iter().step_by(4) {
                for (forgery, forged) in forgeries(run) {
                    let findings = forged.verdict(simulation.system(), &simulation.scheme).findings;
                    assert!(!findings.is_empty(), "{}, {tolerance}: {forgery} passes", scene.name);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 1000, "{tried} forgeries");
}

/// A record without the impact, made with a lower floor, penetrates the floor of the model.
#[test]
fn a_fall_through_the_floor_is_found() {
    let world = |floor: f64| {
        let mut world = planes::earth();
        world.add_body(planes::wall("floor", 0.0, floor, 0.0, planes::rough(0.5)));
        let body = planar::Body::rigid("ball", planar::Mass::Density(500.0)).at(planes::at(0.0, 0.102));
        world.add_body(body.with(planes::disk(0.1).material(planes::rough(0.5))));
        world
    };
    for tolerance in TOLERANCES {
        let mut simulation = in_plane(&world(-1.0), Scheme::default());
        let runs = recorded(&mut simulation, 3, tolerance);
        assert_eq!(runs.len(), 3);
        let model = world(0.0).build().unwrap();
        let found: Vec<bool> = runs
            .iter()
            .map(|s| {
                let findings = s.verdict(&model, &simulation.scheme).findings;
                findings.iter().any(|f| f.check == Check::Open)
            })
            .collect();
        // it falls by 1.96 mm in the first 0.02 s, with a gap of 2 mm
        assert_eq!(found, [false, true, true]);
    }
}

/// A corner slides over an edge and the active contact changes its features: the bodies move past that instant, and the
/// record says so.
#[test]
fn a_change_of_features_at_an_edge_holds() {
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
        let runs = recorded(&mut simulation, 18, tolerance);
        let mut passed = 0;
        for (k, run) in runs.iter().enumerate() {
            let verdict = run.verdict(simulation.system(), &simulation.scheme);
            assert!(verdict.findings.is_empty(), "{tolerance}, run {k}: {:#?}", verdict.findings);
            passed += past(run.parts());
        }
        assert!(runs.len() == 18 && passed > 0, "{} runs, {passed} hand-overs", runs.len());
    }
    let mut simulation = in_plane(&world, Scheme::pagt06());
    let steps = crate::verify::recorded(&mut simulation, 0.01, 50);
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
fn recording_changes_no_bit_of_a_run() {
    for tolerance in TOLERANCES {
        let mut simulation = planes::named("rod").scattered_with_joints(Scheme::pagt06(), 3);
        let mut plain = simulation.clone();
        for run in recorded(&mut simulation, 6, tolerance) {
            let until = plain.state().t + 0.02;
            let summary = plain.run_to_accuracy(until, &run.accuracy, &[], |_, _| ()).unwrap().report;
            assert_eq!((plain.state(), summary), (&run.step.after, run.summary));
        }
    }
}
