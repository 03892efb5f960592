//! Linear equations of a Newton step, with the contacts eliminated into the space of velocities, assembled and factored
//! over the graph of bodies and joints:
//! `(M̃ + Jᵀ S J) dv + νᵀ (−dc_ν) = …`, `ν dv − (C + δ)(−dc_ν) = …`.

use super::island::{Island, Lane, WORLD, add, number, scaled, wide};
use crate::factor::{BlockMatrix, Node, Product, Slot};
use std::time::Instant;

/// Proximal term δ of joint rows, relative to their diagonal of W [-]. Redundant rows make the equations singular without
/// it; repeated steps remove its effect. Sensible range 1e-13 to 1e-6: lower is lost in rounding, higher takes more steps.
const JOINT_PROXIMAL: f64 = 1e-10;

/// Linear response S of a contact's impulse to its speeds: dr = p − S du [N s per m/s].
#[derive(Debug, Clone, Copy)]
pub(super) struct ContactStiffness<const T: usize> {
    pub(super) nn: f64,
    pub(super) tn: [f64; T],
    pub(super) tt: [[f64; T]; T],
}

impl<const T: usize> Default for ContactStiffness<T> {
    fn default() -> Self {
        Self { nn: 0.0, tn: [0.0; T], tt: [[0.0; T]; T] }
    }
}

/// Newton matrix of an island: pattern, entries, factors.
#[derive(Debug, Clone, Default)]
pub(super) struct Equations {
    matrix: BlockMatrix,
    nodes: Vec<Node>,
    edges: Vec<(u32, u32)>,
    /// Slots of the blocks of M̃ and of each joint block.
    mass: Vec<Slot>,
    joint_blocks: Vec<[Slot; 5]>,
    /// Jᵀ S J of the contacts of two bodies each: J and S J, body after body.
    products: Vec<Product>,
    rows: Vec<Lane>,
    pushes: Vec<Lane>,
    /// Unknowns and right-hand side, node after node.
    x: Vec<f64>,
    /// Whether to measure the time of layouts and factorizations.
    pub(super) timed: bool,
    /// Time measured so far [s].
    pub(super) seconds: f64,
}

impl Equations {
    /// Prepares the pattern of an island.
    pub(super) fn lay_out<const T: usize>(&mut self, island: &Island<T>) {
        let begun = self.timed.then(Instant::now);
        let bodies = island.bodies.len();
        self.nodes.clear();
        self.nodes.extend(island.start.windows(2).map(|s| Node { size: s[1] - s[0], saddle: false }));
        self.nodes.extend(island.joint_blocks.iter().map(|h| Node { size: h.rows, saddle: true }));
        self.edges.clear();
        self.edges.extend(island.mass.iter().filter(|m| m.0 < m.1).map(|m| (m.0, m.1)));
        for (i, joint) in island.joint_blocks.iter().enumerate() {
            let node = number(bodies + i);
            self.edges.extend(joint.bodies.iter().filter(|b| **b != WORLD).map(|&b| (b, node)));
        }
        let mut last = [WORLD; 2];
        for contact in &island.contacts {
            if contact.bodies != last && contact.bodies[1] != WORLD {
                self.edges.push((contact.bodies[0], contact.bodies[1]));
            }
            last = contact.bodies;
        }
        self.matrix.lay_out(&self.nodes, &self.edges);
        let slot = |a: u32, b: u32| self.matrix.slot(a as usize, b as usize);
        self.mass.clear();
        self.mass.extend(island.mass.iter().map(|m| slot(m.0, m.1)));
        self.rows.clear();
        self.products.clear();
        for group in island.contacts.chunk_by(|a, b| a.bodies == b.bodies) {
            let bodies = group[0].bodies;
            let (begin, count) = (self.rows.len(), group.len() * (1 + T));
            for side in 0..sides(bodies) {
                for contact in group {
                    self.rows.push(contact.n[side]);
                    self.rows.extend(contact.t.iter().map(|t| t[side]));
                }
            }
            for p in 0..sides(bodies) {
                for q in 0..sides(bodies) {
                    let slot = slot(bodies[p], bodies[q]);
                    let (rows, columns) = (begin + p * count, begin + q * count);
                    self.products.push(Product { slot, rows, columns, count });
                }
            }
        }
        self.joint_blocks.clear();
        for (i, joint) in island.joint_blocks.iter().enumerate() {
            let node = number(bodies + i);
            let [a, b] = joint.bodies;
            let second = if b == WORLD { a } else { b };
            self.joint_blocks.push([
                slot(node, node),
                slot(a, node),
                slot(node, a),
                slot(second, node),
                slot(node, second),
            ]);
        }
        self.seconds += elapsed(begun);
    }

    /// Assembles and factors; `false` if the matrix is singular or not finite.
    pub(super) fn factor<const T: usize>(
        &mut self,
        island: &Island<T>,
        stiffness: &[ContactStiffness<T>],
    ) -> bool {
        let begun = self.timed.then(Instant::now);
        wide(
            #[inline(always)]
            || self.respond(island, stiffness),
        );
        self.assemble_and_factor(island, begun)
    }

    /// Assembles and factors with any response of the contacts: `respond` adds S J of contact i for one of its bodies,
    /// normal row first, to a list.
    pub(super) fn factor_with<const T: usize>(
        &mut self,
        island: &Island<T>,
        respond: impl Fn(usize, usize, &mut Vec<Lane>),
    ) -> bool {
        let begun = self.timed.then(Instant::now);
        self.pushes.clear();
        let mut i = 0;
        for group in island.contacts.chunk_by(|a, b| a.bodies == b.bodies) {
            for side in 0..sides(group[0].bodies) {
                (i..i + group.len()).for_each(|contact| respond(contact, side, &mut self.pushes));
            }
            i += group.len();
        }
        self.assemble_and_factor(island, begun)
    }

    /// Assembles the matrix from masses, joints and the responses of the contacts, and factors it.
    fn assemble_and_factor<const T: usize>(&mut self, island: &Island<T>, begun: Option<Instant>) -> bool {
        self.matrix.clear();
        for (slot, (_, _, block)) in self.mass.iter().zip(&island.mass) {
            let lanes = if slot.is_transposed() { *block } else { transposed(block) };
            self.matrix.add_lanes(*slot, &lanes);
        }
        self.matrix.add_products(&self.products, &self.rows, &self.pushes);
        for (joint, slots) in island.joint_blocks.iter().zip(&self.joint_blocks) {
            let mut own = [[0.0; 8]; 6];
            for r in 0..joint.rows {
                own[r][r] = -(joint.compliance[r] + JOINT_PROXIMAL * joint.w[r]);
            }
            self.matrix.add_lanes(slots[0], &own);
            for (side, _) in joint.bodies.iter().enumerate().filter(|(_, b)| **b != WORLD) {
                let rows: [Lane; 6] = std::array::from_fn(|r| joint.j[r][side]);
                // ν in the rows of the joint, νᵀ in its columns: one of the two is stored by rows
                let [column, row] = [slots[1 + 2 * side], slots[2 + 2 * side]];
                let turned = transposed(&rows);
                self.matrix.add_lanes(column, if column.is_transposed() { &turned } else { &rows });
                self.matrix.add_lanes(row, if row.is_transposed() { &rows } else { &turned });
            }
        }
        let regular = self.matrix.factor();
        self.seconds += elapsed(begun);
        regular
    }

    /// S J of all contacts, in the order of J.
    #[inline(always)]
    fn respond<const T: usize>(&mut self, island: &Island<T>, stiffness: &[ContactStiffness<T>]) {
        self.pushes.clear();
        let mut i = 0;
        for group in island.contacts.chunk_by(|a, b| a.bodies == b.bodies) {
            for side in 0..sides(group[0].bodies) {
                for (contact, s) in group.iter().zip(&stiffness[i..]) {
                    self.pushes
                        .push(scaled(if contact.is_bound_by_other() { 0.0 } else { s.nn }, &contact.n[side]));
                    for k in 0..T {
                        let mut push = scaled(s.tn[k], &contact.n[side]);
                        (0..T).for_each(|l| add(&mut push, s.tt[k][l], &contact.t[l][side]));
                        self.pushes.push(push);
                    }
                }
            }
            i += group.len();
        }
    }

    /// Solves for dv and dc_ν. The right-hand sides, missing momentum of the bodies and missing speed of the joint rows,
    /// are overwritten.
    pub(super) fn solve<const T: usize>(
        &mut self,
        island: &Island<T>,
        momentum: &mut [Lane],
        joints: &mut [[f64; 6]],
    ) {
        self.x.clear();
        for (p, s) in momentum.iter().zip(island.start.windows(2)) {
            self.x.extend_from_slice(&p[..s[1] - s[0]]);
        }
        for (c, joint) in joints.iter().zip(&island.joint_blocks) {
            self.x.extend_from_slice(&c[..joint.rows]);
        }
        self.matrix.solve(&mut self.x);
        for (p, s) in momentum.iter_mut().zip(island.start.windows(2)) {
            p[..s[1] - s[0]].copy_from_slice(&self.x[s[0]..s[1]]);
        }
        let mut at = island.velocities();
        for (c, joint) in joints.iter_mut().zip(&island.joint_blocks) {
            for r in 0..joint.rows {
                c[r] = -self.x[at + r];
            }
            at += joint.rows;
        }
    }
}

/// Number of bodies among the two ends.
fn sides(bodies: [u32; 2]) -> usize {
    if bodies[1] == WORLD { 1 } else { 2 }
}

fn elapsed(begun: Option<Instant>) -> f64 {
    begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64())
}

fn transposed(block: &[Lane; 6]) -> [Lane; 6] {
    std::array::from_fn(|i| std::array::from_fn(|j| if j < 6 { block[j][i] } else { 0.0 }))
}
