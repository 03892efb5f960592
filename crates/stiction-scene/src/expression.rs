//! Formulas: numbers, or expressions of time and state, with derivatives.

use crate::diagnostic::{Finding, nearest};
use crate::node::Node;
use exmex::{Differentiate, Express, FlatEx, FloatOpsFactory, MakeOperators, NumberMatcher, Operator};
use std::fmt;

/// Length limit of an expression [bytes]: the time to parse and differentiate grows faster than linearly.
const MAX_EXPRESSION_BYTES: usize = 500;

/// Nesting limit of parentheses, because the parser is recursive.
const MAX_PARENTHESES: usize = 30;

/// Number of symbols (operators, functions, variables and constants) up to which an expression is differentiated. Parsing
/// and differentiation recurse as deep as a chain of operators; 60 are thirty factors, ten times a common motion.
const MAX_DIFFERENTIATED_SYMBOLS: usize = 60;

/// Stack of the thread that differentiates [bytes]. Eighty factors overflow one of 8 MB.
const DERIVATIVE_STACK: usize = 64 << 20;

/// Functions and constants of expressions: those of exmex, `pi` and `step`.
#[derive(Debug, Clone)]
pub(crate) struct ExpressionOperators;

impl MakeOperators<f64> for ExpressionOperators {
    fn make<'a>() -> Vec<Operator<'a, f64>> {
        let mut words = FloatOpsFactory::<f64>::make();
        words.push(Operator::make_constant("pi", std::f64::consts::PI));
        words.push(Operator::make_unary("step", |x| if x >= 0.0 { 1.0 } else { 0.0 }));
        words
    }
}

pub(crate) type Expression = FlatEx<f64, ExpressionOperators, NumberMatcher>;

/// Functions that jump: a motion cannot follow them.
const JUMPS: [&str; 6] = ["step", "signum", "floor", "ceil", "round", "trunc"];

/// `true` for a function or constant of expressions.
pub(crate) fn is_word_of_expressions(word: &str) -> bool {
    ExpressionOperators::make().iter().any(|operator| operator.repr() == word)
}

/// Reads an expression; an error says what is wrong.
pub(crate) fn parse(text: &str) -> Result<Expression, String> {
    if text.len() > MAX_EXPRESSION_BYTES {
        return Err(format!(
            "an expression must have at most {MAX_EXPRESSION_BYTES} bytes, not {}",
            text.len()
        ));
    }
    let mut open = 0_usize;
    for c in text.chars() {
        match c {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MAX_PARENTHESES {
            return Err(format!("parentheses are nested deeper than the limit of {MAX_PARENTHESES}"));
        }
    }
    Expression::parse(text).map_err(|e| format!("not an expression: {}", e.to_string().replace('\n', " ")))
}

/// Number or expression of some variables.
#[derive(Clone)]
pub(crate) enum Formula {
    Number(f64),
    Expression {
        expression: Box<Expression>,
        /// Index of each variable of the expression among the allowed variables.
        indices: Vec<usize>,
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
    /// Reads a number or an expression of these variables; `None` for other values, which `validate` reports.
    pub(crate) fn new(node: &Node, variables: &[&str]) -> Result<Option<Self>, Box<Finding>> {
        if let Some(x) = node.number() {
            return Ok(Some(Self::Number(x)));
        }
        let Some(text) = node.text() else { return Ok(None) };
        let error = |what: String| Box::new(Finding::error(&node.span, what));
        let expression = parse(text).map_err(error)?;
        let mut indices = Vec::new();
        for name in expression.var_names() {
            let Some(index) = variables.iter().position(|variable| variable == name) else {
                let words = ExpressionOperators::make();
                let known: Vec<&str> =
                    variables.iter().copied().chain(words.iter().map(Operator::repr)).collect();
                let finding = Finding::error(&node.span, format!("unknown variable `{name}`"));
                return Err(Box::new(match nearest(name, known) {
                    Some(word) => finding.help(format!("did you mean `{word}`?")),
                    None => finding.help(format!("variables: {}", variables.join(", "))),
                }));
            };
            indices.push(index);
        }
        Ok(Some(Self::Expression { expression: Box::new(expression), indices }))
    }

    /// `true` for a number.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// `true` for the number 0.
    pub(crate) fn is_zero(&self) -> bool {
        matches!(self, Self::Number(x) if *x == 0.0)
    }

    /// `true` when it depends on the variable with this index.
    pub(crate) fn uses(&self, index: usize) -> bool {
        matches!(self, Self::Expression { indices, .. } if indices.contains(&index))
    }

    /// Value; NaN where the expression is undefined.
    pub(crate) fn at(&self, variables: &[f64]) -> f64 {
        match self {
            Self::Number(x) => *x,
            Self::Expression { expression, indices } => {
                // expressions have at most eleven variables
                let mut values = [0.0; 16];
                for (value, &index) in values.iter_mut().zip(indices) {
                    *value = variables.get(index).copied().unwrap_or(f64::NAN);
                }
                expression.eval(&values[..indices.len().min(16)]).unwrap_or(f64::NAN)
            }
        }
    }

    /// Number of operators, functions, variables and constants; 0 for a number.
    pub(crate) fn symbols(&self) -> usize {
        let Self::Expression { expression, .. } = self else { return 0 };
        let mut within_word = false;
        let counted = |c: char| {
            let part = c.is_alphanumeric() || "._".contains(c);
            let begins = part && !within_word && !c.is_ascii_digit();
            within_word = part;
            begins || "+-*/^%".contains(c)
        };
        expression.unparse().chars().filter(|c| !c.is_whitespace()).map(counted).filter(|yes| *yes).count()
    }

    /// Derivative by its first variable.
    pub(crate) fn derivative(&self, node: &Node) -> Result<Self, Box<Finding>> {
        match self {
            Self::Number(_) => Ok(Self::Number(0.0)),
            Self::Expression { indices, .. } if indices.is_empty() => Ok(Self::Number(0.0)),
            Self::Expression { expression, indices } => {
                let error = |what: String| Box::new(Finding::error(&node.span, what));
                let symbols = self.symbols();
                if symbols > MAX_DIFFERENTIATED_SYMBOLS {
                    return Err(error(format!(
                        "an expression of time that is differentiated must have at most \
                         {MAX_DIFFERENTIATED_SYMBOLS} operators, functions and variables, not {symbols}; write t^3 \
                         instead of t*t*t"
                    )));
                }
                let jump = JUMPS.iter().find(|jump| expression.unparse().contains(&format!("{jump}(")));
                if let Some(jump) = jump {
                    let what = format!("`{jump}` jumps, so this has no velocity");
                    return Err(Box::new(Finding::error(&node.span, what).help(
                        "write a smooth function of t, such as 0.1*(1-cos(pi*t)) or 0.5+0.5*tanh(20*(t-1)) in place of \
                         step(t-1)",
                    )));
                }
                let derivative = differentiated(expression.as_ref()).map_err(|what| {
                    let why = "the expression cannot be differentiated by t, so it has no velocity";
                    error(format!("{why}: {what}").replace('\n', " "))
                })?;
                Ok(Self::Expression { expression: Box::new(derivative), indices: indices.clone() })
            }
        }
    }
}

/// Derivative of an expression by its first variable, on a stack of its own.
fn differentiated(expression: &Expression) -> Result<Expression, String> {
    std::thread::scope(|scope| {
        let derivative = || expression.clone().partial(0).map_err(|error| error.to_string());
        let thread = std::thread::Builder::new().stack_size(DERIVATIVE_STACK).spawn_scoped(scope, derivative);
        let thread = thread.map_err(|error| error.to_string())?;
        thread.join().unwrap_or_else(|_| Err("the derivative was not found".to_string()))
    })
}
