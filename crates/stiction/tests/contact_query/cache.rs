//! Search cache: part of the state, so that restored runs repeat bit by bit.

use nalgebra::{Isometry2, Isometry3, Point3, UnitQuaternion, Vector2, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use stiction::{ContactQuery, PairId, SearchCache, ShapeId, Simulation, State, System, planar, spatial};
use stiction_geometry::spatial::Polyhedron;

/// Convex hull of random points on a sphere.
fn stone(rng: &mut ChaCha8Rng, corners: usize) -> spatial::Shape {
    let point = |_| {
        let v = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0_f64));
        Point3::from(0.3 * v.normalize())
    };
    let points: Vec<_> = (0..corners).map(point).collect();
    spatial::Shape::Polyhedron(Arc::new(Polyhedron::new(&points).unwrap()))
}

/// Model of boxes and stones that fall on each other and on a tray.
fn stones() -> spatial::Model {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -9.81));
    world.allow_overlap = true;
    let tray = spatial::Shape::Cuboid { half_extents: [2.0, 2.0, 0.1] };
    world.add_body(spatial::Body::fixed("tray").with(spatial::Attached::new(tray)));
    for i in 0..6 {
        let shape = if i % 3 == 0 {
            spatial::Shape::Cuboid { half_extents: [0.3, 0.2, 0.2] }
        } else {
            stone(&mut rng, 12 + 20 * i)
        };
        let at = Vector3::new(0.05 * f64::from(u32::try_from(i).unwrap()), 0.1, 0.5 + 0.65 * i as f64);
        let turn = UnitQuaternion::from_scaled_axis(Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0)));
        let body = spatial::Body::rigid(format!("stone {i}"), spatial::Mass::Density(100.0));
        world.add_body(body.at(Isometry3::from_parts(at.into(), turn)).with(spatial::Attached::new(shape)));
    }
    world.build().unwrap()
}

fn tiles() -> planar::Model {
    let mut world = planar::World::new(Vector2::new(0.0, -9.81));
    world.add_body(planar::Body::fixed("ground").with(planar::Attached::new(planar::Shape::HalfPlane)));
    for i in 0..8 {
        let shape = planar::Shape::Polygon(planar::Polygon::rectangle([0.4, 0.2]).unwrap());
        let pose =
            Isometry2::new(Vector2::new(0.1 * f64::from(i), 0.5 + 0.95 * f64::from(i)), 0.3 * f64::from(i));
        let body = planar::Body::rigid(format!("tile {i}"), planar::Mass::Density(10.0));
        world.add_body(body.at(pose).with(planar::Attached::new(shape)));
    }
    world.build().unwrap()
}

/// State after a round trip through a file.
fn copied(state: &State) -> State {
    let mut copy = state.clone();
    copy.memory.cache = SearchCache::from(Vec::<[u32; 6]>::from(state.memory.cache.clone()));
    copy
}

/// Asserts that a run restored in a new simulation after every few steps is the same bit by bit.
fn assert_restarts<S: System>(make: impl Fn() -> S, start: State, steps: usize) {
    let mut straight = Simulation::from_state(make(), start.clone());
    let mut broken = Simulation::from_state(make(), start);
    let mut most = 0;
    for step in 0..steps {
        let report = straight.step(0.01).unwrap_or_else(|e| panic!("step {step}: {e}"));
        if step % 7 == 0 {
            let state = copied(broken.state());
            broken = Simulation::from_state(make(), state);
        }
        assert_eq!(broken.step(0.01).unwrap(), report, "step {step}");
        assert_eq!(broken.state(), straight.state(), "step {step}");
        most = most.max(straight.state().memory.cache.len());
    }
    assert!(most >= 3, "at most {most} pairs were near");
}

#[test]
fn a_restored_run_continues_bit_by_bit() {
    assert_restarts(stones, stones().state(), 150);
    assert_restarts(tiles, tiles().state(), 150);
}

#[test]
fn the_cache_holds_near_pairs_alone() {
    let mut world = spatial::World::new(Vector3::zeros());
    let shape = spatial::Shape::Cuboid { half_extents: [0.5; 3] };
    world.add_body(spatial::Body::fixed("still").with(spatial::Attached::new(shape.clone())));
    let leaving = spatial::Twist::new(Vector3::new(0.0, 0.0, 1.0), Vector3::zeros());
    let body = spatial::Body::rigid("leaving", spatial::Mass::Density(1.0));
    let body = body.at(Isometry3::translation(0.0, 0.0, 1.0)).moving(leaving);
    world.add_body(body.with(spatial::Attached::new(shape)));
    let model = world.build().unwrap();
    let mut simulation = Simulation::new(model);
    simulation.step(0.01).unwrap();
    let cache = &simulation.state().memory.cache;
    assert_eq!(cache.len(), 1);
    assert!(cache.facets(PairId { a: ShapeId(0), b: ShapeId(1) }).is_some());
    for _ in 0..10 {
        simulation.step(0.01).unwrap();
    }
    assert!(simulation.state().memory.cache.is_empty());
}

#[test]
fn a_failed_step_does_not_change_the_cache() {
    let model = stones();
    let mut simulation = Simulation::new(model);
    for _ in 0..60 {
        simulation.step(0.01).unwrap();
    }
    let before = simulation.state().clone();
    assert!(!before.memory.cache.is_empty());
    // no method reaches this tolerance
    simulation.scheme.solver.tolerance = 0.0;
    simulation.step(0.01).unwrap_err();
    assert_eq!(simulation.state(), &before);
}

#[test]
fn entries_of_other_pairs_do_not_change_results() {
    let model = stones();
    let state = model.state();
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let near = ContactQuery::within(1.0);
    let (mut rows, mut others) = (Vec::new(), Vec::new());
    model.contacts(0.0, &state.q, &near, &mut SearchCache::default(), &mut rows);
    assert!(rows.len() > 10);
    for _ in 0..100 {
        let mut wrong: Vec<[u32; 6]> = Vec::new();
        for row in &rows {
            let PairId { a, b } = row.id.pair;
            let facet = |_| rng.random_range(0..20) | rng.random_range(0..2_u32) << 31;
            let [f, g, h, i] = [0; 4].map(facet);
            wrong.push([a.0, b.0, f, g, h, i]);
        }
        model.contacts(0.0, &state.q, &near, &mut wrong.into(), &mut others);
        assert_eq!(others.len(), rows.len());
        for (other, row) in others.iter().zip(&rows) {
            assert_eq!(other.id, row.id);
            // round-off of another basis at the same optimum
            assert!((other.gap - row.gap).abs() < 1e-12);
        }
    }
}
