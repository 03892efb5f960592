//! Projected Gauss–Seidel sweeps over the contacts and joints of an island: slow, but without a way to fail.

use super::island::{Island, JOINT_ROWS, Lane, WORLD, dot, push, speed, wide};
use super::iterate::{Iterate, shrink_to_ball};

/// Inverse masses and responses of the method. Storage is reused from problem to problem.
#[derive(Debug, Clone, Default)]
pub(super) struct GaussSeidel<const T: usize> {
    /// M̃⁻¹ of each body.
    inverse: Vec<[Lane; 6]>,
    momentum: Vec<Lane>,
    contacts: Vec<ContactResponse<T>>,
    /// M̃⁻¹ Jᵀ of joint rows.
    joint_blocks: Vec<[[Lane; 2]; JOINT_ROWS]>,
}

/// M̃⁻¹ Jᵀ of a contact's rows.
#[derive(Debug, Clone, Copy)]
struct ContactResponse<const T: usize> {
    n: [Lane; 2],
    t: [[Lane; 2]; T],
}

impl<const T: usize> GaussSeidel<T> {
    /// Sweeps from the impulses of `at`; its velocities follow. Returns `false` if pairs couple bodies, which the method
    /// does not support.
    pub(super) fn run(&mut self, island: &Island<T>, at: &mut Iterate<T>, sweeps: usize) -> bool {
        if !self.velocities(island, at) {
            return false;
        }
        wide(
            #[inline(always)]
            || {
                self.respond(island);
                for _ in 0..sweeps {
                    self.sweep(island, at);
                }
            },
        );
        true
    }

    /// Responses of all rows.
    #[inline(always)]
    fn respond(&mut self, island: &Island<T>) {
        let respond = |rows: &[Lane; 2], bodies: [u32; 2]| {
            std::array::from_fn(|side| {
                let mut y = [0.0; 8];
                if bodies[side] != WORLD {
                    let inverse = &self.inverse[bodies[side] as usize];
                    (0..6).for_each(|r| y[r] = dot(&inverse[r], &rows[side]));
                }
                y
            })
        };
        self.contacts.clear();
        self.contacts.extend(island.contacts.iter().map(|contact| ContactResponse {
            n: respond(&contact.n, contact.bodies),
            t: std::array::from_fn(|k| respond(&contact.t[k], contact.bodies)),
        }));
        self.joint_blocks.clear();
        self.joint_blocks
            .extend(island.joint_blocks.iter().map(|h| h.j.map(|rows| respond(&rows, h.bodies))));
    }

    /// One sweep: each row in turn takes the impulse that satisfies its own equation.
    #[inline(always)]
    fn sweep(&self, island: &Island<T>, at: &mut Iterate<T>) {
        for (i, (joint, response)) in island.joint_blocks.iter().zip(&self.joint_blocks).enumerate() {
            for k in 0..joint.rows {
                let error = speed(&joint.j[k], joint.bodies, &at.v)
                    + joint.offset[k]
                    + joint.compliance[k] * at.c[i][k];
                let change = -error / (joint.w[k] + joint.compliance[k]);
                at.c[i][k] += change;
                push(&response[k], joint.bodies, change, &mut at.v);
            }
        }
        for (i, (contact, response)) in island.contacts.iter().zip(&self.contacts).enumerate() {
            let old = at.r[i];
            let mut new = old;
            if contact.is_bound_by_other() {
                new.n = at.r[contact.bound_by as usize].n;
            } else if contact.has_normal {
                let u = speed(&contact.n, contact.bodies, &at.v) + contact.offset;
                new.n = (old.n - u * contact.over_n).max(0.0);
                push(&response.n, contact.bodies, new.n - old.n, &mut at.v);
            }
            if contact.has_friction {
                let bound = contact.bound(new.n);
                let x: [f64; T] = std::array::from_fn(|k| {
                    let u = speed(&contact.t[k], contact.bodies, &at.v) + contact.slip[k];
                    old.t[k] - u * contact.over_t
                });
                let shrink = shrink_to_ball(&x, bound);
                new.t = x.map(|x| shrink * x);
                for k in 0..T {
                    push(&response.t[k], contact.bodies, new.t[k] - old.t[k], &mut at.v);
                }
            }
            at.r[i] = new;
        }
    }

    /// Inverts the masses of the bodies.
    fn invert(&mut self, island: &Island<T>) -> bool {
        self.inverse.clear();
        for (i, (_, _, block)) in island.mass.iter().take(island.bodies.len()).enumerate() {
            let n = island.start[i + 1] - island.start[i];
            if (0..n).all(|i| (0..n).all(|j| i == j || block[i][j] == 0.0)) {
                let over = |i: usize, j: usize| if i == j && i < n { 1.0 / block[i][i] } else { 0.0 };
                self.inverse.push(std::array::from_fn(|i| std::array::from_fn(|j| over(i, j))));
                continue;
            }
            let unit = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
            let full =
                nalgebra::Matrix6::from_fn(|i, j| if i < n && j < n { block[i][j] } else { unit(i, j) });
            let Some(inverse) = full.try_inverse() else { return false };
            self.inverse.push(std::array::from_fn(|i| {
                std::array::from_fn(|j| if i < n && j < n { inverse[(i, j)] } else { 0.0 })
            }));
        }
        true
    }

    /// Velocities from the impulses; `false` if pairs couple bodies.
    pub(super) fn velocities(&mut self, island: &Island<T>, at: &mut Iterate<T>) -> bool {
        if island.mass.len() > island.bodies.len() || !self.invert(island) {
            return false;
        }
        at.v.iter_mut().for_each(|v| *v = [0.0; 8]);
        at.momentum_error(island, &mut self.momentum);
        for (i, p) in self.momentum.iter().enumerate() {
            (0..6).for_each(|r| at.v[i][r] = -dot(&self.inverse[i][r], p));
        }
        true
    }
}
