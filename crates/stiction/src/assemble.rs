//! Rows and forces become a step problem.

use crate::report::{ContactReport, JointReport, Mode};
use crate::state::{ContactMemory, Memory, State};
use crate::system::{ContactRow, Forces, JointRow, RowKind, Spring, System};
use arrayvec::ArrayVec;
use nalgebra::Matrix6;
use stiction_lcp::problem::Layout;
use stiction_lcp::{Body, Contact, FrictionSet, Joint, OffsetRow, Pair, Row, StepProblem, Term};

/// Offsets of the rows, which is where the schemes differ.
pub(crate) struct Offsets<'a> {
    /// Υ of a joint row.
    pub(crate) joint: &'a dyn Fn(&JointRow) -> f64,
    /// Δ of a contact.
    pub(crate) contact: &'a dyn Fn(&ContactRow) -> f64,
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
        problem.pairs.push(Pair { a: a.body, b: b.body, ab: outer(a, b), ba: outer(b, a) });
    }
}

/// Where each row of the model stands in the step problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// For each joint row: its rigid row, or its contact.
    pub(crate) joints: Vec<Place>,
    /// First contact of the step problem that is a contact of the model.
    pub(crate) first_contact: usize,
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
                });
            }
        }
    }
    places.first_contact = problem.contacts.len();
    for contact in contacts {
        let normal = OffsetRow { row: contact.normal.clone(), offset: (offsets.contact)(contact) };
        let tangents = if contact.mu > 0.0 { contact.tangents.clone() } else { ArrayVec::new() };
        problem.contacts.push(Contact {
            normal: Some(normal),
            tangents,
            set: contact.set.clone(),
            mu: contact.mu,
            kappa: 0.0,
        });
    }
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
    let report = |(k, row): (usize, &ContactRow)| {
        let i = places.first_contact + k;
        let contact = &problem.contacts[i];
        let own = &z[layout.contact[i]..layout.contact[i + 1]];
        let p = contact.tangent_impulse(&own[1..]);
        let along = |x: [f64; 2]| -> [f64; 3] {
            std::array::from_fn(|c| x[0] * row.tangent_directions[0][c] + x[1] * row.tangent_directions[1][c])
        };
        let mut slip = [0.0; 2];
        for (u, tangent) in slip.iter_mut().zip(&row.tangents) {
            *u = tangent.row.dot(&layout.velocity, v) + tangent.offset;
        }
        let mode = if own[0] <= 0.0 {
            Mode::Open
        } else if slip[0].hypot(slip[1]) > still {
            Mode::Slip
        } else {
            Mode::Stick
        };
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
            mode,
        }
    };
    out.clear();
    out.extend(rows.iter().enumerate().map(report));
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

/// What a step leaves to be remembered.
pub(crate) fn remember(contacts: &[ContactReport], joints: &[JointReport], memory: &mut Memory) {
    memory.contacts.clear();
    memory.contacts.extend(contacts.iter().map(|c| ContactMemory {
        id: c.id,
        point: c.point,
        normal: c.normal_impulse,
        friction: c.friction_impulse,
    }));
    memory.contacts.sort_by_key(|c| c.id);
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
                None => problem.contacts[i].friction_unknowns([impulse, 0.0], own),
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
            let i = places.first_contact + from + nearest;
            let own = &mut z[layout.contact[i]..layout.contact[i + 1]];
            own[0] += old.normal;
            if own.len() > 1 {
                let before = problem.contacts[i].tangent_impulse(&own[1..]);
                let along = |t: [f64; 3]| (0..3).map(|c| t[c] * old.friction[c]).sum::<f64>();
                let added = rows[nearest].tangent_directions.map(along);
                let sum = [before[0] + added[0], before[1] + added[1]];
                problem.contacts[i].friction_unknowns(sum, &mut own[1..]);
            }
        }
        from += count;
    }
}
