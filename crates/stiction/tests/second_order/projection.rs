//! States projected after each step: joints and persistent contacts hold to round-off, the
//! order stays, and what projections change of the energy is reported.

use crate::common::{G, down};
use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{Attached, Body, BodyId, Joint, Mass, Model, Shape, Twist, World};
use stiction::{Accuracy, Level, Material, Scheme, Simulation, StateProjection, Trapezoidal};

/// Accurate scheme that projects the state after each step.
fn projected() -> Scheme {
    let settings = Trapezoidal { projection: StateProjection::Steps, ..Trapezoidal::accurate() };
    Scheme { level: Level::Trapezoidal(settings), ..Scheme::accurate() }
}

/// Chain of rods of 1 kg from the origin, horizontal and at rest.
fn chain(links: usize, length: f64) -> (Simulation<Model>, Vec<BodyId>) {
    let mut world = World::new(down());
    let mut last = world.add_body(Body::fixed("wall"));
    let mut bodies = Vec::new();
    for i in 0..links {
        let x = length * i as f64;
        let mass = Mass::given(1.0, length * length / 12.0);
        let pose = Isometry2::translation(x + 0.5 * length, 0.0);
        let body = world.add_body(Body::rigid(format!("link {i}"), mass).at(pose));
        world.add_joint(Joint::revolute(format!("hinge {i}"), &world, last, body, Point2::new(x, 0.0)));
        bodies.push(body);
        last = body;
    }
    (Simulation::new(world.build().unwrap()).with_scheme(projected()), bodies)
}

/// Figures of a run: largest joint error or penetration, energy at the start, at the end and its largest value, and the
/// sum of what projections added.
#[derive(Debug, Default)]
struct Figures {
    infeasibility: f64,
    energy: [f64; 3],
    projected: f64,
}

fn figures(simulation: &mut Simulation<Model>, h: f64, steps: usize) -> Figures {
    let mut figures = Figures::default();
    let mut energy = Vec::new();
    for _ in 0..steps {
        let report = simulation.step(h).unwrap();
        let projected = report.second_order.unwrap().projected;
        let now = report.kinetic + report.potential;
        energy.push(now);
        figures.infeasibility = figures.infeasibility.max(report.infeasibility);
        figures.projected += projected;
        figures.energy[0] = if energy.len() == 1 { now - projected } else { figures.energy[0] };
    }
    figures.energy[1] = energy[energy.len() - 1];
    figures.energy[2] = energy.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    figures
}

fn positions(simulation: &Simulation<Model>, bodies: &[BodyId]) -> Vec<Vector2<f64>> {
    let place = |&id| simulation.system().pose(simulation.state(), id).unwrap().translation.vector;
    bodies.iter().map(place).collect()
}

#[test]
fn joints_of_a_chain_hold_at_any_step_and_the_order_stays() {
    let (mut simulation, bodies) = chain(5, 0.5);
    simulation.scheme = Scheme::accurate();
    simulation.run_to_accuracy(1.0, &Accuracy::of(1e-11), &[], |_, _| ()).unwrap();
    let exact = positions(&simulation, &bodies);
    let errors = [(0.02, 50), (0.01, 100), (0.005, 200), (0.0025, 400)].map(|(h, steps)| {
        let (mut simulation, bodies) = chain(5, 0.5);
        let figures = figures(&mut simulation, h, steps);
        // round-off of coordinates of 2.5 m
        assert!(figures.infeasibility < 1e-14, "h = {h}: {figures:?}");
        // without friction only projections change the energy: they take what the whip moves across rows, and add at most
        // 1e-4 of the energy of the fall
        let [start, end, largest] = figures.energy;
        assert!((end - start - figures.projected).abs() < 1e-11, "h = {h}: {figures:?}");
        assert!(largest - start < 0.01 && end > start - 700.0 * h.powi(3) * G, "h = {h}: {figures:?}");
        let at = positions(&simulation, &bodies);
        at.iter().zip(&exact).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
    });
    println!("errors {errors:.3?}");
    // measured: 9.5 h² to 7.5 h²
    for (k, limit) in [4.6e-3, 1.0e-3, 2.4e-4, 6.0e-5].into_iter().enumerate() {
        assert!(errors[k] < limit, "{errors:?}");
    }
    let order = (errors[1] / errors[3]).log2() / 2.0;
    assert!((1.75..=2.25).contains(&order), "order {order} of {errors:?}");
}

/// Ten links whip for 10 s: joints hold, and 97 % of the energy of the fall is there.
#[test]
fn a_whipping_chain_keeps_its_joints_and_its_energy() {
    let (mut simulation, _) = chain(10, 0.2);
    let figures = figures(&mut simulation, 0.01, 1000);
    let [start, end, largest] = figures.energy;
    assert!(figures.infeasibility < 1e-13, "{figures:?}");
    assert!(largest - start < 0.01 && end - start > -3.0, "{figures:?}");
    assert!((end - start - figures.projected).abs() < 1e-9, "{figures:?}");
}

/// A disk rolls on a disk, on which rows at the mean velocity alone drift by millimetres.
#[test]
fn a_contact_on_a_curved_surface_holds_at_any_step() {
    let material = Material { friction: 0.8, restitution: 0.0, ..Material::default() };
    for (h, steps) in [(0.05, 12), (0.02, 30), (0.01, 60)] {
        let mut world = World::new(down());
        let disk = |radius| Attached::new(Shape::Disk { radius }).material(material);
        world.add_body(Body::fixed("hill").with(disk(1.0)));
        let at = 1.2 * Vector2::new(0.1_f64.sin(), 0.1_f64.cos());
        let mass = Mass::given(1.0, 0.02);
        let body = Body::rigid("disk", mass).with(disk(0.2)).at(Isometry2::translation(at.x, at.y));
        world.add_body(body.moving(Twist::new(Vector2::zeros(), 0.0)));
        let model = world.build().unwrap();
        let mut simulation = Simulation::new(model).with_scheme(projected());
        let mut gaps: f64 = 0.0;
        for _ in 0..steps {
            let report = simulation.step(h).unwrap();
            gaps = gaps.max(report.infeasibility);
            assert!(report.events.is_empty(), "{:?}", report.events);
            let centre = Vector2::new(simulation.state().q[0], simulation.state().q[1]);
            gaps = gaps.max((centre.norm() - 1.2).abs());
        }
        assert!(gaps < 1e-12, "h = {h}: {gaps:e}");
    }
}
