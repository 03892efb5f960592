//! Rest to round-off.

use crate::common::{at, brick, earth, floor, simulation, surface};
use stiction::planar::World;

pub(crate) fn stack(masses: &[f64]) -> World {
    let mut world = earth();
    floor(&mut world, surface(0.5, 0.0));
    for (k, mass) in masses.iter().enumerate() {
        let body = brick(&format!("box {k}"), *mass, [0.2, 0.1], surface(0.5, 0.0));
        world.add_body(body.at(at(0.0, 0.1 + 0.2 * k as f64)));
    }
    world
}

fn fastest(world: &World, until: f64) -> f64 {
    let mut simulation = simulation(world);
    let speeds = simulation.record(until, 0.01, |_, s, _| s.v.iter().fold(0.0, |m: f64, v| m.max(v.abs())));
    speeds.unwrap().values.into_iter().fold(0.0, f64::max)
}

#[test]
fn a_stack_rests() {
    let speed = fastest(&stack(&[1.0; 10]), 10.0);
    println!("stack: {speed:e}");
    assert!(speed <= 1e-12, "{speed:e} m/s");
}

#[test]
fn a_heavy_box_rests_on_a_light_one() {
    let speed = fastest(&stack(&[1.0, 1000.0]), 10.0);
    println!("1000:1 {speed:e}");
    assert!(speed <= 1e-7, "{speed:e} m/s");
}
