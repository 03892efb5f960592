//! Conversion of format-2 records into today's types. Fields that format 2 did not record are left at their defaults.

use super::{
    AccuracyReportV2, AccuracyV2, AccurateMethodV2, ActiveConstraintV2, CertificateV2, CombinationV2,
    ConstraintIdV2, ContactIdV2, ContactMemoryV2, ContactReportV2, DroppedV2, EventKindV2, EventV2,
    EvidenceV2, HeaderV2, HoldV2, ImpactReportV2, JointReportV2, MemoryV2, ModeV2, MomentReportV2, PartV2,
    SecondOrderReportV2, StabilizationPassV2, StabilizationReportV2, StateV2, StepV2, StepWorkV2,
};
use crate::record::{JournalHeader, StepRecord, contact_memories, joint_impulses};
use stiction::{
    Accuracy, AccuracyReport, AccurateMethod, ActiveConstraint, BodyId, ConstraintId, ContactId,
    ContactMemory, ContactReport, Dropped, Event, EventKind, Evidence, ImpactReport, IntegrationMethod,
    JointId, JointReport, Memory, Mode, MomentReport, PairId, QuietImpulses, SecondOrderReport, ShapeId,
    SolverMemory, StabilizationPass, StabilizationReport, State, StepReport, StepWork, SubstepRecord,
};

/// Converts every entry of a list.
fn all<A: Into<B>, B>(list: Vec<A>) -> Vec<B> {
    list.into_iter().map(Into::into).collect()
}

impl From<HeaderV2> for JournalHeader {
    fn from(header: HeaderV2) -> Self {
        let HeaderV2 { program, name, scene, scheme, h, accuracy, until } = header;
        Self { program, name, scene, scheme, h, accuracy: accuracy.map(Into::into), until }
    }
}

impl From<AccuracyV2> for Accuracy {
    fn from(accuracy: AccuracyV2) -> Self {
        let AccuracyV2 { tolerance, method, first_step, largest_step, event_limit, step_limit } = accuracy;
        let method = match method {
            AccurateMethodV2::Automatic => AccurateMethod::Automatic,
            AccurateMethodV2::Trapezoidal => AccurateMethod::Trapezoidal,
            AccurateMethodV2::DormandPrince => AccurateMethod::DormandPrince,
            AccurateMethodV2::DormandPrinceEight => AccurateMethod::DormandPrinceEight,
        };
        Self { tolerance, method, first_step, largest_step, event_limit, step_limit }
    }
}

impl From<StateV2> for State {
    fn from(StateV2 { t, q, v, memory }: StateV2) -> Self {
        Self { t, q, v, memory: memory.into() }
    }
}

impl From<MemoryV2> for Memory {
    fn from(memory: MemoryV2) -> Self {
        let MemoryV2 { h, cache, contacts, joints, active, after_impact } = memory;
        let (contacts, active) = (all(contacts), active.map(all));
        let (solver, quiet) = (SolverMemory::default(), QuietImpulses::default());
        Self { h, cache: cache.into(), contacts, joints, active, after_impact, solver, quiet }
    }
}

impl StepV2 {
    /// Converts a step of a run to `accuracy`, if it was one.
    pub(crate) fn into_record(self, accuracy: Option<&Accuracy>) -> StepRecord {
        let (contacts, joints) = (all(self.contacts), all(self.joints));
        let remembered = self.remembered;
        let (contact_memory, joint_memory) = match remembered.other {
            Some((contacts, joints)) => (all(contacts), joints),
            None => (contact_memories(&contacts), joint_impulses(&joints)),
        };
        let memory = Memory {
            h: remembered.h,
            cache: remembered.cache.into(),
            contacts: contact_memory,
            joints: joint_memory,
            active: remembered.active.map(all),
            after_impact: remembered.after_impact,
            solver: SolverMemory::default(),
            quiet: QuietImpulses::default(),
        };
        let mut report = StepReport {
            t: self.t,
            h: self.h,
            contacts,
            dropped: all(self.dropped),
            joints,
            kinetic: self.kinetic,
            potential: self.potential,
            linear_momentum: self.linear_momentum,
            angular_momentum: self.angular_momentum,
            infeasibility: self.infeasibility,
            work: self.work.into(),
            stabilization: self.post.map(Into::into),
            events: all(self.events),
            impacts: all(self.impacts),
            second_order: self.second_order.map(Into::into),
            evidence: self.evidence.map(Into::into),
            ..StepReport::default()
        };
        let CertificateV2 { speed, momentum, joints, natural_map, cone, complementarity, dissipation } =
            self.certificate;
        let c = &mut report.certificate;
        (c.speed, c.momentum, c.joints) = (speed, momentum, joints);
        (c.natural_map, c.cone) = (natural_map, cone);
        (c.complementarity, c.dissipation) = (complementarity, dissipation);
        let accuracy = self.followed.map(|recorded| recorded.into_report(accuracy, &report));
        StepRecord { state: State { t: self.t, q: self.q, v: self.v, memory }, report, accuracy }
    }
}

impl AccuracyReportV2 {
    /// Adds the tolerance of the header, and the events and impacts of the step.
    fn into_report(self, accuracy: Option<&Accuracy>, step: &StepReport) -> AccuracyReport {
        let mut report = AccuracyReport::default();
        report.requested = accuracy.map_or(0.0, |a| a.tolerance);
        (report.error, report.steps, report.rejections) = (self.error, self.steps, self.rejections);
        (report.solves, report.certificate) = (self.solves, self.certificate);
        report.events.clone_from(&step.events);
        report.impacts.clone_from(&step.impacts);
        report
    }
}

impl From<ContactIdV2> for ContactId {
    fn from(ContactIdV2 { pair: (a, b), feature }: ContactIdV2) -> Self {
        Self { pair: PairId { a: ShapeId(a), b: ShapeId(b) }, feature }
    }
}

impl From<ConstraintIdV2> for ConstraintId {
    fn from(constraint: ConstraintIdV2) -> Self {
        match constraint {
            ConstraintIdV2::Contact(contact) => Self::Contact(contact.into()),
            ConstraintIdV2::Joint(row) => Self::Joint(row),
        }
    }
}

impl From<ContactMemoryV2> for ContactMemory {
    fn from(memory: ContactMemoryV2) -> Self {
        let ContactMemoryV2 { id, point, normal, friction, moment } = memory;
        Self { id: id.into(), point, normal, friction, moment }
    }
}

impl From<ActiveConstraintV2> for ActiveConstraint {
    fn from(ActiveConstraintV2 { constraint, hold }: ActiveConstraintV2) -> Self {
        let (mode, direction) = match hold {
            HoldV2::Stick => (Mode::Stick, [0.0; 3]),
            HoldV2::Slip(direction) => (Mode::Slip, direction),
        };
        Self { constraint: constraint.into(), mode, direction }
    }
}

impl From<ContactReportV2> for ContactReport {
    fn from(contact: ContactReportV2) -> Self {
        let ContactReportV2 { id, bodies, point, normal, gap, mu, .. } = contact;
        let ContactReportV2 { normal_impulse, friction_impulse, slip, mode, moment, .. } = contact;
        let (id, mode, moment) = (id.into(), mode.into(), moment.map(Into::into));
        Self {
            id,
            bodies: bodies.map(BodyId),
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

impl From<ModeV2> for Mode {
    fn from(mode: ModeV2) -> Self {
        match mode {
            ModeV2::Open => Self::Open,
            ModeV2::Stick => Self::Stick,
            ModeV2::Slip => Self::Slip,
        }
    }
}

impl From<MomentReportV2> for MomentReport {
    fn from(MomentReportV2 { impulse, turn, rolling }: MomentReportV2) -> Self {
        Self { impulse, turn, rolling: rolling.map(Into::into) }
    }
}

impl From<DroppedV2> for Dropped {
    fn from(DroppedV2 { contact, combination }: DroppedV2) -> Self {
        // format 2 wrote a list of any length; a proof has at most three entries
        Self { contact: contact.into(), combination: combination.into_iter().take(3).collect() }
    }
}

impl From<JointReportV2> for JointReport {
    fn from(JointReportV2 { joint, impulse }: JointReportV2) -> Self {
        Self { joint: JointId(joint), impulse, determined: None }
    }
}

impl From<StepWorkV2> for StepWork {
    fn from(work: StepWorkV2) -> Self {
        Self {
            problems: work.problems,
            pivots: work.pivots,
            factorizations: work.factorizations,
            loose: work.loose,
            size: work.size,
            halvings: 0,
            additions: work.additions,
            rounds: work.rounds,
            converged: work.converged,
            redundant_joints: work.redundant_joints,
            proven: work.proven,
            limited: work.limited,
        }
    }
}

impl From<StabilizationReportV2> for StabilizationReport {
    fn from(StabilizationReportV2 { passes, before, after }: StabilizationReportV2) -> Self {
        Self { passes, before, after, infeasible: None }
    }
}

impl From<EventV2> for Event {
    fn from(EventV2 { t, kind, constraint }: EventV2) -> Self {
        let kind = match kind {
            EventKindV2::Impact => EventKind::Impact,
            EventKindV2::TakeOff => EventKind::TakeOff,
            EventKindV2::Slip => EventKind::Slip,
            EventKindV2::Stick => EventKind::Stick,
            EventKindV2::Reversal => EventKind::Reversal,
        };
        Self { t, kind, constraint: constraint.into() }
    }
}

impl From<ImpactReportV2> for ImpactReport {
    fn from(impact: ImpactReportV2) -> Self {
        let ImpactReportV2 { t, approaches, before, compressed, after, factor } = impact;
        let approaches =
            approaches.into_iter().map(|(constraint, speed)| (constraint.into(), speed)).collect();
        Self { t, approaches, before, compressed, after, factor }
    }
}

impl From<SecondOrderReportV2> for SecondOrderReport {
    fn from(report: SecondOrderReportV2) -> Self {
        let SecondOrderReportV2 { solves, slack, definite, damped, forced, cut, coarse, refused, projected } =
            report;
        Self { solves, slack, definite, damped, forced, cut, coarse, refused, projected }
    }
}

impl From<EvidenceV2> for Evidence {
    fn from(EvidenceV2 { about, passes, parts }: EvidenceV2) -> Self {
        Self { about, passes: all(passes), substeps: all(parts), solver: SolverMemory::default() }
    }
}

impl From<StabilizationPassV2> for StabilizationPass {
    fn from(StabilizationPassV2 { contacts, impulses, infeasible }: StabilizationPassV2) -> Self {
        Self { held: Vec::new(), contacts: all(contacts), impulses, infeasible }
    }
}

impl From<PartV2> for SubstepRecord {
    fn from(part: PartV2) -> Self {
        match part {
            PartV2::Between {
                size,
                implicit,
                located,
                definite,
                active,
                fresh,
                heading,
                carried,
                slips,
                impulses,
                v,
            } => Self::Substep {
                size,
                implicit,
                in_modes: located,
                definite,
                active: all(active),
                new_contacts: all(fresh),
                midpoint_velocity: heading,
                start_velocity: carried,
                slips,
                impulses,
                v,
            },
            PartV2::Projection { active, displacements, v } => {
                Self::Projection { active: all(active), displacements, v }
            }
            PartV2::Impact { struck, held, compression, compressed, factor, decompression, v } => {
                let (closed, participants) = (all(struck), all(held));
                let (compressed_velocity, restitution_factor) = (compressed, factor);
                Self::Impact {
                    closed,
                    participants,
                    compression,
                    compressed_velocity,
                    restitution_factor,
                    decompression,
                    v,
                }
            }
            PartV2::Coarse { size, soft, q, v } => Self::FirstOrder { size, without_restitution: soft, q, v },
            PartV2::Interpolated { whole, at } => Self::Interpolated { whole: Box::new((*whole).into()), at },
            PartV2::Past { size } => Self::FeatureChange { size },
            PartV2::Combined { size, by, active, parts, error } => Self::AccuracyStep {
                size,
                method: by.into(),
                active: all(active),
                records: all(parts),
                error,
            },
            PartV2::Instant { forces, a } => Self::Accelerations { forces, a },
        }
    }
}

impl From<CombinationV2> for IntegrationMethod {
    fn from(combination: CombinationV2) -> Self {
        match combination {
            CombinationV2::Doubled => Self::Doubled,
            CombinationV2::DormandPrince => Self::DormandPrince,
            CombinationV2::DormandPrinceEight => Self::DormandPrinceEight,
        }
    }
}
