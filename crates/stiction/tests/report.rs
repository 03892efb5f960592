//! Reports: forces, contacts by id and by body, and the round trip through JSON and postcard.

#[path = "common/mod.rs"]
mod common;

use common::{G, in_plane};
use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{Attached, Body, BodyId, Joint, Mass, Polygon, Shape, World};
use stiction::{Evidence, Scheme, StepError, StepReport};

const H: f64 = 0.01;
const MASS: f64 = 2.0;

/// World with a floor, a box at rest on it, and a pendulum; the floor and the box.
fn scene() -> (World, BodyId, BodyId) {
    let mut world = World::new(Vector2::new(0.0, -G));
    let floor = world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane)));
    let square = Attached::new(Shape::Polygon(Polygon::rectangle([0.1, 0.1]).unwrap()));
    let rest = Body::rigid("box", Mass::given(MASS, 0.01)).at(Isometry2::translation(0.0, 0.1));
    let rest = world.add_body(rest.with(square));
    let bob = Body::rigid("bob", Mass::given(1.0, 0.1)).at(Isometry2::translation(5.0, 1.0));
    let bob = world.add_body(bob);
    world.add_joint(Joint::revolute("pivot", &world, floor, bob, Point2::new(5.0, 2.0)));
    (world, floor, rest)
}

fn with_evidence() -> StepReport {
    StepReport { evidence: Some(Evidence::default()), ..StepReport::default() }
}

#[test]
fn forces_are_impulses_over_the_step_size() {
    let (world, floor, rest) = scene();
    let report = in_plane(&world, Scheme::default()).step(H).unwrap();
    let contacts: Vec<_> = report.contacts_between(rest, floor).collect();
    assert_eq!(contacts.len(), 2);
    assert_eq!(report.contacts_of(rest).count(), 2);
    assert_eq!(report.contacts_of(stiction::BodyId(2)).count(), 0);
    let mut sum = [0.0; 3];
    for contact in &contacts {
        assert_eq!(report.contact(contact.id), Some(*contact));
        let force = contact.force(H);
        assert_eq!(contact.normal_force(H), contact.normal_impulse / H);
        assert!((force.normal[1] - contact.normal_force(H) * contact.normal[1]).abs() < 1e-12);
        (0..3).for_each(|c| sum[c] += force.total()[c]);
    }
    // certified to 1e-8 of a speed of g h
    let tolerance = 1e-7 * MASS * G;
    assert!((sum[1] - MASS * G).abs() < tolerance && sum[0].abs() < tolerance, "{sum:?}");
    let joint = report.joints.iter().map(|row| row.force(H).powi(2)).sum::<f64>().sqrt();
    assert!((joint - G).abs() < 1e-6, "{joint} N hold up 1 kg");
}

#[test]
fn reports_survive_json_and_postcard() {
    for scheme in [Scheme::default(), Scheme::st00_nonlinear(), Scheme::pagt06()] {
        for first in [StepReport::default(), with_evidence()] {
            let mut simulation = in_plane(&scene().0, scheme);
            let mut report = first;
            for _ in 0..3 {
                simulation.step_into(H, &mut report).unwrap();
                let text = serde_json::to_string(&report).unwrap();
                assert_eq!(serde_json::from_str::<StepReport>(&text).unwrap(), report);
                let bytes = postcard::to_stdvec(&report).unwrap();
                assert_eq!(postcard::from_bytes::<StepReport>(&bytes).unwrap(), report);
            }
        }
    }
}

#[test]
fn proofs_of_infeasible_passes_and_dropped_contacts_survive_too() {
    // a box of three tiles between two walls that are too close: reduced contacts, and an infeasible pass
    let mut world = World::new(Vector2::new(0.0, -G));
    world.allow_overlap = true;
    let square = |x: f64| {
        let shape = Attached::new(Shape::Polygon(Polygon::rectangle([0.1, 0.1]).unwrap()));
        shape.at(Isometry2::translation(x, 0.0))
    };
    let tiles = Body::rigid("tiles", Mass::Density(100.0)).at(Isometry2::translation(0.0, 0.1));
    world.add_body(tiles.with(square(-0.2)).with(square(0.0)).with(square(0.2)));
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane)));
    for (name, x, angle) in [("left", -0.29, -1.0), ("right", 0.29, 1.0)] {
        let pose = Isometry2::new(Vector2::new(x, 0.0), angle * std::f64::consts::FRAC_PI_2);
        world.add_body(Body::fixed(name).at(pose).with(Attached::new(Shape::HalfPlane)));
    }
    let mut simulation = in_plane(&world, Scheme::ap97().post_stabilized(2));
    let report = simulation.step(H).unwrap();
    assert!(!report.dropped.is_empty());
    assert!(report.stabilization.as_ref().is_some_and(|s| s.infeasible.is_some()), "{report:?}");
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<StepReport>(&text).unwrap(), report);
    let bytes = postcard::to_stdvec(&report).unwrap();
    assert_eq!(postcard::from_bytes::<StepReport>(&bytes).unwrap(), report);
}

#[test]
fn unsolved_steps_name_the_bodies() {
    let (world, ..) = scene();
    // no residual is below this tolerance
    let mut scheme = Scheme::default();
    (scheme.solver.tolerance, scheme.solver.loosest) = (-1.0, -1.0);
    let error = in_plane(&world, scheme).step(H).expect_err("a negative tolerance");
    let StepError::Unsolved { place: Some(place), .. } = &error else { panic!("{error}") };
    let message = error.to_string();
    assert!(message.contains(place), "{message}");
    let named = ["(floor–box)", "(box–floor)", "(pivot)"].iter().any(|name| place.contains(name));
    assert!(named, "{message}");
}
