//! Contact and joint reports, from the impulses and the velocity of a solved step problem.

use super::{AssembledProblem, RowLocation};
use crate::report::{ContactReport, JointReport, Mode, MomentReport};
use crate::system::{ContactRow, JointRow, Moments};
use arrayvec::ArrayVec;
use stiction_lcp::OffsetRow;
use stiction_lcp::threads;

/// Solution of a step problem, as reports read it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowSolution<'a> {
    /// Impulses [N s].
    pub(crate) z: &'a [f64],
    /// Velocity at the end of the step.
    pub(crate) v: &'a [f64],
    /// Slip speed up to which a closed contact sticks [m/s].
    pub(crate) stick_speed: f64,
    /// Determined impulses of the contacts and joint rows of the problem, if they were examined.
    pub(crate) determined: Option<(&'a [bool], &'a [bool])>,
}

/// Impulses of a contact along its rows [N s].
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContactImpulse {
    pub(crate) normal: f64,
    /// Along both tangents.
    pub(crate) friction: [f64; 2],
    /// Of the spin row; 0 without one.
    pub(crate) spin: f64,
    /// Of the rolling rows.
    pub(crate) rolling: Option<[f64; 3]>,
}

impl RowSolution<'_> {
    /// Friction mode of a block with this normal impulse and these slip speeds.
    fn mode(&self, normal_impulse: f64, [x, y, z]: [f64; 3]) -> Mode {
        if normal_impulse <= 0.0 {
            Mode::Open
        } else if x.hypot(y).max(z.abs()) > self.stick_speed {
            Mode::Slip
        } else {
            Mode::Stick
        }
    }
}

impl AssembledProblem<'_> {
    /// Replaces `out` by the reports of the contacts of the model.
    pub(crate) fn contact_reports(
        &self,
        contacts: &[ContactRow],
        solution: &RowSolution,
        out: &mut Vec<ContactReport>,
    ) {
        out.clear();
        threads::extend(out, contacts, |k: usize, row: &ContactRow| self.contact_report(k, row, solution));
    }

    /// Report of contact `k` of the model.
    fn contact_report(&self, k: usize, row: &ContactRow, solution: &RowSolution) -> ContactReport {
        let impulse = self.contact_impulse(k, solution.z);
        let Moments { spin, rolls, .. } = &row.moments;
        let slip = self.speeds(row.tangents.iter().chain(spin.as_deref()), solution.v);
        let moment = (!row.moments.is_none()).then(|| {
            let rolling = impulse.rolling.map(|p| (p, self.speeds(rolls.iter(), solution.v)));
            let mode = rolling.map(|(_, speeds)| solution.mode(impulse.normal, speeds));
            moment_report(row, (impulse.spin, slip[2]), rolling, mode)
        });
        ContactReport {
            id: row.id,
            bodies: row.bodies,
            point: row.point,
            normal: row.direction,
            gap: row.gap,
            mu: row.mu,
            normal_impulse: impulse.normal,
            friction_impulse: row.along_tangents(impulse.friction),
            slip: row.along_tangents([slip[0], slip[1]]),
            mode: solution.mode(impulse.normal, slip),
            moment,
            determined: solution.determined.map(|(contacts, _)| {
                let own = self.rows.first_contact + k;
                [Some(own), self.rows.rolling(k)].into_iter().flatten().all(|block| contacts[block])
            }),
        }
    }

    /// Impulses of contact `k` of the model.
    pub(crate) fn contact_impulse(&self, k: usize, z: &[f64]) -> ContactImpulse {
        let i = self.rows.first_contact + k;
        let own = &z[self.unknowns(i)];
        let [x, y, spin] = self.problem.contacts[i].tangent_impulse(&own[1..]);
        let rolling = |block: usize| self.problem.contacts[block].tangent_impulse(&z[self.unknowns(block)]);
        ContactImpulse { normal: own[0], friction: [x, y], spin, rolling: self.rows.rolling(k).map(rolling) }
    }

    /// Impulse of a joint row.
    pub(crate) fn joint_impulse(&self, location: RowLocation, z: &[f64]) -> f64 {
        match location {
            RowLocation::Joint(i) => z[i],
            RowLocation::Contact(i) => {
                let own = &z[self.unknowns(i)];
                match self.problem.contacts[i].normal {
                    Some(_) => own[0],
                    None => self.problem.contacts[i].tangent_impulse(own)[0],
                }
            }
        }
    }

    /// Speeds of up to three rows [m/s].
    fn speeds<'r>(&self, rows: impl Iterator<Item = &'r OffsetRow>, v: &[f64]) -> [f64; 3] {
        let mut speeds = [0.0; 3];
        for (u, row) in speeds.iter_mut().zip(rows) {
            *u = row.row.dot(&self.layout.velocity, v) + row.offset;
        }
        speeds
    }

    /// Replaces `out` by the impulse of each joint row.
    pub(crate) fn joint_reports(
        &self,
        joints: &[JointRow],
        solution: &RowSolution,
        out: &mut Vec<JointReport>,
    ) {
        let determined = |location: RowLocation| {
            solution.determined.map(|(contacts, joints)| match location {
                RowLocation::Joint(i) => joints[i],
                RowLocation::Contact(i) => contacts[i],
            })
        };
        out.clear();
        let rows = joints.iter().zip(&self.rows.joints);
        out.extend(rows.map(|(row, at)| JointReport {
            joint: row.joint,
            impulse: self.joint_impulse(*at, solution.z),
            determined: determined(*at),
        }));
    }
}

/// Axes of the moment rows of a contact, spin first, with the length that each row is multiplied by [m].
pub(crate) fn turning_axes(row: &ContactRow) -> ArrayVec<([f64; 3], f64), 3> {
    let Moments { torsion, rolling, spin, rolls, .. } = &row.moments;
    let planar = row.tangents.len() < 2;
    let axes = if planar { [[0.0, 0.0, 1.0]; 2] } else { row.tangent_directions };
    let about = spin.iter().map(|_| (row.direction, *torsion));
    about.chain(axes.into_iter().take(rolls.len()).map(|axis| (axis, *rolling))).collect()
}

/// Report of the moment friction of a contact, from (impulse, speed) of its spin row and of its rolling rows.
fn moment_report(
    row: &ContactRow,
    spin: (f64, f64),
    rolling: Option<([f64; 3], [f64; 3])>,
    mode: Option<Mode>,
) -> MomentReport {
    let mut report = MomentReport { impulse: [0.0; 3], turn: [0.0; 3], rolling: mode };
    let rows = row.moments.spin.iter().map(|_| spin);
    let rolls = rolling.into_iter().flat_map(|(p, u)| p.into_iter().zip(u));
    for ((p, u), (axis, length)) in rows.chain(rolls).zip(turning_axes(row)) {
        for c in 0..3 {
            report.impulse[c] += length * p * axis[c];
            report.turn[c] += u / length * axis[c];
        }
    }
    report
}
