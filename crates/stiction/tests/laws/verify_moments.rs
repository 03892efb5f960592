//! Verification of torsional and rolling friction: records pass, forged moments and lengths do not.

use crate::common::{in_plane, in_space};
use crate::verify::{SCHEMES, assert_all_hold, assert_forgeries_are_found, polygons, recorded};
use crate::{planes, spaces};
use nalgebra::{Vector2, Vector3};
use stiction::{Check, Material, Scheme, planar, spatial};

/// Lengths ℓ_t and ℓ_r [m]: each alone, and both.
const LENGTHS: [(f64, f64); 3] = [(0.04, 0.0), (0.0, 0.02), (0.05, 0.01)];

fn material((torsion, rolling): (f64, f64)) -> Material {
    Material { friction: 0.4, restitution: 0.2, torsion, rolling }
}

/// Disks that roll on the floor and against each other, one that comes down on them, and a box.
fn disks(lengths: (f64, f64)) -> planar::World {
    let mut world = planes::earth();
    world.add_body(planes::floor(material(lengths)));
    for (k, (x, y, speed)) in [(0.0, 0.2, 1.0), (0.6, 0.2, -0.5), (0.3, 0.7, 0.0)].into_iter().enumerate() {
        let body = planar::Body::rigid(format!("disk {k}"), planar::Mass::Density(500.0));
        let velocity = planar::Twist::new(Vector2::new(speed, 0.0), -speed / 0.2);
        let shape = planes::disk(0.2).material(material(lengths));
        world.add_body(body.at(planes::at(x, y)).moving(velocity).with(shape));
    }
    let body = planar::Body::rigid("box", planar::Mass::Density(500.0)).at(planes::at(1.4, 0.15));
    let sliding = planar::Twist::new(Vector2::new(-1.5, 0.0), 0.0);
    world.add_body(body.moving(sliding).with(planes::rectangle(0.15, 0.15).material(material(lengths))));
    world
}

/// Balls that spin and roll on the floor and meet, a capsule that rolls, and a box that spins as it slides.
fn balls(lengths: (f64, f64)) -> spatial::World {
    let mut world = spaces::earth();
    world.add_body(spaces::floor(material(lengths)));
    let ball = spatial::Shape::Sphere { radius: 0.2 };
    let capsule = spatial::Shape::Capsule { half_length: 0.2, radius: 0.1 };
    let box_ = spatial::Shape::Cuboid { half_extents: [0.2, 0.15, 0.1] };
    let bodies = [
        (ball.clone(), [0.0, 0.0, 0.2], [1.0, 0.2, 0.0], [-1.0, 5.0, 3.0]),
        (ball, [0.6, 0.1, 0.25], [-0.5, 0.0, 0.0], [0.0, -2.0, -9.0]),
        (capsule, [0.2, 0.7, 0.35], [0.3, -1.0, 0.0], [2.0, 1.0, 4.0]),
        (box_, [-0.8, 0.3, 0.1], [1.0, 0.5, 0.0], [0.0, 0.0, 6.0]),
    ];
    for (k, (shape, [x, y, z], linear, angular)) in bodies.into_iter().enumerate() {
        let body = spatial::Body::rigid(format!("body {k}"), spatial::Mass::Density(500.0));
        let velocity = spatial::Twist::new(Vector3::from(linear), Vector3::from(angular));
        let shape = spaces::sociable(shape, material(lengths));
        world.add_body(body.at(spaces::at(x, y, z)).moving(velocity).with(shape));
    }
    world
}

#[test]
fn steps_with_moment_friction_hold() {
    for (name, scheme) in SCHEMES {
        for lengths in LENGTHS {
            let name = format!("{lengths:?}, {name}");
            let made = assert_all_hold(&mut in_plane(&disks(lengths), scheme()), 0.01, 80, &name);
            assert!(made > 40, "{name}: {made} steps in the plane");
            let mut world = balls(lengths);
            polygons(&mut world, &scheme());
            let made = assert_all_hold(&mut in_space(&world, scheme()), 0.01, 80, &name);
            assert!(made > 40, "{name}: {made} steps in space");
        }
    }
}

/// Facets of sliding friction with spin are polyhedra, those of rolling friction polygons.
#[test]
fn steps_with_faceted_moment_friction_hold() {
    for aligned in [false, true] {
        let mut world = balls(LENGTHS[2]);
        world.facets = Some(spatial::Facets { directions: 6, aligned });
        let made = assert_all_hold(&mut in_space(&world, Scheme::default()), 0.01, 80, "facets");
        assert_eq!(made, 80);
    }
}

#[test]
fn forged_moments_do_not_hold() {
    let mut tried = 0;
    for (name, scheme) in SCHEMES {
        let mut simulation = in_plane(&disks(LENGTHS[1]), scheme());
        tried += assert_forgeries_are_found(&mut simulation, 0.01, &format!("disks, {name}"));
        for lengths in LENGTHS {
            let mut world = balls(lengths);
            polygons(&mut world, &scheme());
            let mut simulation = in_space(&world, scheme());
            let name = format!("balls, {lengths:?}, {name}");
            tried += assert_forgeries_are_found(&mut simulation, 0.01, &name);
        }
    }
    assert!(tried > 5000, "{tried} forgeries");
}

/// A changed length is found: a contact that spins or rolls has another cone, and without moment friction the record has
/// a moment that the model does not have.
#[test]
fn other_lengths_are_found() {
    let mut simulation = in_space(&balls(LENGTHS[2]), Scheme::default());
    let steps = recorded(&mut simulation, 0.01, 20);
    let (torsion, rolling) = LENGTHS[2];
    for (lengths, check) in [
        ((torsion * 1.0001, rolling), Check::Complementarity),
        ((torsion, rolling * 1.0001), Check::Complementarity),
        ((0.0, 0.0), Check::Contact),
        ((0.0, rolling), Check::Contact),
        ((torsion, 0.0), Check::Contact),
    ] {
        let model = balls(lengths).build().unwrap();
        for (k, step) in steps.iter().enumerate() {
            let turns = step.report.contacts.iter().any(|c| c.moment.is_some() && c.normal_impulse > 0.0);
            assert!(turns, "step {k}");
            let findings = step.verdict(&model, &simulation.scheme).findings;
            assert!(findings.iter().any(|f| f.check == check), "{lengths:?}, step {k}: {findings:?}");
        }
    }
    // there is no spin in the plane, so ℓ_t makes no difference
    let mut simulation = in_plane(&disks(LENGTHS[2]), Scheme::default());
    let steps = recorded(&mut simulation, 0.01, 20);
    let [spinless, rougher] =
        [(0.0, rolling), (torsion, rolling * 1.0001)].map(|l| disks(l).build().unwrap());
    for step in &steps {
        assert!(step.verdict(&spinless, &simulation.scheme).holds());
        let findings = step.verdict(&rougher, &simulation.scheme).findings;
        assert!(findings.iter().any(|f| f.check == Check::Complementarity), "{findings:?}");
    }
}
