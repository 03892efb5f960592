//! Settings of the linearly implicit trapezoidal method as plain values.

use serde::{Deserialize, Serialize};

/// The linearly implicit trapezoidal method. The default is of second order through contact: events are located,
/// joints and lasting contacts hold at the mean velocity, friction and new contacts at the end velocity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trapezoidal {
    /// The velocity at which rows hold.
    pub rows: Rows,
    /// Where rows are taken.
    pub middle: Middle,
    /// What is located within a step, so that no step crosses it.
    pub locate: Locate,
    /// How a located event is reached.
    pub landing: Landing,
    /// How forces are linearized.
    pub linearization: Linearization,
    /// α of a term αΘ/h in the rows of joints; 0 for none. With 2 and rows at the mean velocity joints hold to
    /// O(h³), at the price of energy that grows over long runs. PAGT06 section 9.3
    pub stabilization: f64,
    /// Restitution is reduced, by one factor for all contacts of an impact, where it would add energy.
    pub energy_safe: bool,
    /// Friction of the decompression is bounded by its own impulses alone, as PAGT06 (7.9) has it, instead of by
    /// those that restitution adds too.
    pub printed_decompression: bool,
    /// Events within a step at most; then the rest of the step is made by AH04 with post-stabilization, and reported.
    pub event_limit: usize,
}

impl Default for Trapezoidal {
    fn default() -> Self {
        Self {
            rows: Rows::default(),
            middle: Middle::Tangent,
            locate: Locate::Everything,
            landing: Landing::Step,
            linearization: Linearization::Exact,
            stabilization: 0.0,
            energy_safe: false,
            printed_decompression: false,
            event_limit: 60,
        }
    }
}

/// The velocity at which each kind of row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rows {
    /// Joints.
    pub joints: Form,
    /// Normals of contacts that bore in the last step or have just been through an impact.
    pub lasting: Form,
    /// Normals of other contacts.
    pub fresh: Form,
    /// Friction.
    pub friction: Form,
}

impl Default for Rows {
    fn default() -> Self {
        Self { joints: Form::Mean, lasting: Form::Mean, fresh: Form::Curved, friction: Form::Curved }
    }
}

impl Rows {
    /// The same form for all rows: [`Form::End`] is formulation I of PAGT06, [`Form::Mean`] formulation II.
    pub fn all(form: Form) -> Self {
        Self { joints: form, lasting: form, fresh: form, friction: form }
    }
}

/// The velocity at which a row N holds; q_m is the [`Middle`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// At the end: N(q_m) v⁺. PAGT06 (6.12)
    End,
    /// In the mean: N(q_m) (v + v⁺). PAGT06 (6.10)
    Mean,
    /// At the end, with the curvature of the row: N(q_m) v⁺ + (N(q_m) − N(q)) v̂, v̂ being what leads to the middle.
    /// Where N(q) v̂ = 0, rows that follow from others agree with them.
    Curved,
}

/// The configuration q_m in the middle of a step, where its rows are taken.
///
/// Rows at the mean velocity turn the speeds along them about in every step. In a middle that goes with those speeds they
/// are fed by the motion, and in a loop of hinges grow from revolution to revolution: with N the rows,
/// W = N M⁻¹Nᵀ and K = (dN/dt) M⁻¹Nᵀ, impulses that ring with amplitude c follow c' = W⁻¹(K − Kᵀ) c, whose growth
/// over a period nothing bounds. In a middle that does not, c' = −W⁻¹Kᵀ c, and their energy cᵀWc/2 stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Middle {
    /// q ⊕ (h/2) v̂, v̂ being v without its speeds along the rows that hold, taken out along what holds them.
    Tangent,
    /// q ⊕ (h/2) v. PAGT06 (6.10)
    Ahead,
}

/// What is located within a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Locate {
    /// Nothing; contacts become rows when they touch at the start of a step.
    Nothing,
    /// Impacts.
    Impacts,
    /// Impacts, take-offs, and changes between sticking and slipping.
    Everything,
}

/// How a located event is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Landing {
    /// By a step that ends there.
    Step,
    /// On the cubic through both ends of the step, as PAGT06 section 7 has it.
    Interpolant,
}

/// How forces are linearized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Linearization {
    /// Exactly, for second order, while M̃ stays positive definite; by the definite part where it does not.
    Exact,
    /// By the part that keeps M̃ positive definite at any step: first order. PAGT06 (10.13)–(10.14)
    Definite,
}

/// How accurate a run is to be: the error of each step, in the units of coordinates and velocities, is kept below
/// the tolerance, and the error at the end follows it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Accuracy {
    /// Largest error of a step [m, rad, m/s, rad/s]. Sensible from 1e-2 to 1e-10; below, round-off of the event
    /// functions shows.
    pub tolerance: f64,
    /// How steps are made.
    pub method: AccurateMethod,
    /// The first step [s]. A run that goes on begins with the size it ended with.
    pub first_step: f64,
    /// The largest step [s].
    pub largest_step: f64,
    /// Events at most; more are an error, not a hang.
    pub event_limit: usize,
    /// Steps at most, those that are tried and rejected too; more are an error, not a hang.
    pub step_limit: usize,
}

impl Default for Accuracy {
    fn default() -> Self {
        Self::of(1e-6)
    }
}

impl Accuracy {
    /// This accuracy.
    pub fn of(tolerance: f64) -> Self {
        let method = AccurateMethod::Automatic;
        let (first_step, largest_step) = (1e-3, 0.1);
        let (event_limit, step_limit) = (100_000, 10_000_000);
        Self { tolerance, method, first_step, largest_step, event_limit, step_limit }
    }
}

/// How the steps of an accurate run are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccurateMethod {
    /// The explicit method of order eight where the tolerance is 1e-4 or tighter and forces are not stiff, else the
    /// trapezoidal method.
    Automatic,
    /// The trapezoidal method, one step against two of half the size, extrapolated: third order, for stiff forces.
    Trapezoidal,
    /// The explicit method of Dormand and Prince on the accelerations of fifth order.
    DormandPrince,
    /// The one of eighth order.
    DormandPrinceEight,
}
