//! Friction sets: which tangential impulses one unit of bound allows.

use super::step::Named;
use super::{Malformed, finite};
use std::cmp::Ordering;
use std::sync::Arc;

/// The set of tangential impulses per unit of the bound μ c_n + κ.
#[derive(Debug, Clone, PartialEq)]
pub enum FrictionSet {
    /// The convex hull of the generators (columns of F): unit vectors for isotropic friction, of different
    /// lengths for anisotropic friction. Each generator has its negative among them.
    Polygon(Arc<[[f64; 2]]>),
    /// An ellipse with these semi-axes along the two tangent rows; (1, 1) is the circle.
    Ellipse([f64; 2]),
}

/// How friction and the normal velocity are coupled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrictionLaw {
    /// Coulomb's law with maximum dissipation, AH04 (2.10).
    #[default]
    Coulomb,
    /// The convex relaxation, AH04 (2.13) with Γ = 0: a strictly convex program whose sliding contacts
    /// separate at up to μ times their slip speed.
    Convex,
}

impl FrictionSet {
    /// Friction along one tangent row: generators ±1.
    pub fn line() -> Self {
        Self::Polygon(Arc::new([[1.0, 0.0], [-1.0, 0.0]]))
    }

    /// A regular polygon with an even number of facet directions, the first along the first tangent row.
    /// Opposite generators are exact negatives and those on an axis lie on it exactly.
    ///
    /// `None` for an odd number of directions or fewer than two.
    pub fn regular(directions: usize) -> Option<Self> {
        if directions < 2 || !directions.is_multiple_of(2) {
            return None;
        }
        let half = directions / 2;
        let first = (0..half).map(|k| unit(k, directions));
        let second = (0..half).map(|k| unit(k, directions)).map(|[x, y]| [-x, -y]);
        Some(Self::Polygon(first.chain(second).collect()))
    }

    /// The circle: isotropic friction in space.
    pub fn circle() -> Self {
        Self::Ellipse([1.0, 1.0])
    }

    /// Number of friction unknowns of a contact with this many tangent rows: one per generator, or one per
    /// tangent row.
    pub fn unknowns(&self, tangents: usize) -> usize {
        match self {
            _ if tangents == 0 => 0,
            Self::Polygon(generators) => generators.len(),
            Self::Ellipse(_) => tangents,
        }
    }

    pub(super) fn check(&self, tangents: usize, place: Named) -> Result<(), Malformed> {
        match self {
            Self::Polygon(generators) => check_polygon(generators, tangents, place),
            Self::Ellipse(axes) => {
                if tangents != 2 {
                    let what = format!("an ellipse needs two tangent rows, not {tangents}");
                    return Err(Malformed::at(place(), what));
                }
                match axes.iter().find(|a| !(a.is_finite() && **a > 0.0)) {
                    Some(a) => Err(Malformed::at(place(), format!("semi-axis {a} must be positive"))),
                    None => Ok(()),
                }
            }
        }
    }
}

/// The unit vector at k/n of a turn, 2k < n, reduced to the first octant so that mirror images are exact and
/// a right angle has no cos(π/2) in it.
fn unit(k: usize, n: usize) -> [f64; 2] {
    // angles in units of 1/(8n) of a turn: n is 45°, 2n is 90°
    let angle = 8 * k;
    if angle > 2 * n {
        let [x, y] = unit_in_quadrant(4 * n - angle, n);
        return [-x, y];
    }
    unit_in_quadrant(angle, n)
}

fn unit_in_quadrant(angle: usize, n: usize) -> [f64; 2] {
    let radians = |a: usize| std::f64::consts::TAU * a as f64 / (8 * n) as f64;
    match angle.cmp(&n) {
        Ordering::Less => [radians(angle).cos(), radians(angle).sin()],
        Ordering::Equal => [std::f64::consts::FRAC_1_SQRT_2; 2],
        Ordering::Greater => [radians(2 * n - angle).sin(), radians(2 * n - angle).cos()],
    }
}

fn check_polygon(generators: &[[f64; 2]], tangents: usize, place: Named) -> Result<(), Malformed> {
    if generators.len() < 2 {
        return Err(Malformed::at(place(), "a polygon needs at least two generators"));
    }
    for (k, g) in generators.iter().enumerate() {
        let here = || format!("{}[{k}]", place());
        finite(g[0], here)?;
        finite(g[1], here)?;
        let size = g[0].abs().max(g[1].abs());
        if size == 0.0 {
            return Err(Malformed::at(here(), "a generator must not be zero"));
        }
        if tangents == 1 && g[1] != 0.0 {
            return Err(Malformed::at(here(), "with one tangent row the second component must be 0"));
        }
        // 1e-12 of its length: the generators of a rotated polygon are negatives up to round-off
        let opposite = |o: &[f64; 2]| (o[0] + g[0]).abs().max((o[1] + g[1]).abs()) <= 1e-12 * size;
        if !generators.iter().any(opposite) {
            return Err(Malformed::at(here(), "its negative is not among the generators"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_polygons_are_exact_on_axes_and_under_reflection() {
        for n in (2..=64).step_by(2) {
            let Some(FrictionSet::Polygon(f)) = FrictionSet::regular(n) else { panic!("{n} directions") };
            assert_eq!(f.len(), n);
            assert_eq!(f[0], [1.0, 0.0]);
            for (k, g) in f.iter().enumerate() {
                assert!((g[0].hypot(g[1]) - 1.0).abs() < 1e-15);
                let angle = std::f64::consts::TAU * k as f64 / n as f64;
                assert!((g[0] - angle.cos()).abs() < 2e-15 && (g[1] - angle.sin()).abs() < 2e-15);
                assert!(f.contains(&[-g[0], -g[1]]) && f.contains(&[g[0], -g[1]]), "{n} directions, {k}");
                assert_eq!(f.contains(&[g[1], g[0]]), n % 4 == 0);
            }
        }
        assert_eq!(FrictionSet::regular(0), None);
        assert_eq!(FrictionSet::regular(5), None);
    }
}
