//! A half-space against anything bounded: exact at any depth, one gap per vertex or cap.

use std::cell::Cell;

use nalgebra::{Isometry3, Point3, Vector3};

use super::gap::{Gap, push};
use super::{Polyhedron, Shape, support};
use crate::climb::FEW;

/// How far beyond the reach vertices are still passed through, relative to the size: round-off must not cut the
/// way from one vertex to another, nor must facets that are flat to 1e-10 of it.
const SLACK: f64 = 1e-9;

/// Appends every gap <= `reach`.
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
        push(Gap::rounded((q - core * n, 0.0), (q, r), core, n, feature), reach, out);
    };
    match shape {
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
        // bit i of the index: on which side of axis i the vertex lies
        Shape::Cuboid { half_extents: [x, y, z] } => {
            for feature in 0..8 {
                let side = |bit: u32, h: f64| if feature >> bit & 1 == 0 { -h } else { h };
                add(Point3::new(side(0, *x), side(1, *y), side(2, *z)), 0.0, feature);
            }
        }
        Shape::Polyhedron(polyhedron) => {
            let vertices = polyhedron.vertices();
            if vertices.len() <= FEW || reach == f64::INFINITY {
                (0..).zip(vertices).for_each(|(feature, vertex)| add(*vertex, 0.0, feature));
                return;
            }
            // in the local frame, about the plane
            let down = -pose.rotation.inverse_transform_vector(&n);
            let depth = -n.dot(&(pose.translation.vector - origin.coords)) + reach;
            let mut scratch = SCRATCH.take();
            scratch.beyond(polyhedron, &down, -depth - SLACK * polyhedron.size());
            // in the order of their names, as if all had been looked at
            scratch.found.sort_unstable();
            for &v in &scratch.found {
                add(vertices[v as usize], 0.0, v);
            }
            SCRATCH.set(scratch);
        }
        Shape::HalfSpace => {}
    }
}

/// Storage kept from call to call.
#[derive(Default)]
struct Scratch {
    found: Vec<u32>,
    /// Vertices seen, each marked by the number of the query.
    seen: Vec<u32>,
    query: u32,
}

thread_local! {
    static SCRATCH: Cell<Scratch> = Cell::default();
}

impl Scratch {
    /// Finds the vertices with v · direction >= least: from the farthest one on, as they hang together.
    fn beyond(&mut self, polyhedron: &Polyhedron, direction: &Vector3<f64>, least: f64) {
        let vertices = polyhedron.vertices();
        let along = |i: u32| vertices[i as usize].coords.dot(direction);
        self.found.clear();
        self.query = self.query.wrapping_add(1);
        if self.query == 0 {
            self.seen.clear();
        }
        if self.seen.len() < vertices.len() {
            self.seen.resize(vertices.len(), self.query.wrapping_sub(1));
        }
        let farthest = polyhedron.farthest(direction);
        self.see(farthest, along(farthest) >= least);
        let mut next = 0;
        while let Some(&v) = self.found.get(next) {
            for &w in polyhedron.around(v) {
                self.see(w, along(w) >= least);
            }
            next += 1;
        }
    }

    fn see(&mut self, vertex: u32, wanted: bool) {
        let mark = &mut self.seen[vertex as usize];
        if wanted && *mark != self.query {
            self.found.push(vertex);
        }
        *mark = self.query;
    }
}
