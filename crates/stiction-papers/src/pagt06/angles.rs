//! Double pendulum of PAGT06 §10.1 in angles, with its impacts: the reference for Table 10.1.

use super::double_pendulum::{ANGLES, RESTITUTION};
use super::extrapolation::{root, step};

/// Step of the reference [s]; its error is round-off.
const REFERENCE_STEP: f64 = 1.0 / 256.0;

/// Exact motion: final state, impacts and samples.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactPendulum {
    /// Final coordinates of both bobs [m].
    pub position: [f64; 4],
    /// Final velocities of both bobs [m/s].
    pub velocity: [f64; 4],
    /// Impacts: time [s], bob (1 or 2), and approach speed [m/s].
    pub impacts: Vec<(f64, u32, f64)>,
    /// Samples of x of both bobs at equidistant times [s, m].
    pub path: Vec<[f64; 3]>,
}

/// Derivatives θ' and θ'' of both rods from θ and θ', measured from straight down; unit lengths and masses.
pub fn field(gravity: f64, y: &[f64; 4]) -> [f64; 4] {
    let [a, b, u, w] = *y;
    let (sin, cos) = (a - b).sin_cos();
    let k = [-sin * w * w - 2.0 * gravity * a.sin(), sin * u * u - gravity * b.sin()];
    let [u_dot, w_dot] = divided_by_mass(cos, k);
    [u, w, u_dot, w_dot]
}

/// Solution M⁻¹k with M = [2 c; c 1].
fn divided_by_mass(cos: f64, k: [f64; 2]) -> [f64; 2] {
    let determinant = 2.0 - cos * cos;
    [(k[0] - cos * k[1]) / determinant, (2.0 * k[1] - cos * k[0]) / determinant]
}

/// Gap of a bob: its x [m].
fn gap(y: &[f64; 4], bob: usize) -> f64 {
    if bob == 0 { y[0].sin() } else { y[0].sin() + y[1].sin() }
}

/// Derivative ∂x/∂θ of a bob.
fn row(y: &[f64; 4], bob: usize) -> [f64; 2] {
    [y[0].cos(), if bob == 0 { 0.0 } else { y[1].cos() }]
}

/// Exact motion until a time [s].
pub fn exact(gravity: f64, until: f64) -> ExactPendulum {
    let field = |_: f64, y: &[f64; 4]| field(gravity, y);
    let mut y = [ANGLES[0], ANGLES[1], 0.0, 0.0];
    let mut t = 0.0;
    let mut impacts = Vec::new();
    let mut path = vec![[t, gap(&y, 0), gap(&y, 1)]];
    while t < until {
        let h = REFERENCE_STEP.min(until - t);
        let next = step(&field, t, &y, h);
        // the bob that reaches the wall first within this step
        let hit = |bob: usize| root(|x| gap(&step(&field, t, &y, x), bob), 0.0, h);
        let behind = [0, 1].into_iter().filter(|&bob| gap(&next, bob) < 0.0).map(|bob| (hit(bob), bob));
        if let Some((x, bob)) = behind.min_by(|a, b| a.0.total_cmp(&b.0)) {
            y = step(&field, t, &y, x);
            t += x;
            let normal = row(&y, bob);
            let speed = normal[0] * y[2] + normal[1] * y[3];
            let change = divided_by_mass((y[0] - y[1]).cos(), normal);
            let impulse = -(1.0 + RESTITUTION) * speed / (normal[0] * change[0] + normal[1] * change[1]);
            y[2] += impulse * change[0];
            y[3] += impulse * change[1];
            impacts.push((t, if bob == 0 { 1 } else { 2 }, -speed));
        } else {
            y = next;
            t += h;
        }
        path.push([t, gap(&y, 0), gap(&y, 1)]);
    }
    let (position, velocity) = cartesian(&y);
    ExactPendulum { position, velocity, impacts, path }
}

/// Coordinates and velocities of both bobs.
pub fn cartesian(y: &[f64; 4]) -> ([f64; 4], [f64; 4]) {
    let [(sin, cos), (sine, cosine)] = [y[0].sin_cos(), y[1].sin_cos()];
    let position = [sin, -cos, sin + sine, -cos - cosine];
    let (first, second) = ([cos * y[2], sin * y[2]], [cosine * y[3], sine * y[3]]);
    (position, [first[0], first[1], first[0] + second[0], first[1] + second[1]])
}
