//! Semismooth Newton on the projections of Alart and Curnier, in the space of velocities.
//!
//! Modes are chosen where W r − u lies; the equations of those modes are solved with a proximal term ε = W/κ that
//! makes them regular where contacts are redundant. The momentum balance is linear and stays exact, so a line search
//! costs natural maps only.

use super::equations::{Answer, Equations};
use super::island::{Island, Lane, Touch, wide};
use super::iterate::{Iterate, Local, length, product};
use super::sweep::Storage as Masses;

/// Where κ starts, and the least and the largest: below, heavy bodies on light ones crawl; above, impulses are noise.
const KAPPA: (f64, f64, f64) = (1e1, 1e4, 1e6);

/// The stiffness of an impulse against turning where nothing else helps: contacts that creep at 1e-8 of the speed scale
/// with all their friction turn at nothing less.
const TURN: f64 = 1e9;

/// Radians that an impulse turns by at most in such a step: Newton gets back to the modes from there.
const TURNS: f64 = 0.3;

/// Part of the residual that is left where a further step is not worth it.
const SLOW: f64 = 0.3;

/// Part of the residual that is left where modes repeat and nothing moves. Redundant contacts that contradict each
/// other a little do that: the load has to go from one to the others until it opens, whatever the natural map says.
const STUCK: f64 = 0.7;

/// Steps that a load is moved by at once, at most: beyond, its direction is round-off.
const LONGEST: f64 = 1e6;

/// Part of the residual that round-off may be.
const NOISE: f64 = 0.01;

/// Storage of the method.
#[derive(Debug, Clone, Default)]
pub(super) struct Storage<const T: usize> {
    answers: Vec<Answer<T>>,
    constant: Vec<Local<T>>,
    modes: Vec<Mode>,
    previous: Vec<Mode>,
    u: Vec<Local<T>>,
    du: Vec<Local<T>>,
    dr: Vec<Local<T>>,
    dv: Vec<Lane>,
    dc: Vec<[f64; 6]>,
    joints: Vec<[f64; 6]>,
    djoints: Vec<[f64; 6]>,
    turned: Iterate<T>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Open,
    Stick,
    Slip,
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Residual [m/s] to go for.
    pub(super) target: f64,
    /// Residual [m/s] that is small enough where steps no longer make it smaller.
    pub(super) good: f64,
    /// Factorizations at most.
    pub(super) factorizations: usize,
    /// Whether to give up early where progress is poor.
    pub(super) impatient: bool,
    /// Whether the velocities follow from the impulses at the start.
    pub(super) exact: bool,
}

/// What was reached: the residual [m/s], and the factorizations it took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reached {
    pub(super) residual: f64,
    pub(super) factorizations: usize,
}

/// Goes on from the impulses and velocities of `at`, and leaves the best iterate there. `modes_from`: velocities to
/// choose the first modes by, if not those of `at`.
#[allow(clippy::too_many_arguments)]
pub(super) fn run<const T: usize>(
    island: &Island<T>,
    equations: &mut Equations,
    storage: &mut Storage<T>,
    at: &mut Iterate<T>,
    best: &mut Iterate<T>,
    masses: &mut Masses<T>,
    modes_from: Option<&[Lane]>,
    limits: Limits,
) -> Reached {
    let mut kappa = KAPPA.1;
    let mut window = [f64::INFINITY; 3];
    storage.previous.clear();
    storage.speeds(island, &at.v);
    at.joint_errors(island, &mut storage.joints);
    let (mut residual, mut merit) = storage.measure(island, at, 0.0);
    let first = residual;
    let (mut before, mut same, mut turning) = (f64::INFINITY, false, false);
    // what is left of an error in the momentum: a step takes its part of it, and only a whole one all
    let mut exact = limits.exact;
    let mut reached = Reached { residual: if exact { residual } else { f64::INFINITY }, factorizations: 0 };
    best.copy_from(at);
    for round in 0..limits.factorizations {
        let (slow, stuck) = (residual > SLOW * before, same && residual > STUCK * before);
        before = residual;
        if (exact && residual <= limits.target) || (reached.residual <= limits.good && slow) {
            break;
        }
        let poor =
            (round == 3 && reached.residual > 0.3 * first) || (round == 7 && reached.residual > 0.01 * first);
        if limits.impatient && poor {
            break;
        }
        if stuck {
            kappa = KAPPA.2;
        }
        // an impulse that turns by much turns along the circle, where the momentum is no longer linear in the step
        turning = stuck && !turning;
        // impulses carry κ round-offs of the velocities: little of the residual must be that
        let noise = f64::EPSILON * at.v.iter().flatten().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
        kappa = kappa.min(NOISE * residual / noise).max(KAPPA.0);
        let turn = if turning { TURN } else { kappa };
        wide(
            #[inline(always)]
            || storage.choose(island, at, (kappa, turn), modes_from.filter(|_| round == 0)),
        );
        same = storage.modes == storage.previous;
        std::mem::swap(&mut storage.modes, &mut storage.previous);
        // without contacts the equations stay as they are, and further steps only take the proximal term back
        let factored = island.touches.is_empty() && round > 0;
        reached.factorizations += usize::from(!factored);
        if !(factored || equations.factor(island, &storage.answers)) {
            kappa = (kappa / 10.0).max(KAPPA.0);
            continue;
        }
        storage.direction(island, equations, at);
        if turning && let Some(found) = storage.turn(island, at, masses) {
            (residual, merit) = found;
            exact = true;
            if residual < reached.residual {
                reached.residual = residual;
                best.copy_from(at);
            }
            continue;
        }
        // where speeds stay as they are and load goes from one redundant contact to the others, it goes at once
        if stuck
            && exact
            && let Some(alpha) = storage.load_ends(island, at)
        {
            storage.advance(at, alpha);
            (residual, merit) = wide(
                #[inline(always)]
                || storage.measure(island, at, 0.0),
            );
            if residual < reached.residual {
                reached.residual = residual;
                best.copy_from(at);
            }
            continue;
        }
        // steps along which the natural map does not fall are taken shorter
        window[round % 3] = merit;
        let worst = window.iter().copied().filter(|x| x.is_finite()).fold(0.0, f64::max);
        let mut alpha = 1.0;
        let mut shortest = (f64::INFINITY, 0.0, 1.0);
        for _ in 0..6 {
            let (r, m) = wide(
                #[inline(always)]
                || storage.measure(island, at, alpha),
            );
            if m < shortest.0 {
                shortest = (m, r, alpha);
            }
            if stuck || m < (1.0 - 1e-4 * alpha) * worst {
                break;
            }
            alpha *= 0.5;
        }
        if !shortest.0.is_finite() {
            break;
        }
        (merit, residual, alpha) = shortest;
        storage.advance(at, alpha);
        exact |= alpha == 1.0;
        if exact && residual < reached.residual {
            reached.residual = residual;
            best.copy_from(at);
        }
        if alpha < 0.2 {
            kappa = (kappa / 10.0).max(KAPPA.0);
        } else if same && alpha == 1.0 {
            kappa = (kappa * 10.0).min(KAPPA.2);
        }
    }
    reached
}

impl<const T: usize> Storage<T> {
    /// Takes the step with the impulses that slip moved back to their bounds, and the velocities that follow, whatever
    /// the natural map says; no impulse turns by more than [`TURNS`]. Residual and sum of squares.
    fn turn(
        &mut self,
        island: &Island<T>,
        at: &mut Iterate<T>,
        masses: &mut Masses<T>,
    ) -> Option<(f64, f64)> {
        let mut share: f64 = 1.0;
        for (i, touch) in island.touches.iter().enumerate() {
            if touch.has_friction && self.previous[i] == Mode::Slip {
                share = share.min(TURNS * length(&at.r[i].t) / length(&self.dr[i].t));
            }
        }
        let turned = &mut self.turned;
        turned.copy_from(at);
        for (i, touch) in island.touches.iter().enumerate() {
            let r = &mut turned.r[i];
            *r = along(r, share, &self.dr[i]);
            if touch.has_friction && self.previous[i] == Mode::Slip {
                let shrink = touch.bound(r.n) / length(&r.t).max(f64::MIN_POSITIVE);
                r.t = r.t.map(|x| shrink * x);
            }
        }
        for (c, dc) in turned.c.iter_mut().flatten().zip(self.dc.iter().flatten()) {
            *c += share * dc;
        }
        if !(share > 0.0 && masses.velocities(island, turned)) {
            return None;
        }
        std::mem::swap(&mut self.turned, at);
        self.speeds(island, &at.v);
        at.joint_errors(island, &mut self.joints);
        Some(wide(
            #[inline(always)]
            || self.measure(island, at, 0.0),
        ))
    }

    /// How many times the direction it takes for the first contact that bears to let go, or the first that sticks to
    /// use all its friction, where that is more than once.
    fn load_ends(&self, island: &Island<T>, at: &Iterate<T>) -> Option<f64> {
        let mut first = f64::INFINITY;
        for (i, touch) in island.touches.iter().enumerate() {
            let (r, dr) = (&at.r[i], &self.dr[i]);
            if touch.has_normal && self.previous[i] != Mode::Open && dr.n < 0.0 {
                first = first.min(-r.n / dr.n);
            }
            if touch.has_friction && self.previous[i] == Mode::Stick {
                // |r_t + α dr_t| = μ (r_n + α dr_n) + κ
                let (bound, rise) = (touch.bound(r.n), touch.mu * dr.n);
                let a = product(&dr.t, &dr.t) - rise * rise;
                let b = product(&r.t, &dr.t) - bound * rise;
                let c = product(&r.t, &r.t) - bound * bound;
                let root = (b * b - a * c).sqrt() - b;
                if c < 0.0 && a > 0.0 && root > 0.0 {
                    first = first.min(root / a);
                }
            }
        }
        (first > 1.0 && first < LONGEST).then_some(first)
    }

    /// The residual of an iterate whose velocities follow from its impulses [m/s].
    pub(super) fn residual(&mut self, island: &Island<T>, at: &Iterate<T>) -> f64 {
        self.speeds(island, &at.v);
        at.joint_errors(island, &mut self.joints);
        self.measure(island, at, 0.0).0
    }

    /// The speeds of all contacts.
    fn speeds(&mut self, island: &Island<T>, v: &[Lane]) {
        wide(
            #[inline(always)]
            || {
                self.u.clear();
                self.u.extend(island.touches.iter().map(|t| t.speeds(v)));
            },
        );
    }

    /// Largest natural map and sum of squares at `at` + `alpha` times the direction.
    #[inline(always)]
    fn measure(&self, island: &Island<T>, at: &Iterate<T>, alpha: f64) -> (f64, f64) {
        let (mut largest, mut sum) = (0.0, 0.0);
        let mut take = |x: f64| {
            if !(x.abs() <= largest) {
                largest = x.abs();
            }
            sum += x * x;
        };
        for (i, touch) in island.touches.iter().enumerate() {
            let (r, u) = if alpha == 0.0 {
                (at.r[i], self.u[i])
            } else {
                (along(&at.r[i], alpha, &self.dr[i]), along(&self.u[i], alpha, &self.du[i]))
            };
            let map = touch.natural_map(&r, &u);
            take(map.n);
            take(length(&map.t));
        }
        for (i, hold) in island.holds.iter().enumerate() {
            for k in 0..hold.rows {
                let change = if alpha == 0.0 { 0.0 } else { alpha * self.djoints[i][k] };
                take(self.joints[i][k] + change);
            }
        }
        (largest, sum)
    }

    /// Modes, by the speeds at `modes_from` if given, and how the impulses answer in them.
    #[inline(always)]
    fn choose(
        &mut self,
        island: &Island<T>,
        at: &Iterate<T>,
        stiff: (f64, f64),
        modes_from: Option<&[Lane]>,
    ) {
        self.modes.clear();
        self.answers.clear();
        self.constant.clear();
        for (i, touch) in island.touches.iter().enumerate() {
            let seen = modes_from.map_or(self.u[i], |v| touch.speeds(v));
            let (mode, answer, constant) = answer(touch, &at.r[i], &self.u[i], &seen, stiff);
            self.modes.push(mode);
            self.answers.push(answer);
            self.constant.push(constant);
        }
    }

    /// The Newton direction from the equations as they are factored.
    fn direction(&mut self, island: &Island<T>, equations: &mut Equations, at: &Iterate<T>) {
        at.momentum_error(island, &mut self.dv);
        self.dv.iter_mut().flatten().for_each(|x| *x = -*x);
        wide(
            #[inline(always)]
            || {
                for (touch, constant) in island.touches.iter().zip(&self.constant) {
                    touch.push(constant, &mut self.dv);
                }
            },
        );
        self.dc.clear();
        self.dc.extend(self.joints.iter().map(|e| e.map(|e| -e)));
        equations.solve(island, &mut self.dv, &mut self.dc);
        wide(
            #[inline(always)]
            || self.answer_all(island),
        );
        self.djoints.clear();
        for (hold, dc) in island.holds.iter().zip(&self.dc) {
            self.djoints.push(std::array::from_fn(|k| {
                if k < hold.rows {
                    super::island::speed(&hold.j[k], hold.bodies, &self.dv) + hold.compliance[k] * dc[k]
                } else {
                    0.0
                }
            }));
        }
    }

    /// Changes of speeds and impulses, from dv.
    #[inline(always)]
    fn answer_all(&mut self, island: &Island<T>) {
        self.du.clear();
        self.dr.clear();
        for (i, touch) in island.touches.iter().enumerate() {
            let moved = touch.speeds(&self.dv);
            let du = Local {
                n: if touch.has_normal { moved.n - touch.offset } else { 0.0 },
                t: std::array::from_fn(|k| if touch.has_friction { moved.t[k] - touch.slip[k] } else { 0.0 }),
            };
            let (s, p) = (&self.answers[i], &self.constant[i]);
            self.dr.push(Local {
                n: p.n - s.nn * du.n,
                t: std::array::from_fn(|k| p.t[k] - s.tn[k] * du.n - product(&s.tt[k], &du.t)),
            });
            self.du.push(du);
        }
    }

    fn advance(&mut self, at: &mut Iterate<T>, alpha: f64) {
        for (v, dv) in at.v.iter_mut().zip(&self.dv) {
            super::island::add(v, alpha, dv);
        }
        for i in 0..at.r.len() {
            at.r[i] = along(&at.r[i], alpha, &self.dr[i]);
            self.u[i] = along(&self.u[i], alpha, &self.du[i]);
        }
        for i in 0..at.c.len() {
            for k in 0..6 {
                at.c[i][k] += alpha * self.dc[i][k];
                self.joints[i][k] += alpha * self.djoints[i][k];
            }
        }
    }
}

#[inline(always)]
fn along<const T: usize>(x: &Local<T>, alpha: f64, dx: &Local<T>) -> Local<T> {
    Local { n: x.n + alpha * dx.n, t: std::array::from_fn(|k| x.t[k] + alpha * dx.t[k]) }
}

/// The mode of a contact by the speeds `seen`, how its impulse answers to its speeds in it, and what it does at once.
#[inline(always)]
fn answer<const T: usize>(
    touch: &Touch<T>,
    r: &Local<T>,
    u: &Local<T>,
    seen: &Local<T>,
    (kappa, most): (f64, f64),
) -> (Mode, Answer<T>, Local<T>) {
    let mut s = Answer::default();
    let mut p = Local { n: -r.n, t: r.t.map(|x| -x) };
    let x_n = touch.w_n * r.n - seen.n;
    if touch.has_normal {
        if !(x_n > 0.0) {
            return (Mode::Open, s, p);
        }
        s.nn = kappa * touch.over_n;
        p.n = -s.nn * u.n;
    }
    if !touch.has_friction {
        return (Mode::Stick, s, p);
    }
    let x: [f64; T] = std::array::from_fn(|k| touch.w_t * r.t[k] - seen.t[k]);
    let size = length(&x);
    // a radius from x_n would be that of a contact about to be hit harder, not of the impulse it has
    let normal = if touch.has_normal { r.n.max(0.1 * x_n * touch.over_n) } else { 0.0 };
    let bound = touch.bound(normal);
    let over = 1.0 / size;
    let (a, stiff) = (touch.w_t * bound * over, kappa * touch.over_t);
    if !(a < 1.0) {
        for k in 0..T {
            s.tt[k][k] = stiff;
            p.t[k] = -stiff * u.t[k];
        }
        return (Mode::Stick, s, p);
    }
    let e = x.map(|x| x * over);
    // across the slip the impulse turns with it: exact up to the proximal term
    let turn = (a / (1.0 - a)).min(most);
    let back = if a > 0.0 { turn / a } else { 1.0 };
    let along = product(&e, &r.t);
    for k in 0..T {
        s.tn[k] = touch.mu * e[k] * s.nn;
        p.t[k] = e[k] * (touch.bound(r.n) - along + touch.mu * p.n) - back * (r.t[k] - along * e[k]);
        for l in 0..T {
            let unit = if k == l { 1.0 } else { 0.0 };
            s.tt[k][l] = turn * touch.over_t * (unit - e[k] * e[l]);
        }
    }
    (Mode::Slip, s, p)
}
