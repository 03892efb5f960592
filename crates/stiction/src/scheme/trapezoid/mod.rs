//! Second-order steps: the linearly implicit trapezoidal method with located events. PAGT06
//!
//! A step consists of substeps, each up to an event or the end. Between events the modes of the active set are fixed,
//! and a substep is one set of equations; without location it is one complementarity problem. `fixed_step` has the loop
//! of a step, `accuracy_run` that of a run to an accuracy.

mod acceleration;
pub(crate) mod accuracy_run;
mod active_set;
mod certificate;
pub(crate) mod coarse_step;
mod constants;
mod context;
mod end_slip;
mod event_finder;
mod event_function;
mod first_order;
mod fixed_step;
mod impact;
mod integrator;
mod island_state;
pub(crate) mod islands;
mod load_sharing;
mod max_min;
mod method_choice;
mod mode_selection;
mod motion;
mod nearby;
pub(crate) mod next_motions;
pub(crate) mod partition;
mod projector;
mod recorder;
pub(crate) mod replay;
mod root;
mod rows;
mod schur;
mod slip_path;
mod slip_stiffness;
mod spin_axes;
pub(crate) mod state_forces;
pub(crate) mod step_size;
mod substep;
mod workspace;

pub(crate) use workspace::SecondOrderWorkspace;

use super::{EventLocation, Scheme, Trapezoidal, euler};
use crate::error::StepError;
use crate::report::{Evidence, StepReport};
use crate::state::State;
use crate::system::System;
use active_set::ActiveSet;
use context::StepContext;
use fixed_step::FixedStep;
use integrator::Dynamics;
use motion::TrackedMotion;
use recorder::Recorder;
use stiction_lcp::Certificate;

/// Error if the model has friction moments: modes of spin and rolling are not tracked.
fn check_supported<S: System + ?Sized>(system: &S, state: &State) -> Result<(), StepError> {
    let what = "torsional and rolling friction";
    if system.has_moment_friction() { Err(StepError::Unsupported { t: state.t, what }) } else { Ok(()) }
}

/// Active set remembered by a state, with known modes.
fn active_set_of(state: &State) -> ActiveSet {
    let constraints = state.memory.active.clone().unwrap_or_default();
    ActiveSet { constraints, new_contacts: Vec::new(), modes_known: true }
}

/// One step of size `h`. The state changes only if the step succeeds; otherwise the report is undefined.
pub(crate) fn step<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    settings: &Trapezoidal,
    state: &mut State,
    h: f64,
    workspace: &mut SecondOrderWorkspace,
    report: &mut StepReport,
) -> Result<(), StepError> {
    euler::check(system, state, h)?;
    check_supported(system, state)?;
    let mut evidence = report.evidence.take();
    evidence.iter_mut().for_each(Evidence::clear);
    let recording = evidence.is_some();
    workspace.begin(&state.memory.cache, recording);
    let mut now = workspace.spare_states.pop().unwrap_or_default();
    now.clone_from(state);
    let mut active = std::mem::take(&mut workspace.spare_active);
    active.constraints.clear();
    active.constraints.extend(now.memory.active.iter().flatten());
    active.new_contacts.clear();
    active.modes_known = settings.locate == EventLocation::Everything;
    let mut certificate = std::mem::take(&mut workspace.spare_certificate);
    certificate.copy_from(&Certificate::default());
    let context = StepContext { system, scheme, settings, step: h, recording };
    let mut step = FixedStep {
        motion: TrackedMotion {
            dynamics: Dynamics { context, workspace },
            state: now,
            active,
            recorder: Recorder { certificate, evidence, ..Recorder::default() },
        },
        last: None,
        first_order: None,
        lost: None,
    };
    let done = step.run(state.t + h);
    step.motion.dynamics.workspace.end();
    report.evidence = step.motion.recorder.evidence.take();
    done?;
    step.finish(h, report);
    std::mem::swap(state, &mut step.motion.state);
    let TrackedMotion { dynamics, state: before, active, recorder } = step.motion;
    dynamics.workspace.spare_states.push(before);
    dynamics.workspace.spare_active = active;
    dynamics.workspace.spare_certificate = recorder.certificate;
    Ok(())
}
