//! Outlines of bodies for figures: planar shapes as they are, spatial shapes projected along y.

use stiction::{AttachedRef, FramePose, Model, ShapeRef, State};
use stiction_geometry::{planar, spatial};
use stiction_papers::{Outline, Snapshot};

/// Number of directions in which an outline is sampled.
const OUTLINE_DIRECTIONS: u32 = 64;

/// Margin around the bodies, relative to the size of the picture.
const PICTURE_MARGIN: f64 = 0.06;

/// Number of the colour of bodies that do not move: grey.
const FIXED_COLOUR: usize = 5;

/// Direction from which bodies in space are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViewDirection {
    /// Along y: x to the right, z up.
    Front,
    /// Against z: x to the right, y up.
    Above,
}

impl ViewDirection {
    /// Axes of the picture in space.
    fn axes(self) -> [usize; 2] {
        match self {
            Self::Front => [0, 2],
            Self::Above => [0, 1],
        }
    }
}

/// Outlines at several states; floors and walls are cut at the edge of the picture.
pub(crate) fn frames(model: &Model, states: &[State], view: ViewDirection) -> Vec<Snapshot> {
    let axes = if model.dimension() == 2 { [0, 1] } else { view.axes() };
    let bodies = model.body_ids();
    let moving: Vec<usize> = bodies.iter().map(|body| usize::from(model.moves(*body))).collect();
    let bounded = |state: &State| {
        let (mut outlines, mut colours) = (Vec::new(), Vec::new());
        for (k, &body) in bodies.iter().enumerate() {
            let Some(pose) = model.pose(state, body) else { continue };
            outlines.extend(model.shapes(body).iter().filter_map(|shape| silhouette(&pose, shape, axes)));
            // bodies that move have the colours of their curves, from the first on
            let before = moving[..k].iter().sum();
            colours.resize(outlines.len(), if moving[k] == 1 { before } else { FIXED_COLOUR });
        }
        outlines.extend(links(model, state, axes));
        Snapshot { t: state.t, outlines, colours }
    };
    let mut frames: Vec<Snapshot> = states.iter().map(bounded).collect();
    let (low, high) = extent(&frames);
    for (frame, state) in frames.iter_mut().zip(states) {
        for &body in &bodies {
            let Some(pose) = model.pose(state, body) else { continue };
            let walls = model.shapes(body);
            let walls = walls.iter().filter(|drawn| is_wall(drawn.shape));
            let lines = walls.filter_map(|drawn| wall(model, &pose, drawn, (low, high), axes));
            frame.outlines.extend(lines);
        }
    }
    frames
}

/// Lines along joints, from the centre of one moving body to that of the other, so that bodies without shapes show.
fn links(model: &Model, state: &State, axes: [usize; 2]) -> Vec<Outline> {
    let mut links = Vec::new();
    for joint in model.joint_names().iter().filter_map(|name| model.find_joint(name)) {
        let (Some([a, b]), Some([at_a, at_b])) = (model.joined(joint), model.joint_points(state, joint))
        else {
            continue;
        };
        let centre = |body| model.centre(state, body).filter(|_| model.moves(body));
        let points = centre(a).into_iter().chain([at_a, at_b]).chain(centre(b));
        links.push(Outline { closed: false, points: points.map(|p| flat(p, axes)).collect() });
    }
    links
}

/// Coordinates in the picture.
fn flat(point: [f64; 3], axes: [usize; 2]) -> [f64; 2] {
    axes.map(|k| point[k])
}

/// Corners of the picture: the bounding box of all outlines with a margin.
fn extent(frames: &[Snapshot]) -> ([f64; 2], [f64; 2]) {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for p in frames.iter().flat_map(|f| &f.outlines).flat_map(|o| &o.points) {
        for k in 0..2 {
            low[k] = low[k].min(p[k]);
            high[k] = high[k].max(p[k]);
        }
    }
    if !(low[0] <= high[0] && low[1] <= high[1]) {
        return ([-1.0; 2], [1.0; 2]);
    }
    let size = (high[0] - low[0]).max(high[1] - low[1]).max(1e-9);
    (low.map(|x| x - PICTURE_MARGIN * size), high.map(|x| x + PICTURE_MARGIN * size))
}

/// Rotation by a unit quaternion.
fn turn([w, x, y, z]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    nalgebra::UnitQuaternion::new_unchecked(nalgebra::Quaternion::new(w, x, y, z))
        .transform_vector(&v.into())
        .into()
}

fn turn_back([w, x, y, z]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    turn([w, -x, -y, -z], v)
}

fn is_wall(shape: ShapeRef) -> bool {
    matches!(shape, ShapeRef::Planar(planar::Shape::HalfPlane) | ShapeRef::Spatial(spatial::Shape::HalfSpace))
}

/// Silhouette of a convex shape: its farthest points in the directions of the picture. `None` for floors and walls.
fn silhouette(body: &FramePose, drawn: &AttachedRef, axes: [usize; 2]) -> Option<Outline> {
    if is_wall(drawn.shape) {
        return None;
    }
    let place = |local: [f64; 3]| {
        let inner = add(turn(drawn.pose.quat_wxyz, local), drawn.pose.position);
        flat(add(turn(body.quat_wxyz, inner), body.position), axes)
    };
    let mut points: Vec<[f64; 2]> = Vec::new();
    for k in 0..OUTLINE_DIRECTIONS {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / f64::from(OUTLINE_DIRECTIONS)).sin_cos();
        let mut direction = [0.0; 3];
        (direction[axes[0]], direction[axes[1]]) = (cos, sin);
        let local = turn_back(drawn.pose.quat_wxyz, turn_back(body.quat_wxyz, direction));
        let point = place(farthest(drawn.shape, local)?);
        if points.last() != Some(&point) {
            points.push(point);
        }
    }
    Some(Outline { closed: true, points })
}

fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] + b[i])
}

/// Farthest point of a shape along a local unit direction; `None` for unbounded shapes.
fn farthest(shape: ShapeRef, d: [f64; 3]) -> Option<[f64; 3]> {
    let ellipsoid = |axes: [f64; 3]| {
        let length = (0..3).map(|i| (axes[i] * d[i]).powi(2)).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        std::array::from_fn(|i| axes[i] * axes[i] * d[i] / length)
    };
    let capsule = |axis: usize, half: f64, radius: f64| {
        std::array::from_fn(|i| radius * d[i] + if i == axis { half.copysign(d[i]) } else { 0.0 })
    };
    let on_rim = |radius: f64, z: f64| {
        let across = d[0].hypot(d[1]).max(f64::MIN_POSITIVE);
        [radius * d[0] / across, radius * d[1] / across, z]
    };
    let along = |p: &[f64; 3]| p[0] * d[0] + p[1] * d[1] + p[2] * d[2];
    let corner =
        |points: &mut dyn Iterator<Item = [f64; 3]>| points.max_by(|a, b| along(a).total_cmp(&along(b)));
    match shape {
        ShapeRef::Planar(shape) => match shape {
            planar::Shape::Disk { radius } => Some(d.map(|x| radius * x)),
            planar::Shape::Ellipse { semi_axes: [a, b] } => Some(ellipsoid([*a, *b, 0.0])),
            planar::Shape::Capsule { half_length, radius } => Some(capsule(0, *half_length, *radius)),
            planar::Shape::Polygon(polygon) => {
                corner(&mut polygon.vertices().iter().map(|p| [p.x, p.y, 0.0]))
            }
            planar::Shape::Rounded { core, radius } => {
                let core = farthest(ShapeRef::Planar(core), d)?;
                Some(add(core, d.map(|x| radius * x)))
            }
            planar::Shape::HalfPlane => None,
        },
        ShapeRef::Spatial(shape) => match shape {
            spatial::Shape::Sphere { radius } => Some(d.map(|x| radius * x)),
            spatial::Shape::Ellipsoid { semi_axes } => Some(ellipsoid(*semi_axes)),
            spatial::Shape::Capsule { half_length, radius } => Some(capsule(2, *half_length, *radius)),
            spatial::Shape::Cuboid { half_extents } => {
                Some(std::array::from_fn(|i| half_extents[i].copysign(d[i])))
            }
            spatial::Shape::Polyhedron(hull) => corner(&mut hull.vertices().iter().map(|p| [p.x, p.y, p.z])),
            spatial::Shape::Cylinder { half_length, radius } => {
                Some(on_rim(*radius, half_length.copysign(d[2])))
            }
            spatial::Shape::Cone { half_length, radius } => {
                let at_apex = 2.0 * half_length * d[2] > radius * d[0].hypot(d[1]);
                Some(if at_apex { [0.0, 0.0, *half_length] } else { on_rim(*radius, -half_length) })
            }
            spatial::Shape::Rounded { core, radius } => {
                let core = farthest(ShapeRef::Spatial(core), d)?;
                Some(add(core, d.map(|x| radius * x)))
            }
            spatial::Shape::HalfSpace => None,
        },
    }
}

/// Line of a floor or wall within the picture; `None` where its face is parallel to the picture.
fn wall(
    model: &Model,
    body: &FramePose,
    drawn: &AttachedRef,
    (low, high): ([f64; 2], [f64; 2]),
    axes: [usize; 2],
) -> Option<Outline> {
    let up = if model.dimension() == 2 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
    let normal = flat(turn(body.quat_wxyz, turn(drawn.pose.quat_wxyz, up)), axes);
    let length = normal[0].hypot(normal[1]);
    if length < 1e-6 {
        return None;
    }
    let at = flat(add(turn(body.quat_wxyz, drawn.pose.position), body.position), axes);
    let along = [-normal[1] / length, normal[0] / length];
    // range of s for which at + s along lies in the picture
    let (mut from, mut to) = (f64::NEG_INFINITY, f64::INFINITY);
    for k in 0..2 {
        if along[k].abs() < 1e-12 {
            if !(low[k]..=high[k]).contains(&at[k]) {
                return None;
            }
            continue;
        }
        let (a, b) = ((low[k] - at[k]) / along[k], (high[k] - at[k]) / along[k]);
        (from, to) = (from.max(a.min(b)), to.min(a.max(b)));
    }
    let point = |s: f64| [at[0] + s * along[0], at[1] + s * along[1]];
    (from < to).then(|| Outline { closed: false, points: vec![point(from), point(to)] })
}
