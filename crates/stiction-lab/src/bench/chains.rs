//! `stiction-lab bench chains`: time per link and step of chains, and how it grows with their length.

use super::timing::ResultFile;
use crate::{BadInput, Outcome, print};
use cpu_time::ProcessTime;
use nalgebra::{Isometry2, Isometry3, Point2, Point3, UnitQuaternion, Vector2, Vector3};
use serde::Serialize;
use std::fmt::Write;
use stiction::{Mistakes, Scheme, Simulation, State, StepError, StepReport, System, planar, spatial};
use stiction_papers::slope;

/// Time per link and step of chains of 10 to 10,000 links that swing from one end.
///
/// Links are joined by hinges in the plane and by ball joints in space. A closed chain is a ring that hangs from one
/// link; in a doubled chain every joint occurs twice. Each is stepped with AH04, which solves one problem per step, and
/// with the default scheme, which also corrects positions to round-off by one more problem per pass.
#[derive(clap::Args)]
pub(crate) struct ChainArguments {
    /// Longest chain
    #[arg(long, default_value_t = 10_000)]
    links: u32,
    /// Timed steps of each chain; a tenth as many are made before
    #[arg(long, default_value_t = 30)]
    steps: usize,
    #[command(flatten)]
    results: ResultFile,
}

/// Maximum step [s].
const MAX_STEP: f64 = 0.01;
/// Maximum of h ω, where ω² = n g / l is the frequency of the top link, which carries the weight of all others. Schemes
/// that take rows at the start of the step are unstable above 2.
const MAX_STEP_FREQUENCY: f64 = 0.3;
const G: f64 = 9.81;
/// Half the length of a link [m].
const HALF_LINK: f64 = 0.05;
/// Initial angular velocity of open chains, relative to the frequency of a pendulum of the same length.
const INITIAL_SPIN: f64 = 0.5;
/// Target for the residuals and, with the default scheme, for the joint errors relative to a link. Printed only.
const TARGET_RESIDUAL: f64 = 1e-10;

/// Topology of a chain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChainVariant {
    Open,
    Closed,
    Doubled,
}

const VARIANTS: [(ChainVariant, &str); 3] =
    [(ChainVariant::Open, "open"), (ChainVariant::Closed, "closed"), (ChainVariant::Doubled, "doubled")];

/// Cost of a chain with a scheme.
#[derive(Serialize)]
struct ChainMeasurement {
    world: &'static str,
    chain: &'static str,
    scheme: &'static str,
    links: u32,
    /// Joint rows.
    rows: usize,
    /// Step [s].
    h: f64,
    /// Median CPU time of a step per link [µs].
    us_per_link: f64,
    /// Problems solved per step, post-stabilization included.
    problems: f64,
    factorizations: f64,
    /// Largest residual of a step.
    certificate: f64,
    /// Largest joint error at the end of a step [m].
    infeasibility: f64,
    /// Exponent of the time over the number of links, fitted to all chains of this kind.
    exponent: f64,
}

/// Runs the command.
pub(crate) fn run(arguments: &ChainArguments) -> Result<Outcome, BadInput> {
    let sizes: Vec<u32> =
        [10, 30, 100, 300, 1_000, 3_000, 10_000].into_iter().filter(|n| *n <= arguments.links).collect();
    let mut measurements: Vec<ChainMeasurement> = Vec::new();
    for world in ["plane", "space"] {
        for (variant, chain) in VARIANTS {
            for (scheme, of) in [("AH04", Scheme::ah04 as fn() -> Scheme), ("default", Scheme::default)] {
                let first = measurements.len();
                for &links in &sizes {
                    match measure(world, variant, links, of(), arguments.steps.max(1)) {
                        Ok(found) => measurements.push(ChainMeasurement { world, chain, scheme, ..found }),
                        Err(error) => {
                            print(&format!("{chain} chain of {links} links, {world}, {scheme}: {error}\n"))?;
                            return Ok(Outcome::NotSolved);
                        }
                    }
                }
                let family = &mut measurements[first..];
                let times: Vec<_> =
                    family.iter().map(|m| [f64::from(m.links), f64::from(m.links) * m.us_per_link]).collect();
                let exponent = slope(&times);
                family.iter_mut().for_each(|m| m.exponent = exponent);
            }
        }
    }
    arguments.results.publish(&measurements, &table(&measurements))?;
    Ok(Outcome::Solved)
}

fn measure(
    world: &str,
    variant: ChainVariant,
    links: u32,
    scheme: Scheme,
    steps: usize,
) -> Result<ChainMeasurement, Box<dyn std::error::Error>> {
    if world == "plane" {
        let model = in_plane(variant, links)?;
        let state = model.state();
        Ok(timed(model, state, links, scheme, steps)?)
    } else {
        let model = in_space(variant, links)?;
        let state = model.state();
        Ok(timed(model, state, links, scheme, steps)?)
    }
}

fn timed<S: System>(
    model: S,
    state: State,
    links: u32,
    scheme: Scheme,
    steps: usize,
) -> Result<ChainMeasurement, StepError> {
    let mut simulation = Simulation::from_state(model, state).with_scheme(scheme);
    let h = step_size(links);
    let mut report = StepReport::default();
    for _ in 0..steps.div_ceil(10) {
        simulation.step_into(h, &mut report)?;
    }
    let mut times = Vec::new();
    let (mut problems, mut factorizations, mut certificate, mut infeasibility) = (0, 0, 0.0, 0.0);
    for _ in 0..steps {
        let begun = ProcessTime::now();
        simulation.step_into(h, &mut report)?;
        times.push(1e6 * begun.elapsed().as_secs_f64());
        problems += report.work.problems;
        factorizations += report.work.factorizations;
        certificate = report.certificate.worst().max(certificate);
        infeasibility = report.infeasibility.max(infeasibility);
    }
    times.sort_by(f64::total_cmp);
    Ok(ChainMeasurement {
        world: "",
        chain: "",
        scheme: "",
        links,
        rows: report.joints.len(),
        h,
        us_per_link: times[times.len() / 2] / f64::from(links),
        problems: problems as f64 / steps as f64,
        factorizations: factorizations as f64 / steps as f64,
        certificate,
        infeasibility,
        exponent: 0.0,
    })
}

/// Positions of the joints before each link and after the last, in the xz plane; the chain hangs from the origin [m].
fn joints(variant: ChainVariant, links: u32) -> Vec<[f64; 2]> {
    let point = |i: u32| match variant {
        // a regular polygon, its first corner on top
        ChainVariant::Closed => {
            let corner = std::f64::consts::TAU * f64::from(i % links) / f64::from(links);
            let radius = HALF_LINK / (std::f64::consts::PI / f64::from(links)).sin();
            [radius * corner.sin(), radius * (corner.cos() - 1.0)]
        }
        _ => [0.0, -2.0 * HALF_LINK * f64::from(i)],
    };
    (0..=links).map(point).collect()
}

/// Initial angular velocity about the wall [rad/s]; a ring starts at rest.
fn initial_spin(variant: ChainVariant, links: u32) -> f64 {
    if variant == ChainVariant::Closed {
        0.0
    } else {
        INITIAL_SPIN * (G / (2.0 * HALF_LINK * f64::from(links))).sqrt()
    }
}

/// Joints: the point and the two bodies; body 0 is the wall and body i + 1 the i-th link.
fn joined(variant: ChainVariant, links: u32) -> impl Iterator<Item = (usize, usize, usize)> {
    let last = if variant == ChainVariant::Closed { Some((links as usize, links as usize, 1)) } else { None };
    (0..links as usize).map(|i| (i, i, i + 1)).chain(last)
}

fn in_plane(variant: ChainVariant, links: u32) -> Result<planar::Model, Mistakes> {
    let mut world = planar::World::new(Vector2::new(0.0, -G));
    let (points, spin) = (joints(variant, links), initial_spin(variant, links));
    let mut bodies = vec![world.add_body(planar::Body::fixed("wall"))];
    for (i, ends) in points.windows(2).enumerate() {
        let [[x, z], [next_x, next_z]] = [ends[0], ends[1]];
        let middle = Vector2::new(0.5 * (x + next_x), 0.5 * (z + next_z));
        let pose = Isometry2::new(middle, (next_x - x).atan2(z - next_z));
        // a rod of 1 kg
        let mass = planar::Mass::given(1.0, HALF_LINK * HALF_LINK / 3.0);
        let body = planar::Body::rigid(format!("link {i}"), mass).at(pose);
        let twist = planar::Twist::new(spin * Vector2::new(-middle.y, middle.x), spin);
        bodies.push(world.add_body(body.moving(twist)));
    }
    for (at, before, after) in joined(variant, links) {
        let point = Point2::new(points[at][0], points[at][1]);
        for copy in 0..if variant == ChainVariant::Doubled { 2 } else { 1 } {
            let name = format!("hinge {at}.{copy}");
            world.add_joint(planar::Joint::revolute(name, &world, bodies[before], bodies[after], point));
        }
    }
    world.build()
}

/// Step of a chain [s].
pub(super) fn step_size(links: u32) -> f64 {
    MAX_STEP.min(MAX_STEP_FREQUENCY * (2.0 * HALF_LINK / (f64::from(links) * G)).sqrt())
}

/// Open chain in space.
pub(super) fn open(links: u32) -> Result<spatial::Model, Mistakes> {
    in_space(ChainVariant::Open, links)
}

fn in_space(variant: ChainVariant, links: u32) -> Result<spatial::Model, Mistakes> {
    let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -G));
    let (points, spin) = (joints(variant, links), initial_spin(variant, links));
    let mut bodies = vec![world.add_body(spatial::Body::fixed("wall"))];
    for (i, ends) in points.windows(2).enumerate() {
        let [[x, z], [next_x, next_z]] = [ends[0], ends[1]];
        let middle = Vector3::new(0.5 * (x + next_x), 0.0, 0.5 * (z + next_z));
        let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), (x - next_x).atan2(z - next_z));
        // a bar of 1 kg, square and a fifth as thick as long
        let inertia = [
            HALF_LINK * HALF_LINK / 3.0 * 1.04,
            HALF_LINK * HALF_LINK / 3.0 * 1.04,
            HALF_LINK * HALF_LINK / 3.0 * 0.08,
        ];
        let body = spatial::Body::rigid(format!("link {i}"), spatial::Mass::given(1.0, inertia));
        // out of the plane of the chain
        let angular = spin * Vector3::new(0.6, 0.8, 0.0);
        let twist = spatial::Twist::new(angular.cross(&middle), angular);
        bodies.push(world.add_body(body.at(Isometry3::from_parts(middle.into(), turn)).moving(twist)));
    }
    for (at, before, after) in joined(variant, links) {
        let point = Point3::new(points[at][0], 0.0, points[at][1]);
        for copy in 0..if variant == ChainVariant::Doubled { 2 } else { 1 } {
            let name = format!("ball joint {at}.{copy}");
            world.add_joint(spatial::Joint::spherical(name, &world, bodies[before], bodies[after], point));
        }
    }
    world.build()
}

fn table(measurements: &[ChainMeasurement]) -> String {
    let mut text = format!(
        "Chains of links of {} m that swing or fall together, h = {MAX_STEP} s and less where that is too long for the weight below the first link\n\n",
        2.0 * HALF_LINK
    );
    let _ = writeln!(
        text,
        "{:<6} {:<8} {:<8} {:>6} {:>6} {:>8}  {:>14} {:>9} {:>6} {:>12} {:>14} {:>9}",
        "world",
        "chain",
        "scheme",
        "links",
        "rows",
        "h [s]",
        "per link [µs]",
        "problems",
        "facs",
        "certificate",
        "joint error",
        "exponent"
    );
    for m in measurements {
        let _ = writeln!(
            text,
            "{:<6} {:<8} {:<8} {:>6} {:>6} {:>8.1e}  {:>14.2} {:>9.2} {:>6.2} {:>12.1e} {:>12.1e} m {:>9.2}",
            m.world,
            m.chain,
            m.scheme,
            m.links,
            m.rows,
            m.h,
            m.us_per_link,
            m.problems,
            m.factorizations,
            m.certificate,
            m.infeasibility,
            m.exponent
        );
    }
    let worst = |pick: &dyn Fn(&ChainMeasurement) -> f64| measurements.iter().map(pick).fold(0.0, f64::max);
    let once = |m: &ChainMeasurement| m.scheme == "AH04";
    let _ = writeln!(
        text,
        "\none solve per step (AH04): at most {:.2} µs per link, target 3; exponent at most {:.2}, target 1.15",
        worst(&|m| if once(m) { m.us_per_link } else { 0.0 }),
        worst(&|m| if once(m) { m.exponent } else { 0.0 })
    );
    let _ = writeln!(
        text,
        "residuals: at most {:.1e}, and joint errors with post-stabilization {:.1e} of a link, target {TARGET_RESIDUAL:.0e}",
        worst(&|m| m.certificate),
        worst(&|m| if once(m) { 0.0 } else { m.infeasibility / (2.0 * HALF_LINK) })
    );
    text
}
