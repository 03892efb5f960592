//! Embedding of planar worlds in space: (x, y) becomes (x, 0, y), and a rotation by θ one about −y.

use nalgebra::{
    Isometry2, Isometry3, Matrix3, Point2, Point3, Translation3, UnitQuaternion, Vector2, Vector3,
};
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;
use stiction::{planar, spatial};

/// Embedded direction.
fn vector(v: &Vector2<f64>) -> Vector3<f64> {
    Vector3::new(v.x, 0.0, v.y)
}

fn point(p: &Point2<f64>) -> Point3<f64> {
    Point3::new(p.x, 0.0, p.y)
}

pub(crate) fn turn(angle: f64) -> UnitQuaternion<f64> {
    UnitQuaternion::from_axis_angle(&-Vector3::y_axis(), angle)
}

pub(crate) fn pose(pose: &Isometry2<f64>) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::from(vector(&pose.translation.vector)), turn(pose.rotation.angle()))
}

fn twist(twist: &planar::Twist) -> spatial::Twist {
    spatial::Twist::new(vector(&twist.linear), -twist.angular * Vector3::y())
}

fn wrench(wrench: &planar::Wrench) -> spatial::Wrench {
    spatial::Wrench { force: vector(&wrench.force), torque: -wrench.torque * Vector3::y() }
}

/// Rotation of local z to local x.
fn along() -> Isometry3<f64> {
    Isometry3::rotation(FRAC_PI_2 * Vector3::y())
}

/// Rotation of local z to −y.
fn about() -> Isometry3<f64> {
    Isometry3::rotation(FRAC_PI_2 * Vector3::x())
}

/// Embedded shape, and its pose in the frame of the planar one. Its third dimension is as large as the others, so that the
/// size of the body, to which tolerances are relative, does not change.
fn shape(shape: &planar::Shape) -> (spatial::Shape, Isometry3<f64>) {
    let here = Isometry3::identity();
    match shape {
        planar::Shape::Disk { radius } => (spatial::Shape::Sphere { radius: *radius }, here),
        planar::Shape::Ellipse { semi_axes: [a, b] } => {
            (spatial::Shape::Ellipsoid { semi_axes: [*a, 0.5 * (a + b), *b] }, here)
        }
        planar::Shape::Capsule { half_length, radius } => {
            (spatial::Shape::Capsule { half_length: *half_length, radius: *radius }, along())
        }
        planar::Shape::Polygon(polygon) => {
            // centred rectangles become boxes
            let corner = polygon.vertices()[2];
            assert!(polygon.vertices().len() == 4 && polygon.vertices()[0] == -corner);
            (spatial::Shape::Cuboid { half_extents: [corner.x, 0.3 * corner.y, corner.y] }, here)
        }
        planar::Shape::Rounded { core, radius } => {
            let (core, within) = self::shape(core);
            (spatial::Shape::Rounded { core: Box::new(core), radius: *radius }, within)
        }
        planar::Shape::HalfPlane => (spatial::Shape::HalfSpace, here),
    }
}

fn attached(on: &planar::Attached) -> spatial::Attached {
    let (shape, within) = shape(&on.shape);
    // a surface velocity around a bounded shape has no spatial counterpart
    assert!(on.surface_velocity == 0.0 || on.shape == planar::Shape::HalfPlane);
    spatial::Attached {
        pose: pose(&on.pose) * within,
        material: on.material,
        groups: on.groups,
        sensor: on.sensor,
        surface_velocity: on.surface_velocity * Vector3::x(),
        ..spatial::Attached::new(shape)
    }
}

fn body(body: &planar::Body) -> spatial::Body {
    let motion = match &body.motion {
        planar::Motion::Rigid => spatial::Motion::Rigid,
        planar::Motion::Point => spatial::Motion::Point,
        planar::Motion::Slider(axis) => spatial::Motion::Slider(vector(axis)),
        planar::Motion::Fixed => spatial::Motion::Fixed,
        planar::Motion::Kinematic(path) => {
            let path = path.clone();
            spatial::Motion::Kinematic(spatial::Path::new(move |t| {
                let (at, velocity) = path.0(t);
                (pose(&at), twist(&velocity))
            }))
        }
    };
    let planar::Mass::Given { mass, centre, inertia: i } = body.mass else { panic!("masses must be given") };
    // inertia across the plane is arbitrary
    let inertia = i * Matrix3::new(0.7, 0.0, 0.1, 0.0, 1.0, 0.0, 0.1, 0.0, 0.8);
    spatial::Body {
        name: body.name.clone(),
        motion,
        mass: spatial::Mass::Given { mass, centre: point(&centre), inertia },
        pose: pose(&body.pose),
        velocity: twist(&body.velocity),
        shapes: body.shapes.iter().map(attached).collect(),
    }
}

fn joint(joint: &planar::Joint) -> spatial::Joint {
    let (kind, within) = match joint.kind {
        planar::JointKind::Revolute => (spatial::JointKind::Revolute, about()),
        planar::JointKind::Prismatic => (spatial::JointKind::Prismatic, along()),
        planar::JointKind::Fixed => (spatial::JointKind::Fixed, Isometry3::identity()),
        planar::JointKind::Distance(length) => (spatial::JointKind::Distance(length), Isometry3::identity()),
    };
    let on = |id: planar::BodyId, frame: &Isometry2<f64>| (id, pose(frame) * within);
    spatial::Joint {
        limits: joint.limits,
        motor: joint.motor,
        friction: joint.friction,
        compliance: joint.compliance,
        collide: joint.collide,
        ..spatial::Joint::new(&joint.name, kind, on(joint.a, &joint.frame_a), on(joint.b, &joint.frame_b))
    }
}

fn force(force: &planar::Force) -> spatial::Force {
    let id = |id: planar::BodyId| spatial::BodyId(id.0);
    match force {
        planar::Force::Constant { body, point: at, wrench: w } => {
            spatial::Force::Constant { body: id(*body), point: at.as_ref().map(point), wrench: wrench(w) }
        }
        planar::Force::Timed { body, point: at, load } => {
            let load = load.clone();
            let load = Arc::new(move |t: f64| wrench(&load(t)));
            spatial::Force::Timed { body: id(*body), point: at.as_ref().map(point), load }
        }
        planar::Force::Commanded { body, point: at, wrench: w, input, value } => spatial::Force::Commanded {
            body: id(*body),
            point: at.as_ref().map(point),
            wrench: wrench(w),
            input: input.clone(),
            value: *value,
        },
        planar::Force::Spring { a, point_a, b, point_b, stiffness, damping, rest_length } => {
            spatial::Force::Spring {
                a: id(*a),
                point_a: point(point_a),
                b: id(*b),
                point_b: point(point_b),
                stiffness: *stiffness,
                damping: *damping,
                rest_length: *rest_length,
            }
        }
        planar::Force::Rail { body, point: at, axis, origin, stiffness, damping } => spatial::Force::Rail {
            body: id(*body),
            point: point(at),
            axis: vector(axis),
            origin: *origin,
            stiffness: *stiffness,
            damping: *damping,
        },
        planar::Force::Custom { .. } => panic!("a force of the state has no twin"),
    }
}

/// Embedded world. Bodies, shapes, joints and forces keep their numbers.
pub(crate) fn laid(plane: &planar::World, facets: Option<spatial::Facets>) -> spatial::World {
    let mut space = spatial::World::new(vector(&plane.gravity));
    space.t = plane.t;
    space.facets = facets;
    space.friction_point = plane.friction_point;
    space.allow_overlap = plane.allow_overlap;
    for (id, own) in plane.bodies() {
        assert_eq!(space.add_body(body(own)).0, id.0);
    }
    for (id, own) in plane.joints() {
        assert_eq!(space.add_joint(joint(own)).0, id.0);
    }
    for own in (0..).map_while(|k| plane.force(planar::ForceId(k))) {
        space.add_force(force(own));
    }
    space
}
