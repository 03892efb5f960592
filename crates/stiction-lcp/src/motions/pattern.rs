//! One pattern of modes: its linear equations, and the program of its inequalities. Slips that begin in space are a cone
//! problem.

use super::{FoundMotion, ModeChoice, Search};
use crate::cone_cuts::{Affine, RoundCone, friction_slacks};
use crate::linear_program::{LinearProgram, NoOptimum};
use crate::mode::{ContactMode, Mode};
use crate::problem::{Contact, FrictionSet, Joint, OffsetRow, Row, StepProblem};
use crate::solve::{Solver, solve};
use nalgebra::{DMatrix, DVector};

/// Singular values of at most this × the largest belong to redundant rows [-]. Sensible range 1e-12 to 1e-7.
const REDUNDANT_RELATIVE: f64 = 1e-9;

/// Residual of equations and inequalities, relative to the forces, up to which they hold [-]. Sensible range 1e-10 to
/// 1e-6: smaller refuses motions by round-off, larger accepts ones that nearly exist.
const HOLDS: f64 = 1e-8;

/// Difference of the ends of a continuum, relative to the forces, above which it is one [-]: greater than [`HOLDS`].
const CONTINUUM: f64 = 1e-6;

/// Rounds of tangent cuts at most.
const MAX_PATTERN_CUTS: usize = 100;

/// Slip, relative to the accelerations around, that keeps the friction of a contact that slips already [-]. Sensible
/// range 1e2 to 1e4: smaller lets it turn, larger loses digits.
const KEPT_SLIP: f64 = 1e3;

/// Limit on iterations of a singular value decomposition: a few for each column are usual.
const MAX_SVD_ITERATIONS: usize = 10_000;

/// Motions of a pattern.
#[derive(Debug, Default)]
pub(super) struct PatternMotions {
    pub(super) motions: Vec<FoundMotion>,
    pub(super) continuum: bool,
}

/// Unknown impulse of a pattern: its effect, and the row that it holds.
struct Unknown {
    /// Impulse per unit of each row.
    acts: Vec<(Row, f64)>,
    holds: OffsetRow,
    compliance: f64,
    /// Root of its mobility: impulses are measured by the speeds they cause.
    root: f64,
}

/// Equations of a pattern, solved: impulses x = particular + null·y.
pub(super) struct Pattern<'s, 'a> {
    search: &'s Search<'a>,
    modes: Vec<ContactMode>,
    unknowns: Vec<Unknown>,
    /// First unknown of each contact.
    first: Vec<usize>,
    /// Velocity without the unknowns, and its change with each.
    start: Vec<f64>,
    response: DMatrix<f64>,
    particular: DVector<f64>,
    null: DMatrix<f64>,
}

impl Search<'_> {
    /// Mobility of a row: speed per unit impulse along it.
    pub(super) fn mobility(&self, row: &Row) -> f64 {
        row.dot(&self.layout.velocity, &self.response(&[(row.clone(), 1.0)]))
    }

    /// Velocity that impulses along rows cause.
    fn response(&self, rows: &[(Row, f64)]) -> Vec<f64> {
        let mut x = vec![0.0; self.free.len()];
        rows.iter().for_each(|(row, factor)| row.add_transposed(&self.layout.velocity, *factor, &mut x));
        self.mass.solve(&mut x);
        x
    }

    /// Speed of a row at a velocity.
    fn speed(&self, row: &OffsetRow, v: &[f64]) -> f64 {
        row.row.dot(&self.layout.velocity, v) + row.offset
    }
}

/// Rows of friction along a direction of the tangents, times a factor.
fn along(contact: &Contact, direction: [f64; 2], factor: f64) -> Vec<(Row, f64)> {
    contact.tangents.iter().zip(direction).map(|(t, d)| (t.row.clone(), factor * d)).collect()
}

impl<'s, 'a> Pattern<'s, 'a> {
    /// Equations of a pattern; `None` if they contradict each other.
    pub(super) fn new(search: &'s Search<'a>, modes: &[ContactMode]) -> Option<Self> {
        let step = search.step;
        let mut start = search.free.clone();
        let mut unknowns = Vec::new();
        let unknown = |acts: Vec<(Row, f64)>, holds: &OffsetRow, compliance: f64| {
            let root = (search.mobility(&holds.row) + compliance).sqrt();
            Unknown { acts, holds: holds.clone(), compliance, root: if root > 0.0 { root } else { 1.0 } }
        };
        for joint in &step.joints {
            unknowns.push(unknown(vec![(joint.row.row.clone(), 1.0)], &joint.row, joint.compliance));
        }
        let mut first = Vec::new();
        for (contact, mode) in step.contacts.iter().zip(modes) {
            first.push(unknowns.len());
            match (mode.mode, &contact.normal) {
                (Mode::Open, _) => {}
                (Mode::Stick, normal) => {
                    let rows = normal.iter().chain(&contact.tangents);
                    // rows of friction without a bound hold nothing
                    let count = if contact.mu + contact.kappa > 0.0 { usize::MAX } else { 1 };
                    unknowns
                        .extend(rows.take(count).map(|row| unknown(vec![(row.row.clone(), 1.0)], row, 0.0)));
                }
                (Mode::Slip, Some(normal)) => {
                    let mut acts = vec![(normal.row.clone(), 1.0)];
                    acts.extend(along(contact, mode.direction, contact.mu));
                    unknowns.push(unknown(acts, normal, 0.0));
                }
                (Mode::Slip, None) => {
                    let change = search.response(&along(contact, mode.direction, contact.kappa));
                    start.iter_mut().zip(change).for_each(|(v, x)| *v += x);
                }
            }
        }
        let columns: Vec<Vec<f64>> = unknowns.iter().map(|u| search.response(&u.acts)).collect();
        let response = DMatrix::from_fn(start.len(), columns.len(), |i, k| columns[k][i] / unknowns[k].root);
        let matrix = DMatrix::from_fn(unknowns.len(), unknowns.len(), |i, k| {
            let own: &Unknown = &unknowns[i];
            let column: Vec<f64> = response.column(k).iter().copied().collect();
            let yields = if i == k { own.compliance / own.root } else { 0.0 };
            (own.holds.row.dot(&search.layout.velocity, &column) + yields) / own.root
        });
        let asked = DVector::from_iterator(
            unknowns.len(),
            unknowns.iter().map(|u| -search.speed(&u.holds, &start) / u.root),
        );
        let (particular, null) = solutions(&matrix, &asked, HOLDS * search.scale)?;
        let modes = modes.to_vec();
        Some(Self { search, modes, unknowns, first, start, response, particular, null })
    }

    /// Unknown `k`, in units of the scale.
    fn impulse(&self, k: usize) -> Affine {
        let root = self.unknowns[k].root;
        let value = self.particular[k] / (self.search.scale * root);
        Affine { value, slope: self.null.row(k).transpose() / root }
    }

    /// Speed of a row in units of the scale, relative to the root of its mobility.
    fn speed(&self, row: &OffsetRow) -> Affine {
        let search = self.search;
        let root = search.mobility(&row.row).sqrt().max(f64::MIN_POSITIVE);
        let v = self.velocity(&DVector::zeros(self.null.ncols()));
        let change = &self.response * &self.null;
        let slope = change.column_iter().map(|column| {
            let column: Vec<f64> = column.iter().copied().collect();
            row.row.dot(&search.layout.velocity, &column) / root
        });
        let slope = DVector::from_iterator(self.null.ncols(), slope);
        Affine { value: search.speed(row, &v) / (root * search.scale), slope }
    }

    /// Velocity at `y`, in units of the scale.
    fn velocity(&self, y: &DVector<f64>) -> Vec<f64> {
        let x = &self.particular + &self.null * y * self.search.scale;
        let change = &self.response * x;
        self.start.iter().zip(&change).map(|(v, x)| v + x).collect()
    }

    /// Inequalities of the pattern as slacks that are not negative, and round cones.
    fn inequalities(&self) -> (Vec<Affine>, Vec<RoundCone>) {
        let (mut slacks, mut round) = (Vec::new(), Vec::new());
        for (i, (contact, mode)) in self.search.step.contacts.iter().zip(&self.modes).enumerate() {
            let first = self.first[i];
            match (mode.mode, &contact.normal) {
                (Mode::Open, normal) => slacks.extend(normal.iter().map(|row| self.speed(row))),
                (Mode::Stick, normal) => {
                    let none = Affine { value: 0.0, slope: DVector::zeros(self.null.ncols()) };
                    let mut bound = none;
                    let mut k = first;
                    if normal.is_some() {
                        // measured by the speed that it causes
                        let own = self.impulse(k);
                        slacks.push(own.clone().scaled(self.unknowns[k].root));
                        bound = own.scaled(contact.mu);
                        k += 1;
                    }
                    bound.value += contact.kappa / self.search.scale;
                    if contact.tangents.is_empty() || contact.mu + contact.kappa <= 0.0 {
                        continue;
                    }
                    let root = self.unknowns[k].root;
                    let tangents =
                        (0..contact.tangents.len()).map(|j| self.impulse(k + j).scaled(root)).collect();
                    let (own, cone) = friction_slacks(&contact.set, bound.scaled(root), tangents);
                    slacks.extend(own);
                    round.extend(cone);
                }
                (Mode::Slip, normal) => {
                    if normal.is_some() {
                        slacks.push(self.impulse(first).scaled(self.unknowns[first].root));
                    }
                    if self.search.choices[i] == ModeChoice::Any {
                        slacks.extend(self.slip_along(contact, mode.direction));
                    }
                }
            }
        }
        (slacks, round)
    }

    /// Slip against a friction along one tangent.
    fn slip_along(&self, contact: &Contact, direction: [f64; 2]) -> Option<Affine> {
        contact.tangents.first().map(|row| self.speed(row).scaled(-direction[0]))
    }

    /// Motions of the pattern; `None` where a program is not solved.
    pub(super) fn motions(&self) -> Option<PatternMotions> {
        let (slacks, mut round) = self.inequalities();
        let mut program = PatternProgram { slacks, y: DVector::zeros(self.null.ncols()) };
        if !program.is_feasible(&mut round)? {
            return Some(PatternMotions::default());
        }
        let mut found = PatternMotions::default();
        let change = &self.response * &self.null;
        let moves = change.column_iter().map(|c| self.search.energy_root(c.as_slice())).fold(0.0, f64::max);
        if moves > CONTINUUM {
            for direction in directions(&change) {
                let ends = [-1.0, 1.0].map(|sign| program.farthest(&(&direction * sign), &mut round));
                let [Some(least), Some(most)] = ends else { return None };
                let width = self.search.energy_root((&change * (&most - &least)).as_slice());
                if width > CONTINUUM {
                    found.continuum = true;
                    found.motions.extend([least, most].map(|y| self.motion(&y)));
                }
            }
        }
        if !found.continuum {
            found.motions.push(self.motion(&program.y));
        }
        Some(found)
    }

    /// Motion at `y`.
    fn motion(&self, y: &DVector<f64>) -> FoundMotion {
        let Search { step, layout, scale, .. } = self.search;
        let mut z = vec![0.0; layout.impulses];
        let value = |k: usize| self.impulse(k).at(y) * scale;
        (0..step.joints.len()).for_each(|j| z[j] = value(j));
        for (i, (contact, mode)) in step.contacts.iter().zip(&self.modes).enumerate() {
            let own = &mut z[layout.contact[i]..layout.contact[i + 1]];
            let (normal, friction) = own.split_at_mut(usize::from(contact.normal.is_some()));
            let mut k = self.first[i];
            let mut bound = contact.kappa;
            if let ([normal], true) = (&mut *normal, mode.mode != Mode::Open) {
                *normal = value(k);
                bound += contact.mu * *normal;
                k += 1;
            }
            let mut tangents = [0.0; 3];
            match mode.mode {
                Mode::Stick if contact.mu + contact.kappa > 0.0 => {
                    (0..contact.tangents.len()).for_each(|j| tangents[j] = value(k + j));
                }
                Mode::Slip => {
                    (0..contact.tangents.len()).for_each(|j| tangents[j] = bound * mode.direction[j]);
                }
                _ => {}
            }
            if !contact.tangents.is_empty() {
                contact.friction_unknowns(tangents, friction);
            }
        }
        FoundMotion { modes: self.modes.clone(), v: self.velocity(y), z }
    }
}

impl Affine {
    fn scaled(mut self, factor: f64) -> Self {
        self.value *= factor;
        self.slope *= factor;
        self
    }
}

/// Inequalities of a pattern with a point that satisfies them.
struct PatternProgram {
    slacks: Vec<Affine>,
    y: DVector<f64>,
}

impl PatternProgram {
    /// Whether some y satisfies the inequalities; it is kept. `None` where that is not decided.
    fn is_feasible(&mut self, round: &mut [RoundCone]) -> Option<bool> {
        let n = self.y.len();
        for _ in 0..MAX_PATTERN_CUTS {
            let least = if n == 0 {
                self.slacks.iter().map(|s| s.value).fold(f64::INFINITY, f64::min)
            } else {
                // the greatest least slack, up to 1
                let mut program =
                    LinearProgram::new(&DVector::from_fn(n + 1, |k, _| f64::from(u8::from(k == n))))
                        .tolerant();
                program.add(1.0, DVector::from_fn(n + 1, |k, _| if k == n { -1.0 } else { 0.0 }).iter());
                for slack in &self.slacks {
                    program.add(slack.value, slack.slope.iter().chain(&[-1.0]));
                }
                let (least, y) = program.solve().ok()?;
                self.y = y.remove_row(n);
                least
            };
            if least < -HOLDS {
                return Some(false);
            }
            if !self.cut(&self.y.clone(), round) {
                return Some(true);
            }
            if n == 0 {
                return Some(false);
            }
        }
        None
    }

    /// Adds the cuts of round cones that `y` exceeds. Returns whether there were any.
    fn cut(&mut self, y: &DVector<f64>, round: &[RoundCone]) -> bool {
        let count = self.slacks.len();
        for cone in round {
            let (friction, excess) = cone.excess(y);
            if excess > HOLDS {
                self.slacks.push(cone.cut(&friction));
            }
        }
        self.slacks.len() > count
    }

    /// Farthest y in a direction; `None` where it is not found. An endless direction is followed to a large size.
    fn farthest(&mut self, direction: &DVector<f64>, round: &mut [RoundCone]) -> Option<DVector<f64>> {
        for _ in 0..MAX_PATTERN_CUTS {
            let mut program = LinearProgram::new(direction).tolerant();
            for slack in &self.slacks {
                program.add(slack.value + HOLDS, &slack.slope);
            }
            let y = match program.solve() {
                Ok((_, y)) => y,
                Err(NoOptimum::Unbounded) => &self.y + program.recession(direction).solve().ok()?.1,
                Err(NoOptimum::NotFound) => return None,
            };
            if !self.cut(&y, round) {
                return Some(y);
            }
        }
        None
    }
}

/// Directions of y along which the velocity changes.
fn directions(change: &DMatrix<f64>) -> Vec<DVector<f64>> {
    let svd = change.clone().try_svd(false, true, f64::EPSILON, MAX_SVD_ITERATIONS);
    let Some((values, vt)) = svd.and_then(|svd| Some((svd.singular_values, svd.v_t?))) else {
        return Vec::new();
    };
    let largest = values.amax();
    let rows = values.iter().zip(vt.row_iter()).filter(|(value, _)| **value > REDUNDANT_RELATIVE * largest);
    rows.map(|(_, row)| row.transpose()).collect()
}

/// All solutions of a linear system, as a particular one and a basis of the null space; `None` if its residual is above
/// `tolerance`.
fn solutions(
    matrix: &DMatrix<f64>,
    asked: &DVector<f64>,
    tolerance: f64,
) -> Option<(DVector<f64>, DMatrix<f64>)> {
    let n = matrix.ncols();
    if n == 0 {
        return Some((DVector::zeros(0), DMatrix::zeros(0, 0)));
    }
    let svd = matrix.clone().try_svd(true, true, f64::EPSILON, MAX_SVD_ITERATIONS)?;
    let least = REDUNDANT_RELATIVE * svd.singular_values.amax();
    let particular = svd.solve(asked, least).ok()?;
    if (matrix * &particular - asked).amax() > tolerance {
        return None;
    }
    let vt = svd.v_t.as_ref()?;
    let null: Vec<DVector<f64>> = svd
        .singular_values
        .iter()
        .zip(vt.row_iter())
        .filter(|(value, _)| **value <= least)
        .map(|(_, row)| row.transpose())
        .collect();
    let null = if null.is_empty() { DMatrix::zeros(n, 0) } else { DMatrix::from_columns(&null) };
    Some((particular, null))
}

/// Motions of a pattern in which contacts in space begin to slip, without a mode in `modes`: one cone problem, of which
/// one solution is found. `None` where it is not solved.
pub(super) fn slips_in_space(search: &Search, modes: &[Option<ContactMode>]) -> Option<PatternMotions> {
    let step = search.step;
    let mut reduced = StepProblem { contacts: Vec::new(), ..step.clone() };
    let mut kept = Vec::new();
    for (i, (contact, mode)) in step.contacts.iter().zip(modes).enumerate() {
        match mode {
            None => kept.push((i, contact.clone())),
            Some(mode) if mode.mode == Mode::Slip => {
                kept.push((i, keeping_slip(search, contact, mode.direction)));
            }
            Some(mode) if mode.mode == Mode::Stick => {
                let count = if contact.mu + contact.kappa > 0.0 { usize::MAX } else { 1 };
                let rows = contact.rows().take(count);
                reduced.joints.extend(rows.map(|row| Joint { row: row.clone(), compliance: 0.0 }));
            }
            Some(_) => {}
        }
    }
    reduced.contacts.extend(kept.iter().map(|(_, contact)| contact.clone()));
    let solution = solve(&reduced, &Solver::default(), None).ok()?;
    let found = spread(search, modes, &kept, (&reduced, solution.z()), solution.velocity());
    let motions = found.filter(|motion| holds(search, modes, motion)).into_iter().collect();
    Some(PatternMotions { motions, continuum: false })
}

/// Contact that slips already, as a contact with friction along its slip alone, which it cannot lose.
fn keeping_slip(search: &Search, contact: &Contact, direction: [f64; 2]) -> Contact {
    let mut row = vec![0.0; search.free.len()];
    let mut offset = 0.0;
    for (tangent, d) in contact.tangents.iter().zip(direction) {
        tangent.row.add_transposed(&search.layout.velocity, d, &mut row);
        offset += d * tangent.offset;
    }
    let sparse = row.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(i, x)| (i, *x)).collect();
    let row = Row::Sparse(sparse);
    // friction is along the direction while the slip is against it
    offset -= KEPT_SLIP * search.scale * search.mobility(&row).sqrt();
    let tangents = [OffsetRow { row, offset }].into_iter().collect();
    Contact { tangents, set: FrictionSet::line(), ..contact.clone() }
}

/// Solution of the cone problem of a pattern as a motion of the whole problem.
fn spread(
    search: &Search,
    modes: &[Option<ContactMode>],
    kept: &[(usize, Contact)],
    (reduced, solved): (&StepProblem, &[f64]),
    v: &[f64],
) -> Option<FoundMotion> {
    let Search { step, layout, .. } = search;
    let places = reduced.layout();
    let mut z = vec![0.0; layout.impulses];
    z[..step.joints.len()].copy_from_slice(&solved[..step.joints.len()]);
    let mut next = step.joints.len();
    let mut found = Vec::with_capacity(modes.len());
    for (i, (contact, mode)) in step.contacts.iter().zip(modes).enumerate() {
        let own = &mut z[layout.contact[i]..layout.contact[i + 1]];
        let (normal, friction) = own.split_at_mut(usize::from(contact.normal.is_some()));
        let mut tangents = [0.0; 3];
        if let Some(k) = kept.iter().position(|(own, _)| *own == i) {
            let its = &solved[places.contact[k]..places.contact[k + 1]];
            normal.iter_mut().zip(its).for_each(|(n, x)| *n = *x);
            let [x, y, _] = kept[k].1.tangent_impulse(&its[normal.len()..]);
            tangents = match mode {
                Some(mode) => [x * mode.direction[0], x * mode.direction[1], 0.0],
                None => [x, y, 0.0],
            };
            let size = tangents[0].hypot(tangents[1]);
            let slips = contact.tangents.iter().any(|t| search.speed(t, v).abs() > HOLDS * search.scale);
            found.push(match mode {
                Some(mode) => *mode,
                None if normal.first().is_some_and(|n| *n <= 0.0) => ContactMode::OPEN,
                None if slips && size > 0.0 => ContactMode::slip([tangents[0] / size, tangents[1] / size]),
                None => ContactMode::STICK,
            });
        } else {
            let mode = (*mode)?;
            if mode.mode == Mode::Stick {
                let count = if contact.mu + contact.kappa > 0.0 { contact.tangents.len() } else { 0 };
                for n in normal.iter_mut().chain(&mut tangents[..count]) {
                    *n = solved[next];
                    next += 1;
                }
            }
            found.push(mode);
        }
        if !contact.tangents.is_empty() {
            contact.friction_unknowns(tangents, friction);
        }
    }
    Some(FoundMotion { modes: found, v: v.to_vec(), z })
}

/// Whether contacts that open do, and those that stick have forces in their cones.
fn holds(search: &Search, modes: &[Option<ContactMode>], motion: &FoundMotion) -> bool {
    let Search { step, layout, scale, .. } = search;
    step.contacts.iter().zip(modes).enumerate().all(|(i, (contact, mode))| {
        let own = &motion.z[layout.contact[i]..layout.contact[i + 1]];
        let (normal, friction) = own.split_at(usize::from(contact.normal.is_some()));
        match (mode.map(|mode| mode.mode), &contact.normal) {
            (Some(Mode::Open), Some(row)) => {
                search.speed(row, &motion.v) >= -HOLDS * scale * search.mobility(&row.row).sqrt()
            }
            (Some(Mode::Stick), row) => {
                let force = normal.first().copied().unwrap_or(0.0);
                let root = row.as_ref().map_or(1.0, |row| search.mobility(&row.row).sqrt());
                let tangents = contact.tangent_impulse(friction);
                let bound = contact.mu * force + contact.kappa;
                let size = match &contact.set {
                    FrictionSet::Ellipse(axes) => (0..contact.tangents.len())
                        .map(|k| (tangents[k] / axes[k]).powi(2))
                        .sum::<f64>()
                        .sqrt(),
                    FrictionSet::Polygon(_) => contact.least_sum(tangents).0,
                };
                let tolerance = HOLDS * scale / root;
                force >= -tolerance && (contact.tangents.is_empty() || size <= bound + tolerance)
            }
            _ => true,
        }
    })
}
