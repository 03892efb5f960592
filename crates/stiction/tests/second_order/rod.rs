//! Rod on two points that stick and slip together: redundant contacts, four rows on three velocities.

use crate::common::{Expected, down, floor, halved, rough, tip};
use nalgebra::Vector2;
use stiction::Trapezoidal;
use stiction::planar::{Body, Force, Mass, Model, World, Wrench};

pub(crate) fn rod() -> Model {
    let mut world = World::new(down());
    // μ is the root of the product
    floor(&mut world, rough(1.0));
    let body = Body::rigid("rod", Mass::given(1.0, 1.0 / 3.0));
    let rod = world.add_body(body.with(tip(-1.0, 0.0, rough(0.16))).with(tip(1.0, 0.0, rough(0.04))));
    world.add_force(Force::timed(rod, |t| {
        let f = 5.0 * (2.0 * t).cos();
        Wrench { force: Vector2::new(f, 0.0), torque: -0.5 * f }
    }));
    world.build().unwrap()
}

#[test]
fn both_ends_stick_and_slip_together() {
    let sequence = [
        (0.877_015_353, "S1 S2"),
        (1.119_501_249, "L1 L2"),
        (2.518_035_678, "S1 S2"),
        (2.653_732_331, "L1 L2"),
    ];
    Expected::of(&[(0, 0.763_528_669_329)], &sequence, &[3.97e-3])
        .check("rod", &halved(rod, Trapezoidal::default(), 4..=8, 4.0));
}
