//! Times the search for contacts, alone and in steps: stacks of boxes, large hulls on each other and on a
//! half-space, and many bodies.

use nalgebra::{Isometry3, Point3, Vector3};
use std::sync::Arc;
use std::time::Instant;
use stiction::spatial::{Attached, Body, Mass, Shape, World};
use stiction::{ContactQuery, SearchCache, Simulation, StepReport, System};
use stiction_geometry::spatial::Polyhedron;

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// A hull with about this many facets, of points spread evenly on the unit sphere.
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
    // about where their facets touch
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

/// Microseconds per call, the least of five runs.
fn microseconds(calls: u32, mut call: impl FnMut()) -> f64 {
    let run = || {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        1e6 * start.elapsed().as_secs_f64() / f64::from(calls)
    };
    std::iter::repeat_with(run).take(5).fold(f64::INFINITY, f64::min)
}

fn measure(name: &str, world: World, reach: f64, calls: u32, steps: u32) {
    let built = Instant::now();
    let model = world.build().expect("the scene is sound");
    let built = built.elapsed().as_secs_f64();
    let state = model.state();
    let (mut cache, mut rows) = (SearchCache::default(), Vec::new());
    let near = ContactQuery::within(reach);
    let search = microseconds(calls, || model.contacts(state.t, &state.q, &near, &mut cache, &mut rows));
    print!("{name:28} build {built:8.4} s  search {search:10.1} us, {:5} contacts", rows.len());
    if steps > 0 {
        let mut simulation = Simulation::from_state(model, state);
        let mut report = StepReport::default();
        let start = Instant::now();
        for _ in 0..steps {
            simulation.step_into(1e-3, &mut report).expect("the step is solved");
        }
        let step = 1e6 * start.elapsed().as_secs_f64() / f64::from(steps);
        print!("  step {step:10.1} us");
    }
    println!();
}

fn main() {
    measure("stack of 10 boxes", stack(), 1e-3, 1000, 200);
    for facets in [2_000, 20_000] {
        measure(&format!("hulls of {facets} facets"), hulls(facets), 1e-3, 200, 20);
        measure("the same, approaching fast", hulls(facets), 0.05, 20, 0);
        measure(&format!("{facets} facets on the ground"), hull_on_ground(facets), 1e-3, 200, 20);
    }
    for bodies in [100, 1_000, 5_000] {
        measure(&format!("{bodies} balls"), grid(bodies), 1e-3, 10, 0);
    }
}
