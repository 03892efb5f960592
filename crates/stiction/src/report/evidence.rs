//! What it takes beyond a report to check a step without solving anything.

use crate::system::ContactId;
use serde::{Deserialize, Serialize};

/// What it takes beyond the report of a step to check it without solving anything: what it was solved for on the way.
/// A verifier believes none of it; see the module `verify`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The velocity v̂ that the rows of an iterated step were expanded about last; empty for all other schemes.
    pub about: Vec<f64>,
    /// The passes of post-stabilization.
    pub passes: Vec<Pass>,
}

/// A pass of post-stabilization.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// The contacts that were rows, in their order.
    pub contacts: Vec<ContactId>,
    /// λ of every row, joints first: dp = M⁻¹Jᵀλ [kg m].
    pub impulses: Vec<f64>,
    /// Why the rows cannot all be met, if they cannot: the combination of them that proves it.
    pub infeasible: Option<Vec<f64>>,
}

impl Evidence {
    pub(crate) fn clear(&mut self) {
        self.about.clear();
        self.passes.clear();
    }

    /// A pass to be filled in.
    pub(crate) fn add_pass(&mut self) -> &mut Pass {
        self.passes.push(Pass::default());
        let last = self.passes.len() - 1;
        &mut self.passes[last]
    }
}
