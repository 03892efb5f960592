//! A file as a planar world. The spatial one is made by the same functions in the same order.

mod joint;
mod law;

use crate::copies::{self, Copied, GROUND, Names};
use crate::diagnostic::Finding;
use crate::expression::Formula;
use crate::keys::MOST;
use crate::place::Places;
use crate::read::Reader;
use crate::surface::{Made, Materials, Pairs, groups};
use law::StateForce;
use nalgebra::{Isometry2, Point2, Translation2, UnitComplex, Vector2};
use std::sync::Arc;
use stiction::planar::{
    Attached, Body, BodyId, Force, Mass, Motion, Path, Polygon, Shape, ShapeId, Twist, World, Wrench,
};
use stiction::{Depth, FrictionPoint};
use stiction_geometry::planar::{MassProperties, mass};

/// Variables of forces in the plane; t comes first.
const STATE: &[&str] = &["t", "x", "y", "vx", "vy", "angle", "omega"];

/// Gravity where a file names none [m/s²].
const GRAVITY: Vector2<f64> = Vector2::new(0.0, -9.81);

/// Makes a world, and notes what of it stands where in the file.
pub(crate) fn assemble(root: &Reader) -> (World, Names, Places) {
    let mut scene = Assembly {
        root: *root,
        world: settings(root),
        names: Names::default(),
        places: Places::default(),
        materials: Materials::new(root),
        shapes: Vec::new(),
        state_forces: Vec::new(),
    };
    scene.bodies();
    scene.joints();
    scene.forces();
    scene.pairs();
    scene.finish();
    (scene.world, scene.names, scene.places)
}

struct Assembly<'a> {
    root: Reader<'a>,
    world: World,
    names: Names,
    places: Places,
    materials: Materials,
    shapes: Vec<Made>,
    state_forces: Vec<(usize, &'static str, StateForce)>,
}

fn settings(root: &Reader) -> World {
    let mut world = World::new(GRAVITY);
    let Some(table) = root.table("world") else { return world };
    world.gravity = table.vector::<2>("gravity").map_or(GRAVITY, Vector2::from);
    world.t = table.number("time").unwrap_or(0.0);
    if table.text("friction_point") == Some("surface") {
        world.friction_point = FrictionPoint::Surface;
    }
    if table.text("depth") == Some("minkowski") {
        world.depth = Depth::Minkowski;
    }
    world.allow_overlap = table.flag("allow_overlap").unwrap_or(false);
    world
}

/// The pose that a table gives.
fn pose(reader: &Reader) -> Isometry2<f64> {
    let at = reader.vector::<2>("position").unwrap_or_default();
    Isometry2::new(Vector2::from(at), reader.angle("angle").unwrap_or(0.0))
}

fn point(reader: &Reader, key: &str) -> Option<Point2<f64>> {
    reader.vector::<2>(key).map(Point2::from)
}

/// A unit vector, or a complaint.
fn axis(reader: &Reader, key: &str) -> Option<Vector2<f64>> {
    let given = Vector2::from(reader.vector::<2>(key)?);
    let unit = given.try_normalize(0.0).filter(|unit| unit.iter().all(|x| x.is_finite()));
    if unit.is_none() {
        reader.error(&reader.span(key), "an axis must not be 0");
    }
    unit
}

/// The motions of the copies in a row.
fn row(table: &Reader) -> Vec<Isometry2<f64>> {
    let count = copies::count(table);
    let offset = table.vector::<2>("offset").map_or_else(Vector2::zeros, Vector2::from);
    let turn = table.angle("turn").unwrap_or(0.0);
    let about = table.vector::<2>("about").map_or_else(Vector2::zeros, Vector2::from);
    let mut shift = Vector2::zeros();
    let motion = |i: usize| {
        let by = UnitComplex::new(i as f64 * turn);
        if turn == 0.0 {
            return Translation2::from(i as f64 * offset).into();
        }
        let moved = Isometry2::from_parts((about + shift - by * about).into(), by);
        // the offset turns with the copies
        shift += by * offset;
        moved
    };
    (0..count).map(motion).collect()
}

impl Assembly<'_> {
    fn bodies(&mut self) {
        for (k, reader) in self.root.tables("bodies").enumerate() {
            let base = reader.text("name").unwrap_or("");
            let all = copies(&reader);
            if self.names.all().len() + all.len() > MOST {
                reader.error(&reader.span("copies"), format!("more bodies than the limit of {MOST}"));
                return;
            }
            // everything but the pose is the same in all copies
            let mut first: Option<Body> = None;
            for copy in &all {
                let name = copy.name(base);
                if !self.names.add(base, name.clone()) && !name.is_empty() {
                    reader.error(&reader.span("name"), format!("another body is named `{name}`"));
                }
                self.places.body(name.clone(), k);
                let body = first.get_or_insert_with(|| body(&reader, &self.materials));
                let placed = Body { name, ..moved(&reader, body, &copy.moved) };
                let id = self.world.add(placed);
                let numbers: Vec<ShapeId> = self.world.shapes(id).map(|(shape, _)| shape).collect();
                for (number, shape) in numbers.iter().zip(reader.tables("shapes")) {
                    let (_, material) = self.materials.of(&shape, &reader);
                    self.shapes.push(Made { shape: number.0, body: id.0, material });
                }
            }
        }
        // the body that stands still is there if something refers to it
        if crate::place::refers_to_ground(&self.root) && self.names.number(GROUND).is_none() {
            self.names.add(GROUND, GROUND.to_string());
            self.world.add(Body::fixed(GROUND));
        }
    }

    fn forces(&mut self) {
        let root = self.root;
        for (k, reader) in root.tables("springs").enumerate() {
            let _ = reader.text("name");
            let number = |key: &str| reader.number(key).unwrap_or(0.0);
            for copy in copies(&reader) {
                let [a, b] = self.two(&reader, &copy.index);
                let (Some(a), Some(b)) = (a, b) else { continue };
                self.push(
                    "springs",
                    k,
                    Force::Spring {
                        a,
                        point_a: point(&reader, "point_a").unwrap_or_default(),
                        b,
                        point_b: point(&reader, "point_b").unwrap_or_default(),
                        stiffness: number("stiffness"),
                        damping: number("damping"),
                        rest_length: number("rest_length"),
                    },
                );
            }
        }
        for (k, reader) in root.tables("rails").enumerate() {
            let _ = reader.text("name");
            let number = |key: &str| reader.number(key).unwrap_or(0.0);
            let axis = axis(&reader, "axis");
            for copy in copies(&reader) {
                let (Some(body), Some(axis)) = (self.one(&reader, &copy.index), axis) else { continue };
                self.push(
                    "rails",
                    k,
                    Force::Rail {
                        body,
                        point: point(&reader, "point").unwrap_or_default(),
                        axis: copy.moved.rotation * axis,
                        origin: number("origin")
                            + (copy.moved.rotation * axis).dot(&copy.moved.translation.vector),
                        stiffness: number("stiffness"),
                        damping: number("damping"),
                    },
                );
            }
        }
        for (k, reader) in root.tables("forces").enumerate() {
            let _ = reader.text("name");
            let zero = || Formula::Number(0.0);
            let mut force = [zero(), zero()];
            for (to, node) in force.iter_mut().zip(reader.list("force")) {
                *to = reader.formula(node, STATE).unwrap_or_else(zero);
            }
            let torque =
                reader.get("torque").and_then(|node| reader.formula(node, STATE)).unwrap_or_else(zero);
            let at = point(&reader, "point");
            let parts = [force[0].clone(), force[1].clone(), torque];
            for copy in copies(&reader) {
                let Some(body) = self.one(&reader, &copy.index) else { continue };
                if let Some(Motion::Fixed | Motion::Kinematic(_)) = self.world.body(body).map(|b| &b.motion) {
                    reader.error(
                        &reader.span("body"),
                        "this body does not move by itself: no force acts on it",
                    );
                    break;
                }
                let turn = copy.moved.rotation;
                if parts.iter().any(|part| (1..STATE.len()).any(|place| part.uses(place))) {
                    let force = StateForce { body, point: at, parts: parts.clone(), turn };
                    self.state_forces.push((k, "forces", force));
                } else if parts.iter().any(|part| part.uses(0)) {
                    let parts = parts.clone();
                    let load = Arc::new(move |t: f64| wrench(&parts, &[t], &turn));
                    self.push("forces", k, Force::Timed { body, point: at, load });
                } else {
                    let wrench = wrench(&parts, &[], &turn);
                    self.push("forces", k, Force::Constant { body, point: at, wrench });
                }
            }
        }
    }

    fn push(&mut self, list: &'static str, k: usize, force: Force) {
        self.world.push(force);
        self.places.force(list, k);
    }

    fn one(&self, reader: &Reader, index: &[usize]) -> Option<BodyId> {
        self.names.resolve(reader, reader.get("body")?, index).map(BodyId)
    }

    fn two(&self, reader: &Reader, index: &[usize]) -> [Option<BodyId>; 2] {
        let [a, b] = reader.list("bodies") else { return [None; 2] };
        [a, b].map(|node| self.names.resolve(reader, node, index).map(BodyId))
    }

    fn pairs(&mut self) {
        let pairs = Pairs::new(&self.root, &self.names, &self.materials, &self.shapes);
        pairs.excluded.iter().for_each(|&[a, b]| self.world.exclude(BodyId(a), BodyId(b)));
        for ([a, b], material) in pairs.materials {
            self.world.pair_material(ShapeId(a), ShapeId(b), material);
        }
        self.materials.idle(&self.root);
    }

    /// Forces of the state need to know where the coordinates of their bodies stand.
    fn finish(&mut self) {
        if self.state_forces.is_empty() {
            return;
        }
        let mut loose = self.world.clone();
        loose.allow_overlap = true;
        // a world with mistakes is reported when it is built
        let Ok(model) = loose.build() else { return };
        for (k, list, force) in std::mem::take(&mut self.state_forces) {
            if let Some(force) = force.law(&model) {
                self.push(list, k, force);
            }
        }
    }
}

/// The entries that a table stands for.
fn copies(reader: &Reader) -> Vec<Copied<Isometry2<f64>>> {
    copies::copies(reader, Isometry2::identity(), row)
}

/// A body as it is written.
fn body(reader: &Reader, materials: &Materials) -> Body {
    let shapes: Vec<Attached> =
        reader.tables("shapes").filter_map(|shape| attached(&shape, reader, materials)).collect();
    let motion = match reader.text("motion") {
        Some("point") => Motion::Point,
        Some("slider") => {
            if !reader.has("axis") {
                reader.error(&reader.span("motion"), "missing key `axis`: what a slider moves along");
            }
            Motion::Slider(axis(reader, "axis").unwrap_or_else(Vector2::x))
        }
        Some("kinematic") => Motion::Kinematic(path(reader)),
        Some("rigid") => Motion::Rigid,
        None if !reader.has("motion") => Motion::Rigid,
        // fixed, or a mistake that is reported
        _ => Motion::Fixed,
    };
    let mut body = Body::fixed("").at(pose(reader));
    body.shapes = shapes;
    if matches!(motion, Motion::Rigid | Motion::Point | Motion::Slider(_)) {
        body.mass = weight(reader, &motion, &body.shapes);
        let linear = reader.vector::<2>("velocity").unwrap_or_default();
        body.velocity.linear = Vector2::from(linear);
        if let Motion::Rigid = motion {
            body.velocity.angular = reader.number("angular_velocity").unwrap_or(0.0);
        }
    }
    Body { motion, ..body }
}

/// A copy of a body.
fn moved(reader: &Reader, body: &Body, by: &Isometry2<f64>) -> Body {
    let turn = by.rotation;
    let motion = match &body.motion {
        Motion::Slider(axis) => Motion::Slider(turn * axis),
        // a path starts from the pose of the copy
        Motion::Kinematic(_) => Motion::Kinematic(path_from(reader, by)),
        other => other.clone(),
    };
    let velocity = Twist::new(turn * body.velocity.linear, body.velocity.angular);
    Body { motion, velocity, ..body.clone() }.at(by * body.pose)
}

/// What a body weighs.
fn weight(reader: &Reader, motion: &Motion, shapes: &[Attached]) -> Mass {
    if let Some(density) = reader.number("density") {
        return Mass::Density(density);
    }
    let turns = matches!(motion, Motion::Rigid);
    // stands for what is missing, and is reported
    let usual = Mass::given(1.0, 1.0);
    let Some(mass) = reader.number("mass") else {
        if !reader.has("mass") && !reader.has("density") {
            reader.error(&reader.node.span, "missing key `density` or `mass`: what the body weighs");
        }
        return usual;
    };
    let centre = point(reader, "centre").unwrap_or_default();
    if !turns {
        return Mass::Given { mass, centre, inertia: 0.0 };
    }
    if let Some(inertia) = reader.number("inertia") {
        return Mass::Given { mass, centre, inertia };
    }
    // the shapes say how the mass is spread
    if let Some(area) = area(shapes).filter(|_| !reader.has("centre")) {
        return Mass::Density(mass / area);
    }
    // what is given and not right is reported
    if reader.has("inertia") || shapes.len() < reader.list("shapes").len() {
        return usual;
    }
    let message = "missing key `inertia`: the moment of inertia about the centre of mass";
    reader.error(&reader.span("mass"), message);
    usual
}

/// Area of the shapes that weigh something [m²].
fn area(shapes: &[Attached]) -> Option<f64> {
    let parts = shapes.iter().filter(|shape| !shape.sensor);
    let parts = parts.filter_map(|shape| mass(&shape.shape, 1.0).ok().map(|part| (shape.pose, part)));
    MassProperties::combine(parts.collect::<Vec<_>>()).ok().map(|whole| whole.mass)
}

/// A shape on a body.
fn attached(reader: &Reader, body: &Reader, materials: &Materials) -> Option<Attached> {
    let _ = reader.text("kind");
    let number = |key: &str| reader.number(key);
    let shape = match reader.text("kind")? {
        "disk" => Shape::Disk { radius: number("radius")? },
        "ellipse" => Shape::Ellipse { semi_axes: reader.vector("semi_axes")? },
        "capsule" => Shape::Capsule { half_length: number("half_length")?, radius: number("radius")? },
        "half_plane" => Shape::HalfPlane,
        "rectangle" => polygon(reader, "half_extents", Polygon::rectangle(reader.vector("half_extents")?))?,
        "polygon" => {
            let vertices: Option<Vec<_>> = reader
                .list("vertices")
                .iter()
                .map(|node| crate::read::numbers::<2>(node).map(Point2::from))
                .collect();
            polygon(reader, "vertices", Polygon::new(&vertices?))?
        }
        _ => return None,
    };
    let (material, _) = materials.of(reader, body);
    Some(Attached {
        shape,
        pose: pose(reader),
        material,
        groups: groups(reader, body),
        sensor: reader.flag("sensor").unwrap_or(false),
        surface_velocity: number("surface_velocity").unwrap_or(0.0),
    })
}

/// A polygon, or a complaint.
fn polygon(
    reader: &Reader,
    key: &str,
    polygon: Result<Polygon, stiction_geometry::ShapeError>,
) -> Option<Shape> {
    match polygon {
        Ok(polygon) => Some(Shape::Polygon(polygon)),
        Err(error) => {
            reader.error(&reader.span(key), error.to_string());
            None
        }
    }
}

/// The motion of a kinematic body.
fn path(reader: &Reader) -> Path {
    if reader.table("path").is_none() && !reader.has("path") {
        reader.error(&reader.span("motion"), "missing key `path`: how a kinematic body moves");
    }
    path_from(reader, &Isometry2::identity())
}

fn path_from(reader: &Reader, by: &Isometry2<f64>) -> Path {
    let table = reader.table("path");
    let [x, y] = crate::track::places(table.as_ref());
    let angle = crate::track::angle(table.as_ref());
    let (start, turn) = (by * pose(reader), by.rotation);
    Path::new(move |t| {
        let at = start.translation.vector + turn * Vector2::new(x.at(t), y.at(t));
        let turned = UnitComplex::new(angle.at(t)) * start.rotation;
        let velocity = Twist::new(turn * Vector2::new(x.rate(t), y.rate(t)), angle.rate(t));
        (Isometry2::from_parts(at.into(), turned), velocity)
    })
}

/// Force and torque of formulas.
fn wrench(parts: &[Formula; 3], state: &[f64], turn: &UnitComplex<f64>) -> Wrench {
    let [x, y, torque] = parts;
    Wrench { force: turn * Vector2::new(x.at(state), y.at(state)), torque: torque.at(state) }
}

/// A complaint about a key that is missing for what another one says.
fn missing(reader: &Reader, key: &str, why: &str) {
    reader.context.add(Finding::error(&reader.node.span, format!("missing key `{key}`: {why}")));
}
