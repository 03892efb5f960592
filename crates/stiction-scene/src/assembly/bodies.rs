//! Bodies of a scene file, with their shapes and copies.

use super::{Assembly, SceneDimension, axis, copies as copies_of, mass, shape_entry, vector};
use crate::copies::{self, GROUND};
use crate::keys::{MAX_ENTRIES, MAX_SHAPE_SIZE};
use crate::read::Reader;
use crate::surface::{Materials, groups};
use stiction::{Attached, Body, Motion, RigidPose, ShapeId, Twist};

impl<D: SceneDimension> Assembly<'_, D> {
    pub(super) fn bodies(&mut self) {
        let mut size = 0_usize;
        for (k, reader) in self.root.tables("bodies").enumerate() {
            let base = reader.text("name").unwrap_or("");
            let all = copies_of::<D>(&reader);
            if self.names.all().len() + all.len() > MAX_ENTRIES {
                reader.error(&reader.span("copies"), format!("more bodies than the limit of {MAX_ENTRIES}"));
                return;
            }
            size = size.saturating_add(all.len().saturating_mul(shape_size(&reader)));
            if size > MAX_SHAPE_SIZE {
                let message = format!(
                    "more shapes and vertices, with all copies, than the limit of {MAX_SHAPE_SIZE}; write fewer copies"
                );
                reader.error(&reader.span(if reader.has("copies") { "copies" } else { "shapes" }), message);
                return;
            }
            // everything but the pose is the same in all copies
            let mut first: Option<Body<D>> = None;
            for copy in &all {
                let name = copy.name(base);
                if !self.names.add(base, name.clone()) && !name.is_empty() {
                    reader.error(&reader.span("name"), format!("another body is named `{name}`"));
                }
                self.places.body(name.clone(), k);
                let body = first.get_or_insert_with(|| body(&reader, &self.materials));
                let copied = Body { name, ..moved(&reader, body, &copy.moved) };
                let id = self.world.add_body(copied);
                let numbers: Vec<ShapeId> = self.world.shapes(id).map(|(shape, _)| shape).collect();
                let each = reader.tables("shapes");
                let each = each.flat_map(|shape| std::iter::repeat_n(shape, copies::number(&shape)));
                for (number, shape) in numbers.into_iter().zip(each) {
                    let (_, material) = self.materials.of(&shape, &reader);
                    self.shapes.push(shape_entry(number, id, material));
                }
            }
        }
        // the ground exists if something refers to it
        if crate::source_map::refers_to_ground(&self.root) && self.names.number(GROUND).is_none() {
            self.names.add(GROUND, GROUND.to_string());
            self.world.add_body(Body::fixed(GROUND));
        }
    }
}

/// Number of shapes of a body and of the entries of their lists, which are mostly vertices.
fn shape_size(reader: &Reader) -> usize {
    let lists = |shape: Reader| -> usize { shape.node.entries().iter().map(|e| e.node.items().len()).sum() };
    let size = |shape: Reader| copies::number(&shape).saturating_mul(1 + lists(shape));
    reader.tables("shapes").map(size).fold(0, usize::saturating_add)
}

/// Body of a table, without its name.
fn body<D: SceneDimension>(reader: &Reader, materials: &Materials) -> Body<D> {
    let shapes: Vec<Attached<D>> =
        reader.tables("shapes").flat_map(|shape| attached(&shape, reader, materials)).collect();
    let motion = match reader.text("motion") {
        Some("point") => Motion::Point,
        Some("slider") => {
            if !reader.has("axis") {
                reader.error(&reader.span("motion"), "missing key `axis`: what a slider moves along");
            }
            Motion::Slider(axis::<D>(reader, "axis").unwrap_or_else(|| D::vector([1.0, 0.0, 0.0])))
        }
        Some("kinematic") => {
            if reader.table("path").is_none() && !reader.has("path") {
                reader.error(&reader.span("motion"), "missing key `path`: how a kinematic body moves");
            }
            Motion::Kinematic(D::path(reader, &D::Isometry::identity()))
        }
        Some("rigid") => Motion::Rigid,
        None if !reader.has("motion") => Motion::Rigid,
        // fixed, or a mistake that is reported
        _ => Motion::Fixed,
    };
    let mut body = Body::fixed("").at(D::read_pose(reader));
    body.shapes = shapes;
    if matches!(motion, Motion::Rigid | Motion::Point | Motion::Slider(_)) {
        body.mass = mass(reader, &motion, &body.shapes);
        body.velocity.linear = vector::<D>(reader, "velocity").unwrap_or_default();
        if let Motion::Rigid = motion {
            body.velocity.angular = D::read_angular_velocity(reader);
        }
    }
    Body { motion, ..body }
}

/// Shape on a body with its copies; none where a mistake is reported.
fn attached<D: SceneDimension>(reader: &Reader, body: &Reader, materials: &Materials) -> Vec<Attached<D>> {
    let all = copies_of::<D>(reader);
    let Some(shape) = D::shape(reader) else { return Vec::new() };
    let (material, _) = materials.of(reader, body);
    let first = Attached {
        shape,
        pose: D::read_pose(reader),
        material,
        groups: groups(reader, body),
        sensor: reader.flag("sensor").unwrap_or(false),
        surface_velocity: D::surface_velocity(reader),
        grain: D::grain(reader),
    };
    all.iter().map(|copy| Attached { pose: copy.moved.times(&first.pose), ..first.clone() }).collect()
}

/// Copy of a body.
fn moved<D: SceneDimension>(reader: &Reader, body: &Body<D>, by: &D::Isometry) -> Body<D> {
    let motion = match &body.motion {
        Motion::Slider(axis) => Motion::Slider(by.turned(axis)),
        // a path starts from the pose of the copy
        Motion::Kinematic(_) => Motion::Kinematic(D::path(reader, by)),
        other => other.clone(),
    };
    let Twist { linear, angular } = body.velocity;
    let velocity = Twist::new(by.turned(&linear), D::turned(&by.turn(), angular));
    Body { motion, velocity, ..body.clone() }.at(by.times(&body.pose))
}
