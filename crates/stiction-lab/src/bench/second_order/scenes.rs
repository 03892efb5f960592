//! Scenes of the benchmark of second order: mechanisms without contact, and scenes with contact.

use super::bad;
use crate::BadInput;
use crate::scenes::{NamedScene, all as named};
use nalgebra::{Isometry2, Isometry3, Point2, Point3, UnitQuaternion, Vector2, Vector3};
use stiction::planar::BodyId;
use stiction::{Material, Mistakes, planar, spatial};

const G: f64 = 9.81;

/// All scenes, each with `true` if it has contacts.
pub(super) fn all() -> Result<Vec<(bool, NamedScene)>, BadInput> {
    let mut scenes = vec![
        (false, NamedScene::plane("double pendulum", bars(2, 0.5).map_err(|e| bad(&e))?.0)),
        (false, NamedScene::plane("20-link chain", bars(20, 0.1).map_err(|e| bad(&e))?.0)),
        (false, NamedScene::space("spatial four-bar", four_bar()).map_err(|e| bad(&e))?),
        (false, NamedScene::space("5 tops", tops()).map_err(|e| bad(&e))?),
    ];
    let touching = ["ellipse", "21 disks", "sliding box", "box on the floor"];
    scenes.extend(
        named().map_err(|e| bad(&e))?.into_iter().filter(|s| touching.contains(&s.name)).map(|s| (true, s)),
    );
    scenes.push((true, NamedScene::space("stack of 10 boxes", stack()).map_err(|e| bad(&e))?));
    scenes.push((true, NamedScene::plane("10 sliding blocks", blocks()?)));
    Ok(scenes)
}

/// Square bars 0.04 m thick of 1 kg each, hinged end to end, level and at rest with the first hinge at the origin.
/// Returns the model and the last bar.
pub(super) fn bars(count: u32, length: f64) -> Result<(planar::Model, BodyId), Mistakes> {
    let mut world = planar::World::new(Vector2::new(0.0, -G));
    let mut last = world.add_body(planar::Body::fixed("wall"));
    let inertia = (length.powi(2) + 0.04_f64.powi(2)) / 12.0;
    for i in 0..count {
        let hinge = length * f64::from(i);
        let bar = planar::Body::rigid(format!("bar {i}"), planar::Mass::given(1.0, inertia));
        let bar = world.add_body(bar.at(Isometry2::translation(hinge + 0.5 * length, 0.0)));
        let point = Point2::new(hinge, 0.0);
        world.add_joint(planar::Joint::revolute(format!("hinge {i}"), &world, last, bar, point));
        last = bar;
    }
    Ok((world.build()?, last))
}

/// A thin bar from one point to another, of 1 kg per metre.
fn bar(name: &str, from: Point3<f64>, to: Point3<f64>) -> spatial::Body {
    let along = to - from;
    let mass = along.norm();
    let across = mass.powi(3) / 12.0;
    let turn = UnitQuaternion::rotation_between(&Vector3::x(), &along).unwrap_or_default();
    let middle = nalgebra::center(&from, &to);
    spatial::Body::rigid(name, spatial::Mass::given(mass, [1e-3 * across, across, across]))
        .at(Isometry3::from_parts(middle.coords.into(), turn))
}

/// A crank about a vertical axis and a rocker about a level one, with a coupler on two balls between them.
fn four_bar() -> spatial::World {
    let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -G));
    let ground = world.add_body(spatial::Body::fixed("ground"));
    let [a, b, c, d] = [[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [1.0, 0.7, 0.5], [1.0, 0.5, 0.0]].map(Point3::from);
    let crank = world.add_body(bar("crank", a, b));
    let coupler = world.add_body(bar("coupler", b, c));
    let rocker = world.add_body(bar("rocker", c, d));
    world.add_joint(spatial::Joint::revolute("crank hinge", &world, ground, crank, a, Vector3::z()));
    world.add_joint(spatial::Joint::spherical("first ball", &world, crank, coupler, b));
    world.add_joint(spatial::Joint::spherical("second ball", &world, coupler, rocker, c));
    world.add_joint(spatial::Joint::revolute("rocker hinge", &world, ground, rocker, d, Vector3::x()));
    world
}

/// Five tops on points, each spinning faster and tilted more than the one before.
fn tops() -> spatial::World {
    let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -G));
    let ground = world.add_body(spatial::Body::fixed("ground"));
    for i in 1..=5_u32 {
        let point = Point3::new(f64::from(i), 0.0, 0.0);
        let turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 0.1 * f64::from(i));
        let axis = turn * Vector3::z();
        let spin = spatial::Twist::new(Vector3::zeros(), 20.0 * f64::from(i) * axis);
        let top = spatial::Body::rigid(format!("top {i}"), spatial::Mass::given(1.0, [0.01, 0.01, 0.015]));
        let top = top.at(Isometry3::from_parts((point + 0.1 * axis).coords.into(), turn)).moving(spin);
        let top = world.add_body(top);
        world.add_joint(spatial::Joint::spherical(format!("point {i}"), &world, ground, top, point));
    }
    world
}

/// Ten boxes at rest on each other.
fn stack() -> spatial::World {
    let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -G));
    world.add_body(spatial::Body::fixed("table").with(spatial::Attached::new(spatial::Shape::HalfSpace)));
    for i in 0..10_u32 {
        let shape = spatial::Shape::Cuboid { half_extents: [0.1; 3] };
        let body = spatial::Body::rigid(format!("box {i}"), spatial::Mass::Density(125.0));
        let body = body.at(Isometry3::translation(0.0, 0.0, 0.1 + 0.2 * f64::from(i)));
        world.add_body(body.with(spatial::Attached::new(shape)));
    }
    world
}

/// Ten blocks that slide on a table, each faster than the one behind it.
fn blocks() -> Result<planar::Model, BadInput> {
    let material = Material { friction: 0.3, restitution: 0.0, ..Material::default() };
    let mut world = planar::World::new(Vector2::new(0.0, -G));
    let table = planar::Attached::new(planar::Shape::HalfPlane).material(material);
    world.add_body(planar::Body::fixed("table").with(table));
    for i in 0..10_u32 {
        let rectangle = planar::Polygon::rectangle([0.1, 0.05]).map_err(|e| bad(&e))?;
        let twist = planar::Twist::new(Vector2::new(0.2 * f64::from(i), 0.0), 0.0);
        let block = planar::Body::rigid(format!("block {i}"), planar::Mass::Density(100.0));
        let block = block.at(Isometry2::translation(0.5 * f64::from(i), 0.05)).moving(twist);
        let shape = planar::Attached::new(planar::Shape::Polygon(rectangle));
        world.add_body(block.with(shape.material(material)));
    }
    world.build().map_err(|e| bad(&e))
}
