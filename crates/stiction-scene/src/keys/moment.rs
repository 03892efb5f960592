//! A moment of a run, as it is saved.

use super::{Kind, NUMBER, Table, must};

pub(super) const STATE: Table = Table {
    name: "state",
    doc: "A moment of a run. Joints and prescribed motions are made from the poses of the bodies; then this holds.",
    fields: &[
        must("time", NUMBER, "Time [s]."),
        must(
            "coordinates",
            Kind::List(&NUMBER),
            "Coordinates of all bodies that move, one after the other [m, rad].",
        ),
        must(
            "velocities",
            Kind::List(&NUMBER),
            "Velocities of all bodies that move, one after the other [m/s, rad/s].",
        ),
    ],
    shared: &[],
    one_of: &[],
};
