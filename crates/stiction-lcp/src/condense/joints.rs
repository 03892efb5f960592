//! Joint rows of a step problem, as the joint factorization of `crate::factor` reads them.

pub(super) use crate::factor::{JointFactor as Joints, JointImpulses as Impulses};
use crate::problem::{Prepared, StepProblem};

impl Joints {
    /// Factors the joint rows of `problem`.
    pub(super) fn factor(&mut self, problem: &StepProblem, prepared: &Prepared) {
        let Prepared { layout, mass } = prepared;
        let start = &layout.velocity;
        let row = |k: usize| &problem.joints[k].row.row;
        self.factor_rows(
            problem.joints.len(),
            layout.velocities(),
            mass,
            |k| problem.joints[k].compliance,
            |k, column| mass.half_respond(row(k), start, column),
            |k, scale, out| row(k).add_transposed(start, scale, out),
        );
    }

    /// [`Joints::solve`] with the mass matrix of a prepared problem.
    pub(super) fn respond(
        &self,
        prepared: &Prepared,
        momentum: &mut [f64],
        offset: impl Fn(usize) -> f64,
        impulses: &mut Impulses,
    ) {
        self.solve(&prepared.mass, momentum, offset, impulses);
    }
}
