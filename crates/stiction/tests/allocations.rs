//! After the first steps, detection, assembly and solve allocate nothing, nor do exact Jacobians.

use nalgebra::{Isometry2, Isometry3, Vector2, Vector3};
use stiction::{ForceJacobian, Forces, Scheme, Simulation, StepReport, System, planar, spatial};

fn steps<S: System>(simulation: &mut Simulation<S>, report: &mut StepReport, n: usize) {
    for _ in 0..n {
        simulation.step_into(0.01, report).unwrap_or_else(|e| panic!("{e}"));
    }
}

fn assert_no_allocation<S: System>(mut simulation: Simulation<S>, name: &str) {
    let mut report = StepReport::default();
    steps(&mut simulation, &mut report, 100);
    assert!(!report.contacts.is_empty(), "{name}: nothing touches");
    let counted = allocation_counter::measure(|| steps(&mut simulation, &mut report, 50));
    assert_eq!(counted.count_total, 0, "{name}: {counted:?}");
    // the counter counts
    assert!(allocation_counter::measure(|| drop(simulation.step(0.01))).count_total > 0);
}

const SCHEMES: [fn() -> Scheme; 4] = [Scheme::default, Scheme::ah04, Scheme::st00, Scheme::ap97];

#[test]
fn planar_boxes_and_a_pendulum() {
    for scheme in SCHEMES {
        let mut world = planar::World::new(Vector2::new(0.0, -9.81));
        world.add(planar::Body::fixed("ground").with(planar::Attached::new(planar::Shape::HalfPlane)));
        for (i, x) in [0.0, 2.0, 4.0].into_iter().enumerate() {
            let shape = planar::Shape::Polygon(planar::Polygon::rectangle([0.5, 0.5]).unwrap());
            let body = planar::Body::rigid(format!("box {i}"), planar::Mass::Density(1.0));
            world.add(body.at(Isometry2::translation(x, 0.5)).with(planar::Attached::new(shape)));
        }
        let anchor = world.add(planar::Body::fixed("anchor").at(Isometry2::translation(-4.0, 4.0)));
        let bob =
            planar::Body::rigid("bob", planar::Mass::given(1.0, 0.1)).at(Isometry2::translation(-3.0, 4.0));
        let bob = world.add(bob);
        let joint = planar::Joint::revolute("hinge", &world, anchor, bob, nalgebra::Point2::new(-4.0, 4.0));
        world.join(joint);
        let model = world.build().unwrap();
        let state = model.state();
        assert_no_allocation(Simulation::new(model, state, scheme()), &format!("planar, {:?}", scheme()));
    }
}

#[test]
fn spatial_boxes_and_spheres() {
    for scheme in SCHEMES {
        let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -9.81));
        world.add(spatial::Body::fixed("ground").with(spatial::Attached::new(spatial::Shape::HalfSpace)));
        let shape = spatial::Shape::Cuboid { half_extents: [0.5, 0.4, 0.3] };
        let body = spatial::Body::rigid("box", spatial::Mass::Density(1.0));
        let resting =
            world.add(body.at(Isometry3::translation(0.0, 0.0, 0.3)).with(spatial::Attached::new(shape)));
        let ball = spatial::Body::rigid("ball", spatial::Mass::Density(1.0))
            .at(Isometry3::translation(0.0, 3.0, 0.2));
        let rolling = spatial::Twist::new(Vector3::new(0.1, 0.0, 0.0), Vector3::zeros());
        let shape = spatial::Shape::Sphere { radius: 0.2 };
        let ball = world.add(ball.moving(rolling).with(spatial::Attached::new(shape)));
        // boxes and spheres have no gap between them yet
        world.exclude(resting, ball);
        let model = world.build().unwrap();
        let state = model.state();
        assert_no_allocation(Simulation::new(model, state, scheme()), &format!("spatial, {:?}", scheme()));
    }
}

/// The second time, either Jacobian allocates nothing.
fn assert_no_allocation_of_jacobians<S: System>(system: &S, q: &[f64], v: &[f64]) {
    let (mut forces, mut jacobian) = (Forces::default(), ForceJacobian::default());
    let mut both = || {
        system.jacobian(0.0, q, v, &mut jacobian);
        system.forces(0.0, q, v, &mut forces);
        system.definite_jacobian(&forces, v, &mut jacobian);
        jacobian.position.pairs.len()
    };
    assert_eq!(both(), 1);
    let counted = allocation_counter::measure(|| assert_eq!(both(), 1));
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

#[test]
fn exact_jacobians() {
    let mut world = planar::World::new(Vector2::new(0.0, -9.81));
    let a = world.add(planar::Body::rigid("a", planar::Mass::given(1.0, 0.1)));
    let b = world.add(planar::Body::point("b", 1.0).at(Isometry2::translation(2.0, 0.0)));
    let (point_a, point_b) = (nalgebra::Point2::new(0.1, 0.0), nalgebra::Point2::origin());
    let (stiffness, damping, rest_length) = (5.0, 1.0, 0.5);
    world.push(planar::Force::Spring { a, point_a, b, point_b, stiffness, damping, rest_length });
    let model = world.build().unwrap();
    let state = model.state();
    assert_no_allocation_of_jacobians(&model, &state.q, &state.v);

    let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -9.81));
    let a = world.add(spatial::Body::rigid("a", spatial::Mass::given(1.0, [0.1, 0.2, 0.25])));
    let b = world.add(spatial::Body::point("b", 1.0).at(Isometry3::translation(2.0, 0.0, 0.0)));
    let (point_a, point_b) = (nalgebra::Point3::new(0.1, 0.0, 0.0), nalgebra::Point3::origin());
    world.push(spatial::Force::Spring { a, point_a, b, point_b, stiffness, damping, rest_length });
    let model = world.build().unwrap();
    let state = model.state();
    assert_no_allocation_of_jacobians(&model, &state.q, &state.v);
}
