//! Step errors: infeasible steps and invalid input.

use crate::common::{SCHEMES, bits, in_plane, in_space};
use crate::{planes, spaces};
use nalgebra::{Isometry2, Isometry3, Vector2, Vector3};
use stiction::{Scheme, Simulation, StepError, System, planar, spatial};
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::solve;

/// Error of a step that must fail and change nothing.
fn failed<S: System>(run: &mut Simulation<S>, h: f64) -> StepError {
    let before = bits(run.state());
    let error = run.step(h).expect_err("a step that cannot be made");
    assert_eq!(bits(run.state()), before, "{error}");
    // the error repeats
    assert_eq!(format!("{:?}", run.step(h).expect_err("again")), format!("{error:?}"));
    error
}

/// Press in the plane: a box between two walls that close at 1 m/s each.
fn press() -> planar::World {
    let mut world = planes::earth();
    for (name, x, angle) in [("left", -0.3, -1.0), ("right", 0.3, 1.0)] {
        let path = planar::Path::new(move |t| {
            let pose = Isometry2::new(Vector2::new(x + angle * -t, 0.0), angle * std::f64::consts::FRAC_PI_2);
            (pose, planar::Twist::new(Vector2::new(-angle, 0.0), 0.0))
        });
        let wall = planar::Attached::new(planar::Shape::HalfPlane);
        world.add_body(planar::Body::kinematic(name, path).with(wall));
    }
    let body = planar::Body::rigid("box", planar::Mass::given(1.0, 0.1));
    world.add_body(body.with(planes::rectangle(0.28, 0.2)));
    world
}

/// Press in space.
fn press_in_space() -> spatial::World {
    let mut world = spaces::earth();
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let path = spatial::Path::new(move |t| {
            let turn = Isometry3::rotation(-side * std::f64::consts::FRAC_PI_2 * Vector3::y());
            let at = Isometry3::translation(side * (0.3 - t), 0.0, 0.0);
            (at * turn, spatial::Twist::new(-side * Vector3::x(), Vector3::zeros()))
        });
        let wall = spatial::Attached::new(spatial::Shape::HalfSpace);
        world.add_body(spatial::Body::kinematic(name, path).with(wall));
    }
    let body = spatial::Body::rigid("box", spatial::Mass::given(1.0, [0.1; 3]));
    let shape = spatial::Shape::Cuboid { half_extents: [0.28, 0.2, 0.2] };
    world.add_body(body.with(spatial::Attached::new(shape)));
    world
}

/// Index of the first step that fails.
fn until_failure<S: System>(run: &mut Simulation<S>) -> u32 {
    for k in 0..10 {
        let before = run.state().clone();
        if run.step(0.01).is_err() {
            run.restore(before);
            return k;
        }
    }
    panic!("the press does not close")
}

fn check_press<S: System>(mut run: Simulation<S>, name: &str) {
    // gaps of 20 mm on each side close by 10 mm per step; an impact within a step is there at the end of the second
    let steps = if run.scheme.level == stiction::Level::Timed { 1 } else { 2 };
    let made = until_failure(&mut run);
    assert_eq!(made, steps, "{name}");
    let error = failed(&mut run, 0.01);
    let StepError::Unsolved { t, error, problem, .. } = error else { panic!("{name}: {error}") };
    assert!((t - 0.01 * f64::from(steps)).abs() < 1e-12, "{name}: {t}");
    assert_eq!(error.status(), "infeasible", "{name}: {error}");

    // the problem is written, read and solved again
    let text = ProblemFile::from(AnyProblem::Step(*problem)).to_json();
    let file = ProblemFile::from_json(&text).unwrap();
    let again = solve(&file.problem, &run.scheme.solver, None).expect_err("the same problem");
    assert_eq!(again.status(), "infeasible", "{name}: {again}");
    assert_eq!(format!("{again:?}"), format!("{error:?}"), "{name}");
}

#[test]
fn a_closing_press_is_infeasible_and_its_problem_can_be_saved() {
    for scheme in [Scheme::default(), Scheme::ah04(), Scheme::st00()] {
        check_press(in_plane(&press(), scheme), &format!("in the plane, {:?}", scheme.level));
        check_press(in_space(&press_in_space(), scheme), &format!("in space, {:?}", scheme.level));
    }
}

#[test]
fn step_sizes_must_be_positive_and_finite() {
    let mut run = in_plane(&planes::rod().world, Scheme::default());
    for h in [0.0, -0.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(failed(&mut run, h), StepError::StepSize(_)), "{h}");
    }
    // the run continues
    run.step(0.01).unwrap();
}

#[test]
fn forces_must_be_finite() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut world = planes::rod().world;
        let rod = world.find_body("rod").unwrap();
        world.add_force(planar::Force::timed(rod, move |t| planar::Wrench {
            force: Vector2::new(if t > 0.015 { bad } else { 0.0 }, 0.0),
            torque: 0.0,
        }));
        let mut run = in_plane(&world, Scheme::default());
        run.step(0.01).unwrap();
        run.step(0.01).unwrap();
        // forces are taken in the middle of the step
        let error = failed(&mut run, 0.01);
        assert!(matches!(&error, StepError::NotFinite { t, .. } if (t - 0.025).abs() < 1e-12), "{error}");

        let mut world = spaces::all().remove(0).1;
        world.add_force(spatial::Force::custom(move |_, _, _, k| k[3] = bad));
        let error = failed(&mut in_space(&world, Scheme::default()), 0.01);
        assert!(matches!(&error, StepError::NotFinite { .. }), "{error}");
    }
}

/// Asserts that a state with any number that is not finite is refused.
fn check_states<S: System>(mut run: Simulation<S>) {
    let start = run.state().clone();
    let (q, v) = (start.q.len(), start.v.len());
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for i in 0..=q + v {
            let mut state = start.clone();
            match i {
                _ if i < q => state.q[i] = bad,
                _ if i < q + v => state.v[i - q] = bad,
                _ => state.t = bad,
            }
            run.restore(state);
            let error = failed(&mut run, 0.01);
            assert!(matches!(&error, StepError::NotFinite { .. }), "number {i}: {error}");
        }
    }
    run.restore(start);
    run.step(0.01).unwrap();
}

#[test]
fn states_must_be_finite_and_of_the_model() {
    for (_, scheme) in SCHEMES {
        check_states(in_plane(&planes::rod().world, scheme()));
        check_states(in_space(&spaces::all().remove(0).1, scheme()));
    }
    let mut run = in_plane(&planes::rod().world, Scheme::default());
    let mut state = run.state().clone();
    state.q.pop();
    run.restore(state);
    assert!(matches!(failed(&mut run, 0.01), StepError::Size { .. }));
}

#[test]
fn prescribed_motions_must_be_finite() {
    let mut world = planes::earth();
    let path = planar::Path::new(|t| {
        let height = if t < 0.015 { 0.0 } else { f64::NAN };
        (planes::at(0.0, height), planar::Twist::default())
    });
    let lift = planar::Attached::new(planar::Shape::HalfPlane);
    world.add_body(planar::Body::kinematic("lift", path).with(lift));
    let body = planar::Body::rigid("ball", planar::Mass::given(1.0, 0.1)).at(planes::at(0.0, 0.2));
    world.add_body(body.with(planes::disk(0.2)));
    let mut run = in_plane(&world, Scheme::default());
    run.step(0.01).unwrap();
    // a lift without a finite pose must not let the ball fall through
    let error = failed(&mut run, 0.01);
    assert!(matches!(&error, StepError::NotFinite { .. }), "{error}");
}
