//! Contacts that resist spin and rolling, against the recurrences of the scheme.

use crate::common::{built, gravity, pose_of, simulation, step, twist_of};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction::spatial::{Attached, Body, BodyId, Facets, Mass, Model, Shape, Twist, World};
use stiction::{
    ContactQuery, ContactRow, Dropped, Material, Mode, Scheme, SearchCache, Simulation, StepError, System,
    planar,
};

const H: f64 = 0.01;
const G: f64 = 9.81;
const R: f64 = 0.2;
/// Mass [kg] and the moment of inertia of a uniform ball [kg m²].
const M: f64 = 3.0;
const I: f64 = 0.4 * M * R * R;
const HEADINGS: [f64; 5] = [0.0, 0.4, 1.3, 2.9, 4.4];

fn material(friction: f64, torsion: f64, rolling: f64) -> Material {
    Material { friction, restitution: 0.0, torsion, rolling }
}

/// A ball that touches a half-space which falls by `angle` towards `heading`; that direction, and up.
fn ball(
    material: Material,
    (angle, heading): (f64, f64),
    facets: Option<Facets>,
) -> (World, BodyId, [Vector3<f64>; 2]) {
    let mut world = World::new(gravity());
    world.facets = facets;
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), heading)
        * UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle);
    let pose = Isometry3::from_parts(Vector3::zeros().into(), turn);
    world.add_body(Body::fixed("ground").at(pose).with(Attached::new(Shape::HalfSpace).material(material)));
    let (down, up) = (turn * Vector3::x(), turn * Vector3::z());
    let shape = Attached::new(Shape::Sphere { radius: R }).material(material);
    let body = Body::rigid("ball", Mass::given(M, [I; 3])).with(shape);
    let id = world.add_body(body.at(Isometry3::translation(R * up.x, R * up.y, R * up.z)));
    (world, id, [down, up])
}

fn moving(world: World, id: BodyId, twist: Twist, scheme: Scheme) -> Simulation<Model> {
    let mut world = world;
    world.body_mut(id).expect("the ball").velocity = twist;
    simulation(world, scheme)
}

fn schemes() -> [Scheme; 5] {
    [
        Scheme::ah04(),
        Scheme::ah04().post_stabilized(1),
        Scheme::ap97(),
        Scheme::st00(),
        Scheme::st00_nonlinear(),
    ]
}

/// ω⁺ = ω − h μ ℓ N / I until that would be less than nothing: it stops after ω I / (μ ℓ N), and stays.
#[test]
fn a_spinning_ball_stops_when_its_moment_says() {
    let (mu, torsion, spin) = (0.3, 0.04, 2.0);
    let slowed = H * mu * torsion * M * G / I;
    // ω I / (μ ℓ N) = 0.2719 s: in the 28th step
    assert_eq!((spin / slowed).ceil(), 28.0);
    for scheme in schemes() {
        for facets in [None, Some(Facets::default())] {
            let (world, id, _) = ball(material(mu, torsion, 0.0), (0.0, 0.0), facets);
            let mut run = moving(world, id, Twist::new(Vector3::zeros(), spin * Vector3::z()), scheme);
            let mut omega: f64 = spin;
            for k in 0..60 {
                let report = step(&mut run, H);
                let stops = omega <= slowed;
                omega = (omega - slowed).max(0.0);
                let twist = twist_of(&run, id);
                // round-off of 60 solves
                assert!((twist.angular.z - omega).abs() < 1e-12, "step {k}: {} and {omega}", twist.angular.z);
                assert!(twist.linear.norm() < 1e-12);
                let contact = &report.contacts[0];
                assert_eq!(contact.mode, if stops { Mode::Stick } else { Mode::Slip }, "step {k}");
                let moment = contact.moment.unwrap();
                let bound = mu * torsion * contact.normal_impulse;
                assert!((moment.impulse[2].abs() - if stops { 0.0 } else { bound }).abs() < 1e-12 || stops);
                assert!((moment.turn[2] - omega).abs() < 1e-12 && moment.rolling.is_none());
            }
            assert!(twist_of(&run, id).angular.norm() < 1e-13);
        }
    }
}

/// m v̇ = −f, I ω̇ = R f − ℓ N, v = R ω: what rolls is slowed by ℓ N / (R (m + I/R²)), stops, and stays.
#[test]
fn a_rolling_ball_is_slowed_and_stays_where_it_stops() {
    let (length, speed) = (0.03, 0.5);
    let slowed = H * length * G / (R * 1.4);
    for scheme in schemes() {
        for heading in HEADINGS {
            let (world, id, [along, up]) = ball(material(0.5, 0.0, length), (0.0, heading), None);
            let twist = Twist::new(speed * along, speed / R * up.cross(&along));
            let mut run = moving(world, id, twist, scheme);
            let (mut v, mut x): (f64, f64) = (speed, 0.0);
            for k in 0..60 {
                let report = step(&mut run, H);
                let stops = v <= slowed;
                v = (v - slowed).max(0.0);
                x += H * v;
                let twist = twist_of(&run, id);
                let at = pose_of(&run, id).translation.vector - R * up;
                assert!((twist.linear - v * along).norm() < 1e-12, "{heading}, step {k}: {:?}", twist.linear);
                assert!((twist.angular - v / R * up.cross(&along)).norm() < 1e-11);
                assert!((at - x * along).norm() < 1e-12);
                let contact = &report.contacts[0];
                assert_eq!(contact.mode, Mode::Stick, "what rolls does not slip");
                let moment = contact.moment.unwrap();
                assert_eq!(moment.rolling, Some(if stops { Mode::Stick } else { Mode::Slip }), "step {k}");
                let impulse = Vector3::from(moment.impulse);
                if !stops {
                    assert!((impulse + length * M * G * H * up.cross(&along)).norm() < 1e-12);
                }
            }
            // at rest nothing moves at all
            let before = pose_of(&run, id);
            for _ in 0..100 {
                step(&mut run, H);
            }
            assert!((pose_of(&run, id).translation.vector - before.translation.vector).norm() < 1e-14);
        }
    }
}

/// tan θ = ℓ / R is where a ball begins to roll; beyond, v̇ = g (sin θ − ℓ/R cos θ) / (1 + 2/5).
#[test]
fn a_ball_on_an_incline_stays_or_rolls() {
    let length: f64 = 0.03;
    let limit = (length / R).atan();
    for heading in HEADINGS {
        for (angle, rolls) in [(0.98 * limit, false), (1.02 * limit, true), (2.0 * limit, true)] {
            let (world, id, [down, up]) = ball(material(0.6, 0.01, length), (angle, heading), None);
            let mut run = simulation(world, Scheme::ah04());
            let start = pose_of(&run, id);
            let mut v = 0.0;
            for k in 0..200 {
                let report = step(&mut run, H);
                if rolls {
                    v += H * G * (angle.sin() - length / R * angle.cos()) / 1.4;
                }
                let twist = twist_of(&run, id);
                assert!((twist.linear - v * down).norm() < 1e-11, "{angle}, step {k}: {:?}", twist.linear);
                assert!((twist.angular - v / R * up.cross(&down)).norm() < 1e-10);
                // what is remembered of the last step holds it without a solve
                assert!(rolls || k < 2 || report.work.factorizations == 0, "step {k}: {:?}", report.work);
            }
            if !rolls {
                let moved = (pose_of(&run, id).translation.vector - start.translation.vector).norm();
                assert!(moved < 1e-13, "{moved}");
            }
        }
    }
}

/// (f, m/ℓ) in one ball: a puck that spins has less friction left to slide against, by the share of its slip.
#[test]
fn what_spins_slides_farther_whatever_its_heading() {
    let (mu, torsion) = (0.2, 0.1);
    let slide = |heading: f64, spin: f64| {
        let (world, id, [along, _]) = ball(material(mu, torsion, 0.0), (0.0, heading), None);
        let twist = Twist::new(2.0 * along, spin * Vector3::z());
        let mut run = moving(world, id, twist, Scheme::ah04());
        let mut before = 2.0;
        for _ in 0..20 {
            step(&mut run, H);
            let Twist { linear, angular } = twist_of(&run, id);
            let slip = (linear - R * angular.cross(&Vector3::z())).norm();
            let share = slip / slip.hypot(torsion * angular.z);
            assert!((before - linear.norm() - H * mu * G * share).abs() < 1e-12);
            before = linear.norm();
        }
        let along = pose_of(&run, id).translation.vector.dot(&along);
        (along, pose_of(&run, id).translation.vector.norm_squared() - along * along - R * R)
    };
    let [still, slow, fast] = [0.0, 10.0, 40.0].map(|spin| slide(0.0, spin).0);
    assert!(still < slow && slow < fast, "{still} {slow} {fast}");
    for heading in HEADINGS {
        let (distance, aside) = slide(heading, 10.0);
        assert!((distance - slow).abs() < 1e-12 && aside.abs() < 1e-12, "{heading}: {distance}");
    }
}

/// A disk in the plane and a ball of its mass and inertia: the same up to round-off, slipping first, then rolling.
#[test]
fn the_plane_is_a_part_of_space() {
    let material = material(0.1, 0.02, 0.03);
    let (world, id, [along, up]) = ball(material, (0.05, 0.0), None);
    let mut space = moving(world, id, Twist::new(along, Vector3::zeros()), Scheme::ah04());
    let mut world = planar::World::new(nalgebra::Vector2::new(0.0, -G));
    let pose = nalgebra::Isometry2::rotation(-0.05);
    let plane = planar::Attached::new(planar::Shape::HalfPlane).material(material);
    world.add_body(planar::Body::fixed("ground").at(pose).with(plane));
    let disk = planar::Attached::new(planar::Shape::Disk { radius: R }).material(material);
    let at = pose * nalgebra::Point2::new(0.0, R);
    let disk = planar::Body::rigid("disk", planar::Mass::given(M, I)).with(disk);
    let mut disk = disk.at(nalgebra::Isometry2::translation(at.x, at.y));
    disk.velocity = planar::Twist::new(pose * nalgebra::Vector2::x(), 0.0);
    let disk = world.add_body(disk);
    let model = world.build().unwrap();
    let mut plane = Simulation::new(model).with_scheme(Scheme::ah04());
    for k in 0..150 {
        step(&mut space, H);
        plane.step(H).unwrap();
        let [a, b] = [twist_of(&space, id), {
            let planar::Twist { linear, angular } = plane.system().velocity(plane.state(), disk).unwrap();
            Twist::new(Vector3::new(linear.x, 0.0, linear.y), -angular * Vector3::y())
        }];
        assert!((a.linear - b.linear).norm() < 1e-11, "step {k}: {:?} and {:?}", a.linear, b.linear);
        assert!((a.angular - b.angular).norm() < 1e-10);
    }
    assert!(twist_of(&space, id).linear.dot(&up).abs() < 1e-12);
}

/// A slab of two boxes: the contacts in its middle follow from those at its corners, moments and all, where their
/// lengths and rows are the same. Bounds grow with the normal impulse, so contacts with a larger normal impulse resist more.
#[test]
fn dropped_contacts_leave_their_moments_to_the_others() {
    let mut world = World::new(gravity());
    let material = material(0.3, 0.05, 0.02);
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfSpace).material(material)));
    let half = |x: f64| {
        let shape = Attached::new(Shape::Cuboid { half_extents: [0.2, 0.3, 0.1] }).material(material);
        shape.at(Isometry3::translation(x, 0.0, 0.0))
    };
    let mut body = Body::rigid("slab", Mass::Density(500.0)).with(half(-0.2)).with(half(0.2));
    body.velocity = Twist::new(Vector3::new(0.4, 0.1, 0.0), 2.0 * Vector3::z());
    let id = world.add_body(body.at(Isometry3::translation(0.0, 0.0, 0.1)));
    let mut run = simulation(world, Scheme::ah04());
    let (t, q) = (run.state().t, run.state().q.clone());
    let mut rows = Vec::new();
    run.system().contacts(t, &q, &ContactQuery::within(1e-6), &mut SearchCache::default(), &mut rows);
    let report = step(&mut run, H);
    assert_eq!((rows.len(), report.dropped.len(), report.work.proven), (8, 4, 4));
    let row = |id| rows.iter().find(|row| row.id == id).unwrap();
    let kept: Vec<_> = report.contacts.iter().map(|c| (row(c.id).clone(), 0.0)).collect();
    for dropped in &report.dropped {
        let row = rows.iter().find(|row| row.id == dropped.contact).unwrap();
        let defect = |spoil: &dyn Fn(&mut ContactRow)| {
            let mut row = row.clone();
            spoil(&mut row);
            dropped.defect(&row, 0.0, &kept, 1.0)
        };
        assert!(defect(&|_| {}) <= Dropped::TOLERANCE);
        assert_eq!(defect(&|row| row.moments.rolling *= 2.0), f64::INFINITY);
        assert_eq!(defect(&|row| row.moments.torsion = 0.0), f64::INFINITY);
        assert_eq!(defect(&|row| row.moments.spin = None), f64::INFINITY);
        assert!(defect(&|row| row.moments.rolls[0].offset = 0.1) > 0.05);
        assert!(defect(&|row| row.moments.rolls.swap(0, 1)) > 0.5);
    }
    for _ in 0..60 {
        step(&mut run, H);
    }
    assert!(twist_of(&run, id).linear.norm() < 1e-10 && twist_of(&run, id).angular.norm() < 1e-10);
}

/// Balls and boxes thrown together: what resists turning never adds energy.
#[test]
fn turning_is_resisted_at_the_cost_of_energy_alone() {
    let mut world = World::new(gravity());
    let material = material(0.5, 0.03, 0.02);
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfSpace).material(material)));
    for k in 0..6 {
        let shape = if k % 2 == 0 {
            Shape::Sphere { radius: 0.2 }
        } else {
            Shape::Cuboid { half_extents: [0.2, 0.15, 0.1] }
        };
        let mut body = Body::rigid(format!("body {k}"), Mass::Density(400.0))
            .with(Attached::new(shape).material(material))
            .at(Isometry3::translation(
                0.1 * f64::from(k % 3),
                0.05 * f64::from(k),
                0.3 + 0.45 * f64::from(k),
            ));
        body.velocity = Twist::new(Vector3::new(0.3, -0.2, 0.0), Vector3::new(1.0, f64::from(k), 4.0));
        world.add_body(body);
    }
    let mut run = simulation(world, Scheme::ap97());
    let mut energy = f64::INFINITY;
    for k in 0..300 {
        let report = step(&mut run, 0.005);
        let now = report.kinetic + report.potential;
        assert!(now <= energy * (1.0 + 1e-9), "step {k}: {energy} J, then {now} J");
        energy = now;
    }
}

#[test]
fn schemes_of_second_order_say_that_they_do_not_know_it() {
    for (torsion, rolling) in [(0.01, 0.0), (0.0, 0.01)] {
        let (world, _, _) = ball(material(0.5, torsion, rolling), (0.0, 0.0), None);
        let error = simulation(world, Scheme::accurate()).step(H).unwrap_err();
        assert!(matches!(error, StepError::Unsupported { .. }), "{error:?}");
        assert!(error.to_string().contains("torsional and rolling friction"), "{error}");
    }
    let (world, _, _) = ball(material(0.0, 0.01, 0.0), (0.0, 0.0), None);
    assert!(
        simulation(world, Scheme::accurate()).step(H).is_ok(),
        "without friction there is no torsion either"
    );
}

#[test]
fn lengths_are_combined_as_friction_is_and_checked() {
    let both = material(0.4, 0.04, 0.09).combined(&material(0.1, 0.01, 0.01));
    assert!((both.torsion - 0.02).abs() < 1e-15 && (both.rolling - 0.03).abs() < 1e-15);
    assert_eq!(material(0.4, 0.04, 0.09).combined(&Material::default()).rolling, 0.0);
    let (world, _, _) = ball(material(0.4, -0.1, f64::NAN), (0.0, 0.0), None);
    let mistakes = world.build().map(|_| ()).unwrap_err().to_string();
    assert!(mistakes.contains("torsion: ℓ_t = -0.1 m must be finite and not negative"), "{mistakes}");
    assert!(mistakes.contains("rolling: ℓ_r = NaN m must be finite and not negative"), "{mistakes}");
    drop(built(ball(Material::default(), (0.0, 0.0), None).0));
}

/// Positions are mended by the least displacement, which no friction of any kind resists.
#[test]
fn nothing_resists_the_turning_of_a_displacement() {
    let mended = |rolling: f64, torsion: f64| {
        let material = material(0.5, torsion, rolling);
        let mut world = World::new(Vector3::zeros());
        world.allow_overlap = true;
        world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfSpace).material(material)));
        let cuboid = Shape::Cuboid { half_extents: [0.3, 0.2, 0.1] };
        let tilted = UnitQuaternion::from_euler_angles(0.3, 0.2, 0.1);
        let body = Body::rigid("box", Mass::Density(500.0)).with(Attached::new(cuboid).material(material));
        world.add_body(body.at(Isometry3::from_parts(Vector3::new(0.0, 0.0, 0.19).into(), tilted)));
        let mut run = simulation(world, Scheme::ap97().post_stabilized(1));
        let before = run.state().q.clone();
        step(&mut run, H);
        // it stands still, and was in the ground
        assert!(run.state().v.iter().all(|v| *v == 0.0) && run.state().q != before);
        run.state().q.clone()
    };
    assert_eq!(mended(0.05, 0.03), mended(0.0, 0.0));
}
