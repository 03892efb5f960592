//! Recorder of a step: events, impacts, statistics, the worst certificate, and evidence for a verifier.

use super::certificate::worse;
use crate::report::{Event, EventKind, Evidence, ImpactReport, SecondOrderReport, SubstepRecord};
use crate::system::ConstraintId;
use stiction_lcp::Certificate;

/// Recorder of a step or of a run to an accuracy.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) events: Vec<Event>,
    /// Events applied, whether or not a mode changed. This number is limited.
    pub(super) event_count: usize,
    pub(super) impacts: Vec<ImpactReport>,
    /// Time of the last impact and the velocity before it.
    pub(super) last_impact: Option<(f64, Vec<f64>)>,
    pub(super) statistics: SecondOrderReport,
    /// Worst certificate of all accepted solves.
    pub(super) certificate: Certificate,
    /// Evidence for a verifier, if one is expected.
    pub(super) evidence: Option<Evidence>,
    /// Bound on the distance that each moving body travelled in a run to an accuracy [m].
    pub(super) travels: Vec<f64>,
}

/// Mark of what had been recorded.
#[derive(Debug)]
pub(super) struct RecorderMark {
    events: usize,
    impacts: usize,
    /// Report of the last impact, which the next one may replace.
    last_report: Option<ImpactReport>,
    last_impact: Option<(f64, Vec<f64>)>,
    substeps: usize,
}

impl Recorder {
    /// Mark of what has been recorded.
    pub(super) fn mark(&self) -> RecorderMark {
        RecorderMark {
            events: self.events.len(),
            impacts: self.impacts.len(),
            last_report: self.last_impact.is_some().then(|| self.impacts.last().cloned()).flatten(),
            last_impact: self.last_impact.clone(),
            substeps: self.evidence.as_ref().map_or(0, |e| e.substeps.len()),
        }
    }

    /// Drops what was recorded after a mark. Events stay counted, so that their number stays limited.
    pub(super) fn return_to(&mut self, mark: RecorderMark) {
        self.events.truncate(mark.events);
        self.impacts.truncate(mark.impacts);
        if let (Some(last), Some(report)) = (self.impacts.last_mut(), mark.last_report) {
            *last = report;
        }
        self.last_impact = mark.last_impact;
        if let Some(evidence) = &mut self.evidence {
            evidence.substeps.truncate(mark.substeps);
        }
    }

    /// Adds a certificate.
    pub(super) fn certify(&mut self, certificate: Certificate) {
        let so_far = std::mem::take(&mut self.certificate);
        self.certificate = worse(so_far, certificate);
    }

    /// Adds records to the evidence, if there is one.
    pub(super) fn record(&mut self, records: impl IntoIterator<Item = SubstepRecord>) {
        if let Some(evidence) = &mut self.evidence {
            evidence.substeps.extend(records);
        }
    }

    /// Notes the least value of the event functions of a trial step.
    pub(super) fn note_slack(&mut self, slack: f64) {
        self.statistics.slack = self.statistics.slack.min(slack);
    }

    /// Velocity before an impact at time `t`, if the last impact was then.
    pub(super) fn take_impact_at(&mut self, t: f64) -> Option<Vec<f64>> {
        self.last_impact.take().filter(|last| last.0 == t).map(|last| last.1)
    }

    /// Adds an impact at the closed constraints. It `replaces` the last one if that bounce was too short to be resolved.
    pub(super) fn add_impact(&mut self, report: ImpactReport, closed: &[ConstraintId], replaces: bool) {
        if replaces {
            self.impacts.pop();
        } else {
            let event = |&constraint| Event { t: report.t, kind: EventKind::Impact, constraint };
            self.events.extend(closed.iter().map(event));
        }
        self.impacts.push(report);
    }
}
