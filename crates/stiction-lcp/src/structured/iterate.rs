//! Where a structured method stands: velocities, impulses, and how far they are from a solution.

use super::island::{Island, Lane, Touch, push, scaled, speed, wide};
use crate::problem::{Layout, StepProblem};

/// The impulse or the speed of a contact: along the normal and the stretched tangents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Local<const T: usize> {
    pub(super) n: f64,
    pub(super) t: [f64; T],
}

impl<const T: usize> Default for Local<T> {
    fn default() -> Self {
        Self { n: 0.0, t: [0.0; T] }
    }
}

/// Velocities and impulses of an island.
#[derive(Debug, Clone, Default)]
pub(super) struct Iterate<const T: usize> {
    pub(super) v: Vec<Lane>,
    pub(super) r: Vec<Local<T>>,
    pub(super) c: Vec<[f64; 6]>,
}

#[inline(always)]
pub(super) fn length<const T: usize>(x: &[f64; T]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[inline(always)]
pub(super) fn product<const T: usize>(x: &[f64; T], y: &[f64; T]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

impl<const T: usize> Touch<T> {
    /// Speeds at the velocities `v`.
    #[inline(always)]
    pub(super) fn speeds(&self, v: &[Lane]) -> Local<T> {
        Local {
            n: if self.has_normal { speed(&self.n, self.bodies, v) + self.offset } else { 0.0 },
            t: std::array::from_fn(|k| {
                if self.has_friction { speed(&self.t[k], self.bodies, v) + self.slip[k] } else { 0.0 }
            }),
        }
    }

    /// momentum += Jᵀ r.
    #[inline(always)]
    pub(super) fn push(&self, r: &Local<T>, momentum: &mut [Lane]) {
        let n = if self.rests() { 0.0 } else { r.n };
        let mut parts = [scaled(n, &self.n[0]), scaled(n, &self.n[1])];
        for (rows, &r) in self.t.iter().zip(&r.t) {
            for (part, row) in parts.iter_mut().zip(rows) {
                super::island::add(part, r, row);
            }
        }
        push(&parts, self.bodies, 1.0, momentum);
    }

    /// The bound of friction at a normal impulse.
    #[inline(always)]
    pub(super) fn bound(&self, normal: f64) -> f64 {
        self.mu * normal.max(0.0) + self.kappa
    }

    /// The natural map: how far W r is from the projection of W r − u [m/s]. Where the certificate looks, in its
    /// units.
    #[inline(always)]
    pub(super) fn natural_map(&self, r: &Local<T>, u: &Local<T>) -> Local<T> {
        let mut map = Local::default();
        if self.has_normal {
            map.n = (self.w_n * r.n).min(u.n);
        }
        if self.has_friction {
            let x: [f64; T] = std::array::from_fn(|k| self.w_t * r.t[k] - u.t[k]);
            let (radius, size) = (self.w_t * self.bound(r.n), length(&x));
            let shrink = if size > radius { radius / size } else { 1.0 };
            map.t = std::array::from_fn(|k| self.w_t * r.t[k] - shrink * x[k]);
        }
        map
    }
}

impl<const T: usize> Iterate<T> {
    /// No impulses, and no velocities.
    pub(super) fn reset(&mut self, island: &Island<T>) {
        self.v.clear();
        self.v.resize(island.bodies.len(), [0.0; 8]);
        self.r.clear();
        self.r.resize(island.touches.len(), Local::default());
        self.c.clear();
        self.c.resize(island.holds.len(), [0.0; 6]);
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        self.v.clone_from(&other.v);
        self.r.clone_from(&other.r);
        self.c.clone_from(&other.c);
    }

    /// Takes the impulses of `z`.
    pub(super) fn read(&mut self, island: &Island<T>, problem: &StepProblem, layout: &Layout, z: &[f64]) {
        self.reset(island);
        for (c, hold) in self.c.iter_mut().zip(&island.holds) {
            c[..hold.rows].copy_from_slice(&z[hold.joint..hold.joint + hold.rows]);
        }
        for (r, touch) in self.r.iter_mut().zip(&island.touches) {
            let own = &z[layout.contact[touch.contact]..layout.contact[touch.contact + 1]];
            let normal = usize::from(touch.has_normal && !touch.rests());
            let bound_by = problem.bound_by(touch.contact);
            r.n = bound_by.map_or(0.0, |bound_by| z[layout.contact[bound_by]]);
            if touch.has_friction {
                let p = problem.contacts[touch.contact].tangent_impulse(&own[normal..]);
                for k in 0..T.min(p.len()) {
                    r.t[k] = p[k] / touch.axes[k];
                }
            }
        }
    }

    /// Takes the velocities of its bodies out of those of the problem.
    pub(super) fn take_velocities(&mut self, island: &Island<T>, layout: &Layout, v: &[f64]) {
        for (own, &body) in self.v.iter_mut().zip(&island.bodies) {
            let all = &v[layout.velocity[body]..layout.velocity[body + 1]];
            own[..all.len()].copy_from_slice(all);
        }
    }

    /// Writes the impulses into `z`, moved into their cones.
    pub(super) fn write(&self, island: &Island<T>, problem: &StepProblem, layout: &Layout, z: &mut [f64]) {
        for (c, hold) in self.c.iter().zip(&island.holds) {
            z[hold.joint..hold.joint + hold.rows].copy_from_slice(&c[..hold.rows]);
        }
        for (r, touch) in self.r.iter().zip(&island.touches) {
            let own = &mut z[layout.contact[touch.contact]..layout.contact[touch.contact + 1]];
            own.fill(0.0);
            let normal = r.n.max(0.0);
            let (first, friction) = own.split_at_mut(usize::from(touch.has_normal && !touch.rests()));
            if let [first] = first {
                *first = normal;
            }
            if touch.has_friction {
                let (bound, size) = (touch.bound(normal), length(&r.t));
                let shrink = if size > bound { bound / size } else { 1.0 };
                let mut p = [0.0; 3];
                for k in 0..T.min(3) {
                    p[k] = shrink * r.t[k] * touch.axes[k];
                }
                problem.contacts[touch.contact].friction_unknowns(p, friction);
            }
        }
    }

    /// out = M̃ v − b − Jᵀ r − νᵀ c.
    pub(super) fn momentum_error(&self, island: &Island<T>, out: &mut Vec<Lane>) {
        island.momentum_change(&self.v, out);
        wide(
            #[inline(always)]
            || {
                for (touch, r) in island.touches.iter().zip(&self.r) {
                    let back = Local { n: -r.n, t: r.t.map(|x| -x) };
                    touch.push(&back, out);
                }
            },
        );
        for (hold, c) in island.holds.iter().zip(&self.c) {
            for k in 0..hold.rows {
                push(&hold.j[k], hold.bodies, -c[k], out);
            }
        }
    }

    /// out = ν v + C c + Υ.
    pub(super) fn joint_errors(&self, island: &Island<T>, out: &mut Vec<[f64; 6]>) {
        out.clear();
        out.extend(island.holds.iter().zip(&self.c).map(|(hold, c)| {
            std::array::from_fn(|k| {
                if k < hold.rows {
                    speed(&hold.j[k], hold.bodies, &self.v) + hold.offset[k] + hold.compliance[k] * c[k]
                } else {
                    0.0
                }
            })
        }));
    }
}
