//! Equations of given modes: M̃ v = b + G c and R v + offset + compliance · c = 0 over the active rows, solved by proximal
//! steps in the space of velocities.

use super::MODE_PROXIMAL;
use super::polygon::{PolygonSlip, polygon_slip};
use crate::certificate::Candidate;
use crate::factor::DenseLu;
use crate::mode::{ContactMode, Mode};
use crate::problem::{OffsetRow, Prepared, StepProblem};

/// Unit vectors along the two tangent rows.
const TANGENTS: [[f64; 2]; 2] = [[1.0, 0.0], [0.0, 1.0]];

/// Equations of the modes, and the impulses that are to satisfy them.
#[derive(Debug, Clone, Default)]
pub(super) struct ModeEquations {
    /// Impulses of the joint rows.
    pub(super) joints: Vec<f64>,
    /// Impulses of the contacts along normal and tangent rows.
    pub(super) contacts: Vec<[f64; 3]>,
    /// W of the normal row, and mean W of the tangent rows.
    mobility: Vec<[f64; 2]>,
    pub(super) rows: Vec<ActiveRow>,
    matrix: Vec<f64>,
    lu: DenseLu,
    response: Vec<f64>,
    /// Impulses as unknowns of the problem, after [`Self::write`].
    pub(super) z: Vec<f64>,
}

/// Unknown impulse along a column of G, with the equation R v + offset + compliance · impulse = 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct ActiveRow {
    pub(super) kind: RowKind,
    /// Compliance with the proximal term ε [m/s per N s].
    compliance: f64,
    residual: f64,
}

/// Row of an equation. G and R differ only where friction follows the normal impulse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RowKind {
    Joint(usize),
    /// Normal row of a contact; friction follows with this much per unit of impulse.
    Normal(usize, [f64; 2]),
    /// Combination of the tangent rows of a contact.
    Tangent(usize, [f64; 2]),
}

impl ModeEquations {
    /// Reads the impulses of `z`, and computes the mobilities of the contacts.
    pub(super) fn read(&mut self, step: &StepProblem, prepared: &Prepared, z: &[f64]) {
        let Prepared { layout, mass } = prepared;
        self.joints.clear();
        self.joints.extend_from_slice(&z[..step.joints.len()]);
        self.response.clear();
        self.response.resize(layout.velocities(), 0.0);
        self.contacts.clear();
        self.mobility.clear();
        for (i, contact) in step.contacts.iter().enumerate() {
            let own = &z[layout.contact[i]..layout.contact[i + 1]];
            let normal = usize::from(contact.normal.is_some());
            let p = contact.tangent_impulse(&own[normal..]);
            self.contacts.push([if normal == 1 { own[0] } else { 0.0 }, p[0], p[1]]);
            let mut w = |row: &OffsetRow| {
                mass.respond(&row.row, &layout.velocity, &mut self.response);
                let w = row.row.dot(&layout.velocity, &self.response);
                mass.clear(&row.row, &layout.velocity, &mut self.response);
                w
            };
            let along = contact.normal.as_ref().map_or(0.0, &mut w);
            let across: f64 = contact.tangents.iter().map(&mut w).sum();
            self.mobility.push([along, across / contact.tangents.len().max(1) as f64]);
        }
    }

    /// Equations of prescribed modes, from zero impulses.
    pub(super) fn prescribe(&mut self, step: &StepProblem, prepared: &Prepared, modes: &[ContactMode]) {
        self.z.clear();
        self.z.resize(prepared.layout.impulses, 0.0);
        let zero = std::mem::take(&mut self.z);
        self.read(step, prepared, &zero);
        self.z = zero;
        self.rows.clear();
        self.add_joints(step, prepared);
        for (i, contact) in step.contacts.iter().enumerate() {
            let [w_n, w_t] = self.mobility[i];
            let given = modes.get(i).copied().unwrap_or(ContactMode::OPEN);
            let direction = given.slip_direction().unwrap_or_default();
            if given.mode == Mode::Open {
                continue;
            }
            if contact.normal.is_some() {
                self.add(RowKind::Normal(i, direction.map(|f| contact.mu * f)), w_n);
            }
            if given.mode == Mode::Stick {
                for (k, _) in contact.tangents.iter().enumerate() {
                    self.add(RowKind::Tangent(i, TANGENTS[k]), w_t);
                }
            }
            self.contacts[i] = [0.0, contact.kappa * direction[0], contact.kappa * direction[1]];
        }
    }

    fn add(&mut self, kind: RowKind, mobility: f64) {
        self.rows.push(ActiveRow { kind, compliance: MODE_PROXIMAL * mobility, residual: 0.0 });
    }

    fn add_joints(&mut self, step: &StepProblem, prepared: &Prepared) {
        let start = &prepared.layout.velocity;
        for (i, joint) in step.joints.iter().enumerate() {
            prepared.mass.respond(&joint.row.row, start, &mut self.response);
            let w = joint.row.row.dot(start, &self.response);
            prepared.mass.clear(&joint.row.row, start, &mut self.response);
            let compliance = joint.compliance + MODE_PROXIMAL * w;
            self.rows.push(ActiveRow { kind: RowKind::Joint(i), compliance, residual: 0.0 });
        }
    }

    /// Sets the impulses along the active rows of contacts to zero.
    pub(super) fn forget_impulses(&mut self) {
        for row in &self.rows {
            match row.kind {
                RowKind::Joint(_) => {}
                RowKind::Normal(i, [x, y]) => {
                    let own = &mut self.contacts[i];
                    *own = [0.0, own[1] - x * own[0], own[2] - y * own[0]];
                }
                RowKind::Tangent(i, [x, y]) => {
                    let own = &mut self.contacts[i];
                    let along = own[1] * x + own[2] * y;
                    *own = [own[0], own[1] - along * x, own[2] - along * y];
                }
            }
        }
    }

    /// Chooses the mode of each contact by its natural map, and projects its impulse onto that mode. Contacts with speeds
    /// below `band` [m/s] are active and stick.
    pub(super) fn choose_modes(
        &mut self,
        step: &StepProblem,
        prepared: &Prepared,
        at: &Candidate,
        band: f64,
    ) {
        let start = &prepared.layout.velocity;
        self.rows.clear();
        self.add_joints(step, prepared);
        for (i, contact) in step.contacts.iter().enumerate() {
            let [w_n, w_t] = self.mobility[i];
            let speed = |row: &OffsetRow| row.row.dot(start, &at.velocity) + row.offset;
            let own = self.contacts[i];
            // min(W c, w) is the speed if c − w/W is positive, else the impulse
            if let Some(normal) = &contact.normal
                && !(w_n * own[0] > speed(normal) - band)
            {
                self.contacts[i] = [0.0; 3];
                continue;
            }
            let bound = contact.mu * own[0].max(0.0) + contact.kappa;
            let mut sought = [own[1], own[2]];
            for (x, tangent) in sought.iter_mut().zip(&contact.tangents) {
                *x -= speed(tangent) / w_t;
            }
            let still = contact.tangents.iter().all(|t| speed(t).abs() < band);
            let slip = if contact.tangents.is_empty() || still {
                None
            } else {
                polygon_slip(contact, sought, bound)
            };
            if contact.normal.is_some() {
                let friction = slip.map_or([0.0; 2], |slip| match slip {
                    PolygonSlip::Corner(f) | PolygonSlip::Edge { middle: f, .. } => f.map(|f| contact.mu * f),
                });
                self.add(RowKind::Normal(i, friction), w_n);
            }
            match slip {
                None => {
                    (0..contact.tangents.len()).for_each(|k| self.add(RowKind::Tangent(i, TANGENTS[k]), w_t));
                }
                Some(PolygonSlip::Corner(f)) => {
                    self.contacts[i] = [own[0], bound * f[0], bound * f[1]];
                }
                Some(PolygonSlip::Edge { middle: m, along: a }) => {
                    let y = (own[1] - bound * m[0]) * a[0] + (own[2] - bound * m[1]) * a[1];
                    self.contacts[i] = [own[0], bound * m[0] + y * a[0], bound * m[1] + y * a[1]];
                    self.add(RowKind::Tangent(i, a), w_t);
                }
            }
        }
    }

    /// Factors M̃ + G ε⁻¹ R; `false` if it is singular.
    pub(super) fn factor(&mut self, step: &StepProblem, prepared: &Prepared) -> bool {
        let start = &prepared.layout.velocity;
        let n = prepared.layout.velocities();
        let matrix = &mut self.matrix;
        matrix.clear();
        matrix.resize(n * n, 0.0);
        for (body, &s) in step.bodies.iter().zip(start) {
            for i in 0..body.velocities {
                for j in 0..body.velocities {
                    matrix[(s + i) * n + s + j] += body.mass[(i, j)];
                }
            }
        }
        for pair in &step.pairs {
            let (a, b) = (start[pair.a], start[pair.b]);
            for i in 0..step.bodies[pair.a].velocities {
                for j in 0..step.bodies[pair.b].velocities {
                    matrix[(a + i) * n + b + j] += pair.ab[(i, j)];
                    matrix[(b + j) * n + a + i] += pair.ba[(j, i)];
                }
            }
        }
        for row in &self.rows {
            row.kind.for_each_acting(step, |column, x| {
                row.kind.for_each_held(step, |held, y| {
                    let weight = x * y / row.compliance;
                    column.row.for_each(start, |i, g| {
                        held.row.for_each(start, |j, r| matrix[i * n + j] += weight * g * r);
                    });
                });
            });
        }
        self.lu.factorize(n, |i, j| matrix[i * n + j])
    }

    /// Proximal step from the impulses that give the velocity `v`: (M̃ + G ε⁻¹ R) δv = −G ε⁻¹ r, δc = −ε⁻¹ (r + R δv).
    /// Returns the largest residual r it started from; `None` if the step is not finite.
    pub(super) fn advance(&mut self, step: &StepProblem, prepared: &Prepared, v: &[f64]) -> Option<f64> {
        let start = &prepared.layout.velocity;
        let change = &mut self.response;
        change.fill(0.0);
        for row in &mut self.rows {
            let mut residual = match row.kind {
                RowKind::Joint(i) => step.joints[i].compliance * self.joints[i],
                _ => 0.0,
            };
            row.kind.for_each_held(step, |held, y| residual += y * (held.row.dot(start, v) + held.offset));
            row.residual = residual;
            let weight = -residual / row.compliance;
            row.kind.for_each_acting(step, |held, x| held.row.add_transposed(start, weight * x, change));
        }
        self.lu.solve(change);
        for row in &self.rows {
            let mut remaining = row.residual;
            row.kind.for_each_held(step, |held, y| remaining += y * held.row.dot(start, change));
            let impulse = -remaining / row.compliance;
            row.kind.add(impulse, &mut self.joints, &mut self.contacts);
        }
        let finite = change.iter().all(|v| v.is_finite());
        finite.then(|| self.rows.iter().fold(0.0, |worst: f64, row| worst.max(row.residual.abs())))
    }

    /// Writes the impulses as unknowns, normal impulses at least `least`.
    pub(super) fn write(&mut self, step: &StepProblem, prepared: &Prepared, least: f64) {
        let layout = &prepared.layout;
        self.z.clear();
        self.z.extend_from_slice(&self.joints);
        self.z.resize(layout.impulses, 0.0);
        for (i, contact) in step.contacts.iter().enumerate() {
            let own = &mut self.z[layout.contact[i]..layout.contact[i + 1]];
            let [normal, p, q] = self.contacts[i];
            let friction = if contact.normal.is_some() {
                own[0] = normal.max(least);
                &mut own[1..]
            } else {
                own
            };
            if !contact.tangents.is_empty() {
                contact.friction_unknowns([p, q, 0.0], friction);
            }
        }
    }
}

impl RowKind {
    /// Adds an impulse along the row to those of joints and contacts; friction that follows it included.
    pub(super) fn add(self, impulse: f64, joints: &mut [f64], contacts: &mut [[f64; 3]]) {
        match self {
            Self::Joint(i) => joints[i] += impulse,
            Self::Normal(i, [x, y]) => {
                let own = &mut contacts[i];
                *own = [own[0] + impulse, own[1] + x * impulse, own[2] + y * impulse];
            }
            Self::Tangent(i, [x, y]) => {
                let own = &mut contacts[i];
                *own = [own[0], own[1] + x * impulse, own[2] + y * impulse];
            }
        }
    }

    /// Visits the rows that the impulse acts along (a column of G), with their weights.
    pub(super) fn for_each_acting(self, step: &StepProblem, mut visit: impl FnMut(&OffsetRow, f64)) {
        if let Self::Normal(i, friction) = self {
            for_each_tangent(step, i, friction, &mut visit);
        }
        self.for_each_held(step, visit);
    }

    /// Visits the rows whose speed the equation holds (a row of R), with their weights.
    pub(super) fn for_each_held(self, step: &StepProblem, mut visit: impl FnMut(&OffsetRow, f64)) {
        match self {
            Self::Joint(i) => visit(&step.joints[i].row, 1.0),
            Self::Tangent(i, along) => for_each_tangent(step, i, along, &mut visit),
            Self::Normal(i, _) => {
                if let Some(normal) = &step.contacts[i].normal {
                    visit(normal, 1.0);
                }
            }
        }
    }
}

fn for_each_tangent(step: &StepProblem, i: usize, along: [f64; 2], visit: &mut impl FnMut(&OffsetRow, f64)) {
    for (row, x) in step.contacts[i].tangents.iter().zip(along).filter(|(_, x)| *x != 0.0) {
        visit(row, x);
    }
}
