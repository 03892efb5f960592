//! A run to an accuracy with its events: a ball on a slope bounces, slides, and rolls.
//!
//! `cargo run --release -p stiction --example accuracy`

use nalgebra::{Isometry2, Vector2};
use stiction::planar::{Attached, Body, Mass, Shape, World};
use stiction::{Accuracy, Material, Scheme, Simulation};

const GRAVITY: f64 = 9.81;
/// Slope of the ground [rad].
const SLOPE: f64 = 0.2;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let material = Material { friction: 0.5, restitution: 0.4, ..Material::default() };
    // gravity is turned instead of the ground
    let mut world = World::new(GRAVITY * Vector2::new(SLOPE.sin(), -SLOPE.cos()));
    world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfPlane).material(material)));
    let ball = Body::rigid("ball", Mass::Density(1000.0))
        .at(Isometry2::translation(0.0, 0.6))
        .with(Attached::new(Shape::Disk { radius: 0.1 }).material(material));
    let ball = world.add_body(ball);

    let mut simulation = Simulation::new(world.build()?).with_scheme(Scheme::accurate());
    let times = [0.5, 1.0, 1.5, 2.0];
    let accuracy = Accuracy::of(1e-9);
    let run = simulation.run_to_accuracy(2.0, &accuracy, &times, |model, state| {
        model.centre(state, ball).map(|centre| centre.x)
    })?;

    println!("events:");
    for event in run.report.events.iter().take(8) {
        println!("  t = {:.9} s  {:?}", event.t, event.kind);
    }
    println!("  {} in all, {} of them impacts", run.report.events.len(), run.report.impacts.len());
    for (t, x) in run.trajectory.times.iter().zip(&run.trajectory.values) {
        println!("  x({t}) = {:.9} m", x.ok_or("no such body")?);
    }
    let report = &run.report;
    println!(
        "{} steps, {} rejected, sum of error estimates {:.1e}",
        report.steps, report.rejections, report.error
    );

    // the first impact in closed form: a fall of 0.5 m along the normal
    let first = (2.0 * 0.5 / (GRAVITY * SLOPE.cos())).sqrt();
    assert!((report.impacts[0].t - first).abs() < 1e-9);
    Ok(())
}
