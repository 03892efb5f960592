//! Values of a scene file set from outside, as `--set materials.default.friction=0.3` does: the text of the file with the
//! value in its place, so that records of the run hold the scene that was run.

use crate::diagnostic::nearest;
use crate::node::{Entry, Node, Value};
use std::fmt::Write as _;

/// Text of a scene with the value at a path replaced or added. A path has keys with dots between them; an entry of a list
/// is named by its `name` or by its index, as in `bodies.crate.mass` or `bodies[0].mass`. The value is TOML; other text
/// becomes a string.
///
/// An error says which part of the path is not there, with the nearest name.
pub fn with_value(source: &str, path: &str, value: &str) -> Result<String, String> {
    let (root, found) = Node::parse(source);
    if let Some(error) = found.first() {
        return Err(error.message.clone());
    }
    let parts = parts(path)?;
    let value = toml_value(value);
    let mut node = &root;
    for (k, part) in parts.iter().enumerate() {
        let is_last = k + 1 == parts.len();
        if let Some(inner) = child(node, part) {
            node = inner;
            continue;
        }
        return match &node.value {
            Value::Table(_) if is_last => add(source, node, k == 0, part, &value),
            Value::Table(entries)
                if k == 0 && parts.len() == 2 && entries.iter().all(|own| own.key != *part) =>
            {
                // a table that the file does not have, such as [record]
                Ok(format!("{}\n\n[{part}]\n{} = {value}\n", source.trim_end(), parts[1]))
            }
            _ => Err(missing(node, part, path)),
        };
    }
    if node.span.is_empty() || matches!(node.value, Value::Table(_)) {
        return Err(format!("`{path}` is {}: name the key in it that is to be set", node.kind()));
    }
    let mut text = source.to_string();
    text.replace_range(node.span.clone(), &value);
    Ok(text)
}

/// Parts of a path: keys, names and indices.
fn parts(path: &str) -> Result<Vec<String>, String> {
    let mut parts = Vec::new();
    let mut rest = path.trim();
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('\'') {
            let (name, after) =
                inside.split_once('\'').ok_or_else(|| format!("`{path}`: a quote does not end"))?;
            parts.push(name.to_string());
            rest = after;
        } else if let Some(inside) = rest.strip_prefix('[') {
            let (index, after) =
                inside.split_once(']').ok_or_else(|| format!("`{path}`: a bracket does not close"))?;
            parts.push(index.trim().to_string());
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            parts.push(rest[..end].to_string());
            rest = &rest[end..];
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    if parts.is_empty() || parts.iter().any(String::is_empty) {
        return Err(format!("`{path}` is no path to a value, such as materials.default.friction"));
    }
    Ok(parts)
}

/// Value of a key, or entry of a list by its name or index.
fn child<'a>(node: &'a Node, part: &str) -> Option<&'a Node> {
    match &node.value {
        Value::Table(_) => node.get(part).map(|entry| &entry.node),
        Value::List(items) => {
            let named = |item: &&Node| item.get("name").and_then(|entry| entry.node.text()) == Some(part);
            items.iter().find(named).or_else(|| items.get(part.parse::<usize>().ok()?))
        }
        _ => None,
    }
}

fn missing(node: &Node, part: &str, path: &str) -> String {
    let names: Vec<&str> = match &node.value {
        Value::Table(entries) => entries.iter().map(|entry| entry.key.as_str()).collect(),
        Value::List(items) => {
            items.iter().filter_map(|item| item.get("name").and_then(|entry| entry.node.text())).collect()
        }
        _ => Vec::new(),
    };
    let near = nearest(part, names.iter().copied());
    let help = near.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    format!("`{path}`: there is no `{part}` in the scene{help}")
}

/// Text with a key added to a table of the file.
fn add(source: &str, table: &Node, is_root: bool, key: &str, value: &str) -> Result<String, String> {
    let line = format!("{key} = {value}");
    let is_inline = source.get(table.span.clone()).is_some_and(|text| text.starts_with('{'));
    let mut text = source.to_string();
    if is_inline {
        let comma = if table.entries().is_empty() { "" } else { ", " };
        text.insert_str(table.span.start + 1, &format!(" {line}{comma}"));
        return Ok(text);
    }
    // before the first key, so that it is no key of a table within this one
    let plain = |entry: &&Entry| !is_header(source, entry);
    match table.entries().iter().find(plain) {
        Some(first) => text.insert_str(first.span.start, &format!("{line}\n")),
        None if is_root => text.insert_str(0, &format!("{line}\n")),
        None => {
            return Err(format!("`{key}` cannot be added to a table without keys: write it into the file"));
        }
    }
    Ok(text)
}

/// `true` when the key of an entry stands in the header of a table, such as `[run]`.
fn is_header(source: &str, entry: &Entry) -> bool {
    let line = source[..entry.span.start].rfind('\n').map_or(0, |at| at + 1);
    source[line..entry.span.start].trim_start().starts_with('[')
}

/// TOML of a value: as it is where it is TOML, else as a string.
fn toml_value(value: &str) -> String {
    let (_, found) = Node::parse(&format!("value = {value}"));
    if found.is_empty() && !value.trim().is_empty() && !value.contains('\n') {
        return value.trim().to_string();
    }
    let mut text = String::from('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::with_value;

    const SCENE: &str = "format = 1\n\n[run]\nduration = 1.0\n\n[materials.default]\nfriction = 0.5\n\n[[bodies]]\nname = \
                         \"big crate\"\nmass = 2\nshapes = [{ kind = \"disk\", radius = 0.1 }]\n";

    #[test]
    fn values_are_replaced_and_added() {
        let set = |path: &str, value: &str| with_value(SCENE, path, value);
        assert_eq!(set("materials.default.friction", "0.3").unwrap(), SCENE.replace("= 0.5", "= 0.3"));
        assert_eq!(set("bodies.big crate.mass", "3.5").unwrap(), SCENE.replace("mass = 2", "mass = 3.5"));
        assert_eq!(set("bodies[0].shapes[0].radius", "0.2").unwrap(), SCENE.replace("0.1 }", "0.2 }"));
        assert_eq!(set("run.step", "1e-3").unwrap(), SCENE.replace("duration", "step = 1e-3\nduration"));
        assert_eq!(set("record.every", "0.1").unwrap(), format!("{SCENE}\n[record]\nevery = 0.1\n"));
        assert_eq!(
            set("title", "a \"b\"").unwrap(),
            format!("title = \"a \\\"b\\\"\"\n{SCENE}").replacen(
                "title = \"a \\\"b\\\"\"\nformat = 1",
                "title = \"a \\\"b\\\"\"\nformat = 1",
                1
            )
        );
        let text = set("bodies.'big crate'.shapes.0.rounding", "0.01").unwrap();
        assert!(text.contains("{ rounding = 0.01,  kind"), "{text}");
    }

    #[test]
    fn paths_that_lead_nowhere_are_named() {
        let wrong = |path: &str| with_value(SCENE, path, "1").unwrap_err();
        assert!(wrong("material.default.friction").contains("did you mean `materials`?"));
        assert!(wrong("bodies.big crat.mass").contains("did you mean `big crate`?"));
        assert!(wrong("materials.default").contains("name the key in it"));
        assert!(wrong("").contains("no path"));
    }
}
