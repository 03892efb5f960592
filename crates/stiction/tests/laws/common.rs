//! Helpers of the laws: schemes by name, random numbers, bits and energies of states.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::{Scheme, State, System};

pub(crate) use crate::shared::{G, in_plane, in_space};

/// Scheme with its name.
pub(crate) type Named = (&'static str, fn() -> Scheme);

/// Schemes that look ahead: the default, that of first order and those of two papers.
pub(crate) const SCHEMES: [Named; 4] = [
    ("default", Scheme::default),
    ("first order", Scheme::first_order),
    ("AH04", Scheme::ah04),
    ("ST00", Scheme::st00),
];

pub(crate) fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Random number between −size and size.
pub(crate) fn number(rng: &mut ChaCha8Rng, size: f64) -> f64 {
    rng.random_range(-size..size)
}

pub(crate) fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// All bits of a state.
pub(crate) fn bits(state: &State) -> Vec<u64> {
    let State { t, q, v, memory } = state;
    [*t, memory.h].iter().chain(q).chain(v).map(|x| x.to_bits()).collect()
}

/// Kinetic energy ½ vᵀMv [J].
pub(crate) fn kinetic<S: System>(system: &S, v: &[f64]) -> f64 {
    let mut start = 0;
    let mut energy = 0.0;
    for (i, &n) in system.bodies().iter().enumerate() {
        let (mass, v) = (system.mass(i), &v[start..start + n]);
        for r in 0..n {
            energy += 0.5 * v[r] * (0..n).map(|c| mass[(r, c)] * v[c]).sum::<f64>();
        }
        start += n;
    }
    energy
}
