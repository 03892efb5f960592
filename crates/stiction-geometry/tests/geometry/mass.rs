//! Mass properties against closed forms and against sums over a grid of small cells.

use std::f64::consts::PI;

use nalgebra::{Isometry2, Isometry3, Matrix3, Point2, Point3, Vector2, Vector3};
use stiction_geometry::{MassError, planar, spatial};

use crate::scenes::{
    planar_near, planar_shapes, polygon, rectangle, rng, spatial_near, spatial_pose, spatial_shapes,
};

fn inside_planar(shape: &planar::Shape, p: &Point2<f64>) -> bool {
    match shape {
        planar::Shape::Disk { radius } => p.coords.norm() <= *radius,
        planar::Shape::Ellipse { semi_axes: [a, b] } => (p.x / a).powi(2) + (p.y / b).powi(2) <= 1.0,
        planar::Shape::Capsule { half_length: l, radius } => {
            Vector2::new(p.x - p.x.clamp(-l, *l), p.y).norm() <= *radius
        }
        planar::Shape::Polygon(s) => {
            s.vertices().iter().zip(s.normals()).all(|(v, n)| n.dot(&(p - v)) <= 0.0)
        }
        planar::Shape::Rounded { core, radius } => {
            let point = planar::Shape::Disk { radius: 0.0 };
            let at = Isometry2::new(p.coords, 0.0);
            let near = planar_near((core, &Isometry2::identity()), (&point, &at));
            near.iter().all(|g| g.gap <= *radius)
        }
        planar::Shape::HalfPlane => p.y <= 0.0,
    }
}

fn inside_spatial(shape: &spatial::Shape, p: &Point3<f64>) -> bool {
    match shape {
        spatial::Shape::Sphere { radius } => p.coords.norm() <= *radius,
        spatial::Shape::Ellipsoid { semi_axes } => {
            p.coords.component_div(&Vector3::from(*semi_axes)).norm() <= 1.0
        }
        spatial::Shape::Capsule { half_length: l, radius } => {
            Vector3::new(p.x, p.y, p.z - p.z.clamp(-l, *l)).norm() <= *radius
        }
        spatial::Shape::Cuboid { half_extents } => (0..3).all(|i| p[i].abs() <= half_extents[i]),
        spatial::Shape::Polyhedron(polyhedron) => {
            polyhedron.facets().iter().all(|a| a.dot(&(p - polyhedron.centre())) <= 1.0)
        }
        spatial::Shape::Cylinder { half_length, radius } => {
            p.z.abs() <= *half_length && p.x.hypot(p.y) <= *radius
        }
        spatial::Shape::Cone { half_length: l, radius } => {
            p.z >= -l && p.x.hypot(p.y) <= radius * (l - p.z) / (2.0 * l)
        }
        spatial::Shape::Rounded { core, radius } => {
            inside_spatial(core, p) || {
                let point = spatial::Shape::Sphere { radius: 0.0 };
                let at = Isometry3::translation(p.x, p.y, p.z);
                let near = spatial_near((core, &Isometry3::identity()), (&point, &at));
                near.iter().any(|g| g.gap <= *radius)
            }
        }
        spatial::Shape::HalfSpace => p.z <= 0.0,
    }
}

#[test]
fn planar_mass_is_the_sum_over_small_cells() {
    let n = 1500;
    for shape in planar_shapes() {
        let Ok(found) = planar::mass(&shape, 3.0) else { continue };
        let bounds = planar::bounds(&shape, &Isometry2::identity());
        let cell = (bounds.max - bounds.min) / f64::from(n);
        let (mut m, mut moment, mut second) = (0.0, Vector2::zeros(), 0.0);
        for i in 0..n {
            for j in 0..n {
                let p =
                    bounds.min + Vector2::new(f64::from(i) + 0.5, f64::from(j) + 0.5).component_mul(&cell);
                if inside_planar(&shape, &p) {
                    m += 1.0;
                    moment += p.coords;
                    second += p.coords.norm_squared();
                }
            }
        }
        let unit = 3.0 * cell.x * cell.y;
        let centre = moment / m;
        let inertia = unit * (second - m * centre.norm_squared());
        // cells cut by the outline: about perimeter · cell / area, mostly cancelling
        assert!((unit * m / found.mass - 1.0).abs() < 1e-3, "{shape:?}");
        assert!((inertia / found.inertia - 1.0).abs() < 2e-3, "{shape:?} {inertia} {}", found.inertia);
        assert!((centre - found.centre.coords).norm() < 1e-3, "{shape:?}");
    }
}

#[test]
fn spatial_mass_is_the_sum_over_small_cells() {
    let n = 120;
    for shape in spatial_shapes() {
        let Ok(found) = spatial::mass(&shape, 3.0) else { continue };
        let bounds = spatial::bounds(&shape, &Isometry3::identity());
        let cell = (bounds.max - bounds.min) / f64::from(n);
        let (mut m, mut second) = (0.0, Matrix3::zeros());
        for i in 0..n {
            for j in 0..n {
                for k in 0..n {
                    let at = Vector3::new(f64::from(i) + 0.5, f64::from(j) + 0.5, f64::from(k) + 0.5);
                    let p = bounds.min + at.component_mul(&cell);
                    if inside_spatial(&shape, &p) {
                        m += 1.0;
                        let r = p - found.centre;
                        second += Matrix3::from_diagonal_element(r.norm_squared()) - r * r.transpose();
                    }
                }
            }
        }
        let unit = 3.0 * cell.x * cell.y * cell.z;
        assert!((unit * m / found.mass - 1.0).abs() < 2e-3, "{shape:?}");
        let error = (unit * second - found.inertia).norm() / found.inertia.norm();
        assert!(error < 4e-3, "{shape:?} {error}");
    }
}

#[test]
fn planar_closed_forms() {
    let disk = planar::mass(&planar::Shape::Disk { radius: 3.0 }, 10.0).unwrap();
    assert!((disk.mass - 90.0 * PI).abs() < 1e-12 && (disk.inertia - 405.0 * PI).abs() < 1e-11);
    let ellipse = planar::mass(&planar::Shape::Ellipse { semi_axes: [4.0, 2.0] }, 10.0).unwrap();
    assert!((ellipse.inertia / ellipse.mass - 5.0).abs() < 1e-13);
    let plate = planar::mass(&rectangle(1.0, 0.5), 2.0).unwrap();
    assert!((plate.mass - 4.0).abs() < 1e-14 && (plate.inertia - 4.0 * 5.0 / 12.0).abs() < 1e-14);
    // right triangle with legs 3 and 6: centre at a third, I = m (3² + 6²) / 18
    let triangle = planar::mass(&polygon(&[[0.0, 0.0], [3.0, 0.0], [0.0, 6.0]]), 1.0).unwrap();
    assert!((triangle.mass - 9.0).abs() < 1e-14);
    assert!((triangle.centre - Point2::new(1.0, 2.0)).norm() < 1e-14);
    assert!((triangle.inertia - 22.5).abs() < 1e-13);
    // a short capsule is a disk, a thin one a rod
    let stub = planar::mass(&planar::Shape::Capsule { half_length: 1e-9, radius: 3.0 }, 10.0).unwrap();
    assert!((stub.inertia / disk.inertia - 1.0).abs() < 1e-8);
    let rod = planar::mass(&planar::Shape::Capsule { half_length: 1.0, radius: 1e-9 }, 1.0).unwrap();
    assert!((rod.inertia / rod.mass - 1.0 / 3.0).abs() < 1e-8);
}

#[test]
fn planar_capsule_is_a_fine_polygon() {
    let (l, r, n) = (0.6_f64, 0.35, 4000);
    let outline: Vec<_> = (0..n)
        .map(|i| std::f64::consts::TAU * (f64::from(i) + 0.5) / f64::from(n))
        .map(|t| [l.copysign(t.cos()) + r * t.cos(), r * t.sin()])
        .collect();
    let fine = planar::mass(&polygon(&outline), 2.0).unwrap();
    let found = planar::mass(&planar::Shape::Capsule { half_length: l, radius: r }, 2.0).unwrap();
    // the chords miss a part (2π/n)²/6 of the area of the caps
    assert!((found.mass / fine.mass - 1.0).abs() < 1e-6);
    assert!((found.inertia / fine.inertia - 1.0).abs() < 2e-6);
    assert!(fine.centre.coords.norm() < 1e-12);
}

#[test]
fn spatial_capsule_is_a_pile_of_disks() {
    let (l, r, density, n) = (0.6_f64, 0.35_f64, 2.0, 100_000);
    let dz = 2.0 * (l + r) / f64::from(n);
    let (mut mass, mut across, mut along) = (0.0, 0.0, 0.0);
    for i in 0..n {
        let z = (f64::from(i) + 0.5) * dz - (l + r);
        let disk2 = r * r - (z.abs() - l).max(0.0).powi(2);
        let m = density * PI * disk2 * dz;
        mass += m;
        across += m * (disk2 / 4.0 + z * z);
        along += m * disk2 / 2.0;
    }
    let found = spatial::mass(&spatial::Shape::Capsule { half_length: l, radius: r }, density).unwrap();
    assert!((found.mass / mass - 1.0).abs() < 1e-8);
    for (i, expected) in [across, across, along].into_iter().enumerate() {
        assert!((found.inertia[(i, i)] / expected - 1.0).abs() < 1e-8);
    }
}

#[test]
fn far_polygon_keeps_its_inertia() {
    let d = 1e6;
    let far = polygon(&[[d, d], [d + 1.0, d], [d + 1.0, d + 1.0], [d, d + 1.0]]);
    let found = planar::mass(&far, 1.0).unwrap();
    assert!((found.inertia - 1.0 / 6.0).abs() < 1e-9);
}

#[test]
fn spatial_closed_forms() {
    let sphere = spatial::mass(&spatial::Shape::Sphere { radius: 2.0 }, 3.0).unwrap();
    assert!((sphere.mass - 32.0 * PI).abs() < 1e-12);
    assert!((sphere.inertia - Matrix3::from_diagonal_element(0.4 * 32.0 * PI * 4.0)).norm() < 1e-11);
    let brick = spatial::mass(&spatial::Shape::Cuboid { half_extents: [0.5, 1.0, 1.5] }, 2.0).unwrap();
    assert!((brick.mass - 12.0).abs() < 1e-14);
    assert!((brick.inertia.diagonal() - Vector3::new(13.0, 10.0, 5.0)).norm() < 1e-13);
    let stub = spatial::mass(&spatial::Shape::Capsule { half_length: 1e-9, radius: 2.0 }, 3.0).unwrap();
    assert!((stub.inertia - sphere.inertia).norm() / sphere.inertia.norm() < 1e-8);
    let rod = spatial::mass(&spatial::Shape::Capsule { half_length: 1.0, radius: 1e-9 }, 1.0).unwrap();
    assert!((rod.inertia[(0, 0)] / rod.mass - 1.0 / 3.0).abs() < 1e-8);
    let ball = spatial::mass(&spatial::Shape::Ellipsoid { semi_axes: [2.0; 3] }, 3.0).unwrap();
    assert!((ball.inertia - sphere.inertia).norm() < 1e-10);
}

#[test]
fn halves_combine_to_the_whole() {
    let whole = planar::mass(&rectangle(1.0, 0.5), 2.0).unwrap();
    let half = planar::mass(&rectangle(0.5, 0.5), 2.0).unwrap();
    // laid out along a slanted line, the second half upside down
    let frame = Isometry2::new(Vector2::new(3.0, -2.0), 0.7);
    let parts = [
        (frame * Isometry2::translation(-0.5, 0.0), half),
        (frame * Isometry2::new(Vector2::new(0.5, 0.0), PI), half),
    ];
    let both = planar::MassProperties::combine(parts).unwrap();
    assert!((both.mass - whole.mass).abs() < 1e-14);
    assert!((both.centre - frame * whole.centre).norm() < 1e-14);
    assert!((both.inertia - whole.inertia).abs() < 1e-14);

    let whole = spatial::mass(&spatial::Shape::Cuboid { half_extents: [1.0, 0.5, 0.3] }, 2.0).unwrap();
    let half = spatial::mass(&spatial::Shape::Cuboid { half_extents: [0.5, 0.5, 0.3] }, 2.0).unwrap();
    let frame = spatial_pose(&mut rng(41), 3.0);
    let parts = [
        (frame * Isometry3::translation(-0.5, 0.0, 0.0), half),
        (frame * Isometry3::new(Vector3::new(0.5, 0.0, 0.0), PI * Vector3::x()), half),
    ];
    let both = spatial::MassProperties::combine(parts).unwrap();
    let r = frame.rotation.to_rotation_matrix();
    assert!((both.mass - whole.mass).abs() < 1e-14);
    assert!((both.centre - frame * whole.centre).norm() < 1e-14);
    assert!((both.inertia - r * whole.inertia * r.transpose()).norm() < 1e-13);
}

#[test]
fn hole_is_a_part_of_negative_mass() {
    let plate = planar::mass(&planar::Shape::Disk { radius: 1.0 }, 1.0).unwrap();
    let hole = planar::mass(&planar::Shape::Disk { radius: 0.5 }, 1.0).unwrap();
    let hole = planar::MassProperties { mass: -hole.mass, inertia: -hole.inertia, ..hole };
    let i = Isometry2::identity();
    let ring = planar::MassProperties::combine([(i, plate), (i, hole)]).unwrap();
    assert!((ring.inertia - PI / 2.0 * (1.0 - 0.5_f64.powi(4))).abs() < 1e-14);
    assert!(matches!(planar::MassProperties::combine([(i, hole)]), Err(MassError::Total { .. })));
    assert!(matches!(planar::MassProperties::combine([]), Err(MassError::Total { mass: 0.0 })));
    assert!(matches!(spatial::MassProperties::combine([]), Err(MassError::Total { mass: 0.0 })));
}

#[test]
fn massless_shapes_and_bad_densities_are_errors() {
    let disk = planar::Shape::Disk { radius: 1.0 };
    for density in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(planar::mass(&disk, density), Err(MassError::Density { .. })));
    }
    let point = planar::mass(&planar::Shape::Disk { radius: 0.0 }, 1.0).unwrap_err();
    assert_eq!(point.to_string(), "a disk of radius 0 has no mass");
    let segment = spatial::Shape::Capsule { half_length: 1.0, radius: 0.0 };
    assert_eq!(spatial::mass(&segment, 1.0), Err(MassError::Massless { shape: "capsule" }));
    assert_eq!(
        planar::mass(&planar::Shape::HalfPlane, 1.0),
        Err(MassError::Unbounded { shape: "half_plane" })
    );
    assert_eq!(
        spatial::mass(&spatial::Shape::HalfSpace, 1.0),
        Err(MassError::Unbounded { shape: "half_space" })
    );
    assert!(matches!(planar::mass(&planar::Shape::Disk { radius: f64::NAN }, 1.0), Err(MassError::Shape(_))));
}
