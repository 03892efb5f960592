//! Mode selection: the next active set, by the acceleration problem with complementarity just after an event.

use super::acceleration::{AccelerationProblem, turn_tangents};
use super::constants::{FRICTION_BOUND_RELATIVE, MIN_SLIP_ACCELERATION, SLIP_OFFSET_FACTOR};
use super::context::{SolveContext, dot};
use crate::error::StepError;
use crate::scheme::Scheme;
use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, ContactRow, System};

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
        self.assemble_rows(system, active, free, SLIP_OFFSET_FACTOR);
        solve.solves += 1;
        let Ok(solution) = solve.lcp.solve(&self.problem, &Scheme::pagt06().solver, None) else {
            return Ok(None);
        };
        let loads = self.loads(active, &state.v, solution.z());
        let slips = &solution.certificate().contacts;
        let threshold = MIN_SLIP_ACCELERATION * self.problem.speed_scale;
        let mut next = Vec::new();
        for ((active, load), index) in active.iter().zip(&loads).zip(self.problem_indices(active)) {
            let Some(i) = index else { continue };
            let is_drive = self.problem.contacts[i].normal.is_none();
            // a contact without force that does not open either shares its force with others
            if !is_drive && load.normal <= 0.0 && solution.w()[self.layout.contact[i]] > threshold {
                continue;
            }
            let size = dot(load.friction, load.friction).sqrt();
            let at_bound = size >= (1.0 - FRICTION_BOUND_RELATIVE) * load.bound;
            let slips = slips[i].lambda > threshold && size > 0.0 && at_bound;
            let is_free = active.sticks() || free.contains(&active.constraint);
            next.push(match (is_free, slips) {
                (false, _) => *active,
                (true, true) => {
                    ActiveConstraint::slipping(active.constraint, load.friction.map(|f| f / size))
                }
                (true, false) => ActiveConstraint::sticking(active.constraint),
            });
        }
        solve.lcp.recycle(solution);
        Ok(Some(next))
    }
}
