//! Mode selection: the next active set, by the acceleration problem with complementarity just after an event.

use super::acceleration::{AccelerationProblem, ConstraintLoad, turn_tangents};
use super::constants::{
    FRICTION_BOUND_RELATIVE, MIN_SLIP_ACCELERATION, SLIP_OFFSET_FACTORS, UNLOADED_SLIP_FACTOR,
};
use super::context::{SolveContext, dot};
use super::rows::slip_velocity;
use crate::error::StepError;
use crate::scheme::Scheme;
use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, ContactRow, System};
use stiction_lcp::Solution;

impl AccelerationProblem {
    /// Turns the tangents of contacts that may stick or slip along the friction they need to stick, where their polygon
    /// stands for a circle.
    fn align_free_tangents<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        free: &[ConstraintId],
        solve: &mut SolveContext,
    ) -> Result<(), StepError> {
        let stuck = |c: &ActiveConstraint| {
            if free.contains(&c.constraint) { ActiveConstraint::sticking(c.constraint) } else { *c }
        };
        let stuck: Vec<ActiveConstraint> = active.iter().map(stuck).collect();
        let contacts = stuck.iter().filter(|c| c.is_contact());
        let turns = |(c, row): (&ActiveConstraint, &ContactRow)| {
            c.sticks() && row.aligned && row.tangents.len() == 2 && row.mu > 0.0
        };
        if !contacts.clone().zip(&self.rows.contacts).any(turns) {
            return Ok(());
        }
        let (rows, rates) = (self.rows.clone(), self.contact_rates.clone());
        self.assemble_rows(system, &stuck, &[], 0.0);
        self.rows.modes(&stuck, &mut self.modes);
        let candidate = solve.solve_in_modes(state.t, &self.problem, &self.modes)?;
        let loads = self.loads(&stuck, &state.v, &candidate.z);
        solve.lcp.recycle_candidate(candidate);
        (self.rows, self.contact_rates) = (rows, rates);
        let loads = stuck.iter().zip(&loads).filter(|(c, _)| c.is_contact());
        let rows = self.rows.contacts.iter_mut().zip(&mut self.contact_rates);
        for ((_, load), (row, rates)) in loads.zip(rows).filter(|((c, _), (row, _))| turns((c, row))) {
            let [x, y] = row.tangent_directions.map(|t| dot(t, load.friction));
            if x.hypot(y) > 0.0 {
                turn_tangents(row, rates, [x, y]);
            }
        }
        Ok(())
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
        self.align_free_tangents(system, state, active, free, solve)?;
        let Some(solution) = self.solve_keeping_slip(system, active, free, solve) else { return Ok(None) };
        let loads = self.loads(active, &state.v, solution.z());
        let threshold = MIN_SLIP_ACCELERATION * self.problem.speed_scale;
        let mut next = Vec::new();
        for ((active, load), index) in active.iter().zip(&loads).zip(self.problem_indices(active)) {
            let Some(i) = index else { continue };
            let is_drive = self.problem.contacts[i].normal.is_none();
            // a contact without force that does not open either shares its force with others
            if !is_drive && load.normal <= 0.0 && solution.w()[self.layout.contact[i]] > threshold {
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
    (size > UNLOADED_SLIP_FACTOR * threshold).then(|| acceleration.map(|a| -a / size))
}
