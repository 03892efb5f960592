//! Worlds that change while they run, snapshots, and runs that repeat bit by bit.

use crate::common::{G, at, chain, disk, earth, floor, moving, rectangle, run, start};
use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{Attached, Body, Force, Joint, Mass, Model, Path, World};
use stiction::{Scheme, Simulation, State};
use stiction_geometry::planar::Shape;

/// A bit of everything, in motion.
fn busy() -> World {
    let mut world = chain(3).0;
    world.add_body(floor().at(at(0.0, -2.5)));
    let composite = Body::rigid("composite", Mass::Density(20.0))
        .at(Isometry2::new(Vector2::new(-2.0, -1.0), 0.4))
        .moving(moving(0.5, 0.0, 3.0))
        .with(rectangle(0.3, 0.1))
        .with(disk(0.15).at(at(0.3, 0.05)));
    world.add_body(composite);
    let path = Path::new(|t: f64| (at(-4.0, t.sin() - 2.0), moving(0.0, t.cos(), 0.0)));
    world.add_body(Body::kinematic("piston", path).with(rectangle(0.5, 0.1)));
    world.add_body(Body::rigid("load", Mass::Density(10.0)).at(at(-4.0, -1.6)).with(rectangle(0.2, 0.3)));
    let axis = Vector2::new(1.0, 2.0).normalize();
    let bead = world.add_body(Body::slider("bead", 0.3, axis).at(at(4.3, 1.7)));
    let dot = world.add_body(Body::point("dot", 0.2).at(at(4.0, 3.0)).with(disk(0.1)));
    let (point_a, point_b) = (Point2::origin(), Point2::new(0.1, 0.0));
    world.add_force(Force::Spring {
        a: bead,
        point_a,
        b: dot,
        point_b,
        stiffness: 1e3,
        damping: 1.0,
        rest_length: 0.5,
    });
    world
}

fn bits(state: &State) -> Vec<u64> {
    std::iter::once(&state.t).chain(&state.q).chain(&state.v).map(|x| x.to_bits()).collect()
}

#[test]
fn the_same_run_twice_is_bitwise_equal() {
    for scheme in [Scheme::default(), Scheme::ap97(), Scheme::ah04(), Scheme::st00()] {
        let (mut one, mut two) = (start(busy(), scheme), start(busy(), scheme));
        for _ in 0..100 {
            let (a, b) = (one.step(0.01).unwrap(), two.step(0.01).unwrap());
            assert_eq!(bits(one.state()), bits(two.state()));
            assert_eq!(a, b);
        }
    }
}

#[test]
fn a_snapshot_goes_on_bit_by_bit() {
    for scheme in [Scheme::default(), Scheme::st00_nonlinear()] {
        let mut simulation = start(busy(), scheme);
        let mut snapshots = vec![simulation.state().clone()];
        // a step size that shrinks: the memory matters
        let size = |k: usize| if k % 7 == 6 { 0.002 } else { 0.008 };
        for k in 0..60 {
            simulation.step(size(k)).unwrap();
            snapshots.push(simulation.state().clone());
        }
        let mut other = start(busy(), scheme);
        for k in 0..60 {
            other.restore(snapshots[k].clone());
            other.step(size(k)).unwrap();
            assert_eq!(bits(other.state()), bits(&snapshots[k + 1]), "step {k}");
        }
    }
}

#[test]
fn loading_a_state_gives_it_back_bit_by_bit() {
    let mut simulation = start(busy(), Scheme::default());
    run(&mut simulation, 0.01, 100, |_, s, _| {
        let mut world = s.system().world().clone();
        world.load(s.state()).unwrap();
        assert_eq!(bits(&world.state()), bits(s.state()));
        let dot = world.find_body("dot").unwrap();
        assert_eq!(Some(world.body(dot).unwrap().pose), s.system().pose(s.state(), dot));
    });
    let short = State { q: vec![0.0], ..State::default() };
    let error = busy().load(&short).unwrap_err().to_string();
    assert!(error.contains("1 coordinates and 0 velocities"), "{error}");
}

#[test]
fn an_edit_that_changes_nothing_changes_nothing() {
    let (mut one, mut two) = (start(busy(), Scheme::default()), start(busy(), Scheme::default()));
    for k in 0..60 {
        let h = if k % 7 == 6 { 0.002 } else { 0.008 };
        one.step(h).unwrap();
        two.edit(|_| {}).unwrap();
        two.step(h).unwrap();
        assert_eq!(bits(one.state()), bits(two.state()), "step {k}");
    }
}

fn height(simulation: &Simulation<Model>, name: &str) -> f64 {
    let id = simulation.system().world().find_body(name).unwrap();
    simulation.system().centre(simulation.state(), id).unwrap().y
}

#[test]
fn bodies_shapes_and_joints_come_and_go() {
    let mut world = earth();
    let ground = world.add_body(floor());
    world.add_body(Body::rigid("box", Mass::Density(100.0)).at(at(0.0, 0.2)).with(rectangle(0.5, 0.2)));
    let mut simulation = start(world, Scheme::default());
    run(&mut simulation, 0.01, 20, |_, _, _| {});

    // a second box on the first
    let second = Body::rigid("second", Mass::Density(100.0)).at(at(0.1, 0.6)).with(rectangle(0.3, 0.2));
    let second = simulation.edit(|w| w.add_body(second)).unwrap();
    run(&mut simulation, 0.01, 50, |_, _, _| {});
    assert!((height(&simulation, "second") - 0.6).abs() < 1e-9);

    // a hinge holds it while the first goes away
    let hinge = simulation
        .edit(|w| {
            let hinge = w.add_joint(Joint::fixed("hold", w, ground, second, Point2::new(0.1, 0.6)));
            let first = w.find_body("box").unwrap();
            w.remove_body(first).unwrap();
            hinge
        })
        .unwrap();
    assert_eq!(simulation.state().q.len(), 3);
    run(&mut simulation, 0.01, 50, |_, _, _| {});
    assert!((height(&simulation, "second") - 0.6).abs() < 1e-9);

    // then it falls to the floor
    simulation.edit(|w| w.remove_joint(hinge)).unwrap();
    run(&mut simulation, 0.01, 100, |_, _, _| {});
    assert!((height(&simulation, "second") - 0.2).abs() < 1e-9, "{}", height(&simulation, "second"));

    // a longer leg lifts nothing that is there, but shapes may come where there is room and go
    let leg = simulation.edit(|w| w.add_shape(second, disk(0.1).at(at(0.0, 0.5)))).unwrap().unwrap();
    simulation.edit(|w| w.body_mut(second).unwrap().velocity = moving(0.0, 1.0, 0.0)).unwrap();
    assert_eq!(simulation.state().v, [0.0, 1.0, 0.0]);
    simulation.edit(|w| w.remove_shape(leg)).unwrap().unwrap();
    // without its shape it falls through
    let only = simulation.system().world().shapes(second).next().unwrap().0;
    simulation.edit(|w| w.body_mut(second).unwrap().mass = Mass::given(1.0, 1.0)).unwrap();
    simulation.edit(|w| w.remove_shape(only)).unwrap().unwrap();
    run(&mut simulation, 0.01, 100, |_, _, _| {});
    assert!(height(&simulation, "second") < -1.0);
}

#[test]
fn forces_come_and_go() {
    let mut world = earth();
    let body = world.add_body(Body::point("body", 2.0));
    let mut simulation = start(world, Scheme::default());
    let lift = simulation.edit(|w| w.add_force(Force::constant(body, Vector2::new(0.0, 2.0 * G)))).unwrap();
    run(&mut simulation, 0.1, 10, |_, _, _| {});
    assert!(simulation.state().v[1].abs() < 1e-14);
    simulation.edit(|w| w.remove_force(lift)).unwrap().unwrap();
    run(&mut simulation, 0.1, 10, |_, _, _| {});
    assert!((simulation.state().v[1] + G).abs() < 1e-13);
    // forces go with their body
    let other = simulation.edit(|w| w.add_body(Body::point("other", 1.0))).unwrap();
    let lift = simulation.edit(|w| w.add_force(Force::constant(other, Vector2::zeros()))).unwrap();
    simulation.edit(|w| w.remove_body(other)).unwrap();
    assert!(simulation.system().world().force(lift).is_none());
}

#[test]
fn a_bad_edit_changes_nothing() {
    let mut simulation = start(busy(), Scheme::default());
    run(&mut simulation, 0.01, 10, |_, _, _| {});
    let mut untouched = simulation.clone();
    let error = simulation.edit(|w| {
        w.add_body(Body::rigid("heavy", Mass::given(-1.0, 1.0)));
        let dot = w.find_body("dot").unwrap();
        w.remove_body(dot);
    });
    assert!(error.unwrap_err().to_string().contains("body heavy, mass"));
    for _ in 0..20 {
        simulation.step(0.01).unwrap();
        untouched.step(0.01).unwrap();
        assert_eq!(bits(simulation.state()), bits(untouched.state()));
    }
}

#[test]
fn numbers_are_never_given_again() {
    let mut world = earth();
    let first = world.add_body(Body::point("first", 1.0).with(disk(0.1)));
    let shape = world.shapes(first).next().unwrap().0;
    world.remove_body(first).unwrap();
    let second = world.add_body(Body::point("second", 1.0).with(disk(0.1)));
    assert_ne!(first, second);
    assert_ne!(shape, world.shapes(second).next().unwrap().0);
    assert!(
        world.body(first).is_none()
            && world.remove_body(first).is_none()
            && world.add_shape(first, disk(1.0)).is_none()
    );
    assert!(world.remove_shape(shape).is_none());
}

#[test]
fn an_overlap_of_the_run_is_no_mistake_of_an_edit() {
    // AH04 alone leaves a rolling ellipse a little in the floor
    let mut world = earth();
    world.add_body(floor());
    let spinning = Body::rigid("egg", Mass::Density(100.0)).at(at(0.0, 0.8)).moving(moving(0.0, -3.0, 8.0));
    world.add_body(spinning.with(Attached::new(Shape::Ellipse { semi_axes: [0.4, 0.3] })));
    let mut simulation = start(world, Scheme::ah04());
    let mut deepest: f64 = 0.0;
    for _ in 0..60 {
        deepest = deepest.max(simulation.step(0.01).unwrap().infeasibility);
        simulation.edit(|_| {}).unwrap();
    }
    assert!(deepest > 1e-8, "{deepest}");
    // a body that is put into the floor is one
    let error = simulation.edit(|w| {
        let id = w.find_body("egg").unwrap();
        w.body_mut(id).unwrap().pose = at(0.0, 0.1);
    });
    assert!(error.unwrap_err().to_string().contains("bodies floor and egg: overlap"));
}
