//! The linearly implicit trapezoidal method with located events. PAGT06
//!
//! A step is made of parts, each of which ends at an event or at the end of the step. Between events everything that
//! bears does so in a mode that does not change, and a part is one set of equations; without location it is one
//! complementarity problem.

mod accelerate;
pub(crate) mod adaptive;
mod attempt;
mod coarse;
mod event;
mod explicit;
mod flow;
mod frame;
mod hand_over;
mod impact;
mod judge;
mod locate;
mod program;
mod project;
pub(crate) mod replay;
mod schur;
mod share;
mod slide;
mod tableau;

use super::euler::{self, kinetic};
use super::{Locate, Scheme, Trapezoidal};
use crate::assemble;
use crate::error::StepError;
use crate::report::{Combination, Event, Evidence, ImpactReport, SecondOrderReport, StepReport, StepWork};
use crate::state::{ActiveConstraint, Hold, State};
use crate::system::{ConstraintId, ContactQuery, JointRow, RowKind, System};
use accelerate::Instant;
use flow::{Flow, Stage};
use frame::{find_starts, starts};
use impact::Impact;
use project::Projector;
use stiction_lcp::{Candidate, Certificate};

/// Approach speed below which there is no restitution [m/s]. Independent of the step: sequences of ever smaller
/// bounces end there.
pub(crate) const RESTITUTION_SPEED: f64 = 1e-9;

/// Contacts with a gap of at most this part of the size touch. PAGT06 (7.1): larger loses restitution without a word,
/// smaller loses contacts to round-off.
const TOUCH: f64 = 1e-10;

/// Joints hold at the start of a run to this part of the size, and their speeds to this part of the fastest. More
/// would stay for the whole run.
const START: f64 = 1e-6;

/// What is left of a step below this part of it is round-off.
const LEFT: f64 = 1e-13;

/// Storage of steps, kept from step to step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    flow: Flow,
    instant: Instant,
    projector: Projector,
    impact: Impact,
    /// Where the velocities of each body start.
    starts: Vec<usize>,
    touching: Vec<(ConstraintId, f64)>,
    euler: euler::Workspace,
    /// A stage of an explicit step, with unit quaternions.
    placed: State,
    /// What is no longer needed, for its storage.
    spare: Spare,
}

/// Storage of what a step has and its state does not.
#[derive(Debug, Clone, Default)]
struct Spare {
    states: Vec<State>,
    active: Vec<ActiveConstraint>,
    fresh: Vec<ActiveConstraint>,
    certificate: Certificate,
}

/// A step under way.
struct Run<'a, S: System + ?Sized> {
    stage: Stage<'a, S>,
    workspace: &'a mut Workspace,
    /// Where the step has come to.
    now: State,
    active: Vec<ActiveConstraint>,
    /// Contacts that have just begun to bear without an impact.
    fresh: Vec<ActiveConstraint>,
    events: Vec<Event>,
    /// Times that something happened, whether or not it changed a mode: what is limited within a step.
    happened: usize,
    impacts: Vec<ImpactReport>,
    /// When the last impact was, and the velocity before it.
    bounced: Option<(f64, Vec<f64>)>,
    told: SecondOrderReport,
    /// The answer of the last part, whose problem is still in the workspace.
    last: Option<Candidate>,
    /// What the rest of the step did, where it was made by the stabilized Euler scheme.
    coarse: Option<StepReport>,
    certificate: Certificate,
    problems: usize,
    method: Method,
    /// What is kept for a verifier, where one is expected.
    evidence: Option<Evidence>,
}

/// How a part is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    /// By one step of the trapezoidal method.
    Plain,
    /// By one and by two, extrapolated, with an estimate of the error.
    Doubled,
    /// By an explicit method on the accelerations, with an estimate of the error.
    Explicit(Combination),
}

/// Modes of spin and rolling are not among those that are followed from event to event.
fn known<S: System + ?Sized>(system: &S, state: &State) -> Result<(), StepError> {
    let what = "torsional and rolling friction";
    if system.has_moment_friction() { Err(StepError::Unsupported { t: state.t, what }) } else { Ok(()) }
}

/// One step of size `h`; the state is only changed if it is made, the report is of no use if it is not.
pub(crate) fn step<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    settings: &Trapezoidal,
    state: &mut State,
    h: f64,
    workspace: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), StepError> {
    euler::check(system, state, h)?;
    known(system, state)?;
    workspace.flow.cache.clone_from(&state.memory.cache);
    workspace.flow.solves = 0;
    workspace.flow.definite = false;
    let mut now = workspace.spare.states.pop().unwrap_or_default();
    now.clone_from(state);
    let Spare { active, fresh, certificate, .. } = &mut workspace.spare;
    active.clear();
    active.extend(now.memory.active.iter().flatten());
    fresh.clear();
    certificate.copy_from(&Certificate::default());
    let [active, fresh] = [active, fresh].map(std::mem::take);
    let certificate = std::mem::take(certificate);
    let mut run = Run {
        stage: Stage { system, scheme, settings, whole: h },
        workspace,
        active,
        now,
        fresh,
        events: Vec::new(),
        happened: 0,
        impacts: Vec::new(),
        bounced: None,
        told: SecondOrderReport::default(),
        last: None,
        coarse: None,
        certificate,
        problems: 0,
        method: Method::Plain,
        evidence: report.evidence.take(),
    };
    if let Some(evidence) = &mut run.evidence {
        evidence.clear();
        run.workspace.projector.displacements = Some(Vec::new());
    }
    let made = run.make(state.t + h);
    run.workspace.projector.displacements = None;
    report.evidence = run.evidence.take();
    made?;
    run.finish(h, report);
    std::mem::swap(state, &mut run.now);
    let Run { workspace, now, active, fresh, certificate, .. } = run;
    workspace.spare.states.push(now);
    let states = std::mem::take(&mut workspace.spare.states);
    workspace.spare = Spare { states, active, fresh, certificate };
    Ok(())
}

impl<S: System + ?Sized> Run<'_, S> {
    fn located(&self) -> bool {
        self.stage.settings.locate == Locate::Everything && !self.told.cut
    }

    /// Goes to time `end`.
    fn make(&mut self, end: f64) -> Result<(), StepError> {
        if self.now.memory.h == 0.0 {
            self.check_start()?;
        }
        if self.now.memory.active.is_none() {
            self.begin()?;
        }
        while end - self.now.t > LEFT * self.stage.whole {
            let left = end - self.now.t;
            if !self.located() {
                self.find_touching()?;
            }
            self.part(left)?;
        }
        self.now.t = end;
        Ok(())
    }

    /// Rows at the mean velocity keep what errors joints start with, and turn speeds of their rows about in every
    /// step: a run has to start without.
    fn check_start(&mut self) -> Result<(), StepError> {
        let Stage { system, whole, .. } = self.stage;
        let State { t, q, v, .. } = &self.now;
        let joints = &mut self.workspace.impact.joints;
        system.joints(*t, q, joints);
        let starts = starts(system);
        let fastest = system.surface_speed(*t, q, v).max(system.prescribed_speed(*t));
        let speeds = START * fastest.max(system.gravity() * whole);
        for joint in joints.iter().filter(|j| matches!(j.kind, RowKind::Rigid(c) if c <= 0.0)) {
            let speed = joint.row.dot(&starts, v) + joint.drift;
            if joint.error.abs() > START * system.size() || speed.abs() > speeds {
                return Err(StepError::Apart { t: *t, joint: joint.joint, error: joint.error, speed });
            }
        }
        Ok(())
    }

    /// What bears at the start: what touches and does not move apart.
    fn begin(&mut self) -> Result<(), StepError> {
        let mut joints = Vec::new();
        self.stage.system.joints(self.now.t, &self.now.q, &mut joints);
        let drives = joints.iter().enumerate().filter(|(_, j)| matches!(j.kind, RowKind::Drive { .. }));
        let bears = |(row, _): (usize, _)| ActiveConstraint {
            constraint: ConstraintId::Joint(row),
            hold: Hold::Stick,
        };
        self.active = drives.map(bears).collect();
        if self.located() { self.settle_first() } else { Ok(()) }
    }

    /// Contacts and limits that touch at the start of a part without location become rows; those that come fast get
    /// an impact first where impacts are located.
    fn find_touching(&mut self) -> Result<(), StepError> {
        self.fresh.clear();
        let slowest = self.stage.slowest();
        let new = self.touching_apart();
        let strikes = self.stage.settings.locate != Locate::Nothing;
        if strikes && new.iter().any(|&(_, speed)| speed < -slowest) {
            return self.strike(&new.iter().map(|n| n.0).collect::<Vec<_>>());
        }
        for &(place, speed) in &new {
            // what comes apart again in this instant is left to do so
            if speed > slowest && strikes {
                continue;
            }
            let active = ActiveConstraint { constraint: place, hold: Hold::Stick };
            self.active.push(active);
            self.fresh.push(active);
        }
        self.workspace.touching = new;
        self.active.sort_unstable_by_key(|b| b.constraint);
        Ok(())
    }

    /// Contacts and limits that touch and do not bear, with the speed at which they open [m/s].
    fn touching_apart(&mut self) -> Vec<(ConstraintId, f64)> {
        let system = self.stage.system;
        let reach = TOUCH * system.size();
        let Workspace { impact, flow, starts, touching, .. } = &mut *self.workspace;
        impact.read(system, &self.now, reach, &[], flow);
        find_starts(system, starts);
        let mut found = std::mem::take(touching);
        found.clear();
        let (v, starts) = (&self.now.v, &*starts);
        let limits = impact.joints.iter().zip(&impact.rows).filter(|(j, _)| j.kind == RowKind::Limit);
        let limits = limits.map(|(j, &row)| (ConstraintId::Joint(row), j.row.dot(starts, v) + j.drift));
        let contacts = impact.contacts.iter();
        let contacts = contacts.map(|c| (ConstraintId::Contact(c.id), c.normal.dot(starts, v) + c.drift));
        let bears = |place: &ConstraintId| self.active.iter().any(|b| b.constraint == *place);
        found.extend(limits.chain(contacts).filter(|(place, _)| !bears(place)));
        found
    }

    fn finish(&mut self, h: f64, report: &mut StepReport) {
        let system = self.stage.system;
        let now = &mut self.now;
        let Workspace { flow, impact, .. } = &mut *self.workspace;
        self.told.solves = flow.solves;
        self.told.definite = flow.definite;
        let mut reported = std::mem::take(report);
        reported.contacts.clear();
        reported.joints.clear();
        if let Some(last) = self.last.take() {
            let Flow { problem, layout, places, middle, .. } = &*flow;
            // slower than this is round-off of the solve
            let still = 1e-9 * last.certificate.speed;
            let answer = (&last.z[..], &last.velocity[..], still);
            assemble::contact_reports(
                problem,
                layout,
                places,
                &middle.contacts,
                answer,
                &mut reported.contacts,
            );
            assemble::joint_reports(problem, layout, places, &middle.joints, &last.z, &mut reported.joints);
            flow.lcp.recycle_candidate(last);
        }
        assemble::remember(&reported.contacts, &reported.joints, &mut now.memory);
        now.memory.h = h;
        now.memory.after_impact = !self.impacts.is_empty();
        now.memory.active.get_or_insert_default().clone_from(&self.active);
        reported.certificate.copy_from(&self.certificate);
        reported.stabilization = None;
        reported.dropped.clear();
        let mut work = StepWork { problems: self.problems, converged: true, ..StepWork::default() };
        if let Some(coarse) = self.coarse.take() {
            // what bears is found anew in the next step
            now.memory.active = None;
            work = StepWork { problems: work.problems + coarse.work.problems, ..coarse.work };
            (reported.contacts, reported.joints) = (coarse.contacts, coarse.joints);
            (reported.stabilization, reported.dropped) = (coarse.stabilization, coarse.dropped);
        }
        (reported.t, reported.h) = (now.t, h);
        reported.kinetic = kinetic(system, (now.t, &now.q), &now.v);
        reported.potential = system.potential(now.t, &now.q);
        (reported.linear_momentum, reported.angular_momentum) = system.momentum(&now.q, &now.v);
        system.joints(now.t, &now.q, &mut impact.joints);
        system.contacts(now.t, &now.q, &ContactQuery::within(0.0), &mut flow.cache, &mut impact.contacts);
        let gaps = impact.contacts.iter().map(|c| -c.gap);
        let joints = impact.joints.iter().filter_map(JointRow::violation);
        reported.infeasibility = joints.chain(gaps).fold(0.0, f64::max);
        flow.cache.forget_stale();
        std::mem::swap(&mut now.memory.cache, &mut flow.cache);
        reported.events = std::mem::take(&mut self.events);
        reported.impacts = std::mem::take(&mut self.impacts);
        reported.second_order = Some(self.told);
        reported.work = work;
        *report = reported;
    }
}
