//! Verification of recorded steps: from the state before a step, the recorded impulses and the state after it, without a
//! solver, for `stiction verify` and tests.
//!
//! Recomputed here: all rows, gaps, offsets, forces and masses, the residuals of the recorded impulses and velocities, the
//! configuration they lead to, energies and momenta. Shared with the schemes: the step-problem builder and the model
//! (a fault in a row or an offset is in both), the certificate of `stiction-lcp`, and the combination formulas of a run
//! to an accuracy. Not shared: solvers, event location, the choice of modes. Nothing recorded is trusted.

mod accuracy_run;
mod bookkeeping;
mod euler;
mod events;
mod halved_step;
mod interval;
mod rows;
mod second_order;
mod timed;
mod tolerances;

use crate::report::{AccuracyReport, StepReport};
use crate::scheme::euler::observe;
use crate::scheme::step_problem::{StepProblemBuilder, largest};
use crate::scheme::{Accuracy, Level, Scheme};
use crate::state::State;
use crate::system::System;
use serde::Serialize;
use std::fmt;
use stiction_lcp::Certificate;
use tolerances::{
    CLOCK_TOLERANCE, CONFIGURATION_TOLERANCE, FIGURE_TOLERANCE, INFEASIBILITY_SEARCH_DISTANCE,
    RESIDUAL_FACTOR,
};

/// Verdict on a recorded step.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// Violations; empty for a step that is as recorded.
    pub findings: Vec<Finding>,
    /// Reasons why parts of the step cannot be checked; the findings are about the rest.
    pub unverifiable: Vec<String>,
    /// Recomputed certificate.
    pub certificate: Certificate,
    /// Largest closing speed of a contact without rows, relative to the speed of the certificate.
    pub open: f64,
    /// Contacts that the scheme left out without proof; they are not checked.
    pub limited: usize,
    /// `true` where the record of a run to an accuracy lists no forces at its end, though the model has rows: journals of
    /// earlier versions. There are none to check.
    pub without_forces: bool,
    /// `true` where the record says that the solver did not reach its tolerance.
    pub loose: bool,
}

/// Violation of a check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Check that fails.
    pub check: Check,
    /// Place in the record or the model.
    pub place: String,
    /// Value, in the unit of the check.
    pub value: f64,
    /// Largest allowed value.
    pub limit: f64,
}

/// Check of a recorded step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Record fits the model: numbers of coordinates, joints and contacts; all numbers are finite.
    Record,
    /// Momentum balance M̃ v⁺ = b + Jᵀp, relative to its terms.
    Momentum,
    /// Joint rows at v⁺, relative to the speed of the certificate.
    Joints,
    /// Complementarity of contacts and friction, relative to the speed of the certificate.
    Complementarity,
    /// Impulses in their friction cones, relative to the speed of the certificate.
    Cone,
    /// Closing speed of contacts without rows, relative to the speed of the certificate.
    Open,
    /// Configuration q⁺ that v⁺ and the passes of post-stabilization lead to [m].
    Position,
    /// Passes of post-stabilization, as the scheme asks for them.
    PostStabilization,
    /// Recorded gap, point, normal, slip or friction coefficient of a contact.
    Contact,
    /// Recorded times, energies and momenta of the state.
    Figure,
    /// Error estimate of a step to an accuracy: as recomputed, and at most the tolerance [m, rad, m/s, rad/s].
    Estimate,
    /// Events and energies of impacts, as the solves between the states have them.
    Event,
    /// Memory of the state: what the next step starts from.
    Memory,
    /// Counters and summaries that follow from the rest of the record.
    Summary,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Record => "record",
            Self::Momentum => "momentum",
            Self::Joints => "joints",
            Self::Complementarity => "complementarity",
            Self::Cone => "cone",
            Self::Open => "open contacts",
            Self::Position => "position",
            Self::PostStabilization => "post-stabilization",
            Self::Contact => "contact",
            Self::Figure => "figure",
            Self::Estimate => "estimate",
            Self::Event => "event",
            Self::Memory => "memory",
            Self::Summary => "summary",
        })
    }
}

impl Verdict {
    /// `true` when everything was checked and nothing is violated.
    pub fn holds(&self) -> bool {
        self.findings.is_empty() && self.unverifiable.is_empty()
    }

    /// Adds a finding where a value is above its limit or NaN.
    fn bound(&mut self, check: Check, value: f64, limit: f64, place: impl FnOnce() -> String) {
        if !(value <= limit) {
            self.findings.push(Finding { check, place: place(), value, limit });
        }
    }

    /// Adds a finding without a value.
    fn fail(&mut self, check: Check, place: impl Into<String>) {
        self.findings.push(Finding { check, place: place.into(), value: f64::NAN, limit: 0.0 });
    }

    fn cannot_check(&mut self, reason: impl Into<String>) {
        self.unverifiable.push(reason.into());
    }

    fn cannot_check_once(&mut self, reason: &str) {
        if self.unverifiable.iter().all(|other| other != reason) {
            self.cannot_check(reason);
        }
    }
}

/// Recorded step: the states before and after it, and its report.
#[derive(Debug, Clone, Copy)]
struct RecordedStep<'a> {
    before: &'a State,
    after: &'a State,
    report: &'a StepReport,
}

/// Parts of a record that no check covers: they could only be found by making the run again. The motion, the impulses
/// and the residuals do not depend on them.
pub const NOT_CHECKED: [&str; 6] = [
    "the work of solvers: problems, pivots, factorizations, sizes, additions, rounds, redundant joint rows, rejected steps, \
     solves, forced mode changes, refused substeps, the observed order, the smallest event function, whether a step of \
     second order stopped locating events or took the definite part of the force Jacobian",
    "whether impulses are determined, their intervals, and the combinations that prove contacts redundant: they are judged as contacts",
    "complementarity and dissipation of certificates of several problems, or of problems with redundant contacts left out",
    "starts of contact searches, and the step size with which a run to an accuracy goes on",
    "the name of the scene file and of the program",
    "differences below the tolerances of the checks",
];

/// Verifies a recorded step: whether `after` follows from `before` by the impulses of `report`, as `scheme` promises.
/// Nothing is solved, and nothing recorded is trusted. Needs [`StepReport::evidence`].
///
/// Residuals are judged by the tolerance of `scheme`, whatever the record says about its own. The judge of a record
/// from elsewhere passes its own: a tolerance of the record would excuse what it holds.
pub fn verify<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    before: &State,
    after: &State,
    report: &StepReport,
) -> Verdict {
    let record = RecordedStep { before, after, report };
    let halved = report.evidence.as_ref().filter(|evidence| evidence.partial_steps().next().is_some());
    verify_record(system, scheme, record, |record, verdict| {
        if let Some(evidence) = halved {
            // its last partial step has the memory
            return halved_step::verify(system, scheme, record, evidence, verdict);
        }
        if let Level::Trapezoidal(settings) = &scheme.level {
            second_order::verify(system, scheme, settings, record, verdict);
        } else {
            euler::verify(system, scheme, record, verdict);
            bookkeeping::euler_step(scheme, record, verdict);
        }
        bookkeeping::step_memory(record, verdict);
    })
}

/// Verifies a recorded run to an accuracy: every step of it, as
/// [`Simulation::run_to_accuracy_into`](crate::Simulation::run_to_accuracy_into) records them, and the error estimates,
/// which are recomputed. Rejected steps are not recorded and not checked, nor is the distance of estimates from errors.
pub fn verify_accuracy_run<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    accuracy: &Accuracy,
    before: &State,
    after: &State,
    report: &StepReport,
    summary: &AccuracyReport,
) -> Verdict {
    let record = RecordedStep { before, after, report };
    verify_record(system, scheme, record, |record, verdict| {
        accuracy_run::verify(system, scheme, accuracy, record, summary, verdict);
    })
}

/// Verifies the states and figures of a record, and by `verify_steps` what lies between the states.
fn verify_record<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    record: RecordedStep,
    verify_steps: impl FnOnce(RecordedStep, &mut Verdict),
) -> Verdict {
    let RecordedStep { before, after, report } = record;
    let mut verdict = Verdict::default();
    if !check_state(system, before, &mut verdict) || !check_state(system, after, &mut verdict) {
        return verdict;
    }
    // inputs are set between steps: the state after a step has those that it used
    let inputs = system.position_count()..system.position_count() + system.input_count();
    let commanded;
    let before = if before.q[inputs.clone()] == after.q[inputs.clone()] {
        before
    } else {
        let mut own = before.clone();
        own.q[inputs.clone()].copy_from_slice(&after.q[inputs]);
        commanded = own;
        &commanded
    };
    let record = RecordedStep { before, after, report };
    if !(report.h.is_finite() && report.h > 0.0) {
        verdict.fail(Check::Record, format!("a step of {} s", report.h));
        return verdict;
    }
    verdict.loose = report.work.loose > 0;
    verify_steps(record, &mut verdict);
    // a certificate was recomputed
    if verdict.certificate.speed > 0.0 {
        compare_certificates(scheme, report, &mut verdict);
    }
    compare_figures(system, record, &mut verdict);
    verdict
}

/// Compares the recorded with the recomputed residuals, each of which may be up to the tolerance, and the energies of
/// the certificate of one problem.
fn compare_certificates(scheme: &Scheme, report: &StepReport, verdict: &mut Verdict) {
    let limit = RESIDUAL_FACTOR * scheme.solver.tolerance;
    let (recorded, own) = (&report.certificate, verdict.certificate.clone());
    let partial = report.evidence.as_ref().is_some_and(|evidence| !evidence.substeps.is_empty());
    let one_problem = !partial && report.second_order.is_none() && report.dropped.is_empty();
    if !(recorded.speed.is_finite() && recorded.speed >= 0.0) {
        verdict.fail(Check::Figure, "scale of the recorded certificate");
    }
    for (what, recorded, own) in [
        ("momentum", recorded.momentum, own.momentum),
        ("joints", recorded.joints, own.joints),
        ("natural map", recorded.natural_map, own.natural_map),
        ("cone", recorded.cone, own.cone),
    ] {
        let place = || format!("{what} of the recorded certificate");
        verdict.bound(Check::Figure, (recorded - own).abs(), limit, place);
    }
    // no solve keeps the energies within a bound, so those of different solves cannot be compared
    if one_problem {
        for (what, recorded, own) in [
            ("complementarity", recorded.complementarity, own.complementarity),
            ("dissipation", recorded.dissipation, own.dissipation),
        ] {
            let place = || format!("{what} of the recorded certificate");
            verdict.bound(Check::Figure, (recorded - own).abs(), limit, place);
        }
    }
}

/// Checks that a state fits the model and is finite.
fn check_state<S: System + ?Sized>(system: &S, state: &State, verdict: &mut Verdict) -> bool {
    let got = [state.q.len(), state.v.len()];
    let expected = [system.coordinate_count(), system.bodies().iter().sum()];
    let fits = got == expected;
    if !fits {
        let place = format!("{got:?} coordinates and velocities; the model has {expected:?}");
        verdict.fail(Check::Record, place);
    }
    let finite = [state.t, state.memory.h].iter().chain(&state.q).chain(&state.v).all(|x| x.is_finite());
    if !finite {
        verdict.fail(Check::Record, "a state that is not finite");
    }
    fits && finite
}

/// Largest coordinate of a place or turn, at least the size of the smallest body: the scale of positions [m].
fn largest_position<S: System + ?Sized>(system: &S, state: &State) -> f64 {
    system.size().max(largest(&state.q[..system.position_count()]))
}

/// Compares times, energies, momenta and infeasibility of the report with those of the states.
fn compare_figures<S: System + ?Sized>(system: &S, record: RecordedStep, verdict: &mut Verdict) {
    let RecordedStep { before, after, report } = record;
    let mut own = StepReport::default();
    observe(system, after, &mut own);
    let mut builder = StepProblemBuilder::default();
    builder.max_gap = INFEASIBILITY_SEARCH_DISTANCE * system.size();
    own.infeasibility = builder.infeasibility(system, after.t, &after.q);
    let mut figure = |name: &str, recorded: f64, own: f64, scale: f64| {
        let limit = FIGURE_TOLERANCE * scale.max(own.abs());
        verdict.bound(Check::Figure, (recorded - own).abs(), limit, || name.to_string());
    };
    figure("kinetic energy", report.kinetic, own.kinetic, 0.0);
    figure("potential energy", report.potential, own.potential, own.kinetic);
    // components cancel, so each is compared relative to the largest
    let (linear, angular) = (own.linear_momentum, own.angular_momentum);
    for (k, axis) in ["x", "y", "z"].iter().enumerate() {
        let along = format!("momentum along {axis}");
        figure(&along, report.linear_momentum[k], linear[k], largest(&linear));
        let about = format!("angular momentum about {axis}");
        figure(&about, report.angular_momentum[k], angular[k], largest(&angular));
    }
    let clock = CLOCK_TOLERANCE * before.t.abs().max(after.t.abs());
    let end = before.t + report.h;
    verdict.bound(Check::Figure, (report.t - own.t).abs(), 0.0, || "time of the report".to_string());
    verdict.bound(Check::Figure, (after.t - end).abs(), clock, || "time".to_string());
    let limit = CONFIGURATION_TOLERANCE * largest_position(system, after);
    let depth = (report.infeasibility - own.infeasibility).abs();
    verdict.bound(Check::Figure, depth, limit, || "infeasibility".to_string());
}
