//! Reader of values from a checked file, for the modules that build the world and the run. Values of a wrong type read
//! as absent, because `validate` has already reported them.

use crate::diagnostic::{Finding, MAX_FINDINGS};
use crate::expression::Formula;
use crate::node::{Entry, Node, Value};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Findings and used keys, collected while a file is read.
#[derive(Debug)]
pub(crate) struct Context {
    found: RefCell<Vec<Finding>>,
    /// Byte offsets of the keys that were read.
    used: RefCell<HashSet<usize>>,
    /// Cost of the expressions that were parsed.
    expressions: Cell<usize>,
    /// Byte offsets of expressions of quantities of the run, which are read when the model is there.
    signals: RefCell<HashSet<usize>>,
    /// Expressions of time with their derivatives, by byte offset: copies of a body share them.
    tracks: RefCell<HashMap<usize, [Formula; 2]>>,
}

/// Limit on the cost of all expressions with all copies: bytes, and for the derivative in each copy the square of the
/// number of symbols, because it may have as many terms. At the limit expressions take about 200 MB and some seconds. A
/// motion such as 0.1*sin(2*pi*t) costs 100.
const MAX_EXPRESSION_COST: usize = 2_000_000;

impl Context {
    pub(crate) fn new(found: Vec<Finding>) -> Self {
        Self {
            found: found.into(),
            used: RefCell::default(),
            expressions: Cell::new(0),
            tracks: RefCell::default(),
            signals: RefCell::default(),
        }
    }

    pub(crate) fn add(&self, finding: Finding) {
        self.found.borrow_mut().push(finding);
    }

    /// Adds a finding about an unknown name with the most similar name. Findings past the limit are only counted, so none
    /// is looked for.
    pub(crate) fn add_with_nearest<'n>(
        &self,
        finding: Finding,
        given: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) {
        let suggests = self.found.borrow().len() <= MAX_FINDINGS;
        self.add(if suggests { finding.nearest(given, names) } else { finding });
    }

    /// Marks an expression as one of quantities of the run: it reads as absent here.
    pub(crate) fn mark_signal(&self, node: &Node) {
        self.signals.borrow_mut().insert(node.span.start);
    }

    /// Adds the cost of an expression; `false` where the limit is exceeded, with an error the first time.
    pub(crate) fn spend_on_expression(&self, node: &Node, cost: usize) -> bool {
        let before = self.expressions.get();
        self.expressions.set(before.saturating_add(cost));
        if before <= MAX_EXPRESSION_COST && self.expressions.get() > MAX_EXPRESSION_COST {
            let message = "the expressions of this file, with all copies, are too many or too long; write shorter ones \
                           or fewer copies";
            self.add(Finding::error(&node.span, message));
        }
        self.expressions.get() <= MAX_EXPRESSION_COST
    }

    /// Expression of time with its derivative, if another copy has read it.
    pub(crate) fn track(&self, node: &Node) -> Option<[Formula; 2]> {
        self.tracks.borrow().get(&node.span.start).cloned()
    }

    /// Keeps an expression of time with its derivative for other copies.
    pub(crate) fn keep_track(&self, node: &Node, formulas: [Formula; 2]) {
        self.tracks.borrow_mut().insert(node.span.start, formulas);
    }

    /// Findings, and a warning for each key that was not read.
    pub(crate) fn findings(self, root: &Node) -> (Vec<Finding>, Vec<Finding>) {
        let mut warnings = Vec::new();
        unused(root, &self.used.into_inner(), &mut warnings);
        (self.found.into_inner(), warnings)
    }
}

/// Warns of every key that was not read.
fn unused(node: &Node, used: &HashSet<usize>, warnings: &mut Vec<Finding>) {
    match &node.value {
        Value::Table(entries) => {
            for entry in entries {
                if used.contains(&entry.span.start) {
                    unused(&entry.node, used, warnings);
                } else {
                    let message = format!("`{}` has no effect here", entry.key);
                    warnings.push(Finding::warning(&entry.span, message));
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| unused(item, used, warnings)),
        _ => {}
    }
}

/// Reader of one table of the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) context: &'a Context,
    pub(crate) node: &'a Node,
}

impl<'a> Reader<'a> {
    fn entry(&self, key: &str) -> Option<&'a Entry> {
        let entry = self.node.get(key)?;
        self.context.used.borrow_mut().insert(entry.span.start);
        Some(entry)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.node.get(key).is_some()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// Span of a value, or of the table where the key is missing.
    pub(crate) fn span(&self, key: &str) -> Range<usize> {
        self.node.get(key).map_or_else(|| self.node.span.clone(), |entry| entry.node.span.clone())
    }

    /// Reader of another table.
    pub(crate) fn at(&self, node: &'a Node) -> Self {
        Self { context: self.context, node }
    }

    /// Reader of a table within this one.
    pub(crate) fn table(&self, key: &str) -> Option<Self> {
        let node = self.get(key)?;
        matches!(node.value, Value::Table(_)).then(|| self.at(node))
    }

    pub(crate) fn list(&self, key: &str) -> &'a [Node] {
        self.get(key).map_or(&[], Node::items)
    }

    /// Readers of the tables in a list.
    pub(crate) fn tables(&self, key: &str) -> impl Iterator<Item = Self> + use<'a> {
        let reader = *self;
        self.list(key).iter().map(move |node| reader.at(node))
    }

    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.number().filter(|x| !x.is_nan())
    }

    pub(crate) fn integer(&self, key: &str) -> Option<i64> {
        self.get(key)?.integer()
    }

    pub(crate) fn count(&self, key: &str) -> Option<usize> {
        usize::try_from(self.integer(key)?).ok()
    }

    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        if let Value::Flag(flag) = self.get(key)?.value { Some(flag) } else { None }
    }

    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.text()
    }

    pub(crate) fn vector<const N: usize>(&self, key: &str) -> Option<[f64; N]> {
        numbers(self.get(key)?)
    }

    /// Angle [rad], from a key in radians or one in degrees.
    pub(crate) fn angle(&self, key: &str) -> Option<f64> {
        let degrees = || self.number(&format!("{key}_deg")).map(f64::to_radians);
        self.number(key).or_else(degrees)
    }

    /// Number or expression of some variables.
    pub(crate) fn formula(&self, node: &Node, variables: &[&str]) -> Option<Formula> {
        let length = node.text().map_or(0, str::len);
        if self.context.signals.borrow().contains(&node.span.start) {
            return None;
        }
        if !self.context.spend_on_expression(node, length) {
            return None;
        }
        match Formula::new(node, variables) {
            Ok(formula) => formula,
            Err(finding) => {
                self.context.add(*finding);
                None
            }
        }
    }

    pub(crate) fn error(&self, span: &Range<usize>, message: impl Into<String>) {
        self.context.add(Finding::error(span, message));
    }
}

/// List of exactly N numbers.
pub(crate) fn numbers<const N: usize>(node: &Node) -> Option<[f64; N]> {
    let items = node.items();
    let all: Option<Vec<f64>> = items.iter().map(Node::number).collect();
    all?.try_into().ok()
}
