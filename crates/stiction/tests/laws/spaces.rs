//! Spatial scenes without a planar counterpart.

use crate::common::{G, number, random};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use rand_chacha::ChaCha8Rng;
use stiction::spatial::{Attached, Body, Force, Joint, Mass, Shape, Twist, World};
use stiction::{Groups, Material};

pub(crate) fn earth() -> World {
    World::new(Vector3::new(0.0, 0.0, -G))
}

pub(crate) fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

pub(crate) fn floor(material: Material) -> Body {
    let mut floor = Attached::new(Shape::HalfSpace).material(material);
    floor.groups = Groups { member: 1 | FLOOR_ONLY, collides: u32::MAX };
    Body::fixed("floor").with(floor)
}

/// Group of the floor for shapes that collide with nothing else.
const FLOOR_ONLY: u32 = 4;

/// Shape that collides with the floor alone.
pub(crate) fn on_floor_only(shape: Shape, material: Material) -> Attached {
    Attached::new(shape).material(material).groups(Groups { member: 2, collides: FLOOR_ONLY })
}

/// Shape that collides with the floor and with all shapes that are not [`on_floor_only`].
pub(crate) fn sociable(shape: Shape, material: Material) -> Attached {
    Attached::new(shape).material(material).groups(Groups { member: 1, collides: 1 })
}

pub(crate) fn vector(rng: &mut ChaCha8Rng, size: f64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| number(rng, size))
}

pub(crate) fn turned(rng: &mut ChaCha8Rng) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(vector(rng, 3.0))
}

/// Spinning spheres, capsules, a box and an ellipsoid that fall on the floor.
fn falling() -> World {
    let mut rng = random(5);
    let mut world = earth();
    let material = Material { friction: 0.4, restitution: 0.3, ..Material::default() };
    world.add_body(floor(material));
    let shapes = [
        Shape::Sphere { radius: 0.2 },
        Shape::Capsule { half_length: 0.2, radius: 0.1 },
        Shape::Sphere { radius: 0.15 },
        Shape::Capsule { half_length: 0.1, radius: 0.15 },
    ];
    for (k, shape) in (0_u32..).zip(shapes) {
        let place = at(0.5 * f64::from(k % 2), 0.5 * f64::from(k / 2), 0.4);
        let body = Body::rigid(format!("body {k}"), Mass::Density(500.0)).at(place * turned(&mut rng));
        let velocity = Twist::new(vector(&mut rng, 2.0), vector(&mut rng, 8.0));
        world.add_body(body.moving(velocity).with(sociable(shape, material)));
    }
    for (x, shape) in [
        (4.0, Shape::Cuboid { half_extents: [0.2, 0.15, 0.1] }),
        (6.0, Shape::Ellipsoid { semi_axes: [0.3, 0.2, 0.15] }),
    ] {
        let body = Body::rigid(format!("body at {x}"), Mass::Density(500.0));
        let body = body.at(at(x, 0.0, 0.4) * turned(&mut rng));
        let velocity = Twist::new(vector(&mut rng, 2.0), vector(&mut rng, 5.0));
        world.add_body(body.moving(velocity).with(on_floor_only(shape, material)));
    }
    world
}

/// Closed loop of bars with a hinge, ball joints and a spring.
fn loop_of_bars() -> World {
    let mut world = earth();
    let ground = world.add_body(Body::fixed("ground"));
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.2], [1.2, 0.8, -0.1], [0.0, 1.0, 0.0]].map(Point3::from);
    let mut last = ground;
    for k in 0..3 {
        let middle = nalgebra::center(&corners[k], &corners[k + 1]);
        let bar = Body::rigid(format!("bar {k}"), Mass::given(1.0, [0.1, 0.2, 0.25]));
        let bar = world.add_body(bar.at(Isometry3::from_parts(middle.into(), UnitQuaternion::identity())));
        let joint = if k == 0 {
            Joint::revolute("hinge", &world, last, bar, corners[k], Vector3::new(0.3, 1.0, 0.2)).friction(0.1)
        } else {
            Joint::spherical(format!("ball {k}"), &world, last, bar, corners[k])
        };
        world.add_joint(joint);
        last = bar;
    }
    world.add_joint(Joint::spherical("last", &world, last, ground, corners[3]));
    world.add_force(Force::Spring {
        a: ground,
        point_a: Point3::new(0.5, 0.5, 1.0),
        b: last,
        point_b: Point3::origin(),
        stiffness: 40.0,
        damping: 0.5,
        rest_length: 0.5,
    });
    world
}

/// All scenes, by name.
pub(crate) fn all() -> Vec<(&'static str, World)> {
    vec![("falling bodies", falling()), ("loop of bars", loop_of_bars())]
}
