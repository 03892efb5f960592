//! The one description of the file format: every key with its kind, its range, its unit and what it means.
//!
//! The check of a file and the JSON Schema are both made from it.

mod bodies;
mod joints;
mod moment;
mod run;

use bodies::{BODY, MATERIAL};
use joints::{FORCE, JOINT, PAIR, RAIL, SPRING};
use moment::STATE;
use run::{RECORD, RUN, WORLD};

pub(crate) use run::SCHEMES;

/// Version of the format that this program reads.
pub(crate) const FORMAT: i64 = 1;

/// Most entries of a list, and most bodies with all their copies: a check looks at pairs.
pub(crate) const MOST: usize = 20_000;

/// The same as an integer of a file.
const MOST_COPIES: i64 = 20_000;

/// Largest number in size. The inertia of a shape goes with the fifth power of its size: what is larger overflows.
pub(crate) const LARGEST: f64 = 1e30;

/// Plane or space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    Plane,
    Space,
}

impl Dimension {
    /// Numbers of a vector.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Plane => 2,
            Self::Space => 3,
        }
    }
}

/// What a value may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Number(Range),
    Integer(i64, i64),
    Flag,
    Text,
    /// A name that others refer to.
    Name,
    /// One of these words, each with what it means.
    Choice(&'static [Word]),
    /// A number, or an expression.
    Formula,
    /// As many as the world has dimensions.
    Vector(&'static Kind),
    /// One in the plane, three in space: what turns.
    Turn(&'static Kind),
    /// As many as this.
    Fixed(usize, &'static Kind),
    /// Between none and [`MOST`].
    List(&'static Kind),
    Table(&'static Table),
    /// Tables under names of the user's.
    Map(&'static Table),
    /// A table whose key `kind` says which of these it is.
    Tagged(&'static [Variant]),
    /// One or the other.
    Either(&'static Kind, &'static Kind),
}

/// A word of a [`Kind::Choice`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    pub(crate) name: &'static str,
    pub(crate) only: Option<Dimension>,
    pub(crate) doc: &'static str,
}

/// A table of a [`Kind::Tagged`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variant {
    pub(crate) word: &'static str,
    pub(crate) only: Option<Dimension>,
    pub(crate) table: &'static Table,
}

/// The numbers that are allowed; all finite, unless it says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) min: f64,
    /// The least number is not allowed itself.
    pub(crate) above: bool,
    pub(crate) max: f64,
    pub(crate) infinite: bool,
}

pub(crate) const ANY: Range =
    Range { min: f64::NEG_INFINITY, above: false, max: f64::INFINITY, infinite: false };
pub(crate) const POSITIVE: Range = Range { min: 0.0, above: true, ..ANY };
pub(crate) const NOT_NEGATIVE: Range = Range { min: 0.0, ..ANY };
pub(crate) const UNIT: Range = Range { min: 0.0, max: 1.0, ..ANY };

/// The keys of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) fields: &'static [Field],
    /// Keys that it shares with other tables.
    pub(crate) shared: &'static [&'static [Field]],
    /// Of each of these at most one may be given.
    pub(crate) one_of: &'static [&'static [&'static str]],
}

impl Table {
    /// The keys in this dimension.
    pub(crate) fn fields(&self, dimension: Dimension) -> impl Iterator<Item = &'static Field> {
        self.all().filter(move |field| field.only.is_none_or(|only| only == dimension))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().chain(self.shared.iter().copied().flatten())
    }
}

/// A key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) key: &'static str,
    pub(crate) kind: Kind,
    pub(crate) needed: bool,
    pub(crate) only: Option<Dimension>,
    pub(crate) doc: &'static str,
}

/// A key that may be left out.
const fn may(key: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field { key, kind, needed: false, only: None, doc }
}

/// A key that may not.
const fn must(key: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field { needed: true, ..may(key, kind, doc) }
}

impl Field {
    const fn plane(self) -> Self {
        Self { only: Some(Dimension::Plane), ..self }
    }

    const fn space(self) -> Self {
        Self { only: Some(Dimension::Space), ..self }
    }
}

const fn word(name: &'static str, doc: &'static str) -> Word {
    Word { name, only: None, doc }
}

const NUMBER: Kind = Kind::Number(ANY);
const AT_LEAST_0: Kind = Kind::Number(NOT_NEGATIVE);
const ABOVE_0: Kind = Kind::Number(POSITIVE);
const VECTOR: Kind = Kind::Vector(&NUMBER);

/// Pose keys of bodies, shapes and frames.
const POSE: &[Field] = &[
    may("position", VECTOR, "Where it is [m]. Default: the origin."),
    may("angle", NUMBER, "How it is turned, counter-clockwise [rad]. Default 0.").plane(),
    may("angle_deg", NUMBER, "How it is turned, counter-clockwise [°].").plane(),
    may("quat_wxyz", Kind::Fixed(4, &NUMBER), "How it is turned: a unit quaternion, w first.").space(),
    may(
        "rotation_vector",
        Kind::Fixed(3, &NUMBER),
        "How it is turned: along the axis, as long as the angle [rad].",
    )
    .space(),
    may(
        "rpy_deg",
        Kind::Fixed(3, &NUMBER),
        "How it is turned: by roll, pitch and yaw about the fixed axes x, y and z, in this order [°].",
    )
    .space(),
];

/// At most one way to turn.
const TURNS: &[&str] = &["angle", "angle_deg", "quat_wxyz", "rotation_vector", "rpy_deg"];

/// Copies in a row.
const COPIES: Table = Table {
    name: "copies",
    doc: "The same again, several times, each moved on from the one before. Their names are name[0], name[1], … \
          and a name that another copied entry refers to may hold the number: link[i], link[i+1].",
    fields: &[
        must("count", Kind::Integer(1, MOST_COPIES), "How many there are, with the first."),
        may("offset", VECTOR, "How far each is from the one before [m]. Default 0."),
        may(
            "turn",
            Kind::Turn(&NUMBER),
            "How far each is turned against the one before [rad]; in space a rotation vector.",
        ),
        may(
            "turn_deg",
            Kind::Turn(&NUMBER),
            "How far each is turned against the one before [°]; in space a rotation vector.",
        ),
        may("about", VECTOR, "The point they are turned about [m]. Default: the origin of the world."),
    ],
    shared: &[],
    one_of: &[&["turn", "turn_deg"]],
};

const COPIED: Field = may(
    "copies",
    Kind::Either(&Kind::Table(&COPIES), &Kind::Fixed(2, &Kind::Table(&COPIES))),
    "The same again, several times; two of them make a grid, name[i][j].",
);

/// Everything.
pub(crate) const SCENE: Table = Table {
    name: "scene",
    doc: "A scene of Stiction. Units are SI: m, kg, s, N, rad; angles in degrees only where the key ends in _deg.",
    fields: &[
        must("format", Kind::Integer(FORMAT, FORMAT), "Version of the format: 1."),
        must("dimension", Kind::Integer(2, 3), "2: bodies in the plane. 3: bodies in space."),
        may("title", Kind::Text, "What the scene is called."),
        may("description", Kind::Text, "What it shows."),
        may("world", Kind::Table(&WORLD), "What holds everywhere."),
        must("run", Kind::Table(&RUN), "How the scene is run."),
        may("record", Kind::Table(&RECORD), "What is kept of a run."),
        may(
            "materials",
            Kind::Map(&MATERIAL),
            "Materials by their names. Shapes that name none are of the material `default`.",
        ),
        must("bodies", Kind::List(&Kind::Table(&BODY)), "The bodies."),
        may("joints", Kind::List(&Kind::Table(&JOINT)), "The joints."),
        may("springs", Kind::List(&Kind::Table(&SPRING)), "Springs and dampers between two bodies."),
        may("rails", Kind::List(&Kind::Table(&RAIL)), "Springs and dampers along an axis of the world."),
        may("forces", Kind::List(&Kind::Table(&FORCE)), "Forces besides gravity and springs."),
        may(
            "pairs",
            Kind::List(&Kind::Table(&PAIR)),
            "Pairs of bodies or materials that meet in a way of their own, or not at all.",
        ),
        may(
            "state",
            Kind::Table(&STATE),
            "The moment the run starts at, in place of the one that the bodies describe.",
        ),
    ],
    shared: &[],
    one_of: &[],
};
