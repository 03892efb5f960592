//! What is watched, and what happens when it passes zero.

use super::accelerate::Instant;
use super::attempt::Attempt;
use super::flow::speed_scale;
use super::frame::{contact, dot, starts};
use super::locate::ROUND_OFF;
use super::{Method, RESTITUTION_SPEED, Run, Workspace};
use crate::error::StepError;
use crate::report::{Event, EventKind, Part};
use crate::scheme::euler::kinetic;
use crate::state::{ActiveConstraint, Hold, State};
use crate::system::{ConstraintId, ContactQuery, RowKind, System};
use std::borrow::Cow;

/// A function that is not negative while the modes are right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Watch {
    /// The gap of what is open.
    Gap(ConstraintId),
    /// The normal force of what bears.
    Normal(ConstraintId),
    /// What friction that sticks has left to its bound.
    Cone(ConstraintId),
    /// The slip against friction.
    Slip(ConstraintId),
    /// What contacts that share forces have left, by the first of them.
    Shared(ConstraintId),
}

impl Watch {
    fn place(self) -> ConstraintId {
        match self {
            Self::Gap(place)
            | Self::Normal(place)
            | Self::Cone(place)
            | Self::Slip(place)
            | Self::Shared(place) => place,
        }
    }
}

/// Gaps down to minus this part of the size are closed.
pub(super) const CLOSED: f64 = 1e-12;

/// Contacts within this part of the size take part in an impact.
pub(super) const NEIGHBOURS: f64 = 1e-9;

/// After an event the modes are looked for this part of the step later, where the instant itself is a tie.
const PROBE: f64 = 1e-6;

/// Where that is still a tie to round-off, ever later up to this part.
const LAST_PROBE: f64 = 1e-2;

/// Functions below this at an event have passed zero there: those that do so together do so to round-off.
pub(super) const TOGETHER: f64 = 1e-8;

impl<S: System + ?Sized> Run<'_, S> {
    /// The functions that are negative at the end of a part.
    pub(super) fn watch(&mut self, made: &Attempt) -> Result<Vec<Watch>, StepError> {
        let copy = self.projected(&made.end, &made.active)?;
        let values = self.values(&copy, &made.active)?;
        self.told.slack = self.told.slack.min(values.iter().fold(f64::INFINITY, |m, v| m.min(v.1)));
        let active = values.into_iter().filter(|v| v.1 < -ROUND_OFF).map(|v| v.0);
        let mut watched: Vec<Watch> = active.collect();
        watched.extend(self.watch_gaps(&copy));
        Ok(watched)
    }

    /// A copy on all joints and contacts that bear, where everything is located: what decides. Explicit steps end there.
    fn projected<'s>(
        &mut self,
        end: &'s State,
        active: &[ActiveConstraint],
    ) -> Result<Cow<'s, State>, StepError> {
        let mut copy = Cow::Borrowed(end);
        if self.located() && !matches!(self.method, Method::Explicit(_)) {
            let Workspace { flow, projector, .. } = &mut *self.workspace;
            projector.project(self.stage.system, copy.to_mut(), active, flow)?;
        }
        Ok(copy)
    }

    /// The functions of all that bears, at a projected state.
    fn values(&mut self, copy: &State, active: &[ActiveConstraint]) -> Result<Vec<(Watch, f64)>, StepError> {
        if active.is_empty() {
            return Ok(Vec::new());
        }
        let system = self.stage.system;
        let Workspace { flow, instant, .. } = &mut *self.workspace;
        let candidate = instant.solve_in_modes(system, copy, active, flow)?;
        let speed = speed_scale(system, copy, self.stage.whole);
        let values = instant.values(active, &copy.v, &candidate.z, speed);
        flow.lcp.recycle_candidate(candidate);
        Ok(values)
    }

    /// Gaps that are closed at the end of a part though nothing bears there.
    pub(super) fn watch_gaps(&mut self, end: &State) -> Vec<Watch> {
        let system = self.stage.system;
        if !system.has_unilateral_constraints() {
            return Vec::new();
        }
        let depth = -CLOSED * system.size();
        let Workspace { flow, impact, .. } = &mut *self.workspace;
        impact.read(system, end, 0.0, &[], flow);
        let limits = impact.joints.iter().zip(&impact.rows).filter(|(j, _)| j.kind == RowKind::Limit);
        let limits = limits.filter(|(j, _)| j.error < depth).map(|(_, &row)| ConstraintId::Joint(row));
        let contacts = impact.contacts.iter().filter(|c| c.gap < depth).map(|c| ConstraintId::Contact(c.id));
        let bears = |place: &ConstraintId| self.active.iter().any(|b| b.constraint == *place);
        limits.chain(contacts).filter(|place| !bears(place)).map(Watch::Gap).collect()
    }

    /// The least of the watched functions at a state.
    pub(super) fn least(
        &mut self,
        watched: &[Watch],
        end: &State,
        active: &[ActiveConstraint],
    ) -> Result<f64, StepError> {
        let mut least = f64::INFINITY;
        let copy = self.projected(end, active)?;
        if watched.iter().any(|w| !matches!(w, Watch::Gap(_))) {
            let values = self.values(&copy, active)?;
            least = values.iter().filter(|v| watched.contains(&v.0)).fold(least, |m, v| m.min(v.1));
        }
        let gaps: Vec<ConstraintId> =
            watched.iter().filter(|w| matches!(w, Watch::Gap(_))).map(|w| w.place()).collect();
        Ok(self.gaps(&gaps, &copy).into_iter().fold(least, f64::min))
    }

    /// Gaps at these places, in units of the size.
    fn gaps(&mut self, places: &[ConstraintId], end: &State) -> Vec<f64> {
        if places.is_empty() {
            return Vec::new();
        }
        let system = self.stage.system;
        let Workspace { flow, impact, .. } = &mut *self.workspace;
        let ids = places.iter().filter_map(|p| match p {
            ConstraintId::Contact(id) => Some(*id),
            ConstraintId::Joint(_) => None,
        });
        let wanted: Vec<_> = ids.map(|id| id.pair).collect();
        let near = ContactQuery { wanted: &wanted, ..ContactQuery::within(f64::NEG_INFINITY) };
        system.contacts(end.t, &end.q, &near, &mut flow.cache, &mut impact.contacts);
        system.joints(end.t, &end.q, &mut impact.joints);
        let gap = |place: &ConstraintId| match *place {
            ConstraintId::Joint(row) => impact.joints.get(row).map_or(f64::INFINITY, |j| j.error),
            ConstraintId::Contact(id) => {
                let found = impact.contacts.iter().find(|c| c.id == id);
                // features that do not face each other are apart
                found.map_or(f64::INFINITY, |c| c.gap)
            }
        };
        places.iter().map(|p| gap(p) / system.size()).collect()
    }

    /// What happens at an event that has been reached.
    pub(super) fn happen(&mut self, watched: &[Watch]) -> Result<(), StepError> {
        self.happened += 1;
        let mut passed: Vec<Watch> = Vec::new();
        let (now, active) = (self.now.clone(), self.active.clone());
        for &watch in watched {
            if self.least(&[watch], &now, &active)? <= TOGETHER {
                passed.push(watch);
            }
        }
        let struck: Vec<ConstraintId> =
            passed.iter().filter(|w| matches!(w, Watch::Gap(_))).map(|w| w.place()).collect();
        if !self.located() {
            return self.strike(&struck);
        }
        self.project_here()?;
        if !struck.is_empty() {
            return self.strike(&struck);
        }
        let reached = |b: &ActiveConstraint| passed.contains(&Watch::Slip(b.constraint));
        let free: Vec<ConstraintId> = self
            .active
            .iter()
            .filter(|b| b.hold == Hold::Stick || reached(b))
            .map(|b| b.constraint)
            .collect();
        let before = self.active.clone();
        self.settle(before, &free, &passed)
    }

    /// Projects the state itself, with the modes that end here, and keeps account of the energy.
    fn project_here(&mut self) -> Result<(), StepError> {
        let system = self.stage.system;
        let energy = |s: &State| kinetic(system, s.t, &s.q, &s.v) + system.potential(s.t, &s.q);
        let before = energy(&self.now);
        let Workspace { flow, projector, .. } = &mut *self.workspace;
        projector.project(system, &mut self.now, &self.active, flow)?;
        self.keep_projection(&self.active.clone());
        self.told.projected += energy(&self.now) - before;
        Ok(())
    }

    /// Keeps the last projection of the state for a verifier.
    pub(super) fn keep_projection(&mut self, active: &[ActiveConstraint]) {
        if self.evidence.is_some() {
            let part = self.last_projection(active, &self.now);
            self.evidence.iter_mut().for_each(|e| e.parts.push(part.clone()));
        }
    }

    /// Adds the last projection, to `end`, to what a verifier is to see.
    pub(super) fn see_projection(&self, end: &State, seen: &mut Vec<Part>) {
        seen.extend(self.evidence.iter().map(|_| self.last_projection(&self.active, end)));
    }

    fn last_projection(&self, active: &[ActiveConstraint], end: &State) -> Part {
        let displacements = self.workspace.projector.displacements.clone().unwrap_or_default();
        Part::Projection { active: active.to_vec(), displacements, v: end.v.clone() }
    }

    /// An impact at these places and at all that touches.
    pub(super) fn strike(&mut self, places: &[ConstraintId]) -> Result<(), StepError> {
        let system = self.stage.system;
        let slowest = self.stage.slowest();
        let mut held: Vec<ConstraintId> = self.active.iter().map(|b| b.constraint).collect();
        held.extend(places);
        let Workspace { flow, impact, .. } = &mut *self.workspace;
        impact.read(system, &self.now, NEIGHBOURS * system.size(), &held, flow);
        let t = self.now.t;
        let (here, v) = (self.bounced.take().filter(|b| b.0 == t), self.now.v.clone());
        let bounced = here.as_ref().map(|b| &b.1[..]);
        let (report, over) = impact.strike(&self.stage, &mut self.now, places, bounced, flow)?;
        if let Some(evidence) = &mut self.evidence {
            let struck = impact.seen(places, &held, report.factor, &self.now.v);
            evidence.parts.push(struck);
        }
        let closed: Vec<ConstraintId> = impact
            .separations(&self.now.v)
            .into_iter()
            .filter(|&(place, speed)| speed <= slowest || over && places.contains(&place))
            .map(|(place, _)| place)
            .collect();
        if over && bounced.is_some() {
            self.impacts.pop();
        } else {
            self.events.extend(places.iter().map(|&place| Event {
                t,
                kind: EventKind::Impact,
                constraint: place,
            }));
        }
        self.impacts.push(report);
        self.bounced = (!over).then_some((t, v));
        let (next, free) = self.holds(&closed);
        if self.located() {
            return self.settle(next, &free, &[]);
        }
        self.active = next;
        self.fresh.clear();
        Ok(())
    }

    /// How things that touch would bear, from their slip now, and which of them do not slip. Drives bear always.
    pub(super) fn holds(&self, closed: &[ConstraintId]) -> (Vec<ActiveConstraint>, Vec<ConstraintId>) {
        let impact = &self.workspace.impact;
        let starts = starts(self.stage.system);
        let v = &self.now.v;
        let mut active = Vec::new();
        for (joint, &row) in impact.joints.iter().zip(&impact.rows) {
            let place = ConstraintId::Joint(row);
            let hold = match joint.kind {
                RowKind::Drive { speed, .. } => {
                    let slip = joint.row.dot(&starts, v) + joint.drift - speed;
                    let slips = slip.abs() > RESTITUTION_SPEED;
                    if slips { Hold::Slip([-slip.signum(), 0.0, 0.0]) } else { Hold::Stick }
                }
                RowKind::Limit if closed.contains(&place) => Hold::Stick,
                _ => continue,
            };
            active.push(ActiveConstraint { constraint: place, hold });
        }
        for row in impact.contacts.iter().filter(|c| closed.contains(&ConstraintId::Contact(c.id))) {
            let mut slip = [0.0; 3];
            for (tangent, direction) in row.tangents.iter().zip(row.tangent_directions) {
                let u = tangent.row.dot(&starts, v) + tangent.offset;
                (0..3).for_each(|i| slip[i] += u * direction[i]);
            }
            let size = dot(slip, slip).sqrt();
            let slips = row.mu > 0.0 && size > RESTITUTION_SPEED;
            let hold = if slips { Hold::Slip(slip.map(|u| -u / size)) } else { Hold::Stick };
            active.push(ActiveConstraint { constraint: ConstraintId::Contact(row.id), hold });
        }
        active.sort_by_key(|b| b.constraint);
        let free = active.iter().filter(|b| b.hold == Hold::Stick).map(|b| b.constraint).collect();
        (active, free)
    }

    /// What bears at the start of a run.
    pub(super) fn settle_first(&mut self) -> Result<(), StepError> {
        let slowest = self.stage.slowest();
        let touching = self.touching_apart();
        if touching.iter().any(|t| t.1 < -slowest) {
            return self.strike(&touching.iter().map(|t| t.0).collect::<Vec<_>>());
        }
        let closed: Vec<ConstraintId> = touching.iter().filter(|t| t.1 <= slowest).map(|t| t.0).collect();
        let (next, free) = self.holds(&closed);
        self.active.clone_from(&next);
        let events = self.events.len();
        self.settle(next, &free, &[])?;
        self.events.truncate(events);
        Ok(())
    }

    /// Finds the modes in which `candidates` go on, where those of `free` may change, and tells what changed. If
    /// nothing did though `passed` says that something must, the first of it is changed by force.
    pub(super) fn settle(
        &mut self,
        candidates: Vec<ActiveConstraint>,
        free: &[ConstraintId],
        passed: &[Watch],
    ) -> Result<(), StepError> {
        // without candidates there is nothing to find
        if candidates.is_empty() {
            self.tell(&[]);
            self.active.clear();
            return Ok(());
        }
        let mut later = PROBE;
        let mut next = loop {
            let Some(next) = self.probe(&candidates, free, later * self.stage.whole)? else {
                // Painlevé: no force would do; an impulse may
                self.told.cut = true;
                self.active = candidates;
                return Ok(());
            };
            if next != self.active || passed.is_empty() || later >= LAST_PROBE {
                break next;
            }
            later *= 10.0;
        };
        if next == self.active && !passed.is_empty() {
            self.told.forced += 1;
            force(&mut next, passed[0]);
        }
        self.tell(&next);
        self.active = next;
        Ok(())
    }

    /// The modes in which `candidates` go on, seen from where they get to a little `later` [s] as they are now.
    fn probe(
        &mut self,
        candidates: &[ActiveConstraint],
        free: &[ConstraintId],
        later: f64,
    ) -> Result<Option<Vec<ActiveConstraint>>, StepError> {
        let system = self.stage.system;
        let mut probe = self.now.clone();
        let Workspace { flow, instant, .. } = &mut *self.workspace;
        let held = instant.solve_in_modes(system, &probe, candidates, flow)?;
        if held.velocity.iter().all(|a| a.is_finite()) {
            probe.v.iter_mut().zip(&held.velocity).for_each(|(v, a)| *v += later * a);
        }
        flow.lcp.recycle_candidate(held);
        probe.t += later;
        system.advance(&mut probe.q, &self.now.v, later);
        instant.next_modes(system, &probe, candidates, free, flow)
    }

    /// Lists how modes changed.
    fn tell(&mut self, next: &[ActiveConstraint]) {
        let t = self.now.t;
        for old in &self.active {
            let new = next.iter().find(|b| b.constraint == old.constraint).map(|b| b.hold);
            let kind = match (old.hold, new) {
                (_, None) => EventKind::TakeOff,
                (Hold::Stick, Some(Hold::Slip(_))) => EventKind::Slip,
                (Hold::Slip(_), Some(Hold::Stick)) => EventKind::Stick,
                (Hold::Slip(a), Some(Hold::Slip(b))) if dot(a, b) < 0.0 => EventKind::Reversal,
                _ => continue,
            };
            self.events.push(Event { t, kind, constraint: old.constraint });
        }
    }
}

impl Instant {
    /// The functions of all that bears, from the velocity and the forces `z`; speeds are measured by `speed`.
    pub(super) fn values(
        &self,
        active: &[ActiveConstraint],
        v: &[f64],
        z: &[f64],
        speed: f64,
    ) -> Vec<(Watch, f64)> {
        let mut loads = Vec::new();
        self.loads(active, v, z, &mut loads);
        let shared = self.shared(active, z);
        let force = self.force_scale();
        let mut values = Vec::new();
        if let Some(shared) = &shared {
            let first = active.iter().zip(&shared.members).find(|b| *b.1);
            values.extend(first.map(|(b, _)| (Watch::Shared(b.constraint), shared.slack / force)));
        }
        for (i, (b, load)) in active.iter().zip(&loads).enumerate() {
            let place = b.constraint;
            let shares = shared.as_ref().is_some_and(|s| s.members[i]);
            if !shares && !self.is_drive(place) {
                values.push((Watch::Normal(place), load.normal / force));
            }
            match b.hold {
                Hold::Stick if !shares && self.has_friction(place) => {
                    let size = dot(load.friction, load.friction).sqrt();
                    values.push((Watch::Cone(place), (load.bound - size) / force));
                }
                Hold::Stick => {}
                Hold::Slip(along) if contact(b).is_some() => {
                    values.push((Watch::Slip(place), -dot(load.slip, along) / speed));
                }
                Hold::Slip([sign, ..]) => values.push((Watch::Slip(place), -load.slip[0] * sign / speed)),
            }
        }
        values
    }
}

/// Changes the mode that a function that passed zero speaks of.
fn force(active: &mut Vec<ActiveConstraint>, passed: Watch) {
    match passed {
        // what closes bears already, and what is about to slip sticks until it does
        Watch::Gap(_) | Watch::Cone(_) | Watch::Shared(_) => {}
        Watch::Normal(place) => active.retain(|b| b.constraint != place),
        Watch::Slip(place) => {
            active.iter_mut().filter(|b| b.constraint == place).for_each(|b| b.hold = Hold::Stick);
        }
    }
}
