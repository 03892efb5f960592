//! The judge of step problems: velocities from the impulses, then every row.

use super::{Candidate, ContactResidual, Rows, Storage, larger};
use crate::problem::{Contact, FrictionLaw, FrictionSet, OffsetRow, Prepared, Row, StepProblem};
use crate::threads;
use std::sync::Arc;

/// A step problem with all that its certificates share.
pub(crate) struct StepJudge<'a> {
    problem: &'a StepProblem,
    prepared: Arc<Prepared>,
    pub(super) storage: Storage,
    pub(super) speed: f64,
    /// The largest speed at which joints and contacts alone go wrong if no impulse acts, over `speed`.
    pub(super) free: f64,
}

/// The speed one unit of impulse causes at the rows of a contact [m/s per N s].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mobility {
    /// W_nn of the normal row.
    pub(crate) normal: f64,
    /// The tangent rows' block of W.
    pub(crate) tangent: [[f64; 3]; 3],
}

impl Mobility {
    /// From a contact's block of W, normal row first.
    pub(super) fn of_block(w: impl Fn(usize, usize) -> f64, rows: usize) -> Self {
        let own = |i: usize, k: usize| if i + 1 < rows && k + 1 < rows { w(i + 1, k + 1) } else { 0.0 };
        Self { normal: w(0, 0), tangent: std::array::from_fn(|i| std::array::from_fn(|k| own(i, k))) }
    }

    /// One number for the tangent rows: the mean of their diagonal, or of the normal row's where they are 0.
    fn of_tangents(&self, tangents: usize) -> f64 {
        let trace = self.tangent[0][0] + self.tangent[1][1] + self.tangent[2][2];
        if trace > 0.0 { trace / tangents as f64 } else { self.normal }
    }

    /// f·W f for a generator f.
    fn along(&self, f: [f64; 3]) -> f64 {
        product(f, self.tangent.map(|row| product(row, f)))
    }
}

impl<'a> StepJudge<'a> {
    pub(super) fn new(problem: &'a StepProblem, prepared: Arc<Prepared>, mut storage: Storage) -> Self {
        let n = prepared.layout.velocities();
        for buffer in [&mut storage.momentum, &mut storage.left, &mut storage.size] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        storage.contacts.clear();
        let sparse = |row: &OffsetRow| matches!(row.row, Row::Sparse(_));
        if problem.pairs.is_empty() && !problem.contacts.iter().flat_map(Contact::rows).any(sparse) {
            // every body is a block of its own, and no room is needed
            let own = |_: usize, c: &Contact| mobility(c, &prepared, &mut []);
            threads::extend(&mut storage.contacts, &problem.contacts, own);
        } else {
            let room = &mut storage.left;
            storage.contacts.extend(problem.contacts.iter().map(|c| mobility(c, &prepared, room)));
        }
        let mut judge = Self { problem, prepared, storage, speed: 0.0, free: 0.0 };
        judge.take_free_speed();
        judge
    }

    /// V₀: how fast joints and closing contacts would go wrong if no impulse acted.
    fn take_free_speed(&mut self) {
        self.gather_momentum(&[]);
        let mut v = std::mem::take(&mut self.storage.size);
        self.solve_velocity(&mut v);
        let start = &self.prepared.layout.velocity;
        let speed = |row: &OffsetRow| row.row.dot(start, &v) + row.offset;
        let wrong = self.problem.joints.iter().map(|j| speed(&j.row).abs()).fold(0.0, f64::max);
        let mut most = wrong;
        let contacts = self.problem.contacts.iter().map(|c| {
            let bound_by = c.bound_by.map_or(c, |i| &self.problem.contacts[i]);
            let closing = bound_by.normal.as_ref().map_or(0.0, |n| -speed(n));
            // separated pairs must not make the scale lax
            if bound_by.normal.is_some() && closing <= 0.0 {
                return 0.0;
            }
            most = most.max(closing);
            let slip = c.tangents.iter().map(|t| speed(t).powi(2)).sum::<f64>().sqrt();
            closing.max(slip)
        });
        let largest = contacts.fold(self.problem.speed_scale.max(wrong), f64::max).max(f64::MIN_POSITIVE);
        self.storage.size = v;
        (self.speed, self.free) = (largest, most / largest);
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

    /// b + Jᵀ p and the sizes of the terms of Jᵀ p, with no impulses for an empty `z`.
    fn gather_momentum(&mut self, z: &[f64]) {
        let prepared = self.prepared.clone();
        let start = &prepared.layout.velocity;
        let (mut momentum, mut size) =
            (std::mem::take(&mut self.storage.momentum), std::mem::take(&mut self.storage.size));
        size.fill(0.0);
        for (body, &s) in self.problem.bodies.iter().zip(start) {
            momentum[s..s + body.velocities].copy_from_slice(&body.momentum.as_slice()[..body.velocities]);
        }
        if !z.is_empty() {
            self.for_each_impulse(z, |row, p| {
                row.row.add_transposed_with_sizes(start, p, &mut momentum, &mut size);
            });
        }
        (self.storage.momentum, self.storage.size) = (momentum, size);
    }

    /// Visits the rows on which an impulse acts.
    fn for_each_impulse(&self, z: &[f64], mut visit: impl FnMut(&OffsetRow, f64)) {
        let mut f = |row: &OffsetRow, p: f64| {
            if p != 0.0 {
                visit(row, p);
            }
        };
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
    fn momentum_error(&mut self, v: &[f64]) -> f64 {
        let prepared = self.prepared.clone();
        let start = &prepared.layout.velocity;
        let (mut left, mut size) =
            (std::mem::take(&mut self.storage.left), std::mem::take(&mut self.storage.size));
        self.problem.multiply_mass_with_sizes(start, v, &mut left, &mut size);
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

    /// v = M̃⁻¹ (b + Jᵀ p), which leaves the momentum gathered.
    pub(super) fn velocity(&mut self, z: &[f64], out: &mut Vec<f64>) {
        out.resize(self.prepared.layout.velocities(), 0.0);
        self.gather_momentum(z);
        self.solve_velocity(out);
    }

    /// The certificate of `z`, at the velocity that follows from it or at one that is said to.
    pub(super) fn certify(&mut self, z: &[f64], said: Option<&[f64]>, out: &mut Candidate) {
        let prepared = self.prepared.clone();
        let layout = &prepared.layout;
        out.begin(z, layout.impulses, self.speed);
        let Candidate { z, w, velocity, certificate: residual } = out;
        if let Some(said) = said {
            velocity.extend(said.iter().take(layout.velocities()));
            velocity.resize(layout.velocities(), 0.0);
            self.gather_momentum(z);
        } else {
            self.velocity(z, velocity);
        }
        residual.momentum = self.momentum_error(velocity);
        for (i, joint) in self.problem.joints.iter().enumerate() {
            w[i] = self.row_speed(&joint.row, velocity) + joint.compliance * z[i];
            residual.joints = larger(residual.joints, w[i].abs() / self.speed);
        }
        let polygon = |c: &Contact| matches!(c.set, FrictionSet::Polygon(_));
        if self.problem.contacts.iter().any(polygon) {
            for (i, contact) in self.problem.contacts.iter().enumerate() {
                let range = layout.contact[i]..layout.contact[i + 1];
                let (own, complementarity) = self.judge_contact(contact, i, z, velocity, &mut w[range]);
                residual.take(own, complementarity);
            }
            return;
        }
        let mut judged = std::mem::take(&mut self.storage.judged);
        judged.clear();
        threads::extend(&mut judged, &self.problem.contacts, |i, contact| {
            let mut w = [0.0; 4];
            let count = layout.contact[i + 1] - layout.contact[i];
            (self.judge_contact(contact, i, z, velocity, &mut w[..count]), w)
        });
        for (i, ((own, complementarity), speeds)) in judged.iter().enumerate() {
            let own_w = &mut w[layout.contact[i]..layout.contact[i + 1]];
            own_w.copy_from_slice(&speeds[..own_w.len()]);
            residual.take(*own, *complementarity);
        }
        self.storage.judged = judged;
    }

    fn row_speed(&self, row: &OffsetRow, v: &[f64]) -> f64 {
        row.row.dot(&self.prepared.layout.velocity, v) + row.offset
    }

    /// The speeds along a contact's tangent rows.
    fn slip(&self, contact: &Contact, v: &[f64]) -> [f64; 3] {
        let mut slip = [0.0; 3];
        for (u, tangent) in slip.iter_mut().zip(&contact.tangents) {
            *u = self.row_speed(tangent, v);
        }
        slip
    }

    /// Σ μ λ of the friction blocks that rest on contact `i`.
    fn resting_slip(&self, i: usize, v: &[f64]) -> f64 {
        let resting = self.problem.contacts.iter().filter(|c| c.bound_by == Some(i));
        resting.map(|c| c.mu * c.slip_speed(self.slip(c, v))).sum()
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
        let (normal, friction) = self.split(contact, i, z);
        let law = self.problem.law;
        let rows = ContactRows {
            normal,
            bound: self.problem.bound(&self.prepared.layout, i, z),
            friction,
            opening: contact.normal.as_ref().map(|row| self.row_speed(row, v)),
            slip: self.slip(contact, v),
            further_slip: if law == FrictionLaw::Convex { self.resting_slip(i, v) } else { 0.0 },
        };
        judge_contact(contact, &self.storage.contacts[i], (self.speed, law), &rows, w)
    }
}

/// The impulses of a contact, and the speeds of its rows.
pub(super) struct ContactRows<'a> {
    pub(super) normal: f64,
    /// μ c_n + κ.
    pub(super) bound: f64,
    /// The friction unknowns.
    pub(super) friction: &'a [f64],
    /// The speed of the normal row, if there is one.
    pub(super) opening: Option<f64>,
    pub(super) slip: [f64; 3],
    /// Σ μ λ of what rests on it.
    pub(super) further_slip: f64,
}

/// Residuals of a contact and its complementarity; fills its part of `w`.
#[inline]
pub(super) fn judge_contact(
    contact: &Contact,
    mobility: &Mobility,
    (speed, law): (f64, FrictionLaw),
    at: &ContactRows,
    w: &mut [f64],
) -> (ContactResidual, f64) {
    let ContactRows { normal, bound, friction, slip, .. } = *at;
    let lambda = contact.slip_speed(slip);
    let mut rows = Rows { speed, ..Rows::default() };
    let (w_normal, w_friction) = w.split_at_mut(usize::from(at.opening.is_some()));
    if let Some(mut rho) = at.opening {
        if law == FrictionLaw::Convex {
            // the relaxation opens sliding contacts: nᵀv + μ dᵢᵀv + Δ ≥ 0, AH04 (2.13)
            rho -= contact.mu * lambda + at.further_slip;
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
                let sigma = product(*f, slip) + lambda;
                w_friction[k] = sigma;
                rows.pair(mobility.along(*f) * friction[k], sigma);
            }
            let zeta = bound - friction.iter().sum::<f64>();
            rows.pair(w_tt * zeta, lambda);
        }
        FrictionSet::Ellipse(axes) => {
            w_friction.copy_from_slice(&slip[..w_friction.len()]);
            // stretched so that the ellipse is a circle, which leaves p·u as it is
            let p = std::array::from_fn(|k| friction.get(k).map_or(0.0, |p| p / axes[k]));
            let u = std::array::from_fn(|k| slip[k] * axes[k]);
            rows.disc(w_tt, p, u, bound);
        }
    }
    let impulse = contact.tangent_impulse(friction);
    let work = bound * lambda + product(impulse, slip);
    let dissipation = w_tt / speed * (work / speed).abs();
    (rows.residual(lambda, dissipation), rows.complementarity)
}

/// The mobility of a contact's rows; `room` is zero before and after.
fn mobility(contact: &Contact, prepared: &Prepared, room: &mut [f64]) -> Mobility {
    let (start, mass) = (&prepared.layout.velocity, &prepared.mass);
    Mobility {
        normal: mass.mobility(&contact.normal.iter().map(|n| &n.row), start, room)[0][0],
        tangent: mass.mobility(&contact.tangents.iter().map(|t| &t.row), start, room),
    }
}

fn product(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
