//! Rigid multibody dynamics with joints, hard contact and Coulomb friction, every step certified.
//!
//! A step is (M, k, rows, gaps, μ, e) → step problem → v, impulses, certificate. Planar and spatial worlds
//! live side by side and only produce rows: see [`System`].

mod assemble;
mod error;
mod id;
mod jacobian;
mod material;
mod model;
pub mod papers;
pub mod planar;
mod reduce;
mod report;
mod scheme;
mod simulate;
pub mod spatial;
mod state;
mod system;
mod verify;
mod world;

pub use error::{Mistake, Mistakes, ProjectError, StepError};
pub use id::{BodyId, ForceId, JointId, ShapeId};
pub use jacobian::{Blocks, ForceJacobian, JacobianKind};
pub use material::{Depth, FrictionPoint, Groups, Material};
pub use model::{AttachedRef, FramePose, Model};
pub use reduce::{Dropped, Reduction};
pub use report::{
    AccuracyReport, Combination, ContactReport, Event, EventKind, Evidence, ImpactReport, JointReport, Mode,
    MomentReport, Part, SecondOrderReport, StabilizationPass, StabilizationReport, StepReport, StepWork,
};
pub use scheme::{
    Accuracy, AccurateMethod, Active, Form, Landing, Level, Linearization, Locate, Middle, Rows, Scheme,
    Trapezoidal,
};
pub use simulate::{AccuracyRun, RunError, Simulation, Trajectory};
pub use state::{ActiveConstraint, ContactMemory, Hold, Memory, State};
pub use stiction_lcp::{Phase, Profile};
pub use system::{
    ConstraintId, ContactId, ContactQuery, ContactRow, Forces, JointRow, Moments, MotionBound, PairId,
    RowKind, SearchCache, Spring, System,
};
pub use verify::{Check, Finding, Verdict, verify, verify_accuracy_run};

pub use world::{
    Attached, Body, Dimension, EuclideanPoint, EuclideanVector, Force, Joint, KindOfJoint, Law, LawJacobian,
    Load, Mass, MassProperties, ModelIn, Motion, Motor, Path, PathFunction, RigidPose, ShapeRef, Twist,
    World, WorldEdit, WorldQuery, Wrench,
};

// bound of code that is generic over the dimension, in the companion crates
#[doc(hidden)]
pub use world::Formulas;

// the examples of the README are doc tests
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
