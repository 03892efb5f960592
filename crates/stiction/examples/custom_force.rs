//! A force of one's own: quadratic air drag, with its derivatives, against the closed form of a fall.
//!
//! `cargo run --release -p stiction --example custom_force`

use nalgebra::Vector2;
use stiction::planar::{Body, Force, World};
use stiction::{Accuracy, Scheme, Simulation};

const GRAVITY: f64 = 9.81;
/// Drag coefficient k of the force −k |v| v [N s²/m²].
const DRAG: f64 = 0.02;
const MASS: f64 = 0.5;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(Vector2::new(0.0, -GRAVITY));
    let parachutist = world.add_body(Body::point("ball", MASS));
    // time, coordinates, velocities, and the generalized force to add to
    world.add_force(Force::custom(|_t, _q, v, force| {
        let speed = v[0].hypot(v[1]);
        force[0] -= DRAG * speed * v[0];
        force[1] -= DRAG * speed * v[1];
    }));

    let mut simulation = Simulation::new(world.build()?).with_scheme(Scheme::accurate());
    let times: Vec<f64> = (1..=8).map(|i| 0.5 * f64::from(i)).collect();
    let run = simulation.run_to_accuracy(4.0, &Accuracy::of(1e-10), &times, |model, state| {
        model.velocity(state, parachutist).map(|twist| -twist.linear.y)
    })?;

    // v(t) = v∞ tanh(g t / v∞) with the terminal speed v∞ = √(m g / k)
    let terminal = (MASS * GRAVITY / DRAG).sqrt();
    println!("   t   speed [m/s]   error [m/s]");
    for (t, speed) in run.trajectory.times.iter().zip(&run.trajectory.values) {
        let speed = speed.ok_or("no such body")?;
        let exact = terminal * (GRAVITY * t / terminal).tanh();
        println!("{t:4.1}  {speed:12.8}  {:12.1e}", speed - exact);
        assert!((speed - exact).abs() < 1e-8);
    }
    Ok(())
}
