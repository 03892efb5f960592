//! Formulas of the plane behind the shared world: one angle per body, one tangent per contact.

use super::placement::{PlanarFrame, relative_speed};
use super::{Planar, check, contact, joint_rows};
use crate::error::Mistakes;
use crate::jacobian::point_force::ForcePoint;
use crate::material::Depth;
use crate::system::ContactRow;
use crate::world::{
    Attached, Body, BodyLayout, Formulas, Freedom, Joint, JointCoordinate, JointLayout, JointMemory,
    JointRowWriter, Layout, PlacedPair, Placement, ShapeLayout, SpeedRow, Twist, World, Wrench,
};
use nalgebra::{Isometry2, Matrix3, Matrix6, Point2, UnitComplex, Vector2, Vector3};
use stiction_geometry::NoGap;
use stiction_geometry::broad::Extent;
use stiction_geometry::planar::{Gap, Shape, bounds, gaps_from, has_gap, minkowski_gap, size};
use stiction_lcp::FrictionSet;

/// Length below which a direction cannot be normalized without losing digits to underflow [m]. Range: above the
/// square root of the least normal number, 1e-154, and far below any real length; larger values bend short springs.
pub(super) const MIN_NORMALIZABLE: f64 = 1e-100;

impl Formulas for Planar {
    const RIGID: (usize, usize) = (3, 3);
    const REUSES_GAPS: bool = false;

    type Frame = PlanarFrame;
    type JointFrames = joint_rows::JointFrames;
    type FrictionSets = FrictionSet;
    type GrainSets = ();
    type Gap = Gap;

    fn unit_axis(axis: &Vector2<f64>) -> Vector2<f64> {
        *axis
    }

    fn standing_frame(pose: &Isometry2<f64>) -> PlanarFrame {
        PlanarFrame::still(pose.rotation)
    }

    fn moving_frame(_: &Point2<f64>, rotation: UnitComplex<f64>, _: &BodyLayout<Self>) -> PlanarFrame {
        PlanarFrame::still(rotation)
    }

    fn rigid_frame(_: &Point2<f64>, angular: &[f64], _: &BodyLayout<Self>) -> PlanarFrame {
        PlanarFrame::at(angular[0])
    }

    fn angular_velocity(_: &[f64], v: &[f64]) -> f64 {
        v[0]
    }

    fn append_angular(pose: &Isometry2<f64>, angular: &f64, q: &mut Vec<f64>, v: &mut Vec<f64>) {
        q.push(pose.rotation.angle());
        v.push(*angular);
    }

    fn advance_angular(angular: &mut [f64], v: &[f64], h: f64) {
        angular[0] += h * v[0];
    }

    fn end_step_angular(angular: &mut [f64], v: &[f64], end: &mut [f64], shift: &[f64], h: f64) {
        angular[0] += h * (0.5 * (v[0] + end[0]) + shift[0]);
    }

    fn angular_rates(_: &[f64], v: &[f64], out: &mut Vec<f64>) {
        out.push(v[0]);
    }

    fn add_inertia(body: &BodyLayout<Self>, block: &mut Matrix6<f64>) {
        block[(2, 2)] = body.inertia;
    }

    fn angular_momentum(
        body: &BodyLayout<Self>,
        placement: &Placement<Self>,
        p: &Vector2<f64>,
        v: Option<&[f64]>,
    ) -> [f64; 2] {
        [placement.centre.coords.perp(p), v.map_or(0.0, |v| body.inertia * v[0])]
    }

    fn gyration(body: &BodyLayout<Self>) -> f64 {
        if body.freedom.is_rigid() { (body.inertia / body.mass).sqrt() } else { 0.0 }
    }

    fn extent(shape: &Shape, pose: &Isometry2<f64>, from: &Point2<f64>) -> f64 {
        let to = |p: &Point2<f64>| (pose * p - from).norm();
        let (core, rounding) = shape.core();
        match core {
            Shape::Capsule { half_length: l, radius } => {
                to(&Point2::new(-l, 0.0)).max(to(&Point2::new(*l, 0.0))) + radius
            }
            Shape::Polygon(polygon) => polygon.vertices().iter().map(to).fold(0.0, f64::max) + rounding,
            Shape::Disk { .. } | Shape::Ellipse { .. } | Shape::Rounded { .. } | Shape::HalfPlane => {
                to(&Point2::origin()) + size(shape)
            }
        }
    }

    fn tolerance_size(shape: &Attached<Self>, body: &BodyLayout<Self>) -> f64 {
        // a point counts as large as its body
        let own = size(&shape.shape);
        if own > 0.0 { own } else { body.radius }
    }

    fn size(shape: &Shape) -> f64 {
        size(shape)
    }

    fn pose(body: &BodyLayout<Self>, placement: &Placement<Self>) -> Isometry2<f64> {
        let at = placement.point(&-body.centre.coords);
        Isometry2::from_parts(at.into(), placement.frame.rotation)
    }

    fn place_of(body: &BodyLayout<Self>, placement: &Placement<Self>, point: &Point2<f64>) -> Point2<f64> {
        placement.point(&(point - body.centre))
    }

    fn speed_of(body: &Placement<Self>, at: &Point2<f64>, direction: &Vector2<f64>) -> SpeedRow {
        let mut row = SpeedRow::default();
        body.add_speed(at, direction, &mut row);
        row
    }

    fn relative_speed(
        a: (&Placement<Self>, &Point2<f64>),
        b: (&Placement<Self>, &Point2<f64>),
        direction: &Vector2<f64>,
    ) -> SpeedRow {
        relative_speed(a, b, direction)
    }

    fn joint_frames(
        joint: &Joint<Self>,
        bodies: [&BodyLayout<Self>; 2],
        poses: [&Isometry2<f64>; 2],
    ) -> joint_rows::JointFrames {
        joint_rows::JointFrames::new(joint, bodies, poses)
    }

    fn keep_turns(frames: &mut joint_rows::JointFrames, before: &joint_rows::JointFrames) {
        frames.keep_turns(before);
    }

    fn joint_rows(
        joint: &JointLayout<Self>,
        bodies: [&Placement<Self>; 2],
        twists: Option<[Twist<Self>; 2]>,
        memory: JointMemory,
        out: &mut JointRowWriter,
    ) {
        joint_rows::rows(joint, bodies, twists, memory, out);
    }

    fn joint_coordinate(
        joint: &JointLayout<Self>,
        bodies: [&Placement<Self>; 2],
        _: JointMemory,
    ) -> Option<JointCoordinate> {
        joint_rows::coordinate(joint, bodies)
    }

    fn term_wrench(_: &Placement<Self>, term: &[f64; 6]) -> Wrench<Self> {
        Wrench { force: Vector2::new(term[0], term[1]), torque: term[2] }
    }

    fn add_wrench(body: &Placement<Self>, at: &Point2<f64>, wrench: &Wrench<Self>, k: &mut [f64]) {
        for term in Self::speed_of(body, at, &wrench.force).terms {
            k.iter_mut().zip(term.j).for_each(|(k, j)| *k += j);
        }
        if body.freedom.is_rigid() {
            k[2] += wrench.torque;
        }
    }

    fn spring_direction(d: &Vector2<f64>) -> Option<Vector2<f64>> {
        let length = d.norm();
        Some(if length > MIN_NORMALIZABLE { d / length } else { Vector2::y() })
    }

    fn axes() -> impl Iterator<Item = Vector2<f64>> {
        [Vector2::x(), Vector2::y()].into_iter()
    }

    fn grip(body: &Placement<Self>, at: &Point2<f64>, v: &[f64]) -> ForcePoint {
        // velocities as linear and angular ones in space
        let mut axes = Matrix6::zeros();
        let number = match body.freedom {
            Freedom::None => {
                let velocity = body.prescribed_at(at);
                return ForcePoint::prescribed(Vector3::new(velocity.x, velocity.y, 0.0));
            }
            Freedom::Slider(number, axis) => {
                axes.fixed_view_mut::<2, 1>(0, 0).copy_from(&axis);
                number
            }
            Freedom::Rigid(number) | Freedom::Point(number) => {
                (axes[(0, 0)], axes[(1, 1)]) = (1.0, 1.0);
                number
            }
        };
        if body.freedom.is_rigid() {
            axes[(5, 2)] = 1.0;
        }
        // about z the frame in which the lever is given does not matter
        let lever = at - body.centre;
        ForcePoint::moving(number, &axes, Matrix3::identity(), Vector3::new(lever.x, lever.y, 0.0), v)
    }

    fn turning_torque(_: &f64) -> Vector3<f64> {
        // a torque about z does not turn with the body
        Vector3::zeros()
    }

    fn friction_sets(_: &World<Self>) -> FrictionSet {
        FrictionSet::line()
    }

    fn grain_sets(_: &FrictionSet, _: &Attached<Self>) {}

    fn shape_offset(pose: &Isometry2<f64>, body: &BodyLayout<Self>) -> Isometry2<f64> {
        let mut offset = *pose;
        offset.translation.vector -= body.centre.coords;
        offset
    }

    fn shape_pose(shape: &ShapeLayout<Self>, body: &Placement<Self>) -> Isometry2<f64> {
        body.pose(&shape.offset)
    }

    fn bounds(shape: &Shape, pose: &Isometry2<f64>, margin: f64) -> Extent {
        Extent::from(bounds(shape, pose).grown(margin))
    }

    fn has_gap(a: &Shape, b: &Shape) -> bool {
        has_gap(a, b)
    }

    fn gaps(
        depth: Depth,
        (a, pose_a): (&Shape, &Isometry2<f64>),
        (b, pose_b): (&Shape, &Isometry2<f64>),
        max_gap: f64,
        facets: Option<[u32; 4]>,
        out: &mut Vec<Gap>,
    ) -> Result<Option<[u32; 4]>, NoGap> {
        if depth == Depth::Minkowski
            && let Ok(Some(gap)) = minkowski_gap(a, pose_a, b, pose_b)
        {
            out.extend((gap.gap <= max_gap).then_some(gap));
            return Ok(None);
        }
        let mut basis = facets.map(|[f, g, h, _]| [f, g, h].into()).unwrap_or_default();
        gaps_from(a, pose_a, b, pose_b, max_gap, &mut basis, out)?;
        Ok(basis.names().map(|[f, g, h]| [f, g, h, 0]))
    }

    fn point_shape() -> Shape {
        Shape::Disk { radius: 0.0 }
    }

    fn witnesses(gap: &Gap) -> ([Point2<f64>; 2], Vector2<f64>) {
        ([gap.on_a, gap.on_b], gap.normal)
    }

    fn gap(gap: &Gap) -> (f64, u32) {
        (gap.gap, gap.feature)
    }

    fn same_bits(a: &Isometry2<f64>, b: &Isometry2<f64>) -> bool {
        let bits = |pose: &Isometry2<f64>| {
            let (p, r) = (pose.translation.vector, pose.rotation);
            [p.x, p.y, r.re, r.im].map(f64::to_bits)
        };
        bits(a) == bits(b)
    }

    fn contact_row(near: &PlacedPair<Self>) -> Option<ContactRow> {
        contact::row(near)
    }

    fn is_movable(a: &Placement<Self>, b: &Placement<Self>, gap: &Gap) -> bool {
        contact::normal(a, b, gap).is_some()
    }

    fn has_moment_friction(layout: &Layout<Self>) -> bool {
        layout.any_pair(|m| m.rolling)
    }

    fn check_settings(world: &World<Self>, found: &mut Mistakes) {
        check::settings(world, found);
    }

    fn pose_mistake(pose: &Isometry2<f64>) -> Option<String> {
        check::pose_mistake(pose)
    }

    fn axis_mistake(axis: &Vector2<f64>) -> Option<String> {
        check::axis_mistake(axis)
    }

    fn velocity_mistake(body: &Body<Self>) -> Option<String> {
        check::velocity_mistake(body)
    }

    fn inertia_mistake(body: &Body<Self>, inertia: &f64) -> Option<String> {
        check::inertia_mistake(body, *inertia)
    }

    fn check_attached(body: &Body<Self>, shape: &Attached<Self>, place: &str, found: &mut Mistakes) {
        check::attached(body, shape, place, found);
    }
}
