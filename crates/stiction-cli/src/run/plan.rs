//! Plan of a run: model, start, scheme and settings from a scene file, overridden by the command line.

use crate::convert::ExportFormat;
use crate::{BadInput, check};
use std::path::{Path, PathBuf};
use stiction::{Accuracy, Scheme, Simulation, State, StepError, StepReport, System};
use stiction_journal::{Journal, JournalHeader};
use stiction_lcp::{Method, Solver};
use stiction_scene::{
    BuiltScene, Controls, Diagnostics, Model, RecordSettings, STEP_LIMIT, Scene, Sensors, earlier_scheme,
    scheme_named, scheme_names, with_value,
};

/// Settings of the command line that replace those of the scene.
#[derive(clap::Args, Default, Clone)]
pub(crate) struct Overrides {
    /// Scheme of fixed steps by name, instead of the scene's scheme or accuracy
    #[arg(long)]
    scheme: Option<String>,
    /// Step size [s], instead of the scene's
    #[arg(long, value_name = "SECONDS", conflicts_with = "accuracy", allow_negative_numbers = true)]
    h: Option<f64>,
    /// Error tolerance of a step [m, rad, m/s, rad/s], instead of the scene's scheme: adaptive steps of second order
    #[arg(long, value_name = "ERROR", allow_negative_numbers = true)]
    accuracy: Option<f64>,
    /// Largest residual that is accepted, and counted, where neither a step nor its halves reach the tolerance; by
    /// default the scene's, which is none if it names none
    #[arg(long, value_name = "RESIDUAL", conflicts_with = "accuracy", allow_negative_numbers = true)]
    loosest: Option<f64>,
    /// End time [s], instead of the scene's duration
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    until: Option<f64>,
    /// Value of the scene to replace or add, as materials.default.friction=0.3; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    values: Vec<String>,
}

impl Overrides {
    /// Overrides the end time alone.
    pub(crate) fn until(until: Option<f64>) -> Self {
        Self { until, ..Self::default() }
    }
}

impl Overrides {
    /// Overrides of a sweep: these and one value of each of its keys.
    pub(crate) fn with_values(&self, values: impl IntoIterator<Item = String>) -> Self {
        Self { values: self.values.iter().cloned().chain(values).collect(), ..self.clone() }
    }

    /// Overrides without the values that `read` takes for those of a sweep, and what it makes of them.
    pub(crate) fn split_values<T>(
        &self,
        read: impl Fn(&str) -> Result<Option<T>, BadInput>,
    ) -> Result<(Self, Vec<T>), BadInput> {
        let (mut fixed, mut taken) = (Self { values: Vec::new(), ..self.clone() }, Vec::new());
        for value in &self.values {
            match read(value)? {
                Some(swept) => taken.push(swept),
                None => fixed.values.push(value.clone()),
            }
        }
        Ok((fixed, taken))
    }

    /// Text of a scene with the values that replace its own.
    fn set(&self, bytes: Vec<u8>, shown: &str) -> Result<Vec<u8>, BadInput> {
        if self.values.is_empty() {
            return Ok(bytes);
        }
        let bad = |what: String| BadInput(format!("{shown}: {what}"));
        let mut text = String::from_utf8(bytes).map_err(|_| bad("the file is not UTF-8".to_string()))?;
        for value in &self.values {
            let (key, value) = value.split_once('=').ok_or_else(|| {
                BadInput(format!("--set {value}: write a key and a value, as materials.default.friction=0.3"))
            })?;
            text = with_value(&text, key.trim(), value).map_err(|what| bad(format!("--set {what}")))?;
        }
        Ok(text.into_bytes())
    }
}

/// Model, start state, scheme and settings of a run.
pub(crate) struct RunPlan {
    pub(crate) header: JournalHeader,
    pub(crate) model: Model,
    pub(crate) start: State,
    pub(crate) scheme: Scheme,
    pub(crate) record: RecordSettings,
    pub(crate) title: String,
    /// `true` where the command line gives the scheme.
    chosen: bool,
    /// End time that the scene asks for [s].
    pub(crate) scene_end: f64,
    /// Settings of a recorded run that neither its scene nor the command line gives.
    pub(crate) foreign: Option<&'static str>,
    pub(crate) sensors: Sensors,
    pub(crate) controls: Controls,
}

impl RunPlan {
    /// Reads a scene file.
    pub(crate) fn read(path: &Path, overrides: &Overrides) -> Result<Self, BadInput> {
        let bytes = check::bytes(path).map_err(|error| BadInput::file(path, &error))?;
        let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
        let shown = path.display().to_string();
        let bytes = overrides.set(bytes, &shown)?;
        Self::new(&bytes, &shown, &name, overrides, Scene::build)
    }

    /// Reads a scene from bytes and builds it; `shown` names it in error messages.
    fn new(
        bytes: &[u8],
        shown: &str,
        name: &str,
        overrides: &Overrides,
        build: fn(&Scene) -> Result<BuiltScene, Diagnostics>,
    ) -> Result<Self, BadInput> {
        let scene = Scene::from_bytes(bytes, shown).map_err(|e| BadInput(format!("{shown}\n{e}")))?;
        let built = build(&scene).map_err(|e| BadInput(format!("{shown}\n{e}")))?;
        let BuiltScene { model, state, mut scheme, mut h, mut accuracy, duration, record, sensors, controls } =
            built;
        if let Some(wanted) = &overrides.scheme {
            scheme = scheme_of(wanted)?;
            accuracy = None;
        }
        if let Some(size) = overrides.h {
            h = positive("--h", size)?;
            accuracy = None;
        }
        if let Some(tolerance) = overrides.accuracy {
            if let Some(wanted) = overrides.scheme.as_ref().filter(|_| scheme != Scheme::accurate()) {
                return Err(BadInput(format!(
                    "--scheme {wanted} --accuracy {tolerance}: a run to an accuracy does not use this scheme; leave out \
                     one of them"
                )));
            }
            let tolerance = positive("--accuracy", tolerance)?;
            accuracy = Some(Accuracy { tolerance, ..accuracy.unwrap_or_default() });
            // the fixed steps of the scene are replaced, and with them all that the scheme says about them
            scheme = Scheme { restitution_speed: scheme.restitution_speed, ..Scheme::accurate() };
        }
        if let Some(loosest) = overrides.loosest {
            scheme.solver.loosest = loosest_of(loosest)?;
            accuracy = None;
        }
        if state.t + h == state.t {
            return Err(BadInput(format!("{shown}: {}", StepError::Clock { t: state.t, h })));
        }
        let scene_end = state.t + duration;
        let until = overrides.until.unwrap_or(scene_end);
        if !until.is_finite() {
            return Err(BadInput(format!("--until {until}: not a finite time; write a number of seconds")));
        }
        if until < state.t || (overrides.until.is_some() && until == state.t) {
            let start = state.t;
            return Err(BadInput(format!(
                "--until {until}: the scene starts at {start} s, so there is nothing to run; write a later time"
            )));
        }
        if (until - state.t) / h > STEP_LIMIT {
            return Err(BadInput(format!(
                "{shown}: {} s in steps of {h} s are more than {STEP_LIMIT:e} steps; write a larger --h or an earlier --until",
                until - state.t
            )));
        }
        let header = JournalHeader {
            program: program(),
            name: name.to_string(),
            scene: scene.source().to_string(),
            scheme: serde_json::to_string(&scheme).map_err(|e| BadInput(e.to_string()))?,
            h,
            accuracy,
            until,
        };
        let title = scene.title().unwrap_or(name).to_string();
        let chosen = overrides.scheme.is_some();
        Ok(Self {
            header,
            model,
            start: state,
            scheme,
            record,
            title,
            chosen,
            scene_end,
            foreign: None,
            sensors,
            controls,
        })
    }

    /// Continues a journal by the scheme that the settings of the scene gave when it was written.
    pub(crate) fn continue_scheme(&mut self, journal: &Path) {
        let recorded = Journal::open(journal).ok().map(|journal| journal.header().scheme.clone());
        let recorded = recorded.and_then(|text| serde_json::from_str::<Scheme>(&text).ok());
        if !self.chosen && recorded.is_some() && recorded == earlier_scheme(&self.scheme) {
            self.scheme = recorded.unwrap_or(self.scheme);
        }
    }

    /// Plan of a recorded run, from the scene and the scheme in its journal.
    pub(crate) fn of_journal(path: &Path, header: &JournalHeader) -> Result<Self, BadInput> {
        let shown = format!("{}: scene in the journal", path.display());
        let bytes = header.scene.as_bytes();
        let mut plan = Self::new(bytes, &shown, &header.name, &Overrides::default(), Scene::build_recorded)?;
        let bad =
            |what: &str, why: &str| BadInput(format!("{}: {what} in the journal: {why}", path.display()));
        let scheme: Scheme =
            serde_json::from_str(&header.scheme).map_err(|e| bad("scheme", &e.to_string()))?;
        if let Some(mistake) = scheme.mistake() {
            return Err(bad("scheme", &mistake));
        }
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let accuracy = header.accuracy.map_or([1.0; 3], |a| [a.tolerance, a.first_step, a.largest_step]);
        for (what, value, fits) in [
            ("step size", header.h, positive(header.h)),
            ("end time", header.until, header.until.is_finite() && header.until >= plan.start.t),
            ("accuracy", accuracy[0], positive(accuracy[0])),
            ("first step", accuracy[1], positive(accuracy[1])),
            ("largest step", accuracy[2], positive(accuracy[2])),
        ] {
            if !fits {
                return Err(bad(
                    what,
                    &format!("{value}; it must be positive and finite, and not before the start"),
                ));
            }
        }
        plan.foreign = foreign_settings(&plan, &scheme, header);
        plan.scheme = scheme;
        plan.header = header.clone();
        Ok(plan)
    }

    /// First difference between this run and a recorded one that keeps it from being resumed. The end time may differ.
    pub(crate) fn difference(&self, journal: &JournalHeader) -> Option<String> {
        let own = &self.header;
        if own.program != journal.program {
            let (then, now) = (&journal.program, &own.program);
            return Some(format!("it was written by {then}; {now} may not continue it bit by bit"));
        }
        if own.scene != journal.scene {
            return Some("the scene file differs from the scene in the journal".to_string());
        }
        let differs =
            |what: &str, then: &str, now: &str| format!("its {what} is {then}, this run's is {now}");
        let accuracy = |header: &JournalHeader| {
            header.accuracy.map_or_else(|| "none".into(), |a| a.tolerance.to_string())
        };
        // compared before the scheme, because an accuracy selects the scheme
        if own.accuracy != journal.accuracy {
            return Some(differs("accuracy", &accuracy(journal), &accuracy(own)));
        }
        let recorded = serde_json::from_str::<Scheme>(&journal.scheme);
        if !recorded.as_ref().is_ok_and(|recorded| *recorded == self.scheme) {
            let recorded = recorded.map_or_else(|_| "unknown".to_string(), |scheme| scheme_name(&scheme));
            return Some(differs("scheme", &recorded, &self.scheme_name()));
        }
        (own.h != journal.h)
            .then(|| differs("step size", &format!("{} s", journal.h), &format!("{} s", own.h)))
    }

    /// First input of a recorded state that has another value than the scene and its controllers give it, in words: set
    /// from outside. `last` is the step before, from which controllers set inputs.
    pub(crate) fn foreign_input(
        &self,
        (before, state): (&State, &State),
        last: Option<(&State, &StepReport)>,
    ) -> Option<String> {
        let mut expected = self.start.clone();
        if !self.controls.is_empty() {
            let mut simulation = Simulation::from_state(self.model.clone(), before.clone());
            if let Err(error) = self.controls.apply(&mut simulation, last) {
                return Some(error.to_string());
            }
            expected.clone_from(simulation.state());
        }
        let first = self.model.position_count();
        let pairs = expected.q.iter().zip(&state.q).skip(first).take(self.model.input_count());
        let (k, (of_scene, value)) = pairs.enumerate().find(|(_, (a, b))| a != b)?;
        let name = self.model.input_names().into_iter().nth(k).unwrap_or_default();
        Some(format!("input `{name}` is {value}, the scene gives {of_scene}"))
    }

    /// Name of the scheme.
    pub(crate) fn scheme_name(&self) -> String {
        scheme_name(&self.scheme)
    }
}

/// Settings of a recorded run that neither its scene nor the command line gives, if there are any: another scheme than
/// that of the scene or a named one, or another accuracy except for its tolerance. Solvers may differ, unless they solve
/// another problem.
fn foreign_settings(scene: &RunPlan, scheme: &Scheme, header: &JournalHeader) -> Option<&'static str> {
    let plain = |scheme: Scheme| {
        let method = match scheme.solver.method {
            // its answers are those of another friction law
            convex @ Method::Convex(_) => convex,
            _ => Scheme::default().solver.method,
        };
        Scheme { solver: Solver { method, ..Scheme::default().solver }, ..scheme }
    };
    let own = plain(*scheme);
    let (of_scene, settings) = (plain(scene.scheme), scene.header.accuracy);
    let accurate = Scheme { restitution_speed: scene.scheme.restitution_speed, ..Scheme::accurate() };
    match header.accuracy {
        None => {
            let named = scheme_names().filter_map(scheme_named).any(|named| plain(named) == own);
            let earlier = earlier_scheme(&scene.scheme).map(plain);
            (own != of_scene && Some(own) != earlier && !named)
                .then_some("a scheme that is neither the scene's nor a named one")
        }
        Some(accuracy) => {
            let asked = Accuracy { tolerance: accuracy.tolerance, ..settings.unwrap_or_default() };
            let known = own == plain(accurate) || own == of_scene;
            (!known || accuracy != asked).then_some("settings of an accuracy that are not the scene's")
        }
    }
}

/// Name of a scheme, if it has one.
fn scheme_name(scheme: &Scheme) -> String {
    let known = |name: &&str| scheme_named(name).is_some_and(|named| named == *scheme);
    scheme_names().find(known).unwrap_or("settings of the scene").to_string()
}

/// Scheme with a name.
pub(crate) fn scheme_of(name: &str) -> Result<Scheme, BadInput> {
    scheme_named(name).ok_or_else(|| {
        let names: Vec<&str> = scheme_names().collect();
        BadInput(format!("unknown scheme `{name}`; write one of {}", names.join(", ")))
    })
}

fn positive(option: &str, value: f64) -> Result<f64, BadInput> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(BadInput(format!("{option} {value}: must be positive and finite")))
    }
}

/// Largest residual that `--loosest` may accept. Above it, a residual is no small error: speeds of 1e-4 of the scale are
/// what a benchmark of other simulators counts as solved.
const MAX_LOOSEST: f64 = 1e-4;

fn loosest_of(value: f64) -> Result<f64, BadInput> {
    if (0.0..=MAX_LOOSEST).contains(&value) {
        Ok(value)
    } else {
        Err(BadInput(format!("--loosest {value}: must lie between 0 and {MAX_LOOSEST:e}")))
    }
}

fn program() -> String {
    format!("stiction {}", env!("CARGO_PKG_VERSION"))
}

/// Treatment of earlier runs whose journals have the default name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EarlierRuns {
    /// They stay: a run gets the next number.
    Keep,
    /// The last one goes on.
    Resume,
    /// The first one is replaced.
    Overwrite,
}

/// Journal of a run without `--out`: NAME.journal in a folder, and for further runs NAME-2.journal, NAME-3.journal, …
fn default_journal(folder: &Path, stem: &str, earlier: EarlierRuns) -> PathBuf {
    let named = |k: u32| {
        let number = if k == 1 { String::new() } else { format!("-{k}") };
        folder.join(format!("{stem}{number}.journal"))
    };
    if earlier == EarlierRuns::Overwrite {
        return named(1);
    }
    let free = (1..u32::MAX).find(|&k| !named(k).exists()).unwrap_or(u32::MAX);
    if earlier == EarlierRuns::Resume { named(free.saturating_sub(1).max(1)) } else { named(free) }
}

/// Files that a run writes: its journal, and the file it is converted to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OutputFiles {
    pub(crate) journal: PathBuf,
    pub(crate) converted: Option<PathBuf>,
}

impl OutputFiles {
    /// Puts the journal beside `out`. Without `out`, names it after the scene, in the current folder.
    pub(crate) fn new(out: Option<&Path>, scene: &Path, earlier: EarlierRuns) -> Result<Self, BadInput> {
        let Some(out) = out else {
            let stem = scene.file_stem().unwrap_or(scene.as_os_str()).to_string_lossy().into_owned();
            return Ok(Self { journal: default_journal(Path::new(""), &stem, earlier), converted: None });
        };
        if out.extension().is_some_and(|ending| ending == "journal") {
            return Ok(Self { journal: out.to_path_buf(), converted: None });
        }
        let bad = |message: &str| BadInput(format!("--out {}: {message}", out.display()));
        let endings = "the name must end in .journal, .npz, .csv, .json or .parquet";
        let format = ExportFormat::of(out).ok_or_else(|| bad(endings))?;
        format.check().map_err(|error| bad(&error.0))?;
        Ok(Self { journal: out.with_extension("journal"), converted: Some(out.to_path_buf()) })
    }
}

#[cfg(test)]
mod tests {
    use super::{EarlierRuns, default_journal};

    #[test]
    fn further_runs_of_a_scene_have_numbers() {
        let folder = std::env::temp_dir().join(format!("stiction-names-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let name = |earlier| {
            let journal = default_journal(&folder, "crate", earlier);
            journal.file_name().unwrap().to_string_lossy().into_owned()
        };
        assert_eq!(name(EarlierRuns::Keep), "crate.journal");
        assert_eq!(name(EarlierRuns::Resume), "crate.journal");
        for journal in ["crate.journal", "crate-2.journal"] {
            std::fs::write(folder.join(journal), "").unwrap();
        }
        assert_eq!(name(EarlierRuns::Keep), "crate-3.journal");
        assert_eq!(name(EarlierRuns::Resume), "crate-2.journal");
        assert_eq!(name(EarlierRuns::Overwrite), "crate.journal");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
