//! Values of scene files arrive in the model unchanged.

use crate::{PLANE, SPACE, built};
use nalgebra::{Point2, Point3, Vector3};
use stiction::planar::{Force, JointKind, Motor};
use stiction::{Forces, Level, Material, Scheme, Simulation, System};
use stiction_scene::Model;

/// Round-off of a few operations on numbers of size 1.
const ROUND: f64 = 1e-14;

fn planar(text: &str) -> stiction::planar::Model {
    match built(&format!("{PLANE}{text}")).model {
        Model::Planar(model) => model,
        Model::Spatial(_) => panic!("not in the plane"),
    }
}

fn spatial(text: &str) -> stiction::spatial::Model {
    match built(&format!("{SPACE}{text}")).model {
        Model::Spatial(model) => model,
        Model::Planar(_) => panic!("not in space"),
    }
}

#[test]
fn masses_are_given_or_come_from_the_shapes() {
    let model = planar(
        r#"
        bodies = [
            { name = "density", density = 2.0, shapes = [{ kind = "rectangle", half_extents = [1.0, 2.0] }] },
            { name = "mass", mass = 16.0, position = [9.0, 0.0], shapes = [{ kind = "rectangle", half_extents = [1.0, 2.0] }] },
            { name = "given", mass = 3.0, inertia = 5.0, centre = [0.5, 0.0], position = [20.0, 0.0] },
        ]"#,
    );
    // 8 m² at 2 kg/m², m (w² + h²)/12
    for body in 0..2 {
        let mass = model.mass(body);
        assert!(
            (mass[(0, 0)] - 16.0).abs() < 16.0 * ROUND
                && (mass[(2, 2)] - 16.0 * 20.0 / 12.0).abs() < 100.0 * ROUND
        );
    }
    assert_eq!([model.mass(2)[(0, 0)], model.mass(2)[(2, 2)]], [3.0, 5.0]);
    let centre = model.centre(&model.state(), model.world().find_body("given").unwrap()).unwrap();
    assert_eq!(centre, Point2::new(20.5, 0.0));
}

#[test]
fn weld_is_the_older_name_of_fixed() {
    for word in ["fixed", "weld"] {
        let bodies = "bodies = [{ name = \"a\", mass = 1.0, inertia = 1.0 }]";
        let joints =
            format!("joints = [{{ kind = \"{word}\", bodies = [\"world\", \"a\"], at = [0.0, 0.0] }}]");
        let model = planar(&format!("{bodies}\n{joints}"));
        assert_eq!(model.world().joints().next().unwrap().1.kind, JointKind::Fixed, "{word}");
    }
}

#[test]
fn rotations_in_space_agree() {
    let model = spatial(
        r#"
        bodies = [
            { name = "a", mass = 1.0, inertia = [1.0, 1.0, 1.0], rpy_deg = [0.0, 0.0, 90.0] },
            { name = "b", mass = 1.0, inertia = [1.0, 1.0, 1.0], rotation_vector = [0.0, 0.0, 1.5707963267948966] },
            { name = "c", mass = 1.0, inertia = [1.0, 1.0, 1.0], quat_wxyz = [0.7071, 0.0, 0.0, 0.7071] },
            { name = "d", mass = 1.0, inertia = [1.0, 1.0, 1.0], rpy_deg = [90.0, 0.0, 90.0] },
        ]"#,
    );
    let turned =
        |name: &str| model.world().body(model.world().find_body(name).unwrap()).unwrap().pose * Vector3::x();
    for name in ["a", "b", "c"] {
        assert!((turned(name) - Vector3::y()).norm() < ROUND, "{name}: {}", turned(name));
    }
    // roll first, yaw last: maps x to y
    assert!((turned("d") - Vector3::y()).norm() < ROUND);
}

#[test]
fn copies_are_moved_turned_and_numbered() {
    let model = planar(
        r#"
        [[bodies]]
        name = "row"
        mass = 1.0
        inertia = 1.0
        position = [1.0, 0.0]
        velocity = [0.0, 1.0]
        copies = [{ count = 2, offset = [10.0, 0.0] }, { count = 3, turn_deg = 90.0, about = [0.0, 0.0] }]

        [[joints]]
        kind = "revolute"
        bodies = ["row[i][0]", "row[i][1]"]
        at = [1.0, 0.0]
        copies = { count = 2, offset = [10.0, 0.0] }
        "#,
    );
    let world = model.world();
    let names: Vec<_> = world.bodies().map(|(_, body)| body.name.as_str()).collect();
    assert_eq!(names, ["row[0][0]", "row[0][1]", "row[0][2]", "row[1][0]", "row[1][1]", "row[1][2]"]);
    let body = world.body(world.find_body("row[1][1]").unwrap()).unwrap();
    assert!((body.pose.translation.vector - nalgebra::Vector2::new(10.0, 1.0)).norm() < ROUND);
    assert!((body.velocity.linear - nalgebra::Vector2::new(-1.0, 0.0)).norm() < ROUND);
    let joints: Vec<_> =
        world.joints().map(|(_, joint)| (joint.name.as_str(), joint.a.0, joint.b.0)).collect();
    assert_eq!(joints, [("j0[0]", 0, 1), ("j0[1]", 3, 4)]);
}

#[test]
fn an_offset_turns_with_its_copies() {
    let model = planar(
        r#"
        bodies = [{ name = "a", mass = 1.0, inertia = 1.0, copies = { count = 4, offset = [1.0, 0.0], turn_deg = 90.0 } }]
        "#,
    );
    let places: Vec<_> = model.world().bodies().map(|(_, body)| body.pose.translation.vector).collect();
    for (place, [x, y]) in places.iter().zip([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]) {
        assert!((place - nalgebra::Vector2::new(x, y)).norm() < ROUND, "{place}");
    }
}

#[test]
fn joints_have_their_frames_limits_and_motors() {
    let model = planar(
        r#"
        bodies = [{ name = "a", mass = 1.0, inertia = 1.0, position = [1.0, 0.0] }]

        [[joints]]
        name = "hinge"
        kind = "revolute"
        bodies = ["world", "a"]
        at = [0.0, 0.0]
        limits_deg = [-90.0, 45.0]
        motor = { kind = "position", target_deg = 180.0, gain = 2.0, force = 3.0 }
        friction = 0.5
        compliance = 1e-3
        collide = true

        [[joints]]
        name = "rod"
        kind = "distance"
        bodies = ["a", "world"]
        at = [1.0, 0.0]
        at_b = [4.0, 4.0]
        limits = [1.0, inf]
        "#,
    );
    let world = model.world();
    let hinge = world.joint(world.find_joint("hinge").unwrap()).unwrap();
    assert_eq!(hinge.frame_b.translation.vector, nalgebra::Vector2::new(-1.0, 0.0));
    assert_eq!(hinge.limits, Some([-std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_4]));
    let motor = Motor::Position { target: std::f64::consts::PI, gain: 2.0, force: 3.0 };
    assert_eq!(
        (hinge.motor, hinge.friction, hinge.compliance, hinge.collide),
        (Some(motor), 0.5, 1e-3, true)
    );
    let rod = world.joint(world.find_joint("rod").unwrap()).unwrap();
    assert_eq!((rod.kind, rod.limits), (JointKind::Distance(5.0), Some([1.0, f64::INFINITY])));
}

#[test]
fn materials_are_of_shapes_bodies_and_pairs() {
    let model = planar(
        r#"
        [materials]
        default = { friction = 0.25 }
        ice = { friction = 0.0 }
        gum = { friction = 4.0, restitution = 0.5 }

        [[bodies]]
        name = "a"
        density = 1.0
        material = "gum"
        shapes = [{ kind = "disk", radius = 1.0 }, { kind = "disk", radius = 1.0, material = "ice", position = [0.0, 5.0] }]

        [[bodies]]
        name = "b"
        density = 1.0
        position = [9.0, 0.0]
        shapes = [{ kind = "disk", radius = 1.0, groups = { member = [1, 3], collides = [2, 32] } }]

        [[pairs]]
        materials = ["gum", "default"]
        friction = 0.75
        "#,
    );
    let world = model.world();
    let of = |name: &str| {
        world.shapes(world.find_body(name).unwrap()).map(|(_, on)| on.material).collect::<Vec<_>>()
    };
    assert_eq!(
        of("a"),
        [
            Material { friction: 4.0, restitution: 0.5, ..Material::default() },
            Material { friction: 0.0, restitution: 0.0, ..Material::default() }
        ]
    );
    assert_eq!(of("b"), [Material { friction: 0.25, restitution: 0.0, ..Material::default() }]);
    let groups = world.shapes(world.find_body("b").unwrap()).next().unwrap().1.groups;
    assert_eq!((groups.member, groups.collides), (0b101, 1 << 31 | 0b10));
}

/// The generalized force at a state.
fn force(model: &impl System, t: f64, q: &[f64], v: &[f64]) -> Vec<f64> {
    let mut forces = Forces::default();
    model.forces(t, q, v, &mut forces);
    forces.k
}

#[test]
fn formulas_are_forces_of_time_and_state() {
    let model = planar(
        r#"
        world = { gravity = [0.0, 0.0] }
        bodies = [{ name = "fixed first", motion = "fixed" }, { name = "a", mass = 1.0, inertia = 1.0, position = [1.0, 2.0] }]

        [[forces]]
        body = "a"
        force = ["sin(pi*t)", "2"]

        [[forces]]
        body = "a"
        point = [1.0, 0.0]
        force = ["x + 10*y + 100*t", "-3*vx*abs(vx) + vy"]
        torque = "angle - omega"
        "#,
    );
    assert!(matches!(model.world().force(stiction::planar::ForceId(0)), Some(Force::Timed { .. })));
    let quarter = std::f64::consts::FRAC_PI_2;
    let k = force(&model, 0.5, &[1.0, 2.0, quarter], &[-2.0, 0.25, 7.0]);
    let (fx, fy) = (1.0 + 20.0 + 50.0, 12.0 + 0.25);
    // the point is rotated to (0, 1), so the torque is −f_x
    let expected = [1.0 + fx, 2.0 + fy, quarter - 7.0 - fx];
    for (k, expected) in k.iter().zip(expected) {
        assert!((k - expected).abs() < 1e-12, "{k} {expected}");
    }
}

#[test]
fn forces_of_the_state_in_space_are_turned_into_the_body() {
    let text = r#"
        world = { gravity = [0.0, 0.0, 0.0] }
        bodies = [{ name = "a", mass = 1.0, inertia = [1.0, 1.0, 1.0], rpy_deg = [0.0, 0.0, 90.0] }]
        [[forces]]
        body = "a"
        point = [0.0, 0.0, 2.0]
        force = ["1 + 0*x", 0.0, 0.0]
        torque = ["-wx", "-wy", "-wz"]
        "#;
    let model = spatial(text);
    let start = model.state();
    let k = force(&model, 0.0, &start.q, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    // x of the body is y of the world: −ω is −x of the body; a force along x, 2 m above, has the torque 2 about y, which
    // is x of the body
    for (k, expected) in k.iter().zip([1.0, 0.0, 0.0, -1.0 + 2.0, 0.0, 0.0]) {
        assert!((k - expected).abs() < 1e-12, "{k} {expected}");
    }
}

#[test]
fn sliders_move_by_forces_along_their_axis() {
    let text = r#"
        bodies = [{ name = "a", motion = "slider", axis = [3.0, 4.0], mass = 1.0, position = [6.0, 8.0] }]
        world = { gravity = [0.0, 0.0] }
        forces = [{ body = "a", force = ["x", "vy"] }]
        "#;
    let model = planar(text);
    // at 10 m along the axis (0.6, 0.8) it is at (6, 8); a metre on, at (6.6, 8.8); 5 m/s are 4 m/s along y
    let k = force(&model, 0.0, &[11.0], &[5.0]);
    assert!((k[0] - (0.6 * 6.6 + 0.8 * 4.0)).abs() < 1e-12, "{k:?}");
}

#[test]
fn paths_have_the_derivatives_of_their_formulas() {
    let model = spatial(
        r#"
        bodies = [
            { name = "a", motion = "kinematic", position = [1.0, 0.0, 0.0], path = { position = ["sin(2*t)", "t^3", 0.5], axis = [0.0, 2.0, 0.0], angle_deg = "90*t*t" } },
            { name = "b", mass = 1.0, inertia = [1.0, 1.0, 1.0] },
        ]"#,
    );
    let a = model.world().find_body("a").unwrap();
    let mut state = model.state();
    state.t = 1.0;
    let pose = model.pose(&state, a).unwrap();
    let twist = model.velocity(&state, a).unwrap();
    let at = Point3::new(1.0 + 2.0_f64.sin(), 1.0, 0.5);
    assert!((pose.translation.vector - at.coords).norm() < ROUND);
    // a quarter turn about y maps z to x
    assert!((pose * Vector3::z() - Vector3::x()).norm() < ROUND);
    assert!((twist.linear - Vector3::new(2.0 * 2.0_f64.cos(), 3.0, 0.0)).norm() < ROUND);
    assert!((twist.angular - Vector3::new(0.0, std::f64::consts::PI, 0.0)).norm() < 10.0 * ROUND);
}

#[test]
fn schemes_are_named_and_set() {
    let of = |scheme: &str| {
        let text = format!(
            "format = 1\ndimension = 2\nrun = {{ duration = 1.0, scheme = {scheme} }}\n\
             bodies = [{{ name = \"a\", mass = 1.0, inertia = 1.0 }}]"
        );
        built(&text).scheme
    };
    assert_eq!(of("\"default\""), Scheme::default());
    assert_eq!(of("\"first-order\""), Scheme::first_order());
    assert_eq!(of("\"timed\""), Scheme::default(), "an earlier name");
    assert_eq!(of("\"st00-nonlinear\""), Scheme::st00_nonlinear());
    for name in stiction_scene::scheme_names() {
        assert_eq!(Some(of(&format!("\"{name}\""))), stiction_scene::scheme_named(name));
    }
    assert_eq!(of("\"accurate\", accuracy = 1e-6"), Scheme::accurate());
    let own = of("{ name = \"ah04\", gamma = 0.5, tolerance = 1e-11, band = 0.1, contact_limit = 3 }");
    assert_eq!(own.level, Level::Stabilized { gamma: 0.5, everywhere: false });
    assert_eq!(own.solver.tolerance, 1e-11);
    assert_eq!(own.active, stiction::Active::Band(0.1));
    assert_eq!(own.reduction, stiction::Reduction::Limit(3));
}

#[test]
fn planar_and_spatial_models_have_the_same_interface() {
    let text = r#"
        [[bodies]]
        name = "floor"
        motion = "fixed"
        shapes = [{ kind = "half_space" }]

        [[bodies]]
        name = "ball"
        density = 1000.0
        position = [0.0, 0.0, 0.1]
        shapes = [{ kind = "sphere", radius = 0.1 }]

        [[joints]]
        name = "string"
        kind = "distance"
        bodies = ["world", "ball"]
        at = [0.0, 0.0, 1.0]
        at_b = [0.0, 0.0, 0.1]
        limits = [0.0, 1.0]
        "#;
    let built = built(&format!("{SPACE}{text}"));
    let mut simulation = Simulation::from_state(built.model, built.state).with_scheme(built.scheme);
    simulation.step(0.01).unwrap();
    let (model, state) = (simulation.system(), simulation.state());
    assert_eq!(model.body_names(), ["floor", "ball", "world"]);
    let [floor, ball, ground] = [0, 1, 2].map(stiction::BodyId);
    assert_eq!(
        (model.dimension(), model.find_body("ball"), model.moves(floor), model.moves(ball)),
        (3, Some(ball), false, true)
    );
    let centre = model.centre(state, ball).unwrap();
    assert!((centre[2] - 0.1).abs() < 1e-9);
    let joint = model.find_joint("string").unwrap();
    assert!((model.joint_coordinate(state, joint).unwrap() - 0.9).abs() < 1e-9);
    assert_eq!(model.joined(joint), Some([ground, ball]));
    let points = model.joint_points(state, joint).unwrap();
    assert_eq!(points[0], [0.0, 0.0, 1.0]);
    assert_eq!(model.shapes(ball).len(), 1);
    assert_eq!(model.pose(state, floor).unwrap().quat_wxyz, [1.0, 0.0, 0.0, 0.0]);
}

/// Motors, servos and springs of a file, against the machine that they command.
#[test]
fn motors_of_a_file_drive_their_joints() {
    let bodies = "bodies = [{ name = \"arm\", mass = 1.0, inertia = 0.5 }]";
    let joint = |rest: &str| {
        let text = format!(
            "{bodies}\n[[joints]]\nname = \"hinge\"\nkind = \"revolute\"\nbodies = [\"world\", \"arm\"]\n\
             at = [0.0, 0.0]\n{rest}"
        );
        planar(&text)
    };
    // a torque of 3 t² / 2 turns the arm by t⁴ / 4
    let model = joint("motor = { kind = \"torque\", torque = \"1.5*t^2\" }");
    let mut simulation = Simulation::new(model).with_scheme(Scheme::accurate());
    let mut report = stiction::StepReport::default();
    simulation.run_to_accuracy_into(1.0, &stiction::Accuracy::of(1e-11), &mut report).unwrap();
    assert!((simulation.state().q[2] - 0.25).abs() < 1e-9, "{} rad", simulation.state().q[2]);

    let model = joint(
        "motor = { kind = \"servo\", target_deg = 90.0, stiffness = 8.0, damping = 4.0, torque = 1.0, input = \"knee\" }\n\
         spring = { stiffness = 2.0, rest = 0.5 }",
    );
    assert_eq!(model.input_names(), ["knee", "knee.speed", "knee.torque"]);
    let mut simulation = Simulation::new(model);
    simulation.set("knee.torque", 0.0).unwrap();
    for _ in 0..4000 {
        simulation.step(0.01).unwrap();
    }
    // 8 (π/2 − q) = 2 (q − ½) at rest
    let expected = (8.0 * std::f64::consts::FRAC_PI_2 + 1.0) / 10.0;
    assert!((simulation.state().q[2] - expected).abs() < 1e-9, "{} rad", simulation.state().q[2]);
}
