//! Couplings of joint coordinates: gears, racks, belts, differentials. Each is one row over the bodies of its joints.

use super::World;
use super::dimension::{Dimension, KindOfJoint};
use super::formulas::Formulas;
use super::joint_rows::{JointRowWriter, SpeedRow};
use super::layout::Layout;
use crate::error::Mistakes;
use crate::id::{BodyId, JointId};
use crate::system::RowKind;
use stiction_lcp::{Row, Term};

/// Linear coupling of joint coordinates: Σ aᵢ qᵢ = offset, or within the play around it. A pair of gears with z₁ and z₂
/// teeth has the factors z₁ and z₂, a rack and its pinion 1 and −r.
#[derive(Debug, Clone, PartialEq)]
pub struct Coupling {
    /// Name, unique among joints and couplings.
    pub name: String,
    /// Joints with the factors aᵢ of their coordinates.
    pub terms: Vec<(JointId, f64)>,
    /// Sum Σ aᵢ qᵢ that it keeps.
    pub offset: f64,
    /// Play: range in which the sum is free, half of it on either side of the offset, ≥ 0.
    pub backlash: f64,
}

impl Coupling {
    /// Coupling that keeps Σ aᵢ qᵢ at 0.
    pub fn new(name: impl Into<String>, terms: impl IntoIterator<Item = (JointId, f64)>) -> Self {
        Self { name: name.into(), terms: terms.into_iter().collect(), offset: 0.0, backlash: 0.0 }
    }

    /// Sets the sum that it keeps.
    #[must_use]
    pub fn offset(self, offset: f64) -> Self {
        Self { offset, ..self }
    }

    /// Sets the play.
    #[must_use]
    pub fn backlash(self, backlash: f64) -> Self {
        Self { backlash, ..self }
    }
}

/// Coupling with its joints.
#[derive(Debug, Clone)]
pub(super) struct CouplingLayout {
    id: JointId,
    coupling: Coupling,
    /// Indices of its joints, with their factors.
    terms: Vec<(usize, f64)>,
}

/// Sum Σ aᵢ qᵢ with its row.
struct CoupledSum {
    /// Sum less the offset, times the scale [m].
    error: f64,
    /// Metres of the row per unit of the sum.
    scale: f64,
    drift: f64,
    row: Row,
    /// Change of the speed of the row at constant velocities [m/s²]; NaN where it is not known.
    rate: f64,
}

impl CouplingLayout {
    /// Layout of a coupling; `None` if a joint is not there, which the check reports.
    pub(super) fn new<D: Formulas>(id: JointId, coupling: &Coupling, layout: &Layout<D>) -> Option<Self> {
        let index = |id: JointId| layout.joints.iter().position(|joint| joint.id == id);
        let terms = coupling.terms.iter().map(|&(joint, factor)| Some((index(joint)?, factor)));
        Some(Self { id, coupling: coupling.clone(), terms: terms.collect::<Option<_>>()? })
    }

    /// `true` where its play has ends.
    pub(super) fn is_unilateral(&self) -> bool {
        self.coupling.backlash > 0.0
    }

    /// Writes its row, or two where it has play: one for each end.
    pub(super) fn rows<D: Formulas>(&self, layout: &Layout<D>, at: (f64, &[f64]), out: &mut JointRowWriter) {
        let Some(sum) = self.sum(layout, at) else { return };
        let CoupledSum { error, scale, drift, row, rate } = sum;
        if !self.is_unilateral() {
            return out.add_row(self.id, [error, drift], RowKind::Rigid(0.0), rate, row);
        }
        let half = 0.5 * scale * self.coupling.backlash;
        let reversed = reversed(&row);
        out.add_row(self.id, [error + half, drift], RowKind::Limit, rate, row);
        out.add_row(self.id, [half - error, -drift], RowKind::Limit, -rate, reversed);
    }

    fn sum<D: Formulas>(&self, layout: &Layout<D>, (t, q): (f64, &[f64])) -> Option<CoupledSum> {
        let mut coordinates = Vec::with_capacity(self.terms.len());
        for &(joint, factor) in &self.terms {
            let joint = &layout.joints[joint];
            let [a, b] = joint.bodies.map(|i| layout.bodies[i].place(t, q));
            coordinates.push((factor, D::joint_coordinate(joint, [&a, &b])?));
        }
        // the largest part is a row of its joint
        let largest = coordinates.iter().fold(0.0, |m: f64, (factor, c)| m.max((factor / c.scale).abs()));
        let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        let (mut sum, mut drift, mut terms) = (-self.coupling.offset, 0.0, Vec::<Term>::new());
        for (factor, c) in &coordinates {
            let weight = scale * factor / c.scale;
            sum += factor * c.value;
            let SpeedRow { terms: own, drift: prescribed } = &c.row;
            drift += weight * prescribed;
            for term in own {
                let j = term.j.map(|x| weight * x);
                match terms.iter_mut().find(|other| other.body == term.body) {
                    Some(other) => other.j.iter_mut().zip(j).for_each(|(x, own)| *x += own),
                    None => terms.push(Term { body: term.body, j }),
                }
            }
        }
        let is_turn = |&(joint, _): &(usize, f64)| layout.joints[joint].joint.kind.is_angular();
        // angles of the plane have constant rows
        let rate = if D::COUNT == 2 && self.terms.iter().all(is_turn) { 0.0 } else { f64::NAN };
        let row = over(terms, &layout.starts);
        Some(CoupledSum { error: scale * sum, scale, drift, row, rate })
    }
}

/// Row with these terms.
fn over(terms: Vec<Term>, starts: &[usize]) -> Row {
    if terms.len() <= 2 {
        return Row::Bodies(terms.into_iter().collect());
    }
    let entry = |term: &Term| {
        let start = starts[term.body];
        let own = term.j.into_iter().take(starts[term.body + 1] - start).enumerate();
        own.filter(|(_, x)| *x != 0.0).map(|(i, x)| (start + i, x)).collect::<Vec<_>>()
    };
    Row::Sparse(terms.iter().flat_map(entry).collect())
}

/// Row of the opposite speed.
fn reversed(row: &Row) -> Row {
    match row {
        Row::Bodies(terms) => {
            Row::Bodies(terms.iter().map(|t| Term { body: t.body, j: t.j.map(|x| -x) }).collect())
        }
        Row::Sparse(entries) => Row::Sparse(entries.iter().map(|&(i, x)| (i, -x)).collect()),
    }
}

impl<D: Dimension> World<D> {
    /// Adds a coupling of joint coordinates. Its number is one of joints: reports list its rows under it.
    pub fn add_coupling(&mut self, coupling: Coupling) -> JointId {
        let id = self.next_joint();
        self.couplings.insert(id, coupling);
        id
    }

    /// Removes a coupling.
    pub fn remove_coupling(&mut self, id: JointId) -> Option<Coupling> {
        self.couplings.remove(&id)
    }

    /// Couplings, in the order of their numbers.
    pub fn couplings(&self) -> impl Iterator<Item = (JointId, &Coupling)> {
        self.couplings.iter().map(|(&id, coupling)| (id, coupling))
    }

    /// Pairs of bodies that couplings connect.
    pub(super) fn coupled(&self) -> impl Iterator<Item = [BodyId; 2]> + '_ {
        let bodies = |id: &JointId| self.joint(*id).map(|joint| [joint.a, joint.b]);
        self.couplings.values().flat_map(move |coupling| {
            let ids: Vec<JointId> = coupling.terms.iter().map(|term| term.0).collect();
            let mut pairs = Vec::new();
            for two in ids.windows(2) {
                if let (Some(first), Some(second)) = (bodies(&two[0]), bodies(&two[1])) {
                    // bodies that stand are in every island: each moving one is connected
                    pairs.extend(first.into_iter().flat_map(|a| second.map(|b| [a, b])));
                }
            }
            pairs
        })
    }

    /// Mistakes of couplings.
    pub(super) fn check_couplings(&self, found: &mut Mistakes) {
        for coupling in self.couplings.values() {
            let mut add = |what: String| found.add(format!("coupling {}", coupling.name), what);
            let Coupling { terms, offset, backlash, .. } = coupling;
            if terms.is_empty() {
                add("it couples no joints".into());
            }
            for (k, (id, factor)) in terms.iter().enumerate() {
                match self.joint(*id) {
                    None => add(format!("there is no joint {id}")),
                    Some(joint) if !joint.kind.has_coordinate() => {
                        add(format!("joint {} is {}: it has no coordinate", joint.name, joint.kind.name()));
                    }
                    Some(joint) if terms[..k].iter().any(|(other, _)| other == id) => {
                        add(format!("joint {} is in it twice", joint.name));
                    }
                    Some(_) => {}
                }
                if !(factor.is_finite() && *factor != 0.0) {
                    add(format!("the factor {factor} must be finite and not 0"));
                }
            }
            if !(offset.is_finite() && backlash.is_finite() && *backlash >= 0.0) {
                add(format!(
                    "offset {offset} and backlash {backlash} must be finite, and the latter not negative"
                ));
            }
        }
    }
}
