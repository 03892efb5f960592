//! What several modules use.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::{Scheme, Simulation, State, System, planar, spatial};

pub(crate) const G: f64 = 9.81;

/// A scheme by its name.
pub(crate) type Named = (&'static str, fn() -> Scheme);

/// The schemes that look ahead: the default and the two papers'.
pub(crate) const SCHEMES: [Named; 3] =
    [("default", Scheme::default), ("AH04", Scheme::ah04), ("ST00", Scheme::st00)];

pub(crate) fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A number between −size and size.
pub(crate) fn number(rng: &mut ChaCha8Rng, size: f64) -> f64 {
    rng.random_range(-size..size)
}

pub(crate) fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

pub(crate) fn in_plane(world: &planar::World, scheme: Scheme) -> Simulation<planar::Model> {
    let model = world.clone().build().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Simulation::new(model).with_scheme(scheme)
}

pub(crate) fn in_space(world: &spatial::World, scheme: Scheme) -> Simulation<spatial::Model> {
    let model = world.clone().build().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Simulation::new(model).with_scheme(scheme)
}

/// All bits of a state.
pub(crate) fn bits(state: &State) -> Vec<u64> {
    let State { t, q, v, memory } = state;
    [*t, memory.h].iter().chain(q).chain(v).map(|x| x.to_bits()).collect()
}

/// ½ vᵀMv.
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
