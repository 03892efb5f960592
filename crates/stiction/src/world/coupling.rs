//! Couplings of joint coordinates: gears, racks, belts, differentials. Each is one row over the bodies of its joints.

use super::World;
use super::body::Body;
use super::dimension::{Dimension, KindOfJoint};
use super::formulas::Formulas;
use super::joint::Command;
use super::joint_rows::{JointRowWriter, SpeedRow};
use super::layout::Layout;
use crate::error::Mistakes;
use crate::id::{BodyId, CoordinateId, JointId};
use crate::system::{Actuator, ActuatorTarget, RowKind};
use std::collections::{BTreeMap, BTreeSet};
use stiction_lcp::{Row, Term};

/// Linear coupling of joint coordinates: Σ aᵢ qᵢ = b, or within the play around it. The offset b may be a function of time. A pair of gears with z₁ and z₂
/// teeth has the factors z₁ and z₂, a rack and its pinion 1 and −r.
#[derive(Debug, Clone, PartialEq)]
pub struct Coupling {
    /// Name, unique among joints and couplings.
    pub name: String,
    /// Joint coordinates with their factors aᵢ.
    pub terms: Vec<(CoordinateId, f64)>,
    /// Sum b that it keeps.
    pub offset: f64,
    /// Sum b(t) as a function of time, in place of the offset.
    pub path: Option<Command>,
    /// Play: range in which the sum is free, half of it on either side of the offset, ≥ 0.
    pub backlash: f64,
    /// Compliance: change of the sum per force along it, ≥ 0; 0 with play. For angles with factors 1 [rad/N m].
    pub compliance: f64,
}

impl Coupling {
    /// Coupling that keeps Σ aᵢ qᵢ at 0. A joint stands for its first coordinate.
    pub fn new<C: Into<CoordinateId>>(
        name: impl Into<String>,
        terms: impl IntoIterator<Item = (C, f64)>,
    ) -> Self {
        let terms = terms.into_iter().map(|(coordinate, factor)| (coordinate.into(), factor)).collect();
        Self { name: name.into(), terms, offset: 0.0, path: None, backlash: 0.0, compliance: 0.0 }
    }

    /// Sets the sum that it keeps.
    #[must_use]
    pub fn offset(self, offset: f64) -> Self {
        Self { offset, ..self }
    }

    /// Sets the sum as a function of time: t [s] to the value and its rate.
    #[must_use]
    pub fn path(self, path: impl Fn(f64) -> [f64; 2] + Send + Sync + 'static) -> Self {
        Self { path: Some(Command::new(path)), ..self }
    }

    /// Sets the compliance.
    #[must_use]
    pub fn compliance(self, compliance: f64) -> Self {
        Self { compliance, ..self }
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
        let index = |id: CoordinateId| layout.joints.iter().position(|joint| joint.id.axis(joint.axis) == id);
        let terms = coupling.terms.iter().map(|&(joint, factor)| Some((index(joint)?, factor)));
        Some(Self { id, coupling: coupling.clone(), terms: terms.collect::<Option<_>>()? })
    }

    /// `true` where its play has ends.
    pub(super) fn is_unilateral(&self) -> bool {
        self.coupling.backlash > 0.0
    }

    /// `true` where it yields: it is a spring then, and no row.
    pub(super) fn is_elastic(&self) -> bool {
        self.coupling.compliance > 0.0
    }

    /// `true` where its row does not change as the bodies move.
    pub(super) fn has_constant_row<D: Formulas>(&self, layout: &Layout<D>) -> bool {
        let is_turn = |&(joint, _): &(usize, f64)| layout.joints[joint].joint.kind.is_angular(0);
        D::COUNT == 2 && self.terms.iter().all(is_turn)
    }

    /// Spring of a coupling that yields.
    pub(super) fn spring<D: Formulas>(&self, layout: &Layout<D>, at: (f64, &[f64])) -> Option<Actuator> {
        let CoupledSum { error, scale, drift, row, .. } =
            self.sum(layout, at).filter(|_| self.is_elastic())?;
        Some(Actuator {
            joint: self.id,
            row,
            error: -error,
            speed: -drift,
            stiffness: 1.0 / (scale * scale * self.coupling.compliance),
            damping: 0.0,
            feedforward: 0.0,
            limit: f64::INFINITY,
            target: if self.coupling.path.is_some() { ActuatorTarget::Path } else { ActuatorTarget::Rest },
        })
    }

    /// Potential energy of a coupling that yields [J].
    pub(super) fn energy<D: Formulas>(&self, layout: &Layout<D>, at: (f64, &[f64])) -> f64 {
        let spring = self.spring(layout, at);
        spring.map_or(0.0, |spring| 0.5 * spring.stiffness * spring.error * spring.error)
    }

    /// Writes its row, or two where it has play: one for each end.
    pub(super) fn rows<D: Formulas>(&self, layout: &Layout<D>, at: (f64, &[f64]), out: &mut JointRowWriter) {
        let Some(sum) = self.sum(layout, at).filter(|_| !self.is_elastic()) else { return };
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
            coordinates.push((factor, layout.coordinate(&layout.joints[joint], (t, q))?));
        }
        // the largest part is a row of its joint
        let largest = coordinates.iter().fold(0.0, |m: f64, (factor, c)| m.max((factor / c.scale).abs()));
        let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        let prescribed = self.coupling.path.as_ref().map(|Command(path)| path(t));
        let [offset, offset_rate] = prescribed.unwrap_or([self.coupling.offset, 0.0]);
        let (mut sum, mut drift, mut terms) = (-offset, -scale * offset_rate, Vec::<Term>::new());
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
        // angles of the plane have constant rows
        let is_constant = prescribed.is_none() && self.has_constant_row(layout);
        let rate = if is_constant { 0.0 } else { f64::NAN };
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
            let ids: Vec<JointId> = coupling.terms.iter().map(|term| term.0.joint).collect();
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
            let Coupling { terms, offset, backlash, compliance, path, .. } = coupling;
            if terms.is_empty() {
                add("it couples no joints".into());
            }
            for (k, (id, factor)) in terms.iter().enumerate() {
                match self.joint(id.joint) {
                    None => add(format!("there is no joint {}", id.joint)),
                    Some(joint) if id.axis >= joint.kind.coordinates() => {
                        let has = match joint.kind.coordinates() {
                            0 => "no coordinate".to_string(),
                            n => format!("no coordinate {}: they are numbered from 0 to {}", id.axis, n - 1),
                        };
                        add(format!("joint {} is {}: it has {has}", joint.name, joint.kind.name()));
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
            if !(compliance.is_finite() && *compliance >= 0.0 && (*compliance == 0.0 || *backlash == 0.0)) {
                add(format!("the compliance {compliance} must be finite and not negative, and 0 with play"));
            }
            let own =
                terms.iter().filter_map(|term| self.joint(term.0.joint)).flat_map(|joint| [joint.a, joint.b]);
            let moving: BTreeSet<BodyId> = own.filter(|id| self.body(*id).is_some_and(Body::moves)).collect();
            if *compliance > 0.0 && moving.len() > 2 {
                let what = "a compliant coupling acts between at most two bodies that move";
                add(format!("{what}, not {}", moving.len()));
            }
            if path.as_ref().is_some_and(|Command(path)| path(self.t).iter().any(|x| !x.is_finite())) {
                add(format!("its sum at t = {} s must be finite", self.t));
            }
            if !(offset.is_finite() && backlash.is_finite() && *backlash >= 0.0) {
                add(format!(
                    "offset {offset} and backlash {backlash} must be finite, and the latter not negative"
                ));
            }
        }
        if found.0.is_empty() {
            self.check_coupled_limits(found);
            self.check_coupled_sums(found);
        }
    }

    /// Names of the joints and bodies of a coupling.
    fn coupled_names(&self, coupling: &Coupling) -> String {
        let joints: Vec<_> = coupling.terms.iter().filter_map(|(id, _)| self.joint(id.joint)).collect();
        let bodies: BTreeSet<BodyId> = joints.iter().flat_map(|joint| [joint.a, joint.b]).collect();
        let bodies = bodies.iter().filter_map(|id| self.body(*id)).filter(|body| body.moves());
        let bodies: Vec<&str> = bodies.map(|body| body.name.as_str()).collect();
        let joints: Vec<&str> = joints.iter().map(|joint| joint.name.as_str()).collect();
        format!("joints {}; bodies {}", joints.join(", "), bodies.join(", "))
    }

    /// Couplings whose sum the limits of their joints do not allow.
    fn check_coupled_limits(&self, found: &mut Mistakes) {
        for coupling in self.couplings.values().filter(|coupling| coupling.path.is_none()) {
            let mut range = [0.0, 0.0];
            for (id, factor) in &coupling.terms {
                let limits = self.joint(id.joint).and_then(|joint| joint.seen_from(id.axis).limits);
                let [lower, upper] = limits.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                let ends = [factor * lower, factor * upper];
                range = [range[0] + ends[0].min(ends[1]), range[1] + ends[0].max(ends[1])];
            }
            let Coupling { offset, backlash, .. } = coupling;
            let size = range.iter().filter(|x| x.is_finite()).fold(offset.abs(), |m, x| m.max(x.abs()));
            let play = 0.5 * backlash + SUM_ROUND_OFF * size;
            if range[0] > offset + play || range[1] < offset - play {
                let [lower, upper] = range;
                let what = format!("infeasible: the limits of its joints allow sums from {lower} to {upper}");
                let names = self.coupled_names(coupling);
                found.add(format!("coupling {}", coupling.name), format!("{what}, not {offset} ({names})"));
            }
        }
    }

    /// Couplings that contradict others: their factors depend on those of others, and their sums do not.
    fn check_coupled_sums(&self, found: &mut Mistakes) {
        for (coupling, dependence) in self.dependent_couplings() {
            let Dependence { on, excess } = dependence;
            if excess != 0.0 {
                let what =
                    format!("infeasible: couplings {} set the same sum to another value", on.join(", "));
                let names = self.coupled_names(coupling);
                found
                    .add(format!("coupling {}", coupling.name), format!("{what}, off by {excess} ({names})"));
            }
        }
    }

    /// Couplings that others imply, with the names of these, and joints: warnings, since a run works with them.
    pub fn redundant_couplings(&self) -> Vec<(String, String)> {
        let text = |(coupling, dependence): (&Coupling, Dependence)| {
            let names = self.coupled_names(coupling);
            let what = format!("redundant: couplings {} imply it ({names})", dependence.on.join(", "));
            (coupling.name.clone(), what)
        };
        self.dependent_couplings().into_iter().map(text).collect()
    }

    /// Rigid couplings without play whose factors are combinations of those before, by elimination.
    fn dependent_couplings(&self) -> Vec<(&Coupling, Dependence)> {
        let is_rigid = |c: &&Coupling| c.path.is_none() && c.backlash == 0.0 && c.compliance == 0.0;
        let mut reduced: Vec<ReducedSum> = Vec::new();
        let mut dependent = Vec::new();
        for coupling in self.couplings.values().filter(is_rigid) {
            let mut row = ReducedSum {
                factors: coupling.terms.iter().copied().collect(),
                offset: coupling.offset,
                names: vec![coupling.name.clone()],
            };
            let size = row.largest();
            let mut terms = coupling.offset.abs();
            for other in &reduced {
                terms = terms.max(row.eliminate(other, SUM_ROUND_OFF * size));
            }
            if row.largest() > SUM_ROUND_OFF * size {
                reduced.push(row);
            } else {
                let excess = if row.offset.abs() > SUM_ROUND_OFF * terms { row.offset } else { 0.0 };
                let mut on = row.names.split_off(1);
                on.sort();
                dependent.push((coupling, Dependence { on, excess }));
            }
        }
        dependent
    }
}

/// Round-off of sums of couplings, relative to their terms. Range 1e-13 to 1e-6: below it dependent couplings count as
/// independent, above it nearly dependent ones as dependent.
const SUM_ROUND_OFF: f64 = 1e-10;

/// How a coupling follows from others.
struct Dependence {
    /// Names of the others.
    on: Vec<String>,
    /// Offset less that which the others imply; 0 where they agree.
    excess: f64,
}

/// Sum of joint coordinates in an elimination.
struct ReducedSum {
    factors: BTreeMap<CoordinateId, f64>,
    offset: f64,
    /// Names of the couplings in it, its own first.
    names: Vec<String>,
}

impl ReducedSum {
    fn largest(&self) -> f64 {
        self.factors.values().fold(0.0, |m: f64, x| m.max(x.abs()))
    }

    /// Subtracts the multiple of another sum that removes its leading coordinate, the largest one. Returns the part of the
    /// offset that it subtracts.
    fn eliminate(&mut self, other: &Self, negligible: f64) -> f64 {
        let by_size = |a: &(&CoordinateId, &f64), b: &(&CoordinateId, &f64)| a.1.abs().total_cmp(&b.1.abs());
        let Some((lead, factor)) = other.factors.iter().max_by(by_size) else { return 0.0 };
        let own = self.factors.get(lead).copied().unwrap_or(0.0);
        if own.abs() <= negligible {
            return 0.0;
        }
        let multiple = own / factor;
        for (id, x) in &other.factors {
            *self.factors.entry(*id).or_insert(0.0) -= multiple * x;
        }
        self.factors.insert(*lead, 0.0);
        self.offset -= multiple * other.offset;
        for name in &other.names {
            if !self.names.contains(name) {
                self.names.push(name.clone());
            }
        }
        (multiple * other.offset).abs()
    }
}
