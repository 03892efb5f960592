//! Run settings of a scene: scheme, step size or accuracy, duration and recording.

use crate::diagnostic::Finding;
use crate::keys::{EARLIER_NAME, SCHEMES};
use crate::node::Entry;
use crate::read::Reader;
use serde::{Deserialize, Serialize};
use stiction::{
    Accuracy, AccurateMethod, Active, EventLanding, EventLocation, Level, Linearization, Midpoint, Reduction,
    RowForm, Scheme, StateProjection, SubstepAxes, Trapezoidal,
};
use stiction_lcp::{Chain, FrictionLaw, Lemke, Method, Solver};

/// Default step size [s].
const DEFAULT_STEP: f64 = 0.01;

/// Largest number of steps of a run: at 10 µs each they take four months.
pub const STEP_LIMIT: f64 = 1e12;

/// Default α of Baumgarte's stabilization [1/s]: a position error decays within 1/α. Stable for α h below 2.
const DEFAULT_ALPHA: f64 = 10.0;

/// Post-stabilization passes of `cp03`, as many as in the schemes `default` and `first-order`.
const CP03_PASSES: usize = 6;

/// Run settings of a scene.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunSettings {
    pub(crate) duration: f64,
    pub(crate) h: f64,
    pub(crate) scheme: Scheme,
    pub(crate) accuracy: Option<Accuracy>,
    pub(crate) record: RecordSettings,
    /// Settings of a scheme that the run would ignore.
    pub(crate) ignored: Vec<Finding>,
}

/// Recording settings of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordSettings {
    /// Time between two samples [s]; `None` records every step.
    pub every: Option<f64>,
    /// Names of the recorded bodies.
    pub bodies: Vec<String>,
    /// Names of the recorded joints.
    pub joints: Vec<String>,
    /// `true` to record contacts and their impulses.
    pub contacts: bool,
}

/// Names of all schemes of [`scheme_named`], without earlier names.
pub fn scheme_names() -> impl Iterator<Item = &'static str> {
    SCHEMES.iter().map(|word| word.name).filter(|name| *name != EARLIER_NAME)
}

/// Scheme with a name, as in a scene file.
pub fn scheme_named(name: &str) -> Option<Scheme> {
    Some(match name {
        "default" | "timed" => Scheme::default(),
        "first-order" => Scheme::first_order(),
        "accurate" => Scheme::accurate(),
        "ap97" => Scheme::ap97(),
        "ah04" => Scheme::ah04(),
        "st00" => Scheme::st00(),
        "st00-nonlinear" => Scheme::st00_nonlinear(),
        "cp03" => Scheme::ap97().post_stabilized(CP03_PASSES),
        "baumgarte" => Scheme::baumgarte(DEFAULT_ALPHA),
        "pagt06" => Scheme::pagt06(),
        _ => return None,
    })
}

/// Scheme that the settings of this one gave when `default` was the scheme `first-order`: journals of that time hold it.
/// `None` where the settings meant the same.
pub fn earlier_scheme(scheme: &Scheme) -> Option<Scheme> {
    let (default, first) = (Scheme::default(), Scheme::first_order());
    let method = if scheme.solver.method == default.solver.method {
        first.solver.method
    } else {
        scheme.solver.method
    };
    let solver = Solver { method, ..scheme.solver };
    (scheme.level == default.level).then_some(Scheme { level: first.level, solver, ..*scheme })
}

impl RunSettings {
    pub(crate) fn new(root: &Reader, bodies: &[String], joints: &[String]) -> Self {
        let run = root.table("run");
        let number = |key: &str| run.and_then(|run| run.number(key));
        let (duration, h) = (number("duration").unwrap_or(0.0), number("step").unwrap_or(DEFAULT_STEP));
        if let Some(run) = run.filter(|_| duration / h > STEP_LIMIT) {
            let message = format!(
                "{duration} s in steps of {h} s are more than {STEP_LIMIT:e} steps; write a larger step or a shorter \
                 duration"
            );
            run.error(&run.span(if run.has("step") { "step" } else { "duration" }), message);
        }
        Self {
            duration,
            h,
            scheme: run.map_or_else(Scheme::default, |run| scheme(&run)),
            accuracy: run.as_ref().and_then(accuracy),
            record: record(root, bodies, joints),
            ignored: run.as_ref().map(ignored_scheme).unwrap_or_default(),
        }
    }
}

fn record(root: &Reader, bodies: &[String], joints: &[String]) -> RecordSettings {
    let table = root.table("record");
    let names = |key: &str, noun: &str, known: &[String]| {
        let Some(table) = table.filter(|table| table.has(key)) else { return known.to_vec() };
        let mut kept = Vec::new();
        for node in table.list(key) {
            let Some(text) = node.text() else { continue };
            let copy = |name: &&String| name.strip_prefix(text).is_some_and(|rest| rest.starts_with('['));
            let found: Vec<_> = known.iter().filter(|name| *name == text || copy(name)).cloned().collect();
            if found.is_empty() {
                let shown: String = text.chars().take(100).collect();
                let finding = Finding::error(&node.span, format!("there is no {noun} `{shown}`"));
                root.context.add_with_nearest(finding, text, known.iter().map(String::as_str));
            }
            kept.extend(found);
        }
        kept
    };
    RecordSettings {
        every: table.and_then(|table| table.number("every")),
        bodies: names("bodies", "body", bodies),
        joints: names("joints", "joint", joints),
        contacts: table.and_then(|table| table.flag("contacts")).unwrap_or(true),
    }
}

fn accuracy(run: &Reader) -> Option<Accuracy> {
    let Some(table) = run.table("accuracy") else { return run.number("accuracy").map(Accuracy::of) };
    let default = Accuracy::of(table.number("tolerance")?);
    let method = match table.text("method") {
        Some("trapezoidal") => AccurateMethod::Trapezoidal,
        Some("dormand-prince") => AccurateMethod::DormandPrince,
        Some("dormand-prince-eight") => AccurateMethod::DormandPrinceEight,
        _ => default.method,
    };
    Some(Accuracy {
        method,
        first_step: table.number("first_step").unwrap_or(default.first_step),
        largest_step: table.number("largest_step").unwrap_or(default.largest_step),
        event_limit: table.count("event_limit").unwrap_or(default.event_limit),
        step_limit: table.count("step_limit").unwrap_or(default.step_limit),
        ..default
    })
}

/// Keys of a scheme that a run to an accuracy uses.
const KEYS_WITH_ACCURACY: [&str; 5] = ["name", "tolerance", "loosest", "method", "restitution_speed"];

/// Errors of a scheme beside an accuracy that would ignore it: another scheme than `accurate`, or other settings of it.
fn ignored_scheme(run: &Reader) -> Vec<Finding> {
    if !(run.has("accuracy") && run.has("scheme")) {
        return Vec::new();
    }
    let table = run.table("scheme");
    let name = table.map_or_else(|| run.text("scheme"), |table| table.text("name"));
    let name = name.unwrap_or("default");
    let located = [Scheme::accurate(), Scheme::pagt06()];
    if scheme_named(name).is_some_and(|scheme| !located.contains(&scheme)) {
        let message = format!(
            "a run to an accuracy does not use the scheme `{name}`; remove `scheme`, write \"accurate\", or remove \
             `accuracy` to make fixed steps"
        );
        return vec![Finding::error(&run.span("scheme"), message)];
    }
    let entries = table.map_or(&[][..], |table| table.node.entries()).iter();
    let unused = entries.filter(|entry| !KEYS_WITH_ACCURACY.contains(&entry.key.as_str()));
    let error = |entry: &Entry| {
        let message = format!(
            "a run to an accuracy does not use `{}` of a scheme; remove it, or remove `accuracy` to make fixed steps",
            entry.key
        );
        Finding::error(&entry.span, message)
    };
    unused.map(error).collect()
}

fn scheme(run: &Reader) -> Scheme {
    let Some(table) = run.table("scheme") else {
        // a run to an accuracy uses the accurate scheme
        let default = if run.has("accuracy") { "accurate" } else { "default" };
        return scheme_named(run.text("scheme").unwrap_or(default)).unwrap_or_default();
    };
    let mut scheme = table.text("name").and_then(scheme_named).unwrap_or_default();
    let number = |key: &str, to: &mut f64| *to = table.number(key).unwrap_or(*to);
    let flag = |key: &str, to: &mut bool| *to = table.flag(key).unwrap_or(*to);
    number("tolerance", &mut scheme.solver.tolerance);
    number("loosest", &mut scheme.solver.loosest);
    let halvings = table.count("halvings").and_then(|n| u8::try_from(n).ok());
    scheme.halvings = halvings.unwrap_or(scheme.halvings);
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
                table.error(&table.span("gamma"), format!("gamma must be at most 1, found {gamma}"));
            }
        }
        Level::Baumgarte { alpha } => number("alpha", alpha),
        Level::Trapezoidal(settings) => trapezoidal(&table, settings),
        Level::Velocity | Level::Position { .. } | Level::Timed => {}
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
    match table.text("axes") {
        Some("body") => settings.axes = SubstepAxes::Body,
        Some("without-spin") => settings.axes = SubstepAxes::WithoutSpin,
        _ => {}
    }
    match table.text("projection") {
        Some("events") => settings.projection = StateProjection::Events,
        Some("steps") => settings.projection = StateProjection::Steps,
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
