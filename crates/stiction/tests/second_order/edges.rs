//! Lost feature pairs: corners that slide over the end of the face they touch.

use nalgebra::{Isometry2, Vector2};
use stiction::planar::{Attached, Body, Mass, Model, Polygon, Shape, World};
use stiction::{Accuracy, AccurateMethod, Material, Scheme, Simulation};

/// Crate that lands on a ramp, slides off its end, tips over the edge, hits the floor and comes to rest.
fn tipping() -> Simulation<Model> {
    let material = Material { friction: 0.2, restitution: 0.0, ..Material::default() };
    let shape = |half| {
        let polygon = Polygon::rectangle(half).unwrap_or_else(|error| panic!("{error}"));
        Attached::new(Shape::Polygon(polygon)).material(material)
    };
    let slope = -20_f64.to_radians();
    let mut world = World::new(Vector2::new(0.0, -9.81));
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane).material(material)));
    let ramp = Body::fixed("ramp").at(Isometry2::new(Vector2::new(-1.0, 1.0), slope));
    world.add_body(ramp.with(shape([1.0, 0.05])));
    let body = Body::rigid("crate", Mass::Density(300.0)).at(Isometry2::new(Vector2::new(-1.4, 1.37), slope));
    world.add_body(body.with(shape([0.15, 0.1])));
    let model = world.build().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Simulation::new(model).with_scheme(Scheme::pagt06())
}

fn accurate(tolerance: f64) -> f64 {
    run_by(AccurateMethod::Automatic, tolerance)
}

fn run_by(method: AccurateMethod, tolerance: f64) -> f64 {
    let mut simulation = tipping();
    let accuracy = Accuracy { method, ..Accuracy::of(tolerance) };
    let accurate = simulation.run_to_accuracy(3.0, &accuracy, &[], |_, _| ());
    let report = accurate.unwrap_or_else(|error| panic!("{error}")).report;
    assert!(report.penetration < 1e-9, "{:e} m deep", report.penetration);
    assert_eq!(report.forced, 0);
    simulation.state().q[0]
}

/// Feature changes: the front corner loses the ramp to its edge, and the rear corner loses the edge.
#[test]
fn a_crate_tips_over_an_edge_and_falls() {
    let exact = accurate(1e-10);
    assert!((accurate(1e-7) - exact).abs() < 1e-6);
    for h in [0.01, 0.005, 0.0025] {
        let mut simulation = tipping();
        let run = simulation.record(3.0, h, |_, _, report| report.infeasibility);
        let deepest = run.unwrap_or_else(|error| panic!("{error}")).values.into_iter().fold(0.0, f64::max);
        let error = (simulation.state().q[0] - exact).abs();
        println!("h = {h}: {error:.2e} m off, {deepest:.1e} m deep");
        // measured: 3 h² through six impacts; between events position errors are O(h²) too
        assert!(error < 5.0 * h * h);
        assert!(deepest < 0.1 * h * h);
    }
}

/// In the free fall at the start steps of any size are exact: none may go through the ramp.
#[test]
fn no_step_goes_through_a_wall() {
    use AccurateMethod::{DormandPrince, DormandPrinceEight, Trapezoidal};
    let exact = accurate(1e-11);
    for (method, tolerances) in [
        (Trapezoidal, &[1e-3, 1e-4, 1e-5, 1e-6][..]),
        (DormandPrince, &[1e-3, 1e-5, 1e-6, 1e-7, 1e-8]),
        (DormandPrinceEight, &[1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9]),
    ] {
        for &tolerance in tolerances {
            let error = (run_by(method, tolerance) - exact).abs();
            println!("{method:?} to {tolerance:e}: {error:.1e} m off");
            // errors of steps add up: what is promised is ten times the accuracy. A step through the ramp is off by 0.1 m
            assert!(error < 10.0 * tolerance, "{method:?}, {tolerance}: {error:e} m off");
        }
    }
}

/// Rows know the plane of a face, not its end: the rear corner, which slides off the edge at the height of the ramp, must
/// not hit the plane beyond it. First order, at any phase of the steps.
#[test]
fn nothing_is_hit_beyond_the_end_of_a_face() {
    let exact = accurate(1e-8);
    for scheme in [Scheme::first_order(), Scheme::ah04(), Scheme::st00()] {
        for h in [0.01, 0.005, 0.004, 0.002, 0.001, 0.0005, 0.0002] {
            let mut simulation = tipping();
            simulation.scheme = scheme;
            simulation.record(3.0, h, |_, _, _| ()).unwrap_or_else(|error| panic!("{error}"));
            let error = (simulation.state().q[0] - exact).abs();
            println!("{:?}, h = {h}: {error:.2e} m off", scheme.level);
            // twice the error of the implicit scheme, whose rows are taken at the end of the step
            assert!(error < 5.0 * h, "{:?}, h = {h}: {error:e} m off", scheme.level);
        }
    }
}
