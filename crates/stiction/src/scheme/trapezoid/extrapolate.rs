//! The explicit midpoint rule on the accelerations, extrapolated to order eight (Gragg, Bulirsch and Stoer): for the
//! tightest tolerances.

use super::Run;
use super::attempt::Attempt;
use super::explicit::Rates;
use crate::error::StepError;
use crate::report::Combination;
use crate::state::State;
use crate::system::System;

/// Midpoint steps of each row of the table.
const COUNTS: [u32; 4] = [2, 4, 6, 8];

impl<S: System + ?Sized> Run<'_, S> {
    /// A step of size `x`, projected, with the estimate of its error.
    pub(super) fn extrapolated(&mut self, x: f64) -> Result<Attempt, StepError> {
        let start = self.now.clone();
        let mut seen = Vec::new();
        let made = table(&start, x, |at| self.rates(at, &mut seen))?;
        self.land_explicit((x, Combination::Extrapolation), made, seen)
    }
}

/// The end of a step of size `x`, and the estimate of its error: the difference to what the table gives with one column
/// less. From the rates at the states it asks for.
pub(super) fn table<E>(
    start: &State,
    x: f64,
    mut rates: impl FnMut(&State) -> Result<Rates, E>,
) -> Result<(State, f64), E> {
    let first = rates(start)?;
    let mut table: Vec<Vec<f64>> = Vec::new();
    let mut error: f64 = 0.0;
    for (row, &count) in COUNTS.iter().enumerate() {
        let mut entry = midpoints(start, &first, (x, count), &mut rates)?;
        // Aitken and Neville in (x/n)²: `table` holds the row before, column by column
        let mut next = Vec::with_capacity(row + 1);
        for column in 0..row {
            let ratio = f64::from(count) / f64::from(COUNTS[row - column - 1]);
            let weight = 1.0 / (ratio * ratio - 1.0);
            let better: Vec<f64> =
                entry.iter().zip(&table[column]).map(|(new, old)| new + weight * (new - old)).collect();
            if row == COUNTS.len() - 1 && column == row - 1 {
                error = better.iter().zip(&entry).fold(0.0, |m, (a, b)| m.max((a - b).abs()));
            }
            next.push(std::mem::replace(&mut entry, better));
        }
        next.push(entry);
        table = next;
    }
    let mut end = start.clone();
    end.t = start.t + x;
    let best = table.pop().unwrap_or_default();
    let (q, v) = best.split_at(start.q.len());
    end.q.copy_from_slice(q);
    end.v.copy_from_slice(v);
    Ok((end, error))
}

/// `count` steps of the midpoint rule, an even number: the end as one vector of q and v.
fn midpoints<E>(
    start: &State,
    first: &Rates,
    (x, count): (f64, u32),
    rates_at: &mut impl FnMut(&State) -> Result<Rates, E>,
) -> Result<Vec<f64>, E> {
    let h = x / f64::from(count);
    let mut before = start.clone();
    let mut at = start.clone();
    add(&mut at, h, first);
    for k in 1..count {
        at.t = start.t + f64::from(k) * h;
        let rates = rates_at(&at)?;
        add(&mut before, 2.0 * h, &rates);
        std::mem::swap(&mut before, &mut at);
    }
    let mut end = at.q;
    end.extend_from_slice(&at.v);
    Ok(end)
}

fn add(state: &mut State, h: f64, [q, v]: &Rates) {
    state.q.iter_mut().zip(q).for_each(|(x, rate)| *x += h * rate);
    state.v.iter_mut().zip(v).for_each(|(x, rate)| *x += h * rate);
}
