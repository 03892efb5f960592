//! Dual of the least-norm problem of an island: minimize φ(y) = ½‖P_K(J y)‖² − pᵀ y over velocities y by a proximal
//! semismooth Newton method. H = Jᵀ DP_K J + δ I has the pattern that the other methods factor.

use super::super::equations::Equations;
use super::super::island::{Island, Lane, OWN, WORLD, add, push, scaled, speed, wide};
use super::super::iterate::{ContactVector, Iterate};
use super::IslandResult;
use super::cone::{ConeDerivative, ImpulseCone, project_ball, project_contact};

// Constants of the method. Velocities are scaled by the length of their column of J, p by its size.

/// First weight δ of the proximal term [-]. Larger takes more iterations, smaller makes the first factorization
/// ill-conditioned. Sensible range 1e-10 to 1e-6.
const FIRST_WEIGHT: f64 = 1e-8;

/// Weight of the first factorization on guessed faces [-]: they are right but for a few.
const GUESSED_WEIGHT: f64 = 1e-12;

/// Limit on factorizations from guessed faces: beyond, they were wrong.
const GUESSED_FACTORIZATIONS: usize = 8;

/// Relative distance from the boundary of a cone up to which an impulse counts as on it [-].
const FACE_MARGIN: f64 = 1e-9;

/// Least weight [-]: smaller is lost in the round-off of H. Sensible range 1e-14 to 1e-11.
const LAST_WEIGHT: f64 = 1e-13;

/// Factor on the weight from one factorization to the next [-].
const WEIGHT_DECREASE: f64 = 1e-2;

/// Residual at which the iteration ends [-], relative to the size of p.
const LEAST_NORM_RESIDUAL: f64 = 1e-14;

/// Factor on the residual above which further solves are round-off [-].
const ROUND_OFF_PROGRESS: f64 = 0.5;

/// Residual above which the result is refused [-]: the solution is kept instead. Sensible range 2e-14 to 1e-12: smaller
/// refuses round-off, larger changes the momentum.
const MAX_RESIDUAL: f64 = 5e-14;

/// Limit on factorizations: two to four are usual.
const FACTORIZATION_LIMIT: usize = 30;

/// Limit on solves with one factorization while the faces stay.
const REUSE_LIMIT: usize = 6;

/// Factor by which a solve with an old factorization has to reduce the residual [-], or H is factored again. Sensible
/// range 0.01 to 0.5.
const REUSE_PROGRESS: f64 = 0.2;

/// Armijo's constant: a step must gain this part of what the gradient promises.
const SUFFICIENT_DECREASE: f64 = 1e-4;

/// Halvings of a step at most.
const HALVING_LIMIT: usize = 30;

/// Projections of the probe onto the null space: each reduces what is left of determined impulses by δ/(δ + σ²), σ the
/// singular values of J.
const PROBE_PASSES: usize = 3;

/// Rest of a probe of unit size up to which an impulse is determined [-]. Sensible range 1e-9 to 1e-4: smaller takes
/// ill-conditioned impulses for undetermined, larger misses small parts in the null space.
const DETERMINED_REST: f64 = 1e-6;

/// Dual of an island with its iterate.
#[derive(Debug, Clone, Default)]
pub(super) struct UniqueDual<const T: usize> {
    /// p: the momentum to be transferred to each body.
    momentum: Vec<Lane>,
    /// Length of the column of J of each velocity.
    columns: Vec<Lane>,
    /// Size of the impulses.
    size: f64,
    y: Vec<Lane>,
    /// Impulses z = P_K(J y) of contacts and of joint rows.
    pub(super) z: Vec<ContactVector<T>>,
    pub(super) c: Vec<[f64; 6]>,
    image: Vec<ContactVector<T>>,
    derivative: Vec<ConeDerivative<T>>,
    factored: Vec<ConeDerivative<T>>,
    faces: Vec<ConeDerivative<T>>,
    gradient: Vec<Lane>,
    step: Vec<Lane>,
    start: Vec<Lane>,
    rhs_joints: Vec<[f64; 6]>,
    /// Rest of the probe in the null space of Jᵀ, relative to the probe.
    rest: Vec<f64>,
    joint_rest: Vec<[f64; 6]>,
    factorizations: usize,
}

impl<const T: usize> UniqueDual<T> {
    /// Reads p = Jᵀ z of the solution, with its impulses projected onto their cones so that the set is not empty.
    /// `island` has the rows of the unknowns.
    pub(super) fn begin(
        &mut self,
        island: &Island<T>,
        cones: &[ImpulseCone],
        solution: &Iterate<T>,
        lengths: &[f64],
    ) {
        let bodies = island.bodies.len();
        for vector in [&mut self.momentum, &mut self.columns, &mut self.y] {
            vector.clear();
            vector.resize(bodies, [0.0; 8]);
        }
        self.faces.clear();
        self.faces.reserve(island.contacts.len());
        self.image.clear();
        self.image.extend(solution.r.iter().zip(lengths).map(|(r, l)| ContactVector { n: r.n * l, t: r.t }));
        self.c.clear();
        self.c.extend_from_slice(&solution.c);
        for (i, contact) in island.contacts.iter().enumerate() {
            // tied friction is in the normal row
            if contact.t == [[[0.0; 8]; 2]; T] {
                self.image[i].t = [0.0; T];
            }
        }
        self.project(island, cones);
        self.size = 0.0;
        let mut momentum = std::mem::take(&mut self.momentum);
        self.push(island, &mut momentum);
        self.momentum = momentum;
        self.measure_columns(island);
        for (p, column) in self.momentum.iter().zip(&self.columns) {
            for (p, column) in p.iter().zip(column) {
                self.size = self.size.max(if *column > 0.0 { p.abs() / column } else { 0.0 });
            }
        }
    }

    /// Minimizes the dual. The first factorization, with all impulses inside their cones, tells which are determined.
    pub(super) fn solve(
        &mut self,
        island: &mut Island<T>,
        cones: &[ImpulseCone],
        equations: &mut Equations,
        guess: Option<(&[ContactVector<T>], &[f64])>,
        is_known: bool,
    ) -> IslandResult {
        self.factorizations = 0;
        self.look(island, cones);
        if !is_known {
            if !self.factor(island, cones, equations, FIRST_WEIGHT) {
                self.forget(island);
                return IslandResult::Failed;
            }
            if self.probe(island, cones, equations) {
                return IslandResult::Unique;
            }
        }
        if !(self.size > 0.0) {
            // nothing is transferred: the least impulses are zero
            return IslandResult::LeastNorm;
        }
        if let Some((impulses, lengths)) = guess
            && impulses.iter().any(|r| r.n > 0.0)
        {
            self.take_faces(island, cones, impulses, lengths);
            if self.minimize(island, cones, equations, GUESSED_WEIGHT, GUESSED_FACTORIZATIONS) {
                return IslandResult::LeastNorm;
            }
            self.y.iter_mut().for_each(|y| *y = [0.0; 8]);
            self.look(island, cones);
        }
        let found = self.minimize(island, cones, equations, FIRST_WEIGHT, FACTORIZATION_LIMIT);
        if found { IslandResult::LeastNorm } else { IslandResult::Failed }
    }

    /// Newton's iterations from the iterate and the derivative there. Returns whether they end within the residual.
    fn minimize(
        &mut self,
        island: &mut Island<T>,
        cones: &[ImpulseCone],
        equations: &mut Equations,
        mut weight: f64,
        limit: usize,
    ) -> bool {
        let limit = self.factorizations + limit;
        if !self.factor(island, cones, equations, weight) {
            return false;
        }
        let mut uses = 0;
        let mut before = f64::INFINITY;
        loop {
            self.find_gradient(island);
            let residual = self.residual();
            // to round-off: reports of bodies at rest repeat these impulses
            if residual <= LEAST_NORM_RESIDUAL && residual > ROUND_OFF_PROGRESS * before {
                break;
            }
            let slow = residual > REUSE_PROGRESS * before;
            before = residual;
            let same = self.derivative.iter().zip(&self.factored).all(|(a, b)| a.has_same_faces(b));
            if !same || slow || uses == REUSE_LIMIT {
                weight = (weight * WEIGHT_DECREASE).max(LAST_WEIGHT);
                if self.factorizations == limit || !self.factor(island, cones, equations, weight) {
                    break;
                }
                uses = 0;
            }
            uses += 1;
            self.find_step(island, equations);
            if !self.search(island, cones) {
                if uses == 1 {
                    break;
                }
                uses = REUSE_LIMIT;
            }
        }
        self.find_gradient(island);
        self.residual() <= MAX_RESIDUAL
    }

    /// Takes the derivative on the faces of the cones that these impulses lie on.
    fn take_faces(
        &mut self,
        island: &Island<T>,
        cones: &[ImpulseCone],
        impulses: &[ContactVector<T>],
        lengths: &[f64],
    ) {
        self.image.clear();
        self.image.extend(impulses.iter().zip(lengths).map(|(r, l)| ContactVector { n: r.n * l, t: r.t }));
        for ((image, contact), cone) in self.image.iter_mut().zip(&island.contacts).zip(cones) {
            if contact.t == [[[0.0; 8]; 2]; T] {
                image.t = [0.0; T];
            }
            // beyond the boundary, so that an impulse on it counts as outside
            image.t.iter_mut().for_each(|t| *t *= 1.0 + FACE_MARGIN);
            if image.n <= 0.0 && matches!(cone, ImpulseCone::Contact { .. }) {
                image.n = -1.0;
                image.t = [0.0; T];
            }
        }
        self.project(island, cones);
        std::mem::swap(&mut self.derivative, &mut self.faces);
        self.look(island, cones);
        std::mem::swap(&mut self.derivative, &mut self.faces);
    }

    /// Whether the impulse of a contact is the same in all members.
    pub(super) fn contact_is_determined(&self, i: usize) -> bool {
        self.rest.get(i).is_none_or(|rest| *rest <= DETERMINED_REST)
    }

    /// Whether the impulse of a joint row is the same in all members.
    pub(super) fn joint_is_determined(&self, i: usize, k: usize) -> bool {
        self.joint_rest.get(i).is_none_or(|rest| rest[k].abs() <= DETERMINED_REST)
    }

    /// No impulse is known to be determined.
    fn forget(&mut self, island: &Island<T>) {
        self.rest.clear();
        self.rest.resize(island.contacts.len(), 1.0);
        self.joint_rest.clear();
        self.joint_rest.resize(island.joint_blocks.len(), [1.0; 6]);
    }

    /// Lengths of the columns of J.
    fn measure_columns(&mut self, island: &Island<T>) {
        let columns = &mut self.columns;
        let mut take = |rows: &[Lane; 2], bodies: [u32; 2]| {
            for (part, body) in rows.iter().zip(bodies).filter(|(_, b)| *b != WORLD) {
                let own = &mut columns[body as usize];
                for k in 0..8 {
                    own[k] += part[k] * part[k];
                }
            }
        };
        for contact in &island.contacts {
            if !contact.is_bound_by_other() {
                take(&contact.n, contact.bodies);
            }
            contact.t.iter().for_each(|t| take(t, contact.bodies));
        }
        for joint in &island.joint_blocks {
            joint.j[..joint.rows].iter().for_each(|j| take(j, joint.bodies));
        }
        columns.iter_mut().flatten().for_each(|x| *x = x.sqrt());
    }

    /// H = Jᵀ DP_K J + δ I, factored.
    fn factor(
        &mut self,
        island: &mut Island<T>,
        cones: &[ImpulseCone],
        equations: &mut Equations,
        weight: f64,
    ) -> bool {
        self.factorizations += 1;
        for (row, column, block) in &mut island.mass {
            *block = [[0.0; 8]; 6];
            if row == column {
                let columns = &self.columns[*row as usize];
                for k in 0..6 {
                    // a velocity that no row moves has a unit diagonal
                    let square = columns[k] * columns[k];
                    block[k][k] = if square > 0.0 { weight * square } else { 1.0 };
                }
            }
        }
        self.factored.clone_from(&self.derivative);
        let factored = &self.factored;
        equations.factor_with(island, |i, side, out| respond(island, cones, factored, i, side, out))
    }

    /// Rest of a probe in the null space of Jᵀ. Returns whether nothing is left anywhere.
    fn probe(&mut self, island: &Island<T>, cones: &[ImpulseCone], equations: &mut Equations) -> bool {
        let mut seed = 0_u64;
        let mut random = || {
            // splitmix64: a fixed sequence, so that reports do not depend on the history
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut x = seed;
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            0.5 + (x >> 11) as f64 / (1_u64 << 53) as f64
        };
        for (z, contact) in self.z.iter_mut().zip(&island.contacts) {
            let own =
                |rows: &[Lane; 2], x: f64| if rows.iter().flatten().any(|r| *r != 0.0) { x } else { 0.0 };
            z.n = if contact.is_bound_by_other() { 0.0 } else { own(&contact.n, random()) };
            z.t = std::array::from_fn(|k| own(&contact.t[k], random()));
        }
        for (c, joint) in self.c.iter_mut().zip(&island.joint_blocks) {
            *c = [0.0; 6];
            for k in (0..joint.rows).filter(|&k| joint.compliance[k] == super::FREE_ROW) {
                c[k] = random();
            }
        }
        for _ in 0..PROBE_PASSES {
            self.step.clear();
            self.step.resize(island.bodies.len(), [0.0; 8]);
            let mut step = std::mem::take(&mut self.step);
            self.push(island, &mut step);
            self.step = step;
            self.solve_factored(island, equations);
            for (z, contact) in self.z.iter_mut().zip(&island.contacts) {
                if !contact.is_bound_by_other() {
                    z.n -= speed(&contact.n, contact.bodies, &self.step);
                }
                for k in 0..T {
                    z.t[k] -= speed(&contact.t[k], contact.bodies, &self.step);
                }
            }
            for (c, joint) in self.c.iter_mut().zip(&island.joint_blocks) {
                for k in 0..joint.rows {
                    c[k] -= speed(&joint.j[k], joint.bodies, &self.step);
                }
            }
        }
        self.rest.clear();
        self.rest.extend(self.z.iter().map(|z| z.t.iter().fold(z.n.abs(), |most: f64, t| most.max(t.abs()))));
        self.joint_rest.clone_from(&self.c);
        let small = |x: f64| x.abs() <= DETERMINED_REST;
        let unique =
            self.rest.iter().all(|r| small(*r)) && self.joint_rest.iter().flatten().all(|r| small(*r));
        self.look(island, cones);
        unique
    }

    /// Step −H⁻¹ ∇φ, from the gradient.
    fn find_step(&mut self, island: &Island<T>, equations: &mut Equations) {
        self.step.clone_from(&self.gradient);
        self.solve_factored(island, equations);
        self.step.iter_mut().flatten().for_each(|x| *x = -*x);
    }

    fn solve_factored(&mut self, island: &Island<T>, equations: &mut Equations) {
        self.rhs_joints.clear();
        self.rhs_joints.resize(island.joint_blocks.len(), [0.0; 6]);
        equations.solve(island, &mut self.step, &mut self.rhs_joints);
    }

    /// Moves along the step, halved until φ decreases enough; `false` where it does not.
    fn search(&mut self, island: &Island<T>, cones: &[ImpulseCone]) -> bool {
        self.start.clone_from(&self.y);
        let before = self.merit();
        let slope: f64 =
            self.gradient.iter().flatten().zip(self.step.iter().flatten()).map(|(g, s)| g * s).sum();
        let mut alpha = 1.0;
        for _ in 0..HALVING_LIMIT {
            for (y, (start, step)) in self.y.iter_mut().zip(self.start.iter().zip(&self.step)) {
                *y = *start;
                add(y, alpha, step);
            }
            self.look(island, cones);
            // a merit that is equal to round-off counts as decreased
            if self.merit()
                <= before + SUFFICIENT_DECREASE * alpha * slope + 4.0 * f64::EPSILON * before.abs()
            {
                return true;
            }
            alpha *= 0.5;
        }
        self.y.clone_from(&self.start);
        self.look(island, cones);
        false
    }

    /// φ(y) = zᵀ(J y) − ½‖z‖² − pᵀ y.
    fn merit(&self) -> f64 {
        let contact = |(z, x): (&ContactVector<T>, &ContactVector<T>)| {
            let part = |z: f64, x: f64| z * (x - 0.5 * z);
            part(z.n, x.n) + z.t.iter().zip(&x.t).map(|(z, x)| part(*z, *x)).sum::<f64>()
        };
        let contacts: f64 = self.z.iter().zip(&self.image).map(contact).sum();
        let joints: f64 = self.c.iter().flatten().map(|c| 0.5 * c * c).sum();
        let work: f64 = self.momentum.iter().flatten().zip(self.y.iter().flatten()).map(|(p, y)| p * y).sum();
        contacts + joints - work
    }

    /// ∇φ = Jᵀ z − p.
    fn find_gradient(&mut self, island: &Island<T>) {
        let mut gradient = std::mem::take(&mut self.gradient);
        gradient.clear();
        gradient.extend(self.momentum.iter().map(|p| p.map(|x| -x)));
        self.push(island, &mut gradient);
        self.gradient = gradient;
    }

    /// Largest gradient, in scaled velocities, relative to the size of p.
    fn residual(&self) -> f64 {
        let scaled = |(g, column): (&f64, &f64)| if *column > 0.0 { g.abs() / column } else { 0.0 };
        let all = self.gradient.iter().flatten().zip(self.columns.iter().flatten()).map(scaled);
        all.fold(0.0, |most: f64, g| if g.is_nan() { f64::INFINITY } else { most.max(g) }) / self.size
    }

    /// out += Jᵀ z.
    fn push(&self, island: &Island<T>, out: &mut [Lane]) {
        wide(
            #[inline(always)]
            || {
                for (contact, z) in island.contacts.iter().zip(&self.z) {
                    contact.push(z, out);
                }
            },
        );
        for (joint, c) in island.joint_blocks.iter().zip(&self.c) {
            for k in 0..joint.rows {
                push(&joint.j[k], joint.bodies, c[k], out);
            }
        }
    }

    /// J y, its projection and the derivative of it.
    fn look(&mut self, island: &Island<T>, cones: &[ImpulseCone]) {
        self.image.clear();
        self.image.extend(island.contacts.iter().map(|contact| ContactVector {
            n: speed(&contact.n, contact.bodies, &self.y),
            t: std::array::from_fn(|k| speed(&contact.t[k], contact.bodies, &self.y)),
        }));
        for (c, joint) in self.c.iter_mut().zip(&island.joint_blocks) {
            for k in 0..joint.rows {
                c[k] = speed(&joint.j[k], joint.bodies, &self.y);
            }
        }
        self.project(island, cones);
    }

    /// Projection of the image onto the cones, and its derivative.
    fn project(&mut self, island: &Island<T>, cones: &[ImpulseCone]) {
        self.z.clear();
        self.z.resize(cones.len(), ContactVector::default());
        self.derivative.clear();
        self.derivative.resize(cones.len(), ConeDerivative::default());
        debug_assert_eq!(island.contacts.len(), cones.len());
        for (i, cone) in cones.iter().enumerate() {
            match *cone {
                ImpulseCone::Nothing => {}
                ImpulseCone::Ball { bound } => {
                    (self.z[i].t, self.derivative[i]) = project_ball(&self.image[i].t, bound);
                }
                ImpulseCone::Contact { mu, roll, roll_mu } => {
                    let rolls = if roll == OWN { [0.0; T] } else { self.image[roll as usize].t };
                    let found = project_contact(&self.image[i], &rolls, mu, roll_mu);
                    (self.z[i], self.derivative[i]) = (found.own, found.derivative);
                    if roll != OWN {
                        self.z[roll as usize].t = found.roll;
                        // its rows are pushed with those of the contact that bounds it
                        self.derivative[roll as usize] = ConeDerivative {
                            normal: 0.0,
                            ball: found.derivative.roll,
                            roll: found.derivative.roll,
                        };
                    }
                }
            }
        }
    }
}

/// DP_K J of a contact for one of its bodies: the normal row, then the tangents.
fn respond<const T: usize>(
    island: &Island<T>,
    cones: &[ImpulseCone],
    derivative: &[ConeDerivative<T>],
    i: usize,
    side: usize,
    out: &mut Vec<Lane>,
) {
    let contact = &island.contacts[i];
    let bound_by = if contact.is_bound_by_other() { contact.bound_by as usize } else { i };
    let normal = combined(island, cones, derivative, bound_by, side);
    out.push(if bound_by == i { normal } else { [0.0; 8] });
    let ball = &derivative[i].ball;
    let mut along = [0.0; 8];
    ball.direction.iter().zip(&contact.t).for_each(|(e, t)| add(&mut along, *e, &t[side]));
    for k in 0..T {
        let mut push = scaled(ball.turn, &contact.t[k][side]);
        add(&mut push, -ball.turn * ball.direction[k], &along);
        add(&mut push, ball.along[k], &normal);
        out.push(push);
    }
}

/// Row of dN: the normal row with the tangents whose boundary is reached.
fn combined<const T: usize>(
    island: &Island<T>,
    cones: &[ImpulseCone],
    derivative: &[ConeDerivative<T>],
    i: usize,
    side: usize,
) -> Lane {
    let ConeDerivative { normal, ball, roll } = &derivative[i];
    let contact = &island.contacts[i];
    let mut row = scaled(*normal, &contact.n[side]);
    for (x, t) in ball.along.iter().zip(&contact.t) {
        add(&mut row, normal * x, &t[side]);
    }
    if let ImpulseCone::Contact { roll: other, .. } = cones[i]
        && other != OWN
    {
        for (x, t) in roll.along.iter().zip(&island.contacts[other as usize].t) {
            add(&mut row, normal * x, &t[side]);
        }
    }
    row
}
