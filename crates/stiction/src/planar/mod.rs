//! Planar worlds: bodies with position and angle, joints, forces and contacts as rows.
//!
//! A [`World`] is described and edited; [`World::build`] checks it and makes a [`Model`], the
//! [`System`](crate::System) that schemes step. The files of this folder hold the formulas of the plane, in the
//! order of [`spatial`](crate::spatial); everything else is shared.
//!
//! ```
//! use nalgebra::{Isometry2, Vector2};
//! use stiction::planar::{Attached, Body, Mass, World};
//! use stiction::{Scheme, Simulation};
//! use stiction_geometry::planar::Shape;
//!
//! let mut world = World::new(Vector2::new(0.0, -9.81));
//! world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane)));
//! let disk = Attached::new(Shape::Disk { radius: 0.1 });
//! let ball = world.add_body(Body::rigid("ball", Mass::Density(1000.0)).at(Isometry2::translation(0.0, 0.5)).with(disk));
//!
//! let model = world.build()?;
//! let mut simulation = Simulation::new(model);
//! for _ in 0..100 {
//!     simulation.step(0.01)?;
//! }
//! let height = simulation.system().centre(simulation.state(), ball).map(|c| c.y);
//! assert!((height.unwrap_or(0.0) - 0.1).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod contact;
mod dimension;
mod formulas;
mod joint;
mod joint_rows;
mod placement;

pub use crate::id::{BodyId, ForceId, JointId, ShapeId};
pub use crate::world::{Law, LawJacobian, Motor};
pub use dimension::Planar;
pub use joint::JointKind;
pub use stiction_geometry::planar::{Polygon, Shape};

/// Planar world before it is built.
pub type World = crate::world::World<Planar>;
/// Planar world laid out for stepping.
pub type Model = crate::world::ModelIn<Planar>;
/// Planar body.
pub type Body = crate::world::Body<Planar>;
/// Motion of a planar body.
pub type Motion = crate::world::Motion<Planar>;
/// Prescribed motion in the plane.
pub type Path = crate::world::Path<Planar>;
/// Velocity in the plane.
pub type Twist = crate::world::Twist<Planar>;
/// Mass of a planar body.
pub type Mass = crate::world::Mass<Planar>;
/// Shape on a planar body.
pub type Attached = crate::world::Attached<Planar>;
/// Planar joint.
pub type Joint = crate::world::Joint<Planar>;
/// Planar force.
pub type Force = crate::world::Force<Planar>;
/// Force and torque in the plane.
pub type Wrench = crate::world::Wrench<Planar>;
/// Wrench in the plane as a function of time.
pub type Load = crate::world::Load<Planar>;
