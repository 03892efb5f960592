//! Distances, points and rays against elementary geometry; bodies and joints set by hand.

use nalgebra::{Isometry2, Isometry3, Point2, Translation3, UnitQuaternion, Vector2, Vector3};
use stiction::planar::{Attached, Body, BodyId, Joint, JointId, Mass, Polygon, Shape, World};
use stiction::{JointLoad, ProjectError, Simulation, spatial};

fn disk(radius: f64) -> Attached {
    Attached::new(Shape::Disk { radius })
}

#[test]
fn distances_are_euclidean() {
    let mut world = World::new(Vector2::zeros());
    let square = Attached::new(Shape::Polygon(Polygon::rectangle([0.5, 0.5]).unwrap()));
    let turned = Isometry2::new(Vector2::new(3.0, 4.0), std::f64::consts::FRAC_PI_4);
    let first = world.add_body(Body::rigid("first", Mass::given(1.0, 1.0)).with(square.clone()));
    let second = world.add_body(Body::rigid("second", Mass::given(1.0, 1.0)).with(square).at(turned));
    let ball =
        Body::rigid("ball", Mass::given(1.0, 1.0)).with(disk(0.2)).at(Isometry2::translation(-3.5, -4.5));
    let ball = world.add_body(ball);
    let bare =
        world.add_body(Body::rigid("bare", Mass::given(1.0, 1.0)).at(Isometry2::translation(9.0, 9.0)));
    let model = world.build().unwrap();
    let state = model.state();
    // from the corner (0.5, 0.5) to the lower corner of the turned square, (3, 4 − √½)
    let near = model.distance(&state, first, second).unwrap().unwrap();
    let foot = 2.5_f64.hypot(3.5 - 0.5_f64.sqrt());
    assert!((near.gap - foot).abs() < 1e-12, "{} m, not {foot} m", near.gap);
    let apart = (0..2).map(|c| (near.points[1][c] - near.points[0][c]).powi(2)).sum::<f64>().sqrt();
    assert!((apart - near.gap).abs() < 1e-12, "{near:?}");
    let near = model.distance(&state, first, ball).unwrap().unwrap();
    assert!((near.gap - (5.0 - 0.2)).abs() < 1e-12 && near.normal[0] < 0.0, "{near:?}");
    assert_eq!(model.distance(&state, first, bare).unwrap(), None);
    // a corner of a near point lies up to the distance asked for
    assert!(model.near_points(&state, first, ball, 4.0).unwrap().is_empty());
    assert_eq!(model.near_points(&state, first, ball, 5.0).unwrap().len(), 1);
    assert_eq!(model.shapes_at(&state, [0.5, 0.1, 0.0]).len(), 1);
    assert!(model.shapes_at(&state, [0.5 + 1e-9, 0.1, 0.0]).is_empty());
}

#[test]
fn rays_meet_the_first_surface() {
    let mut world = spatial::World::new(Vector3::zeros());
    let floor = spatial::Attached::new(spatial::Shape::HalfSpace);
    world.add_body(spatial::Body::fixed("floor").with(floor).at(Isometry3::translation(0.0, 0.0, -1.0)));
    let mass = || spatial::Mass::given(1.0, [1.0; 3]);
    let cube = spatial::Attached::new(spatial::Shape::Cuboid { half_extents: [0.5, 0.5, 0.5] });
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::FRAC_PI_4);
    let pose = Isometry3::from_parts(Translation3::new(5.0, 0.0, 0.0), turn);
    let cube = world.add_body(spatial::Body::rigid("cube", mass()).with(cube).at(pose));
    let sphere = spatial::Attached::new(spatial::Shape::Sphere { radius: 1.0 });
    let ball = spatial::Body::rigid("ball", mass()).with(sphere).at(Isometry3::translation(0.0, 5.0, 0.0));
    let ball = world.add_body(ball);
    let model = world.build().unwrap();
    let state = model.state();
    let cast = |from: [f64; 3], along: [f64; 3]| model.cast_ray(&state, from, along, 100.0);
    // against the edge of the cube, beside it, and against the ball off its middle
    let hit = cast([0.0; 3], [2.0, 0.0, 0.0]).unwrap();
    assert!(hit.body == cube && (hit.distance - (5.0 - 0.5_f64.sqrt())).abs() < 1e-11, "{hit:?}");
    let hit = cast([0.0, 0.3, 0.0], [1.0, 0.0, 0.0]).unwrap();
    assert!((hit.distance - (5.0 - 0.5_f64.sqrt() + 0.3)).abs() < 1e-11, "{hit:?}");
    let hit = cast([0.6, 0.0, 0.0], [0.0, 1.0, 0.0]).unwrap();
    assert!(hit.body == ball && (hit.distance - (5.0 - 0.8)).abs() < 1e-11, "{hit:?}");
    assert!((hit.normal[0] - 0.6).abs() < 1e-9 && (hit.normal[1] + 0.8).abs() < 1e-9, "{hit:?}");
    assert!((cast([1.0, 1.0, 3.0], [0.0, 0.6, -0.8]).unwrap().distance - 5.0).abs() < 1e-11);
    assert_eq!(cast([1.1, 0.0, 0.5], [0.0, 1.0, 0.0]), None);
    assert_eq!(cast([0.0, 5.0, 0.0], [0.0, 1.0, 0.0]).unwrap().distance, 0.0);
    assert_eq!(model.cast_ray(&state, [0.0; 3], [1.0, 0.0, 0.0], 4.0), None);
}

/// Four-bar linkage with a fifth bar that hangs from its coupler.
fn linkage() -> (World, [JointId; 5], [BodyId; 2]) {
    let mut world = World::new(Vector2::new(0.0, -9.81));
    let ground = world.add_body(Body::fixed("ground"));
    let pins = [[0.0, 0.0], [0.0, 1.0], [2.0, 1.5], [2.0, 0.0]].map(Point2::from);
    let mut bar = |name: &str, p: Point2<f64>, q: Point2<f64>| {
        let middle = nalgebra::center(&p, &q);
        world
            .add_body(Body::rigid(name, Mass::given(1.0, 0.1)).at(Isometry2::translation(middle.x, middle.y)))
    };
    let crank = bar("crank", pins[0], pins[1]);
    let coupler = bar("coupler", pins[1], pins[2]);
    let rocker = bar("rocker", pins[2], pins[3]);
    let hanging = bar("hanging", pins[2], Point2::new(2.5, 1.0));
    let ends = [(ground, crank), (crank, coupler), (coupler, rocker), (rocker, ground), (coupler, hanging)];
    let joints = std::array::from_fn(|k| {
        let joint =
            Joint::revolute(format!("pin {k}"), &world, ends[k].0, ends[k].1, pins[k % 4 + k / 4 * 2]);
        world.add_joint(joint)
    });
    (world, joints, [crank, hanging])
}

#[test]
fn a_joint_is_set_and_the_loop_closes() {
    let (world, joints, [crank, hanging]) = linkage();
    let mut simulation = Simulation::new(world.build().unwrap());
    simulation.set_joint(joints[0], -1.1).unwrap();
    let (model, state) = (simulation.system(), simulation.state());
    assert!((model.joint_coordinate(state, joints[0]).unwrap() + 1.1).abs() < 1e-11);
    assert!(simulation.observe().unwrap().infeasibility < 1e-11);
    // the crank is where its angle says
    let centre = model.centre(state, crank).unwrap();
    assert!((centre.x - 0.5 * 1.1_f64.sin()).abs() < 1e-11, "{centre}");
    // the fifth bar is set by its pose, which its pin allows at this point only
    let pin = model.joint_points(state, joints[4]).unwrap()[0];
    let before = state.clone();
    let pose = |at: Point2<f64>| Isometry2::new(at - Point2::origin(), 0.0);
    let allowed = pin + Vector2::new(0.25, -0.25);
    simulation.set_pose(hanging, &pose(allowed)).unwrap();
    assert!((simulation.system().centre(simulation.state(), hanging).unwrap() - allowed).norm() < 1e-11);
    assert!(simulation.observe().unwrap().infeasibility < 1e-11);
    // two bars reach no farther than their lengths
    let error = simulation.set_pose(hanging, &pose(Point2::new(20.0, 20.0))).unwrap_err();
    assert!(matches!(error, ProjectError::Apart(_)), "{error}");
    assert!(simulation.set_joint(joints[0], f64::NAN).is_err());
    assert_ne!(simulation.state().q, before.q);
    let loads: Vec<JointLoad> =
        simulation.system().joint_loads(simulation.state(), &simulation.observe().unwrap());
    assert!(loads.is_empty(), "nothing was solved here");
}

#[test]
fn a_value_beyond_the_limits_is_refused_by_name() {
    let mut world = World::new(Vector2::zeros());
    let frame = world.add_body(Body::fixed("frame"));
    let slider = world.add_body(Body::rigid("slider", Mass::given(1.0, 1.0)));
    let guide = Joint::prismatic("guide", &world, frame, slider, Point2::origin(), Vector2::x());
    let guide = world.add_joint(guide.limits(-0.1, 0.4));
    let mut simulation = Simulation::new(world.build().unwrap());
    simulation.set_joint(guide, 0.3).unwrap();
    let before = simulation.state().clone();
    let error = simulation.set_joint(guide, 0.5).unwrap_err().to_string();
    assert!(error.contains("0.5 is not within its limits -0.1 to 0.4"), "{error}");
    assert_eq!(*simulation.state(), before);
}
