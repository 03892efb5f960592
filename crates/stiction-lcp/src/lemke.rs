//! Lemke's method with lexicographic degeneracy resolution on a dense LCP.

use crate::problem::Lcp;
use serde::{Deserialize, Serialize};

/// Settings of Lemke's method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lemke {
    /// Equilibrate rows and columns first.
    pub scaling: bool,
    /// Smallest pivot.
    pub pivot_tolerance: f64,
    /// Two ratios closer than this tie.
    pub tie_tolerance: f64,
    /// Most pivots; by default 50 n + 1000.
    pub max_pivots: Option<usize>,
}

impl Default for Lemke {
    fn default() -> Self {
        Self { scaling: true, pivot_tolerance: 1e-9, tie_tolerance: 1e-9, max_pivots: None }
    }
}

/// Which of each complementary pair is basic: `true` for z.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis(pub Vec<bool>);

/// How a run of Lemke's method ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    /// z₀ has left the basis.
    Solved,
    /// Nothing blocks the entering variable: the direction of z along the ray.
    Ray(Vec<f64>),
    /// The pivots are used up.
    Budget,
}

/// What a run of Lemke's method found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) end: End,
    pub(crate) z: Vec<f64>,
    pub(crate) basis: Basis,
    pub(crate) pivots: usize,
    pub(crate) refactorizations: usize,
    /// The start from the given basis led nowhere and the run began again from z = 0.
    pub(crate) restarted: bool,
}

impl Lemke {
    pub(crate) fn run(&self, lcp: &Lcp, warm: Option<&Basis>) -> Run {
        let _ = (lcp, warm);
        unimplemented!()
    }
}
