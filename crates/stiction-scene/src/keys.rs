//! Keys of the scene format: every key with its type, range, unit and description.
//!
//! Files are checked against this description, and the JSON Schema is generated from it.

mod bodies;
mod joints;
mod run;
mod state;

use bodies::{BODY, MATERIAL};
use joints::{COUPLING, FORCE, JOINT, PAIR, RAIL, SENSOR, SPRING};
use run::{RECORD, RUN, WORLD};
use state::STATE;

pub(crate) use run::{EARLIER_NAME, SCHEMES};

/// Version of the format that this program reads.
pub(crate) const FORMAT: i64 = 1;

/// Largest number of entries of a list, and of bodies with all copies. The check of overlaps is quadratic in it.
pub(crate) const MAX_ENTRIES: usize = 20_000;

/// Largest number of shapes and their vertices, with all copies. A shape takes about 600 bytes of a world, and so does a
/// vertex of a polyhedron.
pub(crate) const MAX_SHAPE_SIZE: usize = 400_000;

/// Largest number of copies of an entry: [`MAX_ENTRIES`] as an integer of a file.
const MAX_COPIES: i64 = 20_000;

/// Largest magnitude of a number. The inertia of a shape grows with the fifth power of its size, and overflows above.
pub(crate) const MAX_MAGNITUDE: f64 = 1e30;

/// Dimension of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    Plane,
    Space,
}

impl Dimension {
    /// Number of components of a vector.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Plane => 2,
            Self::Space => 3,
        }
    }
}

/// Type of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ValueKind {
    Number(NumberRange),
    Integer(i64, i64),
    Flag,
    Text,
    /// Name that other entries refer to.
    Name,
    /// One of several words.
    Choice(&'static [ChoiceWord]),
    /// Number or expression.
    Formula,
    /// One value per dimension of the world.
    Vector(&'static ValueKind),
    /// Rotational quantity: one value in the plane, three in space.
    Rotation(&'static ValueKind),
    /// Fixed number of values.
    Fixed(usize, &'static ValueKind),
    /// List of at most [`MAX_ENTRIES`] values.
    List(&'static ValueKind),
    Table(&'static Table),
    /// Tables under names that the user chooses.
    Map(&'static Table),
    /// Table whose key `kind` selects one of these.
    Tagged(&'static [TaggedTable]),
    /// Value of one type or another.
    Either(&'static ValueKind, &'static ValueKind),
}

/// Word of a [`ValueKind::Choice`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChoiceWord {
    pub(crate) name: &'static str,
    pub(crate) only: Option<Dimension>,
    pub(crate) doc: &'static str,
}

/// Table of a [`ValueKind::Tagged`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaggedTable {
    pub(crate) word: &'static str,
    pub(crate) only: Option<Dimension>,
    pub(crate) table: &'static Table,
}

/// Range of allowed numbers; finite unless `infinite` is set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NumberRange {
    pub(crate) min: f64,
    /// `true` where `min` itself is not allowed.
    pub(crate) above: bool,
    pub(crate) max: f64,
    pub(crate) infinite: bool,
}

pub(crate) const ANY: NumberRange =
    NumberRange { min: f64::NEG_INFINITY, above: false, max: f64::INFINITY, infinite: false };
pub(crate) const POSITIVE: NumberRange = NumberRange { min: 0.0, above: true, ..ANY };
pub(crate) const NOT_NEGATIVE: NumberRange = NumberRange { min: 0.0, ..ANY };
pub(crate) const UNIT: NumberRange = NumberRange { min: 0.0, max: 1.0, ..ANY };

/// Keys of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) fields: &'static [Field],
    /// Keys shared with other tables.
    pub(crate) shared: &'static [&'static [Field]],
    /// Groups of keys that exclude each other.
    pub(crate) one_of: &'static [&'static [&'static str]],
}

impl Table {
    /// Table that also has keys shared with other tables.
    const fn sharing(self, shared: &'static [&'static [Field]]) -> Self {
        Self { shared, ..self }
    }

    /// Table with groups of keys that exclude each other.
    const fn one_of(self, one_of: &'static [&'static [&'static str]]) -> Self {
        Self { one_of, ..self }
    }

    /// Keys available in a dimension.
    pub(crate) fn fields(&self, dimension: Dimension) -> impl Iterator<Item = &'static Field> {
        self.all().filter(move |field| field.only.is_none_or(|only| only == dimension))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().chain(self.shared.iter().copied().flatten())
    }
}

/// Key of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) key: &'static str,
    pub(crate) kind: ValueKind,
    pub(crate) required: bool,
    pub(crate) only: Option<Dimension>,
    pub(crate) doc: &'static str,
}

/// Table with keys of its own alone.
const fn table(name: &'static str, doc: &'static str, fields: &'static [Field]) -> Table {
    Table { name, doc, fields, shared: &[], one_of: &[] }
}

/// Optional key.
const fn optional(key: &'static str, kind: ValueKind, doc: &'static str) -> Field {
    Field { key, kind, required: false, only: None, doc }
}

/// Required key.
const fn required(key: &'static str, kind: ValueKind, doc: &'static str) -> Field {
    Field { required: true, ..optional(key, kind, doc) }
}

impl Field {
    const fn plane(self) -> Self {
        Self { only: Some(Dimension::Plane), ..self }
    }

    const fn space(self) -> Self {
        Self { only: Some(Dimension::Space), ..self }
    }
}

const fn word(name: &'static str, doc: &'static str) -> ChoiceWord {
    ChoiceWord { name, only: None, doc }
}

const NUMBER: ValueKind = ValueKind::Number(ANY);
const AT_LEAST_0: ValueKind = ValueKind::Number(NOT_NEGATIVE);
const ABOVE_0: ValueKind = ValueKind::Number(POSITIVE);
/// Values at instants, instead of an expression of time.
const TIME_TABLE: Table = table(
    "time_table",
    "Values at instants. Before the first and after the last they are constant.",
    &[
        required("times", NUMBERS, "Instants, ascending [s]."),
        required("values", NUMBERS, "Values at the instants."),
        optional(
            "interpolation",
            ValueKind::Choice(&[
                word(
                    "cubic",
                    "A spline with continuous curvature that rests at both ends: two points are a smooth step.",
                ),
                word("linear", "Lines."),
            ]),
            "Interpolation between the instants. Default: cubic.",
        ),
    ],
);
/// Number, expression, or table over time.
const TIMED: ValueKind = ValueKind::Either(&ValueKind::Formula, &ValueKind::Table(&TIME_TABLE));
const VECTOR: ValueKind = ValueKind::Vector(&NUMBER);
const ROTATION: ValueKind = ValueKind::Rotation(&NUMBER);
const NUMBERS: ValueKind = ValueKind::List(&NUMBER);
const THREE_NUMBERS: ValueKind = ValueKind::Fixed(3, &NUMBER);

/// Pose keys of bodies, shapes and frames.
const POSE: &[Field] = &[
    optional("position", VECTOR, "Position of its origin [m]. Default: the origin."),
    optional("angle", NUMBER, "Orientation, counter-clockwise [rad]. Default 0.").plane(),
    optional("angle_deg", NUMBER, "Orientation, counter-clockwise [°].").plane(),
    optional("quat_wxyz", ValueKind::Fixed(4, &NUMBER), "Orientation as a unit quaternion, w first.").space(),
    optional(
        "rotation_vector",
        THREE_NUMBERS,
        "Orientation as a rotation vector: the axis times the angle [rad].",
    )
    .space(),
    optional(
        "rpy_deg",
        THREE_NUMBERS,
        "Orientation by roll, pitch and yaw about the fixed axes x, y and z, in this order [°].",
    )
    .space(),
];

/// Keys of an orientation, which exclude each other.
pub(crate) const ORIENTATION_KEYS: &[&str] =
    &["angle", "angle_deg", "quat_wxyz", "rotation_vector", "rpy_deg"];

/// Copies of an entry in a row.
const COPIES: Table = table(
    "copies",
    "Copies of this entry, each displaced from the one before. Their names are name[0], name[1], … Another \
     copied entry may refer to them by its own index: link[i], link[i+1].",
    &[
        required("count", ValueKind::Integer(1, MAX_COPIES), "Number of copies, including the first."),
        optional("offset", VECTOR, "Displacement from one copy to the next [m]. Default 0."),
        optional("turn", ROTATION, "Rotation from one copy to the next [rad]; in space a rotation vector."),
        optional("turn_deg", ROTATION, "Rotation from one copy to the next [°]; in space a rotation vector."),
        optional("about", VECTOR, "Centre of that rotation [m]. Default: the origin of the world."),
    ],
)
.one_of(&[&["turn", "turn_deg"]]);

const COPIED: Field = optional(
    "copies",
    ValueKind::Either(&ValueKind::Table(&COPIES), &ValueKind::Fixed(2, &ValueKind::Table(&COPIES))),
    "Copies of this entry in a row; two tables make a grid, name[i][j].",
);

/// Keys of a scene file.
pub(crate) const SCENE: Table = table(
    "scene",
    "Scene of Stiction. Units are SI: m, kg, s, N, rad. Angles are in degrees only where the key ends in _deg.",
    &[
        required("format", ValueKind::Integer(FORMAT, FORMAT), "Version of the format: 1."),
        required("dimension", ValueKind::Integer(2, 3), "2: bodies in the plane. 3: bodies in space."),
        optional("title", ValueKind::Text, "Title of the scene."),
        optional("description", ValueKind::Text, "Description of the scene."),
        optional("world", ValueKind::Table(&WORLD), "Settings of the whole world."),
        required("run", ValueKind::Table(&RUN), "Settings of the run."),
        optional("record", ValueKind::Table(&RECORD), "Settings of the recording."),
        optional(
            "materials",
            ValueKind::Map(&MATERIAL),
            "Materials by name. A shape without a material has the material `default`.",
        ),
        required("bodies", ValueKind::List(&ValueKind::Table(&BODY)), "Bodies."),
        optional("joints", ValueKind::List(&ValueKind::Table(&JOINT)), "Joints."),
        optional(
            "couplings",
            ValueKind::List(&COUPLING),
            "Couplings of joints: gears, belts, racks, screws, differentials.",
        ),
        optional(
            "springs",
            ValueKind::List(&ValueKind::Table(&SPRING)),
            "Springs and dampers between two bodies.",
        ),
        optional(
            "rails",
            ValueKind::List(&ValueKind::Table(&RAIL)),
            "Springs and dampers along an axis of the world.",
        ),
        optional("forces", ValueKind::List(&ValueKind::Table(&FORCE)), "Forces besides gravity and springs."),
        optional(
            "sensors",
            ValueKind::List(&ValueKind::Table(&SENSOR)),
            "Sensors: quantities of the run with names.",
        ),
        optional(
            "pairs",
            ValueKind::List(&ValueKind::Table(&PAIR)),
            "Pairs of bodies or materials with contact properties of their own, or without contact.",
        ),
        optional(
            "state",
            ValueKind::Table(&STATE),
            "Start state of the run, instead of the one that the bodies describe.",
        ),
    ],
);
