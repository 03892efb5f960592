//! Boxes on four corners: redundant contacts.

use nalgebra::{Isometry3, Vector3};
use stiction::spatial::{Attached, Body, Mass, Model, Shape, Twist, World};
use stiction::{Event, EventKind, Material, Scheme, Simulation};

const G: f64 = 9.81;
const MU: f64 = 0.3;

/// Cube of 1 m at a height and yaw, with a velocity along x.
fn cube(height: f64, yaw: f64, speed: f64) -> Simulation<Model> {
    let mut world = World::new(Vector3::new(0.0, 0.0, -G));
    let material = Material { friction: MU, restitution: 0.0, ..Material::default() };
    world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfSpace).material(material)));
    let pose = Isometry3::new(Vector3::new(0.0, 0.0, height), Vector3::z() * yaw);
    let shape = Attached::new(Shape::Cuboid { half_extents: [0.5; 3] }).material(material);
    let velocity = Twist::new(Vector3::new(speed, 0.0, 0.0), Vector3::zeros());
    world.add_body(Body::rigid("cube", Mass::Density(100.0)).at(pose).with(shape).moving(velocity));
    let model = world.build().unwrap();
    Simulation::new(model).with_scheme(Scheme::pagt06())
}

/// Runs 1 s at h = 0.01 s. No mode is changed by force and location never stops.
fn run(simulation: &mut Simulation<Model>) -> Vec<Event> {
    let mut events = Vec::new();
    for step in 0..100 {
        let report = simulation.step(0.01).unwrap_or_else(|e| panic!("step {step}: {e}"));
        let summary = report.second_order.unwrap();
        assert!(summary.forced == 0 && !summary.cut, "step {step}: {summary:?}");
        assert!(report.certificate.worst() <= 1e-10, "step {step}: {:?}", report.certificate);
        events.extend(report.events);
    }
    events
}

#[test]
fn a_cube_rests() {
    let mut simulation = cube(0.5, 0.4, 0.0);
    let before = simulation.state().q.clone();
    assert_eq!(run(&mut simulation), []);
    for (now, then) in simulation.state().q.iter().zip(&before) {
        assert!((now - then).abs() < 1e-13, "{:?}", simulation.state().q);
    }
}

/// Distance v²/2μg and time v/μg, exact for a constant deceleration.
#[test]
fn a_cube_slides_until_all_corners_stick() {
    for yaw in [0.0, 0.3] {
        let mut simulation = cube(0.5, yaw, 1.0);
        let events = run(&mut simulation);
        assert!(events.iter().all(|e| e.kind == EventKind::Stick), "{events:?}");
        assert!(events.iter().all(|e| (e.t - 1.0 / (MU * G)).abs() < 1e-9), "{events:?}");
        assert!(!events.is_empty());
        let x = simulation.state().q[0];
        assert!((x - 0.5 / (MU * G)).abs() < 1e-9, "{x}");
    }
}

#[test]
fn a_cube_lands_on_four_corners_at_once() {
    let mut simulation = cube(0.6, 0.0, 0.0);
    let events = run(&mut simulation);
    assert_eq!(events.len(), 4);
    let exact = (0.2 / G).sqrt();
    assert!(events.iter().all(|e| e.kind == EventKind::Impact && (e.t - exact).abs() < 1e-9), "{events:?}");
    assert!((simulation.state().q[2] - 0.5).abs() < 1e-12);
}
