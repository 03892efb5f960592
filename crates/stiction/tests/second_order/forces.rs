//! Forces, modes and slips at the ends of runs to an accuracy, against closed forms and against steps of fixed size.

use crate::common::G;
use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{Attached, Body, Joint, Mass, Motor, Polygon, Shape, Twist, World};
use stiction::{
    Accuracy, Check, Evidence, InitialState, Material, Mode, Scheme, Simulation, State, StepReport, System,
    verify_accuracy_run,
};

/// Tolerances, one for doubled trapezoidal steps and one for explicit ones.
const TOLERANCES: [f64; 2] = [1e-3, 1e-8];

const MU: f64 = 0.5;
const MASS: f64 = 2.0;
/// Half extents of the block [m].
const HALF: [f64; 2] = [0.2, 0.1];

/// Block on an incline: gravity is turned instead of the floor.
fn block(slope: f64, speed: f64) -> World {
    let mut world = World::new(G * Vector2::new(slope.sin(), -slope.cos()));
    let material = Material { friction: MU, ..Material::default() };
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane).material(material)));
    let [a, b] = HALF;
    let shape = Shape::Polygon(Polygon::rectangle(HALF).unwrap());
    let inertia = MASS * (a * a + b * b) / 3.0;
    let body = Body::rigid("block", Mass::Given { mass: MASS, centre: Point2::origin(), inertia });
    let body = body.at(Isometry2::translation(0.0, b)).moving(Twist::new(Vector2::new(speed, 0.0), 0.0));
    world.add_body(body.with(Attached::new(shape).material(material)));
    world
}

/// Recorded run to an accuracy: the states before and after it, and both reports.
struct Recorded {
    before: State,
    after: State,
    report: StepReport,
    summary: stiction::AccuracyReport,
    accuracy: Accuracy,
}

fn recorded<S: System + InitialState + Clone>(system: S, until: f64, tolerance: f64) -> (S, Recorded) {
    let mut simulation = Simulation::new(system).with_scheme(Scheme::accurate());
    let before = simulation.state().clone();
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    let accuracy = Accuracy::of(tolerance);
    let summary = simulation.run_to_accuracy_into(until, &accuracy, &mut report).unwrap();
    let after = simulation.state().clone();
    (simulation.system().clone(), Recorded { before, after, report, summary, accuracy })
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b} to {tolerance}");
}

#[test]
fn a_block_rests_on_an_incline() {
    let slope = 0.3_f64;
    for tolerance in TOLERANCES {
        let (_, Recorded { report, .. }) = recorded(block(slope, 0.0).build().unwrap(), 0.25, tolerance);
        let friction = MASS * G * slope.sin();
        let weight = MASS * G * slope.cos();
        assert_eq!(report.contacts.len(), 2);
        for contact in &report.contacts {
            // the lower corner, at positive x, carries the moment of friction; both share friction
            let side = contact.point[0].signum();
            let normal = 0.5 * (weight + side * friction * HALF[1] / HALF[0]);
            let force = contact.force(report.h);
            near(contact.normal_force(report.h), normal, 1e-11);
            near(force.friction[0], -0.5 * friction, 1e-11);
            near(force.total()[1], normal, 1e-11);
            near(contact.gap, 0.0, 1e-14);
            assert_eq!(contact.mode, Mode::Stick);
            assert!(contact.slip.iter().all(|u| u.abs() < 1e-15), "{:?}", contact.slip);
        }
        assert!(report.certificate.worst() < 1e-12);
    }
}

#[test]
fn a_block_slides_down_an_incline() {
    let (slope, speed, until) = (0.8_f64, 1.0, 0.25);
    for tolerance in TOLERANCES {
        let world = block(slope, speed).build().unwrap();
        let (_, Recorded { report, .. }) = recorded(world, until, tolerance);
        let weight = MASS * G * slope.cos();
        let expected = speed + until * G * (slope.sin() - MU * slope.cos());
        let normals: f64 = report.contacts.iter().map(|c| c.normal_force(report.h)).sum();
        near(normals, weight, 1e-10);
        for contact in &report.contacts {
            let normal = contact.normal_force(report.h);
            near(contact.force(report.h).friction[0], -MU * normal, 1e-11);
            near(contact.slip[0], expected, tolerance.min(1e-10));
            assert_eq!(contact.mode, Mode::Slip);
            assert!(normal > 0.0);
        }
        // the moment of friction about the centre of mass, carried by the front corner
        let middle = 0.5 * report.contacts.iter().map(|c| c.point[0]).sum::<f64>();
        let moment: f64 =
            report.contacts.iter().map(|c| (c.point[0] - middle) * c.normal_force(report.h)).sum();
        near(moment, MU * weight * HALF[1], 1e-10);
    }
}

/// Point of 1.5 kg on a massless rod of 0.7 m.
fn pendulum(angle: f64) -> World {
    let mut world = World::new(Vector2::new(0.0, -G));
    let frame = world.add_body(Body::fixed("frame"));
    let at = 0.7 * Vector2::new(angle.sin(), -angle.cos());
    let bob = world.add_body(Body::point("bob", 1.5).at(Isometry2::new(at, 0.0)));
    let joint = Joint::distance("rod", &world, (frame, Point2::origin()), (bob, at.into()));
    world.add_joint(joint);
    world
}

#[test]
fn a_rod_carries_weight_and_centripetal_force() {
    for tolerance in TOLERANCES {
        for until in [0.2, 0.55, 0.9] {
            let model = pendulum(1.2).build().unwrap();
            let (_, Recorded { after, report, .. }) = recorded(model, until, tolerance);
            let [x, y, vx, vy] = [after.q[0], after.q[1], after.v[0], after.v[1]];
            let cos = -y / x.hypot(y);
            let tension = 1.5 * (G * cos + (vx * vx + vy * vy) / 0.7);
            assert_eq!(report.joints.len(), 1);
            // differences of rows of fourth order, at the motion of this run
            near(report.joints[0].force(report.h).abs(), tension, 1e-8);
        }
    }
}

/// Crank with a motor, rod and a slider with a load, all in joints.
fn slider_crank() -> World {
    let mut world = World::new(Vector2::new(0.0, -G));
    let frame = world.add_body(Body::fixed("frame"));
    let bar = |name: &str, mass: f64, length: f64, at: [f64; 2]| {
        let inertia = mass * length * length / 12.0;
        Body::rigid(name, Mass::Given { mass, centre: Point2::origin(), inertia })
            .at(Isometry2::translation(at[0], at[1]))
    };
    let crank = world.add_body(bar("crank", 0.5, 0.1, [0.05, 0.0]));
    let rod = world.add_body(bar("rod", 1.0, 0.4, [0.3, 0.0]));
    let slider = world.add_body(bar("slider", 2.0, 0.1, [0.5, 0.0]));
    let (pin, end) = (Point2::new(0.1, 0.0), Point2::new(0.5, 0.0));
    let shaft = Joint::revolute("shaft", &world, frame, crank, Point2::origin());
    world.add_joint(shaft.motor(Motor::Velocity { speed: 200.0, force: 0.5 }));
    let crank_pin = Joint::revolute("crank pin", &world, crank, rod, pin);
    world.add_joint(crank_pin);
    let slider_pin = Joint::revolute("slider pin", &world, rod, slider, end);
    world.add_joint(slider_pin);
    let guide = Joint::prismatic("guide", &world, frame, slider, end, Vector2::x());
    world.add_joint(guide);
    world
}

/// The mean over a step is the force at its middle, to second order.
#[test]
fn joint_forces_of_a_slider_crank_are_limits_of_fixed_steps() {
    let until = 0.3;
    let mut last: Option<f64> = None;
    for h in [2e-3, 1e-3, 5e-4] {
        let middle = until - 0.5 * h;
        let (_, Recorded { report, .. }) = recorded(slider_crank().build().unwrap(), middle, 1e-9);
        let mut simulation = Simulation::new(slider_crank().build().unwrap()).with_scheme(Scheme::accurate());
        let mut fixed = StepReport::default();
        while simulation.state().t < middle {
            simulation.step_into(h, &mut fixed).unwrap();
        }
        assert_eq!(fixed.joints.len(), report.joints.len());
        let error = fixed.joints.iter().zip(&report.joints).fold(0.0, |m: f64, (fixed, own)| {
            assert_eq!(fixed.joint, own.joint);
            m.max((fixed.force(h) - own.force(report.h)).abs())
        });
        let ratio = last.map_or(4.0, |last| last / error);
        println!("h {h}: {error:e} N, ratio {ratio:.2}");
        assert!((3.6..4.4).contains(&ratio), "h {h}: {error}, ratio {ratio}");
        let largest = report.joints.iter().fold(0.0, |m: f64, j| m.max(j.force(report.h).abs()));
        assert!(largest > 10.0 && error < 1e-5 * largest, "{error} of {largest} N");
        last = Some(error);
    }
}

#[test]
fn forged_forces_modes_and_slips_do_not_hold() {
    type Forgery = fn(&mut StepReport);
    let forgeries: [(&str, Check, Forgery); 9] = [
        ("normal forces × 3", Check::Complementarity, |r| {
            r.contacts.iter_mut().for_each(|c| c.normal_impulse *= 3.0);
        }),
        ("all forces × 3", Check::Complementarity, |r| {
            r.contacts.iter_mut().for_each(|c| {
                c.normal_impulse *= 3.0;
                c.friction_impulse = c.friction_impulse.map(|p| 3.0 * p);
            });
        }),
        ("a little normal force", Check::Complementarity, |r| r.contacts[0].normal_impulse *= 1.0 + 1e-8),
        ("friction reversed", Check::Complementarity, |r| {
            r.contacts.iter_mut().for_each(|c| c.friction_impulse[0] *= -1.0);
        }),
        ("friction along the normal", Check::Contact, |r| r.contacts[0].friction_impulse[1] += 1e-3),
        ("another mode", Check::Contact, |r| {
            let mode = &mut r.contacts[0].mode;
            *mode = if *mode == Mode::Stick { Mode::Slip } else { Mode::Stick };
        }),
        ("slip", Check::Contact, |r| r.contacts[1].slip[0] += 1e-6),
        ("a contact fewer", Check::Record, |r| {
            r.contacts.pop();
        }),
        ("gap", Check::Contact, |r| r.contacts[0].gap += 1e-6),
    ];
    for (slope, speed) in [(0.3, 0.0), (0.8, 1.0)] {
        for tolerance in TOLERANCES {
            let (model, run) = recorded(block(slope, speed).build().unwrap(), 0.25, tolerance);
            let Recorded { before, after, report, summary, accuracy } = &run;
            let verdict = |after: &State, report: &StepReport| {
                verify_accuracy_run(&model, &Scheme::accurate(), accuracy, before, after, report, summary)
            };
            let holds = verdict(after, report);
            assert!(holds.holds() && !holds.without_forces, "{:#?}", holds.findings);
            for (name, check, forge) in forgeries {
                let mut forged = report.clone();
                forge(&mut forged);
                let findings = verdict(after, &forged).findings;
                let found = findings.iter().any(|f| f.check == check || f.check == Check::Cone);
                assert!(found, "{slope}, {tolerance}, {name}: {findings:#?}");
            }
            // the mode that the state remembers, and its record
            let (mut forged, mut state) = (report.clone(), after.clone());
            let other = if speed > 0.0 { Mode::Stick } else { Mode::Slip };
            forged.contacts.iter_mut().for_each(|c| c.mode = other);
            state.memory.active.iter_mut().flatten().for_each(|c| {
                c.direction = if other == Mode::Slip { [-1.0, 0.0, 0.0] } else { [0.0; 3] };
                c.mode = other;
            });
            assert!(!verdict(&state, &forged).findings.is_empty(), "{slope}, {tolerance}: modes");
            // records of earlier versions have no forces
            let old = StepReport { contacts: Vec::new(), ..report.clone() };
            let verdict = verdict(after, &old);
            assert!(verdict.holds() && verdict.without_forces);
        }
    }
    let (model, run) = recorded(slider_crank().build().unwrap(), 0.3, 1e-6);
    let Recorded { before, after, report, summary, accuracy } = &run;
    for k in 0..report.joints.len() {
        let mut forged = report.clone();
        forged.joints[k].impulse += 1e-6;
        let scheme = Scheme::accurate();
        let verdict = verify_accuracy_run(&model, &scheme, accuracy, before, after, &forged, summary);
        assert!(!verdict.findings.is_empty(), "joint row {k}");
    }
}
