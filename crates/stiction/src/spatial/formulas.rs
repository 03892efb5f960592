//! Formulas of space behind the shared world: a quaternion per body, two tangents per contact.

use super::contact::{FrictionSets, GrainSets};
use super::placement::{SpatialFrame, matrix, relative_speed, turned};
use super::{Spatial, check, contact, joint_rows, turning};
use crate::error::Mistakes;
use crate::jacobian::point_force::ForcePoint;
use crate::material::{Depth, Material};
use crate::system::{ContactRow, FreeTurn};
use crate::world::{
    Attached, Body, BodyLayout, Formulas, Freedom, Joint, JointCoordinate, JointLayout, JointMemory,
    JointRowWriter, Layout, PlacedPair, Placement, ShapeLayout, SpeedRow, Twist, World, Wrench,
};
use nalgebra::{Isometry3, Matrix3, Matrix6, Point3, Quaternion, UnitQuaternion, Vector3, Vector6};
use stiction_geometry::NoGap;
use stiction_geometry::broad::Extent;
use stiction_geometry::spatial::{Gap, Shape, bounds, gaps_from, has_gap, minkowski_gap, size};

impl Formulas for Spatial {
    const RIGID: (usize, usize) = (7, 6);
    const REUSES_GAPS: bool = true;

    type Frame = SpatialFrame;
    type JointFrames = [Matrix3<f64>; 2];
    type FrictionSets = FrictionSets;
    type GrainSets = Option<GrainSets>;
    type Gap = Gap;

    fn unit_axis(axis: &Vector3<f64>) -> Vector3<f64> {
        axis.normalize()
    }

    fn standing_frame(pose: &Isometry3<f64>) -> SpatialFrame {
        SpatialFrame::still(pose)
    }

    fn moving_frame(
        centre: &Point3<f64>,
        rotation: UnitQuaternion<f64>,
        body: &BodyLayout<Self>,
    ) -> SpatialFrame {
        SpatialFrame::at(centre, rotation, &body.centre.coords)
    }

    fn rigid_frame(centre: &Point3<f64>, angular: &[f64], body: &BodyLayout<Self>) -> SpatialFrame {
        SpatialFrame::at(centre, rotation(angular), &body.centre.coords)
    }

    fn angular_velocity(angular: &[f64], v: &[f64]) -> Vector3<f64> {
        rotation(angular) * Vector3::new(v[0], v[1], v[2])
    }

    fn append_angular(pose: &Isometry3<f64>, angular: &Vector3<f64>, q: &mut Vec<f64>, v: &mut Vec<f64>) {
        let r = pose.rotation;
        q.extend([r.w, r.i, r.j, r.k]);
        v.extend(r.inverse_transform_vector(angular).iter());
    }

    fn advance_angular(angular: &mut [f64], v: &[f64], h: f64) {
        let next = turned(&rotation(angular), &(h * Vector3::new(v[0], v[1], v[2])));
        angular.copy_from_slice(&[next.w, next.i, next.j, next.k]);
    }

    fn end_step_angular(angular: &mut [f64], v: &[f64], end: &mut [f64], shift: &[f64], h: f64) {
        let vector = Vector3::from_column_slice;
        let (at_end, turn) = turning::at_end(&vector(v), &vector(end), &vector(shift), h);
        let next = turned(&rotation(angular), &turn);
        angular.copy_from_slice(&[next.w, next.i, next.j, next.k]);
        end.copy_from_slice(at_end.as_slice());
    }

    fn in_middle_axes(v: &[f64], end: &mut [f64], shift: &[f64], h: f64) {
        let vector = Vector3::from_column_slice;
        let middle = turning::in_middle(&vector(v), &vector(end), &vector(shift), h);
        end.copy_from_slice(middle.as_slice());
    }

    fn free_turn(body: &BodyLayout<Self>, v: &[f64], h: f64) -> Option<FreeTurn> {
        if !body.freedom.is_rigid() {
            return None;
        }
        let (derivative, turned) = turning::free(&body.inertia, &Vector3::from_column_slice(&v[3..6]), h);
        let mut mass = body.mass_block();
        mass.fixed_view_mut::<3, 3>(3, 3).copy_from(&derivative);
        let mut velocity = Vector6::from_column_slice(v);
        velocity.fixed_rows_mut::<3>(3).copy_from(&turned);
        let mut jacobian = Matrix6::zeros();
        Self::add_gyroscopic_jacobian(body, v, &mut jacobian);
        Some(FreeTurn { mass, velocity, jacobian })
    }

    fn angular_rates(angular: &[f64], v: &[f64], out: &mut Vec<f64>) {
        // half the product with ω, which is along the axes of the body
        let turn = *rotation(angular).quaternion() * Quaternion::new(0.0, v[0], v[1], v[2]);
        out.extend([turn.w, turn.i, turn.j, turn.k].map(|x| 0.5 * x));
    }

    fn normalize_angular(angular: &mut [f64]) {
        let over = 1.0 / angular.iter().map(|x| x * x).sum::<f64>().sqrt();
        angular.iter_mut().for_each(|x| *x *= over);
    }

    fn to_start_axes(v: &[f64], h: f64, row: &mut [f64]) {
        let turn = UnitQuaternion::from_scaled_axis(h * Vector3::from_column_slice(v));
        let angular = turn * Vector3::from_column_slice(row);
        row.copy_from_slice(angular.as_slice());
    }

    /// (I − i) ω with the mean moment i: the same force as that of Iω, exactly none for a sphere whose spin an impulse
    /// turns within the step, and near the true Jacobian [Iω]× − [ω]×I.
    fn gyroscopic_momentum(body: &BodyLayout<Self>, v: &[f64]) -> Option<Vector3<f64>> {
        if !body.freedom.is_rigid() {
            return None;
        }
        let mean = body.inertia.trace() / 3.0;
        let omega = Vector3::new(v[3], v[4], v[5]);
        Some(body.inertia * omega - mean * omega)
    }

    fn add_gyroscopic_jacobian(body: &BodyLayout<Self>, v: &[f64], block: &mut Matrix6<f64>) {
        let omega = Vector3::from_column_slice(&v[3..6]);
        let spin = (body.inertia * omega).cross_matrix() - omega.cross_matrix() * body.inertia;
        block.fixed_view_mut::<3, 3>(3, 3).copy_from(&spin);
    }

    fn add_inertia(body: &BodyLayout<Self>, block: &mut Matrix6<f64>) {
        block.fixed_view_mut::<3, 3>(3, 3).copy_from(&body.inertia);
    }

    fn angular_momentum(
        body: &BodyLayout<Self>,
        placement: &Placement<Self>,
        p: &Vector3<f64>,
        v: Option<&[f64]>,
    ) -> [Vector3<f64>; 2] {
        let spin =
            |v: &[f64]| placement.frame.pose.rotation * (body.inertia * Vector3::new(v[0], v[1], v[2]));
        [placement.centre.coords.cross(p), v.map_or_else(Vector3::zeros, spin)]
    }

    fn gyration(body: &BodyLayout<Self>) -> f64 {
        (body.inertia.diagonal().max() / body.mass).sqrt()
    }

    fn extent(shape: &Shape, pose: &Isometry3<f64>, from: &Point3<f64>) -> f64 {
        (pose.translation.vector - from.coords).norm() + size(shape)
    }

    fn tolerance_size(shape: &Attached<Self>, _: &BodyLayout<Self>) -> f64 {
        if shape.sensor { 0.0 } else { size(&shape.shape) }
    }

    fn size(shape: &Shape) -> f64 {
        size(shape)
    }

    fn pose(_: &BodyLayout<Self>, placement: &Placement<Self>) -> Isometry3<f64> {
        placement.frame.pose
    }

    fn place_of(_: &BodyLayout<Self>, placement: &Placement<Self>, point: &Point3<f64>) -> Point3<f64> {
        placement.frame.pose * point
    }

    fn speed_of(body: &Placement<Self>, at: &Point3<f64>, direction: &Vector3<f64>) -> SpeedRow {
        let gradient = body.along(direction, at);
        SpeedRow { terms: body.term(&gradient).into_iter().collect(), drift: body.drift(&gradient) }
    }

    fn relative_speed(
        a: (&Placement<Self>, &Point3<f64>),
        b: (&Placement<Self>, &Point3<f64>),
        direction: &Vector3<f64>,
    ) -> SpeedRow {
        relative_speed(a, b, direction)
    }

    fn joint_frames(
        joint: &Joint<Self>,
        _: [&BodyLayout<Self>; 2],
        _: [&Isometry3<f64>; 2],
    ) -> [Matrix3<f64>; 2] {
        [&joint.frame_a, &joint.frame_b].map(|frame| matrix(&frame.rotation))
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
        memory: JointMemory,
    ) -> Option<JointCoordinate> {
        joint_rows::coordinate(joint, bodies, memory)
    }

    fn term_wrench(body: &Placement<Self>, term: &[f64; 6]) -> Wrench<Self> {
        let [x, y, z, a, b, c] = *term;
        Wrench { force: Vector3::new(x, y, z), torque: body.frame.rotation * Vector3::new(a, b, c) }
    }

    fn add_wrench(body: &Placement<Self>, at: &Point3<f64>, wrench: &Wrench<Self>, k: &mut [f64]) {
        let mut work = body.along(&wrench.force, at);
        work.angular += wrench.torque;
        if let Some(term) = body.term(&work) {
            k.iter_mut().zip(term.j).for_each(|(k, j)| *k += j);
        }
    }

    fn spring_direction(d: &Vector3<f64>) -> Option<Vector3<f64>> {
        let length = d.norm();
        (length > 0.0).then(|| d / length)
    }

    fn axes() -> impl Iterator<Item = Vector3<f64>> {
        [Vector3::x(), Vector3::y(), Vector3::z()].into_iter()
    }

    fn grip(body: &Placement<Self>, at: &Point3<f64>, v: &[f64]) -> ForcePoint {
        let lever = at - body.centre;
        let (number, axes) = match body.freedom {
            Freedom::None => {
                let prescribed = &body.prescribed;
                return ForcePoint::prescribed(prescribed.linear + prescribed.angular.cross(&lever));
            }
            Freedom::Rigid(number) => (number, Matrix6::identity()),
            Freedom::Point(number) => {
                (number, Matrix6::from_fn(|i, j| if i == j && i < 3 { 1.0 } else { 0.0 }))
            }
            Freedom::Slider(number, axis) => {
                let mut axes = Matrix6::zeros();
                axes.fixed_view_mut::<3, 1>(0, 0).copy_from(&axis);
                (number, axes)
            }
        };
        let lever = body.frame.pose.rotation.inverse_transform_vector(&lever);
        ForcePoint::moving(number, &axes, body.frame.rotation, lever, v)
    }

    fn turning_torque(torque: &Vector3<f64>) -> Vector3<f64> {
        *torque
    }

    fn friction_sets(world: &World<Self>) -> FrictionSets {
        FrictionSets::new(world)
    }

    fn grain_sets(sets: &FrictionSets, shape: &Attached<Self>) -> Option<GrainSets> {
        shape.grain.as_ref().map(|grain| sets.along(grain))
    }

    fn shape_offset(pose: &Isometry3<f64>, _: &BodyLayout<Self>) -> Isometry3<f64> {
        *pose
    }

    fn shape_pose(shape: &ShapeLayout<Self>, body: &Placement<Self>) -> Isometry3<f64> {
        body.frame.pose * shape.offset
    }

    fn bounds(shape: &Shape, pose: &Isometry3<f64>, margin: f64) -> Extent {
        Extent::from(bounds(shape, pose).grown(margin))
    }

    fn has_gap(a: &Shape, b: &Shape) -> bool {
        has_gap(a, b)
    }

    fn gaps(
        depth: Depth,
        (a, pose_a): (&Shape, &Isometry3<f64>),
        (b, pose_b): (&Shape, &Isometry3<f64>),
        max_gap: f64,
        facets: Option<[u32; 4]>,
        out: &mut Vec<Gap>,
    ) -> Result<Option<[u32; 4]>, NoGap> {
        if depth == Depth::Minkowski
            && let Ok(Some(gap)) = minkowski_gap(a, pose_a, b, pose_b, None)
        {
            out.extend((gap.gap <= max_gap).then_some(gap));
            return Ok(None);
        }
        let mut basis = facets.map(Into::into).unwrap_or_default();
        gaps_from(a, pose_a, b, pose_b, max_gap, &mut basis, out)?;
        Ok(basis.names())
    }

    fn point_shape() -> Shape {
        Shape::Sphere { radius: 0.0 }
    }

    fn witnesses(gap: &Gap) -> ([Point3<f64>; 2], Vector3<f64>) {
        ([gap.on_a, gap.on_b], gap.normal)
    }

    fn gap(gap: &Gap) -> (f64, u32) {
        (gap.gap, gap.feature)
    }

    fn same_bits(a: &Isometry3<f64>, b: &Isometry3<f64>) -> bool {
        let bits = |pose: &Isometry3<f64>| {
            let (p, q) = (pose.translation.vector, pose.rotation.coords);
            [p.x, p.y, p.z, q.x, q.y, q.z, q.w].map(f64::to_bits)
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
        let torsion = |m: &Material| if m.friction > 0.0 { m.torsion } else { 0.0 };
        layout.any_pair(torsion) || layout.any_pair(|m| m.rolling)
    }

    fn check_settings(world: &World<Self>, found: &mut Mistakes) {
        check::settings(world, found);
    }

    fn pose_mistake(pose: &Isometry3<f64>) -> Option<String> {
        check::pose_mistake(pose)
    }

    fn axis_mistake(axis: &Vector3<f64>) -> Option<String> {
        check::axis_mistake(axis)
    }

    fn inertia_mistake(body: &Body<Self>, inertia: &Matrix3<f64>) -> Option<String> {
        check::inertia_mistake(body, inertia)
    }

    fn check_attached(body: &Body<Self>, shape: &Attached<Self>, place: &str, found: &mut Mistakes) {
        check::attached(body, shape, place, found);
    }
}

/// Rotation with these angular coordinates: a unit quaternion, w first.
fn rotation(angular: &[f64]) -> UnitQuaternion<f64> {
    UnitQuaternion::new_unchecked(Quaternion::new(angular[0], angular[1], angular[2], angular[3]))
}
