//! Cylinders, balls and coins that roll, stand, lean and tip, against closed forms.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction::spatial::{Attached, Body, Mass, Model, Shape, Twist, World};
use stiction::{Accuracy, Material, Scheme, Simulation, StepReport};

const G: f64 = 9.81;

fn rough(friction: f64) -> Material {
    Material { friction, restitution: 0.0, ..Material::default() }
}

/// World whose gravity is tilted about y by an angle: the surface z = 0 is a slope down along x.
fn slope(angle: f64) -> World {
    World::new(Vector3::new(G * angle.sin(), 0.0, -G * angle.cos()))
}

fn half_space(world: &mut World, friction: f64) {
    world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfSpace).material(rough(friction))));
}

/// Box whose top is z = 0.
fn table(world: &mut World, half_extents: [f64; 3], friction: f64) {
    let shape = Attached::new(Shape::Cuboid { half_extents }).material(rough(friction));
    let at = Isometry3::translation(0.0, 0.0, -half_extents[2]);
    world.add_body(Body::fixed("table").at(at).with(shape));
}

fn body(shape: Shape, pose: Isometry3<f64>, friction: f64) -> Body {
    Body::rigid("body", Mass::Density(1000.0)).at(pose).with(Attached::new(shape).material(rough(friction)))
}

fn placed(x: f64, y: f64, z: f64, turn: Vector3<f64>) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::new(x, y, z), UnitQuaternion::from_scaled_axis(turn))
}

/// Rotation of local z to y.
fn lying() -> Vector3<f64> {
    -std::f64::consts::FRAC_PI_2 * Vector3::x()
}

fn simulation(world: World, scheme: Scheme) -> Simulation<Model> {
    let model = world.build().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Simulation::new(model).with_scheme(scheme)
}

/// Direction of local z of the one body.
fn axis(simulation: &Simulation<Model>) -> Vector3<f64> {
    let q = &simulation.state().q;
    UnitQuaternion::new_normalize(nalgebra::Quaternion::new(q[3], q[4], q[5], q[6])) * Vector3::z()
}

/// Roller on a slope of 10° with μ = 0.8, on a half-space or on a box.
fn roller(shape: &Shape, on_box: bool) -> World {
    let mut world = slope(10f64.to_radians());
    if on_box {
        table(&mut world, [5.0, 1.0, 0.5], 0.8);
    } else {
        half_space(&mut world, 0.8);
    }
    world.add_body(body(shape.clone(), placed(0.0, 0.0, 0.3, lying()), 0.8));
    world
}

#[test]
fn wheels_and_balls_roll_down_a_slope() {
    let wheel = Shape::Cylinder { half_length: 0.1, radius: 0.3 };
    let ball = Shape::Sphere { radius: 0.3 };
    let round = Shape::Ellipsoid { semi_axes: [0.3; 3] };
    for (shape, factor) in [(wheel, 2.0 / 3.0), (ball, 5.0 / 7.0), (round, 5.0 / 7.0)] {
        let exact = 0.5 * factor * G * 10f64.to_radians().sin();
        for on_box in [false, true] {
            let name = format!("{} on_box {on_box}", shape.kind());
            let mut run = simulation(roller(&shape, on_box), Scheme::default());
            run.run_to_accuracy(1.0, &Accuracy::of(1e-10), &[], |_, _| ()).unwrap();
            let error = run.state().q[0] - exact;
            println!("{name}: to an accuracy {error:e}");
            assert!(error.abs() < 1e-9, "{name}: {error:e}");

            let mut run = simulation(roller(&shape, on_box), Scheme::accurate());
            for _ in 0..50 {
                run.step(0.02).unwrap();
            }
            let error = run.state().q[0] - exact;
            println!("{name}: fixed steps {error:e}");
            assert!(error.abs() < 1e-9, "{name}: {error:e}");
        }
    }
}

/// A body that leans on its rim falls back or over on either side of the balance, tan β = R / l.
#[test]
fn a_cylinder_on_its_rim_tips_where_it_should() {
    let (l, r) = (0.2, 0.1_f64);
    let balance = r.atan2(l);
    for (off, stands) in [(-0.01, true), (0.01, false)] {
        for on_box in [false, true] {
            let tilt = balance + off;
            let mut world = slope(0.0);
            if on_box {
                table(&mut world, [1.0, 1.0, 0.5], 0.8);
            } else {
                half_space(&mut world, 0.8);
            }
            let height = l * tilt.cos() + r * tilt.sin();
            let pose = placed(0.0, 0.0, height, tilt * Vector3::y());
            world.add_body(body(Shape::Cylinder { half_length: l, radius: r }, pose, 0.8));
            let mut run = simulation(world, Scheme::default());
            for _ in 0..300 {
                run.step(0.01).unwrap();
            }
            let up = axis(&run).z.abs();
            println!("{tilt} on_box {on_box}: {up}");
            assert!(if stands { up > 1.0 - 1e-6 } else { up < 1e-3 }, "{tilt} on_box {on_box}: {up}");
        }
    }
}

/// A standing cylinder tips on a slope beyond tan θ = R / l, whichever way it is turned.
#[test]
fn a_standing_cylinder_tips_on_a_steep_slope() {
    for turn in [0.0, 0.3, std::f64::consts::FRAC_PI_8] {
        for (degrees, stands) in [(18.0, true), (19.0, false)] {
            let mut world = slope(f64::to_radians(degrees));
            half_space(&mut world, 1.0);
            let pose = placed(0.0, 0.0, 0.3, turn * Vector3::z());
            world.add_body(body(Shape::Cylinder { half_length: 0.3, radius: 0.1 }, pose, 1.0));
            let mut run = simulation(world, Scheme::default());
            for _ in 0..200 {
                run.step(0.01).unwrap();
            }
            let up = axis(&run).z;
            println!("{degrees}° turned by {turn}: {up}");
            // critical at 18.435°
            assert!(if stands { up > 1.0 - 1e-4 } else { up < 0.9 }, "{degrees}° turned by {turn}: {up}");
        }
    }
}

/// Bodies that lie or stand on each other stay where they are.
#[test]
fn bodies_rest_on_boxes_and_on_each_other() {
    let cylinder = Shape::Cylinder { half_length: 0.2, radius: 0.1 };
    let rounded = |core: Shape| Shape::Rounded { core: Box::new(core), radius: 0.02 };
    let upright = Vector3::zeros();
    let lying = lying();
    let cases: [(&str, Shape, f64, Vector3<f64>); 7] = [
        ("a cylinder stands", cylinder.clone(), 0.2, upright),
        ("a cylinder lies", cylinder, 0.1, lying),
        ("a capsule lies", Shape::Capsule { half_length: 0.2, radius: 0.1 }, 0.1, lying),
        ("a cone stands", Shape::Cone { half_length: 0.2, radius: 0.1 }, 0.2, upright),
        ("a rounded box stands", rounded(Shape::Cuboid { half_extents: [0.1, 0.08, 0.2] }), 0.22, upright),
        ("a disc lies", rounded(Shape::Cylinder { half_length: 0.0, radius: 0.1 }), 0.02, upright),
        (
            "a rounded cylinder stands",
            rounded(Shape::Cylinder { half_length: 0.1, radius: 0.1 }),
            0.12,
            upright,
        ),
    ];
    for (name, shape, height, turn) in cases {
        // on a narrow box, which the ends overhang, and on a standing cylinder
        for support in ["box", "cylinder"] {
            let mut world = slope(0.0);
            if support == "box" {
                table(&mut world, [0.15, 0.1, 0.5], 0.5);
            } else {
                let shape = Shape::Cylinder { half_length: 0.5, radius: 0.12 };
                let at = Isometry3::translation(0.0, 0.0, -0.5);
                let shape = Attached::new(shape).material(rough(0.5));
                world.add_body(Body::fixed("column").at(at).with(shape));
            }
            world.add_body(body(shape.clone(), placed(0.01, 0.0, height, turn), 0.5));
            let mut run = simulation(world, Scheme::default());
            let start = run.state().q.clone();
            for _ in 0..100 {
                run.step(0.01).unwrap();
            }
            let moved = run.state().q.iter().zip(&start).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            println!("{name} on a {support}: {moved:e}");
            assert!(moved < 1e-9, "{name} on a {support}: {moved:e}");
        }
    }
}

/// Coin of 10 cm that leans by 0.5 rad on its rim and rolls without slip: its contact point is at rest.
fn coin(friction: f64) -> World {
    let (l, r) = (0.005, 0.05_f64);
    let mut world = slope(0.0);
    half_space(&mut world, friction);
    let lean = 0.5_f64;
    let height = r * lean.cos() + l * lean.sin();
    // its axis is horizontal when it stands on its rim
    let turn =
        UnitQuaternion::from_scaled_axis(lean * Vector3::x()) * UnitQuaternion::from_scaled_axis(lying());
    let axis = turn * Vector3::z();
    let down = (axis * axis.z - Vector3::z()).normalize();
    let contact = r * down - l * axis.z.signum() * axis;
    let spin = Vector3::new(0.0, 4.0, 2.0);
    let pose = Isometry3::from_parts(Translation3::new(0.0, 0.0, height), turn);
    let shape = Shape::Cylinder { half_length: l, radius: r };
    world.add_body(body(shape, pose, friction).moving(Twist::new(-spin.cross(&contact), spin)));
    world
}

/// The coin loses its energy to friction and the steps of first order, faster as it comes down, and lies flat.
#[test]
fn a_coin_rolls_wobbles_and_settles() {
    let mut run = simulation(coin(0.5), Scheme::first_order());
    let mut energies = Vec::new();
    for _ in 0..3000 {
        let report = run.step(0.001).unwrap();
        energies.push(report.kinetic + report.potential);
    }
    let most = energies.iter().fold(0.0_f64, |a, b| a.max(*b));
    let (up, z) = (axis(&run).z.abs(), run.state().q[2]);
    println!("up {up}, height {z}, at {:?}, energy {} to {most}", &run.state().q[..2], energies[0]);
    // position corrections lift the coin by parts of a millimetre
    assert!(most <= 1.01 * energies[0], "{most} of {}", energies[0]);
    assert!(up > 1.0 - 1e-6 && (z - 0.005).abs() < 1e-5, "{up} {z}");
}

/// Rolling without slip does no work: second derivatives of the gap of a rim enter, because the normal row turns.
#[test]
fn a_rolling_coin_keeps_its_energy() {
    let mut run = simulation(coin(5.0), Scheme::default());
    let mut energy_at = |t: f64| {
        let mut report = StepReport::default();
        run.run_to_accuracy_into(t, &Accuracy::of(1e-10), &mut report).unwrap();
        assert!(report.events.is_empty(), "{:?}", report.events);
        report.kinetic + report.potential
    };
    let start = energy_at(0.001);
    let change = energy_at(0.1) / start - 1.0;
    println!("relative change {change:e}, tilt {}", axis(&run).z);
    assert!(change.abs() < 1e-8, "{change:e}");
}
