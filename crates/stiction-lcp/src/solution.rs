//! The answers: solutions that carry their certificate, and errors that carry the best attempt.

use crate::certificate::{Candidate, Certificate};
use crate::lemke::Basis;
use crate::problem::{FrictionLaw, Malformed};
use crate::proof::Farkas;
use serde::Serialize;

/// A certified answer. Only [`crate::solve()`] makes one, and only from a candidate that passed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Solution {
    #[serde(flatten)]
    candidate: Candidate,
    tolerance: f64,
    law: FrictionLaw,
    work: Work,
    #[serde(skip)]
    basis: Option<Basis>,
}

impl Solution {
    /// The candidate as a solution if its certificate passes, or the candidate back.
    #[allow(clippy::result_large_err, reason = "the candidate's storage comes back")]
    pub(crate) fn accept(
        candidate: Candidate,
        tolerance: f64,
        law: FrictionLaw,
        work: Work,
        basis: Option<Basis>,
    ) -> Result<Self, Candidate> {
        if candidate.certificate.passes(tolerance) {
            Ok(Self { candidate, tolerance, law, work, basis })
        } else {
            Err(candidate)
        }
    }

    /// The same, found after a detour.
    pub(crate) fn after(mut self, detour: Fallback) -> Self {
        self.work.fallbacks.push(detour);
        self
    }

    /// The candidate and the basis, for their storage.
    pub(crate) fn into_parts(self) -> (Candidate, Option<Basis>) {
        (self.candidate, self.basis)
    }

    /// The answer with its residuals, without the claim.
    pub fn into_candidate(self) -> Candidate {
        self.candidate
    }

    /// The unknowns: z, or the impulses of a step problem [N s].
    pub fn z(&self) -> &[f64] {
        &self.candidate.z
    }

    /// The complements: w, or the speed of each row of a step problem [m/s].
    pub fn w(&self) -> &[f64] {
        &self.candidate.w
    }

    /// Velocities of a step problem; empty for a dense one.
    pub fn velocity(&self) -> &[f64] {
        &self.candidate.velocity
    }

    /// The residuals, recomputed from the original data.
    pub fn certificate(&self) -> &Certificate {
        &self.candidate.certificate
    }

    /// The tolerance the certificate has passed.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// The friction law that was solved: the convex one when the solver was asked to relax the problem.
    pub fn law(&self) -> FrictionLaw {
        self.law
    }

    /// What it took.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// The complementary basis, to start the next solve from.
    pub fn basis(&self) -> Option<&Basis> {
        self.basis.as_ref()
    }
}

/// Where a solve may start from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WarmStart {
    /// Values of z, tried as they are.
    pub z: Vec<f64>,
    /// A complementary basis of the dense problem, for pivoting methods.
    pub basis: Option<Basis>,
}

impl From<&Solution> for WarmStart {
    fn from(solution: &Solution) -> Self {
        Self { z: solution.z().to_vec(), basis: solution.basis.clone() }
    }
}

/// What a solve did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Work {
    /// What found the answer.
    pub stage: Stage,
    /// Pivots of Lemke's method.
    pub pivots: usize,
    /// Times a basis was factored anew.
    pub refactorizations: usize,
    /// Convex problems solved by the fixed point, or times Newton's method chose the modes of the contacts.
    pub rounds: usize,
    /// Islands of the structured methods; 0 when they were not asked.
    pub islands: usize,
    /// Factorizations of the structured methods, all islands together.
    pub factorizations: usize,
    /// Of these, those of the interior point method and of the central path.
    pub iterations: usize,
    /// Gauss–Seidel sweeps, all islands together.
    pub sweeps: usize,
    /// Size of the dense problem, 0 when none was formed.
    pub dense_size: usize,
    /// Joint rows that follow from the others; their impulses are zero.
    pub redundant_joints: Vec<usize>,
    /// What had to be done instead of what was asked.
    pub fallbacks: Vec<Fallback>,
}

/// What found an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// No impulse is needed.
    #[default]
    Zero,
    /// The warm start was a solution.
    WarmStart,
    /// Lemke's method.
    Lemke,
    /// Newton's method, from a warm start or an answer that was all but a solution.
    Newton,
    /// The interior point method, and Newton from where it ended.
    Interior,
    /// The central path followed by its length, and Newton from where it ended.
    Path,
    /// Gauss–Seidel sweeps, and Newton from where they ended.
    Sweeps,
    /// Enumeration of all bases.
    Enumerate,
    /// Lemke's method on the convex relaxation.
    Convex,
    /// The fixed point of convex relaxations.
    FixedPoint,
}

/// A documented detour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// The basis given led to a ray or was singular; Lemke's method began again from z = 0.
    ColdStart,
    /// Lemke's method stalled, which mass ratios beyond 1e3 may cause, and was run again with other pivot and tie
    /// tolerances.
    OtherTolerances,
    /// Lemke's method ended a little short of a solution, which rows that all but tie may cause, and was run again
    /// without scaling, or with it if it was off.
    OtherScaling,
    /// The structured methods did not reach the tolerance; the answer holds to the loosest one allowed.
    Loose,
    /// The certificate refused the answer of Lemke's method, which rows that all but tie may cause, and Newton's
    /// method went on from it.
    Newton,
    /// The certificate refused the answer of Lemke's method, which rows that all but tie may cause, and the fixed
    /// point of convex relaxations went on from it.
    FixedPoint,
}

/// Why there is no solution to hand out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LcpError {
    /// The input is not a problem.
    #[error("malformed problem: {0}")]
    Malformed(#[from] Malformed),
    /// The solver does not know a feature of the problem; it never approximates.
    #[error("the {solver} solver does not know {feature}")]
    Unsupported {
        /// The solver asked.
        solver: &'static str,
        /// What it does not know.
        feature: String,
    },
    /// Nothing blocks the way out: infeasible if a proof is given, else inconclusive.
    #[error("{}", match proof {
        Some(proof) => format!("infeasible: a Farkas vector of strength {:.1e} proves that no solution exists", proof.strength),
        None => "ended on a ray, which proves nothing: a solution may or may not exist".to_string(),
    })]
    Ray {
        /// The direction z was free to go.
        ray: Vec<f64>,
        /// Why no solution exists.
        proof: Option<Farkas>,
        /// The best iterate and its residuals.
        best: Box<Candidate>,
    },
    /// Every complementary basis was looked at, and none is a solution.
    #[error("no solution exists: none of the {bases} complementary bases is one")]
    Exhausted {
        /// The bases looked at.
        bases: usize,
        /// Why no solution exists, where it is not only complementarity that fails.
        proof: Option<Farkas>,
        /// The residuals of zero.
        best: Box<Candidate>,
    },
    /// The budget is used up.
    #[error("gave up after {spent} {unit}; the best iterate has residual {:.1e}", best.certificate.worst())]
    Budget {
        /// How much was spent.
        spent: usize,
        /// Of what: pivots, rounds or subsets.
        unit: &'static str,
        /// The best iterate and its residuals.
        best: Box<Candidate>,
    },
    /// The solver believes it is done, and the certificate says it is not.
    #[error("the answer found is not one: residual {:.1e} above the tolerance {tolerance:.1e}", best.certificate.worst())]
    Uncertified {
        /// The tolerance asked for.
        tolerance: f64,
        /// The answer and its residuals.
        best: Box<Candidate>,
    },
}

impl LcpError {
    /// The best iterate and its residuals, where there is one.
    pub fn best(&self) -> Option<&Candidate> {
        match self {
            Self::Malformed(_) | Self::Unsupported { .. } => None,
            Self::Ray { best, .. }
            | Self::Exhausted { best, .. }
            | Self::Budget { best, .. }
            | Self::Uncertified { best, .. } => Some(best),
        }
    }

    /// One word for reports: `malformed`, `unsupported`, `infeasible` (proved), `ray` (inconclusive), `none` (no
    /// basis is a solution), `budget` or `uncertified`.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::Unsupported { .. } => "unsupported",
            Self::Ray { proof: Some(_), .. } | Self::Exhausted { proof: Some(_), .. } => "infeasible",
            Self::Exhausted { proof: None, .. } => "none",
            Self::Ray { proof: None, .. } => "ray",
            Self::Budget { .. } => "budget",
            Self::Uncertified { .. } => "uncertified",
        }
    }
}
