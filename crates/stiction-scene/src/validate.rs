//! Validation of a file against the keys of the format; collects all errors.

use crate::diagnostic::{Finding, MAX_FINDINGS, MAX_NAME_BYTES};
use crate::hints;
use crate::keys::{
    ChoiceWord, Dimension, Field, MAX_ENTRIES, MAX_MAGNITUDE, NumberRange, ORIENTATION_KEYS, SCENE, Table,
    TaggedTable, ValueKind,
};
use crate::node::{Node, Value};

/// Dimension of a file. Where the key is missing, the length of the first vector decides, so that other messages fit.
pub(crate) fn dimension(root: &Node) -> Dimension {
    let named = root.get("dimension").and_then(|entry| entry.node.number());
    let inferred = || {
        let gravity = root.get("world").and_then(|world| world.node.get("gravity"));
        let position = || {
            let bodies = root.get("bodies")?.node.items();
            bodies.iter().find_map(|body| body.get("position"))
        };
        gravity.or_else(position).map(|vector| vector.node.items().len() as f64)
    };
    if named.or_else(inferred) == Some(3.0) { Dimension::Space } else { Dimension::Plane }
}

/// Checks every key of a file.
pub(crate) fn validate(root: &Node, dimension: Dimension, found: &mut Vec<Finding>) {
    Validator { dimension, found }.table(root, &SCENE, None);
}

struct Validator<'a> {
    dimension: Dimension,
    found: &'a mut Vec<Finding>,
}

impl Validator<'_> {
    fn add(&mut self, finding: Finding) {
        self.found.push(finding);
    }

    /// Whether suggestions are still looked for: findings past the limit are only counted.
    fn suggests(&self) -> bool {
        self.found.len() <= MAX_FINDINGS
    }

    fn expected(&mut self, node: &Node, what: &str) {
        self.add(Finding::error(&node.span, format!("expected {what}, found {}", node.kind())));
    }

    /// Checks the keys of a table, except the tag that selects it.
    fn table(&mut self, node: &Node, table: &'static Table, tag: Option<&str>) {
        let Value::Table(entries) = &node.value else { return self.expected(node, "a table") };
        for entry in entries.iter().filter(|entry| tag != Some(&entry.key)) {
            match table.fields(self.dimension).find(|field| field.key == entry.key) {
                Some(field) => self.value(&entry.node, &field.kind),
                None => self.unknown(entry, table, tag),
            }
        }
        for field in table.fields(self.dimension).filter(|field| field.required) {
            if node.get(field.key).is_none() {
                let message = format!("missing key `{}`: {}", field.key, first_sentence(field.doc));
                self.add(Finding::error(&node.span, message));
            }
        }
        for group in table.one_of {
            let given: Vec<_> = group.iter().filter_map(|key| node.get(key)).collect();
            if let [first, second, ..] = given[..] {
                let message = format!("`{}` and `{}` exclude each other", first.key, second.key);
                self.add(Finding::error(&second.span, message));
            }
        }
    }

    fn unknown(&mut self, entry: &crate::node::Entry, table: &'static Table, tag: Option<&str>) {
        let key = &entry.key;
        let shown: String = key.chars().take(MAX_NAME_BYTES).collect();
        let finding = Finding::error(&entry.span, format!("unknown key `{shown}`"));
        let elsewhere = table.all().find(|field| field.key == key);
        let known = || table.fields(self.dimension).map(|field| field.key).chain(tag);
        let hinted = hints::key(key, &known().collect::<Vec<_>>(), table.name == SCENE.name, self.dimension);
        let finding = match elsewhere {
            Some(_) => {
                let here = if self.dimension == Dimension::Plane { "plane" } else { "space" };
                let turns = |f: &&'static Field| ORIENTATION_KEYS.contains(&f.key);
                let instead: Vec<_> =
                    table.fields(self.dimension).filter(turns).map(|f| format!("`{}`", f.key)).collect();
                let finding = Finding::error(&entry.span, format!("`{shown}` does not exist in the {here}"));
                if elsewhere.is_some_and(|field| turns(&field)) {
                    finding.help(format!("use {}", instead.join(" or ")))
                } else {
                    finding
                }
            }
            None if !self.suggests() => finding,
            None if hinted.is_some() => finding.help(hinted.unwrap_or_default()),
            None if crate::diagnostic::nearest(key, known()).is_some() => finding.nearest(key, known()),
            None => {
                let mut keys: Vec<_> = known().collect();
                keys.sort_unstable();
                finding.help(format!("known keys: {}", keys.join(", ")))
            }
        };
        self.add(finding);
    }

    fn value(&mut self, node: &Node, kind: &'static ValueKind) {
        match kind {
            ValueKind::Number(range) => self.number(node, *range),
            ValueKind::Integer(min, max) => self.integer(node, *min, *max),
            ValueKind::Flag => {
                if !matches!(node.value, Value::Flag(_)) {
                    self.expected(node, "true or false");
                }
            }
            ValueKind::Text => {
                if node.text().is_none() {
                    self.expected(node, "a string");
                }
            }
            ValueKind::Name => match node.text() {
                Some(name) => self.name(name, &node.span),
                None => self.expected(node, "a name"),
            },
            ValueKind::Choice(words) => self.choice(node, words),
            ValueKind::Formula => {
                // expressions are parsed by the reader
                if node.text().is_none() {
                    if node.number().is_none() {
                        self.expected(node, "a number or an expression as a string");
                    } else {
                        self.number(node, crate::keys::ANY);
                    }
                }
            }
            ValueKind::Vector(kind) => self.list(node, kind, Some(self.dimension.count())),
            ValueKind::Rotation(kind) => match self.dimension {
                Dimension::Plane => self.value(node, kind),
                Dimension::Space => self.list(node, kind, Some(3)),
            },
            ValueKind::Fixed(count, kind) => self.list(node, kind, Some(*count)),
            ValueKind::List(kind) => self.list(node, kind, None),
            ValueKind::Table(table) => self.table(node, table, None),
            ValueKind::Map(table) => match &node.value {
                Value::Table(entries) => {
                    for entry in entries {
                        self.name(&entry.key, &entry.span);
                        self.table(&entry.node, table, None);
                    }
                }
                _ => self.expected(node, "a table"),
            },
            ValueKind::Tagged(variants) => self.tagged(node, variants),
            ValueKind::Either(one, other) => {
                let table = matches!(node.value, Value::Table(_));
                let list = matches!(node.value, Value::List(_));
                let fits = |kind: &ValueKind| match kind {
                    ValueKind::Table(_) => table,
                    ValueKind::Fixed(..) => list,
                    _ => !table && !list,
                };
                self.value(node, if fits(one) || !fits(other) { one } else { other });
            }
        }
    }

    fn integer(&mut self, node: &Node, min: i64, max: i64) {
        let Value::Integer(i) = node.value else { return self.expected(node, "an integer") };
        if (min..=max).contains(&i) {
            return;
        }
        let message = if min == max {
            format!("{i} must be {min}")
        } else {
            format!("{i} must lie between {min} and {max}")
        };
        self.add(Finding::error(&node.span, message));
    }

    fn name(&mut self, name: &str, span: &std::ops::Range<usize>) {
        if let Some(message) = name_mistake(name) {
            self.add(Finding::error(span, message));
        }
    }

    fn choice(&mut self, node: &Node, words: &'static [ChoiceWord]) {
        let here = words.iter().filter(|w| w.only.is_none_or(|only| only == self.dimension));
        let names: Vec<_> = here.map(|word| word.name).collect();
        match node.text() {
            Some(text) if names.contains(&text) => {}
            Some(text) => self.not_one_of(node, text, names),
            None => self.expected(node, "a string"),
        }
    }

    /// Reports a word that is not one of the allowed ones.
    fn not_one_of(&mut self, node: &Node, word: &str, allowed: Vec<&'static str>) {
        let shown: String = word.chars().take(MAX_NAME_BYTES).collect();
        let message = format!("`{shown}` is not one of {}", allowed.join(", "));
        let finding = Finding::error(&node.span, message);
        let finding = match hints::word(word, &allowed) {
            Some(hint) => finding.help(hint),
            None if self.suggests() => finding.nearest(word, allowed),
            None => finding,
        };
        self.add(finding);
    }

    fn number(&mut self, node: &Node, range: NumberRange) {
        let Some(x) = node.number() else {
            let finding = Finding::error(&node.span, format!("expected a number, found {}", node.kind()));
            let hint = node.text().and_then(hints::number);
            return self.add(match hint {
                Some(hint) => finding.help(hint),
                None => finding,
            });
        };
        if x.is_nan() || !(x.is_finite() || range.infinite) {
            return self.add(Finding::error(&node.span, format!("{x} must be finite")));
        }
        if x.is_finite() && x.abs() > MAX_MAGNITUDE {
            return self.add(Finding::error(
                &node.span,
                format!("{x:e} exceeds the limit of {MAX_MAGNITUDE:e} in magnitude"),
            ));
        }
        if range.above && x <= range.min {
            self.add(Finding::error(&node.span, format!("{x} must be greater than {}", range.min)));
        } else if x < range.min {
            self.add(Finding::error(&node.span, format!("{x} must be at least {}", range.min)));
        } else if x > range.max {
            self.add(Finding::error(&node.span, format!("{x} must be at most {}", range.max)));
        }
    }

    fn list(&mut self, node: &Node, kind: &'static ValueKind, count: Option<usize>) {
        let Value::List(items) = &node.value else {
            return match count {
                Some(count) => self.expected(node, &format!("a list of {count}")),
                None => self.expected(node, "a list"),
            };
        };
        if let Some(count) = count
            && items.len() != count
        {
            let message = format!("expected a list of {count}, found {}", items.len());
            return self.add(Finding::error(&node.span, message));
        }
        if items.len() > MAX_ENTRIES {
            let message = format!("{} entries exceed the limit of {MAX_ENTRIES}", items.len());
            return self.add(Finding::error(&node.span, message));
        }
        items.iter().for_each(|item| self.value(item, kind));
    }

    fn tagged(&mut self, node: &Node, variants: &'static [TaggedTable]) {
        let Value::Table(_) = &node.value else { return self.expected(node, "a table") };
        let dimension = self.dimension;
        let here = || variants.iter().filter(move |v| v.only.is_none_or(|only| only == dimension));
        let words: Vec<_> = here().map(|variant| variant.word).collect();
        let Some(kind) = node.get("kind") else {
            let message = format!("missing key `kind`: one of {}", words.join(", "));
            self.add(Finding::error(&node.span, message));
            // keys that no kind has are explained too
            let known: Vec<_> =
                here().flat_map(|v| v.table.fields(dimension)).map(|field| field.key).collect();
            for entry in node.entries().iter().filter(|entry| !known.contains(&entry.key.as_str())) {
                if let Some(hint) = hints::key(&entry.key, &known, false, dimension) {
                    let shown: String = entry.key.chars().take(MAX_NAME_BYTES).collect();
                    self.add(Finding::error(&entry.span, format!("unknown key `{shown}`")).help(hint));
                }
            }
            return;
        };
        let Some(text) = kind.node.text() else { return self.expected(&kind.node, "a string") };
        if let Some(variant) = here().find(|variant| variant.word == text) {
            self.table(node, variant.table, Some("kind"));
        } else {
            self.not_one_of(&kind.node, text, words);
        }
    }
}

/// Error in a name, if any.
fn name_mistake(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("a name must not be empty")
    } else if name.len() > MAX_NAME_BYTES {
        Some("a name must have at most 100 bytes")
    } else if name.chars().any(|c| c.is_control() || "[]".contains(c)) {
        Some("a name must not contain control characters or brackets, which are the indices of copies")
    } else {
        None
    }
}

fn first_sentence(doc: &str) -> &str {
    doc.split_once(". ").map_or(doc.trim_end_matches('.'), |(first, _)| first)
}
