//! Symbolic factorization: storage of the blocks of the factors, and the products that are subtracted from each panel.

use super::Node;
use super::dissect::Dissection;
use super::order::MinimumDegree;

/// Index of no node and no panel.
const NONE: usize = usize::MAX;

/// Largest number of nodes in a panel: sixteen blocks of a row and sixteen of a column stay in the first cache.
const MAX_PANEL_WIDTH: usize = 16;

/// Number of products of blocks above which nested dissection is tried: about ten milliseconds of factorization, several
/// times the cost of the search.
const DISSECTION_PRODUCTS: usize = 500_000;

/// Supernode: nodes that are eliminated one after the other and couple the same rows. Its blocks are stored row by row:
/// first the square of its own rows, then one row for each node it couples.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Panel {
    /// First node, by its place in the order of elimination.
    pub(super) first: usize,
    /// Number of nodes.
    pub(super) width: usize,
    /// First row below the square, in [`Symbolic::rows`].
    pub(super) rows: usize,
    /// Number of rows below the square.
    pub(super) height: usize,
    /// First block.
    pub(super) base: usize,
    /// First update, in [`Symbolic::updates`].
    pub(super) updates: usize,
    pub(super) update_count: usize,
    /// Number of products of blocks that it takes.
    pub(super) products: usize,
}

impl Panel {
    pub(super) fn blocks(&self) -> usize {
        self.width * (self.width + self.height)
    }
}

/// Update of a panel: the product of the rows of an earlier panel with those of them that are columns here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PanelUpdate {
    pub(super) source: usize,
    /// First row of the source that is a column here.
    pub(super) from: usize,
    /// Number of rows that are columns here.
    pub(super) columns: usize,
    /// First place of the source's rows here, in [`Symbolic::places`].
    pub(super) places: usize,
}

/// Structure of the factors, and the lists that find it. Storage is reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Symbolic {
    pub(super) panels: Vec<Panel>,
    pub(super) rows: Vec<usize>,
    pub(super) updates: Vec<PanelUpdate>,
    pub(super) places: Vec<usize>,
    /// Node at each place of the order.
    pub(super) node: Vec<usize>,
    /// Place of each node.
    pub(super) place: Vec<usize>,
    /// Rows of the node at each place.
    pub(super) sizes: Vec<usize>,
    /// The panel of each place.
    pub(super) panel: Vec<usize>,
    /// Number of blocks stored, with the unused upper triangles of the squares.
    pub(super) blocks: usize,
    /// Number of blocks used.
    pub(super) used: usize,
    pub(super) flops: f64,
    starts: Vec<usize>,
    neighbours: Vec<usize>,
    order: MinimumDegree,
    /// Order by degree alone.
    first: Vec<usize>,
    dissection: Dissection,
    /// Parent in the elimination tree.
    parent: Vec<usize>,
    ancestor: Vec<usize>,
    count: Vec<usize>,
    mark: Vec<usize>,
    child: Vec<usize>,
    sibling: Vec<usize>,
    stack: Vec<usize>,
    by_count: Vec<usize>,
}

fn refill(list: &mut Vec<usize>, length: usize, value: usize) {
    list.clear();
    list.resize(length, value);
}

impl Symbolic {
    pub(super) fn analyse(&mut self, nodes: &[Node], edges: &[(u32, u32)]) {
        self.adjacency(nodes.len(), edges);
        self.order.find(nodes, &self.starts, &self.neighbours, &[]);
        self.node.clone_from(&self.order.sequence);
        self.tree();
        self.dissect(nodes);
        self.postorder();
        self.tree();
        self.sizes.clear();
        self.sizes.extend(self.node.iter().map(|&i| nodes[i].size));
        self.split();
        self.fill_rows();
        self.list_updates();
        self.weigh();
    }

    /// Neighbours of each node, ascending and each once.
    fn adjacency(&mut self, n: usize, edges: &[(u32, u32)]) {
        let both = || edges.iter().flat_map(|&(a, b)| [(a as usize, b as usize), (b as usize, a as usize)]);
        refill(&mut self.starts, n + 1, 0);
        for (a, _) in both() {
            self.starts[a + 1] += 1;
        }
        for i in 0..n {
            self.starts[i + 1] += self.starts[i];
        }
        refill(&mut self.neighbours, self.starts[n], 0);
        self.count.clone_from(&self.starts);
        for (a, b) in both() {
            self.neighbours[self.count[a]] = b;
            self.count[a] += 1;
        }
        let mut to = 0;
        for i in 0..n {
            let from = std::mem::replace(&mut self.starts[i], to);
            let until = self.count[i];
            self.neighbours[from..until].sort_unstable();
            for p in from..until {
                let other = self.neighbours[p];
                if p == from || other != self.neighbours[p - 1] {
                    // already read: `to` never passes `p`
                    self.neighbours[to] = other;
                    to += 1;
                }
            }
        }
        self.starts[n] = to;
        self.neighbours.truncate(to);
    }

    /// Takes an order by nested dissection if that means less work. Graphs with joints are left to minimum degree.
    fn dissect(&mut self, nodes: &[Node]) {
        let products = |count: &[usize]| count.iter().map(|&c| (c + 1) * (c + 1)).sum::<usize>();
        let before = products(&self.count);
        if before < DISSECTION_PRODUCTS || nodes.iter().any(|node| node.saddle) {
            return;
        }
        self.first.clone_from(&self.node);
        self.dissection.find(&self.starts, &self.neighbours);
        self.order.find(nodes, &self.starts, &self.neighbours, &self.dissection.last);
        self.node.clone_from(&self.order.sequence);
        self.tree();
        if products(&self.count) >= before {
            self.node.clone_from(&self.first);
            self.tree();
        }
    }

    /// Elimination tree of the current order, and the number of nodes that each couples.
    fn tree(&mut self) {
        let n = self.node.len();
        refill(&mut self.place, n, 0);
        for (p, &i) in self.node.iter().enumerate() {
            self.place[i] = p;
        }
        refill(&mut self.parent, n, NONE);
        refill(&mut self.ancestor, n, NONE);
        refill(&mut self.count, n, 0);
        refill(&mut self.mark, n, NONE);
        for p in 0..n {
            let i = self.node[p];
            for &other in &self.neighbours[self.starts[i]..self.starts[i + 1]] {
                let mut q = self.place[other];
                while q < p {
                    let next = std::mem::replace(&mut self.ancestor[q], p);
                    if next == NONE {
                        self.parent[q] = p;
                        break;
                    }
                    q = next;
                }
            }
            // the row of p reaches from its neighbours up the tree
            self.mark[p] = p;
            for &other in &self.neighbours[self.starts[i]..self.starts[i + 1]] {
                let mut q = self.place[other];
                while q < p && self.mark[q] != p {
                    self.mark[q] = p;
                    self.count[q] += 1;
                    q = self.parent[q];
                }
            }
        }
    }

    /// Reorders so that each subtree is contiguous, the child that couples most just before its parent.
    fn postorder(&mut self) {
        let n = self.node.len();
        refill(&mut self.child, n + 1, NONE);
        refill(&mut self.sibling, n, NONE);
        self.by_count.clear();
        self.by_count.extend(0..n);
        let count = &self.count;
        self.by_count.sort_unstable_by_key(|&p| (count[p], p));
        // the last one put in front is visited last from a stack: roots and children, fewest first
        for &p in &self.by_count {
            let parent = if self.parent[p] == NONE { n } else { self.parent[p] };
            self.sibling[p] = self.child[parent];
            self.child[parent] = p;
        }
        self.stack.clear();
        self.ancestor.clear();
        let mut p = self.child[n];
        while p != NONE {
            self.stack.push(p);
            p = self.sibling[p];
        }
        while let Some(&p) = self.stack.last() {
            let mut c = std::mem::replace(&mut self.child[p], NONE);
            if c == NONE {
                self.stack.pop();
                self.ancestor.push(self.node[p]);
                continue;
            }
            while c != NONE {
                self.stack.push(c);
                c = self.sibling[c];
            }
        }
        self.node.clone_from(&self.ancestor);
    }

    /// Splits the order into panels.
    fn split(&mut self) {
        let n = self.node.len();
        self.panels.clear();
        refill(&mut self.panel, n, 0);
        let (mut base, mut rows, mut first) = (0, 0, 0);
        while first < n {
            let mut width = 1;
            while width < MAX_PANEL_WIDTH
                && first + width < n
                && self.parent[first + width - 1] == first + width
                && self.count[first + width - 1] == self.count[first + width] + 1
            {
                width += 1;
            }
            let height = self.count[first + width - 1];
            let panel = Panel { first, width, rows, height, base, ..Panel::default() };
            self.panel[first..first + width].fill(self.panels.len());
            self.panels.push(panel);
            (base, rows, first) = (base + panel.blocks(), rows + height, first + width);
        }
        self.blocks = base;
        refill(&mut self.rows, rows, 0);
    }

    /// The rows of each panel, ascending, and how many it updates.
    fn fill_rows(&mut self) {
        refill(&mut self.mark, self.panels.len(), NONE);
        refill(&mut self.count, self.panels.len(), 0);
        for p in 0..self.node.len() {
            let own = self.panel[p];
            self.mark[own] = p;
            let i = self.node[p];
            for &other in &self.neighbours[self.starts[i]..self.starts[i + 1]] {
                let place = self.place[other];
                if place >= p {
                    continue;
                }
                let mut s = self.panel[place];
                while self.mark[s] != p {
                    self.mark[s] = p;
                    let Panel { first, width, rows, .. } = self.panels[s];
                    self.rows[rows + self.count[s]] = p;
                    self.count[s] += 1;
                    s = self.panel[self.parent[first + width - 1]];
                }
            }
        }
    }

    /// Which earlier panels each panel is updated by, in the order of those.
    fn list_updates(&mut self) {
        for panel in &mut self.panels {
            panel.update_count = 0;
        }
        self.updates.clear();
        self.places.clear();
        for pass in 0..2 {
            for source in 0..self.panels.len() {
                let Panel { rows, height, .. } = self.panels[source];
                let mut from = 0;
                while from < height {
                    let target = self.panel[self.rows[rows + from]];
                    let end = self.panels[target].first + self.panels[target].width;
                    let below = &self.rows[rows + from..rows + height];
                    let columns = below.iter().take_while(|&&p| p < end).count();
                    if pass == 1 {
                        let at = self.panels[target].updates + self.panels[target].update_count;
                        self.updates[at] = PanelUpdate { source, from, columns, places: self.places.len() };
                        self.locate(target, rows + from..rows + height);
                    }
                    self.panels[target].update_count += 1;
                    from += columns;
                }
            }
            if pass == 0 {
                let mut at = 0;
                for panel in &mut self.panels {
                    panel.updates = at;
                    at += std::mem::take(&mut panel.update_count);
                }
                self.updates.resize(at, PanelUpdate::default());
            }
        }
    }

    /// Appends the places of rows in a panel that has them all.
    fn locate(&mut self, target: usize, rows: std::ops::Range<usize>) {
        let Panel { first, width, rows: own, height, .. } = self.panels[target];
        let mut at = 0;
        for p in &self.rows[rows] {
            if *p < first + width {
                self.places.push(p - first);
                continue;
            }
            while at < height && self.rows[own + at] < *p {
                at += 1;
            }
            self.places.push(width + at);
        }
    }

    /// Storage index of the block in this row and column, on or below the diagonal.
    pub(super) fn find(&self, row: usize, column: usize) -> Option<usize> {
        let panel = self.panels[self.panel[column]];
        let at = if row < panel.first + panel.width {
            row - panel.first
        } else {
            let below = &self.rows[panel.rows..panel.rows + panel.height];
            panel.width + below.binary_search(&row).ok()?
        };
        Some(panel.base + at * panel.width + column - panel.first)
    }

    /// Counts the multiplications and additions of a factorization.
    fn weigh(&mut self) {
        (self.flops, self.used) = (0.0, 0);
        for panel in &self.panels {
            self.used += panel.blocks() - panel.width * (panel.width - 1) / 2;
            let below = &self.rows[panel.rows..panel.rows + panel.height];
            let mut r: usize = below.iter().map(|&p| self.sizes[p]).sum();
            for p in (panel.first..panel.first + panel.width).rev() {
                let (k, rows) = (self.sizes[p] as f64, r as f64);
                // its own LU, the solves of both sides with it, and the products of both sides
                self.flops += 2.0 / 3.0 * k * k * k + 2.0 * k * k * rows + 2.0 * k * rows * rows;
                r += self.sizes[p];
            }
        }
        for k in 0..self.panels.len() {
            let Panel { width, height, updates, update_count, .. } = self.panels[k];
            let mut products = (0..width).map(|c| c * (2 * (width + height - c) - 1)).sum();
            for update in &self.updates[updates..updates + update_count] {
                let source = &self.panels[update.source];
                let rows = source.height - update.from;
                products += source.width * (0..update.columns).map(|j| 2 * (rows - j) - 1).sum::<usize>();
            }
            self.panels[k].products = products;
        }
    }
}
