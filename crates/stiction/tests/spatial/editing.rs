//! Edits of spatial worlds: filters, snapshots, bodies that come and go.

use crate::common::{
    ball, built, floor, gravity, mass, path, pose, pose_of, rotation, simulation, slippery, step, vector,
};
use nalgebra::{Isometry3, Point3, Vector3};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stiction::spatial::{Attached, Body, BodyId, Force, Joint, Mass, Model, Shape, ShapeId, Twist, World};
use stiction::{Groups, PairId, Scheme, Simulation};

#[test]
fn sensors_feel_and_do_not_push() {
    let mut world = World::new(gravity());
    let gate = Attached::new(Shape::HalfSpace).sensor();
    world.add_body(Body::fixed("gate").with(gate));
    let body = world.add_body(ball("ball", 0.0).at(Isometry3::translation(0.0, 0.0, 0.2)));
    let mut run = simulation(world, Scheme::default());
    assert!(run.system().sensed(run.state()).is_empty());
    for _ in 0..30 {
        let report = step(&mut run, 0.01);
        assert!(report.contacts.is_empty());
    }
    assert!(pose_of(&run, body).translation.z < -0.1);
    assert_eq!(run.system().sensed(run.state()), vec![PairId { a: ShapeId(0), b: ShapeId(1) }]);
}

#[test]
fn groups_exclusions_and_neighbours_pass_through_each_other() {
    let fall = |change: &dyn Fn(&mut World, BodyId, BodyId)| {
        let mut world = World::new(gravity());
        let ground = floor(&mut world, 0.5);
        let body = world.add_body(ball("ball", 0.0));
        change(&mut world, ground, body);
        let mut run = simulation(world, Scheme::default());
        (0..10).for_each(|_| drop(step(&mut run, 0.01)));
        pose_of(&run, body).translation.z < 0.09
    };
    let rail =
        |w: &World, a: BodyId, b: BodyId| Joint::prismatic("rail", w, a, b, Point3::origin(), Vector3::z());
    assert!(!fall(&|_, _, _| {}));
    assert!(fall(&|w, a, b| w.exclude(a, b)));
    assert!(fall(&|w, _, b| {
        w.body_mut(b).unwrap().shapes[0].groups = Groups { member: 2, collides: 2 };
    }));
    assert!(!fall(&|w, _, b| {
        w.body_mut(b).unwrap().shapes[0].groups = Groups { member: 2, collides: 1 };
    }));
    assert!(fall(&|w, a, b| {
        let joint = rail(w, a, b);
        w.add_joint(joint);
    }));
    assert!(!fall(&|w, a, b| {
        let joint = rail(w, a, b).colliding();
        w.add_joint(joint);
    }));
}

#[test]
fn a_pair_may_have_its_own_material() {
    let speed = |own: Option<f64>| {
        let mut world = World::new(gravity());
        floor(&mut world, 0.5);
        let shape = Attached::new(Shape::Cuboid { half_extents: [0.2, 0.2, 0.05] }).material(slippery(0.2));
        let body = Body::rigid("box", Mass::Density(500.0)).with(shape);
        let body = body.at(Isometry3::translation(0.0, 0.0, 0.05));
        let body = world.add_body(body.moving(Twist::new(Vector3::x() * 2.0, Vector3::zeros())));
        if let Some(friction) = own {
            world.pair_material(ShapeId(1), ShapeId(0), slippery(friction));
        }
        let mut run = simulation(world, Scheme::ah04());
        (0..10).for_each(|_| drop(step(&mut run, 0.01)));
        run.system().velocity(run.state(), body).unwrap().linear.x
    };
    // √(0.5 · 0.2) of the two, or what the pair has
    assert!((speed(None) - (2.0 - 0.1 * 9.81 * 0.1_f64.sqrt())).abs() < 1e-12);
    assert!((speed(Some(0.3)) - (2.0 - 0.1 * 9.81 * 0.3)).abs() < 1e-12);
}

/// A world with something of everything, all in motion.
fn busy() -> World {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut world = World::new(gravity());
    floor(&mut world, 0.4);
    let first =
        world.add_body(ball("first", 0.0).moving(Twist::new(vector(&mut rng, 1.0), vector(&mut rng, 5.0))));
    let second = ball("second", 0.25)
        .at(Isometry3::from_parts(Vector3::new(0.25, 0.0, 0.1).into(), rotation(&mut rng)));
    let second = world.add_body(second.moving(Twist::new(-Vector3::x(), vector(&mut rng, 5.0))));
    let arm = world.add_body(Body::rigid("arm", mass(&mut rng)).at(pose(&mut rng, 2.0)));
    let slider = world.add_body(Body::slider("slider", 0.7, vector(&mut rng, 1.0)).at(pose(&mut rng, 2.0)));
    let point = world.add_body(Body::point("point", 0.7).at(pose(&mut rng, 2.0)));
    let hand = world.add_body(Body::kinematic("hand", path(&mut rng)));
    let joint = Joint::spherical("socket", &world, hand, arm, Point3::new(0.1, 0.2, 0.3));
    world.add_joint(joint);
    let (point_a, point_b) = (Point3::new(0.1, 0.0, 0.0), Point3::origin());
    for (a, b) in [(slider, point), (arm, slider), (first, second)] {
        let (stiffness, damping, rest_length) = (50.0, 0.1, 0.3);
        world.add_force(Force::Spring { a, point_a, b, point_b, stiffness, damping, rest_length });
    }
    world
}

fn bits(run: &Simulation<Model>) -> Vec<u64> {
    let state = run.state();
    [state.t].iter().chain(&state.q).chain(&state.v).map(|x| x.to_bits()).collect()
}

#[test]
fn the_same_run_twice_is_bitwise_equal() {
    let run = || {
        let mut run = simulation(busy(), Scheme::default());
        (0..100).for_each(|_| drop(step(&mut run, 0.005)));
        bits(&run)
    };
    assert_eq!(run(), run());
}

#[test]
fn a_restored_snapshot_goes_on_bit_by_bit() {
    for scheme in
        [Scheme::default(), Scheme::ah04(), Scheme::st00(), Scheme::st00_nonlinear(), Scheme::ap97()]
    {
        let mut run = simulation(busy(), scheme);
        (0..20).for_each(|_| drop(step(&mut run, 0.005)));
        let snapshot = run.state().clone();
        (0..20).for_each(|_| drop(step(&mut run, 0.005)));
        let end = bits(&run);
        run.restore(snapshot);
        (0..20).for_each(|_| drop(step(&mut run, 0.005)));
        assert_eq!(bits(&run), end, "{scheme:?}");
    }
}

#[test]
fn a_loaded_state_comes_out_again_bit_by_bit() {
    let mut run = simulation(busy(), Scheme::default());
    (0..30).for_each(|_| drop(step(&mut run, 0.005)));
    let mut world = busy();
    world.load(run.state()).unwrap();
    let again = world.state();
    assert_eq!((&again.q, &again.v, again.t), (&run.state().q, &run.state().v, run.state().t));
    // and the bodies are where the model has them
    for (id, body) in world.bodies().filter(|(_, body)| body.name != "hand") {
        assert_eq!(Some(body.pose), run.system().pose(run.state(), id), "{}", body.name);
    }
    // a body moved by hand is where it was put
    let id = world.find_body("slider").unwrap();
    world.body_mut(id).unwrap().pose.translation.vector += Vector3::new(1.0, 2.0, 3.0);
    let moved = world.body(id).unwrap().pose;
    let model = built(world);
    let found = model.pose(&model.state(), id).unwrap();
    assert!((found.translation.vector - moved.translation.vector).norm() < 1e-14);
    // a state of another world is refused
    assert!(World::new(gravity()).load(run.state()).is_err());
}

#[test]
fn an_edit_that_changes_nothing_changes_no_bit() {
    let mut run = simulation(busy(), Scheme::default());
    let mut edited = simulation(busy(), Scheme::default());
    for _ in 0..40 {
        step(&mut run, 0.005);
        step(&mut edited, 0.005);
        edited.edit(|_| {}).unwrap();
        assert_eq!(bits(&run), bits(&edited));
    }
}

#[test]
fn bodies_joints_and_shapes_come_and_go() {
    let mut run = simulation(busy(), Scheme::default());
    (0..10).for_each(|_| drop(step(&mut run, 0.005)));
    let before = run.state().clone();
    let arm = run.system().world().find_body("arm").unwrap();
    let first = run.system().world().find_body("first").unwrap();
    let kept = run.system().pose(&before, first).unwrap();

    // a mistake changes nothing
    let wrong = run.edit(|world| world.add_body(Body::point("first", -1.0)));
    assert_eq!(wrong.unwrap_err().0.len(), 2);
    assert_eq!(run.state(), &before);

    // the arm goes with its joint and its spring; a new body and shape come under new numbers
    let (new, shape) = run
        .edit(|world| {
            let gone = world.remove_body(arm).unwrap();
            assert_eq!(gone.name, "arm");
            assert_eq!(world.joints().count(), 0);
            let new = world.add_body(ball("new", 3.0));
            let shape = world.add_shape(new, Attached::new(Shape::Sphere { radius: 0.05 })).unwrap();
            assert_eq!(world.add_shape(arm, Attached::new(Shape::HalfSpace)), None);
            (new, shape)
        })
        .unwrap();
    assert!(new.0 > arm.0 && run.system().world().body(arm).is_none());
    assert_eq!(run.system().pose(run.state(), first), Some(kept));
    assert_eq!(run.system().pose(run.state(), arm), None);
    (0..10).for_each(|_| drop(step(&mut run, 0.005)));

    run.edit(|world| world.remove_shape(shape)).unwrap().unwrap();
    assert_eq!(run.system().world().shapes(new).count(), 1);
    let joint = run.edit(|world| {
        let joint = Joint::spherical("late", world, first, new, Point3::new(1.0, 0.0, 0.1));
        world.add_joint(joint)
    });
    (0..10).for_each(|_| drop(step(&mut run, 0.005)));
    run.edit(|world| world.remove_joint(joint.unwrap())).unwrap().unwrap();
    (0..10).for_each(|_| drop(step(&mut run, 0.005)));
    let next = run.edit(|world| world.add_body(Body::point("last", 1.0))).unwrap();
    assert_eq!(next.0, new.0 + 1);
}

#[test]
fn an_edit_of_bodies_that_overlap_already_is_allowed() {
    let mut world = World::new(gravity());
    floor(&mut world, 0.5);
    let body = world.add_body(ball("ball", 0.0));
    let mut run = simulation(world, Scheme::ah04());
    let mut state = run.state().clone();
    state.q[2] = 0.095;
    run.restore(state);
    run.edit(|world| world.add_body(Body::point("other", 1.0))).unwrap();
    // but not deeper
    let deeper = run.edit(|world| world.body_mut(body).unwrap().pose.translation.z = 0.09);
    assert!(deeper.unwrap_err().to_string().contains("overlap"));
}

#[test]
fn bodies_shapes_and_joints_are_found() {
    let world = busy();
    let arm = world.find_body("arm").unwrap();
    assert_eq!(world.body(arm).unwrap().name, "arm");
    assert_eq!(world.find_body("nobody"), None);
    let socket = world.find_joint("socket").unwrap();
    assert_eq!(world.joint(socket).unwrap().b, arm);
    let model = built(world);
    let (q, v) = (model.coordinates(arm).unwrap(), model.velocities(arm).unwrap());
    assert_eq!((q.len(), v.len()), (7, 6));
    assert_eq!(model.coordinates(BodyId(0)).unwrap().len(), 0);
    assert!(model.joint_length(socket).unwrap() > 0.0);
    assert!(model.joint_coordinate(&model.state(), socket).is_some());
    assert_eq!(model.joint_coordinate(&model.state(), socket.axis(2)), None);
}
