//! Torsional and rolling friction in runs to an accuracy, against closed forms.

use crate::common::G;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction::spatial::{Attached, Body, Mass, Model, Shape, Twist, World};
use stiction::{Accuracy, Evidence, Material, Scheme, Simulation, State, StepReport, verify_accuracy_run};

const TOLERANCES: [f64; 3] = [1e-4, 1e-6, 1e-8];
/// Radius [m], mass [kg] and moment of inertia of a uniform ball [kg m²].
const R: f64 = 0.2;
const M: f64 = 3.0;
const I: f64 = 0.4 * M * R * R;

/// Ball at a height above a plane that falls by `angle` towards x.
fn ball(material: Material, angle: f64, height: f64, twist: Twist) -> Model {
    let mut world = World::new(Vector3::new(0.0, 0.0, -G));
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle);
    let pose = Isometry3::from_parts(Vector3::zeros().into(), turn);
    world.add_body(Body::fixed("ground").at(pose).with(Attached::new(Shape::HalfSpace).material(material)));
    let at = (R + height) * (turn * Vector3::z());
    let shape = Attached::new(Shape::Sphere { radius: R }).material(material);
    let body = Body::rigid("ball", Mass::given(M, [I; 3])).at(Isometry3::translation(at.x, at.y, at.z));
    world.add_body(body.moving(twist).with(shape));
    world.build().unwrap()
}

/// End of a run whose record holds.
fn end(model: &Model, until: f64, tolerance: f64) -> State {
    let mut simulation = Simulation::new(model.clone());
    let before = simulation.state().clone();
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    let accuracy = Accuracy::of(tolerance);
    let made = simulation.run_to_accuracy_into(until, &accuracy, &mut report);
    let summary = made.unwrap_or_else(|e| panic!("{tolerance:e}: {e}"));
    let after = simulation.state().clone();
    let verdict =
        verify_accuracy_run(model, &Scheme::default(), &accuracy, &before, &after, &report, &summary);
    assert!(verdict.findings.is_empty(), "{tolerance:e}: {:#?}", verdict.findings);
    after
}

/// ω falls by μ ℓ N / I until the ball stops, and stays.
#[test]
fn a_spinning_ball_stops_when_its_moment_says() {
    let (mu, torsion, spin) = (0.3, 0.04, 2.0);
    let material = Material { friction: mu, restitution: 0.0, torsion, rolling: 0.0 };
    let model = ball(material, 0.0, 0.0, Twist::new(Vector3::zeros(), spin * Vector3::z()));
    let slowed = mu * torsion * M * G / I;
    for tolerance in TOLERANCES {
        for (until, stopped) in [(0.2, false), (0.5, true)] {
            let state = end(&model, until, tolerance);
            let (omega, angle) = if stopped {
                (0.0, 0.5 * spin * spin / slowed)
            } else {
                (spin - slowed * until, spin * until - 0.5 * slowed * until * until)
            };
            let turned = 2.0 * state.q[4..7].iter().map(|x| x * x).sum::<f64>().sqrt().min(1.0).asin();
            let errors = [(turned - angle).abs(), (state.v[5] - omega).abs()];
            assert!(errors.iter().all(|e| *e <= 10.0 * tolerance), "{tolerance:e}, {until} s: {errors:?}");
        }
    }
}

/// m v̇ = −f, I ω̇ = R f − ℓ N, v = R ω: a ball that rolls is slowed by ℓ N / (R (m + I/R²)), stops, and stays.
#[test]
fn a_rolling_ball_stops_where_its_moment_says() {
    let (length, speed) = (0.03, 0.5);
    let material = Material { friction: 0.5, restitution: 0.0, torsion: 0.0, rolling: length };
    let twist = Twist::new(speed * Vector3::x(), speed / R * Vector3::y());
    let model = ball(material, 0.0, 0.0, twist);
    let slowed = length * G / (R * 1.4);
    for tolerance in TOLERANCES {
        let exact = [speed * 0.3 - 0.5 * slowed * 0.09, 0.5 * speed * speed / slowed];
        for (until, exact) in [0.3, 0.8].into_iter().zip(exact) {
            let error = (end(&model, until, tolerance).q[0] - exact).abs();
            assert!(error <= 10.0 * tolerance, "{tolerance:e}, {until} s: {error:e}");
        }
    }
}

/// On an incline steeper than ℓ/R a ball rolls with g (sin θ − ℓ cos θ / R) / 1.4; on one less steep it stays.
#[test]
fn a_ball_on_an_incline_rolls_beyond_the_angle_of_its_length() {
    let length = 0.03;
    let material = Material { friction: 0.5, restitution: 0.0, torsion: 0.0, rolling: length };
    for tolerance in TOLERANCES {
        for angle in [0.1_f64, 0.3] {
            let model = ball(material, angle, 0.0, Twist::new(Vector3::zeros(), Vector3::zeros()));
            let until = 0.5;
            let state = end(&model, until, tolerance);
            let along = G * (angle.sin() - length / R * angle.cos()) / 1.4;
            let exact = 0.5 * along.max(0.0) * until * until;
            let start = R * angle.sin();
            let error = ((state.q[0] - start) / angle.cos() - exact).abs();
            assert!(error <= 10.0 * tolerance, "{tolerance:e}, {angle}: {error:e}");
        }
    }
}

/// A ball that falls while it moves rolls after the impact, whose friction leaves v = R ω, and is slowed from then on.
#[test]
fn a_ball_that_lands_rolls_and_is_slowed() {
    let (height, speed, length) = (0.1, 0.6, 0.02);
    // a bound on friction that the impact does not reach
    let material = Material { friction: 0.9, restitution: 0.0, torsion: 0.0, rolling: length };
    let model = ball(material, 0.0, height, Twist::new(speed * Vector3::x(), Vector3::zeros()));
    let fall = (2.0 * height / G).sqrt();
    // the impact has a normal impulse m √(2 g H): friction −p and a rolling moment of at most ℓ times it; both rows act
    // at the contact point, so m (v − u) = p, I ω = R p − ℓ P and u = R ω
    let moment = length * M * (2.0 * G * height).sqrt();
    let rolling = (speed * M * R * R - moment * R) / (M * R * R + I);
    let slowed = length * G / (R * 1.4);
    let until = 0.4;
    let exact = speed * fall + rolling * (until - fall) - 0.5 * slowed * (until - fall).powi(2);
    for tolerance in TOLERANCES {
        let error = (end(&model, until, tolerance).q[0] - exact).abs();
        assert!(error <= 10.0 * tolerance, "{tolerance:e}: {error:e}");
    }
}
