//! Controllers of a scene: formulas of quantities of the run that set inputs between steps, and named sensors.
//!
//! Both take what the last step left, so that loops from sensor to motor to sensor have a delay of one step.

use crate::copies::substituted;
use crate::diagnostic::Finding;
use crate::node::Node;
use crate::read::Reader;
use crate::signal::{Sample, Sensors, Signal, is_signal};
use std::collections::HashSet;
use std::ops::Range;
use stiction::{InputError, Model, Simulation, State, StepReport};

/// Time that counts as reached, relative to the interval of a controller: the round-off of sums of steps. Range 1e-12 to
/// 1e-3: below it a controller is late by a step, above it early.
const UPDATE_ROUND_OFF: f64 = 1e-9;

/// Controller of a file before the model is there: a formula and the input that it sets.
#[derive(Debug, Clone)]
pub(crate) struct ControlSpec {
    pub(crate) input: String,
    text: String,
    span: Range<usize>,
    /// Time between two updates [s].
    every: Option<f64>,
}

/// Sensor of a file before the model is there.
#[derive(Debug, Clone)]
pub(crate) struct SensorSpec {
    name: String,
    text: String,
    span: Range<usize>,
}

impl ControlSpec {
    /// Controller of an input by the formula of a key, if it is one of quantities of the run. Its node reads as absent
    /// otherwise. `index` is that of the copy.
    pub(crate) fn new(
        reader: &Reader,
        node: &Node,
        names: &HashSet<String>,
        index: &[usize],
    ) -> Option<Self> {
        node.text().filter(|text| is_signal(text, names))?;
        Self::always(reader, node, index)
    }

    /// Controller of an input by the formula of a key, which may depend on time alone.
    pub(crate) fn always(reader: &Reader, node: &Node, index: &[usize]) -> Option<Self> {
        let text = node.text()?;
        reader.context.mark_signal(node);
        let text = match substituted(text, index) {
            Ok(text) => text,
            Err(what) => {
                reader.error(&node.span, what);
                return None;
            }
        };
        let every = reader.number("every");
        Some(Self { input: String::new(), text, span: node.span.clone(), every })
    }

    pub(crate) fn of(self, input: String) -> Self {
        Self { input, ..self }
    }
}

/// Names that formulas may use without arguments: of joints, with all copies, and of sensors.
pub(crate) fn names(root: &Reader) -> HashSet<String> {
    let name = |table: Reader| table.node.get("name").and_then(|entry| entry.node.text()).map(str::to_string);
    let lists = ["joints", "sensors"].into_iter();
    lists.flat_map(|list| root.tables(list)).filter_map(name).collect()
}

/// Sensors of a file.
pub(crate) fn sensors(root: &Reader) -> Vec<SensorSpec> {
    let mut found: Vec<SensorSpec> = Vec::new();
    for table in root.tables("sensors") {
        let (Some(name), Some(text)) = (table.text("name"), table.text("value")) else { continue };
        if found.iter().any(|sensor| sensor.name == name) {
            table.error(&table.span("name"), format!("another sensor is named `{name}`"));
        }
        found.push(SensorSpec { name: name.to_string(), text: text.to_string(), span: table.span("value") });
    }
    found
}

/// Reads sensors for a model; each may use those before it.
pub(crate) fn read_sensors(specs: &[SensorSpec], model: &Model, found: &mut Vec<Finding>) -> Sensors {
    let mut sensors = Sensors::new();
    for SensorSpec { name, text, span } in specs {
        match Signal::parse(text, model, &sensors) {
            Ok(signal) => sensors.push((name.clone(), signal)),
            Err(what) => found.push(Finding::error(span, what)),
        }
    }
    sensors
}

/// Controllers of a scene.
#[derive(Debug, Clone, Default)]
pub struct Controls(Vec<Control>);

#[derive(Debug, Clone)]
struct Control {
    /// Name of the input, whose number may change as a live world is edited.
    input: String,
    signal: Signal,
    every: Option<f64>,
}

impl Controls {
    /// Reads the controllers of a file for its model.
    pub(crate) fn read(
        specs: &[ControlSpec],
        model: &Model,
        sensors: &Sensors,
        found: &mut Vec<Finding>,
    ) -> Self {
        let mut controls = Vec::new();
        for ControlSpec { input, text, span, every } in specs {
            let signal = Signal::parse(text, model, sensors);
            match (signal, model.find_input(input)) {
                (Ok(signal), Ok(_)) => {
                    controls.push(Control { input: input.clone(), signal, every: *every });
                }
                (Err(what), _) => found.push(Finding::error(span, what)),
                (_, Err(error)) => found.push(Finding::error(span, error.to_string())),
            }
        }
        Self(controls)
    }

    /// `true` without controllers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets the inputs for the next step from the state after the last one, the state before it and its report. At the
    /// start there is none, and quantities of it are 0. A value that is not finite is an error with the name of the input,
    /// and nothing is changed.
    pub fn apply(
        &self,
        simulation: &mut Simulation<Model>,
        last: Option<(&State, &StepReport)>,
    ) -> Result<(), InputError> {
        let mut next = simulation.state().clone();
        let model = simulation.system();
        let (before, report) = last.unzip();
        for Control { input, signal, every } in &self.0 {
            let sample = Sample { model, before, state: simulation.state(), report };
            if !is_due(*every, before.map(|before| before.t), next.t) {
                continue;
            }
            let mut value = signal.at(&sample);
            if value.is_nan() && report.is_none() {
                value = 0.0;
            }
            model.set_input(&mut next, model.find_input(input)?, value)?;
        }
        if !self.0.is_empty() {
            simulation.restore(next);
        }
        Ok(())
    }
}

/// `true` when a controller with this interval sets its input at `t`; the step before began at `before`.
fn is_due(every: Option<f64>, before: Option<f64>, t: f64) -> bool {
    let (Some(every), Some(before)) = (every, before) else { return true };
    let count = |t: f64| (t / every + UPDATE_ROUND_OFF).floor();
    count(t) > count(before)
}
