//! A TOML file as a tree in which everything knows its place.

use crate::diagnostic::Finding;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Largest scene file [bytes]: a polyhedron of a thousand vertices is 100 kB.
pub const MOST_BYTES: usize = 8 << 20;

/// Deepest nesting of tables and lists that the TOML parser goes to.
pub(crate) const MOST_NESTING: usize = 80;

/// A value and its place.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Table(Vec<Entry>),
    List(Vec<Node>),
    Text(String),
    Integer(i64),
    Number(f64),
    Flag(bool),
    /// A date, or a number that no float or integer holds.
    Other(&'static str),
}

/// A key with its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// Place of the key.
    pub(crate) span: Range<usize>,
    pub(crate) node: Node,
}

impl Node {
    /// Reads a file. What could be read comes back beside what could not.
    pub(crate) fn parse(source: &str) -> (Self, Vec<Finding>) {
        let mut found = Vec::new();
        if source.len() > MOST_BYTES {
            let message = format!(
                "the file has {} bytes, more than the limit of {MOST_BYTES} bytes for a scene",
                source.len()
            );
            found.push(Finding::error(&(0..0), message));
            return (Self { span: 0..0, value: Value::Table(Vec::new()) }, found);
        }
        let (table, errors) = DeTable::parse_recoverable(source);
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            let message = error.message();
            if message.contains("recurs") {
                found.push(Finding::error(
                    &span,
                    format!("nested deeper than the limit of {MOST_NESTING} tables and lists"),
                ));
            } else {
                found.push(Finding::error(&span, format!("not TOML: {}", message.trim())));
            }
        }
        (Self { span: table.span(), value: Self::table(table.into_inner()) }, found)
    }

    fn table(table: DeTable) -> Value {
        let mut entries: Vec<Entry> = table
            .into_iter()
            .map(|(key, value)| Entry {
                span: key.span(),
                key: key.into_inner().into_owned(),
                node: Self::of(value),
            })
            .collect();
        // the order of the file
        entries.sort_by_key(|entry| entry.span.start);
        Value::Table(entries)
    }

    fn of(value: Spanned<DeValue>) -> Self {
        let span = value.span();
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or(Value::Other("an integer of more than 64 bits"), Value::Integer),
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                // only `inf` is meant to be infinite
                Ok(x) if x.is_finite() || number.as_str().contains(['i', 'n']) => Value::Number(x),
                _ => Value::Other("a number beyond 1.8e308"),
            },
            DeValue::Boolean(flag) => Value::Flag(flag),
            DeValue::Datetime(_) => Value::Other("a date"),
            DeValue::Array(list) => Value::List(list.into_iter().map(Self::of).collect()),
            DeValue::Table(table) => Self::table(table),
        };
        Self { span, value }
    }

    /// What it is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Table(_) => "a table",
            Value::List(_) => "a list",
            Value::Text(_) => "a text",
            Value::Integer(_) => "an integer",
            Value::Number(_) => "a number",
            Value::Flag(_) => "a boolean",
            Value::Other(what) => what,
        }
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        if let Value::Table(entries) = &self.value { entries } else { &[] }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    pub(crate) fn items(&self) -> &[Node] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    /// A number, also one written as an integer.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.value {
            Value::Number(x) => Some(x),
            Value::Integer(i) => Some(i as f64),
            _ => None,
        }
    }

    pub(crate) fn integer(&self) -> Option<i64> {
        if let Value::Integer(i) = self.value { Some(i) } else { None }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// The path of the key or value at this place: `bodies[2].mass`.
    pub(crate) fn path_of(&self, span: &Range<usize>) -> Option<String> {
        let inner = match &self.value {
            Value::Table(entries) => entries.iter().find_map(|entry| {
                let rest = if entry.span == *span { Some(String::new()) } else { entry.node.path_of(span) };
                rest.map(|rest| {
                    let dot = if rest.is_empty() || rest.starts_with('[') { "" } else { "." };
                    format!("{}{dot}{rest}", entry.key)
                })
            }),
            Value::List(items) => items.iter().enumerate().find_map(|(i, item)| {
                item.path_of(span).map(|rest| {
                    let dot = if rest.is_empty() || rest.starts_with('[') { "" } else { "." };
                    format!("[{i}]{dot}{rest}")
                })
            }),
            _ => None,
        };
        // a list of tables has the place of its first table, which is meant
        inner.or_else(|| (self.span == *span).then(String::new))
    }
}
