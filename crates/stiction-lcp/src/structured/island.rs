//! Island of a step problem: bodies, contacts and joints that are connected with each other and with nothing else, laid
//! out for the structured methods. Rows are whole registers, contacts of the same two bodies are consecutive, friction
//! ellipses are stretched to balls.

use crate::certificate::Mobility;
use crate::problem::{Contact, FrictionLaw, FrictionSet, OffsetRow, Prepared, Row, StepProblem};

/// Velocities of a body, or its entries of a row: six numbers, padded with zeros to a register.
pub(super) type Lane = [f64; 8];

/// Index that stands for the world instead of a body.
pub(super) const WORLD: u32 = u32::MAX;

/// Index that stands for the contact itself where the contact that bounds its friction is asked for.
pub(super) const OWN: u32 = u32::MAX;

/// Index of a body or joint in an island: blocks fill the memory long before `u32` overflows.
#[allow(clippy::cast_possible_truncation, reason = "see above")]
pub(super) fn number(i: usize) -> u32 {
    i as u32
}

/// Largest number of rows in a joint block.
pub(super) const JOINT_ROWS: usize = 6;

/// Bodies, joints, contacts and pairs of one island, as indices of the problem.
#[derive(Debug, Clone, Copy)]
pub(super) struct IslandMembers<'a> {
    pub(super) bodies: &'a [usize],
    pub(super) joints: &'a [usize],
    pub(super) contacts: &'a [usize],
    pub(super) pairs: &'a [usize],
}

/// Island with at most `T` tangent rows per contact.
#[derive(Debug, Clone, Default)]
pub(super) struct Island<const T: usize> {
    /// Bodies, as indices of the problem.
    pub(super) bodies: Vec<usize>,
    /// First velocity of each body in the island, and the number of velocities.
    pub(super) start: Vec<usize>,
    pub(super) contacts: Vec<IslandContact<T>>,
    pub(super) joint_blocks: Vec<JointBlock>,
    /// M̃ as blocks: (row body, column body, rows of the block).
    pub(super) mass: Vec<(u32, u32, [Lane; 6])>,
    pub(super) momentum: Vec<Lane>,
    /// `true` if there are contacts and no two of them are between the same bodies, as among balls.
    pub(super) is_simple: bool,
    /// Scratch vector for responses, zero between uses.
    room: Vec<f64>,
}

/// Contact of an island, or friction without a contact.
#[derive(Debug, Clone, Copy)]
pub(super) struct IslandContact<const T: usize> {
    /// Index of the contact in the problem.
    pub(super) index: usize,
    pub(super) bodies: [u32; 2],
    /// `false` for a drive, whose friction bound does not depend on a normal impulse.
    pub(super) has_normal: bool,
    /// Contact whose normal impulse bounds this one's friction, or [`OWN`]. A contact bounded by another carries a copy
    /// of that contact's normal row and impulse, which change alike in every step, and acts along its tangents alone.
    pub(super) bound_by: u32,
    /// `false` if nothing acts along the tangents.
    pub(super) has_friction: bool,
    /// Normal row, entries of each body.
    pub(super) n: [Lane; 2],
    /// Tangent rows, entries of each body, stretched so that the friction set is a ball.
    pub(super) t: [[Lane; 2]; T],
    /// Offset Δ of the normal row [m/s].
    pub(super) offset: f64,
    /// Offsets τ of the tangent rows [m/s].
    pub(super) slip: [f64; T],
    /// Speed that one unit of impulse causes along the normal [m/s per N s].
    pub(super) w_n: f64,
    /// Mean speed that one unit of impulse causes along a tangent [m/s per N s].
    pub(super) w_t: f64,
    /// Reciprocal of `w_n`; 0 without a normal row.
    pub(super) over_n: f64,
    /// Reciprocal of `w_t`; 0 without friction.
    pub(super) over_t: f64,
    pub(super) mu: f64,
    pub(super) kappa: f64,
    /// Semi-axes of the friction set.
    pub(super) axes: [f64; T],
}

impl<const T: usize> IslandContact<T> {
    /// `true` if the normal impulse is that of another contact.
    #[inline(always)]
    pub(super) fn is_bound_by_other(&self) -> bool {
        self.bound_by != OWN
    }
}

/// Consecutive joint rows between the same bodies.
#[derive(Debug, Clone, Copy)]
pub(super) struct JointBlock {
    /// First of the problem's joint rows.
    pub(super) first_row: usize,
    /// Number of rows.
    pub(super) rows: usize,
    pub(super) bodies: [u32; 2],
    pub(super) j: [[Lane; 2]; JOINT_ROWS],
    pub(super) offset: [f64; JOINT_ROWS],
    pub(super) compliance: [f64; JOINT_ROWS],
    /// Speed that one unit of impulse causes along each row [m/s per N s].
    pub(super) w: [f64; JOINT_ROWS],
}

/// Runs a loop with the widest registers of the processor; functions it calls must be inlined into it.
#[inline(always)]
pub(super) fn wide<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

#[inline(always)]
pub(super) fn dot(a: &Lane, b: &Lane) -> f64 {
    let [p, q, r, s, t, u, v, w]: Lane = std::array::from_fn(|i| a[i] * b[i]);
    ((p + q) + (r + s)) + ((t + u) + (v + w))
}

/// c x.
#[inline(always)]
pub(super) fn scaled(c: f64, x: &Lane) -> Lane {
    let mut y = *x;
    for i in 0..8 {
        y[i] *= c;
    }
    y
}

/// y += c x.
#[inline(always)]
pub(super) fn add(y: &mut Lane, c: f64, x: &Lane) {
    for i in 0..8 {
        y[i] += c * x[i];
    }
}

/// Speed of a row, J v.
#[inline(always)]
pub(super) fn speed(rows: &[Lane; 2], bodies: [u32; 2], v: &[Lane]) -> f64 {
    let first = dot(&rows[0], &v[bodies[0] as usize]);
    if bodies[1] == WORLD { first } else { first + dot(&rows[1], &v[bodies[1] as usize]) }
}

/// momentum += c Jᵀ.
#[inline(always)]
pub(super) fn push(rows: &[Lane; 2], bodies: [u32; 2], c: f64, momentum: &mut [Lane]) {
    add(&mut momentum[bodies[0] as usize], c, &rows[0]);
    if bodies[1] != WORLD {
        add(&mut momentum[bodies[1] as usize], c, &rows[1]);
    }
}

/// Feature of a problem that the structured methods do not support, if there is one.
pub(crate) fn unsupported_feature(problem: &StepProblem) -> Option<&'static str> {
    if problem.law == FrictionLaw::Convex {
        return Some("the convex relaxation");
    }
    let sparse = |row: &OffsetRow| matches!(row.row, Row::Sparse(_));
    if problem.joints.iter().any(|j| sparse(&j.row))
        || problem.contacts.iter().flat_map(Contact::rows).any(sparse)
    {
        return Some("rows over more than two bodies");
    }
    let others = |c: &Contact| {
        let bodies = bodies_of(problem, c);
        c.rows().any(
            |r| matches!(&r.row, Row::Bodies(terms) if terms.iter().any(|t| !bodies.contains(&Some(t.body)))),
        )
    };
    if problem.contacts.iter().any(others) {
        return Some("contacts over more than two bodies");
    }
    let elsewhere = |c: &Contact| {
        let bound_by = c.bound_by.map(|i| &problem.contacts[i]);
        bound_by.is_some_and(|bound_by| bodies_of(problem, bound_by) != bodies_of(problem, c))
    };
    if problem.contacts.iter().any(elsewhere) {
        return Some("friction bounded by a contact of other bodies");
    }
    let polygon = |c: &Contact| c.tangents.len() > 1 && matches!(c.set, FrictionSet::Polygon(_));
    problem.contacts.iter().any(polygon).then_some("friction polygons")
}

impl<const T: usize> Island<T> {
    /// Reads the members of an island; `local` is the index of each body in its island.
    pub(super) fn read(
        &mut self,
        problem: &StepProblem,
        prepared: &Prepared,
        mobilities: &[Mobility],
        members: IslandMembers,
        local: &[u32],
    ) {
        self.read_bodies(problem, members, local);
        self.read_joints(problem, prepared, members.joints, local);
        self.contacts.clear();
        for &c in members.contacts {
            self.contacts.push(island_contact(problem, mobilities, c, local));
        }
        // consecutive contacts of the same two bodies are one block of the matrix
        self.contacts.sort_unstable_by_key(|c| (c.bodies, c.index));
        let is_own = |c: &IslandContact<T>| problem.contacts[c.index].bound_by.is_none();
        let apart = |c: &[IslandContact<T>]| c[0].bodies != c[1].bodies || !(is_own(&c[0]) && is_own(&c[1]));
        self.is_simple = !self.contacts.is_empty() && self.contacts.windows(2).all(apart);
        for i in 0..self.contacts.len() {
            let IslandContact { index, bodies, .. } = self.contacts[i];
            if let Some(bound_by) = problem.contacts[index].bound_by {
                let found = self.contacts.binary_search_by_key(&(bodies, bound_by), |c| (c.bodies, c.index));
                self.contacts[i].bound_by = found.map_or(OWN, number);
            }
        }
    }

    fn read_bodies(&mut self, problem: &StepProblem, members: IslandMembers, local: &[u32]) {
        self.bodies.clear();
        self.bodies.extend_from_slice(members.bodies);
        self.start.clear();
        self.start.push(0);
        self.mass.clear();
        self.momentum.clear();
        let mut at = 0;
        for (i, &b) in members.bodies.iter().enumerate() {
            let body = &problem.bodies[b];
            let i = number(i);
            at += body.velocities;
            self.start.push(at);
            self.mass.push((i, i, block(&body.mass)));
            let mut p = [0.0; 8];
            p[..6].copy_from_slice(body.momentum.as_slice());
            self.momentum.push(p);
        }
        for &p in members.pairs {
            let pair = &problem.pairs[p];
            let (a, b) = (local[pair.a], local[pair.b]);
            self.mass.push((a, b, block(&pair.ab)));
            self.mass.push((b, a, block(&pair.ba)));
        }
    }

    fn read_joints(&mut self, problem: &StepProblem, prepared: &Prepared, joints: &[usize], local: &[u32]) {
        self.joint_blocks.clear();
        // only coupled bodies need room for the response of a row
        self.room.clear();
        self.room.resize(if problem.pairs.is_empty() { 0 } else { prepared.layout.velocities() }, 0.0);
        for &j in joints {
            let joint = &problem.joints[j];
            let (bodies, parts) = parts(&joint.row.row, local);
            let continues =
                |b: &JointBlock| b.bodies == bodies && b.rows < JOINT_ROWS && b.first_row + b.rows == j;
            if !self.joint_blocks.last().is_some_and(continues) {
                self.joint_blocks.push(JointBlock {
                    first_row: j,
                    rows: 0,
                    bodies,
                    j: [[[0.0; 8]; 2]; JOINT_ROWS],
                    offset: [0.0; JOINT_ROWS],
                    compliance: [0.0; JOINT_ROWS],
                    w: [0.0; JOINT_ROWS],
                });
            }
            let Some(block) = self.joint_blocks.last_mut() else { continue };
            let k = block.rows;
            block.j[k] = parts;
            block.offset[k] = joint.row.offset;
            block.compliance[k] = joint.compliance;
            block.w[k] = prepared.mobility(&joint.row.row, &mut self.room);
            block.rows += 1;
        }
    }

    /// `true` if Newton's method is expected to converge from a cold start: joints alone are linear, without friction the
    /// problem is convex, and single contact points between bodies settle within a few sweeps.
    pub(super) fn is_easy(&self) -> bool {
        self.is_simple || !self.contacts.iter().any(|c| c.has_friction)
    }

    /// Number of velocities.
    pub(super) fn velocities(&self) -> usize {
        self.start.last().copied().unwrap_or(0)
    }

    /// out = M̃ v − b.
    pub(super) fn momentum_change(&self, v: &[Lane], out: &mut Vec<Lane>) {
        wide(
            #[inline(always)]
            || {
                out.clear();
                out.extend(self.momentum.iter().map(|p| scaled(-1.0, p)));
                for (i, j, m) in &self.mass {
                    let (to, v) = (&mut out[*i as usize], &v[*j as usize]);
                    for r in 0..6 {
                        to[r] += dot(&m[r], v);
                    }
                }
            },
        );
    }
}

fn island_contact<const T: usize>(
    problem: &StepProblem,
    mobilities: &[Mobility],
    index: usize,
    local: &[u32],
) -> IslandContact<T> {
    let c = &problem.contacts[index];
    let bodies = bodies_of(problem, c).map(|b| b.map_or(WORLD, |b| local[b]));
    let bound_by = problem.bound_by(index);
    let normal = bound_by.and_then(|bound_by| problem.contacts[bound_by].normal.as_ref());
    let has_friction = !c.tangents.is_empty() && (c.kappa > 0.0 || (c.mu > 0.0 && normal.is_some()));
    let mut contact = IslandContact {
        index,
        bodies,
        has_normal: normal.is_some(),
        bound_by: OWN,
        has_friction,
        n: [[0.0; 8]; 2],
        t: [[[0.0; 8]; 2]; T],
        offset: 0.0,
        slip: [0.0; T],
        w_n: 0.0,
        w_t: 0.0,
        over_n: 0.0,
        over_t: 0.0,
        mu: if has_friction { c.mu } else { 0.0 },
        kappa: if has_friction { c.kappa } else { 0.0 },
        axes: [1.0; T],
    };
    if let Some(normal) = normal {
        contact.n = in_order(parts(&normal.row, local), bodies);
        contact.offset = normal.offset;
        contact.w_n = bound_by.map_or(0.0, |bound_by| mobilities[bound_by].normal);
    }
    for (k, tangent) in c.tangents.iter().enumerate().filter(|_| has_friction) {
        let axis = match &c.set {
            FrictionSet::Ellipse(axes) => axes[k],
            FrictionSet::Polygon(generators) => generators.iter().fold(0.0, |m: f64, g| m.max(g[0])),
        };
        contact.axes[k] = axis;
        contact.t[k] = in_order(parts(&tangent.row, local), bodies).map(|part| part.map(|x| axis * x));
        contact.slip[k] = axis * tangent.offset;
        contact.w_t += axis * axis * mobilities[index].tangent[k][k] / c.tangents.len() as f64;
    }
    if contact.w_t == 0.0 {
        contact.w_t = contact.w_n;
    }
    contact.over_n = if contact.has_normal { 1.0 / contact.w_n } else { 0.0 };
    contact.over_t = if contact.has_friction { 1.0 / contact.w_t } else { 0.0 };
    contact
}

/// Bodies of a row, and its entries for each.
fn parts(row: &Row, local: &[u32]) -> ([u32; 2], [Lane; 2]) {
    let (mut bodies, mut parts) = ([WORLD; 2], [[0.0; 8]; 2]);
    if let Row::Bodies(terms) = row {
        for (k, term) in terms.iter().enumerate() {
            bodies[k] = local[term.body];
            parts[k][..6].copy_from_slice(&term.j);
        }
    }
    (bodies, parts)
}

/// Entries in the order of `bodies`.
fn in_order((own, parts): ([u32; 2], [Lane; 2]), bodies: [u32; 2]) -> [Lane; 2] {
    if own[0] == bodies[0] { parts } else { [parts[1], parts[0]] }
}

/// Bodies that the rows of a contact reach, those of the contact that bounds its friction first, in the order of their
/// terms; the first two if there are more.
pub(super) fn bodies_of(problem: &StepProblem, contact: &Contact) -> [Option<usize>; 2] {
    let mut bodies = [None; 2];
    let bound_by = contact.bound_by.map(|i| &problem.contacts[i]);
    for row in bound_by.into_iter().chain([contact]).flat_map(Contact::rows) {
        let Row::Bodies(terms) = &row.row else { continue };
        for term in terms {
            let known = bodies.contains(&Some(term.body));
            if let (false, Some(free)) = (known, bodies.iter_mut().find(|b| b.is_none())) {
                *free = Some(term.body);
            }
        }
    }
    bodies
}

fn block(m: &nalgebra::Matrix6<f64>) -> [Lane; 6] {
    std::array::from_fn(|i| std::array::from_fn(|j| if j < 6 { m[(i, j)] } else { 0.0 }))
}
