//! Forces of redundant contacts at the ends of runs to an accuracy: of least norm, against numbers of their own.

use crate::common::G;
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use stiction::spatial::{Attached, Body, Mass, Shape, World};
use stiction::{Accuracy, ContactReport, Material, Mode, Scheme, Simulation, StepReport};

/// Box at rest on a plane with friction 0.5, under any gravity.
struct RestingBox {
    mass: f64,
    half: [f64; 3],
    /// Centre of mass in the frame of the box [m].
    centre: [f64; 2],
    gravity: Vector3<f64>,
}

impl RestingBox {
    /// Contacts and their interval after 0.1 s.
    fn contacts(&self, tolerance: f64) -> (Vec<ContactReport>, f64) {
        let Self { mass, half, centre: [x, y], gravity } = *self;
        let mut world = World::new(gravity);
        let material = Material { friction: 0.5, ..Material::default() };
        world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfSpace).material(material)));
        let [a, b, c] = half.map(|h| mass * h * h / 3.0);
        let inertia = Matrix3::from_diagonal(&Vector3::new(b + c, a + c, a + b));
        let mass = Mass::Given { mass, centre: Point3::new(x, y, 0.0), inertia };
        let body = Body::rigid("box", mass).at(Isometry3::translation(0.0, 0.0, half[2]));
        let shape = Attached::new(Shape::Cuboid { half_extents: half }).material(material);
        world.add_body(body.with(shape));
        let mut simulation = Simulation::new(world.build().unwrap()).with_scheme(Scheme::accurate());
        let mut report = StepReport::default();
        simulation.run_to_accuracy_into(0.1, &Accuracy::of(tolerance), &mut report).unwrap();
        assert_eq!(report.contacts.len(), 4);
        assert!(report.contacts.iter().all(|c| c.mode == Mode::Stick));
        (report.contacts, report.h)
    }

    /// Checks normal force and friction along x, by the signs of x and y of the corner.
    fn check(&self, expected: impl Fn(f64, f64) -> [f64; 2]) {
        for tolerance in [1e-3, 1e-8] {
            let (contacts, h) = self.contacts(tolerance);
            for contact in &contacts {
                let expected = expected(contact.point[0].signum(), contact.point[1].signum());
                let (normal, [x, y, _]) = (contact.normal_force(h), contact.force(h).friction);
                let errors = [normal - expected[0], x - expected[1], y];
                // the numbers are given to six digits after the point
                assert!(errors.iter().all(|e| e.abs() < 2e-6), "{:?}: {errors:?}", contact.point);
            }
        }
    }
}

#[test]
fn a_level_box_shares_its_weight_equally() {
    let level = RestingBox { mass: 1.0, half: [0.3, 0.2, 0.1], centre: [0.0; 2], gravity: -G * Vector3::z() };
    level.check(|_, _| [2.4525, 0.0]);
}

#[test]
fn a_table_with_an_eccentric_load() {
    // centre of mass at (0.5, 0.2) of the half sides
    let centre = [0.5 * 0.4, 0.2 * 0.4];
    let table = RestingBox { mass: 4.0, half: [0.4, 0.4, 0.1], centre, gravity: -G * Vector3::z() };
    table.check(|x, y| match (x > 0.0, y > 0.0) {
        (true, true) => [16.677, 0.0],
        (false, true) => [6.867, 0.0],
        (false, false) => [2.943, 0.0],
        (true, false) => [12.753, 0.0],
    });
}

#[test]
fn a_box_on_an_incline() {
    let slope = 0.45_f64.atan();
    let gravity = G * Vector3::new(slope.sin(), 0.0, -slope.cos());
    let incline = RestingBox { mass: 1.0, half: [0.3, 0.2, 0.1], centre: [0.0; 2], gravity };
    let (low, high) = (2.571_961, 1.901_014);
    // equal shares of friction would be beyond the bound of the high corners
    let [pull, bound] = [0.5 * G * slope.sin(), 0.5 * high];
    assert!(0.5 * pull > bound);
    incline.check(|x, _| if x > 0.0 { [low, bound - pull] } else { [high, -bound] });
}
