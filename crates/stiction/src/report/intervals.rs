//! Intervals of contact impulses: least and greatest among all impulses that cause the same motion, on request.

use super::StepReport;
use crate::system::ContactId;
use serde::{Deserialize, Serialize};

/// Width of an interval up to which its impulse is determined, relative to its largest impulse [-]. Sensible range 1e-7
/// to 1e-4: smaller takes the error of the linear programs for a choice, larger hides one.
const DETERMINED_WIDTH: f64 = 1e-6;

/// Difference of unit tangents up to which the intervals of two partial steps are along the same axes [-]. Sensible range
/// 1e-9 to 1e-3.
const SAME_TANGENT: f64 = 1e-6;

/// Intervals of a contact: least and greatest impulses on its second body among all impulses of the step that cause the
/// same motion. Infinite where there is no bound: the contact is locked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ContactInterval {
    /// Contact.
    pub id: ContactId,
    /// Normal impulse [N s].
    pub normal: [f64; 2],
    /// Unit tangents along which the intervals of friction are; zero where there is no friction row.
    pub tangents: [[f64; 3]; 2],
    /// Friction impulse along each tangent [N s].
    pub friction: [[f64; 2]; 2],
}

impl ContactInterval {
    /// `true` where an impulse has no bound: two sides press against each other through a body that holds them apart, as
    /// hard as they like.
    pub fn is_locked(&self) -> bool {
        self.all().any(|[least, greatest]| least.is_infinite() || greatest.is_infinite())
    }

    /// `true` where all impulses that cause the motion are the same at this contact.
    pub fn is_determined(&self) -> bool {
        let largest = self.all().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
        !self.is_locked()
            && self.all().all(|[least, greatest]| greatest - least <= DETERMINED_WIDTH * largest)
    }

    /// Intervals of the forces over a step of size `h`, in N: impulses / h.
    #[must_use]
    pub fn over(&self, h: f64) -> Self {
        self.scaled(1.0 / h)
    }

    /// Intervals of `factor` > 0 × the impulses.
    #[must_use]
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        let scaled = |interval: [f64; 2]| interval.map(|x| factor * x);
        Self { normal: scaled(self.normal), friction: self.friction.map(scaled), ..*self }
    }

    fn all(&self) -> impl Iterator<Item = [f64; 2]> {
        [self.normal, self.friction[0], self.friction[1]].into_iter()
    }

    /// Intervals of the sums with an earlier partial step; `None` where the axes of friction differ.
    fn after(&self, earlier: &Self) -> Option<Self> {
        let both = self.tangents.iter().flatten().zip(earlier.tangents.iter().flatten());
        if both.into_iter().any(|(a, b)| (a - b).abs() > SAME_TANGENT) {
            return None;
        }
        let sum = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        let friction = [0, 1].map(|k| sum(self.friction[k], earlier.friction[k]));
        Some(Self { normal: sum(self.normal, earlier.normal), friction, ..*self })
    }
}

impl StepReport {
    /// Report that asks for [`StepReport::intervals`].
    pub fn with_intervals() -> Self {
        Self { intervals: Some(Vec::new()), ..Self::default() }
    }

    /// Intervals of a contact, where they were asked for and found.
    pub fn interval(&self, id: ContactId) -> Option<&ContactInterval> {
        self.intervals.iter().flatten().find(|interval| interval.id == id)
    }

    /// Intervals of the sums over partial steps: those of contacts that were examined in every part where they were.
    pub(super) fn combined_intervals(&self, earlier: &[&Self]) -> Option<Vec<ContactInterval>> {
        let sum = |whole: ContactInterval| {
            earlier.iter().try_fold(whole, |sum, part| match part.interval(sum.id) {
                Some(own) => sum.after(own),
                None => part.contact(sum.id).is_none().then_some(sum),
            })
        };
        self.intervals.as_ref().map(|last| last.iter().copied().filter_map(sum).collect())
    }
}
