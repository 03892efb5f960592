//! Least-norm member of an impulse set, densely, and the impulses that are the same in all members.

use super::unknowns::{ContactUnknowns, ImpulseGroup};
use super::{HeldMode, ImpulseSet};
use crate::least_norm::{ForceCone, least_norm};
use crate::problem::{FrictionSet, Layout};
use nalgebra::{DMatrix, DVector};

/// Largest residual of least-norm impulses, relative to what the rows ask for [-]. Above it the impulses stay as they
/// are. Sensible range 1e-13 to 1e-9: lower refuses round-off, higher changes the motion.
const MEMBER_RESIDUAL: f64 = 1e-11;

/// Least-norm impulses in the cones of a group that cause the momentum of its values; `None` where a cone is not one of
/// circular friction, or where they are not found.
pub(super) fn least_norm_of(
    set: &ImpulseSet,
    group: &ImpulseGroup,
    columns: &DMatrix<f64>,
) -> Option<Vec<f64>> {
    let mut cones = vec![ForceCone::Free; 0];
    let mut lengths = vec![1.0; group.columns.len()];
    let mut contacts = group.contacts.iter().peekable();
    let mut joints = group.joints.iter().peekable();
    let mut k = 0;
    while k < group.columns.len() {
        if joints.next_if(|(_, own)| *own == k).is_some() {
            cones.push(ForceCone::Free);
            k += 1;
            continue;
        }
        // contacts without unknowns have no columns
        let own = contacts.find(|c| c.normal.is_some() || !c.tangents.is_empty())?;
        let cone = cone(set, own)?;
        if own.tangents.is_empty() {
            // friction that is tied to the normal impulse counts
            lengths[k] = own.tied.iter().fold(1.0, |sum: f64, t| sum + t * t).sqrt();
        }
        k += cone.len();
        cones.push(cone);
    }
    let mut scaled = columns.clone();
    for (mut column, length) in scaled.column_iter_mut().zip(&lengths) {
        column /= *length;
    }
    let values = DVector::from_iterator(lengths.len(), group.values.iter().zip(&lengths).map(|(z, l)| z * l));
    let found = least_norm(&scaled, &(&scaled * values), &cones)?;
    let unscaled = || found.z.iter().zip(&lengths).map(|(z, l)| z / l).collect();
    (found.residual <= MEMBER_RESIDUAL).then(unscaled)
}

/// Cone of a contact with unknowns; `None` for those that the least norm does not support.
fn cone(set: &ImpulseSet, own: &ContactUnknowns) -> Option<ForceCone> {
    let contact = &set.step.contacts[own.contact];
    let tangents = own.tangents.len();
    let is_round = match &contact.set {
        FrictionSet::Polygon(generators) => {
            tangents < 2 && generators.iter().all(|g| g[0].abs() == 1.0) && contact.tangents.len() < 2
        }
        FrictionSet::Ellipse(axes) => *axes == [1.0; 3] && contact.tangents.len() < 3,
    };
    if contact.bound_by.is_some() || !(contact.tangents.is_empty() || is_round) {
        return None;
    }
    Some(match (own.normal, tangents) {
        (Some(_), 0) => ForceCone::NonNegative,
        (Some(_), tangents) => ForceCone::Friction { mu: contact.mu, tangents },
        (None, tangents) => ForceCone::Ball { bound: contact.kappa, tangents },
    })
}

/// Writes the values of the unknowns of a group into the impulses of the problem.
pub(super) fn write_values(
    set: &ImpulseSet,
    layout: &Layout,
    group: &ImpulseGroup,
    values: &[f64],
    z: &mut [f64],
) {
    for &(joint, k) in &group.joints {
        z[joint] = values[k];
    }
    for own in &group.contacts {
        let contact = &set.step.contacts[own.contact];
        let unknowns = &mut z[layout.contact[own.contact]..layout.contact[own.contact + 1]];
        let (normal, friction) = unknowns.split_at_mut(usize::from(contact.normal.is_some()));
        if let (Some(k), [normal]) = (own.normal, normal) {
            *normal = values[k];
            if matches!(set.modes[own.contact], HeldMode::Slip(_)) && !contact.tangents.is_empty() {
                contact.friction_unknowns(own.tied.map(|tied| values[k] * tied), friction);
            }
        }
        if !own.tangents.is_empty() {
            let mut tangents = [0.0; 3];
            tangents.iter_mut().zip(&own.tangents).for_each(|(t, &k)| *t = values[k]);
            contact.friction_unknowns(tangents, friction);
        }
    }
}
