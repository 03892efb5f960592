//! Copied entries and the names of their copies, such as `box[2]`, and references to them.

use crate::diagnostic::Finding;
use crate::keys::MAX_ENTRIES;
use crate::node::Node;
use crate::read::Reader;
use std::collections::HashMap;
use std::fmt::Write as _;
use stiction::{Dimension, RigidPose};

/// Copy of an entry.
#[derive(Debug, Clone)]
pub(crate) struct Copied<P> {
    /// Index of the copy, one per row of copies.
    pub(crate) index: Vec<usize>,
    /// Displacement from the written pose to that of this copy.
    pub(crate) moved: P,
}

impl<P> Copied<P> {
    /// Name of the copy: `box[2]`, `box[2][3]`, or the base name where there are no copies.
    pub(crate) fn name(&self, base: &str) -> String {
        let mut name = base.to_string();
        for i in &self.index {
            let _ = write!(name, "[{i}]");
        }
        name
    }
}

/// All copies of an entry; `row` gives the displacement of each copy in a row.
pub(crate) fn copies<D: Dimension>(
    reader: &Reader,
    row: impl Fn(&Reader) -> Vec<D::Isometry>,
) -> Vec<Copied<D::Isometry>> {
    let mut all = vec![Copied { index: Vec::new(), moved: D::Isometry::identity() }];
    let Some(node) = reader.get("copies") else { return all };
    let tables = if node.items().is_empty() { std::slice::from_ref(node) } else { node.items() };
    for table in tables.iter().map(|node| reader.at(node)) {
        let motions = row(&table);
        if all.len() * motions.len() > MAX_ENTRIES {
            let message = format!("{} copies exceed the limit of {MAX_ENTRIES}", all.len() * motions.len());
            reader.error(&table.node.span, message);
            return Vec::new();
        }
        let next = |one: &Copied<D::Isometry>| {
            let (index, moved) = (one.index.clone(), one.moved);
            let copy = move |(i, motion): (usize, &D::Isometry)| Copied {
                index: index.iter().copied().chain([i]).collect(),
                moved: moved.times(motion),
            };
            motions.iter().enumerate().map(copy).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(next).collect();
    }
    all
}

/// Number of copies of an entry, without their poses.
pub(crate) fn number(reader: &Reader) -> usize {
    let Some(node) = reader.get("copies") else { return 1 };
    let tables = if node.items().is_empty() { std::slice::from_ref(node) } else { node.items() };
    tables.iter().fold(1, |product: usize, table| product.saturating_mul(count(&reader.at(table))))
}

/// Number of copies in a row, at most the limit.
pub(crate) fn count(table: &Reader) -> usize {
    table.count("count").unwrap_or(1).min(MAX_ENTRIES)
}

/// Names of all bodies, with their numbers in the world.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    numbers: HashMap<String, u32>,
    /// Copies of a body, by its base name.
    copies: HashMap<String, Vec<u32>>,
    /// Names in the order of their numbers.
    all: Vec<String>,
}

/// Name of the fixed world as a body.
pub(crate) const GROUND: &str = "world";

impl Names {
    /// Adds the next body; `false` if the name exists.
    pub(crate) fn add(&mut self, base: &str, name: String) -> bool {
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let new = self.numbers.insert(name.clone(), number).is_none();
        if base != name {
            self.copies.entry(base.to_string()).or_default().push(number);
        }
        self.all.push(name);
        new
    }

    pub(crate) fn all(&self) -> &[String] {
        &self.all
    }

    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// Body that a reference in a copied entry names; reports an error if there is none.
    pub(crate) fn resolve(&self, reader: &Reader, node: &Node, index: &[usize]) -> Option<u32> {
        let text = node.text()?;
        let name = match substituted(text, index) {
            Ok(name) => name,
            Err(what) => {
                reader.error(&node.span, what);
                return None;
            }
        };
        let found = self.number(&name);
        if found.is_none() {
            self.missing(reader, node, &name);
        }
        found
    }

    /// Bodies that a reference names: one, or all copies of one.
    pub(crate) fn resolve_all(&self, reader: &Reader, node: &Node) -> Vec<u32> {
        let Some(name) = node.text() else { return Vec::new() };
        if let Some(copies) = self.copies.get(name) {
            return copies.clone();
        }
        let found = self.number(name);
        if found.is_none() {
            self.missing(reader, node, name);
        }
        found.into_iter().collect()
    }

    fn missing(&self, reader: &Reader, node: &Node, name: &str) {
        let shown: String = name.chars().take(100).collect();
        let finding = Finding::error(&node.span, format!("there is no body `{shown}`"));
        match self.copies.get(name) {
            Some(copies) => reader.context.add(finding.help(format!(
                "it has copies: `{name}[0]` to `{}`",
                copies.last().map_or("", |&last| self.all[last as usize].as_str())
            ))),
            None => reader.context.add_with_nearest(finding, name, self.all.iter().map(String::as_str)),
        }
    }
}

/// Substitutes the indices of a copy for i and j: `link[i+1]` is `link[4]` in copy 3.
pub(crate) fn substituted(text: &str, index: &[usize]) -> Result<String, String> {
    let mut name = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((inside, behind)) = after.split_once(']') else { break };
        name.push_str(before);
        let letter = ["i", "j"].iter().position(|letter| inside.trim_start().starts_with(letter));
        if let Some(letter) = letter {
            let Some(&own) = index.get(letter) else {
                let missing = if letter == 0 { "no copies" } else { "only one row of copies" };
                return Err(format!("`[{inside}]` refers to an index of an entry with {missing}"));
            };
            let shift = inside.trim_start()[1..].replace(' ', "");
            let shift = if shift.is_empty() { Ok(0) } else { shift.parse::<i64>() };
            let Ok(shift) = shift else {
                return Err(format!(
                    "`[{inside}]` is not an index: write a number, i, j, or a sum such as i+1"
                ));
            };
            let number = i64::try_from(own).unwrap_or(i64::MAX).saturating_add(shift);
            let _ = write!(name, "[{number}]");
        } else {
            let _ = write!(name, "[{inside}]");
        }
        rest = behind;
    }
    name.push_str(rest);
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::substituted;

    #[test]
    fn a_copy_refers_to_the_next_one() {
        assert_eq!(substituted("link[i+1]", &[3]).as_deref(), Ok("link[4]"));
        assert_eq!(substituted("brick[i][j - 1]", &[3, 2]).as_deref(), Ok("brick[3][1]"));
        assert_eq!(substituted("link[7]", &[]).as_deref(), Ok("link[7]"));
        assert_eq!(substituted("link", &[]).as_deref(), Ok("link"));
        assert!(substituted("link[i]", &[]).is_err());
        assert!(substituted("link[j]", &[1]).is_err());
        assert!(substituted("link[i*2]", &[1]).is_err());
    }
}
