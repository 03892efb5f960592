//! Which facets, edges and vertices of a polyhedron meet.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::climb::Graph;

/// The surface of a polyhedron without its coordinates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Topology {
    /// Where each facet begins in the lists below; one more than there are facets.
    pub(super) starts: Vec<u32>,
    /// Vertices of each facet, counter-clockwise seen from outside.
    pub(super) corners: Vec<u32>,
    /// The facet across the side from a corner to the next.
    pub(super) neighbours: Vec<u32>,
    /// The edge from a corner to the next.
    pub(super) sides: Vec<u32>,
    /// Ends of each edge, the smaller first.
    pub(super) edges: Vec<[u32; 2]>,
    /// How many vertices there are.
    pub(super) vertices: usize,
    /// Where each vertex begins in the list after; one more than there are vertices.
    spokes: Vec<u32>,
    /// The other ends of the edges at each vertex.
    ends: Vec<u32>,
}

impl Topology {
    /// The surface with these facets; an error says why it is none.
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
            spokes: Vec::with_capacity(vertices + 1),
            ends: Vec::with_capacity(half_edges.len()),
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
        found.add_spokes();
        Ok(found)
    }

    fn add_spokes(&mut self) {
        let mut halves: Vec<[u32; 2]> = self.edges.iter().flat_map(|&[u, v]| [[u, v], [v, u]]).collect();
        halves.sort_unstable();
        self.spokes.push(0);
        for [from, to] in halves {
            let begun = self.spokes.len() - 1;
            // vertices before this one are complete
            let here = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
            self.spokes.extend((begun..from as usize).map(|_| here));
            self.ends.push(to);
        }
        let all = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.spokes.resize(self.vertices + 1, all);
    }

    /// Which vertices share an edge.
    pub(super) fn graph(&self) -> Graph<'_> {
        Graph { starts: &self.spokes, neighbours: &self.ends }
    }

    /// The surface of a box. Facet 2i lies on the negative side of axis i and facet 2i + 1 on the positive
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

    pub(super) fn facets(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where the corners and sides of a facet stand in the lists.
    pub(super) fn range(&self, facet: usize) -> std::ops::Range<usize> {
        self.starts[facet] as usize..self.starts[facet + 1] as usize
    }
}
