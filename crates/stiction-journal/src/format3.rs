//! Records of format 3, frozen where they differ from today's: reports and memories without what unique forces added.
//!
//! Postcard writes fields by their order alone. Types that are used here as they are today have not changed since; one
//! that changes gets a frozen copy here first.

use crate::format4::{StabilizationPassV4, SubstepRecordV4};
use crate::record::{SharedLists, StepRecord};
use serde::Deserialize;
use stiction::{
    AccuracyReport, ActiveConstraint, BodyId, Certificate, ContactId, ContactMemory, ContactReport, Dropped,
    Event, Evidence, ImpactReport, JointId, JointReport, Memory, Mode, MomentReport, QuietImpulses,
    SearchCache, SecondOrderReport, SolverMemory, StabilizationReport, State, StepReport, StepWork,
};

/// State of a run.
#[derive(Deserialize)]
pub(crate) struct StateV3 {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    memory: MemoryV3,
}

#[derive(Deserialize)]
struct MemoryV3 {
    h: f64,
    cache: SearchCache,
    contacts: Vec<ContactMemory>,
    joints: Vec<f64>,
    active: Option<Vec<ActiveConstraint>>,
    after_impact: bool,
}

/// Recorded step.
#[derive(Deserialize)]
pub(crate) struct RecordV3 {
    state: StateV3,
    report: StepReportV3,
    accuracy: Option<AccuracyReport>,
    impulses_in_report: bool,
    events_in_report: bool,
}

#[derive(Deserialize)]
struct StepReportV3 {
    t: f64,
    h: f64,
    contacts: Vec<ContactReportV3>,
    dropped: Vec<Dropped>,
    joints: Vec<JointReportV3>,
    certificate: Certificate,
    kinetic: f64,
    potential: f64,
    linear_momentum: [f64; 3],
    angular_momentum: [f64; 3],
    infeasibility: f64,
    work: StepWork,
    stabilization: Option<StabilizationReport>,
    events: Vec<Event>,
    impacts: Vec<ImpactReport>,
    second_order: Option<SecondOrderReport>,
    evidence: Option<EvidenceV3>,
}

#[derive(Deserialize)]
struct EvidenceV3 {
    about: Vec<f64>,
    passes: Vec<StabilizationPassV4>,
    #[serde(deserialize_with = "stiction::deserialize_nested")]
    substeps: Vec<SubstepRecordV4>,
}

#[derive(Deserialize)]
struct ContactReportV3 {
    id: ContactId,
    bodies: [BodyId; 2],
    point: [f64; 3],
    normal: [f64; 3],
    gap: f64,
    mu: f64,
    normal_impulse: f64,
    friction_impulse: [f64; 3],
    slip: [f64; 3],
    mode: Mode,
    moment: Option<MomentReport>,
}

#[derive(Deserialize)]
struct JointReportV3 {
    joint: JointId,
    impulse: f64,
}

impl From<StateV3> for State {
    fn from(StateV3 { t, q, v, memory }: StateV3) -> Self {
        let MemoryV3 { h, cache, contacts, joints, active, after_impact } = memory;
        let (solver, quiet) = (SolverMemory::default(), QuietImpulses::default());
        Self { t, q, v, memory: Memory { h, cache, contacts, joints, active, after_impact, solver, quiet } }
    }
}

impl From<RecordV3> for StepRecord {
    fn from(record: RecordV3) -> Self {
        let RecordV3 { state, report, accuracy, impulses_in_report, events_in_report } = record;
        let shared = SharedLists { impulses_in_report, solver_in_evidence: false, events_in_report };
        shared.restore(state.into(), report.into(), accuracy)
    }
}

impl From<StepReportV3> for StepReport {
    fn from(old: StepReportV3) -> Self {
        Self {
            t: old.t,
            h: old.h,
            contacts: old.contacts.into_iter().map(Into::into).collect(),
            dropped: old.dropped,
            joints: old.joints.into_iter().map(Into::into).collect(),
            certificate: old.certificate,
            kinetic: old.kinetic,
            potential: old.potential,
            linear_momentum: old.linear_momentum,
            angular_momentum: old.angular_momentum,
            infeasibility: old.infeasibility,
            work: old.work,
            stabilization: old.stabilization,
            events: old.events,
            impacts: old.impacts,
            second_order: old.second_order,
            ledger: None,
            intervals: None,
            evidence: old.evidence.map(|EvidenceV3 { about, passes, substeps }| Evidence {
                about,
                passes: passes.into_iter().map(Into::into).collect(),
                substeps: substeps.into_iter().map(Into::into).collect(),
                solver: SolverMemory::default(),
            }),
        }
    }
}

impl From<ContactReportV3> for ContactReport {
    fn from(old: ContactReportV3) -> Self {
        let ContactReportV3 { id, bodies, point, normal, gap, mu, .. } = old;
        let ContactReportV3 { normal_impulse, friction_impulse, slip, mode, moment, .. } = old;
        Self {
            id,
            bodies,
            point,
            normal,
            gap,
            mu,
            normal_impulse,
            friction_impulse,
            slip,
            mode,
            moment,
            determined: None,
        }
    }
}

impl From<JointReportV3> for JointReport {
    fn from(JointReportV3 { joint, impulse }: JointReportV3) -> Self {
        Self { joint, impulse, determined: None }
    }
}
