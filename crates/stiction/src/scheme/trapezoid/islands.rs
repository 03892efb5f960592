//! Islands of a run to an accuracy. Bodies that cannot meet within a window of time have steps and events of their own,
//! so that an event costs what its island costs, however many other bodies there are.
//!
//! A window is passed in four steps:
//! 1. Bodies that may meet within it, by a bound on their travel, are put into one island.
//! 2. Each island is run to the end of the window.
//! 3. Where a body travelled farther than its bound, the bound grows; islands that may now have met are joined and run
//!    again.
//! 4. States, events and records of the islands are put together.

use super::accuracy_run::{PartOutcome, RunPart, StateSampler, run_part};
use super::constants::{LONGEST_WINDOW_TRAVEL, MAX_JOINED_ISLANDS, SHORTEST_WINDOW_TRAVEL, TRAVEL_SAFETY};
use super::partition::{Partition, ReachableContacts};
use super::workspace::SecondOrderWorkspace;
use crate::error::StepError;
use crate::report::{AccuracyReport, Evidence, IslandRecord, SubstepRecord};
use crate::state::State;
use crate::system::{Island, System};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Run of a divided system to an accuracy under way.
struct IslandRun<'a, S: System + ?Sized> {
    system: &'a S,
    part: RunPart<'a>,
    /// Bodies that joints and forces connect.
    connected: Partition,
    state: State,
    /// Next step size of each body [s].
    steps: Vec<f64>,
    /// Size of the last window [s].
    window: f64,
    islands: BTreeMap<Vec<usize>, Island>,
    report: AccuracyReport,
    orders: Vec<f64>,
    evidence: Option<Evidence>,
}

/// Window of time with the bodies that may meet in it.
struct Window {
    size: f64,
    end: f64,
    /// Bound on the travel of each body [m].
    travels: Vec<f64>,
    found: ReachableContacts,
    partition: Partition,
}

/// Outcome of an island in a window.
struct IslandOutcome {
    /// State at the end.
    end: State,
    samples: Vec<State>,
    outcome: PartOutcome,
}

/// Partition by joints and forces, if the system can be divided and they do not connect all.
pub(crate) fn divided<S: System + ?Sized>(system: &S) -> Option<Partition> {
    let bodies = system.bodies().len();
    let partition = Partition::new(bodies, &system.connections().filter(|_| bodies > 1)?);
    (partition.islands().len() > 1).then_some(partition)
}

/// Runs a system island by island to the end of a part. The state changes only if the run succeeds.
pub(super) fn run<S: System + ?Sized>(
    system: &S,
    part: RunPart,
    connected: Partition,
    state: &mut State,
    samples: &mut StateSampler,
    workspace: &mut SecondOrderWorkspace,
) -> Result<PartOutcome, StepError> {
    let steps = vec![state.memory.h; system.bodies().len()];
    let report = AccuracyReport { requested: part.accuracy.tolerance, ..AccuracyReport::default() };
    let evidence = part.recording.then(Evidence::default);
    let mut run = IslandRun {
        system,
        part,
        connected,
        state: state.clone(),
        steps,
        window: f64::INFINITY,
        islands: BTreeMap::new(),
        report,
        orders: Vec::new(),
        evidence,
    };
    while run.state.t < part.until {
        run.pass_window(samples, workspace)?;
    }
    // a body whose last step was short shortens its next by itself
    run.state.memory.h = run.steps.iter().fold(0.0, |m: f64, h| m.max(*h));
    run.orders.sort_by(f64::total_cmp);
    run.report.order = run.orders.get(run.orders.len() / 2).copied();
    std::mem::swap(state, &mut run.state);
    Ok(PartOutcome { report: run.report, evidence: run.evidence, travels: Vec::new() })
}

impl<S: System + ?Sized> IslandRun<'_, S> {
    /// Passes the next window.
    fn pass_window(
        &mut self,
        samples: &mut StateSampler,
        workspace: &mut SecondOrderWorkspace,
    ) -> Result<(), StepError> {
        let mut window = self.next_window();
        let taken = samples.times.partition_point(|t| *t <= window.end);
        let (times, later) = samples.times.split_at(taken);
        let mut outcomes: BTreeMap<Vec<usize>, IslandOutcome> = BTreeMap::new();
        loop {
            let islands = window.partition.islands();
            outcomes.retain(|bodies, _| islands.contains(bodies));
            for bodies in islands {
                if let Entry::Vacant(place) = outcomes.entry(bodies) {
                    let outcome = self.run_island(place.key(), &window, times, workspace)?;
                    place.insert(outcome);
                }
            }
            if !self.joins_more(&mut window, &outcomes) {
                break;
            }
        }
        samples.times = later;
        for k in 0..times.len() {
            let mut whole = self.state.clone();
            whole.t = times[k];
            for (bodies, outcome) in &outcomes {
                self.islands[bodies].store(&outcome.samples[k], &mut whole);
            }
            (samples.take)(&whole);
        }
        self.put_together(&window, outcomes);
        workspace.solve.monitor.reach(self.state.t, self.report.events.len());
        Ok(())
    }

    /// Next window: as long as few islands may meet.
    fn next_window(&self) -> Window {
        let State { t, q, v, memory } = &self.state;
        let (system, left) = (self.system, self.part.until - t);
        let (length, gravity) = (system.size(), system.gravity());
        let mut speeds = Vec::new();
        system.surface_speeds(*t, q, v, &mut speeds);
        let fastest = speeds.iter().fold(0.0, |m: f64, s| m.max(*s));
        // s t + g t² = the travel
        let time =
            |travel: f64| 2.0 * travel / (fastest + (fastest * fastest + 4.0 * gravity * travel).sqrt());
        let shortest = time(SHORTEST_WINDOW_TRAVEL * length);
        let mut size = time(LONGEST_WINDOW_TRAVEL * length).min(2.0 * self.window).max(shortest);
        loop {
            size = match size {
                size if !(size < left) => left,
                size if 2.0 * size > left => 0.5 * left,
                size => size,
            };
            let travel = |s: &f64| TRAVEL_SAFETY * size * (s + gravity * size);
            let travels: Vec<f64> = speeds.iter().map(travel).collect();
            let active = memory.active.as_deref().unwrap_or_default();
            let found = ReachableContacts::find(system, &self.state, active, &travels);
            let partition = self.connected.with_reachable(&found);
            let joined = partition.most_parts(&self.connected.with_touching(&found));
            if joined <= MAX_JOINED_ISLANDS || size <= shortest {
                let end = if size < left { t + size } else { self.part.until };
                return Window { size: end - t, end, travels, found, partition };
            }
            size = (0.5 * size).max(shortest);
        }
    }

    /// Runs an island through a window.
    fn run_island(
        &mut self,
        bodies: &[usize],
        window: &Window,
        times: &[f64],
        workspace: &mut SecondOrderWorkspace,
    ) -> Result<IslandOutcome, StepError> {
        let undivided = StepError::Unsupported { t: self.state.t, what: "islands" };
        if !self.islands.contains_key(bodies) {
            self.islands.insert(bodies.to_vec(), self.system.island(bodies).ok_or(undivided)?);
        }
        let island = &self.islands[bodies];
        let mut state = island.state_of(&self.state);
        state.memory.h = bodies.iter().fold(f64::INFINITY, |m, &body| m.min(self.steps[body]));
        let rows = island.joint_rows(self.system, &self.state);
        let is_own = |body: Option<usize>| body.is_some_and(|body| window.partition.joins(body, bodies[0]));
        let own = |c| if is_own(window.found.body_of(c)) { Some(*c) } else { rows.to_own(c) };
        state.memory.active =
            self.state.memory.active.as_ref().map(|all| all.iter().filter_map(own).collect());
        let mut taken = Vec::new();
        let mut sampler = StateSampler { times, take: &mut |at| taken.push(at.clone()) };
        let part = RunPart { until: window.end, events_before: self.report.events.len(), ..self.part };
        let mut outcome = run_part(&*island.system, &part, &mut state, &mut sampler, workspace)?;
        let to_whole = |id: &mut _| *id = rows.to_whole(*id);
        outcome.report.events.iter_mut().for_each(|event| to_whole(&mut event.constraint));
        let approaches = outcome.report.impacts.iter_mut().flat_map(|impact| &mut impact.approaches);
        approaches.for_each(|approach| to_whole(&mut approach.0));
        state.memory.active.iter_mut().flatten().for_each(|active| to_whole(&mut active.constraint));
        Ok(IslandOutcome { end: state, samples: taken, outcome })
    }

    /// Joins islands that may have met because a body travelled farther than its bound. Returns whether there are any.
    fn joins_more(&self, window: &mut Window, outcomes: &BTreeMap<Vec<usize>, IslandOutcome>) -> bool {
        let mut exceeded = false;
        for (bodies, outcome) in outcomes {
            for (&body, &travel) in bodies.iter().zip(&outcome.outcome.travels) {
                exceeded |= travel > window.travels[body];
                window.travels[body] = window.travels[body].max(travel);
            }
        }
        if !exceeded {
            return false;
        }
        let active = self.state.memory.active.as_deref().unwrap_or_default();
        window.found = ReachableContacts::find(self.system, &self.state, active, &window.travels);
        let joined = window.partition.with_reachable(&window.found);
        let more = joined != window.partition;
        window.partition = joined;
        more
    }

    /// Puts the islands together at the end of a window.
    fn put_together(&mut self, window: &Window, outcomes: BTreeMap<Vec<usize>, IslandOutcome>) {
        let (mut records, mut active) = (Vec::new(), Vec::new());
        let (mut error, first_event, first_impact) =
            (0.0_f64, self.report.events.len(), self.report.impacts.len());
        for (bodies, IslandOutcome { end, outcome: PartOutcome { report, evidence, .. }, .. }) in outcomes {
            self.islands[&bodies].store(&end, &mut self.state);
            active.extend(end.memory.active.into_iter().flatten());
            bodies.iter().for_each(|&body| self.steps[body] = end.memory.h);
            self.orders.extend(report.order);
            error = error.max(report.error);
            let sum = &mut self.report;
            sum.events.extend(report.events);
            sum.impacts.extend(report.impacts);
            sum.steps += report.steps;
            sum.rejections += report.rejections;
            sum.solves += report.solves;
            sum.forced += report.forced;
            sum.penetration = sum.penetration.max(report.penetration);
            sum.certificate = sum.certificate.max(report.certificate);
            sum.last_error = report.last_error;
            let own = evidence.map_or_else(Vec::new, |evidence| evidence.substeps);
            records.push(IslandRecord { bodies, records: own });
        }
        self.report.error += error;
        self.report.events[first_event..].sort_by(|a, b| a.t.total_cmp(&b.t));
        self.report.impacts[first_impact..].sort_by(|a, b| a.t.total_cmp(&b.t));
        if let Some(evidence) = &mut self.evidence {
            evidence.substeps.push(SubstepRecord::Islands { size: window.size, islands: records });
        }
        active.sort_by_key(|c| c.constraint);
        self.state.memory.active = Some(active);
        self.state.t = window.end;
        self.window = window.size;
    }
}

/// Adds a bound on the distance that each moving body travels in a step between two states [m].
pub(crate) fn add_travels<S: System + ?Sized>(system: &S, from: &State, to: &State, travels: &mut Vec<f64>) {
    travels.resize(system.bodies().len(), 0.0);
    let mut speeds = [Vec::new(), Vec::new()];
    system.surface_speeds(from.t, &from.q, &from.v, &mut speeds[0]);
    system.surface_speeds(to.t, &to.q, &to.v, &mut speeds[1]);
    let time = TRAVEL_SAFETY * (to.t - from.t);
    for (travel, (before, after)) in travels.iter_mut().zip(speeds[0].iter().zip(&speeds[1])) {
        *travel += time * before.max(*after);
    }
}
