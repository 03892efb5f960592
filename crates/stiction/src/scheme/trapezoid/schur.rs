//! Rigid joints alone, directly: S = N M⁻¹ Nᵀ = UᵀD⁻¹U by blocks of joints. What bears, gives way or is redundant
//! takes the general way.

use super::frame::find_starts;
use super::sparsity::{Coupling, Sparsity, WIDEST};
use crate::system::{JointRow, System};
use nalgebra::Matrix6;
use stiction_lcp::Row;

/// A pivot below this part of its diagonal is none: the rows are redundant.
const SINGULAR: f64 = 1e-10;

/// Part of a correction that may be left: round-off of its own.
const LEFT: f64 = 1e-14;

/// Velocities of a body, or a number for each row of a group; what it does not have is zero.
type Six = [f64; WIDEST];

type Block = [Six; WIDEST];

/// The factored equations of rigid joints.
#[derive(Debug, Clone, Default)]
pub(super) struct Schur {
    bodies: Vec<Inertia>,
    starts: Vec<usize>,
    sparsity: Sparsity,
    /// N, by groups and sides, and M⁻¹Nᵀ.
    rows: Vec<[Block; 2]>,
    responses: Vec<[Block; 2]>,
    /// The diagonal blocks of U above their pivots, and UᵀD⁻¹ below them.
    upper: Vec<Block>,
    lower: Vec<Block>,
    /// What a pivot must be above, and the reciprocals of the pivots.
    least: Vec<Six>,
    over: Vec<Six>,
    /// The blocks of U beside the diagonal.
    beside: Vec<Block>,
    factored: bool,
    impulses: Vec<Six>,
    /// Nᵀ times the impulses, by bodies.
    pushes: Vec<Six>,
    /// What the last correction acted with: v changed by M⁻¹Nᵀ times this.
    pub(super) acted: Vec<f64>,
}

#[derive(Debug, Clone)]
struct Inertia {
    mass: Matrix6<f64>,
    inverse: Block,
}

impl Inertia {
    fn new(mass: &Matrix6<f64>, velocities: usize) -> Self {
        let own = |r: usize, c: usize| r < velocities && c < velocities;
        // velocities the body does not have take no part
        let filled =
            Matrix6::from_fn(|r, c| if own(r, c) { mass[(r, c)] } else { f64::from(u8::from(r == c)) });
        let inverse = filled.try_inverse().unwrap_or_else(Matrix6::zeros);
        let entry = |r, c| if own(r, c) { inverse[(r, c)] } else { 0.0 };
        Self { mass: *mass, inverse: std::array::from_fn(|r| std::array::from_fn(|c| entry(r, c))) }
    }

    /// M⁻¹ k.
    #[inline]
    fn respond(&self, k: &Six) -> Six {
        let mut out = Six::default();
        // the inverse is symmetric
        self.inverse.iter().zip(k).for_each(|(column, &k)| add(&mut out, k, column));
        out
    }
}

impl Schur {
    /// Factors the equations at (t, q); `false` if they are not of this kind or redundant.
    pub(super) fn factor<S: System + ?Sized>(
        &mut self,
        system: &S,
        at: (f64, &[f64]),
        joints: &[JointRow],
    ) -> bool {
        self.weigh(system, at);
        if !self.read(joints) {
            return false;
        }
        self.assemble();
        self.factored = self.eliminate();
        self.factored
    }

    /// Goes on to rows at a place beside the last, with the factor that is there: corrections with it leave as small a
    /// part as bodies have moved, once more as small a part of that.
    pub(super) fn go_on<S: System + ?Sized>(
        &mut self,
        system: &S,
        at: (f64, &[f64]),
        joints: &[JointRow],
    ) -> bool {
        self.weigh(system, at);
        self.read(joints) && (self.factored || self.factor(system, at, joints))
    }

    fn weigh<S: System + ?Sized>(&mut self, system: &S, (t, q): (f64, &[f64])) {
        let bodies = system.bodies();
        find_starts(system, &mut self.starts);
        self.bodies.truncate(bodies.len());
        for (i, &n) in bodies.iter().enumerate() {
            let mass = system.mass_at(i, t, q);
            match self.bodies.get_mut(i) {
                Some(known) if same(&known.mass, &mass) => {}
                Some(known) => *known = Inertia::new(&mass, n),
                None => self.bodies.push(Inertia::new(&mass, n)),
            }
        }
    }

    /// Reads N; `false` if it is not of this kind.
    fn read(&mut self, joints: &[JointRow]) -> bool {
        match self.sparsity.read(joints) {
            Some(true) => self.lay_out(),
            Some(false) => {}
            None => return false,
        }
        for (group, rows) in self.sparsity.groups.iter().zip(&mut self.rows) {
            for (r, joint) in joints[group.first..group.first + group.rows].iter().enumerate() {
                let Row::Bodies(terms) = &joint.row else { return false };
                terms.iter().zip(&mut *rows).for_each(|(term, rows)| rows[r] = term.j);
            }
        }
        true
    }

    fn lay_out(&mut self) {
        self.factored = false;
        let groups = self.sparsity.groups.len();
        for blocks in [&mut self.rows, &mut self.responses] {
            blocks.clear();
            blocks.resize(groups, Default::default());
        }
        for blocks in [&mut self.upper, &mut self.lower] {
            blocks.clear();
            blocks.resize(groups, Block::default());
        }
        self.over.clear();
        self.over.resize(groups, Six::default());
        self.least.resize(groups, Six::default());
        self.beside.resize(self.sparsity.with.len(), Block::default());
    }

    /// S.
    fn assemble(&mut self) {
        let Self { bodies, sparsity, rows, responses, upper, least, beside, .. } = self;
        for (k, group) in sparsity.groups.iter().enumerate() {
            let mut own = Block::default();
            for (side, &body) in group.bodies.iter().enumerate().take(group.sides) {
                let (rows, responses) = (&rows[k][side][..group.rows], &mut responses[k][side]);
                for (r, row) in rows.iter().enumerate() {
                    let response = bodies[body].respond(row);
                    responses.iter_mut().zip(response).for_each(|(of, x)| of[r] = x);
                }
                add_product(rows, responses, &mut own);
            }
            upper[k] = own;
            least[k] = std::array::from_fn(|r| SINGULAR * own[r][r]);
        }
        beside.fill(Block::default());
        for &Coupling { block, groups: [a, b], sides } in &sparsity.couplings {
            let rows = &rows[a][sides[0]][..sparsity.groups[a].rows];
            add_product(rows, &responses[b][sides[1]], &mut beside[block]);
        }
    }

    /// U, the rows of one group after another; `false` where a pivot is none.
    fn eliminate(&mut self) -> bool {
        let Self { sparsity, upper, lower, least, over, beside, .. } = self;
        let Sparsity { groups, order, beside: ranges, with, changed, .. } = &*sparsity;
        let mut changed = changed.iter();
        for &k in order {
            let rows = groups[k].rows;
            let (own, lower, over) = (&mut upper[k], &mut lower[k], &mut over[k]);
            for r in 0..rows {
                let (upto, below) = own.split_at_mut(r + 1);
                let upper = &mut upto[r];
                let pivot = upper[r];
                // written so that a NaN is refused as well
                if !(pivot > least[k][r]) {
                    return false;
                }
                over[r] = 1.0 / pivot;
                upper.iter_mut().enumerate().for_each(|(c, x)| *x = if c > r { *x } else { 0.0 });
                for s in r + 1..rows {
                    lower[s][r] = upper[s] * over[r];
                    add(&mut below[s - r - 1], -lower[s][r], upper);
                }
            }
            // what changes later stands behind
            let (upto, behind) = beside.split_at_mut(ranges[k].end);
            let row = &mut upto[ranges[k].start..];
            for block in &mut *row {
                for r in 0..rows {
                    let (upto, below) = block.split_at_mut(r + 1);
                    for s in r + 1..rows {
                        add(&mut below[s - r - 1], -lower[s][r], &upto[r]);
                    }
                }
            }
            for (i, (&a, block)) in with[ranges[k].clone()].iter().zip(&*row).enumerate() {
                take((rows, groups[a].rows), (block, over, block), &mut upper[a]);
                for (other, at) in row[i + 1..].iter().zip(&mut changed) {
                    take((rows, groups[a].rows), (block, over, other), &mut behind[at - ranges[k].end]);
                }
            }
        }
        true
    }

    /// v ← v − M⁻¹Nᵀ S⁻¹ (N v + rest), once more if round-off leaves something.
    pub(super) fn correct(&mut self, rest: impl Fn(usize) -> f64, v: &mut [f64]) {
        self.acted.clear();
        self.acted.extend(self.sparsity.groups.iter().flat_map(|group| std::iter::repeat_n(0.0, group.rows)));
        let mut first = 0.0;
        for pass in 0..2 {
            self.speeds(v);
            let mut size: f64 = 0.0;
            for (group, speeds) in self.sparsity.groups.iter().zip(&mut self.impulses) {
                for (k, speed) in speeds.iter_mut().enumerate().take(group.rows) {
                    *speed += rest(group.first + k);
                    size = size.max(speed.abs());
                }
            }
            if pass == 0 {
                first = size;
            } else if size <= LEFT * first {
                break;
            }
            self.solve();
            self.push(v);
        }
    }

    /// N v.
    fn speeds(&mut self, v: &[f64]) {
        self.impulses.clear();
        for (group, rows) in self.sparsity.groups.iter().zip(&self.rows) {
            let mut speeds = Six::default();
            for (rows, &body) in rows.iter().zip(&group.bodies).take(group.sides) {
                let v = padded(&v[self.starts[body]..self.starts[body + 1]]);
                speeds.iter_mut().zip(rows).for_each(|(speed, row)| *speed += dot(row, &v));
            }
            self.impulses.push(speeds);
        }
    }

    fn solve(&mut self) {
        let Self { sparsity, upper, lower, over, beside, impulses, .. } = self;
        let Sparsity { order, beside: ranges, with, .. } = &*sparsity;
        for &k in order {
            let mut x = impulses[k];
            let (upper, over) = (&upper[k], &over[k]);
            for r in 0..WIDEST {
                x[r] *= over[r];
                let known = x[r];
                add(&mut x, -known, &upper[r]);
            }
            impulses[k] = x;
            for block in ranges[k].clone() {
                let other = &mut impulses[with[block]];
                let mut sum = *other;
                beside[block].iter().zip(x).for_each(|(upper, x)| add(&mut sum, -x, upper));
                *other = sum;
            }
        }
        for &k in order.iter().rev() {
            let mut x = impulses[k];
            for block in ranges[k].clone() {
                let known = &impulses[with[block]];
                (0..WIDEST).for_each(|r| x[r] -= over[k][r] * dot(&beside[block][r], known));
            }
            let lower = &lower[k];
            for r in (0..WIDEST).rev() {
                let known = x[r];
                add(&mut x, -known, &lower[r]);
            }
            impulses[k] = x;
        }
    }

    /// v ← v − M⁻¹Nᵀ times the impulses.
    fn push(&mut self, v: &mut [f64]) {
        self.pushes.clear();
        self.pushes.resize(self.bodies.len(), Six::default());
        for ((group, rows), impulses) in self.sparsity.groups.iter().zip(&self.rows).zip(&self.impulses) {
            for (rows, &body) in rows.iter().zip(&group.bodies).take(group.sides) {
                let mut sum = self.pushes[body];
                rows.iter().zip(impulses).for_each(|(row, &x)| add(&mut sum, x, row));
                self.pushes[body] = sum;
            }
            let acted = &mut self.acted[group.first..group.first + group.rows];
            acted.iter_mut().zip(impulses).for_each(|(acted, x)| *acted -= x);
        }
        for ((own, push), starts) in self.bodies.iter().zip(&self.pushes).zip(self.starts.windows(2)) {
            let v = &mut v[starts[0]..starts[1]];
            v.iter_mut().zip(own.respond(push)).for_each(|(v, change)| *v -= change);
        }
    }

    /// M⁻¹ k.
    pub(super) fn respond(&self, k: &[f64], out: &mut Vec<f64>) {
        out.clear();
        for (own, starts) in self.bodies.iter().zip(self.starts.windows(2)) {
            let response = own.respond(&padded(&k[starts[0]..starts[1]]));
            out.extend(&response[..starts[1] - starts[0]]);
        }
    }
}

/// out ← out + rows · responses.
#[inline]
fn add_product(rows: &[Six], responses: &Block, out: &mut Block) {
    for (row, out) in rows.iter().zip(out) {
        let mut sum = *out;
        row.iter().zip(responses).for_each(|(&x, response)| add(&mut sum, x, response));
        *out = sum;
    }
}

/// out ← out − aᵀ D⁻¹ b of so many rows, for so many columns of a.
#[inline]
fn take((rows, columns): (usize, usize), (a, over, b): (&Block, &Six, &Block), out: &mut Block) {
    for (i, out) in out.iter_mut().enumerate().take(columns) {
        let mut sum = *out;
        a.iter().zip(b).zip(over).take(rows).for_each(|((a, b), over)| add(&mut sum, -a[i] * over, b));
        *out = sum;
    }
}

#[inline]
fn add(out: &mut Six, factor: f64, x: &Six) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out += factor * x);
}

#[inline]
fn dot(a: &Six, b: &Six) -> f64 {
    // in pairs: one sum would wait for itself
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])
}

#[inline]
fn padded(own: &[f64]) -> Six {
    if let Ok(whole) = <&Six>::try_from(own) {
        return *whole;
    }
    let mut out = Six::default();
    out.iter_mut().zip(own).for_each(|(out, own)| *out = *own);
    out
}

/// Without a branch for each number.
#[inline]
fn same(a: &Matrix6<f64>, b: &Matrix6<f64>) -> bool {
    a.as_slice().iter().zip(b.as_slice()).filter(|(a, b)| a != b).count() == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::RowKind;
    use nalgebra::{DMatrix, DVector};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Rows between bodies of six velocities and of fewer, so many for each two; the world is no body.
    fn joints(rng: &mut ChaCha8Rng, joined: &[(Option<usize>, usize, usize)]) -> Vec<JointRow> {
        let mut joints = Vec::new();
        for (joint, &(a, b, rows)) in (0..).zip(joined) {
            for _ in 0..rows {
                let mut j = || std::array::from_fn::<f64, 6, _>(|_| rng.random_range(-1.0..1.0));
                let row = match a {
                    Some(a) => Row::two(a, &j(), b, &j()),
                    None => Row::one(b, &j()),
                };
                joints.push(JointRow {
                    joint: crate::JointId(joint),
                    row,
                    error: 0.0,
                    drift: 0.0,
                    kind: RowKind::Rigid(0.0),
                });
            }
        }
        joints
    }

    fn schur(rng: &mut ChaCha8Rng, bodies: usize) -> Schur {
        let mut schur = Schur { starts: (0..=bodies).map(|i| 6 * i).collect(), ..Schur::default() };
        for _ in 0..bodies {
            let root = Matrix6::from_fn(|_, _| rng.random_range(-1.0..1.0));
            schur.bodies.push(Inertia::new(&(root * root.transpose() + Matrix6::identity()), 6));
        }
        schur
    }

    #[test]
    fn corrections_of_chains_trees_and_loops_are_those_of_the_whole_matrix() {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let chain = vec![(None, 0, 5), (Some(0), 1, 3), (Some(1), 2, 5), (Some(2), 3, 1)];
        let tree = vec![(Some(0), 1, 5), (None, 0, 2), (Some(0), 2, 5), (Some(0), 3, 4), (Some(2), 4, 3)];
        let closed = vec![(None, 0, 3), (Some(0), 1, 3), (Some(1), 2, 3), (Some(2), 3, 3), (None, 3, 3)];
        // two joints between the same bodies
        let doubled = vec![(Some(0), 1, 2), (Some(1), 0, 3), (Some(0), 1, 6)];
        for joined in [chain, tree, closed, doubled] {
            let joints = joints(rng, &joined);
            let bodies = 1 + joined.iter().map(|j| j.1).max().unwrap();
            let mut schur = schur(rng, bodies);
            assert!(schur.read(&joints));
            schur.assemble();
            assert!(schur.eliminate());
            let v: Vec<f64> = (0..6 * bodies).map(|_| rng.random_range(-1.0..1.0)).collect();
            let mut corrected = v.clone();
            schur.correct(|k| k as f64, &mut corrected);

            let mut mass = DMatrix::zeros(v.len(), v.len());
            schur
                .bodies
                .iter()
                .enumerate()
                .for_each(|(i, b)| mass.view_mut((6 * i, 6 * i), (6, 6)).copy_from(&b.mass));
            let mut n = DMatrix::zeros(joints.len(), v.len());
            joints.iter().enumerate().for_each(|(k, j)| j.row.for_each(&schur.starts, |i, x| n[(k, i)] += x));
            let inverse = mass.try_inverse().unwrap();
            let s = &n * &inverse * n.transpose();
            let v = DVector::from_vec(v);
            let speeds = &n * &v + DVector::from_fn(joints.len(), |k, _| k as f64);
            let impulses = s.clone().cholesky().unwrap().solve(&speeds);
            let expected = &v - inverse * n.transpose() * &impulses;
            let off = (expected - DVector::from_vec(corrected)).amax();
            assert!(off < 1e-9, "{joined:?}: {off}");
            let off = (impulses + DVector::from_vec(schur.acted.clone())).amax();
            assert!(off < 1e-9, "{joined:?}: {off}");
        }
    }
}
