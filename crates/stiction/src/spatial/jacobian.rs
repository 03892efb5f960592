//! How forces depend on the state.

use super::force::{Force, Wrench};
use super::model::Model;
use super::placed::{Freedom, Placed};
use super::world::BodyId;
use crate::jacobian::point_force::{ForcePoint, PointForce, known_length};
use crate::jacobian::{ForceJacobian, JacobianKind};
use crate::system::differences;
use nalgebra::{Matrix6, Point3, Vector3};

impl Model {
    /// Of all forces: by formula, but for laws that come without one.
    pub(super) fn slopes(&self, t: f64, q: &[f64], v: &[f64], out: &mut ForceJacobian) {
        out.clear(self.tables.moving.len());
        for part in self.moving() {
            if let Freedom::Rigid(body) = part.freedom {
                // d(−ω × Iω)
                let omega = Vector3::from_column_slice(&v[part.v + 3..part.v + 6]);
                let spin = (part.inertia * omega).cross_matrix() - omega.cross_matrix() * part.inertia;
                out.velocity.bodies[body].fixed_view_mut::<3, 3>(3, 3).copy_from(&spin);
            }
        }
        for force in self.world.forces.values() {
            self.add_slope(force, (t, q, v), out);
        }
        if self.slopes_kind() == JacobianKind::FiniteDifferences {
            let total = |q: &[f64], v: &[f64], k: &mut Vec<f64>| {
                k.clear();
                k.resize(v.len(), 0.0);
                for force in self.world.forces.values() {
                    if let Force::Custom { law, jacobian: None } = force {
                        law(t, q, v, k);
                    }
                }
            };
            differences::add(self, t, q, v, total, out);
        }
    }

    pub(super) fn slopes_kind(&self) -> JacobianKind {
        let bare = |force: &Force| matches!(force, Force::Custom { jacobian: None, .. });
        let differences = self.world.forces.values().any(bare);
        if differences { JacobianKind::FiniteDifferences } else { JacobianKind::Exact }
    }

    fn add_slope(&self, force: &Force, (t, q, v): (f64, &[f64], &[f64]), out: &mut ForceJacobian) {
        let grip = |body: BodyId, point: Option<Point3<f64>>| {
            let placed = self.tables.parts[self.tables.place(body)?].placed(t, q);
            let at = point.map_or(placed.centre, |p| placed.pose * p);
            Some((self.grip(&placed, &at, v), at))
        };
        let push = |body: BodyId, point: Option<Point3<f64>>, wrench: &Wrench, out: &mut ForceJacobian| {
            if let Some((grip, _)) = grip(body, point) {
                grip.add_constant_force(&wrench.force, &wrench.torque, out);
            }
        };
        match force {
            Force::Constant { body, point, wrench } => push(*body, *point, wrench, out),
            Force::Timed { body, point, load } => push(*body, *point, &load(t), out),
            Force::Spring { a, point_a, b, point_b, stiffness, damping, rest_length } => {
                let ends = (grip(*a, Some(*point_a)), grip(*b, Some(*point_b)));
                let (Some((a, from)), Some((b, to))) = ends else { return };
                let (d, u) = (to - from, b.velocity - a.velocity);
                let length = d.norm();
                let pull = if *rest_length == 0.0 {
                    PointForce::isotropic(*stiffness, *damping, &d, &u)
                } else if length > 0.0 {
                    let known = known_length(length, *rest_length);
                    PointForce::along(&(d / length), known, length - rest_length, (*stiffness, *damping), &u)
                } else {
                    // no force where the points coincide
                    return;
                };
                pull.add([&a, &b], out);
            }
            Force::Rail { body, point, axis, origin, stiffness, damping } => {
                let Some((b, at)) = grip(*body, Some(*point)) else { return };
                let axis = axis.normalize();
                let elongation = axis.dot(&at.coords) - origin;
                let constants = (*stiffness, *damping);
                let pull = PointForce::along(&axis, f64::INFINITY, elongation, constants, &b.velocity);
                pull.add([&ForcePoint::prescribed(Vector3::zeros()), &b], out);
            }
            Force::Custom { jacobian: Some(jacobian), .. } => jacobian(t, q, v, out),
            Force::Custom { jacobian: None, .. } => {}
        }
    }

    /// A point of a body.
    fn grip(&self, placed: &Placed, at: &Point3<f64>, v: &[f64]) -> ForcePoint {
        let lever = at - placed.centre;
        let (body, axes) = match placed.freedom {
            Freedom::None => {
                let prescribed = &placed.prescribed;
                return ForcePoint::prescribed(prescribed.linear + prescribed.angular.cross(&lever));
            }
            Freedom::Rigid(body) => (body, Matrix6::identity()),
            Freedom::Point(body) => (body, Matrix6::from_fn(|i, j| if i == j && i < 3 { 1.0 } else { 0.0 })),
            Freedom::Slider(body, axis) => {
                let mut axes = Matrix6::zeros();
                axes.fixed_view_mut::<3, 1>(0, 0).copy_from(&axis);
                (body, axes)
            }
        };
        let rotation = placed.pose.rotation;
        let own = &v[self.tables.starts[body]..self.tables.starts[body + 1]];
        let lever = rotation.inverse_transform_vector(&lever);
        ForcePoint::moving(body, &axes, rotation.to_rotation_matrix().into_inner(), lever, own)
    }
}
