//! World of a scene file: bodies, joints, forces and pairs, read once for the plane and space.
//!
//! [`SceneDimension`] names what a file writes differently in the two.

mod bodies;
mod couplings;
mod forces;
mod joints;

use crate::controls::{self, ControlSpec};
use crate::copies::{self, Copied, Names};
use crate::diagnostic::Finding;
use crate::expression::Formula;
use crate::read::Reader;
use crate::source_map::SourceMap;
use crate::surface::{Materials, PairSettings, ShapeEntry};
use forces::StateForce;
use std::collections::HashSet;
use stiction::{
    Attached, BodyId, Depth, EuclideanVector, Formulas, FrictionPoint, Joint, Mass, Motion, Path, RigidPose,
    ShapeId, World, Wrench,
};

/// The plane or space, as a scene file writes it.
pub(crate) trait SceneDimension: Formulas {
    /// Variables of forces; t comes first.
    const STATE: &'static [&'static str];

    /// Gravity of a file that names none [m/s²].
    fn default_gravity() -> Self::Vector;

    /// Reads the settings that this dimension alone has.
    fn read_settings(_table: &Reader, _world: &mut World<Self>) {}

    /// Turn from each copy to the next [rad].
    fn copy_turn(table: &Reader) -> Self::Angular;

    /// Rotation by this much [rad].
    fn rotation(turn: Self::Angular) -> Self::Rotation;

    /// Angular velocity in a copy that is turned.
    fn turned(rotation: &Self::Rotation, angular: Self::Angular) -> Self::Angular;

    /// Angular velocity of a body [rad/s].
    fn read_angular_velocity(reader: &Reader) -> Self::Angular;

    /// Pose that a table gives.
    fn read_pose(reader: &Reader) -> Self::Isometry;

    /// Inertia that a body is given [kg m²].
    fn inertia(reader: &Reader) -> Option<Self::Inertia>;

    /// Inertia in place of one that is missing, which is reported.
    fn unit_inertia() -> Self::Inertia;

    /// Shape that a table gives; `None` where a mistake is reported.
    fn shape(reader: &Reader) -> Option<Self::Shape>;

    /// Velocity of a surface [m/s].
    fn surface_velocity(reader: &Reader) -> Self::SurfaceVelocity;

    /// Grain of a surface.
    fn grain(reader: &Reader) -> Self::Grain;

    /// Path of a kinematic body, moved with its copy.
    fn path(reader: &Reader, moved: &Self::Isometry) -> Path<Self>;

    /// Formulas of force and torque.
    fn wrench_formulas(reader: &Reader) -> Vec<Formula>;

    /// Force and torque of formulas at these variables, turned with the copy.
    fn wrench(formulas: &[Formula], variables: &[f64], rotation: &Self::Rotation) -> Wrench<Self>;

    /// Adds a force of the state to the generalized force of its body; q, v and k are those of the body.
    fn add_state_force(force: &BoundForce<Self>, t: f64, q: &[f64], v: &[f64], k: &mut [f64]);

    /// Kind of a joint between two frames; `None` for a distance.
    fn joint_kind(name: &str, reader: &Reader) -> Option<Self::JointKind>;

    /// Joint of a kind at a point of the world, moved with its copy; `None` where a mistake is reported.
    fn joint_at(
        world: &World<Self>,
        reader: &Reader,
        joint: JointAt<Self>,
        moved: &Self::Isometry,
    ) -> Option<Joint<Self>>;
}

/// Joint that is given by a point of the world.
pub(crate) struct JointAt<'a, D: SceneDimension> {
    pub(crate) kind: &'a str,
    pub(crate) name: String,
    pub(crate) bodies: [BodyId; 2],
    pub(crate) point: D::Point,
}

/// Force of the state with the body it acts on.
pub(crate) struct BoundForce<D: SceneDimension> {
    pub(crate) formulas: Vec<Formula>,
    /// Rotation of the copy that it acts on.
    pub(crate) rotation: D::Rotation,
    pub(crate) motion: Motion<D>,
    /// Pose of the body at the start.
    pub(crate) pose: D::Isometry,
    /// Centre of mass at the start [m].
    pub(crate) centre: D::Point,
    /// Lever from the centre of mass to the point where it acts, in the body frame [m].
    pub(crate) lever: D::Vector,
    /// First coordinate at the start: of a slider that along its axis [m].
    pub(crate) start: f64,
}

/// Builds the world of a file, and maps its parts to their places in the file.
pub(crate) fn assemble<D: SceneDimension>(root: &Reader) -> (World<D>, Names, SourceMap, Vec<ControlSpec>) {
    let mut assembly = Assembly {
        root: *root,
        world: settings(root),
        names: Names::default(),
        places: SourceMap::default(),
        materials: Materials::new(root),
        shapes: Vec::new(),
        state_forces: Vec::new(),
        signal_names: controls::names(root),
        controls: Vec::new(),
    };
    assembly.bodies();
    assembly.joints();
    assembly.couplings();
    assembly.forces();
    assembly.pairs();
    assembly.state_forces();
    (assembly.world, assembly.names, assembly.places, assembly.controls)
}

/// World of a file while it is read.
struct Assembly<'a, D: SceneDimension> {
    root: Reader<'a>,
    world: World<D>,
    names: Names,
    places: SourceMap,
    materials: Materials,
    shapes: Vec<ShapeEntry>,
    /// Forces of the state, with their place in the list `forces`.
    state_forces: Vec<(usize, StateForce<D>)>,
    /// Names that formulas may use without arguments.
    signal_names: HashSet<String>,
    controls: Vec<ControlSpec>,
}

/// Empty world with the settings of a file.
fn settings<D: SceneDimension>(root: &Reader) -> World<D> {
    let mut world = World::new(D::default_gravity());
    let Some(table) = root.table("world") else { return world };
    world.gravity = vector::<D>(&table, "gravity").unwrap_or_else(D::default_gravity);
    world.t = table.number("time").unwrap_or(0.0);
    if table.text("friction_point") == Some("surface") {
        world.friction_point = FrictionPoint::Surface;
    }
    if table.text("depth") == Some("minkowski") {
        world.depth = Depth::Minkowski;
    }
    world.allow_overlap = table.flag("allow_overlap").unwrap_or(false);
    D::read_settings(&table, &mut world);
    world
}

/// Vector with as many numbers as the dimension.
pub(crate) fn vector<D: SceneDimension>(reader: &Reader, key: &str) -> Option<D::Vector> {
    Some(D::vector(if D::COUNT == 2 {
        let [x, y] = reader.vector::<2>(key)?;
        [x, y, 0.0]
    } else {
        reader.vector::<3>(key)?
    }))
}

/// Point [m].
fn point<D: SceneDimension>(reader: &Reader, key: &str) -> Option<D::Point> {
    vector::<D>(reader, key).map(D::Point::from)
}

/// Unit vector; a complaint where there is no direction.
pub(crate) fn axis<D: SceneDimension>(reader: &Reader, key: &str) -> Option<D::Vector> {
    let unit = vector::<D>(reader, key)?.direction();
    if unit.is_none() {
        reader.error(&reader.span(key), "an axis must not be 0");
    }
    unit
}

/// Copies that a table stands for.
fn copies<D: SceneDimension>(reader: &Reader) -> Vec<Copied<D::Isometry>> {
    copies::copies::<D>(reader, row::<D>)
}

/// Motions of the copies in a row.
fn row<D: SceneDimension>(table: &Reader) -> Vec<D::Isometry> {
    let count = copies::count(table);
    let offset = vector::<D>(table, "offset").unwrap_or_default();
    let turn = D::copy_turn(table);
    let about = vector::<D>(table, "about").unwrap_or_default();
    let mut shift = D::Vector::default();
    let motion = |i: usize| {
        if turn == D::Angular::default() {
            return D::Isometry::new(offset * i as f64, D::Isometry::identity().turn());
        }
        let by = D::Isometry::new(D::Vector::default(), D::rotation(turn * i as f64));
        let moved = D::Isometry::new(about + shift - by.turned(&about), by.turn());
        // the offset turns with the copies
        shift += by.turned(&offset);
        moved
    };
    (0..count).map(motion).collect()
}

/// Complains about a key that is missing for what another one says.
pub(crate) fn missing(reader: &Reader, key: &str, why: &str) {
    reader.context.add(Finding::error(&reader.node.span, format!("missing key `{key}`: {why}")));
}

impl<D: SceneDimension> Assembly<'_, D> {
    /// Body that the key `body` names.
    fn one(&self, reader: &Reader, index: &[usize]) -> Option<BodyId> {
        self.names.resolve(reader, reader.get("body")?, index).map(BodyId)
    }

    /// Bodies that the key `bodies` names.
    fn two(&self, reader: &Reader, index: &[usize]) -> [Option<BodyId>; 2] {
        let [a, b] = reader.list("bodies") else { return [None; 2] };
        [a, b].map(|node| self.names.resolve(reader, node, index).map(BodyId))
    }

    fn pairs(&mut self) {
        let pairs = PairSettings::new(&self.root, &self.names, &self.materials, &self.shapes);
        pairs.excluded.iter().for_each(|&[a, b]| self.world.exclude(BodyId(a), BodyId(b)));
        for ([a, b], material) in pairs.materials {
            self.world.pair_material(a, b, material);
        }
        self.materials.warn_of_unused(&self.root);
    }
}

/// Mass of a body, given or from its shapes.
fn mass<D: SceneDimension>(reader: &Reader, motion: &Motion<D>, shapes: &[Attached<D>]) -> Mass<D> {
    if let Some(density) = reader.number("density") {
        return Mass::Density(density);
    }
    let centre = D::Point::from(D::Vector::default());
    // in place of one that is missing, which is reported
    let unit = Mass::Given { mass: 1.0, centre, inertia: D::unit_inertia() };
    let Some(mass) = reader.number("mass") else {
        if !reader.has("mass") && !reader.has("density") {
            reader.error(&reader.node.span, "missing key `density` or `mass`: what the body weighs");
        }
        return unit;
    };
    let centre = point::<D>(reader, "centre").unwrap_or_default();
    if !matches!(motion, Motion::Rigid) {
        return Mass::Given { mass, centre, inertia: D::Inertia::default() };
    }
    if let Some(inertia) = D::inertia(reader) {
        return Mass::Given { mass, centre, inertia };
    }
    // the shapes tell how the mass is distributed
    if let Some(volume) = volume(shapes).filter(|_| !reader.has("centre")) {
        return Mass::Density(mass / volume);
    }
    // an inertia or a shape with a mistake is reported
    if reader.has("inertia") || shapes.len() < reader.list("shapes").len() {
        return unit;
    }
    let message = "missing key `inertia`: the inertia about the centre of mass";
    reader.error(&reader.span("mass"), message);
    unit
}

/// Area [m²] or volume [m³] of the shapes that have one; `None` if none has.
fn volume<D: SceneDimension>(shapes: &[Attached<D>]) -> Option<f64> {
    let solid = shapes.iter().filter(|shape| !shape.sensor);
    let of = |shape: &Attached<D>| D::mass_of(std::iter::once((&shape.shape, &shape.pose)), 1.0).ok();
    let volume = solid.filter_map(of).map(|part| part.mass).fold(0.0, |sum, part| sum + part);
    (volume.is_finite() && volume > 0.0).then_some(volume)
}

/// Number of a shape and of its body, with the name of its material.
fn shape_entry(shape: ShapeId, body: BodyId, material: String) -> ShapeEntry {
    ShapeEntry { shape, body: body.0, material }
}
