//! Advice of `compare`: for each size of error the cheapest scheme and step, from the measured runs.

use super::ComparisonRow;
use crate::residual;
use serde::Serialize;
use std::fmt::Write;

/// Least and greatest observed order from which smaller steps are extrapolated. Outside errors do not follow the step.
const EXTRAPOLATED_ORDERS: [f64; 2] = [0.7, 5.0];

/// Steps are extrapolated down to this part of the smallest measured one: further the order may be another.
const SMALLEST_EXTRAPOLATION: f64 = 1e-2;

/// Number of errors for which there is advice at most, one decade apart.
const MAX_ADVICE: usize = 8;

/// Cheapest scheme and step for an error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Advice {
    /// Largest error [m].
    pub(super) error: f64,
    pub(super) scheme: String,
    /// Step size [s].
    pub(super) h: f64,
    /// Error with this step [m].
    pub(super) expected: f64,
    /// CPU time per simulated second [s].
    pub(super) cost: f64,
    /// Step and error follow from the order of the measured runs; `false` for a measured run.
    pub(super) extrapolated: bool,
}

/// Advice for errors from the largest measured one down, by decades: as far as some scheme reaches, and as the `reference`
/// with this error [m] can tell. `duration` is the simulated time [s].
pub(super) fn advice(runs: &[ComparisonRow], duration: f64, reference: f64) -> Vec<Advice> {
    let errors = || runs.iter().filter_map(|row| row.error).filter(|e| e.is_finite() && *e > 0.0);
    let largest = errors().fold(0.0, f64::max);
    if !(largest > 0.0) {
        return Vec::new();
    }
    let first = largest.log10().ceil();
    let mut names: Vec<&str> = runs.iter().map(|row| row.scheme.as_str()).collect();
    names.dedup();
    let mut advice: Vec<Advice> = Vec::new();
    for power in 0..MAX_ADVICE {
        let error = 10f64.powf(first - power as f64);
        if error < reference {
            break;
        }
        let own = |name: &&str| {
            let rows: Vec<&ComparisonRow> = runs.iter().filter(|row| row.scheme == **name).collect();
            for_scheme(&rows, error, duration)
        };
        let best = names.iter().filter_map(own).min_by(|a, b| a.cost.total_cmp(&b.cost));
        let Some(best) = best else { break };
        advice.push(best);
    }
    advice
}

/// Largest step of one scheme with at most this error: measured, or by the order of its smallest steps. `rows` are in the
/// order of descending steps.
fn for_scheme(rows: &[&ComparisonRow], error: f64, duration: f64) -> Option<Advice> {
    // a larger step that is accurate by chance is no advice
    let reaches = |row: &&&ComparisonRow| row.error.is_some_and(|e| e <= error);
    let measured = rows.iter().rev().take_while(reaches).last();
    let of = |row: &ComparisonRow, h: f64, expected: f64, extrapolated: bool| Advice {
        error,
        scheme: row.scheme.clone(),
        h,
        expected,
        cost: row.cpu_time / duration * row.h / h,
        extrapolated,
    };
    if let Some(row) = measured {
        return Some(of(row, row.h, row.error?, false));
    }
    let last = rows.last()?;
    let [least, most] = EXTRAPOLATED_ORDERS;
    let order = last.order.filter(|order| (least..=most).contains(order))?;
    let part = (error / last.error?).powf(1.0 / order);
    (part >= SMALLEST_EXTRAPOLATION).then(|| of(last, part * last.h, error, true))
}

/// Table of the advice.
pub(super) fn text(advice: &[Advice]) -> String {
    let mut text = String::new();
    if advice.is_empty() {
        return text;
    }
    let wide = advice.iter().map(|a| a.scheme.chars().count()).max().unwrap_or(0).max(6);
    let _ = writeln!(text, "\nWhich scheme to take, and what error to expect:\n");
    let _ = writeln!(
        text,
        "  {:>15}  {:<wide$}{:>11}{:>20}{:>24}",
        "error up to [m]", "scheme", "h [s]", "expected error [m]", "CPU time per second [s]"
    );
    for Advice { error, scheme, h, expected, cost, extrapolated } in advice {
        let about = if *extrapolated { "by the order" } else { "measured" };
        let (error, expected, cost) = (residual(*error), residual(*expected), residual(*cost));
        let h = if *extrapolated { residual(*h) } else { h.to_string() };
        let _ = writeln!(text, "  {error:>15}  {scheme:<wide$}{h:>11}{expected:>20}{cost:>24}  {about}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of a scheme with error c hᵖ and a cost per step, at the given steps, over 1 s.
    fn runs(scheme: &str, (c, order): (f64, f64), cost: f64, steps: &[f64]) -> Vec<ComparisonRow> {
        let mut rows: Vec<ComparisonRow> = Vec::new();
        for &h in steps {
            let error = c * h.powf(order);
            let order = rows.last().map(|_| order);
            rows.push(ComparisonRow {
                scheme: scheme.to_string(),
                h,
                steps: 0,
                problems: 0,
                cpu_time: cost / h,
                error: Some(error),
                order,
                infeasibility: 0.0,
                certificate: 0.0,
                failed: None,
            });
        }
        rows
    }

    #[test]
    fn advice_is_the_cheapest_step_with_the_error() {
        // first order with 1 h at 10 µs a step; second order with 1 h² at 100 µs a step
        let steps = [0.1, 0.05, 0.025];
        let all = [runs("one", (1.0, 1.0), 1e-5, &steps), runs("two", (1.0, 2.0), 1e-4, &steps)].concat();
        let advice = advice(&all, 1.0, 1e-9);
        let shown: Vec<_> = advice.iter().map(|a| (a.scheme.as_str(), a.extrapolated)).collect();
        // 0.1: both with their largest step. 0.01: 100 steps of the first cost 1 ms, 10 of the second 1 ms; round-off decides
        assert_eq!(shown[0], ("one", false));
        assert_eq!((advice[0].h, advice[0].cost), (0.1, 1e-5 / 0.1));
        // 1e-3: the first needs 1000 steps for 10 ms, the second 31.6 for 3.2 ms, measured at 0.025 for 4 ms
        assert_eq!(shown[2], ("two", false));
        assert_eq!((advice[2].h, advice[2].expected), (0.025, 0.025 * 0.025));
        // 1e-4: 0.01 by the order
        assert_eq!(shown[3], ("two", true));
        assert!((advice[3].h - 0.01).abs() < 1e-12 && (advice[3].cost - 1e-2).abs() < 1e-12);
        // down to 1e-2 of the smallest step: 0.00025² = 6.25e-8
        assert_eq!(advice.len(), 7);
        assert!(text(&advice).lines().count() == 11, "{}", text(&advice));
    }

    #[test]
    fn errors_that_do_not_follow_the_step_are_not_extrapolated() {
        let mut rows = runs("one", (1.0, 1.0), 1e-5, &[0.1, 0.05]);
        rows[1].order = Some(0.1);
        let own = advice(&rows, 1.0, 0.0);
        assert_eq!(own.iter().map(|a| a.h).collect::<Vec<_>>(), [0.1]);
        // an error at a large step that is small by chance
        let mut rows = runs("one", (1.0, 1.0), 1e-5, &[0.1, 0.05, 0.025]);
        rows[0].error = Some(1e-3);
        assert_eq!(advice(&rows, 1.0, 0.0)[0].h, 0.1);
        assert_eq!(advice(&rows, 1.0, 0.0)[1].error, 0.01);
        assert!(advice(&rows, 1.0, 0.0)[1].extrapolated);
        // nothing below what the reference tells
        assert_eq!(advice(&rows, 1.0, 0.02).len(), 1);
        assert!(advice(&[], 1.0, 0.0).is_empty());
    }
}
