//! Rigid multibody dynamics with joints, hard contact and Coulomb friction, every step certified.
//!
//! A step is (M, k, rows, gaps, μ, e) → step problem → v, impulses, certificate. Planar and spatial worlds
//! live side by side and only produce rows: see [`System`].

mod assemble;
mod error;
mod jacobian;
mod material;
pub mod planar;
mod reduce;
mod report;
mod scheme;
mod simulate;
pub mod spatial;
mod state;
mod system;
mod verify;

pub use error::{Mistake, Mistakes, ProjectError, StepError};
pub use jacobian::{Blocks, ForceJacobian, JacobianKind};
pub use material::{Depth, FrictionPoint, Groups, Material};
pub use reduce::{Dropped, Reduction};
pub use report::{
    AccuracyReport, ContactForce, ContactReport, Event, EventKind, Evidence, ImpactReport, IntegrationMethod,
    JointReport, Mode, MomentReport, SecondOrderReport, StabilizationPass, StabilizationReport, StepReport,
    StepWork, SubstepRecord,
};
pub use scheme::{
    Accuracy, AccurateMethod, Active, EventLanding, EventLocation, Level, Linearization, Midpoint, RowForm,
    RowForms, Scheme, Trapezoidal,
};
pub use simulate::{AccuracyRun, InitialState, RunError, Simulation, Trajectory};
pub use state::{ActiveConstraint, ContactMemory, Memory, State};
pub use stiction_lcp::{Phase, Profile};
pub use system::{
    ConstraintId, ContactId, ContactQuery, ContactRow, Forces, JointRow, Moments, MotionBound, PairId,
    RowKind, SearchCache, Spring, System,
};
pub use verify::{Check, Finding, Verdict, verify, verify_accuracy_run};

// the examples of the README are doc tests
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
