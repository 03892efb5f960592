//! A stack of three boxes and the forces at its contacts.
//!
//! `cargo run --release -p stiction --example stack`

use nalgebra::{Isometry3, Vector3};
use stiction::spatial::{Attached, Body, Mass, Shape, World};
use stiction::{BodyId, Simulation};

const GRAVITY: f64 = 9.81;
const STEP: f64 = 0.01;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(Vector3::new(0.0, 0.0, -GRAVITY));
    let floor = world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfSpace)));
    let half = [0.2, 0.2, 0.1];
    let boxes: Vec<BodyId> = (0..3)
        .map(|i| {
            let pose = Isometry3::translation(0.02 * f64::from(i), 0.0, 0.1 + 0.2 * f64::from(i));
            let shape = Attached::new(Shape::Cuboid { half_extents: half });
            world.add_body(Body::rigid(format!("box {i}"), Mass::Density(500.0)).at(pose).with(shape))
        })
        .collect();

    let mut simulation = Simulation::new(world.build()?);
    let mut report = simulation.step(STEP)?;
    for _ in 1..100 {
        report = simulation.step(STEP)?;
    }

    let names = simulation.system().world();
    let name = |id: BodyId| names.body(id).map_or("?", |body| body.name.as_str());
    println!("{:>8} on {:<8} {:>9} {:>10}  mode", "body", "body", "normal N", "friction N");
    for contact in &report.contacts {
        let [below, above] = contact.bodies.map(name);
        let friction = Vector3::from(contact.force(report.h).friction).norm();
        let normal = contact.normal_force(report.h);
        println!("{above:>8} on {below:<8} {normal:>9.4} {friction:>10.1e}  {:?}", contact.mode);
    }

    // the floor carries the weight of all three
    let carried: f64 = report.contacts_of(floor).map(|contact| contact.normal_force(report.h)).sum();
    let weight = 3.0 * 500.0 * 8.0 * half.iter().product::<f64>() * GRAVITY;
    println!("floor: {carried:.6} N, weight: {weight:.6} N, certificate {:.1e}", report.certificate.worst());
    assert!((carried - weight).abs() < 1e-6 * weight);
    // the top box has not moved: it started 4 cm from the axis of the lowest
    let top = simulation.system().centre(simulation.state(), boxes[2]).ok_or("no such body")?;
    assert!((top.coords - Vector3::new(0.04, 0.0, 0.5)).norm() < 1e-9);
    Ok(())
}
