//! Projected Gauss–Seidel over the contacts and joints: slow, but it always goes on.

use super::island::{Island, Lane, WORLD, add, dot};
use super::iterate::{Iterate, length};

/// Storage of the method.
#[derive(Debug, Clone, Default)]
pub(super) struct Storage {
    /// M̃⁻¹ of each body.
    inverse: Vec<[Lane; 6]>,
    momentum: Vec<Lane>,
}

/// Sweeps from the impulses of `at`; its velocities follow. `false` where springs couple bodies, which it does not know.
pub(super) fn run<const T: usize>(
    island: &Island<T>,
    storage: &mut Storage,
    at: &mut Iterate<T>,
    sweeps: usize,
) -> bool {
    if !storage.velocities(island, at) {
        return false;
    }
    for _ in 0..sweeps {
        for (i, hold) in island.holds.iter().enumerate() {
            for k in 0..hold.rows {
                let rows = &hold.j[k];
                let error = super::island::speed(rows, hold.bodies, &at.v)
                    + hold.offset[k]
                    + hold.compliance[k] * at.c[i][k];
                let change = -error / (hold.w[k] + hold.compliance[k]);
                at.c[i][k] += change;
                storage.strike(rows, hold.bodies, change, &mut at.v);
            }
        }
        for (i, touch) in island.touches.iter().enumerate() {
            let old = at.r[i];
            let mut new = old;
            if touch.rests() {
                new.n = at.r[touch.bearer as usize].n;
            } else if touch.has_normal {
                let u = super::island::speed(&touch.n, touch.bodies, &at.v) + touch.offset;
                new.n = (old.n - u / touch.w_n).max(0.0);
                storage.strike(&touch.n, touch.bodies, new.n - old.n, &mut at.v);
            }
            if touch.has_friction {
                let u = touch.speeds(&at.v).t;
                let x: [f64; T] = std::array::from_fn(|k| old.t[k] - u[k] / touch.w_t);
                let (bound, size) = (touch.bound(new.n), length(&x));
                let shrink = if size > bound { bound / size } else { 1.0 };
                new.t = x.map(|x| shrink * x);
                for k in 0..T {
                    storage.strike(&touch.t[k], touch.bodies, new.t[k] - old.t[k], &mut at.v);
                }
            }
            at.r[i] = new;
        }
    }
    true
}

impl Storage {
    fn invert<const T: usize>(&mut self, island: &Island<T>) -> bool {
        self.inverse.clear();
        for (i, (_, _, block)) in island.mass.iter().take(island.bodies.len()).enumerate() {
            let n = island.start[i + 1] - island.start[i];
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
    pub(super) fn velocities<const T: usize>(&mut self, island: &Island<T>, at: &mut Iterate<T>) -> bool {
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

    /// v += M̃⁻¹ Jᵀ c.
    fn strike(&self, rows: &[Lane; 2], bodies: [u32; 2], c: f64, v: &mut [Lane]) {
        if c == 0.0 {
            return;
        }
        for (row, &body) in rows.iter().zip(&bodies).filter(|(_, b)| **b != WORLD) {
            let inverse = &self.inverse[body as usize];
            let mut change = [0.0; 8];
            (0..6).for_each(|r| change[r] = dot(&inverse[r], row));
            add(&mut v[body as usize], c, &change);
        }
    }
}
