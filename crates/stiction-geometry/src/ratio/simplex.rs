//! Dual simplex method for the ratio metric, on a basis of D + 1 facets: the fast path.
//!
//! A basis is dual feasible when the origin is a convex combination of its vectors a, with multipliers y; it bounds
//! r from below. The most violated facet enters, found by hill climbing; the ratio test on y chooses the one that
//! leaves; r grows. A warm start restores dual feasibility of the last basis of the pair by exchanges with
//! neighbours. If that fails, a cold start takes facets of the first body around its centre and offers the facets of
//! the last basis first.

use nalgebra::SVector;

use super::{Basis, FacetPair, MAX_EXHAUSTIVE, OF_B, Optimum, RatioCounters, inverse, primal, seidel};

// Tolerances of the method. Multipliers are without unit and sum to one.

/// Dual tolerance: multipliers y >= −1e-13 count as non-negative, and the ratio test relaxes its limit by this.
/// Round-off of slivers is 1e-12; y truly negative by this much moves r by less than this fraction. Sensible range
/// 1e-15 to 1e-11: smaller repairs round-off, larger accepts a lower r.
const DUAL_TOLERANCE: f64 = 1e-13;

/// Primal tolerance: violation of a · x − t <= c that counts as none, relative to the terms of the inequality.
/// Sensible range 1e-15 to 1e-12: smaller cycles on round-off of the sum, larger ends before the optimum.
const PRIMAL_TOLERANCE: f64 = 1e-14;

/// Pivot tolerance: least weight |w| of the leaving facet in the entering one. Sensible range 1e-13 to 1e-8:
/// smaller pivots spoil the inverse, a larger limit leaves no facet to exchange.
const MIN_PIVOT: f64 = 1e-11;

/// Negative multiplier that a primal step removes after the last pivot: −y above this.
/// Sensible range 1e-12 to 1e-9; less would chase round-off, more leaves r off by that fraction.
const PRIMAL_REPAIR_THRESHOLD: f64 = 1e-11;

/// Greatest negative multiplier −y of an accepted basis: r is off by at most this fraction. Beyond it Seidel's
/// method answers. Sensible range 1e-11 to 1e-7.
const MAX_NEGATIVE_MULTIPLIER: f64 = 1e-9;

/// Violation, absolute in units of r [1], above which a facet of the last basis enters a cold start.
/// Sensible range 1e-14 to 1e-6: it decides which facets are offered first, not the result.
const OLD_FACET_VIOLATION: f64 = 1e-12;

/// Exchanges after which restoring dual feasibility of a warm basis is given up: a cold start takes as long.
const MAX_WARM_EXCHANGES: usize = 12;

/// Pivots after which the method is taken to cycle, and Seidel's method answers. A cold start takes about 5 pivots
/// for boxes and 25 for 100,000 facets.
const MAX_PIVOTS: usize = 200;

/// Ratio metric of a pair, warm-started from a basis, which is replaced; `None` when the pose is not finite.
pub(crate) fn solve<const D: usize, const N: usize>(
    pair: &FacetPair<'_, D>,
    basis: &mut Basis<N>,
) -> Option<Optimum<D, N>> {
    let mut counters = RatioCounters::default();
    let found = optimal_basis(pair, basis, &mut counters);
    if let Some(Tableau { names, c, inverse, .. }) = found {
        basis.names = Some(names);
        let optimum = Optimum::of(pair, &names, &inverse, &c, counters);
        return optimum.r.is_finite().then_some(optimum);
    }
    // documented fallback, reported in the counters
    basis.names = None;
    let mut optimum = seidel::solve(pair)?;
    optimum.counters.pivots = counters.pivots;
    optimum.counters.visited += counters.visited;
    optimum.counters.fallback = true;
    Some(optimum)
}

/// Basis and its inverse.
struct Tableau<const N: usize> {
    names: [u32; N],
    /// Right-hand sides.
    c: [f64; N],
    /// Row i belongs to `names[i]`; the last column holds the multipliers y.
    inverse: [[f64; N]; N],
    /// Exchanges since the inverse was computed from the data.
    age: usize,
}

impl<const N: usize> Tableau<N> {
    fn of<const D: usize>(pair: &FacetPair<'_, D>, names: [u32; N]) -> Option<Self> {
        let (columns, c) = pair.columns(&names);
        Some(Self { names, c, inverse: inverse(&columns)?, age: 0 })
    }

    fn is_dual_feasible(&self) -> bool {
        self.inverse.iter().all(|row| row[N - 1] >= -DUAL_TOLERANCE)
    }

    /// Exchanges a facet of the basis for this one by the ratio test; `false` when round-off leaves no pivot.
    fn enter<const D: usize>(&mut self, name: u32, a: &SVector<f64, D>, c: f64) -> bool {
        let w = self.weights(a);
        // relaxed ratio test (Harris): the greatest pivot among ratios within the dual tolerance
        let mut limit = f64::INFINITY;
        for i in 0..N {
            if w[i] > MIN_PIVOT {
                limit = limit.min((self.inverse[i][N - 1].max(0.0) + DUAL_TOLERANCE) / w[i]);
            }
        }
        let mut leaving = None;
        for i in 0..N {
            let better = leaving.is_none_or(|l: usize| w[i] > w[l]);
            if w[i] > MIN_PIVOT && self.inverse[i][N - 1] <= limit * w[i] && better {
                leaving = Some(i);
            }
        }
        let Some(l) = leaving else { return false };
        self.exchange(l, &w, name, c);
        true
    }

    /// Weights of a facet as a combination of those of the basis.
    fn weights<const D: usize>(&self, a: &SVector<f64, D>) -> [f64; N] {
        let mut w = [0.0; N];
        for i in 0..N {
            w[i] = self.inverse[i][N - 1];
            for j in 0..D {
                w[i] += self.inverse[i][j] * a[j];
            }
        }
        w
    }

    /// Replaces row `l` of the basis by a facet with these weights.
    fn exchange(&mut self, l: usize, w: &[f64; N], name: u32, c: f64) {
        let scale = 1.0 / w[l];
        for j in 0..N {
            self.inverse[l][j] *= scale;
        }
        let row = self.inverse[l];
        for i in 0..N {
            if i != l {
                for j in 0..N {
                    self.inverse[i][j] -= w[i] * row[j];
                }
            }
        }
        (self.names[l], self.c[l]) = (name, c);
        self.age += 1;
    }

    /// Exchanges facets with negative multipliers for neighbours of the basis until none is negative, each time for
    /// the neighbour that leaves the least multiplier greatest; `false` when no exchange helps.
    fn restore_dual_feasibility<const D: usize>(
        &mut self,
        pair: &FacetPair<'_, D>,
        counters: &mut RatioCounters,
    ) -> bool {
        for _ in 0..MAX_WARM_EXCHANGES {
            if self.is_dual_feasible() {
                return true;
            }
            let y = self.inverse.map(|row| row[N - 1]);
            let l = (1..N).fold(0, |l, i| if y[i] < y[l] { i } else { l });
            let mut best = (y[l], 0, [0.0; N], 0.0);
            for name in self.names {
                let (body, mark) = (&pair.bodies[usize::from(name & OF_B != 0)], name & OF_B);
                let i = (name & !OF_B) as usize;
                let neighbours = &body.neighbours[body.starts[i] as usize..body.starts[i + 1] as usize];
                // skip large facets: their many sides are neighbours of each other
                let few = if neighbours.len() <= MAX_EXHAUSTIVE { neighbours } else { &[] };
                counters.visited += few.len();
                for &i in few {
                    let (a, c) = pair.row(i | mark);
                    let w = self.weights(&a);
                    if w[l] > -MIN_PIVOT {
                        continue;
                    }
                    let step = y[l] / w[l];
                    let rest = (0..N).map(|i| if i == l { step } else { y[i] - step * w[i] });
                    let least = rest.fold(f64::INFINITY, f64::min);
                    if least > best.0 {
                        best = (least, i | mark, w, c);
                    }
                }
            }
            if best.0 <= y[l] {
                return false;
            }
            self.exchange(l, &best.2, best.1, best.3);
            counters.pivots += 1;
        }
        self.is_dual_feasible()
    }

    /// Lets facets enter, the most violated first, before all others are searched.
    fn offer<const D: usize>(
        &mut self,
        pair: &FacetPair<'_, D>,
        facets: &[u32; N],
        counters: &mut RatioCounters,
    ) {
        for _ in 0..4 * N {
            let z = primal(&self.inverse, &self.c);
            let p = SVector::<f64, D>::from_column_slice(&z[..D]);
            let mut worst = (0.0, 0, SVector::zeros(), 0.0);
            for &name in facets {
                let (a, c) = pair.row(name);
                let violation = a.dot(&p) + z[D] - c;
                if violation > worst.0 && !self.names.contains(&name) {
                    worst = (violation, name, a, c);
                }
            }
            if worst.0 <= OLD_FACET_VIOLATION || !self.enter(worst.1, &worst.2, worst.3) {
                break;
            }
            counters.pivots += 1;
        }
    }
}

/// Removes multipliers that small pivots have left negative, by steps of the primal simplex method: the point moves
/// off the facet until another one blocks it. Evaluates all facets; rare.
fn remove_negative_multipliers<const D: usize, const N: usize>(
    pair: &FacetPair<'_, D>,
    tableau: &mut Tableau<N>,
    counters: &mut RatioCounters,
) {
    for _ in 0..4 * N {
        let least = (1..N).fold(0, |l, i| if tableau.inverse[i][D] < tableau.inverse[l][D] { i } else { l });
        let row = tableau.inverse[least];
        if row[D] >= -PRIMAL_REPAIR_THRESHOLD {
            return;
        }
        let z = primal(&tableau.inverse, &tableau.c);
        let mut blocking = (f64::INFINITY, None);
        for (body, mark) in [(0, 0), (1, OF_B)] {
            counters.visited += pair.bodies[body].a.len();
            for i in 0..pair.bodies[body].a.len() {
                let name = mark | u32::try_from(i).unwrap_or(0);
                let (a, c) = pair.row(name);
                let (mut slack, mut rate) = (c - z[D], -row[D]);
                for j in 0..D {
                    slack -= a[j] * z[j];
                    rate -= a[j] * row[j];
                }
                let step = slack.max(0.0) / rate;
                if rate > MIN_PIVOT && step < blocking.0 && !tableau.names.contains(&name) {
                    blocking = (step, Some(name));
                }
            }
        }
        let Some(name) = blocking.1 else { break };
        let mut names = tableau.names;
        names[least] = name;
        let Some(next) = Tableau::of(pair, names) else { break };
        *tableau = next;
        counters.pivots += 1;
    }
}

/// Optimal basis of a pair from a warm or a cold start; `None` when the method fails.
fn optimal_basis<const D: usize, const N: usize>(
    pair: &FacetPair<'_, D>,
    start: &Basis<N>,
    counters: &mut RatioCounters,
) -> Option<Tableau<N>> {
    let known = |name: &u32| {
        let body = usize::from(name & OF_B != 0);
        ((name & !OF_B) as usize) < pair.bodies[body].a.len()
    };
    let old = start.names.filter(|names| names.iter().all(known));
    let warm = old.and_then(|names| {
        let mut tableau = Tableau::of(pair, names)?;
        tableau.restore_dual_feasibility(pair, counters).then_some(tableau)
    });
    counters.warm = warm.is_some();
    let mut tableau = if let Some(tableau) = warm {
        tableau
    } else {
        let (names, inverse) = pair.bodies[0].cold_basis()?;
        // age 1, so that the final basis is recomputed from the data
        Tableau { names, c: [0.0; N], inverse, age: 1 }
    };

    if !counters.warm
        && let Some(old) = old
    {
        tableau.offer(pair, &old, counters);
    }

    let mut repaired = false;
    let mut near = [0, 0];
    for name in tableau.names {
        near[usize::from(name & OF_B != 0)] = (name & !OF_B) as usize;
    }
    loop {
        // the most violated facet
        let z = primal(&tableau.inverse, &tableau.c);
        let t = -z[D];
        let p = SVector::<f64, D>::from_column_slice(&z[..D]);
        let q = pair.rotation.tr_mul(&(p - pair.offset));
        let (i, value_a) = pair.bodies[0].farthest(near[0], &p, &mut counters.visited);
        let (j, value_b) = pair.bodies[1].farthest(near[1], &q, &mut counters.visited);
        near = [i, j];
        let (violation, body) = if value_a >= value_b { (value_a - t, 0) } else { (value_b - t, 1) };
        let place = if body == 0 { &p } else { &q };
        let index = near[body];
        let name = u32::try_from(index).ok()? | if body == 0 { 0 } else { OF_B };
        let round_off = PRIMAL_TOLERANCE
            * (t.abs() + pair.bodies[body].a[index].norm() * (place.norm() + pair.offset.norm()));
        if !(violation > round_off) || tableau.names.contains(&name) {
            if tableau.age == 0 {
                return violation.is_finite().then_some(tableau);
            }
            // recompute from the data and check again
            tableau = Tableau::of(pair, tableau.names)?;
            // once only: the two methods may undo each other's steps on round-off
            if !repaired {
                repaired = true;
                remove_negative_multipliers(pair, &mut tableau, counters);
            }
            if tableau.inverse.iter().any(|row| !(row[D] >= -MAX_NEGATIVE_MULTIPLIER)) {
                return None;
            }
            continue;
        }
        let (a, c) = pair.row(name);
        if counters.pivots >= MAX_PIVOTS || !tableau.enter(name, &a, c) {
            return None;
        }
        counters.pivots += 1;
    }
}
