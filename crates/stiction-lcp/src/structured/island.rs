//! Part of a step problem that neither joint nor contact connects to the rest, laid out for the structured methods:
//! rows as whole registers, the contacts of two bodies side by side, friction sets stretched to balls.

use crate::certificate::Mobility;
use crate::problem::{Contact, FrictionLaw, FrictionSet, OffsetRow, Prepared, Row, StepProblem};

/// The velocities of a body, or its part of a row: six numbers, and zeros that fill a register.
pub(super) type Lane = [f64; 8];

/// No body: the world.
pub(super) const WORLD: u32 = u32::MAX;

/// No other touch: a touch rests on itself.
pub(super) const OWN: u32 = u32::MAX;

/// The number of a body or joint in an island: their blocks fill the memory long before numbers end.
#[allow(clippy::cast_possible_truncation, reason = "see above")]
pub(super) fn number(i: usize) -> u32 {
    i as u32
}

/// Rows of a joint node at most.
pub(super) const ROWS: usize = 6;

/// An island with at most `T` tangent rows per contact.
#[derive(Debug, Clone, Default)]
pub(super) struct Island<const T: usize> {
    /// The bodies, as the problem numbers them.
    pub(super) bodies: Vec<usize>,
    /// Where each body's velocities begin among those of the island, and one more entry.
    pub(super) start: Vec<usize>,
    pub(super) touches: Vec<Touch<T>>,
    pub(super) holds: Vec<Hold>,
    /// M̃ as blocks: (row body, column body, block by rows).
    pub(super) mass: Vec<(u32, u32, [Lane; 6])>,
    pub(super) momentum: Vec<Lane>,
    /// Whether there are contacts, and no two of them between the same bodies, as among balls.
    pub(super) is_simple: bool,
    /// Room for responses.
    room: Vec<f64>,
}

/// A contact, or friction without one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touch<const T: usize> {
    /// Which contact of the problem.
    pub(super) contact: usize,
    pub(super) bodies: [u32; 2],
    /// `false`: a drive, whose bound does not depend on a normal impulse.
    pub(super) has_normal: bool,
    /// The touch whose normal impulse this one's friction is bounded by, or [`OWN`]. One that rests on another carries
    /// the normal row and impulse of that one, which do the same in every step, and pushes along its tangents alone.
    pub(super) bound_by: u32,
    /// `false`: nothing acts along the tangents.
    pub(super) has_friction: bool,
    /// The normal row's part of each body.
    pub(super) n: [Lane; 2],
    /// The tangent rows' parts, stretched so that the friction set is a ball.
    pub(super) t: [[Lane; 2]; T],
    /// Δ and τ [m/s].
    pub(super) offset: f64,
    pub(super) slip: [f64; T],
    /// The speed that one unit of impulse causes along the normal, and along a tangent in the mean.
    pub(super) w_n: f64,
    pub(super) w_t: f64,
    /// One over these; 0 where there is no normal, or no friction.
    pub(super) over_n: f64,
    pub(super) over_t: f64,
    pub(super) mu: f64,
    pub(super) kappa: f64,
    /// Semi-axes of the friction set.
    pub(super) axes: [f64; T],
}

impl<const T: usize> Touch<T> {
    /// Whether its normal impulse is that of another.
    #[inline(always)]
    pub(super) fn rests(&self) -> bool {
        self.bound_by != OWN
    }
}

/// Rows of joints between the same bodies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold {
    /// The first of the problem's joint rows, and how many.
    pub(super) joint: usize,
    pub(super) rows: usize,
    pub(super) bodies: [u32; 2],
    pub(super) j: [[Lane; 2]; ROWS],
    pub(super) offset: [f64; ROWS],
    pub(super) compliance: [f64; ROWS],
    /// The speed that one unit of impulse causes along each row.
    pub(super) w: [f64; ROWS],
}

/// Runs loops with the widest registers there are: what they call must be inlined into them.
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

/// The speed of a row.
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

/// Whether the structured methods know the problem; if not, what they do not know.
pub(crate) fn unknown_feature(problem: &StepProblem) -> Option<&'static str> {
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
        return Some("friction that rests on a contact of other bodies");
    }
    let polygon = |c: &Contact| c.tangents.len() > 1 && matches!(c.set, FrictionSet::Polygon(_));
    problem.contacts.iter().any(polygon).then_some("friction polygons")
}

impl<const T: usize> Island<T> {
    /// Takes the `bodies`, `joints` and `contacts` of a problem; `local` are the numbers of the bodies here.
    pub(super) fn take(
        &mut self,
        problem: &StepProblem,
        prepared: &Prepared,
        mobilities: &[Mobility],
        (bodies, joints, contacts, pairs): (&[usize], &[usize], &[usize], &[usize]),
        local: &[u32],
    ) {
        self.bodies.clear();
        self.bodies.extend_from_slice(bodies);
        self.start.clear();
        self.start.push(0);
        self.mass.clear();
        self.momentum.clear();
        let mut at = 0;
        for (i, &b) in bodies.iter().enumerate() {
            let body = &problem.bodies[b];
            let i = number(i);
            at += body.velocities;
            self.start.push(at);
            self.mass.push((i, i, block(&body.mass)));
            let mut p = [0.0; 8];
            p[..6].copy_from_slice(body.momentum.as_slice());
            self.momentum.push(p);
        }
        for &p in pairs {
            let pair = &problem.pairs[p];
            let (a, b) = (local[pair.a], local[pair.b]);
            self.mass.push((a, b, block(&pair.ab)));
            self.mass.push((b, a, block(&pair.ba)));
        }
        self.take_joints(problem, prepared, joints, local);
        self.touches.clear();
        for &c in contacts {
            self.touches.push(touch(problem, mobilities, c, local));
        }
        // side by side, the contacts of two bodies are one block of the matrix
        self.touches.sort_unstable_by_key(|t| (t.bodies, t.contact));
        let bearing = |t: &Touch<T>| problem.contacts[t.contact].bound_by.is_none();
        let apart = |t: &[Touch<T>]| t[0].bodies != t[1].bodies || !(bearing(&t[0]) && bearing(&t[1]));
        self.is_simple = !self.touches.is_empty() && self.touches.windows(2).all(apart);
        for i in 0..self.touches.len() {
            let Touch { contact, bodies, .. } = self.touches[i];
            if let Some(bound_by) = problem.contacts[contact].bound_by {
                let found = self.touches.binary_search_by_key(&(bodies, bound_by), |t| (t.bodies, t.contact));
                self.touches[i].bound_by = found.map_or(OWN, number);
            }
        }
    }

    fn take_joints(&mut self, problem: &StepProblem, prepared: &Prepared, joints: &[usize], local: &[u32]) {
        self.holds.clear();
        // only where bodies are coupled is there something to put into it
        self.room.clear();
        self.room.resize(if problem.pairs.is_empty() { 0 } else { prepared.layout.velocities() }, 0.0);
        for &j in joints {
            let joint = &problem.joints[j];
            let (bodies, parts) = parts(&joint.row.row, local);
            let goes_on = |h: &Hold| h.bodies == bodies && h.rows < ROWS && h.joint + h.rows == j;
            if !self.holds.last().is_some_and(goes_on) {
                self.holds.push(Hold {
                    joint: j,
                    rows: 0,
                    bodies,
                    j: [[[0.0; 8]; 2]; ROWS],
                    offset: [0.0; ROWS],
                    compliance: [0.0; ROWS],
                    w: [0.0; ROWS],
                });
            }
            let Some(hold) = self.holds.last_mut() else { continue };
            let k = hold.rows;
            hold.j[k] = parts;
            hold.offset[k] = joint.row.offset;
            hold.compliance[k] = joint.compliance;
            hold.w[k] = prepared.mobility(&joint.row.row, &mut self.room);
            hold.rows += 1;
        }
    }

    /// Whether Newton finds its way without a warm start: joints alone are linear, without friction the problem is convex,
    /// and what touches in one point each is soon sorted out.
    pub(super) fn is_tame(&self) -> bool {
        self.is_simple || !self.touches.iter().any(|t| t.has_friction)
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

fn touch<const T: usize>(
    problem: &StepProblem,
    mobilities: &[Mobility],
    contact: usize,
    local: &[u32],
) -> Touch<T> {
    let c = &problem.contacts[contact];
    let bodies = bodies_of(problem, c).map(|b| b.map_or(WORLD, |b| local[b]));
    let bound_by = problem.bound_by(contact);
    let normal = bound_by.and_then(|bound_by| problem.contacts[bound_by].normal.as_ref());
    let has_friction = !c.tangents.is_empty() && (c.kappa > 0.0 || (c.mu > 0.0 && normal.is_some()));
    let mut touch = Touch {
        contact,
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
        touch.n = in_order(parts(&normal.row, local), bodies);
        touch.offset = normal.offset;
        touch.w_n = bound_by.map_or(0.0, |bound_by| mobilities[bound_by].normal);
    }
    for (k, tangent) in c.tangents.iter().enumerate().filter(|_| has_friction) {
        let axis = match &c.set {
            FrictionSet::Ellipse(axes) => axes[k],
            FrictionSet::Polygon(generators) => generators.iter().fold(0.0, |m: f64, g| m.max(g[0])),
        };
        touch.axes[k] = axis;
        touch.t[k] = in_order(parts(&tangent.row, local), bodies).map(|part| part.map(|x| axis * x));
        touch.slip[k] = axis * tangent.offset;
        touch.w_t += axis * axis * mobilities[contact].tangent[k][k] / c.tangents.len() as f64;
    }
    if touch.w_t == 0.0 {
        touch.w_t = touch.w_n;
    }
    touch.over_n = if touch.has_normal { 1.0 / touch.w_n } else { 0.0 };
    touch.over_t = if touch.has_friction { 1.0 / touch.w_t } else { 0.0 };
    touch
}

/// The bodies of a row, and its part of each.
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

/// The parts in the order of `bodies`.
fn in_order((own, parts): ([u32; 2], [Lane; 2]), bodies: [u32; 2]) -> [Lane; 2] {
    if own[0] == bodies[0] { parts } else { [parts[1], parts[0]] }
}

/// The bodies that the rows of a contact touch, those of its bound_by first, in the order they are named; the first two
/// if there are more.
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
