//! Assembly: rows of a model become rows of a step problem, and its solution becomes reports and remembered impulses.
//! Shared by the Euler family, the second-order method and `verify`.

mod impulses;
mod intervals;
mod reports;

pub(crate) use impulses::{ImpliedContacts, remember};
use reports::ContactImpulse;
pub(crate) use reports::{RowSolution, turning_axes};

use crate::system::{ContactRow, JointRow, RowKind};
use arrayvec::ArrayVec;
use stiction_lcp::problem::Layout;
use stiction_lcp::threads;
use stiction_lcp::{Contact, FrictionSet, Joint, OffsetRow, StepProblem};

/// Row offsets, in which the schemes differ.
pub(crate) struct Offsets<'a> {
    /// Υ of a joint row.
    pub(crate) joint: &'a dyn Fn(&JointRow) -> f64,
    /// Δ of a contact.
    pub(crate) contact: &'a (dyn Fn(&ContactRow) -> f64 + Sync),
    /// Δ of a limit.
    pub(crate) limit: &'a dyn Fn(&JointRow) -> f64,
}

/// Map from the rows of a model to the rows of its step problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowMap {
    /// Location of each joint row.
    pub(crate) joints: Vec<RowLocation>,
    /// Index of the first contact of the model among the contacts of the step problem; limits and drives precede it.
    pub(crate) first_contact: usize,
    /// Contacts of the model with rolling friction, each with the index of its friction block, in ascending order.
    pub(crate) rolling: Vec<(usize, usize)>,
}

impl RowMap {
    /// Weights of the contacts of the step problem in the norm of unique impulses: the moments of rolling friction are
    /// divided by `size` [m] instead of the rolling length. Empty where all are 1.
    pub(crate) fn weights(&self, contacts: &[ContactRow], size: f64, out: &mut Vec<f64>) {
        out.clear();
        for &(k, block) in &self.rolling {
            out.resize(block, 1.0);
            out.push(contacts[k].moments.rolling / size);
        }
    }

    /// Index of the block with the rolling friction of contact `k` of the model.
    pub(crate) fn rolling(&self, k: usize) -> Option<usize> {
        self.rolling.binary_search_by_key(&k, |r| r.0).ok().map(|at| self.rolling[at].1)
    }
}

/// Location of a joint row in a step problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowLocation {
    /// Bilateral row, by its index among the joints.
    Joint(usize),
    /// Limit or drive, by its index among the contacts.
    Contact(usize),
}

/// Step problem with its layout and the map to its rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AssembledProblem<'a> {
    /// Problem.
    pub(crate) problem: &'a StepProblem,
    /// Indices of its unknowns.
    pub(crate) layout: &'a Layout,
    /// Rows of the model in it.
    pub(crate) rows: &'a RowMap,
}

impl AssembledProblem<'_> {
    /// Range of the unknowns of contact `i` of the step problem.
    pub(crate) fn unknowns(&self, i: usize) -> std::ops::Range<usize> {
        self.layout.contact[i]..self.layout.contact[i + 1]
    }
}

/// Replaces the rows of `problem` by these joint rows, limits, drives and contacts.
pub(crate) fn rows(
    problem: &mut StepProblem,
    rows: &mut RowMap,
    h: f64,
    joints: &[JointRow],
    contacts: &[ContactRow],
    offsets: &Offsets,
) {
    problem.joints.clear();
    problem.contacts.clear();
    rows.joints.clear();
    for joint in joints {
        match joint.kind {
            RowKind::Rigid(compliance) => {
                rows.joints.push(RowLocation::Joint(problem.joints.len()));
                let row = OffsetRow { row: joint.row.clone(), offset: (offsets.joint)(joint) };
                // a force c/h that acts for h yields by compliance · force: per step, C = compliance / h²
                problem.joints.push(Joint { row, compliance: compliance / (h * h) });
            }
            RowKind::Limit => {
                rows.joints.push(RowLocation::Contact(problem.contacts.len()));
                problem.contacts.push(Contact::frictionless(joint.row.clone(), (offsets.limit)(joint)));
            }
            RowKind::Drive { speed, force } => {
                rows.joints.push(RowLocation::Contact(problem.contacts.len()));
                let tangent = OffsetRow { row: joint.row.clone(), offset: joint.drift - speed };
                problem.contacts.push(Contact {
                    normal: None,
                    tangents: [tangent].into_iter().collect(),
                    set: FrictionSet::line(),
                    mu: 0.0,
                    kappa: force * h,
                    bound_by: None,
                });
            }
        }
    }
    rows.first_contact = problem.contacts.len();
    let offset = offsets.contact;
    threads::extend(&mut problem.contacts, contacts, |_, contact: &ContactRow| {
        let mut tangents = ArrayVec::new();
        if contact.mu > 0.0 {
            tangents.extend(contact.tangents.iter().chain(contact.moments.spin.as_deref()).cloned());
        }
        Contact {
            normal: Some(OffsetRow { row: contact.normal.clone(), offset: offset(contact) }),
            tangents,
            set: contact.set.clone(),
            mu: contact.mu,
            kappa: 0.0,
            bound_by: None,
        }
    });
    rows.rolling.clear();
    for (k, contact) in contacts.iter().enumerate().filter(|(_, c)| !c.moments.rolls.is_empty()) {
        rows.rolling.push((k, problem.contacts.len()));
        problem.contacts.push(Contact {
            normal: None,
            tangents: contact.moments.rolls.iter().cloned().collect(),
            set: contact.moments.set.clone(),
            mu: 1.0,
            kappa: 0.0,
            bound_by: Some(rows.first_contact + k),
        });
    }
}

/// Scalar product.
pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|c| a[c] * b[c]).sum()
}
