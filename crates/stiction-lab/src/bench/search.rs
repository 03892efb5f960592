//! `stiction-lab bench search`: time of the contact search, alone and in steps.

use super::timing::ResultFile;
use crate::{BadInput, Outcome};
use nalgebra::{Isometry3, Point3, Vector3};
use serde::Serialize;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;
use stiction::spatial::{Attached, Body, Mass, Shape, World};
use stiction::{ContactQuery, SearchCache, Simulation, StepReport, System};
use stiction_geometry::spatial::Polyhedron;

/// Time of the contact search on a stack of boxes, large hulls on each other and on the ground, and many balls.
///
/// The search starts from its own cache of the previous call. Steps are those of the default scheme with h = 0.001 s.
#[derive(clap::Args)]
pub(crate) struct SearchArguments {
    /// Skip hulls of more than 2,000 facets and more than 100 balls
    #[arg(long)]
    small: bool,
    #[command(flatten)]
    results: ResultFile,
}

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);
/// Step [s].
const SEARCH_STEP: f64 = 1e-3;

/// World to search, its maximum gap [m], and the numbers of searches and of steps.
struct SearchCase {
    scene: String,
    world: World,
    max_gap: f64,
    calls: u32,
    steps: u32,
}

/// Times of one world.
#[derive(Serialize)]
struct SearchMeasurement {
    scene: String,
    contacts: usize,
    /// Time to build the model [s].
    build_s: f64,
    search_us: f64,
    /// Mean time of a step [µs].
    step_us: Option<f64>,
}

/// Runs the command.
pub(crate) fn run(arguments: &SearchArguments) -> Result<Outcome, BadInput> {
    let mut measurements = Vec::new();
    for case in cases(arguments.small) {
        measurements.push(measure(case).map_err(|error| BadInput(error.to_string()))?);
    }
    arguments.results.publish(&measurements, &table(&measurements))?;
    Ok(Outcome::Solved)
}

fn cases(small: bool) -> Vec<SearchCase> {
    let case =
        |scene: String, world, max_gap, calls, steps| SearchCase { scene, world, max_gap, calls, steps };
    let mut cases = vec![case("stack of 10 boxes".into(), stack(), 1e-3, 1000, 200)];
    for facets in [2_000, 20_000].into_iter().filter(|&facets| !small || facets <= 2_000) {
        cases.push(case(format!("hulls of {facets} facets"), hulls(facets), 1e-3, 200, 20));
        cases.push(case(format!("hulls of {facets} facets, gaps to 0.05 m"), hulls(facets), 0.05, 20, 0));
        cases.push(case(format!("{facets} facets on the ground"), hull_on_ground(facets), 1e-3, 200, 20));
    }
    for bodies in [100, 1_000, 5_000].into_iter().filter(|&bodies| !small || bodies <= 100) {
        cases.push(case(format!("{bodies} balls"), grid(bodies), 1e-3, 10, 0));
    }
    cases
}

/// Hull with about this many facets, of points spread evenly on the unit sphere.
fn hull(facets: u32) -> Shape {
    let points = facets / 2 + 2;
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let point = |i: u32| {
        let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(points);
        let (sin, cos) = (golden * f64::from(i)).sin_cos();
        let r = (1.0 - z * z).sqrt();
        Point3::new(r * cos, r * sin, z)
    };
    let points: Vec<_> = (0..points).map(point).collect();
    Shape::Polyhedron(Arc::new(Polyhedron::new(&points).expect("points on a sphere are convex")))
}

fn body(name: String, shape: Shape, at: [f64; 3]) -> Body {
    let pose = Isometry3::translation(at[0], at[1], at[2]);
    Body::rigid(name, Mass::Density(100.0)).at(pose).with(Attached::new(shape))
}

fn ground(world: &mut World) {
    world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfSpace)));
}

fn stack() -> World {
    let mut world = World::new(GRAVITY);
    ground(&mut world);
    for i in 0..10 {
        let shape = Shape::Cuboid { half_extents: [0.5; 3] };
        world.add_body(body(format!("box {i}"), shape, [0.0, 0.0, 0.5 + f64::from(i)]));
    }
    world
}

fn hulls(facets: u32) -> World {
    let mut world = World::new(GRAVITY);
    world.allow_overlap = true;
    world.add_body(Body::fixed("lower").with(Attached::new(hull(facets))));
    // their facets touch at about this height
    let height = 2.0 - 8.0 / f64::from(facets);
    world.add_body(body("upper".into(), hull(facets), [0.0, 0.0, height]));
    world
}

fn hull_on_ground(facets: u32) -> World {
    let mut world = World::new(GRAVITY);
    ground(&mut world);
    world.add_body(body("hull".into(), hull(facets), [0.0, 0.0, 1.0]));
    world
}

/// Spheres in a cubic grid, a tenth of their diameter apart.
fn grid(bodies: u32) -> World {
    let mut world = World::new(GRAVITY);
    ground(&mut world);
    let side = (1..100).find(|n| n * n * n >= bodies).unwrap_or(1);
    for i in 0..bodies {
        let at = [i % side, i / side % side, i / (side * side)].map(|k| 1.1 * f64::from(k) + 0.55);
        world.add_body(body(format!("ball {i}"), Shape::Sphere { radius: 0.5 }, at));
    }
    world
}

/// Time per call, the least of five runs [µs].
fn microseconds(calls: u32, mut call: impl FnMut()) -> f64 {
    let run = || {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        1e6 * start.elapsed().as_secs_f64() / f64::from(calls)
    };
    std::iter::repeat_with(run).take(5).fold(f64::INFINITY, f64::min)
}

fn measure(case: SearchCase) -> Result<SearchMeasurement, Box<dyn std::error::Error>> {
    let SearchCase { scene, world, max_gap, calls, steps } = case;
    let begun = Instant::now();
    let model = world.build()?;
    let build_s = begun.elapsed().as_secs_f64();
    let state = model.state();
    let (mut cache, mut rows) = (SearchCache::default(), Vec::new());
    let query = ContactQuery::within(max_gap);
    let search_us = microseconds(calls, || model.contacts(state.t, &state.q, &query, &mut cache, &mut rows));
    let mut found = SearchMeasurement { scene, contacts: rows.len(), build_s, search_us, step_us: None };
    if steps > 0 {
        let mut simulation = Simulation::from_state(model, state);
        let mut report = StepReport::default();
        let begun = Instant::now();
        for _ in 0..steps {
            simulation.step_into(SEARCH_STEP, &mut report)?;
        }
        found.step_us = Some(1e6 * begun.elapsed().as_secs_f64() / f64::from(steps));
    }
    Ok(found)
}

fn table(measurements: &[SearchMeasurement]) -> String {
    let mut text = String::from("Contact search, default scheme, h = 0.001 s\n\n");
    let _ = writeln!(
        text,
        "{:<38} {:>8} {:>10} {:>12} {:>12}",
        "scene", "contacts", "build [s]", "search [µs]", "step [µs]"
    );
    for m in measurements {
        let step = m.step_us.map_or("-".to_string(), |us| format!("{us:.1}"));
        let _ = writeln!(
            text,
            "{:<38} {:>8} {:>10.4} {:>12.1} {step:>12}",
            m.scene, m.contacts, m.build_s, m.search_us
        );
    }
    text
}
