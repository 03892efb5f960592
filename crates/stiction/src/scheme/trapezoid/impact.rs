//! Impacts with Poisson's restitution: compression, then decompression. PAGT06 (7.5)–(7.9)

use super::flow::{Flow, Stage, bodies, mobility, unsolved};
use crate::assemble::{self, Offsets, RowMap};
use crate::error::StepError;
use crate::report::{ImpactReport, Part};
use crate::scheme::euler::kinetic;
use crate::state::State;
use crate::system::{ConstraintId, ContactRow, JointRow, RowKind, System};
use stiction_lcp::problem::Layout;
use stiction_lcp::{Solution, StepProblem};

/// Halvings of the factor on restitution that keeps energy: to 1e-9.
const HALVINGS: usize = 30;

/// Energy gained below this part is round-off.
const GAIN: f64 = 1e-14;

/// Storage of impacts.
#[derive(Debug, Clone, Default)]
pub(super) struct Impact {
    problem: StepProblem,
    layout: Layout,
    places: RowMap,
    /// All rows of joints and touching contacts at the instant.
    pub(super) joints: Vec<JointRow>,
    pub(super) rows: Vec<usize>,
    pub(super) contacts: Vec<ContactRow>,
    /// Impulses and velocity of the last compression, and impulses of the decompression that followed.
    compression: (Vec<f64>, Vec<f64>),
    decompression: Vec<f64>,
}

impl Impact {
    /// Approach speed of each contact and limit of the problem, with its place [m/s].
    fn approaches(&self, v: &[f64]) -> Vec<(ConstraintId, usize, f64)> {
        let places = self.rows.iter().zip(&self.places.joints).filter_map(|(&row, place)| match place {
            assemble::RowLocation::Contact(i) => Some((ConstraintId::Joint(row), *i)),
            assemble::RowLocation::Joint(_) => None,
        });
        let first = self.places.first_contact;
        let contacts =
            self.contacts.iter().enumerate().map(|(k, c)| (ConstraintId::Contact(c.id), first + k));
        let speed = |(place, i): (ConstraintId, usize)| {
            let normal = self.problem.contacts[i].normal.as_ref()?;
            Some((place, i, -(normal.row.dot(&self.layout.velocity, v) + normal.offset)))
        };
        places.chain(contacts).filter_map(speed).collect()
    }

    /// The velocity after the impact at these places; rows must have been read. Where they open already, the bounce
    /// from the velocity of `bounced` is over before it can be told from none: the impact is that one, without
    /// restitution, and the answer says so.
    pub(super) fn strike<S: System + ?Sized>(
        &mut self,
        stage: &Stage<S>,
        state: &mut State,
        struck: &[ConstraintId],
        bounced: Option<&[f64]>,
        flow: &mut Flow,
    ) -> Result<(ImpactReport, bool), StepError> {
        let system = stage.system;
        let over = self.pose(stage, state, struck, bounced);
        let approaches = self.approaches(&state.v);
        let before = kinetic(system, state.t, &state.q, &state.v);

        let compressed = self.solve(stage, state.t, flow)?;
        let v_c = compressed.velocity().to_vec();
        let kept = kinetic(system, state.t, &state.q, &v_c);
        let returned = if over { Vec::new() } else { self.returned(stage, &v_c, compressed.z()) };
        self.compression = (compressed.z().to_vec(), v_c.clone());
        self.decompression.clear();
        flow.lcp.recycle(compressed);
        let mut factor = if over { 0.0 } else { 1.0 };
        state.v.clone_from(&v_c);
        if !returned.is_empty() {
            state.v = self.decompress(stage, state.t, &v_c, &returned, 1.0, flow)?;
            if stage.settings.energy_safe
                && kinetic(system, state.t, &state.q, &state.v) > before * (1.0 + GAIN)
            {
                let (mut low, mut high) = (0.0, 1.0);
                for _ in 0..HALVINGS {
                    let middle = 0.5 * (low + high);
                    let v = self.decompress(stage, state.t, &v_c, &returned, middle, flow)?;
                    if kinetic(system, state.t, &state.q, &v) > before {
                        high = middle;
                    } else {
                        (low, state.v) = (middle, v);
                    }
                }
                // the impulses are those of the velocity that is kept
                state.v = self.decompress(stage, state.t, &v_c, &returned, low, flow)?;
                factor = low;
            }
        }
        let report = ImpactReport {
            t: state.t,
            approaches: approaches.iter().map(|&(place, _, speed)| (place, speed)).collect(),
            before,
            compressed: kept,
            after: kinetic(system, state.t, &state.q, &state.v),
            factor,
        };
        Ok((report, over))
    }

    /// The problem of the compression; whether the bounce is over already. Then the velocity is that of before it.
    pub(super) fn pose<S: System + ?Sized>(
        &mut self,
        stage: &Stage<S>,
        state: &mut State,
        struck: &[ConstraintId],
        bounced: Option<&[f64]>,
    ) -> bool {
        let system = stage.system;
        bodies(system, state.t, &state.q, &mut self.problem);
        let drift = |j: &JointRow| j.drift;
        let offsets = Offsets { joint: &drift, contact: &|c: &ContactRow| c.drift, limit: &drift };
        // motors and dry friction have forces, not impulses
        assemble::rows(&mut self.problem, &mut self.places, 0.0, &self.joints, &self.contacts, &offsets);
        self.problem.joints.iter_mut().for_each(|j| j.compliance = 0.0);
        self.problem.lay_out(&mut self.layout);
        let fastest = system.surface_speed(state.t, &state.q, &state.v);
        self.problem.speed_scale = 1e-3 * fastest.max(stage.slowest());
        let over = !self.approaches(&state.v).iter().any(|a| struck.contains(&a.0) && a.2 > 0.0);
        if let Some(v) = bounced.filter(|_| over) {
            state.v.copy_from_slice(v);
        }
        self.momentum(&state.v);
        over
    }

    /// e c_n of every contact that comes apart faster than at a crawl, after the compression `z` to `v`.
    pub(super) fn returned<S: System + ?Sized>(
        &self,
        stage: &Stage<S>,
        v: &[f64],
        z: &[f64],
    ) -> Vec<(usize, f64)> {
        let returned = |(place, i, _): (ConstraintId, usize, f64)| {
            let own = z[self.layout.contact[i]];
            let e = self.restitution(place);
            let change = own * self.mobility(i);
            (e > 0.0 && e * change > stage.slowest()).then_some((i, e * own))
        };
        self.approaches(v).into_iter().filter_map(returned).collect()
    }

    /// What a verifier is to see of the last impact.
    pub(super) fn seen(
        &self,
        struck: &[ConstraintId],
        held: &[ConstraintId],
        factor: f64,
        v: &[f64],
    ) -> Part {
        let (compression, compressed) = self.compression.clone();
        let (struck, held) = (struck.to_vec(), held.to_vec());
        let (decompression, v) = (self.decompression.clone(), v.to_vec());
        Part::Impact { struck, held, compression, compressed, factor, decompression, v }
    }

    /// The problem that was posed last.
    pub(super) fn problem(&self) -> &StepProblem {
        &self.problem
    }

    /// Speeds at which each contact and limit opens after the impact [m/s].
    pub(super) fn separations(&self, v: &[f64]) -> Vec<(ConstraintId, f64)> {
        self.approaches(v).into_iter().map(|(place, _, speed)| (place, -speed)).collect()
    }

    fn restitution(&self, place: ConstraintId) -> f64 {
        match place {
            ConstraintId::Contact(id) => {
                self.contacts.iter().find(|c| c.id == id).map_or(0.0, |c| c.restitution)
            }
            // limits are hard stops without restitution
            ConstraintId::Joint(_) => 0.0,
        }
    }

    /// n M⁻¹ nᵀ of a contact [1/kg].
    fn mobility(&self, i: usize) -> f64 {
        let normal = self.problem.contacts[i].normal.as_ref();
        normal.map_or(0.0, |normal| mobility(&self.problem, &self.layout, &normal.row))
    }

    /// b = M v.
    fn momentum(&mut self, v: &[f64]) {
        let mut at = 0;
        for body in &mut self.problem.bodies {
            for i in 0..body.velocities {
                body.momentum[i] = (0..body.velocities).map(|j| body.mass[(i, j)] * v[at + j]).sum();
            }
            at += body.velocities;
        }
    }

    fn decompress<S: System + ?Sized>(
        &mut self,
        stage: &Stage<S>,
        t: f64,
        v: &[f64],
        returned: &[(usize, f64)],
        factor: f64,
        flow: &mut Flow,
    ) -> Result<Vec<f64>, StepError> {
        self.pose_decompression(stage, v, returned, factor);
        let solution = self.solve(stage, t, flow)?;
        let v = solution.velocity().to_vec();
        self.decompression = solution.z().to_vec();
        flow.lcp.recycle(solution);
        Ok(v)
    }

    /// The problem of the decompression after the compression to `v`.
    pub(super) fn pose_decompression<S: System + ?Sized>(
        &mut self,
        stage: &Stage<S>,
        v: &[f64],
        returned: &[(usize, f64)],
        factor: f64,
    ) {
        self.momentum(v);
        let mut more = vec![0.0; v.len()];
        for &(i, impulse) in returned {
            let contact = &mut self.problem.contacts[i];
            if let Some(normal) = &contact.normal {
                normal.row.add_transposed(&self.layout.velocity, factor * impulse, &mut more);
            }
            contact.kappa =
                if stage.settings.printed_decompression { 0.0 } else { contact.mu * factor * impulse };
        }
        for (body, &s) in self.problem.bodies.iter_mut().zip(&self.layout.velocity) {
            (0..body.velocities).for_each(|i| body.momentum[i] += more[s + i]);
        }
    }

    fn solve<S: System + ?Sized>(
        &self,
        stage: &Stage<S>,
        t: f64,
        flow: &mut Flow,
    ) -> Result<Solution, StepError> {
        flow.solves += 1;
        let solved = flow.lcp.solve(&self.problem, &stage.scheme.solver, None);
        solved.map_err(|e| unsolved(t, e, &self.problem))
    }

    /// Reads the rows at a state: joints, and all contacts and limits within `reach` [m] or in `held`.
    pub(super) fn read<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        reach: f64,
        held: &[ConstraintId],
        flow: &mut Flow,
    ) {
        system.joints(state.t, &state.q, &mut self.joints);
        self.rows.clear();
        let mut row = 0;
        let rows = &mut self.rows;
        self.joints.retain(|j| {
            let place = ConstraintId::Joint(row);
            let near = j.kind != RowKind::Limit || j.error <= reach || held.contains(&place);
            if near {
                rows.push(row);
            }
            row += 1;
            near
        });
        let wanted: Vec<_> = held
            .iter()
            .filter_map(|p| match p {
                ConstraintId::Contact(id) => Some(id.pair),
                ConstraintId::Joint(_) => None,
            })
            .collect();
        let near =
            crate::system::ContactQuery { wanted: &wanted, ..crate::system::ContactQuery::within(reach) };
        system.contacts(state.t, &state.q, &near, &mut flow.cache, &mut self.contacts);
        self.contacts.retain(|c| c.gap <= reach || held.contains(&ConstraintId::Contact(c.id)));
    }
}
