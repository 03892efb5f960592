//! Check of spatial worlds: every mistake is found, and all of them at once.

use crate::common::{ball, floor, gravity};
use nalgebra::{Isometry3, Matrix3, Point3, UnitQuaternion, Vector3};
use stiction::spatial::{
    Attached, Body, BodyId, Facets, Force, Joint, JointKind, Mass, Motor, Path, Shape, ShapeId, Twist, World,
    Wrench,
};
use stiction::{JointAxis, Material};

/// The mistakes of a world with a floor and a ball, changed.
fn mistakes(change: impl FnOnce(&mut World, BodyId, BodyId)) -> Vec<String> {
    let mut world = World::new(gravity());
    let ground = floor(&mut world, 0.5);
    let body = world.add_body(ball("ball", 0.0));
    change(&mut world, ground, body);
    match world.check() {
        Ok(()) => Vec::new(),
        Err(found) => found.0.iter().map(ToString::to_string).collect(),
    }
}

/// Exactly one mistake, and its words.
fn one(words: &[&str], change: impl FnOnce(&mut World, BodyId, BodyId)) {
    let found = mistakes(change);
    assert_eq!(found.len(), 1, "{found:?} for {words:?}");
    assert!(words.iter().all(|word| found[0].contains(word)), "{} has not {words:?}", found[0]);
}

#[test]
fn a_world_without_mistakes_is_built() {
    assert_eq!(mistakes(|_, _, _| {}), Vec::<String>::new());
}

#[test]
fn mistakes_of_worlds_and_bodies_are_named() {
    let body = |w: &mut World, id: BodyId, change: fn(&mut Body)| change(w.body_mut(id).unwrap());
    one(&["world, gravity"], |w, _, _| w.gravity.x = f64::NAN);
    one(&["world, time"], |w, _, _| w.t = f64::INFINITY);
    one(&["facets", "5 directions"], |w, _, _| w.facets = Some(Facets { directions: 5, aligned: true }));
    one(&["body ball", "2 have this name"], |w, _, _| {
        w.add_body(ball("ball", 1.0));
    });
    let given = |mass: f64, inertia: [f64; 3]| {
        move |w: &mut World, _: BodyId, b: BodyId| {
            w.body_mut(b).unwrap().mass = Mass::given(mass, inertia);
        }
    };
    one(&["body ball, mass", "0 kg"], given(0.0, [1.0; 3]));
    one(&["body ball, mass", "-1 kg"], given(-1.0, [1.0; 3]));
    one(&["body ball, mass", "NaN"], given(f64::NAN, [1.0; 3]));
    one(&["body ball, inertia", "least principal moment"], given(1.0, [1.0, -0.1, 1.0]));
    one(&["body ball, inertia", "least principal moment"], given(1.0, [1.0, 0.0, 1.0]));
    one(&["body ball, inertia", "finite"], given(1.0, [1.0, f64::NAN, 1.0]));
    one(&["body ball, inertia", "never less than the third"], given(1.0, [1.0, 1.0, 2.1]));
    one(&["body ball, inertia", "symmetric"], |w, _, b| {
        let mut inertia = Matrix3::identity();
        inertia[(0, 1)] = 0.1;
        w.body_mut(b).unwrap().mass = Mass::Given { mass: 1.0, centre: Point3::origin(), inertia };
    });
    // an indefinite tensor with a positive diagonal
    one(&["body ball, inertia", "least principal moment"], |w, _, b| {
        let mut inertia = Matrix3::identity();
        (inertia[(0, 1)], inertia[(1, 0)]) = (1.5, 1.5);
        w.body_mut(b).unwrap().mass = Mass::Given { mass: 1.0, centre: Point3::origin(), inertia };
    });
    one(&["body ball, mass", "centre"], |w, _, b| {
        let centre = Point3::new(0.0, f64::NAN, 0.0);
        w.body_mut(b).unwrap().mass = Mass::Given { mass: 1.0, centre, inertia: Matrix3::identity() };
    });
    one(&["body ball, mass", "density = -1"], |w, _, b| w.body_mut(b).unwrap().mass = Mass::Density(-1.0));
    one(&["body ghost, mass", "total mass of 0"], |w, _, _| {
        w.add_body(Body::rigid("ghost", Mass::Density(1.0)));
    });
    one(&["body ball, pose", "finite"], |w, _, b| body(w, b, |b| b.pose.translation.x = f64::NAN));
    one(&["body ball, pose", "norm 2"], |w, _, b| {
        body(w, b, |b| {
            b.pose.rotation = UnitQuaternion::new_unchecked(nalgebra::Quaternion::new(2.0, 0.0, 0.0, 0.0));
        });
    });
    one(&["body ball, velocity"], |w, _, b| body(w, b, |b| b.velocity.angular.z = f64::INFINITY));
    one(&["body ball, shapes", "add_shape"], |w, _, b| {
        body(w, b, |b| b.shapes.push(Attached::new(Shape::Sphere { radius: 0.01 })));
    });
    one(&["body slider, axis", "not 0"], |w, _, _| {
        w.add_body(Body::slider("slider", 1.0, Vector3::zeros()));
    });
    one(&["body hand, path", "the pose at t = 0 s"], |w, _, _| {
        let path = Path::new(|_| (Isometry3::translation(f64::NAN, 0.0, 0.0), Twist::default()));
        w.add_body(Body::kinematic("hand", path));
    });
    one(&["body hand, path", "the velocity at t = 0 s"], |w, _, _| {
        let still = Twist::new(Vector3::x() * f64::NAN, Vector3::zeros());
        w.add_body(Body::kinematic("hand", Path::new(move |_| (Isometry3::identity(), still))));
    });
}

#[test]
fn mistakes_of_shapes_and_pairs_are_named() {
    let shape = |w: &mut World, id: BodyId, change: &dyn Fn(&mut Attached)| {
        change(&mut w.body_mut(id).unwrap().shapes[0]);
    };
    one(&["ball, shape 0, friction", "μ = -0.1"], |w, _, b| shape(w, b, &|s| s.material.friction = -0.1));
    one(&["ball, shape 0, restitution", "e = 1.1"], |w, _, b| shape(w, b, &|s| s.material.restitution = 1.1));
    one(&["ball, shape 0, restitution", "e = NaN"], |w, _, b| {
        shape(w, b, &|s| s.material.restitution = f64::NAN);
    });
    one(&["ball, shape 0, surface velocity"], |w, _, b| shape(w, b, &|s| s.surface_velocity.x = f64::NAN));
    one(&["ball, shape 0, grain", "direction"], |w, _, b| {
        shape(w, b, &|s| *s = s.clone().grain(Vector3::zeros(), 0.5));
    });
    one(&["ball, shape 0, grain", "ratio 0"], |w, _, b| {
        shape(w, b, &|s| *s = s.clone().grain(Vector3::x(), 0.0));
    });
    one(&["ball, shape 0, pose"], |w, _, b| {
        w.body_mut(b).unwrap().mass = Mass::given(1.0, [1.0; 3]);
        shape(w, b, &|s| s.pose.translation.x = f64::NAN);
    });
    one(&["ball, shape 0", "radius = -1"], |w, _, b| {
        w.body_mut(b).unwrap().mass = Mass::given(1.0, [1.0; 3]);
        shape(w, b, &|s| s.shape = Shape::Sphere { radius: -1.0 });
    });
    one(&["material of floor and ball, friction"], |w, _, _| {
        w.pair_material(
            ShapeId(1),
            ShapeId(0),
            Material { friction: f64::NAN, restitution: 0.0, ..Material::default() },
        );
    });
    one(&["material of floor and shape 7", "no shape 7"], |w, _, _| {
        w.pair_material(ShapeId(0), ShapeId(7), Material::default());
    });
    one(&["exclusion", "no body 9"], |w, a, _| w.exclude(a, BodyId(9)));
    one(&["bodies floor and ball", "overlap by"], |w, _, b| {
        w.body_mut(b).unwrap().pose.translation.z = 0.09;
    });
    // a ceiling far above
    let ceiling = || {
        let pose = Isometry3::new(90.0 * Vector3::z(), std::f64::consts::PI * Vector3::x());
        Body::point("ceiling", 1.0).with(Attached::new(Shape::HalfSpace)).at(pose)
    };
    one(&["bodies floor and ceiling", "no gap function yet between half_space and half_space"], |w, _, _| {
        w.add_body(ceiling());
    });
    // overlap by round-off, or allowed, is no mistake; nor are shapes that cannot meet
    assert!(mistakes(|w, _, b| w.body_mut(b).unwrap().pose.translation.z -= 1e-12).is_empty());
    let allowed = |w: &mut World, _: BodyId, b: BodyId| {
        w.allow_overlap = true;
        w.body_mut(b).unwrap().pose.translation.z = 0.09;
    };
    assert!(mistakes(allowed).is_empty());
    let excluded = |w: &mut World, a: BodyId, _: BodyId| {
        let ceiling = w.add_body(ceiling());
        w.exclude(ceiling, a);
    };
    assert!(mistakes(excluded).is_empty());
}

#[test]
fn mistakes_of_joints_are_named() {
    let join = |w: &mut World, a: BodyId, b: BodyId, kind: JointKind, change: &dyn Fn(&mut Joint)| {
        let mut joint = Joint::new("pin", kind, (a, Isometry3::identity()), (b, Isometry3::identity()));
        change(&mut joint);
        w.add_joint(joint);
    };
    let revolute = JointKind::Revolute;
    one(&["joint pin, bodies", "ball on both sides"], |w, _, b| join(w, b, b, revolute, &|_| {}));
    one(&["joint pin", "no body 8"], |w, _, b| join(w, b, BodyId(8), revolute, &|_| {}));
    one(&["joint pin", "neither floor nor wall moves"], |w, a, _| {
        let wall = w.add_body(Body::fixed("wall"));
        join(w, a, wall, revolute, &|_| {});
    });
    one(&["joint pin", "2 have this name"], |w, a, b| {
        join(w, a, b, revolute, &|_| {});
        join(w, a, b, revolute, &|_| {});
    });
    one(&["joint pin, frame a"], |w, a, b| join(w, a, b, revolute, &|j| j.frame_a.translation.x = f64::NAN));
    one(&["joint pin, limits", "wrong order"], |w, a, b| {
        join(w, a, b, revolute, &|j| j.limits = Some([1.0, 0.5]));
    });
    one(&["joint pin, limits", "wrong order"], |w, a, b| {
        join(w, a, b, revolute, &|j| j.limits = Some([f64::NAN, 0.5]));
    });
    one(&["joint pin, limits", "fixed", "no coordinate"], |w, a, b| {
        join(w, a, b, JointKind::Fixed, &|j| j.limits = Some([0.0, 1.0]));
    });
    one(&["joint pin, coordinates", "revolute joint has 1", "not 2"], |w, a, b| {
        join(w, a, b, revolute, &|j| j.further = vec![JointAxis::default()]);
    });
    one(&["joint pin, friction", "-2"], |w, a, b| {
        let own = JointAxis { friction: -2.0, ..JointAxis::default() };
        join(w, a, b, JointKind::Planar, &|j| j.further = vec![JointAxis::default(), own.clone()]);
    });
    one(&["joint pin, pitch", "0 m per turn"], |w, a, b| join(w, a, b, JointKind::Screw(0.0), &|_| {}));
    one(&["joint pin, motor", "fixed", "no coordinate"], |w, a, b| {
        join(w, a, b, JointKind::Fixed, &|j| j.motor = Some(Motor::Velocity { speed: 1.0, force: 1.0 }));
    });
    one(&["joint pin, motor", "force = -1"], |w, a, b| {
        join(w, a, b, revolute, &|j| j.motor = Some(Motor::Velocity { speed: 1.0, force: -1.0 }));
    });
    one(&["joint pin, motor", "target = NaN"], |w, a, b| {
        let motor = Motor::Position { target: f64::NAN, gain: 1.0, force: 1.0 };
        join(w, a, b, revolute, &|j| j.motor = Some(motor));
    });
    one(&["joint pin, friction", "-2"], |w, a, b| join(w, a, b, revolute, &|j| j.friction = -2.0));
    one(&["joint pin, compliance"], |w, a, b| join(w, a, b, revolute, &|j| j.compliance = f64::NAN));
    one(&["joint pin, distance", "0 m"], |w, a, b| join(w, a, b, JointKind::Distance(0.0), &|_| {}));
    one(&["joint pin, distance", "held"], |w, a, b| {
        join(w, a, b, JointKind::Distance(1.0), &|j| j.friction = 1.0);
    });
    // an axis without direction makes frames that are not finite
    let found = mistakes(|w, a, b| {
        w.add_joint(Joint::revolute("pin", w, a, b, Point3::origin(), Vector3::zeros()));
    });
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn mistakes_of_forces_are_named() {
    one(&["force 0 (constant)", "no body 5"], |w, _, _| {
        w.add_force(Force::constant(BodyId(5), Vector3::x()));
    });
    one(&["force 0 (constant), force"], |w, _, b| {
        w.add_force(Force::constant(b, Vector3::x() * f64::NAN));
    });
    one(&["force 0 (constant), torque"], |w, _, body| {
        let wrench = Wrench { force: Vector3::x(), torque: Vector3::x() * f64::INFINITY };
        w.add_force(Force::Constant { body, point: None, wrench });
    });
    one(&["force 0 (timed), force"], |w, _, b| {
        w.add_force(Force::timed(b, |_| Wrench { force: Vector3::x() * f64::NAN, torque: Vector3::zeros() }));
    });
    let spring = |a: BodyId, b: BodyId, [stiffness, damping, rest_length]: [f64; 3]| Force::Spring {
        a,
        point_a: Point3::origin(),
        b,
        point_b: Point3::origin(),
        stiffness,
        damping,
        rest_length,
    };
    for (field, numbers) in [
        ("stiffness", [-1.0, 0.0, 0.0]),
        ("damping", [0.0, -1.0, 0.0]),
        ("rest length", [0.0, 0.0, f64::NAN]),
    ] {
        one(&["force 0 (spring)", field], |w, a, b| {
            w.add_force(spring(a, b, numbers));
        });
    }
    one(&["force 0 (spring), bodies"], |w, _, b| {
        w.add_force(spring(b, b, [1.0, 1.0, 1.0]));
    });
    one(&["force 0 (rail), axis"], |w, _, body| {
        let (point, axis, stiffness, damping) = (Point3::origin(), Vector3::zeros(), 1.0, 1.0);
        w.add_force(Force::Rail { body, point, axis, origin: 0.0, stiffness, damping });
    });
}

#[test]
fn several_mistakes_come_at_once() {
    let found = mistakes(|w, a, b| {
        w.facets = Some(Facets { directions: 3, aligned: true });
        w.body_mut(b).unwrap().mass = Mass::given(-1.0, [1.0, 1.0, 3.0]);
        w.body_mut(b).unwrap().pose.translation.z = 0.05;
        w.body_mut(a).unwrap().shapes[0].material.friction = -1.0;
        w.add_joint(Joint::spherical("pin", w, b, b, Point3::origin()));
        w.add_force(Force::constant(BodyId(99), Vector3::x()));
    });
    assert_eq!(found.len(), 7, "{found:#?}");
    let mut world = World::new(gravity());
    world.add_body(Body::point("a", 0.0));
    world.add_body(Body::point("a", 0.0));
    let text = world.build().unwrap_err().to_string();
    assert!(text.starts_with("3 mistakes\n"), "{text}");
}
