//! Unknown impulses of an impulse set, by groups of bodies that they connect: one column of Jᵀ for each.

use super::{HeldMode, ImpulseSet};
use crate::factor::find_root;
use crate::problem::{Layout, Row, StepProblem, are_independent};

/// Unknown impulses of a contact, by their indices among those of its group.
#[derive(Debug, Clone, Default)]
pub(super) struct ContactUnknowns {
    pub(super) contact: usize,
    /// Index of the normal impulse.
    pub(super) normal: Option<usize>,
    /// Indices of the impulses along the tangent rows, if the contact sticks.
    pub(super) tangents: Vec<usize>,
    /// Friction per unit of the normal impulse that is tied to it, if the contact slips.
    pub(super) tied: [f64; 3],
}

/// Unknown impulses on bodies that they connect.
#[derive(Debug, Default)]
pub(super) struct ImpulseGroup<'a> {
    /// Unit impulse of each unknown: rows with factors.
    pub(super) columns: Vec<Vec<(&'a Row, f64)>>,
    /// Value of each unknown in the solution [N s].
    pub(super) values: Vec<f64>,
    pub(super) contacts: Vec<ContactUnknowns>,
    /// Joint rows with their unknowns.
    pub(super) joints: Vec<(usize, usize)>,
}

impl ImpulseGroup<'_> {
    /// Whether contacts and joints of the group close a loop, the world a body like any other. Without one each carries
    /// what its side of the tree needs, and all impulses are determined.
    pub(super) fn has_loops(&self, step: &StepProblem) -> bool {
        let ends = |row: &Row| match row {
            Row::Bodies(terms) => Some((terms.first().map(|t| t.body), terms.get(1).map(|t| t.body))),
            // rows of any velocities may close a loop
            Row::Sparse(_) => None,
        };
        let (mut edges, mut bodies, mut grounded) = (0, Vec::new(), false);
        let row = |j: usize| &step.joints[j].row.row;
        let same =
            |a: &(usize, usize), b: &(usize, usize)| b.0 == a.0 + 1 && ends(row(a.0)) == ends(row(b.0));
        // consecutive rows of the same two bodies are one joint, or several that are as good as one
        let joints = self.joints.chunk_by(same).map(|joint| {
            let redundant = !are_independent(joint.iter().map(|own| row(own.0)));
            (1 + usize::from(redundant), ends(row(joint[0].0)))
        });
        let contacts = self.contacts.iter().filter(|c| c.normal.is_some() || !c.tangents.is_empty());
        let contacts =
            contacts.map(|c| (1, step.contacts[c.contact].rows().next().and_then(|r| ends(&r.row))));
        for (count, own) in joints.chain(contacts) {
            let Some((a, b)) = own else { return true };
            edges += count;
            bodies.extend([a, b].into_iter().flatten());
            grounded |= b.is_none();
        }
        bodies.sort_unstable();
        bodies.dedup();
        edges + 1 > bodies.len() + usize::from(grounded)
    }
}

/// Unknown impulses of one contact or joint row before they are grouped.
struct Part<'a> {
    columns: Vec<(Vec<(&'a Row, f64)>, f64)>,
    contact: Option<ContactUnknowns>,
    joint: Option<usize>,
}

/// Groups of the unknown impulses of a set.
pub(super) fn groups<'a>(set: &ImpulseSet<'a>, layout: &Layout) -> Vec<ImpulseGroup<'a>> {
    let parts = parts(set, layout);
    let starts = &layout.velocity;
    let mut parent: Vec<usize> = (0..set.step.bodies.len()).collect();
    let mut roots = Vec::with_capacity(parts.len());
    for part in &parts {
        let mut first = None;
        for (row, _) in part.columns.iter().flat_map(|(column, _)| column) {
            row.for_each(starts, |k, _| {
                let body = find_root(&mut parent, starts.partition_point(|&s| s <= k) - 1);
                let to = find_root(&mut parent, *first.get_or_insert(body));
                parent[body] = to;
            });
        }
        roots.push(first);
    }
    let mut groups: Vec<ImpulseGroup> = Vec::new();
    let mut group_of: Vec<Option<usize>> = vec![None; parent.len()];
    for (root, part) in roots.into_iter().zip(parts) {
        let Some(body) = root else { continue };
        let own = group_of[find_root(&mut parent, body)].get_or_insert_with(|| {
            groups.push(ImpulseGroup::default());
            groups.len() - 1
        });
        let group = &mut groups[*own];
        let first = group.columns.len();
        if let Some(mut contact) = part.contact {
            contact.normal = contact.normal.map(|k| first + k);
            contact.tangents.iter_mut().for_each(|k| *k += first);
            group.contacts.push(contact);
        }
        group.joints.extend(part.joint.map(|j| (j, first)));
        for (column, value) in part.columns {
            group.columns.push(column);
            group.values.push(value);
        }
    }
    groups
}

/// Unknown impulses of each joint row and contact.
fn parts<'a>(set: &ImpulseSet<'a>, layout: &Layout) -> Vec<Part<'a>> {
    let ImpulseSet { step, z, modes } = *set;
    // a compliant row has the impulse that its speed gives it
    let rigid = step.joints.iter().enumerate().filter(|(_, j)| j.compliance <= 0.0);
    let joints = rigid.map(|(j, joint)| Part {
        columns: vec![(vec![(&joint.row.row, 1.0)], z[j])],
        contact: None,
        joint: Some(j),
    });
    let contacts = step.contacts.iter().enumerate().map(|(i, contact)| {
        let own = &z[layout.contact[i]..layout.contact[i + 1]];
        let normal = contact.normal.as_ref().map(|n| &n.row);
        let friction = contact.tangent_impulse(&own[usize::from(normal.is_some())..]);
        let mut unknowns = ContactUnknowns { contact: i, ..ContactUnknowns::default() };
        let mut columns = Vec::new();
        if let Some(row) = normal
            && modes[i] != HeldMode::Open
        {
            unknowns.normal = Some(0);
            let mut column = vec![(row, 1.0)];
            tie(set, i, &mut column);
            let rolling = |&k: &usize| step.contacts[k].bound_by == Some(i);
            (0..step.contacts.len()).filter(rolling).for_each(|k| tie(set, k, &mut column));
            columns.push((column, own[0]));
        }
        match modes[i] {
            HeldMode::Open => {}
            HeldMode::Slip(d) => unknowns.tied = d.map(|d| contact.mu * d),
            HeldMode::Stick => {
                for (t, value) in contact.tangents.iter().zip(friction) {
                    unknowns.tangents.push(columns.len());
                    columns.push((vec![(&t.row, 1.0)], value));
                }
            }
        }
        Part { columns, contact: Some(unknowns), joint: None }
    });
    joints.chain(contacts).collect()
}

/// Adds the friction of contact `k`, if it slips, per unit of the normal impulse that bounds it.
fn tie<'a>(set: &ImpulseSet<'a>, k: usize, column: &mut Vec<(&'a Row, f64)>) {
    if let HeldMode::Slip(d) = set.modes[k] {
        let contact = &set.step.contacts[k];
        column.extend(contact.tangents.iter().zip(d).map(|(t, d)| (&t.row, contact.mu * d)));
    }
}
