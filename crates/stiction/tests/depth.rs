//! Signed Euclidean distance instead of the ratio metric: one contact per pair. First order, which takes an impact at the
//! end of its step and does not tip over the one corner before.

use stiction::{Depth, Scheme, Simulation};

/// Number of contacts and height [m] of a box that has fallen flat on another one.
fn in_space(depth: Depth) -> (usize, f64) {
    use nalgebra::{Isometry3, Vector3};
    use stiction::spatial::{Attached, Body, Mass, Shape, World};
    let mut world = World::new(Vector3::new(0.0, 0.0, -9.81));
    world.depth = depth;
    let table = Attached::new(Shape::Cuboid { half_extents: [2.0, 2.0, 0.5] });
    world.add_body(Body::fixed("table").with(table));
    let die = Attached::new(Shape::Cuboid { half_extents: [0.5; 3] });
    let die = world
        .add_body(Body::rigid("die", Mass::Density(1.0)).at(Isometry3::translation(0.0, 0.0, 1.1)).with(die));
    let model = world.build().unwrap();
    let mut simulation = Simulation::new(model).with_scheme(Scheme::first_order());
    let mut contacts = 0;
    // a fall of 0.1 m takes 0.14 s; on one contact the box tips after that
    for _ in 0..15 {
        contacts = simulation.step(0.01).unwrap().contacts.len();
    }
    (contacts, simulation.system().centre(simulation.state(), die).unwrap().z)
}

fn in_the_plane(depth: Depth) -> (usize, f64) {
    use nalgebra::{Isometry2, Vector2};
    use stiction::planar::{Attached, Body, Mass, Shape, World};
    use stiction_geometry::planar::Polygon;
    let rectangle = |half| Attached::new(Shape::Polygon(Polygon::rectangle(half).unwrap()));
    let mut world = World::new(Vector2::new(0.0, -9.81));
    world.depth = depth;
    world.add_body(Body::fixed("table").with(rectangle([2.0, 0.5])));
    let die = Body::rigid("die", Mass::Density(1.0)).at(Isometry2::translation(0.0, 1.1));
    let die = world.add_body(die.with(rectangle([0.5; 2])));
    let model = world.build().unwrap();
    let mut simulation = Simulation::new(model).with_scheme(Scheme::first_order());
    let mut contacts = 0;
    for _ in 0..15 {
        contacts = simulation.step(0.01).unwrap().contacts.len();
    }
    (contacts, simulation.system().centre(simulation.state(), die).unwrap().y)
}

#[test]
fn a_world_may_measure_gaps_by_distance() {
    for run in [in_space, in_the_plane] {
        let ((many, high), (one, low)) = (run(Depth::Ratio), run(Depth::Minkowski));
        assert!(many >= 2 && one == 1, "{many} {one}");
        // supported by all corners, and by one: still on the table
        assert!((high - 1.0).abs() < 1e-6 && low > 0.9 && low < 1.0 + 1e-6, "{high} {low}");
    }
}
