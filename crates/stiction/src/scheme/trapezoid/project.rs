//! Projection onto joints and contacts: of positions by the least displacement, of velocities along what acts.
//!
//! Between events states are left alone: rows at the mean velocity keep energy, and let positions and speeds of rows
//! stray by O(h²) without growing. What decides, what is compared and what is shown is a projected copy.

use super::flow::{Flow, bodies, unsolved};
use super::frame::Frame;
use super::schur::Schur;
use crate::assemble::{self, Offsets, Places};
use crate::error::StepError;
use crate::state::{Bearing, State};
use crate::system::{ContactRow, JointRow, RowKind, System};
use stiction_lcp::problem::Layout;
use stiction_lcp::{ContactMode, StepProblem};

/// Passes at most: from O(h²) away Newton's method takes two or three.
const PASSES: usize = 6;

/// Errors of positions below this part of the size are round-off.
const ROUND_OFF: f64 = 1e-15;

/// Storage of projections.
#[derive(Debug, Clone, Default)]
pub(super) struct Projector {
    problem: StepProblem,
    layout: Layout,
    places: Places,
    frame: Frame,
    modes: Vec<ContactMode>,
    schur: Schur,
}

impl Projector {
    /// Projects a state: positions onto joints and closed gaps, then velocities onto the rows that hold in these
    /// modes, along the forces that hold them. Friction goes along with the normals of contacts that slip, or
    /// projecting would be of first order.
    pub(super) fn project<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &mut State,
        bearing: &[Bearing],
        flow: &mut Flow,
    ) -> Result<(), StepError> {
        if bearing.is_empty() && self.directly(system, state, flow) {
            return Ok(());
        }
        let mut least = f64::INFINITY;
        for pass in 0..=PASSES {
            self.read(system, state, bearing, flow)?;
            if self.frame.joints.is_empty() && self.frame.contacts.is_empty() {
                return Ok(());
            }
            let error = self.error();
            // round-off is reached when it no longer falls
            if error <= ROUND_OFF * system.size() || !(error < 0.5 * least) || pass == PASSES {
                break;
            }
            least = error;
            self.displace(system, state, flow)?;
        }
        self.straighten(system, state, bearing, flow)
    }

    /// The same where nothing bears and joints are rigid and not redundant.
    fn directly<S: System + ?Sized>(&mut self, system: &S, state: &mut State, flow: &mut Flow) -> bool {
        let mut least = f64::INFINITY;
        for pass in 0..=PASSES {
            if self.read(system, state, &[], flow).is_err() {
                return false;
            }
            let joints = &self.frame.joints;
            if !self.schur.factor(system, state.t, &state.q, joints) {
                return false;
            }
            flow.solves += 1;
            let error = self.error();
            if error <= ROUND_OFF * system.size() || !(error < 0.5 * least) || pass == PASSES {
                break;
            }
            least = error;
            let mut displacement = vec![0.0; state.v.len()];
            self.schur.correct(joints, |k| joints[k].error, &mut displacement);
            system.advance(&mut state.q, &displacement, 1.0);
        }
        let joints = &self.frame.joints;
        self.schur.correct(joints, |k| joints[k].drift, &mut state.v);
        true
    }

    fn read<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        bearing: &[Bearing],
        flow: &mut Flow,
    ) -> Result<(), StepError> {
        if self.frame.read(system, (state.t, &state.q), bearing, None, &mut flow.bases) {
            return Ok(());
        }
        Err(StepError::NotFinite { t: state.t, what: "a contact that bears".to_string() })
    }

    fn error(&self) -> f64 {
        let joints = self.frame.joints.iter().filter(|j| positional(j)).map(|j| j.error.abs());
        joints.chain(self.frame.contacts.iter().map(|c| c.gap.abs())).fold(0.0, f64::max)
    }

    /// q ← q ⊕ dp with M dp = Nᵀλ, N dp = −g.
    fn displace<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &mut State,
        flow: &mut Flow,
    ) -> Result<(), StepError> {
        let Self { problem, layout, places, frame, modes, .. } = self;
        bodies(system, state.t, &state.q, problem);
        let joints: Vec<JointRow> = frame.joints.iter().filter(|j| positional(j)).cloned().collect();
        let mut contacts = frame.contacts.clone();
        contacts.iter_mut().for_each(|c| c.mu = 0.0);
        let error = |j: &JointRow| j.error;
        let offsets = Offsets { joint: &error, contact: &|c: &ContactRow| c.gap, limit: &error };
        assemble::rows(problem, places, 1.0, &joints, &contacts, &offsets);
        problem.lay_out(layout);
        problem.speed_scale = system.size();
        modes.clear();
        modes.resize(problem.contacts.len(), ContactMode::Stick);
        flow.solves += 1;
        let candidate = flow.lcp.in_modes(problem, modes).map_err(|e| unsolved(state.t, e, problem))?;
        system.advance(&mut state.q, &candidate.velocity, 1.0);
        flow.lcp.recycle_candidate(candidate);
        Ok(())
    }

    /// v ← v − M⁻¹G (R M⁻¹G)⁻¹ (R v + ∂/∂t) with G = n + μ f where something slips.
    fn straighten<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &mut State,
        bearing: &[Bearing],
        flow: &mut Flow,
    ) -> Result<(), StepError> {
        let Self { problem, layout, places, frame, modes, .. } = self;
        bodies(system, state.t, &state.q, problem);
        let mut at = 0;
        for body in &mut problem.bodies {
            let v = &state.v[at..at + body.velocities];
            for i in 0..body.velocities {
                body.momentum[i] = (0..body.velocities).map(|j| body.mass[(i, j)] * v[j]).sum();
            }
            at += body.velocities;
        }
        // compliant joints give way
        let rigid = |j: &JointRow| !matches!(j.kind, RowKind::Rigid(c) if c > 0.0);
        let mut kept = Vec::new();
        let mut k = 0;
        frame.rows.retain(|&row| {
            let keep = rigid(&frame.joints[k]);
            if keep {
                kept.push(row);
            }
            k += 1;
            keep
        });
        frame.joints.retain(rigid);
        let drift = |j: &JointRow| j.drift;
        let offsets = Offsets { joint: &drift, contact: &|c: &ContactRow| c.drift, limit: &drift };
        // a projection is an instant: drives have no bound there and only hold where they stick
        assemble::rows(problem, places, 0.0, &frame.joints, &frame.contacts, &offsets);
        problem.joints.iter_mut().for_each(|j| j.compliance = 0.0);
        problem.lay_out(layout);
        problem.speed_scale = system.surface_speed(state.t, &state.q, &state.v).max(f64::MIN_POSITIVE);
        frame.modes(bearing, modes);
        flow.solves += 1;
        let candidate = flow.lcp.in_modes(problem, modes).map_err(|e| unsolved(state.t, e, problem))?;
        state.v.copy_from_slice(&candidate.velocity);
        flow.lcp.recycle_candidate(candidate);
        Ok(())
    }
}

/// Whether a row holds a position: drives and compliant joints do not.
fn positional(joint: &JointRow) -> bool {
    match joint.kind {
        RowKind::Rigid(compliance) => compliance <= 0.0,
        RowKind::Limit => true,
        RowKind::Drive { .. } => false,
    }
}
