//! Bodies, their shapes and materials.

use super::{
    ABOVE_0, AT_LEAST_0, COPIED, Dimension, Field, Kind, NUMBER, POSE, TURNS, Table, UNIT, VECTOR, Variant,
    Word, may, must, word,
};

pub(super) const MATERIAL: Table = Table {
    name: "material",
    doc: "What a surface is like. Of two in contact μ = √(μ_a μ_b) and e = max(e_a, e_b) count, unless a pair says \
          otherwise.",
    fields: &[
        may("friction", AT_LEAST_0, "Coulomb coefficient μ. Default 0.5."),
        may("restitution", Kind::Number(UNIT), "Coefficient of restitution e, 0 to 1. Default 0."),
    ],
    shared: &[],
    one_of: &[],
};

const MOTIONS: &[Word] = &[
    word("rigid", "It moves and turns."),
    word("point", "It moves and does not turn."),
    word("slider", "It moves along `axis` and does not turn."),
    word("fixed", "It never moves."),
    word("kinematic", "It moves as `path` says, whatever pushes it."),
];

const PATH: Table = Table {
    name: "path",
    doc: "A prescribed motion from the pose that the body is given. Velocities are the derivatives of these \
          expressions.",
    fields: &[
        may(
            "position",
            Kind::Vector(&Kind::Formula),
            "How far it has moved from `position`, as expressions of t [m]. Default 0.",
        ),
        may(
            "angle",
            Kind::Formula,
            "How far it has turned about its own origin, as an expression of t [rad].",
        ),
        may(
            "angle_deg",
            Kind::Formula,
            "How far it has turned about its own origin, as an expression of t [°].",
        ),
        may("axis", VECTOR, "The axis it turns about, in the world; its length does not matter. Default: z.")
            .space(),
    ],
    shared: &[],
    one_of: &[&["angle", "angle_deg"]],
};

const GROUP_LIST: Kind = Kind::List(&Kind::Integer(1, 32));

const GROUPS: Table = Table {
    name: "groups",
    doc: "Which shapes meet: both must belong to a group that the other collides with.",
    fields: &[
        may("member", GROUP_LIST, "The groups it belongs to, from 1 to 32. Default: 1."),
        may("collides", GROUP_LIST, "The groups it collides with. Default: all."),
    ],
    shared: &[],
    one_of: &[],
};

/// Keys that a body has for all its shapes, and a shape for itself.
const SURFACE: &[Field] = &[
    may("material", Kind::Text, "Name of a material. Default: that of the body, or `default`."),
    may("groups", Kind::Table(&GROUPS), "Which shapes it meets. Default: as the body, or all."),
];

const GRAIN: Table = Table {
    name: "grain",
    doc: "A direction of a surface along which friction differs.",
    fields: &[
        must("direction", VECTOR, "The direction in the body frame; its length does not matter."),
        must("ratio", ABOVE_0, "Friction along the grain as a multiple of that across it."),
    ],
    shared: &[],
    one_of: &[],
};

/// Keys of all shapes.
const ATTACHED: &[Field] = &[
    may("sensor", Kind::Flag, "It touches and weighs nothing, and tells what it overlaps. Default false."),
    may(
        "surface_velocity",
        Kind::Turn(&NUMBER),
        "Velocity of the surface against the body, as of a conveyor [m/s]. In the plane along the outward normal \
         turned by −90°, in space a vector in the body frame.",
    ),
    may("grain", Kind::Table(&GRAIN), "Friction that differs along and across a direction.").space(),
];

const fn shape(name: &'static str, doc: &'static str, fields: &'static [Field]) -> Table {
    Table { name, doc, fields, shared: &[POSE, SURFACE, ATTACHED], one_of: &[TURNS] }
}

const fn variant(word: &'static str, only: Option<Dimension>, table: &'static Table) -> Variant {
    Variant { word, only, table }
}

const PLANE: Option<Dimension> = Some(Dimension::Plane);
const SPACE: Option<Dimension> = Some(Dimension::Space);
const SEMI_AXES: Field =
    must("semi_axes", Kind::Vector(&ABOVE_0), "Semi-axes along the axes of its frame [m].");
const HALF_EXTENTS: Field =
    must("half_extents", Kind::Vector(&ABOVE_0), "Half its lengths along the axes of its frame [m].");
const RADIUS: Field = must("radius", AT_LEAST_0, "Radius [m]; with 0 it is a point.");
const HALF_LENGTH: Field =
    must("half_length", ABOVE_0, "Half the length of its segment, without the caps [m].");
const CAP_RADIUS: Field = must("radius", AT_LEAST_0, "Radius of its caps [m]; with 0 it is a segment.");

const DISK: Table = shape("disk", "A disk.", &[RADIUS]);
const ELLIPSE: Table = shape("ellipse", "An ellipse.", &[SEMI_AXES]);
const CAPSULE: Table = shape(
    "capsule",
    "All points within a radius of a segment along x, or z in space.",
    &[HALF_LENGTH, CAP_RADIUS],
);
const RECTANGLE: Table = shape("rectangle", "A rectangle.", &[HALF_EXTENTS]);
const POLYGON: Table = shape(
    "polygon",
    "A convex polygon.",
    &[must("vertices", Kind::List(&VECTOR), "Its corners, counter-clockwise [m]; at least 3.")],
);
const HALF_PLANE: Table = shape("half_plane", "All points with y ≤ 0 in its frame: a floor.", &[]);
const SPHERE: Table = shape("sphere", "A ball.", &[RADIUS]);
const ELLIPSOID: Table = shape("ellipsoid", "An ellipsoid.", &[SEMI_AXES]);
const BOX: Table = shape("box", "A rectangular box.", &[HALF_EXTENTS]);
const FACET: Table = Table {
    name: "facet",
    doc: "A half-space normal · x ≤ offset.",
    fields: &[
        must("normal", VECTOR, "Its outward normal; of any length, which counts for the offset too."),
        must("offset", NUMBER, "Its offset [m]."),
    ],
    shared: &[],
    one_of: &[],
};
const POLYHEDRON: Table = Table {
    one_of: &[TURNS, &["vertices", "facets"]],
    ..shape(
        "polyhedron",
        "A convex polyhedron: the hull of points, or what half-spaces leave.",
        &[
            may("vertices", Kind::List(&VECTOR), "Points whose hull it is [m]; at least 4."),
            may("facets", Kind::List(&Kind::Table(&FACET)), "Half-spaces whose intersection it is."),
        ],
    )
};
const HALF_SPACE: Table = shape("half_space", "All points with z ≤ 0 in its frame: a floor.", &[]);

const SHAPES: &[Variant] = &[
    variant("disk", PLANE, &DISK),
    variant("ellipse", PLANE, &ELLIPSE),
    variant("rectangle", PLANE, &RECTANGLE),
    variant("polygon", PLANE, &POLYGON),
    variant("half_plane", PLANE, &HALF_PLANE),
    variant("capsule", None, &CAPSULE),
    variant("sphere", SPACE, &SPHERE),
    variant("ellipsoid", SPACE, &ELLIPSOID),
    variant("box", SPACE, &BOX),
    variant("polyhedron", SPACE, &POLYHEDRON),
    variant("half_space", SPACE, &HALF_SPACE),
];

pub(super) const BODY: Table = Table {
    name: "body",
    doc: "A body.",
    fields: &[
        must("name", Kind::Name, "Its name, unlike all others."),
        may("motion", Kind::Choice(MOTIONS), "How it may move. Default: rigid."),
        may("velocity", VECTOR, "Velocity of its centre of mass at the start [m/s]. Default 0."),
        may(
            "angular_velocity",
            Kind::Turn(&NUMBER),
            "Angular velocity at the start, in the world [rad/s]. Default 0.",
        ),
        may("density", ABOVE_0, "Its mass is that of its shapes at this density [kg/m²; in space kg/m³]."),
        may("mass", ABOVE_0, "Mass [kg]."),
        may("centre", VECTOR, "Centre of mass in the body frame [m]. Default: the origin of the frame."),
        may(
            "inertia",
            Kind::Turn(&AT_LEAST_0),
            "Moment of inertia about the centre of mass [kg m²]; in space three, about the axes of the body frame.",
        ),
        may(
            "products_of_inertia",
            Kind::Fixed(3, &NUMBER),
            "Entries xy, xz and yz of the tensor of inertia [kg m²]. Default 0.",
        )
        .space(),
        may("axis", VECTOR, "The world axis that a slider moves along; its length does not matter."),
        may("path", Kind::Table(&PATH), "How a kinematic body moves."),
        may(
            "shapes",
            Kind::List(&Kind::Tagged(SHAPES)),
            "Its shapes; several make a compound. Default: none.",
        ),
        COPIED,
    ],
    shared: &[POSE, SURFACE],
    one_of: &[TURNS, &["density", "mass"]],
};
