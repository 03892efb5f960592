//! Rows of a timed step, and the times at which their impulses act. Rows are taken in the middle of the step, those of an
//! impact when it occurs. A row holds for the velocity at the end of the step; joints hold for a mean that damps itself.

use super::ledger::{PrescribedSpeeds, prescribed_speeds};
use super::timed_momentum::TimedMomentum;
use super::{StepInput, StepProblemBuilder};
use crate::assemble::{RowLocation, RowMap};
use crate::scheme::tolerances::{
    DEFAULT_RESTITUTION_SPEED, JOINT_MEMORY, PERSISTENT_GAP, STIFF_SPRING, TOUCHING_GAP,
};
use crate::system::{
    ContactId, ContactQuery, ContactRow, JointRow, Moments, PairId, RowKind, System, is_among,
};
use stiction_lcp::{OffsetRow, Phase, Profile, Row, StepProblem};

/// Data of a timed step beside the rows of its problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct TimedRows {
    pub(super) momentum: TimedMomentum,
    /// Joint rows at the start of the step.
    joints: Vec<JointRow>,
    /// Contacts at the start of the step.
    contacts: Vec<ContactRow>,
    /// Time of each contact, in the order of pairs.
    pub(super) times: Vec<(ContactId, RowTime)>,
    /// Prescribed speeds of the rows of each contact, before they became offsets; in the order of `times`.
    prescribed: Vec<PrescribedSpeeds>,
    /// Drift of each joint row, before it became an offset.
    joint_drifts: Vec<f64>,
    /// Time of each joint row.
    pub(super) joint_times: Vec<RowTime>,
    /// Contacts without a row: they bounce, and do not close by themselves within the step.
    skipped: Vec<ContactId>,
    /// Displacement until an impact, and the configuration there.
    until: Vec<f64>,
    there: Vec<f64>,
    found: Vec<ContactRow>,
    /// Contacts at the start that are not found in the middle.
    passed: Vec<ContactRow>,
    /// Velocity at the end, while gaps there are sought.
    pub(super) end: Vec<f64>,
    /// Displacement over h that impulses at other times than h/2 add.
    pub(super) shift: Vec<f64>,
}

/// Time within the step at which the impulse of a row acts, and what it seeks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RowTime {
    /// In the middle: joints, and contacts that last.
    Lasting,
    /// In the middle: a contact that is open at the start.
    Open,
    /// In the middle, by a joint that yields: its force is that of the mean elongation.
    Yielding,
    /// In the middle, by a joint that yields and is stiff for the step: its force is that of the elongation at q_m ⊕ h v⁺.
    Stiff,
    /// When a gap closes.
    Impact {
        /// Time after the start of the step [s].
        time: f64,
        /// Bounces: the speed that is sought is not zero.
        bounces: bool,
    },
}

impl RowTime {
    /// Whether the row holds position: its impulse keeps a gap of zero.
    pub(crate) fn holds(self) -> bool {
        matches!(self, Self::Lasting | Self::Impact { bounces: false, .. })
    }

    /// Whether it is an impact.
    pub(crate) fn is_impact(self) -> bool {
        matches!(self, Self::Impact { .. })
    }

    /// Part of the step from the time of the impulse to the end, minus one half.
    pub(super) fn excess(self, h: f64) -> f64 {
        match self {
            Self::Lasting | Self::Open | Self::Yielding | Self::Stiff => 0.0,
            Self::Impact { time, .. } => 0.5 - time / h,
        }
    }
}

impl TimedRows {
    /// Index of a contact among `times`.
    fn place(&self, id: ContactId) -> Option<usize> {
        let first = self.times.partition_point(|(other, _)| other.pair < id.pair);
        let mut of_pair = self.times[first..].iter().take_while(|(other, _)| other.pair == id.pair);
        of_pair.position(|(other, _)| *other == id).map(|k| first + k)
    }

    /// Time of a contact.
    pub(crate) fn time(&self, id: ContactId) -> Option<RowTime> {
        self.place(id).map(|k| self.times[k].1)
    }

    /// Prescribed speeds of a contact of a timed step.
    pub(super) fn prescribed(&self, id: ContactId) -> Option<PrescribedSpeeds> {
        self.place(id).map(|k| self.prescribed[k])
    }

    /// Drift of a joint row of a timed step.
    pub(super) fn joint_drift(&self, row: usize) -> Option<f64> {
        self.joint_drifts.get(row).copied()
    }

    /// Forgets all: the step is of another scheme.
    pub(super) fn clear(&mut self) {
        self.times.clear();
        self.prescribed.clear();
        self.joint_times.clear();
        self.joint_drifts.clear();
        self.skipped.clear();
    }

    /// Time of a joint row, by its index.
    pub(crate) fn joint_time(&self, row: usize) -> Option<RowTime> {
        self.joint_times.get(row).copied()
    }

    /// Makes the joints of an assembled problem yield as over the mean of both ends: by compliance · force · 4/h².
    pub(super) fn soften(&self, problem: &mut StepProblem, rows: &RowMap) {
        for (time, location) in self.joint_times.iter().zip(&rows.joints) {
            if let (RowTime::Yielding, RowLocation::Joint(i)) = (time, location) {
                problem.joints[*i].compliance *= 4.0;
            }
        }
    }

    /// Whether a contact was found and has no row.
    pub(super) fn is_skipped(&self, id: ContactId) -> bool {
        is_among(id, &self.skipped, |id| *id)
    }
}

/// Rule that classifies a unilateral row and gives its offset.
struct TimedRule<'a> {
    /// Index of the first velocity of each body.
    starts: &'a [usize],
    /// Velocity at the start.
    v: &'a [f64],
    /// Free velocity at the end.
    free: &'a [f64],
    h: f64,
    gravity: f64,
    /// Gap of a touching contact [m].
    touching: f64,
    /// Approach speed above which restitution acts, if it is given [m/s].
    restitution_speed: Option<f64>,
    /// Factor κ on the speed of joints at the start.
    joint_memory: f64,
}

/// Unilateral row at the start: gap, row, drift there and change of the drift over the step.
struct Approach<'a> {
    gap: f64,
    row: &'a Row,
    drift: f64,
    drift_change: f64,
    restitution: f64,
}

impl TimedRule<'_> {
    fn new<'a, S: System + ?Sized>(
        input: &StepInput<'a, S>,
        starts: &'a [usize],
        free: &'a [f64],
    ) -> TimedRule<'a> {
        let StepInput { system, scheme, state, h } = *input;
        TimedRule {
            starts,
            v: &state.v,
            free,
            h,
            gravity: system.gravity(),
            touching: TOUCHING_GAP * system.size(),
            restitution_speed: scheme.restitution_speed,
            joint_memory: if state.memory.after_impact { 1.0 } else { JOINT_MEMORY },
        }
    }

    fn speed(&self, row: &Row) -> f64 {
        row.dot(self.starts, self.v)
    }

    /// Change of the speed of a row in the free motion.
    fn free_change(&self, row: &Row) -> f64 {
        row.dot(self.starts, self.free) - self.speed(row)
    }

    /// Time of a row; `None` where it has no row, because it bounces and does not close by itself.
    fn time(&self, approach: &Approach) -> Option<RowTime> {
        let Approach { gap, row, drift, drift_change, restitution } = *approach;
        let h = self.h;
        let speed = self.speed(row) + drift;
        let acceleration = (self.free_change(row) + drift_change) / h;
        let own = DEFAULT_RESTITUTION_SPEED * h * self.gravity.max(acceleration.abs());
        let slow = self.restitution_speed.unwrap_or(own);
        let closes = closing_time(gap, speed, acceleration).filter(|&time| time < h);
        match closes {
            Some(time) if speed + time * acceleration < -slow => {
                Some(RowTime::Impact { time, bounces: false })
            }
            _ if gap <= self.touching => Some(RowTime::Lasting),
            _ if speed.abs() <= slow && gap < PERSISTENT_GAP * slow * h => Some(RowTime::Lasting),
            Some(_) => Some(RowTime::Open),
            None => (restitution == 0.0).then_some(RowTime::Open),
        }
    }

    /// Offset with which a row holds for the velocity at the end: N(q_m) v⁺ + (N(q_m) − N(q)) v and the drift there.
    fn curved(&self, [before, row]: [&Row; 2], [drift, drift_middle]: [f64; 2]) -> f64 {
        self.speed(row) - self.speed(before) + 2.0 * drift_middle - drift
    }

    /// Offset of a unilateral row that is no impact; `open` is the speed of the gap at the start, over the step.
    fn gap_offset(&self, time: RowTime, gap: f64, drift_middle: f64, curved: f64) -> f64 {
        if time == RowTime::Open { gap / self.h + drift_middle } else { curved + gap.max(0.0) / self.h }
    }

    /// Offset of an impact, and whether it bounces: after it the speed is −e s, and then it falls for the rest of the step.
    fn impact_offset(&self, row: &Row, drift: f64, time: f64, restitution: f64) -> (f64, bool) {
        let acceleration = self.free_change(row) / self.h;
        let approach = self.speed(row) + time * acceleration + drift;
        let rebound = -restitution * approach + (self.h - time) * acceleration.min(0.0);
        let bounces = restitution > 0.0 && rebound > 0.0;
        (if bounces { -rebound } else { 0.0 }, bounces)
    }

    /// Mobility-free offsets of a joint row, and its time. `stiff` tells whether it is stiff for the step.
    fn joint(&self, before: &JointRow, joint: &JointRow, stiff: bool) -> (f64, RowTime) {
        let drifts = [before.drift, joint.drift];
        match joint.kind {
            RowKind::Rigid(compliance) if compliance > 0.0 && stiff => {
                let passed = 0.5 * (self.speed(&joint.row) + joint.drift);
                (before.error / self.h + passed + joint.drift, RowTime::Stiff)
            }
            RowKind::Rigid(compliance) if compliance > 0.0 => {
                // a force −Θ/compliance of the mean elongation
                let offset = self.speed(&joint.row) + 2.0 * joint.drift + 4.0 * before.error / self.h;
                (offset, RowTime::Yielding)
            }
            RowKind::Rigid(_) => {
                let memory = self.joint_memory;
                let start = self.speed(&before.row) + before.drift;
                (self.speed(&joint.row) + 2.0 * joint.drift - memory * start, RowTime::Lasting)
            }
            RowKind::Drive { .. } => (self.curved([&before.row, &joint.row], drifts), RowTime::Lasting),
            RowKind::Limit => {
                let drift_change = 2.0 * (joint.drift - before.drift);
                let approach = Approach {
                    gap: before.error,
                    row: &before.row,
                    drift: before.drift,
                    drift_change,
                    restitution: 0.0,
                };
                let time = self.time(&approach).unwrap_or(RowTime::Open);
                let offset = if time.is_impact() {
                    joint.drift + 0.5 * drift_change
                } else {
                    let curved = self.curved([&before.row, &joint.row], drifts);
                    self.gap_offset(time, before.error, joint.drift, curved)
                };
                (offset, time)
            }
        }
    }
}

impl StepProblemBuilder {
    /// Reads the rows of a timed step at its start and in its middle, classifies them and sets their offsets, which
    /// stand in `drift` of joints and normals and in the offsets of tangents.
    pub(super) fn read_timed_rows<S: System + ?Sized>(
        &mut self,
        input: &StepInput<S>,
        profile: &mut Profile,
    ) {
        let StepInput { system, state, h, .. } = *input;
        // near-parallel edges have several nearest points: the rows of a step do not depend on the searches before them
        self.cache.clone_from(&state.memory.cache);
        profile.enter(Phase::Joints);
        system.joints(state.t, &state.q, &mut self.timed.joints);
        system.joints(self.expansion.t, &self.expansion.q, &mut self.joints);
        profile.enter(Phase::Detection);
        self.search_rows(system, state.t, &state.q);
        self.passing.clear();
        if self.motion.is_some() {
            self.drop_passing(system, (state.t, &state.q), h);
        }
        std::mem::swap(&mut self.contacts, &mut self.timed.contacts);
        let (t, q) = (self.expansion.t, std::mem::take(&mut self.expansion.q));
        self.search_rows(system, t, &q);
        self.expansion.q = q;
        self.keep_passed(input);
        self.time_contacts(input);
        self.take_impact_rows(input);
        self.time_joints(input);
    }

    /// Brings back contacts at the start that close fast and are not found in the middle, because a body is on the other
    /// side of the other there: it would pass through.
    fn keep_passed<S: System + ?Sized>(&mut self, input: &StepInput<S>) {
        let StepInput { system, state, h, .. } = *input;
        let Self { contacts, timed, layout, free_velocity, .. } = self;
        let rule = TimedRule::new(input, &layout.velocity, free_velocity);
        let TimedRows { contacts: starts, passed, .. } = timed;
        let beyond = |row: &ContactRow, before: &ContactRow| {
            let along: f64 = row.direction.iter().zip(before.direction).map(|(a, b)| a * b).sum();
            row.id.pair == before.id.pair && along < 0.0
        };
        passed.clear();
        for before in &*starts {
            let ContactRow { gap, drift, restitution, ref normal, .. } = *before;
            let approach = Approach { gap, row: normal, drift, drift_change: 0.0, restitution };
            if of_pair(contacts, before.id.pair).any(|row| beyond(row, before))
                && same_contact(contacts, before.id).is_none()
                && rule.time(&approach).is_some_and(RowTime::is_impact)
            {
                passed.push(before.clone());
            }
        }
        if passed.is_empty() {
            return;
        }
        contacts.retain(|row| !passed.iter().any(|before| beyond(row, before)));
        for mut row in passed.drain(..) {
            for own in rows_of(&mut row) {
                system.to_start_axes(&state.v, -0.5 * h, own);
            }
            let at = contacts.partition_point(|other| other.id.pair <= row.id.pair);
            contacts.insert(at, row);
        }
    }

    /// Classifies the contacts, removes those without a row, and sets the offsets of all that are no impacts.
    fn time_contacts<S: System + ?Sized>(&mut self, input: &StepInput<S>) {
        let StepInput { system, state, h, .. } = *input;
        let Self { contacts, timed, layout, free_velocity, passing, .. } = self;
        let rule = TimedRule::new(input, &layout.velocity, free_velocity);
        let is_still = |t: f64| system.prescribed_speed(t) == 0.0;
        let moves = !(is_still(state.t) && is_still(state.t + h));
        let TimedRows { contacts: starts, times, prescribed, skipped, .. } = timed;
        times.clear();
        prescribed.clear();
        skipped.clear();
        contacts.retain_mut(|row| {
            let before = same_contact(starts, row.id);
            if before.is_none() && passing.binary_search(&row.id.pair).is_ok() {
                return false;
            }
            let gap = before.map_or_else(
                || row.gap - 0.5 * h * (rule.speed(&row.normal) + row.drift),
                |before| before.gap,
            );
            let (normal, drift) = before.map_or((&row.normal, row.drift), |b| (&b.normal, b.drift));
            let approach = Approach {
                gap,
                row: normal,
                drift,
                drift_change: 2.0 * (row.drift - drift),
                restitution: row.restitution,
            };
            let Some(time) = rule.time(&approach) else {
                skipped.push(row.id);
                return false;
            };
            times.push((row.id, time));
            prescribed.push(prescribed_speeds(row));
            if !time.is_impact() {
                let bend =
                    |direction: [f64; 3]| if moves { bend(system, input, row, direction) } else { 0.0 };
                let curved = rule.curved([normal, &row.normal], [drift, row.drift]) + bend(row.direction);
                let bends = row.tangent_directions.map(bend);
                row.drift = rule.gap_offset(time, gap, row.drift, curved);
                if row.mu > 0.0 || !row.moments.is_none() {
                    set_slip_offsets(&rule, before, row, bends);
                }
            }
            true
        });
    }

    /// Replaces the rows of impacts by those at the place and time of the impact, turned into the axes in the middle, and
    /// sets their offsets.
    fn take_impact_rows<S: System + ?Sized>(&mut self, input: &StepInput<S>) {
        let StepInput { system, state, h, .. } = *input;
        let Self { contacts, timed, layout, free_velocity, cache, .. } = self;
        let rule = TimedRule::new(input, &layout.velocity, free_velocity);
        let TimedRows { contacts: starts, times, until, there, found, .. } = timed;
        let impacts = contacts.iter_mut().zip(times).filter(|(_, (_, time))| time.is_impact());
        for (row, (id, kind)) in impacts {
            let RowTime::Impact { time, .. } = *kind else { continue };
            until.clear();
            let change = 0.5 * time * time / h;
            until.extend(state.v.iter().zip(&*free_velocity).map(|(v, free)| time * v + change * (free - v)));
            there.clone_from(&state.q);
            system.advance(there, until, 1.0);
            let pairs: [PairId; 1] = [id.pair];
            let query = ContactQuery { wanted: &pairs, ..ContactQuery::within(f64::NEG_INFINITY) };
            system.contacts(state.t + time, there, &query, cache, found);
            let before = same_contact(starts, *id);
            let drift = before.map_or(0.0, |before| 2.0 * (row.drift - before.drift) * (1.0 - time / h));
            if let Some(at) = found.iter().position(|other| other.id == *id) {
                *row = found.swap_remove(at);
                for own in rows_of(row) {
                    system.to_start_axes(until, 1.0, own);
                    system.to_start_axes(&state.v, -0.5 * h, own);
                }
            }
            let (offset, bounces) = rule.impact_offset(&row.normal, row.drift, time, row.restitution);
            row.drift += drift + offset;
            *kind = RowTime::Impact { time, bounces };
        }
    }

    /// Sets the offsets and times of joint rows.
    fn time_joints<S: System + ?Sized>(&mut self, input: &StepInput<S>) {
        let Self { joints, timed, layout, free_velocity, .. } = self;
        let rule = TimedRule::new(input, &layout.velocity, free_velocity);
        let TimedRows { joints: starts, joint_times, joint_drifts, momentum, .. } = timed;
        joint_times.clear();
        joint_drifts.clear();
        for (k, joint) in joints.iter_mut().enumerate() {
            let before = starts.get(k).filter(|b| b.joint == joint.joint && b.kind_is(joint.kind));
            let stiff = match joint.kind {
                RowKind::Rigid(compliance) => {
                    rule.h * rule.h * momentum.mobility(&joint.row) > STIFF_SPRING * compliance
                }
                _ => false,
            };
            let (offset, time) = rule.joint(before.unwrap_or(joint), joint, stiff);
            joint_drifts.push(joint.drift);
            joint.drift = offset;
            joint_times.push(time);
        }
    }
}

/// First time at which gap + speed τ + acceleration τ²/2 is zero and the gap closes [s].
fn closing_time(gap: f64, speed: f64, acceleration: f64) -> Option<f64> {
    if gap <= 0.0 {
        return (speed < 0.0).then_some(0.0);
    }
    let square = speed * speed - 2.0 * acceleration * gap;
    if square < 0.0 {
        return None;
    }
    let below = square.sqrt() - speed;
    (below > 0.0).then(|| 2.0 * gap / below)
}

/// Contacts of a pair in a list in the order of pairs.
fn of_pair(list: &[ContactRow], pair: PairId) -> impl Iterator<Item = &ContactRow> {
    let first = list.partition_point(|row| row.id.pair < pair);
    list[first..].iter().take_while(move |row| row.id.pair == pair)
}

/// Contact of a list in the order of pairs.
fn same_contact(list: &[ContactRow], id: ContactId) -> Option<&ContactRow> {
    of_pair(list, id.pair).find(|row| row.id == id)
}

/// Second difference of the drift of a contact along a direction.
fn bend<S: System + ?Sized>(system: &S, input: &StepInput<S>, row: &ContactRow, direction: [f64; 3]) -> f64 {
    let [a, b] =
        row.bodies.map(|body| system.drift_bend(body, [input.state.t, input.h], row.point, direction));
    b - a
}

/// Rows of a contact.
fn rows_of(contact: &mut ContactRow) -> impl Iterator<Item = &mut Row> {
    let Moments { spin, rolls, .. } = &mut contact.moments;
    let tangents = contact.tangents.iter_mut().chain(spin.as_deref_mut()).chain(rolls);
    std::iter::once(&mut contact.normal).chain(tangents.map(|row| &mut row.row))
}

/// Sets the offsets of tangents and moments, so that they hold for the slip at the end. Slip at the start is measured along
/// the tangents there and carried to those in the middle.
fn set_slip_offsets(rule: &TimedRule, before: Option<&ContactRow>, row: &mut ContactRow, bends: [f64; 2]) {
    let Some(before) = before else { return };
    let slip = |of: &OffsetRow| rule.speed(&of.row) + of.offset;
    let carry = |rows: &[OffsetRow], old: &[OffsetRow], axes: &[[f64; 3]; 2], old_axes: &[[f64; 3]; 2]| {
        let mut speeds = [0.0; 2];
        speeds.iter_mut().zip(old).for_each(|(u, of)| *u = slip(of));
        if rows.len() < 2 || old.len() < 2 {
            return speeds;
        }
        let world: [f64; 3] =
            std::array::from_fn(|c| speeds[0] * old_axes[0][c] + speeds[1] * old_axes[1][c]);
        let along = axes.map(|axis| (0..3).map(|c| axis[c] * world[c]).sum::<f64>());
        let (length, carried) = (speeds[0].hypot(speeds[1]), along[0].hypot(along[1]));
        if carried > 0.0 { along.map(|u| u * length / carried) } else { along }
    };
    let (axes, old_axes) = (row.tangent_directions, &before.tangent_directions);
    let old = carry(&row.tangents, &before.tangents, &axes, old_axes);
    for ((tangent, old), bend) in row.tangents.iter_mut().zip(old).zip(bends) {
        tangent.offset += slip(tangent) - old + bend;
    }
    if let (Some(spin), Some(old)) = (&mut row.moments.spin, &before.moments.spin) {
        spin.offset += slip(spin) - slip(old);
    }
    let old = carry(&row.moments.rolls, &before.moments.rolls, &axes, old_axes);
    for (roll, old) in row.moments.rolls.iter_mut().zip(old) {
        roll.offset += slip(roll) - old;
    }
}

impl JointRow {
    /// Whether it is of this kind, whatever its constants are.
    fn kind_is(&self, kind: RowKind) -> bool {
        std::mem::discriminant(&self.kind) == std::mem::discriminant(&kind)
    }
}
