//! Projection onto joints and contacts: of positions by the least displacement, of velocities along what acts.
//!
//! Between events states are left alone: rows at the mean velocity keep energy, and let positions and speeds of rows
//! stray by O(h²) without growing. What decides, what is compared and what is shown is a projected copy.

use super::flow::{Flow, Origin, Stage, bodies, speed_scale, unsolved};
use super::frame::{Frame, contact, find_starts};
use super::schur::RigidJoints;
use crate::assemble::{self, Offsets, Places};
use crate::error::StepError;
use crate::scheme::{Form, Rows};
use crate::state::{ActiveConstraint, Hold, State};
use crate::system::{ConstraintId, ContactRow, JointRow, RowKind, System};
use stiction_lcp::problem::Layout;
use stiction_lcp::{ContactMode, Row, StepProblem};

/// Passes at most: from O(h²) away Newton's method takes two or three.
const PASSES: usize = 6;

/// Errors of positions below this part of the size are round-off.
const ROUND_OFF: f64 = 1e-15;

/// Where no point goes farther than this part of the size, Newton's method leaves its square, which is round-off, and
/// the equations are those of where it started to the same part, which a second correction of velocities makes good.
const NEAR: f64 = 1e-8;

/// Speeds along rows below this part of what small speeds are measured by move the middle of a step by nothing that
/// shows.
const STILL: f64 = 1e-12;

/// Storage of projections.
#[derive(Debug, Clone, Default)]
pub(super) struct Projector {
    problem: StepProblem,
    layout: Layout,
    places: Places,
    frame: Frame,
    modes: Vec<ContactMode>,
    schur: RigidJoints,
    starts: Vec<usize>,
    /// How the last projection moved positions, pass by pass, where a verifier is to see it.
    pub(super) displacements: Option<Vec<Vec<f64>>>,
}

/// Which velocity is made of the one at the start of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Straightened {
    /// v̂.
    Heading,
    /// w.
    Carried,
}

impl Projector {
    /// Projects a state: positions onto joints and closed gaps, then velocities onto the rows that hold in these
    /// modes, along the forces that hold them. Friction goes along with the normals of contacts that slip, or
    /// projecting would be of first order.
    pub(super) fn project<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &mut State,
        active: &[ActiveConstraint],
        flow: &mut Flow,
    ) -> Result<(), StepError> {
        if let Some(displacements) = &mut self.displacements {
            displacements.clear();
        }
        if active.is_empty() && self.directly(system, state, flow) {
            return Ok(());
        }
        let mut least = f64::INFINITY;
        for pass in 0..=PASSES {
            self.read(system, state, active, flow)?;
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
        let State { t, q, v, .. } = state;
        self.straighten(system, (*t, q), v, active, flow)
    }

    /// The velocity that leads to the middle of a part, v̂: without its speeds along the rows that hold at its start. And
    /// the one that these rows carry over, w: those at the mean velocity keep their speeds, those at the end lose them.
    /// All of them then ask for N(q_m)(v⁺ + w) = 0, so that rows that follow from others agree with them.
    ///
    /// Without location nobody knows what sticks or slips, and friction does not ring: it is left out, as are contacts
    /// that have just begun to bear, and every row carries v.
    pub(super) fn head<S: System + ?Sized>(
        &mut self,
        stage: &Stage<S>,
        origin: &Origin,
        located: bool,
        flow: &mut Flow,
    ) -> Result<(), StepError> {
        self.head_by(stage, origin, located, flow, |projector, which, v, flow| {
            let State { t, q, .. } = origin.state;
            let Frame { joints, contacts, .. } = &projector.frame;
            let direct = which == Straightened::Heading && contacts.is_empty();
            if direct && projector.schur.factor(stage.system, (*t, q), joints) {
                projector.schur.correct(|k| joints[k].drift, v);
                flow.solves += 1;
                return Ok(());
            }
            projector.straighten(stage.system, (*t, q), v, origin.active, flow)
        })
    }

    /// The same where `straighten` takes the speeds along the rows that were read out of a velocity.
    pub(super) fn head_by<S: System + ?Sized>(
        &mut self,
        stage: &Stage<S>,
        origin: &Origin,
        located: bool,
        flow: &mut Flow,
        mut straighten: impl FnMut(&mut Self, Straightened, &mut [f64], &mut Flow) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        flow.agreed = located;
        self.take(&flow.start);
        if !located {
            self.without_friction(origin.fresh);
        }
        let State { v, .. } = origin.state;
        find_starts(stage.system, &mut self.starts);
        let still = STILL * speed_scale(stage.system, origin.state, stage.whole);
        let [held, stuck] = self.speeds(v, if located { origin.active } else { &[] });
        if held.max(stuck) <= still {
            return Ok(());
        }
        let carries = stuck > still && stage.settings.rows.friction != Form::Mean;
        if carries && held > still {
            let Rows { joints, lasting, .. } = stage.settings.rows;
            let starts = &self.starts;
            for joint in self.frame.joints.iter_mut().filter(|j| positional(j)) {
                let form = if joint.kind == RowKind::Limit { lasting } else { joints };
                if form == Form::Mean {
                    joint.drift = -joint.row.dot(starts, v);
                }
            }
            if lasting == Form::Mean {
                self.frame.contacts.iter_mut().for_each(|c| c.drift = -c.normal.dot(starts, v));
            }
            let mut carried = std::mem::take(&mut flow.carried);
            let done = straighten(self, Straightened::Carried, &mut carried, flow);
            flow.carried = carried;
            done?;
            self.take(&flow.start);
        }
        let mut heading = std::mem::take(&mut flow.heading);
        let done = straighten(self, Straightened::Heading, &mut heading, flow);
        flow.heading = heading;
        if carries && held <= still {
            flow.carried.clone_from(&flow.heading);
        }
        done
    }

    fn take(&mut self, start: &Frame) {
        let Frame { joints, rows, contacts, .. } = &mut self.frame;
        joints.clone_from(&start.joints);
        rows.clone_from(&start.rows);
        contacts.clone_from(&start.contacts);
    }

    fn without_friction(&mut self, fresh: &[ActiveConstraint]) {
        let Frame { joints, rows, contacts, .. } = &mut self.frame;
        let drive = |j: &JointRow| matches!(j.kind, RowKind::Drive { .. });
        let mut k = 0;
        rows.retain(|_| {
            k += 1;
            !drive(&joints[k - 1])
        });
        joints.retain(|j| !drive(j));
        contacts.retain(|c| !fresh.iter().any(|b| b.constraint == ConstraintId::Contact(c.id)));
        contacts.iter_mut().for_each(|c| c.mu = 0.0);
    }

    /// The largest speed along the rows of joints, limits and normals, and along those of what sticks [m/s].
    fn speeds(&self, v: &[f64], active: &[ActiveConstraint]) -> [f64; 2] {
        let Frame { joints, rows, contacts, .. } = &self.frame;
        let speed = |row: &Row, drift: f64| (row.dot(&self.starts, v) + drift).abs();
        let held = joints.iter().filter(|j| positional(j)).map(|j| speed(&j.row, j.drift));
        let held = held.chain(contacts.iter().map(|c| speed(&c.normal, c.drift)));
        let sticks = |b: &&ActiveConstraint| b.hold == Hold::Stick;
        let holds = active.iter().filter(|b| contact(b).is_some()).zip(contacts);
        let stuck = holds.filter(|(b, c)| sticks(b) && c.mu > 0.0).flat_map(|(_, c)| &c.tangents);
        let stuck = stuck.map(|t| speed(&t.row, t.offset));
        let drives = joints.iter().zip(rows).filter_map(|(joint, &row)| {
            let RowKind::Drive { speed: sought, .. } = joint.kind else { return None };
            active.iter().filter(sticks).find(|b| b.constraint == ConstraintId::Joint(row))?;
            Some(speed(&joint.row, joint.drift - sought))
        });
        [held.fold(0.0, f64::max), stuck.chain(drives).fold(0.0, f64::max)]
    }

    /// The same where nothing bears and joints are rigid and not redundant.
    fn directly<S: System + ?Sized>(&mut self, system: &S, state: &mut State, flow: &mut Flow) -> bool {
        let (mut least, mut near) = (f64::INFINITY, false);
        for pass in 0..=PASSES {
            if self.read(system, state, &[], flow).is_err() {
                return false;
            }
            let (joints, at) = (&self.frame.joints, (state.t, &state.q[..]));
            let factored = if near {
                self.schur.update(system, at, joints)
            } else {
                self.schur.factor(system, at, joints)
            };
            if !factored {
                return false;
            }
            let error = self.error();
            if near || error <= ROUND_OFF * system.size() || !(error < 0.5 * least) || pass == PASSES {
                break;
            }
            flow.solves += 1;
            least = error;
            let mut displacement = vec![0.0; state.v.len()];
            self.schur.correct(|k| joints[k].error, &mut displacement);
            near = system.surface_speed(state.t, &state.q, &displacement) <= NEAR * system.size();
            system.advance(&mut state.q, &displacement, 1.0);
            if let Some(displacements) = &mut self.displacements {
                displacements.push(displacement);
            }
        }
        let joints = &self.frame.joints;
        self.schur.correct(|k| joints[k].drift, &mut state.v);
        flow.solves += 1;
        true
    }

    pub(super) fn read<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        active: &[ActiveConstraint],
        flow: &mut Flow,
    ) -> Result<(), StepError> {
        self.frame.read(system, (state.t, &state.q), active, None, &mut flow.cache)
    }

    pub(super) fn error(&self) -> f64 {
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
        self.pose_displacement(system, state);
        let Self { problem, modes, .. } = self;
        flow.solves += 1;
        let candidate = flow.lcp.solve_in_modes(problem, modes).map_err(|e| unsolved(state.t, e, problem))?;
        system.advance(&mut state.q, &candidate.velocity, 1.0);
        if let Some(displacements) = &mut self.displacements {
            displacements.push(candidate.velocity.clone());
        }
        flow.lcp.recycle_candidate(candidate);
        Ok(())
    }

    /// M dp = Nᵀλ, N dp = −g as a step problem, all of whose rows hold.
    pub(super) fn pose_displacement<S: System + ?Sized>(&mut self, system: &S, state: &State) {
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
        modes.resize(problem.contacts.len(), ContactMode::STICK);
    }

    /// v ← v − M⁻¹G (R M⁻¹G)⁻¹ (R v + ∂/∂t) with G = n + μ f where something slips.
    fn straighten<S: System + ?Sized>(
        &mut self,
        system: &S,
        (t, q): (f64, &[f64]),
        v: &mut [f64],
        active: &[ActiveConstraint],
        flow: &mut Flow,
    ) -> Result<(), StepError> {
        self.pose_velocity(system, (t, q), v, active);
        let Self { problem, modes, .. } = self;
        flow.solves += 1;
        let candidate = flow.lcp.solve_in_modes(problem, modes).map_err(|e| unsolved(t, e, problem))?;
        v.copy_from_slice(&candidate.velocity);
        flow.lcp.recycle_candidate(candidate);
        Ok(())
    }

    /// The problem that was posed last, and what its contacts do.
    pub(super) fn posed(&self) -> (&StepProblem, &Layout, &[ContactMode]) {
        (&self.problem, &self.layout, &self.modes)
    }

    /// M v⁺ = M v + G c, R v⁺ + ∂/∂t = 0 as a step problem in given modes.
    pub(super) fn pose_velocity<S: System + ?Sized>(
        &mut self,
        system: &S,
        (t, q): (f64, &[f64]),
        v: &[f64],
        active: &[ActiveConstraint],
    ) {
        let Self { problem, layout, places, frame, modes, .. } = self;
        bodies(system, t, q, problem);
        let mut at = 0;
        for body in &mut problem.bodies {
            let v = &v[at..at + body.velocities];
            for i in 0..body.velocities {
                body.momentum[i] = (0..body.velocities).map(|j| body.mass[(i, j)] * v[j]).sum();
            }
            at += body.velocities;
        }
        // compliant joints give way
        let rigid = |j: &JointRow| !matches!(j.kind, RowKind::Rigid(c) if c > 0.0);
        let mut k = 0;
        frame.rows.retain(|_| {
            k += 1;
            rigid(&frame.joints[k - 1])
        });
        frame.joints.retain(rigid);
        let drift = |j: &JointRow| j.drift;
        let offsets = Offsets { joint: &drift, contact: &|c: &ContactRow| c.drift, limit: &drift };
        // a projection is an instant: drives have no bound there and only hold where they stick
        assemble::rows(problem, places, 0.0, &frame.joints, &frame.contacts, &offsets);
        problem.joints.iter_mut().for_each(|j| j.compliance = 0.0);
        problem.lay_out(layout);
        problem.speed_scale = system.surface_speed(t, q, v).max(f64::MIN_POSITIVE);
        frame.modes(active, modes);
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
