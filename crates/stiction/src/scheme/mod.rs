//! Time-stepping schemes as plain values.

pub(crate) mod euler;
pub(crate) mod pose;
pub(crate) mod post_stabilize;
mod second_order;
pub(crate) mod trapezoid;

use crate::reduce::Reduction;
pub use second_order::{
    Accuracy, AccurateMethod, EventLanding, EventLocation, Linearization, Midpoint, RowForm, RowForms,
    Trapezoidal,
};

use serde::{Deserialize, Serialize};
use stiction_lcp::{Chain, FrictionLaw, Method, Solver};

/// How a step is made. The default is AH04 followed by post-stabilization, certified to 1e-8; the other schemes are
/// certified to 1e-10.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scheme {
    /// What the rows of joints and contacts ask for.
    pub level: Level,
    /// Springs and dampers are taken at the end of the step, stable at any stiffness; otherwise at its start.
    pub implicit_springs: bool,
    /// The gyroscopic force is taken at the end of the step, so that spinning bodies gain no energy; otherwise
    /// at its start, as the papers have it.
    pub implicit_gyroscopic: bool,
    /// Coulomb's law or its convex relaxation.
    pub friction: FrictionLaw,
    /// Which contacts are rows.
    pub active: Active,
    /// Which of them are left out, because they follow from others or beyond a limit.
    pub reduction: Reduction,
    /// Passes of post-stabilization after the step at most, 0 for none. CP03 (14)–(15)
    pub passes: usize,
    /// Approach speed above which restitution acts [m/s]; by default 2‖g‖h.
    pub restitution_speed: Option<f64>,
    /// How the step problem is solved.
    pub solver: Solver,
}

/// What the rows of joints and contacts ask for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Velocities only: Υ = Δ = 0. AP97
    Velocity,
    /// Constraint-stabilized: Υ = γΘ/h, Δ = Φ/h where Φ ≥ 0 and γΦ/h where Φ < 0. AH04 (2.10)–(2.12)
    Stabilized {
        /// γ in (0, 1].
        gamma: f64,
        /// γ applies to separated contacts too, as AH04 (2.12) has it.
        everywhere: bool,
    },
    /// Positions at the end of the step, linearized about q ⊕ h v, or iterated until they hold. ST00 (13)–(20)
    Position {
        /// Iterate until Φ(q⁺) ≥ 0 ⊥ c_n holds itself.
        nonlinear: bool,
    },
    /// The linearly implicit trapezoidal method, of second order. PAGT06
    Trapezoidal(Trapezoidal),
    /// Υ = αΘ, Δ = Φ/h where Φ ≥ 0 and αΦ where Φ < 0. CP03 §IV-A
    Baumgarte {
        /// α [1/s].
        alpha: f64,
    },
}

/// Which contacts are rows of the step problem.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Active {
    /// All that could close within the step, found from the speeds; what is missed is added and the step
    /// solved again. Velocity-level schemes take touching contacts only, or, where post-stabilization follows,
    /// the same ones as the others with Δ = Φ/h where Φ ≥ 0.
    Swept,
    /// All with a gap of at most this [m]: the papers' ε̂.
    Band(f64),
}

impl Default for Scheme {
    fn default() -> Self {
        // a heap goes on where one contact in thousands creeps, and the report says so
        let solver = Solver { loosest: 1e-4, ..Solver::default() };
        Self { passes: 6, solver, ..Self::ah04() }
    }
}

impl Scheme {
    /// A scheme of this level without post-stabilization.
    pub fn of(level: Level) -> Self {
        Self {
            level,
            implicit_springs: true,
            implicit_gyroscopic: true,
            friction: FrictionLaw::Coulomb,
            active: Active::Swept,
            reduction: Reduction::default(),
            passes: 0,
            restitution_speed: None,
            // the papers pivot
            solver: Method::Chain(Chain::default().pivoting(100)).into(),
        }
    }

    /// The most accurate: second order, with every event located. For few bodies in contact at a time; the default is
    /// for many.
    pub fn accurate() -> Self {
        Self::pagt06()
    }

    /// Velocity level. AP97
    pub fn ap97() -> Self {
        Self::of(Level::Velocity)
    }

    /// Constraint-stabilized with γ = 1. AH04
    pub fn ah04() -> Self {
        Self::of(Level::Stabilized { gamma: 1.0, everywhere: false })
    }

    /// Position level, linearized. ST00
    pub fn st00() -> Self {
        Self::of(Level::Position { nonlinear: false })
    }

    /// Position level, iterated. ST00
    pub fn st00_nonlinear() -> Self {
        Self::of(Level::Position { nonlinear: true })
    }

    /// The linearly implicit trapezoidal method with located events. PAGT06
    pub fn pagt06() -> Self {
        let scheme = Self::of(Level::Trapezoidal(Trapezoidal::default()));
        Self { solver: Solver { tolerance: 1e-10, ..scheme.solver }, ..scheme }
    }

    /// Baumgarte's stabilization with α [1/s].
    pub fn baumgarte(alpha: f64) -> Self {
        Self::of(Level::Baumgarte { alpha })
    }

    /// The same with at most this many passes of post-stabilization. CP03
    #[must_use]
    pub fn post_stabilized(self, passes: usize) -> Self {
        Self { passes, ..self }
    }
}
