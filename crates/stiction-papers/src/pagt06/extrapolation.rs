//! Reference solutions by an explicit method that is independent of the tested scheme.
//!
//! Gragg's modified midpoint rule, extrapolated: with N sequences of 2, 4, …, 2N substeps the order is 2N. A step may
//! have any size, so that a step can end at an event.

/// Number of sequences of substeps: order 16.
const SEQUENCES: usize = 8;

/// Vector field: derivative of the state from time and state.
pub type Field<'a, const N: usize> = dyn Fn(f64, &[f64; N]) -> [f64; N] + 'a;

/// One step of size `h` from (t, y).
pub fn step<const N: usize>(field: &Field<N>, t: f64, y: &[f64; N], h: f64) -> [f64; N] {
    let along = |y: &[f64; N], s: f64, f: &[f64; N]| std::array::from_fn(|i| y[i] + s * f[i]);
    let start = field(t, y);
    let mut row: Vec<[f64; N]> = Vec::with_capacity(SEQUENCES);
    for j in 1..=SEQUENCES {
        let count = 2 * j;
        let s = h / count as f64;
        // modified midpoint rule, with Gragg's smoothing at the end
        let (mut before, mut now) = (*y, along(y, s, &start));
        for k in 1..count {
            let next = along(&before, 2.0 * s, &field(t + k as f64 * s, &now));
            (before, now) = (now, next);
        }
        let last = field(t + h, &now);
        let mut best = std::array::from_fn(|i| 0.5 * (before[i] + now[i] + s * last[i]));
        // the error is a series in s²: the Aitken–Neville scheme extrapolates to s = 0
        for k in 1..j {
            let factor = (j as f64 / (j - k) as f64).powi(2) - 1.0;
            let coarser = std::mem::replace(&mut row[k - 1], best);
            best = std::array::from_fn(|i| best[i] + (best[i] - coarser[i]) / factor);
        }
        row.push(best);
    }
    row[SEQUENCES - 1]
}

/// Integrates from (t, y) to `until` in steps of at most `h`.
pub fn integrate<const N: usize>(field: &Field<N>, t: f64, mut y: [f64; N], until: f64, h: f64) -> [f64; N] {
    let steps = ((until - t) / h).ceil();
    let size = (until - t) / steps;
    let mut k = 0.0;
    while k < steps {
        y = step(field, t + k * size, &y, size);
        k += 1.0;
    }
    y
}

/// Root in [low, high] of a function that is positive at `low` and not at `high`, by bisection to the last bit.
pub fn root(function: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        if function(middle) > 0.0 { low = middle } else { high = middle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// q'' = −q − q' /5 + cos t has a closed form; round-off of some hundred steps is left.
    #[test]
    fn a_forced_oscillator_is_exact() {
        let field = |t: f64, y: &[f64; 2]| [y[1], -y[0] - 0.2 * y[1] + t.cos()];
        // the forced part is 5 sin t; the free one e^(−t/10) (cos ωt + c sin ωt) with q(0) = 1, q'(0) = 0
        let exact = |t: f64| {
            let w = 0.99_f64.sqrt();
            5.0 * t.sin() + (-0.1 * t).exp() * ((w * t).cos() - 4.9 / w * (w * t).sin())
        };
        let y = integrate(&field, 0.0, [1.0, 0.0], 7.3, 1.0 / 16.0);
        assert!((y[0] - exact(7.3)).abs() < 1e-12, "{} instead of {}", y[0], exact(7.3));
    }

    /// With steps of size 1 and more the error falls by 2¹⁶ when they are halved.
    #[test]
    fn the_order_is_sixteen() {
        let field = |t: f64, y: &[f64; 1]| [y[0] * t.cos()];
        let error = |h: f64| (integrate(&field, 0.0, [1.0], 8.0, h)[0] - 8.0_f64.sin().exp()).abs();
        let order = (error(4.0) / error(2.0)).log2();
        assert!(order > 14.0, "{order}");
        assert!(error(0.5) < 1e-13);
    }

    #[test]
    fn a_root_is_found_to_the_last_bit() {
        let found = root(|x| 2.0 - x * x, 1.0, 2.0);
        assert!((found - 2.0_f64.sqrt()).abs() <= f64::EPSILON);
    }
}
