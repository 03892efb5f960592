//! Event-driven references, independent of the library: accelerations in given modes, integrated by the classical
//! Runge-Kutta method with an error of round-off, from root to root of the event functions.

use nalgebra::{DMatrix, DVector};

/// Step of the reference [s]: its error 1e-4⁴ is below the round-off of the comparison.
const STEP: f64 = 1e-4;

/// State at a time.
#[derive(Clone)]
pub(crate) struct At {
    pub t: f64,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
}

/// Constraint row N with N a = −rate, and the direction of its force.
pub(crate) struct Held {
    pub row: Vec<f64>,
    /// Rate (dN/dt) v.
    pub rate: f64,
    /// Generalized unit force: the row itself, plus friction if there is any.
    pub along: Vec<f64>,
}

impl Held {
    pub(crate) fn new(row: &[f64], rate: f64) -> Self {
        Self { row: row.to_vec(), rate, along: row.to_vec() }
    }

    /// Row with friction along another row.
    pub(crate) fn rubbing(row: &[f64], rate: f64, mu: f64, tangent: &[f64]) -> Self {
        let along = row.iter().zip(tangent).map(|(n, d)| n + mu * d).collect();
        Self { row: row.to_vec(), rate, along }
    }
}

/// Accelerations and forces: M a = k + G λ, R a = −rates.
pub(crate) fn held(mass: &[f64], k: &[f64], rows: &[Held]) -> (Vec<f64>, Vec<f64>) {
    let (n, m) = (mass.len(), rows.len());
    let mut matrix = DMatrix::zeros(n + m, n + m);
    let mut right = DVector::zeros(n + m);
    for i in 0..n {
        matrix[(i, i)] = mass[i];
        right[i] = k[i];
    }
    for (j, row) in rows.iter().enumerate() {
        for i in 0..n {
            matrix[(i, n + j)] = -row.along[i];
            matrix[(n + j, i)] = row.row[i];
        }
        right[n + j] = -row.rate;
    }
    let x = matrix.lu().solve(&right).expect("rows of a mechanism are independent");
    (x.as_slice()[..n].to_vec(), x.as_slice()[n..].to_vec())
}

/// Integrates through `modes` until a time. `motion` gives the acceleration in a mode and its event function. Returns the
/// end and the time at which each mode ended.
pub(crate) fn driven<M: Copy>(
    start: At,
    modes: &[M],
    until: f64,
    motion: impl Fn(&At, M) -> (Vec<f64>, f64),
) -> (At, Vec<f64>) {
    let mut now = start;
    let mut times = Vec::new();
    for &mode in modes {
        loop {
            if until - now.t < 1e-14 {
                return (now, times);
            }
            let size = STEP.min(until - now.t);
            let next = step(&now, size, |at| motion(at, mode).0);
            if motion(&next, mode).1 >= 0.0 {
                now = next;
                continue;
            }
            let (mut low, mut high) = (0.0, size);
            while high - low > 1e-17 {
                let middle = 0.5 * (low + high);
                if middle <= low || middle >= high {
                    break;
                }
                let there = step(&now, middle, |at| motion(at, mode).0);
                if motion(&there, mode).1 >= 0.0 { low = middle } else { high = middle }
            }
            now = step(&now, high, |at| motion(at, mode).0);
            times.push(now.t);
            break;
        }
    }
    (now, times)
}

fn step(at: &At, h: f64, a: impl Fn(&At) -> Vec<f64>) -> At {
    let slope = |at: &At| (at.v.clone(), a(at));
    let moved = |s: &(Vec<f64>, Vec<f64>), h: f64| At {
        t: at.t + h,
        q: at.q.iter().zip(&s.0).map(|(q, v)| q + h * v).collect(),
        v: at.v.iter().zip(&s.1).map(|(v, a)| v + h * a).collect(),
    };
    let one = slope(at);
    let two = slope(&moved(&one, 0.5 * h));
    let three = slope(&moved(&two, 0.5 * h));
    let four = slope(&moved(&three, h));
    let mean = |a: &[f64], b: &[f64], c: &[f64], d: &[f64]| -> Vec<f64> {
        (0..a.len()).map(|i| (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]) / 6.0).collect()
    };
    moved(&(mean(&one.0, &two.0, &three.0, &four.0), mean(&one.1, &two.1, &three.1, &four.1)), h)
}
