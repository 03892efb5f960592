//! Measured values of the experiments beside the published ones, and how well they agree.

use serde::Serialize;

/// One number of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    /// Key of the paper.
    pub paper: &'static str,
    /// Which of its experiments.
    pub experiment: &'static str,
    /// Which run of it, such as `h = 0.01`.
    pub case: String,
    /// What was measured, with its unit.
    pub quantity: &'static str,
    /// What this library gives.
    pub value: f64,
    /// What the paper gives, where it gives a number.
    pub published: Option<f64>,
    /// How the paper's number is meant.
    pub sense: PublishedSense,
    /// Why this library's number is another one, where that is known.
    pub remark: &'static str,
}

/// How a published number is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedSense {
    /// It was printed as a result.
    #[default]
    Exactly,
    /// It was read off a picture, rounded to a digit or two, or is the order of a fit.
    About,
    /// It is a bound from above, such as "never exceeding 3 mm".
    AtMost,
    /// It is a bound from below.
    AtLeast,
}

/// What a line says of the paper's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// It comes out here, too.
    Reproduced,
    /// It comes out nearly.
    Close,
    /// Another number comes out here.
    Differs,
    /// There is none: the line is this library's alone.
    Unpublished,
}

/// The largest relative difference that counts as the same number: papers print three or four digits, and a printed
/// start or constant may be rounded as well.
const REPRODUCED_RELATIVE: f64 = 5e-3;

/// The largest relative difference that counts as close, and as the same where the number is only about right.
const CLOSE_RELATIVE: f64 = 0.1;

impl Measurement {
    /// A number of an experiment, and the paper's, which is meant as it is printed.
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

    /// The paper's number is meant in this sense.
    pub(crate) fn meant(&mut self, sense: PublishedSense) -> &mut Self {
        self.sense = sense;
        self
    }

    /// Why another number comes out here.
    pub(crate) fn because(&mut self, remark: &'static str) -> &mut Self {
        self.remark = remark;
        self
    }

    /// Whether the paper's number comes out here.
    pub fn verdict(&self) -> Agreement {
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
