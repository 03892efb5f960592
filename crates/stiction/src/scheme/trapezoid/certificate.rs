//! Certificate of an answer in given friction modes, from the step problem and the impulses alone.

use super::context::mobility;
use stiction_lcp::problem::Layout;
use stiction_lcp::{Candidate, Certificate, ContactMode, Mode, OffsetRow, StepProblem};

/// Certificate of an answer in given modes. Momentum and joints are as certified for complementarity problems. Rows that
/// hold in these modes must have no speed, slipping contacts the friction of their mode, open ones no impulse. Whether
/// the modes are right is decided by the event functions.
pub(super) fn in_modes(
    problem: &StepProblem,
    layout: &Layout,
    modes: &[ContactMode],
    candidate: &Candidate,
) -> Certificate {
    let Candidate { z, velocity, certificate, .. } = candidate;
    let Certificate { speed, momentum, joints, .. } = *certificate;
    let (mut natural_map, mut cone) = (0.0, 0.0);
    let mut check_speed = |row: &OffsetRow| {
        let residual = row.row.dot(&layout.velocity, velocity) + row.offset;
        natural_map = larger(natural_map, residual.abs() / speed);
    };
    // an impulse that should vanish is measured by the speed it causes
    let mut check_impulse = |row: &OffsetRow, impulse: f64| {
        cone = larger(cone, mobility(problem, layout, &row.row) * impulse.abs() / speed);
    };
    for (i, contact) in problem.contacts.iter().enumerate() {
        let own = &z[layout.contact[i]..layout.contact[i + 1]];
        let (normal, friction) = own.split_at(usize::from(contact.normal.is_some()));
        let normal = normal.first().copied().unwrap_or(0.0);
        let across = contact.tangents.iter().zip(contact.tangent_impulse(friction));
        let mode = modes.get(i).copied().unwrap_or(ContactMode::OPEN);
        match mode.mode {
            Mode::Open => {
                contact.normal.iter().for_each(|row| check_impulse(row, normal));
                across.for_each(|(row, p)| check_impulse(row, p));
            }
            Mode::Stick => contact.normal.iter().chain(&contact.tangents).for_each(&mut check_speed),
            Mode::Slip => {
                contact.normal.iter().for_each(&mut check_speed);
                let bound = contact.mu * normal + contact.kappa;
                across
                    .zip(mode.direction)
                    .for_each(|((row, p), along)| check_impulse(row, p - bound * along));
            }
        }
    }
    Certificate { speed, momentum, joints, natural_map, cone, ..Certificate::default() }
}

/// Worse of two certificates; the second on a tie.
pub(super) fn worse(a: Certificate, b: Certificate) -> Certificate {
    if b.worst() >= a.worst() { b } else { a }
}

/// Larger of two residuals; NaN counts as infinite.
fn larger(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Matrix6, Vector6};
    use stiction_lcp::{Body, Contact, FrictionSet, Row, Term, certify};

    /// Point of 2 kg in the plane that hits a floor with friction 0.5 and slides: momentum (3, −4) N s.
    fn sliding() -> (StepProblem, Layout) {
        let row = |j: [f64; 2]| {
            let j = [j[0], j[1], 0.0, 0.0, 0.0, 0.0];
            OffsetRow { row: Row::Bodies([Term { body: 0, j }].into_iter().collect()), offset: 0.0 }
        };
        let momentum = Vector6::new(3.0, -4.0, 0.0, 0.0, 0.0, 0.0);
        let mass = Matrix6::from_fn(|i, j| if i == j && i < 2 { 2.0 } else { 0.0 });
        let body = Body { velocities: 2, mass, momentum };
        let contact = Contact {
            normal: Some(row([0.0, 1.0])),
            tangents: [row([1.0, 0.0])].into_iter().collect(),
            set: FrictionSet::line(),
            mu: 0.5,
            kappa: 0.0,
            bound_by: None,
        };
        let problem = StepProblem { bodies: vec![body], contacts: vec![contact], ..StepProblem::default() };
        let mut layout = Layout::default();
        problem.lay_out(&mut layout);
        (problem, layout)
    }

    fn certificate(mode: ContactMode, z: &[f64]) -> Certificate {
        let (problem, layout) = sliding();
        in_modes(&problem, &layout, &[mode], &certify(&problem, z).unwrap())
    }

    #[test]
    fn correct_answers_pass_in_their_modes() {
        // friction takes 2 of the 3 N s; sticking takes all, beyond the cone, which the event functions see
        assert!(certificate(ContactMode::slip([-1.0, 0.0]), &[4.0, 0.0, 2.0]).passes(1e-15));
        assert!(certificate(ContactMode::STICK, &[4.0, 0.0, 3.0]).passes(1e-15));
        assert!(certificate(ContactMode::OPEN, &[0.0; 3]).passes(1e-15));
    }

    #[test]
    fn wrong_answers_do_not_pass() {
        let slip = ContactMode::slip([-1.0, 0.0]);
        // V₀ is the 2 m/s at which the floor is met; errors of 1e-6 N s are 5e-7 m/s
        for (mode, z) in [
            (slip, [4.0 + 1e-6, 0.0, 2.0 + 5e-7]),
            (slip, [4.0, 0.0, 2.0 + 1e-6]),
            (slip, [4.0, 0.0, 0.0]),
            (ContactMode::STICK, [4.0, 0.0, 3.0 + 1e-6]),
            (ContactMode::STICK, [4.0, 0.0, 2.0]),
            (ContactMode::OPEN, [1e-6, 0.0, 0.0]),
            (ContactMode::OPEN, [0.0, 0.0, f64::NAN]),
        ] {
            let worst = certificate(mode, &z).worst();
            assert!(worst > 2e-7, "{mode:?} {z:?}: {worst}");
        }
    }
}
