//! Forces of the state in space.

use super::wrench;
use crate::expression::Formula;
use nalgebra::{Point3, Quaternion, UnitQuaternion, Vector3};
use stiction::spatial::{BodyId, Force, Model, Motion};

/// A force on a body as formulas of its state.
#[derive(Debug, Clone)]
pub(super) struct StateForce {
    pub(super) body: BodyId,
    /// Where it acts, in the body frame [m]; `None` is the centre of mass.
    pub(super) point: Option<Point3<f64>>,
    /// Force and torque along x, y and z.
    pub(super) parts: [Formula; 6],
    /// How the copy that it acts on is turned.
    pub(super) turn: UnitQuaternion<f64>,
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
        let arm = point.map_or_else(Vector3::zeros, |point| point - pose.inverse_transform_point(&centre));
        // where a slider starts along its axis
        let q_0 = start.q.get(q_at.start).copied().unwrap_or(0.0);
        let law = move |t: f64, q: &[f64], v: &[f64], k: &mut [f64]| {
            let (q, v, k) = (&q[q_at.clone()], &v[v_at.clone()], &mut k[v_at.clone()]);
            let state = |at: &[f64], speed: &[f64], spin: &Vector3<f64>| {
                [t, at[0], at[1], at[2], speed[0], speed[1], speed[2], spin.x, spin.y, spin.z]
            };
            match motion {
                Motion::Rigid => {
                    let turned = UnitQuaternion::new_unchecked(Quaternion::new(q[3], q[4], q[5], q[6]));
                    let spin = turned * Vector3::new(v[3], v[4], v[5]);
                    let wrench = wrench(&parts, &state(q, v, &spin), &turn);
                    // torques are measured along the axes of the body, as its angular velocities are
                    let torque = turned.inverse() * (wrench.torque + (turned * arm).cross(&wrench.force));
                    k.iter_mut().zip(wrench.force.iter().chain(&torque)).for_each(|(k, x)| *k += x);
                }
                Motion::Point => {
                    let wrench = wrench(&parts, &state(q, v, &Vector3::zeros()), &turn);
                    k.iter_mut().zip(&wrench.force).for_each(|(k, x)| *k += x);
                }
                Motion::Slider(axis) => {
                    let axis = axis.normalize();
                    let at = centre + axis * (q[0] - q_0);
                    let speed = axis * v[0];
                    let all = state(at.coords.as_slice(), speed.as_slice(), &Vector3::zeros());
                    k[0] += axis.dot(&wrench(&parts, &all, &turn).force);
                }
                Motion::Fixed | Motion::Kinematic(_) => {}
            }
        };
        Some(Force::custom(law))
    }
}
