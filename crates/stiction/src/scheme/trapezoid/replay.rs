//! Replay of a recorded step for `verify`: recorded solutions are put into the equations again. Nothing is solved.

mod accuracy_step;
mod forces;
mod residual;

pub(crate) use super::constants::{MAX_CONE_ERROR, REPORTED_SLIP_RELATIVE};
pub(crate) use accuracy_step::{AccuracyStepResidual, MAX_WRONG_MODE_VALUE, RecordedAccuracyStep};
pub(crate) use forces::ForceResidual;

use super::acceleration::AccelerationProblem;
use super::active_set::ActiveSet;
use super::certificate;
use super::constants::{
    IMPACT_GAP_RELATIVE, LEAST_RESIDUAL_SCALE, REMAINING_TIME_RELATIVE, VERIFIED_CLOCK_RELATIVE,
    VERIFIED_ENERGY_GAIN_RELATIVE, VERIFIED_FRICTION_RELATIVE, VERIFIED_PROJECTION_RELATIVE,
    VERIFIED_TIME_RELATIVE,
};
use super::context::{Configuration, StepContext, StepStart, speed_scale};
use super::first_order::first_order_scheme;
use super::impact::{ImpactSolver, ImpactStart};
use super::motion::{energy, feature_change_time, mix};
use super::projector::{ProjectedVelocity, Projector};
use super::root::interpolate;
use super::substep::SubstepProblem;
use crate::assemble::{AssembledProblem, RowSolution};
use crate::report::{ContactReport, ImpactReport, JointReport, SubstepRecord};
use crate::scheme::euler::kinetic;
use crate::scheme::{Midpoint, Scheme, Trapezoidal};
use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, SearchCache, System};
use residual::{ConeJudgement, judge_cones, velocity_residual};
use stiction_lcp::{Certificate, ContactMode, Mode, certify_motion};

/// Replay of a recorded step.
pub(crate) struct StepReplay<'a, S: System + ?Sized> {
    context: StepContext<'a, S>,
    cache: SearchCache,
    substep: SubstepProblem,
    projector: Projector,
    impact: ImpactSolver,
    acceleration: AccelerationProblem,
    /// State that the records lead to so far.
    pub(crate) state: State,
    /// Time of the last impact and the velocity before it.
    last_impact: Option<(f64, Vec<f64>)>,
    /// Impacts and penetrations so far.
    pub(crate) observed: ReplayObservations,
    /// Speed scale of the last substep [m/s].
    substep_speed: f64,
}

/// Observations along a replay, which reports of the run list.
#[derive(Debug, Default)]
pub(crate) struct ReplayObservations {
    /// Energy balances of the impacts.
    pub(crate) impacts: Vec<ImpactReport>,
    /// Times and constraints whose gaps closed at them.
    pub(crate) struck: Vec<(f64, ConstraintId)>,
    /// Largest penetration at the end of a step of a run to an accuracy [m].
    pub(crate) penetration: f64,
}

impl ReplayObservations {
    /// Adds those of an island, whose constraints are renamed.
    pub(crate) fn append(&mut self, own: Self, name: impl Fn(ConstraintId) -> ConstraintId) {
        let Self { impacts, struck, penetration } = own;
        self.impacts.extend(impacts.into_iter().map(|mut impact| {
            impact.approaches.iter_mut().for_each(|approach| approach.0 = name(approach.0));
            impact
        }));
        self.struck.extend(struck.into_iter().map(|(t, constraint)| (t, name(constraint))));
        self.penetration = self.penetration.max(penetration);
    }

    /// Sorts what islands saw by time.
    pub(crate) fn sort_by_time(&mut self) {
        self.impacts.sort_by(|a, b| a.t.total_cmp(&b.t));
        self.struck.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
}

/// Recorded substep between two events.
pub(crate) struct RecordedSubstep<'a> {
    pub(crate) size: f64,
    implicit: bool,
    in_modes: bool,
    definite: bool,
    active: &'a [ActiveConstraint],
    new_contacts: &'a [ActiveConstraint],
    midpoint_velocity: &'a [f64],
    start_velocity: &'a [f64],
    slips: &'a [(usize, [f64; 2])],
    pub(crate) impulses: &'a [f64],
    pub(crate) v: &'a [f64],
}

impl<'a> RecordedSubstep<'a> {
    /// Substep of a record, if it is one.
    pub(crate) fn of(record: &'a SubstepRecord) -> Option<Self> {
        match record {
            &SubstepRecord::Substep {
                size,
                implicit,
                in_modes,
                definite,
                ref active,
                ref new_contacts,
                ref midpoint_velocity,
                ref start_velocity,
                ref slips,
                ref impulses,
                ref v,
            } => Some(Self {
                size,
                implicit,
                in_modes,
                definite,
                active,
                new_contacts,
                midpoint_velocity,
                start_velocity,
                slips,
                impulses,
                v,
            }),
            _ => None,
        }
    }
}

impl RecordedSubstep<'_> {
    /// Whether it was made by two Euler steps.
    pub(crate) fn implicit(&self) -> bool {
        self.implicit
    }

    /// Whether it was solved in friction modes.
    pub(crate) fn in_modes(&self) -> bool {
        self.in_modes
    }

    /// Active constraints.
    pub(crate) fn active(&self) -> &[ActiveConstraint] {
        self.active
    }
}

/// Recorded impact.
pub(crate) struct RecordedImpact<'a> {
    pub(crate) closed: &'a [ConstraintId],
    pub(crate) participants: &'a [ConstraintId],
    /// Impulses and velocity of the compression.
    pub(crate) compression: (&'a [f64], &'a [f64]),
    pub(crate) restitution_factor: f64,
    /// Impulses and velocity of the decompression.
    pub(crate) decompression: (&'a [f64], &'a [f64]),
}

/// Residuals of a record.
#[derive(Debug, Default)]
pub(crate) struct ReplayResidual {
    /// Certificate of its equations.
    pub(crate) certificate: Certificate,
    /// Relative residual of intermediate velocities and displacements.
    pub(crate) velocity: f64,
    /// Impulses lie in their cones and friction is against slip, so that no contact had to open or slip.
    pub(crate) admissible: bool,
    /// Largest distance of a determined impulse outside its cone, or slip along friction, relative to the speed of the
    /// certificate.
    pub(crate) wrong_cone: f64,
}

impl<'a, S: System + ?Sized> StepReplay<'a, S> {
    /// Replay of a step of size `h` from the state before it.
    pub(crate) fn new(
        system: &'a S,
        scheme: &'a Scheme,
        settings: &'a Trapezoidal,
        before: &State,
        h: f64,
    ) -> Self {
        let cache = before.memory.cache.clone();
        let context = StepContext { system, scheme, settings, step: h, recording: false };
        let (substep, projector, impact, acceleration) = Default::default();
        let (state, last_impact, observed) = (before.clone(), None, ReplayObservations::default());
        Self {
            context,
            cache,
            substep,
            projector,
            impact,
            acceleration,
            state,
            last_impact,
            observed,
            substep_speed: 0.0,
        }
    }

    /// Energy of the state, and the size of its kinetic and potential part [J].
    pub(crate) fn energy(&self) -> [f64; 2] {
        let State { t, q, v, .. } = &self.state;
        let system = self.context.system;
        let (kinetic, potential) = (kinetic(system, *t, q, v), system.potential(*t, q));
        [kinetic + potential, kinetic.max(potential.abs())]
    }

    /// Speed scale of the substep replayed last [m/s].
    pub(crate) fn substep_speed(&self) -> f64 {
        self.substep_speed
    }

    /// Number of coordinates that are places and turns.
    pub(crate) fn position_count(&self) -> usize {
        self.context.system.position_count()
    }

    /// Size of the model [m].
    pub(crate) fn size(&self) -> f64 {
        self.context.system.size()
    }

    /// Scheme of the first-order rest of a step.
    pub(crate) fn first_order_scheme(&self, without_restitution: bool) -> Scheme {
        first_order_scheme(self.context.scheme, without_restitution)
    }

    /// Time left until `end` [s]; 0 if it is round-off.
    pub(crate) fn time_left(&self, end: f64) -> f64 {
        let left = end - self.state.t;
        // each substep adds a round-off of the clock
        let round_off = VERIFIED_CLOCK_RELATIVE * end.abs().max(self.context.step);
        let shortest = REMAINING_TIME_RELATIVE * self.context.step;
        if left.abs() <= shortest.max(round_off) { 0.0 } else { left }
    }

    /// Replays a substep up to its end. The error says why the record is no such substep.
    pub(crate) fn substep(&mut self, record: &RecordedSubstep) -> Result<ReplayResidual, String> {
        let n = self.state.v.len();
        let sizes = [record.midpoint_velocity.len(), record.start_velocity.len(), record.v.len()];
        // a whole step ends on the clock, to the round-off of the time
        let round_off = VERIFIED_CLOCK_RELATIVE * self.state.t.abs();
        let longest = self.context.step * (1.0 + REMAINING_TIME_RELATIVE) + round_off;
        if sizes != [n; 3] || !(record.size > 0.0 && record.size <= longest) {
            return Err("a substep of another size".to_string());
        }
        if !is_strictly_sorted(record.active) {
            return Err(UNSORTED.to_string());
        }
        let active = ActiveSet {
            constraints: record.active.to_vec(),
            new_contacts: record.new_contacts.to_vec(),
            modes_known: record.in_modes,
        };
        let velocity = self.assemble_substep(record, &active)?;
        let SubstepProblem { problem, layout, middle, modes, .. } = &mut self.substep;
        if record.impulses.len() != layout.impulses {
            return Err("impulses of other rows".to_string());
        }
        let candidate = certify_motion(problem, record.impulses, record.v).map_err(|e| e.to_string())?;
        let right = ConeJudgement { admissible: true, wrong: 0.0 };
        let (certificate, cones) = if record.in_modes {
            middle.modes(record.active, modes);
            for &(i, along) in record.slips {
                match modes.get_mut(i) {
                    // a slip that turns has less friction in the mean
                    Some(mode)
                        if mode.mode == Mode::Slip
                            && along[0].hypot(along[1]) <= 1.0 + VERIFIED_FRICTION_RELATIVE =>
                    {
                        *mode = ContactMode::slip(along);
                    }
                    _ => return Err("friction that no mode has".to_string()),
                }
            }
            let tolerance = self.context.scheme.solver.tolerance;
            let cones = judge_cones(problem, layout, modes, &candidate, tolerance);
            (certificate::in_modes(problem, layout, modes, &candidate), cones)
        } else {
            (candidate.certificate, right)
        };
        self.substep_speed = certificate.speed;
        let before = self.state.clone();
        let system = self.context.system;
        self.substep.advance(system, &before, record.v, record.size, record.implicit, &mut self.state);
        let ConeJudgement { admissible, wrong } = cones;
        Ok(ReplayResidual { certificate, velocity, admissible, wrong_cone: wrong })
    }

    /// Assembles the problem of a recorded substep. Returns the residual of its midpoint and start velocities.
    fn assemble_substep(&mut self, record: &RecordedSubstep, active: &ActiveSet) -> Result<f64, String> {
        let Self { context, cache, substep, projector, state, .. } = self;
        let from = StepStart { state, active };
        substep.begin(context, &from, cache).map_err(|e| e.to_string())?;
        let mut residual: f64 = 0.0;
        if context.settings.middle == Midpoint::Tangent {
            let at = Configuration::of(state);
            let least = least_speed(context, state);
            let projected =
                projector.set_midpoint_velocity_by(context, &from, substep, |projector, which, v| {
                    projector.assemble_velocity(context.system, at, v, record.active);
                    let recorded = match which {
                        ProjectedVelocity::Midpoint => record.midpoint_velocity,
                        ProjectedVelocity::Start => record.start_velocity,
                    };
                    residual = residual.max(velocity_residual(&projector.assembled(), v, recorded, least));
                    v.copy_from_slice(recorded);
                    Ok(())
                });
            projected.map_err(|e| e.to_string())?;
        }
        if substep.midpoint_velocity != record.midpoint_velocity
            || substep.start_velocity != record.start_velocity
        {
            residual = f64::INFINITY;
        }
        if record.definite {
            substep.take_definite(context, &state.v);
        }
        let assembled = substep.assemble(context, &from, record.size, record.implicit, cache);
        assembled.map_err(|e| e.to_string())?;
        Ok(residual)
    }

    /// Replays a landing on the interpolant of a substep.
    pub(crate) fn interpolated(
        &mut self,
        whole: &RecordedSubstep,
        at: f64,
    ) -> Result<ReplayResidual, String> {
        if !(at > 0.0 && at <= whole.size) || whole.implicit {
            return Err("a landing outside its substep".to_string());
        }
        let start = self.state.clone();
        let residual = self.substep(whole)?;
        self.state = interpolate(self.context.system, &start, &self.state, whole.size, at);
        Ok(residual)
    }

    /// Contact and joint reports of the substep replayed last.
    /// Slip above `stick_speed` [m/s] counts as slip.
    pub(crate) fn reports(
        &self,
        z: &[f64],
        v: &[f64],
        stick_speed: f64,
    ) -> (Vec<ContactReport>, Vec<JointReport>) {
        let SubstepProblem { problem, layout, places, middle, .. } = &self.substep;
        let (mut contacts, mut joints) = (Vec::new(), Vec::new());
        let assembled = AssembledProblem { problem, layout, rows: places };
        let solution = RowSolution { z, v, stick_speed, determined: None };
        assembled.contact_reports(&middle.contacts, &solution, &mut contacts);
        assembled.joint_reports(&middle.joints, &solution, &mut joints);
        (contacts, joints)
    }

    /// Replays a projection. Returns its residual and the position error after it [m].
    pub(crate) fn projection(
        &mut self,
        active: &[ActiveConstraint],
        displacements: &[Vec<f64>],
        v: &[f64],
    ) -> Result<(ReplayResidual, f64), String> {
        let Self { context, cache, projector, state, .. } = self;
        let (system, n) = (context.system, state.v.len());
        if !is_strictly_sorted(active) {
            return Err(UNSORTED.to_string());
        }
        if v.len() != n || displacements.iter().any(|d| d.len() != n) {
            return Err("a projection of another size".to_string());
        }
        let mut residual: f64 = 0.0;
        let least = LEAST_RESIDUAL_SCALE * system.size();
        for displacement in displacements {
            projector.read(system, state, active, cache).map_err(|e| e.to_string())?;
            projector.assemble_displacement(system, state);
            let own = velocity_residual(&projector.assembled(), &vec![0.0; n], displacement, least);
            residual = residual.max(own);
            system.advance(&mut state.q, displacement, 1.0);
        }
        projector.read(system, state, active, cache).map_err(|e| e.to_string())?;
        let position_error = projector.position_error();
        projector.assemble_velocity(system, Configuration::of(state), &state.v, active);
        let least = least_speed(context, state);
        residual = residual.max(velocity_residual(&projector.assembled(), &state.v, v, least));
        state.v.copy_from_slice(v);
        let residual = ReplayResidual { velocity: residual, admissible: true, ..ReplayResidual::default() };
        Ok((residual, position_error))
    }

    /// Replays the projection at the end of a step, as [`StepReplay::projection`].
    pub(crate) fn step_end(
        &mut self,
        active: &[ActiveConstraint],
        displacements: &[Vec<f64>],
        projected: &[f64],
        kept: f64,
    ) -> Result<(ReplayResidual, f64), String> {
        if !(0.0..=1.0).contains(&kept) {
            return Err(format!("a projection that keeps {kept} of the speeds along rows"));
        }
        let system = self.context.system;
        let before = energy(system, &self.state);
        let mut v = self.state.v.clone();
        let shown = self.projection(active, displacements, projected)?;
        mix(kept, projected, &mut v);
        self.state.v = v;
        let after = energy(system, &self.state);
        let scale = kinetic(system, self.state.t, &self.state.q, &self.state.v) + before.abs();
        if kept > 0.0 && after - before > VERIFIED_ENERGY_GAIN_RELATIVE * scale {
            return Err(format!("a projection that adds {} J", after - before));
        }
        Ok(shown)
    }

    /// Replays an impact: the certificates of its compression and decompression.
    pub(crate) fn impact(&mut self, record: &RecordedImpact) -> Result<ReplayResidual, String> {
        let Self { context, cache, impact, state, last_impact, observed, .. } = self;
        let (system, settings) = (context.system, context.settings);
        let (z, compressed) = record.compression;
        let (more, v) = record.decompression;
        let n = state.v.len();
        if v.len() != n || compressed.len() != n {
            return Err("an impact of another size".to_string());
        }
        let max_gap = IMPACT_GAP_RELATIVE * system.size();
        impact.rows.read(system, state, max_gap, record.participants, cache);
        let last = last_impact.take().filter(|last| last.0 == state.t);
        let first = state.v.clone();
        let last_velocity = last.as_ref().map(|last| &last.1[..]);
        let start = ImpactStart { closed: record.closed, last_velocity };
        let ended = impact.assemble_compression(context, state, &start);
        let before = kinetic(system, state.t, &state.q, &state.v);
        let approaches = impact.approaches(&state.v).into_iter().map(|(c, _, speed)| (c, speed)).collect();
        if z.len() != impact.problem().layout().impulses {
            return Err("an impact with impulses of other rows".to_string());
        }
        let candidate = certify_motion(impact.problem(), z, compressed).map_err(|e| e.to_string())?;
        let mut certificate = candidate.certificate;
        let factor = record.restitution_factor;
        let returned = if ended { Vec::new() } else { impact.returned(context, compressed, z) };
        if returned.is_empty() {
            if v != compressed || !more.is_empty() || factor != if ended { 0.0 } else { 1.0 } {
                return Err("an impact that bounces without restitution".to_string());
            }
        } else {
            let reduced = factor < 1.0 && settings.energy_safe;
            if factor != 1.0 && !(reduced && factor >= 0.0) {
                return Err(format!("an impact with {factor} times its restitution"));
            }
            impact.assemble_decompression(context, compressed, &returned, factor);
            if more.len() != impact.problem().layout().impulses {
                return Err("a decompression with impulses of other rows".to_string());
            }
            let second = certify_motion(impact.problem(), more, v).map_err(|e| e.to_string())?;
            certificate = certificate::worse(certificate, second.certificate);
            let after = kinetic(system, state.t, &state.q, v);
            if settings.energy_safe && after > before * (1.0 + VERIFIED_ENERGY_GAIN_RELATIVE) {
                return Err("an impact that adds energy".to_string());
            }
        }
        if ended && last.is_some() {
            // the bounce before it was too short to be resolved
            observed.impacts.pop();
        } else {
            observed.struck.extend(record.closed.iter().map(|&closed| (state.t, closed)));
        }
        let energy = |v: &[f64]| kinetic(system, state.t, &state.q, v);
        let (t, compressed, after) = (state.t, energy(compressed), energy(v));
        observed.impacts.push(ImpactReport { t, approaches, before, compressed, after, factor });
        state.v.copy_from_slice(v);
        *last_impact = (!ended).then_some((state.t, first));
        Ok(ReplayResidual { certificate, admissible: true, ..ReplayResidual::default() })
    }

    /// Replays the short motion past the instant at which a contact lost its feature pair.
    pub(crate) fn feature_change(&mut self, size: f64) -> Result<ReplayResidual, String> {
        let longest = feature_change_time(&self.context, &self.state);
        if !(size > 0.0 && size <= longest * (1.0 + VERIFIED_TIME_RELATIVE)) {
            return Err(format!("{size} s past a contact that was lost"));
        }
        let State { t, q, v, .. } = &mut self.state;
        self.context.system.advance(q, v, size);
        *t += size;
        Ok(ReplayResidual { admissible: true, ..ReplayResidual::default() })
    }
}

/// Finding of a record whose active constraints are not in ascending order.
const UNSORTED: &str = "active constraints out of order";

/// Whether active constraints are in ascending order, each once, as searches assume.
fn is_strictly_sorted(active: &[ActiveConstraint]) -> bool {
    active.is_sorted_by(|a, b| a.constraint < b.constraint)
}

/// Speed that residuals of velocities are relative to at least [m/s]: of the fastest surface, of a fall over the size of
/// the model, and what the tolerance of the projection leaves of the speed scale of a step.
fn least_speed<S: System + ?Sized>(context: &StepContext<S>, state: &State) -> f64 {
    let system = context.system;
    let fall = (system.gravity() * system.size()).sqrt();
    let fastest = system.surface_speed(state.t, &state.q, &state.v).max(fall);
    let projected = VERIFIED_PROJECTION_RELATIVE * speed_scale(system, state, context.step);
    (LEAST_RESIDUAL_SCALE * fastest).max(projected)
}
