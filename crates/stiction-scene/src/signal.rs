//! Signals of a run: expressions of time, joint coordinates, places, forces and sensors, such as `torque(hinge)`. Sensors
//! and controllers of scene files, plots and sweeps read them.

use crate::diagnostic::nearest;
use crate::expression::{Expression, is_word_of_expressions, parse};
use exmex::Express;
use std::borrow::Cow;
use std::collections::HashSet;
use stiction::{BodyId, InputId, JointId, JointLoad, Model, State, StepReport};

/// Signals of a scene by name, in the order of the file.
pub type Sensors = Vec<(String, Signal)>;

/// Expression of quantities of a run.
#[derive(Debug, Clone)]
pub struct Signal {
    text: String,
    expression: Box<Expression>,
    /// Quantities in the order of the variables of the expression.
    quantities: Vec<Quantity>,
}

/// Instant of a run: the state after a step with its report. At the start there is no report.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// Model.
    pub model: &'a Model,
    /// State before the step.
    pub before: Option<&'a State>,
    /// State after the step.
    pub state: &'a State,
    /// Report of the step.
    pub report: Option<&'a StepReport>,
}

/// Quantity that an expression names.
#[derive(Debug, Clone)]
enum Quantity {
    Time,
    Energy(fn(&StepReport) -> f64),
    Joint(JointId, usize, JointQuantity),
    Point(BodyId, [f64; 3], PointQuantity),
    /// Angle of a body in the plane.
    Turn(BodyId),
    Spin(BodyId, usize),
    Pair([BodyId; 2], PairQuantity),
    Input(InputId),
    Sensor(Box<Signal>),
}

/// Quantity of a joint.
#[derive(Debug, Clone, Copy)]
enum JointQuantity {
    Coordinate,
    Speed,
    /// Motor, spring, friction or limit.
    Along(usize),
    /// Size of the force, or its part along an axis of the world.
    Force(Option<usize>),
    Moment(Option<usize>),
}

/// Quantity of a point of a body.
#[derive(Debug, Clone, Copy)]
enum PointQuantity {
    Place(usize),
    Velocity(Option<usize>),
    /// Mean over the last step.
    Acceleration(Option<usize>),
}

/// Quantity of two bodies.
#[derive(Debug, Clone, Copy)]
enum PairQuantity {
    /// Size of the contact force on the second body, or its part along an axis of the world.
    Force(Option<usize>),
    /// Sum of the normal forces.
    Normal,
    Contacts,
    Slip,
    Distance,
    Overlap,
}

/// Words of quantities with what they take, for messages: the word, its arguments, its unit.
const WORDS: &[(&str, &str, &str)] = &[
    ("angle", "a joint or a body", "rad"),
    ("coordinate", "a joint", "rad or m"),
    ("rate", "a joint", "rad/s or m/s"),
    ("speed", "a joint or a body", "m/s, or that of the coordinate"),
    ("torque", "a joint", "N m or N"),
    ("spring", "a joint", "N m or N"),
    ("friction", "a joint", "N m or N"),
    ("limit", "a joint", "N m or N"),
    ("reaction", "a joint", "N"),
    ("reaction_x", "a joint", "N"),
    ("reaction_y", "a joint", "N"),
    ("reaction_z", "a joint", "N"),
    ("moment", "a joint", "N m"),
    ("moment_x", "a joint", "N m"),
    ("moment_y", "a joint", "N m"),
    ("moment_z", "a joint", "N m"),
    ("x", "a body", "m"),
    ("y", "a body", "m"),
    ("z", "a body", "m"),
    ("vx", "a body", "m/s"),
    ("vy", "a body", "m/s"),
    ("vz", "a body", "m/s"),
    ("acceleration", "a body", "m/s²"),
    ("ax", "a body", "m/s²"),
    ("ay", "a body", "m/s²"),
    ("az", "a body", "m/s²"),
    ("wx", "a body", "rad/s"),
    ("wy", "a body", "rad/s"),
    ("wz", "a body", "rad/s"),
    ("force", "two bodies", "N"),
    ("force_x", "two bodies", "N"),
    ("force_y", "two bodies", "N"),
    ("force_z", "two bodies", "N"),
    ("normal", "two bodies", "N"),
    ("contacts", "two bodies", "1"),
    ("slip", "two bodies", "m/s"),
    ("distance", "two bodies", "m"),
    ("overlap", "two bodies", "1"),
    ("input", "an input", "rad, m, N or N m"),
];

/// Words of quantities without arguments.
const BARE: &[(&str, &str)] =
    &[("t", "s"), ("energy", "J"), ("kinetic", "J"), ("potential", "J"), ("infeasibility", "m")];

/// Number of quantities in one expression.
const MAX_QUANTITIES: usize = 16;

/// `true` for the text of an expression that names a quantity of the run, or one of `names`.
pub(crate) fn is_signal(text: &str, names: &HashSet<String>) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_alphanumeric() || c == '_' || c == '\'') {
        let word = &rest[start..];
        let end = word.find(|c| !inside(c)).unwrap_or(word.len());
        if word.starts_with('\'') {
            return true;
        }
        let called = word[end..].trim_start().starts_with('(');
        let own = &word[..end];
        let is_bare = own != "t" && BARE.iter().any(|bare| bare.0 == own);
        if called && WORDS.iter().any(|known| known.0 == own) || is_bare || names.contains(own) {
            return true;
        }
        rest = &word[end..];
    }
    false
}

impl Signal {
    /// Reads an expression of a model and of sensors. A name with spaces, brackets or other signs stands in single quotes.
    ///
    /// An error says what is wrong, with the nearest word.
    pub fn parse(text: &str, model: &Model, sensors: &Sensors) -> Result<Self, String> {
        let mut parser = SignalParser { model, sensors, quantities: Vec::new() };
        let replaced = parser.replaced(text)?;
        let expression = parse(&replaced)?;
        let quantities = parser.quantities;
        if quantities.len() > MAX_QUANTITIES {
            return Err(format!(
                "an expression has at most {MAX_QUANTITIES} quantities, not {}",
                quantities.len()
            ));
        }
        // the parser sorts variables by name: two digits keep the order
        let order = |name: &String| name.strip_prefix("q_").and_then(|digits| digits.parse::<usize>().ok());
        let order: Option<Vec<usize>> = expression.var_names().iter().map(order).collect();
        let own = order.ok_or("an unknown name")?.into_iter().filter_map(|k| quantities.get(k).cloned());
        Ok(Self { text: text.to_string(), expression: Box::new(expression), quantities: own.collect() })
    }

    /// Expression as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Unit, where the expression is one quantity.
    pub fn unit(&self) -> Option<&'static str> {
        let text = self.text.trim();
        let word = text.split('(').next().unwrap_or(text).trim();
        let is_one = self.quantities.len() == 1 && text.matches('(').count() <= 1;
        let bare = BARE.iter().find(|own| own.0 == text).map(|own| own.1);
        bare.or_else(|| {
            WORDS.iter().find(|own| is_one && own.0 == word && text.ends_with(')')).map(|own| own.2)
        })
    }

    /// Value; NaN where the expression has none, as of a force at the start.
    pub fn at(&self, sample: &Sample) -> f64 {
        let loads = std::cell::OnceCell::new();
        self.with_loads(sample, &loads)
    }

    fn with_loads(&self, sample: &Sample, loads: &std::cell::OnceCell<Vec<JointLoad>>) -> f64 {
        let mut values = [0.0; MAX_QUANTITIES];
        for (value, quantity) in values.iter_mut().zip(&self.quantities) {
            *value = quantity.at(sample, loads);
        }
        self.expression.eval(&values[..self.quantities.len()]).unwrap_or(f64::NAN)
    }
}

/// Reader of an expression: replaces quantities by variables.
struct SignalParser<'a> {
    model: &'a Model,
    sensors: &'a Sensors,
    quantities: Vec<Quantity>,
}

impl SignalParser<'_> {
    /// Text with a variable in place of every quantity.
    fn replaced(&mut self, text: &str) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if first == '\'' {
                let (name, after) = quoted(rest)?;
                out.push_str(&self.variable(self.named(name)?));
                rest = after;
            } else if first.is_alphabetic() || first == '_' {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                rest = after;
                if after.trim_start().starts_with('(') && WORDS.iter().any(|own| own.0 == word) {
                    let (arguments, after) = arguments(after.trim_start())?;
                    rest = after;
                    let quantity = self.quantity(word, &arguments)?;
                    out.push_str(&self.variable(quantity));
                } else if is_word_of_expressions(word) {
                    out.push_str(word);
                } else {
                    let quantity = self.named(word)?;
                    out.push_str(&self.variable(quantity));
                }
            } else {
                let digits = |c: char| c.is_ascii_digit() || c == '.';
                // 1e-3 is one number
                let mut end = rest.find(|c| !digits(c)).unwrap_or(rest.len()).max(first.len_utf8());
                if digits(first) {
                    let exponent = rest[end..].strip_prefix(['e', 'E']);
                    let sign = exponent.map(|e| usize::from(e.starts_with(['+', '-'])));
                    if let (Some(exponent), Some(sign)) = (exponent, sign)
                        && exponent[sign..].starts_with(|c: char| c.is_ascii_digit())
                    {
                        let power = exponent[sign..].find(|c: char| !c.is_ascii_digit());
                        end = rest.len() - exponent.len() + sign + power.unwrap_or(exponent.len() - sign);
                    }
                }
                let (number, after) = rest.split_at(end);
                if digits(first) && number.contains(['e', 'E']) {
                    let value: f64 = number.parse().map_err(|_| format!("`{number}` is no number"))?;
                    out.push_str(&value.to_string());
                } else {
                    out.push_str(number);
                }
                rest = after;
            }
        }
        Ok(out)
    }

    fn variable(&mut self, quantity: Quantity) -> String {
        self.quantities.push(quantity);
        format!(" q_{:02} ", self.quantities.len() - 1)
    }

    /// Quantity of a name alone: time, an energy, a sensor, or the coordinate of a joint.
    fn named(&self, name: &str) -> Result<Quantity, String> {
        let known: Option<Quantity> = match name {
            "t" => Some(Quantity::Time),
            "energy" => Some(Quantity::Energy(|report| report.kinetic + report.potential)),
            "kinetic" => Some(Quantity::Energy(|report| report.kinetic)),
            "potential" => Some(Quantity::Energy(|report| report.potential)),
            "infeasibility" => Some(Quantity::Energy(|report| report.infeasibility)),
            _ => None,
        };
        let sensor = || self.sensors.iter().find(|(own, _)| own == name);
        if let Some(known) = known {
            return Ok(known);
        }
        if let Some((_, signal)) = sensor() {
            return Ok(Quantity::Sensor(Box::new(signal.clone())));
        }
        if let Some(joint) = self.model.find_joint(name) {
            return self.joint(joint, 0, JointQuantity::Coordinate);
        }
        let sensors = self.sensors.iter().map(|(own, _)| own.as_str());
        let words = WORDS.iter().map(|own| own.0).chain(BARE.iter().map(|own| own.0));
        let all = self.model.joint_names().into_iter().chain(sensors).chain(words);
        Err(unknown("quantity, joint or sensor", name, all))
    }

    fn quantity(&self, word: &str, arguments: &[Cow<str>]) -> Result<Quantity, String> {
        let takes = WORDS.iter().find(|own| own.0 == word).map_or("", |own| own.1);
        let count = || format!("`{word}` takes {takes}, not {} arguments", arguments.len());
        let numbers = |from: usize| -> Result<Vec<f64>, String> {
            let number = |text: &Cow<str>| text.parse::<f64>().map_err(|_| format!("`{text}` is no number"));
            arguments.iter().skip(from).map(number).collect()
        };
        let first = arguments.first().ok_or_else(count)?;
        let joint = self.model.find_joint(first);
        let part =
            |letter: Option<char>| letter.and_then(|c| ['x', 'y', 'z'].iter().position(|own| *own == c));
        let axis = part(word.chars().last().filter(|_| word.contains('_') || word.len() <= 2));
        if takes == "two bodies" {
            let [a, b] = arguments else { return Err(count()) };
            let pair = [self.body(a)?, self.body(b)?];
            let quantity = match word {
                "normal" => PairQuantity::Normal,
                "contacts" => PairQuantity::Contacts,
                "slip" => PairQuantity::Slip,
                "distance" => PairQuantity::Distance,
                "overlap" => PairQuantity::Overlap,
                _ => PairQuantity::Force(axis),
            };
            return Ok(Quantity::Pair(pair, quantity));
        }
        if word == "input" {
            return self.model.find_input(first).map(Quantity::Input).map_err(|error| error.to_string());
        }
        let is_body = takes == "a body" || (takes == "a joint or a body" && joint.is_none());
        if !is_body {
            let joint = joint.ok_or_else(|| unknown("joint", first, self.model.joint_names()))?;
            let number = match &numbers(1)?[..] {
                [] | [0.0] => 0,
                [1.0] => 1,
                [2.0] => 2,
                _ => return Err(format!("`{word}` takes a joint and the number of a coordinate, 0, 1 or 2")),
            };
            let quantity = match word {
                "angle" | "coordinate" => JointQuantity::Coordinate,
                "speed" | "rate" => JointQuantity::Speed,
                "torque" => JointQuantity::Along(0),
                "spring" => JointQuantity::Along(1),
                "friction" => JointQuantity::Along(2),
                "limit" => JointQuantity::Along(3),
                _ if word.starts_with("reaction") => JointQuantity::Force(axis),
                _ => JointQuantity::Moment(axis),
            };
            return self.joint(joint, number, quantity);
        }
        if takes == "a joint or a body" && self.model.find_body(first).is_none() {
            let names = self.model.joint_names().into_iter().chain(self.model.body_names());
            return Err(unknown("joint or body", first, names));
        }
        let body = self.body(first)?;
        let dimension = self.model.dimension();
        let own = numbers(1)?;
        if !(own.is_empty() || own.len() == dimension) {
            return Err(format!("`{word}` takes a body and a point of {dimension} numbers in its frame [m]"));
        }
        let mut point = [0.0; 3];
        point.iter_mut().zip(&own).for_each(|(x, own)| *x = *own);
        Ok(match word {
            "angle" if dimension == 2 => Quantity::Turn(body),
            "angle" => return Err("a body in space has no angle: use the coordinate of a joint".to_string()),
            "x" | "y" | "z" => Quantity::Point(body, point, PointQuantity::Place(axis.unwrap_or(0))),
            "wx" | "wy" | "wz" => Quantity::Spin(body, axis.unwrap_or(0)),
            "speed" | "vx" | "vy" | "vz" => Quantity::Point(body, point, PointQuantity::Velocity(axis)),
            _ => Quantity::Point(body, point, PointQuantity::Acceleration(axis)),
        })
    }

    fn joint(&self, joint: JointId, axis: usize, quantity: JointQuantity) -> Result<Quantity, String> {
        let needs_coordinate = !matches!(quantity, JointQuantity::Force(_) | JointQuantity::Moment(_));
        let state = self.model.state();
        if needs_coordinate && self.model.joint_coordinate(&state, joint.axis(axis)).is_none() {
            let name = self.model.joint_name(joint).unwrap_or_default();
            return Err(format!("joint `{name}` has no coordinate {axis}"));
        }
        Ok(Quantity::Joint(joint, axis, quantity))
    }

    fn body(&self, name: &str) -> Result<BodyId, String> {
        self.model.find_body(name).ok_or_else(|| unknown("body", name, self.model.body_names()))
    }
}

impl Quantity {
    fn at(&self, sample: &Sample, loads: &std::cell::OnceCell<Vec<JointLoad>>) -> f64 {
        let Sample { model, before, state, report } = *sample;
        match self {
            Self::Time => state.t,
            Self::Energy(of) => report.map_or(f64::NAN, of),
            Self::Joint(joint, axis, JointQuantity::Coordinate) => {
                model.joint_coordinate(state, joint.axis(*axis)).unwrap_or(f64::NAN)
            }
            Self::Joint(joint, axis, JointQuantity::Speed) => {
                model.joint_speed(state, joint.axis(*axis)).unwrap_or(f64::NAN)
            }
            Self::Joint(joint, axis, quantity) => {
                let Some(report) = report else { return f64::NAN };
                let loads = loads.get_or_init(|| model.joint_loads(state, report));
                let load = loads.iter().find(|load| load.joint == *joint);
                load.and_then(|load| quantity.of(load, *axis)).unwrap_or(f64::NAN)
            }
            Self::Point(body, point, quantity) => {
                let now = moving(model, state, *body, *point);
                let value = match quantity {
                    PointQuantity::Place(axis) => now.map(|now| now[0][*axis]),
                    PointQuantity::Velocity(axis) => now.map(|now| part(now[1], *axis)),
                    PointQuantity::Acceleration(axis) => {
                        let then = before.and_then(|before| moving(model, before, *body, *point));
                        let h = before.map_or(f64::NAN, |before| state.t - before.t);
                        now.zip(then).map(|(now, then)| {
                            part(std::array::from_fn(|c| (now[1][c] - then[1][c]) / h), *axis)
                        })
                    }
                };
                value.unwrap_or(f64::NAN)
            }
            Self::Turn(body) => model.angle(state, *body).unwrap_or(f64::NAN),
            Self::Spin(body, axis) => model.velocity(state, *body).map_or(f64::NAN, |(_, spin)| spin[*axis]),
            Self::Pair(pair, quantity) => quantity.at(sample, *pair),
            Self::Input(input) => model.input(state, *input).unwrap_or(f64::NAN),
            Self::Sensor(signal) => signal.with_loads(sample, loads),
        }
    }
}

impl JointQuantity {
    fn of(self, load: &JointLoad, axis: usize) -> Option<f64> {
        let first = [load.motor, load.spring, load.friction, load.limit];
        Some(match self {
            Self::Along(k) if axis == 0 => first[k],
            Self::Along(k) => load.further.iter().find(|own| own.0 == axis).map_or(0.0, |own| own.1[k]),
            Self::Force(axis) => part(load.force, axis),
            Self::Moment(axis) => part(load.moment, axis),
            Self::Coordinate | Self::Speed => return None,
        })
    }
}

impl PairQuantity {
    fn at(self, sample: &Sample, [a, b]: [BodyId; 2]) -> f64 {
        let Sample { model, state, report, .. } = *sample;
        match self {
            Self::Distance => match model.distance(state, a, b) {
                Ok(Some(near)) => near.gap,
                Ok(None) | Err(_) => f64::NAN,
            },
            Self::Overlap => {
                let is_pair = |pair: &stiction::PairId| {
                    let own = [pair.a, pair.b].map(|shape| model.body_of(shape));
                    own == [Some(a), Some(b)] || own == [Some(b), Some(a)]
                };
                let touches = model.sensed(state).iter().any(is_pair)
                    || matches!(model.distance(state, a, b), Ok(Some(near)) if near.gap < 0.0);
                f64::from(u8::from(touches))
            }
            _ => report.map_or(f64::NAN, |report| self.of_contacts(report, [a, b])),
        }
    }

    fn of_contacts(self, report: &StepReport, [a, b]: [BodyId; 2]) -> f64 {
        let (mut sum, mut normal, mut count, mut slip) = ([0.0; 3], 0.0, 0.0, 0.0_f64);
        for contact in &report.contacts {
            let sign = match contact.bodies {
                own if own == [a, b] => 1.0,
                own if own == [b, a] => -1.0,
                _ => continue,
            };
            let force = contact.force(report.h).total();
            sum.iter_mut().zip(force).for_each(|(sum, x)| *sum += sign * x);
            if contact.normal_impulse > 0.0 {
                normal += contact.normal_impulse / report.h;
                count += 1.0;
                slip = slip.max(part(contact.slip, None));
            }
        }
        match self {
            Self::Force(axis) => part(sum, axis),
            Self::Normal => normal,
            Self::Contacts => count,
            Self::Slip => slip,
            Self::Distance | Self::Overlap => f64::NAN,
        }
    }
}

/// Place and velocity of a point of a body, in its frame.
fn moving(model: &Model, state: &State, body: BodyId, point: [f64; 3]) -> Option<[[f64; 3]; 2]> {
    let (pose, (linear, spin)) = (model.pose(state, body)?, model.velocity(state, body)?);
    let [w, i, j, k] = pose.quat_wxyz;
    // p + 2 w (u × p) + 2 u × (u × p)
    let u = [i, j, k];
    let first = cross(u, point);
    let second = cross(u, first);
    let lever: [f64; 3] = std::array::from_fn(|c| point[c] + 2.0 * (w * first[c] + second[c]));
    let place: [f64; 3] = std::array::from_fn(|c| pose.position[c] + lever[c]);
    let centre = model.centre(state, body)?;
    let turning = cross(spin, std::array::from_fn(|c| place[c] - centre[c]));
    Some([place, std::array::from_fn(|c| linear[c] + turning[c])])
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Part of a vector along an axis, or its size.
fn part(vector: [f64; 3], axis: Option<usize>) -> f64 {
    axis.map_or_else(|| vector.iter().map(|x| x * x).sum::<f64>().sqrt(), |axis| vector[axis])
}

/// Text within single quotes at the start, and what follows.
fn quoted(text: &str) -> Result<(&str, &str), String> {
    let inside = &text[1..];
    inside.split_once('\'').ok_or_else(|| format!("a name in quotes does not end: {text}"))
}

/// Arguments within parentheses at the start, and what follows.
fn arguments(text: &str) -> Result<(Vec<Cow<'_, str>>, &str), String> {
    let mut found = Vec::new();
    let mut rest = &text[1..];
    loop {
        rest = rest.trim_start();
        let (argument, after) = if rest.starts_with('\'') {
            quoted(rest)?
        } else {
            let end = rest.find([',', ')']).ok_or_else(|| format!("a parenthesis does not close: {text}"))?;
            (rest[..end].trim_end(), &rest[end..])
        };
        if !argument.is_empty() {
            found.push(Cow::Borrowed(argument));
        }
        let after = after.trim_start();
        match after.chars().next() {
            Some(',') => rest = &after[1..],
            Some(')') => return Ok((found, &after[1..])),
            _ => return Err(format!("a parenthesis does not close: {text}")),
        }
    }
}

/// Message about a name that nothing has, with the nearest one.
fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(name, known.into_iter().collect::<Vec<_>>()) {
        Some(word) => format!("there is no {what} `{name}`; did you mean `{word}`?"),
        None => format!("there is no {what} `{name}`"),
    }
}
