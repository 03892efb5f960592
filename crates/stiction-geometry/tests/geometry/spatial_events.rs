//! Events of polyhedra: their numbers in the cases of HA10, and brute force over all quadruples of facets.

use std::f64::consts::FRAC_PI_4;
use std::sync::Arc;

use nalgebra::{Isometry3, Matrix4, Point3, Rotation3, UnitQuaternion, Vector3, Vector4};
use rand::RngExt;
use stiction_geometry::spatial::{Basis, Gap, Polyhedron, Shape, gaps, ratio};

/// Range of events that are compared: relative to r, and in metres.
const NEAR: f64 = 0.02;

fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::Cuboid { half_extents: [x, y, z] }
}

/// Points of all quadruples of facets whose scaled planes meet in a point of both scaled bodies, with r
/// within 0.02 of the least one, and a normal close to that of the metric. HA10 (4.14), corrected.
fn brute_force(a: &Polyhedron, p: &Isometry3<f64>, b: &Polyhedron, q: &Isometry3<f64>) -> Vec<Point3<f64>> {
    let best = ratio((a, p), (b, q), &mut Basis::default()).unwrap();
    let centres = [p * a.centre(), q * b.centre()];
    let rows: Vec<_> = [(a, p), (b, q)]
        .iter()
        .enumerate()
        .flat_map(|(k, (body, pose))| body.facets().iter().map(move |f| (k, pose.rotation * f)))
        .collect();
    let mut found: Vec<Point3<f64>> = vec![];
    let n = rows.len();
    for i in 0..n {
        for j in 0..i {
            for k in 0..j {
                for l in 0..k {
                    let four = [i, j, k, l];
                    let mut m = Matrix4::zeros();
                    let mut c = Vector4::zeros();
                    for (row, &f) in four.iter().enumerate() {
                        let (body, facet) = rows[f];
                        m.fixed_view_mut::<1, 3>(row, 0).copy_from(&facet.transpose());
                        m[(row, 3)] = -1.0;
                        c[row] = facet.dot(&centres[body].coords);
                    }
                    if m.determinant().abs() < 1e-6 {
                        continue;
                    }
                    let Some(z) = m.lu().solve(&c) else { continue };
                    let (x, t) = (Point3::from(z.xyz()), z.w);
                    let inside = rows.iter().all(|(body, f)| f.dot(&(x - centres[*body])) - t <= 1e-6);
                    // multipliers of any sign, scaled to sum to one
                    let Some(y) = m.transpose().lu().solve(&Vector4::new(0.0, 0.0, 0.0, -1.0)) else {
                        continue;
                    };
                    let g: Vector3<f64> = four
                        .iter()
                        .zip(y.iter())
                        .filter(|(f, _)| rows[**f].0 == 0)
                        .map(|(f, y)| rows[*f].1 * *y)
                        .sum();
                    let facing = g.dot(&best.gradient) >= 0.9 * g.norm() * best.gradient.norm();
                    if inside
                        && facing
                        && (t - best.r).abs() <= NEAR
                        && found.iter().all(|k| (k - x).norm() > 1e-6)
                    {
                        found.push(x);
                    }
                }
            }
        }
    }
    found
}

/// Events with a gap near that of the metric, and the number of points by brute force.
fn counts(lower: [f64; 3], upper: [f64; 3], pose: &Isometry3<f64>) -> (Vec<Gap>, usize) {
    let i = Isometry3::identity();
    let mut near = vec![];
    let (a, b) = (Polyhedron::cuboid(lower).unwrap(), Polyhedron::cuboid(upper).unwrap());
    let best = ratio((&a, &i), (&b, pose), &mut Basis::default()).unwrap();
    let reach = best.length() * (best.r + NEAR - 1.0);
    let [x, y, z] = lower;
    let [u, v, w] = upper;
    gaps(&cuboid(x, y, z), &i, &cuboid(u, v, w), pose, reach, &mut near).unwrap();
    (near, brute_force(&a, &i, &b, pose).len())
}

fn pose(x: f64, y: f64, z: f64, turn: Rotation3<f64>) -> Isometry3<f64> {
    Isometry3::from_parts(Vector3::new(x, y, z).into(), UnitQuaternion::from_rotation_matrix(&turn))
}

#[test]
fn a_cube_has_the_events_of_brute_force() {
    let unit = [0.5; 3];
    let slab = [1.5, 1.5, 0.5];
    let yaw = |angle: f64| Rotation3::from_axis_angle(&Vector3::z_axis(), angle);
    let edge = Rotation3::from_axis_angle(&Vector3::x_axis(), FRAC_PI_4);
    let corner = Rotation3::rotation_between(&Vector3::new(1.0, 1.0, 1.0), &Vector3::z()).unwrap();
    let generic = Rotation3::from_euler_angles(0.5, 0.4, 0.3);
    let cases = [
        ("on a slab", slab, (0.1, 0.2), yaw(0.0), 4),
        ("on its like", unit, (0.0, 0.0), yaw(0.0), 4),
        ("on its like, turned by 45°", unit, (0.0, 0.0), yaw(FRAC_PI_4), 8),
        ("on its like, turned a little", unit, (0.1, 0.05), yaw(0.2), 6),
        ("over the rim", unit, (0.4, 0.0), yaw(0.0), 4),
        ("on its edge", slab, (0.1, 0.2), edge, 2),
        ("on its corner", slab, (0.1, 0.2), corner, 1),
        ("on a slab somehow", slab, (0.1, 0.2), generic, 1),
    ];
    let mut agree = 0;
    for (name, lower, (x, y), turn, expected) in cases {
        // how far the lowest point of the cube lies below its centre
        for tilt in [0.0, 1e-3] {
            let turn = Rotation3::from_axis_angle(&Vector3::x_axis(), tilt) * turn;
            let below = turn.matrix().row(2).iter().map(|r| 0.5 * r.abs()).sum::<f64>();
            for gap in [0.0, 0.02, -0.02] {
                let (near, brute) = counts(lower, unit, &pose(x, y, 0.5 + below + gap, turn));
                assert_eq!(near.len(), brute, "{name}, tilt {tilt}, gap {gap}: {near:#?}");
                agree += 1;
                if tilt == 0.0 {
                    assert_eq!(near.len(), expected, "{name}, gap {gap}: {near:#?}");
                    for g in &near {
                        assert!(
                            (g.gap - gap).abs() < 1e-12 && (g.normal - Vector3::z()).norm() < 1e-12,
                            "{name} {g:?}"
                        );
                    }
                }
            }
        }
    }
    assert_eq!(agree, 48);
}

#[test]
fn crossed_edges_have_one_event() {
    let i = Isometry3::rotation(Vector3::x() * FRAC_PI_4);
    for gap in [0.1, 0.0, -0.1] {
        let q = Isometry3::new(Vector3::new(0.05, 0.1, 2_f64.sqrt() + gap), Vector3::y() * FRAC_PI_4);
        let mut near = vec![];
        gaps(&cuboid(0.5, 0.5, 0.5), &i, &cuboid(0.5, 0.5, 0.5), &q, gap + 0.05, &mut near).unwrap();
        assert_eq!(near.len(), 1, "{near:?}");
        assert!((near[0].gap - gap).abs() < 1e-12);
        assert!((near[0].on_a.x - 0.05).abs() < 1e-12 && near[0].on_a.y.abs() < 1e-12);
    }
}

#[test]
fn prisms_on_each_other_have_two_events_per_side() {
    for k in [3, 4, 5, 8, 16, 64, 256] {
        let ring = |z: f64| {
            (0..k).map(move |i| {
                let angle = std::f64::consts::TAU * f64::from(i) / f64::from(k);
                Point3::new(angle.cos(), angle.sin(), z)
            })
        };
        let points: Vec<_> = ring(-0.5).chain(ring(0.5)).collect();
        let prism = Polyhedron::new(&points).unwrap();
        assert_eq!(prism.facets().len(), usize::try_from(k).unwrap() + 2);
        let prism = Shape::Polyhedron(Arc::new(prism));
        let half = std::f64::consts::PI / f64::from(k);
        let on_top = Isometry3::new(Vector3::new(0.0, 0.0, 1.0), Vector3::z() * half);
        let mut near = vec![];
        gaps(&prism, &Isometry3::identity(), &prism, &on_top, 0.01, &mut near).unwrap();
        assert_eq!(near.len(), 2 * usize::try_from(k).unwrap());
    }
}

#[test]
fn identifiers_stay_while_a_box_moves() {
    // a box that slides and yaws on a larger one keeps its four corners
    let mut seen = None;
    for i in 0..200 {
        let s = f64::from(i) / 200.0;
        let q = pose(
            0.3 * s,
            -0.2 * s,
            0.999 + 1e-3 * (7.0 * s).sin(),
            Rotation3::from_euler_angles(1e-4 * s, -1e-4 * s, 0.6 * s),
        );
        let mut near = vec![];
        gaps(&cuboid(1.5, 1.5, 0.5), &Isometry3::identity(), &cuboid(0.5, 0.5, 0.5), &q, 0.01, &mut near)
            .unwrap();
        let mut features: Vec<_> = near.iter().map(|g| g.feature).collect();
        features.sort_unstable();
        assert_eq!(features.len(), 4);
        assert_eq!(*seen.get_or_insert(features.clone()), features);
    }
}

#[test]
fn a_box_is_a_polyhedron() {
    let mut rng = crate::scenes::rng(41);
    let half = [0.6, 0.35, 0.45];
    let polyhedron = Shape::Polyhedron(Arc::new(Polyhedron::cuboid(half).unwrap()));
    let cuboid = Shape::Cuboid { half_extents: half };
    for _ in 0..300 {
        let (p, q) = (crate::scenes::spatial_pose(&mut rng, 0.8), crate::scenes::spatial_pose(&mut rng, 0.8));
        let of = |a, b| {
            let mut near = vec![];
            gaps(a, &p, b, &q, f64::INFINITY, &mut near).unwrap();
            near.sort_by(|g, h| g.gap.total_cmp(&h.gap));
            near
        };
        let boxes = of(&cuboid, &cuboid);
        for other in [of(&cuboid, &polyhedron), of(&polyhedron, &cuboid), of(&polyhedron, &polyhedron)] {
            assert_eq!(boxes.len(), other.len());
            for (g, h) in boxes.iter().zip(&other) {
                assert!((g.gap - h.gap).abs() < 1e-12 && (g.on_a - h.on_a).norm() < 1e-9);
            }
        }
    }
}

#[test]
fn the_event_of_the_metric_is_among_the_events() {
    let mut rng = crate::scenes::rng(42);
    for _ in 0..2000 {
        let (k, l) = (rng.random_range(4..60), rng.random_range(4..60));
        let (a, b) = (crate::spatial_ratio::pebble(&mut rng, k), crate::spatial_ratio::pebble(&mut rng, l));
        let (p, q) = (crate::scenes::spatial_pose(&mut rng, 0.5), crate::scenes::spatial_pose(&mut rng, 0.5));
        let metric = ratio((&a, &p), (&b, &q), &mut Basis::default()).unwrap();
        let (a, b) = (Shape::Polyhedron(Arc::new(a)), Shape::Polyhedron(Arc::new(b)));
        let mut near = vec![];
        gaps(&a, &p, &b, &q, metric.gap() + 1e-9, &mut near).unwrap();
        let same = |g: &Gap| {
            (g.gap - metric.gap()).abs() < 1e-9
                && (g.normal - metric.normal()).norm() < 1e-7
                && (g.on_a - metric.near[0]).norm() < 1e-6
        };
        assert!(near.iter().any(same), "{metric:?}\n{near:?}");
    }
}
