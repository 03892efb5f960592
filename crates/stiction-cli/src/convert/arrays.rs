//! A run as arrays: one per quantity, samples first.

use crate::run::plan::Plan;
use serde_json::{Map, Value, json};
use stiction::{BodyId, JointId, Mode, Model, Simulation, State};
use stiction_journal::Step;
use stiction_scene::Record;

/// What the numbers of a quantity stand for, for formats that tell them apart.
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "Parquet alone tells them apart"))]
pub(super) enum Kind {
    Real,
    Whole,
    /// A number stands for the word in its place.
    Word(Vec<String>),
}

/// One quantity.
pub(super) struct Array {
    pub(super) name: &'static str,
    /// What it is measured in, and what it is.
    pub(super) unit: &'static str,
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "Parquet alone tells them apart"))]
    pub(super) kind: Kind,
    /// After the first dimension.
    shape: Vec<usize>,
    /// What to call each number of a sample in a table, after the name.
    pub(super) labels: Vec<String>,
    pub(super) data: Vec<f64>,
}

impl Array {
    fn new(name: &'static str, unit: &'static str, shape: Vec<usize>, labels: Vec<String>) -> Self {
        Self { name, unit, kind: Kind::Real, shape, labels, data: Vec::new() }
    }

    fn of(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// One number per sample.
    fn scalar(name: &'static str, unit: &'static str) -> Self {
        Self::new(name, unit, Vec::new(), vec![String::new()])
    }

    /// A vector per sample.
    fn vector(name: &'static str, unit: &'static str, axes: &[&str]) -> Self {
        Self::new(name, unit, vec![axes.len()], axes.iter().map(|a| format!(".{a}")).collect())
    }

    /// The same of each of several things, by name.
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

    /// Number of samples; 0 of what there is none of.
    pub(super) fn len(&self) -> usize {
        self.data.len().checked_div(self.width()).unwrap_or(0)
    }

    /// All dimensions.
    pub(super) fn shape(&self) -> Vec<usize> {
        std::iter::once(self.len()).chain(self.shape.iter().copied()).collect()
    }
}

/// A run as arrays.
pub(super) struct Arrays {
    model: Model,
    record: Record,
    bodies: Vec<Option<BodyId>>,
    joints: Vec<Option<JointId>>,
    /// When the next sample is due [s].
    due: f64,
    samples: usize,
    /// One entry per sample.
    pub(super) sampled: Vec<Array>,
    /// One entry per contact, and per joint row, of a sample.
    pub(super) contacts: Vec<Array>,
    pub(super) rows: Vec<Array>,
    pub(super) metadata: Value,
}

const SPACE: [&str; 3] = ["x", "y", "z"];

/// What is said of the residuals, in the order of the journal.
const RESIDUALS: [(&str, &str); 7] = [
    ("certificate_speed", "m/s, what the others are measured by"),
    ("certificate_momentum", "1"),
    ("certificate_joints", "1"),
    ("certificate_natural_map", "1"),
    ("certificate_cone", "1"),
    ("certificate_complementarity", "1"),
    ("certificate_dissipation", "1"),
];

impl Arrays {
    /// Of a run, with its start as the first sample.
    pub(super) fn new(plan: &Plan) -> Self {
        let Plan { model, record, start, header, .. } = plan;
        let (bodies, joints) = (&record.bodies, &record.joints);
        let mut sampled = vec![
            Array::scalar("time", "s"),
            Array::scalar("step_size", "s"),
            Array::each("body_position", "m, of the frame", bodies, &SPACE),
            Array::each("body_quat_wxyz", "unit quaternion, w first", bodies, &["w", "x", "y", "z"]),
            Array::each("body_velocity", "m/s, of the centre of mass", bodies, &SPACE),
            Array::each("body_angular_velocity", "rad/s, in the world", bodies, &SPACE),
        ];
        if model.dimension() == 2 {
            sampled.push(Array::each("body_angle", "rad, counting turns", bodies, &[]));
        }
        let count = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
        sampled.extend([
            Array::each("joint_coordinate", "rad or m; not a number for joints without", joints, &[]),
            Array::each("coordinates", "q, as the scheme has them", &count(start.q.len()), &[]),
            Array::each("velocities", "v, as the scheme has them", &count(start.v.len()), &[]),
            Array::scalar("kinetic_energy", "J"),
            Array::scalar("potential_energy", "J"),
            Array::vector("linear_momentum", "N s", &SPACE),
            Array::vector("angular_momentum", "N m s, about the origin", &SPACE),
            Array::scalar("infeasibility", "m, the largest penetration or joint error"),
        ]);
        sampled.extend(RESIDUALS.map(|(name, unit)| Array::scalar(name, unit)));
        sampled.push(Array::scalar("problems", "complementarity problems solved").of(Kind::Whole));
        let words = |words: &[&str]| Kind::Word(words.iter().map(ToString::to_string).collect());
        let contacts = vec![
            Array::scalar("contact_sample", "number of the sample, from 0").of(Kind::Whole),
            Array::vector("contact_shapes", "numbers of the shapes", &["a", "b"]).of(Kind::Whole),
            Array::scalar("contact_feature", "number of the near point of the two").of(Kind::Whole),
            Array::vector("contact_bodies", "numbers of the bodies", &["a", "b"])
                .of(words(&model.body_names())),
            Array::vector("contact_point", "m", &SPACE),
            Array::vector("contact_normal", "unit, from the first body to the second", &SPACE),
            Array::scalar("contact_gap", "m, where rows were taken"),
            Array::scalar("contact_friction_coefficient", "1"),
            Array::scalar("contact_normal_impulse", "N s, on the second body"),
            Array::vector("contact_friction_impulse", "N s, on the second body", &SPACE),
            Array::vector("contact_slip", "m/s, of the second body against the first", &SPACE),
            Array::scalar("contact_mode", "0 open, 1 stick, 2 slip").of(words(&["open", "stick", "slip"])),
        ];
        let rows = vec![
            Array::scalar("joint_row_sample", "number of the sample, from 0").of(Kind::Whole),
            Array::scalar("joint_row_joint", "number of the joint").of(words(&model.joint_names())),
            Array::scalar("joint_row_impulse", "N s"),
        ];
        let mut arrays = Self {
            bodies: bodies.iter().map(|name| model.find_body(name)).collect(),
            joints: joints.iter().map(|name| model.find_joint(name)).collect(),
            model: model.clone(),
            record: record.clone(),
            due: start.t,
            samples: 0,
            metadata: json!({
                "program": header.program,
                "scene": header.name,
                "scene_text": header.scene,
                "scheme": serde_json::from_str::<Value>(&header.scheme).unwrap_or(Value::Null),
                "h": header.h,
                "accuracy": header.accuracy.map(|a| a.tolerance),
                "bodies": bodies,
                "joints": joints,
                "body_numbers": model.body_names(),
                "joint_numbers": model.joint_names(),
            }),
            sampled,
            contacts,
            rows,
        };
        let observed = Simulation::new(model.clone(), start.clone(), plan.scheme).observe();
        let mut first = Step::new(start, &observed);
        // nothing was solved yet
        first.certificate = [f64::NAN; 7];
        arrays.add(&first);
        arrays
    }

    /// After a step; those between two samples are left out.
    pub(super) fn add(&mut self, step: &Step) {
        if let Some(every) = self.record.every {
            // round-off of the sum of many steps
            if step.t < self.due - 1e-9 * every {
                return;
            }
            while self.due <= step.t + 1e-9 * every {
                self.due += every;
            }
        }
        let state = step.state();
        let mut values = self.figures(step, &state).into_iter();
        for array in &mut self.sampled {
            array.data.extend(values.next().unwrap_or_default());
        }
        let sample = self.samples as f64;
        if self.record.contacts {
            for c in &step.contacts {
                let mode = match c.mode {
                    Mode::Open => 0.0,
                    Mode::Stick => 1.0,
                    Mode::Slip => 2.0,
                };
                let values: [&[f64]; 12] = [
                    &[sample],
                    &[f64::from(c.id.pair.a.0), f64::from(c.id.pair.b.0)],
                    &[f64::from(c.id.feature)],
                    &c.bodies.map(|body| f64::from(body.0)),
                    &c.point,
                    &c.normal,
                    &[c.gap],
                    &[c.mu],
                    &[c.normal_impulse],
                    &c.friction_impulse,
                    &c.slip,
                    &[mode],
                ];
                self.contacts.iter_mut().zip(values).for_each(|(array, x)| array.data.extend(x));
            }
        }
        for joint in &step.joints {
            let values = [sample, f64::from(joint.joint.0), joint.impulse];
            self.rows.iter_mut().zip(values).for_each(|(array, x)| array.data.push(x));
        }
        self.samples += 1;
    }

    /// The numbers of a sample, in the order of `sampled`.
    fn figures(&self, step: &Step, state: &State) -> Vec<Vec<f64>> {
        let Self { model, bodies, joints, .. } = self;
        let missing = f64::NAN;
        let poses: Vec<_> = bodies.iter().map(|b| b.and_then(|b| model.pose(state, b))).collect();
        let twists: Vec<_> = bodies.iter().map(|b| b.and_then(|b| model.velocity(state, b))).collect();
        let mut values = vec![
            vec![step.t],
            vec![step.h],
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
        values.extend([
            joints.iter().map(coordinate).collect(),
            state.q.clone(),
            state.v.clone(),
            vec![step.kinetic],
            vec![step.potential],
            step.linear_momentum.to_vec(),
            step.angular_momentum.to_vec(),
            vec![step.infeasibility],
        ]);
        values.extend(step.certificate.iter().map(|r| vec![*r]));
        values.push(vec![step.work.problems as f64]);
        values
    }

    /// Adds what the arrays are.
    pub(super) fn finish(mut self) -> Self {
        let quantities: Map<String, Value> = self
            .all()
            .map(|array| (array.name.to_string(), json!({ "unit": array.unit, "shape": array.shape() })))
            .collect();
        self.metadata["quantities"] = Value::Object(quantities);
        self
    }

    /// The arrays as tables, each with what its file is called after.
    pub(super) fn tables(&self) -> [(&'static str, &[Array]); 3] {
        [("", &self.sampled), ("contacts.", &self.contacts), ("joints.", &self.rows)]
    }

    /// All arrays.
    pub(super) fn all(&self) -> impl Iterator<Item = &Array> {
        self.sampled.iter().chain(&self.contacts).chain(&self.rows)
    }

    /// The same as one JSON object; what is not a number is null.
    pub(super) fn json(&self) -> Value {
        let mut object = Map::new();
        object.insert("metadata".into(), self.metadata.clone());
        for array in self.all() {
            object.insert(array.name.into(), nested(&array.data, &array.shape()));
        }
        Value::Object(object)
    }
}

/// Numbers as lists of lists.
fn nested(data: &[f64], shape: &[usize]) -> Value {
    let Some((&n, inner)) = shape.split_first() else {
        return data.first().map_or(Value::Null, |x| json!(x));
    };
    let size: usize = inner.iter().product();
    Value::Array((0..n).map(|i| nested(&data[i * size..(i + 1) * size], inner)).collect())
}
