//! One part of a step: from where the step has come to, over a time, in the modes there are.

use super::event::{CLOSED, Watch};
use super::flow::{Flow, Origin, advance, unsolved};
use super::hand_over::Reach;
use super::judge::{self, worse};
use super::locate;
use super::{Method, Run, Workspace};
use crate::assemble;
use crate::error::StepError;
use crate::report::Part;
use crate::scheme::{Landing, Locate, Middle};
use crate::state::{ActiveConstraint, Hold, State};
use crate::system::{ConstraintId, System};
use stiction_lcp::{Candidate, Certificate, ContactMode};

/// ‖M⁻¹M̃ − I‖ above which a step after an impact is made as two Euler steps: the trapezoidal method does not damp what
/// is faster than the step, and it would ring.
pub(super) const STIFF: f64 = 2.0;

/// What a part comes to.
pub(super) struct Attempt {
    pub(super) end: State,
    pub(super) candidate: Candidate,
    /// What bears, with friction of what slips as it is at the end.
    pub(super) active: Vec<ActiveConstraint>,
    /// How well its equations hold, where events are located; a complementarity problem comes with its own.
    pub(super) certificate: Certificate,
    /// The estimate of its error, 0 where none is made.
    pub(super) error: f64,
    /// What a verifier is to see.
    pub(super) parts: Vec<Part>,
}

/// A gap that closes and opens again, and when it is deepest.
pub(super) type Grazing = (Vec<Watch>, f64);

impl<S: System + ?Sized> Run<'_, S> {
    /// Makes a part of size `left`, or up to the first event within it.
    pub(super) fn part(&mut self, left: f64) -> Result<(), StepError> {
        self.start_part()?;
        let damped = self.is_stiff(left);
        if self.located() {
            return self.part_located(left, damped);
        }
        let whole = self.attempt(left, damped)?;
        if self.stage.settings.locate == Locate::Nothing {
            self.accept(whole, damped);
            return Ok(());
        }
        if self.told.cut {
            if self.watch_gaps(&whole.end).is_empty() {
                self.accept(whole, damped);
                return Ok(());
            }
            self.recycle(whole.candidate);
            return self.make_coarsely(left);
        }
        let watched = self.watch_gaps(&whole.end);
        self.land(whole, watched, left, damped).map(|_| ())
    }

    /// The same where everything is located: up to where what bears hands over, too.
    fn part_located(&mut self, left: f64, damped: bool) -> Result<(), StepError> {
        let Reach { made, size, lost } = self.reach(left, damped)?;
        let whole = match made {
            Some((whole, watched)) => self.land(whole, watched, size, damped)?,
            None => true,
        };
        match lost {
            Some(lost) if whole && self.happened >= self.stage.settings.event_limit => {
                self.active.retain(|b| b.constraint != lost);
                self.make_coarsely(left - size)
            }
            Some(lost) if whole => self.hand_over(lost),
            _ => Ok(()),
        }
    }

    /// Takes a part, or what of it comes before its first event; whether it was taken whole.
    fn land(
        &mut self,
        whole: Attempt,
        watched: Vec<Watch>,
        left: f64,
        damped: bool,
    ) -> Result<bool, StepError> {
        let (whole, grazing) = self.true_grazing(whole, left, damped)?;
        if watched.is_empty() && grazing.is_none() {
            return Ok(self.accept(whole, damped));
        }
        if self.happened >= self.stage.settings.event_limit {
            self.recycle(whole.candidate);
            return self.make_coarsely(left).map(|()| false);
        }
        let (watched, until) = grazing.unwrap_or((watched, left));
        // the cubic is that of a trapezoidal step, which two Euler steps are not
        let interpolated = self.stage.settings.landing == Landing::Interpolant && !damped;
        let at = self.root(&watched, until, damped, interpolated.then_some((&whole.end, left)))?;
        if at == 0.0 {
            // nothing moves: what was entered last does not last
            self.recycle(whole.candidate);
            return self.happen(&watched).map(|()| false);
        }
        let landed = if interpolated {
            let end = locate::on_cubic(self.stage.system, &self.now, &whole.end, left, at);
            let land = |part| Part::Interpolated { whole: Box::new(part), at };
            let Attempt { candidate, active, certificate, error, parts, .. } = whole;
            let parts = parts.into_iter().map(land).collect();
            Attempt { end, candidate, active, certificate, error, parts }
        } else if at >= left {
            whole
        } else {
            self.recycle(whole.candidate);
            self.attempt(at, damped)?
        };
        if self.accept(landed, damped) {
            self.happen(&watched)?;
        }
        Ok(false)
    }

    /// The first gap that closes and opens again within a part, and when it is deepest. The cubic may dip where the
    /// gap does not, such as after a take-off, so a part up to there tells.
    pub(super) fn true_grazing(
        &mut self,
        whole: Attempt,
        left: f64,
        damped: bool,
    ) -> Result<(Attempt, Option<Grazing>), StepError> {
        let Some((gap, x)) = self.grazing(&whole.end, left) else { return Ok((whole, None)) };
        let there = self.attempt(x, damped)?;
        let closed = self.least(&gap, &there.end, &there.active)? < -CLOSED;
        self.recycle(there.candidate);
        if closed {
            return Ok((whole, Some((gap, x))));
        }
        // the storage holds the problem of the part made last
        let again = self.attempt(left, damped)?;
        self.recycle(whole.candidate);
        Ok((again, None))
    }

    pub(super) fn start_part(&mut self) -> Result<(), StepError> {
        self.start(None)
    }

    /// The same from another state.
    pub(super) fn start_from(&mut self, state: &State) -> Result<(), StepError> {
        self.start(Some(state))
    }

    fn start(&mut self, from: Option<&State>) -> Result<(), StepError> {
        let located = self.located();
        let Self { stage, workspace, now, active, fresh, .. } = self;
        let Workspace { flow, projector, .. } = &mut **workspace;
        let origin = Origin { state: from.unwrap_or(now), active, fresh };
        flow.begin(stage, &origin)?;
        match stage.settings.middle {
            Middle::Tangent => projector.head(stage, &origin, located, flow),
            Middle::Ahead => Ok(()),
        }
    }

    /// The part over `x` from where the step has come to; [`Run::start_part`] must have been called.
    pub(super) fn attempt(&mut self, x: f64, damped: bool) -> Result<Attempt, StepError> {
        match self.method {
            Method::Doubled => return self.doubled(x),
            Method::Explicit(by) => return self.explicit(x, by),
            Method::Plain if !damped => return self.attempt_from(None, x, false),
            Method::Plain => {}
        }
        let half = self.attempt_from(None, 0.5 * x, true)?;
        self.start_from(&half.end)?;
        let mut whole = self.attempt_from(Some(&half.end), 0.5 * x, true)?;
        whole.certificate = worse(half.certificate, whole.certificate);
        whole.parts.splice(0..0, half.parts);
        self.recycle(half.candidate);
        self.start_part()?;
        Ok(whole)
    }

    pub(super) fn attempt_from(
        &mut self,
        from: Option<&State>,
        x: f64,
        implicit: bool,
    ) -> Result<Attempt, StepError> {
        let located = self.located();
        let Self { stage, workspace, now, active, fresh, problems, .. } = self;
        let state = from.unwrap_or(now);
        let flow = &mut workspace.flow;
        let origin = Origin { state, active, fresh };
        flow.assemble(stage, &origin, x, implicit)?;
        let mut candidate = if located {
            flow.solve_in_modes(state.t, active)?
        } else {
            let Flow { problem, layout, places, middle, warm_start, .. } = flow;
            assemble::remembered(problem, layout, places, &middle.contacts, &state.memory, &mut warm_start.z);
            let solution = flow.lcp.solve(&flow.problem, &stage.scheme.solver, Some(&flow.warm_start));
            flow.solves += 1;
            *problems += 1;
            let solution = solution.map_err(|e| unsolved(state.t, e, &flow.problem))?;
            flow.lcp.candidate_of(solution)
        };
        let mut active = if located { self.active.clone() } else { Vec::new() };
        if self.slides(&active) {
            (candidate, active) = self.slide(from, &active, implicit, candidate)?;
        }
        let certificate = if located {
            let Flow { problem, layout, modes, .. } = &self.workspace.flow;
            judge::given_modes(problem, layout, modes, &candidate)
        } else {
            Certificate::default()
        };
        let workspace = &mut *self.workspace;
        let state = from.unwrap_or(&self.now);
        let mut end = workspace.spare.states.pop().unwrap_or_default();
        end.clone_from(state);
        advance(self.stage.system, state, &candidate.velocity, x, implicit, &mut end);
        if end.q.iter().chain(&end.v).any(|x| !x.is_finite()) {
            return Err(StepError::NotFinite { t: state.t, what: "the end of the step".to_string() });
        }
        let parts = self.evidence.iter().map(|_| self.seen(x, implicit, &candidate)).collect();
        Ok(Attempt { end, candidate, active, certificate, error: 0.0, parts })
    }

    /// What a verifier is to see of the part that was assembled last.
    fn seen(&self, size: f64, implicit: bool, candidate: &Candidate) -> Part {
        let Flow { modes, heading, carried, definite_here, .. } = &self.workspace.flow;
        let located = self.located();
        let slip = |(i, mode): (usize, &ContactMode)| Some((i, mode.slip_direction()?));
        Part::Between {
            size,
            implicit,
            located,
            definite: *definite_here,
            active: self.active.clone(),
            fresh: self.fresh.clone(),
            heading: heading.clone(),
            carried: carried.clone(),
            slips: if located { modes.iter().enumerate().filter_map(slip).collect() } else { Vec::new() },
            impulses: candidate.z.clone(),
            v: candidate.velocity.clone(),
        }
    }

    /// Takes a part as made. Where its equations do not hold to the tolerance it is refused, and the rest of the step
    /// becomes a complementarity problem, whose answer the judge lets pass or the step is an error.
    fn accept(&mut self, attempt: Attempt, damped: bool) -> bool {
        let Attempt { end, candidate, active, certificate, parts, .. } = attempt;
        if self.located() && !certificate.passes(self.stage.scheme.solver.tolerance) {
            self.told.cut = true;
            self.told.refused = self.told.refused.max(certificate.worst());
            self.recycle(candidate);
            self.workspace.spare.states.push(end);
            return false;
        }
        if let Some(evidence) = &mut self.evidence {
            evidence.parts.extend(parts);
        }
        self.told.damped |= damped;
        let before = std::mem::replace(&mut self.now, end);
        self.workspace.spare.states.push(before);
        if self.located() {
            let so_far = std::mem::take(&mut self.certificate);
            self.certificate = worse(so_far, certificate);
        } else {
            if candidate.certificate.worst() >= self.certificate.worst() {
                self.certificate.copy_from(&candidate.certificate);
            }
            self.keep_bearing(&candidate);
        }
        self.fresh.clear();
        if let Some(old) = self.last.replace(candidate) {
            self.recycle(old);
        }
        if self.located() {
            self.active = active;
        }
        true
    }

    pub(super) fn recycle(&mut self, candidate: Candidate) {
        self.workspace.flow.lcp.recycle_candidate(candidate);
    }

    /// What bore in a part without location goes on bearing.
    fn keep_bearing(&mut self, candidate: &Candidate) {
        let Flow { problem, layout, places, middle, .. } = &self.workspace.flow;
        let mut next = std::mem::take(&mut self.fresh);
        next.clear();
        for (&row, place) in middle.rows.iter().zip(&places.joints) {
            let crate::assemble::Place::Contact(i) = *place else { continue };
            let drive = problem.contacts[i].normal.is_none();
            if drive || candidate.z[layout.contact[i]] > 0.0 {
                next.push(ActiveConstraint { constraint: ConstraintId::Joint(row), hold: Hold::Stick });
            }
        }
        for (k, row) in middle.contacts.iter().enumerate() {
            let i = places.first_contact + k;
            if candidate.z[layout.contact[i]] > 0.0 {
                next.push(ActiveConstraint { constraint: ConstraintId::Contact(row.id), hold: Hold::Stick });
            }
        }
        next.sort_unstable_by_key(|b| b.constraint);
        self.fresh = std::mem::replace(&mut self.active, next);
    }

    /// Whether the next part is to be damped: all after an impact are, and the step after. Where velocities do not jump
    /// nothing begins to ring.
    fn is_stiff(&mut self, left: f64) -> bool {
        let after_impact = self.now.memory.after_impact || !self.impacts.is_empty();
        let Self { stage, workspace, now, .. } = self;
        after_impact && workspace.flow.stiffness(stage, now, stage.whole.max(left)) > STIFF
    }
}
