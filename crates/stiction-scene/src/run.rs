//! How a scene is run and what is kept of it.

use crate::keys::SCHEMES;
use crate::read::Reader;
use serde::{Deserialize, Serialize};
use stiction::{
    Accuracy, AccurateMethod, Active, EventLanding, EventLocation, Level, Linearization, Midpoint, Reduction,
    RowForm, Scheme, Trapezoidal,
};
use stiction_lcp::{Chain, FrictionLaw, Lemke, Method};

/// Step size where a file names none [s].
const STEP: f64 = 0.01;

/// α of Baumgarte's stabilization where a file names none [1/s].
const ALPHA: f64 = 10.0;

/// Passes of post-stabilization of `cp03`: as many as the default scheme has.
const PASSES: usize = 6;

/// How a scene is run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) duration: f64,
    pub(crate) h: f64,
    pub(crate) scheme: Scheme,
    pub(crate) accuracy: Option<Accuracy>,
    pub(crate) record: Record,
}

/// What is kept of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Time between two samples [s]; every step if there is none.
    pub every: Option<f64>,
    /// Names of the bodies that are kept.
    pub bodies: Vec<String>,
    /// Names of the joints that are kept.
    pub joints: Vec<String>,
    /// Contacts with their impulses are kept.
    pub contacts: bool,
}

/// The names that [`scheme_named`] knows.
pub fn scheme_names() -> impl Iterator<Item = &'static str> {
    SCHEMES.iter().map(|word| word.name)
}

/// The scheme of a name as in a scene file.
pub fn scheme_named(name: &str) -> Option<Scheme> {
    Some(match name {
        "default" => Scheme::default(),
        "accurate" => Scheme::accurate(),
        "ap97" => Scheme::ap97(),
        "ah04" => Scheme::ah04(),
        "st00" => Scheme::st00(),
        "st00-nonlinear" => Scheme::st00_nonlinear(),
        "cp03" => Scheme::ap97().post_stabilized(PASSES),
        "baumgarte" => Scheme::baumgarte(ALPHA),
        "pagt06" => Scheme::pagt06(),
        _ => return None,
    })
}

impl Run {
    pub(crate) fn new(root: &Reader, bodies: &[String], joints: &[String]) -> Self {
        let run = root.table("run");
        let number = |key: &str| run.and_then(|run| run.number(key));
        Self {
            duration: number("duration").unwrap_or(0.0),
            h: number("step").unwrap_or(STEP),
            scheme: run.map_or_else(Scheme::default, |run| scheme(&run)),
            accuracy: run.as_ref().and_then(accuracy),
            record: record(root, bodies, joints),
        }
    }
}

fn record(root: &Reader, bodies: &[String], joints: &[String]) -> Record {
    let table = root.table("record");
    let names = |key: &str, what: &str, known: &[String]| {
        let Some(table) = table.filter(|table| table.has(key)) else { return known.to_vec() };
        let mut kept = Vec::new();
        for node in table.list(key) {
            let Some(text) = node.text() else { continue };
            let copy = |name: &&String| name.strip_prefix(text).is_some_and(|rest| rest.starts_with('['));
            let found: Vec<_> = known.iter().filter(|name| *name == text || copy(name)).cloned().collect();
            if found.is_empty() {
                let shown: String = text.chars().take(100).collect();
                let finding =
                    crate::diagnostic::Finding::error(&node.span, format!("there is no {what} `{shown}`"));
                root.context.add(finding.nearest(text, known.iter().map(String::as_str)));
            }
            kept.extend(found);
        }
        kept
    };
    Record {
        every: table.and_then(|table| table.number("every")),
        bodies: names("bodies", "body", bodies),
        joints: names("joints", "joint", joints),
        contacts: table.and_then(|table| table.flag("contacts")).unwrap_or(true),
    }
}

fn accuracy(run: &Reader) -> Option<Accuracy> {
    let Some(table) = run.table("accuracy") else { return run.number("accuracy").map(Accuracy::of) };
    let usual = Accuracy::of(table.number("tolerance")?);
    let method = match table.text("method") {
        Some("trapezoidal") => AccurateMethod::Trapezoidal,
        Some("dormand-prince") => AccurateMethod::DormandPrince,
        Some("dormand-prince-eight") => AccurateMethod::DormandPrinceEight,
        _ => usual.method,
    };
    Some(Accuracy {
        method,
        first_step: table.number("first_step").unwrap_or(usual.first_step),
        largest_step: table.number("largest_step").unwrap_or(usual.largest_step),
        event_limit: table.count("event_limit").unwrap_or(usual.event_limit),
        step_limit: table.count("step_limit").unwrap_or(usual.step_limit),
        ..usual
    })
}

fn scheme(run: &Reader) -> Scheme {
    let Some(table) = run.table("scheme") else {
        // steps that follow an accuracy are those of the accurate scheme
        let usual = if run.has("accuracy") { "accurate" } else { "default" };
        return scheme_named(run.text("scheme").unwrap_or(usual)).unwrap_or_default();
    };
    let mut scheme = table.text("name").and_then(scheme_named).unwrap_or_default();
    let number = |key: &str, to: &mut f64| *to = table.number(key).unwrap_or(*to);
    let flag = |key: &str, to: &mut bool| *to = table.flag(key).unwrap_or(*to);
    number("tolerance", &mut scheme.solver.tolerance);
    number("loosest", &mut scheme.solver.loosest);
    match table.text("method") {
        Some("chain") => scheme.solver.method = Method::Chain(Chain::default()),
        Some("lemke") => scheme.solver.method = Method::Lemke(Lemke::default()),
        _ => {}
    }
    flag("implicit_springs", &mut scheme.implicit_springs);
    flag("implicit_gyroscopic", &mut scheme.implicit_gyroscopic);
    scheme.passes = table.count("passes").unwrap_or(scheme.passes);
    scheme.restitution_speed = table.number("restitution_speed").or(scheme.restitution_speed);
    if let Some(law) = table.text("friction_law") {
        scheme.friction = if law == "convex" { FrictionLaw::Convex } else { FrictionLaw::Coulomb };
    }
    if let Some(band) = table.number("band") {
        scheme.active = Active::Band(band);
    }
    match table.text("reduction") {
        Some("off") => scheme.reduction = Reduction::Off,
        Some("proven") => scheme.reduction = Reduction::Proven,
        _ => {}
    }
    if let Some(limit) = table.count("contact_limit") {
        scheme.reduction = Reduction::Limit(limit);
    }
    match &mut scheme.level {
        Level::Stabilized { gamma, everywhere } => {
            number("gamma", gamma);
            flag("everywhere", everywhere);
            if *gamma > 1.0 {
                table.error(&table.span("gamma"), format!("{gamma} must be at most 1"));
            }
        }
        Level::Baumgarte { alpha } => number("alpha", alpha),
        Level::Trapezoidal(settings) => trapezoidal(&table, settings),
        Level::Velocity | Level::Position { .. } => {}
    }
    scheme
}

fn trapezoidal(table: &Reader, settings: &mut Trapezoidal) {
    let form = |key: &str, to: &mut RowForm| match table.text(key) {
        Some("end") => *to = RowForm::End,
        Some("mean") => *to = RowForm::Mean,
        Some("curved") => *to = RowForm::Curved,
        _ => {}
    };
    form("joint_rows", &mut settings.rows.joints);
    form("lasting_rows", &mut settings.rows.persistent_contacts);
    form("fresh_rows", &mut settings.rows.new_contacts);
    form("friction_rows", &mut settings.rows.friction);
    match table.text("middle") {
        Some("tangent") => settings.middle = Midpoint::Tangent,
        Some("ahead") => settings.middle = Midpoint::Ahead,
        _ => {}
    }
    match table.text("locate") {
        Some("nothing") => settings.locate = EventLocation::Nothing,
        Some("impacts") => settings.locate = EventLocation::Impacts,
        Some("everything") => settings.locate = EventLocation::Everything,
        _ => {}
    }
    match table.text("landing") {
        Some("step") => settings.landing = EventLanding::Step,
        Some("interpolant") => settings.landing = EventLanding::Interpolant,
        _ => {}
    }
    match table.text("linearization") {
        Some("exact") => settings.linearization = Linearization::Exact,
        Some("definite") => settings.linearization = Linearization::Definite,
        _ => {}
    }
    settings.stabilization = table.number("stabilization").unwrap_or(settings.stabilization);
    settings.energy_safe = table.flag("energy_safe").unwrap_or(settings.energy_safe);
    settings.printed_decompression =
        table.flag("printed_decompression").unwrap_or(settings.printed_decompression);
    settings.event_limit = table.count("event_limit").unwrap_or(settings.event_limit);
}
