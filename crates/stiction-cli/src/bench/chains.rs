//! `stiction bench chains`: what a step of a chain costs per link, and whether it grows faster than the chain.

use super::growth;
use crate::{BadInput, Outcome, print};
use cpu_time::ProcessTime;
use nalgebra::{Isometry2, Isometry3, Point2, Point3, UnitQuaternion, Vector2, Vector3};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use stiction::{Mistakes, Scheme, Simulation, State, StepError, StepReport, System, planar, spatial};

/// Chains of 10 to 10,000 links that swing from one end, in the plane (hinges) and in space (ball joints): time per link
/// and step.
///
/// Beside open chains there are closed ones, a ring that hangs from one link, and doubled ones, in which every joint is
/// there twice. Each is stepped with AH04, which solves one problem per step, and with the default scheme, which mends
/// positions to round-off afterwards and solves one more problem per pass.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Longest chain
    #[arg(long, default_value_t = 10_000)]
    links: u32,
    /// Steps of each chain, after as many to warm up as a tenth of them
    #[arg(long, default_value_t = 30)]
    steps: usize,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Largest step [s].
const H: f64 = 0.01;
/// Part of 1/ω that a step is at most: the top link, with the weight of all others on it, swings at ω² = n g / l, and no
/// scheme that takes rows where the step starts follows it with longer steps than 2/ω.
const SWING: f64 = 0.3;
const G: f64 = 9.81;
/// Half a link [m].
const HALF: f64 = 0.05;
/// How fast open chains turn about their wall at the start, over that of a pendulum as long.
const PUSH: f64 = 0.5;
/// What the residuals and, with the default scheme, the joint errors in units of a link are to stay below.
const RESIDUAL: f64 = 1e-10;

/// How the links are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Open,
    Closed,
    Doubled,
}

const VARIANTS: [(Variant, &str); 3] =
    [(Variant::Open, "open"), (Variant::Closed, "closed"), (Variant::Doubled, "doubled")];

/// A chain under a scheme.
#[derive(Serialize)]
struct Measurement {
    world: &'static str,
    chain: &'static str,
    scheme: &'static str,
    links: u32,
    /// Joint rows.
    rows: usize,
    /// Step [s].
    h: f64,
    /// CPU time, the median of the steps, per link [µs].
    us_per_link: f64,
    /// Problems solved per step, post-stabilization included.
    problems: f64,
    factorizations: f64,
    /// Largest residual of a step.
    certificate: f64,
    /// Largest joint error at the end of a step [m].
    infeasibility: f64,
    /// Of the time with the links, over all chains of this kind.
    exponent: f64,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    let sizes: Vec<u32> =
        [10, 30, 100, 300, 1_000, 3_000, 10_000].into_iter().filter(|n| *n <= arguments.links).collect();
    let mut measurements: Vec<Measurement> = Vec::new();
    for world in ["plane", "space"] {
        for (variant, chain) in VARIANTS {
            for (scheme, of) in [("AH04", Scheme::ah04 as fn() -> Scheme), ("default", Scheme::default)] {
                let first = measurements.len();
                for &links in &sizes {
                    match measure(world, variant, links, of(), arguments.steps.max(1)) {
                        Ok(found) => measurements.push(Measurement { world, chain, scheme, ..found }),
                        Err(error) => {
                            print(&format!("{chain} chain of {links} links, {world}, {scheme}: {error}\n"))?;
                            return Ok(Outcome::NotSolved);
                        }
                    }
                }
                let family = &mut measurements[first..];
                let times: Vec<_> =
                    family.iter().map(|m| (f64::from(m.links), f64::from(m.links) * m.us_per_link)).collect();
                let exponent = growth(&times);
                family.iter_mut().for_each(|m| m.exponent = exponent);
            }
        }
    }
    super::write_json(arguments.json.as_deref(), &measurements)?;
    print(&table(&measurements))?;
    Ok(Outcome::Solved)
}

fn measure(
    world: &str,
    variant: Variant,
    links: u32,
    scheme: Scheme,
    steps: usize,
) -> Result<Measurement, Box<dyn std::error::Error>> {
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
) -> Result<Measurement, StepError> {
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
    Ok(Measurement {
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

/// Where the joint before each link is, and after the last: in the xz plane, hanging from the origin.
fn joints(variant: Variant, links: u32) -> Vec<[f64; 2]> {
    let point = |i: u32| match variant {
        // a regular polygon, its first corner on top
        Variant::Closed => {
            let corner = std::f64::consts::TAU * f64::from(i % links) / f64::from(links);
            let radius = HALF / (std::f64::consts::PI / f64::from(links)).sin();
            [radius * corner.sin(), radius * (corner.cos() - 1.0)]
        }
        _ => [0.0, -2.0 * HALF * f64::from(i)],
    };
    (0..=links).map(point).collect()
}

/// How fast the chain turns about the wall at the start [rad/s]; a ring is at rest, and falls together.
fn push(variant: Variant, links: u32) -> f64 {
    if variant == Variant::Closed { 0.0 } else { PUSH * (G / (2.0 * HALF * f64::from(links))).sqrt() }
}

/// What is joined at each point: the link before and after it, 0 the wall and i + 1 the i-th link.
fn joined(variant: Variant, links: u32) -> impl Iterator<Item = (usize, usize, usize)> {
    let last = if variant == Variant::Closed { Some((links as usize, links as usize, 1)) } else { None };
    (0..links as usize).map(|i| (i, i, i + 1)).chain(last)
}

fn in_plane(variant: Variant, links: u32) -> Result<planar::Model, Mistakes> {
    let mut world = planar::World::new(Vector2::new(0.0, -G));
    let (points, push) = (joints(variant, links), push(variant, links));
    let mut bodies = vec![world.add_body(planar::Body::fixed("wall"))];
    for (i, ends) in points.windows(2).enumerate() {
        let [[x, z], [next_x, next_z]] = [ends[0], ends[1]];
        let middle = Vector2::new(0.5 * (x + next_x), 0.5 * (z + next_z));
        let pose = Isometry2::new(middle, (next_x - x).atan2(z - next_z));
        // a rod of 1 kg
        let mass = planar::Mass::given(1.0, HALF * HALF / 3.0);
        let body = planar::Body::rigid(format!("link {i}"), mass).at(pose);
        let twist = planar::Twist::new(push * Vector2::new(-middle.y, middle.x), push);
        bodies.push(world.add_body(body.moving(twist)));
    }
    for (at, before, after) in joined(variant, links) {
        let point = Point2::new(points[at][0], points[at][1]);
        for copy in 0..if variant == Variant::Doubled { 2 } else { 1 } {
            let name = format!("hinge {at}.{copy}");
            world.add_joint(planar::Joint::revolute(name, &world, bodies[before], bodies[after], point));
        }
    }
    world.build()
}

/// The step of a chain [s].
pub(super) fn step_size(links: u32) -> f64 {
    H.min(SWING * (2.0 * HALF / (f64::from(links) * G)).sqrt())
}

/// An open chain in space.
pub(super) fn open(links: u32) -> Result<spatial::Model, Mistakes> {
    in_space(Variant::Open, links)
}

fn in_space(variant: Variant, links: u32) -> Result<spatial::Model, Mistakes> {
    let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -G));
    let (points, push) = (joints(variant, links), push(variant, links));
    let mut bodies = vec![world.add_body(spatial::Body::fixed("wall"))];
    for (i, ends) in points.windows(2).enumerate() {
        let [[x, z], [next_x, next_z]] = [ends[0], ends[1]];
        let middle = Vector3::new(0.5 * (x + next_x), 0.0, 0.5 * (z + next_z));
        let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), (x - next_x).atan2(z - next_z));
        // a bar of 1 kg, square and a fifth as thick as long
        let inertia = [HALF * HALF / 3.0 * 1.04, HALF * HALF / 3.0 * 1.04, HALF * HALF / 3.0 * 0.08];
        let body = spatial::Body::rigid(format!("link {i}"), spatial::Mass::given(1.0, inertia));
        // a ring that falls together stays in its plane
        let angular = push * Vector3::new(0.6, 0.8, 0.0);
        let twist = spatial::Twist::new(angular.cross(&middle), angular);
        bodies.push(world.add_body(body.at(Isometry3::from_parts(middle.into(), turn)).moving(twist)));
    }
    for (at, before, after) in joined(variant, links) {
        let point = Point3::new(points[at][0], 0.0, points[at][1]);
        for copy in 0..if variant == Variant::Doubled { 2 } else { 1 } {
            let name = format!("ball joint {at}.{copy}");
            world.add_joint(spatial::Joint::spherical(name, &world, bodies[before], bodies[after], point));
        }
    }
    world.build()
}

fn table(measurements: &[Measurement]) -> String {
    let mut text = format!(
        "Chains of links of {} m that swing or fall together, h = {H} s and less where that is too long for the weight below the first link\n\n",
        2.0 * HALF
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
    let worst = |pick: &dyn Fn(&Measurement) -> f64| measurements.iter().map(pick).fold(0.0, f64::max);
    let once = |m: &Measurement| m.scheme == "AH04";
    let _ = writeln!(
        text,
        "\none solve per step (AH04): at most {:.2} µs per link, asked for 3; exponent at most {:.2}, asked for 1.15",
        worst(&|m| if once(m) { m.us_per_link } else { 0.0 }),
        worst(&|m| if once(m) { m.exponent } else { 0.0 })
    );
    let _ = writeln!(
        text,
        "residuals: at most {:.1e}, and joint errors with post-stabilization {:.1e} of a link, asked for {RESIDUAL:.0e}",
        worst(&|m| m.certificate),
        worst(&|m| if once(m) { 0.0 } else { m.infeasibility / (2.0 * HALF) })
    );
    text
}
