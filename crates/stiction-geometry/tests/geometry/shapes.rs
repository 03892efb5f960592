//! Shapes: valid sizes, written form, support points and bounds.

use nalgebra::{Isometry2, Isometry3, Point2, Vector2, Vector3};
use rand::RngExt;
use stiction_geometry::{ShapeError, planar, spatial};

use crate::scenes::{planar_pose, planar_shapes, polygon, rectangle, rng, spatial_pose, spatial_shapes};

fn points(vertices: &[[f64; 2]]) -> Vec<Point2<f64>> {
    vertices.iter().map(|v| Point2::from(*v)).collect()
}

#[test]
fn shapes_are_written_in_words() {
    for (text, shape) in [
        (r#"{"disk":{"radius":0.1}}"#, planar::Shape::Disk { radius: 0.1 }),
        (r#"{"ellipse":{"semi_axes":[2.0,1.0]}}"#, planar::Shape::Ellipse { semi_axes: [2.0, 1.0] }),
        (
            r#"{"capsule":{"half_length":1.0,"radius":0.5}}"#,
            planar::Shape::Capsule { half_length: 1.0, radius: 0.5 },
        ),
        (
            r#"{"polygon":{"vertices":[[0.0,0.0],[1.0,0.0],[0.0,1.0]]}}"#,
            polygon(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
        ),
        (r#""half_plane""#, planar::Shape::HalfPlane),
    ] {
        assert_eq!(serde_json::to_string(&shape).unwrap(), text);
        assert_eq!(serde_json::from_str::<planar::Shape>(text).unwrap(), shape);
        assert!(text.contains(shape.kind()));
    }
    for (text, shape) in [
        (r#"{"sphere":{"radius":0.1}}"#, spatial::Shape::Sphere { radius: 0.1 }),
        (
            r#"{"box":{"half_extents":[1.0,2.0,3.0]}}"#,
            spatial::Shape::Cuboid { half_extents: [1.0, 2.0, 3.0] },
        ),
        (r#""half_space""#, spatial::Shape::HalfSpace),
    ] {
        assert_eq!(serde_json::to_string(&shape).unwrap(), text);
        assert_eq!(serde_json::from_str::<spatial::Shape>(text).unwrap(), shape);
        assert!(text.contains(shape.kind()));
    }
    for shape in planar_shapes() {
        let text = serde_json::to_string(&shape).unwrap();
        assert_eq!(serde_json::from_str::<planar::Shape>(&text).unwrap(), shape);
    }
    for shape in spatial_shapes() {
        let text = serde_json::to_string(&shape).unwrap();
        assert_eq!(serde_json::from_str::<spatial::Shape>(&text).unwrap(), shape);
    }
}

#[test]
fn mistakes_in_a_file_are_errors() {
    for text in [
        r#"{"disk":{"radius":0.1,"colour":"red"}}"#,
        r#"{"disk":{}}"#,
        r#"{"circle":{"radius":1}}"#,
        r#"{"polygon":{"vertices":[[0,0],[1,0]]}}"#,
        r#"{"polygon":{"vertices":[[0,0],[0,1],[1,0]]}}"#,
    ] {
        assert!(serde_json::from_str::<planar::Shape>(text).is_err(), "{text}");
    }
    let error = serde_json::from_str::<planar::Shape>(r#"{"polygon":{"vertices":[[0,0],[0,1],[1,0]]}}"#);
    assert!(error.unwrap_err().to_string().contains("clockwise"));
}

#[test]
fn check_names_the_field_and_the_value() {
    for shape in planar_shapes() {
        assert_eq!(shape.check(), Ok(()));
    }
    for shape in spatial_shapes() {
        assert_eq!(shape.check(), Ok(()));
    }
    let said = |shape: planar::Shape| shape.check().unwrap_err().to_string();
    assert_eq!(
        said(planar::Shape::Disk { radius: -1.5 }),
        "disk: radius = -1.5, but it must be finite and >= 0"
    );
    assert_eq!(
        said(planar::Shape::Ellipse { semi_axes: [1.0, 0.0] }),
        "ellipse: semi_axes[1] = 0, but it must be finite and > 0"
    );
    assert_eq!(
        said(planar::Shape::Capsule { half_length: 0.0, radius: 1.0 }),
        "capsule: half_length = 0, but it must be finite and > 0"
    );
    let said = |shape: spatial::Shape| shape.check().unwrap_err().to_string();
    assert_eq!(
        said(spatial::Shape::Cuboid { half_extents: [1.0, 1.0, f64::NAN] }),
        "box: half_extents[2] = NaN, but it must be finite and > 0"
    );
    assert_eq!(
        said(spatial::Shape::Capsule { half_length: 1.0, radius: f64::INFINITY }),
        "capsule: radius = inf, but it must be finite and >= 0"
    );
}

#[test]
fn polygon_merges_duplicate_and_collinear_vertices() {
    let square = planar::Polygon::new(&points(&[
        [0.0, 0.0],
        [0.5, 0.0],
        [1.0, 0.0],
        [1.0, 0.0],
        [1.0, 1.0],
        [0.25, 1.0],
        [0.0, 1.0],
        [0.0, 0.5],
        [0.0, 0.0],
    ]))
    .unwrap();
    assert_eq!(square.vertices().len(), 4);
    for (v, n) in square.vertices().iter().zip(square.normals()) {
        // every vertex is behind every edge
        assert!(square.vertices().iter().all(|w| n.dot(&(w - v)) <= 0.0));
        assert_eq!(n.norm(), 1.0);
    }
}

#[test]
fn polygon_refuses_outlines_that_are_not_convex() {
    let error = |vertices: &[[f64; 2]]| planar::Polygon::new(&points(vertices)).unwrap_err();
    assert_eq!(error(&[]), ShapeError::TooFewCorners { given: 0, corners: 0 });
    assert!(matches!(error(&[[1.0, 1.0]; 5]), ShapeError::TooFewCorners { given: 5, .. }));
    assert!(matches!(
        error(&[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]),
        ShapeError::TooFewCorners { given: 3, .. }
    ));
    assert!(matches!(
        error(&[[0.0, 0.0], [1.0, 0.0], [0.5, 1e-15]]),
        ShapeError::TooFewCorners { given: 3, .. }
    ));
    assert!(
        matches!(error(&[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), ShapeError::Clockwise { area } if area == -0.5)
    );
    assert_eq!(
        error(&[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.5, 0.5]]),
        ShapeError::NotConvex { vertex: [1.5, 0.5] }
    );
    assert!(matches!(
        error(&[[0.0, 0.0], [1.0, f64::NAN], [0.0, 1.0]]),
        ShapeError::VertexNotFinite { index: 1, .. }
    ));
    // an edge that folds back
    assert_eq!(
        error(&[[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0]]),
        ShapeError::NotConvex { vertex: [2.0, 0.0] }
    );
    // a pentagram turns left at each of its five corners
    let star: Vec<_> = (0..5)
        .map(|i| f64::from(i) * 2.0 * std::f64::consts::TAU / 5.0)
        .map(|t: f64| [t.cos(), t.sin()])
        .collect();
    assert!(matches!(error(&star), ShapeError::NotConvex { .. }));
    let many = vec![Point2::origin(); 40_000];
    assert!(matches!(planar::Polygon::new(&many), Err(ShapeError::TooManyVertices { given: 40_000, .. })));
    assert!(planar::Polygon::rectangle([1.0, 0.0]).is_err());
}

#[test]
fn support_is_the_farthest_point() {
    let mut rng = rng(51);
    for shape in planar_shapes() {
        for _ in 0..200 {
            let d = Vector2::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0));
            let Some(p) = planar::support(&shape, &d) else {
                assert_eq!(shape, planar::Shape::HalfPlane);
                continue;
            };
            assert!(p.coords.norm() <= planar::size(&shape) + 1e-12);
            // a half-plane through the point, facing back, touches the shape there
            let plane = Isometry2::new(p.coords, (-d).y.atan2((-d).x) - std::f64::consts::FRAC_PI_2);
            let near = crate::scenes::planar_near(
                (&planar::Shape::HalfPlane, &plane),
                (&shape, &Isometry2::identity()),
            );
            assert!(crate::scenes::least(near.iter().map(|g| g.gap)).abs() < 1e-12, "{shape:?}");
            let other = planar::support(&shape, &Vector2::new(rng.random_range(-1.0..1.0), 0.3)).unwrap();
            assert!(d.dot(&(other - p)) <= 1e-12, "{shape:?}");
        }
    }
    assert_eq!(planar::support(&planar::Shape::HalfPlane, &Vector2::new(0.0, 2.0)), Some(Point2::origin()));
    assert_eq!(planar::support(&planar::Shape::HalfPlane, &Vector2::new(0.0, -2.0)), None);
    assert!(planar::support(&planar::Shape::Disk { radius: 1.0 }, &Vector2::zeros()).is_some());
}

#[test]
fn spatial_support_is_the_farthest_point() {
    let mut rng = rng(52);
    for shape in spatial_shapes() {
        for _ in 0..200 {
            let mut x = || rng.random_range(-1.0..1.0);
            let (d, e) = (Vector3::new(x(), x(), x()), Vector3::new(x(), x(), x()));
            let (Some(p), Some(q)) = (spatial::support(&shape, &d), spatial::support(&shape, &e)) else {
                assert_eq!(shape, spatial::Shape::HalfSpace);
                continue;
            };
            assert!(p.coords.norm() <= spatial::size(&shape) + 1e-12);
            assert!(d.dot(&(q - p)) <= 1e-12, "{shape:?}");
        }
    }
}

#[test]
fn bounds_touch_the_shape_on_every_side() {
    let mut rng = rng(53);
    for shape in planar_shapes().iter().filter(|s| **s != planar::Shape::HalfPlane) {
        for _ in 0..100 {
            let pose = planar_pose(&mut rng, 2.0);
            let b = planar::bounds(shape, &pose);
            // gap to the four half-planes through the sides, facing inwards
            for (at, angle) in [(b.min, 0.0), (b.max, 2.0), (b.max, 1.0), (b.min, 3.0)] {
                let side = Isometry2::new(at.coords, angle * std::f64::consts::FRAC_PI_2);
                let near = crate::scenes::planar_near((&planar::Shape::HalfPlane, &side), (shape, &pose));
                assert!(crate::scenes::least(near.iter().map(|g| g.gap)).abs() < 1e-12, "{shape:?}");
            }
        }
    }
    for shape in spatial_shapes().iter().filter(|s| **s != spatial::Shape::HalfSpace) {
        for _ in 0..100 {
            let pose = spatial_pose(&mut rng, 2.0);
            let b = spatial::bounds(shape, &pose);
            for (at, side) in [(b.min, Vector3::x()), (b.min, Vector3::y()), (b.min, Vector3::z())]
                .into_iter()
                .chain([(b.max, -Vector3::x()), (b.max, -Vector3::y())])
            {
                let turn = nalgebra::UnitQuaternion::rotation_between(&Vector3::z(), &side).unwrap();
                let side = Isometry3::from_parts(at.coords.into(), turn);
                let near = crate::scenes::spatial_near((&spatial::Shape::HalfSpace, &side), (shape, &pose));
                assert!(crate::scenes::least(near.iter().map(|g| g.gap)).abs() < 1e-12, "{shape:?}");
            }
        }
    }
}

#[test]
fn half_plane_is_bounded_above_only() {
    let b = planar::bounds(&planar::Shape::HalfPlane, &Isometry2::translation(3.0, 2.0));
    assert_eq!((b.max.x, b.max.y), (f64::INFINITY, 2.0));
    assert_eq!((b.min.x, b.min.y), (f64::NEG_INFINITY, f64::NEG_INFINITY));
    let tilted = planar::bounds(&planar::Shape::HalfPlane, &Isometry2::rotation(0.1));
    assert!(tilted.max.coords.iter().all(|x| *x == f64::INFINITY));
    let b = spatial::bounds(&spatial::Shape::HalfSpace, &Isometry3::translation(3.0, 2.0, 1.0));
    assert_eq!((b.max.x, b.max.y, b.max.z), (f64::INFINITY, f64::INFINITY, 1.0));
    assert_eq!(planar::size(&planar::Shape::HalfPlane), f64::INFINITY);
    // still infinite, and not NaN, when moved and grown
    let swept = b.swept(&Vector3::new(1.0, 1.0, 1.0)).grown(0.5);
    assert_eq!((swept.max.x, swept.max.z, swept.min.z), (f64::INFINITY, 2.5, f64::NEG_INFINITY));
}

#[test]
fn boxes_overlap_grow_and_sweep() {
    let at = |x: f64, y: f64| planar::bounds(&rectangle(0.5, 0.5), &Isometry2::translation(x, y));
    assert!(at(0.0, 0.0).overlaps(&at(1.0, 0.0)));
    assert!(!at(0.0, 0.0).overlaps(&at(1.0, 1.1)));
    assert!(at(0.0, 0.0).grown(0.2).overlaps(&at(1.0, 1.1)));
    assert!(at(0.0, 0.0).swept(&Vector2::new(5.0, 0.0)).overlaps(&at(3.0, 0.0)));
    assert!(at(0.0, 0.0).swept(&Vector2::new(-5.0, 0.0)).overlaps(&at(-3.0, 0.0)));
    assert!(!at(0.0, 0.0).swept(&Vector2::new(-5.0, 0.0)).overlaps(&at(3.0, 0.0)));
    let both = at(0.0, 0.0).union(&at(2.0, 3.0));
    assert_eq!((both.min, both.max), (Point2::new(-0.5, -0.5), Point2::new(2.5, 3.5)));
}
