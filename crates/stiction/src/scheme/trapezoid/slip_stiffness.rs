//! Stiffness of slip directions: friction that turns with a slow slip pulls it back as fast as the slip is slow.
//!
//! ρ is the largest eigenvalue of M^-½ Σ (μNᵢ/|uᵢ|) tᵢᵀtᵢ M^-½, with tᵢ the row across the slip uᵢ. An explicit method is
//! stable for steps up to its interval of stability over ρ. Error estimates alone do not keep it so.

use super::acceleration::AccelerationProblem;
use super::constants::MIN_SLIP_SPEED;
use super::context::dot;
use crate::state::ActiveConstraint;
use stiction_lcp::problem::MassFactor;

impl AccelerationProblem {
    /// Stiffness ρ [1/s] of the slip directions at velocity `v` with the forces `z` of the last solve in modes. It is 0
    /// where no direction can turn, and infinite where a slip begins and has no direction yet.
    pub(super) fn slip_stiffness(&self, active: &[ActiveConstraint], v: &[f64], z: &[f64]) -> f64 {
        let starts = &self.layout.velocity;
        let contacts = active.iter().filter(|c| c.is_contact()).enumerate();
        let turning: Vec<usize> = contacts
            .filter(|&(k, c)| {
                let row = &self.rows.contacts[k];
                c.slip_direction().is_some() && row.tangents.len() == 2 && row.mu > 0.0
            })
            .map(|(k, _)| k)
            .collect();
        if turning.is_empty() {
            return 0.0;
        }
        let Ok(mass) = MassFactor::new(&self.problem) else { return 0.0 };
        // √(μN/|u|) t of each contact, and M⁻¹ of it
        let mut across: Vec<[Vec<f64>; 2]> = Vec::with_capacity(turning.len());
        for k in turning {
            let load = self.contact_load(k, v, z);
            let speed = dot(load.slip, load.slip).sqrt();
            if !(speed > MIN_SLIP_SPEED) {
                return f64::INFINITY;
            }
            let weight = (load.bound.max(0.0) / speed).sqrt() / speed;
            let [x, y] = self.rows.contacts[k].tangent_directions.map(|t| dot(t, load.slip));
            let mut row = vec![0.0; v.len()];
            for (tangent, along) in self.rows.contacts[k].tangents.iter().zip([-y, x]) {
                tangent.row.for_each(starts, |i, j| row[i] += weight * along * j);
            }
            let mut response = row.clone();
            mass.solve(&mut response);
            across.push([row, response]);
        }
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // a norm of the matrix is at least its largest eigenvalue
        let row_sum = |[row, _]: &[Vec<f64>; 2]| {
            across.iter().map(|[_, response]| product(row, response).abs()).sum::<f64>()
        };
        across.iter().map(row_sum).fold(0.0, f64::max)
    }
}
