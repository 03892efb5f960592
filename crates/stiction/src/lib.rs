//! Rigid multibody dynamics with joints, hard contact and Coulomb friction, every step certified.
//!
//! A step is (M, k, rows, gaps, μ, e) → step problem → v, impulses, certificate. Planar and spatial worlds
//! live side by side and only produce rows: see [`System`].

mod assemble;
mod error;
mod jacobian;
mod material;
pub mod papers;
pub mod planar;
mod report;
mod scheme;
mod simulate;
pub mod spatial;
mod state;
mod system;

pub use error::{Mistake, Mistakes, ProjectError, StepError};
pub use jacobian::{Blocks, ForceJacobian, JacobianKind};
pub use material::{FrictionPoint, Groups, Material};
pub use report::{ContactReport, JointReport, Mode, PostReport, StepReport, StepWork};
pub use scheme::{Active, Level, Scheme};
pub use simulate::{Simulation, Stopped, Trajectory};
pub use state::{Memory, State};
pub use system::{ContactId, ContactRow, Forces, JointRow, PairId, RowKind, Spring, System};

// the examples of the README are doc tests
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
