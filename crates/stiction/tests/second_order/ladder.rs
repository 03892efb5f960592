//! Ladder that slides down a wall and leaves it: a take-off against a reference.

use crate::common::{Expected, G, down, floor, halved, rough, tip};
use crate::reference::{At, Held, driven, held};
use nalgebra::{Isometry2, Vector2};
use std::f64::consts::PI;
use stiction::Trapezoidal;
use stiction::planar::{Attached, Body, Mass, Model, Shape, World};

const MU: [f64; 2] = [0.1, 0.2];
const LEAN: f64 = 0.4;

fn ladder() -> Model {
    let mut world = World::new(down());
    // μ is the root of the product
    floor(&mut world, rough(1.0));
    let wall = Attached::new(Shape::HalfPlane).at(Isometry2::rotation(-PI / 2.0)).material(rough(1.0));
    world.add_body(Body::fixed("wall").with(wall));
    let (s, c) = LEAN.sin_cos();
    let body =
        Body::rigid("ladder", Mass::given(1.0, 1.0 / 3.0)).at(Isometry2::new(Vector2::new(s, c), LEAN));
    let [foot, head] = [(-1.0, MU[0]), (1.0, MU[1])].map(|(y, mu): (f64, f64)| tip(0.0, y, rough(mu * mu)));
    world.add_body(body.with(foot).with(head));
    world.build().unwrap()
}

/// Accelerations on wall and floor, or on the floor alone, and the normal force at the last of them.
fn slides(at: &At, leaning: bool) -> (Vec<f64>, f64) {
    let (s, c) = at.q[2].sin_cos();
    let turn = at.v[2] * at.v[2];
    let mut rows = vec![Held::rubbing(&[0.0, 1.0, s], c * turn, -MU[0], &[1.0, 0.0, c])];
    if leaning {
        rows.push(Held::rubbing(&[1.0, 0.0, -c], s * turn, MU[1], &[0.0, 1.0, -s]));
    }
    let (a, forces) = held(&[1.0, 1.0, 1.0 / 3.0], &[0.0, -G, 0.0], &rows);
    (a, *forces.last().unwrap_or(&0.0))
}

#[test]
fn the_head_leaves_the_wall() {
    let (s, c) = LEAN.sin_cos();
    let start = At { t: 0.0, q: vec![s, c, LEAN], v: vec![0.0; 3] };
    let (end, times) = driven(start, &[true, false], 0.9, slides);
    Expected::of(&[(0, end.q[0]), (1, end.q[1]), (2, end.q[2])], &[(times[0], "O3")], &[])
        .check("ladder", &halved(ladder, Trapezoidal::default(), 5..=9, 0.9));
}
