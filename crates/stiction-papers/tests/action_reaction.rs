//! Action and reaction: the impulses of two bodies on each other have no net force and no net torque about any point.

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use std::sync::Arc;
use stiction::spatial::{self, Attached, Body, Mass, Shape, World};
use stiction::{BodyId, ContactQuery, ContactRow, Scheme, Simulation, State, StepReport, System};
use stiction_geometry::spatial::Polyhedron;
use stiction_lcp::Row;
use stiction_papers::ha10::{DEPTH, EitherModel, GapForm, Ha10Method, Ha10Scene, Polyhedra};

/// Centre of mass and axes of the angular velocity of each moving body. Body 0 is the floor.
fn places(bodies: &EitherModel, state: &State) -> Vec<(Point3<f64>, UnitQuaternion<f64>)> {
    let count = match bodies {
        EitherModel::Planar(model) => model.bodies().len(),
        EitherModel::Spatial(model) => model.bodies().len(),
    };
    let place = |number: usize| match bodies {
        EitherModel::Planar(model) => {
            let id = stiction::planar::BodyId(u32::try_from(number + 1).unwrap());
            (model.centre(state, id).unwrap().coords.push(0.0).into(), UnitQuaternion::identity())
        }
        EitherModel::Spatial(model) => {
            let id = spatial::BodyId(u32::try_from(number + 1).unwrap());
            (model.centre(state, id).unwrap(), model.pose(state, id).unwrap().rotation)
        }
    };
    (0..count).map(place).collect()
}

/// Net force and torque about `about` of a unit impulse along a row, on both bodies together.
fn net(
    row: &Row,
    planar: bool,
    places: &[(Point3<f64>, UnitQuaternion<f64>)],
    about: &Point3<f64>,
) -> [Vector3<f64>; 2] {
    let Row::Bodies(terms) = row else { panic!("a contact is of two bodies") };
    let mut sum = [Vector3::zeros(); 2];
    for term in terms {
        let (centre, axes) = places[term.body];
        let [a, b, c, d, e, f] = term.j;
        let (force, own) = if planar {
            (Vector3::new(a, b, 0.0), Vector3::new(0.0, 0.0, c))
        } else {
            (Vector3::new(a, b, c), axes * Vector3::new(d, e, f))
        };
        sum[0] += force;
        sum[1] += own + (centre - about).cross(&force);
    }
    sum
}

/// Checks the impulses of every pair of moving bodies in every step of a run; returns their number.
fn watch(system: Polyhedra, state: State, scheme: Scheme, steps: usize) -> usize {
    let planar = matches!(system.bodies, EitherModel::Planar(_));
    let mut simulation = Simulation::from_state(system, state).with_scheme(scheme);
    let mut seen = 0;
    for step in 0..steps {
        let before = simulation.state().clone();
        let report: StepReport = simulation.step(0.01).unwrap();
        let places = places(&simulation.system().bodies, &before);
        let pairs: Vec<_> = report.contacts.iter().map(|c| c.id.pair).collect();
        let mut rows: Vec<ContactRow> = Vec::new();
        let near = ContactQuery { wanted: &pairs, ..ContactQuery::within(f64::INFINITY) };
        let mut cache = before.memory.cache.clone();
        simulation.system().contacts(before.t, &before.q, &near, &mut cache, &mut rows);
        // a point off the bodies, another one in each step
        let about = Point3::new(0.3 + (step as f64).sin(), -0.7, if planar { 0.0 } else { 0.2 });
        for contact in
            report.contacts.iter().filter(|c| !c.bodies.contains(&BodyId(0)) && c.normal_impulse > 0.0)
        {
            let row = rows.iter().find(|row| row.id == contact.id).unwrap();
            let friction = Vector3::from(contact.friction_impulse);
            let weights = row.tangent_directions.map(|t| friction.dot(&Vector3::from(t)));
            let parts = [(&row.normal, contact.normal_impulse)];
            let parts = parts.into_iter().chain(row.tangents.iter().map(|t| &t.row).zip(weights));
            let mut total = [Vector3::zeros(); 2];
            for (row, impulse) in parts {
                let net = net(row, planar, &places, &about);
                (0..2).for_each(|k| total[k] += impulse * net[k]);
            }
            let impulse = contact.normal_impulse.hypot(friction.norm());
            let levers = contact.bodies.map(|b| (places[b.0 as usize - 1].0 - about).norm());
            let size = levers[0].max(levers[1]).max(1.0);
            assert!(total[0].norm() <= 1e-14 * impulse, "step {step}: {contact:?}, {total:?}");
            assert!(total[1].norm() <= 1e-14 * impulse * size, "step {step}: {contact:?}, {total:?}");
            seen += 1;
        }
    }
    seen
}

fn schemes() -> [(GapForm, Scheme); 4] {
    let paper = |form| (form, Ha10Method::paper(form, 1.0, true).scheme);
    [
        (GapForm::Gap, Scheme::first_order()),
        (GapForm::Gap, Scheme::ah04()),
        paper(GapForm::Rho),
        paper(GapForm::Ratio),
    ]
}

#[test]
fn impulses_of_polygons_are_opposite() {
    for scene in [Ha10Scene::Balance2, Ha10Scene::Pyramid1] {
        for (form, scheme) in schemes() {
            let bodies = scene.bodies(1).unwrap();
            let state = bodies.state();
            let seen = watch(Polyhedra { bodies, form, depth: DEPTH, normalized: true }, state, scheme, 300);
            assert!(seen > 300, "{}: {seen}", scene.name());
        }
    }
}

/// Heap of octahedra, wedges and boxes.
fn heap() -> EitherModel {
    let mut world = World::new(Vector3::new(0.0, 0.0, -9.81));
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfSpace)));
    let point = |x: f64, y: f64, z: f64| Point3::new(0.3 * x, 0.3 * y, 0.3 * z);
    let octahedron: Vec<_> = (0..6)
        .map(|k| {
            let sign = if k < 3 { 1.0 } else { -1.0 };
            let unit = |i: usize| if k % 3 == i { sign } else { 0.0 };
            point(unit(0), unit(1), unit(2))
        })
        .collect();
    let wedge: Vec<_> = [-1.0, 1.0]
        .into_iter()
        .flat_map(|y| [point(-1.0, y, -0.7), point(1.0, y, -0.7), point(0.2, y, 0.9)])
        .collect();
    let shapes = [&octahedron, &wedge].map(|points| Arc::new(Polyhedron::new(points).unwrap()));
    let cube = Shape::Polyhedron(Arc::new(Polyhedron::cuboid([0.2, 0.3, 0.25]).unwrap()));
    for k in 0..9 {
        let shape = shapes.get(k % 3).map_or(cube.clone(), |shape| Shape::Polyhedron(shape.clone()));
        let s = k as f64;
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(s.sin(), (2.0 * s).cos(), 0.3 * s));
        let place = Vector3::new(0.15 * (3.0 * s).sin(), 0.15 * (5.0 * s).cos(), 0.5 + 0.75 * s);
        let body = Body::rigid(format!("body {k}"), Mass::Density(500.0)).with(Attached::new(shape));
        world.add_body(body.at(Isometry3::from_parts(place.into(), turn)));
    }
    EitherModel::Spatial(world.build().unwrap())
}

#[test]
fn impulses_of_polyhedra_are_opposite() {
    for (form, scheme) in schemes() {
        let bodies = heap();
        let state = bodies.state();
        let seen = watch(Polyhedra { bodies, form, depth: DEPTH, normalized: true }, state, scheme, 150);
        assert!(seen > 150, "{form:?}: {seen}");
    }
}
