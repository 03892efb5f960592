//! Named scenes of the benchmarks, built in code: some of the papers', and a few more.

use nalgebra::{Isometry2, Isometry3, Point2, Vector2, Vector3};
use stiction::{Material, Mistakes, State, planar, spatial};
use stiction_papers::{ExperimentError, ah04, cp03};

const G: f64 = 9.81;

/// Scene at its start.
pub(crate) struct NamedScene {
    /// Name in reports.
    pub(crate) name: &'static str,
    /// Model and state.
    pub(crate) start: SceneStart,
}

/// Planar or spatial model and its state.
pub(crate) enum SceneStart {
    /// In the plane.
    Plane(Box<planar::Model>, State),
    /// In space.
    Space(Box<spatial::Model>, State),
}

impl NamedScene {
    pub(crate) fn plane(name: &'static str, model: planar::Model) -> Self {
        let state = model.state();
        Self { name, start: SceneStart::Plane(Box::new(model), state) }
    }

    pub(crate) fn space(name: &'static str, world: spatial::World) -> Result<Self, Mistakes> {
        let model = world.build()?;
        let state = model.state();
        Ok(Self { name, start: SceneStart::Space(Box::new(model), state) })
    }
}

/// All scenes.
pub(crate) fn all() -> Result<Vec<NamedScene>, ExperimentError> {
    Ok(vec![
        NamedScene::plane("pendulum", pendulum().build()?),
        NamedScene::plane("6-link chain", cp03::chain::SI.model()?.0),
        NamedScene::plane("rod", rod().build()?),
        NamedScene::space("four spheres", four_spheres())?,
        ellipse()?,
        NamedScene::plane("21 disks", ah04::disks::model(ah04::disks::SEED)?),
        NamedScene::plane("pushed rectangle", cp03::rectangle::model()?.0),
        NamedScene::space("sliding box", lone_box(Vector3::new(1.6, 1.2, 0.0), 0.0))?,
        NamedScene::space("box on the floor", lone_box(Vector3::zeros(), 0.4))?,
        NamedScene::space("break shot", break_shot())?,
    ])
}

/// Bar of 1 m on a hinge, level and at rest.
fn pendulum() -> planar::World {
    let mut world = planar::World::new(Vector2::new(0.0, -G));
    let wall = world.add_body(planar::Body::fixed("wall"));
    let bar = planar::Body::rigid("bar", planar::Mass::given(1.0, 1.0 / 12.0));
    let bar = world.add_body(bar.at(Isometry2::translation(0.5, 0.0)));
    world.add_joint(planar::Joint::revolute("hinge", &world, wall, bar, Point2::origin()));
    world
}

/// Falling rod of ST00.
fn rod() -> planar::World {
    let material = Material { friction: 0.6, restitution: 0.0, ..Material::default() };
    let mut world = planar::World::new(Vector2::new(0.0, -G));
    let table = planar::Attached::new(planar::Shape::HalfPlane).material(material);
    world.add_body(planar::Body::fixed("table").with(table));
    let shape = planar::Shape::Capsule { half_length: 0.25, radius: 0.05 };
    let rod = planar::Body::rigid("rod", planar::Mass::given(1.0, 0.002))
        .at(Isometry2::new(Vector2::new(0.0, 1.0), std::f64::consts::FRAC_PI_6))
        .moving(planar::Twist::new(Vector2::zeros(), 4.0))
        .with(planar::Attached::new(shape).material(material));
    world.add_body(rod);
    world
}

fn table(friction: f64) -> (spatial::World, Material) {
    let material = Material { friction, restitution: 0.0, ..Material::default() };
    let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -G));
    let plane = spatial::Attached::new(spatial::Shape::HalfSpace).material(material);
    world.add_body(spatial::Body::fixed("table").with(plane));
    (world, material)
}

/// Ball of ST00 thrown at three in a line.
fn four_spheres() -> spatial::World {
    let (mut world, material) = table(0.4);
    let places = [[0.0, 1.0], [1.0, 0.1], [1.2 + 1e-5, 0.1], [1.4 + 2e-5, 0.1]];
    for (i, [x, z]) in places.into_iter().enumerate() {
        let velocity = if i == 0 { Vector3::new(1.5, 0.1, 0.0) } else { Vector3::zeros() };
        let shape = spatial::Attached::new(spatial::Shape::Sphere { radius: 0.1 }).material(material);
        let ball = spatial::Body::rigid(format!("ball {i}"), spatial::Mass::given(1.0, [4e-3; 3]))
            .at(Isometry3::translation(x, 0.0, z))
            .moving(spatial::Twist::new(velocity, Vector3::zeros()))
            .with(shape);
        world.add_body(ball);
    }
    world
}

/// Ellipse of AH04 from 3 m instead of 8 m, so that it is on the table for most of the first second.
fn ellipse() -> Result<NamedScene, ExperimentError> {
    let model = ah04::ellipse::Ellipse::default().model()?;
    let mut state = model.state();
    if let Some(height) = state.q.get_mut(1) {
        *height = 3.0;
    }
    Ok(NamedScene { name: "ellipse", start: SceneStart::Plane(Box::new(model), state) })
}

/// Box with a velocity [m/s] at a height [m]; above the floor it is tilted.
fn lone_box(velocity: Vector3<f64>, height: f64) -> spatial::World {
    let (mut world, material) = table(0.3);
    let shape = spatial::Shape::Cuboid { half_extents: [0.2, 0.15, 0.05] };
    let tilt = if height > 0.0 { Vector3::new(0.2, 0.3, 0.1) } else { Vector3::zeros() };
    let body = spatial::Body::rigid("box", spatial::Mass::Density(500.0))
        .at(Isometry3::new(Vector3::new(0.0, 0.0, 0.05 + height), tilt))
        .moving(spatial::Twist::new(velocity, Vector3::zeros()))
        .with(spatial::Attached::new(shape).material(material));
    world.add_body(body);
    world
}

/// Ball at 5 m/s into a rack of fifteen balls, 1 mm apart.
fn break_shot() -> spatial::World {
    const RADIUS: f64 = 0.0285;
    const MASS: f64 = 0.17;
    let (mut world, _) = table(0.2);
    let mut add = |name: String, x: f64, y: f64, velocity: f64| {
        let material = Material { friction: 0.05, restitution: 0.9, ..Material::default() };
        let inertia = 0.4 * MASS * RADIUS * RADIUS;
        // rolling
        let twist = spatial::Twist::new(velocity * Vector3::x(), velocity / RADIUS * Vector3::y());
        let shape = spatial::Attached::new(spatial::Shape::Sphere { radius: RADIUS }).material(material);
        let ball = spatial::Body::rigid(name, spatial::Mass::given(MASS, [inertia; 3]));
        world.add_body(ball.at(Isometry3::translation(x, y, RADIUS)).moving(twist).with(shape));
    };
    add("cue ball".to_string(), -0.3, 0.0, 5.0);
    let spacing = 2.0 * RADIUS + 1e-3;
    for row in 0..5_u32 {
        for k in 0..=row {
            let x = 0.75_f64.sqrt() * spacing * f64::from(row);
            add(format!("ball {row}.{k}"), x, spacing * (f64::from(k) - 0.5 * f64::from(row)), 0.0);
        }
    }
    world
}
