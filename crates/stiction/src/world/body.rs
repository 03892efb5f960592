//! Bodies: how they move, what they weigh and the shapes they carry.

use super::dimension::{Dimension, MassProperties, RigidPose};
use crate::material::{Groups, Material};
use std::fmt;
use std::sync::Arc;
use stiction_geometry::MassError;

/// How a body moves.
#[derive(Debug, Clone)]
pub enum Motion<D: Dimension> {
    /// Freely. Velocities: of the centre of mass in the world, then the angular one, in space along the axes of
    /// the body frame.
    Rigid,
    /// Without turning. Velocities: of the centre of mass in the world.
    Point,
    /// Along this axis of the world, without turning: one velocity. The coordinate is that of the centre of mass
    /// along the axis, measured from the origin of the world. In the plane the axis must be a unit vector.
    Slider(D::Vector),
    /// Not at all.
    Fixed,
    /// Kinematic: pose and velocity are prescribed functions of time.
    Kinematic(Path<D>),
}

impl<D: Dimension> Motion<D> {
    /// Name in a scene file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rigid => "rigid",
            Self::Point => "point",
            Self::Slider(_) => "slider",
            Self::Fixed => "fixed",
            Self::Kinematic(_) => "kinematic",
        }
    }
}

/// Prescribed motion: time [s] to the pose of the body frame and its velocity, the linear part at the origin of
/// the frame. The velocity must be the derivative of the pose.
#[derive(Clone)]
pub struct Path<D: Dimension>(pub Arc<PathFunction<D>>);

/// Function in a [`Path`].
pub type PathFunction<D> = dyn Fn(f64) -> (<D as Dimension>::Isometry, Twist<D>) + Send + Sync;

impl<D: Dimension> Path<D> {
    /// Prescribed motion from a function of time [s].
    pub fn new(path: impl Fn(f64) -> (D::Isometry, Twist<D>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(path))
    }
}

impl<D: Dimension> fmt::Debug for Path<D> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Path(..)")
    }
}

/// Velocity of a body, in the world.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Twist<D: Dimension> {
    /// Velocity of a point [m/s].
    pub linear: D::Vector,
    /// Angular velocity [rad/s], in the plane counter-clockwise.
    pub angular: D::Angular,
}

impl<D: Dimension> Twist<D> {
    /// Velocity from its linear part [m/s] and its angular part [rad/s].
    pub fn new(linear: D::Vector, angular: D::Angular) -> Self {
        Self { linear, angular }
    }
}

/// Mass of a body, given or from its shapes. Not read for fixed and kinematic bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mass<D: Dimension> {
    /// Given numbers.
    Given {
        /// Mass [kg], > 0.
        mass: f64,
        /// Centre of mass in the body frame [m].
        centre: D::Point,
        /// Inertia about the centre of mass, along the axes of the body frame [kg m²]; positive for rigid bodies.
        inertia: D::Inertia,
    },
    /// Uniform density [kg/m²; kg/m³], > 0, of all shapes that are no sensors; where shapes overlap, both count.
    Density(f64),
}

/// Shape on a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Attached<D: Dimension> {
    /// Shape.
    pub shape: D::Shape,
    /// Pose in the body frame.
    pub pose: D::Isometry,
    /// Friction and restitution of the surface.
    pub material: Material,
    /// Groups that decide which shapes it meets.
    pub groups: Groups,
    /// Sensor: it touches nothing and has no mass, and [`ModelIn::sensed`](super::ModelIn::sensed) lists what it
    /// overlaps.
    pub sensor: bool,
    /// Velocity of the surface against the body [m/s]: a conveyor. In the plane along the outward normal turned by
    /// −90°, so that the top of a conveyor with a positive speed carries things towards +x; in space in the body
    /// frame, and only its part along the surface acts.
    pub surface_velocity: D::SurfaceVelocity,
    /// Friction that differs along and across a direction, in space. ST00 §3
    pub grain: D::Grain,
}

impl<D: Dimension> Attached<D> {
    /// Shape at the origin of the body frame, of the default material, that meets everything.
    pub fn new(shape: D::Shape) -> Self {
        Self {
            shape,
            pose: D::Isometry::identity(),
            material: Material::default(),
            groups: Groups::default(),
            sensor: false,
            surface_velocity: D::SurfaceVelocity::default(),
            grain: D::Grain::default(),
        }
    }

    /// Sets the pose in the body frame.
    #[must_use]
    pub fn at(self, pose: D::Isometry) -> Self {
        Self { pose, ..self }
    }

    /// Sets the material.
    #[must_use]
    pub fn material(self, material: Material) -> Self {
        Self { material, ..self }
    }

    /// Sets the groups.
    #[must_use]
    pub fn groups(self, groups: Groups) -> Self {
        Self { groups, ..self }
    }

    /// Makes it a sensor.
    #[must_use]
    pub fn sensor(self) -> Self {
        Self { sensor: true, ..self }
    }

    /// Sets the velocity of the surface [m/s].
    #[must_use]
    pub fn surface_velocity(self, surface_velocity: D::SurfaceVelocity) -> Self {
        Self { surface_velocity, ..self }
    }
}

/// Body.
#[derive(Debug, Clone)]
pub struct Body<D: Dimension> {
    /// Name, unique among the bodies.
    pub name: String,
    /// Kind of motion.
    pub motion: Motion<D>,
    /// Mass, given or from the shapes.
    pub mass: Mass<D>,
    /// Pose of the body frame in the world. Not read for kinematic bodies.
    pub pose: D::Isometry,
    /// Velocity of the centre of mass. Not read for kinematic bodies.
    pub velocity: Twist<D>,
    /// Shapes. Those of a body in a world are added and removed with [`World::add_shape`](super::World::add_shape)
    /// and [`World::remove_shape`](super::World::remove_shape), which number them.
    pub shapes: Vec<Attached<D>>,
}

impl<D: Dimension> Body<D> {
    fn new(name: impl Into<String>, motion: Motion<D>, mass: Mass<D>) -> Self {
        Self {
            name: name.into(),
            motion,
            mass,
            pose: D::Isometry::identity(),
            velocity: Twist::default(),
            shapes: Vec::new(),
        }
    }

    /// Body that moves freely.
    pub fn rigid(name: impl Into<String>, mass: Mass<D>) -> Self {
        Self::new(name, Motion::Rigid, mass)
    }

    /// Body of this mass [kg] that moves without turning.
    pub fn point(name: impl Into<String>, mass: f64) -> Self {
        Self::new(name, Motion::Point, without_inertia(mass))
    }

    /// Body of this mass [kg] that moves along an axis of the world.
    pub fn slider(name: impl Into<String>, mass: f64, axis: D::Vector) -> Self {
        Self::new(name, Motion::Slider(axis), without_inertia(mass))
    }

    /// Body that never moves.
    pub fn fixed(name: impl Into<String>) -> Self {
        Self::new(name, Motion::Fixed, without_inertia(0.0))
    }

    /// Body whose motion is prescribed.
    pub fn kinematic(name: impl Into<String>, path: Path<D>) -> Self {
        Self::new(name, Motion::Kinematic(path), without_inertia(0.0))
    }

    /// Sets the pose.
    #[must_use]
    pub fn at(self, pose: D::Isometry) -> Self {
        Self { pose, ..self }
    }

    /// Sets the velocity of the centre of mass.
    #[must_use]
    pub fn moving(self, velocity: Twist<D>) -> Self {
        Self { velocity, ..self }
    }

    /// Adds a shape.
    #[must_use]
    pub fn with(mut self, shape: Attached<D>) -> Self {
        self.shapes.push(shape);
        self
    }

    /// `true` when it has velocities of its own.
    pub fn moves(&self) -> bool {
        matches!(self.motion, Motion::Rigid | Motion::Point | Motion::Slider(_))
    }

    /// Pose of the body frame at time `t` [s], where the body does not move by itself; else the pose given.
    pub fn pose_at(&self, t: f64) -> D::Isometry {
        match &self.motion {
            Motion::Kinematic(path) => path.0(t).0,
            _ => self.pose,
        }
    }

    /// Mass, centre of mass and inertia, given or from the shapes.
    pub fn mass_properties(&self) -> Result<MassProperties<D>, MassError> {
        match self.mass {
            Mass::Given { mass, centre, inertia } => Ok(MassProperties { mass, centre, inertia }),
            Mass::Density(density) => {
                let solid = self.shapes.iter().filter(|s| !s.sensor);
                D::mass_of(solid.map(|s| (&s.shape, &s.pose)), density)
            }
        }
    }
}

/// Mass [kg] at the origin of the body frame of a body that does not turn.
fn without_inertia<D: Dimension>(mass: f64) -> Mass<D> {
    Mass::Given { mass, centre: D::Point::from(D::Vector::default()), inertia: D::Inertia::default() }
}
