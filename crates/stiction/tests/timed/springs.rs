//! Springs and dampers: energy, order, and decay where they are stiff for the step.

use crate::common::{at, check, check_order, end, simulation};
use nalgebra::{Point2, Vector2};
use stiction::planar::{Body, Force, World};

/// Two points of 1 kg at rest, with a spring of 1 m between them stretched by 0.1 m: x₂ − x₁ swings with ω [rad/s].
pub(crate) fn pair(omega: f64) -> World {
    let mut world = World::new(Vector2::zeros());
    let a = world.add_body(Body::point("a", 1.0).at(at(-0.55, 0.0)));
    let b = world.add_body(Body::point("b", 1.0).at(at(0.55, 0.0)));
    let origin = Point2::origin();
    world.add_force(Force::Spring {
        a,
        point_a: origin,
        b,
        point_b: origin,
        stiffness: 0.5 * omega * omega,
        damping: 0.0,
        rest_length: 1.0,
    });
    world
}

#[test]
fn a_spring_keeps_its_energy() {
    let world = pair(10.0);
    let apart = |q: &[f64]| q[2] - q[0] - 1.0;
    let error = |h: f64| (apart(&end(&world, h, 6.0).q) - 0.1 * 60f64.cos()).abs();
    let errors = check("spring", [4.1e-3, 1.4e-3, 3.7e-4, 9.5e-5], error, 1.3);
    check_order("spring", errors);
    let mut simulation = simulation(&world);
    let start = crate::common::energy(&simulation);
    let changes = simulation.record(6.0, 0.02, |_, _, r| ((r.kinetic + r.potential) / start - 1.0).abs());
    let worst = changes.unwrap().values.into_iter().fold(0.0, f64::max);
    assert!(worst <= 1e-12, "energy changes by {worst:e} of itself");
}

#[test]
fn a_spring_that_is_stiff_for_the_step_comes_to_rest() {
    // ω h = 100; the implicit Euler method leaves ω · 0.1 m · 100⁻⁵ = 1e-10 m/s
    let world = pair(10.0);
    let mut simulation = simulation(&world);
    let speeds = simulation.record(50.0, 10.0, |_, s, _| (s.v[2] - s.v[0]).abs()).unwrap().values;
    println!("stiff spring: {}", crate::common::listed(&speeds));
    assert_eq!(speeds.len(), 5);
    assert!(speeds[4] <= 1e-9, "{}", crate::common::listed(&speeds));
}
