//! Set of all impulses that cause the same motion, and the least and greatest impulse of each contact in it.
//!
//! With the mode of each contact the set is {z ∈ K : Jᵀ z = p}: joint rows are free, a contact that sticks has its
//! friction cone, one that slips a ray. Each bound is a linear program over the null space of Jᵀ, with tangent cuts where
//! a cone is round. For reports; large problems have their least-norm member from [`crate::Workspace::solve_unique`].

mod bounds;
mod least;
mod unknowns;

use crate::factor::null_space;
use crate::mode::{ContactMode, Mode};
use crate::problem::{Contact, FrictionSet, Layout, Malformed, OffsetRow, Row, StepProblem};
pub use bounds::CUT_TOLERANCE;
use bounds::{DETERMINED_RELATIVE, GroupBounds, NULL_SPACE_RELATIVE};
use least::{least_norm_of, write_values};
use nalgebra::DMatrix;
use unknowns::{ImpulseGroup, groups};

/// Limit on the unknown impulses of a group of bodies that contacts and joints connect: programs are dense, and there
/// are up to six for each contact. A wall of 70 bricks in the plane is below it.
pub const MAX_INTERVAL_UNKNOWNS: usize = 300;

/// Limit on the unknown impulses of a group for its least-norm member, which is found densely. Larger takes longer than a step.
pub const MAX_UNIQUE_UNKNOWNS: usize = 150;

/// Friction impulse from which its direction is certain, in units of the bound [-]. Sensible range 1e-9 to 1e-3: lower
/// takes round-off for a direction, higher contradicts the solution.
const CERTAIN_FRICTION: f64 = 1e-6;

/// Mode of a contact in a motion, with the friction that it ties to the normal impulse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HeldMode {
    /// No impulse.
    Open,
    /// Impulses in the friction cone.
    Stick,
    /// Impulses on the ray with this friction along the tangent rows, per unit of its bound μ c_n + κ.
    Slip([f64; 3]),
}

/// Least and greatest value; infinite where there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImpulseInterval {
    /// Least impulse [N s].
    pub least: f64,
    /// Greatest impulse [N s].
    pub greatest: f64,
}

impl ImpulseInterval {
    /// Interval of one value.
    pub fn point(value: f64) -> Self {
        Self { least: value, greatest: value }
    }

    /// Interval of `factor` × the value.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let [a, b] = [self.least, self.greatest].map(|x| if factor == 0.0 { 0.0 } else { factor * x });
        Self { least: a.min(b), greatest: a.max(b) }
    }
}

/// Intervals of a contact of the problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactIntervals {
    /// Normal impulse; a point of 0 for a block without a normal row.
    pub normal: ImpulseInterval,
    /// Impulse along each tangent row; points of 0 for rows that are not there.
    pub tangents: [ImpulseInterval; 3],
}

/// Intervals of all impulses with the same motion, accurate to about [`CUT_TOLERANCE`]. `None` where a group of bodies is
/// beyond [`MAX_INTERVAL_UNKNOWNS`] or has friction polygons with a spin row, and where a program was not solved.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImpulseIntervals {
    /// For each contact of the problem.
    pub contacts: Vec<Option<ContactIntervals>>,
    /// For each joint row.
    pub joints: Vec<Option<ImpulseInterval>>,
}

/// Least-norm member of an impulse set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UniqueMember {
    /// Impulses [N s].
    pub z: Vec<f64>,
    /// Whether the impulses of each contact are the same in all members; `false` where that is not proven.
    pub contacts: Vec<bool>,
    /// Whether the impulse of each joint row is.
    pub joints: Vec<bool>,
}

/// Group of unknown impulses whose null space is known.
struct ExaminedGroup {
    /// Whether each unknown is the same in all members.
    determined: Vec<bool>,
    /// Values of least norm, where they were sought and found.
    least_norm: Option<Vec<f64>>,
}

/// Solution of a step problem whose other impulses are asked for.
#[derive(Debug, Clone, Copy)]
pub struct ImpulseSet<'a> {
    /// Problem.
    pub step: &'a StepProblem,
    /// Impulses of a member of the set [N s].
    pub z: &'a [f64],
    /// Mode of each contact.
    pub modes: &'a [HeldMode],
}

impl ImpulseSet<'_> {
    /// Least and greatest impulse of each contact and joint row among all impulses that cause the same motion.
    ///
    /// ```
    /// use stiction_lcp::impulse_set::{HeldMode, ImpulseSet};
    /// use stiction_lcp::{Body, Contact, Row, StepProblem};
    ///
    /// // a beam on three supports at −1, 0 and 1
    /// let mut step = StepProblem::default();
    /// step.bodies.push(Body::new(2, &[1.0, 0.0, 0.0, 1.0], &[-9.0, 0.0]));
    /// for x in [-1.0, 0.0, 1.0] {
    ///     step.contacts.push(Contact::frictionless(Row::one(0, &[1.0, x]), 0.0));
    /// }
    /// let set = ImpulseSet { step: &step, z: &[3.0, 3.0, 3.0], modes: &[HeldMode::Stick; 3] };
    /// let intervals = set.intervals()?;
    /// let middle = intervals.contacts[1].unwrap().normal;
    /// assert!(middle.least.abs() < 1e-9 && (middle.greatest - 9.0).abs() < 1e-9);
    /// # Ok::<(), stiction_lcp::Malformed>(())
    /// ```
    pub fn intervals(&self) -> Result<ImpulseIntervals, Malformed> {
        self.check()?;
        let layout = self.step.layout();
        let own = |i: usize| &self.z[layout.contact[i]..layout.contact[i + 1]];
        let known = |i: usize| {
            let (contact, z) = (&self.step.contacts[i], own(i));
            let normal = contact.normal.as_ref().map_or(0.0, |_| z[0]);
            let tangents = contact.tangent_impulse(&z[usize::from(contact.normal.is_some())..]);
            let tangents = tangents.map(ImpulseInterval::point);
            Some(ContactIntervals { normal: ImpulseInterval::point(normal), tangents })
        };
        let joints = self.z[..self.step.joints.len()].iter();
        let mut intervals = ImpulseIntervals {
            contacts: (0..self.step.contacts.len()).map(known).collect(),
            joints: joints.map(|z| Some(ImpulseInterval::point(*z))).collect(),
        };
        for group in groups(self, &layout) {
            let polyhedron = |c: &Contact| c.tangents.len() > 2 && matches!(c.set, FrictionSet::Polygon(_));
            let unsupported = group.contacts.iter().any(|c| polyhedron(&self.step.contacts[c.contact]));
            if unsupported || group.columns.len() > MAX_INTERVAL_UNKNOWNS {
                group.contacts.iter().for_each(|c| intervals.contacts[c.contact] = None);
                group.joints.iter().for_each(|&(j, _)| intervals.joints[j] = None);
            } else if let Some(mut bounds) = GroupBounds::new(self.step, &layout, &group) {
                bounds.write(self.step, &mut intervals);
            }
        }
        Ok(intervals)
    }

    /// Least-norm member of the set, group by group, and the impulses that are the same in all members. Groups with
    /// friction that is not circular, and those beyond [`MAX_UNIQUE_UNKNOWNS`], keep their impulses.
    pub fn unique(&self) -> Result<UniqueMember, Malformed> {
        self.check()?;
        let layout = self.step.layout();
        let mut unique = UniqueMember {
            z: self.z.to_vec(),
            contacts: vec![true; self.step.contacts.len()],
            joints: vec![true; self.step.joints.len()],
        };
        for group in groups(self, &layout).iter().filter(|g| g.has_loops(self.step)) {
            let found = self.examine(group, &layout);
            for own in &group.contacts {
                let mut unknowns = own.normal.iter().chain(&own.tangents);
                unique.contacts[own.contact] = unknowns.all(|&k| found.determined[k]);
            }
            group.joints.iter().for_each(|&(j, k)| unique.joints[j] = found.determined[k]);
            if let Some(values) = found.least_norm {
                write_values(self, &layout, group, &values, &mut unique.z);
            }
        }
        Ok(unique)
    }

    /// Least-norm impulses of a group, and which are determined.
    fn examine(&self, group: &ImpulseGroup, layout: &Layout) -> ExaminedGroup {
        let count = group.columns.len();
        if count > MAX_UNIQUE_UNKNOWNS {
            return ExaminedGroup { determined: vec![false; count], least_norm: None };
        }
        let columns = columns_of(self.step, &layout.velocity, &group.columns);
        let Some(free) = null_space(columns.clone(), NULL_SPACE_RELATIVE) else {
            return ExaminedGroup { determined: vec![true; count], least_norm: None };
        };
        let least = DETERMINED_RELATIVE * free.amax();
        let determined = free.row_iter().map(|row| row.amax() <= least).collect();
        ExaminedGroup { determined, least_norm: least_norm_of(self, group, &columns) }
    }

    fn check(&self) -> Result<(), Malformed> {
        self.step.check()?;
        let expected = self.step.layout().impulses;
        if self.z.len() != expected {
            let what = format!("{} numbers, for {expected} impulses", self.z.len());
            return Err(Malformed { place: "z".to_string(), what });
        }
        if let Some(i) = self.z.iter().position(|z| !z.is_finite()) {
            return Err(Malformed { place: format!("z[{i}]"), what: "not a finite number".to_string() });
        }
        if self.modes.len() != self.step.contacts.len() {
            let what = format!("{} modes, for {} contacts", self.modes.len(), self.step.contacts.len());
            return Err(Malformed { place: "modes".to_string(), what });
        }
        Ok(())
    }
}

/// Impulses that cause no motion, as columns, from unit impulses as rows with factors; `None` if there are none. Each
/// velocity is weighted by the root of its mass. Pivots of at most `tolerance` × the largest belong to them. `starts` has
/// the index of each body's first velocity.
pub fn null_space_of(
    step: &StepProblem,
    starts: &[usize],
    units: &[Vec<(&Row, f64)>],
    tolerance: f64,
) -> Option<DMatrix<f64>> {
    if units.len() < 2 {
        return None;
    }
    null_space(columns_of(step, starts, units), tolerance)
}

/// Unit impulses as columns of Jᵀ, each velocity weighted by the root of its mass.
fn columns_of(step: &StepProblem, starts: &[usize], units: &[Vec<(&Row, f64)>]) -> DMatrix<f64> {
    // the velocities that the impulses act on
    let mut places: Vec<usize> = Vec::new();
    units.iter().flatten().for_each(|(row, _)| row.for_each(starts, |k, _| places.push(k)));
    places.sort_unstable();
    places.dedup();
    let bodies = step.bodies.iter();
    let weights: Vec<f64> =
        bodies.flat_map(|b| (0..b.velocities).map(|i| 1.0 / b.mass[(i, i)].sqrt())).collect();
    let mut columns = DMatrix::zeros(places.len(), units.len());
    for (unit, mut column) in units.iter().zip(columns.column_iter_mut()) {
        for (row, factor) in unit {
            row.for_each(starts, |k, x| {
                if let Ok(i) = places.binary_search(&k) {
                    column[i] += factor * x * weights[k];
                }
            });
        }
    }
    columns
}

/// Modes of all contacts in the motion `v` that the impulses `z` cause. A contact that opens or slips faster than
/// `closed` [m/s] does so. Friction of a contact that slips is in the ratio of `z`, so that `z` is in the set; where that
/// is round-off, it is against the slip.
pub fn held_modes(step: &StepProblem, z: &[f64], v: &[f64], closed: f64) -> Vec<HeldMode> {
    let layout = step.layout();
    let speed = |row: &OffsetRow| row.row.dot(&layout.velocity, v) + row.offset;
    let opens = |i: usize| step.contacts[i].normal.as_ref().is_some_and(|n| speed(n) > closed);
    let mode = |i: usize| {
        let contact = &step.contacts[i];
        if step.bound_by(i).is_some_and(opens) {
            return HeldMode::Open;
        }
        let mut slip = [0.0; 3];
        slip.iter_mut().zip(&contact.tangents).for_each(|(u, t)| *u = speed(t));
        if slip.iter().all(|u| u.abs() <= closed) {
            return HeldMode::Stick;
        }
        let friction = friction_of(step, &layout, i, z);
        HeldMode::Slip(friction.unwrap_or_else(|| against(&contact.set, slip)))
    };
    (0..step.contacts.len()).map(mode).collect()
}

/// Modes of all contacts where they are prescribed. Friction of a contact that slips is in the ratio of `z`, or in the
/// direction of its mode where that is round-off.
pub fn held_in_modes(step: &StepProblem, z: &[f64], modes: &[ContactMode]) -> Vec<HeldMode> {
    let layout = step.layout();
    let held = |(i, mode): (usize, &ContactMode)| match mode.mode {
        Mode::Open => HeldMode::Open,
        Mode::Stick => HeldMode::Stick,
        Mode::Slip => {
            let [x, y] = mode.direction;
            HeldMode::Slip(friction_of(step, &layout, i, z).unwrap_or([x, y, 0.0]))
        }
    };
    modes.iter().enumerate().map(held).collect()
}

/// Friction of contact `i` along its tangent rows per unit of its bound; `None` where it is round-off.
fn friction_of(step: &StepProblem, layout: &Layout, i: usize, z: &[f64]) -> Option<[f64; 3]> {
    let contact = &step.contacts[i];
    let own = &z[layout.contact[i]..layout.contact[i + 1]];
    let friction = contact.tangent_impulse(&own[usize::from(contact.normal.is_some())..]);
    let bound = step.bound(layout, i, z);
    let largest = z.iter().fold(0.0, |m: f64, z| m.max(z.abs()));
    (bound > CERTAIN_FRICTION * largest).then(|| friction.map(|t| t / bound))
}

/// Friction of maximum dissipation against a slip, per unit of its bound.
fn against(set: &FrictionSet, slip: [f64; 3]) -> [f64; 3] {
    let along = |f: &[f64; 3]| f.iter().zip(slip).map(|(f, u)| f * u).sum::<f64>();
    match set {
        FrictionSet::Polygon(generators) => {
            let least = generators.iter().min_by(|a, b| along(a).total_cmp(&along(b)));
            least.copied().unwrap_or_default()
        }
        FrictionSet::Ellipse(axes) => {
            let size = axes.iter().zip(slip).map(|(a, u)| (a * u) * (a * u)).sum::<f64>().sqrt();
            std::array::from_fn(|k| -axes[k] * axes[k] * slip[k] / size)
        }
    }
}
