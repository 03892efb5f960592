//! How forces depend on the state.

use super::force::Force;
use super::joint_rows::TINY;
use super::model::Model;
use super::part::{Kind, Place};
use super::world::BodyId;
use crate::jacobian::point_force::{ForcePoint, PointForce, known_length};
use crate::jacobian::{ForceJacobian, JacobianKind};
use crate::system::differences;
use nalgebra::{Matrix3, Matrix6, Point2, Vector2, Vector3};

impl Model {
    /// Of all forces: by formula, but for laws that come without one.
    pub(super) fn slopes(&self, t: f64, q: &[f64], v: &[f64], out: &mut ForceJacobian) {
        out.clear(self.starts.len() - 1);
        let mut scratch = self.scratch();
        self.places(t, q, &mut scratch.places);
        for force in self.world.forces.values() {
            self.add_slope(force, (t, v), &scratch.places, out);
        }
        drop(scratch);
        // the user's functions run last and hold nothing of the model
        for force in self.world.forces.values() {
            if let Force::Custom { jacobian: Some(jacobian), .. } = force {
                jacobian(t, q, v, out);
            }
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

    fn add_slope(&self, force: &Force, (t, v): (f64, &[f64]), places: &[Place], out: &mut ForceJacobian) {
        let grip = |body: BodyId, point: Option<Point2<f64>>| self.grip(body, point, places, v);
        match force {
            Force::Constant { body, point, wrench } => {
                if let Some((grip, _)) = grip(*body, *point) {
                    // a torque about z does not turn with the body
                    grip.add_constant_force(&spatial(&wrench.force), &Vector3::zeros(), out);
                }
            }
            Force::Timed { body, point, load } => {
                if let Some((grip, _)) = grip(*body, *point) {
                    grip.add_constant_force(&spatial(&load(t).force), &Vector3::zeros(), out);
                }
            }
            Force::Spring { a, point_a, b, point_b, stiffness, damping, rest_length } => {
                let ends = (grip(*a, Some(*point_a)), grip(*b, Some(*point_b)));
                let (Some((a, from)), Some((b, to))) = ends else { return };
                let (d, u) = (to - from, b.velocity - a.velocity);
                let pull = if *rest_length == 0.0 {
                    PointForce::isotropic(*stiffness, *damping, &spatial(&d), &u)
                } else {
                    // along the same direction as the force
                    let length = d.norm();
                    let n = if length > TINY { d / length } else { Vector2::y() };
                    let known = known_length(length, *rest_length);
                    PointForce::along(&spatial(&n), known, length - rest_length, (*stiffness, *damping), &u)
                };
                pull.add([&a, &b], out);
            }
            Force::Rail { body, point, axis, origin, stiffness, damping } => {
                let Some((b, at)) = grip(*body, Some(*point)) else { return };
                let elongation = axis.dot(&at.coords) - origin;
                let constants = (*stiffness, *damping);
                let pull =
                    PointForce::along(&spatial(axis), f64::INFINITY, elongation, constants, &b.velocity);
                pull.add([&ForcePoint::prescribed(Vector3::zeros()), &b], out);
            }
            Force::Custom { .. } => {}
        }
    }

    /// A point of a body, and where it is.
    fn grip(
        &self,
        body: BodyId,
        point: Option<Point2<f64>>,
        places: &[Place],
        v: &[f64],
    ) -> Option<(ForcePoint, Point2<f64>)> {
        let i = self.index(body)?;
        let (part, place) = (&self.parts[i], &places[i]);
        let at = point.map_or(place.centre, |p| place.point(&(p - part.centre)));
        let Some(number) = part.moving else {
            return Some((ForcePoint::prescribed(spatial(&place.drift_at(&at))), at));
        };
        // velocities as linear and angular ones in space
        let mut axes = Matrix6::zeros();
        if let Kind::Slider { axis, .. } = &part.kind {
            axes.fixed_view_mut::<2, 1>(0, 0).copy_from(axis);
        } else {
            (axes[(0, 0)], axes[(1, 1)]) = (1.0, 1.0);
        }
        if part.turns() {
            axes[(5, 2)] = 1.0;
        }
        // about z it is all one in which frame the lever is
        let lever = spatial(&(at - place.centre));
        let own = &v[part.v..part.v + part.velocities()];
        Some((ForcePoint::moving(number, &axes, Matrix3::identity(), lever, own), at))
    }
}

/// A vector of the plane in space.
fn spatial(v: &Vector2<f64>) -> Vector3<f64> {
    Vector3::new(v.x, v.y, 0.0)
}
