//! Elimination and steps of the interior point method against the equations they solve, and planted solutions.

use super::super::equations::Equations;
use super::super::iterate::{Iterate, length, product};
use super::super::tests::island_of;
use super::{ConePair, ConeRhs, ContactScale, InteriorPoint, InteriorWorkspace};
use crate::problem::FrictionSet;
use crate::structured::island::Island;
use crate::testing::Plan;

/// Products of a pair: c w, the scalar and the vector part of (m c + k, x) ∘ (λ, y).
fn products(scale: &ContactScale, p: &ConePair<2>) -> [f64; 4] {
    let x0 = scale.bound(p.c);
    let vector: [f64; 2] = std::array::from_fn(|k| x0 * p.y[k] + p.l * p.x[k]);
    [p.c * p.w, x0 * p.l + product(&p.x, &p.y), vector[0], vector[1]]
}

/// Workspace a few iterations into a run, with errors found and the matrix factored.
fn under_way(island: &Island<2>) -> (InteriorWorkspace<2>, Equations, Iterate<2>) {
    let (mut equations, mut workspace, mut at) =
        (Equations::default(), InteriorWorkspace::default(), Iterate::default());
    equations.lay_out(island);
    let method = InteriorPoint { island, equations: &mut equations, workspace: &mut workspace, at: &mut at };
    method.run(1.0, 0.0, 3);
    workspace.find_errors(island, &at);
    assert!(workspace.factor(island, &mut equations));
    (workspace, equations, at)
}

/// Differences of the products along the step are the right-hand sides, for any right-hand side.
#[test]
fn a_step_changes_the_products_by_its_right_hand_sides() {
    for copies in 1..=2 {
        let (island, _) = island_of(&Plan::chain(4, copies, FrictionSet::circle()).plant(1));
        let (mut workspace, mut equations, _) = under_way(&island);
        workspace.rhs.clear();
        for i in 0..island.contacts.len() {
            let x = 0.1 + 0.05 * i as f64;
            workspace.rhs.push(ConeRhs { n: -x, s: 2.0 * x, t: [0.3 * x, -x] });
        }
        workspace.solve(&island, &mut equations);
        for (i, rhs) in workspace.rhs.iter().enumerate() {
            let (scale, pair, step) = (&workspace.scales[i], &workspace.pairs[i], &workspace.step[i]);
            let h = 1e-6;
            let ahead = products(scale, &pair.along(h, step));
            let behind = products(scale, &pair.along(-h, step));
            for (k, expected) in [rhs.n, rhs.s, rhs.t[0], rhs.t[1]].into_iter().enumerate() {
                let rate = (ahead[k] - behind[k]) / (2.0 * h);
                assert!((rate - expected).abs() < 1e-6, "contact {i}, product {k}: {rate} and {expected}");
            }
        }
    }
}

/// A full step removes the errors of the linear equations, a part of it as much of them.
#[test]
fn a_step_removes_its_length_of_the_linear_errors() {
    let (island, _) = island_of(&Plan::chain(4, 1, FrictionSet::circle()).plant(2));
    let (mut workspace, mut equations, at) = under_way(&island);
    workspace.aim(0.1, false);
    workspace.solve(&island, &mut equations);
    let before = workspace.errors.clone();
    for alpha in [0.1, 1.0] {
        let (mut moved, mut to) = (workspace.clone(), at.clone());
        moved.advance(&island, &mut to, alpha);
        moved.find_errors(&island, &to);
        let close = |after: f64, before: f64, tolerance: f64| {
            assert!((after - (1.0 - alpha) * before).abs() < tolerance, "{after} of {before} at {alpha}");
        };
        for (a, b) in moved.errors.momentum.iter().flatten().zip(before.momentum.iter().flatten()) {
            close(*a, *b, 1e-9);
        }
        for (a, b) in moved.errors.gap.iter().zip(&before.gap) {
            close(a.n, b.n, 1e-9);
            (0..2).for_each(|k| close(a.t[k], b.t[k], 1e-9));
        }
        for (a, b) in moved.errors.joints.iter().flatten().zip(before.joints.iter().flatten()) {
            close(*a, *b, 1e-7);
        }
    }
}

/// The corrector's right-hand side: products of pair and affine step add up to the center.
#[test]
fn second_order_terms_are_the_products_of_the_affine_step() {
    let scale = ContactScale { m: 0.4, k: 0.2 };
    let pair = ConePair { c: 1.0, w: 0.5, x: [0.1, -0.2], l: 0.8, y: [0.3, 0.1] };
    let d = ConePair { c: -0.3, w: 0.2, x: [0.05, 0.1], l: -0.1, y: [-0.2, 0.4] };
    let mut rhs = pair.missing(&scale, 0.7, 0.7);
    rhs.subtract_second_order(scale.m, &d);
    let (here, there) = (products(&scale, &pair), products(&scale, &pair.along(1.0, &d)));
    // products(pair + d) = products(pair) + linear + second order; linear by differences
    let h = 1e-5;
    let ahead = products(&scale, &pair.along(h, &d));
    let behind = products(&scale, &pair.along(-h, &d));
    for (k, (rhs, center)) in
        [(rhs.n, 0.7), (rhs.s, 0.7), (rhs.t[0], 0.0), (rhs.t[1], 0.0)].into_iter().enumerate()
    {
        let linear = (ahead[k] - behind[k]) / (2.0 * h);
        let second = there[k] - here[k] - linear;
        assert!((rhs - (center - here[k] - second)).abs() < 1e-9, "product {k}");
    }
}

#[test]
fn the_boundary_of_the_cones_is_where_a_pair_leaves_them() {
    let (island, _) = island_of(&Plan::chain(3, 1, FrictionSet::circle()).plant(3));
    let (mut workspace, mut equations, _) = under_way(&island);
    workspace.aim(0.0, false);
    workspace.solve(&island, &mut equations);
    let inside = |alpha: f64| {
        workspace.pairs.iter().zip(&workspace.step).zip(&workspace.scales).all(|((p, d), scale)| {
            let p = p.along(alpha, d);
            p.c >= 0.0 && p.w >= 0.0 && scale.bound(p.c) >= length(&p.x) && p.l >= length(&p.y)
        })
    };
    let distance = workspace.distance_to_boundary(&island);
    assert!(distance > 0.0);
    assert!(inside(0.999_999 * distance));
    assert!(distance == super::MAX_DISTANCE || !inside(1.000_001 * distance));
}

#[test]
fn planted_solutions_are_reached_to_the_target() {
    for copies in 1..=2 {
        for seed in 0..10 {
            let plan = Plan { mu: 0.1, ..Plan::chain(4, copies, FrictionSet::circle()) };
            let (island, solution) = island_of(&plan.plant(seed));
            let (mut equations, mut workspace, mut at) =
                (Equations::default(), InteriorWorkspace::default(), Iterate::default());
            equations.lay_out(&island);
            let method = InteriorPoint {
                island: &island,
                equations: &mut equations,
                workspace: &mut workspace,
                at: &mut at,
            };
            let iterations = method.run(1.0, 1e-8, 60);
            assert!(iterations < 60, "{copies} copies, seed {seed}");
            let error = at.v.iter().flatten().zip(solution.v.iter().flatten());
            let error = error.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            assert!(error < 1e-6, "{copies} copies, seed {seed}: {error:e}");
        }
    }
}
