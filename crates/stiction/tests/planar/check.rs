//! Every mistake is found, and all of them at once.

use crate::common::{at, disk, earth, floor, rectangle};
use nalgebra::{Isometry2, Point2, Vector2};
use stiction::Material;
use stiction::planar::{
    Attached, Body, BodyId, Force, ForceId, Joint, JointKind, Mass, Motor, Path, ShapeId, Twist, World,
    Wrench,
};
use stiction_geometry::planar::Shape;

/// A world with nothing wrong: a ground, a body "good" on it and a point, and what a change makes of it.
fn mistakes(change: impl FnOnce(&mut World, BodyId, BodyId)) -> Vec<String> {
    let mut world = earth();
    let ground = world.add_body(floor());
    let good = world.add_body(Body::rigid("good", Mass::given(1.0, 1.0)).at(at(0.0, 1.0)).with(disk(1.0)));
    world.add_body(Body::point("point", 1.0).at(at(5.0, 5.0)));
    change(&mut world, ground, good);
    match world.check() {
        Ok(()) => Vec::new(),
        Err(mistakes) => mistakes.0.iter().map(ToString::to_string).collect(),
    }
}

/// Asserts that a change makes exactly one mistake, with these words.
fn only(words: &str, change: impl FnOnce(&mut World, BodyId, BodyId)) {
    let found = mistakes(change);
    assert_eq!(found.len(), 1, "{words}: {found:?}");
    assert!(found[0].contains(words), "{words}: {found:?}");
}

const NAN: f64 = f64::NAN;

#[test]
fn nothing_wrong_is_nothing_found() {
    assert!(mistakes(|_, _, _| {}).is_empty());
}

#[test]
fn worlds() {
    only("world, gravity: must be finite", |w, _, _| w.gravity.x = NAN);
    only("world, time: must be finite", |w, _, _| w.t = f64::INFINITY);
    let mut empty = earth();
    empty.add_body(floor());
    assert!(empty.build().unwrap_err().to_string().contains("world: no body moves"));
}

#[test]
fn names() {
    only("body good: 2 have this name", |w, _, _| {
        w.add_body(Body::point("good", 1.0));
    });
    only("joint pin: 2 have this name", |w, a, b| {
        for _ in 0..2 {
            w.add_joint(Joint::revolute("pin", w, a, b, Point2::origin()));
        }
    });
}

#[test]
fn masses() {
    for mass in [0.0, -1.0, NAN, f64::INFINITY] {
        only("body good, mass: ", |w, _, b| w.body_mut(b).unwrap().mass = Mass::given(mass, 1.0));
        only("body new, mass: ", |w, _, _| {
            w.add_body(Body::point("new", mass).at(at(9.0, 9.0)));
        });
    }
    for inertia in [0.0, -1.0, NAN] {
        only("moment of inertia", |w, _, b| w.body_mut(b).unwrap().mass = Mass::given(1.0, inertia));
    }
    only("centre of mass must be finite", |w, _, b| {
        w.body_mut(b).unwrap().mass = Mass::Given { mass: 1.0, centre: Point2::new(NAN, 0.0), inertia: 1.0 };
    });
    only("density = -1", |w, _, b| w.body_mut(b).unwrap().mass = Mass::Density(-1.0));
    only("total mass of 0 kg", |w, _, _| {
        w.add_body(Body::rigid("new", Mass::Density(1.0)).at(at(9.0, 9.0)).with(disk(0.0)));
    });
    only("total mass of 0 kg", |w, _, _| {
        w.add_body(Body::rigid("new", Mass::Density(1.0)).at(at(9.0, 9.0)).with(disk(1.0).sensor()));
    });
    only("a half_plane has no finite mass", |w, _, _| {
        let mut wall = Body::slider("wall", 1.0, Vector2::x()).at(at(0.0, -99.0));
        wall.mass = Mass::Density(1.0);
        let wall = w.add_body(wall.with(Attached::new(Shape::HalfPlane)));
        let floor = w.find_body("floor").unwrap();
        w.exclude(wall, floor);
    });
}

#[test]
fn poses_and_velocities() {
    only("body good, pose: must be finite", |w, _, b| {
        w.body_mut(b).unwrap().pose.translation.y = NAN;
    });
    only("body good, velocity: must be finite", |w, _, b| {
        w.body_mut(b).unwrap().velocity.angular = NAN;
    });
    let turning = Twist::new(Vector2::zeros(), 1.0);
    only("a point does not turn at 1 rad/s", |w, _, _| {
        w.add_body(Body::point("new", 1.0).moving(turning));
    });
    only("body floor, velocity: a fixed body has none", |w, a, _| w.body_mut(a).unwrap().velocity = turning);
    only("a slider moves along its axis only", |w, _, _| {
        w.add_body(Body::slider("new", 1.0, Vector2::x()).moving(Twist::new(Vector2::y(), 0.0)));
    });
    only("body new, axis: must be a unit vector, not of length 2", |w, _, _| {
        w.add_body(Body::slider("new", 1.0, Vector2::new(2.0, 0.0)));
    });
    only("body new, path: the pose at t = 0 s must be finite", |w, _, _| {
        w.add_body(Body::kinematic("new", Path::new(|_| (at(NAN, 0.0), Twist::default()))));
    });
}

#[test]
fn shapes() {
    let put = |shape: Attached| {
        move |w: &mut World, _, _| {
            w.add_body(Body::fixed("new").at(at(0.0, 90.0)).with(shape));
        }
    };
    only("body new, shape 0: disk: radius = -1", put(disk(-1.0)));
    only("body new, shape 0, pose: must be finite", put(disk(1.0).at(at(NAN, 0.0))));
    only("body new, shape 0, surface velocity: must be finite", put(disk(1.0).surface_velocity(NAN)));
    only(
        "body new, shape 0, friction: μ = -0.1",
        put(disk(1.0).material(Material { friction: -0.1, restitution: 0.0, ..Material::default() })),
    );
    for restitution in [-0.1, 1.1, NAN] {
        only(
            "body new, shape 0, restitution: e = ",
            put(disk(1.0).material(Material { friction: 0.0, restitution, ..Material::default() })),
        );
    }
    only("a half_plane cannot turn freely", |w, a, b| {
        w.add_shape(b, Attached::new(Shape::HalfPlane).at(at(0.0, -9.0)));
        w.exclude(a, b);
        w.bodies().count();
    });
    only("must be added and removed with add_shape and remove_shape", |w, _, b| {
        w.body_mut(b).unwrap().shapes.push(disk(0.1).at(at(0.0, 2.0)));
    });
}

#[test]
fn pairs() {
    only("bodies floor and new: overlap by 0.5 m at the start", |w, _, _| {
        w.add_body(Body::point("new", 1.0).at(at(9.0, 0.5)).with(disk(1.0)));
    });
    // ten digits of a pose are good enough, and overlap can be allowed
    assert!(mistakes(|w, _, b| w.body_mut(b).unwrap().pose = at(0.0, 1.0 - 5e-10)).is_empty());
    assert!(
        mistakes(|w, _, b| {
            w.allow_overlap = true;
            w.body_mut(b).unwrap().pose = at(0.0, 0.5);
        })
        .is_empty()
    );
    only("bodies floor and new: no gap function yet between half_plane and half_plane", |w, _, _| {
        // a ceiling far above
        let pose = Isometry2::new(Vector2::new(0.0, 90.0), std::f64::consts::PI);
        w.add_body(Body::point("new", 1.0).at(pose).with(Attached::new(Shape::HalfPlane)));
    });
    only("material of good and shape 77: there is no shape 77", |w, _, b| {
        let shape = w.shapes(b).next().unwrap().0;
        w.pair_material(ShapeId(77), shape, Material::default());
    });
    only("material of floor and good, friction: μ = -1", |w, a, b| {
        let shape = |w: &World, id| w.shapes(id).next().unwrap().0;
        let (a, b) = (shape(w, a), shape(w, b));
        w.pair_material(a, b, Material { friction: -1.0, restitution: 0.0, ..Material::default() });
    });
}

#[test]
fn joints() {
    let frame = Isometry2::identity();
    let join = |kind: JointKind, change: fn(Joint) -> Joint| {
        move |w: &mut World, a: BodyId, b: BodyId| {
            w.add_joint(change(Joint::new("pin", kind, (a, frame), (b, frame))));
        }
    };
    only("joint pin, bodies: good on both sides", |w, _, b| {
        w.add_joint(Joint::new("pin", JointKind::Fixed, (b, frame), (b, frame)));
    });
    only("joint pin, bodies: there is no body 55", |w, _, b| {
        w.add_joint(Joint::new("pin", JointKind::Fixed, (b, frame), (BodyId(55), frame)));
    });
    only("joint pin, bodies: neither floor nor other moves", |w, a, _| {
        let other = w.add_body(Body::fixed("other"));
        w.add_joint(Joint::new("pin", JointKind::Fixed, (a, frame), (other, frame)));
    });
    only("joint pin, frame b: must be finite", |w, a, b| {
        w.add_joint(Joint::new("pin", JointKind::Fixed, (a, frame), (b, at(0.0, NAN))));
    });
    for length in [0.0, -1.0, NAN] {
        only("joint pin, distance: ", join(JointKind::Distance(length), |j| j));
    }
    only(
        "joint pin, limits: 1 to -1 are in the wrong order",
        join(JointKind::Prismatic, |j| j.limits(1.0, -1.0)),
    );
    only("joint pin, limits: NaN to 1", join(JointKind::Prismatic, |j| j.limits(NAN, 1.0)));
    // an angle counts turns, but not that of a kinematic body
    only("must lie within −π and π: on a kinematic body the angle counts no turns", |w, _, b| {
        let path = Path::new(|_| (at(0.0, 0.0), Twist::default()));
        let wheel = w.add_body(Body::kinematic("wheel", path));
        let pin = Joint::new("pin", JointKind::Revolute, (wheel, frame), (b, frame));
        w.add_joint(pin.limits(-4.0, 1.0));
    });
    only("the greatest length 0 m must be > 0", join(JointKind::Distance(1.0), |j| j.limits(-1.0, 0.0)));
    only("joint pin, friction: -1", join(JointKind::Revolute, |j| j.friction(-1.0)));
    only("joint pin, compliance: NaN", join(JointKind::Revolute, |j| j.compliance(NAN)));
    let motor = |j: Joint| j.motor(Motor::Velocity { speed: NAN, force: 1.0 });
    only("joint pin, motor: speed = NaN", join(JointKind::Revolute, motor));
    let motor = |j: Joint| j.motor(Motor::Velocity { speed: 1.0, force: -1.0 });
    only("joint pin, motor: force = -1", join(JointKind::Revolute, motor));
    let motor = |j: Joint| j.motor(Motor::Position { target: 0.0, gain: -2.0, force: 1.0 });
    only("joint pin, motor: gain = -2", join(JointKind::Revolute, motor));
    only(
        "joint pin, limits: a fixed joint has no coordinate",
        join(JointKind::Fixed, |j| j.limits(0.0, 1.0)),
    );
    only("joint pin, friction: a fixed joint has no coordinate", join(JointKind::Fixed, |j| j.friction(1.0)));
    only("joint pin, distance: it is held", join(JointKind::Distance(1.0), |j| j.friction(1.0)));
}

#[test]
fn forces() {
    let spring = |stiffness: f64, damping: f64, rest_length: f64| {
        move |w: &mut World, a: BodyId, b: BodyId| {
            let origin = Point2::origin();
            w.add_force(Force::Spring {
                a,
                point_a: origin,
                b,
                point_b: origin,
                stiffness,
                damping,
                rest_length,
            });
        }
    };
    only("force 0 (spring), stiffness: -1", spring(-1.0, 0.0, 0.0));
    only("force 0 (spring), damping: NaN", spring(0.0, NAN, 0.0));
    only("force 0 (spring), rest length: -1", spring(0.0, 0.0, -1.0));
    only("force 0 (spring), bodies: there is no body 55", |w, a, _| spring(1.0, 0.0, 0.0)(w, a, BodyId(55)));
    only("force 0 (spring), bodies: good on both sides", |w, _, b| spring(1.0, 0.0, 0.0)(w, b, b));
    only("force 0 (spring), points: must be finite", |w, a, b| {
        spring(1.0, 0.0, 0.0)(w, a, b);
        if let Some(Force::Spring { point_a, .. }) = w.force_mut(ForceId(0)) {
            point_a.x = NAN;
        }
    });
    let rail = |axis: Vector2<f64>, origin: f64, stiffness: f64| {
        move |w: &mut World, _: BodyId, body: BodyId| {
            let point = Point2::origin();
            w.add_force(Force::Rail { body, point, axis, origin, stiffness, damping: 0.0 });
        }
    };
    only("force 0 (rail), axis: must be a unit vector, not of length 0", rail(Vector2::zeros(), 0.0, 1.0));
    only("force 0 (rail), point: point and origin", rail(Vector2::x(), NAN, 1.0));
    only("force 0 (rail), stiffness: -2", rail(Vector2::x(), 0.0, -2.0));
    only("force 0 (constant), body: floor does not move by itself", |w, a, _| {
        w.add_force(Force::constant(a, Vector2::x()));
    });
    only("force 0 (constant), body: there is no body 9", |w, _, _| {
        w.add_force(Force::constant(BodyId(9), Vector2::x()));
    });
    only("force 0 (constant), force: must be finite", |w, _, b| {
        w.add_force(Force::constant(b, Vector2::new(NAN, 0.0)));
    });
    only("force 0 (timed), torque: must be finite at t = 0 s", |w, _, b| {
        w.add_force(Force::timed(b, |_| Wrench { force: Vector2::zeros(), torque: NAN }));
    });
}

#[test]
fn all_at_once_with_names() {
    let found = mistakes(|w, a, b| {
        w.gravity.y = NAN;
        w.body_mut(b).unwrap().mass = Mass::given(0.0, -1.0);
        w.add_body(Body::point("good", 1.0).at(at(20.0, 0.1)).with(rectangle(1.0, 1.0)));
        w.add_joint(Joint::revolute("pin", w, a, a, Point2::origin()).friction(-1.0));
        w.add_force(Force::constant(BodyId(9), Vector2::x()));
    });
    let words = [
        "world, gravity: must be finite",
        "body good: 2 have this name",
        "body good, mass: 0 kg",
        "body good, inertia: a moment of inertia of -1 kg m²",
        "joint pin, bodies: floor on both sides",
        "joint pin, friction: -1",
        "force 0 (constant), body: there is no body 9",
        "bodies floor and good: overlap by 0.9 m",
    ];
    assert_eq!(found.len(), words.len(), "{found:#?}");
    for word in words {
        assert!(found.iter().any(|f| f.contains(word)), "{word}: {found:#?}");
    }
}
