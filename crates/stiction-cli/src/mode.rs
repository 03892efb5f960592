//! Contacts of a solution: mode, impulses and slip.

use serde::Serialize;
use stiction_lcp::{Mode, Solution, StepProblem};

/// Contact of a solution.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ContactState {
    /// Friction mode. A contact without tangent rows has no slip: with a normal impulse it sticks.
    pub(crate) mode: Mode,
    /// Normal impulse [N s]; `None` for a friction block without a normal row.
    pub(crate) normal: Option<f64>,
    /// Impulse along each tangent row [N s], two at least.
    pub(crate) friction: Vec<f64>,
    /// Speed of the normal row, offset included [m/s].
    pub(crate) opening: Option<f64>,
    /// Speed of slip as the friction set measures it [m/s].
    pub(crate) slip: f64,
}

/// Contacts of a solution.
///
/// The natural map determines impulses and slip speeds up to the tolerance of the solution times its scale: smaller ones
/// count as zero.
pub(crate) fn contact_states(step: &StepProblem, solution: &Solution) -> Vec<ContactState> {
    let (layout, certificate, tolerance) = (step.layout(), solution.certificate(), solution.tolerance());
    let contacts = step.contacts.iter().zip(&certificate.contacts).zip(&layout.contact);
    let mut states: Vec<ContactState> = contacts
        .map(|((contact, residual), &start)| {
            let own = solution.z().get(start..start + contact.unknowns()).unwrap_or(&[]);
            let (normal, friction) = own.split_at(usize::from(contact.normal.is_some()).min(own.len()));
            ContactState {
                mode: Mode::Open,
                normal: normal.first().copied(),
                friction: contact.tangent_impulse(friction)[..contact.tangents.len().max(2)].to_vec(),
                opening: contact.normal.as_ref().and_then(|_| solution.w().get(start).copied()),
                slip: residual.lambda,
            }
        })
        .collect();
    let largest = states.iter().fold(0.0, |largest: f64, state| largest.max(state.impulse()));
    for (state, contact) in states.iter_mut().zip(&step.contacts) {
        if state.impulse() > tolerance * largest {
            let slips = !contact.tangents.is_empty() && state.slip > tolerance * certificate.speed;
            state.mode = if slips { Mode::Slip } else { Mode::Stick };
        }
    }
    states
}

impl ContactState {
    /// Larger one of the normal impulse and friction [N s].
    fn impulse(&self) -> f64 {
        self.friction.iter().fold(0.0, |size: f64, p| size.hypot(*p)).max(self.normal.unwrap_or(0.0).abs())
    }
}
