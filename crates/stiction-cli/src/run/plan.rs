//! What is run: a scene, and what the command line says otherwise.

use crate::convert::Format;
use crate::{BadInput, check};
use std::path::{Path, PathBuf};
use stiction::{Accuracy, Scheme, State};
use stiction_journal::Header;
use stiction_scene::{Built, Model, Record, Scene, scheme_named, scheme_names};

/// What the command line says otherwise than the scene.
#[derive(clap::Args, Default)]
pub(crate) struct Overrides {
    /// Scheme by name, in place of the scene's
    #[arg(long)]
    scheme: Option<String>,
    /// Step size [s], in place of the scene's
    #[arg(long, value_name = "SECONDS", conflicts_with = "accuracy")]
    h: Option<f64>,
    /// Largest error of a step, in place of a step size: steps of second order as large as it allows
    #[arg(long, value_name = "ERROR")]
    accuracy: Option<f64>,
    /// When to end [s], in place of the scene's duration
    #[arg(long, value_name = "SECONDS")]
    until: Option<f64>,
}

impl Overrides {
    /// Nothing but when to end.
    pub(crate) fn until(until: Option<f64>) -> Self {
        Self { until, ..Self::default() }
    }
}

/// All that a run needs.
pub(crate) struct Plan {
    pub(crate) header: Header,
    pub(crate) model: Model,
    pub(crate) start: State,
    pub(crate) scheme: Scheme,
    pub(crate) record: Record,
    pub(crate) title: String,
}

impl Plan {
    /// Reads a scene file.
    pub(crate) fn read(path: &Path, overrides: &Overrides) -> Result<Self, BadInput> {
        let bytes = check::bytes(path).map_err(|error| BadInput::file(path, &error))?;
        let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
        Self::new(&bytes, &path.display().to_string(), &name, overrides)
    }

    /// The same from the bytes of a scene; `shown` is what messages call it.
    fn new(bytes: &[u8], shown: &str, name: &str, overrides: &Overrides) -> Result<Self, BadInput> {
        let scene = Scene::from_bytes(bytes, shown).map_err(|e| BadInput(format!("{shown}\n{e}")))?;
        let built = scene.build().map_err(|e| BadInput(format!("{shown}\n{e}")))?;
        let Built { model, state, mut scheme, mut h, mut accuracy, duration, record } = built;
        if let Some(wanted) = &overrides.scheme {
            scheme = scheme_of(wanted)?;
            accuracy = None;
        }
        if let Some(size) = overrides.h {
            h = positive("--h", size)?;
            accuracy = None;
        }
        if let Some(tolerance) = overrides.accuracy {
            accuracy = Some(Accuracy::of(positive("--accuracy", tolerance)?));
            // as in a scene with an accuracy that names no scheme
            if overrides.scheme.is_none() && scheme == Scheme::default() {
                scheme = Scheme::accurate();
            }
        }
        let until = overrides.until.unwrap_or(state.t + duration);
        if !until.is_finite() {
            return Err(BadInput(format!("--until {until}: not a time")));
        }
        let header = Header {
            program: program(),
            name: name.to_string(),
            scene: scene.source().to_string(),
            scheme: serde_json::to_string(&scheme).map_err(|e| BadInput(e.to_string()))?,
            h,
            accuracy,
            until,
        };
        let title = scene.title().unwrap_or(name).to_string();
        Ok(Self { header, model, start: state, scheme, record, title })
    }

    /// What a journal says was run.
    pub(crate) fn of_journal(path: &Path, header: &Header) -> Result<Self, BadInput> {
        let shown = format!("{}: the scene in it", path.display());
        let mut plan = Self::new(header.scene.as_bytes(), &shown, &header.name, &Overrides::default())?;
        plan.scheme = serde_json::from_str(&header.scheme)
            .map_err(|e| BadInput(format!("{}: the scheme in it: {e}", path.display())))?;
        plan.header = header.clone();
        Ok(plan)
    }

    /// Why a journal is not one of this run, if it is not. When it ends is left open.
    pub(crate) fn differs(&self, journal: &Header) -> Option<String> {
        let own = &self.header;
        if own.program != journal.program {
            let (then, now) = (&journal.program, &own.program);
            return Some(format!("it was made by {then}; {now} would not go on bit by bit"));
        }
        if own.scene != journal.scene {
            return Some("the scene has changed since".to_string());
        }
        let differs = |what: &str, then: &str, now: &str| format!("its {what} is {then}, not {now}");
        let accuracy =
            |header: &Header| header.accuracy.map_or_else(|| "none".into(), |a| a.tolerance.to_string());
        // before the scheme, which an accuracy chooses
        if own.accuracy != journal.accuracy {
            return Some(differs("accuracy", &accuracy(journal), &accuracy(own)));
        }
        if own.scheme != journal.scheme {
            return Some(differs("scheme", &scheme_name(&journal.scheme), &scheme_name(&own.scheme)));
        }
        (own.h != journal.h)
            .then(|| differs("step size", &format!("{} s", journal.h), &format!("{} s", own.h)))
    }

    /// The scheme by its name.
    pub(crate) fn scheme_name(&self) -> String {
        scheme_name(&self.header.scheme)
    }
}

/// The name of a scheme that was written as JSON.
fn scheme_name(json: &str) -> String {
    let known = |name: &&str| {
        let named = scheme_named(name).and_then(|s| serde_json::to_string(&s).ok());
        named.is_some_and(|named| named == json)
    };
    scheme_names().find(known).unwrap_or("one of the scene's own").to_string()
}

/// The scheme of a name.
pub(crate) fn scheme_of(name: &str) -> Result<Scheme, BadInput> {
    scheme_named(name).ok_or_else(|| {
        let names: Vec<&str> = scheme_names().collect();
        BadInput(format!("no scheme is called {name}; there are {}", names.join(", ")))
    })
}

fn positive(what: &str, value: f64) -> Result<f64, BadInput> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(BadInput(format!("{what} {value}: must be positive and finite")))
    }
}

fn program() -> String {
    format!("stiction {}", env!("CARGO_PKG_VERSION"))
}

/// Where a run is written: its journal, and what is made of it in the end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) journal: PathBuf,
    pub(crate) converted: Option<PathBuf>,
}

impl Output {
    /// The journal stands beside what is made of it; without either it is called after the scene, in this folder.
    pub(crate) fn new(out: Option<&Path>, scene: &Path) -> Result<Self, BadInput> {
        let Some(out) = out else {
            let stem = scene.file_stem().unwrap_or(scene.as_os_str());
            return Ok(Self { journal: Path::new(stem).with_extension("journal"), converted: None });
        };
        if out.extension().is_some_and(|ending| ending == "journal") {
            return Ok(Self { journal: out.to_path_buf(), converted: None });
        }
        let said = |what: String| BadInput(format!("--out {}: {what}", out.display()));
        let what = "must end in .journal, .npz, .csv, .json or .parquet";
        let format = Format::of(out).ok_or_else(|| said(what.to_string()))?;
        format.check().map_err(|error| said(error.0))?;
        Ok(Self { journal: out.with_extension("journal"), converted: Some(out.to_path_buf()) })
    }
}
