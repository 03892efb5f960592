//! Unique impulses of a solved step: the least-norm member of all impulses that cause the same motion, island by
//! island, and whether the impulse of each contact is the same in all of them.
//!
//! With the modes of the solution each contact has a cone K: nothing if it opens, its friction cone if it sticks, a ray
//! if it slips. The impulses are min ½‖z‖² over z in K with Jᵀ z = p, p the momentum that the solution transfers. Equal
//! weights are a choice: rigid bodies do not determine how they share a load.

mod cone;
mod dual;

use super::island::{Island, JointBlock, Lane, OWN, add, scaled};
use super::iterate::{ContactVector, Iterate, length};
use super::trials::IslandSolver;
use super::{MAX_SERIAL_ROWS, StructuredWorkspace};
use crate::mode::Mode;
use crate::problem::{Layout, StepProblem};
use crate::profile::Phase;
use crate::task::Task;
use cone::ImpulseCone;
use dual::UniqueDual;
use rayon::prelude::*;

/// Solution whose impulses are to be made unique.
#[derive(Clone, Copy)]
pub(crate) struct SolvedStep<'a> {
    /// Problem.
    pub(crate) step: &'a StepProblem,
    /// Impulses [N s].
    pub(crate) z: &'a [f64],
    /// Velocity.
    pub(crate) v: &'a [f64],
    /// Speed of each row, as the certificate computes it [m/s].
    pub(crate) w: &'a [f64],
    /// Speed up to which a contact is closed, and sticks [m/s].
    pub(crate) closed: f64,
    /// Unique impulses of the last step, whose faces are tried first; empty for none.
    pub(crate) guess: &'a [f64],
    /// Weight of the impulses of each contact in the norm; 1 beyond the end.
    pub(crate) weights: &'a [f64],
}

/// Contacts and joint rows with the same impulse in all members of the set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Determined {
    /// For each contact of the problem.
    pub(crate) contacts: Vec<bool>,
    /// For each joint row.
    pub(crate) joints: Vec<bool>,
    /// Modes for which they were found.
    modes: Vec<Mode>,
}

impl Determined {
    /// Whether the flags belong to a problem with these modes and this number of joint rows.
    fn belongs_to(&self, modes: &[Mode], joints: usize) -> bool {
        self.modes == modes && self.joints.len() == joints
    }
}

/// Storage of the least-norm impulses of an island.
#[derive(Debug, Clone, Default)]
pub(super) struct UniqueIsland<const T: usize> {
    cones: Vec<ImpulseCone>,
    /// Impulses per unit of the normal impulse that are tied to it: friction of a contact that slips.
    tied: Vec<[f64; T]>,
    /// Length of the tied column of each contact.
    lengths: Vec<f64>,
    dual: UniqueDual<T>,
    result: IslandResult,
}

/// Start of an island.
#[derive(Debug, Clone, Copy)]
struct Start {
    /// Whether it is known which impulses are determined.
    is_known: bool,
    /// Whether there are impulses whose faces are tried first.
    guess: bool,
}

/// Result of an island.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum IslandResult {
    /// The impulses of the solution are the only ones.
    #[default]
    Unique,
    /// Least-norm impulses are in the iterate.
    LeastNorm,
    /// The iteration ended above its residual.
    Failed,
}

impl StructuredWorkspace {
    /// Finds the least-norm impulses, and which of them are determined. Returns them if they differ from those of the
    /// solution in any island; then the caller certifies them.
    pub(crate) fn unique(&mut self, solved: &SolvedStep, task: &mut Task) -> Option<&[f64]> {
        self.find_modes(solved, &task.prepared().layout);
        self.solve_unique(solved, task).then_some(&self.z[..])
    }

    /// Finds which impulses of a solution are determined, unless they are known from the last step in the same modes.
    pub(crate) fn determine(&mut self, solved: &SolvedStep, task: &mut Task) {
        self.find_modes(solved, &task.prepared().layout);
        if !self.determined.belongs_to(&self.modes, solved.step.joints.len()) {
            self.solve_unique(solved, task);
        }
    }

    /// Forgets what is determined: for problems that the method does not support.
    pub(crate) fn determine_nothing(&mut self, step: &StepProblem) {
        let Determined { contacts, joints, modes } = &mut self.determined;
        modes.clear();
        contacts.clear();
        contacts.resize(step.contacts.len(), false);
        joints.clear();
        joints.resize(step.joints.len(), false);
    }

    /// Contacts and joint rows whose impulses are determined, after [`Self::unique`] or [`Self::determine`].
    pub(crate) fn determined(&self) -> &Determined {
        &self.determined
    }

    fn solve_unique(&mut self, solved: &SolvedStep, task: &mut Task) -> bool {
        let begun = self.factoring;
        self.factoring = 0.0;
        self.split(solved.step);
        self.z.clear();
        self.z.extend_from_slice(solved.z);
        self.known = self.determined.belongs_to(&self.modes, solved.step.joints.len());
        if !self.known {
            let Determined { contacts, joints, modes } = &mut self.determined;
            contacts.clear();
            contacts.resize(solved.step.contacts.len(), true);
            joints.clear();
            joints.resize(solved.step.joints.len(), true);
            modes.clone_from(&self.modes);
        }
        let tangents = solved.step.contacts.iter().map(|c| c.tangents.len()).max().unwrap_or(0);
        let changed = match tangents {
            0 | 1 => self.unique_islands(|own| &mut own.one_tangent, solved, task),
            2 => self.unique_islands(|own| &mut own.two_tangents, solved, task),
            _ => self.unique_islands(|own| &mut own.three_tangents, solved, task),
        };
        task.profile().reassign(Phase::Factorization, self.factoring);
        self.factoring = begun;
        changed
    }

    /// Modes of all contacts by the speeds of their rows. Here open means that no impulse is possible.
    fn find_modes(&mut self, solved: &SolvedStep, layout: &Layout) {
        let &SolvedStep { step, w, closed, .. } = solved;
        self.modes.clear();
        for (i, contact) in step.contacts.iter().enumerate() {
            let open = step.bound_by(i).is_some_and(|by| w[layout.contact[by]] > closed);
            let own = &w[layout.contact[i]..layout.contact[i + 1]];
            let slip = &own[usize::from(contact.normal.is_some())..];
            self.modes.push(if open {
                Mode::Open
            } else if slip.iter().any(|u| u.abs() > closed) {
                Mode::Slip
            } else {
                Mode::Stick
            });
        }
    }

    fn unique_islands<const T: usize>(
        &mut self,
        solvers: impl Fn(&mut Self) -> &mut Vec<IslandSolver<T>>,
        solved: &SolvedStep,
        task: &mut Task,
    ) -> bool {
        let prepared = task.prepared();
        let timed = task.profile().is_running();
        let count = self.partition.len();
        let mut all = std::mem::take(solvers(self));
        if all.len() < count {
            all.resize_with(count, IslandSolver::default);
        }
        let Self { partition, local, modes, determined, known, .. } = &*self;
        let mobilities = task.mobilities();
        let work = |(i, own): (usize, &mut IslandSolver<T>)| {
            (own.equations.timed, own.equations.seconds) = (timed, 0.0);
            let members = partition.island(i);
            let unique = || {
                members.contacts.iter().all(|&c| determined.contacts[c])
                    && members.joints.iter().all(|&j| determined.joints[j])
            };
            if if *known { unique() } else { loops(solved.step, &members) == 0 } {
                own.unique.result = IslandResult::Unique;
                own.island.contacts.clear();
                own.island.joint_blocks.clear();
                return;
            }
            own.island.read(solved.step, &prepared, mobilities, members, local);
            own.best.read(&own.island, solved.step, &prepared.layout, solved.z);
            own.best.read_velocities(&own.island, &prepared.layout, solved.v);
            let guess = solved.guess.len() == solved.z.len();
            own.at.read(
                &own.island,
                solved.step,
                &prepared.layout,
                if guess { solved.guess } else { solved.z },
            );
            own.find_unique(solved, modes, Start { is_known: *known, guess });
        };
        let size = solved.step.contacts.len() + solved.step.joints.len();
        if count > 1 && size > MAX_SERIAL_ROWS {
            all[..count].par_iter_mut().enumerate().for_each(work);
        } else {
            all[..count].iter_mut().enumerate().for_each(work);
        }
        let failed = all[..count].iter().any(|own| own.unique.result == IslandResult::Failed);
        let mut changed = false;
        for own in &all[..count] {
            self.factoring += own.equations.seconds;
            if !self.known {
                own.write_determined(&mut self.determined);
            }
            if !failed && own.unique.result == IslandResult::LeastNorm {
                changed = true;
                own.best.write(&own.island, solved.step, &prepared.layout, &mut self.z);
            }
        }
        *solvers(self) = all;
        changed
    }
}

/// Number of independent loops of an island that joints and contacts close, the world a body like any other. Without
/// one each joint and contact carries what its side of the tree needs, and all impulses are determined.
fn loops(step: &StepProblem, members: &super::island::IslandMembers) -> usize {
    let mut edges = members.contacts.len();
    let mut grounded = false;
    let mut last = (usize::MAX, [None; 2]);
    for &j in members.joints {
        let ends = super::partition::ends(&step.joints[j].row.row);
        grounded |= ends[1].is_none();
        // consecutive rows of the same two bodies are one joint
        if last != (j.wrapping_sub(1), ends) {
            edges += 1;
        }
        last = (j, ends);
    }
    let ends = |c: &usize| super::island::bodies_of(step, &step.contacts[*c]);
    grounded |= members.contacts.iter().any(|c| ends(c)[1].is_none());
    let nodes = members.bodies.len() + usize::from(grounded);
    (edges + 1).saturating_sub(nodes)
}

impl<const T: usize> IslandSolver<T> {
    /// Finds the least-norm impulses of the island, from the solution in `best`, into `best`.
    fn find_unique(&mut self, solved: &SolvedStep, modes: &[Mode], start: Start) {
        let Self { island, best, at, unique, equations, .. } = self;
        unique.choose_ties(island, best, modes, solved);
        weigh(island, solved, [&mut best.r, &mut at.r]);
        unique.choose_cones(island, modes);
        unique.tie(island, modes);
        for joint in &mut island.joint_blocks {
            free_rows(joint);
        }
        unique.dual.begin(island, &unique.cones, best, &unique.lengths);
        equations.lay_out(island);
        let guess = start.guess.then_some((&at.r[..], &unique.lengths[..]));
        unique.result = unique.dual.solve(island, &unique.cones, equations, guess, start.is_known);
        if unique.result == IslandResult::LeastNorm {
            unique.read(&mut best.r);
            for (c, (joint, own)) in best.c.iter_mut().zip(island.joint_blocks.iter().zip(&unique.dual.c)) {
                for k in (0..joint.rows).filter(|&k| joint.compliance[k] == FREE_ROW) {
                    c[k] = own[k];
                }
            }
            self.unweigh(solved);
        }
    }

    /// Undoes [`weigh`] for the impulses.
    fn unweigh(&mut self, solved: &SolvedStep) {
        for (contact, r) in self.island.contacts.iter_mut().zip(&mut self.best.r) {
            let weight = weight(solved, contact.index);
            contact.mu /= weight;
            contact.kappa /= weight;
            r.t.iter_mut().for_each(|t| *t /= weight);
        }
    }

    /// Writes which impulses of the island are determined.
    fn write_determined(&self, out: &mut Determined) {
        let dual = &self.unique.dual;
        for (i, contact) in self.island.contacts.iter().enumerate() {
            out.contacts[contact.index] = dual.contact_is_determined(i);
        }
        for (i, joint) in self.island.joint_blocks.iter().enumerate() {
            for k in 0..joint.rows {
                out.joints[joint.first_row + k] = dual.joint_is_determined(i, k);
            }
        }
    }
}

/// Weight of the impulses of a contact of the problem.
fn weight(solved: &SolvedStep, contact: usize) -> f64 {
    solved.weights.get(contact).copied().unwrap_or(1.0)
}

/// Friction impulse from which its direction is certain, in units of the residual of the solution [-]. Sensible range 10
/// to 1e4: lower takes round-off for a direction, higher contradicts the solution.
const CERTAIN_DIRECTION: f64 = 100.0;

/// Scales rows and impulses by the weights: z' = w z, J' = J / w, so that norms are Euclidean.
#[allow(clippy::float_cmp, reason = "a weight of exactly 1 changes nothing")]
fn weigh<const T: usize>(
    island: &mut Island<T>,
    solved: &SolvedStep,
    impulses: [&mut [ContactVector<T>]; 2],
) {
    let [r, guess] = impulses;
    for ((contact, r), guess) in island.contacts.iter_mut().zip(r).zip(guess) {
        let weight = weight(solved, contact.index);
        if weight != 1.0 {
            contact.t.iter_mut().flatten().for_each(|part| *part = scaled(1.0 / weight, part));
            contact.mu *= weight;
            contact.kappa *= weight;
            r.t.iter_mut().chain(&mut guess.t).for_each(|t| *t *= weight);
        }
    }
}

/// Compliance that marks a joint row whose impulse is an unknown, and makes the eliminated row ν νᵀ.
const FREE_ROW: f64 = 1.0;

/// Makes the rows of a joint unknowns of the dual. A compliant row has the impulse that its speed gives it.
fn free_rows(joint: &mut JointBlock) {
    for k in 0..joint.rows {
        if joint.compliance[k] > 0.0 {
            joint.j[k] = [[0.0; 8]; 2];
            joint.compliance[k] = 2.0 * FREE_ROW;
        } else {
            joint.compliance[k] = FREE_ROW;
        }
        joint.w[k] = 0.0;
    }
}

impl<const T: usize> UniqueIsland<T> {
    /// Friction that is tied to the normal impulse of contacts that slip: in the ratio of the solution's own impulses, so
    /// that these are in the set. Where they are round-off, it is against the slip.
    fn choose_ties(&mut self, island: &Island<T>, at: &Iterate<T>, modes: &[Mode], solved: &SolvedStep) {
        self.tied.clear();
        for (contact, r) in island.contacts.iter().zip(&at.r) {
            let slips = modes[contact.index] == Mode::Slip && contact.has_friction;
            let weight = weight(solved, contact.index);
            self.tied.push(if !slips {
                [0.0; T]
            } else if contact.w_t * length(&r.t) > CERTAIN_DIRECTION * solved.closed {
                r.t.map(|t| weight * t / r.n)
            } else {
                let against = contact.speeds(&at.v).t;
                let size = length(&against);
                against.map(|u| -weight * contact.mu * u / size)
            });
        }
    }

    /// Chooses the cone of each contact.
    fn choose_cones(&mut self, island: &Island<T>, modes: &[Mode]) {
        self.cones.clear();
        for contact in &island.contacts {
            let mode = modes[contact.index];
            let slips = mode == Mode::Slip && contact.has_friction;
            let mu = if contact.has_friction && !slips { contact.mu } else { 0.0 };
            self.cones.push(if contact.is_bound_by_other() || (mode == Mode::Open && contact.has_normal) {
                ImpulseCone::Nothing
            } else if contact.has_normal {
                ImpulseCone::Contact { mu, roll: OWN, roll_mu: 0.0 }
            } else if slips {
                ImpulseCone::Nothing
            } else {
                ImpulseCone::Ball { bound: contact.kappa }
            });
        }
        for (i, contact) in island.contacts.iter().enumerate().filter(|(_, c)| c.is_bound_by_other()) {
            if let ImpulseCone::Contact { roll, roll_mu, .. } = &mut self.cones[contact.bound_by as usize] {
                let slips = modes[contact.index] == Mode::Slip;
                *roll = super::island::number(i);
                *roll_mu = if slips { 0.0 } else { contact.mu };
            }
        }
    }

    /// Replaces rows: the normal row of a contact takes the friction that is tied to it, at unit length of the column;
    /// rows without unknowns become zero.
    fn tie(&mut self, island: &mut Island<T>, modes: &[Mode]) {
        self.lengths.clear();
        self.lengths.resize(island.contacts.len(), 1.0);
        for i in 0..island.contacts.len() {
            let slips = modes[island.contacts[i].index] == Mode::Slip;
            match self.cones[i] {
                ImpulseCone::Nothing => {
                    if !island.contacts[i].is_bound_by_other() {
                        clear(&mut island.contacts[i]);
                    }
                }
                ImpulseCone::Ball { .. } => {}
                ImpulseCone::Contact { roll, .. } => {
                    let mut rows = island.contacts[i].n;
                    let mut square = 1.0;
                    for j in [Some(i), (roll != OWN).then_some(roll as usize)].into_iter().flatten() {
                        let contact = &mut island.contacts[j];
                        if modes[contact.index] == Mode::Slip {
                            square += self.tied[j].iter().map(|x| x * x).sum::<f64>();
                            tie_rows(&mut rows, &contact.t, &self.tied[j]);
                            contact.t = [[[0.0; 8]; 2]; T];
                        }
                    }
                    self.lengths[i] = square.sqrt();
                    island.contacts[i].n = rows.map(|part| scaled(1.0 / self.lengths[i], &part));
                    if let ImpulseCone::Contact { mu, roll_mu, .. } = &mut self.cones[i] {
                        *mu /= self.lengths[i];
                        *roll_mu /= self.lengths[i];
                    }
                    debug_assert!(!slips || island.contacts[i].t == [[[0.0; 8]; 2]; T]);
                }
            }
        }
        // rolling friction of contacts that open
        for i in 0..island.contacts.len() {
            let contact = &island.contacts[i];
            if contact.is_bound_by_other() && self.cones[contact.bound_by as usize] == ImpulseCone::Nothing {
                clear(&mut island.contacts[i]);
            }
        }
    }

    /// Impulses of the contacts from the unknowns of the dual.
    fn read(&self, r: &mut [ContactVector<T>]) {
        for (i, cone) in self.cones.iter().enumerate() {
            match *cone {
                // open contacts, and drives that slip, keep their impulses
                ImpulseCone::Nothing => {}
                ImpulseCone::Ball { .. } => r[i].t = self.dual.z[i].t,
                ImpulseCone::Contact { roll, .. } => {
                    let normal = self.dual.z[i].n / self.lengths[i];
                    for j in [Some(i), (roll != OWN).then_some(roll as usize)].into_iter().flatten() {
                        r[j].n = normal;
                        r[j].t = std::array::from_fn(|k| self.dual.z[j].t[k] + normal * self.tied[j][k]);
                    }
                }
            }
        }
    }
}

/// rows += Σ tied_k t_k.
fn tie_rows<const T: usize>(rows: &mut [Lane; 2], t: &[[Lane; 2]; T], tied: &[f64; T]) {
    for (t, &x) in t.iter().zip(tied) {
        rows.iter_mut().zip(t).for_each(|(row, t)| add(row, x, t));
    }
}

/// Takes all rows from a contact.
fn clear<const T: usize>(contact: &mut super::island::IslandContact<T>) {
    contact.n = [[0.0; 8]; 2];
    contact.t = [[[0.0; 8]; 2]; T];
}
