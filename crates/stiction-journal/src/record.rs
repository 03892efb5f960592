//! What is recorded.

use serde::{Deserialize, Serialize};
use stiction::{
    Accuracy, AccuracyReport, ActiveConstraint, ContactId, ContactMemory, ContactReport, Dropped, Event,
    Evidence, ImpactReport, JointReport, Memory, SearchCache, SecondOrderReport, StabilizationReport, State,
    StepReport, StepWork,
};

/// What a run is of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The program and its version.
    pub program: String,
    /// The name of the scene, as its file has it.
    pub name: String,
    /// The text of the scene.
    pub scene: String,
    /// The scheme, with what was asked for on the command line, as JSON.
    pub scheme: String,
    /// Size of a step [s].
    pub h: f64,
    /// The accuracy, for runs that follow one; then every record is a stretch of `h` made of steps as it allows.
    pub accuracy: Option<Accuracy>,
    /// When the run was to end [s].
    pub until: f64,
}

/// A step: the state after it and what it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Time at its end [s].
    pub t: f64,
    /// Size of the step [s].
    pub h: f64,
    /// Configuration at its end.
    pub q: Vec<f64>,
    /// Velocity at its end.
    pub v: Vec<f64>,
    remembered: Remembered,
    /// The contacts that were rows of the step problem.
    pub contacts: Vec<ContactReport>,
    /// Those that were not, with the combination that proves it: kept contacts by their places, and their parts.
    pub dropped: Vec<(ContactId, Vec<(usize, f64)>)>,
    /// Impulse of every joint row.
    pub joints: Vec<JointReport>,
    /// Residuals: speed [m/s], momentum, joints, natural map, cone, complementarity, dissipation.
    pub certificate: [f64; 7],
    /// Kinetic energy at the end [J].
    pub kinetic: f64,
    /// Potential energy at the end [J].
    pub potential: f64,
    /// Linear momentum at the end [N s].
    pub linear_momentum: [f64; 3],
    /// Angular momentum about the origin at the end [N m s].
    pub angular_momentum: [f64; 3],
    /// Largest penetration or joint error at the end [m].
    pub infeasibility: f64,
    /// What was solved.
    pub work: StepWork,
    /// Passes of post-stabilization, and the infeasibility before and after them [m].
    pub post: Option<(usize, f64, f64)>,
    /// What was located.
    pub events: Vec<Event>,
    /// The impacts.
    pub impacts: Vec<ImpactReport>,
    /// How a step of second order was made.
    pub second_order: Option<SecondOrderReport>,
    /// What it takes to check the step; of a stretch, every step it is made of.
    pub evidence: Option<Evidence>,
    /// For a stretch that was followed to an accuracy: what that took.
    pub followed: Option<AccuracyRun>,
}

/// What the schemes remember and no report says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Remembered {
    h: f64,
    cache: SearchCache,
    active: Option<Vec<ActiveConstraint>>,
    after_impact: bool,
    /// Impulses of contacts and joints, where they are not those of the report.
    other: Option<(Vec<ContactMemory>, Vec<f64>)>,
}

/// What following an accuracy took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AccuracyRun {
    /// The sum of the estimates of the errors of all steps.
    pub error: f64,
    /// Steps made.
    pub steps: usize,
    /// Steps that were too large and made again.
    pub rejections: usize,
    /// Sets of equations and complementarity problems solved.
    pub solves: usize,
    /// The largest residual of momentum and rows.
    pub certificate: f64,
}

impl From<&AccuracyReport> for AccuracyRun {
    fn from(report: &AccuracyReport) -> Self {
        let AccuracyReport { error, steps, rejections, solves, certificate, .. } = *report;
        Self { error, steps, rejections, solves, certificate }
    }
}

impl AccuracyRun {
    /// What is said of a stretch of a run to an accuracy.
    pub fn report(&self, accuracy: &Accuracy) -> AccuracyReport {
        let mut report = AccuracyReport::default();
        report.requested = accuracy.tolerance;
        (report.error, report.steps, report.rejections) = (self.error, self.steps, self.rejections);
        (report.solves, report.certificate) = (self.solves, self.certificate);
        report
    }
}

impl Step {
    /// The record of a step that led to `state`.
    pub fn new(state: &State, report: &StepReport) -> Self {
        let State { t, q, v, memory } = state;
        let same =
            (&memory.contacts, &memory.joints) == (&contacts(&report.contacts), &joints(&report.joints));
        let c = &report.certificate;
        Self {
            t: *t,
            h: report.h,
            q: q.clone(),
            v: v.clone(),
            remembered: Remembered {
                h: memory.h,
                cache: memory.cache.clone(),
                active: memory.active.clone(),
                after_impact: memory.after_impact,
                other: (!same).then(|| (memory.contacts.clone(), memory.joints.clone())),
            },
            contacts: report.contacts.clone(),
            dropped: report.dropped.iter().map(|d| (d.contact, d.combination.to_vec())).collect(),
            joints: report.joints.clone(),
            certificate: [
                c.speed,
                c.momentum,
                c.joints,
                c.natural_map,
                c.cone,
                c.complementarity,
                c.dissipation,
            ],
            kinetic: report.kinetic,
            potential: report.potential,
            linear_momentum: report.linear_momentum,
            angular_momentum: report.angular_momentum,
            infeasibility: report.infeasibility,
            work: report.work.clone(),
            post: report.stabilization.as_ref().map(|p| (p.passes, p.before, p.after)),
            events: report.events.clone(),
            impacts: report.impacts.clone(),
            second_order: report.second_order,
            evidence: report.evidence.clone(),
            followed: None,
        }
    }

    /// The whole state after the step: a run goes on from it bit by bit.
    pub fn state(&self) -> State {
        let Remembered { h, cache, active, after_impact, other } = &self.remembered;
        let (contacts, joints) =
            other.clone().unwrap_or_else(|| (contacts(&self.contacts), joints(&self.joints)));
        let (cache, active) = (cache.clone(), active.clone());
        let memory = Memory { h: *h, cache, contacts, joints, active, after_impact: *after_impact };
        State { t: self.t, q: self.q.clone(), v: self.v.clone(), memory }
    }

    /// What the step did, without the residuals of each contact and the proofs of post-stabilization.
    pub fn report(&self) -> StepReport {
        let mut report = StepReport {
            t: self.t,
            h: self.h,
            contacts: self.contacts.clone(),
            joints: self.joints.clone(),
            kinetic: self.kinetic,
            potential: self.potential,
            linear_momentum: self.linear_momentum,
            angular_momentum: self.angular_momentum,
            infeasibility: self.infeasibility,
            work: self.work.clone(),
            events: self.events.clone(),
            impacts: self.impacts.clone(),
            second_order: self.second_order,
            evidence: self.evidence.clone(),
            ..StepReport::default()
        };
        let dropped = |(contact, combination): &(ContactId, Vec<(usize, f64)>)| Dropped {
            contact: *contact,
            // a proof has three parts at most
            combination: combination.iter().copied().take(3).collect(),
        };
        report.dropped = self.dropped.iter().map(dropped).collect();
        report.stabilization = self.post.map(|(passes, before, after)| StabilizationReport {
            passes,
            before,
            after,
            infeasible: None,
        });
        let c = &mut report.certificate;
        [c.speed, c.momentum, c.joints, c.natural_map, c.cone, c.complementarity, c.dissipation] =
            self.certificate;
        report
    }

    /// The largest residual of the certificate.
    pub fn worst(&self) -> f64 {
        self.certificate[1..5]
            .iter()
            .fold(0.0, |worst, r| if r.is_nan() { f64::INFINITY } else { r.max(worst) })
    }
}

/// What is remembered of the contacts of a step.
fn contacts(reports: &[ContactReport]) -> Vec<ContactMemory> {
    let mut contacts: Vec<ContactMemory> = reports.iter().map(ContactMemory::from).collect();
    contacts.sort_by_key(|c| c.id);
    contacts
}

fn joints(reports: &[JointReport]) -> Vec<f64> {
    reports.iter().map(|j| j.impulse).collect()
}
