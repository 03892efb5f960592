//! Description of a scene for the page: bodies, shapes, joints and springs with their names and places.

use crate::{quantity, stand_in};
use serde::Serialize;
use stiction::{
    BodyId, Dimension, EuclideanPoint, EuclideanVector, FramePose, JointId, KindOfJoint, Model, RigidPose,
    ShapeRef, World, WorldQuery,
};
use stiction_geometry as geometry;

/// Scene as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    /// Number of the description, which frames carry: bodies may be added while a scene runs.
    pub revision: u32,
    /// Name of the scene.
    pub name: String,
    /// Number of dimensions: 2 in the plane, 3 in space.
    pub dimension: usize,
    /// Gravity [m/s²].
    pub gravity: Vec<f64>,
    /// Bodies.
    pub bodies: Vec<Body>,
    /// Joints.
    pub joints: Vec<Joint>,
    /// Springs between two bodies.
    pub springs: Vec<Spring>,
    /// Quantities that every frame has beside its bodies and contacts, in their order.
    pub quantities: Vec<Quantity>,
    /// Contacts have forces at the instant of a frame, not impulses over a step.
    pub forces: bool,
}

/// Quantity of a frame that the page can plot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quantity {
    /// Name of what has it, such as a joint; empty for the whole scene.
    pub of: String,
    /// Name.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
}

/// Body as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Body {
    /// Name.
    pub name: String,
    /// Number in the world.
    #[serde(skip)]
    pub id: BodyId,
    /// Kind of its motion, as in a scene file.
    pub motion: &'static str,
    /// Pose at the start, see [`Pose`].
    pub pose: Pose,
    /// Shapes.
    pub shapes: Vec<Shape>,
}

/// Numbers of a pose: x, y and the angle in the plane; x, y, z and the quaternion i, j, k, w in space [m; rad].
pub type Pose = Vec<f64>;

/// Shape as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shape {
    /// Pose in the body frame.
    pub pose: Pose,
    /// Sensor: it touches nothing.
    pub sensor: bool,
    /// Friction coefficient μ of the surface.
    pub friction: f64,
    /// Coefficient of restitution e of the surface.
    pub restitution: f64,
    /// Kind and numbers of the shape.
    #[serde(flatten)]
    pub form: Form,
}

/// Kind and numbers of a shape, in the words of a scene file [m].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are those of the shapes of the geometry library")]
pub enum Form {
    Disk { radius: f64 },
    Ellipse { semi_axes: [f64; 2] },
    Polygon { vertices: Vec<[f64; 2]>, rounding: f64 },
    HalfPlane,
    Capsule { half_length: f64, radius: f64 },
    Sphere { radius: f64 },
    Ellipsoid { semi_axes: [f64; 3] },
    Box { half_extents: [f64; 3], rounding: f64 },
    Cylinder { half_length: f64, radius: f64, rounding: f64 },
    Cone { half_length: f64, radius: f64, rounding: f64 },
    Polyhedron { vertices: Vec<[f64; 3]>, facets: Vec<Vec<u32>>, rounding: f64 },
    HalfSpace,
}

/// Joint as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// Number in the world.
    #[serde(skip)]
    pub id: JointId,
    /// Kind, as in a scene file.
    pub kind: &'static str,
    /// Bodies, by their indices in the description.
    pub bodies: [usize; 2],
    /// Frames in the bodies.
    pub frames: [Pose; 2],
}

/// Spring as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spring {
    /// Bodies, by their indices in the description.
    pub bodies: [usize; 2],
    /// Ends in the bodies [m].
    pub points: [Vec<f64>; 2],
}

impl From<ShapeRef<'_>> for Form {
    fn from(shape: ShapeRef) -> Self {
        match shape {
            ShapeRef::Planar(shape) => Self::from(shape),
            ShapeRef::Spatial(shape) => Self::from(shape),
        }
    }
}

impl From<&geometry::planar::Shape> for Form {
    fn from(shape: &geometry::planar::Shape) -> Self {
        use geometry::planar::Shape as Planar;
        let (core, rounding) = shape.core();
        match core {
            Planar::Disk { radius } => Self::Disk { radius: *radius },
            Planar::Ellipse { semi_axes } => Self::Ellipse { semi_axes: *semi_axes },
            Planar::Capsule { half_length, radius } => {
                Self::Capsule { half_length: *half_length, radius: *radius }
            }
            Planar::Polygon(polygon) => {
                Self::Polygon { vertices: polygon.vertices().iter().map(|v| [v.x, v.y]).collect(), rounding }
            }
            // the core of a rounded shape is not rounded
            Planar::Rounded { .. } | Planar::HalfPlane => Self::HalfPlane,
        }
    }
}

impl From<&geometry::spatial::Shape> for Form {
    fn from(shape: &geometry::spatial::Shape) -> Self {
        use geometry::spatial::Shape as Spatial;
        let (core, rounding) = shape.core();
        match core {
            Spatial::Sphere { radius } => Self::Sphere { radius: *radius },
            Spatial::Ellipsoid { semi_axes } => Self::Ellipsoid { semi_axes: *semi_axes },
            Spatial::Capsule { half_length, radius } => {
                Self::Capsule { half_length: *half_length, radius: *radius }
            }
            Spatial::Cuboid { half_extents } => Self::Box { half_extents: *half_extents, rounding },
            Spatial::Cylinder { half_length, radius } => {
                Self::Cylinder { half_length: *half_length, radius: *radius, rounding }
            }
            Spatial::Cone { half_length, radius } => {
                Self::Cone { half_length: *half_length, radius: *radius, rounding }
            }
            Spatial::Polyhedron(polyhedron) => Self::Polyhedron {
                vertices: polyhedron.vertices().iter().map(|v| v.coords.into()).collect(),
                facets: (0..polyhedron.normals().len()).map(|f| polyhedron.corners(f).to_vec()).collect(),
                rounding,
            },
            // the core of a rounded shape is not rounded
            Spatial::Rounded { .. } | Spatial::HalfSpace => Self::HalfSpace,
        }
    }
}

/// Pose as it is drawn, see [`Pose`].
fn drawn_pose<D: Dimension>(pose: &D::Isometry) -> Pose {
    let FramePose { position, quat_wxyz: [w, i, j, k] } = FramePose::of::<D>(pose);
    let turn = D::angle(&pose.turn()).map_or_else(|| vec![i, j, k, w], |angle| vec![angle]);
    position[..D::COUNT].iter().copied().chain(turn).collect()
}

/// Description of a world; the body `hidden` is left out.
struct Describe<'a> {
    name: &'a str,
    revision: u32,
    hidden: Option<BodyId>,
}

impl WorldQuery for Describe<'_> {
    type Output = Description;

    fn apply<D: Dimension>(self, world: &World<D>) -> Description {
        let shape = |on: &stiction::Attached<D>| Shape {
            pose: drawn_pose::<D>(&on.pose),
            sensor: on.sensor,
            friction: on.material.friction,
            restitution: on.material.restitution,
            form: Form::from(D::shape_ref(&on.shape)),
        };
        let body = |(id, body): (BodyId, &stiction::Body<D>)| Body {
            name: body.name.clone(),
            id,
            motion: body.motion.name(),
            pose: drawn_pose::<D>(&body.pose_at(world.t)),
            shapes: body.shapes.iter().map(shape).collect(),
        };
        let bodies: Vec<Body> = world.bodies().filter(|(id, _)| Some(*id) != self.hidden).map(body).collect();
        let index = |id: BodyId| bodies.iter().position(|body| body.id == id);
        let joint = |(id, joint): (JointId, &stiction::Joint<D>)| {
            Some(Joint {
                name: joint.name.clone(),
                id,
                kind: joint.kind.name(),
                bodies: [index(joint.a)?, index(joint.b)?],
                frames: [&joint.frame_a, &joint.frame_b].map(drawn_pose::<D>),
            })
        };
        let spring = |force: &stiction::Force<D>| match force {
            stiction::Force::Spring { a, point_a, b, point_b, .. } => {
                let points = [point_a, point_b].map(|p| p.coordinates().components().to_vec());
                Some(Spring { bodies: [index(*a)?, index(*b)?], points })
            }
            _ => None,
        };
        Description {
            revision: self.revision,
            name: self.name.to_string(),
            dimension: D::COUNT,
            gravity: world.gravity.components().to_vec(),
            joints: world.joints().filter_map(joint).collect(),
            quantities: Vec::new(),
            springs: world.forces().filter_map(|(_, f)| spring(f)).collect(),
            forces: false,
            bodies,
        }
    }
}

impl Description {
    /// Description of a model; the body `hidden` is left out.
    pub fn new(model: &Model, name: &str, revision: u32, hidden: Option<BodyId>) -> Self {
        let mut description = model.query(Describe { name, revision, hidden });
        stand_in::add(&mut description);
        description.quantities = quantity::all(&description);
        description
    }

    /// Index of a body in the description.
    pub(crate) fn place(&self, body: BodyId) -> Option<usize> {
        // numbers ascend
        self.bodies.binary_search_by_key(&body, |drawn| drawn.id).ok()
    }
}
