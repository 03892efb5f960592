//! Certificates of located steps: a step whose certificate does not pass is refused.

use crate::common::{G, run, second_order, spatial};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use stiction::spatial::{Attached, Body, BodyId, Joint, Mass, Model, Path, Shape, Twist, World};
use stiction::{Material, Scheme, Simulation, StepError};
use stiction_lcp::Solver;

/// Pose and velocity of a table that turns ever faster and rocks.
fn table(t: f64) -> (Isometry3<f64>, Twist) {
    let rocked = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 0.3 * (2.0 * t).sin());
    let turned = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 0.4 * t * t);
    let spin = 0.6 * (2.0 * t).cos() * Vector3::x() + rocked * (0.8 * t * Vector3::z());
    (Isometry3::from_parts(Vector3::zeros().into(), rocked * turned), Twist::new(Vector3::zeros(), spin))
}

fn box_on_a_table() -> (Simulation<Model>, BodyId) {
    let mut world = World::new(-G * Vector3::z());
    let material = Material { friction: 0.8, restitution: 0.0, ..Material::default() };
    world.add_body(
        Body::kinematic("table", Path::new(table)).with(Attached::new(Shape::HalfSpace).material(material)),
    );
    let shape = Attached::new(Shape::Cuboid { half_extents: [0.2, 0.15, 0.1] }).material(material);
    let at = Vector3::new(0.5, 0.1, 0.1);
    let spin = table(0.0).1.angular;
    let body =
        Body::rigid("box", Mass::Density(100.0)).with(shape).at(Isometry3::translation(at.x, at.y, at.z));
    let id = world.add_body(body.moving(Twist::new(spin.cross(&at), spin)));
    (spatial(world), id)
}

/// Four sticking corners are twelve rows on six velocities. Their rows agree to round-off though gaps have errors of O(h²),
/// and the box follows the table to second order.
#[test]
fn redundant_corners_that_stick_agree() {
    let until = 1.0;
    second_order("box on a rocking table", 5..=9, |h| {
        let (mut simulation, id) = box_on_a_table();
        let start = simulation.system().pose(simulation.state(), id).expect("the box");
        let summary = run(&mut simulation, h, until);
        assert!(summary.events.is_empty() && !summary.cut, "{:?}", summary.events);
        println!("  {h}: residual {:.1e}", summary.certificate);
        assert!(summary.certificate < 1e-12);
        let exact = table(until).0 * start;
        let end = simulation.system().pose(simulation.state(), id).expect("the box");
        (end.translation.vector - exact.translation.vector).norm()
    });
}

/// Five links of 1 kg that carry 1,000 t: their joint equations are ill-conditioned, and a step with a residual of 4e-5 was
/// once accepted.
#[test]
fn a_substep_with_a_large_residual_is_refused() {
    let mut world = World::new(-G * Vector3::z());
    let mut before = world.add_body(Body::fixed("ground"));
    for i in 0..5 {
        let mass = if i == 4 { 1e6 } else { 1.0 };
        let along = 0.1 * f64::from(i);
        let body = Body::rigid(format!("link {i}"), Mass::given(mass, [1e-3 * mass; 3]));
        let body = world.add_body(body.at(Isometry3::translation(along + 0.05, 0.0, 0.0)));
        let at = Point3::new(along, 0.0, 0.0);
        let joint = Joint::revolute(format!("joint {i}"), &world, before, body, at, Vector3::y());
        world.add_joint(joint);
        before = body;
    }
    let mut simulation = spatial(world);
    let mut refused: f64 = 0.0;
    for _ in 0..100 {
        let report = simulation.step(0.01).unwrap_or_else(|error| panic!("{error}"));
        assert!(report.certificate.passes(1e-10), "{}", report.certificate.worst());
        let how = report.second_order.expect("a step of second order");
        assert!(how.refused == 0.0 || how.cut && how.refused > 1e-10);
        refused = refused.max(how.refused);
    }
    println!("refused: {refused:.1e}");
}

/// Control: no step passes a tolerance below round-off, and the state stays unchanged.
#[test]
fn nothing_passes_an_impossible_tolerance() {
    let (simulation, _) = box_on_a_table();
    let state = simulation.state().clone();
    let solver = Solver { tolerance: 1e-25, ..Solver::default() };
    let scheme = Scheme { solver, ..Scheme::pagt06() };
    let mut simulation =
        Simulation::from_state(simulation.system().clone(), state.clone()).with_scheme(scheme);
    let error = simulation.step(0.01).unwrap_err();
    assert!(matches!(error, StepError::Unsolved { .. }), "{error}");
    assert_eq!(simulation.state(), &state);
}
