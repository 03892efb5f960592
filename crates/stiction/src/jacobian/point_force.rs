//! Exact Jacobians of forces that act at points of bodies, in space. A planar body is one that turns about z alone.

use super::ForceJacobian;
use nalgebra::{Matrix3, Matrix3x6, Matrix6, Vector3};

/// Point that a force acts at.
#[derive(Debug, Clone)]
pub struct ForcePoint {
    /// Velocity of the point [m/s].
    pub(crate) velocity: Vector3<f64>,
    body: Option<BodyPoint>,
}

/// Point of a moving body, with the derivatives of its velocity.
#[derive(Debug, Clone)]
struct BodyPoint {
    body: usize,
    /// Columns: velocities of the body, linear in the world and angular in the body frame.
    axes: Matrix6<f64>,
    /// Rotation R of the body frame.
    rotation: Matrix3<f64>,
    /// Lever r from the centre of mass to the point, in the body frame [m].
    lever: Vector3<f64>,
    /// Jacobian J: the velocity of the point is J v.
    j: Matrix3x6<f64>,
    /// Derivative U of J v along q at constant v.
    velocity_derivative: Matrix3x6<f64>,
}

impl ForcePoint {
    /// Point with prescribed motion.
    pub(crate) fn prescribed(velocity: Vector3<f64>) -> Self {
        Self { velocity, body: None }
    }

    /// Point of a moving body. The columns of `axes` are its velocities, linear in the world and angular in the body frame;
    /// `rotation` is that frame in the world, and `lever` goes from the centre of mass to the point in it [m].
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
        // the velocity of the point is v + R (ω × r), and R changes by R [w]× along w
        let angular = |x: &Vector3<f64>| -rotation * x.cross_matrix() * axes.fixed_rows::<3>(3);
        let j = axes.fixed_rows::<3>(0) + angular(&lever);
        let moving =
            BodyPoint { body, axes: *axes, rotation, lever, j, velocity_derivative: angular(&swing) };
        Self { velocity: linear + rotation * swing, body: Some(moving) }
    }

    /// Adds the Jacobian of a force [N] and a torque [N m] that are constant in the world. The torque on the body,
    /// r × Rᵀf + Rᵀτ, changes along w by (r × (Rᵀf × w)) + Rᵀτ × w.
    pub(crate) fn add_constant_force(
        &self,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
        out: &mut ForceJacobian,
    ) {
        let Some(BodyPoint { body, axes, rotation, lever, .. }) = &self.body else { return };
        let [force, torque] = [force, torque].map(|x| rotation.tr_mul(x).cross_matrix());
        let angular = axes.fixed_rows::<3>(3);
        let block = angular.tr_mul(&((lever.cross_matrix() * force + torque) * angular));
        out.position.add(*body, *body, &block);
    }
}

/// Force on the second of two points and its opposite on the first, with its derivatives by the relative position d and
/// the relative velocity u of the second point.
#[derive(Debug, Clone)]
pub(crate) struct PointForce {
    /// Force f [N].
    force: Vector3<f64>,
    /// Derivative ∂f/∂d [N/m].
    by_distance: Matrix3<f64>,
    /// Derivative ∂f/∂u [N s/m].
    by_speed: Matrix3<f64>,
}

impl PointForce {
    /// Spring without a rest length: f = −γ d − δ u.
    pub(crate) fn isotropic(stiffness: f64, damping: f64, d: &Vector3<f64>, u: &Vector3<f64>) -> Self {
        let all = |x: f64| Matrix3::from_diagonal_element(-x);
        Self { force: -stiffness * d - damping * u, by_distance: all(stiffness), by_speed: all(damping) }
    }

    /// Spring along n = d/‖d‖: f = −(γφ + δ nᵀu) n. An infinite `length` ‖d‖ keeps the direction constant, as on a rail.
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
        // the derivative of n is (1 − nnᵀ)/‖d‖
        let turning = damping * n * (across * u).transpose() + tension * across;
        Self {
            force: -tension * n,
            by_distance: -stiffness * line - turning / length,
            by_speed: -damping * line,
        }
    }

    /// Adds the Jacobian of the force between two points: that of Jᵀf by f, and by J.
    pub(crate) fn add(&self, points: [&ForcePoint; 2], out: &mut ForceJacobian) {
        let sides = [(-1.0, points[0]), (1.0, points[1])];
        for (sign, point) in sides {
            point.add_constant_force(&(sign * self.force), &Vector3::zeros(), out);
            let Some(own) = &point.body else { continue };
            for (other_sign, other) in sides {
                let Some(other) = &other.body else { continue };
                let transposed = sign * other_sign * own.j.transpose();
                let position =
                    transposed * (self.by_distance * other.j + self.by_speed * other.velocity_derivative);
                out.position.add(own.body, other.body, &position);
                out.velocity.add(own.body, other.body, &(transposed * self.by_speed * other.j));
            }
        }
    }
}

/// Length of a spring for its Jacobian: infinite, so that the direction counts as constant, where the length is round-off
/// of the rest length and the derivative of the direction would be noise.
pub(crate) fn known_length(length: f64, rest_length: f64) -> f64 {
    if length > f64::EPSILON * rest_length { length } else { f64::INFINITY }
}
