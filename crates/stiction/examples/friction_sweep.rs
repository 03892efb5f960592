//! A friction sweep on threads: how far a box slides for each coefficient, against v² / (2 μ g).
//!
//! `cargo run --release -p stiction --example friction_sweep`

use nalgebra::{Isometry2, Vector2};
use rayon::prelude::*;
use stiction::planar::{Attached, Body, Mass, Polygon, Shape, Twist, World};
use stiction::{Accuracy, Material, Scheme, Simulation};

const GRAVITY: f64 = 9.81;
const SPEED: f64 = 2.0;

/// Sliding distance of a box that starts at `SPEED` [m].
fn distance(friction: f64) -> Result<f64, Box<dyn std::error::Error + Send + Sync>> {
    let material = Material { friction, ..Material::default() };
    let mut world = World::new(Vector2::new(0.0, -GRAVITY));
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane).material(material)));
    let shape = Attached::new(Shape::Polygon(Polygon::rectangle([0.2, 0.1])?)).material(material);
    let crate_ = Body::rigid("crate", Mass::Density(100.0))
        .at(Isometry2::translation(0.0, 0.1))
        .moving(Twist::new(Vector2::new(SPEED, 0.0), 0.0))
        .with(shape);
    let crate_ = world.add_body(crate_);
    let mut simulation = Simulation::new(world.build()?).with_scheme(Scheme::accurate());
    simulation.run_to_accuracy(5.0, &Accuracy::of(1e-8), &[], |_, _| ())?;
    let centre = simulation.system().centre(simulation.state(), crate_).ok_or("no such body")?;
    Ok(centre.x)
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let coefficients: Vec<f64> = (1..=8).map(|i| 0.1 * f64::from(i)).collect();
    // each thread has a world of its own; the order of the results is that of the coefficients
    let distances: Vec<f64> = coefficients.par_iter().map(|&mu| distance(mu)).collect::<Result<_, _>>()?;
    println!("  mu  distance [m]  v^2/(2 mu g) [m]");
    for (mu, found) in coefficients.iter().zip(&distances) {
        let exact = SPEED * SPEED / (2.0 * mu * GRAVITY);
        println!("{mu:4.1}  {found:12.9}  {exact:16.9}");
        assert!((found - exact).abs() < 1e-7);
    }
    Ok(())
}
