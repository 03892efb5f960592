//! Records of format 5: those of format 6 without intervals of forces.
//!
//! Postcard writes fields by their order alone. Types that are used here as they are today have not changed since; one
//! that changes gets a frozen copy here first.

use crate::record::{SharedLists, StepRecord};
use serde::Deserialize;
use stiction::{AccuracyReport, Evidence, State, StepReport};

/// Recorded step.
#[derive(Deserialize)]
pub(crate) struct RecordV5 {
    state: State,
    report: StepReport,
    accuracy: Option<AccuracyReport>,
    impulses_in_report: bool,
    solver_in_evidence: bool,
    events_in_report: bool,
}

impl From<RecordV5> for StepRecord {
    fn from(record: RecordV5) -> Self {
        let RecordV5 { impulses_in_report, solver_in_evidence, events_in_report, .. } = record;
        let RecordV5 { state, mut report, accuracy, .. } = record;
        report.work.halvings = report.evidence.as_ref().map_or(0, Evidence::halvings);
        let shared = SharedLists { impulses_in_report, solver_in_evidence, events_in_report };
        shared.restore(state, report, accuracy)
    }
}
