//! The JSON Schema of the format, from the same description that files are checked by.

use crate::keys::{Dimension, FORMAT, Kind, MOST, Range, SCENE, Table, Variant, Word};
use serde_json::{Map, Value, json};

/// The JSON Schema of scene files, as the program publishes it.
pub fn schema() -> String {
    let mut definitions = Map::new();
    for dimension in [Dimension::Plane, Dimension::Space] {
        Writer { dimension, definitions: &mut definitions }.define(&SCENE, None);
    }
    let whole = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Stiction scene, format {FORMAT}"),
        "description": SCENE.doc,
        "type": "object",
        "required": ["format", "dimension"],
        "if": { "properties": { "dimension": { "const": 3 } } },
        "then": { "$ref": "#/$defs/scene_3d" },
        "else": { "$ref": "#/$defs/scene_2d" },
        "$defs": definitions,
    });
    // a value without keys that are no text can be written
    serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
}

struct Writer<'a> {
    dimension: Dimension,
    definitions: &'a mut Map<String, Value>,
}

impl Writer<'_> {
    /// A reference to a table, which is defined where it is first met.
    fn define(&mut self, table: &'static Table, tag: Option<&str>) -> Value {
        let ending = match self.dimension {
            Dimension::Plane => "2d",
            Dimension::Space => "3d",
        };
        let name = format!("{}_{ending}", table.name);
        if !self.definitions.contains_key(&name) {
            // a place is kept for it before its parts are met
            self.definitions.insert(name.clone(), Value::Null);
            let definition = self.table(table, tag);
            self.definitions.insert(name.clone(), definition);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    fn table(&mut self, table: &'static Table, tag: Option<&str>) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        if let Some(tag) = tag {
            properties.insert("kind".into(), json!({ "const": tag, "description": table.doc }));
            required.push("kind");
        }
        for field in table.fields(self.dimension) {
            let mut value = self.kind(&field.kind);
            let words = words(&field.kind, self.dimension);
            value["description"] = format!("{}{words}", field.doc).into();
            properties.insert(field.key.into(), value);
            if field.needed {
                required.push(field.key);
            }
        }
        let mut out = json!({
            "type": "object",
            "description": table.doc,
            "properties": properties,
            "additionalProperties": false,
        });
        if !required.is_empty() {
            out["required"] = required.into();
        }
        let mut excluded = Vec::new();
        for group in table.one_of {
            let here = |key: &&&str| table.fields(self.dimension).any(|field| field.key == **key);
            let group: Vec<_> = group.iter().filter(here).collect();
            for (i, a) in group.iter().enumerate() {
                excluded.extend(group[i + 1..].iter().map(|b| json!({ "not": { "required": [a, b] } })));
            }
        }
        if !excluded.is_empty() {
            out["allOf"] = excluded.into();
        }
        out
    }

    fn kind(&mut self, kind: &'static Kind) -> Value {
        match kind {
            Kind::Number(range) => number(*range),
            Kind::Integer(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Text => json!({ "type": "string" }),
            Kind::Name => {
                json!({ "type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[^\\[\\]]*$" })
            }
            Kind::Choice(words) => {
                let here = words.iter().filter(|w| w.only.is_none_or(|only| only == self.dimension));
                json!({ "enum": here.map(|w| w.name).collect::<Vec<_>>() })
            }
            Kind::Formula => json!({ "type": ["number", "string"] }),
            Kind::Vector(kind) => self.list(kind, Some(self.dimension.count())),
            Kind::Turn(kind) => match self.dimension {
                Dimension::Plane => self.kind(kind),
                Dimension::Space => self.list(kind, Some(3)),
            },
            Kind::Fixed(count, kind) => self.list(kind, Some(*count)),
            Kind::List(kind) => self.list(kind, None),
            Kind::Table(table) => self.define(table, None),
            Kind::Map(table) => {
                json!({ "type": "object", "additionalProperties": self.define(table, None) })
            }
            Kind::Tagged(variants) => {
                let here = |v: &&Variant| v.only.is_none_or(|only| only == self.dimension);
                let here: Vec<_> = variants.iter().filter(here).collect();
                let tables: Vec<_> = here.iter().map(|v| self.define(v.table, Some(v.word))).collect();
                json!({ "oneOf": tables })
            }
            Kind::Either(one, other) => json!({ "anyOf": [self.kind(one), self.kind(other)] }),
        }
    }

    fn list(&mut self, kind: &'static Kind, count: Option<usize>) -> Value {
        let items = self.kind(kind);
        match count {
            Some(count) => json!({ "type": "array", "items": items, "minItems": count, "maxItems": count }),
            None => json!({ "type": "array", "items": items, "maxItems": MOST }),
        }
    }
}

fn number(range: Range) -> Value {
    let mut out = json!({ "type": "number" });
    if range.min.is_finite() {
        out[if range.above { "exclusiveMinimum" } else { "minimum" }] = range.min.into();
    }
    if range.max.is_finite() {
        out["maximum"] = range.max.into();
    }
    out
}

/// What the words of a choice mean, to stand behind its description.
fn words(kind: &'static Kind, dimension: Dimension) -> String {
    let of = |words: &'static [Word]| {
        let here = words.iter().filter(|w| w.only.is_none_or(|only| only == dimension));
        here.fold(String::new(), |all, w| format!("{all}\n{}: {}", w.name, w.doc))
    };
    match kind {
        Kind::Choice(words) | Kind::Either(Kind::Choice(words), _) => of(words),
        _ => String::new(),
    }
}
