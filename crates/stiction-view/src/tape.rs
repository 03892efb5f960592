//! A run as it is kept for a page: as many frames as a screen shows, and no more than a file should hold.

use crate::describe::Description;
use crate::frame::{Seen, frame};
use crate::page::{NoPage, replay};
use stiction::{Simulation, State, StepReport};
use stiction_scene::Model;

/// Time between two frames [s]: a screen shows 60 in a second.
const INTERVAL: f64 = 1.0 / 60.0;
/// Most frames; beyond it every other one is let go and frames are kept half as often.
const MOST: usize = 6000;
/// Most bytes of frames, before they are compressed.
const BYTES: usize = 64 << 20;

/// A run as it is kept for a page.
#[derive(Debug, Clone)]
pub struct Tape {
    description: Description,
    frames: Vec<Vec<u8>>,
    bytes: usize,
    interval: f64,
    next: f64,
    steps: u32,
    /// The worst of the steps that have no frame of their own.
    infeasibility: f64,
    certificate: f64,
    /// The last step, if it has no frame yet.
    last: Option<Vec<u8>>,
}

impl Tape {
    /// A tape that begins with a state.
    pub fn new(model: &Model, name: &str, start: &State) -> Self {
        let description = Description::new(model, name, 0, None);
        let observed = Simulation::from_state(model.clone(), start.clone()).observe();
        let first = frame(model, &description, start, &Seen::of(0, &observed));
        Self {
            description,
            bytes: first.len(),
            frames: vec![first],
            interval: INTERVAL,
            next: start.t + INTERVAL,
            steps: 0,
            infeasibility: 0.0,
            certificate: 0.0,
            last: None,
        }
    }

    /// Adds a step that led to a state.
    pub fn add(&mut self, model: &Model, state: &State, report: &StepReport) {
        self.steps = self.steps.saturating_add(1);
        let mut seen = Seen::of(self.steps, report);
        self.infeasibility = self.infeasibility.max(seen.infeasibility);
        self.certificate = self.certificate.max(seen.certificate);
        (seen.infeasibility, seen.certificate) = (self.infeasibility, self.certificate);
        let bytes = frame(model, &self.description, state, &seen);
        // a step that ends a rounding early counts
        if state.t < self.next - 1e-6 * self.interval {
            self.last = Some(bytes);
            return;
        }
        while self.next <= state.t + 1e-6 * self.interval {
            self.next += self.interval;
        }
        self.keep(bytes);
        (self.infeasibility, self.certificate) = (0.0, 0.0);
    }

    fn keep(&mut self, bytes: Vec<u8>) {
        self.last = None;
        self.bytes += bytes.len();
        self.frames.push(bytes);
        if self.frames.len() > MOST || self.bytes > BYTES {
            let mut even = false;
            self.frames.retain(|_| {
                even = !even;
                even
            });
            self.bytes = self.frames.iter().map(Vec::len).sum();
            self.interval *= 2.0;
        }
    }

    /// Frames kept.
    pub fn frames(&self) -> usize {
        self.frames.len() + usize::from(self.last.is_some())
    }

    /// The page that replays the run.
    pub fn page(&self) -> Result<String, NoPage> {
        let mut bytes = Vec::with_capacity(self.bytes);
        self.frames.iter().chain(&self.last).for_each(|frame| bytes.extend_from_slice(frame));
        replay(&[&self.description], &bytes)
    }
}
