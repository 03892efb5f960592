//! Hill climbing from vertex to vertex against searches of all vertices.

use std::sync::Arc;

use nalgebra::{Point2, Point3, Vector2, Vector3};
use rand::RngExt;
use stiction_geometry::{planar, spatial};

use crate::scenes::{planar_pose, rng, spatial_pose};
use crate::spatial_ratio::pebble;

/// Polygons with 3 to 600 corners on an ellipse.
fn polygons() -> Vec<planar::Polygon> {
    let corner = |i: u32, n: u32| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / f64::from(n)).sin_cos();
        Point2::new(0.3 + 0.8 * cos, 0.5 * sin)
    };
    [3, 4, 16, 17, 40, 600]
        .map(|n| (0..n).map(|i| corner(i, n)).collect::<Vec<_>>())
        .map(|c| planar::Polygon::new(&c).unwrap())
        .into()
}

/// Random hulls, and a prism of many sides: its ends are flat, and its edges all parallel.
fn polyhedra() -> Vec<spatial::Polyhedron> {
    let mut rng = rng(301);
    let mut all: Vec<_> = [4, 12, 30, 200, 3000].map(|n| pebble(&mut rng, n)).into();
    let corners = (0..400).map(|i| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(i / 2) / 200.0).sin_cos();
        Point3::new(cos, 0.7 * sin, if i % 2 == 0 { -0.2 } else { 0.4 })
    });
    all.push(spatial::Polyhedron::new(&corners.collect::<Vec<_>>()).unwrap());
    all
}

#[test]
fn supports_are_the_farthest_vertices() {
    let mut rng = rng(302);
    for polygon in polygons() {
        let shape = planar::Shape::Polygon(polygon.clone());
        for _ in 0..200 {
            let d = Vector2::from_fn(|_, _| rng.random_range(-1.0..1.0));
            let along = |v: &Point2<f64>| v.coords.dot(&d);
            let most = polygon.vertices().iter().map(along).fold(f64::NEG_INFINITY, f64::max);
            let found = along(&planar::support(&shape, &d).unwrap());
            // round-off of the products on the way up
            assert!(found > most - 1e-14, "{} corners: {found} < {most}", polygon.vertices().len());
        }
    }
    for polyhedron in polyhedra() {
        let shape = spatial::Shape::Polyhedron(Arc::new(polyhedron.clone()));
        for k in 0..200 {
            // along an axis every direction of a flat end is as far
            let d =
                Vector3::from_fn(|i, _| if k < 6 && k % 3 != i { 0.0 } else { rng.random_range(-1.0..1.0) });
            let along = |v: &Point3<f64>| v.coords.dot(&d);
            let most = polyhedron.vertices().iter().map(along).fold(f64::NEG_INFINITY, f64::max);
            let found = along(&spatial::support(&shape, &d).unwrap());
            assert!(found > most - 1e-14, "{} corners: {found} < {most}", polyhedron.vertices().len());
        }
    }
}

#[test]
fn on_a_half_plane_and_half_space_the_gaps_within_reach_are_found() {
    let mut rng = rng(303);
    let mut found = 0;
    for polygon in polygons() {
        let shape = planar::Shape::Polygon(polygon);
        for _ in 0..200 {
            let (p, q) = (planar_pose(&mut rng, 0.3), planar_pose(&mut rng, 1.0));
            let reach = rng.random_range(-0.5..0.5);
            let [mut all, mut near] = [vec![], vec![]];
            planar::gaps(&planar::Shape::HalfPlane, &p, &shape, &q, f64::INFINITY, &mut all).unwrap();
            all.retain(|gap| gap.gap <= reach);
            planar::gaps(&planar::Shape::HalfPlane, &p, &shape, &q, reach, &mut near).unwrap();
            assert_eq!(near, all);
            found += near.len();
        }
    }
    for polyhedron in polyhedra() {
        let shape = spatial::Shape::Polyhedron(Arc::new(polyhedron));
        for _ in 0..200 {
            let (p, q) = (spatial_pose(&mut rng, 0.3), spatial_pose(&mut rng, 1.0));
            let reach = rng.random_range(-0.5..0.5);
            let [mut all, mut near] = [vec![], vec![]];
            spatial::gaps(&shape, &q, &spatial::Shape::HalfSpace, &p, f64::INFINITY, &mut all).unwrap();
            all.retain(|gap| gap.gap <= reach);
            spatial::gaps(&shape, &q, &spatial::Shape::HalfSpace, &p, reach, &mut near).unwrap();
            assert_eq!(near, all);
            found += near.len();
        }
    }
    assert!(found > 10_000, "{found}");
}
