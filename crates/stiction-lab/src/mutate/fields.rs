//! Changes of single fields, each with the path of its field without indices.

use super::journal::JournalParts;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Change of a field.
pub(super) struct FieldChange {
    /// Path, such as `report.contacts[].mu`.
    pub(super) field: String,
    /// Name of the change.
    pub(super) name: &'static str,
    /// Changed journal; `None` where the change gives no journal.
    pub(super) changed: Option<JournalParts>,
}

/// Place of a value: part of the journal, and pointer within its tree.
#[derive(Clone)]
struct Place {
    part: usize,
    pointer: String,
}

/// Words that fields of one word may have instead.
const WORDS: [&str; 16] = [
    "open",
    "stick",
    "slip",
    "impact",
    "take-off",
    "reversal",
    "first-order",
    "doubled",
    "extrapolated-euler",
    "dormand-prince",
    "dormand-prince-eight",
    "automatic",
    "trapezoidal",
    "swept",
    "coulomb",
    "convex",
];

/// All changes of a journal: each field at up to `places` places, and records as a whole.
pub(super) fn changes(original: &JournalParts, places: usize) -> impl Iterator<Item = FieldChange> {
    let mut fields: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    for part in 0..original.parts() {
        let (name, tree) = original.tree(part);
        if part > 1 || tree.is_object() {
            collect(&tree, part, name, "", &mut fields);
        }
    }
    let original = original.clone();
    fields.into_iter().flat_map(move |(field, all)| {
        let count = all.len().min(places.max(1));
        // the first, the last and some between
        let spread = (0..count).map(|k| all[k * (all.len() - 1) / (count - 1).max(1)].clone());
        let original = original.clone();
        spread.collect::<Vec<_>>().into_iter().flat_map(move |place| at(&original, &field, &place))
    })
}

/// Collects the places of all fields of a tree.
fn collect(tree: &Value, part: usize, field: &str, pointer: &str, fields: &mut BTreeMap<String, Vec<Place>>) {
    fields.entry(field.to_string()).or_default().push(Place { part, pointer: pointer.to_string() });
    match tree {
        Value::Array(list) => {
            for (k, value) in list.iter().enumerate() {
                collect(value, part, &format!("{field}[]"), &format!("{pointer}/{k}"), fields);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                collect(value, part, &format!("{field}.{key}"), &format!("{pointer}/{escaped}"), fields);
            }
        }
        _ => {}
    }
}

/// Changes at a place.
fn at(original: &JournalParts, field: &str, place: &Place) -> Vec<FieldChange> {
    let (_, tree) = original.tree(place.part);
    let Some(value) = tree.pointer(&place.pointer) else { return Vec::new() };
    if field == "header.scene" {
        return scene_changes(original, value.as_str().unwrap_or(""));
    }
    let mut made = Vec::new();
    for (name, value) in replacements(value) {
        let mut tree = tree.clone();
        let Some(there) = tree.pointer_mut(&place.pointer) else { continue };
        if *there == value {
            continue;
        }
        *there = value;
        let changed = original.with(place.part, &tree);
        // what a type cannot hold may come back as it was
        let same =
            changed.as_ref().is_some_and(|changed| changed.tree(place.part) == original.tree(place.part));
        if !same {
            made.push(FieldChange { field: field.to_string(), name, changed });
        }
    }
    made
}

/// Other values for a value, small changes and large ones.
pub(super) fn replacements(value: &Value) -> Vec<(&'static str, Value)> {
    match value {
        Value::Null => vec![("a list", json!([])), ("a number", json!(0.5)), ("an object", json!({}))],
        Value::Bool(flag) => vec![("the opposite", json!(!flag))],
        Value::String(_) => WORDS.iter().map(|word| ("another word", json!(word))).collect(),
        Value::Number(number) if number.is_f64() => {
            let x = number.as_f64().unwrap_or(0.0);
            let small = if x == 0.0 { 1e-6 } else { x * (1.0 + 1e-6) };
            let mut all = vec![("small", small), ("+ 1", x + 1.0), ("× 3", 3.0 * x), ("huge", 1e300)];
            all.extend([("− 1e300", -1e300), ("negative", -x), ("zero", 0.0)]);
            all.into_iter().filter(|(_, y)| *y != x).map(|(name, y)| (name, json!(y))).collect()
        }
        Value::Number(number) => {
            let n = number.as_u64().unwrap_or(0);
            let all = [("+ 1", n + 1), ("zero", 0), ("large", 2 * n + 1000), ("huge", u64::from(u32::MAX))];
            all.into_iter().filter(|(_, m)| *m != n).map(|(name, m)| (name, json!(m))).collect()
        }
        Value::Array(list) => {
            let mut all = vec![("without the last", list[..list.len().saturating_sub(1)].to_vec())];
            all.push(("empty", Vec::new()));
            if let [first, second, ..] = &list[..] {
                let mut swapped = list.clone();
                (swapped[0], swapped[1]) = (second.clone(), first.clone());
                all.push(("two swapped", swapped));
            }
            all.extend(
                list.last().map(|last| ("one twice", [&list[..], std::slice::from_ref(last)].concat())),
            );
            let differs = |(_, other): &(&str, Vec<Value>)| other != list;
            all.into_iter().filter(differs).map(|(name, list)| (name, Value::Array(list))).collect()
        }
        Value::Object(_) => vec![("none", Value::Null)],
    }
}

/// Changes of the numbers of a scene, each under the key of its line.
fn scene_changes(original: &JournalParts, text: &str) -> Vec<FieldChange> {
    let mut made = Vec::new();
    let is_part = |c: char| c.is_ascii_digit() || ".-+e".contains(c);
    let (mut at, bytes) = (0, text.as_bytes());
    while at < text.len() {
        let starts = bytes[at].is_ascii_digit()
            && (at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_'));
        if !starts {
            at += 1;
            continue;
        }
        let end = text[at..].find(|c| !is_part(c)).map_or(text.len(), |n| at + n);
        if let Ok(x) = text[at..end].parse::<f64>() {
            let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
            let key = text[line..at].split('=').rev().nth(1).unwrap_or("").trim();
            let key = key.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or("");
            for (name, y) in [("small", x * (1.0 + 1e-3) + 1e-9), ("× 3", 3.0 * x + 1.0)] {
                let scene = format!("{}{y:?}{}", &text[..at], &text[end..]);
                let mut changed = original.clone();
                changed.header.scene = scene;
                made.push(FieldChange {
                    field: format!("header.scene: {key}"),
                    name,
                    changed: Some(changed),
                });
            }
        }
        at = end.max(at + 1);
    }
    made
}
