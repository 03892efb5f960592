//! Forces of the state in the plane.

use super::wrench;
use crate::expression::Formula;
use nalgebra::{Point2, UnitComplex, Vector2};
use stiction::planar::{BodyId, Force, Model, Motion};

/// A force on a body as formulas of its state.
#[derive(Debug, Clone)]
pub(super) struct StateForce {
    pub(super) body: BodyId,
    /// Where it acts, in the body frame [m]; `None` is the centre of mass.
    pub(super) point: Option<Point2<f64>>,
    /// Force along x and y, and the torque.
    pub(super) parts: [Formula; 3],
    /// How the copy that it acts on is turned.
    pub(super) turn: UnitComplex<f64>,
}

impl StateForce {
    /// The same as a force of all coordinates; `None` for a body that does not move by itself.
    pub(super) fn law(self, model: &Model) -> Option<Force> {
        let Self { body, point, parts, turn } = self;
        let start = model.state();
        let pose = model.pose(&start, body)?;
        let centre = model.centre(&start, body)?;
        let (q_at, v_at) = (model.coordinates(body)?, model.velocities(body)?);
        let motion = model.world().body(body)?.motion.clone();
        // from the centre of mass to where the force acts, in the body frame
        let arm = point.map_or_else(Vector2::zeros, |point| point - pose.inverse_transform_point(&centre));
        let angle_0 = pose.rotation.angle();
        // where a slider starts along its axis
        let q_0 = start.q.get(q_at.start).copied().unwrap_or(0.0);
        let law = move |t: f64, q: &[f64], v: &[f64], k: &mut [f64]| {
            let (q, v, k) = (&q[q_at.clone()], &v[v_at.clone()], &mut k[v_at.clone()]);
            match motion {
                Motion::Rigid => {
                    let wrench = wrench(&parts, &[t, q[0], q[1], v[0], v[1], q[2], v[2]], &turn);
                    let lever = UnitComplex::new(q[2]) * arm;
                    k[0] += wrench.force.x;
                    k[1] += wrench.force.y;
                    k[2] += wrench.torque + lever.perp(&wrench.force);
                }
                Motion::Point => {
                    let wrench = wrench(&parts, &[t, q[0], q[1], v[0], v[1], angle_0, 0.0], &turn);
                    k[0] += wrench.force.x;
                    k[1] += wrench.force.y;
                }
                Motion::Slider(axis) => {
                    let at = centre + axis * (q[0] - q_0);
                    let speed = axis * v[0];
                    let wrench = wrench(&parts, &[t, at.x, at.y, speed.x, speed.y, angle_0, 0.0], &turn);
                    k[0] += axis.dot(&wrench.force);
                }
                Motion::Fixed | Motion::Kinematic(_) => {}
            }
        };
        Some(Force::custom(law))
    }
}
