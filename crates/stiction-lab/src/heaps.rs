//! Heaps of bodies in space for benchmarks: walls, towers, piles, balls, jacks, and boxes in a turning drum.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::Material;
use stiction::spatial::{Attached, Body, Mass, Path, Shape, Twist, World};

/// Acceleration of gravity [m/s²].
pub(crate) const G: f64 = 9.81;
/// Friction coefficient of all shapes.
const FRICTION: f64 = 0.5;
/// Density of all shapes [kg/m³].
const DENSITY: f64 = 500.0;

/// Shape with the material of all heaps.
fn attached(shape: Shape) -> Attached {
    Attached::new(shape).material(Material { friction: FRICTION, restitution: 0.0, ..Material::default() })
}

fn cuboid(name: String, half_extents: [f64; 3]) -> Body {
    Body::rigid(name, Mass::Density(DENSITY)).with(attached(Shape::Cuboid { half_extents }))
}

/// World with gravity and a ground.
fn grounded() -> World {
    let mut world = World::new(-G * Vector3::z());
    world.add_body(Body::fixed("ground").with(attached(Shape::HalfSpace)));
    world
}

/// Uniformly distributed rotation.
fn random_rotation(random: &mut ChaCha8Rng) -> UnitQuaternion<f64> {
    let mut normal = || random.random_range(-1.0..1.0_f64);
    loop {
        let q = nalgebra::Quaternion::new(normal(), normal(), normal(), normal());
        // points of the ball, not of the cube, are uniform in all directions
        if (0.1..1.0).contains(&q.norm()) {
            return UnitQuaternion::from_quaternion(q);
        }
    }
}

/// Wall: courses of bricks of 1 m × 0.5 m × 0.5 m in a bond, with gaps sideways.
pub(crate) fn wall(courses: u32, bricks: u32) -> World {
    let mut world = grounded();
    for course in 0..courses {
        for brick in 0..bricks {
            let x = f64::from(brick) * 1.01 + 0.4 * f64::from(course % 2);
            let body = cuboid(format!("brick {brick} of course {course}"), [0.5, 0.25, 0.25]);
            world.add_body(body.at(Isometry3::translation(x, 0.0, 0.25 + 0.5 * f64::from(course))));
        }
    }
    world
}

/// Separate towers of `height` cubes of 0.2 m with small velocities.
pub(crate) fn towers(count: u32, height: u32, seed: u64) -> World {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut world = grounded();
    let side = f64::from(count).sqrt().ceil();
    for tower in 0..count {
        let (x, y) = (f64::from(tower) % side, (f64::from(tower) / side).floor());
        for k in 0..height {
            let body = cuboid(format!("cube {k} of tower {tower}"), [0.1; 3]);
            let place = Isometry3::translation(0.5 * x, 0.5 * y, 0.1 + 0.2 * f64::from(k));
            world.add_body(body.at(place).moving(small_velocity(&mut random)));
        }
    }
    world
}

/// Cubes of 0.2 m in layers, turned and shifted slightly so that each rests on several, with small velocities.
pub(crate) fn pile(count: u32, seed: u64) -> World {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut world = grounded();
    for (i, [x, y, layer]) in (0..count).zip(cubic_grid(count)) {
        // every other layer is set off by half a cube
        let offset = 0.15 * (layer % 2.0);
        let aside: [f64; 2] = std::array::from_fn(|_| random.random_range(-0.01..0.01));
        let place =
            Translation3::new(0.3 * x + offset + aside[0], 0.3 * y + offset + aside[1], 0.1 + 0.2 * layer);
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), random.random_range(-0.1..0.1));
        let body = cuboid(format!("cube {i}"), [0.1; 3]);
        world.add_body(body.at(Isometry3::from_parts(place, turn)).moving(small_velocity(&mut random)));
    }
    world
}

/// Cells of a cubic grid for `count` bodies, layer by layer from below.
fn cubic_grid(count: u32) -> impl Iterator<Item = [f64; 3]> {
    let side = f64::from(count).cbrt().ceil();
    (0..count).map(move |i| {
        let (x, rest) = (f64::from(i) % side, (f64::from(i) / side).floor());
        [x, rest % side, (rest / side).floor()]
    })
}

/// Random velocity of up to 0.01 m/s along each axis.
fn small_velocity(random: &mut ChaCha8Rng) -> Twist {
    let mut speed = || random.random_range(-0.01..0.01);
    Twist::new(Vector3::new(speed(), speed(), speed()), Vector3::zeros())
}

/// Balls of 0.1 m that fall into a heap, in layers.
pub(crate) fn balls(count: u32, seed: u64) -> World {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut world = grounded();
    for (i, [x, y, layer]) in (0..count).zip(cubic_grid(count)) {
        let aside: [f64; 2] = std::array::from_fn(|_| random.random_range(-0.01..0.01));
        let place = Isometry3::translation(0.22 * x + aside[0], 0.22 * y + aside[1], 0.12 + 0.22 * layer);
        let body = Body::rigid(format!("ball {i}"), Mass::Density(DENSITY));
        world.add_body(body.at(place).with(attached(Shape::Sphere { radius: 0.1 })));
    }
    world
}

/// Half the length of the arms of a jack [m].
pub(crate) const ARM: f64 = 0.1;

/// Jacks (three crossed boxes each) in random orientations that fall into a heap.
pub(crate) fn jacks(count: u32, seed: u64) -> World {
    const SIDE: u32 = 3;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut world = grounded();
    for i in 0..count {
        let (x, y, layer) = (i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE));
        let mut body = Body::rigid(format!("jack {i}"), Mass::Density(DENSITY));
        for axis in 0..3 {
            let half_extents = std::array::from_fn(|k| if k == axis { ARM } else { 0.2 * ARM });
            body = body.with(attached(Shape::Cuboid { half_extents }));
        }
        // apart in every orientation
        let apart = |k: u32| 2.2 * ARM * f64::from(k);
        let place = Translation3::new(apart(x), apart(y), 1.5 * ARM + apart(layer));
        world.add_body(body.at(Isometry3::from_parts(place, random_rotation(&mut random))));
    }
    world
}

/// Inner radius and half the length of the drum [m].
const DRUM_SIZE: [f64; 2] = [0.5, 0.4];

/// Boxes in a drum of eight sides that turns about a level axis once in eight seconds.
pub(crate) fn drum(count: u32, seed: u64) -> World {
    const DRUM_SIDES: u32 = 8;
    const DRUM_THICKNESS: f64 = 0.05;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut world = World::new(-G * Vector3::z());
    let [radius, half] = DRUM_SIZE;
    let rate = std::f64::consts::TAU / 8.0;
    let path = Path::new(move |t| {
        // the angle within one turn, so that round-off does not grow with time
        let angle = std::f64::consts::TAU * (t / 8.0).fract();
        let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle);
        let pose = Isometry3::from_parts(Translation3::identity(), turn);
        (pose, Twist::new(Vector3::zeros(), rate * Vector3::y()))
    });
    let mut body = Body::kinematic("drum", path);
    let step = std::f64::consts::TAU / f64::from(DRUM_SIDES);
    for side in 0..DRUM_SIDES {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), step * f64::from(side));
        let middle = turn * ((radius + DRUM_THICKNESS) * Vector3::z());
        // neighbours overlap, so that there is no gap at the edges
        let wide = (radius + 2.0 * DRUM_THICKNESS) * (0.5 * step).tan();
        let shape = Shape::Cuboid { half_extents: [wide, half + DRUM_THICKNESS, DRUM_THICKNESS] };
        body = body.with(attached(shape).at(Isometry3::from_parts(middle.into(), turn)));
    }
    for end in [-1.0, 1.0] {
        let shape = Shape::Cuboid { half_extents: [1.2 * radius, DRUM_THICKNESS, 1.2 * radius] };
        body = body.with(attached(shape).at(Isometry3::translation(0.0, end * (half + DRUM_THICKNESS), 0.0)));
    }
    world.add_body(body);
    for i in 0..count {
        let (x, y, z) = (i % 3, i / 3 % 3, i / 9);
        let at = |k: u32| 0.2 * (f64::from(k) - 1.0);
        let size: [f64; 3] = std::array::from_fn(|_| random.random_range(0.03..0.055));
        let pose =
            Isometry3::from_parts(Translation3::new(at(x), at(y), at(z)), random_rotation(&mut random));
        world.add_body(cuboid(format!("box {i}"), size).at(pose));
    }
    world
}

/// Whether a point is in the drum.
pub(crate) fn in_drum(place: &Vector3<f64>) -> bool {
    let [radius, half] = DRUM_SIZE;
    // up to the corners
    place.x.hypot(place.z) < 1.1 * radius && place.y.abs() < half
}
