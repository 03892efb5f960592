//! Free motion against the scheme's recurrences.

use crate::common::{built, gravity, mass, pose, pose_of, simulation, step, twist_of, vector};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stiction::spatial::{Body, Force, Mass, Twist, World, Wrench};
use stiction::{Scheme, System};

#[test]
fn free_fall_is_the_recurrence_of_the_scheme() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut world = World::new(gravity());
    let axis = Vector3::new(1.0, 2.0, -2.0) / 3.0;
    let start = pose(&mut rng, 1.0);
    let velocity = Twist::new(vector(&mut rng, 1.0), vector(&mut rng, 3.0));
    let bodies = [
        Body::rigid("rigid", mass(&mut rng)),
        Body::point("point", 0.3),
        // the length of the axis does not matter
        Body::slider("slider", 0.4, 7.0 * axis),
    ];
    let ids = bodies.map(|body| world.add_body(body.at(start).moving(velocity)));
    let mut run = simulation(world, Scheme::first_order());
    let along = |v: Vector3<f64>| axis * axis.dot(&v);
    let acceleration = [gravity(), gravity(), along(gravity())];
    let mut v = [velocity.linear, velocity.linear, along(velocity.linear)];
    let mut x = ids.map(|id| run.system().centre(run.state(), id).unwrap());
    let h = 0.01;
    for _ in 0..100 {
        step(&mut run, h);
        for (i, &id) in ids.iter().enumerate() {
            v[i] += h * acceleration[i];
            x[i] += h * v[i];
            // round-off of 100 sums of numbers up to 10
            assert!((twist_of(&run, id).linear - v[i]).norm() < 1e-12);
            assert!((run.system().centre(run.state(), id).unwrap() - x[i]).norm() < 1e-12);
        }
    }
    // points and sliders do not turn
    assert_eq!(pose_of(&run, ids[1]).rotation, start.rotation);
    assert_eq!(pose_of(&run, ids[2]).rotation, start.rotation);
}

/// Energies of a spinning brick, step by step, and the largest change of its angular momentum [N m s].
fn spin(implicit_gyroscopic: bool, h: f64, steps: u32) -> (Vec<f64>, f64) {
    let mut world = World::new(Vector3::zeros());
    // about 10 rad/s, most of it about the unstable middle axis
    let spin = Twist::new(Vector3::zeros(), Vector3::new(1.0, 10.0, 1.0));
    world.add_body(Body::rigid("brick", Mass::given(1.0, [0.3, 1.0, 1.2])).moving(spin));
    let scheme = Scheme { implicit_gyroscopic, ..Scheme::first_order() };
    let mut run = simulation(world, scheme);
    let start = run.system().momentum(&run.state().q, &run.state().v).1;
    let mut drift: f64 = 0.0;
    let energies = (0..steps)
        .map(|_| {
            let report = step(&mut run, h);
            let change = Vector3::from(report.angular_momentum) - Vector3::from(start);
            drift = drift.max(change.norm());
            report.kinetic
        })
        .collect();
    (energies, drift)
}

#[test]
fn a_spinning_body_gains_no_energy_in_100_000_steps() {
    let (energies, _) = spin(true, 0.01, 100_000);
    let mut before = 0.5 * (0.3 + 1.0 * 100.0 + 1.2);
    for energy in energies {
        // round-off of one solve
        assert!(energy <= before * (1.0 + 1e-14), "{energy} after {before}");
        before = energy;
    }
    assert!(before > 0.0);
}

#[test]
fn the_explicit_gyroscopic_force_gains_energy() {
    let (energies, _) = spin(false, 0.01, 1000);
    assert!(energies[999] > 2.0 * energies[0], "{} after {}", energies[999], energies[0]);
}

#[test]
fn angular_momentum_drifts_by_the_order_of_the_step() {
    let start = Vector3::new(0.3, 10.0, 1.2).norm();
    let drifts = [500, 1000, 2000].map(|steps| spin(true, 1.0 / f64::from(steps), steps).1 / start);
    println!("drift of angular momentum in 1 s: {drifts:?}");
    // order 1: the linearly implicit force is
    assert!(drifts[0] / drifts[1] > 1.7 && drifts[1] / drifts[2] > 1.7, "{drifts:?}");
    assert!(drifts[2] < 0.05, "{drifts:?}");
}

#[test]
fn a_spin_about_a_principal_axis_is_exact() {
    let mut world = World::new(Vector3::zeros());
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.3, -0.5, 0.9));
    let spin = Twist::new(Vector3::zeros(), turn * Vector3::new(0.0, 0.0, 4.0));
    let top = Body::rigid("top", Mass::given(2.0, [1.0, 2.0, 2.5]));
    let top = world.add_body(top.at(Isometry3::from_parts(Vector3::zeros().into(), turn)).moving(spin));
    let mut run = simulation(world, Scheme::default());
    for _ in 0..1000 {
        step(&mut run, 0.01);
    }
    let exact = turn * UnitQuaternion::from_scaled_axis(Vector3::z() * 40.0);
    // round-off of 1000 products
    assert!(pose_of(&run, top).rotation.angle_to(&exact) < 1e-12);
}

#[test]
fn forces_act_where_they_are_said_to() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut world = World::new(Vector3::zeros());
    let Mass::Given { mass, centre, inertia } = mass(&mut rng) else { panic!("a given mass") };
    let body = Body::rigid("body", Mass::Given { mass, centre, inertia }).at(pose(&mut rng, 1.0));
    let at = body.pose;
    let id = world.add_body(body);
    let (force, torque) = (vector(&mut rng, 2.0), vector(&mut rng, 2.0));
    let point = vector(&mut rng, 0.5).into();
    world.add_force(Force::Constant { body: id, point: Some(point), wrench: Wrench { force, torque } });
    world.add_force(Force::timed(id, |t| Wrench { force: Vector3::x() * t, torque: Vector3::zeros() }));
    world.add_force(Force::custom(|t, _, v, k| k[1] += 3.0 * t + v[1]));
    world.t = 2.0;
    let model = built(world);
    let mut state = model.state();
    state.v[1] = 0.5;
    let mut forces = stiction::Forces::default();
    model.forces(state.t, &state.q, &state.v, &mut forces);
    let linear = force + Vector3::new(2.0, 6.5, 0.0);
    let moment = at.rotation.inverse() * (torque + (at * point - at * centre).cross(&force));
    for (k, exact) in forces.k.iter().zip(linear.iter().chain(moment.iter())) {
        assert!((k - exact).abs() < 1e-14, "{k} instead of {exact}");
    }
}

/// A mass on a spring of this stiffness and damping, 1 kg at 0.5 m from its rest, after 1 s at h = 0.01: all
/// positions.
fn swing(force: impl Fn(stiction::spatial::BodyId, stiction::spatial::BodyId) -> Force) -> Vec<f64> {
    let mut world = World::new(Vector3::zeros());
    let wall = world.add_body(Body::fixed("wall"));
    let ball = world
        .add_body(Body::rigid("ball", Mass::given(1.0, [0.1; 3])).at(Isometry3::translation(1.5, 0.0, 0.0)));
    world.add_force(force(wall, ball));
    let mut run = simulation(world, Scheme::first_order());
    let one = |_| {
        step(&mut run, 0.01);
        pose_of(&run, ball).translation.x
    };
    (0..100).map(one).collect()
}

#[test]
fn springs_are_linearly_implicit_and_stable_at_any_stiffness() {
    let spring = |stiffness: f64, damping: f64, rest_length: f64| {
        move |a, b| {
            let origin = nalgebra::Point3::origin();
            Force::Spring { a, point_a: origin, b, point_b: origin, stiffness, damping, rest_length }
        }
    };
    let rail = |stiffness: f64, damping: f64| {
        move |_, body| {
            let (point, axis) = (nalgebra::Point3::origin(), 2.0 * Vector3::x());
            Force::Rail { body, point, axis, origin: 1.0, stiffness, damping }
        }
    };
    for (stiffness, damping) in [(100.0, 0.0), (100.0, 3.0), (1e10, 0.0), (1e10, 1e8), (0.0, 1e10)] {
        // (1 + hδ + h²γ) v⁺ = v − hγ x, in place of 1 the mass
        let (mut x, mut v, h) = (0.5, 0.0, 0.01);
        let springs = [swing(spring(stiffness, damping, 1.0)), swing(rail(stiffness, damping))];
        for k in 0..100 {
            v = (v - h * stiffness * x) / (1.0 + h * damping + h * h * stiffness);
            x += h * v;
            for found in &springs {
                // stiff springs cancel hγx of 1e8 against itself, to 1e-16 of that over 1 + h²γ
                assert!(
                    (found[k] - 1.0 - x).abs() < 1e-12,
                    "{} instead of {x} at {stiffness}",
                    found[k] - 1.0
                );
            }
        }
        // without a rest length: all of 1.5 m are elongation
        let loose = swing(spring(stiffness, damping, 0.0));
        assert!(loose.iter().all(|x| x.abs() <= 1.5 + 1e-12));
    }
}

#[test]
fn springs_without_length_give_no_nan() {
    for rest_length in [0.0, 0.3] {
        let mut world = World::new(Vector3::zeros());
        let a = world.add_body(Body::point("a", 1.0));
        let b = world.add_body(Body::point("b", 1.0));
        let origin = nalgebra::Point3::origin();
        let (stiffness, damping) = (100.0, 1.0);
        world.add_force(Force::Spring {
            a,
            point_a: origin,
            b,
            point_b: origin,
            stiffness,
            damping,
            rest_length,
        });
        let mut run = simulation(world, Scheme::default());
        let report = step(&mut run, 0.01);
        assert!(run.state().v.iter().all(|v| v.is_finite()));
        assert!(report.potential.is_finite());
    }
}

#[test]
fn a_spring_to_a_kinematic_body_follows_it() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut world = World::new(Vector3::zeros());
    let path = stiction::spatial::Path::new(|t| {
        (Isometry3::translation(2.0 * t, 0.0, 0.0), Twist::new(Vector3::x() * 2.0, Vector3::zeros()))
    });
    let hand = world.add_body(Body::kinematic("hand", path));
    let ball = world.add_body(Body::rigid("ball", mass(&mut rng)));
    let origin = nalgebra::Point3::origin();
    let (stiffness, damping, rest_length) = (1e10, 0.0, 0.0);
    world.add_force(Force::Spring {
        a: hand,
        point_a: origin,
        b: ball,
        point_b: origin,
        stiffness,
        damping,
        rest_length,
    });
    let mut run = simulation(world, Scheme::default());
    for _ in 0..200 {
        step(&mut run, 0.01);
    }
    // the spring aims at where the hand was, one step of 2 m/s behind
    assert!((pose_of(&run, ball).translation.x - 4.0).abs() < 0.03);
}

#[test]
fn momentum_and_energy_are_reported() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut world = World::new(gravity());
    let given = mass(&mut rng);
    let Mass::Given { mass, centre, inertia } = given else { panic!("a given mass") };
    let at = pose(&mut rng, 1.0);
    let velocity = Twist::new(vector(&mut rng, 1.0), vector(&mut rng, 1.0));
    world.add_body(Body::rigid("body", given).at(at).moving(velocity));
    let model = built(world);
    let state = model.state();
    let (linear, angular) = model.momentum(&state.q, &state.v);
    let r = at.rotation.to_rotation_matrix();
    let spin = r * inertia * r.transpose() * velocity.angular;
    let exact = (at * centre).coords.cross(&(mass * velocity.linear)) + spin;
    assert!((Vector3::from(linear) - mass * velocity.linear).norm() < 1e-14);
    assert!((Vector3::from(angular) - exact).norm() < 1e-14);
    assert!((model.potential(0.0, &state.q) - mass * 9.81 * (at * centre).z).abs() < 1e-13);
}
