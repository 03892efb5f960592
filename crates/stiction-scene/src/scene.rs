//! Scene: a file that has been read and checked, and builds the model and settings of a run.

use crate::assembly::assemble;
use crate::controls::{self, ControlSpec, Controls, SensorSpec, read_sensors};
use crate::crowding::{Crowd, crowd};
use crate::diagnostic::{Diagnostics, Finding, MAX_FINDINGS, Severity};
use crate::keys::Dimension;
use crate::node::Node;
use crate::read::{Context, Reader};
use crate::run::{RecordSettings, RunSettings};
use crate::signal::Sensors;
use crate::source_map::SourceMap;
use crate::{start_state, validate};
use stiction::{Accuracy, Mistakes, Model, Scheme, State, planar, spatial};

/// Scene file without errors.
#[derive(Debug, Clone)]
pub struct Scene {
    name: String,
    source: String,
    pub(crate) root: Node,
    pub(crate) world: World,
    pub(crate) places: SourceMap,
    pub(crate) run: RunSettings,
    controls: Vec<ControlSpec>,
    sensors: Vec<SensorSpec>,
    /// Start state that the file gives, instead of the one that the bodies describe.
    start: Option<State>,
    /// Warnings found while the file was read: keys without effect.
    pub(crate) warnings: Vec<Finding>,
    title: Option<String>,
    description: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum World {
    Planar(planar::World),
    Spatial(spatial::World),
}

/// Model, start state and settings of a run.
#[derive(Debug, Clone)]
pub struct BuiltScene {
    /// Model.
    pub model: Model,
    /// State at the start.
    pub state: State,
    /// Time-stepping scheme.
    pub scheme: Scheme,
    /// Step size [s].
    pub h: f64,
    /// Error tolerance of a run to an accuracy, instead of a step size.
    pub accuracy: Option<Accuracy>,
    /// Duration from the time of the start state [s].
    pub duration: f64,
    /// Recording settings.
    pub record: RecordSettings,
    /// Sensors of the scene.
    pub sensors: Sensors,
    /// Controllers, which set inputs before every step.
    pub controls: Controls,
}

impl Scene {
    /// Reads a scene from text, or returns all errors. `name` names the file in messages.
    pub fn from_toml(text: &str, name: &str) -> Result<Self, Diagnostics> {
        let (root, mut found) = Node::parse(text);
        // missing keys of a file that does not parse are not reported
        if !found.is_empty() {
            return Err(place(name, text, &root, found));
        }
        let dimension = validate::dimension(&root);
        validate::validate(&root, dimension, &mut found);
        let context = Context::new(found);
        let reader = Reader { context: &context, node: &root };
        let title = reader.text("title").map(str::to_string);
        let description = reader.text("description").map(str::to_string);
        for key in ["format", "dimension"] {
            let _ = reader.get(key);
        }
        let sensors = controls::sensors(&reader);
        let (world, names, places, controls) = match dimension {
            Dimension::Plane => {
                let (world, names, places, controls) = assemble(&reader);
                (World::Planar(world), names, places, controls)
            }
            Dimension::Space => {
                let (world, names, places, controls) = assemble(&reader);
                (World::Spatial(world), names, places, controls)
            }
        };
        let run = RunSettings::new(&reader, names.all(), places.joint_names());
        let start = start_state::read(&reader);
        let (found, mut warnings) = context.findings(&root);
        let (errors, others): (Vec<_>, _) =
            found.into_iter().partition(|finding| finding.severity == Severity::Error);
        if !errors.is_empty() {
            return Err(place(name, text, &root, errors));
        }
        warnings.extend(others);
        let (name, source) = (name.to_string(), text.to_string());
        Ok(Self {
            name,
            source,
            root,
            world,
            places,
            run,
            controls,
            sensors,
            start,
            warnings,
            title,
            description,
        })
    }

    /// Reads a scene from the bytes of a file, which may not be text.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, Diagnostics> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::from_toml(text, name),
            Err(error) => {
                let at = error.valid_up_to();
                let text = String::from_utf8_lossy(bytes);
                let finding = Finding::error(&(at..at), "not TOML: the bytes here are not UTF-8");
                Err(Diagnostics(vec![finding.place(name, &text, String::new())]))
            }
        }
    }

    /// Checks the run settings and the world, and builds the model.
    pub fn build(&self) -> Result<BuiltScene, Diagnostics> {
        if !self.run.ignored.is_empty() {
            return Err(self.placed(self.run.ignored.clone()));
        }
        self.build_recorded()
    }

    /// Checks the world and builds the model, for a run that was recorded by this or an earlier version. Settings that
    /// the run ignored are no errors then.
    pub fn build_recorded(&self) -> Result<BuiltScene, Diagnostics> {
        let crowd = match &self.world {
            World::Planar(world) => crowd(world),
            World::Spatial(world) => crowd(world),
        };
        if let Some(Crowd { body, message }) = crowd {
            let table = self.places.body_table(&self.root, &body).unwrap_or(&self.root);
            let span =
                table.get("copies").map_or_else(|| table.span.clone(), |copies| copies.node.span.clone());
            return Err(self.placed(vec![Finding::error(&span, message)]));
        }
        let model = match &self.world {
            World::Planar(world) => world.clone().build().map(Model::Planar),
            World::Spatial(world) => world.clone().build().map(Model::Spatial),
        };
        let model = model.map_err(|mistakes| self.mistakes(&mistakes))?;
        let RunSettings { duration, h, scheme, accuracy, record, .. } = self.run.clone();
        let state = match &self.start {
            None => model.state(),
            Some(start) => {
                if let Some((key, what)) = start_state::mistake(&model, start) {
                    let table = self.root.get("state").map(|entry| &entry.node);
                    let place = table.and_then(|node| node.get(key)).map(|entry| entry.node.span.clone());
                    return Err(self.placed(vec![Finding::error(&place.unwrap_or_default(), what)]));
                }
                start.clone()
            }
        };
        let mut found = Vec::new();
        let sensors = read_sensors(&self.sensors, &model, &mut found);
        let controls = Controls::read(&self.controls, &model, &sensors, &mut found);
        if !found.is_empty() {
            return Err(self.placed(found));
        }
        Ok(BuiltScene { model, state, scheme, h, accuracy, duration, record, sensors, controls })
    }

    fn mistakes(&self, mistakes: &Mistakes) -> Diagnostics {
        self.placed(self.places.findings(&self.root, &mistakes.0))
    }

    /// Looks up the lines of findings.
    pub(crate) fn placed(&self, found: Vec<Finding>) -> Diagnostics {
        place(&self.name, &self.source, &self.root, found)
    }

    /// Name of the file, as given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Text of the file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Title of the scene.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Description of the scene.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}

/// Looks up the lines of findings and sorts them by line.
fn place(name: &str, source: &str, root: &Node, mut found: Vec<Finding>) -> Diagnostics {
    found.sort_by_key(|finding| (finding.span.start, finding.severity));
    found.dedup();
    if found.len() > MAX_FINDINGS {
        let more = found.len() - MAX_FINDINGS;
        found.truncate(MAX_FINDINGS);
        if let Some(last) = found.last().cloned() {
            found.push(Finding {
                message: format!("and {more} more findings after this one"),
                suggestion: None,
                ..last
            });
        }
    }
    let placed = |finding: Finding| {
        let key = root.path_of(&finding.span).unwrap_or_default();
        finding.place(name, source, key)
    };
    Diagnostics(found.into_iter().map(placed).collect())
}
