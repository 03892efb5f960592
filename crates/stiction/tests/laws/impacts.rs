//! Impacts with restitution, and steps of varying size.

use crate::common::{G, SCHEMES, in_plane};
use crate::planes;
use stiction::planar::{self, Body, Mass};
use stiction::{Material, Scheme};

/// Speeds before and after the first impact of a ball dropped from gap `height` [m] at step `h` [s]: the true speed
/// of impact, and the largest speed upwards.
fn rebound(restitution: f64, height: f64, h: f64, scheme: Scheme) -> (f64, f64) {
    let material = Material { friction: 0.3, restitution, ..Material::default() };
    let mut world = planes::earth();
    world.add_body(planes::floor(material));
    let ball = Body::rigid("ball", Mass::given(1.0, 0.01)).at(planes::at(0.0, 0.1 + height));
    let ball = world.add_body(ball.with(planes::disk(0.1).material(material)));
    let mut run = in_plane(&world, scheme);
    let impact = (2.0 * G * height).sqrt();
    let mut up: f64 = 0.0;
    while run.state().t < 1.2 * impact / G {
        run.step(h).unwrap();
        up = up.max(run.system().velocity(run.state(), ball).unwrap().linear.y);
    }
    (impact, up)
}

#[test]
fn balls_rebound_with_their_share_of_the_speed_of_impact() {
    for (name, scheme) in SCHEMES {
        for restitution in [0.0, 0.5, 1.0] {
            for h in [0.01, 0.005, 0.002, 0.001] {
                let mut worst: f64 = 0.0;
                for height in [0.3, 0.437, 0.5, 0.61, 1.0] {
                    let (down, up) = rebound(restitution, height, h, scheme());
                    // l steps fall g h² l(l+1)/2 at the speed g h l: never faster than the true fall, and with l + 1
                    // too few and l + 2 too many steps at most 1.5 g h slower. C = 1.5 e g
                    let short = restitution * down - up;
                    worst = worst.max(short / h);
                    assert!(up <= restitution * down + 1e-12, "{name}, e = {restitution}: {up} after {down}");
                    // an impact within a step is followed by the fall of the rest of the step
                    let share = if name == "default" { 1.0 } else { 1.5 * restitution };
                    assert!(short <= share * G * h + 1e-12, "{name}, e = {restitution}: {up} after {down}");
                }
                println!("{name:>8}, e = {restitution}, h = {h}: at most {worst:.2} h short");
            }
        }
    }
}

/// Largest speeds of a ball and of a hinged bar with position errors of `depth` [m] after steps of 1/100 s, in steps of
/// size `h` until the errors are corrected.
fn expelled(depth: f64, h: f64, scheme: Scheme) -> (f64, f64) {
    let mut world = planes::earth();
    world.gravity = nalgebra::Vector2::zeros();
    world.add_body(planes::floor(planes::rough(0.0)));
    let ball = Body::rigid("ball", Mass::given(1.0, 0.01)).at(planes::at(0.0, 0.1));
    let ball = world.add_body(ball.with(planes::disk(0.1)));
    let ground = world.add_body(Body::fixed("ground"));
    let bar = world.add_body(Body::rigid("bar", Mass::given(1.0, 0.1)).at(planes::at(5.0, 0.0)));
    world.add_joint(planar::Joint::revolute("hinge", &world, ground, bar, nalgebra::Point2::new(5.0, 0.0)));
    let mut run = in_plane(&world, scheme);
    let mut state = run.state().clone();
    state.q[1] -= depth;
    state.q[3] += depth;
    state.memory.h = 0.01;
    run.restore(state);
    let (mut contact, mut joint): (f64, f64) = (0.0, 0.0);
    let mut steps = 0;
    loop {
        let report = run.step(h).unwrap();
        contact = contact.max(run.system().velocity(run.state(), ball).unwrap().linear.norm());
        joint = joint.max(run.system().velocity(run.state(), bar).unwrap().linear.norm());
        steps += 1;
        // corrected within the time of one step of 1/100 s
        assert!(f64::from(steps) * h < 0.011, "{} left", report.infeasibility);
        if report.infeasibility < 1e-12 {
            return (contact, joint);
        }
    }
}

#[test]
fn steps_that_shrink_do_not_throw_bodies_out() {
    let depth = 1e-3;
    for (name, scheme) in [("AH04", Scheme::ah04()), ("ST00", Scheme::st00())] {
        // at the previous step size: depth over h
        let usual = depth / 0.01;
        for factor in [1.0, 2.0, 4.0, 10.0, 100.0] {
            let (contact, joint) = expelled(depth, 0.01 / factor, scheme);
            println!("{name}: {factor} times smaller: {contact:.3}, {joint:.3} m/s");
            // the remainder, at most that of two steps, is corrected in one; round-off of 5 m is 1e-15 m per step
            assert!(contact <= 2.0 * usual + 1e-10, "{name}, {factor}: {contact} m/s");
            assert!(joint <= 2.0 * usual + 1e-10, "{name}, {factor}: {joint} m/s");
        }
    }
}
