//! `stiction-lab fuzz ratio`: random pairs of bodies, the ratio metric against parry's signed distance.

use super::SeedRange;
use crate::seeds::{Tally, over_seeds, pool};
use crate::{BadInput, Outcome, print};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::ThreadPool;
use std::f64::consts::FRAC_PI_2;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;
use stiction_geometry::spatial::{Basis, Gap, Polyhedron, Ratio, Shape, gaps, minkowski_gap, ratio};

/// Random boxes and hulls in random and aligned poses: the ratio metric against parry's signed distance.
///
/// The signs must agree wherever parry's distance exceeds 1e-6 m. Every gap must be finite with a unit normal. After a
/// small motion the warm result must be the cold one to 1e-9. A pair that fails is printed.
#[derive(clap::Args)]
pub(crate) struct RatioFuzzArguments {
    #[command(flatten)]
    range: SeedRange,
}

/// Least signed distance whose sign is compared [m]: parry's methods end at 5e-8 of the size.
const MIN_COMPARED_DISTANCE: f64 = 1e-6;
/// Limit on the difference of a warm and a cold result, relative to 1 + r. Slivers lose digits.
const WARM_TOLERANCE: f64 = 1e-9;
/// Limit on the failing pairs that are printed.
const MAX_PRINTED_PAIRS: usize = 20;

/// Counts over some pairs.
#[derive(Default)]
struct PairTally {
    compared: u64,
    overlapping: u64,
    /// Pairs on which parry's methods gave up.
    silent: u64,
    /// Queries answered by Seidel's method.
    fallbacks: u64,
    /// Second queries that could use the basis of the first.
    warm: u64,
    failures: Vec<(u64, String)>,
}

impl Tally for PairTally {
    fn join(&mut self, other: Self) {
        self.compared += other.compared;
        self.overlapping += other.overlapping;
        self.silent += other.silent;
        self.fallbacks += other.fallbacks;
        self.warm += other.warm;
        self.failures.extend(other.failures);
    }
}

/// Two bodies, their poses, and the pose of the second one after a small motion.
struct RandomPair {
    bodies: [Arc<Polyhedron>; 2],
    shapes: [Shape; 2],
    poses: [Isometry3<f64>; 2],
    later: Isometry3<f64>,
}

/// Runs the command.
pub(crate) fn run(arguments: &RatioFuzzArguments) -> Result<Outcome, BadInput> {
    let begun = Instant::now();
    let pool = pool(arguments.range.threads)?;
    let threads = pool.current_num_threads();
    let mut tally = judge_all(arguments, &pool);
    tally.failures.sort();
    let mut text = format!("{} pairs from seed {}\n\n", arguments.range.count, arguments.range.seed);
    let _ = writeln!(
        text,
        "{} signs compared, {} of them of overlapping pairs; {} within 1e-6 m of touching, parry silent on {}",
        tally.compared,
        tally.overlapping,
        arguments.range.count.saturating_sub(tally.compared + tally.silent),
        tally.silent
    );
    let _ = writeln!(
        text,
        "{} of the second queries warm, {} answered by Seidel's method",
        tally.warm, tally.fallbacks
    );
    let _ = writeln!(
        text,
        "{} failed in {:.1} s on {threads} threads",
        tally.failures.len(),
        begun.elapsed().as_secs_f64()
    );
    for (seed, what) in tally.failures.iter().take(MAX_PRINTED_PAIRS) {
        let _ = writeln!(text, "\nstiction-lab fuzz ratio --count 1 --seed {seed}: {what}");
        let RandomPair { shapes, poses, .. } = sample(*seed);
        for ((shape, pose), name) in shapes.iter().zip(&poses).zip(["a", "b"]) {
            let shape = serde_json::to_string(shape).map_err(|e| BadInput(e.to_string()))?;
            let (at, turn) = (pose.translation.vector, pose.rotation.coords);
            let _ = writeln!(
                text,
                "{name}: {shape}\n   at [{:?}, {:?}, {:?}], quaternion x y z w [{:?}, {:?}, {:?}, {:?}]",
                at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w
            );
        }
    }
    print(&text)?;
    Ok(if tally.failures.is_empty() { Outcome::Solved } else { Outcome::NotSolved })
}

fn judge_all(arguments: &RatioFuzzArguments, pool: &ThreadPool) -> PairTally {
    let judge = |tally: &mut PairTally, i: u64, _: usize| {
        let seed = arguments.range.seed.wrapping_add(i);
        // a panic is a failure like any other
        let verdict = catch_unwind(AssertUnwindSafe(|| judge(&sample(seed), tally)));
        if let Err(what) = verdict.unwrap_or_else(|_| Err("panicked".into())) {
            tally.failures.push((seed, what));
        }
    };
    over_seeds(pool, arguments.range.count, judge, || ())
}

/// Pair of a seed.
fn sample(seed: u64) -> RandomPair {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let [(a, shape_a), (b, shape_b)] = [body(rng), body(rng)];
    let poses = [pose(rng), pose(rng)];
    let motion = 10_f64.powi(-rng.random_range(1..5));
    let mut x = || rng.random_range(-motion..motion);
    let (at, turn) = (Vector3::new(x(), x(), x()), Vector3::new(x(), x(), x()));
    let rotation = UnitQuaternion::from_scaled_axis(turn) * poses[1].rotation;
    let later = Isometry3::from_parts((poses[1].translation.vector + at).into(), rotation);
    RandomPair { bodies: [a, b], shapes: [shape_a, shape_b], poses, later }
}

/// Box with sides on a grid, or the hull of random points, which may be flat.
fn body(rng: &mut ChaCha8Rng) -> (Arc<Polyhedron>, Shape) {
    loop {
        if rng.random_bool(0.3) {
            let half_extents = [0; 3].map(|_| 0.125 * f64::from(rng.random_range(1..8)));
            if let Ok(polyhedron) = Polyhedron::cuboid(half_extents) {
                return (Arc::new(polyhedron), Shape::Cuboid { half_extents });
            }
        }
        let flat = if rng.random_bool(0.2) { 0.01 } else { 1.0 };
        let points: Vec<_> = (0..rng.random_range(4..40))
            .map(|_| Point3::from(Vector3::from_fn(|i, _| rng.random_range(-0.7..0.7) * [1.0, 1.0, flat][i])))
            .collect();
        // a few points may lie in a plane
        if let Ok(polyhedron) = Polyhedron::new(&points) {
            let polyhedron = Arc::new(polyhedron);
            return (polyhedron.clone(), Shape::Polyhedron(polyhedron));
        }
    }
}

/// Random pose, or one on a grid at right angles, which makes the linear programs degenerate as those of resting bodies
/// are.
fn pose(rng: &mut ChaCha8Rng) -> Isometry3<f64> {
    if rng.random_bool(0.3) {
        let mut x = |n: i32| f64::from(rng.random_range(-n..=n));
        let turn = Vector3::new(x(2), x(2), x(2)) * FRAC_PI_2;
        let rotation = UnitQuaternion::from_euler_angles(turn.x, turn.y, turn.z);
        return Isometry3::from_parts(Translation3::new(x(8) * 0.125, x(8) * 0.125, x(8) * 0.125), rotation);
    }
    let mut x = |r: f64| rng.random_range(-r..r);
    Isometry3::new(Vector3::new(x(0.8), x(0.8), x(0.8)), Vector3::new(x(3.0), x(3.0), x(3.0)))
}

/// Checks a pair; the error says which check fails.
fn judge(pair: &RandomPair, tally: &mut PairTally) -> Result<(), String> {
    let RandomPair { bodies: [a, b], shapes, poses: [p, q], later } = pair;
    let metric = |q: &Isometry3<f64>, basis: &mut Basis| {
        let found = ratio((a, p), (b, q), basis).filter(is_finite);
        found.ok_or_else(|| String::from("the ratio metric has no finite answer"))
    };
    let mut basis = Basis::default();
    let found = metric(q, &mut basis)?;
    tally.fallbacks += u64::from(found.counters.fallback);

    let mut near = Vec::new();
    gaps(&shapes[0], p, &shapes[1], q, f64::INFINITY, &mut near).map_err(|e| e.to_string())?;
    if near.is_empty() || !near.iter().all(is_gap) {
        return Err(format!("of {} gaps not all are finite with a unit normal", near.len()));
    }

    match minkowski_gap(&shapes[0], p, &shapes[1], q, None).map_err(|e| e.to_string())? {
        None => tally.silent += 1,
        Some(Gap { gap, .. }) if gap.abs() <= MIN_COMPARED_DISTANCE => {}
        Some(Gap { gap, .. }) => {
            tally.compared += 1;
            tally.overlapping += u64::from(gap < 0.0);
            if (gap > 0.0) != (found.r > 1.0) {
                let proof = found.certificate((a, p), (b, q));
                return Err(format!("parry {gap:?} m, r {:?}, {proof:?}", found.r));
            }
        }
    }

    let (warm, cold) = (metric(later, &mut basis)?, metric(later, &mut Basis::default())?);
    tally.warm += u64::from(warm.counters.warm);
    tally.fallbacks += u64::from(warm.counters.fallback);
    if !((warm.r - cold.r).abs() <= WARM_TOLERANCE * (1.0 + cold.r)) {
        return Err(format!("after a motion r {:?} warm, {:?} cold", warm.r, cold.r));
    }
    Ok(())
}

fn is_finite(found: &Ratio) -> bool {
    found.r.is_finite() && found.gap().is_finite() && found.point.coords.sum().is_finite()
}

fn is_gap(found: &Gap) -> bool {
    let numbers = found.gap + found.on_a.coords.sum() + found.on_b.coords.sum();
    numbers.is_finite() && (found.normal.norm() - 1.0).abs() < 1e-9
}
