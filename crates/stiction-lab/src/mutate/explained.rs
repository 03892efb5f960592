//! Reasons why changes of some fields are not noticed. The book lists them (`book/src/runs.md`).

/// Changes within the tolerance of a check.
const WITHIN: &[&str] = &["small"];

/// Changes of residuals that stay below the tolerance: the residuals themselves are round-off.
const RESIDUAL: &[&str] = &["small", "negative", "zero", "× 3"];

/// Fields by the beginning and the end of their path, the changes of them that are explained (all if empty), and why.
const EXPLAINED: &[(&str, &str, &[&str], &str)] = &[
    ("header.program", "", &[], "the name of the program: no result depends on it"),
    ("header.name", "", &[], "the name of the scene file: no result depends on it"),
    (
        "header.scene: duration",
        "",
        &[],
        "the header has the end time of the run; both are printed where they differ",
    ),
    ("header.scene: step", "", &[], "the header has the step size of the run"),
    ("header.scene: accuracy", "", &[], "the header has the accuracy of the run"),
    ("header.accuracy.event_limit", "", &[], "a limit that the run does not reach"),
    ("header.accuracy.step_limit", "", &[], "a limit that the run does not reach"),
    ("report.work.", "", &[], "the work of solvers is not checked"),
    (
        "report.evidence.",
        "",
        &[],
        "evidence is a witness and no claim: the equations hold with the changed one too",
    ),
    ("report.certificate.contacts", "", &["empty"], "older formats have no residuals of each contact"),
    ("state.memory.active[].direction", "", &[], "the next step turns directions against the slip itself"),
    ("report.certificate.speed", "", &[], "the scale of the worst of several certificates"),
    ("report.second_order.solves", "", &[], "the work of solvers is not checked"),
    ("report.second_order.forced", "", &[], "the work of solvers is not checked"),
    ("report.second_order.refused", "", &[], "the work of solvers is not checked"),
    ("report.second_order.slack", "", &[], "the smallest event function is not checked"),
    ("report.second_order.definite", "", &[], "of the last trial, which need not be that of a substep"),
    ("report.second_order.cut", "", &[], "location may stop at the end of a step, where no substep shows it"),
    ("report.second_order.projected", "", WITHIN, "within the round-off of the energy"),
    ("accuracy.solves", "", &[], "the work of solvers is not checked"),
    ("accuracy.rejections", "", &[], "rejected steps are not recorded"),
    ("accuracy.forced", "", &[], "the work of solvers is not checked"),
    ("accuracy.order", "", &[], "the observed order is not checked"),
    ("accuracy.certificate", "", RESIDUAL, "residuals are compared up to the tolerance"),
    ("accuracy.penetration", "", RESIDUAL, "penetrations are compared up to the round-off of positions"),
    (
        "report.certificate.complementarity",
        "",
        &[],
        "energies of certificates of several problems are not compared",
    ),
    (
        "report.certificate.dissipation",
        "",
        &[],
        "energies of certificates of several problems are not compared",
    ),
    (
        "report.ledger.",
        "",
        RESIDUAL,
        "entries of the ledger are compared up to the round-off of the energies",
    ),
    ("report.certificate.", "", RESIDUAL, "residuals are compared up to the tolerance"),
    ("report.infeasibility", "", RESIDUAL, "penetrations are compared up to the round-off of positions"),
    ("report.stabilization.before", "", WITHIN, "penetrations are compared up to the round-off of positions"),
    ("report.intervals", "", &[], "whether impulses are determined, and their intervals, is not checked"),
    ("report.contacts[].determined", "", &[], "whether impulses are determined is not checked"),
    ("report.joints[].determined", "", &[], "whether impulses are determined is not checked"),
    (
        "report.dropped[].combination",
        "",
        &[],
        "proofs of redundancy are not checked: the contacts are judged themselves",
    ),
    ("state.memory.cache", "", &[], "starts of contact searches: what is found does not depend on them"),
    ("state.memory.h", "", &[], "the step size with which a run to an accuracy goes on"),
];

/// Explanation why changes of a field are not noticed, if all of them have one.
pub(super) fn explanation(field: &str, changes: &[&'static str]) -> Option<&'static str> {
    let fits = |(start, end, names, _): &&(&str, &str, &[&str], &str)| {
        field.starts_with(start)
            && field.ends_with(end)
            && (names.is_empty() || changes.iter().all(|change| names.contains(change)))
    };
    EXPLAINED.iter().find(fits).map(|(_, _, _, why)| *why)
}
