//! Keys of a start state, as the page saves it.

use super::{NUMBER, NUMBERS, Table, required, table};

pub(super) const STATE: Table = table(
    "state",
    "Start state of a run. Joints and prescribed motions are built from the poses of the bodies; then the bodies \
     are moved to this state.",
    &[
        required("time", NUMBER, "Time [s]."),
        required("coordinates", NUMBERS, "Coordinates of all moving bodies, body after body [m, rad]."),
        required("velocities", NUMBERS, "Velocities of all moving bodies, body after body [m/s, rad/s]."),
    ],
);
