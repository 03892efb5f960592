//! Time-stepping schemes: plain values that choose level, friction law, active set, reduction and solver; and the steps
//! they make of a model.

pub(crate) mod euler;
pub(crate) mod halving;
pub(crate) mod post_stabilize;
mod reported_impulses;
mod second_order;
pub(crate) mod step_problem;
pub(crate) mod tolerances;
pub(crate) mod trapezoid;

use crate::reduce::Reduction;
pub use second_order::{
    Accuracy, AccurateMethod, EventLanding, EventLocation, Linearization, Midpoint, RowForm, RowForms,
    StateProjection, SubstepAxes, Trapezoidal,
};

use serde::{Deserialize, Serialize};
use stiction_lcp::{Chain, FrictionLaw, Method, Solver};

/// Time-stepping scheme. The default is of second order with one step problem per step ([`Level::Timed`]), followed by
/// post-stabilization, for any number of bodies.
///
/// Steps are certified to 1e-8, those of second order to 1e-10. A step that does not reach that is made as halves
/// ([`Scheme::halvings`]). A looser answer is accepted only where the user sets
/// [`Solver::loosest`](stiction_lcp::Solver::loosest); [`StepWork::loose`](crate::StepWork::loose) counts these problems.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scheme {
    /// Level of the rows of joints and contacts: velocities or positions.
    pub level: Level,
    /// Springs and dampers at the end of the step, stable at any stiffness; otherwise at its start.
    pub implicit_springs: bool,
    /// Gyroscopic force at the end of the step, so that spinning bodies gain no energy; otherwise at its start, as in the
    /// papers.
    pub implicit_gyroscopic: bool,
    /// Friction law: Coulomb's law or its convex relaxation.
    pub friction: FrictionLaw,
    /// Contacts that are rows.
    pub active: Active,
    /// Contacts among them that are left out: redundant ones, or those beyond a limit.
    pub reduction: Reduction,
    /// Pass limit of post-stabilization, 0 for none. CP03 (14)–(15)
    pub passes: usize,
    /// Approach speed above which restitution acts [m/s]; `None` for 2‖g‖h. Smaller: bodies at rest bounce by the speed
    /// that gravity adds in a step. Larger: slow impacts lose their restitution.
    pub restitution_speed: Option<f64>,
    /// Number of times a step may be halved where a solve does not reach the tolerance: at most 2^halvings steps make one.
    /// 0 for never. Smaller: steps fail that smaller ones pass. Larger: a step that cannot be made costs more before it
    /// fails.
    pub halvings: u8,
    /// Solver of the step problem, with its tolerance.
    pub solver: Solver,
}

/// Default of [`Scheme::halvings`]: down to a 64th of the step. Range 0 to 10.
const DEFAULT_HALVINGS: u8 = 6;

/// Level of the rows of joints and contacts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Velocities only: Υ = Δ = 0. AP97
    Velocity,
    /// Constraint-stabilized: Υ = γΘ/h, Δ = Φ/h where Φ ≥ 0 and γΦ/h where Φ < 0. AH04 (2.10)–(2.12)
    Stabilized {
        /// Gain γ in (0, 1].
        gamma: f64,
        /// Applies γ to separated contacts too. AH04 (2.12)
        everywhere: bool,
    },
    /// Positions at the end of the step, linearized at q ⊕ h v, or iterated to convergence. ST00 (13)–(20)
    Position {
        /// Iterates until Φ(q⁺) ≥ 0 ⊥ c_n holds.
        nonlinear: bool,
    },
    /// Linearly implicit trapezoidal method, of second order. PAGT06
    Trapezoidal(Trapezoidal),
    /// Baumgarte's stabilization: Υ = αΘ, Δ = Φ/h where Φ ≥ 0 and αΦ where Φ < 0. CP03 §IV-A
    Baumgarte {
        /// Gain α [1/s].
        alpha: f64,
    },
    /// Every impulse carries its own time of application: joints, lasting contacts and forces act in the middle of the
    /// step, impacts when they occur. Of second order with one problem per step; post-stabilization holds positions.
    Timed,
}

/// Contacts that are rows of the step problem.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Active {
    /// Contacts that could close within the step, by the speeds of the bodies. Missed contacts are added and the step is
    /// solved again. Velocity-level schemes take touching contacts alone; where post-stabilization follows, they take
    /// those of the other schemes, with Δ = Φ/h where Φ ≥ 0.
    Swept,
    /// Contacts with a gap of at most this [m]: ε̂ of the papers.
    Band(f64),
}

impl Default for Scheme {
    fn default() -> Self {
        // where contacts are redundant a pivoting method leaves some of them without load, and these slip: second order is
        // lost where all should stick
        let solver = Method::Chain(Chain::default().pivoting(0)).into();
        Self { passes: 6, solver, ..Self::of(Level::Timed) }
    }
}

impl Scheme {
    /// Scheme of this level without post-stabilization.
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
            halvings: DEFAULT_HALVINGS,
            // the papers use pivoting methods
            solver: Method::Chain(Chain::default().pivoting(100)).into(),
        }
    }

    /// Most accurate scheme: second order, with every event located, and no error of fast spin of spheres and wheels. For few bodies in contact at a time; the default is for
    /// many.
    pub fn accurate() -> Self {
        Self { level: Level::Trapezoidal(Trapezoidal::accurate()), ..Self::pagt06() }
    }

    /// AH04 followed by post-stabilization: first order, with one step problem per step.
    pub fn first_order() -> Self {
        Self { passes: 6, solver: Solver::default(), ..Self::ah04() }
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

    /// Linearly implicit trapezoidal method with located events. PAGT06
    pub fn pagt06() -> Self {
        let scheme = Self::of(Level::Trapezoidal(Trapezoidal::default()));
        Self { solver: Solver { tolerance: 1e-10, ..scheme.solver }, ..scheme }
    }

    /// Baumgarte's stabilization with α [1/s].
    pub fn baumgarte(alpha: f64) -> Self {
        Self::of(Level::Baumgarte { alpha })
    }

    /// Names of the settings that a run to an accuracy would ignore. It uses `solver` and `restitution_speed` of a scheme;
    /// all others must be those of [`Scheme::accurate`] or [`Scheme::pagt06`], or of the default for simulations that were
    /// given none.
    pub fn ignored_by_accuracy(&self) -> Vec<&'static str> {
        let plain = |scheme: Self| {
            let Self { solver, halvings, .. } = Self::default();
            Self { solver, halvings, restitution_speed: None, ..scheme }
        };
        let [own, accurate] = [plain(*self), plain(Self::accurate())];
        if [accurate, plain(Self::pagt06()), plain(Self::default())].contains(&own) {
            return Vec::new();
        }
        let differs = [
            ("level", own.level != accurate.level),
            ("implicit_springs", own.implicit_springs != accurate.implicit_springs),
            ("implicit_gyroscopic", own.implicit_gyroscopic != accurate.implicit_gyroscopic),
            ("friction", own.friction != accurate.friction),
            ("active", own.active != accurate.active),
            ("reduction", own.reduction != accurate.reduction),
            ("passes", own.passes != accurate.passes),
        ];
        differs.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect()
    }

    /// Scheme as a run to an accuracy uses it. Between events its problems are small and of given modes, so the default
    /// solves them by pivoting.
    pub(crate) fn in_accuracy_run(&self) -> Self {
        let given_none = self.solver == Self::default().solver;
        Self { solver: if given_none { Solver::default() } else { self.solver }, ..*self }
    }

    /// Range of a tolerance. Below it, round-off makes true solutions fail; above it, resting bodies creep.
    pub const TOLERANCES: [f64; 2] = [1e-12, 1e-6];

    /// Largest residual that a loose solution may have. Above it, answers are visibly wrong.
    pub const MAX_LOOSEST: f64 = 1e-4;

    /// First setting outside the range that scene files have, in words; `None` where all are within.
    pub fn mistake(&self) -> Option<String> {
        let Solver { tolerance, loosest, .. } = self.solver;
        let [least, largest] = Self::TOLERANCES;
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let (gamma, alpha) = match self.level {
            Level::Stabilized { gamma, .. } => (gamma, 0.0),
            Level::Baumgarte { alpha } => (1.0, alpha),
            Level::Trapezoidal(settings) => (1.0, settings.stabilization),
            Level::Velocity | Level::Position { .. } | Level::Timed => (1.0, 0.0),
        };
        let band = if let Active::Band(band) = self.active { band } else { 0.0 };
        let speed = self.restitution_speed.unwrap_or(0.0);
        let not_negative = |x: f64| x == 0.0 || positive(x);
        let found = [
            ("tolerance", tolerance, tolerance >= least && tolerance <= largest, "from 1e-12 to 1e-6"),
            ("loosest", loosest, (0.0..=Self::MAX_LOOSEST).contains(&loosest), "from 0 to 1e-4"),
            ("gamma", gamma, gamma > 0.0 && gamma <= 1.0, "above 0 and at most 1"),
            ("alpha or stabilization", alpha, not_negative(alpha), "finite and not negative"),
            ("band", band, not_negative(band), "finite and not negative"),
            ("restitution_speed", speed, not_negative(speed), "finite and not negative"),
        ];
        let wrong = found.into_iter().find(|(_, _, fits, _)| !fits);
        wrong.map(|(name, value, _, range)| format!("{name} = {value:e}: must be {range}"))
    }

    /// Adds post-stabilization of at most this many passes. CP03
    #[must_use]
    pub fn post_stabilized(self, passes: usize) -> Self {
        Self { passes, ..self }
    }
}
