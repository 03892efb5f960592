//! Spatial worlds: bodies with position and orientation, joints, forces and contacts as rows.
//!
//! A [`World`] is described and edited; [`World::build`] checks it and makes a [`Model`], the
//! [`System`](crate::System) that schemes step. The files of this folder hold the formulas of space, in the order of
//! [`planar`](crate::planar); everything else is shared.
//!
//! ```
//! use nalgebra::{Isometry3, Vector3};
//! use stiction::spatial::{Attached, Body, Mass, Shape, World};
//! use stiction::{Scheme, Simulation};
//!
//! let mut world = World::new(Vector3::new(0.0, 0.0, -9.81));
//! world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfSpace)));
//! let ball = Body::rigid("ball", Mass::Density(1000.0))
//!     .with(Attached::new(Shape::Sphere { radius: 0.1 }))
//!     .at(Isometry3::translation(0.0, 0.0, 0.1));
//! let ball = world.add_body(ball);
//! let model = world.build()?;
//! let mut simulation = Simulation::new(model);
//! simulation.step(0.01)?;
//! let pose = simulation.system().pose(simulation.state(), ball);
//! assert!(pose.is_some_and(|pose| (pose.translation.z - 0.1).abs() < 1e-12));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod contact;
mod dimension;
mod formulas;
mod joint;
mod joint_rows;
mod placement;
mod turning;

pub use crate::id::{BodyId, ForceId, JointId, ShapeId};
pub use crate::world::{Law, LawJacobian, Motor};
pub use contact::{Facets, Grain};
pub use dimension::Spatial;
pub use joint::JointKind;
pub use stiction_geometry::spatial::Shape;

/// Spatial world before it is built.
pub type World = crate::world::World<Spatial>;
/// Spatial world laid out for stepping.
pub type Model = crate::world::ModelIn<Spatial>;
/// Spatial body.
pub type Body = crate::world::Body<Spatial>;
/// Motion of a spatial body.
pub type Motion = crate::world::Motion<Spatial>;
/// Prescribed motion in space.
pub type Path = crate::world::Path<Spatial>;
/// Velocity in space.
pub type Twist = crate::world::Twist<Spatial>;
/// Mass of a spatial body.
pub type Mass = crate::world::Mass<Spatial>;
/// Shape on a spatial body.
pub type Attached = crate::world::Attached<Spatial>;
/// Spatial joint.
pub type Joint = crate::world::Joint<Spatial>;
/// Spatial force.
pub type Force = crate::world::Force<Spatial>;
/// Force and torque in space.
pub type Wrench = crate::world::Wrench<Spatial>;
/// Wrench in space as a function of time.
pub type Load = crate::world::Load<Spatial>;
