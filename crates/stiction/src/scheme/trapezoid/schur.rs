//! Rigid joints of a system, as the block factorization of `stiction_lcp` reads them: masses from the system, rows from
//! the joints that are rigid.

use crate::system::{JointRow, RowKind, System};
use stiction_lcp::Row;
use stiction_lcp::factor::{JointSchur, JointTerms};

/// Factored equations of the rigid joints of a system.
#[derive(Debug, Clone, Default)]
pub(super) struct RigidJoints {
    schur: JointSchur,
}

impl RigidJoints {
    /// Factors the equations at (t, q); `false` if a row is not rigid, or if rows are redundant.
    pub(super) fn factor<S: System + ?Sized>(
        &mut self,
        system: &S,
        at: (f64, &[f64]),
        joints: &[JointRow],
    ) -> bool {
        self.set_masses(system, at);
        self.schur.factor(joints.len(), |k| rigid_terms(&joints[k]))
    }

    /// Takes rows at a nearby configuration and keeps the last factors.
    pub(super) fn update<S: System + ?Sized>(
        &mut self,
        system: &S,
        at: (f64, &[f64]),
        joints: &[JointRow],
    ) -> bool {
        self.set_masses(system, at);
        self.schur.update(joints.len(), |k| rigid_terms(&joints[k]))
    }

    fn set_masses<S: System + ?Sized>(&mut self, system: &S, (t, q): (f64, &[f64])) {
        let bodies = system.bodies();
        self.schur.set_masses(bodies.iter().enumerate().map(|(i, &n)| (n, system.mass_at(i, t, q))));
    }

    /// Corrects a velocity: v ← v − M⁻¹Nᵀ S⁻¹ (N v + rest).
    pub(super) fn correct(&mut self, rest: impl Fn(usize) -> f64, v: &mut [f64]) {
        self.schur.correct(rest, v);
    }

    /// `out` = M⁻¹ k.
    pub(super) fn respond(&self, k: &[f64], out: &mut Vec<f64>) {
        self.schur.respond(k, out);
    }

    /// Impulses of the last correction: v changed by M⁻¹Nᵀ times these.
    pub(super) fn impulses(&self) -> &[f64] {
        self.schur.impulses()
    }
}

/// Terms of a rigid row; `None` for a limit, a drive, a compliant row or a row of more than two bodies.
fn rigid_terms(joint: &JointRow) -> Option<JointTerms<'_>> {
    match (joint.kind, &joint.row) {
        (RowKind::Rigid(compliance), Row::Bodies(terms)) if !(compliance > 0.0) => {
            Some(terms.iter().map(|term| (term.body, &term.j)).collect())
        }
        _ => None,
    }
}
