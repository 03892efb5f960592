//! Gauss–Seidel sweeps over a problem in local form, on the entries of W that are not zero: in a pile each contact acts on
//! few others. A sweep of 2,000 contacts takes a tenth of a millisecond, where a factorization takes seconds.

use crate::problem::LocalProblem;

// Constants of the method.

/// Multiplications that all trials may take together: some seconds. Sensible range 1e8 to 1e10.
const MAX_MULTIPLICATIONS: usize = 4_000_000_000;

/// Sweeps of one trial at most. Piles that settle do so within half of it.
const MAX_SWEEPS: usize = 24_000;

/// Sweeps between two looks at the residual.
const SWEEPS_PER_LOOK: usize = 50;

/// Order in which a sweep visits the contacts.
#[derive(Debug, Clone, Copy)]
enum SweepOrder {
    /// From the first to the last.
    Forward,
    /// Forward and backward in turn.
    Alternating,
    /// Shuffled before each sweep, by a fixed sequence.
    Shuffled,
}

/// Trials, each from the impulses at the start: order, and part of a contact's own correction that is made. Friction is not
/// monotone, so any of them may go round in circles where another settles.
const TRIALS: [(SweepOrder, f64); 4] = [
    (SweepOrder::Alternating, 1.0),
    (SweepOrder::Forward, 1.0),
    (SweepOrder::Shuffled, 1.0),
    (SweepOrder::Alternating, 0.5),
];

/// Multiplier and increment of the linear congruential sequence that shuffles (Knuth, MMIX).
const SHUFFLE: [u64; 2] = [6_364_136_223_846_793_005, 1_442_695_040_888_963_407];

/// Rows of W by their entries that are not zero.
struct SparseRows {
    start: Vec<usize>,
    entries: Vec<(usize, f64)>,
}

impl SparseRows {
    fn of(problem: &LocalProblem) -> Self {
        let n = problem.q.len();
        let (mut start, mut entries) = (vec![0], Vec::new());
        for i in 0..n {
            entries.extend(problem.w.row(i).iter().copied().enumerate().filter(|(_, x)| *x != 0.0));
            start.push(entries.len());
        }
        Self { start, entries }
    }

    /// Speed of row i.
    fn speed(&self, i: usize, q: f64, r: &[f64]) -> f64 {
        let row = &self.entries[self.start[i]..self.start[i + 1]];
        row.iter().fold(q, |sum, (j, x)| sum + x * r[*j])
    }
}

/// Sweeps over a problem with friction circles, or in the plane.
pub(super) struct Sweeps<'a> {
    problem: &'a LocalProblem,
    rows: SparseRows,
    /// Entries of W of each contact with itself: normal, largest tangent, and tangents by the normal.
    own: Vec<(f64, f64, [f64; 2])>,
    /// Sweeps made so far.
    pub(super) made: usize,
}

impl<'a> Sweeps<'a> {
    /// Sweeps over a problem; `None` for friction polygons.
    pub(super) fn new(problem: &'a LocalProblem) -> Option<Self> {
        if problem.facets.is_some() {
            return None;
        }
        let (d, w) = (problem.dim, &problem.w);
        let own = |i: usize| {
            let a = i * d;
            let tangent = (1..d).fold(0.0, |m: f64, k| m.max(w[(a + k, a + k)]));
            (w[(a, a)], tangent, std::array::from_fn(|k| if k + 1 < d { w[(a + 1 + k, a)] } else { 0.0 }))
        };
        let own: Vec<_> = (0..problem.mu.len()).map(own).collect();
        // a contact that moves nothing has no impulse of its own
        let moves = own.iter().all(|(normal, tangent, _)| *normal > 0.0 && *tangent > 0.0);
        moves.then(|| Self { problem, rows: SparseRows::of(problem), own, made: 0 })
    }

    /// Impulses r whose natural map is at most `target` [m/s], from the impulses `start`; `None` if no trial finds them.
    pub(super) fn run(&mut self, start: &[f64], target: f64) -> Option<Vec<f64>> {
        let limit = MAX_MULTIPLICATIONS / (TRIALS.len() * self.rows.entries.len().max(1));
        for (order, part) in TRIALS {
            let mut r = start.to_vec();
            let mut visits: Vec<usize> = (0..self.own.len()).collect();
            let mut state = 1;
            for sweep in 0..limit.min(MAX_SWEEPS) {
                match order {
                    SweepOrder::Forward => {}
                    SweepOrder::Alternating => visits.reverse(),
                    SweepOrder::Shuffled => shuffle(&mut visits, &mut state),
                }
                visits.iter().for_each(|&i| self.settle(i, part, &mut r));
                self.made += 1;
                if sweep % SWEEPS_PER_LOOK == 0 && self.residual(&r) <= target {
                    return Some(r);
                }
            }
        }
        None
    }

    /// Moves the impulse of contact i towards its solution with all others as they are.
    fn settle(&self, i: usize, part: f64, r: &mut [f64]) {
        let d = self.problem.dim;
        let (a, q, (normal, tangent, cross)) = (i * d, &self.problem.q, self.own[i]);
        let mut x = [0.0; 2];
        (1..d).for_each(|k| x[k - 1] = self.rows.speed(a + k, q[a + k], r));
        let pushed = (r[a] - part * self.rows.speed(a, q[a], r) / normal).max(0.0);
        let change = pushed - r[a];
        r[a] = pushed;
        for k in 1..d {
            x[k - 1] = r[a + k] - part * (x[k - 1] + cross[k - 1] * change) / tangent;
        }
        let shrink = shrink(x, self.problem.mu[i] * pushed);
        (1..d).for_each(|k| r[a + k] = shrink * x[k - 1]);
    }

    /// Largest natural map of a contact [m/s].
    fn residual(&self, r: &[f64]) -> f64 {
        let (d, q) = (self.problem.dim, &self.problem.q);
        let mut worst: f64 = 0.0;
        for (i, (normal, tangent, _)) in self.own.iter().enumerate() {
            let a = i * d;
            let opening = (normal * r[a]).min(self.rows.speed(a, q[a], r)).abs();
            let mut x = [0.0; 2];
            (1..d).for_each(|k| x[k - 1] = tangent * r[a + k] - self.rows.speed(a + k, q[a + k], r));
            let shrink = shrink(x, tangent * self.problem.mu[i] * r[a]);
            let slip = (1..d).fold(0.0, |sum: f64, k| sum.hypot(tangent * r[a + k] - shrink * x[k - 1]));
            let own = opening.max(slip);
            worst = if own.is_nan() { f64::INFINITY } else { worst.max(own) };
        }
        worst
    }
}

/// Factor that brings a vector into the disc of this radius.
fn shrink(x: [f64; 2], radius: f64) -> f64 {
    let size = x[0].hypot(x[1]);
    if size > radius { radius / size } else { 1.0 }
}

/// Shuffles a list by the sequence that continues `state`.
fn shuffle(list: &mut [usize], state: &mut u64) {
    let [multiplier, increment] = SHUFFLE;
    for k in (1..list.len()).rev() {
        *state = state.wrapping_mul(multiplier).wrapping_add(increment);
        #[allow(clippy::cast_possible_truncation, reason = "a remainder of a length")]
        list.swap(k, ((*state >> 33) % (k as u64 + 1)) as usize);
    }
}
