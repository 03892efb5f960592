//! Proofs that no solution exists.

use crate::problem::{Lcp, LocalProblem, Malformed, MassFactor, Mlcp, OffsetRow, Problem, StepProblem};
use serde::{Deserialize, Serialize};

/// A Farkas vector: a combination of rows that no unknown can satisfy.
///
/// For an LCP, y ≥ 0 with Mᵀy ≤ 0 and qᵀy < 0. For a step problem, y over the unknowns z with y ≥ 0 on normal
/// rows, any sign on joint rows and zero on friction: Σ n y + ν y = 0, C y = 0 and y·(Δ, Υ) < 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Farkas {
    /// The combination, largest entry 1.
    pub y: Vec<f64>,
    /// How much larger than the offsets ask for the unknowns would have to be to get round the proof: infinite
    /// in exact arithmetic, 1/ε-like after round-off. At least [`Farkas::STRENGTH`].
    pub strength: f64,
}

impl Farkas {
    /// The least strength that counts as a proof: an unknown a thousand million times larger than the data.
    pub const STRENGTH: f64 = 1e9;

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

/// From 0 ≤ yᵀ(M z + q): Σ (Mᵀy)⁺ z ≥ −qᵀy, so some z is at least −qᵀy / Σ (Mᵀy)⁺, in units of q.
fn strength_dense(lcp: &Lcp, free: &[bool], y: &mut [f64]) -> f64 {
    let Lcp { m, q } = lcp;
    if y.len() != q.len() {
        return 0.0;
    }
    let is_free = |j: usize| free.get(j).copied().unwrap_or(false);
    (0..y.len()).filter(|&j| !is_free(j)).for_each(|j| y[j] = y[j].max(0.0));
    let need = -q.iter().zip(&*y).map(|(q, y)| q * y).sum::<f64>();
    let mut way_out = 0.0;
    for j in 0..y.len() {
        let column = m.column(j);
        let slope: f64 = column.iter().zip(&*y).map(|(m, y)| m * y).sum();
        let slope = if is_free(j) { slope.abs() } else { slope.max(0.0) };
        // one unit of z_j is worth the largest entry of its column
        way_out += slope / column.amax().max(f64::MIN_POSITIVE);
    }
    if need > 0.0 { need / way_out / q.amax() } else { 0.0 }
}

/// The same of y·(W r + q), y ≥ 0 on the normal rows and zero elsewhere: W = J M̃⁻¹ Jᵀ, so |Jᵀy|² is y·W y.
fn strength_of_local(local: &LocalProblem, y: &mut [f64]) -> f64 {
    if y.len() != local.size() {
        return 0.0;
    }
    let size = local.unknowns();
    y.iter_mut().enumerate().for_each(|(i, y)| *y = if i.is_multiple_of(size) { y.max(0.0) } else { 0.0 });
    let r = local.impulses(y);
    let way_out = r.dot(&(&local.w * &r)).max(0.0).sqrt();
    let asks = |i: usize| local.q[i].abs() / local.w[(i, i)].max(f64::MIN_POSITIVE).sqrt();
    let asked = (0..r.len()).filter(|&i| r[i] > 0.0).map(asks).fold(0.0, f64::max);
    let need = -r.dot(&local.q);
    if need > 0.0 { need / way_out / asked } else { 0.0 }
}

/// From 0 ≤ y·(J v + offset): r·v ≥ −y·offset with r = Jᵀy, so v measured by its kinetic energy is at least
/// −y·offset / |r|, against what each row by itself asks for.
fn strength_of_step(problem: &StepProblem, y: &mut [f64]) -> Result<f64, Malformed> {
    let layout = problem.layout();
    if y.len() != layout.impulses {
        return Ok(0.0);
    }
    let mass = MassFactor::new(problem)?;
    let mut rows: Vec<(&OffsetRow, f64)> = Vec::new();
    let mut way_out = 0.0;
    for (joint, &y) in problem.joints.iter().zip(&*y) {
        rows.push((&joint.row, y));
        way_out += joint.compliance * y * y;
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
    let (mut need, mut asked): (f64, f64) = (0.0, 0.0);
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
        asked = asked.max(row.offset.abs() / length.max(f64::MIN_POSITIVE));
    }
    mass.half_solve(&mut r);
    way_out += r.iter().map(|x| x * x).sum::<f64>();
    Ok(if need > 0.0 { need / way_out.sqrt() / asked } else { 0.0 })
}
