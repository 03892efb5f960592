//! Pairs that touch, collision groups, sensors and moving surfaces.

use crate::common::{G, at, disk, earth, floor, friction, moving, rectangle, run, space, start};
use nalgebra::{Point2, Vector2};
use stiction::planar::{Attached, Body, BodyId, Joint, Mass, Path, World};
use stiction::{ContactQuery, ContactRow, Groups, Material, Scheme, SearchCache, System};
use stiction_geometry::planar::Shape;

#[test]
fn a_conveyor_carries_a_box_to_its_speed() {
    let (mu, h) = (0.4, 0.01);
    let mut world = earth();
    let belt = Attached::new(Shape::HalfPlane).material(friction(mu)).surface_velocity(1.0);
    world.add_body(Body::fixed("belt").with(belt));
    let crate_ = Body::rigid("box", Mass::Density(100.0)).at(at(0.0, 0.1));
    world.add_body(crate_.with(rectangle(0.5, 0.1).material(friction(mu))));
    let mut simulation = start(world, Scheme::default());
    run(&mut simulation, h, 60, |k, s, _| {
        let expected = (k as f64 * h * mu * G).min(1.0);
        assert!((s.state().v[0] - expected).abs() < 1e-9, "step {k}: {}", s.state().v[0]);
    });
}

#[test]
fn a_surface_velocity_of_the_second_shape_runs_around_its_own_outline() {
    // the top of a disk runs to the right, so its bottom runs left and the disk is driven to the right
    let mut world = earth();
    world.add_body(floor());
    let wheel = disk(0.2).surface_velocity(1.0);
    world.add_body(Body::point("wheel", 1.0).at(at(0.0, 0.2)).with(wheel));
    let mut simulation = start(world, Scheme::default());
    run(&mut simulation, 0.01, 100, |_, _, _| {});
    assert!((simulation.state().v[0] - 1.0).abs() < 1e-9, "{}", simulation.state().v[0]);
}

#[test]
fn a_piston_lifts_a_box() {
    for scheme in [Scheme::ah04(), Scheme::default()] {
        let mut world = earth();
        let path = Path::new(|t| (at(0.0, 0.5 * t), moving(0.0, 0.5, 0.0)));
        world.add_body(Body::kinematic("piston", path).with(rectangle(1.0, 0.1)));
        world.add_body(Body::rigid("box", Mass::Density(100.0)).at(at(0.0, 0.3)).with(rectangle(0.5, 0.2)));
        let mut simulation = start(world, scheme);
        run(&mut simulation, 0.01, 100, |k, s, r| {
            let q = &s.state().q;
            assert!((q[1] - 0.3 - 0.005 * k as f64).abs() < 1e-11, "step {k}: {}", q[1]);
            assert!(q[0].abs() < 1e-11 && q[2].abs() < 1e-11 && r.infeasibility < 1e-11);
        });
    }
}

#[test]
fn a_fast_kinematic_body_does_not_keep_post_stabilization_from_mending() {
    // a fly passes far away at 100 m/s while a pendulum is mended after every step
    let mut world = crate::common::chain(2).0;
    let path = Path::new(|t| (at(50.0, 100.0 * t), moving(0.0, 100.0, 0.0)));
    world.add_body(Body::kinematic("fly", path).with(disk(0.01)));
    let mut simulation = start(world, Scheme::default());
    run(&mut simulation, 0.01, 50, |k, _, r| assert!(r.infeasibility < 1e-11, "step {k}"));
}

#[test]
fn a_kinematic_body_is_seen_coming() {
    // a racket at 30 m/s hits a ball at rest, 0.3 m per step and 0.1 m thick
    let mut world = space();
    let path = Path::new(|t| (at(30.0 * t - 1.0, 0.0), moving(30.0, 0.0, 0.0)));
    world.add_body(Body::kinematic("racket", path).with(rectangle(0.05, 0.5)));
    world.add_body(Body::rigid("ball", Mass::Density(10.0)).with(disk(0.05)));
    let mut simulation = start(world, Scheme::default());
    run(&mut simulation, 0.01, 20, |k, s, r| {
        assert!(r.infeasibility < 1e-10, "step {k}");
        assert!(s.state().q[0] > 30.0 * 0.01 * k as f64 - 1.0, "step {k}: the ball is behind the racket");
    });
}

/// Two disks that overlap, and what the model makes of them.
fn two_disks(change: impl Fn(&mut World, BodyId, BodyId)) -> Vec<ContactRow> {
    let mut world = space();
    world.allow_overlap = true;
    let a = world.add_body(Body::rigid("a", Mass::given(1.0, 1.0)).with(disk(1.0)));
    let b = world.add_body(Body::rigid("b", Mass::given(1.0, 1.0)).at(at(1.5, 0.0)).with(disk(1.0)));
    change(&mut world, a, b);
    let model = world.build().unwrap();
    let state = model.state();
    let mut rows = Vec::new();
    model.contacts(0.0, &state.q, &ContactQuery::within(0.0), &mut SearchCache::default(), &mut rows);
    rows
}

#[test]
fn filters_decide_who_meets() {
    assert_eq!(two_disks(|_, _, _| {}).len(), 1);
    // sensors
    assert!(two_disks(|w, a, _| w.body_mut(a).unwrap().shapes[0].sensor = true).is_empty());
    // groups: b is in the second, which a does not collide with
    let apart = |w: &mut World, a: BodyId, b: BodyId| {
        w.body_mut(a).unwrap().shapes[0].groups = Groups { member: 1, collides: 1 };
        w.body_mut(b).unwrap().shapes[0].groups = Groups { member: 2, collides: u32::MAX };
    };
    assert!(two_disks(apart).is_empty());
    // exclusions, in any order
    assert!(two_disks(|w, a, b| w.exclude(b, a)).is_empty());
    // joined neighbours, unless `collide` is set
    let joint = |w: &World, a, b| Joint::revolute("joint", w, a, b, Point2::new(0.75, 0.0));
    let join = |w: &mut World, a, b| {
        let joint = joint(w, a, b);
        w.add_joint(joint);
    };
    assert!(two_disks(join).is_empty());
    let join = |w: &mut World, a, b| {
        let joint = joint(w, a, b).colliding();
        w.add_joint(joint);
    };
    assert_eq!(two_disks(join).len(), 1);
    // two shapes of one body, and two bodies that cannot move
    let more = |w: &mut World, a, _| {
        w.add_shape(a, disk(0.3)).unwrap();
        w.add_body(Body::fixed("c").at(at(0.0, 50.0)).with(disk(1.0)));
        w.add_body(Body::fixed("d").at(at(0.0, 50.0)).with(disk(1.0)));
    };
    assert_eq!(two_disks(more).len(), 1);
}

#[test]
fn sensors_tell_what_they_overlap() {
    let mut world = space();
    let gate = world.add_body(Body::fixed("gate"));
    let gate = world.add_shape(gate, rectangle(0.5, 0.5).sensor()).unwrap();
    let mass = Mass::Density(1.0);
    let ball = Body::rigid("ball", mass).at(at(-2.0, 0.0)).moving(moving(10.0, 0.0, 0.0));
    let ball = world.add_body(ball);
    let ball = world.add_shape(ball, disk(0.25)).unwrap();
    let mut simulation = start(world, Scheme::default());
    run(&mut simulation, 0.01, 40, |_, s, r| {
        assert!(r.contacts.is_empty());
        let inside = (s.state().q[0]).abs() <= 0.75 + 1e-12;
        let sensed = s.system().sensed(s.state());
        assert_eq!(!sensed.is_empty(), inside, "x = {}", s.state().q[0]);
        assert!(sensed.iter().all(|p| (p.a, p.b) == (gate, ball)));
    });
    assert_eq!(simulation.state().v[0], 10.0);
}

#[test]
fn materials_combine_or_are_given_per_pair() {
    let own = |w: &mut World, a, b| {
        w.body_mut(a).unwrap().shapes[0].material =
            Material { friction: 0.9, restitution: 0.1, ..Material::default() };
        w.body_mut(b).unwrap().shapes[0].material =
            Material { friction: 0.4, restitution: 0.7, ..Material::default() };
    };
    let rows = two_disks(own);
    assert!((rows[0].mu - 0.6).abs() < 1e-15 && rows[0].restitution == 0.7);
    let rows = two_disks(|w, a, b| {
        own(w, a, b);
        let shape = |w: &World, id| w.shapes(id).next().unwrap().0;
        let (a, b) = (shape(w, a), shape(w, b));
        w.pair_material(b, a, Material { friction: 0.05, restitution: 0.2, ..Material::default() });
    });
    assert_eq!((rows[0].mu, rows[0].restitution), (0.05, 0.2));
}

#[test]
fn wanted_pairs_are_found_at_any_distance() {
    let mut world = space();
    world.add_body(Body::rigid("a", Mass::given(1.0, 1.0)).with(disk(1.0)));
    world.add_body(Body::rigid("b", Mass::given(1.0, 1.0)).at(at(100.0, 0.0)).with(disk(1.0)));
    let model = world.build().unwrap();
    let q = model.state().q;
    let mut rows = Vec::new();
    model.contacts(0.0, &q, &ContactQuery::within(97.9), &mut SearchCache::default(), &mut rows);
    assert!(rows.is_empty());
    model.contacts(0.0, &q, &ContactQuery::within(98.1), &mut SearchCache::default(), &mut rows);
    assert_eq!(rows.len(), 1);
    let pair = rows[0].id.pair;
    model.contacts(
        0.0,
        &q,
        &ContactQuery { wanted: &[pair], ..ContactQuery::within(0.0) },
        &mut SearchCache::default(),
        &mut rows,
    );
    assert_eq!((rows.len(), rows[0].gap), (1, 98.0));
}

#[test]
fn a_slider_across_its_axis_has_no_contact() {
    // it lies on the floor and slides along it: nothing it does opens the gap
    let mut world = earth();
    world.allow_overlap = true;
    world.add_body(floor());
    let slider = Body::slider("slider", 1.0, Vector2::x()).at(at(0.0, 0.2));
    world.add_body(slider.with(rectangle(0.5, 0.3)).moving(moving(1.0, 0.0, 0.0)));
    let mut simulation = start(world, Scheme::ah04());
    run(&mut simulation, 0.01, 10, |_, s, r| {
        assert!(r.contacts.is_empty());
        assert_eq!(s.state().v[0], 1.0);
    });
}
