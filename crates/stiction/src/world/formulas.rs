//! Formulas that a dimension brings: rotations, rows of joints and contacts, gaps.
//!
//! [`ModelIn`](super::ModelIn) asks for them; the plane and space answer in files of the same names. Everything
//! that does not depend on the dimension is written once in this folder.

use super::World;
use super::body::{Attached, Body, Twist};
use super::body_layout::BodyLayout;
use super::dimension::Dimension;
use super::force::Wrench;
use super::joint::Joint;
use super::joint_rows::{JointCoordinate, JointMemory, JointRowWriter, SpeedRow};
use super::layout::{JointLayout, Layout, PlacedPair, ShapeLayout};
use super::placement::Placement;
use crate::error::Mistakes;
use crate::jacobian::point_force::ForcePoint;
use crate::material::Depth;
use crate::system::{ContactRow, FreeTurn};
use nalgebra::{Matrix6, Vector3};
use std::fmt::Debug;
use stiction_geometry::NoGap;
use stiction_geometry::broad::Extent;

/// Formulas of the plane or of space.
pub trait Formulas: Dimension {
    /// Number of coordinates and of velocities of a rigid body.
    const RIGID: (usize, usize);

    /// Gaps of a pair are kept and reused when the same is asked again. Worth it where gaps are expensive: in
    /// space. There a search also looks as far as it is asked to, whatever gap is asked for, so that the next
    /// search finds its answer.
    const REUSES_GAPS: bool;

    /// Orientation of a body in the form that its rows need.
    type Frame: Copy + Debug + Send + Sync + 'static;
    /// Frames of a joint in its bodies, in the form that its rows need.
    type JointFrames: Clone + Debug + Send + Sync + 'static;
    /// Friction sets of a world.
    type FrictionSets: Clone + Debug + Send + Sync + 'static;
    /// Friction set of a surface with a grain.
    type GrainSets: Clone + Debug + Send + Sync + 'static;
    /// Near point of two shapes.
    type Gap: Copy + Debug + Send + Sync + 'static;

    // bodies

    /// Axis of a slider or rail as a unit vector.
    fn unit_axis(axis: &Self::Vector) -> Self::Vector;

    /// Frame of a body that does not move by itself.
    fn standing_frame(pose: &Self::Isometry) -> Self::Frame;

    /// Frame of a body that moves without turning.
    fn moving_frame(centre: &Self::Point, rotation: Self::Rotation, body: &BodyLayout<Self>) -> Self::Frame;

    /// Frame of a rigid body with these angular coordinates.
    fn rigid_frame(centre: &Self::Point, angular: &[f64], body: &BodyLayout<Self>) -> Self::Frame;

    /// Angular velocity in the world of a rigid body with these angular coordinates and velocities.
    fn angular_velocity(angular: &[f64], v: &[f64]) -> Self::Angular;

    /// Angular coordinates and velocities of a rigid body, appended to q and v.
    fn append_angular(pose: &Self::Isometry, angular: &Self::Angular, q: &mut Vec<f64>, v: &mut Vec<f64>);

    /// Angular part of q ← q ⊕ h v.
    fn advance_angular(angular: &mut [f64], v: &[f64], h: f64);

    /// Angular part of dq/dt, appended.
    fn angular_rates(angular: &[f64], v: &[f64], out: &mut Vec<f64>);

    /// Angular part of a timed step from `v`: turns `angular` by the mean velocity and `shift`, and `end` from the axes at
    /// the middle of the step into those at its end.
    fn end_step_angular(angular: &mut [f64], v: &[f64], end: &mut [f64], shift: &[f64], h: f64);

    /// Turns the angular velocity `end` from the axes at the end of a timed step into those at its middle.
    fn in_middle_axes(_v: &[f64], _end: &mut [f64], _shift: &[f64], _h: f64) {}

    /// Free turning of a rigid body in a timed step; `None` where it has no gyroscopic force.
    fn free_turn(_body: &BodyLayout<Self>, _v: &[f64], _h: f64) -> Option<FreeTurn> {
        None
    }

    /// Angular coordinates back on their manifold: quaternions to unit length.
    fn normalize_angular(_angular: &mut [f64]) {}

    /// Angular part of a row taken at q ⊕ h v, turned into the axes at q.
    fn to_start_axes(_v: &[f64], _h: f64, _row: &mut [f64]) {}

    /// Angular momentum in the gyroscopic force L × ω of a rigid body at these velocities; `None` where it has none.
    fn gyroscopic_momentum(_body: &BodyLayout<Self>, _v: &[f64]) -> Option<Vector3<f64>> {
        None
    }

    /// Adds d(−ω × Iω)/dω of a rigid body to its block of the velocity Jacobian.
    fn add_gyroscopic_jacobian(_body: &BodyLayout<Self>, _v: &[f64], _block: &mut Matrix6<f64>) {}

    /// Writes the inertia into the mass block of a rigid body.
    fn add_inertia(body: &BodyLayout<Self>, block: &mut Matrix6<f64>);

    /// Angular momentum about the origin of the world: of the centre with linear momentum `p`, and of a rigid body
    /// with angular velocities `v` about it.
    fn angular_momentum(
        body: &BodyLayout<Self>,
        placement: &Placement<Self>,
        p: &Self::Vector,
        v: Option<&[f64]>,
    ) -> [Self::Angular; 2];

    /// Radius of gyration [m]; 0 for bodies that do not turn.
    fn gyration(body: &BodyLayout<Self>) -> f64;

    /// Distance from a point of the body frame to the farthest point of a shape, or a little more [m].
    fn extent(shape: &Self::Shape, pose: &Self::Isometry, from: &Self::Point) -> f64;

    /// Size by which a shape counts as the smallest of the model [m]; 0 if it does not count.
    fn tolerance_size(shape: &Attached<Self>, body: &BodyLayout<Self>) -> f64;

    /// Size of a shape [m].
    fn size(shape: &Self::Shape) -> f64;

    /// Pose of the body frame.
    fn pose(body: &BodyLayout<Self>, placement: &Placement<Self>) -> Self::Isometry;

    /// Place of a point of the body frame.
    fn place_of(body: &BodyLayout<Self>, placement: &Placement<Self>, point: &Self::Point) -> Self::Point;

    // rows

    /// Speed of the material point of a body now at `at` along `direction`.
    fn speed_of(body: &Placement<Self>, at: &Self::Point, direction: &Self::Vector) -> SpeedRow;

    /// Speed of b against a along `direction`, each at a point of its own.
    fn relative_speed(
        a: (&Placement<Self>, &Self::Point),
        b: (&Placement<Self>, &Self::Point),
        direction: &Self::Vector,
    ) -> SpeedRow;

    /// Frames of a joint in its bodies, which are at these poses at the start.
    fn joint_frames(
        joint: &Joint<Self>,
        bodies: [&BodyLayout<Self>; 2],
        poses: [&Self::Isometry; 2],
    ) -> Self::JointFrames;

    /// Takes the turns from which the angle of a joint counts from its frames before an edit.
    fn keep_turns(_frames: &mut Self::JointFrames, _before: &Self::JointFrames) {}

    /// Writes the rows of a joint: held motions, lower and upper limit, motor with its command, dry friction. Of a further
    /// coordinate without the held motions. Where the velocities of the bodies are given, with the change of the speed of
    /// each row.
    fn joint_rows(
        joint: &JointLayout<Self>,
        bodies: [&Placement<Self>; 2],
        twists: Option<[Twist<Self>; 2]>,
        memory: JointMemory,
        out: &mut JointRowWriter,
    );

    /// Joint coordinate with its row; `None` for kinds that have none.
    fn joint_coordinate(
        joint: &JointLayout<Self>,
        bodies: [&Placement<Self>; 2],
        memory: JointMemory,
    ) -> Option<JointCoordinate>;

    /// Force, and torque about the centre of mass, of a unit impulse along the term of a rigid body.
    fn term_wrench(body: &Placement<Self>, term: &[f64; 6]) -> Wrench<Self>;

    // forces

    /// Adds a wrench at a point of a body to its generalized force.
    fn add_wrench(body: &Placement<Self>, at: &Self::Point, wrench: &Wrench<Self>, k: &mut [f64]);

    /// Direction of a spring between points that are `d` apart; `None` where it acts along none.
    fn spring_direction(d: &Self::Vector) -> Option<Self::Vector>;

    /// Unit vectors of the world.
    fn axes() -> impl Iterator<Item = Self::Vector>;

    /// Point of a body for the Jacobian of a force; `v` are the velocities of the body.
    fn grip(body: &Placement<Self>, at: &Self::Point, v: &[f64]) -> ForcePoint;

    /// Torque that turns with the body, for the Jacobian of a constant wrench; in the plane none.
    fn turning_torque(torque: &Self::Angular) -> Vector3<f64>;

    // contacts

    /// Friction sets of a world.
    fn friction_sets(world: &World<Self>) -> Self::FrictionSets;

    /// Friction sets of a surface with a grain.
    fn grain_sets(sets: &Self::FrictionSets, shape: &Attached<Self>) -> Self::GrainSets;

    /// Pose of a shape as its layout keeps it.
    fn shape_offset(pose: &Self::Isometry, body: &BodyLayout<Self>) -> Self::Isometry;

    /// Pose of a shape in the world.
    fn shape_pose(shape: &ShapeLayout<Self>, body: &Placement<Self>) -> Self::Isometry;

    /// Bounding box of a shape, grown by a margin [m].
    fn bounds(shape: &Self::Shape, pose: &Self::Isometry, margin: f64) -> Extent;

    /// `true` when two shapes have a gap function.
    fn has_gap(a: &Self::Shape, b: &Self::Shape) -> bool;

    /// Appends the gaps of two shapes up to `max_gap` [m]. The search starts at the facets given and returns those
    /// at which it ended.
    fn gaps(
        depth: Depth,
        a: (&Self::Shape, &Self::Isometry),
        b: (&Self::Shape, &Self::Isometry),
        max_gap: f64,
        facets: Option<[u32; 4]>,
        out: &mut Vec<Self::Gap>,
    ) -> Result<Option<[u32; 4]>, NoGap>;

    /// Point, as a shape at the origin.
    fn point_shape() -> Self::Shape;

    /// Points of a near point on both shapes [m], and the unit normal from the first to the second.
    fn witnesses(gap: &Self::Gap) -> ([Self::Point; 2], Self::Vector);

    /// Gap [m] and feature number of a near point.
    fn gap(gap: &Self::Gap) -> (f64, u32);

    /// `true` when two poses are equal bit by bit.
    fn same_bits(a: &Self::Isometry, b: &Self::Isometry) -> bool;

    /// Rows of a near point; `None` when no moving body can open or close it.
    fn contact_row(near: &PlacedPair<Self>) -> Option<ContactRow>;

    /// `true` when a moving body can open or close a near point.
    fn is_movable(a: &Placement<Self>, b: &Placement<Self>, gap: &Self::Gap) -> bool;

    /// Length that makes a contact resist moments: of rolling, and in space of spin where there is friction [m].
    fn has_moment_friction(layout: &Layout<Self>) -> bool;

    // checks

    /// Mistakes of the settings that the dimension alone has.
    fn check_settings(world: &World<Self>, found: &mut Mistakes);

    /// Mistake of a pose, if any.
    fn pose_mistake(pose: &Self::Isometry) -> Option<String>;

    /// Mistake of an axis, if any.
    fn axis_mistake(axis: &Self::Vector) -> Option<String>;

    /// Mistake of the velocity of a body, if any.
    fn velocity_mistake(_body: &Body<Self>) -> Option<String> {
        None
    }

    /// Mistake of the inertia of a rigid body, if any.
    fn inertia_mistake(body: &Body<Self>, inertia: &Self::Inertia) -> Option<String>;

    /// Mistakes of a shape on a body that the dimension alone has.
    fn check_attached(body: &Body<Self>, shape: &Attached<Self>, place: &str, found: &mut Mistakes);
}
