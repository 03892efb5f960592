//! Records of format 6: the header, and each step as the state after it with the simulator's own reports.

use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use stiction::{
    Accuracy, AccuracyReport, ContactInterval, ContactMemory, ContactReport, Evidence, JointReport, Memory,
    SolverMemory, State, StepReport,
};

/// Description of a run: scene, scheme and settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalHeader {
    /// Program and version that wrote the journal.
    pub program: String,
    /// File name of the scene.
    pub name: String,
    /// Text of the scene.
    pub scene: String,
    /// Scheme as JSON, including settings of the command line.
    pub scheme: String,
    /// Step size [s].
    pub h: f64,
    /// Accuracy of a run to an accuracy. Then every record is an interval of `h` made of adaptive steps.
    pub accuracy: Option<Accuracy>,
    /// End time that was asked for [s].
    pub until: f64,
}

/// Recorded step: the state after it and the reports of the simulator.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "EncodedRecord")]
pub struct StepRecord {
    /// State after the step. A run resumed from it continues bit by bit.
    pub state: State,
    /// Report of the step, with its evidence for verification.
    pub report: StepReport,
    /// Report of the adaptive steps within the interval, for a run to an accuracy.
    pub accuracy: Option<AccuracyReport>,
}

/// Wire form of a [`StepRecord`]. Lists that repeat a list of the step report are left out.
#[derive(Serialize, Deserialize)]
struct EncodedRecord<'a> {
    state: Cow<'a, State>,
    report: Cow<'a, StepReport>,
    accuracy: Option<Cow<'a, AccuracyReport>>,
    /// The impulses that the state remembers are those of the report, and left out of the state.
    impulses_in_report: bool,
    /// The impulses of the solver that the state remembers are those of the evidence, and left out of the state.
    solver_in_evidence: bool,
    /// The events and impacts of the accuracy report are those of the report, and left out of the former.
    events_in_report: bool,
    /// Intervals of the report, which it is written without.
    intervals: Option<Cow<'a, [ContactInterval]>>,
}

impl Serialize for StepRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        EncodedRecord::from(self).serialize(serializer)
    }
}

impl<'a> From<&'a StepRecord> for EncodedRecord<'a> {
    fn from(record: &'a StepRecord) -> Self {
        let StepRecord { state, report, accuracy } = record;
        let memory = &state.memory;
        let impulses_in_report = memory.contacts == contact_memories(&report.contacts)
            && memory.joints == joint_impulses(&report.joints);
        let events_in_report =
            accuracy.as_ref().is_some_and(|a| a.events == report.events && a.impacts == report.impacts);
        let evidence = report.evidence.as_ref();
        let solver_in_evidence = evidence.is_some_and(|e| e.solver == memory.solver);
        let state = if impulses_in_report || solver_in_evidence {
            let (contacts, joints) = if impulses_in_report {
                (Vec::new(), Vec::new())
            } else {
                (memory.contacts.clone(), memory.joints.clone())
            };
            let solver = if solver_in_evidence { SolverMemory::default() } else { memory.solver.clone() };
            let (h, after_impact, quiet) = (memory.h, memory.after_impact, memory.quiet.clone());
            let (cache, active) = (memory.cache.clone(), memory.active.clone());
            let memory = Memory { h, cache, contacts, joints, active, after_impact, solver, quiet };
            Cow::Owned(State { t: state.t, q: state.q.clone(), v: state.v.clone(), memory })
        } else {
            Cow::Borrowed(state)
        };
        let accuracy = accuracy.as_ref().map(|accuracy| {
            if events_in_report {
                let mut shortened = accuracy.clone();
                shortened.events.clear();
                shortened.impacts.clear();
                Cow::Owned(shortened)
            } else {
                Cow::Borrowed(accuracy)
            }
        });
        let intervals = report.intervals.as_deref().map(Cow::Borrowed);
        let report = Cow::Borrowed(report);
        Self { state, report, accuracy, impulses_in_report, solver_in_evidence, events_in_report, intervals }
    }
}

impl From<EncodedRecord<'_>> for StepRecord {
    fn from(encoded: EncodedRecord) -> Self {
        let EncodedRecord { impulses_in_report, solver_in_evidence, events_in_report, .. } = encoded;
        let EncodedRecord { state, report, accuracy, intervals, .. } = encoded;
        let mut report = report.into_owned();
        report.intervals = intervals.map(Cow::into_owned);
        report.work.halvings = report.evidence.as_ref().map_or(0, Evidence::halvings);
        let shared = SharedLists { impulses_in_report, solver_in_evidence, events_in_report };
        shared.restore(state.into_owned(), report, accuracy.map(Cow::into_owned))
    }
}

/// Lists of a record that are left out because they repeat a list of the step report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedLists {
    pub(crate) impulses_in_report: bool,
    pub(crate) solver_in_evidence: bool,
    pub(crate) events_in_report: bool,
}

impl SharedLists {
    /// Record with its lists put back.
    pub(crate) fn restore(
        self,
        mut state: State,
        report: StepReport,
        mut accuracy: Option<AccuracyReport>,
    ) -> StepRecord {
        if self.impulses_in_report {
            state.memory.contacts = contact_memories(&report.contacts);
            state.memory.joints = joint_impulses(&report.joints);
        }
        if let Some(evidence) = report.evidence.as_ref().filter(|_| self.solver_in_evidence) {
            state.memory.solver.clone_from(&evidence.solver);
        }
        if let Some(accuracy) = accuracy.as_mut().filter(|_| self.events_in_report) {
            accuracy.events.clone_from(&report.events);
            accuracy.impacts.clone_from(&report.impacts);
        }
        StepRecord { state, report, accuracy }
    }
}

/// Contact impulses as the state remembers them after a step: sorted by contact.
pub(crate) fn contact_memories(reports: &[ContactReport]) -> Vec<ContactMemory> {
    let mut contacts: Vec<ContactMemory> = reports.iter().map(ContactMemory::from).collect();
    contacts.sort_by_key(|c| c.id);
    contacts
}

/// Joint impulses as the state remembers them after a step.
pub(crate) fn joint_impulses(reports: &[JointReport]) -> Vec<f64> {
    reports.iter().map(|j| j.impulse).collect()
}
