//! When something happens: roots along real steps, and the cubic through both ends of one.

use super::attempt::Grazing;
use super::event::Watch;
use super::frame::{contact, starts};
use super::{Run, Workspace};
use crate::error::StepError;
use crate::state::State;
use crate::system::{ConstraintId, ContactQuery, ContactRow, MotionBound, PairId, System};

/// Values down to minus this are round-off of the forces and gaps they are made of.
pub(super) const ROUND_OFF: f64 = 1e-11;

/// An event sooner than this part of the step after another is at the same time.
const SAME: f64 = 1e-7;

/// Surfaces go no farther within a part than to each other and this part of the size beyond: deeper, what they meet
/// first may be behind them at the end, and the impact would be missed. Less costs steps of bodies that pass by.
const LEAP: f64 = 0.05;

/// Evaluations of a root at most; they converge long before.
const ROUNDS: usize = 100;

impl<S: System + ?Sized> Run<'_, S> {
    /// When the first of the watched functions passes zero, within `until` from now: along real steps, or on the
    /// cubic to the end of a step of some size, where one is given.
    pub(super) fn root(
        &mut self,
        watched: &[Watch],
        until: f64,
        damped: bool,
        cubic: Option<(&State, f64)>,
    ) -> Result<f64, StepError> {
        let mut value = |x: f64| -> Result<f64, StepError> {
            if let Some((end, size)) = cubic {
                let at = on_cubic(self.stage.system, &self.now, end, size, x);
                let active = self.active.clone();
                return self.least(watched, &at, &active);
            }
            let attempt = self.attempt(x, damped)?;
            let value = self.least(watched, &attempt.end, &attempt.active);
            self.recycle(attempt.candidate);
            value
        };
        let whole = until;
        // a function that starts at zero has just been there: its next zero is wanted
        let mut low = 0.0;
        let mut at_low = value(SAME * 1e-3 * whole)?;
        if at_low <= ROUND_OFF {
            low = 0.5 * until;
            loop {
                at_low = value(low)?;
                if at_low > ROUND_OFF {
                    break;
                }
                low *= 0.5;
                if low < SAME * whole {
                    return Ok(0.0);
                }
            }
        }
        brent(value, (low, at_low), until)
    }

    /// Whether surfaces of a pair that does not bear and comes together may go so far within a part that an impact is
    /// missed. Where forces are constant steps of any size are exact, and would go through walls.
    pub(super) fn leaps(&mut self, end: &State, size: f64) -> bool {
        let (system, now) = (self.stage.system, &self.now);
        if !system.has_unilateral_constraints() {
            return false;
        }
        let sweep = MotionBound { t: now.t, h: size, v: [now.v.clone(), end.v.clone()] };
        let near = ContactQuery { motion: Some(&sweep), ..ContactQuery::within(-LEAP * system.size()) };
        let Workspace { flow, impact, .. } = &mut *self.workspace;
        system.contacts(now.t, &now.q, &near, &mut flow.cache, &mut impact.contacts);
        let starts = starts(system);
        let bears = |pair: PairId| self.active.iter().filter_map(contact).any(|id| id.pair == pair);
        let comes =
            |c: &ContactRow| [&now.v, &end.v].iter().any(|v| c.normal.dot(&starts, v) + c.drift < 0.0);
        // what overlaps already is not met
        impact.contacts.iter().any(|c| c.gap >= 0.0 && comes(c) && !bears(c.id.pair))
    }

    /// Gaps that open again before the end of a part but were closed in between, by the minimum of the cubic through
    /// both ends; and when the first of them is deepest.
    pub(super) fn grazing(&mut self, end: &State, size: f64) -> Option<Grazing> {
        let system = self.stage.system;
        if !system.has_unilateral_constraints() {
            return None;
        }
        let now = &self.now;
        let sweep = MotionBound { t: now.t, h: size, v: [now.v.clone(), end.v.clone()] };
        let near =
            ContactQuery { motion: Some(&sweep), ..ContactQuery::within(super::TOUCH * system.size()) };
        let Workspace { flow, impact, .. } = &mut *self.workspace;
        let mut before = Vec::new();
        system.contacts(now.t, &now.q, &near, &mut flow.cache, &mut before);
        before.retain(|c| !self.active.iter().any(|b| b.constraint == ConstraintId::Contact(c.id)));
        if before.is_empty() {
            return None;
        }
        let wanted: Vec<_> = before.iter().map(|c| c.id.pair).collect();
        let near = ContactQuery { wanted: &wanted, ..ContactQuery::within(f64::NEG_INFINITY) };
        system.contacts(end.t, &end.q, &near, &mut flow.cache, &mut impact.contacts);
        let starts = starts(system);
        let mut first: Option<(f64, ConstraintId)> = None;
        for a in &before {
            let Some(b) = impact.contacts.iter().find(|c| c.id == a.id) else { continue };
            if b.gap < 0.0 || a.gap < 0.0 {
                continue;
            }
            let speeds = [a.normal.dot(&starts, &now.v) + a.drift, b.normal.dot(&starts, &end.v) + b.drift];
            let Some((x, depth)) = least_of_cubic([a.gap, b.gap], speeds, size) else { continue };
            if depth < -1e-12 * system.size() && first.is_none_or(|f| x < f.0) {
                first = Some((x, ConstraintId::Contact(a.id)));
            }
        }
        first.map(|(x, place)| (vec![Watch::Gap(place)], x))
    }
}

/// The minimum of the cubic with these values and slopes at 0 and `size`, if it is inside: where and how deep.
fn least_of_cubic([a, b]: [f64; 2], [u, w]: [f64; 2], size: f64) -> Option<(f64, f64)> {
    if !(u < 0.0 && w > 0.0) {
        return None;
    }
    // p(s) = a + U s + (3d − 2U − W) s² + (U + W − 2d) s³, d = b − a
    let (du, dw, d) = (u * size, w * size, b - a);
    let (c2, c3) = (3.0 * d - 2.0 * du - dw, du + dw - 2.0 * d);
    // p' = U + 2 c2 s + 3 c3 s² goes from below zero to above: the root between is the minimum
    let discriminant = (c2 * c2 - 3.0 * c3 * du).max(0.0).sqrt();
    let s = -du / (c2 + discriminant);
    let s = if s > 0.0 && s < 1.0 { s } else { return None };
    Some((s * size, a + s * (du + s * (c2 + s * c3))))
}

/// The state at `x` on the cubic through both ends of a step of size `h`. PAGT06 (7.3)
pub(super) fn on_cubic<S: System + ?Sized>(system: &S, start: &State, end: &State, h: f64, x: f64) -> State {
    let s = x / h;
    // the displacement as a cubic: its rate is v at the start, v⁺ at the end, and (v + v⁺)/2 in the mean, so the
    // cubic term vanishes and the rate is linear
    let mean: Vec<f64> = start.v.iter().zip(&end.v).map(|(a, b)| a + 0.5 * s * (b - a)).collect();
    let mut at = start.clone();
    at.t = start.t + x;
    system.advance(&mut at.q, &mean, x);
    at.v.clear();
    at.v.extend(start.v.iter().zip(&end.v).map(|(a, b)| a + s * (b - a)));
    at
}

/// The root of a function that is positive at `low` and negative at `high`, by Brent's method.
fn brent(
    mut f: impl FnMut(f64) -> Result<f64, StepError>,
    (low, at_low): (f64, f64),
    high: f64,
) -> Result<f64, StepError> {
    let (mut a, mut fa) = (low, at_low);
    let (mut b, mut fb) = (high, f(high)?);
    if fb >= 0.0 {
        return Ok(high);
    }
    let (mut c, mut fc) = (a, fa);
    let mut step = b - a;
    let mut last = step;
    for _ in 0..ROUNDS {
        if (fb > 0.0) == (fc > 0.0) {
            (c, fc) = (a, fa);
            step = b - a;
            last = step;
        }
        if fc.abs() < fb.abs() {
            (a, b, c) = (b, c, b);
            (fa, fb, fc) = (fb, fc, fb);
        }
        let tolerance = 2.0 * f64::EPSILON * b.abs().max(high);
        let half = 0.5 * (c - b);
        if half.abs() <= tolerance || fb == 0.0 {
            break;
        }
        if last.abs() >= tolerance && fa.abs() > fb.abs() {
            let s = fb / fa;
            let (mut p, mut q);
            if a == c {
                (p, q) = (2.0 * half * s, 1.0 - s);
            } else {
                let (x, y) = (fa / fc, fb / fc);
                p = s * (2.0 * half * x * (x - y) - (b - a) * (y - 1.0));
                q = (x - 1.0) * (y - 1.0) * (s - 1.0);
            }
            if p > 0.0 {
                q = -q;
            }
            p = p.abs();
            if 2.0 * p < (3.0 * half * q - (tolerance * q).abs()).min((last * q).abs()) {
                last = step;
                step = p / q;
            } else {
                (step, last) = (half, half);
            }
        } else {
            (step, last) = (half, half);
        }
        (a, fa) = (b, fb);
        b += if step.abs() > tolerance { step } else { tolerance.copysign(half) };
        fb = f(b)?;
    }
    Ok(b)
}
