//! Stand-ins for bodies without a shape: rods to their joints and springs, or a dot.

use crate::describe::{Description, Form, Pose, Shape};
use nalgebra::{UnitQuaternion, Vector3};

/// Radius of a rod, relative to half its length. Range 0.01 to 0.2: thinner is hard to grab, thicker hides joints.
const ROD_RADIUS_RELATIVE: f64 = 0.06;
/// Radius of a dot, relative to the extent of the scene. Range 0.005 to 0.05.
const DOT_RADIUS_RELATIVE: f64 = 0.02;
/// Length of a rod below which a joint counts as at the centre, relative to the longest rod. Range 1e-6 to 1e-2.
const MIN_ROD_RELATIVE: f64 = 1e-3;

/// Gives every movable body without a shape something to see and to grab.
pub(crate) fn add(description: &mut Description) {
    let dot = DOT_RADIUS_RELATIVE * extent(description);
    let d = description.dimension;
    for i in 0..description.bodies.len() {
        let body = &description.bodies[i];
        if body.motion == "fixed" || !body.shapes.is_empty() {
            continue;
        }
        let mut ends: Vec<[f64; 3]> = Vec::new();
        for joint in &description.joints {
            ends.extend((0..2).filter(|&k| joint.bodies[k] == i).map(|k| point(&joint.frames[k], d)));
        }
        for spring in &description.springs {
            ends.extend((0..2).filter(|&k| spring.bodies[k] == i).map(|k| point(&spring.points[k], d)));
        }
        let longest = ends.iter().map(|end| length(*end)).fold(0.0, f64::max);
        // a body that is joined at its centre is a dot too
        let mut shapes: Vec<Shape> = ends
            .iter()
            .filter(|end| length(**end) > MIN_ROD_RELATIVE * longest.max(dot))
            .map(|end| rod(*end, d))
            .collect();
        if shapes.is_empty() {
            let form = if d == 2 { Form::Disk { radius: dot } } else { Form::Sphere { radius: dot } };
            shapes.push(plain(still(d), form));
        }
        description.bodies[i].shapes = shapes;
    }
}

/// Coordinates of a pose or a point in space.
fn point(numbers: &[f64], d: usize) -> [f64; 3] {
    std::array::from_fn(|i| if i < d { numbers.get(i).copied().unwrap_or(0.0) } else { 0.0 })
}

fn length([x, y, z]: [f64; 3]) -> f64 {
    Vector3::new(x, y, z).norm()
}

fn still(d: usize) -> Pose {
    if d == 2 { vec![0.0; 3] } else { vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0] }
}

/// Rod from the origin of the body to a point of it.
fn rod(end: [f64; 3], d: usize) -> Shape {
    let half = 0.5 * length(end);
    let [x, y, z] = end.map(|x| 0.5 * x);
    let pose = if d == 2 {
        vec![x, y, end[1].atan2(end[0])]
    } else {
        let along = Vector3::from(end);
        // a half turn about x where it points straight down
        let turn = UnitQuaternion::rotation_between(&Vector3::z(), &along)
            .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI));
        vec![x, y, z, turn.i, turn.j, turn.k, turn.w]
    };
    plain(pose, Form::Capsule { half_length: half, radius: ROD_RADIUS_RELATIVE * half })
}

/// Shape without a surface.
fn plain(pose: Pose, form: Form) -> Shape {
    Shape { pose, sensor: false, friction: 0.0, restitution: 0.0, form }
}

/// Largest distance of two bodies along an axis at the start [m].
fn extent(description: &Description) -> f64 {
    let spread = |k: usize| {
        let places = description.bodies.iter().filter_map(|body| body.pose.get(k));
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
        high - low
    };
    let widest = (0..description.dimension).map(spread).fold(0.0, f64::max);
    if widest > 0.0 { widest } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use crate::Description;
    use crate::describe::Form;
    use stiction_scene::Scene;

    #[test]
    fn links_without_shapes_are_rods_between_their_hinges() {
        let text = r#"
            format = 1
            dimension = 2
            run = { duration = 1.0 }
            bodies = [{ name = "link", mass = 1.0, inertia = 0.1, position = [1.0, 0.0] }, { name = "point", motion = "point", mass = 1.0, position = [0.0, 3.0] }]
            joints = [{ kind = "revolute", bodies = ["world", "link"], at = [0.0, 0.0] }]
        "#;
        let model = Scene::from_toml(text, "link.toml").unwrap().build().unwrap().model;
        let description = Description::new(&model, "link", 0, None);
        let body = |name: &str| description.bodies.iter().find(|b| b.name == name).unwrap();
        let link = &body("link").shapes[0];
        assert_eq!(link.pose, [-0.5, 0.0, std::f64::consts::PI]);
        assert!(matches!(link.form, Form::Capsule { half_length: 0.5, .. }));
        assert!(matches!(body("point").shapes[0].form, Form::Disk { .. }));
    }
}
