//! Gaps between a half-space and a bounded shape: exact at any depth, one gap per vertex or cap.

use std::cell::Cell;

use nalgebra::{Isometry3, Point3, Vector3};

use super::core::Core;
use super::feature_pair::rim_points;
use super::gap::Gap;
use super::marks::VisitMarks;
use super::polyhedron::box_corner;
use super::{Polyhedron, Shape, support};
use crate::climb::MAX_EXHAUSTIVE;
use crate::gap::{VERTEX_SEARCH_RELATIVE, push_within};

/// Appends every gap <= `reach` [m].
pub(super) fn half_space_gaps(
    pose_plane: &Isometry3<f64>,
    shape: &Shape,
    pose: &Isometry3<f64>,
    reach: f64,
    out: &mut Vec<Gap>,
) {
    let n = pose_plane.rotation * Vector3::z();
    let origin = Point3::from(pose_plane.translation.vector);
    let mut add = |local: Point3<f64>, r: f64, feature: u32| {
        let q = pose * local;
        let core = n.dot(&(q - origin));
        push_within(Gap::rounded((q - core * n, 0.0), (q, r), core, n, feature), reach, out);
    };
    let (core, rounding) = shape.core();
    match core {
        Shape::Sphere { radius } => add(Point3::origin(), *radius, 0),
        // Φ = n·x − sqrt(a² n_x² + b² n_y² + c² n_z²), n in the frame of the ellipsoid
        Shape::Ellipsoid { .. } => {
            if let Some(lowest) = support(shape, &-pose.rotation.inverse_transform_vector(&n)) {
                add(lowest, 0.0, 0);
            }
        }
        Shape::Capsule { half_length, radius } => {
            add(Point3::new(0.0, 0.0, -half_length), *radius, 0);
            add(Point3::new(0.0, 0.0, *half_length), *radius, 1);
        }
        Shape::Cuboid { half_extents } => {
            (0..8).for_each(|feature| add(box_corner(half_extents, feature), rounding, feature));
        }
        Shape::Polyhedron(polyhedron) => {
            let vertices = polyhedron.vertices();
            if vertices.len() <= MAX_EXHAUSTIVE || reach == f64::INFINITY {
                (0..).zip(vertices).for_each(|(feature, vertex)| add(*vertex, rounding, feature));
                return;
            }
            // in the local frame, about the plane
            let down = -pose.rotation.inverse_transform_vector(&n);
            let depth = -n.dot(&(pose.translation.vector - origin.coords)) + reach + rounding;
            let mut search = VERTEX_SEARCH.take();
            search.beyond(polyhedron, &down, -depth - VERTEX_SEARCH_RELATIVE * polyhedron.size());
            // in the order of their indices, as if all had been evaluated
            search.found.sort_unstable();
            for &v in &search.found {
                add(vertices[v as usize], rounding, v);
            }
            VERTEX_SEARCH.set(search);
        }
        Shape::Cylinder { .. } | Shape::Cone { .. } => {
            if let Shape::Cone { half_length, .. } = core {
                add(Point3::new(0.0, 0.0, *half_length), rounding, 0);
            }
            let Some(core) = Core::of(core, pose, None) else { return };
            for (code, rim) in core.rims() {
                rim_points(&rim, &-n, &mut |p, part| {
                    let core = n.dot(&(p - origin));
                    let gap = Gap::rounded((p - core * n, 0.0), (p, rounding), core, n, code + part);
                    push_within(gap, reach, out);
                });
            }
        }
        Shape::Rounded { .. } | Shape::HalfSpace => {}
    }
}

/// Vertices beyond a plane, with the memory of their search kept from call to call.
#[derive(Default)]
struct VertexSearch {
    found: Vec<u32>,
    marks: VisitMarks,
}

thread_local! {
    static VERTEX_SEARCH: Cell<VertexSearch> = Cell::default();
}

impl VertexSearch {
    /// Finds the vertices with v · direction >= least, from the farthest one on: they are connected.
    fn beyond(&mut self, polyhedron: &Polyhedron, direction: &Vector3<f64>, least: f64) {
        let vertices = polyhedron.vertices();
        let along = |i: u32| vertices[i as usize].coords.dot(direction);
        self.found.clear();
        self.marks.start(vertices.len());
        let farthest = u32::try_from(polyhedron.farthest(direction)).unwrap_or(0);
        self.visit(farthest, along(farthest) >= least);
        let mut next = 0;
        while let Some(&v) = self.found.get(next) {
            for &w in polyhedron.around(v as usize) {
                self.visit(w, along(w) >= least);
            }
            next += 1;
        }
    }

    fn visit(&mut self, vertex: u32, wanted: bool) {
        if self.marks.visit(vertex as usize) && wanted {
            self.found.push(vertex);
        }
    }
}
