//! What a contact does in an answer: open, stick or slip.

use serde::Serialize;
use std::fmt;
use stiction_lcp::{Solution, StepProblem};

/// The modes of a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    /// No impulse.
    Open,
    /// An impulse, and no slip.
    Stick,
    /// An impulse, and slip.
    Slip,
    /// A normal impulse at a contact that knows no tangents, so that slip means nothing.
    Press,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Self::Open => "open",
            Self::Stick => "stick",
            Self::Slip => "slip",
            Self::Press => "press",
        })
    }
}

/// One contact of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ContactState {
    /// What it does.
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

/// The contacts of a solution.
///
/// The natural map lets an impulse or a slip speed stand in for zero up to the tolerance of the solution times
/// its scale, so that is where open ends and slip begins.
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
            state.mode = match contact.tangents.is_empty() {
                true => Mode::Press,
                false if state.slip > tolerance * certificate.speed => Mode::Slip,
                false => Mode::Stick,
            };
        }
    }
    states
}

impl ContactState {
    /// The larger of the normal impulse and friction [N s].
    fn impulse(&self) -> f64 {
        self.friction.iter().fold(0.0, |size: f64, p| size.hypot(*p)).max(self.normal.unwrap_or(0.0).abs())
    }
}
