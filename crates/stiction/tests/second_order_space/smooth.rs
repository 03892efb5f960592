//! Smooth motion in space: free bodies and chains on ball joints, against an independent integration.

use crate::common::{G, run, second_order, spatial};
use nalgebra::{DMatrix, DVector, Isometry3, Matrix3, Point3, Quaternion, UnitQuaternion, Vector3};
use stiction::Accuracy;
use stiction::spatial::{Body, BodyId, Joint, Mass, Twist, World};

/// Rigid body: position, orientation, velocity, and spin in body axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rigid {
    pub(crate) x: Vector3<f64>,
    pub(crate) r: Quaternion<f64>,
    pub(crate) v: Vector3<f64>,
    pub(crate) w: Vector3<f64>,
}

/// Chain of bodies from the origin. A ball joint connects `levers[0]` of each to `levers[1]` of the one before. The first
/// may be free.
pub(crate) struct Chain {
    pub(crate) mass: f64,
    pub(crate) inertia: Vector3<f64>,
    pub(crate) levers: Option<[Vector3<f64>; 2]>,
    pub(crate) gravity: f64,
}

impl Chain {
    /// Velocities and accelerations: M a = k + Jᵀλ, J a = −J' v.
    fn rates(&self, bodies: &[Rigid]) -> Vec<Rigid> {
        let n = bodies.len();
        let joints = if self.levers.is_some() { n } else { 0 };
        let size = 6 * n + 3 * joints;
        let mut a = DMatrix::zeros(size, size);
        let mut b = DVector::zeros(size);
        for (i, body) in bodies.iter().enumerate() {
            let inertia = Matrix3::from_diagonal(&self.inertia);
            for k in 0..3 {
                a[(6 * i + k, 6 * i + k)] = self.mass;
                a[(6 * i + 3 + k, 6 * i + 3 + k)] = self.inertia[k];
            }
            b[6 * i + 2] = -self.mass * self.gravity;
            let spin = -body.w.cross(&(inertia * body.w));
            b.fixed_rows_mut::<3>(6 * i + 3).copy_from(&spin);
        }
        let mut hold = |joint: usize, i: usize, lever: Vector3<f64>, sign: f64| {
            let turn = UnitQuaternion::from_quaternion(bodies[i].r).to_rotation_matrix();
            // the acceleration of the point is a − R [r]× α + R (ω × (ω × r))
            let arm = -(turn.matrix() * lever.cross_matrix());
            let w = bodies[i].w;
            let curved = turn * w.cross(&w.cross(&lever));
            let row = 6 * n + 3 * joint;
            for r in 0..3 {
                a[(row + r, 6 * i + r)] = sign;
                a[(6 * i + r, row + r)] = -sign;
                for c in 0..3 {
                    a[(row + r, 6 * i + 3 + c)] = sign * arm[(r, c)];
                    a[(6 * i + 3 + c, row + r)] = -sign * arm[(r, c)];
                }
                b[row + r] -= sign * curved[r];
            }
        };
        if let Some([near, far]) = self.levers {
            for i in 0..n {
                hold(i, i, near, 1.0);
                if i > 0 {
                    hold(i, i - 1, far, -1.0);
                }
            }
        }
        let solved = a.lu().solve(&b).expect("a regular chain");
        let rate = |(i, body): (usize, &Rigid)| Rigid {
            x: body.v,
            r: body.r * Quaternion::from_imag(0.5 * body.w),
            v: solved.fixed_rows::<3>(6 * i).into_owned(),
            w: solved.fixed_rows::<3>(6 * i + 3).into_owned(),
        };
        bodies.iter().enumerate().map(rate).collect()
    }

    /// Integrates by the classical Runge-Kutta method.
    pub(crate) fn integrate(&self, mut bodies: Vec<Rigid>, until: f64, steps: usize) -> Vec<Rigid> {
        let h = until / steps as f64;
        let add = |from: &[Rigid], rates: &[Rigid], h: f64| -> Vec<Rigid> {
            let sum = |(b, k): (&Rigid, &Rigid)| Rigid {
                x: b.x + h * k.x,
                r: b.r + k.r * h,
                v: b.v + h * k.v,
                w: b.w + h * k.w,
            };
            from.iter().zip(rates).map(sum).collect()
        };
        for _ in 0..steps {
            let k1 = self.rates(&bodies);
            let k2 = self.rates(&add(&bodies, &k1, 0.5 * h));
            let k3 = self.rates(&add(&bodies, &k2, 0.5 * h));
            let k4 = self.rates(&add(&bodies, &k3, h));
            for (k, part) in [(k1, 1.0), (k2, 2.0), (k3, 2.0), (k4, 1.0)] {
                bodies = add(&bodies, &k, part * h / 6.0);
            }
        }
        bodies
    }
}

pub(crate) fn start(
    simulation: &stiction::Simulation<stiction::spatial::Model>,
    bodies: &[BodyId],
) -> Vec<Rigid> {
    let (model, state) = (simulation.system(), simulation.state());
    let one = |&id: &BodyId| {
        let pose = model.pose(state, id).expect("a body of the world");
        let twist = model.velocity(state, id).expect("a body of the world");
        let w = pose.rotation.inverse() * twist.angular;
        Rigid { x: pose.translation.vector, r: pose.rotation.into_inner(), v: twist.linear, w }
    };
    bodies.iter().map(one).collect()
}

/// Largest distance of two motions in positions and orientations.
pub(crate) fn distance(a: &[Rigid], b: &[Rigid]) -> f64 {
    let one = |(a, b): (&Rigid, &Rigid)| {
        let turn = UnitQuaternion::from_quaternion(a.r).angle_to(&UnitQuaternion::from_quaternion(b.r));
        (a.x - b.x).norm().max(turn)
    };
    a.iter().zip(b).map(one).fold(0.0, f64::max)
}

#[test]
fn a_top_without_torque_is_of_second_order() {
    let inertia = Vector3::new(0.2, 0.35, 0.5);
    let top = || {
        let mut world = World::new(Vector3::zeros());
        let body = Body::rigid("top", Mass::given(1.0, inertia.into()));
        // near the intermediate axis, about which it tumbles
        let spin = Twist::new(Vector3::zeros(), Vector3::new(0.1, 4.0, 0.2));
        let body = world.add_body(body.moving(spin));
        (spatial(world), body)
    };
    let (simulation, body) = top();
    let chain = Chain { mass: 1.0, inertia, levers: None, gravity: 0.0 };
    let exact = chain.integrate(start(&simulation, &[body]), 4.0, 40_000);
    second_order("top", 6..=10, |h| {
        let (mut simulation, body) = top();
        let summary = run(&mut simulation, h, 4.0);
        println!("  h = {h}: energy strays by {:.2e}", summary.energy);
        // measured: at most 13 h²
        assert!(summary.energy < 13.0 * h * h);
        distance(&start(&simulation, &[body]), &exact)
    });
}

/// Samples between the ends of steps are as accurate as the ends: without torque the kinetic energy of a top is constant.
#[test]
fn samples_of_an_accurate_run_are_as_accurate_as_its_steps() {
    let inertia = Vector3::new(0.2, 0.35, 0.5);
    let mut world = World::new(Vector3::zeros());
    let body = Body::rigid("top", Mass::given(1.0, inertia.into()));
    world.add_body(body.moving(Twist::new(Vector3::zeros(), Vector3::new(0.1, 4.0, 0.2))));
    let mut simulation = spatial(world);
    let energy = |spin: &[f64]| 0.5 * (0..3).map(|i| inertia[i] * spin[i] * spin[i]).sum::<f64>();
    let at_start = energy(&simulation.state().v[3..]);
    // the times are out of order, and one is before the start
    let times: Vec<f64> = (0..400_u32).rev().map(|k| 0.01 * f64::from(k) - 0.005).collect();
    let accurate = simulation
        .run_to_accuracy(4.0, &Accuracy::of(1e-9), &times, |_, state| (state.t, energy(&state.v[3..])))
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(accurate.report.steps < 200, "samples are between the ends of {} steps", accurate.report.steps);
    assert_eq!(accurate.trajectory.values.len(), 399);
    for (&t, &(at, energy)) in accurate.trajectory.times.iter().zip(&accurate.trajectory.values) {
        assert_eq!(t, at);
        // I ω δω of each step
        let strayed = (energy - at_start).abs();
        assert!(strayed < 1.4 * 1e-9 * accurate.report.steps as f64, "{strayed:e} J at {t} s");
    }
}

#[test]
fn a_double_pendulum_on_ball_joints_is_of_second_order() {
    let inertia = Vector3::new(0.02, 0.09, 0.1);
    let levers = [Vector3::new(-0.5, 0.0, 0.0), Vector3::new(0.5, 0.0, 0.1)];
    let pendulum = || {
        let mut world = World::new(-G * Vector3::z());
        let ground = world.add_body(Body::fixed("ground"));
        let mass = || Mass::given(1.5, inertia.into());
        let turns = [Vector3::new(0.3, 0.4, -0.2), Vector3::new(-0.5, 0.9, 0.6)];
        let [one, two] = turns.map(UnitQuaternion::from_scaled_axis);
        let first = one * -levers[0];
        let elbow = first + one * levers[1];
        let second = elbow + two * -levers[0];
        let (spin_one, spin_two) = (Vector3::new(0.5, 1.0, -1.0), Vector3::new(-2.0, 1.0, 3.0));
        let speed_one = spin_one.cross(&first);
        let speed_two = spin_one.cross(&elbow) + spin_two.cross(&(second - elbow));
        let body = |name: &str, at: Vector3<f64>, turn, linear, angular| {
            let pose = Isometry3::from_parts(at.into(), turn);
            Body::rigid(name, mass()).at(pose).moving(Twist::new(linear, angular))
        };
        let a = world.add_body(body("upper", first, one, speed_one, spin_one));
        let b = world.add_body(body("lower", second, two, speed_two, spin_two));
        let joint = Joint::spherical("shoulder", &world, ground, a, Point3::origin());
        world.add_joint(joint);
        let joint = Joint::spherical("elbow", &world, a, b, elbow.into());
        world.add_joint(joint);
        (spatial(world), [a, b])
    };
    let (simulation, bodies) = pendulum();
    let chain = Chain { mass: 1.5, inertia, levers: Some(levers), gravity: G };
    let exact = chain.integrate(start(&simulation, &bodies), 1.0, 4000);
    let again = chain.integrate(start(&simulation, &bodies), 1.0, 2000);
    assert!(distance(&exact, &again) < 1e-9, "{}", distance(&exact, &again));
    second_order("double pendulum", 6..=10, |h| {
        let (mut simulation, bodies) = pendulum();
        let summary = run(&mut simulation, h, 1.0);
        println!(
            "  h = {h}: energy strays by {:.2e}, joints by {:.2e}",
            summary.energy, summary.infeasibility
        );
        distance(&start(&simulation, &bodies), &exact)
    });
}
