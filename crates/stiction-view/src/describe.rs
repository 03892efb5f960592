//! A scene as it is drawn: bodies, shapes, joints and springs by their names and places.

use crate::stand_in;
use nalgebra::{Isometry2, Isometry3};
use serde::Serialize;
use stiction::{planar, spatial};
use stiction_geometry as geometry;
use stiction_scene::Model;

/// A scene as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    /// Frames carry the number of the description they belong to: bodies may come while a scene runs.
    pub revision: u32,
    /// What the scene is called.
    pub name: String,
    /// 2 in the plane, 3 in space.
    pub dimension: usize,
    /// Gravity [m/s²].
    pub gravity: Vec<f64>,
    /// The bodies.
    pub bodies: Vec<Body>,
    /// The joints.
    pub joints: Vec<Joint>,
    /// The springs between two bodies.
    pub springs: Vec<Spring>,
}

/// A body as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// Its number in the world.
    #[serde(skip)]
    pub number: u32,
    /// How it may move, as in a scene file.
    pub motion: &'static str,
    /// Its pose at the start, see [`Pose`].
    pub pose: Pose,
    /// Its shapes.
    pub shapes: Vec<Shape>,
}

/// x, y and the angle in the plane; x, y, z and the quaternion i, j, k, w in space [m; rad].
pub type Pose = Vec<f64>;

/// A shape as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shape {
    /// Its pose in the body frame.
    pub pose: Pose,
    /// It touches nothing.
    pub sensor: bool,
    /// What it is.
    #[serde(flatten)]
    pub form: Form,
}

/// What a shape is, in the words of a scene file [m].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are those of the shapes of the geometry library")]
pub enum Form {
    Disk { radius: f64 },
    Ellipse { semi_axes: [f64; 2] },
    Polygon { vertices: Vec<[f64; 2]> },
    HalfPlane,
    Capsule { half_length: f64, radius: f64 },
    Sphere { radius: f64 },
    Ellipsoid { semi_axes: [f64; 3] },
    Box { half_extents: [f64; 3] },
    Polyhedron { vertices: Vec<[f64; 3]>, facets: Vec<Vec<u32>> },
    HalfSpace,
}

/// A joint as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Joint {
    /// Its name.
    pub name: String,
    /// What it holds, as in a scene file.
    pub kind: &'static str,
    /// Its bodies, by their places in the description.
    pub bodies: [usize; 2],
    /// Its frames in them.
    pub frames: [Pose; 2],
}

/// A spring as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spring {
    /// Its bodies, by their places in the description.
    pub bodies: [usize; 2],
    /// Its ends in them [m].
    pub points: [Vec<f64>; 2],
}

fn flat(pose: &Isometry2<f64>) -> Pose {
    vec![pose.translation.x, pose.translation.y, pose.rotation.angle()]
}

fn solid(pose: &Isometry3<f64>) -> Pose {
    let (at, turn) = (pose.translation, pose.rotation);
    vec![at.x, at.y, at.z, turn.i, turn.j, turn.k, turn.w]
}

impl From<&geometry::planar::Shape> for Form {
    fn from(shape: &geometry::planar::Shape) -> Self {
        use geometry::planar::Shape as Planar;
        match shape {
            Planar::Disk { radius } => Self::Disk { radius: *radius },
            Planar::Ellipse { semi_axes } => Self::Ellipse { semi_axes: *semi_axes },
            Planar::Capsule { half_length, radius } => {
                Self::Capsule { half_length: *half_length, radius: *radius }
            }
            Planar::Polygon(polygon) => {
                Self::Polygon { vertices: polygon.vertices().iter().map(|v| [v.x, v.y]).collect() }
            }
            Planar::HalfPlane => Self::HalfPlane,
        }
    }
}

impl From<&geometry::spatial::Shape> for Form {
    fn from(shape: &geometry::spatial::Shape) -> Self {
        use geometry::spatial::Shape as Spatial;
        match shape {
            Spatial::Sphere { radius } => Self::Sphere { radius: *radius },
            Spatial::Ellipsoid { semi_axes } => Self::Ellipsoid { semi_axes: *semi_axes },
            Spatial::Capsule { half_length, radius } => {
                Self::Capsule { half_length: *half_length, radius: *radius }
            }
            Spatial::Cuboid { half_extents } => Self::Box { half_extents: *half_extents },
            Spatial::Polyhedron(polyhedron) => Self::Polyhedron {
                vertices: polyhedron.vertices().iter().map(|v| v.coords.into()).collect(),
                facets: (0..polyhedron.normals().len()).map(|f| polyhedron.corners(f).to_vec()).collect(),
            },
            Spatial::HalfSpace => Self::HalfSpace,
        }
    }
}

/// The description of a world of either kind, whose types have the same names.
macro_rules! described {
    ($world:expr, $hidden:expr, $space:ident, $pose:ident, $joint:expr) => {{
        let (world, hidden): (&$space::World, Option<u32>) = ($world, $hidden);
        let mut bodies = Vec::new();
        for (id, body) in world.bodies().filter(|(id, _)| Some(id.0) != hidden) {
            let (motion, pose) = match &body.motion {
                $space::Motion::Rigid => ("rigid", body.pose),
                $space::Motion::Point => ("point", body.pose),
                $space::Motion::Slider(_) => ("slider", body.pose),
                $space::Motion::Fixed => ("fixed", body.pose),
                $space::Motion::Kinematic(path) => ("kinematic", path.0(world.t).0),
            };
            let shape = |on: &$space::Attached| Shape {
                pose: $pose(&on.pose),
                sensor: on.sensor,
                form: Form::from(&on.shape),
            };
            bodies.push(Body {
                name: body.name.clone(),
                number: id.0,
                motion,
                pose: $pose(&pose),
                shapes: body.shapes.iter().map(shape).collect(),
            });
        }
        let place = |id: $space::BodyId| bodies.iter().position(|body: &Body| body.number == id.0);
        let joint = |joint: &$space::Joint| {
            Some(Joint {
                name: joint.name.clone(),
                kind: $joint(&joint.kind),
                bodies: [place(joint.a)?, place(joint.b)?],
                frames: [$pose(&joint.frame_a), $pose(&joint.frame_b)],
            })
        };
        let spring = |force: &$space::Force| match force {
            $space::Force::Spring { a, point_a, b, point_b, .. } => {
                let coordinates = [point_a, point_b].map(|p| p.coords.iter().copied().collect());
                Some(Spring { bodies: [place(*a)?, place(*b)?], points: coordinates })
            }
            _ => None,
        };
        let joints = world.joints().filter_map(|(_, j)| joint(j)).collect();
        let springs = world.forces().filter_map(|(_, f)| spring(f)).collect();
        (world.gravity.iter().copied().collect(), bodies, joints, springs)
    }};
}

fn planar_kind(kind: &planar::JointKind) -> &'static str {
    match kind {
        planar::JointKind::Revolute => "revolute",
        planar::JointKind::Prismatic => "prismatic",
        planar::JointKind::Weld => "weld",
        planar::JointKind::Distance(_) => "distance",
    }
}

impl Description {
    /// The description of a model; the body of the number `hidden` is left out.
    pub fn new(model: &Model, name: &str, revision: u32, hidden: Option<u32>) -> Self {
        let (gravity, bodies, joints, springs) = match model {
            Model::Planar(model) => described!(model.world(), hidden, planar, flat, planar_kind),
            Model::Spatial(model) => {
                described!(model.world(), hidden, spatial, solid, spatial::JointKind::name)
            }
        };
        let (name, dimension) = (name.to_string(), model.dimension());
        let mut description = Self { revision, name, dimension, gravity, bodies, joints, springs };
        stand_in::add(&mut description);
        description
    }

    /// Place of a body in the description, by its number in the world.
    pub(crate) fn place(&self, number: u32) -> Option<usize> {
        // numbers ascend
        self.bodies.binary_search_by_key(&number, |body| body.number).ok()
    }
}
