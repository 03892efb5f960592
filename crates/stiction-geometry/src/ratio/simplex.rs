//! The fast path: a dual simplex method on a basis of D + 1 facets.
//!
//! A basis is dual feasible when the origin is a convex combination of its vectors a, with multipliers y. It
//! bounds r from below. The facet that its point violates most enters, the multiplier that reaches zero first
//! leaves, and r grows. The most violated facet of each body is found by climbing from neighbour to neighbour.
//!
//! A new query starts from the last basis of the pair. When the pair has turned so far that its origin lies
//! outside, facets are exchanged for neighbours until it lies inside again; where that leads nowhere the method
//! starts from facets of the first body around its centre, and offers the old ones first.

use nalgebra::SVector;

use super::{Basis, FEW, OF_B, Optimum, Pair, Work, inverse, primal, seidel};

/// Negative multiplier that counts as zero [1]. Multipliers sum to one, round-off of slivers is 1e-12; one
/// that is truly negative by this much moves r by less than this part.
const DUAL_SLACK: f64 = 1e-13;

/// Violation that counts as none, relative to the terms of the inequality: round-off of its sum.
const PRIMAL_SLACK: f64 = 1e-14;

/// Negative multiplier that is driven out by a primal step; less would chase round-off.
const REPAIR: f64 = 1e-11;

/// Negative multiplier of an accepted basis: r is off by at most this part. Beyond, Seidel's method answers.
const ACCEPTED: f64 = 1e-9;

/// Exchanges after which a basis is not mended but left: a cold start takes as long.
const MOST_MENDS: usize = 12;

/// Pivots after which the method is taken to circle. A cold start takes about 5 for boxes and 25 for 100,000
/// facets.
const MOST_PIVOTS: usize = 200;

/// The ratio metric of a pair, from a basis that is then replaced; `None` when the pose is not finite.
pub(crate) fn solve<const D: usize, const N: usize>(
    pair: &Pair<'_, D>,
    basis: &mut Basis<N>,
) -> Option<Optimum<D, N>> {
    let mut work = Work::default();
    let found = optimal_basis(pair, basis, &mut work);
    if let Some(Tableau { names, c, inverse, .. }) = found {
        basis.names = Some(names);
        let optimum = Optimum::of(pair, &names, &inverse, &c, work);
        return optimum.r.is_finite().then_some(optimum);
    }
    // a documented detour, listed in the work
    basis.names = None;
    let mut optimum = seidel::solve(pair)?;
    optimum.work.pivots = work.pivots;
    optimum.work.visited += work.visited;
    optimum.work.fallback = true;
    Some(optimum)
}

/// A basis and its inverse.
struct Tableau<const N: usize> {
    names: [u32; N],
    /// Right-hand sides.
    c: [f64; N],
    /// Row i belongs to `names[i]`; the last column holds the multipliers.
    inverse: [[f64; N]; N],
    /// Exchanges since the inverse was computed from the data.
    age: usize,
}

impl<const N: usize> Tableau<N> {
    fn of<const D: usize>(pair: &Pair<'_, D>, names: [u32; N]) -> Option<Self> {
        let (columns, c) = pair.columns(&names);
        Some(Self { names, c, inverse: inverse(&columns)?, age: 0 })
    }

    fn is_dual_feasible(&self) -> bool {
        self.inverse.iter().all(|row| row[N - 1] >= -DUAL_SLACK)
    }

    /// Takes a facet in; `false` when round-off leaves nothing to exchange it for.
    fn enter<const D: usize>(&mut self, name: u32, a: &SVector<f64, D>, c: f64) -> bool {
        let w = self.weights(a);
        // the least ratio with a little slack, and among those the greatest pivot
        let mut limit = f64::INFINITY;
        for i in 0..N {
            if w[i] > 1e-11 {
                limit = limit.min((self.inverse[i][N - 1].max(0.0) + DUAL_SLACK) / w[i]);
            }
        }
        let mut leaving = None;
        for i in 0..N {
            let better = leaving.is_none_or(|l: usize| w[i] > w[l]);
            if w[i] > 1e-11 && self.inverse[i][N - 1] <= limit * w[i] && better {
                leaving = Some(i);
            }
        }
        let Some(l) = leaving else { return false };
        self.exchange(l, &w, name, c);
        true
    }

    /// A facet as a combination of those of the basis.
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

    /// Exchanges facets with negative multipliers for neighbours of the basis, each time for the one that leaves
    /// the least multiplier greatest, until none is negative; `false` when that leads nowhere.
    fn mend<const D: usize>(&mut self, pair: &Pair<'_, D>, work: &mut Work) -> bool {
        for _ in 0..MOST_MENDS {
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
                // the many sides of a large facet are neighbours of each other
                let few = if neighbours.len() <= FEW { neighbours } else { &[] };
                work.visited += few.len();
                for &i in few {
                    let (a, c) = pair.row(i | mark);
                    let w = self.weights(&a);
                    if w[l] > -1e-11 {
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
            work.pivots += 1;
        }
        self.is_dual_feasible()
    }
}

/// Drives out multipliers that pivots on tiny numbers have left negative, by steps of the primal method: the
/// point moves off the facet until another one stops it. All facets are looked at, but this is rare.
fn repair<const D: usize, const N: usize>(pair: &Pair<'_, D>, tableau: &mut Tableau<N>, work: &mut Work) {
    for _ in 0..4 * N {
        let least = (1..N).fold(0, |l, i| if tableau.inverse[i][D] < tableau.inverse[l][D] { i } else { l });
        let row = tableau.inverse[least];
        if row[D] >= -REPAIR {
            return;
        }
        let z = primal(&tableau.inverse, &tableau.c);
        let mut stop = (f64::INFINITY, None);
        for (body, mark) in [(0, 0), (1, OF_B)] {
            work.visited += pair.bodies[body].a.len();
            for i in 0..pair.bodies[body].a.len() {
                let name = mark | u32::try_from(i).unwrap_or(0);
                let (a, c) = pair.row(name);
                let (mut slack, mut rate) = (c - z[D], -row[D]);
                for j in 0..D {
                    slack -= a[j] * z[j];
                    rate -= a[j] * row[j];
                }
                let step = slack.max(0.0) / rate;
                if rate > 1e-11 && step < stop.0 && !tableau.names.contains(&name) {
                    stop = (step, Some(name));
                }
            }
        }
        let Some(name) = stop.1 else { break };
        let mut names = tableau.names;
        names[least] = name;
        let Some(next) = Tableau::of(pair, names) else { break };
        *tableau = next;
        work.pivots += 1;
    }
}

fn optimal_basis<const D: usize, const N: usize>(
    pair: &Pair<'_, D>,
    start: &Basis<N>,
    work: &mut Work,
) -> Option<Tableau<N>> {
    let known = |name: &u32| {
        let body = usize::from(name & OF_B != 0);
        ((name & !OF_B) as usize) < pair.bodies[body].a.len()
    };
    let old = start.names.filter(|names| names.iter().all(known));
    let warm = old.and_then(|names| {
        let mut tableau = Tableau::of(pair, names)?;
        tableau.mend(pair, work).then_some(tableau)
    });
    work.warm = warm.is_some();
    let mut tableau = if let Some(tableau) = warm {
        tableau
    } else {
        let (names, inverse) = pair.bodies[0].home()?;
        // of any age: the last basis is computed from the data
        Tableau { names, c: [0.0; N], inverse, age: 1 }
    };

    // facets to look at before all others
    if !work.warm
        && let Some(old) = old
    {
        for _ in 0..4 * N {
            let z = primal(&tableau.inverse, &tableau.c);
            let p = SVector::<f64, D>::from_column_slice(&z[..D]);
            let mut worst = (0.0, 0, SVector::zeros(), 0.0);
            for name in old {
                let (a, c) = pair.row(name);
                let violation = a.dot(&p) + z[D] - c;
                if violation > worst.0 && !tableau.names.contains(&name) {
                    worst = (violation, name, a, c);
                }
            }
            if worst.0 <= 1e-12 || !tableau.enter(worst.1, &worst.2, worst.3) {
                break;
            }
            work.pivots += 1;
        }
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
        let (i, value_a) = pair.bodies[0].farthest(near[0], &p, &mut work.visited);
        let (j, value_b) = pair.bodies[1].farthest(near[1], &q, &mut work.visited);
        near = [i, j];
        let (violation, body) = if value_a >= value_b { (value_a - t, 0) } else { (value_b - t, 1) };
        let place = if body == 0 { &p } else { &q };
        let index = near[body];
        let name = u32::try_from(index).ok()? | if body == 0 { 0 } else { OF_B };
        let round_off = PRIMAL_SLACK
            * (t.abs() + pair.bodies[body].a[index].norm() * (place.norm() + pair.offset.norm()));
        if !(violation > round_off) || tableau.names.contains(&name) {
            if tableau.age == 0 {
                return violation.is_finite().then_some(tableau);
            }
            // from the data, and look again
            tableau = Tableau::of(pair, tableau.names)?;
            // once: more often, the two methods may undo each other's steps on round-off
            if !repaired {
                repaired = true;
                repair(pair, &mut tableau, work);
            }
            if tableau.inverse.iter().any(|row| !(row[D] >= -ACCEPTED)) {
                return None;
            }
            continue;
        }
        let (a, c) = pair.row(name);
        if work.pivots >= MOST_PIVOTS || !tableau.enter(name, &a, c) {
            return None;
        }
        work.pivots += 1;
    }
}
