//! Bodies: how they move, what they weigh, and the shapes they carry.

use crate::material::{Groups, Material};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use std::fmt;
use std::sync::Arc;
use stiction_geometry::MassError;
use stiction_geometry::spatial::{MassProperties, Shape, mass};

/// How a body moves.
#[derive(Debug, Clone)]
pub enum Motion {
    /// Six velocities: of the centre of mass in the world, then angular in the body frame.
    Rigid,
    /// Three velocities: it moves and does not turn.
    Point,
    /// One velocity: it moves along this world axis and does not turn. The length of the axis does not matter.
    Slider(Vector3<f64>),
    /// Never moves.
    Fixed,
    /// Pose and velocity are prescribed as a function of time.
    Kinematic(Path),
}

/// Prescribed motion: time [s] → pose of the body frame, and its velocity (linear at the origin of the frame).
#[derive(Clone)]
pub struct Path(pub Arc<PathFunction>);

/// The function in a [`Path`].
type PathFunction = dyn Fn(f64) -> (Isometry3<f64>, Twist) + Send + Sync;

impl Path {
    /// Prescribed motion from a function.
    pub fn new(path: impl Fn(f64) -> (Isometry3<f64>, Twist) + Send + Sync + 'static) -> Self {
        Self(Arc::new(path))
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Path(..)")
    }
}

/// Velocity of a body, in the world.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Twist {
    /// Linear velocity [m/s].
    pub linear: Vector3<f64>,
    /// Angular velocity [rad/s].
    pub angular: Vector3<f64>,
}

impl Twist {
    /// A velocity from its parts [m/s; rad/s].
    pub fn new(linear: Vector3<f64>, angular: Vector3<f64>) -> Self {
        Self { linear, angular }
    }
}

/// Mass properties, given or from the shapes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mass {
    /// Mass properties as given.
    Given {
        /// Mass [kg].
        mass: f64,
        /// Centre of mass in the body frame [m].
        centre: Point3<f64>,
        /// Inertia about the centre of mass, along the axes of the body frame [kg m²].
        inertia: Matrix3<f64>,
    },
    /// Uniform density of all shapes that are not sensors [kg/m³]; where shapes overlap, both count.
    Density(f64),
}

impl Mass {
    /// A mass [kg] at the origin of the body frame with its moments of inertia about the axes [kg m²].
    pub fn given(mass: f64, inertia: [f64; 3]) -> Self {
        let inertia = Matrix3::from_diagonal(&Vector3::from(inertia));
        Self::Given { mass, centre: Point3::origin(), inertia }
    }
}

/// A shape on a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Attached {
    /// The shape.
    pub shape: Shape,
    /// Its pose in the body frame.
    pub pose: Isometry3<f64>,
    /// Friction and restitution.
    pub material: Material,
    /// Which shapes it meets.
    pub groups: Groups,
    /// It feels others and pushes none; it has no mass.
    pub sensor: bool,
    /// Velocity of the surface against the body, in the body frame: a conveyor [m/s]. Only its part along the
    /// surface acts.
    pub surface_velocity: Vector3<f64>,
    /// Friction that differs along and across a direction. ST00 §3
    pub grain: Option<Grain>,
}

/// A direction of a surface along which friction differs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// The direction in the body frame; its length does not matter.
    pub direction: Vector3<f64>,
    /// Friction along the grain as a multiple of that across it.
    pub ratio: f64,
}

impl Attached {
    /// A shape at the origin of the body frame, of the default material.
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            pose: Isometry3::identity(),
            material: Material::default(),
            groups: Groups::default(),
            sensor: false,
            surface_velocity: Vector3::zeros(),
            grain: None,
        }
    }

    /// The same at this pose in the body frame.
    #[must_use]
    pub fn at(self, pose: Isometry3<f64>) -> Self {
        Self { pose, ..self }
    }

    /// The same of this material.
    #[must_use]
    pub fn material(self, material: Material) -> Self {
        Self { material, ..self }
    }

    /// The same in these groups.
    #[must_use]
    pub fn groups(self, groups: Groups) -> Self {
        Self { groups, ..self }
    }

    /// The same as a sensor.
    #[must_use]
    pub fn sensor(self) -> Self {
        Self { sensor: true, ..self }
    }

    /// The same with a surface that moves [m/s].
    #[must_use]
    pub fn surface_velocity(self, surface_velocity: Vector3<f64>) -> Self {
        Self { surface_velocity, ..self }
    }

    /// The same with a grain: friction along `direction` is `ratio` times that across it.
    #[must_use]
    pub fn grain(self, direction: Vector3<f64>, ratio: f64) -> Self {
        Self { grain: Some(Grain { direction, ratio }), ..self }
    }
}

/// A body.
#[derive(Debug, Clone)]
pub struct Body {
    /// Its name, unlike all others.
    pub name: String,
    /// How it moves.
    pub motion: Motion,
    /// What it weighs; not read for fixed and kinematic bodies.
    pub mass: Mass,
    /// The body frame in the world; not read for kinematic bodies, which are where their path has them.
    pub pose: Isometry3<f64>,
    /// Velocity of the centre of mass. A point takes its linear part and a slider what of that is along its axis.
    pub velocity: Twist,
    /// Its shapes. Those of a body in a world are added and removed with
    /// [`World::attach`](super::World::attach) and [`World::detach`](super::World::detach).
    pub shapes: Vec<Attached>,
}

impl Body {
    fn new(name: impl Into<String>, motion: Motion, mass: Mass) -> Self {
        Self {
            name: name.into(),
            motion,
            mass,
            pose: Isometry3::identity(),
            velocity: Twist::default(),
            shapes: Vec::new(),
        }
    }

    /// A body that moves and turns.
    pub fn rigid(name: impl Into<String>, mass: Mass) -> Self {
        Self::new(name, Motion::Rigid, mass)
    }

    /// A point of this mass [kg].
    pub fn point(name: impl Into<String>, mass: f64) -> Self {
        Self::new(name, Motion::Point, Mass::given(mass, [0.0; 3]))
    }

    /// A body of this mass [kg] that moves along a world axis.
    pub fn slider(name: impl Into<String>, mass: f64, axis: Vector3<f64>) -> Self {
        Self::new(name, Motion::Slider(axis), Mass::given(mass, [0.0; 3]))
    }

    /// A body that never moves.
    pub fn fixed(name: impl Into<String>) -> Self {
        Self::new(name, Motion::Fixed, Mass::Density(1.0))
    }

    /// A body whose motion is prescribed.
    pub fn kinematic(name: impl Into<String>, path: Path) -> Self {
        Self::new(name, Motion::Kinematic(path), Mass::Density(1.0))
    }

    /// The same at this pose.
    #[must_use]
    pub fn at(self, pose: Isometry3<f64>) -> Self {
        Self { pose, ..self }
    }

    /// The same with this velocity of the centre of mass.
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

    /// Where the body frame is.
    pub(super) fn pose_at(&self, t: f64) -> Isometry3<f64> {
        match &self.motion {
            Motion::Kinematic(path) => path.0(t).0,
            _ => self.pose,
        }
    }

    /// Mass properties in the body frame.
    pub(super) fn mass_properties(&self) -> Result<MassProperties, MassError> {
        match self.mass {
            Mass::Given { mass, centre, inertia } => Ok(MassProperties { mass, centre, inertia }),
            Mass::Density(density) => {
                let solid = self.shapes.iter().filter(|s| !s.sensor);
                let parts = solid.map(|s| mass(&s.shape, density).map(|part| (s.pose, part)));
                MassProperties::combine(parts.collect::<Result<Vec<_>, _>>()?)
            }
        }
    }
}
