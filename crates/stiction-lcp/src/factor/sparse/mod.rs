//! Sparse block LU factorization over the graph of bodies and joints: Newton matrices of the structured methods.
//!
//! Contacts between bodies, and joints with their bodies, are the edges of the graph; the matrix has one block per node
//! and edge. `A = L U` is computed without pivoting across blocks, with pivoting inside diagonal blocks. Chains and trees
//! have no fill; the work on a chain is proportional to its length.

mod dissect;
mod kernels;
mod numeric;
mod order;
mod parallel;
mod symbolic;
#[cfg(test)]
mod tests;

use kernels::Block;
use numeric::Numeric;
use symbolic::Symbolic;

/// Node of the graph: a body or a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    /// Number of rows, 1 to 6.
    pub(crate) size: usize,
    /// `true` for the multipliers of a joint: their diagonal block is zero or nearly so, and they are eliminated only after
    /// bodies they are connected with.
    pub(crate) saddle: bool,
}

/// Storage place of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    at: u32,
    #[cfg(test)]
    size: [usize; 2],
    /// `true` above the diagonal, where blocks are stored transposed.
    upper: bool,
}

/// Sum of outer products that is added to a slot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Product {
    pub(crate) slot: Slot,
    /// First of the factors for the rows of the block.
    pub(crate) rows: usize,
    /// First of the factors for the columns of the block.
    pub(crate) columns: usize,
    /// Number of products.
    pub(crate) count: usize,
}

/// Cost of a factorization.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    /// Number of multiplications and additions.
    pub(crate) flops: f64,
    /// Number of blocks of L; U has as many.
    pub(crate) blocks: usize,
}

/// Square matrix of blocks with symmetric pattern; after factorization, its LU factors.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockMatrix {
    nodes: Vec<Node>,
    edges: Vec<(u32, u32)>,
    /// First row of each node.
    starts: Vec<usize>,
    symbolic: Symbolic,
    /// Entries if no node has more than three rows, as with planar bodies.
    planar: Numeric<3, 4>,
    spatial: Numeric<6, 8>,
    is_planar: bool,
}

impl Slot {
    /// `true` if the block is stored by rows.
    pub(crate) fn is_transposed(self) -> bool {
        self.upper
    }
}

impl BlockMatrix {
    /// Sets nodes and edges. If they are those of the last call, the analysis and the entries are kept; else all entries
    /// are zero afterwards.
    pub(crate) fn lay_out(&mut self, nodes: &[Node], edges: &[(u32, u32)]) {
        if self.nodes == nodes && self.edges == edges {
            return;
        }
        debug_assert!(nodes.iter().all(|node| (1..=6).contains(&node.size)));
        debug_assert!(edges.iter().all(|(a, b)| a != b));
        self.nodes.clear();
        self.nodes.extend_from_slice(nodes);
        self.edges.clear();
        self.edges.extend_from_slice(edges);
        self.starts.clear();
        let begins = nodes.iter().scan(0, |at, node| {
            *at += node.size;
            Some(*at - node.size)
        });
        self.starts.extend(begins);
        self.symbolic.analyse(nodes, edges);
        self.is_planar = nodes.iter().all(|node| node.size <= 3);
        if self.is_planar {
            self.planar.lay_out(&self.symbolic);
        } else {
            self.spatial.lay_out(&self.symbolic);
        }
    }

    /// Slot of the block in the rows of `a` and the columns of `b`, which are the same node or connected by an edge. It is
    /// valid until other nodes or edges are set.
    ///
    /// # Panics
    ///
    /// If no edge joins the two, nor any fill.
    pub(crate) fn slot(&self, a: usize, b: usize) -> Slot {
        let (p, q) = (self.symbolic.place[a], self.symbolic.place[b]);
        let at = self.symbolic.find(p.max(q), p.min(q)).expect("an edge joins the two nodes");
        Slot {
            at: u32::try_from(at).expect("2³² blocks of 72 bytes or more do not fit into memory"),
            #[cfg(test)]
            size: [self.nodes[a].size, self.nodes[b].size],
            upper: p < q,
        }
    }

    /// Sets all entries to zero, before a new assembly.
    pub(crate) fn clear(&mut self) {
        if self.is_planar {
            self.planar.clear();
        } else {
            self.spatial.clear();
        }
    }

    /// Adds the entries of a block, row by row.
    #[cfg(test)]
    pub(crate) fn add(&mut self, slot: Slot, entries: &[f64]) {
        let columns = slot.size[1];
        self.add_by(slot, |i, j| entries[i * columns + j]);
    }

    /// Adds a block given as it is stored: by columns, or by rows if the slot is [`Slot::is_transposed`]. Entries beyond
    /// the block's size must be zero.
    #[inline(always)]
    pub(crate) fn add_lanes(&mut self, slot: Slot, lanes: &[[f64; 8]; 6]) {
        let at = slot.at as usize;
        if self.is_planar {
            let Numeric { lower, upper, .. } = &mut self.planar;
            add_lanes(if slot.upper { &mut upper[at] } else { &mut lower[at] }, lanes);
        } else {
            let Numeric { lower, upper, .. } = &mut self.spatial;
            add_lanes(if slot.upper { &mut upper[at] } else { &mut lower[at] }, lanes);
        }
    }

    /// Adds Σ_k a_k b_kᵀ to each product's block, with a of `rows` and b of `columns`, both padded.
    pub(crate) fn add_products(&mut self, products: &[Product], rows: &[[f64; 8]], columns: &[[f64; 8]]) {
        if self.is_planar {
            self.planar.add_products(products, rows, columns);
        } else {
            self.spatial.add_products(products, rows, columns);
        }
    }

    #[cfg(test)]
    fn add_by(&mut self, slot: Slot, entry: impl Fn(usize, usize) -> f64) {
        if self.is_planar {
            let Numeric { lower, upper, .. } = &mut self.planar;
            add(if slot.upper { upper } else { lower }, slot, entry);
        } else {
            let Numeric { lower, upper, .. } = &mut self.spatial;
            add(if slot.upper { upper } else { lower }, slot, entry);
        }
    }

    /// Factors in place, large panels in parallel with the same bits; `false` if a diagonal block is singular or not finite
    /// when it is eliminated.
    pub(crate) fn factor(&mut self) -> bool {
        if self.is_planar { self.planar.factor(&self.symbolic) } else { self.spatial.factor(&self.symbolic) }
    }

    /// x ← A⁻¹ x after a factorization, node after node in the order given.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        if self.is_planar {
            self.planar.solve(&self.symbolic, &self.starts, x);
        } else {
            self.spatial.solve(&self.symbolic, &self.starts, x);
        }
    }

    /// Cost of one factorization.
    #[cfg(test)]
    pub(crate) fn work(&self) -> Cost {
        Cost { flops: self.symbolic.flops, blocks: self.symbolic.used }
    }
}

#[cfg(test)]
fn add<const C: usize, const P: usize>(
    blocks: &mut [Block<C, P>],
    slot: Slot,
    entry: impl Fn(usize, usize) -> f64,
) {
    let block = &mut blocks[slot.at as usize].0;
    for i in 0..slot.size[0] {
        for j in 0..slot.size[1] {
            let (column, row) = if slot.upper { (i, j) } else { (j, i) };
            block[column][row] += entry(i, j);
        }
    }
}

#[inline(always)]
fn add_lanes<const C: usize, const P: usize>(block: &mut Block<C, P>, lanes: &[[f64; 8]; 6]) {
    for (own, lane) in block.0.iter_mut().zip(lanes) {
        for i in 0..P {
            own[i] += lane[i];
        }
    }
}
