//! Two carts with a spring, a damper and a stop: stiff forces after impacts. PAGT06 section 10.3

use crate::common::{RunOutcome, down, floor, rough, run, tip};
use nalgebra::{Isometry2, Point2, Vector2};
use std::f64::consts::PI;
use stiction::planar::{Attached, Body, Force, Model, Shape, Twist, World};
use stiction::{Material, Trapezoidal};

fn carts(place: f64, speed: f64, stiffness: f64, damping: f64) -> Model {
    let mut world = World::new(down());
    floor(&mut world, rough(0.05));
    let bouncy = Material { friction: 0.0, restitution: 0.3, ..Material::default() };
    let stop = Attached::new(Shape::HalfPlane).at(Isometry2::rotation(-PI / 2.0)).material(bouncy);
    world.add_body(Body::fixed("stop").with(stop));
    let [one, two] = [("one", place), ("two", place + 5.0)].map(|(name, x)| {
        let moving = Twist::new(Vector2::new(speed, 0.0), 0.0);
        let cart = Body::point(name, 1.0).at(Isometry2::translation(x, 0.0)).moving(moving);
        world.add_body(cart.with(tip(0.0, 0.0, rough(0.05))))
    });
    let point = Point2::origin();
    world.add_force(Force::Rail {
        body: one,
        point,
        axis: Vector2::x(),
        origin: 0.2,
        stiffness,
        damping: 0.0,
    });
    world.add_force(Force::Spring {
        a: one,
        point_a: point,
        b: two,
        point_b: point,
        stiffness: 0.0,
        damping,
        rest_length: 5.0,
    });
    world.build().unwrap()
}

fn outcome(model: Model, h: f64, until: f64) -> RunOutcome {
    let state = model.state();
    run(model, state, Trapezoidal::default(), h, until)
}

/// Undamped, the velocities of both carts would ring after the impact, because of the stiff damper.
#[test]
fn a_stiff_damper_does_not_ring() {
    let outcome = outcome(carts(0.1, -2.0, 100.0, 1e6), 0.01, 4.0);
    let late = outcome.states.iter().filter(|s| s.t > 0.5).map(|s| (s.v[2] - s.v[0]).abs());
    let rings = late.fold(0.0, f64::max);
    let energy = outcome.energies[outcome.energies.len() - 1].0;
    println!("{rings:e} {} {energy} {:?}", outcome.q[0], outcome.sequence());
    assert!(outcome.damped > 0);
    assert!(rings < 1e-4, "{rings}");
    assert!((outcome.q[0] - 0.22).abs() < 1e-3, "{}", outcome.q[0]);
    assert!(energy < 0.04, "{energy}");
}

/// The cart comes to rest in the corner of floor and stop, after ever smaller bounces. There the friction of the floor and
/// the normal of the stop are redundant.
#[test]
fn located_carts_gain_no_energy() {
    for (place, speed, stiffness, damping, until) in [
        (0.1, -2.0, 1e2, 1e2, 4.0),
        (0.1, -2.0, 1e2, 1e3, 4.0),
        (0.1, -2.0, 1e2, 1e6, 4.0),
        (0.2, -3.0, 1e2, 10.0, 2.0),
        (0.2, -3.0, 1e4, 10.0, 2.0),
        (0.2, -3.0, 1e6, 10.0, 2.0),
    ] {
        let outcome = outcome(carts(place, speed, stiffness, damping), 0.01, until);
        println!("{stiffness:e} {damping:e}: {:?}, {} events", outcome.gains(), outcome.events.len());
        assert!(outcome.gains().iter().all(|gain| *gain < 1e-12), "{:?}", outcome.gains());
        assert_eq!((outcome.forced, outcome.cut), (0, 0), "{stiffness:e} {damping:e}");
    }
}
