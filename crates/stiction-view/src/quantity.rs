//! Quantities of a frame beside bodies and contacts: loads and motions of joints, from a state and its report.

use crate::describe::{Description, Joint, Quantity};
use stiction::{JointId, JointLoad, Model, State, StepReport};

/// Largest number of joints whose quantities a frame has. Above it a frame would be larger than the poses it shows.
const MAX_JOINTS: usize = 500;

/// Names and units of the quantities of a joint.
fn of_joint(joint: &Joint) -> Vec<(&'static str, &'static str)> {
    let mut all = vec![("force", "N"), ("moment", "N m")];
    match joint.kind {
        "revolute" => all.extend([("angle", "rad"), ("angular velocity", "rad/s")]),
        "prismatic" => all.extend([("displacement", "m"), ("speed", "m/s")]),
        _ => {}
    }
    all
}

/// Joints that frames have quantities of.
fn listed(description: &Description) -> &[Joint] {
    if description.joints.len() > MAX_JOINTS { &[] } else { &description.joints }
}

/// Quantities of a scene.
pub(crate) fn all(description: &Description) -> Vec<Quantity> {
    let of = |joint: &Joint| {
        let name = joint.name.clone();
        of_joint(joint).into_iter().map(move |(what, unit)| Quantity { of: name.clone(), name: what, unit })
    };
    listed(description).iter().flat_map(of).collect()
}

/// Values of the quantities, in the order of the description; NaN where a report has none.
pub(crate) fn values(
    model: &Model,
    description: &Description,
    state: &State,
    report: &StepReport,
) -> Vec<f64> {
    let joints = listed(description);
    if joints.is_empty() {
        return Vec::new();
    }
    let loads = model.joint_loads(state, report);
    let load = |id: JointId| loads.iter().find(|load| load.joint == id);
    let of = |joint: &Joint| {
        let load = load(joint.id);
        let number = |value: &dyn Fn(&JointLoad) -> Option<f64>| load.and_then(value).unwrap_or(f64::NAN);
        let size = |[x, y, z]: [f64; 3]| x.hypot(y).hypot(z);
        let mut values =
            vec![number(&|load| Some(size(load.force))), number(&|load| Some(size(load.moment)))];
        if of_joint(joint).len() > values.len() {
            values.extend([number(&|load| load.coordinate), number(&|load| load.speed)]);
        }
        values
    };
    joints.iter().flat_map(of).collect()
}
