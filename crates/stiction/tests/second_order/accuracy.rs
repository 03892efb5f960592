//! Runs to an accuracy: error, order, samples and limits.

use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{Attached, Body, Force, Joint, Mass, Model, Shape, World};
use stiction::{
    Accuracy, AccurateMethod, Level, Material, Midpoint, Reduction, Scheme, Simulation, StepError,
    Trapezoidal,
};

/// Double pendulum with rods of length 1 m at a wall x ≥ 0, from angles (π/3, π/5) at rest, e = 0.1.
fn pendulum(g: f64) -> Model {
    let mut world = World::new(Vector2::new(0.0, -g));
    let material = Material { friction: 0.0, restitution: 0.1, ..Material::default() };
    let wall = Isometry2::new(Vector2::zeros(), -std::f64::consts::FRAC_PI_2);
    let frame =
        world.add_body(Body::fixed("wall").at(wall).with(Attached::new(Shape::HalfPlane).material(material)));
    let (a, b) = (std::f64::consts::PI / 3.0, std::f64::consts::PI / 5.0);
    let first = Point2::new(a.sin(), -a.cos());
    let second = first + Vector2::new(b.sin(), -b.cos());
    let bob = |name: &str, at: Point2<f64>| {
        Body::point(name, 1.0)
            .at(Isometry2::translation(at.x, at.y))
            .with(Attached::new(Shape::Disk { radius: 0.0 }).material(material))
    };
    let one = world.add_body(bob("one", first));
    let two = world.add_body(bob("two", second));
    let o = Point2::origin();
    let rod = Joint::distance("first rod", &world, (frame, o), (one, first)).colliding();
    world.add_joint(rod);
    let rod = Joint::distance("second rod", &world, (one, first), (two, second)).colliding();
    world.add_joint(rod);
    world.build().unwrap()
}

/// `Accuracy` decides the steps of a run to an accuracy; a scheme that would be ignored is an error.
#[test]
fn a_scheme_that_would_be_ignored_is_refused() {
    let run = |scheme: Scheme| {
        let mut simulation = Simulation::new(pendulum(9.8)).with_scheme(scheme);
        let state = simulation.state().clone();
        let ended = simulation.run_to_accuracy(0.1, &Accuracy::of(1e-6), &[], |_, _| ()).map(|_| ());
        assert_eq!(ended.is_err(), *simulation.state() == state);
        ended
    };
    let accurate = Scheme::accurate();
    for used in [
        Scheme::default(),
        accurate,
        Scheme { restitution_speed: Some(0.1), ..accurate },
        Scheme { solver: Scheme::default().solver, ..accurate },
    ] {
        assert_eq!(run(used), Ok(()), "{used:?}");
    }
    let ahead = Trapezoidal { middle: Midpoint::Ahead, ..Trapezoidal::default() };
    for (scheme, settings) in [
        (Scheme::ah04(), vec!["level"]),
        (Scheme::st00().post_stabilized(2), vec!["level", "passes"]),
        (accurate.post_stabilized(1), vec!["passes"]),
        (Scheme { reduction: Reduction::Off, ..accurate }, vec!["reduction"]),
        (Scheme { level: Level::Trapezoidal(ahead), ..accurate }, vec!["level"]),
    ] {
        assert_eq!(run(scheme), Err(StepError::IgnoredScheme { settings }));
    }
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
            let mut simulation = Simulation::new(model).with_scheme(Scheme::pagt06());
            let accuracy = Accuracy { method, ..Accuracy::of(tolerance) };
            let accurate = simulation
                .run_to_accuracy(2.5, &accuracy, &times, |_, s| off_the_rods(&s.q))
                .unwrap_or_else(|e| panic!("{e}"));
            let error =
                simulation.state().q.iter().zip(exact).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            let report = &accurate.report;
            // measured: 0.02 to 0.06 at every tolerance
            assert!(error <= 0.1 * tolerance, "{method:?} {tolerance}: {error}");
            assert!(error <= report.error, "{method:?} {tolerance}: {error} of {}", report.error);
            let order = if method == AccurateMethod::Trapezoidal { 3.0 } else { 5.0 };
            assert!((report.order.unwrap() - order).abs() < 0.5, "{:?}", report.order);
            assert!(report.penetration < 1e-15 && report.certificate < 1e-10, "{report:?}");
            assert!(report.rejections <= 10);
            assert_eq!(report.events.len(), 5);
            // samples stay on the rods
            for (t, off) in accurate.trajectory.times.iter().zip(&accurate.trajectory.values) {
                assert!(*off < 30.0 * tolerance, "{method:?} {tolerance}: {off} off at {t}");
            }
            assert_eq!(accurate.trajectory.times.len(), 25);
        }
    }
}

/// Error at the end of ten scenes with stick, slip, rolling, impacts and take-offs: at most ten times the tolerance, from
/// 1e-3 to 1e-8.
#[test]
fn the_error_follows_the_tolerance() {
    use crate::curved::{DROPPED, OFF_THE_BUMP, ROCKED, bump, ellipse, tilted};
    let whole = |q: [f64; 3]| vec![(0, q[0]), (1, q[1]), (2, q[2])];
    let stack = || crate::stack::stack([0.15, 0.25]);
    let block = || crate::block::block(0.8, |t| 8.0 * t.cos()).0;
    let reversing = || crate::block::block(0.3, |t| 20.0 * t.cos()).0;
    // 8 (1 − cos t) − 3.924 t² until t₁, where it sticks
    let stuck = 3.004_348_569_726_865;
    let walled = [0.021_962_117_695, -0.999_758_803_605, 0.023_769_486_774, -1.999_757_170_312];
    let wall: Vec<(usize, f64)> = walled.into_iter().enumerate().collect();
    let scenes: [Scene; 10] = [
        ("stack", &stack, 6.0, vec![(0, -1.894_943_267_724), (2, -1.949_085_076_032)]),
        ("block", &block, 2.0, vec![(0, stuck)]),
        ("reversing block", &reversing, 10.0, vec![(0, 7.639_809_929_250)]),
        ("rod", &crate::rod::rod, 4.0, vec![(0, 0.763_528_669_329)]),
        ("bump", &bump, 1.0, whole(OFF_THE_BUMP)),
        ("rocking ellipse", &tilted, 5.0, whole(ROCKED)),
        ("dropped ellipse", &|| ellipse(8.0, 0.0, 3.0), 5.0, whole(DROPPED)),
        ("crank", &crate::linkages::crank, 1.0, vec![(2, 0.885_938_938_752_8)]),
        ("pendulum with a wall", &|| pendulum(9.8), 2.5, wall),
        ("ball", &|| bouncing(), 1.25, vec![(1, bounced(1.25))]),
    ];
    let mut wrong = Vec::new();
    for (name, model, until, end) in scenes {
        for tolerance in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8] {
            let model = model();
            let mut simulation = Simulation::new(model).with_scheme(Scheme::pagt06());
            let accurate = simulation.run_to_accuracy(until, &Accuracy::of(tolerance), &[], |_, _| ());
            let report = accurate.unwrap_or_else(|e| panic!("{name} {tolerance:e}: {e}")).report;
            assert_eq!(report.forced, 0, "{name} {tolerance:e}");
            let q = &simulation.state().q;
            let error = end.iter().fold(0.0, |m: f64, &(i, x)| m.max((q[i] - x).abs()));
            // the references have eleven or twelve digits
            if !(error <= 10.0 * tolerance + 1e-11) {
                wrong.push(format!("{name} {tolerance:e}: {error:e}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Name, model, end time, and expected coordinates there.
type Scene<'a> = (&'a str, &'a dyn Fn() -> Model, f64, Vec<(usize, f64)>);

/// Ball of radius 0.1 m that falls by 1 m and keeps half its speed at each impact.
fn bouncing() -> Model {
    let mut world = World::new(Vector2::new(0.0, -9.81));
    let material = Material { friction: 0.0, restitution: 0.5, ..Material::default() };
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane).material(material)));
    let ball = Body::rigid("ball", Mass::Density(1000.0)).at(Isometry2::translation(0.0, 1.1));
    world.add_body(ball.with(Attached::new(Shape::Disk { radius: 0.1 }).material(material)));
    world.build().unwrap()
}

/// Exact height of the ball at a time.
fn bounced(t: f64) -> f64 {
    let g: f64 = 9.81;
    let (mut start, mut speed) = ((2.0 / g).sqrt(), (2.0 * g).sqrt() * 0.5);
    while start + 2.0 * speed / g <= t {
        start += 2.0 * speed / g;
        speed *= 0.5;
    }
    0.1 + speed * (t - start) - 0.5 * g * (t - start).powi(2)
}

#[test]
fn invalid_tolerances_are_refused() {
    for tolerance in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        let model = bouncing();
        let state = model.state();
        let mut simulation = Simulation::from_state(model, state.clone()).with_scheme(Scheme::pagt06());
        let refused = simulation.run_to_accuracy(1.0, &Accuracy::of(tolerance), &[], |_, _| ()).unwrap_err();
        assert!(refused.to_string().contains("must be positive and finite"), "{refused}");
        assert_eq!(*simulation.state(), state);
    }
}

#[test]
fn tolerances_below_round_off_are_refused() {
    // both bobs move across the first rod at one velocity
    let model = pendulum(9.8);
    let (cos, sin) = (std::f64::consts::FRAC_PI_3.cos(), std::f64::consts::FRAC_PI_3.sin());
    let mut state = model.state();
    state.v.clone_from(&[cos, sin, cos, sin].map(|v| 1e12 * v).to_vec());
    let mut simulation = Simulation::from_state(model, state.clone()).with_scheme(Scheme::pagt06());
    let accuracy = Accuracy { first_step: 1e-12, ..Accuracy::of(1e-7) };
    let refused = simulation.run_to_accuracy(1e-3, &accuracy, &[], |_, _| ()).unwrap_err();
    assert!(matches!(refused, StepError::Rounding { .. }), "{refused}");
    assert_eq!(*simulation.state(), state);
}

#[test]
fn the_step_limit_ends_a_run() {
    let model = pendulum(9.8);
    let state = model.state();
    let mut simulation = Simulation::from_state(model, state.clone()).with_scheme(Scheme::pagt06());
    let accuracy = Accuracy { step_limit: 7, ..Accuracy::of(1e-9) };
    let ended = simulation.run_to_accuracy(1.0, &accuracy, &[], |_, _| ()).unwrap_err();
    assert!(ended.to_string().contains("more than 7 steps"), "{ended}");
    assert_eq!(*simulation.state(), state);
}

/// Ten thin rods of 0.2 m in a row, hinged to each other and to a wall, released level.
fn ten_rods() -> Model {
    let mut world = World::new(Vector2::new(0.0, -9.81));
    let mut last = (world.add_body(Body::fixed("wall")), Point2::origin());
    for k in 0..10 {
        let rod = Body::rigid(format!("rod {k}"), Mass::given(1.0, 0.2 * 0.2 / 12.0));
        let next = world.add_body(rod.at(Isometry2::translation(0.2 * f64::from(k) + 0.1, 0.0)));
        let pin = Point2::new(0.2 * f64::from(k), 0.0);
        world.add_joint(Joint::revolute(format!("hinge {k}"), &world, last.0, next, pin));
        last = (next, Point2::new(0.1, 0.0));
    }
    world.build().unwrap()
}

/// Mass on a spring of 10⁶ N/m that falls and hangs: explicit steps are bounded by its period of 6 ms.
fn stiff_spring() -> Model {
    let mut world = World::new(Vector2::new(0.0, -9.81));
    let ceiling = world.add_body(Body::fixed("ceiling"));
    let mass = world.add_body(Body::point("mass", 1.0).at(Isometry2::translation(0.3, -1.0)));
    let (point_a, point_b) = (Point2::origin(), Point2::origin());
    let (stiffness, damping, rest_length) = (1e6, 2e3, 1.0);
    world.add_force(Force::Spring { a: ceiling, point_a, b: mass, point_b, stiffness, damping, rest_length });
    world.build().unwrap()
}

/// A loose accuracy takes no more steps than one ten times as tight, within a tenth: the method is chosen by what limits
/// the steps, not by the tolerance alone.
#[test]
fn loose_accuracies_are_not_dearer() {
    let scenes: [(&str, &dyn Fn() -> Model, f64); 5] = [
        ("ten rods", &ten_rods, 0.5),
        ("stiff spring", &stiff_spring, 1.0),
        ("pendulum with a wall", &|| pendulum(9.8), 2.5),
        ("crank", &crate::linkages::crank, 1.0),
        ("rod", &crate::rod::rod, 4.0),
    ];
    let mut dear = Vec::new();
    for (name, model, until) in scenes {
        let tolerances = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];
        let steps: Vec<usize> = tolerances
            .iter()
            .map(|&tolerance| {
                let mut simulation = Simulation::new(model());
                let made = simulation.run_to_accuracy(until, &Accuracy::of(tolerance), &[], |_, _| ());
                made.unwrap_or_else(|e| panic!("{name} {tolerance:e}: {e}")).report.steps
            })
            .collect();
        // steps that events and the first size leave short do not depend on the accuracy
        let is_dear = |pair: &[usize]| pair[0] as f64 > 1.1 * pair[1] as f64 + 2.0;
        if steps.windows(2).any(is_dear) {
            dear.push(format!("{name}: {steps:?} steps at {tolerances:?}"));
        }
    }
    assert!(dear.is_empty(), "{dear:#?}");
}
