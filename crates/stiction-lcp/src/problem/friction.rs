//! Friction sets: the tangential impulses that one unit of the friction bound allows, as polygons or ellipses.

use super::step::EntryName;
use super::{Malformed, finite};
use std::cmp::Ordering;
use std::sync::Arc;

/// Set of tangential impulses per unit of the bound μ c_n + κ.
///
/// A third tangent row is a spin about the normal, times the torsional radius: the moment of a distributed contact,
/// ST00 §2. It shares the bound with the two others: a contact that slips and spins is slowed less in each.
#[derive(Debug, Clone, PartialEq)]
pub enum FrictionSet {
    /// Convex hull of the generators (columns of F), with a component per tangent row and zeros past them: unit
    /// vectors for isotropic friction, of different lengths for anisotropic friction. Each generator has its
    /// negative among them.
    Polygon(Arc<[[f64; 3]]>),
    /// Ellipse, with three tangent rows an ellipsoid, with these semi-axes along the tangent rows; further ones are not
    /// used. (1, 1, 1) is the circle, or the ball.
    Ellipse([f64; 3]),
}

/// Coupling of friction and the normal velocity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrictionLaw {
    /// Coulomb's law with maximum dissipation, AH04 (2.10).
    #[default]
    Coulomb,
    /// Convex relaxation, AH04 (2.13) with Γ = 0: a strictly convex program whose sliding contacts
    /// separate at up to μ times their slip speed.
    Convex,
}

impl FrictionSet {
    /// Friction along one tangent row: generators ±1.
    pub fn line() -> Self {
        Self::Polygon(Arc::new([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]))
    }

    /// Regular polygon with an even number of directions, the first along the first tangent row. Opposite generators
    /// are exact negatives; generators on an axis lie on it exactly.
    ///
    /// `None` for an odd number of directions or fewer than two.
    pub fn regular(directions: usize) -> Option<Self> {
        if directions < 2 || !directions.is_multiple_of(2) {
            return None;
        }
        let half = directions / 2;
        let first = (0..half).map(|k| unit(k, directions));
        let second = (0..half).map(|k| unit(k, directions)).map(|[x, y]| [-x, -y]);
        Some(Self::polygon(first.chain(second)))
    }

    /// Convex hull of generators along two tangent rows.
    pub fn polygon(generators: impl IntoIterator<Item = [f64; 2]>) -> Self {
        Self::Polygon(generators.into_iter().map(|[x, y]| [x, y, 0.0]).collect())
    }

    /// Ball over three tangent rows as a polyhedron: this polygon of two rows at latitude 0, smaller ones at ±45°,
    /// and the poles. An ellipse becomes an ellipsoid whose third semi-axis is 1.
    #[must_use]
    pub fn with_spin(&self) -> Self {
        let Self::Polygon(generators) = self else { return self.clone() };
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let ring = |z: f64| generators.iter().map(move |[x, y, _]| [half * x, half * y, z]);
        let poles = [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]];
        Self::Polygon(generators.iter().copied().chain(ring(half)).chain(ring(-half)).chain(poles).collect())
    }

    /// Circle, or with three tangent rows the ball: isotropic friction in space.
    pub fn circle() -> Self {
        Self::Ellipse([1.0; 3])
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

    pub(super) fn check(&self, tangents: usize, place: EntryName) -> Result<(), Malformed> {
        match self {
            Self::Polygon(generators) => check_polygon(generators, tangents, place),
            Self::Ellipse(axes) => {
                if tangents < 2 {
                    let what = format!("an ellipse needs two or three tangent rows, not {tangents}");
                    return Err(Malformed::at(place(), what));
                }
                match axes[..tangents].iter().find(|a| !(a.is_finite() && **a > 0.0)) {
                    Some(a) => Err(Malformed::at(place(), format!("semi-axis {a} must be positive"))),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Unit vector at k/n of a turn, 2k < n, reduced to the first octant: mirror images are exact, and a right angle has
/// no cos(π/2) in it.
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

fn check_polygon(generators: &[[f64; 3]], tangents: usize, place: EntryName) -> Result<(), Malformed> {
    if generators.len() < 2 {
        return Err(Malformed::at(place(), "a polygon needs at least two generators"));
    }
    for (k, g) in generators.iter().enumerate() {
        let here = || format!("{}[{k}]", place());
        g.iter().try_for_each(|x| finite(*x, here))?;
        let size = g.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        if size == 0.0 {
            return Err(Malformed::at(here(), "a generator must not be zero"));
        }
        if let Some(k) = (tangents..3).find(|&k| g[k] != 0.0) {
            let (rows, which) = (["no", "one", "two"][tangents], ["first", "second", "third"][k]);
            let plural = if tangents == 1 { "row" } else { "rows" };
            let what = format!("with {rows} tangent {plural} the {which} component must be 0");
            return Err(Malformed::at(here(), what));
        }
        // generators of a rotated polygon are negatives up to round-off
        let opposite =
            |o: &[f64; 3]| (0..3).all(|k| (o[k] + g[k]).abs() <= OPPOSITE_GENERATOR_RELATIVE * size);
        if !generators.iter().any(opposite) {
            return Err(Malformed::at(here(), "its negative is not among the generators"));
        }
    }
    Ok(())
}

/// Volume of three generators below which they lie in one plane, relative to the product of their lengths. Sensible
/// range 1e-15 to 1e-6: faces of a hundred directions have 1e-4, round-off 1e-16.
const COPLANAR_GENERATORS_RELATIVE: f64 = 1e-12;

/// Difference of a generator and the negative of its opposite up to which they count as opposite, relative to its
/// length. Sensible range 1e-15 to 1e-8: smaller refuses rotated polygons, larger accepts sets without symmetry.
const OPPOSITE_GENERATOR_RELATIVE: f64 = 1e-12;

/// Negative share of a generator up to which an impulse counts as inside its face, in units of round-off of the sum:
/// an impulse on an edge may be outside of both faces by that much.
const OUTSIDE_FACE_ROUND_OFFS: f64 = 4.0;

/// Least sum Σβ, β ≥ 0, with Σ β f = `impulse` along `rows` tangent rows, and the generators that give it: as many as
/// there are rows.
pub(super) fn least_sum(f: &[[f64; 3]], rows: usize, impulse: [f64; 3]) -> (f64, [(usize, f64); 3]) {
    let mut least = (f64::INFINITY, [(0, 0.0); 3]);
    let mut take = |parts: [(usize, f64); 3]| {
        let sum = parts.iter().map(|p| p.1).sum::<f64>();
        if parts.iter().all(|p| p.1 >= -OUTSIDE_FACE_ROUND_OFFS * f64::EPSILON * sum) && sum < least.0 {
            least = (sum, parts.map(|(i, beta)| (i, beta.max(0.0))));
        }
    };
    // p = x fᵢ + y fₖ + z fₗ over all sets of as many generators as rows
    for (i, a) in f.iter().enumerate() {
        if rows == 1 {
            take([(i, impulse[0] / a[0]), (i, 0.0), (i, 0.0)]);
            continue;
        }
        for (k, b) in f.iter().enumerate().skip(i + 1) {
            if rows == 2 {
                let cross = a[0] * b[1] - a[1] * b[0];
                let x = (impulse[0] * b[1] - impulse[1] * b[0]) / cross;
                let y = (impulse[1] * a[0] - impulse[0] * a[1]) / cross;
                take([(i, x), (k, y), (k, 0.0)]);
                continue;
            }
            let ab = cross(a, b);
            let pa = cross(&impulse, a);
            for (l, c) in f.iter().enumerate().skip(k + 1) {
                let volume = dot(&ab, c);
                // coplanar generators span round-off only
                if volume.abs() <= COPLANAR_GENERATORS_RELATIVE * (dot(a, a) * dot(b, b) * dot(c, c)).sqrt() {
                    continue;
                }
                let (x, y) = (dot(&impulse, &cross(b, c)) / volume, dot(&pa, c) / -volume);
                take([(i, x), (k, y), (l, dot(&ab, &impulse) / volume)]);
            }
        }
    }
    least
}

fn cross(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Impulses along generators, on edges and within faces, on every meridian.
    #[test]
    fn impulses_over_spin_are_sums_of_generators() {
        for n in [4, 6, 8] {
            let Some(FrictionSet::Polygon(flat)) = FrictionSet::regular(n) else { panic!("{n} directions") };
            let mut f: Vec<[f64; 3]> = flat.to_vec();
            for (level, height) in [(0.8, 0.6), (0.8, -0.6)] {
                f.extend(flat.iter().map(|g| [level * g[0], level * g[1], height]));
            }
            f.extend([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]);
            for (i, a) in f.iter().enumerate() {
                for (k, b) in f.iter().enumerate() {
                    for (x, y) in [(1.0, 0.0), (0.3, 0.7), (1.0, 1e-9), (2.0, 1.0)] {
                        let p: [f64; 3] = std::array::from_fn(|c| x * a[c] + y * b[c] + 0.1 * x * f[n][c]);
                        let (sum, parts) = least_sum(&f, 3, p);
                        // no more than the sum it is made of
                        assert!(sum <= (1.1 * x + y) * (1.0 + 1e-12), "{i}, {k}: {sum}");
                        for c in 0..3 {
                            let made = parts.iter().map(|&(i, beta)| beta * f[i][c]).sum::<f64>();
                            assert!((made - p[c]).abs() < 1e-14, "{n}: {i}, {k}: {p:?} is not {made}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn regular_polygons_are_exact_on_axes_and_under_reflection() {
        for n in (2..=64).step_by(2) {
            let Some(FrictionSet::Polygon(f)) = FrictionSet::regular(n) else { panic!("{n} directions") };
            assert_eq!(f.len(), n);
            assert_eq!(f[0], [1.0, 0.0, 0.0]);
            for (k, g) in f.iter().enumerate() {
                assert!((g[0].hypot(g[1]) - 1.0).abs() < 1e-15);
                let angle = std::f64::consts::TAU * k as f64 / n as f64;
                assert!((g[0] - angle.cos()).abs() < 2e-15 && (g[1] - angle.sin()).abs() < 2e-15);
                assert!(
                    f.contains(&[-g[0], -g[1], 0.0]) && f.contains(&[g[0], -g[1], 0.0]),
                    "{n} directions, {k}"
                );
                assert_eq!(f.contains(&[g[1], g[0], 0.0]), n % 4 == 0);
            }
        }
        assert_eq!(FrictionSet::regular(0), None);
        assert_eq!(FrictionSet::regular(5), None);
    }
}
