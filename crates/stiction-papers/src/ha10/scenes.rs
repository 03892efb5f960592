//! Scenes: the three of the paper and a sliding block. The paper describes them by words and pictures; sizes and
//! positions are chosen here.

use super::system::EitherModel;
use crate::GRAVITY;
use crate::random::SplitMix64;
use crate::{ExperimentError, invalid_shape};
use nalgebra::{Isometry2, Isometry3, Point2, UnitQuaternion, Vector2, Vector3};
use std::sync::Arc;
use stiction::Mistakes;
use stiction::planar::{self, Polygon, Twist};
use stiction::spatial;
use stiction_geometry::spatial::Polyhedron;

/// Speed of the triangle that hits the first domino [m/s].
const HIT: f64 = 3.0;

/// Initial speed of the block [m/s].
pub(super) const SLIDE: f64 = 2.0;

/// Friction coefficient of the block.
pub(super) const MU: f64 = 0.5;

/// Scene of the experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ha10Scene {
    /// Plank balanced on a triangle, with two squares and a triangle on it, and a square that falls on one end.
    /// HA10 §5.1
    Balance2,
    /// Triangle that hits the first of nine dominoes. HA10 §5.2
    Pyramid1,
    /// Cube that tips over the edge of the one it stands on. HA10 §5.3
    Dice3,
    /// Square that slides on the floor until friction stops it.
    Block,
}

impl Ha10Scene {
    /// Scenes of the paper.
    pub const ALL: [Self; 3] = [Self::Balance2, Self::Pyramid1, Self::Dice3];

    /// Name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Self::Balance2 => "Balance2",
            Self::Pyramid1 => "Pyramid1",
            Self::Dice3 => "Dice3",
            Self::Block => "sliding block",
        }
    }

    /// Model of a start. Start 0 is the scene as described. The infeasibility of a run depends on where in a step the
    /// impacts are, so the other starts are perturbed slightly.
    pub fn bodies(self, start: u32) -> Result<EitherModel, ExperimentError> {
        let mut jitter = Jitter::of(start);
        match self {
            Self::Balance2 => balance(&mut jitter).map(EitherModel::Planar),
            Self::Pyramid1 => dominoes(&mut jitter).map(EitherModel::Planar),
            Self::Dice3 => dice(&mut jitter).map(EitherModel::Spatial),
            Self::Block => block().map(EitherModel::Planar),
        }
    }
}

fn balance(jitter: &mut Jitter) -> Result<planar::Model, ExperimentError> {
    let mut world = floor();
    world.add_body(polygon("fulcrum", &[[-0.5, 0.0], [0.5, 0.0], [0.0, 0.6]])?);
    world.add_body(rectangle("plank", [2.0, 0.05], [0.0, 0.65])?);
    world.add_body(rectangle("left square", [0.2, 0.2], [-1.2, 0.9])?);
    world.add_body(rectangle("right square", [0.2, 0.2], [1.2, 0.9])?);
    world.add_body(polygon("triangle", &[[-0.2, 0.7], [0.2, 0.7], [0.0, 1.1]])?);
    // 0.1 m is more than it moves in a step of 0.02 s before it lands
    let place = [1.8 + jitter.next(0.05), 1.6 + jitter.next(0.05)];
    world.add_body(rectangle("dropped square", [0.15, 0.15], place)?);
    Ok(world.build()?)
}

fn dominoes(jitter: &mut Jitter) -> Result<planar::Model, ExperimentError> {
    let mut world = floor();
    for k in 0..9 {
        let x = 0.5 * f64::from(k) + jitter.next(0.01);
        world.add_body(rectangle(&format!("domino {k}"), [0.1, 0.5], [x, 0.5])?);
    }
    let shift = Isometry2::translation(jitter.next(0.05), jitter.next(0.05));
    let triangle = polygon("triangle", &[[-1.0, 0.6], [-0.6, 0.6], [-0.8, 1.0]])?.at(shift);
    world.add_body(triangle.moving(Twist::new(Vector2::new(HIT, 0.0), 0.0)));
    Ok(world.build()?)
}

fn dice(jitter: &mut Jitter) -> Result<spatial::Model, ExperimentError> {
    let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -GRAVITY));
    world.facets = Some(spatial::Facets { directions: 4, aligned: false });
    // surfaces that touch overlap by round-off
    world.allow_overlap = true;
    world.add_body(spatial::Body::fixed("floor").with(spatial::Attached::new(spatial::Shape::HalfSpace)));
    let cube = Polyhedron::cuboid([0.5; 3]).map_err(|error| invalid_shape("cube", &error))?;
    let shape = spatial::Attached::new(spatial::Shape::Polyhedron(Arc::new(cube)));
    let mut add = |name: &str, place: Isometry3<f64>| {
        let body = spatial::Body::rigid(name, spatial::Mass::Density(1.0));
        world.add_body(body.at(place).with(shape.clone()));
    };
    add("bottom", Isometry3::translation(0.0, 0.0, 0.5));
    let place = Vector3::new(0.55 + jitter.next(0.02), 0.05 + jitter.next(0.02), 1.5);
    let yaw = UnitQuaternion::from_scaled_axis(Vector3::z() * (0.2 + jitter.next(0.05)));
    add("top", Isometry3::from_parts(place.into(), yaw));
    Ok(world.build()?)
}

fn block() -> Result<planar::Model, ExperimentError> {
    let mut world = floor();
    let block = rectangle("block", [0.2, 0.2], [0.0, 0.2])?;
    world.add_body(block.moving(Twist::new(Vector2::new(SLIDE, 0.0), 0.0)));
    Ok(world.build()?)
}

/// World with a floor. The default material has the friction of the scenes and no restitution.
fn floor() -> planar::World {
    let mut world = planar::World::new(Vector2::new(0.0, -GRAVITY));
    // surfaces that touch overlap by round-off
    world.allow_overlap = true;
    world.add_body(planar::Body::fixed("floor").with(planar::Attached::new(planar::Shape::HalfPlane)));
    world
}

/// Polygon of density 1 kg/m² with these vertices in the world [m].
fn polygon(name: &str, vertices: &[[f64; 2]]) -> Result<planar::Body, Mistakes> {
    let vertices: Vec<Point2<f64>> = vertices.iter().map(|&v| Point2::from(v)).collect();
    let shape = Polygon::new(&vertices).map_err(|error| invalid_shape(name, &error))?;
    Ok(planar::Body::rigid(name, planar::Mass::Density(1.0))
        .with(planar::Attached::new(planar::Shape::Polygon(shape))))
}

/// Rectangle of density 1 kg/m² with these half extents at a position [m].
fn rectangle(name: &str, half: [f64; 2], [x, y]: [f64; 2]) -> Result<planar::Body, Mistakes> {
    let corners = [[-half[0], -half[1]], [half[0], -half[1]], [half[0], half[1]], [-half[0], half[1]]];
    Ok(polygon(name, &corners)?.at(Isometry2::translation(x, y)))
}

/// Random perturbations of a start; all are zero for start 0.
struct Jitter(Option<SplitMix64>);

impl Jitter {
    fn of(start: u32) -> Self {
        Self((start != 0).then(|| SplitMix64::new(u64::from(start) << 32)))
    }

    /// Uniform in [−`amplitude`, `amplitude`).
    fn next(&mut self, amplitude: f64) -> f64 {
        let Some(random) = &mut self.0 else { return 0.0 };
        let unit = random.bits_53() as f64 / (1_u64 << 53) as f64;
        amplitude * (2.0 * unit - 1.0)
    }
}
