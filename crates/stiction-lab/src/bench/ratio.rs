//! `stiction-lab bench ratio`: time of queries of the ratio metric beside parry's GJK and EPA.

use super::timing::ResultFile;
use crate::{BadInput, Outcome, print};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::f64::consts::PI;
use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stiction_geometry::RatioCounters;
use stiction_geometry::spatial::{Basis, Polyhedron, Shape, minkowski_gap, ratio, ratio_by_seidel};

/// Queries of the ratio metric beside parry's GJK and EPA, on the same poses.
///
/// Bodies are hulls of random points on an ellipsoid with axes 1 : 0.8 : 0.6, or boxes for 6 facets. Poses are random;
/// one body is moved along the line of the centroids until the ratio has the given value r. A warm query starts from the
/// result of the previous one (the ratio metric from its basis, parry from its normal) after every coordinate of the
/// pose has changed by up to a motion. parry computes another quantity, the Euclidean distance or depth.
#[derive(clap::Args)]
pub(crate) struct RatioArguments {
    /// Skip bodies with more facets
    #[arg(long, default_value_t = 100_000)]
    most: usize,
    /// Pairs of poses for each size and ratio
    #[arg(long, default_value_t = 60)]
    poses: usize,
    /// Time spent on each measurement [s]
    #[arg(long, default_value_t = 0.1)]
    seconds: f64,
    #[command(flatten)]
    results: ResultFile,
}

/// Facets of the bodies.
const FACETS: [usize; 6] = [6, 60, 600, 2000, 20_000, 100_000];
/// Ratios of the queries: deep, shallow, near and far.
const RATIOS: [f64; 4] = [0.5, 0.95, 1.05, 2.0];
/// Motions between warm queries [m; rad]; bodies are 1 m long.
const MOTIONS: [f64; 2] = [1e-3, 1e-2];
/// Limits on the repetitions of all queries.
const MIN_SWEEPS: usize = 3;
const MAX_SWEEPS: usize = 1000;
/// Poses for Seidel's method on bodies of more than 2000 facets, where one query takes 0.1 s.
const SEIDEL_POSES: usize = 10;

/// Cost of one kind of query at one size and ratio.
#[derive(Serialize)]
struct RatioMeasurement {
    /// Facets of each body.
    facets: usize,
    r: f64,
    query: &'static str,
    /// Motion since the previous query; zero for a cold one.
    motion: f64,
    #[serde(flatten)]
    times: QueryTimes,
    parry_median_us: f64,
    parry_mean_us: f64,
    /// Median of parry over ours.
    parry_over_ours: f64,
    /// Mean counts per query.
    pivots: f64,
    visited: f64,
    /// Projections of Seidel's method per facet.
    projections: f64,
    /// Percentage of the queries that could use the given basis.
    warm: f64,
}

/// Median and mean over the poses of the median of each [µs].
#[derive(Clone, Copy, Serialize)]
struct QueryTimes {
    median_us: f64,
    mean_us: f64,
}

impl QueryTimes {
    /// Repeats all queries in turn, so that no query follows itself.
    fn of(seconds: f64, count: usize, mut query: impl FnMut(usize)) -> Self {
        let budget = Duration::from_secs_f64(seconds.clamp(0.0, 60.0));
        let mut times = vec![Vec::new(); count];
        let begun = Instant::now();
        let mut sweeps = 0;
        while sweeps < MIN_SWEEPS || (begun.elapsed() < budget && sweeps < MAX_SWEEPS) {
            for (i, times) in times.iter_mut().enumerate() {
                let start = Instant::now();
                query(i);
                times.push(1e6 * start.elapsed().as_secs_f64());
            }
            sweeps += 1;
        }
        let mut each: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
        Self { median_us: median(&mut each), mean_us: each.iter().sum::<f64>() / count as f64 }
    }

    fn less(self, clock: f64) -> Self {
        Self { median_us: self.median_us - clock, mean_us: self.mean_us - clock }
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Body for the ratio metric and for parry.
struct BenchBody {
    polyhedron: Arc<Polyhedron>,
    shape: Shape,
}

/// Pair of poses, the pose of b after each motion, and the starts of warm queries.
struct PoseQuery {
    p: Isometry3<f64>,
    q: Isometry3<f64>,
    next: [Isometry3<f64>; 2],
    basis: Basis,
    normal: Option<Vector3<f64>>,
}

/// Runs the command.
pub(crate) fn run(arguments: &RatioArguments) -> Result<Outcome, BadInput> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut measurements = Vec::new();
    for facets in FACETS.into_iter().filter(|&n| n <= arguments.most) {
        let bodies = [body(&mut rng, facets)?, body(&mut rng, facets)?];
        for r in RATIOS {
            let queries: Option<Vec<PoseQuery>> =
                (0..arguments.poses.max(1)).map(|_| query(&mut rng, &bodies, r)).collect();
            let Some(queries) = queries else {
                print(&format!("{facets} facets, r = {r}: a query had no answer\n"))?;
                return Ok(Outcome::NotSolved);
            };
            measurements.extend(measure(&bodies, r, &queries, arguments.seconds));
        }
    }
    arguments.results.publish(&measurements, &table(&measurements))?;
    Ok(Outcome::Solved)
}

fn body(rng: &mut ChaCha8Rng, facets: usize) -> Result<BenchBody, BadInput> {
    let half_extents = [0.5, 0.4, 0.3];
    let made = if facets == 6 {
        Polyhedron::cuboid(half_extents)
    } else {
        let points: Vec<_> = (0..facets / 2 + 2).map(|_| on_ellipsoid(rng, half_extents.into())).collect();
        Polyhedron::new(&points)
    };
    let polyhedron = Arc::new(made.map_err(|e| BadInput(e.to_string()))?);
    let shape =
        if facets == 6 { Shape::Cuboid { half_extents } } else { Shape::Polyhedron(polyhedron.clone()) };
    Ok(BenchBody { polyhedron, shape })
}

fn on_ellipsoid(rng: &mut ChaCha8Rng, axes: Vector3<f64>) -> Point3<f64> {
    loop {
        let v = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        let length: f64 = v.norm();
        if length > 0.1 && length < 1.0 {
            return Point3::from((v / length).component_mul(&axes));
        }
    }
}

fn turned(rng: &mut ChaCha8Rng) -> Isometry3<f64> {
    let mut x = || rng.random_range(-PI..PI);
    Isometry3::rotation(Vector3::new(x(), x(), x()))
}

fn moved(rng: &mut ChaCha8Rng, pose: &Isometry3<f64>, motion: f64) -> Isometry3<f64> {
    let mut x = || rng.random_range(-motion..motion);
    let at = pose.translation.vector + Vector3::new(x(), x(), x());
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(x(), x(), x())) * pose.rotation;
    Isometry3::from_parts(Translation3::from(at), turn)
}

/// Random poses at a ratio; `None` if a query fails.
fn query(rng: &mut ChaCha8Rng, [a, b]: &[BenchBody; 2], r: f64) -> Option<PoseQuery> {
    let (p, mut q) = (turned(rng), turned(rng));
    let direction = turned(rng) * Vector3::x();
    let metric =
        |q: &Isometry3<f64>, basis: &mut Basis| ratio((&a.polyhedron, &p), (&b.polyhedron, q), basis);
    // move along the line of the centroids to the given ratio
    q.translation.vector += p * a.polyhedron.centre() - q * b.polyhedron.centre() + direction;
    let at = metric(&q, &mut Basis::default())?;
    q.translation.vector += (r / at.r - 1.0) * direction;

    let mut basis = Basis::default();
    metric(&q, &mut basis)?;
    let normal = minkowski_gap(&a.shape, &p, &b.shape, &q, None).ok()?.map(|gap| gap.normal);
    let next = MOTIONS.map(|motion| moved(rng, &q, motion));
    Some(PoseQuery { p, q, next, basis, normal })
}

fn measure([a, b]: &[BenchBody; 2], r: f64, queries: &[PoseQuery], seconds: f64) -> Vec<RatioMeasurement> {
    let (x, y) = (&*a.polyhedron, &*b.polyhedron);
    let clock = QueryTimes::of(0.01, queries.len(), |i| {
        black_box(&queries[i]);
    });
    let timed =
        |count, query: &mut dyn FnMut(usize)| QueryTimes::of(seconds, count, query).less(clock.median_us);
    let parry = |start: bool, pose: &dyn Fn(usize) -> Isometry3<f64>| {
        timed(queries.len(), &mut |i| {
            let start = queries[i].normal.as_ref().filter(|_| start);
            let _ = black_box(minkowski_gap(&a.shape, &queries[i].p, &b.shape, &pose(i), start));
        })
    };
    let row = |query, motion, times: QueryTimes, parry: QueryTimes, works: &[RatioCounters]| {
        let mean =
            |part: &dyn Fn(&RatioCounters) -> f64| works.iter().map(part).sum::<f64>() / works.len() as f64;
        RatioMeasurement {
            facets: x.facets().len(),
            r,
            query,
            motion,
            times,
            parry_median_us: parry.median_us,
            parry_mean_us: parry.mean_us,
            parry_over_ours: parry.median_us / times.median_us,
            pivots: mean(&|w| w.pivots as f64),
            visited: mean(&|w| w.visited as f64),
            projections: mean(&|w| w.projections as f64) / (x.facets().len() + y.facets().len()) as f64,
            warm: mean(&|w| if w.warm { 100.0 } else { 0.0 }),
        }
    };

    let cold_parry = parry(false, &|i| queries[i].q);
    let few = if x.facets().len() > 2000 { SEIDEL_POSES.min(queries.len()) } else { queries.len() };
    let seidel = |i: usize| ratio_by_seidel((x, &queries[i].p), (y, &queries[i].q));
    let works: Vec<RatioCounters> = (0..few).filter_map(seidel).map(|found| found.counters).collect();
    let times = timed(few, &mut |i| {
        black_box(seidel(i));
    });
    let mut rows = vec![row("Seidel", 0.0, times, cold_parry, &works)];

    let cold = |i: usize| ratio((x, &queries[i].p), (y, &queries[i].q), &mut Basis::default());
    let works: Vec<RatioCounters> = (0..queries.len()).filter_map(cold).map(|found| found.counters).collect();
    let times = timed(queries.len(), &mut |i| {
        black_box(cold(i));
    });
    rows.push(row("cold", 0.0, times, cold_parry, &works));

    for (k, motion) in MOTIONS.into_iter().enumerate() {
        let warm_parry = parry(true, &|i| queries[i].next[k]);
        let warm = |i: usize| ratio((x, &queries[i].p), (y, &queries[i].next[k]), &mut { queries[i].basis });
        let works: Vec<RatioCounters> =
            (0..queries.len()).filter_map(warm).map(|found| found.counters).collect();
        let times = timed(queries.len(), &mut |i| {
            black_box(warm(i));
        });
        rows.push(row("warm", motion, times, warm_parry, &works));
    }
    rows
}

fn table(measurements: &[RatioMeasurement]) -> String {
    let mut text =
        String::from("Queries of the ratio metric beside parry's GJK and EPA, on the same poses\n\n");
    let _ = writeln!(
        text,
        "{:>26}  {:>19}  {:>19}  {:>8}  {:>28}",
        "", "ours [µs]", "parry [µs]", "parry", "work per query, projections/f"
    );
    let _ = writeln!(
        text,
        "{:>7} {:>5} {:<6} {:>6}  {:>9} {:>9}  {:>9} {:>9}  {:>8}  {:>7} {:>8} {:>6} {:>6}",
        "facets",
        "r",
        "query",
        "motion",
        "median",
        "mean",
        "median",
        "mean",
        "/ ours",
        "pivots",
        "visited",
        "proj.",
        "warm %"
    );
    for m in measurements {
        let _ = writeln!(
            text,
            "{:>7} {:>5} {:<6} {:>6}  {:>9.2} {:>9.2}  {:>9.2} {:>9.2}  {:>8.2}  {:>7.1} {:>8.1} {:>6.1} {:>6.0}",
            m.facets,
            m.r,
            m.query,
            m.motion,
            m.times.median_us,
            m.times.mean_us,
            m.parry_median_us,
            m.parry_mean_us,
            m.parry_over_ours,
            m.pivots,
            m.visited,
            m.projections,
            m.warm
        );
    }
    text
}
