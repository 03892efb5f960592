//! Iterate of a structured method: velocities and impulses of an island, their residuals, and the natural map of its
//! contacts.

use super::island::{Island, IslandContact, Lane, push, scaled, speed, wide};
use crate::problem::{Layout, StepProblem};

/// Impulse or speed of a contact, along the normal and the stretched tangents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ContactVector<const T: usize> {
    pub(super) n: f64,
    pub(super) t: [f64; T],
}

impl<const T: usize> Default for ContactVector<T> {
    fn default() -> Self {
        Self { n: 0.0, t: [0.0; T] }
    }
}

impl<const T: usize> ContactVector<T> {
    /// self + α d.
    #[inline(always)]
    pub(super) fn along(&self, alpha: f64, d: &Self) -> Self {
        Self { n: self.n + alpha * d.n, t: std::array::from_fn(|k| self.t[k] + alpha * d.t[k]) }
    }
}

/// Velocities `v`, contact impulses `r` and joint impulses `c` of an island.
#[derive(Debug, Clone, Default)]
pub(super) struct Iterate<const T: usize> {
    pub(super) v: Vec<Lane>,
    pub(super) r: Vec<ContactVector<T>>,
    pub(super) c: Vec<[f64; 6]>,
}

/// Euclidean norm.
#[inline(always)]
pub(super) fn length<const T: usize>(x: &[f64; T]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Inner product.
#[inline(always)]
pub(super) fn product<const T: usize>(x: &[f64; T], y: &[f64; T]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Factor of the projection of `x` onto the ball with this radius.
#[inline(always)]
pub(super) fn shrink_to_ball<const T: usize>(x: &[f64; T], radius: f64) -> f64 {
    let size = length(x);
    if size > radius { radius / size } else { 1.0 }
}

impl<const T: usize> IslandContact<T> {
    /// Speeds at the velocities `v`.
    #[inline(always)]
    pub(super) fn speeds(&self, v: &[Lane]) -> ContactVector<T> {
        ContactVector {
            n: if self.has_normal { speed(&self.n, self.bodies, v) + self.offset } else { 0.0 },
            t: std::array::from_fn(|k| {
                if self.has_friction { speed(&self.t[k], self.bodies, v) + self.slip[k] } else { 0.0 }
            }),
        }
    }

    /// Change of the speeds for a change of the velocities.
    #[inline(always)]
    pub(super) fn speed_change(&self, dv: &[Lane]) -> ContactVector<T> {
        let moved = self.speeds(dv);
        ContactVector {
            n: if self.has_normal { moved.n - self.offset } else { 0.0 },
            t: std::array::from_fn(|k| if self.has_friction { moved.t[k] - self.slip[k] } else { 0.0 }),
        }
    }

    /// momentum += Jᵀ r.
    #[inline(always)]
    pub(super) fn push(&self, r: &ContactVector<T>, momentum: &mut [Lane]) {
        let n = if self.is_bound_by_other() { 0.0 } else { r.n };
        let mut parts = [scaled(n, &self.n[0]), scaled(n, &self.n[1])];
        for (rows, &r) in self.t.iter().zip(&r.t) {
            for (part, row) in parts.iter_mut().zip(rows) {
                super::island::add(part, r, row);
            }
        }
        push(&parts, self.bodies, 1.0, momentum);
    }

    /// Friction bound at a normal impulse, μ c_n + κ.
    #[inline(always)]
    pub(super) fn bound(&self, normal: f64) -> f64 {
        self.mu * normal.max(0.0) + self.kappa
    }

    /// Natural map: W r minus the projection of W r − u onto its cone [m/s], as the certificate measures it.
    #[inline(always)]
    pub(super) fn natural_map(&self, r: &ContactVector<T>, u: &ContactVector<T>) -> ContactVector<T> {
        let mut map = ContactVector::default();
        if self.has_normal {
            map.n = (self.w_n * r.n).min(u.n);
        }
        if self.has_friction {
            let x: [f64; T] = std::array::from_fn(|k| self.w_t * r.t[k] - u.t[k]);
            let shrink = shrink_to_ball(&x, self.w_t * self.bound(r.n));
            map.t = std::array::from_fn(|k| self.w_t * r.t[k] - shrink * x[k]);
        }
        map
    }
}

impl<const T: usize> Iterate<T> {
    /// Sets all impulses and velocities to zero.
    pub(super) fn reset(&mut self, island: &Island<T>) {
        self.v.clear();
        self.v.resize(island.bodies.len(), [0.0; 8]);
        self.r.clear();
        self.r.resize(island.contacts.len(), ContactVector::default());
        self.c.clear();
        self.c.resize(island.joint_blocks.len(), [0.0; 6]);
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        self.v.clone_from(&other.v);
        self.r.clone_from(&other.r);
        self.c.clone_from(&other.c);
    }

    /// Reads the impulses from `z`.
    pub(super) fn read(&mut self, island: &Island<T>, problem: &StepProblem, layout: &Layout, z: &[f64]) {
        self.reset(island);
        for (c, joint) in self.c.iter_mut().zip(&island.joint_blocks) {
            c[..joint.rows].copy_from_slice(&z[joint.first_row..joint.first_row + joint.rows]);
        }
        for (r, contact) in self.r.iter_mut().zip(&island.contacts) {
            let own = &z[layout.contact[contact.index]..layout.contact[contact.index + 1]];
            let normal = usize::from(contact.has_normal && !contact.is_bound_by_other());
            let bound_by = problem.bound_by(contact.index);
            r.n = bound_by.map_or(0.0, |bound_by| z[layout.contact[bound_by]]);
            if contact.has_friction {
                let p = problem.contacts[contact.index].tangent_impulse(&own[normal..]);
                for k in 0..T.min(p.len()) {
                    r.t[k] = p[k] / contact.axes[k];
                }
            }
        }
    }

    /// Reads the velocities of the island's bodies.
    pub(super) fn read_velocities(&mut self, island: &Island<T>, layout: &Layout, v: &[f64]) {
        for (own, &body) in self.v.iter_mut().zip(&island.bodies) {
            let all = &v[layout.velocity[body]..layout.velocity[body + 1]];
            own[..all.len()].copy_from_slice(all);
        }
    }

    /// Writes the impulses into `z`, projected onto their cones.
    pub(super) fn write(&self, island: &Island<T>, problem: &StepProblem, layout: &Layout, z: &mut [f64]) {
        for (c, joint) in self.c.iter().zip(&island.joint_blocks) {
            z[joint.first_row..joint.first_row + joint.rows].copy_from_slice(&c[..joint.rows]);
        }
        for (r, contact) in self.r.iter().zip(&island.contacts) {
            let own = &mut z[layout.contact[contact.index]..layout.contact[contact.index + 1]];
            own.fill(0.0);
            let normal = r.n.max(0.0);
            let (first, friction) =
                own.split_at_mut(usize::from(contact.has_normal && !contact.is_bound_by_other()));
            if let [first] = first {
                *first = normal;
            }
            if contact.has_friction {
                let shrink = shrink_to_ball(&r.t, contact.bound(normal));
                let mut p = [0.0; 3];
                for k in 0..T.min(3) {
                    p[k] = shrink * r.t[k] * contact.axes[k];
                }
                problem.contacts[contact.index].friction_unknowns(p, friction);
            }
        }
    }

    /// out = M̃ v − b − Jᵀ r − νᵀ c.
    pub(super) fn momentum_error(&self, island: &Island<T>, out: &mut Vec<Lane>) {
        island.momentum_change(&self.v, out);
        wide(
            #[inline(always)]
            || {
                for (contact, r) in island.contacts.iter().zip(&self.r) {
                    let back = ContactVector { n: -r.n, t: r.t.map(|x| -x) };
                    contact.push(&back, out);
                }
            },
        );
        for (joint, c) in island.joint_blocks.iter().zip(&self.c) {
            for k in 0..joint.rows {
                push(&joint.j[k], joint.bodies, -c[k], out);
            }
        }
    }

    /// out = ν v + C c + Υ.
    pub(super) fn joint_errors(&self, island: &Island<T>, out: &mut Vec<[f64; 6]>) {
        out.clear();
        out.extend(island.joint_blocks.iter().zip(&self.c).map(|(joint, c)| {
            std::array::from_fn(|k| {
                if k < joint.rows {
                    speed(&joint.j[k], joint.bodies, &self.v) + joint.offset[k] + joint.compliance[k] * c[k]
                } else {
                    0.0
                }
            })
        }));
    }
}
