//! Broad phase: the tree finds the same contacts as a search over all pairs.

use nalgebra::{Isometry2, Isometry3, UnitQuaternion, Vector2, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::{
    Attached, Body, BodyId, ContactQuery, ContactRow, Dimension, Formulas, Groups, Mass, MotionBound, PairId,
    Path, Scheme, SearchCache, ShapeId, Simulation, System, Twist, World, planar, spatial,
};
use stiction_geometry::{self as geometry, Aabb, Gap, NoGap};

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

/// Body with one shape.
struct ShapedBody<D: Dimension> {
    id: BodyId,
    shape: D::Shape,
    /// Whether forces move it.
    free: bool,
    groups: Groups,
}

/// Adds body number `i`: one in ten is fixed, one in ten moves along `path`.
fn add_body<D: Dimension>(
    world: &mut World<D>,
    i: u32,
    pose: D::Isometry,
    velocity: Twist<D>,
    path: impl Fn(f64) -> (D::Isometry, Twist<D>) + Send + Sync + 'static,
    shape: D::Shape,
) -> ShapedBody<D> {
    let name = format!("{i}");
    let body = match i % 10 {
        0 => Body::fixed(name),
        1 => Body::kinematic(name, Path::new(path)),
        _ => Body::rigid(name, Mass::Density(1.0)).moving(velocity),
    };
    let attached = Attached::new(shape.clone()).groups(groups(i));
    let id = world.add_body(body.at(pose).with(attached));
    ShapedBody { id, shape, free: i % 10 > 1, groups: groups(i) }
}

/// Shape at its pose.
type Posed<'a, D> = (&'a <D as Dimension>::Shape, &'a <D as Dimension>::Isometry);

/// Asserts in 25 steps that the tree finds the contacts of all pairs. `speed` bounds that of a shape from its velocity,
/// `gaps` lists features and gaps of two shapes up to a distance [m].
fn assert_all_found<D: Formulas>(
    mut world: World<D>,
    bodies: &[ShapedBody<D>],
    speed: impl Fn(&Twist<D>, &D::Shape) -> f64,
    gaps: impl Fn(Posed<'_, D>, Posed<'_, D>, f64) -> Vec<(u32, f64)>,
) {
    world.allow_overlap = true;
    world.exclude(bodies[2].id, bodies[3].id);
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
        let travel = |body: &ShapedBody<D>| h * speed(&model.velocity(&state, body.id).unwrap(), &body.shape);
        for (i, a) in bodies.iter().enumerate() {
            for (j, b) in bodies.iter().enumerate().skip(i + 1) {
                if !(a.free || b.free) || !a.groups.meet(b.groups) || (i, j) == (2, 3) {
                    continue;
                }
                let [p, q] = [a, b].map(|body| model.pose(&state, body.id).unwrap());
                let pair = PairId { a: ShapeId(a.id.0), b: ShapeId(b.id.0) };
                let found = gaps((&a.shape, &p), (&b.shape, &q), 1e-3 + travel(a) + travel(b));
                all.extend(found.into_iter().map(|(feature, gap)| (pair, feature, gap)));
            }
        }
        assert!(all.len() > 100, "frame {frame}: {}", all.len());
        assert_same(&rows, all, frame);
        let v = state.v.clone();
        model.advance(&mut state.q, &v, h);
        state.t += h;
    }
}

/// Features and gaps of two shapes up to `reach` [m], none if their boxes are farther apart: metrics of polygons and
/// polyhedra may be less than the distance.
fn within<const N: usize>(
    boxes: [Aabb<N>; 2],
    reach: f64,
    append: impl FnOnce(&mut Vec<Gap<N>>) -> Result<(), NoGap>,
) -> Vec<(u32, f64)> {
    let mut gaps = Vec::new();
    if boxes[0].grown(reach).overlaps(&boxes[1]) {
        append(&mut gaps).unwrap();
    }
    gaps.iter().filter(|gap| gap.gap <= reach).map(|gap| (gap.feature, gap.gap)).collect()
}

#[test]
fn in_space_the_tree_finds_all_contacts() {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let mut random = |size: f64| Vector3::from_fn(|_, _| rng.random_range(-size..size));
    let mut world = spatial::World::new(Vector3::zeros());
    let mut bodies = Vec::new();
    for i in 0..300_u32 {
        let velocity = spatial::Twist::new(random(3.0), random(3.0));
        let pose = Isometry3::new(random(3.0), random(3.0));
        let path = move |t: f64| {
            let turn = UnitQuaternion::from_scaled_axis(t * velocity.angular);
            let at = pose.translation.vector + t * velocity.linear;
            (Isometry3::from_parts(at.into(), turn * pose.rotation), velocity)
        };
        let shape = match i % 3 {
            0 if i == 150 => spatial::Shape::HalfSpace,
            0 => spatial::Shape::Sphere { radius: 0.2 },
            1 => spatial::Shape::Cuboid { half_extents: [0.1, 0.2, 0.3] },
            _ => spatial::Shape::Capsule { half_length: 0.2, radius: 0.1 },
        };
        bodies.push(add_body(&mut world, i, pose, velocity, path, shape));
    }
    let speed = |velocity: &spatial::Twist, shape: &spatial::Shape| {
        let turn = velocity.angular.norm();
        velocity.linear.norm() + if turn > 0.0 { turn * geometry::spatial::size(shape) } else { 0.0 }
    };
    assert_all_found(world, &bodies, speed, |(a, p), (b, q), reach| {
        // up to the next power of two: a vertex may be near the plane of a facet and beside the facet
        let far = reach.log2().ceil().exp2();
        let boxes = [(a, p), (b, q)].map(|(shape, pose)| geometry::spatial::bounds(shape, pose));
        within(boxes, reach, |gaps| geometry::spatial::gaps(a, p, b, q, far, gaps))
    });
}

#[test]
fn in_the_plane_the_tree_finds_all_contacts() {
    let mut rng = ChaCha8Rng::seed_from_u64(22);
    let mut random = |size: f64| Vector2::from_fn(|_, _| rng.random_range(-size..size));
    let mut world = planar::World::new(Vector2::zeros());
    let mut bodies = Vec::new();
    for i in 0..300_u32 {
        let velocity = planar::Twist::new(random(3.0), random(3.0).x);
        let pose = Isometry2::new(random(10.0), random(3.0).x);
        let path = move |t: f64| {
            let at = pose.translation.vector + t * velocity.linear;
            (Isometry2::new(at, pose.rotation.angle() + t * velocity.angular), velocity)
        };
        let shape = match i % 3 {
            0 if i == 150 => planar::Shape::HalfPlane,
            0 => planar::Shape::Disk { radius: 0.3 },
            1 => planar::Shape::Polygon(planar::Polygon::rectangle([0.2, 0.3]).unwrap()),
            _ => planar::Shape::Capsule { half_length: 0.2, radius: 0.1 },
        };
        bodies.push(add_body(&mut world, i, pose, velocity, path, shape));
    }
    let speed = |velocity: &planar::Twist, shape: &planar::Shape| {
        let turn = velocity.angular.abs();
        velocity.linear.norm() + if turn > 0.0 { turn * geometry::planar::size(shape) } else { 0.0 }
    };
    assert_all_found(world, &bodies, speed, |(a, p), (b, q), reach| {
        let boxes = [(a, p), (b, q)].map(|(shape, pose)| geometry::planar::bounds(shape, pose));
        within(boxes, reach, |gaps| geometry::planar::gaps(a, p, b, q, reach, gaps))
    });
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
