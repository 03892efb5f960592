//! Keys of joints, springs, forces and pairs.

use super::bodies::{ROLLING, TORSION};
use super::{
    ABOVE_0, ANY, AT_LEAST_0, COPIED, ChoiceWord, Dimension, Field, NUMBER, NumberRange, ORIENTATION_KEYS,
    POSE, TIMED, Table, TaggedTable, UNIT, VECTOR, ValueKind, optional, required, table, word,
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
    space(
        "spherical",
        "Rotates about a point: a ball and socket. Coordinates: the bend between the z axes of its frames, whose upper \
         limit is a cone, and the twist.",
    ),
    space(
        "cylindrical",
        "Slides along `axis` and rotates about it. Coordinates: the displacement and the angle.",
    ),
    space(
        "screw",
        "Rotates about `axis` and advances by `pitch` per turn. Coordinates: the angle and the displacement.",
    ),
    space(
        "universal",
        "Rotates about `axis` of the first body and `axis_b` of the second. Coordinates: the angles about them.",
    ),
    space(
        "planar",
        "Slides and rotates in the plane with normal `axis`. Coordinates: two displacements and the angle.",
    ),
];

/// Limits may be open on one side.
const LIMIT: ValueKind = ValueKind::Number(NumberRange { infinite: true, ..ANY });

const FORCE_LIMIT: Field = required("force", AT_LEAST_0, "Largest torque or force [N m; N].");
const EFFORT: Field = optional("force", AT_LEAST_0, "Largest torque or force [N m; N]. Default: unlimited.");
const TARGET: Field = optional(
    "target",
    TIMED,
    "Target of the coordinate [rad; m]: a number, an expression of time t, a table, or a formula of quantities of the run.",
);
const INPUT: Field = optional(
    "input",
    ValueKind::Name,
    "Name of the input that sets the motor in a program. Default: the name of the joint for torque motors and servos; \
     else there is none.",
);
const EVERY: Field = optional(
    "every",
    ABOVE_0,
    "Time between two updates of formulas of quantities of the run [s]. Default: every step.",
);
const VELOCITY_MOTOR: Table = table(
    "velocity_motor",
    "Velocity motor: drives the coordinate to a speed.",
    &[
        optional(
            "speed",
            TIMED,
            "Speed of the coordinate [rad/s; m/s]: a number, an expression of time t, a table, or a formula of quantities of the run.",
        ),
        optional("speed_deg", NUMBER, "Speed of the coordinate [°/s]."),
        FORCE_LIMIT,
        INPUT,
        EVERY,
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
        EVERY,
    ],
)
.one_of(&[&["target", "target_deg"]]);
const TORQUE_MOTOR: Table = table(
    "torque_motor",
    "Torque motor: exerts a torque or force along the coordinate.",
    &[
        required(
            "torque",
            TIMED,
            "Torque or force [N m; N]: a number, which an input may change, an expression of time t, a table, or a formula of \
             quantities of the run.",
        ),
        EFFORT,
        INPUT,
        EVERY,
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
        optional(
            "torque",
            ValueKind::Formula,
            "Torque or force without error [N m; N]: a number or a formula of quantities of the run. Default 0.",
        ),
        EFFORT,
        INPUT,
        EVERY,
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

/// Limits, motor, spring and friction of a coordinate.
const COORDINATE: &[Field] = &[
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
];
const AXIS: Table = table("coordinate", "Settings of one coordinate of a joint with several.", &[])
    .sharing(&[COORDINATE])
    .one_of(&[&["limits", "limits_deg"]]);

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
        optional("pitch", NUMBER, "Advance of a screw per turn [m]; negative for a left-handed one.").space(),
        optional(
            "coordinates",
            ValueKind::List(&ValueKind::Table(&AXIS)),
            "Limits, motors, springs and friction of all coordinates of a joint with several, instead of those of the first.",
        )
        .space(),
        optional("compliance", AT_LEAST_0, "Compliance: displacement per force [m/N]. Default 0."),
        optional("collide", ValueKind::Flag, "true: the two bodies collide with each other. Default false."),
        COPIED,
    ],
)
.sharing(&[COORDINATE])
.one_of(&[
    &["at", "frame_a"],
    &["at", "frame_b"],
    &["axis", "frame_a"],
    &["limits", "limits_deg"],
    &["limits", "coordinates"],
    &["limits_deg", "coordinates"],
    &["motor", "coordinates"],
    &["spring", "coordinates"],
    &["friction", "coordinates"],
]);

/// Name, offset and copies, which all couplings have.
const COUPLED: &[Field] = &[
    NAME,
    optional(
        "offset",
        TIMED,
        "Value of the sum that the coupling keeps: a number, an expression of time t, or a table. Default 0.",
    ),
    COPIED,
];
/// Play and compliance, which all couplings have.
const YIELDING: &[Field] = &[
    optional(
        "backlash",
        AT_LEAST_0,
        "Play: range in which the sum is free, half of it on either side. Default 0.",
    ),
    optional(
        "compliance",
        AT_LEAST_0,
        "Change of the sum per force along it; not with a backlash. Default 0.",
    ),
];
const TWO_JOINTS: ValueKind = ValueKind::Fixed(2, &ValueKind::Text);
const TWO_ABOVE_0: ValueKind = ValueKind::Fixed(2, &ABOVE_0);

const TERM: Table = table(
    "term",
    "Joint coordinate with its factor in a coupling.",
    &[
        required("joint", ValueKind::Text, "Name of the joint."),
        required("factor", NUMBER, "Factor of its coordinate."),
        optional("coordinate", ValueKind::Integer(0, 2), "Number of the coordinate, from 0. Default 0."),
    ],
);
const LINEAR: Table = table(
    "linear_coupling",
    "Linear coupling: the sum of factors times coordinates.",
    &[required("terms", ValueKind::List(&ValueKind::Table(&TERM)), "Joint coordinates with their factors.")],
)
.sharing(&[COUPLED, YIELDING]);
const GEARS: Table = table(
    "gears",
    "Pair of gears: the sum is z₁ q₁ + z₂ q₂; of internal gears z₁ q₁ − z₂ q₂.",
    &[
        required("joints", TWO_JOINTS, "Names of the two joints."),
        required("teeth", TWO_ABOVE_0, "Numbers of teeth z₁ and z₂."),
        optional(
            "internal",
            ValueKind::Flag,
            "true: one of the two is a ring with internal teeth. Default false.",
        ),
    ],
)
.sharing(&[COUPLED, YIELDING]);
const BELT: Table = table(
    "belt",
    "Belt or chain over two wheels: the sum is r₁ q₁ − r₂ q₂ [m]; of a crossed belt r₁ q₁ + r₂ q₂.",
    &[
        required("joints", TWO_JOINTS, "Names of the two joints."),
        required("radii", TWO_ABOVE_0, "Radii r₁ and r₂ [m]."),
        optional("crossed", ValueKind::Flag, "true: the belt is crossed. Default false."),
    ],
)
.sharing(&[COUPLED, YIELDING]);
const RACK: Table = table(
    "rack",
    "Rack and pinion: the sum is q₁ − r q₂ [m].",
    &[
        required("joints", TWO_JOINTS, "Names of the joint of the rack and of that of the pinion."),
        required(
            "radius",
            NUMBER,
            "Pitch radius of the pinion r [m]; negative where the rack moves the other way.",
        ),
    ],
)
.sharing(&[COUPLED, YIELDING]);
const SCREW: Table = table(
    "screw",
    "Screw: the sum is q₁ − p/(2π) q₂ [m].",
    &[
        required("joints", TWO_JOINTS, "Names of the joint that slides and of the joint that turns."),
        required("pitch", NUMBER, "Advance per turn p [m]; negative for a left-handed screw."),
    ],
)
.sharing(&[COUPLED, YIELDING]);
const MIMIC: Table = table(
    "mimic",
    "Joint that follows another one: the sum is q₁ − ratio · q₂.",
    &[
        required("joints", TWO_JOINTS, "Names of the joint that follows and of the one that it follows."),
        optional("ratio", NUMBER, "Ratio of the coordinates. Default 1."),
    ],
)
.sharing(&[COUPLED, YIELDING]);
const DIFFERENTIAL: Table = table(
    "differential",
    "Differential: the sum is q₂ + q₃ − 2 q₁ of its cage and its two shafts.",
    &[required(
        "joints",
        ValueKind::Fixed(3, &ValueKind::Text),
        "Names of the joints of the cage and of the shafts.",
    )],
)
.sharing(&[COUPLED, YIELDING]);
const PLANETARY: Table = table(
    "planetary",
    "Planetary train by Willis: the sum is z_s q_s + z_r q_r − (z_s + z_r) q_c of sun, ring and carrier on one axis.",
    &[
        required("joints", ValueKind::Fixed(3, &ValueKind::Text), "Names of the joints of sun, ring and carrier."),
        required("teeth", TWO_ABOVE_0, "Numbers of teeth of the sun and of the ring."),
    ],
)
.sharing(&[COUPLED, YIELDING]);

pub(super) const COUPLING: ValueKind = ValueKind::Tagged(&[
    TaggedTable { word: "linear", only: None, table: &LINEAR },
    TaggedTable { word: "gears", only: None, table: &GEARS },
    TaggedTable { word: "belt", only: None, table: &BELT },
    TaggedTable { word: "rack", only: None, table: &RACK },
    TaggedTable { word: "screw", only: None, table: &SCREW },
    TaggedTable { word: "mimic", only: None, table: &MIMIC },
    TaggedTable { word: "differential", only: None, table: &DIFFERENTIAL },
    TaggedTable { word: "planetary", only: None, table: &PLANETARY },
]);

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
     its centre of mass, in the plane angle and omega, in space wx, wy, wz in the world; or formulas of quantities of \
     the run, taken at the last step.",
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
        optional(
            "input",
            ValueKind::Name,
            "Name of an input, at first 1, by which force and torque are multiplied. They are numbers then.",
        ),
        EVERY,
        COPIED,
    ],
);

pub(super) const SENSOR: Table = table(
    "sensor",
    "Sensor: a quantity of the run with a name, for formulas, plots and tables.",
    &[
        required("name", ValueKind::Name, "Unique name."),
        required("value", ValueKind::Text, "Formula of quantities of the run."),
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
