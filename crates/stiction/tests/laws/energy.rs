//! Energy, momentum, and the convex relaxation of friction.

use crate::common::{G, in_plane, in_space, kinetic, number, random};
use crate::{orders, planes, spaces};
use nalgebra::{Isometry2, Isometry3, Point2, Point3, Vector2, Vector3};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stiction::{Forces, Material, Scheme, Simulation, StepReport, System, planar, spatial};
use stiction_lcp::FrictionLaw;

/// Kinetic energy of the free velocity, ½ bᵀM⁻¹b with b = Mv + hk [J].
fn free_energy<S: System>(run: &Simulation<S>, h: f64) -> f64 {
    let (system, state) = (run.system(), run.state());
    let mut forces = Forces::default();
    system.forces(state.t, &state.q, &state.v, &mut forces);
    let mut free = state.v.clone();
    let mut start = 0;
    for (i, &n) in system.bodies().iter().enumerate() {
        let mass = system.mass(i).view((0, 0), (n, n)).into_owned();
        let k = nalgebra::DVector::from_row_slice(&forces.k[start..start + n]);
        let more = mass.lu().solve(&k).unwrap();
        (0..n).for_each(|r| free[start + r] += h * more[r]);
        start += n;
    }
    kinetic(system, &free)
}

/// Counts of steps over many scenes.
#[derive(Debug, Default)]
struct Steps {
    made: usize,
    struck: usize,
    refused: usize,
}

impl Steps {
    /// Makes a step of a scene with open gaps and joints that hold: its energy is at most that of the free velocity.
    fn add<S: System>(&mut self, mut run: Simulation<S>, h: f64) {
        let most = free_energy(&run, h);
        match run.step(h) {
            Ok(report) => {
                self.made += 1;
                self.struck += usize::from(report.contacts.iter().any(|c| c.normal_impulse > 0.0));
                // impulses are certified to 1e-10 of the speed scale
                assert!(report.kinetic <= most * (1.0 + 1e-9), "{} from {most}", report.kinetic);
            }
            Err(_) => self.refused += 1,
        }
    }
}

/// Planar scene: bodies side by side above the floor or on it, some hinged to the next.
fn plane_scene(rng: &mut ChaCha8Rng, touching: bool) -> planar::World {
    let mut world = planes::earth();
    world.add_body(planes::floor(planes::rough(rng.random_range(0.0..1.5))));
    let mut last = None;
    for i in 0..rng.random_range(1..6_u32) {
        let x = f64::from(i);
        let (shape, lowest) = match rng.random_range(0..3) {
            0 => (planes::disk(0.3), 0.3),
            1 => (planes::rectangle(0.3, 0.2), 0.2),
            _ => (planes::capsule(0.2, 0.15), 0.15),
        };
        let above = if touching { 0.0 } else { rng.random_range(0.0..0.05) };
        let body =
            planar::Body::rigid(format!("body {i}"), planar::Mass::Density(rng.random_range(0.1..10.0)));
        let body = body.with(shape.material(planes::rough(rng.random_range(0.0..1.5))));
        let velocity = Vector2::new(number(rng, 10.0), number(rng, 10.0));
        let body =
            body.at(planes::at(x, lowest + above)).moving(planar::Twist::new(velocity, number(rng, 20.0)));
        let body = world.add_body(body);
        if let Some(last) = last.filter(|_| rng.random_range(0..3) == 0) {
            let point = Point2::new(x - 0.5, rng.random_range(0.0..1.0));
            world.add_joint(
                planar::Joint::revolute(format!("hinge {i}"), &world, last, body, point).friction(0.5),
            );
        }
        last = Some(body);
    }
    world
}

/// Spatial scene of the same kind, with balls and boxes rotated about the vertical.
fn space_scene(rng: &mut ChaCha8Rng, touching: bool) -> spatial::World {
    let mut world = spaces::earth();
    world.add_body(spaces::floor(planes::rough(rng.random_range(0.0..1.5))));
    let mut last = None;
    for i in 0..rng.random_range(1..5_u32) {
        let x = f64::from(i);
        let material = planes::rough(rng.random_range(0.0..1.5));
        let (shape, lowest) = match rng.random_range(0..3) {
            0 => (spaces::sociable(spatial::Shape::Sphere { radius: 0.3 }, material), 0.3),
            1 => {
                let shape = spatial::Shape::Cuboid { half_extents: [0.3, 0.25, 0.2] };
                (spaces::on_floor_only(shape, material), 0.2)
            }
            _ => {
                let shape = spatial::Shape::Ellipsoid { semi_axes: [0.3, 0.2, 0.25] };
                (spaces::on_floor_only(shape, material), 0.25)
            }
        };
        let above = if touching { 0.0 } else { rng.random_range(0.0..0.05) };
        let turn = Isometry3::rotation(number(rng, 3.0) * Vector3::z());
        let velocity = spatial::Twist::new(spaces::vector(rng, 10.0), spaces::vector(rng, 20.0));
        let density = spatial::Mass::Density(rng.random_range(100.0..1000.0));
        let body = spatial::Body::rigid(format!("body {i}"), density).with(shape).moving(velocity);
        let body = world.add_body(body.at(spaces::at(x, number(rng, 0.2), lowest + above) * turn));
        if let Some(last) = last.filter(|_| rng.random_range(0..3) == 0) {
            let point = Point3::new(x - 0.5, 0.0, rng.random_range(0.0..1.0));
            let axis = spaces::vector(rng, 1.0);
            world.add_joint(
                spatial::Joint::revolute(format!("hinge {i}"), &world, last, body, point, axis).friction(0.5),
            );
        }
        last = Some(body);
    }
    world
}

/// Energy bound ½v⁺ᵀMv⁺ ≤ ½bᵀM⁻¹b for Υ = τ = 0 and Δ ≥ 0. AH04 Cor 3.3
#[test]
fn no_step_gains_more_energy_than_its_forces_give() {
    let (mut plane, mut space) = (Steps::default(), Steps::default());
    for seed in 0..1000 {
        let mut rng = random(seed);
        // velocity level for touching contacts; with open gaps AH04 has Δ ≥ 0
        let touching = seed % 2 == 0;
        let scheme = if touching { Scheme::ap97() } else { Scheme::ah04() };
        plane.add(in_plane(&plane_scene(&mut rng, touching), scheme), 0.01);
        space.add(in_space(&space_scene(&mut rng, touching), scheme), 0.01);
    }
    println!("in the plane {plane:?}, in space {space:?}");
    for steps in [plane, space] {
        assert!(steps.struck > 500 && steps.refused == 0, "{steps:?}");
    }
}

/// Disk of AH04 on a table: mass 1, inertia ½, μ = 0.3, spinning at 3 rad/s, after one step of 0.05 s.
fn spinning_disk(law: FrictionLaw) -> (Vec<f64>, StepReport) {
    let mut world = planes::earth();
    let material = Material { friction: 0.3, restitution: 0.0, ..Material::default() };
    world.add_body(planes::floor(material));
    let body = planar::Body::rigid("disk", planar::Mass::given(1.0, 0.5)).at(planes::at(0.0, 1.0));
    world.add_body(
        body.moving(planar::Twist::new(Vector2::zeros(), 3.0)).with(planes::disk(1.0).material(material)),
    );
    let mut run = in_plane(&world, Scheme { friction: law, ..Scheme::ap97() });
    let report = run.step(0.05).unwrap();
    (run.state().v.clone(), report)
}

#[test]
fn the_convex_relaxation_separates_sliding_contacts_by_friction_times_slip() {
    // Coulomb's law: it stays on the table with c_n = m g h and friction μ c_n
    let (v, report) = spinning_disk(FrictionLaw::Coulomb);
    let impulse = 0.05 * G;
    for (v, exact) in v.iter().zip([-0.3 * impulse, 0.0, 3.0 - 0.6 * impulse]) {
        assert!((v - exact).abs() < 1e-12, "{v} instead of {exact}");
    }
    assert!((report.contacts[0].normal_impulse - impulse).abs() < 1e-12);
    // convex relaxation: it takes off at μ times its slip, n v − μ |t v| = 0 with the impulse along n − μ t
    let (v, report) = spinning_disk(FrictionLaw::Convex);
    for (v, exact) in v.iter().zip([-0.328_464_57, 0.604_381_89, 2.343_070_87]) {
        assert!((v - exact).abs() < 1e-8, "{v} instead of {exact}");
    }
    let slip = Vector3::from(report.contacts[0].slip).norm();
    assert!((v[1] - 0.3 * slip).abs() < 1e-12, "{} of {slip}", v[1]);
}

#[test]
fn the_convex_relaxation_has_one_answer_in_every_order() {
    let scheme = Scheme { friction: FrictionLaw::Convex, ..Scheme::ah04() };
    let mut rng = random(6);
    for scene in planes::all() {
        let mut own = in_plane(&scene.world, scheme);
        for _ in 0..20 {
            let mut state = own.system().state();
            (scene.scatter)(&mut rng, own.system(), &mut state);
            let (world, names) = orders::plane::shuffled(&scene.world, &mut rng);
            let mut other = in_plane(&world, scheme);
            other.restore(orders::plane::carried(&state, own.system(), other.system(), &names));
            own.restore(state);
            let report = own.step(0.01).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
            other.step(0.01).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
            let end = orders::plane::carried(own.state(), own.system(), other.system(), &names);
            for (a, b) in end.v.iter().zip(&other.state().v) {
                // tolerance of the certificate
                assert!(
                    (a - b).abs() <= 1e-10 * report.certificate.speed.max(1.0),
                    "{}: {a} {b}",
                    scene.name
                );
            }
        }
    }
}

#[test]
fn momentum_is_kept_in_space_without_a_floor() {
    // ST00 takes its levers at the end of the step, and post-stabilization moves bodies: momentum is kept to O(h)
    for scheme in [Scheme::ah04(), Scheme::ap97()] {
        let mut rng = random(7);
        let mut touched = 0;
        for _ in 0..10 {
            let mut world = spatial::World::new(Vector3::zeros());
            for k in 0..6_u32 {
                // on a ring, moving towards its middle
                let angle = std::f64::consts::FRAC_PI_3 * f64::from(k);
                let out = Vector3::new(angle.cos(), angle.sin(), number(&mut rng, 0.1));
                let shape = if k % 2 == 0 {
                    spatial::Shape::Sphere { radius: 0.2 }
                } else {
                    spatial::Shape::Capsule { half_length: 0.15, radius: 0.12 }
                };
                let material = Material { friction: 0.8, restitution: 0.3, ..Material::default() };
                // isotropic inertia: angular velocities are the same in all frames, for capsules too
                let mass = spatial::Mass::given(rng.random_range(0.5..2.0), [0.02; 3]);
                let velocity = spatial::Twist::new(
                    -2.0 * out + spaces::vector(&mut rng, 0.2),
                    spaces::vector(&mut rng, 6.0),
                );
                let pose = Isometry3::from_parts(out.into(), spaces::turned(&mut rng));
                let body = spatial::Body::rigid(format!("body {k}"), mass).at(pose).moving(velocity);
                world.add_body(body.with(spatial::Attached::new(shape).material(material)));
            }
            let mut run = in_space(&world, scheme);
            let (linear, angular) = run.system().momentum(&run.state().q, &run.state().v);
            for k in 0..60 {
                let report = run.step(0.01).unwrap_or_else(|e| panic!("step {k}: {e}"));
                touched += report.contacts.iter().filter(|c| c.normal_impulse > 0.0).count();
                for i in 0..3 {
                    // impulses are equal and opposite, up to round-off in sums of numbers of order 10
                    assert!((report.linear_momentum[i] - linear[i]).abs() < 1e-12, "step {k}");
                    let error = (report.angular_momentum[i] - angular[i]).abs();
                    assert!(error < 1e-12, "step {k}: {error} about axis {i}");
                }
            }
        }
        assert!(touched > 50, "{touched}");
    }
}

#[test]
fn rows_that_push_bodies_apart_add_energy() {
    // negative control: with Δ < 0 the bound does not hold
    let mut world = planes::earth();
    world.add_body(planes::floor(planes::rough(0.5)));
    let body =
        planar::Body::rigid("disk", planar::Mass::given(1.0, 0.1)).at(Isometry2::translation(0.0, 0.2));
    world.add_body(body.with(planes::disk(0.3)));
    let mut run = in_plane(&world, Scheme::ah04());
    let most = free_energy(&run, 0.01);
    assert!(run.step(0.01).unwrap().kinetic > 100.0 * most);
}
