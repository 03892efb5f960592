//! Heaps of boxes of any size, with any friction and mass ratio.

use super::{ENSEMBLE_STEP, EnsembleFriction, G, body, contact, row, vector};
use nalgebra::Vector3;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stiction_lcp::problem::{FrictionSet, Joint, OffsetRow, StepProblem};

/// Arrangement of unit boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// One box on the other.
    Tower(usize),
    /// Bricks in a bond: columns and courses.
    Wall(usize, usize),
    /// Cube with this many boxes along each edge, all faces touching.
    Pile(usize),
    /// Tower with an additional ball joint between each two boxes.
    Jointed(usize),
}

/// Heap of boxes with random velocities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heap {
    /// Arrangement of the boxes.
    pub arrangement: Arrangement,
    /// Coulomb coefficient of all contacts.
    pub mu: f64,
    /// Largest component of a velocity [m/s; rad/s].
    pub speed: f64,
    /// Mass of a box at the top relative to one at the bottom, which has 1 kg.
    pub mass_ratio: f64,
    /// Seed of the velocities.
    pub seed: u64,
}

impl Heap {
    /// Step problem with circular friction.
    pub fn sample(&self) -> StepProblem {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let friction = EnsembleFriction { mu: self.mu, set: FrictionSet::circle() };
        let mut problem = StepProblem { speed_scale: G * ENSEMBLE_STEP, ..StepProblem::default() };
        let (places, levels) = self.arrangement.places();
        for place in &places {
            let level = place.z / (levels as f64 - 1.0).max(1.0);
            let mass = self.mass_ratio.powf(level);
            let inertia = Vector3::repeat(mass / 6.0);
            let [v, w] = [(); 2].map(|()| self.speed * vector(&mut rng, 1.0));
            problem.bodies.push(body(mass, inertia, v, w));
        }
        for (i, upper) in places.iter().enumerate() {
            if upper.z == 0.0 {
                patch(&mut problem, None, (i, *upper), Vector3::z(), &friction);
            }
        }
        for (i, a) in places.iter().enumerate() {
            for (j, b) in places.iter().enumerate().skip(i + 1) {
                let d = b - a;
                let Some(axis) = (0..3).find(|&k| (d[k] - 1.0).abs() < 1e-9) else { continue };
                let beside = (0..3).filter(|&k| k != axis).all(|k| d[k].abs() < 0.9);
                // the bricks of a wall have gaps sideways
                let walls = matches!(self.arrangement, Arrangement::Wall(..)) && axis != 2;
                if beside && !walls {
                    patch(&mut problem, Some((i, *a)), (j, *b), Vector3::ith(axis, 1.0), &friction);
                }
            }
        }
        if let Arrangement::Jointed(_) = self.arrangement {
            for i in 1..places.len() {
                let (below, above) = (Some((i - 1, 0.5 * Vector3::z())), Some((i, -0.5 * Vector3::z())));
                for axis in 0..3 {
                    let row = row(below, above, Vector3::ith(axis, 1.0));
                    problem.joints.push(Joint { row: OffsetRow { row, offset: 0.0 }, compliance: 0.0 });
                }
            }
        }
        problem
    }
}

impl Arrangement {
    /// Positions of the boxes, lower ones first, and the number of levels.
    fn places(self) -> (Vec<Vector3<f64>>, usize) {
        let (columns, depth, levels, shift) = match self {
            Self::Tower(n) | Self::Jointed(n) => (1, 1, n, 0.0),
            Self::Wall(columns, courses) => (columns, 1, courses, 0.5),
            Self::Pile(n) => (n, n, n, 0.0),
        };
        let mut places = Vec::new();
        for z in 0..levels {
            for y in 0..depth {
                for x in 0..columns {
                    let x = x as f64 + shift * (z % 2) as f64;
                    places.push(Vector3::new(x, y as f64, z as f64));
                }
            }
        }
        (places, levels)
    }
}

/// Four contacts at the corners of the common face of two boxes, or of the lower face of one.
fn patch(
    problem: &mut StepProblem,
    a: Option<(usize, Vector3<f64>)>,
    b: (usize, Vector3<f64>),
    normal: Vector3<f64>,
    friction: &EnsembleFriction,
) {
    let centre = b.1 - 0.5 * normal;
    let (mut low, mut high) = (b.1 - Vector3::repeat(0.5), b.1 + Vector3::repeat(0.5));
    if let Some((_, place)) = a {
        low = low.sup(&(place - Vector3::repeat(0.5)));
        high = high.inf(&(place + Vector3::repeat(0.5)));
    }
    let axis = normal.iamax();
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    for (first, second) in [(false, false), (true, false), (true, true), (false, true)] {
        let mut point = centre;
        point[u] = if first { high[u] } else { low[u] };
        point[v] = if second { high[v] } else { low[v] };
        let lower = a.map(|(i, place)| (i, point - place));
        problem.contacts.push(contact(lower, Some((b.0, point - b.1)), normal, 0.0, friction));
    }
}
