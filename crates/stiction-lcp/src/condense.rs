//! A step problem as a dense LCP: velocities and joints eliminated, friction polygons written out.

mod free;
mod joints;

use crate::problem::{Contact, FrictionLaw, FrictionSet, Layout, Lcp, MassFactor, OffsetRow, StepProblem};
pub(crate) use free::FreeRows;
use joints::Joints;
use nalgebra::{DMatrix, DVector};

/// A step problem in the unknowns (c_n, β, λ) of each contact, with what it takes to go back.
///
/// Friction rows of a contact that allows no friction (μ = κ = 0) are left out: β is zero there.
#[derive(Debug, Clone)]
pub struct Condensed<'a> {
    problem: &'a StepProblem,
    layout: Layout,
    mass: MassFactor,
    joints: Joints,
    /// First unknown of each contact in the LCP, and one more entry: its size.
    start: Vec<usize>,
    lcp: Lcp,
}

impl<'a> Condensed<'a> {
    /// Condenses a problem that has been checked; the error is the feature that has no dense form.
    pub fn new(problem: &'a StepProblem) -> Result<Self, &'static str> {
        let ellipse = |c: &Contact| has_friction(c) && matches!(c.set, FrictionSet::Ellipse(_));
        if problem.contacts.iter().any(ellipse) {
            return Err("an elliptic friction set");
        }
        let Ok(mass) = MassFactor::new(problem) else { return Err("an indefinite mass matrix") };
        let layout = problem.layout();
        let joints = Joints::new(problem, &layout, &mass);
        let mut start = vec![0];
        for contact in &problem.contacts {
            start.push(start[start.len() - 1] + unknowns(contact));
        }
        let lcp = Lcp { m: DMatrix::zeros(0, 0), q: DVector::zeros(0) };
        let mut condensed = Self { problem, layout, mass, joints, start, lcp };
        condensed.lcp = condensed.assemble();
        Ok(condensed)
    }

    /// The dense problem.
    pub fn lcp(&self) -> &Lcp {
        &self.lcp
    }

    /// Joint rows that follow from the others; their impulses are zero.
    pub fn redundant_joints(&self) -> &[usize] {
        self.joints.redundant()
    }

    /// For each redundant joint row, the combination of joint rows that shows it: ν y = 0.
    pub(crate) fn joint_dependencies(&self) -> impl Iterator<Item = Vec<f64>> {
        self.joints.dependencies()
    }

    /// The impulses of the step problem that belong to `z` of the dense one.
    pub fn impulses(&self, z: &[f64]) -> Vec<f64> {
        let offsets: Vec<f64> = self.problem.joints.iter().map(|j| j.row.offset).collect();
        self.with_joints(z, self.momentum(), &offsets)
    }

    /// The impulses that belong to a direction of `z`: contacts push, joints answer, nothing else acts.
    pub fn direction(&self, z: &[f64]) -> Vec<f64> {
        self.with_joints(z, vec![0.0; self.layout.velocities()], &vec![0.0; self.problem.joints.len()])
    }

    /// Contact impulses from `z`, and the joint impulses that hold the joints against them and `momentum`.
    fn with_joints(&self, z: &[f64], mut momentum: Vec<f64>, offsets: &[f64]) -> Vec<f64> {
        let start = &self.layout.velocity;
        let joints = &self.problem.joints;
        let mut impulses = vec![0.0; self.layout.impulses];
        for (i, contact) in self.problem.contacts.iter().enumerate() {
            let n = unknowns(contact) - usize::from(has_friction(contact));
            let own = &mut impulses[self.layout.contact[i]..self.layout.contact[i + 1]];
            own[..n].copy_from_slice(&z[self.start[i]..][..n]);
            let (normal, friction) = own.split_at(usize::from(contact.normal.is_some()));
            if let Some(row) = &contact.normal {
                row.row.add_transposed(start, normal[0], &mut momentum);
            }
            let p = contact.tangent_impulse(friction);
            contact.tangents.iter().zip(p).for_each(|(t, p)| t.row.add_transposed(start, p, &mut momentum));
        }
        if joints.is_empty() {
            return impulses;
        }
        let (_, c) = self.joints.respond(&self.mass, &momentum, offsets);
        // one step of refinement against the rows themselves
        let mut v = momentum;
        joints.iter().zip(&c).for_each(|(j, &c)| j.row.row.add_transposed(start, c, &mut v));
        self.mass.solve(&mut v);
        let error: Vec<f64> = (0..joints.len())
            .map(|k| joints[k].row.row.dot(start, &v) + offsets[k] + joints[k].compliance * c[k])
            .collect();
        let (_, correction) = self.joints.respond(&self.mass, &vec![0.0; v.len()], &error);
        (0..joints.len()).for_each(|k| impulses[k] = c[k] + correction[k]);
        impulses
    }

    /// b.
    fn momentum(&self) -> Vec<f64> {
        let mut b = vec![0.0; self.layout.velocities()];
        for (body, &s) in self.problem.bodies.iter().zip(&self.layout.velocity) {
            b[s..s + body.velocities].copy_from_slice(&body.momentum.as_slice()[..body.velocities]);
        }
        b
    }

    fn assemble(&self) -> Lcp {
        let (rows, first) = self.rows();
        let (delassus, free) = self.delassus(&rows);
        let n = self.start[self.problem.contacts.len()];
        let mut m = DMatrix::zeros(n, n);
        let mut q = DVector::zeros(n);
        for (i, a) in self.problem.contacts.iter().enumerate() {
            for (k, (f, row)) in directions(a).enumerate() {
                q[self.start[i] + k] = combine(f, |r| free[first[i] + row + r]);
            }
            if has_friction(a) {
                q[self.start[i + 1] - 1] = a.kappa;
                self.couple(&mut m, i, a);
            }
        }
        for (j, b) in self.problem.contacts.iter().enumerate() {
            for (l, (g, column)) in directions(b).enumerate() {
                let mut into = m.column_mut(self.start[j] + l);
                for (i, a) in self.problem.contacts.iter().enumerate() {
                    for (k, (f, row)) in directions(a).enumerate() {
                        let at =
                            |r: usize| combine(g, |c| delassus[(first[i] + row + r, first[j] + column + c)]);
                        into[self.start[i] + k] += combine(f, at);
                    }
                }
            }
        }
        Lcp { m, q }
    }

    /// The entries that tie λ to β and c_n.
    fn couple(&self, m: &mut DMatrix<f64>, i: usize, contact: &Contact) {
        let (start, lambda) = (self.start[i], self.start[i + 1] - 1);
        let friction = start + usize::from(contact.normal.is_some());
        for beta in friction..lambda {
            m[(beta, lambda)] = 1.0;
            m[(lambda, beta)] = -1.0;
        }
        if contact.normal.is_some() {
            m[(lambda, start)] = contact.mu;
            if self.problem.law == FrictionLaw::Convex {
                m[(start, lambda)] = -contact.mu;
            }
        }
    }

    /// The rows of all contacts, and where each contact's rows begin.
    fn rows(&self) -> (Vec<&OffsetRow>, Vec<usize>) {
        let (mut rows, mut first) = (Vec::new(), Vec::new());
        for contact in &self.problem.contacts {
            first.push(rows.len());
            rows.extend(&contact.normal);
            if has_friction(contact) {
                rows.extend(&contact.tangents);
            }
        }
        (rows, first)
    }

    /// W = J P Jᵀ over the rows, P = M̃⁻¹ with the joints held, and the rows' speeds when no contact acts.
    fn delassus(&self, rows: &[&OffsetRow]) -> (DMatrix<f64>, Vec<f64>) {
        let start = &self.layout.velocity;
        let offsets: Vec<f64> = self.problem.joints.iter().map(|j| j.row.offset).collect();
        let (v, _) = self.joints.respond(&self.mass, &self.momentum(), &offsets);
        let free = rows.iter().map(|r| r.row.dot(start, &v) + r.offset).collect();
        let mut w = DMatrix::zeros(rows.len(), rows.len());
        let none = vec![0.0; offsets.len()];
        let mut response = vec![0.0; self.layout.velocities()];
        for (j, column) in rows.iter().enumerate() {
            if none.is_empty() {
                self.mass.respond(&column.row, start, &mut response);
            } else {
                response.fill(0.0);
                column.row.add_transposed(start, 1.0, &mut response);
                response = self.joints.respond(&self.mass, &response, &none).0;
            }
            rows.iter().enumerate().for_each(|(i, row)| w[(i, j)] = row.row.dot(start, &response));
            if none.is_empty() {
                self.mass.clear(&column.row, start, &mut response);
            }
        }
        if self.mass.is_symmetric() {
            w = 0.5 * (&w + w.transpose());
        }
        (w, free)
    }
}

fn has_friction(contact: &Contact) -> bool {
    !contact.tangents.is_empty() && (contact.mu > 0.0 || contact.kappa > 0.0)
}

/// Number of unknowns of a contact in the dense problem: c_n, β and λ.
fn unknowns(contact: &Contact) -> usize {
    let friction = if has_friction(contact) { contact.set.unknowns(contact.tangents.len()) + 1 } else { 0 };
    usize::from(contact.normal.is_some()) + friction
}

/// The impulses of a contact as coefficients of its rows: (coefficients, first row).
fn directions(contact: &Contact) -> impl Iterator<Item = ([f64; 2], usize)> {
    let normal = contact.normal.as_ref().map(|_| ([1.0, 0.0], 0));
    let first = usize::from(contact.normal.is_some());
    let generators = match &contact.set {
        FrictionSet::Polygon(generators) if has_friction(contact) => &generators[..],
        _ => &[],
    };
    normal.into_iter().chain(generators.iter().map(move |f| (*f, first)))
}

/// `f₀ x(0) + f₁ x(1)`, without asking for what is not there.
fn combine(f: [f64; 2], x: impl Fn(usize) -> f64) -> f64 {
    if f[1] == 0.0 { f[0] * x(0) } else { f[0] * x(0) + f[1] * x(1) }
}
