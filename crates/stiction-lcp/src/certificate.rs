//! The judge: residuals of a candidate, recomputed from the problem's original data and its impulses alone.
//!
//! This file knows the problems and no solver. Velocities are computed here from the impulses, so a solver
//! cannot talk its way past: whatever it believes, only impulses go in.

use crate::problem::{
    Contact, FrictionLaw, FrictionSet, Lcp, Malformed, Mlcp, OffsetRow, Prepared, Problem, StepProblem,
};
use nalgebra::{DMatrix, DVector};
use serde::Serialize;
use std::sync::Arc;

/// Dimensionless residuals of a candidate.
///
/// For a step problem speeds are measured by [`Certificate::speed`], impulses by the speed they cause at
/// their own row. None of them changes when masses, lengths and times are measured in other units.
/// For a dense problem speeds are measured by the largest entry of q, and `z_j` by `M_jj` (or the largest
/// entry of its row and column where that is zero).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Certificate {
    /// V₀, the speed the residuals are measured by [m/s]: the largest of the joint errors and of the closing
    /// and slip speeds of closing contacts before any impulse, and the problem's own speed scale.
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
    /// The residuals of each contact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contacts: Vec<ContactResidual>,
}

/// Residuals of one contact, in the units of [`Certificate`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ContactResidual {
    /// λ at its minimal value [m/s]: the speed of slip as the friction set measures it. AH04 Lemma 2.2
    pub lambda: f64,
    /// Natural map of its rows.
    pub natural_map: f64,
    /// How far its impulse lies outside the friction cone.
    pub cone: f64,
    /// How far its friction is from dissipating the most.
    pub dissipation: f64,
}

impl Certificate {
    /// The largest residual that is linear in the error: momentum, joints, natural map and cone. A number
    /// that is not one counts as infinite.
    pub fn worst(&self) -> f64 {
        [self.momentum, self.joints, self.natural_map, self.cone].into_iter().fold(0.0, larger)
    }

    /// Takes the values of another certificate, in the storage of this one.
    pub fn copy_from(&mut self, other: &Self) {
        let mut contacts = std::mem::take(&mut self.contacts);
        contacts.clone_from(&other.contacts);
        let Self { speed, momentum, joints, natural_map, cone, complementarity, dissipation, .. } = *other;
        *self = Self { speed, momentum, joints, natural_map, cone, complementarity, dissipation, contacts };
    }

    /// `true` when every residual is at most `tolerance`.
    pub fn passes(&self, tolerance: f64) -> bool {
        self.worst() <= tolerance
    }
}

/// An answer with its certificate, and no claim that it is a solution.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Candidate {
    /// The unknowns: z, or the impulses of a step problem [N s].
    pub z: Vec<f64>,
    /// The complements: w, or the speed of each row [m/s] (with λ at its minimal value).
    pub w: Vec<f64>,
    /// Velocities of a step problem, recomputed from the impulses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub velocity: Vec<f64>,
    /// The residuals.
    pub certificate: Certificate,
}

/// Judges `z` as an answer to `problem`; `z` is cut or filled with zeros to its size.
pub fn certify<'a>(problem: impl Into<Problem<'a>>, z: &[f64]) -> Result<Candidate, Malformed> {
    let problem = problem.into();
    let mut prepared = Prepared::default();
    match problem {
        Problem::Step(step) => prepared.prepare(step)?,
        _ => problem.check()?,
    }
    let mut judge = Judge::new(problem, Arc::new(prepared), Storage::default());
    Ok(judge.certify(z, Candidate::default()))
}

/// A problem with all that its certificates share.
pub(crate) enum Judge<'a> {
    Dense(DenseJudge<'a>),
    Step(StepJudge<'a>),
}

/// Storage of a judge, kept from problem to problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct Storage {
    contacts: Vec<Mobility>,
    momentum: Vec<f64>,
    left: Vec<f64>,
    size: Vec<f64>,
}

impl<'a> Judge<'a> {
    /// Prepares to judge answers to a problem that has been checked; `prepared` belongs to a step problem.
    pub(crate) fn new(problem: Problem<'a>, prepared: Arc<Prepared>, storage: Storage) -> Self {
        match problem {
            Problem::Lcp(Lcp { m, q }) => Self::Dense(DenseJudge::new(m, q, &[], storage)),
            Problem::Mlcp(Mlcp { m, q, free }) => Self::Dense(DenseJudge::new(m, q, free, storage)),
            Problem::Step(step) => Self::Step(StepJudge::new(step, prepared, storage)),
        }
    }

    /// The certificate of `z`, in the storage of an old candidate.
    pub(crate) fn certify(&mut self, z: &[f64], mut old: Candidate) -> Candidate {
        match self {
            Self::Dense(judge) => judge.certify(z, &mut old),
            Self::Step(judge) => judge.certify(z, &mut old),
        }
        old
    }

    /// Gives the storage back.
    pub(crate) fn into_storage(self) -> Storage {
        match self {
            Self::Dense(judge) => judge.storage,
            Self::Step(judge) => judge.storage,
        }
    }
}

pub(crate) struct DenseJudge<'a> {
    m: &'a DMatrix<f64>,
    q: &'a DVector<f64>,
    free: &'a [bool],
    storage: Storage,
    speed: f64,
}

impl<'a> DenseJudge<'a> {
    fn new(m: &'a DMatrix<f64>, q: &'a DVector<f64>, free: &'a [bool], storage: Storage) -> Self {
        let speed = q.amax().max(f64::MIN_POSITIVE);
        Self { m, q, free, storage, speed }
    }

    fn certify(&self, z: &[f64], out: &mut Candidate) {
        out.begin(z, self.q.len(), self.speed);
        out.w.copy_from_slice(self.q.as_slice());
        // column after column, as the matrix is stored; most unknowns of a solution are zero
        for (column, &z) in self.m.as_slice().chunks_exact(self.q.len()).zip(&out.z) {
            if z != 0.0 {
                out.w.iter_mut().zip(column).for_each(|(w, m)| *w += m * z);
            }
        }
        let residual = &mut out.certificate;
        let mut rows = Rows { speed: self.speed, ..Rows::default() };
        for (j, (&z, &w)) in out.z.iter().zip(&out.w).enumerate() {
            if self.free.get(j).copied().unwrap_or(false) {
                residual.joints = larger(residual.joints, w.abs() / self.speed);
            } else {
                // zero weighs nothing, and most unknowns of a solution are zero
                rows.pair(if z == 0.0 { 0.0 } else { weight(self.m, j) * z }, w);
            }
        }
        (residual.natural_map, residual.cone) = (rows.natural_map, rows.cone);
        residual.complementarity = rows.complementarity;
    }
}

/// How much `w` one unit of `z_j` is worth: `M_jj`, or the largest entry of its row and column where that is
/// only round-off of them.
fn weight(m: &DMatrix<f64>, j: usize) -> f64 {
    let diagonal = m[(j, j)].abs();
    let n = m.nrows();
    let column = largest(&m.as_slice()[j * n..][..n]);
    if diagonal > 1e-12 * column {
        return diagonal;
    }
    let around = m.row(j).iter().fold(column, |a: f64, x| a.max(x.abs()));
    if around > 0.0 { around } else { 1.0 }
}

/// The largest size of a number, in eight lanes at a time.
fn largest(numbers: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let chunks = numbers.chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = if x.abs() > *lane { x.abs() } else { *lane };
        }
    }
    lanes.iter().chain(rest).fold(0.0, |a, x| if x.abs() > a { x.abs() } else { a })
}

pub(crate) struct StepJudge<'a> {
    problem: &'a StepProblem,
    prepared: Arc<Prepared>,
    storage: Storage,
    speed: f64,
}

/// The speed one unit of impulse causes at the rows of a contact [m/s per N s].
#[derive(Debug, Clone, Copy, Default)]
struct Mobility {
    /// W_nn of the normal row.
    normal: f64,
    /// The tangent rows' block of W.
    tangent: [[f64; 2]; 2],
}

impl Mobility {
    /// One number for the tangent rows: the mean of their diagonal, or of the normal row's where they are 0.
    fn of_tangents(&self, tangents: usize) -> f64 {
        let trace = self.tangent[0][0] + self.tangent[1][1];
        if trace > 0.0 { trace / tangents as f64 } else { self.normal }
    }

    /// f·W f for a generator f.
    fn along(&self, f: [f64; 2]) -> f64 {
        let [[a, b], [c, d]] = self.tangent;
        f[0] * (a * f[0] + b * f[1]) + f[1] * (c * f[0] + d * f[1])
    }
}

impl<'a> StepJudge<'a> {
    fn new(problem: &'a StepProblem, prepared: Arc<Prepared>, mut storage: Storage) -> Self {
        let n = prepared.layout.velocities();
        for buffer in [&mut storage.momentum, &mut storage.left, &mut storage.size] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        let response = &mut storage.left;
        storage.contacts.clear();
        storage.contacts.extend(problem.contacts.iter().map(|c| mobility(c, &prepared, response)));
        let mut judge = Self { problem, prepared, storage, speed: 0.0 };
        judge.speed = judge.free_speed();
        judge
    }

    /// V₀: how fast joints and closing contacts would go wrong if no impulse acted.
    fn free_speed(&mut self) -> f64 {
        let mut v = std::mem::take(&mut self.storage.size);
        self.gather_momentum(&[]);
        self.solve_velocity(&mut v);
        let start = &self.prepared.layout.velocity;
        let speed = |row: &OffsetRow| row.row.dot(start, &v) + row.offset;
        let joints = self.problem.joints.iter().map(|j| speed(&j.row).abs());
        let contacts = self.problem.contacts.iter().map(|c| {
            let closing = c.normal.as_ref().map_or(0.0, |n| -speed(n));
            // separated pairs must not make the scale lax
            if c.normal.is_some() && closing <= 0.0 {
                return 0.0;
            }
            let slip = c.tangents.iter().map(|t| speed(t).powi(2)).sum::<f64>().sqrt();
            closing.max(slip)
        });
        let largest = joints.chain(contacts).fold(self.problem.speed_scale, f64::max).max(f64::MIN_POSITIVE);
        self.storage.size = v;
        largest
    }

    /// v = M̃⁻¹ (b + Jᵀ p) from the gathered momentum, with one step of refinement.
    fn solve_velocity(&mut self, v: &mut [f64]) {
        let Prepared { layout, mass } = &*self.prepared;
        let Storage { momentum, left: error, .. } = &mut self.storage;
        v.copy_from_slice(momentum);
        mass.solve(v);
        self.problem.multiply_mass(&layout.velocity, v, error);
        error.iter_mut().zip(&*momentum).for_each(|(e, p)| *e = p - *e);
        mass.solve(error);
        v.iter_mut().zip(&*error).for_each(|(v, e)| *v += e);
    }

    /// b + Jᵀ p, with no impulses for an empty `z`.
    fn gather_momentum(&mut self, z: &[f64]) {
        let prepared = self.prepared.clone();
        let start = &prepared.layout.velocity;
        let mut momentum = std::mem::take(&mut self.storage.momentum);
        for (body, &s) in self.problem.bodies.iter().zip(start) {
            momentum[s..s + body.velocities].copy_from_slice(&body.momentum.as_slice()[..body.velocities]);
        }
        if !z.is_empty() {
            self.for_each_impulse(z, |row, p| row.row.add_transposed(start, p, &mut momentum));
        }
        self.storage.momentum = momentum;
    }

    fn for_each_impulse(&self, z: &[f64], mut f: impl FnMut(&OffsetRow, f64)) {
        for (joint, &c) in self.problem.joints.iter().zip(z) {
            f(&joint.row, c);
        }
        for (i, contact) in self.problem.contacts.iter().enumerate() {
            let (normal, friction) = self.split(contact, i, z);
            if let Some(row) = &contact.normal {
                f(row, normal);
            }
            let p = contact.tangent_impulse(friction);
            contact.tangents.iter().zip(p).for_each(|(row, p)| f(row, p));
        }
    }

    /// Normal impulse and friction unknowns of contact `i`.
    fn split<'z>(&self, contact: &Contact, i: usize, z: &'z [f64]) -> (f64, &'z [f64]) {
        let own = &z[self.prepared.layout.contact[i]..self.prepared.layout.contact[i + 1]];
        if contact.normal.is_some() { (own[0], &own[1..]) } else { (0.0, own) }
    }

    /// Largest error of a momentum component against the size of its terms, from the gathered momentum.
    fn momentum_error(&mut self, z: &[f64], v: &[f64]) -> f64 {
        let prepared = self.prepared.clone();
        let start = &prepared.layout.velocity;
        let (mut left, mut size) =
            (std::mem::take(&mut self.storage.left), std::mem::take(&mut self.storage.size));
        self.problem.multiply_mass(start, v, &mut left);
        self.problem.multiply_mass_sizes(start, v, &mut size);
        self.for_each_impulse(z, |row, p| row.row.for_each(start, |i, x| size[i] += (p * x).abs()));
        // below this numbers are denormal and lose their digits: a spin that dies out goes through there
        let least = f64::MIN_POSITIVE / f64::EPSILON;
        let worst = (0..v.len()).fold(0.0, |worst, i| {
            let right = self.storage.momentum[i];
            let error = (left[i] - right).abs();
            larger(worst, error / size[i].max(right.abs()).max(least))
        });
        (self.storage.left, self.storage.size) = (left, size);
        worst
    }

    fn certify(&mut self, z: &[f64], out: &mut Candidate) {
        let prepared = self.prepared.clone();
        let layout = &prepared.layout;
        out.begin(z, layout.impulses, self.speed);
        let Candidate { z, w, velocity, certificate: residual } = out;
        velocity.resize(layout.velocities(), 0.0);
        self.gather_momentum(z);
        self.solve_velocity(velocity);
        residual.momentum = self.momentum_error(z, velocity);
        for (i, joint) in self.problem.joints.iter().enumerate() {
            w[i] = self.row_speed(&joint.row, velocity) + joint.compliance * z[i];
            residual.joints = larger(residual.joints, w[i].abs() / self.speed);
        }
        for (i, contact) in self.problem.contacts.iter().enumerate() {
            let range = layout.contact[i]..layout.contact[i + 1];
            let (own, complementarity) = self.judge_contact(contact, i, z, velocity, &mut w[range]);
            residual.natural_map = larger(residual.natural_map, own.natural_map);
            residual.cone = larger(residual.cone, own.cone);
            residual.dissipation = larger(residual.dissipation, own.dissipation);
            residual.complementarity = larger(residual.complementarity, complementarity);
            residual.contacts.push(own);
        }
    }

    fn row_speed(&self, row: &OffsetRow, v: &[f64]) -> f64 {
        row.row.dot(&self.prepared.layout.velocity, v) + row.offset
    }

    /// Residuals of contact `i` and its complementarity; fills its part of `w`.
    fn judge_contact(
        &self,
        contact: &Contact,
        i: usize,
        z: &[f64],
        v: &[f64],
        w: &mut [f64],
    ) -> (ContactResidual, f64) {
        let mobility = self.storage.contacts[i];
        let mut slip = [0.0; 2];
        for (u, tangent) in slip.iter_mut().zip(&contact.tangents) {
            *u = self.row_speed(tangent, v);
        }
        let (normal, friction) = self.split(contact, i, z);
        let bound = contact.mu * normal + contact.kappa;
        let lambda = slip_speed(contact, slip);
        let mut rows = Rows { speed: self.speed, ..Rows::default() };
        let (w_normal, w_friction) = w.split_at_mut(usize::from(contact.normal.is_some()));
        if let Some(row) = &contact.normal {
            let mut rho = self.row_speed(row, v);
            if self.problem.law == FrictionLaw::Convex {
                // the relaxation opens sliding contacts: nᵀv + μ dᵢᵀv + Δ ≥ 0, AH04 (2.13)
                rho -= contact.mu * lambda;
            }
            w_normal[0] = rho;
            rows.pair(mobility.normal * normal, rho);
        }
        if contact.tangents.is_empty() {
            return (rows.residual(lambda, 0.0), rows.complementarity);
        }
        let w_tt = mobility.of_tangents(contact.tangents.len());
        match &contact.set {
            FrictionSet::Polygon(generators) => {
                for (k, f) in generators.iter().enumerate() {
                    let sigma = f[0] * slip[0] + f[1] * slip[1] + lambda;
                    w_friction[k] = sigma;
                    rows.pair(mobility.along(*f) * friction[k], sigma);
                }
                let zeta = bound - friction.iter().sum::<f64>();
                rows.pair(w_tt * zeta, lambda);
            }
            FrictionSet::Ellipse(axes) => {
                w_friction.copy_from_slice(&slip[..w_friction.len()]);
                // stretched so that the ellipse is a circle, which leaves p·u as it is
                let p: [f64; 2] = std::array::from_fn(|k| friction[k] / axes[k]);
                let u: [f64; 2] = std::array::from_fn(|k| slip[k] * axes[k]);
                rows.disc(w_tt, p, u, bound);
            }
        }
        let impulse = contact.tangent_impulse(friction);
        let work = bound * lambda + impulse[0] * slip[0] + impulse[1] * slip[1];
        let dissipation = w_tt / self.speed * (work / self.speed).abs();
        (rows.residual(lambda, dissipation), rows.complementarity)
    }
}

/// The mobility of a contact's rows; `response` is zero before and after.
fn mobility(contact: &Contact, prepared: &Prepared, response: &mut [f64]) -> Mobility {
    let (start, mass) = (&prepared.layout.velocity, &prepared.mass);
    let mut mobility = Mobility::default();
    if let Some(normal) = &contact.normal {
        mass.respond(&normal.row, start, response);
        mobility.normal = normal.row.dot(start, response);
        mass.clear(&normal.row, start, response);
    }
    for (k, tangent) in contact.tangents.iter().enumerate() {
        mass.respond(&tangent.row, start, response);
        for (i, other) in contact.tangents.iter().enumerate() {
            mobility.tangent[i][k] = other.row.dot(start, response);
        }
        mass.clear(&tangent.row, start, response);
    }
    mobility
}

/// λ at its minimal value: how fast the contact slips as its friction set measures it. AH04 Lemma 2.2
fn slip_speed(contact: &Contact, slip: [f64; 2]) -> f64 {
    if contact.tangents.is_empty() {
        return 0.0;
    }
    match &contact.set {
        FrictionSet::Polygon(f) => f.iter().map(|f| -(f[0] * slip[0] + f[1] * slip[1])).fold(0.0, f64::max),
        FrictionSet::Ellipse(axes) => (axes[0] * slip[0]).hypot(axes[1] * slip[1]),
    }
}

/// Residuals of a contact's rows as they are gathered.
#[derive(Default)]
struct Rows {
    speed: f64,
    natural_map: f64,
    cone: f64,
    complementarity: f64,
}

impl Rows {
    /// An impulse in units of speed against its complement.
    fn pair(&mut self, z: f64, w: f64) {
        let (z, w) = (z / self.speed, w / self.speed);
        self.natural_map = larger(self.natural_map, smaller(z, w).abs());
        self.cone = larger(self.cone, (-z).max(0.0));
        self.complementarity = larger(self.complementarity, (z * w).abs());
    }

    /// The circle's natural map |W p − P(W p − u)|, P the projection onto the disc of radius W·bound.
    fn disc(&mut self, w: f64, p: [f64; 2], u: [f64; 2], bound: f64) {
        let x = [w * p[0] - u[0], w * p[1] - u[1]];
        let radius = (w * bound).max(0.0);
        let length = x[0].hypot(x[1]);
        let shrink = if length > radius { radius / length } else { 1.0 };
        let distance = (w * p[0] - shrink * x[0]).hypot(w * p[1] - shrink * x[1]);
        self.natural_map = larger(self.natural_map, distance / self.speed);
        let outside = w * (p[0].hypot(p[1]) - bound);
        self.cone = larger(self.cone, outside.max(0.0) / self.speed);
        let zeta = w * (bound - p[0].hypot(p[1]));
        let lambda = u[0].hypot(u[1]);
        self.complementarity =
            larger(self.complementarity, (zeta / self.speed * (lambda / self.speed)).abs());
    }

    fn residual(&self, lambda: f64, dissipation: f64) -> ContactResidual {
        ContactResidual { lambda, natural_map: self.natural_map, cone: self.cone, dissipation }
    }
}

impl Candidate {
    /// Takes `z`, cut or filled with zeros to size `n`, and empties everything else.
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

/// The larger of two residuals; one that is not a number is infinite.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::INFINITY } else { a.max(b) }
}

/// The smaller of two numbers; not a number if either is not.
fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}
