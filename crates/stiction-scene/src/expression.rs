//! Formulas: numbers and expressions of time and state.

use crate::diagnostic::{Finding, nearest};
use crate::node::Node;
use exmex::{Differentiate, Express, FlatEx, FloatOpsFactory, MakeOperators, NumberMatcher, Operator};
use std::fmt;

/// Longest expression [bytes]; parsing and differentiation take time that grows faster than the length.
const LONGEST: usize = 500;

/// Most parentheses that are open at a time.
const DEEPEST: usize = 30;

/// The functions and constants of expressions: those of exmex, with `pi` and `step`.
#[derive(Debug, Clone)]
pub(crate) struct Words;

impl MakeOperators<f64> for Words {
    fn make<'a>() -> Vec<Operator<'a, f64>> {
        let mut words = FloatOpsFactory::<f64>::make();
        words.push(Operator::make_constant("pi", std::f64::consts::PI));
        words.push(Operator::make_unary("step", |x| if x >= 0.0 { 1.0 } else { 0.0 }));
        words
    }
}

pub(crate) type Expression = FlatEx<f64, Words, NumberMatcher>;

/// A number or an expression of some variables.
#[derive(Clone)]
pub(crate) enum Formula {
    Number(f64),
    Expression {
        expression: Box<Expression>,
        /// For each variable of the expression its place among the variables that are allowed.
        places: Vec<usize>,
    },
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Expression { expression, .. } => f.write_str(expression.unparse()),
        }
    }
}

impl Formula {
    /// Reads a number or an expression of these variables; nothing for what is neither, which the check reports.
    pub(crate) fn new(node: &Node, variables: &[&str]) -> Result<Option<Self>, Box<Finding>> {
        if let Some(x) = node.number() {
            return Ok(Some(Self::Number(x)));
        }
        let Some(text) = node.text() else { return Ok(None) };
        let error = |what: String| Box::new(Finding::error(&node.span, what));
        if text.len() > LONGEST {
            return Err(error(format!(
                "an expression must have at most {LONGEST} bytes, not {}",
                text.len()
            )));
        }
        let mut open = 0_usize;
        for c in text.chars() {
            match c {
                '(' => open += 1,
                ')' => open = open.saturating_sub(1),
                _ => {}
            }
            if open > DEEPEST {
                return Err(error(format!("more than {DEEPEST} parentheses are open at a time")));
            }
        }
        let expression: Expression = Expression::parse(text)
            .map_err(|e| error(format!("no expression: {}", e.to_string().replace('\n', " "))))?;
        let mut places = Vec::new();
        for name in expression.var_names() {
            let Some(place) = variables.iter().position(|variable| variable == name) else {
                let words = Words::make();
                let known: Vec<&str> =
                    variables.iter().copied().chain(words.iter().map(Operator::repr)).collect();
                let finding = Finding::error(&node.span, format!("`{name}` is no variable here"));
                return Err(Box::new(match nearest(name, known) {
                    Some(word) => finding.help(format!("did you mean `{word}`?")),
                    None => finding.help(format!("variables: {}", variables.join(", "))),
                }));
            };
            places.push(place);
        }
        Ok(Some(Self::Expression { expression: Box::new(expression), places }))
    }

    /// `true` when it depends on this variable.
    pub(crate) fn uses(&self, place: usize) -> bool {
        matches!(self, Self::Expression { places, .. } if places.contains(&place))
    }

    /// Its value; not a number where the expression has none.
    pub(crate) fn at(&self, variables: &[f64]) -> f64 {
        match self {
            Self::Number(x) => *x,
            Self::Expression { expression, places } => {
                // at most as many as there are variables
                let mut values = [0.0; 16];
                for (value, &place) in values.iter_mut().zip(places) {
                    *value = variables.get(place).copied().unwrap_or(f64::NAN);
                }
                expression.eval(&values[..places.len().min(16)]).unwrap_or(f64::NAN)
            }
        }
    }

    /// Its derivative by its first variable.
    pub(crate) fn derivative(&self, node: &Node) -> Result<Self, Box<Finding>> {
        match self {
            Self::Number(_) => Ok(Self::Number(0.0)),
            Self::Expression { places, .. } if places.is_empty() => Ok(Self::Number(0.0)),
            Self::Expression { expression, places } => {
                let derivative = expression.as_ref().clone().partial(0).map_err(|e| {
                    let message = format!("no derivative by t, which a velocity is: {e}").replace('\n', " ");
                    Box::new(Finding::error(&node.span, message))
                })?;
                Ok(Self::Expression { expression: Box::new(derivative), places: places.clone() })
            }
        }
    }
}
