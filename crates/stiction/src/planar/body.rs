//! Bodies: how they may move, what they weigh and what they are shaped like.

use crate::material::{Groups, Material};
use nalgebra::{Isometry2, Point2, Vector2};
use std::fmt;
use std::sync::Arc;
use stiction_geometry::MassError;
use stiction_geometry::planar::{MassProperties, Shape, mass};

/// How a body may move.
#[derive(Debug, Clone)]
pub enum Motion {
    /// Freely: three velocities, those of the centre of mass along x and y and the angular one.
    Rigid,
    /// Without turning: two velocities.
    Point,
    /// Along this fixed unit vector of the world, without turning: one velocity. Its coordinate is that of
    /// the centre of mass along the axis, measured from the origin of the world.
    Slider(Vector2<f64>),
    /// Not at all.
    Fixed,
    /// As prescribed: pose and velocity are functions of time.
    Kinematic(Path),
}

/// A prescribed motion: time [s] to the pose of the body frame and its velocity, the linear part at the origin
/// of the frame. The velocity must be the derivative of the pose.
#[derive(Clone)]
pub struct Path(pub Arc<dyn Fn(f64) -> (Isometry2<f64>, Twist) + Send + Sync>);

impl Path {
    /// The motion that this function describes.
    pub fn new(path: impl Fn(f64) -> (Isometry2<f64>, Twist) + Send + Sync + 'static) -> Self {
        Self(Arc::new(path))
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Path(..)")
    }
}

/// A velocity.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Twist {
    /// Velocity of a point, in the world [m/s].
    pub linear: Vector2<f64>,
    /// Angular velocity, counter-clockwise [rad/s].
    pub angular: f64,
}

impl Twist {
    /// A velocity from its parts.
    pub fn new(linear: Vector2<f64>, angular: f64) -> Self {
        Self { linear, angular }
    }
}

/// What a body weighs. Fixed and kinematic bodies need none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mass {
    /// Given by hand.
    Given {
        /// Mass [kg], > 0.
        mass: f64,
        /// Centre of mass in the body frame [m].
        centre: Point2<f64>,
        /// Moment of inertia about the centre of mass [kg m²], > 0 for bodies that turn.
        inertia: f64,
    },
    /// From the areas of the shapes that are no sensors, at this density [kg/m²], > 0.
    Density(f64),
}

impl Mass {
    /// This mass [kg] and moment of inertia [kg m²] with the centre of mass at the origin of the body frame.
    pub fn given(mass: f64, inertia: f64) -> Self {
        Self::Given { mass, centre: Point2::origin(), inertia }
    }
}

/// A shape on a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Attached {
    /// The shape.
    pub shape: Shape,
    /// Where it sits in the body frame.
    pub pose: Isometry2<f64>,
    /// What its surface is like.
    pub material: Material,
    /// Which shapes it meets.
    pub groups: Groups,
    /// It touches nothing and weighs nothing, but [`super::Model::sensed`] tells what it overlaps.
    pub sensor: bool,
    /// Speed of the surface against the body, along the outward normal turned by −90° [m/s]: the top of a
    /// conveyor with a positive speed carries things towards +x.
    pub surface_velocity: f64,
}

impl Attached {
    /// A shape at the origin of the body frame, of the default material, that meets everything.
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            pose: Isometry2::identity(),
            material: Material::default(),
            groups: Groups::default(),
            sensor: false,
            surface_velocity: 0.0,
        }
    }

    /// The same at a pose in the body frame.
    #[must_use]
    pub fn at(self, pose: Isometry2<f64>) -> Self {
        Self { pose, ..self }
    }

    /// The same of another material.
    #[must_use]
    pub fn material(self, material: Material) -> Self {
        Self { material, ..self }
    }

    /// The same in other groups.
    #[must_use]
    pub fn groups(self, groups: Groups) -> Self {
        Self { groups, ..self }
    }

    /// The same as a sensor.
    #[must_use]
    pub fn sensor(self) -> Self {
        Self { sensor: true, ..self }
    }

    /// The same with a moving surface [m/s].
    #[must_use]
    pub fn surface_velocity(self, surface_velocity: f64) -> Self {
        Self { surface_velocity, ..self }
    }
}

/// A body.
#[derive(Debug, Clone)]
pub struct Body {
    /// Name, unique among the bodies.
    pub name: String,
    /// How it may move.
    pub motion: Motion,
    /// What it weighs.
    pub mass: Mass,
    /// Pose of the body frame in the world; the path decides for kinematic bodies.
    pub pose: Isometry2<f64>,
    /// Velocity of the centre of mass; the path decides for kinematic bodies.
    pub velocity: Twist,
    /// Its shapes. Those of a body in a world are added and removed by the world, which numbers them.
    pub shapes: Vec<Attached>,
}

impl Body {
    fn new(name: impl Into<String>, motion: Motion, mass: Mass) -> Self {
        Self {
            name: name.into(),
            motion,
            mass,
            pose: Isometry2::identity(),
            velocity: Twist::default(),
            shapes: Vec::new(),
        }
    }

    /// A body that moves freely.
    pub fn rigid(name: impl Into<String>, mass: Mass) -> Self {
        Self::new(name, Motion::Rigid, mass)
    }

    /// A body that moves without turning, of this mass [kg].
    pub fn point(name: impl Into<String>, mass: f64) -> Self {
        Self::new(name, Motion::Point, Mass::given(mass, 0.0))
    }

    /// A body that moves along a unit vector of the world, of this mass [kg].
    pub fn slider(name: impl Into<String>, mass: f64, axis: Vector2<f64>) -> Self {
        Self::new(name, Motion::Slider(axis), Mass::given(mass, 0.0))
    }

    /// A body that never moves.
    pub fn fixed(name: impl Into<String>) -> Self {
        Self::new(name, Motion::Fixed, Mass::given(0.0, 0.0))
    }

    /// A body that moves as prescribed.
    pub fn kinematic(name: impl Into<String>, path: Path) -> Self {
        Self::new(name, Motion::Kinematic(path), Mass::given(0.0, 0.0))
    }

    /// The same at a pose.
    #[must_use]
    pub fn at(self, pose: Isometry2<f64>) -> Self {
        Self { pose, ..self }
    }

    /// The same with a velocity of its centre of mass.
    #[must_use]
    pub fn moving(self, velocity: Twist) -> Self {
        Self { velocity, ..self }
    }

    /// The same with one more shape.
    #[must_use]
    pub fn with(mut self, shape: Attached) -> Self {
        self.shapes.push(shape);
        self
    }

    /// `true` when it has velocities of its own.
    pub(super) fn moves(&self) -> bool {
        matches!(self.motion, Motion::Rigid | Motion::Point | Motion::Slider(_))
    }

    /// Pose of the body frame at time `t`.
    pub(super) fn pose_at(&self, t: f64) -> Isometry2<f64> {
        match &self.motion {
            Motion::Kinematic(path) => path.0(t).0,
            _ => self.pose,
        }
    }

    /// Mass, centre of mass and inertia, given or from the shapes.
    pub(super) fn mass_properties(&self) -> Result<MassProperties, MassError> {
        match self.mass {
            Mass::Given { mass, centre, inertia } => Ok(MassProperties { mass, centre, inertia }),
            Mass::Density(density) => {
                let mut parts = Vec::new();
                for attached in self.shapes.iter().filter(|s| !s.sensor) {
                    match mass(&attached.shape, density) {
                        Ok(part) => parts.push((attached.pose, part)),
                        // points and segments weigh nothing, whatever else the body has
                        Err(MassError::Massless { .. }) => {}
                        Err(error) => return Err(error),
                    }
                }
                MassProperties::combine(parts)
            }
        }
    }
}
