//! Contract of a gap over random poses, in the plane and in space.

use nalgebra::{AbstractRotation, Translation};
use rand::RngExt;
use stiction_geometry::Gap;

use crate::dimension::{Dimension, Plane, PoseIn, Space, moved, near, pairs, unit, velocity};
use crate::scenes::rng;

/// Feature identifier after exchanging a and b: the halves are swapped for two shapes of one kind.
fn mirrored<S: Dimension<D>, const D: usize>(feature: u32, a: &S::Shape, b: &S::Shape) -> u32 {
    if S::kind(a) == S::kind(b) { feature.rotate_left(16) } else { feature }
}

/// Calls `check` with every pair and random poses within a spread [m].
fn for_random_poses<S: Dimension<D>, const D: usize>(
    seed: u64,
    count: usize,
    spread: f64,
    mut check: impl FnMut((&S::Shape, &PoseIn<S, D>), (&S::Shape, &PoseIn<S, D>)),
) {
    let mut rng = rng(seed);
    for (a, b) in pairs::<S, D>() {
        for _ in 0..count {
            let (p, q) = (S::pose(&mut rng, spread), S::pose(&mut rng, spread));
            check((&a, &p), (&b, &q));
        }
    }
}

/// Every gap of `found` is in `expected`, whatever the order.
fn assert_same<const D: usize>(found: &[Gap<D>], expected: &[Gap<D>], of: impl std::fmt::Debug) {
    // deeper than most shapes are thick there are several ways out, and round-off chooses
    if D == 3 && found.iter().chain(expected).any(|g| g.gap < -0.3) {
        return;
    }
    assert_eq!(found.len(), expected.len(), "{found:?}\n{expected:?}\n{of:?}");
    // crossing capsules in space find their points with the inverse sine of their angle
    let tolerance = if D == 2 { 1e-11 } else { 1e-10 };
    for g in found {
        let same = expected.iter().any(|k| {
            (k.gap - g.gap).abs() < 1e-12
                && (k.normal - g.normal).norm() < tolerance
                && (k.on_a - g.on_a).norm() < tolerance
                && (k.on_b - g.on_b).norm() < tolerance
                && k.feature == g.feature
        });
        assert!(same, "{g:?}\n{expected:?}\n{of:?}");
    }
}

/// Difference quotients of the gap are its row, to `tolerance`. Features may change at `allowed` steps, or at one
/// per mille.
fn check_rows<S: Dimension<D>, const D: usize>(seed: u64, tolerance: f64, allowed: usize) {
    let h = 1e-6;
    let mut rng = rng(seed);
    for (a, b) in pairs::<S, D>() {
        let (mut checked, mut changed) = (0, 0);
        for _ in 0..S::poses(&a, &b) {
            let poses = [S::pose(&mut rng, 0.8), S::pose(&mut rng, 0.8)];
            for g in near::<S, D>((&a, &poses[0]), (&b, &poses[1])) {
                // Φ''' grows as the inverse square of the core distance
                if (g.gap + S::radius(&a) + S::radius(&b)).abs() < 0.02 {
                    continue;
                }
                for (body, direction) in (0..2).flat_map(|k| (0..S::DIRECTIONS).map(move |d| (k, d))) {
                    let at = |step: f64| {
                        let mut q = poses;
                        q[body] = moved::<S, D>(&q[body], direction, step);
                        let near = near::<S, D>((&a, &q[0]), (&b, &q[1]));
                        near.into_iter().find(|k| k.feature == g.feature).map(|k| k.gap)
                    };
                    let (Some(plus), Some(minus)) = (at(h), at(-h)) else {
                        changed += 1;
                        continue;
                    };
                    let mut difference = (plus - minus) / (2.0 * h);
                    let (sign, p) = if body == 0 { (-1.0, g.on_a) } else { (1.0, g.on_b) };
                    let row = sign * g.normal.dot(&velocity::<S, D>(&poses[body], direction, &p));
                    // a rim whose face the normal is nearly across turns fast: smaller steps, round-off 3e-9
                    if (difference - row).abs() > tolerance
                        && let (Some(plus), Some(minus)) = (at(h / 30.0), at(-h / 30.0))
                    {
                        difference = (plus - minus) / (h / 15.0);
                    }
                    assert!(
                        (difference - row).abs() <= tolerance * (1.0 + row.abs()),
                        "{a:?} {b:?} {poses:?}\n{g:?}\nbody {body} direction {direction}: {difference} {row}"
                    );
                    checked += 1;
                }
            }
        }
        assert!(checked > 5 * S::poses(&a, &b), "{a:?} {b:?}: only {checked} checked");
        assert!(
            changed <= allowed || changed * 1000 < checked,
            "{a:?} {b:?}: {changed} features changed of {checked}"
        );
    }
}

#[test]
fn row_is_the_gradient_of_the_gap() {
    // central differences: truncation h²Φ'''/6 <= 1e-12 / 0.02², round-off 1e-16 / h = 1e-10
    check_rows::<Plane, 2>(1, 1e-8, 0);
    // crossing capsules add the inverse square of the sine of their angle; one pose next to a change of feature may
    // count in all directions
    check_rows::<Space, 3>(11, 1e-7, 12);
}

fn check_witness_points<S: Dimension<D>, const D: usize>(seed: u64) {
    for_random_poses::<S, D>(seed, 400, 1.0, |a, b| {
        let near = near::<S, D>(a, b);
        assert!(!near.is_empty(), "{a:?} {b:?}");
        for (i, g) in near.iter().enumerate() {
            assert!((g.on_b - g.on_a - g.normal * g.gap).norm() < 1e-12);
            assert!((g.normal.norm() - 1.0).abs() < 1e-12);
            assert!(near[..i].iter().all(|k| k.feature != g.feature), "{near:?}");
        }
    });
}

#[test]
fn witness_points_differ_by_the_gap_along_the_normal() {
    check_witness_points::<Plane, 2>(2);
    check_witness_points::<Space, 3>(13);
}

fn check_swap<S: Dimension<D>, const D: usize>(seed: u64) {
    for_random_poses::<S, D>(seed, 300, 1.0, |a, b| {
        let mut swapped = near::<S, D>(b, a);
        for g in &mut swapped {
            let feature = mirrored::<S, D>(g.feature, a.0, b.0);
            *g = Gap { gap: g.gap, normal: -g.normal, on_a: g.on_b, on_b: g.on_a, feature };
        }
        assert_same(&near::<S, D>(a, b), &swapped, (a, b));
    });
}

#[test]
fn swapping_the_shapes_turns_the_normal() {
    check_swap::<Plane, 2>(3);
    check_swap::<Space, 3>(14);
}

fn check_common_motion<S: Dimension<D>, const D: usize>(seed: u64) {
    let mut rng = rng(seed + 100);
    for_random_poses::<S, D>(seed, 300, 1.0, |a, b| {
        let t = S::pose(&mut rng, 3.0);
        let mut carried = near::<S, D>(a, b);
        for g in &mut carried {
            let normal = t.rotation.transform_vector(&g.normal);
            *g = Gap { normal, on_a: t * g.on_a, on_b: t * g.on_b, ..*g };
        }
        assert_same(&near::<S, D>((a.0, &(t * *a.1)), (b.0, &(t * *b.1))), &carried, (a, b));
    });
}

#[test]
fn common_motion_changes_nothing() {
    check_common_motion::<Plane, 2>(4);
    check_common_motion::<Space, 3>(15);
}

fn check_reach<S: Dimension<D>, const D: usize>(seed: u64) {
    let mut rng = rng(seed + 100);
    for_random_poses::<S, D>(seed, 100, 1.5, |a, b| {
        let reach = rng.random_range(-0.5..1.0);
        let mut within = vec![];
        S::gaps(a, b, reach, &mut within).unwrap();
        let mut all = near::<S, D>(a, b);
        // polygons and polyhedra have no gap beyond the plane that separates them
        if S::ratio_gap(a, b).is_some_and(|gap| gap > reach) {
            all.clear();
        }
        all.retain(|g| g.gap <= reach);
        assert_same(&within, &all, (a, b));
    });
}

#[test]
fn reach_only_filters() {
    check_reach::<Plane, 2>(5);
    check_reach::<Space, 3>(16);
}

fn check_depth<S: Dimension<D>, const D: usize>(seed: u64) {
    let mut rng = rng(seed);
    for shape in S::shapes().iter().filter(|s| **s != S::HALF_SPACE) {
        for _ in 0..100 {
            let (plane, pose) = (S::pose(&mut rng, 1.0), S::pose(&mut rng, 1.0));
            let before = near::<S, D>((&S::HALF_SPACE, &plane), (shape, &pose));
            let down = Translation::from(plane.rotation.transform_vector(&unit::<D>(D - 1)) * -50.0);
            let after = near::<S, D>((&S::HALF_SPACE, &plane), (shape, &(down * pose)));
            assert_eq!(before.len(), after.len());
            for (g, k) in before.iter().zip(&after) {
                assert!((g.gap - 50.0 - k.gap).abs() < 1e-12);
                assert_eq!((g.normal, g.feature), (k.normal, k.feature));
            }
        }
    }
}

#[test]
fn half_space_is_exact_at_any_depth() {
    check_depth::<Plane, 2>(7);
    check_depth::<Space, 3>(18);
}
