//! Impacts with Poisson's restitution: a compression problem, then a decompression problem. PAGT06 (7.5)–(7.9)

use super::constants::{ENERGY_GAIN_RELATIVE, RESTITUTION_BISECTIONS, SPEED_SCALE_RELATIVE};
use super::context::{
    Configuration, SolveContext, StepContext, mobility, set_bodies, set_momentum, unsolved,
};
use super::nearby::NearbyRows;
use crate::assemble::{self, Offsets, RowMap};
use crate::error::StepError;
use crate::report::{ImpactReport, SubstepRecord};
use crate::scheme::euler::kinetic;
use crate::state::State;
use crate::system::{ConstraintId, ContactRow, JointRow, System};
use stiction_lcp::problem::Layout;
use stiction_lcp::{Solution, StepProblem};

/// Impact problem and its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct ImpactSolver {
    problem: StepProblem,
    layout: Layout,
    places: RowMap,
    /// Joints and nearby contacts at the impact.
    pub(super) rows: NearbyRows,
    /// Impulses and velocity of the last compression.
    compression: (Vec<f64>, Vec<f64>),
    /// Impulses of the decompression that followed.
    decompression: Vec<f64>,
}

/// Impact to be solved.
pub(super) struct ImpactStart<'a> {
    /// Constraints whose gaps closed.
    pub(super) closed: &'a [ConstraintId],
    /// Velocity before an impact at the same time, if there was one.
    pub(super) last_velocity: Option<&'a [f64]>,
}

impl ImpactSolver {
    /// Approach speed of each contact and limit, with its constraint and its index in the problem [m/s].
    pub(super) fn approaches(&self, v: &[f64]) -> Vec<(ConstraintId, usize, f64)> {
        let limits = self.rows.joint_indices.iter().zip(&self.places.joints);
        let limits = limits.filter_map(|(&row, place)| match place {
            assemble::RowLocation::Contact(i) => Some((ConstraintId::Joint(row), *i)),
            assemble::RowLocation::Joint(_) => None,
        });
        let first = self.places.first_contact;
        let contacts = self.rows.contacts.iter().enumerate();
        let contacts = contacts.map(|(k, c)| (ConstraintId::Contact(c.id), first + k));
        let speed = |(constraint, i): (ConstraintId, usize)| {
            let normal = self.problem.contacts[i].normal.as_ref()?;
            Some((constraint, i, -(normal.row.dot(&self.layout.velocity, v) + normal.offset)))
        };
        limits.chain(contacts).filter_map(speed).collect()
    }

    /// Solves an impact and sets the velocity after it; the rows must have been read. If the closed gaps open already,
    /// the last bounce was too short to be resolved: that impact is then solved again without restitution, from the
    /// velocity before it, and `true` is returned.
    pub(super) fn solve<S: System + ?Sized>(
        &mut self,
        context: &StepContext<S>,
        state: &mut State,
        start: &ImpactStart,
        solve: &mut SolveContext,
    ) -> Result<(ImpactReport, bool), StepError> {
        let system = context.system;
        let ended = self.assemble_compression(context, state, start);
        let approaches = self.approaches(&state.v);
        let energy = |t: f64, q: &[f64], v: &[f64]| kinetic(system, t, q, v);
        let before = energy(state.t, &state.q, &state.v);

        let compressed = self.solve_problem(context, state.t, solve)?;
        let v_c = compressed.velocity().to_vec();
        let energy_compressed = energy(state.t, &state.q, &v_c);
        let returned = if ended { Vec::new() } else { self.returned(context, &v_c, compressed.z()) };
        self.compression = (compressed.z().to_vec(), v_c.clone());
        self.decompression.clear();
        solve.lcp.recycle(compressed);
        let mut factor = if ended { 0.0 } else { 1.0 };
        state.v.clone_from(&v_c);
        if !returned.is_empty() {
            state.v = self.decompress(context, state.t, &v_c, &returned, 1.0, solve)?;
            if context.settings.energy_safe
                && energy(state.t, &state.q, &state.v) > before * (1.0 + ENERGY_GAIN_RELATIVE)
            {
                let (mut low, mut high) = (0.0, 1.0);
                for _ in 0..RESTITUTION_BISECTIONS {
                    let middle = 0.5 * (low + high);
                    let v = self.decompress(context, state.t, &v_c, &returned, middle, solve)?;
                    if energy(state.t, &state.q, &v) > before {
                        high = middle;
                    } else {
                        (low, state.v) = (middle, v);
                    }
                }
                // the recorded impulses must be those of the velocity that is kept
                state.v = self.decompress(context, state.t, &v_c, &returned, low, solve)?;
                factor = low;
            }
        }
        let report = ImpactReport {
            t: state.t,
            approaches: approaches.iter().map(|&(constraint, _, speed)| (constraint, speed)).collect(),
            before,
            compressed: energy_compressed,
            after: energy(state.t, &state.q, &state.v),
            factor,
        };
        Ok((report, ended))
    }

    /// Assembles the compression problem. Returns whether the closed gaps open already; then the velocity is that
    /// before the last impact.
    pub(super) fn assemble_compression<S: System + ?Sized>(
        &mut self,
        context: &StepContext<S>,
        state: &mut State,
        start: &ImpactStart,
    ) -> bool {
        let system = context.system;
        set_bodies(system, Configuration::of(state), &mut self.problem);
        let drift = |j: &JointRow| j.drift;
        let offsets = Offsets { joint: &drift, contact: &|c: &ContactRow| c.drift, limit: &drift };
        // with h = 0 motors and dry friction have no bound: they have forces, not impulses
        let NearbyRows { joints, contacts, .. } = &self.rows;
        assemble::rows(&mut self.problem, &mut self.places, 0.0, joints, contacts, &offsets);
        self.problem.joints.iter_mut().for_each(|j| j.compliance = 0.0);
        self.problem.lay_out(&mut self.layout);
        let fastest = system.surface_speed(state.t, &state.q, &state.v);
        self.problem.speed_scale = SPEED_SCALE_RELATIVE * fastest.max(context.restitution_speed());
        let approaches = self.approaches(&state.v);
        let ended = !approaches.iter().any(|a| start.closed.contains(&a.0) && a.2 > 0.0);
        if let Some(v) = start.last_velocity.filter(|_| ended) {
            state.v.copy_from_slice(v);
        }
        set_momentum(&mut self.problem, &state.v);
        ended
    }

    /// Normal impulses e c_n that restitution returns after the compression `z` to `v`, by contact of the problem.
    /// Contacts that would open more slowly than the restitution speed return none.
    pub(super) fn returned<S: System + ?Sized>(
        &self,
        context: &StepContext<S>,
        v: &[f64],
        z: &[f64],
    ) -> Vec<(usize, f64)> {
        let returned = |(constraint, i, _): (ConstraintId, usize, f64)| {
            let own = z[self.layout.contact[i]];
            let e = self.restitution(constraint);
            let change = own * self.mobility(i);
            (e > 0.0 && e * change > context.restitution_speed()).then_some((i, e * own))
        };
        self.approaches(v).into_iter().filter_map(returned).collect()
    }

    /// Record of the last impact.
    pub(super) fn record(
        &self,
        closed: &[ConstraintId],
        participants: &[ConstraintId],
        restitution_factor: f64,
        v: &[f64],
    ) -> SubstepRecord {
        let (compression, compressed_velocity) = self.compression.clone();
        SubstepRecord::Impact {
            closed: closed.to_vec(),
            participants: participants.to_vec(),
            compression,
            compressed_velocity,
            restitution_factor,
            decompression: self.decompression.clone(),
            v: v.to_vec(),
        }
    }

    /// Problem that was assembled last.
    pub(super) fn problem(&self) -> &StepProblem {
        &self.problem
    }

    /// Speeds at which contacts and limits open at velocity `v` [m/s].
    pub(super) fn separations(&self, v: &[f64]) -> impl Iterator<Item = (ConstraintId, f64)> {
        self.approaches(v).into_iter().map(|(constraint, _, speed)| (constraint, -speed))
    }

    fn restitution(&self, constraint: ConstraintId) -> f64 {
        match constraint {
            ConstraintId::Contact(id) => {
                self.rows.contacts.iter().find(|c| c.id == id).map_or(0.0, |c| c.restitution)
            }
            // limits are hard stops without restitution
            ConstraintId::Joint(_) => 0.0,
        }
    }

    /// Mobility n M⁻¹ nᵀ of a contact [1/kg].
    fn mobility(&self, i: usize) -> f64 {
        let normal = self.problem.contacts[i].normal.as_ref();
        normal.map_or(0.0, |normal| mobility(&self.problem, &self.layout, &normal.row))
    }

    fn decompress<S: System + ?Sized>(
        &mut self,
        context: &StepContext<S>,
        t: f64,
        v: &[f64],
        returned: &[(usize, f64)],
        factor: f64,
        solve: &mut SolveContext,
    ) -> Result<Vec<f64>, StepError> {
        self.assemble_decompression(context, v, returned, factor);
        let solution = self.solve_problem(context, t, solve)?;
        let v = solution.velocity().to_vec();
        self.decompression = solution.z().to_vec();
        solve.lcp.recycle(solution);
        Ok(v)
    }

    /// Assembles the decompression problem after the compression to `v`.
    pub(super) fn assemble_decompression<S: System + ?Sized>(
        &mut self,
        context: &StepContext<S>,
        v: &[f64],
        returned: &[(usize, f64)],
        factor: f64,
    ) {
        set_momentum(&mut self.problem, v);
        let mut added = vec![0.0; v.len()];
        for &(i, impulse) in returned {
            let contact = &mut self.problem.contacts[i];
            if let Some(normal) = &contact.normal {
                normal.row.add_transposed(&self.layout.velocity, factor * impulse, &mut added);
            }
            contact.kappa =
                if context.settings.printed_decompression { 0.0 } else { contact.mu * factor * impulse };
        }
        for (body, &s) in self.problem.bodies.iter_mut().zip(&self.layout.velocity) {
            (0..body.velocities).for_each(|i| body.momentum[i] += added[s + i]);
        }
    }

    fn solve_problem<S: System + ?Sized>(
        &self,
        context: &StepContext<S>,
        t: f64,
        solve: &mut SolveContext,
    ) -> Result<Solution, StepError> {
        solve.solves += 1;
        let solved = solve.lcp.solve(&self.problem, &context.scheme.solver, None);
        solved.map_err(|e| unsolved(t, e, &self.problem))
    }
}
