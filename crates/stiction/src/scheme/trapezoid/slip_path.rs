//! Slip directions in space over a substep: friction is against a slip that turns, ever faster where slip ends.
//!
//! From the responses of the slip to friction it integrates the direction, and gives the substep its mean friction.

use super::constants::{
    DIRECTION_TOLERANCE, MAX_DIRECTION_ITERATIONS, MAX_SLIP_INTERVALS, MIN_SLIP_INTERVALS,
    SLIP_CHANGE_RELATIVE, SLIP_END_RELATIVE, SLIP_START_RELATIVE,
};
use super::context::{SolveContext, dot};
use super::rows::slip_velocity;
use super::substep::SubstepProblem;
use crate::error::StepError;
use crate::report::Mode;
use crate::state::{ActiveConstraint, State};
use nalgebra::{Matrix2, Vector2};
use stiction_lcp::{Candidate, ContactMode};

/// Slip of contacts over a substep, in units of its size: u' = end − start + Σ A (p − along), with friction p against u.
#[derive(Debug, Default)]
struct SlipPath {
    /// Slipping contacts, by their indices among the rows.
    contacts: Vec<usize>,
    /// Slip at the start.
    start: Vec<Vector2<f64>>,
    /// Friction that the substep was solved with, over its bound.
    along: Vec<Vector2<f64>>,
    /// Slip at the end with that friction.
    end: Vec<Vector2<f64>>,
    /// Response A of the slip of the first contact to the friction of the second.
    response: Vec<Vec<Matrix2<f64>>>,
}

impl SlipPath {
    /// Integrates the slip. Returns the mean friction of each contact and the friction at the end.
    fn integrate(&self) -> Vec<[Vector2<f64>; 2]> {
        let n = self.contacts.len();
        let mut slip = self.start.clone();
        let mut last = self.along.clone();
        let mut sum = vec![Vector2::zeros(); n];
        let mut ended = vec![false; n];
        let greatest: Vec<f64> = (0..n).map(|i| self.start[i].norm() + self.response[i][i].norm()).collect();
        for (slip, greatest) in slip.iter_mut().zip(&greatest) {
            if slip.norm() < SLIP_START_RELATIVE * *greatest {
                *slip = Vector2::zeros();
            }
        }
        let mut left = 1.0;
        for interval in 0..MAX_SLIP_INTERVALS {
            let size = |i: usize| {
                let speed = slip[i].norm();
                // slip that begins takes the direction of an implicit interval of any size
                let any = ended[i] || speed == 0.0;
                if any { f64::INFINITY } else { SLIP_CHANGE_RELATIVE * speed / self.response[i][i].norm() }
            };
            let step = (0..n).map(size).fold(1.0 / MIN_SLIP_INTERVALS, f64::min).min(left);
            let step = if interval + 1 == MAX_SLIP_INTERVALS { left } else { step };
            for i in 0..n {
                let others = (0..n).filter(|&j| j != i);
                let pushed = others.map(|j| self.response[i][j] * (last[j] - self.along[j]));
                let own = self.response[i][i];
                let rate = self.end[i] - self.start[i] - own * self.along[i]
                    + pushed.fold(Vector2::zeros(), |a, b| a + b);
                if !ended[i] {
                    // w = u + (s/2)(rate + A p) with p = −w/|w|
                    let pulled = slip[i] + 0.5 * step * rate;
                    if let Some(direction) = implicit_direction(&(0.5 * step * own), &pulled) {
                        last[i] = -direction;
                    } else if slip[i].norm() > 0.0 {
                        ended[i] = true;
                    }
                }
                let before = slip[i].norm();
                slip[i] += step * (rate + own * last[i]);
                sum[i] += step * last[i];
                ended[i] |= slip[i].norm() <= (SLIP_END_RELATIVE * greatest[i]).min(before);
            }
            left -= step;
            if left <= 0.0 {
                break;
            }
        }
        sum.into_iter().zip(last).map(|(mean, last)| [mean, last]).collect()
    }

    /// Slip of each contact at the end of the substep, at velocity `v`. With `mean` the rows sum both ends.
    fn end_slips(&self, substep: &SubstepProblem, mean: bool, v: &[f64]) -> Vec<Vector2<f64>> {
        let SubstepProblem { problem, layout, places, .. } = substep;
        let end = |(&k, start): (&usize, &Vector2<f64>)| {
            let tangents = &problem.contacts[places.first_contact + k].tangents;
            let u = Vector2::from_fn(|i, _| tangents[i].row.dot(&layout.velocity, v) + tangents[i].offset);
            if mean { u - start } else { u }
        };
        self.contacts.iter().zip(&self.start).map(end).collect()
    }

    /// Measures the responses: solves without friction at each contact, and with as much again across it.
    fn measure_responses(
        &mut self,
        substep: &mut SubstepProblem,
        mean: bool,
        t: f64,
        solve: &mut SolveContext,
    ) -> Result<(), StepError> {
        let first = substep.places.first_contact;
        self.response = vec![Vec::new(); self.contacts.len()];
        for (j, &k) in self.contacts.iter().enumerate() {
            let along = self.along[j];
            let across = Vector2::new(-along.y, along.x);
            let mut columns = [Vec::new(), Vec::new()];
            for (column, tried) in columns.iter_mut().zip([Vector2::zeros(), along + across]) {
                substep.modes[first + k] = ContactMode::slip(tried.into());
                let other = solve.least_norm_in_modes(t, &substep.problem, &substep.modes)?;
                *column = self.end_slips(substep, mean, &other.velocity);
                solve.lcp.recycle_candidate(other);
            }
            substep.modes[first + k] = ContactMode::slip(along.into());
            // (along, across) is a rotation
            let back = Matrix2::from_columns(&[along, across]).transpose();
            for (i, response) in self.response.iter_mut().enumerate() {
                let columns = [self.end[i] - columns[0][i], columns[1][i] - self.end[i]];
                response.push(Matrix2::from_columns(&columns) * back);
            }
        }
        Ok(())
    }
}

/// Unit vector e with ρe + B e = z for a ρ ≥ 0, if there is one: |(ρ + B)⁻¹z| falls with ρ.
fn implicit_direction(b: &Matrix2<f64>, z: &Vector2<f64>) -> Option<Vector2<f64>> {
    let inverse = |rho: f64| (Matrix2::identity() * rho + b).try_inverse();
    // ρ is at most |z| + |B|, at least |z| − |B|
    let mut high = z.norm() + b.norm();
    // B is singular where another sticking contact leaves one slip direction only. Round-off along the other must not
    // count: slip below this has ended
    let least = SLIP_START_RELATIVE * high;
    if !((inverse(least)? * z).norm() > 1.0) {
        return None;
    }
    let mut low = (z.norm() - b.norm()).max(least);
    let mut rho = z.norm();
    let mut e = Vector2::zeros();
    for _ in 0..MAX_DIRECTION_ITERATIONS {
        let inverse = inverse(rho)?;
        e = inverse * z;
        let size = e.norm();
        if (size - 1.0).abs() <= 4.0 * f64::EPSILON {
            break;
        }
        if size > 1.0 {
            low = rho;
        } else {
            high = rho;
        }
        // Newton on 1/|e|, which is nearly linear in ρ: d|e|/dρ = −e·(ρ + B)⁻¹e/|e|
        let next = rho + (size - 1.0) * size.powi(2) / e.dot(&(inverse * e));
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        if (next - rho).abs() <= DIRECTION_TOLERANCE * high {
            break;
        }
        rho = next;
    }
    Some(e.normalize()).filter(|e| e.norm() > 0.0)
}

/// Whether a contact slips in space, where its direction may turn.
pub(super) fn has_turning_slip(substep: &SubstepProblem, active: &[ActiveConstraint]) -> bool {
    slipping(substep, active).next().is_some()
}

/// Solves the assembled substep again, with the mean friction of slips that turn. Returns the answer, and the active
/// constraints with friction directions at the end. With `mean` tangent rows sum the speeds at both ends.
pub(super) fn solve_with_turning_slip(
    substep: &mut SubstepProblem,
    state: &State,
    active: &[ActiveConstraint],
    mean: bool,
    candidate: Candidate,
    solve: &mut SolveContext,
) -> Result<(Candidate, Vec<ActiveConstraint>), StepError> {
    let mut path = SlipPath { contacts: slipping(substep, active).collect(), ..SlipPath::default() };
    let first = substep.places.first_contact;
    path.start = path.contacts.iter().map(|&k| start_slip(substep, k, &state.v)).collect();
    path.along = path.contacts.iter().map(|&k| slip_mode(substep.modes[first + k])).collect();
    path.end = path.end_slips(substep, mean, &candidate.velocity);
    solve.lcp.recycle_candidate(candidate);
    path.measure_responses(substep, mean, state.t, solve)?;

    let mut turned = active.to_vec();
    for (&k, [in_mean, last]) in path.contacts.iter().zip(&path.integrate()) {
        substep.modes[first + k] = ContactMode::slip((*in_mean).into());
        let [x, y] = substep.middle.contacts[k].tangent_directions;
        let along = std::array::from_fn(|c| last.x * x[c] + last.y * y[c]);
        if let Some(c) = turned.iter_mut().filter(|c| c.is_contact()).nth(k) {
            *c = ActiveConstraint::slipping(c.constraint, along);
        }
    }
    let candidate = solve.least_norm_in_modes(state.t, &substep.problem, &substep.modes)?;
    Ok((candidate, turned))
}

/// Indices of the contacts that slip and have two tangents.
pub(super) fn slipping<'a>(
    substep: &'a SubstepProblem,
    active: &'a [ActiveConstraint],
) -> impl Iterator<Item = usize> + 'a {
    let contacts = active.iter().filter(|c| c.is_contact()).zip(&substep.middle.contacts);
    let slips = contacts
        .enumerate()
        .filter(|(_, (c, row))| c.mode == Mode::Slip && row.tangents.len() == 2 && row.mu > 0.0);
    slips.map(|(k, _)| k)
}

/// Slip at the start, along the tangents at the midpoint.
pub(super) fn start_slip(substep: &SubstepProblem, k: usize, v: &[f64]) -> Vector2<f64> {
    let slip = slip_velocity(&substep.start.contacts[k], &substep.layout.velocity, v);
    let directions = substep.middle.contacts[k].tangent_directions;
    Vector2::from_fn(|i, _| dot(slip, directions[i]))
}

/// Friction of a slipping mode over its bound.
fn slip_mode(mode: ContactMode) -> Vector2<f64> {
    mode.slip_direction().map_or_else(Vector2::zeros, Into::into)
}
