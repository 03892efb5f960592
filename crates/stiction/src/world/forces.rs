//! Forces of a model: generalized force k, rows of springs, potential energy and Jacobian.

use super::actuators;
use super::body_layout::BodyLayout;
use super::dimension::{EuclideanPoint, EuclideanVector};
use super::force::{Force, Wrench};
use super::formulas::Formulas;
use super::joint_rows::SpeedRow;
use super::model::ModelIn;
use super::placement::{Freedom, Placement};
use crate::id::{BodyId, ForceId};
use crate::jacobian::point_force::{ForcePoint, PointForce, known_length};
use crate::jacobian::{ForceJacobian, JacobianKind};
use crate::system::{Forces, Spring, differences};
use arrayvec::ArrayVec;
use nalgebra::Vector3;

/// Spring along one direction.
struct SpringRow {
    /// φ [m].
    elongation: f64,
    row: SpeedRow,
}

/// Gravity and all forces at (t, q, v).
pub(super) fn add_all<D: Formulas>(model: &ModelIn<D>, t: f64, q: &[f64], v: &[f64], out: &mut Forces) {
    let starts = &model.layout.starts;
    out.k.clear();
    out.k.resize(starts.last().copied().unwrap_or(0), 0.0);
    out.springs.clear();
    out.applied.clear();
    out.applied.resize(out.k.len(), 0.0);
    actuators::add_all(model, t, q, out);
    for body in model.moving() {
        let weight = model.world.gravity * body.mass;
        let own = &mut out.k[body.velocities()];
        match body.freedom {
            Freedom::Slider(_, axis) => own[0] += axis.dot(&weight),
            _ => own.iter_mut().zip(weight.components()).for_each(|(k, w)| *k += w),
        }
    }
    for (id, force) in &model.world.forces {
        match force {
            Force::Constant { body, point, wrench } => {
                add_wrench(model, (t, q), (*body, *point), wrench, &mut out.applied);
            }
            Force::Timed { body, point, load } => {
                add_wrench(model, (t, q), (*body, *point), &load(t), &mut out.applied);
            }
            Force::Commanded { body, point, wrench, .. } => {
                let wrench = wrench.scaled(model.commanded(*id, q));
                add_wrench(model, (t, q), (*body, *point), &wrench, &mut out.applied);
            }
            Force::Spring { stiffness, damping, .. } | Force::Rail { stiffness, damping, .. } => {
                for SpringRow { elongation, row } in spring_rows(model, force, t, q) {
                    if row.is_empty() {
                        continue;
                    }
                    let (drift, row) = (row.drift, row.into_row());
                    let speed = row.dot(starts, v) + drift;
                    let force = -stiffness * elongation - damping * speed;
                    row.add_transposed(starts, force, &mut out.k);
                    let (stiffness, damping) = (*stiffness, *damping);
                    out.springs.push(Spring { row, stiffness, damping, force, drift });
                }
            }
            Force::Custom { law, .. } => law(t, q, v, &mut out.applied),
        }
    }
    out.k.iter_mut().zip(&out.applied).for_each(|(k, applied)| *k += applied);
}

/// Body of a force at an instant.
fn placed<'a, D: Formulas>(
    model: &'a ModelIn<D>,
    (t, q): (f64, &[f64]),
    id: BodyId,
) -> Option<(&'a BodyLayout<D>, Placement<D>)> {
    let body = &model.layout.bodies[model.layout.body(id)?];
    Some((body, body.place(t, q)))
}

fn add_wrench<D: Formulas>(
    model: &ModelIn<D>,
    at: (f64, &[f64]),
    (body, point): (BodyId, Option<D::Point>),
    wrench: &Wrench<D>,
    k: &mut [f64],
) {
    let Some((body, placement)) = placed(model, at, body) else { return };
    let at = point.map_or(placement.centre, |p| D::place_of(body, &placement, &p));
    D::add_wrench(&placement, &at, wrench, &mut k[body.velocities()]);
}

/// Rows along which a spring acts; none for other forces.
fn spring_rows<D: Formulas>(
    model: &ModelIn<D>,
    force: &Force<D>,
    t: f64,
    q: &[f64],
) -> ArrayVec<SpringRow, 3> {
    let mut rows = ArrayVec::new();
    match force {
        Force::Spring { a, point_a, b, point_b, rest_length, .. } => {
            let ends = (placed(model, (t, q), *a), placed(model, (t, q), *b));
            let (Some((a, on_a)), Some((b, on_b))) = ends else { return rows };
            let (at_a, at_b) = (D::place_of(a, &on_a, point_a), D::place_of(b, &on_b, point_b));
            let d = at_b - at_a;
            let mut add = |along: &D::Vector, elongation: f64| {
                let row = D::relative_speed((&on_a, &at_a), (&on_b, &at_b), along);
                rows.push(SpringRow { elongation, row });
            };
            if *rest_length == 0.0 {
                // ½γ|d|² has no corner at 0: one spring per axis is exact at any length
                D::axes().zip(d.components()).for_each(|(axis, d)| add(&axis, *d));
            } else if let Some(along) = D::spring_direction(&d) {
                add(&along, d.norm() - rest_length);
            }
        }
        Force::Rail { body, point, axis, origin, .. } => {
            if let Some((body, placement)) = placed(model, (t, q), *body) {
                let (axis, at) = (D::unit_axis(axis), D::place_of(body, &placement, point));
                let row = D::speed_of(&placement, &at, &axis);
                rows.push(SpringRow { elongation: axis.dot(&at.coordinates()) - origin, row });
            }
        }
        Force::Constant { .. } | Force::Timed { .. } | Force::Commanded { .. } | Force::Custom { .. } => {}
    }
    rows
}

/// Potential energy of gravity and springs [J].
pub(super) fn potential<D: Formulas>(model: &ModelIn<D>, t: f64, q: &[f64]) -> f64 {
    let height = |body: &BodyLayout<D>| model.world.gravity.dot(&body.place(t, q).centre.coordinates());
    let springs = actuators::potential(model, t, q);
    let mut energy = springs + model.moving().map(|body| -body.mass * height(body)).sum::<f64>();
    for force in model.world.forces.values() {
        if let Force::Spring { stiffness, .. } | Force::Rail { stiffness, .. } = force {
            let rows = spring_rows(model, force, t, q);
            energy += rows.iter().map(|s| 0.5 * stiffness * s.elongation * s.elongation).sum::<f64>();
        }
    }
    energy
}

/// `Exact` unless a force of the state comes without its Jacobian.
pub(super) fn jacobian_kind<D: Formulas>(model: &ModelIn<D>) -> JacobianKind {
    let bare = |force: &Force<D>| matches!(force, Force::Custom { jacobian: None, .. });
    let differences = model.world.forces.values().any(bare) || actuators::needs_differences(model);
    if differences { JacobianKind::FiniteDifferences } else { JacobianKind::Exact }
}

/// Jacobian of all forces at (t, q, v): by formula, and by differences for laws that come without one.
pub(super) fn jacobian<D: Formulas>(
    model: &ModelIn<D>,
    t: f64,
    q: &[f64],
    v: &[f64],
    out: &mut ForceJacobian,
) {
    out.clear(model.layout.moving.len());
    for body in model.moving() {
        if let Freedom::Rigid(number) = body.freedom {
            D::add_gyroscopic_jacobian(body, &v[body.velocities()], &mut out.velocity.bodies[number]);
        }
    }
    for (id, force) in &model.world.forces {
        add_jacobian(model, (*id, force), (t, q, v), out);
    }
    actuators::add_jacobian(model, (t, q, v), out);
    if model.world.forces.values().any(|force| matches!(force, Force::Custom { jacobian: None, .. })) {
        let total = |q: &[f64], v: &[f64], k: &mut Vec<f64>| {
            k.clear();
            k.resize(v.len(), 0.0);
            for force in model.world.forces.values() {
                if let Force::Custom { law, jacobian: None } = force {
                    law(t, q, v, k);
                }
            }
        };
        differences::add(model, t, q, v, total, out);
    }
}

fn add_jacobian<D: Formulas>(
    model: &ModelIn<D>,
    (id, force): (ForceId, &Force<D>),
    (t, q, v): (f64, &[f64], &[f64]),
    out: &mut ForceJacobian,
) {
    let grip = |body: BodyId, point: Option<D::Point>| {
        let (body, placement) = placed(model, (t, q), body)?;
        let at = point.map_or(placement.centre, |p| D::place_of(body, &placement, &p));
        Some((D::grip(&placement, &at, &v[body.velocities()]), at))
    };
    let push = |body: BodyId, point: Option<D::Point>, wrench: &Wrench<D>, out: &mut ForceJacobian| {
        if let Some((grip, _)) = grip(body, point) {
            grip.add_constant_force(&in_space::<D>(&wrench.force), &D::turning_torque(&wrench.torque), out);
        }
    };
    match force {
        Force::Constant { body, point, wrench } => push(*body, *point, wrench, out),
        Force::Timed { body, point, load } => push(*body, *point, &load(t), out),
        Force::Commanded { body, point, wrench, .. } => {
            push(*body, *point, &wrench.scaled(model.commanded(id, q)), out);
        }
        Force::Spring { a, point_a, b, point_b, stiffness, damping, rest_length } => {
            let ends = (grip(*a, Some(*point_a)), grip(*b, Some(*point_b)));
            let (Some((a, from)), Some((b, to))) = ends else { return };
            let (d, u) = (to - from, b.velocity - a.velocity);
            let pull = if *rest_length == 0.0 {
                PointForce::isotropic(*stiffness, *damping, &in_space::<D>(&d), &u)
            } else {
                // along the same direction as the force; no force where there is none
                let Some(along) = D::spring_direction(&d) else { return };
                let length = d.norm();
                let known = known_length(length, *rest_length);
                let constants = (*stiffness, *damping);
                PointForce::along(&in_space::<D>(&along), known, length - rest_length, constants, &u)
            };
            pull.add([&a, &b], out);
        }
        Force::Rail { body, point, axis, origin, stiffness, damping } => {
            let Some((b, at)) = grip(*body, Some(*point)) else { return };
            let axis = D::unit_axis(axis);
            let elongation = axis.dot(&at.coordinates()) - origin;
            let (axis, constants) = (in_space::<D>(&axis), (*stiffness, *damping));
            let pull = PointForce::along(&axis, f64::INFINITY, elongation, constants, &b.velocity);
            pull.add([&ForcePoint::prescribed(Vector3::zeros()), &b], out);
        }
        Force::Custom { jacobian: Some(jacobian), .. } => jacobian(t, q, v, out),
        Force::Custom { jacobian: None, .. } => {}
    }
}

/// Vector of the plane in space.
fn in_space<D: Formulas>(v: &D::Vector) -> Vector3<f64> {
    Vector3::from(D::xyz(v))
}
