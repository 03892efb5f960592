//! Roots and interpolation: Brent's method, and cubics through both ends of a step.

use super::constants::{MAX_ROOT_ITERATIONS, ROOT_TOLERANCE};
use crate::error::StepError;
use crate::state::State;
use crate::system::System;

/// Minimum of the cubic with these values and slopes at 0 and `size`, if it is inside: its place and value.
pub(super) fn cubic_minimum([a, b]: [f64; 2], [u, w]: [f64; 2], size: f64) -> Option<(f64, f64)> {
    if !(u < 0.0 && w > 0.0) {
        return None;
    }
    // p(s) = a + U s + (3d − 2U − W) s² + (U + W − 2d) s³, d = b − a
    let (du, dw, d) = (u * size, w * size, b - a);
    let (c2, c3) = (3.0 * d - 2.0 * du - dw, du + dw - 2.0 * d);
    // p' = U + 2 c2 s + 3 c3 s² changes from negative to positive: the root between is the minimum
    let discriminant = (c2 * c2 - 3.0 * c3 * du).max(0.0).sqrt();
    let s = -du / (c2 + discriminant);
    let s = if s > 0.0 && s < 1.0 { s } else { return None };
    Some((s * size, a + s * (du + s * (c2 + s * c3))))
}

/// State at time `x` after the start, on the cubic through both ends of a step of size `h`. PAGT06 (7.3)
pub(super) fn interpolate<S: System + ?Sized>(
    system: &S,
    start: &State,
    end: &State,
    h: f64,
    x: f64,
) -> State {
    let s = x / h;
    // the rate of the displacement is v at the start, v⁺ at the end and (v + v⁺)/2 in the mean: the cubic term
    // vanishes, and the rate is linear
    let mean: Vec<f64> = start.v.iter().zip(&end.v).map(|(a, b)| a + 0.5 * s * (b - a)).collect();
    let mut at = start.clone();
    at.t = start.t + x;
    system.advance(&mut at.q, &mean, x);
    at.v.clear();
    at.v.extend(start.v.iter().zip(&end.v).map(|(a, b)| a + s * (b - a)));
    at
}

/// Root of a function that is positive at `low` and negative at `high`, by Brent's method: to a value of at most
/// `least`, or to the round-off of its place.
pub(super) fn brent(
    f: &mut impl FnMut(f64) -> Result<f64, StepError>,
    (low, at_low): (f64, f64),
    (high, at_high): (f64, f64),
    least: f64,
) -> Result<f64, StepError> {
    let (mut a, mut fa) = (low, at_low);
    let (mut b, mut fb) = (high, at_high);
    if fb >= 0.0 {
        return Ok(high);
    }
    let (mut c, mut fc) = (a, fa);
    let mut step = b - a;
    let mut last = step;
    for _ in 0..MAX_ROOT_ITERATIONS {
        if (fb > 0.0) == (fc > 0.0) {
            (c, fc) = (a, fa);
            step = b - a;
            last = step;
        }
        if fc.abs() < fb.abs() {
            (a, b, c) = (b, c, b);
            (fa, fb, fc) = (fb, fc, fb);
        }
        let tolerance = ROOT_TOLERANCE * b.abs().max(high);
        let half = 0.5 * (c - b);
        if half.abs() <= tolerance || fb.abs() <= least {
            break;
        }
        if last.abs() >= tolerance && fa.abs() > fb.abs() {
            let s = fb / fa;
            let (mut p, mut q);
            if a == c {
                (p, q) = (2.0 * half * s, 1.0 - s);
            } else {
                let (x, y) = (fa / fc, fb / fc);
                p = s * (2.0 * half * x * (x - y) - (b - a) * (y - 1.0));
                q = (x - 1.0) * (y - 1.0) * (s - 1.0);
            }
            if p > 0.0 {
                q = -q;
            }
            p = p.abs();
            if 2.0 * p < (3.0 * half * q - (tolerance * q).abs()).min((last * q).abs()) {
                last = step;
                step = p / q;
            } else {
                (step, last) = (half, half);
            }
        } else {
            (step, last) = (half, half);
        }
        (a, fa) = (b, fb);
        b += if step.abs() > tolerance { step } else { tolerance.copysign(half) };
        fb = f(b)?;
    }
    Ok(b)
}
