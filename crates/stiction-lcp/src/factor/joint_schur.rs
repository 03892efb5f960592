//! SixBySix factorization of the Schur complement S = N M⁻¹ Nᵀ of rigid joints, S = UᵀD⁻¹U over groups of joint rows. It
//! projects velocities and displacements onto independent, rigid joint rows; contacts, compliance and redundant rows
//! need the general solvers.

use super::joint_pattern::{Coupling, GROUP_ROWS, JointPattern, JointTerms};
use nalgebra::Matrix6;

/// Relative size of a pivot that counts as zero: `pivot ≤ REDUNDANT_PIVOT · diagonal entry of S` [-]. The rows are then
/// redundant and the factorization is refused. Sensible range 1e-13 to 1e-8: smaller values divide by rounding errors,
/// larger values refuse mechanisms near a singular position.
const REDUNDANT_PIVOT: f64 = 1e-10;

/// Part of a correction below which no second pass is made: `max|N v + rest|` after the first pass relative to the value
/// before [-]. Sensible range 1e-15 to 1e-12: smaller values always repeat, larger values leave errors above rounding.
const SECOND_PASS: f64 = 1e-14;

/// Velocities of a body, or one number per row of a group, padded with zeros.
type Six = [f64; GROUP_ROWS];

type SixBySix = [Six; GROUP_ROWS];

/// Factored equations of rigid joints.
///
/// With masses set and rows factored, [`JointSchur::correct`] computes v − M⁻¹Nᵀ S⁻¹ (N v + rest).
#[derive(Debug, Clone, Default)]
pub struct JointSchur {
    bodies: Vec<BodyInertia>,
    /// First velocity of each body, and the number of velocities.
    starts: Vec<usize>,
    pattern: JointPattern,
    /// N by groups and sides, and M⁻¹Nᵀ.
    rows: Vec<[SixBySix; 2]>,
    responses: Vec<[SixBySix; 2]>,
    /// Diagonal blocks of U above their pivots, and UᵀD⁻¹ below them.
    upper: Vec<SixBySix>,
    lower: Vec<SixBySix>,
    /// Lower bounds of the pivots, and the reciprocals of the pivots.
    least: Vec<Six>,
    over: Vec<Six>,
    /// Off-diagonal blocks of U.
    beside: Vec<SixBySix>,
    factored: bool,
    /// Right-hand side N v + rest, then the solution of S x = N v + rest.
    x: Vec<Six>,
    /// Nᵀ times the impulses, by bodies.
    pushes: Vec<Six>,
    impulses: Vec<f64>,
}

#[derive(Debug, Clone)]
struct BodyInertia {
    mass: Matrix6<f64>,
    inverse: SixBySix,
}

impl BodyInertia {
    fn new(mass: &Matrix6<f64>, velocities: usize) -> Self {
        let own = |r: usize, c: usize| r < velocities && c < velocities;
        // velocities that the body does not have are decoupled by a unit diagonal
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

impl JointSchur {
    /// Sets the mass matrix of each body, and its number of velocities. Inverses of unchanged masses are kept.
    pub fn set_masses(&mut self, bodies: impl ExactSizeIterator<Item = (usize, Matrix6<f64>)>) {
        self.bodies.truncate(bodies.len());
        self.starts.clear();
        self.starts.push(0);
        let mut velocities = 0;
        for (i, (n, mass)) in bodies.enumerate() {
            velocities += n;
            self.starts.push(velocities);
            match self.bodies.get_mut(i) {
                Some(known) if same(&known.mass, &mass) => {}
                Some(known) => *known = BodyInertia::new(&mass, n),
                None => self.bodies.push(BodyInertia::new(&mass, n)),
            }
        }
    }

    /// Factors the equations of `count` rows; `row(k)` is `None` for a row that is not rigid. Returns `false` if a row
    /// is none of one or two different bodies, or if the rows are redundant.
    pub fn factor<'a>(&mut self, count: usize, row: impl Fn(usize) -> Option<JointTerms<'a>>) -> bool {
        if !self.read(count, row) {
            return false;
        }
        self.assemble();
        self.factored = self.eliminate();
        self.factored
    }

    /// Takes rows at a nearby configuration and keeps the last factors if there are some. A correction with old factors
    /// leaves an error proportional to the displacement; the second pass of [`JointSchur::correct`] squares it.
    pub fn update<'a>(&mut self, count: usize, row: impl Fn(usize) -> Option<JointTerms<'a>>) -> bool {
        self.read(count, &row) && (self.factored || self.factor(count, row))
    }

    /// Impulses of the last correction, one per row: v changed by M⁻¹Nᵀ times these.
    pub fn impulses(&self) -> &[f64] {
        &self.impulses
    }

    /// Reads N; `false` if a row is not of the supported kind.
    fn read<'a>(&mut self, count: usize, row: impl Fn(usize) -> Option<JointTerms<'a>>) -> bool {
        match self.pattern.read(count, &row) {
            Some(true) => self.lay_out(),
            Some(false) => {}
            None => return false,
        }
        for (group, rows) in self.pattern.groups.iter().zip(&mut self.rows) {
            for r in 0..group.rows {
                let Some(terms) = row(group.first + r) else { return false };
                terms.iter().zip(&mut *rows).for_each(|(&(_, j), rows)| rows[r] = *j);
            }
        }
        true
    }

    fn lay_out(&mut self) {
        self.factored = false;
        let groups = self.pattern.groups.len();
        for blocks in [&mut self.rows, &mut self.responses] {
            blocks.clear();
            blocks.resize(groups, Default::default());
        }
        for blocks in [&mut self.upper, &mut self.lower] {
            blocks.clear();
            blocks.resize(groups, SixBySix::default());
        }
        self.over.clear();
        self.over.resize(groups, Six::default());
        self.least.resize(groups, Six::default());
        self.beside.resize(self.pattern.with.len(), SixBySix::default());
    }

    /// Assembles S.
    fn assemble(&mut self) {
        let Self { bodies, pattern, rows, responses, upper, least, beside, .. } = self;
        for (k, group) in pattern.groups.iter().enumerate() {
            let mut own = SixBySix::default();
            for (side, &body) in group.bodies.iter().enumerate().take(group.sides) {
                let (rows, responses) = (&rows[k][side][..group.rows], &mut responses[k][side]);
                for (r, row) in rows.iter().enumerate() {
                    let response = bodies[body].respond(row);
                    responses.iter_mut().zip(response).for_each(|(of, x)| of[r] = x);
                }
                add_product(rows, responses, &mut own);
            }
            upper[k] = own;
            least[k] = std::array::from_fn(|r| REDUNDANT_PIVOT * own[r][r]);
        }
        beside.fill(SixBySix::default());
        for &Coupling { block, groups: [a, b], sides } in &pattern.couplings {
            let rows = &rows[a][sides[0]][..pattern.groups[a].rows];
            add_product(rows, &responses[b][sides[1]], &mut beside[block]);
        }
    }

    /// Computes U, group by group; `false` if a pivot counts as zero.
    fn eliminate(&mut self) -> bool {
        let Self { pattern, upper, lower, least, over, beside, .. } = self;
        let JointPattern { groups, order, beside: ranges, with, changed, .. } = &*pattern;
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
            // blocks that this elimination changes come later in the list
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
            let over = &over[..rows];
            for (i, (&a, block)) in with[ranges[k].clone()].iter().zip(&*row).enumerate() {
                subtract_product(block, over, block, groups[a].rows, &mut upper[a]);
                for (other, at) in row[i + 1..].iter().zip(&mut changed) {
                    let target = &mut behind[at - ranges[k].end];
                    subtract_product(block, over, other, groups[a].rows, target);
                }
            }
        }
        true
    }

    /// Corrects a velocity: v ← v − M⁻¹Nᵀ S⁻¹ (N v + rest). A second pass removes rounding errors above
    /// `SECOND_PASS`.
    pub fn correct(&mut self, rest: impl Fn(usize) -> f64, v: &mut [f64]) {
        self.impulses.clear();
        self.impulses
            .extend(self.pattern.groups.iter().flat_map(|group| std::iter::repeat_n(0.0, group.rows)));
        let mut first = 0.0;
        for pass in 0..2 {
            self.find_speeds(v);
            let mut size: f64 = 0.0;
            for (group, speeds) in self.pattern.groups.iter().zip(&mut self.x) {
                for (k, speed) in speeds.iter_mut().enumerate().take(group.rows) {
                    *speed += rest(group.first + k);
                    size = size.max(speed.abs());
                }
            }
            if pass == 0 {
                first = size;
            } else if size <= SECOND_PASS * first {
                break;
            }
            self.solve();
            self.push(v);
        }
    }

    /// x = N v.
    fn find_speeds(&mut self, v: &[f64]) {
        self.x.clear();
        for (group, rows) in self.pattern.groups.iter().zip(&self.rows) {
            let mut speeds = Six::default();
            for (rows, &body) in rows.iter().zip(&group.bodies).take(group.sides) {
                let v = padded(&v[self.starts[body]..self.starts[body + 1]]);
                speeds.iter_mut().zip(rows).for_each(|(speed, row)| *speed += dot(row, &v));
            }
            self.x.push(speeds);
        }
    }

    /// x ← S⁻¹ x.
    fn solve(&mut self) {
        let Self { pattern, upper, lower, over, beside, x: all, .. } = self;
        let JointPattern { order, beside: ranges, with, .. } = &*pattern;
        for &k in order {
            let mut x = all[k];
            let (upper, over) = (&upper[k], &over[k]);
            for r in 0..GROUP_ROWS {
                x[r] *= over[r];
                let known = x[r];
                add(&mut x, -known, &upper[r]);
            }
            all[k] = x;
            for block in ranges[k].clone() {
                let other = &mut all[with[block]];
                let mut sum = *other;
                beside[block].iter().zip(x).for_each(|(upper, x)| add(&mut sum, -x, upper));
                *other = sum;
            }
        }
        for &k in order.iter().rev() {
            let mut x = all[k];
            for block in ranges[k].clone() {
                let known = &all[with[block]];
                (0..GROUP_ROWS).for_each(|r| x[r] -= over[k][r] * dot(&beside[block][r], known));
            }
            let lower = &lower[k];
            for r in (0..GROUP_ROWS).rev() {
                let known = x[r];
                add(&mut x, -known, &lower[r]);
            }
            all[k] = x;
        }
    }

    /// v ← v − M⁻¹Nᵀ x.
    fn push(&mut self, v: &mut [f64]) {
        self.pushes.clear();
        self.pushes.resize(self.bodies.len(), Six::default());
        for ((group, rows), x) in self.pattern.groups.iter().zip(&self.rows).zip(&self.x) {
            for (rows, &body) in rows.iter().zip(&group.bodies).take(group.sides) {
                let mut sum = self.pushes[body];
                rows.iter().zip(x).for_each(|(row, &x)| add(&mut sum, x, row));
                self.pushes[body] = sum;
            }
            let impulses = &mut self.impulses[group.first..group.first + group.rows];
            impulses.iter_mut().zip(x).for_each(|(impulse, x)| *impulse -= x);
        }
        for ((own, push), starts) in self.bodies.iter().zip(&self.pushes).zip(self.starts.windows(2)) {
            let v = &mut v[starts[0]..starts[1]];
            v.iter_mut().zip(own.respond(push)).for_each(|(v, change)| *v -= change);
        }
    }

    /// `out` = M⁻¹ k.
    pub fn respond(&self, k: &[f64], out: &mut Vec<f64>) {
        out.clear();
        for (own, starts) in self.bodies.iter().zip(self.starts.windows(2)) {
            let response = own.respond(&padded(&k[starts[0]..starts[1]]));
            out.extend(&response[..starts[1] - starts[0]]);
        }
    }
}

/// out ← out + rows · responses.
#[inline]
fn add_product(rows: &[Six], responses: &SixBySix, out: &mut SixBySix) {
    for (row, out) in rows.iter().zip(out) {
        let mut sum = *out;
        row.iter().zip(responses).for_each(|(&x, response)| add(&mut sum, x, response));
        *out = sum;
    }
}

/// out ← out − aᵀ D⁻¹ b over the rows of the group with the reciprocal pivots `over`, for `columns` columns of a.
#[inline]
fn subtract_product(a: &SixBySix, over: &[f64], b: &SixBySix, columns: usize, out: &mut SixBySix) {
    for (i, out) in out.iter_mut().enumerate().take(columns) {
        let mut sum = *out;
        a.iter().zip(b).zip(over).for_each(|((a, b), over)| add(&mut sum, -a[i] * over, b));
        *out = sum;
    }
}

#[inline]
fn add(out: &mut Six, factor: f64, x: &Six) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out += factor * x);
}

#[inline]
fn dot(a: &Six, b: &Six) -> f64 {
    // summed in pairs, which do not wait for each other
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

/// Equality of all entries, without a branch for each.
#[inline]
fn same(a: &Matrix6<f64>, b: &Matrix6<f64>) -> bool {
    a.as_slice().iter().zip(b.as_slice()).filter(|(a, b)| a != b).count() == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Row;
    use nalgebra::{DMatrix, DVector};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Random rows: (body or world, body, number of rows) for each joint.
    fn joints(rng: &mut ChaCha8Rng, joined: &[(Option<usize>, usize, usize)]) -> Vec<Row> {
        let mut joints = Vec::new();
        for &(a, b, rows) in joined {
            for _ in 0..rows {
                let mut j = || std::array::from_fn::<f64, 6, _>(|_| rng.random_range(-1.0..1.0));
                joints.push(match a {
                    Some(a) => Row::two(a, &j(), b, &j()),
                    None => Row::one(b, &j()),
                });
            }
        }
        joints
    }

    fn terms(row: &Row) -> Option<JointTerms<'_>> {
        let Row::Bodies(terms) = row else { return None };
        Some(terms.iter().map(|term| (term.body, &term.j)).collect())
    }

    fn schur(rng: &mut ChaCha8Rng, bodies: usize) -> JointSchur {
        let mut schur = JointSchur::default();
        let mut mass = |_| {
            let root = Matrix6::from_fn(|_, _| rng.random_range(-1.0..1.0));
            (6, root * root.transpose() + Matrix6::identity())
        };
        schur.set_masses((0..bodies).map(&mut mass));
        schur
    }

    #[test]
    fn redundant_rows_and_rows_of_three_bodies_are_refused() {
        let rng = &mut ChaCha8Rng::seed_from_u64(2);
        let mut joints = joints(rng, &[(None, 0, 3), (Some(0), 1, 2)]);
        let mut schur = schur(rng, 3);
        assert!(schur.factor(joints.len(), |k| terms(&joints[k])));
        joints.push(joints[4].clone());
        assert!(!schur.factor(joints.len(), |k| terms(&joints[k])), "a row twice");
        joints[5] = Row::Sparse(vec![(0, 1.0), (6, 1.0), (12, 1.0)]);
        assert!(!schur.factor(joints.len(), |k| terms(&joints[k])), "a row of three bodies");
    }

    /// Old factors and a displacement of size ε leave an error of order ε² after two passes.
    #[test]
    fn old_factors_correct_nearby_rows() {
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        let joints = joints(rng, &[(None, 0, 5), (Some(0), 1, 3), (Some(1), 2, 5)]);
        let mut schur = schur(rng, 3);
        assert!(schur.factor(joints.len(), |k| terms(&joints[k])));
        let start: Vec<f64> = (0..18).map(|_| rng.random_range(-1.0..1.0)).collect();
        let left = [1e-3, 1e-5].map(|epsilon| {
            let mut moved = joints.clone();
            for row in &mut moved {
                if let Row::Bodies(terms) = row {
                    terms.iter_mut().for_each(|t| t.j.iter_mut().for_each(|x| *x *= 1.0 + epsilon * *x));
                }
            }
            assert!(schur.update(moved.len(), |k| terms(&moved[k])));
            let mut v = start.clone();
            schur.correct(|_| 0.0, &mut v);
            let starts = [0, 6, 12, 18];
            moved.iter().fold(0.0, |worst: f64, row| worst.max(row.dot(&starts, &v).abs()))
        });
        assert!(left[0] < 1e-3 && left[1] < 1e-7 && left[1] < 1e-3 * left[0], "{left:?}");
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
            assert!(schur.factor(joints.len(), |k| terms(&joints[k])));
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
            joints.iter().enumerate().for_each(|(k, row)| row.for_each(&schur.starts, |i, x| n[(k, i)] += x));
            let inverse = mass.try_inverse().unwrap();
            let s = &n * &inverse * n.transpose();
            let v = DVector::from_vec(v);
            let speeds = &n * &v + DVector::from_fn(joints.len(), |k, _| k as f64);
            let impulses = s.clone().cholesky().unwrap().solve(&speeds);
            let expected = &v - inverse * n.transpose() * &impulses;
            let off = (expected - DVector::from_vec(corrected)).amax();
            assert!(off < 1e-9, "{joined:?}: {off}");
            let off = (impulses + DVector::from_column_slice(schur.impulses())).amax();
            assert!(off < 1e-9, "{joined:?}: {off}");
        }
    }
}
