//! A scene: read, checked, and built.

use crate::assembly::assemble;
use crate::crowding::{Crowd, crowd};
use crate::diagnostic::{Diagnostics, Finding, Severity};
use crate::keys::Dimension;
use crate::node::Node;
use crate::read::{Context, Reader};
use crate::run::{Record, Run};
use crate::source_map::SourceMap;
use crate::{moment, validate};
use stiction::{Accuracy, Mistakes, Model, Scheme, State, planar, spatial};

/// A scene file that has been read.
#[derive(Debug, Clone)]
pub struct Scene {
    name: String,
    source: String,
    pub(crate) root: Node,
    pub(crate) world: World,
    pub(crate) places: SourceMap,
    pub(crate) run: Run,
    moment: Option<State>,
    /// What has no effect.
    pub(crate) idle: Vec<Finding>,
    title: Option<String>,
    description: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum World {
    Planar(planar::World),
    Spatial(spatial::World),
}

/// All that a run needs.
#[derive(Debug, Clone)]
pub struct Built {
    /// The model.
    pub model: Model,
    /// The state of the start.
    pub state: State,
    /// How steps are made.
    pub scheme: Scheme,
    /// Step size [s].
    pub h: f64,
    /// How accurate steps are, in place of a step size.
    pub accuracy: Option<Accuracy>,
    /// How long the run takes, from the time of the state on [s].
    pub duration: f64,
    /// What is kept of it.
    pub record: Record,
}

impl Scene {
    /// Reads a scene; all mistakes at once. `name` is what messages call the file.
    pub fn from_toml(text: &str, name: &str) -> Result<Self, Diagnostics> {
        let (root, mut found) = Node::parse(text);
        // what a broken file misses says nothing
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
        let (world, names, places) = match dimension {
            Dimension::Plane => {
                let (world, names, places) = assemble(&reader);
                (World::Planar(world), names, places)
            }
            Dimension::Space => {
                let (world, names, places) = assemble(&reader);
                (World::Spatial(world), names, places)
            }
        };
        let run = Run::new(&reader, names.all(), places.joint_names());
        let moment = moment::read(&reader);
        let (found, mut idle) = context.findings(&root);
        let (errors, warnings): (Vec<_>, _) =
            found.into_iter().partition(|finding| finding.severity == Severity::Error);
        if !errors.is_empty() {
            return Err(place(name, text, &root, errors));
        }
        idle.extend(warnings);
        let (name, source) = (name.to_string(), text.to_string());
        Ok(Self { name, source, root, world, places, run, moment, idle, title, description })
    }

    /// The same from the bytes of a file, which may be no text.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, Diagnostics> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::from_toml(text, name),
            Err(error) => {
                let at = error.valid_up_to();
                let text = String::from_utf8_lossy(bytes);
                let finding = Finding::error(&(at..at), "not TOML: this is not UTF-8");
                Err(Diagnostics(vec![finding.place(name, &text, String::new())]))
            }
        }
    }

    /// Checks the world and lays it out.
    pub fn build(&self) -> Result<Built, Diagnostics> {
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
        let Run { duration, h, scheme, accuracy, record } = self.run.clone();
        let state = match &self.moment {
            None => model.state(),
            Some(moment) => {
                if let Some((key, what)) = moment::mistake(&model, moment) {
                    let table = self.root.get("state").map(|entry| &entry.node);
                    let place = table.and_then(|node| node.get(key)).map(|entry| entry.node.span.clone());
                    return Err(self.placed(vec![Finding::error(&place.unwrap_or_default(), what)]));
                }
                moment.clone()
            }
        };
        Ok(Built { model, state, scheme, h, accuracy, duration, record })
    }

    fn mistakes(&self, mistakes: &Mistakes) -> Diagnostics {
        self.placed(self.places.findings(&self.root, &mistakes.0))
    }

    /// Findings with their lines.
    pub(crate) fn placed(&self, found: Vec<Finding>) -> Diagnostics {
        place(&self.name, &self.source, &self.root, found)
    }

    /// Name of the file, as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What the scene is called.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What it shows.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}

/// Findings that are listed; more are counted. A copied entry with a mistake may have one in each copy.
const MOST_FINDINGS: usize = 100;

/// Looks up the lines of findings, and puts them in the order of the file.
fn place(name: &str, source: &str, root: &Node, mut found: Vec<Finding>) -> Diagnostics {
    found.sort_by_key(|finding| (finding.span.start, finding.severity));
    found.dedup();
    if found.len() > MOST_FINDINGS {
        let more = found.len() - MOST_FINDINGS;
        found.truncate(MOST_FINDINGS);
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
