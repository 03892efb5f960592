//! Rows and forces become a step problem.

use crate::report::{ContactReport, JointReport, Mode, MomentReport};
use crate::state::{ContactMemory, Memory, State};
use crate::system::{ContactRow, Forces, JointRow, Moments, RowKind, Spring, System};
use arrayvec::ArrayVec;
use nalgebra::Matrix6;
use stiction_lcp::problem::Layout;
use stiction_lcp::threads;
use stiction_lcp::{Body, BodyPair, Contact, FrictionSet, Joint, OffsetRow, Row, StepProblem, Term};

/// Offsets of the rows, which is where the schemes differ.
pub(crate) struct Offsets<'a> {
    /// Υ of a joint row.
    pub(crate) joint: &'a dyn Fn(&JointRow) -> f64,
    /// Δ of a contact.
    pub(crate) contact: &'a (dyn Fn(&ContactRow) -> f64 + Sync),
    /// Δ of a limit, from its row and gap.
    pub(crate) limit: &'a dyn Fn(&JointRow) -> f64,
}

/// M̃ and b of the Euler family: M̃ = M − h k̃_v − h² k̃_q, b = M v + h (k − k̃_v v).
#[allow(clippy::too_many_arguments)]
pub(crate) fn momentum<S: System + ?Sized>(
    system: &S,
    state: &State,
    h: f64,
    forces: &Forces,
    implicit_springs: bool,
    implicit_gyroscopic: bool,
    problem: &mut StepProblem,
    layout: &mut Layout,
) {
    problem.bodies.clear();
    problem.pairs.clear();
    let mut start = 0;
    for (i, &n) in system.bodies().iter().enumerate() {
        let mass = system.mass(i);
        let v = &state.v[start..start + n];
        let mut body = Body { velocities: n, mass, momentum: nalgebra::Vector6::zeros() };
        for r in 0..n {
            body.momentum[r] = (0..n).map(|c| mass[(r, c)] * v[c]).sum::<f64>() + h * forces.k[start + r];
        }
        if let Some(spin) = system.gyroscopic(i, v) {
            if implicit_gyroscopic {
                // k̃_v = F, for which k̃_v v is the force itself: it leaves b
                body.mass -= h * spin;
            } else {
                for r in 0..n {
                    body.momentum[r] += h * (0..n).map(|c| spin[(r, c)] * v[c]).sum::<f64>();
                }
            }
        }
        problem.bodies.push(body);
        start += n;
    }
    problem.joints.clear();
    problem.contacts.clear();
    problem.lay_out(layout);
    if implicit_springs {
        forces.springs.iter().for_each(|s| add_spring(problem, &layout.velocity, state, h, s));
    }
}

/// M̃ += (h δ + h² γ) ∇φ∇φᵀ, b += h δ ∇φ (∇φᵀv).
fn add_spring(problem: &mut StepProblem, starts: &[usize], state: &State, h: f64, spring: &Spring) {
    let weight = h * spring.damping + h * h * spring.stiffness;
    let Row::Bodies(terms) = &spring.row else { return };
    let speed = spring.row.dot(starts, &state.v);
    let outer = |a: &Term, b: &Term| Matrix6::from_fn(|i, j| weight * a.j[i] * b.j[j]);
    for term in terms {
        let body = &mut problem.bodies[term.body];
        body.mass += outer(term, term);
        (0..body.velocities).for_each(|i| body.momentum[i] += h * spring.damping * speed * term.j[i]);
    }
    if let [a, b] = &terms[..] {
        problem.pairs.push(BodyPair { a: a.body, b: b.body, ab: outer(a, b), ba: outer(b, a) });
    }
}

/// Where each row of the model stands in the step problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// For each joint row: its rigid row, or its contact.
    pub(crate) joints: Vec<Place>,
    /// First contact of the step problem that is a contact of the model.
    pub(crate) first_contact: usize,
    /// Contacts of the model that resist rolling, each with the friction block that does.
    pub(crate) rolling: Vec<(usize, usize)>,
}

impl Places {
    /// The block of the step problem that resists the rolling of contact `k` of the model.
    pub(crate) fn rolling(&self, k: usize) -> Option<usize> {
        self.rolling.binary_search_by_key(&k, |r| r.0).ok().map(|at| self.rolling[at].1)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    Rigid(usize),
    Contact(usize),
}

/// Joint rows, limits, drives and contacts become rows of `problem`.
pub(crate) fn rows(
    problem: &mut StepProblem,
    places: &mut Places,
    h: f64,
    joints: &[JointRow],
    contacts: &[ContactRow],
    offsets: &Offsets,
) {
    problem.joints.clear();
    problem.contacts.clear();
    places.joints.clear();
    for joint in joints {
        match joint.kind {
            RowKind::Rigid(compliance) => {
                places.joints.push(Place::Rigid(problem.joints.len()));
                let row = OffsetRow { row: joint.row.clone(), offset: (offsets.joint)(joint) };
                // a force c/h acts for h and gives way by compliance · force: per step, C = compliance / h²
                problem.joints.push(Joint { row, compliance: compliance / (h * h) });
            }
            RowKind::Limit => {
                places.joints.push(Place::Contact(problem.contacts.len()));
                problem.contacts.push(Contact::frictionless(joint.row.clone(), (offsets.limit)(joint)));
            }
            RowKind::Drive { speed, force } => {
                places.joints.push(Place::Contact(problem.contacts.len()));
                let tangent = OffsetRow { row: joint.row.clone(), offset: joint.drift - speed };
                problem.contacts.push(Contact {
                    normal: None,
                    tangents: [tangent].into_iter().collect(),
                    set: FrictionSet::line(),
                    mu: 0.0,
                    kappa: force * h,
                    bound_by: None,
                });
            }
        }
    }
    places.first_contact = problem.contacts.len();
    let offset = offsets.contact;
    threads::extend(&mut problem.contacts, contacts, |_, contact: &ContactRow| {
        let mut tangents = ArrayVec::new();
        if contact.mu > 0.0 {
            tangents.extend(contact.tangents.iter().chain(contact.moments.spin.as_deref()).cloned());
        }
        Contact {
            normal: Some(OffsetRow { row: contact.normal.clone(), offset: offset(contact) }),
            tangents,
            set: contact.set.clone(),
            mu: contact.mu,
            kappa: 0.0,
            bound_by: None,
        }
    });
    places.rolling.clear();
    for (k, contact) in contacts.iter().enumerate().filter(|(_, c)| !c.moments.rolls.is_empty()) {
        places.rolling.push((k, problem.contacts.len()));
        problem.contacts.push(Contact {
            normal: None,
            tangents: contact.moments.rolls.iter().cloned().collect(),
            set: contact.moments.set.clone(),
            mu: 1.0,
            kappa: 0.0,
            bound_by: Some(places.first_contact + k),
        });
    }
}

/// The axes about which the rows of `moments` turn, spin first, with the length of each.
pub(crate) fn turning_axes(row: &ContactRow) -> ArrayVec<([f64; 3], f64), 3> {
    let Moments { torsion, rolling, spin, rolls, .. } = &row.moments;
    let planar = row.tangents.len() < 2;
    let axes = if planar { [[0.0, 0.0, 1.0]; 2] } else { row.tangent_directions };
    let about = spin.iter().map(|_| (row.direction, *torsion));
    about.chain(axes.into_iter().take(rolls.len()).map(|axis| (axis, *rolling))).collect()
}

/// What resisted the turning of a contact did, from the impulses and speeds along its rows.
fn moment_report(
    row: &ContactRow,
    spin: (f64, f64),
    rolling: Option<([f64; 3], [f64; 3])>,
    mode: Option<Mode>,
) -> MomentReport {
    let mut report = MomentReport { impulse: [0.0; 3], turn: [0.0; 3], rolling: mode };
    let rows = row.moments.spin.iter().map(|_| spin);
    let rolls = rolling.into_iter().flat_map(|(p, u)| p.into_iter().zip(u));
    for ((p, u), (axis, length)) in rows.chain(rolls).zip(turning_axes(row)) {
        for c in 0..3 {
            report.impulse[c] += length * p * axis[c];
            report.turn[c] += u / length * axis[c];
        }
    }
    report
}

/// What each contact did in an answer (z, v); slip slower than `still` is none.
pub(crate) fn contact_reports(
    problem: &StepProblem,
    layout: &Layout,
    places: &Places,
    rows: &[ContactRow],
    (z, v, still): (&[f64], &[f64], f64),
    out: &mut Vec<ContactReport>,
) {
    let report = |k: usize, row: &ContactRow| {
        let i = places.first_contact + k;
        let contact = &problem.contacts[i];
        let own = &z[layout.contact[i]..layout.contact[i + 1]];
        let p = contact.tangent_impulse(&own[1..]);
        let along = |x: [f64; 3]| -> [f64; 3] {
            std::array::from_fn(|c| x[0] * row.tangent_directions[0][c] + x[1] * row.tangent_directions[1][c])
        };
        let speeds = |rows: &mut dyn Iterator<Item = &OffsetRow>| {
            let mut speeds = [0.0; 3];
            for (u, row) in speeds.iter_mut().zip(rows) {
                *u = row.row.dot(&layout.velocity, v) + row.offset;
            }
            speeds
        };
        let Moments { spin, rolls, .. } = &row.moments;
        let slip = speeds(&mut row.tangents.iter().chain(spin.as_deref()));
        let mode = |[x, y, z]: [f64; 3]| {
            if own[0] <= 0.0 {
                Mode::Open
            } else if x.hypot(y).max(z.abs()) > still {
                Mode::Slip
            } else {
                Mode::Stick
            }
        };
        let moment = (!row.moments.is_none()).then(|| {
            let block = places.rolling(k);
            let impulse =
                |i: usize| problem.contacts[i].tangent_impulse(&z[layout.contact[i]..layout.contact[i + 1]]);
            let rolling = block.map(|i| (impulse(i), speeds(&mut rolls.iter())));
            let rolls = rolling.map(|(_, u)| mode(u));
            moment_report(row, (p[2], slip[2]), rolling, rolls)
        });
        ContactReport {
            id: row.id,
            bodies: row.bodies,
            point: row.point,
            normal: row.direction,
            gap: row.gap,
            mu: row.mu,
            normal_impulse: own[0],
            friction_impulse: along(p),
            slip: along(slip),
            mode: mode(slip),
            moment,
        }
    };
    out.clear();
    threads::extend(out, rows, report);
}

/// The impulse of each joint row in a solution.
pub(crate) fn joint_reports(
    problem: &StepProblem,
    layout: &Layout,
    places: &Places,
    rows: &[JointRow],
    z: &[f64],
    out: &mut Vec<JointReport>,
) {
    let impulse = |place: Place| match place {
        Place::Rigid(i) => z[i],
        Place::Contact(i) => {
            let own = &z[layout.contact[i]..layout.contact[i + 1]];
            match problem.contacts[i].normal {
                Some(_) => own[0],
                None => problem.contacts[i].tangent_impulse(own)[0],
            }
        }
    };
    let report =
        |(row, place): (&JointRow, &Place)| JointReport { joint: row.joint, impulse: impulse(*place) };
    out.clear();
    out.extend(rows.iter().zip(&places.joints).map(report));
}

impl From<&ContactReport> for ContactMemory {
    fn from(report: &ContactReport) -> Self {
        let ContactReport { id, point, normal_impulse, friction_impulse, moment, .. } = *report;
        let moment = moment.map_or([0.0; 3], |m| m.impulse);
        Self { id, point, normal: normal_impulse, friction: friction_impulse, moment }
    }
}

/// What a step leaves to be remembered.
pub(crate) fn remember(contacts: &[ContactReport], joints: &[JointReport], memory: &mut Memory) {
    memory.contacts.clear();
    memory.contacts.extend(contacts.iter().map(ContactMemory::from));
    memory.contacts.sort_unstable_by_key(|c| c.id);
    memory.joints.clear();
    memory.joints.extend(joints.iter().map(|j| j.impulse));
}

/// The impulse of a joint row as unknowns, which are zero before.
pub(crate) fn joint_unknowns(
    problem: &StepProblem,
    layout: &Layout,
    place: Place,
    impulse: f64,
    z: &mut [f64],
) {
    match place {
        Place::Rigid(i) => z[i] = impulse,
        Place::Contact(i) => {
            let own = &mut z[layout.contact[i]..layout.contact[i + 1]];
            match problem.contacts[i].normal {
                Some(_) => own[0] = impulse,
                None => problem.contacts[i].friction_unknowns([impulse, 0.0, 0.0], own),
            }
        }
    }
}

/// The impulses of the last step as unknowns of this one; those of rows that are new are zero.
pub(crate) fn remembered(
    problem: &StepProblem,
    layout: &Layout,
    places: &Places,
    rows: &[ContactRow],
    memory: &Memory,
    z: &mut Vec<f64>,
) {
    z.clear();
    z.resize(layout.impulses, 0.0);
    if memory.joints.len() == places.joints.len() {
        for (place, &impulse) in places.joints.iter().zip(&memory.joints) {
            joint_unknowns(problem, layout, *place, impulse, z);
        }
    }
    // features of flat faces trade places from step to step, points do not: what a contact bore goes to the nearest
    // one of the same pair
    let mut from = 0;
    while from < rows.len() {
        let pair = rows[from].id.pair;
        let count = rows[from..].iter().take_while(|r| r.id.pair == pair).count();
        let rows = &rows[from..from + count];
        let first = memory.contacts.partition_point(|c| c.id.pair < pair);
        for old in memory.contacts[first..].iter().take_while(|c| c.id.pair == pair) {
            let far = |row: &ContactRow| (0..3).map(|c| (row.point[c] - old.point[c]).powi(2)).sum::<f64>();
            let nearest =
                (1..count).fold(0, |best, k| if far(&rows[k]) < far(&rows[best]) { k } else { best });
            add_contact((problem, layout, places), (from + nearest, &rows[nearest]), old, z);
        }
        from += count;
    }
}

/// Adds what a contact bore, along the axes of the world, to the unknowns of contact `k` of the model.
pub(crate) fn add_contact(
    (problem, layout, places): (&StepProblem, &Layout, &Places),
    (k, row): (usize, &ContactRow),
    bore: &ContactMemory,
    z: &mut [f64],
) {
    let i = places.first_contact + k;
    let own = &mut z[layout.contact[i]..layout.contact[i + 1]];
    own[0] += bore.normal;
    let mut turns = turning_axes(row).into_iter().map(|(axis, length)| dot(axis, bore.moment) / length);
    let spin = row.moments.spin.as_ref().and_then(|_| turns.next()).unwrap_or(0.0);
    if own.len() > 1 {
        let [x, y] = row.tangent_directions.map(|t| dot(t, bore.friction));
        add_friction(&problem.contacts[i], [x, y, spin], &mut own[1..]);
    }
    if let Some(block) = places.rolling(k) {
        let mut rolls = [0.0; 3];
        rolls.iter_mut().zip(turns).for_each(|(p, turn)| *p = turn);
        let own = &mut z[layout.contact[block]..layout.contact[block + 1]];
        add_friction(&problem.contacts[block], rolls, own);
    }
}

pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|c| a[c] * b[c]).sum()
}

/// Adds an impulse along the tangent rows to the friction unknowns of a contact.
fn add_friction(contact: &Contact, impulse: [f64; 3], own: &mut [f64]) {
    let before = contact.tangent_impulse(own);
    contact.friction_unknowns(std::array::from_fn(|k| before[k] + impulse[k]), own);
}
