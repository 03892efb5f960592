//! Keys of joints, springs, forces and pairs.

use super::bodies::{ROLLING, TORSION};
use super::{
    ABOVE_0, ANY, AT_LEAST_0, COPIED, ChoiceWord, Dimension, Field, NUMBER, NumberRange, ORIENTATION_KEYS,
    POSE, Table, TaggedTable, UNIT, VECTOR, ValueKind, optional, required, table, word,
};

const TWO: Field = required(
    "bodies",
    ValueKind::Fixed(2, &ValueKind::Text),
    "Names of the two bodies; `world` is the fixed world.",
);
const NAME: Field = optional("name", ValueKind::Name, "Unique name.");
const ONE: Field = required("body", ValueKind::Text, "Name of the body.");

const fn plane(name: &'static str, doc: &'static str) -> ChoiceWord {
    ChoiceWord { name, only: Some(Dimension::Plane), doc }
}

const fn space(name: &'static str, doc: &'static str) -> ChoiceWord {
    ChoiceWord { name, only: Some(Dimension::Space), doc }
}

const JOINTS: &[ChoiceWord] = &[
    word("revolute", "Rotates about a point, in space about `axis`. Coordinate: the angle."),
    word("prismatic", "Slides along `axis`. Coordinate: the displacement."),
    word(
        "distance",
        "Keeps the distance of two points. Coordinate: the distance, which is free within the limits if there are any.",
    ),
    plane("weld", "Old name of `fixed`."),
    word("fixed", "Fixes the bodies to each other."),
    space("spherical", "Rotates about a point: a ball and socket."),
    space("cylindrical", "Slides along `axis` and rotates about it. Coordinate: the displacement."),
    space("universal", "Rotates about `axis` of the first body and `axis_b` of the second."),
    space("planar", "Slides and rotates in the plane with normal `axis`."),
];

/// Limits may be open on one side.
const LIMIT: ValueKind = ValueKind::Number(NumberRange { infinite: true, ..ANY });

const FORCE_LIMIT: Field = required("force", AT_LEAST_0, "Largest torque or force [N m; N].");
const EFFORT: Field = optional("force", AT_LEAST_0, "Largest torque or force [N m; N]. Default: unlimited.");
const TARGET: Field = optional(
    "target",
    ValueKind::Formula,
    "Target of the coordinate [rad; m]: a number or an expression of time t.",
);
const INPUT: Field = optional(
    "input",
    ValueKind::Name,
    "Name of the input that sets the motor in a program. Default: the name of the joint for torque motors and servos; \
     else there is none.",
);
const VELOCITY_MOTOR: Table = table(
    "velocity_motor",
    "Velocity motor: drives the coordinate to a speed.",
    &[
        optional(
            "speed",
            ValueKind::Formula,
            "Speed of the coordinate [rad/s; m/s]: a number or an expression of time t.",
        ),
        optional("speed_deg", NUMBER, "Speed of the coordinate [°/s]."),
        FORCE_LIMIT,
        INPUT,
    ],
)
.one_of(&[&["speed", "speed_deg"]]);
const POSITION_MOTOR: Table = table(
    "position_motor",
    "Position motor: drives the coordinate to a target, with the speed gain · (target − coordinate).",
    &[
        TARGET,
        optional("target_deg", NUMBER, "Target of the coordinate [°]."),
        required("gain", AT_LEAST_0, "Gain [1/s]. It is unstable with steps above 2/gain."),
        FORCE_LIMIT,
        INPUT,
    ],
)
.one_of(&[&["target", "target_deg"]]);
const TORQUE_MOTOR: Table = table(
    "torque_motor",
    "Torque motor: exerts a torque or force along the coordinate.",
    &[
        required(
            "torque",
            ValueKind::Formula,
            "Torque or force [N m; N]: a number, which an input may change, or an expression of time t.",
        ),
        EFFORT,
        INPUT,
    ],
);
const SERVO: Table = table(
    "servo",
    "Servo: exerts stiffness · (target − coordinate) + damping · (speed of the target − speed) + torque. Schemes of \
     first order take it at the end of the step, so that it is stable with any stiffness and step size.",
    &[
        TARGET,
        optional("target_deg", NUMBER, "Target of the coordinate [°]."),
        required("stiffness", AT_LEAST_0, "Stiffness [N m/rad; N/m]."),
        optional("damping", AT_LEAST_0, "Damping [N m s/rad; N s/m]. Default 0."),
        optional("torque", NUMBER, "Torque or force without error [N m; N]. Default 0."),
        EFFORT,
        INPUT,
    ],
)
.one_of(&[&["target", "target_deg"]]);
const MOTOR: ValueKind = ValueKind::Tagged(&[
    TaggedTable { word: "velocity", only: None, table: &VELOCITY_MOTOR },
    TaggedTable { word: "position", only: None, table: &POSITION_MOTOR },
    TaggedTable { word: "torque", only: None, table: &TORQUE_MOTOR },
    TaggedTable { word: "servo", only: None, table: &SERVO },
]);

const JOINT_SPRING: Table = table(
    "joint_spring",
    "Spring and damper of a joint coordinate.",
    &[
        optional("stiffness", AT_LEAST_0, "Stiffness [N m/rad; N/m]. Default 0."),
        optional("damping", AT_LEAST_0, "Damping [N m s/rad; N s/m]. Default 0."),
        optional("rest", NUMBER, "Coordinate without force [rad; m]. Default 0."),
        optional("rest_deg", NUMBER, "Coordinate without force [°]."),
    ],
)
.one_of(&[&["rest", "rest_deg"]]);

const FRAME: Table = table(
    "frame",
    "Frame of a joint in a body. Its x axis is the joint axis in the plane, its z axis in space.",
    &[],
)
.sharing(&[POSE])
.one_of(&[ORIENTATION_KEYS]);

pub(super) const JOINT: Table = table(
    "joint",
    "Joint between two bodies. Angles and displacements are measured from the start, where they are 0.",
    &[
        NAME,
        required("kind", ValueKind::Choice(JOINTS), "Kind of joint."),
        TWO,
        optional(
            "at",
            VECTOR,
            "Position at the start, in the world [m]; of a distance joint, the point of the first body.",
        ),
        optional("at_b", VECTOR, "Point of the second body of a distance joint, in the world [m]."),
        optional("axis", VECTOR, "Axis at the start, in the world; its length does not matter."),
        optional("axis_b", VECTOR, "Axis of the second body of a universal joint, in the world.").space(),
        optional("frame_a", ValueKind::Table(&FRAME), "Frame in the first body, instead of `at` and `axis`."),
        optional(
            "frame_b",
            ValueKind::Table(&FRAME),
            "Frame in the second body, instead of `at` and `axis`.",
        ),
        optional(
            "length",
            ABOVE_0,
            "Length of a distance joint [m]. Default: the distance of its points at the start.",
        ),
        optional(
            "limits",
            ValueKind::Fixed(2, &LIMIT),
            "Lower and upper limit of the coordinate [rad; m]; one may be inf or -inf.",
        ),
        optional(
            "limits_deg",
            ValueKind::Fixed(2, &LIMIT),
            "Lower and upper limit of the angle [°]; one may be inf or -inf.",
        ),
        optional("motor", MOTOR, "Motor of the coordinate."),
        optional("spring", ValueKind::Table(&JOINT_SPRING), "Spring and damper of the coordinate."),
        optional(
            "friction",
            AT_LEAST_0,
            "Dry friction: largest force or torque against motion of the coordinate [N; N m]. Default 0.",
        ),
        optional("compliance", AT_LEAST_0, "Compliance: displacement per force [m/N]. Default 0."),
        optional("collide", ValueKind::Flag, "true: the two bodies collide with each other. Default false."),
        COPIED,
    ],
)
.one_of(&[&["at", "frame_a"], &["at", "frame_b"], &["axis", "frame_a"], &["limits", "limits_deg"]]);

const STIFFNESS: Field = optional("stiffness", AT_LEAST_0, "Stiffness [N/m]. Default 0.");
const DAMPING: Field = optional("damping", AT_LEAST_0, "Damping [N s/m]. Default 0.");

pub(super) const SPRING: Table = table(
    "spring",
    "Spring and damper between points of two bodies. With a rest length it acts along the line between them, \
     with rest length 0 in every direction.",
    &[
        NAME,
        TWO,
        optional("point_a", VECTOR, "Point of the first body, in its frame [m]. Default: the origin."),
        optional("point_b", VECTOR, "Point of the second body, in its frame [m]. Default: the origin."),
        STIFFNESS,
        DAMPING,
        optional("rest_length", AT_LEAST_0, "Length without force [m]. Default 0."),
        COPIED,
    ],
);

pub(super) const RAIL: Table = table(
    "rail",
    "Spring and damper between a point of a body and a coordinate along an axis of the world.",
    &[
        NAME,
        ONE,
        optional("point", VECTOR, "Point of the body, in its frame [m]. Default: the origin."),
        required("axis", VECTOR, "Axis in the world; its length does not matter."),
        optional("origin", NUMBER, "Coordinate along the axis without force [m]. Default 0."),
        STIFFNESS,
        DAMPING,
        COPIED,
    ],
);

pub(super) const FORCE: Table = table(
    "force",
    "Force on a body: numbers, or expressions of time t and of the state of the body: x, y, z and vx, vy, vz of \
     its centre of mass, in the plane angle and omega, in space wx, wy, wz in the world.",
    &[
        NAME,
        ONE,
        optional(
            "point",
            VECTOR,
            "Point of application, in the body frame [m]. Default: the centre of mass.",
        ),
        optional("force", ValueKind::Vector(&ValueKind::Formula), "Force in the world [N]. Default 0."),
        optional("torque", ValueKind::Rotation(&ValueKind::Formula), "Torque in the world [N m]. Default 0."),
        COPIED,
    ],
);

pub(super) const PAIR: Table = table(
    "pair",
    "Contact properties of two bodies or two materials. The name of a copied body stands for all its copies.",
    &[
        optional("bodies", ValueKind::Fixed(2, &ValueKind::Text), "Names of two bodies."),
        optional("materials", ValueKind::Fixed(2, &ValueKind::Text), "Names of two materials."),
        optional("friction", AT_LEAST_0, "Coulomb coefficient μ. Default 0.5."),
        optional("restitution", ValueKind::Number(UNIT), "Coefficient of restitution e, 0 to 1. Default 0."),
        TORSION,
        ROLLING,
        optional("collide", ValueKind::Flag, "false: no contact between them. Default true."),
    ],
)
.one_of(&[&["bodies", "materials"]]);
