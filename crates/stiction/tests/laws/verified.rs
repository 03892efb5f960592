//! Steps that were made pass a check that solves nothing, and records that were tampered with do not.

use crate::common::{Named, in_plane, in_space, random};
use crate::{planes, spaces};
use nalgebra::Vector2;
use stiction::planar::{Body, Mass, Twist};
use stiction::{
    Check, Evidence, Reduction, Scheme, Simulation, State, StepReport, System, Verdict, spatial, verify,
};
use stiction_lcp::FrictionLaw;

/// Every way of the Euler family.
const SCHEMES: [Named; 9] = [
    ("default", Scheme::default),
    ("AP97", Scheme::ap97),
    ("AP97, post-stabilized", || Scheme::ap97().post_stabilized(6)),
    ("AH04", Scheme::ah04),
    ("ST00", Scheme::st00),
    ("ST00, iterated", Scheme::st00_nonlinear),
    ("Baumgarte", || Scheme::baumgarte(20.0)),
    ("AH04, convex", || Scheme { friction: FrictionLaw::Convex, ..Scheme::ah04() }),
    ("default, at most 3 contacts", || Scheme { reduction: Reduction::Limit(3), ..Scheme::default() }),
];

/// A recorded step.
#[derive(Clone)]
struct Step {
    before: State,
    after: State,
    report: StepReport,
}

impl Step {
    fn verdict<S: System>(&self, system: &S, scheme: &Scheme) -> Verdict {
        verify(system, scheme, &self.before, &self.after, &self.report)
    }
}

/// Runs for some steps, as far as they can be made.
fn recorded<S: System>(simulation: &mut Simulation<S>, h: f64, steps: usize) -> Vec<Step> {
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

fn assert_all_hold<S: System>(simulation: &mut Simulation<S>, h: f64, steps: usize, name: &str) -> usize {
    let steps = recorded(simulation, h, steps);
    for (k, step) in steps.iter().enumerate() {
        let verdict = step.verdict(simulation.system(), &simulation.scheme);
        let honest = !step.report.work.converged && verdict.findings.is_empty();
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
                let mut simulation = in_plane(&scene.world, scheme());
                let mut state = simulation.state().clone();
                (scene.scatter)(&mut random(seed), simulation.system(), &mut state);
                simulation.restore(state);
                made +=
                    assert_all_hold(&mut simulation, 0.01, 12, &format!("{}, {name}, {seed}", scene.name));
            }
        }
    }
    assert!(made > 5000, "{made} steps were made");
}

/// Boxes that fall on each other: faces on faces, edges and corners.
fn heap() -> spatial::World {
    let mut rng = random(3);
    let mut world = spaces::earth();
    let material = stiction::Material { friction: 0.5, restitution: 0.0 };
    world.add(spaces::floor(material));
    for k in 0..6 {
        let place = spaces::at(0.1 * f64::from(k % 2), 0.05 * f64::from(k % 3), 0.15 + 0.45 * f64::from(k));
        let body = spatial::Body::rigid(format!("box {k}"), spatial::Mass::Density(500.0));
        let place = if k % 2 == 0 { place } else { place * spaces::turned(&mut rng) };
        let shape = spatial::Shape::Cuboid { half_extents: [0.2, 0.15, 0.1] };
        world.add(body.at(place).with(spaces::sociable(shape, material)));
    }
    world
}

/// The convex relaxation knows friction polygons alone.
fn polygons(world: &mut spatial::World, scheme: &Scheme) {
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

/// What a forger may do to a record.
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
            add(format!("contact {i} gone"), &|s| drop(s.report.contacts.remove(i)));
        }
        if contact.friction_impulse.iter().any(|p| p.abs() > 1e-3) {
            let flip = |p: f64| -p;
            add(format!("friction {i} flipped"), &|s| {
                let friction = &mut s.report.contacts[i].friction_impulse;
                *friction = friction.map(flip);
            });
        }
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
    add("kinetic".into(), &|s| s.report.kinetic += 1e-6);
    add("certificate".into(), &|s| s.report.certificate.natural_map += 1e-4);
    add("no numbers".into(), &|s| s.after.v[0] = f64::NAN);
    forged
}

fn assert_forgeries_are_found<S: System>(simulation: &mut Simulation<S>, h: f64, name: &str) -> usize {
    let mut tried = 0;
    for step in recorded(simulation, h, 40).iter().step_by(3) {
        for (forgery, forged) in forgeries(step) {
            let verdict = forged.verdict(simulation.system(), &simulation.scheme);
            assert!(!verdict.findings.is_empty(), "{name}: {forgery} passes");
            tried += 1;
        }
    }
    tried
}

#[test]
fn tampered_records_do_not_hold() {
    let mut tried = 0;
    for (name, scheme) in SCHEMES {
        for scene in ["room", "driven chain", "21 disks", "box"].map(planes::named) {
            let mut simulation = in_plane(&scene.world, scheme());
            let mut state = simulation.state().clone();
            (scene.scatter)(&mut random(7), simulation.system(), &mut state);
            simulation.restore(state);
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
    assert!(tried > 10_000, "{tried} forgeries");
}

/// A box that lies on the floor, and one that slides.
fn boxes(friction: f64) -> stiction::planar::World {
    let mut world = planes::earth();
    let material = planes::rough(friction);
    world.add(planes::floor(material));
    for (name, x, speed) in [("still", 0.0, 0.0), ("sliding", 1.0, 2.0)] {
        let body = Body::rigid(name, Mass::Density(100.0)).at(planes::at(x, 0.1));
        let body = body.moving(Twist::new(Vector2::new(speed, 0.0), 0.0));
        world.add(body.with(planes::rectangle(0.1, 0.1).material(material)));
    }
    world
}

#[test]
fn another_coefficient_of_friction_is_found() {
    let mut simulation = in_plane(&boxes(0.5), Scheme::default());
    let steps = recorded(&mut simulation, 0.01, 20);
    let model = boxes(0.501).build().unwrap();
    for step in &steps {
        assert!(step.report.contacts.len() >= 4);
        let findings = step.verdict(&model, &simulation.scheme).findings;
        // where it lies nothing but the record of the coefficient tells; where it slides friction does
        assert!(findings.iter().filter(|f| f.check == Check::Contact).count() >= 4, "{findings:?}");
        assert!(findings.iter().any(|f| f.check == Check::Complementarity), "{findings:?}");
    }
}
