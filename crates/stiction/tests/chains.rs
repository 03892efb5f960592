//! Long chains: problems of joints alone take one sparse factorization, for open, closed and doubled chains.

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use stiction::Simulation;
use stiction::spatial::{Body, Joint, Mass, Model, World};

/// Chain of links of 0.1 m along this part of a circle, at rest, held at the first link; each joint `copies` times.
fn links(count: u32, part: f64, copies: u32) -> Model {
    let mut world = World::new(Vector3::new(0.0, 0.0, -9.81));
    let step = std::f64::consts::TAU * part / f64::from(count);
    let radius = 0.05 / (0.5 * step).sin();
    let point = |i: u32| {
        let angle = step * f64::from(i);
        Point3::new(radius * angle.sin(), 0.0, radius * (angle.cos() - 1.0))
    };
    let wall = world.add_body(Body::fixed("wall"));
    let mut bodies = vec![wall];
    for i in 0..count {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), step * (f64::from(i) + 0.5));
        let pose = Isometry3::from_parts(nalgebra::center(&point(i), &point(i + 1)).into(), turn);
        let body = Body::rigid(format!("link {i}"), Mass::given(1.0, [1e-4, 9e-4, 8e-4]));
        bodies.push(world.add_body(body.at(pose)));
    }
    let mut joined: Vec<_> = (0..count).map(|i| (i, i, i + 1)).collect();
    if part == 1.0 {
        joined.push((count, count, 1));
    }
    for (at, before, after) in joined {
        for copy in 0..copies {
            let ends = (bodies[before as usize], bodies[after as usize]);
            let name = format!("joint {at}.{copy}");
            world.add_joint(Joint::spherical(name, &world, ends.0, ends.1, point(at)));
        }
    }
    world.build().unwrap()
}

#[test]
fn joints_alone_are_factored_once_and_hold_to_round_off() {
    for (name, part, copies) in [("open", 0.25, 1), ("closed", 1.0, 1), ("doubled", 0.25, 2)] {
        let model = links(300, part, copies);
        let mut simulation = Simulation::new(model);
        for step in 0..20 {
            let report = simulation.step(1e-3).unwrap_or_else(|e| panic!("{name}, step {step}: {e}"));
            // round-off of velocities, amplified along the chain
            assert!(report.certificate.worst() < 1e-10, "{name}: {}", report.certificate.worst());
            // relative to the length of a link
            assert!(report.infeasibility < 1e-10 * 0.1, "{name}: {} m", report.infeasibility);
            assert!(report.work.factorizations <= report.work.problems, "{name}: {:?}", report.work);
            assert!(report.work.size == 0, "{name}: a dense problem of {}", report.work.size);
        }
    }
}

/// Energy: rows are taken at the start of a step, so it is kept to O(h²) and must not grow beyond that.
#[test]
fn a_chain_swings_without_gaining_energy() {
    let model = links(100, 0.25, 1);
    let mut simulation = Simulation::new(model);
    let mut energies = Vec::new();
    for _ in 0..300 {
        let report = simulation.step(1e-3).unwrap();
        energies.push(report.kinetic + report.potential);
    }
    let kinetic = simulation.step(1e-3).unwrap().kinetic;
    let gained = energies.windows(2).map(|e| e[1] - e[0]).fold(0.0, f64::max);
    assert!(kinetic > 1.0, "it does not move: {kinetic} J");
    assert!(gained < 1e-3 * kinetic, "{gained} J gained in a step, of {kinetic} J");
}
