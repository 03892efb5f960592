//! Steps as large as the accuracy asked for allows, between located events.

use super::attempt::Attempt;
use super::flow::{Stage, uncertified};
use super::frame::{contact, dot};
use super::judge::worse;
use super::{LEFT, Method, Run, Workspace};
use crate::error::StepError;
use crate::report::{AccuracyReport, SecondOrderReport};
use crate::scheme::{Accuracy, AccurateMethod, Form, Middle, Rows, Scheme, Trapezoidal, euler};
use crate::state::{Bearing, Hold, State};
use crate::system::{Near, System};
use stiction_lcp::Certificate;

/// Steps shrink and grow by at most this much.
const SHRINK: f64 = 0.2;
const GROW: f64 = 5.0;

/// Errors are aimed at this part of the tolerance, so that few steps are rejected.
const SAFETY: f64 = 0.9;

/// Below this part of the time that is left steps would be round-off.
const SMALLEST: f64 = 1e-14;

/// Tolerances at which seventeen evaluations of order eight are worth more than seven of order five.
const EXTRAPOLATED: f64 = 1e-6;

/// How often the order is observed: every so many steps.
const OBSERVE: usize = 16;

/// A state with its rates, for the interpolant.
#[derive(Debug, Clone)]
pub(crate) struct Knot {
    state: State,
    /// dq/dt.
    rates: Vec<f64>,
}

/// Goes on to time `until`, calling `knots` with the two ends of every step.
pub(crate) fn run<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    accuracy: &Accuracy,
    state: &mut State,
    until: f64,
    workspace: &mut Workspace,
    mut knots: impl FnMut(&Knot, &Knot),
) -> Result<AccuracyReport, StepError> {
    if !(accuracy.tolerance.is_finite() && accuracy.tolerance > 0.0) {
        return Err(StepError::Accuracy(accuracy.tolerance));
    }
    if !(until > state.t) {
        return Err(StepError::StepSize(until - state.t));
    }
    euler::check(system, state, until - state.t)?;
    let tolerance = accuracy.tolerance;
    let slowest = scheme.restitution_speed.unwrap_or((0.01 * tolerance).max(1e-12));
    let scheme = Scheme { restitution_speed: Some(slowest), ..*scheme };
    // steps are projected, so that rows at the mean velocity do not ring, and those alone extrapolate
    let settings =
        Trapezoidal { rows: Rows::all(Form::Mean), middle: Middle::Ahead, ..Trapezoidal::default() };
    workspace.flow.bases.clone_from(&state.memory.bases);
    (workspace.flow.solves, workspace.flow.definite) = (0, false);
    let largest = accuracy.largest_step.min(until - state.t);
    let now = state.clone();
    let mut run = Run {
        stage: Stage { system, scheme: &scheme, settings: &settings, whole: largest },
        workspace,
        bearing: now.memory.bearing.clone().unwrap_or_default(),
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
        evidence: None,
    };
    let mut report = AccuracyReport { requested: tolerance, ..AccuracyReport::default() };
    run.settle_accurately()?;
    run.choose(accuracy.method, tolerance)?;
    let mut control = Control { tolerance, before: None, h: accuracy.first_step.min(largest) };
    let mut orders = Vec::new();
    while until - run.now.t > LEFT * largest {
        let left = until - run.now.t;
        // the last two steps share what is left, so that none is tiny
        let h = if control.h >= left { left } else { control.h.min(0.5 * left.max(2.0 * control.h)) };
        let order = run.order();
        run.stage.whole = h;
        run.start_part()?;
        let whole = run.attempt(h, false)?;
        if !(whole.error <= tolerance) && h > SMALLEST * until.abs().max(1.0) {
            report.rejections += 1;
            control.reject(h, whole.error, order);
            run.recycle(whole.candidate);
            continue;
        }
        if report.steps.is_multiple_of(OBSERVE) && whole.error > 1e3 * f64::EPSILON {
            let half = run.attempt(0.5 * h, false)?;
            if half.error > 1e2 * f64::EPSILON {
                orders.push((whole.error / half.error).log2());
            }
            run.recycle(half.candidate);
        }
        let before = Knot::at(system, &run.now);
        let happened = run.accept_or_land(whole, h, &mut report)?;
        knots(&before, &Knot::at(system, &run.now));
        if let Some(watched) = happened {
            run.happen(&watched)?;
            control.before = None;
            run.choose(accuracy.method, tolerance)?;
            if run.happened > accuracy.event_limit {
                return Err(StepError::Events { t: run.now.t, limit: accuracy.event_limit });
            }
        } else {
            control.accept(h, report.last_error, order, largest);
        }
    }
    run.now.t = until;
    orders.sort_by(f64::total_cmp);
    report.order = orders.get(orders.len() / 2).copied();
    report.solves = run.workspace.flow.solves;
    report.events = std::mem::take(&mut run.events);
    report.impacts = std::mem::take(&mut run.impacts);
    report.forced = run.told.forced;
    report.certificate = run.certificate.worst();
    run.now.memory.bearing = Some(std::mem::take(&mut run.bearing));
    run.workspace.flow.bases.forget_stale();
    run.now.memory.bases.clone_from(&run.workspace.flow.bases);
    std::mem::swap(state, &mut run.now);
    Ok(report)
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
            Method::Explicit => 5.0,
            Method::Extrapolated => 7.0,
            _ => 3.0,
        }
    }

    /// Modes at the start, and a state that all rows agree with.
    fn settle_accurately(&mut self) -> Result<(), StepError> {
        if self.now.memory.bearing.is_none() {
            self.begin()?;
        }
        let Workspace { flow, projector, .. } = &mut *self.workspace;
        projector.project(self.stage.system, &mut self.now, &self.bearing, flow)
    }

    /// The explicit pair where tolerances are tight and forces are not stiff.
    fn choose(&mut self, asked: AccurateMethod, tolerance: f64) -> Result<(), StepError> {
        self.method = match asked {
            AccurateMethod::Trapezoidal => Method::Doubled,
            AccurateMethod::DormandPrince => Method::Explicit,
            AccurateMethod::Extrapolation => Method::Extrapolated,
            AccurateMethod::Automatic if tolerance > 1e-4 => Method::Doubled,
            AccurateMethod::Automatic => {
                self.start_part()?;
                // with a step that would be taken for this tolerance: its cube is about as large
                let step = tolerance.cbrt().min(self.stage.whole);
                if self.stiffness(step)? > super::attempt::STIFF {
                    Method::Doubled
                } else if tolerance > EXTRAPOLATED {
                    Method::Explicit
                } else {
                    Method::Extrapolated
                }
            }
        };
        Ok(())
    }

    /// Two steps of half the size against one, projected, and what they extrapolate to.
    pub(super) fn doubled(&mut self, x: f64) -> Result<Attempt, StepError> {
        let system = self.stage.system;
        let mut one = self.attempt_from(None, x, false)?;
        let half = self.attempt_from(None, 0.5 * x, false)?;
        self.start_from(&half.end)?;
        let mut two = self.attempt_from(Some(&half.end), 0.5 * x, false)?;
        self.start_part()?;
        let Workspace { flow, projector, .. } = &mut *self.workspace;
        projector.project(system, &mut one.end, &self.bearing, flow)?;
        projector.project(system, &mut two.end, &self.bearing, flow)?;
        let mut error: f64 = 0.0;
        let mut extrapolate = |two: &mut Vec<f64>, one: &[f64]| {
            for (two, one) in two.iter_mut().zip(one) {
                error = error.max((*two - one).abs() / 3.0);
                *two += (*two - one) / 3.0;
            }
        };
        extrapolate(&mut two.end.q, &one.end.q);
        extrapolate(&mut two.end.v, &one.end.v);
        let still = vec![0.0; two.end.v.len()];
        system.advance(&mut two.end.q, &still, 0.0);
        projector.project(system, &mut two.end, &self.bearing, flow)?;
        let certificate = worse(worse(one.certificate, half.certificate), two.certificate);
        self.recycle(one.candidate);
        self.recycle(half.candidate);
        Ok(Attempt {
            end: two.end,
            candidate: two.candidate,
            bearing: two.bearing,
            certificate,
            error,
            parts: Vec::new(),
        })
    }

    /// Takes a step, or what of it comes before the first event; the functions that pass zero there.
    fn accept_or_land(
        &mut self,
        whole: Attempt,
        h: f64,
        report: &mut AccuracyReport,
    ) -> Result<Option<Vec<super::event::Watch>>, StepError> {
        let watched = self.watch(&whole)?;
        let (mut landed, grazing) = self.true_grazing(whole, h, false)?;
        let mut happened = None;
        if !watched.is_empty() || grazing.is_some() {
            let (watched, until) = grazing.unwrap_or((watched, h));
            let at = self.root(&watched, until, false, None)?;
            if at < h {
                self.recycle(std::mem::take(&mut landed.candidate));
                landed = self.attempt(at, false)?;
            }
            happened = Some(watched);
        }
        let tolerance = self.stage.scheme.solver.tolerance;
        if !landed.certificate.passes(tolerance) {
            let Attempt { candidate, certificate, .. } = landed;
            let problem = &self.workspace.flow.problem;
            return Err(uncertified(self.now.t, tolerance, (candidate, certificate), problem));
        }
        let so_far = std::mem::take(&mut self.certificate);
        self.certificate = worse(so_far, landed.certificate);
        report.steps += 1;
        report.last_error = landed.error;
        report.error += landed.error;
        self.now = landed.end;
        self.bearing = landed.bearing;
        self.turn_slips_here();
        self.recycle(landed.candidate);
        let system = self.stage.system;
        let Workspace { flow, impact, .. } = &mut *self.workspace;
        let (t, q) = (self.now.t, &self.now.q);
        system.contacts(t, q, &Near::within(0.0), &mut flow.bases, &mut impact.contacts);
        report.penetration = impact.contacts.iter().fold(report.penetration, |m, c| m.max(-c.gap));
        Ok(happened)
    }
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Friction of contacts that slip in space follows their slip here.
    fn turn_slips_here(&mut self) {
        let slips = |b: &Bearing| matches!(b.hold, Hold::Slip(_)) && contact(b).is_some();
        if !self.bearing.iter().any(slips) {
            return;
        }
        let flow = &mut self.workspace.flow;
        let here = (self.now.t, &self.now.q[..]);
        if !flow.middle.read(self.stage.system, here, &self.bearing, None, &mut flow.bases) {
            return;
        }
        let starts = &flow.layout.velocity;
        let holders = self.bearing.iter_mut().filter(|b| contact(b).is_some());
        for (bearing, row) in holders.zip(&flow.middle.contacts) {
            if !(matches!(bearing.hold, Hold::Slip(_)) && row.tangents.len() == 2) {
                continue;
            }
            let mut slip = [0.0; 3];
            for (tangent, direction) in row.tangents.iter().zip(row.tangent_directions) {
                let u = tangent.row.dot(starts, &self.now.v) + tangent.offset;
                (0..3).for_each(|i| slip[i] += u * direction[i]);
            }
            let size = dot(slip, slip).sqrt();
            if size > super::RESTITUTION_SPEED {
                bearing.hold = Hold::Slip(slip.map(|u| -u / size));
            }
        }
    }
}

impl Knot {
    fn at<S: System + ?Sized>(system: &S, state: &State) -> Self {
        let mut rates = Vec::new();
        system.rates(&state.q, &state.v, &mut rates);
        Self { state: state.clone(), rates }
    }

    /// Time [s].
    pub(crate) fn t(&self) -> f64 {
        self.state.t
    }

    /// The state between two ends of a step, on the cubic through their positions and velocities; velocities are
    /// on the line through theirs bent by what the cubic's rate says.
    pub(crate) fn between<S: System + ?Sized>(system: &S, a: &Self, b: &Self, t: f64) -> State {
        let h = b.state.t - a.state.t;
        let s = (t - a.state.t) / h;
        let mut at = a.state.clone();
        at.t = t;
        for i in 0..at.q.len() {
            let d = b.state.q[i] - a.state.q[i];
            let (u, w) = (h * a.rates[i], h * b.rates[i]);
            at.q[i] = a.state.q[i] + s * (u + s * (3.0 * d - 2.0 * u - w + s * (u + w - 2.0 * d)));
        }
        let still = vec![0.0; at.v.len()];
        system.advance(&mut at.q, &still, 0.0);
        if at.q.len() == at.v.len() {
            for i in 0..at.v.len() {
                let d = (b.state.q[i] - a.state.q[i]) / h;
                let (u, w) = (a.rates[i], b.rates[i]);
                at.v[i] = u + s * (2.0 * (3.0 * d - 2.0 * u - w) + 3.0 * s * (u + w - 2.0 * d));
            }
        } else {
            for i in 0..at.v.len() {
                at.v[i] = a.state.v[i] + s * (b.state.v[i] - a.state.v[i]);
            }
        }
        at
    }
}
