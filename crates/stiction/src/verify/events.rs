//! Verification of located events: the impacts, and the changes of friction modes from substep to substep.

use super::tolerances::{CLOCK_TOLERANCE, EVENT_TIME_FACTOR, FIGURE_TOLERANCE};
use super::{Check, Verdict};
use crate::report::{Event, EventKind, ImpactReport, Mode, StepReport};
use crate::scheme::trapezoid::replay::ReplayObservations;
use crate::state::ActiveConstraint;
use crate::system::ConstraintId;
use std::collections::BTreeMap;

/// Events of a report, followed along the records of its substeps.
pub(super) struct EventTrace<'a> {
    events: &'a [Event],
    /// Modes of the active constraints here; `None` where the records do not show them.
    modes: Option<BTreeMap<ConstraintId, Mode>>,
    /// Times since the last substep at which events may be: the ends of its records, and the whole of a record with
    /// events of its own [s].
    instants: Vec<[f64; 2]>,
    /// Constraints may have become active since the last substep, which is no event.
    may_add: bool,
    /// Joint rows are not followed.
    contacts_only: bool,
}

impl<'a> EventTrace<'a> {
    /// Trace from a start at time `t` with the active set that the state remembers.
    pub(super) fn new(events: &'a [Event], t: f64, remembered: Option<&[ActiveConstraint]>) -> Self {
        let modes = remembered.map(modes_of);
        let may_add = modes.is_none();
        Self { events, modes, instants: vec![[t; 2]], may_add, contacts_only: false }
    }

    /// Trace of contacts alone: the joint rows of an island have numbers of their own.
    pub(super) fn of_contacts(self) -> Self {
        Self { contacts_only: true, ..self }
    }

    /// Passes the end of a record at time `t`.
    pub(super) fn pass(&mut self, t: f64) {
        self.instants.push([t; 2]);
    }

    /// Passes an impact: constraints may become active without an event.
    pub(super) fn strike(&mut self) {
        self.may_add = true;
    }

    /// Passes a record from one time to another that does not show the modes: constraints may leave and join without an
    /// event.
    pub(super) fn lose_modes(&mut self, from: f64, to: f64) {
        self.modes = None;
        self.may_add = true;
        self.instants.push([from, to]);
    }

    /// Begins a substep with these active constraints at time `t`; `None` where it has no modes.
    pub(super) fn begin(&mut self, t: f64, active: Option<&[ActiveConstraint]>, verdict: &mut Verdict) {
        self.pass(t);
        let mut here = 0;
        while let Some(event) = self.events.get(here).filter(|event| event.t <= t + clock(t)) {
            self.apply(event, verdict);
            here += 1;
        }
        self.events = &self.events[here..];
        let followed = |c: &ConstraintId| c.is_contact() || !self.contacts_only;
        let mut next = active.map(modes_of);
        next.iter_mut().for_each(|modes| modes.retain(|c, _| followed(c)));
        if let (Some(modes), Some(next)) = (&self.modes, &next) {
            for (constraint, mode) in modes.iter().filter(|(c, mode)| next.get(c) != Some(mode)) {
                let place = format!("{constraint:?} changes from {mode:?} at {t} s without an event");
                verdict.fail(Check::Event, place);
            }
            if let Some(added) = next.keys().find(|c| !self.may_add && !modes.contains_key(c)) {
                verdict.fail(Check::Event, format!("{added:?} becomes active at {t} s without an impact"));
            }
        }
        self.modes = next;
        self.may_add = false;
        self.instants.clear();
        self.pass(t);
    }

    /// Applies an event to the modes.
    fn apply(&mut self, event: &Event, verdict: &mut Verdict) {
        let &Event { t, kind, constraint } = event;
        if !self.instants.iter().any(|[from, to]| t >= from - clock(t) && t <= to + clock(t)) {
            verdict.fail(Check::Event, format!("{kind:?} of {constraint:?} at {t} s, where no step ends"));
        }
        let may_add = self.may_add;
        let Some(modes) = &mut self.modes else { return };
        let was = modes.get(&constraint).copied();
        let fits = match kind {
            EventKind::Impact | EventKind::FirstOrder => true,
            EventKind::TakeOff => was.is_some() || may_add,
            EventKind::Slip => was == Some(Mode::Stick) || was.is_none() && may_add,
            EventKind::Stick | EventKind::Reversal => was == Some(Mode::Slip) || was.is_none() && may_add,
        };
        if !fits {
            let place = format!("{kind:?} of {constraint:?} at {t} s, which was {was:?}");
            verdict.fail(Check::Event, place);
        }
        match kind {
            EventKind::TakeOff => _ = modes.remove(&constraint),
            EventKind::Slip | EventKind::Reversal => _ = modes.insert(constraint, Mode::Slip),
            EventKind::Stick => _ = modes.insert(constraint, Mode::Stick),
            EventKind::Impact | EventKind::FirstOrder => {}
        }
    }

    /// Ends the trace at time `t` with the active set that the state remembers.
    pub(super) fn end(mut self, t: f64, remembered: Option<&[ActiveConstraint]>, verdict: &mut Verdict) {
        self.begin(t, remembered, verdict);
        if let Some(event) = self.events.first() {
            verdict.fail(Check::Event, format!("an event at {} s, after the end", event.t));
        }
    }
}

/// Compares the impacts of a report with those observed, and the order of its events.
pub(super) fn compare_impacts(report: &StepReport, observed: &ReplayObservations, verdict: &mut Verdict) {
    let times = |kind: EventKind| report.events.iter().filter(move |event| event.kind == kind);
    let mut struck = observed.struck.iter().peekable();
    for event in times(EventKind::Impact) {
        if struck.next_if(|own| **own == (event.t, event.constraint)).is_none()
            // a step of first order solves an impact at its start by itself
            && times(EventKind::FirstOrder).all(|coarse| coarse.t != event.t)
        {
            verdict.fail(Check::Event, "impacts among the events that are not those of the records");
        }
    }
    if struck.next().is_some() {
        verdict.fail(Check::Event, "impacts of the records that are not among the events");
    }
    if !report.events.is_sorted_by(|a, b| a.t <= b.t) {
        verdict.fail(Check::Event, "events that are not in the order of time");
    }
    compare_energies(&report.impacts, &observed.impacts, verdict);
}

/// Round-off of a sum of many steps up to a time [s].
fn clock(t: f64) -> f64 {
    EVENT_TIME_FACTOR * CLOCK_TOLERANCE * t.abs()
}

/// Modes of active constraints.
fn modes_of(active: &[ActiveConstraint]) -> BTreeMap<ConstraintId, Mode> {
    active.iter().map(|c| (c.constraint, c.mode)).collect()
}

/// Compares recorded energy balances of impacts with those of the records.
fn compare_energies(recorded: &[ImpactReport], own: &[ImpactReport], verdict: &mut Verdict) {
    if recorded.len() != own.len() {
        let place = format!("{} impacts; the records have {}", recorded.len(), own.len());
        verdict.fail(Check::Event, place);
        return;
    }
    for (k, (recorded, own)) in recorded.iter().zip(own).enumerate() {
        let ImpactReport { t, approaches, before, compressed, after, factor } = recorded;
        let constraints = |report: &ImpactReport| report.approaches.iter().map(|a| a.0).collect::<Vec<_>>();
        if *t != own.t || *factor != own.factor || constraints(recorded) != constraints(own) {
            verdict.fail(Check::Event, format!("impact {k}: time, factor or contacts"));
            continue;
        }
        let fastest = own.approaches.iter().fold(0.0, |m: f64, a| m.max(a.1.abs()));
        let pairs = approaches.iter().zip(&own.approaches);
        let speed = pairs.fold(
            0.0,
            |m: f64, (a, b)| if (a.1 - b.1).is_nan() { f64::NAN } else { m.max((a.1 - b.1).abs()) },
        );
        let mut differs = |what: &str, value: f64, scale: f64| {
            verdict.bound(Check::Event, value, FIGURE_TOLERANCE * scale, || format!("impact {k}: {what}"));
        };
        differs("approach speeds", speed, fastest);
        let energy = own.before.max(own.after);
        differs("energy before", (before - own.before).abs(), energy);
        differs("energy after the compression", (compressed - own.compressed).abs(), energy);
        differs("energy after", (after - own.after).abs(), energy);
    }
}
