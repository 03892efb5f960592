//! Energy ledger of a step: the work of every kind of impulse, by its mean speed over the step.
//!
//! T⁺ − T = Σ p_j J_j (v + v⁺)/2 holds for any step of a constant mass matrix, so what is left over is the error of the
//! scheme: of the potential energy along the step, and of joints that do not hold at the mean velocity.

use super::{StepInput, StepProblemBuilder};
use crate::report::EnergyLedger;
use crate::system::{ActuatorTarget, RowKind, Spring, System};
use stiction_lcp::Row;

/// Energies of a step [J].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StepEnergies {
    /// Kinetic energy at the start and at the end.
    pub(crate) kinetic: [f64; 2],
    /// Potential energy at the start, at the end before post-stabilization, and after it.
    pub(crate) potential: [f64; 3],
}

/// Prescribed speeds of the rows of a contact: normal, tangents, spin and rolling.
pub(super) type PrescribedSpeeds = [f64; 6];

impl EnergyLedger {
    /// Adds what follows from the energies of the step.
    pub(crate) fn close(&mut self, energies: &StepEnergies) {
        let StepEnergies { kinetic, potential } = energies;
        self.gravity = potential[0] - potential[1];
        self.projection = potential[2] - potential[1];
        self.change = kinetic[1] - kinetic[0] + potential[2] - potential[0];
        let Self { forces, motors, friction, impacts, projection, .. } = *self;
        self.scheme = self.change - (forces + motors + friction + impacts + projection);
    }
}

impl StepProblemBuilder {
    /// Work in a solved step, from the impulses `z` of the assembled problem and the velocity `end` of its rows.
    pub(crate) fn ledger<S: System + ?Sized>(
        &self,
        input: &StepInput<S>,
        z: &[f64],
        end: &[f64],
    ) -> EnergyLedger {
        let ends = [&input.state.v, end];
        let mut ledger = EnergyLedger::default();
        self.add_joint_work(z, ends, &mut ledger);
        self.add_contact_work(z, ends, &mut ledger);
        self.add_force_work(input.h, ends, &mut ledger);
        ledger
    }

    /// Mean speed of a row in a step, from the velocities at both ends.
    fn mean_speed(&self, row: &Row, ends: [&[f64]; 2]) -> f64 {
        0.5 * ends.map(|v| row.dot(&self.layout.velocity, v)).into_iter().sum::<f64>()
    }

    fn add_joint_work(&self, z: &[f64], ends: [&[f64]; 2], ledger: &mut EnergyLedger) {
        let assembled = self.assembled();
        for (k, (joint, location)) in self.joints.iter().zip(&self.rows.joints).enumerate() {
            let impulse = assembled.joint_impulse(*location, z);
            if impulse == 0.0 {
                continue;
            }
            let speed = self.mean_speed(&joint.row, ends);
            let drift = self.timed.joint_drift(k).unwrap_or(joint.drift);
            match joint.kind {
                RowKind::Rigid(compliance) if compliance > 0.0 => ledger.forces += impulse * speed,
                RowKind::Rigid(_) => ledger.motors -= impulse * drift,
                RowKind::Limit => {
                    ledger.impacts += impulse * (speed + drift);
                    ledger.motors -= impulse * drift;
                }
                RowKind::Drive { speed: 0.0, .. } => ledger.friction += impulse * speed,
                RowKind::Drive { .. } => ledger.motors += impulse * speed,
            }
        }
    }

    fn add_contact_work(&self, z: &[f64], ends: [&[f64]; 2], ledger: &mut EnergyLedger) {
        let assembled = self.assembled();
        for (k, contact) in self.contacts.iter().enumerate() {
            let impulse = assembled.contact_impulse(k, z);
            if impulse.normal == 0.0 {
                continue;
            }
            let own = prescribed_speeds(contact);
            let prescribed = self.timed.prescribed(contact.id).unwrap_or(own);
            let speed = self.mean_speed(&contact.normal, ends) + prescribed[0];
            ledger.impacts += impulse.normal * speed;
            let tangents = contact.tangents.iter().zip(impulse.friction);
            let spin = contact.moments.spin.as_deref().map(|row| (row, impulse.spin));
            let rolls = contact.moments.rolls.iter().zip(impulse.rolling.into_iter().flatten());
            let mut outside = impulse.normal * prescribed[0];
            for ((row, p), moves) in tangents.chain(spin).chain(rolls).zip(&prescribed[1..]) {
                ledger.friction += p * (self.mean_speed(&row.row, ends) + moves);
                outside += p * moves;
            }
            ledger.motors -= outside;
        }
    }

    fn add_force_work(&self, h: f64, ends: [&[f64]; 2], ledger: &mut EnergyLedger) {
        let power = |v: &[f64]| self.forces.applied.iter().zip(v).map(|(k, v)| k * v).sum::<f64>();
        ledger.forces += 0.5 * h * ends.map(power).into_iter().sum::<f64>();
        for Spring { row, damping, drift, .. } in &self.forces.springs {
            let speed = self.mean_speed(row, ends);
            ledger.forces -= h * damping * (speed + drift) * speed;
        }
        for (actuator, (law, side)) in self.forces.actuators.iter().zip(self.actuators.iter()) {
            let speed = self.mean_speed(&law.row, ends);
            if actuator.target == ActuatorTarget::Rest {
                // the elastic part is potential energy
                ledger.forces -= h * actuator.damping * (speed - actuator.speed) * speed;
            } else {
                let end = law.row.dot(&self.layout.velocity, ends[1]);
                let force = if side == 0.0 { law.unlimited(end) } else { side * law.limit };
                ledger.motors += h * force * speed;
            }
        }
    }
}

/// Prescribed speeds of the rows of a contact, as the model gives them.
pub(super) fn prescribed_speeds(contact: &crate::system::ContactRow) -> PrescribedSpeeds {
    let rows = contact.tangents.iter().chain(contact.moments.spin.as_deref()).chain(&contact.moments.rolls);
    let mut speeds = [contact.drift, 0.0, 0.0, 0.0, 0.0, 0.0];
    speeds[1..].iter_mut().zip(rows).for_each(|(speed, row)| *speed = row.offset);
    speeds
}
