//! A second opinion on answers: the mixed problem written out densely, row by row, with plain loops.
//!
//! Shares nothing with the certificate but the problem's fields: velocities come from a dense factorization
//! of M̃, and every residual is written here once more from AH04 (2.10)–(2.11). Circular friction is judged by what it
//! says, a bound, its use where there is slip, and its direction, not by the projection the certificate takes.

use nalgebra::{DMatrix, DVector};
use stiction_lcp::{Farkas, FrictionLaw, FrictionSet, OffsetRow, Row, StepProblem};

/// A step problem as dense matrices.
pub(crate) struct Dense<'a> {
    step: &'a StepProblem,
    /// First velocity of each body.
    start: Vec<usize>,
    mass: DMatrix<f64>,
    momentum: DVector<f64>,
}

impl<'a> Dense<'a> {
    /// Writes the problem out.
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

    /// Largest residual of any row, in units of the largest speed at which joints or closing contacts go wrong
    /// when no impulse acts (at least the problem's own scale). `None` where this opinion knows no law:
    /// the convex relaxation, a mass matrix that is singular, sizes that do not fit.
    pub(crate) fn residual(&self, z: &[f64]) -> Option<f64> {
        if self.step.law != FrictionLaw::Coulomb || z.len() != self.step.layout().impulses {
            return None;
        }
        let factor = self.mass.clone().lu();
        let answer = |row: &DVector<f64>| factor.solve(row).map(|x| row.dot(&x));
        let speed_of = |row: &OffsetRow, v: &DVector<f64>| self.row(&row.row).dot(v) + row.offset;

        // the velocity that belongs to the impulses
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
        let v = factor.solve(&p)?;

        // the scale
        let free = factor.solve(&self.momentum)?;
        let mut scale = self.step.speed_scale.max(f64::MIN_POSITIVE);
        for joint in &self.step.joints {
            scale = scale.max(speed_of(&joint.row, &free).abs());
        }
        for contact in &self.step.contacts {
            let bound_by = contact.bound_by.map_or(contact, |i| &self.step.contacts[i]);
            let closing = bound_by.normal.as_ref().map(|n| -speed_of(n, &free));
            if closing.is_none_or(|c| c > 0.0) {
                let slip = contact.tangents.iter().map(|t| speed_of(t, &free).powi(2)).sum::<f64>().sqrt();
                scale = scale.max(closing.unwrap_or(0.0)).max(slip);
            }
        }

        // the rows
        let mut worst = 0.0;
        let mut judge = |residual: f64| {
            let relative = residual.abs() / scale;
            // a maximum would let pass what is not a number
            worst = if relative.is_nan() { f64::INFINITY } else { relative.max(worst) };
        };
        at = 0;
        for joint in &self.step.joints {
            judge(speed_of(&joint.row, &v) + joint.compliance * z[at]);
            at += 1;
        }
        for contact in &self.step.contacts {
            let first = contact.bound_by.map(|i| self.step.layout().contact[i]);
            let mut bound = contact.kappa + first.map_or(0.0, |first| contact.mu * z[first]);
            let mut normal_answer = 0.0;
            if let Some(normal) = &contact.normal {
                normal_answer = answer(&self.row(&normal.row))?;
                judge(minimum(normal_answer * z[at], speed_of(normal, &v)));
                bound += contact.mu * z[at];
                at += 1;
            }
            let set = directions(contact);
            if set.is_empty() {
                continue;
            }
            let tangents: Vec<DVector<f64>> = contact.tangents.iter().map(|t| self.row(&t.row)).collect();
            let slip: Vec<f64> = contact.tangents.iter().map(|t| speed_of(t, &v)).collect();
            let mut mean = 0.0;
            for t in &tangents {
                mean += answer(t)? / tangents.len() as f64;
            }
            let mean = if mean > 0.0 { mean } else { normal_answer };
            if let FrictionSet::Ellipse(axes) = &contact.set {
                let own: Vec<f64> = set.iter().enumerate().map(|(k, _)| z[at + k] / axes[k]).collect();
                let slip: Vec<f64> = slip.iter().zip(axes).map(|(u, a)| u * a).collect();
                circle(&own, &slip, bound, mean).into_iter().for_each(&mut judge);
                at += set.len();
                continue;
            }
            let along = |f: &[f64; 3]| slip.iter().zip(f).map(|(s, f)| s * f).sum::<f64>();
            let lambda = set.iter().map(|f| -along(f)).fold(0.0, f64::max);
            let mut zeta = bound;
            for f in &set {
                let mut direction = DVector::zeros(v.len());
                for (t, f) in tangents.iter().zip(f) {
                    direction += t * *f;
                }
                judge(minimum(answer(&direction)? * z[at], along(f) + lambda));
                zeta -= z[at];
                at += 1;
            }
            judge(minimum(lambda, mean * zeta));
        }
        Some(worst)
    }

    /// How far a proof of infeasibility is from one: the largest entry of Σ y J against the size of its terms,
    /// infinite where a sign is wrong or the offsets do not contradict.
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

/// What the friction unknowns of a contact are along: the generators of a polygon, the tangents for an ellipse.
fn directions(contact: &stiction_lcp::Contact) -> Vec<[f64; 3]> {
    match &contact.set {
        FrictionSet::Polygon(f) if !contact.tangents.is_empty() => f.to_vec(),
        _ => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]][..contact.tangents.len()].to_vec(),
    }
}

/// What is wrong with friction `p` of a circle of radius `bound` at slip `u`, in units of speed: beyond the bound, slip
/// with friction left over, and not against the slip.
fn circle(p: &[f64], u: &[f64], bound: f64, mobility: f64) -> [f64; 3] {
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let (size, speed) = (length(p), length(u));
    let excess = mobility * (size - bound).max(0.0);
    let unused = minimum(speed, mobility * (bound - size));
    // bound · u + ‖u‖ p = 0, as an error of the slip or of the impulse, whichever is the smaller: what hardly slips
    // has no direction, and neither has what hardly presses
    let crooked: Vec<f64> = p.iter().zip(u).map(|(p, u)| bound * u + speed * p).collect();
    let crooked = length(&crooked);
    let crooked =
        if crooked > 0.0 { minimum(crooked / bound.max(0.0), mobility * crooked / speed) } else { crooked };
    [excess, unused, crooked]
}

/// The smaller of two numbers, and not a number if either is not.
fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_lcp::{LcpError, Solver, solve};
    use stiction_problems::ensemble::{Kind, mixture};

    #[test]
    fn the_second_opinion_accepts_solutions_and_refuses_disturbed_ones() {
        for seed in 0..200 {
            let (kind, step) = mixture(seed);
            let solution = solve(&step, &Solver::default(), None).unwrap();
            let dense = Dense::new(&step);
            let residual = dense.residual(solution.z()).unwrap();
            assert!(residual < 1e-10, "{} {seed}: {residual:e}", kind.name());
            let largest = solution.z().iter().fold(0.0, |a: f64, z| a.max(z.abs()));
            // contact impulses only: those of redundant joints may be anything
            for i in step.joints.len()..solution.z().len() {
                let mut z = solution.z().to_vec();
                z[i] += 1e-5 * largest.max(1e-3);
                let residual = dense.residual(&z).unwrap();
                assert!(residual > 1e-9, "{} {seed}, unknown {i}: {residual:e}", kind.name());
            }
        }
    }

    #[test]
    fn circles_are_judged_by_their_own_law() {
        for seed in 0..200 {
            let (kind, step) = mixture(seed);
            let step = crate::soak::circular(&step);
            let Ok(solution) = solve(&step, &Solver::default(), None) else { continue };
            let dense = Dense::new(&step);
            let residual = dense.residual(solution.z()).unwrap();
            assert!(residual < 1e-7, "{} {seed}: {residual:e}", kind.name());
            let largest = solution.z().iter().fold(0.0, |a: f64, z| a.max(z.abs()));
            for i in step.joints.len()..solution.z().len() {
                let mut z = solution.z().to_vec();
                z[i] += 1e-3 * largest.max(1e-3);
                let residual = dense.residual(&z).unwrap();
                assert!(residual > 1e-7, "{} {seed}, unknown {i}: {residual:e}", kind.name());
            }
        }
        // too much, too little, and aside, each at unit slip and bound
        let wrong = |p: [f64; 2]| circle(&p, &[1.0, 0.0], 1.0, 1.0);
        assert_eq!(wrong([-1.0, 0.0]), [0.0; 3]);
        assert!((wrong([-1.1, 0.0])[0] - 0.1).abs() < 1e-12);
        assert!((wrong([-0.9, 0.0])[1] - 0.1).abs() < 1e-12);
        assert!((wrong([-(0.99_f64.sqrt()), 0.1])[2] - 0.1).abs() < 1e-2);
    }

    #[test]
    fn what_it_does_not_know_is_no_opinion() {
        let (_, step) = mixture(6);
        assert_eq!(Dense::new(&step).residual(&[]), None);
        let relaxed = step.relaxed(&[]);
        assert_eq!(Dense::new(&relaxed).residual(&vec![0.0; step.layout().impulses]), None);
        let nothing = vec![f64::NAN; step.layout().impulses];
        assert_eq!(Dense::new(&step).residual(&nothing), Some(f64::INFINITY));
    }

    #[test]
    fn proofs_are_checked_too() {
        for seed in 0..50 {
            let step = Kind::PenetratedJam.sample(seed);
            let Err(LcpError::Ray { proof: Some(proof), .. }) = solve(&step, &Solver::default(), None) else {
                panic!("seed {seed} is infeasible");
            };
            let dense = Dense::new(&step);
            assert!(dense.proof_residual(&proof) < 1e-9);
            let wrong = Farkas { y: proof.y.iter().map(|y| -y).collect(), ..proof.clone() };
            assert_eq!(dense.proof_residual(&wrong), f64::INFINITY);
            let mut lopsided = proof;
            let first = lopsided.y.iter().position(|y| *y > 0.0).unwrap();
            lopsided.y[first] *= 1.001;
            assert!(dense.proof_residual(&lopsided) > 1e-9);
        }
    }
}
