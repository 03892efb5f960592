//! Falling rod of ST00 at the impact with the table: Painlevé's paradox, and the time step that resolves it.

use super::build::{step, touching};
use super::{NamedProblem, ProblemEntry, exactly, infinitely_many, none};
use std::f64::consts::PI;
use stiction_lcp::problem::{AnyProblem, Body, FrictionSet, Lcp, Row};

pub(super) fn all() -> Vec<NamedProblem> {
    let mut files = painleve();
    files.push(Rod::at_impact(true).file());
    files
}

/// Scalar acceleration problem of the falling rod of ST00 at its first contact, for a tip that slips to the right: w = A c + b with A = nᵀM⁻¹(n − μ d), b = nᵀM⁻¹k + (l/2) sin θ ω².
fn painleve() -> Vec<NamedProblem> {
    const SOURCE: &str = "D. E. Stewart, J. C. Trinkle, ICRA 2000, example 1: the falling rod at impact";
    let problem = |rod: &Rod| {
        let (a, b) = rod.slipping();
        AnyProblem::Lcp(Lcp::from_rows(&[[a]], &[b]))
    };
    let thick = Rod::at_impact(true);
    let thin = Rod::at_impact(false);
    vec![
        ProblemEntry::new(
            "painleve",
            "Painlevé's paradox",
            SOURCE,
            "A = −1.565, b = −3.999 with the velocity after a plastic impact: were the tip slipping to the right, no finite force would keep it from penetrating. (After that impact it sticks, and the time step, rod-impact, has a solution.)",
        )
        .holding(problem(&thick), none()),
        ProblemEntry::new(
            "painleve-without-radius",
            "No paradox without the rod's radius",
            SOURCE,
            "The lever arm of friction taken to the rod's axis instead of its surface: A = +0.217, b > 0, and z = 0 is the solution. The paradox hangs on 5 cm.",
        )
        .holding(problem(&thin), exactly(&[&[0.0]])),
    ]
}

/// Falling rod of ST00 when its lower tip reaches the table.
struct Rod {
    normal: [f64; 3],
    tangent: [f64; 3],
    /// Velocity before impact.
    before: [f64; 3],
    /// Height of the centre over the tip's axis point [m].
    height: f64,
}

impl Rod {
    const HALF_LENGTH: f64 = 0.25;
    const RADIUS: f64 = 0.05;
    const INERTIA: f64 = 0.002;
    const ROD_MU: f64 = 0.6;
    const GRAVITY: f64 = 9.82;

    /// Rod dropped from y = 1 m at 30° with 4 rad/s; friction acts at its surface or at its axis.
    fn at_impact(surface: bool) -> Self {
        let angle = |t: f64| PI / 6.0 + 4.0 * t;
        let gap =
            |t: f64| 1.0 - 0.5 * Self::GRAVITY * t * t - Self::HALF_LENGTH * angle(t).sin() - Self::RADIUS;
        let (mut open, mut closed) = (0.3, 0.5);
        for _ in 0..60 {
            let t = 0.5 * (open + closed);
            if gap(t) > 0.0 { open = t } else { closed = t }
        }
        let (sin, cos) = angle(open).sin_cos();
        let height = Self::HALF_LENGTH * sin;
        let arm = height + if surface { Self::RADIUS } else { 0.0 };
        Self {
            normal: [0.0, 1.0, -Self::HALF_LENGTH * cos],
            tangent: [1.0, 0.0, arm],
            before: [0.0, -Self::GRAVITY * open, 4.0],
            height,
        }
    }

    /// aᵀ M⁻¹ b.
    fn mobility(a: [f64; 3], b: [f64; 3]) -> f64 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2] / Self::INERTIA
    }

    /// Normal and tangential impulse that stop the tip.
    fn impulses(&self) -> [f64; 2] {
        let (n, t) = (self.normal, self.tangent);
        let speed = |row: [f64; 3]| row.iter().zip(self.before).map(|(r, v)| r * v).sum::<f64>();
        let (nn, nt, tt) = (Self::mobility(n, n), Self::mobility(n, t), Self::mobility(t, t));
        let (u, s) = (speed(n), speed(t));
        let determinant = nn * tt - nt * nt;
        [(nt * s - tt * u) / determinant, (nt * u - nn * s) / determinant]
    }

    /// Velocity after a plastic impact at which the tip sticks.
    fn after(&self) -> [f64; 3] {
        let [c, p] = self.impulses();
        let mass = [1.0, 1.0, Self::INERTIA];
        std::array::from_fn(|k| self.before[k] + (c * self.normal[k] + p * self.tangent[k]) / mass[k])
    }

    /// Coefficients A and b of the acceleration A c + b of the tip while it slips to the right.
    fn slipping(&self) -> (f64, f64) {
        let a = Self::mobility(self.normal, self.normal)
            - Self::ROD_MU * Self::mobility(self.normal, self.tangent);
        (a, self.height * self.after()[2].powi(2) - Self::GRAVITY)
    }

    fn file(&self) -> NamedProblem {
        let [c, p] = self.impulses();
        let [x, y, turn] = self.before;
        let body = Body::new(
            3,
            &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, Self::INERTIA],
            &[x, y, Self::INERTIA * turn],
        );
        let (n, t) = (Row::one(0, &self.normal), Row::one(0, &self.tangent));
        let contact = touching(n, [t], FrictionSet::line(), Self::ROD_MU);
        ProblemEntry::new(
            "rod-impact",
            "The falling rod hits the table",
            "D. E. Stewart, J. C. Trinkle, ICRA 2000, example 1, in the limit h → 0",
            "Plastic impact: the tip sticks with c = 3.175 N s, β = 1.389 N s inside the cone. Where accelerations have no solution (painleve) the time step has one.",
        )
        .step(step(vec![body], vec![contact]), infinitely_many(&[&[c, 0.0, -p]]).with_velocity(&self.after()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rod_at_impact_has_the_published_numbers() {
        let rod = Rod::at_impact(true);
        let (a, b) = rod.slipping();
        assert!((a + 1.565).abs() < 1e-3 && (b + 3.999).abs() < 1e-2, "{a} {b}");
        let [c, p] = rod.impulses();
        assert!((c - 3.175).abs() < 1e-3 && (p + 1.389).abs() < 1e-3, "{c} {p}");
        for (v, known) in rod.after().iter().zip([-1.3888, -0.6111, 5.1443]) {
            assert!((v - known).abs() < 1e-4, "{v} instead of {known}");
        }
        let (a, b) = Rod::at_impact(false).slipping();
        assert!((a - 0.217).abs() < 1e-3 && (b - 1.26).abs() < 1e-2, "{a} {b}");
    }
}
