//! Bounces of a ball without loss, against closed-form times.

use nalgebra::{Isometry2, Vector2};
use stiction::planar::{Attached, Body, Mass, Model, Shape, World};
use stiction::{Material, Scheme, Simulation};

const G: f64 = 9.81;

fn ball(height: f64, restitution: f64) -> Simulation<Model> {
    let mut world = World::new(Vector2::new(0.0, -G));
    let material = Material { friction: 0.0, restitution, ..Material::default() };
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane).material(material)));
    let body = Body::rigid("ball", Mass::Density(1000.0)).at(Isometry2::translation(0.0, 0.1 + height));
    world.add_body(body.with(Attached::new(Shape::Disk { radius: 0.1 }).material(material)));
    let model = world.build().unwrap();
    Simulation::new(model).with_scheme(Scheme::pagt06())
}

#[test]
fn a_ball_without_loss_bounces_at_the_closed_form_times() {
    for height in [1.0, 1e-3] {
        for h in [0.05, 0.01, 0.001] {
            let mut simulation = ball(height, 1.0);
            let fall = (2.0 * height / G).sqrt();
            let mut times = Vec::new();
            let mut energy = None;
            while times.len() < 100 {
                let report = simulation.step(h).unwrap_or_else(|e| panic!("{e}"));
                times.extend(report.impacts.iter().map(|i| i.t));
                let now = report.kinetic + report.potential;
                let first = *energy.get_or_insert(now);
                assert!((now / first - 1.0).abs() <= 1e-10, "{height} {h}: {now} of {first}");
            }
            for (k, t) in times.iter().enumerate() {
                let exact = fall * (2 * k + 1) as f64;
                assert!((t / exact - 1.0).abs() <= 1e-9, "{height} {h}: impact {k} at {t}, not {exact}");
            }
        }
    }
}
