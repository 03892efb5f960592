//! Curved contacts, whose normals turn: a disk on a bump that slips, rolls and takes off, and a rocking ellipse.

use crate::common::{Expected, RunOutcome, down, floor, halved, order, rough};
use nalgebra::{Isometry2, Vector2};
use stiction::planar::{Attached, Body, Mass, Model, Shape, Twist, World};
use stiction::{EventLocation, RowForm, RowForms, Trapezoidal};

pub(crate) fn bump() -> Model {
    let mut world = World::new(down());
    world.add_body(Body::fixed("bump").with(Attached::new(Shape::Disk { radius: 1.0 }).material(rough(0.3))));
    let (s, c) = 0.1f64.sin_cos();
    let disk = Body::rigid("disk", Mass::given(1.0, 0.5 * 0.09)).at(Isometry2::translation(1.3 * s, 1.3 * c));
    let disk = disk.moving(Twist::new(Vector2::new(0.3 * c, -0.3 * s), -4.0));
    world.add_body(disk.with(Attached::new(Shape::Disk { radius: 0.3 }).material(rough(0.3))));
    world.build().unwrap()
}

/// Ellipse with semi-axes 4 m and 2 m at a height, an angle and a spin.
pub(crate) fn ellipse(height: f64, angle: f64, spin: f64) -> Model {
    let mut world = World::new(down());
    floor(&mut world, rough(0.3));
    // I = m (a² + b²)/4
    let body = Body::rigid("ellipse", Mass::given(1.0, 5.0));
    let body = body.at(Isometry2::new(Vector2::new(0.0, height), angle));
    let body = body.moving(Twist::new(Vector2::zeros(), spin));
    world.add_body(body.with(Attached::new(Shape::Ellipse { semi_axes: [4.0, 2.0] }).material(rough(0.3))));
    world.build().unwrap()
}

pub(crate) fn tilted() -> Model {
    let (s, c) = 0.5f64.sin_cos();
    ellipse((4.0 * s).hypot(2.0 * c), 0.5, 0.0)
}

pub(crate) const OFF_THE_BUMP: [f64; 3] = [1.345_100_335_451, 0.221_271_010_165, -4.831_735_536_062];
pub(crate) const ROCKED: [f64; 3] = [1.641_237_374_195, 2.077_649_230_555, -0.163_159_169_497];
pub(crate) const DROPPED: [f64; 3] = [0.207_242_169_12, 2.005_954_803_188, 3.186_193_191_73];

fn end(q: [f64; 3]) -> [(usize, f64); 3] {
    [(0, q[0]), (1, q[1]), (2, q[2])]
}

#[test]
fn a_disk_slips_rolls_slips_and_flies_off_a_bump() {
    Expected {
        within: 0.2,
        ..Expected::of(
            &end(OFF_THE_BUMP),
            &[(0.092_530_411, "S1"), (0.617_818_553, "L1"), (0.813_964_705, "O1")],
            &[1.34e-3, 3.36e-4, 8.46e-5, 2.12e-5, 5.32e-6],
        )
    }
    .check("bump", &halved(bump, Trapezoidal::default(), 5..=9, 1.0));
}

#[test]
fn an_ellipse_rocks_from_rest() {
    let sequence = [
        (0.743_037_182, "S1"),
        (1.145_587_245, "L1"),
        (2.321_522_673, "S1"),
        (2.753_538_514, "L1"),
        (3.663_410_812, "S1"),
        (4.264_906_803, "L1"),
    ];
    Expected { ratios: 3.7..=4.4, ..Expected::of(&end(ROCKED), &sequence, &[]) }
        .check("rocking ellipse", &halved(tilted, Trapezoidal::default(), 4..=9, 5.0));
}

#[test]
fn an_ellipse_is_dropped() {
    let runs = halved(|| ellipse(8.0, 0.0, 3.0), Trapezoidal::default(), 4..=9, 5.0);
    // the first is exact; the others are from runs with ever smaller steps
    let sequence = [
        (1.099_379_927, "I1"),
        (1.370_551_715, "L1"),
        (1.908_503_676, "S1"),
        (2.793_508_158, "L1"),
        (3.287_070_895, "S1"),
        (4.209_451_800, "L1"),
        (4.667_816_790, "S1"),
    ];
    Expected {
        within: 0.2,
        ratios: 3.7..=4.4,
        ..Expected::of(&end(DROPPED), &sequence, &[2.88e-3, 7.43e-4, 1.95e-4, 4.94e-5])
    }
    .check("dropped ellipse", &runs);
}

/// Control: contact rows at the end velocity without the curvature term are of first order where normals turn.
#[test]
fn end_rows_are_of_first_order_on_curved_contact() {
    let rows = RowForms { joints: RowForm::Mean, ..RowForms::all(RowForm::End) };
    let settings = Trapezoidal { rows, locate: EventLocation::Impacts, ..Trapezoidal::default() };
    let off = |outcome: &RunOutcome, q: [f64; 3]| crate::common::distance(&outcome.q, &q);
    for (name, runs, q) in [
        ("bump", halved(bump, settings, 8..=9, 1.0), OFF_THE_BUMP),
        ("ellipse", halved(tilted, settings, 8..=9, 5.0), ROCKED),
    ] {
        let order = order([off(&runs[0].1, q), off(&runs[1].1, q)]);
        println!("{name}: order {order}");
        assert!((order - 1.0).abs() < 0.1, "{name}: order {order}");
    }
}
