//! Verification without a solver: rows, gaps and right-hand sides are posed again from the state before a step, and the
//! recorded impulses and the state after it are judged against them.

mod euler;
mod followed;
mod rows;
mod second_order;

use crate::report::{AccuracyReport, StepReport};
use crate::scheme::euler::observe;
use crate::scheme::pose::{Pose, largest};
use crate::scheme::{Accuracy, Level, Scheme};
use crate::state::State;
use crate::system::{ContactId, System};
use serde::Serialize;
use std::fmt;
use stiction_lcp::Certificate;

/// Residuals may be this many times the tolerance: as much again as the solver was allowed is round-off of positions,
/// by which the scale of speeds is chosen, and of impulses that are recorded along the axes of the world.
const ROUND_OFF: f64 = 2.0;

/// Momentum balances to this part of its terms: a hundred times the round-off of sums over some twenty of them. Smaller
/// refuses true records; larger lets velocities be changed unseen.
const MOMENTUM: f64 = 1e-12;

/// Positions are those that velocities lead to, up to this part of the largest of them: bit by bit on the machine that
/// made the run, but sines of another one differ in the last bit.
const POSITION: f64 = 1e-13;

/// How far contacts are looked for where their depth is, as a part of the size.
const LOOK: f64 = 1e-9;

/// Recorded figures that nothing depends on, energies and the like, hold to this part: they are sums of products that
/// are formed again.
const FIGURE: f64 = 1e-12;

/// What is found of a recorded step.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// What does not hold; empty for a step that is as recorded.
    pub findings: Vec<Finding>,
    /// What cannot be told, and why; then the findings are about the rest.
    pub unverifiable: Vec<String>,
    /// The certificate, recomputed.
    pub certificate: Certificate,
    /// The largest speed at which a contact that was no row closes, over that of the certificate.
    pub open: f64,
    /// Contacts that the scheme left out without proof, and promises nothing of.
    pub limited: usize,
    /// The record says that the solver did not reach its tolerance, and the residuals are within the loosest one.
    pub loose: bool,
}

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What.
    pub check: Check,
    /// Where.
    pub place: String,
    /// By how much, in the unit of the check.
    pub value: f64,
    /// How much it may be.
    pub limit: f64,
}

/// What a step is checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The record is of this model: numbers of coordinates, joints and contacts, and no number that is not one.
    Record,
    /// M̃ v⁺ = b + Jᵀp, relative to its terms.
    Momentum,
    /// Joint rows hold at v⁺, relative to the speed of the certificate.
    Joints,
    /// Contacts and friction are complementary, relative to the speed of the certificate.
    Complementarity,
    /// Impulses lie in their cones, relative to the speed of the certificate.
    Cone,
    /// Contacts that were no rows do not close, relative to the speed of the certificate.
    Open,
    /// q⁺ is where v⁺ and the passes of post-stabilization lead [m].
    Position,
    /// Post-stabilization did what the scheme asks for.
    PostStabilization,
    /// A recorded gap, point, normal or coefficient of friction is that of the contact.
    Contact,
    /// Recorded times, energies, momenta and the like are those of the state.
    Figure,
    /// The estimate of the error of a step to an accuracy is what its parts say, and no more than was asked for
    /// [m, rad, m/s, rad/s].
    Estimate,
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
        })
    }
}

impl Verdict {
    /// `true` when nothing was found and all could be told.
    pub fn holds(&self) -> bool {
        self.findings.is_empty() && self.unverifiable.is_empty()
    }

    /// Notes a value that is above its limit; one that is not a number is above any.
    fn bound(&mut self, check: Check, value: f64, limit: f64, place: impl FnOnce() -> String) {
        if !(value <= limit) {
            self.findings.push(Finding { check, place: place(), value, limit });
        }
    }

    fn cannot_tell(&mut self, why: impl Into<String>) {
        self.unverifiable.push(why.into());
    }
}

/// Judges a recorded step: whether `after` follows from `before` by the impulses of `report`, as `scheme` promises.
/// Nothing is solved, and nothing recorded is believed.
pub fn verify<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    before: &State,
    after: &State,
    report: &StepReport,
) -> Verdict {
    judged(system, scheme, (before, after), report, |verdict| match &scheme.level {
        Level::Trapezoidal(settings) => {
            second_order::verify(system, (scheme, settings), before, after, report, verdict);
        }
        _ => euler::verify(system, scheme, before, after, report, verdict),
    })
}

/// Judges a recorded stretch that was followed to an accuracy: every step that it is made of, as
/// [`Simulation::run_to_accuracy_into`](crate::Simulation::run_to_accuracy_into) records them, and the estimates of their errors, which
/// are formed again. How many steps were rejected on the way is not judged, nor how far estimates are from errors.
pub fn verify_accuracy_run<S: System + ?Sized>(
    system: &S,
    (scheme, accuracy): (&Scheme, &Accuracy),
    before: &State,
    after: &State,
    report: &StepReport,
    said: &AccuracyReport,
) -> Verdict {
    judged(system, scheme, (before, after), report, |verdict| {
        followed::verify(system, (scheme, accuracy), (before, after), (report, said), verdict);
    })
}

/// What a record says of its states and figures, and what `steps` finds of what lies between.
fn judged<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    (before, after): (&State, &State),
    report: &StepReport,
    steps: impl FnOnce(&mut Verdict),
) -> Verdict {
    let mut verdict = Verdict::default();
    if !is_of(system, before, &mut verdict) || !is_of(system, after, &mut verdict) {
        return verdict;
    }
    if !(report.h.is_finite() && report.h > 0.0) {
        verdict.bound(Check::Record, f64::NAN, 0.0, || format!("a step of {} s", report.h));
        return verdict;
    }
    steps(&mut verdict);
    // there is one to compare with
    if verdict.certificate.speed > 0.0 {
        recorded_certificate(scheme, report, &mut verdict);
    }
    figures(system, before, after, report, &mut verdict);
    verdict
}

/// The recorded residuals are those that were recomputed, up to what both may be.
fn recorded_certificate(scheme: &Scheme, report: &StepReport, verdict: &mut Verdict) {
    let loosest = if verdict.loose { scheme.solver.loosest } else { 0.0 };
    let limit = ROUND_OFF * scheme.solver.tolerance.max(loosest);
    let (said, own) = (&report.certificate, verdict.certificate.clone());
    for (what, said, own) in [
        ("momentum", said.momentum, own.momentum),
        ("joints", said.joints, own.joints),
        ("natural map", said.natural_map, own.natural_map),
        ("cone", said.cone, own.cone),
    ] {
        let place = || format!("the recorded certificate: {what}");
        verdict.bound(Check::Figure, (said - own).abs(), limit, place);
    }
}

fn is_of<S: System + ?Sized>(system: &S, state: &State, verdict: &mut Verdict) -> bool {
    let got = [state.q.len(), state.v.len()];
    let expected = [system.coordinate_count(), system.bodies().iter().sum()];
    let fits = got == expected;
    if !fits {
        let place = || format!("{got:?} coordinates and velocities of {expected:?}");
        verdict.bound(Check::Record, f64::NAN, 0.0, place);
    }
    let finite = [state.t, state.memory.h].iter().chain(&state.q).chain(&state.v).all(|x| x.is_finite());
    if !finite {
        verdict.bound(Check::Record, f64::NAN, 0.0, || "a state that is not finite".to_string());
    }
    fits && finite
}

/// Figures of the report that follow from the states.
fn figures<S: System + ?Sized>(
    system: &S,
    before: &State,
    after: &State,
    report: &StepReport,
    verdict: &mut Verdict,
) {
    let mut own = StepReport::default();
    observe(system, after, &mut own);
    // whether a pair is closed by less than that depends on where its search starts; gaps of what is found do not
    let mut pose = Pose::default();
    pose.reach = LOOK * system.size();
    own.infeasibility = pose.infeasibility(system, after.t, &after.q);
    let mut figure = |name: &str, recorded: f64, own: f64, scale: f64| {
        let limit = FIGURE * scale.max(own.abs());
        verdict.bound(Check::Figure, (recorded - own).abs(), limit, || name.to_string());
    };
    figure("time of the report", report.t, own.t, 0.0);
    figure("time", after.t, before.t + report.h, report.h);
    figure("kinetic energy", report.kinetic, own.kinetic, 0.0);
    figure("potential energy", report.potential, own.potential, own.kinetic);
    // components cancel: each is measured by all of them
    let (linear, angular) = (own.linear_momentum, own.angular_momentum);
    for (k, axis) in ["x", "y", "z"].iter().enumerate() {
        let along = format!("momentum along {axis}");
        figure(&along, report.linear_momentum[k], linear[k], largest(&linear));
        let about = format!("angular momentum about {axis}");
        figure(&about, report.angular_momentum[k], angular[k], largest(&angular));
    }
    let limit = POSITION * system.size().max(largest(&after.q));
    let depth = (report.infeasibility - own.infeasibility).abs();
    verdict.bound(Check::Figure, depth, limit, || "infeasibility".to_string());
}

/// A contact as people read it.
fn name(id: ContactId) -> String {
    format!("contact {} of shapes {} and {}", id.feature, id.pair.a, id.pair.b)
}
