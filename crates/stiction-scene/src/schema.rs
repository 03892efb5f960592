//! JSON Schema of the scene format, generated from the keys that files are checked against.

use crate::keys::{
    ChoiceWord, Dimension, FORMAT, MAX_ENTRIES, NumberRange, SCENE, Table, TaggedTable, ValueKind,
};
use serde_json::{Map, Value, json};

/// JSON Schema of scene files.
pub fn schema() -> String {
    let mut definitions = Map::new();
    for dimension in [Dimension::Plane, Dimension::Space] {
        SchemaWriter { dimension, definitions: &mut definitions }.define(&SCENE, None);
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
    // cannot fail: all keys are strings
    serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
}

struct SchemaWriter<'a> {
    dimension: Dimension,
    definitions: &'a mut Map<String, Value>,
}

impl SchemaWriter<'_> {
    /// Reference to a table, which is defined on first use.
    fn define(&mut self, table: &'static Table, tag: Option<&str>) -> Value {
        let ending = match self.dimension {
            Dimension::Plane => "2d",
            Dimension::Space => "3d",
        };
        let name = format!("{}_{ending}", table.name);
        if !self.definitions.contains_key(&name) {
            // reserve the entry before the tables inside are defined, to keep the order
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
            if field.required {
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

    fn kind(&mut self, kind: &'static ValueKind) -> Value {
        match kind {
            ValueKind::Number(range) => number(*range),
            ValueKind::Integer(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
            ValueKind::Flag => json!({ "type": "boolean" }),
            ValueKind::Text => json!({ "type": "string" }),
            ValueKind::Name => {
                json!({ "type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[^\\[\\]]*$" })
            }
            ValueKind::Choice(words) => {
                let here = words.iter().filter(|w| w.only.is_none_or(|only| only == self.dimension));
                json!({ "enum": here.map(|w| w.name).collect::<Vec<_>>() })
            }
            ValueKind::Formula => json!({ "type": ["number", "string"] }),
            ValueKind::Vector(kind) => self.list(kind, Some(self.dimension.count())),
            ValueKind::Rotation(kind) => match self.dimension {
                Dimension::Plane => self.kind(kind),
                Dimension::Space => self.list(kind, Some(3)),
            },
            ValueKind::Fixed(count, kind) => self.list(kind, Some(*count)),
            ValueKind::List(kind) => self.list(kind, None),
            ValueKind::Table(table) => self.define(table, None),
            ValueKind::Map(table) => {
                json!({ "type": "object", "additionalProperties": self.define(table, None) })
            }
            ValueKind::Tagged(variants) => {
                let here = |v: &&TaggedTable| v.only.is_none_or(|only| only == self.dimension);
                let here: Vec<_> = variants.iter().filter(here).collect();
                let tables: Vec<_> = here.iter().map(|v| self.define(v.table, Some(v.word))).collect();
                json!({ "oneOf": tables })
            }
            ValueKind::Either(one, other) => json!({ "anyOf": [self.kind(one), self.kind(other)] }),
        }
    }

    fn list(&mut self, kind: &'static ValueKind, count: Option<usize>) -> Value {
        let items = self.kind(kind);
        match count {
            Some(count) => json!({ "type": "array", "items": items, "minItems": count, "maxItems": count }),
            None => json!({ "type": "array", "items": items, "maxItems": MAX_ENTRIES }),
        }
    }
}

fn number(range: NumberRange) -> Value {
    let mut out = json!({ "type": "number" });
    if range.min.is_finite() {
        out[if range.above { "exclusiveMinimum" } else { "minimum" }] = range.min.into();
    }
    if range.max.is_finite() {
        out["maximum"] = range.max.into();
    }
    out
}

/// Meanings of the words of a choice, appended to its description.
fn words(kind: &'static ValueKind, dimension: Dimension) -> String {
    let of = |words: &'static [ChoiceWord]| {
        let here = words.iter().filter(|w| w.only.is_none_or(|only| only == dimension));
        here.fold(String::new(), |all, w| format!("{all}\n{}: {}", w.name, w.doc))
    };
    match kind {
        ValueKind::Choice(words) | ValueKind::Either(ValueKind::Choice(words), _) => of(words),
        _ => String::new(),
    }
}
