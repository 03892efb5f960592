//! Acceptance numbers of CP03: errors of the chain, the plank, the rectangle and the five bodies in mm.

mod common;

use common::check_reproduction;
use std::collections::BTreeSet;
use stiction::Scheme;
use stiction_papers::cp03::chain::{CHAIN_STEPS, Chain, FIT, H, SI, stairs};
use stiction_papers::cp03::{Cp03Run, banded, chain, cost, five, plank, rectangle, reproduce};

#[track_caller]
fn assert_near(value: f64, expected: f64, relative: f64) {
    assert!((value - expected).abs() <= relative * expected.abs(), "{value} is not near {expected}");
}

#[track_caller]
fn assert_within(value: f64, [low, high]: [f64; 2]) {
    assert!((low..=high).contains(&value), "{value} is not between {low} and {high}");
}

fn of_chain(reading: &Chain, scheme: &Scheme) -> Cp03Run {
    chain::run(reading, scheme, H, CHAIN_STEPS).unwrap()
}

#[test]
fn the_chain_in_si_units() {
    assert_near(of_chain(&SI, &Scheme::ap97()).last(), 2.731, 0.01);
    assert_near(of_chain(&SI, &Scheme::baumgarte(50.0)).most_after(), 0.832, 0.01);
    assert_near(of_chain(&SI, &Scheme::baumgarte(200.0)).most_after(), 0.3026, 0.01);
    assert_near(of_chain(&SI, &Scheme::ah04()).most_after(), 0.0661, 0.02);
    let post = of_chain(&SI, &Scheme::ap97().post_stabilized(1));
    assert_near(post.most_before(), 0.0614, 0.02);
    assert!(post.most_after() < 1e-4);
    assert_near(post.most_after(), 1.39e-5, 0.01);
}

#[test]
fn the_curve_of_the_chain_in_si_units() {
    let none = of_chain(&SI, &Scheme::ap97()).after;
    let every_50 = [0.02, 0.07, 0.17, 0.25, 0.40, 0.71, 1.84, 2.65, 2.71, 2.71, 2.71, 2.73];
    for (i, expected) in every_50.into_iter().enumerate() {
        let error = none[50 * (i + 1) - 1];
        assert!((error - expected).abs() < 0.0051, "after {} steps: {error}, not {expected}", 50 * (i + 1));
    }
    assert_eq!(stairs(&none), 1);
}

#[test]
fn the_chain_that_fits_the_paper() {
    let none = of_chain(&FIT, &Scheme::ap97());
    assert_within(none.last(), [20.0, 28.0]);
    assert_near(none.last(), 24.75, 0.03);
    assert!(stairs(&none.after) >= 3, "{} stairs", stairs(&none.after));
    assert_near(of_chain(&FIT, &Scheme::baumgarte(50.0)).most_after(), 4.31, 0.03);
    assert_within(of_chain(&FIT, &Scheme::baumgarte(200.0)).most_after(), [2.4, 3.0]);
    let jagged = of_chain(&FIT, &Scheme::baumgarte(2000.0));
    assert!(jagged.after.iter().all(|e| e.is_finite()));
    assert_within(jagged.most_after(), [3.0, 10.0]);
    assert_within(of_chain(&FIT, &Scheme::ah04()).most_after(), [0.9, 1.1]);
    let post = of_chain(&FIT, &Scheme::ap97().post_stabilized(1));
    assert!(post.most_before() <= 0.5);
    assert_near(post.most_before(), 0.481, 0.05);
    assert!(post.most_after() < 0.01);
}

/// AH04 with γ is Baumgarte's stabilization with α = γ/h.
#[test]
fn ah04_is_one_of_baumgartes() {
    let [ah04, baumgarte] =
        [Scheme::ah04(), Scheme::baumgarte(1.0 / H)].map(|scheme| of_chain(&SI, &scheme).after);
    assert!(ah04.iter().zip(&baumgarte).all(|(a, b)| (a - b).abs() <= 1e-12));
}

#[test]
fn slopes_of_the_chain() {
    let slopes = chain::slopes().unwrap();
    assert_within(slopes.none, [0.8, 1.1]);
    assert_within(slopes.stabilized, [1.95, 2.05]);
    assert_within(slopes.before, [1.95, 2.05]);
    assert_within(slopes.after, [3.3, 4.2]);
}

#[test]
fn the_plank_on_a_peg() {
    let planks = [10_000, 5_000, 2_500].map(|steps| plank::plank(steps).unwrap());
    let finest = &planks[0];
    assert_near(finest.none.last(), 2.145, 0.02);
    for (seconds, expected) in [(2, 0.4265), (4, 0.9193), (6, 1.284), (8, 1.668)] {
        assert_near(finest.none.after[1000 * seconds - 1], expected, 0.02);
    }
    assert_near(finest.stabilized.most_after(), 9.0e-4, 0.05);
    assert_near(finest.post.most_before(), 9.0e-4, 0.05);
    assert!(finest.post.most_after() < 1e-8);

    let [none, stabilized, before, after] = plank::slopes(&planks);
    assert_within(none, [0.8, 1.1]);
    assert_within(stabilized, [1.95, 2.05]);
    assert_within(before, [1.95, 2.05]);
    assert_within(after, [3.3, 4.2]);
}

#[test]
fn the_pushed_rectangle() {
    let run = |scheme: Scheme| rectangle::run(&scheme, 1e-3, 10_000).unwrap();
    let none = run(banded(Scheme::ap97(), rectangle::BAND));
    assert!(none.most_after() > 2.0);
    let post = run(banded(Scheme::ap97().post_stabilized(1), rectangle::BAND));
    assert!(post.most_before() > 2.0);
    assert!(post.most_after() < 1e-6);
    assert!(run(banded(Scheme::ah04(), 0.01)).most_after() < 1e-6);
}

/// The library's own active set sees every impact coming, whatever post-stabilization follows.
#[test]
fn the_pushed_rectangle_with_nothing_to_set() {
    for (h, steps) in rectangle::RECTANGLE_RUNS {
        for scheme in [Scheme::ah04(), Scheme::first_order(), Scheme::ap97().post_stabilized(6)] {
            let run = rectangle::run(&scheme, h, steps).unwrap();
            assert!(run.most_before() < 1e-6, "h = {h}, {:?}: {}", scheme.level, run.most_before());
        }
    }
}

/// CP03 §VI-C: a pass may push another corner in, and another pass pushes it out.
#[test]
fn large_penetrations_take_more_passes() {
    let passes = |n| banded(Scheme::ap97().post_stabilized(n), rectangle::BAND);
    let [one, six] = [1, 6].map(|n| rectangle::run(&passes(n), 5e-3, 2_000).unwrap());
    assert!(one.most_after() > 1.0);
    assert!(six.most_before() > 10.0);
    assert!(six.most_after() < 1e-6);
    assert_within(six.most_passes() as f64, [2.0, 4.0]);
}

#[test]
fn five_bodies_in_a_room() {
    let run = five::run(&banded(Scheme::ap97().post_stabilized(five::PASSES), five::BAND), five::FIVE_STEPS);
    let run = run.unwrap();
    assert!(run.most_before() > 1.0, "{}", run.most_before());
    assert!(run.after.iter().all(|&after| after < 1e-6), "{}", run.most_after());
    assert_eq!(run.infeasible, 0);
    assert!(run.most_passes() <= five::PASSES);
}

#[test]
fn five_bodies_with_the_default_scheme() {
    let run = five::run(&Scheme::first_order(), five::FIVE_STEPS).unwrap();
    assert!(run.most_after() < 1e-6, "{}", run.most_after());
}

#[test]
fn the_same_run_twice_is_the_same() {
    let scheme = banded(Scheme::ap97().post_stabilized(five::PASSES), five::BAND);
    let [first, second] = [(), ()].map(|()| five::run(&scheme, 2_000).unwrap());
    assert_eq!(first, second);
}

#[test]
fn everything_is_reported_once() {
    let all = reproduce().unwrap();
    check_reproduction(&all, "CP03");
    // five numbers of the chain in each of two readings, and "eliminated completely" of the rectangle
    assert_eq!(all.lines.iter().filter(|l| l.published.is_some()).count(), 11);
}

#[test]
fn every_stabilization_has_a_cost_in_every_scene() {
    let lines = cost(100).unwrap();
    assert!(lines.iter().all(|line| line.value > 0.0 && line.published.is_none()));
    let scenes: BTreeSet<_> = lines.iter().map(|line| line.experiment).collect();
    assert_eq!(scenes.len(), 4);
}
