//! Event functions: values that are not negative while the modes of the active set are right.

use super::acceleration::AccelerationProblem;
use super::context::dot;
use crate::state::ActiveConstraint;
use crate::system::ConstraintId;

/// Event function of a constraint. A root is an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum EventFunction {
    /// Gap of an inactive contact or limit, over the size.
    Gap(ConstraintId),
    /// Normal force of an active constraint, over the force scale.
    NormalForce(ConstraintId),
    /// Distance of sticking friction to its bound, over the force scale.
    FrictionSlack(ConstraintId),
    /// Slip speed against the friction, over the speed scale.
    SlipSpeed(ConstraintId),
    /// Slack of redundant contacts of a group that share forces, named by the first of the group; over the force scale.
    SharedSlack(ConstraintId),
}

impl EventFunction {
    /// Constraint of the function.
    pub(super) fn constraint(self) -> ConstraintId {
        match self {
            Self::Gap(id)
            | Self::NormalForce(id)
            | Self::FrictionSlack(id)
            | Self::SlipSpeed(id)
            | Self::SharedSlack(id) => id,
        }
    }

    /// Constraint of a gap, if the function is one.
    pub(super) fn gap(self) -> Option<ConstraintId> {
        match self {
            Self::Gap(constraint) => Some(constraint),
            _ => None,
        }
    }

    /// Changes the mode of the constraint whose function passed zero.
    pub(super) fn force_mode(self, active: &mut Vec<ActiveConstraint>) {
        match self {
            // a closed gap is active already; a constraint about to slip sticks until it does
            Self::Gap(_) | Self::FrictionSlack(_) | Self::SharedSlack(_) => {}
            Self::NormalForce(constraint) => active.retain(|c| c.constraint != constraint),
            Self::SlipSpeed(constraint) => {
                let slipping = active.iter_mut().filter(|c| c.constraint == constraint);
                slipping.for_each(|c| *c = ActiveConstraint::sticking(constraint));
            }
        }
    }
}

/// Constraints of the gaps among event functions.
pub(super) fn gaps(functions: &[EventFunction]) -> Vec<ConstraintId> {
    functions.iter().filter_map(|f| f.gap()).collect()
}

impl AccelerationProblem {
    /// Event functions of all active constraints, from the velocity and the forces `z`. Speeds are relative to
    /// `speed_scale`.
    pub(super) fn event_functions(
        &self,
        active: &[ActiveConstraint],
        v: &[f64],
        z: &[f64],
        speed_scale: f64,
    ) -> Vec<(EventFunction, f64)> {
        let loads = self.loads(active, v, z);
        let mut shares = Vec::new();
        let sharing = self.load_sharing(active, z, &mut shares);
        let force = self.force_scale();
        let mut values: Vec<_> =
            sharing.iter().map(|s| (EventFunction::SharedSlack(s.first), s.slack / force)).collect();
        for ((c, load), shares) in active.iter().zip(&loads).zip(shares) {
            let id = c.constraint;
            if !shares && !self.is_drive(id) {
                values.push((EventFunction::NormalForce(id), load.normal / force));
            }
            match c.slip_direction() {
                None if !shares && self.has_friction(id) => {
                    let size = dot(load.friction, load.friction).sqrt();
                    values.push((EventFunction::FrictionSlack(id), (load.bound - size) / force));
                }
                None => {}
                Some(along) if c.is_contact() => {
                    values.push((EventFunction::SlipSpeed(id), -dot(load.slip, along) / speed_scale));
                }
                Some([sign, ..]) => {
                    values.push((EventFunction::SlipSpeed(id), -load.slip[0] * sign / speed_scale));
                }
            }
        }
        values
    }
}
