//! Gaps of curved and rounded shapes: proof of distances by points and separating planes, all pairs of shapes.

use nalgebra::{Isometry3, Point3, Vector3};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stiction_geometry::spatial::{self, Gap, Shape};

use crate::scenes::{rng, spatial_near, spatial_pose, spatial_shapes};

/// Largest distance of a point from a shape, as far as its membership is checked [m].
fn outside(shape: &Shape, p: &Point3<f64>) -> f64 {
    let over = |x: f64, half: f64| x.abs() - half;
    match shape {
        Shape::Sphere { radius } => p.coords.norm() - radius,
        Shape::Ellipsoid { semi_axes } => {
            let axes = Vector3::from(*semi_axes);
            (p.coords.component_div(&axes).norm() - 1.0) * axes.min()
        }
        Shape::Capsule { half_length: l, radius } => {
            Vector3::new(p.x, p.y, p.z - p.z.clamp(-l, *l)).norm() - radius
        }
        Shape::Cuboid { half_extents } => {
            (0..3).map(|i| over(p[i], half_extents[i])).fold(f64::MIN, f64::max)
        }
        Shape::Polyhedron(polyhedron) => {
            let height = |a: &Vector3<f64>| (a.dot(&(p - polyhedron.centre())) - 1.0) / a.norm();
            polyhedron.facets().iter().map(height).fold(f64::MIN, f64::max)
        }
        Shape::Cylinder { half_length, radius } => over(p.z, *half_length).max(p.x.hypot(p.y) - radius),
        Shape::Cone { half_length: l, radius } => {
            let slant = radius.hypot(2.0 * l);
            let side = (p.x.hypot(p.y) * 2.0 * l + (p.z - l) * radius) / slant;
            side.max(-l - p.z)
        }
        Shape::HalfSpace => p.z,
        Shape::Rounded { core, radius } => {
            // alternating projections onto the core would need another method: the nearest point of the core by the
            // distance of a point, whose proof is a test of its own
            let at = Isometry3::translation(p.x, p.y, p.z);
            let near = spatial_near((core, &Isometry3::identity()), (&Shape::Sphere { radius: 0.0 }, &at));
            near.iter().map(|g| g.gap).fold(f64::INFINITY, f64::min) - radius
        }
    }
}

/// Separation of two shapes along a unit normal: a lower bound of their signed distance.
fn separation(
    (a, p): (&Shape, &Isometry3<f64>),
    (b, q): (&Shape, &Isometry3<f64>),
    n: &Vector3<f64>,
) -> Option<f64> {
    let of = |shape: &Shape, pose: &Isometry3<f64>, n: &Vector3<f64>| {
        let local = pose.rotation.inverse_transform_vector(n);
        spatial::support(shape, &local).map(|point| pose * point)
    };
    Some(n.dot(&(of(b, q, &-n)? - of(a, p, n)?)))
}

/// Pair of poses: touching or nearly so, far apart, or overlapping.
fn poses(rng: &mut ChaCha8Rng, a: &Shape, b: &Shape, kind: usize) -> [Isometry3<f64>; 2] {
    let mut pair = [spatial_pose(rng, 0.5), spatial_pose(rng, 0.5)];
    if kind == 3 || [a, b].contains(&&Shape::HalfSpace) {
        return pair;
    }
    // along a direction to a distance
    let n = (pair[1].translation.vector - pair[0].translation.vector).normalize();
    let gap = match kind {
        0 => 0.0,
        1 => rng.random_range(0.0..0.1),
        _ => rng.random_range(0.5..5.0),
    };
    for _ in 0..60 {
        let near = spatial_near((a, &pair[0]), (b, &pair[1]));
        let Some(least) = least(&near) else { break };
        let off = gap - least.gap;
        if off.abs() < 1e-14 {
            break;
        }
        let along = n.dot(&least.normal);
        pair[1].translation.vector += n * (off / along.max(0.2));
    }
    pair
}

fn least(near: &[Gap]) -> Option<Gap> {
    near.iter().copied().reduce(|g, h| if h.gap < g.gap { h } else { g })
}

/// Every pair with a curved or rounded shape at touching, near, far and overlapping poses: the least gap of bodies that are apart is their
/// distance, proven by its witness points from above and by the planes across its normal from below. Bodies that overlap
/// have a negative gap, at most the depth along its normal.
#[test]
fn gaps_of_all_pairs_are_proven_distances() {
    let shapes = spatial_shapes();
    let mut rng = rng(901);
    let is_curved = |s: &Shape| {
        use Shape::{Cone, Cylinder, Ellipsoid, Rounded};
        matches!(s, Cone { .. } | Cylinder { .. } | Ellipsoid { .. } | Rounded { .. })
    };
    let mut deep = 0;
    for a in &shapes {
        for b in shapes.iter().filter(|b| is_curved(a) || is_curved(b)) {
            let (mut apart, mut overlapping) = (0, 0);
            for k in 0..120 {
                let [p, q] = poses(&mut rng, a, b, k % 4);
                let near = spatial_near((a, &p), (b, &q));
                let g = least(&near).unwrap();
                let bound = separation((a, &p), (b, &q), &g.normal);
                let member = outside(a, &(p.inverse() * g.on_a)).max(outside(b, &(q.inverse() * g.on_b)));
                let place = || format!("{a:?} {p:?}\n{b:?} {q:?}\n{near:?}");
                if g.gap > 1e-12 {
                    apart += 1;
                    // a half-space has no support point across its surface
                    assert!(bound.is_none_or(|bound| (g.gap - bound).abs() < 1e-12), "{}", place());
                    assert!(member < 1e-12, "outside by {member}: {}", place());
                } else {
                    overlapping += usize::from(g.gap < -1e-9);
                    assert!(bound.is_none_or(|bound| bound <= 1e-12), "{bound:?}: {}", place());
                }
            }
            // poses at a half-space are random alone
            let least = if [a, b].contains(&&Shape::HalfSpace) { 1 } else { 30 };
            assert!(apart >= least, "{a:?} {b:?}: {apart} apart");
            deep += overlapping;
        }
    }
    assert!(deep > 3000, "only {deep} poses overlap");
}

/// Bodies that lie along each other have the gaps that hold them.
#[test]
fn line_and_face_contacts_have_enough_points() {
    use nalgebra::{Translation3, UnitQuaternion};
    let cylinder = Shape::Cylinder { half_length: 0.5, radius: 0.3 };
    let wide = Shape::Cuboid { half_extents: [2.0, 2.0, 0.5] };
    let narrow = Shape::Cuboid { half_extents: [2.0, 0.2, 0.5] };
    let upright = Vector3::zeros();
    // local z to y
    let lying = -std::f64::consts::FRAC_PI_2 * Vector3::x();
    let at = |z: f64, turn: Vector3<f64>| {
        Isometry3::from_parts(Translation3::new(0.0, 0.0, z), UnitQuaternion::from_scaled_axis(turn))
    };
    let touching = |support: &Shape, shape: &Shape, pose: &Isometry3<f64>| {
        let near = spatial_near((support, &Isometry3::identity()), (shape, pose));
        assert!(near.iter().all(|g| g.gap > -1e-12), "{near:?}");
        near.into_iter().filter(|g| g.gap < 1e-12).collect::<Vec<_>>()
    };
    let width = |near: &[Gap]| near.iter().map(|g| g.on_a.y.abs()).fold(0.0, f64::max);

    // it stands on its rim, lies on its ends, and where it overhangs a box on the edges of the box
    assert_eq!(touching(&wide, &cylinder, &at(1.0, upright)).len(), 8);
    let ends = touching(&wide, &cylinder, &at(0.8, lying));
    assert!(ends.len() == 2 && (width(&ends) - 0.5).abs() < 1e-12, "{ends:?}");
    let edges = touching(&narrow, &cylinder, &at(0.8, lying));
    assert!(edges.len() == 2 && (width(&edges) - 0.2).abs() < 1e-12, "{edges:?}");
    // standing astride the box: the rim crosses both edges twice, and fixed points lie between
    let astride = touching(&narrow, &cylinder, &at(1.0, upright));
    assert!(astride.len() >= 6 && (width(&astride) - 0.2).abs() < 1e-12, "{astride:?}");
    // along another cylinder, and across it
    let below = at(0.0, lying);
    let along = |turn: Vector3<f64>| {
        let near = spatial_near((&cylinder, &below), (&cylinder, &at(0.6, turn)));
        near.into_iter().filter(|g| g.gap.abs() < 1e-12).count()
    };
    assert_eq!(along(lying), 2);
    assert_eq!(along(std::f64::consts::FRAC_PI_2 * Vector3::y()), 1);
}

/// A body that is tilted over a box, near it and into it: the least gap changes by no more than the surface moves.
#[test]
fn least_gap_is_continuous_as_a_cylinder_tilts() {
    let shapes = spatial_shapes();
    let cuboid = Shape::Cuboid { half_extents: [0.6, 0.4, 0.5] };
    // gaps of the ratio metric, of two boxes or polyhedra, are no distances
    let is_ratio = |s: &Shape| matches!(s, Shape::HalfSpace | Shape::Cuboid { .. } | Shape::Polyhedron(_));
    for shape in shapes.iter().filter(|s| !is_ratio(s)) {
        let mut last: Option<f64> = None;
        for k in 0..4000 {
            let angle = f64::from(k) * 5e-4;
            let pose = Isometry3::new(Vector3::new(0.3, 0.2, 1.2), angle * Vector3::new(0.6, 0.8, 0.0));
            let near = spatial_near((&cuboid, &Isometry3::identity()), (shape, &pose));
            let now = least(&near).unwrap().gap;
            // one size per radian, at most 0.8 m
            assert!(
                last.is_none_or(|last| (now - last).abs() < 5e-4),
                "{shape:?} at {angle}: {last:?} {now}"
            );
            last = Some(now);
        }
    }
}
