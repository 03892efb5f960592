//! Bodies at rest.

use crate::common::{G, SCHEMES, in_plane, in_space};
use crate::{planes, spaces};
use nalgebra::{Isometry2, Vector2, Vector3};
use std::f64::consts::FRAC_PI_2;
use stiction::{ContactQuery, Scheme, SearchCache, Simulation, StepReport, System, planar, spatial};

/// Final speed and largest |gap| of touching contacts relative to the size, after a run.
fn settled<S: System>(run: &mut Simulation<S>, seconds: f64, name: &str) -> (f64, f64) {
    let mut report = StepReport::default();
    while run.state().t < seconds {
        run.step_into(0.01, &mut report).unwrap_or_else(|e| panic!("{name}, t = {}: {e}", run.state().t));
    }
    let size = run.system().size();
    let mut near = Vec::new();
    // contacts within a thousandth of the size should touch
    run.system().contacts(
        run.state().t,
        &run.state().q,
        &ContactQuery::within(1e-3 * size),
        &mut SearchCache::default(),
        &mut near,
    );
    assert!(!near.is_empty(), "{name} touches nothing");
    let hover = near.iter().fold(0.0, |m: f64, c| m.max(c.gap.abs()));
    let speed = run.state().v.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    (speed, hover / size)
}

fn check<S: System>(mut run: Simulation<S>, name: &str) {
    let (speed, hover) = settled(&mut run, 4.0, name);
    println!("{name:>24}: {speed:.0e} m/s, {hover:.0e} of its size");
    // at rest to the round-off of a step of gravity; a rolling body keeps rolling
    assert!(speed < 1e-9 * G || name.starts_with("rolling"), "{name} moves at {speed}");
    assert!(hover <= 1e-9, "{name} is {hover} of its size off");
}

#[test]
fn nothing_at_rest_hovers_in_the_plane() {
    let shapes: [(&str, planar::Attached, f64); 5] = [
        ("disk", planes::disk(0.3), 0.0),
        ("flat box", planes::rectangle(0.3, 0.1), 0.0),
        ("tilted box", planes::rectangle(0.3, 0.2), 0.5),
        ("flat capsule", planes::capsule(0.3, 0.1), 0.0),
        ("tilted capsule", planes::capsule(0.3, 0.1), -0.7),
    ];
    for (name, scheme) in SCHEMES {
        for (kind, shape, tilt) in &shapes {
            let mut world = planes::earth();
            world.add_body(planes::floor(planes::rough(0.5)));
            let pose = Isometry2::new(Vector2::new(0.1, 1.0), *tilt);
            let body = planar::Body::rigid("body", planar::Mass::Density(2.0)).at(pose);
            world.add_body(body.with(shape.clone().material(planes::rough(0.5))));
            check(in_plane(&world, scheme()), &format!("{kind}, {name}"));
        }
    }
}

#[test]
fn nothing_at_rest_hovers_in_space() {
    let cuboid = || spatial::Shape::Cuboid { half_extents: [0.3, 0.2, 0.1] };
    let capsule = || spatial::Shape::Capsule { half_length: 0.3, radius: 0.1 };
    let shapes = [
        ("sphere", spatial::Shape::Sphere { radius: 0.3 }, Vector3::zeros()),
        ("flat box", cuboid(), Vector3::zeros()),
        ("tilted box", cuboid(), Vector3::new(0.2, 0.3, 0.1)),
        ("flat capsule", capsule(), FRAC_PI_2 * Vector3::x()),
        ("tilted capsule", capsule(), Vector3::x()),
        ("rolling capsule", capsule(), Vector3::new(1.0, 0.0, 0.3)),
    ];
    for (name, scheme) in SCHEMES {
        for (kind, shape, turn) in &shapes {
            let mut world = spaces::earth();
            world.add_body(spaces::floor(planes::rough(0.5)));
            let pose = spaces::at(0.1, 0.2, 1.0) * nalgebra::UnitQuaternion::from_scaled_axis(*turn);
            let body = spatial::Body::rigid("body", spatial::Mass::Density(2.0)).at(pose);
            world.add_body(body.with(spaces::on_floor_only(shape.clone(), planes::rough(0.5))));
            check(in_space(&world, scheme()), &format!("{kind}, {name}"));
        }
    }
}

#[test]
fn a_box_stays_where_it_is_for_100_000_steps() {
    let mut world = spaces::earth();
    world.add_body(spaces::floor(planes::rough(0.5)));
    let body = spatial::Body::rigid("box", spatial::Mass::Density(500.0)).at(spaces::at(0.3, -0.2, 0.1));
    let shape = spatial::Shape::Cuboid { half_extents: [0.3, 0.2, 0.1] };
    world.add_body(body.with(spatial::Attached::new(shape).material(planes::rough(0.5))));
    let (steps, h) = (100_000_u32, 0.01);
    let mut run = in_space(&world, Scheme::default());
    let start = run.state().clone();
    let mut report = StepReport::default();
    run.step_into(h, &mut report).unwrap();
    run.step_into(h, &mut report).unwrap();
    let (mut worst, mut fastest): (f64, f64) = (0.0, 0.0);
    let stored = allocation_counter::measure(|| {
        for _ in 2..steps {
            run.step_into(h, &mut report).unwrap();
            worst = worst.max(report.certificate.worst() * report.certificate.speed);
            fastest = run.state().v.iter().fold(fastest, |m, v| m.max(v.abs()));
        }
    });
    let moved = run.state().q.iter().zip(&start.q).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    println!("moved {moved:.0e} m at up to {fastest:.0e} m/s; certified to {worst:.0e} m/s");
    // residuals of the certificates, summed over the steps, and round-off of the positions
    assert!(moved <= f64::from(steps) * h * worst + 1e-12, "{moved}");
    assert!(moved <= 1e-9, "{moved}");
    // no velocity grows, and nothing is stored
    assert!(fastest <= 1e-12 * G, "{fastest}");
    assert_eq!(stored.bytes_current, 0);
}
