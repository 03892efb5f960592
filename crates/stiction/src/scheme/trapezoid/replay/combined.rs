//! Steps of a run to an accuracy: each is combined from what was solved, which is judged piece by piece, and the
//! combination and its estimate of the error are formed again.

use super::super::accelerate::Instant;
use super::super::adaptive;
use super::super::event::{NEIGHBOURS, TOGETHER};
use super::super::explicit::{Rates, tableau, tabled};
use super::super::flow::speed_scale;
use super::super::hand_over::{PAST, PAST_TIMES};
use super::super::judge;
use super::{Between, Replay, Shown};
use crate::report::{Combination, Part};
use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, ContactId, ContactQuery, System};
use stiction_lcp::{Certificate, certify_motion};

/// A recorded step of a run to an accuracy.
pub(crate) struct Combined<'a> {
    pub(crate) size: f64,
    pub(crate) by: Combination,
    pub(crate) active: &'a [ActiveConstraint],
    pub(crate) parts: &'a [Part],
}

/// What such a step shows.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) shown: Shown,
    /// The estimate of its error, formed again.
    pub(crate) error: f64,
    /// What projections left of errors of positions [m].
    pub(crate) left: f64,
    /// The least of the functions that are not negative while the modes are right, at its start; 1 where it is not
    /// told by forces at an instant.
    pub(crate) slack: f64,
    /// What does not bear and has closed, deeper than at the start by this [m].
    pub(crate) closed: Option<(ContactId, f64)>,
}

impl Made {
    fn take(&mut self, shown: Shown) {
        let Shown { certificate, astray, allowed } = shown;
        let own = &mut self.shown;
        own.certificate = judge::worse(std::mem::take(&mut own.certificate), certificate);
        own.astray = own.astray.max(astray);
        own.allowed &= allowed;
    }
}

impl<S: System + ?Sized> Replay<'_, S> {
    /// Past the instant at which a contact was lost.
    pub(crate) fn past(&mut self, size: f64) -> Result<Shown, String> {
        let system = self.stage.system;
        let State { t, q, v, .. } = &mut self.now;
        let [least, most] = PAST_TIMES.map(|part| part * self.stage.whole);
        let far = (PAST * system.size() / system.surface_speed(*t, q, v)).max(least).min(most);
        if !(size > 0.0 && size <= far * (1.0 + 1e-9)) {
            return Err(format!("{size} s past a contact that was lost"));
        }
        system.advance(q, v, size);
        *t += size;
        Ok(Shown { allowed: true, ..Shown::default() })
    }

    /// A step that was combined, up to its end; or why there is no such step.
    pub(crate) fn combined(&mut self, part: &Combined) -> Result<Made, String> {
        let whole = self.stage.whole;
        if !(part.size > 0.0 && part.size <= whole * (1.0 + super::LEFT)) {
            return Err("a step of another size".to_string());
        }
        let start = self.now.clone();
        self.stage.whole = part.size;
        let mut made = Made { slack: 1.0, ..Made::default() };
        made.shown.allowed = true;
        let done = match part.by {
            Combination::Doubled => self.doubled(part, &start, &mut made),
            Combination::DormandPrince | Combination::DormandPrinceEight => {
                self.explicit(part, &start, &mut made)
            }
        };
        self.stage.whole = whole;
        done?;
        made.closed = self.closed(&start, part.active);
        Ok(made)
    }

    /// One step and two of half the size, extrapolated.
    fn doubled(&mut self, part: &Combined, start: &State, made: &mut Made) -> Result<(), String> {
        let [one, end_of_one, first, second, end_of_two, end] = part.parts else {
            return Err("a doubled step of other parts".to_string());
        };
        // what one long step does alone says nothing about modes
        let shown = self.piece(one, (part.size, part.active), made)?;
        made.take(Shown { allowed: true, ..shown });
        self.projected(end_of_one, part.active, made)?;
        let one = std::mem::replace(&mut self.now, start.clone());
        for piece in [first, second] {
            let shown = self.piece(piece, (0.5 * part.size, part.active), made)?;
            made.take(shown);
        }
        self.projected(end_of_two, part.active, made)?;
        made.error = adaptive::extrapolate(&one, &mut self.now);
        self.stage.system.normalize(&mut self.now.q);
        self.projected(end, part.active, made)
    }

    /// A trapezoidal step of a doubled one.
    fn piece(
        &mut self,
        part: &Part,
        (expected, bears): (f64, &[ActiveConstraint]),
        made: &mut Made,
    ) -> Result<Shown, String> {
        let between = Between::of(part).ok_or("a piece that is none")?;
        if between.size != expected || !between.located || between.implicit || between.active != bears {
            return Err("a piece of another step".to_string());
        }
        made.shown.allowed &= between.fresh.is_empty();
        self.between(&between)
    }

    /// Instants, combined.
    fn explicit(&mut self, part: &Combined, start: &State, made: &mut Made) -> Result<(), String> {
        let Some((end, instants)) = part.parts.split_last() else {
            return Err("a step of no parts".to_string());
        };
        let mut instants = instants.iter();
        let rates = |at: &State| self.instant(instants.next(), part.active, at, made);
        let (to, error) = tabled(tableau(part.by), start, part.size, rates)?;
        if instants.next().is_some() {
            return Err("an instant too many".to_string());
        }
        made.error = error;
        self.now = to;
        self.stage.system.normalize(&mut self.now.q);
        self.projected(end, part.active, made)
    }

    /// Rates at an instant, from the recorded accelerations and forces.
    fn instant(
        &mut self,
        part: Option<&Part>,
        active: &[ActiveConstraint],
        at: &State,
        made: &mut Made,
    ) -> Result<Rates, String> {
        let Some(Part::Instant { forces, a }) = part else {
            return Err("an instant that is not recorded".to_string());
        };
        let Self { stage, flow, instant, .. } = self;
        let system = stage.system;
        let mut placed = at.clone();
        system.normalize(&mut placed.q);
        instant.assemble(system, &placed, active, &mut flow.cache).map_err(|e| e.to_string())?;
        instant.rows(system, active, &[]);
        let Instant { problem, layout, modes, frame, .. } = instant;
        frame.modes(active, modes);
        if forces.len() != layout.impulses || a.len() != at.v.len() {
            return Err("an instant with forces of other rows".to_string());
        }
        let candidate = certify_motion(problem, forces, a).map_err(|e| e.to_string())?;
        // rows of what slips are offset by far more than the accelerations around, which residuals are measured by
        let shrunk = candidate.certificate.speed / problem.speed_scale;
        let Certificate { natural_map, cone, joints, .. } = instant.certificate(&candidate);
        let certificate = Certificate {
            speed: instant.problem.speed_scale,
            momentum: candidate.certificate.momentum,
            joints: joints * shrunk,
            natural_map: natural_map * shrunk,
            cone: cone * shrunk,
            ..Certificate::default()
        };
        made.take(Shown { certificate, astray: 0.0, allowed: true });
        // stages on the way are not on the path; where a step starts is
        if at.t == self.now.t {
            let speed = speed_scale(system, at, self.stage.whole);
            let values = self.instant.values(active, &at.v, forces, speed);
            let worst = |least: f64, v: f64| if v.is_nan() { f64::NEG_INFINITY } else { least.min(v) };
            made.slack = values.iter().fold(made.slack, |least, v| worst(least, v.1));
        }
        let mut q = Vec::with_capacity(at.q.len());
        system.rates(&at.q, &at.v, &mut q);
        Ok([q, a.clone()])
    }

    /// A projection of a step.
    fn projected(&mut self, part: &Part, bears: &[ActiveConstraint], made: &mut Made) -> Result<(), String> {
        let Part::Projection { active, displacements, v } = part else {
            return Err("a projection that is not recorded".to_string());
        };
        if active != bears {
            return Err("a projection of another step".to_string());
        }
        let (shown, left) = self.projection(active, displacements, v)?;
        made.take(shown);
        made.left = made.left.max(left);
        Ok(())
    }

    /// The contact that does not bear and has closed farthest since the start of a step.
    fn closed(&mut self, start: &State, active: &[ActiveConstraint]) -> Option<(ContactId, f64)> {
        let system = self.stage.system;
        let limit = NEIGHBOURS * system.size();
        let cache = &mut self.flow.cache;
        let (mut now, mut before) = (Vec::new(), Vec::new());
        system.contacts(self.now.t, &self.now.q, &ContactQuery::within(0.0), cache, &mut now);
        now.retain(|c| c.gap < -limit && !active.iter().any(|b| b.constraint == ConstraintId::Contact(c.id)));
        if now.is_empty() {
            return None;
        }
        system.contacts(start.t, &start.q, &ContactQuery::within(0.0), cache, &mut before);
        let depth = |id: ContactId| before.iter().find(|c| c.id == id).map_or(0.0, |c| (-c.gap).max(0.0));
        let deeper = now.iter().map(|c| (c.id, -c.gap - depth(c.id))).filter(|c| c.1 > limit);
        deeper.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// How far functions that say that modes are right may be below zero: those that pass it together do so to this.
pub(crate) const WRONG: f64 = TOGETHER;
