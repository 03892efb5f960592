//! Proof check: whether a combination of kept contacts implies a contact, from the rows of the step alone. It does not
//! depend on how the combination was found.

use super::tolerances::{ALONG_GENERATOR, MIN_COMPONENT_SCALE, SAME_FRAME};
use crate::system::ContactRow;
use stiction_lcp::{FrictionSet, Row};

/// Share of a kept contact in a combination: its α and its Δ [m/s].
#[derive(Clone, Copy)]
pub(super) struct Share<'a> {
    pub(super) alpha: f64,
    pub(super) contact: &'a ContactRow,
    pub(super) offset: f64,
}

/// Defect of a combination that is to imply `contact` with this Δ, dimensionless; infinite where contacts are not
/// comparable. Offsets are relative to `speed` [m/s].
pub(super) fn defect(contact: &ContactRow, offset: f64, shares: &[Share], speed: f64) -> f64 {
    // impulses at the kept contacts must not be negative
    let comparable = |s: &Share| s.alpha >= 0.0 && s.alpha.is_finite() && alike(contact, s.contact);
    if shares.is_empty() || !shares.iter().all(comparable) {
        return f64::INFINITY;
    }
    let Some(mut normal) = Remainder::new(&contact.normal, 0.0) else { return f64::INFINITY };
    let mut below = -offset;
    for share in shares {
        if !normal.subtract(share.alpha, &contact.normal, &share.contact.normal, 0.0) {
            return f64::INFINITY;
        }
        below += share.alpha * share.offset;
    }
    let worst = largest(normal.defect(speed), below.max(0.0) / speed);
    // NaN is no proof
    let worst = if below.is_nan() { f64::INFINITY } else { worst };
    let worst = largest(worst, moment_defect(contact, shares, speed));
    if contact.mu > 0.0 { largest(worst, friction_defect(contact, shares, speed)) } else { worst }
}

/// `true` for comparable contacts: of the same two bodies, with the same μ, e, ℓ_t and ℓ_r.
#[allow(clippy::float_cmp, reason = "the same number, not a close one")]
pub(super) fn alike(a: &ContactRow, b: &ContactRow) -> bool {
    let swapped = [b.bodies[1], b.bodies[0]];
    (a.bodies == b.bodies || a.bodies == swapped)
        && (a.mu, a.restitution, a.aligned, a.tangents.len())
            == (b.mu, b.restitution, b.aligned, b.tangents.len())
        && (a.moments.torsion, a.moments.rolling, a.moments.spin.is_some(), a.moments.rolls.len())
            == (b.moments.torsion, b.moments.rolling, b.moments.spin.is_some(), b.moments.rolls.len())
}

/// Defect of the moment rows. A moment acts on a body and not at a point, so moments of the contact are moments of the
/// others by the same shares, where their rows agree. The normal impulse is shared alike, and with it their bound.
fn moment_defect(contact: &ContactRow, shares: &[Share], speed: f64) -> f64 {
    let mut worst = 0.0;
    if let Some(spin) = &contact.moments.spin {
        let Some(mut rest) = Remainder::new(&spin.row, spin.offset) else { return f64::INFINITY };
        for share in shares {
            // the normal and the relative angular velocity both change sign with the order of the bodies
            let Some(own) = &share.contact.moments.spin else { return f64::INFINITY };
            if !rest.subtract(share.alpha, &spin.row, &own.row, own.offset) {
                return f64::INFINITY;
            }
        }
        worst = largest(worst, rest.defect(speed));
    }
    let planar = contact.tangents.len() < 2;
    for share in shares.iter().filter(|s| s.alpha > 0.0 && !contact.moments.rolls.is_empty()) {
        let r = rolling_frame_change(planar, share.contact, contact);
        worst = largest(worst, excess(&share.contact.moments.set, &r, &contact.moments.set));
    }
    for (column, roll) in contact.moments.rolls.iter().enumerate() {
        let Some(mut rest) = Remainder::new(&roll.row, roll.offset) else { return f64::INFINITY };
        for share in shares {
            let r = rolling_frame_change(planar, share.contact, contact);
            for (own, r) in share.contact.moments.rolls.iter().zip(&r) {
                if !rest.subtract(share.alpha * r[column], &roll.row, &own.row, own.offset) {
                    return f64::INFINITY;
                }
            }
        }
        worst = largest(worst, rest.defect(speed));
    }
    worst
}

/// [`frame_change`] of the rolling axes; in the plane there is one, z for both.
fn rolling_frame_change(planar: bool, to: &ContactRow, from: &ContactRow) -> [[f64; 2]; 2] {
    if !planar {
        return frame_change(to, from);
    }
    let sign = if to.bodies == from.bodies { 1.0 } else { -1.0 };
    [[sign, 0.0], [0.0, sign]]
}

/// Defect of the friction cone, which must lie in the sum of cones: T_j = Σ α_i T_i R_i and R_i F_j ⊂ F_i, where R_i
/// rotates its tangents into those of contact i. Then n_j + μ T_j f = Σ α_i (n_i + μ T_i R_i f) for every f in F_j.
fn friction_defect(contact: &ContactRow, shares: &[Share], speed: f64) -> f64 {
    let mut worst = 0.0;
    for share in shares.iter().filter(|s| s.alpha > 0.0) {
        worst =
            largest(worst, excess(&share.contact.set, &frame_change(share.contact, contact), &contact.set));
    }
    for (column, tangent) in contact.tangents.iter().enumerate() {
        let Some(mut rest) = Remainder::new(&tangent.row, tangent.offset) else { return f64::INFINITY };
        for share in shares {
            let r = frame_change(share.contact, contact);
            for (own, r) in share.contact.tangents.iter().zip(&r) {
                if !rest.subtract(share.alpha * r[column], &tangent.row, &own.row, own.offset) {
                    return f64::INFINITY;
                }
            }
        }
        worst = largest(worst, rest.defect(speed));
    }
    worst
}

/// Frame change R: components along the tangents of `from` become components along those of `to`. Slip changes its sign
/// with the order of the bodies.
fn frame_change(to: &ContactRow, from: &ContactRow) -> [[f64; 2]; 2] {
    let sign = if to.bodies == from.bodies { 1.0 } else { -1.0 };
    let along = |a: &[f64; 3], b: &[f64; 3]| sign * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
    let [a, b] = &to.tangent_directions;
    let [c, d] = &from.tangent_directions;
    [[along(a, c), along(a, d)], [along(b, c), along(b, d)]]
}

/// Excess of R times a friction set over another, relative to that one; not positive where it lies inside.
fn excess(outer: &FrictionSet, r: &[[f64; 2]; 2], inner: &FrictionSet) -> f64 {
    let turned = (r[0][0] - 1.0).abs() + (r[1][1] - 1.0).abs() + r[0][1].abs() + r[1][0].abs();
    if turned <= SAME_FRAME && outer == inner {
        return turned;
    }
    match (outer, inner) {
        (FrictionSet::Polygon(outer), FrictionSet::Polygon(inner)) => {
            // polyhedra with a spin component are comparable only where they are equal
            if outer.iter().chain(&**inner).any(|f| f[2] != 0.0) {
                return f64::INFINITY;
            }
            let turned = |f: &[f64; 3]| r.map(|row| row[0] * f[0] + row[1] * f[1]);
            let out = |f: &[f64; 3]| gauge(outer, turned(f)) - 1.0;
            inner.iter().fold(0.0, |worst, f| largest(worst, out(f)))
        }
        (FrictionSet::Ellipse(outer), FrictionSet::Ellipse(inner)) => {
            // A⁻¹ R B maps the unit disk into itself when its largest singular value is at most 1
            let m = [0, 1].map(|i| [0, 1].map(|j| r[i][j] * inner[j] / outer[i]));
            let [[a, b], [c, d]] = m;
            let spin = inner[2] / outer[2] - 1.0;
            largest(spin.max(0.0), 0.5 * ((a + d).hypot(c - b) + (a - d).hypot(c + b)) - 1.0)
        }
        _ => f64::INFINITY,
    }
}

/// Gauge: the smallest s with p in s times the polygon of these generators; infinite where there is none.
fn gauge(generators: &[[f64; 3]], [x, y]: [f64; 2]) -> f64 {
    let p = [x, y, 0.0];
    let cross = |a: &[f64; 3], b: &[f64; 3]| a[0] * b[1] - a[1] * b[0];
    let mut least = f64::INFINITY;
    for (k, a) in generators.iter().enumerate() {
        let length = a[0] * a[0] + a[1] * a[1];
        let along = (a[0] * p[0] + a[1] * p[1]) / length;
        if along > 0.0 && cross(a, &p).abs() <= ALONG_GENERATOR * length.max(along * length) {
            least = least.min(along);
        }
        for b in &generators[k + 1..] {
            let det = cross(a, b);
            let (x, y) = (cross(&p, b) / det, cross(a, &p) / det);
            // p between two generators: x a + y b
            if x >= 0.0 && y >= 0.0 {
                least = least.min(x + y);
            }
        }
    }
    least
}

/// Remainder of a row after subtracting a combination, with the largest entry of each component.
struct Remainder {
    left: [f64; 12],
    scale: [f64; 12],
    offset: f64,
}

impl Remainder {
    fn new(row: &Row, offset: f64) -> Option<Self> {
        let left = entries(row, row)?;
        Some(Self { left, scale: left.map(f64::abs), offset })
    }

    /// Subtracts `factor` times another row; `false` where it is over other bodies.
    fn subtract(&mut self, factor: f64, like: &Row, row: &Row, offset: f64) -> bool {
        let Some(row) = entries(row, like) else { return false };
        for (i, x) in row.iter().enumerate() {
            self.left[i] -= factor * x;
            self.scale[i] = self.scale[i].max(x.abs());
        }
        self.offset -= factor * offset;
        true
    }

    fn defect(&self, speed: f64) -> f64 {
        let floor = MIN_COMPONENT_SCALE * self.scale.iter().fold(0.0, |m: f64, x| m.max(*x));
        let part = |(left, scale): (&f64, &f64)| {
            // 0/0 for a component that no row has
            if *left == 0.0 { 0.0 } else { left.abs() / scale.max(floor) }
        };
        let rows = self.left.iter().zip(&self.scale).map(part).fold(0.0, largest);
        largest(rows, self.offset.abs() / speed)
    }
}

/// Entries of a row, in the order of the bodies of another row; `None` where those are other bodies, and for sparse
/// rows.
fn entries(row: &Row, like: &Row) -> Option<[f64; 12]> {
    let (Row::Bodies(terms), Row::Bodies(order)) = (row, like) else { return None };
    if terms.len() != order.len() {
        return None;
    }
    let mut out = [0.0; 12];
    for (place, of) in out.chunks_exact_mut(6).zip(order) {
        place.copy_from_slice(&terms.iter().find(|t| t.body == of.body)?.j);
    }
    Some(out)
}

/// Larger of two defects; NaN counts as infinite.
fn largest(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::INFINITY } else { a.max(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gauge_of_a_square_is_its_norm() {
        let square = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]];
        for (p, s) in [([1.0, 0.0], 1.0), ([0.5, 0.5], 1.0), ([-0.3, 0.4], 0.7), ([0.0, -2.0], 2.0)] {
            assert!((gauge(&square, p) - s).abs() < 1e-15, "{p:?}");
        }
        let line = [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]];
        assert!((gauge(&line, [-0.5, 0.0]) - 0.5).abs() < 1e-15);
        assert_eq!(gauge(&line, [0.5, 0.1]), f64::INFINITY);
    }

    #[test]
    fn a_turned_set_is_inside_only_by_its_symmetries() {
        let turned = |degrees: f64| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            [[cos, -sin], [sin, cos]]
        };
        let Some(octagon) = FrictionSet::regular(8) else { panic!("eight directions") };
        assert!(excess(&octagon, &turned(45.0), &octagon) < 1e-14);
        // half a facet: the corner sticks out by 1/cos 22.5°
        let out = 1.0 / 22.5_f64.to_radians().cos() - 1.0;
        assert!((excess(&octagon, &turned(22.5), &octagon) - out).abs() < 1e-14);
        let circle = FrictionSet::circle();
        assert!(excess(&circle, &turned(10.0), &circle) < 1e-14);
        let ellipse = FrictionSet::Ellipse([2.0, 1.0, 1.0]);
        assert!((excess(&ellipse, &turned(90.0), &ellipse) - 1.0).abs() < 1e-14);
        assert_eq!(excess(&octagon, &turned(0.0), &circle), f64::INFINITY);
    }
}
