//! Measured values of the experiments beside the published ones, and how well they agree.

use crate::Reproduction;
use serde::Serialize;

/// Number of an experiment, beside the published one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    /// Key of the paper.
    pub paper: &'static str,
    /// Experiment of the paper.
    pub experiment: &'static str,
    /// Run of the experiment, such as `h = 0.01`.
    pub case: String,
    /// Measured quantity and its unit.
    pub quantity: &'static str,
    /// Value computed here.
    pub value: f64,
    /// Published value, if the paper gives one.
    pub published: Option<f64>,
    /// Sense in which the published value is meant.
    pub sense: PublishedSense,
    /// Reason for a difference, if it is known.
    pub remark: &'static str,
}

/// Sense in which a published number is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedSense {
    /// Printed as a result.
    #[default]
    Exactly,
    /// Read off a picture, rounded to a digit or two, or the order of a fit.
    About,
    /// Upper bound, such as "never exceeding 3 mm".
    AtMost,
    /// Lower bound.
    AtLeast,
}

/// Agreement of a computed value with the published one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// Same value, to 0.5 % or within its bound.
    Reproduced,
    /// Within 10 %.
    Close,
    /// Another value.
    Differs,
    /// No published value.
    Unpublished,
}

/// Limit on the difference of equal values, relative to the published one. Papers print three or four digits, and a
/// printed initial value or constant may be rounded too.
const REPRODUCED_RELATIVE: f64 = 5e-3;

/// Limit on the difference of close values, relative to the published one; of equal values if that is approximate.
const CLOSE_RELATIVE: f64 = 0.1;

impl Measurement {
    /// Measurement whose published value is meant as printed.
    pub fn new(
        paper: &'static str,
        experiment: &'static str,
        case: String,
        quantity: &'static str,
        value: f64,
        published: Option<f64>,
    ) -> Self {
        Self {
            paper,
            experiment,
            case,
            quantity,
            value,
            published,
            sense: PublishedSense::Exactly,
            remark: "",
        }
    }

    /// Sets the sense of the published value.
    pub(crate) fn meant(&mut self, sense: PublishedSense) -> &mut Self {
        self.sense = sense;
        self
    }

    /// Sets the reason for a difference.
    pub(crate) fn because(&mut self, remark: &'static str) -> &mut Self {
        self.remark = remark;
        self
    }

    /// Agreement with the published value.
    pub fn agreement(&self) -> Agreement {
        let Some(published) = self.published else { return Agreement::Unpublished };
        let difference = (self.value - published).abs();
        let within = |part: f64| difference <= part * published.abs();
        let same = match self.sense {
            PublishedSense::Exactly => within(REPRODUCED_RELATIVE),
            PublishedSense::About => within(CLOSE_RELATIVE),
            PublishedSense::AtMost => self.value <= published,
            PublishedSense::AtLeast => self.value >= published,
        };
        match same {
            true => Agreement::Reproduced,
            false if within(CLOSE_RELATIVE) => Agreement::Close,
            false => Agreement::Differs,
        }
    }
}

/// Writer of the measurements of one case.
pub(crate) struct CaseLines<'a> {
    pub(crate) out: &'a mut Reproduction,
    pub(crate) paper: &'static str,
    pub(crate) experiment: &'static str,
    pub(crate) case: String,
}

impl CaseLines<'_> {
    /// Adds a value beside the published one, if there is one.
    pub(crate) fn add(
        &mut self,
        quantity: &'static str,
        value: f64,
        published: Option<f64>,
    ) -> &mut Measurement {
        let case = self.case.clone();
        self.out.add(Measurement::new(self.paper, self.experiment, case, quantity, value, published))
    }

    /// Adds a time, NaN if the event did not occur.
    pub(crate) fn time(
        &mut self,
        quantity: &'static str,
        value: Option<f64>,
        published: Option<f64>,
    ) -> &mut Measurement {
        self.add(quantity, value.unwrap_or(f64::NAN), published)
    }
}
