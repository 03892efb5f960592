//! What both worlds of a file are made by. This file is a part of `planar` and of `spatial`, each with types and
//! functions of its own, which have the same names in both.

use super::{
    Attached, Body, BodyId, Force, GRAVITY, Isometry, Motion, N, Path, Point, STATE, ShapeId, Spin,
    StateForce, Twist, Vector, World, angular_velocity, attached, carried, parts, path_from, pose, turn,
    turned, weight, wrench,
};
use crate::copies::{self, Copied, GROUND, Names};
use crate::diagnostic::Finding;
use crate::keys::MAX_ENTRIES;
use crate::place::Places;
use crate::read::Reader;
use crate::surface::{Made, Materials, Pairs};
use std::sync::Arc;
use stiction::{Depth, FrictionPoint};

/// Makes a world, and notes what of it stands where in the file.
pub(crate) fn assemble(root: &Reader) -> (World, Names, Places) {
    let mut scene = Assembly {
        root: *root,
        world: super::settings(root),
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

pub(super) struct Assembly<'a> {
    pub(super) root: Reader<'a>,
    pub(super) world: World,
    names: Names,
    pub(super) places: Places,
    materials: Materials,
    shapes: Vec<Made>,
    state_forces: Vec<(usize, &'static str, StateForce)>,
}

/// What holds everywhere, but for what one of the worlds alone has.
pub(super) fn settings(root: &Reader) -> World {
    let mut world = World::new(GRAVITY);
    let Some(table) = root.table("world") else { return world };
    world.gravity = table.vector::<N>("gravity").map_or(GRAVITY, Vector::from);
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

pub(super) fn point(reader: &Reader, key: &str) -> Option<Point> {
    reader.vector::<N>(key).map(Point::from)
}

/// A unit vector, or a complaint.
pub(super) fn axis(reader: &Reader, key: &str) -> Option<Vector> {
    let given = Vector::from(reader.vector::<N>(key)?);
    let unit = given.try_normalize(0.0).filter(|unit| unit.iter().all(|x| x.is_finite()));
    if unit.is_none() {
        reader.error(&reader.span(key), "an axis must not be 0");
    }
    unit
}

/// The motions of the copies in a row.
fn row(table: &Reader) -> Vec<Isometry> {
    let count = copies::count(table);
    let offset = table.vector::<N>("offset").map_or_else(Vector::zeros, Vector::from);
    let turn = turn(table);
    let about = table.vector::<N>("about").map_or_else(Vector::zeros, Vector::from);
    let mut shift = Vector::zeros();
    let motion = |i: usize| {
        let by = turned(i as f64 * turn);
        if turn == Spin::default() {
            return nalgebra::Translation::from(i as f64 * offset).into();
        }
        let moved = Isometry::from_parts((about + shift - by * about).into(), by);
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
            if self.names.all().len() + all.len() > MAX_ENTRIES {
                reader.error(&reader.span("copies"), format!("more bodies than the limit of {MAX_ENTRIES}"));
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
                let id = self.world.add_body(placed);
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
            self.world.add_body(Body::fixed(GROUND));
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
            let parts = parts(&reader);
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
        self.world.add_force(force);
        self.places.force(list, k);
    }

    fn one(&self, reader: &Reader, index: &[usize]) -> Option<BodyId> {
        self.names.resolve(reader, reader.get("body")?, index).map(BodyId)
    }

    pub(super) fn two(&self, reader: &Reader, index: &[usize]) -> [Option<BodyId>; 2] {
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
pub(super) fn copies(reader: &Reader) -> Vec<Copied<Isometry>> {
    copies::copies(reader, Isometry::identity(), row)
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
            Motion::Slider(axis(reader, "axis").unwrap_or_else(Vector::x))
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
        let linear = reader.vector::<N>("velocity").unwrap_or_default();
        body.velocity.linear = Vector::from(linear);
        if let Motion::Rigid = motion {
            body.velocity.angular = angular_velocity(reader);
        }
    }
    Body { motion, ..body }
}

/// A copy of a body.
fn moved(reader: &Reader, body: &Body, by: &Isometry) -> Body {
    let turn = by.rotation;
    let motion = match &body.motion {
        Motion::Slider(axis) => Motion::Slider(turn * axis),
        // a path starts from the pose of the copy
        Motion::Kinematic(_) => Motion::Kinematic(path_from(reader, by)),
        other => other.clone(),
    };
    let velocity = Twist::new(turn * body.velocity.linear, carried(&turn, body.velocity.angular));
    Body { motion, velocity, ..body.clone() }.at(by * body.pose)
}

/// The motion of a kinematic body.
fn path(reader: &Reader) -> Path {
    if reader.table("path").is_none() && !reader.has("path") {
        reader.error(&reader.span("motion"), "missing key `path`: how a kinematic body moves");
    }
    path_from(reader, &Isometry::identity())
}

/// A complaint about a key that is missing for what another one says.
pub(super) fn missing(reader: &Reader, key: &str, why: &str) {
    reader.context.add(Finding::error(&reader.node.span, format!("missing key `{key}`: {why}")));
}
