//! Names of rows in messages: contacts, limits, drives and joints of a step problem, with the names of their bodies.

use super::StepProblemBuilder;
use crate::assemble::RowLocation;
use crate::error::StepError;
use crate::system::System;
use stiction_lcp::{Candidate, LcpError};

impl StepProblemBuilder {
    /// Error of this problem, with the row of the largest residual.
    pub(crate) fn unsolved<S: System + ?Sized>(&self, system: &S, t: f64, error: LcpError) -> StepError {
        let place = error.best().and_then(|best| self.worst_row(system, best));
        let (error, problem) = (Box::new(error), Box::new(self.problem.clone()));
        StepError::Unsolved { t, error, place, smallest: None, problem }
    }

    /// Name of the row with the largest residual of a candidate; `None` where the largest is that of the momentum.
    fn worst_row<S: System + ?Sized>(&self, system: &S, candidate: &Candidate) -> Option<String> {
        let certificate = &candidate.certificate;
        let residual = |i: usize| certificate.contacts[i].natural_map.max(certificate.contacts[i].cone);
        let contacts = 0..certificate.contacts.len();
        let contact = contacts.max_by(|&a, &b| residual(a).total_cmp(&residual(b)));
        let largest = contact.map_or(0.0, residual);
        if certificate.joints > largest {
            let row = self.worst_joint(candidate)?;
            return Some(self.joint_name(system, RowLocation::Joint(row)));
        }
        if certificate.momentum > largest { None } else { Some(self.contact_name(system, contact?)) }
    }

    /// Index of the joint row with the largest residual.
    pub(crate) fn worst_joint(&self, candidate: &Candidate) -> Option<usize> {
        let w = &candidate.w;
        (0..self.problem.joints.len()).max_by(|&a, &b| w[a].abs().total_cmp(&w[b].abs()))
    }

    /// Name of contact `i` of the step problem: a contact, its rolling friction, or a limit or drive of a joint.
    pub(crate) fn contact_name<S: System + ?Sized>(&self, system: &S, i: usize) -> String {
        match i.checked_sub(self.rows.first_contact) {
            None => self.joint_name(system, RowLocation::Contact(i)),
            Some(k) if k < self.contacts.len() => self.contacts[k].name(system),
            Some(_) => {
                let contact = self.rows.rolling.iter().find(|(_, block)| *block == i);
                contact.map_or_else(String::new, |(k, _)| {
                    format!("the rolling friction of {}", self.contacts[*k].name(system))
                })
            }
        }
    }

    /// Name of a joint row.
    pub(crate) fn joint_name<S: System + ?Sized>(&self, system: &S, location: RowLocation) -> String {
        let (kind, row) = match location {
            RowLocation::Joint(row) => ("row", row),
            RowLocation::Contact(row) => ("limit or drive", row),
        };
        let index = self.rows.joints.iter().position(|other| *other == location);
        let Some((k, joint)) = index.and_then(|k| Some((k, self.joints.get(k)?))) else {
            return format!("{kind} {row} of the joints");
        };
        let joints = self.joints.len().saturating_sub(self.held_rows.len());
        if let Some(held) = k.checked_sub(joints).and_then(|k| self.held_rows.get(k)) {
            return held.name(system);
        }
        format!("{kind} {row} of {}", joint.name(system))
    }
}
