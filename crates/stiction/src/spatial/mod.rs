//! Bodies, joints, forces and contact in space. The planar world has the same names in the same order.
//!
//! A [`World`] is edited freely; [`World::build`] checks it and makes a [`Model`], which a
//! [`Simulation`](crate::Simulation) steps.
//!
//! ```
//! use nalgebra::{Isometry3, Vector3};
//! use stiction::spatial::{Attached, Body, Mass, Shape, World};
//! use stiction::Simulation;
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

mod body;
mod check;
mod contact;
mod edit;
mod force;
mod jacobian;
mod joint;
mod joint_rows;
mod model;
mod part;
mod placed;
mod search;
mod tables;
mod world;

pub use body::{Attached, Body, Grain, Mass, Motion, Path, Twist};
pub use force::{Force, Law, LawJacobian, Load, Wrench};
pub use joint::{Joint, JointKind, Motor};
pub use model::Model;
pub use stiction_geometry::spatial::Shape;
pub use world::{BodyId, Facets, ForceId, JointId, ShapeId, World};
