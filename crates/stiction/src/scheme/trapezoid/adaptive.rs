//! Steps as large as the accuracy asked for allows, between located events.

use super::attempt::Attempt;
use super::event::Watch;
use super::flow::{Stage, uncertified};
use super::frame::{contact, dot};
use super::hand_over::Reach;
use super::judge::worse;
use super::{LEFT, Method, Run, Workspace};
use crate::error::StepError;
use crate::report::{AccuracyReport, Combination, Evidence, SecondOrderReport};
use crate::scheme::{Accuracy, AccurateMethod, Form, Middle, Rows, Scheme, Trapezoidal, euler};
use crate::state::{ActiveConstraint, Hold, State};
use crate::system::{ConstraintId, ContactQuery, System};
use stiction_lcp::Certificate;

/// Steps shrink and grow by at most this much.
const SHRINK: f64 = 0.2;
const GROW: f64 = 5.0;

/// Errors are aimed at this part of the tolerance, so that few steps are rejected.
const SAFETY: f64 = 0.9;

/// Below this part of the time that is left steps would be round-off.
const SMALLEST: f64 = 1e-14;

/// How often the order is observed: once in so many steps.
const OBSERVE: usize = 16;

/// Times at which states are wanted, in ascending order from now on, and who takes them.
pub(crate) struct Samples<'a> {
    pub(crate) times: &'a [f64],
    pub(crate) take: &'a mut dyn FnMut(&State),
}

/// Goes on to time `until`, handing out the states that are wanted. Each is made by a step of its own from the start of
/// the step it is in: an interpolant would be of a lower order than the steps.
pub(crate) fn run<S: System + ?Sized>(
    system: &S,
    (scheme, accuracy): (&Scheme, &Accuracy),
    state: &mut State,
    until: f64,
    workspace: &mut Workspace,
    mut samples: Samples,
    evidence: Option<&mut Evidence>,
) -> Result<AccuracyReport, StepError> {
    if !(accuracy.tolerance.is_finite() && accuracy.tolerance > 0.0) {
        return Err(StepError::Accuracy(accuracy.tolerance));
    }
    if !(until > state.t) {
        return Err(StepError::StepSize(until - state.t));
    }
    euler::check(system, state, until - state.t)?;
    super::known(system, state)?;
    let (scheme, settings) = followed(scheme, accuracy);
    workspace.flow.cache.clone_from(&state.memory.cache);
    (workspace.flow.solves, workspace.flow.definite) = (0, false);
    let largest = accuracy.largest_step.min(until - state.t);
    let now = state.clone();
    let mut run = Run {
        stage: Stage { system, scheme: &scheme, settings: &settings, whole: largest },
        workspace,
        active: now.memory.active.clone().unwrap_or_default(),
        now,
        fresh: Vec::new(),
        events: Vec::new(),
        happened: 0,
        impacts: Vec::new(),
        bounced: None,
        told: SecondOrderReport::default(),
        last: None,
        coarse: None,
        certificate: Certificate::default(),
        problems: 0,
        method: Method::Doubled,
        evidence: evidence.as_deref().map(|_| Evidence::default()),
    };
    run.workspace.projector.displacements = run.evidence.as_ref().map(|_| Vec::new());
    let followed = run.follow(accuracy, until, &mut samples);
    let made = run.evidence.take();
    run.workspace.projector.displacements = None;
    let report = followed?;
    if let (Some(evidence), Some(made)) = (evidence, made) {
        *evidence = made;
    }
    std::mem::swap(state, &mut run.now);
    Ok(report)
}

/// How parts are made in a run to an accuracy, whatever the scheme says: steps are projected, so that rows at the mean
/// velocity do not ring, and those alone extrapolate.
pub(crate) fn followed(scheme: &Scheme, accuracy: &Accuracy) -> (Scheme, Trapezoidal) {
    let slowest = scheme.restitution_speed.unwrap_or((0.01 * accuracy.tolerance).max(1e-12));
    let settings =
        Trapezoidal { rows: Rows::all(Form::Mean), middle: Middle::Ahead, ..Trapezoidal::default() };
    (Scheme { restitution_speed: Some(slowest), ..*scheme }, settings)
}

/// Whether a step of this size and error is accepted.
pub(crate) fn accepted(h: f64, error: f64, tolerance: f64, until: f64) -> bool {
    error <= tolerance || h <= SMALLEST * until.abs().max(1.0)
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Steps up to time `until`.
    fn follow(
        &mut self,
        accuracy: &Accuracy,
        until: f64,
        samples: &mut Samples,
    ) -> Result<AccuracyReport, StepError> {
        let (tolerance, largest) = (accuracy.tolerance, self.stage.whole);
        let mut report = AccuracyReport { requested: tolerance, ..AccuracyReport::default() };
        self.settle_accurately()?;
        self.choose(accuracy.method, tolerance)?;
        let goes_on = self.now.memory.h > 0.0;
        let first = if goes_on { self.now.memory.h } else { accuracy.first_step };
        let mut control = Control { tolerance, before: None, h: first.min(largest) };
        let mut orders = Vec::new();
        let mut tried = 0;
        while until - self.now.t > LEFT * largest {
            let left = until - self.now.t;
            if tried >= accuracy.step_limit {
                let (limit, size) = (accuracy.step_limit, control.h);
                return Err(StepError::Steps { t: self.now.t, limit, size });
            }
            tried += 1;
            // the last two steps share what is left, so that none is tiny
            let h = match control.h {
                h if h >= left => left,
                h if 2.0 * h > left => 0.5 * left,
                h => h,
            };
            let order = self.order();
            self.stage.whole = h;
            if matches!(self.method, Method::Doubled) {
                self.start_part()?;
            }
            let Reach { made, size: h, lost } = self.reach(h, false)?;
            let Some((whole, watched)) = made else {
                if let Some(lost) = lost {
                    self.pass_on(lost, accuracy)?;
                    control.before = None;
                }
                continue;
            };
            if !accepted(h, whole.error, tolerance, until) {
                self.is_above_rounding(tolerance)?;
                report.rejections += 1;
                control.reject(h, whole.error, order);
                self.recycle(whole.candidate);
                continue;
            }
            if self.leaps(&whole.end, h) {
                control.h = 0.5 * h;
                self.recycle(whole.candidate);
                continue;
            }
            // stretches of a few steps are not made half as long again
            let observed = report.steps.is_multiple_of(OBSERVE) && (report.steps > 0 || !goes_on);
            if observed && whole.error > 1e3 * f64::EPSILON {
                let half = self.attempt(0.5 * h, false)?;
                if half.error > 1e2 * f64::EPSILON {
                    orders.push((whole.error / half.error).log2());
                }
                self.recycle(half.candidate);
            }
            let (landed, happened) = self.land_at_first(whole, watched, h)?;
            if let Some(landed) = landed {
                // a shorter step has the larger error where that of the whole one happened to be small
                let size = landed.end.t - self.now.t;
                if !accepted(size, landed.error, tolerance, until) {
                    report.rejections += 1;
                    control.reject(size, landed.error, order);
                    self.recycle(landed.candidate);
                    continue;
                }
                self.take(landed, samples, &mut report)?;
            }
            if let Some(watched) = happened {
                self.happen(&watched)?;
                control.before = None;
                self.go_on(accuracy)?;
            } else if let Some(lost) = lost {
                self.pass_on(lost, accuracy)?;
                control.before = None;
            } else {
                control.accept(h, report.last_error, order, largest);
            }
        }
        self.now.t = until;
        // the last step may end a rounding before the end
        samples.times.iter().for_each(|_| (samples.take)(&self.now));
        orders.sort_by(f64::total_cmp);
        report.order = orders.get(orders.len() / 2).copied();
        report.solves = self.workspace.flow.solves;
        report.events = std::mem::take(&mut self.events);
        report.impacts = std::mem::take(&mut self.impacts);
        report.forced = self.told.forced;
        report.certificate = self.certificate.worst();
        self.now.memory.active = Some(std::mem::take(&mut self.active));
        self.now.memory.h = control.h;
        self.workspace.flow.cache.forget_stale();
        self.now.memory.cache.clone_from(&self.workspace.flow.cache);
        Ok(report)
    }
}

/// Extrapolates two steps of second order against one of twice the size, into `two`, and estimates the error.
pub(super) fn extrapolate(one: &State, two: &mut State) -> f64 {
    let mut error: f64 = 0.0;
    let mut add = |two: &mut Vec<f64>, one: &[f64]| {
        for (two, one) in two.iter_mut().zip(one) {
            error = error.max((*two - one).abs() / 3.0);
            *two += (*two - one) / 3.0;
        }
    };
    add(&mut two.q, &one.q);
    add(&mut two.v, &one.v);
    error
}

/// The step size. PI control on the error of each step.
struct Control {
    tolerance: f64,
    /// Error of the last step, none after an event.
    before: Option<f64>,
    h: f64,
}

impl Control {
    fn reject(&mut self, h: f64, error: f64, order: f64) {
        let factor = SAFETY * (self.tolerance / error).powf(1.0 / order);
        self.h = h * if factor.is_finite() { factor.clamp(SHRINK, SAFETY) } else { SHRINK };
        self.before = None;
    }

    fn accept(&mut self, h: f64, error: f64, order: f64, largest: f64) {
        let error = error.max(1e-3 * f64::EPSILON * self.tolerance.max(f64::EPSILON)).max(f64::MIN_POSITIVE);
        let mut factor = SAFETY * (self.tolerance / error).powf(0.7 / order);
        if let Some(before) = self.before {
            factor *= (before / self.tolerance).powf(0.4 / order);
        }
        self.h = (h * factor.clamp(SHRINK, GROW)).min(largest);
        self.before = Some(error);
    }
}

impl<S: System + ?Sized> Run<'_, S> {
    /// The order of the local error of a step.
    fn order(&self) -> f64 {
        match self.method {
            Method::Explicit(Combination::DormandPrince) => 5.0,
            Method::Explicit(_) => 8.0,
            _ => 3.0,
        }
    }

    /// Modes at the start, and a state that all rows agree with.
    fn settle_accurately(&mut self) -> Result<(), StepError> {
        if self.now.memory.active.is_none() {
            self.begin()?;
        }
        let Workspace { flow, projector, .. } = &mut *self.workspace;
        projector.project(self.stage.system, &mut self.now, &self.active, flow)?;
        self.keep_projection(&self.active.clone());
        Ok(())
    }

    /// The explicit pair where tolerances are tight and forces are not stiff.
    fn choose(&mut self, asked: AccurateMethod, tolerance: f64) -> Result<(), StepError> {
        self.method = match asked {
            AccurateMethod::Trapezoidal => Method::Doubled,
            AccurateMethod::DormandPrince => Method::Explicit(Combination::DormandPrince),
            AccurateMethod::DormandPrinceEight => Method::Explicit(Combination::DormandPrinceEight),
            AccurateMethod::Automatic if tolerance > 1e-4 => Method::Doubled,
            AccurateMethod::Automatic => {
                let Self { stage, workspace, now, .. } = self;
                workspace.flow.linearize(stage, now)?;
                // with a step that would be taken for this tolerance: its cube is about as large
                let step = tolerance.cbrt().min(stage.whole);
                if workspace.flow.stiffness(stage, now, step) > super::attempt::STIFF {
                    Method::Doubled
                } else {
                    Method::Explicit(Combination::DormandPrinceEight)
                }
            }
        };
        Ok(())
    }

    /// Smaller steps make an error smaller while it is not that of the numbers themselves.
    fn is_above_rounding(&self, tolerance: f64) -> Result<(), StepError> {
        let numbers = self.now.q.iter().chain(&self.now.v);
        let size = numbers.fold(0.0_f64, |size, x| size.max(x.abs()));
        if f64::EPSILON * size > tolerance {
            return Err(StepError::Rounding { t: self.now.t, tolerance, size });
        }
        Ok(())
    }

    /// Lets go of a contact that is lost here.
    fn pass_on(&mut self, lost: ConstraintId, accuracy: &Accuracy) -> Result<(), StepError> {
        self.hand_over(lost)?;
        self.go_on(accuracy)
    }

    /// Goes on after something happened.
    fn go_on(&mut self, accuracy: &Accuracy) -> Result<(), StepError> {
        if self.happened > accuracy.event_limit {
            return Err(StepError::Events { t: self.now.t, limit: accuracy.event_limit });
        }
        self.choose(accuracy.method, accuracy.tolerance)
    }

    /// Two steps of half the size against one, projected, and what they extrapolate to.
    pub(super) fn doubled(&mut self, x: f64) -> Result<Attempt, StepError> {
        let system = self.stage.system;
        let mut one = self.attempt_from(None, x, false)?;
        let half = self.attempt_from(None, 0.5 * x, false)?;
        self.start_from(&half.end)?;
        let mut two = self.attempt_from(Some(&half.end), 0.5 * x, false)?;
        self.start_part()?;
        let mut seen = std::mem::take(&mut one.parts);
        let Workspace { flow, projector, .. } = &mut *self.workspace;
        projector.project(system, &mut one.end, &self.active, flow)?;
        self.see_projection(&one.end, &mut seen);
        seen.extend(half.parts.iter().chain(&two.parts).cloned());
        let Workspace { flow, projector, .. } = &mut *self.workspace;
        projector.project(system, &mut two.end, &self.active, flow)?;
        self.see_projection(&two.end, &mut seen);
        let error = extrapolate(&one.end, &mut two.end);
        system.normalize(&mut two.end.q);
        let Workspace { flow, projector, .. } = &mut *self.workspace;
        projector.project(system, &mut two.end, &self.active, flow)?;
        self.see_projection(&two.end, &mut seen);
        let parts = self.combined((x, Combination::Doubled), seen, error);
        let certificate = worse(worse(one.certificate, half.certificate), two.certificate);
        self.recycle(one.candidate);
        self.recycle(half.candidate);
        Ok(Attempt { end: two.end, candidate: two.candidate, active: two.active, certificate, error, parts })
    }

    /// A step, or what of it comes before the first event, if anything does, and the functions that pass zero there.
    fn land_at_first(
        &mut self,
        whole: Attempt,
        watched: Vec<Watch>,
        h: f64,
    ) -> Result<(Option<Attempt>, Option<Vec<Watch>>), StepError> {
        let (mut landed, grazing) = self.true_grazing(whole, h, false)?;
        let mut happened = None;
        if !watched.is_empty() || grazing.is_some() {
            let (watched, until) = grazing.unwrap_or((watched, h));
            let at = self.root(&watched, until, false, None)?;
            if at == 0.0 {
                // nothing moves: what was entered last does not last
                self.recycle(landed.candidate);
                return Ok((None, Some(watched)));
            }
            if at < h {
                self.recycle(std::mem::take(&mut landed.candidate));
                landed = self.attempt(at, false)?;
            }
            happened = Some(watched);
        }
        Ok((Some(landed), happened))
    }

    /// Takes a step.
    fn take(
        &mut self,
        landed: Attempt,
        samples: &mut Samples,
        report: &mut AccuracyReport,
    ) -> Result<(), StepError> {
        let tolerance = self.stage.scheme.solver.tolerance;
        if !landed.certificate.passes(tolerance) {
            let Attempt { candidate, certificate, .. } = landed;
            let problem = &self.workspace.flow.problem;
            return Err(uncertified(self.now.t, tolerance, (candidate, certificate), problem));
        }
        self.sample(&landed.end, samples)?;
        let so_far = std::mem::take(&mut self.certificate);
        self.certificate = worse(so_far, landed.certificate);
        report.steps += 1;
        report.last_error = landed.error;
        report.error += landed.error;
        if let Some(evidence) = &mut self.evidence {
            evidence.parts.extend(landed.parts);
        }
        self.now = landed.end;
        self.active = landed.active;
        self.turn_slips_here();
        self.recycle(landed.candidate);
        let system = self.stage.system;
        if !system.has_unilateral_constraints() {
            return Ok(());
        }
        let Workspace { flow, impact, .. } = &mut *self.workspace;
        let (t, q) = (self.now.t, &self.now.q);
        system.contacts(t, q, &ContactQuery::within(0.0), &mut flow.cache, &mut impact.contacts);
        report.penetration = impact.contacts.iter().fold(report.penetration, |m, c| m.max(-c.gap));
        Ok(())
    }
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Hands out the states that are wanted up to the end of the step from here to `end`.
    fn sample(&mut self, end: &State, samples: &mut Samples) -> Result<(), StepError> {
        while let Some((&t, later)) = samples.times.split_first().filter(|(t, _)| **t <= end.t) {
            samples.times = later;
            let x = t - self.now.t;
            if x <= 0.0 {
                (samples.take)(&self.now);
            } else if t < end.t {
                let mut there = self.attempt(x, false)?;
                there.end.t = t;
                (samples.take)(&there.end);
                self.recycle(there.candidate);
            } else {
                (samples.take)(end);
            }
        }
        Ok(())
    }

    /// Friction of contacts that slip in space follows their slip here.
    fn turn_slips_here(&mut self) {
        let slips = |b: &ActiveConstraint| matches!(b.hold, Hold::Slip(_)) && contact(b).is_some();
        if !self.active.iter().any(slips) {
            return;
        }
        let flow = &mut self.workspace.flow;
        let here = (self.now.t, &self.now.q[..]);
        if flow.middle.read(self.stage.system, here, &self.active, None, &mut flow.cache).is_err() {
            return;
        }
        let starts = &flow.layout.velocity;
        let holders = self.active.iter_mut().filter(|b| contact(b).is_some());
        for (active, row) in holders.zip(&flow.middle.contacts) {
            if !(matches!(active.hold, Hold::Slip(_)) && row.tangents.len() == 2) {
                continue;
            }
            let mut slip = [0.0; 3];
            for (tangent, direction) in row.tangents.iter().zip(row.tangent_directions) {
                let u = tangent.row.dot(starts, &self.now.v) + tangent.offset;
                (0..3).for_each(|i| slip[i] += u * direction[i]);
            }
            let size = dot(slip, slip).sqrt();
            if size > super::RESTITUTION_SPEED {
                active.hold = Hold::Slip(slip.map(|u| -u / size));
            }
        }
    }
}
