//! Forces of statics that rigid bodies leave open: reports have those of least norm, whose values here come from an
//! independent computation. They are symmetric where the scene is, do not change while nothing moves, and have no
//! friction where nothing pulls.

use nalgebra::{Isometry2, Isometry3, Point3, Vector2, Vector3};
use stiction::{
    ContactInterval, ContactReport, Evidence, InitialState, Material, Scheme, Simulation, StepReport, System,
    planar, spatial, verify,
};
use stiction_geometry::planar::Polygon;

const G: f64 = 9.81;
const H: f64 = 0.01;

fn rough(friction: f64) -> Material {
    Material { friction, restitution: 0.0, ..Material::default() }
}

/// Report of the first step with its intervals; the forces of twenty more are the same, and every step verifies.
fn at_rest<S: System + InitialState>(model: S) -> StepReport {
    at_rest_by(model, Scheme::default())
}

fn at_rest_by<S: System + InitialState>(model: S, scheme: Scheme) -> StepReport {
    let mut run = Simulation::new(model).with_scheme(scheme);
    let mut first = StepReport { evidence: Some(Evidence::default()), ..StepReport::with_intervals() };
    let before = run.state().clone();
    run.step_into(H, &mut first).unwrap_or_else(|e| panic!("{e}"));
    let verdict = verify(run.system(), &run.scheme, &before, run.state(), &first);
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    let largest = first.contacts.iter().fold(0.0, |m: f64, c| m.max(c.normal_impulse));
    for step in 1..=20 {
        let before = run.state().clone();
        let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
        run.step_into(H, &mut report).unwrap_or_else(|e| panic!("{e}"));
        let verdict = verify(run.system(), &run.scheme, &before, run.state(), &report);
        assert!(verdict.findings.is_empty(), "step {step}: {:?}", verdict.findings);
        assert_eq!(report.contacts.len(), first.contacts.len());
        for (now, then) in report.contacts.iter().zip(&first.contacts) {
            let change = (now.normal_impulse - then.normal_impulse).abs();
            assert!(change < 1e-8 * largest, "step {step}: a jump of {change:e} of {largest:e}");
            assert_eq!(now.determined, then.determined);
        }
    }
    let speed = run.state().v.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    assert!(speed < 1e-9, "moves at {speed:e}");
    for contact in &first.contacts {
        let (own, tolerance) = (intervals(&first, contact), 1e-6 * largest / H);
        assert_eq!(Some(own.is_determined()), contact.determined, "{own:?}");
        let [least, greatest] = own.normal;
        let force = normal(contact);
        assert!(least - tolerance <= force && force <= greatest + tolerance, "{own:?} without {force}");
        for (tangent, [least, greatest]) in own.tangents.into_iter().zip(own.friction) {
            let force = Vector3::from(contact.force(H).friction).dot(&Vector3::from(tangent));
            assert!(least - tolerance <= force && force <= greatest + tolerance, "{own:?} without {force}");
        }
    }
    first
}

/// Intervals of the forces at a contact.
fn intervals(report: &StepReport, contact: &ContactReport) -> ContactInterval {
    report.interval(contact.id).expect("examined").over(H)
}

/// Programs are solved to 1e-8 of the impulses.
fn assert_interval(found: [f64; 2], expected: [f64; 2], digits: f64) {
    let near = |a: f64, b: f64| a == b || (a - b).abs() <= digits;
    assert!(near(found[0], expected[0]) && near(found[1], expected[1]), "{found:?} instead of {expected:?}");
}

/// Interval of the friction along an axis of the world.
fn friction_along(own: &ContactInterval, axis: Vector3<f64>) -> [f64; 2] {
    let along = |k: &usize| Vector3::from(own.tangents[*k]).dot(&axis);
    let k = [0, 1].into_iter().max_by(|a, b| along(a).abs().total_cmp(&along(b).abs())).expect("two");
    assert!((along(&k).abs() - 1.0).abs() < 1e-9, "{own:?} has no tangent along {axis:?}");
    let [least, greatest] = own.friction[k];
    if along(&k) > 0.0 { [least, greatest] } else { [-greatest, -least] }
}

fn normal(contact: &ContactReport) -> f64 {
    contact.normal_force(H)
}

fn friction(contact: &ContactReport) -> f64 {
    Vector3::from(contact.force(H).friction).norm()
}

/// Contact next to a point.
fn near(report: &StepReport, [x, y, z]: [f64; 3]) -> &ContactReport {
    let distance = |c: &ContactReport| (Vector3::from(c.point) - Vector3::new(x, y, z)).norm();
    report.contacts.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).expect("a contact")
}

fn assert_near(found: f64, expected: f64, digits: f64) {
    assert!((found - expected).abs() <= digits, "{found} instead of {expected}");
}

/// Box on the ground, its centre of mass at `centre`.
fn on_ground(
    gravity: Vector3<f64>,
    mass: f64,
    half_extents: [f64; 3],
    centre: [f64; 2],
    mu: f64,
) -> spatial::Model {
    let mut world = spatial::World::new(gravity);
    world.add_body(
        spatial::Body::fixed("ground")
            .with(spatial::Attached::new(spatial::Shape::HalfSpace).material(rough(mu))),
    );
    let shape = spatial::Attached::new(spatial::Shape::Cuboid { half_extents }).material(rough(mu));
    let [a, b, c] = half_extents.map(|x| x * x);
    let inertia = [b + c, a + c, a + b].map(|x| mass / 3.0 * x);
    let spatial::Mass::Given { inertia, .. } = spatial::Mass::given(mass, inertia) else { unreachable!() };
    let mass = spatial::Mass::Given { mass, centre: Point3::new(centre[0], centre[1], 0.0), inertia };
    let pose = Isometry3::translation(0.0, 0.0, half_extents[2]);
    world.add_body(spatial::Body::rigid("box", mass).at(pose).with(shape));
    world.build().unwrap()
}

#[test]
fn a_table_shares_its_weight_linearly() {
    let moved = [[13.734, 23.544], [0.0, 9.81], [0.0, 9.81], [5.886, 15.696]];
    for (centre, expected, bounds) in
        [([0.0, 0.0], [9.81; 4], [[0.0, 19.62]; 4]), ([0.5, 0.2], [16.677, 6.867, 2.943, 12.753], moved)]
    {
        let report = at_rest(on_ground(Vector3::new(0.0, 0.0, -G), 4.0, [1.0, 1.0, 0.1], centre, 0.5));
        assert_eq!(report.contacts.len(), 4);
        let corners = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]].into_iter();
        for (([x, y], expected), bounds) in corners.zip(expected).zip(bounds) {
            let contact = near(&report, [x, y, 0.0]);
            assert_near(normal(contact), expected, 1e-9);
            assert_interval(intervals(&report, contact).normal, bounds, 1e-6);
            assert!(friction(contact) < 1e-9, "nothing pulls");
            assert_eq!(contact.determined, Some(false));
        }
    }
}

#[test]
fn a_box_on_an_incline_leans_on_its_low_corners() {
    let angle = 0.45_f64.atan();
    let gravity = G * Vector3::new(angle.sin(), 0.0, -angle.cos());
    let report = at_rest(on_ground(gravity, 1.0, [0.3, 0.2, 0.1], [0.0; 2], 0.5));
    for (x, expected, bounds) in
        [(0.3, 2.571_961, [0.670_946, 4.472_975]), (-0.3, 1.901_014, [0.0, 3.802_029])]
    {
        for y in [0.2, -0.2] {
            let contact = near(&report, [x, y, 0.0]);
            assert_near(normal(contact), expected, 1e-6);
            assert_interval(intervals(&report, contact).normal, bounds, 2e-6);
        }
    }
    let level = at_rest(on_ground(Vector3::new(0.0, 0.0, -G), 1.0, [0.3, 0.2, 0.1], [0.0; 2], 0.5));
    for contact in &level.contacts {
        assert_near(normal(contact), 2.4525, 1e-10);
        assert!(friction(contact) < 1e-10);
        let own = intervals(&level, contact);
        assert_interval(own.normal, [0.0, 4.905], 1e-6);
        assert_interval(friction_along(&own, Vector3::y()), [-1.6172, 1.6172], 5e-5);
    }
}

/// World with a floor, without gravity if it is zero.
fn plane(gravity: f64, mu: f64) -> planar::World {
    let mut world = planar::World::new(Vector2::new(0.0, -gravity));
    let floor = planar::Attached::new(planar::Shape::HalfPlane).material(rough(mu));
    world.add_body(planar::Body::fixed("floor").with(floor));
    world
}

/// Wall whose surface is at x = 0, with bodies on the side of its normal, at `angle` from the floor's.
fn wall(angle: f64, mu: f64) -> planar::Body {
    let shape = planar::Attached::new(planar::Shape::HalfPlane).material(rough(mu));
    planar::Body::fixed("wall").at(Isometry2::rotation(angle)).with(shape)
}

#[test]
fn a_ladder_presses_the_wall_as_little_as_friction_allows() {
    let angle = 65_f64.to_radians();
    // friction of two surfaces is the root of their product: 0.5 at the floor, 0.3 at the wall
    let mut world = plane(G, 0.25);
    let (x, y) = (4.0 * angle.cos(), 4.0 * angle.sin());
    world.add_body(wall(std::f64::consts::FRAC_PI_2, 0.09));
    let rod =
        planar::Attached::new(planar::Shape::Capsule { half_length: 2.0, radius: 0.0 }).material(rough(1.0));
    let pose = Isometry2::new(Vector2::new(-x / 2.0, y / 2.0), angle);
    // its upper end is at the wall
    world.add_body(
        planar::Body::rigid("ladder", planar::Mass::given(10.0, 10.0 * 16.0 / 12.0)).at(pose).with(rod),
    );
    let report = at_rest(world.build().unwrap());
    let (foot, head) = (near(&report, [-x, 0.0, 0.0]), near(&report, [0.0, y, 0.0]));
    assert_near(normal(foot), 92.080_38, 1e-5);
    assert_near(normal(head), 20.065_40, 1e-5);
    assert_near(friction(head), 6.019_62, 1e-5);
    assert_eq!((foot.determined, head.determined), (Some(false), Some(false)));
    let [floor, wall] = [foot, head].map(|contact| intervals(&report, contact));
    assert_interval(floor.normal, [92.080_38, 106.077_74], 2e-5);
    assert_interval(wall.normal, [20.065_40, 26.592_47], 2e-5);
    // the table has friction that lets the ladder down as negative
    assert_interval(friction_along(&wall, Vector3::y()), [-7.977_74, 6.019_62], 2e-5);
}

/// Block against a wall at x = 0, pushed by 138 N.
fn jaw(body: impl Fn() -> planar::Body, mu: f64) -> planar::Model {
    let mut world = planar::World::new(Vector2::zeros());
    // a polygon: the rows of a turned half-plane have the round-off of its angle
    let wall = planar::Shape::Polygon(Polygon::rectangle([0.1, 1.0]).unwrap());
    let wall = planar::Attached::new(wall).material(rough(mu));
    world.add_body(planar::Body::fixed("wall").at(Isometry2::translation(-0.1, 0.0)).with(wall));
    let block = Polygon::rectangle([0.05, 0.1]).unwrap();
    let shape = planar::Attached::new(planar::Shape::Polygon(block)).material(rough(mu));
    let jaw = world.add_body(body().at(Isometry2::translation(0.05, 0.0)).with(shape));
    world.add_force(planar::Force::constant(jaw, Vector2::new(-138.0, 0.0)));
    world.build().unwrap()
}

#[test]
fn a_jaw_presses_with_both_corners_alike() {
    let free = jaw(|| planar::Body::rigid("jaw", planar::Mass::given(1.0, 0.01)), 0.3);
    let guided = jaw(|| planar::Body::slider("jaw", 1.0, Vector2::x()), 0.5);
    for (model, normals, tangents) in
        [(free, [69.0, 69.0], [-20.7, 20.7]), (guided, [0.0, 138.0], [-69.0, 69.0])]
    {
        let report = at_rest(model);
        assert_eq!(report.contacts.len(), 2);
        for contact in &report.contacts {
            let own = intervals(&report, contact);
            assert_interval(own.normal, normals, 1e-5);
            assert_interval(own.friction[0], tangents, 1e-5);
        }
        for contact in &report.contacts {
            assert_near(normal(contact), 69.0, 1e-9);
            assert!(friction(contact) < 1e-9);
            assert_eq!(contact.determined, Some(false));
        }
    }
}

/// Two pads on each side of a body of 1 kg, held by 20 N from both sides.
#[test]
fn pads_share_a_grasp() {
    let mut world = planar::World::new(Vector2::new(0.0, -G));
    let block = |half: [f64; 2]| {
        let polygon = Polygon::rectangle(half).unwrap();
        planar::Attached::new(planar::Shape::Polygon(polygon)).material(rough(0.5))
    };
    world.add_body(planar::Body::rigid("held", planar::Mass::given(1.0, 0.01)).with(block([0.05, 0.2])));
    for side in [-1.0, 1.0] {
        let jaw = planar::Body::slider(format!("jaw {side}"), 1.0, Vector2::x());
        let jaw = jaw.at(Isometry2::translation(side * 0.1, 0.0));
        let jaw = world.add_body(jaw.with(block([0.05, 0.1])));
        world.add_force(planar::Force::constant(jaw, Vector2::new(-side * 20.0, 0.0)));
    }
    let report = at_rest(world.build().unwrap());
    assert_eq!(report.contacts.len(), 4);
    for contact in &report.contacts {
        assert_near(normal(contact), 10.0, 1e-9);
        assert_near(friction(contact), G / 4.0, 1e-9);
        assert_interval(intervals(&report, contact).normal, [0.0, 20.0], 1e-5);
    }
}

/// Body of 1 kg between two plates that are held in place.
fn locked_grasp(mu: f64) -> planar::Model {
    let mut world = planar::World::new(Vector2::new(0.0, -G));
    let plate = |half: [f64; 2]| {
        let polygon = Polygon::rectangle(half).unwrap();
        planar::Attached::new(planar::Shape::Polygon(polygon)).material(rough(mu))
    };
    let disk = planar::Attached::new(planar::Shape::Disk { radius: 0.05 }).material(rough(mu));
    world.add_body(planar::Body::rigid("held", planar::Mass::given(1.0, 0.01)).with(disk));
    for side in [-1.0, 1.0] {
        let at = Isometry2::translation(side * 0.1, 0.0);
        world.add_body(planar::Body::fixed(format!("plate {side}")).at(at).with(plate([0.05, 0.1])));
    }
    world.build().unwrap()
}

/// Whoever holds the body presses as little as friction allows, but may press without limit; without friction it falls.
#[test]
fn a_locked_grasp_has_no_greatest_force_and_two_motions() {
    let simulation = Simulation::new(locked_grasp(0.5));
    let next = simulation.next_motions().unwrap();
    assert_eq!(next.constraints.len(), 2);
    assert!(!next.found.is_unique() && next.found.continuum, "{next:?}");
    let mut falls: Vec<f64> = next.found.motions.iter().map(|motion| motion.v[1]).collect();
    falls.sort_by(f64::total_cmp);
    assert!(falls.len() == 2 && (falls[0] + G).abs() < 1e-7 && falls[1].abs() < 1e-7, "{falls:?}");
    assert!(Simulation::new(locked_grasp(0.0)).next_motions().unwrap().found.is_unique());
}

/// Two cards of 2 g that lean against each other at 70°.
#[test]
fn two_cards_have_determined_forces() {
    let angle = 70_f64.to_radians();
    let radius = 1e-7;
    let mut world = plane(G, 0.5);
    for side in [-1.0, 1.0] {
        let shape = planar::Shape::Capsule { half_length: 0.05, radius };
        let shape = planar::Attached::new(shape).material(rough(0.5));
        let at = Vector2::new(side * (0.05 * angle.cos() + radius), 0.05 * angle.sin() + radius);
        let pose = Isometry2::new(at, -side * angle);
        let mass = planar::Mass::given(0.002, 0.002 * 0.01 / 12.0);
        world.add_body(planar::Body::rigid(format!("card {side}"), mass).at(pose).with(shape));
    }
    let model = world.build().unwrap();
    let next = Simulation::new(model.clone()).next_motions().unwrap();
    assert!(next.found.is_unique(), "{} motions", next.found.motions.len());
    let report = at_rest(model);
    assert_eq!(report.contacts.len(), 3, "two feet and the top");
    for side in [-1.0, 1.0] {
        let foot = near(&report, [side * 0.1 * angle.cos(), 0.0, 0.0]);
        assert_near(normal(foot), 0.019_62, 1e-8);
        assert_near(friction(foot), 0.003_57, 1e-5);
        assert_eq!(foot.determined, Some(true), "must not warn");
        assert_interval(intervals(&report, foot).normal, [0.019_62; 2], 1e-8);
    }
}
