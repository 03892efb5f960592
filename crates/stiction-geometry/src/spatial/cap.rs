//! Cap of a box or polyhedron: its vertices, edges and facets near the plane that separates it from another body.
//! The event search of two bodies compares their caps.

use nalgebra::{Isometry3, Point3, Vector2, Vector3};

use super::marks::VisitMarks;
use super::solid::Solid;
use crate::events::MIN_CAP_COSINE;

/// Difference of two cosines below which facets count as equally aligned with the plane, and the smaller index is
/// taken: independent of the order of the search. Sensible range 1e-14 to 1e-9.
const EQUAL_COSINES: f64 = 1e-12;

/// Vertex near the plane.
pub(super) struct CapCorner {
    pub(super) vertex: u32,
    /// Coordinates along the plane, where the bodies touch [m].
    pub(super) at: Vector2<f64>,
    /// Height above the plane on the own side, <= 0 [m].
    height: f64,
    /// Position in the true pose [m].
    pub(super) position: Point3<f64>,
    /// Whether it touches the plane or belongs to a facet of the cap; others were only visited.
    pub(super) in_cap: bool,
}

/// Part of a body near the plane.
#[derive(Default)]
pub(super) struct Cap {
    pub(super) corners: Vec<CapCorner>,
    /// Edges, with the indices of their ends in `corners`.
    pub(super) edges: Vec<(u32, [usize; 2])>,
    /// Facets, with the range of `outlines` that holds the indices of their corners.
    facets: Vec<(usize, [usize; 2])>,
    outlines: Vec<usize>,
    front: Vec<usize>,
    facet_marks: VisitMarks,
    vertex_marks: VisitMarks,
    edge_marks: VisitMarks,
    /// Index in `corners` of each visited vertex.
    slots: Vec<usize>,
}

/// Body in its pose, seen along the normal.
pub(super) struct BodyView<'a> {
    pub(super) solid: &'a Solid<'a>,
    pub(super) pose: &'a Isometry3<f64>,
    /// Outward normal of the plane: towards the other body.
    pub(super) normal: Vector3<f64>,
    /// Directions along the plane, the same for both bodies.
    pub(super) along: [Vector3<f64>; 2],
    /// Point of the plane.
    pub(super) origin: Point3<f64>,
    /// Displacement to where the bodies touch.
    pub(super) shift: Vector3<f64>,
    /// Greatest distance below the plane that is of interest [m].
    pub(super) depth: f64,
}

impl BodyView<'_> {
    fn corner(&self, vertex: u32) -> CapCorner {
        let position = self.pose * self.solid.vertices[vertex as usize];
        let d = position + self.shift - self.origin;
        let at = Vector2::new(self.along[0].dot(&d), self.along[1].dot(&d));
        CapCorner { vertex, at, height: self.normal.dot(&d), position, in_cap: false }
    }

    /// Outward unit normal of a facet, in the world.
    pub(super) fn unit_normal(&self, facet: usize) -> Vector3<f64> {
        (self.pose.rotation * self.solid.facets[facet]).normalize()
    }

    /// Cosine of the angle between a facet and the plane.
    fn cosine(&self, facet: usize) -> f64 {
        self.unit_normal(facet).dot(&self.normal)
    }

    /// First corner of a facet in the true pose, in the world [m].
    pub(super) fn point_of_facet(&self, facet: usize) -> Point3<f64> {
        let topology = self.solid.topology;
        self.pose * self.solid.vertices[topology.corners[topology.range(facet).start] as usize]
    }
}

impl Cap {
    /// Index of a vertex in `corners`; adds it on its first visit.
    fn slot(&mut self, view: &BodyView<'_>, vertex: u32) -> usize {
        if self.vertex_marks.visit(vertex as usize) {
            self.slots[vertex as usize] = self.corners.len();
            self.corners.push(view.corner(vertex));
        }
        self.slots[vertex as usize]
    }

    /// Whether a facet has a vertex on the plane.
    fn touches(&mut self, view: &BodyView<'_>, facet: usize, slack: f64) -> bool {
        view.solid.topology.range(facet).any(|i| {
            let slot = self.slot(view, view.solid.topology.corners[i]);
            self.corners[slot].height >= -slack
        })
    }

    /// Collects the facets along the plane and all features that touch it, from the active facets of the ratio metric.
    pub(super) fn gather(&mut self, view: &BodyView<'_>, active: impl Iterator<Item = usize>, slack: f64) {
        let topology = view.solid.topology;
        self.corners.clear();
        self.edges.clear();
        self.facets.clear();
        self.outlines.clear();
        self.front.clear();
        self.facet_marks.start(topology.facets());
        self.vertex_marks.start(topology.vertices);
        self.edge_marks.start(topology.edges.len());
        self.slots.resize(self.slots.len().max(topology.vertices), 0);

        self.front.extend(active);
        if !(0..self.front.len()).any(|i| self.touches(view, self.front[i], slack)) {
            self.front.extend(0..topology.facets());
        }
        let aligned = self.gather_touching(view, slack);
        for corner in &mut self.corners {
            corner.in_cap = corner.height >= -slack;
        }
        self.gather_further(view, aligned);
        self.gather_outlines(view);
    }

    /// Collects the facets with a vertex on the plane that lie along it, and the edges on the plane, from the facets
    /// of the front on. If no facet lies along the plane, the most aligned one is taken. Returns the number of
    /// facets that do.
    fn gather_touching(&mut self, view: &BodyView<'_>, slack: f64) -> usize {
        let topology = view.solid.topology;
        let mut best = (f64::NEG_INFINITY, usize::MAX);
        let mut aligned = 0;
        while let Some(f) = self.front.pop() {
            if !self.facet_marks.visit(f) || !self.touches(view, f, slack) {
                continue;
            }
            let cosine = view.cosine(f);
            if cosine > best.0 + EQUAL_COSINES || (cosine > best.0 - EQUAL_COSINES && f < best.1) {
                best = (cosine, f);
            }
            for i in topology.range(f) {
                self.front.push(topology.neighbours[i] as usize);
                // an edge on the plane is in the cap whatever its facets are
                let ends = topology.side(f, i).map(|v| self.slot(view, v));
                if ends.iter().all(|&e| self.corners[e].height >= -slack) {
                    self.edge(topology.sides[i], ends);
                }
            }
            if cosine >= MIN_CAP_COSINE {
                self.facets.push((f, [0, 0]));
                aligned += 1;
            }
        }
        if best.1 != usize::MAX && best.0 < MIN_CAP_COSINE {
            self.facets.push((best.1, [0, 0]));
        }
        aligned
    }

    /// Collects further facets along the plane, from the first `aligned` facets on, down to the depth of the view.
    fn gather_further(&mut self, view: &BodyView<'_>, aligned: usize) {
        let topology = view.solid.topology;
        self.front.extend(self.facets.iter().take(aligned).map(|f| f.0));
        while let Some(f) = self.front.pop() {
            for i in topology.range(f) {
                let next = topology.neighbours[i] as usize;
                let near = topology.side(f, i).iter().any(|&v| {
                    let slot = self.slot(view, v);
                    self.corners[slot].height >= -view.depth
                });
                if near && self.facet_marks.visit(next) && view.cosine(next) >= MIN_CAP_COSINE {
                    self.facets.push((next, [0, 0]));
                    self.front.push(next);
                }
            }
        }
    }

    /// Collects the outlines and edges of the facets.
    fn gather_outlines(&mut self, view: &BodyView<'_>) {
        let topology = view.solid.topology;
        for k in 0..self.facets.len() {
            let range = topology.range(self.facets[k].0);
            let start = self.outlines.len();
            for i in range.clone() {
                let slot = self.slot(view, topology.corners[i]);
                self.corners[slot].in_cap = true;
                self.outlines.push(slot);
            }
            self.facets[k].1 = [start, self.outlines.len()];
            for i in range.clone() {
                let (from, to) = (start + i - range.start, start + (i + 1 - range.start) % range.len());
                self.edge(topology.sides[i], [self.outlines[from], self.outlines[to]]);
            }
        }
    }

    /// Adds an edge on its first visit.
    fn edge(&mut self, side: u32, ends: [usize; 2]) {
        if self.edge_marks.visit(side as usize) {
            self.edges.push((side, ends));
        }
    }

    /// Facet that a point along the plane lies in, deepest inside; `sign` is 1 for outlines that run
    /// counter-clockwise and −1 for others.
    pub(super) fn facet_at(&self, at: &Vector2<f64>, sign: f64, slack: f64) -> Option<usize> {
        let mut best = None;
        for &(facet, [start, end]) in &self.facets {
            let mut inside = f64::INFINITY;
            for i in start..end {
                let p = self.corners[self.outlines[i]].at;
                let q = self.corners[self.outlines[if i + 1 == end { start } else { i + 1 }]].at;
                let e = q - p;
                let length = e.norm();
                // a side along the normal has no length here and bounds nothing
                if length > slack {
                    inside = inside.min(sign * e.perp(&(at - p)) / length);
                }
                if inside < -slack {
                    break;
                }
            }
            if inside >= -slack && inside < f64::INFINITY && best.is_none_or(|(_, b)| inside > b) {
                best = Some((facet, inside));
            }
        }
        best.map(|(facet, _)| facet)
    }
}
