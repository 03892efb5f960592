//! Parity of plane and space: a planar scene moves in space as it does in the plane.

use crate::common::{SCHEMES, in_plane, in_space, largest, random};
use crate::planes::{self, Scene};
use crate::twins::{Apart, laid, laid_state};
use stiction::spatial::Facets;
use stiction::{Scheme, Simulation, StepReport, System, planar, spatial};

const STATES: usize = 1000;

/// Friction facets with directions in the plane: fixed, and aligned with the slip.
const FACETS: [Option<Facets>; 3] =
    [Some(Facets { directions: 4, aligned: false }), Some(Facets { directions: 8, aligned: true }), None];

fn twin(world: &planar::World, facets: Option<Facets>, scheme: Scheme) -> Simulation<spatial::Model> {
    in_space(&laid(world, facets), scheme)
}

/// Counts of compared states of a scene.
#[derive(Debug, Default)]
struct Count {
    /// States with equal velocities.
    same: usize,
    /// States with contacts among them.
    touching: usize,
    /// States whose spatial solution leaves the plane; its mirror image is another solution.
    several: usize,
    /// States with other velocities in the plane, under the default.
    apart: usize,
    /// Largest differences, of velocities relative to the largest speed.
    worst: Apart,
}

/// `true` when a box stands on two corners that do not slip equally: one sticks, or nearly. In space each of them is two
/// corners, and the box may rotate about any of the four within the bounds of friction: velocities are not unique.
fn may_turn(report: &StepReport) -> bool {
    let pushed = || report.contacts.iter().filter(|c| c.normal_impulse > 0.0);
    let unlike = |a: [f64; 3], b: [f64; 3]| (0..3).any(|i| a[i] != b[i]);
    pushed().any(|a| pushed().any(|b| a.id.pair == b.id.pair && unlike(a.slip, b.slip)))
}

fn compare(scene: &Scene, scheme: Scheme) -> Count {
    let h = 0.01;
    // pivoting methods solve to round-off, so that differences do not come from the tolerance
    let scheme = Scheme { solver: Scheme::ah04().solver, ..scheme };
    let mut rng = random(1);
    let mut plane = in_plane(&scene.world, scheme);
    let mut twins = FACETS.map(|facets| twin(&scene.world, facets, scheme));
    let mut count = Count::default();
    let (mut flat, mut full) = (StepReport::default(), StepReport::default());
    for k in 0..STATES {
        let mut state = plane.system().state();
        (scene.scatter)(&mut rng, plane.system(), &mut state);
        let space = &mut twins[k % 2];
        space.restore(laid_state(plane.system(), space.system(), &state));
        plane.restore(state.clone());
        plane.step_into(h, &mut flat).unwrap_or_else(|e| panic!("{} {k} in the plane: {e}", scene.name));
        space.step_into(h, &mut full).unwrap_or_else(|e| panic!("{} {k} in space: {e}", scene.name));

        let speed = largest(&state.v).max(largest(&plane.state().v)).max(plane.system().gravity() * h);
        let apart = Apart::of(plane.system(), space.system(), plane.state(), space.state());
        let relative = Apart { in_plane: apart.in_plane / speed, across: apart.across / speed, ..apart };
        // impulses of a polygon are not unique, and those of impacts are displacements too
        let displaced = scheme.level == stiction::Level::Timed && !flat.events.is_empty();
        // the scene is its own mirror image, so the mirror image of a solution that leaves the plane is another
        if relative.across > 1e-11 {
            assert!(displaced || may_turn(&flat), "{} {k} leaves the plane: {relative:?}", scene.name);
            assert!(flat.certificate.worst() <= 1e-10 && full.certificate.worst() <= 1e-10);
            count.several += 1;
            continue;
        }
        // of the slide under the default one state in a thousand differs: see `one_step_is_the_same_in_space`
        if scheme.level == stiction::Level::Timed && relative.in_plane > 1e-11 {
            println!("{} {k}: {relative:?}", scene.name);
            count.apart += 1;
            continue;
        }
        // round-off of solves with condition numbers up to 1e4
        assert!(relative.in_plane <= 1e-11, "{} {k}: {relative:?}", scene.name);
        // passes of post-stabilization end at 1e-12 of the size of a body
        assert!(displaced || apart.position <= 1e-10, "{} {k}: {apart:?}", scene.name);
        count.touching += usize::from(flat.contacts.iter().any(|c| c.normal_impulse > 0.0));
        count.same += 1;
        count.worst = count.worst.max(relative);
    }
    count
}

#[test]
fn one_step_is_the_same_in_space() {
    for scene in planes::all() {
        for (name, scheme) in SCHEMES {
            let count = compare(&scene, scheme());
            let Count { same, touching, several, apart, worst: Apart { in_plane, across, position } } = count;
            println!(
                "{:>12} {name:>8}: {same} the same to {in_plane:.0e}, {across:.0e} across, {position:.0e} m, \
                 {touching} touching; {several} with several answers",
                scene.name
            );
            // only boxes have pairs of corners to rotate about
            let boxes = ["box", "room"].contains(&scene.name);
            assert!(several <= if boxes { STATES / 10 } else { 0 }, "{count:?}");
            // the slide has a spring that is stiff for the step, and limits: known to differ in one state
            assert!(apart <= if (scene.name, name) == ("slide", "default") { 2 } else { 0 }, "{count:?}");
            let contacts = ["pendulum", "chain", "driven chain", "slide"].iter().all(|n| *n != scene.name);
            assert!(touching >= if contacts { STATES / 4 } else { 0 }, "{}: {touching}", scene.name);
        }
    }
}

#[test]
fn gravity_out_of_the_plane_is_found() {
    // negative control
    let scene = planes::rod();
    let plane = in_plane(&scene.world, Scheme::default());
    let mut world = laid(&scene.world, FACETS[0]);
    world.gravity.y = 1e-9;
    let mut space = in_space(&world, Scheme::default());
    space.step(0.01).unwrap();
    let apart = Apart::of(plane.system(), space.system(), plane.state(), space.state());
    assert!((apart.across - 1e-11).abs() < 1e-20, "{apart:?}");
}

#[test]
fn one_second_is_the_same_in_space() {
    let scenes =
        [planes::pendulum(), planes::chain(), planes::rod(), planes::ellipse(), planes::sliding_box()];
    for scene in scenes {
        for (name, scheme) in SCHEMES {
            for facets in FACETS {
                let mut plane = in_plane(&scene.world, scheme());
                let mut space = twin(&scene.world, facets, scheme());
                let mut worst = Apart::default();
                for k in 0..100 {
                    plane.step(0.01).unwrap_or_else(|e| panic!("{} {k}: {e}", scene.name));
                    space.step(0.01).unwrap_or_else(|e| panic!("{} {k} in space: {e}", scene.name));
                    let apart = Apart::of(plane.system(), space.system(), plane.state(), space.state());
                    worst = worst.max(apart);
                    assert!(apart.position <= 1e-9, "{} {name}, step {k}: {apart:?}", scene.name);
                }
                println!("{:>12} {name:>8}: positions the same to {:.0e} m", scene.name, worst.position);
            }
        }
    }
}
