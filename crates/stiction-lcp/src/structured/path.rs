//! Central path followed by arc length, for problems whose path turns back.
//!
//! The problem is not monotone: the path from a point inside the cones to a solution may require its parameter τ to rise
//! for a while. There the interior point method loses its step length. Here τ is an unknown, as the artificial variable
//! is in Lemke's method: linear errors = τ · errors at the start, products = τ · products at the start. A step is a
//! corrector back to the path, across its tangent, and a predictor along it, from one factorization.

#[cfg(test)]
mod tests;

use super::equations::Equations;
use super::interior::{ConePair, ConeRhs, ContactScale, InteriorWorkspace, LinearErrors, impulse};
use super::island::{Island, Lane};
use super::iterate::{ContactVector, Iterate, length, product};

// Constants of the method. Arc lengths are relative to the iterate: one is a change of a pair by its own size.

/// Initial arc length of a predictor [-]. Sensible range 0.1 to 10: lower takes more steps, higher starts with rejected
/// ones.
const INITIAL_ARC: f64 = 1.0;

/// Arc length below which the method gives up [-]. Sensible range 1e-6 to 1e-2: lower wastes factorizations, higher gives
/// up at sharp turns.
const MIN_ARC: f64 = 1e-4;

/// Largest arc length [-]. Beyond, the predictor leaves the neighbourhood of the path and is rejected.
const MAX_ARC: f64 = 100.0;

/// Factor of the arc length after 0, 1, 2, and 3 or more corrector steps [-].
const ARC_GROWTH: [f64; 4] = [2.0, 1.0, 0.5, 0.3];

/// Factor of the arc length after a predictor from which the path was not found again [-].
const ARC_AFTER_REJECTION: f64 = 0.2;

/// Factor of the arc length when a predictor leaves the cones [-].
const ARC_BACKTRACK: f64 = 0.7;

/// Fraction of the distance to the boundary of the cones that a step may take [-]. Sensible range 0.5 to 0.99: lower
/// takes more steps, higher leaves pairs too close to the boundary to follow a turn.
const PATH_BOUNDARY_FRACTION: f64 = 0.9;

/// Relative error of the products up to which an iterate counts as on the path [-]. Sensible range 0.1 to 0.9: lower
/// takes more correctors, higher follows a neighbouring path.
const ON_PATH: f64 = 0.5;

/// Corrector steps in a row after which the last predictor counts as too long.
const MAX_CORRECTIONS: usize = 3;

/// τ at which a path has turned back past its start at τ = 1 and is given up [-].
const MAX_TAU: f64 = 2.0;

/// Smallest ratio of τ after and before a predictor [-]: keeps τ positive.
const MIN_TAU_RATIO: f64 = 0.05;

/// Largest factor of a scattered start size, and smallest reciprocal [-]. Sensible range 2 to 10: lower starts lie on
/// neighbouring paths, from higher ones fewer paths arrive.
const MAX_SCATTER: f64 = 3.0;

/// Mean sizes of scattered starts, in turn [-]. Small ones succeed most often.
const SCATTERED_SIZES: [f64; 6] = [0.03, 0.3, 0.01, 3.0, 0.1, 1000.0];

/// Sizes of the pairs that a path starts from, in units of the speed scale.
#[derive(Debug, Clone, Copy)]
pub(super) enum PathStart {
    /// One size for all contacts.
    Even(f64),
    /// Sizes scattered by contact; the number chooses mean and scatter.
    Scattered(u32),
}

impl PathStart {
    fn of(self, contact: usize) -> f64 {
        match self {
            Self::Even(size) => size,
            Self::Scattered(number) => {
                let mean = SCATTERED_SIZES[number as usize % SCATTERED_SIZES.len()];
                mean * MAX_SCATTER.powf(2.0 * fraction(number, contact) - 1.0)
            }
        }
    }
}

/// Number in [0, 1) that looks random and is the same in every run: the finalizer of SplitMix64.
fn fraction(number: u32, contact: usize) -> f64 {
    let mut x = (u64::from(number) << 32 | contact as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ x >> 31) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Directions and reference point of the method. Storage is reused from problem to problem.
#[derive(Debug, Clone, Default)]
pub(super) struct PathWorkspace<const T: usize> {
    /// Linear errors at the start, and their negatives: the right-hand side of dX/dτ.
    start_errors: LinearErrors<T>,
    rate: LinearErrors<T>,
    /// Products at the start: normal, friction.
    products: Vec<[f64; 2]>,
    /// dX/dτ, and the Newton step at fixed τ.
    tangent: PathPoint<T>,
    newton: PathPoint<T>,
    /// Last point on the path, with the predictor and corrector from there.
    base: PathPoint<T>,
    predictor: PathPoint<T>,
    corrector: PathPoint<T>,
}

/// Point or direction in all unknowns and τ.
#[derive(Debug, Clone, Default)]
struct PathPoint<const T: usize> {
    pairs: Vec<ConePair<T>>,
    v: Vec<Lane>,
    c: Vec<[f64; 6]>,
    tau: f64,
}

/// Run of the method; the last iterate is left in `at`.
pub(super) struct CentralPath<'a, const T: usize> {
    island: &'a Island<T>,
    equations: &'a mut Equations,
    interior: &'a mut InteriorWorkspace<T>,
    path: &'a mut PathWorkspace<T>,
    at: &'a mut Iterate<T>,
    /// Unit of speeds [m/s].
    speed: f64,
    tau: f64,
    arc: f64,
    /// Corrector steps since the last point on the path.
    corrections: usize,
    /// Whether a point on the path was found, whose predictor tells forward from backward.
    oriented: bool,
}

impl<'a, const T: usize> CentralPath<'a, T> {
    /// Cold start with the pairs of each contact at a size in units of `speed` [m/s].
    pub(super) fn new(
        island: &'a Island<T>,
        equations: &'a mut Equations,
        interior: &'a mut InteriorWorkspace<T>,
        path: &'a mut PathWorkspace<T>,
        at: &'a mut Iterate<T>,
        speed: f64,
        sizes: PathStart,
    ) -> Self {
        interior.begin(island, at, speed, |contact| sizes.of(contact));
        interior.find_errors(island, at);
        path.begin(interior);
        let (tau, arc) = (1.0, INITIAL_ARC);
        Self { island, equations, interior, path, at, speed, tau, arc, corrections: 0, oriented: false }
    }

    /// Follows the path to a residual of `target` [m/s]. Returns the number of factorizations.
    pub(super) fn run(mut self, target: f64, factorizations: usize) -> usize {
        for round in 0..factorizations {
            self.interior.find_errors(self.island, self.at);
            if self.tau > MAX_TAU || self.is_converged(target) {
                return round;
            }
            if !self.interior.factor(self.island, self.equations) {
                return round + 1;
            }
            let off_path = self.find_directions();
            if off_path <= ON_PATH {
                self.accept_point();
            } else if self.correct() {
                continue;
            }
            if !self.shorten_predictor() {
                return round + 1;
            }
            self.predict();
        }
        factorizations
    }

    fn is_converged(&self, target: f64) -> bool {
        self.tau * self.speed <= target && self.interior.residual(self.island, self.at) <= target
    }

    /// Tangent of the path and Newton step at fixed τ, made orthogonal to the tangent. Returns the relative error of the
    /// products.
    fn find_directions(&mut self) -> f64 {
        let Self { island, equations, interior, path, tau, .. } = self;
        path.find_tangent(interior, island, equations);
        let off_path = path.find_newton_step(interior, island, equations, *tau);
        let shift = -self.inner(&self.path.tangent, &self.path.newton) / self.tangent_square();
        let PathWorkspace { tangent, newton, .. } = &mut *self.path;
        newton.add(shift, tangent);
        off_path
    }

    fn tangent_square(&self) -> f64 {
        self.inner(&self.path.tangent, &self.path.tangent)
    }

    /// Inner product of two directions, relative to the pairs and to τ.
    fn inner(&self, a: &PathPoint<T>, b: &PathPoint<T>) -> f64 {
        let weight = 1.0 / (self.tau * self.tau);
        weighted(self.island, &self.interior.scales, &self.interior.pairs, &a.pairs, &b.pairs)
            + a.tau * b.tau * weight
    }

    /// Takes the iterate as a point on the path: keeps its tangent as predictor, with the direction of the last one.
    fn accept_point(&mut self) {
        let square = self.tangent_square();
        // at the start τ falls
        let forward =
            if self.oriented { self.inner(&self.path.tangent, &self.path.predictor).signum() } else { -1.0 };
        self.oriented = true;
        let PathWorkspace { tangent, newton, base, predictor, corrector, .. } = &mut *self.path;
        tangent.scale(forward / square.sqrt());
        std::mem::swap(predictor, tangent);
        std::mem::swap(corrector, newton);
        base.take(self.interior, self.at, self.tau);
        self.arc *= ARC_GROWTH[self.corrections.min(ARC_GROWTH.len() - 1)];
        self.arc = self.arc.min(MAX_ARC);
        self.corrections = 0;
    }

    /// Takes the Newton step towards the path. If that leaves the cones or takes too many steps, restores the last point
    /// on the path with a shorter arc and returns `false`.
    fn correct(&mut self) -> bool {
        let Self { island, interior, path, at, .. } = self;
        self.corrections += 1;
        interior.step.clone_from(&path.newton.pairs);
        let inside = interior.distance_to_boundary(island) * PATH_BOUNDARY_FRACTION >= 1.0;
        if self.corrections <= MAX_CORRECTIONS && inside && self.tau + path.newton.tau > 0.0 {
            path.newton.apply(1.0, interior, island, at, self.speed);
            self.tau += path.newton.tau;
            return true;
        }
        path.base.restore(interior, at);
        self.tau = path.base.tau;
        self.arc *= ARC_AFTER_REJECTION;
        self.corrections = 0;
        false
    }

    /// Shortens the arc until corrector and predictor stay inside the cones; `false` if it becomes too short.
    fn shorten_predictor(&mut self) -> bool {
        let Self { island, interior, path, .. } = self;
        let (predictor, corrector) = (&path.predictor, &path.corrector);
        while self.arc >= MIN_ARC {
            interior.step.clear();
            let pairs = corrector.pairs.iter().zip(&predictor.pairs);
            interior.step.extend(pairs.map(|(back, ahead)| back.along(self.arc, ahead)));
            let tau = self.tau + corrector.tau + self.arc * predictor.tau;
            let inside = interior.distance_to_boundary(island) * PATH_BOUNDARY_FRACTION >= 1.0;
            if inside && tau > MIN_TAU_RATIO * self.tau {
                return true;
            }
            self.arc *= ARC_BACKTRACK;
        }
        false
    }

    /// Takes corrector and predictor.
    fn predict(&mut self) {
        let Self { island, interior, path, at, speed, .. } = self;
        path.corrector.apply(1.0, interior, island, at, *speed);
        path.predictor.apply(self.arc, interior, island, at, *speed);
        self.tau += path.corrector.tau + self.arc * path.predictor.tau;
    }
}

impl<const T: usize> PathPoint<T> {
    /// Keeps the iterate.
    fn take(&mut self, interior: &InteriorWorkspace<T>, at: &Iterate<T>, tau: f64) {
        self.pairs.clone_from(&interior.pairs);
        self.v.clone_from(&at.v);
        self.c.clone_from(&at.c);
        self.tau = tau;
    }

    /// Restores the iterate.
    fn restore(&self, interior: &mut InteriorWorkspace<T>, at: &mut Iterate<T>) {
        interior.pairs.clone_from(&self.pairs);
        at.v.clone_from(&self.v);
        at.c.clone_from(&self.c);
    }

    /// Takes the direction that the interior workspace has found.
    fn take_step(&mut self, interior: &mut InteriorWorkspace<T>, tau: f64) {
        std::mem::swap(&mut self.pairs, &mut interior.step);
        std::mem::swap(&mut self.v, &mut interior.dv);
        std::mem::swap(&mut self.c, &mut interior.dc);
        self.tau = tau;
    }

    /// self += c · other.
    fn add(&mut self, c: f64, other: &Self) {
        for (x, y) in self.pairs.iter_mut().zip(&other.pairs) {
            *x = x.along(c, y);
        }
        for (x, y) in self.v.iter_mut().flatten().zip(other.v.iter().flatten()) {
            *x += c * y;
        }
        for (x, y) in self.c.iter_mut().flatten().zip(other.c.iter().flatten()) {
            *x += c * y;
        }
        self.tau += c * other.tau;
    }

    /// self *= c.
    fn scale(&mut self, c: f64) {
        for p in &mut self.pairs {
            *p =
                ConePair { c: c * p.c, w: c * p.w, x: p.x.map(|x| c * x), l: c * p.l, y: p.y.map(|y| c * y) };
        }
        self.v.iter_mut().flatten().for_each(|x| *x *= c);
        self.c.iter_mut().flatten().for_each(|x| *x *= c);
        self.tau *= c;
    }

    /// Moves the iterate by `length` times this direction.
    fn apply(
        &self,
        length: f64,
        interior: &mut InteriorWorkspace<T>,
        island: &Island<T>,
        at: &mut Iterate<T>,
        speed: f64,
    ) {
        for (x, d) in at.v.iter_mut().flatten().zip(self.v.iter().flatten()) {
            *x += length * d;
        }
        for (x, d) in at.c.iter_mut().flatten().zip(self.c.iter().flatten()) {
            *x += length * d;
        }
        for (i, pair) in interior.pairs.iter_mut().enumerate() {
            *pair = pair.along(length, &self.pairs[i]);
            at.r[i] = impulse(&island.contacts[i], pair, speed);
        }
    }
}

impl<const T: usize> PathWorkspace<T> {
    /// Keeps errors and products of the start.
    fn begin(&mut self, interior: &InteriorWorkspace<T>) {
        self.start_errors.copy_from(&interior.errors);
        self.rate.copy_from(&interior.errors);
        self.rate.momentum.iter_mut().flatten().for_each(|e| *e = -*e);
        self.rate.joints.iter_mut().flatten().for_each(|e| *e = -*e);
        for gap in &mut self.rate.gap {
            *gap = ContactVector { n: -gap.n, t: gap.t.map(|x| -x) };
        }
        self.products.clear();
        for (scale, pair) in interior.scales.iter().zip(&interior.pairs) {
            self.products.push([pair.c * pair.w, scale.bound(pair.c) * pair.l]);
        }
    }

    /// Tangent dX/dτ.
    fn find_tangent(
        &mut self,
        interior: &mut InteriorWorkspace<T>,
        island: &Island<T>,
        equations: &mut Equations,
    ) {
        std::mem::swap(&mut interior.errors, &mut self.rate);
        interior.rhs.clear();
        interior.rhs.extend(self.products.iter().map(|p| ConeRhs { n: p[0], s: p[1], t: [0.0; T] }));
        interior.solve(island, equations);
        std::mem::swap(&mut interior.errors, &mut self.rate);
        self.tangent.take_step(interior, 1.0);
    }

    /// Newton step at fixed τ. Returns the largest relative error of the products.
    fn find_newton_step(
        &mut self,
        interior: &mut InteriorWorkspace<T>,
        island: &Island<T>,
        equations: &mut Equations,
        tau: f64,
    ) -> f64 {
        let LinearErrors { momentum, joints, gap } = &mut interior.errors;
        for (e, s) in momentum.iter_mut().flatten().zip(self.start_errors.momentum.iter().flatten()) {
            *e -= tau * s;
        }
        for (e, s) in joints.iter_mut().flatten().zip(self.start_errors.joints.iter().flatten()) {
            *e -= tau * s;
        }
        for (e, s) in gap.iter_mut().zip(&self.start_errors.gap) {
            e.n -= tau * s.n;
            (0..T).for_each(|k| e.t[k] -= tau * s.t[k]);
        }
        interior.rhs.clear();
        let mut off_path: f64 = 0.0;
        for (i, (contact, p)) in island.contacts.iter().zip(&self.products).enumerate() {
            let rhs = interior.pairs[i].missing(&interior.scales[i], tau * p[0], tau * p[1]);
            if contact.has_normal {
                off_path = off_path.max(rhs.n.abs() / (tau * p[0]));
            }
            if contact.has_friction {
                off_path = off_path.max(rhs.s.hypot(length(&rhs.t)) / (tau * p[1]));
            }
            interior.rhs.push(rhs);
        }
        interior.solve(island, equations);
        self.newton.take_step(interior, 0.0);
        off_path
    }
}

/// Inner product of two directions of the pairs, relative to the pairs.
fn weighted<const T: usize>(
    island: &Island<T>,
    scales: &[ContactScale],
    pairs: &[ConePair<T>],
    a: &[ConePair<T>],
    b: &[ConePair<T>],
) -> f64 {
    let mut sum = 0.0;
    for (i, contact) in island.contacts.iter().enumerate() {
        let (p, a, b) = (&pairs[i], &a[i], &b[i]);
        if contact.has_normal {
            sum += a.c * b.c / (p.c * p.c) + a.w * b.w / (p.w * p.w);
        }
        if contact.has_friction {
            let x0 = scales[i].bound(p.c);
            sum += product(&a.x, &b.x) / (x0 * x0) + (a.l * b.l + product(&a.y, &b.y)) / (p.l * p.l);
        }
    }
    sum
}
