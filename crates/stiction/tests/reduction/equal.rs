//! Equal velocities of the reduced and the full problem.

use crate::common::{
    H, HALF, all_contacts, bar, in_plane, in_space, material, slab, sliding, step, tiled, unreduced,
};
use nalgebra::{Isometry3, Vector2, Vector3};
use stiction::spatial::{Attached, Body, Mass, Shape, Twist};
use stiction::{ContactRow, Forces, Level, Material, Scheme, Simulation, System, planar, spatial};
use stiction_lcp::{Body as Block, Contact, OffsetRow, Solver, StepProblem, certify, solve};

const SCHEMES: [fn() -> Scheme; 5] = [
    Scheme::default,
    Scheme::ah04,
    || Scheme::of(Level::Stabilized { gamma: 0.3, everywhere: false }),
    Scheme::st00,
    || Scheme::baumgarte(20.0),
];

/// Compares steps of the reduced scheme with those of the unreduced one from the same states; returns the number of
/// dropped contacts.
fn assert_equal<S: System>(
    mut reduced: Simulation<S>,
    mut whole: Simulation<S>,
    steps: usize,
    name: &str,
) -> usize {
    let scheme = reduced.scheme;
    whole.scheme = unreduced(scheme);
    let mut proven = 0;
    for n in 0..steps {
        whole.restore(reduced.state().clone());
        let other = step(&mut whole);
        let report = step(&mut reduced);
        proven += report.work.proven;
        assert_eq!(other.work.proven, 0);
        let (v, w) = (&reduced.state().v, &whole.state().v);
        let largest = v.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        let apart = v.iter().zip(w).map(|(v, w)| (v - w).abs()).fold(0.0, f64::max);
        // both certificates hold to 1e-10, and inertias are of the order of the masses
        assert!(apart < 1e-8 * largest, "{name}, {scheme:?}, step {n}: {apart}\n{v:?}\n{w:?}");
    }
    proven
}

fn assert_equal_in_space(world: &spatial::World, steps: usize, name: &str) {
    for scheme in SCHEMES {
        let (reduced, whole) = (in_space(world, scheme()), in_space(world, scheme()));
        let proven = assert_equal(reduced, whole, steps, name);
        assert!(proven > 0, "{name}: nothing was dropped");
    }
}

#[test]
fn resting_and_sliding() {
    for friction in [0.0, 0.3] {
        for velocity in [Vector3::zeros(), Vector3::new(1.0, 0.0, 0.0), Vector3::new(0.8, -0.5, 0.0)] {
            assert_equal_in_space(&sliding(friction, velocity), 10, "sliding");
        }
    }
}

#[test]
fn drops() {
    // flat on the floor with friction, at any angle without
    let velocity = Twist::new(Vector3::new(0.4, 0.1, -2.0), Vector3::zeros());
    assert_equal_in_space(&slab(0.3, Isometry3::translation(0.0, 0.0, 0.13), velocity), 10, "flat");
    let velocity = Twist::new(Vector3::new(0.4, 0.1, -2.0), Vector3::new(0.3, -0.2, 0.5));
    let pose = Isometry3::new(Vector3::new(0.0, 0.0, 0.16), Vector3::new(0.02, 0.05, 0.3));
    assert_equal_in_space(&slab(0.0, pose, velocity), 20, "tilted");
}

#[test]
fn bounces() {
    // restitution of the floor applies to both
    let material = Material { friction: 0.0, restitution: 0.5, ..Material::default() };
    let velocity = Twist::new(Vector3::new(0.4, 0.1, -2.0), Vector3::new(0.3, -0.2, 0.5));
    let pose = Isometry3::new(Vector3::new(0.0, 0.0, 0.16), Vector3::new(0.02, 0.05, 0.3));
    let mut world = crate::common::floor(0.0);
    world.add_body(tiled(material).at(pose).moving(velocity));
    assert_equal_in_space(&world, 20, "bouncing");
}

/// World in which a sliding box pushes the slab.
#[test]
fn pushes() {
    let mut world = sliding(0.3, Vector3::zeros());
    let shape = Attached::new(Shape::Cuboid { half_extents: [0.1; 3] }).material(material(0.3));
    let pusher = Body::rigid("pusher", Mass::Density(1000.0)).at(Isometry3::translation(-0.61, 0.0, HALF));
    world.add_body(pusher.moving(Twist::new(Vector3::new(2.0, 0.0, 0.0), Vector3::zeros())).with(shape));
    for scheme in [Scheme::default, Scheme::ah04] {
        let (reduced, whole) = (in_space(&world, scheme()), in_space(&world, scheme()));
        assert!(assert_equal(reduced, whole, 15, "pushed") > 0);
    }
}

#[test]
fn bars_in_the_plane() {
    let moves = [(0.0, planar::Twist::default()), (0.0, planar::Twist::new(Vector2::new(1.0, 0.0), 0.0))];
    for friction in [0.0, 0.3] {
        // the velocity of a bar that rotates and slides is not unique: friction acts at the height of each contact
        let spin = if friction > 0.0 { 0.0 } else { 0.3 };
        let fall = (0.05, planar::Twist::new(Vector2::new(0.5, -2.0), spin));
        for (height, velocity) in moves.into_iter().chain([fall]) {
            let world = bar(friction, height, velocity);
            for scheme in SCHEMES {
                let (reduced, whole) = (in_plane(&world, scheme()), in_plane(&world, scheme()));
                assert!(assert_equal(reduced, whole, 20, "bar") > 0);
            }
        }
    }
}

/// Step problem of these contacts with Δ = Φ/h.
fn problem(simulation: &Simulation<spatial::Model>, contacts: &[ContactRow]) -> StepProblem {
    let (system, state) = (simulation.system(), simulation.state());
    let mut forces = Forces::default();
    system.forces(state.t, &state.q, &state.v, &mut forces);
    let mass = system.mass(0);
    let momentum = nalgebra::Vector6::from_fn(|i, _| {
        (0..6).map(|k| mass[(i, k)] * state.v[k]).sum::<f64>() + H * forces.k[i]
    });
    let contact = |c: &ContactRow| Contact {
        normal: Some(OffsetRow { row: c.normal.clone(), offset: c.gap / H }),
        tangents: c.tangents.iter().cloned().collect(),
        set: c.set.clone(),
        mu: c.mu,
        kappa: 0.0,
        bound_by: None,
    };
    StepProblem {
        bodies: vec![Block { velocities: 6, mass, momentum }],
        contacts: contacts.iter().map(contact).collect(),
        speed_scale: system.gravity() * H,
        ..StepProblem::default()
    }
}

/// For any motion, the solution of the reduced problem with zero impulses at the dropped contacts is certified for the
/// full problem. This is more than equal velocities where those are not unique.
#[test]
fn a_solution_of_the_reduced_problem_solves_the_full_one() {
    for (linear, angular) in [
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([1.0, 0.3, -0.5], [0.0, 0.0, 0.0]),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 3.0]),
        ([0.5, -0.2, -0.1], [0.2, 0.1, -2.0]),
    ] {
        let twist = Twist::new(Vector3::from(linear), Vector3::from(angular));
        let world = slab(0.4, Isometry3::translation(0.0, 0.0, HALF), twist);
        let mut simulation = in_space(&world, Scheme { passes: 0, ..Scheme::first_order() });
        let before = simulation.clone();
        let report = step(&mut simulation);
        assert_eq!(report.work.proven, 96);
        // kept contacts first
        let mut rows = all_contacts(&before);
        rows.retain(|c| c.gap < 0.1);
        rows.sort_by_key(|c| report.dropped.iter().any(|d| d.contact == c.id));
        assert_eq!(rows.len(), 100);
        let reduced = solve(&problem(&before, &rows[..4]), &Solver::default(), None);
        let reduced = reduced.unwrap_or_else(|error| panic!("{error}"));
        let whole = problem(&before, &rows);
        let mut z = reduced.z().to_vec();
        z.resize(whole.layout().impulses, 0.0);
        let candidate = certify(&whole, &z).unwrap_or_else(|error| panic!("{error}"));
        let residual = candidate.certificate.worst();
        assert!(residual < 1e-9, "{linear:?}, {angular:?}: {residual}");
    }
}
