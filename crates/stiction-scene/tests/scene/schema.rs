//! JSON Schema: the published file is current, all scenes conform to it, and every key is used in a scene.

use crate::{built, errors, scenes};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use toml::de::{DeTable, DeValue};

/// Validator of the JSON Schema keywords that the schema uses.
struct Validator<'a> {
    root: &'a Json,
    /// Definition and key of every value that was checked.
    seen: BTreeSet<(String, String)>,
}

impl Validator<'_> {
    /// Checks a value; returns the first error.
    fn check(&mut self, schema: &Json, value: &Json, name: &str) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for (keyword, rule) in schema.as_object().unwrap() {
            let ok = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "then" | "else" => true,
                "$ref" => {
                    let name = rule.as_str().unwrap().trim_start_matches("#/$defs/");
                    let definition = &self.root["$defs"][name];
                    assert!(definition.is_object(), "{name} is not defined");
                    self.check(definition, value, name)?;
                    true
                }
                "type" => {
                    let kinds = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                    kinds.iter().any(|kind| is(kind.as_str().unwrap(), value))
                }
                "items" => {
                    let mut items = value.as_array().into_iter().flatten();
                    items.try_for_each(|item| self.check(rule, item, name))?;
                    true
                }
                "required" => {
                    let has = |key: &Json| value.get(key.as_str().unwrap()).is_some();
                    rule.as_array().unwrap().iter().all(has)
                }
                "properties" => {
                    for (key, rule) in rule.as_object().unwrap() {
                        if let Some(value) = value.get(key) {
                            self.check(rule, value, name)?;
                            seen.insert((name.to_string(), key.clone()));
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    let known = schema.get("properties").and_then(Json::as_object);
                    let others = value.as_object().into_iter().flatten();
                    let others =
                        others.filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)));
                    for (key, value) in others {
                        if *rule == Json::Bool(false) {
                            return Err(format!("{name}: unknown key {key}"));
                        }
                        self.check(rule, value, name)?;
                    }
                    true
                }
                "allOf" => {
                    rule.as_array().unwrap().iter().try_for_each(|one| self.check(one, value, name))?;
                    true
                }
                "not" => self.check(rule, value, name).is_err(),
                "oneOf" => self.fitting(rule, value, name) == 1,
                "anyOf" => self.fitting(rule, value, name) >= 1,
                "if" => {
                    let way = if self.check(rule, value, name).is_ok() { "then" } else { "else" };
                    self.check(&schema[way], value, name)?;
                    true
                }
                keyword => simple_rule_holds(keyword, rule, value),
            };
            if !ok {
                return Err(format!("{name}: {keyword} {rule} does not hold for {value}"));
            }
        }
        self.seen.extend(seen);
        Ok(())
    }

    fn fitting(&mut self, rules: &Json, value: &Json, name: &str) -> usize {
        rules.as_array().unwrap().iter().filter(|rule| self.check(rule, value, name).is_ok()).count()
    }
}

/// Checks a keyword that needs no other part of the schema.
fn simple_rule_holds(keyword: &str, rule: &Json, value: &Json) -> bool {
    let characters = || value.as_str().map(|s| s.chars().count() as u64);
    let items = || value.as_array().map(|list| list.len() as u64);
    match keyword {
        "const" => same(rule, value),
        "enum" => rule.as_array().unwrap().iter().any(|word| same(word, value)),
        "minimum" => number(value).is_none_or(|x| x >= rule.as_f64().unwrap()),
        "exclusiveMinimum" => number(value).is_none_or(|x| x > rule.as_f64().unwrap()),
        "maximum" => number(value).is_none_or(|x| x <= rule.as_f64().unwrap()),
        "minLength" => characters().is_none_or(|n| n >= rule.as_u64().unwrap()),
        "maxLength" => characters().is_none_or(|n| n <= rule.as_u64().unwrap()),
        "pattern" => {
            assert_eq!(rule, r"^[^\[\]]*$");
            value.as_str().is_none_or(|s| !s.contains(['[', ']']))
        }
        "minItems" => items().is_none_or(|n| n >= rule.as_u64().unwrap()),
        "maxItems" => items().is_none_or(|n| n <= rule.as_u64().unwrap()),
        other => panic!("the validator does not support the keyword {other}"),
    }
}

/// TOML file as JSON, with the largest number in place of infinity.
fn json(text: &str) -> Json {
    fn of(value: &DeValue) -> Json {
        match value {
            DeValue::String(text) => text.as_ref().into(),
            DeValue::Integer(number) => number.as_str().parse::<i64>().unwrap().into(),
            DeValue::Float(number) => {
                number.as_str().parse::<f64>().unwrap().clamp(f64::MIN, f64::MAX).into()
            }
            DeValue::Boolean(flag) => (*flag).into(),
            DeValue::Datetime(_) => panic!("a date"),
            DeValue::Array(list) => list.iter().map(|item| of(item.get_ref())).collect(),
            DeValue::Table(table) => all(table),
        }
    }
    fn all(table: &DeTable) -> Json {
        let pair = |(key, value): (&toml::Spanned<_>, &toml::Spanned<_>)| {
            let key: &std::borrow::Cow<str> = key.get_ref();
            (key.to_string(), of(value.get_ref()))
        };
        Json::Object(table.iter().map(pair).collect())
    }
    all(DeTable::parse(text).unwrap().get_ref())
}

fn number(value: &Json) -> Option<f64> {
    value.as_f64()
}

fn is(kind: &str, value: &Json) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        other => panic!("the type {other} is not known here"),
    }
}

/// Equality, with integers and floats compared as numbers.
fn same(a: &Json, b: &Json) -> bool {
    a == b || (a.is_number() && a.as_f64() == b.as_f64())
}

#[test]
fn the_published_schema_is_the_one_the_program_writes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/scene.schema.json");
    let published = std::fs::read_to_string(path).unwrap();
    let hint = "stiction check --schema > scenes/scene.schema.json";
    assert!(published == stiction_scene::schema(), "the schema has changed: {hint}");
}

#[test]
fn scenes_conform_to_the_schema_and_use_every_key() {
    let root: Json = serde_json::from_str(&stiction_scene::schema()).unwrap();
    let mut validator = Validator { root: &root, seen: BTreeSet::new() };
    for (path, text) in [scenes("scenes"), scenes("scenes/reference")].concat() {
        let value = json(&text);
        validator.check(&root, &value, "scene").unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    // a key that no scene uses is not tested; keys shared by both dimensions, by all shapes or by all couplings are used once
    let one = |name: &str| {
        let has = |key: &str| root["$defs"][name]["properties"].get(key).is_some();
        let dimensionless = name.trim_end_matches("_2d").trim_end_matches("_3d");
        let shared = [("sensor", "shape"), ("backlash", "coupling")].iter().find(|(key, _)| has(key));
        shared.map_or(dimensionless, |(_, kind)| kind).to_string()
    };
    let own = |key: &str| ["radius", "vertices"].contains(&key);
    let seen: BTreeSet<_> = validator.seen.iter().map(|(name, key)| (one(name), key.clone())).collect();
    let mut missing = Vec::new();
    for (name, definition) in root["$defs"].as_object().unwrap() {
        for key in definition["properties"].as_object().unwrap().keys() {
            let pair = if own(key) { (name.clone(), key.clone()) } else { (one(name), key.clone()) };
            if !seen.contains(&pair) && !validator.seen.contains(&pair) {
                missing.push(pair);
            }
        }
    }
    assert!(missing.is_empty(), "no scene shows {missing:?}");
}

#[test]
fn the_program_refuses_the_same_scenes_as_the_schema() {
    let root: Json = serde_json::from_str(&stiction_scene::schema()).unwrap();
    let good = "format = 1\ndimension = 2\nrun = { duration = 1.0 }\n\
                [[bodies]]\nname = \"a\"\nmass = 1.0\ninertia = 1.0\nshapes = [{ kind = \"disk\", radius = 1.0 }]\n";
    let mut refused = 0;
    for (old, new) in [
        ("", ""),
        ("format = 1", "format = 2"),
        ("dimension = 2", "dimension = 3"),
        ("dimension = 2", ""),
        ("mass = 1.0", "mass = 0.0"),
        ("mass = 1.0", "mass = \"1\""),
        ("mass = 1.0", "mass = 1.0\ndensity = 1.0"),
        ("mass = 1.0", "mas = 1.0"),
        ("kind = \"disk\"", "kind = \"disc\""),
        ("radius = 1.0", "radius = 1.0, angle = 1.0, angle_deg = 2.0"),
        ("radius = 1.0", "radius = -1.0"),
        ("name = \"a\"", "name = \"a[0]\""),
        ("name = \"a\"", "motion = \"frozen\"\nname = \"a\""),
        ("name = \"a\"", "position = [0.0]\nname = \"a\""),
        ("duration = 1.0", "step = 1.0"),
    ] {
        let text = good.replacen(old, new, 1);
        let value = json(&text);
        let verdict = Validator { root: &root, seen: BTreeSet::new() }.check(&root, &value, "scene");
        assert_eq!(verdict.is_ok(), errors(&text).0.is_empty(), "{old} → {new}: {verdict:?}");
        refused += usize::from(verdict.is_err());
    }
    assert_eq!(refused, 14);
    built(good);
}
