//! The moments a live simulation can go back to.

use super::Settings;
use crate::describe::Description;
use std::sync::Arc;
use stiction::State;
use stiction_scene::Model;

/// Storage for moments, about [bytes]: beyond it every other one of the older half is let go.
const MOST: usize = 128 << 20;

/// A moment of a live simulation: all that it takes to go on from there.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub(super) state: State,
    pub(super) step: u32,
    pub(super) model: Arc<Model>,
    pub(super) description: Arc<Description>,
    pub(super) settings: Settings,
    pub(super) frame: Arc<[u8]>,
}

impl Moment {
    /// About how large it is [bytes].
    fn size(&self) -> usize {
        let State { q, v, memory, .. } = &self.state;
        // a contact that is remembered has its identity, point and impulses, and a basis about as many
        8 * (q.len() + v.len() + memory.joints.len()) + 200 * memory.contacts.len() + self.frame.len() + 300
    }
}

/// The moments a live simulation can go back to, in the order of time.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    moments: Vec<Moment>,
    bytes: usize,
}

impl History {
    /// Adds a moment. Those that are not before it are forgotten.
    pub(super) fn push(&mut self, moment: Moment) {
        while let Some(last) = self.moments.pop_if(|last| last.state.t >= moment.state.t) {
            self.bytes -= last.size();
        }
        self.bytes += moment.size();
        self.moments.push(moment);
        if self.bytes > MOST {
            let half = self.moments.len() / 2;
            let mut place = 0;
            self.moments.retain(|_| {
                place += 1;
                place > half || place % 2 == 1
            });
            self.bytes = self.moments.iter().map(Moment::size).sum();
        }
    }

    /// The last moment that is not after a time [s].
    pub(super) fn at(&self, time: f64) -> Option<&Moment> {
        // times go through the page, which writes them in decimals
        let after = self.moments.partition_point(|m| m.state.t <= time + 1e-9);
        self.moments[..after].last()
    }

    /// The earliest moment.
    pub(super) fn first(&self) -> Option<&Moment> {
        self.moments.first()
    }
}
