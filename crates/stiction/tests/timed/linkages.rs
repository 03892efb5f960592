//! Joints: a chain, a slider-crank, and a linkage that meets a floor.

use crate::common::{
    at, check, check_order, distance, earth, end, energy, exact, moving, simulation, surface,
};
use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{Attached, Body, BodyId, Joint, Mass, Shape, World};

/// Homogeneous rod of 1 kg.
fn rod(name: String, length: f64, pose: Isometry2<f64>) -> Body {
    Body::rigid(name, Mass::given(1.0, length * length / 12.0)).at(pose)
}

/// Chain of rods of 0.5 m, horizontal, from a hinge at the origin.
fn chain(world: &mut World, rods: usize) -> BodyId {
    let mut before = world.add_body(Body::fixed("ground"));
    for k in 0..rods {
        let x = 0.5 * k as f64;
        let body = world.add_body(rod(format!("rod {k}"), 0.5, at(x + 0.25, 0.0)));
        let hinge = Joint::revolute(format!("hinge {k}"), world, before, body, Point2::new(x, 0.0));
        world.add_joint(hinge);
        before = body;
    }
    before
}

pub(crate) fn chain_of_five() -> World {
    let mut world = earth();
    chain(&mut world, 5);
    world
}

#[test]
fn a_chain_of_five_falls() {
    let world = chain_of_five();
    let reference = exact(&world, 1.0);
    let error = |h: f64| distance(&end(&world, h, 1.0).q, &reference.q);
    let errors = check("chain", [9.11e-3, 2.19e-3, 4.71e-4, 1.09e-4], error, 1.3);
    check_order("chain", errors);
}

/// Slider-crank: crank 0.3 m, rod 1 m, slider on the x axis, all of 1 kg.
pub(crate) fn crank() -> World {
    let mut world = earth();
    let ground = world.add_body(Body::fixed("ground"));
    let (angle, spin): (f64, f64) = (0.5, 10.0);
    let pin = Vector2::new(0.3 * angle.cos(), 0.3 * angle.sin());
    let slope = -(pin.y).asin();
    let (s, c) = slope.sin_cos();
    let slider = Vector2::new(pin.x + c, 0.0);
    let pin_speed = spin * Vector2::new(-pin.y, pin.x);
    // the height of the slider does not change
    let turning = -pin_speed.y / c;
    let velocity = pin_speed.x - turning * s;
    let crank = rod("crank".into(), 0.3, Isometry2::new(0.5 * pin, angle));
    let crank = world.add_body(crank.moving(moving(0.5 * pin_speed.x, 0.5 * pin_speed.y, spin)));
    let rod = rod("rod".into(), 1.0, Isometry2::new(0.5 * (pin + slider), slope));
    let middle = 0.5 * (pin_speed + Vector2::new(velocity, 0.0));
    let rod = world.add_body(rod.moving(moving(middle.x, middle.y, turning)));
    let block = Body::point("slider", 1.0).at(at(slider.x, 0.0)).moving(moving(velocity, 0.0, 0.0));
    let block = world.add_body(block);
    let joint = Joint::revolute("main", &world, ground, crank, Point2::origin());
    world.add_joint(joint);
    let joint = Joint::revolute("pin", &world, crank, rod, pin.into());
    world.add_joint(joint);
    let joint = Joint::revolute("end", &world, rod, block, slider.into());
    world.add_joint(joint);
    let guide = Joint::prismatic("guide", &world, ground, block, slider.into(), Vector2::x());
    world.add_joint(guide);
    world
}

#[test]
fn a_crank_drives_a_slider() {
    let world = crank();
    let reference = exact(&world, 1.0);
    // x of the slider is the first of the last two coordinates
    let slider = |q: &[f64]| q[q.len() - 2];
    let error = |h: f64| (slider(&end(&world, h, 1.0).q) - slider(&reference.q)).abs();
    check("crank", [1.84e-2, 3.00e-3, 6.0e-4, 1.3e-4], error, 1.3);
    let mut simulation = simulation(&world);
    let start = energy(&simulation);
    let worst = simulation.record(10.0, 0.01, |_, _, r| (r.kinetic + r.potential - start).abs()).unwrap();
    let worst = worst.values.iter().copied().fold(0.0, f64::max);
    println!("energy {start}, changes by {worst}");
    assert!(worst <= 0.11, "energy changes by {worst} J of {start} J");
}

pub(crate) fn two_links() -> World {
    let mut world = earth();
    let last = chain(&mut world, 2);
    let material = surface(0.3, 0.0);
    let plane = Attached::new(Shape::HalfPlane).material(material);
    world.add_body(Body::fixed("floor").at(at(0.0, -0.7)).with(plane));
    let tip = Attached::new(Shape::Disk { radius: 0.0 });
    world.add_shape(last, tip.at(at(0.25, 0.0)).material(material));
    world
}

#[test]
fn two_links_meet_a_floor() {
    let world = two_links();
    let reference = exact(&world, 0.7);
    let error = |h: f64| distance(&end(&world, h, 0.7).q, &reference.q);
    check("two links", [2.5e-3, 4.7e-4, 3.0e-4, 3.8e-4], error, 2.0);
}
