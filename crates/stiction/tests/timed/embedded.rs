//! Planar worlds embedded in space and turned by 30° about the vertical: steps of both dimensions agree.

use crate::embedding::laid;
use crate::{impacts, linkages, rest, sliding, springs};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use std::sync::Arc;
use stiction::{Simulation, planar, spatial};

/// World turned about the vertical axis.
fn turned(mut world: spatial::World, turn: UnitQuaternion<f64>) -> spatial::World {
    let whole = Isometry3::from_parts(nalgebra::Translation3::identity(), turn);
    let ids: Vec<_> = world.bodies().map(|(id, _)| id).collect();
    for id in ids {
        let body = world.body_mut(id).unwrap();
        body.pose = whole * body.pose;
        let spatial::Twist { linear, angular } = body.velocity;
        body.velocity = spatial::Twist::new(turn * linear, turn * angular);
        if let spatial::Motion::Kinematic(path) = &body.motion {
            let path = path.clone();
            body.motion = spatial::Motion::Kinematic(spatial::Path::new(move |t| {
                let (pose, spatial::Twist { linear, angular }) = path.0(t);
                (whole * pose, spatial::Twist::new(turn * linear, turn * angular))
            }));
        }
    }
    let forces: Vec<_> =
        (0..u32::MAX).map(stiction::ForceId).take_while(|k| world.force(*k).is_some()).collect();
    for k in forces {
        if let Some(spatial::Force::Timed { load, .. }) = world.force_mut(k) {
            let own = load.clone();
            *load = Arc::new(move |t| {
                let spatial::Wrench { force, torque } = own(t);
                spatial::Wrench { force: turn * force, torque: turn * torque }
            });
        }
    }
    world
}

/// Largest distance of a centre in space from that of the plane, over a run with steps of 0.01 s [m].
fn apart(name: &str, plane: &planar::World, until: f64) -> f64 {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::PI / 6.0);
    let space = turned(laid(plane, None), turn);
    let mut flat = Simulation::new(plane.clone().build().unwrap());
    let mut full = Simulation::new(space.build().unwrap());
    let mut worst = 0.0_f64;
    while flat.state().t < until - 1e-9 {
        flat.step(0.01).unwrap_or_else(|error| panic!("{name}: {error}"));
        full.step(0.01).unwrap_or_else(|error| panic!("{name} in space: {error}"));
        for (id, _) in plane.bodies().filter(|(_, body)| body.moves()) {
            let own = flat.system().centre(flat.state(), id).unwrap();
            let other = full.system().centre(full.state(), id).unwrap();
            worst = worst.max((turn * Vector3::new(own.x, 0.0, own.y) - other.coords).norm());
        }
    }
    println!("{name}: {worst:.1e} m apart");
    worst
}

/// Defines a test for each world of the measurements in the plane.
macro_rules! embedded {
    ($($test:ident $world:expr, $until:expr;)*) => {
        $(#[test]
        fn $test() {
            let worst = apart(stringify!($test), &$world, $until);
            assert!(worst <= 1e-9, "{worst:e} m");
        })*
    };
}

embedded! {
    chain linkages::chain_of_five(), 1.0;
    slider_crank linkages::crank(), 1.0;
    links_on_a_floor linkages::two_links(), 0.7;
    sliding_box sliding::sliding_box(3.0), 1.5;
    rolling_disk sliding::slipping_disk(2.0), 1.0;
    box_on_a_plate sliding::box_on_a_plate(), 1.0;
    plate_on_two_disks sliding::plate_on_disks(&[-0.3, 0.3]), 1.0;
    plate_on_three_disks sliding::plate_on_disks(&[-0.6, 0.0, 0.6]), 1.0;
    bump sliding::bump(), 1.0;
    shaker impacts::shaker(), 1.1;
    bouncing_ball impacts::dropped(0.8), 2.0;
    // a gas doubles differences within some tenths of a second
    gas impacts::gas(0.0), 1.0;
    spring springs::pair(10.0), 2.0;
    stack rest::stack(&[1.0; 10]), 1.0;
}
