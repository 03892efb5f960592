//! A file against the description of its keys: all mistakes at once.

use crate::diagnostic::Finding;
use crate::keys::{Dimension, Field, Kind, LARGEST, MOST, Range, SCENE, Table, Variant};
use crate::node::{Node, Value};

/// Longest name [bytes].
const LONGEST_NAME: usize = 100;

/// The dimension that a file names; one that names none is guessed by its first vector, for the sake of the other
/// messages.
pub(crate) fn dimension(root: &Node) -> Dimension {
    let named = root.get("dimension").and_then(|entry| entry.node.number());
    let warm_start = || {
        let gravity = root.get("world").and_then(|world| world.node.get("gravity"));
        let position = || {
            let bodies = root.get("bodies")?.node.items();
            bodies.iter().find_map(|body| body.get("position"))
        };
        gravity.or_else(position).map(|vector| vector.node.items().len() as f64)
    };
    if named.or_else(warm_start) == Some(3.0) { Dimension::Space } else { Dimension::Plane }
}

/// Looks at every key of a file.
pub(crate) fn validate(root: &Node, dimension: Dimension, found: &mut Vec<Finding>) {
    Check { dimension, found }.table(root, &SCENE, None);
}

struct Check<'a> {
    dimension: Dimension,
    found: &'a mut Vec<Finding>,
}

impl Check<'_> {
    fn add(&mut self, finding: Finding) {
        self.found.push(finding);
    }

    fn expected(&mut self, node: &Node, what: &str) {
        self.add(Finding::error(&node.span, format!("expected {what}, found {}", node.kind())));
    }

    /// The keys of a table, besides the one that says which table it is.
    fn table(&mut self, node: &Node, table: &'static Table, tag: Option<&str>) {
        let Value::Table(entries) = &node.value else { return self.expected(node, "a table") };
        for entry in entries.iter().filter(|entry| tag != Some(&entry.key)) {
            match table.fields(self.dimension).find(|field| field.key == entry.key) {
                Some(field) => self.value(&entry.node, &field.kind),
                None => self.unknown(entry, table, tag),
            }
        }
        for field in table.fields(self.dimension).filter(|field| field.needed) {
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
        let shown: String = key.chars().take(LONGEST_NAME).collect();
        let finding = Finding::error(&entry.span, format!("unknown key `{shown}`"));
        let elsewhere = table.all().find(|field| field.key == key);
        let known = || table.fields(self.dimension).map(|field| field.key).chain(tag);
        let finding = match elsewhere {
            Some(_) => {
                let here = if self.dimension == Dimension::Plane { "plane" } else { "space" };
                let turns = |f: &&'static Field| f.doc.starts_with("How it is turned");
                let instead: Vec<_> =
                    table.fields(self.dimension).filter(turns).map(|f| format!("`{}`", f.key)).collect();
                let finding = Finding::error(&entry.span, format!("there is no `{shown}` in the {here}"));
                if elsewhere.is_some_and(|field| turns(&field)) {
                    finding.help(format!("use {}", instead.join(" or ")))
                } else {
                    finding
                }
            }
            None if crate::diagnostic::nearest(key, known()).is_some() => finding.nearest(key, known()),
            None => {
                let mut keys: Vec<_> = known().collect();
                keys.sort_unstable();
                finding.help(format!("known keys: {}", keys.join(", ")))
            }
        };
        self.add(finding);
    }

    fn value(&mut self, node: &Node, kind: &'static Kind) {
        match kind {
            Kind::Number(range) => self.number(node, *range),
            Kind::Integer(min, max) => match node.value {
                Value::Integer(i) if (*min..=*max).contains(&i) => {}
                Value::Integer(i) if min == max => {
                    self.add(Finding::error(&node.span, format!("{i} must be {min}")));
                }
                Value::Integer(i) => {
                    let message = format!("{i} must lie between {min} and {max}");
                    self.add(Finding::error(&node.span, message));
                }
                _ => self.expected(node, "an integer"),
            },
            Kind::Flag => {
                if !matches!(node.value, Value::Flag(_)) {
                    self.expected(node, "true or false");
                }
            }
            Kind::Text => {
                if node.text().is_none() {
                    self.expected(node, "a text");
                }
            }
            Kind::Name => match node.text() {
                Some(name) => {
                    if let Some(what) = name_mistake(name) {
                        self.add(Finding::error(&node.span, what));
                    }
                }
                None => self.expected(node, "a name"),
            },
            Kind::Choice(words) => {
                let here = || words.iter().filter(|w| w.only.is_none_or(|only| only == self.dimension));
                match node.text() {
                    Some(text) if here().any(|word| word.name == text) => {}
                    Some(text) => {
                        let shown: String = text.chars().take(LONGEST_NAME).collect();
                        let all: Vec<_> = here().map(|word| word.name).collect();
                        let finding =
                            Finding::error(&node.span, format!("`{shown}` is none of {}", all.join(", ")));
                        let finding = finding.nearest(text, all);
                        self.add(finding);
                    }
                    None => self.expected(node, "a text"),
                }
            }
            Kind::Formula => {
                // what a text says is looked at when it is read
                if node.text().is_none() {
                    if node.number().is_none() {
                        self.expected(node, "a number or an expression as a text");
                    } else {
                        self.number(node, crate::keys::ANY);
                    }
                }
            }
            Kind::Vector(kind) => self.list(node, kind, Some(self.dimension.count())),
            Kind::Turn(kind) => match self.dimension {
                Dimension::Plane => self.value(node, kind),
                Dimension::Space => self.list(node, kind, Some(3)),
            },
            Kind::Fixed(count, kind) => self.list(node, kind, Some(*count)),
            Kind::List(kind) => self.list(node, kind, None),
            Kind::Table(table) => self.table(node, table, None),
            Kind::Map(table) => match &node.value {
                Value::Table(entries) => {
                    for entry in entries {
                        if let Some(what) = name_mistake(&entry.key) {
                            self.add(Finding::error(&entry.span, what));
                        }
                        self.table(&entry.node, table, None);
                    }
                }
                _ => self.expected(node, "a table"),
            },
            Kind::Tagged(variants) => self.tagged(node, variants),
            Kind::Either(one, other) => {
                let table = matches!(node.value, Value::Table(_));
                let list = matches!(node.value, Value::List(_));
                let fits = |kind: &Kind| match kind {
                    Kind::Table(_) => table,
                    Kind::Fixed(..) => list,
                    _ => !table && !list,
                };
                self.value(node, if fits(one) || !fits(other) { one } else { other });
            }
        }
    }

    fn number(&mut self, node: &Node, range: Range) {
        let Some(x) = node.number() else { return self.expected(node, "a number") };
        if x.is_nan() || !(x.is_finite() || range.infinite) {
            return self.add(Finding::error(&node.span, format!("{x} must be finite")));
        }
        if x.is_finite() && x.abs() > LARGEST {
            return self
                .add(Finding::error(&node.span, format!("{x:e} is larger than the limit of {LARGEST:e}")));
        }
        if range.above && x <= range.min {
            self.add(Finding::error(&node.span, format!("{x} must be greater than {}", range.min)));
        } else if x < range.min {
            self.add(Finding::error(&node.span, format!("{x} must be at least {}", range.min)));
        } else if x > range.max {
            self.add(Finding::error(&node.span, format!("{x} must be at most {}", range.max)));
        }
    }

    fn list(&mut self, node: &Node, kind: &'static Kind, count: Option<usize>) {
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
        if items.len() > MOST {
            let message = format!("{} entries are more than the limit of {MOST}", items.len());
            return self.add(Finding::error(&node.span, message));
        }
        items.iter().for_each(|item| self.value(item, kind));
    }

    fn tagged(&mut self, node: &Node, variants: &'static [Variant]) {
        let Value::Table(_) = &node.value else { return self.expected(node, "a table") };
        let here = || variants.iter().filter(|v| v.only.is_none_or(|only| only == self.dimension));
        let words: Vec<_> = here().map(|variant| variant.word).collect();
        let Some(kind) = node.get("kind") else {
            let message = format!("missing key `kind`: one of {}", words.join(", "));
            return self.add(Finding::error(&node.span, message));
        };
        let Some(text) = kind.node.text() else { return self.expected(&kind.node, "a text") };
        if let Some(variant) = here().find(|variant| variant.word == text) {
            self.table(node, variant.table, Some("kind"));
        } else {
            let shown: String = text.chars().take(LONGEST_NAME).collect();
            let message = format!("`{shown}` is none of {}", words.join(", "));
            self.add(Finding::error(&kind.node.span, message).nearest(text, words));
        }
    }
}

/// What is wrong with a name, if anything.
fn name_mistake(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("a name must not be empty")
    } else if name.len() > LONGEST_NAME {
        Some("a name must have at most 100 bytes")
    } else if name.chars().any(|c| c.is_control() || "[]".contains(c)) {
        Some("a name must hold no brackets, which number copies, and no control characters")
    } else {
        None
    }
}

fn first_sentence(doc: &str) -> &str {
    doc.split_once(". ").map_or(doc.trim_end_matches('.'), |(first, _)| first)
}
