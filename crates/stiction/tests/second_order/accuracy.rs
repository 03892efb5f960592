//! The accuracy knob.

use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{Attached, Body, Joint, Model, Shape, World};
use stiction::{Accuracy, AccurateMethod, Material, Scheme, Simulation};

/// Two bobs on rods of length 1 in front of a wall x ≥ 0, from (π/3, π/5) at rest, e = 0.1.
fn pendulum(g: f64) -> Model {
    let mut world = World::new(Vector2::new(0.0, -g));
    let material = Material { friction: 0.0, restitution: 0.1 };
    let wall = Isometry2::new(Vector2::zeros(), -std::f64::consts::FRAC_PI_2);
    let frame =
        world.add(Body::fixed("wall").at(wall).with(Attached::new(Shape::HalfPlane).material(material)));
    let (a, b) = (std::f64::consts::PI / 3.0, std::f64::consts::PI / 5.0);
    let first = Point2::new(a.sin(), -a.cos());
    let second = first + Vector2::new(b.sin(), -b.cos());
    let bob = |name: &str, at: Point2<f64>| {
        Body::point(name, 1.0)
            .at(Isometry2::translation(at.x, at.y))
            .with(Attached::new(Shape::Disk { radius: 0.0 }).material(material))
    };
    let one = world.add(bob("one", first));
    let two = world.add(bob("two", second));
    let o = Point2::origin();
    let rod = Joint::distance("first rod", &world, (frame, o), (one, first)).colliding();
    world.join(rod);
    let rod = Joint::distance("second rod", &world, (one, first), (two, second)).colliding();
    world.join(rod);
    world.build().unwrap()
}

fn off_the_rods(q: &[f64]) -> f64 {
    let rod = |x: f64, y: f64| (x.hypot(y) - 1.0).abs();
    rod(q[0], q[1]).max(rod(q[2] - q[0], q[3] - q[1]))
}

#[test]
fn a_double_pendulum_with_a_wall() {
    let times: Vec<f64> = (1..=25).map(|k| 0.1 * f64::from(k)).collect();
    let exact = [0.021_962_117_695, -0.999_758_803_605, 0.023_769_486_774, -1.999_757_170_312];
    for method in [AccurateMethod::Trapezoidal, AccurateMethod::DormandPrince] {
        for tolerance in [1e-3, 1e-5, 1e-7, 1e-9] {
            let model = pendulum(9.8);
            let state = model.state();
            let mut simulation = Simulation::new(model, state, Scheme::pagt06());
            let accuracy = Accuracy { method, ..Accuracy::of(tolerance) };
            let followed = simulation
                .follow(2.5, &accuracy, &times, |_, s| off_the_rods(&s.q))
                .unwrap_or_else(|e| panic!("{e}"));
            let error =
                simulation.state().q.iter().zip(exact).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            let report = &followed.report;
            // the same factor at every tolerance: 0.02 to 0.06
            assert!(error <= 0.1 * tolerance, "{method:?} {tolerance}: {error}");
            assert!(error <= report.error, "{method:?} {tolerance}: {error} of {}", report.error);
            let order = if method == AccurateMethod::Trapezoidal { 3.0 } else { 5.0 };
            assert!((report.order.unwrap() - order).abs() < 0.5, "{:?}", report.order);
            assert!(report.penetration < 1e-15 && report.certificate < 1e-10, "{report:?}");
            assert!(report.rejections <= 10);
            assert_eq!(report.events.len(), 5);
            // dense output: on the rods all the way, as well as a cubic between steps of this size can
            for (t, off) in followed.trajectory.times.iter().zip(&followed.trajectory.values) {
                assert!(*off < 30.0 * tolerance, "{method:?} {tolerance}: {off} off at {t}");
            }
            assert_eq!(followed.trajectory.times.len(), 25);
        }
    }
}
