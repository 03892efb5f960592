//! Torsional friction, where reduction changes the result: the load of a spinning patch is at its corners, the longest
//! levers.

use crate::common::{G, HALF, in_space, slab, unreduced};
use nalgebra::{Isometry3, Vector3};
use stiction::Scheme;
use stiction::spatial::{Facets, Twist};

const FRICTION: f64 = 0.3;
/// Spin at the start [rad/s].
const SPIN: f64 = 4.0;
/// Deceleration of a slab of 1 m by 1 m by friction at the mean lever r, 6 μ g r [rad/s²]; its inertia is m/6.
const STOPPING: f64 = 6.0 * FRICTION * G;

/// Time [s] and angle [rad] until the spin of a slab ends, in steps of size h.
fn stop(scheme: Scheme, h: f64) -> (f64, f64) {
    let twist = Twist::new(Vector3::zeros(), Vector3::new(0.0, 0.0, SPIN));
    let mut world = slab(FRICTION, Isometry3::translation(0.0, 0.0, HALF), twist);
    // a polygon, so that Lemke's method solves the full problem
    world.facets = Some(Facets::default());
    let mut simulation = in_space(&world, scheme);
    let (mut angle, mut time) = (0.0, 0.0);
    let mut spin = SPIN;
    while spin > 1e-6 {
        simulation.step(h).unwrap_or_else(|error| panic!("{error}"));
        let next = simulation.state().v[5];
        angle += 0.5 * h * (spin + next);
        // it stops within the last step
        time += if next > 1e-6 { h } else { 0.0 };
        spin = next;
        assert!(simulation.state().t < 2.0, "it does not stop");
    }
    (time, angle)
}

fn assert_near(what: &str, (time, angle): (f64, f64), numbers: (f64, f64)) {
    // steps of 0.01 s, and two digits in the documentation
    assert!((time - numbers.0).abs() < 0.011, "{what}: {time} s");
    assert!((angle - numbers.1).abs() < 0.006, "{what}: {angle} rad");
}

/// Numbers of the documentation of `Reduction`. The spin of the full problem is not unique: any load with the right sum
/// and centre supports the slab, and each gives another torque. Lemke's method ends at four contacts of the middle tile.
#[test]
fn a_spinning_patch_is_loaded_at_its_corners() {
    let exact = |lever: f64| (SPIN / (STOPPING * lever), SPIN * SPIN / (2.0 * STOPPING * lever));
    // mean distance of the points of a unit square from its middle
    let uniform = (2.0_f64.sqrt() + 1.0_f64.asinh()) / 6.0;
    assert_near("uniform", exact(uniform), (0.59, 1.18));

    let reduced = stop(Scheme::default(), 0.01);
    assert_near("reduced", reduced, (0.32, 0.64));
    assert_near("reduced", reduced, exact(0.5_f64.sqrt()));

    let whole = stop(unreduced(Scheme::default()), 0.01);
    assert_near("whole", whole, (1.60, 3.20));
    assert_near("whole", whole, exact(HALF * 2.0_f64.sqrt()));
}
