//! Prescribed motion: functions of time with their derivatives, from the expressions of a path.

use crate::expression::Formula;
use crate::read::Reader;

/// Divisor of the cost of finding a derivative, which grows with the third power of the number of symbols: one of 31
/// symbols takes about 10 ms.
const DERIVATIVES_PER_COST: usize = 5;

/// Function of time and its derivative.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    value: Formula,
    rate: Formula,
    /// Factor on both, for example from degrees to radians.
    unit: f64,
}

impl Track {
    fn still() -> Self {
        Self { value: Formula::Number(0.0), rate: Formula::Number(0.0), unit: 1.0 }
    }

    fn new(reader: &Reader, node: &crate::node::Node, unit: f64) -> Option<Self> {
        let context = reader.context;
        if let Some([value, rate]) = context.track(node) {
            let symbols = value.symbols();
            return context.spend_on_expression(node, symbols * symbols).then_some(Self {
                value,
                rate,
                unit,
            });
        }
        let value = reader.formula(node, &["t"])?;
        let symbols = value.symbols();
        if !context.spend_on_expression(node, symbols.pow(3) / DERIVATIVES_PER_COST) {
            return None;
        }
        match value.derivative(node) {
            Ok(rate) => {
                context.keep_track(node, [value.clone(), rate.clone()]);
                Some(Self { value, rate, unit })
            }
            Err(finding) => {
                context.add(*finding);
                None
            }
        }
    }

    /// Value at time t.
    pub(crate) fn at(&self, t: f64) -> f64 {
        self.unit * self.value.at(&[t])
    }

    /// Derivative at time t.
    pub(crate) fn rate(&self, t: f64) -> f64 {
        self.unit * self.rate.at(&[t])
    }
}

/// Command of a motor, where its key has an expression of time instead of a number.
pub(crate) fn command(motor: &Reader, key: &str) -> Option<Track> {
    Track::new(motor, motor.get(key).filter(|node| node.text().is_some())?, 1.0)
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
