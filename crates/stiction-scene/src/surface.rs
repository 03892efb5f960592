//! Surfaces of a scene file: materials, collision groups, and settings of pairs.

use crate::copies::Names;
use crate::diagnostic::Finding;
use crate::read::Reader;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use stiction::{Groups, Material, ShapeId};

/// Most pairs of shapes with a material of their own: more would take longer to read than to simulate. Range 1e4 to
/// 1e7.
const MOST_PAIRS: usize = 200_000;

/// Materials of a file by their names.
#[derive(Debug, Default)]
pub(crate) struct Materials {
    all: BTreeMap<String, Material>,
    used: RefCell<BTreeSet<String>>,
}

impl Materials {
    pub(crate) fn new(root: &Reader) -> Self {
        let mut all = BTreeMap::new();
        if let Some(table) = root.table("materials") {
            for entry in table.node.entries() {
                // the key is the name itself
                if let Some(reader) = table.table(&entry.key) {
                    all.insert(entry.key.clone(), material(&reader));
                }
            }
        }
        Self { all, used: RefCell::default() }
    }

    /// Material of a shape or else of its body, with its name.
    pub(crate) fn of(&self, shape: &Reader, body: &Reader) -> (Material, String) {
        let reader = if shape.has("material") { shape } else { body };
        // both are read, so that neither counts as unused
        let _ = body.get("material");
        let name = reader.text("material").unwrap_or("default");
        self.named(reader, "material", name).unwrap_or_default()
    }

    fn named(&self, reader: &Reader, key: &str, name: &str) -> Option<(Material, String)> {
        self.used.borrow_mut().insert(name.to_string());
        match self.all.get(name) {
            Some(material) => Some((*material, name.to_string())),
            None if name == "default" => Some((Material::default(), name.to_string())),
            None => {
                let shown: String = name.chars().take(100).collect();
                let finding = Finding::error(&reader.span(key), format!("there is no material `{shown}`"));
                reader.context.add_with_nearest(finding, name, self.all.keys().map(String::as_str));
                None
            }
        }
    }

    /// Warns of materials that nothing is made of.
    pub(crate) fn warn_of_unused(&self, root: &Reader) {
        let used = self.used.borrow();
        for entry in root.table("materials").iter().flat_map(|table| table.node.entries()) {
            if !used.contains(&entry.key) {
                let message = format!("nothing is made of the material `{}`", entry.key);
                root.context.add(Finding::warning(&entry.span, message));
            }
        }
    }
}

fn material(reader: &Reader) -> Material {
    let default = Material::default();
    Material {
        friction: reader.number("friction").unwrap_or(default.friction),
        restitution: reader.number("restitution").unwrap_or(default.restitution),
        torsion: reader.number("torsion").unwrap_or(default.torsion),
        rolling: reader.number("rolling").unwrap_or(default.rolling),
    }
}

/// Groups of a shape or else of its body.
pub(crate) fn groups(shape: &Reader, body: &Reader) -> Groups {
    let default = Groups::default();
    let own = shape.table("groups");
    let whole = body.table("groups");
    let Some(table) = own.or(whole) else { return default };
    let bits = |key: &str, default: u32| {
        let Some(node) = table.get(key) else { return default };
        let bit = |group: i64| u32::try_from(group - 1).ok().and_then(|bit| 1_u32.checked_shl(bit));
        node.items()
            .iter()
            .filter_map(crate::node::Node::integer)
            .filter_map(bit)
            .fold(0, |all, bit| all | bit)
    };
    Groups { member: bits("member", default.member), collides: bits("collides", default.collides) }
}

/// Shape of the world: its number, its body's, and the name of its material.
#[derive(Debug, Clone)]
pub(crate) struct ShapeEntry {
    pub(crate) shape: ShapeId,
    pub(crate) body: u32,
    pub(crate) material: String,
}

/// Settings of pairs of bodies and of materials.
#[derive(Debug, Default)]
pub(crate) struct PairSettings {
    /// Pairs of bodies that pass through each other.
    pub(crate) excluded: Vec<[u32; 2]>,
    /// Pairs of shapes with a material of their own.
    pub(crate) materials: Vec<([ShapeId; 2], Material)>,
}

impl PairSettings {
    pub(crate) fn new(root: &Reader, names: &Names, materials: &Materials, shapes: &[ShapeEntry]) -> Self {
        let mut pairs = Self::default();
        let mut of_body: BTreeMap<u32, Vec<&ShapeEntry>> = BTreeMap::new();
        let mut of_material: BTreeMap<&str, Vec<&ShapeEntry>> = BTreeMap::new();
        for made in shapes {
            of_body.entry(made.body).or_default().push(made);
            of_material.entry(&made.material).or_default().push(made);
        }
        for reader in root.tables("pairs") {
            let collide = reader.flag("collide").unwrap_or(true);
            let (mut first, mut second) = (Vec::new(), Vec::new());
            if let [a, b] = reader.list("bodies") {
                let [a, b] = [a, b].map(|node| names.resolve_all(&reader, node));
                if !collide {
                    for &a in &a {
                        pairs.excluded.extend(b.iter().filter(|&&b| a != b).map(|&b| [a, b]));
                    }
                }
                let shapes_of = |bodies: &[u32]| -> Vec<&ShapeEntry> {
                    bodies.iter().filter_map(|body| of_body.get(body)).flatten().copied().collect()
                };
                (first, second) = (shapes_of(&a), shapes_of(&b));
            } else if let [a, b] = reader.list("materials") {
                if !collide {
                    let message = "materials always collide: leave pairs of bodies out, or use `groups`";
                    reader.error(&reader.span("collide"), message);
                }
                let of = |node: &crate::node::Node| {
                    let name = node.text()?;
                    materials.named(&reader, "materials", name)?;
                    of_material.get(name).cloned()
                };
                (first, second) = (of(a).unwrap_or_default(), of(b).unwrap_or_default());
            } else if !reader.has("bodies") && !reader.has("materials") {
                reader.error(
                    &reader.node.span,
                    "missing key `bodies` or `materials`: what the pair is made of",
                );
            }
            if !collide {
                continue;
            }
            let own = material(&reader);
            let before = pairs.materials.len();
            'pairs: for a in &first {
                for b in second.iter().filter(|b| a.body != b.body) {
                    pairs.materials.push(([a.shape, b.shape], own));
                    if pairs.materials.len() > MOST_PAIRS {
                        pairs.materials.truncate(before);
                        let message = format!("more pairs of shapes than the limit of {MOST_PAIRS}");
                        reader.error(&reader.node.span, message);
                        break 'pairs;
                    }
                }
            }
        }
        pairs
    }
}
