//! Projected Gauss–Seidel over the contacts and joints: slow, but it always goes on.

use super::island::{Island, Lane, ROWS, WORLD, dot, push, speed, wide};
use super::iterate::{Iterate, length};

/// Storage of the method.
#[derive(Debug, Clone, Default)]
pub(super) struct Storage<const T: usize> {
    /// M̃⁻¹ of each body.
    inverse: Vec<[Lane; 6]>,
    momentum: Vec<Lane>,
    touches: Vec<Response<T>>,
    /// M̃⁻¹ Jᵀ of joint rows.
    holds: Vec<[[Lane; 2]; ROWS]>,
}

/// What the impulse of a contact does to its bodies.
#[derive(Debug, Clone, Copy)]
struct Response<const T: usize> {
    n: [Lane; 2],
    t: [[Lane; 2]; T],
}

/// Sweeps from the impulses of `at`; its velocities follow. `false` where springs couple bodies, which it does not know.
pub(super) fn run<const T: usize>(
    island: &Island<T>,
    storage: &mut Storage<T>,
    at: &mut Iterate<T>,
    sweeps: usize,
) -> bool {
    if !storage.velocities(island, at) {
        return false;
    }
    wide(
        #[inline(always)]
        || {
            storage.respond(island);
            for _ in 0..sweeps {
                storage.sweep(island, at);
            }
        },
    );
    true
}

impl<const T: usize> Storage<T> {
    /// The responses of all rows.
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
        self.touches.clear();
        self.touches.extend(island.touches.iter().map(|touch| Response {
            n: respond(&touch.n, touch.bodies),
            t: std::array::from_fn(|k| respond(&touch.t[k], touch.bodies)),
        }));
        self.holds.clear();
        self.holds.extend(island.holds.iter().map(|h| h.j.map(|rows| respond(&rows, h.bodies))));
    }

    /// One after the other takes what makes its own equations true.
    #[inline(always)]
    fn sweep(&self, island: &Island<T>, at: &mut Iterate<T>) {
        for (i, (hold, response)) in island.holds.iter().zip(&self.holds).enumerate() {
            for k in 0..hold.rows {
                let error =
                    speed(&hold.j[k], hold.bodies, &at.v) + hold.offset[k] + hold.compliance[k] * at.c[i][k];
                let change = -error / (hold.w[k] + hold.compliance[k]);
                at.c[i][k] += change;
                push(&response[k], hold.bodies, change, &mut at.v);
            }
        }
        for (i, (touch, response)) in island.touches.iter().zip(&self.touches).enumerate() {
            let old = at.r[i];
            let mut new = old;
            if touch.rests() {
                new.n = at.r[touch.bound_by as usize].n;
            } else if touch.has_normal {
                let u = speed(&touch.n, touch.bodies, &at.v) + touch.offset;
                new.n = (old.n - u * touch.over_n).max(0.0);
                push(&response.n, touch.bodies, new.n - old.n, &mut at.v);
            }
            if touch.has_friction {
                let bound = touch.bound(new.n);
                let x: [f64; T] = std::array::from_fn(|k| {
                    let u = speed(&touch.t[k], touch.bodies, &at.v) + touch.slip[k];
                    old.t[k] - u * touch.over_t
                });
                let size = length(&x);
                let shrink = if size > bound { bound / size } else { 1.0 };
                new.t = x.map(|x| shrink * x);
                for k in 0..T {
                    push(&response.t[k], touch.bodies, new.t[k] - old.t[k], &mut at.v);
                }
            }
            at.r[i] = new;
        }
    }

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

    /// Velocities from the impulses; `false` where springs couple bodies.
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
