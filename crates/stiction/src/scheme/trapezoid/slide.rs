//! Slip in space over a part: friction is against a slip that turns, and turns ever faster where slip comes to its end.

use super::Run;
use super::flow::{Flow, unsolved};
use super::frame::{contact, dot};
use crate::error::StepError;
use crate::scheme::Form;
use crate::state::{ActiveConstraint, Hold, State};
use crate::system::System;
use nalgebra::{Matrix2, Vector2};
use stiction_lcp::{Candidate, ContactMode};

/// Parts at least that a slide is followed in.
const PARTS: f64 = 16.0;

/// Slip changes by at most this part of itself between two looks at its direction. The error is its square over ten,
/// of a time within the step.
const FINE: f64 = 0.02;

/// Slip that has fallen to this part of what it could become in the whole part has come to its end.
const ENDED: f64 = 1e-12;

/// Slip that starts with less than this part of it is about to begin: the rest is round-off.
const BEGINS: f64 = 1e-9;

/// Looks at the direction of slip at most; a slide that ends takes ln(1/ENDED)/FINE.
const LOOKS: usize = 4000;

/// Slip of contacts over a part, in units of it: u' = end − start + Σ A (p − along), p against u.
#[derive(Debug, Default)]
struct Slide {
    /// Contacts of the frame.
    contacts: Vec<usize>,
    /// Slip at the start.
    start: Vec<Vector2<f64>>,
    /// Friction as the step has been solved with, in parts of its bound.
    along: Vec<Vector2<f64>>,
    /// Slip at the end with that.
    end: Vec<Vector2<f64>>,
    /// What friction of the second contact adds to the slip of the first.
    response: Vec<Vec<Matrix2<f64>>>,
}

impl Slide {
    /// Friction of each contact in the mean, and at the end.
    fn follow(&self) -> Vec<[Vector2<f64>; 2]> {
        let n = self.contacts.len();
        let mut slip = self.start.clone();
        let mut last = self.along.clone();
        let mut sum = vec![Vector2::zeros(); n];
        let mut ended = vec![false; n];
        let reach: Vec<f64> = (0..n).map(|i| self.start[i].norm() + self.response[i][i].norm()).collect();
        for (slip, _) in slip.iter_mut().zip(&reach).filter(|(slip, reach)| slip.norm() < BEGINS * **reach) {
            *slip = Vector2::zeros();
        }
        let mut left = 1.0;
        for look in 0..LOOKS {
            let fine = |i: usize| {
                let size = slip[i].norm();
                // a slide that begins has the direction that an implicit step finds
                let free = ended[i] || size == 0.0;
                if free { f64::INFINITY } else { FINE * size / self.response[i][i].norm() }
            };
            let step = (0..n).map(fine).fold(1.0 / PARTS, f64::min).min(left);
            let step = if look + 1 == LOOKS { left } else { step };
            for i in 0..n {
                let others = (0..n).filter(|&j| j != i);
                let pushed = others.map(|j| self.response[i][j] * (last[j] - self.along[j]));
                let own = self.response[i][i];
                let rate = self.end[i] - self.start[i] - own * self.along[i]
                    + pushed.fold(Vector2::zeros(), |a, b| a + b);
                if !ended[i] {
                    // w = u + (s/2)(rate + A p) with p = −w/|w|
                    let pulled = slip[i] + 0.5 * step * rate;
                    if let Some(direction) = against(&(0.5 * step * own), &pulled) {
                        last[i] = -direction;
                    } else if slip[i].norm() > 0.0 {
                        ended[i] = true;
                    }
                }
                let before = slip[i].norm();
                slip[i] += step * (rate + own * last[i]);
                sum[i] += step * last[i];
                ended[i] |= slip[i].norm() <= (ENDED * reach[i]).min(before);
            }
            left -= step;
            if left <= 0.0 {
                break;
            }
        }
        sum.into_iter().zip(last).map(|(mean, last)| [mean, last]).collect()
    }
}

/// The unit vector e with ρe + B e = z for a ρ ≥ 0, if there is one: |(ρ + B)⁻¹z| falls with ρ.
fn against(b: &Matrix2<f64>, z: &Vector2<f64>) -> Option<Vector2<f64>> {
    let inverse = |rho: f64| (Matrix2::identity() * rho + b).try_inverse();
    // ρ is at most |z| + |B|, at least |z| − |B|
    let mut high = z.norm() + b.norm();
    // B is singular where another contact that sticks leaves slip one direction only, and what round-off says of the
    // other one must not count: slip below this has come to its end
    let least = BEGINS * high;
    if !((inverse(least)? * z).norm() > 1.0) {
        return None;
    }
    let mut low = (z.norm() - b.norm()).max(least);
    let mut rho = z.norm();
    let mut e = Vector2::zeros();
    for _ in 0..60 {
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
        // Newton on 1/|e|, which is all but linear in ρ: d|e|/dρ = −e·(ρ + B)⁻¹e/|e|
        let next = rho + (size - 1.0) * size.powi(2) / e.dot(&(inverse * e));
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        if (next - rho).abs() <= 1e-15 * high {
            break;
        }
        rho = next;
    }
    Some(e.normalize()).filter(|e| e.norm() > 0.0)
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Whether anything slips in space, where its direction may turn.
    pub(super) fn slides(&self, active: &[ActiveConstraint]) -> bool {
        sliding(&self.workspace.flow, active).next().is_some()
    }

    /// Solves the assembled part again with the friction of a slip that turns on the way. Returns what bears with
    /// friction as it is at the end.
    pub(super) fn slide(
        &mut self,
        from: Option<&State>,
        active: &[ActiveConstraint],
        implicit: bool,
        candidate: Candidate,
    ) -> Result<(Candidate, Vec<ActiveConstraint>), StepError> {
        let mean = self.stage.settings.rows.friction == Form::Mean && !implicit;
        let state = from.unwrap_or(&self.now);
        let flow = &mut self.workspace.flow;
        let mut slide = Slide { contacts: sliding(flow, active).collect(), ..Slide::default() };
        let first = flow.places.first_contact;
        slide.start = slide.contacts.iter().map(|&k| start_slip(flow, k, &state.v)).collect();
        let ends = |flow: &Flow, slide: &Slide, v: &[f64]| -> Vec<Vector2<f64>> {
            let end = |(&k, start): (&usize, &Vector2<f64>)| {
                let tangents = &flow.problem.contacts[first + k].tangents;
                let u = Vector2::from_fn(|i, _| {
                    tangents[i].row.dot(&flow.layout.velocity, v) + tangents[i].offset
                });
                if mean { u - start } else { u }
            };
            slide.contacts.iter().zip(&slide.start).map(end).collect()
        };
        slide.along = slide.contacts.iter().map(|&k| mode(flow, first + k)).collect();
        slide.end = ends(flow, &slide, &candidate.velocity);
        flow.lcp.recycle_candidate(candidate);
        slide.response = vec![Vec::new(); slide.contacts.len()];

        // without friction at a contact, and with as much again across it
        for (j, &k) in slide.contacts.iter().enumerate() {
            let along = slide.along[j];
            let across = Vector2::new(-along.y, along.x);
            let mut columns = [Vec::new(), Vec::new()];
            for (column, tried) in columns.iter_mut().zip([Vector2::zeros(), along + across]) {
                flow.modes[first + k] = ContactMode::slip(tried.into());
                let other = solved(flow, state.t)?;
                *column = ends(flow, &slide, &other.velocity);
                flow.lcp.recycle_candidate(other);
            }
            flow.modes[first + k] = ContactMode::slip(along.into());
            // (along, across) is a rotation
            let back = Matrix2::from_columns(&[along, across]).transpose();
            for (i, response) in slide.response.iter_mut().enumerate() {
                let columns = [slide.end[i] - columns[0][i], columns[1][i] - slide.end[i]];
                response.push(Matrix2::from_columns(&columns) * back);
            }
        }

        let mut turned = active.to_vec();
        let followed = slide.follow();
        for (&k, [in_mean, last]) in slide.contacts.iter().zip(&followed) {
            flow.modes[first + k] = ContactMode::slip((*in_mean).into());
            let [x, y] = flow.middle.contacts[k].tangent_directions;
            let along = std::array::from_fn(|c| last.x * x[c] + last.y * y[c]);
            if let Some(b) = turned.iter_mut().filter(|b| contact(b).is_some()).nth(k) {
                b.hold = Hold::Slip(along);
            }
        }
        Ok((solved(flow, state.t)?, turned))
    }
}

fn solved(flow: &mut Flow, t: f64) -> Result<Candidate, StepError> {
    flow.solves += 1;
    let Flow { lcp, problem, modes, .. } = flow;
    lcp.solve_in_modes(problem, modes).map_err(|error| unsolved(t, error, problem))
}

/// Contacts of the frame that slip and have two tangents.
fn sliding<'a>(flow: &'a Flow, active: &'a [ActiveConstraint]) -> impl Iterator<Item = usize> + 'a {
    let contacts = active.iter().filter(|b| contact(b).is_some()).zip(&flow.middle.contacts);
    let slips = contacts
        .enumerate()
        .filter(|(_, (b, row))| b.hold != Hold::Stick && row.tangents.len() == 2 && row.mu > 0.0);
    slips.map(|(k, _)| k)
}

/// Slip at the start, along the tangents in the middle.
fn start_slip(flow: &Flow, k: usize, v: &[f64]) -> Vector2<f64> {
    let mut slip = [0.0; 3];
    let row = &flow.start.contacts[k];
    for (tangent, direction) in row.tangents.iter().zip(row.tangent_directions) {
        let u = tangent.row.dot(&flow.layout.velocity, v) + tangent.offset;
        (0..3).for_each(|i| slip[i] += u * direction[i]);
    }
    let directions = flow.middle.contacts[k].tangent_directions;
    Vector2::from_fn(|i, _| dot(slip, directions[i]))
}

fn mode(flow: &Flow, i: usize) -> Vector2<f64> {
    flow.modes[i].slip_direction().map_or_else(Vector2::zeros, Into::into)
}
