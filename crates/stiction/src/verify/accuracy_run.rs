//! Verification of a run to an accuracy: its steps with their error estimates, and the events between them.

use super::rows::{RecordScales, compare_reports};
use super::second_order::{verify_end, verify_equations, verify_event, verify_projection};
use super::tolerances::{CONFIGURATION_TOLERANCE, FIGURE_TOLERANCE, MOMENTUM_TOLERANCE, RESIDUAL_FACTOR};
use super::{Check, RecordedStep, Verdict, euler, interval, largest_position};
use crate::report::{AccuracyReport, FirstOrderSolve, IntegrationMethod, IslandRecord, SubstepRecord};
use crate::scheme::step_problem::{largest, remaining_correction_time};
use crate::scheme::trapezoid::accuracy_run::accuracy_settings;
use crate::scheme::trapezoid::coarse_step::{CoarseColumns, least_size};
use crate::scheme::trapezoid::islands::{add_travels, divided};
use crate::scheme::trapezoid::partition::{Partition, ReachableContacts};
use crate::scheme::trapezoid::replay::{
    AccuracyStepResidual, ForceResidual, MAX_WRONG_MODE_VALUE, RecordedAccuracyStep, ReplayObservations,
    ReplayResidual, StepReplay,
};
use crate::scheme::trapezoid::state_forces::StateForces;
use crate::scheme::trapezoid::step_size::is_accepted;
use crate::scheme::{Accuracy, AccurateMethod, Scheme, Trapezoidal};
use crate::state::{Memory, State};
use crate::system::System;

/// Verifies a run to an accuracy.
pub(super) fn verify<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    accuracy: &Accuracy,
    record: RecordedStep,
    summary: &AccuracyReport,
    verdict: &mut Verdict,
) {
    let RecordedStep { before, after, report } = record;
    let Some(evidence) = &report.evidence else {
        verdict.cannot_check("the record has no evidence");
        return;
    };
    let (scheme, settings) = &accuracy_settings(scheme, accuracy);
    let run = RecordedRun { system, scheme, settings, accuracy };
    let mut replay = StepReplay::new(system, scheme, settings, before, report.h);
    let Some(made) = run.verify_records(&mut replay, &evidence.substeps, after, verdict) else { return };
    let left = replay.time_left(after.t);
    verdict.bound(Check::Figure, left.abs(), 0.0, || "sum of the sizes of the steps".to_string());
    if summary.steps != made.steps {
        verdict.fail(Check::Figure, format!("{} steps; the evidence has {}", summary.steps, made.steps));
    }
    let place = || "sum of the errors".to_string();
    verdict.bound(Check::Estimate, (summary.error - made.error).abs(), FIGURE_TOLERANCE * made.error, place);
    verify_end(&replay.state, after, largest_position(system, after), verdict);
    match replay.forces(after, report) {
        Ok(Some(found)) => verify_forces(system, record, &found, run.tolerance(), verdict),
        Ok(None) => verdict.without_forces = true,
        Err(why) => verdict.fail(Check::Record, format!("forces at the end: {why}")),
    }
    interval::verify(accuracy, (scheme, system.size()), record, summary, &replay.observed, verdict);
}

/// Recorded run of a system or an island.
struct RecordedRun<'a, S: System + ?Sized> {
    system: &'a S,
    scheme: &'a Scheme,
    settings: &'a Trapezoidal,
    accuracy: &'a Accuracy,
}

/// Sums over verified records.
#[derive(Default)]
struct RecordTotals {
    steps: usize,
    /// Sum of the error estimates of the steps; of islands, the largest of theirs.
    error: f64,
    /// Bound on the distance that each moving body travelled [m].
    travels: Vec<f64>,
}

impl<'a, S: System + ?Sized> RecordedRun<'a, S> {
    /// Tolerance on residuals.
    fn tolerance(&self) -> f64 {
        RESIDUAL_FACTOR * self.scheme.solver.tolerance
    }

    /// Verifies records one after the other, up to the state `after` them. `None` if they cannot be followed.
    fn verify_records(
        &self,
        replay: &mut StepReplay<'a, S>,
        records: &[SubstepRecord],
        after: &State,
        verdict: &mut Verdict,
    ) -> Option<RecordTotals> {
        let mut totals = RecordTotals::default();
        for (k, part) in records.iter().enumerate() {
            // later steps start from this one, so their findings may follow from those of this one
            let found = verdict.findings.len();
            match self.verify_record(replay, (k, part), after, &mut totals, verdict) {
                Ok(shown) => verify_equations(&shown, k, self.tolerance(), verdict),
                Err(why) => {
                    verdict.fail(Check::Record, format!("step {k}: {why}"));
                    return None;
                }
            }
            let t = replay.state.t;
            for finding in &mut verdict.findings[found..] {
                finding.place = format!("{}, up to {t} s", finding.place);
            }
        }
        Some(totals)
    }

    /// Verifies one record.
    fn verify_record(
        &self,
        replay: &mut StepReplay<'a, S>,
        (k, part): (usize, &SubstepRecord),
        after: &State,
        totals: &mut RecordTotals,
        verdict: &mut Verdict,
    ) -> Result<ReplayResidual, String> {
        let tolerance = self.accuracy.tolerance;
        let before = replay.state.clone();
        let nothing = ReplayResidual { admissible: true, ..ReplayResidual::default() };
        let shown = match part {
            SubstepRecord::AccuracyStep { size, method, active, records, error } => {
                totals.steps += 1;
                totals.error += error;
                let made = replay.accuracy_step(&RecordedAccuracyStep {
                    size: *size,
                    method: *method,
                    active,
                    records,
                })?;
                let fits = is_accepted(*size, *error, tolerance, after.t);
                let asked = if fits { f64::INFINITY } else { tolerance };
                verdict.bound(Check::Estimate, *error, asked, || format!("error of step {k}"));
                let ends = [&after.q[..replay.position_count()], &after.v[..]];
                verify_step(&made, k, *error, ends, replay.size(), verdict);
                verify_method(self.accuracy.method, *method, k, verdict);
                made.residual
            }
            SubstepRecord::FirstOrderStep { size, error, solves } => {
                let own = verify_first_order(self.system, replay, (*size, tolerance), solves, verdict)?;
                let place = || format!("error of step {k}, which is of first order");
                verdict.bound(Check::Estimate, (own - error).abs(), FIGURE_TOLERANCE * error, place);
                if *size > least_size(tolerance) {
                    verdict.bound(Check::Estimate, *error, tolerance, place);
                }
                nothing
            }
            SubstepRecord::Islands { size, islands } => {
                let own = self.verify_islands(replay, *size, islands, after, verdict)?;
                totals.steps += own.steps;
                totals.error += own.error;
                return Ok(nothing);
            }
            _ => return verify_event(replay, k, part, after, verdict),
        };
        add_travels(self.system, &before, &replay.state, &mut totals.travels);
        Ok(shown)
    }

    /// Verifies a window of time in which islands move by themselves: the records of each, and that none can have met
    /// another.
    fn verify_islands(
        &self,
        replay: &mut StepReplay<'a, S>,
        size: f64,
        islands: &[IslandRecord],
        after: &State,
        verdict: &mut Verdict,
    ) -> Result<RecordTotals, String> {
        let connected = divided(self.system).ok_or("islands of a system that is not divided")?;
        let count = self.system.bodies().len();
        let pairs = islands.iter().flat_map(|island| island.bodies.windows(2));
        let pairs: Vec<[usize; 2]> = pairs.map(|pair| [pair[0], pair[1]]).collect();
        let mut bodies: Vec<usize> = islands.iter().flat_map(|island| island.bodies.clone()).collect();
        bodies.sort_unstable();
        let is_ascending = pairs.iter().all(|[a, b]| a < b);
        let once = is_ascending && bodies.into_iter().eq(0..count);
        if !(once && size > 0.0 && size.is_finite()) {
            return Err("islands that do not have each moving body once".to_string());
        }
        let start = replay.state.clone();
        let mut end = State { t: start.t + size, ..start.clone() };
        let mut totals = RecordTotals { travels: vec![0.0; count], ..RecordTotals::default() };
        let mut observed = ReplayObservations::default();
        for IslandRecord { bodies, records } in islands {
            if records.iter().any(|part| matches!(part, SubstepRecord::Islands { .. })) {
                return Err("islands of an island".to_string());
            }
            let island = self.system.island(bodies).ok_or("islands of a system that cannot be divided")?;
            let (system, own_start) = (&*island.system, island.state_of(&start));
            let own_after = State { t: end.t, ..island.state_of(after) };
            let Self { scheme, settings, accuracy, .. } = *self;
            let run = RecordedRun { system, scheme, settings, accuracy };
            let mut own = StepReplay::new(system, scheme, settings, &own_start, size);
            let made = run.verify_records(&mut own, records, &own_after, verdict);
            let made = made.ok_or("an island that cannot be followed")?;
            let left = own.time_left(end.t);
            verdict.bound(Check::Figure, left.abs(), 0.0, || "sum of the sizes of the steps".to_string());
            island.store(&own.state, &mut end);
            let rows = island.joint_rows(self.system, &start);
            observed.append(own.observed, |constraint| rows.to_whole(constraint));
            totals.steps += made.steps;
            totals.error = totals.error.max(made.error);
            bodies.iter().zip(made.travels).for_each(|(&body, travel)| totals.travels[body] = travel);
        }
        let recorded = Partition::new(count, &pairs);
        let found = ReachableContacts::find(self.system, &start, &[], &totals.travels);
        if recorded.with_reachable(&found).most_parts(&recorded) > 1 || connected.splits(&recorded) {
            verdict.fail(Check::Open, format!("bodies of two islands may have met up to {} s", end.t));
        }
        observed.sort_by_time();
        replay.observed.append(observed, |constraint| constraint);
        replay.state = end;
        Ok(totals)
    }
}

/// Verifies a step of first order: steps of 1, 2, … substeps, extrapolated. Returns the error estimate.
fn verify_first_order<S: System + ?Sized>(
    system: &S,
    replay: &mut StepReplay<S>,
    (size, tolerance): (f64, f64),
    solves: &[FirstOrderSolve],
    verdict: &mut Verdict,
) -> Result<f64, String> {
    let start = State { memory: Memory::default(), ..replay.state.clone() };
    let (mut left, mut columns) = (solves, CoarseColumns::default());
    while !left.is_empty() {
        let substeps = columns.ends.len() + 1;
        let Some((own, later)) = left.split_at_checked(substeps) else {
            return Err("a step of first order with other records".to_string());
        };
        left = later;
        let mut at = start.clone();
        columns.begin(&start);
        for made in own {
            let h = size / substeps as f64;
            if made.q.len() != at.q.len() || made.v.len() != at.v.len() || made.report.h != h {
                return Err("a step of first order of another size".to_string());
            }
            let mut end = State { t: at.t + h, q: made.q.clone(), v: made.v.clone(), ..State::default() };
            end.memory.h = remaining_correction_time(&at, h);
            let record = RecordedStep { before: &at, after: &end, report: &made.report };
            let scheme = replay.first_order_scheme(made.without_restitution);
            euler::verify(system, &scheme, record, verdict);
            interval::verify_part(system, &scheme, record, verdict);
            at = State { memory: Memory::default(), ..end };
            columns.add(&at);
        }
        columns.ends.push(at);
    }
    if columns.ends.len() < 2 {
        return Err("a step of first order with other records".to_string());
    }
    let (end, error) = columns.end(system, size, tolerance);
    let cache = std::mem::take(&mut replay.state.memory.cache);
    replay.state = State { t: start.t + size, ..end };
    replay.state.memory.cache = cache;
    Ok(error)
}

/// Verifies the forces, modes and slips that the report lists at its end: accelerations that keep joints and active
/// contacts, forces in their cones, friction against the slip, and contacts that do not move where they stick.
fn verify_forces<S: System + ?Sized>(
    system: &S,
    record: RecordedStep,
    found: &ForceResidual,
    tolerance: f64,
    verdict: &mut Verdict,
) {
    let RecordedStep { after, report, .. } = record;
    let ForceResidual { own: StateForces { contacts, joints, certificate }, slack, sticking_slip } = found;
    let place = || "forces at the end".to_string();
    verdict.bound(Check::Momentum, certificate.momentum, MOMENTUM_TOLERANCE, place);
    verdict.bound(Check::Joints, certificate.joints, tolerance, place);
    verdict.bound(Check::Complementarity, certificate.natural_map, tolerance, place);
    verdict.bound(Check::Cone, certificate.cone, tolerance, place);
    let place = || "a contact that pulls at the end, or friction beyond its bound".to_string();
    verdict.bound(Check::Cone, -slack, MAX_WRONG_MODE_VALUE, place);
    let place = || "slip of a contact that is said to stick at the end".to_string();
    verdict.bound(Check::Complementarity, *sticking_slip, 1.0, place);
    let scales = RecordScales {
        length: largest_position(system, after),
        speed: largest(&after.v).max(system.prescribed_speed(after.t)).max(system.gravity() * report.h),
    };
    compare_reports(contacts, joints, report, scales, verdict);
    for (own, recorded) in contacts.iter().zip(&report.contacts).filter(|(a, b)| a.mode != b.mode) {
        verdict.fail(Check::Contact, format!("mode of {}: {:?}, not {:?}", own.id, own.mode, recorded.mode));
    }
}

/// Verifies the projection, the error estimate and the modes of a step.
fn verify_step(
    made: &AccuracyStepResidual,
    k: usize,
    error: f64,
    [positions, v]: [&[f64]; 2],
    size: f64,
    verdict: &mut Verdict,
) {
    verify_projection(made.position_error, size, k, positions, verdict);
    // the estimate is a difference of sums, each as exact as the states
    let scale = positions.iter().chain(v).fold(size, |m: f64, x| m.max(x.abs()));
    let limit = CONFIGURATION_TOLERANCE * scale + FIGURE_TOLERANCE * error;
    let place = || format!("recomputed error of step {k}");
    verdict.bound(Check::Estimate, (error - made.error).abs(), limit, place);
    let place = || format!("step {k}: a contact that pulls, or friction beyond its bound or along the slip");
    verdict.bound(Check::Complementarity, -made.slack, MAX_WRONG_MODE_VALUE, place);
    if let Some((id, depth)) = made.closed {
        verdict.bound(Check::Open, depth, 0.0, || format!("step {k}: {id}"));
    }
}

/// Verifies that a step was made by the method of the accuracy.
fn verify_method(asked: AccurateMethod, by: IntegrationMethod, k: usize, verdict: &mut Verdict) {
    let fits = match asked {
        AccurateMethod::Automatic => true,
        AccurateMethod::Trapezoidal => by == IntegrationMethod::Doubled,
        AccurateMethod::DormandPrince => {
            matches!(by, IntegrationMethod::DormandPrince | IntegrationMethod::ExtrapolatedEuler)
        }
        AccurateMethod::DormandPrinceEight => {
            matches!(by, IntegrationMethod::DormandPrinceEight | IntegrationMethod::ExtrapolatedEuler)
        }
    };
    if !fits {
        verdict.fail(Check::Record, format!("step {k}: made by {by:?}, the accuracy asks for {asked:?}"));
    }
}
