//! Polyhedra from points and from facets: merged corners, refused input, and mass properties.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector3};
use rand::RngExt;
use stiction_geometry::spatial::{Polyhedron, Shape, bounds, mass, size, support};

use crate::scenes::rng;
use crate::spatial_ratio::pebble;

fn points(list: &[[f64; 3]]) -> Vec<Point3<f64>> {
    list.iter().map(|p| Point3::from(*p)).collect()
}

/// Grid of 3³ points on a cube of side 2, with duplicates.
fn grid() -> Vec<Point3<f64>> {
    let mut list = vec![];
    for x in [-1.0, 0.0, 1.0, 1.0] {
        for y in [-1.0, 0.0, 1.0] {
            for z in [1.0, 0.0, -1.0] {
                list.push(Point3::new(x, y, z));
            }
        }
    }
    list
}

#[test]
fn points_on_facets_and_edges_and_inside_are_dropped() {
    let cube = Polyhedron::new(&grid()).unwrap();
    assert_eq!((cube.vertices().len(), cube.edges().len(), cube.facets().len()), (8, 12, 6));
    assert!((0..6).all(|f| cube.corners(f).len() == 4 && cube.neighbours(f).len() == 4));
    assert!(cube.facets().iter().all(|a| (a.norm() - 1.0).abs() < 1e-15));
    assert!(cube.centre().coords.norm() < 1e-15);
}

#[test]
fn facets_give_the_polyhedron_back() {
    let mut rng = rng(81);
    for i in 0..100 {
        let body = pebble(&mut rng, 4 + i);
        let mut facets: Vec<_> = (0..body.facets().len())
            .map(|f| {
                let n = body.normals()[f];
                let scale = rng.random_range(0.1..10.0);
                (scale * n, scale * n.dot(&body.vertices()[body.corners(f)[0] as usize].coords))
            })
            .collect();
        // one that touches nothing
        facets.push((Vector3::new(0.3, 0.2, 0.9), 5.0));
        let again = Polyhedron::from_facets(&facets).unwrap();
        assert_eq!(again.vertices().len(), body.vertices().len());
        assert_eq!(again.facets().len(), body.facets().len());
        for v in body.vertices() {
            assert!(again.vertices().iter().any(|w| (v - w).norm() < 1e-9));
        }
    }
}

#[test]
fn degenerate_input_is_refused_by_name() {
    let message = |list: &[[f64; 3]]| Polyhedron::new(&points(list)).unwrap_err().to_string();
    let flat = message(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.3, 0.4, 0.0]]);
    assert!(flat.contains("5 vertices are flat (thickness 0 m"), "{flat}");
    assert!(message(&[[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [5.0, 0.0, 0.0]]).contains("flat"));
    assert!(message(&[[0.5; 3]; 6]).contains("flat"));
    assert!(message(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).contains("at least four"));
    assert!(message(&[[0.0; 3], [1.0, f64::NAN, 0.0], [0.0, 1.0, 0.0]]).contains("vertices[1]"));
    assert!(message(&[]).contains("at least four"));

    let facets = |list: &[([f64; 3], f64)]| {
        let list: Vec<_> = list.iter().map(|(n, b)| (Vector3::from(*n), *b)).collect();
        Polyhedron::from_facets(&list).unwrap_err().to_string()
    };
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let minus = |n: [f64; 3]| n.map(|x: f64| -x);
    assert!(facets(&[(x, 1.0), (minus(x), 1.0), (y, 1.0), (minus(y), 1.0), (z, 1.0)]).contains("unbounded"));
    assert!(facets(&[(x, 1.0), (y, 1.0), (z, 1.0)]).contains("unbounded"));
    let empty = facets(&[(x, -2.0), (minus(x), 1.0), (y, 1.0), (minus(y), 1.0), (z, 1.0), (minus(z), 1.0)]);
    assert!(empty.contains("no interior"), "{empty}");
    assert!(facets(&[([0.0; 3], 1.0)]).contains("facets[0]"));
}

#[test]
fn a_polyhedron_is_written_by_its_vertices() {
    let mut rng = rng(82);
    let shape = Shape::Polyhedron(Arc::new(pebble(&mut rng, 30)));
    let text = serde_json::to_string(&shape).unwrap();
    assert!(text.starts_with(r#"{"polyhedron":{"vertices":[["#), "{text}");
    assert_eq!(serde_json::from_str::<Shape>(&text).unwrap(), shape);
    let flat = r#"{"polyhedron": {"vertices": [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]}}"#;
    assert!(serde_json::from_str::<Shape>(flat).unwrap_err().to_string().contains("flat"));
}

#[test]
fn a_box_of_points_has_the_mass_and_bounds_of_a_box() {
    let half = [0.6, 0.35, 0.45];
    let cuboid = Shape::Cuboid { half_extents: half };
    let hull = Shape::Polyhedron(Arc::new(Polyhedron::cuboid(half).unwrap()));
    let (m, n) = (mass(&cuboid, 3.0).unwrap(), mass(&hull, 3.0).unwrap());
    assert!((m.mass - n.mass).abs() < 1e-14 && (m.inertia - n.inertia).norm() < 1e-14);
    let pose = Isometry3::new(Vector3::new(1.0, 2.0, 3.0), Vector3::new(0.1, 0.2, 0.3));
    assert!((bounds(&cuboid, &pose).min - bounds(&hull, &pose).min).norm() < 1e-15);
    assert_eq!(size(&cuboid), size(&hull));
    let d = Vector3::new(-0.3, 0.2, 0.9);
    assert_eq!(support(&cuboid, &d), support(&hull, &d));

    // far from the origin nothing is lost
    let far: Vec<_> = (0..8)
        .map(|i| Point3::new(1e6 + f64::from(i & 1), 1e6 + f64::from(i >> 1 & 1), f64::from(i >> 2)))
        .collect();
    let far = mass(&Shape::Polyhedron(Arc::new(Polyhedron::new(&far).unwrap())), 6.0).unwrap();
    assert!((far.mass - 6.0).abs() < 1e-9 && (far.inertia[(0, 0)] - 1.0).abs() < 1e-9);
}

#[test]
fn a_tetrahedron_has_its_closed_form() {
    let [a, b, c] = [0.7, 0.4, 0.9];
    let body = Polyhedron::new(&points(&[[0.0; 3], [a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]])).unwrap();
    let found = mass(&Shape::Polyhedron(Arc::new(body)), 2.0).unwrap();
    let m = 2.0 * a * b * c / 6.0;
    assert!((found.mass - m).abs() < 1e-15);
    assert!((found.centre - Point3::new(a / 4.0, b / 4.0, c / 4.0)).norm() < 1e-15);
    assert!((found.inertia[(0, 0)] - 3.0 / 80.0 * m * (b * b + c * c)).abs() < 1e-15);
    assert!((found.inertia[(0, 1)] - m * a * b / 80.0).abs() < 1e-15);
}
