//! Structures of boxes that must stay at rest.

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use stiction::spatial::{Attached, Body, BodyId, Mass, Model, Shape, World};
use stiction::{Material, Simulation};
use stiction_geometry::spatial::Polyhedron;

fn ground(world: &mut World, friction: f64) {
    let material = Material { friction, restitution: 0.0, ..Material::default() };
    world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfSpace).material(material)));
}

fn cuboid(name: String, half_extents: [f64; 3], pose: Isometry3<f64>, friction: f64) -> Body {
    let material = Material { friction, restitution: 0.0, ..Material::default() };
    let shape = Attached::new(Shape::Cuboid { half_extents }).material(material);
    Body::rigid(name, Mass::Density(100.0)).at(pose).with(shape)
}

/// Asserts over 10 s at h = 0.01 that penetration stays below 1e-6 of the size, and that after 1 s no body moves by more
/// than 1e-9 of it.
fn assert_rests(world: World, bodies: &[BodyId], size: f64) {
    let model: Model = world.build().unwrap();
    let mut simulation = Simulation::new(model);
    let centres = |s: &Simulation<Model>| -> Vec<Vector3<f64>> {
        bodies.iter().map(|&b| s.system().centre(s.state(), b).unwrap().coords).collect()
    };
    let mut settled = Vec::new();
    for step in 1..=1000 {
        let report = simulation.step(0.01).unwrap_or_else(|e| panic!("step {step}: {e}"));
        assert!(report.infeasibility < 1e-6 * size, "step {step}: {}", report.infeasibility);
        if step == 100 {
            settled = centres(&simulation);
        }
    }
    for (before, after) in settled.iter().zip(centres(&simulation)) {
        let moved = (after - before).norm();
        assert!(moved < 1e-9 * size, "moved by {moved} m");
    }
}

#[test]
fn a_box_rests_on_a_box() {
    let mut world = World::new(Vector3::new(0.0, 0.0, -9.81));
    ground(&mut world, 0.5);
    let lower = world.add_body(cuboid("lower".into(), [0.5; 3], Isometry3::translation(0.0, 0.0, 0.5), 0.5));
    let turned = Isometry3::from_parts(
        Vector3::new(0.1, 0.05, 1.3).into(),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 0.3),
    );
    let upper = world.add_body(cuboid("upper".into(), [0.4, 0.3, 0.3], turned, 0.5));
    assert_rests(world, &[lower, upper], 0.6);
}

/// Asserts that equal boxes rest, each displaced from the one before; they allow a motion relative to `size` [m].
fn assert_row_rests(
    count: u32,
    half_extents: [f64; 3],
    start: Vector3<f64>,
    offset: Vector3<f64>,
    size: f64,
) {
    let mut world = World::new(Vector3::new(0.0, 0.0, -9.81));
    ground(&mut world, 0.5);
    let bodies: Vec<BodyId> = (0..count)
        .map(|i| {
            let pose = Isometry3::from(start + f64::from(i) * offset);
            world.add_body(cuboid(format!("box {i}"), half_extents, pose, 0.5))
        })
        .collect();
    assert_rests(world, &bodies, size);
}

#[test]
fn a_stack_of_twenty_stands() {
    assert_row_rests(20, [0.5; 3], Vector3::new(0.0, 0.0, 0.5), Vector3::z(), 1.0);
}

#[test]
fn a_row_of_dominoes_stands() {
    let domino = [0.0375, 0.12, 0.24];
    assert_row_rests(10, domino, Vector3::new(0.0, 0.0, 0.24), 0.15 * Vector3::x(), 0.075);
}

/// Arch of seven wedge stones, thick enough for the line of thrust to stay inside.
#[test]
fn an_arch_holds_by_friction_alone() {
    let mut world = World::new(Vector3::new(0.0, 0.0, -9.81));
    ground(&mut world, 0.8);
    let bodies: Vec<BodyId> = (0..7).map(|i| world.add_body(stone(i))).collect();
    assert_rests(world, &bodies, 0.4);
}

fn stone(i: u32) -> Body {
    let angle = |k: u32| std::f64::consts::PI * f64::from(k) / 7.0;
    let corners: Vec<Point3<f64>> = [i, i + 1]
        .into_iter()
        .flat_map(|k| [1.0, 1.4].map(|r| (r * angle(k).cos(), r * angle(k).sin())))
        .flat_map(|(x, z)| [-0.2, 0.2].map(|y| Point3::new(x, y, z)))
        .collect();
    let material = Material { friction: 0.8, restitution: 0.0, ..Material::default() };
    let shape = Shape::Polyhedron(Polyhedron::new(&corners).unwrap().into());
    Body::rigid(format!("stone {i}"), Mass::Density(100.0)).with(Attached::new(shape).material(material))
}

/// Wall of ten courses of ten bricks in a bond with gaps; bricks at the ends overlap the course below by more than half.
#[test]
fn a_wall_of_a_hundred_stands() {
    let mut world = World::new(Vector3::new(0.0, 0.0, -9.81));
    ground(&mut world, 0.5);
    let mut bodies = Vec::new();
    for course in 0..10 {
        for brick in 0..10 {
            let x = f64::from(brick) * 1.01 + 0.4 * f64::from(course % 2);
            let pose = Isometry3::translation(x, 0.0, 0.25 + 0.5 * f64::from(course));
            let name = format!("brick {brick} of course {course}");
            bodies.push(world.add_body(cuboid(name, [0.5, 0.25, 0.25], pose, 0.5)));
        }
    }
    assert_rests(world, &bodies, 0.5);
}
