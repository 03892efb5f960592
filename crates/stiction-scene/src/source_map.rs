//! Map from bodies, joints and forces of a world to their tables in the file: mistakes of the world are reported at the
//! lines they come from.

use crate::copies::GROUND;
use crate::diagnostic::Finding;
use crate::node::{Entry, Node};
use crate::read::Reader;
use std::collections::HashMap;
use std::ops::Range;
use stiction::Mistake;

/// Bodies, joints and forces of the world by their indices in the lists of the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceMap {
    bodies: HashMap<String, usize>,
    joints: HashMap<String, usize>,
    joint_names: Vec<String>,
    couplings: HashMap<String, usize>,
    forces: Vec<(&'static str, usize)>,
}

impl SourceMap {
    pub(crate) fn body(&mut self, name: String, place: usize) {
        self.bodies.entry(name).or_insert(place);
    }

    /// Adds a joint; `true` if there was one of this name already.
    pub(crate) fn joint(&mut self, name: String, place: usize) -> bool {
        self.joint_names.push(name.clone());
        self.joints.insert(name, place).is_some()
    }

    /// Adds a coupling; `true` if there was one of this name already.
    pub(crate) fn coupling(&mut self, name: String, place: usize) -> bool {
        self.couplings.insert(name, place).is_some()
    }

    pub(crate) fn force(&mut self, list: &'static str, place: usize) {
        self.forces.push((list, place));
    }

    /// Names of the joints, in the order of their numbers.
    pub(crate) fn joint_names(&self) -> &[String] {
        &self.joint_names
    }

    /// Table of a body in the file.
    pub(crate) fn body_table<'a>(&self, root: &'a Node, name: &str) -> Option<&'a Node> {
        root.get("bodies")?.node.items().get(*self.bodies.get(name)?)
    }

    /// Table of a joint in the file.
    pub(crate) fn joint_table<'a>(&self, root: &'a Node, name: &str) -> Option<&'a Node> {
        root.get("joints")?.node.items().get(*self.joints.get(name)?)
    }

    /// Place of a coupling in the file.
    pub(crate) fn coupling_span(&self, root: &Node, name: &str) -> Range<usize> {
        let table = self.couplings.get(name).and_then(|k| root.get("couplings")?.node.items().get(*k));
        table.map_or(0..0, |table| named(table).span.clone())
    }

    /// Mistakes of the world at their places in the file. Those of copies are reported once.
    pub(crate) fn findings(&self, root: &Node, mistakes: &[Mistake]) -> Vec<Finding> {
        let mut found: Vec<(Finding, usize)> = Vec::new();
        let mut known: HashMap<(Range<usize>, &str), usize> = HashMap::new();
        for mistake in mistakes {
            let finding = self.finding(root, mistake);
            // mistakes that differ in their numbers alone are alike
            let words = mistake.what.split(|c: char| c.is_ascii_digit()).next().unwrap_or("");
            let place = *known.entry((finding.span.clone(), words)).or_insert(found.len());
            if let Some((_, more)) = found.get_mut(place) {
                *more += 1;
            } else {
                found.push((finding, 0));
            }
        }
        let counted = |(mut finding, more): (Finding, usize)| {
            if more > 0 {
                finding.message = format!("{}, and {more} more like this", finding.message);
            }
            finding
        };
        found.into_iter().map(counted).collect()
    }

    fn finding(&self, root: &Node, mistake: &Mistake) -> Finding {
        let Mistake { place, what } = mistake;
        let found = self.locate(root, place);
        let (span, named) = found.unwrap_or((root.span.start..root.span.start, false));
        let message = if named { what.clone() } else { format!("{place}: {what}") };
        let finding = Finding::error(&span, message);
        if what.starts_with("overlap by") {
            finding.help("move one of them, or set `allow_overlap = true` in [world]")
        } else if what.starts_with("no gap function") {
            finding
                .help("use other shapes, or keep them apart by `groups` or by a pair with `collide = false`")
        } else if what.contains("no body moves") {
            finding.help("a body moves unless its `motion` is \"fixed\" or \"kinematic\"")
        } else {
            finding
        }
    }

    /// Place that a mistake names, and whether it is a key of its own, so that the message needs no name.
    fn locate(&self, root: &Node, place: &str) -> Option<(Range<usize>, bool)> {
        if let Some(rest) = place.strip_prefix("world") {
            let world = root.get("world");
            let key = world.and_then(|world| world.node.get(rest.trim_start_matches(", ")));
            let bodies = || root.get("bodies").map(|entry| entry.span.clone());
            let span = key.map(|entry| entry.node.span.clone());
            return Some((span.or_else(bodies).or_else(|| world.map(|w| w.span.clone()))?, true));
        }
        if let Some(rest) = place.strip_prefix("bodies ") {
            // names may contain the word `and`
            let both = rest.match_indices(" and ").find_map(|(at, and)| {
                let (a, b) = (&rest[..at], &rest[at + and.len()..]);
                self.body_table(root, a)?;
                self.body_table(root, b)
            })?;
            return Some((named(both).span.clone(), false));
        }
        if let Some(rest) = place.strip_prefix("body ") {
            let (name, field) = split(rest, |name| self.bodies.contains_key(name))?;
            return Some(within(self.body_table(root, name)?, field));
        }
        if let Some(rest) = place.strip_prefix("joint ") {
            let (name, field) = split(rest, |name| self.joints.contains_key(name))?;
            return Some(within(self.joint_table(root, name)?, field));
        }
        if let Some(rest) = place.strip_prefix("coupling ") {
            let (name, field) = split(rest, |name| self.couplings.contains_key(name))?;
            let table = root.get("couplings")?.node.items().get(*self.couplings.get(name)?)?;
            return Some(within(table, field));
        }
        if let Some(rest) = place.strip_prefix("force ") {
            let (number, field) = rest.split_once(' ')?;
            let (list, k) = self.forces.get(number.parse::<usize>().ok()?)?;
            let table = root.get(list)?.node.items().get(*k)?;
            let field = field.split_once(", ").map_or("", |(_, field)| field);
            return Some((within(table, field).0, true));
        }
        None
    }
}

/// Name that exists, and the field that follows it after a comma.
fn split(text: &str, known: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    if known(text) {
        return Some((text, ""));
    }
    let commas = text.match_indices(", ").map(|(at, comma)| (&text[..at], &text[at + comma.len()..]));
    commas.filter(|(name, _)| known(name)).last()
}

/// Name of a table, or the table.
fn named(table: &Node) -> &Node {
    table.get("name").map_or(table, |entry| &entry.node)
}

/// Key of a table that a field of the world came from; `true` if there is one.
fn within(table: &Node, field: &str) -> (Range<usize>, bool) {
    let first = |keys: &[&str]| keys.iter().find_map(|key| table.get(key));
    let span = |entry: &Entry| entry.node.span.clone();
    if let Some(rest) = field.strip_prefix("shape ") {
        let digits = rest.split([',', ' ']).next().unwrap_or("");
        let shape = digits.parse().ok().and_then(|i| shape_entry(table, i));
        if let Some(shape) = shape {
            let key = rest.split_once(", ").and_then(|(_, key)| shape.get(&key.replace(' ', "_")));
            return (key.map_or_else(|| shape.span.clone(), span), true);
        }
    }
    let keys: &[&str] = match field {
        "pose" => &["position", "angle", "angle_deg", "quat_wxyz", "rotation_vector", "rpy_deg"],
        "mass" => &["density", "mass"],
        "inertia" => &["inertia", "mass", "density"],
        "path" => &["path", "motion"],
        "frame a" => &["frame_a", "at"],
        "frame b" => &["frame_b", "at_b", "at"],
        "distance" => &["length", "at_b", "kind"],
        "limits" => &["limits", "limits_deg"],
        "rest length" => &["rest_length"],
        "points" => &["point_a", "point_b", "bodies"],
        other => {
            return table.get(other).map_or_else(|| (named(table).span.clone(), false), |e| (span(e), true));
        }
    };
    first(keys).map_or_else(|| (named(table).span.clone(), false), |entry| (span(entry), true))
}

/// Entry of a shape by its number on the body: an entry with copies stands for several.
fn shape_entry(table: &Node, number: usize) -> Option<&Node> {
    let mut next = 0_usize;
    table.get("shapes")?.node.items().iter().find(|shape| {
        next = next.saturating_add(copied(shape));
        number < next
    })
}

/// Number of shapes that an entry stands for.
fn copied(shape: &Node) -> usize {
    let Some(copies) = shape.get("copies") else { return 1 };
    let rows =
        if copies.node.items().is_empty() { std::slice::from_ref(&copies.node) } else { copies.node.items() };
    let count = |row: &Node| row.get("count").and_then(|count| usize::try_from(count.node.integer()?).ok());
    rows.iter().fold(1, |product: usize, row| product.saturating_mul(count(row).unwrap_or(1)))
}

/// `true` when a joint, spring or pair names the ground.
pub(crate) fn refers_to_ground(root: &Reader) -> bool {
    ["joints", "springs", "pairs"].iter().any(|list| {
        root.tables(list).any(|table| {
            let bodies = table.node.get("bodies").map_or(&[][..], |entry| entry.node.items());
            bodies.iter().any(|node| node.text() == Some(GROUND))
        })
    })
}
