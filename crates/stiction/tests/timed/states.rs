//! Timed steps from stored states: runs that are stopped, copied or recorded go on bit by bit, and records hold.

use crate::common::{G, at, brick, disk, earth, floor, moving, surface};
use nalgebra::{Isometry3, Point2, Point3, Vector3};
use stiction::planar::Joint;
use stiction::{Evidence, Scheme, Simulation, State, StepReport, System, spatial, verify};

/// Bricks that fall in a heap, one of them on a hinge.
fn heap() -> stiction::planar::World {
    let mut world = earth();
    floor(&mut world, surface(0.4, 0.3));
    let ground = world.add_body(stiction::planar::Body::fixed("ground"));
    for k in 0..6 {
        let x = 0.07 * f64::from(k % 3);
        let body = brick(&format!("brick {k}"), 1.0 + f64::from(k), [0.2, 0.1], surface(0.4, 0.3));
        world.add_body(body.at(at(x, 0.12 + 0.25 * f64::from(k))).moving(moving(0.0, -1.0, 0.5)));
    }
    let swing = world.add_body(disk("swing", 1.0, 0.1, surface(0.4, 0.3)).at(at(1.0, 0.4)));
    let hinge = Joint::revolute("hinge", &world, ground, swing, Point2::new(0.6, 0.8));
    world.add_joint(hinge);
    world
}

/// Boxes that tumble onto a floor in space, with rolling and torsional friction.
fn tumbling() -> spatial::World {
    let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -G));
    let material = stiction::Material { friction: 0.4, restitution: 0.3, torsion: 0.01, rolling: 0.002 };
    let ground = spatial::Attached::new(spatial::Shape::HalfSpace).material(material);
    world.add_body(spatial::Body::fixed("floor").with(ground));
    for k in 0..5 {
        let shape = match k % 2 {
            0 => spatial::Shape::Cuboid { half_extents: [0.2, 0.15, 0.1] },
            _ => spatial::Shape::Sphere { radius: 0.12 },
        };
        let turn = Vector3::new(0.3 * f64::from(k), 0.2, 0.1);
        let pose = Isometry3::new(Vector3::new(0.05 * f64::from(k), 0.03, 0.3 + 0.35 * f64::from(k)), turn);
        let body = spatial::Body::rigid(format!("body {k}"), spatial::Mass::Density(500.0)).at(pose);
        let spin = spatial::Twist::new(Vector3::new(0.2, 0.1, -1.0), Vector3::new(4.0, -3.0, 2.0));
        world.add_body(body.moving(spin).with(spatial::Attached::new(shape).material(material)));
    }
    let ground = world.add_body(spatial::Body::fixed("post"));
    let shape = spatial::Attached::new(spatial::Shape::Sphere { radius: 0.1 });
    let swing = spatial::Body::rigid("swing", spatial::Mass::Density(500.0));
    let swing = swing.at(Isometry3::translation(1.0, 0.0, 0.5)).with(shape.material(material));
    let swing = world.add_body(swing);
    let joint = spatial::Joint::distance(
        "rod",
        &world,
        (ground, Point3::new(1.0, 0.3, 0.9)),
        (swing, Point3::new(1.0, 0.0, 0.5)),
    );
    world.add_joint(joint);
    world
}

/// Checks that every step holds, that the run has impacts, and that a restart from a written state ends in the same bits.
fn check<S: System + Clone>(system: S, start: State) {
    let scheme = Scheme::default();
    let mut simulation = Simulation::from_state(system.clone(), start).with_scheme(scheme);
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    let (mut impacts, mut held, mut spread) = (0, 0, 0);
    let mut written = String::new();
    for step in 0..120 {
        let before = simulation.state().clone();
        simulation.step_into(0.01, &mut report).unwrap();
        let verdict = verify(&system, &scheme, &before, simulation.state(), &report);
        assert!(verdict.holds(), "step {step}: {verdict:#?}");
        impacts += report.events.len();
        let evidence = report.evidence.as_ref().unwrap();
        held += evidence.passes.iter().map(|pass| pass.held.len()).sum::<usize>();
        spread += usize::from(simulation.state().memory.after_impact);
        let depth = report.stabilization.as_ref().map_or(0.0, |s| s.after);
        assert!(depth <= 1e-9 * system.size(), "step {step}: {depth} m");
        if step == 40 {
            written = serde_json::to_string(simulation.state()).unwrap();
        }
    }
    assert!(
        impacts > 10 && held > 0 && spread > 5,
        "{impacts} impacts, {held} held, {spread} steps with impacts"
    );
    let state: State = serde_json::from_str(&written).unwrap();
    let mut again = Simulation::from_state(system, state).with_scheme(scheme);
    for _ in 41..120 {
        again.step(0.01).unwrap();
    }
    assert_eq!(again.state(), simulation.state());
}

#[test]
fn planar_runs_hold_and_restart() {
    let model = heap().build().unwrap();
    let start = model.state();
    check(model, start);
}

#[test]
fn spatial_runs_hold_and_restart() {
    let model = tumbling().build().unwrap();
    let start = model.state();
    check(model, start);
}

/// The memory that a forged impact would leave, and a forged ledger, are found.
#[test]
fn forged_memories_and_ledgers_are_found() {
    let model = heap().build().unwrap();
    let scheme = Scheme::default();
    let mut simulation = Simulation::new(model.clone()).with_scheme(scheme);
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    for _ in 0..60 {
        let before = simulation.state().clone();
        simulation.step_into(0.01, &mut report).unwrap();
        let after = simulation.state();
        let fails = |after: &State, report: &StepReport| {
            !verify(&model, &scheme, &before, after, report).findings.is_empty()
        };
        assert!(!fails(after, &report));
        let mut forged = after.clone();
        forged.memory.after_impact = !forged.memory.after_impact;
        assert!(fails(&forged, &report));
        let mut forged = after.clone();
        if let Some(joint) = forged.memory.joints.first_mut() {
            *joint += 1e-3;
        }
        assert!(fails(&forged, &report));
        let mut forged = report.clone();
        if let Some(ledger) = &mut forged.ledger {
            ledger.friction -= 1e-6;
        }
        assert!(fails(after, &forged));
        if let Some(event) = report.events.first() {
            let mut forged = report.clone();
            forged.events[0].t = event.t + 1e-6;
            assert!(fails(after, &forged));
        }
    }
}
