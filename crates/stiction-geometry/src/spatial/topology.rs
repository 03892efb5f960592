//! Topology of a polyhedron: adjacency of its facets, edges and vertices, without coordinates.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::climb::CornerGraph;

/// Surface of a polyhedron without its coordinates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Topology {
    /// Start of each facet in `corners`, `neighbours` and `sides`; one more than there are facets.
    pub(super) starts: Vec<u32>,
    /// Vertices of each facet, counter-clockwise seen from outside.
    pub(super) corners: Vec<u32>,
    /// Facet across the side from a corner to the next.
    pub(super) neighbours: Vec<u32>,
    /// Edge from a corner to the next.
    pub(super) sides: Vec<u32>,
    /// Ends of each edge, the smaller first.
    pub(super) edges: Vec<[u32; 2]>,
    /// Number of vertices.
    pub(super) vertices: usize,
    /// Start of each vertex in `edge_ends`; one more than there are vertices.
    edge_starts: Vec<u32>,
    /// Other ends of the edges at each vertex.
    edge_ends: Vec<u32>,
}

impl Topology {
    /// Surface with these facets; the error says why it is not closed.
    pub(super) fn new(vertices: usize, facets: &[Vec<u32>]) -> Result<Self, &'static str> {
        let index = |i: usize| u32::try_from(i).unwrap_or(u32::MAX);
        let mut half_edges = HashMap::new();
        for (f, corners) in facets.iter().enumerate() {
            if corners.len() < 3 {
                return Err("a facet has fewer than three corners");
            }
            for (i, &u) in corners.iter().enumerate() {
                let v = corners[(i + 1) % corners.len()];
                if half_edges.insert((u, v), index(f)).is_some() {
                    return Err("an edge belongs to more than two facets");
                }
            }
        }

        let mut found = Self {
            starts: vec![0],
            corners: Vec::with_capacity(half_edges.len()),
            neighbours: Vec::with_capacity(half_edges.len()),
            sides: Vec::with_capacity(half_edges.len()),
            edges: Vec::with_capacity(half_edges.len() / 2),
            vertices,
            edge_starts: Vec::with_capacity(vertices + 1),
            edge_ends: Vec::with_capacity(half_edges.len()),
        };
        let mut edge_of = HashMap::new();
        for corners in facets {
            for (i, &u) in corners.iter().enumerate() {
                let v = corners[(i + 1) % corners.len()];
                let Some(&across) = half_edges.get(&(v, u)) else {
                    return Err("an edge belongs to one facet only");
                };
                let ends = [u.min(v), u.max(v)];
                let side = *edge_of.entry(ends).or_insert_with(|| {
                    found.edges.push(ends);
                    index(found.edges.len() - 1)
                });
                found.corners.push(u);
                found.neighbours.push(across);
                found.sides.push(side);
            }
            found.starts.push(index(found.corners.len()));
        }

        // V − E + F = 2
        if vertices + facets.len() != found.edges.len() + 2 {
            return Err("vertices, edges and facets do not fulfil Euler's formula");
        }
        found.index_edges_by_vertex();
        Ok(found)
    }

    fn index_edges_by_vertex(&mut self) {
        let mut halves: Vec<[u32; 2]> = self.edges.iter().flat_map(|&[u, v]| [[u, v], [v, u]]).collect();
        halves.sort_unstable();
        self.edge_starts.push(0);
        for [from, to] in halves {
            let begun = self.edge_starts.len() - 1;
            // vertices before this one are complete
            let here = u32::try_from(self.edge_ends.len()).unwrap_or(u32::MAX);
            self.edge_starts.extend((begun..from as usize).map(|_| here));
            self.edge_ends.push(to);
        }
        let all = u32::try_from(self.edge_ends.len()).unwrap_or(u32::MAX);
        self.edge_starts.resize(self.vertices + 1, all);
    }

    /// Adjacency of the vertices.
    pub(super) fn graph(&self) -> CornerGraph<'_> {
        CornerGraph { starts: &self.edge_starts, neighbours: &self.edge_ends }
    }

    /// Surface of a box. Facet 2i lies on the negative side of axis i and facet 2i + 1 on the positive
    /// one; bit i of a vertex says on which side of axis i it lies.
    pub(super) fn of_box() -> &'static Self {
        static BOX: LazyLock<Topology> = LazyLock::new(|| {
            let facets = (0..6).map(|f: u32| {
                let (axis, side) = (f / 2, f % 2);
                let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
                let base = side << axis;
                let mut corners = vec![base, base | u, base | u | v, base | v];
                if side == 0 {
                    corners.reverse();
                }
                corners
            });
            Topology::new(8, &facets.collect::<Vec<_>>()).expect("a box is closed")
        });
        &BOX
    }

    /// Number of facets.
    pub(super) fn facets(&self) -> usize {
        self.starts.len() - 1
    }

    /// Range of the corners and sides of a facet in the lists.
    pub(super) fn range(&self, facet: usize) -> std::ops::Range<usize> {
        self.starts[facet] as usize..self.starts[facet + 1] as usize
    }

    /// Vertices at both ends of side `i` of a facet, `i` in its range.
    pub(super) fn side(&self, facet: usize, i: usize) -> [u32; 2] {
        let range = self.range(facet);
        [self.corners[i], self.corners[if i + 1 == range.end { range.start } else { i + 1 }]]
    }
}
