//! Seidel's randomized incremental method for linear programs of few variables, in expected time linear in the
//! number of inequalities. Reference and fallback of the simplex method, and the largest ball in half-spaces.
//!
//! Inequalities are added one by one in random order. If the optimum so far satisfies one, nothing changes. If not,
//! it is active at the new optimum: a program with one variable less over the inequalities added before.
//! Seidel (1991); HA10 section 3.

use nalgebra::SVector;

use super::{FacetPair, OF_B, Optimum, RatioCounters};

/// Violation below which an inequality is satisfied, relative to the sum of its terms; a coefficient below this
/// fraction of its value before projection counts as zero. Round-off is about 1e-16 per term and grows with every
/// projection; sensible range 1e-14 to 1e-10. The solution is recomputed from its basis in the end, so a larger
/// value costs the right basis, a smaller one projects on round-off.
const FEASIBILITY_RELATIVE: f64 = 1e-13;

/// Difference of r between the program and its basis recomputed from the data, relative to the bound on r, above
/// which the basis is refused. Sensible range 1e-9 to 1e-4: above round-off of the projections, below a true error.
const BASIS_MISMATCH_RELATIVE: f64 = 1e-6;

/// Half width of the box that the program of the largest ball is solved in, in units of the extent. A ball that
/// reaches it is unbounded; sensible range 1e3 to 1e6, larger loses digits of the centre.
const BALL_SEARCH_EXTENTS: f64 = 1e4;

/// Safety factor between the bounds known for a solution and the box that its program is solved in.
/// Sensible range 2 to 100: one cuts solutions off by round-off, much more loses digits.
const BOX_FACTOR: f64 = 4.0;

/// Name of no inequality: a bound of the box that every program is solved in.
const BOUND: u32 = u32::MAX;

/// Inequality a · x <= b.
#[derive(Clone, Copy)]
struct Inequality<const N: usize> {
    a: [f64; N],
    b: f64,
    /// Greatest coefficient before any projection, to tell a coefficient from round-off.
    scale: f64,
    name: u32,
}

/// Optimal point of a program and its active inequalities.
struct LpSolution<const N: usize> {
    x: [f64; N],
    /// Active inequalities.
    tight: [u32; N],
}

/// Shuffles by Fisher and Yates with splitmix64: one order per count, on every machine.
fn shuffle<T>(items: &mut [T]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ items.len() as u64;
    for i in (1..items.len()).rev() {
        let j = usize::try_from(splitmix64(&mut state) % (i as u64 + 1)).unwrap_or(0);
        items.swap(i, j);
    }
}

fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Minimizes objective · x over the first `k` variables with |x_j| <= bound_j.
fn minimize<const N: usize>(
    k: usize,
    objective: &[f64; N],
    rows: &[Inequality<N>],
    bound: &[f64; N],
    levels: &mut [Vec<Inequality<N>>],
    projections: &mut usize,
) -> LpSolution<N> {
    if k == 1 {
        return minimize_on_line(objective[0], rows, bound[0]);
    }
    let mut x = [0.0; N];
    for j in 0..k {
        x[j] = if objective[j] > 0.0 { -bound[j] } else { bound[j] };
    }
    let mut best = LpSolution { x, tight: [BOUND; N] };
    let Some((level, deeper)) = levels.split_first_mut() else { return best };
    for (i, row) in rows.iter().enumerate() {
        let (mut value, mut terms) = (-row.b, row.b.abs());
        for j in 0..k {
            value += row.a[j] * best.x[j];
            terms += (row.a[j] * best.x[j]).abs();
        }
        if !(value > FEASIBILITY_RELATIVE * terms) {
            continue;
        }
        // eliminate the variable with the greatest coefficient
        let mut p = 0;
        for j in 1..k {
            if row.a[j].abs() > row.a[p].abs() {
                p = j;
            }
        }
        if row.a[p].abs() <= FEASIBILITY_RELATIVE * row.scale {
            continue;
        }
        let project = |r: &Inequality<N>| {
            let factor = r.a[p] / row.a[p];
            let mut out = Inequality { a: [0.0; N], b: r.b - factor * row.b, ..*r };
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
        let upper = Inequality { a: axis, b: bound[p], scale: 1.0, name: BOUND };
        axis[p] = -1.0;
        let lower = Inequality { a: axis, b: bound[p], scale: 1.0, name: BOUND };
        level.clear();
        level.push(project(&upper));
        level.push(project(&lower));
        level.extend(rows[..i].iter().map(project));
        *projections += i;
        let reduced = project(&Inequality { a: *objective, b: 0.0, scale: 1.0, name: BOUND });
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

/// Minimizes over one variable.
fn minimize_on_line<const N: usize>(objective: f64, rows: &[Inequality<N>], bound: f64) -> LpSolution<N> {
    let (mut least, mut most) = ((-bound, BOUND), (bound, BOUND));
    for row in rows {
        if row.a[0] > FEASIBILITY_RELATIVE * row.scale {
            let end = row.b / row.a[0];
            if end < most.0 {
                most = (end, row.name);
            }
        } else if row.a[0] < -FEASIBILITY_RELATIVE * row.scale {
            let end = row.b / row.a[0];
            if end > least.0 {
                least = (end, row.name);
            }
        }
    }
    // where the objective is level any point is optimal; prefer an end that an inequality names
    let level = objective.abs() <= FEASIBILITY_RELATIVE;
    let end = if (level && least.1 != BOUND) || (!level && objective > 0.0) { least } else { most };
    let (mut x, mut tight) = ([0.0; N], [BOUND; N]);
    (x[0], tight[0]) = end;
    LpSolution { x, tight }
}

/// Minimizes over all variables, from shuffled inequalities; also the number of projections.
fn solve_program<const N: usize>(
    objective: [f64; N],
    rows: &mut [Inequality<N>],
    bound: [f64; N],
) -> (LpSolution<N>, usize) {
    shuffle(rows);
    let mut levels: Vec<Vec<Inequality<N>>> = vec![Vec::with_capacity(rows.len() + 2); N - 1];
    let mut projections = 0;
    let found = minimize(N, &objective, rows, &bound, &mut levels, &mut projections);
    (found, projections)
}

/// Greatest coefficient in size.
fn scale<const N: usize>(a: &[f64; N]) -> f64 {
    a.iter().fold(0.0, |s, x| s.max(x.abs()))
}

/// Ratio metric of a pair by Seidel's method; `None` when a facet or the pose is not finite.
pub(crate) fn solve<const D: usize, const N: usize>(pair: &FacetPair<'_, D>) -> Option<Optimum<D, N>> {
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
            rows.push(Inequality { a: coefficients, b, scale: scale(&coefficients), name });
        }
    }

    // r <= |d| max |a|, and the solution lies in the first body scaled by r
    let most = 1.0 + steepest * pair.offset.norm();
    let mut bound = [BOX_FACTOR * most * steepest * pair.bodies[0].size; N];
    bound[D] = BOX_FACTOR * most;
    let mut objective = [0.0; N];
    objective[D] = 1.0;
    let (found, projections) = solve_program(objective, &mut rows, bound);
    let counters = RatioCounters { projections, visited: count, ..RatioCounters::default() };

    // recompute from the basis, unless a bound of the box is active
    if found.tight.iter().all(|&name| name != BOUND)
        && let Some(optimum) = Optimum::at(pair, &found.tight, counters)
        && (optimum.r - found.x[D]).abs() <= BASIS_MISMATCH_RELATIVE * most
    {
        return Some(optimum);
    }
    None
}

/// D + 1 facets around the origin; `None` when there are none. They are the optimal basis of a program with
/// arbitrary right-hand sides: dual feasibility of a basis depends on the facets alone.
pub(crate) fn facets_around_origin<const D: usize, const N: usize>(
    a: &[SVector<f64, D>],
    size: f64,
) -> Option<[u32; N]> {
    let steepest = a.iter().fold(0.0, |s: f64, a| s.max(a.norm()));
    let mut state = 1;
    let mut rows: Vec<_> = (0..)
        .zip(a)
        .map(|(name, a)| {
            let mut coefficients = [-1.0; N];
            for j in 0..D {
                coefficients[j] = a[j] / steepest;
            }
            let b = 1.0 + (splitmix64(&mut state) >> 11) as f64 / (1_u64 << 53) as f64;
            Inequality { a: coefficients, b, scale: scale(&coefficients), name }
        })
        .collect();
    // the solution has t <= 0 and lies in the body scaled by at most two
    let mut bound = [2.0 * BOX_FACTOR * steepest * size; N];
    bound[D] = 2.0 * BOX_FACTOR;
    let mut objective = [0.0; N];
    objective[D] = 1.0;
    let (found, _) = solve_program(objective, &mut rows, bound);
    found.tight.iter().all(|&name| name != BOUND).then_some(found.tight)
}

/// Centre [m] and radius [m] of the largest ball in half-spaces n · x <= b, n unit vectors: max s with
/// n · x + s <= b, searched within a large multiple of the extent [m] of the offsets.
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
            Inequality { a: coefficients, b: b / unit, scale: 1.0, name }
        })
        .collect();
    let mut objective = [0.0; N];
    objective[D] = -1.0;
    let (found, _) = solve_program(objective, &mut rows, [BALL_SEARCH_EXTENTS; N]);
    (unit * SVector::from_column_slice(&found.x[..D]), unit * found.x[D])
}
