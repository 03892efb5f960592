//! Broad phase: the tree finds the same contacts as a search over all pairs.

use nalgebra::{Isometry2, Isometry3, UnitQuaternion, Vector2, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::{
    ContactQuery, ContactRow, Groups, MotionBound, PairId, Scheme, SearchCache, ShapeId, Simulation, System,
    planar, spatial,
};
use stiction_geometry as geometry;

/// Contact as its pair, feature and gap.
type Found = (PairId, u32, f64);

/// Asserts that rows are those of all pairs, in the same order, up to round-off of the poses.
fn assert_same(rows: &[ContactRow], mut all: Vec<Found>, frame: usize) {
    all.sort_by_key(|&(pair, feature, _)| (pair, feature));
    let mut found: Vec<Found> = rows.iter().map(|r| (r.id.pair, r.id.feature, r.gap)).collect();
    assert!(found.is_sorted_by_key(|&(pair, ..)| pair), "frame {frame}");
    found.sort_by_key(|&(pair, feature, _)| (pair, feature));
    assert_eq!(found.len(), all.len(), "frame {frame}");
    for (found, all) in found.iter().zip(&all) {
        assert_eq!((found.0, found.1), (all.0, all.1), "frame {frame}");
        assert!((found.2 - all.2).abs() < 1e-9, "frame {frame}: {found:?}, {all:?}");
    }
}

/// Groups of a body: some collide with all others, some with a part of them.
fn groups(i: u32) -> Groups {
    Groups { member: 1 << (i % 4), collides: if i.is_multiple_of(7) { 0b0101 } else { u32::MAX } }
}

#[test]
fn in_space_the_tree_finds_all_contacts() {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let mut random = |size: f64| Vector3::from_fn(|_, _| rng.random_range(-size..size));
    let mut world = spatial::World::new(Vector3::zeros());
    world.allow_overlap = true;
    let mut shapes = Vec::new();
    for i in 0..300_u32 {
        let velocity = spatial::Twist::new(random(3.0), random(3.0));
        let pose = Isometry3::new(random(3.0), random(3.0));
        let body = match i % 10 {
            0 => spatial::Body::fixed(format!("{i}")),
            1 => {
                let path = spatial::Path::new(move |t| {
                    let turn = UnitQuaternion::from_scaled_axis(t * velocity.angular);
                    let at = pose.translation.vector + t * velocity.linear;
                    (Isometry3::from_parts(at.into(), turn * pose.rotation), velocity)
                });
                spatial::Body::kinematic(format!("{i}"), path)
            }
            _ => spatial::Body::rigid(format!("{i}"), spatial::Mass::Density(1.0)).moving(velocity),
        };
        let shape = match i % 3 {
            0 if i == 150 => spatial::Shape::HalfSpace,
            0 => spatial::Shape::Sphere { radius: 0.2 },
            1 => spatial::Shape::Cuboid { half_extents: [0.1, 0.2, 0.3] },
            _ => spatial::Shape::Capsule { half_length: 0.2, radius: 0.1 },
        };
        let attached = spatial::Attached::new(shape.clone()).groups(groups(i));
        let id = world.add_body(body.at(pose).with(attached));
        shapes.push((id, shape, i % 10 > 1, groups(i)));
    }
    world.exclude(shapes[2].0, shapes[3].0);
    let model = world.build().unwrap();
    let mut state = model.state();
    let (mut cache, mut rows, mut fresh) = (SearchCache::default(), Vec::new(), Vec::new());
    let h = 0.02;
    for frame in 0..25 {
        let half: Vec<f64> = state.v.iter().map(|v| 0.5 * v).collect();
        let sweep = MotionBound { t: state.t, h, v: [half, state.v.clone()] };
        let near = ContactQuery { motion: Some(&sweep), ..ContactQuery::within(1e-3) };
        let before = cache.clone();
        model.contacts(state.t, &state.q, &near, &mut cache, &mut rows);
        // a new model gives the same bit by bit
        model.clone().contacts(state.t, &state.q, &near, &mut before.clone(), &mut fresh);
        assert_eq!(rows, fresh, "frame {frame}");

        let mut all = Vec::new();
        let travel = |(id, shape, ..): &(spatial::BodyId, spatial::Shape, bool, Groups)| {
            let spatial::Twist { linear, angular } = model.velocity(&state, *id).unwrap();
            let turning =
                if angular.norm() > 0.0 { angular.norm() * geometry::spatial::size(shape) } else { 0.0 };
            h * (linear.norm() + turning)
        };
        for (i, a) in shapes.iter().enumerate() {
            for (j, b) in shapes.iter().enumerate().skip(i + 1) {
                if !(a.2 || b.2) || !a.3.meet(b.3) || (i, j) == (2, 3) {
                    continue;
                }
                let pose = |id| model.pose(&state, id).unwrap();
                let mut gaps = Vec::new();
                let reach = 1e-3 + travel(a) + travel(b);
                let (p, q) = (pose(a.0), pose(b.0));
                // metrics of polygons and polyhedra may be less than the distance
                let [box_a, box_b] = [(&a.1, &p), (&b.1, &q)].map(|(s, p)| geometry::spatial::bounds(s, p));
                if !box_a.grown(reach).overlaps(&box_b) {
                    continue;
                }
                // up to the next power of two: a vertex may be near the plane of a facet and beside the facet
                let far = reach.log2().ceil().exp2();
                geometry::spatial::gaps(&a.1, &p, &b.1, &q, far, &mut gaps).unwrap();
                gaps.retain(|gap| gap.gap <= reach);
                let pair = PairId { a: ShapeId(a.0.0), b: ShapeId(b.0.0) };
                all.extend(gaps.iter().map(|gap| (pair, gap.feature, gap.gap)));
            }
        }
        assert!(all.len() > 100, "frame {frame}: {}", all.len());
        assert_same(&rows, all, frame);
        let v = state.v.clone();
        model.advance(&mut state.q, &v, h);
        state.t += h;
    }
}

#[test]
fn in_the_plane_the_tree_finds_all_contacts() {
    let mut rng = ChaCha8Rng::seed_from_u64(22);
    let mut random = |size: f64| Vector2::from_fn(|_, _| rng.random_range(-size..size));
    let mut world = planar::World::new(Vector2::zeros());
    world.allow_overlap = true;
    let mut shapes = Vec::new();
    for i in 0..300_u32 {
        let velocity = planar::Twist::new(random(3.0), random(3.0).x);
        let pose = Isometry2::new(random(10.0), random(3.0).x);
        let body = match i % 10 {
            0 => planar::Body::fixed(format!("{i}")),
            1 => {
                let path = planar::Path::new(move |t| {
                    let at = pose.translation.vector + t * velocity.linear;
                    (Isometry2::new(at, pose.rotation.angle() + t * velocity.angular), velocity)
                });
                planar::Body::kinematic(format!("{i}"), path)
            }
            _ => planar::Body::rigid(format!("{i}"), planar::Mass::Density(1.0)).moving(velocity),
        };
        let shape = match i % 3 {
            0 if i == 150 => planar::Shape::HalfPlane,
            0 => planar::Shape::Disk { radius: 0.3 },
            1 => planar::Shape::Polygon(planar::Polygon::rectangle([0.2, 0.3]).unwrap()),
            _ => planar::Shape::Capsule { half_length: 0.2, radius: 0.1 },
        };
        let attached = planar::Attached::new(shape.clone()).groups(groups(i));
        let id = world.add_body(body.at(pose).with(attached));
        shapes.push((id, shape, i % 10 > 1, groups(i)));
    }
    world.exclude(shapes[2].0, shapes[3].0);
    let model = world.build().unwrap();
    let mut state = model.state();
    let (mut cache, mut rows, mut fresh) = (SearchCache::default(), Vec::new(), Vec::new());
    let h = 0.02;
    for frame in 0..25 {
        let half: Vec<f64> = state.v.iter().map(|v| 0.5 * v).collect();
        let sweep = MotionBound { t: state.t, h, v: [half, state.v.clone()] };
        let near = ContactQuery { motion: Some(&sweep), ..ContactQuery::within(1e-3) };
        let before = cache.clone();
        model.contacts(state.t, &state.q, &near, &mut cache, &mut rows);
        // a new model gives the same bit by bit
        model.clone().contacts(state.t, &state.q, &near, &mut before.clone(), &mut fresh);
        assert_eq!(rows, fresh, "frame {frame}");

        let mut all = Vec::new();
        let travel = |(id, shape, ..): &(planar::BodyId, planar::Shape, bool, Groups)| {
            let planar::Twist { linear, angular } = model.velocity(&state, *id).unwrap();
            let turning = if angular == 0.0 { 0.0 } else { angular.abs() * geometry::planar::size(shape) };
            h * (linear.norm() + turning)
        };
        for (i, a) in shapes.iter().enumerate() {
            for (j, b) in shapes.iter().enumerate().skip(i + 1) {
                if !(a.2 || b.2) || !a.3.meet(b.3) || (i, j) == (2, 3) {
                    continue;
                }
                let pose = |id| model.pose(&state, id).unwrap();
                let mut gaps = Vec::new();
                let reach = 1e-3 + travel(a) + travel(b);
                let (p, q) = (pose(a.0), pose(b.0));
                // metrics of polygons and polyhedra may be less than the distance
                let [box_a, box_b] = [(&a.1, &p), (&b.1, &q)].map(|(s, p)| geometry::planar::bounds(s, p));
                if !box_a.grown(reach).overlaps(&box_b) {
                    continue;
                }
                geometry::planar::gaps(&a.1, &p, &b.1, &q, reach, &mut gaps).unwrap();
                let pair = PairId { a: ShapeId(a.0.0), b: ShapeId(b.0.0) };
                all.extend(gaps.iter().map(|gap| (pair, gap.feature, gap.gap)));
            }
        }
        assert!(all.len() > 100, "frame {frame}: {}", all.len());
        assert_same(&rows, all, frame);
        let v = state.v.clone();
        model.advance(&mut state.q, &v, h);
        state.t += h;
    }
}

/// One fast body does not enlarge the search distance of the others.
#[test]
fn the_search_distance_is_that_of_each_body() {
    let mut world = planar::World::new(Vector2::zeros());
    for i in 0..20 {
        let disk = planar::Attached::new(planar::Shape::Disk { radius: 0.45 });
        let body = planar::Body::rigid(format!("disk {i}"), planar::Mass::Density(1.0));
        world.add_body(body.at(Isometry2::translation(f64::from(i), 0.0)).with(disk));
    }
    let disk = planar::Attached::new(planar::Shape::Disk { radius: 0.45 });
    let fast = planar::Twist::new(Vector2::new(0.0, -200.0), 0.0);
    let body = planar::Body::rigid("fast", planar::Mass::Density(1.0)).moving(fast);
    world.add_body(body.at(Isometry2::translation(10.0, 1.5)).with(disk));
    let model = world.build().unwrap();
    let mut simulation = Simulation::new(model).with_scheme(Scheme::ah04());
    let report = simulation.step(0.01).unwrap();
    // the fast body moves by 2 m: three disks and the corners of two more
    let with_fast = report.contacts.iter().filter(|c| c.id.pair.b.0 == 20).count();
    assert_eq!((with_fast, report.contacts.len() - with_fast), (5, 0));
    assert!(report.contacts.iter().any(|c| c.normal_impulse > 0.0));
}

#[test]
fn two_thousand_bodies_find_their_neighbours() {
    let mut world = planar::World::new(Vector2::new(0.0, -9.81));
    world.add_body(planar::Body::fixed("ground").with(planar::Attached::new(planar::Shape::HalfPlane)));
    for i in 0..2000 {
        let disk = planar::Attached::new(planar::Shape::Disk { radius: 0.4 });
        let at = Isometry2::translation(f64::from(i % 500), 0.5 + f64::from(i / 500));
        world
            .add_body(planar::Body::rigid(format!("disk {i}"), planar::Mass::Density(1.0)).at(at).with(disk));
    }
    let model = world.build().unwrap();
    let (state, mut rows) = (model.state(), Vec::new());
    model.contacts(0.0, &state.q, &ContactQuery::within(0.15), &mut SearchCache::default(), &mut rows);
    assert_eq!(rows.len(), 500);
    model.contacts(0.0, &state.q, &ContactQuery::within(0.25), &mut SearchCache::default(), &mut rows);
    // along the rows, along the columns, and the lowest row with the ground
    assert_eq!(rows.len(), 4 * 499 + 3 * 500 + 500);
}
