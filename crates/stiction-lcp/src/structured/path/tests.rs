//! Tangent and Newton step of the central path against differences, and planted solutions.

use super::super::equations::Equations;
use super::super::interior::{InteriorWorkspace, LinearErrors};
use super::super::iterate::{Iterate, product};
use super::super::tests::island_of;
use super::{CentralPath, ON_PATH, PathStart, PathWorkspace, impulse};
use crate::problem::FrictionSet;
use crate::structured::island::Island;
use crate::testing::Plan;

#[derive(Default)]
struct Storage {
    equations: Equations,
    interior: InteriorWorkspace<2>,
    path: PathWorkspace<2>,
    at: Iterate<2>,
}

impl Storage {
    fn start<'a>(&'a mut self, island: &'a Island<2>) -> CentralPath<'a, 2> {
        let Self { equations, interior, path, at } = self;
        equations.lay_out(island);
        CentralPath::new(island, equations, interior, path, at, 1.0, PathStart::Even(1.0))
    }
}

/// All linear errors, and the normal and scalar friction products.
fn state(path: &mut CentralPath<2>) -> (LinearErrors<2>, Vec<[f64; 2]>) {
    path.interior.find_errors(path.island, path.at);
    let pairs = path.interior.pairs.iter().zip(&path.interior.scales);
    let products = pairs.map(|(p, s)| [p.c * p.w, s.bound(p.c) * p.l + product(&p.x, &p.y)]).collect();
    (path.interior.errors.clone(), products)
}

/// The start is on the path at τ = 1. Along the tangent errors and products change by their values at the start.
#[test]
fn the_tangent_scales_errors_and_products_of_the_start() {
    let (island, _) = island_of(&Plan::chain(4, 1, FrictionSet::circle()).plant(1));
    let mut storage = Storage::default();
    let mut path = storage.start(&island);
    let (errors, products) = state(&mut path);
    assert!(path.interior.factor(path.island, path.equations));
    let off_path = path.find_directions();
    assert!(off_path < 1e-12, "{off_path:e}");
    assert_eq!(path.path.tangent.tau, 1.0);
    let h = 1e-6;
    let (tangent, interior) = (path.path.tangent.clone(), path.interior.clone());
    let at = path.at.clone();
    let mut sides = [-h, h].map(|h| {
        path.interior.clone_from(&interior);
        path.at.copy_from(&at);
        tangent.apply(h, path.interior, path.island, path.at, 1.0);
        state(&mut path)
    });
    let [behind, ahead] = &mut sides;
    let rate = |behind: f64, ahead: f64| (ahead - behind) / (2.0 * h);
    let flat = |e: &LinearErrors<2>| -> Vec<f64> {
        let gaps = e.gap.iter().flat_map(|g| [g.n, g.t[0], g.t[1]]);
        e.momentum.iter().flatten().copied().chain(e.joints.iter().flatten().copied()).chain(gaps).collect()
    };
    for ((b, a), start) in flat(&behind.0).into_iter().zip(flat(&ahead.0)).zip(flat(&errors)) {
        assert!((rate(b, a) - start).abs() < 1e-6, "{} and {start}", rate(b, a));
    }
    for ((b, a), start) in behind.1.iter().zip(&ahead.1).zip(&products) {
        for k in 0..2 {
            assert!((rate(b[k], a[k]) - start[k]).abs() < 1e-6, "{} and {}", rate(b[k], a[k]), start[k]);
        }
    }
}

/// Off the path the Newton step at fixed τ returns to it: the error falls quadratically.
#[test]
fn correctors_return_to_the_path() {
    let (island, _) = island_of(&Plan::chain(4, 2, FrictionSet::circle()).plant(2));
    let mut storage = Storage::default();
    let mut path = storage.start(&island);
    for (i, pair) in path.interior.pairs.iter_mut().enumerate() {
        (pair.c, pair.l) = (1.02 * pair.c, 0.97 * pair.l);
        path.at.r[i] = impulse(&island.contacts[i], pair, 1.0);
    }
    let mut errors = Vec::new();
    for _ in 0..3 {
        path.interior.find_errors(path.island, path.at);
        assert!(path.interior.factor(path.island, path.equations));
        errors.push(path.find_directions());
        // across the tangent, so that τ changes as well
        assert!(path.correct());
    }
    assert!(errors[0] > 1e-3 && errors[0] < ON_PATH, "{errors:?}");
    assert!(errors[1] < 0.05 * errors[0] && errors[2] < 1e-3 * errors[1], "{errors:?}");
}

#[test]
fn the_newton_step_is_orthogonal_to_the_tangent() {
    let (island, _) = island_of(&Plan::chain(4, 1, FrictionSet::circle()).plant(3));
    let mut storage = Storage::default();
    let mut path = storage.start(&island);
    path.interior.pairs.iter_mut().for_each(|p| p.w *= 1.1);
    path.interior.find_errors(path.island, path.at);
    assert!(path.interior.factor(path.island, path.equations));
    path.find_directions();
    let (tangent, newton) = (path.path.tangent.clone(), path.path.newton.clone());
    let size = (path.inner(&tangent, &tangent) * path.inner(&newton, &newton)).sqrt();
    assert!(size > 0.0 && path.inner(&tangent, &newton).abs() < 1e-9 * size);
}

#[test]
fn planted_solutions_are_at_the_end_of_the_path() {
    for copies in 1..=2 {
        for seed in 0..10 {
            let plan = Plan { mu: 0.1, ..Plan::chain(4, copies, FrictionSet::circle()) };
            let (island, solution) = island_of(&plan.plant(seed));
            let mut storage = Storage::default();
            let spent = storage.start(&island).run(1e-7, 200);
            assert!(spent < 200, "{copies} copies, seed {seed}");
            let error = storage.at.v.iter().flatten().zip(solution.v.iter().flatten());
            let error = error.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            assert!(error < 1e-5, "{copies} copies, seed {seed}: {error:e}");
        }
    }
}
