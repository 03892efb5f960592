//! Keys of a start state, as the page saves it.

use super::{NUMBER, Table, ValueKind, required};

pub(super) const STATE: Table = Table {
    name: "state",
    doc: "Start state of a run. Joints and prescribed motions are built from the poses of the bodies; then the bodies \
          are moved to this state.",
    fields: &[
        required("time", NUMBER, "Time [s]."),
        required(
            "coordinates",
            ValueKind::List(&NUMBER),
            "Coordinates of all moving bodies, body after body [m, rad].",
        ),
        required(
            "velocities",
            ValueKind::List(&NUMBER),
            "Velocities of all moving bodies, body after body [m/s, rad/s].",
        ),
    ],
    shared: &[],
    one_of: &[],
};
