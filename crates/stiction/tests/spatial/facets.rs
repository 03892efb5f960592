//! The polygon that stands for the friction circle.

use crate::common::{floor, pose_of, simulation, slippery, step, twist_of};
use nalgebra::{Isometry3, Vector3};
use stiction::Scheme;
use stiction::spatial::{Attached, Body, BodyId, Facets, Mass, Model, Shape, Twist, World};

const G: f64 = 9.81;

/// A flat box on the floor of a world with this gravity.
fn block(
    gravity: Vector3<f64>,
    friction: f64,
    facets: Option<Facets>,
    velocity: Vector3<f64>,
) -> (stiction::Simulation<Model>, BodyId) {
    let mut world = World::new(gravity);
    world.facets = facets;
    floor(&mut world, friction);
    let shape = Attached::new(Shape::Cuboid { half_extents: [0.2, 0.2, 0.05] }).material(slippery(friction));
    let body = Body::rigid("box", Mass::Density(500.0)).with(shape);
    let body = body.at(Isometry3::translation(0.0, 0.0, 0.05)).moving(Twist::new(velocity, Vector3::zeros()));
    let body = world.add(body);
    (simulation(world, Scheme::ah04()), body)
}

#[test]
fn a_sliding_box_stops_where_the_recurrence_says_at_every_heading() {
    let (mu, v0, h) = (0.3, 2.0, 0.002);
    let (mut v, mut x): (f64, f64) = (v0, 0.0);
    let mut steps = 0;
    while v > 0.0 {
        v = (v - mu * G * h).max(0.0);
        x += h * v;
        steps += 1;
    }
    assert!((x / (v0 * v0 / (2.0 * mu * G)) - 1.0).abs() < 0.005);
    for degrees in (0..360).step_by(5) {
        let heading = f64::from(degrees).to_radians();
        let along = Vector3::new(heading.cos(), heading.sin(), 0.0);
        let (mut run, body) = block(-G * Vector3::z(), mu, Some(Facets::default()), v0 * along);
        for _ in 0..steps + 5 {
            step(&mut run, h);
        }
        let pose = pose_of(&run, body);
        let error = (pose.translation.vector - Vector3::new(0.0, 0.0, 0.05) - x * along).norm();
        assert!(error < 1e-10, "{error} m off at {degrees}°");
        assert!(pose.rotation.angle() < 1e-9, "turned by {} at {degrees}°", pose.rotation.angle());
    }
}

/// Speed after 0.2 s on an incline of this slope that falls towards `heading`.
fn slide(slope: f64, heading: f64, friction: f64, facets: Option<Facets>) -> f64 {
    let angle = slope.atan();
    let down = Vector3::new(heading.cos(), heading.sin(), 0.0);
    let gravity = G * (angle.sin() * down - angle.cos() * Vector3::z());
    let (mut run, body) = block(gravity, friction, facets, Vector3::zeros());
    for _ in 0..20 {
        step(&mut run, 0.01);
    }
    twist_of(&run, body).linear.norm()
}

#[test]
fn a_box_on_an_incline_sticks_and_slides_at_every_heading() {
    let slope = 0.4;
    // cos(π/32) = 0.995 is nearer to 1 than 0.98
    for facets in [None, Some(Facets::default()), Some(Facets { directions: 32, aligned: false })] {
        for degrees in (0..360).step_by(15) {
            let heading = f64::from(degrees).to_radians();
            let held = slide(slope, heading, 1.02 * slope, facets);
            assert!(held < 1e-9, "{held} m/s at {degrees}°, {facets:?}");
            let angle = slope.atan();
            let free = slide(slope, heading, 0.98 * slope, facets);
            let exact = 0.2 * G * (angle.sin() - 0.98 * slope * angle.cos());
            // the polygon of 32 has up to 0.5 % less friction, a quarter of the 2 % that drive the slide
            let tolerance = if facets.is_none_or(|f| f.aligned) { 1e-11 } else { 0.3 * exact };
            assert!((free - exact).abs() < tolerance, "{free} instead of {exact} at {degrees}°, {facets:?}");
        }
    }
}

#[test]
fn eight_directions_that_are_not_aligned_hold_less_between_them() {
    let facets = Some(Facets { directions: 8, aligned: false });
    let eighth = std::f64::consts::PI / 8.0;
    let slope = 0.4;
    for k in 0..8 {
        let heading = 2.0 * eighth * f64::from(k);
        // along a direction the threshold is μ, between two it is μ cos(π/8)
        assert!(slide(slope, heading, 1.02 * slope, facets) < 1e-9);
        assert!(slide(slope, heading + eighth, 1.02 * slope, facets) > 1e-3);
        assert!(slide(slope, heading + eighth, 1.02 * slope / eighth.cos(), facets) < 1e-9);
        assert!(slide(slope, heading + eighth, 0.98 * slope / eighth.cos(), facets) > 1e-3);
    }
}

#[test]
fn friction_differs_along_and_across_a_grain() {
    let slope = 0.4;
    let slides = |heading: f64, friction: f64| {
        let mut world = World::new({
            let angle = f64::atan(slope);
            let down = Vector3::new(heading.cos(), heading.sin(), 0.0);
            G * (angle.sin() * down - angle.cos() * Vector3::z())
        });
        world.facets = Some(Facets { directions: 32, aligned: true });
        // along the grain at 30° half of the friction across it
        let grain = Vector3::new(30_f64.to_radians().cos(), 30_f64.to_radians().sin(), 0.3);
        let plane = Attached::new(Shape::HalfSpace).material(slippery(friction)).grain(grain, 0.5);
        world.add(Body::fixed("plank").with(plane));
        let shape =
            Attached::new(Shape::Cuboid { half_extents: [0.2, 0.2, 0.05] }).material(slippery(friction));
        let body = Body::rigid("box", Mass::Density(500.0)).with(shape);
        let body = world.add(body.at(Isometry3::translation(0.0, 0.0, 0.05)));
        let mut run = simulation(world, Scheme::ah04());
        (0..20).for_each(|_| drop(step(&mut run, 0.01)));
        twist_of(&run, body).linear.norm() > 1e-6
    };
    let along = 30_f64.to_radians();
    let across = along + std::f64::consts::FRAC_PI_2;
    assert!(!slides(across, 1.02 * slope) && slides(across, 0.98 * slope));
    assert!(!slides(along, 2.04 * slope) && slides(along, 1.96 * slope));
}
