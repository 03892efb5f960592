//! Allocations: after the first steps detection, assembly and solve allocate nothing, nor do exact Jacobians.

use nalgebra::{Isometry2, Isometry3, Vector2, Vector3};
use stiction::{
    ContactQuery, EventLocation, ForceJacobian, Forces, InitialState, Level, Reduction, Scheme, SearchCache,
    Simulation, StepReport, System, Trapezoidal, planar, spatial,
};
use stiction_geometry::spatial::Polyhedron;

fn steps<S: System>(simulation: &mut Simulation<S>, report: &mut StepReport, n: usize) {
    for _ in 0..n {
        simulation.step_into(0.01, report).unwrap_or_else(|e| panic!("{e}"));
    }
}

fn assert_no_allocation<S: System + InitialState>(model: S, scheme: Scheme, scene: &str) {
    let name = format!("{scene}, {scheme:?}");
    let mut simulation = Simulation::new(model).with_scheme(scheme);
    let mut report = StepReport::default();
    // long enough to include the largest problems of the scene
    steps(&mut simulation, &mut report, 600);
    assert!(!report.contacts.is_empty(), "{name}: nothing touches");
    let counted = allocation_counter::measure(|| steps(&mut simulation, &mut report, 50));
    assert_eq!(counted.count_total, 0, "{name}: {counted:?}");
    // negative control: the counter works
    assert!(allocation_counter::measure(|| drop(simulation.step(0.01))).count_total > 0);
}

const SCHEMES: [fn() -> Scheme; 5] = [Scheme::default, Scheme::ah04, Scheme::st00, Scheme::ap97, unlocated];

/// Second-order scheme without event location.
fn unlocated() -> Scheme {
    let settings = Trapezoidal { locate: EventLocation::Nothing, ..Trapezoidal::default() };
    Scheme::of(Level::Trapezoidal(settings))
}

#[test]
fn planar_boxes_and_a_pendulum() {
    for scheme in SCHEMES {
        let mut world = planar::World::new(Vector2::new(0.0, -9.81));
        world.add_body(planar::Body::fixed("ground").with(planar::Attached::new(planar::Shape::HalfPlane)));
        for (i, x) in [0.0, 2.0, 4.0].into_iter().enumerate() {
            let shape = planar::Shape::Polygon(planar::Polygon::rectangle([0.5, 0.5]).unwrap());
            let body = planar::Body::rigid(format!("box {i}"), planar::Mass::Density(1.0));
            world.add_body(body.at(Isometry2::translation(x, 0.5)).with(planar::Attached::new(shape)));
        }
        let anchor = world.add_body(planar::Body::fixed("anchor").at(Isometry2::translation(-4.0, 4.0)));
        let bob =
            planar::Body::rigid("bob", planar::Mass::given(1.0, 0.1)).at(Isometry2::translation(-3.0, 4.0));
        let bob = world.add_body(bob);
        let joint = planar::Joint::revolute("hinge", &world, anchor, bob, nalgebra::Point2::new(-4.0, 4.0));
        world.add_joint(joint);
        let model = world.build().unwrap();
        assert_no_allocation(model, scheme(), "planar");
    }
}

/// Bodies with many shapes, whose contacts are reduced in every step.
#[test]
fn tiled_slabs() {
    // the velocity level takes a fallback in some steps, reduced or not, and lists it
    for scheme in &SCHEMES[..3] {
        for reduction in [Reduction::Proven, Reduction::Limit(3)] {
            let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -9.81));
            world.add_body(
                spatial::Body::fixed("ground").with(spatial::Attached::new(spatial::Shape::HalfSpace)),
            );
            let mut slab = spatial::Body::rigid("slab", spatial::Mass::Density(100.0));
            for (i, j) in (0..9).map(|k| (k % 3, k / 3)) {
                let tile = spatial::Attached::new(spatial::Shape::Cuboid { half_extents: [0.1; 3] });
                let at = Isometry3::translation(0.2 * f64::from(i), 0.2 * f64::from(j), 0.0);
                slab = slab.with(tile.at(at));
            }
            world.add_body(slab.at(Isometry3::translation(0.0, 0.0, 0.1)));
            let model = world.build().unwrap();
            let scheme = Scheme { reduction, ..scheme() };
            assert_no_allocation(model, scheme, "tiles");
        }
    }
}

#[test]
fn the_tree_of_many_bodies() {
    let mut world = planar::World::new(Vector2::zeros());
    for i in 0..400 {
        let body = planar::Body::rigid(format!("disk {i}"), planar::Mass::Density(1.0));
        let at = Isometry2::translation(f64::from(i % 20), f64::from(i / 20));
        world.add_body(body.at(at).with(planar::Attached::new(planar::Shape::Disk { radius: 0.2 })));
    }
    let model = world.build().unwrap();
    let (mut state, mut rows, mut cache) = (model.state(), Vec::new(), SearchCache::default());
    // every row of disks has its own speed, so that the tree changes
    let v: Vec<f64> = (0..1200).map(|k| if k % 3 == 0 { f64::from(k / 60) } else { 0.0 }).collect();
    let mut frames = |n: usize| {
        for _ in 0..n {
            model.advance(&mut state.q, &v, 0.01);
            model.contacts(0.0, &state.q, &ContactQuery::within(0.0), &mut cache, &mut rows);
        }
    };
    frames(200);
    assert_eq!(allocation_counter::measure(|| frames(200)).count_total, 0);
}

/// Prism with this number of sides, 0.4 m high.
fn prism(sides: u32) -> spatial::Shape {
    let corner = |i: u32| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(i / 2) / f64::from(sides)).sin_cos();
        nalgebra::Point3::new(0.3 * cos, 0.3 * sin, if i.is_multiple_of(2) { -0.2 } else { 0.2 })
    };
    let corners: Vec<_> = (0..2 * sides).map(corner).collect();
    spatial::Shape::Polyhedron(std::sync::Arc::new(Polyhedron::new(&corners).unwrap()))
}

#[test]
fn spatial_boxes_and_spheres() {
    for scheme in SCHEMES {
        let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -9.81));
        world
            .add_body(spatial::Body::fixed("ground").with(spatial::Attached::new(spatial::Shape::HalfSpace)));
        let shape = spatial::Shape::Cuboid { half_extents: [0.5, 0.4, 0.3] };
        let body = spatial::Body::rigid("box", spatial::Mass::Density(1.0));
        let resting = world
            .add_body(body.at(Isometry3::translation(0.0, 0.0, 0.3)).with(spatial::Attached::new(shape)));
        let ball = spatial::Body::rigid("ball", spatial::Mass::Density(1.0))
            .at(Isometry3::translation(0.0, 3.0, 0.2));
        let rolling = spatial::Twist::new(Vector3::new(0.1, 0.0, 0.0), Vector3::zeros());
        let shape = spatial::Shape::Sphere { radius: 0.2 };
        let ball = world.add_body(ball.moving(rolling).with(spatial::Attached::new(shape)));
        world.exclude(resting, ball);
        // a stack in the ratio metric, and a stone with many corners
        for (i, height) in [0.2, 0.6].into_iter().enumerate() {
            let shape = spatial::Shape::Cuboid { half_extents: [0.4, 0.4, 0.2] };
            let body = spatial::Body::rigid(format!("stacked {i}"), spatial::Mass::Density(1.0));
            let body = body.at(Isometry3::translation(4.0, 0.0, height));
            world.add_body(body.with(spatial::Attached::new(shape)));
        }
        let body = spatial::Body::rigid("stone", spatial::Mass::Density(1.0));
        let body = body.at(Isometry3::translation(6.0, 0.0, 0.2));
        world.add_body(body.with(spatial::Attached::new(prism(10))));
        // a top, whose spin changes the implicit mass matrix
        let point = nalgebra::Point3::new(8.0, 0.0, 0.0);
        let anchor = world.add_body(spatial::Body::fixed("anchor"));
        let spin = spatial::Twist::new(Vector3::zeros(), Vector3::new(0.0, 0.0, 20.0));
        let top = spatial::Body::rigid("top", spatial::Mass::given(1.0, [0.01, 0.01, 0.015]));
        let top = world.add_body(top.at(Isometry3::translation(8.0, 0.0, 0.1)).moving(spin));
        world.add_joint(spatial::Joint::spherical("point", &world, anchor, top, point));
        let model = world.build().unwrap();
        assert_no_allocation(model, scheme(), "spatial");
    }
}

/// Top: its spin makes the mass matrix of an implicit step asymmetric.
#[test]
fn a_top_beside_a_ball() {
    for scheme in SCHEMES {
        let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -9.81));
        world
            .add_body(spatial::Body::fixed("ground").with(spatial::Attached::new(spatial::Shape::HalfSpace)));
        let ball = spatial::Body::rigid("ball", spatial::Mass::Density(1.0))
            .at(Isometry3::translation(0.0, 0.0, 0.2))
            .with(spatial::Attached::new(spatial::Shape::Sphere { radius: 0.2 }));
        world.add_body(ball);
        let point = nalgebra::Point3::new(2.0, 0.0, 0.0);
        let anchor = world.add_body(spatial::Body::fixed("anchor"));
        // velocity of its centre from the spin about the joint
        let spin = spatial::Twist::new(Vector3::new(0.1, 0.0, 0.0), Vector3::new(0.0, 1.0, 20.0));
        let top = spatial::Body::rigid("top", spatial::Mass::given(1.0, [0.01, 0.01, 0.015]));
        let top = world.add_body(top.at(Isometry3::translation(2.0, 0.0, 0.1)).moving(spin));
        world.add_joint(spatial::Joint::spherical("point", &world, anchor, top, point));
        let model = world.build().unwrap();
        assert_no_allocation(model, scheme(), "top");
    }
}

/// Asserts that neither Jacobian allocates at the second call.
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
    let a = world.add_body(planar::Body::rigid("a", planar::Mass::given(1.0, 0.1)));
    let b = world.add_body(planar::Body::point("b", 1.0).at(Isometry2::translation(2.0, 0.0)));
    let (point_a, point_b) = (nalgebra::Point2::new(0.1, 0.0), nalgebra::Point2::origin());
    let (stiffness, damping, rest_length) = (5.0, 1.0, 0.5);
    world.add_force(planar::Force::Spring { a, point_a, b, point_b, stiffness, damping, rest_length });
    let model = world.build().unwrap();
    let state = model.state();
    assert_no_allocation_of_jacobians(&model, &state.q, &state.v);

    let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -9.81));
    let a = world.add_body(spatial::Body::rigid("a", spatial::Mass::given(1.0, [0.1, 0.2, 0.25])));
    let b = world.add_body(spatial::Body::point("b", 1.0).at(Isometry3::translation(2.0, 0.0, 0.0)));
    let (point_a, point_b) = (nalgebra::Point3::new(0.1, 0.0, 0.0), nalgebra::Point3::origin());
    world.add_force(spatial::Force::Spring { a, point_a, b, point_b, stiffness, damping, rest_length });
    let model = world.build().unwrap();
    let state = model.state();
    assert_no_allocation_of_jacobians(&model, &state.q, &state.v);
}
