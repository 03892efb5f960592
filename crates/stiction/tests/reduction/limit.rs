//! Contact limit: implied contacts are dropped first, then the deepest and those with the widest patch are kept.

use crate::common::{
    all_contacts, assert_proofs, bar, floor, in_plane, in_space, kept, material, sliding, step,
};
use nalgebra::{Isometry3, Point3, Vector3};
use stiction::spatial::{Attached, Body, Mass, Shape};
use stiction::{Reduction, Scheme, StepReport, planar};
use stiction_geometry::spatial::Polyhedron;

fn limited(most: usize) -> Scheme {
    Scheme { reduction: Reduction::Limit(most), ..Scheme::default() }
}

/// Prism over a regular polygon of radius 0.5 m that stands on its face, tilted by this angle [rad].
fn prism(corners: u32, tilt: f64, scheme: Scheme) -> StepReport {
    let angle = |k: u32| std::f64::consts::TAU * f64::from(k) / f64::from(corners);
    let ring = |z: f64| (0..corners).map(move |k| Point3::new(0.5 * angle(k).cos(), 0.5 * angle(k).sin(), z));
    let points: Vec<Point3<f64>> = ring(-0.1).chain(ring(0.1)).collect();
    let shape = Shape::Polyhedron(Polyhedron::new(&points).expect("a prism").into());
    let mut world = floor(0.5);
    let pose = Isometry3::new(Vector3::new(0.0, 0.0, 0.1 + 0.5 * tilt), Vector3::new(0.0, tilt, 0.0));
    let body = Body::rigid("prism", Mass::Density(100.0)).at(pose);
    world.add_body(body.with(Attached::new(shape).material(material(0.5))));
    let mut simulation = in_space(&world, scheme);
    let rows = all_contacts(&simulation);
    let report = step(&mut simulation);
    assert_proofs(simulation.system(), &rows, &report);
    report
}

/// Area of the patch of the contacts of a report [m²], with corners sorted by angle about the middle.
fn area(report: &StepReport) -> f64 {
    let mut points: Vec<[f64; 2]> = report.contacts.iter().map(|c| [c.point[0], c.point[1]]).collect();
    points.sort_by(|a, b| a[1].atan2(a[0]).total_cmp(&b[1].atan2(b[0])));
    let next = points.iter().cycle().skip(1);
    points.iter().zip(next).map(|(a, b)| 0.5 * (a[0] * b[1] - a[1] * b[0])).sum()
}

#[test]
fn a_prism_keeps_the_widest() {
    let all = prism(12, 0.0, Scheme::default());
    assert_eq!((all.contacts.len(), all.work.proven, all.work.limited), (12, 0, 0));
    // squares and hexagons are widest; three points, chosen one by one, form a right angle
    for (most, widest) in [(3, 0.25), (4, 0.5), (6, 0.58)] {
        let report = prism(12, 0.0, limited(most));
        assert_eq!((report.contacts.len(), report.work.proven, report.work.limited), (most, 0, 12 - most));
        assert!(report.dropped.iter().all(|d| d.combination.is_empty()));
        assert!(area(&report) > widest - 1e-9, "{most}: {}", area(&report));
    }
    assert_eq!(prism(12, 0.0, limited(12)).work.limited, 0);
    assert_eq!(prism(12, 0.0, limited(0)).contacts.len(), 0);
}

#[test]
fn the_deepest_is_kept() {
    let least = |r: &StepReport| r.contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
    let (all, two) = (prism(12, 1e-4, Scheme::default()), prism(12, 1e-4, limited(2)));
    assert_eq!(two.contacts.len(), 2);
    assert!((least(&all) - least(&two)).abs() < 1e-15);
}

/// Proofs by contacts that the limit drops are void.
#[test]
fn proofs_by_dropped_contacts_are_void() {
    for most in [1, 2, 3, 4] {
        let mut simulation = in_space(&sliding(0.5, Vector3::zeros()), limited(most));
        let rows = all_contacts(&simulation);
        let report = step(&mut simulation);
        assert_eq!((kept(&report), report.dropped.len()), (most, 100 - most));
        assert_proofs(simulation.system(), &rows, &report);
        assert_eq!(report.work.limited == 0, most == 4);
    }
    let mut simulation = in_plane(&bar(0.5, 0.0, planar::Twist::default()), limited(1));
    let report = step(&mut simulation);
    assert_eq!((kept(&report), report.dropped.len()), (1, 9));
}

#[test]
fn a_slab_on_four_corners_stands() {
    let mut simulation = in_space(&sliding(0.5, Vector3::zeros()), limited(4));
    for _ in 0..50 {
        let report = step(&mut simulation);
        assert_eq!((report.work.proven, report.work.limited), (96, 0));
        assert!(report.infeasibility < 1e-9);
    }
}
