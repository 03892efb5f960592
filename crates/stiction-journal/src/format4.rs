//! Records of format 4, frozen where they differ from today's: reports without an energy ledger, passes without held
//! contacts, and memories without the impulses before impacts.
//!
//! Postcard writes fields by their order alone. Types that are used here as they are today have not changed since; one
//! that changes gets a frozen copy here first.

use crate::record::{SharedLists, StepRecord};
use serde::Deserialize;
use stiction::{
    AccuracyReport, ActiveConstraint, Certificate, ConstraintId, ContactId, ContactMemory, ContactReport,
    Dropped, Event, Evidence, FirstOrderSolve, ImpactReport, IntegrationMethod, IslandRecord, JointReport,
    Memory, QuietImpulses, SearchCache, SecondOrderReport, SolverMemory, StabilizationPass,
    StabilizationReport, State, StepReport, StepWork, SubstepRecord,
};

/// State of a run.
#[derive(Deserialize)]
pub(crate) struct StateV4 {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    memory: MemoryV4,
}

#[derive(Deserialize)]
struct MemoryV4 {
    h: f64,
    cache: SearchCache,
    contacts: Vec<ContactMemory>,
    joints: Vec<f64>,
    active: Option<Vec<ActiveConstraint>>,
    after_impact: bool,
    solver: SolverMemory,
}

/// Recorded step.
#[derive(Deserialize)]
pub(crate) struct RecordV4 {
    state: StateV4,
    report: StepReportV4,
    accuracy: Option<AccuracyReport>,
    impulses_in_report: bool,
    solver_in_evidence: bool,
    events_in_report: bool,
}

#[derive(Deserialize)]
struct StepReportV4 {
    t: f64,
    h: f64,
    contacts: Vec<ContactReport>,
    dropped: Vec<Dropped>,
    joints: Vec<JointReport>,
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
    evidence: Option<EvidenceV4>,
}

#[derive(Deserialize)]
struct EvidenceV4 {
    about: Vec<f64>,
    passes: Vec<StabilizationPassV4>,
    #[serde(deserialize_with = "stiction::deserialize_nested")]
    substeps: Vec<SubstepRecordV4>,
    solver: SolverMemory,
}

/// Pass of post-stabilization, as formats 3 and 4 have it.
#[derive(Deserialize)]
pub(crate) struct StabilizationPassV4 {
    contacts: Vec<ContactId>,
    impulses: Vec<f64>,
    infeasible: Option<Vec<f64>>,
}

/// Solve of a second-order step, as formats 3 and 4 have it.
#[derive(Deserialize)]
pub(crate) enum SubstepRecordV4 {
    Substep {
        size: f64,
        implicit: bool,
        in_modes: bool,
        definite: bool,
        active: Vec<ActiveConstraint>,
        new_contacts: Vec<ActiveConstraint>,
        midpoint_velocity: Vec<f64>,
        start_velocity: Vec<f64>,
        slips: Vec<(usize, [f64; 2])>,
        impulses: Vec<f64>,
        v: Vec<f64>,
    },
    Projection {
        active: Vec<ActiveConstraint>,
        displacements: Vec<Vec<f64>>,
        v: Vec<f64>,
    },
    Impact {
        closed: Vec<ConstraintId>,
        participants: Vec<ConstraintId>,
        compression: Vec<f64>,
        compressed_velocity: Vec<f64>,
        restitution_factor: f64,
        decompression: Vec<f64>,
        v: Vec<f64>,
    },
    FirstOrder {
        size: f64,
        without_restitution: bool,
        q: Vec<f64>,
        v: Vec<f64>,
    },
    Interpolated {
        #[serde(deserialize_with = "stiction::deserialize_nested")]
        whole: Box<SubstepRecordV4>,
        at: f64,
    },
    FeatureChange {
        size: f64,
    },
    AccuracyStep {
        size: f64,
        method: IntegrationMethod,
        active: Vec<ActiveConstraint>,
        #[serde(deserialize_with = "stiction::deserialize_nested")]
        records: Vec<SubstepRecordV4>,
        error: f64,
    },
    Accelerations {
        forces: Vec<f64>,
        a: Vec<f64>,
    },
    FirstOrderStep {
        size: f64,
        error: f64,
        solves: Vec<FirstOrderSolveV4>,
    },
    Islands {
        size: f64,
        islands: Vec<IslandRecordV4>,
    },
}

#[derive(Deserialize)]
pub(crate) struct IslandRecordV4 {
    bodies: Vec<usize>,
    #[serde(deserialize_with = "stiction::deserialize_nested")]
    records: Vec<SubstepRecordV4>,
}

#[derive(Deserialize)]
pub(crate) struct FirstOrderSolveV4 {
    without_restitution: bool,
    report: Box<StepReportV4>,
    q: Vec<f64>,
    v: Vec<f64>,
}

impl From<StateV4> for State {
    fn from(StateV4 { t, q, v, memory }: StateV4) -> Self {
        let MemoryV4 { h, cache, contacts, joints, active, after_impact, solver } = memory;
        let quiet = QuietImpulses::default();
        Self { t, q, v, memory: Memory { h, cache, contacts, joints, active, after_impact, solver, quiet } }
    }
}

impl From<RecordV4> for StepRecord {
    fn from(record: RecordV4) -> Self {
        let RecordV4 { state, report, accuracy, .. } = record;
        let RecordV4 { impulses_in_report, solver_in_evidence, events_in_report, .. } = record;
        let shared = SharedLists { impulses_in_report, solver_in_evidence, events_in_report };
        shared.restore(state.into(), report.into(), accuracy)
    }
}

impl From<StepReportV4> for StepReport {
    fn from(old: StepReportV4) -> Self {
        Self {
            t: old.t,
            h: old.h,
            contacts: old.contacts,
            dropped: old.dropped,
            joints: old.joints,
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
            evidence: old.evidence.map(Into::into),
        }
    }
}

impl From<EvidenceV4> for Evidence {
    fn from(EvidenceV4 { about, passes, substeps, solver }: EvidenceV4) -> Self {
        let passes = passes.into_iter().map(Into::into).collect();
        Self { about, passes, substeps: substeps.into_iter().map(Into::into).collect(), solver }
    }
}

impl From<StabilizationPassV4> for StabilizationPass {
    fn from(StabilizationPassV4 { contacts, impulses, infeasible }: StabilizationPassV4) -> Self {
        Self { held: Vec::new(), contacts, impulses, infeasible }
    }
}

impl From<FirstOrderSolveV4> for FirstOrderSolve {
    fn from(FirstOrderSolveV4 { without_restitution, report, q, v }: FirstOrderSolveV4) -> Self {
        Self { without_restitution, report: Box::new((*report).into()), q, v }
    }
}

impl From<IslandRecordV4> for IslandRecord {
    fn from(IslandRecordV4 { bodies, records }: IslandRecordV4) -> Self {
        Self { bodies, records: records.into_iter().map(Into::into).collect() }
    }
}

impl From<SubstepRecordV4> for SubstepRecord {
    fn from(old: SubstepRecordV4) -> Self {
        use SubstepRecordV4 as Old;
        match old {
            Old::Substep {
                size,
                implicit,
                in_modes,
                definite,
                active,
                new_contacts,
                midpoint_velocity,
                start_velocity,
                slips,
                impulses,
                v,
            } => Self::Substep {
                size,
                implicit,
                in_modes,
                definite,
                active,
                new_contacts,
                midpoint_velocity,
                start_velocity,
                slips,
                impulses,
                v,
            },
            Old::Projection { active, displacements, v } => Self::Projection { active, displacements, v },
            Old::Impact {
                closed,
                participants,
                compression,
                compressed_velocity,
                restitution_factor,
                decompression,
                v,
            } => Self::Impact {
                closed,
                participants,
                compression,
                compressed_velocity,
                restitution_factor,
                decompression,
                v,
            },
            Old::FirstOrder { size, without_restitution, q, v } => {
                Self::FirstOrder { size, without_restitution, q, v }
            }
            Old::Interpolated { whole, at } => Self::Interpolated { whole: Box::new((*whole).into()), at },
            Old::FeatureChange { size } => Self::FeatureChange { size },
            Old::AccuracyStep { size, method, active, records, error } => {
                let records = records.into_iter().map(Into::into).collect();
                Self::AccuracyStep { size, method, active, records, error }
            }
            Old::Accelerations { forces, a } => Self::Accelerations { forces, a },
            Old::FirstOrderStep { size, error, solves } => {
                Self::FirstOrderStep { size, error, solves: solves.into_iter().map(Into::into).collect() }
            }
            Old::Islands { size, islands } => {
                Self::Islands { size, islands: islands.into_iter().map(Into::into).collect() }
            }
        }
    }
}
