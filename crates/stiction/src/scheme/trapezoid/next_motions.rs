//! Motions that may follow from a state: all solutions of the acceleration problem of the contacts that touch.

use super::active_set::ActiveSet;
use super::constants::VERIFIED_STICK_SPEED;
use super::workspace::SecondOrderWorkspace;
use crate::error::StepError;
use crate::state::State;
use crate::system::{ConstraintId, System};
use stiction_lcp::Mode;
use stiction_lcp::motions::{FoundMotions, ModeChoice, all_motions};

/// Motions that may follow from a state. Coulomb friction of rigid bodies may allow several, or none.
#[derive(Debug, Clone, PartialEq)]
pub struct NextMotions {
    /// Contacts, limits and drives of the search: those that touch and do not open.
    pub constraints: Vec<ConstraintId>,
    /// Motions: modes of the constraints, in their order, with accelerations and forces.
    pub found: FoundMotions,
}

/// Motions that may follow from a state, whose contacts touch or are apart: a contact that closes faster than round-off
/// has an impact first, which is an error.
pub(crate) fn next_motions<S: System + ?Sized>(
    system: &S,
    state: &State,
    workspace: &mut SecondOrderWorkspace,
) -> Result<NextMotions, StepError> {
    let State { t, q, v, .. } = state;
    let refuse = |reason: String| StepError::Motions { t: *t, reason };
    if system.has_moment_friction() {
        return Err(refuse("torsional and rolling friction are not part of the search".to_string()));
    }
    let SecondOrderWorkspace { solve, acceleration, nearby, .. } = workspace;
    solve.cache.clone_from(&state.memory.cache);
    let touching = nearby.touching(system, state, &ActiveSet::default(), &mut solve.cache);
    let slow = VERIFIED_STICK_SPEED * system.surface_speed(*t, q, v).max(1.0);
    if let Some((id, speed)) = touching.iter().find(|(_, speed)| *speed < -slow) {
        let (name, speed) = (id.name(system, *t, q), -speed);
        return Err(refuse(format!("{name} closes at {speed:.3e} m/s, so that an impact comes first")));
    }
    let closed: Vec<ConstraintId> =
        touching.iter().filter(|(_, speed)| *speed <= slow).map(|(id, _)| *id).collect();
    let active = nearby.modes_from_slip(system, v, &closed);
    nearby.recycle(touching);
    acceleration.assemble_in_modes(system, state, &active, &mut solve.cache)?;
    let choice = |mode: &stiction_lcp::ContactMode| match mode.mode {
        Mode::Slip => ModeChoice::Slips(mode.direction),
        Mode::Open | Mode::Stick => ModeChoice::Any,
    };
    let choices: Vec<ModeChoice> = acceleration.modes.iter().map(choice).collect();
    let found = all_motions(&acceleration.problem, &choices).map_err(|error| refuse(error.to_string()))?;
    let mut constraints: Vec<(Option<usize>, ConstraintId)> =
        acceleration.problem_indices(&active).into_iter().zip(active.iter().map(|c| c.constraint)).collect();
    constraints.retain(|(index, _)| index.is_some());
    constraints.sort_by_key(|(index, _)| *index);
    Ok(NextMotions { constraints: constraints.into_iter().map(|(_, id)| id).collect(), found })
}
