//! Axes of a substep that do not turn with the spin of round bodies, so that fast spin costs no accuracy.
//!
//! Angular velocities ω are measured along the axes of each body, which turn by h ω in a substep; a force that is
//! constant in space turns along them, and the mean of both ends has a relative error of (h ω)²/24. A body may turn about
//! any axis without changing its inertia I if that is isotropic, and about an axis of symmetry. With P the projection onto
//! these axes, ω' along axes that do not turn with P ω, and ω̄ the mean of both ends:
//!
//! ```text
//! I dω'/dt = τ' − ((1 − P) ω') × I ω'    R⁺ = R exp(h (1 − P) ω̄) exp(h P ω̄)    ω⁺ = exp(−h P ω̄) ω'⁺
//! ```

use super::constants::INERTIA_SYMMETRY_RELATIVE;
use super::rows::ConstraintRows;
use crate::jacobian::ForceJacobian;
use crate::system::System;
use nalgebra::{Matrix3, Matrix6, Vector3};
use stiction_lcp::{Row, Term};

/// Axes of a substep, of all bodies.
#[derive(Debug, Clone, Default)]
pub(super) struct SpinAxes {
    round: Vec<RoundBody>,
    /// Difference of the force Jacobian along these axes from that along the axes of the bodies.
    pub(super) jacobian: ForceJacobian,
    /// Velocity P ω of the round bodies; all others are zero.
    spin: Vec<f64>,
    /// Velocity without it.
    rest: Vec<f64>,
}

/// Body whose inertia does not change when it turns about some axes.
#[derive(Debug, Clone)]
struct RoundBody {
    body: usize,
    /// Index of its first angular velocity.
    angular: usize,
    inertia: Matrix3<f64>,
    /// Projection P onto the axes.
    projection: Matrix3<f64>,
    /// Torque τ of applied forces, at the state of the linearization.
    torque: Vector3<f64>,
}

impl RoundBody {
    fn omega(&self, v: &[f64]) -> Vector3<f64> {
        Vector3::from_column_slice(&v[self.angular..self.angular + 3])
    }

    /// Angular velocity (1 − P) ω of the axes.
    fn axes_velocity(&self, omega: &Vector3<f64>) -> Vector3<f64> {
        omega - self.projection * omega
    }
}

impl SpinAxes {
    /// No round bodies: all axes are those of the bodies.
    pub(super) fn clear(&mut self) {
        self.round.clear();
    }

    /// Whether all axes are those of the bodies.
    pub(super) fn is_empty(&self) -> bool {
        self.round.is_empty()
    }

    /// Finds the round bodies of a model, with the torques of the applied forces `k`.
    pub(super) fn find<S: System + ?Sized>(
        &mut self,
        system: &S,
        t: f64,
        (q, v): (&[f64], &[f64]),
        k: &[f64],
    ) {
        self.round.clear();
        let mut first = 0;
        for (body, &n) in system.bodies().iter().enumerate() {
            if system.gyroscopic(body, &v[first..first + n]).is_some() {
                let angular = first + 3;
                let inertia = system.mass_at(body, t, q).fixed_view::<3, 3>(3, 3).into_owned();
                let torque = Vector3::from_column_slice(&k[angular..angular + 3]);
                self.round.extend(symmetry_projection(&inertia).map(|projection| RoundBody {
                    body,
                    angular,
                    inertia,
                    projection,
                    torque,
                }));
            }
            first += n;
        }
    }

    /// Adds the gyroscopic forces of all bodies along these axes to the forces `k`.
    pub(super) fn add_gyroscopic<S: System + ?Sized>(&self, system: &S, v: &[f64], k: &mut [f64]) {
        let (mut first, mut round) = (0, self.round.iter().peekable());
        for (body, &n) in system.bodies().iter().enumerate() {
            let own = first..first + n;
            match round.next_if(|r| r.body == body) {
                Some(r) => {
                    let omega = r.omega(v);
                    let force = -r.axes_velocity(&omega).cross(&(r.inertia * omega));
                    k[r.angular..r.angular + 3].iter_mut().zip(&force).for_each(|(k, f)| *k += f);
                }
                None => system.add_gyroscopic(body, &v[own.clone()], &mut k[own]),
            }
            first += n;
        }
    }

    /// Computes [`SpinAxes::jacobian`] from the Jacobian along the axes of the bodies.
    ///
    /// A displacement e turns the axes of a body by P e less than the body. So torques and angular velocities turn with
    /// respect to them, and k_q changes by −[τ]× P + k_v [ω]× P.
    pub(super) fn linearize(&mut self, v: &[f64], jacobian: &ForceJacobian) {
        let Self { round, jacobian: change, .. } = self;
        change.clear(jacobian.velocity.bodies.len());
        for r in round.iter() {
            let omega = r.omega(v);
            let momentum = (r.inertia * omega).cross_matrix();
            let own = momentum - omega.cross_matrix() * r.inertia;
            let turn = omega.cross_matrix() * r.projection;
            let mut along_axes = momentum - momentum * r.projection;
            along_axes -= r.axes_velocity(&omega).cross_matrix() * r.inertia;
            add_angular(&mut change.velocity.bodies[r.body], &(along_axes - own));
            add_angular(&mut change.position.bodies[r.body], &(-r.torque.cross_matrix() * r.projection));
            let mut applied = jacobian.velocity.bodies[r.body];
            add_angular(&mut applied, &-own);
            change.position.add(r.body, r.body, &turned_columns(&applied, &turn));
            for pair in &jacobian.velocity.pairs {
                if pair.b == r.body {
                    change.position.add(pair.a, r.body, &turned_columns(&pair.ab, &turn));
                } else if pair.a == r.body {
                    change.position.add(pair.b, r.body, &turned_columns(&pair.ba, &turn));
                }
            }
        }
    }

    /// Computes [`SpinAxes::jacobian`] from the definite part of the Jacobian: only the gyroscopic forces differ, and
    /// theirs stays antisymmetric.
    pub(super) fn linearize_definite<S: System + ?Sized>(&mut self, system: &S, v: &[f64]) {
        let Self { round, jacobian: change, .. } = self;
        change.clear(system.bodies().len());
        for r in round.iter() {
            let own = system.gyroscopic(r.body, &v[r.angular - 3..r.angular + 3]).unwrap_or_default();
            let spin = (r.inertia * (r.projection * r.omega(v))).cross_matrix();
            let along_axes = spin - spin * r.projection;
            add_angular(&mut change.velocity.bodies[r.body], &(along_axes - own.fixed_view::<3, 3>(3, 3)));
        }
    }

    /// `q ← q ⊕ h (1 − P) v ⊕ h P v`.
    pub(super) fn advance<S: System + ?Sized>(&mut self, system: &S, q: &mut [f64], v: &[f64], h: f64) {
        if self.is_empty() {
            return system.advance(q, v, h);
        }
        self.split(v);
        system.advance(q, &self.rest, h);
        system.advance(q, &self.spin, h);
    }

    /// Turns rows taken at q ⊕ h (1 − P) v ⊕ h P v into these axes. Contacts that were not found there have rows in
    /// these axes.
    pub(super) fn turn_rows<S: System + ?Sized>(
        &mut self,
        system: &S,
        v: &[f64],
        h: f64,
        rows: &mut ConstraintRows,
    ) {
        if self.is_empty() {
            return;
        }
        self.split(v);
        rows.joints.iter_mut().for_each(|j| system.to_start_axes(&self.spin, h, &mut j.row));
        for (k, contact) in rows.contacts.iter_mut().enumerate() {
            if rows.missing.contains(&k) {
                continue;
            }
            system.to_start_axes(&self.spin, h, &mut contact.normal);
            contact.tangents.iter_mut().for_each(|t| system.to_start_axes(&self.spin, h, &mut t.row));
        }
    }

    /// Turns a velocity along these axes into the axes of the bodies, which have turned by h P of the `mean` velocity.
    pub(super) fn turn_velocity<S: System + ?Sized>(
        &mut self,
        system: &S,
        mean: &[f64],
        h: f64,
        v: &mut [f64],
    ) {
        if self.is_empty() {
            return;
        }
        self.split(mean);
        for r in &self.round {
            let own = r.angular..r.angular + 3;
            let mut j = [0.0; 6];
            j[3..].copy_from_slice(&v[own.clone()]);
            // a velocity turns as the row of the same components
            let mut row = Row::Bodies([Term { body: r.body, j }].into_iter().collect());
            system.to_start_axes(&self.spin, -h, &mut row);
            if let Row::Bodies(terms) = row {
                v[own].copy_from_slice(&terms[0].j[3..]);
            }
        }
    }

    /// Splits a velocity into P v and (1 − P) v.
    fn split(&mut self, v: &[f64]) {
        let Self { round, spin, rest, .. } = self;
        spin.clear();
        spin.resize(v.len(), 0.0);
        rest.clear();
        rest.extend_from_slice(v);
        for r in round.iter() {
            let along = r.projection * r.omega(v);
            for (i, along) in along.iter().enumerate() {
                spin[r.angular + i] = *along;
                rest[r.angular + i] -= along;
            }
        }
    }
}

/// Projection onto the axes about which a body of this inertia may turn without changing it; `None` without any.
///
/// With moments (j, i, i) the deviator D = I − tr I/3 has the eigenvalues (2a, −a, −a), so that D² − aD − 2a² = 0, and
/// the projection onto the axis is (D + a)/(3a).
fn symmetry_projection(inertia: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    let mean = inertia.trace() / 3.0;
    let deviator = inertia - Matrix3::from_diagonal_element(mean);
    let least = INERTIA_SYMMETRY_RELATIVE * mean;
    if deviator.norm() <= least {
        return Some(Matrix3::identity());
    }
    let a = (0.5 * deviator.determinant()).cbrt();
    let rest = deviator * deviator - a * deviator - Matrix3::from_diagonal_element(2.0 * a * a);
    let is_axial = a != 0.0 && rest.norm() <= least * deviator.norm();
    is_axial.then(|| (deviator + Matrix3::from_diagonal_element(a)) / (3.0 * a))
}

fn add_angular(block: &mut Matrix6<f64>, angular: &Matrix3<f64>) {
    let mut own = block.fixed_view_mut::<3, 3>(3, 3);
    own += angular;
}

/// Block whose angular columns are those of another block times a matrix, and all else zero.
fn turned_columns(block: &Matrix6<f64>, turn: &Matrix3<f64>) -> Matrix6<f64> {
    let mut out = Matrix6::zeros();
    out.fixed_view_mut::<6, 3>(0, 3).copy_from(&(block.fixed_view::<6, 3>(0, 3) * turn));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Rotation3, Unit};

    #[test]
    fn projections_are_those_of_the_symmetry() {
        let turn = Rotation3::from_euler_angles(0.3, -0.7, 1.1).into_inner();
        let inertia = |moments: [f64; 3]| turn * Matrix3::from_diagonal(&moments.into()) * turn.transpose();
        assert_eq!(symmetry_projection(&Matrix3::from_diagonal_element(0.004)), Some(Matrix3::identity()));
        assert_eq!(symmetry_projection(&inertia([1.0, 2.0, 2.1])), None);
        assert_eq!(symmetry_projection(&inertia([1.0, 2.0, 2.0 + 1e-9])), None);
        for moments in [[2.0, 1.0, 1.0], [0.1, 1.0, 1.0], [1e-3, 1e-3 * (1.0 - 1e-6), 1e-3 * (1.0 - 1e-6)]] {
            let axis = Unit::new_normalize(turn.column(0).into_owned());
            let found = symmetry_projection(&inertia(moments)).unwrap();
            // round-off of the inertia, relative to the deviator
            let size = 1e-15 * moments[0].max(moments[1]) / (moments[0] - moments[1]).abs();
            assert!(
                (found - axis.into_inner() * axis.transpose()).norm() <= 10.0 * size,
                "{moments:?} {found}"
            );
        }
    }
}
