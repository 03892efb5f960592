//! Projection onto the cone of a contact's impulses, and its derivative: the normal impulse with up to two balls of
//! friction that it bounds, at the contact point and against rolling.

use super::super::iterate::{ContactVector, length, product};

/// Set of the impulses of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ImpulseCone {
    /// Zero, or impulses that are no unknowns.
    Nothing,
    /// N ≥ 0, |T| ≤ μ N, and |R| ≤ μ_R N for the tangents R of another contact.
    Contact {
        /// Bound of the own tangents.
        mu: f64,
        /// Contact that holds the rolling friction, or `OWN` for none.
        roll: u32,
        /// Bound of its tangents.
        roll_mu: f64,
    },
    /// |T| ≤ bound.
    Ball {
        /// Radius.
        bound: f64,
    },
}

/// Projection of a ball of friction: its factor, or on the boundary its direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BallDerivative<const T: usize> {
    /// μ e on the boundary, e the unit direction; zero inside.
    pub(super) along: [f64; T],
    /// Unit direction on the boundary; zero inside.
    pub(super) direction: [f64; T],
    /// Factor across the direction: 1 inside, μ N / r on the boundary.
    pub(super) turn: f64,
}

impl<const T: usize> BallDerivative<T> {
    const INSIDE: Self = Self { along: [0.0; T], direction: [0.0; T], turn: 1.0 };
    const ZERO: Self = Self { along: [0.0; T], direction: [0.0; T], turn: 0.0 };

    /// Boundary in the direction of `x` of length `r`, with the bound μ and the radius it gives.
    fn boundary(x: &[f64; T], r: f64, mu: f64, radius: f64) -> Self {
        let direction = x.map(|x| x / r);
        Self { along: direction.map(|e| mu * e), direction, turn: radius / r }
    }
}

/// Derivative of the projection of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ConeDerivative<const T: usize> {
    /// dN per (n + μ e·t + …): 1 / (1 + Σ μ²) over the balls whose boundary is reached; 0 at the apex.
    pub(super) normal: f64,
    /// Own tangents.
    pub(super) ball: BallDerivative<T>,
    /// Tangents of rolling friction.
    pub(super) roll: BallDerivative<T>,
}

impl<const T: usize> Default for ConeDerivative<T> {
    fn default() -> Self {
        Self { normal: 0.0, ball: BallDerivative::ZERO, roll: BallDerivative::ZERO }
    }
}

impl<const T: usize> ConeDerivative<T> {
    /// Whether both project onto the same faces.
    pub(super) fn has_same_faces(&self, other: &Self) -> bool {
        let inside = |ball: &BallDerivative<T>| ball.direction == [0.0; T];
        (self.normal > 0.0) == (other.normal > 0.0)
            && inside(&self.ball) == inside(&other.ball)
            && inside(&self.roll) == inside(&other.roll)
    }
}

/// Projection of a contact with its derivative: N, and the factors of both balls.
pub(super) struct Projected<const T: usize> {
    pub(super) own: ContactVector<T>,
    pub(super) roll: [f64; T],
    pub(super) derivative: ConeDerivative<T>,
}

/// Projection of (n, t) and the rolling part r onto N ≥ 0, |T| ≤ μ N, |R| ≤ μ_R N. N solves
/// N − n = Σ μ_b max(0, r_b − μ_b N) over both balls: monotone and piecewise linear.
pub(super) fn project_contact<const T: usize>(
    image: &ContactVector<T>,
    roll: &[f64; T],
    mu: f64,
    roll_mu: f64,
) -> Projected<T> {
    let radii = [length(&image.t), length(roll)];
    let bounds = [mu, roll_mu];
    // a ball is on its boundary where N is below r / μ
    let limit = |b: usize| if radii[b] > 0.0 { radii[b] / bounds[b] } else { 0.0 };
    let limits = [limit(0), limit(1)];
    let order = if limits[0] >= limits[1] { [0, 1] } else { [1, 0] };
    let (mut sum, mut square, mut reached) = (image.n, 1.0, [false; 2]);
    for b in order {
        if sum / square >= limits[b] {
            break;
        }
        reached[b] = true;
        sum += bounds[b] * radii[b];
        square += bounds[b] * bounds[b];
    }
    let n = sum / square;
    if n < 0.0 || (n == 0.0 && (reached[0] || reached[1])) {
        let own = ContactVector::default();
        return Projected { own, roll: [0.0; T], derivative: ConeDerivative::default() };
    }
    let ball = |b: usize, x: &[f64; T]| {
        if reached[b] {
            let radius = bounds[b] * n;
            (x.map(|x| radius / radii[b] * x), BallDerivative::boundary(x, radii[b], bounds[b], radius))
        } else {
            (*x, BallDerivative::INSIDE)
        }
    };
    let (t, own) = ball(0, &image.t);
    let (r, rolls) = ball(1, roll);
    let derivative = ConeDerivative { normal: 1.0 / square, ball: own, roll: rolls };
    Projected { own: ContactVector { n, t }, roll: r, derivative }
}

/// Projection of t onto the ball |T| ≤ bound.
pub(super) fn project_ball<const T: usize>(t: &[f64; T], bound: f64) -> ([f64; T], ConeDerivative<T>) {
    let r = product(t, t).sqrt();
    if r <= bound {
        return (*t, ConeDerivative { ball: BallDerivative::INSIDE, ..ConeDerivative::default() });
    }
    let ball = BallDerivative::boundary(t, r, 0.0, bound);
    (t.map(|x| bound / r * x), ConeDerivative { ball, ..ConeDerivative::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// The projection is the nearest point: its residual is orthogonal to it and in the polar cone. The derivative is
    /// that of finite differences.
    #[test]
    fn projections_are_nearest_points_with_their_derivatives() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(4);
        let mut reached = [0; 5];
        for _ in 0..4000 {
            let mut random = || rng.random_range(-1.0..1.0);
            let x: [f64; 5] = std::array::from_fn(|_| random());
            let direction: [f64; 5] = std::array::from_fn(|_| random());
            let (mu, roll_mu) = (random().abs() + 0.1, random().abs() + 0.1);
            let project = |x: &[f64; 5]| {
                project_contact(&ContactVector { n: x[0], t: [x[1], x[2]] }, &[x[3], x[4]], mu, roll_mu)
            };
            let flat = |p: &Projected<2>| [p.own.n, p.own.t[0], p.own.t[1], p.roll[0], p.roll[1]];
            let found = project(&x);
            let z = flat(&found);
            let left: [f64; 5] = std::array::from_fn(|k| x[k] - z[k]);
            let dot = |a: &[f64; 5], b: &[f64; 5]| (0..5).map(|k| a[k] * b[k]).sum::<f64>();
            assert!(dot(&left, &z).abs() < 1e-12);
            // polar cone: N-part + μ |T-part| + μ_R |R-part| ≤ 0
            let polar = left[0] + mu * left[1].hypot(left[2]) + roll_mu * left[3].hypot(left[4]);
            assert!(polar < 1e-12, "{polar}");
            assert!(z[1].hypot(z[2]) <= mu * z[0] + 1e-12 && z[3].hypot(z[4]) <= roll_mu * z[0] + 1e-12);
            let case = usize::from(found.derivative.ball.along != [0.0; 2])
                + 2 * usize::from(found.derivative.roll.along != [0.0; 2]);
            reached[if found.derivative.normal == 0.0 { 4 } else { case }] += 1;
            let size = 1e-6;
            let moved: [f64; 5] = std::array::from_fn(|k| x[k] + size * direction[k]);
            let back: [f64; 5] = std::array::from_fn(|k| x[k] - size * direction[k]);
            let (after, before) = (flat(&project(&moved)), flat(&project(&back)));
            let ConeDerivative { normal, ball, roll } = found.derivative;
            let own = [direction[1], direction[2]];
            let rolls = [direction[3], direction[4]];
            let dn = normal * (direction[0] + product(&ball.along, &own) + product(&roll.along, &rolls));
            let part = |b: &BallDerivative<2>, x: &[f64; 2], k: usize| {
                b.along[k] * dn + b.turn * (x[k] - b.direction[k] * product(&b.direction, x))
            };
            let expected = [
                dn,
                part(&ball, &own, 0),
                part(&ball, &own, 1),
                part(&roll, &rolls, 0),
                part(&roll, &rolls, 1),
            ];
            let kink = (0..5).any(|k| {
                let (a, b) = ((after[k] - z[k]) / size, (z[k] - before[k]) / size);
                (a - b).abs() > 1e-3
            });
            for k in 0..5 {
                let difference = (after[k] - before[k]) / (2.0 * size);
                assert!(kink || (difference - expected[k]).abs() < 1e-4, "{k}: {difference} {expected:?}");
            }
        }
        assert!(reached.iter().all(|n| *n > 30), "{reached:?}");
    }
}
