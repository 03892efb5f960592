//! Prescribed motion: functions of time with their derivatives, from expressions or tables of a file.

use crate::expression::Formula;
use crate::node::{Node, Value};
use crate::read::Reader;

/// Divisor of the cost of finding a derivative, which grows with the third power of the number of symbols: one of 31
/// symbols takes about 10 ms.
const DERIVATIVES_PER_COST: usize = 5;

/// Function of time and its derivative.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    path: TrackPath,
    /// Factor on both, for example from degrees to radians.
    unit: f64,
}

#[derive(Debug, Clone)]
enum TrackPath {
    Formula { value: Formula, rate: Formula },
    Table(TimeTable),
}

/// Values at instants, with lines or a cubic spline between them. Before the first and after the last they are constant.
#[derive(Debug, Clone)]
struct TimeTable {
    times: Vec<f64>,
    values: Vec<f64>,
    /// Slopes of the spline at the instants; `None` for lines.
    slopes: Option<Vec<f64>>,
}

impl TimeTable {
    /// Table of a file; `None` where a mistake is reported.
    fn read(reader: &Reader) -> Option<Self> {
        let numbers = |key: &str| reader.list(key).iter().map(Node::number).collect::<Option<Vec<f64>>>();
        let (times, values) = (numbers("times")?, numbers("values")?);
        if times.is_empty() || times.len() != values.len() {
            let message = format!(
                "{} times and {} values: there must be as many, and at least one",
                times.len(),
                values.len()
            );
            reader.error(&reader.span("values"), message);
            return None;
        }
        if let Some([before, after]) = times.windows(2).find(|pair| !(pair[0] < pair[1])) {
            let message = format!("the times must ascend: {before} s comes before {after} s");
            reader.error(&reader.span("times"), message);
            return None;
        }
        let is_cubic = reader.text("interpolation") != Some("linear");
        let slopes = is_cubic.then(|| spline_slopes(&times, &values));
        Some(Self { times, values, slopes })
    }

    /// Value and derivative at time t.
    fn at(&self, t: f64) -> [f64; 2] {
        let Self { times, values, slopes } = self;
        let after = times.partition_point(|time| *time <= t);
        if after == 0 || after == times.len() {
            return [values[after.saturating_sub(1)], 0.0];
        }
        let (k, h) = (after - 1, times[after] - times[after - 1]);
        let (a, b) = (values[k], values[after]);
        let Some(slopes) = slopes else {
            let slope = (b - a) / h;
            return [a + slope * (t - times[k]), slope];
        };
        // Hermite's cubic over the interval, s from 0 to 1
        let s = (t - times[k]) / h;
        let (u, w) = (h * slopes[k], h * slopes[after]);
        let (two, three) = (2.0 * (a - b) + u + w, 3.0 * (b - a) - 2.0 * u - w);
        [a + s * (u + s * (three + s * two)), (u + s * (2.0 * three + 3.0 * s * two)) / h]
    }
}

/// Slopes of the cubic spline with continuous curvature that rests at both ends.
fn spline_slopes(times: &[f64], values: &[f64]) -> Vec<f64> {
    let n = times.len();
    let mut slopes = vec![0.0; n];
    if n < 3 {
        return slopes;
    }
    let h = |k: usize| times[k + 1] - times[k];
    let rise = |k: usize| (values[k + 1] - values[k]) / h(k);
    // m₍ₖ₋₁₎/h₍ₖ₋₁₎ + 2 (1/h₍ₖ₋₁₎ + 1/hₖ) mₖ + m₍ₖ₊₁₎/hₖ = 3 (rise₍ₖ₋₁₎/h₍ₖ₋₁₎ + riseₖ/hₖ), eliminated forwards
    let (mut pivots, mut right) = (vec![1.0; n], vec![0.0; n]);
    for k in 1..n - 1 {
        let (before, after) = (1.0 / h(k - 1), 1.0 / h(k));
        let factor = if k > 1 { before / pivots[k - 1] } else { 0.0 };
        pivots[k] = 2.0 * (before + after) - factor * before;
        right[k] = 3.0 * (rise(k - 1) * before + rise(k) * after) - factor * right[k - 1];
    }
    for k in (1..n - 1).rev() {
        slopes[k] = (right[k] - slopes[k + 1] / h(k)) / pivots[k];
    }
    slopes
}

impl Track {
    fn still() -> Self {
        let zero = || Formula::Number(0.0);
        Self { path: TrackPath::Formula { value: zero(), rate: zero() }, unit: 1.0 }
    }

    fn new(reader: &Reader, node: &Node, unit: f64) -> Option<Self> {
        if let Value::Table(_) = node.value {
            let path = TrackPath::Table(TimeTable::read(&reader.at(node))?);
            return Some(Self { path, unit });
        }
        let [value, rate] = formulas(reader, node)?;
        Some(Self { path: TrackPath::Formula { value, rate }, unit })
    }

    /// Value at time t.
    pub(crate) fn at(&self, t: f64) -> f64 {
        self.unit
            * match &self.path {
                TrackPath::Formula { value, .. } => value.at(&[t]),
                TrackPath::Table(table) => table.at(t)[0],
            }
    }

    /// Derivative at time t.
    pub(crate) fn rate(&self, t: f64) -> f64 {
        self.unit
            * match &self.path {
                TrackPath::Formula { rate, .. } => rate.at(&[t]),
                TrackPath::Table(table) => table.at(t)[1],
            }
    }
}

/// Expression of time with its derivative.
fn formulas(reader: &Reader, node: &Node) -> Option<[Formula; 2]> {
    let context = reader.context;
    if let Some([value, rate]) = context.track(node) {
        let symbols = value.symbols();
        return context.spend_on_expression(node, symbols * symbols).then_some([value, rate]);
    }
    let value = reader.formula(node, &["t"])?;
    let symbols = value.symbols();
    if !context.spend_on_expression(node, symbols.pow(3) / DERIVATIVES_PER_COST) {
        return None;
    }
    match value.derivative(node) {
        Ok(rate) => {
            context.keep_track(node, [value.clone(), rate.clone()]);
            Some([value, rate])
        }
        Err(finding) => {
            context.add(*finding);
            None
        }
    }
}

/// Command of a motor, where its key has an expression of time or a table instead of a number. The rate of a torque
/// or a speed is not used, so expressions of them need no derivative.
pub(crate) fn command(motor: &Reader, key: &str) -> Option<Track> {
    let node = motor.get(key).filter(|node| node.number().is_none())?;
    if !matches!(key, "torque" | "speed") || !matches!(node.value, Value::Text(_)) {
        return Track::new(motor, node, 1.0);
    }
    let value = motor.formula(node, &["t"])?;
    Some(Track { path: TrackPath::Formula { value, rate: Formula::Number(0.0) }, unit: 1.0 })
}

/// Displacement of a path along each axis [m].
pub(crate) fn places<const N: usize>(path: Option<&Reader>) -> [Track; N] {
    let mut tracks = std::array::from_fn(|_| Track::still());
    if let Some(path) = path {
        for (track, node) in tracks.iter_mut().zip(path.list("position")) {
            *track = Track::new(path, node, 1.0).unwrap_or_else(Track::still);
        }
    }
    tracks
}

/// Rotation angle of a path [rad].
pub(crate) fn angle(path: Option<&Reader>) -> Track {
    let one = |key: &str, unit: f64| {
        let path = path?;
        Track::new(path, path.get(key)?, unit)
    };
    one("angle", 1.0).or_else(|| one("angle_deg", 1_f64.to_radians())).unwrap_or_else(Track::still)
}

#[cfg(test)]
mod tests {
    use super::{TimeTable, spline_slopes};

    #[test]
    fn a_spline_has_continuous_curvature_and_rests_at_its_ends() {
        let (times, values) = (vec![0.0, 0.5, 2.0, 2.5, 4.0], vec![1.0, -1.0, 3.0, 2.0, 0.5]);
        let slopes = spline_slopes(&times, &values);
        let table = TimeTable { slopes: Some(slopes), times: times.clone(), values: values.clone() };
        for (t, value) in times.iter().zip(&values) {
            assert!((table.at(*t)[0] - value).abs() < 1e-12);
            // rates and curvatures from both sides, by differences of step 1e-6 s
            let rate = |t: f64| table.at(t)[1];
            assert!((rate(t - 1e-9) - rate(t + 1e-9)).abs() < 1e-6, "{t} s");
            let curvature = |s: f64| (rate(t + 2e-6 * s) - rate(t + 1e-6 * s)) / (1e-6 * s);
            let inside = *t > 0.0 && *t < 4.0;
            assert!(!inside || (curvature(1.0) - curvature(-1.0)).abs() < 1e-3, "{t} s");
        }
        assert_eq!((table.at(-1.0), table.at(5.0)), ([1.0, 0.0], [0.5, 0.0]));
        assert!(table.at(1e-12)[1].abs() < 1e-9);
    }
}
