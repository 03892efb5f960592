//! Loads of joints against statics, virtual work and Newton–Euler equations written by hand.

use nalgebra::{
    DMatrix, DVector, Isometry2, Isometry3, Point2, Point3, Translation3, UnitQuaternion, Vector2, Vector3,
};
use std::f64::consts::PI;
use stiction::planar::{Body, Joint, Mass, Motor, Twist, World};
use stiction::{Accuracy, InitialState, JointLoad, Scheme, Simulation, StepReport, System, spatial};

const G: f64 = 9.81;

fn load<'a>(loads: &'a [JointLoad], name: &str) -> &'a JointLoad {
    loads.iter().find(|load| load.name == name).unwrap()
}

/// Report after `steps` steps.
fn after<S: InitialState>(simulation: &mut Simulation<S>, h: f64, steps: usize) -> StepReport {
    (0..steps).map(|_| simulation.step(h).unwrap()).last().unwrap()
}

#[test]
fn reactions_of_a_hanging_chain_are_the_weights_below() {
    let mut plane = World::new(Vector2::new(0.0, -G));
    let mut space = spatial::World::new(Vector3::new(0.0, 0.0, -G));
    let (mut up, mut above) =
        (plane.add_body(Body::fixed("ceiling")), space.add_body(spatial::Body::fixed("ceiling")));
    let masses = [1.0, 3.0, 0.5, 2.0];
    for (k, &mass) in masses.iter().enumerate() {
        let (middle, top) = (-0.2 * (k as f64) - 0.1, -0.2 * (k as f64));
        let body = Body::rigid(format!("link {k}"), Mass::given(mass, 0.01));
        let link = plane.add_body(body.at(Isometry2::translation(0.0, middle)));
        let hinge = Joint::revolute(format!("hinge {k}"), &plane, up, link, Point2::new(0.0, top));
        plane.add_joint(hinge);
        let body = spatial::Body::rigid(format!("link {k}"), spatial::Mass::given(mass, [0.01; 3]));
        let beam = space.add_body(body.at(Isometry3::translation(0.0, 0.0, middle)));
        let point = Point3::new(0.0, 0.0, top);
        let hinge = spatial::Joint::revolute(format!("hinge {k}"), &space, above, beam, point, Vector3::y());
        space.add_joint(hinge);
        (up, above) = (link, beam);
    }
    let mut planar = Simulation::new(plane.build().unwrap());
    let report = after(&mut planar, 0.01, 5);
    let of_plane = planar.system().joint_loads(planar.state(), &report);
    let mut spatial = Simulation::new(space.build().unwrap());
    let report = after(&mut spatial, 0.01, 5);
    let of_space = spatial.system().joint_loads(spatial.state(), &report);
    for k in 0..masses.len() {
        // the first body of each hinge is above: it pulls the second up
        let below: f64 = masses[k..].iter().sum::<f64>() * G;
        let name = format!("hinge {k}");
        let (plane, space) = (load(&of_plane, &name), load(&of_space, &name));
        for (got, expected) in plane.force.into_iter().zip([0.0, below, 0.0]) {
            assert!((got - expected).abs() < 1e-9, "{name} in the plane: {:?}", plane.force);
        }
        for (got, expected) in space.force.into_iter().zip([0.0, 0.0, below]) {
            assert!((got - expected).abs() < 1e-9, "{name} in space: {:?}", space.force);
        }
        let moments = plane.moment.iter().chain(&space.moment);
        assert!(moments.copied().all(|m| m.abs() < 1e-9), "{:?} {:?}", plane.moment, space.moment);
    }
}

/// A weight of 2 kg, 0.3 m out on an arm that is welded to a wall at a slant: force and moment at the weld, along the
/// axes of the world and along those of the frame.
#[test]
fn a_weld_carries_force_and_moment() {
    let turn = 0.4;
    let frame = Isometry2::new(Vector2::zeros(), turn);
    let mut plane = World::new(Vector2::new(0.0, -G));
    let wall = plane.add_body(Body::fixed("wall"));
    let arm = plane.add_body(Body::rigid("arm", Mass::given(2.0, 0.02)).at(Isometry2::translation(0.3, 0.1)));
    plane.add_joint(Joint::between("weld", stiction::planar::JointKind::Fixed, &plane, wall, arm, frame));
    let mut planar = Simulation::new(plane.build().unwrap());
    let report = after(&mut planar, 0.01, 3);
    let loads = planar.system().joint_loads(planar.state(), &report);
    let own = load(&loads, "weld");
    let close = |a: [f64; 3], b: [f64; 3]| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-9);
    assert!(close(own.force, [0.0, 2.0 * G, 0.0]) && close(own.moment, [0.0, 0.0, 0.6 * G]), "{own:?}");
    assert!(close(own.force_in_frame(), [2.0 * G * turn.sin(), 2.0 * G * turn.cos(), 0.0]), "{own:?}");
    assert_eq!((own.coordinate, own.speed), (None, None));

    let mut space = spatial::World::new(Vector3::new(0.0, 0.0, -G));
    let wall = space.add_body(spatial::Body::fixed("wall"));
    let mass = spatial::Mass::given(2.0, [0.02; 3]);
    let pose = Isometry3::from_parts(
        Translation3::new(0.1, 0.3, 0.2),
        UnitQuaternion::from_euler_angles(0.3, -0.5, 0.8),
    );
    let arm = space.add_body(spatial::Body::rigid("arm", mass).at(pose));
    space.add_joint(spatial::Joint::fixed("weld", &space, wall, arm, Point3::origin()));
    let mut spatial = Simulation::new(space.build().unwrap());
    let report = after(&mut spatial, 0.01, 3);
    let loads = spatial.system().joint_loads(spatial.state(), &report);
    let own = load(&loads, "weld");
    // the weight at (0.1, 0.3, 0.2) has the moment r × (0, 0, −2G); the weld answers it
    assert!(close(own.force, [0.0, 0.0, 2.0 * G]) && close(own.moment, [0.6 * G, -0.2 * G, 0.0]), "{own:?}");
}

/// Toggle clamp: the crank turns against a stalled rod that presses a jaw against its stop. The motor reads its limit of
/// 2 N m, and the jaw the force of virtual work.
#[test]
fn a_stalled_toggle_clamp_reads_its_motor_and_its_jaw() {
    let (r, l, angle) = (0.05, 0.2, 0.3_f64);
    let elbow = Vector2::new(r * angle.cos(), r * angle.sin());
    let end = elbow.x + (l * l - elbow.y * elbow.y).sqrt();
    let mut world = World::new(Vector2::zeros());
    let frame = world.add_body(Body::fixed("frame"));
    let bar = |name: &str, p: Vector2<f64>, q: Vector2<f64>| {
        Body::rigid(name, Mass::given(0.2, 1e-4)).at(Isometry2::new((p + q) / 2.0, 0.0))
    };
    let tip = Vector2::new(end, 0.0);
    let crank = world.add_body(bar("crank", Vector2::zeros(), elbow));
    let rod = world.add_body(bar("rod", elbow, tip));
    let jaw = world.add_body(bar("jaw", tip, tip));
    // the crank turns back to straighten the toggle
    let motor = Motor::Velocity { speed: -1.0, force: 2.0 };
    world.add_joint(Joint::revolute("crank", &world, frame, crank, Point2::origin()).motor(motor));
    world.add_joint(Joint::revolute("elbow", &world, crank, rod, elbow.into()));
    world.add_joint(Joint::revolute("pin", &world, rod, jaw, tip.into()));
    let guide = Joint::prismatic("guide", &world, frame, jaw, tip.into(), Vector2::x());
    world.add_joint(guide.limits(f64::NEG_INFINITY, 0.0));
    let mut simulation = Simulation::new(world.build().unwrap());
    let report = after(&mut simulation, 1e-3, 20);
    let loads = simulation.system().joint_loads(simulation.state(), &report);
    let crank = load(&loads, "crank");
    assert!((crank.motor + 2.0).abs() < 1e-9, "{} N m", crank.motor);
    // the moment at a hinge is that of its motor alone
    assert!((crank.moment[2] + 2.0).abs() < 1e-9, "{:?}", crank.moment);
    // ds/dθ of the jaw at this angle
    let travel = -r * angle.sin() - r * r * angle.sin() * angle.cos() / (l * l - elbow.y * elbow.y).sqrt();
    let guide = load(&loads, "guide");
    assert!((guide.limit - 2.0 / travel).abs() < 1e-6, "{} N, not {}", guide.limit, 2.0 / travel);
    assert!((guide.force[0] - guide.limit).abs() < 1e-9 && guide.limit < 0.0, "{guide:?}");
}

/// Four-bar linkage in full swing: its pin forces from seventeen Newton–Euler equations in the accelerations and forces.
#[test]
fn pin_forces_of_a_four_bar_are_those_of_newton_and_euler() {
    let pins = [[0.0, 0.0], [0.1, 0.8], [1.7, 1.3], [2.0, 0.0]].map(Vector2::from);
    let masses = [1.0, 2.5, 1.5];
    let inertia = |k: usize| masses[k] * (pins[k + 1] - pins[k]).norm_squared() / 10.0;
    let mut world = World::new(Vector2::new(0.0, -G));
    let ground = world.add_body(Body::fixed("ground"));
    let mut bodies = vec![ground];
    for k in 0..3 {
        // the centre of mass is not in the middle
        let centre: Vector2<f64> = pins[k] + 0.4 * (pins[k + 1] - pins[k]);
        let body = Body::rigid(format!("bar {k}"), Mass::given(masses[k], inertia(k)));
        let body = body.at(Isometry2::translation(centre.x, centre.y));
        bodies.push(world.add_body(if k == 0 {
            body.moving(Twist::new(Vector2::zeros(), 3.0))
        } else {
            body
        }));
    }
    for k in 0..4 {
        let (a, b) = (bodies[k], bodies[(k + 1) % 4]);
        let pin = Joint::revolute(format!("pin {k}"), &world, a, b, pins[k].into());
        world.add_joint(pin);
    }
    world.project().unwrap();
    let mut simulation = Simulation::new(world.build().unwrap()).with_scheme(Scheme::accurate());
    let mut report = StepReport::default();
    simulation.run_to_accuracy_into(0.35, &Accuracy::of(1e-10), &mut report).unwrap();
    let state = simulation.state();
    let loads = simulation.system().joint_loads(state, &report);

    // levers from the centres of the bars to both of their pins, turned with the bars
    let lever = |k: usize, end: usize| {
        let (from, turn) = (pins[k] + 0.4 * (pins[k + 1] - pins[k]), state.q[3 * k + 2]);
        nalgebra::Rotation2::new(turn) * (pins[k + end] - from)
    };
    // unknowns: three accelerations of each bar, then the force of each pin on its second body
    let (mut matrix, mut right) = (DMatrix::<f64>::zeros(17, 17), DVector::<f64>::zeros(17));
    for k in 0..3 {
        for (end, sign) in [(0, 1.0), (1, -1.0)] {
            let (r, pin) = (lever(k, end), k + end);
            for c in 0..2 {
                matrix[(3 * k + c, 9 + 2 * pin + c)] -= sign;
            }
            matrix[(3 * k + 2, 9 + 2 * pin)] += sign * r.y;
            matrix[(3 * k + 2, 9 + 2 * pin + 1)] -= sign * r.x;
        }
        matrix[(3 * k, 3 * k)] = masses[k];
        matrix[(3 * k + 1, 3 * k + 1)] = masses[k];
        matrix[(3 * k + 2, 3 * k + 2)] = inertia(k);
        right[3 * k + 1] = -masses[k] * G;
    }
    // pins accelerate with both bars: a + α × r − ω² r
    for pin in 0..4_usize {
        for (k, end, sign) in [(pin, 0, 1.0), (pin.wrapping_sub(1), 1, -1.0)] {
            if k < 3 {
                let (r, omega) = (lever(k, end), state.v[3 * k + 2]);
                for c in 0..2 {
                    matrix[(9 + 2 * pin + c, 3 * k + c)] += sign;
                    matrix[(9 + 2 * pin + c, 3 * k + 2)] += sign * [-r.y, r.x][c];
                    right[9 + 2 * pin + c] += sign * omega * omega * r[c];
                }
            }
        }
    }
    let solved = matrix.lu().solve(&right).unwrap();
    let largest = (0..8).map(|i| solved[9 + i].abs()).fold(0.0, f64::max);
    assert!(largest > 10.0, "{largest} N");
    for pin in 0..4 {
        let own = load(&loads, &format!("pin {pin}"));
        for c in 0..2 {
            let expected = solved[9 + 2 * pin + c];
            // pin 3 joins bar 2 to the ground, its second body
            assert!(
                (own.force[c] - expected).abs() < 1e-8 * largest,
                "{}: {:?}, not {expected}",
                own.name,
                own.force
            );
        }
    }
}

#[test]
fn an_angle_counts_turns_and_a_limit_beyond_a_turn_holds() {
    let mut world = World::new(Vector2::zeros());
    let frame = world.add_body(Body::fixed("frame"));
    let wheel = Body::rigid("wheel", Mass::given(1.0, 0.1)).moving(Twist::new(Vector2::zeros(), 10.0));
    let wheel = world.add_body(wheel);
    let hinge = Joint::revolute("hinge", &world, frame, wheel, Point2::origin()).limits(-1.0, 4.0 * PI);
    let hinge = world.add_joint(hinge);
    let mut simulation = Simulation::new(world.build().unwrap());
    let mut counted = |steps: usize| {
        after(&mut simulation, 0.01, steps);
        let (model, state) = (simulation.system(), simulation.state());
        (model.joint_coordinate(state, hinge).unwrap(), model.joint_speed(state, hinge).unwrap())
    };
    let (angle, speed) = counted(100);
    assert!((angle - 10.0).abs() < 1e-12 && (speed - 10.0).abs() < 1e-12, "{angle} rad, {speed} rad/s");
    let (angle, speed) = counted(100);
    assert!((angle - 4.0 * PI).abs() < 1e-9 && speed.abs() < 1e-9, "{angle} rad, {speed} rad/s");
    // an edit keeps the turns
    simulation.edit(|world| world.gravity = Vector2::new(0.0, -1.0)).unwrap();
    let angle = simulation.system().joint_coordinate(simulation.state(), hinge).unwrap();
    assert!((angle - 4.0 * PI).abs() < 1e-9, "{angle} rad");
    assert_eq!(simulation.system().bodies(), [3]);
}
