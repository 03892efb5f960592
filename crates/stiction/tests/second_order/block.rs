//! Block on a table under an oscillating force: stick, slip and reversals. PAGT06 section 10.2

use nalgebra::{Isometry2, Vector2};
use std::f64::consts::PI;
use std::sync::Arc;
use stiction::planar::{Attached, Body, BodyId, Force, Model, Shape, World, Wrench};
use stiction::{Event, EventLocation, Level, Material, RowForm, RowForms, Scheme, Simulation, Trapezoidal};

const G: f64 = 9.81;

/// Point block of 1 kg at x = 3 m with friction μ and a force F(t) along x.
pub(crate) fn block(mu: f64, load: impl Fn(f64) -> f64 + Send + Sync + 'static) -> (Model, BodyId) {
    let mut world = World::new(Vector2::new(0.0, -G));
    let material = Material { friction: mu, restitution: 0.0, ..Material::default() };
    world.add_body(Body::fixed("table").with(Attached::new(Shape::HalfPlane).material(material)));
    let body = Body::point("block", 1.0).at(Isometry2::translation(3.0, 0.0));
    let block = world.add_body(body.with(Attached::new(Shape::Disk { radius: 0.0 }).material(material)));
    let load = Arc::new(move |t: f64| Wrench { force: Vector2::new(load(t), 0.0), torque: 0.0 });
    world.add_force(Force::Timed { body: block, point: None, load });
    (world.build().unwrap(), block)
}

fn run(model: Model, block: BodyId, settings: Trapezoidal, h: f64, until: f64) -> (f64, Vec<Event>) {
    let scheme = Scheme { level: Level::Trapezoidal(settings), ..Scheme::pagt06() };
    let mut simulation = Simulation::new(model).with_scheme(scheme);
    let mut events = Vec::new();
    let outcome = simulation.record(until, h, |_, _, report| events.extend(report.events.iter().copied()));
    outcome.unwrap_or_else(|e| panic!("{e}"));
    (simulation.system().centre(simulation.state(), block).unwrap().x, events)
}

/// Asserts that the ratios of successive errors are in a range.
fn assert_ratios(errors: &[f64], range: std::ops::Range<f64>) {
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!(range.contains(&ratio), "{ratio}");
    }
}

#[test]
fn tables_of_the_paper_without_location() {
    for (form, published) in [
        (RowForm::End, [5.197e-5, 1.025e-5, 2.555e-6, 6.551e-7, 1.549e-7]),
        (RowForm::Mean, [8.023e-5, 2.310e-5, 5.619e-6, 1.395e-6, 3.652e-7]),
    ] {
        for (k, published) in (5..).zip(published) {
            let h = 2f64.powi(-k);
            let (model, body) = block(0.8, |t| 8.0 * t.cos());
            let settings = Trapezoidal {
                rows: RowForms::all(form),
                locate: EventLocation::Nothing,
                ..Trapezoidal::default()
            };
            let (x, _) = run(model, body, settings, h, 2.0);
            let error = (x - 3.004_348_569_726_865).abs();
            assert!((error / published - 1.0).abs() < 1e-3, "{form:?} {h}: {error} not {published}");
        }
    }
}

#[test]
fn located_stick_and_slip_are_of_second_order() {
    let mut errors = Vec::new();
    for k in 5..=9 {
        let h = 2f64.powi(-k);
        let (model, body) = block(0.8, |t| 8.0 * t.cos());
        let (x, events) = run(model, body, Trapezoidal::default(), h, 2.0);
        let error = (x - 3.004_348_569_726_865).abs();
        assert_eq!(events.len(), 1, "{events:?}");
        assert!((events[0].t - 0.338_608_184_671_979).abs() < h * h);
        errors.push(error);
    }
    assert_ratios(&errors, 3.9..4.05);
}

/// Closed form: x'' = 8 cos t − μ g in slip; stick begins at the roots of v, slip where the force reaches its bound.
#[test]
fn seven_events_of_the_closed_form() {
    let bound = 0.8 * G;
    let (mut x, mut t, mut direction): (f64, f64, f64) = (3.0, 0.0, 1.0);
    let mut times = Vec::new();
    while times.len() < 7 {
        // v(t) of slip from t, in its direction
        let from = t;
        let speed = |at: f64| direction * 8.0 * (at.sin() - from.sin()) - bound * (at - from);
        let (mut low, mut high) = (from + 0.05, from + 2.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if speed(middle) > 0.0 { low = middle } else { high = middle }
        }
        let slid = |at: f64| {
            let s = at - from;
            8.0 * (from.cos() - at.cos() - s * from.sin()) - 0.5 * direction * bound * s * s
        };
        x += slid(low);
        times.push(low);
        // |8 cos t| reaches the bound next before the next multiple of π
        t = (low / PI).ceil() * PI - (bound / 8.0).acos();
        times.push(t);
        direction = -direction;
    }
    times.truncate(7);
    let mut errors = Vec::new();
    for k in 4..=9 {
        let h = 2f64.powi(-k);
        let (model, body) = block(0.8, |t| 8.0 * t.cos());
        let (found, events) = run(model, body, Trapezoidal::default(), h, 10.0);
        let error = (found - x).abs();
        println!("{h} {error:e}");
        assert_eq!(events.len(), 7, "{events:?}");
        for (event, t) in events.iter().zip(&times) {
            assert!((event.t - t).abs() < h * h, "{} not {t} at {h}", event.t);
        }
        // C h², with C from an independent reference
        let expected = 2.87e-7 * 4f64.powi(9 - k);
        assert!((error / expected - 1.0).abs() < 0.05, "{error} not {expected}");
        errors.push(error);
    }
    assert_ratios(&errors, 3.9..4.1);
}

/// Control: a reversal that is not located causes an error of first order.
#[test]
fn reversals_that_are_not_located_spoil_the_order() {
    let (model, body) = block(0.3, |t| 20.0 * t.cos());
    let settings = Trapezoidal { locate: EventLocation::Impacts, ..Trapezoidal::default() };
    let (x, events) = run(model, body, settings, 2f64.powi(-10), 10.0);
    assert!(events.is_empty());
    assert!((x - 7.639_809_929_250).abs() > 1e-3, "{x}");
}

#[test]
fn reversals_are_located() {
    let mut errors = Vec::new();
    for k in 4..=9 {
        let h = 2f64.powi(-k);
        let (model, body) = block(0.3, |t| 20.0 * t.cos());
        let (x, events) = run(model, body, Trapezoidal::default(), h, 10.0);
        let error = (x - 7.639_809_929_250).abs();
        assert_eq!(events.len(), 3);
        errors.push(error);
    }
    assert_ratios(&errors, 3.8..4.2);
}
