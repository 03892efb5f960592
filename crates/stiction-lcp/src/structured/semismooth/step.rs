//! Newton step of the semismooth method: modes, their linearized equations, the direction they give, and the natural
//! map along it.

use super::super::equations::{ContactStiffness, Equations};
use super::super::island::{Island, IslandContact, Lane, add, speed, wide};
use super::super::iterate::{ContactVector, Iterate, length, product};
use super::super::sweep::GaussSeidel;
use super::{MAX_TRANSFER, MAX_TURN};
use crate::mode::Mode;

/// Fraction of x_n/W that counts as normal impulse for the radius of the friction disc [-]. The full value would be the
/// radius of a contact about to be hit harder, not of the impulse it has; zero would never stick after an impact.
const RADIUS_FROM_SPEED: f64 = 0.1;

/// Direction of a Newton step, with the modes it belongs to and the speeds it starts from.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct NewtonStep<const T: usize> {
    /// S of dr = p − S du, per contact.
    pub(super) stiffness: Vec<ContactStiffness<T>>,
    /// p of dr = p − S du, per contact.
    constant: Vec<ContactVector<T>>,
    modes: Vec<Mode>,
    previous_modes: Vec<Mode>,
    /// Contact speeds and joint errors at the iterate, and their changes along the step.
    u: Vec<ContactVector<T>>,
    du: Vec<ContactVector<T>>,
    joint_errors: Vec<[f64; 6]>,
    djoint_errors: Vec<[f64; 6]>,
    /// Changes of impulses and velocities along the step.
    dr: Vec<ContactVector<T>>,
    dc: Vec<[f64; 6]>,
    dv: Vec<Lane>,
    turned: Iterate<T>,
}

impl<const T: usize> NewtonStep<T> {
    /// Starts at an iterate, with no modes known. Returns residual [m/s] and merit.
    pub(super) fn begin(&mut self, island: &Island<T>, at: &Iterate<T>) -> (f64, f64) {
        self.modes.clear();
        self.read_speeds(island, at);
        self.measure(island, at, 0.0)
    }

    /// Residual of an iterate whose velocities follow from its impulses [m/s].
    pub(in super::super) fn residual(&mut self, island: &Island<T>, at: &Iterate<T>) -> f64 {
        self.read_speeds(island, at);
        self.measure(island, at, 0.0).0
    }

    /// Contact speeds and joint errors at an iterate.
    fn read_speeds(&mut self, island: &Island<T>, at: &Iterate<T>) {
        wide(
            #[inline(always)]
            || {
                self.u.clear();
                self.u.extend(island.contacts.iter().map(|c| c.speeds(&at.v)));
            },
        );
        at.joint_errors(island, &mut self.joint_errors);
    }

    /// Largest entry [m/s] and sum of squares of the natural map at `at` + `alpha` times the step.
    pub(super) fn measure(&self, island: &Island<T>, at: &Iterate<T>, alpha: f64) -> (f64, f64) {
        wide(
            #[inline(always)]
            || self.natural_map(island, at, alpha),
        )
    }

    #[inline(always)]
    fn natural_map(&self, island: &Island<T>, at: &Iterate<T>, alpha: f64) -> (f64, f64) {
        let (mut largest, mut sum) = (0.0, 0.0);
        let mut take = |x: f64| {
            // written so that a NaN becomes the largest
            if !(x.abs() <= largest) {
                largest = x.abs();
            }
            sum += x * x;
        };
        for (i, contact) in island.contacts.iter().enumerate() {
            let (r, u) = if alpha == 0.0 {
                (at.r[i], self.u[i])
            } else {
                (at.r[i].along(alpha, &self.dr[i]), self.u[i].along(alpha, &self.du[i]))
            };
            let map = contact.natural_map(&r, &u);
            take(map.n);
            take(length(&map.t));
        }
        for (i, joint) in island.joint_blocks.iter().enumerate() {
            for k in 0..joint.rows {
                let change = if alpha == 0.0 { 0.0 } else { alpha * self.djoint_errors[i][k] };
                take(self.joint_errors[i][k] + change);
            }
        }
        (largest, sum)
    }

    /// Chooses the modes, by the speeds at `modes_from` if given, and linearizes the contacts in them. Returns whether
    /// the modes are those of the last call.
    pub(super) fn linearize(
        &mut self,
        island: &Island<T>,
        at: &Iterate<T>,
        stiffness: f64,
        turn: f64,
        modes_from: Option<&[Lane]>,
    ) -> bool {
        std::mem::swap(&mut self.modes, &mut self.previous_modes);
        wide(
            #[inline(always)]
            || {
                self.modes.clear();
                self.stiffness.clear();
                self.constant.clear();
                for (i, contact) in island.contacts.iter().enumerate() {
                    let seen = modes_from.map_or(self.u[i], |v| contact.speeds(v));
                    let linear = Linearized::new(contact, &at.r[i], &self.u[i], &seen, stiffness, turn);
                    self.modes.push(linear.mode);
                    self.stiffness.push(linear.stiffness);
                    self.constant.push(linear.constant);
                }
            },
        );
        self.modes == self.previous_modes
    }

    /// Solves the factored equations for the Newton direction.
    pub(super) fn solve(&mut self, island: &Island<T>, equations: &mut Equations, at: &Iterate<T>) {
        at.momentum_error(island, &mut self.dv);
        self.dv.iter_mut().flatten().for_each(|x| *x = -*x);
        wide(
            #[inline(always)]
            || {
                for (contact, constant) in island.contacts.iter().zip(&self.constant) {
                    contact.push(constant, &mut self.dv);
                }
            },
        );
        self.dc.clear();
        self.dc.extend(self.joint_errors.iter().map(|e| e.map(|e| -e)));
        equations.solve(island, &mut self.dv, &mut self.dc);
        wide(
            #[inline(always)]
            || self.change_contacts(island),
        );
        self.djoint_errors.clear();
        for (joint, dc) in island.joint_blocks.iter().zip(&self.dc) {
            self.djoint_errors.push(std::array::from_fn(|k| {
                if k < joint.rows {
                    speed(&joint.j[k], joint.bodies, &self.dv) + joint.compliance[k] * dc[k]
                } else {
                    0.0
                }
            }));
        }
    }

    /// Changes of contact speeds and impulses, from dv.
    #[inline(always)]
    fn change_contacts(&mut self, island: &Island<T>) {
        self.du.clear();
        self.dr.clear();
        for (i, contact) in island.contacts.iter().enumerate() {
            let du = contact.speed_change(&self.dv);
            let (s, p) = (&self.stiffness[i], &self.constant[i]);
            self.dr.push(ContactVector {
                n: p.n - s.nn * du.n,
                t: std::array::from_fn(|k| p.t[k] - s.tn[k] * du.n - product(&s.tt[k], &du.t)),
            });
            self.du.push(du);
        }
    }

    /// Moves the iterate by `alpha` times the step.
    pub(super) fn advance(&mut self, at: &mut Iterate<T>, alpha: f64) {
        for (v, dv) in at.v.iter_mut().zip(&self.dv) {
            add(v, alpha, dv);
        }
        for i in 0..at.r.len() {
            at.r[i] = at.r[i].along(alpha, &self.dr[i]);
            self.u[i] = self.u[i].along(alpha, &self.du[i]);
        }
        for i in 0..at.c.len() {
            for k in 0..6 {
                at.c[i][k] += alpha * self.dc[i][k];
                self.joint_errors[i][k] += alpha * self.djoint_errors[i][k];
            }
        }
    }

    /// Takes the step with slipping impulses projected back to their bounds, and the velocities that follow, whatever
    /// the natural map says. No impulse turns by more than [`MAX_TURN`]. Returns residual and merit.
    pub(super) fn turn(
        &mut self,
        island: &Island<T>,
        at: &mut Iterate<T>,
        masses: &mut GaussSeidel<T>,
    ) -> Option<(f64, f64)> {
        let slips = |i: usize, c: &IslandContact<T>| c.has_friction && self.modes[i] == Mode::Slip;
        let mut alpha: f64 = 1.0;
        for (i, contact) in island.contacts.iter().enumerate() {
            if slips(i, contact) {
                alpha = alpha.min(MAX_TURN * length(&at.r[i].t) / length(&self.dr[i].t));
            }
        }
        let turned = &mut self.turned;
        turned.copy_from(at);
        for (i, contact) in island.contacts.iter().enumerate() {
            let r = &mut turned.r[i];
            *r = r.along(alpha, &self.dr[i]);
            if contact.has_friction && self.modes[i] == Mode::Slip {
                let shrink = contact.bound(r.n) / length(&r.t).max(f64::MIN_POSITIVE);
                r.t = r.t.map(|x| shrink * x);
            }
        }
        for (c, dc) in turned.c.iter_mut().flatten().zip(self.dc.iter().flatten()) {
            *c += alpha * dc;
        }
        if !(alpha > 0.0 && masses.velocities(island, turned)) {
            return None;
        }
        std::mem::swap(&mut self.turned, at);
        self.read_speeds(island, at);
        Some(self.measure(island, at, 0.0))
    }

    /// Step length at which the first active contact opens or the first sticking contact reaches its friction bound, if
    /// that is beyond the full step.
    pub(super) fn first_mode_change(&self, island: &Island<T>, at: &Iterate<T>) -> Option<f64> {
        let mut first = f64::INFINITY;
        for (i, contact) in island.contacts.iter().enumerate() {
            let (r, dr) = (&at.r[i], &self.dr[i]);
            if contact.has_normal && self.modes[i] != Mode::Open && dr.n < 0.0 {
                first = first.min(-r.n / dr.n);
            }
            if contact.has_friction && self.modes[i] == Mode::Stick {
                // |r_t + α dr_t| = μ (r_n + α dr_n) + κ
                let (bound, rise) = (contact.bound(r.n), contact.mu * dr.n);
                let a = product(&dr.t, &dr.t) - rise * rise;
                let b = product(&r.t, &dr.t) - bound * rise;
                let c = product(&r.t, &r.t) - bound * bound;
                let root = (b * b - a * c).sqrt() - b;
                if c < 0.0 && a > 0.0 && root > 0.0 {
                    first = first.min(root / a);
                }
            }
        }
        (first > 1.0 && first < MAX_TRANSFER).then_some(first)
    }
}

/// Linearized contact: its mode, and dr = constant − stiffness du.
pub(super) struct Linearized<const T: usize> {
    pub(super) mode: Mode,
    pub(super) stiffness: ContactStiffness<T>,
    pub(super) constant: ContactVector<T>,
}

impl<const T: usize> Linearized<T> {
    /// Chooses the mode by the speeds `seen` and linearizes at the impulse `r` and the speeds `u`. `turn` bounds the
    /// rotational stiffness of the friction direction.
    #[inline(always)]
    pub(super) fn new(
        contact: &IslandContact<T>,
        r: &ContactVector<T>,
        u: &ContactVector<T>,
        seen: &ContactVector<T>,
        kappa: f64,
        turn: f64,
    ) -> Self {
        let mut s = ContactStiffness::default();
        let mut p = ContactVector { n: -r.n, t: r.t.map(|x| -x) };
        let x_n = contact.w_n * r.n - seen.n;
        if contact.has_normal {
            if !(x_n > 0.0) {
                return Self { mode: Mode::Open, stiffness: s, constant: p };
            }
            s.nn = kappa * contact.over_n;
            p.n = -s.nn * u.n;
        }
        if !contact.has_friction {
            return Self { mode: Mode::Stick, stiffness: s, constant: p };
        }
        let x: [f64; T] = std::array::from_fn(|k| contact.w_t * r.t[k] - seen.t[k]);
        let size = length(&x);
        let normal = if contact.has_normal { r.n.max(RADIUS_FROM_SPEED * x_n * contact.over_n) } else { 0.0 };
        let bound = contact.bound(normal);
        let over = 1.0 / size;
        let (a, stiff) = (contact.w_t * bound * over, kappa * contact.over_t);
        if !(a < 1.0) {
            for k in 0..T {
                s.tt[k][k] = stiff;
                p.t[k] = -stiff * u.t[k];
            }
            return Self { mode: Mode::Stick, stiffness: s, constant: p };
        }
        let e = x.map(|x| x * over);
        // across the slip the impulse turns with it: exact up to the proximal term
        let turn = (a / (1.0 - a)).min(turn);
        let back = if a > 0.0 { turn / a } else { 1.0 };
        let along = product(&e, &r.t);
        for k in 0..T {
            s.tn[k] = contact.mu * e[k] * s.nn;
            p.t[k] = e[k] * (contact.bound(r.n) - along + contact.mu * p.n) - back * (r.t[k] - along * e[k]);
            for l in 0..T {
                let unit = if k == l { 1.0 } else { 0.0 };
                s.tt[k][l] = turn * contact.over_t * (unit - e[k] * e[l]);
            }
        }
        Self { mode: Mode::Slip, stiffness: s, constant: p }
    }
}
