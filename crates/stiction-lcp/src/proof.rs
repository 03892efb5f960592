//! Proofs that no solution exists: Farkas vectors, checked against the data of the problem.

use crate::problem::{Lcp, LocalProblem, Malformed, MassFactor, Mlcp, OffsetRow, Problem, StepProblem};
use serde::{Deserialize, Deserializer, Serialize};

/// Farkas vector: a combination of rows that no unknown can satisfy.
///
/// For an LCP, y ≥ 0 with Mᵀy ≤ 0 and qᵀy < 0. For a step problem, y over the unknowns z with y ≥ 0 on normal
/// rows, any sign on joint rows and zero on friction: Σ n y + ν y = 0, C y = 0 and y·(Δ, Υ) < 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Farkas {
    /// Combination of rows, largest entry 1.
    pub y: Vec<f64>,
    /// Strength of the proof [-]: the factor by which the unknowns would have to exceed the size that the offsets imply
    /// to evade it. Infinite in exact arithmetic, about 1/ε after round-off. At least [`Farkas::STRENGTH`].
    #[serde(deserialize_with = "number_or_infinity")]
    pub strength: f64,
}

/// Reads a number that JSON writes as null where it is infinite.
pub fn number_or_infinity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    if deserializer.is_human_readable() {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    } else {
        f64::deserialize(deserializer)
    }
}

impl Farkas {
    /// Least strength that counts as a proof [-]: unknowns 1e9 times larger than the data imply. Sensible range 1e6 to
    /// 1e12: below, ill-conditioned solvable problems would be proved infeasible; above, round-off hides true proofs.
    pub const STRENGTH: f64 = 1e9;

    /// Contradiction of the rows of a step problem that is taken for round-off, relative to its speed scale. Sensible range
    /// 1e-12 to 1e-8: below, redundant rows that differ by the round-off of positions are proved infeasible; above, a
    /// contradiction that no certificate accepts is not proved.
    const ROUND_OFF: f64 = 1e-8;

    /// Checks a combination against the problem's own data; `None` when it proves nothing.
    pub fn check<'a>(problem: impl Into<Problem<'a>>, y: &[f64]) -> Option<Self> {
        let largest = y.iter().fold(0.0, |a: f64, y| a.max(y.abs()));
        if !(largest > 0.0 && largest.is_finite()) {
            return None;
        }
        let mut y: Vec<f64> = y.iter().map(|y| y / largest).collect();
        let strength = match problem.into() {
            Problem::Lcp(lcp) => strength_dense(lcp, &[], &mut y),
            Problem::Mlcp(Mlcp { m, q, free }) => {
                strength_dense(&Lcp { m: m.clone(), q: q.clone() }, free, &mut y)
            }
            Problem::Step(step) => strength_of_step(step, &mut y).ok()?,
            Problem::Local(local) => strength_of_local(local, &mut y),
        };
        (strength >= Self::STRENGTH).then_some(Self { y, strength })
    }
}

/// Strength for a dense problem. From 0 ≤ yᵀ(M z + q): Σ (Mᵀy)⁺ z ≥ −qᵀy, so some z is at least −qᵀy / Σ (Mᵀy)⁺, in
/// units of q.
fn strength_dense(lcp: &Lcp, free: &[bool], y: &mut [f64]) -> f64 {
    let Lcp { m, q } = lcp;
    if y.len() != q.len() {
        return 0.0;
    }
    let is_free = |j: usize| free.get(j).copied().unwrap_or(false);
    (0..y.len()).filter(|&j| !is_free(j)).for_each(|j| y[j] = y[j].max(0.0));
    let need = -q.iter().zip(&*y).map(|(q, y)| q * y).sum::<f64>();
    let mut escape = 0.0;
    for j in 0..y.len() {
        let column = m.column(j);
        let slope: f64 = column.iter().zip(&*y).map(|(m, y)| m * y).sum();
        let slope = if is_free(j) { slope.abs() } else { slope.max(0.0) };
        // one unit of z_j is worth the largest entry of its column
        escape += slope / column.amax().max(f64::MIN_POSITIVE);
    }
    if need > 0.0 { need / escape / q.amax() } else { 0.0 }
}

/// Strength for a problem in local form, from y·(W r + q) with y ≥ 0 on the normal rows and zero elsewhere:
/// W = J M̃⁻¹ Jᵀ, so |Jᵀy|² is y·W y.
fn strength_of_local(local: &LocalProblem, y: &mut [f64]) -> f64 {
    if y.len() != local.size() {
        return 0.0;
    }
    let size = local.unknowns();
    y.iter_mut().enumerate().for_each(|(i, y)| *y = if i.is_multiple_of(size) { y.max(0.0) } else { 0.0 });
    let r = local.impulses(y);
    let escape = r.dot(&(&local.w * &r)).max(0.0).sqrt();
    let implied_by = |i: usize| local.q[i].abs() / local.w[(i, i)].max(f64::MIN_POSITIVE).sqrt();
    let implied = (0..r.len()).filter(|&i| r[i] > 0.0).map(implied_by).fold(0.0, f64::max);
    let need = -r.dot(&local.q);
    if need > 0.0 { need / escape / implied } else { 0.0 }
}

/// Strength for a step problem. From 0 ≤ y·(J v + offset): r·v ≥ −y·offset with r = Jᵀy, so v measured by its kinetic
/// energy is at least −y·offset / |r|, relative to the speed that each row by itself implies.
fn strength_of_step(problem: &StepProblem, y: &mut [f64]) -> Result<f64, Malformed> {
    let layout = problem.layout();
    if y.len() != layout.impulses {
        return Ok(0.0);
    }
    let mass = MassFactor::new(problem)?;
    let mut rows: Vec<(&OffsetRow, f64)> = Vec::new();
    let mut escape = 0.0;
    for (joint, &y) in problem.joints.iter().zip(&*y) {
        rows.push((&joint.row, y));
        escape += joint.compliance * y * y;
    }
    for (contact, &start) in problem.contacts.iter().zip(&layout.contact) {
        let own = &mut y[start..start + contact.unknowns()];
        if let Some(normal) = &contact.normal {
            own[0] = own[0].max(0.0);
            rows.push((normal, own[0]));
            own[1..].fill(0.0);
        } else {
            own.fill(0.0);
        }
    }
    let mut r = vec![0.0; layout.velocities()];
    let (mut need, mut implied): (f64, f64) = (0.0, 0.0);
    for (row, y) in rows {
        if y == 0.0 {
            continue;
        }
        row.row.add_transposed(&layout.velocity, y, &mut r);
        need -= y * row.offset;
        let mut own = vec![0.0; r.len()];
        row.row.add_transposed(&layout.velocity, 1.0, &mut own);
        mass.half_solve(&mut own);
        let length = own.iter().map(|x| x * x).sum::<f64>().sqrt();
        implied = implied.max(row.offset.abs() / length.max(f64::MIN_POSITIVE));
    }
    // rows that contradict each other by round-off alone have a solution within the tolerance
    let round_off = Farkas::ROUND_OFF * problem.speed_scale * y.iter().map(|y| y.abs()).sum::<f64>();
    if need <= round_off {
        return Ok(0.0);
    }
    mass.half_solve(&mut r);
    escape += r.iter().map(|x| x * x).sum::<f64>();
    Ok(if need > 0.0 { need / escape.sqrt() / implied } else { 0.0 })
}
