//! Verification: records of steps pass, and forged records do not.

use crate::common::{Named, in_plane, in_space, random};
use crate::{planes, spaces};
use nalgebra::{Isometry2, Vector2};
use stiction::planar::{self, Attached, Body, Force, Mass, Polygon, Shape, Twist, Wrench};
use stiction::{
    Check, EventKind, EventLanding, EventLocation, Evidence, Level, Material, Mode, MomentReport, Reduction,
    RowForm, RowForms, Scheme, Simulation, State, StateProjection, StepReport, SubstepRecord, System,
    Trapezoidal, Verdict, spatial, verify,
};
use stiction_lcp::FrictionLaw;

/// Schemes of the Euler family.
pub(crate) const SCHEMES: [Named; 10] = [
    ("default", Scheme::default),
    ("first order", Scheme::first_order),
    ("AP97", Scheme::ap97),
    ("AP97, post-stabilized", || Scheme::ap97().post_stabilized(6)),
    ("AH04", Scheme::ah04),
    ("ST00", Scheme::st00),
    ("ST00, iterated", Scheme::st00_nonlinear),
    ("Baumgarte", || Scheme::baumgarte(20.0)),
    ("AH04, convex", || Scheme { friction: FrictionLaw::Convex, ..Scheme::ah04() }),
    ("default, at most 3 contacts", || Scheme { reduction: Reduction::Limit(3), ..Scheme::default() }),
];

/// Recorded step.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) before: State,
    pub(crate) after: State,
    pub(crate) report: StepReport,
}

impl Step {
    pub(crate) fn verdict<S: System>(&self, system: &S, scheme: &Scheme) -> Verdict {
        verify(system, scheme, &self.before, &self.after, &self.report)
    }
}

/// Records up to this many steps, until one fails.
pub(crate) fn recorded<S: System>(simulation: &mut Simulation<S>, h: f64, steps: usize) -> Vec<Step> {
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    let mut recorded = Vec::new();
    for _ in 0..steps {
        let before = simulation.state().clone();
        if simulation.step_into(h, &mut report).is_err() {
            break;
        }
        recorded.push(Step { before, after: simulation.state().clone(), report: report.clone() });
    }
    recorded
}

pub(crate) fn assert_all_hold<S: System>(
    simulation: &mut Simulation<S>,
    h: f64,
    steps: usize,
    name: &str,
) -> usize {
    let steps = recorded(simulation, h, steps);
    for (k, step) in steps.iter().enumerate() {
        let verdict = step.verdict(simulation.system(), &simulation.scheme);
        // contacts beyond a limit may close, which cannot be excused or refused
        let limited = step.report.work.limited > 0;
        let honest = (limited || !step.report.work.converged) && verdict.findings.is_empty();
        assert!(verdict.holds() || honest, "{name}, step {k}: {verdict:#?}");
    }
    steps.len()
}

#[test]
fn steps_in_the_plane_hold() {
    let mut made = 0;
    for (name, scheme) in SCHEMES {
        for scene in planes::all() {
            for seed in 0..4 {
                let mut simulation = scene.scattered(scheme(), seed);
                made +=
                    assert_all_hold(&mut simulation, 0.01, 12, &format!("{}, {name}, {seed}", scene.name));
            }
        }
    }
    assert!(made > 5000, "{made} steps were made");
}

/// Heap of boxes: faces on faces, edges and corners.
fn heap() -> spatial::World {
    let mut rng = random(3);
    let mut world = spaces::earth();
    let material = stiction::Material::default();
    world.add_body(spaces::floor(material));
    for k in 0..6 {
        let place = spaces::at(0.1 * f64::from(k % 2), 0.05 * f64::from(k % 3), 0.15 + 0.45 * f64::from(k));
        let body = spatial::Body::rigid(format!("box {k}"), spatial::Mass::Density(500.0));
        let place = if k % 2 == 0 { place } else { place * spaces::turned(&mut rng) };
        let shape = spatial::Shape::Cuboid { half_extents: [0.2, 0.15, 0.1] };
        world.add_body(body.at(place).with(spaces::sociable(shape, material)));
    }
    world
}

/// Replaces circles by polygons for the convex relaxation, which supports polygons alone.
pub(crate) fn polygons(world: &mut spatial::World, scheme: &Scheme) {
    if scheme.friction == FrictionLaw::Convex {
        world.facets = Some(spatial::Facets { directions: 8, aligned: true });
    }
}

#[test]
fn steps_in_space_hold() {
    for (name, scheme) in SCHEMES {
        for (scene, mut world) in spaces::all() {
            polygons(&mut world, &scheme());
            let name = format!("{scene}, {name}");
            let made = assert_all_hold(&mut in_space(&world, scheme()), 0.01, 80, &name);
            assert!(made > 10, "{name}: {made} steps");
        }
        let mut world = heap();
        polygons(&mut world, &scheme());
        let made = assert_all_hold(&mut in_space(&world, scheme()), 0.005, 150, &format!("heap, {name}"));
        assert!(made > 50, "{name}: {made} steps");
    }
}

/// Forged copies of a record, by name.
fn forgeries(step: &Step) -> Vec<(String, Step)> {
    let mut forged = Vec::new();
    let mut add = |name: String, change: &dyn Fn(&mut Step)| {
        let mut copy = step.clone();
        change(&mut copy);
        forged.push((name, copy));
    };
    for (i, contact) in step.report.contacts.iter().enumerate() {
        if contact.normal_impulse > 1e-3 {
            add(format!("normal {i} flipped"), &|s| s.report.contacts[i].normal_impulse *= -1.0);
            add(format!("normal {i} and a little"), &|s| s.report.contacts[i].normal_impulse += 1e-7);
            add(format!("contact {i} gone"), &|s| {
                s.report.contacts.remove(i);
            });
        }
        if contact.friction_impulse.iter().any(|p| p.abs() > 1e-3) {
            let flip = |p: f64| -p;
            add(format!("friction {i} flipped"), &|s| {
                let friction = &mut s.report.contacts[i].friction_impulse;
                *friction = friction.map(flip);
            });
        }
        if let Some(moment) = contact.moment {
            let mut moments = |name: &str, change: &dyn Fn(&mut MomentReport)| {
                add(format!("moment {i} {name}"), &|s| {
                    s.report.contacts[i].moment.iter_mut().for_each(change);
                });
            };
            let size = moment.impulse.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
            if size > 1e-3 {
                moments("flipped", &|m| m.impulse = m.impulse.map(|p| -p));
            }
            // 1e-9 of it is above the round-off of the angular momenta, which are about 1 N m s
            if size > 1e-2 {
                moments("and a little", &|m| m.impulse = m.impulse.map(|p| p * (1.0 + 1e-9)));
            }
            moments("of turning", &|m| m.turn[2] += 1e-7);
            moments("of rolling", &|m| m.rolling = m.rolling.xor(Some(Mode::Stick)));
            add(format!("moment {i} gone"), &|s| s.report.contacts[i].moment = None);
        }
        add(format!("slip {i}"), &|s| s.report.contacts[i].slip[0] += 1e-7);
        add(format!("μ {i}"), &|s| s.report.contacts[i].mu *= 1.001);
        add(format!("gap {i}"), &|s| s.report.contacts[i].gap += 1e-6);
        add(format!("feature {i}"), &|s| s.report.contacts[i].id.feature += 1000);
    }
    for i in 0..step.report.joints.len() {
        add(format!("joint row {i}"), &|s| s.report.joints[i].impulse += 1e-6);
    }
    for i in 0..step.after.q.len() {
        add(format!("coordinate {i}"), &|s| s.after.q[i] += 1e-9);
    }
    for i in 0..step.after.v.len() {
        add(format!("velocity {i}"), &|s| s.after.v[i] += 1e-7);
    }
    let passes = step.report.evidence.as_ref().map_or(0, |e| e.passes.len());
    for k in 0..passes {
        add(format!("pass {k}"), &|s| {
            let evidence = s.report.evidence.as_mut().unwrap();
            evidence.passes[k].impulses[0] += 1e-7;
        });
    }
    if passes > 0 {
        add("all passes gone".into(), &|s| s.report.evidence.as_mut().unwrap().passes.clear());
    }
    add("t".into(), &|s| s.after.t += 1e-6);
    add("kinetic".into(), &|s| s.report.kinetic += 1e-9 * (1.0 + s.report.kinetic));
    add("certificate".into(), &|s| s.report.certificate.natural_map += 1e-4);
    add("no numbers".into(), &|s| s.after.v[0] = f64::NAN);
    forged
}

pub(crate) fn assert_forgeries_are_found<S: System>(
    simulation: &mut Simulation<S>,
    h: f64,
    name: &str,
) -> usize {
    let mut tried = 0;
    for step in recorded(simulation, h, 40).iter().step_by(6) {
        for (forgery, forged) in forgeries(step) {
            let verdict = forged.verdict(simulation.system(), &simulation.scheme);
            assert!(!verdict.findings.is_empty(), "{name}: {forgery} passes");
            tried += 1;
        }
    }
    tried
}

#[test]
fn forged_records_do_not_hold() {
    let mut tried = 0;
    for (name, scheme) in SCHEMES {
        for scene in ["room", "driven chain", "21 disks", "box"].map(planes::named) {
            let mut simulation = scene.scattered(scheme(), 7);
            tried += assert_forgeries_are_found(&mut simulation, 0.01, &format!("{}, {name}", scene.name));
        }
        let mut world = heap();
        polygons(&mut world, &scheme());
        let mut simulation = in_space(&world, scheme());
        for _ in 0..40 {
            simulation.step(0.005).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        tried += assert_forgeries_are_found(&mut simulation, 0.005, &format!("heap, {name}"));
    }
    assert!(tried > 5000, "{tried} forgeries");
}

/// Two boxes on the floor: one at rest, one that slides.
fn boxes(friction: f64) -> stiction::planar::World {
    let mut world = planes::earth();
    let material = planes::rough(friction);
    world.add_body(planes::floor(material));
    for (name, x, speed) in [("still", 0.0, 0.0), ("sliding", 1.0, 2.0)] {
        let body = Body::rigid(name, Mass::Density(100.0)).at(planes::at(x, 0.1));
        let body = body.moving(Twist::new(Vector2::new(speed, 0.0), 0.0));
        world.add_body(body.with(planes::rectangle(0.1, 0.1).material(material)));
    }
    world
}

#[test]
fn a_changed_friction_coefficient_is_found() {
    let mut simulation = in_plane(&boxes(0.5), Scheme::default());
    let steps = recorded(&mut simulation, 0.01, 20);
    let model = boxes(0.501).build().unwrap();
    for step in &steps {
        assert!(step.report.contacts.len() >= 4);
        let findings = step.verdict(&model, &simulation.scheme).findings;
        // a box at rest shows it in the recorded coefficient alone, a sliding box in its friction too
        assert!(findings.iter().filter(|f| f.check == Check::Contact).count() >= 4, "{findings:?}");
        assert!(findings.iter().any(|f| f.check == Check::Complementarity), "{findings:?}");
    }
}

/// Accurate scheme that projects the state after each step.
fn projected() -> Scheme {
    trapezoidal(Trapezoidal { projection: StateProjection::Steps, ..Trapezoidal::accurate() })
}

/// Schemes of second order.
const SECOND_ORDER: [Named; 9] = [
    ("located", Scheme::pagt06),
    ("accurate", Scheme::accurate),
    ("projected", projected),
    ("impacts located", || {
        trapezoidal(Trapezoidal { locate: EventLocation::Impacts, ..Trapezoidal::default() })
    }),
    ("nothing located", || {
        trapezoidal(Trapezoidal { locate: EventLocation::Nothing, ..Trapezoidal::default() })
    }),
    ("energy kept", || trapezoidal(Trapezoidal { energy_safe: true, ..Trapezoidal::default() })),
    ("rows at the end", || {
        trapezoidal(Trapezoidal { rows: RowForms::all(RowForm::End), ..Trapezoidal::default() })
    }),
    ("on the interpolant", || {
        trapezoidal(Trapezoidal { landing: EventLanding::Interpolant, ..Trapezoidal::default() })
    }),
    ("few events", || trapezoidal(Trapezoidal { event_limit: 1, ..Trapezoidal::default() })),
];

fn trapezoidal(settings: Trapezoidal) -> Scheme {
    Scheme { level: Level::Trapezoidal(settings), ..Scheme::pagt06() }
}

/// Numbers of steps that hold and that cannot be checked entirely; none may fail.
fn second_order<S: System>(simulation: &mut Simulation<S>, h: f64, steps: usize, name: &str) -> [usize; 2] {
    let mut counts = [0; 2];
    for (k, step) in recorded(simulation, h, steps).iter().enumerate() {
        let verdict = step.verdict(simulation.system(), &simulation.scheme);
        assert!(
            verdict.findings.is_empty(),
            "{name}, step {k}: {:#?} {verdict:#?}",
            step.report.second_order
        );
        counts[usize::from(!verdict.holds())] += 1;
    }
    counts
}

#[test]
fn steps_of_second_order_hold() {
    let mut sum = [0; 2];
    for (name, scheme) in SECOND_ORDER {
        let mut own = [0; 2];
        // second-order schemes are for few bodies at a time
        for scene in planes::all().into_iter().filter(|scene| scene.name != "21 disks") {
            for seed in 1..3 {
                let mut simulation = scene.scattered_with_joints(scheme(), seed);
                let name = format!("{}, {name}, {seed}", scene.name);
                let counts = second_order(&mut simulation, 0.01, 20, &name);
                (own[0], own[1]) = (own[0] + counts[0], own[1] + counts[1]);
            }
        }
        for (scene, world) in spaces::all() {
            let counts =
                second_order(&mut in_space(&world, scheme()), 0.005, 30, &format!("{scene}, {name}"));
            (own[0], own[1]) = (own[0] + counts[0], own[1] + counts[1]);
        }
        println!("{name}: {} steps hold, {} cannot be checked entirely", own[0], own[1]);
        (sum[0], sum[1]) = (sum[0] + own[0], sum[1] + own[1]);
    }
    // only the modes of redundant contacts cannot be checked
    assert!(sum[0] > 4 * sum[1] && sum[0] > 2000, "{sum:?}");
}

/// Copies of a second-order step with one forged substep.
fn forged_parts(step: &Step) -> Vec<(String, Step)> {
    let mut forged = Vec::new();
    let parts = &step.report.evidence.as_ref().unwrap().substeps;
    let mut add = |k: usize, name: &str, change: &dyn Fn(&mut SubstepRecord)| {
        let mut copy = step.clone();
        change(&mut copy.report.evidence.as_mut().unwrap().substeps[k]);
        // some changes do not apply to every kind of record
        if copy.report.evidence != step.report.evidence {
            forged.push((format!("part {k}: {name}"), copy));
        }
    };
    for k in 0..parts.len() {
        add(k, "impulse", &|part| match part {
            SubstepRecord::Substep { impulses: x, .. } | SubstepRecord::Impact { compression: x, .. } => {
                x.first_mut().into_iter().for_each(|x| *x += 1e-6);
            }
            _ => {}
        });
        add(k, "velocity", &|part| match part {
            SubstepRecord::Substep { v, .. }
            | SubstepRecord::Impact { v, .. }
            | SubstepRecord::Projection { v, .. } => v[0] += 1e-7,
            _ => {}
        });
        add(k, "intermediate velocity", &|part| match part {
            SubstepRecord::Substep { midpoint_velocity: v, .. }
            | SubstepRecord::Impact { compressed_velocity: v, .. } => v[0] += 1e-6,
            _ => {}
        });
        add(k, "start velocity", &|part| {
            if let SubstepRecord::Substep { start_velocity, .. } = part {
                start_velocity[0] += 1e-6;
            }
        });
        add(k, "size", &|part| {
            if let SubstepRecord::Substep { size, .. } = part {
                *size *= 1.0 - 1e-6;
            }
        });
        add(k, "factor", &|part| {
            if let SubstepRecord::Impact { restitution_factor, .. } = part {
                *restitution_factor *= 0.9;
            }
        });
        add(k, "displacement", &|part| match part {
            SubstepRecord::Projection { displacements, .. }
            | SubstepRecord::StepEnd { displacements, .. } => {
                displacements.iter_mut().for_each(|d| d[0] += 1e-9);
            }
            _ => {}
        });
        add(k, "projected velocity", &|part| {
            if let SubstepRecord::StepEnd { projected, .. } = part {
                projected[0] += 1e-6;
            }
        });
        add(k, "part of the speeds that is kept", &|part| {
            if let SubstepRecord::StepEnd { kept, .. } = part {
                *kept = -0.1;
            }
        });
    }
    if let Some(SubstepRecord::StepEnd { .. }) = parts.last() {
        let mut copy = step.clone();
        copy.report.evidence.as_mut().unwrap().substeps.pop();
        forged.push(("without a projection".to_string(), copy));
    }
    forged
}

#[test]
fn forged_records_of_second_order_do_not_hold() {
    let mut tried = 0;
    let scenes = || ["room", "box", "rod", "driven chain", "dumbbells"].into_iter();
    let schemes = [Scheme::pagt06(), projected()];
    for (name, scheme) in schemes.iter().flat_map(|scheme| scenes().map(move |name| (name, scheme))) {
        let scene = planes::named(name);
        let mut simulation = scene.scattered_with_joints(*scheme, 7);
        for step in recorded(&mut simulation, 0.01, 30).iter().step_by(2) {
            for (forgery, forged) in forgeries(step).into_iter().chain(forged_parts(step)) {
                let findings = forged.verdict(simulation.system(), &simulation.scheme).findings;
                assert!(!findings.is_empty(), "{}: {forgery} passes", scene.name);
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "{tried} forgeries");
}

/// Disk on a half-plane under oblique gravity, and a box that a spring holds on it until it slips.
fn disk_and_box(friction: f64) -> planar::World {
    let material = Material { friction, restitution: 0.0, ..Material::default() };
    let mut world = planar::World::new(Vector2::new(3.0, -9.0));
    world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfPlane).material(material)));
    let disk = Attached::new(Shape::Disk { radius: 0.2 }).material(material);
    world.add_body(
        Body::rigid("disk", Mass::given(1.0, 0.02)).with(disk).at(Isometry2::translation(5.0, 0.2)),
    );
    let shape = Attached::new(Shape::Polygon(Polygon::rectangle([0.2, 0.1]).unwrap())).material(material);
    let body = Body::rigid("box", Mass::given(1.0, 0.02)).with(shape).at(Isometry2::translation(0.0, 0.1));
    let body = world.add_body(body);
    world.add_force(Force::timed(body, |t| Wrench { force: Vector2::new(4.0 * t, 0.0), torque: 0.0 }));
    world
}

/// Whether modes are right is decided where one contact alone carries its load, and where corners of a box share it: their
/// recorded impulses lie in their cones up to the slip.
#[test]
fn modes_of_second_order_steps_are_verified() {
    let mut simulation = in_plane(&disk_and_box(0.5), Scheme::accurate());
    let mut steps = recorded(&mut simulation, 0.01, 60);
    assert!(steps.iter().any(|s| s.report.events.iter().any(|e| e.kind == EventKind::Slip)));
    for (k, step) in steps.iter().enumerate() {
        let verdict = step.verdict(simulation.system(), &simulation.scheme);
        assert!(verdict.holds(), "step {k}: {verdict:#?}");
    }
    // with less friction the disk had to slip: its recorded impulses are those of no mode
    let model = disk_and_box(0.05).build().unwrap();
    for step in &mut steps[..10] {
        step.report.contacts.iter_mut().for_each(|c| c.mu = 0.05);
        let findings = step.verdict(&model, &simulation.scheme).findings;
        assert!(findings.iter().any(|f| f.check == Check::Cone), "{findings:?}");
    }
}

/// Sizes of substeps are differences of times: late on the clock they exceed a short step by the round-off of the time.
#[test]
fn short_steps_late_on_the_clock_hold() {
    let model = disk_and_box(0.5).build().unwrap();
    let start = State { t: 4.0, ..model.state() };
    let mut simulation = Simulation::from_state(model, start).with_scheme(Scheme::accurate());
    for (k, step) in recorded(&mut simulation, 0.001, 40).iter().enumerate() {
        let verdict = step.verdict(simulation.system(), &simulation.scheme);
        assert!(verdict.holds(), "step {k}: {verdict:#?}");
    }
}
