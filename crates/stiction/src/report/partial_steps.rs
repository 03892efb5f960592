//! Report of a step that was made as halves: the reports of its partial steps combined. For the scheme that makes such a
//! step, and for its verification.

use super::{ContactReport, SecondOrderReport, StabilizationReport, StepReport, StepWork};
use std::collections::BTreeMap;

impl StepReport {
    /// Report of the whole step from those of its partial steps, without evidence. Impulses and the ledger are sums. Energies, momenta,
    /// the penetration and the contacts with their modes are those at the end; a contact that opened before keeps its
    /// last entry. The certificate is that of the partial step with the largest residual.
    pub(crate) fn combined(parts: &[&Self], h: f64) -> Self {
        let Some((last, earlier)) = parts.split_last() else { return Self::default() };
        let intervals = last.combined_intervals(earlier);
        let mut whole = Self { h, evidence: None, intervals, ..(*last).clone() };
        let mut places: BTreeMap<_, _> = whole.contacts.iter().enumerate().map(|(i, c)| (c.id, i)).collect();
        for part in earlier.iter().rev() {
            for contact in &part.contacts {
                if let Some(&i) = places.get(&contact.id) {
                    whole.contacts[i].add_impulses(contact);
                } else {
                    places.insert(contact.id, whole.contacts.len());
                    whole.contacts.push(contact.clone());
                }
            }
            for (row, own) in whole.joints.iter_mut().zip(&part.joints) {
                row.impulse += own.impulse;
                row.determined = row.determined.zip(own.determined).map(|(a, b)| a && b);
            }
            if part.certificate.worst() > whole.certificate.worst() {
                whole.certificate.clone_from(&part.certificate);
            }
            whole.work.add_part(&part.work);
        }
        whole.work.halvings = earlier.len();
        whole.events = parts.iter().flat_map(|part| part.events.iter().copied()).collect();
        whole.impacts = parts.iter().flat_map(|part| part.impacts.iter().cloned()).collect();
        whole.stabilization =
            parts.iter().filter_map(|part| part.stabilization.clone()).reduce(StabilizationReport::then);
        let ledgers = parts.iter().filter_map(|part| part.ledger);
        whole.ledger = ledgers.reduce(|mut sum, own| {
            sum += own;
            sum
        });
        whole.second_order =
            parts.iter().filter_map(|part| part.second_order).reduce(SecondOrderReport::then);
        whole
    }
}

impl ContactReport {
    /// Adds the impulses of an earlier partial step.
    fn add_impulses(&mut self, earlier: &Self) {
        self.normal_impulse += earlier.normal_impulse;
        for (sum, p) in self.friction_impulse.iter_mut().zip(earlier.friction_impulse) {
            *sum += p;
        }
        if let (Some(own), Some(earlier)) = (&mut self.moment, &earlier.moment) {
            for (sum, p) in own.impulse.iter_mut().zip(earlier.impulse) {
                *sum += p;
            }
        }
        self.determined = self.determined.zip(earlier.determined).map(|(a, b)| a && b);
    }
}

impl StepWork {
    /// Adds the counters of an earlier partial step.
    fn add_part(&mut self, earlier: &Self) {
        self.problems += earlier.problems;
        self.pivots += earlier.pivots;
        self.factorizations += earlier.factorizations;
        self.loose += earlier.loose;
        self.size = self.size.max(earlier.size);
        self.additions += earlier.additions;
        self.rounds += earlier.rounds;
        self.converged &= earlier.converged;
        self.proven = self.proven.max(earlier.proven);
        self.limited = self.limited.max(earlier.limited);
    }
}

impl StabilizationReport {
    /// Post-stabilization of a partial step and of the next.
    fn then(self, next: Self) -> Self {
        Self {
            passes: self.passes + next.passes,
            before: self.before.max(next.before),
            after: next.after,
            infeasible: next.infeasible.or(self.infeasible),
        }
    }
}

impl SecondOrderReport {
    /// Second-order part of the report of a partial step and of the next.
    fn then(self, next: Self) -> Self {
        Self {
            solves: self.solves + next.solves,
            slack: self.slack.min(next.slack),
            definite: self.definite || next.definite,
            damped: self.damped || next.damped,
            forced: self.forced + next.forced,
            cut: self.cut || next.cut,
            coarse: self.coarse + next.coarse,
            refused: self.refused.max(next.refused),
            projected: self.projected + next.projected,
        }
    }
}
