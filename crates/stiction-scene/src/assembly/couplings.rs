//! Couplings of a scene file: gears, belts, racks, screws and sums of one's own.

use super::{Assembly, SceneDimension, copies};
use crate::copies::substituted;
use crate::diagnostic::Finding;
use crate::node::Node;
use crate::read::Reader;
use crate::track;
use std::f64::consts::TAU;
use stiction::{CoordinateId, Coupling, JointId};

impl<D: SceneDimension> Assembly<'_, D> {
    pub(super) fn couplings(&mut self) {
        for (k, reader) in self.root.tables("couplings").enumerate() {
            let numbered = format!("c{k}");
            let base = reader.text("name").unwrap_or(&numbered);
            for copy in copies::<D>(&reader) {
                let name = copy.name(base);
                let terms = self.terms(&reader, &copy.index);
                let coupling = coupling(&reader, name.clone(), terms.unwrap_or_default());
                if self.places.coupling(name.clone(), k) && reader.has("name") {
                    reader.error(&reader.span("name"), format!("another coupling is named `{name}`"));
                }
                if !coupling.terms.is_empty() {
                    self.world.add_coupling(coupling);
                }
            }
        }
    }

    /// Coordinates of a coupling with their factors; `None` where a mistake is reported.
    fn terms(&self, reader: &Reader, index: &[usize]) -> Option<Vec<(CoordinateId, f64)>> {
        let number = |key: &str| reader.number(key);
        let sign = |key: &str| if reader.flag(key).unwrap_or(false) { -1.0 } else { 1.0 };
        let factors = match reader.text("kind")? {
            "linear" => {
                let term = |table: Reader| {
                    let joint = self.named_joint(&table, table.get("joint")?, index)?;
                    Some((joint.axis(table.count("coordinate").unwrap_or(0)), table.number("factor")?))
                };
                return reader.tables("terms").map(term).collect();
            }
            "gears" => {
                let [first, second] = reader.vector::<2>("teeth")?;
                vec![first, second * sign("internal")]
            }
            "belt" => {
                let [first, second] = reader.vector::<2>("radii")?;
                vec![first, -second * sign("crossed")]
            }
            "rack" => vec![1.0, -number("radius")?],
            "screw" => vec![1.0, -number("pitch")? / TAU],
            "mimic" => vec![1.0, -number("ratio").unwrap_or(1.0)],
            "differential" => vec![-2.0, 1.0, 1.0],
            "planetary" => {
                let [sun, ring] = reader.vector::<2>("teeth")?;
                vec![sun, ring, -sun - ring]
            }
            _ => return None,
        };
        let joints = reader.list("joints").iter().map(|node| self.named_joint(reader, node, index));
        let joints: Vec<JointId> = joints.collect::<Option<_>>()?;
        (joints.len() == factors.len())
            .then(|| joints.into_iter().map(CoordinateId::from).zip(factors).collect())
    }

    /// Joint that a reference in a copied entry names; reports an error if there is none.
    fn named_joint(&self, reader: &Reader, node: &Node, index: &[usize]) -> Option<JointId> {
        let name = match substituted(node.text()?, index) {
            Ok(name) => name,
            Err(what) => {
                reader.error(&node.span, what);
                return None;
            }
        };
        let found = self.world.find_joint(&name);
        if found.is_none() && !self.places.joint_names().contains(&name) {
            let finding = Finding::error(&node.span, format!("there is no joint `{name}`"));
            let names = self.places.joint_names().iter().map(String::as_str);
            reader.context.add_with_nearest(finding, &name, names);
        }
        found
    }
}

/// Coupling with the offset, play and compliance of a table.
fn coupling(reader: &Reader, name: String, terms: Vec<(CoordinateId, f64)>) -> Coupling {
    let coupling = Coupling::new(name, terms)
        .backlash(reader.number("backlash").unwrap_or(0.0))
        .compliance(reader.number("compliance").unwrap_or(0.0));
    match track::command(reader, "offset") {
        Some(track) => coupling.path(move |t| [track.at(t), track.rate(t)]),
        None => coupling.offset(reader.number("offset").unwrap_or(0.0)),
    }
}
