//! Acceptance numbers of HA10: infeasibility by the ratio metric, its slopes, rest, and friction.

use std::collections::BTreeSet;
use stiction::Scheme;
use stiction_papers::ha10::block::{DEPTHS, distance, exact};
use stiction_papers::ha10::slopes::{fine_slope, series};
use stiction_papers::ha10::{GapForm, Ha10Method, Ha10Scene, gamma, reproduce, rest};
use stiction_papers::{Figure, FigureContent};

fn paper(form: GapForm) -> Ha10Method {
    Ha10Method::paper(form, 1.0, true)
}

/// Steps small enough that no body is through another before it is near.
const STEPS: [f64; 5] = [0.02, 0.01, 0.005, 0.002, 0.001];

#[test]
fn infeasibility_falls_with_the_square_of_the_step() {
    for (scene, most) in [(Ha10Scene::Balance2, 4e-2), (Ha10Scene::Pyramid1, 1e-2), (Ha10Scene::Dice3, 3e-3)]
    {
        let points = series(scene, paper(GapForm::Rho), &STEPS).unwrap();
        let slope = fine_slope(&points);
        assert!((slope - 2.0).abs() <= 0.35, "{}: {slope}, {points:?}", scene.name());
        assert!(points[1][1] <= most, "{}: {points:?}", scene.name());
        // there is something to measure
        assert!(points[1][1] >= 1e-4, "{}: {points:?}", scene.name());
    }
}

/// Step 3 of Algorithm 9 as it is printed.
#[test]
fn positions_by_the_old_velocity_lose_an_order() {
    let method = Ha10Method { lagging: true, ..paper(GapForm::Rho) };
    for scene in Ha10Scene::ALL {
        let points = series(scene, method, &[0.02, 0.01, 0.005]).unwrap();
        let slope = fine_slope(&points);
        assert!(slope <= 1.4, "{}: {slope}, {points:?}", scene.name());
    }
}

#[test]
fn gaps_that_are_linear_leave_less() {
    for (scene, most) in [(Ha10Scene::Balance2, 1e-4), (Ha10Scene::Pyramid1, 2e-3), (Ha10Scene::Dice3, 1e-4)]
    {
        for method in
            [paper(GapForm::Ratio), Ha10Method::own(Scheme::ah04()), Ha10Method::own(Scheme::default())]
        {
            let points = series(scene, method, &[0.01]).unwrap();
            assert!(points[0][1] <= most, "{}, {:?}: {points:?}", scene.name(), method.form);
        }
        // post-stabilization leaves what it calls round-off, 1e-12 of the bodies, and few passes more
        let points = series(scene, Ha10Method::own(Scheme::default()), &[0.02, 0.01]).unwrap();
        assert!(points.iter().all(|p| p[1] <= 1e-10), "{}: {points:?}", scene.name());
    }
}

#[test]
fn all_bodies_come_to_rest() {
    for scene in Ha10Scene::ALL {
        for method in [paper(GapForm::Rho), paper(GapForm::Ratio), Ha10Method::own(Scheme::default())] {
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
    let own = distance(Ha10Method::own(Scheme::default())).unwrap();
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

/// γ below 1 leaves penetration to the next steps, γ = 0 leaves it for ever; on events that are apart it makes
/// bodies hover.
#[test]
fn gamma_zero_never_mends() {
    let [_, none] = gamma::of(Ha10Scene::Balance2, 0.0, false, 0.02).unwrap();
    assert!(none > 1e-3, "{none}");
    for strength in [0.25, 0.5, 1.0] {
        let [_, last] = gamma::of(Ha10Scene::Balance2, strength, false, 0.02).unwrap();
        assert!(last <= 5e-10, "γ = {strength}: {last}");
    }
    let [hovering, _] = gamma::of(Ha10Scene::Balance2, 0.0, true, 0.02).unwrap();
    assert!(hovering < 1e-3, "{hovering}");
}

#[test]
fn everything_is_reported_once() {
    let all = reproduce().unwrap();
    let keys: BTreeSet<_> = all.lines.iter().map(|l| (l.experiment, l.case.clone(), l.quantity)).collect();
    assert_eq!(keys.len(), all.lines.len());
    assert!(all.lines.iter().all(|l| l.paper == "HA10" && l.value.is_finite()));
    // the slopes of three scenes
    assert_eq!(all.lines.iter().filter(|l| l.published.is_some()).count(), 3);
    let names: BTreeSet<_> = all.figures.iter().map(|f| f.name.clone()).collect();
    assert_eq!(names.len(), all.figures.len());
    assert_eq!(all.figures.len(), 8);
    let frames = |figure: &Figure| match &figure.content {
        FigureContent::Snapshots(frames) => frames.len(),
        FigureContent::Curves { .. } => 0,
    };
    assert_eq!(all.figures.iter().map(frames).sum::<usize>(), 16);
}
