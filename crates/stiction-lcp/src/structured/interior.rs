//! Interior point method on the true, non-monotone problem: Mehrotra's predictor and corrector on c_n w_n = 0 and
//! (μ c_n + κ, p_t) ∘ (λ, u_t) = 0 in the second-order cone, all unknowns of a contact eliminated into the space of
//! velocities.
//!
//! Its own residual is no certificate: impulses lose digits in the elimination. Every right-hand side carries the
//! momentum residual, and the last digits are left to the semismooth Newton method.

mod cone;
#[cfg(test)]
mod tests;

use super::equations::{ContactStiffness, Equations};
use super::island::{Island, Lane, add, scaled, wide};
use super::iterate::{ContactVector, Iterate, length, product};
use cone::ConeElimination;
pub(super) use cone::{ConePair, ConeRhs, ContactScale, impulse};

// Constants of the method.

/// Fraction of the distance to the boundary of the cones that a step takes [-]. Sensible range 0.9 to 0.999: lower takes
/// more iterations, higher runs into the boundary and stalls.
const BOUNDARY_FRACTION: f64 = 0.995;

/// Upper bound of the distance to the boundary, in multiples of the Newton step [-]. At least 1/[`BOUNDARY_FRACTION`],
/// so that a full step is possible; larger values cost precision of the distance.
const MAX_DISTANCE: f64 = 2.0;

/// Step length below which an iteration counts as stalled [-]. Sensible range 1e-3 to 0.1: lower wastes iterations on a
/// path that turns back, higher gives up early.
const STALLED_STEP: f64 = 0.02;

/// Stalled iterations in a row that end the method.
const MAX_STALLED: usize = 3;

/// Exponent of Mehrotra's centering parameter σ = (μ_affine / μ)³ [-].
const CENTERING_EXPONENT: i32 = 3;

/// Unknowns, residuals and direction of the method. Storage is reused from problem to problem.
#[derive(Debug, Clone, Default)]
pub(super) struct InteriorWorkspace<const T: usize> {
    /// Unit of speeds [m/s].
    speed: f64,
    pub(super) scales: Vec<ContactScale>,
    pub(super) pairs: Vec<ConePair<T>>,
    eliminations: Vec<ConeElimination<T>>,
    affine: Vec<ConePair<T>>,
    /// Direction of the pairs, the velocities and the joint impulses.
    pub(super) step: Vec<ConePair<T>>,
    pub(super) dv: Vec<Lane>,
    pub(super) dc: Vec<[f64; 6]>,
    stiffness: Vec<ContactStiffness<T>>,
    pub(super) errors: LinearErrors<T>,
    pub(super) rhs: Vec<ConeRhs<T>>,
}

/// Residuals of the linear equations: momentum, joint rows, and contact speeds against the unknowns that stand for them.
#[derive(Debug, Clone, Default)]
pub(super) struct LinearErrors<const T: usize> {
    pub(super) momentum: Vec<Lane>,
    pub(super) joints: Vec<[f64; 6]>,
    pub(super) gap: Vec<ContactVector<T>>,
}

impl<const T: usize> LinearErrors<T> {
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.momentum.clone_from(&other.momentum);
        self.joints.clone_from(&other.joints);
        self.gap.clone_from(&other.gap);
    }
}

/// Run of the method; the last iterate is left in `at`.
pub(super) struct InteriorPoint<'a, const T: usize> {
    pub(super) island: &'a Island<T>,
    pub(super) equations: &'a mut Equations,
    pub(super) workspace: &'a mut InteriorWorkspace<T>,
    pub(super) at: &'a mut Iterate<T>,
}

impl<const T: usize> InteriorPoint<'_, T> {
    /// Runs from a cold start of size one in units of `speed` [m/s], towards a residual of `target` [m/s]. Returns the
    /// number of iterations.
    pub(super) fn run(mut self, speed: f64, target: f64, iterations: usize) -> usize {
        self.workspace.begin(self.island, self.at, speed, |_| 1.0);
        let mut stalled = 0;
        // factor by which the linear errors have fallen: a step removes its fraction of all of them
        let mut remaining = 1.0;
        for iteration in 0..iterations {
            self.workspace.find_errors(self.island, self.at);
            if remaining * speed <= target && self.workspace.residual(self.island, self.at) <= target {
                return iteration;
            }
            if !self.workspace.factor(self.island, self.equations) {
                return iteration + 1;
            }
            let (mu, sigma) = self.predict();
            let alpha = self.correct(sigma * mu);
            if !(alpha > 0.0) {
                return iteration + 1;
            }
            self.workspace.advance(self.island, self.at, alpha);
            remaining *= 1.0 - alpha;
            stalled = if alpha < STALLED_STEP { stalled + 1 } else { 0 };
            if stalled == MAX_STALLED {
                return iteration + 1;
            }
        }
        iterations
    }

    /// Affine step towards products of zero. Returns the mean product μ and the centering parameter σ.
    fn predict(&mut self) -> (f64, f64) {
        let Self { island, equations, workspace, .. } = self;
        let (mu, count) = workspace.products(island, 0.0);
        let mu = mu / count;
        workspace.aim(0.0, false);
        workspace.solve(island, equations);
        let alpha = workspace.distance_to_boundary(island).min(1.0);
        let (affine, _) = workspace.products(island, alpha);
        let sigma = (affine / count / mu).clamp(0.0, 1.0).powi(CENTERING_EXPONENT);
        std::mem::swap(&mut workspace.affine, &mut workspace.step);
        (mu, sigma)
    }

    /// Corrector step towards products of `center`. Returns the step length.
    fn correct(&mut self, center: f64) -> f64 {
        let Self { island, equations, workspace, .. } = self;
        workspace.aim(center, true);
        workspace.solve(island, equations);
        (BOUNDARY_FRACTION * workspace.distance_to_boundary(island)).min(1.0)
    }
}

impl<const T: usize> InteriorWorkspace<T> {
    /// Cold start: the pairs of each contact at a size in units of `speed`, no velocities. Open contacts without friction start at their
    /// own speed: at 1, a contact that opens at 100 would keep all others from moving. With friction that is of no use.
    pub(super) fn begin(
        &mut self,
        island: &Island<T>,
        at: &mut Iterate<T>,
        speed: f64,
        sizes: impl Fn(usize) -> f64,
    ) {
        self.speed = speed;
        at.reset(island);
        self.scales.clear();
        self.scales.extend(island.contacts.iter().map(|contact| ContactScale::new(contact, speed)));
        self.pairs.clear();
        for (i, (contact, r)) in island.contacts.iter().zip(&mut at.r).enumerate() {
            let size = sizes(i);
            let w = if contact.has_friction { size } else { size.max(contact.offset / speed) };
            let pair = ConePair { c: size, w, x: [0.0; T], l: size, y: [0.0; T] };
            self.pairs.push(pair);
            *r = impulse(contact, &pair, speed);
        }
    }

    /// Residuals of the linear equations.
    pub(super) fn find_errors(&mut self, island: &Island<T>, at: &Iterate<T>) {
        let LinearErrors { momentum, joints, gap } = &mut self.errors;
        at.momentum_error(island, momentum);
        at.joint_errors(island, joints);
        gap.clear();
        let over = 1.0 / self.speed;
        wide(
            #[inline(always)]
            || {
                for (contact, pair) in island.contacts.iter().zip(&self.pairs) {
                    let u = contact.speeds(&at.v);
                    gap.push(ContactVector {
                        n: u.n * over - pair.w,
                        t: std::array::from_fn(|k| u.t[k] * over - pair.y[k]),
                    });
                }
            },
        );
    }

    /// Residual of speeds and impulses, after [`Self::find_errors`] [m/s].
    pub(super) fn residual(&self, island: &Island<T>, at: &Iterate<T>) -> f64 {
        let mut worst: f64 = 0.0;
        let mut take = |x: f64| worst = if x.is_nan() { f64::INFINITY } else { worst.max(x.abs()) };
        for (contact, r) in island.contacts.iter().zip(&at.r) {
            let map = contact.natural_map(r, &contact.speeds(&at.v));
            take(map.n);
            take(length(&map.t));
        }
        self.errors.joints.iter().flatten().for_each(|&e| take(e));
        worst
    }

    /// Sum of all complementarity products at `alpha` times the step, and their number.
    fn products(&self, island: &Island<T>, alpha: f64) -> (f64, f64) {
        let (mut sum, mut count) = (0.0, 0.0);
        for (i, contact) in island.contacts.iter().enumerate() {
            let p = if alpha == 0.0 { self.pairs[i] } else { self.pairs[i].along(alpha, &self.step[i]) };
            if contact.has_normal {
                sum += p.c * p.w;
                count += 1.0;
            }
            if contact.has_friction {
                sum += self.scales[i].bound(p.c) * p.l + product(&p.x, &p.y);
                count += 1.0;
            }
        }
        (sum, f64::max(count, 1.0))
    }

    /// Right-hand sides towards products of `center`; if `corrected`, with the second-order terms of the affine step.
    fn aim(&mut self, center: f64, corrected: bool) {
        self.rhs.clear();
        for (i, scale) in self.scales.iter().enumerate() {
            let mut rhs = self.pairs[i].missing(scale, center, center);
            if corrected {
                rhs.subtract_second_order(scale.m, &self.affine[i]);
            }
            self.rhs.push(rhs);
        }
    }

    /// Factors the Newton matrix at the pairs.
    pub(super) fn factor(&mut self, island: &Island<T>, equations: &mut Equations) -> bool {
        wide(
            #[inline(always)]
            || {
                self.stiffness.clear();
                self.eliminations.clear();
                for ((contact, pair), scale) in island.contacts.iter().zip(&self.pairs).zip(&self.scales) {
                    let elimination = ConeElimination::new(contact, scale, pair);
                    self.stiffness.push(elimination.stiffness(contact, scale, pair));
                    self.eliminations.push(elimination);
                }
            },
        );
        equations.factor(island, &self.stiffness)
    }

    /// Newton step that removes the linear errors and fills the right-hand sides.
    pub(super) fn solve(&mut self, island: &Island<T>, equations: &mut Equations) {
        wide(
            #[inline(always)]
            || self.assemble_rhs(island),
        );
        equations.solve(island, &mut self.dv, &mut self.dc);
        wide(
            #[inline(always)]
            || self.recover_pairs(island),
        );
    }

    #[inline(always)]
    fn assemble_rhs(&mut self, island: &Island<T>) {
        let speed = self.speed;
        self.dv.clear();
        self.dv.extend(self.errors.momentum.iter().map(|e| scaled(-1.0, e)));
        for (i, contact) in island.contacts.iter().enumerate() {
            let elimination = &self.eliminations[i];
            let p = elimination.constant(contact, self.scales[i].m, &self.pairs[i], &self.rhs[i], speed);
            let (s, gap) = (&self.stiffness[i], &self.errors.gap[i]);
            let push = ContactVector {
                n: p.n - s.nn * gap.n * speed,
                t: std::array::from_fn(|k| p.t[k] - (s.tn[k] * gap.n + product(&s.tt[k], &gap.t)) * speed),
            };
            contact.push(&push, &mut self.dv);
        }
        self.dc.clear();
        self.dc.extend(self.errors.joints.iter().map(|e| e.map(|e| -e)));
    }

    /// Direction of the pairs, from dv.
    #[inline(always)]
    fn recover_pairs(&mut self, island: &Island<T>) {
        self.step.clear();
        let over = 1.0 / self.speed;
        for (i, contact) in island.contacts.iter().enumerate() {
            let du = contact.speed_change(&self.dv);
            let gap = &self.errors.gap[i];
            let w = if contact.has_normal { du.n * over + gap.n } else { 0.0 };
            let y: [f64; T] =
                std::array::from_fn(|k| if contact.has_friction { du.t[k] * over + gap.t[k] } else { 0.0 });
            let step =
                self.eliminations[i].recover(contact, self.scales[i].m, &self.pairs[i], &self.rhs[i], w, y);
            self.step.push(step);
        }
    }

    /// Multiple of the step at which the first pair reaches the boundary of its cone, at most [`MAX_DISTANCE`].
    pub(super) fn distance_to_boundary(&self, island: &Island<T>) -> f64 {
        let mut distance = MAX_DISTANCE;
        for ((contact, scale), (p, d)) in
            island.contacts.iter().zip(&self.scales).zip(self.pairs.iter().zip(&self.step))
        {
            distance = p.distance_to_boundary(d, contact, scale, distance);
        }
        distance
    }

    fn advance(&mut self, island: &Island<T>, at: &mut Iterate<T>, alpha: f64) {
        for (v, dv) in at.v.iter_mut().zip(&self.dv) {
            add(v, alpha, dv);
        }
        for (c, dc) in at.c.iter_mut().zip(&self.dc) {
            (0..6).for_each(|k| c[k] += alpha * dc[k]);
        }
        for (i, contact) in island.contacts.iter().enumerate() {
            self.pairs[i] = self.pairs[i].along(alpha, &self.step[i]);
            at.r[i] = impulse(contact, &self.pairs[i], self.speed);
        }
    }
}
