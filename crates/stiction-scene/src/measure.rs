//! Measures of whole runs: aggregates of signals, for sweeps.

use crate::signal::{Sample, Sensors, Signal};
use stiction::Model;

/// Measure of a whole run: an aggregate of a signal, such as `max(force(part, jaw))`.
#[derive(Debug, Clone)]
pub struct Measure {
    aggregate: Aggregate,
    signal: Signal,
    text: String,
    /// Values so far: number, sum of value times duration, and result.
    count: usize,
    result: f64,
    last: Option<[f64; 2]>,
    integral: f64,
    start: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aggregate {
    Max,
    Min,
    Mean,
    First,
    Last,
    Integral,
}

/// Words of aggregates.
const AGGREGATES: &[(&str, Aggregate)] = &[
    ("max", Aggregate::Max),
    ("min", Aggregate::Min),
    ("mean", Aggregate::Mean),
    ("first", Aggregate::First),
    ("last", Aggregate::Last),
    ("integral", Aggregate::Integral),
];

impl Measure {
    /// Reads a measure of a model and of sensors: max, min, mean, first, last or integral of a signal.
    pub fn parse(text: &str, model: &Model, sensors: &Sensors) -> Result<Self, String> {
        let all = || AGGREGATES.iter().map(|own| own.0).collect::<Vec<_>>();
        let (word, rest) = text.trim().split_once('(').unwrap_or((text.trim(), ""));
        let Some((_, aggregate)) = AGGREGATES.iter().find(|own| own.0 == word.trim()) else {
            let words = all().join(", ");
            return Err(format!(
                "a measure is one of {words} of a quantity, such as max(energy), not `{text}`"
            ));
        };
        let inside = rest.strip_suffix(')').ok_or_else(|| format!("a parenthesis does not close: {text}"))?;
        let signal = Signal::parse(inside, model, sensors)?;
        let text = text.trim().to_string();
        let (count, result, last, integral, start) = (0, f64::NAN, None, 0.0, f64::NAN);
        Ok(Self { aggregate: *aggregate, signal, text, count, result, last, integral, start })
    }

    /// Measure as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Takes the value at an instant. Instants at which the signal has no value are left out.
    pub fn add(&mut self, sample: &Sample) {
        let value = self.signal.at(sample);
        if value.is_nan() {
            return;
        }
        let t = sample.state.t;
        if let Some([before, old]) = self.last {
            self.integral += 0.5 * (t - before) * (value + old);
        } else {
            self.start = t;
        }
        self.last = Some([t, value]);
        self.result = match self.aggregate {
            Aggregate::Max => self.result.max(value),
            Aggregate::Min => self.result.min(value),
            Aggregate::First if self.count > 0 => self.result,
            Aggregate::Integral => self.integral,
            Aggregate::Mean if t > self.start => self.integral / (t - self.start),
            Aggregate::First | Aggregate::Last | Aggregate::Mean => value,
        };
        self.count += 1;
    }

    /// Value so far; NaN without any.
    pub fn value(&self) -> f64 {
        self.result
    }
}
