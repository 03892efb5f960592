//! Certificates: residuals of a candidate, recomputed from the original data of the problem and the impulses alone.
//!
//! This module knows the problems and no solver. Velocities are recomputed from the impulses, so the opinion of a
//! solver does not enter.

mod dense;
mod local;
mod step;

use crate::problem::{Lcp, Malformed, Mlcp, Prepared, Problem, StepProblem};
use dense::DenseJudge;
use local::LocalJudge;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
pub(crate) use step::Mobility;
use step::StepJudge;

/// Dimensionless residuals of a candidate.
///
/// For a step problem speeds are measured by [`Certificate::speed`], impulses by the speed they cause at
/// their own row. None of them changes when masses, lengths and times are measured in other units.
/// All rows of a step problem are speeds and share one scale, so a row whose speeds are below the tolerance times that
/// scale is not resolved. Rows of a dense problem may have any units: each is measured by the largest of its own terms
/// |q_i| and |M_ij z_j|, and `z_j` by the largest part |M_ij z_j| that it has in a row, relative to that. A row without
/// `q_i`, whose terms may all be round-off, is also measured by unknowns as large as the rows with q allow. So a row is
/// resolved however large the others are, and nothing changes when rows and columns are scaled by positive factors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Speed scale V₀ that residuals are relative to [m/s]: the largest of the joint errors and of the closing
    /// and slip speeds of closing contacts before any impulse, and the problem's own speed scale. Of a dense problem the
    /// largest entry of q, which measures nothing.
    pub speed: f64,
    /// Momentum balance: largest error of a component of M̃ v − b − Jᵀp against the size of its terms.
    pub momentum: f64,
    /// Joint rows, or free rows: largest |νᵀv + C c_ν + Υ| / V₀.
    pub joints: f64,
    /// Natural map: largest |min(W z, w)| / V₀, for λ rows |min(λ, W ζ)| / V₀, for an ellipse the distance
    /// to its projection.
    pub natural_map: f64,
    /// Impulses outside their cone: largest W max(0, −c_n, −β, Σβ − μ c_n − κ) / V₀.
    pub cone: f64,
    /// Complementarity: largest |W z w| / V₀² (an energy, so its natural size is the square of the others').
    pub complementarity: f64,
    /// Maximum dissipation: largest W ((μ c_n + κ) λ + p_t·u_t) / V₀² over the contacts.
    pub dissipation: f64,
    /// Residuals of each contact.
    #[serde(default)]
    pub contacts: Vec<ContactResidual>,
}

/// Residuals of one contact, in the units of [`Certificate`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactResidual {
    /// Slip speed λ at its minimal value [m/s], as the friction set measures it. AH04 Lemma 2.2
    pub lambda: f64,
    /// Natural map of its rows.
    pub natural_map: f64,
    /// Distance of its impulse outside the friction cone.
    pub cone: f64,
    /// Deviation of its friction from maximum dissipation.
    pub dissipation: f64,
}

impl Certificate {
    /// Largest residual that is linear in the error: momentum, joints, natural map and cone. NaN counts as
    /// infinite.
    pub fn worst(&self) -> f64 {
        [self.momentum, self.joints, self.natural_map, self.cone].into_iter().fold(0.0, larger)
    }

    /// Copies another certificate into the memory of this one.
    pub fn copy_from(&mut self, other: &Self) {
        let mut contacts = std::mem::take(&mut self.contacts);
        contacts.clone_from(&other.contacts);
        let Self { speed, momentum, joints, natural_map, cone, complementarity, dissipation, .. } = *other;
        *self = Self { speed, momentum, joints, natural_map, cone, complementarity, dissipation, contacts };
    }

    /// Adds the residuals of a contact.
    fn take(&mut self, own: ContactResidual, complementarity: f64) {
        self.natural_map = larger(self.natural_map, own.natural_map);
        self.cone = larger(self.cone, own.cone);
        self.dissipation = larger(self.dissipation, own.dissipation);
        self.complementarity = larger(self.complementarity, complementarity);
        self.contacts.push(own);
    }

    /// `true` when every residual is at most `tolerance`.
    pub fn passes(&self, tolerance: f64) -> bool {
        self.worst() <= tolerance
    }
}

/// Candidate solution with its certificate; it need not be a solution.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Candidate {
    /// Unknowns: z, or the impulses of a step problem [N s].
    pub z: Vec<f64>,
    /// Complements: w, or the speed of each row [m/s] (with λ at its minimal value).
    pub w: Vec<f64>,
    /// Velocities of a step problem, recomputed from the impulses; u of a problem in local form.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub velocity: Vec<f64>,
    /// Residuals.
    pub certificate: Certificate,
}

/// Certifies `z` as a solution of `problem`; `z` is cut or filled with zeros to its size.
pub fn certify<'a>(problem: impl Into<Problem<'a>>, z: &[f64]) -> Result<Candidate, Malformed> {
    let problem = problem.into();
    let mut prepared = Prepared::default();
    match problem {
        Problem::Step(step) => prepared.prepare(step)?,
        _ => problem.check()?,
    }
    let mut judge = Judge::new(problem, Arc::new(prepared), JudgeBuffers::default());
    Ok(judge.certify(z, Candidate::default()))
}

/// Certifies `z` together with a given velocity: the momentum balance and every row at that velocity, which is cut or
/// filled with zeros to its size.
pub fn certify_motion(problem: &StepProblem, z: &[f64], velocity: &[f64]) -> Result<Candidate, Malformed> {
    let mut prepared = Prepared::default();
    prepared.prepare(problem)?;
    let mut judge = StepJudge::new(problem, Arc::new(prepared), JudgeBuffers::default());
    let mut candidate = Candidate::default();
    judge.certify(z, Some(velocity), &mut candidate);
    Ok(candidate)
}

/// Problem with the data that all its certificates share.
pub(crate) enum Judge<'a> {
    Dense(DenseJudge<'a>),
    Step(StepJudge<'a>),
    Local(LocalJudge<'a>),
}

/// Buffers of a judge, kept from problem to problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct JudgeBuffers {
    contacts: Vec<Mobility>,
    /// Residuals and complementarity of each contact, and the speeds of its rows.
    judged: Vec<((ContactResidual, f64), [f64; 4])>,
    momentum: Vec<f64>,
    left: Vec<f64>,
    size: Vec<f64>,
}

impl<'a> Judge<'a> {
    /// Judge of a problem that has been checked; `prepared` belongs to a step problem.
    pub(crate) fn new(problem: Problem<'a>, prepared: Arc<Prepared>, buffers: JudgeBuffers) -> Self {
        match problem {
            Problem::Lcp(Lcp { m, q }) => Self::Dense(DenseJudge::new(m, q, &[], buffers)),
            Problem::Mlcp(Mlcp { m, q, free }) => Self::Dense(DenseJudge::new(m, q, free, buffers)),
            Problem::Step(step) => Self::Step(StepJudge::new(step, prepared, buffers)),
            Problem::Local(local) => Self::Local(LocalJudge::new(local, buffers)),
        }
    }

    /// Certificate of `z`, in the memory of an old candidate.
    pub(crate) fn certify(&mut self, z: &[f64], mut old: Candidate) -> Candidate {
        match self {
            Self::Dense(judge) => judge.certify(z, &mut old),
            Self::Step(judge) => judge.certify(z, None, &mut old),
            Self::Local(judge) => judge.certify(z, &mut old),
        }
        old
    }

    /// Speed scale V₀ of a step [m/s]; 1 for a dense problem, where it is not used.
    pub(crate) fn speed(&self) -> f64 {
        match self {
            Self::Dense(_) => 1.0,
            Self::Step(judge) => judge.speed,
            Self::Local(judge) => judge.speed,
        }
    }

    /// Lower bound on the residual of zero impulses; 0 where it is not known.
    pub(crate) fn free(&self) -> f64 {
        if let Self::Step(judge) = self { judge.free } else { 0.0 }
    }

    /// Mobilities of the contacts of a step.
    pub(crate) fn mobilities(&self) -> &[Mobility] {
        if let Self::Step(judge) = self { &judge.buffers.contacts } else { &[] }
    }

    /// Velocity of a step with the impulses `z`; empty for a dense problem.
    pub(crate) fn velocity(&mut self, z: &[f64], out: &mut Vec<f64>) {
        out.clear();
        if let Self::Step(judge) = self {
            judge.velocity(z, out);
        }
    }

    /// Gives the buffers back.
    pub(crate) fn into_buffers(self) -> JudgeBuffers {
        match self {
            Self::Dense(judge) => judge.buffers,
            Self::Step(judge) => judge.buffers,
            Self::Local(judge) => judge.buffers,
        }
    }
}

/// Residuals of a contact's rows, accumulated.
#[derive(Default)]
struct RowResiduals {
    speed: f64,
    natural_map: f64,
    cone: f64,
    complementarity: f64,
}

impl RowResiduals {
    /// Adds an impulse in units of speed and its complement.
    fn pair(&mut self, z: f64, w: f64) {
        let (z, w) = (z / self.speed, w / self.speed);
        self.natural_map = larger(self.natural_map, smaller(z, w).abs());
        self.cone = larger(self.cone, (-z).max(0.0));
        self.complementarity = larger(self.complementarity, (z * w).abs());
    }

    /// Adds the natural map |W p − P(W p − u)| of the circle, P the projection onto the disc of radius W·bound.
    fn disc(&mut self, w: f64, p: [f64; 3], u: [f64; 3], bound: f64) {
        let x: [f64; 3] = std::array::from_fn(|k| w * p[k] - u[k]);
        let radius = (w * bound).max(0.0);
        let length = norm(x);
        let shrink = if length > radius { radius / length } else { 1.0 };
        let distance = norm(std::array::from_fn(|k| w * p[k] - shrink * x[k]));
        self.natural_map = larger(self.natural_map, distance / self.speed);
        let outside = w * (norm(p) - bound);
        self.cone = larger(self.cone, outside.max(0.0) / self.speed);
        let zeta = w * (bound - norm(p));
        let lambda = norm(u);
        self.complementarity =
            larger(self.complementarity, (zeta / self.speed * (lambda / self.speed)).abs());
    }

    fn residual(&self, lambda: f64, dissipation: f64) -> ContactResidual {
        ContactResidual { lambda, natural_map: self.natural_map, cone: self.cone, dissipation }
    }
}

impl Candidate {
    /// Sets `z`, cut or filled with zeros to size `n`, and empties everything else.
    fn begin(&mut self, z: &[f64], n: usize, speed: f64) {
        self.z.clear();
        self.z.extend(z.iter().take(n));
        self.z.resize(n, 0.0);
        self.w.clear();
        self.w.resize(n, 0.0);
        self.velocity.clear();
        let mut contacts = std::mem::take(&mut self.certificate.contacts);
        contacts.clear();
        self.certificate = Certificate { speed, contacts, ..Certificate::default() };
    }
}

/// Length of an impulse or a slip along up to three tangent rows.
fn norm(x: [f64; 3]) -> f64 {
    let [a, b, c] = x;
    if c == 0.0 { a.hypot(b) } else { a.hypot(b).hypot(c) }
}

/// Larger of two residuals; NaN counts as infinite.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::INFINITY } else { a.max(b) }
}

/// Smaller of two numbers; NaN if either is.
fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}
