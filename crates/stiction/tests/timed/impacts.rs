//! Impacts at their own times: bounces without error, the energy of elastic gases, and a shaken box.

use crate::common::{G, at, brick, check, disk, earth, end, energy, floor, moving, simulation, surface};
use nalgebra::Vector2;
use stiction::planar::{Attached, Body, Path, Shape, Twist, World};

pub(crate) fn dropped(restitution: f64) -> World {
    let mut world = earth();
    floor(&mut world, surface(0.0, restitution));
    world.add_body(disk("ball", 1.0, 0.1, surface(0.0, restitution)).at(at(0.0, 1.1)));
    world
}

/// Height of the lowest point of a ball dropped from 1 m.
fn bounced(restitution: f64, until: f64) -> f64 {
    let (mut t, mut speed) = ((2.0 / G).sqrt(), (2.0 * G).sqrt());
    if until <= t {
        return 1.0 - 0.5 * G * until * until;
    }
    loop {
        speed *= restitution;
        let flight = 2.0 * speed / G;
        if until <= t + flight {
            let x = until - t;
            return speed * x - 0.5 * G * x * x;
        }
        t += flight;
    }
}

#[test]
fn a_ball_bounces_without_error() {
    let world = dropped(0.8);
    for h in [0.02, 0.01, 0.007, 0.005, 0.0025] {
        let height = end(&world, h, 2.0).q[1] - 0.1;
        let error = (height - bounced(0.8, 2.0)).abs();
        println!("ball at {h}: {error:e}");
        assert!(error <= 1e-12, "h = {h}: {error:e}");
    }
}

#[test]
fn an_elastic_ball_keeps_its_energy() {
    let mut simulation = simulation(&dropped(1.0));
    let start = energy(&simulation);
    let worst = simulation.record(20.0, 0.01, |_, _, r| (r.kinetic + r.potential - start).abs()).unwrap();
    let worst = worst.values.into_iter().fold(0.0, f64::max);
    assert!(worst <= 1e-11, "{worst:e} J");
}

/// Nine elastic disks in a box of 2 m.
pub(crate) fn gas(gravity: f64) -> World {
    let material = surface(0.0, 1.0);
    let mut world = World::new(Vector2::new(0.0, -gravity));
    let wall = |angle: f64| {
        Attached::new(Shape::HalfPlane).material(material).at(nalgebra::Isometry2::rotation(angle))
    };
    for (name, x, y, quarter) in [
        ("floor", 0.0, -1.0, 0.0),
        ("right", 1.0, 0.0, 1.0),
        ("ceiling", 0.0, 1.0, 2.0),
        ("left", -1.0, 0.0, 3.0),
    ] {
        let angle: f64 = quarter * std::f64::consts::FRAC_PI_2;
        world.add_body(Body::fixed(name).at(at(x, y)).with(wall(angle)));
    }
    for k in 0..9 {
        let (i, j) = (f64::from(k % 3), f64::from(k / 3));
        let (x, y) = (0.6 * (i - 1.0) + 0.03 * j, 0.6 * (j - 1.0) - 0.02 * i);
        let angle = 2.4 * f64::from(k);
        let body = disk(&format!("disk {k}"), 1.0, 0.1, material).at(at(x, y));
        world.add_body(body.moving(moving(0.96 * angle.cos(), 0.96 * angle.sin(), 0.0)));
    }
    world
}

#[test]
fn an_elastic_gas_keeps_its_energy() {
    let mut simulation = simulation(&gas(0.0));
    let start = energy(&simulation);
    let mut impacts = 0;
    let worst = simulation
        .record(10.0, 0.01, |_, _, r| {
            impacts += r.events.len();
            (r.kinetic - start).abs()
        })
        .unwrap();
    let worst = worst.values.into_iter().fold(0.0, f64::max);
    println!("gas: {worst:e} of {start} J after {impacts} impacts");
    assert!(impacts > 100);
    assert!(worst <= 1e-12, "{worst:e} J");
}

/// Bodies that meet twice within a step overlap at its end, and lifting them apart costs energy: that is all a gas gains.
#[test]
fn an_elastic_gas_under_gravity_gains_what_its_ledger_says() {
    let mut simulation = simulation(&gas(G));
    let start = energy(&simulation);
    let mut ledger = stiction::EnergyLedger::default();
    let (mut gained, mut depth) = (0.0f64, 0.0f64);
    simulation
        .record(5.0, 0.01, |_, _, r| {
            ledger += r.ledger.unwrap();
            // sums of 500 steps of 2 J each, to round-off
            assert!((r.kinetic + r.potential - start - ledger.change).abs() < 1e-11);
            let sum = ledger.motors + ledger.forces + ledger.friction + ledger.impacts + ledger.projection;
            assert!((ledger.change - sum - ledger.scheme).abs() < 1e-11);
            gained = gained.max(ledger.change - ledger.projection);
            depth = depth.max(r.stabilization.as_ref().map_or(0.0, |s| s.before));
            assert!(r.infeasibility < 1e-10);
        })
        .unwrap();
    println!("gas under gravity: {ledger:?}, beyond projection {gained:e} J, {depth} m before it");
    assert!(gained < 1e-9, "{gained:e} J that projection does not explain");
    assert!(ledger.projection < 1.0 && ledger.change.abs() < 1.0, "{ledger:?}");
}

pub(crate) fn shaker() -> World {
    let path = Path::new(|t: f64| {
        (at(0.0, 0.05 * (20.0 * t).sin()), Twist::new(Vector2::new(0.0, (20.0 * t).cos()), 0.0))
    });
    let mut world = earth();
    let plate = Attached::new(Shape::HalfPlane).material(surface(0.5, 0.0));
    world.add_body(Body::kinematic("shaker", path).with(plate));
    let body = brick("box", 3.0, [0.2, 0.1], surface(0.5, 0.0)).at(at(0.0, 0.1));
    world.add_body(body.moving(moving(0.0, 1.0, 0.0)));
    world
}

#[test]
fn a_shaken_box_takes_off_and_lands() {
    let world = shaker();
    let reference = shaken(1.1);
    let error = |h: f64| (end(&world, h, 1.1).q[1] - 0.1 - reference).abs();
    check("shaker", [1.5e-3, 8.1e-5, 8.1e-5, 8.6e-6], error, 2.0);
}

/// Height of a body on 0.05 sin 20t: it takes off where the plate falls faster, and lands without a bounce.
fn shaken(until: f64) -> f64 {
    let height = |t: f64| 0.05 * (20.0 * t).sin();
    let speed = |t: f64| (20.0 * t).cos();
    let mut t = 0.0;
    loop {
        // next take-off: −20 sin 20t = −g, on the way down
        let phase = (G / 20.0).asin();
        let period = 2.0 * std::f64::consts::PI / 20.0;
        let angle = (20.0 * t) % (2.0 * std::f64::consts::PI);
        let falls = 20.0 * angle.sin() >= G;
        let leave = if falls {
            t
        } else {
            t - angle / 20.0 + phase / 20.0 + if angle > phase { period } else { 0.0 }
        };
        if until <= leave {
            return height(until);
        }
        let (y, v) = (height(leave), speed(leave));
        let gap = |s: f64| y + v * (s - leave) - 0.5 * G * (s - leave).powi(2) - height(s);
        let mut s = leave + 1e-3;
        while gap(s) > 0.0 {
            s += 1e-4;
        }
        let (mut low, mut high) = (s - 1e-4, s);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if gap(middle) > 0.0 { low = middle } else { high = middle }
        }
        if until <= high {
            return y + v * (until - leave) - 0.5 * G * (until - leave).powi(2);
        }
        t = high;
    }
}
