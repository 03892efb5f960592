//! Which symbols the sources define: items by name, members by the type or trait they belong to.

use crate::text::{block, identifiers, is_identifier, split, words};
use std::collections::{BTreeMap, BTreeSet};

/// Everything named in a set of sources.
#[derive(Default)]
pub(crate) struct Symbols {
    items: BTreeSet<String>,
    members: BTreeMap<String, BTreeSet<String>>,
    /// Items and re-exports by module or crate.
    modules: BTreeMap<String, BTreeSet<String>>,
}

const ITEMS: [&str; 9] = ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod"];

impl Symbols {
    /// Adds a source file by its path from the root of the repository.
    pub(crate) fn add(&mut self, path: &str, source: &str) {
        let code = split(source).code;
        let all: Vec<&str> = words(&code).collect();
        let defined: BTreeSet<String> =
            all.windows(2).filter(|w| ITEMS.contains(&w[0])).map(|w| w[1].to_string()).collect();
        let exported = code.split("pub use").skip(1).flat_map(|rest| {
            let tree = rest.split(';').next().unwrap_or("");
            identifiers(tree).into_iter().map(str::to_string).collect::<Vec<_>>()
        });
        let named: BTreeSet<String> = defined.iter().cloned().chain(exported).collect();
        for module in modules(path) {
            self.modules.entry(module).or_default().extend(named.iter().cloned());
        }
        self.items.extend(defined);
        self.add_members(&code);
    }

    /// Fields and variants from definitions, associated items from impl blocks.
    fn add_members(&mut self, code: &str) {
        for keyword in ["struct", "enum", "trait", "impl"] {
            for (at, _) in code.match_indices(keyword) {
                let before = code[..at].chars().next_back().is_some_and(crate::text::is_word);
                let rest = &code[at + keyword.len()..];
                if before || !rest.starts_with([' ', '<']) {
                    continue;
                }
                let Some(open) = rest.find(['{', ';']) else { continue };
                if rest[open..].starts_with(';') {
                    continue;
                }
                let (header, body) = (&rest[..open], block(&rest[open..]));
                let owner = if keyword == "impl" { implementor(header) } else { words(header).next() };
                let Some(owner) = owner else { continue };
                let members = self.members.entry(owner.to_string()).or_default();
                if matches!(keyword, "struct" | "enum") {
                    members.extend(identifiers(body).into_iter().map(str::to_string));
                } else {
                    let body: Vec<&str> = words(body).collect();
                    let inner = body.windows(2).filter(|w| ITEMS.contains(&w[0]));
                    members.extend(inner.map(|w| w[1].to_string()));
                }
            }
        }
    }

    /// Whether `path`, such as `solve`, `Row::dot` or `stiction_lcp::solve`, names something.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.strip_suffix("()").unwrap_or(path);
        let parts: Vec<&str> = path.split("::").collect();
        match parts.as_slice() {
            [name] => {
                self.items.contains(*name)
                    || self.modules.contains_key(*name)
                    || self.members.values().any(|members| members.contains(*name))
            }
            // every neighbour must belong to the one before it
            many => many.windows(2).all(|pair| {
                let holds = |map: &BTreeMap<String, BTreeSet<String>>| {
                    map.get(pair[0]).is_some_and(|names| names.contains(pair[1]))
                };
                holds(&self.members) || holds(&self.modules)
            }),
        }
    }
}

/// Whether a span reads as a symbol: one identifier or a path of them, with or without `()`.
pub(crate) fn is_symbol(span: &str) -> bool {
    span.strip_suffix("()").unwrap_or(span).split("::").all(is_identifier)
}

/// The modules a file is part of: its crate, its folders below `src` and itself.
fn modules(path: &str) -> Vec<String> {
    let parts: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
    let mut modules = vec![parts.get(1).unwrap_or(&"").replace('-', "_")];
    modules.extend(
        parts.iter().skip(3).filter(|p| !["lib", "main", "mod"].contains(p)).map(ToString::to_string),
    );
    modules
}

/// The type an impl block is for: the first word after `for`, or after the generics.
fn implementor(header: &str) -> Option<&str> {
    let subject = match header.split_once(" for ") {
        Some((_, subject)) => subject,
        None => skip_generics(header),
    };
    words(subject.trim_start_matches(['&', ' '])).find(|w| !["a", "dyn", "mut"].contains(w))
}

fn skip_generics(header: &str) -> &str {
    if !header.starts_with('<') {
        return header;
    }
    let mut depth = 0;
    for (i, c) in header.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &header[i + 1..];
        }
    }
    header
}

#[test]
fn symbols_are_found_by_owner() {
    let mut symbols = Symbols::default();
    symbols.add("crates/house-keys/src/lib.rs", "mod door; pub use door::{Door, knock};");
    let source = "pub struct Door<'a> { pub key: &'a str } pub fn knock() {} enum Side { In, Out(u8) }
        impl<'a> Door<'a> { fn open(&self) { /* fn gone() */ } } impl Clone for Side { fn clone(&self) {} }
        trait Locks { fn lock(&self); }";
    symbols.add("crates/house-keys/src/door.rs", source);
    for name in ["Door", "knock()", "Door::open", "Door::key", "Side::Out", "Side::clone", "Locks::lock"] {
        assert!(is_symbol(name) && symbols.has(name), "{name}");
    }
    assert!(symbols.has("house_keys::knock") && symbols.has("door::Door::open") && symbols.has("door"));
    for name in ["Window", "gone", "Door::close", "Side::open", "window::knock", "house_keys::shut"] {
        assert!(!symbols.has(name), "{name}");
    }
    assert!(!is_symbol("make test") && !is_symbol("a.rs") && !is_symbol("stiction-lcp") && !is_symbol(""));
}
