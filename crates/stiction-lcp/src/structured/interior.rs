//! An interior point method on the true, non-monotone problem: Mehrotra's predictor and corrector on
//! c_n w_n = 0 and (μ c_n + κ, p_t) ∘ (λ, u_t) = 0 in the second-order cone, all of a contact eliminated into the
//! space of velocities.
//!
//! Its own residual is no certificate: impulses come out of the elimination with what the velocities lose. The
//! momentum residual is carried in every right-hand side, and the last digits are left to Newton's method.

use super::equations::{Answer, Equations};
use super::island::{Island, Lane, Touch, scaled, wide};
use super::iterate::{Iterate, Local, length, product};

/// Part of the way to the boundary that is gone.
const FRACTION: f64 = 0.995;

/// Farther than this no step goes.
const FARTHEST: f64 = 2.0;

/// Iterations that go less than this part of the way count as stalled; the third one ends the method.
const STALL: f64 = 0.02;

/// Storage of the method.
#[derive(Debug, Clone, Default)]
pub(super) struct Storage<const T: usize> {
    pub(super) scales: Vec<Scales>,
    pub(super) pairs: Vec<Pair<T>>,
    cones: Vec<Cone<T>>,
    affine: Vec<Pair<T>>,
    pub(super) step: Vec<Pair<T>>,
    answers: Vec<Answer<T>>,
    pub(super) errors: Errors<T>,
    pub(super) rights: Vec<Right<T>>,
    pub(super) dv: Vec<Lane>,
    pub(super) dc: Vec<[f64; 6]>,
}

/// What is missing in the linear equations: momentum, joint rows, and speeds against the unknowns that stand for them.
#[derive(Debug, Clone, Default)]
pub(super) struct Errors<const T: usize> {
    pub(super) momentum: Vec<Lane>,
    pub(super) joints: Vec<[f64; 6]>,
    pub(super) gap: Vec<Local<T>>,
}

impl<const T: usize> Errors<T> {
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.momentum.clone_from(&other.momentum);
        self.joints.clone_from(&other.joints);
        self.gap.clone_from(&other.gap);
    }
}

/// The pairs of a contact in units of the speed scale: c with w, x = (m c + k, x_t) with y = (λ, y_t).
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<const T: usize> {
    pub(super) c: f64,
    pub(super) w: f64,
    pub(super) x: [f64; T],
    pub(super) l: f64,
    pub(super) y: [f64; T],
}

/// A contact's data in those units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scales {
    pub(super) m: f64,
    pub(super) k: f64,
}

fn scales<const T: usize>(touch: &Touch<T>, speed: f64) -> Scales {
    Scales { m: touch.mu * touch.w_t * touch.over_n, k: touch.kappa * touch.w_t / speed }
}

/// From a cold start towards a residual of `target` [m/s], in units of `speed`; returns the iterations.
pub(super) fn run<const T: usize>(
    island: &Island<T>,
    equations: &mut Equations,
    storage: &mut Storage<T>,
    at: &mut Iterate<T>,
    (speed, size): (f64, f64),
    (target, iterations): (f64, usize),
) -> usize {
    storage.begin(island, at, speed, size);
    let mut stalled = 0;
    // what is left of the errors of the linear equations: a step takes its part of all of them
    let mut left = 1.0;
    for iteration in 0..iterations {
        storage.errors(island, at, speed);
        if left * speed <= target && storage.residual(island, at) <= target {
            return iteration;
        }
        if !storage.factor(island, equations) {
            return iteration + 1;
        }
        let (mu, count) = storage.centrality(island, 0.0);
        let mu = mu / count;
        storage.aim(0.0, false);
        storage.direction(island, equations, speed);
        let reach = storage.reach(island).min(1.0);
        let (affine, _) = storage.centrality(island, reach);
        let sigma = (affine / count / mu).clamp(0.0, 1.0).powi(3);
        std::mem::swap(&mut storage.affine, &mut storage.step);
        storage.aim(sigma * mu, true);
        storage.direction(island, equations, speed);
        let alpha = (FRACTION * storage.reach(island)).min(1.0);
        if !(alpha > 0.0) {
            return iteration + 1;
        }
        storage.advance(island, at, speed, alpha);
        left *= 1.0 - alpha;
        stalled = if alpha < STALL { stalled + 1 } else { 0 };
        if stalled == 3 {
            return iteration + 1;
        }
    }
    iterations
}

#[inline(always)]
pub(super) fn impulse<const T: usize>(touch: &Touch<T>, pair: &Pair<T>, speed: f64) -> Local<T> {
    Local { n: pair.c * speed * touch.over_n, t: pair.x.map(|x| x * speed * touch.over_t) }
}

impl<const T: usize> Storage<T> {
    /// All pairs at `size`, without velocities; but contacts without friction that are open as far as they are: one at
    /// 100 that begins at 1 would keep all others from moving. With friction that is worth nothing.
    pub(super) fn begin(&mut self, island: &Island<T>, at: &mut Iterate<T>, speed: f64, size: f64) {
        at.reset(island);
        self.scales.clear();
        self.scales.extend(island.touches.iter().map(|touch| scales(touch, speed)));
        self.pairs.clear();
        for (touch, r) in island.touches.iter().zip(&mut at.r) {
            let w = if touch.has_friction { size } else { size.max(touch.offset / speed) };
            let pair = Pair { c: size, w, x: [0.0; T], l: size, y: [0.0; T] };
            self.pairs.push(pair);
            *r = impulse(touch, &pair, speed);
        }
    }

    /// The errors of the linear equations.
    pub(super) fn errors(&mut self, island: &Island<T>, at: &Iterate<T>, speed: f64) {
        let Errors { momentum, joints, gap } = &mut self.errors;
        at.momentum_error(island, momentum);
        at.joint_errors(island, joints);
        gap.clear();
        let over = 1.0 / speed;
        wide(
            #[inline(always)]
            || {
                for (touch, pair) in island.touches.iter().zip(&self.pairs) {
                    let u = touch.speeds(&at.v);
                    gap.push(Local {
                        n: u.n * over - pair.w,
                        t: std::array::from_fn(|k| u.t[k] * over - pair.y[k]),
                    });
                }
            },
        );
    }

    /// The residual of speeds and impulses, after [`Self::errors`] [m/s].
    pub(super) fn residual(&self, island: &Island<T>, at: &Iterate<T>) -> f64 {
        let mut worst: f64 = 0.0;
        let mut take = |x: f64| worst = if x.is_nan() { f64::INFINITY } else { worst.max(x.abs()) };
        for (touch, r) in island.touches.iter().zip(&at.r) {
            let map = touch.natural_map(r, &touch.speeds(&at.v));
            take(map.n);
            take(length(&map.t));
        }
        self.errors.joints.iter().flatten().for_each(|&e| take(e));
        worst
    }

    /// The answers of the impulses, from the pairs.
    #[inline(always)]
    fn linearize(&mut self, island: &Island<T>) {
        self.answers.clear();
        self.cones.clear();
        for ((touch, pair), scales) in island.touches.iter().zip(&self.pairs).zip(&self.scales) {
            let mut s = Answer::default();
            let cone = Cone::new(touch, scales, pair);
            let Cone { g, turn, x0, over_w, over_l, .. } = &cone;
            let ratio = if touch.has_normal { pair.c * over_w } else { 0.0 };
            s.nn = ratio * touch.over_n;
            if touch.has_friction {
                let across = over_l * touch.over_t;
                for i in 0..T {
                    s.tn[i] = (pair.x[i] * turn - scales.m * pair.y[i]) * ratio * across;
                    for j in 0..T {
                        let unit = if i == j { *x0 } else { 0.0 };
                        s.tt[i][j] = (unit - pair.x[i] * g[j]) * across;
                    }
                }
            }
            self.answers.push(s);
            self.cones.push(cone);
        }
    }

    /// The sum of all products at `alpha` times the step, and how many there are.
    fn centrality(&self, island: &Island<T>, alpha: f64) -> (f64, f64) {
        let (mut sum, mut count) = (0.0, 0.0);
        for (i, touch) in island.touches.iter().enumerate() {
            let p = if alpha == 0.0 { self.pairs[i] } else { self.pairs[i].along(alpha, &self.step[i]) };
            if touch.has_normal {
                sum += p.c * p.w;
                count += 1.0;
            }
            if touch.has_friction {
                let Scales { m, k } = self.scales[i];
                sum += (m * p.c + k) * p.l + product(&p.x, &p.y);
                count += 1.0;
            }
        }
        (sum, f64::max(count, 1.0))
    }

    /// Right-hand sides towards products of `center`, with the second-order terms of the affine step if `corrected`.
    fn aim(&mut self, center: f64, corrected: bool) {
        self.rights.clear();
        for (i, Scales { m, k }) in self.scales.iter().enumerate() {
            let mut right = self.pairs[i].missing(*m, *k, center, center);
            if corrected {
                let d = &self.affine[i];
                right.n -= d.c * d.w;
                right.s -= m * d.c * d.l + product(&d.x, &d.y);
                for k in 0..T {
                    right.t[k] -= m * d.c * d.y[k] + d.l * d.x[k];
                }
            }
            self.rights.push(right);
        }
    }

    /// The factors of the equations at the pairs.
    pub(super) fn factor(&mut self, island: &Island<T>, equations: &mut Equations) -> bool {
        wide(
            #[inline(always)]
            || self.linearize(island),
        );
        equations.factor(island, &self.answers)
    }

    /// The step that removes the errors and fills the right-hand sides.
    pub(super) fn direction(&mut self, island: &Island<T>, equations: &mut Equations, speed: f64) {
        wide(
            #[inline(always)]
            || self.right_hand_side(island, speed),
        );
        equations.solve(island, &mut self.dv, &mut self.dc);
        wide(
            #[inline(always)]
            || self.complete(island, speed),
        );
    }

    #[inline(always)]
    fn right_hand_side(&mut self, island: &Island<T>, speed: f64) {
        self.dv.clear();
        self.dv.extend(self.errors.momentum.iter().map(|e| scaled(-1.0, e)));
        for (i, touch) in island.touches.iter().enumerate() {
            let p = self.cones[i].constant(touch, self.scales[i].m, &self.pairs[i], &self.rights[i], speed);
            let (s, gap) = (&self.answers[i], &self.errors.gap[i]);
            let push = Local {
                n: p.n - s.nn * gap.n * speed,
                t: std::array::from_fn(|k| p.t[k] - (s.tn[k] * gap.n + product(&s.tt[k], &gap.t)) * speed),
            };
            touch.push(&push, &mut self.dv);
        }
        self.dc.clear();
        self.dc.extend(self.errors.joints.iter().map(|e| e.map(|e| -e)));
    }

    /// The pairs' part of the step, from dv.
    #[inline(always)]
    fn complete(&mut self, island: &Island<T>, speed: f64) {
        self.step.clear();
        let over = 1.0 / speed;
        for (i, touch) in island.touches.iter().enumerate() {
            let moved = touch.speeds(&self.dv);
            let (pair, gap) = (&self.pairs[i], &self.errors.gap[i]);
            let w = if touch.has_normal { (moved.n - touch.offset) * over + gap.n } else { 0.0 };
            let y: [f64; T] = std::array::from_fn(|k| {
                if touch.has_friction { (moved.t[k] - touch.slip[k]) * over + gap.t[k] } else { 0.0 }
            });
            let Right { n: r1, s: r2, t: r3 } = &self.rights[i];
            let Cone { g, turn, x0, over_w, over_l, over_d } = &self.cones[i];
            let c = if touch.has_normal { (r1 - pair.c * w) * over_w } else { 0.0 };
            let (mut l, mut x) = (0.0, [0.0; T]);
            if touch.has_friction {
                let m = self.scales[i].m;
                l = (r2 - product(&pair.y, r3) * over_l) * over_d - product(g, &y) - turn * c;
                x = std::array::from_fn(|j| (r3[j] - pair.y[j] * m * c - x0 * y[j] - pair.x[j] * l) * over_l);
            }
            self.step.push(Pair { c, w, x, l, y });
        }
    }

    /// How far the step may go before a pair leaves its cone, at most [`FARTHEST`].
    pub(super) fn reach(&self, island: &Island<T>) -> f64 {
        let mut reach = FARTHEST;
        for ((touch, scales), (p, d)) in
            island.touches.iter().zip(&self.scales).zip(self.pairs.iter().zip(&self.step))
        {
            if touch.has_normal {
                for (x, dx) in [(p.c, d.c), (p.w, d.w)] {
                    if x + reach * dx < 0.0 {
                        reach = -x / dx;
                    }
                }
            }
            if touch.has_friction {
                let Scales { m, k } = scales;
                reach = to_boundary(m * p.c + k, &p.x, m * d.c, &d.x, reach);
                reach = to_boundary(p.l, &p.y, d.l, &d.y, reach);
            }
        }
        reach
    }

    fn advance(&mut self, island: &Island<T>, at: &mut Iterate<T>, speed: f64, alpha: f64) {
        for (v, dv) in at.v.iter_mut().zip(&self.dv) {
            super::island::add(v, alpha, dv);
        }
        for (c, dc) in at.c.iter_mut().zip(&self.dc) {
            (0..6).for_each(|k| c[k] += alpha * dc[k]);
        }
        for (i, touch) in island.touches.iter().enumerate() {
            self.pairs[i] = self.pairs[i].along(alpha, &self.step[i]);
            at.r[i] = impulse(touch, &self.pairs[i], speed);
        }
    }
}

impl<const T: usize> Pair<T> {
    /// What its products lack of `normal` and `friction`.
    #[inline(always)]
    pub(super) fn missing(&self, m: f64, k: f64, normal: f64, friction: f64) -> Right<T> {
        let Self { c, w, x, l, y } = self;
        let x0 = m * c + k;
        Right {
            n: normal - c * w,
            s: friction - x0 * l - product(x, y),
            t: std::array::from_fn(|k| -x0 * y[k] - l * x[k]),
        }
    }

    #[inline(always)]
    pub(super) fn along(&self, alpha: f64, d: &Self) -> Self {
        Self {
            c: self.c + alpha * d.c,
            w: self.w + alpha * d.w,
            x: std::array::from_fn(|k| self.x[k] + alpha * d.x[k]),
            l: self.l + alpha * d.l,
            y: std::array::from_fn(|k| self.y[k] + alpha * d.y[k]),
        }
    }
}

/// Right-hand sides of a contact's complementarity equations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Right<const T: usize> {
    pub(super) n: f64,
    pub(super) s: f64,
    pub(super) t: [f64; T],
}

/// What the elimination of a contact needs: dλ = … − g·dy − turn dc, and one over what is divided by.
#[derive(Debug, Clone, Copy)]
struct Cone<const T: usize> {
    g: [f64; T],
    turn: f64,
    x0: f64,
    over_w: f64,
    over_l: f64,
    over_d: f64,
}

impl<const T: usize> Cone<T> {
    #[inline(always)]
    fn new(touch: &Touch<T>, &Scales { m, k }: &Scales, pair: &Pair<T>) -> Self {
        let Pair { c, w, x, l, y } = pair;
        let x0 = if touch.has_friction { m * c + k } else { 1.0 };
        let (over_w, over_l) = (1.0 / w, 1.0 / l);
        let yl = y.map(|y| y * over_l);
        let over_d = 1.0 / (x0 - product(x, &yl));
        Self {
            g: std::array::from_fn(|k| (x[k] - x0 * yl[k]) * over_d),
            turn: m * (l - product(y, &yl)) * over_d,
            x0,
            over_w,
            over_l,
            over_d,
        }
    }

    /// p0 of dr = p0 − S du, in N s.
    #[inline(always)]
    fn constant(&self, touch: &Touch<T>, m: f64, pair: &Pair<T>, right: &Right<T>, speed: f64) -> Local<T> {
        let Right { n: r1, s: r2, t: r3 } = right;
        let Self { turn, over_w, over_l, over_d, .. } = self;
        let c = if touch.has_normal { r1 * over_w } else { 0.0 };
        let l0 = (r2 - product(&pair.y, r3) * over_l) * over_d;
        let across = over_l * speed * touch.over_t;
        Local {
            n: c * speed * touch.over_n,
            t: std::array::from_fn(|j| {
                (r3[j] - pair.x[j] * l0 + (pair.x[j] * turn - m * pair.y[j]) * c) * across
            }),
        }
    }
}

/// How far (x0, x) may go along (d0, d) inside the second-order cone, at most `reach`.
#[inline(always)]
fn to_boundary<const T: usize>(x0: f64, x: &[f64; T], d0: f64, d: &[f64; T], reach: f64) -> f64 {
    let end: [f64; T] = std::array::from_fn(|k| x[k] + reach * d[k]);
    let far = x0 + reach * d0;
    // the cone is convex: what ends inside stays inside
    if far >= 0.0 && far * far >= product(&end, &end) {
        return reach;
    }
    let a = d0 * d0 - product(d, d);
    let b = x0 * d0 - product(x, d);
    let c = (x0 * x0 - product(x, x)).max(0.0);
    let discriminant = b * b - a * c;
    if discriminant < 0.0 {
        return reach;
    }
    let denominator = discriminant.sqrt() - b;
    if denominator > 0.0 { reach.min(c / denominator) } else { reach }
}
