//! Condensation of a step problem to a dense LCP: velocities and joints are eliminated by a Schur complement, friction
//! polygons become unknowns. For pivoting methods, and for going back from their answers to impulses.

mod free;
mod joints;

use crate::problem::{Contact, FrictionLaw, FrictionSet, Lcp, OffsetRow, Prepared, StepProblem};
pub(crate) use free::FreeRows;
use joints::{Impulses, Joints};
use nalgebra::{DMatrix, DVector, Dyn, VecStorage};
use std::sync::Arc;

/// Step problem in the unknowns (c_n, β, λ) of each contact, with the factors that recover its impulses.
///
/// Friction rows of a contact without friction (μ = κ = 0) are left out: β is zero there.
#[derive(Debug, Clone)]
pub struct Condensed<'a> {
    problem: &'a StepProblem,
    prepared: Arc<Prepared>,
    buffers: CondenseBuffers,
}

/// Buffers of a condensed problem, kept from problem to problem.
#[derive(Debug, Clone)]
pub(crate) struct CondenseBuffers {
    lcp: Lcp,
    joints: Joints,
    /// First unknown of each contact in the LCP, and one more entry: its size.
    start: Vec<usize>,
    /// First row of each contact, normal and tangents counted.
    first: Vec<usize>,
    /// Rows, each by its contact and its index there.
    rows: Vec<(usize, usize)>,
    /// Delassus matrix W = J P Jᵀ over the rows, by columns; P is M̃⁻¹ with the joint rows eliminated.
    delassus: Vec<f64>,
    /// Speeds of the rows when no contact impulse acts [m/s].
    free: Vec<f64>,
    velocity: Vec<f64>,
    momentum: Vec<f64>,
    errors: Vec<f64>,
    impulses: Impulses,
}

impl Default for CondenseBuffers {
    fn default() -> Self {
        Self {
            lcp: Lcp { m: DMatrix::zeros(0, 0), q: DVector::zeros(0) },
            joints: Joints::default(),
            start: Vec::new(),
            first: Vec::new(),
            rows: Vec::new(),
            delassus: Vec::new(),
            free: Vec::new(),
            velocity: Vec::new(),
            momentum: Vec::new(),
            errors: Vec::new(),
            impulses: Impulses::default(),
        }
    }
}

impl<'a> Condensed<'a> {
    /// Condenses a problem; the error names the entry at fault, or the feature that has no dense form.
    pub fn new(problem: &'a StepProblem) -> Result<Self, String> {
        let mut prepared = Prepared::default();
        prepared.prepare(problem).map_err(|e| e.to_string())?;
        Self::in_buffers(problem, Arc::new(prepared), CondenseBuffers::default())
            .map_err(|(feature, _)| feature.into())
    }

    /// Condenses a prepared problem in buffers that are kept.
    #[allow(clippy::result_large_err, reason = "the buffers are given back")]
    pub(crate) fn in_buffers(
        problem: &'a StepProblem,
        prepared: Arc<Prepared>,
        mut buffers: CondenseBuffers,
    ) -> Result<Self, (&'static str, CondenseBuffers)> {
        let ellipse = |c: &Contact| has_friction(c) && matches!(c.set, FrictionSet::Ellipse(_));
        if problem.contacts.iter().any(ellipse) {
            return Err(("an elliptic friction set", buffers));
        }
        buffers.joints.factor(problem, &prepared);
        buffers.lay_out(problem);
        let mut condensed = Self { problem, prepared, buffers };
        condensed.delassus();
        condensed.assemble();
        Ok(condensed)
    }

    /// Gives the buffers back.
    pub(crate) fn into_buffers(self) -> CondenseBuffers {
        self.buffers
    }

    /// Dense problem.
    pub fn lcp(&self) -> &Lcp {
        &self.buffers.lcp
    }

    /// Redundant joint rows, linear combinations of the others; their impulses are zero.
    pub fn redundant_joints(&self) -> &[usize] {
        self.buffers.joints.redundant()
    }

    /// For each redundant joint row, the combination of joint rows that proves it: ν y = 0.
    pub(crate) fn joint_dependencies(&self) -> impl Iterator<Item = Vec<f64>> {
        self.buffers.joints.dependencies()
    }

    /// Impulses of the step problem from `z` of the dense one.
    pub fn impulses(&mut self, z: &[f64], out: &mut Vec<f64>) {
        self.momentum();
        let joints = &self.problem.joints;
        self.with_joints(z, |k| joints[k].row.offset, out);
    }

    /// Impulses from a direction of `z`: contact impulses and the joint impulses they cause, without momentum and
    /// offsets.
    pub fn direction(&mut self, z: &[f64], out: &mut Vec<f64>) {
        self.buffers.velocity.clear();
        self.buffers.velocity.resize(self.prepared.layout.velocities(), 0.0);
        self.with_joints(z, |_| 0.0, out);
    }

    /// Contact impulses from `z`, and the joint impulses that satisfy the joint rows under them and the momentum in
    /// `velocity`.
    fn with_joints(&mut self, z: &[f64], offset: impl Fn(usize) -> f64, out: &mut Vec<f64>) {
        let layout = &self.prepared.layout;
        let start = &layout.velocity;
        let joints = &self.problem.joints;
        let CondenseBuffers { joints: factor, start: first, velocity, momentum, errors, impulses, .. } =
            &mut self.buffers;
        out.clear();
        out.resize(layout.impulses, 0.0);
        for (i, contact) in self.problem.contacts.iter().enumerate() {
            let n = unknowns(contact) - usize::from(has_friction(contact));
            let own = &mut out[layout.contact[i]..layout.contact[i + 1]];
            own[..n].copy_from_slice(&z[first[i]..][..n]);
            let (normal, friction) = own.split_at(usize::from(contact.normal.is_some()));
            if let Some(row) = &contact.normal {
                row.row.add_transposed(start, normal[0], velocity);
            }
            let p = contact.tangent_impulse(friction);
            contact.tangents.iter().zip(p).for_each(|(t, p)| t.row.add_transposed(start, p, velocity));
        }
        if joints.is_empty() {
            return;
        }
        momentum.clone_from(velocity);
        factor.respond(&self.prepared, velocity, &offset, impulses);
        out[..joints.len()].copy_from_slice(&impulses.c);
        // one step of refinement against the rows themselves
        velocity.copy_from_slice(momentum);
        joints.iter().zip(&*out).for_each(|(j, &c)| j.row.row.add_transposed(start, c, velocity));
        self.prepared.mass.solve(velocity);
        let error =
            |k: usize| joints[k].row.row.dot(start, velocity) + offset(k) + joints[k].compliance * out[k];
        errors.clear();
        errors.extend((0..joints.len()).map(error));
        velocity.fill(0.0);
        factor.respond(&self.prepared, velocity, |k| errors[k], impulses);
        out.iter_mut().zip(&impulses.c).for_each(|(c, correction)| *c += correction);
    }

    /// Writes b into `velocity`.
    fn momentum(&mut self) {
        let velocity = &mut self.buffers.velocity;
        velocity.clear();
        for body in &self.problem.bodies {
            velocity.extend_from_slice(&body.momentum.as_slice()[..body.velocities]);
        }
    }

    /// Delassus matrix W of the rows, and their speeds when no contact impulse acts.
    fn delassus(&mut self) {
        self.momentum();
        let joints = &self.problem.joints;
        let start = &self.prepared.layout.velocity;
        let CondenseBuffers { joints: factor, rows, delassus, free, velocity, impulses, .. } =
            &mut self.buffers;
        factor.respond(&self.prepared, velocity, |k| joints[k].row.offset, impulses);
        let row = |&(i, k): &(usize, usize)| nth_row(&self.problem.contacts[i], k);
        free.clear();
        free.extend(rows.iter().map(|r| row(r).row.dot(start, velocity) + row(r).offset));
        let n = rows.len();
        delassus.clear();
        delassus.resize(n * n, 0.0);
        velocity.fill(0.0);
        for j in 0..n {
            let column = &row(&rows[j]).row;
            if joints.is_empty() {
                self.prepared.mass.respond(column, start, velocity);
            } else {
                column.add_transposed(start, 1.0, velocity);
                factor.respond(&self.prepared, velocity, |_| 0.0, impulses);
            }
            for (w, r) in delassus[j * n..][..n].iter_mut().zip(&*rows) {
                *w = row(r).row.dot(start, velocity);
            }
            if joints.is_empty() {
                self.prepared.mass.clear(column, start, velocity);
            } else {
                velocity.fill(0.0);
            }
        }
        if self.prepared.mass.is_symmetric() {
            for i in 0..n {
                for j in 0..i {
                    let mean = 0.5 * (delassus[i * n + j] + delassus[j * n + i]);
                    (delassus[i * n + j], delassus[j * n + i]) = (mean, mean);
                }
            }
        }
    }

    /// Assembles M and q of the LCP.
    fn assemble(&mut self) {
        let CondenseBuffers { lcp, start, first, rows, delassus, free, velocity: speeds, .. } =
            &mut self.buffers;
        let contacts = &self.problem.contacts;
        let n = start[contacts.len()];
        let Lcp { m, q } =
            resized(std::mem::replace(lcp, Lcp { m: DMatrix::zeros(0, 0), q: DVector::zeros(0) }), n);
        *lcp = Lcp { m, q };
        for (i, a) in contacts.iter().enumerate() {
            for (k, (f, row)) in directions(a).enumerate() {
                lcp.q[start[i] + k] = combine(f, |r| free[first[i] + row + r]);
            }
            if has_friction(a) {
                lcp.q[start[i + 1] - 1] = a.kappa;
                couple(&mut lcp.m, self.problem, start, i);
            }
        }
        let n = rows.len();
        for (j, b) in contacts.iter().enumerate() {
            for (l, (g, column)) in directions(b).enumerate() {
                // speeds that one unit of this impulse causes at all rows, then at all unknowns
                let first_row = &delassus[(first[j] + column) * n..][..n];
                speeds.clear();
                speeds.extend(first_row.iter().map(|w| g[0] * w));
                for k in (1..3).filter(|&k| g[k] != 0.0) {
                    let further_row = &delassus[(first[j] + column + k) * n..][..n];
                    speeds.iter_mut().zip(further_row).for_each(|(s, w)| *s += g[k] * w);
                }
                let size = lcp.q.len();
                let into = &mut lcp.m.as_mut_slice()[(start[j] + l) * size..][..size];
                for (i, a) in contacts.iter().enumerate() {
                    expand(a, &speeds[first[i]..], &mut into[start[i]..]);
                }
            }
        }
    }
}

/// Adds the speeds of a contact's unknowns from the speeds of its rows; λ is left unchanged.
fn expand(contact: &Contact, rows: &[f64], out: &mut [f64]) {
    let normal = usize::from(contact.normal.is_some());
    if normal == 1 {
        out[0] += rows[0];
    }
    if let (FrictionSet::Polygon(generators), true) = (&contact.set, has_friction(contact)) {
        let (out, tangents) = (&mut out[normal..], &rows[normal..]);
        if contact.tangents.len() == 1 {
            out.iter_mut().zip(&**generators).for_each(|(o, f)| *o += f[0] * tangents[0]);
        } else if contact.tangents.len() == 2 {
            let (x, y) = (tangents[0], tangents[1]);
            out.iter_mut().zip(&**generators).for_each(|(o, f)| *o += f[0] * x + f[1] * y);
        } else {
            let (x, y, z) = (tangents[0], tangents[1], tangents[2]);
            out.iter_mut().zip(&**generators).for_each(|(o, f)| *o += f[0] * x + f[1] * y + f[2] * z);
        }
    }
}

impl CondenseBuffers {
    /// Numbers the unknowns and rows of the contacts.
    fn lay_out(&mut self, problem: &StepProblem) {
        self.start.clear();
        self.first.clear();
        self.rows.clear();
        let mut at = 0;
        for (i, contact) in problem.contacts.iter().enumerate() {
            self.start.push(at);
            at += unknowns(contact);
            self.first.push(self.rows.len());
            let tangents = if has_friction(contact) { contact.tangents.len() } else { 0 };
            self.rows.extend((0..usize::from(contact.normal.is_some()) + tangents).map(|k| (i, k)));
        }
        self.start.push(at);
    }
}

/// LCP of size `n` filled with zeros, in the memory of an old one.
fn resized(old: Lcp, n: usize) -> Lcp {
    let (mut m, mut q): (Vec<f64>, Vec<f64>) = (old.m.data.into(), old.q.data.into());
    m.clear();
    m.resize(n * n, 0.0);
    q.clear();
    q.resize(n, 0.0);
    Lcp {
        m: DMatrix::from_data(VecStorage::new(Dyn(n), Dyn(n), m)),
        q: DVector::from_data(VecStorage::new(Dyn(n), nalgebra::U1, q)),
    }
}

/// Writes the entries that couple λ of contact `i` to β and to the c_n that bounds them.
fn couple(m: &mut DMatrix<f64>, problem: &StepProblem, start: &[usize], i: usize) {
    let contact = &problem.contacts[i];
    let friction = start[i] + usize::from(contact.normal.is_some());
    let lambda = start[i + 1] - 1;
    for beta in friction..lambda {
        m[(beta, lambda)] = 1.0;
        m[(lambda, beta)] = -1.0;
    }
    if let Some(normal) = problem.bound_by(i).map(|bound_by| start[bound_by]) {
        m[(lambda, normal)] = contact.mu;
        if problem.law == FrictionLaw::Convex {
            m[(normal, lambda)] = -contact.mu;
        }
    }
}

/// Row `k` of a contact: the normal row if there is one, then the tangents.
fn nth_row(contact: &Contact, k: usize) -> &OffsetRow {
    match &contact.normal {
        Some(normal) if k == 0 => normal,
        Some(_) => &contact.tangents[k - 1],
        None => &contact.tangents[k],
    }
}

/// Whether the bound on friction may be positive.
fn has_friction(contact: &Contact) -> bool {
    !contact.tangents.is_empty() && (contact.mu > 0.0 || contact.kappa > 0.0)
}

/// Number of unknowns of a contact in the dense problem: c_n, β and λ.
fn unknowns(contact: &Contact) -> usize {
    let friction = if has_friction(contact) { contact.set.unknowns(contact.tangents.len()) + 1 } else { 0 };
    usize::from(contact.normal.is_some()) + friction
}

/// Unknown impulses of a contact as coefficients of its rows: (coefficients, first row).
fn directions(contact: &Contact) -> impl Iterator<Item = ([f64; 3], usize)> {
    let normal = contact.normal.as_ref().map(|_| ([1.0, 0.0, 0.0], 0));
    let first = usize::from(contact.normal.is_some());
    let generators = match &contact.set {
        FrictionSet::Polygon(generators) if has_friction(contact) => &generators[..],
        _ => &[],
    };
    normal.into_iter().chain(generators.iter().map(move |f| (*f, first)))
}

/// Sum `f₀ x(0) + f₁ x(1) + f₂ x(2)`; x is not evaluated where f is zero, except at 0.
fn combine(f: [f64; 3], x: impl Fn(usize) -> f64) -> f64 {
    (1..3).filter(|&k| f[k] != 0.0).fold(f[0] * x(0), |sum, k| sum + f[k] * x(k))
}
