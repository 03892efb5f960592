//! The linear equations of a Newton step, with the contacts eliminated into the space of velocities:
//! `(M̃ + Jᵀ S J) dv + νᵀ (−dc_ν) = …`, `ν dv − (C + δ)(−dc_ν) = …`.

use super::island::{Island, Lane, WORLD, number, scaled, wide};
use crate::sparse::{BlockMatrix, Node, Slot};
use std::time::Instant;

/// The proximal term of joint rows, as a part of their diagonal of W. Redundant rows make the equations singular
/// without it; repeated steps leave no trace of it.
const PROXIMAL: f64 = 1e-10;

/// How the impulse of a contact answers to its speeds: dr = p − S du [N s per m/s].
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer<const T: usize> {
    pub(super) nn: f64,
    pub(super) tn: [f64; T],
    pub(super) tt: [[f64; T]; T],
}

impl<const T: usize> Default for Answer<T> {
    fn default() -> Self {
        Self { nn: 0.0, tn: [0.0; T], tt: [[0.0; T]; T] }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Equations {
    matrix: BlockMatrix,
    nodes: Vec<Node>,
    edges: Vec<(u32, u32)>,
    /// Where the blocks of M̃, of each contact's pair of bodies and of each joint stand.
    mass: Vec<Slot>,
    touches: Vec<[Slot; 4]>,
    holds: Vec<[Slot; 5]>,
    /// Unknowns and right-hand side, node after node.
    x: Vec<f64>,
    /// Whether to measure, and what layouts and factorizations took then [s].
    pub(super) timed: bool,
    pub(super) seconds: f64,
}

impl Equations {
    /// Prepares the pattern of an island.
    pub(super) fn lay_out<const T: usize>(&mut self, island: &Island<T>) {
        let begun = self.timed.then(Instant::now);
        let bodies = island.bodies.len();
        self.nodes.clear();
        self.nodes.extend(island.start.windows(2).map(|s| Node { size: s[1] - s[0], saddle: false }));
        self.nodes.extend(island.holds.iter().map(|h| Node { size: h.rows, saddle: true }));
        self.edges.clear();
        self.edges.extend(island.mass.iter().filter(|m| m.0 < m.1).map(|m| (m.0, m.1)));
        for (i, hold) in island.holds.iter().enumerate() {
            let node = number(bodies + i);
            self.edges.extend(hold.bodies.iter().filter(|b| **b != WORLD).map(|&b| (b, node)));
        }
        let mut last = [WORLD; 2];
        for touch in &island.touches {
            if touch.bodies != last && touch.bodies[1] != WORLD {
                self.edges.push((touch.bodies[0], touch.bodies[1]));
            }
            last = touch.bodies;
        }
        self.matrix.lay_out(&self.nodes, &self.edges);
        let slot = |a: u32, b: u32| self.matrix.slot(a as usize, b as usize);
        self.mass.clear();
        self.mass.extend(island.mass.iter().map(|m| slot(m.0, m.1)));
        self.touches.clear();
        let mut last: Option<([u32; 2], [Slot; 4])> = None;
        for touch in &island.touches {
            let [a, b] = touch.bodies;
            let slots = match last {
                Some((bodies, slots)) if bodies == touch.bodies => slots,
                _ if b == WORLD => [slot(a, a); 4],
                _ => [slot(a, a), slot(a, b), slot(b, a), slot(b, b)],
            };
            last = Some((touch.bodies, slots));
            self.touches.push(slots);
        }
        self.holds.clear();
        for (i, hold) in island.holds.iter().enumerate() {
            let node = number(bodies + i);
            let [a, b] = hold.bodies;
            let second = if b == WORLD { a } else { b };
            self.holds.push([
                slot(node, node),
                slot(a, node),
                slot(node, a),
                slot(second, node),
                slot(node, second),
            ]);
        }
        self.seconds += elapsed(begun);
    }

    /// Assembles and factors; `false` when the matrix is singular or not finite.
    pub(super) fn factor<const T: usize>(&mut self, island: &Island<T>, answers: &[Answer<T>]) -> bool {
        let begun = self.timed.then(Instant::now);
        self.matrix.clear();
        for (slot, (_, _, block)) in self.mass.iter().zip(&island.mass) {
            let lanes = if slot.is_transposed() { *block } else { transposed(block) };
            self.matrix.add_lanes(*slot, &lanes);
        }
        wide(
            #[inline(always)]
            || self.add_touches(island, answers),
        );
        for (hold, slots) in island.holds.iter().zip(&self.holds) {
            let mut own = [[0.0; 8]; 6];
            for r in 0..hold.rows {
                own[r][r] = -(hold.compliance[r] + PROXIMAL * hold.w[r]);
            }
            self.matrix.add_lanes(slots[0], &own);
            for (side, _) in hold.bodies.iter().enumerate().filter(|(_, b)| **b != WORLD) {
                let rows: [Lane; 6] = std::array::from_fn(|r| hold.j[r][side]);
                // ν in the rows of the joint, νᵀ in its columns: one of the two is stored by rows
                let [column, row] = [slots[1 + 2 * side], slots[2 + 2 * side]];
                let turned = transposed(&rows);
                self.matrix.add_lanes(column, if column.is_transposed() { &turned } else { &rows });
                self.matrix.add_lanes(row, if row.is_transposed() { &rows } else { &turned });
            }
        }
        let regular = self.matrix.factor_on(rayon::current_num_threads());
        self.seconds += elapsed(begun);
        regular
    }

    /// Adds Jᵀ S J of all contacts.
    #[inline(always)]
    fn add_touches<const T: usize>(&mut self, island: &Island<T>, answers: &[Answer<T>]) {
        let mut i = 0;
        while i < island.touches.len() {
            let bodies = island.touches[i].bodies;
            let slots = self.touches[i];
            let mut blocks = [[[0.0; 8]; 6]; 4];
            let by_rows = slots.map(Slot::is_transposed);
            while i < island.touches.len() && island.touches[i].bodies == bodies {
                let (touch, s) = (&island.touches[i], &answers[i]);
                if bodies[1] == WORLD {
                    outer::<T, 1>(touch, s, by_rows, &mut blocks);
                } else {
                    outer::<T, 2>(touch, s, by_rows, &mut blocks);
                }
                i += 1;
            }
            let used = if bodies[1] == WORLD { 1 } else { 4 };
            for k in 0..used {
                self.matrix.add_lanes(slots[k], &blocks[k]);
            }
        }
    }

    /// Solves for dv and dc_ν from the momentum (bodies) and speed (joint rows) that are missing; both are
    /// overwritten.
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
        for (c, hold) in joints.iter().zip(&island.holds) {
            self.x.extend_from_slice(&c[..hold.rows]);
        }
        self.matrix.solve(&mut self.x);
        for (p, s) in momentum.iter_mut().zip(island.start.windows(2)) {
            p[..s[1] - s[0]].copy_from_slice(&self.x[s[0]..s[1]]);
        }
        let mut at = island.velocities();
        for (c, hold) in joints.iter_mut().zip(&island.holds) {
            for r in 0..hold.rows {
                c[r] = -self.x[at + r];
            }
            at += hold.rows;
        }
    }
}

fn elapsed(begun: Option<Instant>) -> f64 {
    begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64())
}

fn transposed(block: &[Lane; 6]) -> [Lane; 6] {
    std::array::from_fn(|i| std::array::from_fn(|j| if j < 6 { block[j][i] } else { 0.0 }))
}

/// blocks += Jᵀ S J of one contact, for its `B` bodies: aa, ab, ba, bb, by rows or by columns.
#[inline(always)]
fn outer<const T: usize, const B: usize>(
    touch: &super::island::Touch<T>,
    s: &Answer<T>,
    by_rows: [bool; 4],
    blocks: &mut [[Lane; 6]; 4],
) {
    for q in 0..B {
        // S J
        let n = scaled(if touch.rests() { 0.0 } else { s.nn }, &touch.n[q]);
        let mut t = [[0.0; 8]; T];
        for k in 0..T {
            for i in 0..8 {
                let mut x = s.tn[k] * touch.n[q][i];
                for l in 0..T {
                    x += s.tt[k][l] * touch.t[l][q][i];
                }
                t[k][i] = x;
            }
        }
        for p in 0..B {
            let block = &mut blocks[2 * p + q];
            if by_rows[2 * p + q] {
                rank::<T>(&touch.n[p], |k| &touch.t[k][p], &n, |k| &t[k], block);
            } else {
                rank::<T>(&n, |k| &t[k], &touch.n[p], |k| &touch.t[k][p], block);
            }
        }
    }
}

/// block[i] += a[i] · b over the normal and the tangents.
#[inline(always)]
fn rank<'a, const T: usize>(
    a: &Lane,
    a_t: impl Fn(usize) -> &'a Lane,
    b: &Lane,
    b_t: impl Fn(usize) -> &'a Lane,
    block: &mut [Lane; 6],
) {
    for i in 0..6 {
        for j in 0..8 {
            let mut x = a[i] * b[j];
            for k in 0..T {
                x += a_t(k)[i] * b_t(k)[j];
            }
            block[i][j] += x;
        }
    }
}
