//! Numbers of bodies, shapes, joints and forces in their world.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Number of a body in its world, never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BodyId(pub u32);

/// Number of a shape in its world, never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShapeId(pub u32);

/// Number of a joint in its world, never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JointId(pub u32);

/// Coordinate of a joint. Joints with several number them from 0: see the kinds of joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CoordinateId {
    /// Joint.
    pub joint: JointId,
    /// Number of the coordinate among those of the joint.
    pub axis: usize,
}

impl JointId {
    /// Coordinate of the joint with this number.
    pub fn axis(self, axis: usize) -> CoordinateId {
        CoordinateId { joint: self, axis }
    }
}

impl From<JointId> for CoordinateId {
    /// First coordinate of a joint.
    fn from(joint: JointId) -> Self {
        joint.axis(0)
    }
}

/// Number of an input of a model: its place in the order of the joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputId(pub u32);

/// Number of a force in its world, never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ForceId(pub u32);

impl fmt::Display for BodyId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ShapeId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for JointId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ForceId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}
