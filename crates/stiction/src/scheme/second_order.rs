//! Settings of second-order steps and of runs to an accuracy, as plain values.

use serde::{Deserialize, Serialize};

/// Settings of the linearly implicit trapezoidal method. The default is of second order through contact: events are
/// located, joints and persistent contacts hold at the mean velocity, friction and new contacts at the end velocity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trapezoidal {
    /// Velocity at which rows hold.
    pub rows: RowForms,
    /// Configuration at which rows are taken.
    pub middle: Midpoint,
    /// Axes along which a substep measures angular velocities in space.
    pub axes: SubstepAxes,
    /// States that are projected onto joints and active constraints.
    pub projection: StateProjection,
    /// Events that are located, so that no substep crosses them.
    pub locate: EventLocation,
    /// Landing at a located event.
    pub landing: EventLanding,
    /// Linearization of forces.
    pub linearization: Linearization,
    /// Coefficient α of a term αΘ/h in joint rows; 0 for none. With 2 and rows at the mean velocity joints hold to
    /// O(h³), but energy grows over long runs. PAGT06 section 9.3
    pub stabilization: f64,
    /// Reduces restitution where it would add energy, by one factor for all contacts of an impact.
    pub energy_safe: bool,
    /// Bounds friction of the decompression by its own impulses alone, as in PAGT06 (7.9), instead of adding those that
    /// restitution returns.
    pub printed_decompression: bool,
    /// Event limit of a step. After it the rest of the step is made by AH04 with post-stabilization, and reported.
    pub event_limit: usize,
}

impl Default for Trapezoidal {
    fn default() -> Self {
        Self {
            rows: RowForms::default(),
            middle: Midpoint::Tangent,
            axes: SubstepAxes::Body,
            projection: StateProjection::Events,
            locate: EventLocation::Everything,
            landing: EventLanding::Step,
            linearization: Linearization::Exact,
            stabilization: 0.0,
            energy_safe: false,
            printed_decompression: false,
            event_limit: 60,
        }
    }
}

impl Trapezoidal {
    /// Settings of [`Scheme::accurate`](super::Scheme::accurate): the default with axes that do not turn with spin.
    pub fn accurate() -> Self {
        Self { axes: SubstepAxes::WithoutSpin, ..Self::default() }
    }
}

/// Form of each kind of row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RowForms {
    /// Joints.
    pub joints: RowForm,
    /// Normals of persistent contacts: those active in the last step or since an impact.
    #[serde(alias = "lasting")]
    pub persistent_contacts: RowForm,
    /// Normals of contacts that became active without an impact.
    #[serde(alias = "fresh")]
    pub new_contacts: RowForm,
    /// Friction.
    pub friction: RowForm,
}

impl Default for RowForms {
    fn default() -> Self {
        let (mean, curved) = (RowForm::Mean, RowForm::Curved);
        Self { joints: mean, persistent_contacts: mean, new_contacts: curved, friction: curved }
    }
}

impl RowForms {
    /// One form for all rows: [`RowForm::End`] is formulation I of PAGT06, [`RowForm::Mean`] formulation II.
    pub fn all(form: RowForm) -> Self {
        Self { joints: form, persistent_contacts: form, new_contacts: form, friction: form }
    }
}

/// Velocity at which a row N holds; q_m is the [`Midpoint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowForm {
    /// End velocity: N(q_m) v⁺. PAGT06 (6.12)
    End,
    /// Mean velocity: N(q_m) (v + v⁺). PAGT06 (6.10)
    Mean,
    /// End velocity, with the curvature of the row: N(q_m) v⁺ + (N(q_m) − N(q)) v̂, where v̂ leads to the midpoint. If
    /// N(q) v̂ = 0, redundant rows agree.
    Curved,
}

/// Configuration q_m in the middle of a substep, at which its rows are taken.
///
/// Rows at the mean velocity reverse the speeds along them in every step. If the midpoint moves with those speeds, the
/// motion feeds them, and in a loop of hinges they grow with every revolution. With N the rows, W = N M⁻¹Nᵀ and
/// K = (dN/dt) M⁻¹Nᵀ, impulses that ring with amplitude c follow c' = W⁻¹(K − Kᵀ) c, whose growth over a period is not
/// bounded. If the midpoint does not move with them, c' = −W⁻¹Kᵀ c, and their energy cᵀWc/2 stays constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Midpoint {
    /// q ⊕ (h/2) v̂, with v̂ the velocity v projected onto the rows that hold, along their forces.
    Tangent,
    /// q ⊕ (h/2) v. PAGT06 (6.10)
    Ahead,
}

/// Axes along which a substep measures angular velocities in space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubstepAxes {
    /// Axes of each body. Forces that are constant in space turn along them: their relative error is (h ω)²/24. PAGT06
    Body,
    /// Axes that do not turn with the spin of a body about an axis of symmetry of its inertia, nor with any rotation where
    /// its inertia is isotropic: of second order at any spin of spheres and wheels.
    WithoutSpin,
}

/// States that are projected onto joints and active constraints: positions, then velocities along the forces that hold
/// them. Rows at the mean velocity hold velocities, and let positions drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateProjection {
    /// States at events. PAGT06
    Events,
    /// States at events and at the end of each step, so that joints and persistent contacts hold to round-off. Part of a
    /// joint's reaction is then in the projection: reported joint forces are of first order.
    Steps,
}

/// Events that are located within a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventLocation {
    /// None. Contacts become active if they touch at the start of a step.
    Nothing,
    /// Impacts.
    Impacts,
    /// Impacts, take-offs, and changes between stick and slip.
    Everything,
}

/// Landing at a located event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventLanding {
    /// A substep that ends at the event.
    Step,
    /// The cubic through both ends of the substep. PAGT06 section 7
    Interpolant,
}

/// Linearization of forces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Linearization {
    /// Exact Jacobian, for second order, while M̃ is positive definite; else its definite part.
    Exact,
    /// Part of the Jacobian that keeps M̃ positive definite at any step: first order. PAGT06 (10.13)–(10.14)
    Definite,
}

/// Accuracy of a run: the error estimate of each step stays below the tolerance, and the error at the end follows it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Accuracy {
    /// Largest error of a step, in the units of coordinates and velocities [m, rad, m/s, rad/s]. Sensible from 1e-2 to
    /// 1e-10; below, round-off of the event functions shows.
    pub tolerance: f64,
    /// Method of the steps.
    pub method: AccurateMethod,
    /// First step [s]. A run that continues another starts with its last size.
    pub first_step: f64,
    /// Largest step [s].
    pub largest_step: f64,
    /// Event limit; more are an error, not a hang.
    pub event_limit: usize,
    /// Step limit, rejected steps included; more are an error, not a hang.
    pub step_limit: usize,
}

impl Default for Accuracy {
    fn default() -> Self {
        Self::of(1e-6)
    }
}

impl Accuracy {
    /// Accuracy with this tolerance, and defaults for the rest.
    pub fn of(tolerance: f64) -> Self {
        let method = AccurateMethod::Automatic;
        let (first_step, largest_step) = (1e-3, 0.1);
        let (event_limit, step_limit) = (100_000, 10_000_000);
        Self { tolerance, method, first_step, largest_step, event_limit, step_limit }
    }
}

/// Method of the steps of a run to an accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccurateMethod {
    /// Explicit method of order eight if the tolerance is at most 1e-7 or the motion is smooth, else of order five; the
    /// trapezoidal method where forces are stiff, and at tolerances above 1e-2.
    Automatic,
    /// Trapezoidal method, one step against two of half the size, extrapolated: third order, for stiff forces.
    Trapezoidal,
    /// Explicit method of Dormand and Prince on the accelerations, of order five.
    DormandPrince,
    /// Explicit method of Dormand and Prince on the accelerations, of order eight.
    DormandPrinceEight,
}
