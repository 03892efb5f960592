//! Keys of bodies, shapes and materials.

use super::{
    ABOVE_0, AT_LEAST_0, COPIED, ChoiceWord, Dimension, Field, NUMBER, ORIENTATION_KEYS, POSE, ROTATION,
    THREE_NUMBERS, TIMED, Table, TaggedTable, UNIT, VECTOR, ValueKind, optional, required, table, word,
};

/// Torsional radius of a contact.
pub(super) const TORSION: Field = optional(
    "torsion",
    AT_LEAST_0,
    "Torsional radius ℓ_t [m]: the moment against spin is at most μ ℓ_t N, in one bound with sliding friction. Default 0.",
);
/// Rolling length of a contact.
pub(super) const ROLLING: Field = optional(
    "rolling",
    AT_LEAST_0,
    "Rolling length ℓ_r [m]: the moment against rolling is at most ℓ_r N. Default 0.",
);

pub(super) const MATERIAL: Table = table(
    "material",
    "Contact properties of a surface. Two surfaces have μ = √(μ_a μ_b) and e = max(e_a, e_b), unless a pair \
     gives its own.",
    &[
        optional("friction", AT_LEAST_0, "Coulomb coefficient μ. Default 0.5."),
        optional("restitution", ValueKind::Number(UNIT), "Coefficient of restitution e, 0 to 1. Default 0."),
        TORSION,
        ROLLING,
    ],
);

const MOTIONS: &[ChoiceWord] = &[
    word("rigid", "Translates and rotates."),
    word("point", "Translates without rotation."),
    word("slider", "Translates along `axis` without rotation."),
    word("fixed", "Never moves."),
    word("kinematic", "Moves along `path`, independent of forces."),
];

const PATH: Table = table(
    "path",
    "Prescribed motion, relative to the given pose of the body. Velocities are the derivatives of these \
     expressions.",
    &[
        optional(
            "position",
            ValueKind::Vector(&TIMED),
            "Displacement from `position`, as expressions of t [m]. Default 0.",
        ),
        optional("angle", TIMED, "Rotation about the origin of the body, as an expression of t [rad]."),
        optional("angle_deg", TIMED, "Rotation about the origin of the body, as an expression of t [°]."),
        optional(
            "axis",
            VECTOR,
            "Axis of the rotation, in the world; its length does not matter. Default: z.",
        )
        .space(),
    ],
)
.one_of(&[&["angle", "angle_deg"]]);

const GROUP_LIST: ValueKind = ValueKind::List(&ValueKind::Integer(1, 32));

const GROUPS: Table = table(
    "groups",
    "Collision groups. Two shapes touch if each belongs to a group that the other collides with.",
    &[
        optional("member", GROUP_LIST, "Groups it belongs to, from 1 to 32. Default: 1."),
        optional("collides", GROUP_LIST, "Groups it collides with. Default: all."),
    ],
);

/// Keys of a surface: of a body for all its shapes, or of one shape.
const SURFACE: &[Field] = &[
    optional("material", ValueKind::Text, "Name of a material. Default: that of the body, or `default`."),
    optional("groups", ValueKind::Table(&GROUPS), "Collision groups. Default: those of the body, or all."),
];

const GRAIN: Table = table(
    "grain",
    "Grain of a surface: a direction along which friction differs.",
    &[
        required("direction", VECTOR, "Direction in the body frame; its length does not matter."),
        required("ratio", ABOVE_0, "Friction along the grain as a multiple of that across it."),
    ],
);

/// Keys of all shapes.
const ATTACHED: &[Field] = &[
    optional(
        "sensor",
        ValueKind::Flag,
        "Detects overlaps, without contact forces and without mass. Default false.",
    ),
    optional(
        "surface_velocity",
        ROTATION,
        "Velocity of the surface relative to the body, as of a conveyor [m/s]. In the plane along the outward normal \
         rotated by −90°, in space a vector in the body frame.",
    ),
    optional("grain", ValueKind::Table(&GRAIN), "Grain, along which friction differs.").space(),
    COPIED,
];

const fn shape(name: &'static str, doc: &'static str, fields: &'static [Field]) -> Table {
    table(name, doc, fields).sharing(&[POSE, SURFACE, ATTACHED]).one_of(&[ORIENTATION_KEYS])
}

const fn variant(word: &'static str, only: Option<Dimension>, table: &'static Table) -> TaggedTable {
    TaggedTable { word, only, table }
}

const PLANE: Option<Dimension> = Some(Dimension::Plane);
const SPACE: Option<Dimension> = Some(Dimension::Space);
const SEMI_AXES: Field =
    required("semi_axes", ValueKind::Vector(&ABOVE_0), "Semi-axes along the axes of its frame [m].");
const HALF_EXTENTS: Field =
    required("half_extents", ValueKind::Vector(&ABOVE_0), "Half extents along the axes of its frame [m].");
const RADIUS: Field = required("radius", AT_LEAST_0, "Radius [m]; 0 makes a point.");
const HALF_LENGTH: Field =
    required("half_length", ABOVE_0, "Half the length of the segment, without the caps [m].");
const CAP_RADIUS: Field = required("radius", AT_LEAST_0, "Radius of the caps [m]; 0 makes a segment.");

const DISK: Table = shape("disk", "Disk.", &[RADIUS]);
const ELLIPSE: Table = shape("ellipse", "Ellipse.", &[SEMI_AXES]);
const CAPSULE: Table = shape(
    "capsule",
    "Capsule: all points within a radius of a segment along x, or z in space.",
    &[HALF_LENGTH, CAP_RADIUS],
);
const ROUNDING: Field = optional(
    "rounding",
    AT_LEAST_0,
    "Radius by which the shape is rounded [m]: all points within it of the shape belong to it, so it grows by as much \
     on every side. Default 0.",
);
const RECTANGLE: Table = shape("rectangle", "Rectangle.", &[HALF_EXTENTS, ROUNDING]);
const POLYGON: Table = shape(
    "polygon",
    "Convex polygon.",
    &[
        required("vertices", ValueKind::List(&VECTOR), "Vertices, counter-clockwise [m]; at least 3."),
        ROUNDING,
    ],
);
const HALF_PLANE: Table = shape("half_plane", "Half-plane y ≤ 0 in its frame, such as a floor.", &[]);
const SPHERE: Table = shape("sphere", "Ball.", &[RADIUS]);
const ELLIPSOID: Table = shape("ellipsoid", "Ellipsoid.", &[SEMI_AXES]);
const BOX: Table = shape("box", "Rectangular box.", &[HALF_EXTENTS, ROUNDING]);
const CYLINDER: Table = shape(
    "cylinder",
    "Cylinder about z, such as a wheel or a coin; a disc with a rounded rim if it has a rounding.",
    &[
        required("half_length", AT_LEAST_0, "Half the length along z [m]; 0 with a rounding only."),
        required("radius", ABOVE_0, "Radius [m]."),
        ROUNDING,
    ],
);
const CONE: Table = shape(
    "cone",
    "Cone about z, its base at z = −half_length and its apex at z = half_length.",
    &[
        required("half_length", ABOVE_0, "Half the height along z [m]."),
        required("radius", ABOVE_0, "Radius of the base [m]."),
        ROUNDING,
    ],
);
const FACET: Table = table(
    "facet",
    "Half-space normal · x ≤ offset.",
    &[
        required("normal", VECTOR, "Outward normal of any length; the offset is scaled with it."),
        required("offset", NUMBER, "Offset [m]."),
    ],
);
const POLYHEDRON: Table = shape(
    "polyhedron",
    "Convex polyhedron: the hull of points, or the intersection of half-spaces.",
    &[
        optional("vertices", ValueKind::List(&VECTOR), "Points of the hull [m]; at least 4."),
        optional("facets", ValueKind::List(&ValueKind::Table(&FACET)), "Half-spaces of the intersection."),
        ROUNDING,
    ],
)
.one_of(&[ORIENTATION_KEYS, &["vertices", "facets"]]);
const HALF_SPACE: Table = shape("half_space", "Half-space z ≤ 0 in its frame, such as a floor.", &[]);

const SHAPES: &[TaggedTable] = &[
    variant("disk", PLANE, &DISK),
    variant("ellipse", PLANE, &ELLIPSE),
    variant("rectangle", PLANE, &RECTANGLE),
    variant("polygon", PLANE, &POLYGON),
    variant("half_plane", PLANE, &HALF_PLANE),
    variant("capsule", None, &CAPSULE),
    variant("sphere", SPACE, &SPHERE),
    variant("ellipsoid", SPACE, &ELLIPSOID),
    variant("box", SPACE, &BOX),
    variant("cylinder", SPACE, &CYLINDER),
    variant("cone", SPACE, &CONE),
    variant("polyhedron", SPACE, &POLYHEDRON),
    variant("half_space", SPACE, &HALF_SPACE),
];

pub(super) const BODY: Table = table("body", "Body.", &[
        required("name", ValueKind::Name, "Unique name."),
        optional("motion", ValueKind::Choice(MOTIONS), "Kind of motion. Default: rigid."),
        optional("velocity", VECTOR, "Velocity of its centre of mass at the start [m/s]. Default 0."),
        optional(
            "angular_velocity",
            ROTATION,
            "Angular velocity at the start, in the world [rad/s]. Default 0.",
        ),
        optional(
            "density",
            ABOVE_0,
            "Density of its shapes, which gives mass and inertia [kg/m²; in space kg/m³].",
        ),
        optional("mass", ABOVE_0, "Mass [kg]."),
        optional("centre", VECTOR, "Centre of mass in the body frame [m]. Default: the origin of the frame."),
        optional(
            "inertia",
            ValueKind::Rotation(&AT_LEAST_0),
            "Moment of inertia about the centre of mass [kg m²]; in space three, about the axes of the body frame.",
        ),
        optional(
            "products_of_inertia",
            THREE_NUMBERS,
            "Entries xy, xz and yz of the tensor of inertia [kg m²]. Default 0.",
        )
        .space(),
        optional("axis", VECTOR, "Axis of a slider, in the world; its length does not matter."),
        optional("path", ValueKind::Table(&PATH), "Motion of a kinematic body."),
        optional(
            "shapes",
            ValueKind::List(&ValueKind::Tagged(SHAPES)),
            "Shapes; several make a compound. Default: none.",
        ),
        COPIED,
    ]).sharing(&[POSE, SURFACE]).one_of(&[ORIENTATION_KEYS, &["density", "mass"]]);
