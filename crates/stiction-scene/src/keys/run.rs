//! Keys of the world, the run and its recording.

use super::{
    ABOVE_0, AT_LEAST_0, ChoiceWord, NOT_NEGATIVE, NumberRange, Table, VECTOR, ValueKind, optional, required,
    table, word,
};
use stiction::Scheme;

const FRICTION_POINTS: &[ChoiceWord] = &[
    word(
        "common",
        "At one point for both bodies, halfway between the surfaces: conserves angular momentum exactly.",
    ),
    word("surface", "At the surface of each body."),
];

const DEPTHS: &[ChoiceWord] = &[
    word("ratio", "Ratio metric, with as many contacts as two bodies have."),
    word("minkowski", "Signed distance with one contact per pair, for comparison."),
];

const FACETS: Table = table(
    "facets",
    "Friction polygon, instead of the friction circle.",
    &[
        optional("directions", ValueKind::Integer(4, 64), "Number of directions, even. Default 8."),
        optional("aligned", ValueKind::Flag, "true: the first direction is along the slip. Default true."),
    ],
);

pub(super) const WORLD: Table = table(
    "world",
    "Settings of the whole world.",
    &[
        optional("gravity", VECTOR, "Gravity [m/s²]. Default: 9.81 along −y in the plane and −z in space."),
        optional("time", ValueKind::Number(super::ANY), "Time at the start [s]. Default 0."),
        optional(
            "friction_point",
            ValueKind::Choice(FRICTION_POINTS),
            "Point at which friction acts while surfaces are apart or overlap.",
        ),
        optional(
            "depth",
            ValueKind::Choice(DEPTHS),
            "Measure of the gap between polygons, boxes and polyhedra.",
        ),
        optional("allow_overlap", ValueKind::Flag, "true: shapes may overlap at the start. Default false."),
        optional(
            "facets",
            ValueKind::Table(&FACETS),
            "Friction polygon, instead of the friction circle. Default: none.",
        )
        .space(),
    ],
);

/// Names of the schemes.
pub(crate) const SCHEMES: &[ChoiceWord] = &[
    word(
        "default",
        "Second order with one problem per step, every impulse at its own time: for any number of bodies.",
    ),
    word("first-order", "ah04 followed by post-stabilization."),
    word("accurate", "Second order with located events: for few bodies in contact at a time."),
    word("ap97", "First order, constraints on velocities only."),
    word("ah04", "First order, constraint-stabilized."),
    word("st00", "First order, constraints on positions at the end of the step, linearized."),
    word("st00-nonlinear", "First order, constraints on positions at the end of the step, iterated."),
    word("cp03", "ap97 followed by post-stabilization."),
    word("baumgarte", "First order with Baumgarte's stabilization, `alpha`."),
    word("pagt06", "Linearly implicit trapezoidal method with located events, second order."),
    word(EARLIER_NAME, "Earlier name of `default`."),
];

/// Earlier name of the scheme `default`, when `default` was the scheme `first-order`.
pub(crate) const EARLIER_NAME: &str = "timed";

const LAWS: &[ChoiceWord] = &[
    word("coulomb", "Coulomb's law."),
    word("convex", "Convex relaxation of Coulomb's law, in which sliding bodies lift off."),
];
const REDUCTIONS: &[ChoiceWord] = &[
    word("off", "No contact is left out."),
    word("proven", "Redundant contacts are left out, each with a proof."),
];
const METHODS: &[ChoiceWord] = &[
    word("chain", "Structured methods, island by island; small problems are solved by pivoting."),
    word("lemke", "Lemke's method on the dense problem."),
];
const FORMS: &[ChoiceWord] = &[
    word("end", "At the end of the step."),
    word("mean", "At the mean of start and end."),
    word("curved", "At the end, with the curvature of the row."),
];
const MIDDLES: &[ChoiceWord] =
    &[word("tangent", "Along the active rows."), word("ahead", "Along the velocity, as in PAGT06.")];
const AXES: &[ChoiceWord] = &[
    word("body", "Of each body, as in PAGT06."),
    word("without-spin", "Without the spin of round bodies: of second order at any spin."),
];
const PROJECTIONS: &[ChoiceWord] = &[
    word("events", "States at events, as in PAGT06."),
    word("steps", "States at events and at the end of each step."),
];
const LOCATES: &[ChoiceWord] = &[
    word("nothing", "No events."),
    word("impacts", "Impacts."),
    word("everything", "Impacts, take-offs, and changes between sticking and slipping."),
];
const LANDINGS: &[ChoiceWord] = &[
    word("step", "By a shorter step that ends at the event."),
    word("interpolant", "On the cubic interpolant of the step."),
];
const LINEARIZATIONS: &[ChoiceWord] = &[
    word("exact", "Exactly, for second order."),
    word("definite", "By the definite part, which keeps any step stable: first order."),
];

const TOLERANCE: ValueKind = ValueKind::Number(NumberRange {
    min: Scheme::TOLERANCES[0],
    above: false,
    max: Scheme::TOLERANCES[1],
    infinite: false,
});
const LOOSEST: ValueKind = ValueKind::Number(NumberRange { max: Scheme::MAX_LOOSEST, ..NOT_NEGATIVE });

const SCHEME: Table = table("scheme", "Scheme with changed settings.", &[
        required("name", ValueKind::Choice(SCHEMES), "Scheme that the settings start from."),
        optional(
            "tolerance",
            TOLERANCE,
            "Largest dimensionless residual of a certified solution, from 1e-12 to 1e-6.",
        ),
        optional(
            "loosest",
            LOOSEST,
            "Largest residual of a solution that is accepted where neither a step nor its halves reach the tolerance, and reported as loose. Default: none.",
        ),
        optional(
            "halvings",
            ValueKind::Integer(0, 10),
            "Number of times a step may be halved where it does not reach the tolerance. Default 6.",
        ),
        optional("method", ValueKind::Choice(METHODS), "Solution method of step problems."),
        optional(
            "gamma",
            ABOVE_0,
            "γ of ah04, above 0 and at most 1: fraction of a position error that a step corrects.",
        ),
        optional("everywhere", ValueKind::Flag, "true: γ also applies to open contacts."),
        optional("alpha", AT_LEAST_0, "α of baumgarte [1/s]."),
        optional(
            "passes",
            ValueKind::Integer(0, 1000),
            "Largest number of post-stabilization passes after a step.",
        ),
        optional(
            "implicit_springs",
            ValueKind::Flag,
            "true: springs and dampers act at the end of the step.",
        ),
        optional(
            "implicit_gyroscopic",
            ValueKind::Flag,
            "true: the gyroscopic force acts at the end of the step.",
        ),
        optional("friction_law", ValueKind::Choice(LAWS), "Coulomb's law or its convex relaxation."),
        optional(
            "band",
            AT_LEAST_0,
            "Contacts with a gap up to this are in the step problem [m]. Default: those that could close.",
        ),
        optional(
            "reduction",
            ValueKind::Choice(REDUCTIONS),
            "Contacts that are left out of the step problem.",
        ),
        optional(
            "contact_limit",
            ValueKind::Integer(1, 1000),
            "Largest number of contacts of two bodies; others are left out without proof.",
        ),
        optional(
            "restitution_speed",
            AT_LEAST_0,
            "Approach speed above which restitution acts [m/s]. Default 2‖g‖h.",
        ),
        optional("joint_rows", ValueKind::Choice(FORMS), "Time at which joint rows hold, of pagt06."),
        optional(
            "lasting_rows",
            ValueKind::Choice(FORMS),
            "Time at which normal rows of lasting contacts hold, of pagt06.",
        ),
        optional(
            "fresh_rows",
            ValueKind::Choice(FORMS),
            "Time at which normal rows of new contacts hold, of pagt06.",
        ),
        optional("friction_rows", ValueKind::Choice(FORMS), "Time at which friction rows hold, of pagt06."),
        optional(
            "middle",
            ValueKind::Choice(MIDDLES),
            "Configuration at which rows are evaluated, of pagt06.",
        ),
        optional("axes", ValueKind::Choice(AXES), "Axes of angular velocities in a substep, of pagt06."),
        optional("projection", ValueKind::Choice(PROJECTIONS), "States that are projected onto joints and contacts: at events, or after all steps."),
        optional("locate", ValueKind::Choice(LOCATES), "Events that are located within a step, of pagt06."),
        optional(
            "landing",
            ValueKind::Choice(LANDINGS),
            "Method by which a located event is reached, of pagt06.",
        ),
        optional("linearization", ValueKind::Choice(LINEARIZATIONS), "Linearization of forces, of pagt06."),
        optional("stabilization", AT_LEAST_0, "α of a term αΘ/h in joint rows, of pagt06."),
        optional(
            "energy_safe",
            ValueKind::Flag,
            "true: restitution is reduced where it would add energy, of pagt06.",
        ),
        optional("printed_decompression", ValueKind::Flag, "true: decompression as printed in PAGT06 (7.9)."),
        optional(
            "event_limit",
            ValueKind::Integer(1, 1_000_000),
            "Largest number of events within a step, of pagt06.",
        ),
    ]).one_of(&[&["reduction", "contact_limit"]]);

const ACCURATE: &[ChoiceWord] = &[
    word("automatic", "Chosen by the tolerance and the stiffness of the forces."),
    word("trapezoidal", "Doubled trapezoidal steps, third order: for stiff forces."),
    word("dormand-prince", "Explicit method of Dormand and Prince, fifth order."),
    word("dormand-prince-eight", "Explicit method of Dormand and Prince, eighth order."),
];

const ACCURACY: Table = table(
    "accuracy",
    "Accuracy with changed settings.",
    &[
        required("tolerance", ABOVE_0, "Error tolerance of a step [m, rad, m/s, rad/s], from 1e-10 to 1e-2."),
        optional("method", ValueKind::Choice(ACCURATE), "Integration method. Default: automatic."),
        optional("first_step", ABOVE_0, "First step size [s]. Default 1e-3."),
        optional("largest_step", ABOVE_0, "Largest step size [s]. Default 0.1."),
        optional("event_limit", ValueKind::Integer(1, 1_000_000_000), "Event limit. Default 100000."),
        optional("step_limit", ValueKind::Integer(1, 1_000_000_000_000), "Step limit. Default 10000000."),
    ],
);

pub(super) const RUN: Table = table(
    "run",
    "Settings of the run.",
    &[
        required("duration", AT_LEAST_0, "Duration [s]."),
        optional("step", ABOVE_0, "Step size h [s]. Default 0.01."),
        optional(
            "scheme",
            ValueKind::Either(&ValueKind::Choice(SCHEMES), &ValueKind::Table(&SCHEME)),
            "Scheme of fixed steps, by name or with settings. Default: default. Beside `accuracy` only \"accurate\" with tolerance, loosest, method and restitution_speed.",
        ),
        optional(
            "accuracy",
            ValueKind::Either(&ABOVE_0, &ValueKind::Table(&ACCURACY)),
            "Error tolerance of a step [m, rad, m/s, rad/s]: adaptive steps, instead of fixed ones. `step` is then the time between records.",
        ),
    ],
);

pub(super) const RECORD: Table = table(
    "record",
    "Settings of the recording.",
    &[
        optional("every", ABOVE_0, "Time between two samples [s]. Default: every step."),
        optional("bodies", ValueKind::List(&ValueKind::Text), "Names of the recorded bodies. Default: all."),
        optional("joints", ValueKind::List(&ValueKind::Text), "Names of the recorded joints. Default: all."),
        optional(
            "contacts",
            ValueKind::Flag,
            "true: contacts and their impulses are recorded. Default true.",
        ),
    ],
);
