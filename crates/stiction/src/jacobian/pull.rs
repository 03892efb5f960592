//! Exact Jacobians of forces that act at points, in space; a planar body is one that turns about z alone.

use super::ForceJacobian;
use nalgebra::{Matrix3, Matrix3x6, Matrix6, Vector3};

/// A point that a force acts at.
#[derive(Debug, Clone)]
pub struct Grip {
    /// Velocity of the point [m/s].
    pub(crate) velocity: Vector3<f64>,
    hold: Option<Hold>,
}

/// What the point of a body that moves by itself has to do with the velocities of the body.
#[derive(Debug, Clone)]
struct Hold {
    body: usize,
    /// The body's velocities as linear in the world and angular in the body frame.
    axes: Matrix6<f64>,
    /// R: the body frame in the world.
    rotation: Matrix3<f64>,
    /// r: from the centre of mass to the point, in the body frame [m].
    lever: Vector3<f64>,
    /// J: the velocity of the point is J v.
    j: Matrix3x6<f64>,
    /// U: how J v changes along q with v as it is.
    bend: Matrix3x6<f64>,
}

impl Grip {
    /// A point whose motion is prescribed.
    pub(crate) fn prescribed(velocity: Vector3<f64>) -> Self {
        Self { velocity, hold: None }
    }

    /// A point of a body that moves by itself. The columns of `axes` are its velocities as linear ones in the
    /// world and angular ones in the body frame, `rotation` is that frame in the world, and `lever` goes from the
    /// centre of mass to the point in it [m].
    pub(crate) fn moving(
        body: usize,
        axes: &Matrix6<f64>,
        rotation: Matrix3<f64>,
        lever: Vector3<f64>,
        v: &[f64],
    ) -> Self {
        let mut twist = nalgebra::Vector6::zeros();
        v.iter().enumerate().for_each(|(i, v)| twist += *v * axes.column(i));
        let (linear, spin) = (twist.fixed_rows::<3>(0), twist.fixed_rows::<3>(3).into_owned());
        let swing = spin.cross(&lever);
        // the point goes at v + R (ω × r), and R turns by R [w]× along w
        let angular = |x: &Vector3<f64>| -rotation * x.cross_matrix() * axes.fixed_rows::<3>(3);
        let j = axes.fixed_rows::<3>(0) + angular(&lever);
        let hold = Hold { body, axes: *axes, rotation, lever, j, bend: angular(&swing) };
        Self { velocity: linear + rotation * swing, hold: Some(hold) }
    }

    /// Adds the Jacobian of a force [N] and a torque [N m] that stay as they are in the world. The body feels
    /// the torque r × Rᵀf + Rᵀτ, which along w changes by (r × (Rᵀf × w)) + Rᵀτ × w.
    pub(crate) fn push(&self, force: &Vector3<f64>, torque: &Vector3<f64>, out: &mut ForceJacobian) {
        let Some(Hold { body, axes, rotation, lever, .. }) = &self.hold else { return };
        let [force, torque] = [force, torque].map(|x| rotation.tr_mul(x).cross_matrix());
        let angular = axes.fixed_rows::<3>(3);
        let block = angular.tr_mul(&((lever.cross_matrix() * force + torque) * angular));
        out.position.add(*body, *body, &block);
    }
}

/// A force on the second of two points, its opposite on the first, and how it depends on where the second is
/// from the first, d, and how fast it goes from there, u.
#[derive(Debug, Clone)]
pub(crate) struct Pull {
    /// f [N].
    force: Vector3<f64>,
    /// ∂f/∂d [N/m].
    by_distance: Matrix3<f64>,
    /// ∂f/∂u [N s/m].
    by_speed: Matrix3<f64>,
}

impl Pull {
    /// A spring without a rest length: f = −γ d − δ u.
    pub(crate) fn whole(stiffness: f64, damping: f64, d: &Vector3<f64>, u: &Vector3<f64>) -> Self {
        let all = |x: f64| Matrix3::from_diagonal_element(-x);
        Self { force: -stiffness * d - damping * u, by_distance: all(stiffness), by_speed: all(damping) }
    }

    /// A spring along n = d/‖d‖: f = −(γφ + δ nᵀu) n. A `length` ‖d‖ that is infinite keeps the direction: a rail.
    pub(crate) fn along(
        n: &Vector3<f64>,
        length: f64,
        elongation: f64,
        (stiffness, damping): (f64, f64),
        u: &Vector3<f64>,
    ) -> Self {
        let line = n * n.transpose();
        let across = Matrix3::identity() - line;
        let tension = stiffness * elongation + damping * n.dot(u);
        // n turns by (1 − nnᵀ)/‖d‖
        let turning = damping * n * (across * u).transpose() + tension * across;
        Self {
            force: -tension * n,
            by_distance: -stiffness * line - turning / length,
            by_speed: -damping * line,
        }
    }

    /// Adds the Jacobian of the force between two points: Jᵀf changes by Jᵀ df, and as J does.
    pub(crate) fn add(&self, grips: [&Grip; 2], out: &mut ForceJacobian) {
        let sides = [(-1.0, grips[0]), (1.0, grips[1])];
        for (sign, grip) in sides {
            grip.push(&(sign * self.force), &Vector3::zeros(), out);
            let Some(own) = &grip.hold else { continue };
            for (other_sign, other) in sides {
                let Some(other) = &other.hold else { continue };
                let felt = sign * other_sign * own.j.transpose();
                let position = felt * (self.by_distance * other.j + self.by_speed * other.bend);
                out.position.add(own.body, other.body, &position);
                out.velocity.add(own.body, other.body, &(felt * self.by_speed * other.j));
            }
        }
    }
}

/// The length of a spring as its direction is known by it: infinite, so that the direction counts as fixed,
/// where the length is only round-off of the rest length and its part of the Jacobian would be noise.
pub(crate) fn known_length(length: f64, rest_length: f64) -> f64 {
    if length > f64::EPSILON * rest_length { length } else { f64::INFINITY }
}
