//! Results of a solve: solutions that carry their certificate, and errors that carry the best candidate.

use crate::certificate::{Candidate, Certificate};
use crate::lemke::Basis;
use crate::problem::{FrictionLaw, Malformed};
use crate::proof::Farkas;
use serde::Serialize;

/// Certified solution. Only [`crate::solve()`] makes one, and only from a candidate whose certificate passes.
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
    /// Candidate as a solution if its certificate passes, else the candidate back.
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

    /// Solution with this fallback added to its work.
    pub(crate) fn after(mut self, fallback: Fallback) -> Self {
        self.work.fallbacks.push(fallback);
        self
    }

    /// Candidate and basis, for their storage.
    pub(crate) fn into_parts(self) -> (Candidate, Option<Basis>) {
        (self.candidate, self.basis)
    }

    /// Candidate with its residuals, without the claim that it is a solution.
    pub fn into_candidate(self) -> Candidate {
        self.candidate
    }

    /// Unknowns z, or the impulses of a step problem [N s].
    pub fn z(&self) -> &[f64] {
        &self.candidate.z
    }

    /// Complements w, or the speed of each row of a step problem [m/s].
    pub fn w(&self) -> &[f64] {
        &self.candidate.w
    }

    /// Velocities of a step problem; empty for a dense one.
    pub fn velocity(&self) -> &[f64] {
        &self.candidate.velocity
    }

    /// Residuals, recomputed from the original data.
    pub fn certificate(&self) -> &Certificate {
        &self.candidate.certificate
    }

    /// Tolerance that the certificate has passed.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Friction law that was solved: the convex law if the solver was asked to relax the problem.
    pub fn law(&self) -> FrictionLaw {
        self.law
    }

    /// Work of the solve.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// Complementary basis, as a warm start of the next solve.
    pub fn basis(&self) -> Option<&Basis> {
        self.basis.as_ref()
    }
}

/// Warm start of a solve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WarmStart {
    /// Values of z.
    pub z: Vec<f64>,
    /// Complementary basis of the dense problem, for pivoting methods.
    pub basis: Option<Basis>,
}

impl From<&Solution> for WarmStart {
    fn from(solution: &Solution) -> Self {
        Self { z: solution.z().to_vec(), basis: solution.basis.clone() }
    }
}

/// Work of a solve: counters, and the method that found the solution.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Work {
    /// Method that found the solution.
    pub stage: Stage,
    /// `true` if the impulses of the warm start were accepted as they are.
    pub held: bool,
    /// Number of pivots of Lemke's method.
    pub pivots: usize,
    /// Number of refactorizations of a basis.
    pub refactorizations: usize,
    /// Number of convex problems solved by the fixed point, or of mode choices of Newton's method.
    pub rounds: usize,
    /// Number of islands of the structured methods; 0 if they did not run.
    pub islands: usize,
    /// Number of factorizations of the structured methods, over all islands.
    pub factorizations: usize,
    /// Number of these factorizations that the interior point and central path methods made.
    pub iterations: usize,
    /// Number of Gauss–Seidel sweeps, over all islands.
    pub sweeps: usize,
    /// Size of the dense problem; 0 if none was formed.
    pub dense_size: usize,
    /// Redundant joint rows; their impulses are zero.
    pub redundant_joints: Vec<usize>,
    /// Fallbacks, in order.
    pub fallbacks: Vec<Fallback>,
}

/// Method that found a solution.
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
    /// Newton's method, from a warm start or from a candidate near a solution.
    Newton,
    /// Interior point method, then Newton's method.
    Interior,
    /// Central path by arc length, then Newton's method.
    Path,
    /// Gauss–Seidel sweeps, then Newton's method.
    Sweeps,
    /// Enumeration of all bases.
    Enumerate,
    /// Lemke's method on the convex relaxation.
    Convex,
    /// Fixed point of convex relaxations.
    FixedPoint,
}

/// Fallback: a method that ran after the one that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// Lemke's method restarted from z = 0: the given basis ended in a ray or was singular.
    ColdStart,
    /// Lemke's method ran again with other pivot and tie tolerances: it had stalled, which mass ratios beyond 1e3 may
    /// cause.
    OtherTolerances,
    /// Lemke's method ran again with the other scaling: it had ended just short of a solution, which nearly tied rows may
    /// cause.
    OtherScaling,
    /// Solution within [`Solver::loosest`](crate::Solver::loosest) only: the structured methods did not reach the
    /// tolerance.
    Loose,
    /// Newton's method from the candidate of Lemke's method: the certificate had refused it, which nearly tied rows may
    /// cause.
    Newton,
    /// Fixed point of convex relaxations from the candidate of Lemke's method: the certificate had refused it, which nearly
    /// tied rows may cause.
    FixedPoint,
    /// Lemke's method with a proximal term that vanishes, on a dense problem: it had ended without a solution.
    Proximal,
    /// Enumeration of all bases of a small dense problem: the other methods had ended without a solution.
    Enumeration,
}

/// Reason why a solve has no solution.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LcpError {
    /// Malformed input.
    #[error("malformed problem: {0}")]
    Malformed(#[from] Malformed),
    /// Unsupported feature of the problem; solvers never approximate.
    #[error("the {solver} solver does not support {feature}")]
    Unsupported {
        /// Name of the solver.
        solver: &'static str,
        /// Feature that it does not support.
        feature: String,
    },
    /// Pivoting ended on a ray: infeasible if a proof is given, else inconclusive.
    #[error("{}", match proof {
        Some(proof) => format!("infeasible: a Farkas vector of strength {:.1e} proves that no solution exists", proof.strength),
        None => "inconclusive: pivoting ended on a ray, a solution may or may not exist".to_string(),
    })]
    Ray {
        /// Direction of the ray in z.
        ray: Vec<f64>,
        /// Proof that no solution exists.
        proof: Option<Farkas>,
        /// Best candidate with its residuals.
        best: Box<Candidate>,
    },
    /// Every complementary basis was enumerated, and none is a solution.
    #[error("no solution exists: none of the {bases} complementary bases is one")]
    Exhausted {
        /// Number of bases.
        bases: usize,
        /// Proof that no solution exists, if it is not only complementarity that fails.
        proof: Option<Farkas>,
        /// Zero with its residuals.
        best: Box<Candidate>,
    },
    /// Iteration limit reached.
    #[error("no solution within {spent} {unit}: {}", residual(best))]
    Budget {
        /// Number of units spent.
        spent: usize,
        /// Unit: pivots, factorizations, rounds or subsets.
        unit: &'static str,
        /// Best candidate with its residuals.
        best: Box<Candidate>,
    },
    /// Candidate that the certificate refuses, although the method ended regularly.
    #[error("no solution within tolerance: {}, tolerance {tolerance:.0e}", residual(best))]
    Uncertified {
        /// Tolerance asked for.
        tolerance: f64,
        /// Candidate with its residuals.
        best: Box<Candidate>,
    },
}

impl LcpError {
    /// Best candidate with its residuals, if there is one.
    pub fn best(&self) -> Option<&Candidate> {
        match self {
            Self::Malformed(_) | Self::Unsupported { .. } => None,
            Self::Ray { best, .. }
            | Self::Exhausted { best, .. }
            | Self::Budget { best, .. }
            | Self::Uncertified { best, .. } => Some(best),
        }
    }

    /// Status in one word: `malformed`, `unsupported`, `infeasible` (proved), `ray` (inconclusive), `none` (no basis is a
    /// solution), `budget` or `uncertified`.
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

/// Residual of a candidate in words, with the contact it occurs at if it is one of a contact.
fn residual(candidate: &Candidate) -> String {
    let certificate = &candidate.certificate;
    let worst = certificate.worst();
    let at = certificate.contacts.iter().position(|c| c.natural_map.max(c.cone) >= worst);
    at.map_or_else(|| format!("residual {worst:.1e}"), |i| format!("residual {worst:.1e} at contact {i}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::ContactResidual;

    #[test]
    fn errors_name_residual_place_and_tolerance() {
        let mut best = Candidate::default();
        best.certificate.joints = 3e-9;
        let message = |best: &Candidate| {
            LcpError::Uncertified { tolerance: 1e-10, best: Box::new(best.clone()) }.to_string()
        };
        assert_eq!(message(&best), "no solution within tolerance: residual 3.0e-9, tolerance 1e-10");
        best.certificate.natural_map = 5e-9;
        best.certificate.contacts =
            vec![ContactResidual::default(), ContactResidual { natural_map: 5e-9, ..Default::default() }];
        assert_eq!(
            message(&best),
            "no solution within tolerance: residual 5.0e-9 at contact 1, tolerance 1e-10"
        );
        let budget = LcpError::Budget { spent: 8, unit: "pivots", best: Box::new(best) };
        assert_eq!(budget.to_string(), "no solution within 8 pivots: residual 5.0e-9 at contact 1");
    }
}
