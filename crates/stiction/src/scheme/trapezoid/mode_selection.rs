//! Mode selection: the next active set, by the acceleration problem with complementarity just after an event.

use super::acceleration::{AccelerationProblem, ConstraintLoad, turn_tangents};
use super::constants::{
    FRICTION_BOUND_RELATIVE, MIN_SLIP_ACCELERATION, SIMULTANEOUS_EVENT_VALUE, SLIP_OFFSET_FACTORS,
    UNLOADED_FACTOR,
};
use super::context::{SolveContext, dot};
use super::event_function::EventFunction;
use super::rows::slip_velocity;
use crate::error::StepError;
use crate::scheme::Scheme;
use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, ContactRow, System};
use stiction_lcp::{Candidate, Solution};

impl AccelerationProblem {
    /// Solves with all constraints of `free` sticking. Returns these modes if bodies rest in them by forces that are not
    /// unique, or rest on each other while drives slip. Otherwise it turns the tangents of contacts that may stick or slip
    /// along the friction they need to stick, where their polygon stands for a circle.
    fn rest_or_align<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        free: &[ConstraintId],
        solve: &mut SolveContext,
    ) -> Result<Option<Vec<ActiveConstraint>>, StepError> {
        let stuck = |c: &ActiveConstraint| {
            if free.contains(&c.constraint) { ActiveConstraint::sticking(c.constraint) } else { *c }
        };
        let stuck: Vec<ActiveConstraint> = active.iter().map(stuck).collect();
        if !stuck.iter().any(|c| c.is_contact() && c.sticks()) {
            return Ok(None);
        }
        let (rests, loads) = self.solve_at_rest(system, state, (&stuck, &[]), solve)?;
        if rests {
            return Ok(Some(stuck));
        }
        let drives = stuck.iter().filter(|c| c.sticks() && self.is_drive(c.constraint));
        let drives: Vec<ConstraintId> = drives.map(|c| c.constraint).collect();
        for sign in [1.0, -1.0].into_iter().filter(|_| !drives.is_empty()) {
            let slips = |c: &ActiveConstraint| drives.contains(&c.constraint);
            let slipping = |c: &ActiveConstraint| {
                if slips(c) { ActiveConstraint::slipping(c.constraint, [sign, 0.0, 0.0]) } else { *c }
            };
            let slipping: Vec<ActiveConstraint> = stuck.iter().map(slipping).collect();
            if self.solve_at_rest(system, state, (&slipping, &drives), solve)?.0 {
                return Ok(Some(slipping));
            }
        }
        let turns = |(c, row): (&ActiveConstraint, &ContactRow)| {
            c.sticks() && row.aligned && row.tangents.len() == 2 && row.mu > 0.0
        };
        let loads = stuck.iter().zip(&loads).filter(|(c, _)| c.is_contact());
        let rows = self.rows.contacts.iter_mut().zip(&mut self.contact_rates);
        for ((_, load), (row, rates)) in loads.zip(rows).filter(|((c, _), (row, _))| turns((c, row))) {
            let [x, y] = row.tangent_directions.map(|t| dot(t, load.friction));
            if x.hypot(y) > 0.0 {
                turn_tangents(row, rates, [x, y]);
            }
        }
        Ok(None)
    }

    /// Solves in modes in which bodies may rest on each other, and in which some drives begin to slip. Returns whether they
    /// do, by forces that are not unique and all within their cones, and the loads.
    ///
    /// Where forces are not unique the motion need not be unique either: a body that a guide presses on the ground sticks by
    /// as much force as it takes, or slips by less. A body that can rest does, whatever solution a complementarity problem
    /// has.
    fn solve_at_rest<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        (modes, begun): (&[ActiveConstraint], &[ConstraintId]),
        solve: &mut SolveContext,
    ) -> Result<(bool, Vec<ConstraintLoad>), StepError> {
        let (rows, rates) = (self.rows.clone(), self.contact_rates.clone());
        self.assemble_rows(system, modes, &[], 0.0);
        self.rows.modes(modes, &mut self.modes);
        let solved = solve.solve_in_modes(state.t, &self.problem, &self.modes).map(|candidate| {
            let slips = |c: &&ActiveConstraint| begun.contains(&c.constraint);
            let rests = self.rests_on_shared_loads(modes, state, &candidate)
                && modes.iter().filter(slips).all(|c| self.slips_against_friction(c, &candidate.velocity));
            let loads = self.loads(modes, &state.v, &candidate.z);
            solve.lcp.recycle_candidate(candidate);
            (rests, loads)
        });
        (self.rows, self.contact_rates) = (rows, rates);
        solved
    }

    /// Whether the modes of the last solve hold by forces that are not unique, all of them within their cones.
    fn rests_on_shared_loads(
        &self,
        modes: &[ActiveConstraint],
        state: &State,
        candidate: &Candidate,
    ) -> bool {
        if !self.certificate(candidate).passes(Scheme::pagt06().solver.tolerance) {
            return false;
        }
        let values = self.event_functions(modes, &state.v, &candidate.z, 1.0);
        let shares = values.iter().any(|(function, _)| matches!(function, EventFunction::SharedSlack(_)));
        let holds = |&(function, value): &(EventFunction, f64)| {
            matches!(function, EventFunction::SlipSpeed(_)) || value > SIMULTANEOUS_EVENT_VALUE
        };
        shares && values.iter().all(holds)
    }

    /// Whether a constraint that begins to slip at accelerations `a` does so against its friction.
    fn slips_against_friction(&self, constraint: &ActiveConstraint, a: &[f64]) -> bool {
        let slip = self.slip_acceleration(constraint.constraint, a);
        constraint.slip_direction().is_some_and(|direction| dot(slip, direction) < 0.0)
    }

    /// Next active set from a state, by the acceleration problem with complementarity. Constraints of `free` may stick
    /// or slip; all may open. `None` if no solution was found.
    pub(super) fn next_modes<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        free: &[ConstraintId],
        solve: &mut SolveContext,
    ) -> Result<Option<Vec<ActiveConstraint>>, StepError> {
        self.assemble(system, state, active, &mut solve.cache)?;
        if let Some(resting) = self.rest_or_align(system, state, active, free, solve)? {
            return Ok(Some(resting));
        }
        let Some(solution) = self.solve_keeping_slip(system, active, free, solve) else {
            return Ok(None);
        };
        let loads = self.loads(active, &state.v, solution.z());
        let threshold = MIN_SLIP_ACCELERATION * self.problem.speed_scale;
        // offsets of slips make the problem larger, and its round-off
        let scale = solution.certificate().speed.max(self.problem.speed_scale);
        let opening = UNLOADED_FACTOR * MIN_SLIP_ACCELERATION * scale;
        let mut next = Vec::new();
        for ((active, load), index) in active.iter().zip(&loads).zip(self.problem_indices(active)) {
            let Some(i) = index else { continue };
            let is_drive = self.problem.contacts[i].normal.is_none();
            // a contact without force that does not open either shares its force with others; a redundant one moves apart
            // by the round-off of the solve
            let opens = solution.w()[self.layout.contact[i]] > opening;
            if !is_drive && load.normal <= 0.0 && opens {
                continue;
            }
            let is_free = active.sticks() || free.contains(&active.constraint);
            if !is_free {
                next.push(*active);
                continue;
            }
            if !self.has_friction(active.constraint) {
                next.push(ActiveConstraint::sticking(active.constraint));
                continue;
            }
            let acceleration = self.slip_acceleration(active.constraint, solution.velocity());
            let direction = friction_direction(load, acceleration, threshold);
            next.push(direction.map_or(ActiveConstraint::sticking(active.constraint), |direction| {
                ActiveConstraint::slipping(active.constraint, direction)
            }));
        }
        solve.lcp.recycle(solution);
        Ok(Some(next))
    }

    /// Solves the acceleration problem with complementarity. Constraints that slip and are not `free` keep their slip:
    /// offsets along it are raised until none turns. Small offsets are tried first, since V₀ grows with them.
    fn solve_keeping_slip<S: System + ?Sized>(
        &mut self,
        system: &S,
        active: &[ActiveConstraint],
        free: &[ConstraintId],
        solve: &mut SolveContext,
    ) -> Option<Solution> {
        let (rows, rates) = (self.rows.clone(), self.contact_rates.clone());
        let keeps = |c: &&ActiveConstraint| c.slip_direction().is_some() && !free.contains(&c.constraint);
        for slip_offset in SLIP_OFFSET_FACTORS {
            self.rows.clone_from(&rows);
            self.contact_rates.clone_from(&rates);
            self.assemble_rows(system, active, free, slip_offset);
            solve.solves += 1;
            let solution = solve.lcp.solve(&self.problem, &Scheme::pagt06().solver, None).ok()?;
            let along = |c: &ActiveConstraint| {
                let acceleration = self.slip_acceleration(c.constraint, solution.velocity());
                c.slip_direction().map_or(0.0, |direction| dot(acceleration, direction))
            };
            // slip is against friction
            if active.iter().filter(keeps).all(|c| along(c) < 0.0) {
                return Some(solution);
            }
            solve.lcp.recycle(solution);
        }
        None
    }

    /// Slip acceleration of an active constraint at accelerations `a`, with the offsets of its rows [m/s²]; of a drive
    /// along its row.
    fn slip_acceleration(&self, constraint: ConstraintId, a: &[f64]) -> [f64; 3] {
        match constraint {
            ConstraintId::Contact(id) => {
                let row = self.rows.contacts.iter().find(|c| c.id == id);
                row.map_or([0.0; 3], |row| slip_velocity(row, &self.layout.velocity, a))
            }
            ConstraintId::Joint(row) => {
                let k = self.rows.joint_indices.iter().position(|&r| r == row);
                let speed = k
                    .map(|k| &self.rows.joints[k])
                    .map_or(0.0, |joint| joint.row.dot(&self.layout.velocity, a) + joint.drift);
                [speed, 0.0, 0.0]
            }
        }
    }
}

/// Direction of the friction of a constraint that may slip; `None` if it sticks. It slips if its friction is at the bound
/// and it accelerates by more than `threshold`. A contact that was given no force slips as it accelerates, if that is more
/// than round-off: how redundant contacts share their load does not decide whether they slip.
fn friction_direction(load: &ConstraintLoad, acceleration: [f64; 3], threshold: f64) -> Option<[f64; 3]> {
    let friction = dot(load.friction, load.friction).sqrt();
    let size = dot(acceleration, acceleration).sqrt();
    if friction > 0.0 {
        let at_bound = friction >= (1.0 - FRICTION_BOUND_RELATIVE) * load.bound;
        return (at_bound && size > threshold).then(|| load.friction.map(|f| f / friction));
    }
    (size > UNLOADED_FACTOR * threshold).then(|| acceleration.map(|a| -a / size))
}
