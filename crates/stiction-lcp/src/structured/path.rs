//! The central path followed by its length.
//!
//! The problem is not monotone, and the path from a point inside the cones to a solution may turn back: the parameter
//! that is to fall must rise for a while. There the interior point method loses its step length. Here the parameter τ
//! is one of the unknowns, as the artificial variable is in Lemke's method, and the path is followed through its turns:
//!
//! ```text
//!  linear errors = τ · those at the start,   products = τ · those at the start
//! ```
//!
//! A step is a corrector back to the path, across its tangent, and a predictor along it, from one factorization.

use super::equations::Equations;
use super::interior::{Errors, Pair, Right, Scales, Storage as Interior, impulse};
use super::island::{Island, Lane};
use super::iterate::{Iterate, Local, product};

/// Part of the way to the boundary that is gone.
const FRACTION: f64 = 0.9;

/// How far products may be off those of the path, as a part of them, for a step along it.
const CLOSE: f64 = 0.5;

/// Corrections in a row after which a step along the path was too long.
const CORRECTIONS: usize = 3;

/// Where the step along the path starts, its least and its largest length; one is all of something.
const LENGTH: (f64, f64, f64) = (1e-4, 1.0, 100.0);

/// τ at which a path has come back: it began at 1.
const RETURN: f64 = 2.0;

/// Storage of the method.
#[derive(Debug, Clone, Default)]
pub(super) struct Storage<const T: usize> {
    /// Errors and products at the start, and what their fall with τ asks of a step.
    errors: Errors<T>,
    rate: Errors<T>,
    products: Vec<[f64; 2]>,
    /// dX/dτ, and the Newton step at fixed τ.
    tangent: Step<T>,
    newton: Step<T>,
    /// The last point close to the path, with the steps from there.
    base: Point<T>,
    ahead: Step<T>,
    back: Step<T>,
}

/// A direction in all unknowns and τ.
#[derive(Debug, Clone, Default)]
struct Step<const T: usize> {
    pairs: Vec<Pair<T>>,
    v: Vec<Lane>,
    c: Vec<[f64; 6]>,
    tau: f64,
}

/// A point on the way.
#[derive(Debug, Clone, Default)]
struct Point<const T: usize> {
    pairs: Vec<Pair<T>>,
    v: Vec<Lane>,
    c: Vec<[f64; 6]>,
    tau: f64,
}

/// From a cold start until a residual of `target` [m/s]; returns the factorizations.
pub(super) fn run<const T: usize>(
    island: &Island<T>,
    equations: &mut Equations,
    interior: &mut Interior<T>,
    storage: &mut Storage<T>,
    at: &mut Iterate<T>,
    (speed, size): (f64, f64),
    (target, factorizations): (f64, usize),
) -> usize {
    interior.begin(island, at, speed, size);
    interior.errors(island, at, speed);
    storage.begin(interior);
    let mut tau = 1.0;
    let mut length = LENGTH.1;
    let mut corrections = 0;
    let mut first = true;
    for round in 0..factorizations {
        interior.errors(island, at, speed);
        // a path that comes back to where it began has no end here
        if tau > RETURN || (tau * speed <= target && interior.residual(island, at) <= target) {
            return round;
        }
        if !interior.factor(island, equations) {
            return round + 1;
        }
        storage.along_the_path(interior, island, equations, speed);
        let off = storage.back_to_the_path(interior, island, equations, speed, tau);
        // in units of the pairs themselves
        let weight = 1.0 / (tau * tau);
        let inner = |a: &Step<T>, b: &Step<T>| {
            weighted(island, &interior.scales, &interior.pairs, &a.pairs, &b.pairs) + a.tau * b.tau * weight
        };
        let norm = inner(&storage.tangent, &storage.tangent);
        // across the tangent
        let turn = -inner(&storage.tangent, &storage.newton) / norm;
        storage.newton.add(turn, &storage.tangent);
        if off <= CLOSE {
            let forward = if first { -1.0 } else { inner(&storage.tangent, &storage.ahead).signum() };
            first = false;
            storage.tangent.scale(forward / norm.sqrt());
            std::mem::swap(&mut storage.ahead, &mut storage.tangent);
            std::mem::swap(&mut storage.back, &mut storage.newton);
            storage.base.take(interior, at, tau);
            length *= [2.0, 1.0, 0.5, 0.3][corrections.min(3)];
            length = length.min(LENGTH.2);
            corrections = 0;
        } else {
            corrections += 1;
            interior.step.clone_from(&storage.newton.pairs);
            let reach = interior.reach(island) * FRACTION;
            if corrections <= CORRECTIONS && reach >= 1.0 && tau + storage.newton.tau > 0.0 {
                storage.newton.go(1.0, interior, island, at, speed);
                tau += storage.newton.tau;
                continue;
            }
            // too far along: again from the last good point
            storage.base.restore(interior, at);
            tau = storage.base.tau;
            length *= 0.2;
            corrections = 0;
        }
        // back to the path and along it, as far as the cones allow
        loop {
            if length < LENGTH.0 {
                return round + 1;
            }
            interior.step.clear();
            let (ahead, back) = (&storage.ahead, &storage.back);
            interior.step.extend(back.pairs.iter().zip(&ahead.pairs).map(|(b, a)| b.along(length, a)));
            let next = tau + back.tau + length * ahead.tau;
            if interior.reach(island) * FRACTION >= 1.0 && next > 0.05 * tau {
                break;
            }
            length *= 0.7;
        }
        storage.back.go(1.0, interior, island, at, speed);
        storage.ahead.go(length, interior, island, at, speed);
        tau += storage.back.tau + length * storage.ahead.tau;
    }
    factorizations
}

impl<const T: usize> Point<T> {
    fn take(&mut self, interior: &Interior<T>, at: &Iterate<T>, tau: f64) {
        self.pairs.clone_from(&interior.pairs);
        self.v.clone_from(&at.v);
        self.c.clone_from(&at.c);
        self.tau = tau;
    }

    fn restore(&self, interior: &mut Interior<T>, at: &mut Iterate<T>) {
        interior.pairs.clone_from(&self.pairs);
        at.v.clone_from(&self.v);
        at.c.clone_from(&self.c);
    }
}

impl<const T: usize> Step<T> {
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

    fn scale(&mut self, c: f64) {
        for p in &mut self.pairs {
            *p = Pair { c: c * p.c, w: c * p.w, x: p.x.map(|x| c * x), l: c * p.l, y: p.y.map(|y| c * y) };
        }
        self.v.iter_mut().flatten().for_each(|x| *x *= c);
        self.c.iter_mut().flatten().for_each(|x| *x *= c);
        self.tau *= c;
    }

    /// Goes this way from where the methods stand.
    fn go(
        &self,
        length: f64,
        interior: &mut Interior<T>,
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
            at.r[i] = impulse(&island.touches[i], pair, speed);
        }
    }

    fn take(&mut self, interior: &mut Interior<T>, tau: f64) {
        std::mem::swap(&mut self.pairs, &mut interior.step);
        std::mem::swap(&mut self.v, &mut interior.dv);
        std::mem::swap(&mut self.c, &mut interior.dc);
        self.tau = tau;
    }
}

impl<const T: usize> Storage<T> {
    /// Keeps errors and products of the start.
    fn begin(&mut self, interior: &Interior<T>) {
        self.errors.copy_from(&interior.errors);
        self.rate.copy_from(&interior.errors);
        self.rate.momentum.iter_mut().flatten().for_each(|e| *e = -*e);
        self.rate.joints.iter_mut().flatten().for_each(|e| *e = -*e);
        for gap in &mut self.rate.gap {
            *gap = Local { n: -gap.n, t: gap.t.map(|x| -x) };
        }
        self.products.clear();
        for (Scales { m, k }, pair) in interior.scales.iter().zip(&interior.pairs) {
            self.products.push([pair.c * pair.w, (m * pair.c + k) * pair.l]);
        }
    }

    /// dX/dτ.
    fn along_the_path(
        &mut self,
        interior: &mut Interior<T>,
        island: &Island<T>,
        equations: &mut Equations,
        speed: f64,
    ) {
        std::mem::swap(&mut interior.errors, &mut self.rate);
        interior.rights.clear();
        interior.rights.extend(self.products.iter().map(|p| Right { n: p[0], s: p[1], t: [0.0; T] }));
        interior.direction(island, equations, speed);
        std::mem::swap(&mut interior.errors, &mut self.rate);
        self.tangent.take(interior, 1.0);
    }

    /// The Newton step at fixed τ, and how far products are off the path.
    fn back_to_the_path(
        &mut self,
        interior: &mut Interior<T>,
        island: &Island<T>,
        equations: &mut Equations,
        speed: f64,
        tau: f64,
    ) -> f64 {
        let Errors { momentum, joints, gap } = &mut interior.errors;
        for (e, s) in momentum.iter_mut().flatten().zip(self.errors.momentum.iter().flatten()) {
            *e -= tau * s;
        }
        for (e, s) in joints.iter_mut().flatten().zip(self.errors.joints.iter().flatten()) {
            *e -= tau * s;
        }
        for (e, s) in gap.iter_mut().zip(&self.errors.gap) {
            e.n -= tau * s.n;
            (0..T).for_each(|k| e.t[k] -= tau * s.t[k]);
        }
        interior.rights.clear();
        let mut off: f64 = 0.0;
        for (i, (touch, p)) in island.touches.iter().zip(&self.products).enumerate() {
            let Scales { m, k } = interior.scales[i];
            let right = interior.pairs[i].missing(m, k, tau * p[0], tau * p[1]);
            if touch.has_normal {
                off = off.max(right.n.abs() / (tau * p[0]));
            }
            if touch.has_friction {
                off = off.max(right.s.hypot(super::iterate::length(&right.t)) / (tau * p[1]));
            }
            interior.rights.push(right);
        }
        interior.direction(island, equations, speed);
        self.newton.take(interior, 0.0);
        off
    }
}

/// The inner product of two directions, relative to the pairs.
fn weighted<const T: usize>(
    island: &Island<T>,
    scales: &[Scales],
    pairs: &[Pair<T>],
    a: &[Pair<T>],
    b: &[Pair<T>],
) -> f64 {
    let mut sum = 0.0;
    for (i, touch) in island.touches.iter().enumerate() {
        let (p, a, b) = (&pairs[i], &a[i], &b[i]);
        if touch.has_normal {
            sum += a.c * b.c / (p.c * p.c) + a.w * b.w / (p.w * p.w);
        }
        if touch.has_friction {
            let Scales { m, k } = scales[i];
            let x0 = m * p.c + k;
            sum += product(&a.x, &b.x) / (x0 * x0) + (a.l * b.l + product(&a.y, &b.y)) / (p.l * p.l);
        }
    }
    sum
}
