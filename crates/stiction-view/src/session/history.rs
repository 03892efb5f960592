//! History of a live session: snapshots that it can return to, thinned out when memory runs short.

use super::settings::StepSettings;
use crate::describe::Description;
use std::sync::Arc;
use stiction::State;
use stiction_scene::Model;

/// Memory limit of all snapshots [bytes, approximate]. Above it, every other snapshot of the older half is dropped.
const HISTORY_BYTES: usize = 128 << 20;

/// Snapshot of a live session: everything that is needed to continue from it.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub(super) state: State,
    pub(super) step: u32,
    pub(super) model: Arc<Model>,
    pub(super) description: Arc<Description>,
    pub(super) settings: StepSettings,
    pub(super) frame: Arc<[u8]>,
    /// Approximate size of the model and its description, which snapshots share until the next edit [bytes].
    pub(super) model_bytes: usize,
}

/// Size of a model, relative to that of its description as JSON [-]: a vertex has 60 bytes there and 500 in a model.
const MODEL_OVER_DESCRIPTION: usize = 8;

/// Approximate size of a model with its description [bytes].
pub(super) fn model_bytes(description: &Description) -> usize {
    MODEL_OVER_DESCRIPTION * serde_json::to_vec(description).map_or(0, |text| text.len())
}

impl Snapshot {
    /// Approximate size [bytes].
    fn size(&self) -> usize {
        let State { q, v, memory, .. } = &self.state;
        // a contact has its id, point and impulses, and an entry in the search cache
        8 * (q.len() + v.len() + memory.joints.len()) + 200 * memory.contacts.len() + self.frame.len() + 300
    }
}

/// Snapshots of a live session, sorted by time.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    snapshots: Vec<Snapshot>,
    bytes: usize,
}

impl History {
    /// Adds a snapshot and drops those that are not before it.
    pub(super) fn push(&mut self, snapshot: Snapshot) {
        let mut dropped = false;
        while self.snapshots.pop_if(|last| last.state.t >= snapshot.state.t).is_some() {
            dropped = true;
        }
        if dropped {
            self.bytes = self.size();
        }
        self.bytes += snapshot.size() + new_model(self.snapshots.last(), &snapshot);
        self.snapshots.push(snapshot);
        if self.bytes > HISTORY_BYTES {
            let half = self.snapshots.len() / 2;
            let mut count = 0;
            self.snapshots.retain(|_| {
                count += 1;
                count > half || count % 2 == 1
            });
            self.bytes = self.size();
        }
    }

    /// Approximate size of all snapshots and their models [bytes].
    fn size(&self) -> usize {
        let mut before = None;
        let size = |snapshot| snapshot_and_model(before.replace(snapshot), snapshot);
        self.snapshots.iter().map(size).sum()
    }

    /// Last snapshot that is not after a time [s].
    pub(super) fn at(&self, time: f64) -> Option<&Snapshot> {
        // the page rounds times to decimals
        let after = self.snapshots.partition_point(|m| m.state.t <= time + 1e-9);
        self.snapshots[..after].last()
    }

    /// Snapshots whose frames have at most so many bytes together: all of them, or every second, fourth … of them.
    pub(super) fn sampled(&self, bytes: usize) -> Vec<&Snapshot> {
        let all: usize = self.snapshots.iter().map(|snapshot| snapshot.frame.len()).sum();
        let every = all.div_ceil(bytes.max(1)).max(1).next_power_of_two();
        // counted from the end: the last one is among them
        let mut sampled: Vec<&Snapshot> = self.snapshots.iter().rev().step_by(every).collect();
        sampled.reverse();
        sampled
    }

    /// Earliest snapshot.
    pub(super) fn first(&self) -> Option<&Snapshot> {
        self.snapshots.first()
    }
}

/// Size of the model of a snapshot where the one before has another [bytes].
fn new_model(before: Option<&Snapshot>, snapshot: &Snapshot) -> usize {
    let shared = before.is_some_and(|before| Arc::ptr_eq(&before.model, &snapshot.model));
    if shared { 0 } else { snapshot.model_bytes }
}

fn snapshot_and_model(before: Option<&Snapshot>, snapshot: &Snapshot) -> usize {
    snapshot.size() + new_model(before, snapshot)
}
