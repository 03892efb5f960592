//! Tape: frames of a run for a page, at the rate of a screen and within a size limit.

use crate::describe::Description;
use crate::frame::{FrameReport, frame};
use crate::page::{NoPage, replay};
use stiction::{Simulation, State, StepError, StepReport};
use stiction_scene::Model;

/// Initial time between two frames [s]: the refresh rate of a screen.
const FRAME_INTERVAL: f64 = 1.0 / 60.0;
/// Frame limit. Above it, every other frame is dropped and the interval doubled.
const MAX_FRAMES: usize = 6000;
/// Size limit of all frames before compression [bytes].
const MAX_TAPE_BYTES: usize = 64 << 20;

/// Frames of a run for a page.
#[derive(Debug, Clone)]
pub struct Tape {
    description: Description,
    frames: Vec<Vec<u8>>,
    bytes: usize,
    interval: f64,
    next: f64,
    steps: u32,
    /// Largest infeasibility since the last frame [m].
    infeasibility: f64,
    /// Worst residual of a certificate since the last frame.
    certificate: f64,
    /// Frame of the last step, if it is not due yet.
    last: Option<Vec<u8>>,
}

impl Tape {
    /// Tape with the start state as its first frame. A state of another model is an error.
    pub fn new(model: &Model, name: &str, start: &State) -> Result<Self, StepError> {
        let description = Description::new(model, name, 0, None);
        let observed = Simulation::from_state(model.clone(), start.clone()).observe()?;
        let first = frame(model, &description, start, &FrameReport::of(0, &observed));
        Ok(Self {
            description,
            bytes: first.len(),
            frames: vec![first],
            interval: FRAME_INTERVAL,
            next: start.t + FRAME_INTERVAL,
            steps: 0,
            infeasibility: 0.0,
            certificate: 0.0,
            last: None,
        })
    }

    /// Tape of a run to an accuracy, whose reports have forces at the instant of a frame.
    #[must_use]
    pub fn with_forces(mut self) -> Self {
        self.description.forces = true;
        self
    }

    /// Adds a step and the state after it. A state of another model is an error.
    pub fn add(&mut self, model: &Model, state: &State, report: &StepReport) -> Result<(), StepError> {
        model.check_state(state)?;
        self.steps = self.steps.saturating_add(1);
        let mut frame_report = FrameReport::of(self.steps, report);
        self.infeasibility = self.infeasibility.max(frame_report.infeasibility);
        self.certificate = self.certificate.max(frame_report.certificate);
        (frame_report.infeasibility, frame_report.certificate) = (self.infeasibility, self.certificate);
        let bytes = frame(model, &self.description, state, &frame_report);
        // tolerance for a step that ends early by round-off
        if state.t < self.next - 1e-6 * self.interval {
            self.last = Some(bytes);
            return Ok(());
        }
        // not by repeated addition, which would not end at a time whose round-off is above the interval
        let passed = ((state.t - self.next) / self.interval + 1e-6).floor().max(0.0);
        self.next += (passed + 1.0) * self.interval;
        self.keep(bytes);
        (self.infeasibility, self.certificate) = (0.0, 0.0);
        Ok(())
    }

    fn keep(&mut self, bytes: Vec<u8>) {
        self.last = None;
        self.bytes += bytes.len();
        self.frames.push(bytes);
        if self.frames.len() > MAX_FRAMES || self.bytes > MAX_TAPE_BYTES {
            let mut even = false;
            self.frames.retain(|_| {
                even = !even;
                even
            });
            self.bytes = self.frames.iter().map(Vec::len).sum();
            self.interval *= 2.0;
        }
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.frames.len() + usize::from(self.last.is_some())
    }

    /// Page that replays the run.
    pub fn page(&self) -> Result<String, NoPage> {
        let mut bytes = Vec::with_capacity(self.bytes);
        self.frames.iter().chain(&self.last).for_each(|frame| bytes.extend_from_slice(frame));
        replay(&[&self.description], &bytes)
    }
}
