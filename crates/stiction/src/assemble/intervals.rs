//! Intervals of the contact impulses of a solved problem, as reports list them.

use super::AssembledProblem;
use crate::report::ContactInterval;
use crate::system::ContactRow;
use stiction_lcp::FrictionLaw;
use stiction_lcp::impulse_set::{HeldMode, ImpulseInterval, ImpulseSet};

impl AssembledProblem<'_> {
    /// Intervals of the contacts of the model, around the impulses `z` in the modes of all contacts of the problem. Contacts
    /// whose programs are too large or not solved are left out, and all where friction is not Coulomb's.
    pub(crate) fn contact_intervals(
        &self,
        contacts: &[ContactRow],
        z: &[f64],
        modes: &[HeldMode],
    ) -> Vec<ContactInterval> {
        if self.problem.law != FrictionLaw::Coulomb {
            return Vec::new();
        }
        let set = ImpulseSet { step: self.problem, z, modes };
        let Ok(found) = set.intervals() else { return Vec::new() };
        let bounds = |interval: ImpulseInterval| [interval.least, interval.greatest];
        let of = |(k, row): (usize, &ContactRow)| {
            let own = found.contacts.get(self.rows.first_contact + k).copied().flatten()?;
            let [x, y, _] = own.tangents;
            let mut tangents = row.tangent_directions;
            let count = if row.mu > 0.0 { row.tangents.len() } else { 0 };
            tangents.iter_mut().skip(count).for_each(|t| *t = [0.0; 3]);
            let normal = bounds(own.normal);
            Some(ContactInterval { id: row.id, normal, tangents, friction: [bounds(x), bounds(y)] })
        };
        contacts.iter().enumerate().filter_map(of).collect()
    }
}
