//! A file as a spatial world. The planar one is made by the same functions in the same order.

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
use nalgebra::{Isometry3, Matrix3, Point3, Quaternion, Translation3, Unit, UnitQuaternion, Vector3};
use std::sync::Arc;
use stiction::spatial::{
    Attached, Body, BodyId, Facets, Force, Grain, Mass, Motion, Path, Shape, ShapeId, Twist, World, Wrench,
};
use stiction::{Depth, FrictionPoint};
use stiction_geometry::spatial::{MassProperties, Polyhedron, mass};

/// Variables of forces in space; t comes first.
const STATE: &[&str] = &["t", "x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"];

/// How far a unit quaternion may be from unit length: what four digits have.
const UNIT: f64 = 1e-3;

/// Gravity where a file names none [m/s²].
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

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
    world.gravity = table.vector::<3>("gravity").map_or(GRAVITY, Vector3::from);
    world.t = table.number("time").unwrap_or(0.0);
    if table.text("friction_point") == Some("surface") {
        world.friction_point = FrictionPoint::Surface;
    }
    if table.text("depth") == Some("minkowski") {
        world.depth = Depth::Minkowski;
    }
    world.allow_overlap = table.flag("allow_overlap").unwrap_or(false);
    world.facets = table.table("facets").map(|facets| {
        let usual = Facets::default();
        let directions = facets.count("directions").unwrap_or(usual.directions);
        if !directions.is_multiple_of(2) {
            facets.error(&facets.span("directions"), format!("{directions} must be even"));
        }
        Facets { directions, aligned: facets.flag("aligned").unwrap_or(usual.aligned) }
    });
    world
}

/// The pose that a table gives.
fn pose(reader: &Reader) -> Isometry3<f64> {
    let at = Vector3::from(reader.vector::<3>("position").unwrap_or_default());
    Isometry3::from_parts(at.into(), rotation(reader).unwrap_or_else(UnitQuaternion::identity))
}

/// The rotation that a table gives, in one of three ways.
fn rotation(reader: &Reader) -> Option<UnitQuaternion<f64>> {
    if let Some([w, x, y, z]) = reader.vector::<4>("quat_wxyz") {
        let quaternion = Quaternion::new(w, x, y, z);
        let norm = quaternion.norm();
        if !((norm - 1.0).abs() <= UNIT) {
            reader.error(
                &reader.span("quat_wxyz"),
                format!("a unit quaternion must have the norm 1, not {norm}"),
            );
            return None;
        }
        return Some(UnitQuaternion::new_normalize(quaternion));
    }
    if let Some(vector) = reader.vector::<3>("rotation_vector") {
        return Some(UnitQuaternion::from_scaled_axis(Vector3::from(vector)));
    }
    let [roll, pitch, yaw] = reader.vector::<3>("rpy_deg")?.map(f64::to_radians);
    Some(UnitQuaternion::from_euler_angles(roll, pitch, yaw))
}

fn point(reader: &Reader, key: &str) -> Option<Point3<f64>> {
    reader.vector::<3>(key).map(Point3::from)
}

/// A unit vector, or a complaint.
fn axis(reader: &Reader, key: &str) -> Option<Vector3<f64>> {
    let given = Vector3::from(reader.vector::<3>(key)?);
    let unit = given.try_normalize(0.0).filter(|unit| unit.iter().all(|x| x.is_finite()));
    if unit.is_none() {
        reader.error(&reader.span(key), "an axis must not be 0");
    }
    unit
}

/// The motions of the copies in a row.
fn row(table: &Reader) -> Vec<Isometry3<f64>> {
    let count = copies::count(table);
    let offset = table.vector::<3>("offset").map_or_else(Vector3::zeros, Vector3::from);
    let degrees = || table.vector::<3>("turn_deg").map(|turn| turn.map(f64::to_radians));
    let turn = table.vector::<3>("turn").or_else(degrees).map_or_else(Vector3::zeros, Vector3::from);
    let about = table.vector::<3>("about").map_or_else(Vector3::zeros, Vector3::from);
    let mut shift = Vector3::zeros();
    let motion = |i: usize| {
        let by = UnitQuaternion::from_scaled_axis(i as f64 * turn);
        if turn == Vector3::zeros() {
            return Translation3::from(i as f64 * offset).into();
        }
        let moved = Isometry3::from_parts((about + shift - by * about).into(), by);
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
            let mut parts: [Formula; 6] = std::array::from_fn(|_| zero());
            let (force, torque) = parts.split_at_mut(3);
            for (to, key) in [(force, "force"), (torque, "torque")] {
                for (to, node) in to.iter_mut().zip(reader.list(key)) {
                    *to = reader.formula(node, STATE).unwrap_or_else(zero);
                }
            }
            let at = point(&reader, "point");
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
fn copies(reader: &Reader) -> Vec<Copied<Isometry3<f64>>> {
    copies::copies(reader, Isometry3::identity(), row)
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
            Motion::Slider(axis(reader, "axis").unwrap_or_else(Vector3::x))
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
        let linear = reader.vector::<3>("velocity").unwrap_or_default();
        body.velocity.linear = Vector3::from(linear);
        if let Motion::Rigid = motion {
            let angular = reader.vector::<3>("angular_velocity").unwrap_or_default();
            body.velocity.angular = Vector3::from(angular);
        }
    }
    Body { motion, ..body }
}

/// A copy of a body.
fn moved(reader: &Reader, body: &Body, by: &Isometry3<f64>) -> Body {
    let turn = by.rotation;
    let motion = match &body.motion {
        Motion::Slider(axis) => Motion::Slider(turn * axis),
        // a path starts from the pose of the copy
        Motion::Kinematic(_) => Motion::Kinematic(path_from(reader, by)),
        other => other.clone(),
    };
    let velocity = Twist::new(turn * body.velocity.linear, turn * body.velocity.angular);
    Body { motion, velocity, ..body.clone() }.at(by * body.pose)
}

/// What a body weighs.
fn weight(reader: &Reader, motion: &Motion, shapes: &[Attached]) -> Mass {
    if let Some(density) = reader.number("density") {
        return Mass::Density(density);
    }
    let turns = matches!(motion, Motion::Rigid);
    // stands for what is missing, and is reported
    let usual = Mass::given(1.0, [1.0; 3]);
    let Some(mass) = reader.number("mass") else {
        if !reader.has("mass") && !reader.has("density") {
            reader.error(&reader.node.span, "missing key `density` or `mass`: what the body weighs");
        }
        return usual;
    };
    let centre = point(reader, "centre").unwrap_or_default();
    if !turns {
        return Mass::Given { mass, centre, inertia: Matrix3::zeros() };
    }
    if let Some(moments) = reader.vector::<3>("inertia") {
        let mut inertia = Matrix3::from_diagonal(&Vector3::from(moments));
        let [xy, xz, yz] = reader.vector::<3>("products_of_inertia").unwrap_or_default();
        for (row, column, product) in [(0, 1, xy), (0, 2, xz), (1, 2, yz)] {
            inertia[(row, column)] = product;
            inertia[(column, row)] = product;
        }
        return Mass::Given { mass, centre, inertia };
    }
    // the shapes say how the mass is spread
    if let Some(volume) = volume(shapes).filter(|_| !reader.has("centre")) {
        return Mass::Density(mass / volume);
    }
    // what is given and not right is reported
    if reader.has("inertia") || shapes.len() < reader.list("shapes").len() {
        return usual;
    }
    let message = "missing key `inertia`: the moments of inertia about the centre of mass";
    reader.error(&reader.span("mass"), message);
    usual
}

/// Volume of the shapes that weigh something [m³].
fn volume(shapes: &[Attached]) -> Option<f64> {
    let parts = shapes.iter().filter(|shape| !shape.sensor);
    let parts = parts.filter_map(|shape| mass(&shape.shape, 1.0).ok().map(|part| (shape.pose, part)));
    MassProperties::combine(parts.collect::<Vec<_>>()).ok().map(|whole| whole.mass)
}

/// A shape on a body.
fn attached(reader: &Reader, body: &Reader, materials: &Materials) -> Option<Attached> {
    let _ = reader.text("kind");
    let number = |key: &str| reader.number(key);
    let shape = match reader.text("kind")? {
        "sphere" => Shape::Sphere { radius: number("radius")? },
        "ellipsoid" => Shape::Ellipsoid { semi_axes: reader.vector("semi_axes")? },
        "capsule" => Shape::Capsule { half_length: number("half_length")?, radius: number("radius")? },
        "box" => Shape::Cuboid { half_extents: reader.vector("half_extents")? },
        "half_space" => Shape::HalfSpace,
        "polyhedron" => polyhedron(reader)?,
        _ => return None,
    };
    let (material, _) = materials.of(reader, body);
    Some(Attached {
        shape,
        pose: pose(reader),
        material,
        groups: groups(reader, body),
        sensor: reader.flag("sensor").unwrap_or(false),
        surface_velocity: Vector3::from(reader.vector::<3>("surface_velocity").unwrap_or_default()),
        grain: reader.table("grain").and_then(|grain| {
            let direction = axis(&grain, "direction")?;
            Some(Grain { direction, ratio: grain.number("ratio")? })
        }),
    })
}

/// A polyhedron, or a complaint.
fn polyhedron(reader: &Reader) -> Option<Shape> {
    let (key, polyhedron) = if reader.has("facets") {
        let facet = |facet: Reader| {
            let normal = Vector3::from(facet.vector::<3>("normal")?);
            Some((normal, facet.number("offset")?))
        };
        let facets: Option<Vec<_>> = reader.tables("facets").map(facet).collect();
        ("facets", Polyhedron::from_facets(&facets?))
    } else if reader.has("vertices") {
        let vertices = reader.list("vertices").iter();
        let vertices: Option<Vec<_>> =
            vertices.map(|node| crate::read::numbers::<3>(node).map(Point3::from)).collect();
        ("vertices", Polyhedron::new(&vertices?))
    } else {
        missing(reader, "vertices` or `facets", "what the polyhedron is made of");
        return None;
    };
    match polyhedron {
        Ok(polyhedron) => Some(Shape::Polyhedron(Arc::new(polyhedron))),
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
    path_from(reader, &Isometry3::identity())
}

fn path_from(reader: &Reader, by: &Isometry3<f64>) -> Path {
    let table = reader.table("path");
    let [x, y, z] = crate::track::places(table.as_ref());
    let angle = crate::track::angle(table.as_ref());
    let (start, turn) = (by * pose(reader), by.rotation);
    let about = table.filter(|table| table.has("axis")).and_then(|table| axis(&table, "axis"));
    let about = turn * Unit::new_unchecked(about.unwrap_or_else(Vector3::z));
    Path::new(move |t| {
        let at = start.translation.vector + turn * Vector3::new(x.at(t), y.at(t), z.at(t));
        let turned = UnitQuaternion::from_axis_angle(&about, angle.at(t)) * start.rotation;
        let linear = turn * Vector3::new(x.rate(t), y.rate(t), z.rate(t));
        let velocity = Twist::new(linear, angle.rate(t) * about.into_inner());
        (Isometry3::from_parts(at.into(), turned), velocity)
    })
}

/// Force and torque of formulas.
fn wrench(parts: &[Formula; 6], state: &[f64], turn: &UnitQuaternion<f64>) -> Wrench {
    let [fx, fy, fz, tx, ty, tz] = parts.each_ref().map(|part| part.at(state));
    Wrench { force: turn * Vector3::new(fx, fy, fz), torque: turn * Vector3::new(tx, ty, tz) }
}

/// A complaint about a key that is missing for what another one says.
fn missing(reader: &Reader, key: &str, why: &str) {
    reader.context.add(Finding::error(&reader.node.span, format!("missing key `{key}`: {why}")));
}
