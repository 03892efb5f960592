//! Step problems with planted solutions, for tests of the methods: modes, velocities and impulses in the cones are chosen,
//! offsets and momenta follow from them.

use crate::mode::{ContactMode, Mode};
use crate::problem::{Body, Contact, FrictionSet, Joint, OffsetRow, Row, StepProblem};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Problem to plant: contacts and joints between two bodies, or the world and a body.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) bodies: usize,
    pub(crate) contacts: Vec<(Option<usize>, usize, Mode)>,
    pub(crate) joints: Vec<(Option<usize>, usize)>,
    /// Number of contacts with the same rows; they share the impulse.
    pub(crate) copies: usize,
    pub(crate) set: FrictionSet,
    pub(crate) mu: f64,
}

/// Problem with a known solution.
#[derive(Debug, Clone)]
pub(crate) struct Planted {
    pub(crate) problem: StepProblem,
    pub(crate) velocity: Vec<f64>,
    pub(crate) z: Vec<f64>,
    pub(crate) modes: Vec<ContactMode>,
}

impl Plan {
    /// Bodies in a chain from the world, each pressed against the one before, with modes in turn and two joints.
    pub(crate) fn chain(bodies: usize, copies: usize, set: FrictionSet) -> Self {
        let modes = [Mode::Stick, Mode::Slip, Mode::Open];
        let contact = |i: usize| (i.checked_sub(1), i, modes[i % 3]);
        let joints = if bodies > 1 { vec![(None, bodies - 1), (Some(0), 1)] } else { Vec::new() };
        Self { bodies, contacts: (0..bodies).map(contact).collect(), joints, copies, set, mu: 0.3 }
    }

    /// Bodies that each touch the world alone: as many islands.
    pub(crate) fn islands(bodies: usize, copies: usize, set: FrictionSet) -> Self {
        let modes = [Mode::Slip, Mode::Stick, Mode::Open];
        let contacts = (0..bodies).flat_map(|i| [(None, i, modes[i % 3]), (None, i, modes[(i + 1) % 3])]);
        Self { bodies, contacts: contacts.collect(), joints: Vec::new(), copies, set, mu: 0.3 }
    }

    /// Random data for this plan.
    pub(crate) fn plant(&self, seed: u64) -> Planted {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut problem = StepProblem::default();
        let velocity: Vec<f64> = (0..6 * self.bodies).map(|_| rng.random_range(-1.0..1.0)).collect();
        for _ in 0..self.bodies {
            problem.bodies.push(Body::new(6, &definite(&mut rng), &[0.0; 6]));
        }
        let starts: Vec<usize> = (0..=self.bodies).map(|i| 6 * i).collect();
        let (mut z, mut modes) = (Vec::new(), Vec::new());
        for &(a, b) in &self.joints {
            let (row, c) = (random_row(&mut rng, a, b), rng.random_range(-1.0..1.0));
            let compliance = 0.1;
            let offset = -row.dot(&starts, &velocity) - compliance * c;
            problem.joints.push(Joint { row: OffsetRow { row, offset }, compliance });
            z.push(c);
        }
        for &(a, b, mode) in &self.contacts {
            let (contact, impulse, mode) = self.contact(&mut rng, (a, b), mode, &starts, &velocity);
            for _ in 0..self.copies {
                let share = impulse.map(|x| x / self.copies as f64);
                z.push(share[0]);
                let first = z.len();
                z.resize(first + contact.unknowns() - 1, 0.0);
                contact.friction_unknowns([share[1], share[2], 0.0], &mut z[first..]);
                problem.contacts.push(contact.clone());
                modes.push(mode);
            }
        }
        plant_momentum(&mut problem, &starts, &velocity, &z);
        Planted { problem, velocity, z, modes }
    }

    /// Contact in a mode at the planted velocity, with its impulse along normal and tangents.
    fn contact(
        &self,
        rng: &mut ChaCha8Rng,
        (a, b): (Option<usize>, usize),
        mode: Mode,
        starts: &[usize],
        v: &[f64],
    ) -> (Contact, [f64; 3], ContactMode) {
        let normal_impulse = rng.random_range(0.5..2.0);
        let bound = self.mu * normal_impulse;
        let direction = match &self.set {
            FrictionSet::Polygon(corners) => {
                let corner = corners[rng.random_range(0..corners.len())];
                [corner[0], corner[1]]
            }
            FrictionSet::Ellipse(_) => {
                let angle: f64 = rng.random_range(0.0..std::f64::consts::TAU);
                [angle.cos(), angle.sin()]
            }
        };
        let slip: f64 = rng.random_range(0.2..1.0);
        let (opening, slip, impulse, mode) = match mode {
            Mode::Open => (slip, [0.3, -0.2], [0.0; 3], ContactMode::OPEN),
            Mode::Stick => {
                let friction = direction.map(|d| 0.4 * bound * d);
                (0.0, [0.0; 2], [normal_impulse, friction[0], friction[1]], ContactMode::STICK)
            }
            Mode::Slip => {
                let friction = direction.map(|d| bound * d);
                let impulse = [normal_impulse, friction[0], friction[1]];
                (0.0, direction.map(|d| -slip * d), impulse, ContactMode::slip(direction))
            }
        };
        let mut row = |speed: f64| {
            let row = random_row(rng, a, b);
            let offset = speed - row.dot(starts, v);
            OffsetRow { row, offset }
        };
        let contact = Contact {
            normal: Some(row(opening)),
            tangents: slip.into_iter().map(&mut row).collect(),
            set: self.set.clone(),
            mu: self.mu,
            kappa: 0.0,
            bound_by: None,
        };
        (contact, impulse, mode)
    }
}

/// b = M v − Jᵀ r − νᵀ c.
fn plant_momentum(problem: &mut StepProblem, starts: &[usize], velocity: &[f64], z: &[f64]) {
    let mut momentum = vec![0.0; velocity.len()];
    problem.multiply_mass(starts, velocity, &mut momentum);
    let layout = problem.layout();
    for (joint, c) in problem.joints.iter().zip(z) {
        joint.row.row.add_transposed(starts, -c, &mut momentum);
    }
    for (i, contact) in problem.contacts.iter().enumerate() {
        let own = &z[layout.contact[i]..layout.contact[i + 1]];
        let p = contact.tangent_impulse(&own[1..]);
        for (row, impulse) in contact.rows().zip([own[0], p[0], p[1]]) {
            row.row.add_transposed(starts, -impulse, &mut momentum);
        }
    }
    for (body, b) in problem.bodies.iter_mut().zip(momentum.chunks_exact(6)) {
        body.momentum.copy_from_slice(b);
    }
}

fn random_row(rng: &mut ChaCha8Rng, a: Option<usize>, b: usize) -> Row {
    let mut j = || std::array::from_fn::<f64, 6, _>(|_| rng.random_range(-1.0..1.0));
    match a {
        Some(a) => Row::two(a, &j(), b, &j()),
        None => Row::one(b, &j()),
    }
}

/// Random symmetric matrix with eigenvalues of at least one.
fn definite(rng: &mut ChaCha8Rng) -> [f64; 36] {
    let root: [f64; 36] = std::array::from_fn(|_| rng.random_range(-0.5..0.5));
    std::array::from_fn(|k| {
        let (i, j) = (k / 6, k % 6);
        let unit = if i == j { 1.0 } else { 0.0 };
        unit + (0..6).map(|l| root[6 * i + l] * root[6 * j + l]).sum::<f64>()
    })
}

/// Largest difference of two vectors.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |worst, (a, b)| worst.max((a - b).abs()))
}

#[test]
fn planted_solutions_are_solutions() {
    for set in [FrictionSet::circle(), FrictionSet::regular(8).unwrap()] {
        for copies in 1..=3 {
            for plan in [Plan::chain(4, copies, set.clone()), Plan::islands(3, copies, set.clone())] {
                let planted = plan.plant(copies as u64);
                let candidate = crate::certify(&planted.problem, &planted.z).unwrap();
                assert!(candidate.certificate.passes(1e-13), "{:?}", candidate.certificate);
                assert!(distance(&candidate.velocity, &planted.velocity) < 1e-13);
            }
        }
    }
}
