//! The planar world: bodies with position and angle, joints, forces and contacts become rows.
//!
//! A [`World`] is described and edited; [`World::build`] checks it and makes a [`Model`], which is the
//! [`crate::System`] that schemes step.
//!
//! ```
//! use nalgebra::{Isometry2, Vector2};
//! use stiction::planar::{Attached, Body, Mass, World};
//! use stiction::Simulation;
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

mod body;
mod check;
mod contact;
mod edit;
mod force;
mod jacobian;
mod joint;
mod joint_rows;
mod lane;
mod load;
mod model;
mod part;
mod world;

pub use body::{Attached, Body, Mass, Motion, Path, Twist};
pub use force::{Force, Law, LawJacobian, Load, Wrench};
pub use joint::{Joint, JointKind, Motor};
pub use model::Model;
pub use stiction_geometry::planar::{Polygon, Shape};
pub use world::{BodyId, ForceId, JointId, ShapeId, World};
