//! Joints, springs, forces and pairs.

use super::bodies::{ROLLING, TORSION};
use super::{
    ABOVE_0, ANY, AT_LEAST_0, COPIED, Dimension, Field, Kind, NUMBER, POSE, Range, TURNS, Table, UNIT,
    VECTOR, Variant, Word, may, must, word,
};

const TWO: Field =
    must("bodies", Kind::Fixed(2, &Kind::Text), "Names of the two bodies; `world` stands still.");
const NAME: Field = may("name", Kind::Name, "Its name, unlike all others.");
const ONE: Field = must("body", Kind::Text, "Name of the body.");

const fn plane(name: &'static str, doc: &'static str) -> Word {
    Word { name, only: Some(Dimension::Plane), doc }
}

const fn space(name: &'static str, doc: &'static str) -> Word {
    Word { name, only: Some(Dimension::Space), doc }
}

const JOINTS: &[Word] = &[
    word("revolute", "It turns about a point, in space about `axis`. Coordinate: the angle."),
    word("prismatic", "It slides along `axis`. Coordinate: the travel."),
    word(
        "distance",
        "It keeps two points apart. Coordinate: the distance, free between limits if there are any.",
    ),
    word("fixed", "It holds the bodies together."),
    plane("weld", "The older name of `fixed`."),
    space("spherical", "It turns about a point, as a ball in a socket."),
    space("cylindrical", "It slides along and turns about `axis`. Coordinate: the travel."),
    space("universal", "It turns about `axis` of the first body and `axis_b` of the second."),
    space("planar", "It slides and turns in the plane with the normal `axis`."),
];

/// Limits may be open on one side.
const LIMIT: Kind = Kind::Number(Range { infinite: true, ..ANY });

const FORCE_LIMIT: Field = must("force", AT_LEAST_0, "Largest torque or force [N m; N].");
const VELOCITY_MOTOR: Table = Table {
    name: "velocity_motor",
    doc: "A motor that seeks a speed.",
    fields: &[
        may("speed", NUMBER, "Speed of the coordinate [rad/s; m/s]."),
        may("speed_deg", NUMBER, "Speed of the coordinate [°/s]."),
        FORCE_LIMIT,
    ],
    shared: &[],
    one_of: &[&["speed", "speed_deg"]],
};
const POSITION_MOTOR: Table = Table {
    name: "position_motor",
    doc: "A motor that seeks a place, with the speed gain · (target − coordinate).",
    fields: &[
        may("target", NUMBER, "Value of the coordinate [rad; m]."),
        may("target_deg", NUMBER, "Value of the coordinate [°]."),
        must(
            "gain",
            AT_LEAST_0,
            "How fast it goes there [1/s]; steps longer than 2/gain overshoot ever more.",
        ),
        FORCE_LIMIT,
    ],
    shared: &[],
    one_of: &[&["target", "target_deg"]],
};
const MOTOR: Kind = Kind::Tagged(&[
    Variant { word: "velocity", only: None, table: &VELOCITY_MOTOR },
    Variant { word: "position", only: None, table: &POSITION_MOTOR },
]);

const FRAME: Table = Table {
    name: "frame",
    doc: "A frame of a joint in a body: its x axis is the axis in the plane, its z axis in space.",
    fields: &[],
    shared: &[POSE],
    one_of: &[TURNS],
};

pub(super) const JOINT: Table = Table {
    name: "joint",
    doc: "A joint between two bodies. Where it is at the start is coordinate 0 of angles and travels.",
    fields: &[
        NAME,
        must("kind", Kind::Choice(JOINTS), "What it leaves free."),
        TWO,
        may(
            "at",
            VECTOR,
            "Where it is at the start, in the world [m]; of a distance joint, the point of the first body.",
        ),
        may("at_b", VECTOR, "The point of the second body of a distance joint, in the world [m]."),
        may("axis", VECTOR, "Its axis at the start, in the world; the length does not matter."),
        may("axis_b", VECTOR, "The axis of the second body of a universal joint, in the world.").space(),
        may("frame_a", Kind::Table(&FRAME), "Its frame in the first body, in place of `at` and `axis`."),
        may("frame_b", Kind::Table(&FRAME), "Its frame in the second body, in place of `at` and `axis`."),
        may(
            "length",
            ABOVE_0,
            "What a distance joint holds [m]. Default: the distance of its points at the start.",
        ),
        may(
            "limits",
            Kind::Fixed(2, &LIMIT),
            "Least and greatest coordinate [rad; m]; one may be inf or -inf.",
        ),
        may("limits_deg", Kind::Fixed(2, &LIMIT), "Least and greatest angle [°]; one may be inf or -inf."),
        may("motor", MOTOR, "What drives the coordinate."),
        may(
            "friction",
            AT_LEAST_0,
            "Dry friction: the largest force or torque against motion of the coordinate [N; N m]. Default 0.",
        ),
        may("compliance", AT_LEAST_0, "How far it gives way per force [m/N]. Default 0."),
        may("collide", Kind::Flag, "The two bodies collide with each other. Default false."),
        COPIED,
    ],
    shared: &[],
    one_of: &[&["at", "frame_a"], &["at", "frame_b"], &["axis", "frame_a"], &["limits", "limits_deg"]],
};

const STIFFNESS: Field = may("stiffness", AT_LEAST_0, "Stiffness [N/m]. Default 0.");
const DAMPING: Field = may("damping", AT_LEAST_0, "Damping [N s/m]. Default 0.");

pub(super) const SPRING: Table = Table {
    name: "spring",
    doc: "A spring with a damper between points of two bodies. With a rest length it acts along the line that joins \
          them, with 0 in every direction.",
    fields: &[
        NAME,
        TWO,
        may("point_a", VECTOR, "A point of the first body, in its frame [m]. Default: the origin."),
        may("point_b", VECTOR, "A point of the second body, in its frame [m]. Default: the origin."),
        STIFFNESS,
        DAMPING,
        may("rest_length", AT_LEAST_0, "Length without force [m]. Default 0."),
        COPIED,
    ],
    shared: &[],
    one_of: &[],
};

pub(super) const RAIL: Table = Table {
    name: "rail",
    doc: "A spring with a damper between a point of a body and a place along an axis of the world.",
    fields: &[
        NAME,
        ONE,
        may("point", VECTOR, "A point of the body, in its frame [m]. Default: the origin."),
        must("axis", VECTOR, "The axis in the world; its length does not matter."),
        may("origin", NUMBER, "Coordinate along the axis without force [m]. Default 0."),
        STIFFNESS,
        DAMPING,
        COPIED,
    ],
    shared: &[],
    one_of: &[],
};

pub(super) const FORCE: Table = Table {
    name: "force",
    doc: "A force on a body: numbers, or expressions of the time t and of the state of the body: x, y, z and vx, vy, \
          vz of its centre of mass, in the plane angle and omega, in space wx, wy, wz in the world.",
    fields: &[
        NAME,
        ONE,
        may("point", VECTOR, "Where it acts, in the body frame [m]. Default: the centre of mass."),
        may("force", Kind::Vector(&Kind::Formula), "Force in the world [N]. Default 0."),
        may("torque", Kind::Turn(&Kind::Formula), "Torque in the world [N m]. Default 0."),
        COPIED,
    ],
    shared: &[],
    one_of: &[],
};

pub(super) const PAIR: Table = Table {
    name: "pair",
    doc: "Two bodies or two materials that meet in a way of their own. The name of a copied body stands for all its \
          copies.",
    fields: &[
        may("bodies", Kind::Fixed(2, &Kind::Text), "Names of two bodies."),
        may("materials", Kind::Fixed(2, &Kind::Text), "Names of two materials."),
        may("friction", AT_LEAST_0, "Coulomb coefficient μ. Default 0.5."),
        may("restitution", Kind::Number(UNIT), "Coefficient of restitution e, 0 to 1. Default 0."),
        TORSION,
        ROLLING,
        may("collide", Kind::Flag, "false: they pass through each other. Default true."),
    ],
    shared: &[],
    one_of: &[&["bodies", "materials"]],
};
