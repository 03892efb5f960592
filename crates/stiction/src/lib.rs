//! Rigid multibody dynamics with joints, hard contact and Coulomb friction; every step carries a certificate.
//!
//! One time step is a complementarity problem over impulses and velocities: a mass matrix, a momentum, rows of joints and
//! contacts with offsets, and friction coefficients. Planar and spatial models differ only in how they produce it, so
//! there is no dimension feature. All numbers are `f64`, all units SI.
//!
//! A certificate holds the residuals of a solution, recomputed from the problem without a solver. A residual above the
//! tolerance of the scheme is an error, after the step has been tried as halves ([`Scheme::halvings`]), unless the user
//! allows a looser answer ([`stiction_lcp::Solver::loosest`]). No scheme has such a limit of its own; the problems that
//! need one are counted in [`StepWork::loose`].
//!
//! ```text
//!   World ── build ──> Model: System          bodies, shapes, joints, forces; in the plane or in space
//!                        │ forces, joint rows, contact rows
//!                        ▼
//!   State ───────> StepProblem                M̃ v⁺ = b + Jᵀp,  0 ≤ p ⊥ J v⁺ + Δ ≥ 0,  friction cones
//!   Scheme             │ solve (stiction-lcp)
//!                        ▼
//!                  Solution + Certificate     impulses, velocity; residuals recomputed from the problem
//!                        │ q⁺ = q ⊕ h v⁺, post-stabilization
//!                        ▼
//!   State ◄────────  StepReport ── verify ──> Verdict
//! ```
//!
//! # Example
//!
//! A box slides on the floor. The contact forces carry its weight.
//!
//! ```
//! use nalgebra::{Isometry2, Vector2};
//! use stiction::planar::{Attached, Body, Mass, Polygon, Shape, Twist, World};
//! use stiction::Simulation;
//!
//! let mut world = World::new(Vector2::new(0.0, -9.81));
//! let floor = world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane)));
//! let shape = Attached::new(Shape::Polygon(Polygon::rectangle([0.1, 0.1])?));
//! let slider = Body::rigid("box", Mass::given(2.0, 0.01)).at(Isometry2::translation(0.0, 0.1));
//! let slider = world.add_body(slider.moving(Twist::new(Vector2::new(1.0, 0.0), 0.0)).with(shape));
//!
//! let mut simulation = Simulation::new(world.build()?);
//! let h = 0.01;
//! let report = simulation.step(h)?;
//! let weight: f64 = report.contacts_between(floor, slider).map(|contact| contact.normal_force(h)).sum();
//! assert!((weight - 2.0 * 9.81).abs() < 1e-6);
//! assert!(report.certificate.worst() <= 1e-8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Main types
//!
//! | type | is |
//! |---|---|
//! | [`planar::World`], [`spatial::World`] | bodies, shapes, joints and forces as a user writes them |
//! | [`planar::Model`], [`spatial::Model`] | a world that was checked and built |
//! | [`System`] | interface of a model to the schemes; implement it for models of one's own |
//! | [`State`] | time, coordinates, velocities and memory: all that a run needs to continue bit by bit |
//! | [`Scheme`], [`Accuracy`] | how steps are made, as plain values |
//! | [`Simulation`] | model, state and scheme: steps, records, runs to an accuracy |
//! | [`StepReport`] | contacts, joint reactions, certificate, energies, events and work of a step |
//! | [`StepError`] | failed step, with its place and its problem; the state is unchanged |
//! | [`verify()`], [`Verdict`] | check of a recorded step without a solver |
//!
//! # Features
//!
//! The crate has no optional features.

mod assemble;
mod error;
mod id;
mod jacobian;
mod material;
mod model;
mod monitor;
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

pub use error::{InputError, Mistake, Mistakes, ProjectError, StepError};
pub use id::{BodyId, CoordinateId, ForceId, InputId, JointId, ShapeId};
pub use jacobian::{Blocks, ForceJacobian, JacobianKind};
pub use material::{Depth, FrictionPoint, Groups, Material};
pub use model::{AttachedRef, FramePose, Model};
pub use monitor::RunMonitor;
pub use reduce::{Dropped, Reduction};
pub use report::{
    AccuracyReport, ContactForce, ContactInterval, ContactReport, EnergyLedger, Event, EventKind, Evidence,
    FirstOrderSolve, ImpactReport, IntegrationMethod, IslandRecord, JointReport, Mode, MomentReport,
    SecondOrderReport, StabilizationPass, StabilizationReport, StepReport, StepWork, SubstepRecord,
    deserialize_nested,
};
pub use scheme::trapezoid::next_motions::NextMotions;
pub use scheme::{
    Accuracy, AccurateMethod, Active, EventLanding, EventLocation, Level, Linearization, Midpoint, RowForm,
    RowForms, Scheme, StateProjection, SubstepAxes, Trapezoidal,
};
pub use simulate::{AccuracyRun, InitialState, RunError, Simulation, Trajectory};
pub use state::{ActiveConstraint, ContactMemory, Memory, QuietImpulses, SolverMemory, State};
pub use stiction_lcp::{Certificate, Phase, Profile};
pub use system::{
    Actuator, ActuatorTarget, ConstraintId, ContactId, ContactQuery, ContactRow, Forces, FreeTurn, Island,
    JointRow, Moments, MotionBound, PairId, RowKind, SearchCache, Spring, System,
};
pub use verify::{Check, Finding, NOT_CHECKED, Verdict, verify, verify_accuracy_run};

pub use world::{
    Attached, Body, Command, CommandFunction, Coupling, Dimension, EuclideanPoint, EuclideanVector, Force,
    Joint, JointAxis, JointLoad, JointSpring, KindOfJoint, Law, LawJacobian, Load, Mass, MassProperties,
    ModelIn, Motion, Motor, NearPoint, Path, PathFunction, RayHit, RigidPose, ShapeRef, Twist, World,
    WorldEdit, WorldQuery, Wrench,
};

// bound of code that is generic over the dimension, in the companion crates
#[doc(hidden)]
pub use world::Formulas;

// the examples of the README are doc tests
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
