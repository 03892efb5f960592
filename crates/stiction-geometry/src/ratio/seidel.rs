//! Linear programs of few variables by Seidel's randomized incremental method: expected time linear in the
//! number of inequalities, whatever their order was.
//!
//! Inequalities are added one by one in random order. One that the optimum so far fulfils changes nothing; one
//! that it violates holds with equality at the new optimum, which is a program with one variable less over the
//! inequalities added before. Seidel (1991); HA10 section 3.

use nalgebra::SVector;

use super::{OF_B, Optimum, Pair, Work};

/// Violation below which an inequality is fulfilled, relative to the sum of its terms. Round-off is about
/// 1e-16 per term and grows with every projection; the solution is computed anew from its basis in the end.
const SLACK: f64 = 1e-13;

/// No inequality: a bound of the box that every program is solved in.
const BOUND: u32 = u32::MAX;

/// a · x <= b.
#[derive(Clone, Copy)]
struct Row<const N: usize> {
    a: [f64; N],
    b: f64,
    /// Greatest coefficient before any projection: what is left of it below round-off is zero.
    scale: f64,
    name: u32,
}

struct Solution<const N: usize> {
    x: [f64; N],
    /// Inequalities that hold with equality.
    tight: [u32; N],
}

/// The same order for the same count, on every machine: Fisher and Yates with splitmix64.
fn shuffle<T>(items: &mut [T]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ items.len() as u64;
    for i in (1..items.len()).rev() {
        let j = usize::try_from(random(&mut state) % (i as u64 + 1)).unwrap_or(0);
        items.swap(i, j);
    }
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// min objective · x over the first `k` variables with |x_j| <= bound_j.
fn minimize<const N: usize>(
    k: usize,
    objective: &[f64; N],
    rows: &[Row<N>],
    bound: &[f64; N],
    levels: &mut [Vec<Row<N>>],
    projections: &mut usize,
) -> Solution<N> {
    if k == 1 {
        return on_a_line(objective[0], rows, bound[0]);
    }
    let mut x = [0.0; N];
    for j in 0..k {
        x[j] = if objective[j] > 0.0 { -bound[j] } else { bound[j] };
    }
    let mut best = Solution { x, tight: [BOUND; N] };
    let Some((level, deeper)) = levels.split_first_mut() else { return best };
    for (i, row) in rows.iter().enumerate() {
        let (mut value, mut terms) = (-row.b, row.b.abs());
        for j in 0..k {
            value += row.a[j] * best.x[j];
            terms += (row.a[j] * best.x[j]).abs();
        }
        if !(value > SLACK * terms) {
            continue;
        }
        // eliminate the variable with the greatest coefficient
        let mut p = 0;
        for j in 1..k {
            if row.a[j].abs() > row.a[p].abs() {
                p = j;
            }
        }
        if row.a[p].abs() <= SLACK * row.scale {
            continue;
        }
        let project = |r: &Row<N>| {
            let factor = r.a[p] / row.a[p];
            let mut out = Row { a: [0.0; N], b: r.b - factor * row.b, ..*r };
            for j in 0..k {
                let to = if j < p { j } else { j.saturating_sub(1) };
                if j != p {
                    out.a[to] = r.a[j] - factor * row.a[j];
                }
            }
            out
        };
        let mut axis = [0.0; N];
        axis[p] = 1.0;
        let upper = Row { a: axis, b: bound[p], scale: 1.0, name: BOUND };
        axis[p] = -1.0;
        let lower = Row { a: axis, b: bound[p], scale: 1.0, name: BOUND };
        level.clear();
        level.push(project(&upper));
        level.push(project(&lower));
        level.extend(rows[..i].iter().map(project));
        *projections += i;
        let reduced = project(&Row { a: *objective, b: 0.0, scale: 1.0, name: BOUND });
        let mut rest = *bound;
        rest.copy_within(p + 1..k, p);
        let found = minimize(k - 1, &reduced.a, level, &rest, deeper, projections);

        // back to k variables
        let mut value = row.b;
        for j in (0..k).rev() {
            if j != p {
                best.x[j] = found.x[if j < p { j } else { j - 1 }];
                value -= row.a[j] * best.x[j];
            }
        }
        best.x[p] = value / row.a[p];
        best.tight = found.tight;
        best.tight[k - 1] = row.name;
    }
    best
}

fn on_a_line<const N: usize>(objective: f64, rows: &[Row<N>], bound: f64) -> Solution<N> {
    let (mut least, mut most) = ((-bound, BOUND), (bound, BOUND));
    for row in rows {
        if row.a[0] > SLACK * row.scale {
            let end = row.b / row.a[0];
            if end < most.0 {
                most = (end, row.name);
            }
        } else if row.a[0] < -SLACK * row.scale {
            let end = row.b / row.a[0];
            if end > least.0 {
                least = (end, row.name);
            }
        }
    }
    // where the objective is level any point does; an end that an inequality names is worth more
    let level = objective.abs() <= SLACK;
    let end = if (level && least.1 != BOUND) || (!level && objective > 0.0) { least } else { most };
    let (mut x, mut tight) = ([0.0; N], [BOUND; N]);
    (x[0], tight[0]) = end;
    Solution { x, tight }
}

fn program<const N: usize>(
    objective: [f64; N],
    rows: &mut [Row<N>],
    bound: [f64; N],
) -> (Solution<N>, usize) {
    shuffle(rows);
    let mut levels: Vec<Vec<Row<N>>> = vec![Vec::with_capacity(rows.len() + 2); N - 1];
    let mut projections = 0;
    let found = minimize(N, &objective, rows, &bound, &mut levels, &mut projections);
    (found, projections)
}

fn scale<const N: usize>(a: &[f64; N]) -> f64 {
    a.iter().fold(0.0, |s, x| s.max(x.abs()))
}

/// The ratio metric of a pair by Seidel's method; `None` when a facet or the pose is not finite.
pub(crate) fn solve<const D: usize, const N: usize>(pair: &Pair<'_, D>) -> Option<Optimum<D, N>> {
    // lengths by the distance of the nearest facet, so that all coefficients are at least 1 / aspect
    let steepest = pair.bodies[0].a.iter().fold(0.0, |s: f64, a| s.max(a.norm()));
    let unit = 1.0 / steepest;
    if !(unit > 0.0 && pair.offset.norm().is_finite()) {
        return None;
    }
    let count = pair.bodies[0].a.len() + pair.bodies[1].a.len();
    let mut rows = Vec::with_capacity(count);
    for (body, mark) in [(0, 0), (1, OF_B)] {
        for i in 0..pair.bodies[body].a.len() {
            let name = mark | u32::try_from(i).unwrap_or(0);
            let (a, b) = pair.row(name);
            let mut coefficients = [-1.0; N];
            for j in 0..D {
                coefficients[j] = a[j] * unit;
            }
            rows.push(Row { a: coefficients, b, scale: scale(&coefficients), name });
        }
    }

    // r <= |d| max |a|, and the solution lies in the first body scaled by r
    let most = 1.0 + steepest * pair.offset.norm();
    let mut bound = [4.0 * most * steepest * pair.bodies[0].size; N];
    bound[D] = 4.0 * most;
    let mut objective = [0.0; N];
    objective[D] = 1.0;
    let (found, projections) = program(objective, &mut rows, bound);
    let work = Work { projections, visited: count, ..Work::default() };

    // anew from its basis, unless a bound holds with no multiplier
    if found.tight.iter().all(|&name| name != BOUND)
        && let Some(optimum) = Optimum::at(pair, &found.tight, work)
        && (optimum.r - found.x[D]).abs() <= 1e-6 * most
    {
        return Some(optimum);
    }
    None
}

/// D + 1 facets around the origin, `None` when there are none: the basis of a program with arbitrary right-hand
/// sides, as only the facets decide whether a basis is dual feasible.
pub(crate) fn home<const D: usize, const N: usize>(a: &[SVector<f64, D>], size: f64) -> Option<[u32; N]> {
    let steepest = a.iter().fold(0.0, |s: f64, a| s.max(a.norm()));
    let mut state = 1;
    let mut rows: Vec<_> = (0..)
        .zip(a)
        .map(|(name, a)| {
            let mut coefficients = [-1.0; N];
            for j in 0..D {
                coefficients[j] = a[j] / steepest;
            }
            let b = 1.0 + (random(&mut state) >> 11) as f64 / (1_u64 << 53) as f64;
            Row { a: coefficients, b, scale: scale(&coefficients), name }
        })
        .collect();
    // the solution has t <= 0 and lies in the body scaled by at most two
    let mut bound = [8.0 * steepest * size; N];
    bound[D] = 8.0;
    let mut objective = [0.0; N];
    objective[D] = 1.0;
    let (found, _) = program(objective, &mut rows, bound);
    found.tight.iter().all(|&name| name != BOUND).then_some(found.tight)
}

/// Centre and radius of the largest ball in half-spaces: max s with n · x + s <= b.
pub(crate) fn largest_ball<const D: usize, const N: usize>(
    half_spaces: &[(SVector<f64, D>, f64)],
    extent: f64,
) -> (SVector<f64, D>, f64) {
    let unit = if extent > 0.0 { extent } else { 1.0 };
    let mut rows: Vec<_> = (0..)
        .zip(half_spaces)
        .map(|(name, (n, b))| {
            let mut coefficients = [1.0; N];
            coefficients[..D].copy_from_slice(n.as_slice());
            Row { a: coefficients, b: b / unit, scale: 1.0, name }
        })
        .collect();
    let mut objective = [0.0; N];
    objective[D] = -1.0;
    let (found, _) = program(objective, &mut rows, [1e4; N]);
    (unit * SVector::from_column_slice(&found.x[..D]), unit * found.x[D])
}
