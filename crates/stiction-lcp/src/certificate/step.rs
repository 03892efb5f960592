//! Certificates of step problems: velocities from the impulses, then every row.

use super::{Candidate, ContactResidual, JudgeBuffers, RowResiduals, larger};
use crate::problem::{Contact, FrictionLaw, FrictionSet, OffsetRow, Prepared, Row, StepProblem};
use crate::threads;
use std::sync::Arc;

/// Step problem with the data that its certificates share.
pub(crate) struct StepJudge<'a> {
    problem: &'a StepProblem,
    prepared: Arc<Prepared>,
    pub(super) buffers: JudgeBuffers,
    pub(super) speed: f64,
    /// Greatest violation speed of joints and normal rows without impulses, relative to `speed`.
    pub(super) free: f64,
}

/// Mobility of a contact: the speed that one unit of impulse causes at its rows [m/s per N s].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mobility {
    /// Mobility W_nn of the normal row.
    pub(crate) normal: f64,
    /// Block W_tt of the tangent rows.
    pub(crate) tangent: [[f64; 3]; 3],
}

impl Mobility {
    /// Mobility from a contact's block of W, normal row first.
    pub(super) fn of_block(w: impl Fn(usize, usize) -> f64, rows: usize) -> Self {
        let own = |i: usize, k: usize| if i + 1 < rows && k + 1 < rows { w(i + 1, k + 1) } else { 0.0 };
        Self { normal: w(0, 0), tangent: std::array::from_fn(|i| std::array::from_fn(|k| own(i, k))) }
    }

    /// Mean mobility of the tangent rows: the mean of their diagonal, or the mobility of the normal row where they are 0.
    fn of_tangents(&self, tangents: usize) -> f64 {
        let trace = self.tangent[0][0] + self.tangent[1][1] + self.tangent[2][2];
        if trace > 0.0 { trace / tangents as f64 } else { self.normal }
    }

    /// Mobility f·W f along a generator f.
    fn along(&self, f: [f64; 3]) -> f64 {
        product(f, self.tangent.map(|row| product(row, f)))
    }
}

impl<'a> StepJudge<'a> {
    pub(super) fn new(problem: &'a StepProblem, prepared: Arc<Prepared>, mut buffers: JudgeBuffers) -> Self {
        let n = prepared.layout.velocities();
        for buffer in [&mut buffers.momentum, &mut buffers.left, &mut buffers.size] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        buffers.contacts.clear();
        let sparse = |row: &OffsetRow| matches!(row.row, Row::Sparse(_));
        if problem.pairs.is_empty() && !problem.contacts.iter().flat_map(Contact::rows).any(sparse) {
            // every body is a block of its own: no buffer is needed
            let own = |_: usize, c: &Contact| mobility(c, &prepared, &mut []);
            threads::extend(&mut buffers.contacts, &problem.contacts, own);
        } else {
            let room = &mut buffers.left;
            buffers.contacts.extend(problem.contacts.iter().map(|c| mobility(c, &prepared, room)));
        }
        let mut judge = Self { problem, prepared, buffers, speed: 0.0, free: 0.0 };
        judge.take_free_speed();
        judge
    }

    /// Sets V₀: the greatest violation speed of joints and closing contacts without impulses.
    fn take_free_speed(&mut self) {
        self.gather_momentum(&[]);
        let mut v = std::mem::take(&mut self.buffers.size);
        self.solve_velocity(&mut v);
        let start = &self.prepared.layout.velocity;
        let speed = |row: &OffsetRow| row.row.dot(start, &v) + row.offset;
        let wrong = self.problem.joints.iter().map(|j| speed(&j.row).abs()).fold(0.0, f64::max);
        let mut most = wrong;
        let contacts = self.problem.contacts.iter().map(|c| {
            let bound_by = c.bound_by.map_or(c, |i| &self.problem.contacts[i]);
            let closing = bound_by.normal.as_ref().map_or(0.0, |n| -speed(n));
            // separating pairs must not enlarge the scale
            if bound_by.normal.is_some() && closing <= 0.0 {
                return 0.0;
            }
            most = most.max(closing);
            let slip = c.tangents.iter().map(|t| speed(t).powi(2)).sum::<f64>().sqrt();
            closing.max(slip)
        });
        let largest = contacts.fold(self.problem.speed_scale.max(wrong), f64::max).max(f64::MIN_POSITIVE);
        self.buffers.size = v;
        (self.speed, self.free) = (largest, most / largest);
    }

    /// Velocity v = M̃⁻¹ (b + Jᵀ p) from the gathered momentum, with one step of refinement.
    fn solve_velocity(&mut self, v: &mut [f64]) {
        let Prepared { layout, mass } = &*self.prepared;
        let JudgeBuffers { momentum, left: error, .. } = &mut self.buffers;
        v.copy_from_slice(momentum);
        mass.solve(v);
        self.problem.multiply_mass(&layout.velocity, v, error);
        error.iter_mut().zip(&*momentum).for_each(|(e, p)| *e = p - *e);
        mass.solve(error);
        v.iter_mut().zip(&*error).for_each(|(v, e)| *v += e);
    }

    /// Gathers b + Jᵀ p and the sizes of the terms of Jᵀ p; an empty `z` means no impulses.
    fn gather_momentum(&mut self, z: &[f64]) {
        let prepared = self.prepared.clone();
        let start = &prepared.layout.velocity;
        let (mut momentum, mut size) =
            (std::mem::take(&mut self.buffers.momentum), std::mem::take(&mut self.buffers.size));
        size.fill(0.0);
        for (body, &s) in self.problem.bodies.iter().zip(start) {
            momentum[s..s + body.velocities].copy_from_slice(&body.momentum.as_slice()[..body.velocities]);
        }
        if !z.is_empty() {
            self.for_each_impulse(z, |row, p| {
                row.row.add_transposed_with_sizes(start, p, &mut momentum, &mut size);
            });
        }
        (self.buffers.momentum, self.buffers.size) = (momentum, size);
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
            (std::mem::take(&mut self.buffers.left), std::mem::take(&mut self.buffers.size));
        self.problem.multiply_mass_with_sizes(start, v, &mut left, &mut size);
        // below this, numbers are denormal and lose digits: a decaying spin passes through there
        let least = f64::MIN_POSITIVE / f64::EPSILON;
        let worst = (0..v.len()).fold(0.0, |worst, i| {
            let right = self.buffers.momentum[i];
            let error = (left[i] - right).abs();
            larger(worst, error / size[i].max(right.abs()).max(least))
        });
        (self.buffers.left, self.buffers.size) = (left, size);
        worst
    }

    /// Velocity v = M̃⁻¹ (b + Jᵀ p); leaves the momentum gathered.
    pub(super) fn velocity(&mut self, z: &[f64], out: &mut Vec<f64>) {
        out.resize(self.prepared.layout.velocities(), 0.0);
        self.gather_momentum(z);
        self.solve_velocity(out);
    }

    /// Certificate of `z`, at the velocity that follows from it or at a given one.
    pub(super) fn certify(&mut self, z: &[f64], given: Option<&[f64]>, out: &mut Candidate) {
        let prepared = self.prepared.clone();
        let layout = &prepared.layout;
        out.begin(z, layout.impulses, self.speed);
        let Candidate { z, w, velocity, certificate: residual } = out;
        if let Some(given) = given {
            velocity.extend(given.iter().take(layout.velocities()));
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
        let mut judged = std::mem::take(&mut self.buffers.judged);
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
        self.buffers.judged = judged;
    }

    fn row_speed(&self, row: &OffsetRow, v: &[f64]) -> f64 {
        row.row.dot(&self.prepared.layout.velocity, v) + row.offset
    }

    /// Speeds along a contact's tangent rows [m/s].
    fn slip(&self, contact: &Contact, v: &[f64]) -> [f64; 3] {
        let mut slip = [0.0; 3];
        for (u, tangent) in slip.iter_mut().zip(&contact.tangents) {
            *u = self.row_speed(tangent, v);
        }
        slip
    }

    /// Sum μ λ of the friction blocks whose bound is contact `i`.
    fn dependent_slip(&self, i: usize, v: &[f64]) -> f64 {
        let dependent = self.problem.contacts.iter().filter(|c| c.bound_by == Some(i));
        dependent.map(|c| c.mu * c.slip_speed(self.slip(c, v))).sum()
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
            further_slip: if law == FrictionLaw::Convex { self.dependent_slip(i, v) } else { 0.0 },
        };
        judge_contact(contact, &self.buffers.contacts[i], (self.speed, law), &rows, w)
    }
}

/// Impulses of a contact, and the speeds of its rows.
pub(super) struct ContactRows<'a> {
    pub(super) normal: f64,
    /// Friction bound μ c_n + κ [N s].
    pub(super) bound: f64,
    /// Friction unknowns.
    pub(super) friction: &'a [f64],
    /// Speed of the normal row, if there is one [m/s].
    pub(super) opening: Option<f64>,
    pub(super) slip: [f64; 3],
    /// Sum μ λ of the friction blocks that it bounds [m/s].
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
    let mut rows = RowResiduals { speed, ..RowResiduals::default() };
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
            // stretched so that the ellipse is a circle; p·u does not change
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

/// Mobility of a contact's rows; `room` is zero before and after.
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
