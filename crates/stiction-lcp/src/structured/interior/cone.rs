//! Cone pairs of one contact and their elimination: from the linearized complementarity equations of a contact to the
//! stiffness dr = p − S du that the Newton matrix needs, and back.

use super::super::equations::ContactStiffness;
use super::super::island::IslandContact;
use super::super::iterate::{ContactVector, product};

/// Primal and dual variables of a contact in units of the speed scale: c with w, and (m c + k, x) with (λ, y) in the
/// second-order cone.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ConePair<const T: usize> {
    /// Normal impulse.
    pub(in super::super) c: f64,
    /// Normal speed.
    pub(in super::super) w: f64,
    /// Friction impulse.
    pub(in super::super) x: [f64; T],
    /// Slip speed λ.
    pub(in super::super) l: f64,
    /// Slip.
    pub(in super::super) y: [f64; T],
}

/// Friction data of a contact in units of the speed scale: the friction bound is m c + k.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ContactScale {
    pub(in super::super) m: f64,
    pub(in super::super) k: f64,
}

impl ContactScale {
    pub(super) fn new<const T: usize>(contact: &IslandContact<T>, speed: f64) -> Self {
        Self { m: contact.mu * contact.w_t * contact.over_n, k: contact.kappa * contact.w_t / speed }
    }

    /// Friction bound at a normal impulse.
    #[inline(always)]
    pub(in super::super) fn bound(&self, c: f64) -> f64 {
        self.m * c + self.k
    }
}

/// Impulse of a pair [N s].
#[inline(always)]
pub(in super::super) fn impulse<const T: usize>(
    contact: &IslandContact<T>,
    pair: &ConePair<T>,
    speed: f64,
) -> ContactVector<T> {
    ContactVector { n: pair.c * speed * contact.over_n, t: pair.x.map(|x| x * speed * contact.over_t) }
}

impl<const T: usize> ConePair<T> {
    /// Right-hand sides that bring the products to `normal` and `friction`.
    #[inline(always)]
    pub(in super::super) fn missing(&self, scale: &ContactScale, normal: f64, friction: f64) -> ConeRhs<T> {
        let Self { c, w, x, l, y } = self;
        let x0 = scale.bound(*c);
        ConeRhs {
            n: normal - c * w,
            s: friction - x0 * l - product(x, y),
            t: std::array::from_fn(|k| -x0 * y[k] - l * x[k]),
        }
    }

    /// self + α d.
    #[inline(always)]
    pub(in super::super) fn along(&self, alpha: f64, d: &Self) -> Self {
        Self {
            c: self.c + alpha * d.c,
            w: self.w + alpha * d.w,
            x: std::array::from_fn(|k| self.x[k] + alpha * d.x[k]),
            l: self.l + alpha * d.l,
            y: std::array::from_fn(|k| self.y[k] + alpha * d.y[k]),
        }
    }

    /// Multiple of `d` at which the pair reaches the boundary of its cones, at most `limit`.
    #[inline(always)]
    pub(super) fn distance_to_boundary(
        &self,
        d: &Self,
        contact: &IslandContact<T>,
        scale: &ContactScale,
        limit: f64,
    ) -> f64 {
        let mut distance = limit;
        if contact.has_normal {
            for (x, dx) in [(self.c, d.c), (self.w, d.w)] {
                if x + distance * dx < 0.0 {
                    distance = -x / dx;
                }
            }
        }
        if contact.has_friction {
            distance = distance_in_cone(scale.bound(self.c), &self.x, scale.m * d.c, &d.x, distance);
            distance = distance_in_cone(self.l, &self.y, d.l, &d.y, distance);
        }
        distance
    }
}

/// Right-hand sides of a contact's complementarity equations: normal, scalar and vector part of the friction product.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ConeRhs<const T: usize> {
    pub(in super::super) n: f64,
    pub(in super::super) s: f64,
    pub(in super::super) t: [f64; T],
}

impl<const T: usize> ConeRhs<T> {
    /// Subtracts the products of the affine step `d`, Mehrotra's second-order correction.
    pub(super) fn subtract_second_order(&mut self, m: f64, d: &ConePair<T>) {
        self.n -= d.c * d.w;
        self.s -= m * d.c * d.l + product(&d.x, &d.y);
        for k in 0..T {
            self.t[k] -= m * d.c * d.y[k] + d.l * d.x[k];
        }
    }
}

/// Elimination of a contact's pairs: dλ = … − g·dy − turn dc, and the reciprocals of the divisors.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConeElimination<const T: usize> {
    g: [f64; T],
    turn: f64,
    x0: f64,
    over_w: f64,
    over_l: f64,
    over_d: f64,
}

impl<const T: usize> ConeElimination<T> {
    #[inline(always)]
    pub(super) fn new(contact: &IslandContact<T>, scale: &ContactScale, pair: &ConePair<T>) -> Self {
        let ConePair { c, w, x, l, y } = pair;
        let x0 = if contact.has_friction { scale.bound(*c) } else { 1.0 };
        let (over_w, over_l) = (1.0 / w, 1.0 / l);
        let yl = y.map(|y| y * over_l);
        let over_d = 1.0 / (x0 - product(x, &yl));
        Self {
            g: std::array::from_fn(|k| (x[k] - x0 * yl[k]) * over_d),
            turn: scale.m * (l - product(y, &yl)) * over_d,
            x0,
            over_w,
            over_l,
            over_d,
        }
    }

    /// S of dr = p − S du [N s per m/s].
    #[inline(always)]
    pub(super) fn stiffness(
        &self,
        contact: &IslandContact<T>,
        scale: &ContactScale,
        pair: &ConePair<T>,
    ) -> ContactStiffness<T> {
        let mut s = ContactStiffness::default();
        let Self { g, turn, x0, over_w, over_l, .. } = self;
        let ratio = if contact.has_normal { pair.c * over_w } else { 0.0 };
        s.nn = ratio * contact.over_n;
        if contact.has_friction {
            let across = over_l * contact.over_t;
            for i in 0..T {
                s.tn[i] = (pair.x[i] * turn - scale.m * pair.y[i]) * ratio * across;
                for j in 0..T {
                    let unit = if i == j { *x0 } else { 0.0 };
                    s.tt[i][j] = (unit - pair.x[i] * g[j]) * across;
                }
            }
        }
        s
    }

    /// p of dr = p − S du [N s].
    #[inline(always)]
    pub(super) fn constant(
        &self,
        contact: &IslandContact<T>,
        m: f64,
        pair: &ConePair<T>,
        rhs: &ConeRhs<T>,
        speed: f64,
    ) -> ContactVector<T> {
        let ConeRhs { n: r1, s: r2, t: r3 } = rhs;
        let Self { turn, over_w, over_l, over_d, .. } = self;
        let c = if contact.has_normal { r1 * over_w } else { 0.0 };
        let l0 = (r2 - product(&pair.y, r3) * over_l) * over_d;
        let across = over_l * speed * contact.over_t;
        ContactVector {
            n: c * speed * contact.over_n,
            t: std::array::from_fn(|j| {
                (r3[j] - pair.x[j] * l0 + (pair.x[j] * turn - m * pair.y[j]) * c) * across
            }),
        }
    }

    /// Direction of all pairs, from the directions `w` and `y` of the speeds.
    #[inline(always)]
    pub(super) fn recover(
        &self,
        contact: &IslandContact<T>,
        m: f64,
        pair: &ConePair<T>,
        rhs: &ConeRhs<T>,
        w: f64,
        y: [f64; T],
    ) -> ConePair<T> {
        let ConeRhs { n: r1, s: r2, t: r3 } = rhs;
        let Self { g, turn, x0, over_w, over_l, over_d } = self;
        let c = if contact.has_normal { (r1 - pair.c * w) * over_w } else { 0.0 };
        let (mut l, mut x) = (0.0, [0.0; T]);
        if contact.has_friction {
            l = (r2 - product(&pair.y, r3) * over_l) * over_d - product(g, &y) - turn * c;
            x = std::array::from_fn(|j| (r3[j] - pair.y[j] * m * c - x0 * y[j] - pair.x[j] * l) * over_l);
        }
        ConePair { c, w, x, l, y }
    }
}

/// Multiple of (d0, d) at which (x0, x) reaches the boundary of the second-order cone, at most `limit`.
#[inline(always)]
fn distance_in_cone<const T: usize>(x0: f64, x: &[f64; T], d0: f64, d: &[f64; T], limit: f64) -> f64 {
    let end: [f64; T] = std::array::from_fn(|k| x[k] + limit * d[k]);
    let far = x0 + limit * d0;
    // the cone is convex: a segment that ends inside stays inside
    if far >= 0.0 && far * far >= product(&end, &end) {
        return limit;
    }
    let a = d0 * d0 - product(d, d);
    let b = x0 * d0 - product(x, d);
    let c = (x0 * x0 - product(x, x)).max(0.0);
    let discriminant = b * b - a * c;
    if discriminant < 0.0 {
        return limit;
    }
    let denominator = discriminant.sqrt() - b;
    if denominator > 0.0 { limit.min(c / denominator) } else { limit }
}
