//! Independent check of solutions: the mixed problem as dense matrices, row by row, with plain loops.
//!
//! Shares only the fields of the problem with the certificate. Velocities come from a dense factorization of M̃, and
//! every residual is written again from AH04 (2.10)–(2.11). Circular friction is checked by its definition (the bound,
//! full use of it while slipping, the direction), not by the projection of the certificate.

use nalgebra::{DMatrix, DVector, Dyn, LU};
use stiction_lcp::{Contact, Farkas, FrictionLaw, FrictionSet, OffsetRow, Row, StepProblem};

/// Dense LU factorization of M̃.
type DenseLu = LU<f64, Dyn, Dyn>;

/// Step problem as dense matrices.
pub(crate) struct DenseStep<'a> {
    step: &'a StepProblem,
    /// First velocity of each body.
    start: Vec<usize>,
    mass: DMatrix<f64>,
    momentum: DVector<f64>,
}

impl<'a> DenseStep<'a> {
    /// Dense matrices of a step problem.
    pub(crate) fn new(step: &'a StepProblem) -> Self {
        let mut start = Vec::new();
        let mut size = 0;
        for body in &step.bodies {
            start.push(size);
            size += body.velocities;
        }
        let mut mass = DMatrix::zeros(size, size);
        let mut momentum = DVector::zeros(size);
        for (body, &s) in step.bodies.iter().zip(&start) {
            for i in 0..body.velocities {
                momentum[s + i] = body.momentum[i];
                for j in 0..body.velocities {
                    mass[(s + i, s + j)] = body.mass[(i, j)];
                }
            }
        }
        for pair in &step.pairs {
            for i in 0..step.bodies[pair.a].velocities {
                for j in 0..step.bodies[pair.b].velocities {
                    mass[(start[pair.a] + i, start[pair.b] + j)] += pair.ab[(i, j)];
                    mass[(start[pair.b] + j, start[pair.a] + i)] += pair.ba[(j, i)];
                }
            }
        }
        Self { step, start, mass, momentum }
    }

    fn row(&self, row: &Row) -> DVector<f64> {
        let mut dense = DVector::zeros(self.momentum.len());
        match row {
            Row::Bodies(terms) => {
                for term in terms {
                    for i in 0..self.step.bodies[term.body].velocities {
                        dense[self.start[term.body] + i] += term.j[i];
                    }
                }
            }
            Row::Sparse(entries) => {
                for &(i, x) in entries {
                    dense[i] += x;
                }
            }
        }
        dense
    }

    /// Largest residual of any row, in units of [`DenseStep::scale`]. `None` where this check knows no law: the convex
    /// relaxation, a singular mass matrix, sizes that do not fit.
    pub(crate) fn residual(&self, z: &[f64]) -> Option<f64> {
        if self.step.law != FrictionLaw::Coulomb || z.len() != self.step.layout().impulses {
            return None;
        }
        let factor = self.mass.clone().lu();
        let v = factor.solve(&self.final_momentum(z))?;
        let scale = self.scale(&factor.solve(&self.momentum)?);
        let mut worst = 0.0;
        let mut judge = |residual: f64| {
            let relative = residual.abs() / scale;
            // a maximum would let pass what is not a number
            worst = if relative.is_nan() { f64::INFINITY } else { relative.max(worst) };
        };
        let mut at = 0;
        for joint in &self.step.joints {
            judge(self.speed(&joint.row, &v) + joint.compliance * z[at]);
            at += 1;
        }
        for contact in &self.step.contacts {
            self.contact_residuals(contact, z, at, &v, &factor)?.into_iter().for_each(&mut judge);
            at += usize::from(contact.normal.is_some()) + directions(contact).len();
        }
        Some(worst)
    }

    /// Speed of a row, offset included.
    fn speed(&self, row: &OffsetRow, v: &DVector<f64>) -> f64 {
        self.row(&row.row).dot(v) + row.offset
    }

    /// M̃v + Σ Jᵀz: momentum after the impulses.
    fn final_momentum(&self, z: &[f64]) -> DVector<f64> {
        let mut p = self.momentum.clone();
        let mut at = 0;
        for joint in &self.step.joints {
            p += self.row(&joint.row.row) * z[at];
            at += 1;
        }
        for contact in &self.step.contacts {
            if let Some(normal) = &contact.normal {
                p += self.row(&normal.row) * z[at];
                at += 1;
            }
            for f in directions(contact) {
                for (k, tangent) in contact.tangents.iter().enumerate() {
                    p += self.row(&tangent.row) * (f[k] * z[at]);
                }
                at += 1;
            }
        }
        p
    }

    /// Largest speed at which joints or closing contacts go wrong when no impulse acts, at least the problem's own
    /// scale.
    fn scale(&self, free: &DVector<f64>) -> f64 {
        let mut scale = self.step.speed_scale.max(f64::MIN_POSITIVE);
        for joint in &self.step.joints {
            scale = scale.max(self.speed(&joint.row, free).abs());
        }
        for contact in &self.step.contacts {
            let bound_by = contact.bound_by.map_or(contact, |i| &self.step.contacts[i]);
            let closing = bound_by.normal.as_ref().map(|n| -self.speed(n, free));
            if closing.is_none_or(|c| c > 0.0) {
                let slip = contact.tangents.iter().map(|t| self.speed(t, free).powi(2)).sum::<f64>().sqrt();
                scale = scale.max(closing.unwrap_or(0.0)).max(slip);
            }
        }
        scale
    }

    /// Residuals of a contact whose unknowns begin at `z[at]`, in units of speed. AH04 (2.10)–(2.11)
    fn contact_residuals(
        &self,
        contact: &Contact,
        z: &[f64],
        mut at: usize,
        v: &DVector<f64>,
        factor: &DenseLu,
    ) -> Option<Vec<f64>> {
        let mobility = |row: &DVector<f64>| factor.solve(row).map(|x| row.dot(&x));
        let first = contact.bound_by.map(|i| self.step.layout().contact[i]);
        let mut bound = contact.kappa + first.map_or(0.0, |first| contact.mu * z[first]);
        let mut residuals = Vec::new();
        let mut normal_mobility = 0.0;
        if let Some(normal) = &contact.normal {
            normal_mobility = mobility(&self.row(&normal.row))?;
            residuals.push(minimum(normal_mobility * z[at], self.speed(normal, v)));
            bound += contact.mu * z[at];
            at += 1;
        }
        let set = directions(contact);
        if set.is_empty() {
            return Some(residuals);
        }
        let tangents: Vec<DVector<f64>> = contact.tangents.iter().map(|t| self.row(&t.row)).collect();
        let slip: Vec<f64> = contact.tangents.iter().map(|t| self.speed(t, v)).collect();
        let mut mean = 0.0;
        for t in &tangents {
            mean += mobility(t)? / tangents.len() as f64;
        }
        let mean = if mean > 0.0 { mean } else { normal_mobility };
        if let FrictionSet::Ellipse(axes) = &contact.set {
            let own: Vec<f64> = set.iter().enumerate().map(|(k, _)| z[at + k] / axes[k]).collect();
            let slip: Vec<f64> = slip.iter().zip(axes).map(|(u, a)| u * a).collect();
            residuals.extend(circle(&own, &slip, bound, mean));
            return Some(residuals);
        }
        let along = |f: &[f64; 3]| slip.iter().zip(f).map(|(s, f)| s * f).sum::<f64>();
        let lambda = set.iter().map(|f| -along(f)).fold(0.0, f64::max);
        let mut zeta = bound;
        for (f, beta) in set.iter().zip(&z[at..]) {
            let mut direction = DVector::zeros(v.len());
            for (t, f) in tangents.iter().zip(f) {
                direction += t * *f;
            }
            residuals.push(minimum(mobility(&direction)? * beta, along(f) + lambda));
            zeta -= beta;
        }
        residuals.push(minimum(lambda, mean * zeta));
        Some(residuals)
    }

    /// Residual of a proof of infeasibility: the largest entry of Σ y J relative to the size of its terms. Infinite if a
    /// sign is wrong or the offsets do not contradict each other.
    pub(crate) fn proof_residual(&self, proof: &Farkas) -> f64 {
        let mut sum = DVector::zeros(self.momentum.len());
        let mut size: DVector<f64> = DVector::zeros(self.momentum.len());
        let mut need = 0.0;
        let mut sound = proof.y.len() == self.step.layout().impulses;
        let mut entries = proof.y.iter().copied();
        let mut add = |row: &OffsetRow, y: f64| {
            let term = self.row(&row.row) * y;
            size += term.abs();
            sum += term;
            need -= y * row.offset;
        };
        for joint in &self.step.joints {
            let y = entries.next().unwrap_or(0.0);
            sound &= joint.compliance == 0.0 || y == 0.0;
            add(&joint.row, y);
        }
        for contact in &self.step.contacts {
            let mut own = (0..contact.unknowns()).map(|_| entries.next().unwrap_or(0.0));
            if let Some(normal) = &contact.normal {
                let y = own.next().unwrap_or(0.0);
                sound &= y >= 0.0;
                add(normal, y);
            }
            sound &= own.all(|y| y == 0.0);
        }
        if sound && need > 0.0 { sum.amax() / size.amax().max(f64::MIN_POSITIVE) } else { f64::INFINITY }
    }
}

/// Directions of the friction unknowns of a contact: the generators of a polygon, the tangents of an ellipse.
fn directions(contact: &Contact) -> Vec<[f64; 3]> {
    match &contact.set {
        FrictionSet::Polygon(f) if !contact.tangents.is_empty() => f.to_vec(),
        _ => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]][..contact.tangents.len()].to_vec(),
    }
}

/// Residuals of friction `p` on a circle of radius `bound` at slip `u`, in units of speed: excess over the bound, slip
/// with unused friction, and friction that is not opposite to the slip.
fn circle(p: &[f64], u: &[f64], bound: f64, mobility: f64) -> [f64; 3] {
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let (size, speed) = (length(p), length(u));
    let excess = mobility * (size - bound).max(0.0);
    let unused = minimum(speed, mobility * (bound - size));
    // bound · u + ‖u‖ p = 0, as an error of the slip or of the impulse, whichever is smaller: without slip or without
    // impulse there is no direction
    let misaligned: Vec<f64> = p.iter().zip(u).map(|(p, u)| bound * u + speed * p).collect();
    let misaligned = length(&misaligned);
    let misaligned = if misaligned > 0.0 {
        minimum(misaligned / bound.max(0.0), mobility * misaligned / speed)
    } else {
        misaligned
    };
    [excess, unused, misaligned]
}

/// Minimum of two numbers; NaN if either is NaN.
fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_lcp::{LcpError, Solver, solve};
    use stiction_problems::ensemble::{ProblemKind, mixture};

    /// Asserts that a solution has at most the residual `accepted`, and that each contact impulse disturbed by the
    /// fraction `by` of the largest impulse gives more than `refused`. Impulses of redundant joints may be anything.
    fn assert_told_apart(name: &str, step: &StepProblem, z: &[f64], accepted: f64, by: f64, refused: f64) {
        let dense = DenseStep::new(step);
        let residual = dense.residual(z).unwrap();
        assert!(residual < accepted, "{name}: {residual:e}");
        let largest = z.iter().fold(0.0, |a: f64, z| a.max(z.abs()));
        for i in step.joints.len()..z.len() {
            let mut disturbed = z.to_vec();
            disturbed[i] += by * largest.max(1e-3);
            let residual = dense.residual(&disturbed).unwrap();
            assert!(residual > refused, "{name}, unknown {i}: {residual:e}");
        }
    }

    #[test]
    fn solutions_pass_and_disturbed_ones_do_not() {
        for seed in 0..200 {
            let (kind, step) = mixture(seed);
            let solution = solve(&step, &Solver::default(), None).unwrap();
            assert_told_apart(&format!("{} {seed}", kind.name()), &step, solution.z(), 1e-10, 1e-5, 1e-9);
        }
    }

    #[test]
    fn circles_are_checked_by_their_definition() {
        for seed in 0..200 {
            let (kind, step) = mixture(seed);
            let step = crate::soak::circular(&step);
            let Ok(solution) = solve(&step, &Solver::default(), None) else { continue };
            assert_told_apart(&format!("{} {seed}", kind.name()), &step, solution.z(), 1e-7, 1e-3, 1e-7);
        }
        // too much, too little, and aside, each at unit slip and bound
        let wrong = |p: [f64; 2]| circle(&p, &[1.0, 0.0], 1.0, 1.0);
        assert_eq!(wrong([-1.0, 0.0]), [0.0; 3]);
        assert!((wrong([-1.1, 0.0])[0] - 0.1).abs() < 1e-12);
        assert!((wrong([-0.9, 0.0])[1] - 0.1).abs() < 1e-12);
        assert!((wrong([-(0.99_f64.sqrt()), 0.1])[2] - 0.1).abs() < 1e-2);
    }

    #[test]
    fn unknown_laws_and_sizes_have_no_residual() {
        let (_, step) = mixture(6);
        assert_eq!(DenseStep::new(&step).residual(&[]), None);
        let relaxed = step.relaxed(&[]);
        assert_eq!(DenseStep::new(&relaxed).residual(&vec![0.0; step.layout().impulses]), None);
        let nothing = vec![f64::NAN; step.layout().impulses];
        assert_eq!(DenseStep::new(&step).residual(&nothing), Some(f64::INFINITY));
    }

    #[test]
    fn proofs_pass_and_changed_ones_do_not() {
        for seed in 0..50 {
            let step = ProblemKind::PenetratedJam.sample(seed);
            let Err(LcpError::Ray { proof: Some(proof), .. }) = solve(&step, &Solver::default(), None) else {
                panic!("seed {seed} is infeasible");
            };
            let dense = DenseStep::new(&step);
            assert!(dense.proof_residual(&proof) < 1e-9);
            let wrong = Farkas { y: proof.y.iter().map(|y| -y).collect(), ..proof.clone() };
            assert_eq!(dense.proof_residual(&wrong), f64::INFINITY);
            let mut changed = proof;
            let first = changed.y.iter().position(|y| *y > 0.0).unwrap();
            changed.y[first] *= 1.001;
            assert!(dense.proof_residual(&changed) > 1e-9);
        }
    }
}
