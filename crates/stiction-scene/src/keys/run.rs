//! The world as a whole, how it is run and what is kept.

use super::{ABOVE_0, AT_LEAST_0, Kind, Table, VECTOR, Word, may, must, word};

const FRICTION_POINTS: &[Word] = &[
    word(
        "common",
        "At one point for both bodies, halfway between the surfaces: angular momentum is kept exactly.",
    ),
    word("surface", "At each body's own surface."),
];

const DEPTHS: &[Word] = &[
    word("ratio", "By the ratio metric, as many contacts as two bodies have."),
    word("minkowski", "By the signed distance, one contact per pair: to compare with."),
];

const FACETS: Table = Table {
    name: "facets",
    doc: "A polygon in place of the friction circle.",
    fields: &[
        may("directions", Kind::Integer(4, 64), "Number of directions, even. Default 8."),
        may("aligned", Kind::Flag, "The first direction is along the slip. Default true."),
    ],
    shared: &[],
    one_of: &[],
};

pub(super) const WORLD: Table = Table {
    name: "world",
    doc: "What holds everywhere.",
    fields: &[
        may("gravity", VECTOR, "Gravity [m/s²]. Default: 9.81 along −y in the plane and −z in space."),
        may("time", Kind::Number(super::ANY), "Time at the start [s]. Default 0."),
        may(
            "friction_point",
            Kind::Choice(FRICTION_POINTS),
            "Where friction acts while surfaces are apart or overlap.",
        ),
        may("depth", Kind::Choice(DEPTHS), "How the gap between polygons, boxes and polyhedra is measured."),
        may("allow_overlap", Kind::Flag, "Shapes that overlap at the start are no mistake. Default false."),
        may("facets", Kind::Table(&FACETS), "A polygon in place of the friction circle. Default: none.")
            .space(),
    ],
    shared: &[],
    one_of: &[],
};

/// The schemes by their names.
pub(crate) const SCHEMES: &[Word] = &[
    word("default", "ah04 followed by post-stabilization: for many bodies in contact."),
    word("accurate", "Second order with every event located: for few bodies in contact at a time."),
    word("ap97", "First order, velocities only."),
    word("ah04", "First order, constraint-stabilized."),
    word("st00", "First order, positions at the end of the step, linearized."),
    word("st00-nonlinear", "First order, positions at the end of the step, iterated."),
    word("cp03", "ap97 followed by post-stabilization."),
    word("baumgarte", "First order with Baumgarte's stabilization, `alpha`."),
    word("pagt06", "The linearly implicit trapezoidal method with located events, of second order."),
];

const LAWS: &[Word] = &[
    word("coulomb", "Coulomb's law."),
    word("convex", "Its convex relaxation, in which sliding bodies lift off."),
];
const REDUCTIONS: &[Word] = &[
    word("off", "No contact is left out."),
    word("proven", "Contacts that follow from others are left out, each with its proof."),
];
const METHODS: &[Word] = &[
    word("chain", "The structured methods, island by island; small problems are pivoted."),
    word("lemke", "Lemke's method on the dense problem."),
];
const FORMS: &[Word] = &[
    word("end", "At the end of the step."),
    word("mean", "In the mean of its ends."),
    word("curved", "At the end, with the curvature of the row."),
];
const MIDDLES: &[Word] =
    &[word("tangent", "Along the rows that hold."), word("ahead", "Along the velocity, as PAGT06 has it.")];
const LOCATES: &[Word] = &[
    word("nothing", "Nothing."),
    word("impacts", "Impacts."),
    word("everything", "Impacts, take-offs, and changes between sticking and slipping."),
];
const LANDINGS: &[Word] = &[
    word("step", "By a step that ends there."),
    word("interpolant", "On the cubic through both ends of the step."),
];
const LINEARIZATIONS: &[Word] = &[
    word("exact", "Exactly, for second order."),
    word("definite", "By the part that keeps any step stable: first order."),
];

const SCHEME: Table = Table {
    name: "scheme",
    doc: "A scheme with settings of its own.",
    fields: &[
        must("name", Kind::Choice(SCHEMES), "The scheme whose settings count where none are given here."),
        may(
            "tolerance",
            ABOVE_0,
            "Largest residual of a certified answer, without units: from 1e-12 to 1e-6.",
        ),
        may(
            "loosest",
            AT_LEAST_0,
            "Largest residual of an answer that is taken all the same, and said so; 0 for none.",
        ),
        may("method", Kind::Choice(METHODS), "How step problems are solved."),
        may(
            "gamma",
            ABOVE_0,
            "γ of ah04, above 0 and at most 1: the part of an error that a step takes back.",
        ),
        may("everywhere", Kind::Flag, "γ applies to separated contacts too."),
        may("alpha", AT_LEAST_0, "α of baumgarte [1/s]."),
        may("passes", Kind::Integer(0, 1000), "Passes of post-stabilization after a step at most."),
        may("implicit_springs", Kind::Flag, "Springs and dampers are taken at the end of the step."),
        may("implicit_gyroscopic", Kind::Flag, "The gyroscopic force is taken at the end of the step."),
        may("friction_law", Kind::Choice(LAWS), "Coulomb's law or its convex relaxation."),
        may(
            "band",
            AT_LEAST_0,
            "All contacts with a gap of at most this are rows [m]; by default those that could close.",
        ),
        may("reduction", Kind::Choice(REDUCTIONS), "Which contacts are left out."),
        may("contact_limit", Kind::Integer(1, 1000), "Contacts of every two bodies at most, without proof."),
        may(
            "restitution_speed",
            AT_LEAST_0,
            "Approach speed above which restitution acts [m/s]. Default 2‖g‖h.",
        ),
        may("joint_rows", Kind::Choice(FORMS), "Where rows of joints hold, of pagt06."),
        may("lasting_rows", Kind::Choice(FORMS), "Where normals of lasting contacts hold, of pagt06."),
        may("fresh_rows", Kind::Choice(FORMS), "Where normals of other contacts hold, of pagt06."),
        may("friction_rows", Kind::Choice(FORMS), "Where friction holds, of pagt06."),
        may("middle", Kind::Choice(MIDDLES), "Where rows are taken, of pagt06."),
        may("locate", Kind::Choice(LOCATES), "What is located within a step, of pagt06."),
        may("landing", Kind::Choice(LANDINGS), "How a located event is reached, of pagt06."),
        may("linearization", Kind::Choice(LINEARIZATIONS), "How forces are linearized, of pagt06."),
        may("stabilization", AT_LEAST_0, "α of a term αΘ/h in the rows of joints, of pagt06."),
        may("energy_safe", Kind::Flag, "Restitution is reduced where it would add energy, of pagt06."),
        may("printed_decompression", Kind::Flag, "Decompression as PAGT06 (7.9) has it."),
        may("event_limit", Kind::Integer(1, 1_000_000), "Events within a step at most, of pagt06."),
    ],
    shared: &[],
    one_of: &[&["reduction", "contact_limit"]],
};

const ACCURATE: &[Word] = &[
    word("automatic", "Chosen from the tolerance and the forces."),
    word("trapezoidal", "Doubled trapezoidal steps, third order: for stiff forces."),
    word("dormand-prince", "The explicit method of Dormand and Prince, fifth order."),
    word("dormand-prince-eight", "The one of eighth order."),
];

const ACCURACY: Table = Table {
    name: "accuracy",
    doc: "An accuracy with settings of its own.",
    fields: &[
        must("tolerance", ABOVE_0, "Largest error of a step [m, rad, m/s, rad/s]: from 1e-10 to 1e-2."),
        may("method", Kind::Choice(ACCURATE), "How steps are made. Default: automatic."),
        may("first_step", ABOVE_0, "The first step [s]. Default 1e-3."),
        may("largest_step", ABOVE_0, "The largest step [s]. Default 0.1."),
        may("event_limit", Kind::Integer(1, 1_000_000_000), "Events at most. Default 100000."),
        may("step_limit", Kind::Integer(1, 1_000_000_000_000), "Steps at most. Default 10000000."),
    ],
    shared: &[],
    one_of: &[],
};

pub(super) const RUN: Table = Table {
    name: "run",
    doc: "How the scene is run.",
    fields: &[
        must("duration", AT_LEAST_0, "How long [s]."),
        may("step", ABOVE_0, "Step size h [s]. Default 0.01."),
        may(
            "scheme",
            Kind::Either(&Kind::Choice(SCHEMES), &Kind::Table(&SCHEME)),
            "How steps are made, by name or with settings. Default: default, with an `accuracy` accurate.",
        ),
        may(
            "accuracy",
            Kind::Either(&ABOVE_0, &Kind::Table(&ACCURACY)),
            "Largest error of a step [m, rad, m/s, rad/s]: steps are then as large as it allows, in place of `step`.",
        ),
    ],
    shared: &[],
    one_of: &[],
};

pub(super) const RECORD: Table = Table {
    name: "record",
    doc: "What is kept of a run.",
    fields: &[
        may("every", ABOVE_0, "Time between two samples [s]. Default: every step."),
        may("bodies", Kind::List(&Kind::Text), "Names of the bodies that are kept. Default: all."),
        may("joints", Kind::List(&Kind::Text), "Names of the joints that are kept. Default: all."),
        may("contacts", Kind::Flag, "Contacts with their impulses are kept. Default true."),
    ],
    shared: &[],
    one_of: &[],
};
