//! Certificates of problems in local form: speeds from W and q, then every contact.

use super::step::{ContactRows, Mobility, judge_contact};
use super::{Candidate, JudgeBuffers};
use crate::problem::{Contact, FrictionLaw, LocalProblem};

/// Problem in local form with the data that its certificates share.
pub(crate) struct LocalJudge<'a> {
    problem: &'a LocalProblem,
    contacts: Vec<Contact>,
    pub(super) buffers: JudgeBuffers,
    pub(super) speed: f64,
}

impl<'a> LocalJudge<'a> {
    pub(super) fn new(problem: &'a LocalProblem, buffers: JudgeBuffers) -> Self {
        // greatest violation speed of closing contacts without impulses
        let scale = |own: &[f64]| {
            let slip = own[1..].iter().fold(0.0, |slip: f64, u| slip.hypot(*u));
            if own[0] < 0.0 { slip.max(-own[0]) } else { 0.0 }
        };
        let speed = problem.q.as_slice().chunks(problem.dim).map(scale).fold(f64::MIN_POSITIVE, f64::max);
        Self { problem, contacts: problem.contacts(&problem.q), buffers, speed }
    }

    pub(super) fn certify(&self, z: &[f64], out: &mut Candidate) {
        let LocalProblem { dim, w, .. } = self.problem;
        out.begin(z, self.problem.size(), self.speed);
        let r = self.problem.impulses(&out.z);
        let u = self.problem.speeds(&r);
        let Candidate { z, w: complements, velocity, certificate: residual } = out;
        velocity.extend_from_slice(u.as_slice());
        let size = self.problem.unknowns();
        for (i, contact) in self.contacts.iter().enumerate() {
            let (first, own) = (i * dim, &z[i * size..(i + 1) * size]);
            let mut slip = [0.0; 3];
            slip[..dim - 1].copy_from_slice(&u.as_slice()[first + 1..first + dim]);
            let mobility = Mobility::of_block(|a, b| w[(first + a, first + b)], *dim);
            let rows = ContactRows {
                normal: own[0],
                bound: contact.mu * own[0],
                friction: &own[1..],
                opening: Some(u[first]),
                slip,
                further_slip: 0.0,
            };
            let complements = &mut complements[i * size..(i + 1) * size];
            let law = FrictionLaw::Coulomb;
            let (own, complementarity) =
                judge_contact(contact, &mobility, (self.speed, law), &rows, complements);
            residual.take(own, complementarity);
        }
    }
}
