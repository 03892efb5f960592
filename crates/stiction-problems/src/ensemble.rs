//! Random contact problems from a seed, for tests, soak runs and benchmarks; the same on every machine.

mod heap;
mod local_form;

use arrayvec::ArrayVec;
use nalgebra::Vector3;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction_lcp::problem::{Body, Contact, FrictionSet, Joint, OffsetRow, Row, StepProblem};

pub use heap::{Arrangement, Heap};
pub use local_form::local_form;

/// Time step of the problems [s].
const ENSEMBLE_STEP: f64 = 0.01;
/// Gravity [m/s²].
const G: f64 = 9.81;

/// ProblemKind of random problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// 1 to 4 free bodies with 1 to 11 contacts anywhere, some duplicated, some opposed.
    Random,
    /// Box on its four lower corners.
    Box,
    /// Tower of boxes, four contacts between each two.
    Stack(usize),
    /// Box on the floor between two walls, all corners touching.
    Jam,
    /// Jam with both walls penetrated: infeasible.
    PenetratedJam,
    /// Chain of bodies with joints, some of them redundant, and contacts.
    Chain,
}

impl ProblemKind {
    /// Kinds that always have a solution.
    pub const SOLVABLE: [Self; 6] =
        [Self::Random, Self::Box, Self::Stack(2), Self::Stack(3), Self::Jam, Self::Chain];

    /// Name in reports.
    pub fn name(self) -> String {
        match self {
            Self::Random => "random".into(),
            Self::Box => "box".into(),
            Self::Stack(n) => format!("stack of {n}"),
            Self::Jam => "jam".into(),
            Self::PenetratedJam => "penetrated jam".into(),
            Self::Chain => "chain".into(),
        }
    }

    /// Problem of this kind for a seed.
    pub fn sample(self, seed: u64) -> StepProblem {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        match self {
            Self::Random => random(&mut rng),
            Self::Box => stack(1, &friction(&mut rng), &mut rng),
            Self::Stack(n) => stack(n, &friction(&mut rng), &mut rng),
            Self::Jam => jam(0.0, &mut rng),
            Self::PenetratedJam => {
                let depth = rng.random_range(0.001..0.1);
                jam(depth, &mut rng)
            }
            Self::Chain => chain(&mut rng),
        }
    }
}

/// Mixture of the existence experiment of ST00: of ten problems six random, one box, one stack of two, one of three, one
/// jam; every tenth random problem is replaced by a chain.
pub fn mixture(seed: u64) -> (ProblemKind, StepProblem) {
    let kind = match seed % 10 {
        0..=5 if seed % 60 >= 54 => ProblemKind::Chain,
        0..=5 => ProblemKind::Random,
        6 => ProblemKind::Box,
        7 => ProblemKind::Stack(2),
        8 => ProblemKind::Stack(3),
        _ => ProblemKind::Jam,
    };
    (kind, kind.sample(seed))
}

/// Tower of unit boxes with four contacts between each two and under the lowest, for benchmarks.
pub fn tower(boxes: usize, directions: usize, seed: u64) -> StepProblem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let set = FrictionSet::regular(directions).unwrap_or_else(FrictionSet::line);
    stack(boxes, &EnsembleFriction { mu: 0.5, set }, &mut rng)
}

/// EnsembleFriction of all contacts of a problem.
#[derive(Clone)]
struct EnsembleFriction {
    mu: f64,
    set: FrictionSet,
}

/// Random μ and directions as in the existence experiment of ST00.
fn friction(rng: &mut ChaCha8Rng) -> EnsembleFriction {
    let mu = *[0.0, 0.1, 0.4, 0.8, 1.5].choose(rng).unwrap_or(&0.4);
    let directions = *[2, 4, 8].choose(rng).unwrap_or(&4);
    EnsembleFriction { mu, set: FrictionSet::regular(directions).unwrap_or_else(FrictionSet::line) }
}

fn vector(rng: &mut ChaCha8Rng, size: f64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| rng.random_range(-size..size))
}

fn unit(rng: &mut ChaCha8Rng) -> Vector3<f64> {
    let v = vector(rng, 1.0);
    v.try_normalize(1e-3).unwrap_or_else(Vector3::z)
}

/// Body of given mass and principal moments of inertia after a free step, with velocities (linear, angular).
fn body(mass: f64, inertia: Vector3<f64>, v: Vector3<f64>, w: Vector3<f64>) -> Body {
    let diagonal = [mass, mass, mass, inertia.x, inertia.y, inertia.z];
    let velocity = [v.x, v.y, v.z - G * ENSEMBLE_STEP, w.x, w.y, w.z];
    let mut body = Body::new(6, &[0.0; 36], &[0.0; 6]);
    for i in 0..6 {
        body.mass[(i, i)] = diagonal[i];
        body.momentum[i] = diagonal[i] * velocity[i];
    }
    body
}

/// Point of a body: its index, and the lever from its centre. `None` is the world.
type BodyPoint = Option<(usize, Vector3<f64>)>;

/// Row of the speed of point b relative to point a along `direction`.
fn row(a: BodyPoint, b: BodyPoint, direction: Vector3<f64>) -> Row {
    let part = |(body, lever): (usize, Vector3<f64>), sign: f64| {
        let (d, m) = (sign * direction, sign * lever.cross(&direction));
        (body, [d.x, d.y, d.z, m.x, m.y, m.z])
    };
    match (a.map(|s| part(s, -1.0)), b.map(|s| part(s, 1.0))) {
        (Some((i, ji)), Some((j, jj))) => Row::two(i, &ji, j, &jj),
        (Some((i, j)), None) | (None, Some((i, j))) => Row::one(i, &j),
        (None, None) => Row::Sparse(Vec::new()),
    }
}

fn contact(
    a: BodyPoint,
    b: BodyPoint,
    normal: Vector3<f64>,
    offset: f64,
    friction: &EnsembleFriction,
) -> Contact {
    let aside = if normal.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() };
    let first = (aside - normal * normal.dot(&aside)).normalize();
    let tangents: ArrayVec<OffsetRow, 3> = [first, normal.cross(&first)]
        .into_iter()
        .map(|t| OffsetRow { row: row(a, b, t), offset: 0.0 })
        .collect();
    Contact {
        normal: Some(OffsetRow { row: row(a, b, normal), offset }),
        tangents,
        set: friction.set.clone(),
        mu: friction.mu,
        kappa: 0.0,
        bound_by: None,
    }
}

fn random(rng: &mut ChaCha8Rng) -> StepProblem {
    let mut problem = StepProblem { speed_scale: G * ENSEMBLE_STEP, ..StepProblem::default() };
    let bodies = rng.random_range(1..=4);
    for _ in 0..bodies {
        let mass = 10f64.powf(rng.random_range(-1.0..1.0));
        let inertia = vector(rng, 1.0).map(|x| mass * (0.05 + 0.15 * x.abs()));
        problem.bodies.push(body(mass, inertia, vector(rng, 1.0), vector(rng, 1.0)));
    }
    let contacts = rng.random_range(1..=11);
    while problem.contacts.len() < contacts {
        let last = problem.contacts.last().cloned();
        let next = match (rng.random_range(0..10), last) {
            (0, Some(same)) => same,
            (1, Some(mut opposed)) => {
                // the opposite normal with the same tangents
                if let Some(OffsetRow { row: Row::Bodies(terms), .. }) = &mut opposed.normal {
                    terms.iter_mut().flat_map(|t| &mut t.j).for_each(|x| *x = -*x);
                }
                opposed
            }
            _ => {
                let a = rng.random_range(0..bodies);
                let b = rng.random_range(0..=bodies);
                let first = Some((a, vector(rng, 0.5)));
                let second = (b < bodies && b != a).then(|| (b, vector(rng, 0.5)));
                let friction = friction(rng);
                contact(second, first, unit(rng), 0.0, &friction)
            }
        };
        problem.contacts.push(next);
    }
    problem
}

const CORNERS: [(f64, f64); 4] = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];

/// Unit box with velocities of up to 0.1.
fn unit_box(rng: &mut ChaCha8Rng) -> Body {
    body(1.0, Vector3::repeat(1.0 / 6.0), vector(rng, 0.1), vector(rng, 0.1))
}

fn stack(boxes: usize, friction: &EnsembleFriction, rng: &mut ChaCha8Rng) -> StepProblem {
    let mut problem = StepProblem { speed_scale: G * ENSEMBLE_STEP, ..StepProblem::default() };
    for i in 0..boxes {
        problem.bodies.push(unit_box(rng));
        for (x, y) in CORNERS {
            let below = i.checked_sub(1).map(|j| (j, Vector3::new(x, y, 0.5)));
            let above = Some((i, Vector3::new(x, y, -0.5)));
            problem.contacts.push(contact(below, above, Vector3::z(), 0.0, friction));
        }
    }
    problem
}

fn jam(depth: f64, rng: &mut ChaCha8Rng) -> StepProblem {
    let friction = friction(rng);
    let mut problem = StepProblem { speed_scale: G * ENSEMBLE_STEP, ..StepProblem::default() };
    problem.bodies.push(unit_box(rng));
    let offset = -depth / ENSEMBLE_STEP;
    let with_floor = rng.random_bool(0.5);
    for (x, y) in CORNERS {
        for side in [-1.0, 1.0] {
            let corner = Some((0, Vector3::new(0.5 * side, x, y)));
            problem.contacts.push(contact(None, corner, -side * Vector3::x(), offset, &friction));
        }
        if with_floor {
            let corner = Some((0, Vector3::new(x, y, -0.5)));
            problem.contacts.push(contact(None, corner, Vector3::z(), 0.0, &friction));
        }
    }
    problem
}

/// Bodies on ball joints in a row, the first one attached to the world; some joint rows occur twice.
fn chain(rng: &mut ChaCha8Rng) -> StepProblem {
    let friction = friction(rng);
    let mut problem = StepProblem { speed_scale: G * ENSEMBLE_STEP, ..StepProblem::default() };
    let links: usize = rng.random_range(1..=4);
    for i in 0..links {
        let mass = 10f64.powf(rng.random_range(-1.0..1.0));
        let inertia = mass * Vector3::new(0.01, 0.08, 0.08);
        problem.bodies.push(body(mass, inertia, vector(rng, 1.0), vector(rng, 1.0)));
        let end = |sign: f64| Vector3::new(0.5 * sign, 0.0, 0.0);
        let before = i.checked_sub(1).map(|j| (j, end(1.0)));
        for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
            // without an error: with one, existence would depend on a pointed cone
            let row = OffsetRow { row: row(before, Some((i, end(-1.0))), axis), offset: 0.0 };
            let compliance = if rng.random_bool(0.1) { 1e-3 } else { 0.0 };
            let joint = Joint { row, compliance };
            if compliance == 0.0 && rng.random_bool(0.2) {
                problem.joints.push(joint.clone());
            }
            problem.joints.push(joint);
        }
        if rng.random_bool(0.7) {
            let point = Some((i, Vector3::new(rng.random_range(-0.5..0.5), 0.1, -0.1)));
            problem.contacts.push(contact(None, point, Vector3::z(), 0.0, &friction));
        }
    }
    problem
}

/// Problem with torsional friction of this radius [m] and rolling friction of this length [m] at every contact; 0 is
/// none. For bodies in space, (x, y, z, rotation).
#[must_use]
pub fn with_moments(step: &StepProblem, torsion: f64, rolling: f64) -> StepProblem {
    // angular velocity of b relative to a about the direction of a row, times a length
    let turn = |row: &OffsetRow, length: f64| {
        let mut row = row.clone();
        if let Row::Bodies(terms) = &mut row.row {
            terms.iter_mut().for_each(|t| t.j = [0.0, 0.0, 0.0, t.j[0], t.j[1], t.j[2]].map(|x| length * x));
        }
        OffsetRow { offset: 0.0, ..row }
    };
    let mut with = step.clone();
    for (i, contact) in step.contacts.iter().enumerate() {
        let Some(normal) = contact.normal.as_ref().filter(|_| contact.tangents.len() == 2) else { continue };
        if torsion > 0.0 {
            with.contacts[i].tangents.push(turn(normal, torsion));
            with.contacts[i].set = contact.set.with_spin();
        }
        if rolling > 0.0 {
            let tangents = contact.tangents.iter().map(|t| turn(t, rolling)).collect();
            let set = contact.set.clone();
            with.contacts.push(Contact {
                normal: None,
                tangents,
                set,
                mu: 1.0,
                kappa: 0.0,
                bound_by: Some(i),
            });
        }
    }
    with
}
