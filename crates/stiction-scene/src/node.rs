//! TOML file as a tree whose keys and values have their byte ranges, for `validate` and the reader.

use crate::diagnostic::Finding;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Size limit of a scene file [bytes]. For comparison, a polyhedron with a thousand vertices takes 100 kB.
pub const MAX_FILE_BYTES: usize = 8 << 20;

/// Nesting limit of the TOML parser, for tables and lists.
pub(crate) const MAX_NESTING: usize = 80;

/// Value with its byte range.
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
    /// Date, or number that does not fit a float or an integer; described for messages.
    Other(&'static str),
}

/// Key with its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// Byte range of the key.
    pub(crate) span: Range<usize>,
    pub(crate) node: Node,
}

impl Node {
    /// Parses a file. Returns the part that parses, and the errors.
    pub(crate) fn parse(source: &str) -> (Self, Vec<Finding>) {
        let mut found = Vec::new();
        if source.len() > MAX_FILE_BYTES {
            let message = format!(
                "the file has {} bytes, more than the limit of {MAX_FILE_BYTES} bytes for a scene",
                source.len()
            );
            found.push(Finding::error(&(0..0), message));
            return (Self { span: 0..0, value: Value::Table(Vec::new()) }, found);
        }
        // the parser goes on after errors, and each level of nesting takes some of its stack
        if let Some(at) = nested_too_deep(source) {
            let message = format!("nested deeper than the limit of {MAX_NESTING} tables and lists");
            found.push(Finding::error(&(at..at + 1), message));
            return (Self { span: 0..0, value: Value::Table(Vec::new()) }, found);
        }
        let (table, errors) = DeTable::parse_recoverable(source);
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            let message = error.message();
            if message.contains("recurs") {
                found.push(Finding::error(
                    &span,
                    format!("nested deeper than the limit of {MAX_NESTING} tables and lists"),
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
        // sort by position in the file
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
                // a literal such as 1e999 overflows; only `inf` is infinite on purpose
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

    /// Type of the value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Table(_) => "a table",
            Value::List(_) => "a list",
            Value::Text(_) => "a string",
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

    /// Number, also if written as an integer.
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

    /// Path of the key or value with this byte range, such as `bodies[2].mass`.
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
        // a list of tables has the byte range of its first table: prefer the inner path
        inner.or_else(|| (self.span == *span).then(String::new))
    }
}

/// Place of the first bracket or brace beyond the limit of nesting, outside strings and comments.
fn nested_too_deep(source: &str) -> Option<usize> {
    let bytes = source.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => at = string_end(bytes, at),
            b'#' => at = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n),
            b'[' | b'{' if depth == MAX_NESTING => return Some(at),
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Place of the last byte of the string that begins at a quotation mark; a string of one line ends with it.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let long = bytes[start..].starts_with(&[quote; 3]);
    let mut at = start + if long { 3 } else { 1 };
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if quote == b'"' => at += 1,
            b'\n' if !long => return at,
            _ if byte == quote && !long => return at,
            _ if byte == quote && bytes[at..].starts_with(&[quote; 3]) => return at + 2,
            _ => {}
        }
        at += 1;
    }
    at
}
