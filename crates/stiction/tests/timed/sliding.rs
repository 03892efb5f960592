//! Contacts that last: sliding to rest, slip that becomes rolling, sticking on moving bodies, and normals that turn.

use crate::common::{G, STEPS, at, brick, check, check_order, disk, earth, end, floor, moving, surface};
use nalgebra::Vector2;
use stiction::planar::{Attached, Body, Force, Path, Shape, Twist, World, Wrench};

pub(crate) fn sliding_box(v: f64) -> World {
    let mut world = earth();
    floor(&mut world, surface(0.3, 0.0));
    let slider = brick("box", 1.0, [0.2, 0.1], surface(0.3, 0.0)).at(at(0.0, 0.1));
    world.add_body(slider.moving(moving(v, 0.0, 0.0)));
    world
}

#[test]
fn a_box_slides_and_stops() {
    let error = |h: f64| {
        let off = [2.7, 2.85, 3.0, 3.15, 3.3]
            .map(|v: f64| (end(&sliding_box(v), h, 1.5).q[0] - v * v / (2.0 * 0.3 * G)).abs());
        off.into_iter().fold(0.0, f64::max)
    };
    check("slide and stop", [1.47e-4, 2.8e-5, 9.2e-6, 2.3e-6], error, 1.3);
}

pub(crate) fn slipping_disk(v: f64) -> World {
    let mut world = earth();
    floor(&mut world, surface(0.2, 0.0));
    world.add_body(disk("disk", 1.0, 0.1, surface(0.2, 0.0)).at(at(0.0, 0.1)).moving(moving(v, 0.0, 0.0)));
    world
}

#[test]
fn a_disk_slips_until_it_rolls() {
    let error = |h: f64| {
        let off = [1.8, 1.9, 2.0, 2.1, 2.2].map(|v: f64| {
            let world = slipping_disk(v);
            // it rolls with 2/3 of its speed
            let (a, t) = (0.2 * G, v / 3.0 / (0.2 * G));
            let x = v * t - 0.5 * a * t * t + 2.0 / 3.0 * v * (1.0 - t);
            (end(&world, h, 1.0).q[0] - x).abs()
        });
        off.into_iter().fold(0.0, f64::max)
    };
    let errors = check("slip to roll", [8.4e-5, 2.4e-5, 6.0e-6, 1.5e-6], error, 1.3);
    check_order("slip to roll", errors);
}

pub(crate) fn box_on_a_plate() -> World {
    let path = Path::new(|t: f64| {
        (at(0.05 * (4.0 * t).sin(), 0.0), Twist::new(Vector2::new(0.2 * (4.0 * t).cos(), 0.0), 0.0))
    });
    let plate = Attached::new(Shape::HalfPlane).material(surface(0.5, 0.0));
    let mut world = earth();
    world.add_body(Body::kinematic("plate", path).with(plate));
    let slider = brick("box", 3.0, [0.2, 0.1], surface(0.5, 0.0)).at(at(0.0, 0.1));
    world.add_body(slider.moving(moving(0.2, 0.0, 0.0)));
    world
}

#[test]
fn a_box_sticks_to_a_plate_that_accelerates() {
    let world = box_on_a_plate();
    let drift = |h: f64| {
        let mut simulation = crate::common::simulation(&world);
        let drifts =
            simulation.record(5.0, h, |_, state, _| (state.q[0] - 0.05 * (4.0 * state.t).sin()).abs());
        drifts.unwrap().values.into_iter().fold(0.0, f64::max)
    };
    let errors = check("plate", [2.67e-5, 6.67e-6, 1.67e-6, 4.2e-7], drift, 1.3);
    check_order("plate", errors);
}

/// Plate of 10 kg on disks of 1 kg, pulled by 5 cos 3t.
pub(crate) fn plate_on_disks(places: &[f64]) -> World {
    let material = surface(0.5, 0.0);
    let mut world = earth();
    floor(&mut world, material);
    for x in places {
        world.add_body(disk(&format!("disk at {x}"), 1.0, 0.1, material).at(at(*x, 0.1)));
    }
    let plate = world.add_body(brick("plate", 10.0, [1.0, 0.05], material).at(at(0.0, 0.25)));
    let pull = |t: f64| Wrench { force: Vector2::new(5.0 * (3.0 * t).cos(), 0.0), torque: 0.0 };
    world.add_force(Force::timed(plate, pull));
    world
}

fn plate_error(places: &[f64], mass: f64, h: f64) -> f64 {
    let q = end(&plate_on_disks(places), h, 1.0).q;
    (q[q.len() - 3] - 5.0 / mass * (1.0 - 3f64.cos()) / 9.0).abs()
}

#[test]
fn a_plate_rolls_on_two_disks() {
    let error = |h: f64| plate_error(&[-0.3, 0.3], 10.75, h);
    let errors = check("two disks", [1.54e-5, 3.9e-6, 9.6e-7, 2.4e-7], error, 1.3);
    check_order("two disks", errors);
}

#[test]
fn redundant_disks_under_a_plate_keep_the_order() {
    let errors = STEPS.map(|h| plate_error(&[-0.6, 0.0, 0.6], 11.125, h));
    println!("three disks: {}", crate::common::listed(&errors));
    assert!(errors[1] <= 5e-6, "error {:e} at h = 0.01", errors[1]);
    check_order("three disks", errors);
}

pub(crate) fn bump() -> World {
    let material = surface(0.3, 0.0);
    let mut world = earth();
    world.add_body(Body::fixed("bump").with(Attached::new(Shape::Disk { radius: 1.0 }).material(material)));
    let (s, c) = 0.1f64.sin_cos();
    let body = disk("disk", 1.0, 0.3, material).at(at(1.3 * s, 1.3 * c));
    world.add_body(body.moving(moving(0.3 * c, -0.3 * s, -4.0)));
    world
}

#[test]
fn a_disk_slips_rolls_and_flies_off_a_bump() {
    let world = bump();
    // by an event-driven integration of order eight
    let reference = [1.345_100_335_451, 0.221_271_010_165, -4.831_735_536_062];
    let error = |h: f64| crate::common::distance(&end(&world, h, 1.0).q, &reference);
    check("bump", [2.0e-3, 4.4e-4, 1.6e-4, 2.1e-5], error, 2.0);
}
