//! Boxes heaped up: as large as one likes, with heavy on light and any friction.

use super::{Friction, G, H, body, contact, row, vector};
use nalgebra::Vector3;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stiction_lcp::problem::{FrictionSet, Joint, OffsetRow, StepProblem};

/// How boxes of unit size are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// One on the other.
    Tower(usize),
    /// Bricks in a bond: columns and courses.
    Wall(usize, usize),
    /// A cube of this many boxes along each edge, all faces touching.
    Pile(usize),
    /// A tower in which each box hangs on the one below by a ball joint in the middle as well.
    Jointed(usize),
}

/// A heap of boxes that move at random.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heap {
    /// How they are arranged.
    pub arrangement: Arrangement,
    /// Coulomb coefficient of all contacts.
    pub mu: f64,
    /// Largest component of a velocity [m/s; rad/s].
    pub speed: f64,
    /// Mass of a box at the top over that of one at the bottom, which is 1 kg.
    pub mass_ratio: f64,
    /// Which.
    pub seed: u64,
}

impl Heap {
    /// The step problem, with circular friction.
    pub fn sample(&self) -> StepProblem {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let friction = Friction { mu: self.mu, set: FrictionSet::circle() };
        let mut problem = StepProblem { speed_scale: G * H, ..StepProblem::default() };
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
                // bricks of a wall stand apart sideways
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
    /// Where the boxes are, lower ones first, and the number of levels.
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

/// Four contacts at the corners of the face two boxes share, or of the lower face of one.
fn patch(
    problem: &mut StepProblem,
    a: Option<(usize, Vector3<f64>)>,
    b: (usize, Vector3<f64>),
    normal: Vector3<f64>,
    friction: &Friction,
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
