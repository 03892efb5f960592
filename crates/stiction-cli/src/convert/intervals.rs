//! Columns of the intervals of contacts, for runs that were made with them.

use super::arrays::{Quantity, SPACE};
use stiction::{ContactReport, StepReport};

/// Unit of the bounds.
const BOUNDS: &str = "N, least and greatest force that causes the same motion, mean over a step or at a sample; NaN if \
                      not examined; infinite or null where locked";

/// Axes of a tangent bound: the tangent, then least and greatest.
const ENDS: [&str; 2] = ["least", "greatest"];

/// Quantities of the intervals, with one entry per contact of a sample.
pub(super) fn quantities() -> Vec<Quantity> {
    vec![
        Quantity::vector("contact_normal_interval", BOUNDS, &ENDS),
        Quantity::vector("contact_tangent_1", "unit; zero without friction", &SPACE),
        Quantity::vector("contact_friction_interval_1", BOUNDS, &ENDS),
        Quantity::vector("contact_tangent_2", "unit; zero in the plane and without friction", &SPACE),
        Quantity::vector("contact_friction_interval_2", BOUNDS, &ENDS),
        Quantity::scalar("contact_locked", "1 if a force has no bound, 0 if all have; NaN if not examined"),
    ]
}

/// Values of a contact, in the order of [`quantities`].
pub(super) fn values(report: &StepReport, contact: &ContactReport) -> [Vec<f64>; 6] {
    let missing = |count: usize| vec![f64::NAN; count];
    let Some(found) = report.interval(contact.id) else { return [2, 3, 2, 3, 2, 1].map(missing) };
    let own = found.over(report.h);
    let locked = f64::from(u8::from(own.is_locked()));
    [
        own.normal.to_vec(),
        own.tangents[0].to_vec(),
        own.friction[0].to_vec(),
        own.tangents[1].to_vec(),
        own.friction[1].to_vec(),
        vec![locked],
    ]
}
