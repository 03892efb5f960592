//! Acceptance numbers of HA10: infeasibility by the ratio metric, its slopes, rest, and friction.

mod common;

use common::check_reproduction;
use stiction::Scheme;
use stiction_papers::ha10::block::{DEPTHS, distance, exact};
use stiction_papers::ha10::slopes::fine_slope;
use stiction_papers::ha10::{GapForm, Ha10Method, Ha10Scene, gamma, reproduce, rest};
use stiction_papers::{Figure, FigureContent, Reproduction};

fn paper(form: GapForm) -> Ha10Method {
    Ha10Method::paper(form, 1.0, true)
}

#[test]
fn all_bodies_come_to_rest() {
    for scene in Ha10Scene::ALL {
        for method in [paper(GapForm::Rho), paper(GapForm::Ratio), Ha10Method::own(Scheme::first_order())] {
            let end = rest::run(scene, method).unwrap();
            let name = scene.name();
            assert!(end.kinetic < 1e-12, "{name}, {:?}: {} J", method.form, end.kinetic);
            assert!(end.last < 1e-9, "{name}, {:?}: {}", method.form, end.last);
            // the simulator has asked for it at every step
            assert!(end.residual <= method.scheme.solver.tolerance, "{name}: {}", end.residual);
        }
    }
}

#[test]
fn the_block_stops_where_it_should() {
    // the first step brakes before it moves: v h/2 less, 1.2 % at h = 5 ms
    let own = distance(Ha10Method::own(Scheme::first_order())).unwrap();
    for form in [GapForm::Rho, GapForm::Ratio] {
        for depth in DEPTHS {
            let way = distance(Ha10Method { depth, ..paper(form) }).unwrap();
            assert!((way / exact() - 1.0).abs() <= 0.02, "{form:?}, {depth}: {way}");
            assert!((way - own).abs() <= 1e-6, "{form:?}, {depth}: {way}, not {own}");
        }
    }
}

/// HA10 (4.11) as it is printed: the coefficient is μ L r², and with a deep floor the block tips over.
#[test]
fn friction_as_printed_depends_on_the_floor() {
    for (depth, expected) in DEPTHS.into_iter().zip([0.578, 0.123, -0.001]) {
        let way = distance(Ha10Method { depth, normalized: false, ..paper(GapForm::Rho) }).unwrap();
        assert!((way - expected).abs() <= 1e-3, "{depth}: {way}, not {expected}");
    }
}

/// γ below 1 leaves penetration to the next steps, and γ = 0 never corrects it. On open events it makes bodies hover.
#[test]
fn gamma_zero_never_corrects() {
    let [_, none] = gamma::of(Ha10Scene::Balance2, 0.0, false, 0.02).unwrap();
    assert!(none > 1e-3, "{none}");
    for strength in [0.25, 0.5, 1.0] {
        let [_, last] = gamma::of(Ha10Scene::Balance2, strength, false, 0.02).unwrap();
        assert!(last <= 5e-10, "γ = {strength}: {last}");
    }
    let [hovering, _] = gamma::of(Ha10Scene::Balance2, 0.0, true, 0.02).unwrap();
    assert!(hovering < 1e-3, "{hovering}");
}

/// Figures of the slopes: scene, and the largest infeasibility allowed at h = 0.01 s with Φ = ρ and with linear gaps.
const SLOPE_FIGURES: [(&str, f64, f64); 3] = [
    ("ha10-balance2-infeasibility", 4e-2, 1e-4),
    ("ha10-pyramid1-infeasibility", 1e-2, 2e-3),
    ("ha10-dice3-infeasibility", 3e-3, 1e-4),
];

/// Points (h, largest infeasibility) of a method in a figure.
fn points<'a>(all: &'a Reproduction, figure: &str, method: &str) -> &'a [[f64; 2]] {
    let figure = all.figures.iter().find(|f| f.name == figure).unwrap();
    let FigureContent::Curves { curves, .. } = &figure.content else {
        panic!("{} has no curves", figure.name)
    };
    &curves.iter().find(|c| c.label == method).unwrap().points
}

fn at(points: &[[f64; 2]], h: f64) -> f64 {
    points.iter().find(|p| p[0] == h).unwrap()[1]
}

/// All experiments run once: they take most of the time of these tests.
#[test]
fn the_reproduction_is_complete_and_its_slopes_are_two() {
    let all = reproduce().unwrap();
    check_reproduction(&all, "HA10");
    // the slopes of three scenes
    assert_eq!(all.lines.iter().filter(|l| l.published.is_some()).count(), 3);
    assert_eq!(all.figures.len(), 8);
    let frames = |figure: &Figure| match &figure.content {
        FigureContent::Snapshots(frames) => frames.len(),
        FigureContent::Curves { .. } => 0,
    };
    assert_eq!(all.figures.iter().map(frames).sum::<usize>(), 16);
    for (figure, most, most_linear) in SLOPE_FIGURES {
        infeasibility_falls_with_the_square_of_the_step(points(&all, figure, "Φ = ρ"), most);
        positions_by_the_old_velocity_lose_an_order(points(&all, figure, "Φ = ρ, positions by v(l)"));
        for method in ["Φ = r − 1", "own gap, AH04", "own gap, first order"] {
            let most = at(points(&all, figure, method), 0.01);
            assert!(most <= most_linear, "{figure}, {method}: {most}");
        }
        // post-stabilization leaves its round-off, 1e-12 of the bodies, in few passes
        let corrected = points(&all, figure, "own gap, first order");
        assert!([0.02, 0.01].iter().all(|&h| at(corrected, h) <= 1e-10), "{figure}: {corrected:?}");
    }
}

fn infeasibility_falls_with_the_square_of_the_step(points: &[[f64; 2]], most: f64) {
    let slope = fine_slope(points);
    assert!((slope - 2.0).abs() <= 0.35, "{slope}, {points:?}");
    // large enough to be measured, and not larger
    assert!((1e-4..=most).contains(&at(points, 0.01)), "{points:?}");
}

/// Step 3 of Algorithm 9 as it is printed.
fn positions_by_the_old_velocity_lose_an_order(points: &[[f64; 2]]) {
    let slope = fine_slope(points);
    assert!(slope <= 1.4, "{slope}, {points:?}");
}
