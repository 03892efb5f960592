//! Helpers that several test folders share: simulations of worlds, and layouts of velocities.
#![allow(dead_code, reason = "each folder uses some of them")]

use stiction::{Scheme, Simulation, System, planar, spatial};

/// Standard gravity of the tests [m/s²].
pub(crate) const G: f64 = 9.81;

/// Simulation of a planar world.
pub(crate) fn in_plane(world: &planar::World, scheme: Scheme) -> Simulation<planar::Model> {
    let model = world.clone().build().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Simulation::new(model).with_scheme(scheme)
}

/// Simulation of a spatial world.
pub(crate) fn in_space(world: &spatial::World, scheme: Scheme) -> Simulation<spatial::Model> {
    let model = world.clone().build().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Simulation::new(model).with_scheme(scheme)
}

/// Index of the first velocity of each body, and the number of velocities.
pub(crate) fn starts<S: System>(system: &S) -> Vec<usize> {
    let mut starts = vec![0];
    for n in system.bodies() {
        starts.push(starts[starts.len() - 1] + n);
    }
    starts
}
