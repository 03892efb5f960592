//! Snapshots and branching: one state, several futures, and the same future twice bit by bit.
//!
//! `cargo run --release -p stiction --example branching`

use nalgebra::{Isometry2, Vector2};
use stiction::planar::{Attached, Body, Force, Mass, Polygon, Shape, World};
use stiction::{Simulation, State};

const STEP: f64 = 0.005;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(Vector2::new(0.0, -9.81));
    world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfPlane)));
    let shape = Shape::Polygon(Polygon::rectangle([0.02, 0.1])?);
    let domino = |i: u32| {
        Body::rigid(format!("domino {i}"), Mass::Density(600.0))
            .at(Isometry2::translation(0.08 * f64::from(i), 0.1))
            .with(Attached::new(shape.clone()))
    };
    let dominoes: Vec<_> = (0..5).map(|i| world.add_body(domino(i))).collect();

    // stand for a moment, then take a snapshot
    let mut simulation = Simulation::new(world.build()?);
    simulation.record(0.5, STEP, |_, _, _| ())?;
    let standing: State = simulation.state().clone();

    println!("  push [N]  angle of the last domino after 1 s [rad]");
    for push in [0.0, 0.2, 2.0, 4.0] {
        // a branch is a simulation of its own: the trunk does not notice
        let mut branch = simulation.clone();
        let force =
            branch.edit(|world| world.add_force(Force::constant(dominoes[0], Vector2::new(push, 0.0))))?;
        branch.record(0.7, STEP, |_, _, _| ())?;
        branch.edit(|world| world.remove_force(force))?;
        branch.record(1.5, STEP, |_, _, _| ())?;
        let last = branch.system().pose(branch.state(), dominoes[4]).ok_or("no such body")?;
        println!("{push:10.1}  {:10.6}", last.rotation.angle());
    }
    assert_eq!(simulation.state(), &standing);

    // the same future twice, from one snapshot
    let mut ends = Vec::new();
    for _ in 0..2 {
        simulation.restore(standing.clone());
        simulation.record(1.0, STEP, |_, _, _| ())?;
        ends.push(simulation.state().clone());
    }
    assert_eq!(ends[0], ends[1]);
    println!("restored and run again: equal bit by bit");
    Ok(())
}
