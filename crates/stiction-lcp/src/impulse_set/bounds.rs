//! Bounds of the impulses of a group: linear programs over the null space of its columns.

use super::unknowns::{ContactUnknowns, ImpulseGroup};
use super::{ContactIntervals, ImpulseInterval, ImpulseIntervals, null_space_of};
use crate::cone_cuts::{Affine, RoundCone, friction_slacks};
use crate::linear_program::{LinearProgram, NoOptimum};
use crate::problem::{Layout, StepProblem};
use nalgebra::{DMatrix, DVector};

/// Pivots of at most this × the largest belong to impulses that cause no motion [-]. Sensible range 1e-12 to 1e-7:
/// lower misses redundant contacts by round-off, higher takes nearly redundant ones for redundant.
pub(super) const NULL_SPACE_RELATIVE: f64 = 1e-9;

/// Rows of the null space of at most this × the largest entry belong to impulses that are determined [-]. Sensible range
/// 1e-10 to 1e-6: lower takes round-off for freedom, higher hides it.
pub(super) const DETERMINED_RELATIVE: f64 = 1e-8;

/// Relative amount by which friction may exceed its round bound at the end of the cuts: bounds of impulses are accurate
/// to about this × the impulses of their group. Sensible range 1e-9 to 1e-5: smaller takes cuts so nearly parallel that
/// pivots lose their digits, larger shows.
pub const CUT_TOLERANCE: f64 = 1e-8;

/// Friction along a ray of unit size may exceed its bound by this, where impulses are unbounded along the ray [-].
/// Sensible range 1e-12 to 1e-7: smaller takes round-off for a bound, larger takes a long cone for an endless one.
const RAY_TOLERANCE: f64 = 1e-9;

/// Rounds of tangent cuts at most: a bound takes about ten.
const MAX_CUT_ROUNDS: usize = 200;

/// Strength of the perturbation of an objective whose program was not solved, relative to the objective, and attempts.
/// Sensible range 1e-11 to 1e-8: smaller is lost in round-off, larger moves the bound.
const PERTURBATION: f64 = 1e-10;
/// See [`PERTURBATION`].
const PERTURBATIONS: usize = 6;

/// End of a program.
enum Farthest {
    /// Farthest point.
    Point(DVector<f64>),
    /// Direction without an end.
    Ray(DVector<f64>),
}

/// Programs of a group with impulses that are not determined.
pub(super) struct GroupBounds<'a> {
    group: &'a ImpulseGroup<'a>,
    /// Size of the group's impulses [N s].
    size: f64,
    free: DMatrix<f64>,
    largest: f64,
    program: LinearProgram,
    /// Constraints without the cuts of an objective.
    constraints: usize,
    round: Vec<RoundCone>,
}

impl<'a> GroupBounds<'a> {
    /// Programs of a group; `None` if all its impulses are determined.
    pub(super) fn new(step: &StepProblem, layout: &Layout, group: &'a ImpulseGroup<'a>) -> Option<Self> {
        let free = null_space_of(step, &layout.velocity, &group.columns, NULL_SPACE_RELATIVE)?;
        let kappa = group.contacts.iter().map(|c| step.contacts[c.contact].kappa);
        let size = group.values.iter().map(|z| z.abs()).chain(kappa).fold(0.0, f64::max);
        let size = if size > 0.0 { size } else { 1.0 };
        let program = LinearProgram::new(&DVector::zeros(free.ncols())).tolerant();
        let largest = free.amax();
        let mut bounds = Self { group, size, free, largest, program, constraints: 0, round: Vec::new() };
        // without an impulse anywhere costs would be zero: a constraint that always holds sets their scale
        bounds.program.add(1.0, &vec![0.0; bounds.free.ncols()]);
        for unknowns in &group.contacts {
            bounds.constrain(step, unknowns);
        }
        bounds.constraints = bounds.program.len();
        Some(bounds)
    }

    /// Unknown `k` as a function of y.
    fn affine(&self, k: usize) -> Affine {
        Affine { value: self.group.values[k] / self.size, slope: self.free.row(k).transpose() }
    }

    fn require(&mut self, slack: &Affine) {
        // the solution is in its cones up to round-off
        self.program.add(slack.value.max(0.0), &slack.slope);
    }

    /// Adds the constraints of a contact: its cone.
    fn constrain(&mut self, step: &StepProblem, unknowns: &ContactUnknowns) {
        let contact = &step.contacts[unknowns.contact];
        if let Some(normal) = unknowns.normal {
            let normal = self.affine(normal);
            self.require(&normal);
        }
        if unknowns.tangents.is_empty() {
            return;
        }
        let none = Affine { value: 0.0, slope: DVector::zeros(self.free.ncols()) };
        let by = step.bound_by(unknowns.contact);
        let by = by.and_then(|by| self.group.contacts.iter().find(|c| c.contact == by));
        let mut bound = by.and_then(|by| by.normal).map_or(none, |k| self.affine(k));
        bound.value = contact.mu * bound.value + contact.kappa / self.size;
        bound.slope *= contact.mu;
        let tangents: Vec<Affine> = unknowns.tangents.iter().map(|&k| self.affine(k)).collect();
        let (slacks, cone) = friction_slacks(&contact.set, bound, tangents);
        slacks.iter().for_each(|slack| self.require(slack));
        self.round.extend(cone);
    }

    /// Greatest increase of `objective`·y, in units of the group; infinite where unbounded, `None` where not found. Faces
    /// on which the objective is constant can make pivots cycle: then it is perturbed.
    fn greatest(&mut self, objective: &DVector<f64>) -> Option<f64> {
        let size = objective.amax();
        (0..PERTURBATIONS).find_map(|attempt| {
            let strength = PERTURBATION * size * attempt as f64;
            let perturbed = DVector::from_fn(objective.len(), |k, _| {
                // fixed irregular numbers
                objective[k] + strength * ((k + 1) as f64 * 0.754_877_666).fract()
            });
            match self.farthest(&perturbed)? {
                Farthest::Point(y) => Some(objective.dot(&y)),
                // the perturbation alone may be unbounded
                Farthest::Ray(ray) if objective.dot(&ray) > RAY_TOLERANCE.sqrt() * size => {
                    Some(f64::INFINITY)
                }
                Farthest::Ray(_) => None,
            }
        })
    }

    /// Farthest y in the cones along `objective`; `None` where it is not found.
    fn farthest(&mut self, objective: &DVector<f64>) -> Option<Farthest> {
        // cuts of other objectives, nearly parallel to those of this one, would make pivots ill-conditioned
        self.program.truncate(self.constraints);
        self.program.set_objective(objective);
        let mut again = true;
        for _ in 0..MAX_CUT_ROUNDS {
            let y = match self.program.solve() {
                Ok((_, y)) => y,
                Err(NoOptimum::Unbounded) => {
                    let (_, ray) = self.program.recession(objective).solve().ok()?;
                    let along = |a: &Affine| a.slope.dot(&ray);
                    let beyond = |cone: &RoundCone| {
                        let friction: Vec<f64> = cone.tangents.iter().map(along).collect();
                        let excess = cone.size(&friction) - along(&cone.bound);
                        (excess > RAY_TOLERANCE).then(|| cone.cut(&friction))
                    };
                    if !self.add_cuts(beyond) {
                        return Some(Farthest::Ray(ray));
                    }
                    continue;
                }
                Err(NoOptimum::NotFound) if again => {
                    // once from no basis
                    self.program.set_objective(objective);
                    again = false;
                    continue;
                }
                Err(NoOptimum::NotFound) => return None,
            };
            let size = y.amax().max(1.0);
            let beyond = |cone: &RoundCone| {
                let (friction, excess) = cone.excess(&y);
                (excess > CUT_TOLERANCE * size).then(|| cone.cut(&friction))
            };
            if !self.add_cuts(beyond) {
                return Some(Farthest::Point(y));
            }
        }
        None
    }

    /// Adds the cuts of round cones that something is beyond. Returns whether there are any.
    fn add_cuts(&mut self, beyond: impl Fn(&RoundCone) -> Option<Affine>) -> bool {
        let cuts: Vec<Affine> = self.round.iter().filter_map(beyond).collect();
        cuts.iter().for_each(|cut| self.require(cut));
        !cuts.is_empty()
    }

    /// Interval of value + slope·y [N s].
    fn interval(&mut self, of: &Affine) -> Option<ImpulseInterval> {
        let value = of.value * self.size;
        if of.slope.amax() <= DETERMINED_RELATIVE * self.largest {
            return Some(ImpulseInterval::point(value));
        }
        let greatest = self.greatest(&of.slope)?;
        let least = self.greatest(&-&of.slope)?;
        Some(ImpulseInterval { least: value - self.size * least, greatest: value + self.size * greatest })
    }

    /// Writes the intervals of the group.
    pub(super) fn write(&mut self, step: &StepProblem, out: &mut ImpulseIntervals) {
        let group = self.group;
        for unknowns in &group.contacts {
            let own = &mut out.contacts[unknowns.contact];
            *own = own.and_then(|known| self.contact(unknowns, known));
        }
        for unknowns in group.contacts.iter().filter(|u| u.normal.is_none() && u.tied != [0.0; 3]) {
            // rolling friction that slips follows the normal impulse of its contact
            let by = step.bound_by(unknowns.contact).and_then(|by| out.contacts[by]);
            if let (Some(by), Some(own)) = (by, &mut out.contacts[unknowns.contact]) {
                own.tangents = unknowns.tied.map(|tied| by.normal.scaled(tied));
            }
        }
        for &(joint, k) in &group.joints {
            let own = self.affine(k);
            out.joints[joint] = self.interval(&own);
        }
    }

    /// Intervals of a contact, from those of a single solution.
    fn contact(
        &mut self,
        unknowns: &ContactUnknowns,
        mut known: ContactIntervals,
    ) -> Option<ContactIntervals> {
        if let Some(k) = unknowns.normal {
            let own = self.affine(k);
            known.normal = self.interval(&own)?;
            if unknowns.tangents.is_empty() && unknowns.tied != [0.0; 3] {
                known.tangents = unknowns.tied.map(|tied| known.normal.scaled(tied));
            }
        }
        for (&k, tangent) in unknowns.tangents.iter().zip(&mut known.tangents) {
            let own = self.affine(k);
            *tangent = self.interval(&own)?;
        }
        Some(known)
    }
}
