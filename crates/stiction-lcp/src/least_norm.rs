//! The least-norm member of a set of forces: min ½‖z‖² subject to E z = p and z in a product of cones.
//!
//! Contact forces are often not unique: a table on four legs has one parameter of them. All members of the set cause
//! the same motion; this one is unique, depends continuously on the data and is symmetric where the scene is.
//! The method is a proximal semismooth Newton iteration on the dual: with z(y) = P_K(Eᵀy), minimize
//! φ(y) = ½‖z(y)‖² − pᵀy, whose gradient is E z(y) − p.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Cone of one block of forces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ForceCone {
    /// All of ℝ: a joint row.
    Free,
    /// z ≥ 0: a contact without friction, or one that slips, as a multiple of its direction (1, −μ d).
    NonNegative,
    /// (N, T) with |T| ≤ μ N: a contact that sticks, with one or two tangential components.
    Friction {
        /// Coulomb coefficient μ.
        mu: f64,
        /// Number of tangential components, 1 or 2.
        tangents: usize,
    },
    /// |T| ≤ bound, without a normal force: a drive, or dry friction of a joint.
    Ball {
        /// Largest force [N].
        bound: f64,
        /// Number of components, 1 or 2.
        tangents: usize,
    },
}

impl ForceCone {
    /// Number of components of the block.
    pub fn len(&self) -> usize {
        match *self {
            Self::Free | Self::NonNegative => 1,
            Self::Friction { tangents, .. } => 1 + tangents,
            Self::Ball { tangents, .. } => tangents,
        }
    }

    /// A coefficient or bound that is finite and not negative, and one or two tangential components.
    fn is_valid(&self) -> bool {
        match *self {
            Self::Free | Self::NonNegative => true,
            Self::Friction { mu: size, tangents } | Self::Ball { bound: size, tangents } => {
                size.is_finite() && size >= 0.0 && (1..=2).contains(&tangents)
            }
        }
    }

    /// Whether the forces of the block are in the cone.
    pub fn contains(&self, z: &[f64]) -> bool {
        match *self {
            Self::Free => true,
            Self::NonNegative => z[0] >= 0.0,
            Self::Friction { mu, .. } => norm(&z[1..]) <= mu * z[0],
            Self::Ball { bound, .. } => norm(z) <= bound,
        }
    }

    /// `false`: a block has at least one component.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Forces of least norm.
#[derive(Debug, Clone, PartialEq)]
pub struct LeastNorm {
    /// The forces, block after block.
    pub z: Vec<f64>,
    /// ‖E z − p‖∞ with unit rows of E, relative to ‖p‖∞.
    pub residual: f64,
    /// Factorizations it took.
    pub factorizations: usize,
}

// The table of constants of the method. All are relative: rows of E have unit length, p has unit size.

/// First weight of the proximal term δ/2 ‖y − y_k‖². Larger takes more outer iterations, smaller makes the first
/// factorization ill-conditioned. Sensible: 1e-8 to 1e-4.
const FIRST_PROXIMAL: f64 = 1e-6;

/// Last weight of the proximal term. Larger leaves a residual, smaller loses the factorization to round-off where
/// rows of E are redundant. Sensible: 1e-15 to 1e-12.
const LAST_PROXIMAL: f64 = 1e-14;

/// Factor on the proximal weight from one outer iteration to the next.
const PROXIMAL_DECREASE: f64 = 1e-2;

/// Outer iterations end at this residual.
const RESIDUAL: f64 = 1e-13;

/// Outer iterations that do not lower a residual above this end: there are no such forces. Smaller ends some that would
/// have found them, larger takes longer where there are none. Sensible: 1e-5 to 1e-2.
const LARGE_RESIDUAL: f64 = 1e-3;

/// Limit on outer iterations: the last weight is reached after five, and repeated from there.
const OUTER_LIMIT: usize = 12;

/// Limit on Newton iterations within one outer iteration: active faces settle within a few.
const INNER_LIMIT: usize = 40;

/// Armijo's constant: a step must gain this part of what the gradient promises.
const SUFFICIENT_DECREASE: f64 = 1e-4;

/// A Newton step that the line search refuses is taken if it reduces the gradient to this part. Larger may cycle, smaller
/// ends at the round-off of φ. Sensible: 0.1 to 0.9.
const GRADIENT_DECREASE: f64 = 0.5;

/// Halvings of a Newton step at most.
const HALVING_LIMIT: usize = 30;

/// Forces of least norm in `cones` with E z = p. `None` where the cones do not have as many components as E has columns
/// or p not as many as E has rows, where a cone is malformed or a number not finite, and where a factorization fails.
pub fn least_norm(e: &DMatrix<f64>, p: &DVector<f64>, cones: &[ForceCone]) -> Option<LeastNorm> {
    let fits = cones.iter().map(ForceCone::len).sum::<usize>() == e.ncols() && p.len() == e.nrows();
    let finite = e.iter().chain(p.iter()).all(|x| x.is_finite());
    if !(fits && finite && cones.iter().all(ForceCone::is_valid)) {
        return None;
    }
    let mut dual = Dual::new(e, p, cones)?;
    dual.minimize()?;
    let z = dual.z.iter().map(|z| z * dual.size).collect();
    Some(LeastNorm { z, residual: dual.residual(), factorizations: dual.factorizations })
}

/// The dual problem in scaled units, and its iterate.
struct Dual<'a> {
    /// E with rows of unit length.
    e: DMatrix<f64>,
    /// p over its size, with the factors of the rows.
    p: DVector<f64>,
    /// Size of p that forces are measured by.
    size: f64,
    cones: &'a [ForceCone],
    y: DVector<f64>,
    /// Eᵀ y.
    image: DVector<f64>,
    /// P_K(Eᵀ y).
    z: DVector<f64>,
    factorizations: usize,
}

impl<'a> Dual<'a> {
    fn new(e: &DMatrix<f64>, p: &DVector<f64>, cones: &'a [ForceCone]) -> Option<Self> {
        let (mut e, mut p) = (e.clone(), p.clone());
        for (i, mut row) in e.row_iter_mut().enumerate() {
            let length = row.norm();
            if length > 0.0 {
                row /= length;
                p[i] /= length;
            }
        }
        let bounds =
            cones.iter().map(|cone| if let ForceCone::Ball { bound, .. } = cone { *bound } else { 0.0 });
        let size = bounds.fold(p.amax(), f64::max);
        if !size.is_finite() {
            return None;
        }
        let size = if size > 0.0 { size } else { 1.0 };
        p /= size;
        let (m, n) = e.shape();
        let (y, image, z) = (DVector::zeros(m), DVector::zeros(n), DVector::zeros(n));
        Some(Self { e, p, size, cones, y, image, z, factorizations: 0 })
    }

    /// Outer proximal iterations with a decreasing weight.
    fn minimize(&mut self) -> Option<()> {
        let mut weight = FIRST_PROXIMAL;
        let mut before = f64::INFINITY;
        for _ in 0..OUTER_LIMIT {
            let centre = self.y.clone();
            self.inner(weight, &centre)?;
            let residual = self.residual();
            // a smaller weight leaves a smaller residual, unless there are no such forces
            let stays = residual > 0.5 * before;
            if residual <= RESIDUAL || stays && (weight <= LAST_PROXIMAL || residual > LARGE_RESIDUAL) {
                break;
            }
            before = residual;
            weight = (weight * PROXIMAL_DECREASE).max(LAST_PROXIMAL);
        }
        Some(())
    }

    /// Newton iterations on φ(y) + δ/2 ‖y − centre‖².
    fn inner(&mut self, weight: f64, centre: &DVector<f64>) -> Option<()> {
        for _ in 0..INNER_LIMIT {
            let gradient = self.gradient(weight, centre);
            // below the last residual that an outer iteration asks for
            if gradient.amax() <= 0.1 * RESIDUAL {
                return Some(());
            }
            let step = -self.factor(weight)?.solve(&gradient);
            if !self.search(&step, gradient.dot(&step), weight, centre) {
                return Some(());
            }
        }
        Some(())
    }

    fn gradient(&self, weight: f64, centre: &DVector<f64>) -> DVector<f64> {
        &self.e * &self.z - &self.p + weight * (&self.y - centre)
    }

    /// H = E DP_K Eᵀ + δ I, factored.
    fn factor(&mut self, weight: f64) -> Option<Cholesky<f64, Dyn>> {
        self.factorizations += 1;
        let (m, n) = self.e.shape();
        let mut product = DMatrix::zeros(n, m);
        let mut start = 0;
        for cone in self.cones {
            let k = cone.len();
            let derivative = self.derivative(cone, start);
            let rows = self.e.columns(start, k).transpose();
            let mut block = product.rows_mut(start, k);
            for i in 0..k {
                for j in 0..k {
                    let d = derivative[i][j];
                    if d != 0.0 {
                        for c in 0..m {
                            block[(i, c)] += d * rows[(j, c)];
                        }
                    }
                }
            }
            start += k;
        }
        let mut h = &self.e * product;
        (0..m).for_each(|i| h[(i, i)] += weight);
        Cholesky::new(h)
    }

    /// Moves along `step`, halved until φ decreases enough; `false` where it does not.
    fn search(&mut self, step: &DVector<f64>, slope: f64, weight: f64, centre: &DVector<f64>) -> bool {
        let start = self.y.clone();
        let before = self.merit(weight, centre);
        let mut length = 1.0;
        for _ in 0..HALVING_LIMIT {
            self.y = &start + length * step;
            self.project();
            let after = self.merit(weight, centre);
            // a merit that is equal to round-off counts as decreased
            if after <= before + SUFFICIENT_DECREASE * length * slope + 4.0 * f64::EPSILON * before.abs() {
                return true;
            }
            length *= 0.5;
        }
        // near the solution φ changes by less than its round-off, but its gradient does not
        self.y = start.clone();
        self.project();
        let gradient = self.gradient(weight, centre).amax();
        self.y = &start + step;
        self.project();
        if self.gradient(weight, centre).amax() <= GRADIENT_DECREASE * gradient {
            return true;
        }
        self.y = start;
        self.project();
        false
    }

    fn merit(&self, weight: f64, centre: &DVector<f64>) -> f64 {
        // for a convex set that is no cone the conjugate of ½‖·‖² is zᵀ(Eᵀy) − ½‖z‖²
        let conjugate = self.z.dot(&self.image) - 0.5 * self.z.norm_squared();
        conjugate - self.p.dot(&self.y) + 0.5 * weight * (&self.y - centre).norm_squared()
    }

    fn residual(&self) -> f64 {
        (&self.e * &self.z - &self.p).amax()
    }

    /// z = P_K(Eᵀ y).
    fn project(&mut self) {
        self.image = self.e.tr_mul(&self.y);
        let mut start = 0;
        for cone in self.cones {
            let k = cone.len();
            let (image, z) =
                (&self.image.as_slice()[start..start + k], &mut self.z.as_mut_slice()[start..start + k]);
            match *cone {
                ForceCone::Free => z[0] = image[0],
                ForceCone::NonNegative => z[0] = image[0].max(0.0),
                ForceCone::Friction { mu, .. } => {
                    let (n, r) = (image[0], norm(&image[1..]));
                    if r <= mu * n {
                        z.copy_from_slice(image);
                    } else if mu * r <= -n {
                        z.fill(0.0);
                    } else {
                        z[0] = (n + mu * r) / (1.0 + mu * mu);
                        let factor = mu * z[0] / r;
                        z[1..].iter_mut().zip(&image[1..]).for_each(|(z, t)| *z = factor * t);
                    }
                }
                ForceCone::Ball { bound, .. } => {
                    let (bound, r) = (bound / self.size, norm(image));
                    let factor = if r > bound { bound / r } else { 1.0 };
                    z.iter_mut().zip(image).for_each(|(z, t)| *z = factor * t);
                }
            }
            start += k;
        }
    }

    /// A generalized derivative of the projection of a block; at an apex that of the inside, so that the first step
    /// from zero is the least-norm solution without cones.
    fn derivative(&self, cone: &ForceCone, start: usize) -> [[f64; 3]; 3] {
        const INSIDE: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        const NONE: [[f64; 3]; 3] = [[0.0; 3]; 3];
        let image = &self.image.as_slice()[start..start + cone.len()];
        match *cone {
            ForceCone::Free => INSIDE,
            ForceCone::NonNegative if image[0] >= 0.0 => INSIDE,
            ForceCone::NonNegative => NONE,
            ForceCone::Friction { mu, .. } => {
                let (n, r) = (image[0], norm(&image[1..]));
                if r <= mu * n || (n == 0.0 && r == 0.0) {
                    return INSIDE;
                }
                if mu * r <= -n {
                    return NONE;
                }
                let s = (n + mu * r) / (1.0 + mu * mu);
                let mut derivative = NONE;
                let weight = 1.0 / (1.0 + mu * mu);
                derivative[0][0] = weight;
                for i in 0..image.len() - 1 {
                    let along = image[1 + i] / r;
                    derivative[0][1 + i] = weight * mu * along;
                    derivative[1 + i][0] = derivative[0][1 + i];
                    for j in 0..image.len() - 1 {
                        let outer = along * image[1 + j] / r;
                        let across = if i == j { 1.0 - outer } else { -outer };
                        derivative[1 + i][1 + j] = weight * mu * mu * outer + mu * s / r * across;
                    }
                }
                derivative
            }
            ForceCone::Ball { bound, .. } => {
                let (bound, r) = (bound / self.size, norm(image));
                if r <= bound {
                    return INSIDE;
                }
                let mut derivative = NONE;
                for i in 0..image.len() {
                    for j in 0..image.len() {
                        let outer = image[i] * image[j] / (r * r);
                        derivative[i][j] = bound / r * (if i == j { 1.0 - outer } else { -outer });
                    }
                }
                derivative
            }
        }
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |sum: f64, x| sum.hypot(*x))
}

#[cfg(test)]
mod tests;
