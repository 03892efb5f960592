//! Newton's method from near a solution: every contact is taken to be open, to stick or to slip as the impulses
//! say, and what then are equations is solved.
//!
//! Redundant contacts may bear in many ways. The one found is, as far as the modes allow, that of the least impulses:
//! the corners of a box at rest all bear, none is about to let go, and the modes do not depend on the last bits.
//! Redundant contacts also make those equations singular, and round-off of positions makes them disagree by a little. So
//! they are solved by proximal steps, which are regular, in the space of velocities; repeated, they leave no trace
//! of the regularization where the equations agree.

use crate::certificate::Candidate;
use crate::factor::DenseLu;
use crate::problem::{Contact, FrictionLaw, FrictionSet, OffsetRow, Prepared, StepProblem};
use crate::solution::{Solution, Stage, Work};
use crate::solve::Task;

/// Times the modes are chosen anew at most: near a solution they change once or twice.
const ROUNDS: usize = 8;

/// Proximal steps in a round at most; each divides the residual by the smallest eigenvalue of W over [`PROXIMAL`].
const STEPS: usize = 6;

/// Change of velocities, in units of the residual at the start, beyond which another solution was found: stacks and
/// mass ratios amplify, and contacts that may bear in many ways may let go in many.
const LEAP: f64 = 1e3;

/// Residuals below this are round-off.
pub(crate) const ROUND_OFF: f64 = 1e-14;

/// The proximal term, as a part of the diagonal of W. Larger takes more steps, smaller loses digits: the matrix has
/// a condition of its inverse.
const PROXIMAL: f64 = 1e-6;

/// Velocities at most: the matrix is dense.
const LIMIT: usize = 600;

/// Storage of Newton's method, kept from problem to problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct Storage {
    /// The impulses along joint, normal and tangent rows.
    joints: Vec<f64>,
    contacts: Vec<[f64; 3]>,
    /// W of the normal row and the mean of the tangent rows.
    mobility: Vec<[f64; 2]>,
    equations: Vec<Equation>,
    matrix: Vec<f64>,
    response: Vec<f64>,
    velocity: Vec<f64>,
    lu: DenseLu,
    z: Vec<f64>,
}

/// An unknown impulse along a column G with the equation `R v + offset + compliance · impulse = 0`.
#[derive(Debug, Clone, Copy)]
struct Equation {
    place: Place,
    /// ε, and the compliance with it [m/s per N s].
    give: f64,
    residual: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Joint(usize),
    /// The normal row; friction goes along with this much per unit of impulse.
    Normal(usize, [f64; 2]),
    /// Along this direction of the tangent rows.
    Tangent(usize, [f64; 2]),
}

/// What a contact is taken to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ContactMode {
    /// No impulse.
    Open,
    /// No speed along any of its rows.
    Stick,
    /// No speed along the normal; the friction impulse is this, in the directions of the tangent rows, times its
    /// bound.
    Slip([f64; 2]),
}

/// Proximal steps towards given modes at most: round-off is reached sooner.
const MODE_STEPS: usize = 12;

/// The impulses with which every contact does what its mode says, left in `task`'s storage, and their certificate.
pub(crate) fn solve_in_modes(step: &StepProblem, task: &mut Task, modes: &[ContactMode]) -> Candidate {
    let mut storage = std::mem::take(task.newton());
    let prepared = task.prepared();
    storage.impose(step, &prepared, modes);
    let regular = storage.factor(step, &prepared);
    storage.write(step, &prepared, f64::NEG_INFINITY);
    let mut v = std::mem::take(&mut storage.velocity);
    let mut before = f64::INFINITY;
    for _ in 0..MODE_STEPS {
        task.velocity(&storage.z, &mut v);
        let residual = if regular { storage.advance(step, &prepared, &v) } else { None };
        // the first step goes almost all of the way, and the next ones see what is left of it
        let Some(residual) = residual.filter(|r| *r < 0.5 * before) else { break };
        before = residual;
        storage.write(step, &prepared, f64::NEG_INFINITY);
        if residual == 0.0 {
            break;
        }
    }
    let found = task.certify(&storage.z);
    storage.velocity = v;
    *task.newton() = storage;
    found
}

/// A solution near `start`, if Newton's method finds one.
pub(crate) fn polish(step: &StepProblem, task: &mut Task, start: &[f64], work: &Work) -> Option<Solution> {
    // corners and edges are those of polygons over two rows at most; what spins or rolls is left to other methods
    let polygons = |c: &Contact| {
        c.tangents.len() < 3
            && c.bound_by.is_none()
            && (c.tangents.is_empty() || matches!(c.set, FrictionSet::Polygon(_)))
    };
    let velocities = task.prepared().layout.velocities();
    if step.law != FrictionLaw::Coulomb || velocities > LIMIT || !step.contacts.iter().all(polygons) {
        return None;
    }
    let mut storage = std::mem::take(task.newton());
    let found = [true, false].into_iter().find_map(|anew| storage.run(step, task, start, anew, work));
    *task.newton() = storage;
    found
}

impl Storage {
    /// From `start`, or `anew`: from its modes alone, with what all but touches bearing as little as need be.
    fn run(
        &mut self,
        step: &StepProblem,
        task: &mut Task,
        start: &[f64],
        anew: bool,
        work: &Work,
    ) -> Option<Solution> {
        let prepared = task.prepared();
        self.take(step, &prepared, start);
        let mut at = task.certify(start);
        let mut best = task.certify(start);
        let mut rounds = 0;
        'rounds: while rounds < ROUNDS {
            rounds += 1;
            let band =
                if rounds == 1 && anew { 2.0 * at.certificate.worst() * at.certificate.speed } else { 0.0 };
            self.choose_modes(step, &prepared, &at, band);
            if rounds == 1 && anew {
                self.forget();
            }
            if !self.factor(step, &prepared) {
                break;
            }
            let mut before = f64::INFINITY;
            for _ in 0..STEPS {
                self.write(step, &prepared, 0.0);
                task.recycle(std::mem::take(&mut at));
                at = task.certify(&self.z);
                let worst = at.certificate.worst();
                if worst < best.certificate.worst() {
                    let better = task.certify(&self.z);
                    task.recycle(std::mem::replace(&mut best, better));
                }
                let stuck = !(worst < 0.5 * before);
                before = worst;
                if worst <= ROUND_OFF || (stuck && best.certificate.passes(task.tolerance())) {
                    break 'rounds;
                }
                if stuck || self.advance(step, &prepared, &at.velocity).is_none() {
                    break;
                }
            }
        }
        // a warm start that is all but a solution belongs to the one next to it, not to another far away
        let old = std::mem::replace(&mut at, task.certify(start));
        task.recycle(old);
        let moved = at.velocity.iter().zip(&best.velocity).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        let near = moved <= LEAP * at.certificate.worst() * at.certificate.speed;
        task.recycle(at);
        if !near {
            task.recycle(best);
            return None;
        }
        let work = Work { stage: Stage::Newton, rounds: work.rounds + rounds, ..work.clone() };
        task.accept(best, work).map_err(|best| task.recycle(best)).ok()
    }

    /// Reads the impulses of `z`, and the mobility of the contacts.
    fn take(&mut self, step: &StepProblem, prepared: &Prepared, z: &[f64]) {
        let Prepared { layout, mass } = prepared;
        self.joints.clear();
        self.joints.extend_from_slice(&z[..step.joints.len()]);
        self.response.clear();
        self.response.resize(layout.velocities(), 0.0);
        self.contacts.clear();
        self.mobility.clear();
        for (i, contact) in step.contacts.iter().enumerate() {
            let own = &z[layout.contact[i]..layout.contact[i + 1]];
            let normal = usize::from(contact.normal.is_some());
            let p = contact.tangent_impulse(&own[normal..]);
            self.contacts.push([if normal == 1 { own[0] } else { 0.0 }, p[0], p[1]]);
            let mut w = |row: &OffsetRow| {
                mass.respond(&row.row, &layout.velocity, &mut self.response);
                let w = row.row.dot(&layout.velocity, &self.response);
                mass.clear(&row.row, &layout.velocity, &mut self.response);
                w
            };
            let along = contact.normal.as_ref().map_or(0.0, &mut w);
            let across: f64 = contact.tangents.iter().map(&mut w).sum();
            self.mobility.push([along, across / contact.tangents.len().max(1) as f64]);
        }
    }

    /// The equations of given modes; no impulse is known.
    fn impose(&mut self, step: &StepProblem, prepared: &Prepared, modes: &[ContactMode]) {
        self.z.clear();
        self.z.resize(prepared.layout.impulses, 0.0);
        let zero = std::mem::take(&mut self.z);
        self.take(step, prepared, &zero);
        self.z = zero;
        self.equations.clear();
        self.hold_joints(step, prepared);
        for (i, contact) in step.contacts.iter().enumerate() {
            let [w_n, w_t] = self.mobility[i];
            let mode = modes.get(i).copied().unwrap_or(ContactMode::Open);
            if mode == ContactMode::Open {
                continue;
            }
            let friction = if let ContactMode::Slip([x, y]) = mode { [x, y] } else { [0.0; 2] };
            let mut hold = |place: Place, w: f64| {
                self.equations.push(Equation { place, give: PROXIMAL * w, residual: 0.0 });
            };
            if contact.normal.is_some() {
                hold(Place::Normal(i, friction.map(|f| contact.mu * f)), w_n);
            }
            if mode == ContactMode::Stick {
                for (k, _) in contact.tangents.iter().enumerate() {
                    hold(Place::Tangent(i, [[1.0, 0.0], [0.0, 1.0]][k]), w_t);
                }
            }
            self.contacts[i] = [0.0, contact.kappa * friction[0], contact.kappa * friction[1]];
        }
    }

    fn hold_joints(&mut self, step: &StepProblem, prepared: &Prepared) {
        let start = &prepared.layout.velocity;
        for (i, joint) in step.joints.iter().enumerate() {
            prepared.mass.respond(&joint.row.row, start, &mut self.response);
            let w = joint.row.row.dot(start, &self.response);
            prepared.mass.clear(&joint.row.row, start, &mut self.response);
            let give = joint.compliance + PROXIMAL * w;
            self.equations.push(Equation { place: Place::Joint(i), give, residual: 0.0 });
        }
    }

    /// Impulses of which nothing is known but the modes.
    fn forget(&mut self) {
        for equation in &self.equations {
            match equation.place {
                Place::Joint(_) => {}
                Place::Normal(i, [x, y]) => {
                    let own = &mut self.contacts[i];
                    *own = [0.0, own[1] - x * own[0], own[2] - y * own[0]];
                }
                Place::Tangent(i, [x, y]) => {
                    let own = &mut self.contacts[i];
                    let along = own[1] * x + own[2] * y;
                    *own = [own[0], own[1] - along * x, own[2] - along * y];
                }
            }
        }
    }

    /// Chooses the mode of each contact where its natural map lies, and lets its impulse obey that mode. Contacts
    /// slower than `band` [m/s] bear.
    fn choose_modes(&mut self, step: &StepProblem, prepared: &Prepared, at: &Candidate, band: f64) {
        let start = &prepared.layout.velocity;
        self.equations.clear();
        self.hold_joints(step, prepared);
        for (i, contact) in step.contacts.iter().enumerate() {
            let [w_n, w_t] = self.mobility[i];
            let speed = |row: &OffsetRow| row.row.dot(start, &at.velocity) + row.offset;
            let own = &mut self.contacts[i];
            if let Some(normal) = &contact.normal {
                // min(W c, w) is the speed where c − w/W is positive, the impulse elsewhere
                if !(w_n * own[0] > speed(normal) - band) {
                    *own = [0.0; 3];
                    continue;
                }
            }
            let bound = contact.mu * own[0].max(0.0) + contact.kappa;
            let mut sought = [own[1], own[2]];
            for (x, tangent) in sought.iter_mut().zip(&contact.tangents) {
                *x -= speed(tangent) / w_t;
            }
            let still = contact.tangents.iter().all(|t| speed(t).abs() < band);
            let slip = if contact.tangents.is_empty() || still { None } else { slip(contact, sought, bound) };
            let direction = match &slip {
                None => [0.0; 2],
                Some(Slip::Corner(f) | Slip::Edge { middle: f, .. }) => {
                    [contact.mu * f[0], contact.mu * f[1]]
                }
            };
            if contact.normal.is_some() {
                let place = Place::Normal(i, direction);
                self.equations.push(Equation { place, give: PROXIMAL * w_n, residual: 0.0 });
            }
            let mut tangent = |along: [f64; 2]| {
                let place = Place::Tangent(i, along);
                self.equations.push(Equation { place, give: PROXIMAL * w_t, residual: 0.0 });
            };
            match slip {
                None => [[1.0, 0.0], [0.0, 1.0]][..contact.tangents.len()].iter().for_each(|&e| tangent(e)),
                Some(Slip::Corner(f)) => [own[1], own[2]] = [bound * f[0], bound * f[1]],
                Some(Slip::Edge { middle, along }) => {
                    let y = (own[1] - bound * middle[0]) * along[0] + (own[2] - bound * middle[1]) * along[1];
                    [own[1], own[2]] = [bound * middle[0] + y * along[0], bound * middle[1] + y * along[1]];
                    tangent(along);
                }
            }
        }
    }

    /// M̃ + G ε⁻¹ R, factored.
    fn factor(&mut self, step: &StepProblem, prepared: &Prepared) -> bool {
        let start = &prepared.layout.velocity;
        let n = prepared.layout.velocities();
        let matrix = &mut self.matrix;
        matrix.clear();
        matrix.resize(n * n, 0.0);
        for (body, &s) in step.bodies.iter().zip(start) {
            for i in 0..body.velocities {
                for j in 0..body.velocities {
                    matrix[(s + i) * n + s + j] += body.mass[(i, j)];
                }
            }
        }
        for pair in &step.pairs {
            let (a, b) = (start[pair.a], start[pair.b]);
            for i in 0..step.bodies[pair.a].velocities {
                for j in 0..step.bodies[pair.b].velocities {
                    matrix[(a + i) * n + b + j] += pair.ab[(i, j)];
                    matrix[(b + j) * n + a + i] += pair.ba[(j, i)];
                }
            }
        }
        for equation in &self.equations {
            each_part(step, equation.place, true, |column, x| {
                each_part(step, equation.place, false, |row, y| {
                    let weight = x * y / equation.give;
                    column.row.for_each(start, |i, g| {
                        row.row.for_each(start, |j, r| matrix[i * n + j] += weight * g * r);
                    });
                });
            });
        }
        self.lu.factorize(n, |i, j| matrix[i * n + j])
    }

    /// One proximal step of the impulses that give the velocity `v`: (M̃ + G ε⁻¹ R) δv = −G ε⁻¹ r, δc = −ε⁻¹ (r + R δv). Returns the largest
    /// residual it started from; none if the step is not finite.
    fn advance(&mut self, step: &StepProblem, prepared: &Prepared, v: &[f64]) -> Option<f64> {
        let start = &prepared.layout.velocity;
        let change = &mut self.response;
        change.fill(0.0);
        for equation in &mut self.equations {
            let mut residual = match equation.place {
                Place::Joint(i) => step.joints[i].compliance * self.joints[i],
                _ => 0.0,
            };
            each_part(step, equation.place, false, |row, y| {
                residual += y * (row.row.dot(start, v) + row.offset);
            });
            equation.residual = residual;
            let weight = -residual / equation.give;
            each_part(step, equation.place, true, |row, x| row.row.add_transposed(start, weight * x, change));
        }
        self.lu.solve(change);
        for equation in &self.equations {
            let mut left = equation.residual;
            each_part(step, equation.place, false, |row, y| left += y * row.row.dot(start, change));
            let more = -left / equation.give;
            match equation.place {
                Place::Joint(i) => self.joints[i] += more,
                Place::Normal(i, [x, y]) => {
                    let own = &mut self.contacts[i];
                    *own = [own[0] + more, own[1] + x * more, own[2] + y * more];
                }
                Place::Tangent(i, [x, y]) => {
                    let own = &mut self.contacts[i];
                    *own = [own[0], own[1] + x * more, own[2] + y * more];
                }
            }
        }
        let finite = change.iter().all(|v| v.is_finite());
        finite.then(|| self.equations.iter().fold(0.0, |worst: f64, e| worst.max(e.residual.abs())))
    }

    /// The impulses as unknowns, normal ones at least `least`.
    fn write(&mut self, step: &StepProblem, prepared: &Prepared, least: f64) {
        let layout = &prepared.layout;
        self.z.clear();
        self.z.extend_from_slice(&self.joints);
        self.z.resize(layout.impulses, 0.0);
        for (i, contact) in step.contacts.iter().enumerate() {
            let own = &mut self.z[layout.contact[i]..layout.contact[i + 1]];
            let [normal, p, q] = self.contacts[i];
            let friction = if contact.normal.is_some() {
                own[0] = normal.max(least);
                &mut own[1..]
            } else {
                own
            };
            if !contact.tangents.is_empty() {
                contact.friction_unknowns([p, q, 0.0], friction);
            }
        }
    }
}

/// The rows of an equation with their weights: those the impulse acts along, or those it holds.
fn each_part(step: &StepProblem, place: Place, acts: bool, mut part: impl FnMut(&OffsetRow, f64)) {
    let mut tangents = |i: usize, along: [f64; 2]| {
        for (row, x) in step.contacts[i].tangents.iter().zip(along).filter(|(_, x)| *x != 0.0) {
            part(row, x);
        }
    };
    match place {
        Place::Joint(i) => part(&step.joints[i].row, 1.0),
        Place::Tangent(i, along) => tangents(i, along),
        Place::Normal(i, friction) => {
            if acts {
                tangents(i, friction);
            }
            if let Some(normal) = &step.contacts[i].normal {
                part(normal, 1.0);
            }
        }
    }
}

/// Where on the polygon the friction of a slipping contact is, per unit of its bound.
enum Slip {
    Corner([f64; 2]),
    Edge { middle: [f64; 2], along: [f64; 2] },
}

/// Where friction that seeks an impulse beyond its bound slips; `None` when it sticks.
fn slip(contact: &Contact, sought: [f64; 2], bound: f64) -> Option<Slip> {
    let FrictionSet::Polygon(f) = &contact.set else { return None };
    let (size, [(i, _), (k, _), _]) = contact.least_sum([sought[0], sought[1], 0.0]);
    if size <= bound {
        return None;
    }
    let (a, b) = (f[i], f[k]);
    let edge = [a[0] - b[0], a[1] - b[1]];
    let length = edge[0].hypot(edge[1]);
    if i == k || bound == 0.0 {
        return Some(Slip::Corner([a[0], a[1]]));
    }
    let along = [edge[0] / length, edge[1] / length];
    let past = (sought[0] / bound - b[0]) * along[0] + (sought[1] / bound - b[1]) * along[1];
    Some(if past <= 0.0 {
        Slip::Corner([b[0], b[1]])
    } else if past >= length {
        Slip::Corner([a[0], a[1]])
    } else {
        Slip::Edge { middle: [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])], along }
    })
}
