//! Arrays of a run: one per quantity, samples first, collected step by step for the writers of the formats.

use super::intervals;
use crate::run::plan::RunPlan;
use serde_json::{Map, Value, json};
use stiction::{
    BodyId, ContactReport, JointId, JointLoad, Mode, Model, Simulation, State, StepError, StepReport,
};
use stiction_lcp::Certificate;
use stiction_scene::{RecordSettings, Sample, Sensors};

/// Type of the numbers of a quantity, for formats with typed columns.
pub(super) enum ColumnType {
    Real,
    Whole,
    /// Names, by their index.
    Word(Vec<String>),
}

/// Quantity with its values at all samples.
pub(super) struct Quantity {
    pub(super) name: &'static str,
    /// Unit and meaning.
    pub(super) unit: &'static str,
    pub(super) column_type: ColumnType,
    /// Dimensions of one sample.
    shape: Vec<usize>,
    /// Suffix of the column name for each number of a sample.
    pub(super) labels: Vec<String>,
    pub(super) data: Vec<f64>,
}

impl Quantity {
    fn new(name: &'static str, unit: &'static str, shape: Vec<usize>, labels: Vec<String>) -> Self {
        Self { name, unit, column_type: ColumnType::Real, shape, labels, data: Vec::new() }
    }

    fn of(self, column_type: ColumnType) -> Self {
        Self { column_type, ..self }
    }

    /// Scalar per sample.
    pub(super) fn scalar(name: &'static str, unit: &'static str) -> Self {
        Self::new(name, unit, Vec::new(), vec![String::new()])
    }

    /// Vector per sample.
    pub(super) fn vector(name: &'static str, unit: &'static str, axes: &[&str]) -> Self {
        Self::new(name, unit, vec![axes.len()], axes.iter().map(|a| format!(".{a}")).collect())
    }

    /// Scalar or vector per sample for each of several named things.
    fn each(name: &'static str, unit: &'static str, things: &[String], axes: &[&str]) -> Self {
        if axes.is_empty() {
            let labels = things.iter().map(|thing| format!(".{thing}")).collect();
            return Self::new(name, unit, vec![things.len()], labels);
        }
        let labels = things.iter().flat_map(|thing| axes.iter().map(move |axis| format!(".{thing}.{axis}")));
        Self::new(name, unit, vec![things.len(), axes.len()], labels.collect())
    }

    /// Numbers per sample.
    pub(super) fn width(&self) -> usize {
        self.labels.len()
    }

    /// Number of samples.
    pub(super) fn len(&self) -> usize {
        self.data.len().checked_div(self.width()).unwrap_or(0)
    }

    /// All dimensions.
    pub(super) fn shape(&self) -> Vec<usize> {
        std::iter::once(self.len()).chain(self.shape.iter().copied()).collect()
    }
}

/// All quantities of a run.
pub(super) struct RunArrays {
    model: Model,
    record: RecordSettings,
    bodies: Vec<Option<BodyId>>,
    joints: Vec<Option<JointId>>,
    sensors: Sensors,
    /// State before the step of the next sample.
    before: Option<State>,
    /// Time of the next sample [s].
    due: f64,
    samples: usize,
    /// Contacts and joint rows have forces at the samples, not impulses over steps.
    forces: bool,
    /// Intervals of contacts; empty unless the run was made with them.
    intervals: Vec<Quantity>,
    /// Quantities with one entry per sample.
    pub(super) sampled: Vec<Quantity>,
    /// Quantities with one entry per contact of a sample.
    pub(super) contacts: Vec<Quantity>,
    /// Quantities with one entry per joint row of a sample.
    pub(super) rows: Vec<Quantity>,
    pub(super) metadata: Value,
}

pub(super) const SPACE: [&str; 3] = ["x", "y", "z"];

/// Unit of the force of a contact.
const CONTACT_FORCE: &str = "N, normal and friction force on the second body; of a step its mean";
/// Units of the loads of joints.
const JOINT_FORCE: &str = "N, on the second body, along the axes of the world; of a step its mean";
const JOINT_MOMENT: &str = "N m, on the second body about the joint, along the axes of the world";

/// Unit of a flag that says whether a force is determined.
const DETERMINED: &str = "1 if no other impulse causes the same motion, 0 if one may; NaN if not examined";

/// Flag as a number.
fn flag(determined: Option<bool>) -> f64 {
    determined.map_or(f64::NAN, |determined| f64::from(u8::from(determined)))
}

/// Names and units of the residuals of a certificate.
const RESIDUALS: [(&str, &str); 7] = [
    ("certificate_speed", "m/s, the speed by which the others are scaled"),
    ("certificate_momentum", "1"),
    ("certificate_joints", "1"),
    ("certificate_natural_map", "1"),
    ("certificate_cone", "1"),
    ("certificate_complementarity", "1"),
    ("certificate_dissipation", "1"),
];

/// Names and units of the columns of contacts and joint rows.
struct LoadColumns {
    normal: &'static str,
    friction: &'static str,
    joint: &'static str,
    unit: &'static str,
    joint_unit: &'static str,
}

/// Columns of steps of fixed size.
const IMPULSES: LoadColumns = LoadColumns {
    normal: "contact_normal_impulse",
    friction: "contact_friction_impulse",
    joint: "joint_row_impulse",
    unit: "N s, on the second body, over the step",
    joint_unit: "N s, over the step",
};

/// Columns of runs to an accuracy.
const FORCES: LoadColumns = LoadColumns {
    normal: "contact_normal_force",
    friction: "contact_friction_force",
    joint: "joint_row_force",
    unit: "N, on the second body, at the sample",
    joint_unit: "N, or N m for a row of angles, at the sample",
};

/// Names as the type of a column that holds their indices.
fn words(words: &[&str]) -> ColumnType {
    ColumnType::Word(words.iter().map(ToString::to_string).collect())
}

/// Quantities with one entry per contact of a sample.
fn contact_quantities(model: &Model, loads: &LoadColumns) -> Vec<Quantity> {
    vec![
        Quantity::scalar("contact_sample", "number of the sample, from 0").of(ColumnType::Whole),
        Quantity::vector("contact_shapes", "numbers of the shapes", &["a", "b"]).of(ColumnType::Whole),
        Quantity::scalar("contact_feature", "number of the near point of the two").of(ColumnType::Whole),
        Quantity::vector("contact_bodies", "numbers of the bodies", &["a", "b"])
            .of(words(&model.body_names())),
        Quantity::vector("contact_point", "m", &SPACE),
        Quantity::vector("contact_normal", "unit, from the first body to the second", &SPACE),
        Quantity::scalar("contact_gap", "m, where rows were taken"),
        Quantity::scalar("contact_friction_coefficient", "1"),
        Quantity::scalar(loads.normal, loads.unit),
        Quantity::vector(loads.friction, loads.unit, &SPACE),
        Quantity::vector("contact_force", CONTACT_FORCE, &SPACE),
        Quantity::vector("contact_slip", "m/s, of the second body against the first", &SPACE),
        Quantity::scalar("contact_mode", "0 open, 1 stick, 2 slip").of(words(&["open", "stick", "slip"])),
        Quantity::scalar("contact_determined", DETERMINED),
    ]
}

/// Quantity of the sensors of a scene, where it has any.
fn sensor_quantity(sensors: &Sensors) -> Option<Quantity> {
    let names: Vec<String> = sensors.iter().map(|(name, _)| name.clone()).collect();
    let quantity = || Quantity::each("sensor", "of the scene, in the units of their quantities", &names, &[]);
    (!names.is_empty()).then(quantity)
}

impl RunArrays {
    /// Arrays of a run, with its start as the first sample.
    pub(super) fn new(plan: &RunPlan) -> Result<Self, StepError> {
        let RunPlan { model, record, start, header, .. } = plan;
        let (bodies, joints) = (&record.bodies, &record.joints);
        let mut sampled = vec![
            Quantity::scalar("time", "s"),
            Quantity::scalar("step_size", "s"),
            Quantity::each("body_position", "m, of the frame", bodies, &SPACE),
            Quantity::each("body_quat_wxyz", "unit quaternion, w first", bodies, &["w", "x", "y", "z"]),
            Quantity::each("body_velocity", "m/s, of the centre of mass", bodies, &SPACE),
            Quantity::each("body_angular_velocity", "rad/s, in the world", bodies, &SPACE),
        ];
        if model.dimension() == 2 {
            sampled.push(Quantity::each("body_angle", "rad, counting turns", bodies, &[]));
        }
        let count = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
        sampled.extend([
            Quantity::each("joint_coordinate", "rad or m; NaN for joints without a coordinate", joints, &[]),
            Quantity::each("joint_speed", "rad/s or m/s, of the coordinate", joints, &[]),
            Quantity::each("joint_force", JOINT_FORCE, joints, &SPACE),
            Quantity::each("joint_moment", JOINT_MOMENT, joints, &SPACE),
            Quantity::each("joint_motor", "N m or N, of the motor along the coordinate", joints, &[]),
            Quantity::each("coordinates", "q, as the scheme has them", &count(start.q.len()), &[]),
            Quantity::each("velocities", "v, as the scheme has them", &count(start.v.len()), &[]),
            Quantity::scalar("kinetic_energy", "J"),
            Quantity::scalar("potential_energy", "J"),
            Quantity::vector("linear_momentum", "N s", &SPACE),
            Quantity::vector("angular_momentum", "N m s, about the origin", &SPACE),
            Quantity::scalar("infeasibility", "m, the largest penetration or joint error"),
        ]);
        sampled.extend(RESIDUALS.map(|(name, unit)| Quantity::scalar(name, unit)));
        sampled.push(Quantity::scalar("problems", "complementarity problems solved").of(ColumnType::Whole));
        sampled.extend(sensor_quantity(&plan.sensors));
        let loads = if header.accuracy.is_some() { &FORCES } else { &IMPULSES };
        let contacts = contact_quantities(model, loads);
        // couplings have numbers of joints
        let joint_numbers = [model.joint_names(), model.coupling_names()].concat();
        let rows = vec![
            Quantity::scalar("joint_row_sample", "number of the sample, from 0").of(ColumnType::Whole),
            Quantity::scalar("joint_row_joint", "number of the joint").of(words(&joint_numbers)),
            Quantity::scalar(loads.joint, loads.joint_unit),
            Quantity::scalar("joint_row_determined", DETERMINED),
        ];
        let mut arrays = Self {
            bodies: bodies.iter().map(|name| model.find_body(name)).collect(),
            joints: joints.iter().map(|name| model.find_joint(name)).collect(),
            sensors: plan.sensors.clone(),
            before: None,
            model: model.clone(),
            record: record.clone(),
            due: start.t,
            samples: 0,
            forces: header.accuracy.is_some(),
            intervals: Vec::new(),
            metadata: json!({
                "program": header.program,
                "scene": header.name,
                "scene_text": header.scene,
                "scheme": serde_json::from_str::<Value>(&header.scheme).unwrap_or(Value::Null),
                "h": header.h,
                "accuracy": header.accuracy.map(|a| a.tolerance),
                "bodies": bodies,
                "joints": joints,
                "sensors": plan.sensors.iter().map(|(name, _)| name).collect::<Vec<_>>(),
                "body_numbers": model.body_names(),
                "joint_numbers": joint_numbers,
            }),
            sampled,
            contacts,
            rows,
        };
        let simulation = Simulation::from_state(model.clone(), start.clone()).with_scheme(plan.scheme);
        arrays.add_sample((None, start), &simulation.observe()?, None);
        arrays.before = Some(start.clone());
        Ok(arrays)
    }

    /// Adds a step, unless it lies between two samples. A state of another model is an error.
    pub(super) fn add(&mut self, state: &State, report: &StepReport) -> Result<(), StepError> {
        self.model.check_state(state)?;
        let before = if self.sensors.is_empty() { None } else { self.before.replace(state.clone()) };
        if let Some(every) = self.record.every {
            // tolerance for the round-off of a sum of many steps
            if report.t < self.due - 1e-9 * every {
                return Ok(());
            }
        }
        self.add_sample((before.as_ref(), state), report, Some(&report.certificate));
        Ok(())
    }

    /// Adds a sample; without a certificate where nothing was solved.
    fn add_sample(
        &mut self,
        (before, state): (Option<&State>, &State),
        report: &StepReport,
        certificate: Option<&Certificate>,
    ) {
        if let Some(every) = self.record.every {
            // not by repeated addition, which would not end at a time whose round-off is above the interval
            let passed = ((report.t - self.due) / every + 1e-9).floor().max(0.0);
            self.due += (passed + 1.0) * every;
        }
        let sensed = Sample { model: &self.model, before, state, report: certificate.map(|_| report) };
        let sensed: Vec<f64> = self.sensors.iter().map(|(_, signal)| signal.at(&sensed)).collect();
        let mut values = self.sample(state, report, certificate);
        values.push(sensed);
        let mut values = values.into_iter();
        for array in &mut self.sampled {
            array.data.extend(values.next().unwrap_or_default());
        }
        let sample = self.samples as f64;
        // a run to an accuracy reports forces at the sample times the interval
        let per_load = if self.forces { report.h } else { 1.0 };
        if self.record.contacts {
            self.add_intervals(report);
            for c in &report.contacts {
                let values: [&[f64]; 14] = [
                    &[sample],
                    &[f64::from(c.id.pair.a.0), f64::from(c.id.pair.b.0)],
                    &[f64::from(c.id.feature)],
                    &c.bodies.map(|body| f64::from(body.0)),
                    &c.point,
                    &c.normal,
                    &[c.gap],
                    &[c.mu],
                    &[c.normal_impulse / per_load],
                    &c.friction_impulse.map(|p| p / per_load),
                    &c.force(report.h).total(),
                    &c.slip,
                    &[mode_number(c)],
                    &[flag(c.determined)],
                ];
                self.contacts.iter_mut().zip(values).for_each(|(array, x)| array.data.extend(x));
            }
        }
        for joint in &report.joints {
            let values = [sample, f64::from(joint.joint.0), joint.impulse / per_load, flag(joint.determined)];
            self.rows.iter_mut().zip(values).for_each(|(array, x)| array.data.push(x));
        }
        self.samples += 1;
    }

    /// Adds the intervals of a sample, from the first sample on that has them: those before have none.
    fn add_intervals(&mut self, report: &StepReport) {
        if self.intervals.is_empty() && report.intervals.is_some() {
            self.intervals = intervals::quantities();
            let before = self.contacts.first().map_or(0, Quantity::len);
            for array in &mut self.intervals {
                array.data.resize(before * array.width(), f64::NAN);
            }
        }
        if self.intervals.is_empty() {
            return;
        }
        for contact in &report.contacts {
            let values = intervals::values(report, contact);
            self.intervals.iter_mut().zip(values).for_each(|(array, x)| array.data.extend(x));
        }
    }

    /// Numbers of a sample, in the order of `sampled`.
    fn sample(&self, state: &State, report: &StepReport, certificate: Option<&Certificate>) -> Vec<Vec<f64>> {
        let Self { model, bodies, joints, .. } = self;
        let missing = f64::NAN;
        let poses: Vec<_> = bodies.iter().map(|b| b.and_then(|b| model.pose(state, b))).collect();
        let twists: Vec<_> = bodies.iter().map(|b| b.and_then(|b| model.velocity(state, b))).collect();
        let mut values = vec![
            vec![report.t],
            vec![report.h],
            poses.iter().flat_map(|p| p.map_or([missing; 3], |p| p.position)).collect(),
            poses.iter().flat_map(|p| p.map_or([missing; 4], |p| p.quat_wxyz)).collect(),
            twists.iter().flat_map(|t| t.map_or([missing; 3], |t| t.0)).collect(),
            twists.iter().flat_map(|t| t.map_or([missing; 3], |t| t.1)).collect(),
        ];
        if model.dimension() == 2 {
            let angle = |b: &Option<BodyId>| b.and_then(|b| model.angle(state, b)).unwrap_or(missing);
            values.push(bodies.iter().map(angle).collect());
        }
        let coordinate =
            |j: &Option<JointId>| j.and_then(|j| model.joint_coordinate(state, j)).unwrap_or(missing);
        let speed = |j: &Option<JointId>| j.and_then(|j| model.joint_speed(state, j)).unwrap_or(missing);
        // nothing was solved at the start
        let loads: Vec<JointLoad> = certificate.map_or_else(Vec::new, |_| model.joint_loads(state, report));
        let load = |j: &Option<JointId>| loads.iter().find(|load| Some(load.joint) == *j);
        values.extend([
            joints.iter().map(coordinate).collect(),
            joints.iter().map(speed).collect(),
            joints.iter().flat_map(|j| load(j).map_or([missing; 3], |load| load.force)).collect(),
            joints.iter().flat_map(|j| load(j).map_or([missing; 3], |load| load.moment)).collect(),
            joints.iter().map(|j| load(j).map_or(missing, |load| load.motor)).collect(),
            state.q.clone(),
            state.v.clone(),
            vec![report.kinetic],
            vec![report.potential],
            report.linear_momentum.to_vec(),
            report.angular_momentum.to_vec(),
            vec![report.infeasibility],
        ]);
        values.extend(certificate.map_or([missing; 7], residuals).map(|r| vec![r]));
        values.push(vec![report.work.problems as f64]);
        values
    }

    /// Adds units and shapes of all quantities to the metadata.
    pub(super) fn finish(mut self) -> Self {
        self.contacts.append(&mut self.intervals);
        let quantities: Map<String, Value> = self
            .all()
            .map(|array| {
                let mut entry = json!({ "unit": array.unit, "shape": array.shape() });
                if let ColumnType::Word(words) = &array.column_type {
                    entry["words"] = json!(words);
                }
                (array.name.to_string(), entry)
            })
            .collect();
        self.metadata["quantities"] = Value::Object(quantities);
        self
    }

    /// Tables, each with the infix of its file name.
    pub(super) fn tables(&self) -> [(&'static str, &[Quantity]); 3] {
        [("", &self.sampled), ("contacts.", &self.contacts), ("joints.", &self.rows)]
    }

    /// Quantities of all tables.
    pub(super) fn all(&self) -> impl Iterator<Item = &Quantity> {
        self.sampled.iter().chain(&self.contacts).chain(&self.rows)
    }

    /// All quantities as one JSON object; NaN becomes null.
    pub(super) fn json(&self) -> Value {
        let mut object = Map::new();
        object.insert("metadata".into(), self.metadata.clone());
        for array in self.all() {
            object.insert(array.name.into(), nested(&array.data, &array.shape()));
        }
        Value::Object(object)
    }
}

/// Number of a contact's mode in the exported arrays.
fn mode_number(contact: &ContactReport) -> f64 {
    match contact.mode {
        Mode::Open => 0.0,
        Mode::Stick => 1.0,
        Mode::Slip => 2.0,
    }
}

/// Residuals in the order of [`RESIDUALS`].
fn residuals(c: &Certificate) -> [f64; 7] {
    [c.speed, c.momentum, c.joints, c.natural_map, c.cone, c.complementarity, c.dissipation]
}

/// Numbers as nested lists.
fn nested(data: &[f64], shape: &[usize]) -> Value {
    let Some((&n, inner)) = shape.split_first() else {
        return data.first().map_or(Value::Null, |x| json!(x));
    };
    let size: usize = inner.iter().product();
    Value::Array((0..n).map(|i| nested(&data[i * size..(i + 1) * size], inner)).collect())
}
